//! Columns of text whose values are all written in one way that an option reads: what to say to have them read so. Nothing is read
//! otherwise than it is written unless the user says so.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use inrush_core::encode::{BadValue, EncodeRow, Row};
use inrush_core::flow::{Chunk, Encoded, Wire};
use inrush_core::reading::{ColumnReads, Family, ReadRequest, ReadType, Readers};
use inrush_core::value::rule;
use inrush_core::{Proposal, Type};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::infer::{
    has_nul, is_null_in_quotes, is_null_like, note_spelling, null_spelling, type_of,
};

/// The column's name while its forms are tried.
const NAME: &str = "c";

/// Decimal separator and what stands between groups. The plainest comes first: of several that read all values alike it is taken.
const NUMBERS: [(&str, &str); 11] = [
    (",", ""),
    (".", ","),
    (",", "."),
    (".", "'"),
    (",", "'"),
    (".", "\u{2019}"),
    (",", "\u{2019}"),
    (".", " "),
    (",", " "),
    (",", "\u{a0}"),
    (",", "\u{202f}"),
];

/// Where a year has two digits it may stand in front as well: 24.12.31 is a day of 2024, or of 2031.
const DAYS: [&str; 20] = [
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%m-%y",
    "%m-%d-%y",
    "%y.%m.%d",
    "%y/%m/%d",
    "%y-%m-%d",
    "%d %b %Y",
    "%b %d, %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%A, %d %B %Y",
];

const TIMES: [&str; 5] = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p"];

/// The day that is one as it is written. With a time of 24 hours behind a blank it is a moment as well, and else as all others.
const WRITTEN_DAY: &str = "%Y-%m-%d";

/// What stands between day and time.
const BETWEEN: [&str; 2] = [" ", ", "];

/// Of web servers, mails, loggers, the C library, and BigQuery, which leaves out a fraction of zero.
const MOMENTS: [&[&str]; 8] = [
    &["%d/%b/%Y:%H:%M:%S %z"],
    &["%a, %d %b %Y %H:%M:%S %z"],
    &["%a, %d %b %Y %H:%M:%S %Z"],
    &["%Y-%m-%d %H:%M:%S,%f"],
    &["%a %b %d %H:%M:%S %Y"],
    &["%Y-%m-%d %H:%M:%S %Z"],
    &["%Y-%m-%d %H:%M:%S.%f %Z"],
    &["%Y-%m-%d %H:%M:%S %Z", "%Y-%m-%d %H:%M:%S.%f %Z"],
];

const TRUTHS: [(&str, &str); 11] = [
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("on", "off"),
    ("ja", "nein"),
    ("oui", "non"),
    ("si", "no"),
    ("wahr", "falsch"),
    ("vrai", "faux"),
    ("vero", "falso"),
    ("verdadero", "falso"),
];

/// A way to read values.
struct Form {
    family: Family,
    /// Options and what they are given behind the column's name.
    options: Vec<(&'static str, String)>,
    reads: Arc<ColumnReads>,
    /// What the request for it was, where columns don't share it: an amount has the currency of its own column.
    own: Option<ReadRequest>,
    /// The type of the columns that it is for, as their values stand.
    of: Type,
}

/// The forms of a family, made once, for a table may have hundreds of columns; and only where a column begins with a value that may be
/// of one: there are hundreds of forms, and texts of which none is one are most.
struct Kindred {
    /// Whether a value may be of any of the forms; a glance.
    may_take: fn(&[u8]) -> bool,
    forms: LazyLock<Vec<Form>>,
}

/// All forms but those of numbers and days that are values as they stand.
static FORMS: [Kindred; 4] = [
    Kindred { may_take: has_digit, forms: LazyLock::new(numbers) },
    Kindred { may_take: may_begin_with_day, forms: LazyLock::new(days) },
    Kindred {
        may_take: |value| value.contains(&b':') && may_begin_with_day(value),
        forms: LazyLock::new(moments),
    },
    Kindred { may_take: is_truth, forms: LazyLock::new(truths) },
];

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// Whether it has a digit, and begins with one, or with the name of a month or a weekday.
fn may_begin_with_day(value: &[u8]) -> bool {
    const NAMES: [&[u8; 3]; 19] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec", b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun",
    ];
    let value = value.trim_ascii_start();
    let is_named = || {
        value
            .get(..3)
            .is_some_and(|start| NAMES.iter().any(|name| name.eq_ignore_ascii_case(start)))
    };
    has_digit(value) && (value[0].is_ascii_digit() || is_named())
}

