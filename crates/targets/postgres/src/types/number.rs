//! Integers, floats, truths and bits.

use std::io::Write as _;

use inrush_scan as scan;

use inrush_core::encode::Typed;
use inrush_core::flow::Code;
use inrush_core::value::digits::signed;
use inrush_core::value::double::{self, Specials};
use inrush_core::value::hex;
use inrush_core::value::rule::{self, Truths};

use super::store::Misfit;

/// An integer type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integers {
    min: i64,
    max: i64,
    bytes: u8,
}

impl Integers {
    pub(super) const SMALLINT: Self = Self::new(2);
    pub(super) const INTEGER: Self = Self::new(4);
    pub(super) const BIGINT: Self = Self::new(8);
    /// Without a sign.
    pub(super) const OID: Self = Self { min: 0, max: u32::MAX as i64, bytes: 4 };

    const fn new(bytes: u8) -> Self {
        let shift = 64 - 8 * bytes as u32;
        Self { min: i64::MIN >> shift, max: i64::MAX >> shift, bytes }
    }

    pub(super) fn range(&self) -> (i64, i64) {
        (self.min, self.max)
    }

    fn is_oid(&self) -> bool {
        self.min == 0
    }

    #[inline(always)]
    fn put(&self, number: i64, out: &mut Vec<u8>) {
        match self.bytes {
            2 => out.extend_from_slice(&(number as i16).to_be_bytes()),
            4 => out.extend_from_slice(&(number as i32).to_be_bytes()),
            _ => out.extend_from_slice(&number.to_be_bytes()),
        }
    }

    /// Encodes a number that is in range.
    #[inline(always)]
    pub(super) fn encode_number(&self, number: i64, out: &mut Vec<u8>) -> bool {
        let fits = (self.min..=self.max).contains(&number);
        if fits {
            self.put(number, out);
        }
        fits
    }

    /// Encodes a number in range that is written as the server shows it. `false` says nothing; ask [`Integers::encode`].
    #[inline(always)]
    pub(super) fn encode_plain(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        match scan::plain_integer(value) {
            Some(number) if (self.min..=self.max).contains(&number) => {
                self.put(number, out);
                true
            }
            _ => false,
        }
    }

    pub(super) fn encode<'a>(
        &self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let range = (i128::from(self.min), i128::from(self.max));
        let number = rule::integer(value, range, strict, wanted)?;
        // Since PostgreSQL 16 an oid with a zero in front is octal.
        if self.is_oid() && matches!(signed(value).1, [b'0', b'0'..=b'9', ..]) {
            return Err((Code::Type, "a number without zeros in front"));
        }
        self.put(number as i64, out);
        Ok(())
    }

    /// Writes a number, given in its binary form, so that the server reads it: that wants digits where 1.0 is an integer here.
    pub(super) fn write(&self, binary: &[u8], out: &mut Vec<u8>) {
        let number: i64 = match *binary {
            [a, b] => i16::from_be_bytes([a, b]).into(),
            [a, b, c, d] if self.is_oid() => u32::from_be_bytes([a, b, c, d]).into(),
            [a, b, c, d] => i32::from_be_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => return,
        };
        // Writing to memory doesn't fail.
        let _ = write!(out, "{number}");
    }
}

/// The number that these digits write: `None` where there are none, or more than 64 bits of it.
pub(super) fn whole(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_i64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// What the server takes besides numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    NaN,
    Infinity,
    MinusInfinity,
}

impl Special {
    /// `NaN`, `Infinity`, `-inf` and so on, in any case.
    pub(super) fn parse(value: &[u8]) -> Option<Self> {
        double::special(value).map(|special| match special {
            f64::INFINITY => Self::Infinity,
            f64::NEG_INFINITY => Self::MinusInfinity,
            _ => Self::NaN,
        })
    }
}

/// A float type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floats {
    /// Four bytes.
    pub(super) single: bool,
}

impl Floats {
    /// Up to here every whole number is kept exactly.
    #[inline(always)]
    fn exact_max(self) -> i64 {
        if self.single { 1 << 24 } else { 1 << 53 }
    }

