//! Loads that are killed or stopped: the target is as it was, and the same command then succeeds.

use std::fs;
use std::io::Write as _;
use std::process::{Child, ChildStdin, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::types::Value;

use crate::fixture::{
    Fixture, Outcome, PATIENCE, Random, finish, rows, says_while_it_waits, size, start, wait_until,
    wait_until_it_waits,
};

/// Rows in the database before the load, and in the file. The file takes an unoptimised build some tenths of a second.
const OLD: i64 = 5_000;
const NEW: i64 = 60_000;
/// Rows in the file of a load that is killed at any moment, and loaded again: as many as make several chunks.
const FEW: i64 = 15_000;
const FEW_CHUNKS: [&str; 2] = ["--chunk-size", "64k"];
/// Rows that keep a load busy for long after its first page was written...
const LONG: i64 = 400_000;
/// ... which with a cache of half a megabyte is soon.
const SMALL_CACHE: &str = "cache=524288";

const LOAD: [&str; 6] = ["load", "in.csv", "t.db", "--table", "t", "--if-exists"];

/// A database whose pages every chunk of the file writes to: the new keys lie between the old ones, in no order.
fn fixture(new: i64) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("in.csv", file(new)).sql("t.db", &database());
    fixture
}

fn database() -> String {
    format!(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER);
         CREATE INDEX t_n ON t (n);
         WITH RECURSIVE old(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM old WHERE k < {OLD} - 1)
         INSERT INTO t SELECT 40 * k, 'old ' || k, k % 97 FROM old;"
    )
}

fn file(rows: i64) -> String {
    let mut text = String::from("id,name,n\n");
    for row in 0..rows {
        let k = row * 7919 % rows;
        text.push_str(&format!("{},name of {k},{}\n", 2 * k + 1, k % 97));
    }
    text
}

fn old_rows(fixture: &Fixture) -> Vec<Vec<Value>> {
    fixture.query("t.db", "SELECT * FROM t WHERE id % 2 = 0 ORDER BY id")
}

fn count(fixture: &Fixture) -> i64 {
    fixture.number("t.db", "SELECT count(*) FROM t")
}

/// Kills loads at moments that look random, spread over the time that one takes, each with a fresh database. The tests of this
/// differ in what SQLite has on the disk by then.
fn kill_many_times(seed: u64, options: &[&str]) {
    let args = [&LOAD[..], &["append"], &FEW_CHUNKS, options].concat();
    let mut random = Random(seed);
    let fixture = fixture(FEW);
    let database = fixture.read("t.db");
    let old = old_rows(&fixture);
    let before = Instant::now();
    fixture.inrush(&args).exits(0);
    let mut whole = before.elapsed();
    // Shown when the test fails: the same seed gives the same moments.
    println!("seed {seed:#x}, {options:?}, a whole load takes {whole:?}");
    let (mut cut, kills) = (0, size(2, 10));
    while cut < kills {
        for name in fixture.names() {
            if name != "in.csv" {
                fs::remove_file(fixture.path(&name)).unwrap();
            }
        }
        fixture.write("t.db", &database);
        let moment = whole.mul_f64((f64::from(cut) + random.share()) / f64::from(kills));
        let mut child = start(&mut fixture.command(&args));
        sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        println!("killed after {moment:?}; left: {:?}", fixture.names());

        fixture.assert_sound("t.db");
        assert!(old_rows(&fixture) == old, "the old rows have changed");
        if count(&fixture) == OLD + FEW {
            // The load was over before the signal came: other tests had left it more of the machine than the first.
            whole = whole.mul_f64(0.8);
            continue;
        }
        assert_eq!(count(&fixture), OLD, "neither nothing nor all");
        cut += 1;
        fixture.inrush(&args).exits(0);
        assert_eq!(count(&fixture), OLD + FEW);
        assert!(old_rows(&fixture) == old, "the old rows have changed");
        fixture.assert_sound("t.db");
        assert_eq!(fixture.names(), ["in.csv", "t.db"]);
    }
}

#[test]
fn a_killed_load_leaves_the_old_rows() {
    kill_many_times(0x1, &[]);
}

