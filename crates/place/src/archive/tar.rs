//! Tar archives (POSIX ustar and pax, GNU), plain or compressed as a whole.
//!
//! A compressed one can only be read from its start. So members are taken in its order, and who has read one leaves the reader to who
//! comes next: heads are one pass over the archive, and loading is another.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use tar::{Archive, EntryType};

use crate::archive::{Bounded, Content, Entry, Limit, Refusal, Sort, head};
use crate::place::{cannot_open, is_named};
use crate::rejects::{is_sidecar, of_sidecar};
use crate::{Compression, Place};
use inrush_core::error::{Error, Result};
use inrush_core::path::name_of_bytes;

/// A block of the format.
const BLOCK: usize = 512;

/// Where a header has the sum of its bytes, which counts itself as blanks.
const SUM: std::ops::Range<usize> = 148..156;

/// A member as it lies in the archive.
#[derive(Debug)]
pub(super) struct Run {
    /// Where its bytes begin, in the archive decompressed.
    at: u64,
    stream: Arc<Stream>,
}

/// An archive's bytes, decompressed.
pub(super) struct Stream {
    archive: Place,
    compression: Option<Compression>,
    limit: Limit,
    /// A reader of a compressed archive that nobody uses, and how far it has come.
    idle: Mutex<Option<Cursor>>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Stream").field(&self.archive).finish()
    }
}

struct Cursor {
    reader: Box<dyn Read + Send>,
    at: u64,
}

/// Whether these are the first bytes of a tar file.
pub(super) fn is_one(head: &[u8]) -> bool {
    let Some(header) = head.get(..BLOCK) else { return false };
    let said = std::str::from_utf8(&header[SUM]).unwrap_or_default();
    let said = u32::from_str_radix(said.trim_matches([' ', '\0']), 8).ok();
    let sum = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let own = sum(&header[..SUM.start]) + 8 * u32::from(b' ') + sum(&header[SUM.end..]);
    said == Some(own)
}

pub(super) fn entries(
    archive: &Place,
    compression: Option<Compression>,
    limit: Limit,
    stop: &AtomicBool,
) -> Result<Vec<Entry>> {
    let name = archive.name();
    let archive = archive.clone();
    let stream = Arc::new(Stream { archive, compression, limit, idle: Mutex::new(None) });
    let fail = |error: io::Error| match Refusal::within(&error) {
        _ if stop.load(Relaxed) => Error::interrupted(),
        Some(refusal) => refusal.of(&name),
        None if error.raw_os_error().is_some() => cannot_open(&name, &error),
        None => Error::source(format!("{name}: cannot be read as a tar archive: {error}"))
            .about(&name)
            .advise("check that it is whole: fetch it again"),
    };
    let read = || match compression {
        None => {
            let mut archive = Archive::new(Watched::of(stream.archive.seekable()?, stop));
            let found = looked(archive.entries_with_seek()?, &stream)?;
            archive.into_inner().expect_end()?;
            Ok(found)
        }
        Some(_) => {
            let mut archive = Archive::new(Watched::of(stream.decompressed()?, stop));
            let found = looked(archive.entries()?, &stream)?;
            archive.into_inner().expect_end()?;
            Ok(found)
        }
    };
    read().map_err(fail)
}

fn looked(entries: tar::Entries<'_, impl Read>, stream: &Arc<Stream>) -> io::Result<Vec<Entry>> {
    entries.map(|entry| look(entry?, stream)).collect()
}

fn look(mut entry: tar::Entry<'_, impl Read>, stream: &Arc<Stream>) -> io::Result<Entry> {
    let mut name = name_of_bytes(&entry.path_bytes()).into_owned();
    // As pax archives have sparse files: under another name, behind a map of their parts.
    let mut is_sparse = entry.header().entry_type() == EntryType::GNUSparse;
    for said in entry.pax_extensions()?.into_iter().flatten().flatten() {
        is_sparse |= said.key_bytes().starts_with(b"GNU.sparse.");
        if said.key_bytes() == b"GNU.sparse.name" {
            name = name_of_bytes(said.value_bytes()).into_owned();
        }
    }
    let name = name.strip_prefix("./").map(str::to_owned).unwrap_or(name);
    let (at, bytes) = (entry.raw_file_position(), entry.size());
    let sort = match entry.header().entry_type() {
        _ if is_sparse => Sort::Unreadable(Refusal::new(
            "it is a sparse file, of which an archive holds only parts",
            "unpack it first: tar -xf",
        )),
        EntryType::Regular | EntryType::Continuous => Sort::File,
        EntryType::Directory => Sort::Folder,
        EntryType::Link | EntryType::Symlink => {
            let to = entry.link_name_bytes().unwrap_or_default();
            Sort::Link(name_of_bytes(&to).into_owned())
        }
        _ => Sort::Unreadable(Refusal::new("it is no plain file", "name a file")),
    };
    let is_file = matches!(sort, Sort::File);
    let is_asked = is_file && is_named(Path::new(&name)).is_none();
    let head = if is_asked { head(&mut entry)? } else { Vec::new() };
    let is_sidecar = is_file && of_sidecar(&name).is_some() && is_sidecar(&mut entry);
    let content = Some(Content::Tar(Run { at, stream: Arc::clone(stream) }));
    let packed = stream.compression.is_none().then_some(bytes);
    Ok(Entry { name, sort, bytes, packed, head, is_sidecar, content })
}

