//! What a text is as a value of a column, and what can't be kept as it is.

use inrush_scan::{self as scan, Zone};

use inrush_core::Type;
use inrush_core::encode::Moment;
use inrush_core::flow::Code;
use inrush_core::moments::finite_moments;
use inrush_core::value::double::{self, Specials};
use inrush_core::value::hex;
use inrush_core::value::rule::{self, Truths};

/// Why a value doesn't fit: what sort of fault, and what the column takes.
pub(super) type Misfit = rule::Misfit<'static>;

/// Whole numbers of one width.
pub(super) trait Whole: Copy + TryFrom<i64> + TryFrom<i128> {
    /// What a column of these takes.
    const WANTED: &'static str;
}

macro_rules! whole {
    ($($ty:ty: $wanted:literal,)*) => {
        $(impl Whole for $ty {
            const WANTED: &'static str = $wanted;
        })*
    };
}

whole! {
    i8: "an integer of 8 bits",
    i16: "an integer of 16 bits",
    i32: "an integer of 32 bits",
    i64: "an integer of 64 bits",
    u8: "an unsigned integer of 8 bits",
    u16: "an unsigned integer of 16 bits",
    u32: "an unsigned integer of 32 bits",
    u64: "an unsigned integer of 64 bits",
}

pub(super) fn whole<T: Whole>(value: &[u8], strict: bool) -> Result<T, Misfit> {
    let number = rule::integer(value, (i128::MIN, i128::MAX), strict, T::WANTED)?;
    T::try_from(number).map_err(|_| (Code::Range, T::WANTED))
}

pub(super) fn double(value: &[u8], strict: bool) -> Result<f64, Misfit> {
    double::kept(value, strict, Specials::All)
}

pub(super) fn single(value: &[u8], strict: bool) -> Result<f32, Misfit> {
    double::single(value, strict, Specials::All).map_err(|fault| fault.misfit("a float of 32 bits"))
}

/// Appends the bytes that text stands for: characters of ASCII for themselves, and `\xHH` for any byte. What it has appended of a text that
/// is none stays.
pub(super) fn unescape(text: &[u8], out: &mut Vec<u8>) -> Result<(), Misfit> {
    const NO_BYTES: Misfit = (
        Code::Type,
        "bytes (ASCII, and \\xHH for others; --type COLUMN=bytes takes the file's own)",
    );
    if !text.is_ascii() {
        return Err(NO_BYTES);
    }
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let [_, b'x', high, low, tail @ ..] = &rest[at..] else { return Err(NO_BYTES) };
        let (high, low) = hex::digit(*high).zip(hex::digit(*low)).ok_or(NO_BYTES)?;
        out.push(high << 4 | low);
        rest = tail;
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// A decimal type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimals {
    precision: u8,
    scale: u8,
    /// 10^precision.
    end: i128,
}

impl Decimals {
    /// `precision` is at most 38, `scale` at most `precision`.
    pub(super) fn new(precision: u8, scale: u8) -> Self {
        Self { precision, scale, end: 10_i128.pow(u32::from(precision)) }
    }

    /// The digits of `-?(0|[1-9][0-9]*)(\.[0-9]+)?`, where those are up to 18 and not all 0 behind a sign, and fit. `None` says
    /// nothing; ask [`Decimals::keep`].
    #[inline(always)]
    pub(super) fn plain(self, value: &[u8]) -> Option<i128> {
        let negative = value.first() == Some(&b'-');
        let text = &value[usize::from(negative)..];
        if !(1..=19).contains(&text.len()) {
            return None;
        }
        let (mut number, mut point) = (0_u64, text.len());
        for (at, byte) in text.iter().enumerate() {
            match byte.wrapping_sub(b'0') {
                digit @ 0..=9 => number = number.wrapping_mul(10).wrapping_add(u64::from(digit)),
                _ if *byte == b'.' && point == text.len() => point = at,
                _ => return None,
            }
        }
        // Without the point.
        let fraction = (text.len() - point).saturating_sub(1);
        let is_padded = text[0] == b'0' && point > 1;
        let has_loose_point = point < text.len() && (point == 0 || fraction == 0);
        let missing = usize::from(self.scale).checked_sub(fraction)?;
        let is_long = point + fraction > 18;
        if is_padded || has_loose_point || is_long || (negative && number == 0) {
            return None;
        }
        let number = i128::from(number).checked_mul(10_i128.pow(missing as u32))?;
        let number = if negative { -number } else { number };
        (number.abs() < self.end).then_some(number)
    }

