//! Dates, timestamps and booleans against a calendar that counts day by day.

use inrush_scan::{
    Zone, date_days, is_boolean, is_date, timestamp, timestamp_micros, timestamp_text,
};

use crate::date_model::{date_by_counting, days, timestamp_by_strings};

/// Every text of the form `YYYY-MM-DD` whose month and day are below 100, in some years; every real
/// day of all years.
#[test]
fn every_day() {
    // 1970-01-01 is the 719,163rd day of the calendar.
    let mut number = -719_162;
    for year in 0..=9999 {
        let thorough = year < 5 || (1895..2105).contains(&year) || year > 9995;
        for month in 0..if thorough { 100 } else { 14 } {
            for day in 0..if thorough { 100 } else { 33 } {
                let text = format!("{year:04}-{month:02}-{day:02}");
                let exists = year > 0 && day > 0 && day <= days(year, month);
                assert_eq!(is_date(text.as_bytes()), exists, "{text}");
                assert_eq!(date_days(text.as_bytes()), exists.then_some(number), "{text}");
                number += i32::from(exists);
            }
        }
    }
    assert_eq!(date_days(b"1970-01-01"), Some(0));
    assert_eq!(date_days(b"9999-12-31"), Some(2_932_896));
}

/// Every day of the calendar, at a time of day that has all digits, and the first and last moments.
#[test]
fn moments_are_written_as_they_are_read() {
    let text = |micros| timestamp_text(micros).map(|text| String::from_utf8(text.into()).unwrap());
    let (first, last) = (-62_135_596_800_000_000, 253_402_300_799_999_999);
    for (micros, shown) in [
        (first - 1, None),
        (first, Some("0001-01-01 00:00:00.000000")),
        (-1, Some("1969-12-31 23:59:59.999999")),
        (0, Some("1970-01-01 00:00:00.000000")),
        (last, Some("9999-12-31 23:59:59.999999")),
        (last + 1, None),
        (i64::MIN, None),
        (i64::MAX, None),
    ] {
        assert_eq!(text(micros).as_deref(), shown, "{micros}");
    }
    let mut micros = first + 20_759_123_456;
    while micros < last {
        let text = timestamp_text(micros).unwrap();
        assert_eq!(timestamp_micros(&text), Some(micros), "{micros}");
        micros += 86_400 * 1_000_000;
    }
}

#[test]
fn not_dates() {
    for text in [
        "",
        "2012",
        "2012-1-1",
        "12-01-01",
        "2012/01/01",
        "2012-01-01 ",
        " 2012-01-01",
        "2012-01-0a",
        "+012-01-01",
        "2012-01-01T00:00",
        "20120101",
        "2012-+1-01",
        "a012-01-01",
        "2012-01:01",
    ] {
        assert!(!is_date(text.as_bytes()), "{text}");
    }
}

/// Every byte at every position of texts that are timestamps.
#[test]
fn timestamps_with_any_byte_anywhere() {
    for text in [
        "2012-02-29 00:00:00",
        "1999-12-31T23:59:59",
        "0001-10-09 12:34",
        "2014-10-08 17:00+01",
        "2014-10-08 17:00Z",
        "2014-10-08 17:00:01.25 -0130",
    ] {
        for at in 0..text.len() {
            for byte in 0..=255 {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] = byte;
                let expected = std::str::from_utf8(&bytes).ok().and_then(timestamp_by_strings);
                let shown = bytes.escape_ascii();
                assert_eq!(timestamp(&bytes), expected.map(|(zone, _)| zone), "{shown}");
                let micros = expected.and_then(|(_, micros)| micros);
                assert_eq!(timestamp_micros(&bytes), micros, "{shown}");
                let date = date_by_counting_bytes(&bytes[..10]);
                assert_eq!(date_days(&bytes[..10]), date, "{shown}");
                assert_eq!(is_date(&bytes[..10]), date.is_some(), "{shown}");
            }
        }
    }
}

fn date_by_counting_bytes(bytes: &[u8]) -> Option<i32> {
    std::str::from_utf8(bytes).ok().and_then(date_by_counting)
}

