//! What was found, as files: `report.json`, `report.md`, `report.html`.

use std::path::{Path, PathBuf};

use inrush::{Error, Result};
use inrush_core::wording::{bytes, counted};
use inrush_findings::report::ratios::{Page, Row};

use super::outcome::{Outcome, Ran};

/// Writes the three files into a folder, which is made.
///
/// # Errors
/// When a file can't be written.
pub fn write(folder: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>> {
    let failed = |path: &Path, error: std::io::Error| {
        Error::target(format!("cannot write {}: {error}", path.display()))
            .advise("--report DIR names another folder")
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let json = serde_json::to_string_pretty(outcome)
        .map_err(|error| Error::target(format!("the report can't be written as JSON: {error}")))?;
    let page = page(outcome);
    let files = [
        ("report.json", json + "\n"),
        ("report.md", page.markdown()),
        ("report.html", page.html()?),
    ];
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
        paths.push(path);
    }
    Ok(paths)
}

fn page(outcome: &Outcome) -> Page {
    let row = |ran: &Ran| Row {
        label: ran.label.clone(),
        group: if ran.is_finalist { "finals" } else { "pairs before" }.to_owned(),
        ratio: ran.ratio,
        low: ran.low,
        high: ran.high,
        pairs: ran.pairs,
        rows_per_second: ran.rows_per_second,
    };
    let default =
        Row { label: format!("{} (the default)", outcome.default.label), ..row(&outcome.default) };
    let rows = std::iter::once(default).chain(outcome.candidates.iter().map(row)).collect();
    let key = &outcome.key;
    let settings: Vec<String> =
        key.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let facts = [
        ("target", outcome.target.clone()),
        ("engine", outcome.engine.clone()),
        ("table", format!("{}: {}", outcome.table, key.shape)),
        ("guarantee", key.guarantee.clone()),
        ("machine", key.machine.clone()),
        ("settings", settings.join(", ")),
        ("sample", format!("{} of {}", bytes(outcome.sample_bytes), bytes(outcome.source_bytes))),
        ("a load of the finals", bytes(outcome.load_bytes)),
        ("time", format!("{:.0} s of {:.0} s", outcome.seconds, outcome.budget_seconds)),
        ("loads", counted(outcome.loads as u64, "load")),
        ("ended by", outcome.stopped_by.to_owned()),
        ("options of load", outcome.winner.recipe.options()),
    ];
    Page {
        title: format!("tune {} into {}", outcome.table, outcome.target),
        version: outcome.version.to_owned(),
        date: outcome.date.clone(),
        verdict: vec![outcome.sentence.clone()],
        facts: facts.map(|(name, value)| (name.to_owned(), value)).into(),
        noise: outcome.noise,
        rows,
        left_out: outcome
            .left_out
            .iter()
            .map(|left| (left.label.clone(), left.reason.clone()))
            .collect(),
    }
}
