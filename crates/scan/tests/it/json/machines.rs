//! The machines that read an input, and how their answers are compared. The fuzzer uses this file
//! too.

use inrush_scan::{
    JsonCutter, JsonFault, JsonKey, JsonKind, JsonLayout, JsonMember, JsonPart, JsonScanner,
    JsonValue, Tail, json_unescape,
};
use serde_json::Value;

use super::model::{Is, Row, judge, rows};

/// A record as the scanner gives it, values written out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scanned {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) next: usize,
    /// None for a blank line.
    pub(crate) kind: Option<JsonKind>,
    pub(crate) members: Vec<(Vec<u8>, JsonKind, Vec<u8>)>,
    pub(crate) fault: Option<JsonFault>,
}

/// All records, by the scanner alone.
pub(crate) fn scanned(layout: JsonLayout, part: JsonPart, bytes: &[u8]) -> Vec<Scanned> {
    let mut scanner = JsonScanner::new(layout, part, bytes);
    let junk = JsonMember {
        key: JsonKey { start: 9, end: 9, escaped: false },
        value: JsonValue { start: 9, end: 9, kind: JsonKind::Null },
    };
    let mut members = vec![junk; 3];
    let mut all: Vec<Scanned> = Vec::new();
    let mut keys: Vec<Vec<u8>> = Vec::new();
    while let Some(record) = scanner.next(&mut members) {
        assert!(record.start <= record.end && record.end <= record.next);
        assert!(record.next as usize <= bytes.len());
        assert!(all.last().is_none_or(|last| last.next <= record.start as usize));
        let is_good = record.fault.is_none() && !record.is_blank();
        let members: &[JsonMember] = if is_good { &members } else { &[] };
        let keys_before = std::mem::take(&mut keys);
        if record.kind == JsonKind::Object {
            keys.extend(members.iter().map(|member| member.key.raw(bytes).to_vec()));
        }
        let same = keys.iter().zip(&keys_before).take_while(|(now, before)| now == before).count();
        assert_eq!(record.same_keys as usize, same, "{}", bytes.escape_ascii());
        all.push(Scanned {
            start: record.start as usize,
            end: record.end as usize,
            next: record.next as usize,
            kind: is_good.then_some(record.kind),
            members: members.iter().map(|member| written_out(bytes, member)).collect(),
            fault: record.fault,
        });
    }
    assert!(scanner.next(&mut members).is_none());
    assert!(members.is_empty());
    all
}

fn written_out(bytes: &[u8], member: &JsonMember) -> (Vec<u8>, JsonKind, Vec<u8>) {
    let text = |raw: &[u8], escaped: bool| {
        assert_eq!(escaped, raw.contains(&b'\\'), "{}", raw.escape_ascii());
        let mut text = Vec::new();
        json_unescape(raw, &mut text);
        text
    };
    let (raw, kind) = (member.value.raw(bytes), member.value.kind);
    let value = match kind {
        JsonKind::String => text(raw, false),
        JsonKind::EscapedString => text(raw, true),
        _ => raw.to_vec(),
    };
    (text(member.key.raw(bytes), member.key.escaped), kind, value)
}

/// All records, by a reader that gets `step` bytes at a time and cuts chunks of about `goal` bytes.
pub(crate) fn scanned_in_chunks(
    layout: JsonLayout,
    bytes: &[u8],
    step: usize,
    goal: usize,
) -> Vec<Scanned> {
    let mut cutter = JsonCutter::new(layout);
    let mut all = Vec::new();
    let (mut start, mut end) = (0, 0);
    while start < bytes.len() {
        let tail = if end == bytes.len() { Tail::End } else { Tail::More };
        let buffer = &bytes[start..end];
        let Some(cut) = cutter.cut(buffer, goal, tail) else {
            assert!(tail == Tail::More, "an input that ends can be cut");
            end = (end + step).min(bytes.len());
            continue;
        };
        assert!(cut > 0 && cut <= buffer.len());
        let last = tail == Tail::End && cut == buffer.len();
        assert!(last == (start + cut == bytes.len()) || layout != JsonLayout::Array);
        let part = JsonPart { first: start == 0, last };
        let mut rows = scanned(layout, part, &buffer[..cut]);
        if cut > goal {
            // At a boundary behind the goal there can be one record only.
            let records = rows.iter().filter(|row| row.kind.is_some() || row.fault.is_some());
            assert!(records.count() <= 1 || tail == Tail::End, "{}", bytes.escape_ascii());
        }
        rows.iter_mut().for_each(|row| shift(row, start));
        all.extend(rows);
        start += cut;
    }
    all
}

