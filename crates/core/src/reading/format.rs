//! Dates and times in a form that a user spells with strftime's letters.

use std::io::Write as _;

use crate::encode::{Day, Moment};

/// A form.
#[derive(Clone, Debug)]
pub(super) struct Format {
    /// As the user has it.
    pub(super) text: Box<str>,
    items: Vec<Item>,
    places: Option<Places>,
}

/// Where the digits of a text are in which every number has all the digits that it may have.
#[derive(Clone, Debug)]
struct Places {
    len: usize,
    /// Bytes between the numbers.
    literals: Vec<(usize, u8)>,
    year: usize,
    month: usize,
    day: usize,
    /// Hours, minutes, seconds; what a form has none of is 0.
    clock: [Option<usize>; 3],
}

impl Places {
    /// Those of a form of year, month, day and time in digits, each once; other forms have none.
    fn of(items: &[Item]) -> Option<Self> {
        let (mut len, mut literals) = (0, Vec::new());
        let mut at = [None; 6];
        for item in items {
            let (part, digits) = match item {
                Item::Literal(byte) => {
                    literals.push((len, *byte));
                    len += 1;
                    continue;
                }
                Item::Blanks => {
                    literals.push((len, b' '));
                    len += 1;
                    continue;
                }
                Item::Part(Part::Year) => (0, 4),
                Item::Part(Part::Month) => (1, 2),
                Item::Part(Part::Day) => (2, 2),
                Item::Part(Part::Hour) => (3, 2),
                Item::Part(Part::Minute) => (4, 2),
                Item::Part(Part::Second) => (5, 2),
                Item::Part(_) => return None,
            };
            if at[part].replace(len).is_some() {
                return None;
            }
            len += digits;
        }
        let [year, month, day, clock @ ..] = at;
        Some(Self { len, literals, year: year?, month: month?, day: day?, clock })
    }

    /// The day of a text as `YYYY-MM-DD`, if these are its places; what stands for a digit need not be one.
    #[inline]
    fn day(&self, text: &[u8]) -> Option<[u8; 10]> {
        let is_so =
            text.len() == self.len && self.literals.iter().all(|(at, byte)| text[*at] == *byte);
        if !is_so {
            return None;
        }
        let mut out = *b"YYYY-MM-DD";
        out[..4].copy_from_slice(&text[self.year..self.year + 4]);
        out[5..7].copy_from_slice(&text[self.month..self.month + 2]);
        out[8..].copy_from_slice(&text[self.day..self.day + 2]);
        Some(out)
    }

