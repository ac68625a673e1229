//! A record's values as their columns' readings have them: read once, before the encoder asks for them.

use std::io::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use inrush_scan::{Field, Form};

use crate::encode::row::Row;
use crate::encode::{
    AddedValue, BadRecord, BadValue, Grammar, Shape, ShapeColumn, Verdict, describe, is_plain,
};
use crate::error::shorten;
use crate::flow::{Chunk, Code};
use crate::reading::{Misread, Read, Reading};
use crate::value::{json, rule};

/// What became of the values of one record.
#[derive(Default)]
pub(super) struct Reader {
    /// By column; none where no column has a reading.
    done: Vec<Done>,
    texts: Vec<u8>,
    /// Of a record of text, by column: the values among the texts that an encoder may take as they stand. A field that [`is_plain`]
    /// does not take says nothing.
    fields: Vec<Field>,
}

/// What became of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Done {
    /// It is its own.
    #[default]
    AsIs,
    /// There is nothing left of it.
    Null,
    /// It is among the texts: where, and how long.
    Written(u32, u32),
}

/// A value before its reading.
pub(super) struct Given<'t> {
    pub(super) text: &'t [u8],
    /// How it is written, where escapes among it are what a spelling of NULL may have: of `\N` they leave an N.
    pub(super) escaped: Option<&'t [u8]>,
    pub(super) is_quoted: bool,
    /// Whether it is text, and no number or whatever else has a type of its own.
    pub(super) is_text: bool,
}

/// A record whose values are to be read.
pub(super) trait Unread {
    /// A value; none where it is NULL by itself. What has to be written out goes to `memory`.
    fn given<'m>(&'m self, column: usize, memory: &'m mut Vec<u8>) -> Option<Given<'m>>;

    /// Whether all of the column's values have a type of their own, which few readings make anything of.
    fn are_typed(&self, _column: usize) -> bool {
        false
    }

    /// Whether a text is a spelling of NULL, which it may be when the blanks around it are gone.
    fn is_null(&self, column: usize, text: &[u8], is_quoted: bool) -> bool;

    /// Appends a copy of a record of text as it is written, and where its columns' plain values are in it.
    fn copy(&self, _texts: &mut Vec<u8>, _fields: &mut Vec<Field>) {}

    /// Whether a plain value is text, and no number or whatever else has a type of its own.
    fn is_text(&self, _field: &Field) -> bool {
        false
    }
}

/// No value: what an input does not have, and of JSON what no member has been found for, which never starts at 0.
pub(super) const ABSENT: Field = Field { start: 0, end: 0, form: Form::Plain };

/// Where a record is.
#[derive(Clone, Copy)]
pub(super) struct Whereabouts {
    file: usize,
    /// Its number in its input, from 1.
    record: u64,
}

impl Whereabouts {
    /// The record with so many of its chunk before it.
    pub(super) fn of(chunk: &Chunk, before: u32) -> Self {
        let record = chunk.origin.records + u64::from(before) + 1;
        Self { file: chunk.origin.file as usize, record }
    }
}

/// Whether the column's values are bytes that JSON has no form for: there they are in base64, in files of bad rows as well.
pub(super) fn has_base64(shape: &Shape, column: &ShapeColumn) -> bool {
    column.bytes && matches!(shape.grammar, Grammar::Json(_))
}

/// Whether a string of JSON is a document in the column, and none that is only written as one.
fn has_strings(shape: &Shape, column: &ShapeColumn) -> bool {
    takes_documents(column) && matches!(shape.grammar, Grammar::Json(_))
}

/// Whether a text is a document in the column.
pub(super) fn takes_documents(column: &ShapeColumn) -> bool {
    column.is_document && !column.reading.as_ref().is_some_and(Reading::makes_values)
}

/// Whether a text is an object or an array: programs that have no type for these write them as strings.
pub(super) fn is_within_string(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'[')) && rule::json_grammar(text).is_ok()
}

