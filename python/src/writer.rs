//! A writer for programs that have their rows one after the other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use crossbeam_channel::never;
use inrush::plan::{Case, Inference, MissingColumns};
use inrush::{Aftermath, Error, LoadOptions, Observer, Report, Steps, Writer};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::column::Taking;
use crate::errors;
use crate::options::{Asked, check_rejects};
use crate::own;
use crate::rows::{self, Rows};
use crate::stream;
use crate::watch::{TICK, Watch, Watching, go_on};

/// How often the caller's thread looks whether the one that looks after the clock is through.
const PAUSE: Duration = Duration::from_millis(1);

/// How many bytes of batches wait for one that says of what type a column is which has only NULLs so far.
const UNTYPED_MAX: usize = 64 << 20;

/// How many times this process is a child: writers made before are its parent's.
static FORKS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn forked() {
    FORKS.fetch_add(1, Relaxed);
}

/// What `inrush.Writer` is made of.
#[pyclass(subclass, frozen, module = "inrush._inrush")]
pub(crate) struct RowWriter {
    watching: Watching,
    shared: Arc<Shared>,
    /// The request as Python has it.
    said: Py<PyAny>,
    /// The first row: what later ones look like.
    first: PyOnceLock<Py<PyAny>>,
    /// The thread whose call is under way: another one's has to wait for its own writer.
    busy: Busy,
    forks: u64,
}

/// What the caller's thread shares with the one that looks after the clock.
struct Shared {
    /// The load in it waits for its threads when it is dropped, and what these free may want the interpreter: so only ever without that.
    state: Mutex<State>,
    target: String,
    options: LoadOptions,
    /// Where rows are committed on the way.
    steps: Option<Steps>,
    watch: Arc<Watch>,
}

struct State {
    names: Option<Vec<String>>,
    rows: Option<Rows>,
    /// What came before the load begins.
    untyped: Option<Untyped>,
    writer: Option<Writer>,
    /// How many rows came as frames.
    framed: u64,
    /// Of columns that are text by what came first, the first value that a frame has of another type: its row, from 1, and that type.
    late: BTreeMap<String, (u64, DataType)>,
    is_over: bool,
    report: Option<(String, String)>,
    /// Of a writer in steps: the rows since the last one, handed on or not.
    in_step: u64,
    /// When the first of them came.
    since: Option<Instant>,
    /// What went wrong while no call was under way.
    failed: Option<Error>,
}

/// Batches with columns that have no value yet: a later one may say of what type these are.
struct Untyped {
    /// The type of such a column is that of NULL.
    schema: SchemaRef,
    /// The types that frames have for such columns, which hold where no value says another.
    otherwise: BTreeMap<String, DataType>,
    batches: Vec<RecordBatch>,
    bytes: usize,
}

impl Untyped {
    fn of(schema: SchemaRef) -> Self {
        Self { schema, otherwise: BTreeMap::new(), batches: Vec::new(), bytes: 0 }
    }

    /// Whether no later batch can say more of the types.
    fn is_typed(&self, options: &LoadOptions) -> bool {
        let is_known = |field: &FieldRef| {
            *field.data_type() != DataType::Null || options.types.contains_key(field.name())
        };
        options.inference == Inference::Text || self.schema.fields().iter().all(is_known)
    }

    /// Whether they are to be waited for.
    fn waits(&self, options: &LoadOptions) -> bool {
        self.bytes <= UNTYPED_MAX && !self.is_typed(options)
    }

    /// The columns that the load begins with, and the batches.
    fn typed(self) -> (SchemaRef, Vec<RecordBatch>) {
        let field = |field: &FieldRef| match self.otherwise.get(field.name()) {
            Some(ty) if *field.data_type() == DataType::Null => {
                Arc::new(field.as_ref().clone().with_data_type(ty.clone()))
            }
            _ => Arc::clone(field),
        };
        let fields: Vec<_> = self.schema.fields().iter().map(field).collect();
        let metadata = self.schema.metadata().clone();
        (Arc::new(Schema::new_with_metadata(fields, metadata)), self.batches)
    }

