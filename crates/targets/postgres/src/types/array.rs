//! Arrays: `{1,2,NULL}`, `{{a,b},{c,"d e"}}`, `[2:3]={1,2}`.
//!
//! <https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT>. The binary form has the sizes in front, which are known only
//! at the end: the first element's depth says how many there will be, and they are filled in when all braces are closed.

use std::io::Write as _;

use inrush_core::flow::Code;
use serde_json::value::RawValue;

use super::moment::Moments;
use super::store::{Misfit, Store};

/// Dimensions at most.
const DIMENSIONS_MAX: usize = 6;
/// Elements at most: their pointers have to fit a gigabyte.
const ELEMENTS_MAX: usize = 134_217_727;

/// Dimensions, flags, the elements' type.
const HEAD_LEN: usize = 12;

/// An array type.
#[derive(Clone, Debug)]
pub(super) struct Arrays {
    pub(super) element: Box<Store>,
    /// The elements' type.
    pub(super) oid: u32,
}

/// The types whose identifiers are the same in every database, of those that go in binary:
/// <https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat>.
pub(super) fn element_oid(name: &str) -> Option<u32> {
    // Behind an interval stand the units that it keeps.
    let name = if name.starts_with("interval ") { "interval" } else { name };
    Some(match name {
        "boolean" => 16,
        "bytea" => 17,
        "\"char\"" => 18,
        "name" => 19,
        "bigint" => 20,
        "smallint" => 21,
        "integer" => 23,
        "text" => 25,
        "oid" => 26,
        "json" => 114,
        "cidr" => 650,
        "real" => 700,
        "double precision" => 701,
        "macaddr8" => 774,
        "money" => 790,
        "macaddr" => 829,
        "inet" => 869,
        "character" | "bpchar" => 1042,
        "character varying" => 1043,
        "date" => 1082,
        "time without time zone" => 1083,
        "timestamp without time zone" => 1114,
        "timestamp with time zone" => 1184,
        "interval" => 1186,
        "time with time zone" => 1266,
        "bit" | "\"bit\"" => 1560,
        "bit varying" => 1562,
        "numeric" => 1700,
        "uuid" => 2950,
        "jsonb" => 3802,
        _ => return None,
    })
}

/// One dimension while its braces are read.
#[derive(Clone, Copy, Debug)]
struct Dimension {
    lower: i32,
    /// As declared in front of the braces, or as the first of them have it.
    size: Option<i32>,
    /// In the braces that are open.
    count: i32,
}

/// Blanks between an array's parts.
fn trim_start(b: &[u8]) -> &[u8] {
    let blanks = b.iter().take_while(|byte| is_blank(**byte)).count();
    &b[blanks..]
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// What the items of a list are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Items {
    /// Values that JSON writes, and lists of such.
    Values,
    /// Moments of UTC: each has to say how far from it it is.
    Moments(Moments),
    /// JSON themselves.
    Documents,
}

/// A list as JSON has it, as arrays are written: sources of nested values have such. `None` where it is none.
pub(super) fn of_json(value: &[u8], are: Items) -> Result<Option<Vec<u8>>, Misfit<'static>> {
    if !trim_start(value).starts_with(b"[") {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(value.len() + 8);
    let put = serde_json::from_slice(value)
        .ok()
        .and_then(|items| put_list(items, are, DIMENSIONS_MAX - 1, &mut out));
    match put {
        None => Ok(None),
        // JSON has one only as an escape, which was decoded.
        Some(()) if memchr::memchr(0, &out).is_some() => {
            Err((Code::Nul, "an array whose texts have no NUL, as PostgreSQL's have none"))
        }
        Some(()) => Ok(Some(out)),
    }
}

/// Lists within may be so deep.
fn put_list(items: Vec<&RawValue>, are: Items, depth: usize, out: &mut Vec<u8>) -> Option<()> {
    out.push(b'{');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match item.get().as_bytes() {
            b"null" => out.extend_from_slice(b"NULL"),
            _ if matches!(are, Items::Documents) => put_quoted(item.get(), out),
            [b'[', ..] => {
                put_list(serde_json::from_str(item.get()).ok()?, are, depth.checked_sub(1)?, out)?;
            }
            [b'"', ..] => {
                let text = serde_json::from_str::<String>(item.get()).ok()?;
                if let Items::Moments(moments) = are
                    && !moments.has_offset(text.as_bytes())
                {
                    return None;
                }
                put_quoted(&text, out);
            }
            [b'{', ..] => put_quoted(item.get(), out),
            number_or_truth => out.extend_from_slice(number_or_truth),
        }
    }
    out.push(b'}');
    Some(())
}

fn put_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// What stands between two commas or braces.
enum Item<'a> {
    Null,
    Plain(&'a [u8]),
    /// Written out to memory of its own.
    Escaped,
}

