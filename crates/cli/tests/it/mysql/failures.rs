use std::io::Write as _;
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::crash::{go_on, signal};
use crate::fixture::{
    Outcome, Random, finish, says_while_it_waits, size, some, start, wait_until,
    wait_until_it_waits,
};
use crate::steps;
use crate::stops::{self, Moment};

use super::proxy::{Proxy, Trick};
use super::server::{Server, for_some_servers, rows};

/// A load that ends in the middle.
#[derive(Clone, Copy)]
struct Case {
    strategy: &'static str,
    /// Whether the table holds rows: then one transaction keeps it as it is, otherwise a hidden table does.
    is_used: bool,
    /// As many as keep it busy for some tenths of a second.
    rows: i64,
}

const CASES: [Case; 4] = [
    Case { strategy: "load-data", is_used: true, rows: 10_000 },
    Case { strategy: "load-data", is_used: false, rows: 10_000 },
    Case { strategy: "values", is_used: true, rows: 8_000 },
    Case { strategy: "prepared", is_used: false, rows: 1_500 },
];

/// Some of them, and of MariaDB's own.
fn cases(server: &Server) -> Vec<Case> {
    let bulk = |is_used| Case { strategy: "bulk", is_used, rows: 10_000 };
    let own = [bulk(true), bulk(false)].into_iter().filter(|_| server.has_bulk());
    some(CASES.into_iter().chain(own).collect())
}

