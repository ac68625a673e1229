//! The records and fields of a chunk.
//!
//! # Grammar
//!
//! ```text
//! input    = { comment | record }
//! comment  = comment-byte { any byte but newline } newline
//! record   = field { delimiter field } newline
//! field    = quoted | plain
//! quoted   = blanks quote { any byte but quote, escape | quote quote | escape any byte } quote blanks
//! plain    = { any byte but delimiter, newline, escape | escape any byte }, not from a quote on
//! newline  = "\n" | "\r\n", or with `Newline::Cr` "\r"
//! blanks   = { " " | "\t" }, none but in dialects with them
//! ```
//!
//! The last newline may be missing, and an escape that is the input's last byte stands for itself.
//! A `\r` belongs to the newline when it is right before the `\n` and isn't escaped. Inside a plain
//! field quotes are text.
//!
//! A record that isn't written so is *broken*: text follows a closing quote, a quote is never
//! closed, or the input ends with an escaped newline. It is then its first physical line, up to the
//! first newline byte, and carries a [`Fault`]; the next line starts a record or a comment. So a
//! stray quote costs one line and never the rest of the input. What the fault is depends on that
//! line alone, which is why a chunk and the whole input give the same records, faults included.
//!
//! # How it is done
//!
//! `Bits` hands over the positions of the special bytes (delimiter, newline, quote, escape), and a
//! record is a walk over them: a delimiter ends a field, a newline the record, a quote at a field's
//! first byte, or behind blanks alone, starts a quoted field, any other quote is text, an escape
//! takes the byte after it out of the game. Bytes in between are never looked at. A dialect without
//! quotes or escapes doesn't search for them: the walk is compiled once for each of the four cases,
//! and once for dialects with blanks, and chosen per record.
//!
//! A broken record means that bytes are walked over more than once. How that stays linear is told
//! in `repair.rs`: no byte is looked at more than ten times, whatever the input.

use memchr::memchr_iter;

use crate::blocks::Bits;
use crate::dialect::{Dialect, Newline};
pub use crate::record::{Fault, Field, Form, Record, unescape};
use crate::repair::{AfterQuote, Repair, after_quote, broken_record, line};

/// Splits bytes into records and fields.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    dialect: Dialect,
    bytes: &'a [u8],
    /// Where the next record starts.
    at: usize,
    /// Special bytes from `at` on.
    bits: Bits,
    repair: Repair,
}

impl<'a> Scanner<'a> {
    /// A scanner of `bytes`, which start and end on record boundaries and are shorter than 4 GiB.
    #[must_use]
    pub fn new(dialect: &Dialect, bytes: &'a [u8]) -> Self {
        debug_assert!(bytes.len() < u32::MAX as usize);
        let (delimiter, newline) = (dialect.delimiter, dialect.newline.byte());
        let needles = match (dialect.quote, dialect.escape) {
            (Some(quote), Some(escape)) => [delimiter, newline, quote, escape],
            (Some(other), None) | (None, Some(other)) => [delimiter, newline, other, other],
            (None, None) => [delimiter, newline, newline, newline],
        };
        let bits = Bits::new(needles);
        let repair = Repair::new(dialect);
        Self { dialect: dialect.clone(), bytes, at: 0, bits, repair }
    }

    /// The next record, its fields in `fields` (cleared first). Comments are skipped, blank lines
    /// are yielded with one empty field. `None` at the end.
    pub fn next(&mut self, fields: &mut Vec<Field>) -> Option<Record> {
        fields.clear();
        let start = self.skip_comments()?;
        if self.repair.is_near(start) && self.repair.is_broken(self.bytes, start) {
            return Some(self.take_broken(start));
        }
        let (dialect, bytes) = (&self.dialect, self.bytes);
        // A copy of its own stays in registers.
        let mut bits = self.bits;
        let bits_of = &mut bits;
        let walked = match (dialect.quote.is_some(), dialect.escape.is_some(), dialect.blanks) {
            (false, false, _) => {
                walk::<2, false, false, false>(dialect, bytes, start, bits_of, fields)
            }
            (false, true, _) => {
                walk::<3, false, true, false>(dialect, bytes, start, bits_of, fields)
            }
            (true, false, false) => {
                walk::<3, true, false, false>(dialect, bytes, start, bits_of, fields)
            }
            (true, true, false) => {
                walk::<4, true, true, false>(dialect, bytes, start, bits_of, fields)
            }
            // Blanks are rare: one walk is enough for both.
            (true, _, true) => walk::<4, true, true, true>(dialect, bytes, start, bits_of, fields),
        };
        self.bits = bits;
        match walked {
            Ok((end, next)) => {
                self.at = next;
                let (start, end, next) = (start as u32, end as u32, next as u32);
                Some(Record { start, end, next, fault: None })
            }
            Err(failed) => {
                self.repair.remember(self.bytes, start, failed);
                Some(self.take_broken(start))
            }
        }
    }

