//! What a value of an array is as text.
//!
//! For types that encoders don't know (times of day, durations, decimals of any size), and for what is within lists, structs and
//! maps. The texts are those of Arrow's own formatter, to the byte, and so are the errors; but for durations and intervals, which are
//! written in ISO 8601 so that databases read them, and for days, moments and times of day that it has no text for, such as 24:00:00: of a
//! column that doesn't keep one, that value alone is bad. The formatter itself comes with conversions of every type to every other, whose
//! crates take a release build some 100 s.

use std::fmt::{Arguments, Debug, Display};
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_date, as_datetime, as_datetime_with_timezone, as_time};
use arrow_array::timezone::Tz;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayAccessor, OffsetSizeTrait, StringArray, downcast_dictionary_array,
    downcast_run_array,
};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, IntervalUnit, TimeUnit};
use chrono::SecondsFormat;
use inrush_core::encode::{Moment, Typed};

type Result<T> = std::result::Result<T, ArrowError>;

/// The values of an array, as text.
pub(super) trait Text {
    /// Adds the text of the value at an index; NULL has none.
    fn write(&self, at: usize, out: &mut String) -> Result<()>;

    /// The texts of all values of `array`, which is the one that this is of.
    fn column(&self, array: &dyn Array) -> Result<StringArray> {
        let mut out = String::new();
        let mut offsets = Vec::with_capacity(array.len() + 1);
        offsets.push(0);
        for at in 0..array.len() {
            self.write(at, &mut out)?;
            offsets.push(i32::try_from(out.len()).map_err(|_| {
                let ty = array.data_type();
                ArrowError::ComputeError(format!("the texts of {ty} values exceed 2 GiB"))
            })?);
        }
        let bytes = Buffer::from_vec(out.into_bytes());
        StringArray::try_new(OffsetBuffer::new(offsets.into()), bytes, array.nulls().cloned())
    }
}

/// Any function is one. [`Text::column`] is built for each of them, so that types are matched once for an array and not for a value.
impl<F: Fn(usize, &mut String) -> Result<()>> Text for F {
    fn write(&self, at: usize, out: &mut String) -> Result<()> {
        self(at, out)
    }
}

type Made<'a> = Result<Box<dyn Text + 'a>>;

