use std::fs;

use super::{STRATEGIES, fixture, lines, some_strategies, sql};
use crate::fixture::{Fixture, json_lines, size};

fn forget_rejects(fixture: &Fixture) {
    for name in fixture.names().iter().filter(|name| name.contains(".rejects.")) {
        fs::remove_file(fixture.path(name)).unwrap();
    }
}

#[test]
fn a_new_table_gets_its_key_and_indexes() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n2,b\n1,a\n");
    for strategy in STRATEGIES {
        let db = format!("{}.duckdb", &strategy[7..]);
        let load = [
            "t.csv",
            &db,
            "--strategy",
            strategy,
            "--primary-key",
            "ID",
            "--index",
            "name",
            "--index",
            "name,id",
        ];
        fixture.load(&load).exits(0);
        let sql = "SELECT constraint_text FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY' \
                   UNION ALL SELECT index_name FROM duckdb_indexes() ORDER BY 1";
        assert_eq!(
            lines(&fixture, &db, sql),
            ["PRIMARY KEY(id)", "t_name", "t_name_id"],
            "{strategy}"
        );
    }
}

#[test]
fn every_constraint_of_a_table_names_its_rows() {
    let Some(fixture) = fixture() else { return };
    fixture.write(
        "t.csv",
        "id,name,size,parent\n\
         1,a,1,1\n\
         2,b,-1,1\n\
         3,c,1,9\n\
         ,d,1,1\n\
         1,e,1,1\n\
         7,f,1,1\n\
         8,a,1,1\n\
         8,g,1,\n\
         9,,1,2\n\
         10,,,2\n",
    );
    for strategy in some_strategies() {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2); \
             CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR UNIQUE, size INTEGER CHECK (size > 0), parent INTEGER REFERENCES p (id)); \
             INSERT INTO t VALUES (7, 'old', 1, 1)",
        );
        let load =
            ["t.csv", &db, "--strategy", strategy, "--if-exists", "append", "--max-rejects", "9"];
        fixture.load(&[&load[..], &["--verify", "checksum"]].concat()).exits(3);
        let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
        let found: Vec<String> = notes
            .iter()
            .map(|note| {
                format!(
                    "{} {} {}",
                    note["line"],
                    note["code"].as_str().unwrap(),
                    note["column"].as_str().unwrap_or("-")
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                "3 constraint -",
                "4 foreign-key parent",
                "5 not-null id",
                "6 duplicate-key id",
                "7 duplicate-key id",
                "8 duplicate-key name",
            ],
            "{strategy}"
        );
        // A row whose other key a refused row has is a good row.
        assert_eq!(
            lines(&fixture, &db, "FROM t ORDER BY id"),
            ["1|a|1|1", "7|old|1|1", "8|g|1|~", "9|~|1|2", "10|~|~|2"]
        );
        forget_rejects(&fixture);
        fixture.refuses(&load[..6]).says(&["line 2, column id: '1': duplicate key"]);
    }
}

#[test]
fn a_row_whose_key_is_there_is_skipped_or_changes_it() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n1,new\n2,new\n3,first\n3,last\n");
    for strategy in some_strategies() {
        for (how, wanted) in [
            ("skip", ["1|old|5", "2|new|9", "3|first|9"]),
            ("update", ["1|new|5", "2|new|9", "3|last|9"]),
            ("replace", ["1|new|9", "2|new|9", "3|last|9"]),
        ] {
            let db = format!("{}-{how}.duckdb", &strategy[7..]);
            sql(
                &fixture,
                &db,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, n INTEGER DEFAULT 9); INSERT INTO t VALUES (1, 'old', 5)",
            );
            let load = [
                "t.csv",
                &db,
                "--strategy",
                strategy,
                "--if-exists",
                "append",
                "--on-conflict",
                how,
            ];
            if strategy == "duckdb/appender" && how != "skip" {
                fixture.misused(&[&["load"], &load[..]].concat()).says(&["the appender adds rows"]);
                continue;
            }
            let report = fixture.report(&load);
            assert_eq!(lines(&fixture, &db, "FROM t ORDER BY id"), wanted, "{strategy} {how}");
            let skipped = if how == "skip" { 2 } else { 0 };
            assert_eq!(report["rows_skipped"], skipped, "{strategy} {how}");
            assert_eq!(report["rows_loaded"], 4 - skipped);
        }
    }
}