    pub(super) fn keep(self, value: &[u8], strict: bool) -> Result<i128, Misfit> {
        const WANTED: &str = "a decimal of the column's precision and scale";
        let number = rule::decimal(value, Some(self.scale.into()), strict, WANTED)?;
        let (whole, fraction) = number.size();
        let is_zero = (whole, fraction) == (0, 0);
        let (whole_max, scale) = (i64::from(self.precision - self.scale), i64::from(self.scale));
        if whole > whole_max || fraction > scale {
            return Err((Code::Range, WANTED));
        }
        let point = number.point();
        // Those before the first that counts are zeros.
        let digits = (point - whole..point + scale).map(|place| i128::from(number.digit(place)));
        let magnitude = if is_zero { 0 } else { digits.fold(0, |sum, digit| sum * 10 + digit) };
        Ok(if number.negative { -magnitude } else { magnitude })
    }

    /// `digits` / 10^`scale` in the column's scale, where nothing is lost.
    pub(super) fn rescaled(self, digits: i128, scale: u8) -> Option<i128> {
        let missing = self.scale.checked_sub(scale)?;
        let digits = digits.checked_mul(10_i128.checked_pow(missing.into())?)?;
        (digits > -self.end && digits < self.end).then_some(digits)
    }
}

pub(super) fn truth(value: &[u8], strict: bool) -> Result<bool, Misfit> {
    rule::boolean(value, strict, Truths::Digits)
}

pub(super) fn day(value: &[u8]) -> Result<i32, Misfit> {
    rule::date(value)
}

/// A day as an engine writes those that files have no words for, and what stands behind it: of years beyond 9999, or before the first.
fn far_day(value: &[u8]) -> Option<(i64, &[u8])> {
    const YEARS: i64 = 400;
    const DAYS: i64 = 146_097;
    const DIGITS_MAX: usize = 12;
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_year = (4..=DIGITS_MAX).contains(&digits);
    let (year, rest) = value.split_at_checked(digits).filter(|_| is_year)?;
    let (month_and_day, rest) = rest.split_at_checked(6)?;
    let year: i64 = std::str::from_utf8(year).ok()?.parse().ok().filter(|year| *year > 0)?;
    let (year, rest) = match rest.strip_prefix(b" (BC)") {
        Some(rest) => (1 - year, rest),
        None => (year, rest),
    };
    // Calendars repeat themselves.
    let same = 2_000 + year.rem_euclid(YEARS);
    let day = scan::date_days(&[same.to_string().as_bytes(), month_and_day].concat())?;
    Some((i64::from(day) + (year - same) / YEARS * DAYS, rest))
}

/// Which end of time a text is.
fn endless(value: &[u8]) -> Option<i8> {
    match value {
        b"infinity" => Some(1),
        b"-infinity" => Some(-1),
        _ => None,
    }
}

/// A type of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Days {
    /// Whether its first and its last are the engine's infinities.
    pub(super) infinite_ends: bool,
    /// Whether texts are such as the engine writes.
    pub(super) takes_far: bool,
}

