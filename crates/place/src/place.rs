//! From what the user typed to the inputs it names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use inrush_core::error::{Error, Result, reason, without_secrets};
use inrush_core::path;
use inrush_core::patient::Patient;
use inrush_core::signature;
use inrush_core::wording::shell_word;
use inrush_store::{AtWill, Fault, Pattern, Pipe, Stop, Stored, watched};

use crate::archive::{self, Chosen, Limit, Member, Refusal};
use crate::claims;
use crate::files::{is_stdin, stdin_number};
use crate::rejects::{Part, leave_out};
use crate::workbook::{Format, Seekable, Sheet};

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file, or something that can be opened like one.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Rows that a program has.
    Rows,
    /// A file within an archive.
    Member(Arc<Member>),
    /// A sheet of a workbook.
    Sheet(Arc<Sheet>),
    /// What something keeps that is no file system.
    Stored(Stored),
}

impl Place {
    /// The file on disk that it is, or that it is in.
    pub fn on_disk(&self) -> Option<&Path> {
        match self {
            Place::File(path) => Some(path),
            Place::Member(member) => member.archive.on_disk(),
            Place::Sheet(sheet) => sheet.book.on_disk(),
            Place::Stdin | Place::Rows | Place::Stored(_) => None,
        }
    }

    /// What a store keeps that it is, or that it is in.
    pub fn in_store(&self) -> Option<&Stored> {
        match self {
            Place::Stored(stored) => Some(stored),
            Place::Member(member) => member.archive.in_store(),
            Place::Sheet(sheet) => sheet.book.in_store(),
            Place::File(_) | Place::Stdin | Place::Rows => None,
        }
    }

    /// Has all of it at hand before it is read from anywhere: what comes over the network is copied.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn keep(&self, stop: &Stop) -> io::Result<()> {
        self.in_store().map_or(Ok(()), |stored| stored.keep(stop))
    }

    /// Its path where it is a file itself, so that it can be read from any byte on.
    pub fn plain(&self) -> Option<&Path> {
        match self {
            Place::File(path) => Some(path),
            _ => None,
        }
    }

    /// Its bytes, to be read from anywhere; what comes over the network has been kept before.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn seekable(&self) -> io::Result<Box<dyn Seekable>> {
        Ok(match self {
            Place::File(path) => Box::new(File::open(path)?),
            Place::Member(member) => Box::new(member.unpack()?),
            Place::Sheet(sheet) => return sheet.book.seekable(),
            Place::Stored(stored) => Box::new(AtWill::of(stored)?),
            Place::Stdin | Place::Rows => Box::new(io::empty()),
        })
    }

    /// What it may unpack to, if it is compressed; any amount, where it stands by itself.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Place::Member(member) => Some(member.limit),
            Place::Sheet(sheet) => sheet.book.limit(),
            Place::File(_) | Place::Stdin | Place::Rows | Place::Stored(_) => None,
        }
    }

    /// The path that tells format and table: its own, or that within the archive.
    fn path(&self) -> Option<Cow<'_, Path>> {
        match self {
            Place::File(path) => (!is_descriptor(path)).then_some(Cow::Borrowed(path)),
            Place::Member(member) => Some(Cow::Borrowed(Path::new(&member.name))),
            Place::Sheet(sheet) => match &sheet.name {
                None => sheet.book.path(),
                Some(name) => Some(Cow::Owned(PathBuf::from(as_file(name)))),
            },
            Place::Stored(stored) => Some(Cow::Owned(PathBuf::from(stored.file_name()))),
            Place::Stdin | Place::Rows => None,
        }
    }

    /// What it has in common with the same file by another name, and with no other file; sheets have it of their workbook. `None` for
    /// what is another input each time, such as two ends of pipes.
    fn identity(&self) -> Option<Identity> {
        let within = |outer: &Self, name: &str| {
            Some(Identity::Within(Box::new(outer.identity()?), name.to_owned()))
        };
        match self {
            Place::File(path) => {
                let found = fs::metadata(path).ok()?;
                match found.is_file() {
                    true => file_identity(path, &found),
                    // Another name of standard input: whoever comes second would find what the first has left.
                    false => (is_descriptor(path) && is_stdin(&found)).then_some(Identity::Stdin),
                }
            }
            Place::Stdin => Some(match stdin_number() {
                #[cfg(unix)]
                Some((device, number)) => Identity::File(device, number),
                _ => Identity::Stdin,
            }),
            Place::Member(member) => within(&member.archive, &member.name),
            Place::Sheet(sheet) => within(&sheet.book, ""),
            Place::Stored(stored) => Some(Identity::Stored(stored.identity())),
            Place::Rows => None,
        }
    }

    /// Whether it is the same input as another one of its identity.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Place::Sheet(own), Place::Sheet(other)) => own.is_same(other),
            _ => true,
        }
    }

    /// The name that messages and the sidecar show; no two places have one.
    pub fn name(&self) -> String {
        match self {
            Place::File(path) => path::text(path).into_owned(),
            Place::Stdin => "-".to_owned(),
            Place::Rows => "rows".to_owned(),
            Place::Member(member) => format!("{}!{}", member.archive.name(), member.name),
            Place::Sheet(sheet) => match &sheet.name {
                None => sheet.book.name(),
                Some(name) => format!("{}!{name}", sheet.book.name()),
            },
            Place::Stored(stored) => stored.name(),
        }
    }

    /// The last part of the name; of a member that of its name in the archive, of a sheet that of its workbook's, with the sheet where it
    /// is named.
    pub fn file_name(&self) -> String {
        let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        match self {
            Place::File(_) => last(&self.name()),
            Place::Member(member) => last(&member.name),
            Place::Sheet(sheet) => match &sheet.name {
                None => sheet.book.file_name(),
                Some(name) => format!("{}!{name}", sheet.book.file_name()),
            },
            Place::Stored(stored) => stored.file_name(),
            Place::Stdin | Place::Rows => self.name(),
        }
    }

    /// Its size, where that is known before it is read.
    pub fn regular_bytes(&self) -> Option<u64> {
        match self {
            Place::File(path) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|meta| meta.len())
            }
            Place::Member(member) => Some(member.bytes),
            Place::Sheet(sheet) => sheet.book.regular_bytes(),
            Place::Stored(stored) => stored.bytes(),
            Place::Stdin | Place::Rows => None,
        }
    }

    /// Whether it can be read as often as one likes: a pipe opened by name can be read only once, as standard input.
    pub fn can_be_reread(&self) -> bool {
        matches!(self, Place::Stored(_)) || self.regular_bytes().is_some()
    }

    /// Its bytes from `at` on, if it can be reread.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn open(&self, at: u64, stop: &Stop) -> io::Result<Box<dyn io::Read + Send>> {
        match self {
            Place::File(path) => {
                let mut file = fs::File::open(path)?;
                if at > 0 {
                    file.seek(io::SeekFrom::Start(at))?;
                }
                Ok(Box::new(file))
            }
            Place::Member(member) => skipped(member.open()?, at),
            Place::Sheet(sheet) => sheet.book.open(at, stop),
            Place::Stored(stored) => stored.open(at, stop),
            Place::Stdin | Place::Rows => Ok(Box::new(io::empty())),
        }
    }

    /// What can be read once only, to be looked at before.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn pipe(&self, abandoned: &Stop) -> Result<Pipe> {
        let input: Box<dyn io::Read + Send> = match self {
            Place::Stdin => Box::new(Patient(io::stdin())),
            Place::File(path) if self.regular_bytes().is_none() && path.exists() => {
                Box::new(Unopened { path: path.clone(), file: None })
            }
            // Rows are batches, and not bytes.
            place => {
                place.open(0, abandoned).map_err(|error| cannot_open(&place.name(), &error))?
            }
        };
        Pipe::of(input, Arc::clone(abandoned)).map_err(|error| Error::no_thread(&error))
    }

    /// The same for a look at its first bytes.
    ///
    /// # Errors
    /// When it can't be opened.
    pub fn begin(&self, stop: &Stop) -> io::Result<Box<dyn io::Read + Send>> {
        match self {
            Place::Stored(stored) => stored.begin(stop),
            _ => self.open(0, stop),
        }
    }

    /// Memory that it takes, besides what is read of it.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Place::Stored(stored) => stored.memory_bytes(),
            Place::Sheet(sheet) => sheet.book.memory_bytes(),
            _ => 0,
        }
    }

    /// The file's name without directories and without the endings that tell its format.
    pub fn stem(&self) -> String {
        match (self, self.path()) {
            (_, Some(path)) => stem(&path, &FORMATS),
            (Place::Stdin | Place::File(_), None) => "stdin".to_owned(),
            (_, None) => "rows".to_owned(),
        }
    }

    /// The path next to it with another ending; of a member, next to its archive, with its own name behind the archive's, and so of a sheet
    /// that is named. Rows of a program stand nowhere.
    pub fn beside(&self, ending: &str) -> Option<PathBuf> {
        let name = format!("{}.{ending}", self.stem());
        Some(match self {
            Place::File(path) if !is_descriptor(path) => path.with_file_name(name),
            Place::Member(member) => {
                let mut folders: Vec<&str> = member.name.split('/').collect();
                folders.pop();
                let within = [&folders[..], &[name.as_str()]].concat().join(".");
                let name = format!("{}.{within}", archive_stem(&member.archive));
                match member.archive.plain() {
                    Some(path) => path.with_file_name(name),
                    None => PathBuf::from(name),
                }
            }
            Place::Sheet(sheet) => match &sheet.name {
                None => return sheet.book.beside(ending),
                Some(name) => return sheet.book.beside(&format!("{}.{ending}", as_file(name))),
            },
            // In the current directory.
            Place::Stdin | Place::File(_) | Place::Stored(_) => PathBuf::from(name),
            Place::Rows => return None,
        })
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
        self.path().map(|path| ending(&path)).unwrap_or_default()
    }
}

