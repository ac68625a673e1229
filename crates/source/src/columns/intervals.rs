//! Intervals of Parquet: months, days and milliseconds, 32 bits each
//! (<https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#interval>).
//!
//! What reads Parquet as Arrow takes them for months, or for days and milliseconds, and leaves out the rest. So they are read as the
//! bytes that they are, and become Arrow's intervals that have all three here.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{IntervalMonthDayNano, IntervalMonthDayNanoType};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_schema::{ArrowError, DataType, IntervalUnit, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::leaves;

/// The columns of a file that has intervals, and what their numbers mean.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    leaves: Vec<usize>,
    /// Arrow's own writer puts down numbers below zero as well, which the format has not.
    are_signed: bool,
}

/// How the file is read, and which of its bytes are intervals; `None` for a file without.
///
/// # Errors
/// When its schema has no other form.
pub(super) fn of(
    metadata: ArrowReaderMetadata,
) -> Result<(ArrowReaderMetadata, Option<Intervals>), ParquetError> {
    let descriptor = metadata.parquet_schema();
    let leaves = 0..descriptor.num_columns();
    let leaves: Vec<usize> =
        leaves.filter(|leaf| is_interval(descriptor.column(*leaf).self_type())).collect();
    if leaves.is_empty() {
        return Ok((metadata, None));
    }
    let file = metadata.metadata().file_metadata();
    let pairs = file.key_value_metadata();
    let are_signed = pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == "ARROW:schema"));
    let root = as_bytes(&descriptor.root_schema_ptr())?;
    let bare = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        pairs.cloned(),
        Arc::new(SchemaDescriptor::new(root)),
        file.column_orders().cloned(),
    );
    let bare = ParquetMetaData::new(bare, metadata.metadata().row_groups().to_vec());
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::try_new(Arc::new(bare), options)?;
    Ok((metadata, Some(Intervals { leaves, are_signed })))
}

fn is_interval(ty: &Type) -> bool {
    // Of another length it is none, which whoever reads it says.
    let is_it = ty.get_basic_info().converted_type() == ConvertedType::INTERVAL;
    is_it
        && matches!(ty, Type::PrimitiveType { type_length: 12, physical_type, .. }
            if *physical_type == PhysicalType::FIXED_LEN_BYTE_ARRAY)
}

/// The type with plain bytes for its intervals.
fn as_bytes(ty: &TypePtr) -> Result<TypePtr, ParquetError> {
    match ty.as_ref() {
        Type::GroupType { basic_info, fields } => {
            let fields = fields.iter().map(as_bytes).collect::<Result<_, _>>()?;
            Ok(Arc::new(Type::GroupType { basic_info: basic_info.clone(), fields }))
        }
        Type::PrimitiveType { basic_info, physical_type, type_length, .. } if is_interval(ty) => {
            let bytes = Type::primitive_type_builder(basic_info.name(), *physical_type)
                .with_repetition(basic_info.repetition())
                .with_length(*type_length)
                .with_id(basic_info.has_id().then(|| basic_info.id()))
                .build()?;
            Ok(Arc::new(bytes))
        }
        Type::PrimitiveType { .. } => Ok(Arc::clone(ty)),
    }
}

impl Intervals {
    /// The schema of a file that is read so, with intervals again.
    pub(super) fn schema(&self, read: &Schema) -> SchemaRef {
        let ty = |leaf: usize| {
            let is_it = self.leaves.binary_search(&leaf).is_ok();
            is_it.then_some(DataType::Interval(IntervalUnit::MonthDayNano))
        };
        leaves::with_types(read, &ty)
    }

    /// The intervals that bytes are.
    ///
    /// # Errors
    /// When one is of more months or days than Arrow's have.
    pub(super) fn read(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        const MS_NANOS: i64 = 1_000_000;
        let bytes = array.as_fixed_size_binary();
        let number = |value: &[u8], at: usize| -> i64 {
            let bytes = std::array::from_fn(|byte| value[at * 4 + byte]);
            match self.are_signed {
                true => i32::from_le_bytes(bytes).into(),
                false => u32::from_le_bytes(bytes).into(),
            }
        };
        let narrow = |number: i64, unit: &str| {
            let why = || format!("an interval of {number} {unit} is out of range");
            i32::try_from(number).map_err(|_| ArrowError::ComputeError(why()))
        };
        let interval = |value: &[u8]| {
            Ok(IntervalMonthDayNano {
                months: narrow(number(value, 0), "months")?,
                days: narrow(number(value, 1), "days")?,
                nanoseconds: number(value, 2) * MS_NANOS,
            })
        };
        let made = bytes.iter().map(|value| value.map(interval).transpose());
        let made =
            made.collect::<Result<PrimitiveArray<IntervalMonthDayNanoType>, ArrowError>>()?;
        Ok(Arc::new(made))
    }
}
