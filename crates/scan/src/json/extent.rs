//! How far a record goes, whole or broken.
//!
//! This is the one definition of a record's end that the cutter and the scanner share; the rules
//! are in [`crate::json`]. It looks at brackets, at line starts, and outside of brackets at commas,
//! and at nothing else, so it is fast and takes broken records as it takes whole ones.

use memchr::{memchr, memrchr};

use super::marks::Marks;
use super::record::JsonLayout;
use super::value::{RECORD_SEPARATOR, scalar, skip_space};

/// Where a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Offset behind the record and white space, before what separates it from the next.
    pub(super) end: usize,
    /// Offset behind what separates it.
    pub(super) next: usize,
    /// What ends it.
    pub(super) by: EndedBy,
}

/// What ends a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndedBy {
    /// Its own last byte, its line's end, or a fresh start behind it: the next record can begin.
    Itself,
    /// A comma, behind which there has to be a record.
    Comma,
    /// The end of the array, behind which nothing is.
    Close,
    /// The end of the bytes.
    Input,
}

/// Where a record starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// Offset of its first byte, which is neither white space nor a separator of records.
    pub(super) at: usize,
    /// Offset behind what is before it, with only these in between; none for the first of an
    /// array, which has the opening bracket before it and nothing else.
    pub(super) behind: Option<usize>,
}

impl Start {
    /// How far the record is indented; what isn't the first of its line isn't.
    fn indent(self, bytes: &[u8]) -> usize {
        let behind = self.behind.unwrap_or(0);
        match memrchr(b'\n', &bytes[behind..self.at]) {
            Some(newline) => self.at - (behind + newline + 1),
            None if self.behind.is_none() => self.at,
            None => 0,
        }
    }
}

/// What comes behind the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// Who knows.
    Anything,
    /// Another record: the bytes end on a boundary.
    Record,
    /// Nothing, the input ends.
    Nothing,
}

/// Finds the ends of records, from left to right.
#[derive(Clone, Debug)]
pub(super) struct Extents {
    layout: JsonLayout,
    marks: Marks,
    /// Whether `marks` is behind the record that was looked at last, so that it gives the next one's
    /// opening bracket next.
    is_marked: bool,
}

impl Extents {
    pub(super) fn new(layout: JsonLayout) -> Self {
        Self { layout, marks: Marks::new(), is_marked: false }
    }

    /// Whatever is asked next doesn't follow what was asked last.
    pub(super) fn restart(&mut self) {
        self.is_marked = false;
    }

    /// The extent of the record that `start` names. `None` if it depends on what comes behind
    /// `bytes`, and that may be anything.
    #[inline(always)]
    pub(super) fn at(&mut self, bytes: &[u8], start: Start, behind: Behind) -> Option<Extent> {
        match self.layout {
            JsonLayout::Lines => line(bytes, start.at, behind),
            JsonLayout::Array => self.element(bytes, start, behind),
            JsonLayout::Values => self.value(bytes, start, behind),
        }
    }

