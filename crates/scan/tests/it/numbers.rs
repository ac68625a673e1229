//! Numbers against the standard library and against arithmetic on digit strings.

use inrush_scan::{
    Decimal, NumberFault, decimal, float, float_round_trips, integer, is_canonical_integer,
    plain_decimal, plain_integer, whole_is_exact,
};
use proptest::prelude::*;

use NumberFault::{NotANumber, TooLarge};

use crate::number_model::{
    check_plain, float_by_std, integer_by_std, is_exact_by_digits, round_trips_by_std,
};

#[test]
fn integers() {
    for (text, value) in [
        ("0", Ok(0)),
        ("-0", Ok(0)),
        ("+7", Ok(7)),
        ("007", Ok(7)),
        ("-00000000000000000000000000000000012", Ok(-12)),
        ("1234", Ok(1234)),
        ("12345678", Ok(12_345_678)),
        ("123456789", Ok(123_456_789)),
        ("1234567890123456", Ok(1_234_567_890_123_456)),
        ("999999999999999999", Ok(999_999_999_999_999_999)),
        ("9223372036854775807", Ok(i64::MAX)),
        ("-9223372036854775808", Ok(i64::MIN)),
        ("+0009223372036854775807", Ok(i64::MAX)),
        ("9223372036854775808", Err(TooLarge)),
        ("-9223372036854775809", Err(TooLarge)),
        ("18446744073709551616", Err(TooLarge)),
        ("18446744073709551617", Err(TooLarge)),
        ("99999999999999999999999999", Err(TooLarge)),
        ("", Err(NotANumber)),
        ("-", Err(NotANumber)),
        ("+", Err(NotANumber)),
        ("+-1", Err(NotANumber)),
        (" 1", Err(NotANumber)),
        ("1 ", Err(NotANumber)),
        ("1.0", Err(NotANumber)),
        ("1_000", Err(NotANumber)),
        ("0x10", Err(NotANumber)),
        ("12:4567:", Err(NotANumber)),
        ("1234567/", Err(NotANumber)),
        ("99999999999999999999999999x", Err(NotANumber)),
    ] {
        assert_eq!(integer(text.as_bytes()), value, "{text}");
    }
}

#[test]
fn integers_refuse_every_other_byte_everywhere() {
    for length in 1..=24 {
        for at in 0..length {
            for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit()) {
                let mut text = vec![b'1'; length];
                text[at] = byte;
                let is_sign = at == 0 && length > 1 && matches!(byte, b'+' | b'-');
                assert_eq!(integer(&text) == Err(NotANumber), !is_sign, "{}", text.escape_ascii());
            }
        }
    }
}

#[test]
fn canonical_integers() {
    for text in ["0", "7", "-7", "10", "-1234567890123456789012345678901234567890"] {
        assert!(is_canonical_integer(text.as_bytes()), "{text}");
    }
    for text in ["", "-", "-0", "+1", "00", "01", "-01", "1.0", "1e5", "a", " 1", "1 ", "--1"] {
        assert!(!is_canonical_integer(text.as_bytes()), "{text}");
    }
}

/// Every length and every place of the point, and in each every byte at every position.
#[test]
fn plain_numbers_of_all_lengths_with_any_byte_anywhere() {
    for length in 0..=40 {
        for point in 0..=length {
            for sign in ["", "-", "+"] {
                for digit in [b'0', b'1', b'9'] {
                    let mut text = sign.as_bytes().to_vec();
                    text.extend(std::iter::repeat_n(digit, length));
                    if point < length {
                        text[sign.len() + point] = b'.';
                    }
                    check_plain(&text);
                    if length > 20 || sign == "+" || digit == b'0' {
                        continue;
                    }
                    for at in 0..text.len() {
                        let good = text[at];
                        for byte in 0..=255 {
                            text[at] = byte;
                            check_plain(&text);
                        }
                        text[at] = good;
                    }
                }
            }
        }
    }
}

