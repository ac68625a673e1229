//! Rows to columns: each chunk becomes one record batch, in the types that the table's columns have.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use inrush_scan::{self as scan, NumberFault};

use crate::pipe::encode::{self, BadValue, EncodeRow, Encoded, Row, Shape, Typed};
use crate::pipe::{Chunk, Code, Encode, Wire};
use crate::plan::{Plan, Type};
use crate::source::infer::is_json;
use crate::target::double;
use crate::target::duckdb::types::Carried;

/// Bytes of a batch for each byte of a chunk, at worst: a field of one byte becomes a decimal of 16 with its place in a string.
pub(super) const GROWTH: usize = 18;

/// An encoder for one thread.
pub(super) fn encoder(shape: Arc<Shape>, plan: &Plan, carried: &[Carried]) -> Box<dyn Encode> {
    encode::encoder(shape, ColumnEncoder::new(plan, carried))
}

/// The batch that the encoder made; `None` for a chunk without good rows.
pub(super) fn batch_of(wire: &Wire) -> Option<RecordBatch> {
    wire.batch.clone()
}

type Misfit = (Code, &'static str);

/// One column of the batch that is being made.
struct Column {
    carried: Carried,
    ty: Type,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    strict: bool,
    required: bool,
    /// Fixed widths, or bytes of strings.
    values: Vec<u8>,
    /// Where each string ends; the first one begins at 0.
    ends: Vec<i32>,
    /// Rows without a value, ascending.
    nulls: Vec<u32>,
}

/// Makes one batch a chunk.
struct ColumnEncoder {
    columns: Vec<Column>,
    schema: SchemaRef,
    rows: usize,
}

impl ColumnEncoder {
    fn new(plan: &Plan, carried: &[Carried]) -> Self {
        let fields: Vec<Field> = plan
            .choice
            .columns
            .iter()
            .zip(carried)
            .map(|(column, carried)| Field::new(&column.name, data_type(*carried), true))
            .collect();
        let columns = plan.choice.columns.iter().zip(carried).map(|(column, carried)| Column {
            carried: *carried,
            ty: column.ty,
            strict: !column.pinned,
            required: column.required,
            values: Vec::new(),
            ends: Vec::new(),
            nulls: Vec::new(),
        });
        Self { columns: columns.collect(), schema: Arc::new(Schema::new(fields)), rows: 0 }
    }
}

impl EncodeRow for ColumnEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let rows = self.rows;
        for index in 0..self.columns.len() {
            let column = &mut self.columns[index];
            if let Some(typed) = row.typed(index)
                && column.push_typed(typed)
            {
                continue;
            }
            let pushed = match row.value(index, &mut wire.values) {
                None if column.required => {
                    self.take_back(index + 1);
                    return Err(BadValue::null(index));
                }
                None => {
                    column.push_null(rows);
                    continue;
                }
                Some((home, span)) => column.push(row.bytes(home, span, &wire.values)),
            };
            if let Err((code, wanted)) = pushed {
                self.take_back(index + 1);
                return Err(BadValue { column: index, code, wanted });
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn end(&mut self, _chunk: &Chunk, out: &mut Encoded) {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            self.columns.iter_mut().for_each(Column::clear);
            return;
        }
        let arrays: Vec<ArrayRef> =
            self.columns.iter_mut().map(|column| column.finish(rows)).collect();
        out.wire.batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).ok();
        // What was written out is in the batch by now.
        out.wire.values.clear();
    }
}

impl ColumnEncoder {
    /// Takes back what a bad row has left in the first columns.
    #[cold]
    fn take_back(&mut self, columns: usize) {
        let rows = self.rows;
        self.columns[..columns].iter_mut().for_each(|column| column.truncate(rows));
    }
}

impl Column {
    /// Bytes of a value; `None` for strings.
    fn width(&self) -> Option<usize> {
        Some(match self.carried {
            Carried::Boolean => 1,
            Carried::Integer { bits, .. } => usize::from(bits / 8),
            Carried::Float | Carried::Date => 4,
            Carried::Double | Carried::Timestamp { .. } | Carried::Moment => 8,
            Carried::Decimal { .. } => 16,
            Carried::Text | Carried::Bytes | Carried::Json | Carried::Cast => return None,
        })
    }

    fn push_null(&mut self, row: usize) {
        self.nulls.push(row as u32);
        match self.width() {
            Some(width) => self.values.resize(self.values.len() + width, 0),
            None => self.ends.push(self.values.len() as i32),
        }
    }

    #[inline(always)]
    fn push_bytes(&mut self, value: &[u8]) {
        self.values.extend_from_slice(value);
        self.ends.push(self.values.len() as i32);
    }

