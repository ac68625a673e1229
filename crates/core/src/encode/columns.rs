//! Rows of a record batch: values in types of their own, none of them read from text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt64Type,
};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use inrush_scan::Field;

use crate::encode::read::{
    Done, Given, Reader, Unread, Whereabouts, is_within_string, refuse_null, takes_documents,
};
use crate::encode::row::{Moment, Row, Typed};
use crate::encode::{
    BadRecord, BadValue, Encode, EncodeRow, Encoded, Shape, ShapeColumn, Verdict, check_text,
    describe, told_by_lane,
};
use crate::flow::Found;
use crate::flow::{Chunk, Code, Home, RowFault, RowMark, SheetRows, Span};
use crate::value::rule;
use crate::{Nulls, Type};

/// Whether the record loop has a form for the type. What else there is in files is brought into one of these as it is read.
pub fn is_viewed(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Null
            | DataType::Boolean
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt64
            | DataType::Float64
            | DataType::Date32
            | DataType::Utf8
            | DataType::Binary
            | DataType::Decimal128(_, 0..)
            | DataType::Timestamp(..)
    )
}

/// What the texts or bytes of a column are in.
pub fn column_data(batch: &RecordBatch, at: usize) -> &[u8] {
    let array = batch.column(at);
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value_data(),
        DataType::Binary => array.as_binary::<i32>().value_data(),
        _ => &[],
    }
}

