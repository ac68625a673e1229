//! Days, and moments of them.
//!
//! The server counts from 2000-01-01, in days or microseconds:
//! <https://www.postgresql.org/docs/current/datatype-datetime.html>.

use inrush_scan as scan;

use inrush_core::encode::Moment;
use inrush_core::flow::Code;
use inrush_core::value::digits::split_digits;
use inrush_core::value::rule::DATE;

use super::clock::{Clock, DAY, SECOND, offset};
use super::number::whole;
use super::store::Misfit;

/// Days from 1970-01-01 to 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
pub(super) const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * DAY;

/// 4714-11-24 BC, the first day that the server has.
const DAY_MIN: i64 = -2_451_545;
/// 5874897-12-31.
const DAY_MAX: i64 = 2_145_031_948;
/// 294277-01-01, the first day that timestamps don't reach.
const MOMENT_DAY_END: i64 = 106_751_983;

/// A time without end, or without beginning.
fn infinity(value: &[u8]) -> Option<bool> {
    let (later, word) = match value {
        [b'-', word @ ..] => (false, word),
        word => (true, word),
    };
    word.eq_ignore_ascii_case(b"infinity").then_some(later)
}

/// Without the ` BC` at its end, and whether there was one.
fn split_era(value: &[u8]) -> (&[u8], bool) {
    match value {
        [rest @ .., b' ', b'B' | b'b', b'C' | b'c'] => (rest, true),
        _ => (value, false),
    }
}

/// What keeps out a day before the year 1, as other programs count years: there is a year 0 to them, and before it are those below.
fn misfit_of(value: &[u8], usual: Misfit<'static>) -> Misfit<'static> {
    match value {
        [b'0', b'0', b'0', b'0', b'-', ..] | [b'-', b'0'..=b'9', ..] => {
            (Code::Range, "days from the year 1 on: one before is written 0044-03-15 BC")
        }
        _ => usual,
    }
}

/// Reads `YYYY-MM-DD`, of which the year may have more digits: days since 2000-01-01, and what follows.
fn day(value: &[u8], before_christ: bool) -> Option<(i64, &[u8])> {
    const MONTH_DAYS: [i64; 13] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (year, rest) = split_digits(value);
    let ([b'-', m1, m2, b'-', d1, d2, rest @ ..], 4..=7) = (rest, year.len()) else { return None };
    let (year, month, day) = (whole(year)?, whole(&[*m1, *m2])?, whole(&[*d1, *d2])?);
    if year == 0 {
        return None;
    }
    // The year before the year 1 is 1 BC: there the calendar has its year 0.
    let year = if before_christ { 1 - year } else { year };
    let has_leap_day = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = MONTH_DAYS.get(month as usize)? + i64::from(month == 2 && has_leap_day);
    if !(1..=last).contains(&day) {
        return None;
    }
    // Years from March on end in their leap day; from there on months have 31, 30, 31, 30, 31 days, again and again.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1;
    // 2000-01-01, counted likewise.
    Some((days - 730_425, rest))
}

/// Encodes a day, given in days since 1970-01-01, in the years 1 to 9999.
#[inline(always)]
pub(super) fn put_date(days: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&(days - EPOCH_DAYS).to_be_bytes());
}

/// Encodes a day written as `YYYY-MM-DD`. `false` says nothing; ask [`encode_date`].
#[inline(always)]
pub(super) fn encode_plain_date(value: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(days) = scan::date_days(value) else { return false };
    put_date(days, out);
    true
}

pub(super) fn encode_date<'a>(
    value: &[u8],
    strict: bool,
    wanted: &'a str,
    out: &mut Vec<u8>,
) -> Result<(), Misfit<'a>> {
    if strict {
        return Err(DATE);
    }
    let days = match infinity(value) {
        Some(later) => {
            if later {
                i32::MAX
            } else {
                i32::MIN
            }
        }
        None => {
            let (value, before_christ) = split_era(value);
            match day(value, before_christ) {
                Some((days, [])) if (DAY_MIN..=DAY_MAX).contains(&days) => days as i32,
                Some((_, [])) => return Err((Code::Range, wanted)),
                _ => return Err(misfit_of(value, DATE)),
            }
        }
    };
    out.extend_from_slice(&days.to_be_bytes());
    Ok(())
}

/// A timestamp type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// Digits of the seconds' fraction.
    pub(super) digits: u8,
    /// Whether they are moments of UTC, and not of whatever clock hangs there.
    pub(super) zone: bool,
    /// Whether values must say how far from UTC they are. Where they needn't, the session's zone is UTC.
    pub(super) wants_offset: bool,
}

