//! Compression, told by content and not by name.

use std::io::{self, BufReader, Read};

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952; several members one after another count as one stream.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// bzip2, single or several streams.
    Bzip2,
    /// The .xz container.
    Xz,
    /// The LZ4 frame format.
    Lz4,
}

impl Compression {
    /// The compression that `head`, an input's first bytes, announces. Six bytes are enough.
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // A frame, or a skippable frame before one (RFC 8878, section 3.1.2).
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Compression::Lz4),
            _ => None,
        }
    }

    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Lz4 => "lz4",
        }
    }

    /// Decompresses `input`.
    pub(crate) fn open<'a>(
        self,
        input: Box<dyn Read + Send + 'a>,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        // 256 KiB: decompressors ask for a few KiB at a time, and a system call for each would show.
        let input = BufReader::with_capacity(256 << 10, input);
        Ok(match self {
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            Compression::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(input)),
            Compression::Lz4 => Box::new(lz4_flex::frame::FrameDecoder::new(input)),
        })
    }
}
