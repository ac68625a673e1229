//! How the text of a value becomes what its column's encoder reads: a column's *reading*.
//!
//! ```text
//! ReadRequest -> Readers -> for a source's column: ColumnReads -> for a column of the load: Reading
//!                                                     |               |
//!                                     what its values are (survey)    each value, between record and encoder
//! ```
//!
//! What comes out is text again, as inrush writes such values: `1.234,56` becomes `1234.56`, `31.12.2024` becomes `2024-12-31`. So every
//! encoder has every reading, and judges the value as ever. Columns without a reading don't come here.

mod clocks;
mod columns;
mod format;
mod number;
mod request;

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::encode::Moment;
use crate::facts::{FieldFacts, Misfit};
use crate::schema::{Column, Type};
use crate::value::double::special;
use crate::wording::said_of;
pub use clocks::{Clocks, Shown};
pub use columns::{Added, ColumnRequest, is_alike, of_source, rejoined};
use format::Format;
use number::{Numbers, Style, trimmed};
pub use request::{ReadRequest, ReadType, Readers, Trim, TypeWord};

/// What kind of values a reading makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Integers, floats, decimals.
    Number,
    /// True or false.
    Truth,
    /// Days.
    Day,
    /// Days with a time.
    Moment,
}

impl Family {
    /// Those of a column of this type.
    pub fn of(ty: Type) -> Option<Self> {
        match ty {
            Type::Integer | Type::Float | Type::Decimal { .. } => Some(Self::Number),
            Type::Boolean => Some(Self::Truth),
            Type::Date => Some(Self::Day),
            Type::Timestamp { .. } | Type::TimestampNs { .. } => Some(Self::Moment),
            Type::Text | Type::Time | Type::Uuid | Type::Interval | Type::Json | Type::Bytes => {
                None
            }
        }
    }

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Number, Self::Truth, Self::Day, Self::Moment];

    /// The option that says of a column that its values are written as inrush writes them, where there is one.
    pub fn as_written(self) -> Option<(&'static str, String)> {
        match self {
            Self::Number => Some(("--decimal", ".".to_owned())),
            Self::Day => Some(("--date-format", "%Y-%m-%d".to_owned())),
            Self::Truth | Self::Moment => None,
        }
    }
}

/// What was found of a column's values, as the options of reading read them, and as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadFacts {
    /// Whether no value was seen but NULL.
    pub is_null: bool,
    /// Whether the guess of the column's type is of its values as the options read them.
    pub is_read: bool,
    /// Where the column's type is the table's or the user's word: of what families its values stand as they are, because the options
    /// read none of those seen.
    pub plain: Families,
    /// Of what families the options read values of a column whose type the user names, although others are some as they are written.
    pub made: Families,
    /// Where the guess is not of values as the options read them, although they read some.
    pub unread: Option<Unread>,
    /// For amounts and shares: the decimal that holds those seen.
    pub exact: Option<Type>,
    /// The first value that two forms read differently, and these, of which the first is taken.
    pub two_ways: Option<(Misfit, [String; 2])>,
    /// Whether options that would read all of its values may be proposed: those that are said don't.
    pub is_open: bool,
    /// Where it may be: these options.
    pub proposal: Option<Proposal>,
    /// How long its numbers are behind their points, where some have one.
    pub fractions: Option<Fractions>,
    /// The first value that begins with a byte order mark.
    pub marked: Option<Misfit>,
    /// Whether its values are `\x` and hexadecimal digits, as PostgreSQL writes bytes.
    pub is_hex: bool,
}

/// Digits of a column's numbers behind their points, of those that have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fractions {
    /// At the least.
    pub least: u16,
    /// At the most.
    pub most: u16,
    /// Whether some end in a zero that no program writes for a number: `1.10`, not `1.0`.
    pub are_padded: bool,
}

impl ReadFacts {
    /// The same with what to propose, where anything may be.
    #[must_use]
    pub fn proposing(self, proposal: Option<Proposal>) -> Self {
        Self { proposal: proposal.filter(|_| self.is_open), ..self }
    }
}

