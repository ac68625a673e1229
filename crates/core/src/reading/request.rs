//! What the user says of values, and what of it concerns which column.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::columns::{ColumnRequest, is_alike};
use super::format::Format;
use super::number::{Numbers, Style};
use super::{Clocks, ColumnReads, Family, Moments, Truths, Unit, money};
use crate::error::{Error, Result};
use crate::facts::FieldFacts;
use crate::nulls::Nulls;
use crate::schema::Type;
use crate::wording::listed;

/// How values are read, as far as the user says, whatever they are written in: fields of text, strings of JSON, and of columns that have
/// types of their own. Where a list has texts of the form `COLUMN=VALUE`, they are for that column, and declare what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadRequest {
    /// Spellings of NULL besides the empty unquoted field; `COLUMN=S` is the spelling S of one column.
    pub nulls: Vec<String>,
    /// The decimal separator, `.` or `,`.
    pub decimals: Vec<String>,
    /// What stands between groups of three digits.
    pub thousands: Vec<String>,
    /// Forms of days, in strftime's letters, tried in order.
    pub date_formats: Vec<String>,
    /// Forms of moments.
    pub timestamp_formats: Vec<String>,
    /// Words for true, with commas between.
    pub truths: Vec<String>,
    /// Words for false.
    pub falses: Vec<String>,
    /// Zones of moments that have none, by their names.
    pub time_zones: Vec<String>,
    /// Whether blanks around values are cut off.
    pub trim: Trim,
    /// Types that say how their values are written, by column.
    pub types: BTreeMap<String, ReadType>,
    /// What is said of columns as such.
    pub columns: ColumnRequest,
}

impl ReadRequest {
    /// What is said here, and else what is said there: option by option.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            nulls: said(&self.nulls, &other.nulls),
            decimals: said(&self.decimals, &other.decimals),
            thousands: said(&self.thousands, &other.thousands),
            date_formats: said(&self.date_formats, &other.date_formats),
            timestamp_formats: said(&self.timestamp_formats, &other.timestamp_formats),
            truths: said(&self.truths, &other.truths),
            falses: said(&self.falses, &other.falses),
            time_zones: said(&self.time_zones, &other.time_zones),
            trim: said(&self.trim, &other.trim),
            types: said(&self.types, &other.types),
            columns: self.columns.or(&other.columns),
        }
    }

    /// How the values of a field are said to be written.
    pub fn type_of(&self, field: &FieldFacts) -> Option<ReadType> {
        let said = self.types.iter().find(|(name, _)| field.is_called(name));
        said.map(|(_, ty)| *ty)
    }
}

/// What is said here, and else what is said there.
pub(super) fn said<T: Clone + Default + PartialEq>(own: &T, other: &T) -> T {
    if *own == T::default() { other.clone() } else { own.clone() }
}

/// Which values lose the blanks around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trim {
    /// None.
    #[default]
    No,
    /// Those without quotes.
    Unquoted,
    /// All.
    All,
}

/// A type that says how its values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ReadType {
    /// `$1,299.00`
    Money,
    /// `12.5%`
    Percent,
    /// A count since 1970.
    Epoch(Unit),
}

impl fmt::Display for ReadType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Money => f.write_str("money"),
            Self::Percent => f.write_str("percent"),
            Self::Epoch(unit) => write!(f, "timestamp[{}]", unit.word()),
        }
    }
}

impl From<ReadType> for String {
    fn from(ty: ReadType) -> Self {
        ty.to_string()
    }
}

impl TryFrom<String> for ReadType {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        match text.parse()? {
            TypeWord::Read(ty) => Ok(ty),
            TypeWord::Type(_) => Err(format!("'{text}' does not say how values are written")),
        }
    }
}

/// What `--type` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeWord {
    /// A type.
    Type(Type),
    /// A way to read values, which then have a type.
    Read(ReadType),
}

