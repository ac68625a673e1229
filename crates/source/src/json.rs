//! Inputs of JSON: how they are laid out, and what their columns are.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use inrush_scan::Tail;
use inrush_scan::json::{
    JsonCutter, JsonFault, JsonKind, JsonLayout, JsonMember, JsonPart, JsonScanner, json_lines,
    json_unescape,
};

use std::sync::atomic::AtomicBool;

use crate::head::{self, HEAD_BYTES, Head};
use crate::header::named;
use crate::infer::{Observed, Spot};
use crate::sample::{Sample, bad, record_bytes, records};
use crate::{Input, Source};
use inrush_core::cut::{ChunkReader, Next};
use inrush_core::encode::{
    Encode, Encoded, Grammar, Json, fault_words, inner, objects_around, push_name,
};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Chunk, Meter, Origin, Part};
use inrush_core::reading::Readers;
use inrush_core::wording::shell_word;
use inrush_core::{
    ColumnRequest, DialectRequest, FieldFacts, Format, MissingColumns, NewColumns, Nulls,
    SourceFacts, Type,
};
use inrush_place::some_of;
use inrush_store::Pipe;

/// Records that are looked at to tell one layout from another.
const LAYOUT_RECORDS: usize = 100;

/// Endings of names that no JSON has.
const OTHERS: [&str; 6] = ["csv", "tsv", "tab", "txt", "psv", "dat"];

/// Endings that promise a row a line.
fn has_lines(extension: &str) -> bool {
    matches!(extension, "jsonl" | "ndjson")
}

fn is_named(extension: &str) -> bool {
    matches!(extension, "jsonl" | "ndjson" | "json")
}

/// Whether an input may be JSON, by the user's word and the name's ending.
fn may_be(request: &DialectRequest, extension: &str) -> bool {
    match request.format {
        Some(Format::Jsonl | Format::Json) => true,
        Some(_) => false,
        None => is_named(extension) || !OTHERS.contains(&extension) && request.delimiter.is_none(),
    }
}

/// How the text is laid out, if it is JSON at all: by the user's word, the name's ending, or its first bytes.
pub(super) fn layout(
    text: &[u8],
    is_whole: bool,
    request: &DialectRequest,
    extension: &str,
) -> Option<JsonLayout> {
    if !may_be(request, extension) {
        return None;
    }
    let is_told = is_named(extension) || request.format.is_some();
    match starts(text).first() {
        Some(b'{' | b'[') => {}
        // Told to be JSON, whatever it begins with is a record, if a broken one.
        _ => return is_told.then_some(JsonLayout::Lines),
    }
    // As a row it would have no values.
    if is_whole && is_empty_array(text) {
        return Some(JsonLayout::Array);
    }
    let are_lines = has_lines(extension) || request.format == Some(Format::Jsonl);
    let (good, read) = good(text, is_whole, JsonLayout::Lines, are_lines);
    // Lone carriage returns end lines, as in CSV, where there are no newlines; between records they are white space.
    let has_lines = memchr::memchr(b'\n', text).is_some() || memchr::memchr(b'\r', text).is_none();
    // A line of its own for each record, except for a broken one here and there.
    if good * 2 > read
        || has_lines
            && (extension == "ndjson" || extension == "jsonl" && starts(text).starts_with(b"{"))
    {
        return (is_told || good > 0).then_some(JsonLayout::Lines);
    }
    // A text sequence may be of arrays.
    let layout = match text.trim_ascii_start().first() {
        Some(b'[') => JsonLayout::Array,
        _ => JsonLayout::Values,
    };
    (is_told || self::good(text, is_whole, layout, false).0 > 0).then_some(layout)
}

/// The text from its first record on: behind white space, and what stands before the records of a text sequence (RFC 7464).
fn starts(text: &[u8]) -> &[u8] {
    let is_before = |byte: &u8| byte.is_ascii_whitespace() || *byte == RECORD_SEPARATOR;
    &text[text.iter().take_while(|byte| is_before(byte)).count()..]
}

const RECORD_SEPARATOR: u8 = 0x1e;

/// Whether an array without elements is all of the text: one of no rows.
fn is_empty_array(text: &[u8]) -> bool {
    let inside = text.trim_ascii().strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
    inside.is_some_and(|inside| inside.trim_ascii().is_empty())
}

/// Whether the text is JSON under a name that says otherwise: each of its first records is an object, or an array in an array.
pub(super) fn is_hidden(
    text: &[u8],
    is_whole: bool,
    request: &DialectRequest,
    extension: &str,
) -> bool {
    let starts = starts(text);
    let is_likely = starts.first() == Some(&b'{')
        || starts
            .strip_prefix(b"[")
            .is_some_and(|inside| matches!(inside.trim_ascii_start().first(), Some(b'{' | b'[')));
    let layout = match OTHERS.contains(&extension) && is_likely {
        true => layout(text, is_whole, request, ""),
        false => None,
    };
    layout.is_some_and(|layout| {
        let (good, read) = good(text, is_whole, layout, false);
        good == read
    })
}

