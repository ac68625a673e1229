//! Rows that a program has, as record batches.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::columns::reading::{Reading, names_of, readings};
use crate::columns::{Failure, Take, slices};
use inrush_core::Type;
use inrush_core::error::{Error, Result};

/// Rows of a program. Batches that can be had again may be read a second time when the load learns something; a stream is read once.
pub trait BatchSource: Send {
    /// The columns: names and types.
    fn schema(&self) -> SchemaRef;

    /// The batches, from the first on. A batch's columns are those of [`BatchSource::schema`] in its order; one that is of another type
    /// there is judged by the values that it has: text that is no integer is a bad row of a column of integers.
    ///
    /// # Errors
    /// When they can't be had, or not again.
    fn open(&mut self) -> Result<Box<dyn RecordBatchReader + Send>>;

    /// Whether [`BatchSource::open`] can be called again, for the same rows.
    fn is_replayable(&self) -> bool {
        false
    }

    /// How many rows of the program came before these: a row's number counts them, too.
    fn rows_before(&self) -> u64 {
        0
    }

    /// Whether the schema's types are what the first rows look like, and not what all of them are said to be: then a column of a new
    /// table gets another type when a later value isn't of its own, if the rows are replayable.
    fn is_guess(&self) -> bool {
        false
    }
}

/// Batches that are in memory.
impl BatchSource for Vec<RecordBatch> {
    fn schema(&self) -> SchemaRef {
        self.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema)
    }

    fn open(&mut self) -> Result<Box<dyn RecordBatchReader + Send>> {
        // A clone of a batch is another reference to its columns.
        let batches = self.clone().into_iter().map(Ok);
        Ok(Box::new(arrow_array::RecordBatchIterator::new(batches, BatchSource::schema(self))))
    }

    fn is_replayable(&self) -> bool {
        true
    }
}

/// A stream, which is read once.
pub struct Stream {
    schema: SchemaRef,
    reader: Option<Box<dyn RecordBatchReader + Send>>,
}

impl Stream {
    /// The rows of `reader`.
    pub fn new(reader: impl RecordBatchReader + Send + 'static) -> Self {
        Self { schema: reader.schema(), reader: Some(Box::new(reader)) }
    }
}

impl BatchSource for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&mut self) -> Result<Box<dyn RecordBatchReader + Send>> {
        self.reader.take().ok_or_else(|| Error::source("a stream of rows can be read only once"))
    }
}

/// The rows of a load.
#[derive(Clone)]
pub(super) struct Rows(Arc<Mutex<Box<dyn BatchSource>>>);

impl Rows {
    pub(super) fn new(rows: Box<dyn BatchSource>) -> Self {
        Self(Arc::new(Mutex::new(rows)))
    }

    pub(super) fn source(&self) -> MutexGuard<'_, Box<dyn BatchSource>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the batches of a program.
pub(super) fn batches(
    reader: impl RecordBatchReader,
    readings_said: &[Reading],
    names_said: &SchemaRef,
    flatten: bool,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    let schema = reader.schema();
    for (group, batch) in (0..).zip(reader) {
        let batch = batch?;
        let is_as_said = types(&batch.schema()).eq(types(&schema));
        let own = match is_as_said {
            true => None,
            false => Some(readings(&batch.schema(), flatten)),
        };
        let own = own.map(|readings| (names_of(&readings), readings));
        let (names, readings) = match &own {
            None => (names_said, readings_said),
            Some((_, own)) if own.len() != readings_said.len() => {
                let (own, said) = (own.len(), readings_said.len());
                return Err(format!("a batch has {own} columns, and the first had {said}").into());
            }
            Some((names, readings)) => (names, readings.as_slice()),
        };
        if !slices(&batch, group, 0, readings, names, batch_bytes, take)? {
            break;
        }
    }
    Ok(())
}

/// What a schema says of the values: their types, and whether they are texts that stand for values of others.
fn types(schema: &Schema) -> impl Iterator<Item = (&DataType, bool)> {
    schema.fields().iter().map(|field| (field.data_type(), Type::is_written_out(field)))
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").field(&self.source().schema()).finish()
    }
}