    /// Encodes a number that needs no closer look. `false` says nothing; ask [`Floats::encode`].
    #[inline(always)]
    pub(super) fn encode_plain(self, value: &[u8], out: &mut Vec<u8>) -> bool {
        // A double that is right in the middle of two singles may have been rounded to there, and lost which is the nearer.
        const BETWEEN_SINGLES: u64 = (1 << 29) - 1;
        let number = match scan::plain_decimal(value) {
            Some(number) if number == 0.0 && value[0] == b'-' => return false,
            Some(number)
                if self.single
                    && number.to_bits() & BETWEEN_SINGLES == (BETWEEN_SINGLES >> 1) + 1 =>
            {
                return false;
            }
            Some(number) => number,
            None => match scan::plain_integer(value) {
                Some(number) if number.abs() <= self.exact_max() => number as f64,
                _ => return false,
            },
        };
        if self.single {
            out.extend_from_slice(&(number as f32).to_be_bytes());
        } else {
            out.extend_from_slice(&number.to_be_bytes());
        }
        true
    }

    /// Encodes a number that the column keeps exactly. `false` says nothing; ask [`Floats::encode`] for the text.
    #[inline]
    pub(super) fn encode_typed(self, typed: Typed, strict: bool, out: &mut Vec<u8>) -> bool {
        match (typed, typed.double()) {
            (Typed::Integer(number), _)
                if number.unsigned_abs() > self.exact_max().unsigned_abs() =>
            {
                return false;
            }
            (_, Some(number)) if !self.single => out.extend_from_slice(&number.to_be_bytes()),
            (Typed::Integer(_) | Typed::Float(_), Some(number))
                if f64::from(number as f32) == number =>
            {
                out.extend_from_slice(&(number as f32).to_be_bytes());
            }
            (Typed::Float(number), None) if !strict => {
                let number = if number.is_nan() { f64::NAN } else { number };
                self.put_special(number, out);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn encode<'a>(
        self,
        value: &[u8],
        strict: bool,
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let misfit = |fault: double::Fault| fault.misfit(wanted);
        if self.single {
            let number = double::single(value, strict, Specials::All).map_err(misfit)?;
            out.extend_from_slice(&number.to_be_bytes());
        } else {
            let number = double::double(value, strict, Specials::All).map_err(misfit)?;
            out.extend_from_slice(&number.to_be_bytes());
        }
        Ok(())
    }

    fn put_special(self, special: f64, out: &mut Vec<u8>) {
        if self.single {
            out.extend_from_slice(&double::single_special(special).to_be_bytes());
        } else {
            out.extend_from_slice(&special.to_be_bytes());
        }
    }
}

/// A truth as its column takes it.
pub(super) fn truth(value: &[u8], strict: bool) -> Result<bool, Misfit<'static>> {
    rule::boolean(value, strict, Truths::Words)
}

/// A type of bit strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    /// `None` for any.
    pub(super) len: Option<usize>,
    /// Shorter ones fit too.
    pub(super) varying: bool,
}

impl Bits {
    /// Binary digits, or hexadecimal ones behind an `x`.
    pub(super) fn encode<'a>(
        self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        const NO_BITS: Misfit<'static> = (Code::Type, "a bit string (101)");
        let (digits, digit_bits) = match value {
            [b'b' | b'B', digits @ ..] => (digits, 1),
            [b'x' | b'X', digits @ ..] => (digits, 4),
            digits => (digits, 1),
        };
        let bits = digits.len() * digit_bits;
        match self.len {
            Some(len) if bits > len => return Err((Code::TooLong, wanted)),
            Some(len) if bits < len && !self.varying => return Err((Code::Type, wanted)),
            _ => {}
        }
        let count = i32::try_from(bits).map_err(|_| (Code::TooLong, wanted))?;
        out.extend_from_slice(&count.to_be_bytes());
        for byte in digits.chunks(8 / digit_bits) {
            let mut packed = 0_u8;
            for digit in byte {
                let digit = match digit {
                    b'0' | b'1' => digit - b'0',
                    _ if digit_bits == 1 => return Err(NO_BITS),
                    _ => hex::digit(*digit).ok_or(NO_BITS)?,
                };
                packed = packed << digit_bits | digit;
            }
            out.push(packed << (8 - byte.len() * digit_bits));
        }
        Ok(())
    }
}
