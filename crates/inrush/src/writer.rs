//! Rows that a program has: all that there are, or one batch after the other.
//!
//! ```text
//! load:    BatchSource -> plan -> run
//! Writer:  write -> queue of batches -> a thread with plan and run         one load, all or nothing
//!                                    -> a thread with a load for each step  rows can be seen step by step
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};

use crate::load::{Earlier, run, run_behind};
use crate::observer::Observer;
use crate::plan::{Column, IfExists, LoadOptions, Plan, Request, plan_rows};
use crate::report::{Report, StepsReport};
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::target::Lease;
use inrush_source::{BatchSource, columns_of};

/// How often a thread that waits for rows looks whether anybody still wants them.
const TICK: Duration = Duration::from_millis(50);

/// Batches that wait to be read, besides the one in hand.
const BATCHES: usize = 1;

/// For how long a step is tried again that has lost its connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first pause before a step is tried again; each one is twice as long as the one before, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Loads the rows of a program, all of them or none.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use inrush::{LoadOptions, Unobserved};
///
/// let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
/// let name: ArrayRef = Arc::new(StringArray::from(vec!["Ada", "Grace"]));
/// let batch = RecordBatch::try_from_iter([("id", id), ("name", name)])?;
///
/// # let directory = tempfile::tempdir()?;
/// # let target = directory.path().join("people.db").display().to_string();
/// let options = LoadOptions { table: Some("people".to_owned()), ..LoadOptions::default() };
/// let report = inrush::load(vec![batch], &target, &options, &Unobserved)?;
/// assert_eq!(report.rows_loaded, 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As for [`plan`](crate::plan()) and [`run`]; of kind [`Source`](crate::Kind::Source) when the rows can't be read.
pub fn load(
    rows: impl BatchSource + 'static,
    target: &str,
    options: &LoadOptions,
    observer: &dyn Observer,
) -> Result<Report> {
    let lease = Lease::default();
    let request = Request { spare: lease.spare(), ..request(target, options) };
    run(&plan_rows(Box::new(rows), &request, observer)?, observer)
}

fn request(target: &str, options: &LoadOptions) -> Request {
    Request { target: target.to_owned(), options: options.clone(), ..Request::default() }
}

/// Takes batches from a program that has them one after the other, and loads them while it makes the next.
///
/// Memory is bounded by the plan: [`Writer::write`] blocks while the pipeline is full. All rows or none: [`Writer::finish`] verifies
/// and commits, and a writer that is dropped without it leaves nothing, also where that is because the program panics. Dropping waits
/// until all is undone.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch};
/// use arrow_schema::{DataType, Field, Schema};
/// use inrush::{LoadOptions, Writer};
///
/// # let directory = tempfile::tempdir()?;
/// # let target = directory.path().join("numbers.db").display().to_string();
/// let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
/// let options = LoadOptions { table: Some("numbers".to_owned()), ..LoadOptions::default() };
/// let mut writer = Writer::begin(schema.clone(), &target, &options)?;
/// for start in [0, 1_000, 2_000] {
///     let numbers = Int64Array::from_iter_values(start..start + 1_000);
///     writer.write(&RecordBatch::try_new(schema.clone(), vec![Arc::new(numbers)])?)?;
/// }
/// assert_eq!(writer.finish()?.rows_loaded, 3_000);
/// # Ok(())
/// # }
/// ```
pub struct Writer {
    schema: SchemaRef,
    columns: Vec<Column>,
    queue: Option<Sender<Sent>>,
    worker: Option<JoinHandle<Result<Report>>>,
    in_steps: bool,
    /// Rows of the steps so far.
    committed: Arc<AtomicU64>,
}

/// What a writer tells its thread.
enum Sent {
    Batch(RecordBatch),
    /// Commit what there is, and say when that is done.
    Commit(Sender<()>),
    /// There are no more; without it the load comes to nothing.
    End,
}

/// When a writer that commits on the way does so: whichever comes first. Neither is when it finishes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// At exactly so many rows, which are in memory until then; at least 1.
    pub rows: Option<u64>,
    /// So long after the first row that isn't committed.
    pub time: Option<Duration>,
}

