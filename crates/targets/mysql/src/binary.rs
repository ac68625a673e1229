//! Rows in binary, as parameters of prepared statements
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html#sect_protocol_binary_resultset_row_value>).
//!
//! What the server takes from a number or a moment in binary it need not read character by character; what it makes of text is
//! the same as with INSERT.

use crate::encode::{Notation, Stores};
use crate::types::{Class, Exact};
use inrush_core::encode::Day;

/// The types of all parameters, two bytes each
/// (<https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html>).
pub(super) fn types(stores: &Stores) -> Vec<u8> {
    const UNSIGNED: u8 = 0x80;
    const DOUBLE: u8 = 5;
    const LONGLONG: u8 = 8;
    const DATE: u8 = 10;
    const DATETIME: u8 = 12;
    const BLOB: u8 = 252;
    const VAR_STRING: u8 = 253;
    let of = |class| match class {
        Class::Integer { unsigned: false } => [LONGLONG, 0],
        Class::Integer { unsigned: true } | Class::Bit => [LONGLONG, UNSIGNED],
        Class::Real => [DOUBLE, 0],
        Class::Date => [DATE, 0],
        Class::Moment => [DATETIME, 0],
        Class::Bytes => [BLOB, 0],
        Class::Decimal | Class::Plain | Class::Text => [VAR_STRING, 0],
    };
    stores.classes().flat_map(of).collect()
}

/// What stands before a value that isn't NULL.
const NONE: u8 = 0;

/// Rows for MariaDB's bulk execute: before each value a byte that says whether there is one.
#[derive(Default)]
pub(super) struct BulkRows;

impl Notation for BulkRows {
    #[inline]
    fn null(&mut self, _column: usize, out: &mut Vec<u8>) {
        const NULL: u8 = 1;
        out.push(NULL);
    }

    #[inline]
    fn value(&mut self, class: Class, value: &[u8], out: &mut Vec<u8>) {
        out.push(NONE);
        put(class, value, out);
    }

    #[inline]
    fn exact(&mut self, class: Class, value: Exact, memory: &mut Vec<u8>, out: &mut Vec<u8>) {
        out.push(NONE);
        put_exact(class, value, memory, out);
    }
}

/// Rows for COM_STMT_EXECUTE: first a bit for each column that is set when its value is NULL, then the values that there are.
#[derive(Default)]
pub(super) struct Parameters {
    /// Where the row's bits begin.
    start: usize,
}

impl Parameters {
    /// How many bytes the bits take.
    pub(super) fn nulls(columns: usize) -> usize {
        columns.div_ceil(8)
    }
}

impl Notation for Parameters {
    fn open(&mut self, columns: usize, out: &mut Vec<u8>) {
        self.start = out.len();
        out.resize(self.start + Self::nulls(columns), 0);
    }

    fn null(&mut self, column: usize, out: &mut Vec<u8>) {
        out[self.start + column / 8] |= 1 << (column % 8);
    }

    fn value(&mut self, class: Class, value: &[u8], out: &mut Vec<u8>) {
        put(class, value, out);
    }

    fn exact(&mut self, class: Class, value: Exact, memory: &mut Vec<u8>, out: &mut Vec<u8>) {
        put_exact(class, value, memory, out);
    }
}

/// Writes a value, whose text is the one that the server will show.
#[inline]
fn put(class: Class, value: &[u8], out: &mut Vec<u8>) {
    match class {
        Class::Integer { unsigned: false } => {
            out.extend_from_slice(&integer(value).to_le_bytes());
        }
        Class::Integer { unsigned: true } | Class::Bit => {
            out.extend_from_slice(&digits(value).to_le_bytes());
        }
        Class::Real => out.extend_from_slice(&real(value).to_le_bytes()),
        Class::Date | Class::Moment => moment(value, out),
        Class::Bytes | Class::Decimal | Class::Plain | Class::Text => {
            length(value.len(), out);
            out.extend_from_slice(value);
        }
    }
}