/// A NULL is the same as no other, also where two of them come together.
#[test]
fn rows_with_a_null_in_their_key_all_come_in() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "a,b,v\n1,1,2\n1,,10\n1,,11\n2,1,3\n,,12\n,,12\n");
    for strategy in some_strategies() {
        for (how, changed) in [("skip", 1), ("update", 2), ("replace", 2)] {
            if strategy == "duckdb/appender" && how != "skip" {
                continue;
            }
            let db = format!("{}-{how}.duckdb", &strategy[7..]);
            let made = "CREATE TABLE t (a INTEGER, b INTEGER, v INTEGER, UNIQUE (a, b)); INSERT INTO t VALUES (1, 1, 1)";
            sql(&fixture, &db, made);
            let load = ["t.csv", &db, "--strategy", strategy, "--if-exists", "append"];
            let conflict = ["--on-conflict", how, "--key", "a,b", "--verify", "checksum"];
            // Of rows that changed others no sums are compared.
            let options = if how == "skip" { &conflict[..] } else { &conflict[..4] };
            let report = fixture.report(&[&load[..], options].concat());
            assert_eq!(report["rows_skipped"], 2 - changed, "{strategy} {how}");
            let of_key = format!("1|1|{changed}");
            let wanted = [of_key.as_str(), "1|~|10", "1|~|11", "2|1|3", "~|~|12", "~|~|12"];
            let sorted = "FROM t ORDER BY a NULLS LAST, b NULLS LAST, v";
            assert_eq!(lines(&fixture, &db, sorted), wanted, "{strategy} {how}");
        }
    }
}

/// An index on an expression is a key like any other.
#[test]
fn rows_that_repeat_an_expression_are_named() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n1,ann\n2,Bob\n3,BOB\n4,\n5,\n6,OLD\n");
    for strategy in some_strategies() {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE TABLE t (id INTEGER, name VARCHAR); INSERT INTO t VALUES (0, 'old'); \
             CREATE UNIQUE INDEX u ON t (lower(name)); CREATE UNIQUE INDEX w ON t (id, coalesce(name, ', ''x'))",
        );
        let load =
            ["t.csv", &db, "--strategy", strategy, "--if-exists", "append", "--max-rejects", "2"];
        fixture.refuses(&load[..6]).says(&["t.csv: line 4: duplicate key (key: (lower"]);
        fixture.load(&[&load[..], &["--verify", "checksum"]].concat()).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"id,name\n3,BOB\n6,OLD\n");
        let kept = ["0|old", "1|ann", "2|Bob", "4|~", "5|~"];
        assert_eq!(lines(&fixture, &db, "FROM t ORDER BY id"), kept, "{strategy}");
        forget_rejects(&fixture);
    }
}