impl Case {
    /// The file, and the table that holds two rows or none.
    fn prepare(self, server: &Server) {
        let rows: String = (1..=self.rows).map(|id| format!("{id},name of {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        server
            .drop_table("t")
            .sql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(30)) ENGINE=InnoDB");
        if self.is_used {
            server.sql("INSERT INTO t VALUES (-1, 'old'), (-2, 'old')");
        }
    }

    fn args(self, url: &str) -> [&str; 9] {
        [
            "load",
            "t.csv",
            url,
            "--if-exists",
            "append",
            "--strategy",
            self.strategy,
            "--chunk-size",
            "8k",
        ]
    }

    fn start(self, server: &Server, url: &str) -> Child {
        start(&mut server.command(&self.args(url)))
    }

    /// The same with everything as it was before.
    fn begin(self, server: &Server, url: &str) -> Child {
        self.prepare(server);
        self.start(server, url)
    }

    /// The table is as before: none of the file's rows is in it.
    #[track_caller]
    fn assert_untouched(self, server: &Server, what: &str) {
        let rows = if self.is_used { rows![[-2, "old"], [-1, "old"]] } else { rows![] };
        let found = server.query("SELECT * FROM t ORDER BY id LIMIT 5");
        assert_eq!(found, rows, "{}, {what}, on {}", self.strategy, server.name);
    }

    fn is_loaded(self, server: &Server) -> bool {
        server.count("t") >= self.rows
    }

    /// The same command then succeeds, and nothing is left of the first.
    #[track_caller]
    fn assert_next_succeeds(self, server: &Server) {
        server.wait_until_alone();
        server.inrush(&self.args(&server.url())).exits(0);
        assert_eq!(server.count("t"), self.rows + if self.is_used { 2 } else { 0 });
        assert_eq!(server.tables(), ["t"], "left over on {}", server.name);
    }
}

#[track_caller]
fn end_of(child: Child) -> Outcome {
    go_on(&child);
    Outcome::of("load, disturbed".to_owned(), finish(child, b""))
}

#[test]
fn a_load_that_waits_for_somebody_else_can_be_interrupted() {
    for_some_servers(|server| {
        let [used, _, values, _] = CASES;
        used.prepare(server);
        // For a row of theirs; for a table that is altered or read at length.
        for (wait, end, case) in [
            ("BEGIN;; INSERT INTO t VALUES (5, 'mine')", "ROLLBACK", values),
            ("LOCK TABLES t WRITE", "UNLOCK TABLES", used),
        ] {
            server.sql(wait);
            let child = case.start(server, &server.url());
            wait_until_it_waits(&child);
            signal(&child, "INT");
            end_of(child).exits(130).says(&["interrupted"]).ends_with_nothing_changed();
            server.sql(end);
            case.assert_untouched(server, wait);
        }
        used.assert_next_succeeds(server);
    });
}

/// A load that says nothing looks as if it hung.
#[test]
fn who_holds_what_a_load_waits_for_is_named() {
    for_some_servers(|server| {
        let [used, _, values, _] = CASES;
        used.prepare(server);
        let holder = server.number("SELECT CONNECTION_ID()");
        let named = format!("that connection {holder} holds (user ");
        let advice = format!("KILL {holder} ends it");
        let on_table = format!("waiting for a lock on {}.t that", server.database);
        // For a row of theirs; for a table that is altered or read at length, of which not every server says who has it.
        let says_all = server.query("SELECT @@performance_schema")[0][0].as_deref() == Some("1");
        let of_table = match says_all && !server.is_mariadb && server.version >= (8, 0) {
            true => [&*on_table, &named, &advice],
            false => {
                ["the server says 'Waiting for table ", "metadata lock': SHOW FULL PROCESSLIST", ""]
            }
        };
        for (wait, end, case, words) in [
            (
                "BEGIN;; INSERT INTO t VALUES (5, 'mine')",
                "ROLLBACK",
                values,
                [&*on_table, &named, &advice],
            ),
            ("LOCK TABLES t WRITE", "UNLOCK TABLES", used, of_table),
        ] {
            server.sql(wait);
            says_while_it_waits(server.command(&case.args(&server.url())), &words, || {
                server.sql(end);
            });
            server.sql("DELETE FROM t WHERE id > 0");
        }
    });
}

#[test]
fn a_connection_that_is_cut_after_some_bytes() {
    for_some_servers(|server| {
        let mut random = Random(0x13);
        for case in cases(server) {
            case.prepare(server);
            let proxy = Proxy::start(&server.address, Trick::Nothing);
            server.inrush(&case.args(&server.url_at(&proxy.address))).exits(0);
            let all = proxy.sent();
            // In the handshake, among the first statements, among the rows, at the end: the last 400 bytes are those that
            // commit, or that rename.
            let somewhere = (all as f64 * (0.2 + 0.7 * random.share())) as u64;
            let places = [somewhere, all - 40, 20, 900, all - 300, all - 150];
            for &place in &places[..size(2, 6)] {
                case.prepare(server);
                let proxy = Proxy::start(&server.address, Trick::CutAfter(place));
                let run = server.inrush(&case.args(&server.url_at(&proxy.address)));
                let what = format!("cut after {place} of {all} bytes: {run:?}");
                drop(proxy);
                server.wait_until_alone();
                if case.is_loaded(server) {
                    // Nobody says that it is not.
                    let says_so = run.stderr.contains("nothing changed");
                    assert!(run.status.success() || !says_so, "{what} on {}", server.name);
                    continue;
                }
                case.assert_untouched(server, &what);
                let run = run.exits(1).says(&["connection"]);
                if place < all - 400 {
                    run.ends_with_nothing_changed();
                }
            }
            case.prepare(server);
            case.assert_next_succeeds(server);
        }
    });
}

#[test]
fn connections_that_are_cut_and_can_be_made_again() {
    for_some_servers(|server| {
        for case in cases(server) {
            case.prepare(server);
            let proxy = Proxy::start(&server.address, Trick::Nothing);
            server.leaves_everything(|| {
                let url = server.url_at(&proxy.address);
                let (child, _) = server.caught(|| case.begin(server, &url));
                proxy.cut();
                let run = end_of(child).exits(1).ends_with_nothing_changed();
                run.says(&["the connection to", "was lost"]);
                server.wait_until_alone();
            });
        }
    });
}

#[test]
fn a_connection_that_falls_silent_is_not_waited_for_longer_than_was_asked() {
    for_some_servers(|server| {
        let case = CASES[1];
        case.prepare(server);
        let proxy = Proxy::start(&server.address, Trick::Nothing);
        let url = format!("{}?read-timeout=1&connect-timeout=1", server.url_at(&proxy.address));
        let (child, _) = server.caught(|| case.begin(server, &url));
        proxy.freeze();
        end_of(child).exits(1).says(&["no answer within 1 s"]).ends_with_nothing_changed();
        drop(proxy);
        server.wait_until_alone();
        case.assert_untouched(server, "silent");
        case.assert_next_succeeds(server);
    });
}

#[test]
fn a_connection_that_another_client_kills() {
    for_some_servers(|server| {
        for case in cases(server) {
            case.prepare(server);
            server.leaves_everything(|| {
                let (child, id) = server.caught(|| case.begin(server, &server.url()));
                server.kill("CONNECTION", &id);
                let run = end_of(child).exits(1).ends_with_nothing_changed();
                run.says(&["the connection to", "was lost"]);
                server.wait_until_alone();
            });
            case.assert_next_succeeds(server);
        }
    });
}

#[test]
fn a_statement_that_another_client_kills() {
    for_some_servers(|server| {
        for case in cases(server) {
            case.prepare(server);
            let url = server.url();
            let (child, _) = server.caught(|| case.begin(server, &url));
            go_on(&child);
            // Some come between two statements, some meet those that tidy up.
            for id in (0..20).flat_map(|_| server.connections()) {
                server.kill("QUERY", &id);
            }
            let run = end_of(child);
            if run.status.success() {
                server.sql("DELETE FROM t WHERE id > 0");
            } else {
                run.exits(1).says(&["interrupted"]).ends_with_nothing_changed();
            }
            case.assert_untouched(server, "a killed statement");
            case.assert_next_succeeds(server);
        }
    });
}

#[test]
fn hidden_tables_of_loads_that_go_on_are_left_alone() {
    for_some_servers(|server| {
        server.write("u.csv", "id\n1\n");
        let child = open_load(server, &[]);
        wait_until("a hidden table", || !server.hidden().is_empty());
        server.load(&["u.csv"]).exits(0);
        assert_eq!(server.hidden().len(), 1, "another load's table was dropped");
        end_of(child).exits(0);
        assert_eq!(server.count("t"), OPEN);
    });
}

#[test]
fn rows_that_somebody_else_writes_during_a_load_are_not_lost() {
    for_some_servers(|server| {
        let case = CASES[1];
        case.prepare(server);
        let url = server.url();
        let (child, _) = server.caught(|| case.begin(server, &url));
        go_on(&child);
        server.sql("INSERT INTO t VALUES (-5, 'theirs')");
        let run = end_of(child);
        assert_eq!(server.number("SELECT COUNT(*) FROM t WHERE id = -5"), 1, "{run:?}");
        if !run.status.success() {
            run.exits(1).says(&["another client"]).ends_with_nothing_changed();
            assert_eq!(server.query("SELECT id FROM t"), rows![[-5]]);
        }
        server.wait_until_alone();
        assert!(server.hidden().is_empty());
    });
}

/// Rows in a file of its own have no names of columns: in another order they would be other columns' values.
/// A proxy that does something before the server sees the first statement with these words; true from it ends the connection.
fn proxy_at(
    server: &Server,
    words: &'static str,
    act: impl Fn() -> bool + Send + Sync + 'static,
) -> Proxy {
    let trick = Trick::At { words, nth: 0, is_answered: false, act: Arc::new(act) };
    Proxy::start(&server.address, trick)
}

/// The server behind the proxy, which reads what is said.
fn through(server: &Server, proxy: &Proxy) -> String {
    format!("{}?ssl-mode=disabled", server.url_at(&proxy.address))
}

#[test]
fn a_hidden_table_whose_csv_file_is_written_is_not_published_when_another_client_alters_it() {
    for_some_servers(|server| {
        server.write("t.csv", "a,b\n1,2\n3,4\n");
        let client = server.another_client();
        let alter = move || {
            let hidden = client("SHOW TABLES LIKE 'inrush%'")[0][0].clone().unwrap();
            client(&format!("ALTER TABLE `{hidden}` MODIFY b bigint NOT NULL FIRST"));
            false
        };
        let proxy = proxy_at(server, "REPAIR TABLE", alter);
        let url = through(server, &proxy);
        let way = ["--strategy", "csv-file", "--set", "engine=csv", "--durability", "none"];
        let run = server.inrush(&[&["load", "t.csv", &url], &way[..]].concat()).exits(1);
        run.ends_with_nothing_changed().says(&["another client has altered"]);
        assert!(proxy.is_met());
        assert_eq!(server.tables(), Vec::<String>::new());
    });
}

#[test]
fn null_in_a_table_of_the_csv_engine_is_a_bad_row_that_names_the_engine() {
    for_some_servers(|server| {
        server.write("t.csv", "a,b\n1,2\n3,\n");
        let way = ["--strategy", "csv-file", "--set", "engine=csv", "--durability", "none"];
        let run = server.refuses(&[&["t.csv"], &way[..]].concat());
        run.says(&["line 3, column b", "NULL", "CSV engine"]);
    });
}

/// Rows of [`open_load`].
const OPEN: i64 = 6_000;

/// A load whose source does not end before [`end_of`].
fn open_load(server: &Server, args: &[&str]) -> Child {
    let url = server.url();
    let load = ["load", "-", &url, "--table", "t", "--drop", "pad", "--chunk-size", "64k"];
    let mut child = start(&mut server.command(&[&load[..], args].concat()));
    // Wide rows, for a load looks at the first megabyte before it begins.
    let pad = "x".repeat(200);
    let rows: String = (0..OPEN).map(|id| format!("{id},{pad}\n")).collect();
    let input = child.stdin.as_mut().unwrap();
    input.write_all(format!("id,pad\n{rows}").as_bytes()).unwrap();
    child
}

#[test]
fn what_others_do_to_a_table_during_a_load_does_not_go_with_it() {
    for_some_servers(|server| {
        for (if_exists, change, words) in [
            ("empty", "ALTER TABLE t ADD COLUMN w INT NOT NULL DEFAULT 3", "has altered table t"),
            ("append", "ALTER TABLE t ADD UNIQUE KEY late (id)", "has altered table t"),
            ("truncate", "ALTER TABLE t ALTER COLUMN n SET DEFAULT 7", "has altered table t"),
            ("replace", "ALTER TABLE t COMMENT = 'late'", "has altered table t"),
            (
                "truncate",
                "CREATE TRIGGER late AFTER INSERT ON t FOR EACH ROW SET @late = 1",
                "has altered table t",
            ),
            ("append", "INSERT INTO t VALUES (-5, 5)", "has written rows"),
        ] {
            server.drop_table("t").sql("CREATE TABLE t (id INT, n INT) ENGINE=InnoDB");
            if matches!(if_exists, "truncate" | "replace") {
                server.sql("INSERT INTO t VALUES (-1, 1)");
            }
            let child = open_load(server, &["--if-exists", if_exists]);
            wait_until("a hidden table", || !server.hidden().is_empty());
            server.sql(change);
            let table = || (server.state()["t"].clone(), server.query("SHOW TRIGGERS").len());
            let changed = table();
            let run = end_of(child).exits(1).ends_with_nothing_changed();
            run.says(&[words, "run the load again"]);
            assert_eq!(table(), changed, "{change} on {}", server.name);
            assert_eq!(server.tables(), ["t"], "{change} on {}", server.name);
        }
    });
}

/// Whoever waits for the table while another takes its place writes into the new one.
#[test]
fn a_row_that_waits_while_a_table_gets_its_name_is_kept() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        for if_exists in ["append", "truncate"] {
            // The lock is given up after some seconds: on a machine that was too busy to see the row wait, it comes before the renaming.
            let is_kept = (0..5).any(|_| {
                server.drop_table("t").sql("CREATE TABLE t (id INT) ENGINE=InnoDB");
                let client = Arc::new(server.another_client());
                let waited = Arc::new(AtomicBool::new(false));
                let sees = Arc::clone(&waited);
                let act = move || {
                    let writer = Arc::clone(&client);
                    let row = std::thread::spawn(move || writer("INSERT INTO t VALUES (-5)"));
                    wait_until("a row waits or is in", || {
                        let waits = "SELECT 1 FROM information_schema.PROCESSLIST \
                             WHERE INFO LIKE 'INSERT INTO t VALUES (-5)%' AND STATE LIKE 'Waiting for %'";
                        sees.store(!client(waits).is_empty(), Relaxed);
                        sees.load(Relaxed) || row.is_finished()
                    });
                    false
                };
                let proxy = proxy_at(server, "RENAME TABLE", act);
                let url = through(server, &proxy);
                let run = server.inrush(&["load", "t.csv", &url, "--if-exists", if_exists]);
                assert!(proxy.is_met());
                if waited.load(Relaxed) {
                    run.exits(0);
                    wait_until("the row is in", || server.count("t") == 3);
                }
                waited.load(Relaxed)
            });
            assert!(is_kept, "the table is not locked before its name changes");
        }
    });
}

