use crate::fixture::{Outcome, some};

use super::server::{Server, Way, for_each_server, for_some_servers, rows};

/// Whether tables of what the way makes have keys.
fn has_keys(way: &Way) -> bool {
    !way.is("csv-file")
}

/// Old servers leave such a row out of LOAD DATA without a word.
#[track_caller]
fn says_repeated(run: Outcome) {
    let words = ["Duplicate entry '2'", "duplicate key"];
    assert!(words.iter().any(|word| run.stderr.contains(word)), "{run:?}");
}

#[test]
fn a_primary_key_is_declared_and_kept() {
    for_some_servers(|server| {
        server.write("t.csv", "id,code,name\n2,x,a\n1,x,b\n3,y,c\n2,z,d\n");
        for way in some(server.ways_into_new()) {
            let load = [&["t.csv"], &way.options()[..], &["--primary-key"]].concat();
            if !has_keys(&way) {
                server.misused(&[&load[..], &["id"]].concat()).says(&["no keys"]);
                continue;
            }
            let refused = server.refuses(&[&load[..], &["id"]].concat());
            if way.is("insert-delayed") && server.queues() {
                // The server says nothing of a row in its queue; the count does.
                refused.says(&["3 rows, 4 were sent"]);
            } else {
                says_repeated(refused.says(&["t.csv: line 5"]));
            }
            let key = "SELECT COLUMN_NAME AS name FROM information_schema.STATISTICS WHERE \
                 TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX";
            server.load(&[&load[..], &["code,id"]].concat()).exits(0);
            assert_eq!(server.query(key), rows![["code"], ["id"]], "{way:?}");
            server.drop_table("t");
            if way.is("insert-delayed") && server.queues() {
                continue;
            }
            server.load(&[&load[..], &["ID", "--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.query("SELECT name FROM t ORDER BY id"), rows![["b"], ["a"], ["c"]]);
            assert_eq!(server.read("t.rejects.csv"), b"id,code,name\n2,z,d\n", "{way:?}");
            server.drop_table("t");
        }
        server.misused(&["t.csv", "--primary-key", "idd"]).says(&["idd"]);
    });
}

#[test]
fn a_null_in_the_primary_key_is_a_bad_row() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n,b\n3,c\n");
        for way in some(server.ways_into_new().into_iter().filter(has_keys).collect()) {
            let load = [&["t.csv", "--primary-key", "id"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3, column id", "NULL"]);
        }
    });
}

#[test]
fn keys_of_a_new_table_differ_when_their_text_does() {
    for_each_server(|server| {
        server.write("t.csv", "code\na\nA\n\u{e1}\n\"a \"\n\"\"\n\u{df}\nss\n");
        for way in some(server.ways_into_new().into_iter().filter(has_keys).collect()) {
            let load = [&["t.csv", "--primary-key", "code"], &way.options()[..]].concat();
            let run = server.load(&load);
            if run.status.success() {
                assert_eq!(server.count("t"), 7, "{way:?}");
                server.drop_table("t");
                continue;
            }
            // Collations that pad count `a ` as `a`; then the row is told, and not lost.
            if way.is("insert-delayed") && server.queues() {
                run.exits(1).says(&["6 rows, 7 were sent"]);
                continue;
            }
            let more = [&load[..], &["--max-rejects", "1"]].concat();
            server.load(&more).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"code\n\"a \"\n", "{way:?}");
            assert_eq!(server.count("t"), 6, "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn indexes_are_there_after_the_load() {
    for_some_servers(|server| {
        let rows: String = (0..300).map(|n| format!("{n},{},text {}\n", n % 10, n % 7)).collect();
        server.write("t.csv", format!("id,ten,seven\n{rows}"));
        for way in some(server.ways_into_new()) {
            let load = [&["t.csv", "--index", "ten,seven", "--index", "seven"], &way.options()[..]]
                .concat();
            if !has_keys(&way) {
                server.misused(&load).says(&["no keys"]);
                continue;
            }
            if way.is("insert-delayed") {
                // Keys are shorter there, and the text has no length of its own.
                continue;
            }
            let report = server.report(&load);
            assert!(report["seconds"]["index"].as_f64().unwrap() > 0.0);
            let made = server.query(
                "SELECT INDEX_NAME AS i, COLUMN_NAME AS c FROM information_schema.STATISTICS \
                 WHERE TABLE_SCHEMA = DATABASE() ORDER BY INDEX_NAME, SEQ_IN_INDEX",
            );
            let columns: Vec<_> = made.iter().map(|row| row[1].as_deref().unwrap()).collect();
            assert_eq!(columns, ["seven", "ten", "seven"], "{way:?}");
            server.drop_table("t");
        }
        server.misused(&["t.csv", "--index", "eleven"]).says(&["eleven"]);
        // For an existing table they are its owner's business.
        server.sql("CREATE TABLE t (id INT, ten INT, seven TEXT)");
        server.misused(&["t.csv", "--index", "id"]).says(&["--index"]);
    });
}

#[test]
fn several_unique_keys_are_all_kept() {
    for_some_servers(|server| {
        server.write("t.csv", "id,code,mail\n1,a,x\n2,a,y\n3,c,x\n4,d,\n5,e,\n1,f,z\n");
        for way in some(server.ways_into_empty()) {
            server.sql("CREATE TABLE t (id INT PRIMARY KEY, code CHAR(3) UNIQUE, mail VARCHAR(9), UNIQUE (mail))");
            let load = [&["t.csv", "--max-rejects", "3"], &way.options()[..]].concat();
            server.load(&load).exits(3);
            assert_eq!(
                server.read("t.rejects.csv"),
                b"id,code,mail\n2,a,y\n3,c,x\n1,f,z\n",
                "{way:?}"
            );
            assert_eq!(
                server.query("SELECT id FROM t ORDER BY id"),
                rows![[1], [4], [5]],
                "{way:?}"
            );
            server.drop_table("t");
        }
    });
}

/// Two existing rows, and a file that meets both, adds one, and names one key twice.
fn meeting(server: &Server, way: &Way, answer: &str) -> serde_json::Value {
    server.drop_table("t").sql(
        "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), size DOUBLE DEFAULT 0.5);;
         INSERT INTO t VALUES (1, 'old', 1), (2, 'old', 2)",
    );
    server.write("t.csv", "id,name\n1,new\n2,\n3,c\n3,cc\n");
    let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
    server.report(&[&load[..], &way.options()].concat())
}

/// LOAD DATA takes a table in between, which costs the server more than INSERT saves.
#[test]
fn on_conflict_is_answered_by_inserts() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9))");
        server.write("t.csv", "id,name\n1,a\n");
        let best = if server.has_bulk() { "mysql/bulk" } else { "mysql/values" };
        for answer in ["skip", "update", "replace"] {
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
            assert_eq!(server.report(&load)["plan"]["strategy"], best, "{answer}");
        }
        let named =
            ["t.csv", "--if-exists", "append", "--on-conflict", "skip", "--strategy", "load-data"];
        assert_eq!(server.report(&named)["plan"]["strategy"], "mysql/load-data");
    });
}

