//! Times of day, and offsets from UTC.

use inrush_core::flow::Code;
use inrush_core::value::digits::split_digits;

use super::number::whole;
use super::store::Misfit;

pub(super) const SECOND: i64 = 1_000_000;
pub(super) const MINUTE: i64 = 60 * SECOND;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;

/// Seconds, read from `SS[.f+]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    /// Of a second.
    pub(super) micros: i64,
    /// Whether digits that count follow the sixth.
    pub(super) has_more: bool,
}

impl Fraction {
    /// The digits behind a point; none where there is no point. `None` for a point without digits.
    pub(super) fn parse(b: &[u8]) -> Option<(Self, &[u8])> {
        let [b'.', rest @ ..] = b else {
            return Some((Self { micros: 0, has_more: false }, b));
        };
        let (digits, rest) = split_digits(rest);
        if digits.is_empty() {
            return None;
        }
        let digit = |at: usize| digits.get(at).map_or(0, |digit| i64::from(digit - b'0'));
        let micros = (0..6).fold(0, |micros, at| micros * 10 + digit(at));
        let has_more = digits.iter().skip(6).any(|digit| *digit != b'0');
        Some((Self { micros, has_more }, rest))
    }

    /// Whether so many digits are enough.
    pub(super) fn fits(self, digits: u8) -> bool {
        !self.has_more && self.micros % 10_i64.pow(6 - u32::from(digits.min(6))) == 0
    }
}

/// A time of day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) micros: i64,
    pub(super) fraction: Fraction,
}

impl Clock {
    /// `[H]H:MM[:SS[.f+]]`, and what follows it. Hours are those of a day, or 24:00:00.
    pub(super) fn parse(b: &[u8]) -> Option<(Self, &[u8])> {
        let (hours, b) = split_digits(b);
        let ([b':', minutes @ ..], true) = (b, (1..=2).contains(&hours.len())) else {
            return None;
        };
        let (minutes, b) = sixtieth(minutes)?;
        let (seconds, b) = match b {
            [b':', seconds @ ..] => sixtieth(seconds)?,
            // 10:11.5 is ten minutes and some seconds to the server.
            [b'.', ..] => return None,
            b => (0, b),
        };
        let (fraction, b) = Fraction::parse(b)?;
        let micros = whole(hours)? * HOUR + minutes * MINUTE + seconds * SECOND + fraction.micros;
        (micros <= DAY).then_some((Self { micros, fraction }, b))
    }
}

/// Two digits up to 59.
pub(super) fn sixtieth(b: &[u8]) -> Option<(i64, &[u8])> {
    let (number, rest) = b.split_at_checked(2)?;
    Some((whole(number).filter(|number| *number < 60)?, rest))
}

/// Seconds east of UTC, written as `Z`, `+HH`, `+HHMM`, `+HH:MM` or `+HH:MM:SS`, behind a blank or not. `Some(None)` where `b` is empty,
/// `None` where it is anything else.
pub(super) fn offset(b: &[u8]) -> Option<Option<i32>> {
    let (sign, b) = match b.strip_prefix(b" ").unwrap_or(b) {
        [] if b.is_empty() => return Some(None),
        [b'Z'] => return Some(Some(0)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, b) = b.split_at_checked(2)?;
    // As far as the server goes.
    let hours = whole(hours).filter(|hours| *hours <= 15)?;
    let (minutes, seconds) = match *b {
        [] => (0, 0),
        [_, _] => (sixtieth(b)?.0, 0),
        [b':', ref b @ ..] => match sixtieth(b)? {
            (minutes, []) => (minutes, 0),
            (minutes, [b':', b @ ..]) if b.len() == 2 => (minutes, sixtieth(b)?.0),
            _ => return None,
        },
        _ => return None,
    };
    Some(Some(sign * (hours * 3600 + minutes * 60 + seconds) as i32))
}

/// A type of times of day.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Digits of the seconds' fraction.
    pub(super) digits: u8,
    /// Whether they have an offset from UTC.
    pub(super) zone: bool,
    /// Whether it must be written: that of the session's zone depends on the day. Where it needn't, the zone is UTC.
    pub(super) wants_offset: bool,
}

impl Times {
    pub(super) fn encode<'a>(
        self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let misfit = match (self.zone, self.wants_offset) {
            (true, true) => (Code::Type, "a time of day with an offset from UTC (HH:MM:SS+HH:MM)"),
            (true, false) => (Code::Type, "a time of day (HH:MM:SS+HH:MM)"),
            (false, _) => (Code::Type, "a time of day without an offset (HH:MM:SS)"),
        };
        let (clock, rest) = Clock::parse(value).ok_or(misfit)?;
        let offset = offset(rest).ok_or(misfit)?;
        let is_unwanted = offset.is_some() && !self.zone;
        if is_unwanted || (offset.is_none() && self.wants_offset) {
            return Err(misfit);
        }
        if !clock.fraction.fits(self.digits) {
            return Err((Code::Range, wanted));
        }
        out.extend_from_slice(&clock.micros.to_be_bytes());
        if self.zone {
            // The server counts westwards.
            out.extend_from_slice(&(-offset.unwrap_or(0)).to_be_bytes());
        }
        Ok(())
    }
}
