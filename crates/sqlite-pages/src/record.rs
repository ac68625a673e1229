//! A row's values as one record (section 2.1).
//!
//! The header stands before the values and its length depends on them, so [`RecordWriter`] keeps
//! serial types and values apart and puts the header before the values when the record is complete:
//!
//! ```text
//! types   | type 0 | type 1 | ... | type n-1 |
//!                                      | copied at the end, a few bytes
//!                                      v
//! buffer  |   room for the longest header  | value 0 | value 1 | ... | value n-1 | slack |
//!                      ^ the record starts here                                  ^ end
//! ```
//!
//! Values are copied once and the record is a slice of the buffer. The slack lets an integer of any
//! width be written as 8 bytes, of which the surplus is overwritten by the next value.

use crate::varint;

/// The longest record that SQLite reads with its default limits (`SQLITE_MAX_LENGTH`).
pub const RECORD_BYTES_MAX: usize = 1_000_000_000;

/// Bytes of the longest serial type there can be: that of a text of 2^31 bytes.
const TYPE_BYTES_MAX: usize = 5;
/// Bytes of the longest header length: 32,767 columns (`SQLITE_MAX_COLUMN`) of 5 bytes.
const HEADER_LENGTH_BYTES_MAX: usize = 3;
/// Headers up to this size are copied as one block.
const TYPES_BLOCK: usize = 16;

