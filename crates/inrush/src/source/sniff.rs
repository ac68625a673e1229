//! The dialect and the header, from an input's first bytes.

use inrush_scan::{Dialect, DialectError, Field, Newline, Scanner, unescape};

use crate::plan::Type;
use crate::plan::{DialectRequest, Format};
use crate::source::infer::Observed;

/// Records looked at; more would not change the verdict.
const RECORDS_MAX: usize = 1_000;

/// Delimiters tried when the user names none, likeliest first: on a tie the first wins.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// What was found out about the dialect.
pub(crate) struct Sniffed {
    pub(crate) dialect: Dialect,
    /// Why, in plain words.
    pub(crate) reasons: Vec<String>,
    /// What is unusual enough that a user must hear of it: it changes how values are read.
    pub(crate) warnings: Vec<String>,
}

/// The kind of line ends: a lone CR counts only where there is no LF at all.
pub(crate) fn newline(head: &[u8]) -> Newline {
    if memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head).is_some() {
        Newline::Cr
    } else {
        Newline::Lf
    }
}

/// The dialect that reads `head` best; `whole` when there is no more of the input.
///
/// # Errors
/// When the user's own choices contradict each other.
pub(crate) fn dialect(
    head: &[u8],
    whole: bool,
    request: &DialectRequest,
    extension: &str,
) -> Result<Sniffed, DialectError> {
    let mut reasons = Vec::new();
    let newline = newline(head);
    if newline == Newline::Cr {
        reasons.push("lines end in a lone carriage return".to_owned());
    }
    let delimiters: Vec<u8> = match (request.delimiter, request.format) {
        (Some(delimiter), _) => vec![delimiter],
        (None, Some(Format::Tsv)) => vec![b'\t'],
        (None, Some(Format::Csv)) => DELIMITERS.iter().copied().filter(|d| *d != b'\t').collect(),
        (None, _) if matches!(extension, "tsv" | "tab") => {
            [b'\t'].into_iter().chain(DELIMITERS).collect()
        }
        (None, _) => DELIMITERS.to_vec(),
    };
    // A quote that is its own escape is what doubling means anyway.
    let quote_of = |quote: Option<Option<u8>>| quote.unwrap_or(Some(b'"'));
    let escape =
        request.escape.map(|escape| escape.filter(|e| Some(*e) != quote_of(request.quote)));
    // The plainest first: the others have to read the head better.
    let quotings: Vec<(Option<u8>, Option<u8>)> = match (request.quote, escape) {
        (Some(quote), Some(escape)) => vec![(quote, escape)],
        (Some(quote), None) => vec![(quote, None), (quote, Some(b'\\'))],
        (None, Some(escape)) => vec![(Some(b'"'), escape), (None, escape)],
        (None, None) => {
            vec![(Some(b'"'), None), (Some(b'"'), Some(b'\\')), (None, None), (Some(b'\''), None)]
        }
    };
    // First the quoting under each delimiter, then the delimiter: a comma inside quotes must not count as a field's end.
    let mut best: Option<(Score, Dialect)> = None;
    let mut contradiction = None;
    for delimiter in delimiters {
        let mut here: Option<(Score, Dialect)> = None;
        for (quote, escape) in &quotings {
            let dialect = Dialect {
                delimiter,
                quote: *quote,
                escape: *escape,
                comment: request.comment,
                newline,
            };
            if let Err(error) = dialect.check() {
                contradiction.get_or_insert(error);
                continue;
            }
            let sniffed_escape = request.escape.is_none() && escape.is_some();
            if sniffed_escape && !backslashes_escape(head, &dialect) {
                continue;
            }
            let score = score(head, whole, &dialect);
            if here.as_ref().is_none_or(|(top, _)| score.quotes_better(top, &dialect)) {
                here = Some((score, dialect));
            }
        }
        if let Some((score, dialect)) = here
            && best.as_ref().is_none_or(|(top, _)| score.separates_better(top))
        {
            best = Some((score, dialect));
        }
    }
    let dialect = match (best, contradiction) {
        (Some((_, dialect)), _) => dialect,
        (None, Some(contradiction)) => return Err(contradiction),
        (None, None) => Dialect::csv(),
    };
    if request.delimiter.is_none() && request.format != Some(Format::Tsv) {
        reasons.push(format!("fields are separated by {}", name(dialect.delimiter)));
    }
    let mut warnings = Vec::new();
    if request.quote.is_none() && dialect.quote != Some(b'"') {
        warnings.push(match dialect.quote {
            None => "double quotes are read as plain characters, for as quotes most would be broken (--quote '\"' says otherwise)".to_owned(),
            Some(quote) => {
                format!("fields are quoted with {} (--quote '\"' says otherwise)", name(quote))
            }
        });
    }
    if request.escape.is_none() && dialect.escape.is_some() {
        warnings.push(
            "a backslash makes the next character literal, for without it quotes would be broken (--escape none says otherwise)"
                .to_owned(),
        );
    }
    Ok(Sniffed { dialect, reasons, warnings })
}

