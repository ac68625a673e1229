//! Rows of text: what every encoder of text does with a record, however it is written and whatever its target.

use std::sync::Arc;

use inrush_scan::{Field, Form};

use crate::encode::foreseen::Watch;
use crate::encode::read::{
    ABSENT, Done, Given, Reader, Unread, Whereabouts, has_base64, refuse_null,
};
use crate::encode::row::{Row, Typed};
use crate::encode::{
    BadRecord, Encode, EncodeRow, Encoded, MARK, Shape, Verdict, begins_with_header, describe,
    is_plain, told_by_lane,
};
use crate::error::shorten;
use crate::flow::Found;
use crate::flow::{Chunk, Code, Home, RowFault, RowMark, Span};
use crate::reading::Reading;

/// How text is written.
pub(super) trait Syntax: Send {
    /// Finds records.
    type Records<'a>: Records
    where
        Self: 'a;

    /// Whether a value in quotes is a string and nothing else.
    const HAS_STRINGS: bool;

    /// The records of a chunk from the byte `from` on, where one begins; what is told of them counts from there.
    fn records<'a>(&'a self, shape: &'a Shape, chunk: &'a Chunk, from: u32) -> Self::Records<'a>;

    /// Appends the value of a field that has to be rewritten.
    fn unescape(&self, raw: &[u8], form: Form, out: &mut Vec<u8>);

    /// Whether a value that is written so, in quotes or not, has this spelling of NULL.
    fn is_null(&self, spelling: &[u8], raw: &[u8], is_quoted: bool) -> bool;

    /// Physical lines in `bytes`.
    fn lines(&self, bytes: &[u8]) -> u64;
}

/// Finds the records of a chunk, one by one.
pub(super) trait Records {
    /// The next record, of which `fields` become the fields, as many as the source has columns.
    fn next(&mut self, fields: &mut Vec<Field>) -> Option<Record>;
}

/// What was found.
pub(super) struct Record {
    /// The first byte.
    pub(super) start: u32,
    /// The byte behind what goes aside when it is bad.
    pub(super) next: u32,
    pub(super) what: What,
}

/// What a record is.
pub(super) enum What {
    Row,
    /// A line that is none.
    Blank,
    Bad(BadRecord),
}

/// One good record: as many fields as columns, valid text.
struct TextRow<'a, S> {
    chunk: &'a [u8],
    /// One a column.
    fields: &'a [Field],
    shape: &'a Shape,
    syntax: &'a S,
    /// What the readings of columns have made of the values.
    reader: &'a Reader,
    plain: Plain<'a>,
}

/// The values of a record that an encoder may take as they stand, by column; a field that [`is_plain`] does not take says nothing.
#[derive(Clone, Copy)]
struct Plain<'a> {
    fields: &'a [Field],
    /// What the fields lie in: the chunk, or a record as its columns' readings have it.
    text: &'a [u8],
    in_chunk: bool,
}

impl Plain<'_> {
    /// Where nothing is known of the values yet.
    const NONE: Plain<'static> = Plain { fields: &[], text: &[], in_chunk: true };
}

impl<S: Syntax> Row for TextRow<'_, S> {
    #[inline(always)]
    fn typed(&self, _column: usize) -> Option<Typed> {
        None
    }

    #[inline(always)]
    fn value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        match self.plain.fields.get(column) {
            Some(field) if self.plain.in_chunk && is_plain(field) => {
                Some((Home::Chunk, span(field)))
            }
            _ => self.any_value(column, values),
        }
    }

    fn source_value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        match self.shape.columns[column].added {
            Some(_) => self.value(column, values),
            None => self.as_written(column, values),
        }
    }

    fn has_bytes(&self, column: usize) -> bool {
        has_base64(self.shape, &self.shape.columns[column])
    }

    fn is_document(&self, column: usize) -> bool {
        S::HAS_STRINGS
            && self.reader.of(column) == Done::AsIs
            && !self.fields[column].form.is_quoted()
    }

    #[inline]
    fn bytes<'b>(&'b self, home: Home, span: Span, values: &'b [u8]) -> &'b [u8] {
        let from = match home {
            Home::Chunk => self.chunk,
            _ => values,
        };
        &from[span.at as usize..(span.at + span.len) as usize]
    }

    #[inline(always)]
    fn fields(&self) -> &[Field] {
        self.plain.fields
    }

    #[inline(always)]
    fn text(&self) -> &[u8] {
        self.plain.text
    }
}

