//! Targets that no load can go well with: not there, no database, locked, full, read-only. Each time a message that says what
//! and why, and nothing changed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bad_input::with_database;
use crate::fixture::{Fixture, INRUSH, Outcome, finish, is_root, rows, start, wait_until_it_waits};

#[test]
fn a_target_in_a_directory_that_is_not_there() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    fixture
        .refuses(&["in.csv", "nowhere/new.db"])
        .says(&["the directory nowhere does not exist", "mkdir -p nowhere"]);
}

#[test]
fn a_target_that_is_a_directory() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("data.db")).unwrap();
    fixture.write("in.csv", "id\n1\n");
    fixture.refuses(&["in.csv", "data.db"]).says(&["data.db is a directory"]);
    assert!(fs::read_dir(fixture.path("data.db")).unwrap().next().is_none());
}

/// Opening a pipe waits for its writer, and a device may have no end.
#[test]
fn pipes_and_devices_are_no_databases() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for pipe in ["pipe.db", "pipe.duckdb"] {
        assert!(Command::new("mkfifo").arg(fixture.path(pipe)).status().unwrap().success());
    }
    let mut targets = vec!["pipe.db", "sqlite:/dev/zero", "sqlite:/dev/null"];
    if crate::duckdb::library().is_some() {
        targets.extend(["pipe.duckdb", "duckdb:/dev/zero"]);
    }
    for target in targets {
        for args in [
            &["load", "in.csv", target][..],
            &["plan", "in.csv", target],
            &["check", "in.csv", target],
            &["doctor", target],
            #[cfg(feature = "bench")]
            &["tune", "in.csv", target],
        ] {
            fixture
                .inrush(args)
                .exits(1)
                .says(&["is not a file, but a pipe, a socket or a device"]);
        }
    }
}

#[test]
fn a_target_that_is_no_database() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("notes.db", "These are my notes.\n".repeat(500));
    fixture.refuses(&["in.csv", "notes.db"]).says(&["notes.db is not an SQLite database"]);
    // Shorter than a database's header.
    fixture.write("notes.db", "note");
    fixture.refuses(&["in.csv", "notes.db"]).says(&["notes.db is not an SQLite database"]);
}

#[test]
fn a_database_of_duckdb_is_told_as_one_whatever_it_is_called() {
    let fixture = Fixture::new();
    let mut bytes = vec![0; 12_288];
    bytes[8..12].copy_from_slice(b"DUCK");
    fixture.write("in.csv", "id\n1\n").write("shop.db", bytes);
    let run = fixture.refuses(&["in.csv", "shop.db"]);
    run.says(&["shop.db is a DuckDB database", "name it as such: duckdb:shop.db"]);
}

#[test]
fn a_file_whose_name_begins_with_a_dash_is_told_from_options() {
    let fixture = Fixture::new();
    fixture.write("-dash.csv", "id\n1\n");
    let run = fixture.load(&["-dash.csv", "shop.db"]).exits(2);
    run.says(&["name the file ./-dash.csv"]);
    let run = fixture.load(&["--", "-dash.csv", "shop.db", "--table", "q"]).exits(2);
    run.says(&["inrush load --table q -- -dash.csv shop.db"]);
    fixture.load(&["--table", "q", "--", "-dash.csv", "shop.db"]).exits(0);
    fixture.load(&["./-dash.csv", "shop.db", "--table", "r"]).exits(0);
}

