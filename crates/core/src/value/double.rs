//! What text a binary float keeps: one rule, whichever the target.
//!
//! - A whole number, which is written without point and exponent, is an identifier or a count. It goes in only where it stays itself:
//!   2^60 and 10^22 do, 2^53 + 1 doesn't.
//! - Any other number is a measurement and becomes the nearest float, unless that makes zero or infinity of what is neither.
//! - Where the type is a guess (`strict`), the number must also come back from the float as it was written.
//! - What isn't a number, or infinite, is a value where the target has such ones, and the type isn't a guess.

use inrush_scan::{self as scan, NumberFault};

use crate::flow::Code;
use crate::value::digits::signed;
use crate::value::is_whole_with_exponent;

/// Which values besides numbers a column of floats has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Specials {
    /// None.
    None,
    /// Infinity, of either sign.
    Infinities,
    /// Infinity, and NaN.
    #[default]
    All,
}

/// Why a text is no value of a column of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no number at all.
    NotANumber,
    /// The column's type is a guess, and the text would not come back as it is.
    Changed,
    /// It is too large, or becomes zero and isn't.
    OutOfRange,
    /// A whole number that would become another.
    Rounded,
}

impl Fault {
    /// What sort of fault it is, and what a column takes that is `wanted`, in words.
    pub fn misfit(self, wanted: &str) -> (Code, &str) {
        match self {
            Fault::NotANumber => (Code::Type, "a number"),
            Fault::Changed => (Code::Type, "a number that a double keeps exactly"),
            Fault::OutOfRange => (Code::Range, wanted),
            Fault::Rounded => (Code::Range, "a whole number that the column keeps exactly"),
        }
    }
}

/// The double that `value` is.
///
/// # Errors
/// What sort of fault it is, and what a column of doubles takes.
pub fn kept(value: &[u8], strict: bool, specials: Specials) -> Result<f64, (Code, &'static str)> {
    double(value, strict, specials).map_err(|fault| fault.misfit("a double"))
}

/// The double that `value` is.
pub fn double(value: &[u8], strict: bool, specials: Specials) -> Result<f64, Fault> {
    check_text(value, strict)?;
    match scan::float(value) {
        Ok(number) => judge(value, number).map(|()| number),
        Err(NumberFault::TooLarge) => Err(Fault::OutOfRange),
        Err(NumberFault::NotANumber) => specials.read(value),
    }
}

/// The float of 32 bits that `value` is. By way of a double it would be rounded twice.
pub fn single(value: &[u8], strict: bool, specials: Specials) -> Result<f32, Fault> {
    check_text(value, strict)?;
    if scan::float(value) == Err(NumberFault::NotANumber) {
        return specials.read(value).map(single_special);
    }
    let text = std::str::from_utf8(value).map_err(|_| Fault::NotANumber)?;
    let number: f32 = text.parse().map_err(|_| Fault::NotANumber)?;
    judge(value, number.into()).map(|()| number)
}

/// Whether the column keeps `value`, a number's text, when it makes `kept` of it.
pub fn judge(value: &[u8], kept: f64) -> Result<(), Fault> {
    /// Below this, a whole number that is no float of either width has been rounded to another whole number anyway: 2^24.
    const EXACT_MAX: f64 = 16_777_216.0;
    if kept.is_infinite() || (kept == 0.0 && !is_zero(value)) {
        return Err(Fault::OutOfRange);
    }
    if kept.abs() < EXACT_MAX {
        return Ok(());
    }
    let (_, digits) = signed(value);
    let is_whole = digits.iter().all(u8::is_ascii_digit);
    if is_whole && !scan::whole_is_exact(value, kept) {
        return Err(Fault::Rounded);
    }
    Ok(())
}

/// `NaN`, `Infinity`, `-inf` and so on, in any case.
pub fn special(value: &[u8]) -> Option<f64> {
    if value.eq_ignore_ascii_case(b"nan") {
        return Some(f64::NAN);
    }
    let (negative, word) = signed(value);
    let is_infinite = word.eq_ignore_ascii_case(b"infinity") || word.eq_ignore_ascii_case(b"inf");
    is_infinite.then_some(if negative { f64::NEG_INFINITY } else { f64::INFINITY })
}

/// The same in 32 bits. Of the many NaN a conversion may choose another than we do.
pub fn single_special(special: f64) -> f32 {
    if special.is_nan() { f32::NAN } else { special as f32 }
}

impl Specials {
    /// The value of a text that is no number, where the column has it.
    #[cold]
    fn read(self, value: &[u8]) -> Result<f64, Fault> {
        let has = |special: &f64| match self {
            Self::None => false,
            Self::Infinities => special.is_infinite(),
            Self::All => true,
        };
        special(value).filter(has).ok_or(Fault::NotANumber)
    }
}

fn check_text(value: &[u8], strict: bool) -> Result<(), Fault> {
    let is_kept = !strict || scan::float_round_trips(value) || is_whole_with_exponent(value);
    if is_kept { Ok(()) } else { Err(Fault::Changed) }
}