/// Whether a path is a number that the system has given to what this process reads, as a shell names a pipe (`<(...)`): no name tells
/// table or format, and nothing can be put beside it.
fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path == Path::new("/dev/stdin")
        || folder.is_some_and(|folder| folder == "fd")
            && (path.starts_with("/dev") || path.starts_with("/proc"))
}

/// A path's ending, lower case, without those of compressions.
fn ending(path: &Path) -> String {
    let mut path = path.to_owned();
    loop {
        let ending =
            path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        if !COMPRESSIONS.contains(&ending.as_str()) {
            return ending;
        }
        path.set_extension("");
    }
}

/// A file that whoever reads it opens: a named pipe is only open once another program has opened its other end, and nothing can interrupt
/// that wait.
struct Unopened {
    path: PathBuf,
    file: Option<fs::File>,
}

impl io::Read for Unopened {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(fs::File::open(&self.path)?),
        };
        file.read(out)
    }
}

/// A path's name without folders, and without endings of these formats.
fn stem(path: &Path, formats: &[&str]) -> String {
    let name = path::name(path.file_name().unwrap_or_default());
    let mut stem = name.as_ref();
    while let Some((head, ending)) = stem.rsplit_once('.') {
        let ending = ending.to_ascii_lowercase();
        let ending = ending.as_str();
        if head.is_empty() || !(COMPRESSIONS.contains(&ending) || formats.contains(&ending)) {
            break;
        }
        stem = head;
    }
    stem.to_owned()
}

fn archive_stem(archive: &Place) -> String {
    stem(&archive.path().unwrap_or_default(), &[&ARCHIVES[..], &FORMATS].concat())
}

/// The name of a sheet as that of a file.
fn as_file(sheet: &str) -> String {
    sheet.replace(['/', '\\', '\0'], "_")
}

/// Endings of workbooks.
const BOOKS: [&str; 5] = ["xlsx", "xlsm", "xlsb", "xls", "ods"];

const FORMATS: [&str; 20] = [
    "csv", "tsv", "tab", "txt", "psv", "dat", "jsonl", "ndjson", "json", "parquet", "pq", "arrow",
    "arrows", "feather", "ipc", "xlsx", "xlsm", "xlsb", "xls", "ods",
];

/// Endings of archives; those of compressions may follow.
const ARCHIVES: [&str; 7] = ["zip", "tar", "tgz", "tbz", "tbz2", "txz", "tzst"];

