//! What a text is, for engines that keep such values: the rules that do not depend on the engine.
//!
//! Where a column's type is a guess (`strict`), a text is only a value that would be written in the same way again; another one
//! disproves the guess. Where the type is declared, a value may be written otherwise and be the same.

use inrush_scan as scan;

use crate::flow::Code;
use crate::value::digits::{Digits, split_digits};
use crate::value::{hex, json};

/// Why a text is no value of a column: what sort of fault, and what the column takes, in words.
pub type Misfit<'a> = (Code, &'a str);

/// What a column of days takes.
pub const DATE: Misfit<'static> = (Code::Type, "a date of the calendar (YYYY-MM-DD)");

/// What a column of moments without a zone takes.
pub const TIMESTAMP: Misfit<'static> = (Code::Type, "a timestamp (YYYY-MM-DD HH:MM:SS)");

/// What a column of moments with one takes.
pub const TIMESTAMP_ZONED: Misfit<'static> =
    (Code::Type, "a timestamp with an offset from UTC (YYYY-MM-DD HH:MM:SS+HH:MM)");

/// Whether a number is written as `YYYYMMDD` writes a day of a time that data is of: 20240229.
pub fn is_compact_day(number: i64) -> bool {
    if !(19_000_101..=21_001_231).contains(&number) {
        return false;
    }
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    scan::is_date(format!("{year}-{month:02}-{day:02}").as_bytes())
}

/// The whole number that `[+-]?[0-9]+(\.0+)?` writes, if it is from `min` to `max`: programs that keep integers as doubles write 1 as
/// 1.0, which is the same number. `wanted` is what the column takes.
///
/// # Errors
/// When it is no whole number, when it is out of range, or when it is `strict` and would be written otherwise.
pub fn integer<'a>(
    value: &[u8],
    (min, max): (i128, i128),
    strict: bool,
    wanted: &'a str,
) -> Result<i128, Misfit<'a>> {
    const NO_INTEGER: Misfit<'static> = (Code::Type, "an integer");
    let number = Digits::parse(value).ok_or(NO_INTEGER)?;
    if strict && !scan::is_canonical_integer(value) {
        return Err((Code::Type, "an integer that stays as it is written"));
    }
    if number.has_exponent
        || number.whole.is_empty()
        || (number.has_point && number.fraction.is_empty())
        || number.fraction.iter().any(|digit| *digit != b'0')
    {
        return Err(NO_INTEGER);
    }
    let magnitude = number.whole.iter().try_fold(0_i128, |magnitude, digit| {
        magnitude.checked_mul(10)?.checked_add(i128::from(digit - b'0'))
    });
    magnitude
        .map(|magnitude| if number.negative { -magnitude } else { magnitude })
        .filter(|number| (min..=max).contains(number))
        .ok_or((Code::Range, wanted))
}

/// [`integer`] for columns of 64 bits.
///
/// # Errors
/// As [`integer`].
pub fn long(value: &[u8], strict: bool) -> Result<i64, Misfit<'static>> {
    let range = (i64::MIN.into(), i64::MAX.into());
    integer(value, range, strict, "an integer of 64 bits").map(|number| number as i64)
}

/// The digits of a decimal number; in a column of `scale` digits behind the point, where it has so many. `wanted` is what it takes.
///
/// # Errors
/// When it is no decimal number, or when it is `strict` and would be written otherwise: zeros may follow its digits there, but none
/// that are written may go.
pub fn decimal<'v, 'a>(
    value: &'v [u8],
    scale: Option<i64>,
    strict: bool,
    wanted: &'a str,
) -> Result<Digits<'v>, Misfit<'a>> {
    let number = Digits::parse(value).ok_or((Code::Type, "a decimal number"))?;
    if strict {
        let is_negative_zero = number.negative && number.significant().is_none();
        match scan::decimal(value) {
            Some(written) if scale.is_some_and(|scale| i64::from(written.scale) > scale) => {
                return Err((Code::Range, wanted));
            }
            Some(_) if !is_negative_zero => {}
            _ => return Err((Code::Type, "a decimal number that stays as it is written")),
        }
    }
    Ok(number)
}

