use crate::fixture::{json_lines, size, some};

use super::server::{Server, Way, for_each_server, rows};

#[test]
fn a_primary_key_is_declared_and_kept() {
    for_each_server(|server| {
        server.write("t.csv", "id,code,name\n2,x,a\n1,x,b\n3,y,c\n2,z,d\n");
        let key = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'p'";
        for way in some(server.ways_into_new()) {
            let load = [&["t.csv"], &way.options()[..], &["--primary-key"]].concat();
            server
                .refuses(&[&load[..], &["id"]].concat())
                .says(&["t.csv: line 5, column id", "23505"]);
            server.load(&[&load[..], &["code,id"]].concat()).exits(0);
            assert_eq!(server.query(key), rows![["t_pkey", "PRIMARY KEY (code, id)"]], "{way:?}");
            server.drop_table("t");
            server.load(&[&load[..], &["ID", "--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.query("SELECT name FROM t ORDER BY id"), rows![["b"], ["a"], ["c"]]);
            assert_eq!(server.query(key), rows![["t_pkey", "PRIMARY KEY (id)"]], "{way:?}");
            assert_eq!(server.read("t.rejects.csv"), b"id,code,name\n2,z,d\n", "{way:?}");
            server.drop_table("t");
        }
        server.misused(&["t.csv", "--primary-key", "idd"]).says(&["idd"]);
    });
}

/// Whatever index there is besides, and as the message says it is one afterwards.
#[test]
fn rows_are_compared_by_no_key_that_is_deferrable() {
    for_each_server(|server| {
        server.sql(
            "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, a int, b int, \
             CONSTRAINT \"t key\" UNIQUE (a, b) DEFERRABLE, c int UNIQUE)",
        );
        server.write("t.csv", "id,a,b,c\n1,1,1,1\n");
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        let says = |key: &[&str], cure: &str| {
            let run = server.refuses(&[&load[..], key].concat());
            run.says(&["is DEFERRABLE", cure]);
        };
        let primary = "ALTER TABLE \"public\".\"t\" DROP CONSTRAINT \"t_pkey\", ADD CONSTRAINT \"t_pkey\" PRIMARY KEY (\"id\")";
        let unique = "ALTER TABLE \"public\".\"t\" DROP CONSTRAINT \"t key\", ADD CONSTRAINT \"t key\" UNIQUE (\"a\", \"b\")";
        says(&[], primary);
        says(&["--key", "id"], primary);
        says(&["--key", "b,a"], unique);
        server.sql("CREATE UNIQUE INDEX ON t (id)");
        says(&["--key", "id"], primary);
        server.load(&[&load[..], &["--key", "c"]].concat()).exits(0);
        server.sql(primary);
        server.sql(unique);
        server.load(&load).exits(0);
        server.load(&[&load[..], &["--key", "a,b"]].concat()).exits(0);
        assert_eq!(server.count("t"), 1);
        // The statement is for the table of the load, whatever the search path.
        server.sql("CREATE SCHEMA q2; CREATE TABLE q2.t (id int PRIMARY KEY DEFERRABLE, a int, b int, c int)");
        let load = [&load[..], &["--table", "q2.t"]].concat();
        server.refuses(&load).says(&[&primary.replace("public", "q2")]);
    });
}

#[test]
fn a_null_in_the_primary_key_is_a_bad_row() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n,b\n3,c\n");
        for way in some(server.ways_into_new()) {
            let load = [&["t.csv", "--primary-key", "id"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3, column id", "NULL"]);
        }
    });
}

#[test]
fn keys_differ_when_their_text_does() {
    for_each_server(|server| {
        server
            .write("t.csv", "code,n\na,1\nA,2\n\u{e1},3\n\"a \",4\n\"\",5\n\u{df},6\nss,7\na,8\n");
        for way in some(server.ways_into_new()) {
            for key in ["code", "code,n"] {
                let load = ["t.csv", "--primary-key", key, "--max-rejects", "1"];
                let again = key == "code";
                server.load(&[&load[..], &way.options()].concat()).exits(if again { 3 } else { 0 });
                assert_eq!(server.count("t"), if again { 7 } else { 8 }, "{way:?}");
                server.drop_table("t");
            }
            assert_eq!(server.read("t.rejects.csv"), b"code,n\na,8\n", "{way:?}");
        }
    });
}

/// Values of a query have no types of a table's columns by themselves, and the row that is to be inserted is seen by triggers and CHECKs.
#[test]
fn columns_that_an_update_leaves_are_those_of_the_row_with_its_key() {
    for_each_server(|server| {
        let header = "code,price,ok,doc,dom,amount,small\n";
        server.write(
            "in.csv",
            format!("{header}abc,1.5,true,\"{{}}\",7,2.25,1\nx,,,,1,,\nABD,NaN,false,null,8,-1,2\nabc,2,true,{{}},9,2.25,3\n"),
        );
        let update = ["--table", "t", "--if-exists", "append", "--on-conflict", "update"];
        let by = ["--key", "code", "--max-rejects", "1"];
        for way in some(server.ways_into_used()) {
            server.drop_table("t").sql(
                "DROP DOMAIN IF EXISTS positive;
                 CREATE DOMAIN positive AS integer NOT NULL CHECK (VALUE > 0);
                 CREATE TABLE t (id integer PRIMARY KEY, name varchar(9) NOT NULL, code char(3) NOT NULL UNIQUE, price float8, ok boolean, \
                 doc jsonb, dom positive, amount numeric(6,2), small smallint, \"Qty\" integer NOT NULL CHECK (\"Qty\" > small));
                 INSERT INTO t VALUES (1, 'a', 'abc', 0, NULL, NULL, 1, 0, 0, 5), (2, 'b', 'ABD', 0, NULL, NULL, 1, 0, 0, 6)",
            );
            server.load(&[&["in.csv"], &update[..], &by, &way.options()].concat()).exits(3);
            let aside = format!("{header}x,,,,1,,\n");
            assert_eq!(server.read("in.rejects.csv"), aside.as_bytes(), "{way:?}");
            let rows = "SELECT id, name, code, price, ok, doc, dom, amount, small, \"Qty\" FROM t ORDER BY id";
            let stored = rows![
                [1, "a", "abc", 2, "t", "{}", 9, "2.25", 3, 5],
                [2, "b", "ABD", "NaN", "f", "null", 8, "-1.00", 2, 6]
            ];
            assert_eq!(server.query(rows), stored, "{way:?}");
        }
        server.drop_table("t").sql("DROP DOMAIN positive");
    });
}

#[test]
fn unique_keys_of_every_kind_are_all_kept() {
    for_each_server(|server| {
        server.write(
            "t.csv",
            "id,code,mail,state\n1,a,X,on\n2,a,y,\n3,c,x,\n4,d,,on\n5,e,,\n1,f,z,\n6,g,,\n",
        );
        for way in some(server.ways_into_used()) {
            server.sql(
                "CREATE TABLE t (id int PRIMARY KEY, code char(3) UNIQUE, mail varchar(9), state text);
                 CREATE UNIQUE INDEX by_mail ON t (lower(mail)); CREATE UNIQUE INDEX only_one ON t (state) WHERE state = 'on'",
            );
            let load = [&["t.csv", "--max-rejects", "4"], &way.options()[..]].concat();
            server.load(&load).exits(3);
            assert_eq!(
                server.read("t.rejects.csv"),
                b"id,code,mail,state\n2,a,y,\n3,c,x,\n4,d,,on\n1,f,z,\n",
                "{way:?}"
            );
            assert_eq!(
                server.query("SELECT id FROM t ORDER BY id"),
                rows![[1], [5], [6]],
                "{way:?}"
            );
            server.drop_table("t");
        }
    });
}

/// Two existing rows, and a file that meets both, adds one, and names one key twice.
fn meeting(server: &Server, way: &Way, answer: &str, more: &[&str]) -> serde_json::Value {
    server.drop_table("t").sql(
        "CREATE TABLE t (id int PRIMARY KEY, name varchar(9), size double precision DEFAULT 0.5);
         INSERT INTO t VALUES (1, 'old', 1), (2, 'old', 2)",
    );
    server.write("t.csv", "id,name\n1,new\n2,\n3,c\n3,cc\n");
    let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
    server.report(&[&load[..], more, &way.options()].concat())
}

#[test]
fn on_conflict_skip_leaves_the_row_that_is_there() {
    for_each_server(|server| {
        for way in some(server.ways_into_used()) {
            let report = meeting(server, &way, "skip", &[]);
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
    for_each_server(|server| {
        for way in some(server.ways_into_used()) {
            let report = meeting(server, &way, "update", &[]);
            let stored = rows![[1, "new", 1], [2, (), 2], [3, "cc", "0.5"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            assert_eq!(report["rows_loaded"], 4, "{way:?}");
            // As the row with the key is called within the statement.
            server.drop_table("excluded").sql(
                "CREATE TABLE excluded (id int PRIMARY KEY, name text); INSERT INTO excluded VALUES (1, 'old')",
            );
            let load = ["t.csv", "--table", "excluded", "--if-exists", "append"];
            let update = ["--on-conflict", "update"];
            server.load(&[&load[..], &update, &way.options()].concat()).exits(0);
            let stored = rows![[1, "new"], [2, ()], [3, "cc"]];
            assert_eq!(server.query("SELECT * FROM excluded ORDER BY id"), stored, "{way:?}");
            // A file of keys alone changes nothing of them.
            server.write("k.csv", "id\n1\n4\n");
            let load = ["k.csv", "--table", "excluded", "--if-exists", "append"];
            server.load(&[&load[..], &update, &way.options()].concat()).exits(0);
            let stored = rows![[1, "new"], [2, ()], [3, "cc"], [4, ()]];
            assert_eq!(server.query("SELECT * FROM excluded ORDER BY id"), stored, "{way:?}");
        }
    });
}

/// A key that compares as equal is spelt as the file has it where the row is replaced, and as it was where it is updated.
#[test]
fn a_replaced_row_has_its_key_as_the_file_spells_it() {
    for_each_server(|server| {
        server.sql("CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        server.write("t.csv", "name,n,v\nAnn,1.50,1\nANN,1.5,2\n");
        for (how, name, n) in [("replace", "ANN", "1.5"), ("update", "ann", "1.500")] {
            for strategy in some(vec!["copy-binary", "values", "unnest"]) {
                server.sql(
                    "CREATE TABLE t (name text COLLATE alike, n numeric, v int, PRIMARY KEY (name, n));
                     INSERT INTO t VALUES ('ann', 1.500, 0)",
                );
                let load = ["t.csv", "--if-exists", "append", "--on-conflict", how];
                let load = [&load[..], &["--strategy", strategy]].concat();
                server.load(&[&load[..], &["--set", "rows_per_statement=1"]].concat()).exits(0);
                assert_eq!(
                    server.query("SELECT * FROM t"),
                    rows![[name, n, 2]],
                    "{how} {strategy}"
                );
                server.drop_table("t");
            }
        }
    });
}

#[test]
fn on_conflict_replace_makes_the_row_anew() {
    for_each_server(|server| {
        for way in some(server.ways_into_used()) {
            meeting(server, &way, "replace", &[]);
            let stored = rows![[1, "new", "0.5"], [2, (), "0.5"], [3, "cc", "0.5"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
        }
    });
}

#[test]
fn many_repeats_in_one_chunk_and_over_chunks() {
    for_each_server(|server| {
        let text: String =
            (0..1500).map(|line| format!("{},line {line}\n", line * 7 % 500)).collect();
        server.write("t.csv", format!("id,name\n{text}"));
        for way in some(server.ways_into_used()) {
            for (answer, first) in [("skip", true), ("update", false), ("replace", false)] {
                server.drop_table("t").sql("CREATE TABLE t (id int PRIMARY KEY, name text)");
                let load = ["t.csv", "--on-conflict", answer];
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                // Every 500 lines the keys begin again.
                let from = if first { 0 } else { 1000 };
                let right: String = "SELECT count(*), count(*) FILTER (WHERE name = 'line ' || line) FROM t JOIN \
                     (SELECT line, line * 7 % 500 AS id FROM generate_series(FROM, FROM + 499) line) l USING (id)"
                    .replace("FROM,", &format!("{from},"))
                    .replace("FROM + 499", &(from + 499).to_string());
                assert_eq!(server.query(&right), rows![[500, 500]], "{answer} {way:?}");
            }
        }
    });
}

#[test]
fn null_in_a_unique_key_meets_nothing() {
    for_each_server(|server| {
        server.write("t.csv", "code,name\n,a\n,b\nx,c\nx,d\n");
        for way in some(server.ways_into_used()) {
            for (answer, x) in [("skip", "c"), ("update", "d"), ("replace", "d")] {
                server.drop_table("t").sql("CREATE TABLE t (code text UNIQUE, name text); INSERT INTO t VALUES (NULL, 'old'), ('x', 'old')");
                let load =
                    ["t.csv", "--if-exists", "append", "--on-conflict", answer, "--key", "code"];
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                let x = if answer == "skip" { "old" } else { x };
                let stored = rows![["a"], ["b"], ["old"], [x]];
                assert_eq!(
                    server.query("SELECT name FROM t ORDER BY code IS NOT NULL, name"),
                    stored,
                    "{answer} {way:?}"
                );
            }
        }
    });
}

#[test]
fn an_answer_to_conflicts_hides_no_other_fault() {
    for_each_server(|server| {
        server.write(
            "t.csv",
            "id,name\n1,new\n2,too long a name\n,c\nx,d\n3,e\n99999999999,f\n4,no\n",
        );
        for answer in ["skip", "update", "replace"] {
            for way in some(server.ways_into_used()) {
                server.drop_table("t").sql(
                    "CREATE TABLE t (id int PRIMARY KEY, name varchar(9) CHECK (name <> 'no')); INSERT INTO t VALUES (1, 'old')",
                );
                let load = [
                    "t.csv",
                    "--if-exists",
                    "append",
                    "--on-conflict",
                    answer,
                    "--max-rejects",
                    "5",
                ];
                server.load(&[&load[..], &way.options()].concat()).exits(3);
                let name = if answer == "skip" { "old" } else { "new" };
                let stored = rows![[1, name], [3, "e"]];
                assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{answer} {way:?}");
                let rejects = b"id,name\n2,too long a name\n,c\nx,d\n99999999999,f\n4,no\n";
                assert_eq!(server.read("t.rejects.csv"), rejects, "{answer} {way:?}");
            }
        }
    });
}

#[test]
fn of_several_unique_keys_one_answers_and_the_others_are_kept() {
    for_each_server(|server| {
        server.write("t.csv", "id,code\n1,c\n3,b\n4,d\n");
        for way in some(server.ways_into_used()) {
            for (answer, code) in [("skip", "a"), ("update", "c"), ("replace", "c")] {
                server.drop_table("t").sql(
                    "CREATE TABLE t (id int PRIMARY KEY, code char(3) UNIQUE); INSERT INTO t VALUES (1, 'a'), (2, 'b')",
                );
                let load =
                    ["t.csv", "--if-exists", "append", "--on-conflict", answer, "--key", "id"];
                let load = [&load[..], &way.options()].concat();
                server.refuses(&load).says(&["t.csv: line 3", "t_code_key"]);
                server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
                let stored = rows![[1, code], [2, "b"], [4, "d"]];
                assert_eq!(
                    server.query("SELECT id, trim(code) FROM t ORDER BY id"),
                    stored,
                    "{answer} {way:?}"
                );
                assert_eq!(server.read("t.rejects.csv"), b"id,code\n3,b\n", "{answer} {way:?}");
            }
        }
        // Without a key there is nothing to meet.
        server.drop_table("t").sql(
            "CREATE TABLE t (id int, code char(3)); CREATE UNIQUE INDEX ON t (id) WHERE id > 0",
        );
        let load = ["t.csv", "--on-conflict", "skip", "--key", "id"];
        server.leaves_everything(|| {
            let run = server.load(&load).ends_with_nothing_changed();
            assert_ne!(run.status.code(), Some(0));
        });
    });
}

#[test]
fn a_table_that_a_view_needs_is_not_replaced_but_truncated() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n1,a\n").sql(
            "CREATE TABLE t (id int, name text); INSERT INTO t VALUES (7, 'old'); CREATE VIEW v AS SELECT id FROM t",
        );
        for way in some(server.ways_into_new()) {
            let load = [&["t.csv", "--if-exists", "replace"], &way.options()[..]].concat();
            server.refuses(&load).says(&["view v", "--if-exists truncate"]);
        }
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT * FROM v"), rows![[1]]);
    });
}

#[test]
fn repeated_keys_among_rows_that_triggers_change_or_drop() {
    for_each_server(|server| {
        let row = |n: usize| match n {
            40 => "K7,again".to_owned(),
            90 => "k20,again".to_owned(),
            150 => "drop me,150".to_owned(),
            160 => "k159,again".to_owned(),
            _ => format!("K{n},{n}"),
        };
        let file: String = (1..=200).map(|n| row(n) + "\n").collect();
        server.write("t.csv", format!("code,n\n{file}"));
        server.sql(
            "CREATE FUNCTION lower_or_drop() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                IF NEW.code = 'drop me' THEN RETURN NULL; END IF; NEW.code = lower(NEW.code); RETURN NEW; END$$",
        );
        for way in some(server.ways_into_used()) {
            for chunk in ["1k", "1M"] {
                server.drop_table("t").sql(
                    "CREATE TABLE t (code text PRIMARY KEY, n text);
                     CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION lower_or_drop()",
                );
                let load = [
                    "t.csv",
                    "--strategy",
                    &way.strategy,
                    "--chunk-size",
                    chunk,
                    "--max-rejects",
                    "4",
                ];
                server.load(&load).exits(3);
                let rejects = "code,n\nK7,again\nk20,again\ndrop me,150\nk159,again\n";
                assert_eq!(
                    String::from_utf8(server.read("t.rejects.csv")).unwrap(),
                    rejects,
                    "{chunk} {way:?}"
                );
                let notes = json_lines(&server.read("t.rejects.csv.jsonl"));
                let codes: Vec<_> =
                    notes.iter().map(|note| note["code"].as_str().unwrap()).collect();
                assert_eq!(
                    codes,
                    ["duplicate-key", "duplicate-key", "constraint", "duplicate-key"],
                    "{chunk} {way:?}"
                );
                let stored =
                    server.query("SELECT count(*), count(*) FILTER (WHERE code = 'k' || n) FROM t");
                assert_eq!(stored, rows![[196, 196]], "{chunk} {way:?}");
            }
        }
    });
}

#[test]
fn the_first_bad_row_is_told_whoever_finds_it() {
    for_each_server(|server| {
        // The encoder sees line 5, only the server line 3.
        server.write("t.csv", "id,n\n1,1\n1,2\n2,3\n3,x\n4,5\n");
        let options = ["--type", "n=integer"];
        let new = [&["t.csv", "--primary-key", "id"], &options[..]].concat();
        server.refuses(&new).says(&["t.csv: line 3, column id", "23505"]);
        server.sql("CREATE TABLE t (id int PRIMARY KEY, n int)");
        server.refuses(&["t.csv"]).says(&["t.csv: line 3, column id", "23505"]);
    });
}

#[test]
fn a_row_that_a_trigger_drops_is_told_whatever_the_key() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,10\n1,11\n2,-1\n3,30\n");
        for way in some(server.ways_into_used()) {
            server.drop_table("t").sql(
                "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (3, 3);
                 CREATE OR REPLACE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS
                     $$BEGIN IF NEW.n < 0 THEN RETURN NULL; END IF; RETURN NEW; END$$;
                 CREATE TRIGGER drops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drops()",
            );
            for conflict in ["update", "replace"] {
                let load = [
                    &["t.csv", "--if-exists", "append", "--on-conflict", conflict][..],
                    &["--max-rejects", "1"],
                    &way.options(),
                ];
                server.load(&load.concat()).exits(3);
                assert_eq!(server.read("t.rejects.csv"), b"id,n\n2,-1\n", "{way:?}");
                let rows = server.query("SELECT id, n FROM t ORDER BY id");
                assert_eq!(rows, rows![["1", "11"], ["3", "30"]], "{way:?} {conflict}");
            }
        }
    });
}

/// The server counts both in the same way: not at all.
#[test]
fn a_row_that_a_trigger_drops_is_none_whose_key_is_taken() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,10\n1,11\n2,-1\n3,30\n");
        for way in some(server.ways_into_used()) {
            server.drop_table("t").sql(
                "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (3, 3);
                 CREATE OR REPLACE FUNCTION drops() RETURNS trigger LANGUAGE plpgsql AS
                     $$BEGIN IF NEW.n < 0 THEN RETURN NULL; END IF; RETURN NEW; END$$;
                 CREATE TRIGGER drops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION drops()",
            );
            let load = [
                &["t.csv", "--if-exists", "append", "--on-conflict", "skip"][..],
                &["--max-rejects", "1", "--json"],
                &way.options(),
            ]
            .concat();
            if !way.strategy.contains("copy") {
                server.misused(&load).says(&["only COPY tells"]);
                continue;
            }
            let report = server.load(&load).exits(3).json();
            assert_eq!(report["rows_skipped"], 2, "{way:?}");
            assert_eq!(server.read("t.rejects.csv"), b"id,n\n2,-1\n", "{way:?}");
            let rows = server.query("SELECT id, n FROM t ORDER BY id");
            assert_eq!(rows, rows![["1", "10"], ["3", "3"]], "{way:?}");
        }
    });
}

#[test]
fn a_key_that_holds_later_is_said_to_be_none() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n").sql("CREATE TABLE t (id int UNIQUE DEFERRABLE)");
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        server.misused(&load).says(&["needs to know the key", "of the table"]);
        server.refuses(&[&load[..], &["--key", "id"]].concat()).says(&["holds at once"]);
    });
}

