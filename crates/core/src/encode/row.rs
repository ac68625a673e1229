//! What an encoder sees of a row: its values, as text or in a type of their own.

use std::io::Write as _;
use std::ops::RangeInclusive;

use inrush_scan::Field;

use crate::flow::{Home, Span};

/// One good record: a value for each of the load's columns.
pub trait Row {
    /// The value where the input has it in a type of its own. `None` where it is text, and where it is NULL: then
    /// [`Row::value`] tells.
    fn typed(&self, column: usize) -> Option<Typed>;

    /// Whether a value has a type of its own in the input, if it is only written out as text here.
    fn is_typed(&self, column: usize) -> bool {
        self.typed(column).is_some()
    }

    /// Any value as text, of which this is the place; `None` for NULL. What isn't there as it is to be read is written out to
    /// `values`, the wire's.
    fn value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)>;

    /// The value as the source has it, for messages; where it has none, what is loaded.
    fn source_value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        self.value(column, values)
    }

    /// Whether a value that isn't [`typed`](Row::typed) is the bytes of its column, and no text that may stand for others.
    fn has_bytes(&self, _column: usize) -> bool {
        false
    }

    /// Whether a value is what it is in JSON's words, and no text that may be written otherwise.
    fn is_document(&self, _column: usize) -> bool {
        false
    }

    /// The bytes at a place that this row named.
    fn bytes<'b>(&'b self, home: Home, span: Span, values: &'b [u8]) -> &'b [u8];

    /// A text that is there as it is to be read, together with what lies around it: what [`Row::value`] and [`Row::bytes`] tell in
    /// two steps. `None` says nothing.
    #[inline(always)]
    fn text_among(&self, _column: usize) -> Option<(&[u8], Span)> {
        None
    }

    /// The columns' places in [`Row::text`], of which [`is_plain`](super::is_plain) tells whether one can be taken as it stands.
    /// None where the values aren't text.
    fn fields(&self) -> &[Field];

    /// The text that [`Row::fields`] lie in.
    fn text(&self) -> &[u8];
}

/// A value that isn't text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Typed {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Since 1970-01-01 00:00:00.
    pub seconds: i64,
    /// Below a thousand million.
    pub nanos: u32,
    /// Whether it is in UTC; else it is what a clock shows somewhere.
    pub zone: bool,
}

impl Moment {
    /// The moment so many parts of a second after 1970-01-01 00:00:00, of which one has `per_second`: a thousand million at the most.
    #[inline(always)]
    pub fn of(count: i64, per_second: i64, zone: bool) -> Self {
        let nanos = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
        Self { seconds: count.div_euclid(per_second), nanos: nanos as u32, zone }
    }

    /// Its day, and the seconds since that began; `None` beyond the years 1 to 9999, which is what can be read as text.
    #[inline]
    pub fn day(self) -> Option<(Day, u32)> {
        let day = Day::of(self.seconds.div_euclid(DAY_SECONDS))?;
        Some((day, self.seconds.rem_euclid(DAY_SECONDS) as u32))
    }

    /// Whether it can be read as text.
    #[inline]
    pub fn is_common(self) -> bool {
        Day::COMMON.contains(&self.seconds.div_euclid(DAY_SECONDS))
    }

    /// Its text, and how long that is: `YYYY-MM-DD HH:MM:SS`, a fraction without zeros at its end, and `+00:00` where it is UTC.
    /// `None` beyond the years 1 to 9999.
    #[inline]
    pub fn text(self) -> Option<([u8; 40], usize)> {
        let (day, second) = self.day()?;
        let mut text = [0; 40];
        text[..10].copy_from_slice(&day.text());
        text[10..19].copy_from_slice(&clock(second));
        let mut len = 19;
        if self.nanos > 0 {
            text[len] = b'.';
            let mut rest = self.nanos;
            for digit in text[20..29].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
            let zeros = text[20..29].iter().rev().take_while(|digit| **digit == b'0').count();
            len = 29 - zeros;
        }
        if self.zone {
            text[len..len + 6].copy_from_slice(b"+00:00");
            len += 6;
        }
        Some((text, len))
    }

