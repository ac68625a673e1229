//! `inrush bench`: what it measures is what happened, and what it says is right is right.

/// Lists, plans, mistakes, exit codes.
mod commands;
/// DuckDB, whose library may be missing.
mod duckdb;
/// Runs that are killed or stopped, and go on.
mod kills;
/// Suites that claim what is not so.
mod lies;
/// Programs that have rows.
mod programs;
/// Servers of its own, and the user's.
mod servers;
/// Times, workers, order.
mod timing;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::fixture::{Fixture, Outcome, find_servers, finish, start};

/// SQLite as a target of a suite.
const SQLITE: &str = r#"
[target.sqlite]
family = "sqlite"
about = "SQLite"
durability = "durable"
"#;

/// A suite of one experiment, with a profile `quick` that takes one block.
fn suite(targets: &str, experiment: &str) -> String {
    format!(
        r#"
format = 1
id = "own"
title = "A suite of a test's"
about = "For tests."

[profile.quick]
blocks_min = 1
blocks_max = 1
budget_s = 600
sample_s = 60
foreign_cpu_max = 1

[dataset.pairs]
kind = "pairs"
rows = 500
seed = 1

{targets}

[[experiment]]
id = "one"
title = "One"
{experiment}
"#
    )
}

/// Runs the suite in `suite.toml` with databases in the fixture's own folder.
fn bench(fixture: &Fixture, options: &[&str]) -> Outcome {
    let place = fixture.path("place");
    std::fs::create_dir_all(&place).unwrap();
    let place = place.to_str().unwrap().to_owned();
    let mut command =
        fixture.command(&[&["bench", "suite.toml", "--place", &place], options].concat());
    find_servers(&mut command);
    Outcome::of("inrush bench".to_owned(), finish(start(&mut command), b""))
}

/// The one run there is.
fn run_folder(fixture: &Fixture) -> PathBuf {
    let runs: Vec<PathBuf> = std::fs::read_dir(fixture.path("results"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("manifest.json").is_file())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

/// All samples of the one run there is. Those that are ok say how they were verified, and no other does.
fn samples(fixture: &Fixture) -> Vec<Json> {
    let text = std::fs::read_to_string(run_folder(fixture).join("samples.jsonl")).unwrap();
    let samples: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for sample in samples.iter().filter(|sample| sample["status"] != "contended") {
        assert_eq!(sample["status"] == "ok", sample["verified"].is_string(), "{sample:#}");
    }
    samples
}

/// Status and error of each cell's sample, by the cell's label.
fn statuses(fixture: &Fixture) -> BTreeMap<String, (String, String)> {
    let plan = std::fs::read_to_string(run_folder(fixture).join("plan.json")).unwrap();
    let plan: Json = serde_json::from_str(&plan).unwrap();
    let label = |id: &Json| {
        let cells = plan["cells"].as_array().unwrap();
        let cell = cells.iter().find(|cell| cell["id"] == *id).unwrap();
        let mut label = cell["coordinates"]["target"].as_str().unwrap().to_owned();
        for (axis, value) in cell["coordinates"].as_object().unwrap() {
            if axis != "target" {
                label.push_str(&format!(" {axis}={}", value.as_str().unwrap()));
            }
        }
        if cell["twice"].is_string() {
            label.push_str(" again");
        }
        label
    };
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    samples(fixture)
        .iter()
        .map(|sample| (label(&sample["cell"]), (text(&sample["status"]), text(&sample["error"]))))
        .collect()
}

/// The figures of a phase, if the sample came to it.
fn phase_or_none<'a>(sample: &'a Json, id: &str) -> Option<&'a Json> {
    sample["phases"].as_array().unwrap().iter().find(|phase| phase["id"] == id)
}

/// The figures of a phase.
fn phase<'a>(sample: &'a Json, id: &str) -> &'a Json {
    phase_or_none(sample, id).unwrap_or_else(|| panic!("no {id}: {sample:#}"))
}