    /// The same with its time, as `YYYY-MM-DD HH:MM:SS`.
    fn moment(&self, text: &[u8]) -> Option<[u8; 19]> {
        let mut out = *b"YYYY-MM-DD 00:00:00";
        out[..10].copy_from_slice(&self.day(text)?);
        for (from, to) in self.clock.iter().zip([11, 14, 17]) {
            if let Some(from) = *from {
                out[to..to + 2].copy_from_slice(&text[from..from + 2]);
            }
        }
        Some(out)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// This very byte.
    Literal(u8),
    /// One blank or more.
    Blanks,
    Part(Part),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// `%Y`
    Year,
    /// `%y`
    ShortYear,
    /// `%m`
    Month,
    /// `%d`, `%e`
    Day,
    /// `%b`, `%B`
    MonthName,
    /// `%a`, `%A`
    DayName,
    /// `%j`
    DayOfYear,
    /// `%H`
    Hour,
    /// `%I`
    HalfHour,
    /// `%p`
    Half,
    /// `%M`
    Minute,
    /// `%S`
    Second,
    /// `%f`
    Fraction,
    /// `%z`
    Offset,
    /// `%Z`
    Zone,
    /// `%s`
    Epoch,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// From 1970-01-01 on.
const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// What has been read of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    weekday: Option<i64>,
    day_of_year: Option<i64>,
    hour: Option<i64>,
    half_hour: Option<i64>,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    nanos: u32,
    /// Seconds east of UTC.
    offset: Option<i64>,
    epoch: Option<i64>,
    /// Whether the epoch has a sign, as 0 may have where a fraction follows.
    before_epoch: bool,
}

impl Format {
    /// Takes a form apart, for days only or for days with a time.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub(super) fn parse(text: &str, has_time: bool) -> Result<Self, String> {
        let mut items = Vec::new();
        add(text, text, &mut items)?;
        let has = |part| items.contains(&Item::Part(part));
        let has_year = has(Part::Year) || has(Part::ShortYear);
        let has_day = has_year
            && (has(Part::DayOfYear)
                || has(Part::Day) && (has(Part::Month) || has(Part::MonthName)));
        let clock = [Part::Hour, Part::HalfHour, Part::Minute, Part::Second, Part::Fraction];
        let zone = [Part::Offset, Part::Zone, Part::Epoch, Part::Half];
        let is_timed = clock.into_iter().chain(zone).any(has);
        if has(Part::Epoch) && has_time {
            return match items.iter().all(|item| {
                !matches!(item, Item::Part(part) if !matches!(part, Part::Epoch | Part::Fraction))
            }) {
                true => Ok(Self { text: text.into(), items, places: None }),
                false => Err(format!("'{text}': %s is the whole moment, and needs nothing besides %f")),
            };
        }
        if !has_day {
            return Err(format!(
                "'{text}' names no day: it takes a year (%Y, %y), a month (%m, %b) and a day (%d), or %Y and %j"
            ));
        }
        if !has_time && is_timed {
            return Err(format!("'{text}' has a time of day: --timestamp-format is for such"));
        }
        if has_time && !has(Part::Hour) && !has(Part::HalfHour) {
            return Err(format!(
                "'{text}' has no hour (%H): --date-format is for days, which columns of timestamps take as midnight"
            ));
        }
        if has(Part::HalfHour) != has(Part::Half) {
            return Err(format!("'{text}': %I and %p go together"));
        }
        let places = Places::of(&items);
        Ok(Self { text: text.into(), items, places })
    }

    /// Whether what it reads has an offset from UTC.
    pub(super) fn has_zone(&self) -> bool {
        let names = [Part::Offset, Part::Zone, Part::Epoch].map(Item::Part);
        self.items.iter().any(|item| names.contains(item))
    }