impl Writer {
    /// Plans, opens, and waits for batches of this schema.
    ///
    /// # Errors
    /// As for [`plan`](crate::plan()).
    pub fn begin(schema: SchemaRef, target: &str, options: &LoadOptions) -> Result<Self> {
        Self::observed(schema, target, options, Arc::new(crate::Unobserved))
    }

    /// The same with an observer, which also can stop the load.
    ///
    /// # Errors
    /// As for [`Writer::begin`].
    pub fn observed(
        schema: SchemaRef,
        target: &str,
        options: &LoadOptions,
        observer: Arc<dyn Observer + Send>,
    ) -> Result<Self> {
        let (queue, batches) = bounded(BATCHES);
        let rows = Queue {
            schema: Arc::clone(&schema),
            observer: Arc::clone(&observer),
            batches: Some(batches),
        };
        let lease = Lease::default();
        let request = Request { spare: lease.spare(), ..request(target, options) };
        let plan = plan_rows(Box::new(rows), &request, &*observer)?;
        let columns = plan.choice.columns.clone();
        let worker = spawn(move || {
            let _lease = lease;
            run(&plan, &*observer)
        })?;
        let (queue, worker, committed) = (Some(queue), Some(worker), Arc::default());
        Ok(Self { schema, columns, queue, worker, in_steps: false, committed })
    }

    /// A writer for programs that never end: rows are committed in steps, each of them all or nothing. A step whose connection is lost
    /// before it has committed is loaded again for up to a minute.
    ///
    /// Bad rows are those of the whole writer: one [file](crate::RejectsTo::File) takes them, each step's just before the step is
    /// committed, and [`max_rejects`](LoadOptions::max_rejects) counts all of them, a share being one of the rows of all steps so far.
    /// A step that brings too many is undone, and the writer is over; those before it stay.
    ///
    /// # Errors
    /// As for [`Writer::begin`], of the first step; of kind [`Usage`](crate::Kind::Usage) for steps of no row.
    pub fn in_steps(
        schema: SchemaRef,
        target: &str,
        options: &LoadOptions,
        steps: Steps,
        observer: Arc<dyn Observer + Send>,
    ) -> Result<Self> {
        if steps.rows == Some(0) {
            return Err(Error::usage("a step has at least 1 row"));
        }
        let (queue, batches) = bounded(BATCHES);
        let request = request(target, options);
        // What is wrong with the request is said now, and not at the first step.
        let rows = Step { schema: Arc::clone(&schema), batches: Vec::new(), before: 0 };
        let plan = plan_rows(Box::new(rows), &request, &*observer)?;
        let strategy = plan.choice.strategy;
        if request.options.strategy.is_some() && strategy.fills_at_once() {
            return Err(Error::usage(format!(
                "{} fills a table at once, and the steps of a writer add to it",
                strategy.id()
            ))
            .advise("leave the strategy out: each step has one that it can use"));
        }
        let columns = plan.choice.columns.clone();
        let committed = Arc::<AtomicU64>::default();
        let mut committer = Committer {
            request,
            steps,
            observer,
            schema: Arc::clone(&schema),
            waiting: Vec::new(),
            rows: 0,
            since: None,
            earlier: Earlier::default(),
            total: None,
            committed_steps: 0,
            committed: Arc::clone(&committed),
        };
        let worker = spawn(move || committer.serve(&batches))?;
        let (queue, worker) = (Some(queue), Some(worker));
        Ok(Self { schema, columns, queue, worker, in_steps: true, committed })
    }

    /// The table's columns as they were planned when the writer began: later steps find them in the table.
    pub fn planned(&self) -> &[Column] {
        &self.columns
    }

    /// Rows that steps have committed so far; 0 of a writer that commits at its end.
    pub fn rows_committed(&self) -> u64 {
        self.committed.load(Relaxed)
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Hands on a batch of the schema's columns; blocks while the pipeline is full.
    ///
    /// # Errors
    /// When the load has failed, with its error; after that the writer is over. Of kind [`Usage`](crate::Kind::Usage) when the batch has
    /// other columns.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = self.fitted(batch)?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.send(Sent::Batch(batch))
    }

