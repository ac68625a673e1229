//! Zip archives (PKWARE's APPNOTE): the directory is read by the `zip` crate, members are unpacked by what unpacks files.

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use crate::archive::{Content, Entry, Limit, Refusal, Sort, head};
use crate::place::{cannot_open, is_named};
use crate::rejects::{is_sidecar, of_sidecar};
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

/// Whether a file ends as a zip archive does, whatever stands before it.
pub(super) fn ends_as_one(file: impl Read + Seek) -> bool {
    ZipArchive::new(BufReader::new(file)).is_ok()
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

/// Refuses a document whose parts unpack to more than the limit, as its directory says, or are damaged. Who reads them takes no more than
/// that, and seldom to their ends, where their checksums are.
pub(crate) fn expect(file: impl Read + Seek, limit: Limit) -> io::Result<()> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(io::Error::other)?;
    let (mut total, mut heads) = (0, Vec::new());
    for index in 0..archive.len() {
        let part = archive.by_index_raw(index).map_err(io::Error::other)?;
        heads.push((part.header_start(), part.name_raw().to_vec()));
        total += part.size();
        limit.expect(total)?;
    }
    for index in 0..archive.len() {
        // Whoever needs a part that can't be unpacked says so.
        let Ok(mut part) = archive.by_index(index) else { continue };
        let name = name_of_bytes(part.name_raw()).into_owned();
        if !is_of_cells(&name) {
            continue;
        }
        let said = part.size();
        let why = match io::copy(&mut part.by_ref().take(said.saturating_add(1)), &mut io::sink()) {
            Ok(bytes) if bytes == said => continue,
            Ok(_) => "it has not the size that the directory says".to_owned(),
            Err(error) => error.to_string(),
        };
        return Err(Refusal::new(
            format!("its part {name} is damaged: {why}"),
            "fetch the file again, or save it again by its program",
        )
        .into());
    }
    expect_names(&mut archive.into_inner(), &heads)
}

/// Bytes before the name that a member itself has, and where the length of that stands.
const LOCAL_BYTES: usize = 30;
const NAME_LENGTH_AT: usize = 26;

/// Refuses an archive whose directory calls a member otherwise than that calls itself, at the places where these begin: of the two names
/// one is damaged, and a name says what a member is.
fn expect_names(file: &mut (impl Read + Seek), heads: &[(u64, Vec<u8>)]) -> io::Result<()> {
    let mut head = [0; LOCAL_BYTES];
    for (at, said) in heads {
        file.seek(SeekFrom::Start(*at))?;
        file.read_exact(&mut head)?;
        let length = u16::from_le_bytes([head[NAME_LENGTH_AT], head[NAME_LENGTH_AT + 1]]);
        let mut own = vec![0; length.into()];
        file.read_exact(&mut own)?;
        if own != *said {
            let [own, said] = [&own, said].map(|name| name_of_bytes(name).into_owned());
            return Err(Refusal::new(
                format!("it is damaged: what its directory calls '{said}' calls itself '{own}'"),
                "fetch it again",
            )
            .into());
        }
    }
    Ok(())
}

/// Whether a part of a document has anything to do with cells, as pictures have not.
fn is_of_cells(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("xml" | "rels" | "bin")) || name == "mimetype"
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
    let (mut entries, mut heads) = (Vec::new(), Vec::new());
    for index in 0..archive.len() {
        let mut file = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
        heads.push((file.header_start(), file.name_raw().to_vec()));
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
            is_sidecar: false,
            content: None,
        };
        if let (Sort::File, Some(content)) = (&entry.sort, &content) {
            let open = || content.open(place, bytes, Limit::of(packed, None));
            if is_named(Path::new(&entry.name)).is_none() {
                entry.head = open().and_then(head).unwrap_or_default();
            }
            entry.is_sidecar = of_sidecar(&entry.name).is_some() && open().is_ok_and(is_sidecar);
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
    expect_names(&mut archive.into_inner(), &heads).map_err(|error| cannot_open(&name, &error))?;
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
