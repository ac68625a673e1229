//! From what the user typed to the inputs it names.

use std::fs;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::stop::{Stop, watched};
use crate::stored::{Fault, Stored};
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
    /// What something keeps that is no file system.
    Stored(Stored),
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
            Place::Stored(stored) => stored.name(),
        }
    }

    /// Its size, where that is known before it is read.
    pub fn regular_bytes(&self) -> Option<u64> {
        match self {
            Place::File(path) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| meta.len())
            }
            Place::Stored(stored) => stored.bytes(),
            Place::Stdin | Place::Rows => None,
        }
    }

    /// Whether it can be read as often as one likes: a pipe opened by name can be read only once, as standard input.
    pub fn can_be_reread(&self) -> bool {
        matches!(self, Place::Stored(_)) || self.regular_bytes().is_some()
    }

    /// Its bytes from `at` on, if it can be reread.
    pub(crate) fn open(&self, at: u64, stop: &Stop) -> io::Result<Box<dyn io::Read + Send>> {
        match self {
            Place::File(path) => {
                let mut file = fs::File::open(path)?;
                if at > 0 {
                    file.seek(io::SeekFrom::Start(at))?;
                }
                Ok(Box::new(file))
            }
            Place::Stored(stored) => stored.open(at, stop),
            Place::Stdin | Place::Rows => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// The same for a look at its first bytes.
    pub(crate) fn begin(&self, stop: &Stop) -> io::Result<Box<dyn io::Read + Send>> {
        match self {
            Place::Stored(stored) => stored.begin(stop),
            _ => self.open(0, stop),
        }
    }

    /// Memory that it takes, besides what is read of it.
    pub(crate) fn memory_bytes(&self) -> u64 {
        match self {
            Place::Stored(stored) => stored.memory_bytes(),
            Place::File(_) | Place::Stdin | Place::Rows => 0,
        }
    }

    /// The last part of its name.
    pub fn file_name(&self) -> String {
        match self {
            Place::File(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            Place::Stored(stored) => stored.file_name(),
            Place::Stdin => "stdin".to_owned(),
            Place::Rows => "rows".to_owned(),
        }
    }

    /// The file's name without directories and without the endings that tell its format.
    pub fn stem(&self) -> String {
        let name = self.file_name();
        if matches!(self, Place::Stdin | Place::Rows) {
            return name;
        }
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
        let mut path = match self {
            Place::File(path) => path.clone(),
            Place::Stored(stored) => PathBuf::from(stored.file_name()),
            Place::Stdin | Place::Rows => return String::new(),
        };
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

/// Expands `-`, paths, `file:` URLs, globs, folders and lists (`@FILE`), in the order given; files of a glob or a folder in the order of
/// their names. A file that is named more than once is
/// an input once: the second value has a sentence for each such name.
pub fn expand(sources: &[String], stop: &AtomicBool) -> Result<(Vec<Place>, Vec<String>)> {
    let mut notes: Vec<String> = Vec::new();
    let flag = Stop::default();
    let places = watched(stop, &flag, || named(sources, &mut notes, &flag))?;
    let mut inputs: Vec<Place> = Vec::new();
    for place in places {
        let first = match &place {
            Place::File(path) => inputs.iter().find(|other| other.is_file(path)),
            Place::Stored(_) => inputs.iter().find(|other| **other == place),
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

/// The table that sources without one of their own are for, where the first names a folder: they belong together by it.
pub fn folder_table(sources: &[String], places: &[Place]) -> Option<String> {
    let first = sources.first()?;
    let folder = first.strip_suffix("/**").unwrap_or(first);
    if let Some(Place::Stored(stored)) = places.first() {
        let name = stored.name();
        let inside = name.strip_prefix(folder.trim_end_matches('/'))?;
        let folder = folder.trim_end_matches('/').rsplit('/').next();
        return folder.filter(|_| inside.starts_with('/')).map(str::to_owned);
    }
    let folder = local(folder).ok()?;
    let folder = folder.is_dir().then(|| folder.canonicalize().ok()).flatten()?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

/// What the sources name, one after the other. `notes` takes what is left out.
fn named(sources: &[String], notes: &mut Vec<String>, stop: &Stop) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for source in sources {
        match source.strip_prefix('@') {
            _ if source == "-" => {
                if places.contains(&Place::Stdin) {
                    return Err(Error::usage("standard input ('-') can be read only once"));
                }
                places.push(Place::Stdin);
            }
            Some(list) if !Path::new(source).exists() => {
                let list = local(list)?;
                for line in listed(&list)? {
                    places.extend(found(&line, notes, stop).map_err(|error| {
                        error.reworded(|text| format!("{}: {text}", list.display()))
                    })?);
                }
            }
            _ => places.extend(found(source, notes, stop)?),
        }
    }
    if places.is_empty() {
        return Err(match sources {
            [] => Error::usage("no source is named"),
            _ => Error::source("the list names no source"),
        });
    }
    Ok(places)
}

/// What a list names: a line each, relative to the list's folder.
fn listed(list: &Path) -> Result<Vec<String>> {
    let name = list.display().to_string();
    let text = fs::read_to_string(list).map_err(|error| cannot_open(&name, &error))?;
    let folder = list.parent().unwrap_or(Path::new(""));
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let beside = |line: &str| match line.contains("://") {
        true => line.to_owned(),
        false => folder.join(line).display().to_string(),
    };
    Ok(lines.map(beside).collect())
}

/// The path that a name or a `file:` URL is of.
fn local(name: &str) -> Result<PathBuf> {
    let Some(rest) = name.strip_prefix("file://") else { return Ok(PathBuf::from(name)) };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(Error::usage(format!("'{name}' names a file of another machine"))
            .advise("write file:///PATH, or the path alone"));
    }
    let path = percent_encoding::percent_decode_str(path).decode_utf8();
    let path = path.map_err(|_| Error::usage(format!("'{name}' is no name of a file in UTF-8")))?;
    Ok(PathBuf::from(path.into_owned()))
}

/// The files of a path, a pattern or a folder.
fn found(source: &str, notes: &mut Vec<String>, stop: &Stop) -> Result<Vec<Place>> {
    if let Some(places) = over_network(source, notes, stop) {
        return places;
    }
    let is_url = source.starts_with("file://");
    let shown = without_secrets(source);
    if !is_url && shown != *source && !Path::new(source).exists() {
        return Err(Error::usage(format!(
            "'{shown}' is no file: sources are files, folders or patterns, and the target comes last"
        )));
    }
    let path = local(source)?;
    match fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => in_folder(&path, false, notes),
        Ok(_) => Ok(vec![Place::File(path)]),
        Err(error)
            if !is_url
                && source.contains(['*', '?', '['])
                && error.kind() == std::io::ErrorKind::NotFound =>
        {
            match source.strip_suffix("/**").map(Path::new).filter(|folder| folder.is_dir()) {
                Some(folder) => in_folder(folder, true, notes),
                None => matches(source),
            }
        }
        Err(error) => Err(cannot_open(source, &error)),
    }
}

/// What a source over the network names; `None` where it names none.
#[cfg(feature = "cloud")]
fn over_network(source: &str, notes: &mut Vec<String>, stop: &Stop) -> Option<Result<Vec<Place>>> {
    use crate::remote::{self, Remote};
    if remote::is_web(source) {
        let look = |web: Remote| {
            let looked = web.look(stop);
            let web = Stored::new(web);
            looked.map_err(|error| cannot_open(&web.name(), &error))?;
            Ok(vec![Place::Stored(web)])
        };
        return Some(Remote::web(source).and_then(look));
    }
    if !remote::is_bucket(source) {
        return None;
    }
    let found = match remote::Found::of(source, stop) {
        Ok(found) => found,
        Err(error) => return Some(Err(error)),
    };
    let mut places: Vec<Place> =
        found.objects.into_iter().map(|object| Place::Stored(Stored::new(object))).collect();
    if let Some(folder) = found.folder {
        let tells_format = |place: &Place| FORMATS.contains(&place.extension().as_str());
        let (read, others): (Vec<_>, Vec<_>) = places.into_iter().partition(tells_format);
        places = read;
        left_out(others.iter().map(Place::name).collect(), notes);
        if places.is_empty() {
            return Some(Err(Error::source(format!(
                "no object in {folder} has a name that tells a format that can be read"
            ))
            .advise(format!("name the objects, or a pattern in quotes: '{folder}/*'"))));
        }
    }
    Some(Ok(places))
}

/// The same of a build without them.
#[cfg(not(feature = "cloud"))]
fn over_network(source: &str, _: &mut Vec<String>, _: &Stop) -> Option<Result<Vec<Place>>> {
    let (scheme, _) = source.split_once("://")?;
    ["http", "https", "s3", "gs", "az"].contains(&scheme).then(|| {
        Err(Error::usage(format!("{scheme}: this build of inrush reads nothing over the network"))
            .advise("build it with the feature cloud, or fetch the file first"))
    })
}

/// Says of which files of a folder nothing is read.
fn left_out(mut others: Vec<String>, notes: &mut Vec<String>) {
    if !others.is_empty() {
        let more = others.len().saturating_sub(SHOWN_MAX);
        others.truncate(SHOWN_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("left out, for the names tell no format: {}{more}", others.join(", ")));
    }
}

/// The files of a folder that can be read, and with `deep` those of its folders: by their names, or by what is in those whose names tell
/// nothing. Hidden ones are nobody's data.
fn in_folder(folder: &Path, deep: bool, notes: &mut Vec<String>) -> Result<Vec<Place>> {
    let depth = if deep { usize::MAX } else { 1 };
    let (mut places, mut others) = (Vec::new(), Vec::new());
    for path in walk(folder, depth)? {
        match is_read(&path) {
            true => places.push(Place::File(path)),
            false => others.push(path.display().to_string()),
        }
    }
    left_out(others, notes);
    if places.is_empty() {
        let shown = folder.display();
        let error = Error::source(format!("no file in {shown} is of a format that can be read"));
        return Err(match deep {
            true => error,
            false => error.advise(format!("those of its folders are meant by '{shown}/**'")),
        }
        .advise(format!("name the files, or a pattern in quotes: '{shown}/*'")));
    }
    Ok(places)
}

/// Names that a note shows.
const SHOWN_MAX: usize = 3;

/// Plain files below a folder, hidden ones left out, in the order of their names. A link to a folder is followed, but not to one that
/// it is itself in.
fn walk(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let is_shown = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
    };
    let walk = walkdir::WalkDir::new(folder).min_depth(1).max_depth(depth).follow_links(true);
    let mut files = Vec::new();
    for entry in walk.sort_by_file_name().into_iter().filter_entry(is_shown) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).display().to_string();
                let io = error.into_io_error().unwrap_or_else(|| std::io::ErrorKind::Other.into());
                return Err(cannot_open(&path, &io));
            }
        }
    }
    Ok(files)
}