#[test]
fn a_killed_load_with_pages_written_already_leaves_the_old_rows() {
    // A small cache makes SQLite write changed pages before the commit, so a killed load leaves a journal to play back.
    kill_many_times(0x2, &["--set", "cache=262144"]);
}

#[test]
fn a_killed_load_into_a_wal_leaves_the_old_rows() {
    kill_many_times(0x3, &["--set", "journal_mode=wal", "--set", "cache=524288"]);
}

#[test]
fn a_killed_load_by_another_strategy_leaves_the_old_rows() {
    kill_many_times(0x4, &["--strategy", "row-sql", "--set", "cache=524288"]);
}

/// Waits until a file whose name begins so is there, and not empty.
#[track_caller]
fn wait_for(fixture: &Fixture, prefix: &str) -> String {
    let find = || {
        fixture.names().into_iter().find(|name| {
            name.starts_with(prefix)
                && fs::metadata(fixture.path(name)).is_ok_and(|meta| meta.len() > 0)
        })
    };
    wait_until(&format!("{prefix}*"), || find().is_some());
    find().unwrap_or_default()
}

#[test]
fn a_killed_load_leaves_no_new_database_and_the_next_one_sweeps_up() {
    let fixture = Fixture::new();
    // A load of somebody who is still there: this test.
    let busy = format!(".new.db.inrush-{}", std::process::id());
    fixture.write("in.csv", file(LONG)).write(&busy, "busy");
    let args = ["load", "in.csv", "new.db", "--set", SMALL_CACHE];
    let mut child = start(&mut fixture.command(&args));
    wait_for(&fixture, &format!(".new.db.inrush-{}", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = fixture.names();
    assert!(left.len() > 2, "nothing was left to sweep up: {left:?}");
    assert!(!left.contains(&"new.db".to_owned()), "{left:?}");
    fixture.inrush(&args).exits(0);
    assert_eq!(fixture.names(), [busy.as_str(), "in.csv", "new.db"]);
    assert_eq!(fixture.number("new.db", "SELECT count(*) FROM \"in\""), LONG);
}

#[test]
fn a_killed_load_leaves_no_rejects_for_long() {
    let fixture = Fixture::new();
    fixture.write("in.csv", file(LONG).replacen('\n', "\nbad\n", 1));
    let args = ["load", "in.csv", "new.db", "--max-rejects", "1", "--set", SMALL_CACHE];
    let mut child = start(&mut fixture.command(&args));
    // The bad row is the first, so its files are among the first things written.
    wait_for(&fixture, ".new.db.inrush-");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!fixture.names().contains(&"in.rejects.csv".to_owned()), "{:?}", fixture.names());
    fixture.inrush(&args).exits(3);
    let names = ["in.csv", "in.rejects.csv", "in.rejects.csv.jsonl", "new.db"];
    assert_eq!(fixture.names(), names);
}

#[test]
fn a_load_without_bad_rows_sweeps_up_what_a_killed_one_has_left_of_its_own() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "a\n1\n");
    let names = ["in.rejects.csv", "in.rejects.csv.jsonl", "bad.csv", "bad.csv.jsonl"];
    let left = names.map(|name| format!(".{name}.inrush-1-0"));
    let ways: [(&[&str], usize); 3] =
        [(&[], 2), (&["--max-rejects", "all"], 2), (&["--rejects", "bad.csv"], 4)];
    for (options, swept) in ways {
        for name in &left {
            fixture.write(name, "bad");
        }
        let load = ["in.csv", "t.db", "--if-exists", "replace"];
        fixture.load(&[&load[..], options].concat()).exits(0);
        let names = fixture.names();
        let stay: Vec<&String> = left.iter().filter(|name| names.contains(name)).collect();
        assert_eq!(stay, left[swept..].iter().collect::<Vec<_>>(), "{options:?}");
    }
}

/// Sends a signal.
pub(crate) fn send(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
}

/// What stood still goes on.
pub(crate) fn go_on(child: &Child) {
    send(child, "CONT");
}