    /// Types that it lacks are those of these columns.
    fn learn(&mut self, columns: &Schema) {
        let known = |field: &FieldRef| match columns.column_with_name(field.name()) {
            // The rows before have NULL there.
            Some((_, column)) if *field.data_type() == DataType::Null => {
                Arc::new(column.clone().with_nullable(true))
            }
            _ => Arc::clone(field),
        };
        let fields: Vec<_> = self.schema.fields().iter().map(known).collect();
        let metadata = self.schema.metadata().clone();
        self.schema = Arc::new(Schema::new_with_metadata(fields, metadata));
    }

    fn hold(&mut self, batch: RecordBatch) {
        let bytes_of = |column: &ArrayRef| own::bytes_of(column) + size_of_val(column);
        self.bytes += batch.columns().iter().map(bytes_of).sum::<usize>();
        self.batches.push(batch);
    }
}

impl Shared {
    fn taking(&self, nan_is_null: bool) -> Taking {
        Taking::new(nan_is_null, &self.options.read)
    }

    fn begin(&self, schema: SchemaRef) -> inrush::Result<Writer> {
        self.watch.learn(&schema);
        let observer: Arc<dyn Observer + Send> = Arc::clone(&self.watch) as _;
        match self.steps {
            None => Writer::observed(schema, &self.target, &self.options, observer),
            // The clock is here: rows that are in no batch yet are waiting, too.
            Some(steps) => {
                let steps = Steps { time: None, ..steps };
                Writer::in_steps(schema, &self.target, &self.options, steps, observer)
            }
        }
    }

    /// Commits the rows since the last step, where the first has waited for longer than a step may take.
    fn commit_old(&self, after: Duration) {
        let Ok(mut state) = self.state.try_lock() else { return };
        if state.is_over || state.since.is_none_or(|since| since.elapsed() < after) {
            return;
        }
        state.begin_step();
        let hand_on = |state: &mut State| {
            state.gather();
            if let Some((schema, batches)) = state.untyped.take().map(Untyped::typed) {
                let writer = state.writer.insert(self.begin(schema)?);
                batches.iter().try_for_each(|batch| writer.write(batch))?;
            }
            let State { rows, writer: Some(writer), .. } = state else { return Ok(()) };
            while let Some(batch) = rows.as_mut().and_then(Rows::take) {
                writer.write(&batch)?;
            }
            writer.commit_soon()
        };
        if let Err(error) = hand_on(&mut state) {
            state.failed = Some(error);
        }
    }
}

impl State {
    /// The columns, once they are known.
    fn schema(&self) -> Option<&SchemaRef> {
        self.writer.as_ref().map(Writer::schema).or(self.untyped.as_ref().map(|own| &own.schema))
    }

    /// Which columns there are, and why, for messages.
    fn columns_so_far(&self) -> String {
        let whose = match &self.rows {
            _ if self.names.is_some() => "that columns= names",
            Some(rows) if !rows.is_behind_frame => "of the rows before",
            _ => "of the frame before",
        };
        let names = self.schema().map(|schema| names_of(schema)).unwrap_or_default();
        format!("the columns are those {whose}: {}", rows::list(&names))
    }

    /// Closes the batch of rows so far, and holds it where the load hasn't begun.
    fn gather(&mut self) {
        let Some(rows) = &mut self.rows else { return };
        rows.close();
        if self.writer.is_none() && rows.has_batch() {
            let schema = rows.schema_so_far();
            rows.settle();
            let untyped = self.untyped.get_or_insert_with(|| Untyped::of(Arc::clone(&schema)));
            untyped.learn(&schema);
            std::iter::from_fn(|| rows.take()).for_each(|batch| untyped.hold(batch));
        }
    }

