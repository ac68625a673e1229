//! What a field's text denotes as a number, and whether it survives becoming one.
//!
//! Parsing ([`integer`], [`float`]) and judging ([`is_canonical_integer`], [`float_round_trips`],
//! [`decimal`]) are different questions. `007` is an integer, but a column of integers would hand
//! back `7`; inference asks the second kind, encoders the first.
//!
//! Digits are read eight and four at a time: `take_digits` multiplies neighbours together inside a
//! register, which takes three multiplications for eight digits instead of eight.
//!
use std::fmt;

pub use crate::float::{float, float_round_trips};

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
    let (magnitude, rest) = take_digits(digits, 0);
    if digits.is_empty() || !rest.is_empty() {
        return Err(NumberFault::NotANumber);
    }
    // 19 digits fit into 64 bits; of longer ones only the last 19 may be other than 0.
    if digits.len() > 19 && digits[..digits.len() - 19].iter().any(|&digit| digit != b'0') {
        return Err(NumberFault::TooLarge);
    }
    let value =
        if negative { 0_i64.checked_sub_unsigned(magnitude) } else { magnitude.try_into().ok() };
    value.ok_or(NumberFault::TooLarge)
}

/// Appends the digits at the start of `b` to `value`, modulo 2^64, and returns what follows them.
#[inline(always)]
pub(crate) fn take_digits(mut b: &[u8], mut value: u64) -> (u64, &[u8]) {
    while let Some((eight, rest)) = b.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        if !are_digits(word) {
            break;
        }
        value = value.wrapping_mul(100_000_000).wrapping_add(eight_digits(word));
        b = rest;
    }
    if let Some((four, rest)) = b.split_first_chunk::<4>() {
        // Zeros in front, so that the four digits are the last of eight.
        let word = (u64::from(u32::from_le_bytes(*four)) << 32) | 0x3030_3030;
        if are_digits(word) {
            value = value.wrapping_mul(10_000).wrapping_add(eight_digits(word));
            b = rest;
        }
    }
    while let [byte, rest @ ..] = b {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        b = rest;
    }
    (value, b)
}

/// Whether all eight bytes are ASCII digits: the high half of each is 3, also after 6 was added.
#[inline(always)]
const fn are_digits(word: u64) -> bool {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THREES: u64 = 0x3030_3030_3030_3030;
    const SIXES: u64 = 0x0606_0606_0606_0606;
    // Where the first test holds, the addition carries into no other byte.
    word & HIGH == THREES && word.wrapping_add(SIXES) & HIGH == THREES
}

/// The value of eight digits, the first in the lowest byte: neighbours are joined to pairs, pairs
/// to fours, fours to eight.
#[inline(always)]
const fn eight_digits(word: u64) -> u64 {
    let ones = word & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (ones.wrapping_mul((10 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
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
