//! Days, times of day, and both.

use inrush_scan::{self as scan, Zone};

use inrush_core::encode::Moment;
use inrush_core::flow::Code;
use inrush_core::value::rule;

use super::exact::Exact;
use super::store::{Kept, Misfit, Modes, settle};

const MIDNIGHT: &[u8; 8] = b"00:00:00";

/// A day as its column takes it: of the calendar, or what the server's modes add to that.
pub(super) fn keep_date(value: &[u8], strict: bool, modes: Modes) -> Result<Kept, Misfit<'static>> {
    let exists = scan::is_date(value)
        || (!strict && value.try_into().is_ok_and(|day| takes_day(day, true, modes)));
    if exists { Ok(Kept::AsIs) } else { Err(rule::DATE) }
}

/// Whether the server takes a day that [`scan::is_date`] doesn't. `at_midnight` is for the zero date, which has no other time.
fn takes_day(day: &[u8; 10], at_midnight: bool, modes: Modes) -> bool {
    /// Days of a month at most. The server knows no leap day in the year 0.
    const DAYS: [u8; 13] = [31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if scan::is_date(day) {
        return true;
    }
    let shape = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    if !day.iter().enumerate().all(shape) {
        return false;
    }
    let two = |at: usize| (day[at] - b'0') * 10 + (day[at + 1] - b'0');
    let (century, year, month, day) = (two(0), two(2), two(5), two(8));
    if (century, year, month, day) == (0, 0, 0, 0) && at_midnight {
        return modes.zero_date;
    }
    if month > 12 || day > 31 {
        return false;
    }
    if month == 0 || day == 0 {
        return modes.zero_in_date;
    }
    modes.invalid_dates || ((century, year) == (0, 0) && day <= DAYS[usize::from(month)])
}

/// The last day of which there are moments in a TIMESTAMP column. They begin in the second after 1970-01-01 00:00:00 UTC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastDay {
    /// As text.
    text: [u8; 10],
    /// Days since 1970-01-01.
    number: i64,
}

impl LastDay {
    /// Of 31 bits of seconds: 2038-01-19 03:14:07 (<https://dev.mysql.com/doc/refman/8.4/en/datetime.html>).
    pub(crate) const OF_31_BITS: Self = Self { text: *b"2038-01-19", number: 24_855 };

    /// Of 32 bits: 2106-02-07 06:28:15 (<https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/timestamp>).
    pub(crate) const OF_32_BITS: Self = Self { text: *b"2106-02-07", number: 49_710 };

    fn shown(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.text)
    }
}

/// The first day, where clocks are behind UTC.
const FIRST_DAY: &[u8] = b"1969-12-31";

const DAY_SECONDS: i64 = 86_400;

/// A datetime or a timestamp type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// Digits of the seconds' fraction.
    pub(super) digits: u8,
    /// Values carry an offset, and are stored in UTC...
    pub(super) utc: bool,
    /// ... and each has to. Else one without is in UTC already: what others wrote into an existing table.
    pub(super) zoned: bool,
    /// TIMESTAMP, which counts seconds since 1970...
    pub(super) counts: bool,
    /// ... up to some moment of this day.
    pub(super) last_day: LastDay,
}

/// `YYYY-MM-DD HH:MM:SS.ffffff`.
type MomentText = [u8; 26];

impl Moments {
    /// Keeps a moment that is written to the second, as nearly all are. `None` says nothing; ask [`Moments::keep`].
    #[inline(always)]
    pub(super) fn keep_plain(&self, value: &[u8], out: &mut Vec<u8>) -> Option<Kept> {
        let text: &[u8; 19] = value.try_into().ok()?;
        let is_wanted = self.utc && self.zoned;
        if is_wanted || scan::timestamp(text) != Some(Zone::None) || !self.has_day(text) {
            return None;
        }
        if self.digits == 0 && text[10] == b' ' {
            return Some(Kept::AsIs);
        }
        let mut shown = *b"YYYY-MM-DD HH:MM:SS.000000";
        shown[..19].copy_from_slice(text);
        shown[10] = b' ';
        out.extend_from_slice(self.cut(&shown));
        Some(Kept::Written)
    }