/// Whether the text begins with an object of JSON that goes on behind its first line: lines are no records of their own.
pub(super) fn is_object_in_lines(text: &[u8], request: &DialectRequest, extension: &str) -> bool {
    let starts = || {
        let inside = self::starts(text).strip_prefix(b"{")?;
        inside.trim_ascii_start().first().copied()
    };
    may_be(request, extension) && !has_lines(extension) && starts() == Some(b'"') && {
        let (good, read) = good(text, false, JsonLayout::Lines, false);
        good * 2 <= read
    }
}

/// Rows within an object, which is all of the text, as answers of services and GeoJSON have them: the filter of `jq` that makes lines of
/// them, and what they are.
fn rows_inside(text: &[u8], layout: JsonLayout) -> Option<(String, String)> {
    let members = only_object(text, layout)?;
    let (filter, key) = list_of(b'{', text, &members, LISTS_DEPTH_MAX)
        .map(|(filter, key)| (filter, format!("objects in its list {key}")))
        .or_else(|| {
            // Deeper ones may be coordinates, or rows of a matrix.
            let (filter, key) = list_of(b'[', text, &members, 1)?;
            Some((filter, format!("arrays in its list {key}")))
        })
        .or_else(|| {
            let mut keys = members.iter().map(|member| {
                let inner = only_object(member.value.raw(text), JsonLayout::Values)?;
                let text = member.value.raw(text);
                Some(inner.iter().map(|member| member.key.raw(text).to_vec()).collect::<Vec<_>>())
            });
            let first = keys.next().flatten().filter(|first| !first.is_empty())?;
            let are_alike = members.len() > 1
                && keys.all(|keys| keys.as_ref().is_some_and(|keys| *keys == first));
            are_alike.then(|| match are_positions(&first) {
                true => transposed(),
                false => with_key(&first),
            })
        })
        .or_else(|| are_columns(text, &members).then(of_columns))?;
    Some((filter, key))
}

/// Whether these are 0, 1, 2 and so on.
fn are_positions(members: &[Vec<u8>]) -> bool {
    members.iter().enumerate().all(|(at, member)| *member == at.to_string().as_bytes())
}

/// The filter of `jq` that makes rows of an object's columns, each an object with the rows' positions, as pandas' `to_json()` writes them.
fn transposed() -> (String, String) {
    (
        ". as $o | ($o[keys_unsorted[0]] | keys_unsorted[]) as $row | map_values(.[$row])"
            .to_owned(),
        "rows, of which it has the columns".to_owned(),
    )
}

/// Whether an object has nothing but lists, several of them, and all of the same length, which is more than one.
fn are_columns(text: &[u8], members: &[JsonMember]) -> bool {
    let mut lengths = members.iter().map(|member| length_of(member.value.raw(text)));
    let first = lengths.next().flatten();
    members.len() > 1
        && first.is_some_and(|length| length > 1)
        && lengths.all(|length| length == first)
}

/// How many elements a list has.
fn length_of(list: &[u8]) -> Option<usize> {
    let mut scanner = JsonScanner::new(JsonLayout::Values, JsonPart::WHOLE, list);
    let mut elements = Vec::new();
    let record = scanner.next(&mut elements)?;
    (record.fault.is_none() && record.kind == JsonKind::Array).then_some(elements.len())
}

/// The filter of `jq` that makes rows of an object's columns, each a list, as `to_dict("list")` of pandas has them.
fn of_columns() -> (String, String) {
    (
        "range(.[keys_unsorted[0]] | length) as $row | map_values(.[$row])".to_owned(),
        "rows, of which it has the columns as lists".to_owned(),
    )
}

/// The filter of `jq` that makes rows of the objects in an object, each with its key there besides its own members.
fn with_key(members: &[Vec<u8>]) -> (String, String) {
    let is_free = |name: &String| members.iter().all(|member| member != name.as_bytes());
    let names = (1..).map(|n| if n == 1 { "key".to_owned() } else { format!("key_{n}") });
    let name = names.into_iter().find(is_free).unwrap_or_default();
    (
        format!("to_entries[] | {{{name}: .key}} + .value"),
        format!("objects in it, with the name of each as {name}"),
    )
}

/// What to say of `jq` besides, which before version 1.7 makes doubles of numbers: where the text has one with more digits than that.
pub(super) fn of_jq(text: &[u8]) -> &'static str {
    match has_long_numbers(text) {
        true => " (by jq 1.7 or later: earlier ones change its long numbers)",
        false => "",
    }
}

