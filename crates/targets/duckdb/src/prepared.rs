//! `prepared`: one prepared INSERT, run once a row, as a program does it that knows nothing better.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time64MicrosecondType, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, RecordBatch};

use crate::connection::{Connection, Refusal, Statement};
use crate::ddl::{self, quote};
use crate::library::SUCCESS;
use crate::sift::{GIVEN, Rules, Write};
use crate::types::Carried;
use inrush_core::Job;
use inrush_core::encode::Typed;

pub(super) struct PreparedWriter {
    statement: Statement,
    carried: Vec<Carried>,
    text: Vec<u8>,
}

impl PreparedWriter {
    pub(super) fn open(
        connection: &Connection,
        job: &Job,
        rules: &Rules,
        carried: &[Carried],
    ) -> Result<Self, Refusal> {
        let types: Vec<String> = job
            .choice
            .columns
            .iter()
            .zip(carried)
            .enumerate()
            .map(|(index, (column, carried))| {
                format!(
                    "CAST(${} AS {}) AS {}",
                    index + 1,
                    parameter(*carried),
                    quote(&column.name)
                )
            })
            .collect();
        let sql = format!(
            "{} SELECT {} FROM (SELECT {}) {GIVEN}{}",
            ddl::insert_into(job),
            rules.checked_values(),
            types.join(", "),
            ddl::on_conflict(job)
        );
        Ok(Self {
            statement: connection.prepare(&sql)?,
            carried: carried.to_vec(),
            text: Vec::new(),
        })
    }

    fn bind(&mut self, batch: &RecordBatch, row: usize) -> Result<(), Refusal> {
        let Self { statement, carried, text } = self;
        let (library, handle) = (statement.library, statement.handle);
        for (index, (array, carried)) in batch.columns().iter().zip(carried.iter()).enumerate() {
            let at = index as u64 + 1;
            let array: &dyn Array = array;
            macro_rules! number {
                ($type:ty, $bind:ident) => {
                    (library.$bind)(handle, at, array.as_primitive::<$type>().value(row).into())
                };
            }
            // SAFETY: the statement is live and has a parameter for each column; text and bytes are copied during the call.
            let state = unsafe {
                match carried {
                    _ if array.is_null(row) => (library.bind_null)(handle, at),
                    Carried::Boolean => {
                        (library.bind_boolean)(handle, at, array.as_boolean().value(row))
                    }
                    Carried::Integer { bits: 8, signed: true } => number!(Int8Type, bind_int64),
                    Carried::Integer { bits: 8, signed: false } => number!(UInt8Type, bind_int64),
                    Carried::Integer { bits: 16, signed: true } => number!(Int16Type, bind_int64),
                    Carried::Integer { bits: 16, signed: false } => number!(UInt16Type, bind_int64),
                    Carried::Integer { bits: 32, signed: true } => number!(Int32Type, bind_int64),
                    Carried::Integer { bits: 32, signed: false } => number!(UInt32Type, bind_int64),
                    Carried::Integer { signed: true, .. } => number!(Int64Type, bind_int64),
                    Carried::Integer { signed: false, .. } => number!(UInt64Type, bind_uint64),
                    Carried::Float => number!(Float32Type, bind_double),
                    Carried::Double => number!(Float64Type, bind_double),
                    Carried::Date => number!(Date32Type, bind_date),
                    Carried::Timestamp { digits: 6 } => {
                        number!(TimestampMicrosecondType, bind_timestamp)
                    }
                    Carried::Moment => number!(TimestampMicrosecondType, bind_timestamp_tz),
                    Carried::Time => number!(Time64MicrosecondType, bind_time),
                    Carried::Bytes => {
                        let value = array.as_binary::<i32>().value(row);
                        (library.bind_blob)(handle, at, value.as_ptr().cast(), value.len() as u64)
                    }
                    Carried::Text
                    | Carried::Uuid
                    | Carried::Json
                    | Carried::Nested
                    | Carried::Cast => {
                        let value = array.as_string::<i32>().value(row);
                        (library.bind_varchar_length)(
                            handle,
                            at,
                            value.as_ptr().cast(),
                            value.len() as u64,
                        )
                    }
                    Carried::Decimal { .. } | Carried::Timestamp { .. } => {
                        text.clear();
                        written(array, *carried, row, text);
                        (library.bind_varchar_length)(
                            handle,
                            at,
                            text.as_ptr().cast(),
                            text.len() as u64,
                        )
                    }
                }
            };
            if state != SUCCESS {
                return Err(statement.refusal());
            }
        }
        Ok(())
    }
}

impl Write for PreparedWriter {
    fn write(
        &mut self,
        _connection: &Connection,
        batch: &RecordBatch,
        without: &[u32],
    ) -> Result<(), Refusal> {
        let mut left_out = without.iter().peekable();
        for row in 0..batch.num_rows() {
            if left_out.next_if(|next| **next as usize == row).is_none() {
                self.bind(batch, row)?;
                self.statement.run()?;
            }
        }
        Ok(())
    }
}

/// The type of a parameter.
fn parameter(carried: Carried) -> String {
    let name = match carried {
        Carried::Boolean => "BOOLEAN",
        Carried::Integer { bits: 8, signed: true } => "TINYINT",
        Carried::Integer { bits: 8, signed: false } => "UTINYINT",
        Carried::Integer { bits: 16, signed: true } => "SMALLINT",
        Carried::Integer { bits: 16, signed: false } => "USMALLINT",
        Carried::Integer { bits: 32, signed: true } => "INTEGER",
        Carried::Integer { bits: 32, signed: false } => "UINTEGER",
        Carried::Integer { signed: true, .. } => "BIGINT",
        Carried::Integer { signed: false, .. } => "UBIGINT",
        Carried::Float => "FLOAT",
        Carried::Double => "DOUBLE",
        Carried::Decimal { precision, scale } => return format!("DECIMAL({precision},{scale})"),
        Carried::Date => "DATE",
        Carried::Timestamp { digits: 0 } => "TIMESTAMP_S",
        Carried::Timestamp { digits: 3 } => "TIMESTAMP_MS",
        Carried::Timestamp { digits: 9 } => "TIMESTAMP_NS",
        Carried::Timestamp { .. } => "TIMESTAMP",
        Carried::Moment => "TIMESTAMPTZ",
        Carried::Time => "TIME",
        Carried::Text | Carried::Uuid | Carried::Json | Carried::Nested | Carried::Cast => {
            "VARCHAR"
        }
        Carried::Bytes => "BLOB",
    };
    name.to_owned()
}

/// A value that there is no call for, as the engine reads it.
fn written(array: &dyn Array, carried: Carried, row: usize, text: &mut Vec<u8>) {
    match carried {
        Carried::Decimal { scale, .. } => {
            let digits = array.as_primitive::<Decimal128Type>().value(row);
            Typed::Decimal { digits, scale }.write(text);
        }
        Carried::Timestamp { digits } => {
            let ticks = array.to_data().buffer::<i64>(0)[row];
            // The ends of the type.
            if ticks.unsigned_abs() == i64::MAX.unsigned_abs() {
                let sign = if ticks < 0 { "-" } else { "" };
                text.extend_from_slice(format!("{sign}infinity").as_bytes());
                return;
            }
            let unit = 10_i64.pow(digits.into());
            let nanos = ticks.rem_euclid(unit) * (1_000_000_000 / unit);
            let seconds = ticks.div_euclid(unit);
            let moment = inrush_core::encode::Moment { seconds, nanos: nanos as u32, zone: false };
            Typed::Moment(moment).write(text);
        }
        _ => {}
    }
}