fn shift(row: &mut Scanned, by: usize) {
    row.start += by;
    row.end += by;
    row.next += by;
    match &mut row.fault {
        None => {}
        Some(
            JsonFault::Expected { at, .. }
            | JsonFault::ControlCharacter { at }
            | JsonFault::Escape { at }
            | JsonFault::Number { at }
            | JsonFault::Depth { at }
            | JsonFault::Unclosed { at }
            | JsonFault::TextAfter { at },
        ) => *at += by as u32,
    }
}

/// Whether a scanned record is what the model says.
fn is_as_expected(bytes: &[u8], row: &Scanned, expected: &Row) -> bool {
    if (row.start, row.end, row.next) != (expected.start, expected.end, expected.next) {
        return false;
    }
    match &expected.is {
        Is::Unknown => true,
        Is::Blank => row.kind.is_none() && row.fault.is_none(),
        Is::Broken => {
            row.fault.is_some_and(|fault| (row.start..=row.end).contains(&(fault.at() as usize)))
        }
        Is::Whole(value) => match (row.kind, value) {
            (Some(JsonKind::Object), Value::Object(object)) => {
                // Of equal keys the last one counts there.
                let mut members = serde_json::Map::new();
                for (key, kind, text) in &row.members {
                    let key = String::from_utf8(key.clone()).expect("valid text");
                    members.insert(key, denoted(*kind, text));
                }
                members == *object
            }
            (Some(JsonKind::Array), Value::Array(array)) => {
                let elements = row.members.iter().map(|(_, kind, text)| denoted(*kind, text));
                elements.eq(array.iter().cloned())
            }
            (Some(kind), value) => {
                let raw = &bytes[row.start..row.end];
                let is_text = matches!(kind, JsonKind::String | JsonKind::EscapedString);
                let value_again = match judge(raw) {
                    Is::Whole(value) => value,
                    other => panic!("{other:?}"),
                };
                value_again == *value && is_text == value.is_string() && row.members.is_empty()
            }
            (None, _) => false,
        },
    }
}

/// What a value is, by its kind and what is written.
fn denoted(kind: JsonKind, text: &[u8]) -> Value {
    let parsed = || match judge(text) {
        Is::Whole(value) => value,
        other => panic!("{} is {other:?}", text.escape_ascii()),
    };
    match kind {
        JsonKind::Null => Value::Null,
        JsonKind::True => Value::Bool(true),
        JsonKind::False => Value::Bool(false),
        JsonKind::String | JsonKind::EscapedString => {
            Value::String(String::from_utf8(text.to_vec()).expect("valid text"))
        }
        JsonKind::Number => Some(parsed()).filter(Value::is_number).expect("a number"),
        JsonKind::Object => Some(parsed()).filter(Value::is_object).expect("an object"),
        JsonKind::Array => Some(parsed()).filter(Value::is_array).expect("an array"),
    }
}

/// Gives `bytes`, which are UTF-8, to scanner and model; the answer of both.
pub(crate) fn agreed(layout: JsonLayout, bytes: &[u8]) -> Vec<Scanned> {
    let all = scanned(layout, JsonPart::WHOLE, bytes);
    let expected = rows(layout, bytes);
    let is_as_expected = all.len() == expected.len()
        && all.iter().zip(&expected).all(|(row, expected)| is_as_expected(bytes, row, expected));
    assert!(
        is_as_expected,
        "{layout:?} {}\nscanner {all:#?}\nmodel {expected:#?}",
        bytes.escape_ascii()
    );
    // From any record's start on, as one looks a record up again.
    for row in &all {
        if row.kind.is_some() {
            let part = JsonPart { first: false, last: true };
            let again = scanned(layout, part, &bytes[row.start..]).swap_remove(0);
            assert_eq!(again.members, row.members);
        }
    }
    all
}

/// Reads in chunks of `goal` bytes that come `step` at a time, and expects `rows`.
pub(crate) fn expect_in_chunks(
    layout: JsonLayout,
    bytes: &[u8],
    step: usize,
    goal: usize,
    rows: &[Scanned],
) {
    let found = scanned_in_chunks(layout, bytes, step, goal);
    assert!(
        found == rows,
        "{layout:?}, {step} bytes at a time, chunks of {goal}, {}\nin chunks {found:#?}\nas a whole {rows:#?}",
        bytes.escape_ascii()
    );
}

/// As [`agreed`], and read in chunks of every size, coming in pieces of every size.
pub(crate) fn agreed_however_cut(layout: JsonLayout, bytes: &[u8]) -> Vec<Scanned> {
    let rows = agreed(layout, bytes);
    for step in 1..=bytes.len() {
        for goal in 0..=bytes.len() + 1 {
            expect_in_chunks(layout, bytes, step, goal, &rows);
        }
    }
    rows
}
