//! What one sample measured: a line of `samples.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One measurement of one cell.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Sample {
    /// The version of this line's format: 1.
    pub v: u32,
    /// `b03.c017`: block and cell, unique in the run.
    pub sample: String,
    /// The cell's id.
    pub cell: String,
    /// From 0; warm-ups count.
    pub block: u32,
    /// Its place in the order in which samples were taken, from 0.
    pub order: u32,
    /// Recorded, not counted.
    pub warmup: bool,
    /// How it ended.
    pub status: Status,
    /// What to know of it: `partial`, `client-bound`, `contended`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Why it isn't `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Wall clock at its start, UTC, RFC 3339.
    pub started: String,
    /// From its first preparation to its last clearing up, in seconds.
    pub seconds: f64,
    /// What was measured, in order.
    #[serde(default)]
    pub phases: Vec<PhaseSample>,
    /// What was compared with what was generated; `None` when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verified>,
    /// How what was done was verified, where the sample is `ok`: `values` (every value, with what was generated), `counters` (what
    /// requests added up, with what is there), `answer` (of a statement, with what it has to be), `count` (of the rows of a load);
    /// several are separated by a comma. `nothing` where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// What was promised, and what the database said.
    pub durability: DurabilityRead,
    /// The machine's load average of a minute before it.
    pub load_before: f64,
    /// What processes that are not ours took meanwhile, as a share of all processors.
    pub foreign_cpu: f64,
    /// The first statements that were sent, cut short.
    #[serde(default)]
    pub sql: Vec<String>,
}

/// How a sample ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Measured and verified.
    Ok,
    /// What is stored is not what was sent: its figures are no results.
    Incorrect,
    /// It took longer than the profile allows.
    Timeout,
    /// Something failed.
    Error,
    /// The system's memory ran out.
    Oom,
    /// The database refuses to do this.
    Unsupported,
    /// The database or the program is not here, or was not asked for.
    Unavailable,
    /// The user stopped it.
    Interrupted,
    /// Others kept the machine busy: it was measured again.
    Contended,
}

impl Status {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Incorrect => "incorrect",
            Status::Timeout => "timeout",
            Status::Error => "error",
            Status::Oom => "oom",
            Status::Unsupported => "unsupported",
            Status::Unavailable => "unavailable",
            Status::Interrupted => "interrupted",
            Status::Contended => "contended",
        }
    }

    /// Whether it was tried, and gave no result that counts.
    pub fn is_failure(self) -> bool {
        matches!(self, Status::Incorrect | Status::Error | Status::Timeout | Status::Oom)
    }
}

/// One phase of a sample.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct PhaseSample {
    /// The phase's id.
    pub id: String,
    /// Whether its time is a result.
    pub timed: bool,
    /// From the first worker's start to the last acknowledgement, in nanoseconds.
    pub ack_ns: u64,
    /// The same until what was written is as durable as promised.
    pub durable_ns: u64,
    /// Rows, over all workers.
    pub rows: u64,
    /// Fewer rows than the dataset has.
    #[serde(default)]
    pub partial: bool,
    /// Requests that were done, of a mix; executions, of a repeated statement.
    #[serde(default)]
    pub requests: u64,
    /// Requests that failed, by message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, u64>,
    /// Tries beyond the first.
    #[serde(default)]
    pub retries: u64,
    /// Bytes of the rows as text.
    #[serde(default)]
    pub user_bytes: u64,
    /// The one value of a size query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The strategy and knobs that the loader took; of a program its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Rows a second, one number for each worker.
    #[serde(default)]
    pub worker_rates: Vec<f64>,
    /// Of a load: what one worker could do if the database took no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_rows_per_s: Option<f64>,
    /// What it cost.
    pub resources: Resources,
    /// By operation (`request`, `statement`): how long each took.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency: BTreeMap<String, Latency>,
    /// Rows a second, second by second: the median, the 1st percentile and the least of the rates, and the seconds in which hardly
    /// anything (less than a tenth of the median) moved. `None` for a phase of less than three seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness: Option<Steadiness>,
}

/// What a phase cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Resources {
    /// CPU time of the workers, in microseconds.
    pub client_cpu_us: u64,
    /// The most memory that one worker had resident, in bytes.
    pub client_peak_bytes: u64,
    /// CPU time of the server's processes, in microseconds.
    #[serde(default)]
    pub server_cpu_us: Option<u64>,
    /// Memory of the server's processes when the phase ended, shared pages divided among those that share them (PSS), in bytes.
    #[serde(default)]
    pub server_memory_bytes: Option<u64>,
    /// Bytes that the workers, and the server's processes, caused to be written to storage (`write_bytes` less what was
    /// cancelled; see proc(5)).
    pub write_bytes: u64,
    /// Bytes that the device took meanwhile, whoever sent them; `None` where it can't be told.
    #[serde(default)]
    pub device_write_bytes: Option<u64>,
}

/// Percentiles, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Latency {
    /// How many were measured.
    pub n: u64,
    /// The median.
    pub p50_us: f64,
    /// 90 %.
    pub p90_us: f64,
    /// 99 %.
    pub p99_us: f64,
    /// 99.9 %.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
    /// The mean.
    pub mean_us: f64,
}

/// See [`PhaseSample::steadiness`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Steadiness {
    /// The median of the seconds' rates.
    pub rate_p50: f64,
    /// Of a hundred seconds, 99 were faster.
    pub rate_p01: f64,
    /// The slowest second.
    pub rate_min: f64,
    /// Seconds below a tenth of the median.
    pub stall_s: u32,
}

/// A comparison with what was generated.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Verified {
    /// Whether everything was equal.
    pub ok: bool,
    /// Rows that were found.
    pub rows: u64,
    /// The sum of the rows' hashes, as 16 hexadecimal digits.
    pub hash: String,
    /// How long it took.
    pub seconds: f64,
    /// What differs, a sentence each.
    #[serde(default)]
    pub differences: Vec<String>,
}

/// What was promised, and what the database said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct DurabilityRead {
    /// `durable`, `process` or `none`.
    pub asked: String,
    /// The settings that decide it.
    #[serde(default)]
    pub read_back: BTreeMap<String, String>,
}

/// A point of a series: where the workers were, so long after the phase began.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Point {
    /// The phase's id.
    pub phase: String,
    /// The worker, from 1.
    pub worker: u32,
    /// Nanoseconds since the phase began.
    pub at_ns: u64,
    /// Rows, or requests, that were acknowledged by then.
    pub done: u64,
}
