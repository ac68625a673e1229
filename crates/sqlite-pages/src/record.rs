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
//! width be written as 8 bytes and a short text as 32, of which the surplus is overwritten by the
//! next value.

use crate::varint;

/// The longest record that SQLite reads with its default limits (`SQLITE_MAX_LENGTH`).
pub const RECORD_BYTES_MAX: usize = 1_000_000_000;

/// Bytes of the longest serial type there can be: that of a text of 2^31 bytes.
const TYPE_BYTES_MAX: usize = 5;
/// Bytes of the longest header length: 32,767 columns (`SQLITE_MAX_COLUMN`) of 5 bytes.
const HEADER_LENGTH_BYTES_MAX: usize = 3;
/// Headers up to this size are copied as one block.
const TYPES_BLOCK: usize = 16;
/// Texts up to this size are copied as one block.
const BLOCK: usize = 32;
/// Records up to this size are copied as one block, too.
const BLOCKS_BYTES: usize = 128;
// The serial type of a text of one block is one byte.
const _: () = assert!(2 * BLOCK + 13 < 0x80);

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
    columns: usize,
}

impl RecordWriter {
    /// A writer of records of up to `columns` values.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        let values = TYPES_BLOCK + HEADER_LENGTH_BYTES_MAX + TYPE_BYTES_MAX * columns;
        let slack = BLOCK * columns + BLOCKS_BYTES;
        Self {
            types: vec![0; TYPES_BLOCK + TYPE_BYTES_MAX * columns],
            types_end: TYPES_BLOCK,
            buffer: vec![0; values + slack],
            values,
            end: values,
            slack,
            columns,
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
        self.eight_bytes(left_aligned(value, bytes), bytes);
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
        match whole(value) {
            Some(whole) => self.integer(whole),
            None => self.real(value),
        }
    }

    /// Appends text.
    #[inline]
    pub fn text(&mut self, text: &[u8]) {
        self.bytes(text, 13);
    }

