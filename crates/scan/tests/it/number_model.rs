//! Numbers by the standard library and by arithmetic on digit strings. The fuzzer uses this file
//! too.

use std::num::IntErrorKind;

use inrush_scan::{
    Decimal, NumberFault, decimal, float, float_round_trips, integer, is_canonical_integer,
    plain_decimal, plain_decimal_point, plain_integer, plain_integer_within,
};

/// What the standard library parses as an integer. It may see an overflow before it sees that
/// something is no number.
pub(crate) fn integer_by_std(text: &str) -> Result<i64, NumberFault> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    text.parse::<i64>().map_err(|error| match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow
            if digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            NumberFault::TooLarge
        }
        _ => NumberFault::NotANumber,
    })
}

/// What the standard library parses as a float, less the words.
pub(crate) fn float_by_std(text: &str) -> Result<f64, NumberFault> {
    let is_written_well = text.bytes().all(|byte| b"+-.eE0123456789".contains(&byte));
    match text.parse::<f64>() {
        Ok(value) if is_written_well && value.is_finite() => Ok(value),
        Ok(_) if is_written_well => Err(NumberFault::TooLarge),
        _ => Err(NumberFault::NotANumber),
    }
}

/// A number as digits and a power of ten: `digits * 10^power`, no zeros at either end.
fn exact(text: &str) -> (String, i64) {
    let text = text.trim_start_matches(['-', '+']);
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse().unwrap_or(-1 << 60)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let short = digits.trim_end_matches('0');
    if short.is_empty() {
        return (String::new(), 0);
    }
    let power = power - fraction.len() as i64 + (digits.len() - short.len()) as i64;
    (short.to_owned(), power)
}

/// Whether a float's text is written well and a shortest text of the value denotes the same number.
pub(crate) fn round_trips_by_std(text: &str) -> bool {
    let Ok(value) = float_by_std(text) else { return false };
    let digits = text.trim_start_matches('-');
    let whole = digits.split(['.', 'e', 'E']).next().unwrap_or_default();
    let looks_like_an_id = match digits.split_once(['e', 'E']) {
        Some((mantissa, power)) => !mantissa.contains('.') && !power.starts_with(['+', '-']),
        None => false,
    };
    if text.starts_with('+') || (whole.len() > 1 && whole.starts_with('0')) || looks_like_an_id {
        return false;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) && !is_exact_by_digits(digits, value) {
        return false;
    }
    let shortest = exact(&value.to_string());
    // Of two that are equally near the standard library prints the larger, and the even one when it is told how many digits.
    let even = format!("{value:.*e}", shortest.0.len().saturating_sub(1));
    exact(text) == shortest || exact(text) == exact(&even)
}

/// Whether the double is the whole number of these digits: its own are found by doubling its mantissa, digit by digit.
pub(crate) fn is_exact_by_digits(digits: &str, value: f64) -> bool {
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let mantissa = bits & ((1 << 52) - 1) | if bits >> 52 > 0 { 1 << 52 } else { 0 };
    let own = if exponent < 0 {
        let (whole, rest) = match exponent {
            -63.. => (mantissa >> -exponent, mantissa & ((1 << -exponent) - 1)),
            _ => (0, mantissa),
        };
        if rest != 0 {
            return false;
        }
        whole.to_string()
    } else {
        // The last digit first.
        let mut own: Vec<u8> = mantissa.to_string().bytes().rev().map(|byte| byte - b'0').collect();
        for _ in 0..exponent {
            let mut carry = 0;
            for digit in &mut own {
                let sum = *digit * 2 + carry;
                (*digit, carry) = (sum % 10, sum / 10);
            }
            own.extend((carry > 0).then_some(carry));
        }
        own.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
    };
    digits.trim_start_matches('0') == own.trim_start_matches('0')
}

/// The functions for plain numbers take all that are short enough, and say of them what the general
/// functions say.
pub(crate) fn check_plain(b: &[u8]) {
    let shown = b.escape_ascii();
    let digits = b.strip_prefix(b"-").unwrap_or(b).len();
    let expected = (is_canonical_integer(b) && digits <= 16).then(|| integer(b).ok()).flatten();
    assert_eq!(plain_integer(b), expected, "{shown}");
    // What is loaded with the text doesn't count.
    for behind in ["", "\t-1", "99999999999999999999", "\t- a long rest of a line\n"] {
        let bytes = [b"0-", b, behind.as_bytes()].concat();
        let within = plain_integer_within(&bytes, 2, 2 + b.len());
        assert_eq!(within, expected, "{shown} before {behind:?}");
    }
    let is_plain = decimal(b).is_some_and(|Decimal { scale, .. }| {
        (1..=8).contains(&scale) && digits - usize::from(scale) - 1 <= 7
    });
    let with_comma: Vec<u8> = b.iter().map(|b| if *b == b'.' { b',' } else { *b }).collect();
    let is_signed_zero = b.starts_with(b"-") && float(b) == Ok(0.0);
    let point = b.iter().position(|b| *b == b'.').filter(|_| is_plain && !is_signed_zero);
    // A comma that was there before would be a second one.
    if !b.contains(&b',') {
        assert_eq!(plain_decimal_point(&with_comma, b','), point, "{shown}");
    }
    let value = plain_decimal(b);
    assert_eq!(value.is_some(), is_plain, "{shown}");
    if let Some(value) = value {
        assert_eq!(float(b).map(f64::to_bits), Ok(value.to_bits()), "{shown}");
        assert!(float_round_trips(b), "{shown}");
    }
}
