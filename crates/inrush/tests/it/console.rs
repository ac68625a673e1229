use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use inrush::plan::{Durability, IfExists};
use inrush::target::{Console, Location, Setting, Target, find};
use inrush::{Kind, LoadOptions, Request, Result, Unobserved, plan, run as load};
use tempfile::TempDir;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A database of the test's own.
struct Database {
    /// The server's name, or `sqlite`.
    name: String,
    target: &'static dyn Target,
    location: Location,
    /// Where SQLite's file is.
    _directory: TempDir,
    /// Where it was made on a server, and what takes it away again.
    server: Option<(Location, String)>,
}

impl Database {
    fn of_sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (target, location) =
            find(&format!("sqlite:{}", directory.path().join("x.db").display())).unwrap();
        Self { name: "sqlite".to_owned(), target, location, _directory: directory, server: None }
    }

    fn on_server(name: &str, url: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Relaxed);
        let database = format!("inrush_console_{}_{count}", std::process::id());
        let (before, behind) = url.split_once('?').unwrap();
        let host = before.trim_end_matches("postgres").trim_end_matches('/');
        let scheme = before.split(':').next().unwrap();
        // A database that every server of the kind has is named as the kind is.
        let (target, server) = find(&format!("{host}/{scheme}?{behind}")).unwrap();
        let (_, location) = find(&format!("{host}/{database}?{behind}")).unwrap();
        let more = if scheme == "mysql" { " CHARACTER SET utf8mb4" } else { "" };
        let made = target
            .console(&server, &GO_ON)
            .and_then(|mut console| console.execute(&format!("CREATE DATABASE {database}{more}")));
        made.unwrap();
        Self {
            name: name.to_owned(),
            target,
            location,
            _directory: tempfile::tempdir().unwrap(),
            server: Some((server, format!("DROP DATABASE {database}"))),
        }
    }

    fn is(&self, target: &str) -> bool {
        self.target.name() == target
    }

    fn console(&self) -> Box<dyn Console> {
        self.target.console(&self.location, &GO_ON).unwrap()
    }

    /// What this target wants to hear.
    fn say<'s>(&self, sqlite: &'s str, mysql: &'s str, postgres: &'s str) -> &'s str {
        match self.target.name() {
            "sqlite" => sqlite,
            "mysql" => mysql,
            "postgres" => postgres,
            other => panic!("what does {other} want to hear?"),
        }
    }

    /// A type for long text.
    fn text(&self) -> &'static str {
        self.say("TEXT", "LONGTEXT", "TEXT")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some((server, drop)) = &self.server else { return };
        // Where a connection has just been closed, the server may not have noticed.
        for _ in 0..100 {
            let done = self.target.console(server, &GO_ON).and_then(|mut it| it.execute(drop));
            if done.is_ok() || thread::panicking() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("{drop} failed");
    }
}

/// SQLite, and every SQL server that the tests were started with.
fn for_each_database(test: impl Fn(&Database)) {
    println!("on sqlite");
    test(&Database::of_sqlite());
    let servers = std::env::var("INRUSH_TEST_SERVERS").unwrap_or_default();
    if servers.is_empty() {
        assert!(std::env::var("CI").is_err(), "no servers to test with: `make test` starts them");
        eprintln!("SKIPPED: no servers to test with: `make test` starts them");
    }
    let servers = servers.split_whitespace().filter_map(|server| server.split_once('='));
    // These tests are in SQL.
    for (name, url) in servers.filter(|(_, url)| !url.starts_with("mongodb:")) {
        println!("on {name}");
        test(&Database::on_server(name, url));
    }
}

/// All rows, with their values as text.
fn rows(console: &mut dyn Console, sql: &str) -> Vec<Vec<Option<String>>> {
    let mut rows = Vec::new();
    let count = console
        .query(sql, &mut |row| {
            let text =
                |value: &Option<&[u8]>| value.map(|it| String::from_utf8(it.to_vec()).unwrap());
            rows.push(row.iter().map(text).collect());
        })
        .unwrap();
    assert_eq!(count, rows.len() as u64);
    rows
}

fn run(console: &mut dyn Console, statements: &[&str]) {
    for sql in statements {
        console.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), Kind::Target, "{error}");
    error.what().to_owned()
}