/// Values that options for all columns could have been meant for, and were not taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The options, and what each is given.
    pub options: Vec<(&'static str, String)>,
    /// What a value is to them, in words.
    pub words: String,
    /// Where the column is text because of them, and would be of other values without: the option that has it so.
    pub as_written: Option<(&'static str, String)>,
    /// Values that they read as others than are written.
    pub fitting: u64,
    /// Values seen.
    pub seen: u64,
    /// The first that they don't read.
    pub misfit: Misfit,
}

impl Unread {
    /// What to say of the column to have its values read so, or as they are written.
    pub fn advice(&self, column: &str) -> String {
        let said = self.options.iter().map(|(option, value)| said_of(option, column, value));
        let said = said.collect::<Vec<_>>().join(" ");
        let as_written = self.as_written.as_ref().map(|(option, value)| {
            format!(", {} takes all values as they are written", said_of(option, column, value))
        });
        format!("{said} makes such rows bad rows{}", as_written.unwrap_or_default())
    }
}

/// Why a text is no value.
#[derive(Debug)]
pub struct Misread {
    /// What it should be, in words.
    pub wanted: String,
    /// Whether it is written as it should be, and no value all the same: an hour that clocks skip. That disproves no guess.
    pub is_impossible: bool,
}

impl From<String> for Misread {
    fn from(wanted: String) -> Self {
        Self { wanted, is_impossible: false }
    }
}

impl From<&str> for Misread {
    fn from(wanted: &str) -> Self {
        wanted.to_owned().into()
    }
}

/// Some of the families, by their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Families(u8);

impl Families {
    /// All of them.
    pub const ALL: Self = Self(0b1111);

    /// Takes one in.
    pub fn add(&mut self, family: Family) {
        self.0 |= 1 << family as u8;
    }

    /// Whether this is one of them.
    pub fn has(self, family: Family) -> bool {
        self.0 & (1 << family as u8) != 0
    }
}

/// The way to read all values of a column of text that were seen: what to say to have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// What the values would be.
    pub family: Family,
    /// Options, and what each is given for the column.
    pub options: Vec<(&'static str, String)>,
    /// What each of the values is, in words.
    pub words: String,
    /// How many were seen.
    pub values: u64,
    /// Other options that read all of them too, as other values: `01/02/2024` is a day in February, or in January. Where there are any
    /// none is to be taken, and only the user can say which.
    pub others: Vec<Vec<(&'static str, String)>>,
}

impl Proposal {
    /// Whether the values are of such a kind as they stand, too, so that they are taken for what they may not be.
    pub fn is_of_values(&self) -> bool {
        self.family.as_written().is_some_and(|way| self.others.contains(&vec![way]))
    }

    /// Whether the values of another column are written as this one's are.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.options == other.options && self.others == other.others && self.words == other.words
    }

    /// What reads the values of two parts of a column, if anything reads both.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        let of_other: Vec<_> = std::iter::once(other.options).chain(other.others).collect();
        let own = std::iter::once(self.options).chain(self.others);
        let mut both = own.filter(|options| of_other.contains(options));
        let (options, values) = (both.next()?, self.values + other.values);
        Some(Self { options, others: both.collect(), values, ..self })
    }
}

/// The options of reading that concern one column of the source.
#[derive(Debug, Default)]
pub struct ColumnReads {
    trim: Trim,
    numbers: Option<Numbers>,
    truths: Option<Truths>,
    days: Vec<Format>,
    moments: Option<Moments>,
    /// The family that options which name the column declare.
    declared: Option<Family>,
    /// What is said of the column, or of all: options, and what each is given.
    said: Vec<(&'static str, String)>,
}

/// Words for true and for false, in lower case.
#[derive(Debug, Default)]
struct Truths {
    yes: Vec<String>,
    no: Vec<String>,
}

#[derive(Debug)]
struct Moments {
    formats: Vec<Format>,
    /// Where there are none: what a whole number counts.
    epoch: Option<Unit>,
    /// Of moments without an offset.
    zone: Option<Clocks>,
}

/// What an epoch counts since 1970-01-01 00:00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// What a whole number of a moment from 1973 to 2286 counts: numbers of days, and days in digits, are smaller.
    pub fn of_count(text: &str) -> Option<Self> {
        let count = text.strip_prefix('-').unwrap_or(text);
        let is_number = !count.starts_with('0') && count.bytes().all(|byte| byte.is_ascii_digit());
        match count.len() {
            _ if !is_number => None,
            9 | 10 => Some(Self::Seconds),
            12 | 13 => Some(Self::Milliseconds),
            15 | 16 => Some(Self::Microseconds),
            18 | 19 => Some(Self::Nanoseconds),
            _ => None,
        }
    }

    fn digits(self) -> u32 {
        match self {
            Self::Seconds => 0,
            Self::Milliseconds => 3,
            Self::Microseconds => 6,
            Self::Nanoseconds => 9,
        }
    }
}

impl FromStr for Unit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match text {
            "s" => Self::Seconds,
            "ms" => Self::Milliseconds,
            "us" => Self::Microseconds,
            "ns" => Self::Nanoseconds,
            _ => return Err(()),
        })
    }
}

impl ColumnReads {
    /// Whether options name the column, so that a value which they can't read is a bad row.
    pub fn is_declared(&self) -> bool {
        self.declared.is_some()
    }

    /// The options that declare the column to be of other values than one of type `ty` has, and what each is given.
    pub fn unapplied(&self, ty: Type) -> Vec<(&'static str, String)> {
        match self.declared {
            Some(family) if Family::of(ty).is_some_and(|own| !self.fills(own)) => {
                self.said_of(family).0
            }
            _ => Vec::new(),
        }
    }

    /// Whether values are amounts or shares, which a decimal holds exactly.
    pub fn is_exact(&self) -> bool {
        let style = self.numbers.as_ref().map(|numbers| &numbers.style);
        self.declared == Some(Family::Number)
            && matches!(style, Some(Style::Money(_) | Style::Percent))
    }

    /// Appends a value as inrush writes it, as the first of the options that can read it, and says what it is; `None` where none can.
    /// Of an hour that clocks skip or show twice it is the moment as if they were those of UTC. Blanks around it are taken for cut off
    /// already.
    pub fn canonical(&self, text: &[u8], out: &mut Vec<u8>) -> Option<Family> {
        let families = [Family::Truth, Family::Day, Family::Moment, Family::Number];
        families.into_iter().find(|family| {
            let at = out.len();
            let is_read = self.has(*family)
                && self
                    .read(*family, text, out)
                    .map_or_else(|misread| misread.is_impossible, |()| true);
            if !is_read {
                out.truncate(at);
            }
            is_read
        })
    }

