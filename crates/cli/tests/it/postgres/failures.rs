use std::io::Write as _;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::crash::{go_on, signal};
use crate::fixture::{
    Outcome, Random, finish, says_while_it_waits, size, some, start, wait_until,
    wait_until_it_waits,
};
use crate::servers::OnDrop;
use crate::steps;
use crate::stops::{self, Moment};

use super::proxy::{Act, Proxy, Trick};
use super::server::{Rows, Server, for_each_server, rows};

/// A load that ends in the middle.
#[derive(Clone, Copy, Debug)]
struct Case {
    strategy: &'static str,
    /// Over how many connections into a table that the load makes; 0 for a table that holds rows.
    lanes: usize,
    /// As many as keep it busy for a while.
    rows: i64,
}

const CASES: [Case; 5] = [
    Case { strategy: "copy-binary", lanes: 0, rows: 10_000 },
    Case { strategy: "copy-binary", lanes: 1, rows: 10_000 },
    Case { strategy: "copy-text", lanes: 2, rows: 10_000 },
    Case { strategy: "values", lanes: 2, rows: 5000 },
    Case { strategy: "prepared", lanes: 0, rows: 1500 },
];

/// Some of them, others for each test.
fn some_cases() -> Vec<Case> {
    some(CASES.to_vec())
}

impl Case {
    /// The file, and the table with its two rows, or none.
    fn prepare(self, server: &Server) {
        let rows: String = (1..=self.rows).map(|id| format!("{id},name of {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}")).drop_table("t");
        if self.lanes == 0 {
            server.sql("CREATE TABLE t (id int PRIMARY KEY, name varchar(30))");
            server.sql("INSERT INTO t VALUES (-1, 'old'), (-2, 'old')");
        }
    }

    fn args(self, url: &str) -> Vec<&str> {
        let lanes = match self.lanes {
            0 => ["--if-exists", "append"],
            1 => ["--lanes", "1"],
            _ => ["--lanes", "2"],
        };
        let load = ["load", "t.csv", url, "--strategy", self.strategy, "--chunk-size", "8k"];
        [&load[..], &lanes].concat()
    }

    fn start(self, server: &Server, url: &str) -> Child {
        start(&mut server.command(&self.args(url)))
    }

    /// The same with everything as it was before.
    fn begin(self, server: &Server, url: &str) -> Child {
        self.prepare(server);
        self.start(server, url)
    }

    fn rows_before(self) -> Rows {
        if self.lanes == 0 { rows![[-2, "old"], [-1, "old"]] } else { rows![] }
    }

    fn is_loaded(self, server: &Server) -> bool {
        server.tables().contains(&"t".to_owned()) && server.count("t") >= self.rows
    }

    /// The table is as before: none of the file's rows is in it, or there is none.
    #[track_caller]
    fn assert_untouched(self, server: &Server, what: &str) {
        if self.lanes > 0 {
            assert!(!server.tables().contains(&"t".to_owned()), "{self:?}, {what}");
            return;
        }
        let found = server.query("SELECT * FROM t ORDER BY id LIMIT 5");
        assert_eq!(found, self.rows_before(), "{self:?}, {what}");
    }

    /// The same command then succeeds, and nothing is left of the first.
    #[track_caller]
    fn assert_next_succeeds(self, server: &Server) {
        server.wait_until_alone();
        server.inrush(&self.args(&server.url())).exits(0);
        assert_eq!(server.count("t") as usize, self.rows as usize + self.rows_before().len());
        assert_eq!(server.tables(), ["t"], "left over after {self:?}");
    }
}

#[track_caller]
fn end_of(child: Child) -> Outcome {
    go_on(&child);
    Outcome::of("load, disturbed".to_owned(), finish(child, b""))
}