/// Whether a number has more digits than a double keeps.
fn has_long_numbers(mut text: &[u8]) -> bool {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    while let Some(at) = text.iter().position(|byte| *byte == b'"' || byte.is_ascii_digit()) {
        text = &text[at..];
        if text[0] == b'"' {
            let mut end = 1;
            while let Some(found) =
                memchr::memchr2(b'"', b'\\', text.get(end..).unwrap_or_default())
            {
                end += found + 1;
                if text[end - 1] == b'"' {
                    break;
                }
                end += 1;
            }
            text = match text.get(end..) {
                Some(behind) if end > 1 => behind,
                _ => return false,
            };
            continue;
        }
        let len = text.iter().position(|byte| !is_of_number(byte)).unwrap_or(text.len());
        // Fifteen digits any double keeps.
        if len > 15 && str::from_utf8(&text[..len]).is_ok_and(|number| !is_kept(number)) {
            return true;
        }
        text = &text[len..];
    }
    false
}

/// Whether the nearest double has the digits of a number.
fn is_kept(number: &str) -> bool {
    let digits = |number: &str| {
        let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').to_owned()
    };
    number.parse::<f64>().is_ok_and(|double| digits(&format!("{double:e}")) == digits(number))
}

/// How deep a list is looked for.
const LISTS_DEPTH_MAX: usize = 4;

/// The first list of what begins so, those of an object before those of the objects in it: the filter of `jq` for what is in it, and its
/// key.
fn list_of(
    first: u8,
    text: &[u8],
    members: &[JsonMember],
    depth_max: usize,
) -> Option<(String, String)> {
    let key_of = |member: &JsonMember| {
        let mut key = Vec::new();
        json_unescape(member.key.raw(text), &mut key);
        String::from_utf8(key).ok()
    };
    let is_list = |member: &&JsonMember| {
        let list = member.value.raw(text);
        let inside = list.strip_prefix(b"[");
        inside.is_some_and(|inside| inside.trim_ascii_start().first() == Some(&first))
            && (first != b'[' || are_rows(list))
    };
    if let Some(list) = members.iter().find(is_list) {
        let key = key_of(list)?;
        return Some((format!("{}[]", selected("", &key)), key));
    }
    members.iter().filter(|_| depth_max > 1).find_map(|member| {
        let inside = member.value.raw(text);
        let inner = only_object(inside, JsonLayout::Values)?;
        let (filter, key) = list_of(first, inside, &inner, depth_max - 1)?;
        Some((selected(&filter, &key_of(member)?), key))
    })
}

/// Whether all elements of a list are arrays, of one length.
fn are_rows(list: &[u8]) -> bool {
    let mut scanner = JsonScanner::new(JsonLayout::Array, JsonPart::WHOLE, list);
    let mut elements = Vec::new();
    let mut length = None;
    while let Some(record) = scanner.next(&mut elements) {
        let is_row = record.fault.is_none() && record.kind == JsonKind::Array;
        if !record.is_blank()
            && (!is_row || *length.get_or_insert(elements.len()) != elements.len())
        {
            return false;
        }
    }
    true
}

/// The filter of `jq` that selects a member, before another one.
fn selected(behind: &str, key: &str) -> String {
    let behind = behind.strip_prefix(".[\"").map_or(behind.to_owned(), |rest| format!("[\"{rest}"));
    let is_plain = key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    match is_plain && !key.is_empty() {
        true => format!(".{key}{behind}"),
        false => format!(".[{}]{behind}", serde_json::Value::from(key)),
    }
}

/// The members of an object that is all of the text.
fn only_object(text: &[u8], layout: JsonLayout) -> Option<Vec<JsonMember>> {
    let mut scanner = JsonScanner::new(layout, JsonPart::WHOLE, text);
    let (mut members, mut others) = (Vec::new(), Vec::new());
    scanner.next(&mut members).filter(|record| {
        record.kind == JsonKind::Object && record.fault.is_none() && layout != JsonLayout::Array
    })?;
    while let Some(record) = scanner.next(&mut others) {
        if !record.is_blank() {
            return None;
        }
    }
    Some(members)
}

/// Of the first records in this layout, how many are objects, or arrays that may be rows, without a fault; and how many there are.
/// `are_lines` where the user or the name says that each line is a row.
fn good(text: &[u8], is_whole: bool, layout: JsonLayout, are_lines: bool) -> (usize, usize) {
    let tail = if is_whole { Tail::End } else { Tail::More };
    let Some(end) = JsonCutter::new(layout).cut(text, text.len(), tail) else { return (0, 1) };
    let part = JsonPart { first: true, last: is_whole && end == text.len() };
    let mut scanner = JsonScanner::new(layout, part, &text[..end]);
    let mut members = Vec::new();
    let (mut good, mut read, mut around) = (0, 0, 0);
    while read < LAYOUT_RECORDS
        && let Some(record) = scanner.next(&mut members)
    {
        if record.is_blank() {
            continue;
        }
        read += 1;
        let is = |kind| move |member: &JsonMember| member.value.kind == kind;
        let all = |kind| !members.is_empty() && members.iter().all(is(kind));
        let is_row = match record.kind {
            JsonKind::Object => true,
            // An array of nothing but objects is one of rows, unless it is told to be a row.
            JsonKind::Array => are_lines || !all(JsonKind::Object),
            _ => false,
        };
        let is_good = record.fault.is_none() && is_row;
        good += usize::from(is_good);
        let holds_rows = members.iter().any(is(JsonKind::Object)) || all(JsonKind::Array);
        around += usize::from(is_good && record.kind == JsonKind::Array && holds_rows);
    }
    // The only line of a file is not a record if it is an array that holds objects, or nothing but arrays: they are.
    if layout == JsonLayout::Lines && read == 1 { (good - around, read) } else { (good, read) }
}

