//! Columns that grow row by row.

use std::mem::{replace, take};
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray, new_null_array,
};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::column::ArrowColumn;
use crate::nested::Nested;
use crate::value::{self, Days, Decimals, Misfit, Moments, Whole, plain_whole};
use inrush_core::Type;
use inrush_core::encode::Typed;
use inrush_core::flow::Code;
use inrush_core::value::rule;

/// Texts or bytes, one after the other.
#[derive(Debug)]
struct Runs {
    /// Where each begins, and where the last one ends.
    offsets: Vec<i32>,
    data: Vec<u8>,
}

impl Runs {
    fn new() -> Self {
        Self { offsets: vec![0], data: Vec::new() }
    }

    /// False when there is no room: a batch of a chunk's values stays far below the 2 GiB that offsets reach.
    #[inline(always)]
    fn push(&mut self, value: &[u8]) -> bool {
        self.data.extend_from_slice(value);
        let Ok(end) = i32::try_from(self.data.len()) else { return false };
        self.offsets.push(end);
        true
    }

    fn push_nothing(&mut self) {
        self.offsets.push(self.data.len() as i32);
    }

    fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        self.data.truncate(self.offsets.last().map_or(0, |end| *end as usize));
    }

    fn take(&mut self) -> (OffsetBuffer<i32>, Vec<u8>) {
        let capacity = (self.offsets.len(), self.data.len());
        let mut offsets = Vec::with_capacity(capacity.0);
        offsets.push(0);
        let offsets = replace(&mut self.offsets, offsets);
        let data = replace(&mut self.data, Vec::with_capacity(capacity.1));
        (OffsetBuffer::new(offsets.into()), data)
    }
}

/// Says nothing to users: such a text is the engine's to read, or not.
const TWO_READINGS: Misfit = (Code::Type, "a document that the engine reads alike");

/// Whether a backslash stands before a character that it makes another one of in JSON (`\n`), and that itself in the engine's own words.
fn has_escapes(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while bytes.any(|byte| *byte == b'\\') {
        if !matches!(bytes.next(), Some(b'"' | b'\\' | b'/')) {
            return true;
        }
    }
    false
}

const TOO_LONG: Misfit = (Code::TooLong, "2 GiB of text in one batch");

#[derive(Debug)]
enum Values {
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Decimal(Vec<i128>, Decimals),
    Boolean(Vec<bool>),
    Day(Vec<i32>, Days),
    Moment(Vec<i64>, Moments),
    /// Microseconds since midnight; whether they may be those of a whole day.
    Time(Vec<i64>, bool),
    /// Any text.
    Text(Runs),
    /// Text of some kind.
    Document(Runs, Type),
    /// Documents of lists, structs or maps, and what the engine has besides.
    Nested {
        runs: Runs,
        tree: Arc<Nested>,
        takes_literals: bool,
    },
    /// UUIDs, as most programs write them.
    Uuid(Runs),
    Bytes(Runs),
    /// Bytes of which text has some as `\xHH`.
    Escaped(Runs),
    /// Nothing but NULL, in so many rows.
    Absent(usize),
}

