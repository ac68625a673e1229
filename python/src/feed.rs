//! Batches that the caller's thread makes while another one loads them: a program's own code runs where the program called.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};
use inrush::plan::ReadRequest;
use inrush::{Aftermath, BatchSource, Error, Observer};
use pyo3::prelude::*;

use crate::column::Taking;
use crate::errors;
use crate::options::{Asked, check_rejects};
use crate::rows::Rows;
use crate::stream;
use crate::watch::{TICK, Watching, go_on};

/// Where the load asks for its rows, from the first on: batches go there, and `None` once there are no more. A batch may have no rows,
/// and others behind it.
type Wanted = Sender<Option<RecordBatch>>;

/// The load's side.
pub(crate) struct Feed {
    schema: SchemaRef,
    wanted: Sender<Wanted>,
    is_replayable: bool,
    is_guess: bool,
    is_opened: bool,
}

impl BatchSource for Feed {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&mut self) -> inrush::Result<Box<dyn RecordBatchReader + Send>> {
        if std::mem::replace(&mut self.is_opened, true) && !self.is_replayable {
            return Err(Error::source("these rows can be had only once")
                .advise("write a list or a frame: they can be read again"));
        }
        let (to, batches) = bounded(2);
        // Who feeds is gone only when the load is to end.
        self.wanted.send(to).map_err(|_| Error::interrupted())?;
        Ok(Box::new(FeedReader { schema: Arc::clone(&self.schema), batches, is_whole: false }))
    }

    fn is_replayable(&self) -> bool {
        self.is_replayable
    }

    fn is_guess(&self) -> bool {
        self.is_guess
    }
}

struct FeedReader {
    schema: SchemaRef,
    batches: Receiver<Option<RecordBatch>>,
    /// Whether it was said that there are no more.
    is_whole: bool,
}

impl Iterator for FeedReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.batches.recv() {
            Ok(Some(batch)) => Some(Ok(batch)),
            Ok(None) => {
                self.is_whole = true;
                None
            }
            Err(_) if self.is_whole => None,
            Err(_) => Some(Err(ArrowError::ExternalError("the program has no more rows".into()))),
        }
    }
}

impl RecordBatchReader for FeedReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Makes batches, for the caller's thread.
enum Given<'py> {
    /// What has Arrow's interface.
    Arrow { object: Bound<'py, PyAny>, opened: Option<Box<dyn RecordBatchReader + Send>> },
    /// Anything to iterate over.
    Rows {
        object: Bound<'py, PyAny>,
        begun: Option<Box<Begun<'py>>>,
        names: Option<Vec<String>>,
        taking: Taking,
        /// Whether the first ones have misled, and all of them were looked at.
        is_whole: bool,
        /// What that has found: all columns, in their order.
        found: Vec<String>,
        /// Those that were fed to the end, for what is to be said of them.
        fed: Option<Box<Rows>>,
    },
}

/// Rows of which some have been looked at.
struct Begun<'py> {
    rows: Rows,
    iterator: Bound<'py, PyAny>,
    is_through: bool,
}

impl<'py> Begun<'py> {
    /// `None` where there is no row.
    fn begin(
        object: &Bound<'py, PyAny>,
        names: Option<&Vec<String>>,
        taking: &Taking,
    ) -> PyResult<Option<Self>> {
        let mut iterator = object.try_iter()?;
        let Some(first) = iterator.next().transpose()? else { return Ok(None) };
        let mut rows = Rows::like(&first, names.cloned(), taking, 0)?;
        rows.is_open = names.is_none() && !taking.is_strict;
        rows.push(&first)?;
        Ok(Some(Self { rows, iterator: iterator.into_any(), is_through: false }))
    }

    /// Looks at all rows behind the first ones, which may be misleading.
    fn look_ahead(&mut self, object: &Bound<'py, PyAny>, watching: &Watching) -> PyResult<()> {
        if self.is_through {
            return Ok(());
        }
        let seen = self.rows.pending();
        for (count, row) in object.try_iter()?.enumerate().skip(seen) {
            self.rows.look_at(&row?)?;
            if count.is_multiple_of(4_096) {
                watching.look_up(object.py())?;
            }
        }
        Ok(())
    }

