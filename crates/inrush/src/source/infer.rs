//! Column types from values: the narrowest type that no value would have to change for.

use std::sync::{Arc, Mutex, PoisonError};

use inrush_scan as scan;

use crate::error::shorten;
use crate::pipe::encode::{BadValue, EncodeRow, Row};
use crate::pipe::{Chunk, Encoded, Wire};
use crate::plan::{Spoiler, Type};

/// The candidates, narrowest first. A column gets the first one that all its values fit.
const CANDIDATES: [Candidate; 8] = [
    Candidate::Integer,
    Candidate::Float,
    Candidate::Decimal,
    Candidate::Boolean,
    Candidate::Date,
    Candidate::Timestamp,
    Candidate::TimestampZone,
    Candidate::Json,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Candidate {
    Integer,
    Float,
    Decimal,
    Boolean,
    Date,
    Timestamp,
    TimestampZone,
    Json,
}

/// What programs write for NULL, in any case. Only ever suggested: `NA` is also Namibia.
const NULL_LIKE: [&[u8]; 8] = [b"NA", b"N/A", b"NULL", b"null", b"NaN", b"None", b"\\N", b"-"];

/// Whether the value is what many a program writes for NULL.
pub(crate) fn is_null_like(value: &[u8]) -> bool {
    value.len() <= 4 && NULL_LIKE.iter().any(|null| null.eq_ignore_ascii_case(value))
}

/// A column is said to be spoilt, in the plan, when so many values fitted a narrower type than it got...
const SPOILT_SHARE_MIN: f64 = 0.9;
/// ... out of at least so many.
const SPOILT_VALUES_MIN: u64 = 20;

/// What was seen of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observed {
    values: u64,
    fits: [u64; CANDIDATES.len()],
    /// The first value, shortened, that isn't of the type.
    misfit: [Option<String>; CANDIDATES.len()],
    /// Values such as `1e5`, counted as floats too.
    exponents: u64,
    /// Values written with a point, or otherwise as nothing but a float.
    points: u64,
    /// Digits after the point, at the least; `digits_after` is the most.
    scale_min: Option<u16>,
    /// Values with a zero at the end that no program writes for a number: `1.10`, not `1.0`.
    padded: bool,
    /// Values that look like somebody's way to write NULL, and the first of them.
    null_like: u64,
    null_spelling: Option<String>,
    digits_before: u16,
    digits_after: u16,
}

impl Observed {
    pub(crate) fn add(&mut self, value: &[u8]) {
        self.count(value, &fitting(value));
    }

    fn count(&mut self, value: &[u8], class: &Class) {
        self.values += 1;
        self.exponents += u64::from(class.exponent);
        self.points += u64::from(class.point);
        if is_null_like(value) {
            self.null_like += 1;
            self.null_spelling.get_or_insert_with(|| String::from_utf8_lossy(value).into_owned());
        }
        if let Some(decimal) = &class.decimal {
            self.digits_before = self.digits_before.max(decimal.precision - decimal.scale);
            self.digits_after = self.digits_after.max(decimal.scale);
            self.scale_min =
                Some(self.scale_min.map_or(decimal.scale, |min| min.min(decimal.scale)));
            self.padded |= decimal.scale > 1 && value.last() == Some(&b'0');
        }
        for (index, candidate) in CANDIDATES.iter().enumerate() {
            if class.fits & (1 << *candidate as u16) != 0 {
                self.fits[index] += 1;
            } else if self.misfit[index].is_none() {
                self.misfit[index] = Some(shorten(value));
            }
        }
    }

    /// A value that is a string: it may be a day or a moment, which have no other form, and nothing else but text.
    pub(crate) fn add_string(&mut self, value: &[u8]) {
        const MOMENTS: u16 = 1 << Candidate::Date as u16
            | 1 << Candidate::Timestamp as u16
            | 1 << Candidate::TimestampZone as u16;
        let class = fitting(value);
        self.count(
            value,
            &Class { fits: class.fits & MOMENTS, decimal: None, exponent: false, point: false },
        );
    }

    pub(crate) fn merge(&mut self, other: &Observed) {
        self.values += other.values;
        self.exponents += other.exponents;
        self.points += other.points;
        self.null_like += other.null_like;
        if self.null_spelling.is_none() {
            self.null_spelling.clone_from(&other.null_spelling);
        }
        for (sum, more) in self.fits.iter_mut().zip(other.fits) {
            *sum += more;
        }
        for (known, new) in self.misfit.iter_mut().zip(&other.misfit) {
            if known.is_none() {
                known.clone_from(new);
            }
        }
        self.digits_before = self.digits_before.max(other.digits_before);
        self.digits_after = self.digits_after.max(other.digits_after);
        self.scale_min = match (self.scale_min, other.scale_min) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.padded |= other.padded;
    }