#[test]
fn changed_rows_are_counted_as_the_database_counts_them() {
    for_each_database(|database| {
        let mut console = database.console();
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)";
        assert_eq!(console.execute(sql).unwrap(), 0);
        assert_eq!(console.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)").unwrap(), 3);
        for (sql, changed) in [
            ("SELECT * FROM t", 0),
            ("UPDATE t SET v = v + 10 WHERE id <= 2", 2),
            ("UPDATE t SET v = 0 WHERE id = 9", 0),
            ("BEGIN", 0),
            ("DELETE FROM t WHERE id = 3", 1),
            ("COMMIT", 0),
            ("CREATE INDEX i ON t (v)", 0),
            ("INSERT INTO t SELECT id + 10, v FROM t", 2),
            ("DROP TABLE t", 0),
        ] {
            assert_eq!(console.execute(sql).unwrap(), changed, "{sql}");
        }
    });
}

#[test]
fn sqlite_counts_the_rows_of_the_statement_and_not_those_of_its_triggers() {
    let database = Database::of_sqlite();
    let mut console = database.console();
    run(
        &mut *console,
        &[
            "CREATE TABLE t (v)",
            "CREATE TABLE log (v)",
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1), (2), (3); END",
        ],
    );
    assert_eq!(console.execute("INSERT INTO t VALUES (1), (2)").unwrap(), 2);
    assert_eq!(console.value("SELECT count(*) FROM log").unwrap().as_deref(), Some("6"));
    // More statements than one, and no statement at all, are nothing that a bench sends, and do no harm.
    assert_eq!(console.execute("DELETE FROM t; SELECT 1; -- a comment").unwrap(), 2);
    assert_eq!(console.execute(" -- a comment").unwrap(), 0);
}

#[test]
fn values_come_as_text_and_null_as_none() {
    for_each_database(|database| {
        let mut console = database.console();
        let text = database.text();
        run(
            &mut *console,
            &[&format!("CREATE TABLE t (id INTEGER, v {text}, d DOUBLE PRECISION)")],
        );
        // MySQL 5.5 takes no longer statement than 1 MB by itself.
        let long = "0123456789abcdef".repeat(60_000);
        let clef = "Grüße, 𝄞 und 😀";
        for (id, value) in
            [(1, "NULL"), (2, "''"), (3, &format!("'{clef}'")), (4, &format!("'{long}'"))]
        {
            console.execute(&format!("INSERT INTO t VALUES ({id}, {value}, 0.5)")).unwrap();
        }
        let found = rows(&mut *console, "SELECT id, v, d FROM t ORDER BY id");
        let expected = [None, Some(""), Some(clef), Some(long.as_str())];
        let expected: Vec<Vec<Option<String>>> = (1..)
            .zip(expected)
            .map(|(id, value)| {
                vec![Some(id.to_string()), value.map(str::to_owned), Some("0.5".to_owned())]
            })
            .collect();
        assert!(found == expected);
        assert_eq!(console.value("SELECT v FROM t WHERE id = 1").unwrap(), None);
        assert_eq!(console.value("SELECT v FROM t WHERE id = 9").unwrap(), None);
        assert_eq!(console.value("SELECT v FROM t WHERE id = 2").unwrap().as_deref(), Some(""));
    });
}

#[test]
fn bytes_of_sqlite_come_as_they_are() {
    let mut console = Database::of_sqlite().console();
    let mut row = Vec::new();
    let sql = "SELECT x'', x'00ff', 9007199254740993, 1e300, 0.1, 'a' || char(0) || 'b'";
    let keep = &mut |values: &[Option<&[u8]>]| {
        row.extend(values.iter().map(|value| value.unwrap().to_vec()));
    };
    console.query(sql, keep).unwrap();
    let expected: [&[u8]; 6] = [b"", b"\0\xff", b"9007199254740993", b"1.0e+300", b"0.1", b"a\0b"];
    assert_eq!(row, expected);
}

#[test]
fn an_error_is_told_in_the_databases_words_and_the_connection_goes_on() {
    for_each_database(|database| {
        let mut console = database.console();
        run(
            &mut *console,
            &["CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)"],
        );
        for (sql, words) in [
            (
                "SELECT * FROM missing",
                database.say(
                    "no such table: missing",
                    ".missing' doesn't exist",
                    "relation \"missing\" does not exist",
                ),
            ),
            (
                "INSERT INTO t VALUES (2), (1)",
                database.say(
                    "UNIQUE constraint failed: t.id",
                    "Duplicate entry '1' for key",
                    "duplicate key value violates unique constraint \"t_pkey\"",
                ),
            ),
            (
                "SELEC",
                database.say(
                    "near \"SELEC\": syntax error",
                    "You have an error in your SQL syntax",
                    "syntax error at or near \"SELEC\"",
                ),
            ),
        ] {
            let what = refused(console.execute(sql));
            assert!(what.contains(words), "{what}");
            assert_eq!(what, refused(database.console().query(sql, &mut |_| {})));
            for place in [&database.location.shown, "127.0.0.1", "/"] {
                assert!(!what.contains(place), "{what}");
            }
        }
        assert_eq!(console.value("SELECT count(*) FROM t").unwrap().as_deref(), Some("1"));
        assert_eq!(console.execute("INSERT INTO t VALUES (2)").unwrap(), 1);
    });
}

