//! Records to wire: what every encoder does with a row, whatever its input and its target.
//!
//! The input's syntax finds the fields of a record (`text`), or there are columns (`columns`); the target's [`EncodeRow`] takes
//! the row's values. The loop between the two is compiled for each pair, so that nothing is looked up for each row.

mod columns;
mod delimited;
mod foreseen;
mod json;
mod read;
mod row;
mod text;

use std::sync::Arc;

use inrush_scan::json::json_lines;
use inrush_scan::{Dialect, Field, Form, Newline, count_lines};

use crate::Nulls;
use crate::error::shorten;
use crate::flow::Found;
use crate::flow::{Chunk, Code, RowFault, Wire};
use crate::reading::Reading;
use crate::wording::of_column;

pub use columns::{NOT_ENDLESS, Texts, column_data, csv_field, is_viewed};
pub use delimited::{is_null, quoting_words};
pub use foreseen::{Foreseen, may_be_more_than_text};
pub use json::{Json, fault_words, inner, objects_around, push_name};
pub use row::{Day, Moment, Row, Typed, has_whole_digits, write_time};

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
    /// The first value that doesn't fit a column whose type is only inferred, or that no sample of it has foreseen.
    pub mismatch: Option<Found>,
    /// Columns with values of a sort that the sample had none of, where these are only told, see [`Foreseen`].
    pub unforeseen: Vec<u32>,
    /// Good rows that are the input's line of names once more.
    pub repeats: Repeats,
}

/// Lines that are the input's line of names once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// How many.
    pub rows: u32,
    /// Lines of the chunk before the first.
    pub line: u32,
}

impl Encoded {
    /// Forgets the chunk, keeps the memory.
    pub fn clear(&mut self) {
        self.wire.clear();
        self.records = 0;
        self.lines = 0;
        self.blanks = 0;
        self.found.clear();
        self.mismatch = None;
        self.unforeseen.clear();
        self.repeats = Repeats::default();
    }
}

/// How the input is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Fields between delimiters.
    Delimited(Dialect),
    /// Objects, or arrays, of JSON.
    Json(Json),
    /// Columns of values in types of their own.
    Columns,
}

impl Grammar {
    /// The word for reports.
    pub fn word(&self) -> &'static str {
        match self {
            Grammar::Delimited(dialect) if dialect.delimiter == b'\t' => "tsv",
            Grammar::Delimited(_) => "csv",
            Grammar::Json(_) => "json",
            Grammar::Columns => "columns",
        }
    }

    /// What the input is made of, in a word.
    pub fn form(&self) -> &'static str {
        match self {
            Grammar::Delimited(_) | Grammar::Json(_) => "text",
            Grammar::Columns => "columns",
        }
    }

    /// How delimited text is written.
    pub fn dialect(&self) -> Option<&Dialect> {
        match self {
            Grammar::Delimited(dialect) => Some(dialect),
            Grammar::Json(_) => None,
            Grammar::Columns => None,
        }
    }

    /// Physical lines in text that is written so.
    pub fn lines(&self, bytes: &[u8]) -> u64 {
        match self {
            Grammar::Delimited(dialect) => count_lines(dialect, bytes),
            Grammar::Json(_) => json_lines(bytes),
            Grammar::Columns => 0,
        }
    }

    /// What ends a line of the file that bad rows go to.
    pub fn newline(&self) -> u8 {
        match self {
            Grammar::Delimited(Dialect { newline: Newline::Cr, .. }) => b'\r',
            _ => b'\n',
        }
    }
}

/// How a record of each input becomes a row.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How the input is written.
    pub grammar: Grammar,
    /// Spellings of NULL besides the empty unquoted field, by column. An empty one makes the quoted empty field NULL too.
    pub nulls: Nulls,
    /// Fields a record must have, for each input.
    pub widths: Vec<usize>,
    /// For each input, the index of the field that each column takes its value from; `None` where the input does not have it.
    pub fields: Vec<Vec<Option<usize>>>,
    /// For each input, the encoding of which its text is made: then it is other bytes than its own. `None` where that is UTF-8.
    pub decoded: Vec<Option<&'static str>>,
    /// For each input of text its line of names, without its end, by which one that is repeated is told; empty where it has none.
    pub headers: Vec<Vec<u8>>,
    /// The columns, by name, for messages.
    pub columns: Vec<ShapeColumn>,
    /// Why text with a NUL byte is a bad row; `None` where the target takes it.
    pub nul_fault: Option<&'static str>,
    /// Bad rows that the load allows in all; a chunk with more ends it.
    pub found_max: u64,
}

