//! Members of archives as inputs: zip, and tar, plain or compressed.
//!
//! ```text
//! file -> kind (by content) -> list of its members -> those that are meant -> a `Member` each, which is read like a file
//! ```
//!
//! What an archive says of itself is not believed: names stay within it, and what unpacks to more than it should is refused.

mod limit;
mod tar;
pub(crate) mod zip;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use inrush_core::error::{Error, Result};

use crate::place::{Kept, SHAPE_TO_CSV, cannot_open, is_archive, is_read, is_shape};
use crate::rejects::{Part, leave_out, of_sidecar};
use crate::{Compression, Place};
use inrush_store::{Copied, Pattern, Stop};
pub use limit::{Bounded, Limit, Refusal};

/// A file within an archive.
#[derive(Debug)]
pub struct Member {
    /// The archive: a file on disk, or one over the network.
    pub archive: Place,
    /// Its name there, folders included.
    pub name: String,
    /// Its size unpacked, as the archive says.
    pub bytes: u64,
    /// What it may unpack to.
    pub(crate) limit: Limit,
    content: Content,
    /// What is read from anywhere is copied once.
    copied: Mutex<Option<Arc<Copied>>>,
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.archive == other.archive && self.name == other.name
    }
}

impl Eq for Member {}

/// Where a member's bytes are.
#[derive(Debug)]
enum Content {
    Zip(zip::Packed),
    Tar(tar::Run),
}

/// The sorts of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Zip,
    Tar(Option<Compression>),
}

/// The first bytes of a member, which tell what it is.
const HEAD_BYTES: u64 = 512;

/// What is in an archive.
struct Entry {
    name: String,
    sort: Sort,
    bytes: u64,
    /// What it takes in the archive, where that is known.
    packed: Option<u64>,
    /// Its first bytes, unpacked, where its name doesn't tell what it is.
    head: Vec<u8>,
    /// Whether it is what is said of bad rows, those of the member that is called so without its ending.
    is_sidecar: bool,
    content: Option<Content>,
}

/// What a name in an archive stands for.
enum Sort {
    File,
    Folder,
    /// A link to this.
    Link(String),
    /// A file that can't be read, and why.
    Unreadable(Refusal),
}

impl Kind {
    /// The archive that a file is, by its content; workbooks and other documents that are packed as zip files are none. What is one, or
    /// may be, is at hand then.
    ///
    /// # Errors
    /// When it can't be had.
    pub(crate) fn of(place: &Place, stop: &Stop) -> io::Result<Option<Self>> {
        let head = head(place.begin(stop)?)?;
        let is_zip = zip::is_one(&head);
        // One that unpacks itself has a program before it, and only its name tells.
        if is_zip || place.extension() == "zip" {
            place.keep(stop)?;
        }
        if is_zip {
            return Ok(zip::document(place.seekable()?).is_none().then_some(Self::Zip));
        }
        if place.extension() == "zip" && zip::ends_as_one(place.seekable()?) {
            return Ok(Some(Self::Zip));
        }
        let kind = if tar::is_one(&head) {
            Some(Self::Tar(None))
        } else {
            let packed_tar = |compression: Compression| {
                let plain = compression.open(place.begin(stop).ok()?).ok()?;
                let is_tar = tar::is_one(&self::head(plain).ok()?);
                is_tar.then_some(Self::Tar(Some(compression)))
            };
            Compression::detect(&head).and_then(packed_tar)
        };
        if kind.is_some() {
            place.keep(stop)?;
        }
        Ok(kind)
    }
}

