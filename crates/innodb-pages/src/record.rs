//! A row's values as one record.
//!
//! On a page a record is what stands before its origin, and what stands behind it:
//!
//! ```text
//!                                      5 bytes           origin
//! +------------------------+-----------+----------------+--------------------+------------+----------+- - -+
//! | lengths, last to first | NULL bits,| info, heap no, | columns of the key | DB_TRX_ID  | ROLL_PTR | ... |
//! | 1 or 2 bytes each      | reversed  | kind, next     | (or DB_ROW_ID, 6)  | 6: 0       | 7: 80 00 |     |
//! +------------------------+-----------+----------------+--------------------+------------+----------+- - -+
//! <------- extra --------------------->                  <------------------ data ------------------------->
//! ```
//!
//! Only columns of variable length that are not NULL have a length: one byte, or two if the column may be longer than 255 bytes
//! and the value is longer than 127 or stored elsewhere: `0x80 | elsewhere << 6 | high`, and below it `low`.
//!
//! The five bytes depend on the page. A record *in transit*, from a thread that encodes to the one that packs, is all
//! the rest:
//!
//! ```text
//! +-------------------+----------------+---------------+------+-------+- - - - - - - - - - - - - - - - - - - - -+
//! | bytes that follow | bytes of extra | bytes of data | data | extra | what is stored elsewhere: where in data |
//! | u32               | u16            | u16           |      |       | its reference is u16, length u32, bytes |
//! +-------------------+----------------+---------------+------+-------+- - - - - - - - - - - - - - - - - - - - -+
//! ```
//!
//! The form of a record in transit is this crate's own, and may change.

use std::fmt;

use crate::layout::{Layout, ROW_ID_BYTES, Storage};
use crate::overflow::{REFERENCE_BYTES, reference};

/// A record with its extra bytes and the five in between is shorter than this, so that a page has two: half of what a page without
/// records has free (`page_get_free_space_of_empty() / 2`).
pub(crate) const RECORD_BYTES_END: usize = 8126;
/// The five bytes in the middle.
pub(crate) const HEADER_BYTES: usize = 5;
/// What InnoDB has behind the key: no transaction, and an insert that can't be rolled back. IMPORT writes its own.
const SYSTEM_COLUMNS: [u8; 13] = [0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0];
/// Bytes in front of a record in transit.
const TRANSIT_BYTES: usize = 8;
/// The longest value that is never stored elsewhere (`BTR_EXTERN_LOCAL_STORED_MAX_SIZE`).
const LOCAL_BYTES_MAX: usize = 40;

/// Why a row has no record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// What has to be on one page takes more than half of one.
    TooLong {
        /// Bytes that it takes.
        bytes: usize,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::TooLong { bytes } = self;
        let most = RECORD_BYTES_END - 1;
        write!(f, "the row takes {bytes} bytes on its page; at most {most} are possible")
    }
}

impl std::error::Error for RecordError {}

/// Makes records in transit of values in InnoDB's own form.
///
/// Each thread has one of its own.
///
/// ```
/// use inrush_innodb_pages::{Column, Encoder, Layout, records};
///
/// // (id INT PRIMARY KEY, name VARCHAR(20) NULL)
/// let layout = Layout::new(vec![Column::fixed(4), Column::variable(80).nullable()], 1).unwrap();
/// let mut encoder = Encoder::new(&layout);
/// let mut wire = Vec::new();
/// let mut row = encoder.row(&mut wire);
/// row.field(b"\x80\0\0\x01");
/// row.field(b"Bob");
/// row.finish().unwrap();
/// encoder.encode(&[Some(b"\x80\0\0\x02"), None], &mut wire).unwrap();
/// assert_eq!(records(&wire).count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Encoder {
    columns: Box<[Plan]>,
    key: usize,
    null_bytes: usize,
    /// Lengths, from the end towards the beginning; then the NULL bits.
    extra: Box<[u8]>,
    /// Where the data of each column ends in the wire; where it began if it is NULL.
    ends: Box<[usize]>,
}

