//! Timestamps of Parquet's INT96, which Spark, Hive and Impala write: a Julian day and the nanoseconds of the day.
//!
//! They reach further than 64 bits of nanoseconds do (1677 to 2262), and are finer than microseconds: no type of Arrow has both. A
//! column is read as its writer's own types have it, or else as its first values are; each value is read in the other unit as well, and
//! what the two don't agree on is an error instead of another moment.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type as PhysicalType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;

use super::parquet::written_schema;
use super::{Failure, Unreadable, leaves};
use crate::blocks::Piece;

/// Values that decide, where the file says nothing of its writer's types.
const SAMPLE_ROWS: usize = 4096;

/// Columns of INT96: the units that they are read in, and the others, with which they are compared.
#[derive(Clone, Debug)]
pub(super) struct Twin {
    /// The file, read in the other units.
    pub(super) metadata: ArrowReaderMetadata,
    /// Roots that have such columns, ascending.
    pub(super) roots: Vec<usize>,
}

/// How the file is read, and by what its INT96 timestamps are compared; `None` for a file without.
///
/// # Errors
/// When its first values can't be read.
pub(super) fn of(
    file: &Piece,
    metadata: ArrowReaderMetadata,
) -> Result<(ArrowReaderMetadata, Option<Twin>), Failure> {
    let descriptor = metadata.parquet_schema();
    let is_int96 = |leaf: &usize| descriptor.column(*leaf).physical_type() == PhysicalType::INT96;
    let timestamps: Vec<usize> = (0..descriptor.num_columns()).filter(is_int96).collect();
    if timestamps.is_empty() {
        return Ok((metadata, None));
    }
    let mut roots: Vec<usize> =
        timestamps.iter().map(|leaf| descriptor.get_column_root_idx(*leaf)).collect();
    roots.dedup();
    let schema = metadata.schema();
    let read_in = |unit: &dyn Fn(usize) -> Option<TimeUnit>| {
        let ty = |leaf| Some(DataType::Timestamp(unit(leaf)?, None));
        let options = ArrowReaderOptions::new().with_schema(leaves::with_types(schema, &ty));
        ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
    };
    let written = written_units(&metadata)?;
    let sampled = match written.is_some() {
        true => Vec::new(),
        false => {
            let in_micros =
                |leaf: usize| timestamps.binary_search(&leaf).ok().map(|_| TimeUnit::Microsecond);
            sampled_units(file, [&metadata, &read_in(&in_micros)?], &timestamps)?
        }
    };
    let unit = |leaf: usize| {
        let place = timestamps.binary_search(&leaf).ok()?;
        let written = written.as_ref().and_then(|units| units.get(leaf).copied()).flatten();
        Some(match written.or_else(|| sampled.get(place).copied()) {
            Some(TimeUnit::Nanosecond) => TimeUnit::Nanosecond,
            _ => TimeUnit::Microsecond,
        })
    };
    let other = |leaf: usize| {
        Some(match unit(leaf)? {
            TimeUnit::Nanosecond => TimeUnit::Microsecond,
            _ => TimeUnit::Nanosecond,
        })
    };
    Ok((read_in(&unit)?, Some(Twin { metadata: read_in(&other)?, roots })))
}

/// The units of the writer's own types, a leaf each, where the file has them: Arrow's as it says, Spark's are microseconds
/// (<https://spark.apache.org/docs/latest/sql-ref-datatypes.html>).
///
/// # Errors
/// When Arrow's can't be read.
fn written_units(metadata: &ArrowReaderMetadata) -> Result<Option<Vec<Option<TimeUnit>>>, Failure> {
    if let Some(schema) = written_schema(metadata)? {
        let mut units = Vec::new();
        schema.fields().iter().for_each(|field| units_of(field, &mut units));
        return Ok(Some(units));
    }
    let file = metadata.metadata().file_metadata();
    let is_spark = |pair: &KeyValue| pair.key == "org.apache.spark.version";
    let wrote = file.key_value_metadata().is_some_and(|said| said.iter().any(is_spark));
    let leaves = file.schema_descr().num_columns();
    Ok(wrote.then(|| vec![Some(TimeUnit::Microsecond); leaves]))
}

fn units_of(field: &Field, units: &mut Vec<Option<TimeUnit>>) {
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|field| units_of(field, units)),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::Map(field, _) => units_of(field, units),
        DataType::Timestamp(unit, _) => units.push(Some(*unit)),
        _ => units.push(None),
    }
}