    /// Keeps the first value of another type than text in columns that are text by what came first.
    fn look_at_types(&mut self, own: &Schema, batch: &RecordBatch) {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let is_text = |ty: &DataType| match ty {
                DataType::Dictionary(_, values) => values.is_string(),
                ty => ty.is_string(),
            };
            let is_late = own
                .column_with_name(field.name())
                .is_some_and(|(_, own)| is_text(own.data_type()) && !is_text(field.data_type()));
            if !is_late || self.late.contains_key(field.name()) {
                continue;
            }
            let nulls = column.logical_nulls();
            let is_value = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
            if let Some(row) = (0..column.len()).find(is_value) {
                let before = self.rows.as_ref().map_or(self.framed, |rows| rows.position);
                let row = before + row as u64 + 1;
                self.late.insert(field.name().clone(), (row, field.data_type().clone()));
            }
        }
    }

    /// Counts rows of a writer in steps; whether a step is full.
    #[inline]
    fn count(&mut self, rows: usize, steps: &Steps) -> bool {
        if self.in_step == 0 {
            self.since = Some(Instant::now());
        }
        self.in_step += rows as u64;
        let Some(rows_max) = steps.rows.filter(|max| self.in_step >= *max) else { return false };
        let left = self.in_step % rows_max;
        self.begin_step();
        if left > 0 {
            (self.in_step, self.since) = (left, Some(Instant::now()));
        }
        true
    }

    /// What has come is committed, or will be before anything that comes now.
    fn begin_step(&mut self) {
        (self.in_step, self.since) = (0, None);
    }
}

/// What is said of a column of text in which a later frame has another type.
fn became_text(name: &str, (row, ty): &(u64, DataType)) -> String {
    format!(
        "column {name} is text: the first rows have texts in it, and values of type {ty} (from row {row} on) became text"
    )
}

fn names_of(schema: &Schema) -> Vec<&str> {
    schema.fields().iter().map(|field| field.name().as_str()).collect()
}

/// The batch with the names of these columns, where its own are the same to whoever says how they are compared.
fn called_as(batch: &RecordBatch, own: &Schema, case: Case) -> Result<RecordBatch, ArrowError> {
    let given = batch.schema();
    let mut left: Vec<&str> = names_of(own);
    left.retain(|name| given.column_with_name(name).is_none());
    let called = |field: &FieldRef| {
        let name = field.name();
        if own.column_with_name(name).is_some() {
            return Arc::clone(field);
        }
        let Some(at) = left.iter().position(|own| case.is_same(own, name)) else {
            return Arc::clone(field);
        };
        Arc::new(field.as_ref().clone().with_name(left.swap_remove(at)))
    };
    let fields: Vec<_> = given.fields().iter().map(called).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec())
}

/// The state for as long as a call takes, but while it waits for the program's rows where the thread that looks after the clock may
/// have to commit those that there are.
struct Held<'w> {
    writer: &'w RowWriter,
    state: Option<MutexGuard<'w, State>>,
}

impl Held<'_> {
    fn state(&mut self, py: Python<'_>) -> PyResult<&mut State> {
        Ok(match self.state {
            Some(ref mut state) => &mut **state,
            None => &mut **self.state.insert(self.writer.open(py)?),
        })
    }

    /// Does what may take the program's time.
    fn apart<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if self.writer.shared.steps.is_some_and(|steps| steps.time.is_some()) {
            self.state = None;
        }
        work()
    }
}

type Busy = Mutex<Option<ThreadId>>;

