//! Where a buffer may be cut, so that chunks hold whole records.
//!
//! Without quotes and escapes every newline is a boundary, and the last one before the goal is
//! found from the right. With them the walk goes from quote to quote (and escape to escape) and
//! leaves the text in between alone: outside quotes, a quote opens a field when a delimiter or a
//! boundary is right before it, or before the blanks there, in dialects with such. Newlines are
//! searched only in the gaps between quoted fields, from the right, to keep track of where the
//! current record starts.
//!
//! ```text
//!   1,"a, b",x\n2,"c\nd",y\n3,...
//!     ^    ^                          quoted: nothing in here is a boundary
//!           `-gap'^    ^              the last newline of the gap is the current record's start
//! ```
//!
//! What a record is, whole or broken, is said in [`crate::scanner`]. Broken ones are found out
//! about as they are there, so that both see the same records.

use memchr::{memchr, memchr2, memrchr};

use crate::blocks::Bits;
use crate::dialect::Dialect;
use crate::repair::{AfterQuote, Repair, after_quote};

/// What lies behind the end of the bytes given to [`Cutter::cut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// More bytes will come.
    More,
    /// The input ends here; its last record needs no newline.
    End,
    /// More bytes exist, but a record must not grow further: the answer to one that isn't complete
    /// is `None`. It may be broken, or long; taken for broken its lines might become records.
    Limit,
}

/// Finds record boundaries.
#[derive(Clone, Debug)]
pub struct Cutter {
    dialect: Dialect,
}

impl Cutter {
    /// A cutter for `dialect`.
    #[must_use]
    pub fn new(dialect: &Dialect) -> Self {
        Self { dialect: dialect.clone() }
    }

    /// The end (exclusive) of a run of whole records. `bytes` starts on a record boundary.
    ///
    /// That is the last boundary in `bytes[..goal]` if there is one, else the first behind it.
    /// `None` when no record is complete. A record that starts before the goal, though not with the
    /// first byte, and neither ends nor breaks before it, is left to the next chunk.
    ///
    /// Nothing is remembered from call to call. A call looks at no byte more than ten times,
    /// whatever the input; behind the goal it goes only until the first record is known to be whole
    /// or broken. So a reader that doubles its buffer while the answer is `None`, up to a limit,
    /// looks at a byte some tens of `limit / goal` times at worst, and once when the quoting is as
    /// it should be.
    #[must_use]
    pub fn cut(&self, bytes: &[u8], goal: usize, tail: Tail) -> Option<usize> {
        if bytes.is_empty() {
            return None;
        }
        if tail == Tail::End && goal >= bytes.len() {
            return Some(bytes.len());
        }
        let near = &bytes[..goal.min(bytes.len())];
        let (one, other) = match (self.dialect.quote, self.dialect.escape) {
            (None, None) => return self.cut_lines(bytes, near, tail),
            (Some(one), None) | (None, Some(one)) => (one, one),
            (Some(quote), Some(escape)) => (quote, escape),
        };
        if memchr2(one, other, near).is_none()
            && let Some(at) = memrchr(self.dialect.newline.byte(), near)
        {
            return Some(at + 1);
        }
        let cut = Cut {
            dialect: &self.dialect,
            bytes,
            goal,
            tail,
            bits: Bits::new([one, other, 0, 0]),
            repair: Repair::new(&self.dialect),
            asked: usize::MAX,
            record: 0,
            at: 0,
        };
        match (one == other, self.dialect.blanks) {
            (true, false) => cut.run::<1, false>(),
            (false, false) => cut.run::<2, false>(),
            // Blanks are rare: one walk is enough for both.
            (_, true) => cut.run::<2, true>(),
        }
    }

    /// Every newline is a boundary.
    fn cut_lines(&self, bytes: &[u8], near: &[u8], tail: Tail) -> Option<usize> {
        let newline = self.dialect.newline.byte();
        if let Some(at) = memrchr(newline, near) {
            return Some(at + 1);
        }
        match memchr(newline, &bytes[near.len()..]) {
            Some(at) => Some(near.len() + at + 1),
            None => (tail == Tail::End).then_some(bytes.len()),
        }
    }
}

/// A search for a cut. All positions are offsets in `bytes`.
struct Cut<'a> {
    dialect: &'a Dialect,
    bytes: &'a [u8],
    goal: usize,
    tail: Tail,
    /// The quotes and escapes that are still to come.
    bits: Bits,
    repair: Repair,
    /// The record that `repair` was last asked about.
    asked: usize,
    /// The last boundary seen, where the current record starts. Not behind the goal.
    record: usize,
    /// Up to here the walk has come; it is outside quotes, and no boundary lies between `record`
    /// and here.
    at: usize,
}

/// What a step of the search came to.
enum Step {
    /// The walk goes on at `Cut::at`.
    On,
    /// The search is over.
    Done(Option<usize>),
}

