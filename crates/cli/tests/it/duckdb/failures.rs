use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Instant;

use inrush::pipe::Phase;
use inrush::plan::Guarantee;
use inrush::{LoadOptions, Observer, Request, Unobserved};

use super::{STRATEGIES, VARIABLE, fixture, lines, sql};
use crate::fixture::{Fixture, Outcome, Random, finish, size, start, wait_until};
use crate::servers::ask;

const ROWS: u32 = 20_000;

fn rows() -> String {
    (0..ROWS).map(|n| format!("{n},name {n:0>90}\n")).collect()
}

#[test]
fn a_library_that_is_not_there_is_told_with_where_to_get_one() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("lib.so", "no library");
    let run = |command: &mut Command| {
        let run = finish(start(command), b"");
        Outcome::of("load".to_owned(), run)
    };
    let load = ["load", "in.csv", "t.duckdb"];
    let before = fixture.snapshot();
    run(fixture.command(&load).env_remove(VARIABLE).env("LD_LIBRARY_PATH", "")).exits(1).says(&[
        "DuckDB's library isn't there",
        "libduckdb.so",
        "npm pack",
        "--duckdb-lib",
        VARIABLE,
    ]);
    run(fixture.command(&load).env(VARIABLE, "nowhere.so"))
        .exits(2)
        .says(&["INRUSH_DUCKDB_LIB nowhere.so", "nowhere.so: cannot open"]);
    let named = [&load[..], &["--duckdb-lib", "lib.so"]].concat();
    run(&mut fixture.command(&named)).exits(2).says(&["--duckdb-lib lib.so", "can't be loaded"]);
    let libc = [&load[..], &["--duckdb-lib", "libc.so.6"]].concat();
    run(&mut fixture.command(&libc)).exits(1).says(&["this is not DuckDB's library"]);
    fixture.assert_unchanged(&before);
}

#[test]
fn a_folder_with_the_library_will_do() {
    let Some(library) = super::library() else { return };
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let folder = library.parent().unwrap().to_str().unwrap();
    let mut command = fixture.command(&["load", "in.csv", "t.duckdb", "--duckdb-lib", folder]);
    let run = finish(start(command.env_remove(VARIABLE)), b"");
    Outcome::of("load".to_owned(), run).exits(0);
}

/// Else the engine would fetch an extension over the network, and write into that database.
#[test]
fn a_database_of_sqlite_is_not_written_by_duckdb() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id\n1\n");
    fixture.load(&["in.csv", "s.db"]).exits(0);
    fs::rename(fixture.path("s.db"), fixture.path("s.duckdb")).unwrap();
    let load = ["load", "in.csv", "s.duckdb", "--if-exists", "append"];
    let run = finish(start(fixture.command(&load).env("HOME", fixture.dir())), b"");
    Outcome::of("load".to_owned(), run)
        .exits(1)
        .says(&["s.duckdb is an SQLite database", "sqlite:s.duckdb"]);
    let run = fixture.inrush(&["doctor", "s.duckdb"]);
    assert_ne!(run.status.code(), Some(0));
    run.says(&["s.duckdb is an SQLite database"]);
    fixture.load(&["in.csv", "sqlite:s.duckdb", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.names(), ["in.csv", "s.duckdb"]);
}

#[test]
fn files_that_are_no_database() {
    let Some(fixture) = fixture() else { return };
    fixture
        .write("in.csv", "id\n1\n")
        .write("empty.duckdb", "")
        .write("text.duckdb", "x".repeat(9_000));
    fixture.write("gone.duckdb.wal", "a log");
    fs::create_dir(fixture.path("folder.duckdb")).unwrap();
    fixture
        .refuses(&["in.csv", "empty.duckdb"])
        .says(&["empty.duckdb is empty", "rm empty.duckdb"]);
    fixture.refuses(&["in.csv", "text.duckdb"]).says(&["text.duckdb is not a DuckDB database"]);
    fixture.refuses(&["in.csv", "folder.duckdb"]).says(&["is a directory"]);
    fixture.refuses(&["in.csv", "none/x.duckdb"]).says(&["the directory none does not exist"]);
    fixture.refuses(&["in.csv", "gone.duckdb"]).says(&["gone.duckdb.wal is there without"]);
    fixture.misused(&["load", "in.csv", "duckdb::memory:x"]).says(&["in memory"]);
    fixture
        .misused(&["load", "in.csv", "t.duckdb", "--set", "storage_version=v9"])
        .says(&["v1.0.0"]);
    fixture.misused(&["load", "in.csv", "t.duckdb", "--lanes", "0"]).says(&["at least 1"]);
}