#[test]
fn what_does_not_open_is_told_without_its_place() {
    let refuse = |url: &str| {
        let (target, location) = find(url).unwrap();
        refused(target.console(&location, &GO_ON).map(|_| ()))
    };
    assert_eq!(refuse("sqlite:/nowhere/x.db"), "unable to open database file");
    for url in ["mysql://u@h/d?socket=/nowhere/s.sock", "postgres://u@/d?host=/nowhere"] {
        assert!(refuse(url).starts_with("no connection: No such file or directory"), "{url}");
    }
}

#[test]
fn transactions_begin_commit_and_roll_back() {
    for_each_database(|database| {
        let (mut one, mut other) = (database.console(), database.console());
        run(&mut *one, &["CREATE TABLE t (id INTEGER PRIMARY KEY)"]);
        let count = |console: &mut dyn Console| console.value("SELECT count(*) FROM t").unwrap();
        run(&mut *one, &["BEGIN", "INSERT INTO t VALUES (1)"]);
        assert_eq!(count(&mut *one).as_deref(), Some("1"));
        assert_eq!(count(&mut *other).as_deref(), Some("0"));
        run(&mut *one, &["ROLLBACK"]);
        assert_eq!(count(&mut *one).as_deref(), Some("0"));
        run(&mut *one, &["BEGIN", "INSERT INTO t VALUES (2)", "COMMIT"]);
        assert_eq!(count(&mut *other).as_deref(), Some("1"));
        // One that is open when the console goes is rolled back.
        run(&mut *one, &["BEGIN", "INSERT INTO t VALUES (3)"]);
        drop(one);
        let deadline = Instant::now() + Duration::from_secs(10);
        while other.execute("INSERT INTO t VALUES (3)").is_err() && Instant::now() < deadline {}
        assert_eq!(count(&mut *other).as_deref(), Some("2"));
    });
}

#[test]
fn a_commit_that_postgres_makes_a_rollback_is_an_error() {
    for_each_database(|database| {
        if database.is("postgres") {
            let mut console = database.console();
            run(
                &mut *console,
                &["CREATE TABLE t (id INTEGER)", "BEGIN", "INSERT INTO t VALUES (1)"],
            );
            console.execute("SELECT 1/0").unwrap_err();
            let what = refused(console.execute("SELECT 1"));
            assert!(what.starts_with("current transaction is aborted"), "{what}");
            let what = refused(console.execute(" commit;"));
            assert!(what.starts_with("the server has taken the transaction back"), "{what}");
            run(&mut *console, &["BEGIN", "ROLLBACK"]);
            assert_eq!(console.value("SELECT count(*) FROM t").unwrap().as_deref(), Some("0"));
        }
    });
}

#[test]
fn a_lock_of_another_connection_is_told() {
    for_each_database(|database| {
        let (mut one, mut other) = (database.console(), database.console());
        run(
            &mut *one,
            &["CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)", "INSERT INTO t VALUES (1, 0)"],
        );
        run(&mut *one, &["BEGIN", "UPDATE t SET v = 1"]);
        let patience = database.say(
            "PRAGMA busy_timeout = 300",
            "SET innodb_lock_wait_timeout = 1",
            "SET lock_timeout = '300ms'",
        );
        let words = database.say(
            "database is locked",
            "Lock wait timeout exceeded; try restarting transaction",
            "canceling statement due to lock timeout",
        );
        let timed = |other: &mut dyn Console| {
            let began = Instant::now();
            assert_eq!(refused(other.execute("UPDATE t SET v = 2")), words);
            began.elapsed()
        };
        if database.is("sqlite") {
            // It waits for nobody unless it is told to: a wait of SQLite's shortest step is told from none.
            let shortest = (0..10).map(|_| timed(&mut *other)).min().unwrap();
            assert!(shortest < Duration::from_millis(1), "{shortest:?}");
        }
        run(&mut *other, &[patience]);
        let waited = timed(&mut *other);
        assert!(waited > Duration::from_millis(250), "{waited:?}");
        run(&mut *one, &["COMMIT"]);
        assert_eq!(other.execute("UPDATE t SET v = 2").unwrap(), 1);
    });
}