#[test]
fn a_scheme_is_no_part_of_a_file_s_name() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for (target, says) in [
        ("csv:y.db", "called like a database"),
        ("parquet:x.duckdb", "called like a database"),
        ("mysql:x.db", "write mysql://USER@HOST:PORT/DATABASE"),
        ("postgres:x.parquet", "write postgres://USER@HOST:PORT/DATABASE"),
        ("jdbc:sqlite:x.db", "leave jdbc: out: write sqlite:x.db"),
        ("file:x.db", "write the path alone: x.db"),
        ("https:x.parquet", "write ./https:x.parquet if that is the file's name"),
        ("sqlite:x.db?mode=ro", "write sqlite:x.db"),
        ("sqlite:///rel.db", "write sqlite:rel.db or sqlite:/rel.db"),
        ("sqlite:///:memory:", "in memory would be gone"),
    ] {
        fixture.leaves_all(|| fixture.load(&["in.csv", target])).says(&[says]);
    }
    let run = fixture.misused(&["load", "in.csv", "postgresql+psycopg2://u:geheim@h/d"]);
    assert!(!run.says(&["leave +psycopg2 out"]).stderr.contains("geheim"));
    // DuckDB says so, with its library or without.
    let run = fixture.load(&["in.csv", "duckdb:x.db", "--duckdb-lib", "none.so"]);
    run.says(&["none.so"]);
    fixture.load(&["in.csv", "./a:b.db", "--table", "t"]).exits(0);
    fixture.load(&["in.csv", "SQLITE:c.d", "--table", "t"]).exits(0);
    assert_eq!(fixture.names(), ["a:b.db", "c.d", "in.csv"]);
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("new.db", "");
    fixture.load(&["in.csv", "new.db"]).exits(0);
    assert_eq!(fixture.table("new.db", "in"), rows![[1]]);
}

#[test]
fn a_damaged_database() {
    let fixture = Fixture::new();
    fixture.sql(
        "shop.db",
        "CREATE TABLE t (id INTEGER, name TEXT);
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
         INSERT INTO t SELECT n, 'name ' || n FROM n;",
    );
    let mut bytes = fixture.read("shop.db");
    // Everything but the first page, which holds the schema.
    bytes[4096..].fill(0xa5);
    fixture.write("shop.db", bytes).write("in.csv", "id,name\n1,a\n");
    fixture
        .refuses(&["in.csv", "shop.db", "--table", "t", "--if-exists", "append"])
        .says(&["shop.db is damaged", "integrity_check"]);
}

#[test]
fn a_view_takes_no_rows() {
    let fixture = with_database();
    fixture
        .sql("shop.db", "CREATE VIEW seen AS SELECT * FROM old")
        .write("in.csv", "id,name\n1,a\n");
    fixture.refuses(&["in.csv", "shop.db", "--table", "seen"]).says(&["seen is a view"]);
    fixture
        .refuses(&["in.csv", "shop.db", "--table", "seen", "--if-exists", "replace"])
        .says(&["seen is a view"]);
}

#[test]
fn a_locked_database_is_waited_for_and_its_holder_named() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n3,c\n");
    // Read before and after, not while it is locked: who closes a file loses all locks that their process has on it.
    let bytes = fixture.read("shop.db");
    for mode in ["EXCLUSIVE", "IMMEDIATE"] {
        let holder = fixture.db("shop.db");
        holder.execute_batch(&format!("BEGIN {mode}")).unwrap();
        let before = Instant::now();
        fixture
            .load(&[
                "in.csv",
                "shop.db",
                "--table",
                "old",
                "--if-exists",
                "append",
                "--set",
                "busy_timeout=300",
            ])
            .exits(1)
            .says(&["shop.db is locked", &format!("pid {}", std::process::id()), "busy_timeout"])
            .ends_with_nothing_changed();
        let waited = before.elapsed();
        assert!(waited >= Duration::from_millis(300), "{waited:?}");
        // Where nobody says so it waits for 5 s.
        assert!(waited < Duration::from_secs(5), "BEGIN {mode}: waited {waited:?}");
        holder.execute_batch("ROLLBACK").unwrap();
        assert_eq!(fixture.read("shop.db"), bytes);
    }
    assert_eq!(fixture.names(), ["in.csv", "shop.db"]);
}

#[test]
fn a_lock_that_goes_away_in_time_only_delays_the_load() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n3,c\n");
    for mode in ["EXCLUSIVE", "IMMEDIATE"] {
        let holder = fixture.db("shop.db");
        holder.execute_batch(&format!("BEGIN {mode}")).unwrap();
        let load = ["load", "in.csv", "shop.db", "--table", "old", "--if-exists", "append"];
        let child = start(&mut fixture.command(&load));
        wait_until_it_waits(&child);
        holder.execute_batch("COMMIT").unwrap();
        Outcome::of("load".to_owned(), finish(child, b"")).exits(0);
    }
    assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM old"), 4);
}