impl Values {
    fn of(column: &ArrowColumn) -> Self {
        if column.from.is_none() {
            return Self::Absent(0);
        }
        match &column.ty {
            DataType::Int8 => Self::Int8(Vec::new()),
            DataType::Int16 => Self::Int16(Vec::new()),
            DataType::Int32 => Self::Int32(Vec::new()),
            DataType::Int64 => Self::Int64(Vec::new()),
            DataType::UInt8 => Self::UInt8(Vec::new()),
            DataType::UInt16 => Self::UInt16(Vec::new()),
            DataType::UInt32 => Self::UInt32(Vec::new()),
            DataType::UInt64 => Self::UInt64(Vec::new()),
            DataType::Float32 => Self::Single(Vec::new()),
            DataType::Float64 => Self::Double(Vec::new()),
            DataType::Decimal128(precision, scale) => {
                Self::Decimal(Vec::new(), Decimals::new(*precision, *scale as u8))
            }
            DataType::Boolean => Self::Boolean(Vec::new()),
            DataType::Date32 => {
                let ArrowColumn { infinite_ends, takes_far, .. } = *column;
                Self::Day(Vec::new(), Days { infinite_ends, takes_far })
            }
            DataType::Timestamp(unit, zone) => {
                let per_second = match unit {
                    TimeUnit::Second => 1,
                    TimeUnit::Millisecond => 1_000,
                    TimeUnit::Microsecond => 1_000_000,
                    TimeUnit::Nanosecond => 1_000_000_000,
                };
                let zone = zone.is_some();
                let ArrowColumn { infinite_ends, takes_days, takes_far, .. } = *column;
                let takes_days = takes_days && !zone;
                let moments = Moments::new(per_second, zone, infinite_ends);
                Self::Moment(Vec::new(), Moments { takes_days, takes_far, ..moments })
            }
            DataType::Time64(_) => Self::Time(Vec::new(), column.takes_day_end),
            DataType::Binary if column.escapes => Self::Escaped(Runs::new()),
            DataType::Binary => Self::Bytes(Runs::new()),
            // There is nothing else, see `ArrowColumn::takes`.
            _ => match (&column.nested, column.content) {
                (Some(tree), _) => Self::Nested {
                    runs: Runs::new(),
                    tree: Arc::clone(tree),
                    takes_literals: column.takes_literals,
                },
                (None, content @ (Type::Json | Type::Decimal { .. })) => {
                    Self::Document(Runs::new(), content)
                }
                (None, Type::Uuid) => Self::Uuid(Runs::new()),
                _ => Self::Text(Runs::new()),
            },
        }
    }
}

/// One column of a batch that is being made.
#[derive(Debug)]
pub(super) struct Builder {
    ty: DataType,
    values: Values,
    strict: bool,
    /// Rows that are NULL, in order. Most columns have few, and a bitmap is made of them at the end.
    nulls: Vec<u32>,
}

impl Builder {
    pub(super) fn of(column: &ArrowColumn) -> Self {
        let (ty, strict) = (column.ty.clone(), column.strict);
        Self { ty, values: Values::of(column), strict, nulls: Vec::new() }
    }

    /// Appends the value that is written at `start..end` of `bytes` if it is written as most are. `false` says nothing; ask
    /// [`Builder::push_text`].
    #[inline(always)]
    pub(super) fn push_plain(&mut self, bytes: &[u8], start: usize, end: usize) -> bool {
        match &mut self.values {
            Values::Int64(values) => put(values, plain_whole(bytes, start, end)),
            Values::Double(values) => put(values, inrush_scan::plain_decimal(&bytes[start..end])),
            Values::Text(runs) => runs.push(&bytes[start..end]),
            Values::Moment(values, moments) => put(values, moments.read(&bytes[start..end])),
            Values::Decimal(values, decimals) => put(values, decimals.plain(&bytes[start..end])),
            Values::Day(values, _) => put(values, inrush_scan::date_days(&bytes[start..end])),
            Values::Boolean(values) => put(values, inrush_scan::is_boolean(&bytes[start..end])),
            Values::Int32(values) => put(values, plain_whole(bytes, start, end)),
            Values::Int16(values) => put(values, plain_whole(bytes, start, end)),
            Values::Int8(values) => put(values, plain_whole(bytes, start, end)),
            Values::UInt64(values) => put(values, plain_whole(bytes, start, end)),
            Values::UInt32(values) => put(values, plain_whole(bytes, start, end)),
            Values::UInt16(values) => put(values, plain_whole(bytes, start, end)),
            Values::UInt8(values) => put(values, plain_whole(bytes, start, end)),
            Values::Bytes(runs) => runs.push(&bytes[start..end]),
            Values::Time(values, takes_day_end) => {
                put(values, value::time(&bytes[start..end], *takes_day_end).ok())
            }
            Values::Single(_)
            | Values::Document(..)
            | Values::Nested { .. }
            | Values::Uuid(_)
            | Values::Escaped(_)
            | Values::Absent(_) => false,
        }
    }

    /// Whether text is a notation for bytes.
    pub(super) fn is_notation(&self) -> bool {
        matches!(self.values, Values::Escaped(_))
    }

