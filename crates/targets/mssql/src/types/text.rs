//! Characters, bytes, identifiers.

use encoding_rs::{EncoderResult, Encoding};

use inrush_core::flow::Code;
use inrush_core::value::hex;

use super::store::Misfit;

/// What a column of text takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts {
    /// Bytes or UTF-16 units at most.
    pub(super) max: usize,
    pub(super) characters: Characters,
    /// CHAR and NCHAR, which are filled up with blanks.
    pub(super) pads: bool,
}

/// Which characters it takes, and how it counts them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Characters {
    /// All of them, in units of UTF-16.
    Wide,
    /// All of them, in bytes of UTF-8.
    Utf8,
    /// Those of a code page, in bytes.
    Page(&'static Encoding),
    /// Those of ASCII: of the code page's others we know nothing.
    Ascii,
}

impl Characters {
    /// Those of a code page, as Windows numbers them.
    pub(super) fn of(page: Option<u32>) -> Self {
        Self::Page(match page {
            Some(65_001) => return Self::Utf8,
            Some(874) => encoding_rs::WINDOWS_874,
            Some(1250) => encoding_rs::WINDOWS_1250,
            Some(1251) => encoding_rs::WINDOWS_1251,
            Some(1252) => encoding_rs::WINDOWS_1252,
            Some(1253) => encoding_rs::WINDOWS_1253,
            Some(1254) => encoding_rs::WINDOWS_1254,
            Some(1255) => encoding_rs::WINDOWS_1255,
            Some(1256) => encoding_rs::WINDOWS_1256,
            Some(1257) => encoding_rs::WINDOWS_1257,
            Some(1258) => encoding_rs::WINDOWS_1258,
            _ => return Self::Ascii,
        })
    }
}

/// Units of a text that the server takes for blanks only.
const BLANK: u8 = b' ';

impl Texts {
    /// Whether the column takes the text; the blanks that it adds.
    pub(super) fn keep<'a>(&self, value: &[u8], wanted: &'a str) -> Result<usize, Misfit<'a>> {
        let is_ascii = value.is_ascii();
        if is_ascii && value.len() <= self.max && !self.pads {
            return Ok(0);
        }
        let length = match self.characters {
            _ if is_ascii => value.len(),
            Characters::Utf8 => value.len(),
            Characters::Wide => {
                // A character of four bytes is two units; the first byte of each counts once more.
                value.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
                    + value.iter().filter(|byte| **byte >= 0xf0).count()
            }
            Characters::Page(encoding) => {
                let text = std::str::from_utf8(value).map_err(|_| (Code::Utf8, wanted))?;
                let mut encoder = encoding.new_encoder();
                let mut bytes = Vec::with_capacity(value.len());
                let (result, _) =
                    encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true);
                if let EncoderResult::Unmappable(_) = result {
                    return Err((Code::Type, "a text of the characters that its collation has"));
                }
                bytes.len()
            }
            Characters::Ascii => {
                return Err((
                    Code::Type,
                    "a text in ASCII, as its collation's code page isn't known",
                ));
            }
        };
        if length > self.max {
            return Err((Code::TooLong, wanted));
        }
        Ok(if self.pads { self.max - length } else { 0 })
    }

    /// Appends the text with the blanks.
    pub(super) fn pad(value: &[u8], blanks: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(value);
        out.resize(out.len() + blanks, BLANK);
    }
}

/// Bytes as the server writes them: `0x` and hexadecimal digits.
pub(super) fn keep_hex(value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'static>> {
    const NO_BYTES: Misfit<'static> = (Code::Type, "bytes (0x and hexadecimal digits)");
    let [b'0', b'x' | b'X', digits @ ..] = value else { return Err(NO_BYTES) };
    if digits.len() % 2 != 0 {
        return Err(NO_BYTES);
    }
    for pair in digits.chunks_exact(2) {
        let (high, low) = hex::digit(pair[0]).zip(hex::digit(pair[1])).ok_or(NO_BYTES)?;
        out.push(high << 4 | low);
    }
    Ok(())
}

/// 32 hexadecimal digits in five groups, in braces or not.
pub(super) fn keep_uuid(value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'static>> {
    const NO_UUID: Misfit<'static> =
        (Code::Type, "a uniqueidentifier (8-4-4-4-12 hexadecimal digits)");
    let inner = match value {
        [b'{', inner @ .., b'}'] => inner,
        value => value,
    };
    if inner.len() != 36 {
        return Err(NO_UUID);
    }
    let mut digits = Vec::with_capacity(32);
    for (at, byte) in inner.iter().enumerate() {
        match at {
            8 | 13 | 18 | 23 if *byte == b'-' => {}
            8 | 13 | 18 | 23 => return Err(NO_UUID),
            _ => digits.push(hex::digit(*byte).ok_or(NO_UUID)?),
        }
    }
    out.extend(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_as_the_column_counts_them() {
        let keep = |max, characters, pads, text: &str| {
            Texts { max, characters, pads }.keep(text.as_bytes(), "x").map_err(|(code, _)| code)
        };
        assert_eq!(keep(2, Characters::Wide, false, "\u{1f600}"), Ok(0));
        assert_eq!(keep(1, Characters::Wide, false, "\u{1f600}"), Err(Code::TooLong));
        assert_eq!(keep(1, Characters::Wide, false, "\u{20ac}"), Ok(0));
        assert_eq!(keep(2, Characters::Utf8, false, "\u{20ac}"), Err(Code::TooLong));
        let page = Characters::of(Some(1252));
        assert_eq!(keep(1, page, false, "\u{20ac}"), Ok(0));
        assert_eq!(keep(9, page, false, "\u{142}"), Err(Code::Type));
        assert_eq!(keep(3, page, true, "\u{e9}"), Ok(2));
        assert_eq!(keep(9, Characters::of(Some(932)), false, "\u{3042}"), Err(Code::Type));
        assert_eq!(keep(9, Characters::of(None), false, "abc"), Ok(0));
    }

    #[test]
    fn bytes_and_uuids() {
        let mut out = Vec::new();
        keep_hex(b"0x00fF", &mut out).unwrap();
        assert_eq!(out, [0, 255]);
        assert!(keep_hex(b"0x0", &mut out).is_err() && keep_hex(b"00", &mut out).is_err());
        out.clear();
        keep_uuid(b"{00112233-4455-6677-8899-aAbBcCdDeEfF}", &mut out).unwrap();
        assert_eq!(out[..4], [0, 0x11, 0x22, 0x33]);
        assert!(keep_uuid(b"00112233445566778899aabbccddeeff", &mut out).is_err());
    }
}
