//! Where records lie in an input of which many read a piece each.
//!
//! Whether a newline ends a record depends on all that comes before it. But a walk comes to the start of a physical line in
//! one of three states only, and from there its way is determined. So each piece is walked over from every state, by
//! whoever has it, and what they find is put together in the input's order without looking at the bytes again:
//!
//! ```text
//!   piece            1               2               3
//!   between      -> quotes       -> quotes       -> between
//!   quotes       -> broken       -> between      -> broken
//!   the input:      between -> quotes -> between -> between     [Course]
//! ```
//!
//! From all but the right state a walk either breaks or meets the right one, nearly always within a few records: from there on
//! both are one. So a piece costs one walk and a little.
//!
//! A record that is open at the end of its piece may turn out to be broken in a later one. It then is its first line, and what
//! comes behind that was not walked over: [`join`] has it read as if there were no pieces, until one starts with a record.
//!
//! A piece starts where a physical line does, and ends where one does, or with the input.

use memchr::{memchr, memchr_iter, memchr2};

use crate::cutter::{Cutter, Tail};
use crate::dialect::{Dialect, Newline};
use crate::repair::{Mark, pass_line};
use crate::scanner::Scanner;

/// How records are told apart, as far as it takes to find and to count them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Delimited text.
    Delimited {
        /// How it is written.
        dialect: Dialect,
        /// Whether a blank line is a record.
        blanks_count: bool,
    },
    /// JSON, one value a line; blank lines are none.
    Json,
}

/// In what a walk is at the start of a physical line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing: here a record starts.
    Between,
    /// Quotes.
    Quotes,
    /// A field without quotes, behind an escaped newline.
    Plain,
}

const STATES: [State; 3] = [State::Between, State::Quotes, State::Plain];

/// A place where a record starts, or the input ends, and what comes before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Boundary {
    /// Its offset in the input.
    pub byte: u64,
    /// Records before it. Neither comments are, nor blank lines that don't count.
    pub records: u64,
    /// Physical lines before it.
    pub lines: u64,
}

impl Boundary {
    /// This one, with as much before it as before `more` besides.
    fn plus(self, more: Boundary) -> Boundary {
        Boundary {
            byte: self.byte + more.byte,
            records: self.records + more.records,
            lines: self.lines + more.lines,
        }
    }
}

/// What becomes of a walk that enters a piece. Boundaries count from the piece's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It leaves the piece in the record that it came in with.
    Through(State),
    /// It comes to boundaries.
    Ends {
        /// The first of them. The record that ends here is counted, if the walk came in one.
        first: Boundary,
        /// The last of them.
        last: Boundary,
        /// In what it leaves the piece; between records when that is the last boundary.
        exit: State,
    },
    /// The record that it came in is broken, or it takes more than this piece to tell.
    Broken,
}

/// What was found in one piece of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    bytes: u64,
    lines: u64,
    ways: [Way; 3],
}

/// The record that was open at the start of a piece is broken, or too long to be one.
struct Unsure;

/// The way of the one walk that goes over all pieces of an input.
struct Course {
    /// The last boundary: where the record starts that is open here.
    last: Boundary,
    state: State,
    /// Up to here the pieces go, and so many lines are before it.
    at: u64,
    lines: u64,
}

impl Lines {
    /// The byte that ends a physical line.
    #[must_use]
    pub fn newline(&self) -> u8 {
        match self {
            Self::Delimited { dialect, .. } => dialect.newline.byte(),
            Self::Json => b'\n',
        }
    }

    /// How many records and lines there are in `bytes`, which are whole records and shorter than 4 GiB.
    #[must_use]
    pub fn count(&self, bytes: &[u8]) -> Boundary {
        let newlines = memchr_iter(self.newline(), bytes).count() as u64;
        let records = match self {
            Self::Json => count_lines(bytes, b'\n', |line, _| {
                line.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r'))
            }),
            Self::Delimited { dialect, blanks_count } => {
                count_records(dialect, *blanks_count, bytes)
            }
        };
        Boundary { byte: bytes.len() as u64, records, lines: newlines }
    }