/// What to do with commas between objects that are in no array.
const TAKE_OUT_COMMAS: &str = "take out the commas behind the records: sed 's/,[[:space:]]*$//'";

/// Whether the first record is an object, and a comma stands behind it.
fn has_commas(text: &[u8]) -> bool {
    let mut scanner = JsonScanner::new(JsonLayout::Values, JsonPart::WHOLE, text);
    let mut members = Vec::new();
    let first = scanner.next(&mut members).filter(|record| record.kind == JsonKind::Object);
    first.is_some_and(|record| {
        let behind = text.get(record.end as usize..).unwrap_or_default();
        record.fault.is_none() && behind.trim_ascii_start().first() == Some(&b',')
    })
}

/// What to say where an option is about the columns of several files: those of JSON have none but the members of all their records, and
/// one that no record has may be one that is NULL in all of them.
fn unheeded(columns: &ColumnRequest) -> Option<String> {
    let said = match columns {
        ColumnRequest { missing: Some(MissingColumns::Fail), .. } => "--missing-columns fail",
        ColumnRequest { new: NewColumns::Ignore, .. } => "--new-columns ignore",
        _ => return None,
    };
    Some(format!(
        "{said} is for the columns of an existing table: files of JSON have no header, and the members of all of them are loaded"
    ))
}

/// Which inputs are empty arrays beside others.
fn empty_arrays(heads: &[Head]) -> Option<String> {
    let is_empty = |head: &&Head| head.whole && is_empty_array(head.body());
    let empty: Vec<String> =
        heads.iter().filter(is_empty).map(|head| head.input.name.clone()).collect();
    let words = if empty.len() == 1 { "is an empty array" } else { "are empty arrays" };
    (!empty.is_empty() && empty.len() < heads.len())
        .then(|| format!("{} {words}: no rows", some_of(&empty)))
}

/// Why there are no columns: none of the records that were looked at is whole, or an object.
fn without_columns(head: &Head, layout: JsonLayout) -> Error {
    let name = &head.input.name;
    let text = &head.text[head.input.body_at as usize..];
    let part = JsonPart { first: true, last: head.whole };
    let mut scanner = JsonScanner::new(layout, part, text);
    let mut members = Vec::new();
    let record = std::iter::from_fn(|| scanner.next(&mut members)).find(|one| !one.is_blank());
    let broken = record.and_then(|record| Some((record, record.fault?)));
    let Some((record, fault)) = broken else {
        let is_row = |kind| matches!(kind, JsonKind::Object | JsonKind::Array);
        let (what, advice) = match record {
            Some(record) if is_row(record.kind) && members.is_empty() => {
                ("has nothing in its objects", "check that it is the file you mean")
            }
            Some(record) if is_row(record.kind) => (
                "has no member with a name that a column can have",
                "name them otherwise: a name is UTF-8 without U+0000",
            ),
            _ => ("holds no object", "check that it is the file you mean"),
        };
        return Error::source(format!("{name} {what}, so there are no columns")).advise(advice);
    };
    let line = head.input.lines_before + json_lines(&text[..record.start as usize]) + 1;
    let words = fault_words(&fault, &record, text);
    let error = Error::source(format!(
        "{name} holds no whole object, so there are no columns: line {line}: {words}"
    ))
    .about(name);
    let behind = text.get(fault.at() as usize..).unwrap_or_default().trim_ascii_start().first();
    let of_jq = of_jq(text);
    let of_arrays = format!("make lines of the objects of all its arrays: jq -c '.[]'{of_jq}");
    let advice = match (text.trim_ascii_start().first(), fault, behind) {
        (Some(b'{' | b'['), JsonFault::TextAfter { .. }, Some(b',')) => TAKE_OUT_COMMAS,
        (Some(b'['), JsonFault::Expected { .. }, Some(b']')) => &of_arrays,
        (Some(b'{' | b'['), ..) => "fix that record, or check that it is the file you mean",
        _ => "if it is delimited text, say --format csv",
    };
    error.advise(advice.to_owned())
}