impl<S: Syntax> TextRow<'_, S> {
    /// [`Row::value`] for a field that may be NULL or has to be written out.
    #[inline(never)]
    fn any_value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        match self.reader.of(column) {
            Done::AsIs => {}
            Done::Null => return None,
            Done::Written(from, len) => {
                let at = values.len();
                values.extend_from_slice(self.reader.text(from, len));
                return Some((Home::Wire, Span { at: at as u32, len }));
            }
        }
        self.as_written(column, values)
    }

    /// The value of a field whatever a reading makes of it.
    fn as_written(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        let field = &self.fields[column];
        let raw = field.raw(self.chunk);
        if raw.is_empty() || !self.shape.nulls.is_empty() {
            let quoted = field.form.is_quoted();
            if !quoted && raw.is_empty() {
                return None;
            }
            if self.is_spelling_of_null(column) {
                return None;
            }
        }
        match field.form {
            Form::Plain | Form::Quoted => Some((Home::Chunk, span(field))),
            form => {
                let at = values.len();
                self.syntax.unescape(raw, form, values);
                Some((Home::Wire, Span { at: at as u32, len: (values.len() - at) as u32 }))
            }
        }
    }
}

impl<'a, S: Syntax> TextRow<'a, S> {
    /// Whether a value is a string and nothing else.
    fn is_string(&self, column: usize) -> bool {
        S::HAS_STRINGS && self.fields[column].form.is_quoted()
    }

    /// The fields but for those that are a spelling of NULL.
    fn without_nulls<'m>(&self, memory: &'m mut Vec<Field>) -> Plain<'m>
    where
        'a: 'm,
    {
        memory.clear();
        memory.extend(
            self.fields.iter().enumerate().map(|(column, field)| {
                if self.is_spelling_of_null(column) { ABSENT } else { *field }
            }),
        );
        Plain { fields: memory, text: self.chunk, in_chunk: true }
    }

    /// Whether the field is NULL because the user says that it is written so.
    fn is_spelling_of_null(&self, column: usize) -> bool {
        let field = &self.fields[column];
        let raw = field.raw(self.chunk);
        match field.form {
            Form::Escaped { .. } if S::HAS_STRINGS => self.is_escaped_null(column, raw),
            form => self.is_null_text(column, raw, form.is_quoted()),
        }
    }

    /// The same for a string with escapes, which is what it stands for: `"N\/A"` is N/A.
    #[inline(never)]
    fn is_escaped_null(&self, column: usize, raw: &[u8]) -> bool {
        // Six bytes stand for one at most, so most strings are too long for any spelling.
        if !self.shape.nulls.of_column(column).any(|null| null.len() * 6 >= raw.len()) {
            return false;
        }
        let mut text = Vec::new();
        self.syntax.unescape(raw, Form::Escaped { quoted: true }, &mut text);
        self.is_null_text(column, &text, true)
    }

    fn is_null_text(&self, column: usize, raw: &[u8], quoted: bool) -> bool {
        let mut spellings = self.shape.nulls.of_column(column);
        spellings.any(|spelling| self.syntax.is_null(spelling, raw, quoted))
    }
}

impl<S: Syntax> Unread for TextRow<'_, S> {
    fn given<'m>(&'m self, column: usize, memory: &'m mut Vec<u8>) -> Option<Given<'m>> {
        let field = &self.fields[column];
        let raw = field.raw(self.chunk);
        let is_quoted = field.form.is_quoted();
        if raw.is_empty() && !is_quoted {
            return None;
        }
        let (text, escaped) = match field.form {
            Form::Plain | Form::Quoted => (raw, None),
            form => {
                self.syntax.unescape(raw, form, memory);
                (memory.as_slice(), (!S::HAS_STRINGS).then_some(raw))
            }
        };
        Some(Given { text, escaped, is_quoted, is_text: !S::HAS_STRINGS || is_quoted })
    }

    fn is_null(&self, column: usize, text: &[u8], is_quoted: bool) -> bool {
        self.is_null_text(column, text, is_quoted)
    }

    fn copy(&self, texts: &mut Vec<u8>, fields: &mut Vec<Field>) {
        let plain = self.fields.iter().filter(|field| is_plain(field));
        let (start, end) = plain.fold((u32::MAX, 0), |(start, end), field| {
            (start.min(field.start), end.max(field.end))
        });
        let start = start.min(end);
        texts.extend_from_slice(&self.chunk[start as usize..end as usize]);
        let has_nulls = !self.shape.nulls.is_empty();
        fields.extend(self.fields.iter().enumerate().map(|(column, field)| {
            if !is_plain(field) || has_nulls && self.is_spelling_of_null(column) {
                return ABSENT;
            }
            Field { start: field.start - start, end: field.end - start, form: field.form }
        }));
    }

    #[inline(always)]
    fn is_text(&self, field: &Field) -> bool {
        !S::HAS_STRINGS || field.form.is_quoted()
    }
}