#[test]
fn a_table_that_another_client_makes_during_a_load_stays() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let client = server.another_client();
        let act = move || {
            client("CREATE TABLE t (theirs INT)");
            false
        };
        let proxy = proxy_at(server, "RENAME TABLE", act);
        let url = through(server, &proxy);
        let run = server.inrush(&["load", "t.csv", &url]).exits(1).ends_with_nothing_changed();
        run.says(&["another client has made table t", "--if-exists append"]);
        assert_eq!(server.tables(), ["t"]);
        assert_eq!(server.count("t"), 0);
    });
}

/// Its triggers keep it in its place.
fn make_with_trigger(server: &Server) {
    server.drop_table("t").sql(
        "CREATE TABLE t (id INT, n INT) ENGINE=InnoDB;;
         CREATE TRIGGER seven BEFORE INSERT ON t FOR EACH ROW SET NEW.n = 7",
    );
}

/// What no transaction takes back.
#[test]
fn a_table_that_was_emptied_for_a_load_that_fails_is_told() {
    for_some_servers(|server| {
        make_with_trigger(server);
        server.sql("ALTER TABLE t ENGINE=MyISAM;; INSERT INTO t VALUES (1, 1)");
        server.write("t.csv", "id\nx\n");
        let way = ["--if-exists", "truncate", "--durability", "process"];
        let url = server.url();
        let run = server.inrush(&[&["load", "t.csv", &url], &way[..]].concat()).exits(1);
        run.says(&["'x'", "no row was committed", "the table may have been emptied"]);
        assert_eq!(server.count("t"), 0);
    });
}

