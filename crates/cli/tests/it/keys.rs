//! Keys and indexes of tables that a load makes, and rows with a duplicate key.

use crate::fixture::{Fixture, rows, sql_strategies, with_table};

#[test]
fn a_primary_key_is_declared_and_kept() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,code,name\n2,x,a\n1,x,b\n3,y,c\n2,z,d\n");
    let load = ["in.csv", "t.db", "--primary-key"];
    fixture.refuses(&[&load[..], &["id"]].concat()).says(&[
        "in.csv: line 5, column id",
        "'2'",
        "duplicate key",
    ]);
    fixture.load(&[&load[..], &["code,id", "--table", "both"]].concat()).exits(0);
    let key = "SELECT name FROM pragma_table_info('both') WHERE pk > 0 ORDER BY pk";
    assert_eq!(fixture.query("t.db", key), rows![["code"], ["id"]]);
    fixture.load(&[&load[..], &["ID", "--max-rejects", "1"]].concat()).exits(3);
    // "INTEGER PRIMARY KEY" makes the column the row's own number.
    assert_eq!(
        fixture.query("t.db", "SELECT rowid, name FROM \"in\""),
        rows![[1, "b"], [2, "a"], [3, "c"]]
    );
    fixture.misused(&["load", "in.csv", "new.db", "--primary-key", "idd"]).says(&["idd"]);
    fixture
        .misused(&["load", "in.csv", "new.db", "--primary-key", "id,ID"])
        .says(&["--primary-key id,ID: names column ID twice"]);
}

#[test]
fn a_null_in_the_primary_key_is_a_bad_row() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n,b\n3,c\n");
    for key in ["id", "name,id"] {
        fixture
            .refuses(&["in.csv", "t.db", "--primary-key", key])
            .says(&["in.csv: line 3, column id", "NULL"]);
    }
    fixture.write("in.csv", "id,name\na,a\n,b\nc,c\n");
    fixture
        .refuses(&["in.csv", "t.db", "--primary-key", "id"])
        .says(&["in.csv: line 3, column id", "NULL"]);
}

#[test]
fn indexes_are_there_after_the_load_and_used() {
    let fixture = Fixture::new();
    let rows: String = (0..1000).map(|n| format!("{n},{},{}\n", n % 10, n % 7)).collect();
    fixture.write("in.csv", format!("id,ten,seven\n{rows}"));
    let report = fixture.report(&["in.csv", "t.db", "--index", "ten,seven", "--index", "seven"]);
    assert!(report["seconds"]["index"].as_f64().unwrap() > 0.0);
    let how = |sql: &str| {
        let rows = fixture.query("t.db", &format!("EXPLAIN QUERY PLAN {sql}"));
        format!("{rows:?}")
    };
    let both = how("SELECT * FROM \"in\" WHERE ten = 1 AND seven = 2");
    assert!(both.contains("USING INDEX"), "{both}");
    let one = how("SELECT * FROM \"in\" WHERE seven = 2");
    assert!(one.contains("USING INDEX"), "{one}");
    assert_eq!(
        fixture.number("t.db", "SELECT count(*) FROM sqlite_schema WHERE type = 'index'"),
        2
    );
    fixture.misused(&["load", "in.csv", "t.db", "--table", "new", "--index", "eleven"]);
    // For an existing table they are its owner's business.
    fixture.misused(&["load", "in.csv", "t.db", "--if-exists", "append", "--index", "id"]);
}

#[test]
fn rows_that_repeat_a_key_are_put_aside_from_a_pipe_as_well() {
    let fixture = Fixture::new();
    let text = b"id,name\n2,a\n1,b\n2,c\n";
    let load = ["-", "t.db", "--table", "t", "--primary-key", "id"];
    fixture.load_reading(text, &load).exits(1).ends_with_nothing_changed();
    let aside = [&load[..], &["--max-rejects", "1", "--rejects", "bad.csv"]].concat();
    fixture.load_reading(text, &aside).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "b"], [2, "a"]]);
    assert_eq!(fixture.read("bad.csv"), b"id,name\n2,c\n");
}

/// Two existing rows, and a file that meets both, adds one, and names one key twice.
const MEETING: &str = "id,name\n1,new\n2,\n3,c\n3,cc\n";

fn meeting(strategy: &str, answer: &str) -> Fixture {
    let fixture = with_table("(1, 'old', 1.0), (2, 'old', 2.0)");
    fixture.write("t.csv", MEETING);
    let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", answer];
    fixture.load(&[&load[..], &["--strategy", strategy]].concat()).exits(0);
    fixture
}