/// The names that the statements of a load have for its rows.
#[test]
fn tables_may_be_called_as_parts_of_a_query() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id,v,p\n1,new,1\n2,b,1\n2,c,1\n3,d,9\n");
    for (table, parent) in [
        ("given", "made"),
        ("judged", "taken0"),
        ("target", "parent"),
        ("inrush taken 0", "inrush given"),
    ] {
        let sql_of = format!(
            "CREATE TABLE \"{parent}\" (id INTEGER PRIMARY KEY, made STRUCT(p INTEGER)); \
             INSERT INTO \"{parent}\" VALUES (1, {{'p': 7}}); \
             CREATE TABLE \"{table}\" (id INTEGER PRIMARY KEY, v VARCHAR, p INTEGER REFERENCES \"{parent}\" (id)); \
             INSERT INTO \"{table}\" VALUES (7, 'old', 1)"
        );
        sql(&fixture, "x.duckdb", &sql_of);
        let load = ["in.csv", "x.duckdb", "--table", table, "--if-exists", "append"];
        fixture.load(&[&load[..], &["--max-rejects", "2"]].concat()).exits(3);
        let kept = lines(&fixture, "x.duckdb", &format!("FROM \"{table}\" ORDER BY id"));
        assert_eq!(kept, ["1|new|1", "2|b|1", "7|old|1"], "{table}");
        assert_eq!(fixture.read("in.rejects.csv"), b"id,v,p\n2,c,1\n3,d,9\n");
        forget_rejects(&fixture);
    }
    fixture.write("in.csv", "id,v\n1,new\n2,b\n");
    for strategy in ["duckdb/arrow", "duckdb/prepared"] {
        let db = format!("{}.duckdb", &strategy[7..]);
        let made = "CREATE TABLE excluded (id INTEGER PRIMARY KEY, v VARCHAR); INSERT INTO excluded VALUES (1, 'old')";
        sql(&fixture, &db, made);
        let load = ["in.csv", &db, "--table", "excluded", "--if-exists", "append"];
        let update = ["--on-conflict", "update", "--strategy", strategy];
        fixture.load(&[&load[..], &update].concat()).exits(0);
        assert_eq!(lines(&fixture, &db, "FROM excluded ORDER BY id"), ["1|new", "2|b"]);
    }
}

/// What is generated is made of the values that rows have in the table, and not of the texts that they came as.
#[test]
fn keys_on_generated_columns_name_their_rows() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,n,i\n1,5,1 day\n1,6,1 day\n3,7,x\n4,5,1 day\n5,8,\n");
    sql(
        &fixture,
        "t.duckdb",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, n HUGEINT, i INTERVAL, twice HUGEINT GENERATED ALWAYS AS (n * 2), \
         later INTERVAL GENERATED ALWAYS AS (i + INTERVAL 1 DAY), next HUGEINT GENERATED ALWAYS AS (twice + 1)); \
         CREATE UNIQUE INDEX u ON t (next)",
    );
    let load = ["t.csv", "t.duckdb", "--if-exists", "append", "--max-rejects", "3"];
    fixture.load(&load).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,n,i\n1,6,1 day\n3,7,x\n4,5,1 day\n");
    assert_eq!(lines(&fixture, "t.duckdb", "SELECT id, next FROM t"), ["1|11", "5|17"]);
}

#[test]
fn a_row_of_which_a_generated_column_can_not_be_made_is_a_bad_one() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,n\n1,5\n2,abc\n3,\n4,7\n");
    for strategy in some_strategies() {
        let db = format!("{}.duckdb", &strategy[7..]);
        let made = "CREATE TABLE t (id INTEGER, n VARCHAR, g INTEGER GENERATED ALWAYS AS (CAST(n AS INTEGER)), \
                    twice INTEGER GENERATED ALWAYS AS (g * 2))";
        sql(&fixture, &db, made);
        let load = ["t.csv", &db, "--table", "t", "--if-exists", "append", "--strategy", strategy];
        fixture.load(&load).exits(1).says(&["t.csv: line 3", "generated column g"]);
        fixture.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"id,n\n2,abc\n", "{strategy}");
        assert_eq!(
            lines(&fixture, &db, "SELECT id, twice FROM t ORDER BY id"),
            ["1|10", "3|~", "4|14"]
        );
    }
}

/// Of a pipe no row can be asked for a second time.
#[test]
fn a_pipe_s_rows_are_named_whatever_refuses_them() {
    let Some(fixture) = fixture() else { return };
    for (made, row) in [
        ("CREATE TABLE t (id INTEGER CHECK (id > 0))", "-1"),
        (
            "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER REFERENCES p (id))",
            "7",
        ),
        ("CREATE TABLE t (id HUGEINT[])", "[1.5]"),
        (
            "CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (7); CREATE UNIQUE INDEX u ON t (abs(id))",
            "-7",
        ),
    ] {
        let _ = fs::remove_file(fixture.path("x.duckdb"));
        sql(&fixture, "x.duckdb", made);
        let load = ["-", "x.duckdb", "--table", "t", "--if-exists", "append"];
        let run = fixture.load_reading(format!("id\n{row}\n").as_bytes(), &load);
        run.exits(1).says(&["line 2"]);
    }
}

