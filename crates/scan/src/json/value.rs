//! Values, checked: RFC 8259 to the letter.
//!
//! The functions take the offset of a value's first byte and give the one behind its last. With
//! `LINES` a `\n` is no white space and stands nowhere, so that a value ends with its line.
//!
//! What a fault says depends on the bytes before its place and, at its place, on nothing that a cut
//! there would change: a newline or the end of the bytes where something is missing.

use super::lanes::{digits_end, text_end};
use super::record::{JsonFault, JsonKind, JsonValue};
use super::text::hex4;

/// A scan that may find a fault.
pub(super) type Checked<T> = Result<T, JsonFault>;

/// Where white space from `at` on ends.
#[inline(always)]
pub(super) fn skip_space<const LINES: bool>(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(b' ' | b'\t' | b'\r' | b'\n') => skip_more_space::<LINES>(bytes, at),
        _ => at,
    }
}

/// What stands before each record of a text sequence (RFC 7464, section 2.1).
pub(super) const RECORD_SEPARATOR: u8 = 0x1e;

/// Where the next record begins, or the bytes end: behind white space, and behind what separates records of a text sequence.
#[inline(always)]
pub(super) fn skip_to_record<const LINES: bool>(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = skip_space::<LINES>(bytes, at);
        if bytes.get(at) != Some(&RECORD_SEPARATOR) {
            return at;
        }
        at += 1;
    }
}

#[inline(never)]
fn skip_more_space<const LINES: bool>(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_space::<LINES>(byte)) {
        at += 1;
    }
    at
}

#[inline(always)]
fn is_space<const LINES: bool>(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r') || (byte == b'\n' && !LINES)
}

/// A token is missing at `at`.
#[cold]
pub(super) fn expected(at: usize, what: &'static str) -> JsonFault {
    JsonFault::Expected { at: at as u32, what }
}

/// The string whose quote is at `at`: the offset of the closing quote, and whether there are
/// escapes.
#[inline(always)]
pub(super) fn string(bytes: &[u8], at: usize) -> Checked<(usize, bool)> {
    let end = text_end(bytes, at + 1);
    match bytes.get(end) {
        Some(b'"') => Ok((end, false)),
        _ => string_with_more(bytes, at, end),
    }
}

/// The rest of a string, from a byte that isn't plain text.
#[inline(never)]
fn string_with_more(bytes: &[u8], quote: usize, mut at: usize) -> Checked<(usize, bool)> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((at, true)),
            Some(b'\\') => at = text_end(bytes, escape(bytes, at)?),
            _ => return Err(unclosed_or_control(bytes, quote, at)),
        }
    }
}

/// What is wrong with a string that comes to a control character at `at`, or to the end of the bytes.
#[cold]
fn unclosed_or_control(bytes: &[u8], quote: usize, at: usize) -> JsonFault {
    // White space at the line's end isn't the record's any more, and may be cut off.
    match bytes.get(skip_space::<true>(bytes, at)) {
        Some(b'\n') | None => JsonFault::Unclosed { at: quote as u32 },
        Some(_) => JsonFault::ControlCharacter { at: at as u32 },
    }
}

/// The escape whose backslash is at `at`.
fn escape(bytes: &[u8], at: usize) -> Checked<usize> {
    let fault = JsonFault::Escape { at: at as u32 };
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => return Ok(at + 2),
        Some(b'u') => {}
        _ => return Err(fault),
    }
    match hex4(&bytes[at + 2..]).ok_or(fault)? {
        0xd800..=0xdbff => {
            let low = bytes.get(at + 6..).and_then(|rest| rest.strip_prefix(b"\\u"));
            match low.and_then(hex4) {
                Some(0xdc00..=0xdfff) => Ok(at + 12),
                _ => Err(fault),
            }
        }
        0xdc00..=0xdfff => Err(fault),
        _ => Ok(at + 6),
    }
}

