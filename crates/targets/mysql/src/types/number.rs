//! Integers, decimals, floats and bits.

use std::io::Write as _;

use inrush_scan as scan;

use inrush_core::encode::{Typed, has_whole_digits};
use inrush_core::flow::Code;
use inrush_core::value::digits::Digits;
use inrush_core::value::double::{self, Specials};
use inrush_core::value::rule;

use super::exact::Exact;
use super::store::{Kept, Misfit, settle};

const NO_NUMBER: Misfit<'static> = (Code::Type, "a number");

/// An integer type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integers {
    min: i64,
    max: u64,
    /// Digits that the server shows at least, by zeros in front (ZEROFILL).
    width: u8,
}

impl Integers {
    pub(super) fn are_unsigned(&self) -> bool {
        self.min == 0
    }

    pub(super) fn new(bytes: u32, unsigned: bool, width: u8) -> Self {
        let bits = 8 * bytes;
        if unsigned {
            Self { min: 0, max: u64::MAX >> (64 - bits), width }
        } else {
            Self { min: i64::MIN >> (64 - bits), max: i64::MAX as u64 >> (64 - bits), width }
        }
    }

    pub(super) fn range(&self) -> (i64, u64) {
        (self.min, self.max)
    }

    /// Keeps a number in range, if the server shows it without zeros in front.
    #[inline]
    pub(super) fn keep_number(&self, number: i64) -> Option<Exact> {
        let fits = match u64::try_from(number) {
            Ok(number) => number <= self.max,
            Err(_) => number >= self.min,
        };
        (fits && self.width == 0).then_some(Exact::Integer(number))
    }

    /// Whether the value is in range and written as the server shows it. `false` says nothing; ask [`Integers::keep`].
    #[inline(always)]
    pub(super) fn is_plain(&self, value: &[u8]) -> bool {
        // Numbers of 16 digits at most: the maximum of an unsigned bigint may saturate.
        let max = i64::try_from(self.max).unwrap_or(i64::MAX);
        scan::plain_integer(value).is_some_and(|number| (self.min..=max).contains(&number))
            && self.width == 0
    }

    pub(super) fn keep<'a>(
        &self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        let range = (i128::from(self.min), i128::from(self.max));
        let number = rule::integer(value, range, strict, wanted)?;
        let start = out.len();
        if number < 0 {
            out.push(b'-');
        }
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(number.unsigned_abs());
        let zeros = usize::from(self.width).saturating_sub(digits.len());
        out.extend(std::iter::repeat_n(b'0', zeros));
        out.extend_from_slice(digits.as_bytes());
        Ok(settle(value, start, out))
    }
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

/// The number that digits write, if it has 64 bits.
fn magnitude(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, digit| {
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// `true` and `false` as the server has them.
pub(super) fn truth(value: &[u8]) -> Option<u8> {
    scan::is_boolean(value).map(|truth| b'0' + u8::from(truth))
}

/// A decimal type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimals {
    pub(super) precision: u8,
    pub(super) scale: u8,
    pub(super) unsigned: bool,
    pub(super) zerofill: bool,
}

impl Decimals {
    /// Keeps `digits` / 10^`scale` if it fits as it is. `None` says nothing; ask [`Decimals::keep`] for the text.
    #[inline]
    pub(super) fn keep_digits(&self, mut digits: i128, mut scale: u8) -> Option<Exact> {
        let whole_max = i64::from(self.precision - self.scale);
        let fits = scale <= self.scale && has_whole_digits(digits, scale, whole_max);
        if !fits || self.zerofill || (self.unsigned && digits < 0) {
            return None;
        }
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        Some(Exact::Decimal { digits, scale })
    }

    /// Whether the value fits and is written as the server shows it. `false` says nothing; ask [`Decimals::keep`].
    #[inline]
    pub(super) fn is_plain(&self, value: &[u8]) -> bool {
        let negative = value.first() == Some(&b'-');
        let digits = &value[usize::from(negative)..];
        let scale = usize::from(self.scale);
        let whole = match digits.len().checked_sub(scale + 1) {
            _ if scale == 0 => digits,
            Some(point) if digits[point] == b'.' => &digits[..point],
            _ => return false,
        };
        let whole_max = usize::from(self.precision - self.scale);
        // A zero before the point may have a sign that the server doesn't show.
        let fits = match whole {
            [] => false,
            [b'0'] => !negative,
            [b'0', ..] => false,
            _ => whole.len() <= whole_max && !(negative && self.unsigned),
        };
        let are_digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
        fits && !self.zerofill && are_digits(whole) && are_digits(&digits[digits.len() - scale..])
    }

    pub(super) fn keep<'a>(
        &self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        let number = rule::decimal(value, Some(self.scale.into()), strict, wanted)?;
        let (whole, fraction) = number.size();
        let is_zero = (whole, fraction) == (0, 0);
        let (whole_max, scale) = (i64::from(self.precision - self.scale), i64::from(self.scale));
        let negative = number.negative && !is_zero;
        if whole > whole_max || fraction > scale || (negative && self.unsigned) {
            return Err((Code::Range, wanted));
        }
        let start = out.len();
        if negative {
            out.push(b'-');
        }
        let shown = if self.zerofill { whole_max.max(1) } else { whole.max(1) };
        let point = number.point();
        if is_zero {
            out.extend((0..shown).map(|_| b'0'));
        } else {
            // Places before the first digit that counts hold zeros, written or not.
            out.extend((point - shown..point).map(|place| b'0' + number.digit(place)));
        }
        if scale > 0 {
            out.push(b'.');
            out.extend((point..point + scale).map(|place| b'0' + number.digit(place)));
        }
        Ok(settle(value, start, out))
    }
}