    /// The same of a value that has a type of its own, which most stand for as they are.
    pub fn canonical_typed(&self, text: &[u8], out: &mut Vec<u8>) -> Option<Family> {
        let family = self.declared.unwrap_or(Family::Moment);
        let at = out.len();
        match self.read_typed(family, text, out) {
            Ok(true) => {}
            Err(misread) if misread.is_impossible => {}
            Ok(false) => out.extend_from_slice(text),
            Err(_) => {
                out.truncate(at);
                return None;
            }
        }
        Some(family)
    }

    /// Whether anything is made of values of a family that have a type of their own: clocks of a zone show moments of UTC, and in a column
    /// that options name a number is read as its text would be; amounts and shares have no exponent.
    pub fn reads_typed(&self, family: Family) -> bool {
        family == Family::Moment && (self.has_zone() || self.takes_numbers())
            || self.is_declared() && family != Family::Number
            || self.is_exact()
    }

    /// Whether a value that isn't text is read as well: a number may count seconds.
    pub fn takes_numbers(&self) -> bool {
        self.moments.as_ref().is_some_and(|moments| moments.epoch.is_some())
    }

    /// Whether moments without an offset are those of a zone, so that one that is taken as it stands is another moment.
    pub fn has_zone(&self) -> bool {
        self.has(Family::Moment) && self.knows_zone()
    }

    /// The same where days are read as their midnights too.
    fn knows_zone(&self) -> bool {
        self.moments.as_ref().is_some_and(|moments| moments.zone.is_some())
    }

    /// Whether its numbers have another decimal separator than a point.
    pub fn has_other_point(&self) -> bool {
        self.numbers.as_ref().is_some_and(|numbers| numbers.decimal != b'.')
    }

