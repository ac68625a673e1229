//! Days, times of day, and both.
//!
//! ```text
//! date            days since 0001-01-01
//! time            ticks of 100 ns since midnight
//! datetime2       both as one count of ticks
//! datetimeoffset  the same in UTC, and minutes from there
//! datetime        three hundredths of a second since 1900-01-01
//! smalldatetime   minutes since then
//! ```

use inrush_scan::{self as scan, Zone};
use tiberius::time::DateTime2;

use inrush_core::flow::Code;
use inrush_core::value::rule::{DATE, TIMESTAMP_ZONED, clock};

use super::store::Misfit;

/// Ticks.
pub(crate) const SECOND: i64 = 10_000_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const DAY: i64 = 86_400 * SECOND;

/// From 0001-01-01.
pub(crate) const DAYS_TO_1900: i64 = 693_595;
const DAYS_TO_1970: i64 = 719_162;
/// Days of the years 0001 to 9999.
const DAYS_END: i64 = 3_652_059;

/// Three hundredths of a second in a day.
pub(crate) const DAY_FRAGMENTS: i64 = 86_400 * 300;

const NANOS: i64 = 1_000_000_000;

const NO_MOMENT: Misfit<'static> =
    (Code::Type, "a timestamp without an offset (YYYY-MM-DD HH:MM:SS)");
const NO_TIME: Misfit<'static> = (Code::Type, "a time (HH:MM:SS)");

/// Ticks since 0001-01-01 of what the driver read; for a `datetimeoffset` in UTC.
pub(crate) fn ticks(at: DateTime2) -> i64 {
    let (days, time) = (i64::from(at.date().days()), at.time());
    days * DAY + time.increments() as i64 * 10_i64.pow(u32::from(7 - time.scale().min(7)))
}

/// Appends `YYYY-MM-DD`.
pub(crate) fn put_date(days: i64, out: &mut Vec<u8>) {
    const DAY_MICROS: i64 = 86_400_000_000;
    match scan::timestamp_text((days - DAYS_TO_1970) * DAY_MICROS) {
        Some(text) => out.extend_from_slice(&text[..10]),
        // The driver lets no such day through.
        None => out.extend_from_slice(b"0000-00-00"),
    }
}

/// Appends `HH:MM:SS` and as many digits as `scale` says of a time in units of 10^-`scale` seconds.
pub(crate) fn put_clock(units: i64, scale: u8, out: &mut Vec<u8>) {
    let unit = 10_i64.pow(u32::from(scale.min(9)));
    let seconds = units / unit;
    let two = |number: i64| [b'0' + (number / 10 % 10) as u8, b'0' + (number % 10) as u8];
    out.extend_from_slice(&two(seconds / 3600));
    out.push(b':');
    out.extend_from_slice(&two(seconds / 60 % 60));
    out.push(b':');
    out.extend_from_slice(&two(seconds % 60));
    if scale > 0 {
        out.push(b'.');
        let fraction = units % unit;
        let mut power = unit / 10;
        while power > 0 {
            out.push(b'0' + (fraction / power % 10) as u8);
            power /= 10;
        }
    }
}

/// Days since 0001-01-01.
pub(super) fn keep_date(value: &[u8]) -> Result<i64, Misfit<'static>> {
    scan::date_days(value).map(|days| i64::from(days) + DAYS_TO_1970).ok_or(DATE)
}

/// The same of days since 1970-01-01; `None` beyond the years 0001 to 9999.
pub(super) fn days_since_1970(days: i64) -> Option<i64> {
    let days = days + DAYS_TO_1970;
    (0..DAYS_END).contains(&days).then_some(days)
}

/// A moment taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Since 0001-01-01.
    pub(super) days: i64,
    /// Since midnight.
    pub(super) nanos: i64,
    /// Minutes from UTC.
    pub(super) offset: Option<i64>,
}

fn two(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
}

impl Moment {
    /// Reads `YYYY-MM-DD[ T]HH:MM[:SS[.f{1,9}]][zone]`; a day alone is its midnight.
    fn read(value: &[u8]) -> Option<Self> {
        if let Some(days) = scan::date_days(value) {
            return Some(Self { days: i64::from(days) + DAYS_TO_1970, nanos: 0, offset: None });
        }
        let zone = scan::timestamp(value)?;
        let days = i64::from(scan::date_days(&value[..10])?) + DAYS_TO_1970;
        let (nanos, rest) = clock(&value[11..])?;
        let offset = match (zone, rest.trim_ascii_start()) {
            (Zone::None, _) => None,
            (Zone::Offset, [b'Z' | b'z']) => Some(0),
            (Zone::Offset, [sign, zone @ ..]) => {
                let digits: Vec<u8> = zone.iter().copied().filter(u8::is_ascii_digit).collect();
                let (hours, minutes) = digits.split_at(digits.len().min(2));
                let minutes = two(hours) * 60 + two(minutes);
                Some(if *sign == b'-' { -minutes } else { minutes })
            }
            (Zone::Offset, []) => return None,
        };
        Some(Self { days, nanos, offset })
    }

    /// What an input has in a type of its own; `None` beyond the years 0001 to 9999.
    pub(super) fn of(moment: inrush_core::encode::Moment) -> Option<Self> {
        const DAY_SECONDS: i64 = 86_400;
        Some(Self {
            days: days_since_1970(moment.seconds.div_euclid(DAY_SECONDS))?,
            nanos: moment.seconds.rem_euclid(DAY_SECONDS) * NANOS + i64::from(moment.nanos),
            offset: moment.zone.then_some(0),
        })
    }