/// The units that the first values of these leaves need, of a file that is read in nanoseconds and in microseconds.
fn sampled_units(
    file: &Piece,
    ways: [&ArrowReaderMetadata; 2],
    leaves: &[usize],
) -> Result<Vec<TimeUnit>, ParquetError> {
    let unit = |leaf: &usize| {
        let sample = |metadata: &ArrowReaderMetadata| {
            let mask = ProjectionMask::leaves(metadata.parquet_schema(), [*leaf]);
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.again()?, metadata.clone())
                .with_projection(mask)
                .with_batch_size(SAMPLE_ROWS)
                .with_limit(SAMPLE_ROWS)
                .build()
        };
        let [nanos, micros] = [sample(ways[0])?, sample(ways[1])?];
        let mut unit = TimeUnit::Microsecond;
        for (nanos, micros) in nanos.zip(micros) {
            // In microseconds every value is right, but not all of it.
            if compare(&micros?, &nanos?, &[0]).is_err() {
                unit = TimeUnit::Nanosecond;
            }
        }
        Ok(unit)
    };
    leaves.iter().map(unit).collect()
}

/// The timestamps of an array and of what is nested in it, in order.
fn timestamps<'a>(array: &'a ArrayRef, found: &mut Vec<&'a ArrayRef>) {
    match array.data_type() {
        DataType::Timestamp(..) => found.push(array),
        DataType::Struct(_) => {
            array.as_struct().columns().iter().for_each(|inner| timestamps(inner, found));
        }
        DataType::List(_) => timestamps(array.as_list::<i32>().values(), found),
        DataType::LargeList(_) => timestamps(array.as_list::<i64>().values(), found),
        DataType::FixedSizeList(..) => timestamps(array.as_fixed_size_list().values(), found),
        DataType::Map(..) => {
            let entries = array.as_map().entries();
            entries.columns().iter().for_each(|inner| timestamps(inner, found));
        }
        _ => {}
    }
}

/// Compares columns with the same in the other unit; `places` says where in the batch they are.
///
/// # Errors
/// When a moment is another one there.
pub(super) fn compare(
    batch: &RecordBatch,
    twin: &RecordBatch,
    places: &[usize],
) -> Result<(), Failure> {
    for (place, other) in places.iter().zip(twin.columns()) {
        let own = batch.column(*place);
        let (mut these, mut those) = (Vec::new(), Vec::new());
        timestamps(own, &mut these);
        timestamps(other, &mut those);
        for (own, other) in these.into_iter().zip(those) {
            let name = batch.schema_ref().field(*place).name();
            same(own, other).map_err(|(why, advice)| Unreadable {
                what: format!("column {name}: {why}"),
                advice,
            })?;
        }
    }
    Ok(())
}

/// Why not, and what to do.
fn same(own: &ArrayRef, other: &ArrayRef) -> Result<(), (&'static str, &'static str)> {
    use TimeUnit::{Microsecond, Nanosecond};
    // What stands in the place of a NULL says nothing.
    let pairs = values(own).iter().zip(values(other)).enumerate();
    let mut pairs = pairs.filter(|(at, _)| own.is_valid(*at)).map(|(_, pair)| pair);
    match (own.data_type(), other.data_type()) {
        (DataType::Timestamp(Microsecond, _), DataType::Timestamp(Nanosecond, _)) => {
            match pairs.all(|(micros, nanos)| micros.wrapping_mul(1000) == *nanos) {
                true => Ok(()),
                false => Err((
                    "an INT96 timestamp has nanoseconds, and the column is read in microseconds, as its writer or its first values have it",
                    "write the column again as TIMESTAMP in nanoseconds, or as text: INT96 does not say how fine its values are",
                )),
            }
        }
        (DataType::Timestamp(Nanosecond, _), DataType::Timestamp(Microsecond, _)) => {
            let is_same = |(nanos, micros): (&i64, &i64)| {
                let floor = micros.checked_mul(1000);
                let rest = floor.and_then(|floor| nanos.checked_sub(floor));
                rest.is_some_and(|rest| (0..1000).contains(&rest))
            };
            match pairs.all(is_same) {
                true => Ok(()),
                false => Err((
                    "an INT96 timestamp is out of the years 1677 to 2262, and others of the column have nanoseconds",
                    "write the column again as TIMESTAMP in microseconds, or as text: no type has both",
                )),
            }
        }
        _ => Ok(()),
    }
}

/// The counts of an array of timestamps.
fn values(array: &ArrayRef) -> &[i64] {
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().values()
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().values()
        }
        _ => &[],
    }
}