fn is_truth(value: &[u8]) -> bool {
    let words = TRUTHS.iter().flat_map(|(yes, no)| [*yes, *no]).chain(["true", "false"]);
    words.into_iter().any(|word| word.as_bytes().eq_ignore_ascii_case(value))
}

/// The form of integers that are to be days.
static DIGITS: LazyLock<Option<Form>> = LazyLock::new(|| {
    let request =
        ReadRequest { date_formats: vec![format!("{NAME}=%Y%m%d")], ..Default::default() };
    let options = vec![("--date-format", "%Y%m%d".to_owned())];
    let reads = read(&request)?;
    Some(Form { family: Family::Day, options, reads, own: None, of: Type::Integer })
});

/// The form of floats that are thousands where decimals have commas: all have three digits behind the point.
static GROUPS: LazyLock<Option<Form>> = LazyLock::new(|| {
    let said = |value: &str| vec![format!("{NAME}={value}")];
    let request = ReadRequest { decimals: said(","), thousands: said("."), ..Default::default() };
    let options = vec![("--decimal", ",".to_owned()), ("--thousands", ".".to_owned())];
    let reads = read(&request)?;
    Some(Form { family: Family::Number, options, reads, own: None, of: Type::Float })
});

/// A form that all values of a column have so far.
struct Tried {
    form: &'static Form,
    reads: Arc<ColumnReads>,
    /// What it has made of them.
    sum: u64,
    /// Of days and moments: the last two digits of their years, one bit each.
    years: u128,
    has_true: bool,
    has_false: bool,
    /// Of numbers: whether any is written with what the form is for, and is none, or another, without it.
    has_sign: bool,
}

impl Tried {
    /// All forms that may take a value.
    fn all(value: &[u8]) -> Vec<Self> {
        let kindred = FORMS.iter().filter(|kindred| (kindred.may_take)(value));
        kindred.flat_map(|kindred| kindred.forms.iter()).map(Self::of).collect()
    }

    fn of(form: &'static Form) -> Self {
        Self {
            form,
            reads: match &form.own {
                Some(request) => read(request).unwrap_or_else(|| Arc::clone(&form.reads)),
                None => Arc::clone(&form.reads),
            },
            sum: 0,
            years: 0,
            has_true: false,
            has_false: false,
            has_sign: false,
        }
    }

    /// Whether the form reads a value as well.
    fn takes(&mut self, value: &[u8], text: &mut Vec<u8>) -> bool {
        let is_day = || inrush_scan::integer(value).is_ok_and(rule::is_compact_day);
        if self.form.of == Type::Integer && !is_day() {
            return false;
        }
        text.clear();
        let is_read = self.reads.canonical(value, text).is_some()
            && (self.form.family != Family::Number || !is_identifier(value));
        let is_float = self.form.of == Type::Float;
        self.has_sign |= text != value && (is_float || inrush_scan::float(value).is_err());
        self.has_true |= text == b"true";
        self.has_false |= text == b"false";
        self.sum = xxh3_64_with_seed(text, self.sum);
        if let (Family::Day | Family::Moment, Some([tens, ones])) =
            (self.form.family, text.get(2..4))
        {
            let year =
                tens.wrapping_sub(b'0').wrapping_mul(10).wrapping_add(ones.wrapping_sub(b'0'));
            self.years |= 1 << (year % 100);
        }
        is_read
    }
}

/// Whether a number is written as no quantity is: `007`, `+49 170 123`.
fn is_identifier(value: &[u8]) -> bool {
    let digits = value.iter().position(u8::is_ascii_digit).map_or(&[][..], |at| &value[at..]);
    value.starts_with(b"+") || matches!(digits, [b'0', b'0'..=b'9', ..])
}

fn read(request: &ReadRequest) -> Option<Arc<ColumnReads>> {
    Readers::of(request).ok()?.column(NAME)
}

/// What a text may be that is no type of a column: a glance at its characters tells.
type Kind = fn(&[u8]) -> bool;

/// Values that stand in columns of text, and are the name of none: a time of day, what identifies a thing or a content, and where
/// something is.
const KINDS: [Kind; 4] = [is_time, is_digest, is_ip, is_address];

