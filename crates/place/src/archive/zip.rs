//! Zip archives (PKWARE's APPNOTE): the directory is read by the `zip` crate, members are unpacked by what unpacks files.

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use crate::archive::{Content, Entry, Limit, Refusal, Sort, head};
use crate::place::{cannot_open, is_named};
use crate::{Compression, Place};
use inrush_core::error::{Error, Result};
use inrush_core::path::name_of_bytes;
use inrush_core::signature;

/// A member as it lies in the archive.
#[derive(Debug)]
pub(super) struct Packed {
    /// Where its bytes begin.
    at: u64,
    packed: u64,
    packing: Packing,
    crc32: u32,
}

/// How a member is packed.
#[derive(Clone, Copy, Debug)]
enum Packing {
    Stored,
    Deflated,
    Other(Compression),
}

/// Whether these are the first bytes of a zip file, which may be empty.
pub(crate) fn is_one(head: &[u8]) -> bool {
    head.starts_with(signature::ZIP) || head.starts_with(b"PK\x05\x06")
}

/// What office programs write, packed as zip files.
pub(crate) enum Document {
    Workbook,
    BinaryWorkbook,
    OpenSheet,
    /// No workbook, but this.
    Other(&'static str),
}

/// The document that a zip file is; nothing, where it is an archive of somebody's files, or damaged.
pub(crate) fn document(file: impl Read + Seek) -> Option<Document> {
    let mut archive = ZipArchive::new(BufReader::new(file)).ok()?;
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("[Content_Types].xml") {
        let is_in = |folder: &[u8]| archive.file_names_raw().any(|name| name.starts_with(folder));
        return Some(match () {
            () if has("xl/workbook.bin") => Document::BinaryWorkbook,
            () if is_in(b"xl/") => Document::Workbook,
            () if is_in(b"word/") => Document::Other("a Word document"),
            () if is_in(b"ppt/") => Document::Other("a PowerPoint presentation"),
            () => Document::Other("an Office document"),
        });
    }
    let mut sort = String::new();
    archive.by_name("mimetype").ok()?.take(MIMETYPE_BYTES).read_to_string(&mut sort).ok()?;
    Some(match sort.trim() {
        sort if sort.starts_with("application/vnd.oasis.opendocument.spreadsheet") => {
            Document::OpenSheet
        }
        sort if sort.starts_with("application/vnd.oasis.opendocument") => {
            Document::Other("an OpenDocument file without sheets")
        }
        "application/epub+zip" => Document::Other("an e-book"),
        _ => return None,
    })
}

/// Refuses a document whose parts unpack to more than the limit, as its directory says. Who reads them takes no more than that.
pub(crate) fn expect(file: impl Read + Seek, limit: Limit) -> io::Result<()> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(io::Error::other)?;
    let mut total = 0;
    for index in 0..archive.len() {
        total += archive.by_index_raw(index).map_err(io::Error::other)?.size();
        limit.expect(total)?;
    }
    Ok(())
}

/// What the name of a document's sort may have.
const MIMETYPE_BYTES: u64 = 200;