/// Whether a text that is kept as it is written is a decimal number of so many digits; of any number of them where `precision` is 0.
///
/// # Errors
/// When it isn't.
pub fn decimal_text(value: &[u8], precision: u16, scale: u16) -> Result<(), Misfit<'static>> {
    match scan::decimal(value) {
        None => Err((Code::Type, "a decimal number")),
        // A scale beyond the precision leaves no digit before the point.
        Some(found)
            if precision > 0
                && (found.scale > scale
                    || found.precision - found.scale > precision.saturating_sub(scale)) =>
        {
            Err((Code::Range, "a decimal of the column's precision and scale"))
        }
        Some(_) => Ok(()),
    }
}

/// Spellings of truth that a column takes besides `true` and `false`, where its type is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truths {
    /// `1` and `0`.
    #[default]
    Digits,
    /// And `t`, `yes`, `y`, `on`, `f`, `no`, `n`, `off`, which engines read themselves.
    Words,
}

/// Whether a text says true or false, in any case.
///
/// # Errors
/// When it says neither.
#[inline]
pub fn boolean(value: &[u8], strict: bool, truths: Truths) -> Result<bool, Misfit<'static>> {
    let is_one_of = |words: &[&[u8]]| words.iter().any(|word| word.eq_ignore_ascii_case(value));
    match (scan::is_boolean(value), strict, truths) {
        (Some(truth), ..) => Ok(truth),
        (None, true, _) => Err((Code::Type, "a boolean (true, false)")),
        (None, false, _) if value == b"1" || value == b"0" => Ok(value == b"1"),
        (None, false, Truths::Digits) => Err((Code::Type, "a boolean (true, false, 1, 0)")),
        (None, false, Truths::Words) if is_one_of(&[b"t", b"yes", b"y", b"on"]) => Ok(true),
        (None, false, Truths::Words) if is_one_of(&[b"f", b"no", b"n", b"off"]) => Ok(false),
        (None, false, Truths::Words) => {
            Err((Code::Type, "a boolean (true, false, t, f, yes, no, on, off, 1, 0)"))
        }
    }
}

/// The day that a text is, from 1970-01-01.
///
/// # Errors
/// When it is none of the calendar.
#[inline]
pub fn date(value: &[u8]) -> Result<i32, Misfit<'static>> {
    scan::date_days(value).ok_or(DATE)
}

/// Whether a text is a timestamp, with an offset from UTC where the column has a `zone`, and else without.
///
/// # Errors
/// When it isn't.
#[inline]
pub fn timestamp(value: &[u8], zone: bool) -> Result<(), Misfit<'static>> {
    match (scan::timestamp(value), zone) {
        (Some(scan::Zone::None), false) | (Some(scan::Zone::Offset), true) => Ok(()),
        (_, false) => Err(TIMESTAMP),
        (_, true) => Err(TIMESTAMP_ZONED),
    }
}

/// The nanoseconds since midnight of `HH:MM[:SS[.f{1,9}]]`, before 24:00, and what follows it.
pub fn clock(value: &[u8]) -> Option<(i64, &[u8])> {
    fn two(text: &[u8]) -> Option<(i64, &[u8])> {
        match text {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] => {
                Some((i64::from(tens - b'0') * 10 + i64::from(ones - b'0'), rest))
            }
            _ => None,
        }
    }
    let (hours, rest) = two(value)?;
    let (minutes, rest) = two(rest.strip_prefix(b":")?)?;
    let (mut seconds, mut nanos, mut rest) = (0, 0, rest);
    if let [b':', behind @ ..] = rest {
        (seconds, rest) = two(behind)?;
        if let [b'.', behind @ ..] = rest {
            let (digits, behind) = split_digits(behind);
            if !(1..=9).contains(&digits.len()) {
                return None;
            }
            let add = |number, digit: &u8| number * 10 + i64::from(digit - b'0');
            nanos = digits.iter().fold(0, add) * 10_i64.pow(9 - digits.len() as u32);
            rest = behind;
        }
    }
    let is_of_day = hours < 24 && minutes < 60 && seconds < 60;
    is_of_day.then_some((((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanos, rest))
}

/// The nanoseconds since midnight of a time of day, see [`clock`].
///
/// # Errors
/// When it is none, or something follows it.
pub fn time(value: &[u8]) -> Result<i64, Misfit<'static>> {
    match clock(value) {
        Some((nanos, [])) => Ok(nanos),
        _ => Err((Code::Type, "a time of day (HH:MM:SS)")),
    }
}

