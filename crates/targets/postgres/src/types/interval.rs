//! Intervals: microseconds, days and months, which don't make each other up.
//!
//! Read are ISO 8601 (`P1Y2M3DT4H5M6.789S`), and what the server writes: `1 year 2 mons -3 days +04:05:06.789`, `@ 1 year 2 mons ago`.
//! <https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-INTERVAL-INPUT>

use inrush_core::flow::Code;
use inrush_core::value::digits::{signed, split_digits};

use super::clock::{Fraction, HOUR, MINUTE, SECOND, sixtieth};
use super::number::whole;
use super::store::Misfit;

/// An interval type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Intervals {
    /// Digits of the seconds' fraction.
    digits: u8,
    /// The smallest unit that it keeps: of smaller ones the server leaves out what a value has, without a word
    /// (<https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-INTERVAL-INPUT>).
    least: Unit,
    /// Whether the server takes `4:05` for minutes and seconds.
    has_no_hours: bool,
}

/// Why a text isn't an interval that its column keeps.
enum Fault {
    Written,
    Range,
}

impl Intervals {
    /// The type of this name, `interval` or `interval year to month`; `None` where it is another.
    pub(super) fn named(name: &str, digits: u8) -> Option<Self> {
        let least = match name.strip_prefix("interval")? {
            "" => MICROSECOND,
            fields => unit(fields.rsplit(' ').next()?.as_bytes())?,
        };
        // Their digits say more.
        let least = if least.2 == SECONDS.2 { MICROSECOND } else { least };
        Some(Self { digits, least, has_no_hours: name == "interval minute to second" })
    }

    pub(super) fn encode<'a>(
        self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let span = match value {
            [b'P', rest @ ..] => Span::iso(rest),
            _ if self.has_no_hours && memchr::memchr_iter(b':', value).count() == 1 => {
                Err(Fault::Written)
            }
            _ => Span::words(value),
        };
        let span = span.map_err(|fault| match fault {
            Fault::Written => {
                (Code::Type, "an interval (1 year 2 mons 3 days 04:05:06, P1Y2M3DT4H5M6S)")
            }
            Fault::Range => (Code::Range, wanted),
        })?;
        let kept = span.end(self.digits).ok_or((Code::Range, wanted))?;
        if !self.keeps(kept) {
            return Err((Code::Range, wanted));
        }
        out.extend_from_slice(&kept.0.to_be_bytes());
        out.extend_from_slice(&kept.1.to_be_bytes());
        out.extend_from_slice(&kept.2.to_be_bytes());
        Ok(())
    }
}

impl Intervals {
    /// Whether nothing is smaller than the smallest unit.
    fn keeps(self, (micros, days, months): (i64, i32, i32)) -> bool {
        let Unit(part, size, _) = self.least;
        match part {
            Part::Micros => micros % size == 0,
            Part::Days => micros == 0,
            Part::Months => micros == 0 && days == 0 && i64::from(months) % size == 0,
        }
    }
}

/// What a unit counts.
#[derive(Clone, Copy, Debug)]
enum Part {
    Micros,
    Days,
    Months,
}

/// A unit of the server: what it is so many of, and a bit of its own.
#[derive(Clone, Copy, Debug)]
struct Unit(Part, i64, u16);

const MICROSECOND: Unit = Unit(Part::Micros, 1, 1);
const MILLISECOND: Unit = Unit(Part::Micros, 1000, 1 << 1);
const SECONDS: Unit = Unit(Part::Micros, SECOND, 1 << 2);
const MINUTES: Unit = Unit(Part::Micros, MINUTE, 1 << 3);
const HOURS: Unit = Unit(Part::Micros, HOUR, 1 << 4);
const DAYS: Unit = Unit(Part::Days, 1, 1 << 5);
const WEEKS: Unit = Unit(Part::Days, 7, 1 << 6);
const MONTHS: Unit = Unit(Part::Months, 1, 1 << 7);
const YEARS: Unit = Unit(Part::Months, 12, 1 << 8);
const DECADES: Unit = Unit(Part::Months, 120, 1 << 9);
const CENTURIES: Unit = Unit(Part::Months, 1200, 1 << 10);
const MILLENNIA: Unit = Unit(Part::Months, 12_000, 1 << 11);

