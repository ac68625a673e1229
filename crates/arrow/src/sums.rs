//! Sums over the values of batches, the same of those that are sent and of those that are read back.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

use inrush_core::flow::Checksum;
use inrush_core::flow::checksum::Stored;

/// Adds the values of a batch; `from` has for each of its columns the place in the sums.
///
/// Days and moments count as the numbers that they are in their columns' units, decimals as the bytes of their digits' number.
pub fn add_batch(sums: &mut Checksum, batch: &RecordBatch, from: &[Option<usize>]) {
    for (array, column) in batch.columns().iter().zip(from) {
        if let Some(column) = *column {
            let add = |value: Stored<'_>| sums.add(column, value);
            add_column(array.as_ref(), add);
        }
    }
}

fn add_column(array: &dyn Array, mut add: impl FnMut(Stored<'_>)) {
    match array.data_type() {
        DataType::Int8 => whole::<Int8Type>(array, add),
        DataType::Int16 => whole::<Int16Type>(array, add),
        DataType::Int32 => whole::<Int32Type>(array, add),
        DataType::Int64 => whole::<Int64Type>(array, add),
        DataType::UInt8 => whole::<UInt8Type>(array, add),
        DataType::UInt16 => whole::<UInt16Type>(array, add),
        DataType::UInt32 => whole::<UInt32Type>(array, add),
        // The same 64 bits on both sides.
        DataType::UInt64 => primitive::<UInt64Type>(array, |number| {
            add(number.map_or(Stored::Null, |number| Stored::Integer(number.cast_signed())));
        }),
        DataType::Float32 => primitive::<Float32Type>(array, |number| {
            add(number.map_or(Stored::Null, |number| Stored::Real(number.into())));
        }),
        DataType::Float64 => primitive::<Float64Type>(array, |number| {
            add(number.map_or(Stored::Null, Stored::Real));
        }),
        DataType::Decimal128(..) => primitive::<Decimal128Type>(array, |number| match number {
            Some(number) => add(Stored::Bytes(&number.to_le_bytes())),
            None => add(Stored::Null),
        }),
        DataType::Boolean => array.as_boolean().iter().for_each(|truth| {
            add(truth.map_or(Stored::Null, |truth| Stored::Integer(truth.into())));
        }),
        DataType::Date32 => whole::<Date32Type>(array, add),
        DataType::Timestamp(TimeUnit::Second, _) => whole::<TimestampSecondType>(array, add),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            whole::<TimestampMillisecondType>(array, add);
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            whole::<TimestampMicrosecondType>(array, add);
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            whole::<TimestampNanosecondType>(array, add);
        }
        DataType::Time64(TimeUnit::Microsecond) => whole::<Time64MicrosecondType>(array, add),
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(|text| {
            add(text.map_or(Stored::Null, |text| Stored::Text(text.as_bytes())));
        }),
        DataType::Binary => array.as_binary::<i32>().iter().for_each(|bytes| {
            add(bytes.map_or(Stored::Null, Stored::Bytes));
        }),
        // There is nothing else, see `ArrowColumn::takes`.
        _ => {}
    }
}

fn whole<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &dyn Array,
    mut add: impl FnMut(Stored<'_>),
) {
    primitive::<T>(array, |number| {
        add(number.map_or(Stored::Null, |number| Stored::Integer(number.into())));
    });
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, add: impl FnMut(Option<T::Native>)) {
    array.as_primitive::<T>().iter().for_each(add);
}
