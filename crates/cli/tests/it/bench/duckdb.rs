//! DuckDB as a target of suites: a file, or a database in the worker's memory, by the library that loads take.

use std::process::Command;

use super::{Outcome, finish, phase, run_folder, samples, start, statuses, suite};
use crate::duckdb::library;
use crate::fixture::Fixture;

const TARGETS: &str = r#"
[target.file]
family = "duckdb"
about = "a file"
durability = "durable"
read_back = { database = "file", wal_autocheckpoint = "16.0 MiB" }

[target.memory]
family = "duckdb"
about = "in memory"
memory = true
durability = "none"
read_back = { database = "memory" }

[target.sqlite]
family = "sqlite"
about = "SQLite"
durability = "durable"
"#;

/// Every way to write, what follows a load, and what a file takes.
const EXPERIMENT: &str = r#"
targets = ["file", "memory"]
axes = { strategy = ["duckdb/arrow", "duckdb/appender", "duckdb/prepared", ""] }
workers = 2
metric = "load.rows_per_s"
[[experiment.phase]]
id = "table"
timed = false
sql = ["DROP TABLE IF EXISTS {table}", "CREATE TABLE {table} (i INT, i2 INT)"]
[[experiment.phase]]
id = "load"
load = { dataset = "pairs", strategy = "{strategy}" }
[[experiment.phase]]
id = "loaded"
verify = { dataset = "pairs", sql = "SELECT i, i2 FROM {table}" }
[[experiment.phase]]
id = "sum"
rows = "{rows.pairs}"
expect = "{sum.pairs.i2}"
sql = "SELECT sum(i2) FROM {table}"
[[experiment.phase]]
id = "update"
rows = "{rows.pairs}"
sql = "UPDATE {table} SET i2 = i2 + 2"
[[experiment.phase]]
id = "updated"
verify = { dataset = "pairs", added = { i2 = 2 }, sql = "SELECT i, i2 FROM {table}" }
[[experiment.phase]]
id = "checkpoint"
timed = false
when = [{ target = "file" }]
sql = "CHECKPOINT"
[[experiment.phase]]
id = "size"
when = [{ target = "file" }]
size = "SELECT block_size * total_blocks FROM pragma_database_size() WHERE database_name = current_database()"
[[experiment.phase]]
id = "singles"
repeat = 20
sql = "INSERT INTO {table} VALUES ({n}, 0)"
"#;

/// The command; `library` is what the environment names.
fn command(fixture: &Fixture, options: &[&str], library: &str) -> Command {
    std::fs::create_dir_all(fixture.path("place")).unwrap();
    let mut command =
        fixture.command(&[&["bench", "suite.toml", "--place", "place"], options].concat());
    command.env("INRUSH_DUCKDB_LIB", library);
    command
}

fn run(mut command: Command) -> Outcome {
    Outcome::of("inrush bench".to_owned(), finish(start(&mut command), b""))
}