impl FromStr for TypeWord {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let word = text.trim().to_ascii_lowercase();
        let unit = word.strip_prefix("timestamp[").and_then(|rest| rest.strip_suffix(']'));
        Ok(Self::Read(match (word.as_str(), unit) {
            ("money", _) => ReadType::Money,
            ("percent", _) => ReadType::Percent,
            (_, Some(unit)) => ReadType::Epoch(unit.parse().map_err(|()| {
                format!("'{text}': timestamps are counted in s, ms, us or ns: timestamp[ms]")
            })?),
            _ => {
                return word.parse().map(Self::Type).map_err(|why: String| {
                    let why = why.replacen(&word, text.trim(), 1);
                    let ways =
                        "; money, percent or timestamp[s|ms|us|ns] say how values are written";
                    if word.contains('(') { why } else { format!("{why}{ways}") }
                });
            }
        }))
    }
}

/// One option.
#[derive(Clone, Debug)]
struct Said {
    option: &'static str,
    /// What it is given: a value for all columns, or `COLUMN=VALUE`. A name may have an `=` of its own, and which names there are is
    /// known only once the source was looked at.
    text: String,
    /// Whether it can be for one column.
    is_for_one: bool,
}

impl Said {
    fn of(option: &'static str, text: &str) -> Self {
        let is_form = match option {
            DATE_FORMAT => Format::parse(text, false).is_ok(),
            TIMESTAMP_FORMAT => Format::parse(text, true).is_ok(),
            _ => false,
        };
        // A form may have an equals sign of its own, behind what is no name but a letter of it.
        let name = text.split_once('=').map_or("", |(name, _)| name);
        let is_for_one = !(name.is_empty() || is_form && name.contains('%'));
        Self { option, text: text.to_owned(), is_for_one }
    }

    /// What may be a column's name, and what is said of that column.
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let ends = self.text.match_indices('=').filter(|_| self.is_for_one);
        ends.map(|(at, _)| (&self.text[..at], &self.text[at + 1..]))
    }

    /// What is said of a column that has these names.
    fn of_column(&self, names: &[&str]) -> Option<&str> {
        let (_, value) = self.pairs().filter(|(name, _)| is_one_of(name, names)).last()?;
        Some(value)
    }

    /// The column's name as far as the text alone tells, and what is said of it.
    fn plain_pair(&self) -> Option<(&str, &str)> {
        self.pairs().next()
    }
}

/// What the user says of values, looked through.
#[derive(Clone, Debug, Default)]
pub struct Readers {
    /// See [`ReadRequest::nulls`].
    pub nulls: Vec<String>,
    said: Vec<Said>,
    trim: Trim,
    types: BTreeMap<String, ReadType>,
    /// What is said of columns as such.
    pub columns: ColumnRequest,
    /// Columns of bytes, by the name in the source or the one that they are loaded under: these need not be of the input's encoding.
    pub bytes: Vec<String>,
    /// Columns whose types the user says, named likewise.
    pub typed: Vec<String>,
    /// Columns of moments, named likewise: days that are counted in milliseconds are moments there.
    pub moments: Vec<String>,
}

const DECIMAL: &str = "--decimal";
const THOUSANDS: &str = "--thousands";
const DATE_FORMAT: &str = "--date-format";
const TIMESTAMP_FORMAT: &str = "--timestamp-format";
const TRUE: &str = "--true";
const FALSE: &str = "--false";
const TIME_ZONE: &str = "--time-zone";

