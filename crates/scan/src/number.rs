//! What a field's text denotes as a number, and whether it survives becoming one.
//!
//! Parsing ([`integer`], [`float`]) and judging ([`is_canonical_integer`], [`float_round_trips`],
//! [`decimal`]) are different questions. `007` is an integer, but a column of integers would hand
//! back `7`; inference asks the second kind, encoders the first.
//!
//! Floats are read once into a [`Parts`]: the grammar is checked and up to 19 significant digits are
//! gathered in the same pass. Where those digits and the exponent are small enough for one exact
//! multiplication or division (Clinger's fast path), that is the value. Everything else goes to the
//! standard library's parser, which is correctly rounded and slower.

use std::fmt::{self, Write as _};

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFault {
    /// It isn't written like one.
    NotANumber,
    /// It is beyond the type's range.
    TooLarge,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotANumber => "not a number",
            Self::TooLarge => "out of range",
        })
    }
}

impl std::error::Error for NumberFault {}

/// The value of `[+-]?[0-9]+`.
///
/// # Errors
///
/// `NotANumber` when it isn't written so, `TooLarge` when it is beyond 64 bits.
#[inline]
pub fn integer(b: &[u8]) -> Result<i64, NumberFault> {
    let (negative, digits) = match b {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, b),
    };
    // 18 digits can't overflow, so they need no check.
    if digits.is_empty() || digits.len() > 18 {
        return long_integer(negative, digits);
    }
    let mut value = 0;
    let mut rest = digits;
    while let Some((eight, more)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        if !are_eight_digits(word) {
            return Err(NumberFault::NotANumber);
        }
        value = value * 100_000_000 + eight_digits(word);
        rest = more;
    }
    for &byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(NumberFault::NotANumber);
        }
        value = value * 10 + u64::from(digit);
    }
    // Below 10^18, so the sign fits too.
    let value = value as i64;
    Ok(if negative { -value } else { value })
}

/// Integers of 19 digits and more, and the empty one.
#[cold]
fn long_integer(negative: bool, digits: &[u8]) -> Result<i64, NumberFault> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberFault::NotANumber);
    }
    let mut value = 0_i64;
    for &byte in digits {
        let digit = i64::from(byte - b'0');
        // Counts down, because the negative range is one larger.
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_sub(digit))
            .ok_or(NumberFault::TooLarge)?;
    }
    if negative { Ok(value) } else { value.checked_neg().ok_or(NumberFault::TooLarge) }
}

/// Whether all eight bytes are ASCII digits: the high nibble is 3, also after adding 6 to the low
/// one.
#[inline]
const fn are_eight_digits(word: u64) -> bool {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THREE: u64 = 0x3030_3030_3030_3030;
    const SIX: u64 = 0x0606_0606_0606_0606;
    ((word & HIGH) | ((word.wrapping_add(SIX) & HIGH) >> 4)) == (THREE | (THREE >> 4))
}

/// The value of eight digits, first digit in the lowest byte: neighbours are joined to pairs, pairs
/// to fours, fours to eight, three multiplications instead of eight.
#[inline]
const fn eight_digits(word: u64) -> u64 {
    let ones = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (ones.wrapping_mul(10 * 256 + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32
}

/// Whether `b` is `-?(0|[1-9][0-9]*)` but not `-0`: writing the number back gives the same text.
/// Says nothing about its size.
#[inline]
#[must_use]
pub fn is_canonical_integer(b: &[u8]) -> bool {
    let digits = b.strip_prefix(b"-").unwrap_or(b);
    match digits {
        [] => false,
        [b'0'] => digits.len() == b.len(),
        [b'0', ..] => false,
        _ => digits.iter().all(u8::is_ascii_digit),
    }
}

/// A float's text, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    /// `+` or `-`, else 0.
    sign: u8,
    /// The first 19 significant digits: the value is `mantissa * 10^exponent` when `digits <= 19`.
    mantissa: u64,
    /// How many digits there are from the first that isn't zero.
    digits: usize,
    /// Digits before the point, and whether the first of them is a needless zero.
    whole: usize,
    zero_led: bool,
    /// Digits after the point, and whether there is a point.
    fraction: usize,
    has_point: bool,
    /// The written exponent, saturated at ten million, and how it is written.
    power: i64,
    has_power: bool,
    power_signed: bool,
}

impl Parts {
    /// The power of ten of the last written digit.
    fn exponent(&self) -> i64 {
        self.power - self.fraction as i64
    }
}

/// Takes `[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?` apart.
#[inline]
fn parts(b: &[u8]) -> Option<Parts> {
    let mut at = 0;
    let sign = match b.first() {
        Some(&sign @ (b'+' | b'-')) => {
            at = 1;
            sign
        }
        _ => 0,
    };
    let mut mantissa = 0;
    let mut digits = 0;
    let whole_at = at;
    at = gather(b, at, &mut mantissa, &mut digits);
    let whole = at - whole_at;
    let zero_led = whole > 1 && b[whole_at] == b'0';
    let has_point = b.get(at) == Some(&b'.');
    let mut fraction = 0;
    if has_point {
        let from = at + 1;
        at = gather(b, from, &mut mantissa, &mut digits);
        fraction = at - from;
    }
    if whole + fraction == 0 {
        return None;
    }
    let mut power = 0;
    let mut power_signed = false;
    let has_power = at < b.len();
    if has_power {
        if b[at] | 0x20 != b'e' {
            return None;
        }
        let text = &b[at + 1..];
        power_signed = matches!(text.first(), Some(b'+' | b'-'));
        power = exponent(text, power_signed)?;
    }
    Some(Parts {
        sign,
        mantissa,
        digits,
        whole,
        zero_led,
        fraction,
        has_point,
        power,
        has_power,
        power_signed,
    })
}

/// Adds the digits from `at` on to the mantissa, as long as it has room, and returns where they end.
#[inline]
fn gather(b: &[u8], mut at: usize, mantissa: &mut u64, digits: &mut usize) -> usize {
    while let Some(&byte) = b.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if *digits < 19 {
            *mantissa = *mantissa * 10 + u64::from(digit);
        }
        *digits += usize::from(*mantissa != 0);
        at += 1;
    }
    at
}

