//! Compression, detected from content and not by name.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use lz4_flex::frame::FrameDecoder;

use crate::archive::Refusal;

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
    /// The compression that `head`, an input's first bytes, announces. Six bytes are enough, but where a frame that is to be skipped comes
    /// first, which zstd and LZ4 have in common: of one that is longer than `head` zstd is the guess, until it is opened.
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // RFC 8878, section 3.1.2.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, rest @ ..] => Some(match behind_skippable(rest) {
                Some(rest) if Self::detect(rest) == Some(Compression::Lz4) => Compression::Lz4,
                _ => Compression::Zstd,
            }),
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
    pub fn open<'a>(
        self,
        input: Box<dyn Read + Send + 'a>,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        // 256 KiB: decompressors ask for a few KiB at a time, and a system call for each would show.
        let input = BufReader::with_capacity(256 << 10, input);
        Ok(match self {
            Compression::Gzip => Box::new(GzipMembers { decoder: Some(GzDecoder::new(input)) }),
            Compression::Zstd => zstd_or_lz4(input)?,
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
            Compression::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(input)),
            Compression::Lz4 => Box::new(Lz4Frames::new(input)),
        })
    }
}

/// What is behind a frame that is to be skipped, of which `rest` is what follows its magic number.
fn behind_skippable(rest: &[u8]) -> Option<&[u8]> {
    let (size, rest) = rest.split_first_chunk()?;
    rest.get(u32::from_le_bytes(*size) as usize..)
}

/// The frames of a stream of zstd, unless they turn out to be of LZ4 behind those at its start that are to be skipped.
fn zstd_or_lz4<'a>(
    mut input: BufReader<Box<dyn Read + Send + 'a>>,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut magic = Vec::new();
    loop {
        input.by_ref().take(4).read_to_end(&mut magic)?;
        match magic.as_slice() {
            [0x50..=0x5f, 0x2a, 0x4d, 0x18] => skip_rest(&mut input)?,
            // There was nothing but such frames.
            [] => return Ok(Box::new(io::empty())),
            _ => break,
        }
        magic.clear();
    }
    let is_lz4 = Compression::detect(&magic) == Some(Compression::Lz4);
    let input = io::Cursor::new(magic).chain(input);
    Ok(match is_lz4 {
        true => Box::new(Lz4Frames::new(input)),
        false => Box::new(ZstdFrames(zstd::stream::read::Decoder::with_buffer(input)?)),
    })
}

/// The frames of a stream of zstd. Those that need more than their own bytes are whole: what they need is said.
struct ZstdFrames<'a, R: BufRead>(zstd::stream::read::Decoder<'a, R>);

impl<R: BufRead> Read for ZstdFrames<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out).map_err(|error| match error.to_string().as_str() {
            // Names of ZSTD_getErrorName, which is all of them that comes here.
            "Frame requires too much memory for decoding" => Refusal::new(
                "its zstd data has a window of more than 128 MiB",
                "unpack it first: zstd -d --long=31 FILE",
            )
            .into(),
            "Dictionary mismatch" => Refusal::new(
                "its zstd data needs the dictionary that it was compressed with",
                "unpack it first: zstd -d -D DICTIONARY FILE",
            )
            .into(),
            _ => error,
        })
    }
}

/// Passes over a frame that holds what a program has noted for itself, behind its magic number.
fn skip_rest(input: &mut impl BufRead) -> io::Result<()> {
    let mut size = [0; 4];
    input.read_exact(&mut size)?;
    let size = u64::from(u32::from_le_bytes(size));
    match io::copy(&mut input.take(size), &mut io::sink())? {
        passed if passed < size => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// All members of a gzip stream. Zeros behind one fill up a record of a tape, and are nothing, as `gzip` has it; the decoder for several
/// takes them for a damaged member.
struct GzipMembers<R: BufRead> {
    decoder: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let got = decoder.read(out)?;
            if got > 0 || out.is_empty() {
                return Ok(got);
            }
            let input = decoder.get_mut();
            loop {
                let next = input.fill_buf()?;
                if next.is_empty() {
                    self.decoder = None;
                    return Ok(0);
                }
                let zeros = next.iter().take_while(|byte| **byte == 0).count();
                if zeros == 0 {
                    break;
                }
                input.consume(zeros);
            }
            self.decoder = self.decoder.take().map(|decoder| GzDecoder::new(decoder.into_inner()));
        }
        Ok(0)
    }
}

/// All frames of an LZ4 stream, and nothing of those between them that are to be skipped
/// (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md#skippable-frames>). The decoder stops after each, and takes an input that
/// breaks off between two blocks for one that ends; the end mark, which it then goes on to look for in vain, tells the two apart.
struct Lz4Frames<R: BufRead> {
    decoder: FrameDecoder<Ending<R>>,
    between_frames: bool,
}

impl<R: BufRead> Lz4Frames<R> {
    fn new(input: R) -> Self {
        Self { decoder: FrameDecoder::new(Ending { input, ended: false }), between_frames: true }
    }
}

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.between_frames {
                match self.decoder.get_mut().input.fill_buf()? {
                    [] => return Ok(0),
                    [0x50..=0x5f, ..] => {
                        let (input, mut magic) = (&mut self.decoder.get_mut().input, [0; 4]);
                        input.read_exact(&mut magic)?;
                        if magic[1..] != [0x2a, 0x4d, 0x18] {
                            return Err(io::ErrorKind::InvalidData.into());
                        }
                        skip_rest(input)?;
                        continue;
                    }
                    _ => {}
                }
            }
            self.between_frames = false;
            let got = self.decoder.read(out)?;
            if got > 0 || out.is_empty() {
                return Ok(got);
            }
            if self.decoder.get_ref().ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.between_frames = true;
        }
    }
}

