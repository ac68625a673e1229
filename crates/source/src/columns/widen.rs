//! An array in a wider type: one of the few that encoders know, which holds every value.
//!
//! Only what files need, and nothing that may lose something. Arrow's own crate for it makes any type of any other, and takes a
//! release build some 100 s with what it needs; tests compare the two.

use std::sync::Arc;

use arrow_array::builder::GenericByteBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, LargeBinaryType, LargeUtf8Type, TimestampMillisecondType, UInt8Type, UInt16Type,
    UInt32Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, GenericByteArray, PrimitiveArray, UInt64Array,
    downcast_run_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use arrow_select::take::take;

use crate::columns::text::texts;

/// The array's values as `to`.
///
/// # Errors
/// When that may lose something, or they are more than an array of `to` holds, or one of them has no text.
pub(super) fn widen(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType as D;
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(Arc::clone(array)),
        (D::Dictionary(..), _) => {
            let dictionary = array.as_any_dictionary();
            take(&widen(dictionary.values(), to)?, dictionary.keys(), None)
        }
        (D::RunEndEncoded(..), _) => {
            downcast_run_array!(
                array => {
                    // A slice of runs keeps all of its values: rows find theirs by their place.
                    let places = (0..array.len()).map(|at| array.get_physical_index(at) as u64);
                    let places: UInt64Array = places.collect();
                    take(&widen(array.values(), to)?, &places, None)
                },
                other => Err(ArrowError::CastError(format!("{other} is no run-end encoding")))
            )
        }
        // Every byte but 0 is true.
        (D::Int8, D::Boolean) => {
            Ok(Arc::new(BooleanArray::from_unary(array.as_primitive::<Int8Type>(), |byte| {
                byte != 0
            })))
        }
        (D::Int8, D::Int32) => Ok(numbers::<Int8Type, Int32Type>(array)),
        (D::Int16, D::Int32) => Ok(numbers::<Int16Type, Int32Type>(array)),
        (D::UInt8, D::Int32) => Ok(numbers::<UInt8Type, Int32Type>(array)),
        (D::UInt16, D::Int32) => Ok(numbers::<UInt16Type, Int32Type>(array)),
        (D::UInt32, D::Int64) => Ok(numbers::<UInt32Type, Int64Type>(array)),
        (D::Float16, D::Float64) => Ok(numbers::<Float16Type, Float64Type>(array)),
        (D::Float32, D::Float64) => Ok(numbers::<Float32Type, Float64Type>(array)),
        (D::Decimal32(p, s), D::Decimal128(q, t)) if (p, s) == (q, t) => {
            let wide = widened::<Decimal32Type, Decimal128Type>(array);
            Ok(Arc::new(wide.with_precision_and_scale(*q, *t)?))
        }
        (D::Decimal64(p, s), D::Decimal128(q, t)) if (p, s) == (q, t) => {
            let wide = widened::<Decimal64Type, Decimal128Type>(array);
            Ok(Arc::new(wide.with_precision_and_scale(*q, *t)?))
        }
        (D::Date64, D::Timestamp(TimeUnit::Millisecond, None)) => {
            let dates = array.as_primitive::<Date64Type>();
            Ok(Arc::new(dates.reinterpret_cast::<TimestampMillisecondType>()))
        }
        (D::LargeUtf8, D::Utf8) => short::<LargeUtf8Type, Utf8Type>(array.as_string()),
        (D::LargeBinary, D::Binary) => short::<LargeBinaryType, BinaryType>(array.as_binary()),
        (D::Utf8View, D::Utf8) => gathered::<Utf8Type, _>(array.as_string_view().iter(), to),
        (D::BinaryView, D::Binary) => gathered::<BinaryType, _>(array.as_binary_view().iter(), to),
        (D::FixedSizeBinary(_), D::Binary) => {
            gathered::<BinaryType, _>(array.as_fixed_size_binary().iter(), to)
        }
        (
            D::Decimal32(..)
            | D::Decimal64(..)
            | D::Decimal128(..)
            | D::Decimal256(..)
            | D::Time32(_)
            | D::Time64(_)
            | D::Duration(_)
            | D::Interval(_),
            D::Utf8,
        ) => Ok(Arc::new(texts(array)?.column(array)?)),
        (from, _) => {
            Err(ArrowError::CastError(format!("Casting from {from} to {to} not supported")))
        }
    }
}

fn widened<F, T>(array: &ArrayRef) -> PrimitiveArray<T>
where
    F: ArrowPrimitiveType<Native: Into<T::Native>>,
    T: ArrowPrimitiveType,
{
    array.as_primitive::<F>().unary(Into::into)
}

fn numbers<F, T>(array: &ArrayRef) -> ArrayRef
where
    F: ArrowPrimitiveType<Native: Into<T::Native>>,
    T: ArrowPrimitiveType,
{
    Arc::new(widened::<F, T>(array))
}

fn too_large(to: &DataType) -> ArrowError {
    ArrowError::ComputeError(format!("array too large to cast to {to} array"))
}

/// The same bytes, with offsets of 32 bits.
fn short<F, T>(array: &GenericByteArray<F>) -> Result<ArrayRef, ArrowError>
where
    F: ByteArrayType<Offset = i64>,
    T: ByteArrayType<Offset = i32, Native = F::Native>,
{
    let offsets = array.value_offsets();
    // Offsets never fall, so the last is the largest.
    if offsets.last().is_some_and(|last| i32::try_from(*last).is_err()) {
        return Err(too_large(&T::DATA_TYPE));
    }
    let offsets: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
    let (offsets, values) = (OffsetBuffer::new(offsets.into()), array.values().clone());
    // SAFETY: offsets and bytes are those of an array whose values are of the same kind, UTF-8 if these have to be.
    Ok(Arc::new(unsafe {
        GenericByteArray::<T>::new_unchecked(offsets, values, array.nulls().cloned())
    }))
}

/// A copy of values that may be anywhere, one after the other.
fn gathered<'a, T, V>(
    values: impl ExactSizeIterator<Item = Option<&'a V>> + Clone,
    to: &DataType,
) -> Result<ArrayRef, ArrowError>
where
    T: ByteArrayType<Offset = i32>,
    V: AsRef<T::Native> + AsRef<[u8]> + ?Sized + 'a,
{
    let length = |value: &V| AsRef::<[u8]>::as_ref(value).len();
    let bytes: usize = values.clone().flatten().map(length).sum();
    // A builder would panic.
    if i32::try_from(bytes).is_err() {
        return Err(too_large(to));
    }
    let mut builder = GenericByteBuilder::<T>::with_capacity(values.len(), bytes);
    values.for_each(|value| builder.append_option(value));
    Ok(Arc::new(builder.finish()))
}