    #[inline(always)]
    fn push(&mut self, value: &[u8]) -> Result<(), Misfit> {
        match self.carried {
            Carried::Text if matches!(self.ty, Type::Text) => {
                self.push_bytes(value);
                return Ok(());
            }
            Carried::Integer { bits: 64, signed: true } => {
                if let Some(number) = scan::plain_integer(value) {
                    self.values.extend_from_slice(&number.to_ne_bytes());
                    return Ok(());
                }
            }
            Carried::Double => {
                if let Some(number) = scan::plain_decimal(value) {
                    self.values.extend_from_slice(&number.to_ne_bytes());
                    return Ok(());
                }
            }
            _ => {}
        }
        self.push_other(value)
    }

    #[inline(never)]
    fn push_other(&mut self, value: &[u8]) -> Result<(), Misfit> {
        match self.carried {
            Carried::Boolean => match (scan::is_boolean(value), value) {
                (Some(truth), _) => self.values.push(u8::from(truth)),
                (None, b"0" | b"1") if !self.strict => self.values.push(value[0] - b'0'),
                _ => return Err((Code::Type, "a boolean (true, false)")),
            },
            Carried::Integer { bits, signed } => {
                let number = integer(value, self.strict, bits, signed)?;
                self.put_integer(number, bits);
            }
            Carried::Double => {
                let number = double::kept(value, self.strict)?;
                self.values.extend_from_slice(&number.to_ne_bytes());
            }
            Carried::Float => {
                let number = single(double::kept(value, self.strict)?)?;
                self.values.extend_from_slice(&number.to_ne_bytes());
            }
            Carried::Decimal { precision, scale } => {
                let digits = decimal(value, self.strict, precision, scale)?;
                self.values.extend_from_slice(&digits.to_ne_bytes());
            }
            Carried::Date => match scan::date_days(value) {
                Some(days) => self.values.extend_from_slice(&days.to_ne_bytes()),
                None => return Err((Code::Type, "a date of the calendar (YYYY-MM-DD)")),
            },
            Carried::Timestamp { digits } => {
                let ticks = match scan::timestamp(value) {
                    Some(scan::Zone::None) => ticks(value, digits)?,
                    _ => return Err((Code::Type, "a timestamp (YYYY-MM-DD HH:MM:SS)")),
                };
                self.values.extend_from_slice(&ticks.to_ne_bytes());
            }
            Carried::Moment => {
                let ticks = match scan::timestamp(value) {
                    Some(scan::Zone::Offset) => ticks(value, 6)?,
                    _ => {
                        return Err((
                            Code::Type,
                            "a timestamp with an offset from UTC (YYYY-MM-DD HH:MM:SS+HH:MM)",
                        ));
                    }
                };
                self.values.extend_from_slice(&ticks.to_ne_bytes());
            }
            Carried::Json if !is_json(value) => return Err((Code::Type, "a JSON document")),
            // A decimal with more digits than the engine has.
            Carried::Text if matches!(self.ty, Type::Decimal { .. }) => {
                if scan::decimal(value).is_none() {
                    return Err((Code::Type, "a decimal number"));
                }
                self.push_bytes(value);
            }
            Carried::Text if matches!(self.ty, Type::Json) && !is_json(value) => {
                return Err((Code::Type, "a JSON document"));
            }
            Carried::Text | Carried::Bytes | Carried::Json | Carried::Cast => {
                self.push_bytes(value)
            }
        }
        Ok(())
    }

    fn put_integer(&mut self, number: i128, bits: u8) {
        let bytes = number.to_le_bytes();
        let width = usize::from(bits / 8);
        match width {
            1 => self.values.push(bytes[0]),
            2 => self.values.extend_from_slice(&(number as u16).to_ne_bytes()),
            4 => self.values.extend_from_slice(&(number as u32).to_ne_bytes()),
            _ => self.values.extend_from_slice(&(number as u64).to_ne_bytes()),
        }
    }

    /// Takes a value in a type of its own where the column's is the same. `false` says nothing; ask for its text.
    fn push_typed(&mut self, typed: Typed) -> bool {
        match (self.carried, typed) {
            (Carried::Boolean, Typed::Boolean(truth)) => self.values.push(u8::from(truth)),
            (Carried::Integer { bits: 64, signed: true }, Typed::Integer(number)) => {
                self.values.extend_from_slice(&number.to_ne_bytes());
            }
            (Carried::Double, Typed::Float(number)) => {
                self.values.extend_from_slice(&number.to_ne_bytes());
            }
            (Carried::Decimal { precision, scale }, Typed::Decimal { digits, scale: given })
                if given == scale && digits.unsigned_abs() < 10_u128.pow(precision.into()) =>
            {
                self.values.extend_from_slice(&digits.to_ne_bytes());
            }
            (Carried::Date, Typed::Date(days)) => {
                self.values.extend_from_slice(&days.to_ne_bytes());
            }
            (Carried::Timestamp { digits: 6 }, Typed::Moment(moment)) if !moment.zone => {
                let Some(micros) = moment.micros() else { return false };
                self.values.extend_from_slice(&micros.to_ne_bytes());
            }
            (Carried::Moment, Typed::Moment(moment)) if moment.zone => {
                let Some(micros) = moment.micros() else { return false };
                self.values.extend_from_slice(&micros.to_ne_bytes());
            }
            _ => return false,
        }
        true
    }

