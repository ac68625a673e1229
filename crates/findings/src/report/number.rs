//! Numbers as the report writes them: three significant digits, thousands apart.

/// Three significant digits, thousands apart: `247,000`, `1.23`, `0.0123`.
pub fn significant(number: f64) -> String {
    if !number.is_finite() {
        return "-".to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let digits_before = |number: f64| number.abs().log10().floor() as i32;
    // Rounding may add a digit: 999.6 is 1,000.
    let unit = 10f64.powi(digits_before(number) - 2);
    let rounded = (number / unit).round() * unit;
    let places = 2 - digits_before(rounded);
    if places <= 0 {
        return thousands(&format!("{rounded:.0}"));
    }
    if places > 6 { format!("{number:.2e}") } else { format!("{number:.*}", places as usize) }
}

/// A count, with every digit.
pub(super) fn count(number: u64) -> String {
    thousands(&number.to_string())
}

pub(super) use inrush_core::wording::bytes;

/// A share as per cent: `2.10 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// A time in the unit that fits.
pub(super) fn microseconds(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{} s", significant(us / 1e6)),
        us if us >= 1e3 => format!("{} ms", significant(us / 1e3)),
        us => format!("{} us", significant(us)),
    }
}

fn thousands(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut out = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_say_enough() {
        let cases = [
            (0.0, "0"),
            (247_123.4, "247,000"),
            (12_345_678.0, "12,300,000"),
            (999.6, "1,000"),
            (99.96, "100"),
            (9.996, "10.0"),
            (1.234, "1.23"),
            (-1_234.0, "-1,230"),
            (0.012_345, "0.0123"),
            (0.5, "0.500"),
            (0.000_000_123, "1.23e-7"),
            (f64::NAN, "-"),
        ];
        for (number, shown) in cases {
            assert_eq!(significant(number), shown);
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(16_800_000_000), "16.8 GB");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(percent(0.0213), "2.13 %");
        assert_eq!(microseconds(1_500.0), "1.50 ms");
    }
}