#[test]
fn a_file_and_a_database_in_memory_are_measured_in_every_way() {
    let Some(library) = library() else { return };
    let library = library.display().to_string();
    let fixture = Fixture::new();
    fixture.write("suite.toml", suite(TARGETS, EXPERIMENT));
    // Nothing but the option says where the library is.
    run(command(&fixture, &["--duckdb-lib", &library], "")).exits(0);
    for (label, (status, error)) in statuses(&fixture) {
        assert_eq!(status, "ok", "{label}: {error}");
    }
    assert_eq!(std::fs::read_dir(fixture.path("place")).unwrap().count(), 0);
    let samples = samples(&fixture);
    // Eight cells, and the first one twice.
    assert_eq!(samples.len(), 9);
    for sample in &samples {
        assert_eq!(sample["verified"], "values, answer, count");
        assert_eq!(phase(sample, "load")["rows"], 1000);
        assert_eq!(phase(sample, "singles")["latency"]["statement"]["n"], 40);
        let is_file = sample["durability"]["asked"] == "durable";
        let commit = &sample["durability"]["read_back"]["commit"];
        let wanted = if is_file { "the log is synced at each commit" } else { "in memory" };
        assert_eq!(commit, wanted, "{sample:#}");
        if is_file {
            assert!(phase(sample, "size")["bytes"].as_u64().unwrap() > 1 << 18, "{sample:#}");
        }
    }

    // A run that was interrupted goes on only with the library.
    let folder = run_folder(&fixture);
    let manifest = folder.join("manifest.json");
    let ended = std::fs::read_to_string(&manifest).unwrap();
    let begun = ended.replace(r#""exit": "complete""#, r#""exit": "interrupted""#);
    assert_ne!(begun, ended);
    std::fs::write(&manifest, begun).unwrap();
    let resumed = |more: &[&str]| {
        let args = [&["bench", "--resume", folder.to_str().unwrap(), "--place", "place"], more];
        let mut command = fixture.command(&args.concat());
        command.env("INRUSH_DUCKDB_LIB", "nowhere.so");
        run(command)
    };
    resumed(&[]).exits(1).says(&["needs a library that is not here any more", "nowhere.so"]);
    resumed(&["--duckdb-lib", &library]).exits(0);
}

#[test]
fn what_a_database_does_not_keep_is_incorrect() {
    let Some(library) = library() else { return };
    let fixture = Fixture::new();
    let boasters = TARGETS
        .replace(r#"durability = "none""#, r#"durability = "durable""#)
        .replace("16.0 MiB", "1.0 GiB");
    fixture.write("suite.toml", suite(&boasters, EXPERIMENT));
    run(command(&fixture, &["--set", "strategy=duckdb/arrow"], library.to_str().unwrap())).exits(3);
    let statuses = statuses(&fixture);
    let (status, error) = &statuses["memory strategy=duckdb/arrow"];
    assert_eq!(status, "incorrect");
    let words = "the suite says that target memory is durable, but its settings make it none";
    assert!(error.contains(words), "{error}");
    let (status, error) = &statuses["file strategy=duckdb/arrow"];
    assert_eq!(status, "incorrect");
    assert!(error.contains("wal_autocheckpoint = 1.0 GiB, but it is 16.0 MiB"), "{error}");
}

/// A program of its own finds the file unlocked, and what it wrote is compared.
#[test]
fn a_program_gets_the_file_for_itself() {
    let Some(library) = library() else { return };
    let fixture = Fixture::new();
    let program = format!(
        "targets = [\"file\"]\nmetric = \"load.rows_per_s\"\n{}\n{}",
        r#"
[[experiment.phase]]
id = "table"
timed = false
sql = "CREATE TABLE {table} (i INT, i2 INT)"
[[experiment.phase]]
id = "load"
rows = "{rows.pairs}""#,
        format_args!(
            "command = {{ run = [\"{}\", \"load\", \"{{file.pairs}}\", \"{{url}}\", \"--table\", \"{{table}}\", \"--header\", \"no\", \"-q\"] }}\n\
             [[experiment.phase]]\nid = \"loaded\"\nverify = {{ dataset = \"pairs\", sql = \"SELECT i, i2 FROM {{table}}\" }}",
            env!("CARGO_BIN_EXE_inrush")
        )
    );
    fixture.write("suite.toml", suite(TARGETS, &program));
    run(command(&fixture, &[], library.to_str().unwrap())).exits(0);
    for sample in samples(&fixture) {
        assert_eq!(sample["status"], "ok", "{sample:#}");
        assert_eq!(sample["verified"], "values");
    }
}

#[test]
fn without_the_library_its_cells_are_unavailable_and_others_are_measured() {
    let fixture = Fixture::new();
    let both = EXPERIMENT.replace(r#"["file", "memory"]"#, r#"["file", "sqlite"]"#).replace(
        r#"strategy = ["duckdb/arrow", "duckdb/appender", "duckdb/prepared", ""]"#,
        r#"strategy = [""]"#,
    );
    fixture.write("suite.toml", suite(TARGETS, &both));
    let dry = run(command(&fixture, &["--dry-run"], "nowhere.so")).exits(0);
    assert!(dry.stdout.contains("unavailable: INRUSH_DUCKDB_LIB nowhere.so"), "{}", dry.stdout);
    run(command(&fixture, &[], "nowhere.so")).exits(0);
    let statuses = statuses(&fixture);
    let (status, why) = &statuses["file strategy="];
    assert_eq!(status, "unavailable");
    assert!(why.contains("this library can't be loaded"), "{why}");
    // The noise is measured where something can be.
    assert_eq!(statuses["sqlite strategy="].0, "ok", "{statuses:?}");
    assert_eq!(statuses["sqlite strategy= again"].0, "ok", "{statuses:?}");
    // What an option names has to be there.
    let named = run(command(&fixture, &["--duckdb-lib", "nowhere.so"], "")).exits(2);
    assert!(named.stderr.contains("--duckdb-lib nowhere.so"), "{}", named.stderr);
}