    /// Ticks since 0001-01-01 by the clock that hangs there; `None` where the column's `scale` has fewer digits.
    pub(super) fn ticks(self, scale: u8) -> Option<i64> {
        Some(self.days * DAY + ticks_of(self.nanos, scale)?)
    }

    /// The same in UTC.
    pub(super) fn utc(self, scale: u8) -> Option<i64> {
        let ticks = self.ticks(scale)? - self.offset.unwrap_or(0) * MINUTE;
        (0..DAYS_END * DAY).contains(&ticks).then_some(ticks)
    }
}

/// Ticks, where a column of `scale` digits keeps all of them.
fn ticks_of(nanos: i64, scale: u8) -> Option<i64> {
    let unit = 10_i64.pow(9 - u32::from(scale.min(7)));
    (nanos % unit == 0).then_some(nanos / 100)
}

/// Ticks since midnight.
pub(super) fn keep_time<'a>(value: &[u8], scale: u8, wanted: &'a str) -> Result<i64, Misfit<'a>> {
    match clock(value) {
        Some((nanos, [])) => ticks_of(nanos, scale).ok_or((Code::Range, wanted)),
        _ => Err(NO_TIME),
    }
}

/// A moment of no zone. `strict`: a day alone is none.
pub(super) fn read_local(value: &[u8], strict: bool) -> Result<Moment, Misfit<'static>> {
    Moment::read(value)
        .filter(|moment| moment.offset.is_none() && (value.len() > 10 || !strict))
        .ok_or(NO_MOMENT)
}

/// A moment whose zone the value tells.
pub(super) fn read_zoned(value: &[u8]) -> Result<Moment, Misfit<'static>> {
    Moment::read(value).filter(|moment| moment.offset.is_some()).ok_or(TIMESTAMP_ZONED)
}

/// `datetime`: from 1753 on, and of the digits behind the second only those that the server shows again: it counts in three hundredths.
pub(super) fn fragments(moment: Moment) -> Option<i64> {
    const DAYS_TO_1753: i64 = 639_905;
    let millis = moment.nanos / 1_000_000;
    let is_shown = moment.nanos % 1_000_000 == 0 && matches!(millis % 10, 0 | 3 | 7);
    (moment.days >= DAYS_TO_1753 && is_shown)
        .then_some((moment.days - DAYS_TO_1900) * DAY_FRAGMENTS + (millis * 3 + 5) / 10)
}

/// `smalldatetime`: from 1900-01-01 to 2079-06-06, to the minute.
pub(super) fn minutes(moment: Moment) -> Option<i64> {
    let days = moment.days - DAYS_TO_1900;
    let minute = 60 * NANOS;
    (0..=i64::from(u16::MAX)).contains(&days).then_some(())?;
    (moment.nanos % minute == 0).then_some(days * 1440 + moment.nanos / minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Moment> {
        Moment::read(text.as_bytes())
    }

    #[test]
    fn moments_are_read_to_the_nanosecond() {
        let at = read("0001-01-02T03:04:05.123456789").unwrap();
        assert_eq!((at.days, at.offset), (1, None));
        assert_eq!(at.nanos, ((3 * 60 + 4) * 60 + 5) * NANOS + 123_456_789);
        assert_eq!(at.ticks(7), None);
        let at = read("2024-02-29 23:59:59.1234567").unwrap();
        assert_eq!(at.ticks(7), Some(at.days * DAY + 863_991_234_567));
        assert_eq!(at.ticks(3), None);
        for (text, offset) in
            [("Z", 0), ("+02", 120), ("-0330", -210), ("+05:45", 345), (" +01:00", 60)]
        {
            assert_eq!(read(&format!("2024-02-29 10:00{text}")).unwrap().offset, Some(offset));
        }
        assert_eq!(read("2024-02-30 10:00"), None);
        // In UTC that is the year 0.
        assert_eq!(read("0001-01-01 00:30+01:00").unwrap().utc(7), None);
        assert_eq!(read("1970-01-01").unwrap().days, DAYS_TO_1970);
        assert_eq!(read("9999-12-31").unwrap().days, DAYS_END - 1);
        assert_eq!(read("1900-01-01").unwrap().days, DAYS_TO_1900);
    }

    #[test]
    fn a_datetime_keeps_what_it_shows() {
        let at = |text: &str| fragments(read(text).unwrap());
        assert_eq!(at("1900-01-01 00:00:00.003"), Some(1));
        assert_eq!(at("1900-01-01 00:00:00.007"), Some(2));
        assert_eq!(at("1900-01-01 00:00:00.010"), Some(3));
        assert_eq!(at("1900-01-01 00:00:00.001"), None);
        assert_eq!(at("1900-01-01 00:00:00.0033"), None);
        assert_eq!(
            at("9999-12-31 23:59:59.997"),
            Some((DAYS_END - DAYS_TO_1900) * DAY_FRAGMENTS - 1)
        );
        assert_eq!(at("1753-01-01"), Some(-53_690 * DAY_FRAGMENTS));
        assert_eq!(at("1752-12-31"), None);
        let at = |text: &str| minutes(read(text).unwrap());
        assert_eq!(at("1900-01-02 01:01"), Some(1501));
        assert_eq!(at("2079-06-06 23:59"), Some(65_536 * 1440 - 1));
        assert_eq!(at("2079-06-07"), None);
        assert_eq!(at("2000-01-01 00:00:01"), None);
    }

    #[test]
    fn what_is_read_is_written() {
        let mut out = Vec::new();
        put_date(DAYS_TO_1900 + 59, &mut out);
        out.push(b' ');
        put_clock(863_991_234_567, 7, &mut out);
        assert_eq!(out, b"1900-03-01 23:59:59.1234567");
    }
}
