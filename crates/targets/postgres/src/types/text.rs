//! Characters, labels, bytes, identifiers.

use inrush_core::flow::Code;
use inrush_core::value::hex;

use super::store::{Misfit, VALUE_LEN_MAX};
use inrush_core::wording::counted;

/// What a column of text takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts {
    /// Characters at most, or bytes.
    max: usize,
    counts_characters: bool,
    /// CHAR, which is filled up with blanks.
    pads: bool,
    /// Texts shorter than this need no look at all.
    any_len_end: usize,
}

impl Texts {
    pub(super) const ANY: Self = Self::new(VALUE_LEN_MAX, false, false);
    /// What the server keeps of a name: <https://www.postgresql.org/docs/current/datatype-character.html>.
    pub(super) const NAME: Self = Self::new(63, false, false);

    const fn new(max: usize, counts_characters: bool, pads: bool) -> Self {
        let any_len_end = if pads { 0 } else { max + 1 };
        Self { max, counts_characters, pads, any_len_end }
    }

    /// VARCHAR.
    pub(super) fn characters(max: usize) -> Self {
        Self::new(max, true, false)
    }

    /// CHAR.
    pub(super) fn padded(max: usize) -> Self {
        Self::new(max, true, true)
    }

    /// Characters or bytes at most, in words; `None` where only memory ends.
    pub(super) fn limit(&self) -> Option<String> {
        let unit = if self.counts_characters { "character" } else { "byte" };
        (self.max < VALUE_LEN_MAX)
            .then(|| format!("a text of at most {}", counted(self.max as u64, unit)))
    }

    /// Encodes a text that fits for sure. `false` says nothing; ask [`Texts::encode`].
    #[inline(always)]
    pub(super) fn encode_plain(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let fits = value.len() < self.any_len_end;
        if fits {
            out.extend_from_slice(value);
        }
        fits
    }

    pub(super) fn encode<'a>(
        &self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        // A character takes at least a byte, and bytes that don't continue one start one.
        let len = if self.counts_characters && (self.pads || value.len() > self.max) {
            value.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
        } else {
            value.len()
        };
        if len > self.max {
            return Err((Code::TooLong, wanted));
        }
        out.extend_from_slice(value);
        if self.pads {
            out.extend(std::iter::repeat_n(b' ', self.max - len));
        }
        Ok(())
    }
}

/// An enum's labels, sorted.
#[derive(Clone, Debug)]
pub(super) struct Labels(Box<[Box<[u8]>]>);

impl Labels {
    pub(super) fn new(mut labels: Vec<Box<[u8]>>) -> Self {
        labels.sort_unstable();
        Self(labels.into())
    }

    /// A short list of them, in words.
    pub(super) fn shown(labels: &[Box<[u8]>]) -> String {
        const SHOWN_MAX: usize = 8;
        let texts = labels.iter().take(SHOWN_MAX).map(|label| inrush_core::error::shorten(label));
        let mut shown = texts.collect::<Vec<_>>().join(", ");
        if labels.len() > SHOWN_MAX {
            shown.push_str(", ...");
        }
        shown
    }

    pub(super) fn encode<'a>(
        &self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        self.0.binary_search_by(|label| (**label).cmp(value)).map_err(|_| (Code::Type, wanted))?;
        out.extend_from_slice(value);
        Ok(())
    }
}

/// Bytes as the server has them in text: `\x` and hexadecimal digits, or characters, of which a backslash is doubled or stands before
/// the three octal digits of a byte. <https://www.postgresql.org/docs/current/datatype-binary.html>
pub(super) fn encode_bytes(value: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit<'static>> {
    const NO_BYTES: Misfit<'static> = (Code::Type, "bytes (\\x and hexadecimal digits, or \\ooo)");
    if let [b'\\', b'x', digits @ ..] = value {
        // Blanks may stand between bytes.
        let mut rest = digits;
        loop {
            match rest {
                [] => return Ok(()),
                [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] => rest = tail,
                [high, low, tail @ ..] => {
                    let (high, low) = hex::digit(*high).zip(hex::digit(*low)).ok_or(NO_BYTES)?;
                    out.push(high << 4 | low);
                    rest = tail;
                }
                [_] => return Err(NO_BYTES),
            }
        }
    }
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = match &rest[at..] {
            [_, b'\\', tail @ ..] => {
                out.push(b'\\');
                tail
            }
            [_, a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                tail
            }
            _ => return Err(NO_BYTES),
        };
    }
    out.extend_from_slice(rest);
    Ok(())
}