/// Whether it is a time of day, which behind a day would make a moment.
fn is_time(value: &[u8]) -> bool {
    static TIMES_OF_DAY: LazyLock<Option<Arc<ColumnReads>>> = LazyLock::new(|| {
        let text = |time| format!("{NAME}={WRITTEN_DAY} {time}");
        let timestamp_formats = TIMES.map(text).to_vec();
        read(&ReadRequest { timestamp_formats, ..ReadRequest::default() })
    });
    let is_read = |reads: &Arc<ColumnReads>| {
        reads.canonical(&[b"1970-01-01 ", value].concat(), &mut Vec::new()).is_some()
    };
    value.first().is_some_and(u8::is_ascii_digit)
        && value.contains(&b':')
        && TIMES_OF_DAY.as_ref().is_some_and(is_read)
}

/// Whether it is a UUID, or a hash that has as many digits or more (of MD5, SHA-1, SHA-256).
fn is_digest(value: &[u8]) -> bool {
    let is_hash = || value.len() >= 32 && value.iter().all(u8::is_ascii_hexdigit);
    rule::uuid(value).is_ok() || is_hash()
}

fn is_ip(value: &[u8]) -> bool {
    let text = str::from_utf8(value).unwrap_or_default();
    let (address, bits) = text.split_once('/').unwrap_or((text, "0"));
    address.parse::<IpAddr>().is_ok() && bits.parse::<u8>().is_ok()
}

/// Whether it is a URL, or the address of a mailbox.
fn is_address(value: &[u8]) -> bool {
    let text = str::from_utf8(value).unwrap_or_default();
    let is_url = |(scheme, rest): (&str, &str)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && !rest.is_empty()
    };
    let is_mailbox =
        |(user, host): (&str, &str)| !user.is_empty() && host.trim_matches('.').contains('.');
    !text.contains(char::is_whitespace)
        && (text.split_once("://").is_some_and(is_url)
            || text.split_once('@').is_some_and(is_mailbox))
}

/// The forms that all values of a column have so far.
#[derive(Default)]
pub(crate) struct Forms {
    /// Of a column of text none before its first value.
    tried: Vec<Tried>,
    /// What else they all are, where they are compared with the first line's field.
    kinds: Vec<Kind>,
    /// Whether blanks around values say nothing.
    trims: bool,
    values: u64,
    /// What else there was: ways to write NULL.
    nulls: Vec<String>,
}

impl Forms {
    /// Those that a column of such values may have, which it is not taken for by itself.
    pub(crate) fn of(ty: Type) -> Option<Self> {
        match ty {
            Type::Text => Some(Self::default()),
            Type::Integer => DIGITS.as_ref().map(Self::one),
            Type::Float => GROUPS.as_ref().map(Self::one),
            _ => None,
        }
    }

    fn one(form: &'static Form) -> Self {
        Self { tried: vec![Tried::of(form)], ..Self::default() }
    }

    /// Those of a field of the first line, to compare the values below it: `None` where it has none, or is a value as it stands.
    pub(crate) fn like(field: &str) -> Option<Self> {
        if type_of(field) != Type::Text {
            return None;
        }
        let (value, mut text) = (field.as_bytes(), Vec::new());
        let mut tried = Tried::all(value);
        // A column of truths may be called y or t.
        let is_name = |form: &Tried| form.form.family == Family::Truth;
        tried.retain_mut(|form| !is_name(form) && form.takes(value, &mut text));
        let kinds: Vec<Kind> = KINDS.into_iter().filter(|is| is(value)).collect();
        let forms = Self { tried, kinds, trims: true, values: 1, nulls: Vec::new() };
        (!forms.are_none()).then_some(forms)
    }

    /// Whether values stand below that field, and all are written as it is.
    pub(crate) fn are_alike(&self) -> bool {
        self.values > 1 && !self.are_none()
    }

    /// Whether no form is left.
    fn are_none(&self) -> bool {
        self.values > 0 && self.tried.is_empty() && self.kinds.is_empty()
    }

    /// Looks at a value, and what stands around it where it is in quotes and a way to write NULL; `text` is room to work in.
    pub(crate) fn add(&mut self, value: &[u8], quote: Option<u8>, text: &mut Vec<u8>) {
        let value = if self.trims { value.trim_ascii() } else { value };
        if is_null_like(value) {
            return note_spelling(&mut self.nulls, &null_spelling(value, quote));
        }
        if self.values == 0 && self.tried.is_empty() {
            self.tried = Tried::all(value);
        }
        self.values += 1;
        self.tried.retain_mut(|form| form.takes(value, text));
        self.kinds.retain(|is| is(value));
    }