#[test]
fn a_load_that_waits_for_somebody_else_can_be_interrupted() {
    for_each_server(|server| {
        let case = CASES[0];
        case.prepare(server);
        // For a table that is altered; for the end of a transaction that has written the same key.
        let locks = ["LOCK TABLE t", "INSERT INTO t VALUES (5, 'mine')"];
        for (wait, name) in locks.into_iter().zip(["INT", "TERM"]) {
            server.sql(&format!("BEGIN; {wait}"));
            let child = case.start(server, &server.url());
            wait_until_it_waits(&child);
            signal(&child, name);
            end_of(child).exits(130).says(&["interrupted"]).ends_with_nothing_changed();
            server.sql("ROLLBACK");
            case.assert_untouched(server, wait);
        }
        // Whoever waits long enough gets his turn.
        server.sql("BEGIN; LOCK TABLE t");
        let child = case.start(server, &server.url());
        wait_until_it_waits(&child);
        server.sql("COMMIT");
        end_of(child).exits(0);
        assert_eq!(server.count("t"), case.rows + 2);
    });
}

/// A load that says nothing looks as if it hung.
#[test]
fn who_holds_what_a_load_waits_for_is_named() {
    for_each_server(|server| {
        let case = CASES[0];
        case.prepare(server);
        let holder = server.number("SELECT pg_backend_pid()");
        let held = format!("that process {holder} holds (");
        let end = "idle in transaction, in a transaction since 20";
        let advice = format!("SELECT pg_terminate_backend({holder}) ends it");
        for (lock, what) in [
            ("LOCK TABLE t", "waiting for a lock on t that"),
            ("INSERT INTO t VALUES (5, 'mine')", "waiting for a lock that"),
        ] {
            server.sql(&format!("BEGIN; {lock}"));
            let load = server.command(&case.args(&server.url()));
            says_while_it_waits(load, &[what, &held, end, &advice], || {
                server.sql("ROLLBACK");
            });
            server.sql("DELETE FROM t WHERE id > 0");
        }
    });
}

