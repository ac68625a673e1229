//! What a run writes down of itself, besides its samples.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sample::Latency;
use crate::suite::Cell;
use inrush_core::target::Setting;

/// `manifest.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Manifest {
    /// The version of the format of all files of a run: 1.
    pub format: u32,
    /// The run's id: its start in UTC and six digits of the suite's hash, `20261121T215137Z-3fa9c1`.
    pub run: String,
    /// The suite's id.
    pub suite: String,
    /// Which of its sizes.
    pub profile: String,
    /// xxh3 of the suite as it was resolved, that is of `suite.toml`, as 16 hexadecimal digits.
    pub suite_hash: String,
    /// What the order of the samples came from.
    pub seed: u64,
    /// The version of inrush.
    pub version: String,
    /// How it was called. URLs without what may be secret.
    pub command: Vec<String>,
    /// Servers that the user asked for, by name.
    pub servers: Vec<String>,
    /// UTC, RFC 3339.
    pub started: String,
    /// `None` while it runs, or when it was killed.
    #[serde(default)]
    pub ended: Option<String>,
    /// `complete`, `interrupted`, or `None`.
    #[serde(default)]
    pub exit: Option<String>,
    /// Why no further block was taken: `precise`, `blocks`, `budget`, `interrupted`, `hopeless`.
    #[serde(default)]
    pub stopped_by: Option<String>,
}

/// `plan.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RunPlan {
    /// All cells.
    pub cells: Vec<PlannedCell>,
    /// Rows of each dataset.
    pub rows: BTreeMap<String, u64>,
    /// xxh3 of each dataset's bytes, as 16 hexadecimal digits.
    pub hashes: BTreeMap<String, String>,
}

/// A cell of a matrix.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct PlannedCell {
    /// `c017`: unique in the run, and the same whenever the same suite is planned with the same servers.
    pub id: String,
    /// The experiment's id.
    pub experiment: String,
    /// By axis, `target` among them, and `server` where there is one.
    pub coordinates: BTreeMap<String, String>,
    /// The cell that this one is a second measurement of.
    #[serde(default)]
    pub twice: Option<String>,
    /// Why it can't be measured here.
    #[serde(default)]
    pub unavailable: Option<String>,
}

impl PlannedCell {
    /// Without the experiment: `innodb mariadb-10.11 null=NULL workers=1`.
    pub fn label(&self) -> String {
        self.to_string()
    }

    /// Whether it has these coordinates: any of the values of each axis that is named; of `server` the beginning is enough.
    pub fn is_in(&self, selector: &Cell) -> bool {
        selector.iter().all(|(axis, wanted)| {
            self.get(axis).is_some_and(|value| {
                wanted.values().iter().map(ToString::to_string).any(|wanted| match &**axis {
                    "server" => value.starts_with(&wanted),
                    _ => *value == *wanted,
                })
            })
        })
    }

    /// One coordinate.
    pub fn get(&self, axis: &str) -> Option<&str> {
        self.coordinates.get(axis).map(String::as_str)
    }
}

impl fmt::Display for PlannedCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get("target").unwrap_or("?"))?;
        if let Some(server) = self.get("server") {
            write!(f, " {server}")?;
        }
        for (axis, value) in &self.coordinates {
            if axis != "target" && axis != "server" {
                write!(f, " {axis}={value}")?;
            }
        }
        Ok(())
    }
}

/// `env.json`: the machine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Environment {
    /// xxh3 of what does not change from day to day (processor, memory, disk, kernel, file system), as 16 hexadecimal digits.
    pub id: String,
    /// The processor's name.
    pub cpu: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Further facts, by name: `governor`, `kernel`, `os`, `virtualisation`, `cgroup cpu.max`, `filesystem`, `mount options`, `disk model`,
    /// `disk scheduler`, `disk write cache`, `swap`, `transparent huge pages`, `clock source`. Those that can't be told are absent.
    pub facts: BTreeMap<String, String>,
}

/// `doctor.json`: a look at the machine before the first sample.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Doctor {
    /// Writing 4 KiB and syncing them, on the disk that is measured.
    pub fsync: Latency,
    /// Bytes free there.
    pub free_bytes: u64,
    /// What others take of the processors, 0 to 1.
    pub foreign_cpu: f64,
    /// Of one minute.
    pub load_average: f64,
    /// What a reader has to know, a sentence each.
    pub warnings: Vec<String>,
}

/// `targets.json` holds one for every target and server of the run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct TargetRecord {
    /// The target's name in the suite.
    pub target: String,
    /// The server's name, where there is one.
    pub server: Option<String>,
    /// The engine and its version.
    pub engine: String,
    /// As [`crate::suite::Target`] has it.
    pub transport: String,
    /// `durable`, `process`, `none`.
    pub durability: String,
    /// A query that does nothing, from request to answer.
    pub round_trip: Option<Latency>,
    /// What the suite sets.
    pub set: BTreeMap<String, String>,
    /// All settings.
    pub settings: Vec<Setting>,
    /// Why it can't be measured here.
    pub unavailable: Option<String>,
}