impl ReadRequest {
    fn lists(&self) -> [(&'static str, &[String]); 7] {
        [
            (DECIMAL, &self.decimals),
            (THOUSANDS, &self.thousands),
            (DATE_FORMAT, &self.date_formats),
            (TIMESTAMP_FORMAT, &self.timestamp_formats),
            (TRUE, &self.truths),
            (FALSE, &self.falses),
            (TIME_ZONE, &self.time_zones),
        ]
    }

    /// The options by their names, and what is said with each, besides spellings of NULL: two requests that agree in these read a value
    /// as the same.
    pub fn said(&self) -> impl Iterator<Item = (&'static str, String)> {
        let lists = self.lists().map(|(option, texts)| (option, texts.join(" ")));
        let trim = match self.trim {
            Trim::No => "",
            Trim::Unquoted => "unquoted",
            Trim::All => "all",
        };
        lists.into_iter().chain([("--trim", trim.to_owned())]).chain(self.columns.said())
    }
}

impl Readers {
    /// # Errors
    /// When something is said that can't be.
    pub fn of(request: &ReadRequest) -> Result<Self> {
        let forms =
            [(DATE_FORMAT, &request.date_formats), (TIMESTAMP_FORMAT, &request.timestamp_formats)];
        for (option, text) in
            forms.iter().flat_map(|(option, texts)| texts.iter().map(move |it| (option, it)))
        {
            // A form may have commas, and has one year.
            let has_year =
                |part: &&str| ["%Y", "%y", "%F", "%D"].iter().any(|year| part.contains(year));
            if text.split(',').filter(has_year).count() > 1 {
                return Err(Error::usage(format!("{option} {text}: these are several forms"))
                    .advise(format!("say one {option} for each")));
            }
        }
        let lists = request.lists().into_iter();
        let said =
            lists.flat_map(|(option, texts)| texts.iter().map(move |text| Said::of(option, text)));
        let said = said.collect();
        let nulls = request.nulls.clone();
        let (types, columns) = (request.types.clone(), request.columns.clone());
        let (typed, bytes, moments) = Default::default();
        let readers =
            Self { nulls, said, trim: request.trim, types, columns, typed, bytes, moments };
        // What is wrong is said before anything is read, unless only the columns' names tell what is said.
        let plain = readers.said.iter().filter(|said| said.pairs().count() < 2);
        let columns = plain.filter_map(|said| Some(said.plain_pair()?.0));
        let columns = columns.chain(readers.types.keys().map(String::as_str)).chain([""]);
        columns.map(|column| readers.made(&[column])).collect::<Result<Vec<_>>>()?;
        Ok(readers)
    }

    /// Whether a source of these columns can be read so; each goes by any of its names.
    ///
    /// # Errors
    /// When something is said of a column that is not among them, or that can't be said of one that is.
    pub fn fit(&self, columns: &[Vec<&str>]) -> Result<()> {
        let no_column = |option: &str, name: &str| {
            let names = columns.iter().map(|names| names[0]);
            Err(Error::usage(format!("{option} {name}=...: there is no column {name}"))
                .advise(format!("use one of the columns: {}", listed(names))))
        };
        for said in &self.said {
            let is_there = || columns.iter().any(|names| said.of_column(names).is_some());
            match said.plain_pair() {
                Some((name, _)) if !is_there() => return no_column(said.option, name),
                _ => {}
            }
        }
        for name in self.types.keys() {
            if !columns.iter().any(|names| is_one_of(name, names)) {
                return no_column("--type", name);
            }
        }
        columns.iter().try_for_each(|names| self.made(names).map(drop))
    }

    /// An option that names a column so, and how.
    pub fn option_that_names(&self, is: impl Fn(&str) -> bool) -> Option<(&'static str, &str)> {
        let of_columns = self.columns.option_that_names(&is);
        // What is said of values takes a new name, too.
        let is = |name: &&str| is(name) && !self.columns.makes(name);
        let typed = self.types.keys().chain(&self.typed).map(String::as_str);
        let typed = typed.map(|name| ("--type", name));
        let said = self.said.iter();
        let said = said.flat_map(|said| said.pairs().map(|(name, _)| (said.option, name)));
        let names =
            |text: &'_ String| text.match_indices('=').map(|(at, _)| at).collect::<Vec<_>>();
        let nulls = self.nulls.iter();
        let nulls =
            nulls.flat_map(|text| names(text).into_iter().map(move |at| ("--null", &text[..at])));
        of_columns.or_else(|| typed.chain(said).chain(nulls).find(|(_, name)| is(name)))
    }

