//! The order in which SQLite has the entries of an index (datatype3, section 4.1, Sort Order).
//!
//! Field by field: NULL, then numbers by value, then text, then blobs, both byte by byte. Of two
//! records that are equal as far as both go, the shorter one is first. This is the order of columns
//! that ascend and have the collation BINARY. Columns with `DESC` have it turned round
//! ([`compare_mixed`]). What NOCASE and RTRIM make of it is not here.
//!
//! An integer and a double are compared by their exact values, not as doubles: 2^53 + 1 is greater
//! than 9007199254740992.0, though it becomes that number when it is converted.
//!
//! To sort entries, sort by [`prefix`] first. It abbreviates the first field to a number, which
//! decides most comparisons without a look at the records:
//!
//! ```text
//! 63  61                                                            0
//! +---+-------------------------------------------------------------+
//! | 0 | 0                                                           |  NULL
//! | 1 | the double nearest to the number, made ascending, its first |  number
//! | 2 | the first 62 bits of the text, zeros behind its end         |  text
//! | 3 | the same                                                    |  blob
//! +---+-------------------------------------------------------------+
//! ```

use std::cmp::Ordering;

use crate::reader::{Field, RecordReader};
use crate::record::Value;

/// Bits of a prefix that are left for the value.
const PREFIX_BITS: u32 = 62;

/// The order of two records.
#[inline]
#[must_use]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (RecordReader::new(a), RecordReader::new(b));
    loop {
        let order = match (a.next(), b.next()) {
            (Some(a), Some(b)) => compare_fields(a, b),
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The order of two records in which a field descends where `descends` says so; fields behind its
/// end ascend.
#[must_use]
pub fn compare_mixed(a: &[u8], b: &[u8], descends: &[bool]) -> Ordering {
    let (mut a, mut b) = (RecordReader::new(a), RecordReader::new(b));
    let mut descends = descends.iter();
    loop {
        let order = match (a.next(), b.next()) {
            (Some(a), Some(b)) => compare_fields(a, b),
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
        };
        let turns = descends.next().is_some_and(|descends| *descends);
        if order.is_ne() {
            return if turns { order.reverse() } else { order };
        }
    }
}

/// [`prefix`] for records whose first field descends: abbreviations of them in [`compare_mixed`]'s
/// order. Never the largest number that there is.
#[inline]
#[must_use]
pub fn descending_prefix(record: &[u8]) -> u64 {
    !prefix(record) >> 1
}

/// Whether the first `fields` fields are equal and none of them is NULL: two entries that `UNIQUE`
/// doesn't allow. A field that isn't there is NULL.
#[inline]
#[must_use]
pub fn same_key(a: &[u8], b: &[u8], fields: usize) -> bool {
    let (mut a, mut b) = (RecordReader::new(a), RecordReader::new(b));
    (0..fields).all(|_| match (a.next(), b.next()) {
        (Some(a), Some(b)) => !is_null(a) && compare_fields(a, b).is_eq(),
        _ => false,
    })
}

/// Which of the first `fields` fields is the first NULL. A field that isn't there is NULL.
#[inline]
#[must_use]
pub fn first_null(record: &[u8], fields: usize) -> Option<usize> {
    let mut reader = RecordReader::new(record);
    (0..fields).find(|_| reader.next().is_none_or(is_null))
}

/// An abbreviation that has the order of the records as far as it goes: when `prefix(a) <
/// prefix(b)`, `a` is before `b`. When they are equal, [`compare`] has to say.
#[inline]
#[must_use]
pub fn prefix(record: &[u8]) -> u64 {
    let Some(field) = RecordReader::new(record).next() else { return 0 };
    match field.value() {
        Value::Null => 0,
        // Conversion rounds, but never turns the order round.
        Value::Integer(value) => 1 << PREFIX_BITS | ascending(value as f64),
        Value::Real(value) => 1 << PREFIX_BITS | ascending(value),
        Value::Text(bytes) => 2 << PREFIX_BITS | first_bits(bytes),
        Value::Blob(bytes) => 3 << PREFIX_BITS | first_bits(bytes),
    }
}

/// The first bits of a number that ascends as doubles do.
#[inline]
fn ascending(value: f64) -> u64 {
    // -0.0 + 0.0 is 0.0.
    let bits = (value + 0.0).to_bits();
    let is_negative = bits >> 63 == 1;
    let bits = if is_negative { !bits } else { bits | 1 << 63 };
    bits >> (u64::BITS - PREFIX_BITS)
}

#[inline]
fn first_bits(bytes: &[u8]) -> u64 {
    let first = match bytes.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(first)
        }
    };
    first >> (u64::BITS - PREFIX_BITS)
}

#[inline]
fn is_null(field: Field<'_>) -> bool {
    field.serial_type == 0 || (field.serial_type == 7 && field.real().is_nan())
}

#[inline]
fn compare_fields(a: Field<'_>, b: Field<'_>) -> Ordering {
    if is_integer(a) && is_integer(b) {
        a.integer().cmp(&b.integer())
    } else if a.serial_type >= 12 && b.serial_type >= 12 {
        // Text is odd and before blobs, which are even.
        let is_blob = |field: Field<'_>| field.serial_type.is_multiple_of(2);
        is_blob(a).cmp(&is_blob(b)).then_with(|| a.bytes.cmp(b.bytes))
    } else {
        compare_values(a.value(), b.value())
    }
}

#[inline]
fn is_integer(field: Field<'_>) -> bool {
    matches!(field.serial_type, 1..=6 | 8 | 9)
}

/// What is not so frequent: doubles, and values of different types.
fn compare_values(a: Value<'_>, b: Value<'_>) -> Ordering {
    match (a, b) {
        // No double is NaN here: it reads as NULL.
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Value::Integer(a), Value::Real(b)) => compare_integer(a, b),
        (Value::Real(a), Value::Integer(b)) => compare_integer(b, a).reverse(),
        _ => class(a).cmp(&class(b)),
    }
}

/// The order of an integer and a double by their exact values.
fn compare_integer(integer: i64, real: f64) -> Ordering {
    /// 2^63, the first double above all integers.
    const END: f64 = 9_223_372_036_854_775_808.0;
    if real < -END {
        return Ordering::Greater;
    }
    if real >= END {
        return Ordering::Less;
    }
    let whole = real as i64;
    // When the whole parts are equal the integer is that double except for its fraction.
    let fraction = real - whole as f64;
    integer.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal))
}

/// Values of different classes are never equal.
fn class(value: Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Integer(_) | Value::Real(_) => 1,
        Value::Text(_) => 2,
        Value::Blob(_) => 3,
    }
}