    /// Looks at a piece. `tail` says whether the input ends with it; there is no limit to a record here.
    ///
    /// A byte is looked at some ten times at most, and twice where the quoting is as it should be.
    #[must_use]
    pub fn piece(&self, bytes: &[u8], tail: Tail) -> Piece {
        let whole = self.way_from(bytes, Boundary::default(), tail);
        let way = |state| match (self, state) {
            (_, State::Between) => whole,
            (Self::Delimited { dialect, .. }, State::Quotes) if dialect.quote.is_none() => {
                Way::Broken
            }
            (Self::Delimited { dialect, .. }, State::Plain) if dialect.escape.is_none() => {
                Way::Broken
            }
            (Self::Delimited { dialect, .. }, _) => {
                self.way_inside(dialect, bytes, state, &whole, tail)
            }
            (Self::Json, _) => Way::Broken,
        };
        let lines = memchr_iter(self.newline(), bytes).count() as u64;
        Piece { bytes: bytes.len() as u64, lines, ways: STATES.map(way) }
    }

    /// The way of a walk from its first boundary on.
    fn way_from(&self, bytes: &[u8], first: Boundary, tail: Tail) -> Way {
        let rest = &bytes[first.byte as usize..];
        let (end, exit) = match self {
            _ if tail == Tail::End => (rest.len(), State::Between),
            Self::Json => (rest.len(), State::Between),
            Self::Delimited { dialect, .. } => {
                let end = Cutter::new(dialect).cut(rest, rest.len(), Tail::More).unwrap_or(0);
                match walk_on(dialect, rest, end, State::Between) {
                    _ if end == rest.len() => (end, State::Between),
                    On::Open(state) => (end, state),
                    // The cutter would have found it.
                    On::Ended(_) | On::Broken => return Way::Broken,
                }
            }
        };
        let last = first.plus(self.count(&rest[..end]));
        Way::Ends { first, last, exit }
    }

    /// The way of a walk that enters the piece in a record.
    fn way_inside(
        &self,
        dialect: &Dialect,
        bytes: &[u8],
        state: State,
        whole: &Way,
        tail: Tail,
    ) -> Way {
        let first = match walk_on(dialect, bytes, 0, state) {
            On::Ended(first) => first,
            On::Open(_) if tail == Tail::End => return Way::Broken,
            On::Open(state) => return Way::Through(state),
            On::Broken => return Way::Broken,
        };
        let lines = memchr_iter(self.newline(), &bytes[..first]).count() as u64;
        let first = Boundary { byte: first as u64, records: 1, lines };
        let (Way::Ends { last, exit, .. }, Some(met)) =
            (*whole, meeting(dialect, bytes, first.byte as usize))
        else {
            return self.way_from(bytes, first, tail);
        };
        // The two walks differ in what they made of the bytes before they met.
        let other = self.count(&bytes[..met]).records;
        let own = self.count(&bytes[first.byte as usize..met]).records;
        Way::Ends {
            first,
            last: Boundary { records: last.records - other + own + 1, ..last },
            exit,
        }
    }
}

/// Records of two walks that are compared, until it is not expected any more that they meet.
const STEPS_MAX: usize = 64;

/// Where a walk from `start`, a boundary of its own, meets the one that starts with the piece.
fn meeting(dialect: &Dialect, bytes: &[u8], start: usize) -> Option<usize> {
    let cutter = Cutter::new(dialect);
    let (mut one, mut other) = (0, start);
    for _ in 0..STEPS_MAX {
        if one == other {
            return Some(one);
        }
        let behind = one.min(other);
        let next = behind + cutter.cut(&bytes[behind..], 1, Tail::More)?;
        *(if one < other { &mut one } else { &mut other }) = next;
    }
    None
}

/// What becomes of a walk in one record.
enum On {
    /// The record ends: here is the next boundary.
    Ended(usize),
    /// The bytes end, after a newline, and the record does not.
    Open(State),
    /// The record is broken; or the bytes end in the middle of a line, so that it depends on what comes.
    Broken,
}

/// Goes on with the record that a walk is in, from the line at `at`.
fn walk_on(dialect: &Dialect, bytes: &[u8], mut at: usize, mut state: State) -> On {
    loop {
        if at == bytes.len() {
            return On::Open(state);
        }
        if state == State::Quotes
            && let Some(quote) = dialect.quote
        {
            // Nothing else matters in quotes, and there may be much of it.
            match memchr2(quote, dialect.escape.unwrap_or(quote), &bytes[at..]) {
                Some(length) => at += length,
                None => return On::Open(state),
            }
        }
        let mark = match state {
            State::Between => Mark::Between,
            State::Quotes => Mark::Quotes,
            State::Plain => Mark::Plain,
        };
        let passed = pass_line(dialect, bytes, at, mark);
        state = match passed.mark {
            Mark::Between if bytes[passed.next - 1] == dialect.newline.byte() => {
                return On::Ended(passed.next);
            }
            Mark::Between | Mark::Broken => return On::Broken,
            Mark::Quotes => State::Quotes,
            Mark::Plain => State::Plain,
        };
        at = passed.next;
    }
}