/// All that a time of day or a fraction of a second says.
const SECOND_UNITS: u16 = 0b111;
const CLOCK_UNITS: u16 = 0b1_1111;

/// The server's words for its units. `m` is a minute or a month, as it pleases.
const WORDS: &[(Unit, &[&str])] = &[
    (MICROSECOND, &["us", "usec", "usecs", "useconds", "microsecond", "microseconds"]),
    (MILLISECOND, &["ms", "msec", "msecs", "mseconds", "millisecond", "milliseconds"]),
    (SECONDS, &["s", "sec", "secs", "second", "seconds"]),
    (MINUTES, &["min", "mins", "minute", "minutes"]),
    (HOURS, &["h", "hr", "hrs", "hour", "hours"]),
    (DAYS, &["d", "day", "days"]),
    (WEEKS, &["w", "week", "weeks"]),
    (MONTHS, &["mon", "mons", "month", "months"]),
    (YEARS, &["y", "yr", "yrs", "year", "years"]),
    (DECADES, &["dec", "decs", "decade", "decades"]),
    (CENTURIES, &["c", "cent", "century", "centuries"]),
    (MILLENNIA, &["mil", "mils", "millennium", "millennia"]),
];

fn unit(word: &[u8]) -> Option<Unit> {
    let is_named =
        |names: &[&str]| names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(word));
    WORDS.iter().find(|(_, names)| is_named(names)).map(|(unit, _)| *unit)
}

/// An interval while it is read.
#[derive(Debug, Default)]
struct Span {
    micros: i64,
    days: i64,
    months: i64,
    /// Units that have been there.
    seen: u16,
    fraction: Option<Fraction>,
}

impl Span {
    fn add(
        &mut self,
        unit: Unit,
        count: i64,
        fraction: Option<Fraction>,
        negative: bool,
    ) -> Result<(), Fault> {
        let Unit(part, size, bit) = unit;
        let mut bits = bit;
        if fraction.is_some() {
            // Of a day or a month nobody knows the halves, and the server rounds those of smaller units.
            if bit != SECONDS.2 {
                return Err(Fault::Written);
            }
            bits = SECOND_UNITS;
            self.fraction = fraction;
        }
        self.take(bits)?;
        let amount = count.checked_mul(size).ok_or(Fault::Range)?;
        let amount = amount
            .checked_add(fraction.map_or(0, |fraction| fraction.micros))
            .ok_or(Fault::Range)?;
        self.sum(part, if negative { -amount } else { amount })
    }

    /// Marks units as seen; each may come once.
    fn take(&mut self, bits: u16) -> Result<(), Fault> {
        if self.seen & bits != 0 {
            return Err(Fault::Written);
        }
        self.seen |= bits;
        Ok(())
    }

    fn sum(&mut self, part: Part, amount: i64) -> Result<(), Fault> {
        let sum = match part {
            Part::Micros => &mut self.micros,
            Part::Days => &mut self.days,
            Part::Months => &mut self.months,
        };
        *sum = sum.checked_add(amount).ok_or(Fault::Range)?;
        Ok(())
    }

    /// The amounts as they are stored.
    fn end(&self, digits: u8) -> Option<(i64, i32, i32)> {
        let fits = self.fraction.is_none_or(|fraction| fraction.fits(digits))
            && self.micros % 10_i64.pow(6 - u32::from(digits.min(6))) == 0;
        let (days, months) = (i32::try_from(self.days).ok()?, i32::try_from(self.months).ok()?);
        // These stand for infinity, from version 17 on.
        let is_infinite = [(i64::MAX, i32::MAX, i32::MAX), (i64::MIN, i32::MIN, i32::MIN)]
            .contains(&(self.micros, days, months));
        (fits && !is_infinite).then_some((self.micros, days, months))
    }

