//! Suites that claim what is not so. A figure of theirs would be worse than none.

use super::{bench, samples, statuses, suite};
use crate::fixture::Fixture;

/// Targets that write the 500 pairs, each in its own way, most of them wrongly.
const TARGETS: &str = r#"
[target.honest]
family = "sqlite"
about = "writes what it should"
durability = "durable"
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499) SELECT i, 2 * i FROM n" }

[target.dropper]
family = "sqlite"
about = "leaves the last row out"
durability = "durable"
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 498) SELECT i, 2 * i FROM n" }

[target.changer]
family = "sqlite"
about = "changes a value"
durability = "durable"
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499) SELECT i, 2 * i + (i = 77) FROM n" }

[target.swapper]
family = "sqlite"
about = "gives two rows each other's value"
durability = "durable"
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499) SELECT i, 2 * CASE i WHEN 7 THEN 8 WHEN 8 THEN 7 ELSE i END FROM n" }

[target.nuller]
family = "sqlite"
about = "loses a value"
durability = "durable"
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499) SELECT i, nullif(2 * i, 0) FROM n" }

[target.boaster]
family = "sqlite"
about = "says durable, and syncs nothing"
durability = "durable"
connect = ["PRAGMA synchronous=OFF"]
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499) SELECT i, 2 * i FROM n" }

[target.braggart]
family = "sqlite"
about = "says that it has a setting that it has not"
durability = "none"
read_back = { journal_mode = "wal" }
vars = { from = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 499) SELECT i, 2 * i FROM n" }
"#;

const EXPERIMENT: &str = r#"
targets = ["honest", "dropper", "changer", "swapper", "nuller", "boaster", "braggart"]
metric = "insert.seconds"
[[experiment.phase]]
id = "insert"
sql = ["CREATE TABLE {table} (i INT, i2 INT)", "INSERT INTO {table} {from}"]
[[experiment.phase]]
id = "inserted"
verify = { dataset = "pairs", sql = "SELECT i, i2 FROM {table}" }
"#;

#[test]
fn what_is_not_so_is_incorrect() {
    let fixture = Fixture::new();
    fixture.write("suite.toml", suite(TARGETS, EXPERIMENT));
    let run = bench(&fixture, &[]).exits(3);
    let statuses = statuses(&fixture);
    let is = |label: &str, status: &str, words: &str| {
        let (found, error) = &statuses[label];
        assert_eq!(found, status, "{label}: {error}");
        assert!(error.contains(words), "{label}: {error}");
    };
    is("honest", "ok", "");
    is("honest again", "ok", "");
    is("dropper", "incorrect", "500 rows were sent, 499 are there");
    is("changer", "incorrect", "column i2 adds up to");
    is("swapper", "incorrect", "not in the same rows");
    is("nuller", "incorrect", "column i2");
    is(
        "boaster",
        "incorrect",
        "the suite says that target boaster is durable, but its settings make it process",
    );
    is("braggart", "incorrect", "the suite says journal_mode = wal, but it is delete");
    assert!(run.stdout.contains("dropper") || run.stdout.contains("incorrect"), "{}", run.stdout);
    // What is not right has no figure in the findings.
    let json = bench(&fixture, &["--json"]).exits(3).json();
    for cell in json["findings"]["experiments"][0]["cells"].as_array().unwrap() {
        let is_honest = cell["cell"]["coordinates"]["target"] == "honest";
        assert_eq!(!cell["metrics"].as_object().unwrap().is_empty(), is_honest, "{cell:#}");
    }
}

/// The second step says that a row was added, and takes it away again; the check asks for all that were acknowledged.
const MIX: &str = r#"
targets = ["sqlite"]
axes = { way = ["honest", "lost"] }
workers = 3
shared = true
metric = "requests.requests_per_s"
[[experiment.phase]]
id = "table"
timed = false
once = true
sql = ["CREATE TABLE {table} (i INT, i2 INT)"]
[[experiment.phase]]
id = "thief"
timed = false
once = true
when = [{ way = "lost" }]
sql = ["CREATE TRIGGER thief AFTER INSERT ON {table} WHEN new.i % 5 = 0 BEGIN DELETE FROM {table} WHERE rowid = new.rowid; END"]
[[experiment.phase]]
id = "requests"
[experiment.phase.mix]
requests = 60
range = 100
connect = "request"
step = [
  { id = "begin", sql = "BEGIN IMMEDIATE", transaction = "begin" },
  { id = "insert", sql = "INSERT INTO {table} VALUES ({r}, 1)" },
  { id = "commit", sql = "COMMIT", transaction = "commit" },
]
check = [{ about = "rows", sql = "SELECT count(*) FROM {table}", steps = ["insert"] }]
"#;

const SQLITE: &str = r#"
[target.sqlite]
family = "sqlite"
about = "SQLite"
durability = "durable"
connect = ["PRAGMA busy_timeout={busy_timeout}"]
vars = { busy_timeout = 5000 }
"#;

#[test]
fn a_row_that_was_acknowledged_and_is_gone_is_noticed() {
    let fixture = Fixture::new();
    fixture.write("suite.toml", suite(SQLITE, MIX));
    bench(&fixture, &[]).exits(3);
    let statuses = statuses(&fixture);
    assert_eq!(statuses["sqlite way=honest"].0, "ok", "{statuses:?}");
    let (status, error) = &statuses["sqlite way=lost"];
    assert_eq!(status, "incorrect");
    assert!(error.contains("60 were acknowledged"), "{error}");
}

#[test]
fn failed_requests_are_counted_by_their_message_and_are_no_rows() {
    let fixture = Fixture::new();
    // Three processes, no patience, and transactions that read first: some have to fail.
    let text = suite(SQLITE, MIX)
        .replace("busy_timeout = 5000", "busy_timeout = 0")
        .replace("requests = 60", "requests = 600")
        .replace("connect = \"request\"", "connect = \"worker\"");
    fixture.write("suite.toml", text);
    bench(&fixture, &["--only", "honest"]).exits(0);
    for sample in samples(&fixture) {
        assert_eq!(sample["status"], "ok", "{sample:#}");
        let requests = super::phase(&sample, "requests");
        let failed = requests["failed"].as_object().cloned().unwrap_or_default();
        let count: u64 = failed.values().map(|count| count.as_u64().unwrap()).sum();
        assert!(failed.keys().all(|message| message == "database is locked"), "{failed:?}");
        assert_eq!(requests["requests"].as_u64().unwrap() + count, 600);
        let latency = requests["latency"]["request"]["n"].as_u64().unwrap();
        assert_eq!(latency, requests["requests"].as_u64().unwrap());
    }
}
