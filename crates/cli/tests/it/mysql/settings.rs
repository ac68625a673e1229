use crate::fixture::some;

use super::login::{SECRET, User};
use super::server::{alone_on_each_server, alone_on_some_servers, rows};

#[test]
fn without_local_infile_another_strategy_is_taken_and_told() {
    alone_on_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n");
        let reason = "local_infile off";
        server.with_global("local_infile", "0", || {
            let plan = server.plan(&["t.csv"]).exits(0);
            if !server.has_bulk() {
                plan.prints(&[reason]);
            }
            let report = server.report(&["t.csv"]);
            let taken = report["plan"]["strategy"].as_str().unwrap();
            assert!(
                taken != "mysql/load-data" && server.strategies().contains(&taken.to_owned()),
                "{taken}"
            );
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "a"], [2, "b"]]);
            server.drop_table("t");
            for strategy in ["load-data", "convert"] {
                server.misused(&["t.csv", "--strategy", strategy]).says(&[reason]);
            }
        });
        let best = if server.has_bulk() { "mysql/bulk" } else { "mysql/load-data" };
        assert_eq!(server.report(&["t.csv"])["plan"]["strategy"], best);
        if !server.has_bulk() {
            server.drop_table("t");
            server.misused(&["t.csv", "--strategy", "bulk"]).says(&["MariaDB"]);
        }
    });
}

#[test]
fn a_small_packet_makes_small_statements_and_rows_that_are_too_long_bad_ones() {
    alone_on_each_server(|server| {
        let row =
            |id: usize| format!("{id},{}\n", "x".repeat(if id == 40 { 70_000 } else { 3000 }));
        let text: String = (1..=60).map(row).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        server.with_global("max_allowed_packet", "16384", || {
            let bulk = server.has_bulk().then_some("bulk");
            let others = ["values", "prepared", "row-sql", "load-data", "load-data-server"];
            for strategy in others.into_iter().chain(bulk) {
                let load =
                    ["t.csv", "--strategy", strategy, "--max-rejects", "1", "--verify", "checksum"];
                let run = server.load(&load);
                let loaded = server.number("SELECT SUM(id) FROM t");
                if run.status.code() == Some(0) {
                    // LOAD DATA has rows of any length.
                    assert!(strategy.starts_with("load-data"), "{strategy}");
                    assert_eq!(loaded, 60 * 61 / 2, "{strategy}");
                } else {
                    run.exits(3);
                    assert_eq!(loaded, 60 * 61 / 2 - 40, "{strategy}");
                    assert!(
                        server.read("t.rejects.csv").starts_with(b"id,name\n40,xxx"),
                        "{strategy}"
                    );
                }
                server.drop_table("t");
            }
        });
    });
}

#[test]
fn a_server_that_is_read_only() {
    alone_on_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        server.with_global("read_only", "1", || {
            let run = server.leaves_everything(|| server.load(&["t.csv"]));
            assert_ne!(run.status.code(), Some(0));
            run.says(&["read-only", "SET GLOBAL read_only = OFF"]).ends_with_nothing_changed();
        });
        // MariaDB's name, and that of MySQL from 5.7 on.
        let known = server.query(
            "SHOW VARIABLES WHERE Variable_name IN ('tx_read_only', 'transaction_read_only')",
        );
        for name in known.into_iter().filter_map(|row| row.into_iter().next().flatten()) {
            server.with_global(&name, "1", || {
                let words = ["transactions only read here", "= OFF lets them write"];
                server.leaves_everything(|| server.load(&["t.csv"]).exits(2)).says(&words);
            });
        }
    });
}

#[test]
fn a_server_that_answers_with_one_row() {
    alone_on_some_servers(|server| {
        server.write("t.csv", "c,b,a\n1,2,3\n4,5,6\n");
        server.sql("CREATE TABLE t (a INT, b INT, c INT, UNIQUE (a), UNIQUE (b)) ENGINE=InnoDB");
        server.with_global("sql_select_limit", "1", || {
            server.load(&["t.csv", "--verify", "checksum"]).exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY a"), rows![[3, 2, 1], [6, 5, 4]]);
            server.drop_table("t").load(&["t.csv", "--verify", "checksum"]).exits(0);
        });
    });
}

#[test]
fn a_server_that_looks_at_few_rows() {
    alone_on_some_servers(|server| {
        server
            .write("t.csv", "id\n1\n2\n3\n")
            .sql("CREATE TABLE t (id INT) ENGINE=InnoDB;; INSERT INTO t VALUES (-1), (-2)");
        server.with_global("max_join_size", "1", || {
            server.load(&["t.csv", "--if-exists", "append", "--verify", "checksum"]).exits(0);
            server.drop_table("t").load(&["t.csv", "--verify", "checksum"]).exits(0);
        });
    });
}