/// Which the engine writes into the file while it plays the log back.
#[test]
fn a_log_with_rows_and_an_index_of_them_keeps_nothing_out() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id\n1\n");
    for command in ["plan", "load"] {
        sql(
            &fixture,
            "t.duckdb",
            "CREATE OR REPLACE TABLE t (id BIGINT, name VARCHAR); CHECKPOINT;
             SET wal_autocheckpoint = '10GB'; PRAGMA disable_checkpoint_on_shutdown;
             INSERT INTO t SELECT range, 'name ' || range FROM range(100000); CREATE INDEX of_id ON t (id)",
        );
        assert!(fixture.path("t.duckdb.wal").exists());
        let doctor = || fixture.inrush(&["doctor", "t.duckdb"]).exits(1);
        fixture.leaves_all(doctor).says(&["replaying WAL", "duckdb t.duckdb -c CHECKPOINT"]);
        fixture.inrush(&[command, "in.csv", "t.duckdb"]).exits(0);
        fixture.inrush(&["doctor", "t.duckdb"]).exits(0);
        assert_eq!(
            lines(&fixture, "t.duckdb", "SELECT count(*), max(id) FROM t"),
            ["100000|99999"]
        );
    }
}

#[test]
fn a_database_that_another_process_has_open() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id\n1\n").write("t.csv", "id\n1\n");
    sql(&fixture, "t.duckdb", "CREATE TABLE t (id INTEGER)");
    let mut child =
        start(&mut fixture.command(&["load", "-", "t.duckdb", "--table", "t", "--header", "yes"]));
    wait_for_lock(&fixture, &mut child);
    fixture
        .load(&["t.csv", "t.duckdb"])
        .exits(1)
        .says(&["t.duckdb is open in another process", "close it there"]);
    child.kill().unwrap();
    child.wait().unwrap();
    fixture.load(&["t.csv", "t.duckdb"]).exits(0);
}

/// Feeds a load until it has the database open.
fn wait_for_lock(fixture: &Fixture, child: &mut std::process::Child) {
    use std::io::Write as _;
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"id\n").unwrap();
    (0..400_000).for_each(|n| writeln!(input, "{n}").unwrap());
    wait_until("a lock", || {
        let run = fixture.load(&["t.csv", "t.duckdb", "--if-exists", "fail"]);
        !run.stderr.contains("a table t already")
    });
}

/// Kills loads at moments that look random, spread over the time that one takes.
fn kill_loads(seed: u64, strategy: &str, is_there: bool) {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", format!("id,name\n{}", rows()));
    let how = if is_there { "append" } else { "empty" };
    let args = ["load", "in.csv", "t.duckdb", "--strategy", strategy, "--if-exists", how];
    let make = || {
        for name in fixture.names().iter().filter(|name| name.starts_with("t.duckdb")) {
            fs::remove_file(fixture.path(name)).unwrap();
        }
        if is_there {
            sql(
                &fixture,
                "t.duckdb",
                "CREATE TABLE \"in\" (id INTEGER PRIMARY KEY, name VARCHAR); INSERT INTO \"in\" VALUES (-1, 'old')",
            );
        }
    };
    make();
    let began = Instant::now();
    fixture.inrush(&args).exits(0);
    let mut whole = began.elapsed();
    let old = u32::from(is_there);
    let mut random = Random(seed);
    println!("seed {seed:#x}, {strategy}, a whole load takes {whole:?}");
    let (mut cut, kills) = (0, size(1, 5));
    while cut < kills {
        make();
        let moment = whole.mul_f64((f64::from(cut) + random.share()) / f64::from(kills));
        let mut child = start(&mut fixture.command(&args));
        sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        if !is_there && !fixture.path("t.duckdb").exists() {
            cut += 1;
            continue;
        }
        let found = &lines(&fixture, "t.duckdb", "SELECT count(*) FROM \"in\"")[0];
        if *found == (ROWS + old).to_string() {
            // The load was over before the signal came.
            whole = whole.mul_f64(0.8);
            continue;
        }
        assert_eq!(*found, old.to_string(), "neither nothing nor all");
        cut += 1;
    }
    // What the dead left is swept.
    make();
    fixture.inrush(&args).exits(0);
    assert_eq!(fixture.names(), ["in.csv", "t.duckdb"]);
}