/// Says when the call is over.
struct Call<'a>(&'a Busy);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[pymethods]
impl RowWriter {
    /// `steps` is `(rows, seconds)` of a writer that commits on its way.
    #[new]
    fn new(
        watching: Watching,
        request: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        steps: Option<(Option<u64>, Option<f64>)>,
    ) -> PyResult<Self> {
        let said = request.clone().unbind();
        let py = request.py();
        let Asked(request) = request.extract()?;
        check_rejects(py, &request.options)?;
        let steps = steps.map(|(rows, seconds)| Steps {
            rows,
            time: seconds.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.001, 1e9))),
        });
        let watching = if steps.is_some() { watching.in_steps() } else { watching };
        let watch = Arc::clone(&watching.watch);
        let state = State {
            names,
            rows: None,
            untyped: None,
            writer: None,
            framed: 0,
            late: BTreeMap::new(),
            is_over: false,
            report: None,
            in_step: 0,
            since: None,
            failed: None,
        };
        let (target, options) = (request.target, request.options);
        let shared = Arc::new(Shared { state: Mutex::new(state), target, options, steps, watch });
        if let Some(Steps { time: Some(after), .. }) = steps {
            let shared = Arc::downgrade(&shared);
            let tick = (after / 4).min(Duration::from_millis(250));
            thread::spawn(move || {
                while let Some(shared) = shared.upgrade() {
                    shared.commit_old(after);
                    drop(shared);
                    thread::sleep(tick);
                }
            });
        }
        let forks = FORKS.load(Relaxed);
        let (busy, first) = (Busy::default(), PyOnceLock::new());
        Ok(Self { watching, shared, said, first, busy, forks })
    }

    /// Adds a row: a dict, a tuple, or an object with fields.
    fn insert(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let _call = self.call(py)?;
        let mut state = self.open(py)?;
        let added = self.push(py, &mut state, row);
        self.told(py, &mut state, added)?;
        self.watching.leave()
    }

    /// Adds rows, of whatever can be iterated over.
    fn insert_many(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let _call = self.call(py)?;
        let mut held = Held { writer: self, state: Some(self.open(py)?) };
        if rows.is_instance_of::<PyDict>() {
            let error = Error::usage("a dict is no iterable of rows")
                .advise("insert() takes one row, and write() a dict of columns");
            return Err(errors::raise(py, &error, Vec::new()));
        }
        let mut rows = rows.try_iter()?;
        while let Some(row) = held.apart(|| rows.next()) {
            let state = held.state(py)?;
            let added = row.and_then(|row| self.push(py, state, &row));
            self.told(py, state, added)?;
            self.watching.leave()?;
        }
        Ok(())
    }

    /// Adds the rows of a frame, or of anything else that has Arrow's interface. With `names` it is tuples, of which `nan_is_null` says
    /// whether a float that is no number is NULL; else columns called as one of `untyped` have only NULLs, so that their type may not be meant.
    #[pyo3(signature = (frame, names=None, nan_is_null=false, untyped=Vec::new()))]
    fn write_frame(
        &self,
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        nan_is_null: bool,
        untyped: Vec<String>,
    ) -> PyResult<()> {
        let _call = self.call(py)?;
        let mut held = Held { writer: self, state: Some(self.open(py)?) };
        let written = self.write_held(py, &mut held, frame, names, nan_is_null, &untyped);
        if let Err(raised) = written {
            // Where the state can't be had again, what has gone wrong there is what is told.
            let state = held.state(py)?;
            return self.told(py, state, Err(raised));
        }
        self.watching.leave()
    }

    /// Hands all rows so far to the load; of a writer that commits on its way, commits them.
    fn flush_rows(&self, py: Python<'_>) -> PyResult<()> {
        let _call = self.call(py)?;
        let mut state = self.open(py)?;
        let flushed = self.flush(py, &mut state, true);
        self.told(py, &mut state, flushed)?;
        state.begin_step();
        if self.shared.steps.is_some()
            && let Some(mut writer) = state.writer.take()
        {
            // Waits for as long as a step is tried, so signals are looked after meanwhile.
            let committed = self.watching.over(py, move |_| writer.commit().map(|()| writer));
            match committed {
                Ok(writer) => state.writer = Some(writer),
                Err(error) => {
                    state.is_over = true;
                    return Err(error);
                }
            }
            self.watching.tell_rejected(py)?;
        }
        self.watching.leave()
    }

    /// Ends the load: the report as JSON, and the plan in words.
    fn end(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let _call = self.call(py)?;
        let (state, raised) = self.lock(py);
        if let Some(report) = &state.report {
            return raised.map_or_else(|| Ok(report.clone()), Err);
        }
        let mut state = self.opened(py, state, raised)?;
        let flushed = self.flush(py, &mut state, true);
        self.told(py, &mut state, flushed)?;
        if state.writer.is_none() {
            let names = match state.names.clone() {
                None => self.table_columns(py)?,
                names => names,
            };
            let Some(names) = names else {
                state.is_over = true;
                drop(state);
                let what = "no row was written, so say what the columns are: columns=[...]";
                return Err(errors::usage(py, what));
            };
            let field = |name: &String| Field::new(name, DataType::Utf8, true);
            let fields: Vec<_> = names.iter().map(field).collect();
            let schema = Arc::new(Schema::new(fields));
            self.begin(py, &mut state, schema)?;
        }
        state.is_over = true;
        let Some(writer) = state.writer.take() else {
            return Err(errors::usage(py, "the writer is over"));
        };
        let (rows, planned) = (state.rows.take(), writer.planned().to_vec());
        let late = std::mem::take(&mut state.late);
        drop(state);
        let mut report: Report = self.watching.over(py, move |_| writer.finish())?;
        if let Some(rows) = rows {
            let warnings = rows.warnings(&report.plan, &planned);
            report.warnings.extend(warnings);
        }
        let guesses = rows::text_columns(&report.plan, &planned).filter(|(_, is_guess)| *is_guess);
        let warnings: Vec<String> =
            guesses.filter_map(|(name, _)| Some(became_text(name, late.get(name)?))).collect();
        report.warnings.extend(warnings);
        let told = (errors::json(&report)?, report.plan.explain());
        let (mut state, raised) = self.lock(py);
        state.report = Some(told.clone());
        drop(state);
        raised.map_or_else(|| self.watching.leave(), Err)?;
        Ok(told)
    }

    /// Gives up: how many rows stay, those of steps that are committed; `None` where nothing was under way.
    fn give_up(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        if self.forks != FORKS.load(Relaxed) {
            return Ok(None);
        }
        let _call = self.call(py)?;
        let (mut state, raised) = self.lock(py);
        state.is_over = true;
        (state.rows, state.untyped) = (None, None);
        let writer = state.writer.take();
        drop(state);
        let Some(writer) = writer else {
            return raised.map_or_else(|| self.watching.leave().map(|()| None), Err);
        };
        // What the database is busy with ends before, and may be stopped.
        let done = self.watching.begin(py, move |_| Ok(writer.abort()))?;
        let (rows, stopped) = self.watching.wait(py, &done, &never::<()>(), |()| Ok(()))?;
        raised.or(stopped).map_or_else(|| self.watching.leave().map(|()| rows.ok()), Err)
    }

    /// The first row that was inserted.
    #[getter]
    fn first_row(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.first.get(py).map(|row| row.clone_ref(py))
    }

    /// Whether this is the process that has made it.
    #[getter]
    fn is_own(&self) -> bool {
        self.forks == FORKS.load(Relaxed)
    }

    /// Whether nothing can be written any more.
    #[getter]
    fn is_over(&self) -> bool {
        // A call under way holds the lock, and may be the one that asks.
        match self.shared.state.try_lock() {
            Ok(state) => state.is_over,
            Err(TryLockError::Poisoned(state)) => state.into_inner().is_over,
            Err(TryLockError::WouldBlock) => false,
        }
    }
}