/// The server shows a default as clocks of the session show it, and no two of a load's have another zone.
#[test]
fn a_default_is_the_same_in_every_session_of_a_load() {
    alone_on_some_servers(|server| {
        server.write("t.csv", "at\n2024-01-01T00:00:00Z\n");
        server.sql(
            "CREATE TABLE t (at TIMESTAMP NOT NULL DEFAULT '2000-01-01 12:00:00') ENGINE=InnoDB",
        );
        server.with_global("time_zone", "'+05:00'", || {
            server.load(&["t.csv", "--verify", "checksum"]).exits(0);
            server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
            let seconds = server.query("SELECT UNIX_TIMESTAMP(at) FROM t");
            assert_eq!(seconds, rows![[1_704_067_200]]);
        });
    });
}

#[test]
fn a_table_that_is_full() {
    alone_on_some_servers(|server| {
        let text: String = (1..=2000).map(|id| format!("{id},name\n")).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        server.sql("SET SESSION max_heap_table_size = 16384;; CREATE TABLE t (id INT, name CHAR(200)) ENGINE=MEMORY");
        server.with_global("max_heap_table_size", "16384", || {
            for strategy in ["load-data", "values", "prepared"] {
                let load = ["t.csv", "--strategy", strategy, "--durability", "none"];
                server.refuses(&load).says(&["is full", "make room"]);
            }
        });
    });
}

#[test]
fn zero_dates_are_taken_where_the_server_takes_them() {
    alone_on_some_servers(|server| {
        server.write("t.csv", "id,day,moment\n1,0000-00-00,\n2,2013-00-00,\n3,,0000-00-00 00:00:00\n4,2013-01-01,\n5,2013-02-30,\n");
        let columns = "CREATE TABLE t (id INT PRIMARY KEY, day DATE, moment DATETIME)";
        for (mode, good) in [
            ("''", &[1, 2, 3, 4][..]),
            ("'STRICT_ALL_TABLES,NO_ZERO_DATE'", &[2, 4]),
            ("'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'", &[4]),
            ("'ALLOW_INVALID_DATES'", &[1, 2, 3, 4, 5]),
        ] {
            server.with_global("sql_mode", mode, || {
                for strategy in
                    some(vec!["load-data", "load-data-server", "values", "prepared", "row-sql"])
                {
                    server.drop_table("t").sql(columns);
                    let run = server.load(&[
                        "t.csv",
                        "--strategy",
                        strategy,
                        "--max-rejects",
                        "5",
                        "--verify",
                        "checksum",
                    ]);
                    run.exits(if good.len() == 5 { 0 } else { 3 });
                    let found = server.query("SELECT id FROM t ORDER BY id");
                    let found: Vec<i64> =
                        found.iter().map(|row| row[0].as_ref().unwrap().parse().unwrap()).collect();
                    assert_eq!(found, good, "{strategy} {mode} on {}", server.name);
                }
            });
        }
    });
}

#[test]
fn a_binary_log_gets_every_row_however_it_tells_which_transactions_depend_on_each_other() {
    alone_on_each_server(|server| {
        let rows: String = (1..=5000).map(|id| format!("{id},name {id}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        let extraction = "transaction_write_set_extraction";
        let known = server.query(&format!("SHOW GLOBAL VARIABLES LIKE '{extraction}'"));
        let hashes = rows![[extraction, "XXHASH64"]];
        let load = || {
            let load = ["t.csv", "--primary-key", "id", "--chunk-size", "8k", "--lanes", "2"];
            server.load(&[&load[..], &["--verify", "checksum"]].concat()).exits(0);
            assert_eq!(server.count("t"), 5000);
            server.drop_table("t");
        };
        load();
        // Where nothing is hashed, nothing is left out.
        if known != hashes {
            return;
        }
        // Here the hashes are needed, and stay.
        server.with_global("binlog_transaction_dependency_tracking", "'WRITESET'", load);
        assert_eq!(server.query(&format!("SHOW GLOBAL VARIABLES LIKE '{extraction}'")), hashes);
    });
}

/// Of a character that the column's set lacks LOAD DATA only warns.
#[test]
fn a_server_that_keeps_no_warnings_changes_no_characters() {
    alone_on_each_server(|server| {
        server.write("t.csv", "id,v\n1,a\n2,\u{20ac}uro\n3,ok\n");
        server.sql(
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20) CHARACTER SET cp850) ENGINE=InnoDB",
        );
        let user = User::new(server, "ALL");
        server.with_global("max_error_count", "0", || {
            // MySQL 8.0 lets not everybody set it.
            let load = ["t.csv", "--max-rejects", "1", "--strategy", "load-data"];
            server.load_at(&user.url_with(SECRET), &load).exits(3);
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]]);
            for way in some(server.ways_into_used()) {
                for more in [&["truncate"][..], &["append", "--on-conflict", "update"]] {
                    let load = [&["t.csv", "--max-rejects", "1", "--if-exists"], more].concat();
                    server.load(&[&load[..], &way.options()].concat()).exits(3);
                    let found = server.query("SELECT * FROM t ORDER BY id");
                    assert_eq!(found, rows![[1, "a"], [3, "ok"]], "{way:?} on {}", server.name);
                    assert_eq!(server.read("t.rejects.csv"), "id,v\n2,\u{20ac}uro\n".as_bytes());
                }
            }
        });
    });
}