#[test]
fn a_killed_load_leaves_no_new_database() {
    kill_loads(0x1, STRATEGIES[0], false);
    kill_loads(0x2, STRATEGIES[1], false);
}

#[test]
fn a_load_that_is_stopped_or_fails_leaves_the_database_as_it_was() {
    use std::io::Write as _;
    let Some(fixture) = fixture() else { return };
    for strategy in STRATEGIES {
        for db in ["new.duckdb", "old.duckdb"] {
            if db == "old.duckdb" {
                sql(&fixture, db, "CREATE OR REPLACE TABLE \"in\" (id INTEGER, name VARCHAR)");
            }
            let args =
                ["load", "-", db, "--table", "in", "--strategy", strategy, "--header", "yes"];
            let mut child = start(&mut fixture.command(&args));
            let input = child.stdin.as_mut().unwrap();
            input.write_all(b"id,name\n").unwrap();
            (0..2).for_each(|_| input.write_all(rows().as_bytes()).unwrap());
            // All but what a pipe holds has been taken, which is more than is looked at before a load begins.
            let pid = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
            let run = Outcome::of(args.join(" "), (child.wait().unwrap(), Vec::new(), Vec::new()));
            assert_eq!(run.status.code(), Some(130), "{strategy} {db}");
        }
        assert_eq!(fixture.names(), ["old.duckdb"], "{strategy}");
        assert_eq!(lines(&fixture, "old.duckdb", "SELECT count(*) FROM \"in\""), ["0"]);
    }
}

#[test]
fn what_somebody_else_has_made_meanwhile_is_not_lost() {
    use std::io::Write as _;
    let Some(fixture) = fixture() else { return };
    let mut child =
        start(&mut fixture.command(&["load", "-", "t.duckdb", "--table", "t", "--header", "yes"]));
    let input = child.stdin.as_mut().unwrap();
    input.write_all(b"id,name\n").unwrap();
    (0..5).for_each(|_| input.write_all(rows().as_bytes()).unwrap());
    let is_hidden = |name: &String| name.starts_with(".t.duckdb.inrush-");
    wait_until("a hidden file", || fixture.names().iter().any(is_hidden));
    fixture.write("t.duckdb", "theirs");
    let run = Outcome::of("load".to_owned(), finish(child, b"1,ours\n"));
    run.exits(1).says(&["made by another process"]).ends_with_nothing_changed();
    assert_eq!(fixture.read("t.duckdb"), b"theirs");
    assert_eq!(fixture.names(), ["t.duckdb"]);
}

/// What a load in steps has not committed goes, and its new database with it only if no other has written there.
#[test]
fn a_new_database_with_tables_of_others_stays_when_its_load_fails() {
    struct Stopping(Box<dyn Fn() + Sync>, AtomicBool);
    impl Observer for Stopping {
        fn stop(&self) -> Option<&AtomicBool> {
            Some(&self.1)
        }
        fn phase(&self, phase: &Phase) {
            if matches!(phase, Phase::Load) {
                (self.0)();
                self.1.store(true, Relaxed);
            }
        }
    }
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id\n1\n");
    let in_steps = LoadOptions { guarantee: Guarantee::Chunks, ..LoadOptions::default() };
    let request = Request {
        sources: vec![fixture.path("in.csv").to_str().unwrap().to_owned()],
        target: format!("duckdb:{}", fixture.path("t.duckdb").display()),
        options: in_steps,
        ..Request::default()
    };
    let fails = |meanwhile: Box<dyn Fn() + Sync>| {
        let observer = Stopping(meanwhile, AtomicBool::new(false));
        inrush::plan(&request, &Unobserved)
            .and_then(|plan| inrush::run(&plan, &observer))
            .map(|_| ())
            .unwrap_err()
    };
    let path = fixture.path("t.duckdb");
    fails(Box::new(move || assert!(path.exists())));
    assert_eq!(fixture.names(), ["in.csv"]);
    let url = request.target.clone();
    fails(Box::new(move || drop(ask(&url, "CREATE TABLE theirs AS SELECT 7 AS id"))));
    assert_eq!(lines(&fixture, "t.duckdb", "SELECT CAST(id AS VARCHAR) FROM theirs"), ["7"]);
    let tables = "SELECT table_name FROM duckdb_tables()";
    assert_eq!(lines(&fixture, "t.duckdb", tables), ["theirs"]);
}