    /// Appends short values, many in one go: what `append` makes of the [`ShortValues`] is returned.
    #[inline(always)]
    pub fn append_short<R>(&mut self, append: impl FnOnce(&mut ShortValues<'_>) -> R) -> R {
        let mut values = ShortValues {
            types: &mut self.types[self.types_end..],
            values: &mut self.buffer[self.end..],
        };
        let result = append(&mut values);
        let (types_left, values_left) = (values.types.len(), values.values.len());
        self.types_end = self.types.len() - types_left;
        self.end = self.buffer.len() - values_left;
        result
    }

    /// Appends a record to `out` that has short values only, one for each of the writer's columns: what `append` makes of the
    /// [`ShortValues`]. Each is written to its place at once, while [`RecordWriter::finish_into`] has to wait for what was written
    /// just before, as it reads that again in other pieces. Where `append` ends before the last column, false: then `out` is as it
    /// was, and the values are the first of the record that the writer has.
    ///
    /// # Panics
    ///
    /// When the record does not fit `room`.
    #[inline(always)]
    pub fn short_into(
        &mut self,
        out: &mut Vec<u8>,
        room: ShortRoom,
        append: impl FnOnce(&mut ShortValues<'_>),
    ) -> bool {
        let start = out.len();
        // A block of constant size is cleared in a few instructions.
        match room.0 {
            0..=128 => out.extend_from_slice(&[0; 128]),
            129..=256 => out.extend_from_slice(&[0; 256]),
            _ => out.extend_from_slice(&[0; ShortRoom::BYTES_MAX]),
        }
        let (header, values) = out[start..].split_at_mut(1 + self.columns);
        header[0] = header.len() as u8;
        let values_max = values.len();
        let mut short = ShortValues { types: &mut header[1..], values };
        append(&mut short);
        let (types_left, values_length) = (short.types.len(), values_max - short.values.len());
        let values_at = start + 1 + self.columns;
        if types_left == 0 {
            out.truncate(values_at + values_length);
        } else {
            let types = &out[start + 1..values_at - types_left];
            self.take_over(types, &out[values_at..values_at + values_length]);
            out.truncate(start);
        }
        types_left == 0
    }

    /// Begins the record with values that were written elsewhere.
    #[inline(never)]
    fn take_over(&mut self, types: &[u8], values: &[u8]) {
        self.clear();
        self.types[self.types_end..][..types.len()].copy_from_slice(types);
        self.types_end += types.len();
        self.buffer[self.end..][..values.len()].copy_from_slice(values);
        self.end += values.len();
    }

    /// Appends the text `bytes[at..at + length]`, a short one as [`ShortValues::text_within`] does.
    ///
    /// # Panics
    ///
    /// When `bytes` ends before the text does.
    #[inline]
    pub fn text_within(&mut self, bytes: &[u8], at: usize, length: usize) {
        if !self.append_short(|values| values.text_within(bytes, at, length)) {
            self.text(&bytes[at..at + length]);
        }
    }

    /// Appends a blob.
    #[inline]
    pub fn blob(&mut self, blob: &[u8]) {
        self.bytes(blob, 12);
    }

    /// Appends the record, complete with its header, to `out`.
    #[inline]
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        let (start, end) = self.finish_within();
        let length = end - start;
        // Copies of constant size again, of which the surplus is taken back.
        let record = &self.buffer[start..];
        if let (Some(blocks), ..=64) = (record.first_chunk::<64>(), length) {
            extend(out, blocks, length);
        } else if let (Some(blocks), ..=BLOCKS_BYTES) = (record.first_chunk(), length) {
            extend::<BLOCKS_BYTES>(out, blocks, length);
        } else {
            out.extend_from_slice(&record[..length]);
        }
    }

    /// The record, complete with its header.
    #[inline]
    pub fn finish(&mut self) -> &[u8] {
        let (start, end) = self.finish_within();
        &self.buffer[start..end]
    }

    /// Completes the record with its header, and tells where in the buffer it is.
    #[inline]
    fn finish_within(&mut self) -> (usize, usize) {
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
        (start, end)
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

/// How many bytes a record of short values takes at most.
#[derive(Clone, Copy, Debug)]
pub struct ShortRoom(usize);

impl ShortRoom {
    /// To clear more than this for each record would take longer than it saves.
    const BYTES_MAX: usize = 512;

    /// For so many values, of which so many are texts; `None` where that would be much.
    #[must_use]
    pub fn new(columns: usize, texts: usize) -> Option<Self> {
        let bytes = 1 + columns + (columns - texts) * size_of::<u64>() + texts * BLOCK;
        (columns < 127 && bytes <= Self::BYTES_MAX).then_some(Self(bytes))
    }
}

/// Appends values that are short enough for the slack to a [`RecordWriter`]'s record.
///
/// It is what is left of the writer's memory, so that a loop over a row's values has all that changes in registers.
#[derive(Debug)]
pub struct ShortValues<'w> {
    types: &'w mut [u8],
    values: &'w mut [u8],
}

impl ShortValues<'_> {
    /// Appends an integer, in as few bytes as it takes.
    ///
    /// # Panics
    ///
    /// This and the methods below: when the record has more values than the writer has columns.
    #[inline(always)]
    pub fn integer(&mut self, value: i64) {
        let (serial_type, bytes) = integer_type(value);
        self.put(serial_type, &left_aligned(value, bytes).to_be_bytes(), bytes);
    }

    /// Appends a double to a column of REAL affinity; see [`RecordWriter::compact_real`].
    #[inline(always)]
    pub fn compact_real(&mut self, value: f64) {
        match whole(value) {
            Some(whole) => self.integer(whole),
            None => self.put(7, &value.to_bits().to_be_bytes(), 8),
        }
    }

    /// Appends the text `bytes[at..at + length]` if it is short. It is copied together with what follows it in `bytes`, and
    /// isn't short where not enough does: a copy of constant size is two instructions, and the surplus is overwritten by the
    /// next value.
    #[inline(always)]
    #[must_use]
    pub fn text_within(&mut self, bytes: &[u8], at: usize, length: usize) -> bool {
        let block = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>);
        let (Some(block), ..=BLOCK) = (block, length) else { return false };
        self.put((2 * length + 13) as u8, block, length);
        true
    }

