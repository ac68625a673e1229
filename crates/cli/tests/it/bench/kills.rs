//! Runs that are killed or stopped, and go on.

use std::collections::BTreeSet;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Instant;

use super::{SQLITE, run_folder, samples, suite};
use crate::fixture::{Fixture, Outcome, Random, finish, size, start, wait_until};

const EXPERIMENT: &str = r#"
targets = ["sqlite"]
axes = { strategy = ["sqlite/row-sql", "sqlite/bind"], processes = [1, 2] }
workers = "{processes}"
metric = "load.rows_per_s"
[[experiment.phase]]
id = "table"
timed = false
sql = "CREATE TABLE {table} (i INT, i2 INT)"
[[experiment.phase]]
id = "load"
load = { dataset = "pairs", strategy = "{strategy}" }
[[experiment.phase]]
id = "loaded"
verify = { dataset = "pairs", sql = "SELECT * FROM {table}" }
"#;

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("suite.toml", suite(SQLITE, EXPERIMENT));
    std::fs::create_dir(fixture.path("place")).unwrap();
    fixture
}

fn run(fixture: &Fixture, more: &[&str]) -> Command {
    let args = ["bench", "--place", "place"];
    fixture.command(&[&args[..], more].concat())
}

/// Blocks of samples; enough for a kill to come between two.
fn blocks() -> usize {
    size(4, 8)
}

fn whole_run(fixture: &Fixture) -> Command {
    run(fixture, &["suite.toml", "--blocks", &blocks().to_string(), "--seed", "7"])
}

/// Ids with the statuses that do not depend on how busy the machine is.
fn measured(fixture: &Fixture) -> BTreeSet<String> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    samples(fixture)
        .iter()
        .map(|sample| {
            assert!(matches!(text(&sample["status"]).as_str(), "ok" | "contended"), "{sample:#}");
            // One that was taken again because others kept the machine busy.
            text(&sample["sample"]).trim_end_matches('r').to_owned()
        })
        .collect()
}

fn ends(child: Child, code: i32) -> Outcome {
    Outcome::of("inrush bench".to_owned(), finish(child, b"")).exits(code)
}

/// No database, no row and no server is left, whatever became of the run.
fn assert_tidy(fixture: &Fixture) {
    let left = || std::fs::read_dir(fixture.path("place")).unwrap().count();
    wait_until("no folder is left", || left() == 0);
}

#[test]
#[ignore = "random kills: make test-all"]
fn a_run_that_is_killed_at_any_moment_goes_on_to_the_same_samples() {
    let whole = fixture();
    let began = Instant::now();
    ends(start(&mut whole_run(&whole)), 0);
    let took = began.elapsed();
    let wanted = measured(&whole);
    // Four cells and the twin of the first, in each block.
    assert_eq!(wanted.len(), 5 * blocks());
    let mut random = Random(0x5eed_0001);
    let (mut killed, mut resumed) = (0, 0);
    while resumed < size(1, 4) {
        // A kill may come before there is anything, or after all is done.
        assert!(killed < size(20, 40), "{took:?}");
        let fixture = fixture();
        let mut child = start(&mut whole_run(&fixture));
        let moment = took.mul_f64(random.share());
        sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_tidy(&fixture);
        killed += 1;
        let begun = std::fs::read_dir(fixture.path("results"))
            .map(|runs| runs.map(|run| run.unwrap().path()).collect::<Vec<_>>())
            .unwrap_or_default();
        let Some(folder) = begun.iter().find(|path| path.join("samples.jsonl").is_file()) else {
            continue;
        };
        let name = folder.to_str().unwrap();
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        if manifest.contains("\"complete\"") {
            continue;
        }
        // Twice, so that a run that goes on is killed too.
        let mut child = start(&mut run(&fixture, &["--resume", name]));
        sleep(took.mul_f64(random.share() / 2.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let again = start(&mut run(&fixture, &["--resume", name]));
        let outcome = Outcome::of("inrush bench --resume".to_owned(), finish(again, b""));
        if outcome.stderr.contains("is complete") {
            continue;
        }
        outcome.exits(0);
        assert_eq!(measured(&fixture), wanted, "killed after {moment:?} of {took:?}");
        assert_tidy(&fixture);
        resumed += 1;
    }
}

#[test]
fn a_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on() {
    let fixture = fixture();
    let place = fixture.path("a place");
    std::fs::create_dir(&place).unwrap();
    let args = ["bench", "suite.toml", "--place", "a place", "--blocks", "50", "--seed", "7"];
    let child = start(&mut fixture.command(&args));
    let lines = || {
        let runs = std::fs::read_dir(fixture.path("results")).ok()?;
        let folder = runs.map(|run| run.unwrap().path()).find(|path| path.is_dir())?;
        Some(std::fs::read_to_string(folder.join("samples.jsonl")).ok()?.lines().count())
    };
    wait_until("samples", || lines().unwrap_or(0) >= 4);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let outcome = ends(child, 130);
    let folder = run_folder(&fixture);
    let name = folder.file_name().unwrap().to_str().unwrap();
    outcome.says(&[&format!("inrush bench --resume results/{name} --place 'a place'\n")]);
    assert!(folder.join("report.html").is_file());
    assert!(samples(&fixture).len() >= 4);
    wait_until("no folder is left", || std::fs::read_dir(&place).unwrap().count() == 0);
}