    fn truncate(&mut self, rows: usize) {
        match self.width() {
            Some(width) => self.values.truncate(rows * width),
            None => {
                self.ends.truncate(rows);
                self.values.truncate(self.ends.last().map_or(0, |end| *end as usize));
            }
        }
        while self.nulls.last().is_some_and(|row| *row as usize >= rows) {
            self.nulls.pop();
        }
    }

    fn clear(&mut self) {
        self.truncate(0);
    }

    /// The column so far, which begins anew.
    fn finish(&mut self, rows: usize) -> ArrayRef {
        let nulls = (!self.nulls.is_empty()).then(|| {
            let mut valid = vec![0xff_u8; rows.div_ceil(8)];
            for row in self.nulls.drain(..) {
                valid[row as usize / 8] &= !(1 << (row % 8));
            }
            NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(valid), 0, rows))
        });
        // The next chunk is about as large.
        let room = self.values.len();
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(room + room / 8));
        let buffers = match self.carried {
            Carried::Boolean => {
                let bits = BooleanBuffer::collect_bool(rows, |row| values[row] != 0);
                vec![bits.into_inner()]
            }
            _ if self.width().is_some() => vec![aligned(values)],
            _ => {
                let mut offsets = Vec::with_capacity(rows + 1);
                offsets.push(0);
                offsets.append(&mut self.ends);
                vec![Buffer::from_vec(offsets), Buffer::from_vec(values)]
            }
        };
        let data =
            ArrayData::builder(data_type(self.carried)).len(rows).buffers(buffers).nulls(nulls);
        // SAFETY: as many values, or ends of strings, as rows; text was checked to be UTF-8 with its chunk.
        make_array(unsafe { data.build_unchecked() })
    }
}

/// A buffer that begins where numbers of any width may.
fn aligned(values: Vec<u8>) -> Buffer {
    // The allocator aligns what is as long as that; what isn't is copied in no time.
    if values.as_ptr().align_offset(16) == 0 {
        Buffer::from_vec(values)
    } else {
        Buffer::from_slice_ref(&values)
    }
}

/// The type of a column's arrays.
fn data_type(carried: Carried) -> DataType {
    match carried {
        Carried::Boolean => DataType::Boolean,
        Carried::Integer { bits: 8, signed: true } => DataType::Int8,
        Carried::Integer { bits: 8, signed: false } => DataType::UInt8,
        Carried::Integer { bits: 16, signed: true } => DataType::Int16,
        Carried::Integer { bits: 16, signed: false } => DataType::UInt16,
        Carried::Integer { bits: 32, signed: true } => DataType::Int32,
        Carried::Integer { bits: 32, signed: false } => DataType::UInt32,
        Carried::Integer { signed: true, .. } => DataType::Int64,
        Carried::Integer { signed: false, .. } => DataType::UInt64,
        Carried::Float => DataType::Float32,
        Carried::Double => DataType::Float64,
        Carried::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        Carried::Date => DataType::Date32,
        Carried::Timestamp { digits: 0 } => DataType::Timestamp(TimeUnit::Second, None),
        Carried::Timestamp { digits: 3 } => DataType::Timestamp(TimeUnit::Millisecond, None),
        Carried::Timestamp { digits: 9 } => DataType::Timestamp(TimeUnit::Nanosecond, None),
        Carried::Timestamp { .. } => DataType::Timestamp(TimeUnit::Microsecond, None),
        Carried::Moment => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Carried::Text | Carried::Json | Carried::Cast => DataType::Utf8,
        Carried::Bytes => DataType::Binary,
    }
}

fn integer(value: &[u8], strict: bool, bits: u8, signed: bool) -> Result<i128, Misfit> {
    let number = match scan::integer(value) {
        Ok(_) if strict && !scan::is_canonical_integer(value) => {
            return Err((Code::Type, "an integer that stays as it is written"));
        }
        Ok(number) => i128::from(number),
        Err(NumberFault::TooLarge) => large_integer(value).unwrap_or(i128::MAX),
        // Programs that keep integers as doubles write 1 as 1.0: the same number, nothing lost.
        Err(NumberFault::NotANumber) => match whole_part(value) {
            Some(whole) if !strict => return integer(whole, strict, bits, signed),
            _ => return Err((Code::Type, "an integer")),
        },
    };
    let (least, most) = match signed {
        true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        false => (0, (1_i128 << bits) - 1),
    };
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    Err((
        Code::Range,
        match (bits, signed) {
            (8, true) => "TINYINT (-128 to 127)",
            (16, true) => "SMALLINT (-32768 to 32767)",
            (32, true) => "INTEGER (-2147483648 to 2147483647)",
            (64, true) => "an integer of 64 bits",
            (8, false) => "UTINYINT (0 to 255)",
            (16, false) => "USMALLINT (0 to 65535)",
            (32, false) => "UINTEGER (0 to 4294967295)",
            _ => "UBIGINT (0 to 18446744073709551615)",
        },
    ))
}

