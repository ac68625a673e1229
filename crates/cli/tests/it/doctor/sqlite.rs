//! Files of SQLite's.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::{answer, named, statements};
use crate::fixture::{Fixture, INRUSH, Outcome, finish, repository, rows, start};

/// A database with five faults: small pages, a file that is cut at every commit, an index twice, one that is the rowid, and a foreign
/// key without any.
fn with_five_faults(journal_mode: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        &format!(
            "PRAGMA page_size = 1024; PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = {journal_mode};
             CREATE TABLE \"pa\"\"rent\" (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
             CREATE TABLE child (id INTEGER PRIMARY KEY, \"of\" REFERENCES \"pa\"\"rent\"(id), a, b);
             CREATE INDEX \"child \"\"a\" ON child (a);
             CREATE INDEX child_ab ON child (a, b);
             CREATE INDEX child_partly ON child (a) WHERE b > 0;
             CREATE INDEX child_id ON child (id);
             INSERT INTO \"pa\"\"rent\" VALUES (1, 'x')"
        ),
    );
    fixture
}

/// Times of the files, which opening could change.
fn times(fixture: &Fixture) -> BTreeMap<String, SystemTime> {
    let time = |name: &String| fixture.path(name).metadata().unwrap().modified().unwrap();
    let mut times: BTreeMap<_, _> =
        fixture.names().iter().map(|name| (name.clone(), time(name))).collect();
    times.insert("the folder".to_owned(), fixture.dir().metadata().unwrap().modified().unwrap());
    times
}

fn untouched<T>(fixture: &Fixture, work: impl FnOnce() -> T) -> T {
    let before = times(fixture);
    let done = fixture.leaves_all(work);
    assert_eq!(times(fixture), before);
    done
}

#[test]
fn five_faults_of_a_file_are_named_and_are_gone_after_the_statements() {
    for journal_mode in ["DELETE", "WAL"] {
        let fixture = with_five_faults(journal_mode);
        let run = untouched(&fixture, || fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
        let found = answer(&run);
        assert_eq!(
            named(&found),
            [
                "slow page_size",
                "slow auto_vacuum",
                "slow redundant-index",
                "slow redundant-index",
                "slow foreign-key-without-index"
            ]
        );
        let db = fixture.db("t.db");
        for sql in statements(&found) {
            db.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        drop(db);
        let after = answer(&fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
        assert_eq!(named(&after), [""; 0], "{journal_mode}: {after:#}");
        let mode = fixture.query("t.db", "PRAGMA journal_mode");
        assert_eq!(mode, rows![[journal_mode.to_lowercase()]]);
        fixture.assert_sound("t.db");
    }
}

/// As the documentation and the help have it: what is copied from there has to work.
#[test]
fn the_documented_line_changes_all_that_statements_change() {
    let fixture = with_five_faults("DELETE");
    std::fs::rename(fixture.path("t.db"), fixture.path("shop.db")).unwrap();
    let begins = "inrush doctor shop.db --json | jq";
    let help = fixture.inrush(&["doctor", "--help"]).exits(0).stdout;
    let docs = std::fs::read_to_string(repository("docs/doctor.md")).unwrap();
    let lines: Vec<&str> = [help.as_str(), docs.as_str()]
        .iter()
        .map(|text| text.lines().find_map(|line| line.trim().strip_prefix(begins)).unwrap())
        .map(|line| line.split("    #").next().unwrap())
        .collect();
    assert_eq!(lines[0], lines[1]);
    let mut command = std::process::Command::new("sh");
    command.args(["-e", "-c", &format!("{begins}{}", lines[0])]).current_dir(fixture.dir());
    let folder = std::path::Path::new(INRUSH).parent().unwrap().display();
    command.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
    let run = Outcome::of(lines[0].to_owned(), finish(start(&mut command), b"")).exits(0);
    assert_eq!(run.stderr, "");
    let after = answer(&fixture.inrush(&["doctor", "shop.db", "--json"]).exits(0));
    assert_eq!(named(&after), [""; 0], "{after:#}");
}

#[test]
fn a_new_database_has_no_findings() {
    let fixture = Fixture::new();
    fixture
        .sql("t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX t_a ON t (a)");
    fixture.write("empty.db", "");
    for name in ["t.db", "empty.db"] {
        let run = untouched(&fixture, || fixture.inrush(&["doctor", name, "--json"]).exits(0));
        assert_eq!(named(&answer(&run)), [""; 0]);
    }
    let shown = fixture.inrush(&["doctor", "t.db"]).exits(0);
    // Whether its pages are damaged is another question.
    shown.prints(&["nothing to change", "not known", "sqlite3 t.db 'PRAGMA quick_check'"]);
}

#[test]
fn free_pages_and_random_keys_are_named() {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        "CREATE TABLE t (id TEXT PRIMARY KEY, a);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
         INSERT INTO t SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
           || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))), zeroblob(20000) FROM n;
         DELETE FROM t WHERE rowid > 100",
    );
    let run = untouched(&fixture, || fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
    let found = answer(&run);
    assert_eq!(named(&found), ["slow random-key", "note freelist"]);
    assert_eq!(statements(&found), ["VACUUM"]);
}

