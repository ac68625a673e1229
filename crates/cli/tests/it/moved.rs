use std::fs;
use std::io::Write as _;

use crate::fixture::{Fixture, Outcome, finish, start, wait_until, wait_until_it_waits};

/// What becomes of the file's name.
#[derive(Clone, Copy, Debug)]
enum Loss {
    Moved,
    Replaced,
    Removed,
}

const LOSSES: [Loss; 3] = [Loss::Moved, Loss::Replaced, Loss::Removed];

/// A load into a table of one row, whose file loses its name while the load waits for its last row.
fn load(fixture: &Fixture, name: &str, how: &str, loss: Loss) -> Outcome {
    let args = ["load", "-", name, "--table", "t", "--chunk-size", "16k", "--if-exists", how];
    let mut child = start(&mut fixture.command(&args));
    let input = child.stdin.as_mut().unwrap();
    let long = "x".repeat(500);
    let rows: String = (1..=4_000).map(|n| format!("{n},{long}\n")).collect();
    input.write_all(b"id,name\n").unwrap();
    input.write_all(rows.as_bytes()).unwrap();
    wait_until_it_waits(&child);
    lose(fixture, name, loss);
    Outcome::of(format!("{how}, {loss:?}"), finish(child, b"4001,last\n"))
}

/// The same in steps, between two of them.
fn load_in_steps(fixture: &Fixture, name: &str, loss: Loss) -> Outcome {
    let long = "x".repeat(500);
    let rows: String = (1..=20_000).map(|n| format!("{n},{long}\n")).collect();
    fixture.write("big.csv", format!("id,name\n{rows}"));
    let bytes = || {
        let of_it = fixture.names().into_iter().filter(|found| found.starts_with(name));
        // What the engine writes beside the file may be gone by now.
        of_it
            .filter_map(|name| fs::metadata(fixture.path(&name)).ok())
            .map(|found| found.len())
            .sum()
    };
    let before: u64 = bytes();
    let args = ["load", "big.csv", name, "--table", "t", "--if-exists", "append"];
    let steps = ["--guarantee", "chunks", "--commit-rows", "100", "--chunk-size", "16k"];
    let child = start(&mut fixture.command(&[&args[..], &steps].concat()));
    wait_until("some steps", || bytes() > before + 200_000);
    lose(fixture, name, loss);
    Outcome::of(format!("steps, {loss:?}"), finish(child, b""))
}

fn lose(fixture: &Fixture, name: &str, loss: Loss) {
    let (path, old) = (fixture.path(name), fixture.path("old"));
    match loss {
        Loss::Moved => fs::rename(&path, &old).unwrap(),
        Loss::Replaced => {
            fs::copy(&path, fixture.path("new")).unwrap();
            fs::rename(&path, &old).unwrap();
            fs::rename(fixture.path("new"), &path).unwrap();
        }
        Loss::Removed => fs::remove_file(&path).unwrap(),
    }
}

const SAYS: &str = "was moved, replaced or removed by another process";

/// A database of one table of one row.
fn begin(fixture: &Fixture, name: &str, prepare: &impl Fn()) {
    for left in fixture.names() {
        fs::remove_file(fixture.path(&left)).unwrap();
    }
    fixture.write("in.csv", "id,name\n0,old\n");
    fixture.load(&["in.csv", name, "--table", "t"]).exits(0);
    prepare();
}

/// `prepare` changes the database before each load, and `count` counts the rows of its table.
fn no_rows_are_lost(fixture: &Fixture, name: &str, prepare: impl Fn(), count: impl Fn() -> i64) {
    for (how, loss) in ["append", "truncate", "replace"].into_iter().zip(LOSSES) {
        begin(fixture, name, &prepare);
        let run = load(fixture, name, how, loss);
        run.exits(1).says(&[name, SAYS]).ends_with_nothing_changed();
        if !matches!(loss, Loss::Removed) {
            fs::rename(fixture.path("old"), fixture.path(name)).unwrap();
            assert_eq!(count(), 1, "{how}");
            fixture.load(&["in.csv", name, "--table", "t", "--if-exists", "append"]).exits(0);
            assert_eq!(count(), 2);
        }
    }
    for loss in LOSSES {
        begin(fixture, name, &prepare);
        let run = load_in_steps(fixture, name, loss).exits(1).says(&[name, SAYS]);
        assert!(run.stderr.contains("resumable: "), "{run:?}");
    }
}

#[test]
fn a_database_of_sqlite_that_loses_its_name_gets_no_rows() {
    let fixture = Fixture::new();
    for mode in ["delete", "wal"] {
        let prepare = || {
            fixture.sql("t.db", &format!("PRAGMA journal_mode = {mode}"));
        };
        let count = || fixture.number("t.db", "SELECT count(*) FROM t");
        no_rows_are_lost(&fixture, "t.db", prepare, count);
    }
}

#[test]
fn a_database_of_duckdb_that_loses_its_name_gets_no_rows() {
    let Some(fixture) = crate::duckdb::fixture() else { return };
    let count = || {
        let lines = crate::duckdb::lines(&fixture, "t.duckdb", "SELECT count(*) FROM t");
        lines[0].parse().unwrap()
    };
    no_rows_are_lost(&fixture, "t.duckdb", || {}, count);
}

/// SQLite knows the file behind a link, and not the link.
#[test]
fn a_link_that_leads_to_another_database_meanwhile_is_noticed() {
    let fixture = Fixture::new();
    fixture.sql("a.db", "CREATE TABLE t (id, name)").sql("b.db", "CREATE TABLE t (id, name)");
    let link = |to: &str| std::os::unix::fs::symlink(to, fixture.path("new")).unwrap();
    link("a.db");
    fs::rename(fixture.path("new"), fixture.path("t.db")).unwrap();
    let mut child = start(&mut fixture.command(&[
        "load",
        "-",
        "t.db",
        "--table",
        "t",
        "--if-exists",
        "append",
        "--header",
        "yes",
    ]));
    let long = "x".repeat(500);
    let rows: String = (0..4_000).map(|n| format!("{n},{long}\n")).collect();
    let input = child.stdin.as_mut().unwrap();
    input.write_all(format!("id,name\n{rows}").as_bytes()).unwrap();
    wait_until_it_waits(&child);
    link("b.db");
    fs::rename(fixture.path("new"), fixture.path("t.db")).unwrap();
    let run = Outcome::of("load".to_owned(), finish(child, b""));
    run.exits(1).says(&["t.db was moved, replaced or removed"]).ends_with_nothing_changed();
    for name in ["a.db", "b.db"] {
        assert_eq!(fixture.number(name, "SELECT count(*) FROM t"), 0);
    }
}