#[inline(always)]
fn span(field: &Field) -> Span {
    Span { at: field.start, len: field.end - field.start }
}

/// Which of a record's fields each column takes its value from.
struct FieldOrder<'a> {
    fields: &'a [Option<usize>],
    /// Whether the columns are the record's fields, in their order.
    same: bool,
}

impl<'a> FieldOrder<'a> {
    fn of(shape: &'a Shape, chunk: &Chunk) -> Self {
        let file = chunk.origin.file as usize;
        let fields = shape.fields[file].as_slice();
        let same = fields.len() == shape.widths[file]
            && fields.iter().enumerate().all(|(column, field)| *field == Some(column));
        Self { fields, same }
    }

    /// The fields of a good record in the order of the columns; in `memory` unless they are so already.
    #[inline(always)]
    fn apply<'m>(&self, fields: &'m [Field], memory: &'m mut Vec<Field>) -> &'m [Field] {
        if self.same {
            return fields;
        }
        memory.clear();
        let field = |field: &Option<usize>| field.map_or(ABSENT, |field| fields[field]);
        memory.extend(self.fields.iter().map(field));
        memory
    }
}

/// The record loop around an [`EncodeRow`].
pub(super) struct TextEncoder<S, R> {
    shape: Arc<Shape>,
    syntax: S,
    fields: Vec<Field>,
    ordered: Vec<Field>,
    row: R,
}

impl<S: Syntax, R: EncodeRow> TextEncoder<S, R> {
    /// An encoder of records of this shape.
    pub(super) fn new(shape: Arc<Shape>, syntax: S, row: R) -> Self {
        let width = shape.widths.iter().max().copied().unwrap_or(0);
        let fields = Vec::with_capacity(width + 1);
        Self { shape, syntax, fields, ordered: Vec::new(), row }
    }
}

impl<S: Syntax, R: EncodeRow> Encode for TextEncoder<S, R> {
    fn encode(&mut self, chunk: &Chunk, out: &mut Encoded) {
        let Self { shape, syntax, fields, ordered, row: encoder } = self;
        let shape: &Shape = shape;
        let bytes = chunk.bytes.as_slice();
        let order = FieldOrder::of(shape, chunk);
        let decoded = shape.decoded_of(chunk.origin.file as usize);
        let has_own_bytes = S::HAS_STRINGS || decoded.is_none();
        let has_bytes = shape.columns.iter().any(|column| column.bytes);
        // One vectorised look at the whole chunk saves a look at every field; nearly all chunks pass.
        let clean = simdutf8::basic::from_utf8(bytes).is_ok()
            && memchr::memchr(0, bytes).is_none()
            && (has_own_bytes || !has_bytes || bytes.is_ascii());
        let mut records = syntax.records(shape, chunk, 0);
        let mut lines = LineCounter::default();
        let unread = Reader::default();
        let mut look = Look::new(shape, clean, has_own_bytes, decoded);
        let is_plain = look.is_plain::<S>();
        let mut watch = Watch::of(shape);
        let header = HeaderLine::of(shape, chunk);
        while let Some(record) = records.next(fields) {
            let before = out.wire.mark();
            let outcome = match record.what {
                What::Blank => {
                    out.blanks += 1;
                    continue;
                }
                What::Bad(bad) => Err(bad),
                What::Row => {
                    let fields = order.apply(fields, ordered);
                    let plain = Plain { fields, text: bytes, in_chunk: true };
                    let mut row =
                        TextRow { chunk: bytes, fields, shape, syntax, reader: &unread, plain };
                    let looked = match is_plain {
                        true => Ok(()),
                        false => look.at(&mut row, Whereabouts::of(chunk, out.records)),
                    };
                    let looked = looked.and_then(|()| match watch.is_suspect(fields, bytes) {
                        true => watch.look(&row, |at| row.is_string(at), &mut out.unforeseen),
                        false => Ok(()),
                    });
                    looked.and_then(|()| {
                        encoder.row(&row, &mut out.wire).map_err(|bad| describe(shape, &row, &bad))
                    })
                }
            };
            let done = match outcome {
                Ok(()) => {
                    let end = out.wire.bytes.len() as u32;
                    out.wire.rows.push(RowMark { start: record.start, end });
                    if header.may_be_at(bytes, record.start) && header.is_at(bytes, record.start) {
                        if out.repeats.rows == 0 {
                            out.repeats.line = syntax.lines(&bytes[..record.start as usize]) as u32;
                        }
                        out.repeats.rows += 1;
                    }
                    false
                }
                Err(bad) => {
                    out.wire.rewind(before);
                    let line = lines.before(syntax, bytes, record.start);
                    let verdict = bad.verdict;
                    let found = bad.at(record.start, record.next, out.records, line);
                    out.bad(shape, found, verdict)
                }
            };
            if done {
                break;
            }
            out.records += 1;
        }
        out.lines = syntax.lines(bytes);
        encoder.end(chunk, out);
    }
}