/// Ends when the user wants to, and remembers that its end was reached.
struct Watched<'a, R> {
    reader: R,
    stop: &'a AtomicBool,
    is_over: bool,
}

impl<'a, R: Read> Watched<'a, R> {
    fn of(reader: R, stop: &'a AtomicBool) -> Self {
        Self { reader, stop, is_over: false }
    }

    /// Reads the rest of an archive whose members have been read: its last block was that of zeros which marks the end, and only zeros
    /// follow, as they fill up a tape's record. What ends without could have lost members, and what goes on has others.
    fn expect_end(mut self) -> io::Result<()> {
        if self.is_over {
            return Err(Refusal::new(
                "it ends without its end mark, a block of zeros, so members may be missing",
                "fetch it again, or unpack it first: tar -xf",
            )
            .into());
        }
        let mut rest = Vec::new();
        loop {
            rest.clear();
            if self.by_ref().take(REST_BYTES).read_to_end(&mut rest)? == 0 {
                return Ok(());
            }
            if rest.iter().any(|byte| *byte != 0) {
                return Err(Refusal::new(
                    "it goes on behind its end mark, as archives joined into one file do",
                    "unpack it first: tar --ignore-zeros -xf",
                )
                .into());
            }
        }
    }
}

/// How much of what follows an archive's end is looked at at once.
const REST_BYTES: u64 = 64 << 10;

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Relaxed) {
            return Err(io::ErrorKind::Other.into());
        }
        let got = self.reader.read(out)?;
        self.is_over |= got == 0 && !out.is_empty();
        Ok(got)
    }
}

impl<R: Seek> Seek for Watched<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}

impl Stream {
    /// From the first byte on.
    fn decompressed(&self) -> io::Result<Box<dyn Read + Send>> {
        let file: Box<dyn Read + Send> = Box::new(self.archive.seekable()?);
        Ok(match self.compression {
            Some(compression) => Box::new(Bounded::new(compression.open(file)?, self.limit)),
            None => file,
        })
    }

    /// A reader that stands at a byte.
    fn at(&self, at: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.archive.seekable()?;
        file.seek(SeekFrom::Start(at))?;
        Ok(Box::new(file))
    }

    /// The reader that somebody has left before this byte, or a new one; it is at the byte then.
    fn cursor(&self, at: u64) -> io::Result<Cursor> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut cursor = match idle.filter(|idle| idle.at <= at) {
            Some(idle) => idle,
            None => Cursor { reader: self.decompressed()?, at: 0 },
        };
        let missing = at - cursor.at;
        if io::copy(&mut cursor.reader.by_ref().take(missing), &mut io::sink())? < missing {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        cursor.at = at;
        Ok(cursor)
    }
}

impl Run {
    /// Its bytes, of which there are `bytes`.
    pub(super) fn open(&self, bytes: u64) -> io::Result<Box<dyn Read + Send>> {
        let stream = Arc::clone(&self.stream);
        let cursor = match stream.compression {
            Some(_) => stream.cursor(self.at)?,
            None => Cursor { reader: stream.at(self.at)?, at: self.at },
        };
        Ok(Box::new(Slice { stream, cursor: Some(cursor), left: bytes }))
    }
}

/// Reads some of a stream, and leaves the rest to who comes next.
struct Slice {
    stream: Arc<Stream>,
    cursor: Option<Cursor>,
    left: u64,
}

impl Read for Slice {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = out.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let Some(cursor) = self.cursor.as_mut().filter(|_| wanted > 0) else { return Ok(0) };
        match cursor.reader.read(&mut out[..wanted]) {
            Ok(0) => {
                self.cursor = None;
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Ok(got) => {
                cursor.at += got as u64;
                self.left -= got as u64;
                Ok(got)
            }
            // A decoder that has failed goes on with nothing.
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.cursor = None;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        if self.stream.compression.is_some() {
            let mut idle = self.stream.idle.lock().unwrap_or_else(PoisonError::into_inner);
            *idle = self.cursor.take();
        }
    }
}