#[test]
fn a_connection_that_is_cut_after_some_bytes() {
    for_each_server(|server| {
        let mut random = Random(0x23);
        for case in CASES {
            // The same moments come in a short load, but for those in the middle.
            let case = Case { rows: size(2000, case.rows), ..case };
            case.prepare(server);
            let proxy = Proxy::start(&server.address, Trick::Nothing);
            server.inrush(&case.args(&server.url_at(&proxy.address))).exits(0);
            let all = proxy.sent();
            // In the handshake, among the first statements, among the rows, at the end: the last bytes are those that
            // commit, or that rename.
            let somewhere = (all as f64 * (0.2 + 0.7 * random.share())) as u64;
            let places = [somewhere, all - 30, 5, 900, 9000, all - 700, all - 150];
            for &place in &places[..size(3, 7)] {
                case.prepare(server);
                // Who can't ask the server whether it has committed does so for a minute.
                let trick = match place < all - 1000 {
                    true => Trick::CutForGoodAfter(place),
                    false => Trick::CutAfter(place),
                };
                let proxy = Proxy::start(&server.address, trick);
                let run = server.inrush(&case.args(&server.url_at(&proxy.address)));
                let what = format!("cut after {place} of {all} bytes: {run:?}");
                drop(proxy);
                server.wait_until_alone();
                if case.is_loaded(server) {
                    // Nobody says that it is not.
                    let says_so = run.stderr.contains("nothing changed");
                    assert!(run.status.success() || !says_so, "{what}");
                    continue;
                }
                case.assert_untouched(server, &what);
                let run = run.exits(1).says(&["connection"]);
                if place < all - 1000 {
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
    for_each_server(|server| {
        for case in some_cases() {
            // So many that the last of them is not sent by the time that the first are seen.
            let case = Case { rows: case.rows * 5, ..case };
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
    for_each_server(|server| {
        // So many rows that they are seen coming, and so much time that a busy machine answers within it.
        let cases = [CASES[0], CASES[2]].map(|case| Case { rows: 50_000, ..case });
        for &case in &cases[..size(1, 2)] {
            case.prepare(server);
            let proxy = Proxy::start(&server.address, Trick::Nothing);
            let url = format!("{}?read_timeout=3&connect_timeout=3", server.url_at(&proxy.address));
            let (child, _) = server.caught(|| case.begin(server, &url));
            proxy.freeze();
            end_of(child).exits(1).says(&["no answer within 3 s"]).ends_with_nothing_changed();
            drop(proxy);
            server.wait_until_alone();
            case.assert_untouched(server, "silent");
            case.assert_next_succeeds(server);
        }
    });
}

#[test]
fn connections_that_the_administrator_ends() {
    for_each_server(|server| {
        for case in some_cases() {
            // That of a lane; then all of them, and with them the load's first.
            for all in [false, true] {
                case.prepare(server);
                server.leaves_everything(|| {
                    let (child, id) = server.caught(|| case.begin(server, &server.url()));
                    let ids = if all { server.connections() } else { vec![id] };
                    ids.iter().for_each(|id| server.kill(id));
                    let run = end_of(child).exits(1).ends_with_nothing_changed();
                    run.says(&["the connection to", "was lost", "administrator command"]);
                    server.wait_until_alone();
                });
            }
            case.assert_next_succeeds(server);
        }
    });
}

#[test]
fn connections_that_end_at_any_moment() {
    for_each_server(|server| {
        let mut random = Random(0x29);
        for case in some_cases() {
            case.prepare(server);
            let before = Instant::now();
            case.start(server, &server.url()).wait().unwrap();
            let whole = before.elapsed();
            for _ in 0..size(2, 6) {
                case.prepare(server);
                let child = case.start(server, &server.url());
                let moment = whole.mul_f64(random.share());
                sleep(moment);
                for id in server.connections() {
                    server.kill(&id);
                }
                let run = end_of(child);
                server.wait_until_alone();
                if case.is_loaded(server) {
                    assert!(!run.stderr.contains("nothing changed"), "{case:?} {moment:?} {run:?}");
                    continue;
                }
                case.assert_untouched(server, &format!("{moment:?}"));
                run.exits(1).ends_with_nothing_changed();
            }
            case.prepare(server);
            case.assert_next_succeeds(server);
        }
    });
}

#[test]
fn statements_that_another_client_cancels() {
    for_each_server(|server| {
        for case in some_cases() {
            case.prepare(server);
            let url = server.url();
            let (child, _) = server.caught(|| case.begin(server, &url));
            go_on(&child);
            // Some come between two statements, some meet those that tidy up.
            for id in (0..10).flat_map(|_| server.connections()) {
                server.try_sql(&format!("SELECT pg_cancel_backend({id})"));
            }
            let run = end_of(child);
            server.wait_until_alone();
            if run.status.success() {
                continue;
            }
            run.exits(1).says(&["canceling statement"]).ends_with_nothing_changed();
            case.assert_untouched(server, "cancelled");
            case.assert_next_succeeds(server);
        }
    });
}

/// The statement that ends the load, not one of those that its lanes end with.
fn at_the_end(act: Act) -> Trick {
    Trick::At { after: "txid_current", words: "COMMIT", act }
}

#[test]
fn where_the_answer_to_commit_is_lost_the_server_is_asked_what_became_of_it() {
    for_each_server(|server| {
        for case in CASES {
            let case = Case { rows: 500, ..case };
            case.prepare(server);
            let proxy = Proxy::start(&server.address, at_the_end(Act::Swallow));
            let run = server.inrush(&case.args(&server.url_at(&proxy.address))).exits(0);
            run.says(&["asking the server for up to 60 s whether the rows are in"]);
            assert!(proxy.has_happened());
            assert!(case.is_loaded(server), "{case:?}");
            assert_eq!(server.tables(), ["t"]);

            case.prepare(server);
            let proxy = Proxy::start(&server.address, at_the_end(Act::Cut));
            let run = server.leaves_everything(|| {
                let run = server.inrush(&case.args(&server.url_at(&proxy.address)));
                server.wait_until_alone();
                run
            });
            assert!(proxy.has_happened());
            run.exits(1).says(&["was lost"]).ends_with_nothing_changed();
        }
    });
}

#[test]
fn who_is_stopped_while_the_commit_has_no_answer_says_what_is_true() {
    let case = |load, after, words| stops::Case { load, moment: Moment { after, words } };
    let cases = [
        case(Some(&["--if-exists", "append"][..]), "txid_current", "COMMIT"),
        case(Some(&[]), "txid_current", "COMMIT"),
        case(
            Some(&["--if-exists", "append", "--set", "rows_per_transaction=500"]),
            "INSERT INTO",
            "COMMIT",
        ),
        case(
            Some(&["--if-exists", "append", "--guarantee", "chunks", "--commit-rows", "500"]),
            "SET state = 'open'",
            "COMMIT",
        ),
        case(None, "'publishing", "COMMIT"),
    ];
    for_each_server(|server| {
        let at = |address: &str| server.url_at(address);
        stops::while_the_commit_has_no_answer(server, &server.address, at, &cases);
    });
}

#[test]
fn a_step_whose_commit_had_no_answer_is_there_once() {
    for_each_server(|server| {
        let rows: String = (1..=4_000)
            .map(|id| if id % 7 == 0 { format!("{id}x,bad\n") } else { format!("{id},n {id}\n") })
            .collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        for act in [Act::Swallow, Act::Cut] {
            server.drop_table("t").drop_table("inrush_steps");
            let trick = Trick::At { after: "SET state = 'open'", words: "COMMIT", act };
            let proxy = Proxy::start(&server.address, trick);
            let load = |url: &str, more: &[&str]| {
                let load = ["load", "t.csv", url, "--type", "id=integer", "--max-rejects", "all"];
                let steps = ["--guarantee", "chunks", "--commit-rows", "500", "--chunk-size", "4k"];
                server.inrush(&[&load[..], &steps, more].concat())
            };
            let run = load(&server.url_at(&proxy.address), &[]).exits(1).says(&["was lost"]);
            assert!(proxy.has_happened());
            let last = run.stderr.lines().last().unwrap();
            assert!(last.contains("resumable: at least 0 rows of whole steps"), "{run:?}");
            server.wait_until_alone();
            load(&server.url(), &["--resume"]).exits(3);
            assert_eq!(server.number("SELECT count(*) FROM t"), 4_000 - 571);
            assert_eq!(server.number("SELECT count(DISTINCT id) FROM t"), 4_000 - 571);
            let bad = String::from_utf8(server.read("t.rejects.csv")).unwrap();
            let wanted: String = (1..=571).map(|n| format!("{}x,bad\n", 7 * n)).collect();
            assert!(bad == format!("id,name\n{wanted}"), "other bad rows than the file has");
        }
    });
}

#[test]
#[ignore = "a minute of waiting: make test-all"]
fn where_nobody_can_be_asked_what_became_of_commit_the_message_says_so() {
    for_each_server(|server| {
        let case = CASES[0];
        case.prepare(server);
        let proxy = Proxy::start(&server.address, at_the_end(Act::SwallowForGood));
        let run = server.inrush(&case.args(&server.url_at(&proxy.address))).exits(1);
        assert!(case.is_loaded(server));
        assert!(!run.stderr.contains("nothing changed"), "{run:?}");
        run.says(&["was lost", "look at it before you go on"]);
    });
}

#[test]
fn hidden_tables_are_swept_when_their_loads_are_dead() {
    for_each_server(|server| {
        server.write("u.csv", "id\n1\n");
        let load =
            ["load", "-", &server.url(), "--table", "slow", "--lanes", "2", "--chunk-size", "8k"];
        let begin = || {
            let before = server.hidden().len();
            let mut child = start(&mut server.command(&load));
            // Enough to begin with.
            let mut input = child.stdin.take().unwrap();
            input.write_all(long_file().as_bytes()).unwrap();
            wait_until("a hidden table", || server.hidden().len() > before);
            (child, input)
        };
        let (mut killed, _input) = begin();
        let (child, mut input) = begin();
        assert_eq!(server.hidden().len(), 2);
        killed.kill().unwrap();
        killed.wait().unwrap();
        // The server notices when the connection says no more.
        wait_until("it is swept away", || {
            server.load(&["u.csv"]).exits(0);
            server.drop_table("u");
            server.hidden().len() < 2
        });
        server.load(&["u.csv"]).exits(0);
        assert_eq!(server.hidden().len(), 1, "another load's table was dropped");
        input.write_all(b"-1,\n").unwrap();
        drop(input);
        let run = child.wait_with_output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(server.count("slow"), ROWS + 1);
    });
}

/// A database whose connections begin with these settings, until the end of the test.
fn with_settings(server: &Server, settings: &[&str], work: impl FnOnce()) {
    let database = &server.database;
    for setting in settings {
        server.sql(&format!("ALTER DATABASE {database} SET {setting}"));
    }
    let _reset = OnDrop(|| server.try_sql(&format!("ALTER DATABASE {database} RESET ALL")));
    work();
}

#[test]
fn a_timeout_that_statements_run_into_is_named() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n");
        server.sql(
            "CREATE TABLE t (id int, name text);
             CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN new; END';
             CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION slow()",
        );
        with_settings(server, &["statement_timeout = 300"], || {
            let run = server.refuses(&["t.csv", "--if-exists", "append"]);
            run.says(&["statement timeout", "PGOPTIONS='-c statement_timeout=0'"]);
            // And that helps.
            let url = server.url();
            let mut command = server.command(&["load", "t.csv", &url, "--if-exists", "append"]);
            command.env("PGOPTIONS", "-c statement_timeout=0");
            let run = finish(start(&mut command), b"");
            Outcome::of("load with PGOPTIONS".to_owned(), run).exits(0);
        });
        // A load takes as long for a transaction as its source does.
        if server.version >= 17 {
            with_settings(server, &["transaction_timeout = 300"], || {
                let run = server.refuses(&["t.csv", "--if-exists", "append"]);
                run.says(&["transaction timeout", "PGOPTIONS='-c transaction_timeout=0'"]);
            });
        }
        with_settings(server, &["lock_timeout = 300"], || {
            server.sql("BEGIN; LOCK TABLE t");
            let run = server.load(&["t.csv", "--if-exists", "append"]);
            server.sql("COMMIT");
            run.exits(1).says(&["lock timeout", "try again"]).ends_with_nothing_changed();
        });
        assert_eq!(server.count("t"), 1);
    });
}

#[test]
fn a_source_may_be_slower_than_what_the_database_allows_idle_connections() {
    for_each_server(|server| {
        let settings = ["idle_in_transaction_session_timeout = 200", "idle_session_timeout = 200"];
        // The test's own connections are there before.
        server.try_sql("SELECT 1");
        with_settings(server, &settings, || {
            for (lanes, is_there) in [("1", true), ("1", false), ("2", false)] {
                server.drop_table("t");
                if is_there {
                    server.sql("CREATE TABLE t (id int, pad text)");
                }
                let url = server.url();
                let load = ["load", "-", &url, "--table", "t", "--lanes", lanes];
                let how = if is_there { "append" } else { "empty" };
                let load = [&load[..], &["--if-exists", how, "--chunk-size", "64k"]].concat();
                let mut child = start(&mut server.command(&load));
                let mut input = child.stdin.take().unwrap();
                let rows = long_file();
                let (header, _) = rows.split_at("id,pad\n".len());
                let _ = input.write_all(header.as_bytes());
                for _ in 0..size(2, 3) {
                    // Where it has ended, it says why.
                    let _ = input.write_all(&rows.as_bytes()[header.len()..]);
                    // Twice as long as a connection may be idle.
                    sleep(Duration::from_millis(400));
                }
                child.stdin = Some(input);
                let run = Outcome::of(load.join(" "), finish(child, b"-1,\n")).exits(0);
                assert_eq!(server.count("t"), size(2, 3) * ROWS + 1, "{run:?}");
            }
        });
    });
}

/// Rows of a file that is long enough for a load to begin before its source has ended: it looks at the first megabyte.
const ROWS: i64 = 8000;

/// The file, whose rows are wide so that they are few.
fn long_file() -> String {
    let pad = "x".repeat(250);
    let rows: String = (0..ROWS).map(|id| format!("{id},{pad}\n")).collect();
    format!("id,pad\n{rows}")
}

/// Starts a load of standard input, and gives it its first rows.
fn feed(server: &Server, args: &[&str]) -> Child {
    let url = server.url();
    let load = [&["load", "-", &url, "--table", "t", "--chunk-size", "64k"], args].concat();
    let mut child = start(&mut server.command(&load));
    child.stdin.as_mut().unwrap().write_all(long_file().as_bytes()).unwrap();
    child
}

#[test]
fn of_two_loads_into_one_new_table_one_succeeds() {
    for_each_server(|server| {
        for lanes in ["1", "2"] {
            let loads = [feed(server, &["--lanes", lanes]), feed(server, &["--lanes", lanes])];
            let ends = loads.map(|child| end_of(child));
            let (good, bad): (Vec<_>, Vec<_>) =
                ends.into_iter().partition(|run| run.status.success());
            assert_eq!((good.len(), bad.len()), (1, 1), "{good:?} {bad:?}");
            for run in bad {
                run.exits(1).says(&["another client has made table t"]).ends_with_nothing_changed();
            }
            assert_eq!(server.count("t"), ROWS);
            assert_eq!(server.tables(), ["t"]);
            server.drop_table("t");
        }
    });
}

#[test]
fn who_loses_a_table_to_another_client_is_not_told_to_add_to_it() {
    for_each_server(|server| {
        let loads = [0, 1].map(|_| feed(server, &["--if-exists", "replace"]));
        let bad: Vec<_> =
            loads.map(end_of).into_iter().filter(|run| !run.status.success()).collect();
        for run in bad {
            let run = run.exits(1).says(&["another client has made table t", "run the load again"]);
            assert!(!run.stderr.contains("append"), "{run:?}");
        }
    });
}

#[test]
fn two_loads_into_one_table_that_is_there_both_succeed() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, pad text)");
        let loads = [0, 1].map(|_| feed(server, &["--if-exists", "append"]));
        for child in loads {
            end_of(child).exits(0);
        }
        assert_eq!(server.count("t"), 2 * ROWS);
    });
}

#[test]
fn of_two_loads_that_want_an_empty_table_one_succeeds() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.sql(&format!("CREATE TABLE t (id int, pad text); CREATE ROLE {user} LOGIN"));
        server.sql(&format!("GRANT SELECT, INSERT ON t TO {user}"));
        // Who may only insert can't have others wait.
        for url in [server.url(), server.url_of(&user)] {
            server.sql("TRUNCATE t");
            let load = ["load", "-", &url, "--table", "t", "--chunk-size", "64k"];
            let file = long_file();
            let loads = [0, 1].map(|_| start(&mut server.command(&load)));
            let ends = std::thread::scope(|scope| {
                let feeds = loads.map(|child| scope.spawn(|| finish(child, file.as_bytes())));
                feeds.map(|feed| Outcome::of("one of two loads".to_owned(), feed.join().unwrap()))
            });
            let (good, bad): (Vec<_>, Vec<_>) =
                ends.into_iter().partition(|run| run.status.success());
            assert_eq!((good.len(), bad.len()), (1, 1), "{url} {good:?} {bad:?}");
            for run in bad {
                run.exits(1).ends_with_nothing_changed();
            }
            assert_eq!(server.count("t"), ROWS);
        }
    });
}