    fn value(&mut self, bytes: &[u8], start: Start, behind: Behind) -> Option<Extent> {
        let Start { at, .. } = start;
        if matches!(bytes[at], b'{' | b'[') {
            return match self.brackets(bytes, at, start) {
                Brackets::Closed(end) | Brackets::BeforeFreshStart(end) => Some(by_itself(end)),
                Brackets::Open => at_bytes_end(bytes, behind),
            };
        }
        self.restart();
        if let Ok((_, end)) = scalar(bytes, at) {
            match bytes.get(end) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => return Some(by_itself(end)),
                Some(_) => {}
                None => return at_bytes_end(bytes, behind),
            }
        }
        match memchr(b'\n', &bytes[at..]) {
            Some(length) => Some(by_itself(at + length)),
            None => at_bytes_end(bytes, behind),
        }
    }

    #[inline(always)]
    fn element(&mut self, bytes: &[u8], start: Start, behind: Behind) -> Option<Extent> {
        if matches!(bytes[start.at], b'{' | b'[')
            && let Brackets::Closed(end) = self.brackets(bytes, start.at, start)
            && bytes.get(end) == Some(&b',')
        {
            return Some(Extent { end, next: end + 1, by: EndedBy::Comma });
        }
        self.any_element(bytes, start, behind)
    }

    /// [`Extents::element`] byte by byte where no bracket is open.
    #[inline(never)]
    fn any_element(&mut self, bytes: &[u8], start: Start, behind: Behind) -> Option<Extent> {
        let mut at = start.at;
        let (mut in_string, mut escaped) = (false, false);
        self.restart();
        while let Some(&byte) = bytes.get(at) {
            let literal = std::mem::take(&mut escaped);
            match byte {
                b'\n' => in_string = false,
                b'\\' => escaped = !literal,
                b'"' if !literal => in_string = !in_string,
                _ if in_string => {}
                b',' => return Some(Extent { end: at, next: at + 1, by: EndedBy::Comma }),
                b']' => {
                    let next = skip_space::<false>(bytes, at + 1);
                    match behind {
                        _ if next < bytes.len() => {}
                        Behind::Anything => return None,
                        Behind::Record => {}
                        Behind::Nothing => {
                            return Some(Extent { end: at, next, by: EndedBy::Close });
                        }
                    }
                }
                b'{' | b'[' => {
                    if byte == b'{'
                        && let Some(end) =
                            before_fresh_start(self.layout, bytes, start, at, Open::default())
                    {
                        return Some(by_itself(end));
                    }
                    let brackets = self.brackets(bytes, at, start);
                    self.restart();
                    match brackets {
                        Brackets::Closed(end) => at = end - 1,
                        Brackets::BeforeFreshStart(end) => return Some(by_itself(end)),
                        Brackets::Open => break,
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at_bytes_end(bytes, behind)
    }

    /// Goes from the opening bracket at `first` to the one that closes it, in the record at `start`.
    #[inline(always)]
    fn brackets(&mut self, bytes: &[u8], first: usize, start: Start) -> Brackets {
        if !std::mem::take(&mut self.is_marked) {
            self.marks.seek(first);
        }
        let mut open = Open::default();
        loop {
            let Some(at) = self.marks.next(bytes) else { return Brackets::Open };
            match bytes[at] {
                b'{' => {
                    if open.count > 0
                        && let Some(end) = before_fresh_start(self.layout, bytes, start, at, open)
                    {
                        return Brackets::BeforeFreshStart(end);
                    }
                    open.push(true);
                }
                b'[' => open.push(false),
                closing => open.pop(closing == b'}'),
            }
            if open.count == 0 {
                self.is_marked = true;
                return Brackets::Closed(at + 1);
            }
        }
    }
}

/// What became of an opening bracket.
enum Brackets {
    /// It is closed before this offset.
    Closed(usize),
    /// It isn't when a fresh start comes; what is before it ends here.
    BeforeFreshStart(usize),
    /// It isn't closed in these bytes.
    Open,
}

/// The brackets that are open: a bit for each of the outermost 128, set for an object, and how many
/// more there are.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    objects: u128,
    count: u32,
    more: usize,
}

impl Open {
    #[inline(always)]
    fn push(&mut self, is_object: bool) {
        if self.count < u128::BITS {
            self.objects = self.objects << 1 | u128::from(is_object);
            self.count += 1;
        } else {
            self.more += 1;
        }
    }

    /// Closes the innermost object or array, and what is open inside of it.
    #[inline(always)]
    fn pop(&mut self, is_object: bool) {
        if self.more > 0 {
            self.more -= 1;
            return;
        }
        let fitting = if is_object { self.objects } else { !self.objects };
        let inside = fitting.trailing_zeros();
        if inside < self.count {
            self.objects = self.objects >> inside >> 1;
            self.count -= inside + 1;
        }
    }

    /// Whether a `{` on a line of its own can be a value here, judging by what is before it.
    fn takes_value_behind(self, before: u8) -> bool {
        let is_array = self.count > 0 && self.objects & 1 == 0;
        self.more > 0 || if is_array { matches!(before, b',' | b'[') } else { before == b':' }
    }
}

/// The end of what is before the `{` at `at`, inside of `open`, if that is a fresh start.
#[inline(always)]
fn before_fresh_start(
    layout: JsonLayout,
    bytes: &[u8],
    start: Start,
    at: usize,
    open: Open,
) -> Option<usize> {
    if at == start.at {
        return None;
    }
    match bytes[at - 1] {
        RECORD_SEPARATOR if layout != JsonLayout::Array => behind_space(bytes, start, at - 1, open),
        before if before.is_ascii_whitespace() => behind_space(bytes, start, at, open),
        _ => None,
    }
}

/// [`before_fresh_start`] where white space comes before.
#[inline(never)]
fn behind_space(bytes: &[u8], start: Start, at: usize, open: Open) -> Option<usize> {
    let end = trim_end(bytes, start.at, at);
    let line = end + memrchr(b'\n', &bytes[end..at])? + 1;
    let is_fresh = !open.takes_value_behind(bytes[end - 1]) && at - line <= start.indent(bytes);
    is_fresh.then_some(end)
}

/// Where white space that ends at `end` starts, behind the byte at `start`, which is none.
pub(super) fn trim_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let last = bytes[start..end].iter().rposition(|byte| !space(byte));
    last.map_or(start, |last| start + last + 1)
}

/// A record that nothing separates from the next.
#[inline(always)]
fn by_itself(end: usize) -> Extent {
    Extent { end, next: end, by: EndedBy::Itself }
}

/// A record that the end of the bytes ends, if anything does.
fn at_bytes_end(bytes: &[u8], behind: Behind) -> Option<Extent> {
    let end = bytes.len();
    (behind != Behind::Anything).then_some(Extent { end, next: end, by: EndedBy::Input })
}

fn line(bytes: &[u8], start: usize, behind: Behind) -> Option<Extent> {
    let Some(length) = memchr(b'\n', &bytes[start..]) else { return at_bytes_end(bytes, behind) };
    let end = start + length;
    Some(Extent { end, next: end + 1, by: EndedBy::Itself })
}
