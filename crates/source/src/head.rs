//! The first bytes of an input: what it is, and whether it is text at all.

use std::io::{self, Read};

use inrush_scan::json::{JsonCutter, JsonLayout};
use inrush_scan::{Newline, Tail};

use crate::decode::BeyondAscii;
use crate::separator_line::SeparatorLine;
use crate::{Compression, Input, Place};
use crate::{decode, json, sniff};
use inrush_core::DialectRequest;
use inrush_core::cut::RECORD_BYTES_MAX;
use inrush_core::error::{Error, Result};
use inrush_core::signature;
use inrush_place::rejects::first_note;
use inrush_place::{cannot_open, some_of};
use inrush_store::Pipe;
use inrush_store::Stop;

pub(super) use inrush_store::HEAD_BYTES;

/// The first bytes of one input, decoded.
pub(super) struct Head {
    pub(super) input: Input,
    pub(super) text: Vec<u8>,
    /// Nothing comes after `text`.
    pub(super) whole: bool,
    /// Physical lines at its start that are none of its records.
    pub(super) skip_lines: u64,
    /// What to know where it is to be read in another encoding than it seems to be in.
    pub(super) doubt: Option<String>,
}

impl Head {
    /// Where records begin, or the header.
    pub(super) fn body_start(&self) -> usize {
        body_start(&self.text, self.skip_lines)
    }

    /// The line that says what separates its fields.
    pub(super) fn separator_line(&self) -> Option<SeparatorLine<'_>> {
        separator_line(&self.text, self.skip_lines)
    }

    /// The text from there on.
    pub(super) fn body(&self) -> &[u8] {
        &self.text[self.body_start()..]
    }
}

/// The lines to skip of the input at `place`. Files of bad rows begin with a header or a row, whatever stood above those of the input
/// that they are from.
fn lines_to_skip(place: &Place, request: &DialectRequest) -> u64 {
    let is_of_rejects = || place.plain().is_some_and(|path| first_note(path).is_some());
    if request.skip_lines > 0 && is_of_rejects() { 0 } else { request.skip_lines }
}

/// The head of the input at `place`, or in the pipe if that is one.
pub(super) fn read_head(
    place: &Place,
    request: &DialectRequest,
    pipe: Option<&mut Pipe>,
    stop: &Stop,
) -> Result<Head> {
    let name = place.name();
    let fail = |error: io::Error| cannot_open(&name, &error);
    let skip_lines = lines_to_skip(place, request);
    let request = &DialectRequest { skip_lines, ..request.clone() };
    let pipe = match (place, pipe) {
        (_, Some(pipe)) if !place.can_be_reread() => pipe,
        (Place::File(_) | Place::Member(_) | Place::Sheet(_) | Place::Stored(_), _) => {
            return look(place, request, place.begin(stop).map_err(fail)?, false);
        }
        (Place::Stdin | Place::Rows, _) => return Err(no_record(&name, b"")),
    };
    let mut bytes_max = HEAD_BYTES;
    loop {
        let bytes = pipe.peek(bytes_max, stop).map_err(fail)?;
        let cut_off = bytes.len() == bytes_max;
        let head = look(place, request, Box::new(io::Cursor::new(bytes)), cut_off)?;
        // Compressed data comes in blocks, and none may have been whole.
        if !cut_off || has_record(&head.text, request, &place.extension()) {
            return Ok(head);
        }
        if bytes_max >= RECORD_BYTES_MAX {
            return Err(no_record(&name, &head.text));
        }
        bytes_max *= 2;
    }
}

/// Whether the first line that is neither to be skipped, nor blank, nor a comment is there as a whole; of an object of JSON that spans
/// lines, all of them.
fn has_record(text: &[u8], request: &DialectRequest, extension: &str) -> bool {
    let newline = newline_byte(text);
    let mut at = body_start(text, request.skip_lines);
    if json::is_object_in_lines(&text[at..], request, extension) {
        return JsonCutter::new(JsonLayout::Values).cut(&text[at..], 1, Tail::More).is_some();
    }
    // One array of JSON may be one line.
    if text[at..].trim_ascii_start().starts_with(b"[")
        && JsonCutter::new(JsonLayout::Array).cut(&text[at..], 1, Tail::More).is_some()
    {
        return true;
    }
    while let Some(len) = memchr::memchr(newline, &text[at..]) {
        let line = &text[at..at + len];
        if !line.trim_ascii_end().is_empty() && request.comment != Some(line[0]) {
            return true;
        }
        at += len + 1;
    }
    false
}

