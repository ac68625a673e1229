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

    fn is_null(&self, spelling: &[u8], raw: &[u8], is_quoted: bool) -> bool {
        is_null(&self.0, spelling, raw, is_quoted)
    }

    fn lines(&self, bytes: &[u8]) -> u64 {
        count_lines(&self.0, bytes)
    }
}

/// Whether a field that is written so has this spelling of NULL. A quoted NA is the text NA: in quotes NULL is what a spelling has in
/// quotes itself, the empty field where the spelling is empty, and an escape before an N, which no text has: an N needs no escape.
pub fn is_null(dialect: &Dialect, spelling: &[u8], raw: &[u8], is_quoted: bool) -> bool {
    if !is_quoted {
        return !raw.is_empty() && spelling == raw;
    }
    match spelling {
        [] => raw.is_empty(),
        [escape, b'N'] if dialect.escape == Some(*escape) => spelling == raw,
        [first, inner @ .., last] => first == last && dialect.quote == Some(*first) && inner == raw,
        _ => false,
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
        if self.dialect.empty_is_text {
            quote_empty(fields);
        }
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

/// Makes quoted fields of the empty ones.
#[inline(never)]
fn quote_empty(fields: &mut [Field]) {
    let is_empty = |field: &&mut Field| field.form == Form::Plain && field.start == field.end;
    fields.iter_mut().filter(is_empty).for_each(|field| field.form = Form::Quoted);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_quotes_null_is_a_spelling_with_quotes_and_an_escaped_n() {
        let csv = Dialect::csv();
        let escaping = Dialect { escape: Some(b'\\'), ..csv.clone() };
        let single = Dialect { quote: Some(b'\''), ..csv.clone() };
        for (dialect, spelling, raw, plain, quoted) in [
            (&csv, "NA", "NA", true, false),
            (&csv, "\"NA\"", "NA", false, true),
            (&csv, "'NA'", "NA", false, false),
            (&single, "'NA'", "NA", false, true),
            (&csv, "", "", false, true),
            (&csv, "\"\"", "", false, true),
            (&csv, "\"", "", false, false),
            (&csv, "\\N", "\\N", true, false),
            (&escaping, "\\N", "\\N", true, true),
            (&escaping, "\\n", "\\n", true, false),
            (&escaping, "\\N", "x\\N", false, false),
        ] {
            let found =
                |is_quoted| is_null(dialect, spelling.as_bytes(), raw.as_bytes(), is_quoted);
            assert_eq!((found(false), found(true)), (plain, quoted), "{spelling} of {raw}");
        }
    }

    #[test]
    fn empty_fields_are_quoted_where_they_are_texts() {
        let field = |start, end, form| Field { start, end, form };
        let mut fields = vec![
            field(0, 0, Form::Plain),
            field(1, 2, Form::Plain),
            field(4, 4, Form::Escaped { quoted: false }),
        ];
        quote_empty(&mut fields);
        let forms: Vec<Form> = fields.iter().map(|field| field.form).collect();
        assert_eq!(forms, [Form::Quoted, Form::Plain, Form::Escaped { quoted: false }]);
    }
}
