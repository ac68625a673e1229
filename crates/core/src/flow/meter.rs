//! Counters that the stages share, and where their time went.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::Serialize;

/// What a load is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Rows are on their way.
    Load,
    /// A value did not fit an inferred column: the whole input's types are looked at, before the load starts again.
    Survey,
    /// Every value of the input is looked at, and nothing is written.
    Check,
    /// An index is being built.
    Index,
    /// The table is compared with what was sent.
    Verify,
    /// Everything is made to last.
    Commit,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes taken from the inputs as they are stored (compressed, perhaps).
    pub bytes_stored: u64,
    /// The inputs' size as stored, where known.
    pub bytes_total: Option<u64>,
    /// Rows the target took.
    pub rows_loaded: u64,
    /// Bad rows so far.
    pub rows_rejected: u64,
    /// Since the load began.
    pub elapsed: Duration,
}

/// Where one stage's time went, in seconds over all its threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stage {
    /// `read`, `encode` or `send`.
    pub name: &'static str,
    /// At work.
    pub busy: f64,
    /// Waiting for the stage before.
    pub starved: f64,
    /// Waiting for the stage after.
    pub blocked: f64,
}

/// Shared by all stages of one load.
#[derive(Default)]
pub struct Meter {
    /// Bytes taken from the inputs as they are stored.
    pub bytes_stored: AtomicU64,
    /// Bytes of text that have come out of the inputs.
    pub bytes_read: AtomicU64,
    stages: Mutex<Vec<Stage>>,
}

impl Meter {
    /// Bytes of text that have come out of the inputs.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Relaxed)
    }

    /// Bytes were taken from storage.
    pub fn add_stored(&self, bytes: u64) {
        self.bytes_stored.fetch_add(bytes, Relaxed);
    }

    /// Bytes of text came out of an input.
    pub fn add_read(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Relaxed);
    }

    fn add_stage(&self, stage: &Stage) {
        let mut stages = self.stages.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match stages.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => {
                known.busy += stage.busy;
                known.starved += stage.starved;
                known.blocked += stage.blocked;
            }
            None => stages.push(stage.clone()),
        }
    }

    /// Where the time of each stage went, in the order of the stages.
    pub fn stages(&self) -> Vec<Stage> {
        let mut stages =
            self.stages.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        stages.sort_by_key(|stage| {
            ["read", "encode", "send"].iter().position(|name| *name == stage.name)
        });
        stages
    }
}

/// Measures one thread of a stage: what isn't waiting is work. Reports when dropped.
pub struct StageClock<'a> {
    meter: &'a Meter,
    stage: Stage,
    began: Instant,
}

impl<'a> StageClock<'a> {
    /// Begins to measure; `name` is the stage's.
    pub fn start(meter: &'a Meter, name: &'static str) -> Self {
        Self { meter, stage: Stage { name, ..Stage::default() }, began: Instant::now() }
    }

    /// Waits for the stage before.
    pub fn starved<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let value = wait();
        self.stage.starved += before.elapsed().as_secs_f64();
        value
    }

    /// Waits for the stage after.
    pub fn blocked<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let value = wait();
        self.stage.blocked += before.elapsed().as_secs_f64();
        value
    }
}

impl Drop for StageClock<'_> {
    fn drop(&mut self) {
        let waited = self.stage.starved + self.stage.blocked;
        self.stage.busy = (self.began.elapsed().as_secs_f64() - waited).max(0.0);
        self.meter.add_stage(&self.stage);
    }
}
