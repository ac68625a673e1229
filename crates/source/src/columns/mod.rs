//! Inputs of columns: Parquet and Arrow IPC files, whose values come in types of their own.
//!
//! ```text
//! file -> batches of whole rows -> each column in a form that encoders know (reading) -> chunks
//! ```

mod ipc;
mod nested;
mod parquet;
mod reading;
#[cfg(test)]
mod tests;
mod text;
mod widen;

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};

use crate::format::Layout;
use crate::head::HEAD_BYTES;
use crate::header::{order, unique};
use crate::place::cannot_open;
use crate::stdin::Pipe;
use crate::{Input, Place, Source};
use inrush_core::encode::Grammar;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Feeder;
use inrush_core::flow::{Meter, Origin};
use inrush_core::{DialectRequest, FieldFacts, MomentFacts, Nulls, SourceFacts, Type};
use reading::{Reading, readings};

/// Columns that a batch can have; more are more than any target takes.
const COLUMNS_MAX: usize = u16::MAX as usize;

/// What an input says of its columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    store: Store,
    readings: Vec<Reading>,
    /// The columns' names; what else a schema says has been used up by the readings.
    names: SchemaRef,
}

#[derive(Clone, Debug)]
enum Store {
    Parquet(parquet::Footer),
    IpcFile,
    IpcStream,
}

/// Some rows of an input.
struct Batch {
    rows: RecordBatch,
    /// The row group or batch of the file, from 0.
    group: u32,
    /// The first row's place in it, from 0.
    row: u64,
    /// What it took in the file.
    stored: u64,
}

/// Takes batches in order; false says that no more are wanted.
type Take<'a> = dyn FnMut(Batch) -> Result<bool> + 'a;

/// Why a file can't be read.
type Failure = Box<dyn std::error::Error + Send + Sync>;

impl Source {
    /// Opens inputs of columns and looks at their schemas.
    pub(super) fn open_columns(
        places: &[(Place, Layout)],
        request: &DialectRequest,
        mut pipe: Option<Pipe>,
        abandoned: Arc<AtomicBool>,
        stop: &AtomicBool,
    ) -> Result<(Self, SourceFacts)> {
        refuse_dialect(request, &places[0])?;
        let mut inputs = Vec::new();
        let mut tables: Vec<Table> = Vec::new();
        let mut orders = Vec::new();
        for (place, layout) in places {
            let input = Input::plain(place);
            let table = look(&input, *layout, request.flatten, &mut pipe, stop)
                .map_err(|error| error.in_input(&input.name))?;
            let names = |table: &Table| -> Vec<String> {
                table.readings.iter().map(|reading| reading.name.clone()).collect()
            };
            orders.push(match tables.first() {
                None => (0..table.readings.len()).collect(),
                Some(first) => order(&names(first), &names(&table), &input.name)?,
            });
            inputs.push(input);
            tables.push(table);
        }
        let mut warnings = Vec::new();
        let first = &tables[0].readings;
        let names =
            unique(first.iter().map(|reading| reading.name.clone()).collect(), &mut warnings);
        let fields = names.into_iter().enumerate().map(|(index, name)| {
            let all =
                tables.iter().zip(&orders).map(|(table, order)| table.readings[order[index]].ty);
            let ty = all.reduce(common).unwrap_or(Type::Text);
            let all =
                tables.iter().zip(&orders).map(|(table, order)| &table.readings[order[index]]);
            let digits = all.map(Reading::moment_digits).max().unwrap_or(0);
            let moments = MomentFacts { digits, ..MomentFacts::default() };
            FieldFacts { name, ty, spoiler: None, is_declared: true, moments }
        });
        let fields: Vec<FieldFacts> = fields.collect();
        let memory = |table: &Table| match &table.store {
            Store::Parquet(footer) => footer.memory_bytes,
            Store::IpcFile | Store::IpcStream => 0,
        };
        let mut reasons = vec!["columns and types are those of the source's own schema".to_owned()];
        let is_parquet = |table: &Table| matches!(table.store, Store::Parquet(_));
        if !tables.iter().all(is_parquet) {
            reasons.push("each of the source's record batches is in memory as a whole".to_owned());
        }
        let facts = SourceFacts {
            fields,
            header: true,
            header_is_detected: false,
            reasons,
            warnings,
            bytes: inputs.iter().map(|input| input.bytes_stored).sum(),
            seekable: inputs.iter().all(|input| input.bytes_stored.is_some()),
            is_surveyed: false,
            is_intolerant: false,
            repeats: Arc::default(),
            memory_bytes: tables.iter().map(memory).max().unwrap_or(0),
            chunks_ahead: if tables.iter().any(is_parquet) { parquet::CHUNKS_AHEAD } else { 0 },
            parquet: parquet_files(&inputs, &tables, &orders).filter(|_| !request.flatten),
        };
        let source = Source {
            inputs,
            grammar: Grammar::Columns,
            nulls: Nulls::default(),
            header: true,
            orders,
            tables,
            pipe: Mutex::new(pipe),
            abandoned,
        };
        Ok((source, facts))
    }
}