/// A float type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floats {
    /// Four bytes.
    pub(super) single: bool,
    pub(super) unsigned: bool,
    /// Digits in all and behind the point, where the column rounds to them.
    pub(super) digits: Option<(u8, u8)>,
}

/// What a server takes for a decimal's digits at most, whatever their place: texts up to this length may be sent as decimals.
const DECIMAL_LEN_MAX: usize = 30;

impl Floats {
    /// Up to here every whole number is kept exactly.
    #[inline(always)]
    fn exact_max(&self) -> i64 {
        if self.single { 1 << 24 } else { 1 << 53 }
    }

    /// Keeps a number that needs no closer look. `None` says nothing; ask [`Floats::keep`] for the text.
    #[inline]
    pub(super) fn keep_typed(&self, typed: Typed) -> Option<Exact> {
        if self.digits.is_some() {
            return None;
        }
        match typed {
            Typed::Integer(number) => {
                let fits = number.unsigned_abs() <= self.exact_max().unsigned_abs();
                (fits && !(self.unsigned && number < 0)).then_some(Exact::Integer(number))
            }
            Typed::Float(number) => {
                let max = if self.single { f64::from(f32::MAX) } else { f64::MAX };
                // Of a single there may be nothing left.
                let is_lost = self.single && number as f32 == 0.0 && number != 0.0;
                // Neither infinite nor no number at all; a zero's sign the server has to be told in another way.
                let fits = number.abs() <= max
                    && !is_lost
                    && !(number.is_sign_negative() && (self.unsigned || number == 0.0));
                fits.then_some(Exact::Real(number))
            }
            _ => None,
        }
    }

    /// Whether the value needs no closer look. `false` says nothing; ask [`Floats::keep`].
    #[inline(always)]
    pub(super) fn is_plain(&self, value: &[u8]) -> bool {
        if self.digits.is_some() || (self.unsigned && value.first() == Some(&b'-')) {
            return false;
        }
        match scan::plain_decimal(value) {
            Some(number) => number != 0.0 || value[0] != b'-',
            None => {
                scan::plain_integer(value).is_some_and(|number| number.abs() <= self.exact_max())
            }
        }
    }

    pub(super) fn keep<'a>(
        &self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        let number =
            double::double(value, strict, Specials::None).map_err(|fault| fault.misfit(wanted))?;
        // The server casts the double that it read, and asks before whether it is in range.
        let too_large = self.single && number.abs() > f64::from(f32::MAX);
        if too_large || (self.unsigned && number < 0.0) {
            return Err((Code::Range, wanted));
        }
        if self.single {
            double::judge(value, (number as f32).into()).map_err(|fault| fault.misfit(wanted))?;
        }
        let negative = value.first() == Some(&b'-');
        let parsed = Digits::parse(value).ok_or(NO_NUMBER)?;
        if let Some((precision, scale)) = self.digits {
            let (whole, fraction) = parsed.size();
            if whole > i64::from(precision - scale) || fraction > i64::from(scale) {
                return Err((Code::Range, wanted));
            }
        }
        // A number without exponent in a statement is a decimal, which knows no negative zero and cuts digits off.
        if number == 0.0 && negative {
            out.extend_from_slice(if self.unsigned { b"0" } else { b"-0e0" });
            return Ok(Kept::Written);
        }
        if !parsed.has_exponent && value.len() > DECIMAL_LEN_MAX {
            out.extend_from_slice(value);
            out.extend_from_slice(b"e0");
            return Ok(Kept::Written);
        }
        Ok(Kept::AsIs)
    }
}

/// A bit type: numbers below 2 to the power of `bits`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    pub(super) bits: u8,
}

impl Bits {
    /// Keeps a number in range.
    #[inline]
    pub(super) fn keep_number(self, number: i64) -> Option<Exact> {
        let fits = u64::try_from(number).is_ok_and(|number| number <= u64::MAX >> (64 - self.bits));
        fits.then_some(Exact::Integer(number))
    }

    /// A value is a decimal number, or bits as the server's own literals have them: `b'101'`, `0b101`. With zeros in front digits may be
    /// meant as bits, which other engines write so. A flag may be the byte that the server writes into files.
    pub(super) fn keep<'a>(
        self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<Kept, Misfit<'a>> {
        const WANTED: &str = "a number without zeros in front, or bits (b'101')";
        let start = out.len();
        let flag = match value {
            [flag @ (0 | 1)] => Some(b'0' + flag),
            _ => truth(value),
        };
        if let Some(flag) = flag.filter(|_| self.bits == 1) {
            out.push(flag);
            return Ok(Kept::Written);
        }
        let bits = match value {
            [b'b' | b'B', b'\'', bits @ .., b'\''] | [b'0', b'b', bits @ ..] => Some(bits),
            _ => None,
        };
        let number = match bits {
            Some([]) => return Err((Code::Type, WANTED)),
            Some(bits) if bits.iter().all(|bit| matches!(bit, b'0' | b'1')) => {
                let bits = without_zeros(bits);
                let number = || bits.iter().fold(0, |number, bit| number << 1 | u64::from(bit & 1));
                (bits.len() <= 64).then(number)
            }
            None if matches!(value, [b'0', _, ..]) => return Err((Code::Type, WANTED)),
            None if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => magnitude(value),
            _ => return Err((Code::Type, WANTED)),
        };
        match number {
            Some(number) if number <= u64::MAX >> (64 - self.bits) => {
                // Writing to memory doesn't fail.
                let _ = write!(out, "{number}");
                Ok(settle(value, start, out))
            }
            _ => Err((Code::Range, wanted)),
        }
    }
}