/// Whether records are arrays: the first that is an array or an object decides.
fn are_arrays(head: &Head, layout: JsonLayout) -> Option<bool> {
    let text = &head.text[head.input.body_at as usize..];
    let mut scanner = JsonScanner::new(layout, JsonPart { first: true, last: head.whole }, text);
    let mut members = Vec::new();
    while let Some(record) = scanner.next(&mut members) {
        match (record.fault, record.kind) {
            _ if record.is_blank() => {}
            (None, JsonKind::Object) => return Some(false),
            (None, JsonKind::Array) => return Some(true),
            _ => {}
        }
    }
    None
}

/// Whether the first of the records, which are arrays, could name the columns: it holds strings only, and no two of them are
/// equal, where others hold numbers or booleans.
fn starts_with_names(text: &[u8], is_whole: bool, layout: JsonLayout) -> bool {
    let mut scanner = JsonScanner::new(layout, JsonPart { first: true, last: is_whole }, text);
    let (mut members, mut read) = (Vec::new(), 0);
    while read < LAYOUT_RECORDS
        && let Some(record) = scanner.next(&mut members)
    {
        if record.is_blank() || record.fault.is_some() {
            continue;
        }
        read += 1;
        let is_string = |member: &JsonMember| {
            matches!(member.value.kind, JsonKind::String | JsonKind::EscapedString)
        };
        if read == 1 {
            let names: HashSet<&[u8]> =
                members.iter().map(|member| member.value.raw(text)).collect();
            if names.len() != members.len() || !members.iter().all(is_string) {
                return false;
            }
        } else if members.iter().any(|member| {
            matches!(member.value.kind, JsonKind::Number | JsonKind::True | JsonKind::False)
        }) {
            return true;
        }
    }
    false
}