const COMPRESSIONS: [&str; 7] = ["gz", "gzip", "zst", "zstd", "bz2", "xz", "lz4"];

/// What comes behind so many bytes of what can be read in order alone.
fn skipped(mut input: Box<dyn Read + Send>, bytes: u64) -> io::Result<Box<dyn Read + Send>> {
    io::copy(&mut input.by_ref().take(bytes), &mut io::sink())?;
    Ok(input)
}

/// See [`Place::identity`].
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// A file by its device and number there.
    #[cfg(unix)]
    File(u64, u64),
    #[cfg(not(unix))]
    File(PathBuf),
    /// Standard input that is no file, but a pipe or a terminal.
    Stdin,
    Stored(String),
    Within(Box<Identity>, String),
}

#[cfg(unix)]
fn file_identity(_: &Path, found: &fs::Metadata) -> Option<Identity> {
    path::number(found).map(|(device, number)| Identity::File(device, number))
}

/// The same where hard links can't be told.
#[cfg(not(unix))]
fn file_identity(path: &Path, _: &fs::Metadata) -> Option<Identity> {
    path.canonicalize().ok().map(Identity::File)
}

/// Expands `-`, paths, `file:` URLs, globs, folders, lists (`@FILE`) and archives (`ARCHIVE!GLOB`), in the order given; files of a glob or
/// a folder in the order of their names, without bad rows of earlier loads. A file that is named more than once is an input once: the
/// second value has a sentence for each such name. `expand_max` is what an archive may unpack to, if the user says.
///
/// # Errors
/// When something isn't there, can't be read, or has to be refused.
pub fn expand(
    sources: &[String],
    expand_max: Option<u64>,
    stop: &AtomicBool,
) -> Result<(Vec<Place>, Vec<String>)> {
    let mut notes: Vec<String> = Vec::new();
    let flag = Stop::default();
    let unpack = Unpack { expand_max, stop, flag: &flag };
    let found = watched(stop, &flag, || named(sources, &unpack, &mut notes))?;
    let mut places = Vec::new();
    watched(stop, &flag, || -> Result<()> {
        for place in unpacked(found, &unpack, &mut notes)? {
            places.push(in_book(place, &unpack)?);
        }
        Ok(())
    })?;
    let mut inputs: Vec<Place> = Vec::new();
    // Of thousands of files no two are compared with each other.
    let mut known: HashMap<Identity, Vec<usize>> = HashMap::new();
    for place in places {
        let alike = place.identity().map(|identity| known.entry(identity).or_default());
        let same = |at: &&usize| place.is_same(&inputs[**at]);
        let first = alike.as_ref().and_then(|alike| alike.iter().find(same).copied());
        let Some(first) = first.map(|at| &inputs[at]) else {
            alike.into_iter().for_each(|alike| alike.push(inputs.len()));
            inputs.push(place);
            continue;
        };
        let (name, first) = (place.name(), first.name());
        let sort = if matches!(place, Place::Sheet(_)) { "sheet" } else { "file" };
        let note = match name == first {
            true => format!("{name} is named more than once, and loaded once"),
            false => format!("{name} is the same {sort} as {first}, and loaded once"),
        };
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok((inputs, notes))
}

/// The members of places that are archives; other places as they are.
fn unpacked(
    places: Vec<Place>,
    unpack: &Unpack<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Place>> {
    let mut all = Vec::new();
    for place in places {
        match archive_of(&place, unpack)? {
            Some(kind) => {
                let (max, stop) = (unpack.expand_max, unpack.stop);
                let members = archive::members(&place, kind, &Chosen::All, max, stop, notes)?;
                all.extend(members.into_iter().map(Place::Member));
            }
            None => all.push(place),
        }
    }
    Ok(all)
}

/// The archive that a place is.
fn archive_of(place: &Place, unpack: &Unpack<'_>) -> Result<Option<archive::Kind>> {
    let may_be_one = match place {
        Place::File(_) => place.regular_bytes().is_some(),
        Place::Stored(stored) => may_hold_others(stored, &place.extension(), &ARCHIVES),
        _ => false,
    };
    if !may_be_one {
        return Ok(None);
    }
    archive::Kind::of(place, unpack.flag).map_err(|error| match unpack.stop.load(Relaxed) {
        true => Error::interrupted(),
        false => cannot_open(&place.name(), &error),
    })
}

/// Whether what a store keeps may be an archive or a workbook: by its name, or where that tells no format and its first bytes are at hand.
/// Of very many objects no more is asked.
fn may_hold_others(stored: &Stored, ending: &str, endings: &[&str]) -> bool {
    endings.contains(&ending) || (stored.is_looked_at() && !FORMATS.contains(&ending))
}

/// A workbook's first sheet; any other place as it is.
fn in_book(place: Place, unpack: &Unpack<'_>) -> Result<Place> {
    Ok(match is_book(&place, unpack)? {
        true => Place::Sheet(Arc::new(Sheet { book: place, name: None })),
        false => place,
    })
}

/// Whether a place is a workbook, and one that unpacks to no more than is allowed. Of archives' members those are looked at whose names don't say that they are something else.
fn is_book(place: &Place, unpack: &Unpack<'_>) -> Result<bool> {
    let is_named = BOOKS.contains(&place.extension().as_str());
    let may_be_one = match place {
        Place::File(_) => place.regular_bytes().is_some(),
        Place::Member(_) => is_named,
        Place::Stored(stored) => may_hold_others(stored, &place.extension(), &BOOKS),
        _ => false,
    };
    if !may_be_one {
        return Ok(false);
    }
    let mut head = Vec::new();
    let name = place.name();
    let fail = |error: io::Error| match unpack.stop.load(Relaxed) {
        true => Error::interrupted(),
        false => cannot_open(&name, &error),
    };
    place.begin(unpack.flag).and_then(|file| file.take(8).read_to_end(&mut head)).map_err(fail)?;
    if Format::may_be(&head) {
        place.keep(unpack.flag).map_err(fail)?;
    }
    let format = Format::of(&head, || place.seekable()).map_err(|refusal| refusal.of(&name))?;
    if let Some(format) = format {
        let limit = Limit::of(place.regular_bytes().unwrap_or(0), unpack.expand_max);
        if format != Format::Xls {
            let expected = place.seekable().and_then(|file| archive::zip::expect(file, limit));
            expected.map_err(fail)?;
        }
        let expected = place.seekable().and_then(|file| claims::expect(file, format, limit));
        expected.map_err(fail)?;
    }
    Ok(format.is_some())
}

/// How archives are unpacked.
struct Unpack<'a> {
    expand_max: Option<u64>,
    stop: &'a AtomicBool,
    /// The same for those who wait elsewhere.
    flag: &'a Stop,
}

/// The table that these inputs are for, by their names: members of an archive belong together by it, unless there is one only.
pub fn table(places: &[Place]) -> String {
    match places {
        [Place::Member(member), _, ..] => archive_stem(&member.archive),
        [first, ..] => first.table(),
        [] => String::new(),
    }
}

/// The table that sources without one of their own are for, where the first names a folder: they belong together by it.
pub fn folder_table(sources: &[String], places: &[Place]) -> Option<String> {
    let first = sources.first()?;
    let folder = first.strip_suffix("/**").unwrap_or(first);
    if let Some(Place::Stored(stored)) = places.first() {
        let name = stored.name();
        // Schemes are the same in upper case.
        let behind = |url: &str| url.split_once("://").map(|(_, rest)| rest.to_owned());
        let inside = behind(&name)?;
        let inside = inside.strip_prefix(behind(folder)?.trim_end_matches('/'))?;
        let folder = folder.trim_end_matches('/').rsplit('/').next();
        return folder.filter(|_| inside.starts_with('/')).map(str::to_owned);
    }
    let folder = path::of(folder).ok()?;
    let folder = folder.is_dir().then(|| folder.canonicalize().ok()).flatten()?;
    Some(path::name(folder.file_name()?).into_owned())
}

/// The names of columns that folders of the inputs have values of (`year=2024/part-0.parquet`), as Hive and Spark write tables: these are in
/// no file (<https://spark.apache.org/docs/latest/sql-data-sources-parquet.html#partition-discovery>). In their order, each once.
pub fn folder_columns(places: &[Place]) -> Vec<String> {
    let mut columns = Vec::new();
    for place in places {
        let name = place.name();
        let folders = name.split('/').rev().skip(1);
        let said = folders.filter_map(|folder| Some(folder.split_once('=')?.0));
        let is_name = |name: &&str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        for column in said.filter(is_name).collect::<Vec<_>>().into_iter().rev() {
            if !columns.iter().any(|known| known == column) {
                columns.push(column.to_owned());
            }
        }
    }
    columns
}

/// What the sources name, one after the other. `notes` takes what is left out.
fn named(sources: &[String], unpack: &Unpack<'_>, notes: &mut Vec<String>) -> Result<Vec<Place>> {
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
                path::expect_expanded(list)?;
                let list = path::of(list)?;
                let named =
                    |error: Error| error.reworded(|text| format!("{}: {text}", path::text(&list)));
                for line in listed(&list)? {
                    places.extend(found(&line, unpack, notes).map_err(named)?);
                }
            }
            _ => places.extend(found(source, unpack, notes)?),
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

/// What a list names: a line each, relative to the list's folder. Names are written there as the system has them.
fn listed(list: &Path) -> Result<Vec<String>> {
    let name = path::text(list);
    let text = fs::read(list).map_err(|error| cannot_open(&name, &error))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let folder = list.parent().unwrap_or(Path::new(""));
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let beside = |line: &[u8]| match std::str::from_utf8(line) {
        Ok(url) if url.contains("://") => Ok(url.to_owned()),
        Ok(line) => {
            if !folder.join("~").exists() {
                path::expect_expanded(line)?;
            }
            Ok(path::text(&folder.join(line)).into_owned())
        }
        Err(_) => {
            let path = path::of_bytes(line.to_vec()).ok_or_else(|| {
                Error::source(format!("{name}: {} is not UTF-8", path::name_of_bytes(line)))
            })?;
            Ok(path::text(&folder.join(path)).into_owned())
        }
    };
    lines.map(beside).collect()
}

/// The files of a path, a pattern or a folder.
fn found(source: &str, unpack: &Unpack<'_>, notes: &mut Vec<String>) -> Result<Vec<Place>> {
    if is_over_network(source) {
        if let Some((outer, inner)) = within(source) {
            if Address::of(source).is_some_and(|address| address.stray.is_some()) {
                return Err(Error::usage(format!(
                    "{}: a query stands behind the '!', and belongs before it",
                    shown(outer)
                ))
                .advise("write 'https://HOST/ARCHIVE?QUERY!MEMBER'"));
            }
            return in_archives(outer, inner, unpack, notes);
        }
        return without_kept(over_network(source, notes, unpack.flag)?, source, notes);
    }
    let is_url = source.starts_with("file://");
    let shown = without_secrets(source);
    if !is_url && shown != *source && !Path::new(source).exists() {
        return Err(Error::usage(format!(
            "'{shown}' is no file: sources are files, folders or patterns, and the target comes last"
        )));
    }
    let path = path::of(source)?;
    match fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => of_the_user(in_folder(&path, false, notes)?, source, notes),
        Ok(_) => Ok(vec![Place::File(path)]),
        Err(error) if error.kind() == io::ErrorKind::NotFound && within(source).is_some() => {
            let (outer, inner) = within(source).unwrap_or_default();
            in_archives(outer, inner, unpack, notes)
        }
        Err(error)
            if !is_url
                && Pattern::is_one(source)
                && error.kind() == std::io::ErrorKind::NotFound =>
        {
            let folder = source.strip_suffix("/**").map(Path::new).filter(|folder| folder.is_dir());
            let places = match folder {
                Some(folder) => in_folder(folder, true, notes)?,
                None => matches(source, notes)?,
            };
            of_the_user(places, source, notes)
        }
        Err(error) => {
            path::expect_expanded(source)?;
            Err(cannot_open(source, &error))
        }
    }
}

