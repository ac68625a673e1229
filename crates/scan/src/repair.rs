//! Records whose quoting is broken, and how to go on after one without losing time.
//!
//! A record is broken when the walk over it fails: at text after a closing quote, or at the end of
//! the bytes inside quotes. It then shrinks to its first physical line, and the next walk starts on
//! the second. Done naively that is quadratic. The line `",x","` opens a quote whether one is open
//! before it or not; a million of them without a proper end are a million walks to the end.
//!
//! So a failed walk is remembered. At a newline inside a record a walk has one of two states only:
//! in quotes or, behind an escaped newline, in plain text. From there its way is determined, so two
//! walks that pass a newline in the same state share their fate. The failed walk's *shadow* is
//! moved along, line by line, with the walks that come after it:
//!
//! ```text
//!   line             1      2      3      4      5      6
//!   failed walk    o-"------"------"------"------"--x           its shadow; fails in line 5
//!   second walk           o-"                                   in the shadow's state: fails too
//!   third walk                   o------o                       a whole record
//!   fourth walk                         o-\------"              only here it meets the shadow
//! ```
//!
//! Between lines 4 and 5 the fourth walk and the shadow were in different states and both failed,
//! hence every walk that is inside a record there fails, and nobody need follow one again. All
//! together is linear: no byte is looked at more than ten times, whatever the input. Well-formed
//! input never comes here.

use memchr::memchr;

use crate::dialect::{Dialect, Newline};
use crate::record::{Fault, Record};

/// What a walk is in, at the start or the end of a physical line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Between records; at the end of the bytes also in a record that is whole if they end for
    /// good.
    Between,
    /// Quotes.
    Quotes,
    /// A field without quotes, behind an escaped newline.
    Plain,
    /// Nothing any more: text came after a closing quote.
    Broken,
}

/// The end of a walk over one physical line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) mark: Mark,
    /// Offset behind the line's newline.
    pub(crate) next: usize,
    /// Offset of the open quote, of the escape, or of the text after a closing quote.
    at: usize,
}

/// What is remembered of walks that failed.
#[derive(Clone, Debug)]
pub(crate) struct Repair {
    dialect: Dialect,
    /// Where the last of them failed; behind it they tell nothing.
    until: usize,
    /// A line's start. Walks to come that are inside a record at an earlier line's start fail.
    shadow_at: usize,
    /// In what the last of them passed `shadow_at`; `Broken` when it didn't come so far.
    shadow: Mark,
}

impl Repair {
    /// Nothing has failed yet.
    pub(crate) fn new(dialect: &Dialect) -> Self {
        Self { dialect: dialect.clone(), until: 0, shadow_at: 0, shadow: Mark::Broken }
    }

    /// Whether a walk from `start` may meet one that failed, so that [`Self::is_broken`] must be
    /// asked before the walk is made.
    #[inline(always)]
    pub(crate) fn is_near(&self, start: usize) -> bool {
        start < self.until
    }

    /// Remembers that the walk from `start` failed at `until`.
    #[cold]
    pub(crate) fn remember(&mut self, bytes: &[u8], start: usize, until: usize) {
        self.until = until;
        self.shadow_at = start;
        self.shadow = Mark::Between;
        self.advance(bytes, start + 1);
    }

    /// Moves the shadow to `to`, a line's start, or the next one when it is inside a line.
    fn advance(&mut self, bytes: &[u8], to: usize) {
        while self.shadow_at < to && self.shadow != Mark::Broken {
            let passed = pass_line(&self.dialect, bytes, self.shadow_at, self.shadow);
            self.shadow_at = passed.next;
            self.shadow = passed.mark;
        }
        self.shadow_at = self.shadow_at.max(to);
    }

    /// Whether the record at `start` is known to be broken, by its first line or because a walk
    /// over it would meet one that failed. `false` doesn't say that it is whole.
    #[cold]
    pub(crate) fn is_broken(&mut self, bytes: &[u8], start: usize) -> bool {
        let mut walk = pass_line(&self.dialect, bytes, start, Mark::Between);
        loop {
            match walk.mark {
                Mark::Broken => return true,
                Mark::Between => return false,
                _ if walk.next < self.shadow_at => return true,
                _ => self.advance(bytes, walk.next),
            }
            if self.shadow == Mark::Broken {
                return false;
            }
            // A failed walk that comes to the end of the bytes failed because they end there.
            if self.shadow == walk.mark || walk.next == bytes.len() {
                return true;
            }
            walk = pass_line(&self.dialect, bytes, walk.next, walk.mark);
        }
    }
}