/// An input's line of names, which files that were joined have once more among their rows.
struct HeaderLine<'s> {
    text: &'s [u8],
    /// What a record may begin with that is this line: its first byte, or that of a byte order mark; nothing that is a byte where there
    /// is no such line.
    starts: [u16; 2],
}

impl<'s> HeaderLine<'s> {
    fn of(shape: &'s Shape, chunk: &Chunk) -> Self {
        let text = shape.headers.get(chunk.origin.file as usize).map_or(&[][..], Vec::as_slice);
        let starts = match text {
            [first, ..] => [*first, MARK[0]].map(u16::from),
            [] => [u16::MAX; 2],
        };
        Self { text, starts }
    }

    /// A glance, which nearly all records of numbers do not pass.
    #[inline(always)]
    fn may_be_at(&self, bytes: &[u8], start: u32) -> bool {
        let first = bytes.get(start as usize).copied().map_or(u16::MAX - 1, u16::from);
        self.starts[0] == first || self.starts[1] == first
    }

    #[inline(never)]
    fn is_at(&self, bytes: &[u8], start: u32) -> bool {
        begins_with_header(&bytes[start as usize..], self.text)
    }
}

/// What is done with a record before its values are encoded, where anything is: checks, readings, spellings of NULL.
struct Look {
    /// The chunk is text that every column takes.
    clean: bool,
    /// Whether the values of columns of bytes are what the input has, and no characters of another encoding; JSON's are in base64.
    has_own_bytes: bool,
    /// The encoding of which the text is made.
    decoded: Option<&'static str>,
    reads: bool,
    refuses_nulls: bool,
    has_nulls: bool,
    reader: Reader,
    memory: Vec<u8>,
    known: Vec<Field>,
}

