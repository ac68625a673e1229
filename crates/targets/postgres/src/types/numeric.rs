//! Decimals: groups of four digits.
//!
//! ```text
//! 12345.678, numeric(10,4) -> digits 3, weight 1, sign 0, scale 4, then 0001 2345 6780
//! ```

use inrush_core::encode::has_whole_digits;
use inrush_core::flow::Code;
use inrush_core::value::digits::Digits;
use inrush_core::value::rule;

use super::number::Special;
use super::store::Misfit;

/// Digits before and behind the point that the server keeps where a column names no limits:
/// <https://www.postgresql.org/docs/current/datatype-numeric.html>.
const WHOLE_MAX: i64 = 131_072;
const SCALE_MAX: i64 = 16_383;

/// Beyond this the server reads no exponents.
const EXPONENT_MAX: i64 = 1_000_000_000;

const POSITIVE: u16 = 0;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const MINUS_INFINITY: u16 = 0xf000;

/// A decimal type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numerics {
    /// Digits in all and behind the point. The scale may be negative, and larger than the precision.
    pub(super) limits: Option<(i64, i64)>,
}

impl Numerics {
    pub(super) const ANY: Self = Self { limits: None };

    /// Encodes a number that fits, written as the server shows it and no longer than prices and measurements are. `false` says
    /// nothing; ask [`Numerics::encode`].
    #[inline]
    pub(super) fn encode_plain(self, value: &[u8], out: &mut Vec<u8>) -> bool {
        const WHOLE_LEN_MAX: usize = 16;
        const FRACTION_LEN_MAX: usize = 8;
        let negative = value.first() == Some(&b'-');
        let digits = &value[usize::from(negative)..];
        let point = digits.iter().position(|byte| *byte == b'.');
        let whole = &digits[..point.unwrap_or(digits.len())];
        let fraction = point.map_or(&[][..], |at| &digits[at + 1..]);
        let is_canonical =
            !matches!(whole, [] | [b'0', _, ..]) && point.is_some() != fraction.is_empty();
        if !is_canonical || whole.len() > WHOLE_LEN_MAX || fraction.len() > FRACTION_LEN_MAX {
            return false;
        }
        let scale = match self.limits {
            None => fraction.len(),
            Some((precision, scale)) => {
                let (whole_len, fraction_len) = (whole.len() as i64, fraction.len() as i64);
                if whole_len > precision - scale || fraction_len > scale {
                    return false;
                }
                scale as usize
            }
        };
        let (Some(mut above), Some(mut below)) = (number(whole), number(fraction)) else {
            return false;
        };
        below *= 10_u64.pow((FRACTION_LEN_MAX - fraction.len()) as u32);
        // The groups before the point, and those behind it.
        let mut groups = [0_u16; 6];
        for group in groups[..4].iter_mut().rev() {
            *group = (above % 10_000) as u16;
            above /= 10_000;
        }
        for group in groups[4..].iter_mut().rev() {
            *group = (below % 10_000) as u16;
            below /= 10_000;
        }
        let Some(first) = groups.iter().position(|group| *group != 0) else {
            // The server's zero has no sign.
            if !negative {
                put_head(0, 0, POSITIVE, scale as u16, out);
            }
            return !negative;
        };
        let end = groups.iter().rposition(|group| *group != 0).map_or(first, |last| last + 1);
        let sign = if negative { NEGATIVE } else { POSITIVE };
        put_head((end - first) as u16, 3 - first as i16, sign, scale as u16, out);
        for group in &groups[first..end] {
            out.extend_from_slice(&group.to_be_bytes());
        }
        true
    }