impl Arrays {
    /// `wanted` is what a value isn't that isn't written like an array of such elements.
    pub(super) fn encode<'a>(
        &'a self,
        value: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let no_array = (Code::Type, wanted);
        let mut dimensions = [Dimension { lower: 1, size: None, count: 0 }; DIMENSIONS_MAX];
        let (declared, rest) = bounds(value, &mut dimensions).ok_or(no_array)?;
        let mut rest = trim_start(rest);
        if let [b'{', inner @ ..] = rest
            && let [b'}', tail @ ..] = trim_start(inner)
        {
            // Nothing in it, so nothing that bounds could be of.
            if declared > 0 || !trim_start(tail).is_empty() {
                return Err(no_array);
            }
            put_words(&[0, 0, self.oid], out);
            return Ok(());
        }
        let start = out.len();
        let mut state = State { depth: 0, depth_max: None, elements: 0, has_null: false };
        let mut scratch = Vec::new();
        loop {
            rest = trim_start(rest);
            // An element or an opening brace.
            if let [b'{', tail @ ..] = rest {
                if state.depth_max.unwrap_or(DIMENSIONS_MAX) == state.depth {
                    return Err(no_array);
                }
                dimensions[state.depth].count = 0;
                state.depth += 1;
                rest = tail;
                continue;
            }
            if state.depth_max.is_none() {
                if state.depth == 0 || (declared > 0 && declared != state.depth) {
                    return Err(no_array);
                }
                state.depth_max = Some(state.depth);
                out.extend(std::iter::repeat_n(0, HEAD_LEN + 8 * state.depth));
            } else if state.depth_max != Some(state.depth) {
                return Err(no_array);
            }
            let (item, tail) = item(rest, &mut scratch).ok_or(no_array)?;
            state.elements += 1;
            if state.elements > ELEMENTS_MAX {
                return Err((Code::TooLong, wanted));
            }
            match item {
                Item::Null => {
                    state.has_null = true;
                    out.extend_from_slice(&(-1_i32).to_be_bytes());
                }
                Item::Plain(text) => self.put(text, wanted, out)?,
                Item::Escaped => self.put(&scratch, wanted, out)?,
            }
            // Closing braces, and a comma.
            rest = trim_start(tail);
            loop {
                let dimension = &mut dimensions[state.depth - 1];
                dimension.count += 1;
                match rest {
                    [b',', tail @ ..] => {
                        rest = tail;
                        break;
                    }
                    [b'}', tail @ ..] => {
                        if *dimension.size.get_or_insert(dimension.count) != dimension.count {
                            return Err(no_array);
                        }
                        state.depth -= 1;
                        rest = trim_start(tail);
                    }
                    _ => return Err(no_array),
                }
                if state.depth == 0 {
                    if !rest.is_empty() {
                        return Err(no_array);
                    }
                    self.put_head(&state, &dimensions, start, out);
                    return Ok(());
                }
            }
        }
    }

    fn put_head(
        &self,
        state: &State,
        dimensions: &[Dimension; DIMENSIONS_MAX],
        start: usize,
        out: &mut [u8],
    ) {
        let depth = state.depth_max.unwrap_or(0);
        let sizes = dimensions[..depth]
            .iter()
            .flat_map(|dimension| [dimension.size.unwrap_or(0) as u32, dimension.lower as u32]);
        let words = [depth as u32, u32::from(state.has_null), self.oid].into_iter().chain(sizes);
        for (place, word) in out[start..].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
    }

    /// Writes what the server reads as the array whose own text is `text`, and of which `binary` is what was encoded: of integers their
    /// digits, where that text may have `1.0`.
    pub(super) fn write(&self, text: &[u8], binary: &[u8], out: &mut Vec<u8>) {
        let Some(integers) = self.element.integers() else {
            out.extend_from_slice(text);
            return;
        };
        let mut words = binary.as_chunks::<4>().0.iter().map(|word| i32::from_be_bytes(*word));
        let depth = words.next().unwrap_or(0) as usize;
        let mut words = words.skip(2);
        let dimensions: Vec<(i32, i32)> =
            std::iter::from_fn(|| Some((words.next()?, words.next()?))).take(depth).collect();
        if dimensions.is_empty() {
            out.extend_from_slice(b"{}");
            return;
        }
        // Writing to memory doesn't fail.
        if dimensions.iter().any(|(_, lower)| *lower != 1) {
            for (size, lower) in &dimensions {
                let _ = write!(out, "[{lower}:{}]", lower + (size - 1));
            }
            out.push(b'=');
        }
        // Behind how many elements the braces of each dimension close.
        let spans = (0..depth).map(|at| dimensions[at..].iter().map(|(size, _)| *size as usize));
        let spans: Vec<usize> = spans.map(Iterator::product).collect();
        let braces = |at: usize| spans.iter().filter(|span| at.is_multiple_of(**span)).count();
        let mut rest = &binary[HEAD_LEN + 8 * depth..];
        let mut at = 0;
        while let Some((len, tail)) = rest.split_first_chunk() {
            if at > 0 {
                out.push(b',');
            }
            out.extend(std::iter::repeat_n(b'{', braces(at)));
            rest = match usize::try_from(i32::from_be_bytes(*len)) {
                Ok(len) => {
                    integers.write(&tail[..len], out);
                    &tail[len..]
                }
                Err(_) => {
                    out.extend_from_slice(b"NULL");
                    tail
                }
            };
            at += 1;
            out.extend(std::iter::repeat_n(b'}', braces(at)));
        }
    }

    /// Appends an element, its length in front.
    fn put<'a>(
        &'a self,
        text: &[u8],
        wanted: &'a str,
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'a>> {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        self.element.encode(text, out).map_err(|(code, element)| match code {
            Code::Type => (code, wanted),
            _ => (code, element),
        })?;
        let len = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&len.to_be_bytes());
        Ok(())
    }
}