    /// What is proposed, where one form reads all values but those that are to be NULL, and no other reads them otherwise; of numbers, days
    /// and moments, all forms that do.
    pub(crate) fn proposal(&self) -> Option<Proposal> {
        if self.values == 0 {
            return None;
        }
        let mut found = proposal(&self.tried, self.values)?;
        for options in std::iter::once(&mut found.options).chain(&mut found.others) {
            options.extend(self.nulls.iter().map(|null| ("--null", null.clone())));
        }
        Some(found)
    }
}

/// Looks whether the values of columns are of one form, and has what is found.
pub(crate) struct Proposer<T> {
    /// By column; none for what is not to be looked at.
    forms: Vec<Option<Forms>>,
    /// What stands around quoted fields.
    quote: Option<u8>,
    text: Vec<u8>,
    tell: fn(&Forms) -> T,
    found: Arc<Mutex<Vec<T>>>,
}

impl<T> Proposer<T> {
    /// For columns that have these forms so far. What `tell` makes of them in the end goes to `found`, one entry a column.
    pub(crate) fn new(
        forms: Vec<Option<Forms>>,
        quote: Option<u8>,
        tell: fn(&Forms) -> T,
        found: Arc<Mutex<Vec<T>>>,
    ) -> Self {
        Self { forms, quote, text: Vec::new(), tell, found }
    }
}

impl<T: Default + Send> EncodeRow for Proposer<T> {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let Self { forms, quote, text, .. } = self;
        for (column, forms) in forms.iter_mut().enumerate() {
            let Some(forms) = forms.as_mut().filter(|forms| !forms.are_none()) else {
                continue;
            };
            wire.values.clear();
            let Some((home, span)) = row.value(column, &mut wire.values) else { continue };
            let value = row.bytes(home, span, &wire.values);
            if has_nul(value) {
                continue;
            }
            let quote = quote.filter(|_| is_null_in_quotes(row, column, value));
            forms.add(value, quote, text);
        }
        Ok(())
    }

    fn end(&mut self, _chunk: &Chunk, out: &mut Encoded) {
        out.wire.clear();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for (found, forms) in found.iter_mut().zip(&self.forms) {
            *found = forms.as_ref().map(self.tell).unwrap_or_default();
        }
    }
}

/// What is proposed where these forms read all values.
fn proposal(forms: &[Tried], values: u64) -> Option<Proposal> {
    /// Days of a file are of few years, and those of a month are many: a form that makes so many times the years of another one takes the
    /// days for them.
    const YEARS_TIMES: u32 = 3;
    let years = |form: &Tried| form.years.count_ones();
    let fewest = forms.iter().map(years).min()?;
    let forms: Vec<&Tried> =
        forms.iter().filter(|form| years(form) <= YEARS_TIMES * fewest).collect();
    let first = forms.first()?;
    let is_of_family = |other: &&Tried| other.form.family == first.form.family;
    let are_floats = first.form.of == Type::Float;
    let is_known = match first.form.family {
        Family::Number => first.has_sign && forms.iter().all(is_of_family),
        Family::Truth => forms.len() == 1 && first.has_true && first.has_false,
        Family::Day | Family::Moment => forms.iter().all(is_of_family),
    };
    let rest: Vec<&Tried> = match first.form.family {
        // 02/02/2024 is one day in two forms, and the next value is not.
        Family::Day | Family::Moment => {
            let is_more = |other: &Tried| {
                first.form.options.iter().all(|own| other.form.options.contains(own))
            };
            forms[1..].iter().copied().filter(|other| !is_more(other)).collect()
        }
        // 1,234 is one and a bit, or a thousand and more; most forms make the same numbers of all, whichever is taken.
        Family::Number => {
            let is_new = |at: &usize| forms[..*at].iter().all(|form| form.sum != forms[*at].sum);
            (1..forms.len()).filter(is_new).map(|at| forms[at]).collect()
        }
        Family::Truth => Vec::new(),
    };
    let others = rest.iter().map(|other| other.form.options.clone());
    // Floats are numbers as they stand.
    let as_written = first.form.family.as_written().filter(|_| are_floats).map(|way| vec![way]);
    is_known.then(|| Proposal {
        family: first.form.family,
        options: first.form.options.clone(),
        words: first.reads.declared_words(),
        values,
        others: others.chain(as_written).collect(),
    })
}

