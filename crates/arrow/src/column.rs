//! What becomes of a load's column in a batch.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::nested::Nested;
use inrush_core::{Column, Type};

/// The most digits of a decimal of 128 bits.
pub(crate) const DECIMAL_DIGITS_MAX: u16 = 38;

/// A column of the batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrowColumn {
    /// Its name.
    pub name: String,
    /// The load's column that it takes values from; NULL without one.
    pub from: Option<usize>,
    /// One of those that [`ArrowColumn::takes`].
    pub ty: DataType,
    /// What texts have to be; [`Type::Text`] for any. Says nothing of columns that aren't text.
    pub content: Type,
    /// Where they are documents of lists, structs or maps, what these have to hold.
    pub nested: Option<Arc<Nested>>,
    /// Whether a text that is no such document may be one in words of the engine's own, and goes to it as it stands. A document has a space
    /// before it there.
    pub takes_literals: bool,
    /// Only values that stay as they are written: the type is a guess, and a value that would change disproves it.
    pub strict: bool,
    /// NULL is a bad row.
    pub required: bool,
    /// Whether the engine takes the first and the last day or moment of a type for infinity, so that they are none, and has no moments but
    /// [`inrush_core::moments::finite_moments`].
    pub infinite_ends: bool,
    /// Whether a day alone is its midnight, where the column is of timestamps without a zone.
    pub takes_days: bool,
    /// Whether a time of day may be the end of the day, 24:00:00.
    pub takes_day_end: bool,
    /// Whether the text of a day or a moment is the engine's, which writes years beyond 9999, those before the first and infinity.
    pub takes_far: bool,
    /// Whether text for bytes is a notation, in which `\xHH` is a byte.
    pub escapes: bool,
}

impl ArrowColumn {
    /// The load's column at `from`, in the type that keeps all its values. Decimals of unknown width, or of more digits than a type
    /// has, are text.
    pub fn of(from: usize, column: &Column) -> Self {
        Self {
            name: column.name.clone(),
            from: Some(from),
            ty: arrow_type(column.ty),
            content: column.ty,
            nested: None,
            takes_literals: false,
            strict: column.is_strict(),
            required: column.required,
            infinite_ends: false,
            takes_days: false,
            takes_day_end: false,
            takes_far: false,
            escapes: false,
        }
    }

    /// Whether values are encoded as this type.
    pub fn takes(ty: &DataType) -> bool {
        match ty {
            DataType::Decimal128(precision, scale) => {
                u16::from(*precision) <= DECIMAL_DIGITS_MAX
                    && u8::try_from(*scale).is_ok_and(|scale| scale <= *precision)
            }
            DataType::Boolean
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Float32
            | DataType::Float64
            | DataType::Date32
            | DataType::Timestamp(..)
            | DataType::Time64(TimeUnit::Microsecond)
            | DataType::Utf8
            | DataType::Binary => true,
            _ => false,
        }
    }

    /// The batches' schema.
    pub fn schema(columns: &[Self]) -> SchemaRef {
        let field = |column: &Self| Field::new(&column.name, column.ty.clone(), !column.required);
        Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
    }
}

fn arrow_type(ty: Type) -> DataType {
    match ty {
        Type::Integer => DataType::Int64,
        Type::Float => DataType::Float64,
        Type::Decimal { precision: precision @ 1..=DECIMAL_DIGITS_MAX, scale } => {
            DataType::Decimal128(precision as u8, scale as i8)
        }
        Type::Boolean => DataType::Boolean,
        Type::Date => DataType::Date32,
        Type::Timestamp { zone } => {
            DataType::Timestamp(TimeUnit::Microsecond, zone.then(|| "UTC".into()))
        }
        Type::TimestampNs { zone } => {
            DataType::Timestamp(TimeUnit::Nanosecond, zone.then(|| "UTC".into()))
        }
        Type::Time => DataType::Time64(TimeUnit::Microsecond),
        Type::Decimal { .. } | Type::Text | Type::Uuid | Type::Interval | Type::Json => {
            DataType::Utf8
        }
        Type::Bytes => DataType::Binary,
    }
}