#[derive(Debug)]
struct State {
    /// Braces that are open.
    depth: usize,
    /// The depth of all elements; `None` before the first.
    depth_max: Option<usize>,
    elements: usize,
    has_null: bool,
}

fn put_words(words: &[u32], out: &mut Vec<u8>) {
    out.extend(words.iter().flat_map(|word| word.to_be_bytes()));
}

/// Reads `[2:3][0:1]=`: how many bounds there are, and what follows. `None` where they aren't bounds.
fn bounds<'v>(value: &'v [u8], dimensions: &mut [Dimension]) -> Option<(usize, &'v [u8])> {
    let mut rest = trim_start(value);
    let mut count = 0;
    while let [b'[', inner @ ..] = rest {
        let close = memchr::memchr(b']', inner)?;
        let text = std::str::from_utf8(&inner[..close]).ok()?;
        let (lower, upper) = text.split_once(':').unwrap_or(("1", text));
        let (lower, upper) = (lower.parse::<i32>().ok()?, upper.parse::<i32>().ok()?);
        // The server wants a number behind the last.
        if upper < lower || upper == i32::MAX {
            return None;
        }
        let size = upper.checked_sub(lower)?.checked_add(1)?;
        *dimensions.get_mut(count)? = Dimension { lower, size: Some(size), count: 0 };
        count += 1;
        rest = &inner[close + 1..];
    }
    if count > 0 {
        rest = trim_start(rest).strip_prefix(b"=")?;
    }
    Some((count, rest))
}

/// Reads an element: its text, perhaps written out to `scratch`, and what follows.
fn item<'v>(b: &'v [u8], scratch: &mut Vec<u8>) -> Option<(Item<'v>, &'v [u8])> {
    scratch.clear();
    if let [b'"', inner @ ..] = b {
        let mut rest = inner;
        loop {
            let at = memchr::memchr2(b'"', b'\\', rest)?;
            if rest[at] == b'"' {
                let tail = &rest[at + 1..];
                if scratch.is_empty() && rest.len() == inner.len() {
                    return Some((Item::Plain(&rest[..at]), tail));
                }
                scratch.extend_from_slice(&rest[..at]);
                return Some((Item::Escaped, tail));
            }
            scratch.extend_from_slice(&rest[..at]);
            scratch.push(*rest.get(at + 1)?);
            rest = &rest[at + 2..];
        }
    }
    let end = b.iter().position(|byte| matches!(byte, b',' | b'{' | b'}' | b'"' | b'\\'))?;
    match b[end] {
        b',' | b'}' => {
            let blanks = b[..end].iter().rev().take_while(|byte| is_blank(**byte)).count();
            let text = &b[..end - blanks];
            let item = match text {
                [] => return None,
                text if text.eq_ignore_ascii_case(b"null") => Item::Null,
                text => Item::Plain(text),
            };
            Some((item, &b[end..]))
        }
        b'\\' => escaped(b, scratch).map(|rest| (Item::Escaped, rest)),
        _ => None,
    }
}

/// Writes out an element without quotes but with backslashes. Blanks at its end are not part of it, unless escaped.
fn escaped<'v>(mut b: &'v [u8], scratch: &mut Vec<u8>) -> Option<&'v [u8]> {
    let mut len = 0;
    loop {
        match b {
            [b',' | b'}', ..] => {
                scratch.truncate(len);
                return Some(b);
            }
            [b'\\', byte, rest @ ..] => {
                scratch.push(*byte);
                len = scratch.len();
                b = rest;
            }
            [b'{' | b'"', ..] | [] | [b'\\'] => return None,
            [byte, rest @ ..] => {
                scratch.push(*byte);
                if !is_blank(*byte) {
                    len = scratch.len();
                }
                b = rest;
            }
        }
    }
}