/// A value as it is to be stored: the column's affinity has been applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// NULL; also what stands in place of a column that is an alias of the rowid.
    Null,
    /// An integer.
    Integer(i64),
    /// A double, not NaN. Stored as a double even when it is a whole number; see
    /// [`RecordWriter::compact_real`] for columns of REAL affinity.
    Real(f64),
    /// Text, UTF-8 in a database whose encoding is UTF-8.
    Text(&'a [u8]),
    /// A blob.
    Blob(&'a [u8]),
}

/// Writes records, one after the other, into memory that it reuses.
///
/// Values are appended one by one; [`RecordWriter::finish`] returns the record, and what is
/// appended next belongs to the next one.
///
/// ```
/// use inrush_sqlite_pages::RecordWriter;
///
/// let mut record = RecordWriter::new(3);
/// record.null();
/// record.integer(171_772);
/// record.text(b"rubensd");
/// assert_eq!(record.finish(), b"\x04\x00\x03\x1b\x02\x9e\xfcrubensd");
/// ```
#[derive(Clone, Debug)]
pub struct RecordWriter {
    /// Serial types from `TYPES_BLOCK` on.
    types: Vec<u8>,
    types_end: usize,
    /// Values from `values` on; the room before is for the header.
    buffer: Vec<u8>,
    values: usize,
    end: usize,
    slack: usize,
}

impl RecordWriter {
    /// A writer of records of up to `columns` values.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        let values = TYPES_BLOCK + HEADER_LENGTH_BYTES_MAX + TYPE_BYTES_MAX * columns;
        let slack = 8 * (columns + 1);
        Self {
            types: vec![0; TYPES_BLOCK + TYPE_BYTES_MAX * columns],
            types_end: TYPES_BLOCK,
            buffer: vec![0; values + slack],
            values,
            end: values,
            slack,
        }
    }

    /// Forgets the values of the record that is being written.
    #[inline]
    pub fn clear(&mut self) {
        self.types_end = TYPES_BLOCK;
        self.end = self.values;
    }

    /// Appends any value.
    ///
    /// # Panics
    ///
    /// This and the methods below: when the record has more values than the writer has columns.
    #[inline]
    pub fn push(&mut self, value: Value<'_>) {
        match value {
            Value::Null => self.null(),
            Value::Integer(value) => self.integer(value),
            Value::Real(value) => self.real(value),
            Value::Text(text) => self.text(text),
            Value::Blob(blob) => self.blob(blob),
        }
    }

    /// Appends NULL.
    #[inline]
    pub fn null(&mut self) {
        self.short_type(0);
    }

    /// Appends an integer, in as few bytes as it takes.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        let (serial_type, bytes) = integer_type(value);
        self.short_type(serial_type);
        self.eight_bytes((value as u64) << ((64 - 8 * bytes) & 63), bytes);
    }

    /// Appends a double that is not NaN (SQLite has none; it stores NULL).
    #[inline]
    pub fn real(&mut self, value: f64) {
        debug_assert!(!value.is_nan(), "NaN is stored as NULL");
        self.short_type(7);
        self.eight_bytes(value.to_bits(), 8);
    }

    /// Appends a double to a column of REAL affinity, as SQLite does: a whole number that fits 48
    /// bits is written as an integer, and reads back as a double because of the affinity. The sign
    /// of -0.0 is lost, in SQLite too.
    #[inline]
    pub fn compact_real(&mut self, value: f64) {
        // Casts saturate, so that an infinity or a large double becomes no integer of 48 bits.
        let whole = value as i64;
        if whole as f64 == value && (-(1 << 47)..1 << 47).contains(&whole) {
            self.integer(whole);
        } else {
            self.real(value);
        }
    }

    /// Appends text.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        self.bytes(text, 13);
    }

    /// Appends a blob.
    #[inline]
    pub fn blob(&mut self, blob: &[u8]) {
        self.bytes(blob, 12);
    }

    /// The record, complete with its header.
    #[inline]
    pub fn finish(&mut self) -> &[u8] {
        let types_length = self.types_end - TYPES_BLOCK;
        let types_at = self.values - types_length;
        if types_length <= TYPES_BLOCK {
            // A copy of constant size is two instructions; what is before the types doesn't matter.
            let types = &self.types[self.types_end - TYPES_BLOCK..self.types_end];
            self.buffer[self.values - TYPES_BLOCK..self.values].copy_from_slice(types);
        } else {
            let types = &self.types[TYPES_BLOCK..self.types_end];
            self.buffer[types_at..self.values].copy_from_slice(types);
        }
        let start = if types_length < 127 {
            self.buffer[types_at - 1] = types_length as u8 + 1;
            types_at - 1
        } else {
            long_header(&mut self.buffer, types_at, types_length)
        };
        let end = self.end;
        self.clear();
        &self.buffer[start..end]
    }

    #[inline]
    fn short_type(&mut self, serial_type: u8) {
        self.types[self.types_end] = serial_type;
        self.types_end += 1;
    }

    /// Appends the `length` most significant bytes of `value`.
    #[inline]
    fn eight_bytes(&mut self, value: u64, length: usize) {
        self.buffer[self.end..self.end + 8].copy_from_slice(&value.to_be_bytes());
        self.end += length;
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8], base: u64) {
        let serial_type = 2 * bytes.len() as u64 + base;
        if serial_type < 0x80 {
            self.short_type(serial_type as u8);
        } else {
            let types = &mut self.types[self.types_end..];
            self.types_end += varint::write(types, serial_type);
        }
        let (start, end) = (self.end, self.end + bytes.len());
        if end + self.slack > self.buffer.len() {
            self.grow(end + self.slack);
        }
        self.buffer[start..end].copy_from_slice(bytes);
        self.end = end;
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        self.buffer.resize(length.next_power_of_two(), 0);
    }
}

/// The serial type of `value` and the bytes it takes.
#[inline]
fn integer_type(value: i64) -> (u8, usize) {
    /// By the number of bytes that hold the value and its sign.
    const TYPES: [(u8, usize); 9] =
        [(8, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (5, 6), (6, 8), (6, 8)];
    if value & 1 == value {
        return (8 + value as u8, 0);
    }
    let magnitude = (value ^ (value >> 63)) as u64;
    let bits = 65 - magnitude.leading_zeros() as usize;
    TYPES[bits.div_ceil(8)]
}

/// Writes the length of a header that takes more than one byte, before the types. Returns where it
/// starts.
#[cold]
fn long_header(buffer: &mut [u8], types_at: usize, types_length: usize) -> usize {
    let mut bytes = varint::length(types_length as u64);
    // The length counts itself, which can make it a byte longer.
    bytes = varint::length((types_length + bytes) as u64);
    let start = types_at - bytes;
    varint::write(&mut buffer[start..types_at], (types_length + bytes) as u64);
    start
}
