//! Rows to standard output: they are out as they come, and nothing takes them back.
//!
//! So a header waits for the first rows, a load that fails before them leaves nothing, and one that fails later says how many are out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use crate::layout::Layout;
use crate::place::{Format, Place};
use crate::{csv, jsonl};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use inrush_arrow::{ArrowColumn, ArrowEncoder};
use inrush_core::Job;
use inrush_core::encode::{self, Shape};
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::flow::{Ack, Chunk, Encode, Wire};
use inrush_core::patient::{Patient, stdout_was_closed, unbuffered};
use inrush_core::target::{Lane, Load, Sent, Verdict};

/// A load under way.
pub(crate) struct StdoutLoad<'a> {
    job: &'a Job,
    format: Format,
    layout: Layout,
    shape: Arc<Shape>,
    output: Output,
}

/// Standard output, and what has gone there.
struct Output {
    to: To,
    rows: u64,
    is_begun: bool,
    /// Whether the load ends at a record behind the rows that are out.
    is_over: bool,
}

/// How rows are written.
enum To {
    Text {
        file: Patient<File>,
        /// What comes before the first row.
        header: Vec<u8>,
    },
    Arrow {
        schema: SchemaRef,
        /// Until the first row is out.
        file: Option<Patient<File>>,
        writer: Option<Box<StreamWriter<Patient<File>>>>,
    },
}

/// What encoders make of a byte of text, at worst: a number of eight bytes of a digit and a comma, twice while builders grow.
pub(crate) const ARROW_GROWTH: usize = 8;

/// An encoder of record batches.
pub(crate) fn arrow_encoder(shape: Arc<Shape>, job: &Job) -> Box<dyn Encode> {
    encode::encoder(shape, ArrowEncoder::new(&arrow_columns(job), None))
}

fn arrow_columns(job: &Job) -> Vec<ArrowColumn> {
    let columns = job.choice.columns.iter().enumerate();
    columns.map(|(at, column)| ArrowColumn::of(at, column)).collect()
}

/// The schema of the stream, in which texts say what they are where Arrow has no type for that.
fn arrow_schema(job: &Job) -> SchemaRef {
    let columns = arrow_columns(job);
    let plain = ArrowColumn::schema(&columns);
    let fields = plain.fields().iter().zip(&columns);
    let marked = fields.map(|(field, column)| match column.ty {
        DataType::Utf8 => column.content.marked(field.as_ref().clone()),
        _ => field.as_ref().clone(),
    });
    Arc::new(Schema::new(marked.collect::<Vec<_>>()))
}

impl<'a> StdoutLoad<'a> {
    pub(crate) fn start(job: &'a Job) -> Result<Box<dyn Load + 'a>> {
        let format = Place::of(&job.location).format;
        let layout = Layout::of(job);
        if stdout_was_closed() {
            return Err(Error::target("cannot write to standard output: it is closed"));
        }
        let file = unbuffered(&io::stdout()).map_err(|error| failed(&error))?;
        let file = Patient(file);
        let to = match format {
            Format::Csv => To::Text { file, header: csv::header(&layout) },
            Format::Arrow => {
                To::Arrow { schema: arrow_schema(job), file: Some(file), writer: None }
            }
            Format::Jsonl | Format::Parquet => To::Text { file, header: Vec::new() },
        };
        let output = Output { to, rows: 0, is_begun: false, is_over: false };
        Ok(Box::new(Self { job, format, layout, shape: Arc::clone(&job.shape), output }))
    }
}

/// Writes all bytes, or says how many are out.
fn write_out(file: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut out = 0;
    while out < bytes.len() {
        match file.write(&bytes[out..]) {
            Ok(0) => return (out, Err(io::ErrorKind::WriteZero.into())),
            Ok(more) => out += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (out, Err(error)),
        }
    }
    (out, Ok(()))
}

fn failed(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            Error::new(Kind::Closed, "whoever reads standard output has closed it")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::target("cannot write to standard output: the disk is full, or a quota reached")
                .advise("make room where it goes")
        }
        _ => Error::target(format!("cannot write to standard output: {error}")),
    }
}

/// What is wrong with an Arrow stream, which is what is wrong with the output.
fn failed_stream(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => failed(&error),
        error => Error::target(format!("cannot write to standard output: {error}")),
    }
}

impl Output {
    fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_begun, true) {
            return Ok(());
        }
        match &mut self.to {
            To::Text { file, header } => file.write_all(header).map_err(|error| failed(&error)),
            To::Arrow { schema, file, writer } => {
                if let Some(file) = file.take() {
                    let begun = StreamWriter::try_new(file, schema).map_err(failed_stream)?;
                    *writer = Some(Box::new(begun));
                }
                Ok(())
            }
        }
    }

    fn send(&mut self, wire: &Wire) -> Result<()> {
        self.begin()?;
        match (&mut self.to, &wire.batch) {
            (To::Text { file, .. }, _) => {
                let (bytes, written) = write_out(file, &wire.bytes);
                self.rows += wire.rows.partition_point(|row| row.end as usize <= bytes) as u64;
                return written.map_err(|error| failed(&error));
            }
            (To::Arrow { writer: Some(writer), .. }, Some(batch)) => {
                writer.write(batch).map_err(failed_stream)?;
            }
            (To::Arrow { .. }, _) => {}
        }
        self.rows += wire.rows.len() as u64;
        Ok(())
    }

    /// All rows are out.
    fn end(&mut self) -> Result<()> {
        self.begin()?;
        match &mut self.to {
            To::Arrow { writer: Some(writer), .. } => writer.finish().map_err(failed_stream),
            To::Text { .. } | To::Arrow { .. } => Ok(()),
        }
    }
}

impl Load for StdoutLoad<'_> {
    fn encoder(&self) -> Box<dyn Encode> {
        let shape = Arc::clone(&self.shape);
        match self.format {
            Format::Jsonl => jsonl::encoder(shape, self.job, &self.layout, None),
            Format::Arrow => arrow_encoder(shape, self.job),
            _ => csv::encoder(shape, self.job, &self.layout, None),
        }
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        Ok(vec![Box::new(StdoutLane(&mut self.output))])
    }

    fn indexes(&self) -> bool {
        false
    }

    /// A table without rows has a header all the same.
    fn complete(&mut self) -> Result<()> {
        self.output.end()
    }

    fn verify(&mut self, _sent: &Sent) -> Result<Verdict> {
        Ok(Verdict { ok: true, difference: None })
    }

    fn commit(&mut self, _note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        Ok(BTreeMap::new())
    }

    fn abort(&mut self) -> Aftermath {
        match self.output.is_begun {
            true => Aftermath::Written { rows: self.output.rows },
            false => Aftermath::NothingChanged,
        }
    }
}

struct StdoutLane<'l>(&'l mut Output);

impl Lane for StdoutLane<'_> {
    fn send(&mut self, _chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        // The next chunks may come before whoever looks at the bad rows ends the load.
        if self.0.is_over {
            return Ok(Ack::default());
        }
        self.0.is_over = wire.is_last;
        let rows = wire.rows.len() as u64;
        if rows > 0 {
            self.0.send(wire)?;
        }
        Ok(Ack { loaded: rows, ..Ack::default() })
    }
}