#[test]
fn what_triggers_wrote_into_tables_without_transactions_is_told_of() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n1\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;; CREATE TABLE log (id INT) ENGINE=MyISAM;;
             CREATE TRIGGER log_it AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id)",
        );
        let run = server.load(&["t.csv"]).exits(1).ends_with_nothing_changed();
        run.says(&["triggers of table t write into: what they wrote there stays"]);
        assert_eq!(server.count("t"), 0);
        assert_ne!(server.count("log"), 0);
    });
}

#[test]
fn rows_of_others_are_noticed_in_a_table_that_is_to_be_empty_and_stays_in_its_place() {
    for_some_servers(|server| {
        make_with_trigger(server);
        for verify in ["count", "none"] {
            let args = ["--if-exists", "empty", "--verify", verify];
            let child = open_load(server, &args);
            server.wait_for_rows();
            server.sql("INSERT INTO t (id) VALUES (-5)");
            let run = end_of(child).exits(1).ends_with_nothing_changed();
            run.says(&["another client has written rows into table t", "--if-exists append"]);
            assert_eq!(server.query("SELECT id FROM t"), rows![[-5]]);
            server.sql("DELETE FROM t");
        }
        // Who adds doesn't mind.
        let child = open_load(server, &["--if-exists", "append"]);
        server.wait_for_rows();
        server.sql("INSERT INTO t (id) VALUES (-5)");
        end_of(child).exits(0);
        assert_eq!(server.count("t"), OPEN + 1);
    });
}