/// The bytes of a UUID: 32 hexadecimal digits, with a hyphen behind any four of them or none, in braces or not, as PostgreSQL takes them:
/// <https://www.postgresql.org/docs/current/datatype-uuid.html>.
pub fn uuid(value: &[u8]) -> Result<[u8; 16], Misfit<'static>> {
    const NO_UUID: Misfit<'static> = (Code::Type, "a UUID");
    let mut rest = match value {
        [b'{', inner @ .., b'}'] => inner,
        value => value,
    };
    let mut bytes = [0; 16];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let [high, low, tail @ ..] = rest else { return Err(NO_UUID) };
        let (high, low) = hex::digit(*high).zip(hex::digit(*low)).ok_or(NO_UUID)?;
        *byte = high << 4 | low;
        rest = match tail {
            [b'-', tail @ ..] if at % 2 == 1 && at < 15 => tail,
            tail => tail,
        };
    }
    if rest.is_empty() { Ok(bytes) } else { Err(NO_UUID) }
}

/// The usual text of a UUID: lower case, hyphens behind 8, 12, 16 and 20 digits
/// (<https://www.rfc-editor.org/rfc/rfc9562#section-4>).
pub fn uuid_text(bytes: [u8; 16]) -> [u8; 36] {
    let mut text = [b'-'; 36];
    let places = (0..36).filter(|at| !matches!(at, 8 | 13 | 18 | 23));
    for (at, digit) in places.zip(bytes.into_iter().flat_map(hex::pair)) {
        text[at] = digit;
    }
    text
}

/// Whether a text is one JSON document whose strings are texts: the grammar (RFC 8259, section 8.2) has escapes for halves of surrogate
/// pairs, of which readers make what they like, and most engines nothing.
///
/// # Errors
/// When it isn't.
pub fn json(value: &[u8]) -> Result<(), Misfit<'static>> {
    json_grammar(value)?;
    match json::has_half_pair(value) {
        true => {
            Err((Code::Type, "a JSON document without half a surrogate pair (such as \\ud800)"))
        }
        false => Ok(()),
    }
}

