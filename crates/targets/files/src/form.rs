//! What a file is, as far as its name and its first bytes say: whether that is what its target writes.

use std::ffi::OsStr;

use crate::json::JsonRow;
use crate::packing::Packing;
use crate::place::{Format, Place};
use crate::read;
use inrush_core::error::{Error, Result};
use inrush_core::signature;

/// What endings of names promise, but for one that says how text is compressed ([`Packing::promised`]).
const ENDINGS: [(Promise, &[&str]); 9] = [
    (Promise::Form(Format::Csv), &["csv"]),
    (Promise::Form(Format::Jsonl), &["jsonl", "ndjson", "json"]),
    (Promise::Form(Format::Parquet), &["parquet", "pq"]),
    (Promise::Compressed, &["gz", "gzip", "zst", "zstd", "bz2", "xz", "lz4"]),
    (Promise::Other("an archive"), &["zip", "tar", "tgz", "7z", "rar"]),
    (Promise::Other("text between tabs or bars"), &["tsv", "tab", "psv"]),
    (Promise::Other("a workbook"), &["xlsx", "xlsm", "xlsb", "xls", "ods"]),
    (Promise::Other("Arrow data"), &["arrow", "arrows", "feather", "ipc"]),
    (Promise::Other("a database"), &["db", "sqlite", "sqlite3", "ddb", "duckdb"]),
];

#[derive(Clone, Copy)]
enum Promise {
    /// What one of these targets writes.
    Form(Format),
    Compressed,
    /// In words.
    Other(&'static str),
}

/// Refuses a name whose ending promises what the file would not be. Any other ending, or none, promises nothing.
///
/// # Errors
/// Says what to call it.
pub(super) fn check_name(place: &Place) -> Result<()> {
    let mut named = place.path.clone();
    let packing = place.packing().and_then(|_| named.extension().map(OsStr::to_owned));
    if packing.is_some() {
        named.set_extension("");
    }
    let ending = named.extension().and_then(OsStr::to_str).unwrap_or_default();
    let ending = ending.to_ascii_lowercase();
    let promised = ENDINGS.iter().find(|(_, endings)| endings.contains(&ending.as_str()));
    let Some((promise, _)) = promised else { return Ok(()) };
    let (shown, words) = (place.path.display(), place.format.words());
    let scheme = place.format.scheme();
    // Those that are written are called like their schemes.
    let renamed = || {
        let mut path = named.with_extension(scheme);
        if let Some(packing) = &packing {
            path.as_mut_os_string().push(".");
            path.as_mut_os_string().push(packing);
        }
        format!("{scheme}:{}", path.display())
    };
    let packed = |ending: &str| format!("{scheme}:{}", named.with_extension(ending).display());
    let of_other = |what: &str| {
        Error::usage(format!("{shown} would be a {words}, and is called like {what}"))
            .advise(format!("give it another ending: {}", renamed()))
    };
    Err(match promise {
        Promise::Form(format) if *format == place.format => return Ok(()),
        Promise::Form(format) => of_other(&format!("a {}", format.words())).advise(format!(
            "{}:{shown} writes a {}",
            format.scheme(),
            format.words()
        )),
        Promise::Compressed if place.format == Format::Parquet => Error::usage(format!(
            "{shown} would be a {words} that is compressed inside"
        ))
        .advise("leave the last ending out; --set compression=gzip is how pages are compressed"),
        Promise::Compressed => Error::usage(format!(
            "{shown} would be a {words}, which is compressed by gzip or zstd, or not at all"
        ))
        .advise(format!("call it {} or {}", packed("gz"), packed("zst"))),
        Promise::Other(what) => of_other(what),
    })
}

/// Bytes that tell what begins with them.
pub(super) const MAGIC_BYTES: usize = 16;

/// What a file of text is not, and whether a load reads it.
const MAGICS: [(&[u8], &str, bool); 8] = [
    (Packing::Gzip.magic(), "compressed by gzip", true),
    (Packing::Zstd.magic(), "compressed by zstd", true),
    (b"BZh", "compressed by bzip2", true),
    (b"\xfd7zXZ\0", "compressed by xz", true),
    (b"\x04\x22\x4d\x18", "compressed by lz4", true),
    (signature::ZIP, "a zip archive or a workbook", false),
    (signature::PARQUET, "a Parquet file", true),
    (signature::SQLITE, "an SQLite database", false),
];

/// What a file is instead of text, by its first bytes, and whether a load reads it; `None` where it may be text.
pub(super) fn no_text(head: &[u8]) -> Option<(&'static str, bool)> {
    // Letters alone may as well begin a line of text.
    let is_it = |magic: &[u8]| {
        head.starts_with(magic) && (!magic.is_ascii() || head.iter().any(|byte| *byte < b'\t'))
    };
    let known = MAGICS.iter().find(|(magic, ..)| is_it(magic));
    let known = known.map(|(_, what, is_source)| (*what, *is_source));
    // Values may hold NULs; the line of names, with which a file of text begins, has none.
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_text = !head.contains(&0) || !line.contains(&0) && std::str::from_utf8(line).is_ok();
    known.or_else(|| (!is_text).then_some(("no text", false)))
}

/// What separates fields in a CSV file whose header has one column by commas, as far as its name says.
pub(super) fn separator(name: &str) -> Option<&'static str> {
    [(';', "';'"), ('\t', "a tab"), ('|', "'|'")]
        .into_iter()
        .find_map(|(separator, shown)| name.contains(separator).then_some(shown))
}

