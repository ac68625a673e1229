use crate::fixture::{json_lines, size, some};
use crate::servers::OnDrop;

use super::server::{Server, Way, for_each_server, rows};

/// Loads `t.csv` into the existing table.
fn append<'a>(way: &'a Way, more: &[&'a str]) -> Vec<&'a str> {
    [&["t.csv", "--table", "t", "--if-exists", "append"], &way.options()[..], more].concat()
}

/// Those that don't use COPY.
fn inserting(server: &Server) -> Vec<Way> {
    server.ways_into_used().into_iter().filter(|way| !way.strategy.contains("copy")).collect()
}

/// Those that do.
fn copying(server: &Server) -> Vec<Way> {
    server.ways_into_used().into_iter().filter(|way| way.strategy.contains("copy")).collect()
}

/// A statement takes a number for each of its rows, also one that is taken back because of a bad row.
#[test]
fn a_sequence_that_has_counted_to_its_end_makes_no_bad_rows() {
    for_each_server(|server| {
        let name = |n: u32| if n == 110 { "bad".to_owned() } else { n.to_string() };
        let rows: String = (1..=120).map(|n| format!("{},b\n", name(n))).collect();
        server.write("t.csv", format!("name,more\n{rows}"));
        for strategy in ["copy-binary", "copy-text", "values"] {
            server.sql("CREATE SEQUENCE numbers MAXVALUE 130");
            server.sql(
                "CREATE TABLE t (id int DEFAULT nextval('numbers'), name text CHECK (name <> 'bad'), more text)",
            );
            let load = ["t.csv", "--max-rejects", "all", "--strategy", strategy];
            let words = ["the sequence has no number left", "--set rows_per_statement=1"];
            server.load(&load).exits(1).ends_with_nothing_changed().says(&words);
            assert_eq!(server.count("t"), 0);
            server.sql("ALTER SEQUENCE numbers RESTART");
            server.load(&[&load[..], &["--set", "rows_per_statement=1"]].concat()).exits(3);
            assert_eq!(server.count("t"), 119, "{strategy}");
            server.drop_table("t").sql("DROP SEQUENCE numbers");
        }
    });
}

#[test]
fn columns_are_found_by_name_and_the_rest_has_its_default() {
    for_each_server(|server| {
        server.write("t.csv", "NAME,Id\nb,2\n,3\n");
        for way in some(server.ways_into_used()) {
            server.sql(
                "CREATE TABLE t (id int PRIMARY KEY, day date DEFAULT '2013-01-01', name varchar(9), n int, gone int,
                 size numeric(3,1) NOT NULL DEFAULT 1.5, number serial, at timestamptz DEFAULT now());
                 ALTER TABLE t DROP COLUMN gone",
            );
            server.load(&append(&way, &["--verify", "checksum"])).exits(0);
            let stored =
                rows![[2, "2013-01-01", "b", (), "1.5", 1], [3, "2013-01-01", (), (), "1.5", 2]];
            let sql = "SELECT id, day, name, n, size, number FROM t WHERE at > now() - interval '1 hour' ORDER BY id";
            assert_eq!(server.query(sql), stored, "{way:?}");
            server.drop_table("t");
        }
        server.sql("CREATE TABLE t (id int, name varchar(9), needed int NOT NULL)");
        server.refuses(&["t.csv"]).says(&["column needed"]);
    });
}

/// The words that the server reads are read as they stand: options for them would make bad rows of others.
#[test]
fn nothing_is_proposed_for_words_that_a_column_of_truths_reads() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, ok bool, sure bool)");
        server.write("t.csv", "id,ok,sure\n1,t,ja\n2,f,nein\n3,t,ja\n");
        let run = server.load(&["t.csv", "--table", "t", "--max-rejects", "all"]);
        assert!(!run.stdout.contains("--true ok="), "{run:?}");
        let run = run.prints(&["--true sure=ja --false sure=nein"]);
        drop(run);
        server.drop_table("t").sql("CREATE TABLE t (id int, ok bool)");
        server.write("t.csv", "id,ok\n1,yes\n2,no\n");
        let run = server.load(&["t.csv", "--table", "t"]).exits(0);
        assert!(!run.stdout.contains("--true"), "{run:?}");
        assert_eq!(
            server.query("SELECT id, ok::text FROM t ORDER BY id"),
            rows![[1, "true"], [2, "false"]]
        );
        server.drop_table("t");
        // A new table gets a column of text, and may have one of truths.
        server.load(&["t.csv", "--table", "t"]).exits(0).prints(&["--true ok=yes --false ok=no"]);
    });
}

#[test]
fn columns_of_names_that_differ_in_case_alone_are_named_with_the_options() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (\"Id\" int, id text, \"order\" text)");
        server.write("t.csv", "Id,id,order\n1,a,new\n");
        let load = ["t.csv", "--table", "t"];
        server.refuses(&load).says(&["no column id_2", "--rename id_2=id --case exact"]);
        server.load(&[&load[..], &["--rename", "id_2=id", "--case", "exact"]].concat()).exits(0);
        assert_eq!(server.query("SELECT \"Id\", id, \"order\" FROM t"), rows![[1, "a", "new"]]);
    });
}

#[test]
fn generated_columns_are_the_servers() {
    for_each_server(|server| {
        server.write("t.csv", "a,b\n1,2\n3,4\n").write("all.csv", "a,b,c\n1,2,3\n");
        server.sql("CREATE TABLE t (a int, c int GENERATED ALWAYS AS (a + b) STORED, b int)");
        for way in some(server.ways_into_used()) {
            server.sql("TRUNCATE t").load(&append(&way, &["--verify", "checksum"])).exits(0);
            assert_eq!(
                server.query("SELECT * FROM t ORDER BY a"),
                rows![[1, 3, 2], [3, 7, 4]],
                "{way:?}"
            );
            server
                .refuses(&["all.csv", "--table", "t", "--if-exists", "append"])
                .says(&["column c", "computes the values"]);
        }
    });
}

