//! A run as people and programs read it: `report.json`, `report.md`, `report.html`.
//!
//! `cells` and `matrix` put an experiment's cells into an order, `figures` draws them, `html` and `markdown` write. What a run means was
//! found before ([`crate::finding`]); here are only medians of what findings don't hold, such as the phases' times.

mod cells;
mod facts;
mod figures;
mod html;
mod markdown;
mod matrix;
mod metric;
mod number;
pub mod ratios;
mod targets;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::analysis::analyse;
use crate::finding::Findings;
use crate::record::{Doctor, Environment, Manifest, RunPlan, TargetRecord};
use crate::sample::{Point, Sample};
use crate::store::Run;
use crate::suite::Suite;
use inrush_core::{Error, Result};

pub use number::significant;

/// The version of `report.json`.
const VERSION: u32 = 1;

/// Everything that is known of a run.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The suite, as it was resolved.
    pub suite: &'a Suite,
    /// The run.
    pub manifest: &'a Manifest,
    /// Its cells.
    pub plan: &'a RunPlan,
    /// The machine.
    pub environment: &'a Environment,
    /// The machine before the first sample.
    pub doctor: &'a Doctor,
    /// The databases.
    pub targets: &'a [TargetRecord],
    /// What was measured, in any order.
    pub samples: &'a [Sample],
    /// Series, by the sample's id.
    pub series: &'a BTreeMap<String, Vec<Point>>,
    /// What it means.
    pub findings: &'a Findings,
}

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    manifest: &'a Manifest,
    suite: &'a Suite,
    plan: &'a RunPlan,
    environment: &'a Environment,
    doctor: &'a Doctor,
    targets: &'a [TargetRecord],
    findings: &'a Findings,
}

/// Makes the report of a stored run anew: its samples are analysed, and the files written into its folder.
///
/// # Errors
/// When a series is damaged; when a file can't be written.
pub fn write_stored(run: &Run) -> Result<Vec<PathBuf>> {
    let mut series = BTreeMap::new();
    for sample in &run.samples {
        series.insert(sample.sample.clone(), run.series(&sample.sample)?);
    }
    let input = Input {
        suite: &run.suite,
        manifest: &run.manifest,
        plan: &run.plan,
        environment: &run.env,
        doctor: &run.doctor,
        targets: &run.targets,
        samples: &run.samples,
        series: &series,
        findings: &analyse(&run.suite, &run.plan, &run.samples),
    };
    write(&run.path, &input)
}

/// Writes the three files into the run's folder, over the existing ones: JSON, Markdown, HTML.
///
/// # Errors
/// When a file can't be written.
pub fn write(folder: &Path, run: &Input<'_>) -> Result<Vec<PathBuf>> {
    let files = [
        ("report.json", json(run)?),
        ("report.md", markdown::markdown(run)),
        ("report.html", html::html(run)?),
    ];
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text)
            .map_err(|error| Error::target(format!("can't write {}: {error}", path.display())))?;
        paths.push(path);
    }
    Ok(paths)
}

fn json(run: &Input<'_>) -> Result<String> {
    let report = Report {
        version: VERSION,
        manifest: run.manifest,
        suite: run.suite,
        plan: run.plan,
        environment: run.environment,
        doctor: run.doctor,
        targets: run.targets,
        findings: run.findings,
    };
    serde_json::to_string_pretty(&report)
        .map(|text| text + "\n")
        .map_err(|error| Error::target(format!("the report can't be written as JSON: {error}")))
}
