//! Readings, written as plainly as possible from what docs/input.md says of them, and without looking at how they are done. Slow: strings
//! all the way, and days by jiff's calendar.

use std::collections::BTreeMap;
use std::sync::Arc;

use inrush_core::facts::FieldFacts;
use inrush_core::moments::MomentFacts;
use inrush_core::reading::{
    ColumnReads, Holds, ReadFacts, ReadRequest, ReadType, Readers, Reading, Unit,
};
use inrush_core::schema::{Basis, Column, Type};
use jiff::civil::Date;

/// How a column is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Decimal separator, and what stands between groups.
    Number(char, Option<&'static str>),
    Money(char, &'static str),
    Percent(char),
    /// Words for true, and for false.
    Truth(&'static str, &'static str),
    Day(&'static str),
    Moment(&'static str),
    /// Digits of a second's fraction that one count has.
    Epoch(Unit, u32),
}

/// Those that are tried.
pub(crate) const WAYS: [Way; 23] = [
    Way::Number('.', None),
    Way::Number(',', None),
    Way::Number(',', Some(".")),
    Way::Number('.', Some(",")),
    Way::Number('.', Some("'")),
    Way::Number(',', Some(" ")),
    Way::Number(',', Some("\u{a0}")),
    Way::Number('.', Some("\u{202f}")),
    Way::Money('.', ","),
    Way::Money(',', "."),
    Way::Percent('.'),
    Way::Percent(','),
    Way::Truth("yes", "no"),
    Way::Truth("1", "0"),
    Way::Day("%d.%m.%Y"),
    Way::Day("%m/%d/%y"),
    Way::Day("%a, %d %b %Y"),
    Way::Day("%Y%j"),
    Way::Moment("%d.%m.%Y %H:%M:%S"),
    Way::Moment("%m/%d/%Y %I:%M %p"),
    Way::Moment("%Y-%m-%dT%H:%M:%S.%f%z"),
    Way::Epoch(Unit::Seconds, 0),
    Way::Epoch(Unit::Nanoseconds, 9),
];

/// Reads a text both ways, and compares. What is read in place, where that is shorter, is the same.
pub(crate) fn check(way: Way, text: &str) {
    let reads = reads(way);
    let wanted = read(way, text);
    let mut found = Vec::new();
    let is_read = reads.canonical(text.as_bytes(), &mut found).is_some();
    let found = is_read.then(|| String::from_utf8(found).unwrap());
    assert_eq!(found, wanted, "{way:?} of {text:?}");
    let around = format!("<{text}>");
    let mut texts = around.clone().into_bytes();
    let end = texts.len() - 1;
    let in_place = reading(&reads).read_in_place(&mut texts, 1, end);
    let texts = String::from_utf8(texts).unwrap();
    match in_place {
        Some(_) => {
            let wanted = wanted.map(|value| format!("<{value}>"));
            assert_eq!(Some(texts), wanted, "{way:?} of {text:?} in place");
        }
        None => assert_eq!(texts, around, "{way:?} of {text:?}: what is not read stays"),
    }
}

/// The reading of a column of which nothing is known but what the user says.
fn reading(reads: &Arc<ColumnReads>) -> Reading {
    let name = "c".to_owned();
    let ty = Type::Text;
    let (basis, required) = (Basis::Inferred, false);
    let column = Column { name: name.clone(), ty, declared: None, basis, required };
    let field = FieldFacts {
        name,
        written: None,
        added: None,
        ty,
        spoiler: None,
        is_declared: false,
        is_settled: false,
        moments: MomentFacts::default(),
        reads: ReadFacts::default(),
    };
    let holds = Holds { all_text: false, is_typed: false, takes_offsets: true };
    Reading::of(Some(reads), &column, &field, holds).unwrap()
}

fn reads(way: Way) -> Arc<ColumnReads> {
    let of = |value: &str| vec![format!("c={value}")];
    let typed = |ty| BTreeMap::from([("c".to_owned(), ty)]);
    let none = ReadRequest::default;
    let request = match way {
        Way::Number(point, group) => ReadRequest {
            decimals: of(&point.to_string()),
            thousands: group.map(of).unwrap_or_default(),
            ..none()
        },
        Way::Money(point, group) => ReadRequest {
            types: typed(ReadType::Money),
            decimals: of(&point.to_string()),
            thousands: of(group),
            ..none()
        },
        Way::Percent(point) => ReadRequest {
            types: typed(ReadType::Percent),
            decimals: of(&point.to_string()),
            ..none()
        },
        Way::Truth(yes, no) => ReadRequest { truths: of(yes), falses: of(no), ..none() },
        Way::Day(form) => ReadRequest { date_formats: of(form), ..none() },
        Way::Moment(form) => ReadRequest { timestamp_formats: of(form), ..none() },
        Way::Epoch(unit, _) => ReadRequest { types: typed(ReadType::Epoch(unit)), ..none() },
    };
    Readers::of(&request).unwrap().column("c").unwrap()
}

/// The value as inrush writes it.
fn read(way: Way, text: &str) -> Option<String> {
    match way {
        Way::Number(point, group) => number(text, point, group).map(Number::shown),
        Way::Money(point, group) => money(text, point, group).map(Number::shown),
        Way::Percent(point) => {
            let number = number(blanks_off(text.strip_suffix('%')?), point, None)?;
            let is_plain = number.exponent.is_empty();
            is_plain.then(|| Number { places: number.places + 2, ..number }.shown())
        }
        Way::Truth(yes, no) => match text.to_lowercase() {
            word if word == "true" || word == yes => Some("true".to_owned()),
            word if word == "false" || word == no => Some("false".to_owned()),
            _ => None,
        },
        Way::Day(form) => fields(form, text)?.date().map(|date| date.to_string()),
        Way::Moment(form) => fields(form, text)?.moment(),
        Way::Epoch(_, digits) => epoch(text, digits),
    }
}

/// A number: all its digits, and how many of them stand behind the point.
struct Number {
    is_negative: bool,
    digits: String,
    places: usize,
    exponent: String,
}

impl Number {
    fn shown(self) -> String {
        let missing = (self.places + 1).saturating_sub(self.digits.len());
        let digits = "0".repeat(missing) + &self.digits;
        let (whole, fraction) = digits.split_at(digits.len() - self.places);
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        };
        let is_zero = digits.chars().all(|digit| digit == '0');
        let sign = if self.is_negative && !is_zero { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{point}{fraction}{}", self.exponent)
    }
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_ascii_digit())
}

fn number(text: &str, point: char, group: Option<&str>) -> Option<Number> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if !exponent.is_empty() {
        let digits = &exponent[1..];
        let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        are_digits(digits).then_some(())?;
    }
    let (whole, fraction) = match mantissa.split_once(point) {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    let groups: Vec<&str> = match group {
        Some(group) => whole.split(group).collect(),
        None => vec![whole],
    };
    let is_grouped = groups.len() > 1;
    let is_right = groups.iter().enumerate().all(|(at, digits)| {
        let is_first = at == 0 && digits.len() <= 3 && !digits.starts_with('0');
        are_digits(digits) && (!is_grouped || is_first || at > 0 && digits.len() == 3)
    });
    (is_right && (fraction.is_empty() || are_digits(fraction))).then(|| Number {
        is_negative,
        digits: groups.concat() + fraction,
        places: fraction.len(),
        exponent: exponent.to_owned(),
    })
}

fn blanks_off(text: &str) -> &str {
    // Those of ASCII, but for the vertical tab.
    text.trim_matches([' ', '\t', '\n', '\r', '\u{c}', '\u{a0}', '\u{202f}'])
}

/// Tries every place at which a currency and a minus may stand.
fn money(text: &str, point: char, group: &str) -> Option<Number> {
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let (text, in_parentheses) = match inner {
        Some(inner) => (blanks_off(inner), true),
        None => (text, false),
    };
    let (text, first_minus) = match text.strip_prefix('-') {
        Some(rest) if !in_parentheses => (blanks_off(rest), true),
        _ => (text, false),
    };
    let amount = |text: &str, is_negative: bool| {
        let starts = text.starts_with(|one: char| one.is_ascii_digit());
        let found = number(text, point, Some(group)).filter(|found| found.exponent.is_empty())?;
        starts.then_some(Number { is_negative, ..found })
    };
    let is_negative = in_parentheses || first_minus;
    let cuts = || text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let before = cuts().filter(|at| is_currency(&text[..*at], true)).find_map(|at| {
        let rest = blanks_off(&text[at..]);
        let behind_minus = rest.strip_prefix('-').filter(|_| !is_negative).map(blanks_off);
        behind_minus.and_then(|rest| amount(rest, true)).or_else(|| amount(rest, is_negative))
    });
    let behind = || {
        cuts()
            .filter(|at| is_currency(&text[*at..], false))
            .find_map(|at| amount(blanks_off(&text[..at]), is_negative))
    };
    before.or_else(behind).or_else(|| amount(text, is_negative))
}

/// A sign, or three capital letters; before an amount a dollar may have a letter or two that say whose it is.
fn is_currency(text: &str, is_before: bool) -> bool {
    const SIGNS: &str = "$¢£¤¥฿₡₦₨₩₪₫€₮₱₲₴₵₸₹₺₼₽₾₿";
    let letters = |text: &str| text.chars().all(|one| one.is_ascii_uppercase());
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (None, _) => false,
        (Some(one), None) => SIGNS.contains(one),
        _ if text.len() == 3 && letters(text) => true,
        _ => is_before && text.len() < 4 && text.strip_suffix('$').is_some_and(letters),
    }
}

/// What a date's text says.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    weekday: Option<i64>,
    day_of_year: Option<i64>,
    hour: Option<i64>,
    is_afternoon: Option<bool>,
    minute: i64,
    second: i64,
    nanos: i64,
    /// Minutes east of UTC.
    offset: Option<i64>,
}