impl Cut<'_> {
    /// Searches with `N` of the needles; `BLANKS` says whether the dialect has them around quotes.
    fn run<const N: usize, const BLANKS: bool>(mut self) -> Option<usize> {
        loop {
            if let Step::Done(cut) = self.step::<N, BLANKS>() {
                return cut;
            }
        }
    }

    /// Passes a gap and what comes after it: a quoted field, an escape, a comment, or the end.
    #[inline(always)]
    fn step<const N: usize, const BLANKS: bool>(&mut self) -> Step {
        let special = self.bits.next::<N>(self.bytes);
        let gap_end = special.unwrap_or(self.bytes.len());
        self.pass_gap(gap_end);
        if gap_end >= self.goal
            && let Some(cut) = self.cut_in_gap(gap_end)
        {
            return Step::Done(Some(cut));
        }
        let Some(special) = special else { return self.end(true) };
        if self.dialect.comment.is_some() && self.dialect.comment == Some(self.bytes[self.record]) {
            return self.pass_first_line();
        }
        if self.repair.is_near(self.record) && self.asked != self.record {
            // Once per record: the answer takes time in the length of its first line.
            self.asked = self.record;
            if self.repair.is_broken(self.bytes, self.record) {
                return self.pass_first_line();
            }
        }
        if Some(self.bytes[special]) == self.dialect.escape {
            return self.pass_escape(special);
        }
        let start = match BLANKS {
            true => self.dialect.before_blanks(self.bytes, self.at, special),
            false => special,
        };
        let after_delimiter = start > self.at && self.bytes[start - 1] == self.dialect.delimiter;
        if start == self.record || after_delimiter {
            return self.pass_quoted::<N, BLANKS>();
        }
        self.at = special + 1;
        Step::On
    }

    /// Notes the last boundary in the gap before `gap_end`, as far as the goal.
    #[inline(always)]
    fn pass_gap(&mut self, gap_end: usize) {
        let newline = self.dialect.newline.byte();
        let gap_end = gap_end.min(self.goal);
        if gap_end <= self.at {
            return;
        }
        if self.bytes[gap_end - 1] == newline {
            self.record = gap_end;
        } else if gap_end - self.at > 1
            && let Some(at) = memrchr(newline, &self.bytes[self.at..gap_end - 1])
        {
            self.record = self.at + at + 1;
        }
    }

    /// The cut, if the gap that reaches the goal holds it.
    fn cut_in_gap(&self, gap_end: usize) -> Option<usize> {
        if self.record > 0 {
            return Some(self.record);
        }
        let from = self.at.max(self.goal);
        let at = memchr(self.dialect.newline.byte(), &self.bytes[from..gap_end])?;
        Some(from + at + 1)
    }

    /// Passes an escape outside quotes and the byte that it makes literal.
    fn pass_escape(&mut self, escape: usize) -> Step {
        let literal = self.bytes.get(escape + 1);
        self.at = escape + 2;
        if self.at >= self.bytes.len() {
            return self.end(literal != Some(&self.dialect.newline.byte()));
        }
        self.bits.skip_to(self.at);
        Step::On
    }

    /// Passes a quoted field, the opening quote of which was the last special byte.
    #[inline(always)]
    fn pass_quoted<const N: usize, const BLANKS: bool>(&mut self) -> Step {
        loop {
            let Some(at) = self.bits.next::<N>(self.bytes) else { return self.end(false) };
            if at >= self.goal && self.record > 0 {
                return Step::Done(Some(self.record));
            }
            let byte = self.bytes[at];
            if N > 1 && Some(byte) == self.dialect.escape {
                self.bits.skip_to(at + 2);
                continue;
            }
            if self.bytes.get(at + 1) == Some(&byte) {
                self.bits.next::<N>(self.bytes);
                continue;
            }
            self.at = at + 1;
            return match after_quote::<BLANKS>(self.dialect, self.bytes, self.at).0 {
                AfterQuote::Delimiter | AfterQuote::Newline => Step::On,
                AfterQuote::End => self.end(true),
                AfterQuote::Torn => self.end(false),
                AfterQuote::Text => {
                    self.repair.remember(self.bytes, self.record, self.at);
                    self.pass_first_line()
                }
            };
        }
    }

    /// Goes on behind the first line of the current record, which is broken or a comment.
    #[cold]
    fn pass_first_line(&mut self) -> Step {
        let newline = self.dialect.newline.byte();
        let Some(length) = memchr(newline, &self.bytes[self.record..]) else {
            return self.end(true);
        };
        let boundary = self.record + length + 1;
        if boundary > self.goal {
            let cut = if self.record > 0 { self.record } else { boundary };
            return Step::Done(Some(cut));
        }
        self.record = boundary;
        self.at = boundary;
        self.bits.seek(boundary);
        Step::On
    }

    /// At the end of the bytes, in a record that goes past the goal. `whole`: it ends here, if they
    /// end for good.
    #[cold]
    fn end(&mut self, whole: bool) -> Step {
        if self.record > 0 {
            return Step::Done(Some(self.record));
        }
        match self.tail {
            Tail::More | Tail::Limit => return Step::Done(None),
            Tail::End if whole => return Step::Done(Some(self.bytes.len())),
            Tail::End => {}
        }
        if memchr(self.dialect.newline.byte(), self.bytes).is_none() {
            return Step::Done(Some(self.bytes.len()));
        }
        self.repair.remember(self.bytes, self.record, self.bytes.len());
        self.pass_first_line()
    }
}
