//! What the rows of a table look like, and the order of their keys.

use std::cmp::Ordering;
use std::fmt;

use crate::record::{Record, field_length};

/// Columns of a table at most (`REC_MAX_N_USER_FIELDS`).
pub const COLUMNS_MAX: usize = 1017;
/// Columns of a key at most (`MAX_REF_PARTS`).
pub const KEY_COLUMNS_MAX: usize = 16;
/// Bytes of a key at most, with pages of 16 KiB.
pub const KEY_BYTES_MAX: usize = 3072;
/// The longest column that is stored as one of fixed length (`DICT_MAX_FIXED_COL_LEN`).
pub const FIXED_BYTES_MAX: u16 = 768;

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Numbers, dates, `BINARY`, and `CHAR` of a character set whose characters all have the same length: always so many bytes,
    /// 1 to [`FIXED_BYTES_MAX`].
    Fixed(u16),
    /// The rest: `VARCHAR`, `VARBINARY`, `CHAR` of other character sets, the types that are longer or have no bytes at all.
    Variable {
        /// Bytes at most, by the column's type: characters times the bytes of the longest one.
        bytes_max: u32,
        /// Whether it is of the family of `BLOB`: `TINYBLOB` to `LONGBLOB`, `TINYTEXT` to `LONGTEXT`, `JSON`.
        is_blob: bool,
    },
}

impl Storage {
    /// Whether a length may take two bytes, one bit of which says that the value is stored elsewhere (`DATA_BIG_COL`).
    pub(crate) fn is_big(self) -> bool {
        matches!(self, Self::Variable { bytes_max, is_blob } if is_blob || bytes_max > 255)
    }

    pub(crate) fn is_fixed(self) -> bool {
        matches!(self, Self::Fixed(_))
    }
}

/// How the values of a column of a key are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Byte by byte, a value behind what it begins with: numbers and dates in their stored form, binary strings, collations
    /// that compare so and don't pad.
    Bytes,
    /// Byte by byte, the shorter one as if spaces followed: `ascii_bin`, `latin1_bin` and others that pad.
    Padded,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// How it is stored.
    pub storage: Storage,
    /// Whether it may be NULL. No column of a key may.
    pub is_nullable: bool,
    /// How it is compared; means something in a key only.
    pub order: Order,
}

impl Column {
    /// A column of so many bytes, not NULL.
    #[must_use]
    pub fn fixed(bytes: u16) -> Self {
        Self { storage: Storage::Fixed(bytes), is_nullable: false, order: Order::Bytes }
    }

    /// A column of at most so many bytes, not NULL.
    #[must_use]
    pub fn variable(bytes_max: u32) -> Self {
        let storage = Storage::Variable { bytes_max, is_blob: false };
        Self { storage, is_nullable: false, order: Order::Bytes }
    }

    /// A column of the family of `BLOB`, of at most so many bytes (255, 2^16 - 1, 2^24 - 1, 2^32 - 1), not NULL.
    #[must_use]
    pub fn blob(bytes_max: u32) -> Self {
        let storage = Storage::Variable { bytes_max, is_blob: true };
        Self { storage, is_nullable: false, order: Order::Bytes }
    }

    /// The same, which may be NULL.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// The same, compared as if spaces followed.
    #[must_use]
    pub fn padded(self) -> Self {
        Self { order: Order::Padded, ..self }
    }
}

/// Why there can't be such a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// No column, or more than [`COLUMNS_MAX`].
    Columns(usize),
    /// More columns in the key than there are, or than [`KEY_COLUMNS_MAX`].
    KeyColumns(usize),
    /// The key takes more than [`KEY_BYTES_MAX`] bytes.
    KeyBytes(u64),
    /// This column of the key, from 0, may be NULL.
    NullableKey(usize),
    /// This column of the key, from 0, is of the family of `BLOB`, of which a key has only the beginning.
    BlobKey(usize),
    /// This column, from 0, has no fixed length that can be stored so.
    FixedBytes(usize),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns(count) => {
                write!(f, "the table has {count} columns; it can have 1 to {COLUMNS_MAX}")
            }
            Self::KeyColumns(count) => write!(
                f,
                "the key has {count} columns; it can have {KEY_COLUMNS_MAX}, and no more than the table"
            ),
            Self::KeyBytes(bytes) => {
                write!(f, "the key can take {bytes} bytes; {KEY_BYTES_MAX} are allowed")
            }
            Self::NullableKey(i) => write!(f, "column {} of the key may be NULL", i + 1),
            Self::BlobKey(i) => write!(f, "column {} of the key is a BLOB or TEXT", i + 1),
            Self::FixedBytes(i) => write!(
                f,
                "column {} has a fixed length other than 1 to {FIXED_BYTES_MAX} bytes",
                i + 1
            ),
        }
    }
}

impl std::error::Error for LayoutError {}

/// The columns of a table in the order of its clustered index: those of the key, then the others.
///
/// The two that InnoDB adds, `DB_TRX_ID` and `DB_ROLL_PTR`, are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    columns: Box<[Column]>,
    key: usize,
    nullable: usize,
    /// Bytes of the key, if all its columns are fixed, and compared byte by byte.
    plain_key: Option<usize>,
}

