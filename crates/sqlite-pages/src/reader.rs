//! The values of a record, without copying them.
//!
//! Two positions move through the record side by side, one over the serial types and one over the
//! values:
//!
//! ```text
//! | header length | type 0 | type 1 | ... | value 0 | value 1 | ...
//!                            ^ types                  ^ values
//! ```
//!
//! Any bytes can be read. Where they are no record, because a length leads past the end or a serial
//! type doesn't exist, the fields end.

use crate::record::Value;
use crate::varint;

/// Bytes that the value of a serial type below 12 takes. 10 and 11 stand in no file.
const VALUE_BYTES: [u8; 12] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0];

/// A value as it stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// What the bytes mean; neither 10 nor 11.
    pub serial_type: u64,
    /// As many as the serial type says.
    pub bytes: &'a [u8],
}

impl<'a> Field<'a> {
    /// The value. A double that is not a number is NULL, as SQLite reads it.
    #[inline]
    #[must_use]
    pub fn value(self) -> Value<'a> {
        match self.serial_type {
            7 => match self.real() {
                real if real.is_nan() => Value::Null,
                real => Value::Real(real),
            },
            1..=9 => Value::Integer(self.integer()),
            12.. if self.serial_type.is_multiple_of(2) => Value::Blob(self.bytes),
            12.. => Value::Text(self.bytes),
            _ => Value::Null,
        }
    }

    /// The value of a field whose serial type is an integer's.
    #[inline]
    pub(crate) fn integer(self) -> i64 {
        match *self.bytes {
            [] => i64::from(self.serial_type == 9),
            [a] => i64::from(a as i8),
            [a, b] => i64::from(i16::from_be_bytes([a, b])),
            [a, b, c] => i64::from(i32::from_be_bytes([a, b, c, 0]) >> 8),
            [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])),
            [a, b, c, d, e, f] => i64::from_be_bytes([a, b, c, d, e, f, 0, 0]) >> 16,
            _ => self.eight_bytes() as i64,
        }
    }

    /// The value of a field whose serial type is a double's.
    #[inline]
    pub(crate) fn real(self) -> f64 {
        f64::from_bits(self.eight_bytes())
    }

    #[inline]
    fn eight_bytes(self) -> u64 {
        self.bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }
}

/// Goes through the fields of a record.
///
/// ```
/// use inrush_sqlite_pages::{RecordReader, Value};
///
/// let record = b"\x04\x00\x03\x1b\x02\x9e\xfcrubensd";
/// let values: Vec<Value> = RecordReader::new(record).map(|field| field.value()).collect();
/// assert_eq!(values, [Value::Null, Value::Integer(171_772), Value::Text(b"rubensd")]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RecordReader<'a> {
    types: &'a [u8],
    values: &'a [u8],
}

impl<'a> RecordReader<'a> {
    /// A reader at the record's first field.
    #[inline]
    #[must_use]
    pub fn new(record: &'a [u8]) -> Self {
        let parts = read_varint(record).and_then(|(header, length)| {
            let (header, values) = record.split_at_checked(usize::try_from(header).ok()?)?;
            Some(Self { types: header.get(length..)?, values })
        });
        parts.unwrap_or(Self { types: &[], values: &[] })
    }

    /// How many bytes of the record are behind the last value.
    #[inline]
    pub(crate) fn rest(&self) -> usize {
        self.values.len()
    }

    /// Forgets the rest, which is no record.
    #[cold]
    fn end(&mut self) -> Option<Field<'a>> {
        self.types = &[];
        None
    }
}

impl<'a> Iterator for RecordReader<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        if self.types.is_empty() {
            return None;
        }
        let Some((serial_type, length)) = read_varint(self.types) else { return self.end() };
        let Some(bytes) = value_bytes(serial_type) else { return self.end() };
        let Some((bytes, values)) = self.values.split_at_checked(bytes) else { return self.end() };
        self.types = &self.types[length..];
        self.values = values;
        Some(Field { serial_type, bytes })
    }
}

/// How many bytes the value of a serial type takes; `None` if there is no such type.
#[inline]
fn value_bytes(serial_type: u64) -> Option<usize> {
    match serial_type {
        10 | 11 => None,
        0..12 => Some(usize::from(VALUE_BYTES[serial_type as usize])),
        _ => usize::try_from((serial_type - 12) / 2).ok(),
    }
}

/// [`varint::read`]; almost all have one byte.
#[inline]
fn read_varint(bytes: &[u8]) -> Option<(u64, usize)> {
    match bytes.first() {
        Some(&byte) if byte < 0x80 => Some((u64::from(byte), 1)),
        _ => varint::read(bytes),
    }
}