#[test]
fn on_conflict_skip_leaves_the_row_that_is_there() {
    for_some_servers(|server| {
        for way in some(server.ways_into_used()) {
            let report = meeting(server, &way, "skip");
            let stored = rows![[1, "old", 1], [2, "old", 2], [3, "c", "0.5"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            let counts =
                ["rows_read", "rows_loaded", "rows_skipped"].map(|name| report[name].as_i64());
            assert_eq!(counts, [Some(4), Some(1), Some(3)], "{way:?}");
        }
    });
}

#[test]
fn on_conflict_update_sets_the_columns_of_the_source() {
    for_some_servers(|server| {
        for way in some(server.ways_into_used()) {
            meeting(server, &way, "update");
            let stored = rows![[1, "new", 1], [2, (), 2], [3, "cc", "0.5"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
        }
    });
}

/// Texts that compare as equal are one key, and other tables may refer to it by this spelling.
#[test]
fn on_conflict_update_leaves_the_key_as_it_is_spelt() {
    for_some_servers(|server| {
        server.write("t.csv", "k,n\nann,7\n").write("keys.csv", "k\nANN\nbob\n");
        for way in some(server.ways_into_used()) {
            server.drop_table("child").drop_table("t").sql(
                "CREATE TABLE t (k VARCHAR(10) COLLATE utf8mb4_general_ci PRIMARY KEY, n INT, note VARCHAR(9)) ENGINE=InnoDB;;
                 CREATE TABLE child (k VARCHAR(10) COLLATE utf8mb4_general_ci, FOREIGN KEY (k) REFERENCES t (k) ON UPDATE CASCADE) ENGINE=InnoDB;;
                 INSERT INTO t VALUES ('Ann', 0, 'keep');; INSERT INTO child VALUES ('Ann')",
            );
            let update = ["--table", "t", "--if-exists", "append", "--on-conflict", "update"];
            for file in ["t.csv", "keys.csv"] {
                server.load(&[&[file], &update[..], &way.options()].concat()).exits(0);
            }
            let stored = rows![["Ann", 7, "keep"], ["bob", (), ()]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY k"), stored, "{way:?}");
            assert_eq!(server.query("SELECT k FROM child"), rows![["Ann"]], "{way:?}");
        }
    });
}

#[test]
fn on_conflict_replace_does_not_reach_rows_of_other_tables() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,new\n");
        let replace = ["t.csv", "--if-exists", "append", "--on-conflict", "replace"];
        for rule in ["CASCADE", "SET NULL"] {
            server.sql(&format!(
                "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9)) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 'old'), (9, 'z');;
                 CREATE TABLE child (id INT, p INT, FOREIGN KEY (p) REFERENCES t (id) ON DELETE {rule}) ENGINE=InnoDB;;
                 INSERT INTO child VALUES (1, 1), (2, 9)"
            ));
            server.refuses(&replace).says(&["change those of child", "--on-conflict update"]);
            server.load(&["t.csv", "--if-exists", "append", "--on-conflict", "update"]).exits(0);
            assert_eq!(server.query("SELECT p FROM child ORDER BY id"), rows![[1], [9]]);
            server.drop_table("child").drop_table("t");
        }
        // Nor rows of the same one.
        server.sql(
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9), p INT, FOREIGN KEY (p) REFERENCES t (id) ON DELETE CASCADE) ENGINE=InnoDB;;
             INSERT INTO t VALUES (1, 'old', NULL), (2, 'its', 1)",
        );
        server.refuses(&replace).says(&["change those of t,"]);
        // Where rows that are referred to can't be deleted, the others can.
        server.drop_table("t").sql(
            "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9)) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 'old'), (9, 'z');;
             CREATE TABLE child (p INT, FOREIGN KEY (p) REFERENCES t (id)) ENGINE=InnoDB;; INSERT INTO child VALUES (9)",
        );
        server.load(&replace).exits(0);
        assert_eq!(server.query("SELECT name FROM t ORDER BY id"), rows![["new"], ["z"]]);
    });
}

