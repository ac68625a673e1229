//! Dates, timestamps and booleans, as text.
//!
//! The calendar is the proleptic Gregorian one, years 0001 to 9999. Offsets from UTC reach from
//! -14:00 to +14:00, as far as any zone and the strictest of the databases do. What isn't written
//! in one of the forms below is text, so nothing here guesses.

/// Whether a timestamp names its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// It doesn't.
    None,
    /// `Z`, `+HH`, `+HH:MM` or `+HHMM`, with `-` likewise.
    Offset,
}

/// A calendar day.
#[derive(Clone, Copy)]
struct Day {
    year: u16,
    month: u8,
    day: u8,
}

impl Day {
    /// Days since 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day is the last day of its year; 400 years
    /// (an era) have 146,097 days, and 0000-03-01 is 719,468 days before 1970-01-01. The months
    /// from March on have 31, 30, 31, 30, 31 days again and again, which `(153 * month + 2) / 5`
    /// sums.
    fn number(self) -> i32 {
        let (year, month) = (i32::from(self.year), i32::from(self.month));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let leap_days = year / 4 - year / 100 + year / 400;
        let day_of_year = (153 * month + 2) / 5 + i32::from(self.day) - 1;
        365 * year + leap_days + day_of_year - 719_468
    }

    /// The day with that number; `None` beyond the years 0001 to 9999.
    fn numbered(number: i64) -> Option<Self> {
        let days = number + 719_468;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        // Leap days, that of the era's end too, would make the quotient grow too early.
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let (year, month) = match 400 * era + year_of_era {
            year if month < 10 => (year, month + 3),
            year => (year + 1, month - 9),
        };
        (1..=9999).contains(&year).then_some(Self {
            year: year as u16,
            month: month as u8,
            day: day as u8,
        })
    }
}

/// The number that two digits write.
#[inline]
fn two(b: &[u8; 2]) -> Option<u8> {
    let (tens, ones) = (b[0].wrapping_sub(b'0'), b[1].wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| tens * 10 + ones)
}

/// Reads eight bytes that are written as `form` says, which has a 0 for every digit. Of the answer,
/// a byte is the number that the two digits from there on write.
#[inline(always)]
fn pairs(b: &[u8; 8], form: &[u8; 8]) -> Option<[u8; 8]> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // What takes the largest byte that is allowed, 9 or 0, to 0x7f.
    let room = u64::from_le_bytes(form.map(|byte| if byte == b'0' { 0x7f - 9 } else { 0x7f }));
    let values = u64::from_le_bytes(*b) ^ u64::from_le_bytes(*form);
    // Only from a byte that has its high bit set can the addition carry into the next.
    let too_large = (values | values.wrapping_add(room)) & HIGH;
    // No pair of digits is more than 99, so here nothing is carried either.
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    (too_large == 0).then(|| pairs.to_le_bytes())
}

/// Takes `YYYY-MM-DD` apart.
#[inline(always)]
fn day(b: &[u8; 10]) -> Option<Day> {
    /// Days of a month, February's without the leap day.
    const DAYS: [u8; 16] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0];
    let (year_month, month_day) = (b.first_chunk()?, b.last_chunk()?);
    let [century, _, year, _, _, month, ..] = pairs(year_month, b"0000-00-")?;
    let [.., day, _] = pairs(month_day, b"00-00-00")?;
    let year = u16::from(century) * 100 + u16::from(year);
    let leap_day = || year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let exists = (1..=*DAYS.get(usize::from(month))?).contains(&day)
        || (month, day) == (2, 29) && leap_day();
    (year >= 1 && exists).then_some(Day { year, month, day })
}

/// Whether `b` is `YYYY-MM-DD` and the calendar has that day.
#[inline]
#[must_use]
pub fn is_date(b: &[u8]) -> bool {
    b.try_into().is_ok_and(|b| day(b).is_some())
}

/// Days since 1970-01-01 of `YYYY-MM-DD`.
#[inline]
#[must_use]
pub fn date_days(b: &[u8]) -> Option<i32> {
    day(b.try_into().ok()?).map(Day::number)
}

/// A timestamp taken apart.
struct Moment {
    day: Day,
    /// Seconds since midnight.
    seconds: u32,
    nanoseconds: u32,
    /// East of UTC, when the zone is named.
    offset_minutes: Option<i32>,
}

/// `HH:MM`, as minutes since midnight.
#[inline]
fn clock(b: &[u8; 5]) -> Option<u32> {
    let [h1, h2, b':', m1, m2] = *b else { return None };
    let (hour, minute) = (two(&[h1, h2])?, two(&[m1, m2])?);
    (hour <= 23 && minute <= 59).then_some(u32::from(hour) * 60 + u32::from(minute))
}

/// Takes `YYYY-MM-DD[ T]HH:MM[:SS[.f{1,9}]][zone]` apart.
#[inline(always)]
fn moment(b: &[u8]) -> Option<Moment> {
    let (date, b) = b.split_first_chunk::<10>()?;
    let day = day(date)?;
    // Nearly all timestamps are written to the second.
    if let [b' ' | b'T', time @ ..] = b
        && let Ok(time) = time.try_into()
        && let Some([hour, _, _, minute, _, _, second, _]) = pairs(time, b"00:00:00")
    {
        let seconds = (u32::from(hour) * 60 + u32::from(minute)) * 60 + u32::from(second);
        let exists = (hour <= 23) & (minute <= 59) & (second <= 59);
        return exists.then_some(Moment { day, seconds, nanoseconds: 0, offset_minutes: None });
    }
    moment_of_day(day, b)
}