impl Days {
    /// A text that [`day`] doesn't take and the engine writes.
    pub(super) fn far(self, value: &[u8]) -> Option<i32> {
        if !self.takes_far {
            return None;
        }
        if let Some(sign) = endless(value) {
            return Some(i32::from(sign) * i32::MAX);
        }
        let (day, rest) = far_day(value)?;
        i32::try_from(day).ok().filter(|_| rest.is_empty()).and_then(|day| self.keep(day))
    }

    /// A day that the type has.
    #[inline(always)]
    pub(super) fn keep(self, day: i32) -> Option<i32> {
        (!self.infinite_ends || day.unsigned_abs() < i32::MAX.unsigned_abs()).then_some(day)
    }
}

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// What a text says.
#[inline(always)]
fn moment(found: scan::Timestamp) -> Moment {
    let zone = found.zone == Zone::Offset;
    Moment { seconds: found.seconds, nanos: found.nanoseconds, zone }
}

/// A type of timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moments {
    /// Its unit.
    pub(super) per_second: i64,
    /// Whether they are moments of UTC, and not of whatever clock hangs there.
    pub(super) zone: bool,
    /// Its first and its last.
    pub(super) ends: (i64, i64),
    /// Whether a day alone is its midnight.
    pub(super) takes_days: bool,
    /// Whether texts are such as the engine writes.
    pub(super) takes_far: bool,
}

impl Moments {
    /// Moments that are written as in files; those of a type with `infinite_ends` are the engine's own.
    pub(super) const fn new(per_second: i64, zone: bool, infinite_ends: bool) -> Self {
        let ends = if infinite_ends { finite_moments(per_second) } else { (i64::MIN, i64::MAX) };
        Self { per_second, zone, ends, takes_days: false, takes_far: false }
    }

    /// In the column's unit; `None` where that has a fraction, or is out of range.
    #[inline(always)]
    pub(super) fn count(self, moment: Moment) -> Option<i64> {
        if moment.zone != self.zone {
            return None;
        }
        let (first, last) = self.ends;
        moment.count(self.per_second).filter(|count| (first..=last).contains(count))
    }

    /// The midnight at which a day begins, where that is what such a value means.
    pub(super) fn midnight(self, day: i32) -> Option<i64> {
        let seconds = i64::from(day) * DAY_SECONDS;
        self.takes_days.then(|| self.count(Moment { seconds, nanos: 0, zone: false })).flatten()
    }

    /// A timestamp that fits. `None` says nothing; ask [`Moments::misfit`].
    #[inline(always)]
    pub(super) fn read(self, value: &[u8]) -> Option<i64> {
        scan::read_timestamp(value).and_then(|found| self.count(moment(found)))
    }

    /// A text that [`Moments::read`] doesn't take and the engine writes.
    pub(super) fn far(self, value: &[u8]) -> Option<i64> {
        if let Some(sign) = endless(value).filter(|_| self.takes_far) {
            return Some(i64::from(sign) * i64::MAX);
        }
        self.count(self.far_moment(value)?)
    }

    fn far_moment(self, value: &[u8]) -> Option<Moment> {
        let (day, rest) = far_day(value).filter(|_| self.takes_far)?;
        let seconds = day.checked_mul(DAY_SECONDS)?;
        if rest.is_empty() {
            return self.takes_days.then_some(Moment { seconds, nanos: 0, zone: false });
        }
        let time = moment(scan::read_timestamp(&[b"1970-01-01".as_slice(), rest].concat())?);
        Some(Moment { seconds: seconds.checked_add(time.seconds)?, ..time })
    }

    /// What is wrong with a value that neither [`Moments::read`] nor [`Moments::far`] takes.
    pub(super) fn misfit(self, value: &[u8]) -> Misfit {
        let found = scan::read_timestamp(value).map(moment).or_else(|| self.far_moment(value));
        match found {
            Some(found) if found.zone == self.zone => {
                let is_fine = i64::from(found.nanos) % (1_000_000_000 / self.per_second) != 0;
                let wanted = match self.per_second {
                    1 if is_fine => "a timestamp to the second",
                    1_000 if is_fine => "a timestamp to the millisecond",
                    1_000_000 if is_fine => "a timestamp to the microsecond",
                    1_000_000_000 => "a timestamp in nanoseconds (from 1677 to 2262)",
                    _ => "a timestamp from 290309 BC to 294247",
                };
                (Code::Range, wanted)
            }
            _ if self.zone => rule::TIMESTAMP_ZONED,
            _ => rule::TIMESTAMP,
        }
    }
}

