use crate::fixture::some;

use super::server::{Server, alone_on_each_server, for_each_server, for_some_servers, rows};

const ENGINES: [&str; 7] = ["innodb", "myisam", "aria", "memory", "csv", "archive", "rocksdb"];

/// What only queues rows of some engines, or makes only some.
fn takes(strategy: &str, engine: &str) -> bool {
    match strategy {
        "mysql/insert-delayed" => matches!(engine, "myisam" | "memory" | "archive"),
        "mysql/csv-file" => engine == "csv",
        "mysql/convert" => engine == "innodb",
        _ => true,
    }
}

fn engine_of(server: &Server, table: &str) -> String {
    let sql = format!(
        "SELECT LOWER(ENGINE) AS e FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"
    );
    server.query(&sql)[0][0].clone().unwrap()
}

/// Options for one strategy and engine; `convert` has no choice.
fn options<'a>(strategy: &'a str, set: &'a str) -> Vec<&'a str> {
    let mut options = vec!["--strategy", strategy, "--durability", "none", "--chunk-size", "1k"];
    if strategy != "mysql/convert" {
        options.extend(["--set", set]);
    }
    options
}

#[test]
fn every_strategy_fills_tables_of_every_engine() {
    for_some_servers(|server| {
        let rows: String =
            (1..=300).map(|id| format!("{id},2013-01-{:02},name {id}\n", 1 + id % 28)).collect();
        server
            .write("t.csv", format!("id,day,name\n{rows}"))
            .write("bad.csv", format!("id,day,name\n{rows}x\n"));
        // MEMORY and the keys of some engines take no text of any length.
        let made = "(id INT NOT NULL, day DATE NOT NULL, name VARCHAR(20) NOT NULL)";
        let mut cases = Vec::new();
        for engine in ENGINES {
            let set = format!("engine={engine}");
            if !server.has_engine(engine) {
                let run = server.misused(&["t.csv", "--set", &set, "--durability", "none"]);
                run.says(&["no engine", engine]);
                continue;
            }
            let strategies = server.strategies().into_iter();
            cases.extend(strategies.filter(|one| takes(one, engine)).map(|one| (engine, one)));
        }
        for (engine, strategy) in some(cases) {
            let what = format!("{strategy} {engine} on {}", server.name);
            let set = format!("engine={engine}");
            let load = [&["t.csv", "--verify", "checksum"], &options(&strategy, &set)[..]].concat();
            if engine == "memory" {
                // It has no place for text of any length.
                server.sql(&format!("CREATE TABLE t {made} ENGINE=memory"));
            }
            server.load(&load).exits(0);
            let sums = "SELECT COUNT(*), SUM(id), MIN(name), MAX(day) FROM t";
            assert_eq!(server.query(sums), rows![[300, 45150, "name 1", "2013-01-28"]], "{what}");
            assert_eq!(engine_of(server, "t"), engine, "{what}");
            server.drop_table("t");
            // A table that is recreated goes away with its load, whatever the engine.
            let load = [&["bad.csv"], &options(&strategy, &set)[..]].concat();
            if engine != "memory" {
                server.refuses(&load).says(&["bad.csv: line 302"]);
            }
        }
    });
}

#[test]
fn what_an_engine_can_not_take_back_is_told_before_and_after() {
    for_some_servers(|server| {
        let rows: String = (1..=300).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}7,again\n301,last\n"));
        for engine in ["myisam", "aria", "memory"] {
            if !server.has_engine(engine) {
                continue;
            }
            for strategy in some(vec!["load-data", "values", "prepared"]) {
                server.drop_table("t").sql(&format!(
                    "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE={engine};; INSERT INTO t VALUES (0, 'old')"
                ));
                let options =
                    ["--strategy", strategy, "--durability", "none", "--chunk-size", "1k"];
                let load = [&["t.csv", "--if-exists", "append"], &options[..]].concat();
                let plan = server.plan(&[&load[..], &["--json"]].concat()).exits(0).json();
                assert_eq!(plan["atomic"], false, "{engine} {strategy}");
                server.plan(&load).exits(0).prints(&["stays, also rows behind the bad one"]);
                let run = server.load(&load).exits(1).says(&["t.csv: line 302"]);
                let last = run.stderr.lines().last().unwrap();
                let stayed = server.count("t") - 1;
                assert!(
                    stayed == 0 || last.contains(&format!("{stayed} rows")),
                    "{stayed}: {last}"
                );
                assert_eq!(stayed == 0, last.contains("nothing changed"), "{stayed}: {last}");
                // With a limit exactly the bad row stays out.
                server.sql("DELETE FROM t WHERE id > 0");
                server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
                assert_eq!(server.count("t"), 302, "{engine} {strategy}");
                assert_eq!(
                    server.read("t.rejects.csv"),
                    b"id,name\n7,again\n",
                    "{engine} {strategy}"
                );
            }
        }
    });
}

