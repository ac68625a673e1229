//! The records and members of a chunk.

use super::extent::{Behind, EndedBy, Extent, Extents, Start, trim_end};
use super::lanes::same;
use super::record::{JsonFault, JsonKey, JsonKind, JsonLayout, JsonMember, JsonPart, JsonRecord};
use super::value::{
    Checked, expected, key, scalar, separator_missing, skip_space, skip_to_record, value,
};

/// Splits bytes into records and their members.
#[derive(Clone, Debug)]
pub struct JsonScanner<'a> {
    layout: JsonLayout,
    bytes: &'a [u8],
    /// Where the search for the next record starts.
    at: usize,
    expects: Expects,
    is_last: bool,
    /// What stood before the values of the record before; nothing where it was no object.
    leads: Vec<Lead>,
    extents: Extents,
}

/// What comes next in an array. In other layouts it is always `Record`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    /// The opening bracket.
    Bracket,
    /// The first record, or the closing bracket.
    First,
    /// A record or, in a chunk that isn't the last, the end.
    Record,
    /// Nothing any more.
    End,
}

/// What stands before a member's value: all from behind the value before, or from behind the opening
/// bracket.
#[derive(Clone, Copy, Debug)]
struct Lead {
    start: u32,
    length: u32,
    key: JsonKey,
}

impl<'a> JsonScanner<'a> {
    /// A scanner of `bytes`, which start and end on record boundaries, as a
    /// [`JsonCutter`](super::JsonCutter) finds them, and are shorter than 4 GiB. Where they aren't
    /// the first part they may start at any record's start.
    #[must_use]
    pub fn new(layout: JsonLayout, part: JsonPart, bytes: &'a [u8]) -> Self {
        debug_assert!(bytes.len() < u32::MAX as usize);
        let is_array = layout == JsonLayout::Array;
        Self {
            layout,
            bytes,
            at: 0,
            expects: if is_array && part.first { Expects::Bracket } else { Expects::Record },
            is_last: is_array && part.last,
            leads: Vec::new(),
            extents: Extents::new(layout),
        }
    }

    /// The next record. The members of an object are in `members` (cleared first), as are the
    /// elements of an array, with empty keys. `None` at the end.
    ///
    /// Blank lines of [`JsonLayout::Lines`] are yielded. An array that isn't closed, or has a comma
    /// before its closing bracket, ends with a broken record that says so, and may be empty.
    pub fn next(&mut self, members: &mut Vec<JsonMember>) -> Option<JsonRecord> {
        members.clear();
        match self.layout {
            JsonLayout::Lines => self.next_line(members),
            JsonLayout::Array => self.next_element(members),
            JsonLayout::Values => self.next_value(members),
        }
    }

    #[inline(always)]
    fn next_line(&mut self, members: &mut Vec<JsonMember>) -> Option<JsonRecord> {
        let bytes = self.bytes;
        if self.at >= bytes.len() {
            return None;
        }
        let start = skip_to_record::<true>(bytes, self.at);
        if matches!(bytes.get(start), None | Some(b'\n')) {
            return Some(self.blank(start));
        }
        let walked = walk::<true>(bytes, start, members, &mut self.leads).and_then(|walked| {
            let behind = skip_space::<true>(bytes, walked.end);
            match bytes.get(behind) {
                Some(b'\n') => Ok((walked, behind + 1)),
                None => Ok((walked, behind)),
                Some(_) => Err(Broken::Behind(JsonFault::TextAfter { at: behind as u32 })),
            }
        });
        Some(self.finish(start, walked))
    }