#[test]
fn columns_that_count_keep_the_numbers_of_the_file_and_count_where_it_has_none() {
    for_each_server(|server| {
        for identity in
            ["int GENERATED ALWAYS AS IDENTITY", "int GENERATED BY DEFAULT AS IDENTITY", "serial"]
        {
            for way in some(server.ways_into_used()) {
                server.sql(&format!("CREATE TABLE t (id {identity} PRIMARY KEY, name text)"));
                server
                    .write("t.csv", "id,name\n0,zero\n-5,five\n")
                    .load(&append(&way, &[]))
                    .exits(0);
                assert_eq!(
                    server.query("SELECT * FROM t ORDER BY id"),
                    rows![[-5, "five"], [0, "zero"]],
                    "{way:?}"
                );
                // The column takes no NULL, and nobody makes a number up.
                server
                    .write("t.csv", "id,name\n,who\n")
                    .refuses(&append(&way, &[]))
                    .says(&["t.csv: line 2, column id", "NULL"]);
                server.write("t.csv", "name\na\nb\n").load(&append(&way, &[])).exits(0);
                assert_eq!(
                    server.query("SELECT * FROM t WHERE id > 0 ORDER BY id"),
                    rows![[1, "a"], [2, "b"]],
                    "{identity} {way:?}"
                );
                server.drop_table("t");
            }
        }
    });
}

#[test]
fn partitions_get_their_rows_and_a_row_without_one_is_bad() {
    for_each_server(|server| {
        server
            .write("t.csv", "id,day\n1,2013-01-01\n2,2014-06-01\n3,2020-01-01\n4,2013-12-31\n5,\n");
        for way in some(server.ways_into_used()) {
            server.sql(
                "CREATE TABLE t (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
                 CREATE TABLE t13 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2014-01-01');
                 CREATE TABLE t14 PARTITION OF t FOR VALUES FROM ('2014-01-01') TO ('2015-01-01') PARTITION BY HASH (id);
                 CREATE TABLE t14a PARTITION OF t14 FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
            );
            server.refuses(&append(&way, &[])).says(&[
                "t.csv: line 4",
                "no partition of relation \"t\"",
                "23514",
            ]);
            server.load(&append(&way, &["--max-rejects", "2", "--verify", "checksum"])).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"id,day\n3,2020-01-01\n5,\n", "{way:?}");
            let stored = rows![["t13", 1], ["t14a", 2], ["t13", 4]];
            assert_eq!(
                server.query("SELECT tableoid::regclass, id FROM t ORDER BY id"),
                stored,
                "{way:?}"
            );
            server
                .load(&[
                    "t.csv",
                    "--if-exists",
                    "truncate",
                    "--max-rejects",
                    "2",
                    "--strategy",
                    &way.strategy,
                ])
                .exits(3);
            assert_eq!(server.count("t"), 3);
            server.drop_table("t");
        }
    });
}

#[test]
fn what_inherits_from_a_table_gets_none_of_its_rows() {
    for_each_server(|server| {
        server.write("t.csv", "id,more\n1,a\n2,b\n");
        for way in some(server.ways_into_used()) {
            server.sql("CREATE TABLE parent (id int CHECK (id > 0)); CREATE TABLE t (more text) INHERITS (parent)");
            server.sql("CREATE TABLE child () INHERITS (t); INSERT INTO child VALUES (7, 'c')");
            server.load(&append(&way, &["--verify", "checksum"])).exits(0);
            assert_eq!(
                server.query("SELECT id, more FROM ONLY t ORDER BY id"),
                rows![[1, "a"], [2, "b"]],
                "{way:?}"
            );
            assert_eq!(server.number("SELECT count(*) FROM parent"), 3);
            assert_eq!(server.number("SELECT count(*) FROM child"), 1);
            let replace = ["t.csv", "--if-exists", "replace", "--strategy", &way.strategy];
            server.refuses(&replace).says(&["inherits from parent"]);
            server.sql("ALTER TABLE t NO INHERIT parent").refuses(&replace).says(&["child"]);
            server.sql("DROP TABLE t CASCADE");
            server.drop_table("parent");
        }
    });
}

#[test]
fn simple_views_take_rows_by_insert() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n200\n3\n");
        server.sql(
            "CREATE TABLE base (id int, n int DEFAULT 5); INSERT INTO base VALUES (7);
             CREATE VIEW t AS SELECT id FROM base WHERE id < 100 WITH CHECK OPTION",
        );
        for way in copying(server) {
            server.misused(&append(&way, &[])).says(&["t is a view", "INSTEAD OF"]);
        }
        for way in inserting(server) {
            server.refuses(&append(&way, &[])).says(&["t.csv: line 3", "check option", "44000"]);
            server.load(&append(&way, &["--max-rejects", "1"])).exits(3);
            assert_eq!(
                server.query("SELECT * FROM base ORDER BY id"),
                rows![[1, 5], [3, 5], [7, 5]],
                "{way:?}"
            );
            server.sql("DELETE FROM base WHERE id <> 7");
        }
        // Another way is taken where none is asked for.
        server.load(&["t.csv", "--if-exists", "append", "--max-rejects", "1"]).exits(3);
        assert_eq!(server.count("base"), 3);
    });
}

#[test]
fn views_with_a_trigger_take_rows_by_insert_and_what_it_leaves_out_is_a_bad_row() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n3,c\n");
        server.sql(
            "CREATE TABLE base (id int, name text); CREATE VIEW t AS SELECT id, upper(name) AS name FROM base;
             CREATE FUNCTION put() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                IF NEW.id = 2 THEN RETURN NULL; END IF;
                INSERT INTO base VALUES (NEW.id, NEW.name); RETURN NEW; END$$;
             CREATE TRIGGER put INSTEAD OF INSERT ON t FOR EACH ROW EXECUTE FUNCTION put()",
        );
        let one = ["--max-rejects", "1"];
        let assert_loaded = |way: &dyn std::fmt::Debug| {
            let stored = rows![[1, "a"], [3, "c"]];
            assert_eq!(server.query("SELECT * FROM base ORDER BY id"), stored, "{way:?}");
            assert_eq!(server.read("t.rejects.csv"), b"id,name\n2,b\n", "{way:?}");
            server.sql("TRUNCATE base");
        };
        for way in some(inserting(server)) {
            server.load(&append(&way, &one)).exits(3);
            assert_loaded(&way);
        }
        for way in copying(server) {
            server.misused(&append(&way, &one)).says(&["INSTEAD OF trigger"]);
        }
        server.load(&["t.csv", "--if-exists", "append", "--max-rejects", "1"]).exits(3);
        assert_loaded(&"unnest");
    });
}

#[test]
fn a_view_has_no_key_to_look_at() {
    for_each_server(|server| {
        server
            .write("t.csv", "id\n1\n")
            .sql("CREATE TABLE base (id int PRIMARY KEY); CREATE VIEW t AS SELECT id FROM base");
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update", "--key", "id"];
        server.refuses(&load).says(&["t is a view", "load into the table behind it"]);
    });
}