    /// Appends a value of which the first `length` bytes count.
    #[inline(always)]
    fn put<const N: usize>(&mut self, serial_type: u8, value: &[u8; N], length: usize) {
        *self.types.split_off_first_mut().expect("the writer has a column for it") = serial_type;
        *self.values.first_chunk_mut().expect("there is slack") = *value;
        self.values.split_off_mut(..length).expect("there is slack");
    }
}

/// The integer that SQLite stores for a double in a column of REAL affinity.
#[inline(always)]
fn whole(value: f64) -> Option<i64> {
    // Added to this, a number below 2^51 is rounded to a whole one; a larger one is too large, whole or not.
    const ROUNDER: f64 = (1_u64 << 52) as f64 * 1.5;
    if (value + ROUNDER) - ROUNDER == value { maybe_whole(value) } else { None }
}

/// Appends the first `length` bytes of `bytes`.
#[inline(always)]
fn extend<const N: usize>(out: &mut Vec<u8>, bytes: &[u8; N], length: usize) {
    let end = out.len() + length;
    out.extend_from_slice(bytes);
    out.truncate(end);
}

#[cold]
fn maybe_whole(value: f64) -> Option<i64> {
    // Casts saturate, so that an infinity or a large double becomes no integer of 48 bits.
    let whole = value as i64;
    (whole as f64 == value && (-(1 << 47)..1 << 47).contains(&whole)).then_some(whole)
}

/// The serial type of `value` and the bytes it takes.
#[inline]
pub(crate) fn integer_type(value: i64) -> (u8, usize) {
    /// By the place of the highest bit that differs from the sign.
    const TYPES: [(u8, u8); 64] = {
        let mut types = [(0, 0); 64];
        let mut bit = 0;
        while bit < 64 {
            // One more bit for the sign.
            types[bit] = match (bit + 1) / 8 {
                0 => (1, 1),
                1 => (2, 2),
                2 => (3, 3),
                3 => (4, 4),
                4 | 5 => (5, 6),
                _ => (6, 8),
            };
            bit += 1;
        }
        types
    };
    if value & 1 == value {
        return (8 + value as u8, 0);
    }
    let magnitude = (value ^ (value >> 63)) as u64;
    let (serial_type, bytes) = TYPES[(magnitude | 1).ilog2() as usize];
    (serial_type, usize::from(bytes))
}

/// The serial type of `value`, and its bytes with their number.
#[inline]
pub(crate) fn integer_bytes(value: i64) -> (u8, [u8; 8], usize) {
    let (serial_type, bytes) = integer_type(value);
    (serial_type, left_aligned(value, bytes).to_be_bytes(), bytes)
}

/// The `bytes` least significant bytes of `value` as the most significant ones.
#[inline]
fn left_aligned(value: i64, bytes: usize) -> u64 {
    (value as u64) << ((64 - 8 * bytes) & 63)
}

/// Writes the length of a header that takes more than one byte, before the types. Returns where it
/// starts.
#[cold]
fn long_header(buffer: &mut [u8], types_at: usize, types_length: usize) -> usize {
    let length = header_length(types_length);
    let start = types_at + types_length - length;
    varint::write(&mut buffer[start..types_at], length as u64);
    start
}

/// Bytes of a header with `types_length` bytes of serial types.
#[inline]
pub(crate) fn header_length(types_length: usize) -> usize {
    let bytes = varint::length(types_length as u64);
    // The length counts itself, which can make it a byte longer.
    types_length + varint::length((types_length + bytes) as u64)
}
