//! Numbers, dates and timestamps against the standard library and counting.

#![no_main]

use inrush_scan::{
    Decimal, NumberFault, date_days, decimal, float, float_round_trips, integer,
    is_canonical_integer, is_date, timestamp, timestamp_micros,
};
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../crates/scan/tests/it/date_model.rs"]
mod date_model;
#[path = "../../crates/scan/tests/it/number_model.rs"]
mod number_model;

fuzz_target!(|bytes: &[u8]| {
    number_model::check_plain(bytes);
    // Half of the inputs are made of what numbers and dates are made of.
    let spelled: String;
    let text = match bytes {
        [first, rest @ ..] if *first >= 128 => {
            let letters = b"0123456789012345+-.eETZ: ";
            spelled = rest.iter().map(|&b| char::from(letters[usize::from(b) % 25])).collect();
            spelled.as_str()
        }
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => {
                assert_eq!(integer(bytes), Err(NumberFault::NotANumber));
                assert_eq!(float(bytes), Err(NumberFault::NotANumber));
                assert_eq!((decimal(bytes), timestamp(bytes)), (None, None));
                assert!(!is_canonical_integer(bytes) && !float_round_trips(bytes));
                assert!(!is_date(bytes));
                return;
            }
        },
    };
    numbers(text);
    dates(text);
});

fn numbers(text: &str) {
    let bytes = text.as_bytes();
    number_model::check_plain(bytes);
    let value = integer(bytes);
    assert_eq!(value, number_model::integer_by_std(text), "{text:?}");
    if let Ok(value) = value {
        assert_eq!(is_canonical_integer(bytes), value.to_string() == text, "{text:?}");
    }
    let by_std = number_model::float_by_std(text).map(f64::to_bits);
    assert_eq!(float(bytes).map(f64::to_bits), by_std, "{text:?}");
    assert_eq!(float_round_trips(bytes), number_model::round_trips_by_std(text), "{text:?}");
    if let Some(Decimal { precision, scale }) = decimal(bytes) {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        assert!(precision >= scale && digits - usize::from(precision) <= 1, "{text:?}");
        assert!(float(bytes).is_ok() || digits > 300, "{text:?}");
        assert_eq!(scale == 0, is_canonical_integer(bytes) || text == "-0", "{text:?}");
    }
}

fn dates(text: &str) {
    let bytes = text.as_bytes();
    let day = if text.len() == 10 { date_model::date_by_counting(text) } else { None };
    assert_eq!(date_days(bytes), day, "{text:?}");
    assert_eq!(is_date(bytes), day.is_some(), "{text:?}");
    let expected = date_model::timestamp_by_strings(text);
    assert_eq!(timestamp(bytes), expected.map(|(zone, _)| zone), "{text:?}");
    assert_eq!(timestamp_micros(bytes), expected.and_then(|(_, micros)| micros), "{text:?}");
}