/// Neither has a trigger that could be looked for.
#[test]
fn rows_that_a_view_hides_or_a_rule_leaves_out_are_said_to_be() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n3\n").sql(
            "CREATE TABLE base (id int); CREATE VIEW v AS SELECT id FROM base WHERE id < 3;
             CREATE TABLE ruled (id int); CREATE RULE r AS ON INSERT TO ruled DO INSTEAD INSERT INTO base VALUES (NEW.id);
             CREATE RULE q AS ON INSERT TO ruled WHERE NEW.id > 2 DO INSTEAD NOTHING",
        );
        for (table, words) in [("v", "the view may show only some of them"), ("ruled", "rule")] {
            server.refuses(&["t.csv", "--table", table, "--if-exists", "append"]).says(&[words]);
        }
    });
}

#[test]
fn views_that_can_not_take_rows_say_why() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,1\n").sql(
            "CREATE TABLE base (id int); INSERT INTO base VALUES (1); CREATE TABLE log (id int);
             CREATE VIEW ruled AS SELECT id, 1 AS n FROM base; CREATE RULE r AS ON INSERT TO ruled DO INSTEAD INSERT INTO log VALUES (NEW.id);
             CREATE VIEW counts AS SELECT id, count(*) AS n FROM base GROUP BY id;
             CREATE MATERIALIZED VIEW kept AS SELECT id, 1 AS n FROM base;
             CREATE SEQUENCE numbers; CREATE TYPE row_type AS (id int, n int)",
        );
        let strategies = ["copy-binary", "copy-text", "values", "unnest", "prepared", "row-sql"];
        for strategy in some(strategies.to_vec()).into_iter().chain(["auto"]) {
            let strategy = if strategy == "auto" { vec![] } else { vec!["--strategy", strategy] };
            for (view, words) in
                [("ruled", "rules"), ("counts", "counts"), ("kept", "materialized view")]
            {
                let load =
                    [&["t.csv", "--table", view, "--if-exists", "append"], &strategy[..]].concat();
                server.leaves_everything(|| {
                    let run = server.load(&load).says(&[words]).ends_with_nothing_changed();
                    assert_ne!(run.status.code(), Some(0));
                });
            }
        }
        server.refuses(&["t.csv", "--table", "ruled", "--if-exists", "replace"]);
    });
}

#[test]
fn rows_that_a_parent_a_check_or_a_trigger_refuses_are_bad_rows() {
    for_each_server(|server| {
        server.write("t.csv", "id,parent,n\n1,1,5\n2,9,5\n3,1,13\n4,1,\n5,1,-1\n6,1,6\n7,1,6\n");
        for way in some(server.ways_into_used()) {
            server.sql(
                "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1);
                 CREATE TABLE t (id int PRIMARY KEY, parent int REFERENCES parent, n int NOT NULL CHECK (n >= 0),
                    EXCLUDE USING btree (n WITH =) WHERE (n > 5));
                 CREATE OR REPLACE FUNCTION no_13() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                    IF NEW.n = 13 THEN RAISE 'no thirteen here' USING ERRCODE = '45000'; END IF; RETURN NULL; END$$;
                 CREATE TRIGGER no_13 AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION no_13()",
            );
            server.refuses(&append(&way, &[])).says(&["t.csv: line 3"]);
            server.load(&append(&way, &["--max-rejects", "9"])).exits(3);
            assert_eq!(
                server.read("t.rejects.csv"),
                b"id,parent,n\n2,9,5\n3,1,13\n4,1,\n5,1,-1\n7,1,6\n",
                "{way:?}"
            );
            let notes = json_lines(&server.read("t.rejects.csv.jsonl"));
            let codes: Vec<&str> =
                notes.iter().map(|note| note["code"].as_str().unwrap()).collect();
            assert_eq!(
                codes,
                ["foreign-key", "constraint", "not-null", "constraint", "constraint"],
                "{way:?}"
            );
            assert!(notes[1]["message"].as_str().unwrap().contains("no thirteen here"), "{way:?}");
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [6]], "{way:?}");
            server.sql("DROP TABLE t, parent");
        }
    });
}

#[test]
fn triggers_that_change_or_drop_rows_are_seen() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n3,c\n").sql(
            "CREATE TABLE t (id int, name text);
             CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.name = upper(NEW.name); RETURN NEW; END$$;
             CREATE FUNCTION drop_2() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                RETURN CASE WHEN NEW.id <> 2 THEN NEW END; END$$",
        );
        for way in some(server.ways_into_used()) {
            server
                .sql("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION shout()");
            server
                .refuses(&append(&way, &["--verify", "checksum"]))
                .says(&["column name", "trigger"]);
            server.load(&append(&way, &["--verify", "none"])).exits(0);
            assert_eq!(
                server.query("SELECT name FROM t ORDER BY id"),
                rows![["A"], ["B"], ["C"]],
                "{way:?}"
            );
            server.sql("DROP TRIGGER tr ON t; TRUNCATE t; CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drop_2()");
            server.refuses(&append(&way, &[])).says(&["t.csv: line 3", "trigger"]);
            server.load(&append(&way, &["--max-rejects", "1"])).exits(3);
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]], "{way:?}");
            assert_eq!(server.read("t.rejects.csv"), b"id,name\n2,b\n", "{way:?}");
            server.sql("DROP TRIGGER tr ON t; TRUNCATE t");
        }
    });
}

#[test]
fn constraints_that_wait_for_the_end_know_their_rows_all_the_same() {
    for_each_server(|server| {
        server.write("t.csv", "id,code,parent\n1,a,1\n2,b,9\n3,a,1\n4,d,1\n");
        for way in some(server.ways_into_used()) {
            server.sql(
                "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1);
                 CREATE TABLE t (id int, code text UNIQUE DEFERRABLE INITIALLY DEFERRED,
                    parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
            );
            server.refuses(&append(&way, &[])).says(&["t.csv: line 3", "t_parent_fkey"]);
            server.load(&append(&way, &["--max-rejects", "2"])).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"id,code,parent\n2,b,9\n3,a,1\n", "{way:?}");
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [4]], "{way:?}");
            server.sql("DROP TABLE t, parent");
        }
    });
}

/// Rows of a table that refers to itself: parents that come later, circles, rows that are their own, of a key of one column and of one of
/// two; then orphans, a row that refers to one, one of another kind, and a row that refers to that.
const FAMILY: &str = "id,boss,a,b,pad\n1,9,,,x\n2,3,1,9,x\n3,2,,5,x\n4,4,4,4,x\n9,1,3,2,x\n";
const ORPHANS: &str = "20,99,,,x\n21,20,,,x\n22,,7,7,x\n23,22,,,x\n";
const OTHERS: &str = "30,1,,,bad\n31,30,,,x\n";