#[test]
fn a_unique_index_over_the_first_characters_is_no_key_of_the_column() {
    for_some_servers(|server| {
        server.write("t.csv", "t,v\nabce,new\n");
        for key in ["UNIQUE KEY (t(3))", "PRIMARY KEY (t(3))", "UNIQUE KEY (t(3), v)"] {
            server.sql(&format!(
                "CREATE TABLE t (t VARCHAR(100) NOT NULL, v VARCHAR(10) NOT NULL, {key}) ENGINE=InnoDB;; INSERT INTO t VALUES ('abcd', 'old')"
            ));
            for answer in ["skip", "update", "replace"] {
                let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
                let columns = if key.contains("v)") { "t,v" } else { "t" };
                server
                    .refuses(&[&load[..], &["--key", columns]].concat())
                    .says(&["no UNIQUE or PRIMARY KEY"]);
                server.misused(&load).says(&["needs to know the key"]);
            }
            // As any key it refuses rows.
            if key != "UNIQUE KEY (t(3), v)" {
                let has_words = server.is_from((5, 7, 0));
                let said = if has_words { "Duplicate entry" } else { "duplicate key" };
                server.refuses(&["t.csv", "--if-exists", "append"]).says(&[said]);
            }
            server.drop_table("t");
        }
    });
}