#[test]
fn a_log_left_behind_is_read_without_being_touched() {
    let fixture = Fixture::new();
    let db = rusqlite::Connection::open(fixture.path("live.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a, b); CREATE INDEX one ON t (a);
         CREATE INDEX two ON t (a); INSERT INTO t VALUES (1, 2)",
    )
    .unwrap();
    // As a killed process leaves it: without the memory that its users shared.
    for suffix in ["", "-wal"] {
        std::fs::copy(
            fixture.path(&format!("live.db{suffix}")),
            fixture.path(&format!("left.db{suffix}")),
        )
        .unwrap();
    }
    for name in ["left.db", "live.db"] {
        let run = untouched(&fixture, || fixture.inrush(&["doctor", name, "--json"]).exits(0));
        assert_eq!(named(&answer(&run)), ["slow redundant-index"], "{name}");
    }
    // Sparse, but 65 MiB long.
    let log = std::fs::File::options().write(true).open(fixture.path("left.db-wal")).unwrap();
    log.set_len(65 << 20).unwrap();
    let run = untouched(&fixture, || fixture.inrush(&["doctor", "left.db", "--json"]).exits(0));
    let found = answer(&run);
    assert_eq!(named(&found), ["slow wal-left-behind", "slow redundant-index"]);
    let left = fixture.db("left.db");
    for sql in statements(&found) {
        left.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let after = answer(&fixture.inrush(&["doctor", "left.db", "--json"]).exits(0));
    assert_eq!(named(&after), [""; 0]);
}

#[test]
fn a_writer_at_work_and_one_that_was_interrupted_are_not_disturbed() {
    let fixture = Fixture::new();
    fixture
        .sql("t.db", "CREATE TABLE t (a, b); CREATE INDEX one ON t (a); CREATE INDEX two ON t (a)");
    let writer = fixture.db("t.db");
    writer
        .execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; INSERT INTO t VALUES (zeroblob(100000), 1)")
        .unwrap();
    let run = untouched(&fixture, || fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
    let found = answer(&run);
    assert_eq!(named(&found).last().unwrap(), "note journal-left-behind");
    writer.execute_batch("COMMIT").unwrap();
    let run = untouched(&fixture, || fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
    assert_eq!(named(&answer(&run)), ["slow redundant-index"]);

    writer.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    // Reading the file here would end the lock, which is this process's.
    let found = answer(&fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
    assert_eq!(named(&found), [""; 0]);
    assert!(found["not_known"].to_string().contains("tables and indexes"), "{found:#}");
}

#[test]
fn what_is_no_database_is_an_error_of_one_line() {
    let fixture = Fixture::new();
    fixture.write("no.db", "a,b\n1,2\n").write("rows.csv", "a,b\n1,2\n");
    fixture.sql("t.db", "CREATE TABLE t (a)");
    let mut newer = fixture.read("t.db");
    newer[18..20].fill(7);
    fixture.write("newer.db", newer);
    for (args, code, words) in [
        (&["doctor", "none.db"][..], 1, "there is no database none.db"),
        (&["doctor", "no.db"], 1, "no.db is not an SQLite database, or is encrypted"),
        (&["doctor", "no.db"], 1, "see what it is: file no.db"),
        (&["doctor", "newer.db"], 1, "newer.db is of a newer format, read version 7"),
        (&["doctor", "."], 2, "name a database, as FILE.db"),
        (
            &["doctor", "rows.csv", "t.db"],
            2,
            "name the database first: inrush doctor t.db rows.csv",
        ),
        (
            &["doctor", "csv:rows.csv", "t.db"],
            2,
            "name the database first: inrush doctor t.db csv:rows.csv",
        ),
        (&["doctor", "t.db", "none.csv"], 1, "none.csv"),
        (&["doctor", "csv:rows.csv"], 2, "is a file of rows"),
        (&["doctor", "rows.csv"], 2, "is not a supported target"),
        (&["doctor"], 2, "TARGET"),
    ] {
        let run = untouched(&fixture, || fixture.inrush(args).exits(code));
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
        assert!(!run.stderr.contains("target last"), "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_file_of_two_hundred_tables_takes_less_than_a_second() {
    let fixture = Fixture::new();
    let tables: String = (0..200)
        .map(|i| {
            format!(
                "CREATE TABLE t{i} (id TEXT PRIMARY KEY, a, b, c REFERENCES t0(id)); CREATE INDEX t{i}_a ON t{i} (a, b);
                 CREATE INDEX t{i}_c ON t{i} (c);"
            )
        })
        .collect();
    fixture.sql("t.db", &format!("BEGIN; {tables} COMMIT"));
    let found = answer(&fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
    let seconds = found["seconds"].as_f64().unwrap();
    println!("{seconds:.3} s");
    // As a program without optimisation, on a machine that is busy with other tests.
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn a_virtual_table_of_a_module_that_is_not_loaded_hides_no_fault() {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        "CREATE TABLE t (a); CREATE INDEX one ON t (a); CREATE INDEX two ON t (a); PRAGMA writable_schema = ON;
         INSERT INTO sqlite_schema VALUES ('table', 'far', 'far', 0, 'CREATE VIRTUAL TABLE far USING shapes (x)')",
    );
    let found = answer(&fixture.inrush(&["doctor", "t.db", "--json"]).exits(0));
    assert_eq!(named(&found), ["slow redundant-index"]);
}