pub(super) fn entries(place: &Place) -> Result<Vec<Entry>> {
    let name = place.name();
    let damaged = |error: &dyn std::fmt::Display| {
        Error::source(format!("{name}: cannot be read as a zip archive: {error}"))
            .about(&name)
            .advise("check that it is whole: fetch it again")
    };
    let file = place.seekable().map_err(|error| cannot_open(&name, &error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
    let twice = match archive.has_duplicate_names() {
        true => names_twice(place, archive.central_directory_start())
            .map_err(|error| cannot_open(&name, &error))?,
        false => HashSet::new(),
    };
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
        let member = match file.name() {
            Ok(name) => name.replace('\\', "/"),
            Err(_) => name_of_bytes(file.name_raw()).into_owned(),
        };
        let is_twice = twice.contains(file.name_raw());
        let (packed, bytes) = (file.compressed_size(), file.size());
        let sort = match packing(file.compression()) {
            _ if file.is_dir() => Sort::Folder,
            _ if file.is_symlink() => {
                let mut to = Vec::new();
                let _ = file.by_ref().take(LINK_BYTES).read_to_end(&mut to);
                Sort::Link(name_of_bytes(&to).into_owned())
            }
            _ if file.encrypted() => Sort::Unreadable(Refusal::new(
                "it is encrypted",
                "unpack it first, with its password: 7z x, or unzip",
            )),
            Err(refusal) => Sort::Unreadable(refusal),
            Ok(_) => Sort::File,
        };
        let content = match (packing(file.compression()), file.data_start()) {
            (Ok(packing), Some(at)) => Some(Packed { at, packed, packing, crc32: file.crc32() }),
            _ => None,
        };
        drop(file);
        let mut entry = Entry {
            name: member,
            sort,
            bytes,
            packed: Some(packed),
            head: Vec::new(),
            content: None,
        };
        if let (Sort::File, Some(content)) = (&entry.sort, &content)
            && is_named(Path::new(&entry.name)).is_none()
        {
            let limit = Limit::of(packed, None);
            entry.head = content.open(place, bytes, limit).and_then(head).unwrap_or_default();
        }
        entry.content = content.map(Content::Zip);
        if is_twice {
            // Of two of one name the directory's reader keeps the last.
            entries.push(Entry {
                name: entry.name.clone(),
                sort: Sort::File,
                head: entry.head.clone(),
                content: None,
                ..entry
            });
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// What a link's target may have.
const LINK_BYTES: u64 = 4 << 10;

/// A record of the directory, up to the name.
const RECORD_BYTES: usize = 46;

/// Names that come more than once in the directory that begins there.
fn names_twice(place: &Place, at: u64) -> io::Result<HashSet<Vec<u8>>> {
    let mut file = BufReader::new(place.seekable()?);
    file.seek(SeekFrom::Start(at))?;
    let (mut seen, mut twice) = (HashSet::new(), HashSet::new());
    let mut record = [0; RECORD_BYTES];
    loop {
        // What follows the records is shorter than one.
        file.read_exact(&mut record[..4])?;
        if !record.starts_with(b"PK\x01\x02") {
            return Ok(twice);
        }
        file.read_exact(&mut record[4..])?;
        let length = |at: usize| usize::from(u16::from_le_bytes([record[at], record[at + 1]]));
        let mut name = vec![0; length(28)];
        file.read_exact(&mut name)?;
        file.seek_relative((length(30) + length(32)) as i64)?;
        if !seen.insert(name.clone()) {
            twice.insert(name);
        }
    }
}

fn packing(method: CompressionMethod) -> Result<Packing, Refusal> {
    Ok(match method {
        CompressionMethod::STORE => Packing::Stored,
        CompressionMethod::DEFLATE => Packing::Deflated,
        CompressionMethod::BZIP2 => Packing::Other(Compression::Bzip2),
        CompressionMethod::ZSTD => Packing::Other(Compression::Zstd),
        CompressionMethod::XZ => Packing::Other(Compression::Xz),
        CompressionMethod::AES => {
            return Err(Refusal::new("it is encrypted", "unpack it first, with its password"));
        }
        other => {
            let what = match other {
                CompressionMethod::DEFLATE64 => "Deflate64".to_owned(),
                CompressionMethod::LZMA => "LZMA".to_owned(),
                other => format!("{other}"),
            };
            return Err(Refusal::new(
                format!("it is compressed as {what}, which can't be read"),
                "unpack it first: 7z x",
            ));
        }
    })
}

impl Packed {
    /// Its bytes, unpacked, of which there are to be `bytes`.
    pub(super) fn open(
        &self,
        archive: &Place,
        bytes: u64,
        limit: Limit,
    ) -> io::Result<Box<dyn Read + Send>> {
        let mut file = archive.seekable()?;
        file.seek(SeekFrom::Start(self.at))?;
        let packed = file.take(self.packed);
        let plain: Box<dyn Read + Send> = match self.packing {
            Packing::Stored => Box::new(packed),
            Packing::Deflated => Box::new(flate2::bufread::DeflateDecoder::new(
                BufReader::with_capacity(256 << 10, packed),
            )),
            Packing::Other(compression) => compression.open(Box::new(packed))?,
        };
        let (crc32, wanted) = (crc32fast::Hasher::new(), self.crc32);
        Ok(Box::new(Checked { plain, crc32, wanted, seen: 0, bytes, limit }))
    }
}

/// Compares what comes with what the directory says.
struct Checked {
    plain: Box<dyn Read + Send>,
    crc32: crc32fast::Hasher,
    wanted: u32,
    seen: u64,
    bytes: u64,
    limit: Limit,
}

impl Read for Checked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.plain.read(out)?;
        if got == 0 && !out.is_empty() {
            if self.seen < self.bytes && !self.limit.is_said {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.crc32.clone().finalize() != self.wanted {
                return Err(Refusal::new(
                    "its bytes are not those that were packed: the checksum is another",
                    "fetch the archive again",
                )
                .into());
            }
            return Ok(0);
        }
        self.seen += got as u64;
        self.crc32.update(&out[..got]);
        if self.seen > self.bytes && !self.limit.is_said {
            return Err(Refusal::new(
                format!(
                    "it unpacks to more than the {} that the archive says",
                    inrush_core::wording::bytes(self.bytes)
                ),
                "if it is to be trusted, say --max-expand SIZE",
            )
            .into());
        }
        self.limit.expect(self.seen)?;
        Ok(got)
    }
}
