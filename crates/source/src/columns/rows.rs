//! Rows that a program has, as record batches.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::columns::reading::{Reading, names_of, readings};
use crate::columns::{Failure, Take, slices};
use inrush_core::Type;
use inrush_core::error::{Error, Result};

/// Rows of a program. Batches that can be had again may be read a second time when the load learns something; a stream is read once.
pub trait BatchSource: Send {
    /// The columns: names and types.
    fn schema(&self) -> SchemaRef;

    /// The batches, from the first on. A batch has the columns of [`BatchSource::schema`], in whatever order: they are found by their
    /// names, and one that is missing or unknown ends the load. A column that is of another type there is judged by the values that it
    /// has: text that is no integer is a bad row of a column of integers.
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

    /// Whether the schema's types are what the first rows look like, and not what all of them are said to be: then a column of days,
    /// moments, durations and other values that are written in several ways gets another type in a new table when a later value isn't of
    /// its own, if the rows are replayable. What is no number is a bad row of a column of numbers, as without a guess.
    fn is_guess(&self) -> bool {
        false
    }
}

/// Batches that are in memory. The first one says what the columns are, so that there has to be one, if only one without rows.
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
pub(super) struct Rows {
    source: Arc<Mutex<Box<dyn BatchSource>>>,
    /// What the source has said of its columns when the load was planned.
    schema: SchemaRef,
}

impl Rows {
    pub(super) fn new(source: Box<dyn BatchSource>, schema: SchemaRef) -> Self {
        Self { source: Arc::new(Mutex::new(source)), schema }
    }

    pub(super) fn source(&self) -> MutexGuard<'_, Box<dyn BatchSource>> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the batches of `reader`, which have the columns of `said`.
    pub(super) fn batches(
        &self,
        reader: impl RecordBatchReader,
        (said, names_said): (&[Reading], &SchemaRef),
        flatten: bool,
        batch_bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        // The schema of the batch before, which most share, and how such a batch is read where it is not as said.
        let (mut last, mut own): (Option<SchemaRef>, Option<(Vec<Reading>, SchemaRef)>) =
            (None, None);
        for (group, batch) in (0..).zip(reader) {
            let batch = batch?;
            let schema = batch.schema_ref();
            if !last.as_ref().is_some_and(|last| Arc::ptr_eq(last, schema)) {
                let is_as_said = columns(schema).eq(columns(&self.schema));
                own = match is_as_said {
                    true => None,
                    false => Some(in_order(said, &readings(schema, flatten))?),
                };
                last = Some(Arc::clone(schema));
            }
            let (readings, names) = match &own {
                None => (said, names_said),
                Some((readings, names)) => (readings.as_slice(), names),
            };
            if !slices(&batch, group, 0, readings, names, batch_bytes, take)? {
                break;
            }
        }
        Ok(())
    }
}

/// What a schema says of the columns: their names, their types, and whether they are texts that stand for values of others.
fn columns(schema: &Schema) -> impl Iterator<Item = (&String, &DataType, bool)> {
    let fields = schema.fields().iter().map(AsRef::<Field>::as_ref);
    fields.map(|field| (field.name(), field.data_type(), Type::is_written_out(field)))
}

/// A batch's columns, in the order in which the schema has them, and their names.
fn in_order(said: &[Reading], own: &[Reading]) -> Result<(Vec<Reading>, SchemaRef), String> {
    fn names(readings: &[Reading]) -> Vec<&str> {
        readings.iter().map(|reading| reading.name.as_str()).collect()
    }
    let order = columns_of(&names(said), &names(own))?;
    let mut readings: Vec<Reading> = order.into_iter().map(|at| own[at].clone()).collect();
    readings.iter_mut().zip(said).for_each(|(own, said)| own.take_days_as(said));
    let names = names_of(&readings);
    Ok((readings, names))
}

/// Where a batch of the columns `given` has each of the schema's: they are found by their names, those of one name in their order.
///
/// # Errors
/// When one is missing, or there is another.
pub fn columns_of(schema: &[&str], given: &[&str]) -> Result<Vec<usize>, String> {
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, name) in given.iter().enumerate() {
        places.entry(name).or_default().push_back(at);
    }
    let places = schema.iter().map(|name| places.get_mut(*name)?.pop_front());
    let order: Option<Vec<usize>> = places.collect();
    order.filter(|order| order.len() == given.len()).ok_or_else(|| {
        format!(
            "a batch has the columns {}, and the schema has {}",
            given.join(", "),
            schema.join(", ")
        )
    })
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").field(&self.schema).finish()
    }
}