/// Who may write into the table need not have the right to make another one.
#[test]
fn a_load_in_steps_without_the_right_to_make_its_ledger_says_what_it_takes() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.write("t.csv", "id\n1\n").write("jobs.csv", "id\n1\n");
        server.sql(&format!(
            "CREATE SCHEMA s; CREATE TABLE s.t (id int); CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA s TO {user}; \
             GRANT SELECT, INSERT ON s.t TO {user}"
        ));
        let url = server.url_of(&user);
        let load = |more: &[&str]| {
            let args = [&["load", "t.csv", &url, "--table", "s.t", "--if-exists", "append"], more];
            end_of(start(&mut server.command(&args.concat())))
        };
        let steps = ["--guarantee", "chunks"];
        let words = ["inrush_steps", "CREATE", "or leave --guarantee chunks out"];
        load(&steps).exits(1).says(&words).ends_with_nothing_changed();
        load(&[]).exits(0);
        // One that another user has made.
        let owner = server.url();
        let made = ["load", "t.csv", &owner, "--table", "s.t", "--if-exists", "append"];
        let made = [&made[..], &steps].concat();
        end_of(start(&mut server.command(&made))).exits(0);
        load(&steps).exits(1).says(&words).ends_with_nothing_changed();
        server.sql(&format!("GRANT SELECT ON s.inrush_steps TO {user}"));
        server.write("t.csv", "id\n2\n3\n");
        load(&steps).exits(1).says(&words).ends_with_nothing_changed();
        server.sql(&format!("GRANT INSERT, UPDATE, DELETE ON s.inrush_steps TO {user}"));
        load(&steps).exits(0);
        // Nor does the table of jobs take a user's rows.
        let jobs = ["load", "jobs.csv", &owner, "--table", "s.inrush_jobs"];
        end_of(start(&mut server.command(&jobs))).exits(2).says(&["jobs are kept", "--table"]);
    });
}

