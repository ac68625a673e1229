//! Objects of JSON: members are found by their names, whatever their order.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;

use inrush_scan::json::{
    JsonFault, JsonKind, JsonLayout, JsonMember, JsonPart, JsonRecord, JsonScanner, json_lines,
    json_unescape,
};
use inrush_scan::{Field, Form};

use crate::encode::read::ABSENT;
use crate::encode::text::{Record, Records, Syntax, What};
use crate::encode::{BadRecord, Shape, Verdict};
use crate::error::shorten;
use crate::flow::{Chunk, Code};
use crate::wording::counted_in;

/// How JSON is laid out, and what of it goes where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json {
    /// For each input.
    pub layouts: Vec<JsonLayout>,
    /// Whether records are arrays, whose elements are the fields; else they are objects.
    pub arrays: bool,
    /// The source's fields, by name; none where they go by their places in arrays.
    pub places: HashMap<Box<[u8]>, usize>,
    /// The names of objects that have some of these fields in them, where they are taken apart.
    pub objects: HashSet<Box<[u8]>>,
    /// Whether members of objects inside are fields of their own, named `a.b`.
    pub flatten: bool,
    /// Whether members that come later are loaded, too: not where columns were chosen, or new ones are ignored.
    pub takes_new: bool,
}

impl Json {
    /// The grammar of a source of these fields.
    pub fn with_fields<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let places = names.into_iter().enumerate();
        let places: HashMap<Box<[u8]>, usize> =
            places.map(|(at, name)| (name.as_bytes().into(), at)).collect();
        let objects = match self.flatten {
            true => places.keys().flat_map(|name| objects_around(name)).map(Into::into).collect(),
            false => HashSet::new(),
        };
        Self { places, objects, ..self }
    }

    /// Whether fields go by their names: an array's elements have some only where what is inside of them has.
    pub fn has_names(&self) -> bool {
        !self.arrays || self.flatten
    }

    /// Whether a record is one of a row, if nothing is wrong with it.
    pub fn is_row(&self, kind: JsonKind) -> bool {
        kind == if self.arrays { JsonKind::Array } else { JsonKind::Object }
    }

    /// How many elements an array has whose objects inside are taken apart.
    fn elements(&self) -> usize {
        let place = |name: &[u8]| {
            let name = std::str::from_utf8(name).ok()?.strip_prefix(ELEMENT)?;
            name.split('.').next()?.parse().ok()
        };
        self.places.keys().filter_map(|name| place(name)).max().unwrap_or(0)
    }

    /// Whether each record of an input has a line of its own.
    pub fn is_in_lines(&self, file: u32) -> bool {
        self.layouts.get(file as usize) == Some(&JsonLayout::Lines)
    }
}

/// What the names of an array's elements begin with, before their places from 1 on.
const ELEMENT: &str = "column_";

/// Appends the name of a record's member, or of an array's element at this place.
pub fn push_name(at: usize, member: &JsonMember, bytes: &[u8], out: &mut Vec<u8>) {
    let key = &member.key;
    match (key.start, key.end) {
        // Writing to memory doesn't fail.
        (0, 0) => drop(write!(out, "{ELEMENT}{}", at + 1)),
        _ if key.escaped => json_unescape(key.raw(bytes), out),
        _ => out.extend_from_slice(key.raw(bytes)),
    }
}

impl Syntax for Json {
    type Records<'a> = JsonRecords<'a>;

    const HAS_STRINGS: bool = true;

    fn records<'a>(&'a self, shape: &'a Shape, chunk: &'a Chunk, from: u32) -> JsonRecords<'a> {
        let is_first = chunk.part.first && from == 0;
        let part = JsonPart { first: is_first, last: chunk.part.last };
        let layout = self.layouts[chunk.origin.file as usize];
        let bytes = &chunk.bytes[from as usize..];
        JsonRecords {
            json: self,
            scanner: JsonScanner::new(layout, part, bytes),
            bytes,
            width: shape.widths[chunk.origin.file as usize],
            elements: if self.arrays && self.flatten { self.elements() } else { 0 },
            members: Vec::new(),
            places: Vec::new(),
            name: Vec::new(),
        }
    }

    fn unescape(&self, raw: &[u8], _form: Form, out: &mut Vec<u8>) {
        json_unescape(raw, out);
    }

    /// Text is always in quotes.
    fn is_null(&self, spelling: &[u8], raw: &[u8], is_quoted: bool) -> bool {
        spelling == raw && (is_quoted || !raw.is_empty())
    }

    fn lines(&self, bytes: &[u8]) -> u64 {
        json_lines(bytes)
    }
}

