//! Whole numbers, decimals, binary fractions, truths.

use inrush_scan as scan;

use inrush_core::flow::Code;
use inrush_core::value::double::{self, Specials};
use inrush_core::value::rule::{self, Truths};

use super::store::Misfit;

/// A whole number from `min` to `max`.
pub(super) fn keep_integer<'a>(
    value: &[u8],
    (min, max): (i64, i64),
    strict: bool,
    wanted: &'a str,
) -> Result<i64, Misfit<'a>> {
    match scan::plain_integer(value).filter(|number| (min..=max).contains(number)) {
        Some(number) => Ok(number),
        None => rule::integer(value, (min.into(), max.into()), strict, wanted)
            .map(|number| number as i64),
    }
}

/// A decimal's digits, counted in units of its last one.
pub(super) fn keep_decimal<'a>(
    value: &[u8],
    (precision, scale): (u32, u32),
    strict: bool,
    wanted: &'a str,
) -> Result<i128, Misfit<'a>> {
    let number = rule::decimal(value, Some(scale.into()), strict, wanted)?;
    let significant = number.significant();
    let Some((first, end)) = significant else { return Ok(0) };
    let point = number.point();
    let (precision, scale) = (i64::from(precision), i64::from(scale));
    if point - first > precision - scale || end - point > scale {
        return Err((Code::Range, wanted));
    }
    let units = (first..point + scale)
        .fold(0_i128, |units, place| units * 10 + i128::from(number.digit(place)));
    Ok(if number.negative { -units } else { units })
}

/// The same of one that an input has as such; `None` where digits would be lost.
pub(super) fn rescale(digits: i128, from: u32, (precision, scale): (u32, u32)) -> Option<i128> {
    let units = digits.checked_mul(10_i128.checked_pow(scale.checked_sub(from)?)?)?;
    (units.unsigned_abs() < 10_u128.pow(precision)).then_some(units)
}

/// Appends the decimal with all digits that its column has.
pub(super) fn put_decimal(units: i128, scale: u32, out: &mut Vec<u8>) {
    let scale = scale as usize;
    let digits = format!("{:0width$}", units.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.as_bytes().split_at(digits.len() - scale);
    if units < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(whole);
    if scale > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
}

/// A double, or a single as one.
pub(super) fn keep_float<'a>(
    value: &[u8],
    single: bool,
    strict: bool,
    wanted: &'a str,
) -> Result<f64, Misfit<'a>> {
    // Up to here every whole number is kept exactly.
    let exact_max = if single { 1_i64 << 24 } else { 1 << 53 };
    if let Some(number) = scan::plain_integer(value).filter(|number| number.abs() <= exact_max) {
        return Ok(number as f64);
    }
    let misfit = |fault: double::Fault| fault.misfit(wanted);
    let number = match single {
        true => double::single(value, strict, Specials::None).map_err(misfit)?.into(),
        false => double::double(value, strict, Specials::None).map_err(misfit)?,
    };
    // The server has no numbers that are too small to have all digits.
    let least = if single { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    if number != 0.0 && number.abs() < least {
        return Err((Code::Range, wanted));
    }
    // Zero has no sign there.
    Ok(if number == 0.0 { 0.0 } else { number })
}

/// A truth as its column takes it.
pub(super) fn keep_truth(value: &[u8], strict: bool) -> Result<bool, Misfit<'static>> {
    rule::boolean(value, strict, Truths::Words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_all_digits_or_are_refused() {
        let keep = |text: &str, limits| keep_decimal(text.as_bytes(), limits, false, "x").ok();
        assert_eq!(keep("12.3", (5, 2)), Some(1230));
        assert_eq!(keep("-0.01", (5, 2)), Some(-1));
        assert_eq!(keep("1e2", (5, 2)), Some(10_000));
        assert_eq!(keep("1e-3", (5, 2)), None);
        assert_eq!(keep("999.99", (5, 2)), Some(99_999));
        assert_eq!(keep("1000", (5, 2)), None);
        assert_eq!(keep("12.340", (5, 2)), Some(1234));
        assert_eq!(keep("1e9999999999", (38, 0)), None);
        let most = "9".repeat(38);
        assert_eq!(keep(&most, (38, 0)), Some(10_i128.pow(38) - 1));
        assert_eq!(keep(&format!("-{most}"), (38, 0)), Some(1 - 10_i128.pow(38)));
        assert_eq!(rescale(123, 1, (5, 2)), Some(1230));
        assert_eq!(rescale(123, 3, (5, 2)), None);
        assert_eq!(rescale(123_456, 2, (5, 2)), None);
        let mut out = Vec::new();
        put_decimal(-5, 2, &mut out);
        assert_eq!(out, b"-0.05");
    }

    #[test]
    fn floats_are_what_the_server_has() {
        let keep = |text: &str, single| keep_float(text.as_bytes(), single, false, "x").ok();
        assert_eq!(keep("1.5", false), Some(1.5));
        assert_eq!(keep("-0.0", false).map(f64::to_bits), Some(0));
        assert_eq!(keep("16777217", true), None);
        assert_eq!(keep("16777217", false), Some(16_777_217.0));
        assert_eq!(keep("9007199254740993", false), None);
        assert_eq!(keep("5e-324", false), None);
        assert_eq!(keep("2.2250738585072014e-308", false), Some(f64::MIN_POSITIVE));
        assert_eq!(keep("1e39", true), None);
        assert_eq!(keep("NaN", false), None);
        assert_eq!(keep("Infinity", false), None);
    }
}