    /// What is said that makes values of a family, and what a value is to it.
    pub fn said_of(&self, family: Family) -> (Vec<(&'static str, String)>, String) {
        let of_family = self.said.iter().filter(|(option, _)| request::makes(option, family));
        (of_family.cloned().collect(), self.words(family))
    }

    /// What a value of a column that options name has to be, in words.
    pub fn declared_words(&self) -> String {
        self.declared.map_or_else(|| "text".to_owned(), |family| self.words(family))
    }

    /// Two forms that read a text as different values, the one that is taken first.
    pub fn two_ways(&self, text: &[u8]) -> Option<[&str; 2]> {
        let forms = self.moments.as_ref().map_or(&[][..], |moments| &moments.formats);
        let day = |format: &Format| {
            let mut day = Vec::new();
            format.read_day(text, &mut day).map(|()| day)
        };
        two_ways(&self.days, day).or_else(|| two_ways(forms, |form| form.read_moment(text)))
    }

    /// The type of a column that options name, where no value was seen.
    pub fn default_type(&self) -> Type {
        match self.declared {
            Some(Family::Number) => Type::Decimal { precision: 0, scale: 0 },
            Some(Family::Truth) => Type::Boolean,
            Some(Family::Day) => Type::Date,
            Some(Family::Moment) => {
                let zone = self.moments.as_ref().is_some_and(|moments| {
                    moments.epoch.is_some()
                        || moments.zone.is_some()
                        || moments.formats.first().is_some_and(Format::has_zone)
                });
                Type::Timestamp { zone }
            }
            None => Type::Text,
        }
    }

    /// Whether values are made of texts, which are not only rid of blanks.
    pub fn makes_values(&self) -> bool {
        [Family::Number, Family::Truth, Family::Day, Family::Moment]
            .into_iter()
            .any(|family| self.has(family))
    }

    /// Whether the options make values of a family.
    pub fn has(&self, family: Family) -> bool {
        match family {
            Family::Number => self.numbers.is_some(),
            Family::Truth => self.truths.is_some(),
            Family::Day => !self.days.is_empty() && self.declared != Some(Family::Moment),
            Family::Moment => self.moments.is_some() && self.declared != Some(Family::Day),
        }
    }

    /// Whether values of a column of this family are read: of moments, days are their midnights.
    fn fills(&self, own: Family) -> bool {
        self.has(own) || own == Family::Moment && !self.days.is_empty()
    }

    /// What a value of a column of this family has to be.
    fn wanted(&self, own: Family) -> String {
        let has_days = own == Family::Moment && !self.days.is_empty();
        let own = self.has(own).then(|| self.words(own));
        let day = has_days.then(|| self.words(Family::Day));
        own.into_iter().chain(day).collect::<Vec<_>>().join(", or ")
    }

    /// What a value of a family has to be.
    fn words(&self, family: Family) -> String {
        match family {
            Family::Number => self.numbers.as_ref().map_or("a number".to_owned(), Numbers::words),
            Family::Truth => self.truths.as_ref().map_or("a boolean".to_owned(), Truths::words),
            Family::Day => format!("a date as {} has it", shown(&self.days)),
            Family::Moment => {
                self.moments.as_ref().map_or("a timestamp".to_owned(), Moments::words)
            }
        }
    }

    /// Appends what a value is that has a type of its own and is written out here; false where it is what it is.
    fn read_typed(&self, family: Family, text: &[u8], out: &mut Vec<u8>) -> Result<bool, Misread> {
        if family == Family::Moment
            && let Some(moments) = self.moments.as_ref()
            && let Some(moment) = moment_or_midnight(text)
        {
            return moments.write(moment, out).map(|()| true);
        }
        match family {
            Family::Number if self.is_exact() && text.contains(&b'e') => {
                number::without_exponent(text, out).ok_or_else(|| self.words(family))?;
                Ok(true)
            }
            _ if !self.is_declared() || is_of(family, text) => Ok(false),
            Family::Number => Err(self.words(family).into()),
            _ => self.read(family, text, out).map(|()| true),
        }
    }

    fn read(&self, family: Family, text: &[u8], out: &mut Vec<u8>) -> Result<(), Misread> {
        match family {
            Family::Number => match &self.numbers {
                None => Err("a number".into()),
                Some(numbers) => {
                    let at = out.len();
                    numbers.read(text, out)?;
                    if self.is_declared() {
                        normalize(at, out);
                    }
                    Ok(())
                }
            },
            Family::Truth => match &self.truths {
                None => Err("a boolean".into()),
                Some(truths) => Ok(truths.read(text, out)?),
            },
            Family::Day => {
                let found = self.days.iter().find_map(|format| format.read_day(text, out));
                found.ok_or_else(|| self.words(family).into())
            }
            Family::Moment => self.read_moment(text, out),
        }
    }

    fn read_moment(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Misread> {
        let own = self.moments.as_ref().filter(|_| self.has(Family::Moment));
        let midnight = |format: &Format| moment_or_midnight(&format.day(text)?);
        let moment = own.and_then(|moments| moments.find(text));
        let moment = moment.or_else(|| self.days.iter().find_map(midnight));
        let moment = moment.ok_or_else(|| self.wanted(Family::Moment))?;
        match &self.moments {
            Some(moments) => moments.write(moment, out),
            None => append(moment, out),
        }
    }
}

/// Whether a text is of a family as inrush writes it.
fn is_of(family: Family, text: &[u8]) -> bool {
    match family {
        Family::Number => inrush_scan::float(text).is_ok() || special(text).is_some(),
        Family::Truth => inrush_scan::is_boolean(text).is_some(),
        Family::Day => inrush_scan::is_date(text),
        Family::Moment => moment_or_midnight(text).is_some(),
    }
}

fn two_ways<V: PartialEq>(
    formats: &[Format],
    read: impl Fn(&Format) -> Option<V>,
) -> Option<[&str; 2]> {
    if formats.len() < 2 {
        return None;
    }
    let mut found = formats.iter().filter_map(|format| Some((&*format.text, read(format)?)));
    let (first, value) = found.next()?;
    let (other, _) = found.find(|(_, other)| *other != value)?;
    Some([first, other])
}

/// As inrush writes numbers: without a plus, zeros in front, or a sign of zero.
fn normalize(at: usize, out: &mut Vec<u8>) {
    // Nearly all are so.
    if matches!(out[at..], [b'1'..=b'9', ..] | [b'-', b'1'..=b'9', ..] | [b'0'] | [b'0', b'.', ..])
    {
        return;
    }
    let number = out.split_off(at);
    let (sign, digits) = match &number[..] {
        [b'+', digits @ ..] => (&b""[..], digits),
        [b'-', digits @ ..] => (&b"-"[..], digits),
        digits => (&b""[..], digits),
    };
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let zeros = digits[..whole].iter().take_while(|digit| **digit == b'0').count();
    let digits = &digits[zeros.min(whole.saturating_sub(1))..];
    let mut mantissa = digits.iter().take_while(|byte| !byte.is_ascii_alphabetic());
    if mantissa.any(|byte| (b'1'..=b'9').contains(byte)) {
        out.extend_from_slice(sign);
    }
    out.extend_from_slice(digits);
}

fn shown(formats: &[Format]) -> String {
    formats.iter().map(|format| &*format.text).collect::<Vec<_>>().join(" or ")
}

impl Truths {
    fn words(&self) -> String {
        let (yes, no) = (self.yes.join(", "), self.no.join(", "));
        format!("a boolean (true: {yes}; false: {no})")
    }

    fn read(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let found = std::str::from_utf8(text).ok().map(str::to_lowercase).unwrap_or_default();
        let word = match () {
            () if found == "true" || self.yes.contains(&found) => "true",
            () if found == "false" || self.no.contains(&found) => "false",
            () => return Err(self.words()),
        };
        out.extend_from_slice(word.as_bytes());
        Ok(())
    }
}

impl Moments {
    fn words(&self) -> String {
        let what = match (self.epoch, &self.formats[..]) {
            (Some(unit), _) => {
                let unit = match unit {
                    Unit::Seconds => "seconds",
                    Unit::Milliseconds => "milliseconds",
                    Unit::Microseconds => "microseconds",
                    Unit::Nanoseconds => "nanoseconds",
                };
                return format!("a number of {unit} since 1970");
            }
            (None, []) => "a timestamp (YYYY-MM-DD HH:MM:SS)".to_owned(),
            (None, formats) => format!("a timestamp as {} has it", shown(formats)),
        };
        match self.zone.as_ref().and_then(Clocks::name) {
            None => what,
            Some(zone) => format!("{what}, in {zone} where it has no offset"),
        }
    }

    /// A moment of the first form in which every number has all its digits, as `YYYY-MM-DD HH:MM:SS`; `None` says nothing.
    #[inline]
    fn common(&self, text: &[u8]) -> Option<[u8; 19]> {
        if self.epoch.is_some() || self.zone.is_some() {
            return None;
        }
        self.formats.first()?.common_moment(text)
    }

    fn find(&self, text: &[u8]) -> Option<Moment> {
        match (self.epoch, &self.formats[..]) {
            (Some(unit), _) => epoch(text, unit),
            (None, []) => moment_of(text),
            (None, formats) => formats.iter().find_map(|format| format.read_moment(text)),
        }
    }

    /// Appends a moment, in UTC where it has an offset or there is a zone for those without one.
    fn write(&self, moment: Moment, out: &mut Vec<u8>) -> Result<(), Misread> {
        let (moment, fault) = match &self.zone {
            Some(zone) if !moment.zone => match in_utc(moment, zone) {
                Ok(moment) => (moment, None),
                Err(misread) if misread.is_impossible => {
                    (Moment { zone: true, ..moment }, Some(misread))
                }
                Err(misread) => return Err(misread),
            },
            _ => (moment, None),
        };
        append(moment, out)?;
        fault.map_or(Ok(()), Err)
    }
}

fn append(moment: Moment, out: &mut Vec<u8>) -> Result<(), Misread> {
    let (text, len) = moment.text().ok_or("a timestamp of the years 1 to 9999")?;
    out.extend_from_slice(&text[..len]);
    Ok(())
}

/// The moment that a text is as inrush writes them, or the midnight with which a day begins.
fn moment_or_midnight(text: &[u8]) -> Option<Moment> {
    let midnight = |days| Moment { seconds: i64::from(days) * 86_400, nanos: 0, zone: false };
    inrush_scan::date_days(text).map(midnight).or_else(|| moment_of(text))
}

/// The moment that a text is as inrush writes them.
fn moment_of(text: &[u8]) -> Option<Moment> {
    let found = inrush_scan::read_timestamp(text)?;
    let zone = found.zone == inrush_scan::Zone::Offset;
    Some(Moment { seconds: found.seconds, nanos: found.nanoseconds, zone })
}

/// The offset that moments are written with.
const UTC: &[u8] = b"+00:00";

/// The moment of UTC at which clocks of a zone show this one.
fn in_utc(moment: Moment, zone: &Clocks) -> Result<Moment, Misread> {
    const WANTED: &str = "a timestamp of the years 1 to 9999";
    moment.day().ok_or(WANTED)?;
    let name = || zone.name().unwrap_or("the zone");
    let wanted = match zone.shown(moment.seconds).ok_or(WANTED)? {
        Shown::Once(offset) => {
            let seconds = moment.seconds - i64::from(offset);
            return Ok(Moment { seconds, zone: true, ..moment });
        }
        Shown::Never => format!("a time of day in {}: clocks skip it on that day", name()),
        Shown::Twice => format!(
            "one moment in {}: clocks show it twice on that day, so it needs an offset from UTC",
            name()
        ),
    };
    Err(Misread { wanted, is_impossible: true })
}

/// Digits of the last nanosecond of the year 9999.
const EPOCH_DIGITS_MAX: usize = 21;

/// The moment that a number counts.
fn epoch(text: &[u8], unit: Unit) -> Option<Moment> {
    let unsigned = text.strip_prefix(b"-");
    let number = unsigned.unwrap_or(text);
    let point = number.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = number.split_at(point.unwrap_or(number.len()));
    let fraction = fraction.get(1..).unwrap_or_default();
    let are_digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    let places = 9 - unit.digits();
    let is_number = !whole.is_empty() && are_digits(whole) && are_digits(fraction);
    if !is_number || (point.is_some() && fraction.is_empty()) {
        return None;
    }
    let zeros = whole.iter().take_while(|digit| **digit == b'0').count();
    let whole = &whole[zeros..];
    if whole.len() > EPOCH_DIGITS_MAX {
        return None;
    }
    let fold = |digits: &[u8]| {
        digits.iter().fold(0_i128, |number, digit| number * 10 + i128::from(digit - b'0'))
    };
    // Of a nanosecond there is no part.
    let (kept, lost) = fraction.split_at(fraction.len().min(places as usize));
    if lost.iter().any(|digit| *digit != b'0') {
        return None;
    }
    let below = fold(kept) * 10_i128.pow(places - kept.len() as u32);
    let size = fold(whole) * 10_i128.pow(places) + below;
    let nanos = if unsigned.is_some() { -size } else { size };
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    Some(Moment { seconds, nanos: nanos.rem_euclid(1_000_000_000) as u32, zone: true })
}

/// How the texts of one of the load's columns are read.
#[derive(Clone, Debug)]
pub struct Reading {
    reads: Arc<ColumnReads>,
    family: Option<Family>,
    /// Whether its moments go into a column that takes no offset from UTC, as clocks there show them.
    in_utc: bool,
    /// Whether NaN and infinities may be values of the column: its type is no guess, and of numbers that are not all whole.
    takes_specials: bool,
    /// Whether texts that the options don't read are what they are: they are said of all columns, and of other values than those.
    leaves_others: bool,
    /// Whether a text that can't be read is a bad row, and disproves no guess.
    pub is_final: bool,
}

/// What else has to be known of a column of the load.
#[derive(Clone, Copy, Debug)]
pub struct Holds {
    /// Whether columns are to be text whatever their values are.
    pub all_text: bool,
    /// Whether its type is the table's or the user's word, and no guess.
    pub is_typed: bool,
    /// Whether it takes timestamps with an offset from UTC.
    pub takes_offsets: bool,
}

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// It is its own.
    AsIs,
    /// There is nothing left of it.
    Null,
    /// It was appended.
    Written,
}

impl Reading {
    /// The reading of a column of the load that takes its values from a column of the source; `None` where it needs none.
    pub fn of(
        reads: Option<&Arc<ColumnReads>>,
        column: &Column,
        field: &FieldFacts,
        holds: Holds,
    ) -> Option<Self> {
        let reads = reads?;
        let own = Family::of(column.ty);
        let family = match (own, reads.declared) {
            // Text may be written as any of them. A target without types takes what its values are.
            (None, declared) if matches!(column.ty, Type::Text | Type::Json) => {
                let is_typeless =
                    column.declared.is_none() && !column.is_asked() && !holds.all_text;
                declared.or(Family::of(field.ty).filter(|own| is_typeless && reads.has(*own)))
            }
            (own, _) => own.filter(|own| reads.fills(*own)),
        };
        // What is said of all columns is for a guess that was made of what it reads, and for a type that the table or the user names
        // unless it reads nothing there.
        let reads_some = |family| reads.has(family) && !field.reads.plain.has(family);
        // Of moments, days are their midnights.
        let has_days = own == Some(Family::Moment) && reads_some(Family::Day);
        let is_meant = |family: &Family| match own.is_some() && holds.is_typed {
            true => reads_some(*family) || has_days,
            false => field.reads.is_read,
        };
        let family = family.filter(|family| reads.is_declared() || is_meant(family));
        if family.is_none() && reads.trim == Trim::No {
            return None;
        }
        let is_final = column.is_pinned() || reads.is_declared();
        let leaves_others = has_days && !reads.is_declared() && !reads_some(Family::Moment);
        let in_utc = family == Some(Family::Moment)
            && own.is_some()
            && !holds.takes_offsets
            && (reads.knows_zone() || reads.takes_numbers());
        let is_of_numbers = matches!(column.ty, Type::Float | Type::Decimal { .. });
        let takes_specials = is_of_numbers && holds.is_typed && family == Some(Family::Number);
        Some(Self {
            reads: Arc::clone(reads),
            family,
            in_utc,
            takes_specials,
            leaves_others,
            is_final,
        })
    }