/// Sends a signal to a load that is ready for it: one that comes before the program has set up its handlers just ends it.
/// When this returns, the program has it, so that another one is a second one.
pub(crate) fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let mask = |field: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        // Who has ended takes no signal any more.
        let lives = !status.contains("\nState:\tZ");
        let mask = status.lines().filter(|_| lives).find_map(|line| line.strip_prefix(field));
        mask.map(|mask: &str| u64::from_str_radix(mask.trim(), 16).unwrap())
    };
    // Bits are counted from signal 1 on, and SIGHUP is 1, SIGINT 2, SIGTERM 15. Elsewhere than on Linux nothing is known.
    wait_until("handlers of signals", || mask("SigCgt:").is_none_or(|mask| mask & 0b10 != 0));
    send(child, name);
    let awaited = 1 | 1 << 1 | 1 << 14;
    wait_until("the signal", || mask("ShdPnd:").is_none_or(|mask| mask & awaited == 0));
}

/// Sends a signal again and again until the program has ended, as who has waited long enough.
pub(crate) fn insist(child: &mut Child, name: &str) {
    let child = std::cell::RefCell::new(child);
    wait_until("the end", || {
        let mut child = child.borrow_mut();
        let has_ended = child.try_wait().unwrap().is_some();
        if !has_ended {
            signal(&child, name);
        }
        has_ended
    });
}

/// The end of a load that was asked to stop: with the exit code that shells know, and nothing changed.
#[track_caller]
fn stopped(child: Child) {
    let run = Outcome::of("load, interrupted".to_owned(), finish(child, b""));
    run.exits(130).says(&["interrupted"]).ends_with_nothing_changed();
}

#[test]
fn a_load_that_is_interrupted_undoes_what_it_did() {
    for name in ["INT", "TERM", "HUP"] {
        let fixture = fixture(NEW);
        fixture.leaves_all(|| {
            let args = [&LOAD[..], &["append", "--set", "cache=524288"]].concat();
            let child = start(&mut fixture.command(&args));
            wait_for(&fixture, "t.db-journal");
            signal(&child, name);
            stopped(child);
        });
        fixture.leaves_all(|| {
            // Slow enough to be caught in the act, on a busy machine too.
            let args = ["load", "in.csv", "new.db", "--strategy", "row-sql"];
            let child = start(&mut fixture.command(&args));
            wait_for(&fixture, ".new.db.inrush-");
            // As `timeout` does: to the process, and once more to its group.
            let (option, pid) = (format!("-{name}"), child.id().to_string());
            assert!(Command::new("kill").args([&option, &pid, &pid]).status().unwrap().success());
            stopped(child);
        });
    }
}

/// Starts a load that reads a pipe, feeds it, keeps the pipe open, interrupts the load after a while, and sees it end.
#[track_caller]
fn interrupt_while_reading(fixture: &Fixture, target: &[&str], text: &str, waits: bool) {
    let mut child = start(&mut fixture.command(&[&["load", "-"], target].concat()));
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    if waits {
        wait_until_it_waits(&child);
    }
    ends_when_interrupted(child);
    drop(input);
}

/// One signal is enough.
#[track_caller]
fn ends_when_interrupted(mut child: Child) {
    signal(&child, "INT");
    let before = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if before.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("still waiting after a SIGINT");
        }
        sleep(Duration::from_millis(5));
    }
    let run = child.wait_with_output().unwrap();
    let run = Outcome::of("interrupted".to_owned(), (run.status, run.stdout, run.stderr));
    run.exits(130).says(&["interrupted"]).ends_with_nothing_changed();
}

/// A load that waits for more of its input, started to ignore these signals.
fn started_to_ignore(fixture: &Fixture, signals: &str) -> (Child, ChildStdin) {
    let script = format!("trap '' {signals}; exec \"$0\" load - t.db --table t");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, crate::fixture::INRUSH]).current_dir(fixture.path("."));
    let mut child = start(&mut shell);
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"id\n1\n").unwrap();
    wait_until_it_waits(&child);
    (child, input)
}

