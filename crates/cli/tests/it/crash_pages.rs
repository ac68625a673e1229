use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use crate::crash::signal;
use crate::fixture::{
    Fixture, INRUSH, Outcome, Random, finish, query, rows, size, start, wait_until,
    wait_until_it_waits,
};

/// Rows in the file. They are wide, so that few of them are sorted in files.
const ROWS: i64 = 10_000;

/// Keys in no order, so that rows and index entries are sorted, and with the least memory in files.
fn file(rows: i64) -> String {
    // A prime, so that no key comes twice.
    const STEP: i64 = 1_000_003;
    let mut text = String::from("id,name,n\n");
    for row in 0..rows {
        let id = row * 7919 % STEP;
        text.push_str(&format!("{id},name of {id} and more{:120},{}\n", ".", id % 97));
    }
    text
}

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INTEGER);
    CREATE INDEX t_n ON t (n, name);";

/// Rows that are nobody's business, and free pages between them.
const OTHER: &str = "CREATE TABLE gone (x); CREATE TABLE other (id INTEGER PRIMARY KEY, x);
    WITH RECURSIVE old(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM old WHERE k < 2000)
    INSERT INTO gone SELECT hex(zeroblob(200)) FROM old;
    INSERT INTO other SELECT rowid, x FROM gone; DROP TABLE gone;";

/// A sort of load: where it goes, and with which knobs.
#[derive(Clone, Copy, Debug)]
enum Into {
    NewFile,
    RollbackJournal,
    /// SQLite writes pages long before the commit.
    SmallCache,
    Wal,
}

struct Crash {
    fixture: Fixture,
    into: Into,
    rows: i64,
    /// The database before the load.
    before: Vec<u8>,
}

impl Crash {
    fn new(into: Into) -> Self {
        let rows = ROWS;
        let fixture = Fixture::new();
        fixture.write("in.csv", file(rows));
        let mut before = Vec::new();
        if !matches!(into, Into::NewFile) {
            let wal = if matches!(into, Into::Wal) { "PRAGMA journal_mode = wal;" } else { "" };
            fixture.sql("t.db", &format!("{wal}{TABLE}{OTHER}"));
            before = fixture.read("t.db");
        }
        Self { fixture, into, rows, before }
    }

    fn args(&self) -> Vec<&'static str> {
        let mut args = vec!["load", "in.csv", "t.db", "--table", "t", "--strategy", "pages"];
        args.extend(["--set", "sort_memory=1048576"]);
        match self.into {
            Into::NewFile => args.extend(["--primary-key", "id", "--index", "n,name"]),
            Into::SmallCache => args.extend(["--set", "cache=65536"]),
            Into::RollbackJournal | Into::Wal => {}
        }
        args
    }

    /// The same table without a key: rows that repeat one can't be told from a pipe, so there pages would be refused.
    fn without_a_key(into: Into) -> Self {
        let mut crash = Self::new(into);
        let table = "DROP TABLE t; CREATE TABLE t (id INTEGER, name TEXT, n INTEGER);
            CREATE INDEX t_n ON t (n, name);";
        crash.fixture.sql("t.db", table);
        crash.before = crash.fixture.read("t.db");
        crash
    }

    /// As it was before the first load.
    fn restore(&self) {
        for name in self.fixture.names().iter().filter(|name| *name != "in.csv") {
            fs::remove_file(self.fixture.path(name)).unwrap();
        }
        if !self.before.is_empty() {
            self.fixture.write("t.db", &self.before);
        }
    }

    /// How long a load takes.
    fn whole(&self) -> Duration {
        let before = Instant::now();
        self.fixture.inrush(&self.args()).exits(0);
        let whole = before.elapsed();
        self.assert_loaded();
        whole
    }

    #[track_caller]
    fn assert_loaded(&self) {
        let there = if self.before.is_empty() { 0 } else { 2000 };
        self.assert_other(there);
        let sql = "SELECT count(*), count(DISTINCT name), sum(n = id % 97) FROM t";
        assert_eq!(self.fixture.query("t.db", sql), rows![[self.rows, self.rows, self.rows]]);
        self.fixture.assert_sound("t.db");
        assert_eq!(self.fixture.names(), ["in.csv", "t.db"]);
    }

    #[track_caller]
    fn assert_other(&self, there: i64) {
        if there > 0 {
            let sql = "SELECT count(*), sum(length(x)) FROM other";
            assert_eq!(self.fixture.query("t.db", sql), rows![[there, there * 400]]);
        }
    }

    /// Nothing has happened; or, `true`, everything: then the load was over before it was ended.
    #[track_caller]
    fn is_done(&self) -> bool {
        if matches!(self.into, Into::NewFile) {
            return self.fixture.path("t.db").exists();
        }
        self.fixture.assert_sound("t.db");
        self.assert_other(2000);
        match self.fixture.number("t.db", "SELECT count(*) FROM t NOT INDEXED") {
            0 => false,
            rows => {
                assert_eq!(rows, self.rows, "neither nothing nor all");
                true
            }
        }
    }

    /// Ends loads at moments that look random, spread over the time that a load takes.
    fn end_many(&self, seed: u64, end: impl Fn(std::process::Child)) {
        let mut random = Random(seed);
        let crashes = size(1, 20);
        let mut whole = self.whole();
        println!("{:?}, seed {seed:#x}: a whole load takes {whole:?}", self.into);
        let mut done = 0;
        while done < crashes {
            self.restore();
            let moment = whole.mul_f64((f64::from(done) + random.share()) / f64::from(crashes));
            let child = start(&mut self.fixture.command(&self.args()));
            sleep(moment);
            end(child);
            println!("ended after {moment:?}; left: {:?}", self.fixture.names());
            if self.is_done() {
                // Other tests had left the load more of the machine than the first.
                whole = whole.mul_f64(0.8);
                continue;
            }
            done += 1;
            self.fixture.inrush(&self.args()).exits(0);
            self.assert_loaded();
        }
    }
}