#[test]
fn a_table_that_was_empty_and_is_no_more_is_refused() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server
            .write("t.csv", "id\n1\n")
            .sql(&format!("CREATE TABLE t (id int, pad text); CREATE ROLE {user} LOGIN"));
        server.sql(&format!("GRANT SELECT, INSERT ON t TO {user}"));
        // The load waits for whoever has written before it, and sees the row.
        server.sql("BEGIN; INSERT INTO t VALUES (-5)");
        let url = server.url();
        let child = start(&mut server.command(&["load", "t.csv", &url]));
        let waiting =
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 't'::regclass";
        wait_until("the load waits for the table", || server.number(waiting) > 0);
        server.sql("COMMIT");
        let words = ["table t was empty, and another client has written into it", "append"];
        end_of(child).exits(1).says(&words).ends_with_nothing_changed();
        // It can't have others wait, and looks at the end.
        let url = server.url_of(&user);
        server.sql("TRUNCATE t");
        let mut child =
            start(&mut server.command(&["load", "-", &url, "--table", "t", "--chunk-size", "64k"]));
        child.stdin.as_mut().unwrap().write_all(long_file().as_bytes()).unwrap();
        server.wait_for_rows();
        server.sql("INSERT INTO t VALUES (-5)");
        end_of(child).exits(1).says(&words).ends_with_nothing_changed();
        assert_eq!(server.query("SELECT id FROM t"), rows![[-5]]);
    });
}

