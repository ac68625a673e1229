//! Text to wire: what every encoder of delimited text does with a record, whatever its target.

use inrush_scan::{Dialect, Fault, Field, Form, Scanner, count_lines, unescape};

use crate::error::shorten;
use crate::pipe::reject::Found;
use crate::pipe::{Chunk, Code, Home, RowMark, Span, Wire};

/// Turns chunks into wires. Pure: no I/O, no clock. Called once a chunk.
pub trait Encode: Send {
    /// Encodes `chunk` into `out`, which comes cleared.
    fn encode(&mut self, chunk: &Chunk, out: &mut Encoded);
}

/// What became of one chunk.
#[derive(Debug, Default)]
pub struct Encoded {
    /// The good rows.
    pub wire: Wire,
    /// Records read: good and bad, without header, comments and blank lines.
    pub records: u32,
    /// Physical lines in the chunk.
    pub lines: u64,
    /// Blank lines left out.
    pub blanks: u64,
    /// The bad rows, in order.
    pub found: Vec<Found>,
    /// The first value that doesn't fit a column whose type is only inferred.
    pub surprise: Option<Found>,
}

impl Encoded {
    pub(crate) fn clear(&mut self) {
        self.wire.clear();
        self.records = 0;
        self.lines = 0;
        self.blanks = 0;
        self.found.clear();
        self.surprise = None;
    }
}

/// How a record of each input becomes a row.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How the bytes are written.
    pub dialect: Dialect,
    /// Spellings of NULL besides the empty unquoted field. An empty one makes the quoted empty field NULL too.
    pub nulls: Vec<Vec<u8>>,
    /// Fields a record must have.
    pub width: usize,
    /// For each input, the index of the field that each column takes its value from.
    pub fields: Vec<Vec<usize>>,
    /// The columns, by name, for messages.
    pub columns: Vec<ShapeColumn>,
    /// Why text with a NUL byte is a bad row; `None` where the target takes it.
    pub nul_fault: Option<&'static str>,
    /// Bad rows that the load allows in all; a chunk with more ends it.
    pub found_max: u64,
}

/// What the record loop must know of a column.
#[derive(Clone, Debug)]
pub struct ShapeColumn {
    /// For messages.
    pub name: String,
    /// Whether a value that doesn't fit is a bad row; else it is a surprise.
    pub pinned: bool,
    /// Whether the column takes bytes that aren't UTF-8.
    pub bytes: bool,
}

/// A value that its column can't hold unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadValue<'a> {
    /// Index of the column.
    pub column: usize,
    /// What sort of fault.
    pub code: Code,
    /// What the column takes: "an integer", "a date (YYYY-MM-DD)". Words with a column's own numbers are made once, with its
    /// encoder, and lent.
    pub wanted: &'a str,
}

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
impl BadValue<'_> {
    /// NULL where the column takes none.
    pub(crate) fn null(column: usize) -> Self {
        Self { column, code: Code::NotNull, wanted: "a value" }
    }
}

/// One good record: as many fields as columns, valid text.
pub(crate) struct Row<'a> {
    pub(crate) chunk: &'a [u8],
    /// One a column.
    fields: &'a [Field],
    shape: &'a Shape,
}

impl Row<'_> {
    /// The columns' fields, of which [`is_plain`] tells whether it can be taken as it stands. None where there are spellings of
    /// NULL, which any field might be.
    #[inline(always)]
    pub(crate) fn fields(&self) -> &[Field] {
        if self.shape.nulls.is_empty() { self.fields } else { &[] }
    }

    /// Where the value of `column` is; `None` for NULL. A value with doubled quotes or escapes is written out to `values`,
    /// the wire's.
    #[inline(always)]
    pub(crate) fn value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        match self.fields().get(column) {
            Some(field) if is_plain(field) => Some((Home::Chunk, span(field))),
            _ => self.any_value(column, values),
        }
    }

    /// [`Row::value`] for a field that may be NULL or has to be written out.
    #[inline(never)]
    fn any_value(&self, column: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        let field = &self.fields[column];
        let raw = field.raw(self.chunk);
        if raw.is_empty() || !self.shape.nulls.is_empty() {
            let quoted = field.form.is_quoted();
            if !quoted && raw.is_empty() {
                return None;
            }
            // A quoted NA is the text NA; only an empty spelling can mean the quoted empty field.
            if self
                .shape
                .nulls
                .iter()
                .any(|null| null.as_slice() == raw && quoted == null.is_empty())
            {
                return None;
            }
        }
        match field.form {
            Form::Plain | Form::Quoted => Some((Home::Chunk, span(field))),
            form => {
                let at = values.len();
                unescape(&self.shape.dialect, raw, form, values);
                Some((Home::Wire, Span { at: at as u32, len: (values.len() - at) as u32 }))
            }
        }
    }

    /// The bytes at a place that [`Row::value`] named.
    #[inline]
    pub(crate) fn bytes<'b>(&'b self, home: Home, span: Span, values: &'b [u8]) -> &'b [u8] {
        let from = match home {
            Home::Chunk => self.chunk,
            Home::Wire => values,
        };
        &from[span.at as usize..(span.at + span.len) as usize]
    }
}