/// Whether a text is one JSON document to the grammar's letter, for existing columns of engines that keep what is written.
///
/// # Errors
/// When it isn't.
pub fn json_grammar(value: &[u8]) -> Result<(), Misfit<'static>> {
    match serde_json::from_slice::<serde::de::IgnoredAny>(value) {
        Ok(_) => Ok(()),
        Err(_) => Err((Code::Type, "a JSON document")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_ends_before_the_next_day() {
        let nanos = |text: &str| time(text.as_bytes()).ok();
        assert_eq!(nanos("00:00"), Some(0));
        assert_eq!(nanos("00:00:00.000000001"), Some(1));
        assert_eq!(nanos("12:30:00.5"), Some(45_000_500_000_000));
        assert_eq!(nanos("23:59:59.999999999"), Some(86_399_999_999_999));
        for text in [
            "",
            "1",
            "24:00:00",
            "12:60",
            "12:30:60",
            "1:30",
            "12:30:",
            "12:30:00.",
            "12:30:00.1234567890",
        ] {
            assert_eq!(nanos(text), None, "{text}");
        }
        for text in ["-1:30:00", "12:30:00Z", "12:30:00.1 ", "12-30-00", "12:30:00.+1"] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }

    #[test]
    fn a_uuid_has_hyphens_where_it_likes() {
        let bytes = [
            0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38,
            0x0a, 0x11,
        ];
        for text in [
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
        ] {
            assert_eq!(uuid(text.as_bytes()), Ok(bytes), "{text}");
        }
        assert_eq!(uuid_text(bytes), *b"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        for text in [
            "",
            "{}",
            "a0eebc99",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-",
            "{a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0-eebc999c0b4ef8bb6d6bb9bd380a11",
            "g0eebc999c0b4ef8bb6d6bb9bd380a11",
            " a0eebc999c0b4ef8bb6d6bb9bd380a11",
        ] {
            assert!(uuid(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_may_be_written_otherwise_where_their_type_is_declared() {
        for (text, number) in
            [("1", 1), ("+1", 1), ("001", 1), ("-0", 0), ("1.0", 1), ("-12.000", -12)]
        {
            assert_eq!(long(text.as_bytes(), false), Ok(number), "{text}");
            let is_strict = text == "1";
            assert_eq!(long(text.as_bytes(), true).is_ok(), is_strict, "{text}");
        }
        for text in ["", "-", "1.", ".0", "1.5", "1e3", " 1", "1 ", "0x1", "1.0e0"] {
            assert_eq!(long(text.as_bytes(), false), Err((Code::Type, "an integer")), "{text}");
        }
        let range = |text: &str| long(text.as_bytes(), false).map_err(|(code, _)| code);
        assert_eq!(range("9223372036854775807"), Ok(i64::MAX));
        assert_eq!(range("-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(range("9223372036854775808"), Err(Code::Range));
        assert_eq!(range(&"9".repeat(400)), Err(Code::Range));
    }

    #[test]
    fn half_a_surrogate_pair_is_no_text_of_a_document() {
        for text in [
            r#"{"a":"\ud83d\ude00"}"#,
            r#""\\ud800""#,
            r#"["\\\\ud800","\u00e9\uD83D\uDE00\""]"#,
            "{}",
        ] {
            assert_eq!(json(text.as_bytes()), Ok(()), "{text}");
        }
        for text in [
            r#""\ud800""#,
            r#""\uDC00""#,
            r#"{"\ud83d":1}"#,
            r#"["\ud83d\ud83d\ude00"]"#,
            r#"["\ud83d\n"]"#,
            r#"["\ud83dx\ude00"]"#,
            r#"["\\\ud83d\\ude00"]"#,
        ] {
            assert_eq!(json(text.as_bytes()).unwrap_err().0, Code::Type, "{text}");
            assert_eq!(json_grammar(text.as_bytes()), Ok(()), "{text}");
        }
        assert!(json_grammar(br#""\ud80""#).is_err());
    }

    #[test]
    fn truth_has_more_spellings_where_its_type_is_declared() {
        let said = |text: &str, strict, truths| boolean(text.as_bytes(), strict, truths).ok();
        for truths in [Truths::Digits, Truths::Words] {
            assert_eq!(said("TRUE", true, truths), Some(true));
            assert_eq!(said("1", true, truths), None);
            assert_eq!(said("0", false, truths), Some(false));
            assert_eq!(said("2", false, truths), None);
        }
        assert_eq!(said("Yes", false, Truths::Words), Some(true));
        assert_eq!(said("off", false, Truths::Words), Some(false));
        assert_eq!(said("yes", false, Truths::Digits), None);
    }

    #[test]
    fn decimals_keep_their_digits() {
        assert!(decimal_text(b"123.45", 5, 2).is_ok());
        assert_eq!(decimal_text(b"123.456", 5, 2).unwrap_err().0, Code::Range);
        assert!(decimal_text(b"123.456", 0, 0).is_ok());
        assert_eq!(decimal_text(b"1", 2, 5).unwrap_err().0, Code::Range);
        assert_eq!(decimal(b"1.50", Some(1), true, "").unwrap_err().0, Code::Range);
        assert!(decimal(b"1.50", Some(1), false, "").is_ok());
        assert_eq!(decimal(b"-0.0", Some(1), true, "").unwrap_err().0, Code::Type);
        assert_eq!(decimal(b"1e2", Some(1), true, "").unwrap_err().0, Code::Type);
    }
}