/// Writes a value in a type of its own.
#[inline]
fn put_exact(class: Class, value: Exact, memory: &mut Vec<u8>, out: &mut Vec<u8>) {
    match (class, value) {
        (Class::Integer { .. } | Class::Bit, Exact::Integer(number)) => {
            out.extend_from_slice(&number.to_le_bytes());
        }
        (Class::Real, Exact::Integer(number)) => {
            out.extend_from_slice(&(number as f64).to_le_bytes());
        }
        (Class::Real, Exact::Real(number)) => out.extend_from_slice(&number.to_le_bytes()),
        (Class::Date, Exact::Day(day)) => put_moment(day, 0, 0, DAY_BYTES, out),
        (Class::Moment, Exact::Moment { moment, .. }) => {
            if let Some((day, second)) = moment.day() {
                let micros = moment.nanos / 1000;
                let bytes = if micros == 0 { SECOND_BYTES } else { MICRO_BYTES };
                put_moment(day, second, micros, bytes, out);
            }
        }
        _ => {
            memory.clear();
            value.write(memory);
            put(class, memory, out);
        }
    }
}

/// The number that digits are; they fit, for the column's type was looked at before.
#[inline]
fn digits(text: &[u8]) -> u64 {
    text.iter()
        .fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

#[inline]
fn integer(text: &[u8]) -> i64 {
    match text {
        [b'-', rest @ ..] => (digits(rest) as i64).wrapping_neg(),
        text => digits(text) as i64,
    }
}

/// The number that a text is which the column keeps as one; there is no other.
#[inline]
fn real(text: &[u8]) -> f64 {
    inrush_scan::float(text).unwrap_or(f64::NAN)
}

/// Bytes of a day, of a moment to the second, and of any.
const DAY_BYTES: u8 = 4;
const SECOND_BYTES: u8 = 7;
const MICRO_BYTES: u8 = 11;

/// `YYYY-MM-DD`, `YYYY-MM-DD hh:mm:ss` or that with a fraction of one to six digits; as many bytes as it takes.
#[inline]
fn moment(text: &[u8], out: &mut Vec<u8>) {
    let two = |at: usize| 10 * (text[at] - b'0') + (text[at + 1] - b'0');
    let year = 100 * u16::from(two(0)) + u16::from(two(2));
    let [low, high] = year.to_le_bytes();
    let (month, day) = (two(5), two(8));
    if text.len() == 10 {
        out.extend_from_slice(&[DAY_BYTES, low, high, month, day]);
        return;
    }
    let time = [two(11), two(14), two(17)];
    let fraction = text.get(20..).unwrap_or_default();
    let micros = digits(fraction) as u32 * 10_u32.pow(6 - fraction.len() as u32);
    let bytes = if micros == 0 { SECOND_BYTES } else { MICRO_BYTES };
    out.extend_from_slice(&[bytes, low, high, month, day]);
    out.extend_from_slice(&time);
    if micros != 0 {
        out.extend_from_slice(&micros.to_le_bytes());
    }
}

/// The same of a moment that isn't text, in so many bytes.
#[inline]
fn put_moment(day: Day, second: u32, micros: u32, bytes: u8, out: &mut Vec<u8>) {
    let ([low, high], [m0, m1, m2, m3]) = (day.year.to_le_bytes(), micros.to_le_bytes());
    let time = [second / 3600, second / 60 % 60, second % 60].map(|part| part as u8);
    let all = [bytes, low, high, day.month, day.day, time[0], time[1], time[2], m0, m1, m2, m3];
    out.extend_from_slice(&all[..=usize::from(bytes)]);
}

/// How long a text is
/// (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html#sect_protocol_basic_dt_int_le>).
#[inline]
fn length(bytes: usize, out: &mut Vec<u8>) {
    let [b0, b1, b2, ..] = bytes.to_le_bytes();
    match bytes {
        0..=250 => out.push(b0),
        251..=0xffff => out.extend_from_slice(&[0xfc, b0, b1]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[0xfd, b0, b1, b2]),
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&(bytes as u64).to_le_bytes());
        }
    }
}