/// Whether a number's digits are zeros; those of its exponent don't count.
fn is_zero(value: &[u8]) -> bool {
    let mut digits = value.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.all(|byte| !matches!(byte, b'1'..=b'9'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn double(text: &str) -> Result<f64, Fault> {
        super::double(text.as_bytes(), false, Specials::None)
    }

    fn single(text: &str) -> Result<f32, Fault> {
        super::single(text.as_bytes(), false, Specials::None)
    }

    #[test]
    fn whole_numbers_stay_themselves_and_measurements_are_rounded() {
        for text in ["9007199254740992", "1152921504606846976", "10000000000000000000000", "-0"] {
            assert_eq!(double(text), Ok(text.parse().unwrap()), "{text}");
        }
        for text in [
            "9007199254740993",
            "9223372036854775807",
            "12345678901234567890",
            "10000000000000000000000001",
            "-9007199254740993",
        ] {
            assert_eq!(double(text), Err(Fault::Rounded), "{text}");
        }
        for text in ["9007199254740993.0", "1e23", "0.1", "12345678901234567890e0", "4.9e-324"] {
            assert_eq!(double(text), Ok(text.parse().unwrap()), "{text}");
        }
        for text in ["1e-400", "-0.000e-999999999999", "1e400", "-1e400"] {
            let zero = text.starts_with("-0.");
            let wanted = if zero { Ok(-0.0) } else { Err(Fault::OutOfRange) };
            assert_eq!(double(text), wanted, "{text}");
        }
        assert_eq!(double("0x1p3"), Err(Fault::NotANumber));
        assert_eq!(double("inf"), Err(Fault::NotANumber));
    }

    #[test]
    fn singles_follow_the_same_rule() {
        assert_eq!(single("16777216"), Ok(16_777_216.0));
        assert_eq!(single("16777217"), Err(Fault::Rounded));
        assert_eq!(single("16777217.0"), Ok(16_777_216.0));
        assert_eq!(single("1152921504606846976"), Ok(1_152_921_504_606_846_976.0));
        assert_eq!(single("1e39"), Err(Fault::OutOfRange));
        assert_eq!(single("1e-60"), Err(Fault::OutOfRange));
        assert_eq!(single("1e-45"), Ok(f32::from_bits(1)));
        assert_eq!(single("-0"), Ok(-0.0));
        assert_eq!(single("nan"), Err(Fault::NotANumber));
    }

    #[test]
    fn what_is_no_number_is_for_the_target_to_have() {
        let kept = |text: &str, specials| super::double(text.as_bytes(), false, specials);
        for (text, value) in [("inf", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)] {
            assert_eq!(kept(text, Specials::All), Ok(value));
            assert_eq!(kept(text, Specials::Infinities), Ok(value));
            assert_eq!(kept(text, Specials::None), Err(Fault::NotANumber));
        }
        assert!(kept("NaN", Specials::All).is_ok_and(f64::is_nan));
        assert_eq!(kept("NaN", Specials::Infinities), Err(Fault::NotANumber));
        // A guess doesn't hold them.
        assert_eq!(super::double(b"inf", true, Specials::All), Err(Fault::Changed));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The digits that the standard library prints of a float are all of them.
        #[test]
        fn whole_numbers_go_in_where_all_digits_come_back(
            bits in any::<u128>(), shift in 0..128_u32, long in "[0-9]{1,60}", negative: bool,
        ) {
            for digits in [(bits >> shift).to_string(), long] {
                let text = if negative { format!("-{digits}") } else { digits.clone() };
                let trimmed = digits.trim_start_matches('0');
                let is_same = |shown: String| shown.trim_start_matches('0') == trimmed;
                let number: f64 = text.parse().unwrap();
                let wanted = is_same(format!("{:.0}", number.abs()));
                prop_assert_eq!(double(&text).is_ok(), wanted, "{}", text);
                let number: f32 = text.parse().unwrap();
                let wanted = number.is_finite() && is_same(format!("{:.0}", number.abs()));
                prop_assert_eq!(single(&text).is_ok(), wanted, "{}", text);
            }
        }

        #[test]
        fn measurements_become_the_nearest_float(
            digits in "[1-9][0-9]{0,20}", point in 0..20_usize, power in -420..400_i32,
        ) {
            let (whole, fraction) = digits.split_at(point.min(digits.len()));
            let text = format!("{whole}.{fraction}e{power}");
            let number: f64 = text.parse().unwrap();
            let is_kept = number != 0.0 && number.is_finite();
            prop_assert_eq!(double(&text), if is_kept { Ok(number) } else { Err(Fault::OutOfRange) });
            let number: f32 = text.parse().unwrap();
            let is_kept = number != 0.0 && number.is_finite();
            prop_assert_eq!(single(&text), if is_kept { Ok(number) } else { Err(Fault::OutOfRange) });
        }
    }
}