/// The table, with keys that wait as is said.
fn own_family(waits: &str) -> String {
    format!(
        "CREATE TABLE t (id int PRIMARY KEY, boss int REFERENCES t {waits}, a int, b int, pad text CHECK (pad <> 'bad'),
         UNIQUE (id, boss), FOREIGN KEY (a, b) REFERENCES t (id, boss) {waits}); INSERT INTO t VALUES (50, 50)"
    )
}

#[test]
fn rows_may_refer_to_later_ones_of_their_table() {
    for_each_server(|server| {
        for waits in ["", "DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"] {
            server.sql(&own_family(waits));
            // In pieces that come by themselves, where the server lets them.
            let ways = some(server.ways_into_used());
            let first = Way { strategy: "postgres/copy-binary".to_owned(), lanes: "1" };
            let ways = if waits.is_empty() { vec![first] } else { ways };
            for way in &ways {
                let set: &[&str] = match waits {
                    "" => &[],
                    _ if way.is("prepared") || way.is("row-sql") => &[],
                    _ => &["--set", "rows_per_statement=1"],
                };
                server.write("t.csv", FAMILY);
                server.load(&append(way, set)).exits(0);
                assert_eq!(server.count("t"), 6, "{way:?} {waits}");
                server.sql("DELETE FROM t WHERE id <> 50");
                server.write("t.csv", format!("{FAMILY}5,50,,,x\n{ORPHANS}"));
                let words: &[&str] = match way.is("copy-binary") || way.is("copy-server") {
                    true => &["t.csv: line 8", "Key (boss)=(99) is not present in table \"t\""],
                    false => &["t_boss_fkey"],
                };
                server.refuses(&append(way, set)).says(words);
            }
            for (number, strategy) in ["copy-binary", "copy-server"].into_iter().enumerate() {
                if waits.is_empty() && strategy == "copy-server" {
                    continue;
                }
                let others = if waits.is_empty() { "" } else { OTHERS };
                server.write("t.csv", format!("{FAMILY}5,50,,,x\n{ORPHANS}{others}"));
                let load = ["t.csv", "--if-exists", "append", "--max-rejects", "all"];
                let load = [&load[..], &["--strategy", strategy]].concat();
                let hows = ["fail", "skip", "update"];
                for how in size(&hows[number..=2 * number], &hows[..]).iter().copied() {
                    if waits.is_empty() && how != "fail" {
                        continue;
                    }
                    server.load(&[&load[..], &["--on-conflict", how]].concat()).exits(3);
                    let rejected = format!("id,boss,a,b,pad\n{ORPHANS}{others}");
                    assert_eq!(server.read("t.rejects.csv"), rejected.as_bytes(), "{waits} {how}");
                    let ids = "SELECT id FROM t ORDER BY id";
                    assert_eq!(
                        server.query(ids),
                        rows![[1], [2], [3], [4], [5], [9], [50]],
                        "{waits} {strategy} {how}"
                    );
                    server.sql("DELETE FROM t WHERE id <> 50");
                }
            }
            server.drop_table("t");
        }
    });
}

/// A chain is as deep as it has rows; a statement has to take more than it does elsewhere.
#[test]
fn a_long_chain_of_rows_is_judged_at_its_end() {
    for_each_server(|server| {
        let (long, pad) = size((1500, 12_000), (15_000, 1200));
        let pad = "x".repeat(pad);
        let row = |id: i64, boss: i64| format!("{id},{boss},{pad}\n");
        let rows: String = (0..long).map(|id| row(id, long - 1 - id)).collect();
        let orphans: String = (0..long / 5).map(|n| row(20_000 + n, 20_001 + n)).collect();
        for waits in ["", "DEFERRABLE INITIALLY DEFERRED"] {
            server.sql(&format!(
                "CREATE TABLE t (id int PRIMARY KEY, boss int REFERENCES t {waits}, pad text)"
            ));
            server.write("t.csv", format!("id,boss,pad\n{rows}"));
            server.load(&["t.csv", "--if-exists", "append"]).exits(0);
            assert_eq!(server.count("t"), long);
            // So it is from a pipe, where no row is to be rejected.
            let piped = ["-", "--table", "t", "--if-exists", "truncate"];
            server.load_reading(&server.read("t.csv"), &piped).exits(0);
            assert_eq!(server.count("t"), long);
            server.sql("TRUNCATE t").write("t.csv", format!("id,boss,pad\n{rows}{orphans}"));
            server.load(&["t.csv", "--if-exists", "append", "--max-rejects", "all"]).exits(3);
            assert_eq!(server.count("t"), long, "{waits}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_table_that_others_refer_to_stays_their_parent() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE child (t int REFERENCES t); INSERT INTO t VALUES (7)",
        );
        for way in some(server.ways_into_used()) {
            // Nobody refers to the row.
            server
                .load(&["t.csv", "--if-exists", "truncate", "--strategy", &way.strategy])
                .exits(0);
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [2]], "{way:?}");
            server.sql("INSERT INTO child VALUES (1)");
            for word in ["truncate", "replace"] {
                server.leaves_everything(|| {
                    let run = server
                        .load(&["t.csv", "--if-exists", word, "--strategy", &way.strategy])
                        .says(&["child"]);
                    assert_ne!(run.status.code(), Some(0), "{word}");
                });
            }
            server.sql("TRUNCATE child");
        }
        // Rows that go with their parent would be lost without a word.
        server.drop_table("child").sql("CREATE TABLE child (t int REFERENCES t ON DELETE CASCADE); INSERT INTO child VALUES (1)");
        server.leaves_everything(|| {
            let run = server.load(&["t.csv", "--if-exists", "truncate"]).says(&["child"]);
            assert_ne!(run.status.code(), Some(0));
        });
    });
}