/// The engine finds a parent that came in an earlier statement alone.
#[test]
fn rows_may_refer_to_earlier_rows_of_the_same_load() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,boss\n1,\n2,1\n3,9\n4,3\n5,2\n6,7\n7,1\n8,8\n9,0\n");
    sql(
        &fixture,
        "x.duckdb",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES t (id)); INSERT INTO t VALUES (0, NULL)",
    );
    let append = ["--if-exists", "append"];
    fixture
        .inrush(&[&["plan", "t.csv", "x.duckdb"], &append[..]].concat())
        .exits(0)
        .prints(&["duckdb/prepared", "rows may refer to others of the table"]);
    fixture.refuses(&[&["t.csv", "x.duckdb"], &append[..]].concat()).says(&["line 4, column boss"]);
    let load = ["t.csv", "x.duckdb", "--max-rejects", "4", "--verify", "checksum"];
    fixture.load(&[&load[..], &append].concat()).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,boss\n3,9\n4,3\n6,7\n8,8\n");
    let kept = ["0|~", "1|~", "2|1", "5|2", "7|1", "9|0"];
    assert_eq!(lines(&fixture, "x.duckdb", "FROM t ORDER BY id"), kept);
    // A parent that a later load knows.
    fixture.write("u.csv", "id,boss\n20,21\n21,5\n22,21\n");
    let load = ["u.csv", "x.duckdb", "--table", "t", "--max-rejects", "1"];
    fixture.load(&[&load[..], &append].concat()).exits(3);
    assert_eq!(fixture.read("u.rejects.csv"), b"id,boss\n20,21\n");
}

/// The engine has no CASE of arrays.
#[test]
fn a_bad_array_is_a_bad_row() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,v\n1,\"[1.0, 2.0, 3.5]\"\n2,\"[1.0, 2.0]\"\n3,\n4,x\n");
    for strategy in ["duckdb/arrow", "duckdb/prepared"] {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(&fixture, &db, "CREATE TABLE t (id INTEGER, v FLOAT[3])");
        let load = ["t.csv", &db, "--strategy", strategy, "--if-exists", "append"];
        fixture
            .refuses(&load)
            .says(&["line 3, column v", "is not written as DuckDB writes FLOAT[3]"]);
        fixture
            .load(&[&load[..], &["--max-rejects", "2", "--verify", "checksum"]].concat())
            .exits(3);
        assert_eq!(lines(&fixture, &db, "FROM t ORDER BY id"), ["1|[1.0, 2.0, 3.5]", "3|~"]);
        forget_rejects(&fixture);
    }
}

/// The engine compares such keys by their bytes in the process that has made the table, and by the collation in others.
#[test]
fn keys_with_a_collation_are_not_looked_up() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "k,n\na,1\nA,2\n");
    let tables = [
        "CREATE TABLE t (k VARCHAR COLLATE NOCASE PRIMARY KEY, n INTEGER)",
        "CREATE TABLE t (n INTEGER PRIMARY KEY, k VARCHAR COLLATE NOCASE, UNIQUE (n, k))",
        "CREATE TABLE t (n INTEGER, \"k\" VARCHAR COLLATE \"NOCASE.NOACCENT\", PRIMARY KEY (n, k))",
    ];
    for table in tables {
        sql(&fixture, "t.duckdb", &format!("DROP TABLE IF EXISTS t; {table}"));
        for how in ["skip", "update", "replace"] {
            let load = ["t.csv", "t.duckdb", "--if-exists", "append", "--on-conflict", how];
            fixture
                .leaves_all(|| fixture.load(&[&load[..], &["--key", "k,n"]].concat()))
                .exits(2)
                .says(&["column k of the key has a collation", how]);
        }
    }
    // Of a column that is in no key it says nothing.
    let table = "DROP TABLE t; CREATE TABLE t (n INTEGER PRIMARY KEY, k VARCHAR COLLATE NOCASE)";
    sql(&fixture, "t.duckdb", table);
    let load = ["t.csv", "t.duckdb", "--if-exists", "append", "--on-conflict", "update"];
    fixture.load(&load).exits(0);
    assert_eq!(lines(&fixture, "t.duckdb", "SELECT k, n FROM t ORDER BY n"), ["a|1", "A|2"]);
}

