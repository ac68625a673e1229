//! From what the user typed to the inputs it names.

use std::fs;
use std::path::{Path, PathBuf};

use inrush_core::error::{Error, Result, without_secrets};

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file, or something that can be opened like one.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Rows that a program has.
    Rows,
}

impl Place {
    /// Whether it is the plain file at `path`, by whatever name: another spelling, a link. What is no plain file is another input each
    /// time, such as two ends of pipes.
    fn is_file(&self, path: &Path) -> bool {
        let Place::File(own) = self else { return false };
        let (Ok(here), Ok(there)) = (fs::metadata(own), fs::metadata(path)) else { return false };
        here.is_file() && there.is_file() && is_same(own, &here, path, &there)
    }

    /// The name that messages and the sidecar show.
    pub fn name(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            Place::Stdin => "-".to_owned(),
            Place::Rows => "rows".to_owned(),
        }
    }

    /// Size and seekability: a pipe opened by name can be read only once, as standard input.
    pub fn regular_bytes(&self) -> Option<u64> {
        match self {
            Place::File(path) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| meta.len())
            }
            Place::Stdin | Place::Rows => None,
        }
    }

    /// The file's name without directories and without the endings that tell its format.
    pub fn stem(&self) -> String {
        let path = match self {
            Place::File(path) => path,
            Place::Stdin => return "stdin".to_owned(),
            Place::Rows => return "rows".to_owned(),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let endings = [&COMPRESSIONS[..], &FORMATS[..]].concat();
        let mut stem = name.as_str();
        while let Some((head, ending)) = stem.rsplit_once('.') {
            if head.is_empty() || !endings.contains(&ending.to_ascii_lowercase().as_str()) {
                break;
            }
            stem = head;
        }
        stem.to_owned()
    }

    /// The table that the file is for, by its name: [`Place::stem`], and bad rows rejected are for the table of the whole.
    pub fn table(&self) -> String {
        let stem = self.stem();
        let mut table = stem.as_str();
        while let Some(whole) = table.strip_suffix(".rejects")
            && !whole.is_empty()
        {
            table = whole;
        }
        table.to_owned()
    }

    /// The ending that tells the format, lower case, compression endings left out; empty without one.
    pub fn extension(&self) -> String {
        let Place::File(path) = self else { return String::new() };
        let mut path = path.clone();
        loop {
            let ending = path
                .extension()
                .map(|e| e.to_string_lossy().to_ascii_lowercase())
                .unwrap_or_default();
            if !COMPRESSIONS.contains(&ending.as_str()) {
                return ending;
            }
            path.set_extension("");
        }
    }
}

const FORMATS: [&str; 15] = [
    "csv", "tsv", "tab", "txt", "psv", "dat", "jsonl", "ndjson", "json", "parquet", "pq", "arrow",
    "arrows", "feather", "ipc",
];

const COMPRESSIONS: [&str; 7] = ["gz", "gzip", "zst", "zstd", "bz2", "xz", "lz4"];

/// Whether two plain files are one.
#[cfg(unix)]
fn is_same(_: &Path, here: &fs::Metadata, _: &Path, there: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (here.dev(), here.ino()) == (there.dev(), there.ino())
}