#[test]
fn plain_numbers_at_their_limits() {
    for (text, value) in [
        ("0", Some(0)),
        ("-0", None),
        ("-1", Some(-1)),
        ("9999999999999999", Some(9_999_999_999_999_999)),
        ("-9999999999999999", Some(-9_999_999_999_999_999)),
        ("10000000000000000", None),
        ("9223372036854775807", None),
        ("-9223372036854775808", None),
        ("", None),
        ("-", None),
    ] {
        assert_eq!(plain_integer(text.as_bytes()), value, "{text}");
    }
    for (text, value) in [
        ("0.0", Some(0.0)),
        ("9999999.99999999", Some(9_999_999.999_999_99)),
        ("-9999999.99999999", Some(-9_999_999.999_999_99)),
        ("10000000.0", None),
        ("0.000000001", None),
        ("0.00000001", Some(1e-8)),
        ("1", None),
        ("1.", None),
        (".1", None),
        ("", None),
        ("-", None),
        (".", None),
    ] {
        assert_eq!(plain_decimal(text.as_bytes()), value, "{text}");
    }
    assert!(plain_decimal(b"-0.0").unwrap().is_sign_negative());
}

#[test]
fn floats() {
    for (text, value) in [
        ("0", 0.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5e-3", -0.5e-3),
        ("+1E+2", 100.0),
        ("36.1234567", 36.123_456_7),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("9007199254740993.00000000000000000000000000000001", 9_007_199_254_740_994.0),
        ("1e22", 1e22),
        ("1e23", 1e23),
        ("123456789012345678901234567890", 123_456_789_012_345_678_901_234_567_890.0),
        ("1.7976931348623157e308", f64::MAX),
        ("1.7976931348623158e308", f64::MAX),
        ("2.2250738585072011e-308", 2.225_073_858_507_201e-308),
        ("4.9406564584124654e-324", 5e-324),
        ("1e-400", 0.0),
        ("0e999999999999999999999", 0.0),
        ("000000000000000000000000000000001", 1.0),
        ("0.0000000000000000000000000000001", 1e-31),
    ] {
        assert_eq!(float(text.as_bytes()), Ok(value), "{text}");
    }
    assert!(float(b"-0").unwrap().is_sign_negative());
    for text in [
        "",
        "+",
        "-",
        ".",
        "+.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e5.0",
        "1.2.3",
        "inf",
        "nan",
        "NaN",
        "infinity",
        "0x1p3",
        " 1",
        "1 ",
        "1,5",
        "1_0",
        "--1",
        "1e5e5",
        "1f",
        "12345678:",
        "1.\u{b2}",
    ] {
        assert_eq!(float(text.as_bytes()), Err(NotANumber), "{text}");
        assert!(!float_round_trips(text.as_bytes()), "{text}");
    }
    for text in ["1e309", "-1.8e308", "1.7976931348623159e308", "9e99999999999999999999"] {
        assert_eq!(float(text.as_bytes()), Err(TooLarge), "{text}");
        assert!(!float_round_trips(text.as_bytes()), "{text}");
    }
}

#[test]
fn floats_that_round_trip() {
    for text in [
        "0",
        "-0",
        "0.0",
        "12",
        "-12.5",
        ".5",
        "-.5",
        "5.",
        "0.5",
        "1.50",
        "1.500000000000000000000",
        "1e-05",
        "1e+20",
        "1.5e10",
        "1.E5",
        ".5e5",
        "1.5E-300",
        "123456789012345",
        "0.1",
        "0.30000000000000004",
        "9007199254740992",
        "9007199254740994",
        "1.7976931348623157e308",
        "5e-324",
        "2.2250738585072014e-308",
        "10000000000000000000000",
        "0.000000000000000000000",
        "-0.0e+99999",
        "0.000000000000000000000001",
        // The value is right between the two.
        "-11.076309204101562",
        "-11.076309204101563",
        "2.9802322387695312e-08",
        "2.9802322387695313e-08",
    ] {
        assert!(float_round_trips(text.as_bytes()), "{text}");
    }
    for text in [
        "+1.5",
        "+1",
        "007.5",
        "00",
        "00.5",
        "-01.5",
        "1e5",
        "12E4",
        "0e0",
        "9007199254740993",
        "0.1000000000000000055511151231257827",
        "123456789.123456789123",
        "1e-400",
        "4.94e-324",
        "4.9406564584124654e-324",
        "1.7976931348623158e308",
        "0.300000000000000041",
        "1152921504606846976",
        // The shortest text of a double that is another number.
        "100000000000000000000000",
        "12345678901234567000",
        "2.5e-324",
        "11.076309204101561",
        "2.9802322387695311e-08",
    ] {
        assert!(!float_round_trips(text.as_bytes()), "{text}");
    }
}

/// Values next to powers of two, where the distance to the next value changes, with 15 to 18 digits
/// and a little beside.
#[test]
fn long_floats_next_to_powers_of_two() {
    for power in -80..90 {
        let value = 2_f64.powi(power);
        for value in [value.next_down(), value, value.next_up(), value * 1.5, value * 1.1] {
            for digits in 14..18 {
                let text = format!("{value:.digits$e}");
                let (mantissa, power) = text.split_once('e').expect("a power");
                let mantissa: i64 = mantissa.replace('.', "").parse().expect("digits");
                let power = power.parse::<i64>().expect("a power") - digits as i64;
                for off in -12..=12 {
                    let text = format!("{}.e{power}", mantissa + off);
                    let expected = round_trips_by_std(&text);
                    assert_eq!(float_round_trips(text.as_bytes()), expected, "{text}");
                }
            }
        }
    }
}

#[test]
fn whole_numbers_that_a_double_is() {
    let is_exact = |text: &str| whole_is_exact(text.as_bytes(), text.parse().expect("a number"));
    for text in [
        "0",
        "-0",
        "+7",
        "007",
        "9007199254740992",
        "-9007199254740994",
        "1152921504606846976",
        "9223372036854775808",
        "10000000000000000000000",
        "-10000000000000000000000",
    ] {
        assert!(is_exact(text), "{text}");
    }
    let largest = format!("{:.0}", f64::MAX);
    assert!(is_exact(&largest));
    assert!(!is_exact(&largest.replace('8', "7")));
    for text in [
        "9007199254740993",
        "9223372036854775807",
        "12345678901234567890",
        "100000000000000000000000",
        "10000000000000000000000001",
    ] {
        assert!(!is_exact(text), "{text}");
    }
    assert!(
        !whole_is_exact(b"1.0", 1.0) && !whole_is_exact(b"", 0.0) && !whole_is_exact(b"1", 1.5)
    );
    assert!(!whole_is_exact(b"1", -1.0) && !whole_is_exact(b"1", f64::INFINITY));
}

#[test]
fn decimals() {
    for (text, precision, scale) in [
        ("0", 1, 0),
        ("-0", 1, 0),
        ("7", 1, 0),
        ("-120", 3, 0),
        ("0.5", 1, 1),
        ("0.05", 2, 2),
        ("10.50", 4, 2),
        ("-123456789012345678901234567890.1", 31, 1),
    ] {
        assert_eq!(decimal(text.as_bytes()), Some(Decimal { precision, scale }), "{text}");
    }
    for text in
        ["", "-", "+1", "01", "00", ".5", "5.", "1.5e3", "1.5.5", "1,5", "0x1", "-.5", "1.5-"]
    {
        assert_eq!(decimal(text.as_bytes()), None, "{text}");
    }
    let long = format!("1{}.{}", "0".repeat(99_999), "5".repeat(70_000));
    let saturated = Decimal { precision: u16::MAX, scale: u16::MAX };
    assert_eq!(decimal(long.as_bytes()), Some(saturated));
}

/// Texts that are nearly, and often really, numbers.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+]?[0-9]{0,24}",
        "[-+]?[0-9]{0,22}\\.[0-9]{0,22}",
        "-?0?\\.0{0,6}[0-9]{1,18}",
        "[-+]?[0-9]{0,4}\\.?[0-9]{0,20}[eE][-+]?[0-9]{0,4}",
        "[-+.eE0-9]{0,12}",
        "[-+.0-9:/ a-f]{0,12}",
        any::<f64>().prop_map(|value| value.to_string()),
        any::<f64>().prop_map(|value| format!("{value:e}")),
        any::<f32>().prop_map(|value| format!("{value:?}")),
        any::<f64>().prop_map(|value| format!("{value:.16e}")),
        (1_u64..1 << 60, -340..320).prop_map(|(digits, power)| format!("{digits}.e{power}")),
        any::<i64>().prop_map(|value| value.to_string()),
        (1_u64..u64::MAX, 0_u32..64, 0_usize..25).prop_map(|(digits, shift, scale)| {
            let digits = format!("{:0>25}", digits >> shift);
            let text = format!("{}.{}", &digits[..25 - scale], &digits[25 - scale..]);
            text.trim_start_matches('0').to_owned()
        }),
        // What programs print, and its neighbours.
        (1_u64..1 << 53, 0..60, -1..=1_i64).prop_map(|(digits, shift, off)| {
            let text = format!("{:e}", digits as f64 / (1_u64 << shift) as f64);
            let (mantissa, power) = text.split_once('e').expect("a power");
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
            let mantissa: i64 = format!("{whole}{fraction}").parse().expect("digits");
            let power = power.parse::<i64>().expect("a power") - fraction.len() as i64;
            format!("{}.e{power}", mantissa + off)
        }),
    ]
}