    /// Appends the day that a text is as `YYYY-MM-DD`.
    pub(super) fn read_day(&self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&self.day(text)?);
        Some(())
    }

    /// The day that a text is, as `YYYY-MM-DD`.
    pub(super) fn day(&self, text: &[u8]) -> Option<[u8; 10]> {
        self.common_day(text).or_else(|| Some(self.find(text)?.day()?.text()))
    }

    /// The day that a text is in which every number has all its digits, as `YYYY-MM-DD`.
    #[inline]
    pub(super) fn common_day(&self, text: &[u8]) -> Option<[u8; 10]> {
        self.places.as_ref()?.day(text).filter(|day| inrush_scan::is_date(day))
    }

    /// The moment that a text is in which every number has all its digits, as `YYYY-MM-DD HH:MM:SS`.
    #[inline]
    pub(super) fn common_moment(&self, text: &[u8]) -> Option<[u8; 19]> {
        let moment = self.places.as_ref()?.moment(text)?;
        (inrush_scan::timestamp(&moment) == Some(inrush_scan::Zone::None)).then_some(moment)
    }

    /// The moment that a text is.
    pub(super) fn read_moment(&self, text: &[u8]) -> Option<Moment> {
        if let Some(moment) = self.places.as_ref().and_then(|places| places.moment(text))
            && let Some(found) = inrush_scan::read_timestamp(&moment)
        {
            return Some(Moment { seconds: found.seconds, nanos: 0, zone: false });
        }
        self.find(text)?.moment()
    }

    /// A moment in this form; `None` where that has not all of it.
    pub(super) fn write(&self, moment: Moment) -> Option<Vec<u8>> {
        let (day, second) = moment.day()?;
        let days = moment.seconds.div_euclid(86_400);
        let mut out = Vec::new();
        for item in &self.items {
            // Writing to memory does not fail.
            let _ = match item {
                Item::Literal(byte) => out.write_all(&[*byte]),
                Item::Blanks => out.write_all(b" "),
                Item::Part(part) => match part {
                    Part::Year => write!(out, "{:04}", day.year),
                    Part::ShortYear => write!(out, "{:02}", day.year % 100),
                    Part::Month => write!(out, "{:02}", day.month),
                    Part::Day => write!(out, "{:02}", day.day),
                    Part::MonthName => out.write_all(MONTHS[usize::from(day.month) - 1].as_bytes()),
                    Part::DayName => {
                        out.write_all(WEEKDAYS[days.rem_euclid(7) as usize].as_bytes())
                    }
                    Part::DayOfYear => {
                        write!(out, "{:03}", days - self::days(day.year.into(), 1, 1)? + 1)
                    }
                    Part::Hour => write!(out, "{:02}", second / 3_600),
                    Part::HalfHour => write!(out, "{:02}", (second / 3_600 + 11) % 12 + 1),
                    Part::Half => out.write_all(if second < 43_200 { b"AM" } else { b"PM" }),
                    Part::Minute => write!(out, "{:02}", second / 60 % 60),
                    Part::Second => write!(out, "{:02}", second % 60),
                    Part::Fraction => write!(out, "{:09}", moment.nanos),
                    Part::Offset => out.write_all(b"Z"),
                    Part::Zone => out.write_all(b"UTC"),
                    Part::Epoch => write!(out, "{}", moment.seconds),
                },
            };
        }
        let is_same = match self.find(&out)?.moment() {
            Some(found) => found == moment,
            // A form of days has no time.
            None => self.find(&out)?.day()? == day && second == 0 && moment.nanos == 0,
        };
        is_same.then_some(out)
    }

    /// Whether digits of another item stand right beside those of the item with this index.
    fn is_packed(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.items.get(at));
        before.into_iter().chain(self.items.get(at + 1)).any(|item| item.is_number())
    }

    fn find(&self, text: &[u8]) -> Option<Found> {
        let (mut found, mut rest) = (Found::default(), text);
        for (at, item) in self.items.iter().enumerate() {
            let before = rest.len();
            rest = match item {
                Item::Literal(byte) => rest.strip_prefix(&[*byte])?,
                Item::Blanks => {
                    let behind = rest.trim_ascii_start();
                    if behind.len() == rest.len() {
                        return None;
                    }
                    behind
                }
                Item::Part(part) => found.take(*part, rest)?,
            };
            // Of 2024111 the first digit after the year may be a month, or half of one.
            if self.is_packed(at)
                && let Some(digits) = item.digits()
                && before - rest.len() != digits
            {
                return None;
            }
        }
        rest.is_empty().then_some(found)
    }
}

impl Item {
    /// How many digits a number has at the most that may have fewer, unless those of another stand right beside it.
    fn digits(self) -> Option<usize> {
        let Self::Part(part) = self else { return None };
        match part {
            Part::Month | Part::Day | Part::Hour | Part::HalfHour | Part::Minute | Part::Second => {
                Some(2)
            }
            Part::DayOfYear => Some(3),
            _ => None,
        }
    }

    /// Whether it is written in digits.
    fn is_number(self) -> bool {
        let others = [Part::Year, Part::ShortYear, Part::Fraction, Part::Epoch].map(Self::Part);
        matches!(self, Self::Literal(b'0'..=b'9'))
            || self.digits().is_some()
            || others.contains(&self)
    }
}