/// What is to be known of a column.
#[derive(Clone, Copy, Debug)]
struct Plan {
    storage: Storage,
    is_big: bool,
    /// Where in `extra` its NULL bit is; bit 0 where there is none.
    null_byte: usize,
    null_bit: u8,
}

impl Encoder {
    /// An encoder of rows of `layout`.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        let columns = layout.columns();
        let null_bytes = layout.null_bytes();
        let extra_bytes = 2 * columns.len() + null_bytes;
        let mut nullable = 0;
        let plan = |column: &crate::layout::Column| {
            let plan = Plan {
                storage: column.storage,
                is_big: column.storage.is_big(),
                null_byte: (extra_bytes - 1).saturating_sub(nullable / 8),
                null_bit: if column.is_nullable { 1 << (nullable % 8) } else { 0 },
            };
            nullable += usize::from(column.is_nullable);
            plan
        };
        Self {
            columns: columns.iter().map(plan).collect(),
            key: layout.key(),
            null_bytes,
            extra: vec![0; extra_bytes].into(),
            ends: vec![0; columns.len()].into(),
        }
    }

    /// Begins the record of a row, which [`Row::finish`] appends to `wire`.
    #[inline]
    pub fn row<'a>(&'a mut self, wire: &'a mut Vec<u8>) -> Row<'a> {
        let begin = wire.len();
        wire.extend_from_slice(&[0; TRANSIT_BYTES]);
        let lengths = self.extra.len() - self.null_bytes;
        self.extra[lengths..].fill(0);
        if self.key == 0 {
            wire.extend_from_slice(&[0; ROW_ID_BYTES]);
            wire.extend_from_slice(&SYSTEM_COLUMNS);
        }
        Row { encoder: self, wire, begin, lengths, column: 0 }
    }

    /// Appends the record of a row to `wire`, one value for each column, in the layout's order.
    ///
    /// # Errors
    /// When it would be too long; `wire` is as before then.
    ///
    /// # Panics
    /// As [`Row`]'s methods.
    #[inline]
    pub fn encode(
        &mut self,
        fields: &[Option<&[u8]>],
        wire: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let mut row = self.row(wire);
        for field in fields {
            match field {
                Some(bytes) => row.field(bytes),
                None => row.null(),
            }
        }
        row.finish()
    }
}

/// A record that is being written; if it goes before it is finished, nothing of it stays.
#[derive(Debug)]
pub struct Row<'a> {
    encoder: &'a mut Encoder,
    wire: &'a mut Vec<u8>,
    /// Where in the wire it begins.
    begin: usize,
    /// Where in the encoder's `extra` the lengths so far begin.
    lengths: usize,
    column: usize,
}

