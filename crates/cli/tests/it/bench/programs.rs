//! Programs that have rows: the library's own writer, and whatever speaks for itself.

use super::{SQLITE, bench, phase, samples, statuses, suite};
use crate::fixture::{Fixture, Outcome, finish, start};

const NONE: &str = r#"
[target.nothing]
family = "none"
about = "no database"
"#;

/// An experiment of one command, a shell's script.
fn command(script: &str, more: &str) -> String {
    let experiment = format!(
        r#"
targets = ["nothing"]
metric = "go.seconds"
[[experiment.phase]]
id = "go"
rows = 10
command = {{ run = ["sh", "-c", """{script}"""], waits = true{more} }}
"#
    );
    suite(NONE, &experiment)
}

#[test]
fn a_program_that_waits_is_timed_from_the_word_to_its_own() {
    let fixture = Fixture::new();
    let burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let script = format!("{burn}; echo ready; read go; sleep 0.2; echo done; sleep 0.8");
    fixture.write("suite.toml", command(&script, r#", needs = ["echo", "shell 1.2"]"#));
    bench(&fixture, &[]).exits(0);
    for sample in samples(&fixture) {
        assert_eq!(sample["status"], "ok", "{sample:#}");
        let go = phase(&sample, "go");
        let seconds = go["ack_ns"].as_f64().unwrap() / 1e9;
        assert!((0.2..0.8).contains(&seconds), "{seconds}");
        assert!(go["resources"]["client_cpu_us"].as_u64().unwrap() < 100_000, "{go:#}");
        assert_eq!((go["rows"].as_u64(), go["strategy"].as_str()), (Some(10), Some("shell 1.2")));
    }
}

#[test]
fn a_program_that_does_not_keep_its_word_has_no_figure() {
    let cases = [
        ("echo it is broken >&2; exit 3", "error", "sh ended with exit status: 3: it is broken"),
        ("echo ready; read go", "error", "sh ended without a word of being done"),
        ("true", "error", "sh ended without a word of being done"),
        ("echo ready; read go; echo done; exit 4", "error", "exit status: 4"),
        ("echo ready; read go; sleep 1234", "timeout", "longer than a sample may"),
    ];
    let of_case = |(at, (script, ..)): (usize, &(&str, _, _))| format!("{at}) {script} ;; ");
    let script: String = cases.iter().enumerate().map(of_case).collect();
    let text = command(&format!("case {{case}} in {script} esac"), "");
    let axes = r#"axes = { case = ["0", "1", "2", "3", "4"] }"#;
    let text = text.replace("[[experiment.phase]]", &format!("{axes}\n[[experiment.phase]]"));
    let fixture = Fixture::new();
    fixture.write("suite.toml", text.replace("sample_s = 60", "sample_s = 1"));
    bench(&fixture, &[]).exits(3);
    let statuses = statuses(&fixture);
    for (at, (script, status, error)) in cases.into_iter().enumerate() {
        let (found, why) = &statuses[&format!("nothing case={at}")];
        assert!(found == status && why.contains(error), "{script}: {found}: {why}");
    }
}

#[test]
fn what_a_program_needs_and_is_not_here_is_said_in_its_own_words() {
    let fixture = Fixture::new();
    let needs = r#", needs = ["sh", "-c", "echo no module of that name >&2; exit 1"]"#;
    fixture.write("suite.toml", command("true", needs));
    bench(&fixture, &[]).exits(0);
    let (status, why) = &statuses(&fixture)["nothing"];
    assert_eq!((&**status, &**why), ("unavailable", "phase go: sh: no module of that name"));
}

#[test]
fn rows_by_a_writer_are_measured_as_those_of_a_file() {
    let fixture = Fixture::new();
    let experiment = r#"
targets = ["sqlite"]
axes = { by = ["a file", "a writer"], made = ["before", "by the load"] }
workers = 2
metric = "load.rows_per_s"
[[experiment.phase]]
id = "table"
timed = false
when = [{ made = "before" }]
sql = "CREATE TABLE rows_{worker} (i INT, i2 INT)"
[[experiment.phase]]
id = "load"
when = [{ by = "a file" }]
load = { dataset = "pairs", table = "rows_{worker}" }
[[experiment.phase]]
id = "load"
when = [{ by = "a writer" }]
load = { dataset = "pairs", table = "rows_{worker}", by = "writer" }
[[experiment.phase]]
id = "loaded"
verify = { dataset = "pairs", sql = "SELECT * FROM rows_{worker}" }
"#;
    fixture.write("suite.toml", suite(SQLITE, experiment));
    bench(&fixture, &[]).exits(0);
    let samples = samples(&fixture);
    assert_eq!(samples.len(), 5);
    let bytes = |sample| phase(sample, "load")["user_bytes"].as_u64().unwrap();
    for sample in &samples {
        assert_eq!(sample["status"], "ok", "{sample:#}");
        assert_eq!(sample["verified"], "values, count");
        let load = phase(sample, "load");
        assert_eq!(load["rows"], 1000);
        assert!(load["strategy"].as_str().unwrap().starts_with("sqlite/"), "{load:#}");
        assert_eq!(bytes(sample), bytes(&samples[0]));
    }
}

/// The peers of a program, into SQLite.
fn peers(python: &str) -> Vec<(String, String, String)> {
    let fixture = Fixture::new();
    let place = fixture.path("place");
    std::fs::create_dir(&place).unwrap();
    let args = ["bench", "peers", "--profile", "smoke", "--only", "programs", "--place", "place"];
    let mut command = fixture.command(&args);
    command.env("INRUSH_PYTHON", python);
    Outcome::of("inrush bench".to_owned(), finish(start(&mut command), b"")).exits(0);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    let of_sqlite = statuses(&fixture).into_iter().filter_map(|(label, (status, why))| {
        let tool = label.strip_prefix("sqlite tool=")?.to_owned();
        Some((tool, status, why))
    });
    of_sqlite.collect()
}

#[test]
fn libraries_of_python_are_measured_where_they_are_installed() {
    let peers = peers("");
    assert_eq!(peers.len(), 8, "{peers:?}");
    for (tool, status, why) in &peers {
        let is_always_there =
            tool.starts_with("sqlite3") || tool.trim_end_matches(" again") == "inrush";
        let is_missing = why.contains("python3: No module named") && why.contains("INRUSH_PYTHON");
        match status.as_str() {
            "unavailable" => assert!(is_missing && !is_always_there, "{tool}: {why}"),
            status => assert_eq!(status, "ok", "{tool}: {why}"),
        }
    }
}

#[test]
fn a_python_that_is_not_there_makes_its_cells_unavailable() {
    for (tool, status, why) in peers("/no/such/python") {
        let wanted = if tool.trim_end_matches(" again") == "inrush" { "ok" } else { "unavailable" };
        assert_eq!(status, wanted, "{tool}: {why}");
        assert!(status == "ok" || why.contains("/no/such/python is not installed"), "{why}");
    }
}