/// What an update does not set stays as it is, be it a key.
#[test]
fn a_key_that_an_update_leaves_alone_is_asked_of_new_rows_only() {
    let Some(fixture) = fixture() else { return };
    fixture
        .write("t.csv", "email,n\na,7\nb,8\nb,9\n")
        .write("five.csv", "k,n\n1,7\n2,8\n1,9\n")
        .write("all.csv", "id,email\n1,a\n");
    let append = ["--if-exists", "append", "--on-conflict"];
    for strategy in ["duckdb/arrow", "duckdb/prepared"] {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE SEQUENCE s START 10; CREATE TABLE five (k INTEGER PRIMARY KEY, code INTEGER DEFAULT 5 UNIQUE, n INTEGER); \
             INSERT INTO five VALUES (1, 5, 1); \
             CREATE TABLE t (id INTEGER PRIMARY KEY DEFAULT nextval('s'), email VARCHAR NOT NULL UNIQUE, n INTEGER); \
             INSERT INTO t VALUES (1, 'a', 1)",
        );
        let options = ["update", "--strategy", strategy];
        let load = [&["t.csv", &db], &append[..], &options, &["--key", "email"]].concat();
        for _ in 0..2 {
            fixture.load(&load).exits(0);
        }
        assert_eq!(lines(&fixture, &db, "SELECT email, n FROM t ORDER BY email"), ["a|7", "b|9"]);
        let load = [&["five.csv", &db], &append[..], &options, &["--max-rejects", "1"]].concat();
        fixture.load(&load).exits(3);
        assert_eq!(fixture.read("five.rejects.csv"), b"k,n\n2,8\n");
        assert_eq!(lines(&fixture, &db, "FROM five"), ["1|5|9"]);
        forget_rejects(&fixture);
    }
    for how in ["update", "replace"] {
        let load = ["load", "all.csv", "arrow.duckdb", "--table", "t"];
        fixture
            .misused(&[&load[..], &append, &[how, "--key", "id"]].concat())
            .says(&["several keys of table t: (id), (email)", "--drop COLUMN"]);
    }
    // Who names a strategy reads which one can.
    let load = ["load", "five.csv", "arrow.duckdb", "--strategy", "appender"];
    fixture
        .misused(&[&load[..], &append, &["update"]].concat())
        .says(&["the appender adds rows", "leave --strategy out: duckdb/arrow can"]);
}

/// Which of a chunk's rows the engine would refuse for another key isn't known beforehand, and an index on an expression is one.
#[test]
fn an_index_on_an_expression_counts_as_a_key() {
    let Some(fixture) = fixture() else { return };
    fixture.write("u.csv", "id,e\n1,a\n2,b\n3,B\n");
    let made = "CREATE TABLE u (id INTEGER PRIMARY KEY, e VARCHAR); CREATE UNIQUE INDEX ue ON u (lower(e)); \
                INSERT INTO u VALUES (1, 'A')";
    sql(&fixture, "u.duckdb", made);
    let load = ["load", "u.csv", "u.duckdb", "--if-exists", "append", "--on-conflict"];
    for how in ["update", "replace"] {
        let run = fixture.misused(&[&load[..], &[how]].concat());
        run.says(&["several keys of table u: (id), a unique index on an expression"]);
    }
    // A row whose key is there is skipped, whatever other keys it meets.
    let run = fixture.inrush(&[&load[..], &["skip", "--max-rejects", "1"]].concat());
    run.exits(3);
    assert_eq!(fixture.read("u.rejects.csv"), b"id,e\n3,B\n");
    assert_eq!(lines(&fixture, "u.duckdb", "FROM u ORDER BY id"), ["1|A", "2|b"]);
}