    /// The same, and waits no longer than this; false where the pipeline was full all the time, and has not got the batch.
    ///
    /// # Errors
    /// As for [`Writer::write`].
    pub fn offer(&mut self, batch: &RecordBatch, wait: Duration) -> Result<bool> {
        let batch = self.fitted(batch)?;
        if batch.num_rows() == 0 {
            return Ok(true);
        }
        let Some(queue) = &self.queue else { return Err(over()) };
        match queue.send_timeout(Sent::Batch(batch), wait) {
            Ok(()) => Ok(true),
            Err(SendTimeoutError::Timeout(_)) => Ok(false),
            Err(SendTimeoutError::Disconnected(_)) => Err(self.failure()),
        }
    }

    /// Commits what was written so far, where the writer commits [in steps](Writer::in_steps).
    ///
    /// # Errors
    /// As for [`Writer::write`]; of kind [`Usage`](crate::Kind::Usage) where it doesn't.
    pub fn commit(&mut self) -> Result<()> {
        if !self.in_steps {
            return Err(not_in_steps());
        }
        let (told, done) = bounded(1);
        self.send(Sent::Commit(told))?;
        loop {
            match done.recv_timeout(TICK) {
                Ok(()) => return Ok(()),
                // What was sent to a thread that has ended stays in the queue.
                Err(RecvTimeoutError::Timeout) if self.is_running() => {}
                Err(_) => return Err(self.failure()),
            }
        }
    }

    /// The same, and doesn't wait until it is done. Where it fails, what is called next says so.
    ///
    /// # Errors
    /// As for [`Writer::commit`].
    pub fn commit_soon(&mut self) -> Result<()> {
        if !self.in_steps {
            return Err(not_in_steps());
        }
        self.send(Sent::Commit(bounded(1).0))
    }

    /// The batch with the writer's columns in the writer's order: they are found by their names.
    fn fitted(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        fn names(schema: &SchemaRef) -> Vec<&str> {
            schema.fields().iter().map(|field| field.name().as_str()).collect()
        }
        if Arc::ptr_eq(&self.schema, batch.schema_ref()) {
            return Ok(batch.clone());
        }
        let (own, given) = (names(&self.schema), names(batch.schema_ref()));
        if own == given {
            return Ok(batch.clone());
        }
        let order = columns_of(&own, &given).map_err(Error::usage)?;
        batch.project(&order).map_err(|error| Error::usage(error.to_string()))
    }

    fn is_running(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| !worker.is_finished())
    }

    fn send(&mut self, sent: Sent) -> Result<()> {
        let Some(queue) = &self.queue else { return Err(over()) };
        queue.send(sent).map_err(|_| self.failure())
    }

    /// Why nobody reads any more: the thread has ended, and knows.
    fn failure(&mut self) -> Error {
        match self.end() {
            Ok(_) => Error::source("the load has ended before its rows"),
            Err(error) => error,
        }
    }

    /// Waits until all rows are loaded, verified and committed.
    ///
    /// # Errors
    /// When the load failed; [`aftermath`](crate::Error::aftermath) says what is left of it.
    ///
    /// # Panics
    /// When the observer has, on the writer's thread: its panic goes on here, or in the call that comes first.
    pub fn finish(mut self) -> Result<Report> {
        self.send(Sent::End)?;
        self.end()
    }

    /// Gives up: nothing of a load stays, and of one in steps what has been committed, so many rows. Dropping does the same.
    pub fn abort(mut self) -> u64 {
        // As when it is dropped.
        let _ = self.joined();
        self.rows_committed()
    }

    fn end(&mut self) -> Result<Report> {
        let ended = self.joined().ok_or_else(over)?;
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Closes the queue, and waits for the thread to end; `None` where it has before.
    fn joined(&mut self) -> Option<thread::Result<Result<Report>>> {
        self.queue = None;
        self.worker.take().map(JoinHandle::join)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Also while the program panics: it may be over before the thread has undone what there is. The load ends with an error, for
        // its thread was never told that there are no more rows; where it has panicked itself, that has been seen.
        let _ = self.joined();
    }
}