/// The value of `[+-]?digits`, saturated: beyond ten million every float is 0 or infinite, unless
/// its mantissa has as many digits.
fn exponent(text: &[u8], signed: bool) -> Option<i64> {
    let digits = if signed { &text[1..] } else { text };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = (value * 10 + i64::from(digit)).min(10_000_000_000);
    }
    Some(if text[0] == b'-' { -value } else { value })
}

/// Powers of ten that are exact as `f64`.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The value of `[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?`, correctly rounded. Neither
/// `inf`, `nan`, hex nor blanks are numbers here.
///
/// # Errors
///
/// `NotANumber` when it isn't written so, `TooLarge` when it rounds to infinity.
#[inline]
pub fn float(b: &[u8]) -> Result<f64, NumberFault> {
    let parts = parts(b).ok_or(NumberFault::NotANumber)?;
    let exponent = parts.exponent();
    // Clinger: an exact mantissa times or over an exact power of ten rounds once, so correctly.
    if parts.digits <= 19 && parts.mantissa <= 1 << 53 && (-22..=22).contains(&exponent) {
        let value = parts.mantissa as f64;
        let power = POWERS[exponent.unsigned_abs() as usize];
        let value = if exponent < 0 { value / power } else { value * power };
        return Ok(if parts.sign == b'-' { -value } else { value });
    }
    slow_float(b)
}

/// Any float, by the standard library.
#[cold]
fn slow_float(b: &[u8]) -> Result<f64, NumberFault> {
    let text = std::str::from_utf8(b).map_err(|_| NumberFault::NotANumber)?;
    let value: f64 = text.parse().map_err(|_| NumberFault::NotANumber)?;
    if value.is_finite() { Ok(value) } else { Err(NumberFault::TooLarge) }
}

/// Whether `b` is written as a float and loses nothing as an `f64`.
///
/// - No leading `+`, no needless zeros in front (`007.5`). `.5`, `5.` and trailing zeros are fine.
/// - An exponent only with a point in the mantissa or a sign of its own: `1e-05`, `1e+20` and
///   `1.5e10` are floats, `1e5` and `12E4` look like ids.
/// - At most 15 significant digits, or the shortest text of the `f64` denotes the same number.
#[must_use]
pub fn float_round_trips(b: &[u8]) -> bool {
    let Some(parts) = parts(b) else { return false };
    if parts.sign == b'+' || parts.zero_led {
        return false;
    }
    if parts.has_power && !parts.has_point && !parts.power_signed {
        return false;
    }
    if parts.mantissa == 0 {
        return true;
    }
    // 15 digits survive in the normal range, of which 1e-300..1e300 is a part.
    let magnitude = parts.exponent() + parts.digits as i64;
    if parts.digits <= 15 && (-300..300).contains(&magnitude) {
        return true;
    }
    shortest_is_same(b, magnitude)
}

/// Whether the shortest text of `b`'s value denotes the same number. `magnitude` is `b`'s exponent
/// when written as `0.ddd`, its first digit not zero.
#[cold]
fn shortest_is_same(b: &[u8], magnitude: i64) -> bool {
    let Ok(value) = float(b) else { return false };
    let mut shortest = Text { bytes: [0; 32], len: 0 };
    if write!(shortest, "{:e}", value.abs()).is_err() {
        return false;
    }
    let text = &shortest.bytes[..shortest.len];
    let Some(shown) = parts(text) else { return false };
    shown.exponent() + shown.digits as i64 == magnitude && same_digits(text, b)
}

/// Whether two floats' texts have the same significant digits, whatever their exponents.
fn same_digits(a: &[u8], b: &[u8]) -> bool {
    let mut a = significant(a);
    let mut b = significant(b);
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b => {}
            (Some(b'0'), None) => return a.all(|digit| digit == b'0'),
            (None, Some(b'0')) => return b.all(|digit| digit == b'0'),
            _ => return false,
        }
    }
}

/// The mantissa's digits, from the first that isn't zero.
fn significant(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter()
        .copied()
        .take_while(|byte| byte | 0x20 != b'e')
        .filter(u8::is_ascii_digit)
        .skip_while(|&digit| digit == b'0')
}

/// A text of at most 32 bytes. The longest that `{:e}` writes is `2.2250738585072014e-308`.
struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// The size of a decimal column that holds a number as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Digits in all; a lone zero before the point isn't counted when digits follow it.
    pub precision: u16,
    /// Digits after the point.
    pub scale: u16,
}

/// The size of `-?(0|[1-9][0-9]*)(\.[0-9]+)?`, saturated; `None` when `b` isn't written so.
#[must_use]
pub fn decimal(b: &[u8]) -> Option<Decimal> {
    let b = b.strip_prefix(b"-").unwrap_or(b);
    let whole = b.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 || (whole > 1 && b[0] == b'0') {
        return None;
    }
    let scale = match &b[whole..] {
        [] => 0,
        [b'.', fraction @ ..]
            if !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit) =>
        {
            fraction.len()
        }
        _ => return None,
    };
    let whole = if b[0] == b'0' && scale > 0 { 0 } else { whole };
    let saturate = |count| u16::try_from(count).unwrap_or(u16::MAX);
    Some(Decimal { precision: saturate(whole + scale), scale: saturate(scale) })
}