    /// A reading that only cuts off blanks; `None` where that is not asked for.
    pub fn trim(reads: Option<&Arc<ColumnReads>>) -> Option<Self> {
        let reads = reads.filter(|reads| reads.trim != Trim::No)?;
        Some(Self {
            reads: Arc::clone(reads),
            family: None,
            in_utc: false,
            takes_specials: false,
            leaves_others: false,
            is_final: false,
        })
    }

    /// The same, and only cuts off blanks; `None` where it doesn't.
    #[must_use]
    pub fn only_trim(&self) -> Option<Self> {
        Self::trim(Some(&self.reads))
    }

    /// Whether it makes values of texts, and does not only cut off blanks.
    pub fn makes_values(&self) -> bool {
        self.family.is_some()
    }

    /// The text without the blanks that are to be cut off, and whether any were.
    pub fn trimmed<'t>(&self, text: &'t [u8], is_quoted: bool) -> (&'t [u8], bool) {
        let is_meant = match self.reads.trim {
            Trim::No => false,
            Trim::Unquoted => !is_quoted,
            Trim::All => true,
        };
        if !is_meant {
            return (text, false);
        }
        let rest = trimmed(text);
        (rest, rest.len() < text.len())
    }

    /// What a value has to be, in words; `None` where only blanks are cut off.
    pub fn words(&self) -> Option<String> {
        self.family.map(|family| self.reads.wanted(family))
    }

