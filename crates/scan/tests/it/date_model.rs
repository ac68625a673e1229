//! A calendar that counts, and timestamps by comparing strings. The fuzzer uses this file too.

use inrush_scan::Zone;

/// Days in a month; 0 for months that don't exist.
pub(crate) fn days(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    }
}

/// The day's number of `YYYY-MM-DD`, 1970-01-01 being 0.
pub(crate) fn date_by_counting(text: &str) -> Option<i32> {
    if shape(text) != "9999-99-99" {
        return None;
    }
    let number = |text: &str| text.parse::<u32>().expect("digits");
    let (year, month, day) = (number(&text[..4]), number(&text[5..7]), number(&text[8..]));
    if year == 0 || day == 0 || day > days(year, month) {
        return None;
    }
    let length = |year| 337 + days(year, 2);
    let before: u32 = (1..year).map(length).chain((1..month).map(|month| days(year, month))).sum();
    // 1970-01-01 is the 719,163rd day of the calendar.
    Some((before + day) as i32 - 719_163)
}

/// Zone and microseconds of a timestamp.
pub(crate) fn timestamp_by_strings(text: &str) -> Option<(Zone, Option<i64>)> {
    let date = date_by_counting(text.get(..10)?)?;
    let text = text[10..].strip_prefix([' ', 'T'])?;
    let (clock, zone) = text.split_at(text.find([' ', 'Z', '+', '-']).unwrap_or(text.len()));
    let minutes = offset(zone)?;
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) if clock.len() == 8 => (clock, fraction),
        Some(_) => return None,
        None => (clock, "0"),
    };
    if !matches!(shape(clock).as_str(), "99:99" | "99:99:99") {
        return None;
    }
    let fraction_is_digits = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    if !fraction_is_digits || fraction.len() > 9 {
        return None;
    }
    let mut parts = clock.split(':').map(|part| part.parse::<i64>().expect("digits"));
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or(0));
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let minutes_all = (i64::from(date) * 24 + hour) * 60 + minute - minutes.unwrap_or(0);
    let nanoseconds: i64 = format!("{fraction:0<9}").parse().expect("digits");
    let micros = (minutes_all * 60 + second) * 1_000_000 + nanoseconds / 1000;
    let zone = if minutes.is_none() { Zone::None } else { Zone::Offset };
    Some((zone, (nanoseconds % 1000 == 0).then_some(micros)))
}

/// Minutes east of UTC; `Some(None)` for no zone.
fn offset(zone: &str) -> Option<Option<i64>> {
    if zone.is_empty() {
        return Some(None);
    }
    let zone = zone.strip_prefix(' ').unwrap_or(zone);
    let shape = shape(zone);
    match shape.as_str() {
        "Z" => return Some(Some(0)),
        "+99" | "-99" | "+9999" | "-9999" | "+99:99" | "-99:99" => {}
        _ => return None,
    }
    let number = |text: &str| text.parse::<i64>().expect("digits");
    let (hour, minute) =
        (number(&zone[1..3]), number(&format!("0{}", zone[3..].trim_matches(':'))));
    let minutes = hour * 60 + minute;
    if minute > 59 || minutes > 840 {
        return None;
    }
    Some(Some(if zone.starts_with('-') { -minutes } else { minutes }))
}

/// The text with a 9 for every digit.
fn shape(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit(), "9")
}