    /// An option that names a column with these names.
    pub fn option_of(&self, names: &[&str]) -> Option<&'static str> {
        let of_said = self.said.iter().find(|said| said.of_column(names).is_some());
        let has_type = || self.types.keys().any(|name| is_one_of(name, names)).then_some("--type");
        of_said.map(|said| said.option).or_else(has_type)
    }

    /// Whether there is nothing to be read otherwise than it is written, spellings of NULL aside.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty() && self.trim == Trim::No && self.types.is_empty()
    }

    /// Whether the user names a column that is not one of these.
    pub fn names_another(&self, fields: &[FieldFacts]) -> bool {
        let names: Vec<[String; 2]> = fields
            .iter()
            .map(|field| [field.name.clone(), self.columns.name(&field.name)])
            .collect();
        let is_one = |is: &dyn Fn(&[&str]) -> bool| {
            names.iter().any(|[own, loaded]| is(&[own.as_str(), loaded.as_str()]))
        };
        let is_read = |said: &&Said| said.plain_pair().is_some();
        self.columns.names_another(fields)
            || !self
                .typed
                .iter()
                .chain(self.types.keys())
                .all(|name| is_one(&|of| is_one_of(name, of)))
            || !self
                .said
                .iter()
                .filter(is_read)
                .all(|said| is_one(&|of| said.of_column(of).is_some()))
    }

    /// Whether blanks around values are cut off.
    pub fn trims(&self) -> bool {
        self.trim != Trim::No
    }

    /// Which of the source's columns are of bytes; none where no column is.
    pub fn are_bytes(&self, names: &[String]) -> Vec<bool> {
        let are: Vec<bool> = names.iter().map(|name| self.is_one_of(&self.bytes, name)).collect();
        if are.contains(&true) { are } else { Vec::new() }
    }

    /// Whether one of the source's columns is known to be of moments.
    pub fn is_of_moments(&self, name: &str) -> bool {
        self.is_one_of(&self.moments, name)
    }

    fn is_one_of(&self, known: &[String], name: &str) -> bool {
        let is_it = |name: &str| known.iter().any(|known| is_alike(known, name));
        is_it(name) || self.columns.own_name(name).is_some_and(|own| is_it(&own))
    }

    /// What concerns a column of the source. `None` where nothing does.
    pub fn column(&self, name: &str) -> Option<Arc<ColumnReads>> {
        if self.is_empty() {
            return None;
        }
        // What can't be was an error before.
        let own = self.columns.own_name(name);
        let names: Vec<&str> = [name].into_iter().chain(own.as_deref()).collect();
        self.made(&names).ok().flatten().map(Arc::new)
    }

    /// Spellings of NULL in columns of these names in the source.
    pub fn nulls_of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Nulls {
        let names: Vec<&str> = names.into_iter().collect();
        let loaded: Vec<String> = names.iter().map(|name| self.columns.name(name)).collect();
        let loaded = loaded.iter().map(String::as_str).collect();
        Nulls::of(&self.nulls, &[names, loaded])
    }

    /// What concerns a column of these names: options, and what each is given.
    fn said(&self, names: &[&str]) -> Vec<(&'static str, String)> {
        let options = [DECIMAL, THOUSANDS, DATE_FORMAT, TIMESTAMP_FORMAT, TRUE, FALSE, TIME_ZONE];
        let said = options.into_iter().flat_map(|option| {
            let values = self.values(option, names).0;
            values.into_iter().map(move |value| (option, value.to_owned()))
        });
        said.collect()
    }

    /// What is said by an option of a column, and else of all; and whether it is of that column.
    fn values(&self, option: &'static str, names: &[&str]) -> (Vec<&str>, bool) {
        let said = || self.said.iter().filter(|said| said.option == option);
        let own: Vec<&str> = said().filter_map(|said| said.of_column(names)).collect();
        match own.is_empty() {
            false => (own, true),
            true => {
                let of_all = said().filter(|said| !said.is_for_one);
                (of_all.map(|said| said.text.as_str()).collect(), false)
            }
        }
    }

    fn made(&self, names: &[&str]) -> Result<Option<ColumnReads>> {
        let ty = self.types.iter().find(|(column, _)| is_one_of(column, names)).map(|(_, ty)| *ty);
        let (decimals, own_decimal) = self.values(DECIMAL, names);
        let (mut thousands, own_thousands) = self.values(THOUSANDS, names);
        if own_decimal && !own_thousands {
            // What is said of all columns is not meant for this one where its decimals begin so.
            thousands.retain(|group| decimals.last() != Some(group));
        }
        let numbers = numbers(&decimals, &thousands, ty)?;
        let (yes, own_yes) = self.values(TRUE, names);
        let (no, own_no) = self.values(FALSE, names);
        let is_own = own_yes || own_no;
        // What is said of all columns is not meant for this one where it has words of its own.
        let yes = if own_yes == is_own { yes } else { Vec::new() };
        let no = if own_no == is_own { no } else { Vec::new() };
        let truths = truths(&yes, &no, is_own)?;
        let (days, own_days) = self.values(DATE_FORMAT, names);
        let days = formats(&days, DATE_FORMAT, false)?;
        let (forms, own_forms) = self.values(TIMESTAMP_FORMAT, names);
        let forms = formats(&forms, TIMESTAMP_FORMAT, true)?;
        let (zones, own_zone) = self.values(TIME_ZONE, names);
        let zone = only(TIME_ZONE, &zones)?.map(zone).transpose()?;
        let epoch = match ty {
            Some(ReadType::Epoch(unit)) => Some(unit),
            _ => None,
        };
        let declared = [
            (epoch.is_some(), Family::Moment),
            (ty.is_some(), Family::Number),
            (own_forms || own_zone, Family::Moment),
            (own_days, Family::Day),
            (is_own, Family::Truth),
            (own_decimal || own_thousands, Family::Number),
        ];
        let declared = declared.into_iter().find(|(is_said, _)| *is_said).map(|(_, family)| family);
        // A column that is declared to be one thing is nothing else.
        let has = |family| declared.is_none_or(|declared| declared == family);
        let (has_days, has_moments) = (has(Family::Day), has(Family::Moment));
        let formats = if has_moments { forms } else { Vec::new() };
        // A day begins at midnight of the zone where the column turns out to be of moments.
        let zone = zone.filter(|_| has_moments || has_days);
        let moments = (epoch.is_some() || zone.is_some() || !formats.is_empty())
            .then_some(Moments { formats, epoch, zone });
        let reads = ColumnReads {
            trim: self.trim,
            numbers: numbers.filter(|_| has(Family::Number)),
            truths: truths.filter(|_| has(Family::Truth)),
            days: if has_days || has_moments && own_days { days } else { Vec::new() },
            moments,
            declared,
            said: self.said(names),
        };
        let is_anything =
            self.trim != super::Trim::No || Family::ALL.into_iter().any(|family| reads.has(family));
        Ok(is_anything.then_some(reads))
    }
}

