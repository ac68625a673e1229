//! Arrow IPC: files with a footer, and streams (<https://arrow.apache.org/docs/format/Columnar.html#format-ipc>).
//!
//! Their batches are as large as their writer made them; one is in memory as a whole, and goes on in slices that share it.

use std::io::{BufReader, Read, Seek};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::columns::reading::Reading;
use crate::columns::{Failure, Take, slices};

/// The schema of a file.
pub(super) fn file_schema(file: impl Read + Seek) -> Result<Schema, ArrowError> {
    Ok(FileReader::try_new(BufReader::new(file), None)?.schema().as_ref().clone())
}

/// The schema that a stream begins with, of which `head` are the first bytes.
pub(super) fn stream_schema(head: &[u8]) -> Result<Schema, ArrowError> {
    Ok(StreamReader::try_new(head, None)?.schema().as_ref().clone())
}

/// Reads a file's batches.
pub(super) fn file_batches(
    file: impl Read + Seek,
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
    for (group, batch) in (0..).zip(reader) {
        if !slices(&batch?, group, stored, readings, names, batch_bytes, take)? {
            break;
        }
    }
    Ok(())
}
