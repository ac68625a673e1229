//! Lists, plans, mistakes, exit codes.

use std::collections::BTreeSet;

use super::{SQLITE, bench, run_folder, suite};
use crate::fixture::{Fixture, Outcome, finish, start};

#[test]
fn without_a_suite_it_lists_them() {
    let fixture = Fixture::new();
    let run = fixture.leaves_all(|| fixture.inrush(&["bench"]).exits(0));
    for name in [
        "mass-inserts",
        "load-testing",
        "tuning-sqlite",
        "fastest-import",
        "high-speed-inserts",
        "billion",
        "peers",
    ] {
        assert!(run.stdout.lines().any(|line| line == name), "{}", run.stdout);
    }
}

/// One target, which needs no server, and one load into it.
const CSV: &str = r#"
[target.csv]
family = "csv"
about = "a file"
durability = "none"
vars = { strategy = "files/csv" }
"#;
const LOAD: &str = r#"
targets = ["csv"]
metric = "load.rows_per_s"
[[experiment.phase]]
id = "load"
load = { dataset = "pairs", strategy = "{strategy}" }
"#;

#[test]
fn a_time_has_a_unit_or_is_in_seconds_and_quiet_is_quiet() {
    let fixture = Fixture::new();
    for (budget, wanted) in
        [("90", "at most 90 s"), ("10s", "at most 10 s"), ("2m", "at most 120 s")]
    {
        let dry = ["bench", "tuning-sqlite", "--profile", "smoke", "--dry-run", "--budget", budget];
        fixture.inrush(&dry).exits(0).prints(&[wanted]);
    }
    fixture.write("suite.toml", suite(CSV, LOAD));
    let run = bench(&fixture, &["-q", "--budget", "1m"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert!(run_folder(&fixture).join("report.html").is_file());
}

#[test]
fn a_dry_run_says_everything_and_does_nothing() {
    let fixture = Fixture::new();
    let run = fixture.leaves_all(|| {
        fixture.inrush(&["bench", "tuning-sqlite", "--profile", "smoke", "--dry-run"]).exits(0)
    });
    for words in [
        "BEGIN IMMEDIATE",
        "unavailable: no server was asked for: --server postgres",
        "unavailable: no server was asked for: --server mongodb",
        "once more, for the noise",
        "rows      present: 50,000 rows",
        "samples   ",
        "time      at most 30 s",
        "disk      at most ",
    ] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
}

/// Without a cell that is measured twice it would not be known which differences mean nothing.
#[test]
fn of_some_cells_one_is_measured_twice_too() {
    let fixture = Fixture::new();
    let dry = ["bench", "mass-inserts", "--profile", "smoke", "--dry-run", "--json", "--only"];
    let plan = fixture.inrush(&[&dry[..], &["sqlite-normal"]].concat()).exits(0).json();
    let cells = plan["cells"].as_array().unwrap();
    let experiments = |is_one: &dyn Fn(&serde_json::Value) -> bool| -> BTreeSet<String> {
        let cells = cells.iter().filter(|cell| is_one(cell));
        cells.map(|cell| cell["experiment"].to_string()).collect()
    };
    let twice = experiments(&|cell| cell["twice"].is_string());
    assert!(twice.len() > 1 && twice == experiments(&|_| true), "{plan:#}");
}

/// A run that was interrupted before it had ended goes on, named as it is called in the folder of all.
#[test]
fn a_run_goes_on_from_within_the_folder_of_results() {
    let fixture = Fixture::new();
    fixture.write("suite.toml", suite(CSV, LOAD));
    bench(&fixture, &[]).exits(0);
    let run = run_folder(&fixture);
    let manifest = std::fs::read_to_string(run.join("manifest.json")).unwrap();
    std::fs::write(run.join("manifest.json"), manifest.replace("complete", "interrupted")).unwrap();
    let samples = std::fs::read_to_string(run.join("samples.jsonl")).unwrap();
    let first = samples.lines().next().unwrap();
    std::fs::write(run.join("samples.jsonl"), format!("{first}\n")).unwrap();
    std::fs::remove_file(fixture.path("results/results.db")).unwrap();
    let name = run.file_name().unwrap().to_str().unwrap();
    let mut command = fixture.command(&["bench", "--resume", name, "--place", "../place"]);
    command.current_dir(fixture.path("results"));
    Outcome::of("inrush bench".to_owned(), finish(start(&mut command), b"")).exits(0);
    assert_eq!(super::samples(&fixture).len(), samples.lines().count());
    assert!(fixture.path("results/results.db").is_file());
}

/// Requests have counters that have to add up: a study's own suite says so.
#[test]
fn requests_are_verified_by_their_counters() {
    let fixture = Fixture::new();
    let suite = inrush_bench::suites::ALL.iter().find(|(name, _)| *name == "tuning-sqlite");
    fixture.write("suite.toml", suite.unwrap().1);
    let options = ["--profile", "smoke", "--blocks", "1", "--only", "BEGIN IMMEDIATE"];
    bench(&fixture, &options);
    let samples = super::samples(&fixture);
    let of_requests: Vec<_> = samples
        .iter()
        .filter(|sample| sample["status"] == "ok")
        .filter(|sample| {
            let phases = sample["phases"].as_array().unwrap();
            phases.iter().any(|phase| phase["requests"].as_u64() > Some(0))
        })
        .collect();
    assert!(!of_requests.is_empty(), "{samples:#?}");
    for sample in of_requests {
        assert!(sample["verified"].as_str().unwrap().contains("counters"), "{sample:#}");
    }
}

/// What is installed is offered, with the whole command.
#[test]
fn servers_that_are_installed_are_offered() {
    let fixture = Fixture::new();
    fixture.write("mariadbd", "");
    std::fs::create_dir_all(fixture.path("servers/mariadb-11.4/bin")).unwrap();
    std::fs::copy(fixture.path("mariadbd"), fixture.path("servers/mariadb-11.4/bin/mariadbd"))
        .unwrap();
    let offered = |suite: &str, more: &[&str]| {
        let args = [&["bench", suite, "--profile", "smoke", "--dry-run"], more].concat();
        let mut command = fixture.command(&args);
        command.env("INRUSH_SERVERS", fixture.path("servers")).env("PATH", fixture.path("servers"));
        command.env("INRUSH_DUCKDB_LIB", "nowhere.so");
        let run = Outcome::of("inrush bench".to_owned(), finish(start(&mut command), b""));
        run.exits(0).stdout
    };
    let told = offered("fastest-import", &[]);
    // Or whatever MariaDB the system has.
    let command = "  inrush bench fastest-import --profile smoke --dry-run --server mariadb";
    assert!(told.contains(command), "{told}");
    assert!(!told.contains("--server postgres"), "{told}");
    // Cells of DuckDB, whose library is missing, want no server.
    let told_of_all = offered("mass-inserts", &[]);
    let wanting = told_of_all.matches("unavailable: no server was asked for").count();
    let counted = format!("\n{wanting} cells of mass-inserts not measured, for want of a server");
    assert!(
        told_of_all.contains("DUCKDB_LIB nowhere.so") && told_of_all.contains(&counted),
        "{told_of_all}"
    );
    // What needs no server, or has been told which, is not bothered.
    assert!(!offered("fastest-import", &["--server", "mariadb-11.4"]).contains("installed here"));
    assert!(!offered("mass-inserts", &["--only", "sqlite"]).contains("installed here"));
    // Without the password of another one.
    for server in [
        &["--server", "postgres://u:hunter2@db.example/x"][..],
        &["--server=postgres://u:hunter2@db.example/x"],
        &["--server", "postgres://db.example/x?user=u&password=hunter2"],
    ] {
        let told = offered("mass-inserts", server);
        assert!(told.contains("db.example/x") && !told.contains("hunter2"), "{told}");
        assert!(told.contains("--server mariadb"), "{told}");
    }
}

#[test]
fn names_that_are_not_utf_8_and_numbers_beyond_any_disk_are_no_crash() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    let run = |args: &[&std::ffi::OsStr]| {
        let mut command = fixture.command(&["bench"]);
        Outcome::of("inrush bench".to_owned(), finish(start(command.args(args)), b""))
    };
    let results = std::ffi::OsStr::from_bytes(b"r\xff");
    let dry: Vec<&std::ffi::OsStr> =
        ["mass-inserts", "--dry-run", "--results"].into_iter().map(AsRef::as_ref).collect();
    run(&[&dry[..], &[results]].concat()).exits(0).prints(&["mass-inserts at quick"]);
    let unknown = run(&[std::ffi::OsStr::from_bytes(b"s\xff.toml")]);
    assert!(matches!(unknown.status.code(), Some(1 | 2)), "{unknown:?}");

    let experiment = r#"
targets = ["sqlite"]
metric = "load.rows_per_s"
workers = 1000
[[experiment.phase]]
id = "load"
load = { dataset = "pairs" }
"#;
    let huge = suite(SQLITE, experiment).replace("rows = 500", "rows = 9000000000000000000");
    fixture.write("suite.toml", huge);
    bench(&fixture, &["--dry-run"]).exits(1).says(&["MB of disk"]);
}

#[test]
fn lists_and_dry_runs_are_objects_for_programs() {
    let fixture = Fixture::new();
    let listed = fixture.inrush(&["bench", "--json"]).exits(0).json();
    let first = &listed["suites"][0];
    assert!(first["suite"].is_string() && first["title"].is_string(), "{listed}");
    assert!(first["targets"].as_array().unwrap().iter().any(|family| *family == "sqlite"));
    let dry = ["bench", "tuning-sqlite", "--profile", "smoke", "--dry-run", "--json"];
    let dry = fixture.leaves_all(|| fixture.inrush(&dry).exits(0)).json();
    assert_eq!((&dry["suite"], &dry["profile"]), (&"tuning-sqlite".into(), &"smoke".into()));
    assert_eq!(dry["budget_seconds"], 30);
    assert!(dry["cells"].as_array().unwrap().len() > 3, "{dry}");
    assert!(dry["disk_bytes"].as_u64().unwrap() > 0 && dry["samples_max"].as_u64() > Some(0));
}

#[test]
fn mistakes_are_told_with_their_place() {
    let fixture = Fixture::new();
    fixture.write("typo.toml", "format = 1\nid = \"x\"\ntitel = \"x\"\n");
    fixture.misused(&["bench", "typo.toml"]).says(&["typo.toml:3:1", "titel"]);
    fixture.misused(&["bench", "no-such-suite"]).says(&["no-such-suite", "mass-inserts"]);
    fixture.misused(&["bench", "mass-inserts", "--profile", "huge"]).says(&["huge", "quick"]);
    fixture.misused(&["bench", "mass-inserts", "--server", "oracle"]).says(&["oracle", "mariadb"]);
    fixture.misused(&["bench", "mass-inserts", "--set", "null"]).says(&["AXIS=VALUE"]);
    fixture.misused(&["bench", "mass-inserts", "--set", "colour=red"]).says(&["colour"]);
    fixture.misused(&["bench", "mass-inserts", "--set", "null=MAYBE"]).says(&["MAYBE", "NOT NULL"]);
    fixture.misused(&["bench", "mass-inserts", "--only", "nothing-like-it"]).says(&["no cell"]);
    fixture.misused(&["bench", "mass-inserts", "--blocks", "3..1"]).says(&["--blocks"]);
    fixture.misused(&["bench", "mass-inserts", "--budget", "soon"]).says(&["--budget soon", "90s"]);
    // What has the index's name and is none stays.
    std::fs::create_dir(fixture.path("results")).unwrap();
    fixture.write("results/results.db", "mine");
    fixture.misused(&["bench", "mass-inserts"]).says(&["results.db", "--results DIR"]);
    fixture.misused(&["bench-worker"]).says(&["inrush bench"]);
}

/// What is missing is no failure, but can't be overlooked.
#[test]
fn a_run_leaves_its_results_and_nothing_else() {
    let fixture = Fixture::new();
    let targets = r#"
[target.sqlite]
family = "sqlite"
about = "SQLite"
durability = "durable"
vars = { strategy = "sqlite/row-sql", table = "bench" }

[target.memory]
family = "sqlite"
about = "SQLite in memory"
memory = true
durability = "none"
vars = { strategy = "sqlite/bind" }

[target.csv]
family = "csv"
about = "a file"
durability = "none"
vars = { strategy = "files/csv" }

[target.mysql]
family = "mysql"
about = "a server"
server = {}
vars = { strategy = "mysql/values" }
"#;
    let experiment = r#"
targets = ["sqlite", "memory", "csv", "mysql"]
axes = { processes = [1, 2] }
workers = "{processes}"
metric = "load.rows_per_s"
[[experiment.phase]]
id = "table"
timed = false
sql = { sqlite = "CREATE TABLE {table} (i INT, i2 INT)", mysql = "CREATE TABLE {table} (i INT, i2 INT)" }
when = [{ target = ["sqlite", "memory", "mysql"] }]
[[experiment.phase]]
id = "load"
load = { dataset = "pairs", strategy = "{strategy}" }
[[experiment.phase]]
id = "loaded"
verify = { dataset = "pairs", sql = { sqlite = "SELECT * FROM {table}", mysql = "SELECT * FROM {table}", csv = "ROWS" } }
[[experiment.phase]]
id = "sum"
rows = "{rows.pairs}"
sql = { sqlite = "SELECT sum(i2) FROM {table}", mysql = "SELECT sum(i2) FROM {table}", csv = "SUM column_2" }
expect = "{sum.pairs.i2}"
"#;
    let targets = targets.replace(", table = \"bench\"", "");
    fixture.write("suite.toml", suite(&targets, experiment));
    let run = bench(&fixture, &[]).exits(0);
    assert!(run.stdout.contains("2 unavailable"), "{}", run.stdout);
    let statuses = super::statuses(&fixture);
    for (label, (status, error)) in &statuses {
        let wanted = if label.starts_with("mysql") { "unavailable" } else { "ok" };
        assert_eq!(status, wanted, "{label}: {error}");
    }
    assert_eq!(std::fs::read_dir(fixture.path("place")).unwrap().count(), 0);
    let folder = run_folder(&fixture);
    for name in [
        "manifest.json",
        "suite.toml",
        "plan.json",
        "env.json",
        "doctor.json",
        "targets.json",
        "samples.jsonl",
        "report.html",
        "report.md",
        "report.json",
    ] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    // Two workers loaded 500 rows each, and the figures say so.
    let samples = super::samples(&fixture);
    let of_two: Vec<_> = samples
        .iter()
        .filter(|sample| {
            super::phase_or_none(sample, "load").is_some_and(|load| load["rows"] == 1000)
        })
        .collect();
    assert_eq!(of_two.len(), 3, "{samples:#?}");
    for sample in samples.iter().filter(|sample| sample["status"] == "ok") {
        assert_eq!(sample["verified"], "values, answer, count", "{sample:#}");
    }
    let index = rusqlite::Connection::open(fixture.path("results/results.db")).unwrap();
    let ok: i64 = index
        .query_row("SELECT count(*) FROM sample WHERE status = 'ok'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(ok as usize, samples.len() - 2);
}