#[test]
fn columns_that_count_by_themselves_keep_their_number_in_a_replaced_row() {
    for_each_server(|server| {
        server.write("t.csv", "email,name\na,new\nb,other\n");
        server.sql(
            "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, email text UNIQUE, name text);
             INSERT INTO t (email, name) VALUES ('a', 'old')",
        );
        let load = ["t.csv", "--if-exists", "append", "--key", "email", "--on-conflict", "replace"];
        server.load(&load).exits(0);
        let rows = server.query("SELECT email, name, id = 1 FROM t ORDER BY email");
        assert_eq!(rows, rows![["a", "new", "t"], ["b", "other", "f"]]);
        // Another number can't be theirs.
        server.write("t.csv", "id,email,name\n99,a,newer\n");
        for how in ["update", "replace"] {
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", how, "--key", "email"];
            server.misused(&load).says(&["column id is GENERATED ALWAYS", "--drop id"]);
        }
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update", "--key", "email"];
        server.load(&[&load[..], &["--drop", "id"]].concat()).exits(0);
        assert_eq!(
            server.query("SELECT name, id = 1 FROM t WHERE email = 'a'"),
            rows![["newer", "t"]]
        );
    });
}

#[test]
fn a_key_that_counts_and_is_not_in_the_source_finds_no_row() {
    for_each_server(|server| {
        server.write("t.csv", "email,name\na,new\n").sql(
            "CREATE TABLE t (id serial PRIMARY KEY, email text UNIQUE, name text); INSERT INTO t (email, name) VALUES ('b', 'old')",
        );
        for (way, how) in [("copy-binary", "update"), ("values", "skip"), ("unnest", "replace")] {
            let load = ["t.csv", "--if-exists", "append", "--strategy", way, "--on-conflict", how];
            server.refuses(&load).says(&["the source has no column id", "--key email"]);
            server.load(&[&load[..], &["--key", "email"]].concat()).exits(0);
            assert_eq!(server.count("t"), 2, "{way}");
        }
    });
}