/// Who waits to alter the table waits for the load, which does not wait for them.
#[test]
fn a_client_that_waits_to_alter_the_table_ends_no_load_and_stops_none() {
    for_some_servers(|server| {
        make_with_trigger(server);
        let child = open_load(server, &["--if-exists", "empty"]);
        server.wait_for_rows();
        let client = server.another_client();
        let alter = std::thread::spawn(move || client("ALTER TABLE t COMMENT = 'late'"));
        wait_until("a client waits", || {
            let waits = "SELECT 1 FROM information_schema.PROCESSLIST \
                 WHERE INFO LIKE 'ALTER TABLE t %' AND STATE LIKE 'Waiting for %'";
            !server.query(waits).is_empty()
        });
        end_of(child).exits(0);
        alter.join().unwrap();
        assert_eq!(server.count("t"), OPEN);
    });
}

#[test]
fn of_two_loads_into_an_empty_table_that_stays_in_its_place_one_succeeds() {
    for_some_servers(|server| {
        make_with_trigger(server);
        let loads = [(); 2].map(|()| open_load(server, &[]));
        wait_until("both have a connection", || server.connections().len() > 1);
        let ends = loads.map(|child| std::thread::spawn(|| end_of(child)));
        let runs = ends.map(|end| end.join().unwrap());
        let done = runs.iter().filter(|run| run.status.success()).count();
        assert_eq!(done, 1, "{runs:?} on {}", server.name);
        assert_eq!(server.count("t"), OPEN, "on {}", server.name);
    });
}