/// The same where hard links can't be told.
#[cfg(not(unix))]
fn is_same(own: &Path, _: &fs::Metadata, path: &Path, _: &fs::Metadata) -> bool {
    matches!((own.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Expands `-`, paths and globs, in the order given; a glob's files in the order of their names. A file that is named more than once is
/// an input once: the second value has a sentence for each such name.
pub fn expand(sources: &[String]) -> Result<(Vec<Place>, Vec<String>)> {
    let places = named(sources)?;
    let mut inputs: Vec<Place> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for place in places {
        let first = match &place {
            Place::File(path) => inputs.iter().find(|other| other.is_file(path)),
            Place::Stdin | Place::Rows => None,
        };
        let Some(first) = first else {
            inputs.push(place);
            continue;
        };
        let (name, first) = (place.name(), first.name());
        let note = match name == first {
            true => format!("{name} is named more than once, and loaded once"),
            false => format!("{name} is the same file as {first}, and loaded once"),
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok((inputs, notes))
}

/// What the sources name, one after the other.
fn named(sources: &[String]) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for source in sources {
        let shown = without_secrets(source);
        if shown != *source && !Path::new(source).exists() {
            return Err(Error::usage(format!(
                "'{shown}' is no file: sources are files or patterns, and the target comes last"
            )));
        }
        if source == "-" {
            if places.contains(&Place::Stdin) {
                return Err(Error::usage("standard input ('-') can be read only once"));
            }
            places.push(Place::Stdin);
            continue;
        }
        let path = Path::new(source);
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => {
                let pattern = path.join("*.csv");
                return Err(Error::source(format!("{source} is a directory")).advise(format!(
                    "name the files in it, or a pattern in quotes: '{}'",
                    pattern.display()
                )));
            }
            Ok(_) => places.push(Place::File(path.to_owned())),
            Err(error)
                if source.contains(['*', '?', '['])
                    && error.kind() == std::io::ErrorKind::NotFound =>
            {
                places.extend(matches(source)?);
            }
            Err(error) => return Err(cannot_open(source, &error)),
        }
    }
    if places.is_empty() {
        return Err(Error::usage("no source is named"));
    }
    Ok(places)
}

fn matches(pattern: &str) -> Result<Vec<Place>> {
    let paths = glob::glob(pattern)
        .map_err(|error| Error::usage(format!("'{pattern}' is no pattern: {}", error.msg)))?;
    let mut places = Vec::new();
    for path in paths {
        let path =
            path.map_err(|error| cannot_open(&error.path().display().to_string(), error.error()))?;
        if path.is_file() {
            places.push(Place::File(path));
        }
    }
    if places.is_empty() {
        return Err(Error::source(format!("'{pattern}' matches no file")));
    }
    Ok(places)
}

pub(crate) fn cannot_open(name: &str, error: &std::io::Error) -> Error {
    let fail = Error::source(format!("cannot read {name}: {}", plain(error))).about(name);
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            fail.advise("check the spelling and the directory you are in")
        }
        std::io::ErrorKind::PermissionDenied => fail.advise("check the file's permissions"),
        _ => fail,
    }
}

/// The system's words without Rust's "(os error N)".
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Place {
        Place::File(PathBuf::from(name))
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_an_input_once_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("a.csv"), "a\n1\n").unwrap();
        // Equal, and another file.
        fs::write(path("b.csv"), "a\n1\n").unwrap();
        fs::hard_link(path("a.csv"), path("hard.csv")).unwrap();
        std::os::unix::fs::symlink(path("a.csv"), path("soft.csv")).unwrap();
        let names = ["a.csv", "./a.csv", "b.csv", "hard.csv", "[as]*.csv", "a.csv"];
        let (inputs, notes) = expand(&names.map(path)).unwrap();
        assert_eq!(inputs, [file(&path("a.csv")), file(&path("b.csv"))]);
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(notes[0].contains("/./a.csv is the same file as "), "{notes:?}");
        assert!(notes[1].contains("hard.csv is the same file as "), "{notes:?}");
        assert!(notes[2].ends_with("a.csv is named more than once, and loaded once"), "{notes:?}");
        assert!(notes[3].contains("soft.csv is the same file as "), "{notes:?}");
        assert!(expand(&["-".to_owned(), "-".to_owned()]).is_err());
    }

    #[test]
    fn stems_lose_format_endings_only() {
        assert_eq!(file("/a/b/weather.csv.gz").stem(), "weather");
        assert_eq!(file("sales.2024.tsv").stem(), "sales.2024");
        assert_eq!(file("README").stem(), "README");
        assert_eq!(file(".csv").stem(), ".csv");
        assert_eq!(file("a.TXT.ZST").stem(), "a");
        assert_eq!(Place::Stdin.stem(), "stdin");
        assert_eq!(file("a.tsv.gz").extension(), "tsv");
        assert_eq!(file("orders.rejects.csv").table(), "orders");
        assert_eq!(file("orders.rejects.rejects.csv").table(), "orders");
        assert_eq!(file(".rejects.csv").table(), ".rejects");
    }
}