#[test]
fn rows_that_go_with_those_behind_a_view_or_in_a_partition_are_not_lost() {
    for_each_server(|server| {
        let child = "CREATE TABLE child (t int REFERENCES base ON DELETE CASCADE); INSERT INTO child VALUES (1)";
        let base = "CREATE TABLE base (id int PRIMARY KEY); INSERT INTO base VALUES (1)";
        let parted =
            "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id); INSERT INTO t VALUES (1)";
        let part = "CREATE TABLE part PARTITION OF t FOR VALUES FROM (0) TO (10)";
        let parted = parted.replace("INSERT", &format!("{part}; INSERT"));
        let of_part = child.replace("base", "part");
        let of_root = "CREATE TABLE other (t int REFERENCES t)";
        let (view, outer) =
            ("CREATE VIEW t AS SELECT * FROM", "CREATE VIEW v AS SELECT id FROM base WHERE id < 7");
        let inherits =
            "CREATE TABLE base (PRIMARY KEY (id)) INHERITS (top); INSERT INTO base VALUES (1)";
        let own =
            "CREATE TABLE base (id int PRIMARY KEY, t int REFERENCES base ON DELETE SET NULL)";
        for (made, kept) in [
            (vec![base, child, &format!("{view} base")], "child"),
            (vec![base, child, outer, &format!("{view} v")], "child"),
            (vec![own, &format!("{view} base WHERE id > 7")], "base"),
            (vec!["CREATE TABLE top (id int)", inherits, child, &format!("{view} top")], "child"),
            (vec![&parted, &of_part], "child"),
            (vec![&parted, &of_part, of_root], "child"),
        ] {
            server.write("t.csv", "id\n2\n").sql(&made.join("; "));
            let truncate = ["t.csv", "--if-exists", "truncate"];
            server.leaves_everything(|| server.refuses(&truncate)).says(&[
                "deleting the rows of table t would change those of",
                kept,
                "--if-exists append",
            ]);
            server.sql("DROP VIEW IF EXISTS v CASCADE; DROP TABLE IF EXISTS base, part, child, top, other CASCADE");
            server.sql("DO $$BEGIN DROP TABLE IF EXISTS t CASCADE; EXCEPTION WHEN wrong_object_type THEN DROP VIEW t; END$$");
        }
        // What nothing hangs on is deleted, there and here.
        let refers = "CREATE TABLE child (t int REFERENCES base); INSERT INTO base VALUES (2)";
        for made in [vec![base, refers, &format!("{view} base")], vec![&parted, of_root]] {
            server.sql(&made.join("; "));
            server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
            assert_eq!(server.query("SELECT id FROM t"), rows![[2]]);
            server.sql("DROP TABLE IF EXISTS base, child CASCADE");
        }
    });
}

#[test]
fn row_level_security_has_its_say() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.write("t.csv", "id,owner\n1,me\n2,you\n3,me\n").sql(&format!(
            "CREATE ROLE {user} LOGIN; CREATE TABLE t (id int, owner text); GRANT SELECT, INSERT, TRUNCATE ON t TO {user};
             ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON t USING (owner = 'me')"
        ));
        let url = server.url_of(&user);
        for way in copying(server) {
            let run = server.leaves_everything(|| server.load_at(&url, &append(&way, &[])));
            run.exits(2).says(if way.is("copy-server") {
                &["pg_read_server_files"]
            } else {
                &["row-level security"]
            });
        }
        for way in inserting(server) {
            server
                .refuses_at(&url, &append(&way, &[]))
                .says(&["t.csv: line 3", "row-level security"]);
            server.load_at(&url, &append(&way, &["--max-rejects", "1"])).exits(3);
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]], "{way:?}");
            server.sql("TRUNCATE t");
        }
        // Another way is taken where none is asked for.
        let run = server.load_at(&url, &["t.csv", "--max-rejects", "1", "--json"]).exits(3);
        assert_eq!(server.count("t"), 2);
        // The rows that it may not see are not counted.
        let report = run.json();
        assert_eq!(report["verify"]["ok"], false);
        assert!(report["warnings"].to_string().contains("they are not counted"), "{report}");
        server.sql("TRUNCATE t");
        let run = server.load_at(&url, &["t.csv", "--max-rejects", "1"]).exits(3);
        run.prints(&["not verified; safe on disk", "they are not counted"]);
        // Those it may not see are deleted all the same, which is said.
        server.sql("INSERT INTO t VALUES (7, 'you')");
        let empties = ["t.csv", "--if-exists", "truncate", "--max-rejects", "1"];
        let run = server.load_at(&url, &empties).exits(3);
        run.prints(&["rows that row-level security hides from this user are deleted as well"]);
        assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]]);
    });
}

/// What the login may not see it can't count either.
#[test]
fn rows_that_a_policy_hides_are_loaded_all_the_same() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.write("t.csv", "id,owner\n1,me\n2,you\n3,me\n").sql(&format!(
            "CREATE ROLE {user} LOGIN; CREATE TABLE t (id int PRIMARY KEY, owner text); CREATE TABLE child (t int REFERENCES t);
             GRANT SELECT, INSERT, DELETE ON t TO {user}; ALTER TABLE t ENABLE ROW LEVEL SECURITY;
             CREATE POLICY mine ON t FOR SELECT USING (owner = 'me');
             CREATE POLICY everything ON t FOR INSERT WITH CHECK (true); CREATE POLICY gone ON t FOR DELETE USING (true)"
        ));
        let url = server.url_of(&user);
        for way in inserting(server) {
            server.load_at(&url, &append(&way, &[])).exits(0);
            assert_eq!(server.count("t"), 3, "{way:?}");
            server
                .refuses_at(
                    &url,
                    &["t.csv", "--if-exists", "truncate", "--strategy", &way.strategy],
                )
                .says(&["row-level security"]);
            server.sql("DELETE FROM t");
        }
    });
}

#[test]
fn rows_that_a_trigger_keeps_are_not_taken_for_deleted() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE child (t int REFERENCES t); INSERT INTO t VALUES (7), (8);
             CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                RETURN CASE WHEN OLD.id <> 7 THEN OLD END; END$$;
             CREATE TRIGGER keep BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION keep()",
        );
        let truncate = ["t.csv", "--if-exists", "truncate"];
        for way in some(server.ways_into_used()) {
            server
                .refuses(&[&truncate[..], &["--strategy", &way.strategy]].concat())
                .says(&["rows of table t stay"]);
        }
        server.sql("DROP TRIGGER keep ON t; INSERT INTO child VALUES (7)");
        let run = server.refuses(&truncate);
        run.says(&["violates foreign key", "delete those first", "--if-exists append"]);
    });
}

#[test]
fn without_the_privilege_nothing_happens_and_that_is_said() {
    for_each_server(|server| {
        let user = format!("{}_user", server.database);
        let _gone = OnDrop(|| server.try_sql(&format!("DROP OWNED BY {user}; DROP ROLE {user}")));
        server.write("t.csv", "id\n1\n").sql(&format!(
            "CREATE ROLE {user} LOGIN; CREATE TABLE t (id int); GRANT SELECT ON t TO {user}"
        ));
        let url = server.url_of(&user);
        server.refuses_at(&url, &["t.csv"]).says(&["permission denied", "privilege"]);
        // Since version 15 not everybody may make tables in schema public.
        server
            .refuses_at(&url, &["t.csv", "--table", "new"])
            .says(&["permission denied", "privilege"]);
        server.sql(&format!("GRANT INSERT ON t TO {user}")).load_at(&url, &["t.csv"]).exits(0);
        assert_eq!(server.query("SELECT * FROM t"), rows![[1]]);
        server.sql(&format!("CREATE TABLE unseen (id int); GRANT INSERT ON unseen TO {user}"));
        server
            .refuses_at(&url, &["t.csv", "--table", "unseen"])
            .says(&["permission denied", "takes SELECT"]);
    });
}

