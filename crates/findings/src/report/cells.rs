//! An experiment's cells as the report shows them: in which order, under which names, with what became of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{CellFindings, ExperimentFindings, Summary};
use crate::record::PlannedCell;
use crate::sample::{Sample, Status};
use crate::suite::Experiment;

use super::Input;
use super::metric::Metric;

/// The tiers, the strongest first.
pub(super) const TIERS: [&str; 3] = ["durable", "process", "none"];

/// What a tier promises.
pub(super) fn promise(tier: &str) -> &str {
    match tier {
        "durable" => "durable: survives power loss",
        "process" => "process: survives a crash of the database's process",
        "none" => "none: promises nothing before the last flush",
        other => other,
    }
}

/// A status in one word.
pub(super) fn word(status: Status) -> &'static str {
    match status {
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

/// One experiment of the run.
pub(super) struct Cells<'a> {
    /// What the suite says; `None` when the findings are of another suite.
    pub(super) experiment: Option<&'a Experiment>,
    /// What was found.
    pub(super) findings: &'a ExperimentFindings,
    /// The metric that comes first.
    pub(super) metric: Metric<'a>,
    /// Axes on which the cells differ, in the order in which they are shown.
    pub(super) varying: Vec<&'a str>,
    /// Coordinates that all cells share.
    pub(super) constant: Vec<(&'a str, &'a str)>,
    samples: BTreeMap<&'a str, Vec<&'a Sample>>,
}

impl<'a> Cells<'a> {
    /// All experiments that have cells, in the suite's order.
    pub(super) fn of_run(run: &Input<'a>) -> Vec<Self> {
        run.findings
            .experiments
            .iter()
            .filter(|findings| !findings.cells.is_empty())
            .map(|findings| Self::of(run, findings))
            .collect()
    }

    fn of(run: &Input<'a>, findings: &'a ExperimentFindings) -> Self {
        let experiment = run.suite.experiment.iter().find(|one| one.id == findings.id);
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for cell in &findings.cells {
            for (axis, value) in &cell.cell.coordinates {
                values.entry(axis).or_default().insert(value);
                *seen.entry(axis).or_default() += 1;
            }
        }
        let mut axes: Vec<&str> = values.keys().copied().collect();
        axes.sort_by_key(|axis| axis_rank(axis));
        // An axis that only some cells have tells them apart as well.
        let varies = |axis: &&str| values[axis].len() > 1 || seen[axis] < findings.cells.len();
        let (mut varying, constant): (Vec<&str>, Vec<&str>) = axes.into_iter().partition(varies);
        if varying.is_empty() {
            varying.push("target");
        }
        let constant = constant
            .into_iter()
            .filter(|axis| !varying.contains(axis))
            .filter_map(|axis| Some((axis, *values[axis].first()?)))
            .collect();
        let mut samples: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
        for sample in run.samples.iter().filter(|one| one.status == Status::Ok && !one.warmup) {
            samples.entry(&sample.cell).or_default().push(sample);
        }
        let metric = experiment
            .map(|one| one.metric.as_str())
            .or_else(|| {
                findings
                    .cells
                    .iter()
                    .find_map(|cell| cell.metrics.keys().next().map(String::as_str))
            })
            .unwrap_or_default();
        Self { experiment, findings, metric: Metric::of(metric), varying, constant, samples }
    }