/// Whether every backslash stands where an escape would: before a quote, a delimiter, a line's end or another backslash. One in
/// a path or a regular expression is a character like others.
fn backslashes_escape(head: &[u8], dialect: &Dialect) -> bool {
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'\\', &head[at..]) {
        at += next + 1;
        match head.get(at) {
            Some(b'\\') => at += 1,
            Some(b)
                if Some(*b) == dialect.quote
                    || *b == dialect.delimiter
                    || matches!(b, b'\n' | b'\r') => {}
            Some(_) => return false,
            None => break,
        }
    }
    true
}

/// A byte as messages name it.
pub(crate) fn name(byte: u8) -> String {
    match byte {
        b',' => "commas".to_owned(),
        b'\t' => "tabs".to_owned(),
        b';' => "semicolons".to_owned(),
        b'|' => "vertical bars".to_owned(),
        byte => format!("'{}'", char::from(byte).escape_default()),
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
    /// Differences of regularity below this are a few bad rows, which say nothing of the delimiter.
    const NOISE: f64 = 0.02;

    /// A few broken quotes are bad rows, and make no file one without quotes: that takes so many, and more of them than sound
    /// ones.
    const BROKEN_MIN: usize = 3;

    /// Whether `dialect`, which scores so, reads the quotes better than the one that scores `other`.
    fn quotes_better(&self, other: &Score, dialect: &Dialect) -> bool {
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
        let explains = self.quoted > 0 && other.quoted == 0;
        let mends = self.broken < other.broken && (self.quoted > 0 || dialect.quote.is_none());
        self.regular > other.regular && mends || self.regular >= other.regular && explains
    }

    fn separates_better(&self, other: &Score) -> bool {
        match (self.width > 1, other.width > 1) {
            (true, false) => self.regular > 0.5,
            (false, true) => other.regular < 0.5 && self.regular > other.regular,
            _ if (self.regular - other.regular).abs() < Self::NOISE => {
                self.regular >= other.regular && self.width > other.width
            }
            _ => self.regular > other.regular,
        }
    }
}

fn score(head: &[u8], whole: bool, dialect: &Dialect) -> Score {
    let mut scanner = Scanner::new(dialect, head);
    let mut fields = Vec::new();
    let mut widths: Vec<usize> = Vec::new();
    let (mut broken, mut quoted) = (0, 0);
    while widths.len() + broken < RECORDS_MAX
        && let Some(record) = scanner.next(&mut fields)
    {
        // The last record may have been cut off with the head.
        if !whole && record.next as usize == head.len() && !widths.is_empty() {
            break;
        }
        if record.fault.is_some() {
            broken += 1;
        } else if !record.is_blank() {
            widths.push(fields.len());
            quoted += usize::from(fields.iter().any(|field| field.form.is_quoted()));
        }
    }
    let width = usual(&widths);
    let regular = widths.iter().filter(|w| **w == width).count();
    let records = widths.len() + broken;
    Score { regular: regular as f64 / records.max(1) as f64, width, quoted, broken, records }
}

/// The most frequent number; of several the larger.
fn usual(widths: &[usize]) -> usize {
    let mut counts = std::collections::BTreeMap::new();
    widths.iter().for_each(|width| *counts.entry(*width).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|(width, count)| (*count, *width)).map_or(1, |(width, _)| width)
}

/// The usual number of fields of the records in `head`.
pub(crate) fn width(head: &[u8], whole: bool, dialect: &Dialect) -> usize {
    score(head, whole, dialect).width
}

/// Whether the first record names the columns.
pub(crate) struct HeaderVerdict {
    /// `None` when it may as well be a row of an existing table, which nobody but the user can tell.
    pub(crate) header: Option<bool>,
    pub(crate) why: &'static str,
    /// Whether something in the input or the table proves it; else it is an assumption, and the user must hear of it, for a row
    /// is at stake.
    pub(crate) proven: bool,
}

/// Whether the first record names the columns. `known` are the columns of the table, if it is there.
///
/// Where a table is there, a line that could be names is never a row by assumption: words are what the table may hold, and what a
/// header of another table has.
pub(crate) fn header(
    names: &[String],
    first: &[Observed],
    rest: &[Observed],
    known: Option<&[String]>,
) -> HeaderVerdict {
    let verdict = |header, proven, why| HeaderVerdict { header: Some(header), why, proven };
    let hits = known.map_or(0, |known| {
        let is_known = |name: &&String| known.iter().any(|k| k.eq_ignore_ascii_case(name.trim()));
        names.iter().filter(is_known).count()
    });
    if hits > 0 && hits * 2 >= names.len() {
        return verdict(true, true, "the first line has the names of the table's columns");
    }
    let typed = |observed: &Observed| observed.ty() != Type::Text;
    let contradicts = |(first, rest): (&Observed, &Observed)| {
        typed(rest) && !typed(first) && first != &Observed::default()
    };
    if first.iter().zip(rest).any(contradicts) {
        return verdict(
            true,
            true,
            "the first line has words where the others have numbers or dates",
        );
    }
    if first.iter().any(typed) {
        // A line of numbers alone is data; one with words as well may be a header such as country,2019,2020.
        let proven = first.iter().all(|field| typed(field) || field == &Observed::default());
        return verdict(false, proven, "the first line has numbers or dates like the others");
    }
    if names.iter().all(|name| name.trim().is_empty()) {
        return verdict(false, true, "the first line is empty");
    }
    match known {
        Some(_) => HeaderVerdict {
            header: None,
            why: "it may name columns, and it may be a row",
            proven: false,
        },
        None => {
            verdict(true, false, "the first line could be names, and nothing speaks against it")
        }
    }
}

/// The fields of the record at the start of `bytes`, as text, and the offset after it. `None` when there is no record.
pub(crate) fn first_record(
    bytes: &[u8],
    dialect: &Dialect,
) -> Option<(Vec<Vec<u8>>, inrush_scan::Record)> {
    let mut fields: Vec<Field> = Vec::new();
    let mut scanner = Scanner::new(dialect, bytes);
    loop {
        let record = scanner.next(&mut fields)?;
        if record.is_blank() {
            continue;
        }
        let values = fields
            .iter()
            .map(|field| {
                let mut value = Vec::new();
                unescape(
                    dialect,
                    &bytes[field.start as usize..field.end as usize],
                    field.form,
                    &mut value,
                );
                value
            })
            .collect();
        return Some((values, record));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffed(head: &str) -> Dialect {
        dialect(head.as_bytes(), true, &DialectRequest::default(), "csv").unwrap().dialect
    }

    #[test]
    fn delimiters_are_found_by_regularity() {
        assert_eq!(sniffed("a,b,c\n1,2,3\n4,5,6\n").delimiter, b',');
        assert_eq!(sniffed("a\tb\n1,5\t2\n1,5\t3,7\n").delimiter, b'\t');
        assert_eq!(sniffed("a;b\n1,5;2,5\n3,5;4\n").delimiter, b';');
        assert_eq!(sniffed("a|b|c\n1|2|3\n").delimiter, b'|');
        assert_eq!(sniffed("word\nother\n").delimiter, b',');
        assert_eq!(sniffed("a,b,c\n1,2\n3,4,5\n").delimiter, b',');
        assert_eq!(sniffed("a,b,c\n1,2\n").delimiter, b',');
        assert_eq!(sniffed("name,text\n1,\"a;b;c\"\n2,\"d;e;f\"\n").delimiter, b',');
    }

    #[test]
    fn quoting_is_taken_as_it_reads_best() {
        assert_eq!(sniffed("a,b\n1,\"x, y\"\n").quote, Some(b'"'));
        assert_eq!(sniffed("a,b\n1,'x, y'\n2,'z, w'\n").quote, Some(b'\''));
        let backslash = sniffed("a,b\n1,\"say \\\"hi\\\", you\"\n2,\"x\"\n");
        assert_eq!((backslash.quote, backslash.escape), (Some(b'"'), Some(b'\\')));
        let paths = "id,v\n1,C:\\new\\dir\n2,\"say \\\"hi\\\" now\"\n";
        assert_eq!(sniffed(paths).escape, None);
        let apostrophes = format!("id,v\n{}5,'quoted'\n", "1,x\n".repeat(20));
        assert_eq!(sniffed(&apostrophes).quote, Some(b'"'));
        let plain = "a\tb\n\"Bob\" Smith\t1\n\"Al\" Jones\t2\n\"Cy\" Young\t3\n";
        assert_eq!(sniffed(plain).quote, None);
        let few = "id,name\n1,a\n2,\"b\" c\n3,\"d\n4,e\n";
        assert_eq!(sniffed(few).quote, Some(b'"'));
        let one_bad_in_many = format!("a,b\n{}\"x\" y,2\n", "\"q\",1\n".repeat(200));
        assert_eq!(sniffed(&one_bad_in_many).quote, Some(b'"'));
    }

    #[test]
    fn old_mac_lines_are_told_by_the_absence_of_newlines() {
        assert_eq!(sniffed("a,b\r1,2\r").newline, Newline::Cr);
        assert_eq!(sniffed("a,b\r\n1,2\r\n").newline, Newline::Lf);
    }
}