impl Source {
    /// Opens inputs of JSON. `known` are the columns of the table, if it is there.
    pub(super) fn open_json(
        mut heads: Vec<Head>,
        layouts: Vec<JsonLayout>,
        request: &DialectRequest,
        read: &Readers,
        known: Option<&[String]>,
        pipe: Option<Pipe>,
        abandoned: Arc<AtomicBool>,
    ) -> Result<(Self, SourceFacts)> {
        if let Some(option) = request.delimited_option() {
            let name = &heads[0].input.name;
            return Err(Error::usage(format!(
                "{option} is for delimited text, and {name} is JSON"
            ))
            .advise("say --format csv if it isn't"));
        }
        for head in &mut heads {
            let body_at = head.body_start();
            head.input.body_at = body_at as u64;
            head.input.lines_before = json_lines(&head.text[..body_at]);
        }
        let body = |head: &Head| head.input.body_at as usize;
        // An input without rows says nothing of those of others.
        let mut are_arrays =
            heads.iter().zip(&layouts).map(|(head, layout)| are_arrays(head, *layout));
        let is_positional = are_arrays.find_map(|are_arrays| are_arrays).unwrap_or(false);
        let json = Json {
            layouts,
            arrays: is_positional,
            places: HashMap::new(),
            objects: HashSet::new(),
            flatten: request.flatten,
            takes_new: read.columns.chosen.is_empty() && read.columns.new != NewColumns::Ignore,
        };
        let mut source = Source {
            inputs: heads.iter().map(|head| head.input.clone()).collect(),
            grammar: Grammar::Json(json.clone()),
            read: read.clone(),
            nulls: read.nulls_of([]),
            reads: Vec::new(),
            header: !is_positional,
            bytes: Vec::new(),
            flatten: false,
            orders: Vec::new(),
            widths: Vec::new(),
            tables: Vec::new(),
            pipe: Mutex::new(pipe),
            abandoned,
        };
        let (mut fields, mut samples) = source.look_at_members(&heads, &json, &[])?;
        // Whether any record has a member of the name that a user says, only all of them tell.
        let is_open = heads.iter().any(|head| !head.whole)
            && heads.iter().all(|head| head.input.place.can_be_reread());
        let is_of_all = is_open && read.names_another(&fields);
        if is_of_all {
            fields = source.look_at_all(&json, &[])?;
        }
        // Which spellings are one column's is known when the names are.
        source.nulls = read.nulls_of(fields.iter().map(|field| field.name.as_str()));
        if source.nulls.are_for_columns() {
            let known = fields;
            (fields, samples) = source.look_at_members(&heads, &json, &known)?;
            if is_of_all {
                fields = source.look_at_all(&json, &known)?;
            }
        }
        if fields.is_empty() {
            let known = known.unwrap_or_default().iter();
            fields = known
                .map(|name| FieldFacts {
                    written: None,
                    added: None,
                    name: name.clone(),
                    ty: Type::Text,
                    spoiler: None,
                    is_declared: false,
                    is_settled: false,
                    moments: Default::default(),
                    reads: Default::default(),
                })
                .collect();
        }
        if fields.is_empty() {
            return Err(without_columns(&heads[0], json.layouts[0]));
        }
        let pipe = source.pipe.lock().unwrap_or_else(PoisonError::into_inner).take();
        let source = Source { pipe: Mutex::new(pipe), ..source.with_members(&fields) };
        // A name stands in quotes, and has a colon behind it.
        let of_name =
            |field: &FieldFacts| if is_positional { 0 } else { field.name.len() as u64 + 3 };
        let names = fields.iter().map(of_name).sum();
        let row_bytes = record_bytes(&samples).map(|bytes| bytes.saturating_sub(names));
        let (rows_seen, rows_bad) = (records(&samples), bad(&samples));
        // A number of JSON stands for itself.
        let is_open = |field: &&FieldFacts| field.reads.is_open && field.ty != Type::Float;
        let types = fields.iter().map(|field| Some(field).filter(is_open).map(|field| field.ty));
        for (at, proposal) in source.propose(types, samples).into_iter().enumerate() {
            fields[at].reads.proposal = proposal;
        }
        let mut warnings = head::notes(&heads);
        warnings.extend(empty_arrays(&heads));
        let first = &heads[0];
        let layout = json.layouts[0];
        if let ([_, _, ..], None) = (heads.as_slice(), known) {
            warnings.extend(unheeded(&read.columns));
        }
        if is_positional && starts_with_names(&first.text[body(first)..], first.whole, layout) {
            let note = "the first array could be a header, and is loaded as a row";
            warnings.push(match layout {
                JsonLayout::Lines => format!("{note} (--skip-lines 1 leaves it out)"),
                _ => format!("{note}: arrays of JSON have none"),
            });
        }
        if first.whole
            && let Some((filter, rows)) = rows_inside(&first.text[body(first)..], layout)
        {
            let (name, filter) = (&first.input.name, shell_word(&filter));
            let of_jq = of_jq(&first.text);
            warnings.push(format!(
                "{name} is one object, which is one row; jq -c {filter} makes lines of the {rows}, to be loaded as rows{of_jq}"
            ));
        }
        let has_commas = layout != JsonLayout::Array && has_commas(&first.text[body(first)..]);
        let names = fields.iter().map(|field| field.name.clone()).collect();
        for (field, name) in fields.iter_mut().zip(named(names, read, &mut warnings)?) {
            field.name = name;
        }
        let mut reasons = vec![match json.layouts[0] {
            JsonLayout::Lines => "each line is a row of JSON".to_owned(),
            JsonLayout::Array => "the elements of one JSON array are the rows".to_owned(),
            JsonLayout::Values => "JSON objects that may span lines are the rows".to_owned(),
        }];
        if !request.flatten && fields.iter().any(|field| field.ty == Type::Json) {
            reasons.push("nested values are JSON (--flatten makes columns of them)".to_owned());
        }
        let facts = SourceFacts {
            fields,
            taken: None,
            case: read.columns.case,
            header: source.header,
            header_is_detected: false,
            reasons,
            warnings,
            title: has_commas.then(|| TAKE_OUT_COMMAS.to_owned()),
            bytes: source.inputs.iter().map(|input| input.bytes_stored).sum(),
            row_bytes,
            rows_seen,
            rows_bad,
            seekable: source.inputs.iter().all(|input| input.bytes_stored.is_some()),
            is_delimited: false,
            is_typed: false,
            is_surveyed: false,
            is_intolerant: false,
            repeats: Arc::default(),
            orphans: Arc::default(),
            memory_bytes: 0,
            chunks_ahead: 0,
            plain_files: None,
        };
        Ok((source, facts))
    }

    /// What the heads, and places spread over the first input, show of the members, of which some may be known; and these samples.
    fn look_at_members(
        &self,
        heads: &[Head],
        json: &Json,
        known: &[FieldFacts],
    ) -> Result<(Vec<FieldFacts>, Vec<Sample>)> {
        let mut samples = Vec::new();
        let total = Arc::new(Mutex::new(Seen::default()));
        let mut surveyor =
            MemberSurveyor::new(json, &self.read, &self.nulls, known, Arc::clone(&total));
        let mut survey = |chunk: &Chunk| {
            let mut encoded = Encoded::default();
            surveyor.encode(chunk, &mut encoded);
            (u64::from(encoded.records), encoded.found.len() as u64)
        };
        for (file, head) in heads.iter().enumerate() {
            let text = &head.text[head.input.body_at as usize..];
            let tail = if head.whole { Tail::End } else { Tail::More };
            let end = JsonCutter::new(json.layouts[file]).cut(text, text.len(), tail).unwrap_or(0);
            let (origin, part) = (
                Origin { file: file as u32, byte: head.input.body_at, ..Origin::default() },
                Part { first: true, last: head.whole },
            );
            let bytes = text[..end].to_vec();
            let chunk = Chunk { seq: file as u64, origin, part, bytes, ..Chunk::default() };
            let (records, bad) = survey(&chunk);
            let before = head.input.lines_before;
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            total.locate(&chunk, |at| before + json_lines(&chunk.bytes[..at]) + 1);
            samples.push(Sample {
                origin,
                lines_before: None,
                part,
                bytes: chunk.bytes,
                records,
                bad,
            });
        }
        if json.layouts[0] == JsonLayout::Lines {
            for (index, sample) in self.spread(&heads[0], None)?.into_iter().enumerate() {
                let Sample { origin, bytes, .. } = sample;
                let seq = (heads.len() + index) as u64;
                let chunk = Chunk { seq, origin, bytes, ..Chunk::default() };
                let (records, bad) = survey(&chunk);
                samples.push(Sample { origin, records, bad, ..Sample::of(0, &chunk.bytes) });
            }
        }
        let total = total.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((total.fields(&self.inputs, json.flatten), samples))
    }