/// Microseconds of a day.
pub(super) const DAY: i64 = 24 * 3_600 * 1_000_000;

/// Microseconds since midnight.
pub(super) fn time(value: &[u8], takes_day_end: bool) -> Result<i64, Misfit> {
    if let Some(rest) = value.strip_prefix(b"24:").filter(|_| takes_day_end)
        && rule::time(&[b"00:", rest].concat()) == Ok(0)
    {
        return Ok(DAY);
    }
    let nanos = rule::time(value)?;
    let is_fine = nanos % 1_000 != 0;
    if is_fine { Err((Code::Range, "a time of day to the microsecond")) } else { Ok(nanos / 1_000) }
}

/// Whether a text is what the column's texts are.
#[inline]
pub(super) fn check_text(value: &[u8], content: Type) -> Result<(), Misfit> {
    match content {
        Type::Json => rule::json(value),
        Type::Decimal { precision, scale } => rule::decimal_text(value, precision, scale),
        _ => Ok(()),
    }
}

/// Whether an integer's text says nothing but the number.
#[inline(always)]
pub(super) fn plain_whole<T: Whole>(bytes: &[u8], start: usize, end: usize) -> Option<T> {
    scan::plain_integer_within(bytes, start, end).and_then(|number| T::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_beyond_those_of_files_are_the_engines() {
        let days = |takes_far| Days { infinite_ends: true, takes_far };
        let micros = Moments::new(1_000_000, false, true);
        let moments = Moments { takes_days: true, takes_far: true, ..micros };
        for (text, day) in [
            ("10000-01-01", Some(2_932_897)),
            ("0001-12-31 (BC)", Some(-719_163)),
            ("0044-03-15 (BC)", Some(-735_160)),
            ("0004-02-29 (BC)", None),
            ("0005-02-29 (BC)", Some(-720_930)),
            ("5881580-07-10", Some(i32::MAX - 1)),
            ("5881580-07-11", None),
            ("infinity", Some(i32::MAX)),
            ("-infinity", Some(-i32::MAX)),
            ("0000-01-01 (BC)", None),
            ("10000-13-01", None),
            ("10000-01-01 x", None),
        ] {
            assert_eq!(days(true).far(text.as_bytes()), day, "{text}");
            assert_eq!(days(false).far(text.as_bytes()), None, "{text}");
            let far = moments.far(format!("{text} 00:00:00.5").as_bytes());
            let of_micros = day.filter(|day| day.unsigned_abs() < 100_000_000);
            let wanted = of_micros.map(|day| i64::from(day) * 86_400_000_000 + 500_000);
            assert_eq!(far, wanted, "{text}");
        }
        assert_eq!(moments.far(b"-infinity"), Some(-i64::MAX));
        assert_eq!(moments.far(b"10000-01-01"), Some(2_932_897 * 86_400_000_000));
        assert_eq!(moments.far(b"300000-01-01 00:00:00"), None);
        assert_eq!(moments.far(b"10000-01-01 00:00:00Z"), None);
        // Those of seconds and milliseconds are no others than those of microseconds.
        for (per_second, last, beyond) in [
            (1, "294247-01-10 04:00:54", "294247-01-10 04:00:55"),
            (1_000, "294247-01-10 04:00:54.775", "294247-01-10 04:00:54.776"),
            (1_000_000, "294247-01-10 04:00:54.775806", "294247-01-10 04:00:54.775807"),
        ] {
            let moments = Moments { takes_far: true, ..Moments::new(per_second, false, true) };
            for text in [last, "290309-12-22 (BC) 00:00:00"] {
                assert!(moments.far(text.as_bytes()).is_some(), "{text}");
            }
            for text in [beyond, "290309-12-21 (BC) 23:59:59", "292277026596-12-04 15:30:07"] {
                assert_eq!(moments.far(text.as_bytes()), None, "{text}");
                assert_eq!(moments.misfit(text.as_bytes()).0, Code::Range, "{text}");
            }
        }
    }

    #[test]
    fn whole_numbers_of_every_width_end_where_they_end() {
        fn ends<T: Whole + std::fmt::Debug + PartialEq>(
            min: &str,
            max: &str,
            below: &str,
            above: &str,
        ) {
            for text in [min, max] {
                assert!(whole::<T>(text.as_bytes(), true).is_ok(), "{text}");
                let padded = format!("+{text}.00");
                assert_eq!(whole::<T>(padded.as_bytes(), false).is_ok(), !text.starts_with('-'));
            }
            for text in [below, above, "99999999999999999999999999999999999999999999"] {
                assert_eq!(whole::<T>(text.as_bytes(), false), Err((Code::Range, T::WANTED)));
            }
        }
        ends::<i8>("-128", "127", "-129", "128");
        ends::<i16>("-32768", "32767", "-32769", "32768");
        ends::<i32>("-2147483648", "2147483647", "-2147483649", "2147483648");
        ends::<i64>(
            "-9223372036854775808",
            "9223372036854775807",
            "-9223372036854775809",
            "9223372036854775808",
        );
        ends::<u8>("0", "255", "-1", "256");
        ends::<u16>("0", "65535", "-1", "65536");
        ends::<u32>("0", "4294967295", "-1", "4294967296");
        ends::<u64>("0", "18446744073709551615", "-1", "18446744073709551616");
        for text in ["007", "+1", "-0", "1.0", "", "x", "1e3", "1.5", " 1"] {
            assert_eq!(whole::<i64>(text.as_bytes(), true).unwrap_err().0, Code::Type, "{text}");
        }
        assert_eq!(whole::<i64>(b"007", false), Ok(7));
        for text in ["", "x", "1e3", "1.5", "1.", ".0"] {
            assert_eq!(
                whole::<i64>(text.as_bytes(), false),
                Err((Code::Type, "an integer")),
                "{text}"
            );
        }
    }

    #[test]
    fn decimals_keep_every_digit() {
        let wide = Decimals::new(38, 10);
        let narrow = Decimals::new(5, 2);
        for (decimals, text, wanted) in [
            (narrow, "999.99", Some(99_999)),
            (narrow, "-999.99", Some(-99_999)),
            (narrow, "1", Some(100)),
            (narrow, "0.5", Some(50)),
            (narrow, "0", Some(0)),
            (narrow, "1000", None),
            (narrow, "0.001", None),
            (wide, "9999999999999999999999999999.9999999999", Some(10_i128.pow(38) - 1)),
            (wide, "-9999999999999999999999999999.9999999999", Some(1 - 10_i128.pow(38))),
            (wide, "123456789012345678", Some(123_456_789_012_345_678 * 10_i128.pow(10))),
            (wide, "10000000000000000000000000000", None),
        ] {
            let value = text.as_bytes();
            assert_eq!(decimals.keep(value, true).ok(), wanted, "{text}");
            if let Some(number) = decimals.plain(value) {
                assert_eq!(Some(number), wanted, "{text}");
            }
        }
        for text in ["0.5", "-999.99", "1", "0", "123.4"] {
            assert!(narrow.plain(text.as_bytes()).is_some(), "{text}");
        }
        for text in
            ["", "-", ".", "-.5", ".5", "5.", "00", "01.5", "-0", "-0.00", "+1", "1e2", "1.2.3"]
        {
            assert_eq!(narrow.plain(text.as_bytes()), None, "{text}");
            assert_eq!(narrow.keep(text.as_bytes(), true).unwrap_err().0, Code::Type, "{text}");
        }
        for (text, wanted) in
            [("+1.500", 150), ("1e2", 10_000), ("-0", 0), (".5", 50), ("012", 1200)]
        {
            assert_eq!(narrow.keep(text.as_bytes(), false), Ok(wanted), "{text}");
        }
        assert_eq!(narrow.rescaled(5, 1), Some(50));
        assert_eq!(narrow.rescaled(5000, 0), None);
        assert_eq!(narrow.rescaled(5, 3), None);
        assert_eq!(wide.rescaled(i128::MIN, 0), None);
    }

    #[test]
    fn moments_lose_no_fraction() {
        let moments = |per_second, zone| Moments::new(per_second, zone, false);
        let local = moments(1_000_000, false);
        assert_eq!(local.read(b"1970-01-01 00:00:01.5"), Some(1_500_000));
        assert_eq!(local.read(b"1969-12-31 23:59:59.5"), Some(-500_000));
        assert_eq!(local.read(b"0001-01-01 00:00"), Some(-62_135_596_800_000_000));
        assert_eq!(local.read(b"9999-12-31 23:59:59.999999"), Some(253_402_300_799_999_999));
        let fine = b"1970-01-01 00:00:01.0000005";
        assert_eq!((local.read(fine), local.misfit(fine).0), (None, Code::Range));
        let zoned = b"1970-01-01 02:00:00+02:00";
        assert_eq!((local.read(zoned), local.misfit(zoned).0), (None, Code::Type));
        assert_eq!(moments(1, true).read(zoned), Some(0));
        assert_eq!(moments(1_000, false).read(b"1970-01-01T00:00:00.001"), Some(1));
        assert_eq!(moments(1, false).read(b"1970-01-01T00:00:00.001"), None);
        let nanos = moments(1_000_000_000, false);
        assert_eq!(nanos.read(b"1970-01-01 00:00:00.000000001"), Some(1));
        assert_eq!(nanos.read(b"2262-04-12 00:00:00"), None);
        for (text, wanted) in [
            ("1677-09-21 00:12:43.145224191", None),
            ("1677-09-21 00:12:43.145224192", Some(i64::MIN)),
            ("1677-09-21 00:12:43.145224193", Some(-i64::MAX)),
            ("2262-04-11 23:47:16.854775807", Some(i64::MAX)),
            ("2262-04-11 23:47:16.854775808", None),
        ] {
            assert_eq!(nanos.read(text.as_bytes()), wanted, "{text}");
        }
        let finite = Moments::new(1_000_000_000, false, true);
        assert_eq!(finite.read(b"1677-09-22 00:00:00"), Some(-106_751 * 86_400_000_000_000));
        assert_eq!(finite.read(b"1677-09-21 23:59:59.999999999"), None);
    }

    #[test]
    fn singles_and_doubles_keep_whole_numbers() {
        assert_eq!(single(b"0.1", false), Ok(0.1));
        assert_eq!(single(b"16777216", false), Ok(16_777_216.0));
        assert_eq!(single(b"16777217", false).unwrap_err().0, Code::Range);
        assert_eq!(single(b"1e39", false).unwrap_err().0, Code::Range);
        assert_eq!(single(b"1e-60", false).unwrap_err().0, Code::Range);
        assert_eq!(double(b"9007199254740993", false).unwrap_err().0, Code::Range);
        assert_eq!(double(b"x", false).unwrap_err().0, Code::Type);
        assert_eq!(double(b"-Infinity", false), Ok(f64::NEG_INFINITY));
        assert!(single(b"nan", false).unwrap().is_nan());
        assert_eq!(double(b"NaN", true).unwrap_err().0, Code::Type);
    }
}
