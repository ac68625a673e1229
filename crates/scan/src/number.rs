//! What a field's text denotes as a number, and whether it survives becoming one.
//!
//! Parsing ([`integer`], [`float`]) and judging ([`is_canonical_integer`], [`float_round_trips`],
//! [`decimal`]) are different questions. `007` is an integer, but a column of integers would hand
//! back `7`; inference asks the second kind, encoders the first.
//!
//! Digits are read eight and four at a time: `take_digits` multiplies neighbours together inside a
//! register, which takes three multiplications for eight digits instead of eight.
//!
//! Nearly all numbers are short and written as programs write them. [`plain_integer`] and
//! [`plain_decimal`] answer both questions for those in one go, without a loop and with few
//! branches that a CPU could guess wrongly. They load the ends of the text as two words, and what a
//! shift leaves in front of the digits is zeros:
//!
//! ```text
//! -4.3471046   ends: 4.347104 and .3471046 -> 00000004 and 03471046
//! ```
//!
//! To everything else they say `None`, and the general functions have the word.

use std::fmt;

use crate::float::TENS;
pub use crate::float::{
    float, float_round_trips, plain_decimal, plain_decimal_point, whole_is_exact,
};

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

/// The value of `-?(0|[1-9][0-9]*)` with up to 16 digits, but not of `-0`: an integer that
/// [`is_canonical_integer`]. `None` says nothing; ask [`integer`].
#[inline(always)]
#[must_use]
pub fn plain_integer(b: &[u8]) -> Option<i64> {
    let negative = usize::from(b.first() == Some(&b'-'));
    let digits = &b[negative..];
    if !(1..=16).contains(&digits.len()) || (digits[0] == b'0' && b.len() > 1) {
        return None;
    }
    let (first, last) = ends(digits);
    let value = if digits.len() <= 8 {
        eight_values(moved(first, digits.len()))?
    } else {
        let high = eight_values(moved(first, digits.len() - 8))?;
        high * 100_000_000 + eight_values(last ^ ZEROS)?
    };
    let value = value as i64;
    Some(if negative == 1 { -value } else { value })
}

/// [`plain_integer`] of `bytes[start..end]`. Where enough bytes follow it, they are loaded with the text, however short it is, and
/// shifted out: there is no branch on its length.
///
/// # Panics
///
/// When `bytes` has no such range.
#[inline(always)]
#[must_use]
pub fn plain_integer_within(bytes: &[u8], start: usize, end: usize) -> Option<i64> {
    // A sign and the digits.
    let Some(block) = bytes[start..].first_chunk::<17>() else {
        return last_integer(&bytes[start..end]);
    };
    let negative = block[0] == b'-';
    let digits = &block[usize::from(negative)..];
    let count = (end - start).wrapping_sub(usize::from(negative));
    if !(1..=16).contains(&count) || (digits[0] == b'0' && end - start > 1) {
        return None;
    }
    let (first, rest) = digits.split_first_chunk().expect("16 digits");
    let first = u64::from_le_bytes(*first);
    let value = if count <= 8 {
        eight_values(moved(first, count))?
    } else {
        let second = u64::from_le_bytes(*rest.first_chunk().expect("16 digits"));
        let low = eight_values(moved(second, count - 8))?;
        eight_values(first ^ ZEROS)? * TENS[count - 8] + low
    };
    let value = value as i64;
    Some(if negative { -value } else { value })
}

/// [`plain_integer`] of a text near the end of the input.
#[inline(never)]
fn last_integer(b: &[u8]) -> Option<i64> {
    plain_integer(b)
}

/// The first and the last eight bytes of `b`. Of a shorter text the first word has all of it with
/// zero bytes behind, the last word all of it with zero bytes in front.
#[inline(always)]
pub(crate) fn ends(b: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (b.first_chunk(), b.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    let len = b.len();
    let text = if let (Some(first), Some(last)) = (b.first_chunk(), b.last_chunk()) {
        u64::from(u32::from_le_bytes(*first))
            | (u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4)))
    } else if len > 0 {
        // One to three bytes: the first, the one in the middle, the last.
        let middle = len / 2;
        u64::from(b[0])
            | (u64::from(b[middle]) << (8 * middle))
            | (u64::from(b[len - 1]) << (8 * (len - 1)))
    } else {
        return (0, 0);
    };
    (text, text << (64 - 8 * len))
}

/// The values of the first `count` digits of `word`, 1 to 8, as the last of eight.
#[inline(always)]
pub(crate) const fn moved(word: u64, count: usize) -> u64 {
    (word ^ ZEROS) << (64 - 8 * count)
}

/// The number that eight digits of these values write; `None` when one is more than 9.
#[inline(always)]
pub(crate) fn eight_values(values: u64) -> Option<u64> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // What takes 9 to 0x7f. Only from a byte that has its high bit set the addition can carry.
    const ROOM: u64 = 0x7676_7676_7676_7676;
    let too_large = (values | values.wrapping_add(ROOM)) & HIGH;
    (too_large == 0).then(|| joined(values))
}

/// Eight times the digit 0.
pub(crate) const ZEROS: u64 = 0x3030_3030_3030_3030;

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
    const SIXES: u64 = 0x0606_0606_0606_0606;
    // Where the first test holds, the addition carries into no other byte.
    (word & HIGH == ZEROS) & (word.wrapping_add(SIXES) & HIGH == ZEROS)
}

/// The value of eight digits, the first in the lowest byte.
#[inline(always)]
const fn eight_digits(word: u64) -> u64 {
    joined(word & 0x0f0f_0f0f_0f0f_0f0f)
}

/// The number that eight digits of these values write: neighbours are joined to pairs, pairs to
/// fours, fours to eight.
#[inline(always)]
const fn joined(ones: u64) -> u64 {
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