#[test]
fn on_conflict_replace_makes_the_row_anew() {
    for_some_servers(|server| {
        for way in some(server.ways_into_used()) {
            meeting(server, &way, "replace");
            let stored = rows![[1, "new", "0.5"], [2, (), "0.5"], [3, "cc", "0.5"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
        }
    });
}

#[test]
fn an_answer_to_conflicts_hides_no_other_fault() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,new\n2,too long a name\n,c\nx,d\n3,e\n99999999999,f\n");
        for answer in ["skip", "update", "replace"] {
            for way in some(server.ways_into_used()) {
                server.drop_table("t").sql(
                    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(9));; INSERT INTO t VALUES (1, 'old')",
                );
                let load = [
                    "t.csv",
                    "--if-exists",
                    "append",
                    "--on-conflict",
                    answer,
                    "--max-rejects",
                    "4",
                ];
                server.load(&[&load[..], &way.options()].concat()).exits(3);
                let name = if answer == "skip" { "old" } else { "new" };
                let stored = rows![[1, name], [3, "e"]];
                assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{answer} {way:?}");
                let rejects = b"id,name\n2,too long a name\n,c\nx,d\n99999999999,f\n";
                assert_eq!(server.read("t.rejects.csv"), rejects, "{answer} {way:?}");
            }
        }
    });
}

/// They are in the row that the server is to insert: in its other keys, and in what triggers see.
#[test]
fn columns_that_an_update_leaves_are_those_of_the_row_with_its_key() {
    for_some_servers(|server| {
        server
            .write("in.csv", "code,price,bits,raw\nABC,1.5,300,x\nx,2,,\nb,2,1,\"\"\nabc,3,5,y\n");
        let update = ["--table", "t", "--if-exists", "append", "--on-conflict", "update"];
        let by = ["--key", "code", "--max-rejects", "1"];
        for way in some(server.ways_into_used()) {
            server.drop_table("t").drop_table("log").sql(
                "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL, code VARCHAR(3) NOT NULL UNIQUE, price DOUBLE, \
                 bits BIT(9), raw VARBINARY(9), kind ENUM('k', 'l') NOT NULL, at DATETIME NOT NULL) ENGINE=InnoDB CHARSET=latin1;;
                 CREATE TABLE log (seen TEXT) ENGINE=InnoDB;;
                 CREATE TRIGGER sees BEFORE INSERT ON t FOR EACH ROW INSERT INTO log VALUES (CONCAT(NEW.id, NEW.name, NEW.kind));;
                 INSERT INTO t VALUES (1, 'a', 'abc', 0, 0, '', 'l', '2020-01-01'), (2, 'n', 'b', 0, 0, '', 'k', '2021-01-01');;
                 DELETE FROM log",
            );
            let load = [&["in.csv"], &update[..], &by, &way.options()].concat();
            if way.is("prepared") || way.is("bulk") {
                server.misused(&load).says(&["is to stay as it is"]);
                continue;
            }
            server.load(&load).exits(3);
            assert_eq!(server.read("in.rejects.csv"), b"code,price,bits,raw\nx,2,,\n", "{way:?}");
            let rows =
                "SELECT id, name, code, price, bits + 0, HEX(raw), kind, at FROM t ORDER BY id";
            let stored = rows![
                [1, "a", "abc", 3, 5, "79", "l", "2020-01-01 00:00:00"],
                [2, "n", "b", 2, 1, "", "k", "2021-01-01 00:00:00"]
            ];
            assert_eq!(server.query(rows), stored, "{way:?}");
            let seen = server.query("SELECT DISTINCT seen FROM log ORDER BY seen");
            assert_eq!(seen, rows![["1al"], ["2nk"]], "{way:?}");
        }
        server.drop_table("log");
    });
}