/// The records of a chunk.
pub(super) struct JsonRecords<'a> {
    json: &'a Json,
    scanner: JsonScanner<'a>,
    bytes: &'a [u8],
    width: usize,
    /// Of arrays whose objects inside are taken apart.
    elements: usize,
    members: Vec<JsonMember>,
    /// For each member of the last record, the field that it is.
    places: Vec<usize>,
    name: Vec<u8>,
}

/// The value as a field of text: NULL is what is empty and without quotes.
fn field(member: &JsonMember) -> Field {
    let (start, end) = (member.value.start, member.value.end);
    match member.value.kind {
        JsonKind::Null => Field { start, end: start, form: Form::Plain },
        JsonKind::String => Field { start, end, form: Form::Quoted },
        JsonKind::EscapedString => Field { start, end, form: Form::Escaped { quoted: true } },
        JsonKind::True
        | JsonKind::False
        | JsonKind::Number
        | JsonKind::Object
        | JsonKind::Array => Field { start, end, form: Form::Plain },
    }
}

impl Records for JsonRecords<'_> {
    #[inline]
    fn next(&mut self, fields: &mut Vec<Field>) -> Option<Record> {
        let record = self.scanner.next(&mut self.members)?;
        let what = match (record.fault, record.kind) {
            (None, _) if record.is_blank() => What::Blank,
            (None, kind) if self.json.is_row(kind) => {
                let read = match self.json.arrays {
                    true => self.array(fields),
                    false => self.object(&record, fields),
                };
                match read {
                    Ok(()) => What::Row,
                    Err(bad) => What::Bad(bad),
                }
            }
            _ => What::Bad(self.broken(&record)),
        };
        // What separates it from the next one is not part of it.
        Some(Record { start: record.start, next: record.end, what })
    }
}

impl JsonRecords<'_> {
    /// An object's members, each at its place.
    fn object(&mut self, record: &JsonRecord, fields: &mut Vec<Field>) -> Result<(), BadRecord> {
        if self.json.flatten {
            return self.taken_apart(fields);
        }
        fields.clear();
        fields.resize(self.width, ABSENT);
        // Names that are those of the record before need not be looked up.
        self.places.truncate(record.same_keys as usize);
        for index in 0..self.members.len() {
            let member = self.members[index];
            let place = match self.places.get(index) {
                Some(place) => *place,
                None => {
                    self.name.clear();
                    push_name(index, &member, self.bytes, &mut self.name);
                    let place = self.place()?;
                    self.places.push(place);
                    place
                }
            };
            self.put(place, field(&member), fields)?;
        }
        Ok(())
    }

    /// The members of a record, and of the objects inside of it, each at its place.
    fn taken_apart(&mut self, fields: &mut Vec<Field>) -> Result<(), BadRecord> {
        fields.clear();
        fields.resize(self.width, ABSENT);
        self.name.clear();
        let members = std::mem::take(&mut self.members);
        let flat = self.flat(&members, 0, None, fields);
        self.members = members;
        flat
    }

    /// The members of an object, which starts at `base`; of one inside of others, their names so far are in `self.name` up to `inside`.
    fn flat(
        &mut self,
        members: &[JsonMember],
        base: u32,
        inside: Option<usize>,
        fields: &mut [Field],
    ) -> Result<(), BadRecord> {
        let bytes = &self.bytes[base as usize..];
        let mut objects: Vec<Box<[u8]>> = Vec::new();
        for (at, member) in members.iter().enumerate() {
            self.name.truncate(inside.unwrap_or(0));
            if inside.is_some() {
                self.name.push(b'.');
            }
            push_name(at, member, bytes, &mut self.name);
            let inner = inner(member, bytes);
            // An object that isn't there is one: each of its members is NULL.
            let is_absent = member.value.kind == JsonKind::Null && self.is_object();
            let is_object = is_absent || !inner.is_empty();
            if objects.iter().any(|name| **name == *self.name) || is_object && self.has(fields) {
                return Err(twice(&self.name));
            }
            if is_object {
                objects.push(self.name.as_slice().into());
            }
            if !inner.is_empty() {
                self.flat(&inner, base + member.value.start, Some(self.name.len()), fields)?;
            } else if !is_absent {
                let mut field = field(member);
                (field.start, field.end) = (field.start + base, field.end + base);
                let place = self.place()?;
                self.put(place, field, fields)?;
            }
        }
        Ok(())
    }

    /// Whether a value has come that is no object and has the name.
    fn has(&self, fields: &[Field]) -> bool {
        self.json.places.get(self.name.as_slice()).is_some_and(|place| fields[*place] != ABSENT)
    }

    /// Whether the name is no field, but that of objects whose members are fields.
    fn is_object(&self) -> bool {
        let name = self.name.as_slice();
        self.json.objects.contains(name) && !self.json.places.contains_key(name)
    }

    /// The field that the name is.
    fn place(&self) -> Result<usize, BadRecord> {
        if let Some(place) = self.json.places.get(self.name.as_slice()) {
            return Ok(*place);
        }
        if std::str::from_utf8(&self.name).is_err() {
            let message = format!("invalid UTF-8 in the name {}", shorten(&self.name));
            return Err(bad(Code::Utf8, message));
        }
        if self.json.takes_new && self.name.contains(&0) {
            let name = shorten(&self.name);
            let message = format!(
                "a NUL byte in the name {name}, which no column can have (--columns leaves it out)"
            );
            return Err(bad(Code::Nul, message));
        }
        let message = format!("there is no column {}", shorten(&self.name));
        // Not each record has each member: those that were looked at hadn't this one.
        Err(BadRecord { verdict: Verdict::Mismatch, ..bad(Code::FieldCount, message) })
    }

    fn put(&self, place: usize, field: Field, fields: &mut [Field]) -> Result<(), BadRecord> {
        let known = std::mem::replace(&mut fields[place], field);
        if known != ABSENT {
            // Which of the two values is meant nobody can know.
            let name = self.json.places.iter().find(|(_, at)| **at == place);
            let name = name.map_or(&[][..], |(name, _)| name);
            return Err(twice(name));
        }
        Ok(())
    }

    /// An array's elements, which are the fields.
    fn array(&mut self, fields: &mut Vec<Field>) -> Result<(), BadRecord> {
        let wanted = if self.json.flatten { self.elements } else { self.width };
        if self.members.len() != wanted {
            let found = counted_in(&self.members, "value");
            let message = format!("{found} where {wanted} are expected");
            return Err(bad(Code::FieldCount, message));
        }
        if self.json.flatten {
            return self.taken_apart(fields);
        }
        fields.clear();
        fields.extend(self.members.iter().map(field));
        Ok(())
    }

    #[cold]
    fn broken(&self, record: &JsonRecord) -> BadRecord {
        match record.fault {
            Some(fault) => bad(Code::Json, fault_words(&fault, record, self.bytes)),
            None => {
                let wanted = if self.json.arrays { "an array" } else { "an object" };
                let raw = &self.bytes[record.start as usize..record.end as usize];
                bad(Code::Json, format!("{} is not {wanted}", shorten(raw)))
            }
        }
    }
}

