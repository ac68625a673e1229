//! The page: a template, a style sheet, a script, plotly.js, and everything that it shows, in one file that asks no network for anything.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

use crate::finding::CellFindings;
use crate::record::Manifest;
use crate::suite::Suite;
use inrush_core::{Error, Result};

use super::cells::{Cells, promise, reason, trouble};
use super::facts::Fact;
use super::figures::{self, Figure};
use super::matrix::{self, Panel};
use super::metric::Metric;
use super::number::significant;
use super::{Input, facts, targets};

const TEMPLATE: &str = include_str!("assets/report.html.j2");
pub(super) const STYLE: &str = include_str!("assets/style.css");
pub(super) const SCRIPT: &str = include_str!("assets/report.js");

/// What the template is given.
#[derive(Serialize)]
struct Page<'a> {
    style: Value,
    script: Value,
    plotly: Value,
    figures: Value,
    manifest: &'a Manifest,
    suite: &'a Suite,
    verdict: &'a [String],
    warnings: Vec<String>,
    noise: Vec<Fact>,
    summary: Vec<Fact>,
    doctor: Vec<Fact>,
    environment: Vec<Fact>,
    targets: Vec<targets::Target>,
    experiments: &'a [Experiment],
    references: &'a [facts::Reference],
    claims: Vec<facts::Claim>,
    procedure: Vec<Fact>,
    order: Vec<facts::Taken>,
    statements: Vec<facts::Statements>,
    datasets: Vec<(String, String, String)>,
}

/// One experiment on the page.
#[derive(Serialize)]
struct Experiment {
    id: String,
    title: String,
    question: String,
    /// What all cells share: `server mariadb-10.11`.
    constant: Vec<(String, String)>,
    noise: String,
    matrices: Vec<Matrix>,
    figures: Vec<Figure>,
    cells: Vec<CellRow>,
    requests: Vec<facts::Requests>,
}

/// One metric of it.
#[derive(Serialize)]
struct Matrix {
    panels: Vec<Panel>,
}

/// One cell with all that is known of it.
#[derive(Serialize)]
struct CellRow {
    id: String,
    label: String,
    tier: String,
    twice: Option<String>,
    trouble: String,
    reason: String,
    flags: String,
    metrics: Vec<MetricRow>,
}

/// One of its metrics.
#[derive(Serialize)]
struct MetricRow {
    name: String,
    median: f64,
    shown: String,
    low: String,
    high: String,
    kind: &'static str,
    n: usize,
    outliers: usize,
}

/// The whole page.
pub(super) fn html(run: &Input<'_>) -> Result<String> {
    let experiments: Vec<Experiment> =
        Cells::of_run(run).iter().map(|cells| experiment(run, cells)).collect();
    let references = facts::references(run);
    let figures = experiments
        .iter()
        .flat_map(|one| &one.figures)
        .chain(references.iter().filter_map(|one| one.figure.as_ref()));
    // In a script element nothing but `</script` and `<!--` means anything: neither is left without `<`.
    let figures: BTreeMap<&str, &Figure> = figures.map(|one| (one.id.as_str(), one)).collect();
    let figures = serde_json::to_string(&figures).map_err(failed)?.replace('<', "\\u003c");

    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("sentence", sentence);
    environment.add_template("report", TEMPLATE).map_err(failed)?;
    let page = Page {
        style: safe(STYLE),
        script: safe(SCRIPT),
        plotly: Value::from_safe_string(plotly_js()?),
        figures: safe(&figures),
        manifest: run.manifest,
        suite: run.suite,
        verdict: &run.findings.verdict,
        warnings: facts::warnings(run),
        noise: facts::noise(run),
        summary: facts::summary(run),
        doctor: facts::doctor(run.doctor),
        environment: facts::environment(run.environment),
        targets: targets::targets(run.targets),
        experiments: &experiments,
        references: &references,
        claims: facts::claims(run),
        procedure: facts::procedure(run),
        order: facts::order(run),
        statements: facts::statements(run),
        datasets: facts::datasets(run),
    };
    let template = environment.get_template("report").map_err(failed)?;
    template.render(Serde(&page)).map_err(failed)
}

pub(super) fn safe(text: &str) -> Value {
    Value::from_safe_string(text.to_owned())
}

/// A sentence of ours: what stands in backticks is code, and nothing else is markup.
fn sentence(words: String) -> Value {
    let mut out = String::new();
    let parts: Vec<&str> = words.split('`').collect();
    let paired = parts.len() % 2 == 1;
    for (index, part) in parts.iter().enumerate() {
        let escaped = part
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;");
        match (paired, index % 2) {
            (true, 1) => out += &format!("<code>{escaped}</code>"),
            (false, _) if index > 0 => out += &format!("`{escaped}"),
            _ => out += &escaped,
        }
    }
    Value::from_safe_string(out)
}

pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Error::target(format!("the report's page can't be made: {error}"))
}

/// The script itself, compressed by `build.rs`.
pub(super) fn plotly_js() -> Result<String> {
    const GZIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plotly.js.gz"));
    let mut script = String::new();
    GzDecoder::new(GZIP).read_to_string(&mut script).map_err(failed)?;
    Ok(script)
}

fn experiment(run: &Input<'_>, cells: &Cells<'_>) -> Experiment {
    let matrices = std::iter::once(cells.metric.name)
        .chain(cells.further_metrics())
        .map(|name| Matrix { panels: matrix::panels(cells, Metric::of(name)) })
        .collect();
    Experiment {
        id: cells.id().to_owned(),
        title: cells.experiment.map_or(cells.id(), |one| &one.title).to_owned(),
        question: cells.experiment.map(|one| one.question.clone()).unwrap_or_default(),
        constant: cells
            .constant
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
            .collect(),
        noise: facts::noise_of(cells),
        matrices,
        figures: figures::of_experiment(run, cells),
        cells: cells.findings.cells.iter().map(|cell| cell_row(cells, cell)).collect(),
        requests: facts::requests(cells),
    }
}

fn cell_row(cells: &Cells<'_>, cell: &CellFindings) -> CellRow {
    let metrics = cell.metrics.iter().map(|(name, summary)| MetricRow {
        name: name.clone(),
        median: summary.median,
        shown: significant(summary.median),
        low: significant(summary.low),
        high: significant(summary.high),
        kind: matrix::kind(summary.interval),
        n: summary.values.len(),
        outliers: summary.outliers.len(),
    });
    CellRow {
        id: cell.cell.id.clone(),
        label: cells.label(&cell.cell),
        tier: promise(&cell.durability).to_owned(),
        twice: cell.cell.twice.clone(),
        trouble: trouble(cell).unwrap_or_default(),
        reason: reason(cell),
        flags: cell.flags.join(", "),
        metrics: metrics.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_are_code_and_tags_are_words() {
        let shown = |words: &str| sentence(words.to_owned()).to_string();
        assert_eq!(shown("`a<b>` & c"), "<code>a&lt;b&gt;</code> &amp; c");
        assert_eq!(shown("one ` only <i>"), "one ` only &lt;i&gt;");
    }

    #[test]
    fn plotly_is_one_script_and_comes_without_mathjax() {
        let script = plotly_js().unwrap();
        assert!(script.contains("plotly.js v"));
        assert!(!script.contains("<script") && !script.to_lowercase().contains("</script"));
        assert!(script.len() < 5_000_000, "{} bytes", script.len());
    }
}