impl Look {
    fn new(shape: &Shape, clean: bool, has_own_bytes: bool, decoded: Option<&'static str>) -> Self {
        Self {
            clean,
            has_own_bytes,
            decoded,
            reads: Reader::is_needed(shape),
            refuses_nulls: shape.columns.iter().any(|column| column.refuses_null),
            has_nulls: !shape.nulls.is_empty(),
            reader: Reader::default(),
            memory: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Whether records go to the encoder as they stand.
    fn is_plain<S: Syntax>(&self) -> bool {
        self.clean && !self.reads && !self.has_nulls && !S::HAS_STRINGS
    }

    /// Makes a record what the encoder takes. Not inlined, as most files never come here and their loop has to be short.
    #[inline(never)]
    fn at<'m, S: Syntax>(
        &'m mut self,
        row: &mut TextRow<'m, S>,
        at: Whereabouts,
    ) -> Result<(), BadRecord> {
        if !self.clean {
            check_text(row, self.has_own_bytes, self.decoded)?;
        }
        if S::HAS_STRINGS {
            check_strings(row)?;
        }
        if self.reads {
            row.plain = Plain::NONE;
            self.reader.read(row.shape, at, &mut self.memory, row)?;
            row.reader = &self.reader;
            if self.refuses_nulls {
                refuse_null(row.shape, row)?;
            }
            let (fields, text) = self.reader.plain();
            row.plain = Plain { fields, text, in_chunk: false };
        } else if self.has_nulls {
            row.plain = row.without_nulls(&mut self.known);
        }
        Ok(())
    }
}

/// Looks at each field of a record in a chunk that isn't clean as a whole.
fn check_text<S: Syntax>(
    row: &TextRow<'_, S>,
    has_own_bytes: bool,
    decoded: Option<&'static str>,
) -> Result<(), BadRecord> {
    for (index, column) in row.shape.columns.iter().enumerate() {
        let raw = row.fields[index].raw(row.chunk);
        if column.bytes {
            // ASCII stays what it is, and in it are notations for bytes.
            if !has_own_bytes && !raw.is_ascii() && !row.is_spelling_of_null(index) {
                return Err(not_own(index, raw));
            }
            continue;
        }
        super::check_text(row.shape, index, raw).map_err(|bad| match decoded {
            Some(encoding) if bad.code == Code::Utf8 => malformed(bad, encoding, raw),
            _ => bad,
        })?;
    }
    Ok(())
}

/// The same of a text that was in another encoding: what is no UTF-8 in it stands for what was malformed there.
#[cold]
fn malformed(bad: BadRecord, encoding: &str, raw: &[u8]) -> BadRecord {
    let message = format!("bytes that are malformed in {encoding}: {}", shorten(raw));
    BadRecord { message, ..bad }
}

/// What is wrong with a value of bytes that is other bytes in the input.
#[cold]
fn not_own(column: usize, raw: &[u8]) -> BadRecord {
    let why = match std::str::from_utf8(raw) {
        Ok(_) => "has other bytes in the input",
        Err(_) => "is malformed in the input's encoding",
    };
    BadRecord {
        column: Some(column),
        code: Code::Utf8,
        message: format!(
            "{} {why}: where that is not UTF-8, columns of bytes take ASCII alone",
            shorten(raw)
        ),
        verdict: Verdict::Bad,
    }
}

/// A string among numbers, truths or documents is another thing than they are, even where it is written alike. And an escape may
/// stand for a NUL, which the look at the chunk's bytes has not seen. An object is no list, though it may be written as a target writes one.
fn check_strings<S: Syntax>(row: &TextRow<'_, S>) -> Result<(), BadRecord> {
    for (index, column) in row.shape.columns.iter().enumerate() {
        let field = &row.fields[index];
        if !field.form.is_quoted() {
            if column.is_list && field.raw(row.chunk).starts_with(b"{") {
                let message = format!("{} is an object, not a list", shorten(field.raw(row.chunk)));
                let column = Some(index);
                let verdict = Verdict::OfColumn;
                return Err(BadRecord { column, code: Code::Type, message, verdict });
            }
            continue;
        }
        let is_read = column.reading.as_ref().is_some_and(Reading::makes_values);
        let is_other = column.strict && !column.is_textual && !is_read;
        if is_other && !row.is_spelling_of_null(index) {
            let message = format!("{} is a string", shorten(field.raw(row.chunk)));
            let column = Some(index);
            return Err(BadRecord {
                column,
                code: Code::Type,
                message,
                verdict: Verdict::OfColumn,
            });
        }
        if !matches!(field.form, Form::Quoted) && !column.bytes {
            check_escaped(row, index)?;
        }
    }
    Ok(())
}

/// Looks at what a string with escapes stands for. Nearly none have the one that stands for a NUL.
#[inline(never)]
fn check_escaped<S: Syntax>(row: &TextRow<'_, S>, index: usize) -> Result<(), BadRecord> {
    let field = &row.fields[index];
    let raw = field.raw(row.chunk);
    if row.shape.nul_fault.is_none() || memchr::memmem::find(raw, b"\\u0000").is_none() {
        return Ok(());
    }
    let mut text = Vec::new();
    row.syntax.unescape(raw, field.form, &mut text);
    super::check_text(row.shape, index, &text)
}

/// Counts physical lines up to ascending offsets, each byte once.
#[derive(Default)]
struct LineCounter {
    at: u32,
    lines: u32,
}

impl LineCounter {
    fn before(&mut self, syntax: &impl Syntax, bytes: &[u8], offset: u32) -> u32 {
        self.lines += syntax.lines(&bytes[self.at as usize..offset as usize]) as u32;
        self.at = offset;
        self.lines
    }
}

/// The bad rows that a lane's faults name, with their records.
pub(super) fn found_by_lane(
    syntax: &impl Syntax,
    shape: &Shape,
    chunk: &Chunk,
    encoded: &Encoded,
    faults: &[RowFault],
) -> Vec<Found> {
    let bytes = chunk.bytes.as_slice();
    let order = FieldOrder::of(shape, chunk);
    let (mut fields, mut ordered) = (Vec::new(), Vec::new());
    let mut lines = LineCounter::default();
    faults
        .iter()
        .map(|fault| {
            let start = encoded.wire.rows[fault.row as usize].start;
            let record = syntax.records(shape, chunk, start).next(&mut fields);
            let end = record.map_or(bytes.len() as u32, |record| start + record.next);
            let fields = order.apply(&fields, &mut ordered);
            // As it is written: its readings were for the encoder.
            let (chunk, reader) = (&bytes[start as usize..], &Reader::default());
            let row = TextRow { chunk, fields, shape, syntax, reader, plain: Plain::NONE };
            let line = lines.before(syntax, bytes, start);
            told_by_lane(shape, fault, &row).at(
                start,
                end,
                fault.row + encoded.bad_before(start),
                line,
            )
        })
        .collect()
}