/// Whether values of a family are what an option makes.
pub(super) fn makes(option: &str, family: Family) -> bool {
    match family {
        Family::Number => matches!(option, DECIMAL | THOUSANDS),
        Family::Truth => matches!(option, TRUE | FALSE),
        Family::Day => option == DATE_FORMAT,
        Family::Moment => matches!(option, TIMESTAMP_FORMAT | TIME_ZONE),
    }
}

fn is_one_of(column: &str, names: &[&str]) -> bool {
    names.iter().any(|name| is_alike(name, column))
}

/// The one value of an option that has no more than one for a column.
fn only<'v>(option: &str, values: &[&'v str]) -> Result<Option<&'v str>> {
    match values.split_first() {
        Some((first, rest)) => match rest.iter().find(|other| *other != first) {
            Some(other) => Err(Error::usage(format!(
                "{option} says '{first}' and '{other}' of the same columns"
            ))),
            None => Ok(Some(first)),
        },
        None => Ok(None),
    }
}

fn numbers(decimals: &[&str], thousands: &[&str], ty: Option<ReadType>) -> Result<Option<Numbers>> {
    let decimal = match only(DECIMAL, decimals)? {
        None => None,
        Some(".") => Some(b'.'),
        Some(",") => Some(b','),
        Some(other) => {
            return Err(Error::usage(format!("{DECIMAL} '{other}': takes '.' or ','")));
        }
    };
    let group = only(THOUSANDS, thousands)?;
    if let Some(group) = group
        && ![".", ",", "'", " ", "\u{a0}", "\u{202f}", "\u{2019}"].contains(&group)
    {
        return Err(Error::usage(format!(
            "{THOUSANDS} '{group}': takes one of . , ' and a blank (also U+00A0, U+202F)"
        )));
    }
    let style = match ty {
        Some(ReadType::Money) => money(),
        Some(ReadType::Percent) => Style::Percent,
        Some(ReadType::Epoch(_)) => return Ok(None),
        None if decimal.is_none() && group.is_none() => return Ok(None),
        None => Style::Plain,
    };
    let decimal = decimal.unwrap_or(b'.');
    let group = group.or(match (&style, decimal) {
        (Style::Money(_), b',') => Some("."),
        (Style::Money(_), _) => Some(","),
        _ => None,
    });
    if group.is_some_and(|group| group.as_bytes() == [decimal]) {
        let other = if decimal == b'.' { ',' } else { '.' };
        return Err(Error::usage(format!(
            "{THOUSANDS} '{0}': that is the decimal separator as well",
            char::from(decimal)
        ))
        .advise(format!("say {DECIMAL} '{other}' with it")));
    }
    Ok(Some(Numbers { decimal, thousands: group.map(Into::into), style }))
}