    /// ISO 8601's form with designators, behind its P. Each unit may come once, in their order.
    fn iso(mut b: &[u8]) -> Result<Self, Fault> {
        let mut span = Self::default();
        let mut units: &[(u8, Unit)] =
            &[(b'Y', YEARS), (b'M', MONTHS), (b'W', WEEKS), (b'D', DAYS)];
        let mut has_time = false;
        loop {
            if let [b'T', rest @ ..] = b
                && !has_time
                && !rest.is_empty()
            {
                units = &[(b'H', HOURS), (b'M', MINUTES), (b'S', SECONDS)];
                (b, has_time) = (rest, true);
            }
            let (negative, number) = match b {
                [b'-', rest @ ..] => (true, rest),
                rest => (false, rest),
            };
            let (digits, rest) = split_digits(number);
            let has_point = rest.first() == Some(&b'.');
            let (fraction, rest) = Fraction::parse(rest).ok_or(Fault::Written)?;
            let [designator, rest @ ..] = rest else { return Err(Fault::Written) };
            let at = units.iter().position(|(name, _)| name == designator).ok_or(Fault::Written)?;
            if digits.is_empty() {
                return Err(Fault::Written);
            }
            let count = whole(digits).ok_or(Fault::Range)?;
            span.add(units[at].1, count, has_point.then_some(fraction), negative)?;
            units = &units[at + 1..];
            b = rest;
            if b.is_empty() {
                return Ok(span);
            }
        }
    }

    /// Numbers with their units, and a time.
    fn words(value: &[u8]) -> Result<Self, Fault> {
        let mut span = Self::default();
        let mut words =
            value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).peekable();
        words.next_if_eq(&&b"@"[..]);
        let mut ago = false;
        // A sign in front of all may be meant for all; the server asks IntervalStyle.
        let mut was_negative = false;
        while let Some(word) = words.next() {
            if word.eq_ignore_ascii_case(b"ago") && span.seen != 0 && words.peek().is_none() {
                ago = true;
                break;
            }
            let (negative, number) = signed(word);
            if was_negative && number.len() == word.len() {
                return Err(Fault::Written);
            }
            was_negative |= negative;
            let (digits, rest) = split_digits(number);
            if digits.is_empty() {
                return Err(Fault::Written);
            }
            let count = whole(digits).ok_or(Fault::Range)?;
            if let [b':', clock @ ..] = rest {
                span.add_clock(count, clock, negative)?;
                continue;
            }
            let has_point = rest.first() == Some(&b'.');
            let (fraction, rest) = Fraction::parse(rest).ok_or(Fault::Written)?;
            let name = if rest.is_empty() { words.next().ok_or(Fault::Written)? } else { rest };
            let unit = unit(name).ok_or(Fault::Written)?;
            span.add(unit, count, has_point.then_some(fraction), negative)?;
        }
        if span.seen == 0 {
            return Err(Fault::Written);
        }
        if ago {
            let negated = |amount: i64| amount.checked_neg().ok_or(Fault::Range);
            (span.micros, span.days, span.months) =
                (negated(span.micros)?, negated(span.days)?, negated(span.months)?);
        }
        Ok(span)
    }

    /// `MM[:SS[.f+]]` behind hours.
    fn add_clock(&mut self, hours: i64, b: &[u8], negative: bool) -> Result<(), Fault> {
        let (minutes, b) = sixtieth(b).ok_or(Fault::Written)?;
        let (seconds, b) = match b {
            [b':', b @ ..] => sixtieth(b).ok_or(Fault::Written)?,
            [] => (0, b),
            _ => return Err(Fault::Written),
        };
        let (fraction, rest) = Fraction::parse(b).ok_or(Fault::Written)?;
        if !rest.is_empty() {
            return Err(Fault::Written);
        }
        self.take(CLOCK_UNITS)?;
        self.fraction = Some(fraction);
        let below = minutes * MINUTE + seconds * SECOND + fraction.micros;
        let amount = hours.checked_mul(HOUR).and_then(|amount| amount.checked_add(below));
        let amount = amount.ok_or(Fault::Range)?;
        self.sum(Part::Micros, if negative { -amount } else { amount })
    }
}