fn wants_to_stop(observer: &dyn Observer) -> bool {
    observer.stop_flag().load(Relaxed)
}

fn not_in_steps() -> Error {
    Error::usage("the writer loads all rows or none, and commits at its end")
}

fn over() -> Error {
    Error::usage("the writer is over")
}

fn spawn(
    work: impl FnOnce() -> Result<Report> + Send + 'static,
) -> Result<JoinHandle<Result<Report>>> {
    let named = thread::Builder::new().name("inrush-write".to_owned());
    named.spawn(work).map_err(|error| Error::no_thread(&error))
}

/// The reading end of a writer's queue.
struct Queue {
    schema: SchemaRef,
    observer: Arc<dyn Observer + Send>,
    batches: Option<Receiver<Sent>>,
}

impl BatchSource for Queue {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&mut self) -> Result<Box<dyn RecordBatchReader + Send>> {
        let batches = self.batches.take();
        let batches =
            batches.ok_or_else(|| Error::source("rows that were written can't be read again"))?;
        let (schema, observer) = (Arc::clone(&self.schema), Arc::clone(&self.observer));
        Ok(Box::new(QueueReader { schema, observer, batches }))
    }
}

struct QueueReader {
    schema: SchemaRef,
    observer: Arc<dyn Observer + Send>,
    batches: Receiver<Sent>,
}

impl Iterator for QueueReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let gone = |why: &str| Some(Err(ArrowError::ExternalError(why.into())));
        loop {
            return match self.batches.recv_timeout(TICK) {
                Ok(Sent::Batch(batch)) => Some(Ok(batch)),
                Ok(Sent::End) => None,
                // Only a writer in steps sends it.
                Ok(Sent::Commit(_)) => continue,
                Err(RecvTimeoutError::Timeout) if wants_to_stop(&*self.observer) => {
                    gone("interrupted")
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => gone("the writer ended without finish"),
            };
        }
    }
}

impl RecordBatchReader for QueueReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Loads what has come in steps.
struct Committer {
    /// The first step's; the others add to the table that it leaves.
    request: Request,
    steps: Steps,
    observer: Arc<dyn Observer + Send>,
    schema: SchemaRef,
    /// What isn't committed.
    waiting: Vec<RecordBatch>,
    rows: u64,
    /// When its first row came.
    since: Option<Instant>,
    /// Bad rows of all steps so far, and the files that they are in.
    earlier: Earlier,
    /// All steps so far, and how many of them had rows.
    total: Option<Report>,
    committed_steps: u64,
    /// Rows of all steps so far, for whoever has the writer.
    committed: Arc<AtomicU64>,
}