/// The two parts of `ARCHIVE!MEMBER` or `BOOK!SHEET`: the last `!` splits that stands behind the name of an archive or a workbook, or
/// behind a file. In a web address whose name tells no format (`/export?format=xlsx!Data`) the last one does: what is there is looked at,
/// and others are written `%21`.
fn within(source: &str) -> Option<(&str, &str)> {
    let is_archive = |outer: &str| {
        let name = if is_over_network(outer) { without_query(outer) } else { outer };
        let ending = ending(Path::new(name));
        ARCHIVES.contains(&ending.as_str())
            || BOOKS.contains(&ending.as_str())
            || path::of(outer).is_ok_and(|path| path.is_file())
    };
    let parts = || {
        let parts = source.rmatch_indices('!').map(|(at, _)| (&source[..at], &source[at + 1..]));
        parts.filter(|(_, inner)| !inner.is_empty())
    };
    parts()
        .find(|(outer, _)| is_archive(outer))
        .or_else(|| parts().next().filter(|_| is_web(source) && !tells_format(source)))
}

/// Whether the name in a web address says what is there.
fn tells_format(url: &str) -> bool {
    let ending = ending(Path::new(without_query(url)));
    FORMATS.contains(&ending.as_str()) || ARCHIVES.contains(&ending.as_str())
}

