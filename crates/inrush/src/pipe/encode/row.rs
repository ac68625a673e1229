//! What an encoder sees of a row: its values, as text or in a type of their own.

use std::io::Write as _;

use inrush_scan::Field;

use crate::pipe::{Home, Span};

/// One good record: a value for each of the load's columns.
pub(crate) trait Row {
    /// The value where the input has it in a type of its own. `None` where it is text, and where it is NULL: then
    /// [`Row::value`] tells.
    fn typed(&self, column: usize) -> Option<Typed>;

    /// Any value as text, of which this is the place; `None` for NULL. What isn't there as it is to be read is written out to
    /// `values`, the wire's.
    fn value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)>;

    /// The bytes at a place that this row named.
    fn bytes<'b>(&'b self, home: Home, span: Span, values: &'b [u8]) -> &'b [u8];

    /// The columns' places in [`Row::text`], of which [`is_plain`](super::is_plain) tells whether one can be taken as it stands.
    /// None where the values aren't text, and where there are spellings of NULL, which any field might be.
    fn fields(&self) -> &[Field];

    /// The text that [`Row::fields`] lie in.
    fn text(&self) -> &[u8];
}

/// A value that isn't text.
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "no input of this build has such values")
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Typed {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A double; may be infinite, or not a number.
    Float(f64),
    /// `digits` / 10^`scale`.
    Decimal {
        /// All digits.
        digits: i128,
        /// How many of them come after the point.
        scale: u8,
    },
    /// Days since 1970-01-01.
    Date(i32),
    /// A day and a time of day.
    Moment(Moment),
    /// Bytes that need not be text.
    Bytes(Home, Span),
}

/// A point in time.
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "no input of this build has such values")
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Since 1970-01-01 00:00:00.
    pub(crate) seconds: i64,
    /// Below a thousand million.
    pub(crate) nanos: u32,
    /// Whether it is in UTC; else it is what a clock shows somewhere.
    pub(crate) zone: bool,
}

impl Moment {
    /// Microseconds since 1970-01-01 00:00:00; `None` where that has a fraction, or is out of range.
    #[inline]
    pub(crate) fn micros(self) -> Option<i64> {
        if !self.nanos.is_multiple_of(1_000) {
            return None;
        }
        self.seconds.checked_mul(1_000_000)?.checked_add(i64::from(self.nanos / 1_000))
    }
}

impl Typed {
    /// Appends the value as text, written as inrush reads it; `None` for bytes, which are what they are.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        // Writing to memory doesn't fail.
        match self {
            Self::Boolean(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
            Self::Integer(number) => {
                out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes())
            }
            Self::Float(number) => write_float(number, out),
            Self::Decimal { digits, scale } => write_decimal(digits, scale, out),
            Self::Date(days) => write_date(i64::from(days), out),
            Self::Moment(moment) => write_moment(moment, out),
            Self::Bytes(..) => {}
        }
    }
}

/// The shortest text that reads back as the same double.
fn write_float(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        out.extend_from_slice(zmij::Buffer::new().format_finite(number).as_bytes());
    } else if number.is_nan() {
        out.extend_from_slice(b"NaN");
    } else {
        out.extend_from_slice(if number > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
}

fn write_decimal(digits: i128, scale: u8, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(digits.unsigned_abs()).as_bytes();
    if digits < 0 {
        out.push(b'-');
    }
    let scale = usize::from(scale);
    let (whole, fraction) = text.split_at(text.len().saturating_sub(scale));
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    if scale > 0 {
        out.push(b'.');
        out.resize(out.len() + scale - fraction.len(), b'0');
        out.extend_from_slice(fraction);
    }
}

const DAY_SECONDS: i64 = 86_400;

/// `YYYY-MM-DD HH:MM:SS`, a fraction without zeros at its end, and `+00:00` where it is UTC.
fn write_moment(moment: Moment, out: &mut Vec<u8>) {
    write_date(moment.seconds.div_euclid(DAY_SECONDS), out);
    let second = moment.seconds.rem_euclid(DAY_SECONDS);
    out.push(b' ');
    for (part, after) in [(second / 3600, ":"), (second / 60 % 60, ":"), (second % 60, "")] {
        two(part, out);
        out.extend_from_slice(after.as_bytes());
    }
    if moment.nanos > 0 {
        let _ = write!(out, ".{:09}", moment.nanos);
        let zeros = out.iter().rev().take_while(|digit| **digit == b'0').count();
        out.truncate(out.len() - zeros);
    }
    if moment.zone {
        out.extend_from_slice(b"+00:00");
    }
}

fn two(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
}

/// `YYYY-MM-DD`; years beyond four digits have as many as it takes, those before the year 0 a sign.
fn write_date(days: i64, out: &mut Vec<u8>) {
    // Years are counted from March, so that the leap day is their last; 400 of them have 146,097 days.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match 400 * era + year_of_era {
        year if month < 10 => (year, month + 3),
        year => (year + 1, month - 9),
    };
    if (0..=9999).contains(&year) {
        two(year / 100, out);
        two(year % 100, out);
    } else {
        let _ = write!(out, "{year:05}");
    }
    out.push(b'-');
    two(month, out);
    out.push(b'-');
    two(day, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(typed: Typed) -> String {
        let mut out = Vec::new();
        typed.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_they_are_read() {
        assert_eq!(written(Typed::Integer(i64::MIN)), i64::MIN.to_string());
        assert_eq!(written(Typed::Boolean(true)), "true");
        for (number, text) in
            [(0.1, "0.1"), (-5.0, "-5.0"), (f64::NAN, "NaN"), (f64::NEG_INFINITY, "-Infinity")]
        {
            assert_eq!(written(Typed::Float(number)), text);
        }
        for number in [f64::MAX, f64::MIN_POSITIVE, 1e16, 1e-7, 123_456.789] {
            let text = written(Typed::Float(number));
            assert_eq!(inrush_scan::float(text.as_bytes()).ok(), Some(number), "{text}");
            assert!(inrush_scan::float_round_trips(text.as_bytes()), "{text}");
        }
        for (digits, scale, text) in [
            (12_345, 2, "123.45"),
            (-5, 3, "-0.005"),
            (0, 0, "0"),
            (0, 2, "0.00"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(written(Typed::Decimal { digits, scale }), text);
        }
    }

    #[test]
    fn days_and_moments_are_those_of_the_calendar() {
        for day in (-719_162..=2_932_896).step_by(97) {
            let text = written(Typed::Date(day));
            assert_eq!(inrush_scan::date_days(text.as_bytes()), Some(day), "{text}");
        }
        assert_eq!(written(Typed::Date(2_932_897)), "10000-01-01");
        assert_eq!(written(Typed::Date(-719_529)), "-0001-12-31");
        let moment = |seconds, nanos, zone| written(Typed::Moment(Moment { seconds, nanos, zone }));
        assert_eq!(moment(0, 0, false), "1970-01-01 00:00:00");
        assert_eq!(moment(-1, 500_000_000, false), "1969-12-31 23:59:59.5");
        assert_eq!(moment(1_357_034_400, 1, true), "2013-01-01 10:00:00.000000001+00:00");
        assert_eq!(Moment { seconds: -1, nanos: 1_000, zone: false }.micros(), Some(-999_999));
        assert_eq!(Moment { seconds: 0, nanos: 1, zone: false }.micros(), None);
    }
}