#[test]
fn a_table_that_is_changed_during_the_load() {
    for_each_server(|server| {
        // Between its plan and its first row the load waits for whoever changes the table.
        server.write("t.csv", "id,name\n1,a\n2,b\n").sql("CREATE TABLE t (id int, name text)");
        for change in
            ["ALTER TABLE t DROP COLUMN name", "ALTER TABLE t ALTER id TYPE text", "DROP TABLE t"]
        {
            server.sql("DROP TABLE t; CREATE TABLE t (id int, name text); BEGIN; LOCK TABLE t");
            let url = server.url();
            let mut command = server.command(&["load", "t.csv", &url, "--if-exists", "append"]);
            let child = start(&mut command);
            wait_until_it_waits(&child);
            server.sql(&format!("{change}; COMMIT"));
            let before = server.state();
            let run = end_of(child);
            if run.status.success() {
                // It has looked at the table only now.
                assert_ne!(change, "DROP TABLE t");
                assert_eq!(server.count("t"), 2, "{run:?}");
            } else {
                run.exits(1).ends_with_nothing_changed();
                assert_eq!(before, server.state(), "{change}");
            }
            server.sql("CREATE TABLE IF NOT EXISTS t ()");
        }
    });
}

#[test]
fn a_table_that_goes_away_during_the_load() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, pad text)");
        // The load has the table, so that who drops it has to wait.
        let mut child = feed(server, &["--if-exists", "append"]);
        server.wait_for_rows();
        server.try_sql("SET lock_timeout = 300; DROP TABLE t; SET lock_timeout = 0");
        let input = child.stdin.as_mut().unwrap();
        input.write_all(b"-1,\n").unwrap();
        end_of(child).exits(0);
        assert_eq!(server.count("t"), ROWS + 1);
    });
}