#[test]
fn durability_is_what_the_engine_can_promise() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        let run = server.misused(&["t.csv", "--set", "engine=myisam"]);
        run.says(&[
            "with a table of the engine myisam",
            "'process' at best",
            "'durable' is asked for",
            "--durability process",
        ]);
        let report = server.report(&["t.csv", "--set", "engine=myisam", "--durability", "process"]);
        assert_eq!(report["durability_read_back"]["engine"], "myisam");
        server.drop_table("t");
        let report = server.report(&["t.csv"]);
        assert_eq!(report["plan"]["durability"], "durable");
        assert_eq!(report["durability_read_back"]["innodb_flush_log_at_trx_commit"], "1");
    });
}

/// Where the server's settings promise less than is asked for, no table of another engine is made in the place of one of InnoDB.
#[test]
fn no_engine_is_taken_because_another_promises_less() {
    alone_on_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n2,\n");
        for (value, best) in [("2", "process"), ("0", "none")] {
            server.with_global("innodb_flush_log_at_trx_commit", value, || {
                for durability in ["durable", "process"] {
                    let load = ["t.csv", "--durability", durability];
                    if durability == best {
                        server.load(&load).exits(0);
                        assert_eq!(engine_of(server, "t"), "innodb");
                        server.drop_table("t");
                        continue;
                    }
                    let set = format!("innodb_flush_log_at_trx_commit={value}");
                    let at_best = format!("'{best}' at best");
                    server.misused(&load).says(&[&set, &at_best, "--durability"]);
                    assert_eq!(server.tables(), Vec::<String>::new());
                }
            });
        }
        // What is asked for by name promises what its engine does.
        for way in ["--set engine=csv", "--strategy csv-file", "--strategy insert-delayed"] {
            let load: Vec<&str> = ["t.csv"].into_iter().chain(way.split(' ')).collect();
            server.misused(&load).says(&["'process' at best", "--durability process"]);
        }
    });
}

#[test]
fn a_table_that_keeps_no_rows_takes_them_uncounted() {
    for_some_servers(|server| {
        if !server.has_engine("blackhole") {
            return;
        }
        server.write("t.csv", "id\n1\n");
        let load = ["t.csv", "--set", "engine=blackhole", "--durability", "none"];
        server.misused(&load).says(&["keeps no rows", "--verify none"]);
        server.load(&[&load[..], &["--verify", "none"]].concat()).exits(0);
        assert_eq!(server.count("t"), 0);
    });
}