impl Shape {
    /// The encoding of an input, where it is decoded.
    fn decoded_of(&self, file: usize) -> Option<&'static str> {
        self.decoded.get(file).copied().flatten()
    }

    /// Whether a record of an input is its line of names once more.
    pub fn repeats_header(&self, file: usize, record: &[u8]) -> bool {
        let header = self.headers.get(file).map_or(&[][..], Vec::as_slice);
        !header.is_empty() && begins_with_header(record, header)
    }
}

/// Whether text begins with a whole line of names, with or without a byte order mark, as the files have that were joined.
fn begins_with_header(text: &[u8], header: &[u8]) -> bool {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let rest = text.strip_prefix(header);
    rest.is_some_and(|rest| rest.first().is_none_or(|byte| matches!(byte, b'\n' | b'\r')))
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What the record loop must know of a column.
#[derive(Clone, Debug)]
pub struct ShapeColumn {
    /// For messages.
    pub name: String,
    /// Whether a value that doesn't fit is a bad row; else it is a mismatch.
    pub pinned: bool,
    /// Whether it takes only what a guess takes, see [`Column::is_strict`](crate::Column::is_strict).
    pub strict: bool,
    /// Whether the column takes bytes that aren't UTF-8.
    pub bytes: bool,
    /// Whether it takes numbers, days, and whatever else is neither text nor bytes.
    pub typed: bool,
    /// Whether it holds text of whatever kind, days and moments among it.
    pub is_textual: bool,
    /// Whether it holds documents of JSON by the table's word, so that a string may be one.
    pub is_document: bool,
    /// Whether it holds lists by the table's word, of which an object is none, however the target writes a list.
    pub is_list: bool,
    /// How its texts are read, where they are no values as they stand.
    pub reading: Option<Reading>,
    /// What its values are, where the source has none.
    pub added: Option<AddedValue>,
    /// Whether the user wants no NULL in it.
    pub refuses_null: bool,
    /// What a sample has shown of its values, where they are text.
    pub foreseen: Foreseen,
}

/// The values of a column that the source does not have.
#[derive(Clone, Debug)]
pub enum AddedValue {
    /// For each input one text; NULL where that is empty.
    Text(Vec<Box<str>>),
    /// The record's number in its input, from 1.
    Row,
}

/// What is said of NULL in a column that takes none.
pub const NO_NULL: &str = "NULL where none is allowed";

/// A value that its column can't hold unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadValue<'a> {
    /// Index of the column.
    pub column: usize,
    /// What sort of fault.
    pub code: Code,
    /// What the column takes: "an integer", "a date (YYYY-MM-DD)"; of NULL, why it takes none. Words with a column's own numbers are made
    /// once, with its encoder, and lent.
    pub wanted: &'a str,
}

impl BadValue<'_> {
    /// NULL where the column takes none.
    pub fn null(column: usize) -> Self {
        Self { column, code: Code::NotNull, wanted: NO_NULL }
    }
}

/// Encodes one good record. Static dispatch inside the chunk: the loop around it is compiled for each encoder.
pub trait EncodeRow: Send {
    /// Appends the row to `wire`. What a bad value leaves there is taken back by the caller.
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>>;

    /// Called after the chunk's last row.
    fn end(&mut self, _chunk: &Chunk, _out: &mut Encoded) {}
}

/// The encoder of the shape's rows.
pub fn encoder(shape: Arc<Shape>, row: impl EncodeRow + 'static) -> Box<dyn Encode> {
    match &shape.grammar {
        Grammar::Delimited(dialect) => {
            let syntax = delimited::Delimited(dialect.clone());
            Box::new(text::TextEncoder::new(shape, syntax, row))
        }
        Grammar::Json(json) => {
            let syntax = json.clone();
            Box::new(text::TextEncoder::new(shape, syntax, row))
        }
        Grammar::Columns => Box::new(columns::ColumnsEncoder::new(shape, row)),
    }
}

/// The bad rows that a lane's faults name, with their records.
pub fn found_by_lane(
    shape: &Shape,
    chunk: &Chunk,
    encoded: &Encoded,
    faults: &[RowFault],
) -> Vec<Found> {
    match &shape.grammar {
        _ if faults.is_empty() => Vec::new(),
        Grammar::Delimited(dialect) => {
            let syntax = delimited::Delimited(dialect.clone());
            text::found_by_lane(&syntax, shape, chunk, encoded, faults)
        }
        Grammar::Json(json) => text::found_by_lane(json, shape, chunk, encoded, faults),
        Grammar::Columns => columns::found_by_lane(shape, chunk, encoded, faults),
    }
}