impl Row<'_> {
    /// Appends the next column's value.
    ///
    /// # Panics
    /// When there is no such column, or it can't have a value of this length.
    #[inline]
    pub fn field(&mut self, bytes: &[u8]) {
        let plan = self.encoder.columns[self.column];
        match plan.storage {
            Storage::Fixed(length) => {
                assert!(bytes.len() == usize::from(length), "a value of a fixed length has it");
            }
            Storage::Variable { bytes_max, .. } => {
                assert!(bytes.len() <= bytes_max as usize, "a value fits its column");
                self.lengths -= 1;
                if plan.is_big && bytes.len() > 0x7f {
                    // One that doesn't fit these bits makes the record too long, and goes elsewhere.
                    self.encoder.extra[self.lengths] = 0x80 | (bytes.len() >> 8) as u8 & 0x3f;
                    self.lengths -= 1;
                }
                self.encoder.extra[self.lengths] = bytes.len() as u8;
            }
        }
        self.wire.extend_from_slice(bytes);
        self.end_column();
    }

    /// Leaves the next column NULL.
    ///
    /// # Panics
    /// When there is no such column, or it can't be NULL.
    #[inline]
    pub fn null(&mut self) {
        let plan = self.encoder.columns[self.column];
        assert!(plan.null_bit != 0, "a column that is NULL may be so");
        self.encoder.extra[plan.null_byte] |= plan.null_bit;
        self.end_column();
    }

    #[inline]
    fn end_column(&mut self) {
        self.encoder.ends[self.column] = self.wire.len();
        self.column += 1;
        if self.column == self.encoder.key {
            self.wire.extend_from_slice(&SYSTEM_COLUMNS);
        }
    }

    /// Ends the record, which then stands at the end of the wire.
    ///
    /// # Errors
    /// When what can't be stored elsewhere takes more than about half a page; the wire is as before then.
    ///
    /// # Panics
    /// When there is not a value for each column.
    #[inline]
    pub fn finish(mut self) -> Result<(), RecordError> {
        assert!(self.column == self.encoder.columns.len(), "a row has a value for each column");
        let data_bytes = self.wire.len() - self.begin - TRANSIT_BYTES;
        let extra_bytes = self.encoder.extra.len() - self.lengths;
        if extra_bytes + HEADER_BYTES + data_bytes >= RECORD_BYTES_END {
            self.store_elsewhere()?;
        } else {
            self.wire.extend_from_slice(&self.encoder.extra[self.lengths..]);
            self.end(data_bytes, extra_bytes);
        }
        self.column = 0;
        self.begin = self.wire.len();
        Ok(())
    }

    #[inline]
    fn end(&mut self, data_bytes: usize, extra_bytes: usize) {
        let follow = u32::try_from(self.wire.len() - self.begin - 4).expect("a row is below 4 GiB");
        let head = &mut self.wire[self.begin..self.begin + TRANSIT_BYTES];
        head[..4].copy_from_slice(&follow.to_ne_bytes());
        head[4..6].copy_from_slice(&(extra_bytes as u16).to_ne_bytes());
        head[6..].copy_from_slice(&(data_bytes as u16).to_ne_bytes());
    }

    /// The same for a row that is too long: the longest values go elsewhere until it fits (`dtuple_convert_big_rec`).
    #[cold]
    fn store_elsewhere(&mut self) -> Result<(), RecordError> {
        let data = self.wire.split_off(self.begin + TRANSIT_BYTES);
        let encoder = &mut *self.encoder;
        let base = self.begin + TRANSIT_BYTES;
        let row_id_bytes = if encoder.key == 0 { ROW_ID_BYTES } else { 0 };
        let mut fields: Vec<LongField<'_>> = Vec::with_capacity(encoder.columns.len());
        let mut at = row_id_bytes;
        for (i, plan) in encoder.columns.iter().enumerate() {
            if i == encoder.key {
                at += SYSTEM_COLUMNS.len();
            }
            let end = encoder.ends[i] - base;
            let is_null = encoder.extra[plan.null_byte] & plan.null_bit != 0;
            let value = (!is_null).then(|| &data[at..end]);
            let may_go = i >= encoder.key && plan.is_big;
            fields.push(LongField { plan: *plan, value, may_go, is_elsewhere: false });
            at = end;
        }
        let system_bytes = row_id_bytes + SYSTEM_COLUMNS.len();
        loop {
            let bytes = encoder.null_bytes
                + HEADER_BYTES
                + system_bytes
                + fields.iter().map(LongField::local_bytes).sum::<usize>();
            if bytes < RECORD_BYTES_END {
                break;
            }
            // The first of the longest.
            let longest = fields
                .iter_mut()
                .filter(|field| {
                    field.may_go && !field.is_elsewhere && field.bytes() > LOCAL_BYTES_MAX
                })
                .reduce(
                    |longest, field| if field.bytes() > longest.bytes() { field } else { longest },
                );
            match longest {
                Some(field) => field.is_elsewhere = true,
                None => return Err(RecordError::TooLong { bytes }),
            }
        }
        let nulls = encoder.extra[encoder.extra.len() - encoder.null_bytes..].to_vec();
        let mut lengths = Vec::new();
        let mut elsewhere: Vec<(u16, &[u8])> = Vec::new();
        self.wire.extend_from_slice(&data[..row_id_bytes]);
        for (i, field) in fields.iter().enumerate() {
            if i == encoder.key {
                self.wire.extend_from_slice(&SYSTEM_COLUMNS);
            }
            let Some(value) = field.value else { continue };
            if field.is_elsewhere {
                let at = self.wire.len() - self.begin - TRANSIT_BYTES;
                elsewhere.push((at as u16, value));
                lengths.extend_from_slice(&[0xc0, REFERENCE_BYTES as u8]);
                self.wire.extend_from_slice(&reference(value.len()));
            } else {
                if !field.plan.storage.is_fixed() {
                    if field.plan.is_big && value.len() > 0x7f {
                        lengths.push(0x80 | (value.len() >> 8) as u8);
                    }
                    lengths.push(value.len() as u8);
                }
                self.wire.extend_from_slice(value);
            }
        }
        if encoder.key == fields.len() {
            self.wire.extend_from_slice(&SYSTEM_COLUMNS);
        }
        let data_bytes = self.wire.len() - self.begin - TRANSIT_BYTES;
        self.wire.extend(lengths.iter().rev());
        self.wire.extend_from_slice(&nulls);
        for (at, value) in elsewhere {
            self.wire.extend_from_slice(&at.to_ne_bytes());
            self.wire.extend_from_slice(&(value.len() as u32).to_ne_bytes());
            self.wire.extend_from_slice(value);
        }
        self.end(data_bytes, lengths.len() + nulls.len());
        Ok(())
    }
}

