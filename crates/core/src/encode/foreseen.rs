//! Values of a sort that a sample of their column has none of. What they make of the column's type only a look at all values can tell.

use std::sync::Arc;

use inrush_scan::{self as scan, Field};

use crate::encode::row::Row;
use crate::encode::{BadRecord, Shape, Verdict};
use crate::error::shorten;
use crate::flow::Code;
use crate::reading::ColumnReads;
use crate::value::{is_whole_with_exponent, rule};

/// What a sample has shown of a column whose type is a guess, where a value that its type takes may change the guess.
#[derive(Clone, Debug, Default)]
pub enum Foreseen {
    /// All that matters: the encoder judges the values.
    #[default]
    All,
    /// No value, so that the column is text until one may be more than that.
    Nothing {
        /// The options of reading that are said of all columns.
        reads: Option<Arc<ColumnReads>>,
        /// Whether such a value is only told, because the input can't be read again.
        is_told: bool,
    },
    /// Floats of so many digits behind the point, where they have a point: beside others a zero at their end may be that of a version.
    Digits(u16),
    /// Floats without such zeros.
    Unpadded,
}

impl Foreseen {
    /// Whether a value as it is written needs a closer look; nearly none does.
    #[inline(always)]
    fn is_suspect(&self, raw: &[u8]) -> bool {
        match self {
            _ if raw.is_empty() => false,
            Self::All => false,
            Self::Nothing { .. } => true,
            Self::Digits(digits) => {
                let point = raw.len().checked_sub(usize::from(*digits) + 1);
                point.is_none_or(|point| raw[point] != b'.')
            }
            Self::Unpadded => raw.last() == Some(&b'0'),
        }
    }

    /// What is new about a value, in words.
    fn news(&self, value: &[u8], is_string: bool) -> Option<&'static str> {
        let (is_new, news) = match self {
            Self::All => return None,
            Self::Nothing { reads, .. } => {
                let is_read =
                    |reads: &Arc<ColumnReads>| reads.canonical(value, &mut Vec::new()).is_some();
                let is_more =
                    may_be_more_than_text(value, is_string) || reads.as_ref().is_some_and(is_read);
                (is_more, "is the first value that says what the column is")
            }
            Self::Digits(digits) => (
                fraction(value).is_some_and(|found| found != *digits),
                "has another number of digits behind its point than the values before it, as versions do",
            ),
            Self::Unpadded => (
                fraction(value) > Some(1) && value.ends_with(b"0"),
                "ends in a zero, unlike the values before it, as versions do",
            ),
        };
        is_new.then_some(news)
    }
}

/// The columns of which a sample has not shown all that matters.
pub(super) struct Watch<'s> {
    columns: Vec<Watched<'s>>,
    memory: Vec<u8>,
}

struct Watched<'s> {
    at: usize,
    foreseen: &'s Foreseen,
    /// Whether it is read otherwise than it is written.
    is_read: bool,
}

impl<'s> Watch<'s> {
    pub(super) fn of(shape: &'s Shape) -> Self {
        let columns = shape.columns.iter().enumerate().map(|(at, column)| Watched {
            at,
            foreseen: &column.foreseen,
            is_read: column.reading.is_some(),
        });
        let columns = columns.filter(|column| !matches!(column.foreseen, Foreseen::All)).collect();
        Self { columns, memory: Vec::new() }
    }

    /// Whether a record needs [`Watch::look`].
    #[inline(always)]
    pub(super) fn is_suspect(&self, fields: &[Field], chunk: &[u8]) -> bool {
        let is_suspect = |Watched { at, foreseen, is_read }: &Watched<'_>| {
            let raw = fields[*at].raw(chunk);
            foreseen.is_suspect(raw) || *is_read && !raw.is_empty()
        };
        self.columns.iter().any(is_suspect)
    }

    /// Looks at a record's values: one of a sort that the sample had none of disproves the guess, or is noted in `told` by its column.
    #[inline(never)]
    pub(super) fn look(
        &mut self,
        row: &impl Row,
        is_string: impl Fn(usize) -> bool,
        told: &mut Vec<u32>,
    ) -> Result<(), BadRecord> {
        for Watched { at, foreseen, .. } in &self.columns {
            self.memory.clear();
            let Some((home, span)) = row.value(*at, &mut self.memory) else { continue };
            let value = row.bytes(home, span, &self.memory);
            let Some(news) = foreseen.news(value, is_string(*at)) else { continue };
            if !matches!(foreseen, Foreseen::Nothing { is_told: true, .. }) {
                return Err(BadRecord {
                    column: Some(*at),
                    code: Code::Type,
                    message: format!("{} {news}", shorten(value)),
                    verdict: Verdict::Mismatch,
                });
            }
            let column = *at as u32;
            if !told.contains(&column) {
                told.push(column);
            }
        }
        Ok(())
    }
}

/// Digits behind the point of a decimal number that has some.
fn fraction(value: &[u8]) -> Option<u16> {
    let is_zero = || !value.iter().any(|byte| matches!(byte, b'1'..=b'9'));
    let scale = scan::decimal(value)?.scale;
    (scale > 0 && !(value.first() == Some(&b'-') && is_zero())).then_some(scale)
}

/// Whether a guess may take a value for one of another type than text. A string that is no more than that may be a day or a moment.
pub fn may_be_more_than_text(value: &[u8], is_string: bool) -> bool {
    let is_moment = || scan::is_date(value) || scan::read_timestamp(value).is_some();
    let is_number = || {
        scan::decimal(value).is_some()
            || is_whole_with_exponent(value)
            || scan::float_round_trips(value)
    };
    match value.first() {
        Some(b'0'..=b'9' | b'-' | b'.') => is_moment() || !is_string && is_number(),
        _ if is_string => false,
        Some(b't' | b'T' | b'f' | b'F') => scan::is_boolean(value).is_some(),
        Some(b'{' | b'[') => rule::json(value).is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_value_of_another_sort_is_news() {
        let nothing = Foreseen::Nothing { reads: None, is_told: false };
        let is_news = |foreseen: &Foreseen, text: &str| {
            let is_news = foreseen.news(text.as_bytes(), false).is_some();
            assert!(!is_news || foreseen.is_suspect(text.as_bytes()), "{text}");
            is_news
        };
        for text in ["1", "-1.5", "1e5", "true", "2024-01-31", "2024-01-31 12:00:00Z", "[1]"] {
            assert!(is_news(&nothing, text), "{text}");
        }
        for text in ["", "x", "-", "007", "3 apples", "2024-13-01", "truth", "{", "NA"] {
            assert!(!is_news(&nothing, text), "{text}");
        }
        for (text, of_two_digits, unpadded) in [
            ("1.10", false, true),
            ("1.11", false, false),
            ("1.1", true, false),
            ("1.100", true, true),
            ("1.0", true, false),
            ("10", false, false),
            ("-0.0", false, false),
            ("1e-05", false, false),
        ] {
            assert_eq!(is_news(&Foreseen::Digits(2), text), of_two_digits, "{text}");
            assert_eq!(is_news(&Foreseen::Unpadded, text), unpadded, "{text}");
        }
        // A string is no number, and may be a day.
        assert!(nothing.news(b"2024-01-31", true).is_some());
        assert!(nothing.news(b"12", true).is_none());
    }
}
