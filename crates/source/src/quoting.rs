//! How fields are quoted, given what separates them.

use inrush_scan::{Dialect, DialectError, Newline};

use crate::look::Records;
use inrush_core::{DialectRequest, Empty};

/// The quoting that reads `head` best where `delimiter` separates fields, in a dialect with it.
///
/// # Errors
/// When the user's own choices contradict each other.
pub(super) fn best(
    head: &[u8],
    whole: bool,
    request: &DialectRequest,
    delimiter: u8,
    newline: Newline,
) -> Result<Dialect, DialectError> {
    let mut best: Option<(Score, Dialect)> = None;
    let mut contradiction = DialectError::TwoMeanings(delimiter);
    for (quote, escape) in quotings(request) {
        let is_open = request.escape.is_none();
        let escape_is_guessed = escape.is_some() && (is_open || request.escape_is_guess);
        let comment = request.comment;
        let blanks = request.blanks;
        let dialect = Dialect {
            delimiter,
            quote,
            escape,
            escape_is_guessed,
            comment,
            blanks,
            empty_is_text: request.empty == Some(Empty::Text),
            newline,
        };
        if let Err(error) = dialect.check() {
            contradiction = error;
            continue;
        }
        if is_open && escape_is_guessed && dialect.disproof(head).is_some() {
            continue;
        }
        let score = score(head, whole, &dialect);
        if best.as_ref().is_none_or(|(top, _)| score.is_better(top, &dialect)) {
            best = Some((score, dialect));
        }
    }
    best.map(|(_, dialect)| dialect).ok_or(contradiction)
}

/// Quotes and escapes to try, the plainest first: the others have to read the head better.
fn quotings(request: &DialectRequest) -> Vec<(Option<u8>, Option<u8>)> {
    // A quote that is its own escape is what doubling means anyway.
    let quote_of = |quote: Option<Option<u8>>| quote.unwrap_or(Some(b'"'));
    let escape =
        request.escape.map(|escape| escape.filter(|e| Some(*e) != quote_of(request.quote)));
    match (request.quote, escape) {
        (Some(quote), Some(escape)) => vec![(quote, escape)],
        (Some(quote), None) => vec![(quote, None), (quote, Some(b'\\'))],
        (None, Some(escape)) => vec![(Some(b'"'), escape), (None, escape)],
        (None, None) => {
            vec![(Some(b'"'), None), (Some(b'"'), Some(b'\\')), (None, None), (Some(b'\''), None)]
        }
    }
}

/// How well a dialect reads the head.
#[derive(Debug, PartialEq)]
struct Score {
    /// Share of records with the usual number of fields and sound quoting.
    regular: f64,
    /// The usual number of fields.
    width: usize,
    /// Records with sound quotes: a quote character that quotes nothing explains nothing.
    quoted: usize,
    /// Records whose quoting is broken.
    broken: usize,
    /// Records looked at.
    records: usize,
}

impl Score {
    /// A few broken quotes are bad rows, and make no file one without quotes: that takes so many, and more of them than sound
    /// ones.
    const BROKEN_MIN: usize = 3;

    /// Whether `dialect`, which scores so, reads the quotes better than the one that scores `other`.
    fn is_better(&self, other: &Score, dialect: &Dialect) -> bool {
        if dialect.quote.is_none()
            && (other.broken < Self::BROKEN_MIN || other.broken <= other.quoted)
        {
            return false;
        }
        // An apostrophe is a character of many languages, and a quote only where it explains much.
        let apostrophe = dialect.quote == Some(b'\'');
        if apostrophe && self.quoted * 2 <= self.records && self.regular <= other.regular {
            return false;
        }
        // Within apostrophes double quotes may stand behind a delimiter, and seem to quote.
        let is_mostly = apostrophe && self.quoted > other.quoted && self.regular > other.regular;
        let explains =
            self.quoted > 0 && other.quoted == 0 || is_mostly && self.quoted * 2 > self.records;
        let fixes = self.broken < other.broken && (self.quoted > 0 || dialect.quote.is_none());
        self.regular > other.regular && fixes || self.regular >= other.regular && explains
    }
}

fn score(head: &[u8], whole: bool, dialect: &Dialect) -> Score {
    let mut looked = Records::new(head, whole, dialect);
    let mut fields = Vec::new();
    let mut widths: Vec<usize> = Vec::new();
    let (mut broken, mut quoted) = (0, 0);
    while let Some(record) = looked.next(&mut fields) {
        if record.fault.is_some() {
            broken += 1;
        } else {
            widths.push(fields.len());
            quoted += usize::from(fields.iter().any(|field| field.form.is_quoted()));
        }
    }
    let width = usual(&widths);
    let regular = widths.iter().filter(|w| **w == width).count();
    let records = widths.len() + broken;
    Score { regular: regular as f64 / records.max(1) as f64, width, quoted, broken, records }
}

/// Whether records of `head` have sound quotes, and as many of them as broken ones: where most are broken, quotes are plain characters.
pub(super) fn is_sound(head: &[u8], whole: bool, dialect: &Dialect) -> bool {
    if dialect.quote.is_none_or(|quote| memchr::memchr(quote, head).is_none()) {
        return false;
    }
    let Score { broken, quoted, .. } = score(head, whole, dialect);
    quoted > 0 && quoted >= broken
}

/// Whether fields without quotes hold backslashes that escape nothing, and are lost where one is an escape: a program that escapes within
/// quotes alone writes them so. `\N` is NULL to many.
pub(super) fn has_bare_escapes(head: &[u8], whole: bool, dialect: &Dialect) -> bool {
    if memchr::memchr(b'\\', head).is_none() {
        return false;
    }
    let escaping = Dialect { escape: Some(b'\\'), ..dialect.clone() };
    let mut looked = Records::new(head, whole, &escaping);
    let mut fields = Vec::new();
    while let Some(record) = looked.next(&mut fields) {
        let is_bare = |field: &inrush_scan::Field| {
            let raw = field.raw(head);
            !field.form.is_quoted() && raw != b"\\N" && escaping.disproof(raw).is_some()
        };
        if record.fault.is_none() && fields.iter().any(is_bare) {
            return true;
        }
    }
    false
}

/// The most frequent number; of several the larger.
pub(super) fn usual(widths: &[usize]) -> usize {
    let mut counts = std::collections::BTreeMap::new();
    widths.iter().for_each(|width| *counts.entry(*width).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|(width, count)| (*count, *width)).map_or(1, |(width, _)| width)
}

/// The usual number of fields of the records in `head`.
pub(super) fn width(head: &[u8], whole: bool, dialect: &Dialect) -> usize {
    score(head, whole, dialect).width
}