#[test]
fn tables_in_schemas() {
    for_each_server(|server| {
        server
            .write("t.csv", "id\n1\n")
            .sql("CREATE SCHEMA sales; CREATE SCHEMA \"Odd.Schema\"; CREATE TABLE t (id int)");
        for way in some(server.ways_into_new()) {
            for table in ["sales.t", "\"Odd.Schema\".\"Some.Table\"", "sales.\"T \"\"x\"\"\""] {
                let load =
                    ["t.csv", "--table", table, "--verify", "checksum", "--primary-key", "id"];
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                let name = if table == "sales.t" { "sales.t" } else { table };
                assert_eq!(server.query(&format!("SELECT * FROM {name}")), rows![[1]], "{way:?}");
                let again = ["t.csv", "--table", table, "--if-exists", "replace"];
                server.load(&[&again[..], &way.options()].concat()).exits(0);
                server.sql(&format!("DROP TABLE {name}"));
            }
        }
        server
            .refuses(&["t.csv", "--table", "nowhere.t"])
            .says(&["schema nowhere", "CREATE SCHEMA"]);
        for wrong in ["a.b.c", "\"a", "a."] {
            server.misused(&["t.csv", "--table", wrong]).says(&["--table"]);
        }
        assert_eq!(server.tables(), ["t"]);
    });
}

#[test]
fn the_search_path_says_which_table() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").write("new.csv", "id\n2\n").sql(
            "CREATE SCHEMA first; CREATE SCHEMA second; CREATE TABLE second.t (id int); CREATE TABLE public.t (id int)",
        );
        server.sql(&format!(
            "ALTER DATABASE {} SET search_path = missing, first, second, public",
            server.database
        ));
        for way in some(server.ways_into_used()) {
            server.load(&append(&way, &[])).exits(0);
            server.load(&[&["new.csv"], &way.options()[..]].concat()).exits(0);
            assert_eq!(server.query("SELECT * FROM second.t"), rows![[1]], "{way:?}");
            assert_eq!(server.query("SELECT * FROM first.new"), rows![[2]], "{way:?}");
            assert_eq!(server.number("SELECT count(*) FROM public.t"), 0);
            server.sql("TRUNCATE second.t; DROP TABLE first.new");
        }
        // A table that goes with the load's own session is none.
        let path = "pg_temp, missing, first";
        server.sql(&format!("ALTER DATABASE {} SET search_path = {path}", server.database));
        server.load(&["new.csv"]).exits(0);
        assert_eq!(server.query("SELECT * FROM first.new"), rows![[2]]);
        for path in ["missing", "pg_temp"] {
            server.sql(&format!("ALTER DATABASE {} SET search_path = {path}", server.database));
            server.refuses(&["t.csv"]).says(&["search path", "--table"]);
        }
    });
}

#[test]
fn objects_of_the_users_that_are_called_like_the_servers_own() {
    for_each_server(|server| {
        // Whoever may create functions in a schema of the search path could have them called by others.
        server.write("t.csv", "id,name\n1,a\n").sql(
            "CREATE SCHEMA trap; CREATE FUNCTION trap.count(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
             CREATE FUNCTION trap.current_setting(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
             CREATE FUNCTION trap.quote_literal(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
             CREATE FUNCTION trap.string_agg(text, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
             CREATE FUNCTION trap.eq(name, text) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
             CREATE TABLE trap.pg_class (oid int); CREATE TABLE trap.pg_attribute (oid int); CREATE TYPE trap.int8 AS (a int)",
        );
        server
            .sql(&format!("ALTER DATABASE {} SET search_path = trap, pg_catalog", server.database));
        for way in some(server.ways_into_new()) {
            let load =
                ["t.csv", "--table", "public.t", "--verify", "checksum", "--primary-key", "id"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            server
                .load(
                    &[
                        &["t.csv", "--table", "public.t", "--if-exists", "truncate"],
                        &way.options()[..2],
                    ]
                    .concat(),
                )
                .exits(0);
            assert_eq!(server.query("SELECT * FROM public.t"), rows![[1, "a"]], "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn tables_of_other_kinds() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n");
        for way in some(server.ways_into_used()) {
            server.sql("CREATE UNLOGGED TABLE t (id int)").load(&append(&way, &[])).exits(0);
            assert_eq!(server.count("t"), 2, "{way:?}");
            server.drop_table("t");
        }
        server.sql("CREATE UNLOGGED TABLE t (id int)");
        // What a crash would empty is not durable.
        server.misused(&["t.csv", "--durability", "durable"]).says(&["durab"]);
        // Nor is what some of its partitions lose.
        server.sql(
            "DROP TABLE t; CREATE TABLE t (id int) PARTITION BY LIST (id);
             CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE UNLOGGED TABLE t2 PARTITION OF t DEFAULT",
        );
        server
            .misused(&["t.csv", "--durability", "durable"])
            .says(&["a partition that is UNLOGGED"]);
        server.sql("CREATE TABLE ruled (id int); CREATE RULE r AS ON INSERT TO ruled DO ALSO DELETE FROM t");
        server.write("ruled.csv", "id\n1\n");
        for way in copying(server) {
            let load = [&["ruled.csv"], &way.options()[..]].concat();
            server.misused(&load).says(&["rules"]);
        }
    });
}

#[test]
fn tables_that_inherit_keep_their_rows() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        server.sql(
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE child () INHERITS (t);
             INSERT INTO t VALUES (7); INSERT INTO child VALUES (8)",
        );
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        let rows = server.query("SELECT id, tableoid::regclass FROM t ORDER BY id");
        assert_eq!(rows, rows![["1", "t"], ["8", "child"]]);
    });
}

#[test]
fn columns_whose_names_differ_in_case_alone_are_two() {
    for_each_server(|server| {
        server.write("t.csv", "ID,n\n1,2\n");
        // A range does not go in binary; but it gets no value.
        server.sql("CREATE TABLE t (id int4range DEFAULT 'empty', \"ID\" int PRIMARY KEY, n int)");
        server.load(&["t.csv", "--strategy", "copy-binary"]).exits(0);
        assert_eq!(server.query("SELECT id, \"ID\", n FROM t"), rows![["empty", "1", "2"]]);
    });
}

#[test]
fn what_has_the_tables_name_is_found_before_the_rows_are_sent() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        for taken in ["CREATE SEQUENCE t", "CREATE TYPE t AS ENUM ('a')"] {
            server.sql(taken);
            server.refuses(&["t.csv"]).says(&["'t'", "already"]);
            server.sql("DROP SEQUENCE IF EXISTS t; DROP TYPE IF EXISTS t");
        }
        server.sql("CREATE VIEW t AS SELECT 1 AS id");
        server.refuses(&["t.csv", "--if-exists", "replace"]).says(&["view"]);
    });
}