#[test]
fn a_server_that_makes_no_table_without_a_primary_key() {
    alone_on_each_server(|server| {
        let name = match server.is_mariadb {
            true => "innodb_force_primary_key",
            false => "sql_require_primary_key",
        };
        // MySQL's came with 8.0.13.
        if server.query(&format!("SHOW GLOBAL VARIABLES LIKE '{name}'")).is_empty() {
            return;
        }
        server.write("t.csv", "id,inrush_number\n1,a\n2,b\n").write("u.csv", "a\n7\n");
        server.sql("CREATE TABLE u (a INT) ENGINE=InnoDB");
        server.with_global(name, "1", || {
            // Nor a hidden one like a table that has none.
            for if_exists in ["empty", "append", "truncate"] {
                server.load(&["u.csv", "--table", "u", "--if-exists", if_exists]).exits(0);
            }
            assert_eq!(server.query("SELECT * FROM u"), rows![[7]]);
            server.refuses(&["t.csv"]).says(&["--primary-key COLUMN"]);
            server.load(&["t.csv", "--primary-key", "id"]).exits(0);
            for way in some(server.ways_into_used()) {
                for answer in ["update", "skip", "replace"] {
                    let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
                    server.load(&[&load[..], &way.options()].concat()).exits(0);
                }
            }
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "a"], [2, "b"]]);
        });
    });
}

/// Only the columns that the load fills are known to be moments.
#[test]
fn what_the_server_s_clock_fills_in_is_told_where_the_load_s_shows_utc() {
    alone_on_each_server(|server| {
        if !server.is_from((5, 6, 5)) {
            // Its DATETIME has no such default.
            return;
        }
        server
            .write("t.csv", "at\n2024-01-01T00:00:00Z\n")
            .write("u.csv", "at\n2024-01-01 00:00:00\n");
        server.sql("CREATE TABLE t (at TIMESTAMP NULL, made DATETIME DEFAULT CURRENT_TIMESTAMP, seen TIMESTAMP DEFAULT CURRENT_TIMESTAMP) ENGINE=InnoDB");
        let said = |file: &str| {
            let report = server.report(&[file, "--table", "t", "--if-exists", "append"]);
            report["warnings"]
                .to_string()
                .contains("what made of table t get from the server's clock")
        };
        server.with_global("time_zone", "'+05:00'", || {
            assert!(said("t.csv"));
            assert!(!said("u.csv"));
        });
    });
}

#[test]
fn a_server_that_wants_a_key_for_each_change_or_looks_at_no_check() {
    alone_on_each_server(|server| {
        server.write("t.csv", "id,n\n1,7\n2,8\n");
        server.sql(
            "CREATE TABLE t (id INT PRIMARY KEY, n INT, CHECK (n > 0)) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 1), (9, 9);;\
             CREATE TABLE child (id INT, FOREIGN KEY (id) REFERENCES t (id)) ENGINE=InnoDB",
        );
        server.with_global("sql_safe_updates", "1", || {
            let update = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
            server.load(&[&update[..], &["--strategy", "load-data"]].concat()).exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, 7], [2, 8], [9, 9]]);
            server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, 7], [2, 8]]);
        });
        // Only MariaDB has the setting.
        if server.has_bulk() {
            server.write("t.csv", "id,n\n3,-1\n");
            server.with_global("check_constraint_checks", "0", || {
                server.refuses(&["t.csv", "--if-exists", "append"]).says(&["t.csv: line 2"]);
            });
        }
    });
}

/// Names are asked for before the load's own mode is set.
#[test]
fn a_name_with_a_backslash_is_the_same_in_every_mode() {
    alone_on_some_servers(|server| {
        server.write("t.csv", "a\n1\n");
        server.with_global("sql_mode", "'NO_BACKSLASH_ESCAPES'", || {
            server.load(&["t.csv", "--table", r"o\q"]).exits(0);
            server.load(&["t.csv", "--table", r"o\q", "--if-exists", "append"]).exits(0);
            assert_eq!(server.query(r"SELECT COUNT(*) FROM `o\q`"), rows![[2]]);
        });
    });
}