/// What 64 bits without a sign may still hold.
#[cold]
fn large_integer(value: &[u8]) -> Option<i128> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// The part before a fraction of zeros.
fn whole_part(value: &[u8]) -> Option<&[u8]> {
    let point = memchr::memchr(b'.', value)?;
    let (whole, fraction) = (&value[..point], &value[point + 1..]);
    (!whole.is_empty() && !fraction.is_empty() && fraction.iter().all(|b| *b == b'0'))
        .then_some(whole)
}

/// Measurements are rounded to the nearest number, as the column's type says; a whole number must be that number still.
fn single(number: f64) -> Result<f32, Misfit> {
    let kept = number as f32;
    if kept.is_infinite() {
        return Err((Code::Range, "FLOAT (32 bits)"));
    }
    if number.fract() == 0.0 && f64::from(kept) != number {
        return Err((Code::Range, "a whole number that FLOAT (32 bits) keeps exactly"));
    }
    Ok(kept)
}

/// All digits of the decimal, with as many after the point as the column has.
fn decimal(value: &[u8], strict: bool, precision: u8, scale: u8) -> Result<i128, Misfit> {
    const TOO_MANY: Misfit = (Code::Range, "a decimal of the column's precision and scale");
    let value = match value {
        [b'+', rest @ ..] if !strict && !rest.starts_with(b"-") => rest,
        value => value,
    };
    let zeros = value.iter().take_while(|digit| **digit == b'0').count();
    let value = match value.get(zeros) {
        // Zeros in front are nothing to a number.
        Some(digit) if !strict && digit.is_ascii_digit() => &value[zeros..],
        _ => value,
    };
    if scan::decimal(value).is_none() {
        return Err((Code::Type, "a decimal number"));
    }
    let (negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (whole, fraction) = match memchr::memchr(b'.', digits) {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    let scale = usize::from(scale);
    let (kept, rest) = fraction.split_at(fraction.len().min(scale));
    // Zeros behind the column's last digit are nothing to a number, but a guess has to keep them.
    if rest.iter().any(|digit| strict || *digit != b'0') {
        return Err(TOO_MANY);
    }
    let mut number: i128 = 0;
    let padding = std::iter::repeat_n(&b'0', scale - kept.len());
    for digit in whole.iter().chain(kept).chain(padding) {
        number = number
            .checked_mul(10)
            .and_then(|number| number.checked_add(i128::from(digit - b'0')))
            .ok_or(TOO_MANY)?;
    }
    if number >= 10_i128.pow(precision.into()) {
        return Err(TOO_MANY);
    }
    Ok(if negative { -number } else { number })
}

/// A timestamp in so many decimal digits of a second since 1970.
fn ticks(value: &[u8], digits: u8) -> Result<i64, Misfit> {
    const TOO_FINE: Misfit =
        (Code::Range, "a timestamp with no more digits of a second than the column has");
    if digits == 9 {
        return nanos(value).ok_or((Code::Range, "TIMESTAMP_NS (years 1677 to 2262)"));
    }
    let micros = scan::timestamp_micros(value).ok_or(TOO_FINE)?;
    let unit = match digits {
        0 => 1_000_000,
        3 => 1_000,
        _ => 1,
    };
    if micros % unit == 0 { Ok(micros / unit) } else { Err(TOO_FINE) }
}

fn nanos(value: &[u8]) -> Option<i64> {
    if let Some(micros) = scan::timestamp_micros(value) {
        return micros.checked_mul(1_000);
    }
    // Three digits more than a microsecond has.
    let point = memchr::memchr(b'.', value)?;
    let end = point + 1 + value[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    let (kept, rest) = (value.get(..point + 7)?, value.get(point + 7..end)?);
    let mut shorter = kept.to_vec();
    shorter.extend_from_slice(&value[end..]);
    let micros = scan::timestamp_micros(&shorter)?;
    let mut fraction = 0;
    for place in 0..3 {
        fraction = fraction * 10 + rest.get(place).map_or(0, |digit| i64::from(digit - b'0'));
    }
    if rest.len() > 3 && rest[3..].iter().any(|digit| *digit != b'0') {
        return None;
    }
    micros.checked_mul(1_000)?.checked_add(fraction)
}