    /// The experiment's id.
    pub(super) fn id(&self) -> &'a str {
        &self.findings.id
    }

    /// The cells without second measurements, which say something of the noise and nothing new of the cell.
    pub(super) fn first(&self) -> impl Iterator<Item = &'a CellFindings> + use<'a> {
        self.findings.cells.iter().filter(|cell| cell.cell.twice.is_none())
    }

    /// Tiers that the cells have, the strongest first.
    pub(super) fn tiers(&self) -> Vec<&'a str> {
        let mut tiers: Vec<&str> = Vec::new();
        for cell in self.first() {
            if !tiers.contains(&cell.durability.as_str()) {
                tiers.push(&cell.durability);
            }
        }
        tiers.sort_by_key(|tier| TIERS.iter().position(|one| one == tier).unwrap_or(TIERS.len()));
        tiers
    }

    /// Cells that were measured, with their figures of a metric: the strongest tier first, in each the best first.
    pub(super) fn ranked(&self, metric: Metric<'_>) -> Vec<(&'a CellFindings, &'a Summary)> {
        let mut ranked = Vec::new();
        for tier in self.tiers() {
            let mut cells: Vec<(&CellFindings, &Summary)> = self
                .first()
                .filter(|cell| cell.durability == tier)
                .filter_map(|cell| Some((cell, cell.metrics.get(metric.name)?)))
                .collect();
            cells.sort_by(|(_, a), (_, b)| {
                let order = a.median.total_cmp(&b.median);
                if metric.more_is_better() { order.reverse() } else { order }
            });
            ranked.extend(cells);
        }
        ranked
    }

    /// A cell's samples that count.
    pub(super) fn samples(&self, cell: &str) -> &[&'a Sample] {
        self.samples.get(cell).map_or(&[], Vec::as_slice)
    }

    /// What tells a cell from the others, on some axes.
    pub(super) fn label_on(&self, cell: &PlannedCell, axes: &[&str]) -> String {
        let words: Vec<String> = axes
            .iter()
            .filter_map(|axis| {
                let value = cell.get(axis)?;
                Some(if is_name(axis) { value.to_owned() } else { format!("{axis}={value}") })
            })
            .collect();
        words.join(" \u{b7} ")
    }

    /// What tells a cell from the others.
    pub(super) fn label(&self, cell: &PlannedCell) -> String {
        self.label_on(cell, &self.varying)
    }

    /// Metrics that get a matrix of their own besides the first one: one for every other phase whose time or size is a result.
    pub(super) fn further_metrics(&self) -> Vec<&'a str> {
        let Some(experiment) = self.experiment else { return Vec::new() };
        let names: BTreeSet<&str> =
            self.first().flat_map(|cell| cell.metrics.keys()).map(String::as_str).collect();
        let mut further = Vec::new();
        for phase in experiment.phase.iter().filter(|phase| phase.id != self.metric.phase) {
            let quantities: &[&str] = match (phase.timed, &phase.size) {
                (_, Some(_)) => &["bytes"],
                (true, None) => &["rows_per_s", "requests_per_s", "seconds"],
                (false, None) => continue,
            };
            let found = quantities.iter().find_map(|quantity| {
                names.get(format!("{}.{quantity}", phase.id).as_str()).copied()
            });
            further.extend(found);
        }
        further
    }
}

/// Targets and servers name themselves; a value of another axis says little without the axis.
fn is_name(axis: &str) -> bool {
    axis == "target" || axis == "server"
}

/// `target`, `server`, what the suite adds, `workers`.
fn axis_rank(axis: &str) -> u8 {
    match axis {
        "target" => 0,
        "server" => 1,
        "workers" => 3,
        _ => 2,
    }
}

/// What became of a cell, in a few words, when there is no figure or not all of its samples went well; `None` when all is well.
pub(super) fn trouble(cell: &CellFindings) -> Option<String> {
    if cell.cell.unavailable.is_some() && cell.statuses.is_empty() {
        return Some("unavailable".to_owned());
    }
    let all: u32 = cell.statuses.values().sum();
    let failed: Vec<String> = cell
        .statuses
        .iter()
        .filter(|(status, _)| **status != Status::Ok)
        .map(|(status, times)| match (*times, all) {
            (times, all) if times == all => word(*status).to_owned(),
            (times, all) => format!("{} {times} of {all}", word(*status)),
        })
        .collect();
    match (failed.is_empty(), all) {
        (true, 0) => Some("not measured".to_owned()),
        (true, _) => None,
        (false, _) => Some(failed.join(", ")),
    }
}

/// Why a cell has no figure, in its own words.
pub(super) fn reason(cell: &CellFindings) -> String {
    let mut reasons: Vec<&str> = cell.errors.iter().map(String::as_str).collect();
    if let Some(unavailable) = &cell.cell.unavailable
        && !reasons.contains(&unavailable.as_str())
    {
        reasons.push(unavailable);
    }
    reasons.join("; ")
}