/// The members that a pattern fits, of each archive that the outer name stands for; of each workbook, the sheet of this name.
fn in_archives(
    outer: &str,
    pattern: &str,
    unpack: &Unpack<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for place in found(outer, unpack, notes)? {
        let name = place.name();
        if is_book(&place, unpack)? {
            let name = Some(pattern.to_owned());
            places.push(Place::Sheet(Arc::new(Sheet { book: place, name })));
            continue;
        }
        let Some(kind) = archive_of(&place, unpack)? else {
            if let Place::Member(member) = &place
                && archive::Kind::of(&place, unpack.flag).is_ok_and(|kind| kind.is_some())
            {
                return Err(Error::source(format!(
                    "{name} is an archive within an archive, which is not looked into"
                ))
                .about(&name)
                .advise(format!("unpack {}, and name the one in it", member.archive.name())));
            }
            let error = Error::source(format!(
                "{name} is no archive and no workbook, so nothing in it can be named behind '!'"
            ))
            .about(&name)
            .advise("zip and tar can be read, tar also compressed, and .xlsx, .xls and .ods");
            return Err(match is_web(outer) {
                true => error.advise("write %21 for a '!' that belongs to the address"),
                false => error,
            });
        };
        let chosen = Chosen::Named(pattern);
        let (max, stop) = (unpack.expand_max, unpack.stop);
        let members = archive::members(&place, kind, &chosen, max, stop, notes)?;
        places.extend(members.into_iter().map(Place::Member));
    }
    Ok(places)
}

/// Whether a source is a file of a web server or an object of a store.
fn is_over_network(source: &str) -> bool {
    is_of(source, &["http", "https", "s3", "gs", "az"])
}

/// Whether a source is a file of a web server.
fn is_web(source: &str) -> bool {
    is_of(source, &["http", "https"])
}

fn is_of(source: &str, schemes: &[&str]) -> bool {
    let scheme = source.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| schemes.iter().any(|of| scheme.eq_ignore_ascii_case(of)))
}

/// A web address, as it was typed.
struct Address<'a> {
    /// Up to its query.
    base: &'a str,
    query: Option<&'a str>,
    /// What stands behind `!`, up to what is meant for a query.
    inner: Option<&'a str>,
    /// What is meant for a query there, where none belongs.
    stray: Option<&'a str>,
}

impl<'a> Address<'a> {
    fn of(source: &'a str) -> Option<Self> {
        if !is_web(source) {
            return None;
        }
        let (outer, inner) =
            within(source).map_or((source, None), |(outer, inner)| (outer, Some(inner)));
        let (base, query) = split_query(outer.split('#').next().unwrap_or(outer), |_, _| true);
        let (inner, stray) = match inner {
            Some(inner) => {
                let (inner, stray) = split_query(inner, is_meant_for_a_query);
                (Some(inner), stray)
            }
            None => (None, None),
        };
        Some(Self { base, query, inner, stray })
    }
}

/// A text up to the first `?` that begins a query, and that query.
fn split_query(text: &str, is_one: impl Fn(&str, &str) -> bool) -> (&str, Option<&str>) {
    let mut parts = text.match_indices('?').map(|(at, _)| (&text[..at], &text[at + 1..]));
    match parts.find(|(before, query)| is_one(before, query)) {
        Some((before, query)) => (before, Some(query)),
        None => (text, None),
    }
}

/// Whether what stands behind a `?` in a member's name, where that stands for any character, is meant for a query: behind the ending of a
/// file's name, or as `NAME=...`.
fn is_meant_for_a_query(before: &str, behind: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
    };
    FORMATS.contains(&ending(Path::new(before)).as_str())
        || behind.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The query of a web address, which may hold a secret: behind its `?`, and before the `!` of a member or a sheet. What is written behind
/// a member and meant for a query is one as well.
pub fn query_of(source: &str) -> Option<&str> {
    let Address { query, stray, .. } = Address::of(source)?;
    query.or(stray)
}

/// A source as it was typed, but for what may be a secret in a web address: for its queries, and for name and password, stand dots.
pub fn shown(source: &str) -> String {
    let Some(Address { base, query, inner, stray }) = Address::of(source) else {
        return source.to_owned();
    };
    let (_, rest) = source.split_once("://").unwrap_or_default();
    let (host, behind) = rest.split_at(rest.find(['/', '?', '#', '!']).unwrap_or(rest.len()));
    // Of a password with a slash no end can be told.
    if behind.contains('@') && host.contains(['@', ':']) {
        return without_secrets(source);
    }
    let base = match host.rsplit_once('@') {
        Some((login, _)) => base.replacen(&format!("//{login}@"), "//...@", 1),
        None => base.to_owned(),
    };
    let dots = |query: Option<&str>| if query.is_some() { "?..." } else { "" };
    let inner = match inner {
        None => String::new(),
        // It may belong to the query.
        Some(_) if query.is_some() && !tells_format(&base) => "!...".to_owned(),
        Some(inner) => format!("!{inner}"),
    };
    format!("{base}{}{inner}{}", dots(query), dots(stray))
}

/// A URL up to its query.
fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