impl Drop for RowWriter {
    fn drop(&mut self) {
        if self.forks != FORKS.load(Relaxed) {
            // Its threads and connections are the parent's: nothing of them may be waited for, or closed.
            std::mem::forget(Arc::clone(&self.shared));
            return;
        }
        let shared = &self.shared;
        Python::attach(|py| {
            py.detach(|| {
                let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
                let (writer, untyped) = (state.writer.take(), state.untyped.take());
                drop(state);
                drop((writer, untyped));
            });
        });
    }
}

impl RowWriter {
    /// Only one call at a time, and only in the process that has begun.
    fn call(&self, py: Python<'_>) -> PyResult<Call<'_>> {
        if self.forks != FORKS.load(Relaxed) {
            let what = "this writer is that of the process which has forked: make one of your own";
            return Err(errors::usage(py, what));
        }
        let own = thread::current().id();
        let busy = {
            let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
            let before = *busy;
            busy.get_or_insert(own);
            before
        };
        match busy {
            None => Ok(Call(&self.busy)),
            Some(thread) if thread == own => {
                let what = "the writer is in the middle of a call: what it calls itself, such as the iterator that it reads, \
                            can't write with it";
                Err(errors::usage(py, what))
            }
            Some(_) => {
                let what = "another thread writes with this writer: each needs one of its own";
                Err(errors::usage(py, what))
            }
        }
    }

    /// The columns of the table, where there is one.
    fn table_columns(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        let api = py.import("inrush._api")?;
        api.call_method1("table_columns", (&self.said,))?.extract()
    }

    /// The state, once the thread that looks after the clock is through with it; and what was raised meanwhile, which stops the load.
    fn lock(&self, py: Python<'_>) -> (MutexGuard<'_, State>, Option<PyErr>) {
        let mut raised = None;
        loop {
            match self.shared.state.try_lock() {
                Ok(state) => return (state, raised),
                Err(TryLockError::Poisoned(state)) => return (state.into_inner(), raised),
                // Who holds it may want the interpreter, and may wait for the database.
                Err(TryLockError::WouldBlock) => py.detach(|| thread::sleep(PAUSE)),
            }
            if raised.is_none()
                && let Err(error) = self.watching.look_up(py)
            {
                self.watching.watch.stop();
                raised = Some(error);
            }
        }
    }

    /// What comes of a part of a call: an exception of ours says what steps have committed so far.
    fn told(&self, py: Python<'_>, state: &mut State, done: PyResult<()>) -> PyResult<()> {
        done.map_err(|raised| {
            let rows = state.writer.as_ref().map_or(0, Writer::rows_committed);
            errors::behind_steps(py, raised, rows)
        })
    }

    /// Writes what has Arrow's interface, or with `names` tuples.
    fn write_held(
        &self,
        py: Python<'_>,
        held: &mut Held<'_>,
        frame: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        nan_is_null: bool,
        untyped: &[String],
    ) -> PyResult<()> {
        let state = held.state(py)?;
        if state.writer.is_none() {
            state.gather();
        } else {
            self.flush(py, state, true)?;
        }
        if let Some(names) = names {
            let mut rows: Option<Rows> = None;
            for row in frame.try_iter()? {
                let row = row?;
                let rows = match &mut rows {
                    Some(rows) => rows,
                    None => {
                        let taking = self.shared.taking(nan_is_null);
                        let state = held.state(py)?;
                        let before = state.rows.as_ref().map_or(state.framed, |rows| rows.position);
                        rows.insert(Rows::like(&row, Some(names.clone()), &taking, before)?)
                    }
                };
                rows.push(&row)?;
                let state = held.state(py)?;
                if rows.has_batch() && (state.writer.is_some() || rows.is_sampled()) {
                    self.send_rows(py, state, rows)?;
                }
            }
            if let Some(mut rows) = rows {
                rows.close();
                self.send_rows(py, held.state(py)?, &mut rows)?;
            }
            return Ok(());
        }
        let Some(reader) = stream::of(frame)? else {
            let name = frame.get_type().name()?;
            let what = format!(
                "a {name} is no frame: write() takes one after the other, and insert_many() rows of Python"
            );
            return Err(errors::usage(py, what));
        };
        let own = reader.schema();
        let mut reader = stream::with_nulls(reader, untyped);
        self.begin_with(py, held.state(py)?, reader.schema())?;
        if let Some(waiting) = &mut held.state(py)?.untyped {
            let own = own.fields().iter().filter(|field| untyped.contains(field.name()));
            for field in own {
                let ty = || field.data_type().clone();
                waiting.otherwise.entry(field.name().clone()).or_insert_with(ty);
            }
        }
        while let Some(batch) = held.apart(|| py.detach(|| reader.next())) {
            let batch = batch.map_err(stream::failed)?;
            for part in own::parts(&batch) {
                // The program may write to its memory, or have it filled again, as soon as this returns.
                let part = py.detach(|| own::copy(&part)).map_err(stream::failed)?;
                self.send_aligned(py, held.state(py)?, &part)?;
            }
        }
        Ok(())
    }

    fn open(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        go_on()?;
        let (state, raised) = self.lock(py);
        self.opened(py, state, raised)
    }

    /// The state of a writer that is not over.
    fn opened<'a>(
        &'a self,
        py: Python<'_>,
        mut state: MutexGuard<'a, State>,
        raised: Option<PyErr>,
    ) -> PyResult<MutexGuard<'a, State>> {
        if let Some(raised) = raised {
            return Err(self.stopped(py, &mut state, raised));
        }
        if state.is_over {
            drop(state);
            return Err(errors::usage(py, "the writer is over: make another one"));
        }
        match state.failed.take() {
            None => Ok(state),
            Some(error) => Err(self.over(py, &mut state, &error)),
        }
    }

    #[inline]
    fn push(&self, py: Python<'_>, state: &mut State, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_first = state.rows.is_none();
        let rows = match &mut state.rows {
            Some(rows) => rows,
            None => {
                let mut names = state.names.clone();
                if let Some(schema) = state.schema() {
                    // A frame came before, and has said what the columns are.
                    let fields = schema.fields().iter();
                    names = Some(fields.map(|field| field.name().clone()).collect());
                }
                if names.is_none() && rows::is_nameless(row) {
                    // Tuples go by the position of the table's own columns.
                    names = self.table_columns(py)?;
                }
                let taking = self.shared.taking(false);
                let mut rows = Rows::like(row, names, &taking, state.framed)?;
                rows.check_columns(py)?;
                rows.is_behind_frame = state.names.is_none() && state.schema().is_some();
                state.rows.insert(rows)
            }
        };
        let pushed = rows.push(row);
        if is_first {
            if pushed.is_err() {
                // The next one may have other columns.
                state.rows = None;
                return pushed;
            }
            // Another first row there can't be.
            let _ = self.first.set(py, row.clone().unbind());
        }
        pushed?;
        let has_batch = rows.has_batch();
        // A full step is not to wait until a batch is.
        let is_step = self.shared.steps.as_ref().is_some_and(|steps| state.count(1, steps));
        if has_batch || is_step {
            self.flush(py, state, is_step)?;
        }
        Ok(())
    }

    /// Hands on the batches so far, once it is known what the columns are; with `all` whatever there is.
    fn flush(&self, py: Python<'_>, state: &mut State, all: bool) -> PyResult<()> {
        if state.writer.is_none() {
            let is_sampled = state.rows.as_ref().is_some_and(Rows::is_sampled);
            if !(all || is_sampled || state.untyped.is_some()) {
                return Ok(());
            }
            state.gather();
            if !all && state.untyped.as_ref().is_some_and(|own| own.waits(&self.shared.options)) {
                return Ok(());
            }
        } else if all {
            state.gather();
        }
        self.settle(py, state)?;
        while let Some(batch) = state.rows.as_mut().and_then(Rows::take) {
            self.send(py, state, &batch)?;
        }
        Ok(())
    }

    fn send_rows(&self, py: Python<'_>, state: &mut State, rows: &mut Rows) -> PyResult<()> {
        self.begin_with(py, state, rows.schema_so_far())?;
        while let Some(batch) = rows.take() {
            self.send_aligned(py, state, &batch)?;
        }
        Ok(())
    }

    /// Begins the load, if it isn't under way, with the columns of a frame or those that were said: once they all have a type.
    fn begin_with(&self, py: Python<'_>, state: &mut State, schema: SchemaRef) -> PyResult<()> {
        if state.writer.is_some() {
            return Ok(());
        }
        let schema = match &state.names {
            None => schema,
            Some(names) => {
                let case = self.shared.options.read.columns.case;
                let alike = |name: &str| {
                    let mut fields = schema.fields().iter();
                    fields.find(|field| case.is_same(field.name(), name)).map(AsRef::as_ref)
                };
                let field = |name: &String| {
                    let same = schema.column_with_name(name).map(|(_, field)| field);
                    match same.or_else(|| alike(name)) {
                        Some(field) => field.clone().with_name(name),
                        None => Field::new(name, DataType::Null, true),
                    }
                };
                Arc::new(Schema::new(names.iter().map(field).collect::<Vec<_>>()))
            }
        };
        let untyped = state.untyped.get_or_insert_with(|| Untyped::of(Arc::clone(&schema)));
        untyped.learn(&schema);
        if untyped.is_typed(&self.shared.options) {
            self.settle(py, state)?;
        }
        Ok(())
    }

    /// Begins the load with the types that are known, if there are columns and it isn't under way.
    fn settle(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        let Some((schema, batches)) = state.untyped.take().map(Untyped::typed) else {
            return Ok(());
        };
        self.begin(py, state, schema)?;
        batches.iter().try_for_each(|batch| self.send(py, state, batch))
    }

    /// Sends a batch whose columns are found by name. One that it lacks is NULL, where that is asked for.
    fn send_aligned(&self, py: Python<'_>, state: &mut State, batch: &RecordBatch) -> PyResult<()> {
        let Some(own) = state.schema() else { return Ok(()) };
        let (own, columns) = (Arc::clone(own), &self.shared.options.read.columns);
        let batch = called_as(batch, &own, columns.case).map_err(stream::failed)?;
        let given = batch.schema();
        let is_unknown = |field: &&FieldRef| own.column_with_name(field.name()).is_none();
        if let Some(unknown) = given.fields().iter().find(is_unknown) {
            let name = unknown.name();
            let what = format!("the frame has a column '{name}', and {}", state.columns_so_far());
            let naming = rows::naming(&names_of(&own), name);
            let error = Error::usage(what).advise(format!(
                "{naming}, and missing_columns=\"null\" makes rows NULL that lack one"
            ));
            return Err(errors::raise(py, &error, Vec::new()));
        }
        let is_missing = |field: &&FieldRef| given.column_with_name(field.name()).is_none();
        let missing: Vec<_> = own.fields().iter().filter(is_missing).collect();
        if let Some(field) = missing.first()
            && columns.missing != Some(MissingColumns::Null)
        {
            let what = format!("the frame lacks the column '{}'", field.name());
            let error = Error::usage(format!("{what}, and {}", state.columns_so_far()))
                .advise("missing_columns=\"null\" makes its rows NULL there");
            return Err(errors::raise(py, &error, Vec::new()));
        }
        // The writer itself puts them in order.
        let (mut fields, mut arrays) = (given.fields().to_vec(), batch.columns().to_vec());
        for field in missing {
            let ty = DataType::Null;
            arrays.push(arrow_array::new_null_array(&ty, batch.num_rows()));
            fields.push(Arc::new(Field::new(field.name(), ty, true)));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema, arrays).map_err(stream::failed)?;
        state.look_at_types(&own, &batch);
        let is_step = match &self.shared.steps {
            Some(steps) if batch.num_rows() > 0 => state.count(batch.num_rows(), steps),
            _ => false,
        };
        state.framed += batch.num_rows() as u64;
        if let Some(rows) = &mut state.rows {
            rows.pass(batch.num_rows() as u64);
        }
        let Some(untyped) = &mut state.untyped else { return self.send(py, state, &batch) };
        untyped.hold(batch);
        if is_step || untyped.bytes > UNTYPED_MAX {
            self.settle(py, state)?;
        }
        Ok(())
    }

    fn begin(&self, py: Python<'_>, state: &mut State, schema: SchemaRef) -> PyResult<()> {
        let shared = Arc::clone(&self.shared);
        let begun = self.watching.over(py, move |_| shared.begin(schema));
        state.is_over = begun.is_err();
        state.writer = Some(begun?);
        Ok(())
    }

    fn send(&self, py: Python<'_>, state: &mut State, batch: &RecordBatch) -> PyResult<()> {
        let Some(writer) = &mut state.writer else { return Ok(()) };
        loop {
            match py.detach(|| writer.offer(batch, TICK)) {
                Ok(true) => break,
                Ok(false) => {
                    if let Err(raised) = self.watching.look_up(py) {
                        return Err(self.stopped(py, state, raised));
                    }
                }
                Err(error) => return Err(self.over(py, state, &error)),
            }
        }
        if self.shared.steps.is_some() {
            self.watching.tell_rejected(py)?;
        }
        self.watching.look_up(py)
    }

    /// The load ends by what was raised, and the exception says what it leaves.
    fn stopped(&self, py: Python<'_>, state: &mut State, raised: PyErr) -> PyErr {
        self.watching.watch.stop();
        state.is_over = true;
        let (writer, failed) = (state.writer.take(), state.failed.take());
        let ended = py.detach(|| writer.map(Writer::finish));
        match (failed, ended) {
            (Some(error), _) | (None, Some(Err(error))) => {
                self.watching.failed(py, &error, Some(raised))
            }
            // All of the rows so far were committed already.
            (None, Some(Ok(report))) if report.rows_loaded > 0 => {
                let rows = report.rows_loaded;
                let error = Error::interrupted().leaving(Aftermath::Committed { rows });
                self.watching.failed(py, &error, Some(raised))
            }
            (None, _) => raised,
        }
    }

    /// The load has failed.
    fn over(&self, py: Python<'_>, state: &mut State, error: &Error) -> PyErr {
        state.is_over = true;
        let writer = state.writer.take();
        py.detach(|| drop(writer));
        self.watching.raise(py, error)
    }
}