#[test]
fn rows_that_somebody_else_writes_during_a_load_are_not_taken_for_its_own() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, pad text)");
        let child = feed(server, &["--if-exists", "append", "--verify", "checksum"]);
        server.wait_for_rows();
        server.sql("INSERT INTO t VALUES (-5)");
        end_of(child).exits(0);
        assert_eq!(server.query("SELECT count(*), min(id) FROM t"), rows![[ROWS + 1, -5]]);
    });
}

#[test]
fn steps_of_a_program_outlive_their_connections() {
    for_each_server(|server| {
        steps::outlive_connections(server, |server, id| server.kill(id));
    });
}

/// Neither knows of the ledger when it begins, and the second waits for the first to have made it.
#[test]
fn first_loads_in_steps_at_once_make_one_ledger() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let load = ["load", "t.csv", "--table"];
        let to = [server.url(), "--guarantee".to_owned(), "chunks".to_owned()];
        let begin = |table: &str, more: &[&str]| {
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            start(&mut server.command(&[&load[..], &[table], &to, more].concat()))
        };
        let end = |child| Outcome::of("load".to_owned(), finish(child, b""));
        end(begin("first", &[])).exits(0);
        server.sql("ALTER TABLE inrush_steps RENAME TO made; CREATE TABLE kept (id int)");
        for (table, more) in [("second", &[][..]), ("kept", &["--if-exists", "append"])] {
            server.sql("BEGIN; CREATE TABLE inrush_steps (LIKE made INCLUDING ALL)");
            let child = begin(table, more);
            wait_until_it_waits(&child);
            server.sql("COMMIT");
            end(child).exits(0);
            assert_eq!(server.count(table), 1);
            assert_eq!(server.count("inrush_steps"), 1);
            server.sql("DROP TABLE inrush_steps");
        }
    });
}