    /// What all records of the inputs show of the members, of which some may be known.
    fn look_at_all(&self, json: &Json, known: &[FieldFacts]) -> Result<Vec<FieldFacts>> {
        let total = Arc::new(Mutex::new(Seen::default()));
        let mut surveyor =
            MemberSurveyor::new(json, &self.read, &self.nulls, known, Arc::clone(&total));
        let meter = Meter::default();
        let (mut chunk, mut encoded) = (Chunk::default(), Encoded::default());
        for (file, input) in self.inputs.iter().enumerate() {
            let body = self.open_body(file, &meter, &self.abandoned)?;
            let mut reader = ChunkReader::cutting(body, self.grammar.cutter(file, false));
            let (mut byte, mut before) = (input.body_at, input.lines_before);
            loop {
                match reader.next(&mut chunk.bytes, HEAD_BYTES) {
                    Ok(Next::Chunk) => {}
                    Ok(Next::End) => break,
                    Ok(Next::TooLong) => return Err(input.too_long(byte, &self.grammar)),
                    Err(error) => return Err(input.read_error(&error)),
                }
                chunk.origin = Origin { file: file as u32, byte, ..Origin::default() };
                chunk.part = Part { first: byte == input.body_at, last: reader.is_over };
                encoded.clear();
                surveyor.encode(&chunk, &mut encoded);
                let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                total.locate(&chunk, |at| before + json_lines(&chunk.bytes[..at]) + 1);
                byte += chunk.bytes.len() as u64;
                before += encoded.lines;
                chunk.seq += 1;
            }
        }
        let total = total.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(total.fields(&self.inputs, json.flatten))
    }

    /// The same source of JSON, which has these members; not its pipe.
    pub(super) fn with_members(&self, fields: &[FieldFacts]) -> Source {
        let names = || fields.iter().map(|field| field.name.as_str());
        let grammar = match &self.grammar {
            Grammar::Json(json) if json.has_names() => {
                Grammar::Json(json.clone().with_fields(names()))
            }
            grammar => grammar.clone(),
        };
        Source {
            inputs: self.inputs.clone(),
            grammar,
            read: self.read.clone(),
            reads: fields.iter().map(|field| self.read.column(&field.name)).collect(),
            nulls: self.read.nulls_of(names()),
            header: self.header,
            bytes: Vec::new(),
            flatten: false,
            orders: vec![(0..fields.len()).map(Some).collect(); self.inputs.len()],
            widths: vec![fields.len(); self.inputs.len()],
            tables: Vec::new(),
            pipe: Mutex::new(None),
            abandoned: Arc::clone(&self.abandoned),
        }
    }
}

/// What was seen of an input's members.
#[derive(Default)]
pub(super) struct Seen {
    members: HashMap<Box<[u8]>, Member>,
}

struct Member {
    /// Where it was first seen: chunk, and its place among those that were new there.
    first: (u64, usize),
    observed: Observed,
}

impl Seen {
    fn add(&mut self, name: &[u8], seq: u64, read: &Readers) -> &mut Observed {
        let first = (seq, self.members.len());
        let member = || {
            let reads = read.column(&String::from_utf8_lossy(name));
            Member { first, observed: Observed::of(reads.as_ref()) }
        };
        &mut self.members.entry(name.into()).or_insert_with(member).observed
    }

    fn merge(&mut self, other: Seen) {
        for (name, member) in other.members {
            match self.members.get_mut(&name) {
                Some(known) => {
                    known.first = known.first.min(member.first);
                    known.observed.merge(&member.observed);
                }
                None => drop(self.members.insert(name, member)),
            }
        }
    }

    /// Finds the lines of what was seen in this chunk, see [`Observed::locate`].
    pub(super) fn locate(&mut self, chunk: &Chunk, line: impl Fn(usize) -> u64) {
        for member in self.members.values_mut() {
            member.observed.locate(chunk, &line);
        }
    }