fn kill(mut child: std::process::Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_load_by_pages_leaves_no_new_database() {
    Crash::new(Into::NewFile).end_many(0x11, kill);
}

#[test]
fn a_killed_load_by_pages_is_rolled_back() {
    Crash::new(Into::RollbackJournal).end_many(0x12, kill);
}

#[test]
fn a_killed_load_by_pages_that_are_on_the_disk_already_is_rolled_back() {
    Crash::new(Into::SmallCache).end_many(0x13, kill);
}

#[test]
fn a_killed_load_by_pages_into_a_wal_is_not_there() {
    Crash::new(Into::Wal).end_many(0x14, kill);
}

#[test]
fn a_load_by_pages_that_is_interrupted_undoes_what_it_did() {
    for (seed, into) in [(0x21, Into::NewFile), (0x22, Into::SmallCache), (0x23, Into::Wal)] {
        let crash = Crash::new(into);
        crash.end_many(seed, |child| {
            signal(&child, "INT");
            let run = Outcome::of("load, interrupted".to_owned(), finish(child, b""));
            if run.status.code() == Some(0) {
                return;
            }
            run.exits(130).says(&["interrupted"]).ends_with_nothing_changed();
            let left = if crash.before.is_empty() { &["in.csv"][..] } else { &["in.csv", "t.db"] };
            assert_eq!(crash.fixture.names(), left);
        });
    }
}

#[test]
fn indexes_that_are_built_by_pages_can_be_interrupted() {
    let fixture = Fixture::new();
    fixture.write("in.csv", file(80_000));
    let args =
        ["load", "in.csv", "new.db", "--primary-key", "id", "--index", "name", "--index", "n,name"];
    let mut child = start(&mut fixture.command(&[&args[..], &["--progress", "plain"]].concat()));
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "building indexes"));
    signal(&child, "INT");
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        !rest.contains(&"verifying".to_owned()),
        "the indexes were built to their end: {rest:?}"
    );
    assert_eq!(rest.last().unwrap(), "nothing changed in the target");
    assert_eq!(fixture.names(), ["in.csv"]);
}

/// A limit to the size of every file, as a full disk is one.
#[test]
#[ignore = "full disks: make test-all"]
fn a_disk_that_is_full_at_any_moment() {
    let moments: u64 = size(2, 10);
    for (seed, into) in [
        (0x31, Into::NewFile),
        (0x32, Into::RollbackJournal),
        (0x33, Into::SmallCache),
        (0x34, Into::Wal),
    ] {
        let crash = Crash::new(into);
        crash.fixture.inrush(&crash.args()).exits(0);
        let before_kb = crash.before.len() as u64 / 1024;
        let whole_kb = crash.fixture.read("t.db").len() as u64 / 1024;
        let mut random = Random(seed);
        let mut failed = 0;
        for step in 0..moments {
            crash.restore();
            let before = crash.fixture.snapshot();
            let share = (step as f64 + random.share()) / moments as f64;
            let limit_kb = before_kb + ((whole_kb - before_kb) as f64 * share) as u64;
            // A process that doesn't ignore the signal is killed by it. Units of 512 bytes, says POSIX.
            let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", 2 * limit_kb);
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh", INRUSH]).args(crash.args());
            command.current_dir(crash.fixture.dir());
            let run = Outcome::of(format!("load, {limit_kb} kB"), finish(start(&mut command), b""));
            println!("{into:?}, {limit_kb} kB of {whole_kb}: {}", run.stderr.replace('\n', " | "));
            if run.status.code() == Some(0) {
                // A write-ahead log has what is new alone, so that it may find room where the database doesn't.
                crash.assert_loaded();
                continue;
            }
            failed += 1;
            run.exits(1).ends_with_nothing_changed();
            crash.fixture.assert_unchanged(&before);
            crash.fixture.inrush(&crash.args()).exits(0);
            crash.assert_loaded();
        }
        assert!(failed * 2 >= moments, "{into:?}: {failed} loads failed");
    }
}

/// A load that reads a pipe, and so far has got these rows.
fn load_from_a_pipe(fixture: &Fixture, text: &str) -> std::process::Child {
    let args = ["load", "-", "t.db", "--table", "t", "--strategy", "pages", "--set", "cache=65536"];
    let mut child = start(&mut fixture.command(&args));
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    child
}

