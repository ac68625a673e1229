//! What a scanner finds: records, fields, faults.

use crate::dialect::Dialect;
use crate::repair::{AfterQuote, after_quote};

/// What must be done to a field's bytes to get its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Written without quotes; the bytes are the value.
    Plain,
    /// Written in quotes; the span lies inside them and is the value.
    Quoted,
    /// Holds doubled quotes or escapes: [`unescape`] gives the value. The span of a quoted field
    /// lies inside its quotes.
    Escaped {
        /// Whether the field was written in quotes.
        quoted: bool,
    },
}

impl Form {
    /// Whether the field was written in quotes.
    #[inline]
    #[must_use]
    pub const fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted | Self::Escaped { quoted: true })
    }
}

/// Where a field lies in the scanned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset of the first byte, behind an opening quote.
    pub start: u32,
    /// Offset behind the last byte, at a closing quote.
    pub end: u32,
    /// What the bytes in between are.
    pub form: Form,
}

// A record of a hundred fields should stay in the first-level cache together with its text.
const _: () = assert!(size_of::<Field>() == 12);

impl Field {
    /// The field's bytes as they are written, without its quotes; `bytes` are those that were
    /// scanned.
    #[inline]
    #[must_use]
    pub fn raw<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// Where a record lies in the scanned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte, without the terminator.
    pub end: u32,
    /// Offset behind the terminator.
    pub next: u32,
    /// Set when the quoting is broken. The record is then one physical line, and its fields are
    /// not to be used.
    pub fault: Option<Fault>,
}

impl Record {
    /// Whether the line is empty.
    #[inline]
    #[must_use]
    pub const fn is_blank(&self) -> bool {
        self.start == self.end
    }
}

/// How a record's quoting is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A quote that is open at the end of the line is never closed properly.
    UnclosedQuote {
        /// Offset of the opening quote.
        at: u32,
    },
    /// A closing quote is followed by something other than a delimiter or the record's end.
    TextAfterQuote {
        /// Offset of the first byte after the closing quote.
        at: u32,
    },
    /// The line's newline is escaped, outside quotes, and what follows doesn't complete the record.
    EscapedEnd {
        /// Offset of the escape.
        at: u32,
    },
}

/// Whether a delimiter that ends one of a record's fields stands behind a backslash, which makes it
/// literal in files that have escapes: here it was a character like others.
#[must_use]
pub fn escapes_delimiter(dialect: &Dialect, bytes: &[u8], fields: &[Field]) -> bool {
    let ends_so = |field: &Field| !field.form.is_quoted() && field.raw(bytes).ends_with(b"\\");
    let Some((_, before)) = fields.split_last() else { return false };
    dialect.escape.is_none() && before.iter().any(ends_so)
}

/// Whether a record is broken by blanks between a closing quote and the end of its field, which a
/// dialect with blanks takes.
#[must_use]
pub fn is_blank_after_quote(dialect: &Dialect, bytes: &[u8], fault: Fault) -> bool {
    let Fault::TextAfterQuote { at } = fault else { return false };
    let lenient = Dialect { blanks: true, ..dialect.clone() };
    let (after, follows) = after_quote::<true>(&lenient, bytes, at as usize);
    !dialect.blanks && follows > at as usize && after != AfterQuote::Text
}

/// Whether the quoted field whose opening quote is at `at` has no closing quote before the end of the bytes.
#[must_use]
pub fn is_open(dialect: &Dialect, bytes: &[u8], at: u32) -> bool {
    let Some(quote) = dialect.quote else { return false };
    let other = dialect.escape.unwrap_or(quote);
    let mut from = at as usize + 1;
    while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr2(quote, other, rest)) {
        let special = from + found;
        let is_doubled = || bytes.get(special + 1) == Some(&quote);
        if bytes[special] == quote && !is_doubled() {
            return false;
        }
        // An escape, or the first of two quotes, and what it stands before.
        from = special + 2;
    }
    true
}

/// Appends the field's value (quotes and escapes undone) to `out`.
pub fn unescape(dialect: &Dialect, raw: &[u8], form: Form, out: &mut Vec<u8>) {
    let Form::Escaped { quoted } = form else {
        out.extend_from_slice(raw);
        return;
    };
    // What is undone is always "drop this byte, keep the next", and the last byte has no next.
    let quote = if quoted { dialect.quote } else { None };
    let Some(either) = quote.or(dialect.escape) else {
        out.extend_from_slice(raw);
        return;
    };
    let other = dialect.escape.unwrap_or(either);
    let mut rest = raw;
    while let Some(at) = memchr::memchr2(either, other, rest) {
        let Some(&literal) = rest.get(at + 1) else { break };
        out.extend_from_slice(&rest[..at]);
        out.push(literal);
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_open_until_one_that_is_neither_doubled_nor_escaped() {
        let csv = Dialect::csv();
        let escaping = Dialect { escape: Some(b'\\'), ..csv.clone() };
        for (text, is_csv, is_escaping) in [
            (&b"\"a"[..], true, true),
            (b"\"a\"", false, false),
            (b"\"a\"\"b\n", true, true),
            (b"\"a\"\"\"", false, false),
            (b"\"a\\\"b", false, true),
            (b"\"a\\\\\"b", false, false),
            (b"\"a\\", true, true),
        ] {
            assert_eq!(is_open(&csv, text, 0), is_csv, "{text:?}");
            assert_eq!(is_open(&escaping, text, 0), is_escaping, "{text:?}");
        }
        assert!(!is_open(&Dialect { quote: None, ..csv }, b"\"a", 0));
    }
}