/// What a CHECK makes of a row may end in an error of its own.
#[test]
fn a_check_that_fails_for_a_row_refuses_that_row_only() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,v\n1,5\n2,x\n3,-1\n4,\n");
    let cases: Vec<_> = STRATEGIES
        .iter()
        .flat_map(|strategy| {
            // Of what is no truth the engine makes a whole number; what varies it looks at by itself.
            let rules = ["CAST(v AS INTEGER) > 0", "CASE v WHEN '-1' THEN '0' ELSE v END"];
            let varying = "v IS NULL OR coalesce(try_cast(v AS INTEGER), -2) > random() - 1";
            [rules[0], rules[1], varying].map(|rule| (strategy, rule))
        })
        .collect();
    // Each rule by one strategy.
    for (n, (strategy, rule)) in cases.into_iter().enumerate().step_by(size(4, 1)) {
        let db = format!("{n}.duckdb");
        sql(&fixture, &db, &format!("CREATE TABLE t (id INTEGER, v VARCHAR CHECK ({rule}))"));
        let load = ["t.csv", &db, "--strategy", strategy, "--max-rejects", "9"];
        fixture.load(&load).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"id,v\n2,x\n3,-1\n", "{strategy}");
        assert_eq!(lines(&fixture, &db, "SELECT id FROM t ORDER BY id"), ["1", "4"], "{strategy}");
    }
}

/// The engine lists what an index is on as whoever made it has spelled it.
#[test]
fn an_index_on_a_column_that_is_spelled_otherwise_is_a_key_of_that_column() {
    let Some(fixture) = fixture() else { return };
    fixture.write("u.csv", "id,e\n1,a\n2,b\n");
    let made = "CREATE TABLE u (id INTEGER, e VARCHAR); CREATE UNIQUE INDEX ue ON u (ID); INSERT INTO u VALUES (1, 'A')";
    sql(&fixture, "u.duckdb", made);
    let load = ["u.csv", "u.duckdb", "--if-exists", "append", "--on-conflict", "update"];
    fixture.load(&[&load[..], &["--key", "id"]].concat()).exits(0);
    assert_eq!(lines(&fixture, "u.duckdb", "FROM u ORDER BY id"), ["1|a", "2|b"]);
}

/// Rows that are committed can't be undone and read again, so the engine is asked before.
#[test]
fn rows_that_repeat_a_key_are_named_where_others_are_committed_on_the_way() {
    let Some(fixture) = fixture() else { return };
    let rows: String = (1..=1_000).map(|n| format!("{n}\n")).collect();
    fixture.write("t.csv", format!("id\n{rows}5\n2000\n"));
    for (at, strategy) in STRATEGIES[1..].iter().enumerate() {
        for is_there in size(&[at == 0][..], &[true, false]) {
            let is_there = *is_there;
            let db = format!("{}-{is_there}.duckdb", &strategy[7..]);
            if is_there {
                sql(&fixture, &db, "CREATE TABLE t (id INTEGER PRIMARY KEY)");
            }
            let load = ["t.csv", &db, "--strategy", strategy, "--chunk-size", "1k"];
            let knob = ["--set", "rows_per_transaction=300", "--max-rejects"];
            let key = if is_there { &[][..] } else { &["--primary-key", "id"] };
            let run = fixture.load(&[&load[..], &knob, &["0"], key].concat()).exits(1);
            let run = run.says(&["line 1002, column id: '5': duplicate key"]);
            if is_there {
                let stayed = &lines(&fixture, &db, "SELECT count(*) FROM t")[0];
                assert_eq!(stayed, "900", "{strategy}");
                run.says(&["900 rows were committed"]);
                sql(&fixture, &db, "DELETE FROM t");
            }
            fixture.load(&[&load[..], &knob, &["1"], key].concat()).exits(3);
            assert_eq!(lines(&fixture, &db, "SELECT count(*), max(id) FROM t"), ["1001|2000"]);
            let views = "SELECT count(*) FROM duckdb_views() WHERE NOT internal";
            assert_eq!(lines(&fixture, &db, views), ["0"]);
            forget_rejects(&fixture);
        }
    }
}