/// The bad row as it was written, to be loaded again when it is fixed: a record of text, an object of JSON, or, of a sheet, a line of CSV.
pub fn verbatim(shape: &Shape, chunk: &Chunk, found: &Found) -> Vec<u8> {
    match &shape.grammar {
        Grammar::Delimited(_) => chunk.bytes[found.start as usize..found.end as usize].to_vec(),
        Grammar::Json(_) => json::line(&chunk.bytes[found.start as usize..found.end as usize]),
        Grammar::Columns => match &chunk.sheet {
            Some(sheet) => columns::csv_line(shape, chunk, sheet, found.start as usize),
            None => columns::object(shape, chunk, found.start as usize),
        },
    }
}

/// Whether the field is what it says, and not NULL unless that has other spellings: nearly all are.
#[inline(always)]
pub fn is_plain(field: &Field) -> bool {
    matches!(field.form, Form::Plain | Form::Quoted) & (field.start < field.end)
}

/// Why a record is no good row.
struct BadRecord {
    column: Option<usize>,
    code: Code,
    message: String,
    /// What it is to the load.
    verdict: Verdict,
}

/// What a record that is no good row is to the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It depends on its column: a value that isn't of a guessed type disproves the guess.
    OfColumn,
    /// It disproves a guess.
    Mismatch,
    /// A bad row, whatever its column.
    Bad,
}

impl BadRecord {
    fn at(self, start: u32, end: u32, record: u32, line: u32) -> Found {
        let column = self.column.map(|column| column as u32);
        Found { start, end, record, line, column, code: self.code, message: self.message.into() }
    }
}

impl Encoded {
    /// Notes a bad row, or one that disproves a guess. True when that one does, or there are more bad ones than the load allows: it ends
    /// at this row, and nobody will look at the rest of the chunk.
    fn bad(&mut self, shape: &Shape, found: Found, verdict: Verdict) -> bool {
        let is_mismatch = match verdict {
            Verdict::Bad => false,
            Verdict::Mismatch => true,
            Verdict::OfColumn => {
                found.column.is_some_and(|column| !shape.columns[column as usize].pinned)
                    && matches!(found.code, Code::Type | Code::Range)
            }
        };
        if is_mismatch {
            self.mismatch = Some(found);
        } else {
            self.found.push(found);
        }
        self.wire.is_last = is_mismatch || self.found.len() as u64 > shape.found_max;
        self.wire.is_last
    }

    /// The bad rows before the record at `start`.
    fn bad_before(&self, start: u32) -> u32 {
        self.found.partition_point(|found| found.start < start) as u32
    }
}

/// What a lane says of a row.
fn told_by_lane(shape: &Shape, fault: &RowFault, row: &impl Row) -> BadRecord {
    let column = fault.column.as_ref().and_then(|name| {
        shape.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    });
    let mut values = Vec::new();
    let value = column
        .and_then(|column| row.value(column, &mut values))
        .map(|(home, span)| format!("{}: ", shorten(row.bytes(home, span, &values))));
    BadRecord {
        column,
        code: fault.code,
        message: value.unwrap_or_default() + &fault.message,
        verdict: Verdict::OfColumn,
    }
}

/// Whether a text is one that the target takes.
fn check_text(shape: &Shape, column: usize, raw: &[u8]) -> Result<(), BadRecord> {
    let bad = |code, message| {
        Err(BadRecord { column: Some(column), code, message, verdict: Verdict::OfColumn })
    };
    if let Err(error) = std::str::from_utf8(raw) {
        let at = error.valid_up_to();
        return bad(
            Code::Utf8,
            format!("invalid UTF-8: byte 0x{:02x} at {} of {}", raw[at], at + 1, shorten(raw)),
        );
    }
    if let Some(why) = shape.nul_fault
        && memchr::memchr(0, raw).is_some()
    {
        return bad(Code::Nul, format!("a NUL byte in {}: {why}", shorten(raw)));
    }
    Ok(())
}

fn describe(shape: &Shape, row: &impl Row, bad: &BadValue<'_>) -> BadRecord {
    let mut scratch = Vec::new();
    let value = match row.source_value(bad.column, &mut scratch) {
        Some((home, span)) => shorten(row.bytes(home, span, &scratch)),
        None => "NULL".to_owned(),
    };
    let message = match bad.code {
        Code::NotNull => bad.wanted.to_owned(),
        Code::Range => format!("{value} is out of range for {}", bad.wanted),
        _ => {
            let name = shape.columns.get(bad.column).map_or("COLUMN", |column| &column.name);
            format!("{value} is not {}", of_column(bad.wanted, name))
        }
    };
    BadRecord { column: Some(bad.column), code: bad.code, message, verdict: Verdict::OfColumn }
}