    /// Where the next record starts.
    #[inline(always)]
    fn skip_comments(&mut self) -> Option<usize> {
        loop {
            let first = *self.bytes.get(self.at)?;
            if Some(first) != self.dialect.comment {
                return Some(self.at);
            }
            self.move_to(line(&self.dialect, self.bytes, self.at).1);
        }
    }

    #[cold]
    fn take_broken(&mut self, start: usize) -> Record {
        let record = broken_record(&self.dialect, self.bytes, start);
        self.move_to(record.next as usize);
        record
    }

    fn move_to(&mut self, at: usize) {
        self.at = at;
        self.bits.seek(at);
    }
}

/// Walks over the record at `start`, `bits` being there too. Returns where it ends, without and
/// with its terminator, or where the walk failed.
#[inline(always)]
fn walk<const N: usize, const QUOTE: bool, const ESCAPE: bool, const BLANKS: bool>(
    dialect: &Dialect,
    bytes: &[u8],
    start: usize,
    bits: &mut Bits,
    fields: &mut Vec<Field>,
) -> Result<(usize, usize), usize> {
    let (delimiter, newline) = (dialect.delimiter, dialect.newline.byte());
    let mut first = start;
    let mut escaped = false;
    // The last byte that an escape made literal: a `\r` there belongs to no terminator.
    let mut literal = usize::MAX;
    loop {
        let Some(at) = bits.next::<N>(bytes) else {
            fields.push(unquoted(first, bytes.len(), escaped));
            return Ok((bytes.len(), bytes.len()));
        };
        let byte = bytes[at];
        if byte == delimiter {
            fields.push(unquoted(first, at, escaped));
            first = at + 1;
            escaped = false;
        } else if byte == newline {
            let has_cr = dialect.newline == Newline::Lf
                && at > first
                && bytes[at - 1] == b'\r'
                && !(ESCAPE && literal == at - 1);
            let end = at - usize::from(has_cr);
            fields.push(unquoted(first, end, escaped));
            return Ok((end, at + 1));
        } else if ESCAPE && Some(byte) == dialect.escape {
            escaped = true;
            literal = at + 1;
            if bytes.get(literal) == Some(&newline) && literal + 1 == bytes.len() {
                return Err(bytes.len());
            }
            bits.skip_to(literal + 1);
        } else if QUOTE && (at == first || BLANKS && opens_behind_blanks(dialect, bytes, first, at))
        {
            let (end, form) = quoted::<N, ESCAPE>(dialect, bytes, bits).ok_or(bytes.len())?;
            fields.push(Field { start: at as u32 + 1, end: end as u32, form });
            let (after, follows) = after_quote::<BLANKS>(dialect, bytes, end + 1);
            match after {
                AfterQuote::Delimiter => {
                    bits.next::<N>(bytes);
                    first = follows + 1;
                }
                AfterQuote::Newline => {
                    // The newline's bit, which is the next one.
                    let at = bits.next::<N>(bytes).unwrap_or(bytes.len());
                    return Ok((follows, at + 1));
                }
                AfterQuote::End => return Ok((bytes.len(), bytes.len())),
                AfterQuote::Torn | AfterQuote::Text => return Err(follows),
            }
        }
    }
}

/// Whether blanks alone stand between the field's `first` byte and the quote at `at`.
#[inline]
fn opens_behind_blanks(dialect: &Dialect, bytes: &[u8], first: usize, at: usize) -> bool {
    dialect.before_blanks(bytes, first, at) == first
}

/// The rest of a quoted field, `bits` being behind its opening quote: where the closing quote is
/// and what form the field has. `None` when the quote is never closed.
#[inline(always)]
fn quoted<const N: usize, const ESCAPE: bool>(
    dialect: &Dialect,
    bytes: &[u8],
    bits: &mut Bits,
) -> Option<(usize, Form)> {
    let mut form = Form::Quoted;
    loop {
        let at = bits.next::<N>(bytes)?;
        let byte = bytes[at];
        if ESCAPE && Some(byte) == dialect.escape {
            form = Form::Escaped { quoted: true };
            bits.skip_to(at + 2);
        } else if Some(byte) == dialect.quote {
            if bytes.get(at + 1) != Some(&byte) {
                return Some((at, form));
            }
            form = Form::Escaped { quoted: true };
            bits.next::<N>(bytes);
        }
    }
}

/// A field without quotes.
#[inline(always)]
fn unquoted(start: usize, end: usize, escaped: bool) -> Field {
    let form = if escaped { Form::Escaped { quoted: false } } else { Form::Plain };
    Field { start: start as u32, end: end as u32, form }
}

/// How many newline bytes there are.
#[must_use]
pub fn count_lines(dialect: &Dialect, bytes: &[u8]) -> u64 {
    memchr_iter(dialect.newline.byte(), bytes).count() as u64
}