/// [`moment`] for any way to write the time.
fn moment_of_day(day: Day, b: &[u8]) -> Option<Moment> {
    let ([b' ' | b'T', time @ ..], mut b) = b.split_first_chunk::<6>()? else { return None };
    let mut seconds = clock(time)? * 60;
    let mut nanoseconds = 0;
    if let [b':', s1, s2, rest @ ..] = b {
        let second = two(&[*s1, *s2])?;
        if second > 59 {
            return None;
        }
        seconds += u32::from(second);
        b = rest;
        if let [b'.', rest @ ..] = b {
            (nanoseconds, b) = fraction(rest)?;
        }
    }
    Some(Moment { day, seconds, nanoseconds, offset_minutes: zone(b)? })
}

/// Nanoseconds written by one to nine digits, and what follows them.
#[inline]
fn fraction(b: &[u8]) -> Option<(u32, &[u8])> {
    let digits = b.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=9).contains(&digits) {
        return None;
    }
    let (written, rest) = b.split_at(digits);
    let value = written.iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
    Some((value * 10_u32.pow(9 - digits as u32), rest))
}

/// Minutes east of UTC; `Some(None)` when `b` is empty, `None` when it is no zone.
#[inline]
fn zone(b: &[u8]) -> Option<Option<i32>> {
    let b = match b {
        [] => return Some(None),
        [b' ', zone @ ..] => zone,
        zone => zone,
    };
    let (sign, hour, minute) = match *b {
        [b'Z'] => return Some(Some(0)),
        [sign, h1, h2] => (sign, two(&[h1, h2])?, 0),
        [sign, h1, h2, m1, m2] | [sign, h1, h2, b':', m1, m2] => {
            (sign, two(&[h1, h2])?, two(&[m1, m2])?)
        }
        _ => return None,
    };
    let minutes = i32::from(hour) * 60 + i32::from(minute);
    match sign {
        _ if minute > 59 || minutes > 14 * 60 => None,
        b'+' => Some(Some(minutes)),
        b'-' => Some(Some(-minutes)),
        _ => None,
    }
}

/// Whether `b` is `YYYY-MM-DD[ T]HH:MM[:SS[.f{1,9}]]`, and whether a zone follows (an optional
/// blank between). Leap seconds (`:60`) and `24:00` aren't timestamps.
#[inline]
#[must_use]
pub fn timestamp(b: &[u8]) -> Option<Zone> {
    moment(b).map(|moment| match moment.offset_minutes {
        None => Zone::None,
        Some(_) => Zone::Offset,
    })
}

/// What a timestamp says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Since 1970-01-01 00:00:00, in UTC when the zone is named.
    pub seconds: i64,
    /// Below a thousand million.
    pub nanoseconds: u32,
    /// Whether the zone is named.
    pub zone: Zone,
}

/// Reads what [`timestamp`] takes.
#[inline]
#[must_use]
pub fn read_timestamp(b: &[u8]) -> Option<Timestamp> {
    let moment = moment(b)?;
    let offset = i64::from(moment.offset_minutes.unwrap_or(0)) * 60;
    Some(Timestamp {
        seconds: i64::from(moment.day.number()) * 86_400 + i64::from(moment.seconds) - offset,
        nanoseconds: moment.nanoseconds,
        zone: if moment.offset_minutes.is_some() { Zone::Offset } else { Zone::None },
    })
}

/// Microseconds since 1970-01-01 00:00:00, in UTC when the zone is named. `None` also when there
/// are nanoseconds to lose.
#[inline]
#[must_use]
pub fn timestamp_micros(b: &[u8]) -> Option<i64> {
    let moment = read_timestamp(b)?;
    if moment.nanoseconds % 1000 != 0 {
        return None;
    }
    Some(moment.seconds * 1_000_000 + i64::from(moment.nanoseconds / 1000))
}

/// `YYYY-MM-DD HH:MM:SS.ffffff` of a moment: what [`timestamp_micros`] reads. `None` beyond the years 0001 to 9999.
#[must_use]
pub fn timestamp_text(micros: i64) -> Option<[u8; 26]> {
    const DAY: i64 = 86_400 * 1_000_000;
    let day = Day::numbered(micros.div_euclid(DAY))?;
    let micros = micros.rem_euclid(DAY);
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let mut text = *b"YYYY-MM-DD HH:MM:SS.ffffff";
    let mut put = |at: usize, number: i64| {
        text[at] = b'0' + (number / 10) as u8;
        text[at + 1] = b'0' + (number % 10) as u8;
    };
    put(0, i64::from(day.year / 100));
    put(2, i64::from(day.year % 100));
    put(5, i64::from(day.month));
    put(8, i64::from(day.day));
    put(11, seconds / 3600);
    put(14, seconds / 60 % 60);
    put(17, seconds % 60);
    put(20, micros / 10_000);
    put(22, micros / 100 % 100);
    put(24, micros % 100);
    Some(text)
}

/// `true`, `True`, `TRUE` and `false` likewise; nothing else.
#[inline]
#[must_use]
pub fn is_boolean(b: &[u8]) -> Option<bool> {
    match b {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}