/// The first bytes of what is read.
fn head(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// Which members are meant.
pub(crate) enum Chosen<'a> {
    /// All that can be read.
    All,
    /// Those of this name, or that fit this pattern.
    Named(&'a str),
}

/// The members of an archive that are meant, in its order. `notes` takes what is left out.
///
/// # Errors
/// When it can't be read, none is meant, or one of those has to be refused.
pub(crate) fn members(
    place: &Place,
    kind: Kind,
    chosen: &Chosen<'_>,
    expand_max: Option<u64>,
    stop: &AtomicBool,
    notes: &mut Vec<String>,
) -> Result<Vec<Arc<Member>>> {
    let archive = place.name();
    let stored = place.seekable().and_then(|mut file| file.seek(io::SeekFrom::End(0)));
    let stored = stored.map_err(|error| cannot_open(&archive, &error))?;
    let whole = Limit::of(stored, expand_max);
    let entries = match kind {
        Kind::Zip => zip::entries(place),
        Kind::Tar(compression) => tar::entries(place, compression, whole, stop),
    };
    let entries = entries.map_err(|error| error.in_input(&archive))?;
    let entries = choose(&archive, entries, chosen, notes)?;
    let mut names = HashSet::new();
    let mut total = 0;
    for entry in &entries {
        let name = format!("{archive}!{}", entry.name);
        check(entry, &name)?;
        if !names.insert(entry.name.as_str()) {
            return Err(Error::source(format!("{archive} has two members named {}", entry.name))
                .advise("unpack it, and name the file that is meant"));
        }
        let limit = Limit::of(entry.packed.unwrap_or(stored), expand_max);
        limit.expect(entry.bytes).map_err(|refusal| refusal.of(&name))?;
        total += entry.bytes;
    }
    whole.expect(total).map_err(|refusal| refusal.of(&archive))?;
    let member = |entry: Entry| {
        let content = entry.content?;
        let limit = Limit::of(entry.packed.unwrap_or(stored), expand_max);
        let (archive, name, bytes) = (place.clone(), entry.name, entry.bytes);
        let copied = Mutex::default();
        Some(Arc::new(Member { archive, name, bytes, limit, content, copied }))
    };
    Ok(entries.into_iter().filter_map(member).collect())
}

/// The entries that are meant.
fn choose(
    archive: &str,
    entries: Vec<Entry>,
    chosen: &Chosen<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<Entry>> {
    let mut files = entries;
    files.retain(|entry| !matches!(entry.sort, Sort::Folder));
    let is_name =
        matches!(chosen, Chosen::Named(name) if files.iter().any(|entry| entry.name == *name));
    let rejects = rejects(&files);
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    match chosen {
        Chosen::All => {
            for entry in files.into_iter().filter(|entry| !is_hidden(&entry.name)) {
                match is_read(Path::new(&entry.name), || entry.head.clone()) {
                    true => taken.push(entry),
                    false => others.push(format!("{archive}!{}", entry.name)),
                }
            }
        }
        Chosen::Named(pattern) => {
            let wanted = Pattern::new(pattern)?;
            for entry in files {
                let fits = match is_name {
                    true => entry.name == *pattern,
                    false => wanted.fits(&entry.name) && !is_of_program(&entry.name),
                };
                if fits { taken.push(entry) } else { others.push(entry.name) }
            }
        }
    }
    if !taken.is_empty() {
        let (source, pattern) = match chosen {
            // What a pattern doesn't fit is not missed.
            Chosen::Named(_) if is_name => return Ok(taken),
            Chosen::Named(pattern) => (format!("{archive}!{pattern}"), *pattern),
            Chosen::All => {
                if !others.is_empty() {
                    notes.push(crate::place::left_out(&others));
                }
                (archive.to_owned(), "")
            }
        };
        let part = |entry: &Entry| match of_sidecar(&entry.name) {
            _ if rejects.contains(&entry.name) => Some(Part::Rows),
            Some(rows) if rejects.contains(rows) => Some(Part::Sidecar),
            _ => None,
        };
        let name = |entry: &Entry| format!("{archive}!{}", entry.name);
        return leave_out(taken, (&source, pattern), part, name, notes);
    }
    let shown: Vec<&str> = others.iter().take(SHOWN_MAX).map(String::as_str).collect();
    let more = if others.len() > SHOWN_MAX { ", ..." } else { "" };
    let has = match shown.as_slice() {
        [] => "it has no files".to_owned(),
        shown => format!("it has {}{more}", shown.join(", ")),
    };
    Err(match chosen {
        Chosen::All => {
            let are_archives = others.iter().all(|name| is_archive(Path::new(name)));
            Error::source(format!("no member of {archive} is of a format that can be read: {has}"))
                .advise(match others.is_empty() {
                    true => "check that it is the archive you mean".to_owned(),
                    false if others.iter().any(|name| is_shape(Path::new(name))) => format!(
                        "it has a shapefile: unpack {archive}, and make a CSV file by {SHAPE_TO_CSV}"
                    ),
                    false if are_archives => format!(
                        "unpack {archive}, and name those: archives in an archive are not looked into"
                    ),
                    false => format!("name one, or a pattern, in quotes: '{archive}!*'"),
                })
        }
        Chosen::Named(pattern) => {
            let file = pattern.rsplit('/').next().unwrap_or(pattern);
            let error =
                Error::source(format!("no member of {archive} is named '{pattern}': {has}"));
            match pattern.starts_with("**/") {
                true => error,
                false => error.advise(format!("'{archive}!**/{file}' looks in its folders too")),
            }
        }
    }
    .about(archive))
}

/// The names of members that are bad rows of an earlier load: those with a sidecar.
fn rejects(files: &[Entry]) -> HashSet<String> {
    let said = files.iter().filter(|entry| entry.is_sidecar);
    let said: HashSet<&str> = said.filter_map(|entry| of_sidecar(&entry.name)).collect();
    let names = files.iter().map(|entry| entry.name.as_str());
    names.filter(|name| said.contains(name)).map(str::to_owned).collect()
}

/// Names that a message shows.
const SHOWN_MAX: usize = 5;

/// Whether a program left it there for itself.
fn is_hidden(name: &str) -> bool {
    is_of_program(name)
        || name
            .split('/')
            .any(|part| part.starts_with('.') && part != "." && !part.starts_with(".."))
}

/// What the Finder puts beside the files, and other programs.
fn is_of_program(name: &str) -> bool {
    name.starts_with("__MACOSX/") || Kept::of(name).is_some()
}

/// Refuses what is no file of the archive's own.
fn check(entry: &Entry, name: &str) -> Result<()> {
    let unpack = "unpack the archive with a program that asks, and name the file";
    let mut parts = entry.name.split(['/', '\\']);
    let is_rooted =
        entry.name.starts_with(['/', '\\']) || entry.name.as_bytes().get(1) == Some(&b':');
    if is_rooted || parts.any(|part| part == "..") || entry.name.contains('\0') {
        return Err(Error::source(format!("{name} has a name that leads out of the archive"))
            .about(name)
            .advise(unpack));
    }
    match &entry.sort {
        Sort::Link(to) => Err(Error::source(format!("{name} is a link to {to}, not a file"))
            .about(name)
            .advise("name the file itself")),
        Sort::Unreadable(refusal) => Err(refusal.of(name)),
        Sort::File | Sort::Folder => Ok(()),
    }
}

impl Member {
    /// Its bytes, unpacked into a file without a name, which can be read from anywhere.
    pub(crate) fn unpack(&self) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut Bounded::new(self.open()?, self.limit), &mut file)?;
        file.rewind()?;
        Ok(file)
    }

    /// A copy of its bytes, unpacked, which is made once and is gone with the process.
    ///
    /// # Errors
    /// When it can't be unpacked, or written.
    pub fn copied(&self) -> io::Result<Arc<Copied>> {
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copied) = &*copied {
            return Ok(Arc::clone(copied));
        }
        let name = format!("{}!{}", self.archive.name(), self.name);
        let whole = Bounded::new(self.open()?, self.limit);
        Ok(Arc::clone(copied.insert(Arc::new(Copied::of(whole, Some(self.bytes), &name)?))))
    }

    /// Its bytes, unpacked, from the first on. It fails where it ends before its size, or goes on behind it.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match &self.content {
            Content::Zip(packed) => packed.open(&self.archive, self.bytes, self.limit),
            Content::Tar(run) => run.open(self.bytes),
        }
    }
}

#[cfg(test)]
mod tests;