    /// The column's type; text where nothing was seen.
    pub(crate) fn ty(&self) -> Type {
        let fits_all =
            |index: usize| self.fits[index] == self.values && self.is_float_column(index);
        let fitting = (0..CANDIDATES.len()).find(|index| self.values > 0 && fits_all(*index));
        match fitting.map(|index| CANDIDATES[index]) {
            None => Type::Text,
            Some(Candidate::Integer) => Type::Integer,
            Some(Candidate::Float) => Type::Float,
            Some(Candidate::Decimal) => Type::Decimal {
                precision: self.digits_before + self.digits_after,
                scale: self.digits_after,
            },
            Some(Candidate::Boolean) => Type::Boolean,
            Some(Candidate::Date) => Type::Date,
            Some(Candidate::Timestamp) => Type::Timestamp { zone: false },
            Some(Candidate::TimestampZone) => Type::Timestamp { zone: true },
            Some(Candidate::Json) => Type::Json,
        }
    }

    /// Among whole numbers `1e5` is rather an identifier that a spreadsheet has not got at yet; among decimals it is 100000.
    /// And `1.10` beside `1.1` is a version, which as a number would become its neighbour; where all have two digits, as in
    /// prices, the zero says nothing.
    fn is_float_column(&self, index: usize) -> bool {
        let versions = self.padded && self.scale_min != Some(self.digits_after);
        CANDIDATES[index] != Candidate::Float
            || !versions && (self.exponents == 0 || self.points > 0)
    }

    /// Why the column is text although nearly all its values fit a narrower type.
    pub(crate) fn spoiler(&self) -> Option<Spoiler> {
        if self.ty() != Type::Text {
            return None;
        }
        let (index, fits) = self.fits.iter().enumerate().rev().max_by_key(|(_, fits)| **fits)?;
        let narrower = CANDIDATES[index].word();
        if let Some(spelling) = &self.null_spelling
            && *fits > 0
            && fits + self.null_like == self.values
        {
            return Some(Spoiler::Null { spelling: spelling.clone(), narrower });
        }
        if self.values < SPOILT_VALUES_MIN || (*fits as f64) < SPOILT_SHARE_MIN * self.values as f64
        {
            return None;
        }
        let example = self.misfit[index].clone().unwrap_or_default();
        Some(Spoiler::Values { narrower, fitting: *fits, seen: self.values, example })
    }
}

impl Candidate {
    /// The type's word, as `--type` takes it.
    fn word(self) -> &'static str {
        match self {
            Candidate::Integer => "integer",
            Candidate::Float => "float",
            Candidate::Decimal => "decimal",
            Candidate::Boolean => "boolean",
            Candidate::Date => "date",
            Candidate::Timestamp => "timestamp",
            Candidate::TimestampZone => "timestamptz",
            Candidate::Json => "json",
        }
    }
}

struct Class {
    fits: u16,
    decimal: Option<scan::Decimal>,
    exponent: bool,
    point: bool,
}

fn fitting(value: &[u8]) -> Class {
    let bit = |candidate: Candidate| 1u16 << candidate as u16;
    let mut fits = 0;
    let mut decimal = None;
    let (mut exponent, mut point) = (false, false);
    match value.first() {
        Some(b'0'..=b'9' | b'-' | b'.') => {
            if scan::is_canonical_integer(value) && scan::integer(value).is_ok() {
                fits |= bit(Candidate::Integer);
            }
            if scan::float_round_trips(value) {
                fits |= bit(Candidate::Float);
                point = fits & bit(Candidate::Integer) == 0;
            } else if is_whole_with_exponent(value) {
                fits |= bit(Candidate::Float);
                exponent = true;
            }
            decimal = scan::decimal(value);
            if decimal.is_some() {
                fits |= bit(Candidate::Decimal);
            } else if scan::is_date(value) {
                fits |= bit(Candidate::Date);
            } else {
                match scan::timestamp(value) {
                    Some(scan::Zone::None) => fits |= bit(Candidate::Timestamp),
                    Some(scan::Zone::Offset) => fits |= bit(Candidate::TimestampZone),
                    None => {}
                }
            }
        }
        Some(b't' | b'T' | b'f' | b'F') if scan::is_boolean(value).is_some() => {
            fits |= bit(Candidate::Boolean)
        }
        Some(b'{' | b'[') if is_json(value) => fits |= bit(Candidate::Json),
        _ => {}
    }
    Class { fits, decimal, exponent, point }
}