/// A row that is refused has no word about an earlier one of its key.
#[test]
fn a_bad_row_supersedes_no_good_one() {
    let Some(fixture) = fixture() else { return };
    let made = (0..4).flat_map(|n| ["update", "replace"].map(|how| format!("{how}{n}")));
    let made = made.map(|t| {
        format!(
            "CREATE TABLE {t} (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES {t} (id), v VARCHAR); \
             INSERT INTO {t} VALUES (1, NULL, 'old'); INSERT INTO {t} VALUES (2, 1, 'old2');"
        )
    });
    sql(&fixture, "t.duckdb", &made.collect::<String>());
    let mut found = Vec::new();
    for how in ["update", "replace"] {
        let texts = [
            ("7,1,good\n7,99,bad\n", "7,99,bad\n", "7|1|good"),
            ("2,1,new\n2,99,bad\n", "2,99,bad\n", "2|1|new"),
            ("7,1,first\n7,1,last\n8,7,x\n9,99,bad\n", "9,99,bad\n", "7|1|last"),
            // One whose parent was written before the row that changes nothing of it.
            ("7,1,first\n8,1,x\n8,7,y\n9,99,bad\n", "9,99,bad\n", "8|7|y"),
        ];
        for (n, (text, bad, wanted)) in texts.into_iter().enumerate() {
            fixture.write("t.csv", format!("id,boss,v\n{text}"));
            let table = format!("{how}{n}");
            let load = ["t.csv", "t.duckdb", "--table", &table, "--if-exists", "append"];
            let more = ["--on-conflict", how, "--max-rejects", "1"];
            fixture.load(&[&load[..], &more].concat()).exits(3);
            assert_eq!(fixture.read("t.rejects.csv"), format!("id,boss,v\n{bad}").into_bytes());
            found.push((format!("(FROM {table} WHERE id = {})", &wanted[..1]), wanted));
            forget_rejects(&fixture);
        }
    }
    let (kept, wanted): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    assert_eq!(lines(&fixture, "t.duckdb", &kept.join(" UNION ALL ")), wanted);
}

/// A parenthesis in a default is no call, and not every call answers otherwise each time.
#[test]
fn rows_are_checked_where_defaults_are_written_with_parentheses() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id\n1\n2\n1\n");
    let defaults = [
        "'a(b'",
        "'it''s random('",
        "'2020-01-01'::TIMESTAMP",
        "(-5)",
        "(1.5)::DECIMAL(4, 1)",
        "upper('x')",
    ];
    let made = defaults.iter().enumerate().map(|(n, default)| {
        format!(
            "CREATE TABLE t{n} (id INTEGER, d VARCHAR DEFAULT CAST({default} AS VARCHAR), UNIQUE (id, d));"
        )
    });
    sql(&fixture, "t.duckdb", &made.collect::<String>());
    for (n, default) in defaults.into_iter().enumerate() {
        let table = format!("t{n}");
        let load = ["t.csv", "t.duckdb", "--table", &table, "--if-exists", "append"];
        fixture.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"id\n1\n", "{default}");
        forget_rejects(&fixture);
    }
    // Of what is another value in each row nothing is known before the engine has made it.
    sql(
        &fixture,
        "r.duckdb",
        "CREATE TABLE t (id INTEGER, d DOUBLE DEFAULT random(), UNIQUE (id, d))",
    );
    fixture.load(&["t.csv", "r.duckdb", "--if-exists", "append"]).exits(0);
    assert_eq!(lines(&fixture, "r.duckdb", "SELECT count(*) FROM t"), ["3"]);
}