    /// Appends bytes that are no text.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), Misfit> {
        match &mut self.values {
            Values::Escaped(runs) => runs.push(bytes).then_some(()).ok_or(TOO_LONG),
            _ => self.push_text(bytes),
        }
    }

    /// Whether text may be a document, and another value is one.
    pub(super) fn is_nested(&self) -> bool {
        matches!(self.values, Values::Nested { .. })
    }

    /// Appends a document that can't be anything else.
    pub(super) fn push_document(&mut self, document: &[u8]) -> Result<(), Misfit> {
        match &mut self.values {
            Values::Nested { runs, tree, .. } => {
                runs.data.push(b' ');
                tree.write(document, &mut runs.data)?;
                runs.push(&[]).then_some(()).ok_or(TOO_LONG)
            }
            _ => self.push_text(document),
        }
    }

    /// Appends a value that the source has in a type of its own. `false` where that is not the column's; ask
    /// [`Builder::push_text`].
    #[inline(always)]
    pub(super) fn push_typed(&mut self, typed: Typed) -> bool {
        fn whole<T: Whole>(values: &mut Vec<T>, number: i64) -> bool {
            put(values, T::try_from(number).ok())
        }
        match (&mut self.values, typed) {
            (Values::Int64(values), Typed::Integer(number)) => whole(values, number),
            (Values::Int32(values), Typed::Integer(number)) => whole(values, number),
            (Values::Int16(values), Typed::Integer(number)) => whole(values, number),
            (Values::Int8(values), Typed::Integer(number)) => whole(values, number),
            (Values::UInt64(values), Typed::Integer(number)) => whole(values, number),
            (Values::UInt32(values), Typed::Integer(number)) => whole(values, number),
            (Values::UInt16(values), Typed::Integer(number)) => whole(values, number),
            (Values::UInt8(values), Typed::Integer(number)) => whole(values, number),
            (Values::Double(values), Typed::Float(number)) => {
                put(values, (number.is_finite() || !self.strict).then_some(number))
            }
            (Values::Single(values), Typed::Float(number)) => {
                let single = number as f32;
                let is_same = f64::from(single) == number && (single.is_finite() || !self.strict);
                put(values, is_same.then_some(single))
            }
            (Values::Decimal(values, decimals), Typed::Decimal { digits, scale }) => {
                put(values, decimals.rescaled(digits, scale))
            }
            (Values::Decimal(values, decimals), Typed::Integer(number)) => {
                put(values, decimals.rescaled(number.into(), 0))
            }
            (Values::Boolean(values), Typed::Boolean(truth)) => put(values, Some(truth)),
            (Values::Day(values, days), Typed::Date(day)) => put(values, days.keep(day)),
            (Values::Moment(values, moments), Typed::Moment(moment)) => {
                put(values, moments.count(moment))
            }
            (Values::Moment(values, moments), Typed::Date(day)) => {
                put(values, moments.midnight(day))
            }
            _ => false,
        }
    }

    /// Appends the value of any text, or says why not.
    #[inline(never)]
    pub(super) fn push_text(&mut self, text: &[u8]) -> Result<(), Misfit> {
        let strict = self.strict;
        match &mut self.values {
            Values::Int8(values) => values.push(value::whole(text, strict)?),
            Values::Int16(values) => values.push(value::whole(text, strict)?),
            Values::Int32(values) => values.push(value::whole(text, strict)?),
            Values::Int64(values) => values.push(value::whole(text, strict)?),
            Values::UInt8(values) => values.push(value::whole(text, strict)?),
            Values::UInt16(values) => values.push(value::whole(text, strict)?),
            Values::UInt32(values) => values.push(value::whole(text, strict)?),
            Values::UInt64(values) => values.push(value::whole(text, strict)?),
            Values::Single(values) => values.push(value::single(text, strict)?),
            Values::Double(values) => values.push(value::double(text, strict)?),
            Values::Decimal(values, decimals) => values.push(decimals.keep(text, strict)?),
            Values::Boolean(values) => values.push(value::truth(text, strict)?),
            Values::Day(values, days) => {
                values.push(value::day(text).or_else(|misfit| days.far(text).ok_or(misfit))?);
            }
            Values::Moment(values, moments) => {
                let read = moments.read(text).or_else(|| moments.midnight(value::day(text).ok()?));
                let read = read.or_else(|| moments.far(text));
                values.push(read.ok_or_else(|| moments.misfit(text))?);
            }
            Values::Time(values, takes_day_end) => {
                values.push(value::time(text, *takes_day_end)?);
            }
            Values::Uuid(runs) => {
                let text = rule::uuid_text(rule::uuid(text)?);
                return runs.push(&text).then_some(()).ok_or(TOO_LONG);
            }
            Values::Document(runs, content) => {
                value::check_text(text, *content)?;
                return runs.push(text).then_some(()).ok_or(TOO_LONG);
            }
            Values::Nested { runs, tree, takes_literals } => {
                let start = runs.data.len();
                runs.data.push(b' ');
                let written = match *takes_literals && has_escapes(text) {
                    true => Err(TWO_READINGS),
                    false => tree.write(text, &mut runs.data),
                };
                if let Err(misfit) = written {
                    // What begins with a space the engine has not written.
                    if !*takes_literals || text.starts_with(b" ") {
                        return Err(misfit);
                    }
                    runs.data.truncate(start);
                    runs.data.extend_from_slice(text);
                }
                return runs.push(&[]).then_some(()).ok_or(TOO_LONG);
            }
            Values::Escaped(runs) => {
                value::unescape(text, &mut runs.data)?;
                return runs.push(&[]).then_some(()).ok_or(TOO_LONG);
            }
            Values::Text(runs) | Values::Bytes(runs) => {
                return runs.push(text).then_some(()).ok_or(TOO_LONG);
            }
            // No value comes here.
            Values::Absent(rows) => *rows += 1,
        }
        Ok(())
    }

    /// Appends NULL to a column of so many rows.
    #[inline]
    pub(super) fn push_null(&mut self, rows: usize) {
        match &mut self.values {
            Values::Int8(values) => values.push(0),
            Values::Int16(values) => values.push(0),
            Values::Int32(values) | Values::Day(values, _) => values.push(0),
            Values::Int64(values) | Values::Moment(values, _) | Values::Time(values, _) => {
                values.push(0);
            }
            Values::UInt8(values) => values.push(0),
            Values::UInt16(values) => values.push(0),
            Values::UInt32(values) => values.push(0),
            Values::UInt64(values) => values.push(0),
            Values::Single(values) => values.push(0.0),
            Values::Double(values) => values.push(0.0),
            Values::Decimal(values, _) => values.push(0),
            Values::Boolean(values) => values.push(false),
            Values::Text(runs)
            | Values::Document(runs, _)
            | Values::Nested { runs, .. }
            | Values::Uuid(runs)
            | Values::Bytes(runs)
            | Values::Escaped(runs) => {
                runs.push_nothing();
            }
            Values::Absent(rows) => {
                *rows += 1;
                return;
            }
        }
        self.nulls.push(rows as u32);
    }

    /// Takes back what came after the first `rows`.
    pub(super) fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            Values::Int8(values) => values.truncate(rows),
            Values::Int16(values) => values.truncate(rows),
            Values::Int32(values) | Values::Day(values, _) => values.truncate(rows),
            Values::Int64(values) | Values::Moment(values, _) | Values::Time(values, _) => {
                values.truncate(rows);
            }
            Values::UInt8(values) => values.truncate(rows),
            Values::UInt16(values) => values.truncate(rows),
            Values::UInt32(values) => values.truncate(rows),
            Values::UInt64(values) => values.truncate(rows),
            Values::Single(values) => values.truncate(rows),
            Values::Double(values) => values.truncate(rows),
            Values::Decimal(values, _) => values.truncate(rows),
            Values::Boolean(values) => values.truncate(rows),
            Values::Text(runs)
            | Values::Document(runs, _)
            | Values::Nested { runs, .. }
            | Values::Uuid(runs)
            | Values::Bytes(runs)
            | Values::Escaped(runs) => {
                runs.truncate(rows);
            }
            Values::Absent(count) => *count = rows.min(*count),
        }
        while self.nulls.last().is_some_and(|null| *null as usize >= rows) {
            self.nulls.pop();
        }
    }

    /// Takes the column's `rows` rows; it is then empty.
    pub(super) fn take(&mut self, rows: usize) -> ArrayRef {
        let nulls = null_buffer(&mut self.nulls, rows);
        match &mut self.values {
            Values::Int8(values) => primitive::<Int8Type>(values, nulls),
            Values::Int16(values) => primitive::<Int16Type>(values, nulls),
            Values::Int32(values) => primitive::<Int32Type>(values, nulls),
            Values::Int64(values) => primitive::<Int64Type>(values, nulls),
            Values::UInt8(values) => primitive::<UInt8Type>(values, nulls),
            Values::UInt16(values) => primitive::<UInt16Type>(values, nulls),
            Values::UInt32(values) => primitive::<UInt32Type>(values, nulls),
            Values::UInt64(values) => primitive::<UInt64Type>(values, nulls),
            Values::Single(values) => primitive::<Float32Type>(values, nulls),
            Values::Double(values) => primitive::<Float64Type>(values, nulls),
            Values::Day(values, _) => primitive::<Date32Type>(values, nulls),
            Values::Decimal(values, _) => {
                let array = PrimitiveArray::<Decimal128Type>::new(taken(values), nulls);
                Arc::new(array.with_data_type(self.ty.clone()))
            }
            Values::Moment(values, _) => {
                let values = taken(values);
                match &self.ty {
                    DataType::Timestamp(TimeUnit::Second, _) => {
                        moments::<TimestampSecondType>(&self.ty, values, nulls)
                    }
                    DataType::Timestamp(TimeUnit::Millisecond, _) => {
                        moments::<TimestampMillisecondType>(&self.ty, values, nulls)
                    }
                    DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                        moments::<TimestampNanosecondType>(&self.ty, values, nulls)
                    }
                    _ => moments::<TimestampMicrosecondType>(&self.ty, values, nulls),
                }
            }
            Values::Time(values, _) => primitive::<Time64MicrosecondType>(values, nulls),
            Values::Boolean(values) => {
                let bits = BooleanBuffer::from(values.as_slice());
                values.clear();
                Arc::new(BooleanArray::new(bits, nulls))
            }
            Values::Text(runs)
            | Values::Document(runs, _)
            | Values::Nested { runs, .. }
            | Values::Uuid(runs) => {
                let (offsets, data) = runs.take();
                // Whoever reads rows has looked at their text; the array looks again, which takes a small part of the time that
                // copying it took.
                Arc::new(StringArray::new(offsets, data.into(), nulls))
            }
            Values::Bytes(runs) | Values::Escaped(runs) => {
                let (offsets, data) = runs.take();
                Arc::new(BinaryArray::new(offsets, data.into(), nulls))
            }
            Values::Absent(count) => {
                *count = 0;
                new_null_array(&self.ty, rows)
            }
        }
    }
}

#[inline(always)]
fn put<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
    match value {
        Some(value) => {
            values.push(value);
            true
        }
        None => false,
    }
}

/// The values, behind which there is room for as many again.
fn taken<T: arrow_buffer::ArrowNativeType>(values: &mut Vec<T>) -> ScalarBuffer<T> {
    let capacity = values.len();
    replace(values, Vec::with_capacity(capacity)).into()
}

fn primitive<T: ArrowPrimitiveType>(
    values: &mut Vec<T::Native>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(taken(values), nulls))
}

fn moments<T: ArrowPrimitiveType<Native = i64>>(
    ty: &DataType,
    values: ScalarBuffer<i64>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values, nulls).with_data_type(ty.clone()))
}

fn null_buffer(nulls: &mut Vec<u32>, rows: usize) -> Option<NullBuffer> {
    if nulls.is_empty() {
        return None;
    }
    let mut bits = BooleanBufferBuilder::new(rows);
    bits.append_n(rows, true);
    take(nulls).into_iter().for_each(|null| bits.set_bit(null as usize, false));
    Some(NullBuffer::new(bits.finish()))
}