/// A column's values.
enum View<'a> {
    Null,
    Boolean(&'a BooleanArray),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt64(&'a [u64]),
    Float64(&'a [f64]),
    Decimal(&'a [i128], u8),
    Date(&'a [i32]),
    Moment { values: &'a [i64], per_second: i64, zone: bool },
    Text(&'a [i32]),
    Bytes(&'a [i32]),
}

/// A column of a batch.
struct Column<'a> {
    /// Its place in the batch.
    at: u16,
    nulls: Option<&'a NullBuffer>,
    view: View<'a>,
    /// What texts and bytes are in.
    data: &'a [u8],
    /// Whether its texts are values of another type, written out.
    is_written_out: bool,
    /// Whether its texts are those, or times of day, UUIDs or durations.
    are_values: bool,
    /// By row, whether the text is one, where only some are: cells of a sheet.
    typed_cells: &'a [bool],
    /// Whether each value has to be looked at: it is text, the target takes no NUL, or no bytes that aren't UTF-8, and there are some; or
    /// it is neither text nor bytes, where the target keeps bytes; or one of a batch is no date.
    is_suspect: bool,
    /// Numbers that are NULL because their text is a spelling of it; nearly always none.
    null_numbers: Vec<Typed>,
}

impl<'a> Column<'a> {
    /// One that the input does not have.
    fn absent() -> Self {
        Self {
            at: 0,
            nulls: None,
            view: View::Null,
            data: &[],
            is_written_out: false,
            are_values: false,
            typed_cells: &[],
            is_suspect: false,
            null_numbers: vec![],
        }
    }

    fn of(batch: &'a RecordBatch, at: usize) -> Self {
        let array = batch.column(at).as_ref();
        let data = column_data(batch, at);
        let moment = |values, per_second| {
            let zone = matches!(array.data_type(), DataType::Timestamp(_, Some(_)));
            View::Moment { values, per_second, zone }
        };
        let view = match array.data_type() {
            DataType::Boolean => View::Boolean(array.as_boolean()),
            DataType::Int32 => View::Int32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => View::Int64(array.as_primitive::<Int64Type>().values()),
            DataType::UInt64 => View::UInt64(array.as_primitive::<UInt64Type>().values()),
            DataType::Float64 => View::Float64(array.as_primitive::<Float64Type>().values()),
            DataType::Decimal128(_, scale) => {
                View::Decimal(array.as_primitive::<Decimal128Type>().values(), *scale as u8)
            }
            DataType::Date32 => View::Date(array.as_primitive::<Date32Type>().values()),
            DataType::Timestamp(TimeUnit::Second, _) => {
                moment(array.as_primitive::<TimestampSecondType>().values(), 1)
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                moment(array.as_primitive::<TimestampMillisecondType>().values(), 1_000)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                moment(array.as_primitive::<TimestampMicrosecondType>().values(), 1_000_000)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                moment(array.as_primitive::<TimestampNanosecondType>().values(), 1_000_000_000)
            }
            DataType::Utf8 => {
                let texts = array.as_string::<i32>();
                View::Text(texts.value_offsets())
            }
            DataType::Binary => {
                let bytes = array.as_binary::<i32>();
                View::Bytes(bytes.value_offsets())
            }
            // There is nothing else, see `is_viewed`.
            _ => View::Null,
        };
        // The reader takes no batch of more columns.
        let (at, nulls) = (at as u16, array.nulls());
        let field = batch.schema_ref().field(usize::from(at));
        let is_written_out = Type::is_written_out(field);
        let is_kind = |name: &str| Type::of_marked(name).is_kind_of_text();
        let are_values = is_written_out || field.extension_type_name().is_some_and(is_kind);
        Self {
            at,
            nulls,
            view,
            data,
            is_written_out,
            are_values,
            typed_cells: &[],
            is_suspect: false,
            null_numbers: vec![],
        }
    }

    /// The same, where it is one of a sheet.
    fn of_sheet(mut self, sheet: Option<&'a SheetRows>) -> Self {
        let typed = sheet.and_then(|sheet| sheet.typed.get(usize::from(self.at)));
        self.typed_cells = typed.map_or(&[], Vec::as_slice);
        self
    }

    /// Whether a value has a type of its own, which it may be written out of.
    fn is_typed(&self, row: usize) -> bool {
        !matches!(self.view, View::Text(_))
            || self.is_written_out
            || self.typed_cells.get(row).is_some_and(|is_typed| *is_typed)
    }

    /// The column whose values go into this one of the target.
    fn going_into(mut self, column: &ShapeColumn, has_nul_fault: bool) -> Self {
        // A slice shares the data of the whole.
        let own = |offsets: &[i32]| match offsets {
            [first, .., last] => &self.data[*first as usize..*last as usize],
            _ => &[],
        };
        self.is_suspect = match self.view {
            View::Null => false,
            View::Bytes(_) => !column.bytes,
            View::Text(_) if self.are_values && !column.typed => true,
            View::Text(offsets) => {
                !column.bytes && has_nul_fault && memchr::memchr(0, own(offsets)).is_some()
            }
            View::Moment { values, per_second: MICROSECONDS, .. } => {
                !column.typed || values.iter().any(|value| is_endless(*value))
            }
            View::Date(values) => !column.typed || values.iter().any(|day| is_endless_day(*day)),
            _ => !column.typed,
        };
        self
    }

    /// Whether a value is what DuckDB's Arrow and Parquet have for `infinity` and `-infinity`, which are no dates.
    fn is_endless(&self, row: usize) -> bool {
        match self.view {
            View::Moment { values, per_second: MICROSECONDS, .. } => is_endless(values[row]),
            View::Date(values) => is_endless_day(values[row]),
            _ => false,
        }
    }

    /// The column where NULL has these spellings: numbers are compared with the number that a spelling is.
    fn with_nulls<'s>(mut self, spellings: impl Iterator<Item = &'s [u8]>) -> Self {
        let number = |spelling: &[u8]| match self.view {
            View::Float64(_) => null_float(spelling).map(Typed::Float),
            View::Int32(_) | View::Int64(_) | View::UInt64(_) => {
                inrush_scan::integer(spelling).ok().map(Typed::Integer)
            }
            _ => None,
        };
        self.null_numbers = spellings.filter_map(number).collect();
        self
    }

    #[cold]
    fn is_null_number(&self, number: Typed) -> bool {
        // What isn't a number, many a program writes for NULL.
        let is_same = |null: &Typed| match (*null, number) {
            (Typed::Float(null), Typed::Float(number)) => {
                null == number || null.is_nan() && number.is_nan()
            }
            (null, number) => null == number,
        };
        self.null_numbers.iter().any(is_same)
    }

    #[inline(always)]
    fn is_null(&self, row: usize) -> bool {
        matches!(self.view, View::Null) || self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    /// The place of a text, or of bytes.
    #[inline]
    fn place(&self, offsets: &[i32], row: usize) -> (Home, Span) {
        let (from, to) = (offsets[row] as u32, offsets[row + 1] as u32);
        (Home::Column(self.at), Span { at: from, len: to - from })
    }

    /// Appends a value as text; false for NULL.
    fn push_text(&self, row: usize, out: &mut Vec<u8>) -> bool {
        if self.is_null(row) {
            return false;
        }
        match (&self.view, self.typed(row)) {
            (View::Text(offsets) | View::Bytes(offsets), _) => {
                let (_, span) = self.place(offsets, row);
                out.extend_from_slice(&self.data[span.at as usize..(span.at + span.len) as usize]);
            }
            (_, Some(typed)) => typed.write(out),
            (_, None) => return false,
        }
        true
    }

    /// Appends a value as JSON has it that goes into the same column: text for bytes in base64, as bytes are, and documents, also
    /// lists and structs, as they are.
    fn push_json(&self, row: usize, taker: Option<&ShapeColumn>, out: &mut Vec<u8>) {
        let reading = taker.and_then(|taker| taker.reading.as_ref());
        let is_bytes = taker.is_some_and(|taker| taker.bytes);
        let mut text = Vec::new();
        if !self.push_text(row, &mut text) {
            return out.extend_from_slice(b"null");
        }
        match (&self.view, self.typed(row)) {
            (View::Text(_), _) if self.is_written_out && inrush_scan::float(&text).is_ok() => {
                out.extend_from_slice(&text);
            }
            (View::Text(_), _) if taker.is_some_and(takes_documents) && is_scalar(&text) => {
                out.extend_from_slice(&text);
            }
            // A list, a struct or a map, for which a column may have a type that takes no text.
            (View::Text(_), _) if self.is_written_out && !is_bytes && is_within_string(&text) => {
                out.extend_from_slice(&text);
            }
            (View::Text(_), _) if !is_bytes => {
                string(&String::from_utf8_lossy(&text), out);
            }
            (View::Text(_) | View::Bytes(_), _) => string(&BASE64_STANDARD.encode(&text), out),
            (_, Some(Typed::Date(_) | Typed::Moment(_))) => {
                let form = reading.and_then(|reading| reading.written_back(&text));
                string(&String::from_utf8_lossy(&form.unwrap_or(text)), out);
            }
            (_, Some(Typed::Float(number))) if !number.is_finite() => {
                string(&String::from_utf8_lossy(&text), out);
            }
            _ => out.extend_from_slice(&text),
        }
    }

    /// Any value but NULL and text. Compiled into the encoders: on the way through memory a value costs more than what most of them
    /// do with it.
    #[inline(always)]
    fn typed(&self, row: usize) -> Option<Typed> {
        Some(match self.view {
            View::Null | View::Text(_) => return None,
            View::Boolean(values) => Typed::Boolean(values.value(row)),
            View::Int32(values) => Typed::Integer(values[row].into()),
            View::Int64(values) => Typed::Integer(values[row]),
            View::UInt64(values) => match i64::try_from(values[row]) {
                Ok(number) => Typed::Integer(number),
                Err(_) => Typed::Decimal { digits: values[row].into(), scale: 0 },
            },
            View::Float64(values) => Typed::Float(values[row]),
            View::Decimal(values, scale) => Typed::Decimal { digits: values[row], scale },
            View::Date(values) => Typed::Date(values[row]),
            View::Moment { values, per_second, zone } => {
                Typed::Moment(Moment::of(values[row], per_second, zone))
            }
            View::Bytes(offsets) => {
                let (home, span) = self.place(offsets, row);
                Typed::Bytes(home, span)
            }
        })
    }
}

/// What DuckDB's timestamps are, but for those of a unit of their own: their infinity is a year that no target has, or with nanoseconds
/// one that is pandas' last.
const MICROSECONDS: i64 = 1_000_000;

/// What a column takes that is given an infinite moment or day, whatever its type.
pub const NOT_ENDLESS: &str = "a timestamp or date: it is what DuckDB writes for infinity";

fn is_endless(value: i64) -> bool {
    value == i64::MAX || value == -i64::MAX
}

fn is_endless_day(day: i32) -> bool {
    day == i32::MAX || day == -i32::MAX
}

/// The double that a spelling of NULL is: a number's, or what doubles are written as that are none.
fn null_float(spelling: &[u8]) -> Option<f64> {
    match spelling {
        b"NaN" => Some(f64::NAN),
        b"Infinity" => Some(f64::INFINITY),
        b"-Infinity" => Some(f64::NEG_INFINITY),
        spelling => inrush_scan::float(spelling).ok(),
    }
}

/// The columns of a batch that a load takes, in the load's order.
struct Columns<'a> {
    columns: Vec<Column<'a>>,
    /// What texts and bytes are in, for each column by its place in the batch.
    data: Vec<&'a [u8]>,
    nulls: &'a Nulls,
}

impl<'a> Columns<'a> {
    fn of(shape: &'a Shape, chunk: &'a Chunk) -> (Self, usize) {
        // Whoever makes chunks of columns gives each of them a batch.
        let Some(batch) = &chunk.batch else {
            return (Self { columns: vec![], data: vec![], nulls: &shape.nulls }, 0);
        };
        let fields = &shape.fields[chunk.origin.file as usize];
        let columns = fields.iter().zip(&shape.columns).map(|(field, column)| match field {
            Some(field) => Column::of(batch, *field)
                .of_sheet(chunk.sheet.as_ref())
                .going_into(column, shape.nul_fault.is_some()),
            None => Column::absent(),
        });
        let columns = columns.enumerate().map(|(at, column)| match shape.nulls.is_empty() {
            true => column,
            false => column.with_nulls(shape.nulls.of_column(at)),
        });
        let data = (0..batch.num_columns()).map(|at| column_data(batch, at));
        let (columns, data) = (columns.collect(), data.collect());
        (Self { columns, data, nulls: &shape.nulls }, batch.num_rows())
    }
}

/// One row.
struct ColumnsRow<'a> {
    columns: &'a Columns<'a>,
    at: usize,
    /// What the readings of columns have made of the values.
    reader: &'a Reader,
}

impl ColumnsRow<'_> {
    /// What is no text of the source's own is never spelled, but numbers, see [`Column::with_nulls`].
    fn is_null_spelling(&self, column: usize, text: &[u8]) -> bool {
        !self.columns.columns[column].is_written_out
            && self.columns.nulls.of_column(column).any(|null| null == text)
    }

    /// Values are looked at where there is reason to: texts, bytes that go where only text may, and what bytes could hold only as the
    /// digits of a text that the source does not have.
    fn check(&self, shape: &Shape) -> Result<(), BadRecord> {
        for (index, column) in self.columns.columns.iter().enumerate() {
            if !column.is_suspect || column.is_null(self.at) {
                continue;
            }
            let bad = |code, wanted| {
                Err(describe(shape, self, &BadValue { column: index, code, wanted }))
            };
            let takes_values = shape.columns[index].typed;
            match &column.view {
                View::Text(_) if column.are_values && !takes_values => {
                    return bad(Code::Type, "text or bytes");
                }
                View::Text(offsets) | View::Bytes(offsets) => {
                    let (home, span) = column.place(offsets, self.at);
                    check_text(shape, index, self.bytes(home, span, &[]))?;
                }
                _ if column.is_endless(self.at) => {
                    return bad(Code::Range, NOT_ENDLESS);
                }
                _ if !takes_values && self.typed(index).is_some() => {
                    return bad(Code::Type, "text or bytes");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Row for ColumnsRow<'_> {
    fn is_typed(&self, index: usize) -> bool {
        self.columns.columns[index].is_typed(self.at)
    }

    #[inline(always)]
    fn typed(&self, index: usize) -> Option<Typed> {
        let column = &self.columns.columns[index];
        if column.is_null(self.at) || self.reader.of(index) != Done::AsIs {
            return None;
        }
        let typed = column.typed(self.at)?;
        (column.null_numbers.is_empty() || !column.is_null_number(typed)).then_some(typed)
    }

    #[inline]
    fn value(&self, index: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        let column = &self.columns.columns[index];
        match self.reader.of(index) {
            Done::AsIs => {}
            Done::Null => return None,
            Done::Written(from, len) => {
                let at = values.len();
                values.extend_from_slice(self.reader.text(from, len));
                return Some((Home::Wire, Span { at: at as u32, len }));
            }
        }
        if let View::Text(offsets) = column.view {
            if column.is_null(self.at) {
                return None;
            }
            let (home, span) = column.place(offsets, self.at);
            let is_null = !self.columns.nulls.is_empty()
                && self.is_null_spelling(index, self.bytes(home, span, values));
            return (!is_null).then_some((home, span));
        }
        match self.typed(index)? {
            Typed::Bytes(home, span) => Some((home, span)),
            typed => {
                let at = values.len();
                typed.write(values);
                Some((Home::Wire, Span { at: at as u32, len: (values.len() - at) as u32 }))
            }
        }
    }

    fn source_value(&self, index: usize, values: &mut Vec<u8>) -> Option<(Home, Span)> {
        let has_value = !self.columns.columns[index].is_null(self.at);
        match has_value && self.reader.of(index) != Done::AsIs {
            true => ColumnsRow { reader: &Reader::default(), ..*self }.value(index, values),
            false => self.value(index, values),
        }
    }

    #[inline]
    fn bytes<'b>(&'b self, home: Home, span: Span, values: &'b [u8]) -> &'b [u8] {
        let from = match home {
            Home::Column(at) => self.columns.data[usize::from(at)],
            Home::Chunk | Home::Wire => values,
        };
        &from[span.at as usize..(span.at + span.len) as usize]
    }

    #[inline(always)]
    fn text_among(&self, column: usize) -> Option<(&[u8], Span)> {
        if self.reader.of(column) != Done::AsIs {
            return None;
        }
        let column = &self.columns.columns[column];
        let View::Text(offsets) = column.view else { return None };
        if column.is_null(self.at) || !self.columns.nulls.is_empty() {
            return None;
        }
        let (_, span) = column.place(offsets, self.at);
        Some((column.data, span))
    }

    #[inline(always)]
    fn fields(&self) -> &[Field] {
        &[]
    }

    #[inline(always)]
    fn text(&self) -> &[u8] {
        &[]
    }
}

/// The row loop around an [`EncodeRow`].
pub(super) struct ColumnsEncoder<R> {
    shape: Arc<Shape>,
    row: R,
}

impl<R: EncodeRow> ColumnsEncoder<R> {
    pub(super) fn new(shape: Arc<Shape>, row: R) -> Self {
        Self { shape, row }
    }
}

impl<R: EncodeRow> Encode for ColumnsEncoder<R> {
    fn encode(&mut self, chunk: &Chunk, out: &mut Encoded) {
        let Self { shape, row: encoder } = self;
        let shape: &Shape = shape;
        let (columns, rows) = Columns::of(shape, chunk);
        let is_clean = columns.columns.iter().all(|column| !column.is_suspect);
        let reads = Reader::is_needed(shape);
        let sheet = chunk.sheet.as_ref().filter(|sheet| !sheet.bad.is_empty());
        let (unread, mut reader, mut memory) = (Reader::default(), Reader::default(), Vec::new());
        for at in 0..rows {
            let row = ColumnsRow { columns: &columns, at, reader: &unread };
            let before = out.wire.mark();
            let checked = if is_clean { Ok(()) } else { row.check(shape) };
            let checked = match sheet {
                Some(sheet) => checked.and_then(|()| check_cells(shape, chunk, sheet, at as u32)),
                None => checked,
            };
            let checked = match reads {
                true => checked.and_then(|()| {
                    let place = Whereabouts::of(chunk, out.records);
                    reader.read(shape, place, &mut memory, &row)?;
                    refuse_null(shape, &ColumnsRow { reader: &reader, ..row })
                }),
                false => checked,
            };
            let row = ColumnsRow { reader: &reader, ..row };
            let outcome = checked.and_then(|()| {
                encoder.row(&row, &mut out.wire).map_err(|bad| describe(shape, &row, &bad))
            });
            let at = at as u32;
            if let Err(bad) = outcome {
                out.wire.rewind(before);
                let verdict = bad.verdict;
                if out.bad(shape, bad.at(at, at + 1, at, 0), verdict) {
                    break;
                }
            } else {
                let end = out.wire.bytes.len() as u32;
                out.wire.rows.push(RowMark { start: at, end });
            }
            out.records += 1;
        }
        encoder.end(chunk, out);
    }
}

/// Cells of a sheet that hold no value are bad, if the load takes their column.
#[cold]
fn check_cells(shape: &Shape, chunk: &Chunk, sheet: &SheetRows, row: u32) -> Result<(), BadRecord> {
    let fields = &shape.fields[chunk.origin.file as usize];
    let taken = sheet.bad_of(row).iter().find_map(|bad| {
        Some((fields.iter().position(|field| *field == Some(bad.column as usize))?, bad))
    });
    match taken {
        None => Ok(()),
        Some((column, bad)) => Err(BadRecord {
            column: Some(column),
            code: Code::Type,
            message: bad.message.to_string(),
            verdict: Verdict::Bad,
        }),
    }
}

/// A row of a sheet as a line of CSV: what each cell shows, or, beside texts that options read, its value as these are written.
pub(super) fn csv_line(shape: &Shape, chunk: &Chunk, sheet: &SheetRows, row: usize) -> Vec<u8> {
    let Some(batch) = &chunk.batch else { return Vec::new() };
    let (mut out, mut text) = (Vec::new(), Vec::new());
    let bad = sheet.bad_of(row as u32);
    for (at, taker) in takers(shape, chunk, batch).into_iter().enumerate() {
        text.clear();
        if let Some(bad) = bad.iter().find(|bad| bad.column as usize == at) {
            text.extend_from_slice(bad.shown.as_bytes());
        } else {
            let column = Column::of(batch, at).of_sheet(Some(sheet));
            column.push_text(row, &mut text);
            let reading = taker.and_then(|taker| taker.reading.as_ref());
            let reading = reading.filter(|_| column.is_typed(row));
            if let Some(form) = reading.and_then(|reading| reading.written_back(&text)) {
                text = form;
            }
        }
        if at > 0 {
            out.push(b',');
        }
        csv_field(&text, &mut out);
    }
    out.push(b'\n');
    out
}

/// Where the values of each column of the source go.
fn takers<'s>(
    shape: &'s Shape,
    chunk: &Chunk,
    batch: &RecordBatch,
) -> Vec<Option<&'s ShapeColumn>> {
    let mut takers = vec![None; batch.num_columns()];
    for (field, column) in shape.fields[chunk.origin.file as usize].iter().zip(&shape.columns) {
        if let Some(at) = field {
            takers[*at] = Some(column);
        }
    }
    takers
}

/// Appends a field as CSV has it, in quotes where it needs them.
pub fn csv_field(text: &[u8], out: &mut Vec<u8>) {
    let edges = [text.first(), text.last()];
    let has_edge = edges.into_iter().flatten().any(u8::is_ascii_whitespace);
    if !has_edge && !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for byte in text {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

impl Unread for ColumnsRow<'_> {
    fn given<'m>(&'m self, column: usize, memory: &'m mut Vec<u8>) -> Option<Given<'m>> {
        use View::{Boolean, Bytes, Date, Float64, Null};
        let view = &self.columns.columns[column].view;
        if matches!(view, Null | Boolean(_) | Date(_) | Bytes(_)) {
            return None;
        }
        let is_text = !self.columns.columns[column].is_typed(self.at);
        if matches!(view, Float64(_))
            && let Some(Typed::Float(number)) = self.typed(column)
            && let Some(number) = whole(number)
        {
            Typed::Integer(number).write(memory);
            return Some(Given { text: memory, escaped: None, is_quoted: false, is_text });
        }
        let (home, span) = self.value(column, memory)?;
        let text = self.bytes(home, span, memory);
        Some(Given { text, escaped: None, is_quoted: false, is_text })
    }

    fn are_typed(&self, column: usize) -> bool {
        let column = &self.columns.columns[column];
        !matches!(column.view, View::Text(_)) || column.is_written_out
    }

    fn is_null(&self, column: usize, text: &[u8], _is_quoted: bool) -> bool {
        self.is_null_spelling(column, text)
    }
}

/// The bad rows that a lane's faults name.
pub(super) fn found_by_lane(
    shape: &Shape,
    chunk: &Chunk,
    encoded: &Encoded,
    faults: &[RowFault],
) -> Vec<Found> {
    let (columns, _) = Columns::of(shape, chunk);
    let found = |fault: &RowFault| {
        let at = encoded.wire.rows[fault.row as usize].start;
        let row = ColumnsRow { columns: &columns, at: at as usize, reader: &Reader::default() };
        told_by_lane(shape, fault, &row).at(at, at + 1, at, 0)
    };
    faults.iter().map(found).collect()
}

/// The whole number that a double is: as such it has no exponent, and may count what it likes.
fn whole(number: f64) -> Option<i64> {
    /// 2^63, the first one that is too large.
    const END: f64 = 9_223_372_036_854_775_808.0;
    (number.fract() == 0.0 && (-END..END).contains(&number)).then_some(number as i64)
}

/// Values of a batch as text.
pub struct Texts<'a>(Vec<Column<'a>>);

impl<'a> Texts<'a> {
    /// Of columns that have a view.
    pub fn of(batch: &'a RecordBatch) -> Self {
        Self((0..batch.num_columns()).map(|at| Column::of(batch, at)).collect())
    }

    /// Appends a value; false where it is NULL.
    pub fn push(&self, column: usize, row: usize, out: &mut Vec<u8>) -> bool {
        self.0[column].push_text(row, out)
    }
}

/// A row as an object of JSON, on a line. Days and moments are strings, which are in the form that their column's strings are read in.
pub(super) fn object(shape: &Shape, chunk: &Chunk, row: usize) -> Vec<u8> {
    let Some(batch) = &chunk.batch else { return Vec::new() };
    let mut out = vec![b'{'];
    let fields = batch.schema_ref().fields().iter().zip(takers(shape, chunk, batch));
    for (at, (field, taker)) in fields.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        string(field.name(), &mut out);
        out.push(b':');
        Column::of(batch, at).push_json(row, taker, &mut out);
    }
    out.extend_from_slice(b"}\n");
    out
}

/// Whether a text is a document of JSON that is a value by itself. Of a string only an object or an array is made.
fn is_scalar(text: &[u8]) -> bool {
    !matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
        && rule::json_grammar(text).is_ok()
}

fn string(text: &str, out: &mut Vec<u8>) {
    // Writing to memory doesn't fail.
    let _ = serde_json::to_writer(out, text);
}