/// The texts of an array.
///
/// # Errors
/// When its type, or one within it, has none.
pub(super) fn texts<'a>(array: &'a dyn Array) -> Made<'a> {
    use DataType as D;
    match array.data_type() {
        D::Null => Ok(Box::new(|_: usize, _: &mut String| Ok(()))),
        D::Boolean => each(array.as_boolean(), shown),
        D::Int8 => each(array.as_primitive::<Int8Type>(), shown),
        D::Int16 => each(array.as_primitive::<Int16Type>(), shown),
        D::Int32 => each(array.as_primitive::<Int32Type>(), shown),
        D::Int64 => each(array.as_primitive::<Int64Type>(), shown),
        D::UInt8 => each(array.as_primitive::<UInt8Type>(), shown),
        D::UInt16 => each(array.as_primitive::<UInt16Type>(), shown),
        D::UInt32 => each(array.as_primitive::<UInt32Type>(), shown),
        D::UInt64 => each(array.as_primitive::<UInt64Type>(), shown),
        D::Float16 => each(array.as_primitive::<Float16Type>(), shown),
        D::Float32 => each(array.as_primitive::<Float32Type>(), float),
        D::Float64 => each(array.as_primitive::<Float64Type>(), float),
        D::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        D::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        D::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        D::Decimal256(_, scale) => decimals::<Decimal256Type>(array, *scale),
        D::Date32 => times::<Date32Type, _>(array, as_date::<Date32Type>, far_day),
        D::Date64 => {
            let far = |ms, out: &mut String| far_moment(ms, 1_000, false, out);
            times::<Date64Type, _>(array, as_datetime::<Date64Type>, far)
        }
        D::Time32(TimeUnit::Second) => {
            times::<Time32SecondType, _>(array, as_time::<Time32SecondType>, clock::<0>)
        }
        D::Time32(TimeUnit::Millisecond) => {
            times::<Time32MillisecondType, _>(array, as_time::<Time32MillisecondType>, clock::<3>)
        }
        D::Time64(TimeUnit::Microsecond) => {
            times::<Time64MicrosecondType, _>(array, as_time::<Time64MicrosecondType>, clock::<6>)
        }
        D::Time64(TimeUnit::Nanosecond) => {
            times::<Time64NanosecondType, _>(array, as_time::<Time64NanosecondType>, clock::<9>)
        }
        D::Timestamp(unit, zone) => {
            // A moment is the same in any zone; where the zone has a name, whose offsets nobody here knows, it is shown in UTC.
            let offset = |zone: &str| zone.parse::<Tz>().or_else(|_| "+00:00".parse());
            let zone = zone.as_deref().map(offset).transpose()?;
            match unit {
                TimeUnit::Second => moments::<TimestampSecondType>(array, zone),
                TimeUnit::Millisecond => moments::<TimestampMillisecondType>(array, zone),
                TimeUnit::Microsecond => moments::<TimestampMicrosecondType>(array, zone),
                TimeUnit::Nanosecond => moments::<TimestampNanosecondType>(array, zone),
            }
        }
        D::Duration(TimeUnit::Second) => durations::<DurationSecondType>(array, 0),
        D::Duration(TimeUnit::Millisecond) => durations::<DurationMillisecondType>(array, 3),
        D::Duration(TimeUnit::Microsecond) => durations::<DurationMicrosecondType>(array, 6),
        D::Duration(TimeUnit::Nanosecond) => durations::<DurationNanosecondType>(array, 9),
        D::Interval(IntervalUnit::YearMonth) => {
            each(array.as_primitive::<IntervalYearMonthType>(), |months, out| {
                interval(months, 0, 0, 0, out)
            })
        }
        D::Interval(IntervalUnit::DayTime) => {
            each(array.as_primitive::<IntervalDayTimeType>(), |value, out| {
                interval(0, value.days, value.milliseconds.into(), 3, out)
            })
        }
        D::Interval(IntervalUnit::MonthDayNano) => {
            each(array.as_primitive::<IntervalMonthDayNanoType>(), |value, out| {
                interval(value.months, value.days, value.nanoseconds, 9, out)
            })
        }
        D::Utf8 => each(array.as_string::<i32>(), shown),
        D::LargeUtf8 => each(array.as_string::<i64>(), shown),
        D::Utf8View => each(array.as_string_view(), shown),
        D::Binary => each(array.as_binary::<i32>(), hex),
        D::LargeBinary => each(array.as_binary::<i64>(), hex),
        D::BinaryView => each(array.as_binary_view(), hex),
        D::FixedSizeBinary(_) => each(array.as_fixed_size_binary(), hex),
        D::List(_) => {
            let lists = array.as_list::<i32>();
            list(array, lists.values(), between(lists.value_offsets()))
        }
        D::LargeList(_) => {
            let lists = array.as_list::<i64>();
            list(array, lists.values(), between(lists.value_offsets()))
        }
        D::ListView(_) => {
            let lists = array.as_list_view::<i32>();
            list(array, lists.values(), from(lists.value_offsets(), lists.value_sizes()))
        }
        D::LargeListView(_) => {
            let lists = array.as_list_view::<i64>();
            list(array, lists.values(), from(lists.value_offsets(), lists.value_sizes()))
        }
        D::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            let length = lists.value_length().as_usize();
            list(array, lists.values(), move |at| at * length..(at + 1) * length)
        }
        D::Struct(_) => structs(array),
        D::Map(..) => maps(array),
        D::Union(..) => unions(array),
        D::Dictionary(..) => downcast_dictionary_array! {
            array => {
                let values = texts(array.values())?;
                let keys = array.keys();
                Ok(Box::new(move |at: usize, out: &mut String| match keys.is_null(at) {
                    true => Ok(()),
                    false => values.write(keys.value(at).as_usize(), out),
                }))
            },
            _ => unknown(array)
        },
        D::RunEndEncoded(..) => downcast_run_array! {
            array => {
                let values = texts(array.values())?;
                Ok(Box::new(move |at: usize, out: &mut String| {
                    within(&*values, array.get_physical_index(at), out);
                    Ok(())
                }))
            },
            _ => unknown(array)
        },
        _ => unknown(array),
    }
}

fn unknown(array: &dyn Array) -> Made<'_> {
    let ty = array.data_type();
    Err(ArrowError::NotYetImplemented(format!("formatting {ty} is not yet supported")))
}

/// Texts of values each of which is one by itself.
fn each<'a, A: ArrayAccessor + 'a>(
    array: A,
    write: impl Fn(A::Item, &mut String) -> Result<()> + 'a,
) -> Made<'a> {
    Ok(Box::new(move |at: usize, out: &mut String| match array.is_null(at) {
        true => Ok(()),
        false => write(array.value(at), out),
    }))
}

fn put(out: &mut String, text: Arguments<'_>) -> Result<()> {
    std::fmt::Write::write_fmt(out, text)
        .map_err(|_| ArrowError::CastError("Format error".to_owned()))
}

fn shown(value: impl Display, out: &mut String) -> Result<()> {
    put(out, format_args!("{value}"))
}

pub(super) fn float(value: impl zmij::Float, out: &mut String) -> Result<()> {
    let mut buffer = zmij::Buffer::new();
    // Ryu, which Arrow takes, has the same digits without a plus: 1e16, not 1e+16.
    out.extend(buffer.format(value).split('+'));
    Ok(())
}