/// What is said of the column.
fn named(value: &str) -> Vec<String> {
    vec![format!("{NAME}={value}")]
}

fn form(family: Family, options: &[(&'static str, &str)], request: ReadRequest) -> Option<Form> {
    let reads = read(&request)?;
    let options = options.iter().map(|(option, value)| (*option, (*value).to_owned()));
    let options = options.collect();
    let own = (!request.types.is_empty()).then_some(request);
    Some(Form { family, options, reads, own, of: Type::Text })
}

fn numbers() -> Vec<Form> {
    let plain = NUMBERS.iter().filter_map(|(decimal, group)| {
        let thousands = if group.is_empty() { Vec::new() } else { named(group) };
        let request = ReadRequest { decimals: named(decimal), thousands, ..ReadRequest::default() };
        let all = [("--decimal", *decimal), ("--thousands", *group)];
        let is_said = |(option, value): &&(&str, &str)| {
            !value.is_empty() && (*option != "--decimal" || *value != ".")
        };
        let options: Vec<_> = all.iter().filter(is_said).copied().collect();
        form(Family::Number, &options, request)
    });
    let types = [(ReadType::Money, "money"), (ReadType::Percent, "percent")];
    let with_signs = types.iter().flat_map(|(ty, word)| {
        [".", ","].into_iter().filter_map(move |decimal| {
            let types = [(NAME.to_owned(), *ty)].into();
            let request = ReadRequest { types, decimals: named(decimal), ..ReadRequest::default() };
            let options = [("--type", *word), ("--decimal", decimal)];
            let said = if decimal == "." { &options[..1] } else { &options };
            form(Family::Number, said, request)
        })
    });
    plain.chain(with_signs).collect()
}

fn days() -> Vec<Form> {
    let of = |text: &&str| {
        let request = ReadRequest { date_formats: named(text), ..ReadRequest::default() };
        form(Family::Day, &[("--date-format", text)], request)
    };
    DAYS.iter().filter_map(of).collect()
}

fn moments() -> Vec<Form> {
    let with_times = DAYS.iter().chain([&WRITTEN_DAY]).flat_map(|day| {
        let of = move |between| TIMES.map(|time| vec![format!("{day}{between}{time}")]);
        BETWEEN.iter().flat_map(of)
    });
    let others = MOMENTS.iter().map(|texts| texts.iter().map(|&text| text.to_owned()).collect());
    let of = |texts: Vec<String>| {
        let timestamp_formats = texts.iter().flat_map(|text| named(text)).collect();
        let options: Vec<_> =
            texts.iter().map(|text| ("--timestamp-format", text.as_str())).collect();
        let request = ReadRequest { timestamp_formats, ..ReadRequest::default() };
        form(Family::Moment, &options, request)
    };
    with_times.chain(others).filter_map(of).collect()
}

fn truths() -> Vec<Form> {
    let of = |(yes, no): &(&str, &str)| {
        let request =
            ReadRequest { truths: named(yes), falses: named(no), ..ReadRequest::default() };
        form(Family::Truth, &[("--true", yes), ("--false", no)], request)
    };
    TRUTHS.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The options that are proposed for these values.
    fn options(values: &[&str]) -> Option<String> {
        let (mut forms, mut text) = (Forms::default(), Vec::new());
        for value in values {
            forms.add(value.as_bytes(), None, &mut text);
        }
        let proposal = forms.proposal()?;
        let sets = std::iter::once(proposal.options).chain(proposal.others);
        let sets = sets.map(|options| shown(&options));
        Some(sets.collect::<Vec<_>>().join(" or "))
    }

    fn shown(options: &[(&str, String)]) -> String {
        let shown = options.iter().map(|(option, value)| format!("{option} {value}"));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_that_is_passed_over_at_a_glance_is_of_no_form() {
        let values = [
            "1,5",
            "-1.5",
            "+7",
            " 7",
            "5 EUR",
            "EUR 5",
            "$5",
            "(5)",
            "5%",
            "%5",
            "1e5",
            "\u{20ac}5",
            "-",
            "x",
            "",
            "name 7",
            "31.12.2024",
            " 1/2/2024",
            "Jan 2, 2024",
            "JAN 2, 2024",
            "january 2, 2024",
            "Monday, 01 January 2024",
            "Mon, 01 Jan 2024 10:00:00 GMT",
            "mon jan  1 10:00:00 2024",
            "10:00",
            "2024-12-31 23:59:00,125",
            "+2024/01/02",
            "10/Oct/2000:13:55:36 -0700",
            "1/2/2024, 11:59 pm",
            "Yes",
            "NO",
            " yes",
            "true",
            "FALSE",
            "wahr",
            "y",
            "T",
        ];
        let mut text = Vec::new();
        for value in values.map(str::as_bytes) {
            for kindred in FORMS.iter().filter(|kindred| !(kindred.may_take)(value)) {
                let mut tried = kindred.forms.iter().map(Tried::of);
                assert!(
                    !tried.any(|mut form| form.takes(value, &mut text)),
                    "{}",
                    value.escape_ascii()
                );
            }
        }
    }

    #[test]
    fn days_in_digits_are_proposed_for_integers() {
        let proposed = |values: &[&str]| {
            let (mut forms, mut text) = (Forms::of(Type::Integer)?, Vec::new());
            values.iter().for_each(|value| forms.add(value.as_bytes(), None, &mut text));
            Some(shown(&forms.proposal()?.options))
        };
        let wanted = Some("--date-format %Y%m%d".to_owned());
        assert_eq!(proposed(&["20240229", "19991231"]), wanted);
        for none in [&["20240229", "20240230"][..], &["20240229", "7"], &["21010101"], &[]] {
            assert_eq!(proposed(none), None, "{none:?}");
        }
        assert!(Forms::of(Type::Boolean).is_none());
    }

    #[test]
    fn floats_of_three_digits_behind_the_point_may_be_thousands() {
        let proposed = |values: &[&str]| {
            let (mut forms, mut text) = (Forms::of(Type::Float)?, Vec::new());
            values.iter().for_each(|value| forms.add(value.as_bytes(), None, &mut text));
            let proposal = forms.proposal()?;
            let others = proposal.others.iter().map(|options| shown(options)).collect();
            Some((shown(&proposal.options), others))
        };
        let both = ("--decimal , --thousands .".to_owned(), vec!["--decimal .".to_owned()]);
        assert_eq!(proposed(&["1.234", "-12.000", "7"]), Some(both));
        for none in [&["1.234", "1.5"][..], &["0.750"], &["1234.500"], &["1e5"], &[]] {
            assert_eq!(proposed(none), None, "{none:?}");
        }
    }

    #[test]
    fn one_form_is_proposed_and_of_two_both() {
        for (values, wanted) in [
            (&["1,5", "-0,25", "7"][..], Some("--decimal ,")),
            (&["1.234,5", "7"], Some("--decimal , --thousands .")),
            (&["1,234,567"], Some("--thousands ,")),
            (&["1,234.5", "7"], Some("--thousands ,")),
            (&["1'234.5"], Some("--thousands '")),
            (&["1,234", "5"], Some("--decimal , or --thousands ,")),
            (&["1,234", "5", "NA"], Some("--decimal , --null NA or --thousands , --null NA")),
            (&["1.50", "1.555", "-1", "1e2"], None),
            (&["3.5"], None),
            (&["$5", "$1,299.00"], Some("--type money")),
            (&["5 EUR"], Some("--type money")),
            (&["1.299,00 \u{20ac}", "5 \u{20ac}"], Some("--type money --decimal ,")),
            (&["1.299 \u{20ac}"], Some("--type money or --type money --decimal ,")),
            (&["12,5 %", "3 %"], Some("--type percent --decimal ,")),
            (&["1\u{2019}234.5"], Some("--thousands \u{2019}")),
            (&["12.5%", "3%"], Some("--type percent")),
            (&["31.12.2024", "01.02.2024"], Some("--date-format %d.%m.%Y")),
            (&["31/12/2024"], Some("--date-format %d/%m/%Y")),
            (&["12/31/2024", "01/02/2024"], Some("--date-format %m/%d/%Y")),
            (&["31.12.2024", "-", "", "-"], Some("--date-format %d.%m.%Y --null - --null ")),
            (&["01/02/2024"], Some("--date-format %d/%m/%Y or --date-format %m/%d/%Y")),
            (&["02/02/2024"], Some("--date-format %d/%m/%Y or --date-format %m/%d/%Y")),
            (
                &["24.12.31", "23.11.30", "24.01.05"],
                Some("--date-format %d.%m.%y or --date-format %y.%m.%d"),
            ),
            // Days of one year are of many days.
            (&["01.05.24", "09.06.24", "17.07.24", "30.08.24"], Some("--date-format %d.%m.%y")),
            (
                &[
                    "23/05/01", "24/06/09", "23/07/17", "24/08/25", "24/08/26", "24/08/27",
                    "24/08/28",
                ],
                Some("--date-format %y/%m/%d"),
            ),
            (&["24/12/31"], Some("--date-format %d/%m/%y or --date-format %y/%m/%d")),
            (&["24-12-31"], Some("--date-format %d-%m-%y or --date-format %y-%m-%d")),
            (&["95.12.31"], Some("--date-format %y.%m.%d")),
            (&["31.12.95"], Some("--date-format %d.%m.%y")),
            (
                &["10/11/12"],
                Some("--date-format %d/%m/%y or --date-format %m/%d/%y or --date-format %y/%m/%d"),
            ),
            (
                &["24.12.31 10:00"],
                Some("--timestamp-format %d.%m.%y %H:%M or --timestamp-format %y.%m.%d %H:%M"),
            ),
            (&["1-2-2024"], Some("--date-format %d-%m-%Y or --date-format %m-%d-%Y")),
            (
                &["01/02/2024 10:00"],
                Some("--timestamp-format %d/%m/%Y %H:%M or --timestamp-format %m/%d/%Y %H:%M"),
            ),
            (&["31/12/2024", "12/31/2024"], None),
            (&["31.12.2024 23:59"], Some("--timestamp-format %d.%m.%Y %H:%M")),
            (&["12/31/2024 11:59 PM"], Some("--timestamp-format %m/%d/%Y %I:%M %p")),
            (&["2024-12-31 11:59 PM"], Some("--timestamp-format %Y-%m-%d %I:%M %p")),
            (&["2024-12-31, 23:59"], Some("--timestamp-format %Y-%m-%d, %H:%M")),
            (&["10/Oct/2000:13:55:36 -0700"], Some("--timestamp-format %d/%b/%Y:%H:%M:%S %z")),
            (&["31.12.2024, 23:59:00"], Some("--timestamp-format %d.%m.%Y, %H:%M:%S")),
            (&["2024-12-31 23:59:00,125"], Some("--timestamp-format %Y-%m-%d %H:%M:%S,%f")),
            (
                &["Mon, 02 Jan 2006 15:04:05 GMT"],
                Some("--timestamp-format %a, %d %b %Y %H:%M:%S %Z"),
            ),
            (
                &["2024-01-01 00:00:00.123456 UTC", "2024-01-01 00:00:00.5 UTC"],
                Some("--timestamp-format %Y-%m-%d %H:%M:%S.%f %Z"),
            ),
            (&["2024-01-01 00:00:00 UTC"], Some("--timestamp-format %Y-%m-%d %H:%M:%S %Z")),
            (
                &["2024-01-01 00:00:00 UTC", "2024-01-01 00:00:00.5 UTC"],
                Some(
                    "--timestamp-format %Y-%m-%d %H:%M:%S %Z --timestamp-format %Y-%m-%d %H:%M:%S.%f %Z",
                ),
            ),
            (&["Mon Jan  2 15:04:05 2006"], Some("--timestamp-format %a %b %d %H:%M:%S %Y")),
            (&["yes", "No"], Some("--true yes --false no")),
            (&["WAHR", "FALSCH"], Some("--true wahr --false falsch")),
            (&["no", "no"], None),
            (&["yes", "yes"], None),
            (&["n", "n"], None),
            (&["Ann", "Bob"], None),
            (&["1,5", "x"], None),
            (&["00001", "00002"], None),
            (&["1,5", "007"], None),
            (&["+49 170 123"], None),
            (&["$007"], None),
            (&["1e5", "7"], None),
            (&["-0", "7"], None),
            (&["0,5", "-0,25"], Some("--decimal ,")),
            (&["1,5e+03"], Some("--decimal ,")),
            (&["-"], None),
        ] {
            assert_eq!(options(values).as_deref(), wanted, "{values:?}");
        }
    }
}
