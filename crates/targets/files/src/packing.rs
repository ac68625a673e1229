//! Text that is compressed on its way into a file, and how it is read back.
//!
//! Every chunk becomes a member of its own (RFC 1952, section 2.2) or a frame of its own (RFC 8878, section 3), which readers take one
//! after the other for one text: so encoders compress beside each other, and rows are added behind what a file holds already.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use inrush_core::flow::Wire;

/// How a file of text is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// The one that a name's last ending promises, in any case.
    pub(super) fn promised(path: &Path) -> Option<Self> {
        let ending = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
        match ending.as_str() {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// For people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// How what is compressed so begins.
    pub(super) const fn magic(self) -> &'static [u8] {
        match self {
            Self::Gzip => b"\x1f\x8b",
            Self::Zstd => b"\x28\xb5\x2f\xfd",
        }
    }

    /// Appends `text` as a member or frame of its own.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(super) fn pack(self, text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(out, Compression::default());
                encoder.write_all(text)?;
                encoder.finish().map(|_| ())
            }
            Self::Zstd => {
                out.extend(zstd::bulk::compress(text, zstd::DEFAULT_COMPRESSION_LEVEL)?);
                Ok(())
            }
        }
    }

    /// The text of what is compressed so.
    ///
    /// # Errors
    /// When there is no memory for the decoder.
    pub(super) fn unpack<'a>(self, input: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(input)),
            Self::Zstd => Box::new(zstd::Decoder::new(input)?),
        })
    }
}

/// What an encoder needs to compress the rows of a chunk, once it has them all.
#[derive(Debug)]
pub(super) struct Packer {
    packing: Option<Packing>,
    /// What takes the place of the text, and then the text's memory, for the next chunk.
    spare: Vec<u8>,
}

impl Packer {
    /// One that leaves the text as it is without a `packing`.
    pub(super) fn new(packing: Option<Packing>) -> Self {
        Self { packing, spare: Vec::new() }
    }

    /// Compresses [`Wire::bytes`], in which the rows' ends mean nothing any more.
    pub(super) fn end(&mut self, wire: &mut Wire) {
        let Some(packing) = self.packing.filter(|_| !wire.bytes.is_empty()) else { return };
        self.spare.clear();
        match packing.pack(&wire.bytes, &mut self.spare) {
            Ok(()) => std::mem::swap(&mut wire.bytes, &mut self.spare),
            Err(error) => wire.own = Some(Box::new(error)),
        }
    }
}

/// Why a chunk's rows were not compressed.
pub(super) fn fault(wire: &Wire) -> Option<io::Error> {
    let error = wire.own.as_ref()?.downcast_ref::<io::Error>()?;
    Some(io::Error::new(error.kind(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_piece_by_piece_is_one_text() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let mut out = Vec::new();
            for piece in [&b"id\n"[..], b"", b"1\n2\n"] {
                packing.pack(piece, &mut out).unwrap();
            }
            assert!(out.starts_with(packing.magic()));
            let mut text = String::new();
            packing.unpack(&out[..]).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "id\n1\n2\n", "{packing:?}");
            let cut = packing.unpack(&out[..out.len() - 1]).unwrap().read_to_string(&mut text);
            assert!(cut.is_err(), "{packing:?}");
        }
    }

    #[test]
    fn the_last_ending_says_how() {
        for (path, packing) in [
            ("a.csv.gz", Some(Packing::Gzip)),
            ("a.GZIP", Some(Packing::Gzip)),
            ("d.gz/a.jsonl.zst", Some(Packing::Zstd)),
            ("a.csv", None),
            (".gz", None),
            ("d.gz/a", None),
            ("a.csv.bz2", None),
        ] {
            assert_eq!(Packing::promised(Path::new(path)), packing, "{path}");
        }
    }
}
