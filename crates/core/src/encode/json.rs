//! Objects of JSON: members are found by their names, whatever their order.

use std::collections::HashMap;

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
    /// The source's fields, by name; none where records are arrays, whose elements are the fields.
    pub places: HashMap<Box<[u8]>, usize>,
    /// Whether members of objects inside are fields of their own, named `a.b`.
    pub flatten: bool,
}

impl Json {
    /// The grammar of a source of these fields.
    pub fn with_fields<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let places = names.into_iter().enumerate();
        Self { places: places.map(|(at, name)| (name.as_bytes().into(), at)).collect(), ..self }
    }

    /// Whether each record of an input has a line of its own.
    pub fn is_in_lines(&self, file: u32) -> bool {
        self.layouts.get(file as usize) == Some(&JsonLayout::Lines)
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
            members: Vec::new(),
            places: Vec::new(),
            name: Vec::new(),
        }
    }

    fn unescape(&self, raw: &[u8], _form: Form, out: &mut Vec<u8>) {
        json_unescape(raw, out);
    }

    /// Text is always in quotes.
    fn has_quoted_nulls(&self) -> bool {
        true
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
            (None, JsonKind::Object) => match self.object(&record, fields) {
                Ok(()) => What::Row,
                Err(bad) => What::Bad(bad),
            },
            (None, JsonKind::Array) if self.json.places.is_empty() => self.array(fields),
            _ => What::Bad(self.broken(&record)),
        };
        // What separates it from the next one is not part of it.
        Some(Record { start: record.start, next: record.end, what })
    }
}

impl JsonRecords<'_> {
    /// An object's members, each at its place.
    fn object(&mut self, record: &JsonRecord, fields: &mut Vec<Field>) -> Result<(), BadRecord> {
        fields.clear();
        fields.resize(self.width, ABSENT);
        // Names that are those of the record before need not be looked up.
        self.places.truncate(record.same_keys as usize);
        if self.json.flatten {
            self.places.clear();
            self.name.clear();
            let members = std::mem::take(&mut self.members);
            let flat = self.flat(&members, 0, 0, fields);
            self.members = members;
            return flat;
        }
        for index in 0..self.members.len() {
            let member = self.members[index];
            let place = match self.places.get(index) {
                Some(place) => *place,
                None => {
                    self.name.clear();
                    self.push_name(&member, self.bytes);
                    let place = self.place()?;
                    self.places.push(place);
                    place
                }
            };
            self.put(place, field(&member), fields)?;
        }
        Ok(())
    }

    /// The members of an object inside of others, whose names so far are in `self.name` up to `before`; it starts at `base`.
    fn flat(
        &mut self,
        members: &[JsonMember],
        base: u32,
        before: usize,
        fields: &mut [Field],
    ) -> Result<(), BadRecord> {
        let bytes = &self.bytes[base as usize..];
        for member in members {
            self.name.truncate(before);
            if before > 0 {
                self.name.push(b'.');
            }
            self.push_name(member, bytes);
            let inner = inner(member, bytes);
            if member.value.kind == JsonKind::Null && self.is_object() {
                // An object that isn't there: each of its members is NULL.
            } else if inner.is_empty() {
                let mut field = field(member);
                (field.start, field.end) = (field.start + base, field.end + base);
                let place = self.place()?;
                self.put(place, field, fields)?;
            } else {
                self.flat(&inner, base + member.value.start, self.name.len(), fields)?;
            }
        }
        Ok(())
    }

    fn push_name(&mut self, member: &JsonMember, bytes: &[u8]) {
        let raw = member.key.raw(bytes);
        match member.key.escaped {
            true => json_unescape(raw, &mut self.name),
            false => self.name.extend_from_slice(raw),
        }
    }

    /// Whether the name is no field, but that of objects whose members are fields.
    fn is_object(&self) -> bool {
        let name = self.name.as_slice();
        !self.json.places.contains_key(name)
            && self.json.places.keys().any(|known| is_inside(name, known))
    }

    /// The field that the name is.
    fn place(&self) -> Result<usize, BadRecord> {
        if let Some(place) = self.json.places.get(self.name.as_slice()) {
            return Ok(*place);
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
            return Err(bad(Code::Json, format!("{} comes twice", shorten(name))));
        }
        Ok(())
    }

    fn array(&self, fields: &mut Vec<Field>) -> What {
        fields.clear();
        fields.extend(self.members.iter().map(field));
        if fields.len() == self.width {
            return What::Row;
        }
        let message = format!("{} where {} are expected", counted_in(fields, "value"), self.width);
        What::Bad(bad(Code::FieldCount, message))
    }

    #[cold]
    fn broken(&self, record: &JsonRecord) -> BadRecord {
        match record.fault {
            Some(fault) => bad(Code::Json, fault_words(&fault, record, self.bytes)),
            None => {
                let wanted = if self.json.places.is_empty() { "an array" } else { "an object" };
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
    match fault {
        // The bracket is there, and closes nothing: only of the array around all records the end is the input's.
        JsonFault::Expected { what: "a comma or ]", .. } if behind.starts_with(b"]") => {
            "broken JSON: the array ends behind this record, and more follows it".to_owned()
        }
        _ => format!("broken JSON: {fault} at byte {at} of the record"),
    }
}

/// Whether a name is that of a member of the object called `object`, where objects are taken apart.
pub fn is_inside(object: &[u8], name: &[u8]) -> bool {
    name.strip_prefix(object).is_some_and(|rest| rest.starts_with(b"."))
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