/// The byte that ends lines here; a CR before it is no more than an ornament.
fn newline_byte(text: &[u8]) -> u8 {
    match sniff::newline(text) {
        Newline::Lf => b'\n',
        Newline::Cr => b'\r',
    }
}

fn no_record(name: &str, text: &[u8]) -> Error {
    let mib = RECORD_BYTES_MAX >> 20;
    match text.trim_ascii_start().starts_with(b"{") {
        true => Error::source(format!(
            "{name} begins with an object of JSON of more than {mib} MiB, which would be one row"
        ))
        .advise(format!(
            "if its rows are in a list within it, jq -c '.LIST[]' makes lines of them{}",
            json::of_jq(text)
        )),
        false => Error::source(format!("the first {mib} MiB of {name} hold no record"))
            .advise("check --skip-lines, --comment and --encoding"),
    }
}

/// What is looked at to tell a compression: its magic number, which may be behind what programs note for themselves (frames of zstd and
/// LZ4 that are to be skipped).
pub(super) const NOTES_BYTES: u64 = 4 << 10;

/// Looks at what `reader` gives; `cut_off` when that is not all, which is then not the input's fault.
fn look(
    place: &Place,
    request: &DialectRequest,
    mut reader: Box<dyn Read + Send>,
    cut_off: bool,
) -> Result<Head> {
    let mut magic = Vec::new();
    let got = reader.by_ref().take(NOTES_BYTES).read_to_end(&mut magic);
    got.map_err(|error| cannot_open(&place.name(), &error))?;
    let mut input = Input { compression: Compression::detect(&magic), ..Input::plain(place) };
    let forgive = |error: io::Error| if cut_off { Ok(0) } else { Err(input.read_error(&error)) };
    let mut plain: Box<dyn Read + Send> = Box::new(io::Cursor::new(magic).chain(reader));
    if let Some(compression) = input.compression {
        plain = compression.open(plain).map_err(|error| input.read_error(&error))?;
    }
    let mut text = Vec::new();
    plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut text).or_else(forgive)?;
    // Once unpacked it is a compressed file or no text; or it is packed in a way that is not known here.
    let is_packed = || match input.compression {
        Some(_) => Compression::detect(&text).is_some() || refuse_binary("", &text, true).is_err(),
        None => !decode::may_be_text(&text, request.encoding.as_deref()),
    };
    if let Some(coding) = place.in_store().and_then(|stored| stored.coding())
        && is_packed()
    {
        let name = &input.name;
        return Err(Error::source(format!(
            "{name} is sent packed (Content-Encoding: {coding}), and only text can be read so"
        ))
        .about(name)
        .advise("fetch it with curl --compressed, and load that file")
        .advise("or have the server send it as it is stored"));
    }
    if let (Some(outer), Some(inner)) = (input.compression, Compression::detect(&text)) {
        let (name, outer, inner) = (&input.name, outer.name(), inner.name());
        return Err(Error::source(format!(
            "{name} is compressed twice: within the {outer} data is {inner} data"
        ))
        .about(name)
        .advise(format!("decompress it once: {outer} -dc FILE > ONCE")));
    }
    if input.compression.is_none() {
        refuse_packed(place, &text, request)?;
    }
    // Text, but in no form that can be read.
    if decode::is_utf32(&text) {
        let name = &input.name;
        return Err(Error::source(format!("{name} is text in UTF-32, which can't be read"))
            .about(name)
            .advise("convert it first: iconv -f UTF-32 -t UTF-8"));
    }
    let encoding = decode::choose(&input.name, request.encoding.as_deref(), &text)?;
    if !decode::is_utf16(encoding) {
        refuse_binary(&input.name, &text, request.encoding.is_none())?;
    }
    let mut doubt = decode::doubt(&input.name, &text, encoding);
    if !decode::is_utf8(encoding) {
        plain = Box::new(decode::Decoder::new(
            io::Cursor::new(std::mem::take(&mut text)).chain(plain),
            encoding,
        ));
        plain.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut text).or_else(forgive)?;
        doubt = doubt.or_else(|| decode::controls(&input.name, &text, encoding));
    }
    let mut whole = text.len() < HEAD_BYTES && !cut_off;
    // The first record must be whole to be understood, and what follows it is looked at as well.
    let extension = place.extension();
    let mut found = has_record(&text, request, &extension);
    let mut enough = found;
    while !whole && !enough {
        if text.len() >= RECORD_BYTES_MAX {
            return Err(no_record(&input.name, &text));
        }
        // Twice as much each time: all of it is looked at again.
        let asked = if found { HEAD_BYTES } else { text.len().max(HEAD_BYTES) };
        let got = plain.by_ref().take(asked as u64).read_to_end(&mut text).or_else(forgive)?;
        whole = got < asked && !cut_off;
        if got == 0 {
            break;
        }
        enough = found;
        found = has_record(&text, request, &extension);
    }
    input.encoding = encoding;
    if decode::is_utf8(encoding) {
        input.beyond_ascii = BeyondAscii::of(&text);
    }
    Ok(Head { input, text, whole, skip_lines: request.skip_lines, doubt })
}