    /// Whether moments go in as clocks in UTC show them, for the column takes no offset.
    pub fn is_in_utc(&self) -> bool {
        self.in_utc
    }

    /// Reads a text without blanks around it.
    ///
    /// # Errors
    /// What it should be, where it can't be read.
    pub fn read(&self, text: &[u8], out: &mut Vec<u8>) -> Result<Read, Misread> {
        let Some(family) = self.family else { return Ok(Read::AsIs) };
        let at = out.len();
        match self.reads.read(family, text, out) {
            Ok(()) => Ok(self.written(text, at, out)),
            // However numbers are written, these are not: the encoder judges them as ever.
            Err(_) if self.takes_specials && special(text).is_some() => {
                out.truncate(at);
                Ok(Read::AsIs)
            }
            Err(_) if self.leaves_others => Ok(Read::AsIs),
            Err(misread) => Err(misread),
        }
    }

    /// Whether it makes anything of values that have a type of their own, see [`Reading::read_typed`].
    pub fn reads_typed(&self) -> bool {
        self.family.is_some_and(|family| self.reads.reads_typed(family))
    }

    /// Reads what a value is written as that has a type of its own: a moment without an offset is one of a zone, and in a column that
    /// options name a number may count seconds, or be a word for true. Any other is what it is.
    ///
    /// # Errors
    /// What it should be, where it can't be read.
    pub fn read_typed(&self, text: &[u8], out: &mut Vec<u8>) -> Result<Read, Misread> {
        let Some(family) = self.family else { return Ok(Read::AsIs) };
        let at = out.len();
        match self.reads.read_typed(family, text, out)? {
            true => Ok(self.written(text, at, out)),
            false => Ok(Read::AsIs),
        }
    }