    /// How many parts of a second after 1970-01-01 00:00:00 it is, of which one has `per_second`: the way back from [`Moment::of`].
    /// `None` where that has a fraction, or is out of range.
    #[inline(always)]
    pub fn count(self, per_second: i64) -> Option<i64> {
        let part_nanos = 1_000_000_000 / per_second;
        let nanos = i64::from(self.nanos);
        if nanos % part_nanos != 0 {
            return None;
        }
        // The second in which the first moment of 64 bits lies begins before it.
        let seconds = i128::from(self.seconds) * i128::from(per_second);
        i64::try_from(seconds + i128::from(nanos / part_nanos)).ok()
    }

    /// Microseconds since 1970-01-01 00:00:00; `None` where that has a fraction, or is out of range.
    #[inline]
    pub fn micros(self) -> Option<i64> {
        self.count(1_000_000)
    }
}

impl Typed {
    /// The double that the value's text is, where that takes no closer look: a finite double, or a number of up to 15 digits, which
    /// any double keeps.
    #[inline]
    pub fn double(self) -> Option<f64> {
        const LIMIT: u128 = TENS[15];
        const POWERS: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
        ];
        match self {
            Self::Float(number) => number.is_finite().then_some(number),
            Self::Integer(number) => {
                (u128::from(number.unsigned_abs()) < LIMIT).then_some(number as f64)
            }
            Self::Decimal { digits, scale } if digits.unsigned_abs() < LIMIT => {
                // Both are exact, so the division rounds once.
                POWERS.get(usize::from(scale)).map(|power| digits as i64 as f64 / power)
            }
            _ => None,
        }
    }

    /// Appends the value as text, written as inrush reads it; `None` for bytes, which are what they are.
    pub fn write(self, out: &mut Vec<u8>) {
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
    // Nearly all have 64 bits, which take a fraction of the time.
    let text = match u64::try_from(digits.unsigned_abs()) {
        Ok(digits) => buffer.format(digits),
        Err(_) => buffer.format(digits.unsigned_abs()),
    };
    let text = text.as_bytes();
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

fn write_moment(moment: Moment, out: &mut Vec<u8>) {
    if let Some((text, len)) = moment.text() {
        out.extend_from_slice(&text[..len]);
        return;
    }
    // That it is no text of a moment is for its reader to say; of the time nothing is lost.
    let days = moment.seconds.div_euclid(DAY_SECONDS);
    write_date(days, out);
    let time = Moment { seconds: moment.seconds.rem_euclid(DAY_SECONDS), ..moment };
    if let Some((text, len)) = time.text() {
        out.extend_from_slice(&text[10..len]);
    }
}

/// Appends a time of day, given in nanoseconds since midnight: `HH:MM:SS`, and a fraction without zeros at its end.
pub fn write_time(nanos: i64, out: &mut Vec<u8>) {
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let moment = Moment { seconds, nanos: nanos as u32, zone: false };
    if let Some((text, len)) = moment.text() {
        out.extend_from_slice(&text["YYYY-MM-DD ".len()..len]);
    }
}

/// A time of day as text, behind a blank.
#[inline]
fn clock(second: u32) -> [u8; 9] {
    let mut text = *b" HH:MM:SS";
    for (at, part) in [(1, second / 3600), (4, second / 60 % 60), (7, second % 60)] {
        two(part, &mut text[at..]);
    }
    text
}

#[inline(always)]
fn two(number: u32, out: &mut [u8]) {
    out[0] = b'0' + (number / 10) as u8;
    out[1] = b'0' + (number % 10) as u8;
}

/// `YYYY-MM-DD`; years beyond four digits have as many as it takes, those before the year 0 a sign.
fn write_date(days: i64, out: &mut Vec<u8>) {
    if let Some(day) = Day::of(days) {
        out.extend_from_slice(&day.text());
        return;
    }
    // The calendar is the same again after 400 years, which have 146,097 days.
    let eras = (days - *Day::COMMON.start()).div_euclid(ERA_DAYS);
    if let Some(day) = Day::of(days - eras * ERA_DAYS) {
        let year = i64::from(day.year) + 400 * eras;
        // Writing to memory doesn't fail.
        let _ = match year {
            0..=9999 => write!(out, "{year:04}"),
            year => write!(out, "{year:05}"),
        };
        out.extend_from_slice(&day.text()[4..]);
    }
}

const ERA_DAYS: i64 = 146_097;

/// A day of the calendar in the years 1 to 9999, which are those that can be read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// 1 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

impl Day {
    /// 0001-01-01 to 9999-12-31, in days since 1970-01-01.
    pub const COMMON: RangeInclusive<i64> = -719_162..=2_932_896;

    /// The day so many days after 1970-01-01.
    #[inline]
    pub fn of(days: i64) -> Option<Self> {
        if !Self::COMMON.contains(&days) {
            return None;
        }
        // Years are counted from March, so that the leap day is their last; 400 of them are an era. All of it is positive.
        let days = (days + 719_468) as u32;
        let (era, day_of_era) = (days / ERA_DAYS as u32, days % ERA_DAYS as u32);
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let year = 400 * era + year_of_era;
        let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
        Some(Self { year: year as u16, month: month as u8, day: day as u8 })
    }

    /// `YYYY-MM-DD`.
    #[inline]
    pub fn text(self) -> [u8; 10] {
        let mut text = *b"YYYY-MM-DD";
        let year = u32::from(self.year);
        for (at, part) in
            [(0, year / 100), (2, year % 100), (5, self.month.into()), (8, self.day.into())]
        {
            two(part, &mut text[at..]);
        }
        text
    }
}

/// Powers of ten.
const TENS: [u128; 39] = {
    let mut tens = [1; 39];
    let mut power = 1;
    while power < tens.len() {
        tens[power] = 10 * tens[power - 1];
        power += 1;
    }
    tens
};

/// Whether `digits` / 10^`scale` has no more than so many digits before its point; a zero there is none.
#[inline]
pub fn has_whole_digits(digits: i128, scale: u8, max: i64) -> bool {
    match usize::try_from(max + i64::from(scale)) {
        Err(_) => digits == 0,
        Ok(power) => TENS.get(power).is_none_or(|limit| digits.unsigned_abs() < *limit),
    }
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
        for per_second in [1, 1_000, 1_000_000, 1_000_000_000] {
            for count in [i64::MIN, -i64::MAX, -1, 0, i64::MAX] {
                assert_eq!(Moment::of(count, per_second, false).count(per_second), Some(count));
            }
        }
        let finer = Moment { seconds: 0, nanos: 1_000, zone: false };
        assert_eq!((finer.count(1_000_000), finer.count(1_000)), (Some(1), None));
        assert_eq!(written(Typed::Date(-719_529)), "-0001-12-31");
        assert_eq!(written(Typed::Date(-719_163)), "0000-12-31");
        assert_eq!(written(Typed::Date(-719_528)), "0000-01-01");
        assert_eq!(written(Typed::Date(i32::MAX)), "5881580-07-11");
        assert_eq!(written(Typed::Date(i32::MIN)), "-5877641-06-23");
        let moment = |seconds, nanos, zone| written(Typed::Moment(Moment { seconds, nanos, zone }));
        assert_eq!(moment(0, 0, false), "1970-01-01 00:00:00");
        assert_eq!(moment(-1, 500_000_000, false), "1969-12-31 23:59:59.5");
        assert_eq!(moment(253_402_300_800, 20, true), "10000-01-01 00:00:00.00000002+00:00");
        assert_eq!(moment(i64::MIN, 0, false), "-292277022657-01-27 08:29:52");
        assert_eq!(moment(i64::MAX, 1, false), "292277026596-12-04 15:30:07.000000001");
        assert_eq!(moment(1_357_034_400, 1, true), "2013-01-01 10:00:00.000000001+00:00");
        assert_eq!(Moment { seconds: -1, nanos: 1_000, zone: false }.micros(), Some(-999_999));
        assert_eq!(Moment { seconds: 0, nanos: 1, zone: false }.micros(), None);
    }
}
