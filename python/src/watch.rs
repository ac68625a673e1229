//! Work on a thread of its own, while the caller's looks after signals and progress.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use arrow_schema::Schema;
use crossbeam_channel::{Receiver, RecvError, bounded, never, select};
use inrush::pipe::{Phase, Progress};
use inrush::plan::Plan;
use inrush::{Kind, Observer, Reject};
use inrush_cli::ProgressMode;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// How often the caller's thread looks up.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// How long the end of the interpreter waits for the work of other threads, which may be busy with the program's own code.
const LEAVING_MAX: Duration = Duration::from_secs(5);

/// The thread that is about to end the interpreter, once one is.
static LEAVING: OnceLock<ThreadId> = OnceLock::new();

/// What threads wait for.
static AT_WORK: Mutex<Vec<Arc<Watch>>> = Mutex::new(Vec::new());

/// Ends what other threads wait for, before the interpreter ends them: that takes their stacks down, which may be ours.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) {
    LEAVING.get_or_init(|| thread::current().id());
    let began = Instant::now();
    let is_at_work = || {
        let at_work = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.iter().for_each(|watch| watch.stop());
        !at_work.is_empty()
    };
    // The lock of an interpreter that ends with the process as a part of it can be let go, and not be had again.
    if !is_at_work() {
        return;
    }
    py.detach(|| {
        while is_at_work() && began.elapsed() < LEAVING_MAX {
            thread::sleep(Duration::from_millis(5));
        }
    });
}

/// Refuses more work of other threads once the interpreter is about to end. A thread ends by that without a word.
pub(crate) fn go_on() -> PyResult<()> {
    match LEAVING.get() {
        Some(thread) if *thread != thread::current().id() => Err(PySystemExit::new_err(())),
        _ => Ok(()),
    }
}

/// In a child after `fork` there are no other threads.
pub(crate) fn forked() {
    if let Ok(mut at_work) = AT_WORK.try_lock() {
        at_work.clear();
    }
}

/// While a thread waits.
struct Waiting<'a>(&'a Arc<Watch>);

impl<'a> Waiting<'a> {
    fn of(watch: &'a Arc<Watch>) -> Self {
        AT_WORK.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(watch));
        Self(watch)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut at_work = AT_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = at_work.iter().position(|watch| Arc::ptr_eq(watch, self.0)) {
            at_work.swap_remove(at);
        }
    }
}

/// Follows a load for a Python program.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    bar: Option<inrush_cli::Progress>,
    last: Mutex<Option<Progress>>,
    rejected: Mutex<Vec<Reject>>,
    /// What statements wait for, where no bar says it.
    waits: Mutex<Vec<String>>,
    /// Columns of floats: in JSON a decimal looks like one.
    floats: Mutex<Vec<String>>,
    /// Columns whose types the rows' values say, once there is a plan.
    open: Mutex<Option<Vec<String>>>,
}

impl Watch {
    /// With a bar, where one is wanted and standard error is a terminal.
    pub(crate) fn new(bar: bool) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_shown = bar && std::io::stderr().is_terminal();
        let bar = is_shown
            .then(|| inrush_cli::Progress::new(ProgressMode::Bar, Arc::clone(&stop), false));
        Self {
            stop,
            bar,
            last: Mutex::default(),
            rejected: Mutex::default(),
            waits: Mutex::default(),
            floats: Mutex::default(),
            open: Mutex::default(),
        }
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// What the columns of the rows are.
    pub(crate) fn learn(&self, schema: &Schema) {
        let floats = schema.fields().iter().filter(|field| field.data_type().is_floating());
        let floats = floats.map(|field| field.name().clone()).collect();
        *self.floats.lock().unwrap_or_else(PoisonError::into_inner) = floats;
    }

    /// Whether a column's type is what the rows' values say.
    pub(crate) fn is_open(&self, column: &str) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().is_none_or(|open| open.iter().any(|name| name == column))
    }

    /// The bad rows that were told since.
    pub(crate) fn take_rejected(&self) -> Vec<Reject> {
        std::mem::take(&mut *self.rejected.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Watch {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&self.stop)
    }

    fn planned(&self, plan: &Plan) {
        let choice = &plan.choice;
        let open = choice.columns.iter().zip(&choice.fields);
        let open = open.filter(|(column, _)| column.declared.is_none() && !column.is_asked());
        let open = open.map(|(_, field)| plan.facts.source.fields[*field].source_name().to_owned());
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(open.collect());
    }

    fn phase(&self, phase: &Phase) {
        if let Some(bar) = &self.bar {
            bar.phase(phase);
        }
    }

    fn progress(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.progress(progress);
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
    }

    fn noted(&self, why: &str) {
        if let Some(bar) = &self.bar {
            bar.noted(why);
        }
    }

    fn waits(&self, note: &str) {
        match &self.bar {
            Some(bar) => bar.waits(note),
            None => {
                self.waits.lock().unwrap_or_else(PoisonError::into_inner).push(note.to_owned());
            }
        }
    }

    fn rejected(&self, row: &Reject) {
        self.rejected.lock().unwrap_or_else(PoisonError::into_inner).push(row.clone());
    }
}