#[test]
fn a_reader_that_never_ends_keeps_the_load_from_its_commit() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n3,c\n");
    let bytes = fixture.read("shop.db");
    let reader = fixture.db("shop.db");
    reader.execute_batch("BEGIN; SELECT * FROM old").unwrap();
    fixture
        .load(&[
            "in.csv",
            "shop.db",
            "--table",
            "old",
            "--if-exists",
            "append",
            "--set",
            "busy_timeout=300",
        ])
        .exits(1)
        .says(&["shop.db is locked", &format!("pid {}", std::process::id())])
        .ends_with_nothing_changed();
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(fixture.read("shop.db"), bytes);
    assert_eq!(fixture.names(), ["in.csv", "shop.db"]);
}

/// Runs a script with a file system of 1 MiB mounted as `disk`, seen by the script alone. `None`, and a word about it,
/// when this machine lets nobody mount.
pub(crate) fn on_a_small_disk(fixture: &Fixture, script: &str) -> Option<String> {
    fs::create_dir(fixture.path("disk")).unwrap();
    let script = format!("mount -t tmpfs -o size=1m tmpfs disk && echo mounted && {script}");
    for options in [&["-m"][..], &["-rm"]] {
        let run = Command::new("unshare")
            .args(options)
            .args(["sh", "-c", &script])
            .current_dir(fixture.dir())
            .output();
        match run {
            Ok(run) if run.stdout.starts_with(b"mounted") => {
                let text = String::from_utf8(run.stdout).unwrap();
                return Some(text + &String::from_utf8(run.stderr).unwrap());
            }
            _ => continue,
        }
    }
    eprintln!(
        "SKIPPED: no full disk to test with, because `unshare -m` and `unshare -rm` can't mount here"
    );
    None
}