fn hex(bytes: &[u8], out: &mut String) -> Result<()> {
    bytes.iter().try_for_each(|byte| put(out, format_args!("{byte:02x}")))
}

fn decimals<T: DecimalType>(array: &dyn Array, scale: i8) -> Made<'_>
where
    T::Native: Display,
{
    let places = usize::from(scale.unsigned_abs());
    each(array.as_primitive::<T>(), move |value, out| {
        let start = out.len();
        put(out, format_args!("{value}"))?;
        let first = start + usize::from(out[start..].starts_with('-'));
        let digits = out.len() - first;
        if scale > 0 {
            for _ in digits..=places {
                out.insert(first, '0');
            }
            out.insert(out.len() - places, '.');
        } else if &out[first..] != "0" {
            out.extend(std::iter::repeat_n('0', places));
        }
        Ok(())
    })
}

/// Dates, times of day, and dates that are moments. What is none to Arrow has the text that `far` writes.
fn times<'a, T: ArrowPrimitiveType<Native: Into<i64>>, M: Debug + 'a>(
    array: &'a dyn Array,
    made: fn(i64) -> Option<M>,
    far: fn(i64, &mut String) -> Result<()>,
) -> Made<'a> {
    each(array.as_primitive::<T>(), move |value, out| match made(value.into()) {
        Some(time) => put(out, format_args!("{time:?}")),
        None => far(value.into(), out),
    })
}

/// A time that is none of a day's, as databases write it: `24:00:00`, `-00:00:01.5`. It counts a second's last of `PLACES` decimal places.
fn clock<const PLACES: u32>(count: i64, out: &mut String) -> Result<()> {
    let (size, per_second) = (count.unsigned_abs(), 10_u64.pow(PLACES));
    let sign = if count < 0 { "-" } else { "" };
    let (seconds, fraction) = (size / per_second, size % per_second);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    put(out, format_args!("{sign}{hours:02}:{minutes:02}:{:02}", seconds % 60))?;
    if fraction != 0 {
        put(out, format_args!(".{fraction:0width$}", width = PLACES as usize))?;
        out.truncate(out.trim_end_matches('0').len());
    }
    Ok(())
}

/// A day of years that Arrow's calendar doesn't reach.
fn far_day(days: i64, out: &mut String) -> Result<()> {
    far(Typed::Date(days as i32), out)
}

/// A moment of such years.
fn far_moment(count: i64, per_second: i64, zone: bool, out: &mut String) -> Result<()> {
    far(Typed::Moment(Moment::of(count, per_second, zone)), out)
}

fn far(value: Typed, out: &mut String) -> Result<()> {
    let mut text = Vec::new();
    value.write(&mut text);
    // Between day and time Arrow has a T.
    out.push_str(&String::from_utf8_lossy(&text).replace(' ', "T"));
    Ok(())
}

fn moments<T: ArrowTimestampType>(array: &dyn Array, zone: Option<Tz>) -> Made<'_> {
    let per_second = match T::UNIT {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    each(array.as_primitive::<T>(), move |value, out| {
        let text = match zone {
            None => as_datetime::<T>(value).map(|moment| format!("{moment:?}")),
            Some(zone) => as_datetime_with_timezone::<T>(value, zone)
                .map(|moment| moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
        };
        match text {
            Some(text) => out.push_str(&text),
            None => far_moment(value, per_second, zone.is_some(), out)?,
        }
        Ok(())
    })
}

/// As ISO 8601 has them, in seconds: `PT93600.5S`, `PT-1S`. The values count a second's last of `places` decimal places.
fn durations<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, places: u32) -> Made<'_> {
    each(array.as_primitive::<T>(), move |value, out| {
        out.push_str("PT");
        seconds(value.into(), places, out)
    })
}

/// The text that a duration has in a column of such: `PT93600.5S`, of a count of a second's last of `places` decimal places.
pub fn duration_text(count: i128, places: u32) -> String {
    let mut out = "PT".to_owned();
    // Writing to memory doesn't fail.
    let _ = seconds(count, places, &mut out);
    out
}

/// The text that an interval has in a column of such: `P1Y2M3DT4H5M6.5S`.
pub fn interval_text(months: i32, days: i32, nanos: i64) -> String {
    let mut out = String::new();
    // Writing to memory doesn't fail.
    let _ = interval(months, days, nanos, 9, &mut out);
    out
}

