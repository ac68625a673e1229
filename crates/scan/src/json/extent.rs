//! How far a record goes, whole or broken.
//!
//! This is the one definition of a record's end that the cutter and the scanner share; the rules
//! are in [`crate::json`]. It looks at brackets, at line starts, and outside of brackets at commas,
//! and at nothing else, so it is fast and takes broken records as it takes whole ones.

use memchr::{memchr, memrchr};

use super::marks::Marks;
use super::record::JsonLayout;
use super::value::{scalar, skip_space};

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

    /// The extent of the record at `start`, which is no white space. `None` if it depends on what
    /// comes behind `bytes`, and that may be anything.
    #[inline(always)]
    pub(super) fn at(&mut self, bytes: &[u8], start: usize, behind: Behind) -> Option<Extent> {
        match self.layout {
            JsonLayout::Lines => line(bytes, start, behind),
            JsonLayout::Array => self.element(bytes, start, behind),
            JsonLayout::Values => self.value(bytes, start, behind),
        }
    }

    fn value(&mut self, bytes: &[u8], start: usize, behind: Behind) -> Option<Extent> {
        if matches!(bytes[start], b'{' | b'[') {
            return match self.brackets(bytes, start) {
                Brackets::Closed(end) | Brackets::BeforeFreshStart(end) => Some(by_itself(end)),
                Brackets::Open => at_bytes_end(bytes, behind),
            };
        }
        self.restart();
        if let Ok((_, end)) = scalar(bytes, start) {
            match bytes.get(end) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => return Some(by_itself(end)),
                Some(_) => {}
                None => return at_bytes_end(bytes, behind),
            }
        }
        match memchr(b'\n', &bytes[start..]) {
            Some(length) => Some(by_itself(start + length)),
            None => at_bytes_end(bytes, behind),
        }
    }

    #[inline(always)]
    fn element(&mut self, bytes: &[u8], start: usize, behind: Behind) -> Option<Extent> {
        if matches!(bytes[start], b'{' | b'[')
            && let Brackets::Closed(end) = self.brackets(bytes, start)
            && bytes.get(end) == Some(&b',')
        {
            return Some(Extent { end, next: end + 1, by: EndedBy::Comma });
        }
        self.any_element(bytes, start, behind)
    }

    /// [`Extents::element`] byte by byte where no bracket is open.
    #[inline(never)]
    fn any_element(&mut self, bytes: &[u8], start: usize, behind: Behind) -> Option<Extent> {
        let mut at = start;
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
                        && let Some(line) = fresh_start(bytes, start, at, true)
                    {
                        return Some(by_itself(line));
                    }
                    let brackets = self.brackets(bytes, at);
                    self.restart();
                    match brackets {
                        Brackets::Closed(end) => at = end - 1,
                        Brackets::BeforeFreshStart(line) => return Some(by_itself(line)),
                        Brackets::Open => break,
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at_bytes_end(bytes, behind)
    }

    /// Goes from the opening bracket at `start` to the one that closes it.
    #[inline(always)]
    fn brackets(&mut self, bytes: &[u8], start: usize) -> Brackets {
        if !std::mem::take(&mut self.is_marked) {
            self.marks.seek(start);
        }
        let mut open = Open::default();
        loop {
            let Some(at) = self.marks.next(bytes) else { return Brackets::Open };
            match bytes[at] {
                b'{' => {
                    if open.count > 0
                        && let Some(line) = fresh_start(bytes, start, at, open.is_object())
                    {
                        return Brackets::BeforeFreshStart(line);
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
    /// It isn't, when a line starts here that is a fresh start.
    BeforeFreshStart(usize),
    /// It isn't closed in these bytes.
    Open,
}

/// The brackets that are open, as far as they matter: the innermost 128, a bit each, set for an
/// object. What is outside of those counts as arrays.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    objects: u128,
    count: usize,
}

impl Open {
    #[inline(always)]
    fn is_object(self) -> bool {
        self.objects & 1 != 0
    }

    #[inline(always)]
    fn push(&mut self, is_object: bool) {
        self.objects = self.objects << 1 | u128::from(is_object);
        self.count += 1;
    }

    /// Closes the innermost object or array, and what is open inside of it.
    #[inline(always)]
    fn pop(&mut self, is_object: bool) {
        let fitting = if is_object { self.objects } else { !self.objects };
        let inside = fitting.trailing_zeros() as usize;
        if inside < self.count && inside < 128 {
            self.objects = self.objects >> inside >> 1;
            self.count -= inside + 1;
        }
    }
}

/// The start of the line on which the `{` at `at` is a fresh start, if it is one. `is_object` says
/// what it is in; outside of brackets that counts as an object.
#[inline(always)]
fn fresh_start(bytes: &[u8], start: usize, at: usize, is_object: bool) -> Option<usize> {
    if at == start || !bytes[at - 1].is_ascii_whitespace() {
        return None;
    }
    behind_space(bytes, start, at, is_object)
}

/// [`fresh_start`] where white space comes before.
#[inline(never)]
fn behind_space(bytes: &[u8], start: usize, at: usize, is_object: bool) -> Option<usize> {
    let before = trim_end(bytes, start, at);
    let line = before + memrchr(b'\n', &bytes[before..at])? + 1;
    let can_stand = match bytes[before - 1] {
        b':' => is_object,
        b',' | b'[' => !is_object,
        _ => false,
    };
    (!can_stand).then_some(line)
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