#[test]
fn on_conflict_skip_leaves_the_row_that_is_there() {
    for strategy in sql_strategies() {
        let rows = rows![[1, "old", 1.0], [2, "old", 2.0], [3, "c", 0.5]];
        assert_eq!(meeting(&strategy, "skip").table("t.db", "t"), rows, "{strategy}");
    }
}

#[test]
fn on_conflict_update_sets_the_columns_of_the_source() {
    for strategy in sql_strategies() {
        let rows = rows![[1, "new", 1.0], [2, (), 2.0], [3, "cc", 0.5]];
        assert_eq!(meeting(&strategy, "update").table("t.db", "t"), rows, "{strategy}");
    }
}

#[test]
fn on_conflict_replace_makes_the_row_anew() {
    for strategy in sql_strategies() {
        let rows = rows![[1, "new", 0.5], [2, (), 0.5], [3, "cc", 0.5]];
        assert_eq!(meeting(&strategy, "replace").table("t.db", "t"), rows, "{strategy}");
    }
}

#[test]
fn on_conflict_fail_makes_bad_rows() {
    let fixture = with_table("(1, 'old', 1.0), (2, 'old', 2.0)");
    fixture.write("t.csv", MEETING);
    let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "fail"];
    fixture.refuses(&load).says(&["t.csv: line 2, column id", "duplicate key"]);
    fixture.load(&[&load[..], &["--max-rejects", "3"]].concat()).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,name\n1,new\n2,\n3,cc\n");
}

#[test]
fn the_key_of_a_conflict_can_be_another_than_the_primary_one() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,code,n\n5,a,10\n6,b,20\n").sql(
        "t.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT UNIQUE, n INTEGER, free INTEGER);
         INSERT INTO t VALUES (1, 'a', 1, 2)",
    );
    let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "update", "--key"];
    fixture.load(&[&load[..], &["code"]].concat()).exits(0);
    assert_eq!(
        fixture.query("t.db", "SELECT * FROM t ORDER BY n"),
        rows![[5, "a", 10, 2], [6, "b", 20, ()]]
    );
    // Nothing makes these values unique.
    fixture.refuses(&[&load[..], &["n"]].concat()).says(&["UNIQUE"]);
    fixture.misused(&[&["load"], &load[..], &["m"]].concat()).says(&["--key m"]);
    let table = ["load", "t.csv", "t.db", "--table", "new", "--on-conflict", "skip"];
    fixture.misused(&table).says(&["--key"]);
}

#[test]
fn rows_are_compared_by_a_key_that_they_have() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "email,name\na@x,Ann\nb@x,Bob\n").sql(
        "t.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, email TEXT UNIQUE, name TEXT, code TEXT, UNIQUE (code, name))",
    );
    for how in ["skip", "update", "replace"] {
        let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", how];
        let run = fixture.refuses(&load).says(&[
            "rows are compared by the key of table t (id), and the source has no column id",
            "--key email",
        ]);
        assert!(!run.stderr.contains("--key code"), "{run:?}");
        for _ in 0..2 {
            fixture.load(&[&load[..], &["--key", "EMAIL"]].concat()).exits(0);
        }
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2, "{how}");
    }
}

/// One NULL is not another, so that such a row comes in once more with each load.
#[test]
fn a_key_that_takes_null_is_told_of() {
    let fixture = Fixture::new();
    fixture
        .write("t.csv", "a,b,v\n1,,x\n2,2,y\n")
        .sql("t.db", "CREATE TABLE t (a INTEGER NOT NULL, b INTEGER, v TEXT, UNIQUE (a, b))");
    let load =
        ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "update", "--key", "a,b"];
    let told =
        "the key (a, b) takes NULL in b, and a row with NULL there is no duplicate of any other";
    fixture.inrush(&[&["plan"], &load[..]].concat()).exits(0).prints(&[told, "--not-null b"]);
    for rows in [2, 3] {
        assert!(fixture.report(&load)["warnings"].to_string().contains(told));
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), rows);
    }
    let strict = [&load[..], &["--not-null", "b"]].concat();
    let run = fixture.refuses(&strict);
    assert!(!run.says(&["line 2"]).stderr.contains(told));
    // A primary key hardly ever has one, though SQLite's may.
    fixture.sql("t.db", "DROP TABLE t; CREATE TABLE t (a INTEGER, b TEXT PRIMARY KEY, v TEXT)");
    let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "update"];
    assert!(!fixture.report(&load)["warnings"].to_string().contains("takes NULL"));
}