/// The files, where all are Parquet and have the same columns in the same order.
fn parquet_files(
    inputs: &[Input],
    tables: &[Table],
    orders: &[Vec<usize>],
) -> Option<Vec<PathBuf>> {
    let are_parquet = tables.iter().all(|table| matches!(table.store, Store::Parquet(_)));
    let are_same = orders.iter().all(|order| order.iter().enumerate().all(|(at, of)| at == *of));
    let path = |input: &Input| match &input.place {
        Place::File(path) => Some(path.clone()),
        Place::Stdin => None,
    };
    if are_parquet && are_same { inputs.iter().map(path).collect() } else { None }
}

/// What is said of text has no meaning here.
fn refuse_dialect(request: &DialectRequest, (place, layout): &(Place, Layout)) -> Result<()> {
    let option = match () {
        () if request.encoding.is_some() => Some("--encoding"),
        () if request.skip_lines > 0 => Some("--skip-lines"),
        () => request.delimited_option(),
    };
    match option {
        Some(option) => Err(Error::usage(format!(
            "{option} is for text, and {} is {}",
            place.name(),
            layout.words()
        ))),
        None => Ok(()),
    }
}

/// A type for what is of either.
fn common(a: Type, b: Type) -> Type {
    match (a, b) {
        _ if a == b => a,
        (Type::Integer, Type::Float) | (Type::Float, Type::Integer) => Type::Float,
        (Type::Integer, Type::Decimal { precision, scale })
        | (Type::Decimal { precision, scale }, Type::Integer) => {
            Type::Decimal { precision: (precision - scale).max(19) + scale, scale }
        }
        (Type::Decimal { precision: p, scale: s }, Type::Decimal { precision: q, scale: t }) => {
            let scale = s.max(t);
            Type::Decimal { precision: (p - s).max(q - t) + scale, scale }
        }
        _ => Type::Text,
    }
}

