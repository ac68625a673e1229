//! Decimals of 128 bits, as IEEE 754-2008 has them in its binary encoding
//! (<https://github.com/mongodb/specifications/blob/master/source/bson-decimal128/decimal128.md>).
//!
//! ```text
//! bit 127   126..113           112..0
//! sign      exponent + 6176    digits, a whole number below 10^34
//! ```

use std::fmt::Write as _;

use inrush_core::value::digits::Digits;

/// Digits that one keeps.
pub(super) const DIGITS_MAX: u16 = 34;

const BIAS: i64 = 6176;
const EXPONENT_MAX: i64 = 6111;
const DIGITS_BITS: u32 = 113;

/// The number with all its digits, zeros at its end as well; `None` where they are too many, or too far from the point.
pub(super) fn encode(digits: i128, exponent: i64) -> Option<[u8; 16]> {
    let magnitude = digits.unsigned_abs();
    if magnitude >= 10_u128.pow(DIGITS_MAX.into()) || !(-BIAS..=EXPONENT_MAX).contains(&exponent) {
        return None;
    }
    let sign = u128::from(digits < 0) << 127;
    let exponent = u128::from((exponent + BIAS).unsigned_abs()) << DIGITS_BITS;
    Some((sign | exponent | magnitude).to_le_bytes())
}

/// The same of a number that is written down.
pub(super) fn read(text: &[u8]) -> Option<[u8; 16]> {
    let number = Digits::parse(text)?;
    let mut value: u128 = 0;
    for digit in number.whole.iter().chain(number.fraction) {
        value = value.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    let exponent = number.exponent - number.fraction.len() as i64;
    let mut bytes = encode(i128::try_from(value).ok()?, exponent)?;
    if number.negative {
        bytes[15] |= 0x80;
    }
    Some(bytes)
}

/// The number in digits, as consoles show it.
pub(super) fn show(bytes: [u8; 16], out: &mut String) {
    let bits = u128::from_le_bytes(bytes);
    if bits >> 127 == 1 {
        out.push('-');
    }
    // What begins so is no number, or one that nobody writes in this encoding: its digits would be too many.
    match (bits >> 122) & 0x1f {
        0x1f => return out.push_str("NaN"),
        0x1e => return out.push_str("Infinity"),
        0x18..=0x1d => return out.push('0'),
        _ => {}
    }
    let exponent = ((bits >> DIGITS_BITS) & 0x3fff) as i64 - BIAS;
    let digits = (bits & ((1 << DIGITS_BITS) - 1)).to_string();
    // Writing to memory doesn't fail.
    let _ = match usize::try_from(-exponent) {
        Ok(0) => write!(out, "{digits}"),
        Ok(scale) if scale < digits.len() => {
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            write!(out, "{whole}.{fraction}")
        }
        Ok(scale) if scale <= usize::from(DIGITS_MAX) => write!(out, "0.{digits:0>scale$}"),
        _ => write!(out, "{digits}E{exponent:+}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: [u8; 16]) -> String {
        let mut out = String::new();
        show(bytes, &mut out);
        out
    }

    #[test]
    fn digits_and_zeros_at_the_end_stay() {
        for text in [
            "0",
            "1",
            "-1",
            "1.10",
            "-0.001",
            "0.00",
            "12345678901234567890",
            "9999999999999999999999999999999999",
            "0.1234567890123456789012345678901234",
        ] {
            assert_eq!(shown(read(text.as_bytes()).unwrap()), text);
        }
        assert_eq!(shown(read(b"1e3").unwrap()), "1E+3");
        assert_eq!(shown(read(b"-0").unwrap()), "-0");
        for too_much in ["10000000000000000000000000000000000", "1e6112", "1e-6177", "x", ""] {
            assert_eq!(read(too_much.as_bytes()), None, "{too_much}");
        }
    }

    /// From the specification's own examples.
    #[test]
    fn bits_are_where_the_specification_has_them() {
        let hex = |text: &[u8]| {
            let bytes = read(text).unwrap();
            bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>()
        };
        assert_eq!(hex(b"0.1"), "01000000000000000000000000003E30");
        assert_eq!(hex(b"1"), "01000000000000000000000000004030");
        assert_eq!(hex(b"-1"), "010000000000000000000000000040B0");
        assert_eq!(hex(b"1234567890123456789012345678901234"), "F2AF967ED05C82DE3297FF6FDE3C4030");
        assert_eq!(shown(u128::to_le_bytes(0x7c00 << 112)), "NaN");
        assert_eq!(shown(u128::to_le_bytes(0xf800 << 112)), "-Infinity");
    }
}