fn truths(yes: &[&str], no: &[&str], is_own: bool) -> Result<Option<Truths>> {
    if yes.is_empty() && no.is_empty() {
        return Ok(None);
    }
    let words = |texts: &[&str]| -> Vec<String> {
        let words = texts.iter().flat_map(|text| text.split(','));
        let words = words.map(|word| word.trim().to_lowercase());
        // A column of digits may be one of booleans or of numbers: that takes the column's name.
        words.filter(|word| is_own || (word != "1" && word != "0")).collect()
    };
    let (yes, no) = (words(yes), words(no));
    if let Some(word) = yes.iter().find(|word| no.contains(word)) {
        return Err(Error::usage(format!("'{word}' is among the words of {TRUE} and of {FALSE}")));
    }
    Ok(Some(Truths { yes, no }))
}

fn formats(texts: &[&str], option: &str, has_time: bool) -> Result<Vec<Format>> {
    let parse = |text: &&str| Format::parse(text, has_time);
    let formats = texts.iter().map(parse).collect::<std::result::Result<_, _>>();
    formats.map_err(|why| Error::usage(format!("{option} {why}")))
}

fn zone(name: &str) -> Result<Clocks> {
    Clocks::named(name).ok_or_else(|| {
        Error::usage(format!("{TIME_ZONE} '{name}': there is no such zone"))
            .advise("use a name such as Europe/Berlin, America/New_York or UTC")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(request: ReadRequest) -> String {
        Readers::of(&request).unwrap_err().to_string()
    }

    #[test]
    fn what_is_said_again_takes_the_place_of_that_option_alone() {
        let said = |text: &str| vec![text.to_owned()];
        let columns = ColumnRequest { renamed: said("a=b"), ..ColumnRequest::default() };
        let begun = ReadRequest { nulls: said("NA"), columns, ..ReadRequest::default() };
        let columns = ColumnRequest { dropped: said("z"), ..ColumnRequest::default() };
        let both = ReadRequest { nulls: said("-"), columns, ..ReadRequest::default() }.or(&begun);
        assert_eq!((both.nulls, both.columns.renamed), (said("-"), said("a=b")));
        assert_eq!(both.columns.dropped, said("z"));
    }

    #[test]
    fn what_can_not_be_is_said_at_once() {
        let none = ReadRequest::default;
        let said = |text: &str| vec![text.to_owned()];
        for (request, words) in [
            (ReadRequest { decimals: said(";"), ..none() }, "--decimal ';'"),
            (ReadRequest { decimals: said("c=;"), ..none() }, "--decimal ';'"),
            (ReadRequest { thousands: said("_"), ..none() }, "--thousands '_'"),
            (ReadRequest { thousands: said("."), ..none() }, "decimal separator as well"),
            (ReadRequest { date_formats: said("c=%d.%Q"), ..none() }, "'%Q' at character 4"),
            (ReadRequest { timestamp_formats: said("%F"), ..none() }, "--timestamp-format '%F'"),
            (ReadRequest { time_zones: said("Mars/Base"), ..none() }, "no such zone"),
            (
                ReadRequest { decimals: vec![",".to_owned(), ".".to_owned()], ..none() },
                "--decimal says ',' and '.'",
            ),
            (
                ReadRequest { truths: said("a,b"), falses: said("B"), ..none() },
                "'b' is among the words",
            ),
        ] {
            assert!(wrong(request.clone()).contains(words), "{}", wrong(request));
        }
    }

    #[test]
    fn a_columns_name_may_have_signs_of_its_own() {
        let none = ReadRequest::default;
        let said = |text: &str| vec![text.to_owned()];
        let fit = |request: ReadRequest, names: &[&'static str]| -> Result<Readers> {
            let columns: Vec<Vec<&str>> = names.iter().map(|name| vec![*name]).collect();
            let readers = Readers::of(&request)?;
            readers.fit(&columns)?;
            Ok(readers)
        };
        let has = |request: ReadRequest, name: &'static str, option: &'static str, value: &str| {
            let readers = fit(request, &["a", name]).unwrap();
            assert_eq!(readers.values(option, &[name]), (vec![value], true));
        };
        has(ReadRequest { decimals: said("Rate %=,"), ..none() }, "Rate %", DECIMAL, ",");
        has(ReadRequest { decimals: said("b=c=,"), ..none() }, "b=c", DECIMAL, ",");
        has(ReadRequest { decimals: said("GRÖßE=,"), ..none() }, "Größe", DECIMAL, ",");
        let days = ReadRequest { date_formats: said("Day %=%d.%m.%Y"), ..none() };
        has(days, "Day %", DATE_FORMAT, "%d.%m.%Y");
        let of_all = fit(ReadRequest { date_formats: said("%Y=%m=%d"), ..none() }, &["a"]).unwrap();
        assert_eq!(of_all.values(DATE_FORMAT, &["a"]), (vec!["%Y=%m=%d"], false));
        let why = |request, names| fit(request, names).unwrap_err().to_string();
        let other = ReadRequest { decimals: said("b=c=,"), ..none() };
        assert!(why(other.clone(), &["a"]).contains("there is no column b"));
        assert!(why(other, &["b"]).contains("--decimal 'c=,'"));
    }

    #[test]
    fn types_may_say_how_their_values_are_written() {
        let word = |text: &str| text.parse::<TypeWord>();
        assert_eq!(word("Money"), Ok(TypeWord::Read(ReadType::Money)));
        assert_eq!(word("timestamp[ns]"), Ok(TypeWord::Read(ReadType::Epoch(Unit::Nanoseconds))));
        assert_eq!(word("timestamp"), Ok(TypeWord::Type(Type::Timestamp { zone: false })));
        assert!(word("timestamp[h]").unwrap_err().contains("s, ms, us or ns"));
        assert!(word("elephant").unwrap_err().contains("money, percent"));
    }
}