/// Whether the bytes are a whole number with an exponent, such as `1e5`, that a double keeps.
pub(crate) fn is_whole_with_exponent(value: &[u8]) -> bool {
    let Some(at) = memchr::memchr2(b'e', b'E', value) else { return false };
    let (whole, exponent) = (&value[..at], &value[at + 1..]);
    scan::is_canonical_integer(whole)
        && whole.len() <= 15
        && !exponent.is_empty()
        && exponent.iter().all(u8::is_ascii_digit)
        && scan::float(value).is_ok()
}

/// Whether the bytes are one JSON document (RFC 8259).
pub(crate) fn is_json(value: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(value).is_ok()
}

/// Looks at every value of the good records it is given, and makes no wire.
pub(crate) struct Surveyor {
    seen: Vec<Observed>,
    total: Arc<Mutex<Vec<Observed>>>,
}

impl Surveyor {
    /// All surveyors of one survey share `total`, one entry a column.
    pub(crate) fn new(total: Arc<Mutex<Vec<Observed>>>) -> Self {
        let columns = total.lock().unwrap_or_else(PoisonError::into_inner).len();
        Self { seen: vec![Observed::default(); columns], total }
    }
}

impl EncodeRow for Surveyor {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        for (column, seen) in self.seen.iter_mut().enumerate() {
            wire.values.clear();
            if let Some((home, span)) = row.value(column, &mut wire.values) {
                seen.add(row.bytes(home, span, &wire.values));
            }
        }
        Ok(())
    }

    fn end(&mut self, _chunk: &Chunk, out: &mut Encoded) {
        out.wire.clear();
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, seen) in total.iter_mut().zip(&mut self.seen) {
            sum.merge(seen);
            *seen = Observed::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ty(values: &[&str]) -> Type {
        let mut observed = Observed::default();
        values.iter().for_each(|value| observed.add(value.as_bytes()));
        observed.ty()
    }

    #[test]
    fn the_narrowest_type_that_changes_nothing() {
        let decimal = |precision, scale| Type::Decimal { precision, scale };
        let cases: &[(&[&str], Type)] = &[
            (&[], Type::Text),
            (&["1", "-20", "9223372036854775807"], Type::Integer),
            (&["1", "007"], Type::Text),
            (&["1", "+1"], Type::Text),
            (&["1", "1e5"], Type::Text),
            (&["1", "9223372036854775808"], decimal(19, 0)),
            (&["12345678901234567890"], decimal(20, 0)),
            (&["1", "2.5", "-0.25"], Type::Float),
            (&["39.02", "10.357019999999999", "1e-05"], Type::Float),
            (&["1012.3", "1e3"], Type::Float),
            (&["19.90", "5.00", "7.25"], Type::Float),
            (&["10.0", "0.25"], Type::Float),
            (&["1.1", "1.10", "1.2"], decimal(3, 2)),
            (&["0.1234567890123456789", "12"], decimal(21, 19)),
            (&["NaN", "1.5"], Type::Text),
            (&["true", "false", "True"], Type::Boolean),
            (&["true", "1"], Type::Text),
            (&["2013-01-01", "2012-02-29"], Type::Date),
            (&["2013-01-01", "2012-02-30"], Type::Text),
            (&["2013-01-01 05:00:00", "2013-01-01T06:00"], Type::Timestamp { zone: false }),
            (
                &["2013-01-01T05:00:00Z", "2013-01-01 05:00:00+02:00"],
                Type::Timestamp { zone: true },
            ),
            (&["2013-01-01 05:00:00", "2013-01-01 05:00:00Z"], Type::Text),
            (&["{\"a\":1}", "[1,2]"], Type::Json),
            (&["{\"a\":1}", "{a}"], Type::Text),
            (&["1", ""], Type::Text),
            (&[" 1"], Type::Text),
        ];
        for (values, wanted) in cases {
            assert_eq!(ty(values), *wanted, "{values:?}");
        }
    }

    #[test]
    fn a_column_nearly_of_a_type_says_what_spoils_it() {
        let mut observed = Observed::default();
        (0..99).for_each(|n: u32| observed.add(n.to_string().as_bytes()));
        observed.add(b"abc");
        let spoiler = Spoiler::Values {
            narrower: "integer",
            fitting: 99,
            seen: 100,
            example: "'abc'".to_owned(),
        };
        assert_eq!(observed.spoiler(), Some(spoiler));
        let mut null = Observed::default();
        [&b"NA"[..], b"NA", b"1"].iter().for_each(|value| null.add(value));
        assert_eq!(
            null.spoiler(),
            Some(Spoiler::Null { spelling: "NA".to_owned(), narrower: "integer" })
        );
        let mut text = Observed::default();
        (0..99).for_each(|_| text.add(b"abc"));
        assert_eq!(text.spoiler(), None);
    }
}