#[test]
fn settings_hold_what_was_set_and_no_secret() {
    for_each_database(|database| {
        let mut console = database.console();
        let engine = console.engine().unwrap();
        let begin = match database.name.split('-').next().unwrap() {
            "sqlite" => "SQLite 3.",
            "mariadb" => "MariaDB 1",
            "mysql" => "MySQL ",
            _ => "PostgreSQL 1",
        };
        assert!(engine.starts_with(begin) && !engine.contains(['-', '(']), "{engine}");
        let set = database.say(
            "PRAGMA cache_size = -1234",
            "SET SESSION innodb_lock_wait_timeout = 7",
            "SET work_mem = '8MB'",
        );
        run(&mut *console, &[set]);
        let settings = console.settings().unwrap();
        let find = |name: &str| {
            let is = |setting: &&Setting| setting.name == name;
            settings.iter().find(is).unwrap_or_else(|| panic!("no {name}"))
        };
        let (name, value, default) = match database.target.name() {
            "sqlite" => ("cache_size", "-1234", None),
            "mysql" if database.name.starts_with("mariadb") => {
                ("innodb_lock_wait_timeout", "7", Some("50"))
            }
            "mysql" => ("innodb_lock_wait_timeout", "7", None),
            _ => ("work_mem", "8192", Some("4096")),
        };
        let setting = find(name);
        assert_eq!((setting.value.as_str(), setting.default.as_deref()), (value, default));
        if database.is("sqlite") {
            for (name, value) in [
                ("busy_timeout", "0"),
                ("journal_mode", "delete"),
                ("synchronous", "2"),
                ("encoding", "UTF-8"),
            ] {
                assert_eq!(find(name).value, value, "{name}");
            }
        } else {
            assert!(settings.len() > 200, "{}", settings.len());
        }
        assert!(!settings.iter().any(|setting| setting.name.ends_with("_password")));
        // The same again, and no wonder: nothing has happened in between.
        let again = database.console().settings().unwrap();
        let names =
            |settings: &[Setting]| settings.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&settings), names(&again));
    });
}

#[test]
fn many_rows_are_handed_out_one_by_one() {
    for_each_database(|database| {
        let mut console = database.console();
        run(
            &mut *console,
            &[
                "CREATE TABLE d (n INTEGER)",
                "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
            ],
        );
        let (mut seen, mut sum) = (0_u64, 0_u64);
        let count = console.query(
            "SELECT a.n * 10000 + b.n * 1000 + c.n * 100 + d.n * 10 + e.n, 'some text', NULL \
             FROM d a CROSS JOIN d b CROSS JOIN d c CROSS JOIN d CROSS JOIN d e",
            &mut |row| {
                let [Some(number), Some(b"some text"), None] = row else { panic!("{row:?}") };
                seen += 1;
                sum += std::str::from_utf8(number).unwrap().parse::<u64>().unwrap();
            },
        );
        assert_eq!((count.unwrap(), seen, sum), (100_000, 100_000, 4_999_950_000));
        assert_eq!(console.value("SELECT max(n) FROM d").unwrap().as_deref(), Some("9"));
    });
}

#[test]
fn procedures_are_made_and_called() {
    for_each_database(|database| {
        if database.is("sqlite") {
            return;
        }
        let mut console = database.console();
        run(&mut *console, &["CREATE TABLE t (id INTEGER)"]);
        let procedure = database.say(
            "",
            "CREATE PROCEDURE fill(rows_wanted INT) BEGIN \
               DECLARE i INT DEFAULT 0; \
               WHILE i < rows_wanted DO INSERT INTO t VALUES (i); SET i = i + 1; END WHILE; \
               SELECT 'first'; SELECT COUNT(*) FROM t; \
             END",
            "CREATE PROCEDURE fill(rows_wanted INT) LANGUAGE plpgsql AS $$ BEGIN \
               FOR i IN 1..rows_wanted LOOP INSERT INTO t VALUES (i); END LOOP; \
             END $$",
        );
        run(&mut *console, &[procedure, "CALL fill(50)"]);
        assert_eq!(console.value("SELECT COUNT(*) FROM t").unwrap().as_deref(), Some("50"));
        let _ = console.query("CALL fill(50)", &mut |_| {}).unwrap();
        assert_eq!(console.value("SELECT COUNT(*) FROM t").unwrap().as_deref(), Some("100"));
    });
}

