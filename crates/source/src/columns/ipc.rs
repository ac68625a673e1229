//! Arrow IPC: files with a footer, and streams (<https://arrow.apache.org/docs/format/Columnar.html#format-ipc>).
//!
//! Their batches are as large as their writer made them; one is in memory as a whole, and goes on in slices that share it.

use std::fs::File;
use std::io::{BufReader, Read};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::columns::reading::Reading;
use crate::columns::{Batch, Failure, Take};

/// The schema of a file.
pub(super) fn file_schema(file: File) -> Result<Schema, ArrowError> {
    Ok(FileReader::try_new(BufReader::new(file), None)?.schema().as_ref().clone())
}

/// The schema that a stream begins with, of which `head` are the first bytes.
pub(super) fn stream_schema(head: &[u8]) -> Result<Schema, ArrowError> {
    Ok(StreamReader::try_new(head, None)?.schema().as_ref().clone())
}

/// Reads a file's batches.
pub(super) fn file_batches(
    file: File,
    stored: u64,
    readings: &[Reading],
    names: &SchemaRef,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    let reader = FileReader::try_new(BufReader::new(file), None)?;
    let each = stored / (reader.num_batches() as u64).max(1);
    batches(reader, each, readings, names, batch_bytes, take)
}

/// Reads a stream's batches; whoever gives `input` counts its bytes.
pub(super) fn stream_batches(
    input: impl Read,
    readings: &[Reading],
    names: &SchemaRef,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    let reader = StreamReader::try_new_buffered(input, None)?;
    batches(reader, 0, readings, names, batch_bytes, take)
}

fn batches(
    reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    stored: u64,
    readings: &[Reading],
    names: &SchemaRef,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    for (group, batch) in reader.enumerate() {
        let batch = batch?;
        let bytes = (batch.get_array_memory_size() / batch.num_rows().max(1)).max(1);
        let rows_max = (batch_bytes / bytes).clamp(1, 1 << 16);
        let mut row = 0;
        while row < batch.num_rows() {
            let rows = rows_max.min(batch.num_rows() - row);
            let slice = batch.slice(row, rows);
            let arrays = readings
                .iter()
                .map(|reading| reading.apply(&slice, reading.path[0]))
                .collect::<Result<_, _>>()?;
            let part = RecordBatch::try_new(names.clone(), arrays)?;
            let stored = if row == 0 { stored } else { 0 };
            if !take(Batch { rows: part, group: group as u32, row: row as u64, stored })? {
                return Ok(());
            }
            row += rows;
        }
    }
    Ok(())
}