/// The broken record at `start`: its first line, and what is wrong with it. What the walk found
/// behind that line doesn't matter, so the answer doesn't depend on where the bytes were cut.
#[cold]
pub(crate) fn broken_record(dialect: &Dialect, bytes: &[u8], start: usize) -> Record {
    let (end, next) = line(dialect, bytes, start);
    let passed = pass_line(dialect, bytes, start, Mark::Between);
    let at = passed.at as u32;
    let fault = match passed.mark {
        Mark::Quotes => Fault::UnclosedQuote { at },
        Mark::Plain => Fault::EscapedEnd { at },
        // `Between`: a closing quote, a `\r`, and the end of the bytes.
        Mark::Broken | Mark::Between => Fault::TextAfterQuote { at },
    };
    Record { start: start as u32, end: end as u32, next: next as u32, fault: Some(fault) }
}

/// Where the physical line at `start` ends, without and with its newline.
pub(crate) fn line(dialect: &Dialect, bytes: &[u8], start: usize) -> (usize, usize) {
    let Some(length) = memchr(dialect.newline.byte(), &bytes[start..]) else {
        return (bytes.len(), bytes.len());
    };
    let line = &bytes[start..start + length];
    let has_cr = dialect.newline == Newline::Lf && line.last() == Some(&b'\r');
    (start + length - usize::from(has_cr), start + length + 1)
}

/// Walks over the physical line at `start`, or what is left of it. Byte by byte, because only
/// broken records come here.
pub(crate) fn pass_line(dialect: &Dialect, bytes: &[u8], start: usize, mark: Mark) -> Passed {
    let between = mark == Mark::Between;
    if between && dialect.comment.is_some() && bytes.get(start).copied() == dialect.comment {
        return Passed { mark, next: line(dialect, bytes, start).1, at: start };
    }
    let newline = dialect.newline.byte();
    // Whether a quote would open a field here.
    let mut opens = between;
    let mut quoted = mark == Mark::Quotes;
    let mut at = start;
    let mut i = start;
    while let Some(&byte) = bytes.get(i) {
        let after = bytes.get(i + 1).copied();
        if byte == newline {
            let mark = if quoted { Mark::Quotes } else { Mark::Between };
            return Passed { mark, next: i + 1, at };
        }
        if Some(byte) == dialect.escape {
            if after == Some(newline) {
                let (mark, at) = if quoted { (Mark::Quotes, at) } else { (Mark::Plain, i) };
                return Passed { mark, next: i + 2, at };
            }
            i += 1;
            opens = false;
        } else if Some(byte) != dialect.quote {
            opens = !quoted && (byte == dialect.delimiter || opens && dialect.is_blank(byte));
        } else if quoted && after == Some(byte) {
            i += 1;
        } else if quoted {
            let (after, follows) = after_quote::<true>(dialect, bytes, i + 1);
            match after {
                AfterQuote::Text => {
                    return Passed { mark: Mark::Broken, next: i + 1, at: follows };
                }
                AfterQuote::Torn => at = follows,
                AfterQuote::Delimiter | AfterQuote::Newline | AfterQuote::End => {}
            }
            quoted = false;
        } else if opens {
            (quoted, opens, at) = (true, false, i);
        }
        i += 1;
    }
    let mark = if quoted { Mark::Quotes } else { Mark::Between };
    Passed { mark, next: bytes.len(), at }
}

/// What follows a closing quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterQuote {
    Delimiter,
    /// The end of the record; a `\r` may come first.
    Newline,
    /// Nothing, the bytes end.
    End,
    /// A `\r`, and the bytes end: the terminator or text.
    Torn,
    /// Something else, so that the record is broken.
    Text,
}

/// What stands at `at`, behind a closing quote that isn't a doubled one, and where: in dialects with
/// blanks these may come before it. Without `BLANKS` they are not looked for.
#[inline(always)]
pub(crate) fn after_quote<const BLANKS: bool>(
    dialect: &Dialect,
    bytes: &[u8],
    at: usize,
) -> (AfterQuote, usize) {
    let blanks = match BLANKS {
        true => bytes[at..].iter().take_while(|byte| dialect.is_blank(**byte)).count(),
        false => 0,
    };
    (right_after_quote(dialect, bytes, at + blanks), at + blanks)
}

#[inline(always)]
fn right_after_quote(dialect: &Dialect, bytes: &[u8], at: usize) -> AfterQuote {
    let Some(&byte) = bytes.get(at) else { return AfterQuote::End };
    if byte == dialect.delimiter {
        AfterQuote::Delimiter
    } else if byte == dialect.newline.byte() {
        AfterQuote::Newline
    } else if byte == b'\r' && dialect.newline == Newline::Lf {
        match bytes.get(at + 1) {
            Some(b'\n') => AfterQuote::Newline,
            Some(_) => AfterQuote::Text,
            None => AfterQuote::Torn,
        }
    } else {
        AfterQuote::Text
    }
}
