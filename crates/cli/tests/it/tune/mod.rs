//! `inrush tune`: what it keeps, what goes by it, and that it leaves everything as it is.

mod duckdb;
mod servers;
mod sqlite;

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::fixture::{Fixture, thorough};

/// How long a test measures: longer only where the machine was too busy for a verdict.
const BUDGETS: [&str; 5] = ["1s", "2s", "5s", "20s", "60s"];

/// So many rows that a sample has more than nine chunks of SQLite or a server. Wide ones: a program without optimisation takes its time
/// for each.
const ROWS: u64 = 1_500;

fn orders(fixture: &Fixture) {
    some_orders(fixture, ROWS);
}

fn some_orders(fixture: &Fixture, rows: u64) {
    let mut text = String::from("id,amount,customer\n");
    for row in 0..rows {
        let _ = writeln!(
            text,
            "{row},{}.{:02},customer {} of a place{:6000}",
            row % 997,
            row % 89,
            row * 7919 % 100_003,
            "."
        );
    }
    fixture.write("orders.csv", text);
}

fn options(budget: &str) -> [&str; 7] {
    ["--budget", budget, "--profiles", "p.toml", "--report", "out", "--json"]
}

/// Measures until there is a verdict, and answers with what was found.
fn tuned(fixture: &Fixture, args: &[&str]) -> Json {
    let measured = |budget| measured_for(budget, fixture, args);
    let found = BUDGETS.into_iter().map(measured).find(|found| found["is_decided"] == true);
    found.expect("a verdict within a minute")
}

/// The same with or without one, as quickly as may be.
fn measured(fixture: &Fixture, args: &[&str]) -> Json {
    measured_for("1s", fixture, args)
}

fn measured_for(budget: &str, fixture: &Fixture, args: &[&str]) -> Json {
    let found = fixture.inrush(&[&["tune"], args, &options(budget)[..]].concat()).exits(0).json();
    for key in
        ["sentence", "winner", "default", "candidates", "left_out", "key", "noise", "stopped_by"]
    {
        assert!(found.get(key).is_some(), "no {key} in {found}");
    }
    for report in ["out/report.json", "out/report.md", "out/report.html"] {
        assert!(!fixture.read(report).is_empty(), "{report}");
    }
    found
}

/// What is in the folder, except for the profile, which takes a verdict.
fn names(fixture: &Fixture) -> Vec<String> {
    fixture.names().into_iter().filter(|name| name != "p.toml").collect()
}

/// Measures, and has the profile be one of this strategy, faster than the default. It waits for a verdict, which takes longer, only where
/// the tests take their time.
fn in_favour_of(strategy: &str, fixture: &Fixture, args: &[&str]) -> Json {
    if thorough() {
        let found = tuned(fixture, args);
        with_strategy(fixture, strategy);
        return found;
    }
    let found = measured(fixture, args);
    keep(fixture, &found["key"], strategy, "");
    found
}

/// Keeps a profile by which a strategy with these knobs is faster than the default, where `key` is what was measured.
fn keep(fixture: &Fixture, key: &Json, strategy: &str, knobs: &str) {
    let part = |part: &str| format!("{part} = {}\n", key[part]);
    let parts: String =
        ["machine", "engine", "target", "shape", "guarantee"].into_iter().map(part).collect();
    let settings = key["settings"].as_object().unwrap().iter();
    let settings: String = settings.map(|(name, value)| format!("{name} = {value}\n")).collect();
    let profile = format!(
        "version = 1\n[[profile]]\ndate = \"2026-11-26\"\ninrush = \"0.1.0\"\nis_default = false\n\
         ratio = 1.5\nlow = 1.4\nhigh = 1.6\npairs = 9\nsample_bytes = 1000\n\
         [profile.recipe]\nstrategy = \"{strategy}\"\nlanes = 1\nencoders = 1\nchunk_bytes = 262144\n\
         [profile.recipe.knobs]\n{knobs}\n[profile.key]\n{parts}[profile.key.settings]\n{settings}"
    );
    fixture.write("p.toml", profile);
}

/// Has the profile that was kept be one of another strategy, faster than the default.
fn with_strategy(fixture: &Fixture, strategy: &str) {
    let text = String::from_utf8(fixture.read("p.toml")).unwrap();
    let changed: Vec<String> = text
        .lines()
        .map(|line| match line.split(" = ").next() {
            Some("strategy") => format!("strategy = \"{strategy}\""),
            Some("is_default") => "is_default = false".to_owned(),
            Some(name @ ("ratio" | "low" | "high")) => format!("{name} = 1.5"),
            _ => line.to_owned(),
        })
        .collect();
    fixture.write("p.toml", changed.join("\n"));
}

/// The plan of a load that may go by the profile.
fn planned(fixture: &Fixture, args: &[&str]) -> Json {
    fixture.inrush(&[&["plan"], args, &["--json", "--profiles", "p.toml"]].concat()).exits(0).json()
}

fn reasons(plan: &Json) -> String {
    plan["reasons"].to_string()
}