    /// Encodes `digits` / 10^`scale` if it fits as it is. `false` says nothing; ask [`Numerics::encode`] for the text.
    #[inline]
    pub(super) fn encode_digits(self, digits: i128, scale: u8, out: &mut Vec<u8>) -> bool {
        /// 39 digits, and up to three zeros behind them.
        const GROUPS: usize = 11;
        let shown = match self.limits {
            None => i64::from(scale),
            Some((precision, most)) => {
                if i64::from(scale) > most || !has_whole_digits(digits, scale, precision - most) {
                    return false;
                }
                most
            }
        };
        // Zeros that fill the last group.
        let zeros = (4 - u32::from(scale) % 4) % 4;
        let Some(magnitude) = digits.unsigned_abs().checked_mul(10_u128.pow(zeros)) else {
            return false;
        };
        let mut groups = [[0; 2]; GROUPS];
        let mut first = GROUPS;
        let mut put = |group: u16| {
            first -= 1;
            groups[first] = group.to_be_bytes();
        };
        let mut above = magnitude;
        while u64::try_from(above).is_err() {
            put((above % 10_000) as u16);
            above /= 10_000;
        }
        // Divided much faster.
        let mut above = above as u64;
        while above > 0 {
            put((above % 10_000) as u16);
            above /= 10_000;
        }
        let count = GROUPS - first;
        let last_zeros = groups[first..].iter().rev().take_while(|group| **group == [0; 2]).count();
        let sign = if digits < 0 { NEGATIVE } else { POSITIVE };
        // The groups behind the point have the weights -1, -2 and so on.
        let weight = match count {
            0 => 0,
            _ => count as i16 - 1 - (scale.div_ceil(4)) as i16,
        };
        put_head((count - last_zeros) as u16, weight, sign, shown as u16, out);
        out.extend_from_slice(groups[first..GROUPS - last_zeros].as_flattened());
        true
    }

    pub(super) fn encode<'a>(
        self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        if let Some(special) = Special::parse(value).filter(|_| !strict) {
            return self.encode_special(special, wanted, out);
        }
        let scale = self.limits.map(|(_, scale)| scale);
        let number = rule::decimal(value, scale, strict, wanted)?;
        let significant = number.significant();
        let scale = self.scale(&number, significant).ok_or((Code::Range, wanted))?;
        put(&number, significant, scale, out);
        Ok(())
    }

    /// The digits that the server shows behind the point; `None` for a number that doesn't fit.
    pub(super) fn scale(self, number: &Digits<'_>, significant: Option<(i64, i64)>) -> Option<i64> {
        if number.exponent.abs() > EXPONENT_MAX {
            return None;
        }
        let point = number.point();
        // The powers of ten above the first digit and below the last; negative where those are behind and before the point.
        let above = significant.map_or(i64::MIN, |(first, _)| point - first);
        let below = significant.map_or(i64::MIN, |(_, end)| end - point);
        let written = (number.fraction.len() as i64 - number.exponent).max(0);
        if written > SCALE_MAX {
            return None;
        }
        match self.limits {
            Some((precision, scale)) => {
                (above <= precision - scale && below <= scale).then_some(scale.max(0))
            }
            None => (above <= WHOLE_MAX).then_some(written),
        }
    }

    fn encode_special<'a>(
        self,
        special: Special,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        // What the server keeps in place of digits has a bit that it shows as a scale of 32.
        let (sign, scale) = match special {
            Special::NaN => (NAN, 0),
            Special::Infinity => (INFINITY, 0x20),
            Special::MinusInfinity => (MINUS_INFINITY, 0x20),
        };
        if self.limits.is_some() && special != Special::NaN {
            return Err((Code::Range, wanted));
        }
        put_head(0, 0, sign, scale, out);
        Ok(())
    }
}

/// The number that up to 16 digits write.
#[inline]
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then_some(number * 10 + u64::from(digit))
    })
}

#[inline]
fn put_head(groups: u16, weight: i16, sign: u16, scale: u16, out: &mut Vec<u8>) {
    let ([a, b], [c, d]) = (groups.to_be_bytes(), weight.to_be_bytes());
    let ([e, f], [g, h]) = (sign.to_be_bytes(), scale.to_be_bytes());
    out.extend_from_slice(&[a, b, c, d, e, f, g, h]);
}

/// Writes a number that fits: as many groups as it needs, none of them zero at either end.
fn put(number: &Digits<'_>, significant: Option<(i64, i64)>, scale: i64, out: &mut Vec<u8>) {
    let scale = scale as u16;
    let Some((first, end)) = significant else {
        return put_head(0, 0, POSITIVE, scale, out);
    };
    let point = number.point();
    // The group of weight w has the powers of ten from 4w to 4w + 3.
    let (top, bottom) = ((point - first - 1).div_euclid(4), (point - end).div_euclid(4));
    let sign = if number.negative { NEGATIVE } else { POSITIVE };
    put_head((top - bottom + 1) as u16, top as i16, sign, scale, out);
    let mut place = point - 4 * (top + 1);
    for _ in bottom..=top {
        let group =
            (place..place + 4).fold(0, |group, place| group * 10 + u16::from(number.digit(place)));
        out.extend_from_slice(&group.to_be_bytes());
        place += 4;
    }
}