    #[inline(always)]
    fn next_value(&mut self, members: &mut Vec<JsonMember>) -> Option<JsonRecord> {
        let bytes = self.bytes;
        let start = skip_to_record::<false>(bytes, self.at);
        let &first = bytes.get(start)?;
        let walked = walk::<false>(bytes, start, members, &mut self.leads).and_then(|walked| {
            let is_apart = matches!(first, b'{' | b'[')
                || matches!(bytes.get(walked.end), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
            if is_apart {
                Ok((walked, walked.end))
            } else {
                Err(Broken::Behind(JsonFault::TextAfter { at: walked.end as u32 }))
            }
        });
        Some(self.finish(start, walked))
    }

    #[inline(always)]
    fn next_element(&mut self, members: &mut Vec<JsonMember>) -> Option<JsonRecord> {
        let bytes = self.bytes;
        let mut start = skip_space::<false>(bytes, self.at);
        if self.expects != Expects::Record || matches!(bytes.get(start), None | Some(b']')) {
            match self.edge(start)? {
                Edge::Broken(record) => return Some(record),
                Edge::Element(at) => start = at,
            }
        }
        let walked = walk::<false>(bytes, start, members, &mut self.leads).and_then(|walked| {
            let behind = skip_space::<false>(bytes, walked.end);
            if bytes.get(behind) == Some(&b',') {
                self.expects = Expects::Record;
                return Ok((walked, behind + 1));
            }
            if let Some(end) = self.closed(behind) {
                self.expects = Expects::End;
                return Ok((walked, end));
            }
            Err(Broken::Behind(separator_missing(walked.end, false)))
        });
        Some(self.finish(start, walked))
    }

    /// The start or the end of an array, where `at` is the next byte that is no white space.
    #[cold]
    fn edge(&mut self, mut at: usize) -> Option<Edge> {
        let bytes = self.bytes;
        if bytes.is_empty() {
            return None;
        }
        if self.expects == Expects::Bracket {
            if bytes.get(at) != Some(&b'[') {
                let fault = expected(at, "[");
                return match bytes.get(at) {
                    Some(_) => Some(Edge::Broken(self.broken(at, Broken::Behind(fault)))),
                    None => self.unfinished(at, fault),
                };
            }
            at = skip_space::<false>(bytes, at + 1);
            self.expects = Expects::First;
        }
        let closed = self.closed(at);
        match (self.expects, bytes.get(at)) {
            (Expects::End, _) => None,
            (_, None) => self.unfinished(at, JsonFault::Unclosed { at: at as u32 }),
            (Expects::First, _) if closed.is_some() => {
                self.expects = Expects::End;
                None
            }
            (_, Some(_)) if closed.is_some() => self.unfinished(at, expected(at, "a value")),
            (_, Some(_)) => Some(Edge::Element(at)),
        }
    }

    /// Where the input ends, if a bracket at `at` closes the array.
    #[inline(always)]
    fn closed(&self, at: usize) -> Option<usize> {
        if self.bytes.get(at) != Some(&b']') || !self.is_last {
            return None;
        }
        let end = skip_space::<false>(self.bytes, at + 1);
        (end == self.bytes.len()).then_some(end)
    }

    /// The array ends at `at`, where it can't: a record that says so, in the input's last chunk.
    fn unfinished(&mut self, at: usize, fault: JsonFault) -> Option<Edge> {
        self.expects = Expects::End;
        self.at = self.bytes.len();
        self.leads.clear();
        let (start, next) = (at as u32, self.bytes.len() as u32);
        let end = next.min(start + 1);
        let kind = JsonKind::Null;
        let fault = Some(fault);
        self.is_last.then_some(Edge::Broken(JsonRecord {
            start,
            end,
            next,
            kind,
            same_keys: 0,
            fault,
        }))
    }

    #[cold]
    fn blank(&mut self, start: usize) -> JsonRecord {
        self.leads.clear();
        self.at = self.bytes.len().min(start + 1);
        JsonRecord {
            start: start as u32,
            end: start as u32,
            next: self.at as u32,
            kind: JsonKind::Null,
            same_keys: 0,
            fault: None,
        }
    }

    #[inline(always)]
    fn finish(&mut self, start: usize, walked: Result<(Walked, usize), Broken>) -> JsonRecord {
        let (walked, next) = match walked {
            Ok(walked) => walked,
            Err(broken) => return self.broken(start, broken),
        };
        self.at = next;
        JsonRecord {
            start: start as u32,
            end: walked.end as u32,
            next: next as u32,
            kind: walked.kind,
            same_keys: walked.same_keys as u32,
            fault: None,
        }
    }

    /// The record at `start`, which is broken; `self.at` is behind what is before it.
    #[cold]
    fn broken(&mut self, start: usize, broken: Broken) -> JsonRecord {
        self.leads.clear();
        self.extents.restart();
        let at_end = Extent { end: self.bytes.len(), next: self.bytes.len(), by: EndedBy::Input };
        // The bytes end here: there is always an extent.
        let behind = if self.is_last { Behind::Nothing } else { Behind::Record };
        let is_first = matches!(self.expects, Expects::Bracket | Expects::First);
        let from = Start { at: start, behind: (!is_first).then_some(self.at) };
        let extent = self.extents.at(self.bytes, from, behind).unwrap_or(at_end);
        if matches!(extent.by, EndedBy::Close | EndedBy::Input) {
            self.expects = Expects::End;
        } else {
            self.expects = Expects::Record;
        }
        self.at = extent.next;
        let end = trim_end(self.bytes, start, extent.end);
        let fault = match broken {
            // What is there instead isn't part of the record, and a chunk may end before it.
            Broken::Inside(fault) if fault.at() as usize >= end && start < end => {
                JsonFault::Unclosed { at: start as u32 }
            }
            Broken::Inside(fault) | Broken::Behind(fault) => fault,
        };
        JsonRecord {
            start: start as u32,
            end: end as u32,
            next: extent.next as u32,
            kind: JsonKind::Null,
            same_keys: 0,
            fault: Some(fault),
        }
    }
}

/// The start or end of an array.
enum Edge {
    /// An element starts here.
    Element(usize),
    /// It is missing.
    Broken(JsonRecord),
}

/// Why a record is broken.
enum Broken {
    /// The value isn't one.
    Inside(JsonFault),
    /// It is, and what follows it can't.
    Behind(JsonFault),
}

/// A record that is whole.
#[derive(Clone, Copy)]
struct Walked {
    end: usize,
    kind: JsonKind,
    same_keys: usize,
}

/// Walks over the record at `start`.
#[inline(always)]
fn walk<const LINES: bool>(
    bytes: &[u8],
    start: usize,
    members: &mut Vec<JsonMember>,
    leads: &mut Vec<Lead>,
) -> Result<Walked, Broken> {
    if bytes[start] == b'{' {
        return object::<LINES>(bytes, start, members, leads).map_err(Broken::Inside);
    }
    leads.clear();
    other::<LINES>(bytes, start, members).map_err(Broken::Inside)
}

/// A record that is no object.
#[inline(never)]
fn other<const LINES: bool>(
    bytes: &[u8],
    start: usize,
    members: &mut Vec<JsonMember>,
) -> Checked<Walked> {
    if bytes[start] == b'[' {
        let end = array::<LINES>(bytes, start, members)?;
        return Ok(Walked { end, kind: JsonKind::Array, same_keys: 0 });
    }
    let (value, end) = scalar(bytes, start)?;
    Ok(Walked { end, kind: value.kind, same_keys: 0 })
}

/// The object at `start`, its members to `members`, and what stands before each to `leads`.
#[inline(always)]
fn object<const LINES: bool>(
    bytes: &[u8],
    start: usize,
    members: &mut Vec<JsonMember>,
    leads: &mut Vec<Lead>,
) -> Checked<Walked> {
    let mut at = start + 1;
    let mut same_keys = 0;
    loop {
        let index = members.len();
        let key = match leads.get(index) {
            Some(lead) if same(bytes, at, lead.start as usize, lead.length as usize) => {
                let by = at as u32 - lead.start;
                // There may be more of it than before.
                at = skip_space::<LINES>(bytes, at + lead.length as usize);
                same_keys += 1;
                JsonKey { start: lead.key.start + by, end: lead.key.end + by, ..lead.key }
            }
            _ => {
                let Some(lead) = lead_at::<LINES>(bytes, at, index == 0)? else { break };
                at += lead.length as usize;
                match leads.get_mut(index) {
                    Some(before) if before.key.raw(bytes) == lead.key.raw(bytes) => {
                        *before = lead;
                        same_keys += 1;
                    }
                    _ => {
                        leads.truncate(index);
                        leads.push(lead);
                    }
                }
                lead.key
            }
        };
        let (value, end) = value::<LINES>(bytes, at, 1)?;
        members.push(JsonMember { key, value });
        at = end;
    }
    leads.truncate(members.len());
    let end = skip_space::<LINES>(bytes, at) + 1;
    Ok(Walked { end, kind: JsonKind::Object, same_keys })
}

/// What stands from `at` on before a member's value; `None` when it is the closing bracket.
#[inline(always)]
fn lead_at<const LINES: bool>(bytes: &[u8], at: usize, first: bool) -> Checked<Option<Lead>> {
    if bytes.get(at) == Some(&b'}') {
        return Ok(None);
    }
    any_lead::<LINES>(bytes, at, first)
}

#[inline(never)]
fn any_lead<const LINES: bool>(bytes: &[u8], start: usize, first: bool) -> Checked<Option<Lead>> {
    let mut at = skip_space::<LINES>(bytes, start);
    match bytes.get(at) {
        Some(b'}') => return Ok(None),
        Some(b',') if !first => at = skip_space::<LINES>(bytes, at + 1),
        _ if !first => return Err(separator_missing(at, true)),
        _ => {}
    }
    let (key_end, escaped, value) = key::<LINES>(bytes, at, first)?;
    let key = JsonKey { start: at as u32 + 1, end: key_end as u32, escaped };
    Ok(Some(Lead { start: start as u32, length: (value - start) as u32, key }))
}

/// The array at `start`, its elements to `members`.
fn array<const LINES: bool>(
    bytes: &[u8],
    start: usize,
    members: &mut Vec<JsonMember>,
) -> Checked<usize> {
    let key = JsonKey { start: 0, end: 0, escaped: false };
    let mut at = skip_space::<LINES>(bytes, start + 1);
    if bytes.get(at) == Some(&b']') {
        return Ok(at + 1);
    }
    loop {
        let (value, end) = value::<LINES>(bytes, at, 1)?;
        members.push(JsonMember { key, value });
        at = skip_space::<LINES>(bytes, end);
        match bytes.get(at) {
            Some(b']') => return Ok(at + 1),
            Some(b',') => at = skip_space::<LINES>(bytes, at + 1),
            _ => return Err(separator_missing(at, false)),
        }
    }
}