#[test]
fn a_long_statement_ends_when_the_user_wants_to_stop() {
    for_each_database(|database| {
        let stop = AtomicBool::new(false);
        let mut console = database.target.console(&database.location, &stop).unwrap();
        let endless = database.say(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
            "SELECT BENCHMARK(100000000000, MD5('x'))",
            "SELECT pg_sleep(600)",
        );
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(200));
                stop.store(true, Relaxed);
            });
            let began = Instant::now();
            let error = console.execute(endless).unwrap_err();
            assert_eq!(error.kind(), Kind::Interrupted);
            assert!(began.elapsed() < Duration::from_secs(15));
        });
        stop.store(false, Relaxed);
        assert_eq!(console.value("SELECT 1").unwrap().as_deref(), Some("1"));
    });
}

#[test]
fn a_copy_without_rows_is_refused_and_the_connection_goes_on() {
    for_each_database(|database| {
        if database.is("postgres") {
            let mut console = database.console();
            run(&mut *console, &["CREATE TABLE t (id INTEGER)"]);
            let what = refused(console.execute("COPY t FROM STDIN"));
            assert_eq!(what, "COPY from stdin failed: there are no rows");
            run(&mut *console, &["INSERT INTO t VALUES (1)", "COPY t TO STDOUT"]);
            assert_eq!(console.value("SELECT count(*) FROM t").unwrap().as_deref(), Some("1"));
        }
    });
}

#[test]
fn a_database_in_memory_is_the_same_for_consoles_and_loads() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("in.csv");
    std::fs::write(&file, "id,name\n1,a\n2,b\n").unwrap();
    let request = |durability, strategy: Option<&str>| Request {
        sources: vec![file.display().to_string()],
        target: "sqlite::memory:a name/with%20all?x=1".to_owned(),
        options: LoadOptions {
            table: Some("t".to_owned()),
            if_exists: IfExists::Append,
            durability,
            strategy: strategy.map(str::to_owned),
            ..LoadOptions::default()
        },
        ..Request::default()
    };
    let (target, location) = find(&request(Durability::None, None).target).unwrap();
    assert!(location.files.is_empty());
    let refuse = |request: &Request| plan(request, &Unobserved).err().unwrap();
    let gone = refuse(&request(Durability::None, None));
    assert_eq!(gone.kind(), Kind::Usage);
    assert_eq!(gone.what(), "a database in memory would be gone when the load ends");

    let mut console = target.console(&location, &GO_ON).unwrap();
    run(&mut *console, &["CREATE TABLE t (id INTEGER, name TEXT)"]);
    for (done, strategy) in (1..).zip(["sqlite/row-sql", "sqlite/values", "sqlite/bind"]) {
        let plan = plan(&request(Durability::None, Some(strategy)), &Unobserved).unwrap();
        let report = load(&plan, &Unobserved).unwrap();
        assert_eq!(report.rows_loaded, 2, "{strategy}");
        let report = serde_json::to_string(&report).unwrap();
        assert!(report.contains("\"database\":\"in memory\""), "{report}");
        let count = console.value("SELECT count(*) FROM t WHERE name IN ('a', 'b')").unwrap();
        assert_eq!(count, Some((2 * done).to_string()), "{strategy}");
    }
    let pages = refuse(&request(Durability::None, Some("sqlite/pages")));
    assert_eq!(pages.what(), "sqlite/pages: the database is in memory, and has no file");
    let durable = refuse(&request(Durability::Process, Some("sqlite/bind")));
    assert!(durable.what().contains("'none' at best"), "{durable}");
    let mut request = request(Durability::None, Some("sqlite/bind"));
    request.knobs.insert("journal_mode".to_owned(), "wal".to_owned());
    assert!(refuse(&request).what().contains("its journal would not be"));

    // A load that fails leaves what was there, and so does one that finds a lock.
    std::fs::write(&file, "id,name\n3,c\nx,d\n").unwrap();
    request.knobs.remove("journal_mode");
    request.knobs.insert("busy_timeout".to_owned(), "0".to_owned());
    let plan = plan(&request, &Unobserved).unwrap();
    assert_eq!(load(&plan, &Unobserved).err().unwrap().kind(), Kind::Rejects);
    run(&mut *console, &["BEGIN IMMEDIATE"]);
    let locked = load(&plan, &Unobserved).err().unwrap();
    assert!(locked.what().ends_with("is locked by another connection of this program"), "{locked}");
    let mut other = target.console(&location, &GO_ON).unwrap();
    assert_eq!(refused(other.execute("BEGIN IMMEDIATE")), "database is locked");
    run(&mut *console, &["COMMIT"]);
    assert_eq!(other.value("SELECT count(*) FROM t").unwrap().as_deref(), Some("6"));
    // It goes with the last who has it open.
    drop((console, other));
    let mut anew = target.console(&location, &GO_ON).unwrap();
    assert_eq!(anew.value("SELECT count(*) FROM sqlite_schema").unwrap().as_deref(), Some("0"));
}