/// Whether the field is what it says, and not NULL unless that has other spellings: nearly all are.
#[inline(always)]
pub(crate) fn is_plain(field: &Field) -> bool {
    matches!(field.form, Form::Plain | Form::Quoted) & (field.start < field.end)
}

#[inline(always)]
fn span(field: &Field) -> Span {
    Span { at: field.start, len: field.end - field.start }
}

/// Which of a record's fields each column takes its value from.
struct FieldOrder<'a> {
    fields: &'a [usize],
    /// Whether the columns are the record's first fields, in their order.
    same: bool,
}

impl<'a> FieldOrder<'a> {
    fn of(shape: &'a Shape, chunk: &Chunk) -> Self {
        let fields = shape.fields[chunk.origin.file as usize].as_slice();
        let same = fields.iter().enumerate().all(|(column, field)| column == *field);
        Self { fields, same }
    }

    /// The fields of a good record in the order of the columns; in `memory` unless they are so already.
    #[inline(always)]
    fn apply<'m>(&self, fields: &'m [Field], memory: &'m mut Vec<Field>) -> &'m [Field] {
        if self.same {
            return fields;
        }
        memory.clear();
        memory.extend(self.fields.iter().map(|field| fields[*field]));
        memory
    }
}

/// Encodes one good record. Static dispatch inside the chunk: the loop around it is compiled for each encoder.
pub(crate) trait EncodeRow: Send {
    /// Appends the row to `wire`. What a bad value leaves there is taken back by the caller.
    fn row(&mut self, row: &Row<'_>, wire: &mut Wire) -> Result<(), BadValue<'_>>;

    /// Called after the chunk's last row.
    fn end(&mut self, _chunk: &Chunk, _out: &mut Encoded) {}
}

/// The record loop around an [`EncodeRow`].
pub(crate) struct TextEncoder<R> {
    shape: std::sync::Arc<Shape>,
    fields: Vec<Field>,
    ordered: Vec<Field>,
    row: R,
}

impl<R: EncodeRow> TextEncoder<R> {
    /// An encoder of records of this shape.
    pub(crate) fn new(shape: std::sync::Arc<Shape>, row: R) -> Self {
        let fields = Vec::with_capacity(shape.width + 1);
        Self { shape, fields, ordered: Vec::new(), row }
    }
}

impl<R: EncodeRow> Encode for TextEncoder<R> {
    fn encode(&mut self, chunk: &Chunk, out: &mut Encoded) {
        let Self { shape, fields, ordered, row: encoder } = self;
        let shape: &Shape = shape;
        let bytes = chunk.bytes.as_slice();
        let order = FieldOrder::of(shape, chunk);
        // One vectorised look at the whole chunk saves a look at every field; nearly all chunks pass.
        let clean = simdutf8::basic::from_utf8(bytes).is_ok() && memchr::memchr(0, bytes).is_none();
        let mut scanner = Scanner::new(&shape.dialect, bytes);
        let mut lines = LineCounter::default();
        while let Some(record) = scanner.next(fields) {
            // In a table of one column a blank line is a row whose value is NULL; in a wider one it's no row at all.
            if record.is_blank() && shape.width != 1 {
                out.blanks += 1;
                continue;
            }
            let before = out.wire.mark();
            let outcome = if record.fault.is_some() || fields.len() != shape.width {
                Err(broken(shape, &record, bytes, fields))
            } else {
                let fields = order.apply(fields, ordered);
                let row = Row { chunk: bytes, fields, shape };
                if clean { Ok(()) } else { check_text(&row) }.and_then(|()| {
                    encoder.row(&row, &mut out.wire).map_err(|bad| describe(&row, &bad))
                })
            };
            match outcome {
                Ok(()) => {
                    let end = out.wire.bytes.len() as u32;
                    out.wire.rows.push(RowMark { start: record.start, end });
                }
                Err(bad) => {
                    out.wire.rewind(before);
                    let surprise = bad.column.is_some_and(|column| !shape.columns[column].pinned)
                        && matches!(bad.code, Code::Type | Code::Range);
                    let found = Found {
                        start: record.start,
                        end: record.next,
                        record: out.records,
                        line: lines.before(&shape.dialect, bytes, record.start),
                        column: bad.column.map(|column| column as u32),
                        code: bad.code,
                        message: bad.message.into(),
                    };
                    if surprise {
                        out.surprise.get_or_insert(found);
                    } else {
                        out.found.push(found);
                        if out.found.len() as u64 > shape.found_max {
                            // The load ends at this row: nobody will look at the rest of the chunk.
                            break;
                        }
                    }
                }
            }
            out.records += 1;
        }
        out.lines = count_lines(&shape.dialect, bytes);
        encoder.end(chunk, out);
    }
}

struct BadRecord {
    column: Option<usize>,
    code: Code,
    message: String,
}

/// What is wrong with a record that is not written as records are, or has too few or too many fields.
#[cold]
fn broken(
    shape: &Shape,
    record: &inrush_scan::Record,
    bytes: &[u8],
    fields: &[Field],
) -> BadRecord {
    let bad = |code, message| BadRecord { column: None, code, message };
    match &record.fault {
        Some(Fault::UnclosedQuote { at }) => {
            let column = 1 + at.saturating_sub(record.start);
            bad(Code::Quote, format!("the quote at byte {column} of the line is never closed"))
        }
        Some(Fault::EscapedEnd { .. }) => {
            bad(Code::Quote, "the line ends in an escape that nothing follows".to_owned())
        }
        Some(Fault::TextAfterQuote { at }) => {
            let tail = &bytes[*at as usize..];
            let tail = &tail[..tail.len().min(20)];
            bad(Code::Quote, format!("text after a closing quote: {}", shorten(first_line(tail))))
        }
        None => {
            let (found, wanted) = (fields.len(), shape.width);
            let s = |n: usize| if n == 1 { "" } else { "s" };
            let message = format!(
                "{found} field{} where {wanted} {} expected",
                s(found),
                if wanted == 1 { "is" } else { "are" }
            );
            bad(Code::FieldCount, message)
        }
    }
}

fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| matches!(b, b'\n' | b'\r')).next().unwrap_or_default()
}