/// The number at `at`, where a `-` or a digit stands.
#[inline(always)]
fn number(bytes: &[u8], at: usize) -> Checked<usize> {
    let mut end = at + usize::from(bytes[at] == b'-');
    match bytes.get(end) {
        Some(b'1'..=b'9') => end = digits_end(bytes, end + 1),
        Some(b'0') if !bytes.get(end + 1).is_some_and(u8::is_ascii_digit) => end += 1,
        _ => return Err(JsonFault::Number { at: at as u32 }),
    }
    if bytes.get(end) == Some(&b'.') {
        end = some_digits(bytes, at, end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = some_digits(bytes, at, end + 1 + usize::from(sign))?;
    }
    Ok(end)
}

/// At least one digit of `number`, at `at`.
#[inline(always)]
fn some_digits(bytes: &[u8], number: usize, at: usize) -> Checked<usize> {
    match digits_end(bytes, at) {
        end if end > at => Ok(end),
        _ => Err(JsonFault::Number { at: number as u32 }),
    }
}

/// The value at `at`, which is inside as many arrays and objects as `depth`; also the offset behind
/// it, of a string behind its quote.
#[inline(always)]
pub(super) fn value<const LINES: bool>(
    bytes: &[u8],
    at: usize,
    depth: usize,
) -> Checked<(JsonValue, usize)> {
    match bytes.get(at) {
        Some(b'{') => nested::<LINES>(bytes, at, depth).map(|end| found(at, end, JsonKind::Object)),
        Some(b'[') => nested::<LINES>(bytes, at, depth).map(|end| found(at, end, JsonKind::Array)),
        _ => scalar(bytes, at),
    }
}

#[inline(always)]
fn found(start: usize, end: usize, kind: JsonKind) -> (JsonValue, usize) {
    (JsonValue { start: start as u32, end: end as u32, kind }, end)
}

/// [`value`] for one that is neither object nor array.
#[inline(always)]
pub(super) fn scalar(bytes: &[u8], at: usize) -> Checked<(JsonValue, usize)> {
    match bytes.get(at) {
        Some(b'"') => {
            let (end, escaped) = string(bytes, at)?;
            let kind = if escaped { JsonKind::EscapedString } else { JsonKind::String };
            Ok((found(at + 1, end, kind).0, end + 1))
        }
        Some(b'-' | b'0'..=b'9') => Ok(found(at, number(bytes, at)?, JsonKind::Number)),
        _ => literal(bytes, at),
    }
}

#[inline(always)]
fn literal(bytes: &[u8], at: usize) -> Checked<(JsonValue, usize)> {
    let rest = &bytes[at..];
    if rest.starts_with(b"null") {
        Ok(found(at, at + 4, JsonKind::Null))
    } else if rest.starts_with(b"true") {
        Ok(found(at, at + 4, JsonKind::True))
    } else if rest.starts_with(b"false") {
        Ok(found(at, at + 5, JsonKind::False))
    } else {
        Err(expected(at, "a value"))
    }
}

/// The arrays and objects that are open: a bit each, set for an object.
#[derive(Clone, Copy)]
struct Open {
    objects: u128,
    count: usize,
}

impl Open {
    fn is_object(self) -> bool {
        self.objects & 1 != 0
    }
}

/// The object or array at `at`, inside of `depth` others.
#[inline(never)]
fn nested<const LINES: bool>(bytes: &[u8], mut at: usize, depth: usize) -> Checked<usize> {
    const { assert!(JsonFault::DEPTH_MAX < 128, "a bit for each that is open") };
    let mut open = Open { objects: 0, count: 0 };
    loop {
        // At an opening bracket.
        if depth + open.count >= JsonFault::DEPTH_MAX {
            return Err(JsonFault::Depth { at: at as u32 });
        }
        let is_object = bytes[at] == b'{';
        open.objects = open.objects << 1 | u128::from(is_object);
        open.count += 1;
        at = skip_space::<LINES>(bytes, at + 1);
        let closing = if is_object { b'}' } else { b']' };
        let mut is_whole = bytes.get(at) == Some(&closing);
        if !is_whole {
            at = to_value::<LINES>(bytes, at, open.is_object(), true)?;
        }
        // At a value, or at the closing bracket.
        loop {
            if is_whole {
                at += 1;
                open.objects >>= 1;
                open.count -= 1;
                if open.count == 0 {
                    return Ok(at);
                }
            } else if let Some(b'{' | b'[') = bytes.get(at) {
                break;
            } else {
                at = scalar(bytes, at)?.1;
            }
            at = skip_space::<LINES>(bytes, at);
            is_whole = match (bytes.get(at), open.is_object()) {
                (Some(b'}'), true) | (Some(b']'), false) => true,
                (Some(b','), is_object) => {
                    at = skip_space::<LINES>(bytes, at + 1);
                    at = to_value::<LINES>(bytes, at, is_object, false)?;
                    false
                }
                (_, is_object) => return Err(separator_missing(at, is_object)),
            };
        }
    }
}

/// What is wrong where neither a comma nor the closing bracket follows a value.
#[cold]
pub(super) fn separator_missing(at: usize, is_object: bool) -> JsonFault {
    expected(at, if is_object { "a comma or }" } else { "a comma or ]" })
}

/// From a member or element to its value: over the key, in an object.
#[inline(always)]
fn to_value<const LINES: bool>(
    bytes: &[u8],
    at: usize,
    is_object: bool,
    first: bool,
) -> Checked<usize> {
    if is_object { Ok(key::<LINES>(bytes, at, first)?.2) } else { Ok(at) }
}

/// The key at `at`: where its closing quote is, whether it has escapes, and where the value starts.
#[inline(always)]
pub(super) fn key<const LINES: bool>(
    bytes: &[u8],
    at: usize,
    first: bool,
) -> Checked<(usize, bool, usize)> {
    if bytes.get(at) != Some(&b'"') {
        return Err(expected(at, if first { "a key in quotes or }" } else { "a key in quotes" }));
    }
    let (end, escaped) = string(bytes, at)?;
    let colon = skip_space::<LINES>(bytes, end + 1);
    if bytes.get(colon) != Some(&b':') {
        return Err(expected(colon, "a colon"));
    }
    Ok((end, escaped, skip_space::<LINES>(bytes, colon + 1)))
}