/// What a source over the network names.
#[cfg(feature = "cloud")]
fn over_network(source: &str, notes: &mut Vec<String>, stop: &Stop) -> Result<Vec<Place>> {
    use inrush_store::remote::{self, Remote};
    if is_web(source) {
        let web = Remote::web(source)?;
        let looked = web.look(stop);
        let web = Stored::new(web);
        looked.map_err(|error| cannot_open(&web.name(), &error))?;
        return Ok(vec![Place::Stored(web)]);
    }
    let found = remote::Found::of(source, stop)?;
    if !found.left_out.is_empty() {
        let names = some_of(&found.left_out);
        notes.push(format!("left out, for the name {}: {names}", remote::ODD));
    }
    let mut places: Vec<Place> =
        found.objects.into_iter().map(|object| Place::Stored(Stored::new(object))).collect();
    if let Some(folder) = found.folder {
        let tells_format = |place: &Place| {
            let ending = place.extension();
            FORMATS.contains(&ending.as_str()) || ARCHIVES.contains(&ending.as_str())
        };
        let (read, others): (Vec<_>, Vec<_>) = places.into_iter().partition(tells_format);
        places = read;
        let others: Vec<String> = others.iter().map(Place::name).collect();
        if !others.is_empty() {
            notes.push(left_out(&others));
        }
        if places.is_empty() {
            return Err(Error::source(format!(
                "no object in {folder} has a name that tells a format that can be read"
            ))
            .advise(format!("name the objects, or a pattern in quotes: '{folder}/*'")));
        }
    }
    Ok(places)
}

/// The same of a build without them.
#[cfg(not(feature = "cloud"))]
fn over_network(source: &str, _: &mut Vec<String>, _: &Stop) -> Result<Vec<Place>> {
    let scheme = source.split("://").next().unwrap_or(source);
    Err(Error::usage(format!("{scheme}: this build of inrush reads nothing over the network"))
        .advise("build it with the feature cloud, or fetch the file first"))
}

/// The files of a folder that can be read, and with `deep` those of its folders: by their names, or by what is in those whose names tell
/// nothing. Hidden ones are nobody's data.
fn in_folder(folder: &Path, deep: bool, notes: &mut Vec<String>) -> Result<Vec<Place>> {
    let depth = if deep { usize::MAX } else { 1 };
    let (mut places, mut others) = (Vec::new(), Vec::new());
    // What a link without an ending leads to would tell.
    let (files, no_files) = walk(folder, depth, false, is_called_a_file)?;
    notes.extend(no_files_left_out(&no_files));
    for path in files {
        let head = || {
            let mut head = Vec::new();
            let read =
                File::open(&path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
            if read.is_ok() { head } else { Vec::new() }
        };
        match is_read(&path, head) || is_archive(&path) {
            true => places.push(Place::File(path)),
            false => others.push(path::text(&path).into_owned()),
        }
    }
    if !others.is_empty() {
        notes.push(left_out(&others));
    }
    if places.is_empty() {
        let shown = path::text(folder);
        let error = Error::source(format!("no file in {shown} is of a format that can be read"));
        if others.iter().any(|name| is_shape(Path::new(name))) {
            return Err(
                error.advise(format!("it has a shapefile: make a CSV file by {SHAPE_TO_CSV}"))
            );
        }
        return Err(match deep {
            true => error,
            false => error.advise(format!("those of its folders are meant by '{shown}/**'")),
        }
        .advise(format!("name the files, or a pattern in quotes: '{shown}/*'")));
    }
    Ok(places)
}

/// The files of a folder or a pattern that are the user's own.
fn of_the_user(places: Vec<Place>, source: &str, notes: &mut Vec<String>) -> Result<Vec<Place>> {
    let part = |place: &Place| place.plain().and_then(Part::of);
    let places = without_kept(places, source, notes)?;
    leave_out(places, (source, source), part, Place::name, notes)
}

/// Leaves out what programs keep for themselves beside the files of a user. Who names such a file means it.
fn without_kept(
    mut places: Vec<Place>,
    source: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<Place>> {
    if Kept::of(source).is_some() {
        return Ok(places);
    }
    for kept in [Kept::Lock, Kept::Summary] {
        let (left, others): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|place| Kept::of(&place.file_name()) == Some(kept));
        places = others;
        if left.is_empty() {
            continue;
        }
        let names = some_of(&left.iter().map(Place::name).collect::<Vec<_>>());
        let (what, why, instead) = kept.words();
        if places.is_empty() {
            return Err(Error::source(format!("'{source}' has nothing but {what}: {names}"))
                .advise(instead));
        }
        notes.push(format!("left out, for {why}: {names}"));
    }
    Ok(places)
}

/// What programs keep for themselves beside the files of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Of Office, beside a document while it is open, under the document's name.
    Lock,
    /// What a dataset's Parquet files have in common, as Spark, Dask and pyarrow write it: a schema, and at most where the rows are that
    /// other files have.
    Summary,
}

impl Kept {
    /// What a file that is called so is kept for.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name.rsplit('/').next()? {
            "_metadata" | "_common_metadata" => Some(Self::Summary),
            name if name.starts_with("~$") => Some(Self::Lock),
            _ => None,
        }
    }

    /// What it is, why it is left out, and what to name instead.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Lock => (
                "what Office keeps while a document is open",
                "Office keeps them while a document is open",
                "name the documents themselves",
            ),
            Self::Summary => (
                "what sums up a dataset of Parquet files",
                "they sum up a dataset's Parquet files, and have no rows of their own",
                "name the folder of the dataset, with /** where its files are in folders",
            ),
        }
    }
}

/// A note about files whose names tell no format.
pub(crate) fn left_out(names: &[String]) -> String {
    format!("left out, for the names tell no format: {}", some_of(names))
}

/// A note about what is no file: pipes, sockets, folders that are called like files.
fn no_files_left_out(paths: &[PathBuf]) -> Option<String> {
    (!paths.is_empty()).then(|| format!("left out, for they are no files: {}", some_paths(paths)))
}

fn some_paths(paths: &[PathBuf]) -> String {
    some_of(&paths.iter().map(|path| path::text(path).into_owned()).collect::<Vec<_>>())
}