/// Looks at each field of a record in a chunk that isn't clean as a whole.
fn check_text(row: &Row<'_>) -> Result<(), BadRecord> {
    for (index, column) in row.shape.columns.iter().enumerate() {
        if column.bytes {
            continue;
        }
        let raw = row.fields[index].raw(row.chunk);
        let bad = |code, message| Err(BadRecord { column: Some(index), code, message });
        if let Err(error) = std::str::from_utf8(raw) {
            let at = error.valid_up_to();
            return bad(
                Code::Utf8,
                format!("invalid UTF-8: byte 0x{:02x} at {} of {}", raw[at], at + 1, shorten(raw)),
            );
        }
        if let Some(why) = row.shape.nul_fault
            && memchr::memchr(0, raw).is_some()
        {
            return bad(Code::Nul, format!("a NUL byte in {}: {why}", shorten(raw)));
        }
    }
    Ok(())
}

fn describe(row: &Row<'_>, bad: &BadValue<'_>) -> BadRecord {
    let mut scratch = Vec::new();
    let value = match row.value(bad.column, &mut scratch) {
        Some((home, span)) => shorten(row.bytes(home, span, &scratch)),
        None => "NULL".to_owned(),
    };
    let message = match bad.code {
        Code::NotNull => "NULL where none is allowed".to_owned(),
        Code::Range => format!("{value} is out of range for {}", bad.wanted),
        _ => format!("{value} is not {}", bad.wanted),
    };
    BadRecord { column: Some(bad.column), code: bad.code, message }
}

/// Counts physical lines up to ascending offsets, each byte once.
#[derive(Default)]
struct LineCounter {
    at: u32,
    lines: u32,
}

impl LineCounter {
    fn before(&mut self, dialect: &Dialect, bytes: &[u8], offset: u32) -> u32 {
        self.lines += count_lines(dialect, &bytes[self.at as usize..offset as usize]) as u32;
        self.at = offset;
        self.lines
    }
}

/// The bad rows that a lane's faults name, with their records.
pub(crate) fn found_by_lane(
    shape: &Shape,
    chunk: &Chunk,
    encoded: &Encoded,
    faults: &[crate::pipe::RowFault],
) -> Vec<Found> {
    let bytes = chunk.bytes.as_slice();
    let order = FieldOrder::of(shape, chunk);
    let (mut fields, mut ordered) = (Vec::new(), Vec::new());
    let mut lines = LineCounter::default();
    faults
        .iter()
        .map(|fault| {
            let start = encoded.wire.rows[fault.row as usize].start;
            let record = Scanner::new(&shape.dialect, &bytes[start as usize..]).next(&mut fields);
            let named = fault.column.as_ref().and_then(|name| {
                shape.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
            });
            let value = named.and_then(|column| {
                let fields = order.apply(&fields, &mut ordered);
                let row = Row { chunk: &bytes[start as usize..], fields, shape };
                let mut values = Vec::new();
                let (home, span) = row.value(column, &mut values)?;
                Some(shorten(row.bytes(home, span, &values)))
            });
            // Records before this one: the good rows, and the bad ones that start earlier.
            let bad_before = encoded.found.partition_point(|found| found.start < start);
            let value = value.map(|value| format!("{value}: ")).unwrap_or_default();
            Found {
                start,
                end: record.map_or(bytes.len() as u32, |record| start + record.next),
                record: fault.row + bad_before as u32,
                line: lines.before(&shape.dialect, bytes, start),
                column: named.map(|column| column as u32),
                code: fault.code,
                message: (value + &fault.message).into(),
            }
        })
        .collect()
}