#[test]
fn a_full_disk_under_a_new_database() {
    let fixture = Fixture::new();
    let rows: String =
        (1..40_000).map(|id| format!("{id},a name that takes room {id}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let script = format!("'{INRUSH}' load in.csv disk/new.db; echo exit $?; ls -A disk; echo end");
    let Some(said) = on_a_small_disk(&fixture, &script) else { return };
    // Nothing stands between the exit code and the end of the list of files.
    assert!(said.contains("exit 1\nend\n"), "{said}");
    assert!(said.contains("the disk is full") && said.contains("disk/new.db"), "{said}");
    assert!(said.trim_end().ends_with("nothing changed in the target"), "{said}");
}

#[test]
fn a_full_disk_under_a_database_that_is_there() {
    for more in ["", "--set cache=0", "--set journal_mode=wal", "--strategy values"] {
        let fixture = with_database();
        let rows: String =
            (1..40_000).map(|id| format!("{id},a name that takes room {id}\n")).collect();
        fixture.write("in.csv", format!("id,name\n{rows}"));
        let script = format!(
            "cp shop.db disk/ && '{INRUSH}' load in.csv disk/shop.db {more} --table old --if-exists append;
             echo exit $?; cp disk/shop.db after.db; ls -A disk; echo end"
        );
        let Some(said) = on_a_small_disk(&fixture, &script) else { return };
        assert!(said.contains("exit 1\nshop.db\nend\n"), "{more}: {said}");
        assert!(said.contains("the disk is full"), "{more}: {said}");
        assert!(said.trim_end().ends_with("nothing changed in the target"), "{more}: {said}");
        assert_eq!(fixture.table("after.db", "old"), rows![[1, "one"], [2, "two"]], "{more}");
        fixture.assert_sound("after.db");
        if !more.contains("wal") {
            assert_eq!(fixture.read("after.db"), fixture.read("shop.db"), "{more}");
        }
    }
}

#[test]
fn a_full_disk_under_the_rejects() {
    let fixture = with_database();
    let rows: String =
        (1..40_000).map(|id| format!("{id},a name that takes room,{id}\n")).collect();
    fixture.write("in.csv", format!("id,name\n1,a\n2,b\n{rows}"));
    let script = format!(
        "'{INRUSH}' load in.csv shop.db --header yes --table old --if-exists append --max-rejects 90000 --rejects disk/in.rejects.csv;
         echo exit $?; ls -A disk; echo end"
    );
    let before = fixture.read("shop.db");
    let Some(said) = on_a_small_disk(&fixture, &script) else { return };
    assert!(said.contains("exit 1\nend\n"), "{said}");
    assert!(said.contains("disk/in.rejects.csv"), "{said}");
    assert_eq!(fixture.read("shop.db"), before);
    assert_eq!(fixture.names(), ["disk", "in.csv", "shop.db"]);
}

/// Somebody who may not do everything: this user, or, when that is root, "nobody", with a copy of the command that they
/// can reach.
struct Nobody {
    bin: Option<Fixture>,
}

impl Nobody {
    const UID: u32 = 65_534;

    fn new() -> Self {
        let bin = is_root().then(|| {
            let bin = Fixture::new();
            // By another process: what starts meanwhile would have the copy open to be written, and then it can't be run.
            let copied = Command::new("cp").arg(INRUSH).arg(bin.path("inrush")).status();
            assert!(copied.unwrap().success());
            mode(&bin, ".", 0o755);
            bin
        });
        Self { bin }
    }

    fn load(&self, fixture: &Fixture, args: &[&str]) -> Outcome {
        self.inrush(fixture, &[&["load"], args].concat())
    }

    fn inrush(&self, fixture: &Fixture, args: &[&str]) -> Outcome {
        let mut command = match &self.bin {
            Some(bin) => {
                let mut command = Command::new(bin.path("inrush"));
                command.uid(Self::UID).gid(Self::UID);
                command
            }
            None => Command::new(INRUSH),
        };
        command.args(args).current_dir(fixture.dir());
        Outcome::of(format!("inrush {}", args.join(" ")), finish(start(&mut command), b""))
    }

    /// As [`Fixture::refuses`].
    fn refused(&self, fixture: &Fixture, args: &[&str]) -> Outcome {
        fixture.leaves_all(|| self.load(fixture, args).exits(1)).ends_with_nothing_changed()
    }
}

fn mode(fixture: &Fixture, name: &str, mode: u32) {
    fs::set_permissions(fixture.path(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_database() {
    let (nobody, fixture) = (Nobody::new(), with_database());
    fixture.write("in.csv", "id,name\n3,c\n");
    mode(&fixture, ".", 0o777);
    mode(&fixture, "shop.db", 0o444);
    let append = ["in.csv", "shop.db", "--table", "old", "--if-exists", "append"];
    nobody.refused(&fixture, &append).says(&["shop.db is read-only", "permissions"]);
    nobody.refused(&fixture, &["in.csv", "shop.db"]).says(&["shop.db is read-only"]);
    // Files of another user's beside one in WAL mode would shut its owner out.
    mode(&fixture, "shop.db", 0o644);
    fixture.sql("shop.db", "PRAGMA journal_mode = wal");
    mode(&fixture, "shop.db", 0o444);
    fixture.leaves_all(|| nobody.inrush(&fixture, &[&["plan"], &append[..]].concat()).exits(0));
    nobody.refused(&fixture, &append).says(&["shop.db is read-only"]);
}

#[test]
fn a_read_only_directory() {
    let (nobody, fixture) = (Nobody::new(), with_database());
    fixture.write("in.csv", "id,name\n3,c\n");
    mode(&fixture, "shop.db", 0o666);
    mode(&fixture, ".", 0o555);
    nobody.refused(&fixture, &["in.csv", "new.db"]).says(&["new.db", "permissions"]);
    // SQLite needs to make its journal beside the database.
    nobody
        .refused(&fixture, &["in.csv", "shop.db", "--table", "old", "--if-exists", "append"])
        .says(&["shop.db", "directory", "permissions"]);
    mode(&fixture, ".", 0o755);
}

#[test]
fn a_directory_that_takes_no_rejects() {
    let (nobody, fixture) = (Nobody::new(), Fixture::new());
    mode(&fixture, ".", 0o755);
    fs::create_dir(fixture.path("data")).unwrap();
    mode(&fixture, "data", 0o777);
    fixture.write("in.csv", "id,name\n1,a\n2\n3,b\n4,c\n");
    mode(&fixture, ".", 0o555);
    nobody
        .refused(&fixture, &["in.csv", "data/new.db", "--max-rejects", "1"])
        .says(&["in.rejects.csv", "--rejects"]);
    assert!(fs::read_dir(fixture.path("data")).unwrap().next().is_none());
    nobody
        .load(
            &fixture,
            &["in.csv", "data/new.db", "--max-rejects", "1", "--rejects", "data/bad.csv"],
        )
        .exits(3);
    mode(&fixture, ".", 0o755);
}

#[test]
fn a_source_that_may_not_be_read() {
    let (nobody, fixture) = (Nobody::new(), Fixture::new());
    fixture.write("in.csv", "id,name\n1,a\n");
    mode(&fixture, ".", 0o777);
    mode(&fixture, "in.csv", 0o000);
    let run = nobody.load(&fixture, &["in.csv", "new.db"]).exits(1);
    run.says(&["in.csv", "Permission denied"]).ends_with_nothing_changed();
    assert_eq!(fixture.names(), ["in.csv"]);
}

#[test]
fn a_character_of_a_password_that_ends_the_host_is_to_be_escaped() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for scheme in ["mysql", "mssql"] {
        let url = format!("{scheme}://u:pa#ss@127.0.0.1/h");
        let run = fixture.misused(&["load", "in.csv", &url]).says(&["write %23 for a #"]);
        assert!(!run.stderr.contains("ss@"), "{}", run.stderr);
    }
}

/// As a container with too small a `pids.max`: a thread is a process to it.
/// Libraries say that a file can't be opened, or that the disk is full.
#[test]
fn a_limit_of_open_files_or_of_their_sizes_is_named() {
    let fixture = Fixture::new();
    let rows: String = (0..50_000).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let run = |limit: &str, target: &str| {
        let script = format!("ulimit {limit}; exec \"$0\" load in.csv {target}");
        let mut command = Command::new("bash");
        command.args(["-c", &script]).arg(INRUSH).current_dir(fixture.dir());
        Outcome::of(script, finish(start(&mut command), b""))
    };
    for (limit, target) in
        [("-n 5", "t.db"), ("-n 6", "t.db"), ("-n 7", "t.db"), ("-n 5", "t.duckdb")]
    {
        run(limit, target).exits(1).says(&["raise the limit of open files (ulimit -n)"]);
    }
    for target in ["t.db", "t.duckdb"] {
        let run = run("-f 100", target).exits(1);
        run.says(&["raise the limit of a file's size (ulimit -f)"]);
    }
}

#[test]
fn a_limit_of_processes() {
    let fixture = Fixture::new();
    let rows: String = (0..20_000).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    mode(&fixture, ".", 0o777);
    let nobody = Nobody::new();
    let run = |limit: u32, args: &[&str], json: bool| {
        let json = if json { " --json" } else { "" };
        let script = format!("ulimit -u {limit}; exec \"$0\" {}{json}", args.join(" "));
        let mut command = Command::new("bash");
        let bin = nobody.bin.as_ref().map_or_else(|| INRUSH.into(), |bin| bin.path("inrush"));
        command.args(["-c", &script]).arg(bin).current_dir(fixture.dir());
        if nobody.bin.is_some() {
            // Of root there may be any number.
            command.uid(Nobody::UID).gid(Nobody::UID);
        }
        Outcome::of(script, finish(start(&mut command), &fixture.read("in.csv")))
    };
    let before = fixture.snapshot();
    for args in [
        &["load", "in.csv", "t.db"][..],
        &["load", "-", "t.db", "--table", "t"],
        &["load", "in.csv", "csv:out.csv"],
        &["load", "in.csv", "csv:-"],
        &["check", "in.csv"],
    ] {
        for limit in 1..=4 {
            let ended = run(limit, args, false);
            if limit > 1 && ended.status.code() == Some(0) {
                break;
            }
            ended.exits(1).says(&["cannot start a thread: ", "raise the limit of processes"]);
            fixture.assert_unchanged(&before);
        }
        for name in ["t.db", "out.csv"] {
            let _ = fs::remove_file(fixture.path(name));
        }
        if !args.contains(&"csv:-") {
            let error = run(1, args, true).exits(1).json();
            let message = error["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("cannot start a thread"), "{message}");
        }
    }
}
