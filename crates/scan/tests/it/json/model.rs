//! What the layouts' rules say, byte by byte, and `serde_json` to say what a value is. The fuzzer
//! uses this file too.

use inrush_scan::JsonLayout;

/// A record, or a blank line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) next: usize,
    pub(crate) is: Is,
}

/// What a record is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Is {
    Blank,
    Broken,
    Whole(serde_json::Value),
    /// Whole perhaps: `serde_json` can't tell, because a number is out of its range.
    Unknown,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| is_space(byte))
}

/// Whether there is nothing but white space, and what stands before records of a text sequence.
fn is_before_record(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| is_space(byte) || byte == SEPARATOR)
}

const SEPARATOR: u8 = 0x1e;

/// What `bytes` are, if nothing but one record.
pub(crate) fn judge(bytes: &[u8]) -> Is {
    match serde_json::from_slice(bytes) {
        Ok(value) => Is::Whole(value),
        // It gives up at a number that no double is near to, and has to be asked without values.
        Err(error)
            if error.to_string().starts_with("number out of range")
                && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok() =>
        {
            Is::Unknown
        }
        Err(_) => Is::Broken,
    }
}

/// The record between two offsets, without the white space around it.
fn row(bytes: &[u8], start: usize, end: usize, next: usize, is_separated: bool) -> Row {
    let spaces = |text: &[u8]| text.iter().take_while(|&&byte| is_space(byte)).count();
    let start = start + spaces(&bytes[start..end]);
    let reversed: Vec<u8> = bytes[start..end].iter().rev().copied().collect();
    let text = &bytes[start..end - spaces(&reversed)];
    let is = if is_separated { judge(text) } else { Is::Broken };
    Row { start, end: start + text.len(), next, is }
}

/// All records.
pub(crate) fn rows(layout: JsonLayout, bytes: &[u8]) -> Vec<Row> {
    match layout {
        JsonLayout::Lines => lines(bytes),
        JsonLayout::Array => elements(bytes),
        JsonLayout::Values => values(bytes),
    }
}

fn lines(bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let next = start + line.len();
        let end = next - usize::from(line.ends_with(b"\n"));
        let first = line.iter().position(|byte| !is_before_record(&[*byte]));
        rows.push(match first {
            None => Row { start: end, end, next, is: Is::Blank },
            Some(first) => row(bytes, start + first, end, next, true),
        });
        start = next;
    }
    rows
}

fn elements(bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let space = |at: usize| at + bytes[at..].iter().take_while(|&&byte| is_space(byte)).count();
    let broken = |start: usize, end: usize| Row { start, end, next: bytes.len(), is: Is::Broken };
    if bytes.is_empty() {
        return rows;
    }
    let mut at = space(0);
    let mut has_bracket = bytes.get(at) == Some(&b'[');
    if has_bracket {
        at = space(at + 1);
        if bytes.get(at) == Some(&b']') && is_blank(&bytes[at + 1..]) {
            return rows;
        }
    }
    loop {
        if at == bytes.len() {
            rows.push(broken(at, at));
            return rows;
        }
        if bytes[at] == b']' && is_blank(&bytes[at + 1..]) && has_bracket {
            rows.push(broken(at, at + 1));
            return rows;
        }
        let (end, next, by) = walk(bytes, at, indent(bytes, at, rows.is_empty()), true);
        let is_separated = matches!(by, By::Comma | By::Close) && has_bracket;
        rows.push(row(bytes, at, end, next, is_separated));
        has_bracket = true;
        if matches!(by, By::Close | By::Input) {
            return rows;
        }
        at = space(next);
    }
}

fn values(bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|&&byte| is_before_record(&[byte])).count();
        if at == bytes.len() {
            return rows;
        }
        let end = if matches!(bytes[at], b'{' | b'[') {
            walk(bytes, at, indent(bytes, at, false), false).0
        } else {
            scalar_end(bytes, at)
        };
        rows.push(row(bytes, at, end, end, true));
        at = end;
    }
}

/// The first place where white space comes and what is before it is a value, or the line's end.
fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let line = bytes[start..].iter().position(|&byte| byte == b'\n');
    let line_end = line.map_or(bytes.len(), |length| start + length);
    let is_end = |&end: &usize| {
        (end == bytes.len() || is_space(bytes[end])) && judge(&bytes[start..end]) != Is::Broken
    };
    (start + 1..line_end).find(is_end).unwrap_or(line_end)
}

enum By {
    Itself,
    Comma,
    Close,
    Input,
}

/// Where the record at `start` ends without and with its separator, and what ends it.
fn walk(bytes: &[u8], start: usize, indent: usize, is_element: bool) -> (usize, usize, By) {
    let mut open: Vec<u8> = Vec::new();
    let mut more = 0;
    let (mut in_string, mut escaped) = (false, false);
    for at in start..bytes.len() {
        let literal = std::mem::take(&mut escaped);
        match bytes[at] {
            b'\n' => in_string = false,
            b'\\' => escaped = !literal,
            b'"' if !literal => in_string = !in_string,
            _ if in_string => {}
            b',' if open.is_empty() && is_element => return (at, at + 1, By::Comma),
            b'}' | b']' if more > 0 => more -= 1,
            b'{' => {
                let innermost = open.last().copied().unwrap_or(b'{');
                if at > start
                    && more == 0
                    && let Some(end) = before_fresh_start(bytes, at, indent, innermost, is_element)
                {
                    return (end, end, By::Itself);
                }
                if open.len() < 128 { open.push(b'{') } else { more += 1 }
            }
            b'[' if open.len() == 128 => more += 1,
            b'[' => open.push(b'['),
            byte @ (b'}' | b']') => {
                if byte == b']' && open.is_empty() && is_blank(&bytes[at + 1..]) {
                    return (at, bytes.len(), By::Close);
                }
                let opening = if byte == b'}' { b'{' } else { b'[' };
                if let Some(index) = open.iter().rposition(|&bracket| bracket == opening) {
                    open.truncate(index);
                }
                if open.is_empty() && !is_element {
                    return (at + 1, at + 1, By::Itself);
                }
            }
            _ => {}
        }
    }
    (bytes.len(), bytes.len(), By::Input)
}

/// How far the record at `start` is indented.
fn indent(bytes: &[u8], start: usize, is_first_element: bool) -> usize {
    let line = bytes[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let starts_line = line > 0 && is_before_record(&bytes[line..start]);
    if starts_line || is_first_element { start - line } else { 0 }
}

/// Where the text before the `{` at `at` ends, if that starts a line and can be no value there.
fn before_fresh_start(
    bytes: &[u8],
    at: usize,
    indent: usize,
    innermost: u8,
    is_element: bool,
) -> Option<usize> {
    let at = at - usize::from(!is_element && bytes[at - 1] == SEPARATOR);
    let line = bytes[..at].iter().rposition(|&byte| byte == b'\n')? + 1;
    let end = bytes[..line].iter().rposition(|&byte| !is_space(byte))? + 1;
    let before = bytes[end - 1];
    let can_stand = if innermost == b'{' { before == b':' } else { b",[".contains(&before) };
    (is_blank(&bytes[line..at]) && at - line <= indent && !can_stand).then_some(end)
}