/// As `nohup` starts it, and `trap`.
#[test]
fn a_load_ignores_the_signals_that_it_is_started_to_ignore() {
    let fixture = Fixture::new();
    let (child, mut input) = started_to_ignore(&fixture, "HUP TERM");
    for name in ["HUP", "TERM", "TERM"] {
        signal(&child, name);
    }
    input.write_all(b"2\n").unwrap();
    drop(input);
    let run = child.wait_with_output().unwrap();
    Outcome::of("hung up".to_owned(), (run.status, run.stdout, run.stderr)).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
}

/// A shell has what it starts in the background ignore Ctrl-C, which is not what `kill -INT` means.
#[test]
fn a_load_in_a_script_s_background_can_be_interrupted() {
    let fixture = Fixture::new();
    let (child, input) = started_to_ignore(&fixture, "INT");
    ends_when_interrupted(child);
    drop(input);
}

/// Opening it waits for who writes to it, and no signal ends that wait.
#[test]
fn a_load_that_waits_for_the_writer_of_a_named_pipe_can_be_interrupted() {
    let fixture = Fixture::new();
    fixture.tool("mkfifo", &["pipe"], b"");
    for command in ["load", "plan"] {
        let child = start(&mut fixture.command(&[command, "pipe", "t.db", "--table", "t"]));
        wait_until_it_waits(&child);
        ends_when_interrupted(child);
    }
    assert_eq!(fixture.names(), ["pipe"]);
}

/// The system's signal for it would end the load without a word.
#[test]
fn a_file_beyond_the_limit_of_sizes_is_an_error() {
    let fixture = Fixture::new();
    let rows: String = (0..20_000).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let script = "ulimit -f 50; \"$0\" load in.csv t.db 2>&1; test $? = 1";
    let said = fixture.tool("sh", &["-c", script, crate::fixture::INRUSH], b"");
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("error: ") && said.contains("nothing changed"), "{said}");
    assert_eq!(fixture.names(), ["in.csv"]);
}

#[test]
fn a_load_that_waits_for_standard_input_can_be_interrupted() {
    let fixture = Fixture::new();
    fixture.sql("t.db", &database());
    let rows = file(NEW);
    // Before the first byte, in the part that is looked at for the plan, and in the middle of the load.
    for text in ["", &rows[..1000], &rows] {
        // Too early to be waiting already, and long since waiting.
        for waits in [false, true] {
            for target in [&["t.db", "--table", "t", "--if-exists", "append"][..], &["new.db"]] {
                fixture.leaves_all(|| interrupt_while_reading(&fixture, target, text, waits));
            }
        }
    }
}

#[test]
fn who_holds_what_a_load_waits_for_is_named() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n").sql("t.db", "CREATE TABLE t (id INTEGER, name TEXT)");
    let holder = fixture.db("t.db");
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let args = [&LOAD[..], &["append", "--set", "busy_timeout=600000"]].concat();
    let held = format!("(pid {}) holds", std::process::id());
    says_while_it_waits(
        fixture.command(&args),
        &["waiting for a lock on t.db that", &held],
        || {
            holder.execute_batch("COMMIT").unwrap();
        },
    );
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"]]);
}

#[test]
fn a_load_that_waits_for_a_lock_can_be_interrupted() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n").sql("t.db", "CREATE TABLE t (id INTEGER, name TEXT)");
    let holder = fixture.db("t.db");
    holder.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (7, 'x')").unwrap();
    // Longer than anybody waits: it ends with the signal, or the test does not.
    let args = [&LOAD[..], &["append", "--set", "busy_timeout=600000"]].concat();
    let child = start(&mut fixture.command(&args));
    wait_until_it_waits(&child);
    signal(&child, "INT");
    stopped(child);
    // And twice when once is not enough: at once, whatever it is doing.
    let mut child = start(&mut fixture.command(&args));
    wait_until_it_waits(&child);
    insist(&mut child, "INT");
    assert_eq!(finish(child, b"").0.code(), Some(130));
    holder.execute_batch("COMMIT").unwrap();
    assert_eq!(fixture.table("t.db", "t"), rows![[7, "x"]]);
}