/// Whether a file of JSON is one array of rows, and no row in each line: its first chunk begins an array that does not end on its line, or
/// is a line of rows alone.
pub(super) fn is_array_of_rows(chunk: &[u8]) -> bool {
    let mut lines = read::lines(chunk);
    let Some(first) = lines.next().map(<[u8]>::trim_ascii_start) else { return false };
    match JsonRow::read(first) {
        None => first.starts_with(b"["),
        Some(JsonRow::Object(_)) => false,
        Some(JsonRow::Array(values)) => {
            let all = |open: char| values.iter().all(|value| value.get().starts_with(open));
            lines.next().is_none() && !values.is_empty() && (all('{') || all('['))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(format: Format, path: &str) -> Place {
        Place { format, path: path.into() }
    }

    #[test]
    fn a_name_promises_what_the_file_is() {
        use Format::{Csv, Jsonl, Parquet};
        for (format, path) in [
            (Csv, "a.csv"),
            (Csv, "a.CSV"),
            (Csv, "a"),
            (Csv, "a.txt"),
            (Csv, "gz"),
            (Csv, "a.zip/b"),
            (Csv, "a.csv.gz"),
            (Csv, "a.zst"),
            (Jsonl, "a.json"),
            (Jsonl, "a.ndjson.GZ"),
            (Parquet, "a.pq"),
        ] {
            assert!(check_name(&place(format, path)).is_ok(), "{path}");
        }
        for (format, path, words, advice) in [
            (Csv, "a.csv.bz2", "compressed by gzip or zstd", "csv:a.csv.gz or csv:a.csv.zst"),
            (Csv, "a.tsv.gz", "called like text between tabs", "csv:a.csv.gz"),
            (Csv, "a.gz.gz", "which is compressed by gzip or zstd", "csv:a.gz"),
            (Parquet, "a.GZ", "compressed inside", "--set compression=gzip"),
            (Csv, "a.zip", "called like an archive", "csv:a.csv"),
            (Csv, "a.tsv", "called like text between tabs", "csv:a.csv"),
            (Jsonl, "d.x/a.xlsx", "called like a workbook", "jsonl:d.x/a.jsonl"),
            (Csv, "a.parquet", "called like a Parquet file", "csv:a.csv"),
            (Parquet, "a.csv", "called like a CSV file", "parquet:a.parquet"),
            (Csv, "a.json", "called like a JSON Lines file", "csv:a.csv"),
        ] {
            let error = check_name(&place(format, path)).unwrap_err();
            assert!(error.what().contains(words), "{error}");
            assert!(error.advice()[0].contains(advice), "{error}");
        }
        let error = check_name(&place(Csv, "a.parquet")).unwrap_err();
        assert_eq!(error.advice()[1], "parquet:a.parquet writes a Parquet file");
    }

    #[test]
    fn what_is_no_text_is_known_by_its_first_bytes() {
        for (head, what) in [
            (&b"\x1f\x8b\x08\0"[..], Some("compressed by gzip")),
            (b"BZh91AY&SY\0\x01", Some("compressed by bzip2")),
            (b"PK\x03\x04\x14\0", Some("a zip archive or a workbook")),
            (b"PAR1\x15\0", Some("a Parquet file")),
            (b"id,\0", Some("no text")),
            (b"\xff\n\0", Some("no text")),
            (b"id,\n\0", None),
            (b"PAR1,n\n1,2\n", None),
            (b"BZh,n\n", None),
            (b"\xef\xbb\xbfid,n\n", None),
            (b"", None),
        ] {
            assert_eq!(no_text(head).map(|(what, _)| what), what, "{head:?}");
        }
    }

    #[test]
    fn an_array_of_rows_is_no_row_of_values() {
        for (text, is_array) in [
            (&b"[{\"id\":1},{\"id\":2}]\n"[..], true),
            (b"\n [[1,2],[3,4]]", true),
            (b"[\n{\"id\":1}\n]\n", true),
            (b"[{\"id\":1},\n{\"id\":2}]\n", true),
            (b"[1,{\"id\":1}]\n", false),
            (b"[{\"id\":1}]\n[{\"id\":2}]\n", false),
            (b"[1,2]\n", false),
            (b"[]\n", false),
            (b"{\"id\":1}\n", false),
            (b"", false),
        ] {
            assert_eq!(is_array_of_rows(text), is_array, "{}", String::from_utf8_lossy(text));
        }
    }
}