/// Whether a file of a folder is meant: its name tells a format, or it has no ending and is text or of a format that says so itself.
fn is_read(path: &Path) -> bool {
    let ending = Place::File(path.to_owned()).extension();
    if !ending.is_empty() {
        return FORMATS.contains(&ending.as_str());
    }
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && (head.starts_with(b"PAR1") || head.starts_with(b"ARROW1") || is_text(&head))
}

/// Bytes that tell whether a file is text.
const HEAD_BYTES: u64 = 8 << 10;

fn is_text(head: &[u8]) -> bool {
    !head.is_empty() && !head.contains(&0)
}

fn matches(pattern: &str) -> Result<Vec<Place>> {
    let wrong = |error: &glob::PatternError| {
        Error::usage(format!("'{pattern}' is no pattern: {}", error.msg))
    };
    let mut places = Vec::new();
    match pattern.contains("**") {
        // As glob walks there a link into the folder it is in is followed for ever.
        true => {
            let wanted = glob::Pattern::new(pattern).map_err(|error| wrong(&error))?;
            let options = glob::MatchOptions {
                case_sensitive: true,
                require_literal_separator: true,
                require_literal_leading_dot: false,
            };
            let plain = Path::new(pattern)
                .components()
                .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']));
            let base: PathBuf = plain.collect();
            let here = base.as_os_str().is_empty();
            let top = if here { Path::new(".") } else { base.as_path() };
            for path in walk(top, usize::MAX)? {
                let path = if here { path.strip_prefix(".").unwrap_or(&path) } else { &path };
                if wanted.matches_path_with(path, options) {
                    places.push(Place::File(path.to_owned()));
                }
            }
        }
        false => {
            for path in glob::glob(pattern).map_err(|error| wrong(&error))? {
                let path = path.map_err(|error| {
                    cannot_open(&error.path().display().to_string(), error.error())
                })?;
                if path.is_file() {
                    places.push(Place::File(path));
                }
            }
        }
    }
    if places.is_empty() {
        return Err(Error::source(format!("'{pattern}' matches no file")));
    }
    Ok(places)
}

pub(crate) fn cannot_open(name: &str, error: &std::io::Error) -> Error {
    if let Some(fault) = Fault::within(error) {
        return fault.about(name);
    }
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
        let (inputs, notes) = expand(&names.map(path), &AtomicBool::new(false)).unwrap();
        assert_eq!(inputs, [file(&path("a.csv")), file(&path("b.csv"))]);
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(notes[0].contains("/./a.csv is the same file as "), "{notes:?}");
        assert!(notes[1].contains("hard.csv is the same file as "), "{notes:?}");
        assert!(notes[2].ends_with("a.csv is named more than once, and loaded once"), "{notes:?}");
        assert!(notes[3].contains("soft.csv is the same file as "), "{notes:?}");
        assert!(expand(&["-".to_owned(), "-".to_owned()], &AtomicBool::new(false)).is_err());
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