    /// A value that has a type of its own and is written out here, in the form that the column's texts are read in, as a file of text
    /// needs it; `None` where no form concerns it, or has not all of it.
    pub fn written_back(&self, text: &[u8]) -> Option<Vec<u8>> {
        let moment = || moment_or_midnight(text);
        match self.family? {
            Family::Number => self.reads.numbers.as_ref()?.write(text),
            // What inrush writes is among what is read.
            Family::Truth => None,
            Family::Day => self.reads.days.first()?.write(moment()?),
            Family::Moment => {
                let moments = self.reads.moments.as_ref();
                let forms = moments.map_or(&[][..], |moments| &moments.formats);
                forms.first().or(self.reads.days.first())?.write(moment()?)
            }
        }
    }

    /// What became of a text, of which `out[at..]` was made.
    fn written(&self, text: &[u8], at: usize, out: &mut Vec<u8>) -> Read {
        if self.in_utc && out.ends_with(UTC) {
            out.truncate(out.len() - UTC.len());
        }
        if &out[at..] == text {
            out.truncate(at);
            return Read::AsIs;
        }
        Read::Written
    }
}

impl Reading {
    /// Reads `texts[start..end]`, and writes what it is over it; `None` where that takes more than a look.
    #[inline(always)]
    pub fn read_in_place(&self, texts: &mut [u8], start: usize, end: usize) -> Option<Read> {
        let text = &texts[start..end];
        let is_blank = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_graphic());
        if self.reads.trim != Trim::No && (is_blank(text.first()) || is_blank(text.last())) {
            return None;
        }
        match self.family? {
            Family::Number => {
                let numbers = self.reads.numbers.as_ref()?;
                numbers.read_in_place(texts, start, end)
            }
            Family::Day => {
                let day = self.reads.days.first()?.common_day(text)?;
                let place = texts[start..end]
                    .first_chunk_mut()
                    .filter(|place| place.len() == end - start)?;
                *place = day;
                Some(Read::Written)
            }
            Family::Moment => {
                let moment = self.reads.moments.as_ref()?.common(text)?;
                let place = texts[start..end]
                    .first_chunk_mut()
                    .filter(|place| place.len() == end - start)?;
                *place = moment;
                Some(Read::Written)
            }
            Family::Truth => None,
        }
    }
}