#[test]
fn the_same_rows_in_statements_and_transactions_of_any_size() {
    for_some_servers(|server| {
        let rows: String = (0..200).map(|n| format!("{n},name {n}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        for settings in some(vec![
            &["--strategy", "load-data", "--set", "rows_per_statement=7"][..],
            &["--strategy", "load-data-server", "--set", "rows_per_statement=1"],
            &[
                "--strategy",
                "values",
                "--set",
                "rows_per_statement=1",
                "--set",
                "rows_per_transaction=1",
            ],
            &[
                "--strategy",
                "values",
                "--set",
                "rows_per_statement=7",
                "--set",
                "rows_per_transaction=10",
            ],
            &[
                "--strategy",
                "values",
                "--set",
                "rows_per_statement=0",
                "--lanes",
                "2",
                "--chunk-size",
                "1k",
            ],
            &["--strategy", "prepared", "--set", "rows_per_transaction=1"],
            &[
                "--strategy",
                "row-sql",
                "--set",
                "rows_per_transaction=30",
                "--lanes",
                "2",
                "--chunk-size",
                "1k",
            ],
            &["--set", "unique_checks=off", "--set", "foreign_key_checks=off"],
        ]) {
            server.load(&[&["t.csv", "--verify", "checksum"], settings].concat()).exits(0);
            let sums = server.query("SELECT COUNT(*), SUM(id), MAX(name) FROM t");
            assert_eq!(sums, rows![[200, 19900, "name 99"]], "{settings:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn rows_committed_on_the_way_stay_and_the_plan_says_so_before() {
    for_some_servers(|server| {
        let rows: String = (1..100).map(|n| format!("{n},name {n}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}bad,b\n"));
        for strategy in ["values", "prepared", "row-sql"] {
            server
                .drop_table("t")
                .sql("CREATE TABLE t (id INT, name VARCHAR(20));; INSERT INTO t VALUES (0, 'old')");
            let options = ["--if-exists", "append", "--set", "rows_per_transaction=40"];
            let load = [&["t.csv", "--strategy", strategy], &options[..]].concat();
            let plan = server.plan(&[&load[..], &["--json"]].concat()).exits(0).json();
            assert_eq!(plan["atomic"], false);
            let run = server.load(&load).exits(1).says(&["t.csv: line 101, column id"]);
            let last = run.stderr.lines().last().unwrap();
            let stayed = server.count("t") - 1;
            assert!(stayed > 0, "{strategy}: {last}");
            assert!(last.contains(&format!("{stayed} rows")) && last.contains("stay"), "{last}");
        }
    });
}

#[test]
fn rows_in_a_queue_are_counted_in_the_end() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n2\n");
        let queue = ["--strategy", "insert-delayed", "--durability", "none", "--primary-key", "id"];
        let load = [&["t.csv"], &queue[..]].concat();
        server.refuses(&load);
        server.misused(&[&load[..], &["--verify", "none"]].concat()).says(&["queued row"]);
    });
}

/// Its rows are those of a table that has an engine; which one, only the definition of the view says.
#[test]
fn a_view_promises_what_the_table_behind_it_does() {
    for_some_servers(|server| {
        server.write("v.csv", "id\n1\n2\n3\n2\n5\n");
        for (engine, is_atomic) in [("MyISAM", false), ("InnoDB", true)] {
            for strategy in some(vec!["load-data", "values", "prepared"]) {
                let what = format!("{engine} {strategy} on {}", server.name);
                server.sql(&format!(
                    "DROP VIEW IF EXISTS v;; DROP TABLE IF EXISTS t;; CREATE TABLE t (id INT PRIMARY KEY) ENGINE={engine};; \
                     CREATE VIEW v AS SELECT id FROM t WHERE id < 100;; INSERT INTO t VALUES (0)"
                ));
                let durability = if is_atomic { "durable" } else { "process" };
                let options = ["--if-exists", "append", "--durability", durability];
                let load = [&["v.csv", "--strategy", strategy], &options[..]].concat();
                let plan = server.plan(&[&load[..], &["--json"]].concat()).exits(0).json();
                assert_eq!(plan["atomic"], is_atomic, "{what}");
                let run = server.load(&load).exits(1).says(&["v.csv: line 5"]);
                let stayed = server.count("t") - 1;
                assert_eq!(stayed == 0, run.stderr.contains("nothing changed"), "{what}: {run:?}");
                assert!(stayed == 0 || !is_atomic, "{what}");
                server.sql("DELETE FROM t WHERE id > 0");
                server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
                assert_eq!(server.count("t"), 5, "{what}");
                assert_eq!(server.read("v.rejects.csv"), b"id\n2\n", "{what}");
                let steps = [&load[..], &["--guarantee", "chunks"]].concat();
                if !is_atomic {
                    server.misused(&steps).says(&["engine myisam", "it takes InnoDB"]);
                }
            }
        }
    });
}

#[test]
fn a_view_of_which_it_is_not_known_what_keeps_its_rows_promises_nothing() {
    for_some_servers(|server| {
        server.write("w.csv", "id\n1\nbad\n3\n").sql(
            "CREATE TABLE t (id INT) ENGINE=InnoDB;; CREATE TABLE u (k INT);; INSERT INTO u VALUES (100);; \
             CREATE VIEW v AS SELECT id FROM t;; CREATE VIEW x AS SELECT id FROM v;; \
             CREATE VIEW w AS SELECT id FROM t WHERE id < (SELECT MAX(k) FROM u)",
        );
        let plan = server.plan(&["w.csv", "--table", "x", "--if-exists", "append", "--json"]);
        assert_eq!(plan.exits(0).json()["atomic"], true, "a view of a view");
        let load = ["w.csv", "--if-exists", "append", "--type", "id=integer"];
        server.misused(&load).says(&["a view of which it can't be told", "--durability process"]);
        let load = [&load[..], &["--durability", "process"]].concat();
        let plan = server.plan(&[&load[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(plan["atomic"], false);
        server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]]);
    });
}

/// A second table made like a MERGE table has the same rows.
#[test]
fn a_table_whose_rows_are_in_others_is_not_filled_under_a_hidden_name() {
    for_each_server(|server| {
        if !server.has_engine("mrg_myisam") {
            return;
        }
        server.write("m.csv", "id\n1\n2\n").sql(
            "CREATE TABLE part (id INT) ENGINE=MyISAM;; CREATE TABLE m (id INT) ENGINE=MERGE UNION=(part) INSERT_METHOD=LAST",
        );
        let load = ["m.csv", "--durability", "process"];
        let plan = server.plan(&[&load[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(plan["atomic"], false);
        server.load(&load).exits(0);
        assert_eq!(server.query("SELECT id FROM part ORDER BY id"), rows![[1], [2]]);
        assert_eq!(server.count("m"), 2);
    });
}

#[test]
fn a_view_that_may_hide_rows_is_named_where_some_are_missing() {
    for_some_servers(|server| {
        server.write("v.csv", "id\n1\n9\n");
        server.sql("CREATE TABLE t (id INT) ENGINE=InnoDB;; CREATE VIEW v AS SELECT id FROM t WHERE id > 5");
        server
            .refuses(&["v.csv", "--if-exists", "append"])
            .says(&["the view may show only some of them"]);
    });
}

#[test]
fn who_follows_the_binary_log_by_names_is_told_of_the_hidden_one() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").sql("CREATE TABLE t (id INT)");
        let said = "sees none of t";
        let is_logged = server.query("SELECT @@log_bin")[0][0].as_deref() == Some("1");
        assert_eq!(server.plan(&["t.csv"]).exits(0).stdout.contains(said), is_logged);
        server.sql("INSERT INTO t VALUES (0)");
        let append = server.plan(&["t.csv", "--if-exists", "append"]).exits(0);
        assert!(!append.stdout.contains(said), "{append:?}");
    });
}