#[test]
fn rows_that_others_add_are_not_taken_for_those_of_a_load_that_updates() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,new\n");
        for answer in ["skip", "update", "replace"] {
            server.drop_table("t").sql(
                "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(30)) ENGINE=InnoDB;;
                 BEGIN;; INSERT INTO t VALUES (1, 'theirs'), (2, 'theirs'), (3, 'theirs')",
            );
            let url = server.url();
            let load = ["load", "t.csv", &url, "--if-exists", "append", "--on-conflict", answer];
            let child = start(&mut server.command(&load));
            wait_until_it_waits(&child);
            server.sql("COMMIT");
            end_of(child).exits(0);
            let name = if answer == "skip" { "theirs" } else { "new" };
            let found = server.query("SELECT name FROM t ORDER BY id");
            assert_eq!(found, rows![[name], ["theirs"], ["theirs"]], "{answer} on {}", server.name);
        }
    });
}

#[test]
fn rows_that_somebody_else_writes_during_a_load_are_not_taken_for_its_own() {
    for_some_servers(|server| {
        let case = CASES[2];
        case.prepare(server);
        server.sql("BEGIN;; INSERT INTO t VALUES (5, 'mine')");
        let child = case.start(server, &server.url());
        wait_until_it_waits(&child);
        server.sql("DELETE FROM t WHERE id = 5;; INSERT INTO t VALUES (-5, 'theirs');; COMMIT");
        end_of(child).exits(0);
        assert_eq!(server.count("t"), case.rows + 3, "on {}", server.name);
    });
}

#[test]
fn steps_of_a_program_outlive_their_connections() {
    for_some_servers(|server| {
        steps::outlive_connections(server, |server, id| server.kill("CONNECTION", id));
    });
}