/// As ISO 8601 has them, and as PostgreSQL writes them: the parts that aren't zero, each with a sign of its own, `P1Y-2M3DT4H5M6.5S`.
/// Those below a day come in units of a second's last of `places` decimal places.
fn interval(months: i32, days: i32, units: i64, places: u32, out: &mut String) -> Result<()> {
    let per_second = 10_i64.pow(places);
    let below_hour = units % (3_600 * per_second);
    let below_minute = below_hour % (60 * per_second);
    out.push('P');
    for (number, name) in [(months / 12, 'Y'), (months % 12, 'M'), (days, 'D')] {
        if number != 0 {
            put(out, format_args!("{number}{name}"))?;
        }
    }
    if units == 0 && (months, days) != (0, 0) {
        return Ok(());
    }
    out.push('T');
    for (number, name) in
        [(units / (3_600 * per_second), 'H'), (below_hour / (60 * per_second), 'M')]
    {
        if number != 0 {
            put(out, format_args!("{number}{name}"))?;
        }
    }
    if below_minute != 0 || units == 0 {
        seconds(below_minute.into(), places, out)?;
    }
    Ok(())
}

/// `6.5S`, of a count of a second's last of `places` decimal places.
fn seconds(count: i128, places: u32, out: &mut String) -> Result<()> {
    let (size, per_second) = (count.unsigned_abs(), 10_u128.pow(places));
    let sign = if count < 0 { "-" } else { "" };
    put(out, format_args!("{sign}{}", size / per_second))?;
    let fraction = size % per_second;
    if fraction != 0 {
        put(out, format_args!(".{fraction:0width$}", width = places as usize))?;
        out.truncate(out.trim_end_matches('0').len());
    }
    out.push('S');
    Ok(())
}

/// A value within another. What is wrong with it stands in its place, as it does where Arrow formats.
fn within(texts: &dyn Text, at: usize, out: &mut String) {
    if let Err(error) = texts.write(at, out) {
        out.push_str("ERROR: ");
        out.push_str(&error.to_string());
    }
}

/// Adds items with commas between them.
fn items<T>(items: impl Iterator<Item = T>, out: &mut String, write: impl Fn(T, &mut String)) {
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
}

/// Where lists are that follow each other.
fn between<O: OffsetSizeTrait>(offsets: &[O]) -> impl Fn(usize) -> Range<usize> {
    |at| offsets[at].as_usize()..offsets[at + 1].as_usize()
}

/// Where lists are that may be anywhere.
fn from<'a, O: OffsetSizeTrait>(
    offsets: &'a [O],
    sizes: &'a [O],
) -> impl Fn(usize) -> Range<usize> + 'a {
    |at| offsets[at].as_usize()..offsets[at].as_usize() + sizes[at].as_usize()
}

fn list<'a>(
    array: &'a dyn Array,
    values: &'a dyn Array,
    range: impl Fn(usize) -> Range<usize> + 'a,
) -> Made<'a> {
    let values = texts(values)?;
    Ok(Box::new(move |at: usize, out: &mut String| {
        if array.is_valid(at) {
            out.push('[');
            items(range(at), out, |at, out| within(&*values, at, out));
            out.push(']');
        }
        Ok(())
    }))
}

fn structs(array: &dyn Array) -> Made<'_> {
    let parent = array.as_struct();
    let fields = parent.fields().iter().zip(parent.columns());
    let fields = fields.map(|(field, column)| Ok((field.name().as_str(), texts(column)?)));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |at: usize, out: &mut String| {
        if parent.is_valid(at) {
            out.push('{');
            items(fields.iter(), out, |(name, texts), out| {
                out.push_str(name);
                out.push_str(": ");
                within(&**texts, at, out);
            });
            out.push('}');
        }
        Ok(())
    }))
}

fn maps(array: &dyn Array) -> Made<'_> {
    let map = array.as_map();
    let (keys, values) = (texts(map.keys())?, texts(map.values())?);
    let range = between(map.value_offsets());
    Ok(Box::new(move |at: usize, out: &mut String| {
        if map.is_valid(at) {
            out.push('{');
            items(range(at), out, |at, out| {
                within(&*keys, at, out);
                out.push_str(": ");
                within(&*values, at, out);
            });
            out.push('}');
        }
        Ok(())
    }))
}

fn unions(array: &dyn Array) -> Made<'_> {
    let union = array.as_union();
    let DataType::Union(fields, _) = array.data_type() else { return unknown(array) };
    let fields = fields
        .iter()
        .map(|(id, field)| Ok((id, field.name().as_str(), texts(union.child(id))?)))
        .collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |at: usize, out: &mut String| {
        let id = union.type_id(at);
        let Some((_, name, texts)) = fields.iter().find(|(known, ..)| *known == id) else {
            return Err(ArrowError::CastError(format!("a union has no type {id}")));
        };
        put(out, format_args!("{{{name}="))?;
        within(&**texts, union.value_offset(at), out);
        out.push('}');
        Ok(())
    }))
}
