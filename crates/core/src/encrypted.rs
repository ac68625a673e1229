//! Whether a Parquet file is encrypted, as a whole or some of its columns
//! (<https://parquet.apache.org/docs/file-format/data-pages/encryption/>).
//!
//! A file whose footer is encrypted ends with another magic. Where only columns are, the footer names the way in which they are: the
//! library reads past it, and whoever reads finds damage, whoever adds rows loses what they were encrypted with. A footer is a struct of
//! Thrift's compact protocol (<https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>).

use crate::signature;

/// The magic, and the length of the footer before it.
const TAIL_BYTES: u64 = 8;

/// The field of a footer that has the way in which columns are encrypted.
const ALGORITHM: i64 = 8;

/// Structs and lists within each other, more than a footer has.
const DEPTH_MAX: usize = 16;

/// Whether a file of `len` bytes, or a part of it, is encrypted; `read` reads so many bytes from a place on.
///
/// # Errors
/// When its end can't be read.
pub fn is_encrypted<B: AsRef<[u8]>, E>(
    len: u64,
    read: impl Fn(u64, usize) -> Result<B, E>,
) -> Result<bool, E> {
    let Some(end) = len.checked_sub(TAIL_BYTES) else { return Ok(false) };
    let tail = read(end, TAIL_BYTES as usize)?;
    let (length, magic) = tail.as_ref().split_at(4);
    if magic == b"PARE" {
        return Ok(true);
    }
    let length = u32::from_le_bytes(std::array::from_fn(|at| length[at]));
    match end.checked_sub(length.into()) {
        Some(start) if magic == signature::PARQUET => {
            let footer = read(start, length as usize)?;
            Ok(Thrift(footer.as_ref()).has_field(ALGORITHM))
        }
        _ => Ok(false),
    }
}

/// What is left to read of a struct.
struct Thrift<'a>(&'a [u8]);

impl Thrift<'_> {
    /// Whether the struct has a field of this number; one that is damaged has none.
    fn has_field(mut self, wanted: i64) -> bool {
        let mut number = 0;
        while let Some((next, ty)) = self.field(number) {
            if next == wanted {
                return true;
            }
            number = next;
            if self.skip(ty, DEPTH_MAX).is_none() {
                break;
            }
        }
        false
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self, count: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The number and the type of the next field; `None` at the struct's end.
    fn field(&mut self, before: i64) -> Option<(i64, u8)> {
        let head = self.byte()?;
        let (delta, ty) = (head >> 4, head & 0x0f);
        let number = match delta {
            _ if ty == 0 => return None,
            // In zigzag.
            0 => {
                let number = self.number()?.cast_signed();
                (number >> 1) ^ -(number & 1)
            }
            delta => before.checked_add(delta.into())?,
        };
        Some((number, ty))
    }

    /// Passes over a value of a field.
    fn skip(&mut self, ty: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match ty {
            // Booleans, which are their types.
            1 | 2 => Some(()),
            3 => self.bytes(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.bytes(8),
            8 => {
                let length = self.number()?;
                self.bytes(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.number()?,
                    count => count.into(),
                };
                (0..count).try_for_each(|_| self.skip_item(head & 0x0f, depth))
            }
            11 => {
                let count = self.number()?;
                let types = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.skip_item(types >> 4, depth)?;
                    self.skip_item(types & 0x0f, depth)
                })
            }
            12 => {
                let mut number = 0;
                // An end of the data is none of the struct: a list of any number of them would take no bytes.
                while *self.0.first()? != 0 {
                    let (next, ty) = self.field(number)?;
                    number = next;
                    self.skip(ty, depth)?;
                }
                self.bytes(1)
            }
            _ => None,
        }
    }

    /// Passes over one of a list's, where booleans have a byte.
    fn skip_item(&mut self, ty: u8, depth: usize) -> Option<()> {
        match ty {
            1 | 2 => self.bytes(1),
            ty => self.skip(ty, depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_encryption_is_found_behind_whatever_comes_before_it() {
        let is_found = |footer: &[u8]| Thrift(footer).has_field(ALGORITHM);
        // A version, a list of two structs (one with a binary, one empty), a count, and a struct with a map and a boolean.
        let before = [
            &[0x15, 0x04, 0x19, 0x2c, 0x48, 0x02, b'i', b'd', 0x00, 0x00, 0x16, 0xc8, 0x01][..],
            &[0x1c, 0x1b, 0x01, 0x85, 0x01, b'k', 0x02, 0x11, 0x00],
        ]
        .concat();
        let with = |last: &[u8]| is_found(&[&before, last].concat());
        assert!(with(&[0x4c, 0x00, 0x00]));
        // With its whole number, 8 in zigzag.
        assert!(with(&[0x0c, 0x10, 0x00, 0x00]));
        assert!(!with(&[0x3c, 0x00, 0x00]));
        assert!(!with(&[0x00]));
        // What is cut off, or endlessly deep, or longer than it is.
        let structs = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        for damaged in
            [&before[..9], &[0x1c; 4_000], &[0x18, 0xff, 0xff, 0xff, 0xff, 0x0f], &structs]
        {
            assert!(!is_found(damaged));
        }
    }
}
