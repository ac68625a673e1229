//! What the bench and its workers say to each other: a JSON object a line.
//!
//! ```text
//! bench                                   worker
//!   {"hello": ...}                    ->
//!   {"task": ...}                     ->    prepares: connects, plans
//!                                     <-  "ready"
//!   "go"                              ->    does it
//!                                     <-  {"progress": ...}  several times a second
//!                                     <-  {"done": ...}
//!   ... the next task; at the end of its input a worker ends
//! ```
//!
//! Preparation is outside of what is timed, and all workers begin at once. Moments are of the system's monotonic clock, which
//! processes share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use inrush::plan::Durability;
use inrush_findings::suite::Transaction;

/// From the bench to a worker.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    /// The first one.
    Hello(Hello),
    /// Or: sees to a run's folder, and its servers, when the bench is gone.
    Keep(PathBuf),
    /// Then also to this database on a server of the user's.
    Drop(Left),
    /// No more.
    Dropped(Left),
    /// What to prepare.
    Task(Box<Task>),
    /// Do it.
    Go,
}

/// From a worker to the bench.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    /// Everything is prepared.
    Ready,
    /// How far it is.
    Progress { at_ns: u64, done: u64 },
    /// The task is done, or has failed, perhaps before it was ready.
    Done(Box<Outcome>),
}

/// A database that is a run's alone.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Left {
    /// The server, as a target's URL; may hold a password.
    pub(super) url: String,
    /// The database's name.
    pub(super) database: String,
}

/// Who a worker is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Hello {
    /// Its database, as a target's URL; may hold a password. Empty for programs.
    pub(super) url: String,
    /// What its connections begin with.
    pub(super) connect: Vec<String>,
    /// Settings that have to be so.
    pub(super) read_back: BTreeMap<String, String>,
    /// What its random numbers start from.
    pub(super) seed: u64,
}

/// A phase, all placeholders filled.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Task {
    Load(LoadTask),
    /// The same, but the rows go nowhere: how fast we could be if the database took no time.
    Ceiling(LoadTask),
    Sql(SqlTask),
    Mix(MixTask),
    Rows(RowsTask),
    Command(CommandTask),
    /// Every setting of the database, and its name.
    Settings,
    /// Requests that do nothing, so many.
    Ping(u32),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct LoadTask {
    pub(super) file: String,
    pub(super) table: String,
    pub(super) strategy: Option<String>,
    pub(super) knobs: BTreeMap<String, String>,
    pub(super) lanes: Option<usize>,
    pub(super) primary_key: Vec<String>,
    pub(super) durability: Durability,
    /// The file's rows, where a program has them: then a writer gets them, and nobody reads the file.
    pub(super) rows: Option<Generated>,
}

/// The first rows of a dataset.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Generated {
    pub(super) kind: String,
    pub(super) seed: u64,
    pub(super) rows: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct SqlTask {
    pub(super) statements: Vec<String>,
    /// `None`: once, and no latencies. In the statements `\u{1}` stands for the number of the repetition, from 1.
    pub(super) repeat: Option<u64>,
    /// The first value of the last statement is wanted.
    pub(super) value: bool,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct MixTask {
    /// Of this worker.
    pub(super) requests: u64,
    pub(super) connect_each: bool,
    pub(super) range: u64,
    /// Requests a second of this worker, and how far in its turn it begins, 0 to 1: workers take turns.
    pub(super) rate: Option<f64>,
    pub(super) turn: f64,
    pub(super) retries: u32,
    pub(super) steps: Vec<StepTask>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StepTask {
    pub(super) id: String,
    /// `\u{1}` stands for the random number.
    pub(super) sql: String,
    /// The place of the step whose value has to be above 0.
    pub(super) when: Option<usize>,
    pub(super) transaction: Option<Transaction>,
    /// Whether a later step wants its value.
    pub(super) keep: bool,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct RowsTask {
    pub(super) sql: String,
    pub(super) rows: Generated,
    pub(super) added: BTreeMap<String, i64>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct CommandTask {
    pub(super) run: Vec<String>,
    /// The same with its placeholders, which may stand for what is nobody's business.
    pub(super) shown: String,
    pub(super) needs: Vec<String>,
    pub(super) waits: bool,
    pub(super) input: String,
    pub(super) env: BTreeMap<String, String>,
    pub(super) codes: Vec<i32>,
}

/// What a task came to.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Outcome {
    /// When it began, and when the last of it was acknowledged.
    pub(super) start_ns: u64,
    pub(super) ack_ns: u64,
    pub(super) rows: u64,
    pub(super) user_bytes: u64,
    pub(super) requests: u64,
    pub(super) failed: BTreeMap<String, u64>,
    pub(super) retries: u64,
    /// Acknowledged changed rows by step.
    pub(super) acknowledged: BTreeMap<String, u64>,
    /// Requests whose last word was lost: their rows may or may not be there.
    pub(super) unknown: u64,
    pub(super) value: Option<String>,
    pub(super) strategy: Option<String>,
    pub(super) read_back: BTreeMap<String, String>,
    /// By operation, a histogram as text.
    pub(super) latency: BTreeMap<String, String>,
    pub(super) sql: Vec<String>,
    pub(super) settings: Vec<inrush::target::Setting>,
    pub(super) engine: String,
    /// A comparison with what was generated.
    pub(super) hash: String,
    pub(super) differences: Vec<String>,
    /// CPU time of the worker and of programs it ran, and the most memory one of them had resident.
    pub(super) cpu_us: u64,
    pub(super) peak_bytes: u64,
    pub(super) write_bytes: u64,
    pub(super) failure: Option<Failed>,
}

/// Why a task was not done.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Failed {
    pub(super) what: String,
    pub(super) cause: Cause,
}

/// What sort of failure it was.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) enum Cause {
    /// The program is not on this machine.
    Missing,
    /// The loader was asked for what it can't do.
    Usage,
    /// What the database promises is not what the suite says.
    Promise,
    Interrupted,
    Other,
}