fn money() -> Style {
    Style::Money(OnceLock::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_number_counts_is_told_by_its_length() {
        for (text, unit) in [
            ("1700000000", Some(Unit::Seconds)),
            ("-170000000", Some(Unit::Seconds)),
            ("1700000000000", Some(Unit::Milliseconds)),
            ("1700000000000000", Some(Unit::Microseconds)),
            ("1700000000000000000", Some(Unit::Nanoseconds)),
            ("20240131", None),
            ("0170000000", None),
            ("1700000000.5", None),
            ("", None),
        ] {
            assert_eq!(Unit::of_count(text), unit, "{text}");
        }
    }

    fn reads(request: ReadRequest, name: &str) -> Arc<ColumnReads> {
        Readers::of(&request).unwrap().column(name).unwrap()
    }

    fn read(reads: &ColumnReads, text: &str) -> Option<String> {
        let mut out = Vec::new();
        reads.canonical(text.as_bytes(), &mut out).map(|_| String::from_utf8(out).unwrap())
    }

    fn said(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn epochs_keep_every_digit() {
        let shown = |text: &str, unit: &str| {
            let (text, len) = epoch(text.as_bytes(), unit.parse().unwrap())?.text()?;
            Some(String::from_utf8(text[..len].to_vec()).unwrap())
        };
        for (text, unit, wanted) in [
            ("0", "s", Some("1970-01-01 00:00:00+00:00")),
            ("1700000000", "s", Some("2023-11-14 22:13:20+00:00")),
            ("1700000000.123456789", "s", Some("2023-11-14 22:13:20.123456789+00:00")),
            ("1700000000.1234567890", "s", Some("2023-11-14 22:13:20.123456789+00:00")),
            ("1700000000.1234567891", "s", None),
            ("1700000000123", "ms", Some("2023-11-14 22:13:20.123+00:00")),
            ("1700000000123456", "us", Some("2023-11-14 22:13:20.123456+00:00")),
            ("1700000000123456789", "ns", Some("2023-11-14 22:13:20.123456789+00:00")),
            ("-1", "ms", Some("1969-12-31 23:59:59.999+00:00")),
            ("-0.5", "s", Some("1969-12-31 23:59:59.5+00:00")),
            ("99999999999999999999", "ns", Some("5138-11-16 09:46:39.999999999+00:00")),
            ("253402300799999999999", "ns", Some("9999-12-31 23:59:59.999999999+00:00")),
            ("253402300800000000000", "ns", None),
            ("-0000000000000000000002", "s", Some("1969-12-31 23:59:58+00:00")),
            ("999999999999", "s", None),
            ("", "s", None),
            ("1.", "s", None),
            ("1e9", "s", None),
            ("x", "s", None),
        ] {
            assert_eq!(shown(text, unit).as_deref(), wanted, "{text} {unit}");
        }
    }

    #[test]
    fn clocks_of_a_zone_are_moments_unless_they_skip_or_repeat_an_hour() {
        let request =
            ReadRequest { time_zones: said(&["Europe/Berlin"]), ..ReadRequest::default() };
        let reads = reads(request.clone(), "at");
        let moments = |text: &str| {
            let mut out = Vec::new();
            let done = reads.read(Family::Moment, text.as_bytes(), &mut out);
            done.map(|()| String::from_utf8(out).unwrap())
        };
        assert_eq!(moments("2024-01-31 12:00:00").unwrap(), "2024-01-31 11:00:00+00:00");
        assert_eq!(moments("2024-07-31T12:00:00.5").unwrap(), "2024-07-31 10:00:00.5+00:00");
        assert_eq!(moments("2024-07-31 12:00:00Z").unwrap(), "2024-07-31 12:00:00+00:00");
        for (text, words) in [("2024-03-31 02:30:00", "skip"), ("2024-10-27 02:30:00", "twice")] {
            let misread = moments(text).unwrap_err();
            assert!(misread.wanted.contains(words) && misread.is_impossible, "{misread:?}");
            // As fine as any, and of no other type.
            assert_eq!(read(&reads, text).unwrap(), format!("{text}+00:00"));
        }
        assert!(!moments("2024-03-31").unwrap_err().is_impossible);
        let date_formats = said(&["at=%d.%m.%Y"]);
        let days = self::reads(ReadRequest { date_formats, ..request }, "at");
        let mut out = Vec::new();
        assert_eq!(days.canonical(b"31.07.2024", &mut out), Some(Family::Day));
        out.clear();
        days.read(Family::Moment, b"31.07.2024", &mut out).unwrap();
        assert_eq!(out, b"2024-07-30 22:00:00+00:00");
        // Before there were zones, Berlin was 53 minutes and 28 seconds ahead.
        assert_eq!(moments("1890-01-01 00:00:00").unwrap(), "1889-12-31 23:06:32+00:00");
    }

    #[test]
    fn an_option_that_names_a_column_declares_it_and_is_for_no_other() {
        let request = ReadRequest {
            date_formats: said(&["%d.%m.%Y", "d=%m/%d/%Y"]),
            decimals: said(&["n=,"]),
            truths: said(&["ja,j", "t=x"]),
            falses: said(&["nein,n"]),
            ..ReadRequest::default()
        };
        let any = reads(request.clone(), "other");
        assert!(!any.is_declared());
        assert_eq!(read(&any, "31.12.2024").as_deref(), Some("2024-12-31"));
        assert_eq!(read(&any, "12/31/2024"), None);
        assert_eq!(read(&any, "JA").as_deref(), Some("true"));
        assert_eq!(read(&any, "1,5"), None);
        let day = reads(request.clone(), "d");
        assert!(day.is_declared());
        assert_eq!(day.default_type(), Type::Date);
        assert_eq!(read(&day, "31.12.2024"), None);
        assert_eq!(read(&day, "12/31/2024").as_deref(), Some("2024-12-31"));
        assert_eq!(read(&reads(request.clone(), "N"), "007,50").as_deref(), Some("7.50"));
        let truth = reads(request, "t");
        assert_eq!(read(&truth, "x").as_deref(), Some("true"));
        assert_eq!(read(&truth, "ja"), None);
    }

    #[test]
    fn a_value_that_two_forms_read_differently_is_found() {
        let date_formats = said(&["%d/%m/%Y", "%m/%d/%Y"]);
        let reads = reads(ReadRequest { date_formats, ..ReadRequest::default() }, "d");
        assert_eq!(reads.two_ways(b"01/02/2024"), Some(["%d/%m/%Y", "%m/%d/%Y"]));
        assert_eq!(reads.two_ways(b"02/02/2024"), None);
        assert_eq!(reads.two_ways(b"31/12/2024"), None);
        assert_eq!(read(&reads, "01/02/2024").as_deref(), Some("2024-02-01"));
    }

    #[test]
    fn one_and_zero_are_booleans_only_where_a_column_is_named() {
        let request = ReadRequest {
            truths: said(&["yes,1", "b=1"]),
            falses: said(&["no,0", "b=0"]),
            ..ReadRequest::default()
        };
        assert_eq!(read(&reads(request.clone(), "a"), "1"), None);
        assert_eq!(read(&reads(request.clone(), "a"), "yes").as_deref(), Some("true"));
        assert_eq!(read(&reads(request, "b"), "0").as_deref(), Some("false"));
    }
}