#[test]
fn what_a_replaced_table_had_is_listed() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n");
        server.sql(
            "CREATE TABLE parent (id int PRIMARY KEY); \
             CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL DEFAULT 'x' CHECK (name <> ''), n int UNIQUE REFERENCES parent, \
               twice int GENERATED ALWAYS AS (n * 2) STORED); \
             CREATE INDEX t_name ON t (name DESC) WHERE n > 0; COMMENT ON TABLE t IS 'mine'",
        );
        server.plan(&["t.csv", "--if-exists", "replace"]).exits(0).prints(&[
            "--if-exists replace drops what the old table had: PRIMARY KEY (id), NOT NULL on name, DEFAULT 'x'::text of name, \
             the generated column twice, CHECK ((name <> ''::text)), UNIQUE (n), FOREIGN KEY (n) REFERENCES parent(id), \
             INDEX t_name (name DESC) WHERE (n > 0), comments (--if-exists truncate keeps it)",
        ]);
        server.sql("DROP TABLE t, parent");
    });
}

/// It would be one table less to whoever reads the other.
#[test]
fn a_table_that_is_part_of_another_is_not_replaced() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").sql(
            "CREATE TABLE p (id int) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF p FOR VALUES FROM (0) TO (9);
             CREATE TABLE parent (id int); CREATE TABLE heir () INHERITS (parent)",
        );
        let url = server.url();
        for (table, words) in [("part", "is a partition of p"), ("heir", "inherits from parent")] {
            let load = ["t.csv", "--table", table, "--if-exists", "replace"];
            server.refuses(&load).says(&[words, "--if-exists truncate"]);
            let begin = ["job", "begin", &url, "--like", "t.csv"];
            server
                .leaves_everything(|| server.inrush(&[&begin[..], &load[1..]].concat()).exits(1))
                .says(&[words]);
            server.load(&["t.csv", "--table", table, "--if-exists", "truncate"]).exits(0);
        }
        assert_eq!(server.query("SELECT * FROM p UNION ALL SELECT * FROM parent"), rows![[1], [1]]);
    });
}

#[test]
fn partitions_go_with_a_replaced_table_and_that_is_said() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").sql(
            "CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (9);
             CREATE TABLE high PARTITION OF t FOR VALUES FROM (9) TO (99) PARTITION BY LIST (id);
             CREATE TABLE nine PARTITION OF high FOR VALUES IN (9)",
        );
        let replace = ["t.csv", "--if-exists", "replace"];
        let lost = "the old table had: PARTITION BY RANGE (id), PARTITION ";
        server.plan(&replace).exits(0).prints(&[lost, "PARTITION low", "PARTITION nine"]);
        server.sql("CREATE VIEW v AS SELECT id FROM nine");
        server.refuses(&replace).says(&["others depend on it: view v"]);
        server.sql("DROP VIEW v").load(&replace).exits(0).prints(&[lost]);
        assert_eq!(server.tables(), ["t"]);
    });
}

/// What would be found out when all rows are there is found out before the first.
#[test]
fn a_table_that_others_depend_on_is_not_replaced() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY, up int REFERENCES t, CHECK (up < id)); INSERT INTO t VALUES (7);
             CREATE INDEX ON t ((up + id)); CREATE POLICY own ON t USING (id > (SELECT min(s.id) FROM t s)); CREATE STATISTICS s ON id, up FROM t",
        );
        let replace = ["t.csv", "--if-exists", "replace"];
        for (make, drop, what) in [
            ("CREATE VIEW v AS SELECT id, up FROM t", "DROP VIEW v", "view v"),
            (
                "CREATE TABLE child (t int REFERENCES t); INSERT INTO child VALUES (7)",
                "DROP TABLE child",
                "constraint child_t_fkey on table child",
            ),
            ("CREATE TABLE heir () INHERITS (t)", "DROP TABLE heir", "table heir"),
            ("CREATE TABLE u (whole t)", "DROP TABLE u", "column whole of table u"),
            (
                "CREATE TABLE u (id int); CREATE RULE r AS ON INSERT TO u DO ALSO INSERT INTO t VALUES (NEW.id)",
                "DROP TABLE u",
                "rule r of table u",
            ),
        ] {
            server.sql(make);
            let run = server.refuses(&replace).says(&[&format!("others depend on it: {what}")]);
            let truncates = run.stderr.contains("--if-exists truncate");
            assert_eq!(truncates, !what.contains("child"), "{run:?}");
            let url = server.url();
            server.inrush(&[&["plan", "t.csv", &url][..], &replace[1..]].concat()).exits(1);
            server.sql(drop);
        }
        server.plan(&replace).exits(0);
        server.load(&replace).exits(0);
    });
}