#[test]
fn every_minute_and_second() {
    for first in 0..100 {
        for second in 0..100 {
            let minute = format!("2014-10-08 {first:02}:{second:02}");
            let exists = first < 24 && second < 60;
            assert_eq!(timestamp(minute.as_bytes()), exists.then_some(Zone::None), "{minute}");
            let text = format!("2014-10-08T17:{first:02}:{second:02}");
            let exists = first < 60 && second < 60;
            assert_eq!(timestamp(text.as_bytes()), exists.then_some(Zone::None), "{text}");
            for (text, exists) in [
                (format!("{minute}:00+{first:02}{second:02}"), first < 14 && second < 60),
                (format!("2014-10-08 17:00-{first:02}:{second:02}"), first < 14 && second < 60),
            ] {
                let exists = exists || (first, second) == (14, 0);
                assert_eq!(timestamp(text.as_bytes()), exists.then_some(Zone::Offset), "{text}");
            }
        }
    }
}

#[test]
fn timestamps() {
    const DAY: i64 = 86_400_000_000;
    for (text, zone, micros) in [
        ("1970-01-01 00:00", Zone::None, Some(0)),
        ("1970-01-02T00:00:00", Zone::None, Some(DAY)),
        ("1970-01-01 01:02:03.5", Zone::None, Some(3_723_500_000)),
        ("1969-12-31 23:59:59.999999", Zone::None, Some(-1)),
        ("1969-12-31 23:59:59.999999000", Zone::None, Some(-1)),
        ("1970-01-01 00:00:00.000000001", Zone::None, None),
        ("1970-01-01 00:00:00.12345678", Zone::None, None),
        ("1970-01-01T00:00Z", Zone::Offset, Some(0)),
        ("1970-01-01 00:00:00 Z", Zone::Offset, Some(0)),
        ("1970-01-01 00:00:00.1+01", Zone::Offset, Some(100_000 - DAY / 24)),
        ("1970-01-01 00:00 -01:30", Zone::Offset, Some(DAY / 16)),
        ("1970-01-01 14:00:00+1400", Zone::Offset, Some(0)),
        ("0001-01-01 00:00:00+14:00", Zone::Offset, Some(-719_162 * DAY - DAY / 24 * 14)),
        ("9999-12-31 23:59:59.999999", Zone::None, Some(2_932_897 * DAY - 1)),
        ("1970-01-01 00:00:00-00:00", Zone::Offset, Some(0)),
    ] {
        assert_eq!(timestamp(text.as_bytes()), Some(zone), "{text}");
        assert_eq!(timestamp_micros(text.as_bytes()), micros, "{text}");
        assert_eq!(timestamp_by_strings(text), Some((zone, micros)), "{text}");
    }
    for text in [
        "",
        "1970-01-01",
        "1970-01-01 ",
        "1970-01-01 00",
        "1970-01-01 00:0",
        "1970-01-01  00:00",
        "1970-01-01t00:00",
        "1970-01-01 24:00",
        "1970-01-01 00:60",
        "1970-01-01 00:00:60",
        "1970-02-30 00:00",
        "1970-01-01 00:00:00.",
        "1970-01-01 00:00:00.1234567890",
        "1970-01-01 00:00.5",
        "1970-01-01 00:00:00,5",
        "1970-01-01 00:00:00z",
        "1970-01-01 00:00:00  Z",
        "1970-01-01 00:00:00 ",
        "1970-01-01 00:00:00+1",
        "1970-01-01 00:00:00+1:00",
        "1970-01-01 00:00:00+14:01",
        "1970-01-01 00:00:00+15",
        "1970-01-01 00:00:00+01:60",
        "1970-01-01 00:00:00+01:0",
        "1970-01-01 00:00:00 UTC",
        "1970-01-01 00:00:00Z ",
        "1970-01-01 00:00:0",
        "1970-01-01 00:00:",
        "1970-01-01 00:00:00*01",
    ] {
        assert_eq!(timestamp(text.as_bytes()), None, "{text}");
        assert_eq!(timestamp_by_strings(text), None, "{text}");
        assert_eq!(timestamp_micros(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn booleans() {
    for (text, value) in [("true", true), ("True", true), ("TRUE", true)] {
        assert_eq!(is_boolean(text.as_bytes()), Some(value));
    }
    for text in ["false", "False", "FALSE"] {
        assert_eq!(is_boolean(text.as_bytes()), Some(false));
    }
    for text in ["", "t", "f", "tRUE", "yes", "1", "0", "true ", "falsE"] {
        assert_eq!(is_boolean(text.as_bytes()), None);
    }
}