/// Ways to compress whose files have nothing that tells them: by their endings.
const PACKED: [(&str, &str, &str); 2] = [("br", "Brotli", "brotli"), ("lzma", "LZMA", "xz")];

/// Refuses a file that is called compressed, and isn't text.
fn refuse_packed(place: &Place, text: &[u8], request: &DialectRequest) -> Result<()> {
    let name = place.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let Some((_, way, tool)) = PACKED.iter().find(|(own, ..)| Some(*own) == ending) else {
        return Ok(());
    };
    if decode::may_be_text(text, request.encoding.as_deref()) || is_mostly_text(text) {
        return Ok(());
    }
    let name = place.name();
    Err(Error::source(format!("{name} is a file compressed by {way}, not text"))
        .about(&name)
        .advise(format!("decompress it first: {tool} -d")))
}

/// Whether it may be text with some bytes of another encoding: what is packed has control characters, and as many bytes beyond ASCII as not.
fn is_mostly_text(text: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let beyond = text.iter().filter(|byte| !byte.is_ascii()).count();
    beyond * 4 < text.len() && !text.iter().any(is_control)
}

/// Files that are not text, by their first bytes, and what to do with them.
const BINARIES: [(&[u8], &str, &str); 47] = [
    (
        signature::PARQUET,
        "a compressed Parquet file",
        "decompress it: Parquet files compress their own columns",
    ),
    (b"PARE", "an encrypted Parquet file", DECRYPT_PARQUET),
    (signature::ARROW, "a compressed Arrow file", "decompress it first"),
    (
        signature::SQLITE,
        "an SQLite database",
        "if it is the target, name it last, as sqlite:FILE; its rows come by its own program: sqlite3 -json FILE 'SELECT ...' | inrush load - TARGET, with --type c=float for a column of REAL; of a BLOB select iif(c IS NULL, NULL, hex(c))",
    ),
    (signature::ZIP, "a zip archive or a workbook", WITHIN_ADVICE),
    (b"PK\x05\x06", "an empty zip archive", "name another file"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first: 7z x"),
    (b"Rar!\x1a", "a RAR archive", "unpack it first: unrar x"),
    (b"Salted__", "encrypted by OpenSSL", "decrypt it first: openssl enc -d"),
    (b"age-encryption.org/", "encrypted by age", "decrypt it first: age -d"),
    (b"\x85\x01", "encrypted by PGP", "decrypt it first: gpg -d"),
    (b"\x85\x02", "encrypted by PGP", "decrypt it first: gpg -d"),
    (b"\x8c\x0d\x04", "encrypted by PGP", "decrypt it first: gpg -d"),
    (b"\x02\x21\x4c\x18", "a file of LZ4's old format", "decompress it first: lz4 -d"),
    (
        b"x\x9c",
        "a file compressed by zlib",
        "decompress it first: zlib-flate -uncompress, or pigz -d",
    ),
    (b"LZIP", "a file compressed by lzip", "decompress it first: lzip -d"),
    (b"\x89LZO", "a file compressed by lzop", "decompress it first: lzop -d"),
    (b"\xff\x06\0\0sNaPpY", "a file compressed by Snappy", "decompress it first: snzip -d"),
    (b"ORC", "an ORC file", "convert it to Parquet first: pyarrow.orc reads it"),
    (
        b"\0\0\x27\x0a\0\0\0\0",
        "the shapes of a shapefile",
        "convert it to CSV first: ogr2ogr -f CSV OUT.csv FILE.shp -lco GEOMETRY=AS_WKT",
    ),
    (b"FEA1", "a Feather file of version 1", "convert it first: pyarrow.feather reads it"),
    (
        b"RDX",
        "an R file",
        "load('FILE') in R, then arrow::write_parquet(OBJECT, 'OUT.parquet'), or write.csv(OBJECT, 'OUT.csv', na = '', row.names = FALSE), which keeps 15 digits",
    ),
    // Protocols 2 and later begin with their number, and from 4 on a frame follows (PEP 307, PEP 3154, PEP 574).
    (b"\x80\x02", PICKLE, PICKLE_ADVICE),
    (b"\x80\x03", PICKLE, PICKLE_ADVICE),
    (b"\x80\x04\x95", PICKLE, PICKLE_ADVICE),
    (b"\x80\x05\x95", PICKLE, PICKLE_ADVICE),
    (b"\xfebin", "a binary log of MySQL", "mysqlbinlog reads it"),
    (b"TAPE", "a backup of SQL Server", "restore it there: RESTORE DATABASE"),
    (b"CDF\x01", "a NetCDF file", "convert it first: ncdump, or xarray"),
    (b"MATLAB 5.0", "a MATLAB file", "save it as CSV: writetable"),
    (b"\0\x01\0\0Standard ", "an Access database", "export its tables as CSV: mdb-export"),
    (b"\x1f\x9d", "a file compressed by compress", "decompress it first: uncompress, or gzip -d"),
    (
        b"PGDMP",
        "a dump of PostgreSQL's own format",
        "pg_restore reads it: pg_restore -d DATABASE FILE",
    ),
    (b"Obj\x01", "an Avro file", "convert it to Parquet or JSON Lines first"),
    (b"\x89HDF", "an HDF5 file", "convert it to Parquet or CSV first"),
    (b"\x93NUMPY", "a NumPy array", "convert it to CSV first: numpy.savetxt"),
    // From version 117 on (https://www.stata.com/help.cgi?dta); for those before, see `is_old_stata`.
    (b"<stata_dta>", STATA, "export it as CSV"),
    (b"$FL2", "an SPSS file", "export it as CSV"),
    // Compressed by zlib (https://www.gnu.org/software/pspp/pspp-dev/html_node/File-Header-Record.html).
    (b"$FL3", "an SPSS file", "export it as CSV"),
    // The first record of versions 5 and 8 (SAS, TS-140: the record layout of a data set in SAS transport format).
    (b"HEADER RECORD*******LIB", "a SAS transport file", SAS_ADVICE),
    // As its readers found out (https://github.com/BioStatMatt/sas7bdat/blob/master/vignettes/sas7bdat.rst): SAS documents no format.
    (
        b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11",
        "a SAS data set",
        SAS_ADVICE,
    ),
    (b"%PDF", "a PDF document", "name a CSV or TSV file"),
    (b"\x7fELF", "a program", "name a CSV or TSV file"),
    (b"\x89PNG", "a picture", "name a CSV or TSV file"),
    (b"GIF89a", "a picture", "name a CSV or TSV file"),
    (b"\xff\xd8\xff", "a picture", "name a CSV or TSV file"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", WITHIN_ADVICE),
];

const PICKLE: &str = "a Python pickle";
const PICKLE_ADVICE: &str = "save it as CSV or Parquet with Python";
const STATA: &str = "a Stata file";
const SAS_ADVICE: &str = "export it as CSV, or convert it with pandas: pandas.read_sas reads it";

/// For what only its own library can decrypt.
pub(super) const DECRYPT_PARQUET: &str =
    "write it again without encryption, with a program that has its keys";

/// For what is looked into from its end, and found where that can't be done.
const WITHIN_ADVICE: &str = "save it to a file of its own, and name that";

/// Where a tar archive says that it is one.
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// Whether these are the first bytes of a dBase table, as those of shapefiles: a version, a day, how many rows, how long the header is, which
/// has 32 bytes for each column and an end, and how long a row.
fn is_dbase(text: &[u8]) -> bool {
    // Of these zeros a text has none.
    let [version, _, month, day, _, _, _, _, low, high, row_low, row_high, 0, 0, ..] = *text else {
        return false;
    };
    let header = usize::from(u16::from_le_bytes([low, high]));
    let ends =
        |behind: usize| header > 64 + behind && text.get(header - behind - 1) == Some(&b'\r');
    [0x03, 0x04, 0x05, 0x30, 0x31, 0x83, 0x8b, 0xf5].contains(&version)
        && month <= 12
        && day <= 31
        && u16::from_le_bytes([row_low, row_high]) > 0
        // FoxPro has the place of its database behind.
        && (ends(0) || ends(1) || ends(263))
}

/// Whether these are the first bytes of a Stata file before version 117: the version, the order of bytes, 1 for a file of data, and with
/// zeros behind its label and its time (<https://www.stata.com/help.cgi?dta_115>).
fn is_old_stata(text: &[u8]) -> bool {
    matches!(text, [104..=115, 1 | 2, 1, ..]) && text.contains(&0)
}

/// Refuses what is no text: by its first bytes, or because there are NULs among them, if `may_be_any` says that no encoding is
/// named.
fn refuse_binary(name: &str, text: &[u8], may_be_any: bool) -> Result<()> {
    // Behind a checksum, and before a version of eight bytes, which is a small number: a text may have the word there.
    let version = text.get(12..text.len().min(20)).unwrap_or_default();
    if text.get(8..12) == Some(b"DUCK") && version.contains(&0) {
        return Err(Error::source(format!("{name} is a DuckDB database, not text"))
            .advise("if it is the target, name it last, as duckdb:FILE; its rows come by its own program: duckdb FILE \"COPY t TO 't.parquet'\" writes a file that keeps them as they are"));
    }
    // Words may begin as an ORC or an R file does.
    let is_text = |magic: &[u8]| magic.is_ascii() && !text.contains(&0) && !magic.contains(&0);
    let is_it = |magic: &[u8]| text.starts_with(magic) && !(magic.len() <= 4 && is_text(magic));
    if let Some((_, what, advice)) = BINARIES.iter().find(|(magic, ..)| is_it(magic)) {
        return Err(Error::source(format!("{name} is {what}, not text")).advise(*advice));
    }
    if text.get(TAR_MAGIC) == Some(b"ustar") {
        return Err(
            Error::source(format!("{name} is a tar archive, not text")).advise(WITHIN_ADVICE)
        );
    }
    if is_old_stata(text) {
        return Err(Error::source(format!("{name} is {STATA}, not text"))
            .advise("export it as CSV; pandas.read_stata reads it as well"));
    }
    if is_dbase(text) {
        return Err(Error::source(format!("{name} is a dBase table, not text"))
            .advise("convert it to CSV first: ogr2ogr -f CSV OUT.csv FILE.dbf, or a spreadsheet, which opens it"));
    }
    // Stray NULs make bad rows; one in a hundred bytes makes a binary file.
    let zeros = memchr::memchr_iter(0, text).count();
    if may_be_any && zeros >= 8 && zeros >= text.len() / 100 {
        let at = memchr::memchr(0, text).unwrap_or(0);
        return Err(Error::source(format!("{name} does not look like text: {zeros} of its first {} bytes are NUL, the first at byte {at}", text.len()))
            .advise("if it is UTF-16 without a byte order mark, say --encoding utf-16le")
            .advise("if its values hold NULs, say --encoding utf-8, or the encoding that it has"));
    }
    Ok(())
}

/// The first of the inputs that has anything in it besides comments, which says how all are written; the first where none has.
pub(super) fn lead(heads: &[Head], request: &DialectRequest) -> usize {
    let has_text = |head: &Head| {
        let body = head.body();
        let newline = newline_byte(&head.text);
        let is_text =
            |line: &[u8]| !line.trim_ascii().is_empty() && line.first().copied() != request.comment;
        body.split(|byte| *byte == newline).any(is_text)
    };
    heads.iter().position(has_text).unwrap_or(0)
}

/// What to know of inputs whatever is in their text: that one seems to be in another encoding than is said, and which are empty beside
/// others.
pub(super) fn notes(heads: &[Head]) -> Vec<String> {
    let mut notes: Vec<String> =
        heads.iter().find_map(|head| head.doubt.clone()).into_iter().collect();
    let is_empty = |head: &&Head| matches!(&*head.text, b"" | b"\xef\xbb\xbf");
    let empty: Vec<String> =
        heads.iter().filter(is_empty).map(|head| head.input.name.clone()).collect();
    if !empty.is_empty() && empty.len() < heads.len() {
        let are = if empty.len() == 1 { "is" } else { "are" };
        notes.push(format!("{} {are} empty: no header, no rows", some_of(&empty)));
    }
    notes
}

/// Where records begin, or the header: after a byte order mark, `skip_lines` physical lines, and a line that says what separates fields.
fn body_start(text: &[u8], skip_lines: u64) -> usize {
    let at = skipped_to(text, skip_lines);
    at + SeparatorLine::at(&text[at..], newline_byte(text)).map_or(0, |line| line.raw.len())
}

/// The line that says what separates fields: the first, even among those that are skipped, or the first that isn't.
fn separator_line(text: &[u8], skip_lines: u64) -> Option<SeparatorLine<'_>> {
    [0, skip_lines].into_iter().find_map(|skip_lines| {
        SeparatorLine::at(&text[skipped_to(text, skip_lines)..], newline_byte(text))
    })
}

/// The offset behind a byte order mark and `skip_lines` physical lines.
fn skipped_to(text: &[u8], skip_lines: u64) -> usize {
    let newline = newline_byte(text);
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for _ in 0..skip_lines {
        let Some(end) = memchr::memchr(newline, &text[at..]) else { return text.len() };
        at += end + 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_lines_and_byte_order_marks_come_off() {
        assert_eq!(body_start(b"\xef\xbb\xbfa,b\n", 0), 3);
        assert_eq!(body_start(b"x\r\ny\nz", 2), 5);
        assert_eq!(body_start(b"x", 3), 1);
        assert_eq!(body_start(b"x\ry\rz", 2), 4);
        // Where there are LFs, a lone CR is data.
        assert_eq!(body_start(b"title\rmore\na,b\n", 1), 11);
    }

    #[test]
    fn a_line_that_says_what_separates_fields_is_no_record() {
        let text = b"\xef\xbb\xbfsep=;\r\na;b\r\n";
        assert_eq!(body_start(text, 0), 10);
        assert_eq!(body_start(text, 1), 10);
        assert_eq!(body_start(b"title\nsep=;\na;b\n", 1), 12);
        let named = |text: &'static [u8], skip| separator_line(text, skip).map(|line| line.named);
        assert_eq!(named(text, 0), Some(";"));
        assert_eq!(named(text, 1), Some(";"));
        assert_eq!(named(b"title\nsep=|\na|b\n", 1), Some("|"));
        assert_eq!(named(b"title\nsep=|\na|b\n", 0), None);
    }
}