#[test]
fn who_goes_on_second_hears_of_the_first() {
    for_each_server(|server| {
        let rows: String = (1..=2_000).map(|id| format!("{id}\n")).collect();
        server.write("t.csv", format!("id\n{rows}x\n"));
        let url = server.url();
        let load = ["load", "t.csv", &url, "--type", "id=integer", "--chunk-size", "4k"];
        let steps = ["--guarantee", "chunks", "--commit-rows", "500"];
        server.inrush(&[&load[..], &steps].concat()).exits(1).says(&["resumable"]);
        server.sql("BEGIN; UPDATE inrush_steps SET steps = steps + 1");
        let child = start(&mut server.command(&[&load[..], &["--resume"]].concat()));
        wait_until_it_waits(&child);
        server.sql("COMMIT");
        let run = Outcome::of("load".to_owned(), finish(child, b"")).exits(1);
        run.says(&["another process goes on with the same load", "--resume"]);
    });
}

/// What the error says to do does what it says.
#[test]
fn a_load_in_another_schema_is_forgotten_by_the_statement_that_the_error_says() {
    for_each_server(|server| {
        let rows: String = (1..=2_000).map(|id| format!("{id}\n")).collect();
        server.write("t.csv", format!("id\n{rows}x\n")).sql("CREATE SCHEMA other");
        let load = ["t.csv", "--table", "other.t", "--type", "id=integer", "--chunk-size", "4k"];
        let steps = ["--guarantee", "chunks", "--commit-rows", "500"];
        server.load(&[&load[..], &steps].concat()).exits(1).says(&["resumable"]);
        let append = [&load[..], &["--if-exists", "append", "--max-rejects", "1"]].concat();
        let run = server.load(&append).exits(1).says(&["is unfinished"]);
        let (_, said) = run.stderr.split_once("DELETE FROM ").expect("a statement");
        let (statement, _) = said.split_once(" forgets").expect("what it does");
        server.sql(&format!("DELETE FROM {statement}")).load(&append).exits(3);
    });
}

/// A load that is no more is known by all of the name that its table has.
#[test]
fn tables_that_are_called_nearly_as_hidden_ones_stay() {
    for_each_server(Server::keeps_tables_of_nearly_hidden_names);
}

#[test]
fn a_load_that_another_connection_cancels_says_so() {
    for_each_server(|server| {
        let case = CASES[0];
        case.prepare(server);
        server.sql("BEGIN; LOCK TABLE t");
        let child = case.start(server, &server.url());
        let waits = "wait_event_type = 'Lock'";
        wait_until("the load waits for the lock", || {
            // Within a transaction the server would show again what it has shown before.
            server.sql("SELECT pg_stat_clear_snapshot()");
            !server.activity(waits).is_empty()
        });
        server.sql(&format!(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE {waits} AND datname = current_database()"
        ));
        let run = end_of(child).exits(1).ends_with_nothing_changed();
        run.says(&["pg_cancel_backend", "run the load again"]);
        server.sql("ROLLBACK");
    });
}
