//! Sums over values, as they were sent and as they are stored.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, RecordBatch};

use crate::pipe::Checksum;
use crate::pipe::checksum::Stored;
use crate::pipe::encode::Typed;
use crate::plan::Plan;
use crate::target::duckdb::connection::{Connection, Refusal, Vector};
use crate::target::duckdb::ddl::{self, quote};
use crate::target::duckdb::types::Carried;

/// Sums over all rows of a batch.
pub(super) fn of_batch(batch: &RecordBatch, carried: &[Carried]) -> Checksum {
    of_rows(batch, carried, &[])
}

/// Sums over the rows of a batch but for these, which ascend.
pub(super) fn of_rows(batch: &RecordBatch, carried: &[Carried], without: &[u32]) -> Checksum {
    let mut sums = Checksum::new(carried.len());
    let mut text = Vec::new();
    for (column, (array, carried)) in batch.columns().iter().zip(carried).enumerate() {
        let mut left_out = without.iter().peekable();
        for row in 0..batch.num_rows() {
            if left_out.next_if(|next| **next as usize == row).is_none() {
                add(&mut sums, column, array, *carried, row, &mut text);
            }
        }
    }
    sums
}

fn add(
    sums: &mut Checksum,
    column: usize,
    array: &ArrayRef,
    carried: Carried,
    row: usize,
    text: &mut Vec<u8>,
) {
    if array.is_null(row) {
        return sums.add(column, Stored::Null);
    }
    macro_rules! integer {
        ($type:ty) => {
            Stored::Integer(array.as_primitive::<$type>().value(row) as i64)
        };
    }
    let stored = match carried {
        Carried::Boolean => Stored::Integer(array.as_boolean().value(row).into()),
        Carried::Integer { bits: 8, signed: true } => integer!(Int8Type),
        Carried::Integer { bits: 8, signed: false } => integer!(UInt8Type),
        Carried::Integer { bits: 16, signed: true } => integer!(Int16Type),
        Carried::Integer { bits: 16, signed: false } => integer!(UInt16Type),
        Carried::Integer { bits: 32, signed: true } => integer!(Int32Type),
        Carried::Integer { bits: 32, signed: false } => integer!(UInt32Type),
        Carried::Integer { signed: true, .. } => integer!(Int64Type),
        Carried::Integer { signed: false, .. } => integer!(UInt64Type),
        Carried::Float => Stored::Real(array.as_primitive::<Float32Type>().value(row).into()),
        Carried::Double => Stored::Real(array.as_primitive::<Float64Type>().value(row)),
        Carried::Decimal { scale, .. } => {
            let digits = array.as_primitive::<Decimal128Type>().value(row);
            text.clear();
            Typed::Decimal { digits, scale }.write(text);
            Stored::Text(text)
        }
        Carried::Date => integer!(Date32Type),
        Carried::Timestamp { digits: 0 } => integer!(TimestampSecondType),
        Carried::Timestamp { digits: 3 } => integer!(TimestampMillisecondType),
        Carried::Timestamp { digits: 9 } => integer!(TimestampNanosecondType),
        Carried::Timestamp { .. } | Carried::Moment => integer!(TimestampMicrosecondType),
        Carried::Text | Carried::Json | Carried::Cast => {
            Stored::Text(array.as_string::<i32>().value(row).as_bytes())
        }
        Carried::Bytes => Stored::Bytes(array.as_binary::<i32>().value(row)),
    };
    sums.add(column, stored);
}

/// Sums over the loaded columns of the table as it is now.
pub(super) fn of_table(
    connection: &Connection,
    plan: &Plan,
    carried: &[Carried],
) -> Result<Checksum, Refusal> {
    let columns = plan.choice.columns.iter().zip(carried).map(|(column, carried)| {
        let name = quote(&column.name);
        match carried {
            Carried::Decimal { .. } | Carried::Json | Carried::Cast => {
                format!("CAST({name} AS VARCHAR)")
            }
            _ => name,
        }
    });
    let columns: Vec<String> = columns.collect();
    let sql = format!("SELECT {} FROM {}", columns.join(", "), quote(ddl::table(plan)));
    let mut sums = Checksum::new(carried.len());
    let mut answer = connection.prepare(&sql)?.stream()?;
    while let Some(chunk) = answer.chunk() {
        for (column, carried) in carried.iter().enumerate() {
            let vector = chunk.vector(column);
            for row in 0..chunk.rows() {
                // SAFETY: the row is one of the chunk's, and the column of the type that was asked for.
                sums.add(column, unsafe { stored(&vector, *carried, row) });
            }
        }
    }
    answer.ended()?;
    Ok(sums)
}

/// # Safety
/// The row is one of the vector's, whose values are as `carried` says, but for what was asked for as text.
unsafe fn stored<'c>(vector: &Vector<'c>, carried: Carried, row: usize) -> Stored<'c> {
    // SAFETY: the caller promises all of it.
    unsafe {
        if !vector.is_valid(row) {
            return Stored::Null;
        }
        match carried {
            Carried::Boolean => Stored::Integer(vector.value::<u8>(row).into()),
            Carried::Integer { bits: 8, signed: true } => {
                Stored::Integer(vector.value::<i8>(row).into())
            }
            Carried::Integer { bits: 8, .. } => Stored::Integer(vector.value::<u8>(row).into()),
            Carried::Integer { bits: 16, signed: true } => {
                Stored::Integer(vector.value::<i16>(row).into())
            }
            Carried::Integer { bits: 16, .. } => Stored::Integer(vector.value::<u16>(row).into()),
            Carried::Integer { bits: 32, signed: true } => {
                Stored::Integer(vector.value::<i32>(row).into())
            }
            Carried::Integer { bits: 32, .. } => Stored::Integer(vector.value::<u32>(row).into()),
            Carried::Date => Stored::Integer(vector.value::<i32>(row).into()),
            Carried::Integer { .. } | Carried::Timestamp { .. } | Carried::Moment => {
                Stored::Integer(vector.value::<i64>(row))
            }
            Carried::Float => Stored::Real(vector.value::<f32>(row).into()),
            Carried::Double => Stored::Real(vector.value::<f64>(row)),
            Carried::Bytes => Stored::Bytes(vector.bytes(row)),
            Carried::Decimal { .. } | Carried::Text | Carried::Json | Carried::Cast => {
                Stored::Text(vector.bytes(row))
            }
        }
    }
}