/// The server's update is of whatever row has any of the keys, and a number that it makes is one of them.
#[test]
fn rows_are_compared_by_one_of_several_keys() {
    for_some_servers(|server| {
        server.write("t.csv", "code,n\na,7\nc,8\nc,9\n");
        server.write("both.csv", "id,code,n\n1,b,7\n2,b,8\n3,c,9\n");
        let append = ["--table", "t", "--if-exists", "append", "--on-conflict"];
        for way in some(server.ways_into_used()) {
            let make = || {
                server.drop_table("t").sql(
                    "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, code CHAR(3) NOT NULL UNIQUE, n INT) ENGINE=InnoDB;;
                     INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)",
                );
            };
            let load = |file: &'static str, how: &'static str, key: &'static str| {
                [&[file], &append[..], &[how, "--key", key], &way.options()].concat()
            };
            for (how, rows) in [("update", [7, 2, 9]), ("skip", [1, 2, 8])] {
                make();
                let report = server.report(&load("t.csv", how, "code"));
                let [a, b, c] = rows;
                let stored = rows![["a", a], ["b", b], ["c", c]];
                assert_eq!(server.query("SELECT code, n FROM t ORDER BY code"), stored, "{way:?}");
                let skipped = if how == "skip" { 2 } else { 0 };
                assert_eq!(report["rows_skipped"], skipped, "{way:?}");
                // By the primary key, which the source does not have.
                let by_id = ["t.csv", append[0], append[1], append[2], append[3], append[4], how];
                server.refuses(&by_id).says(&["(id)", "the source has no column id", "--key code"]);
            }
            for key in ["id", "code"] {
                make();
                let load = load("both.csv", "update", key);
                server.refuses(&load).says(&["both.csv: line 2", "key"]);
                server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
                assert_eq!(server.read("both.rejects.csv"), b"id,code,n\n1,b,7\n", "{key} {way:?}");
                let stored = rows![[1, "a", 1], [2, "b", 8], [3, "c", 9]];
                assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{key} {way:?}");
            }
        }
        server.write("met.csv", "id,code\n1,z\n5,b\n");
        let skip = [&["met.csv"], &append[..], &["skip", "--key", "id"]].concat();
        server.refuses(&skip).says(&["met.csv: line 3", "another unique key"]);
        let replace = [&["t.csv"], &append[..], &["replace", "--key", "code"]].concat();
        server
            .leaves_everything(|| server.refuses(&replace))
            .says(&["several unique keys", "--on-conflict update"]);
        // Where no number is left the server takes the last one again.
        server.drop_table("t").sql(
            "CREATE TABLE t (id TINYINT AUTO_INCREMENT PRIMARY KEY, code CHAR(3) NOT NULL UNIQUE, n INT) ENGINE=InnoDB;;
             INSERT INTO t VALUES (127, 'z', 1)",
        );
        for how in ["update", "skip"] {
            let load = [&["t.csv"], &append[..], &[how, "--key", "code"]].concat();
            server.leaves_everything(|| {
                let run = server.load(&load).ends_with_nothing_changed();
                assert_ne!(run.status.code(), Some(0));
            });
        }
    });
}