/// A load in steps into a new table, through the proxy.
fn in_steps(server: &Server, proxy: &Proxy) -> [String; 5] {
    let url = through(server, proxy);
    ["load", "t.csv", &url, "--guarantee", "chunks"].map(str::to_owned)
}

#[test]
fn steps_that_are_to_replace_a_table_are_refused_for_themselves() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let run = server.misused(&["t.csv", "--guarantee", "chunks", "--if-exists", "replace"]);
        run.says(&["error: --guarantee chunks: the server makes", "try: --if-exists truncate"]);
    });
}

#[test]
fn a_table_that_another_client_makes_before_a_load_in_steps_does_is_not_the_load_s_to_drop() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let client = server.another_client();
        let act = move || {
            client("CREATE TABLE t (theirs INT)");
            false
        };
        let proxy = proxy_at(server, "CREATE TABLE `t`", act);
        let load = in_steps(server, &proxy);
        let run = server.inrush(&load.each_ref().map(String::as_str)).exits(1);
        run.ends_with_nothing_changed().says(&["another client has made table t"]);
        assert!(proxy.is_met());
        assert_eq!(server.tables(), ["inrush_steps", "t"], "on {}", server.name);
        assert_eq!(server.count("inrush_steps"), 0);
    });
}

#[test]
fn a_row_that_another_client_has_yet_to_commit_keeps_the_table_that_a_failed_load_has_made() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\nbad\n");
        let (goes_on, waits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (may_go, is_waiting) = (Arc::clone(&goes_on), Arc::clone(&waits));
        let act = move || {
            is_waiting.store(true, Relaxed);
            wait_until("the other client has written", || may_go.load(Relaxed));
            false
        };
        let proxy = proxy_at(server, "START TRANSACTION", act);
        let load =
            [&in_steps(server, &proxy)[..], &["--type".into(), "id=integer".into()]].concat();
        let args: Vec<&str> = load.iter().map(String::as_str).collect();
        let child = start(&mut server.command(&args));
        wait_until("the table is made", || waits.load(Relaxed));
        server.sql("BEGIN;; INSERT INTO t VALUES (-5)");
        goes_on.store(true, Relaxed);
        let client = server.another_client();
        wait_until("the load waits for the table", || {
            let waits = "SELECT 1 FROM information_schema.PROCESSLIST \
                 WHERE INFO LIKE 'LOCK TABLES%' AND STATE LIKE 'Waiting for %'";
            !client(waits).is_empty()
        });
        server.sql("COMMIT");
        end_of(child).exits(1).says(&["t.csv: line 3", "resumable: 0 rows"]);
        assert_eq!(server.query("SELECT id FROM t"), rows![[-5]], "on {}", server.name);
        // Without that row it would have gone.
        server.sql("DROP TABLE t, inrush_steps");
        let url = server.url();
        let again = ["load", "t.csv", &url, "--guarantee", "chunks", "--type", "id=integer"];
        server.inrush(&again).exits(1).ends_with_nothing_changed();
        assert_eq!(server.tables(), ["inrush_steps"], "on {}", server.name);
    });
}

/// Columns that the load adds come before its rows.
#[test]
fn values_that_another_client_writes_into_added_columns_keep_them() {
    for_some_servers(|server| {
        server.write("t.csv", "id,w\n1,2\nbad,3\n");
        for (change, columns) in [("", 2), ("UPDATE t SET w = 7", 3)] {
            server
                .drop_table("t")
                .sql("CREATE TABLE t (id INT, n INT) ENGINE=InnoDB;; INSERT INTO t VALUES (-5, 5)");
            let client = server.another_client();
            let act = move || {
                if !change.is_empty() {
                    client(change);
                }
                false
            };
            let proxy = proxy_at(server, "START TRANSACTION", act);
            let url = through(server, &proxy);
            let add = ["--if-exists", "append", "--new-columns", "add"];
            server.inrush(&[&["load", "t.csv", &url], &add[..]].concat()).exits(1);
            let count = "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't'";
            assert_eq!(server.number(count), columns, "{change} on {}", server.name);
            assert_eq!(server.count("t"), 1);
        }
    });
}