    /// Goes on until there is a batch, or no row is left; with `is_sample` until enough was seen.
    fn go_on(&mut self, watching: &Watching, is_sample: bool) -> PyResult<Option<RecordBatch>> {
        let py = self.iterator.py();
        let mut iterator = self.iterator.try_iter()?;
        let mut count = 0_u32;
        loop {
            if is_sample {
                if self.is_through || self.rows.is_sampled() {
                    return Ok(None);
                }
            } else if let Some(batch) = self.rows.take() {
                return Ok(Some(batch));
            } else if self.is_through {
                return Ok(None);
            }
            match iterator.next() {
                Some(row) => self.rows.push(&row?)?,
                None => {
                    self.is_through = true;
                    self.rows.close();
                }
            }
            count = count.wrapping_add(1);
            if count.is_multiple_of(4_096) {
                watching.look_up(py)?;
            }
        }
    }
}

impl<'py> Given<'py> {
    fn of(fed: Fed<'py>, read: &ReadRequest) -> PyResult<Self> {
        let Fed { rows: object, names, nan_is_null, .. } = fed;
        if let Some(reader) = stream::of(&object)? {
            return Ok(Given::Arrow { object, opened: Some(reader) });
        }
        let (begun, is_whole, found) = (None, false, Vec::new());
        let taking = Taking::new(nan_is_null, read);
        Ok(Given::Rows { object, begun, names, taking, is_whole, found, fed: None })
    }

    /// Begins again, from the first row on.
    fn again(&mut self, watching: &Watching) -> PyResult<()> {
        match self {
            Given::Arrow { object, opened } => {
                if opened.is_none() {
                    *opened = stream::of(object)?;
                }
            }
            Given::Rows { object, begun, names, taking, is_whole, found, .. } => {
                if begun.is_none() {
                    *begun = Begun::begin(object, names.as_ref(), taking)?.map(Box::new);
                    if let Some(begun) = begun {
                        begun.go_on(watching, true)?;
                        if *is_whole && found.is_empty() {
                            begun.look_ahead(object, watching)?;
                            *found = begun.rows.names().map(str::to_owned).collect();
                        }
                        let py = begun.iterator.py();
                        begun.rows.add_columns(py, found.iter().map(String::as_str))?;
                        begun.rows.check_columns(py)?;
                        begun.rows.settle();
                    }
                }
            }
        }
        Ok(())
    }

    fn next(&mut self, py: Python<'py>, watching: &Watching) -> PyResult<Option<RecordBatch>> {
        match self {
            Given::Arrow { opened: Some(reader), .. } => {
                py.detach(|| reader.next()).transpose().map_err(stream::failed)
            }
            Given::Rows { begun: Some(begun), .. } => begun.go_on(watching, false),
            _ => Ok(None),
        }
    }

    /// Whether the first rows have said what isn't so of all, and nobody has looked at the others yet.
    fn is_misled(&self, watching: &Watching) -> bool {
        let is_open = |name: &str| watching.watch.is_open(name);
        matches!(self, Given::Rows { begun: Some(begun), is_whole: false, .. } if begun.rows.are_misleading(is_open))
    }

    /// Looks at all rows the next time.
    fn look_at_all(&mut self) {
        self.close();
        if let Given::Rows { is_whole, .. } = self {
            *is_whole = true;
        }
    }

    /// The columns, and whether their types are a guess.
    fn schema(&self, py: Python<'_>) -> PyResult<(SchemaRef, bool)> {
        let known = match self {
            Given::Arrow { opened: Some(reader), .. } => Some((reader.schema(), false)),
            Given::Rows { begun: Some(begun), .. } => Some((begun.rows.schema(), true)),
            Given::Rows { names: Some(names), .. } => {
                let field = |name: &String| Field::new(name, DataType::Utf8, true);
                let fields: Vec<_> = names.iter().map(field).collect();
                Some((Arc::new(Schema::new(fields)), false))
            }
            _ => None,
        };
        let what = "there are no rows, so say what their columns are: columns=[...]";
        known.ok_or_else(|| errors::usage(py, what))
    }

    /// The rows of Python that were fed to the end.
    fn fed(self) -> Option<Box<Rows>> {
        match self {
            Given::Rows { fed, .. } => fed,
            Given::Arrow { .. } => None,
        }
    }

    /// What was opened has been read.
    fn close(&mut self) {
        match self {
            Given::Arrow { opened, .. } => *opened = None,
            Given::Rows { begun, fed, .. } => *fed = begun.take().map(|begun| Box::new(begun.rows)),
        }
    }
}

/// Rows as Python has them, and what is known of them.
pub(crate) struct Fed<'py> {
    /// What has Arrow's interface, or can be iterated over.
    pub(crate) rows: Bound<'py, PyAny>,
    /// The columns, where they are known.
    pub(crate) names: Option<Vec<String>>,
    /// Whether iterating again gives the same rows.
    pub(crate) is_replayable: bool,
    /// Whether a float that is no number is NULL.
    pub(crate) nan_is_null: bool,
}

