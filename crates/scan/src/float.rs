//! Floats as text.
//!
//! A text is read once into `Parts`, grammar and all, and both questions are answered from there:
//!
//! - `float`, what is it? Where digits and exponent are small enough for one exact multiplication
//!   or division (Clinger's fast path), that is the value. Everything else goes to the standard
//!   library's parser, which is correctly rounded and takes three times as long.
//! - `float_round_trips`, is it safe as an `f64`? Up to 15 digits always are. For 16 and 17, what
//!   programs print of values that they have computed, `is_shortest` compares the number with its
//!   neighbours in 128 bits. What is left has the shortest text of the value printed and compared.

use std::fmt::{self, Write as _};

use crate::number::{NumberFault, ZEROS, eight_values, ends, moved, take_digits};

/// A float's text, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    /// `+` or `-`, else 0.
    sign: u8,
    /// The number without sign, point and exponent, modulo 2^64.
    mantissa: u64,
    /// Digits before the point.
    whole: usize,
    /// Digits after the point.
    fraction: usize,
    has_point: bool,
    /// The written exponent, saturated at ten thousand million.
    power: i64,
    has_power: bool,
    has_power_sign: bool,
}

impl Parts {
    /// Whether `mantissa` is all of it: 19 digits fit into 64 bits.
    #[inline(always)]
    fn is_complete(&self) -> bool {
        self.whole + self.fraction <= 19
    }

    /// The power of ten that `mantissa` counts.
    #[inline(always)]
    fn exponent(&self) -> i64 {
        self.power - self.fraction as i64
    }
}

/// Takes `[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?` apart.
#[inline(always)]
fn parts(b: &[u8]) -> Option<Parts> {
    let (sign, b) = match b {
        [sign @ (b'+' | b'-'), rest @ ..] => (*sign, rest),
        _ => (0, b),
    };
    let (mantissa, rest) = take_digits(b, 0);
    let whole = b.len() - rest.len();
    let mut parts = Parts {
        sign,
        mantissa,
        whole,
        fraction: 0,
        has_point: false,
        power: 0,
        has_power: false,
        has_power_sign: false,
    };
    let mut b = rest;
    if let [b'.', fraction @ ..] = b {
        let (mantissa, rest) = take_digits(fraction, mantissa);
        parts.mantissa = mantissa;
        parts.fraction = fraction.len() - rest.len();
        parts.has_point = true;
        b = rest;
    }
    if parts.whole + parts.fraction == 0 {
        return None;
    }
    match b {
        [] => Some(parts),
        [b'e' | b'E', text @ ..] => {
            parts.has_power = true;
            parts.has_power_sign = matches!(text, [b'+' | b'-', ..]);
            parts.power = power(text)?;
            Some(parts)
        }
        _ => None,
    }
}

/// The value of `[+-]?digits`, saturated far beyond what any mantissa shorter than 4 GiB could make
/// up for.
fn power(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = (value * 10 + i64::from(digit)).min(10_000_000_000);
    }
    Some(if negative { -value } else { value })
}

/// Powers of ten that are exact as `f64`.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The value of `-?(0|[1-9][0-9]*)\.[0-9]+` with up to 7 digits before the point and up to 8 behind
/// it. Those are 15 digits at most, so it [`float_round_trips`]. `None` says nothing; ask [`float`]
/// and [`float_round_trips`].
#[inline(always)]
#[must_use]
pub fn plain_decimal(b: &[u8]) -> Option<f64> {
    let (negative, _, high, low, fraction) = plain_parts(b, b'.')?;
    // Both are exact, so the division rounds once, as in `float`. A signed number takes one instruction to become a double.
    let value = (high * TENS[fraction] + low).cast_signed() as f64 / POWERS[fraction];
    Some(f64::from_bits(value.to_bits() | (u64::from(negative) << 63)))
}