/// What is wrong with a record of these bytes, for people.
pub fn fault_words(fault: &JsonFault, record: &JsonRecord, bytes: &[u8]) -> String {
    let at = fault.at().saturating_sub(record.start) + 1;
    let behind = bytes.get(fault.at() as usize..).unwrap_or_default().trim_ascii_start();
    let number = behind.strip_prefix(b"-").unwrap_or(behind);
    // As Python's json.dumps writes them.
    let named = ["NaN", "Infinity"].into_iter().find(|word| number.starts_with(word.as_bytes()));
    match (fault, named) {
        (JsonFault::Expected { .. } | JsonFault::Number { .. }, Some(word)) => {
            format!(
                "broken JSON: {word} at byte {at} of the record, and JSON has no such number: write null"
            )
        }
        // The bracket is there, and closes nothing: only of the array around all records the end is the input's.
        (JsonFault::Expected { what: "a comma or ]", .. }, _) if behind.starts_with(b"]") => {
            "broken JSON: the array ends behind this record, and more follows it".to_owned()
        }
        _ => format!("broken JSON: {fault} at byte {at} of the record"),
    }
}

/// The objects that the member of this name may be in, where they are taken apart: of `a.b.c` these are `a` and `a.b`.
pub fn objects_around(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'.', name).map(|dot| &name[..dot])
}

/// The members of a value that is an object; none if it is empty, or another value.
pub fn inner(member: &JsonMember, bytes: &[u8]) -> Vec<JsonMember> {
    let mut members = Vec::new();
    if member.value.kind == JsonKind::Object {
        let raw = member.value.raw(bytes);
        JsonScanner::new(JsonLayout::Values, JsonPart::WHOLE, raw).next(&mut members);
    }
    members
}

fn twice(name: &[u8]) -> BadRecord {
    bad(Code::Json, format!("{} comes twice", shorten(name)))
}

fn bad(code: Code, message: String) -> BadRecord {
    BadRecord { column: None, code, message, verdict: Verdict::OfColumn }
}

/// A bad record as a line of its own: between values a newline is as good as a blank, and a string has none.
pub(super) fn line(raw: &[u8]) -> Vec<u8> {
    let mut line: Vec<u8> =
        raw.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_in_all_objects_that_its_name_begins_with() {
        let around = |name| objects_around(name).collect::<Vec<&[u8]>>();
        assert_eq!(around(b"a.b.c"), [&b"a"[..], b"a.b"]);
        assert_eq!(around(b".a."), [&b""[..], b".a"]);
        assert!(around(b"a").is_empty());
    }
}