/// `(rows, names or None, is_replayable, nan_is_null)`.
impl<'a, 'py> FromPyObject<'a, 'py> for Fed<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let (rows, names, is_replayable, nan_is_null) = given.extract()?;
        Ok(Self { rows, names, is_replayable, nan_is_null })
    }
}

/// The columns of rows, as they would be fed; or those of a schema.
pub(crate) fn schema_of(py: Python<'_>, fed: Fed<'_>, watch: &Watching) -> PyResult<SchemaRef> {
    if let Some(schema) = stream::schema_of(&fed.rows)? {
        return Ok(schema);
    }
    let mut given = Given::of(fed, &ReadRequest::default())?;
    given.again(watch)?;
    given.schema(py).map(|(schema, _)| schema)
}

/// Loads rows; the report as JSON, and the plan in words.
#[pyfunction]
pub(crate) fn write(
    py: Python<'_>,
    rows: Fed<'_>,
    watch: Watching,
    request: Asked,
) -> PyResult<(String, String)> {
    let request = request.0;
    check_rejects(py, &request.options)?;
    let read = request.options.read.clone();
    let (mut report, fed) = feed(py, rows, &read, &watch, move |feed, observer| {
        inrush::load(feed, &request.target, &request.options, observer)
    })?;
    if let Some(rows) = fed {
        let warnings = rows.warnings(&report.plan, &report.plan.choice.columns);
        report.warnings.extend(warnings);
    }
    Ok((errors::json(&report)?, report.plan.explain()))
}

/// Does work that takes rows: they are made on this thread, as they are asked for; what it makes, and the rows. `read` is how it
/// reads texts.
pub(crate) fn feed<'py, T: Send + 'static>(
    py: Python<'py>,
    fed: Fed<'py>,
    read: &ReadRequest,
    watch: &Watching,
    work: impl Fn(Feed, &dyn Observer) -> inrush::Result<T> + Send + Sync + 'static,
) -> PyResult<(T, Option<Box<Rows>>)> {
    let is_replayable = fed.is_replayable;
    let mut given = Given::of(fed, read)?;
    let work = Arc::new(work);
    loop {
        given.again(watch)?;
        let (schema, is_guess) = given.schema(py)?;
        watch.watch.learn(&schema);
        let is_guess = is_guess && is_replayable;
        let (wanted, asked) = bounded(1);
        let feed = Feed { schema, wanted, is_replayable, is_guess, is_opened: false };
        let work = Arc::clone(&work);
        go_on()?;
        let done = watch.begin(py, move |observer| work(feed, observer))?;
        let mut is_misled = false;
        let (outcome, raised) = watch.wait(py, &done, &asked, |to: Wanted| {
            let served = serve(py, watch, &mut given, is_replayable, &to);
            if is_replayable && given.is_misled(watch) {
                // The load fails without the rest of its rows, and begins again with what all of them say.
                is_misled = true;
                return Ok(());
            }
            if served.is_err() {
                // Before `to` goes: a load whose rows end without a word takes that for their fault.
                watch.watch.stop();
            }
            served
        })?;
        let is_undone =
            |error: &Error| matches!(error.aftermath(), None | Some(Aftermath::NothingChanged));
        if is_misled && raised.is_none() && outcome.as_ref().is_err_and(is_undone) {
            // They are told when all of the rows have said what the columns are.
            watch.watch.take_rejected();
            given.look_at_all();
        } else {
            return Ok((watch.outcome(py, outcome, raised)?, given.fed()));
        }
    }
}

/// Gives the load its rows, until it wants no more.
fn serve<'py>(
    py: Python<'py>,
    watching: &Watching,
    given: &mut Given<'py>,
    is_replayable: bool,
    to: &Wanted,
) -> PyResult<()> {
    given.again(watching)?;
    loop {
        let mut batch = given.next(py, watching)?;
        if is_replayable && given.is_misled(watching) {
            return Ok(());
        }
        let is_last = batch.is_none();
        // The end is said: else a program that failed would look like one that is through.
        loop {
            match py.detach(|| to.send_timeout(batch, TICK)) {
                Ok(()) => break,
                Err(SendTimeoutError::Timeout(back)) => {
                    batch = back;
                    watching.look_up(py)?;
                }
                // The load has failed, and says why.
                Err(SendTimeoutError::Disconnected(_)) => {
                    given.close();
                    return Ok(());
                }
            }
        }
        if is_last {
            given.close();
            return Ok(());
        }
        watching.look_up(py)?;
    }
}