/// Where the separator is in a number that [`plain_decimal`] takes with `point` in place of `.`, and that is no zero with a sign. `None`
/// says nothing.
#[inline(always)]
#[must_use]
pub fn plain_decimal_point(b: &[u8], point: u8) -> Option<usize> {
    let (negative, at, high, low, _) = plain_parts(b, point)?;
    (!negative || high | low != 0).then_some(at)
}

/// Of what [`plain_decimal`] takes: whether it has a sign, where the point is, what is before and behind it, and how many digits the latter
/// has.
#[inline(always)]
fn plain_parts(b: &[u8], point: u8) -> Option<(bool, usize, u64, u64, usize)> {
    let negative = b.first() == Some(&b'-');
    let digits = &b[usize::from(negative)..];
    let (first, last) = ends(digits);
    // The lowest byte that is a point; bytes above it don't matter.
    const ONES: u64 = 0x0101_0101_0101_0101;
    let differ = first ^ (ONES * u64::from(point));
    let points = differ.wrapping_sub(ONES) & !differ & (ONES << 7);
    let whole = (points.trailing_zeros() / 8) as usize;
    let fraction = digits.len().wrapping_sub(whole + 1);
    if !(1..=7).contains(&whole) || !(1..=8).contains(&fraction) || (digits[0] == b'0' && whole > 1)
    {
        return None;
    }
    let high = eight_values(moved(first, whole))?;
    // These are the last digits already.
    let low = eight_values((last ^ ZEROS) & (u64::MAX << (64 - 8 * fraction)))?;
    Some((negative, usize::from(negative) + whole, high, low, fraction))
}

/// Powers of ten.
pub(crate) const TENS: [u64; 9] = {
    let mut tens = [1; 9];
    let mut i = 1;
    while i < 9 {
        tens[i] = 10 * tens[i - 1];
        i += 1;
    }
    tens
};

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
    if parts.is_complete() && parts.mantissa <= 1 << 53 && (-22..=22).contains(&exponent) {
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
/// - At most 15 significant digits, or the shortest text of the `f64` denotes the same number. Where two of the shortest are
///   equally near, either may be printed.
/// - A whole number, without point and exponent, is an identifier or a count, and the `f64` [is it exactly](whole_is_exact).
#[must_use]
pub fn float_round_trips(b: &[u8]) -> bool {
    let Some(parts) = parts(b) else { return false };
    let zero_at = usize::from(parts.sign != 0);
    if parts.sign == b'+' || (parts.whole > 1 && b[zero_at] == b'0') {
        return false;
    }
    if parts.has_power && !parts.has_point && !parts.has_power_sign {
        return false;
    }
    // 15 digits survive in the normal range, 1e-307 to 1e308.
    if parts.is_complete()
        && (parts.mantissa == 0
            || parts.mantissa < 1_000_000_000_000_000 && (-290..290).contains(&parts.exponent()))
    {
        return true;
    }
    long_round_trips(b, &parts)
}

/// [`float_round_trips`] for many digits or large exponents.
#[inline(never)]
fn long_round_trips(b: &[u8], parts: &Parts) -> bool {
    let Ok(value) = float(b) else { return false };
    if !parts.has_point && !parts.has_power && !whole_is_exact(b, value) {
        return false;
    }
    if parts.is_complete() {
        let (mut mantissa, mut exponent) = (parts.mantissa, parts.exponent());
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        if let Some(answer) = is_shortest(mantissa, exponent, value.abs()) {
            return answer;
        }
    }
    shortest_is_same(b, parts, value)
}

/// Whether `value` is the whole number `[+-]?[0-9]+` itself. 2^60 is, and 10^22; of 2^53 + 1 a double
/// keeps its neighbour. A sign counts only beside digits that aren't zero.
#[must_use]
pub fn whole_is_exact(b: &[u8], value: f64) -> bool {
    let negative = b.first() == Some(&b'-');
    let digits = &b[usize::from(matches!(b, [b'+' | b'-', ..]))..];
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) || !value.is_finite() {
        return false;
    }
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.is_empty() {
        return value == 0.0;
    }
    if negative != value.is_sign_negative() || value.fract() != 0.0 {
        return false;
    }
    if digits.len() <= 38 {
        // 10^38 is below 2^127, and a whole double below that is an integer of 128 bits.
        let whole = digits.iter().fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        return value.abs() as u128 == whole;
    }
    let mut rest = Rest(digits);
    write!(rest, "{:.0}", value.abs()).is_ok() && rest.0.is_empty()
}