    /// Keeps a moment that fits. `None` says nothing; ask [`Moments::keep`] for the text.
    #[inline]
    pub(super) fn keep_moment(&self, moment: Moment) -> Option<Exact> {
        let digits = self.digits.min(6);
        let day = moment.is_common().then(|| moment.seconds.div_euclid(DAY_SECONDS))?;
        let fits = (moment.zone == self.utc || !moment.zone && !self.zoned)
            && moment.nanos.is_multiple_of(10_u32.pow(9 - u32::from(digits)))
            && (!self.counts || (-1..=self.last_day.number).contains(&day));
        fits.then_some(Exact::Moment { moment, digits })
    }

    /// As many digits as the column has.
    #[inline(always)]
    fn cut<'t>(&self, text: &'t MomentText) -> &'t [u8] {
        let point = usize::from(self.digits > 0);
        &text[..19 + point + usize::from(self.digits.min(6))]
    }

    pub(super) fn keep<'a>(
        &self,
        value: &[u8],
        strict: bool,
        modes: Modes,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        // Zone::None and that length: there are as many digits as the column has.
        let digits = usize::from(self.digits);
        if !(self.utc && self.zoned)
            && value.len() == 20 + digits
            && value[10] == b' '
            && scan::timestamp(value) == Some(Zone::None)
            && self.has_day(value)
        {
            return Ok(Kept::AsIs);
        }
        let is_zoned = || self.zoned || scan::timestamp(value) == Some(Zone::Offset);
        let text = if self.utc && is_zoned() {
            let text = in_utc(value, wanted)?;
            if !self.has_day(&text) {
                return Err((Code::Range, wanted));
            }
            text
        } else {
            self.local(value, strict, modes, wanted)?
        };
        let kept = self.cut(&text);
        if text[kept.len()..].iter().any(|byte| byte.is_ascii_digit() && *byte != b'0') {
            return Err((Code::Range, wanted));
        }
        let start = out.len();
        out.extend_from_slice(kept);
        Ok(settle(value, start, out))
    }

    /// A moment without an offset.
    fn local<'a>(
        &self,
        value: &[u8],
        strict: bool,
        modes: Modes,
        wanted: &'a str,
    ) -> Result<MomentText, Misfit<'a>> {
        const NO_MOMENT: Misfit<'static> = rule::TIMESTAMP;
        let (date, rest) = value.split_first_chunk::<10>().ok_or(NO_MOMENT)?;
        let mut text = *b"YYYY-MM-DD 00:00:00.000000";
        text[..10].copy_from_slice(date);
        if strict || !rest.is_empty() {
            // The time is read behind a day that exists: the server may take days that the calendar hasn't.
            let mut probe = [0; 40];
            let probe = probe.get_mut(..value.len()).ok_or(NO_MOMENT)?;
            probe[..10].copy_from_slice(b"2000-01-01");
            probe[10..].copy_from_slice(rest);
            match scan::timestamp(probe) {
                Some(Zone::None) => {}
                Some(Zone::Offset) => {
                    return Err((Code::Type, "a timestamp without an offset from UTC"));
                }
                None => return Err(NO_MOMENT),
            }
            let time = &rest[1..];
            let seconds = time.len().min(MIDNIGHT.len());
            text[11..11 + seconds].copy_from_slice(&time[..seconds]);
            let fraction = time.get(9..).unwrap_or_default();
            if fraction.iter().skip(6).any(|digit| *digit != b'0') {
                return Err((Code::Range, wanted));
            }
            let digits = fraction.len().min(6);
            text[20..20 + digits].copy_from_slice(&fraction[..digits]);
        }
        let at_midnight = text[11..].iter().all(|byte| matches!(byte, b'0' | b':' | b'.'));
        let exists = if strict { scan::is_date(date) } else { takes_day(date, at_midnight, modes) };
        if !exists {
            return Err(NO_MOMENT);
        }
        let counts = self.has_day(date) && (!self.counts || scan::is_date(date));
        if !(counts || date == b"0000-00-00" && at_midnight) {
            return Err((Code::Range, wanted));
        }
        Ok(text)
    }

    /// Whether a timestamp may fall on the day. At which hour the first one begins and the last one ends depends on the session's zone,
    /// so of those two the server has the last word.
    #[inline(always)]
    fn has_day(&self, text: &[u8]) -> bool {
        !self.counts || (FIRST_DAY..=self.last_day.text.as_slice()).contains(&&text[..10])
    }

    /// The days that there are, in words.
    pub(super) fn days(&self) -> String {
        match self.counts {
            true => format!(" (1970-01-01 to {})", self.last_day.shown()),
            false => String::new(),
        }
    }
}

