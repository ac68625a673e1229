//! Times, workers, order.

use super::{bench, phase, samples, suite};
use crate::fixture::Fixture;

const NONE: &str = r#"
[target.nothing]
family = "none"
about = "no database"
"#;

#[test]
fn a_phase_takes_as_long_as_it_takes_and_preparation_is_outside() {
    let fixture = Fixture::new();
    let experiment = r#"
targets = ["nothing"]
metric = "sleep.seconds"
workers = 2
[[experiment.phase]]
id = "sleep"
rows = 10
command = { run = ["sleep", "0.3"] }
[[experiment.phase]]
id = "burn"
command = { run = ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"] }
[[experiment.phase]]
id = "alone"
once = true
command = { run = ["true"] }
"#;
    fixture.write("suite.toml", suite(NONE, experiment));
    bench(&fixture, &["--blocks", "2", "--set", "nothing=1"]).exits(2);
    bench(&fixture, &["--blocks", "2"]).exits(0);
    let samples = samples(&fixture);
    // The cell and its twin, in two blocks.
    assert_eq!(samples.len(), 4);
    for sample in &samples {
        let sleep = phase(sample, "sleep");
        let seconds = sleep["ack_ns"].as_f64().unwrap() / 1e9;
        // Not both workers' time, nor that of the other phases; a busy machine takes some for starting the program.
        assert!((0.3..30.0).contains(&seconds), "{seconds}");
        // Both at once, 10 rows each.
        assert_eq!(sleep["rows"], 20);
        assert_eq!(sleep["worker_rates"].as_array().unwrap().len(), 2);
        assert!(sleep["resources"]["client_cpu_us"].as_u64().unwrap() < 200_000);
        let burn = phase(sample, "burn");
        assert!(burn["resources"]["client_cpu_us"].as_u64().unwrap() > 10_000, "{burn:#}");
        assert_eq!(phase(sample, "alone")["worker_rates"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn what_takes_too_long_is_ended() {
    let fixture = Fixture::new();
    let experiment = r#"
targets = ["nothing"]
metric = "sleep.seconds"
[[experiment.phase]]
id = "sleep"
command = { run = ["sleep", "1234"] }
"#;
    fixture.write("suite.toml", suite(NONE, experiment).replace("sample_s = 60", "sample_s = 1"));
    let run = bench(&fixture, &[]).exits(3);
    assert!(run.stdout.contains("timeout"), "{}", run.stdout);
    // The program that a worker ran ends with it.
    let processes = fixture.tool("ps", &["-eo", "args"], b"");
    assert!(!String::from_utf8_lossy(&processes).contains("sleep 1234"));
}

#[test]
fn a_program_that_is_not_here_is_unavailable() {
    let fixture = Fixture::new();
    let experiment = r#"
targets = ["nothing"]
metric = "go.seconds"
[[experiment.phase]]
id = "go"
command = { run = ["no-such-program-anywhere"] }
"#;
    fixture.write("suite.toml", suite(NONE, experiment));
    bench(&fixture, &[]).exits(0);
    let statuses = super::statuses(&fixture);
    assert_eq!(statuses["nothing"].0, "unavailable");
    assert!(statuses["nothing"].1.contains("no-such-program-anywhere"), "{statuses:?}");
}
