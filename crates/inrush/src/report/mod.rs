//! Everything measured after the last byte has moved.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::plan::{Plan, Verify};
use inrush_core::flow::Stage;
use inrush_core::ledger::{Entry, Rows};
use inrush_source::Input;

/// What a load did. Serializes to the report of `--json`, whose keys are stable.
#[derive(Serialize)]
pub struct Report {
    /// The version of inrush.
    pub version: &'static str,
    /// What was decided; after a restart, what was decided then.
    pub plan: Plan,
    /// Records read: loaded, rejected and skipped ones.
    pub rows_read: u64,
    /// Rows the target holds now because of this load.
    pub rows_loaded: u64,
    /// Bad rows rejected.
    pub rows_rejected: u64,
    /// Rows left out because their key was a duplicate (`--on-conflict skip`).
    pub rows_skipped: u64,
    /// Rows that the table is longer by: the loaded ones except for those that took an older row's place. `None` where the target
    /// can't tell: the rows were not counted (`--verify none`), or lie behind a view.
    pub rows_inserted: Option<u64>,
    /// Loaded rows that changed or replaced a row with their key (`--on-conflict update` or `replace`), whether or not a value was
    /// another afterwards.
    pub rows_updated: Option<u64>,
    /// The same for each input, in the order in which they were loaded.
    pub inputs: Vec<InputReport>,
    /// Bytes of text read, decompressed and decoded.
    pub bytes_read: u64,
    /// Where the time went.
    pub seconds: Seconds,
    /// Loaded rows over all seconds.
    pub rows_per_second: f64,
    /// Bytes read over all seconds, in 10^6 bytes.
    pub mb_per_second: f64,
    /// What each stage of the pipeline waited for.
    pub stages: Vec<Stage>,
    /// How the rows were verified.
    pub verify: Verification,
    /// The engine's settings that decide what the load survives, as the engine told them before the commit.
    pub durability_read_back: BTreeMap<String, String>,
    /// The files that hold bad rows.
    #[serde(serialize_with = "inrush_core::path::serialize_all")]
    pub rejects: Vec<PathBuf>,
    /// The steps of a load that was committed in steps (`--guarantee chunks`, or a writer's); `None` of one that was all or nothing. Rows
    /// are those of all steps, seconds and bytes those of this run.
    pub steps: Option<StepsReport>,
    /// What a user should know although the load went well.
    pub warnings: Vec<String>,
}

/// The steps of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepsReport {
    /// How many were committed.
    pub committed: u64,
    /// Rows read by the steps of earlier runs, behind which this one went on.
    pub rows_read_before: u64,
    /// Rows that these had loaded.
    pub rows_loaded_before: u64,
    /// Whether the load had reached its end before, so that nothing was done.
    pub was_finished: bool,
}

impl StepsReport {
    /// Of a load whose earlier runs have brought the rows `before`.
    pub(crate) fn of(entry: &Entry, before: Rows) -> Self {
        Self {
            committed: entry.steps,
            rows_read_before: before.read,
            rows_loaded_before: before.loaded,
            was_finished: false,
        }
    }
}

impl Report {
    /// Adds the next step of a writer: what there was of rows and seconds is summed up, each warning is there once, and all else is the
    /// last step's, such as the files of bad rows, which are those of all steps.
    pub(crate) fn add(&mut self, other: Report) {
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        let (before, after) = (self.seconds, other.seconds);
        let mut inputs = std::mem::take(&mut self.inputs);
        for (own, more) in inputs.iter_mut().zip(&other.inputs) {
            own.rows_read += more.rows_read;
            own.rows_loaded += more.rows_loaded;
            own.rows_rejected += more.rows_rejected;
            own.rows_skipped += more.rows_skipped;
        }
        let mut warnings = std::mem::take(&mut self.warnings);
        for warning in &other.warnings {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        let seconds = Seconds {
            total: before.total + after.total,
            load: before.load + after.load,
            index: before.index + after.index,
            durable: before.durable + after.durable,
            verify: before.verify + after.verify,
        };
        let rows_loaded = self.rows_loaded + other.rows_loaded;
        let bytes_read = self.bytes_read + other.bytes_read;
        *self = Report {
            rows_read: self.rows_read + other.rows_read,
            rows_loaded,
            rows_rejected: self.rows_rejected + other.rows_rejected,
            rows_skipped: self.rows_skipped + other.rows_skipped,
            rows_inserted: sum(self.rows_inserted, other.rows_inserted),
            rows_updated: sum(self.rows_updated, other.rows_updated),
            inputs,
            bytes_read,
            seconds,
            rows_per_second: rows_loaded as f64 / seconds.total,
            mb_per_second: bytes_read as f64 / 1e6 / seconds.total,
            warnings,
            ..other
        };
    }
}

/// What one input brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputReport {
    /// Its name.
    pub file: String,
    /// Its size as it is stored, compressed perhaps; `None` for a pipe.
    pub bytes: Option<u64>,
    /// Records read: loaded, rejected and skipped ones.
    pub rows_read: u64,
    /// Rows the target holds now because of it.
    pub rows_loaded: u64,
    /// Bad rows.
    pub rows_rejected: u64,
    /// Rows left out because of a duplicate key (`--on-conflict skip`).
    pub rows_skipped: u64,
}

impl InputReport {
    /// Before its first row.
    pub(crate) fn of(input: &Input) -> Self {
        Self {
            file: input.name.clone(),
            bytes: input.bytes_stored,
            rows_read: 0,
            rows_loaded: 0,
            rows_rejected: 0,
            rows_skipped: 0,
        }
    }
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// From the first byte to the report; a restart counts.
    pub total: f64,
    /// Until the target had acknowledged the last row.
    pub load: f64,
    /// Building keys and indexes after the rows.
    pub index: f64,
    /// Making everything last.
    pub durable: f64,
    /// Comparing the table with what was sent.
    pub verify: f64,
}

/// How the rows were verified.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// What was compared.
    pub method: Verify,
    /// Whether it was equal; false only when nothing was compared.
    pub ok: bool,
}