#[test]
fn who_is_stopped_while_the_commit_has_no_answer_says_what_is_true() {
    let case = |load, after, words| stops::Case { load, moment: Moment { after, words } };
    let cases = [
        case(Some(&["--if-exists", "append"][..]), "START TRANSACTION", "COMMIT"),
        case(Some(&[]), "", "RENAME TABLE"),
        case(Some(&["--if-exists", "append", "--set", "rows_per_transaction=500"]), "", "COMMIT"),
        case(
            Some(&["--if-exists", "append", "--guarantee", "chunks", "--commit-rows", "500"]),
            "SET state = 'open'",
            "COMMIT",
        ),
        case(None, "'publishing", "COMMIT"),
    ];
    for_some_servers(|server| {
        let at = |address: &str| format!("{}?ssl-mode=disabled", server.url_at(address));
        stops::while_the_commit_has_no_answer(server, &server.address, at, &cases);
    });
}

/// The hidden table is gone then, and its rows are nowhere, or in the table.
#[test]
fn a_connection_that_is_lost_at_the_rename_says_no_more_than_is_known() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n");
        let load = |if_exists: &str, act: Box<dyn Fn() + Send + Sync>| {
            server.drop_table("t");
            if if_exists != "empty" {
                server.sql("CREATE TABLE t (id INT) ENGINE=InnoDB;; INSERT INTO t VALUES (7)");
            }
            let act = move || {
                act();
                true
            };
            let proxy = proxy_at(server, "RENAME TABLE", act);
            let url = through(server, &proxy);
            let run = server.inrush(&["load", "t.csv", &url, "--if-exists", if_exists]);
            assert!(proxy.is_met());
            run
        };
        for if_exists in ["empty", "truncate", "replace"] {
            let what = format!("{if_exists} on {}", server.name);
            // Another load sweeps the hidden table, for its owner's connection is gone.
            let client = server.another_client();
            let sweep = move || {
                for hidden in client("SHOW TABLES LIKE 'inrush%'").into_iter().flatten().flatten() {
                    client(&format!("DROP TABLE `{hidden}`"));
                }
            };
            let run = load(if_exists, Box::new(sweep)).exits(1).says(&["connection"]);
            assert!(run.stderr.ends_with("look at it before you go on\n"), "{what}: {run:?}");
            let tables: &[&str] = if if_exists == "empty" { &[] } else { &["t"] };
            assert_eq!(server.tables(), tables, "{what}");
            if let [table] = tables {
                assert_eq!(server.query(&format!("SELECT id FROM {table}")), rows![[7]], "{what}");
            }
            // It has its name, and only the answer is lost.
            let client = server.another_client();
            let rename = move || {
                if if_exists != "empty" {
                    // The newest connection keeps all others from the table for some seconds.
                    let newest = "SELECT MAX(ID) FROM information_schema.PROCESSLIST \
                         WHERE DB = DATABASE() AND ID <> CONNECTION_ID()";
                    client(&format!("KILL {}", client(newest)[0][0].as_ref().unwrap()));
                }
                let hidden = client("SHOW TABLES LIKE 'inrush%'")[0][0].clone().unwrap();
                let replaced = match if_exists {
                    "empty" => String::new(),
                    _ => format!("t TO `{hidden}_old`, "),
                };
                client(&format!("RENAME TABLE {replaced}`{hidden}` TO t"));
            };
            let run = load(if_exists, Box::new(rename)).exits(0);
            run.says(&["asking the server for up to 10 s whether the rows are in"]);
            assert_eq!(server.count("t"), 2, "{what}");
            assert_eq!(server.tables(), ["t"], "{what}");
        }
    });
}

/// A load that is no more is known by all of the name that its table has.
#[test]
fn tables_that_are_called_nearly_as_hidden_ones_stay() {
    for_some_servers(Server::keeps_tables_of_nearly_hidden_names);
}