    /// The fields, in the order in which they were first seen. Where objects are taken apart, one that is NULL in some rows, and an object
    /// in the others, is none.
    pub(super) fn fields(&self, inputs: &[Input], flatten: bool) -> Vec<FieldFacts> {
        let objects: HashSet<&[u8]> = match flatten {
            true => self.members.keys().flat_map(|name| objects_around(name)).collect(),
            false => HashSet::new(),
        };
        let is_object =
            |name: &[u8], member: &Member| member.observed.is_null() && objects.contains(name);
        let mut members: Vec<_> = self.members.iter().collect();
        members.retain(|(name, member)| !is_object(name, member));
        members.sort_by_key(|(_, member)| member.first);
        members
            .into_iter()
            .map(|(name, member)| FieldFacts {
                written: None,
                added: None,
                name: String::from_utf8_lossy(name).into_owned(),
                ty: member.observed.ty(),
                spoiler: member.observed.spoiler(inputs),
                is_declared: false,
                is_settled: false,
                moments: member.observed.moments(inputs),
                reads: member.observed.reads(inputs),
            })
            .collect()
    }
}

/// Looks at every member of the records it is given, and makes no wire.
pub(super) struct MemberSurveyor {
    json: Json,
    read: Readers,
    nulls: Nulls,
    /// The members that are known, by which a spelling of NULL may be for one.
    places: HashMap<Box<[u8]>, usize>,
    total: Arc<Mutex<Seen>>,
    name: Vec<u8>,
    text: Vec<u8>,
}

impl MemberSurveyor {
    /// All surveyors of one survey share `total`. `nulls` are by the places of the members that are `known`.
    pub(super) fn new(
        json: &Json,
        read: &Readers,
        nulls: &Nulls,
        known: &[FieldFacts],
        total: Arc<Mutex<Seen>>,
    ) -> Self {
        let places = known.iter().enumerate();
        Self {
            json: json.clone(),
            read: read.clone(),
            nulls: nulls.clone(),
            places: places.map(|(at, field)| (field.name.as_bytes().into(), at)).collect(),
            total,
            name: Vec::new(),
            text: Vec::new(),
        }
    }

    /// Whether a string is a spelling of NULL in the member of the name that is being looked at.
    fn is_null(&self, text: &[u8]) -> bool {
        !self.nulls.is_empty() && {
            let place = self.places.get(self.name.as_slice()).copied().unwrap_or(usize::MAX);
            self.nulls.of_column(place).any(|null| null == text)
        }
    }

    /// Whether no column can have the name that is being looked at, so that the row is bad.
    fn is_of_bad_row(&self) -> bool {
        std::str::from_utf8(&self.name).is_err() || self.json.takes_new && self.name.contains(&0)
    }

    fn look(
        &mut self,
        members: &[JsonMember],
        bytes: &[u8],
        inside: Option<usize>,
        (seq, spot): (u64, Spot),
        seen: &mut Seen,
    ) {
        for (index, member) in members.iter().enumerate() {
            self.name.truncate(inside.unwrap_or(0));
            if inside.is_some() {
                self.name.push(b'.');
            }
            push_name(index, member, bytes, &mut self.name);
            let inner = if self.json.flatten { inner(member, bytes) } else { Vec::new() };
            if !inner.is_empty() {
                let inside = Some(self.name.len());
                self.look(&inner, member.value.raw(bytes), inside, (seq, spot), seen);
                continue;
            }
            if self.is_of_bad_row() {
                continue;
            }
            let observed = seen.add(&self.name, seq, &self.read);
            let raw = member.value.raw(bytes);
            match member.value.kind {
                JsonKind::Null => {}
                JsonKind::String if self.is_null(raw) => {}
                JsonKind::String => observed.add_string(raw, spot),
                JsonKind::EscapedString => {
                    self.text.clear();
                    json_unescape(raw, &mut self.text);
                    if !self.is_null(&self.text) {
                        observed.add_string(&self.text, spot);
                    }
                }
                _ => observed.add_typed(raw, spot),
            }
        }
    }
}

impl Encode for MemberSurveyor {
    fn encode(&mut self, chunk: &Chunk, out: &mut Encoded) {
        let layout = self.json.layouts[chunk.origin.file as usize];
        let Part { first, last } = chunk.part;
        let mut scanner = JsonScanner::new(layout, JsonPart { first, last }, &chunk.bytes);
        let (mut members, mut seen) = (Vec::new(), Seen::default());
        while let Some(record) = scanner.next(&mut members) {
            if record.is_blank() {
                continue;
            }
            out.records += 1;
            // What is a bad row makes no column.
            if record.fault.is_none() && self.json.is_row(record.kind) {
                self.name.clear();
                let spot = Spot::of(chunk, record.start);
                self.look(&members, &chunk.bytes, None, (chunk.seq, spot), &mut seen);
            }
        }
        out.lines = json_lines(&chunk.bytes);
        self.total.lock().unwrap_or_else(PoisonError::into_inner).merge(seen);
    }
}
