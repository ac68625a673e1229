//! Suites, plans and samples that no database had a part in, for tests.

use std::collections::BTreeMap;
use std::path::Path;

use crate::record::{Doctor, Environment, Manifest, PlannedCell, RunPlan};
use crate::sample::{DurabilityRead, Latency, PhaseSample, Resources, Sample, Status, Verified};
use crate::store::RunFolder;
use crate::suite::Suite;

/// What every suite here begins with: two databases in files, one with a server.
const HEAD: &str = r#"
format = 1
id = "fixture"
title = "A fixture"
about = "For tests."
[profile.quick]
blocks_min = 3
blocks_max = 9
budget_s = 60
[dataset.pairs]
kind = "pairs"
rows = 1000
seed = 7
[target.fast]
family = "sqlite"
about = "a file"
[target.slow]
family = "sqlite"
about = "another"
[target.served]
family = "mysql"
about = "a server"
[target.served.server]
"#;

/// A suite with one experiment, `load`, whose phase is `insert`, of these targets and axes (a TOML table), and what follows.
pub(crate) fn suite(targets: &[&str], axes: &str, rest: &str) -> Suite {
    let text = format!(
        r#"{HEAD}
[[experiment]]
id = "load"
title = "Load"
targets = {targets:?}
metric = "insert.rows_per_s"
axes = {axes}
[[experiment.phase]]
id = "insert"
load = {{ dataset = "pairs" }}
{rest}"#
    );
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// What is planned and measured, cell by cell.
#[derive(Clone, Default)]
pub(crate) struct Measured {
    pub(crate) plan: RunPlan,
    pub(crate) samples: Vec<Sample>,
}

impl Measured {
    pub(crate) fn new() -> Self {
        Self {
            plan: RunPlan {
                cells: Vec::new(),
                rows: BTreeMap::from([("pairs".to_owned(), 1000)]),
                hashes: BTreeMap::from([("pairs".to_owned(), "00000000000000aa".to_owned())]),
            },
            samples: Vec::new(),
        }
    }

    /// A cell of the experiment `load` with these coordinates (`target=fast n=10`), without samples.
    pub(crate) fn cell(mut self, coordinates: &str) -> Self {
        let id = format!("c{:03}", self.plan.cells.len());
        let coordinates = coordinates.split(' ').filter_map(|word| word.split_once('='));
        self.plan.cells.push(PlannedCell {
            id,
            experiment: "load".to_owned(),
            coordinates: coordinates.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            twice: None,
            unavailable: None,
        });
        self
    }

    /// A cell, and a sample for each of these rates, in thousands of rows a second, block by block.
    pub(crate) fn rates(mut self, coordinates: &str, rates: &[f64]) -> Self {
        self = self.cell(coordinates);
        for (rate, block) in rates.iter().zip(0..) {
            self = self.sample(block, *rate);
        }
        self
    }

    /// The last cell was a second measurement of that one.
    pub(crate) fn twice(mut self, id: &str) -> Self {
        self.last_cell().twice = Some(id.to_owned());
        self
    }

    /// With a second measurement of the first cell that is as the first, where no cell has one: so nothing is noise.
    pub(crate) fn with_twin(mut self) -> Self {
        if self.plan.cells.is_empty() || self.plan.cells.iter().any(|cell| cell.twice.is_some()) {
            return self;
        }
        let first = self.plan.cells[0].clone();
        let id = format!("c{:03}", self.plan.cells.len());
        let of_first = |sample: &&Sample| sample.cell == first.id;
        let again = self.samples.iter().filter(of_first).map(|sample| Sample {
            sample: format!("b{:02}.{id}", sample.block),
            cell: id.clone(),
            ..sample.clone()
        });
        self.samples.extend(again.collect::<Vec<_>>());
        self.plan.cells.push(PlannedCell { id, twice: Some(first.id.clone()), ..first });
        self
    }

    /// A sample of the last cell: 1000 rows at so many thousand rows a second.
    pub(crate) fn sample(mut self, block: u32, rate: f64) -> Self {
        let cell = self.last_cell().id.clone();
        let order = u32::try_from(self.samples.len()).unwrap();
        self.samples.push(sample(&cell, block, order, rate));
        self
    }

    /// The last sample ended so.
    pub(crate) fn status(mut self, status: Status, error: &str) -> Self {
        let last = self.last_sample();
        last.status = status;
        last.error = Some(error.to_owned()).filter(|error| !error.is_empty());
        self
    }

    pub(crate) fn last_cell(&mut self) -> &mut PlannedCell {
        self.plan.cells.last_mut().unwrap()
    }

    pub(crate) fn last_sample(&mut self) -> &mut Sample {
        self.samples.last_mut().unwrap()
    }

    /// Writes all of it into a new folder.
    pub(crate) fn store(&self, parent: &Path, suite: &Suite) -> RunFolder {
        let env = Environment { id: "00000000000000ee".to_owned(), ..Environment::default() };
        let manifest = Manifest { profile: "quick".to_owned(), seed: 1, ..Manifest::default() };
        let mut folder =
            RunFolder::create(parent, manifest, suite, &self.plan, &env, &Doctor::default())
                .unwrap();
        for sample in &self.samples {
            folder.append(sample).unwrap();
        }
        folder
    }
}

fn sample(cell: &str, block: u32, order: u32, rate: f64) -> Sample {
    // 1000 rows at 1000 rows a second take a second.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let ack_ns = (1e9 / rate) as u64;
    let us = 1e3 / rate;
    Sample {
        v: 1,
        sample: format!("b{block:02}.{cell}"),
        cell: cell.to_owned(),
        block,
        order,
        warmup: false,
        status: Status::Ok,
        verified: Some("values".to_owned()),
        flags: Vec::new(),
        error: None,
        started: "2026-11-21T21:51:37Z".to_owned(),
        seconds: 2.0 / rate,
        phases: vec![
            PhaseSample {
                id: "insert".to_owned(),
                timed: true,
                ack_ns,
                durable_ns: ack_ns * 2,
                rows: 1000,
                user_bytes: 8_000,
                resources: Resources {
                    client_cpu_us: 500,
                    client_peak_bytes: 3_000_000,
                    server_cpu_us: None,
                    server_memory_bytes: None,
                    write_bytes: 16_000,
                    device_write_bytes: None,
                },
                latency: BTreeMap::from([(
                    "statement".to_owned(),
                    Latency {
                        n: 1000,
                        p50_us: us,
                        p90_us: us,
                        p99_us: us * 2.0,
                        p999_us: us * 3.0,
                        max_us: us * 4.0,
                        mean_us: us,
                    },
                )]),
                ..PhaseSample::default()
            },
            PhaseSample { id: "size".to_owned(), bytes: Some(4096), ..PhaseSample::default() },
        ],
        verify: Some(Verified { ok: true, rows: 1000, ..Verified::default() }),
        durability: DurabilityRead {
            asked: "durable".to_owned(),
            read_back: BTreeMap::from([("synchronous".to_owned(), "2".to_owned())]),
        },
        load_before: 0.1,
        foreign_cpu: 0.0,
        sql: vec!["INSERT INTO pairs VALUES (1, 2)".to_owned()],
    }
}