impl Layout {
    /// A table of `columns`, of which the first `key` are its primary key, each of them as a whole. With `key` 0 the table has
    /// none, and its rows get numbers.
    ///
    /// # Errors
    /// When InnoDB has no such table.
    pub fn new(columns: Vec<Column>, key: usize) -> Result<Self, LayoutError> {
        if !(1..=COLUMNS_MAX).contains(&columns.len()) {
            return Err(LayoutError::Columns(columns.len()));
        }
        if key > columns.len().min(KEY_COLUMNS_MAX) {
            return Err(LayoutError::KeyColumns(key));
        }
        let is_wrong = |column: &Column| matches!(column.storage, Storage::Fixed(bytes) if !(1..=FIXED_BYTES_MAX).contains(&bytes));
        if let Some(wrong) = columns.iter().position(is_wrong) {
            return Err(LayoutError::FixedBytes(wrong));
        }
        let mut key_bytes = 0;
        for (i, column) in columns[..key].iter().enumerate() {
            match column.storage {
                _ if column.is_nullable => return Err(LayoutError::NullableKey(i)),
                Storage::Variable { is_blob: true, .. } => return Err(LayoutError::BlobKey(i)),
                Storage::Variable { bytes_max, .. } => key_bytes += u64::from(bytes_max),
                Storage::Fixed(bytes) => key_bytes += u64::from(bytes),
            }
        }
        if key_bytes > KEY_BYTES_MAX as u64 {
            return Err(LayoutError::KeyBytes(key_bytes));
        }
        let plain = |column: &Column| column.storage.is_fixed() && column.order == Order::Bytes;
        let plain_key = columns[..key].iter().all(plain).then_some(key_bytes as usize);
        let nullable = columns.iter().filter(|column| column.is_nullable).count();
        Ok(Self { columns: columns.into(), key, nullable, plain_key })
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// How many of them are the key; 0 if there is none.
    #[must_use]
    pub fn key(&self) -> usize {
        self.key
    }

    /// The order of two records in transit by their keys; equal if there is no key.
    ///
    /// # Panics
    /// When they are no records, or others' than this layout's.
    #[inline]
    #[must_use]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let (a, b) = (Record::parse(a), Record::parse(b));
        self.compare_keys(a.extra, a.data, b.extra, b.data)
    }

    /// A number that is not greater than another record's if the record's key is not: what a sort can go by first.
    ///
    /// It is the first eight bytes of the key, or of the key's first column if lengths vary.
    ///
    /// # Panics
    /// As [`compare`](Self::compare).
    #[inline]
    #[must_use]
    pub fn prefix(&self, record: &[u8]) -> u64 {
        let record = Record::parse(record);
        let (bytes, padding) = match (self.plain_key, self.columns[0]) {
            (Some(bytes), _) => (bytes, 0),
            (None, Column { order: Order::Bytes, .. }) => (self.first_length(&record), 0),
            (None, Column { order: Order::Padded, .. }) => (self.first_length(&record), b' '),
        };
        let mut prefix = [padding; 8];
        let length = bytes.min(8);
        prefix[..length].copy_from_slice(&record.data[..length]);
        u64::from_be_bytes(prefix)
    }

    fn first_length(&self, record: &Record<'_>) -> usize {
        let mut lengths = record.extra.len() - self.null_bytes();
        field_length(self.columns[0].storage, record.extra, &mut lengths)
    }

    /// Bytes of the bits that say which columns are NULL.
    pub(crate) fn null_bytes(&self) -> usize {
        self.nullable.div_ceil(8)
    }

    /// Bytes of the key in front of the data, and of its lengths, which end where the NULL bits begin.
    pub(crate) fn key_bytes(&self, extra: &[u8]) -> (usize, usize) {
        match self.plain_key {
            Some(_) if self.key == 0 => (ROW_ID_BYTES, 0),
            Some(bytes) => (bytes, 0),
            None => {
                let begin = extra.len() - self.null_bytes();
                let mut lengths = begin;
                let bytes = self.columns[..self.key]
                    .iter()
                    .map(|column| field_length(column.storage, extra, &mut lengths))
                    .sum();
                (bytes, begin - lengths)
            }
        }
    }

    /// The order of two keys, each in front of its data and with its lengths at the end of `extra`, before the NULL bits.
    #[inline]
    pub(crate) fn compare_keys(
        &self,
        a_extra: &[u8],
        a: &[u8],
        b_extra: &[u8],
        b: &[u8],
    ) -> Ordering {
        if let Some(bytes) = self.plain_key {
            return a[..bytes].cmp(&b[..bytes]);
        }
        let (mut a_lengths, mut b_lengths) =
            (a_extra.len() - self.null_bytes(), b_extra.len() - self.null_bytes());
        let (mut a_at, mut b_at) = (0, 0);
        for column in &self.columns[..self.key] {
            let a_end = a_at + field_length(column.storage, a_extra, &mut a_lengths);
            let b_end = b_at + field_length(column.storage, b_extra, &mut b_lengths);
            let order = match column.order {
                Order::Bytes => a[a_at..a_end].cmp(&b[b_at..b_end]),
                Order::Padded => compare_padded(&a[a_at..a_end], &b[b_at..b_end]),
            };
            if order.is_ne() {
                return order;
            }
            (a_at, b_at) = (a_end, b_end);
        }
        Ordering::Equal
    }
}

/// Bytes of the number that a row without a key has, `DB_ROW_ID`.
pub(crate) const ROW_ID_BYTES: usize = 6;

fn compare_padded(a: &[u8], b: &[u8]) -> Ordering {
    let both = a.len().min(b.len());
    let rest =
        |of: &[u8]| of[both..].iter().map(|byte| byte.cmp(&b' ')).find(|order| order.is_ne());
    a[..both]
        .cmp(&b[..both])
        .then_with(|| rest(a).or_else(|| rest(b).map(Ordering::reverse)).unwrap_or(Ordering::Equal))
}