#[test]
fn columns_that_differ_from_the_key_in_case_alone_are_updated() {
    for_each_server(|server| {
        server.write("t.csv", "id,ID,v\n1,new,new\n2,n2,n2\n");
        for way in some(server.ways_into_used()) {
            server.drop_table("t").sql(
                "CREATE TABLE t (id int PRIMARY KEY, \"ID\" text, v text); INSERT INTO t VALUES (1, 'old', 'old')",
            );
            let load = [
                "t.csv",
                "--match",
                "position",
                "--if-exists",
                "append",
                "--on-conflict",
                "update",
            ];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let stored = rows![[1, "new", "new"], [2, "n2", "n2"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
        }
        let other = ["t.csv", "--match", "position", "--if-exists", "append"];
        let by = ["--on-conflict", "update", "--key", "ID"];
        server.refuses(&[&other[..], &by].concat()).says(&["--key ID", "no UNIQUE"]);
    });
}

/// Texts that compare as equal are one key, and other tables may refer to it by this spelling.
#[test]
fn an_update_of_nothing_but_a_key_leaves_it_as_it_is_spelt() {
    for_each_server(|server| {
        server.write("t.csv", "k\nANN\nbob\n");
        server.sql("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        for way in some(server.ways_into_used()) {
            server.sql("DROP TABLE IF EXISTS t; CREATE TABLE t (k text COLLATE ci PRIMARY KEY); INSERT INTO t VALUES ('Ann')");
            let update = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
            server.load(&[&update[..], &way.options()].concat()).exits(0);
            assert_eq!(
                server.query("SELECT k FROM t ORDER BY k"),
                rows![["Ann"], ["bob"]],
                "{way:?}"
            );
        }
    });
}

/// Rows that are equal to the column are two to the index, or the other way round.
#[test]
fn an_index_that_compares_otherwise_than_its_column_is_no_key_of_it() {
    for_each_server(|server| {
        server.write("t.csv", "k,n\nA,1\na,2\nB,3\nb,4\n");
        server.sql("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
        let append = ["t.csv", "--if-exists", "append"];
        for way in some(server.ways_into_used()) {
            server.sql("CREATE TABLE t (k text COLLATE ci, n int); CREATE UNIQUE INDEX ON t (k COLLATE \"C\")");
            for answer in ["skip", "update", "replace"] {
                let by = ["--on-conflict", answer, "--key", "k"];
                let load = [&append[..], &by, &way.options()].concat();
                server.leaves_everything(|| server.refuses(&load)).says(&["no UNIQUE"]);
            }
            server.load(&[&append[..], &way.options()].concat()).exits(0);
            assert_eq!(server.count("t"), 4, "{way:?}");
            server.drop_table("t");
        }
        // What the server takes for the same in both is a key.
        for (column, index) in [
            ("k text", "k COLLATE \"C\""),
            ("k text", "k text_pattern_ops"),
            ("k varchar(9) COLLATE ci", "k"),
        ] {
            server.drop_table("t").sql(&format!(
                "CREATE TABLE t ({column}, n int); CREATE UNIQUE INDEX ON t ({index})"
            ));
            let by = ["--on-conflict", "update", "--key", "k"];
            server.load(&[&append[..], &by].concat()).exits(0);
            let rows = if column.contains("ci") { 2 } else { 4 };
            assert_eq!(server.count("t"), rows, "{column} {index}");
        }
    });
}

/// A statement changes no row twice, so that those which repeat a key go one after the other.
#[test]
fn a_row_is_judged_before_a_later_one_supersedes_it() {
    for_each_server(|server| {
        server.write("t.csv", "id,qty\n1,-5\n1,5\n2,7\n3,1\n3,2\n3,-1\n3,3\n");
        server.write("k.csv", "k,n\nANN,1\nbob,2\nann,3\n,4\nAnn,5\n,6\n");
        server.sql(
            "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
             CREATE TABLE log (was text);
             CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                 INSERT INTO log VALUES (OLD.n || ' to ' || NEW.n); RETURN NULL; END$$",
        );
        for way in some(server.ways_into_used()) {
            for answer in ["update", "replace"] {
                let append = ["--if-exists", "append", "--on-conflict", answer];
                server.drop_table("t").sql("CREATE TABLE t (id int PRIMARY KEY, qty int CHECK (qty >= 0)); INSERT INTO t VALUES (3, 0)");
                let load = [&["t.csv"], &append[..], &way.options()].concat();
                server.refuses(&load).says(&["t.csv: line 2", "t_qty_check"]);
                let report = [&load[..], &["--max-rejects", "2", "--json"]].concat();
                let report = server.load(&report).exits(3).json();
                assert_eq!(server.read("t.rejects.csv"), b"id,qty\n1,-5\n3,-1\n", "{way:?}");
                assert_eq!(
                    server.query("SELECT * FROM t ORDER BY id"),
                    rows![[1, 5], [2, 7], [3, 3]],
                    "{answer} {way:?}"
                );
                let counts = ["rows_loaded", "rows_inserted", "rows_updated", "rows_skipped"];
                let counts = counts.map(|name| report[name].as_u64());
                assert_eq!(counts, [Some(5), Some(2), Some(3), Some(0)], "{answer} {way:?}");

                server.drop_table("t").sql(
                    "CREATE TABLE t (k text COLLATE ci UNIQUE, n int); TRUNCATE log;
                     CREATE TRIGGER note AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION note()",
                );
                // What is replaced is spelt as the last of them.
                let name = if answer == "replace" { "Ann" } else { "ANN" };
                let by = ["k.csv", "--table", "t", "--key", "k"];
                server.load(&[&by[..], &append, &way.options()].concat()).exits(0);
                assert_eq!(
                    server.query("SELECT k, n FROM t ORDER BY n"),
                    rows![["bob", 2], [(), 4], [name, 5], [(), 6]],
                    "{answer} {way:?}"
                );
                let log = server.query("SELECT was FROM log");
                assert_eq!(log, rows![["1 to 3"], ["3 to 5"]], "{answer} {way:?}");
            }
        }
    });
}

/// Without triggers and foreign keys the rows between the first of a key and the last are looked at, and not written each.
#[test]
fn a_key_of_all_rows_takes_no_square_of_their_number() {
    for_each_server(|server| {
        let keyed = size(20_000, 60_000);
        let row = |line: usize| match line {
            10_000 => "7,-5\n".to_owned(),
            _ => format!("{},{line}\n", if line.is_multiple_of(1000) { line } else { 7 }),
        };
        let rows: String = (0..keyed).map(row).collect();
        server.write("t.csv", format!("id,qty\n{rows}")).sql(
            "CREATE TABLE t (n serial, id int PRIMARY KEY, qty int NOT NULL CHECK (qty >= 0), made timestamptz NOT NULL DEFAULT now())",
        );
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        let strategies = ["copy-binary", "copy-text"];
        for strategy in size(&strategies[..1], &strategies[..]).iter().copied() {
            let load = [&load[..], &["--strategy", strategy]].concat();
            server.refuses(&load).says(&["t.csv: line 10002", "\"t\" violates", "t_qty_check"]);
            let report = server.load(&[&load[..], &["--max-rejects", "1", "--json"]].concat());
            let report = report.exits(3).json();
            let counts = ["rows_loaded", "rows_inserted", "rows_updated"];
            let counts = counts.map(|name| report[name].as_u64().unwrap() as usize);
            assert_eq!(counts, [keyed - 1, keyed / 1000, keyed - keyed / 1000 - 1], "{strategy}");
            assert_eq!(server.number("SELECT qty FROM t WHERE id = 7"), keyed as i64 - 1);
            server.sql("TRUNCATE t");
        }
    });
}

#[test]
fn a_key_that_comes_a_thousand_times_in_a_chunk_ends_as_its_last_row() {
    for_each_server(|server| {
        let rows: String = (0..3000).map(|line| format!("{},{line}\n", line % 2)).collect();
        server.write("t.csv", format!("id,n\n{rows}")).sql(
            "CREATE TABLE t (id int PRIMARY KEY, n int, changes int DEFAULT 0);
             CREATE FUNCTION counts() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                 NEW.changes := OLD.changes + 1; RETURN NEW; END$$;
             CREATE TRIGGER counts BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION counts()",
        );
        for strategy in ["copy-binary", "copy-text"] {
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
            server.load(&[&load[..], &["--strategy", strategy]].concat()).exits(0);
            assert_eq!(
                server.query("SELECT * FROM t ORDER BY id"),
                rows![[0, 2998, 1499], [1, 2999, 1499]],
                "{strategy}"
            );
            server.sql("TRUNCATE t");
        }
    });
}

/// A row that is changed keeps what the source lacks; the same row by itself would have the default.
#[test]
fn a_row_between_is_judged_with_the_values_that_it_keeps() {
    for_each_server(|server| {
        let row = |line: i32| format!("1,{}\n", if (16..26).contains(&line) { 50 } else { 3 });
        let rows: String = (0..27).map(row).collect();
        server.write("t.csv", format!("k,a\n{rows}"));
        let tables = [
            "lim int DEFAULT 1000, CHECK (a < lim)",
            "lim int DEFAULT 1000, CHECK (t IS NULL OR (t).a < (t).lim)",
            "lim int DEFAULT 1000, g int GENERATED ALWAYS AS (a - lim) STORED CHECK (g < 0)",
        ];
        for (table, answer) in
            tables.iter().flat_map(|table| [(table, "update"), (table, "replace")])
        {
            server
                .drop_table("t")
                .sql(&format!("CREATE TABLE t (k int PRIMARY KEY, a int, {table})"));
            let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
            let strategies = ["copy-binary", "copy-text"];
            for strategy in some(strategies.to_vec()) {
                server.sql("TRUNCATE t; INSERT INTO t (k, a, lim) VALUES (1, 0, 18)");
                let rest = ["--strategy", strategy, "--max-rejects", "all", "--json"];
                let run = server.load(&[&load[..], &rest].concat());
                let rejected = if answer == "update" { 10 } else { 0 };
                let report = run.exits(if rejected > 0 { 3 } else { 0 }).json();
                let counts = ["rows_loaded", "rows_rejected"].map(|name| report[name].as_i64());
                assert_eq!(counts, [Some(27 - rejected), Some(rejected)], "{table} {strategy}");
                assert_eq!(server.query("SELECT k, a FROM t"), rows![[1, 3]], "{table} {strategy}");
            }
        }
    });
}

/// An index of an expression refuses what the expression does.
#[test]
fn a_row_between_is_judged_by_the_tables_expressions() {
    for_each_server(|server| {
        let rows: String = (0..27).map(|line| format!("1,{}\n", i32::from(line != 20))).collect();
        server.write("t.csv", format!("k,a\n{rows}"));
        server.sql("CREATE TABLE t (k int PRIMARY KEY, a int); CREATE INDEX ON t ((1 / a))");
        let load = ["t.csv", "--if-exists", "append", "--on-conflict", "update"];
        server.refuses(&load).says(&["t.csv: line 22", "division by zero"]);
    });
}

/// The server takes no ON CONFLICT with some of them, and counts as skipped what others leave out.
#[test]
fn a_table_with_rules_takes_no_answer_to_conflicts() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n1,1\n2,2\n3,3\n");
        let rules = [
            "ON INSERT TO t WHERE new.id = 2 DO INSTEAD NOTHING",
            "ON INSERT TO t DO ALSO SELECT 1",
            "ON UPDATE TO t DO ALSO SELECT 1",
        ];
        for rule in rules {
            server.drop_table("t").sql("CREATE TABLE t (id int PRIMARY KEY, n int)");
            server.sql(&format!("CREATE RULE r AS {rule}"));
            for answer in ["skip", "update", "replace"] {
                let load = ["t.csv", "--if-exists", "append", "--on-conflict", answer];
                server.refuses(&load).says(&["rules for INSERT or UPDATE", "without rules"]);
            }
        }
    });
}