/// Takes a text apart, letter by letter of the form.
fn fields(form: &str, text: &str) -> Option<Fields> {
    let mut found = Fields::default();
    let mut form = form.chars();
    let mut rest = text;
    // Where digits stand right beside those of another number, all of them have to be there.
    let is_number = |letter: char| "YymdjHIMSf".contains(letter);
    let mut is_behind_number = false;
    while let Some(letter) = form.next() {
        if letter != '%' {
            is_behind_number = false;
        }
        if letter == ' ' {
            let behind = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            (behind.len() < rest.len()).then_some(())?;
            rest = behind;
            continue;
        }
        if letter != '%' {
            rest = rest.strip_prefix(letter)?;
            continue;
        }
        let mut digits = |least: usize, most: usize| -> Option<i64> {
            let len = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
            let (number, behind) = rest.split_at(len);
            rest = behind;
            (len >= least).then(|| number.parse().unwrap())
        };
        let letter = form.next()?;
        let behind = form.as_str().strip_prefix('%').and_then(|behind| behind.chars().next());
        let is_packed = is_behind_number || behind.is_some_and(is_number);
        is_behind_number = is_number(letter);
        let least = |most: usize| if is_packed { most } else { 1 };
        match letter {
            'Y' => found.year = Some(digits(4, 4)?),
            'y' => {
                let year = digits(2, 2)?;
                found.year = Some(if year <= 68 { 2000 + year } else { 1900 + year });
            }
            'm' => found.month = Some(digits(least(2), 2)?),
            'd' => {
                let behind = rest.strip_prefix(' ').unwrap_or(rest);
                let len = behind.bytes().take(2).take_while(u8::is_ascii_digit).count();
                found.day = Some(behind[..len].parse().ok()?);
                let taken = rest.len() - behind.len() + len;
                (least(2)..=2).contains(&taken).then_some(())?;
                rest = &behind[len..];
            }
            'j' => found.day_of_year = Some(digits(least(3), 3)?),
            'H' => found.hour = Some(digits(least(2), 2)?),
            'I' => {
                found.hour = Some(digits(least(2), 2).filter(|hour| (1..=12).contains(hour))? % 12)
            }
            'M' => found.minute = digits(least(2), 2)?,
            'S' => found.second = digits(least(2), 2)?,
            'f' => {
                let len = rest.bytes().take(9).take_while(u8::is_ascii_digit).count();
                let (digits, behind) = rest.split_at(len);
                found.nanos = format!("{digits:0<9}").parse().ok().filter(|_| len > 0)?;
                rest = behind;
            }
            'p' => {
                let half = rest.get(..2)?.to_ascii_lowercase();
                found.is_afternoon = Some(half == "pm");
                (half == "am" || half == "pm").then_some(())?;
                rest = &rest[2..];
            }
            'b' => found.month = Some(named(&mut rest, &MONTHS)? + 1),
            'a' => found.weekday = Some(named(&mut rest, &WEEKDAYS)?),
            'z' => found.offset = Some(offset(&mut rest)?),
            other => unreachable!("no form has %{other}"),
        }
    }
    rest.is_empty().then_some(found)
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// In full, or of three letters.
fn named(rest: &mut &str, names: &[&str]) -> Option<i64> {
    for length in (3..=9).rev() {
        let start = rest.get(..length).map(str::to_ascii_lowercase).unwrap_or_default();
        let is_it = |name: &&str| *name == start || length == 3 && name[..3] == start;
        if let Some(at) = names.iter().position(is_it) {
            *rest = &rest[length..];
            return Some(at as i64);
        }
    }
    None
}

/// `Z`, `+02`, `+0200`, `+02:00`, up to 14 hours.
fn offset(rest: &mut &str) -> Option<i64> {
    if let Some(behind) = rest.strip_prefix(['Z', 'z']) {
        *rest = behind;
        return Some(0);
    }
    let sign = match rest.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let two = |at: usize| rest.get(at..at + 2).filter(|two| are_digits(two));
    let hours: i64 = two(1)?.parse().unwrap();
    let colon = usize::from(rest.get(3..4) == Some(":"));
    let (minutes, length) = match two(3 + colon) {
        Some(minutes) => (minutes.parse().unwrap(), 5 + colon),
        None => (0, 3),
    };
    *rest = &rest[length..];
    (minutes < 60 && hours * 60 + minutes <= 14 * 60).then_some(sign * (hours * 60 + minutes))
}

impl Fields {
    fn date(&self) -> Option<Date> {
        let year = i16::try_from(self.year?).ok().filter(|year| (1..=9999).contains(year))?;
        let date = match (self.month, self.day, self.day_of_year) {
            (Some(month), Some(day), _) => Date::new(year, month as i8, day as i8).ok()?,
            (_, _, Some(number)) => {
                let mut date = Date::new(year, 1, 1).unwrap();
                for _ in 1..number {
                    date = date.tomorrow().ok()?;
                }
                (number > 0 && date.year() == year).then_some(date)?
            }
            _ => return None,
        };
        let weekday = i64::from(date.weekday().to_monday_zero_offset());
        self.weekday.is_none_or(|said| said == weekday).then_some(date)
    }

    fn moment(&self) -> Option<String> {
        let hour = self.hour? + if self.is_afternoon == Some(true) { 12 } else { 0 };
        let clock = self.date()?.at(
            i8::try_from(hour).ok().filter(|hour| *hour < 24)?,
            i8::try_from(self.minute).ok().filter(|minute| *minute < 60)?,
            i8::try_from(self.second).ok().filter(|second| *second < 60)?,
            self.nanos as i32,
        );
        let (moment, zone) = match self.offset {
            Some(minutes) => {
                let span = jiff::SignedDuration::from_mins(minutes);
                (clock.checked_sub(span).ok().filter(|moment| moment.year() > 0)?, "+00:00")
            }
            None => (clock, ""),
        };
        Some(moment.to_string().replace('T', " ") + zone)
    }
}

fn epoch(text: &str, digits: u32) -> Option<String> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, are_digits(fraction).then_some(fraction)?),
        None => (unsigned, ""),
    };
    // However many zeros are at both ends.
    let fraction = fraction.trim_end_matches('0');
    let all = are_digits(whole).then(|| whole.trim_start_matches('0').to_owned() + fraction)?;
    // No count of 38 digits is of a year that is written with four, or of whole nanoseconds.
    let all: i128 = all.len().le(&38).then(|| format!("0{all}").parse().ok())??;
    let all = if text.starts_with('-') { -all } else { all };
    let scale = digits + fraction.len() as u32;
    let nanos = match 9_i32 - scale as i32 {
        more @ 0.. => all.checked_mul(10_i128.pow(more as u32))?,
        less => {
            let unit = 10_i128.checked_pow(less.unsigned_abs())?;
            (all % unit == 0).then_some(all / unit)?
        }
    };
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    let moment = Date::constant(1970, 1, 1)
        .at(0, 0, 0, 0)
        .checked_add(jiff::SignedDuration::new(seconds, nanos.rem_euclid(1_000_000_000) as i32))
        .ok()
        .filter(|moment| moment.year() > 0)?;
    Some(moment.to_string().replace('T', " ") + "+00:00")
}