/// Findings go into the tables, not into files beside the tests.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(8_000))]

    #[test]
    fn as_the_standard_library(text in text()) {
        prop_assert_eq!(integer(text.as_bytes()), integer_by_std(&text));
        let value = float(text.as_bytes());
        prop_assert_eq!(value.map(f64::to_bits), float_by_std(&text).map(f64::to_bits));
        prop_assert_eq!(float_round_trips(text.as_bytes()), round_trips_by_std(&text));
        check_plain(text.as_bytes());
    }

    #[test]
    fn whole_numbers_are_exact_where_their_digits_are(
        digits in "[1-9][0-9]{0,60}",
        power in 0_i32..1023,
        bits in 1_u64..1 << 53,
        off in 0_u8..2,
    ) {
        let value: f64 = digits.parse().expect("a number");
        let expected = is_exact_by_digits(&digits, value);
        prop_assert_eq!(whole_is_exact(digits.as_bytes(), value), expected, "{}", digits);
        // One that is, and its neighbour.
        let value = bits as f64 * 2_f64.powi(power.min(970));
        let mut digits = format!("{value:.0}").into_bytes();
        let last = digits.len() - 1;
        digits[last] = b'0' + (digits[last] - b'0' + off) % 10;
        prop_assert_eq!(whole_is_exact(&digits, value), off == 0, "{}", value);
        let text = std::str::from_utf8(&digits).expect("digits");
        prop_assert_eq!(is_exact_by_digits(text, value), off == 0, "{}", value);
    }

    #[test]
    fn plain_numbers_are_numbers(text in "-?[0-9]{1,17}", point in 1_usize..10) {
        check_plain(text.as_bytes());
        let (whole, fraction) = text.split_at(point.min(text.len()));
        check_plain(format!("{whole}.{fraction}").as_bytes());
    }

    #[test]
    fn plain_numbers_take_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        check_plain(&bytes);
    }

    #[test]
    fn canonical_is_what_would_be_written(text in text()) {
        if let Ok(value) = integer(text.as_bytes()) {
            prop_assert_eq!(is_canonical_integer(text.as_bytes()), value.to_string() == text);
        }
        if is_canonical_integer(text.as_bytes()) {
            prop_assert!(integer(text.as_bytes()) != Err(NotANumber));
            let digits = text.trim_start_matches('-').len() as u16;
            let expected = Decimal { precision: digits, scale: 0 };
            prop_assert_eq!(decimal(text.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn what_f64_writes_round_trips(value in any::<f64>()) {
        let text = format!("{value:?}");
        prop_assert_eq!(float_round_trips(text.as_bytes()), value.is_finite() && !is_id(&text));
    }
}

/// `{:?}` writes `1e300`, which isn't taken for a float.
fn is_id(text: &str) -> bool {
    text.contains('e') && !text.contains('.') && !text.contains("e-")
}