/// A moment with an offset.
fn in_utc<'a>(value: &[u8], wanted: &'a str) -> Result<MomentText, Misfit<'a>> {
    if scan::timestamp(value) != Some(Zone::Offset) {
        return Err((
            Code::Type,
            "a timestamp with an offset from UTC (YYYY-MM-DD HH:MM:SS+HH:MM)",
        ));
    }
    scan::timestamp_micros(value).and_then(scan::timestamp_text).ok_or((Code::Range, wanted))
}

/// A time type: hours may be more than a day has, and negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Digits of the seconds' fraction.
    pub(super) digits: u8,
}

impl Times {
    pub(super) fn keep<'a>(
        self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        const NO_TIME: Misfit<'static> = (Code::Type, "a time (HH:MM:SS)");
        if let Some(duration) = value.strip_prefix(b"PT") {
            let text = clock_of(duration).ok_or(NO_TIME)?.ok_or((Code::Range, wanted))?;
            if self.keep(&text, wanted, out)? == Kept::AsIs {
                out.extend_from_slice(&text);
            }
            return Ok(Kept::Written);
        }
        let (negative, time) = match value {
            [b'-', time @ ..] => (true, time),
            _ => (false, value),
        };
        let colon = memchr::memchr(b':', time).ok_or(NO_TIME)?;
        let (hours, rest) = (&time[..colon], &time[colon + 1..]);
        let (minutes, seconds, fraction) = match rest {
            [m1, m2] => ([*m1, *m2], *b"00", &[] as &[u8]),
            [m1, m2, b':', s1, s2] => ([*m1, *m2], [*s1, *s2], &[] as &[u8]),
            [m1, m2, b':', s1, s2, b'.', fraction @ ..] if !fraction.is_empty() => {
                ([*m1, *m2], [*s1, *s2], fraction)
            }
            _ => return Err(NO_TIME),
        };
        let are_digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
        let is_sixtieth = |two: [u8; 2]| are_digits(&two) && two[0] <= b'5';
        if !(1..=3).contains(&hours.len())
            || !are_digits(hours)
            || !are_digits(fraction)
            || !is_sixtieth(minutes)
            || !is_sixtieth(seconds)
        {
            return Err(NO_TIME);
        }
        let digits = usize::from(self.digits);
        let number = hours.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
        let has_more = |from: usize| fraction.iter().skip(from).any(|digit| *digit != b'0');
        // Beyond 838:59:59 even its fraction isn't kept by every server.
        let is_last = (number, minutes, seconds) == (838, *b"59", *b"59");
        if number > 838 || has_more(digits) || (is_last && has_more(0)) {
            return Err((Code::Range, wanted));
        }
        let start = out.len();
        let is_zero = number == 0 && (minutes, seconds) == (*b"00", *b"00") && !has_more(0);
        if negative && !is_zero {
            out.push(b'-');
        }
        match hours {
            [hour] => out.extend_from_slice(&[b'0', *hour]),
            [b'0', hours @ ..] if hours.len() == 2 => out.extend_from_slice(hours),
            hours => out.extend_from_slice(hours),
        }
        out.push(b':');
        out.extend_from_slice(&minutes);
        out.push(b':');
        out.extend_from_slice(&seconds);
        if digits > 0 {
            out.push(b'.');
            let fraction = fraction.iter().copied().chain(std::iter::repeat(b'0'));
            out.extend(fraction.take(digits));
        }
        Ok(settle(value, start, out))
    }
}

/// The time that a duration is of which this comes behind `PT`, as programs' durations are written: `-93600.5S` is `-26:00:00.5`.
/// `None` where it is written otherwise, `Some(None)` where it has more hours than any time has.
fn clock_of(duration: &[u8]) -> Option<Option<Vec<u8>>> {
    let text = std::str::from_utf8(duration).ok()?.strip_suffix('S')?;
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    if whole.is_empty() || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = whole.parse::<u64>().ok().filter(|seconds| seconds / 3_600 <= 838);
    Some(seconds.map(|seconds| {
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}").into_bytes()
    }))
}

/// A year: four digits, for two are taken for this century or the last.
pub(super) fn keep_year(value: &[u8]) -> Result<Kept, Misfit<'static>> {
    if value.len() != 4 || !value.iter().all(u8::is_ascii_digit) {
        return Err((Code::Type, "a year of four digits"));
    }
    if value == b"0000" || (b"1901".as_slice()..=b"2155".as_slice()).contains(&value) {
        Ok(Kept::AsIs)
    } else {
        Err((Code::Range, "a year (1901 to 2155, 0000)"))
    }
}