/// The items of a form, of which `whole` is what the user wrote.
fn add(form: &str, whole: &str, items: &mut Vec<Item>) -> Result<(), String> {
    let mut rest = form.char_indices();
    while let Some((at, character)) = rest.next() {
        if character == ' ' {
            if items.last() != Some(&Item::Blanks) {
                items.push(Item::Blanks);
            }
            continue;
        }
        if character != '%' {
            let mut bytes = [0; 4];
            items.extend(character.encode_utf8(&mut bytes).bytes().map(Item::Literal));
            continue;
        }
        let letter = rest.next().map(|(_, letter)| letter);
        items.push(Item::Part(match letter {
            Some('Y') => Part::Year,
            Some('y') => Part::ShortYear,
            Some('m') => Part::Month,
            Some('d' | 'e') => Part::Day,
            Some('b' | 'B') => Part::MonthName,
            Some('a' | 'A') => Part::DayName,
            Some('j') => Part::DayOfYear,
            Some('H') => Part::Hour,
            Some('I') => Part::HalfHour,
            Some('p') => Part::Half,
            Some('M') => Part::Minute,
            Some('S') => Part::Second,
            Some('f') => Part::Fraction,
            Some('z') => Part::Offset,
            Some('Z') => Part::Zone,
            Some('s') => Part::Epoch,
            Some('%') => {
                items.push(Item::Literal(b'%'));
                continue;
            }
            Some('T') => {
                add("%H:%M:%S", whole, items)?;
                continue;
            }
            Some('F') => {
                add("%Y-%m-%d", whole, items)?;
                continue;
            }
            Some('D') => {
                add("%m/%d/%y", whole, items)?;
                continue;
            }
            letter => {
                let shown = letter.map(String::from).unwrap_or_default();
                return Err(format!(
                    "'{whole}': '%{shown}' at character {} is none of %Y %y %m %d %e %b %B %a %A %j %H %I %p %M %S %f %z %Z %s %T %F %D %%",
                    whole[..at.min(whole.len())].chars().count() + 1
                ));
            }
        }));
    }
    Ok(())
}

/// A number of one to so many digits, and what follows it.
fn number(text: &[u8], digits_max: usize) -> Option<(i64, &[u8])> {
    let digits = text.iter().take(digits_max).take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..digits].iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    (digits > 0).then(|| (value, &text[digits..]))
}

fn begins_with_digit(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit)
}

/// The one of the names that a text begins with, in full or by its first three letters, in any case.
fn name<'t>(text: &'t [u8], names: &[&str]) -> Option<(i64, &'t [u8])> {
    let begins =
        |name: &[u8]| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    (0..).zip(names).find_map(|(at, name)| {
        let name = name.as_bytes();
        let len = [name.len(), 3].into_iter().find(|len| begins(&name[..*len]))?;
        Some((at, &text[len..]))
    })
}