impl Committer {
    fn serve(&mut self, batches: &Receiver<Sent>) -> Result<Report> {
        loop {
            let due = self.due();
            let wait =
                due.map_or(TICK, |due| due.saturating_duration_since(Instant::now()).min(TICK));
            match batches.recv_timeout(wait) {
                Ok(Sent::Batch(batch)) => self.take(batch)?,
                Ok(Sent::Commit(told)) => {
                    if self.rows > 0 {
                        self.commit()?;
                    }
                    // Who has asked may be gone.
                    let _ = told.send(());
                }
                Ok(Sent::End) => break,
                Err(RecvTimeoutError::Timeout) if wants_to_stop(&*self.observer) => {
                    return Err(self.told(Error::interrupted()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                // The last, partial step is for a clean end only.
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.told(Error::source("the writer ended without finish")));
                }
            }
            if self.due().is_some_and(|due| due <= Instant::now()) {
                self.commit()?;
            }
        }
        // A load without rows makes its table, too.
        if self.rows > 0 || self.total.is_none() {
            self.commit()?;
        }
        let total = self.total.take();
        let mut total = total.ok_or_else(|| Error::source("the load has ended before its rows"))?;
        total.steps =
            Some(StepsReport { committed: self.committed_steps, ..StepsReport::default() });
        Ok(total)
    }

    fn due(&self) -> Option<Instant> {
        // A time that no clock reaches is no time.
        self.since?.checked_add(self.steps.time?)
    }

    /// Adds a batch, and commits whenever a step is full.
    fn take(&mut self, mut batch: RecordBatch) -> Result<()> {
        while batch.num_rows() > 0 {
            let room = self.steps.rows.map_or(u64::MAX, |rows| rows - self.rows);
            let taken = usize::try_from(room).unwrap_or(usize::MAX).min(batch.num_rows());
            self.since.get_or_insert_with(Instant::now);
            self.waiting.push(batch.slice(0, taken));
            self.rows += taken as u64;
            batch = batch.slice(taken, batch.num_rows() - taken);
            if Some(self.rows) == self.steps.rows {
                self.commit()?;
            }
        }
        Ok(())
    }

    /// Loads a step.
    fn commit(&mut self) -> Result<()> {
        let before = self.total.as_ref().map_or(0, |total| total.rows_read);
        let observer: &dyn Observer = &*self.observer;
        let mut earlier = std::mem::take(&mut self.earlier);
        let report = self.patiently(|| {
            let (schema, batches) = (Arc::clone(&self.schema), self.waiting.clone());
            let rows = Step { schema, batches, before };
            let lease = Lease::default();
            let request = Request { spare: lease.spare(), ..self.request.clone() };
            run_behind(&mut earlier, &plan_rows(Box::new(rows), &request, observer)?, observer)
        })?;
        self.earlier = earlier;
        self.waiting.clear();
        self.committed_steps += u64::from(self.rows > 0);
        self.rows = 0;
        self.since = None;
        self.committed.fetch_add(report.rows_loaded, Relaxed);
        match &mut self.total {
            None => {
                let plan = report.plan.clone();
                self.total = Some(report);
                self.request.options = self.patiently(|| adding(&plan, &*self.observer))?;
            }
            Some(total) => total.add(report),
        }
        Ok(())
    }

    /// Does `work`, again where its connection is lost and it has left nothing behind.
    fn patiently<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let mut pause = PAUSE;
        loop {
            let error = match work() {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let is_undone = matches!(error.aftermath(), None | Some(Aftermath::NothingChanged));
            let is_over = began.elapsed() + pause > PATIENCE || wants_to_stop(&*self.observer);
            if !error.is_lost_connection() || !is_undone || is_over {
                return Err(self.told(error));
            }
            self.observer.noted(&format!("{}: the step is loaded again", error.what()));
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// An error of a step, with what the steps before it have left.
    fn told(&self, error: Error) -> Error {
        let before = self.total.as_ref().map_or(0, |total| total.rows_loaded);
        let own = match error.aftermath() {
            Some(Aftermath::Unknown) => return error,
            // Not every target can undo a step.
            Some(Aftermath::Committed { rows }) => rows,
            _ => 0,
        };
        match before + own {
            0 => error,
            rows => error.leaving(Aftermath::Committed { rows }),
        }
    }
}

/// The rows of a step.
struct Step {
    /// The writer's, which a batch need not have: its values may be of other types.
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// Those of the steps before.
    before: u64,
}

impl BatchSource for Step {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn open(&mut self) -> Result<Box<dyn RecordBatchReader + Send>> {
        let batches = self.batches.clone().into_iter().map(Ok);
        Ok(Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema))))
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn rows_before(&self) -> u64 {
        self.before
    }
}

/// What the steps after the first one say, which add to the table that it has left.
fn adding(first: &Plan, observer: &dyn Observer) -> Result<LoadOptions> {
    let mut options = first.request.options.clone();
    options.if_exists = IfExists::Append;
    options.indexes.clear();
    let request = Request { options: options.clone(), ..first.request.clone() };
    let facts =
        first.target.facts(&first.location, &first.table, &request, observer.stop_flag())?;
    // Where the table has a key it has it by now.
    let key = facts.table.map(|table| table.key_said_again(&options.primary_key));
    options.primary_key = key.unwrap_or_default();
    Ok(options)
}

/// The plan of a load of rows that a program has.
///
/// # Errors
/// As for [`plan`](crate::plan()).
pub fn plan_batches(
    rows: impl BatchSource + 'static,
    target: &str,
    options: &LoadOptions,
    observer: &dyn Observer,
) -> Result<Plan> {
    plan_rows(Box::new(rows), &request(target, options), observer)
}