/// The first of these names, and how many others there are.
pub fn some_of(names: &[String]) -> String {
    let shown = &names[..names.len().min(SHOWN_MAX)];
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Names that a note shows.
const SHOWN_MAX: usize = 3;

/// Plain files below a folder, hidden ones only if that is said, in the order of their names, and behind them what is no file: of folders
/// those that are not gone into and `is_meant`. A link to a folder is followed, but not to one that it is itself in; one to nothing is an
/// error where its name `is_meant`.
fn walk(
    folder: &Path,
    depth: usize,
    with_hidden: bool,
    is_meant: impl Fn(&Path) -> bool,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let is_hidden = |name: &OsStr| !with_hidden && name.as_encoded_bytes().starts_with(b".");
    let is_shown = |entry: &walkdir::DirEntry| entry.depth() == 0 || !is_hidden(entry.file_name());
    let is_left_out = |path: &Path| path.file_name().is_some_and(is_hidden) || !is_meant(path);
    let walk = walkdir::WalkDir::new(folder).min_depth(1).max_depth(depth).follow_links(true);
    let (mut files, mut no_files) = (Vec::new(), Vec::new());
    for entry in walk.sort_by_file_name().into_iter().filter_entry(is_shown) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
            Ok(entry) if !entry.file_type().is_dir() => no_files.push(entry.into_path()),
            Ok(entry) if entry.depth() == depth && is_meant(entry.path()) => {
                no_files.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                if !is_dangling(&path) {
                    let io = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                    return Err(cannot_open(&path::text(&path), &io));
                }
                if !is_left_out(&path) {
                    return Err(dangling(&path));
                }
            }
        }
    }
    Ok((files, no_files))
}

/// Whether a file of a folder is meant: its name tells a format, or it has no ending and is text or of a format that says so itself.
pub(crate) fn is_read(path: &Path, head: impl FnOnce() -> Vec<u8>) -> bool {
    is_named(path).unwrap_or_else(|| {
        let head = head();
        head.starts_with(signature::PARQUET) || head.starts_with(signature::ARROW) || is_text(&head)
    })
}

/// Whether a name tells a format that can be read; nothing, where it has no ending.
pub(crate) fn is_named(path: &Path) -> Option<bool> {
    if path.file_name().and_then(OsStr::to_str).and_then(Kept::of) == Some(Kept::Summary) {
        return Some(false);
    }
    let ending = ending(path);
    (!ending.is_empty()).then(|| FORMATS.contains(&ending.as_str()))
}

/// Whether a name tells that a file has the shapes of a shapefile, whose values are in others beside it.
pub(crate) fn is_shape(path: &Path) -> bool {
    ending(path) == "shp"
}

/// What makes a table of a shapefile.
pub(crate) const SHAPE_TO_CSV: &str = "ogr2ogr -f CSV OUT.csv FILE.shp -lco GEOMETRY=AS_WKT";

/// Whether a name tells a format that can be read, or an archive.
fn is_called_a_file(path: &Path) -> bool {
    is_named(path).unwrap_or(false) || is_archive(path)
}

/// Whether a name tells that a file is an archive.
pub(crate) fn is_archive(path: &Path) -> bool {
    ARCHIVES.contains(&ending(path).as_str())
}

/// Bytes that tell whether a file is text.
const HEAD_BYTES: u64 = 8 << 10;

fn is_text(head: &[u8]) -> bool {
    !head.is_empty() && !head.contains(&0)
}

/// The files that a pattern fits, in the order of their names.
fn matches(pattern: &str, notes: &mut Vec<String>) -> Result<Vec<Place>> {
    // What is wrong with it is said whatever there is.
    Pattern::new(pattern)?;
    let parts = Path::new(pattern).components();
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let (mut files, mut no_files) = (Vec::new(), Vec::new());
    fitting(Path::new(""), &parts, &mut files, &mut no_files)?;
    if files.is_empty() {
        path::expect_expanded(pattern)?;
        let error = Error::source(format!("'{pattern}' matches no file"));
        return Err(match no_files.is_empty() {
            true => error,
            false => {
                error.advise(format!("name what is no file itself: {}", some_paths(&no_files)))
            }
        });
    }
    notes.extend(no_files_left_out(&no_files));
    Ok(files.into_iter().map(Place::File).collect())
}

/// The files below a folder that a pattern's parts fit, one for each folder on the way. A part that is no pattern is not looked for in its
/// folder, which need not be readable. Names that are not UTF-8 fit as if they had another character there. `no_files` takes what fits and
/// is none; of folders those that are called like files.
fn fitting(
    folder: &Path,
    parts: &[&str],
    files: &mut Vec<PathBuf>,
    no_files: &mut Vec<PathBuf>,
) -> Result<()> {
    let (part, rest) = match parts.split_first() {
        Some((part, rest)) if !Pattern::is_one(part) => {
            return fitting(&folder.join(part), rest, files, no_files);
        }
        Some(split) => split,
        None => {
            match look_at(folder)? {
                Some(found) if found.is_file() => files.push(folder.to_owned()),
                Some(found) if !found.is_dir() || is_called_a_file(folder) => {
                    no_files.push(folder.to_owned());
                }
                _ => {}
            }
            return Ok(());
        }
    };
    let is_here = folder.as_os_str().is_empty();
    let top = if is_here { Path::new(".") } else { folder };
    if !look_at(top)?.is_some_and(|found| found.is_dir()) {
        return Ok(());
    }
    if *part == "**" {
        let pattern = parts.join("/");
        let wanted = Pattern::new(&pattern)?;
        let inside = |path: &Path| path.strip_prefix(top).unwrap_or(path).to_owned();
        let fits = |path: &Path| wanted.fits(&inside(path).to_string_lossy());
        let found = walk(top, usize::MAX, Pattern::names_hidden(&pattern), fits)?;
        let fitting = |found: Vec<PathBuf>| {
            found.into_iter().filter(|path| fits(path)).map(|path| folder.join(inside(&path)))
        };
        files.extend(fitting(found.0));
        no_files.extend(fitting(found.1));
        return Ok(());
    }
    let wanted = Pattern::new(part)?;
    let fail = |error: io::Error| cannot_open(&path::text(folder), &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(top).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        if wanted.fits(&name.to_string_lossy()) {
            names.push(name);
        }
    }
    names.sort();
    names.iter().try_for_each(|name| fitting(&folder.join(name), rest, files, no_files))
}

