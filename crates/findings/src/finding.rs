//! What a run's samples add up to: what the report shows, and nothing that it would still have to compute.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::PlannedCell;
use crate::sample::Status;

/// Everything that was found; `findings` in `report.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Findings {
    /// In the suite's order.
    pub experiments: Vec<ExperimentFindings>,
    /// In the suite's order; one for each server where a claim is about servers.
    pub claims: Vec<ClaimFinding>,
    /// In the suite's order; one for each server.
    pub references: Vec<ReferenceFinding>,
    /// Three to six sentences with numbers, the most telling first.
    pub verdict: Vec<String>,
    /// What a reader has to know before believing anything: drift over the blocks, contended samples, tiers that can't be compared.
    pub warnings: Vec<String>,
}

/// One experiment.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ExperimentFindings {
    /// Its id.
    pub id: String,
    /// Its cells, in the plan's order.
    pub cells: Vec<CellFindings>,
    /// How far two measurements of the same cell in the same block lie apart: the median of the larger divided by the smaller, less one; by metric.
    pub noise: BTreeMap<String, f64>,
}

/// One cell.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CellFindings {
    /// The cell.
    pub cell: PlannedCell,
    /// How its samples ended, how often (without warm-ups).
    pub statuses: BTreeMap<Status, u32>,
    /// Why those failed that did, without repetitions.
    pub errors: Vec<String>,
    /// All flags of its samples.
    pub flags: Vec<String>,
    /// `durable`, `process` or `none`: only cells of one tier are ranked together.
    pub durability: String,
    /// By name: see `docs/suites.md`. Of samples that are `ok` only.
    pub metrics: BTreeMap<String, Summary>,
}

/// One metric of one cell.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Summary {
    /// The values in the blocks' order, and the block of each.
    pub values: Vec<f64>,
    /// See `values`.
    pub blocks: Vec<u32>,
    /// Their median.
    pub median: f64,
    /// The interval's ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// What the interval is.
    pub interval: Interval,
    /// Indexes into `values` of those that lie far off (modified Z score above 14.8); they count all the same.
    pub outliers: Vec<usize>,
}

/// What an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Interval {
    /// From the least to the greatest of fewer than six values.
    Range,
    /// Two order statistics that hold the median with a probability of at least 95 %.
    Confidence,
}

/// What became of a claim.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ClaimFinding {
    /// The claim's id.
    pub id: String,
    /// On which server, where it matters.
    pub server: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The number that the claim is about, its interval, and how many pairs it comes from.
    pub measured: Option<Measured>,
    /// What the claim says of it: `at least 8, at most 14`.
    pub claimed: String,
    /// A sentence: what was compared with what, or why it can't be tested.
    pub detail: String,
}

/// A ratio or a knee.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Measured {
    /// The median.
    pub value: f64,
    /// The interval's ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Pairs; for values that were not measured in pairs, how many there are on the side that has fewer.
    pub n: usize,
    /// What the interval is.
    pub interval: Interval,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Verdict {
    /// The number is what the claim says, and so is its interval.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The interval lies outside what the claim says.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// The interval lies across the claim's bound, or the difference is within the noise.
    #[serde(rename = "indistinguishable")]
    Indistinguishable,
    /// A cell is missing, or the suite says why it can't be.
    #[serde(rename = "not testable here")]
    NotTestable,
}

impl Verdict {
    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Indistinguishable => "indistinguishable",
            Verdict::NotTestable => "not testable here",
        }
    }
}

/// Published figures beside ours, each divided by its own baseline.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ReferenceFinding {
    /// The reference's id.
    pub id: String,
    /// On which server, where it matters.
    pub server: Option<String>,
    /// In the suite's order.
    pub pairs: Vec<ReferencePair>,
    /// Spearman's rank correlation of the two, from three cells on.
    pub rank_correlation: Option<f64>,
    /// Pairs of cells that stand in the same order in both, among those that are further apart than our noise.
    pub same_order: Option<(u32, u32)>,
}

/// One published figure and ours.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ReferencePair {
    /// What it is.
    pub label: String,
    /// As published.
    pub published: f64,
    /// Divided by the published baseline.
    pub published_relative: f64,
    /// Our median, if we have one.
    pub ours: Option<f64>,
    /// Divided by our baseline.
    pub ours_relative: Option<f64>,
}

/// Two runs, cell by cell.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Comparison {
    /// Why absolute figures of the two can't be compared; empty when they can.
    pub differences: Vec<String>,
    /// Cells that both have, sorted by effect.
    pub cells: Vec<ComparedCell>,
    /// Cells that A has figures of, and that failed in B as they did not in A: experiment, label and how they ended.
    pub failed_in_b: Vec<String>,
    /// Cells of which only one has figures: experiment and label.
    pub only_in_a: Vec<String>,
    /// See `only_in_a`.
    pub only_in_b: Vec<String>,
}

/// One cell of two runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ComparedCell {
    /// The experiment's id.
    pub experiment: String,
    /// The cell, as people read it.
    pub label: String,
    /// The experiment's metric.
    pub metric: String,
    /// Medians.
    pub a: f64,
    /// See `a`.
    pub b: f64,
    /// How much faster B is than A (above 1: faster), whatever the metric.
    pub speed: Measured,
    /// In words.
    pub verdict: Compared,
    /// Why it could not be more than indistinguishable, whatever the interval.
    pub untold: Option<String>,
}

/// How B stands to A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compared {
    /// The whole interval lies above 1, by more than the noise.
    Faster,
    /// Below.
    Slower,
    /// Neither.
    Indistinguishable,
}