#[test]
fn what_a_replaced_table_was_part_of_is_listed_and_its_owner_stays() {
    for_each_server(|server| {
        let (app, other) =
            (format!("{}_app", server.database), format!("{}_other", server.database));
        let _gone = OnDrop(|| {
            for role in [&app, &other] {
                server.try_sql(&format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}"));
            }
        });
        server.write("t.csv", "id,name\n1,a\n").sql(&format!(
            "CREATE ROLE {app} LOGIN; CREATE ROLE {other} LOGIN; GRANT ALL ON SCHEMA public TO {app}; ALTER SCHEMA public OWNER TO {other};
             CREATE UNLOGGED TABLE t (id int, name text) WITH (fillfactor = 50); CREATE STATISTICS s ON id, name FROM t;
             ALTER TABLE t ALTER name SET STATISTICS 7; ALTER TABLE t REPLICA IDENTITY FULL; ALTER TABLE t ENABLE ROW LEVEL SECURITY;
             GRANT SELECT (id) ON t TO {other}; ALTER TABLE t OWNER TO {app}"
        ));
        let replace = ["t.csv", "--if-exists", "replace"];
        server.plan(&replace).exits(0).prints(&[
            "drops what the old table had: privileges granted on id, REPLICA IDENTITY, STATISTICS s, SET STATISTICS of name, \
             UNLOGGED, WITH (fillfactor=50), ROW LEVEL SECURITY (--if-exists truncate keeps it)",
        ]);
        let owner = "SELECT tableowner FROM pg_tables WHERE tablename = 't'";
        for lanes in ["1", "2"] {
            server
                .load(&[&replace[..], &["--lanes", lanes, "--chunk-size", "1k"]].concat())
                .exits(0);
            assert_eq!(server.query(owner), rows![[app.as_str()]]);
        }
        server.sql("CREATE PUBLICATION p FOR TABLE t");
        server.plan(&replace).exits(0).prints(&["the old table had: its place in PUBLICATION p ("]);
        // The schema's owner may drop it, and is not the one to give it back.
        server.sql("DROP PUBLICATION p; GRANT SELECT ON t TO public");
        let url = server.url_of(&other);
        server
            .inrush(&[&["plan", "t.csv", &url][..], &replace[1..]].concat())
            .exits(0)
            .prints(&[&format!("its owner {app}")]);
        server.load_at(&url, &replace).exits(0);
        assert_eq!(server.query(owner), rows![[other.as_str()]]);
        server.sql("DROP TABLE t; ALTER SCHEMA public OWNER TO postgres");
    });
}

/// The code is the choice of the trigger's author, and may be one of the server's own.
#[test]
fn a_row_that_raise_refuses_is_a_bad_row_whatever_its_code() {
    for_each_server(|server| {
        let codes = ["42501", "55000", "0A000", "XX000", "40001", "57014", "2200H", "22P04"];
        let bad: String = codes.iter().map(|code| format!("2,{code}\n")).collect();
        server.write("t.csv", format!("id,code\n1,\n{bad}3,\n")).sql(
            "CREATE TABLE t (id int, code text);
             CREATE FUNCTION refuses() RETURNS trigger LANGUAGE plpgsql AS
                 $$BEGIN IF NEW.id = 2 THEN RAISE 'no two' USING ERRCODE = NEW.code; END IF; RETURN NEW; END$$;
             CREATE TRIGGER refuses BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION refuses()",
        );
        for way in some(server.ways_into_used()) {
            server.refuses(&append(&way, &[])).says(&["t.csv: line 3", "no two", codes[0]]);
            server.load(&append(&way, &["--max-rejects", "8"])).exits(3);
            let notes = json_lines(&server.read("t.rejects.csv.jsonl"));
            for (note, code) in notes.iter().zip(codes) {
                let message = note["message"].as_str().unwrap();
                assert!(message.contains("no two") && message.contains(code), "{message} {way:?}");
            }
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]], "{way:?}");
            server.sql("TRUNCATE t");
        }
    });
}

#[test]
fn a_trigger_that_does_not_work_is_named() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n2\n").sql(
            "CREATE TABLE t (id int);
             CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS
                 $$BEGIN EXECUTE 'COPY t TO STDOUT'; RETURN NEW; END$$;
             CREATE TRIGGER broken BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION broken()",
        );
        let run = server.refuses(&["t.csv"]).says(&["broken() line 1"]);
        assert!(!run.stderr.contains("copy-text"), "{}", run.stderr);
    });
}

#[test]
fn a_value_that_its_type_refuses_without_a_code_is_a_bad_row() {
    for_each_server(|server| {
        server.write("t.csv", "id,h\n1,a=>b\n2,garbage\n3,c=>d\n");
        server.sql("CREATE EXTENSION hstore; CREATE TABLE t (id int, h hstore)");
        server.refuses(&["t.csv"]).says(&["t.csv: line 3", "column h"]);
        server.load(&["t.csv", "--max-rejects", "1"]).exits(3);
        assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]]);
        // A schema that does not exist.
        server
            .write("t.csv", "r\nint4\nnosuch.t\n")
            .drop_table("t")
            .sql("CREATE TABLE t (r regtype)");
        server.refuses(&["t.csv"]).says(&["t.csv: line 3", "column r"]);
    });
}

/// The second half of a booking may come in a later statement.
#[test]
fn constraint_triggers_that_can_wait_see_all_rows() {
    for_each_server(|server| {
        let pad = "x".repeat(size(100, 5_000));
        let rows = |amount: i64| -> String {
            (0..2_000).map(|tx| format!("{tx},{amount},{pad}\n")).collect()
        };
        let (debits, credits) = (rows(-5), rows(5));
        server.write("t.csv", format!("tx,amt,memo\n{debits}{credits}"));
        server.write("bad.csv", format!("tx,amt,memo\n{debits}{credits}7,1,late\n"));
        server.sql(
            "CREATE TABLE t (tx int, amt int, memo text); CREATE INDEX ON t (tx);
             CREATE FUNCTION balanced() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF (SELECT sum(amt) FROM t WHERE tx = new.tx) <> 0 THEN RAISE EXCEPTION 'tx % is unbalanced', new.tx; END IF;
                RETURN NULL; END $$",
        );
        let _function = OnDrop(|| {
            server.sql("DROP TABLE IF EXISTS t; DROP FUNCTION balanced");
        });
        for waits in ["DEFERRABLE", "DEFERRABLE INITIALLY DEFERRED"] {
            server.sql(&format!(
                "CREATE CONSTRAINT TRIGGER \"Sum it\" AFTER INSERT ON t {waits} FOR EACH ROW EXECUTE FUNCTION balanced()"
            ));
            for way in some(server.ways_into_used()) {
                // In pieces that come by themselves, where the server lets them.
                let small: &[&str] = match way.is("prepared") || way.is("row-sql") {
                    true => &[],
                    false => &["--set", "rows_per_statement=500"],
                };
                server.load(&append(&way, small)).exits(0);
                assert_eq!(server.count("t"), 4_000, "{way:?} {waits}");
                let append = ["bad.csv", "--table", "t", "--if-exists", "append"];
                server
                    .refuses(&[&append[..], &way.options()[..], small].concat())
                    .says(&["tx 7 is unbalanced", "checked when all rows are in"]);
                server.sql("TRUNCATE t");
            }
            // The row is known only where each statement is asked.
            let some_bad = ["t.csv", "--if-exists", "append", "--max-rejects", "1"];
            server.plan(&some_bad).exits(0).prints(&["\"Sum it\" is asked after each statement"]);
            server.sql("DROP TRIGGER \"Sum it\" ON t");
        }
    });
}