/// What is at a path; `None` where nothing is. What can't be looked at is not left out without a word.
fn look_at(path: &Path) -> Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => match path.is_symlink() {
            true => Err(dangling(path)),
            false => Ok(None),
        },
        Err(error) => Err(cannot_open(&path::text(path), &error)),
    }
}

/// Whether nothing is at the path.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether there is a link, and nothing that it leads to.
fn is_dangling(path: &Path) -> bool {
    path.is_symlink() && fs::metadata(path).is_err_and(|error| is_missing(&error))
}

fn dangling(path: &Path) -> Error {
    let name = path::text(path);
    Error::source(format!("cannot read {name}: it is a link to nothing"))
        .about(&name)
        .advise("remove the link, or bring back what it leads to")
}

/// Why the input of this name can't be read.
pub fn cannot_open(name: &str, error: &std::io::Error) -> Error {
    if let Some(refusal) = Refusal::within(error) {
        return refusal.of(name);
    }
    if let Some(fault) = Fault::within(error) {
        return fault.about(name);
    }
    if error.kind() == io::ErrorKind::NotFound
        && let Some(link) = path::of(name).ok().filter(|path| is_dangling(path))
    {
        return dangling(&link);
    }
    let fail = Error::source(format!("cannot read {name}: {}", reason(error))).about(name);
    match error.kind() {
        io::ErrorKind::NotFound if are_there(name.split(',')) => {
            fail.advise(format!("put blanks between them: {}", name.replace(',', " ")))
        }
        io::ErrorKind::NotFound => fail.advise("check the spelling and the directory you are in"),
        io::ErrorKind::NotADirectory => match archive_before(name) {
            Some((outer, inner)) => {
                let within = shell_word(&format!("{outer}!{inner}"));
                fail.advise(format!("a member of an archive is named behind a !: {within}"))
            }
            None => fail,
        },
        std::io::ErrorKind::PermissionDenied => fail.advise("check the file's permissions"),
        _ => fail,
    }
}

/// Whether they are files, all of several.
fn are_there<'n>(mut names: impl Iterator<Item = &'n str> + Clone) -> bool {
    names.clone().count() > 1 && names.all(|name| Path::new(name).exists())
}

/// The archive or workbook that a path goes through as if it were a folder, and what is behind it.
fn archive_before(name: &str) -> Option<(&str, &str)> {
    let mut slashes = name.match_indices('/').map(|(at, _)| (&name[..at], &name[at + 1..]));
    slashes.find(|(outer, inner)| {
        let ending = ending(Path::new(outer));
        let is_one = ARCHIVES.contains(&ending.as_str()) || BOOKS.contains(&ending.as_str());
        is_one && !inner.is_empty() && Path::new(outer).is_file()
    })
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
        let (inputs, notes) = expand(&names.map(path), None, &AtomicBool::new(false)).unwrap();
        assert_eq!(inputs, [file(&path("a.csv")), file(&path("b.csv"))]);
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(notes[0].contains("/./a.csv is the same file as "), "{notes:?}");
        assert!(notes[1].contains("hard.csv is the same file as "), "{notes:?}");
        assert!(notes[2].ends_with("a.csv is named more than once, and loaded once"), "{notes:?}");
        assert!(notes[3].contains("soft.csv is the same file as "), "{notes:?}");
        let twice = ["-".to_owned(), "-".to_owned()];
        assert!(expand(&twice, None, &AtomicBool::new(false)).is_err());
    }

    #[test]
    fn a_query_of_a_web_address_is_found_and_not_shown() {
        for (source, query, shown) in [
            ("https://h/a.csv", None, "https://h/a.csv"),
            ("https://h/a.csv?tok=S", Some("tok=S"), "https://h/a.csv?..."),
            ("HTTPS://u:S@h/a.csv?S", Some("S"), "HTTPS://...@h/a.csv?..."),
            ("https://h/z.zip?tok=S!2024/?.csv", Some("tok=S"), "https://h/z.zip?...!2024/?.csv"),
            ("https://h/z.zip!2024/?.csv", None, "https://h/z.zip!2024/?.csv"),
            ("https://h/z.zip!year=?/a-?.csv", None, "https://h/z.zip!year=?/a-?.csv"),
            ("https://h/z.zip!*.csv?S", Some("S"), "https://h/z.zip!*.csv?..."),
            ("https://h/z.zip!*?tok=S", Some("tok=S"), "https://h/z.zip!*?..."),
            ("https://h/b.xlsx!What?", None, "https://h/b.xlsx!What?"),
            ("https://h/export!Data", None, "https://h/export!Data"),
            ("https://h/export?tok=S!S", Some("tok=S"), "https://h/export?...!..."),
            ("https://h/a!b.csv?S!S", Some("S!S"), "https://h/a!b.csv?..."),
            ("https://h/z.zip?S!*.csv?S", Some("S"), "https://h/z.zip?...!*.csv?..."),
            ("https://h/a.csv#S?S", None, "https://h/a.csv"),
            ("https://u:S/S@h/a.csv", None, "https:..."),
            ("https://u:S?S@h/a.csv", Some("S@h/a.csv"), "https:..."),
            ("s3://b/a?.csv", None, "s3://b/a?.csv"),
            ("a?b.csv", None, "a?b.csv"),
        ] {
            assert_eq!(query_of(source), query, "{source}");
            assert_eq!(super::shown(source), shown);
        }
    }

    #[test]
    fn what_a_number_of_the_system_names_is_called_as_standard_input() {
        for path in ["/dev/fd/63", "/proc/self/fd/3", "/proc/12/fd/3", "/dev/stdin"] {
            assert_eq!(file(path).stem(), "stdin");
            assert_eq!(file(path).beside("rejects.csv"), Some(PathBuf::from("stdin.rejects.csv")));
        }
        assert_eq!(file("/home/fd/63.csv").stem(), "63");
        assert_eq!(file("/dev/shm/a.csv").stem(), "a");
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
