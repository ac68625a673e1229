//! Rows to columns: each chunk becomes one record batch, in the types that the table's columns have.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, TimeUnit};

use crate::types::{self, Carried};
use inrush_arrow::{ArrowColumn, ArrowEncoder};
use inrush_core::encode::{self, Grammar, Shape};
use inrush_core::flow::{Encode, Wire};
use inrush_core::{Job, Type, Verify};

/// Bytes of a batch for each byte of a chunk, at worst: a field of one byte becomes a decimal of 16, and has a bit besides.
pub(super) const GROWTH: usize = 18;

/// An encoder for one thread.
pub(super) fn encoder(shape: Arc<Shape>, job: &Job, carried: &[Carried]) -> Box<dyn Encode> {
    let columns: Vec<ArrowColumn> = job
        .choice
        .columns
        .iter()
        .zip(carried)
        .enumerate()
        .map(|(index, (column, carried))| {
            let content = match carried {
                Carried::Uuid => Type::Uuid,
                Carried::Cast | Carried::Nested => Type::Text,
                Carried::Json => Type::Json,
                _ => column.ty,
            };
            let nested = match carried {
                Carried::Nested => types::nested(column).map(|nested| nested.tree),
                _ => None,
            };
            let ty = data_type(*carried);
            ArrowColumn {
                ty,
                content,
                nested,
                takes_literals: takes_literals(job, index),
                infinite_ends: true,
                // What is declared with the load is a timestamp, and no day.
                takes_days: !column.is_own(),
                takes_day_end: true,
                // The text of an existing column is what the engine writes, and casts.
                takes_far: !column.is_own(),
                escapes: !column.is_own(),
                ..ArrowColumn::of(index, column)
            }
        })
        .collect();
    let sums = (job.request.verify == Verify::Checksum).then_some(columns.len());
    encode::encoder(shape, ArrowEncoder::new(&columns, sums))
}

/// Whether a text of a column of lists, structs or maps may be written as the engine writes it: unless the source has documents in a type
/// of their own.
fn takes_literals(job: &Job, column: usize) -> bool {
    let field = job.choice.fields.get(column).and_then(|at| job.facts.source.fields.get(*at));
    !matches!(job.shape.grammar, Grammar::Columns)
        || field.is_none_or(|field| field.ty != Type::Json)
}

/// The chunk's good rows; `None` where there are none.
pub(super) fn batch_of(wire: &Wire) -> Option<RecordBatch> {
    wire.batch.clone().filter(|batch| batch.num_rows() > 0)
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
        Carried::Time => DataType::Time64(TimeUnit::Microsecond),
        Carried::Text | Carried::Uuid | Carried::Json | Carried::Nested | Carried::Cast => {
            DataType::Utf8
        }
        Carried::Bytes => DataType::Binary,
    }
}