fn busy(result: rusqlite::Result<()>) -> bool {
    match result {
        Ok(()) => false,
        Err(rusqlite::Error::SqliteFailure(code, _)) => {
            assert_eq!(code.code, ErrorCode::DatabaseBusy);
            true
        }
        Err(error) => panic!("{error}"),
    }
}

/// Waits until another client may write.
#[track_caller]
fn wait_for_the_lock(db: &Connection) {
    wait_until("the load begins", || {
        let has_begun = busy(db.execute_batch("BEGIN IMMEDIATE"));
        if !has_begun {
            db.execute_batch("ROLLBACK").unwrap();
        }
        has_begun
    });
}

#[test]
fn readers_of_a_wal_see_the_old_rows_until_the_commit_and_never_wait() {
    let crash = Crash::without_a_key(Into::Wal);
    let text = file(crash.rows);
    let (head, tail) = text.split_at(text.len() - 1000);
    let reader = crash.fixture.db("t.db");
    reader.execute_batch("PRAGMA busy_timeout = 0").unwrap();
    // One that began to read before the load, and goes on after it.
    let slow = crash.fixture.db("t.db");
    slow.execute_batch("BEGIN").unwrap();
    let count = "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM other)";
    assert_eq!(query(&slow, count), rows![[0, 2000]]);
    let mut child = load_from_a_pipe(&crash.fixture, head);
    wait_for_the_lock(&reader);
    for _ in 0..50 {
        assert_eq!(query(&reader, count), rows![[0, 2000]]);
        sleep(Duration::from_millis(2));
    }
    child.stdin.as_mut().unwrap().write_all(tail.as_bytes()).unwrap();
    drop(child.stdin.take());
    loop {
        let ended = child.try_wait().unwrap().is_some();
        let seen = query(&reader, count);
        assert!(seen == rows![[0, 2000]] || seen == rows![[crash.rows, 2000]], "{seen:?}");
        if ended {
            assert_eq!(seen, rows![[crash.rows, 2000]]);
            break;
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(query(&slow, count), rows![[0, 2000]]);
    drop((slow, reader));
    crash.assert_loaded();
}

#[test]
fn a_reader_without_a_wal_is_waited_for() {
    let crash = Crash::new(Into::RollbackJournal);
    let reader = crash.fixture.db("t.db");
    reader.execute_batch("BEGIN").unwrap();
    let count = "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM other)";
    assert_eq!(query(&reader, count), rows![[0, 2000]]);
    let args = [&crash.args()[..], &["--set", "busy_timeout=600000"]].concat();
    let mut child = start(&mut crash.fixture.command(&args));
    wait_until_it_waits(&child);
    assert_eq!(query(&reader, count), rows![[0, 2000]]);
    assert!(child.try_wait().unwrap().is_none(), "the load commits below a reader");
    reader.execute_batch("COMMIT").unwrap();
    Outcome::of("load".to_owned(), finish(child, b"")).exits(0);
    assert_eq!(query(&reader, count), rows![[crash.rows, 2000]]);
    drop(reader);
    crash.assert_loaded();
}

#[test]
fn another_writer_waits_for_the_load() {
    for into in [Into::RollbackJournal, Into::Wal] {
        let crash = Crash::without_a_key(into);
        let text = file(crash.rows);
        let (head, tail) = text.split_at(text.len() - 1000);
        let writer = crash.fixture.db("t.db");
        writer.execute_batch("PRAGMA busy_timeout = 0").unwrap();
        let mut child = load_from_a_pipe(&crash.fixture, head);
        wait_for_the_lock(&writer);
        let insert = "INSERT INTO other VALUES (5000, 'new')";
        assert!(busy(writer.execute_batch(insert)));
        writer.execute_batch("PRAGMA busy_timeout = 600000").unwrap();
        let waiting = std::thread::spawn(move || writer.execute_batch(insert));
        // Too short for nothing but a writer that does not wait.
        sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished());
        child.stdin.as_mut().unwrap().write_all(tail.as_bytes()).unwrap();
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
        waiting.join().unwrap().unwrap();
        crash.fixture.sql("t.db", "DELETE FROM other WHERE id = 5000");
        crash.assert_loaded();
    }
}

#[test]
fn a_load_by_pages_that_gets_no_lock_says_who_has_it() {
    for into in [Into::RollbackJournal, Into::Wal] {
        let crash = Crash::new(into);
        let holder = crash.fixture.db("t.db");
        holder.execute_batch("BEGIN IMMEDIATE; DELETE FROM other WHERE id = 1").unwrap();
        let args = [&crash.args()[..], &["--set", "busy_timeout=200"]].concat();
        let run = crash.fixture.inrush(&args).exits(1);
        run.says(&["t.db is locked", &format!("pid {}", std::process::id())])
            .ends_with_nothing_changed();
        holder.execute_batch("ROLLBACK").unwrap();
        drop(holder);
        assert!(!crash.is_done());
        crash.whole();
    }
}