#[test]
fn answers_to_conflicts_take_a_unique_key() {
    for_some_servers(|server| {
        server.write("t.csv", "id,code\n1,b\n");
        server.sql("CREATE TABLE t (id INT, code CHAR(3));; INSERT INTO t VALUES (1, 'a')");
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "skip", "--key", "id"];
        server.leaves_everything(|| {
            let run = server.load(&load).ends_with_nothing_changed();
            assert_ne!(run.status.code(), Some(0));
        });
        // One unique key that isn't the primary one will do.
        server.drop_table("t").sql(
            "CREATE TABLE t (id INT, code CHAR(3) NOT NULL UNIQUE);; INSERT INTO t VALUES (9, 'b')",
        );
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update", "--key", "code"];
        server.load(&load).exits(0);
        assert_eq!(server.query("SELECT * FROM t"), rows![[1, "b"]]);
        // A view has none, whatever the table behind it has.
        server.sql("CREATE VIEW v AS SELECT id, code FROM t");
        server.refuses(&[&["t.csv", "--table", "v"], &load[1..]].concat()).says(&["v is a view"]);
        server.sql("DROP VIEW v");
    });
}

/// An update that changes nothing is a change to its history.
#[test]
fn on_conflict_skip_adds_nothing_to_the_history_of_a_versioned_table() {
    for_each_server(|server| {
        if !server.is_mariadb {
            return;
        }
        server.write("t.csv", "id,v\n1,b\n2,c\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9)) WITH SYSTEM VERSIONING;; INSERT INTO t VALUES (1, 'a')",
        );
        let load = |how| ["t.csv", "--if-exists", "append", "--on-conflict", how];
        server.plan(&load("skip")).exits(1).says(&["system-versioned", "NOT EXISTS"]);
        server.load(&load("update")).exits(0);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "b"], [2, "c"]]);
    });
}

/// The server has the end of a row's time in its keys, where the table shows it.
#[test]
fn the_key_of_a_table_with_a_period_is_what_its_user_made() {
    for_each_server(|server| {
        if !server.is_mariadb {
            return;
        }
        server.write("t.csv", "id,v\n1,b\n2,c\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9), since TIMESTAMP(6) GENERATED ALWAYS AS ROW START,
             till TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, till)) WITH SYSTEM VERSIONING;;
             INSERT INTO t (id, v) VALUES (1, 'a')",
        );
        for answer in ["update", "replace"] {
            server.load(&["t.csv", "--if-exists", "append", "--on-conflict", answer]).exits(0);
        }
        assert_eq!(server.query("SELECT id, v FROM t ORDER BY id"), rows![[1, "b"], [2, "c"]]);
    });
}

/// The server skips a row by an update that changes nothing, and triggers run all the same.
#[test]
fn on_conflict_skip_runs_no_triggers_of_updates() {
    for_some_servers(|server| {
        server.write("t.csv", "id,n\n1,9\n3,9\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY, n INT) ENGINE=InnoDB;; INSERT INTO t VALUES (1, 1);;
             CREATE TRIGGER more BEFORE INSERT ON t FOR EACH ROW SET NEW.n = NEW.n + 10",
        );
        let load = |answer| ["t.csv", "--if-exists", "append", "--on-conflict", answer];
        // What its triggers write elsewhere is theirs.
        let said = "table t has triggers: what they write into tables without transactions";
        server.plan(&load("skip")).exits(0).prints(&[said, "rows_per_statement=1"]);
        server.load(&load("skip")).exits(0);
        let found = || server.query("SELECT * FROM t ORDER BY id");
        assert_eq!(found(), rows![[1, 1], [3, 19]], "on {}", server.name);
        server
            .sql("CREATE TRIGGER changed BEFORE UPDATE ON t FOR EACH ROW SET NEW.n = OLD.n + 100");
        for way in some(server.ways_into_used()) {
            let load = [&load("skip")[..], &way.options()].concat();
            server.refuses(&load).says(&["has UPDATE triggers", "NOT EXISTS"]);
        }
        server.load(&load("update")).exits(0);
        assert_eq!(found(), rows![[1, 101], [3, 119]], "on {}", server.name);
    });
}

#[test]
fn a_key_that_is_too_long_comes_with_advice() {
    for_each_server(|server| {
        server.write("t.csv", "a,b,c,d,e\nv,w,x,y,z\n");
        server.refuses(&["t.csv", "--primary-key", "a,b,c,d,e"]).says(&["counts for 764 bytes"]);
    });
}