/// Seconds east of UTC: `Z`, `+HH`, `+HHMM`, `+HH:MM`.
fn offset(text: &[u8]) -> Option<(i64, &[u8])> {
    let (sign, rest) = match text {
        [b'Z' | b'z', rest @ ..] => return Some((0, rest)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let two = |text: &[u8]| match text {
        [a, b, ..] if a.is_ascii_digit() && b.is_ascii_digit() => {
            Some(i64::from(a - b'0') * 10 + i64::from(b - b'0'))
        }
        _ => None,
    };
    let (hours, rest) = (two(rest)?, &rest[2..]);
    let behind = rest.strip_prefix(b":").unwrap_or(rest);
    let (minutes, rest) = match two(behind) {
        Some(minutes) => (minutes, &behind[2..]),
        None => (0, rest),
    };
    (minutes < 60 && hours * 60 + minutes <= 14 * 60)
        .then_some((sign * (hours * 60 + minutes) * 60, rest))
}

/// Days since 1970-01-01, if the calendar has the day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let day = Day { year: year as u16, month: month as u8, day: day as u8 };
    inrush_scan::date_days(&day.text()).map(i64::from)
}

impl Found {
    /// Reads a part, and says what follows it.
    fn take<'t>(&mut self, part: Part, text: &'t [u8]) -> Option<&'t [u8]> {
        let within = |(value, rest): (i64, &'t [u8]), range: std::ops::RangeInclusive<i64>| {
            range.contains(&value).then_some((value, rest))
        };
        let short = |text: &'t [u8]| number(text, 2);
        let (value, rest) = match part {
            Part::Year => {
                let (year, rest) = number(text, 4)?;
                (text.len() - rest.len() == 4).then_some((year, rest))?
            }
            Part::ShortYear => {
                let (year, rest) = short(text)?;
                // As POSIX has it.
                let year = if year < 69 { 2000 + year } else { 1900 + year };
                (text.len() - rest.len() == 2).then_some((year, rest))?
            }
            Part::Month => within(short(text)?, 1..=12)?,
            Part::Day => {
                let day = match text.strip_prefix(b" ") {
                    // As `%e` is written: a day of one digit has a blank before it.
                    Some(padded) => number(padded, 1).filter(|(_, rest)| !begins_with_digit(rest)),
                    None => short(text),
                };
                within(day?, 1..=31)?
            }
            Part::MonthName => name(text, &MONTHS).map(|(at, rest)| (at + 1, rest))?,
            Part::DayName => name(text, &WEEKDAYS)?,
            Part::DayOfYear => within(number(text, 3)?, 1..=366)?,
            Part::Hour => within(short(text)?, 0..=23)?,
            Part::HalfHour => within(short(text)?, 1..=12)?,
            Part::Half => match text {
                [b'a' | b'A', b'm' | b'M', rest @ ..] => (0, rest),
                [b'p' | b'P', b'm' | b'M', rest @ ..] => (1, rest),
                _ => return None,
            },
            Part::Minute | Part::Second => within(short(text)?, 0..=59)?,
            Part::Fraction => {
                let (value, rest) = number(text, 9)?;
                let digits = (text.len() - rest.len()) as u32;
                (value * 10_i64.pow(9 - digits), rest)
            }
            Part::Offset => offset(text)?,
            Part::Zone => {
                let named = ["UTC", "GMT", "Z"].into_iter().find(|name| {
                    let start = text.get(..name.len());
                    start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
                })?;
                (0, &text[named.len()..])
            }
            Part::Epoch => {
                let unsigned = text.strip_prefix(b"-");
                self.before_epoch = unsigned.is_some();
                let (seconds, rest) = number(unsigned.unwrap_or(text), 18)?;
                (if self.before_epoch { -seconds } else { seconds }, rest)
            }
        };
        let place = match part {
            Part::Year | Part::ShortYear => &mut self.year,
            Part::Month | Part::MonthName => &mut self.month,
            Part::Day => &mut self.day,
            Part::DayName => &mut self.weekday,
            Part::DayOfYear => &mut self.day_of_year,
            Part::Hour => &mut self.hour,
            Part::HalfHour => &mut self.half_hour,
            Part::Offset | Part::Zone => &mut self.offset,
            Part::Epoch => &mut self.epoch,
            Part::Half => {
                self.afternoon = Some(value == 1);
                return Some(rest);
            }
            Part::Minute => {
                self.minute = value;
                return Some(rest);
            }
            Part::Second => {
                self.second = value;
                return Some(rest);
            }
            Part::Fraction => {
                self.nanos = value as u32;
                return Some(rest);
            }
        };
        // What is said twice has to be the same.
        (*place.get_or_insert(value) == value).then_some(rest)
    }

    /// The day, if the calendar has it.
    fn day(&self) -> Option<Day> {
        let year = self.year?;
        let at = match (self.month, self.day) {
            (Some(month), Some(day)) => days(year, month, day)?,
            _ => days(year, 1, 1)? + self.day_of_year? - 1,
        };
        let day = Day::of(at)?;
        let is_same = i64::from(day.year) == year
            && self.weekday.is_none_or(|weekday| weekday == at.rem_euclid(7))
            && self.day_of_year.is_none_or(|number| {
                days(year, 1, 1).is_some_and(|first| at - first + 1 == number)
            });
        is_same.then_some(day)
    }

    fn moment(&self) -> Option<Moment> {
        if let Some(seconds) = self.epoch {
            // The sign is that of the fraction too.
            let (seconds, nanos) = match (self.before_epoch, self.nanos) {
                (true, 1..) => (seconds - 1, 1_000_000_000 - self.nanos),
                (_, nanos) => (seconds, nanos),
            };
            return Some(Moment { seconds, nanos, zone: true });
        }
        let day = i64::from(inrush_scan::date_days(&self.day()?.text())?);
        let hour = match (self.hour, self.half_hour, self.afternoon) {
            (None, Some(hour), Some(afternoon)) => hour % 12 + if afternoon { 12 } else { 0 },
            (Some(hour), None, _) => hour,
            _ => return None,
        };
        let seconds = day * 86_400 + hour * 3_600 + self.minute * 60 + self.second;
        Some(Moment {
            seconds: seconds - self.offset.unwrap_or(0),
            nanos: self.nanos,
            zone: self.offset.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(form: &str, text: &str) -> Option<String> {
        let mut out = Vec::new();
        Format::parse(form, false).unwrap().read_day(text.as_bytes(), &mut out)?;
        Some(String::from_utf8(out).unwrap())
    }

    fn moment(form: &str, text: &str) -> Option<String> {
        let moment = Format::parse(form, true).unwrap().read_moment(text.as_bytes())?;
        let (text, len) = moment.text()?;
        Some(String::from_utf8(text[..len].to_vec()).unwrap())
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (form, text, wanted) in [
            ("%d.%m.%Y", "31.12.2024", Some("2024-12-31")),
            ("%d.%m.%Y", "1.2.2024", Some("2024-02-01")),
            ("%d.%m.%Y", "31.02.2024", None),
            ("%d.%m.%Y", "31.12.24", None),
            ("%d.%m.%Y", "31.12.2024 ", None),
            ("%m/%d/%y", "12/31/68", Some("2068-12-31")),
            ("%D", "12/31/69", Some("1969-12-31")),
            ("%Y%m%d", "20240229", Some("2024-02-29")),
            ("%Y%m%d", "20230229", None),
            // Digits that nothing separates have to be all there: is it 11 January, or 1 November?
            ("%Y%m%d", "2024111", None),
            ("%d%m%Y", "1112024", None),
            ("%Y%j", "202436", None),
            ("%Y%j", "2024036", Some("2024-02-05")),
            ("%d%b%Y", "1Feb2024", Some("2024-02-01")),
            ("%e %B %Y", " 5 january 2024", Some("2024-01-05")),
            ("%d.%m.%Y", " 1.2.2024", Some("2024-02-01")),
            ("%d.%m.%Y", " 11.2.2024", None),
            ("%d.%m.%Y", "  1.2.2024", None),
            ("%d-%b-%y", "05-SEP-99", Some("1999-09-05")),
            ("%d-%b-%y", "05-Sept-99", None),
            ("%A, %d %B %Y", "Wednesday, 31 January 2024", Some("2024-01-31")),
            ("%A, %d %B %Y", "Monday, 31 January 2024", None),
            ("%Y-%j", "2024-366", Some("2024-12-31")),
            ("%Y-%j", "2023-366", None),
            ("%F", "2024-01-31", Some("2024-01-31")),
            ("%d%%%m%%%Y", "31%12%2024", Some("2024-12-31")),
            (
                "%Y\u{5e74}%m\u{6708}%d\u{65e5}",
                "2024\u{5e74}1\u{6708}31\u{65e5}",
                Some("2024-01-31"),
            ),
        ] {
            assert_eq!(day(form, text).as_deref(), wanted, "{form} of {text}");
        }
    }

    #[test]
    fn moments_keep_their_digits_and_their_offset() {
        for (form, text, wanted) in [
            ("%d.%m.%Y %H:%M", "31.12.2024 9:05", Some("2024-12-31 09:05:00")),
            ("%d.%m.%Y %H%M", "31.12.2024 905", None),
            ("%d.%m.%Y %H%M", "1.2.2024 0905", Some("2024-02-01 09:05:00")),
            ("%m/%d/%Y %I:%M:%S %p", "01/31/2024 12:00:01 AM", Some("2024-01-31 00:00:01")),
            ("%m/%d/%Y %I:%M:%S %p", "01/31/2024 12:00:01 pm", Some("2024-01-31 12:00:01")),
            ("%m/%d/%Y %I:%M:%S %p", "01/31/2024 13:00:01 pm", None),
            ("%F %T.%f", "2024-01-31 10:11:12.123456789", Some("2024-01-31 10:11:12.123456789")),
            ("%F %T.%f", "2024-01-31 10:11:12.5", Some("2024-01-31 10:11:12.5")),
            ("%F %T.%f", "2024-01-31 10:11:12.1234567890", None),
            ("%FT%T%z", "2024-01-31T10:11:12+0200", Some("2024-01-31 08:11:12+00:00")),
            ("%FT%T%z", "2024-01-31T10:11:12-03:30", Some("2024-01-31 13:41:12+00:00")),
            ("%FT%T%z", "2024-01-31T10:11:12Z", Some("2024-01-31 10:11:12+00:00")),
            ("%FT%T%z", "2024-01-31T10:11:12", None),
            ("%d/%b/%Y:%T %z", "10/Oct/2000:13:55:36 -0700", Some("2000-10-10 20:55:36+00:00")),
            ("%F %T %Z", "2024-01-31 10:11:12 UTC", Some("2024-01-31 10:11:12+00:00")),
            ("%F %T %Z", "2024-01-31 10:11:12 CET", None),
            ("%s", "1700000000", Some("2023-11-14 22:13:20+00:00")),
            ("%s.%f", "1700000000.25", Some("2023-11-14 22:13:20.25+00:00")),
            ("%s.%f", "-1.5", Some("1969-12-31 23:59:58.5+00:00")),
            ("%s.%f", "-0.25", Some("1969-12-31 23:59:59.75+00:00")),
            ("%s.%f", "-2.0", Some("1969-12-31 23:59:58+00:00")),
            ("%F %T", "2024-01-31 24:00:00", None),
            ("%F %T", "2024-01-31 10:60:00", None),
        ] {
            assert_eq!(moment(form, text).as_deref(), wanted, "{form} of {text}");
        }
    }

    /// A moment, written in many forms by its parts.
    #[test]
    fn what_is_written_in_a_form_is_read_by_it() {
        for number in (-719_162..=2_932_896).step_by(211) {
            let date = Day::of(number).unwrap();
            let (year, month, day) = (date.year, date.month, date.day);
            let name = MONTHS[usize::from(month) - 1];
            let weekday = WEEKDAYS[number.rem_euclid(7) as usize];
            let wanted = String::from_utf8(date.text().to_vec()).unwrap();
            for (form, text) in [
                ("%d.%m.%Y", format!("{day:02}.{month:02}.{year:04}")),
                ("%d.%m.%Y", format!("{day}.{month}.{year:04}")),
                ("%Y%m%d", format!("{year:04}{month:02}{day:02}")),
                ("%B %d, %Y", format!("{name} {day}, {year:04}")),
                ("%a %e %b %Y", format!("{} {day:2} {} {year:04}", &weekday[..3], &name[..3])),
                ("%A, %d %B %Y", format!("{weekday}, {day:02} {name} {year:04}")),
            ] {
                assert_eq!(super::tests::day(form, &text), Some(wanted.clone()), "{form}: {text}");
            }
            let second = number.rem_euclid(86_400);
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            let half = if hour < 12 { "AM" } else { "PM" };
            let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
            let wanted = format!("{wanted} {hour:02}:{minute:02}:{second:02}");
            for (form, text) in [
                (
                    "%d.%m.%Y %T",
                    format!("{day}.{month}.{year:04} {hour:02}:{minute:02}:{second:02}"),
                ),
                (
                    "%m/%d/%Y %I:%M:%S %p",
                    format!("{month}/{day}/{year:04} {twelve}:{minute:02}:{second:02} {half}"),
                ),
            ] {
                assert_eq!(moment(form, &text), Some(wanted.clone()), "{form}: {text}");
            }
        }
    }

    #[test]
    fn what_is_written_back_is_the_same_or_nothing() {
        let written = |form: &str, text: &str, has_time| {
            let found = inrush_scan::read_timestamp(text.as_bytes()).unwrap();
            let zone = found.zone == inrush_scan::Zone::Offset;
            let moment = Moment { seconds: found.seconds, nanos: found.nanoseconds, zone };
            let text = Format::parse(form, has_time).unwrap().write(moment)?;
            Some(String::from_utf8(text).unwrap())
        };
        for (form, text, wanted) in [
            ("%d.%m.%Y", "2024-01-31 00:00:00", Some("31.01.2024")),
            ("%d.%m.%Y", "2024-01-31 00:00:01", None),
            ("%a %e %b %y", "2024-01-31 00:00:00", Some("Wednesday 31 January 24")),
            ("%y-%j", "1950-01-31 00:00:00", None),
            ("%Y%j", "2024-03-01 00:00:00", Some("2024061")),
        ] {
            assert_eq!(written(form, text, false).as_deref(), wanted, "{form} of {text}");
        }
        for (form, text, wanted) in [
            ("%d.%m.%Y %H:%M", "2024-01-31 09:05:00", Some("31.01.2024 09:05")),
            ("%d.%m.%Y %H:%M", "2024-01-31 09:05:01", None),
            ("%F %I:%M %p", "2024-01-31 00:30:00", Some("2024-01-31 12:30 AM")),
            ("%F %I:%M %p", "2024-01-31 12:30:00", Some("2024-01-31 12:30 PM")),
            ("%F %T.%f", "2024-01-31 12:30:00.5", Some("2024-01-31 12:30:00.500000000")),
            ("%F %T%z", "2024-01-31 12:30:00Z", Some("2024-01-31 12:30:00Z")),
            ("%F %T%z", "2024-01-31 12:30:00", None),
            ("%F %T", "2024-01-31 12:30:00Z", None),
            ("%s", "2023-11-14 22:13:20Z", Some("1700000000")),
            ("%s.%f", "1969-12-31 23:59:59.5Z", None),
        ] {
            assert_eq!(written(form, text, true).as_deref(), wanted, "{form} of {text}");
        }
    }

    #[test]
    fn a_form_that_can_not_be_says_where() {
        for (form, has_time, words) in [
            ("%d.%m.%Q", false, "'%Q' at character 7"),
            ("%d.%m.%", false, "'%' at character 7"),
            ("%d.%m", false, "names no day"),
            ("%Y-%m-%d %H", false, "--timestamp-format"),
            ("%Y-%m-%d", true, "--date-format"),
            ("%F %I:%M", true, "%I and %p"),
            ("%s %Y", true, "%s is the whole moment"),
            ("%s", false, "names no day"),
        ] {
            let error = Format::parse(form, has_time).unwrap_err();
            assert!(error.contains(words), "{form}: {error}");
        }
    }
}