/// What a Python program wants to see of a load.
pub(crate) struct Watching {
    pub(crate) watch: Arc<Watch>,
    /// Called with a dict, several times a second.
    callback: Option<Py<PyAny>>,
    /// Called with each bad row.
    rejects: Option<Py<PyAny>>,
    /// Makes the row of Python of a bad row's JSON.
    given: Option<Py<PyAny>>,
    /// Of a writer in steps what SIGTERM has raised: it comes out when the call is through, so that none of the call's rows is lost.
    ended: Option<Mutex<Option<PyErr>>>,
}

/// `(bar, callback or None, rejects or None, given or None)`.
impl<'a, 'py> FromPyObject<'a, 'py> for Watching {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        type Callable = Option<Py<PyAny>>;
        let (bar, callback, rejects, given): (bool, Callable, Callable, Callable) =
            given.extract()?;
        Ok(Self { watch: Arc::new(Watch::new(bar)), callback, rejects, given, ended: None })
    }
}

impl Watching {
    /// Of a writer in steps.
    pub(crate) fn in_steps(self) -> Self {
        Self { ended: Some(Mutex::default()), ..self }
    }

    /// Does the work on another thread. Ctrl-C, or whatever a signal's handler raises, stops it, and comes out when it has ended.
    pub(crate) fn over<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Observer) -> inrush::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        go_on()?;
        let done = self.begin(py, work)?;
        let (outcome, raised) = self.wait(py, &done, &never::<()>(), |()| Ok(()))?;
        self.outcome(py, outcome, raised)
    }

    /// Begins the work; its outcome comes once.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn Observer) -> inrush::Result<T> + Send + 'static,
    ) -> PyResult<Receiver<inrush::Result<T>>> {
        let (to, done) = bounded(1);
        let watch = Arc::clone(&self.watch);
        let named = thread::Builder::new().name("inrush".to_owned());
        let work = move || {
            let outcome = work(&*watch);
            if let Some(bar) = &watch.bar {
                bar.finish();
            }
            // Who waits is gone only with the interpreter.
            let _ = to.send(outcome);
        };
        // Without a thread the work is dropped here, and a writer with it.
        py.detach(|| named.spawn(work))
            .map_err(|error| PyRuntimeError::new_err(format!("no thread to load with: {error}")))?;
        Ok(done)
    }

    /// Waits for the outcome, and serves what is asked for meanwhile. What is raised stops the work, and comes with the outcome.
    pub(crate) fn wait<T: Send, A: Send>(
        &self,
        py: Python<'_>,
        done: &Receiver<inrush::Result<T>>,
        asked: &Receiver<A>,
        mut serve: impl FnMut(A) -> PyResult<()>,
    ) -> PyResult<(inrush::Result<T>, Option<PyErr>)> {
        enum Next<T, A> {
            Done(Result<inrush::Result<T>, RecvError>),
            Asked(A),
            Nothing,
        }
        let _waiting = Waiting::of(&self.watch);
        let mut raised: Option<PyErr> = None;
        let outcome = loop {
            let next = py.detach(|| {
                select! {
                    recv(done) -> outcome => Next::Done(outcome),
                    recv(asked) -> what => what.map_or(Next::Nothing, Next::Asked),
                    default(TICK) => Next::Nothing,
                }
            });
            let looked_up = match next {
                Next::Done(Ok(outcome)) => break outcome,
                Next::Done(Err(RecvError)) => {
                    return Err(PyRuntimeError::new_err("the load's thread has panicked"));
                }
                Next::Asked(what) if raised.is_none() => serve(what),
                Next::Asked(_) => Ok(()),
                Next::Nothing if raised.is_none() => self.look_up(py),
                Next::Nothing => Ok(()),
            };
            if let Err(error) = looked_up {
                raised = Some(error);
                self.watch.stop();
            }
        };
        if let (Err(_), Err(leaving)) = (&outcome, go_on()) {
            raised.get_or_insert(leaving);
        }
        Ok((outcome, raised))
    }

    /// Handles signals, and tells how far the load is.
    pub(crate) fn look_up(&self, py: Python<'_>) -> PyResult<()> {
        let Err(raised) = self.looked_up(py) else { return Ok(()) };
        let Some(ended) = &self.ended else { return Err(raised) };
        let terminated = py.import("inrush._writer")?.getattr("_Terminated")?;
        if !raised.value(py).is_instance(&terminated)? {
            return Err(raised);
        }
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
        Ok(())
    }

    /// The end of a call of a writer in steps: what SIGTERM has raised in it.
    pub(crate) fn leave(&self) -> PyResult<()> {
        let Some(ended) = &self.ended else { return Ok(()) };
        ended.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn looked_up(&self, py: Python<'_>) -> PyResult<()> {
        go_on()?;
        py.check_signals()?;
        let waits =
            std::mem::take(&mut *self.watch.waits.lock().unwrap_or_else(PoisonError::into_inner));
        for note in waits {
            let log = py.import("logging")?.call_method1("getLogger", ("inrush",))?;
            log.call_method1("warning", ("%s", note))?;
        }
        let Some(callback) = &self.callback else { return Ok(()) };
        let last = self.watch.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(progress) = last else { return Ok(()) };
        let told = PyDict::new(py);
        told.set_item("rows", progress.rows_loaded)?;
        told.set_item("rejected", progress.rows_rejected)?;
        told.set_item("bytes", progress.bytes_stored)?;
        told.set_item("bytes_total", progress.bytes_total)?;
        told.set_item("seconds", progress.elapsed.as_secs_f64())?;
        callback.call1(py, (told,)).map(drop)
    }

    /// Hands on the bad rows so far.
    pub(crate) fn tell_rejected(&self, py: Python<'_>) -> PyResult<()> {
        let rows = self.given(py)?;
        let Some(rejects) = &self.rejects else { return Ok(()) };
        for row in rows {
            rejects.call1(py, (row,))?;
        }
        Ok(())
    }

    /// The bad rows so far, as rows of Python.
    fn given(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let rows = self.watch.take_rejected();
        let Some(given) = &self.given else { return Ok(Vec::new()) };
        let floats = self.watch.floats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        rows.iter()
            .map(|row| given.call1(py, (errors::shown(row).to_string(), floats.as_slice())))
            .collect()
    }

    /// The exception of a failure. Bad rows that were too many are handed on before; what that raises comes out instead, with the
    /// failure as its cause.
    pub(crate) fn raise(&self, py: Python<'_>, error: &inrush::Error) -> PyErr {
        let rows = match self.given(py) {
            Ok(rows) => rows,
            Err(failure) => return failure,
        };
        let told: Vec<_> = rows.iter().map(|row| row.clone_ref(py)).collect();
        let raised = errors::raise(py, error, rows);
        let Some(rejects) = self.rejects.as_ref().filter(|_| error.kind() == Kind::Rejects) else {
            return raised;
        };
        match told.into_iter().try_for_each(|row| rejects.call1(py, (row,)).map(drop)) {
            Ok(()) => raised,
            Err(failure) => {
                failure.set_cause(py, Some(raised));
                failure
            }
        }
    }

    /// What comes of the work's outcome, where `raised` has stopped it.
    pub(crate) fn outcome<T: Send>(
        &self,
        py: Python<'_>,
        outcome: inrush::Result<T>,
        raised: Option<PyErr>,
    ) -> PyResult<T> {
        match outcome {
            Ok(done) => {
                // It was done before it could be stopped; what was raised has to come out nevertheless.
                match self.tell_rejected(py).and_then(|()| raised.map_or(Ok(()), Err)) {
                    Ok(()) => Ok(done),
                    Err(raised) => {
                        // It may be a writer.
                        py.detach(|| drop(done));
                        Err(raised)
                    }
                }
            }
            Err(error) => Err(self.failed(py, &error, raised)),
        }
    }

    /// The exception of work that has failed, where `raised` has stopped it.
    pub(crate) fn failed(
        &self,
        py: Python<'_>,
        error: &inrush::Error,
        raised: Option<PyErr>,
    ) -> PyErr {
        match raised {
            None => self.raise(py, error),
            // Ours is a KeyboardInterrupt, too, and says what has become of the target.
            Some(raised) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => {
                let outcome = error.aftermath().unwrap_or(inrush::Aftermath::NothingChanged);
                self.raise(py, &inrush::Error::interrupted().leaving(outcome))
            }
            Some(raised) => raised,
        }
    }
}
