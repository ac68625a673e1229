//! Fields between delimiters: CSV and what is like it.

use inrush_scan::{
    Dialect, Fault, Field, Form, Scanner, count_lines, is_blank_after_quote, unescape,
};

use crate::encode::text::{Record, Records, Syntax, What};
use crate::encode::{BadRecord, Shape, Verdict};
use crate::error::shorten;
use crate::flow::{Chunk, Code};
use crate::wording::counted_in;

/// Delimited text.
pub(super) struct Delimited(pub(super) Dialect);

impl Syntax for Delimited {
    type Records<'a> = DelimitedRecords<'a>;

    const HAS_STRINGS: bool = false;

    fn records<'a>(
        &'a self,
        shape: &'a Shape,
        chunk: &'a Chunk,
        from: u32,
    ) -> DelimitedRecords<'a> {
        let bytes = &chunk.bytes[from as usize..];
        let width = shape.widths[chunk.origin.file as usize];
        DelimitedRecords { scanner: Scanner::new(&self.0, bytes), width, bytes, dialect: &self.0 }
    }

    fn unescape(&self, raw: &[u8], form: Form, out: &mut Vec<u8>) {
        unescape(&self.0, raw, form, out);
    }

    /// A quoted NA is the text NA.
    fn has_quoted_nulls(&self) -> bool {
        false
    }

    fn lines(&self, bytes: &[u8]) -> u64 {
        count_lines(&self.0, bytes)
    }
}

pub(super) struct DelimitedRecords<'a> {
    scanner: Scanner<'a>,
    width: usize,
    bytes: &'a [u8],
    dialect: &'a Dialect,
}

impl Records for DelimitedRecords<'_> {
    #[inline(always)]
    fn next(&mut self, fields: &mut Vec<Field>) -> Option<Record> {
        let record = self.scanner.next(fields)?;
        let what = if record.is_blank() && self.width != 1 {
            // In a table of one column a blank line is a row whose value is NULL; in a wider one it's no row at all.
            What::Blank
        } else if record.fault.is_some() || fields.len() != self.width {
            What::Bad(broken(self, &record, fields))
        } else if self.dialect.escape_is_guessed {
            disproof(self, &record).map_or(What::Row, What::Bad)
        } else {
            What::Row
        };
        Some(Record { start: record.start, next: record.next, what })
    }
}

/// What is wrong with a record in which an escape stands where none has to: it was a character like others, and would be lost.
#[cold]
fn disproof(records: &DelimitedRecords<'_>, record: &inrush_scan::Record) -> Option<BadRecord> {
    let text = &records.bytes[record.start as usize..record.end as usize];
    let at = records.dialect.disproof(text)?;
    let shown = &text[at..text.len().min(at + 20)];
    let message = format!(
        "a backslash that escapes nothing: {}, though those before quotes were taken for escapes",
        shorten(first_line(shown))
    );
    Some(BadRecord { column: None, code: Code::Escape, message, verdict: Verdict::OfColumn })
}

/// What is wrong with a record that is not written as records are, or has too few or too many fields.
#[cold]
fn broken(
    records: &DelimitedRecords<'_>,
    record: &inrush_scan::Record,
    fields: &[Field],
) -> BadRecord {
    let &DelimitedRecords { width, bytes, dialect, .. } = records;
    let bad = |code, message| BadRecord { column: None, code, message, verdict: Verdict::OfColumn };
    match record.fault {
        Some(fault) => bad(Code::Quote, quoting_words(fault, record, bytes, dialect)),
        None => {
            let are = if width == 1 { "is" } else { "are" };
            let mut message =
                format!("{} where {width} {are} expected", counted_in(fields, "field"));
            let is_stray = |field: &Field| {
                let raw = field.raw(bytes);
                raw.starts_with(b" ") && raw.trim_ascii_start().first().copied() == dialect.quote
            };
            if dialect.quote.is_some() && !dialect.blanks && fields.iter().any(is_stray) {
                message.push_str(" (a quote behind a blank quotes nothing without --trim)");
            }
            bad(Code::FieldCount, message)
        }
    }
}

/// How the quoting of a record in these bytes is broken, in words.
pub fn quoting_words(
    fault: Fault,
    record: &inrush_scan::Record,
    bytes: &[u8],
    dialect: &Dialect,
) -> String {
    match fault {
        Fault::UnclosedQuote { at } => {
            let column = 1 + at.saturating_sub(record.start);
            format!("the quote at byte {column} of the line is never closed")
        }
        Fault::EscapedEnd { .. } => "the line ends in an escape that nothing follows".to_owned(),
        _ if is_blank_after_quote(dialect, bytes, fault) => {
            "a blank stands after a closing quote (--trim leaves it out)".to_owned()
        }
        Fault::TextAfterQuote { at } => {
            let tail = &bytes[at as usize..];
            let tail = &tail[..tail.len().min(20)];
            format!("text after a closing quote: {}", shorten(first_line(tail)))
        }
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default()
}