fn look(
    input: &Input,
    layout: Layout,
    flatten: bool,
    pipe: &mut Option<Pipe>,
    stop: &AtomicBool,
) -> Result<Table> {
    let damaged = |failure: Failure| input.damaged(layout, &failure);
    let fail = |error| cannot_open(&input.name, &error);
    let (store, readings) = match (layout, &input.place, input.bytes_stored) {
        (Layout::Parquet, Place::File(path), Some(_)) => {
            let file = File::open(path).map_err(fail)?;
            let footer = parquet::Footer::read(&file).map_err(|error| damaged(error.into()))?;
            let readings = footer.readings(flatten);
            (Store::Parquet(footer), readings)
        }
        (Layout::ArrowFile, Place::File(path), Some(_)) => {
            let file = File::open(path).map_err(fail)?;
            let schema = ipc::file_schema(file).map_err(|error| damaged(error.into()))?;
            (Store::IpcFile, readings(&schema, flatten))
        }
        (Layout::ArrowStream, place, stored) => {
            let head = match (place, stored, pipe) {
                (Place::File(path), Some(_), _) => {
                    use std::io::Read as _;
                    let mut head = Vec::new();
                    let file = File::open(path).map_err(fail)?;
                    file.take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(fail)?;
                    head
                }
                (_, _, Some(pipe)) => pipe.peek(HEAD_BYTES, stop).map_err(fail)?,
                _ => Vec::new(),
            };
            let schema = ipc::stream_schema(&head).map_err(|error| damaged(error.into()))?;
            (Store::IpcStream, readings(&schema, flatten))
        }
        _ => {
            return Err(Error::source(format!(
                "{} is {}, which can't be read from a pipe: its end has to be read first",
                input.name,
                layout.words()
            ))
            .advise("save it to a file first"));
        }
    };
    if readings.is_empty() {
        return Err(Error::source(format!("{} has no columns", input.name)));
    }
    if readings.len() > COLUMNS_MAX {
        return Err(Error::source(format!("{} has more than {COLUMNS_MAX} columns", input.name)));
    }
    let name = |reading: &Reading| {
        let ty = reading.becomes();
        Field::new(&reading.name, ty, true)
    };
    let names = Arc::new(Schema::new(readings.iter().map(name).collect::<Vec<_>>()));
    Ok(Table { store, readings, names })
}

impl Input {
    fn damaged(&self, layout: Layout, failure: &Failure) -> Error {
        Error::source(format!("{}: cannot be read as {}: {failure}", self.name, layout.words()))
            .about(&self.name)
            .advise("check that it is whole: fetch or write it again")
    }
}

/// Feeds every input of `source` into the pipeline, in order, as batches of about `chunk_bytes`.
pub(crate) fn feed(
    source: &Source,
    chunk_bytes: usize,
    meter: &Meter,
    feeder: &mut dyn Feeder,
) -> Result<()> {
    for (file, table) in source.tables.iter().enumerate() {
        let input = &source.inputs[file];
        let mut goes_on = true;
        let mut take = |batch: Batch| {
            let Some(mut slot) = feeder.take() else {
                goes_on = false;
                return Ok(false);
            };
            meter.add_stored(batch.stored);
            meter.add_read(batch.stored);
            slot.chunk.bytes.clear();
            slot.chunk.origin =
                Origin { file: file as u32, byte: 0, group: batch.group, group_row: batch.row };
            slot.chunk.batch = Some(batch.rows);
            goes_on = feeder.give(slot);
            Ok(goes_on)
        };
        let layout = table.layout();
        let damaged = |failure| input.damaged(layout, &failure);
        let (readings, names) = (&table.readings, &table.names);
        match (&table.store, &input.place) {
            (Store::Parquet(footer), Place::File(path)) => {
                footer.batches(path, readings, names, chunk_bytes, &mut take).map_err(damaged)?;
            }
            (Store::IpcFile, Place::File(path)) => {
                let file = File::open(path).map_err(|error| cannot_open(&input.name, &error))?;
                let stored = input.bytes_stored.unwrap_or(0);
                ipc::file_batches(file, stored, readings, names, chunk_bytes, &mut take)
                    .map_err(damaged)?;
            }
            _ => {
                let body = source.open_body(file, meter)?;
                let before = meter.bytes_stored.load(Relaxed);
                ipc::stream_batches(body, readings, names, chunk_bytes, &mut take)
                    .map_err(damaged)?;
                meter.add_read(meter.bytes_stored.load(Relaxed) - before);
            }
        }
        if !goes_on {
            break;
        }
    }
    Ok(())
}

impl Table {
    /// How many rows it says that it holds.
    pub(super) fn rows(&self) -> Option<u64> {
        match &self.store {
            Store::Parquet(footer) => Some(footer.rows()),
            Store::IpcFile | Store::IpcStream => None,
        }
    }

    fn layout(&self) -> Layout {
        match self.store {
            Store::Parquet(_) => Layout::Parquet,
            Store::IpcFile => Layout::ArrowFile,
            Store::IpcStream => Layout::ArrowStream,
        }
    }
}