/// Remembers that its end was reached.
struct Ending<R> {
    input: R,
    ended: bool,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(out)?;
        self.ended |= got == 0 && !out.is_empty();
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// Every compression's own way to make two streams one after another.
    fn twice(compression: Compression, text: &[u8]) -> Vec<u8> {
        let once = || match compression {
            Compression::Gzip => {
                let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
            Compression::Zstd => zstd::encode_all(text, 1).unwrap(),
            Compression::Bzip2 => {
                let mut to = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
            Compression::Xz => {
                let mut to = liblzma::write::XzEncoder::new(Vec::new(), 1);
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
            Compression::Lz4 => {
                let mut info = lz4_flex::frame::FrameInfo::new();
                info.block_size = lz4_flex::frame::BlockSize::Max64KB;
                let mut to = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                to.write_all(text).unwrap();
                to.finish().unwrap()
            }
        };
        [once(), once()].concat()
    }

    fn read(compression: Compression, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        compression.open(Box::new(bytes))?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn zeros_behind_gzip_are_nothing_and_anything_else_is_an_error() {
        let whole = twice(Compression::Gzip, b"id\n1\n");
        for zeros in [1, 512, 300 << 10] {
            let padded = [whole.as_slice(), &vec![0; zeros]].concat();
            assert_eq!(read(Compression::Gzip, &padded).unwrap(), b"id\n1\nid\n1\n", "{zeros}");
            assert!(read(Compression::Gzip, &[padded.as_slice(), b"x"].concat()).is_err());
        }
    }

    #[test]
    fn frames_of_lz4_that_are_to_be_skipped_hold_no_rows() {
        let frames = twice(Compression::Lz4, b"a\n");
        let (first, second) = frames.split_at(frames.len() / 2);
        let skipped = b"\x5f\x2a\x4d\x18\x05\0\0\0notes";
        let whole = [first, skipped, second, skipped].concat();
        assert_eq!(read(Compression::Lz4, &whole).unwrap(), b"a\na\n");
        for cut in [whole.len() - 1, whole.len() - 7, whole.len() - 12] {
            assert!(read(Compression::Lz4, &whole[..cut]).is_err(), "{cut}");
        }
        assert!(read(Compression::Lz4, &[first, b"\x5f\0\0\0\0\0\0\0"].concat()).is_err());
    }

    #[test]
    fn frames_of_zstd_that_need_a_window_or_a_dictionary_are_not_damaged() {
        let whole = twice(Compression::Zstd, b"id\n");
        for (header, wanted) in [
            (&b"\x28\xb5\x2f\xfd\x00\xa8"[..], "its zstd data has a window of more than 128 MiB"),
            (
                b"\x28\xb5\x2f\xfd\x01\x00\x07",
                "its zstd data needs the dictionary that it was compressed with",
            ),
        ] {
            for before in [&whole[..], b""] {
                let bytes = [before, header, b"\x09\0\0x"].concat();
                let error = read(Compression::Zstd, &bytes).unwrap_err();
                let refusal = Refusal::within(&error).map(ToString::to_string);
                assert_eq!(refusal.as_deref(), Some(wanted), "{error}");
            }
        }
    }

    #[test]
    fn what_is_behind_frames_to_be_skipped_tells_whose_they_are() {
        for compression in [Compression::Lz4, Compression::Zstd] {
            let frames = twice(compression, b"a\n");
            let short = b"\x50\x2a\x4d\x18\x05\0\0\0notes\x5f\x2a\x4d\x18\0\0\0\0";
            let whole = [short.as_slice(), &frames].concat();
            assert_eq!(Compression::detect(&whole), Some(compression));
            let mut long = [b"\x50\x2a\x4d\x18".as_slice(), &(1_u32 << 20).to_le_bytes()].concat();
            long.resize(long.len() + (1 << 20), b'x');
            let long = [long, whole.clone()].concat();
            for whole in [whole, long] {
                let first = Compression::detect(&whole[..8]).unwrap();
                assert_eq!(read(first, &whole).unwrap(), b"a\na\n");
                assert!(read(first, &whole[..whole.len() - 1]).is_err());
            }
        }
        assert_eq!(read(Compression::Zstd, b"\x50\x2a\x4d\x18\0\0\0\0").unwrap(), b"");
    }

    #[test]
    fn streams_are_read_to_their_end_and_never_taken_for_ended_before() {
        let text: Vec<u8> = (0..8_000)
            .flat_map(|n: u32| format!("{},{}\n", n, n.wrapping_mul(2_654_435_761)).into_bytes())
            .collect();
        for compression in [
            Compression::Gzip,
            Compression::Zstd,
            Compression::Bzip2,
            Compression::Xz,
            Compression::Lz4,
        ] {
            let whole = twice(compression, &text);
            assert_eq!(Compression::detect(&whole), Some(compression));
            assert_eq!(
                read(compression, &whole).unwrap(),
                [text.as_slice(), &text].concat(),
                "{compression:?}"
            );
            let half = whole.len() / 2;
            let cuts = (1..whole.len()).filter(|cut| {
                *cut != half
                    && (cut % 9_973 == 0
                        || *cut < 40
                        || whole.len() - cut < 12
                        || cut.abs_diff(half) < 12)
            });
            for cut in cuts {
                assert!(
                    read(compression, &whole[..cut]).is_err(),
                    "{compression:?} cut at {cut} of {}",
                    whole.len()
                );
            }
        }
    }
}