impl Drop for Row<'_> {
    fn drop(&mut self) {
        self.wire.truncate(self.begin);
    }
}

/// A value of a row that is too long.
struct LongField<'a> {
    plan: Plan,
    value: Option<&'a [u8]>,
    may_go: bool,
    is_elsewhere: bool,
}

impl LongField<'_> {
    fn bytes(&self) -> usize {
        self.value.map_or(0, <[u8]>::len)
    }

    /// Bytes that it takes on the page, its length included.
    fn local_bytes(&self) -> usize {
        match self.value {
            None => 0,
            Some(_) if self.is_elsewhere => 2 + REFERENCE_BYTES,
            Some(value) if self.plan.storage.is_fixed() => value.len(),
            Some(value) => value.len() + 1 + usize::from(self.plan.is_big && value.len() > 0x7f),
        }
    }
}

/// The records in transit that an [`Encoder`] has appended to a wire, one by one.
///
/// # Panics
/// The iterator does, when `wire` is something else.
pub fn records(wire: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = wire;
    std::iter::from_fn(move || {
        let length = rest.first_chunk().map(|length| u32::from_ne_bytes(*length) as usize)?;
        let (record, behind) = rest.split_at(4 + length);
        rest = behind;
        Some(record)
    })
}

/// A record in transit, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) extra: &'a [u8],
    pub(crate) elsewhere: &'a [u8],
}

impl<'a> Record<'a> {
    #[inline]
    pub(crate) fn parse(record: &'a [u8]) -> Self {
        let (head, rest) = record.split_at(TRANSIT_BYTES);
        let extra_bytes = u16::from_ne_bytes([head[4], head[5]]) as usize;
        let data_bytes = u16::from_ne_bytes([head[6], head[7]]) as usize;
        let (data, rest) = rest.split_at(data_bytes);
        let (extra, elsewhere) = rest.split_at(extra_bytes);
        Self { data, extra, elsewhere }
    }

    /// What is stored elsewhere, and where in the data its references are.
    pub(crate) fn elsewhere(&self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let mut rest = self.elsewhere;
        std::iter::from_fn(move || {
            let (head, behind) = rest.split_at_checked(6)?;
            let at = u16::from_ne_bytes([head[0], head[1]]) as usize;
            let length = u32::from_ne_bytes([head[2], head[3], head[4], head[5]]) as usize;
            let value;
            (value, rest) = behind.split_at(length);
            Some((at, value))
        })
    }
}

/// Bytes of a value that is on its page and not NULL. `lengths` is where in `extra` the lengths of those before it begin, and becomes
/// where its own does.
#[inline]
pub(crate) fn field_length(storage: Storage, extra: &[u8], lengths: &mut usize) -> usize {
    if let Storage::Fixed(bytes) = storage {
        return bytes.into();
    }
    *lengths -= 1;
    let first = extra[*lengths] as usize;
    if !storage.is_big() || first < 0x80 {
        return first;
    }
    *lengths -= 1;
    (first & 0x3f) << 8 | extra[*lengths] as usize
}