/// The records in `bytes`, which are whole.
fn count_records(dialect: &Dialect, blanks_count: bool, bytes: &[u8]) -> u64 {
    let has = |special: Option<u8>| special.is_some_and(|byte| memchr(byte, bytes).is_some());
    if !has(dialect.quote) && !has(dialect.escape) {
        let has_cr = dialect.newline == Newline::Lf;
        return count_lines(bytes, dialect.newline.byte(), |line, has_newline| {
            let is_blank = line.is_empty() || has_cr && has_newline && line == b"\r";
            let is_comment = line.first().copied().is_some_and(|it| Some(it) == dialect.comment);
            !is_comment && (blanks_count || !is_blank)
        });
    }
    let mut scanner = Scanner::new(dialect, bytes);
    let mut fields = Vec::new();
    let mut records = 0;
    while let Some(record) = scanner.next(&mut fields) {
        records += u64::from(blanks_count || !record.is_blank());
    }
    records
}

/// The lines that `counts` says yes to, which is told whether the line has a newline.
fn count_lines(bytes: &[u8], newline: u8, counts: impl Fn(&[u8], bool) -> bool) -> u64 {
    let (mut at, mut count) = (0, 0);
    for end in memchr_iter(newline, bytes) {
        count += u64::from(counts(&bytes[at..end], true));
        at = end + 1;
    }
    count + u64::from(at < bytes.len() && counts(&bytes[at..], false))
}

/// Puts together what was found in the pieces of an input, which are all that there is behind `start`. For each of them the
/// first boundary in it, if there is one before its end.
///
/// A record has at most `record_bytes_max`. Where one is broken, though not in the piece that it starts in, or too long, `read`
/// is asked to read whole records from a boundary on, as the input has them: up to the last boundary that isn't behind the offset, or
/// the first that is, and to say what that is.
///
/// # Errors
///
/// Those of `read`.
pub fn join<E>(
    start: Boundary,
    pieces: &[Piece],
    record_bytes_max: u64,
    mut read: impl FnMut(Boundary, u64) -> Result<Boundary, E>,
) -> Result<Vec<Option<Boundary>>, E> {
    let mut starts = vec![start.byte];
    starts.extend(pieces.iter().scan(start.byte, |at, piece| {
        *at += piece.bytes;
        Some(*at)
    }));
    let mut found = vec![None; pieces.len()];
    let mut course = Course::from(start);
    let mut at = 0;
    while let Some(piece) = pieces.get(at) {
        if let Ok(first) = course.pass(piece, record_bytes_max) {
            found[at] = first;
            at += 1;
            continue;
        }
        let mut last = course.last;
        at = loop {
            let next = starts.partition_point(|start| *start <= last.byte);
            // The end of the input is a boundary.
            let Some(goal) = starts.get(next) else { break pieces.len() };
            last = read(last, *goal)?;
            let next = starts.partition_point(|start| *start < last.byte);
            if starts.get(next) == Some(&last.byte) {
                break next;
            }
            if last.byte > *goal {
                found[next - 1] = Some(last);
            }
        };
        course = Course::from(last);
    }
    Ok(found)
}

impl Course {
    /// At a boundary.
    fn from(boundary: Boundary) -> Self {
        Self { last: boundary, state: State::Between, at: boundary.byte, lines: boundary.lines }
    }

    /// Goes over the piece that starts where the last one ended: its first boundary, if there is one before its end, which is
    /// the next one's to tell. An error says that what comes behind the last boundary has to be read to know where records are;
    /// the course stays where it was.
    fn pass(&mut self, piece: &Piece, record_bytes_max: u64) -> Result<Option<Boundary>, Unsure> {
        let (end, lines) = (self.at + piece.bytes, self.lines + piece.lines);
        let way = piece.ways[self.state as usize];
        let mut found = None;
        match way {
            Way::Broken => return Err(Unsure),
            Way::Through(state) => {
                if end - self.last.byte >= record_bytes_max {
                    return Err(Unsure);
                }
                self.state = state;
            }
            Way::Ends { first, last, exit } => {
                let here =
                    Boundary { byte: self.at, lines: self.lines, records: self.last.records };
                let first = here.plus(first);
                if self.state != State::Between && first.byte - self.last.byte > record_bytes_max {
                    return Err(Unsure);
                }
                found = (first.byte < end).then_some(first);
                self.last = here.plus(last);
                self.state = exit;
            }
        }
        (self.at, self.lines) = (end, lines);
        Ok(found)
    }
}