/// What is left of a text when what was written is taken off its front.
struct Rest<'a>(&'a [u8]);

impl fmt::Write for Rest<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(text.as_bytes()).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Whether `mantissa * 10^exponent`, the mantissa not ending in 0, is the shortest decimal number
/// that rounds to `value`, as the number itself does, and the nearest of the shortest. `None` when
/// that can't be told with 128 bits.
///
/// All three are brought to integers: with `value = m * 2^-s` and `exponent = -p`, everything is
/// multiplied by `2^s * 10^p`. Then `value` is `m * 10^p`, its neighbours are `10^p` away, and
/// numbers up to halfway there round to it.
#[inline]
fn is_shortest(mantissa: u64, exponent: i64, value: f64) -> Option<bool> {
    const HIDDEN: u64 = 1 << 52;
    if mantissa >= 100_000_000_000_000_000 {
        // No value needs more than 17 digits.
        return Some(false);
    }
    let bits = value.to_bits();
    let (m, s) = ((bits % HIDDEN) | HIDDEN, 1075 - (bits / HIDDEN) as i64);
    let p = -exponent;
    // Below a power of two the neighbour is nearer. The limits keep all of it below 2^127:
    // 10^17 * 2^70 and 2^53 * 10^22.
    if m == HIDDEN || !(0..=70).contains(&s) || !(0..=22).contains(&p) {
        return None;
    }
    let power = 10_u128.pow(p as u32);
    let value = u128::from(m) * power;
    let distance = |mantissa: u64| value.abs_diff(u128::from(mantissa) << s);
    // A shorter number that rounds to `value` can't be nearer than those on either side.
    let below = mantissa - mantissa % 10;
    let shorter = distance(below).min(distance(below + 10));
    if 2 * shorter <= power {
        // Halfway it depends on which of the neighbours is even.
        return if 2 * shorter < power { Some(false) } else { None };
    }
    let own = 2 * distance(mantissa);
    if own == 1 << s {
        // Two of the shortest are equally near. Nearly all programs print the even one.
        return if mantissa.is_multiple_of(2) { Some(true) } else { None };
    }
    Some(own < 1 << s)
}

/// Whether the shortest text of `value`, which `b` denotes, stands for the same number as `b`.
#[cold]
fn shortest_is_same(b: &[u8], parts: &Parts, value: f64) -> bool {
    let mut shortest = Text { bytes: [0; 32], len: 0 };
    if write!(shortest, "{:e}", value.abs()).is_err() {
        return false;
    }
    let shown_digits = significant(shortest.bytes()).count();
    if is_same(b, parts, shortest.bytes()) {
        return true;
    }
    // Of two that are equally near the standard library prints the larger, and the even one when it is told how many digits.
    let mut even = Text { bytes: [0; 32], len: 0 };
    write!(even, "{:.*e}", shown_digits.saturating_sub(1), value.abs()).is_ok()
        && is_same(b, parts, even.bytes())
}

/// Whether a number as `{:e}` writes it is the number `b`.
fn is_same(b: &[u8], parts: &Parts, text: &[u8]) -> bool {
    let Some(shown) = self::parts(text) else { return false };
    let (digits, shown_digits) = (significant(b).count(), significant(text).count());
    // The exponents that go with `0.ddd`, the first digit not zero.
    let magnitude = parts.exponent() + digits as i64;
    let shown_magnitude = shown.exponent() + shown_digits as i64;
    (digits == 0 || magnitude == shown_magnitude) && same_digits(text, b)
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

impl Text {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