/// A value has to be there where the user says so.
pub(super) fn refuse_null(shape: &Shape, row: &impl Row) -> Result<(), BadRecord> {
    let mut values = Vec::new();
    for (column, known) in shape.columns.iter().enumerate() {
        if known.refuses_null
            && row.typed(column).is_none()
            && row.value(column, &mut values).is_none()
        {
            return Err(describe(shape, row, &BadValue::null(column)));
        }
    }
    Ok(())
}

impl Reader {
    /// Whether a shape's columns have readings, or values that the source has not.
    pub(super) fn is_needed(shape: &Shape) -> bool {
        let needs = |column: &ShapeColumn| {
            column.reading.is_some()
                || column.added.is_some()
                || column.refuses_null
                || has_base64(shape, column)
                || has_strings(shape, column)
        };
        shape.columns.iter().any(needs)
    }

    /// Reads the values of a record.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        shape: &Shape,
        place: Whereabouts,
        memory: &mut Vec<u8>,
        record: &impl Unread,
    ) -> Result<(), BadRecord> {
        self.done.clear();
        self.done.resize(shape.columns.len(), Done::AsIs);
        self.texts.clear();
        self.fields.clear();
        record.copy(&mut self.texts, &mut self.fields);
        for (column, known) in shape.columns.iter().enumerate() {
            if let Some(added) = &known.added {
                let done = self.added(added, place);
                self.note(column, done, false);
                continue;
            }
            if has_base64(shape, known) {
                self.decode(column, memory, record)?;
                continue;
            }
            if has_strings(shape, known) {
                self.write_string(column, known.reading.as_ref(), memory, record);
                continue;
            }
            let Some(reading) = &known.reading else { continue };
            if self.read_in_place(column, reading, record) {
                continue;
            }
            if record.are_typed(column) && !reading.reads_typed() {
                continue;
            }
            memory.clear();
            let Some(given) = record.given(column, memory) else { continue };
            let done = self
                .one(reading, &given, |text| record.is_null(column, text, given.is_quoted))
                .map_err(|Misread { wanted, is_impossible }| BadRecord {
                    column: Some(column),
                    code: Code::Type,
                    message: format!("{} is not {wanted}", shorten(given.text)),
                    verdict: match reading.is_final || is_impossible {
                        true => Verdict::Bad,
                        false => Verdict::OfColumn,
                    },
                })?;
            self.note(column, done, given.is_quoted);
        }
        Ok(())
    }

    /// Decodes the bytes that a string of JSON stands for.
    fn decode(
        &mut self,
        column: usize,
        memory: &mut Vec<u8>,
        record: &impl Unread,
    ) -> Result<(), BadRecord> {
        memory.clear();
        let Some(Given { text, is_quoted, is_text, .. }) = record.given(column, memory) else {
            return Ok(());
        };
        if record.is_null(column, text, is_quoted) {
            return Ok(());
        }
        let at = self.texts.len();
        let decoded = BASE64_STANDARD.decode_vec(text, &mut self.texts);
        if !is_text || decoded.is_err() {
            return Err(BadRecord {
                column: Some(column),
                code: Code::Type,
                message: format!("{} is not bytes in base64, as JSON has them", shorten(text)),
                verdict: Verdict::Bad,
            });
        }
        self.note(column, Done::Written(at as u32, (self.texts.len() - at) as u32), is_quoted);
        Ok(())
    }

    /// Writes a string of JSON as the document that it is; other values are theirs.
    fn write_string(
        &mut self,
        column: usize,
        reading: Option<&Reading>,
        memory: &mut Vec<u8>,
        record: &impl Unread,
    ) {
        memory.clear();
        let Some(given) = record.given(column, memory).filter(|given| given.is_text) else {
            return;
        };
        let (text, is_trimmed) = reading
            .map_or((given.text, false), |reading| reading.trimmed(given.text, given.is_quoted));
        let is_null = record.is_null(column, text, given.is_quoted);
        if is_trimmed && (text.is_empty() || is_null) {
            return self.note(column, Done::Null, given.is_quoted);
        }
        if is_null || is_within_string(text) {
            return;
        }
        let at = self.texts.len();
        json::push_string(text, &mut self.texts);
        let done = Done::Written(at as u32, (self.texts.len() - at) as u32);
        self.note(column, done, given.is_quoted);
    }

    /// Reads a plain value in the copy of its record, if its reading is one of those that are as long as what they read; false where
    /// it has to be looked at.
    #[inline(always)]
    fn read_in_place(&mut self, column: usize, reading: &Reading, record: &impl Unread) -> bool {
        let Some(field) = self.fields.get_mut(column) else { return false };
        if !is_plain(field) || !record.is_text(field) {
            return false;
        }
        match reading.read_in_place(&mut self.texts, field.start as usize, field.end as usize) {
            Some(Read::Written) => {
                self.done[column] = Done::Written(field.start, field.end - field.start);
            }
            Some(Read::AsIs) => {}
            Some(Read::Null) | None => return false,
        }
        true
    }

    /// Keeps what became of a value. What stood in quotes is a text in quotes still, which no spelling of NULL is.
    fn note(&mut self, column: usize, done: Done, is_quoted: bool) {
        self.done[column] = done;
        let Some(field) = self.fields.get_mut(column) else { return };
        match done {
            Done::AsIs => {}
            Done::Null => *field = ABSENT,
            Done::Written(at, len) => {
                let form = if is_quoted { Form::Quoted } else { Form::Plain };
                *field = Field { start: at, end: at + len, form };
            }
        }
    }

    fn added(&mut self, added: &AddedValue, place: Whereabouts) -> Done {
        let at = self.texts.len();
        match added {
            AddedValue::Row => {
                // Writing to memory does not fail.
                let _ = write!(self.texts, "{}", place.record);
            }
            AddedValue::Text(texts) => {
                self.texts.extend_from_slice(texts[place.file].as_bytes());
            }
        }
        match self.texts.len() - at {
            0 => Done::Null,
            len => Done::Written(at as u32, len as u32),
        }
    }

    fn one(
        &mut self,
        reading: &Reading,
        given: &Given<'_>,
        is_null: impl Fn(&[u8]) -> bool,
    ) -> Result<Done, Misread> {
        if !given.is_text {
            let at = self.texts.len();
            let read = reading.read_typed(given.text, &mut self.texts)?;
            return Ok(self.done(read, at));
        }
        let (text, is_trimmed) = reading.trimmed(given.text, given.is_quoted);
        let spelled = given.escaped.map_or(text, |raw| reading.trimmed(raw, given.is_quoted).0);
        if is_trimmed && text.is_empty() || is_null(spelled) {
            return Ok(Done::Null);
        }
        self.written(reading, text, is_trimmed)
    }

    fn written(
        &mut self,
        reading: &Reading,
        text: &[u8],
        is_trimmed: bool,
    ) -> Result<Done, Misread> {
        let at = self.texts.len();
        let mut read = reading.read(text, &mut self.texts)?;
        if read == Read::AsIs && is_trimmed {
            self.texts.extend_from_slice(text);
            read = Read::Written;
        }
        Ok(self.done(read, at))
    }

    /// What became of a value whose text, where it is another one, begins here.
    fn done(&self, read: Read, at: usize) -> Done {
        match read {
            Read::AsIs => Done::AsIs,
            Read::Null => Done::Null,
            Read::Written => Done::Written(at as u32, (self.texts.len() - at) as u32),
        }
    }

    /// What became of a column's value.
    #[inline(always)]
    pub(super) fn of(&self, column: usize) -> Done {
        match self.done.is_empty() {
            true => Done::AsIs,
            false => self.done[column],
        }
    }

    /// The fields of a record of text as its readings have them, and the text that they lie in.
    #[inline(always)]
    pub(super) fn plain(&self) -> (&[Field], &[u8]) {
        (&self.fields, &self.texts)
    }

    /// The text of a value that is among the texts.
    pub(super) fn text(&self, at: u32, len: u32) -> &[u8] {
        &self.texts[at as usize..(at + len) as usize]
    }
}