impl Moments {
    /// Encodes a moment that is written to the second, as nearly all are. `false` says nothing; ask [`Moments::encode`].
    #[inline(always)]
    pub(super) fn encode_plain(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        // With a colon there the length leaves no room for an offset.
        let Ok(text) = <&[u8; 19]>::try_from(value) else { return false };
        if text[16] != b':' || self.wants_offset {
            return false;
        }
        let Some(micros) = scan::timestamp_micros(text) else { return false };
        out.extend_from_slice(&(micros - EPOCH_MICROS).to_be_bytes());
        true
    }

    /// Encodes a moment that fits. `false` says nothing; ask [`Moments::encode`] for the text.
    #[inline]
    pub(super) fn encode_moment(&self, moment: Moment, out: &mut Vec<u8>) -> bool {
        match moment.micros() {
            Some(micros)
                if moment.is_common() && self.zone == moment.zone && self.has_digits(micros) =>
            {
                out.extend_from_slice(&(micros - EPOCH_MICROS).to_be_bytes());
                true
            }
            _ => false,
        }
    }

    /// Whether values may be written with an offset, or without.
    #[inline]
    fn is_told(&self, has_offset: bool) -> bool {
        if self.zone { has_offset || !self.wants_offset } else { !has_offset }
    }

    /// Whether the column has the digits that the value's fraction needs.
    #[inline]
    fn has_digits(&self, micros: i64) -> bool {
        micros % 10_i64.pow(6 - u32::from(self.digits.min(6))) == 0
    }

    fn misfit(&self) -> Misfit<'static> {
        let wanted = match (self.zone, self.wants_offset) {
            (true, true) => "a timestamp with an offset from UTC (YYYY-MM-DD HH:MM:SS+HH:MM)",
            (true, false) => "a timestamp (YYYY-MM-DD HH:MM:SS+HH:MM)",
            (false, _) => "a timestamp without an offset (YYYY-MM-DD HH:MM:SS)",
        };
        (Code::Type, wanted)
    }

    pub(super) fn encode<'a>(
        &self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        if self.encode_usual(value, out) {
            return Ok(());
        }
        if strict && scan::timestamp(value).is_none() {
            return Err(self.misfit());
        }
        let micros = match infinity(value) {
            Some(later) => {
                if later {
                    i64::MAX
                } else {
                    i64::MIN
                }
            }
            None => self.micros(value, wanted)?,
        };
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(())
    }

    /// Encodes a moment as programs write it, with a fraction or an offset.
    fn encode_usual(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(micros) = scan::timestamp_micros(value) else { return false };
        let has_offset = value[16..].iter().any(|byte| matches!(byte, b'Z' | b'+' | b'-'));
        if !self.is_told(has_offset) || !self.has_digits(micros) {
            return false;
        }
        out.extend_from_slice(&(micros - EPOCH_MICROS).to_be_bytes());
        true
    }

    /// Whether the value says how far from UTC it is, as far as it is a moment at all.
    pub(super) fn has_offset(&self, value: &[u8]) -> bool {
        let told = Self { wants_offset: true, ..*self };
        !matches!(told.encode(value, false, "", &mut Vec::new()), Err((Code::Type, _)))
    }

    /// Microseconds since 2000-01-01.
    fn micros<'a>(&self, value: &[u8], wanted: &'a str) -> Result<i64, Misfit<'a>> {
        let misfit = self.misfit();
        let (value, before_christ) = split_era(value);
        let (day, rest) = day(value, before_christ).ok_or(misfit_of(value, misfit))?;
        let (clock, rest) = match rest {
            // A day alone is its midnight.
            [] => (0, rest),
            [b' ' | b'T', rest @ ..] => {
                let (clock, rest) = Clock::parse(rest).ok_or(misfit)?;
                // The server takes 24:00 for the next day.
                if clock.micros == DAY {
                    return Err(misfit);
                }
                if !clock.fraction.fits(self.digits) {
                    return Err((Code::Range, wanted));
                }
                (clock.micros, rest)
            }
            _ => return Err(misfit),
        };
        let offset = match offset(rest).ok_or(misfit)? {
            None if self.wants_offset => return Err(misfit),
            Some(_) if !self.zone => return Err(misfit),
            offset => i64::from(offset.unwrap_or(0)),
        };
        // Of 63 bits; a day too many doesn't overflow them.
        if !(DAY_MIN - 1..=MOMENT_DAY_END).contains(&day) {
            return Err((Code::Range, wanted));
        }
        day.checked_mul(DAY)
            .and_then(|micros| micros.checked_add(clock - offset * SECOND))
            .filter(|micros| (DAY_MIN * DAY..MOMENT_DAY_END * DAY).contains(micros))
            .ok_or((Code::Range, wanted))
    }
}
