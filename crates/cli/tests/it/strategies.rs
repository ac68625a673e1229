//! Every way to write and every setting: the same table, the same bad rows, and the promises that were asked for.

use serde_json::json;

use crate::fixture::{Fixture, query, rows, sql_strategies, strategies, with_table};

#[test]
fn verify_compares_the_table_with_what_was_sent() {
    for (method, ok) in [("count", true), ("checksum", true), ("none", false)] {
        let fixture = with_table("(1, 'old', 1.0)");
        fixture.write("t.csv", "id,name,size\n2,b,\n3,,1e-5\n");
        let report =
            fixture.report(&["t.csv", "t.db", "--if-exists", "append", "--verify", method]);
        assert_eq!(report["verify"], json!({"method": method, "ok": ok}));
    }
}

#[test]
fn a_table_that_ends_up_different_is_no_success() {
    for strategy in sql_strategies() {
        let fixture = with_table("");
        fixture.write("t.csv", "id,name,size\n1,a,1\n2,b,2\n");
        fixture.sql(
            "t.db",
            "CREATE TRIGGER shout AFTER INSERT ON t
             BEGIN UPDATE t SET name = upper(name) WHERE id = new.id; END",
        );
        let load = ["t.csv", "t.db", "--strategy", &strategy, "--verify"];
        fixture.refuses(&[&load[..], &["checksum"]].concat()).says(&["column name", "trigger"]);
        fixture.sql(
            "t.db",
            "CREATE TRIGGER eat AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = 1; END",
        );
        fixture.refuses(&[&load[..], &["count"]].concat()).says(&["rows", "trigger"]);
        fixture.load(&[&load[..], &["none"]].concat()).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[2, "B", 2.0]]);
    }
}

#[test]
fn every_number_of_rows_in_a_transaction_or_statement_gives_the_same_table() {
    let rows: String = (0..100).map(|n| format!("{n},name {n}\n")).collect();
    let file = format!("id,name\n{rows}");
    let mut first = None;
    for settings in [
        &["--strategy", "bind", "--set", "rows_per_transaction=1"][..],
        &["--strategy", "bind", "--set", "rows_per_transaction=7"],
        &["--strategy", "row-sql", "--set", "rows_per_transaction=1"],
        &["--strategy", "values", "--set", "rows_per_statement=1"],
        &["--strategy", "values", "--set", "rows_per_statement=7"],
        &["--strategy", "values", "--set", "rows_per_statement=100000"],
        &["--set", "rows_per_statement=7", "--set", "rows_per_transaction=10"],
        &["--set", "begin=deferred"],
        &["--set", "begin=exclusive", "--set", "cache=0"],
        &["--set", "synchronous=extra", "--set", "busy_timeout=0"],
    ] {
        let fixture = Fixture::new();
        fixture.write("in.csv", &file);
        fixture.load(&[&["in.csv", "t.db", "--verify", "checksum"], settings].concat()).exits(0);
        let table = fixture.typed_table("t.db", "in");
        assert_eq!(table.len(), 100);
        assert_eq!(*first.get_or_insert_with(|| table.clone()), table, "{settings:?}");
        fixture.assert_sound("t.db");
    }
}

#[test]
fn rows_committed_on_the_way_stay_and_the_plan_says_so_before() {
    let fixture = with_table("(0, 'old', 1.0)");
    let rows: String = (1..100).map(|n| format!("{n},name {n},1\n")).collect();
    fixture.write("t.csv", format!("id,name,size\n{rows}100,b,bad\n"));
    let load = ["t.csv", "t.db", "--if-exists", "append", "--set", "rows_per_transaction=40"];
    fixture.inrush(&[&["plan"], &load[..]].concat()).exits(0).prints(&["committed on the way"]);
    let plan = fixture.inrush(&[&["plan", "--json"], &load[..]].concat()).exits(0).json();
    assert_eq!(plan["atomic"], false);
    let run = fixture.load(&load).exits(1).says(&["t.csv: line 101, column size"]);
    let last = run.stderr.lines().last().unwrap().to_owned();
    let stayed = fixture.number("t.db", "SELECT count(*) FROM t") - 1;
    assert!(stayed > 0 && stayed % 40 == 0, "{stayed}");
    assert!(last.contains(&format!("{stayed} rows")) && last.contains("stay"), "{last}");
    // A new database is all or nothing even so.
    let load = ["t.csv", "new.db", "--set", "rows_per_transaction=1", "--type", "size=integer"];
    fixture.refuses(&load);
}

#[test]
fn the_journal_mode_and_page_size_that_were_asked_for() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let settings = ["--set", "journal_mode=wal", "--set", "page_size=16384"];
    let report = fixture.report(&[&["in.csv", "t.db"], &settings[..]].concat());
    assert_eq!(report["durability_read_back"]["journal_mode"], "wal");
    assert_eq!(report["plan"]["knobs"]["page_size"], 16384);
    assert_eq!(fixture.number("t.db", "PRAGMA page_size"), 16384);
    assert_eq!(fixture.query("t.db", "PRAGMA journal_mode"), rows![["wal"]]);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "a"]]);
    // Left alone, an existing database stays in its mode.
    let report = fixture.report(&["in.csv", "t.db", "--if-exists", "append"]);
    assert_eq!(report["durability_read_back"]["journal_mode"], "wal");
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM \"in\""), 2);
    fixture
        .misused(&["load", "in.csv", "t.db", "--if-exists", "append", "--set", "page_size=512"])
        .says(&["16384"]);
}

#[test]
fn a_reader_of_a_wal_database_is_not_in_the_way() {
    let fixture = with_table("(1, 'old', 1.0)");
    fixture.sql("t.db", "PRAGMA journal_mode = wal").write("t.csv", "id,name,size\n2,b,2\n");
    let reader = fixture.db("t.db");
    reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
    fixture.load(&["t.csv", "t.db", "--if-exists", "append"]).exits(0);
    assert_eq!(query(&reader, "SELECT count(*) FROM t"), rows![[1]]);
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(query(&reader, "SELECT count(*) FROM t"), rows![[2]]);
}

#[test]
fn durability_is_set_and_read_back() {
    for (durability, synchronous) in [("durable", "full"), ("process", "normal"), ("none", "off")] {
        let fixture = Fixture::new();
        fixture.write("in.csv", "id\n1\n");
        let report = fixture.report(&["in.csv", "t.db", "--durability", durability]);
        assert_eq!(report["plan"]["durability"], durability);
        assert_eq!(report["durability_read_back"]["synchronous"], synchronous);
    }
    // A promise that the settings can't keep is not made.
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    fixture.misused(&["load", "in.csv", "t.db", "--set", "synchronous=off"]).says(&[
        "with synchronous=off",
        "'durable' is asked for",
        "--durability process",
    ]);
}

/// Values that are easily changed on their way: into SQL text and back, from text to a number, from nothing to NULL.
const NASTY: &str = concat!(
    "id,text,int,real,day,other\n",
    "1,plain,1,1.5,2013-01-01,a\n",
    "2,\"quote \"\" comma , newline\nand 'single'\",-9223372036854775808,5e-324,2012-02-29,\"\"\n",
    "3,\"\",9223372036854775807,1.7976931348623157e308,,\n",
    "4,,0,-0.1,9999-12-31,NULL\n",
    "5,'); DROP TABLE t; --,-1,1e-05,0001-01-01,?1\n",
    "6,\u{1f600} \u{e9}\u{301} \u{202e},,,,\u{0}\n",
    "7, leading and trailing ,42,10.357019999999999,2013-12-31,\\\n",
    "8,\"\r\n\",7,2.2250738585072014e-308,2000-02-29,%s\n",
    "8,duplicate,7,1.5,2000-02-29,a\n",
    "9,x,12345678901234567890,1.5,2000-02-29,a\n",
    "10,x,1,abc,2000-02-29,a\n",
    "11,\"a\tb\",1,0.1,2000-02-29,007\n",
);

#[test]
fn all_strategies_store_the_same_values_and_reject_the_same_rows() {
    let tables = [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, int INTEGER, real REAL, day DATE, other BLOB)",
        "CREATE TABLE t (id INT UNIQUE, text, int BIGINT, real DOUBLE, day TEXT, other VARCHAR(10))",
        "CREATE TABLE t (id INT, text TEXT, int INT, real REAL, day ANY, other BLOB, UNIQUE (id)) STRICT",
        "CREATE TABLE t (id NUMERIC PRIMARY KEY, text TEXT, int DECIMAL, real DECIMAL, day DATE, other TEXT) WITHOUT ROWID",
    ];
    for table in tables {
        let mut first = None;
        let strategies = if table.ends_with("STRICT") { sql_strategies() } else { strategies() };
        for strategy in strategies {
            for more in [&[][..], &["--chunk-size", "1k", "--encoders", "2"]] {
                let fixture = Fixture::new();
                fixture.write("t.csv", NASTY).sql("t.db", table);
                let load = ["t.csv", "t.db", "--strategy", &strategy, "--max-rejects", "9"];
                fixture.load(&[&load[..], &["--verify", "checksum"], more].concat()).exits(3);
                let order = "SELECT *, typeof(id), typeof(text), typeof(int), typeof(real), typeof(day), typeof(other)
                     FROM t ORDER BY id";
                let all = (
                    fixture.query("t.db", order),
                    fixture.read("t.rejects.csv"),
                    fixture.read("t.rejects.csv.jsonl"),
                );
                assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "{strategy} {table}");
            }
        }
        // And what they store is what is written.
        let (rows, rejects, _) = first.unwrap();
        let second = &rows[1][1..5];
        let text = "quote \" comma , newline\nand 'single'";
        assert_eq!(second, rows![[text, i64::MIN, 5e-324, "2012-02-29"]][0], "{table}");
        let third = &rows[2][1..5];
        assert_eq!(third, rows![["", i64::MAX, f64::MAX, ()]][0], "{table}");
        assert_eq!(rows[3][1..4], rows![[(), 0, -0.1]][0], "{table}");
        assert!(rejects.starts_with(b"id,text,int,real,day,other\n"));
        assert!(rejects.ends_with(b"8,duplicate,7,1.5,2000-02-29,a\n9,x,12345678901234567890,1.5,2000-02-29,a\n10,x,1,abc,2000-02-29,a\n"));
    }
}

#[test]
fn all_strategies_make_the_same_table() {
    let text: String =
        NASTY.lines().filter(|line| !line.contains('\0')).map(|line| format!("{line}\n")).collect();
    let mut first = None;
    for strategy in strategies() {
        let fixture = Fixture::new();
        fixture.write("t.csv", &text);
        fixture.load(&["t.csv", "t.db", "--strategy", &strategy, "--verify", "checksum"]).exits(0);
        let all = (fixture.columns("t.db", "t"), fixture.typed_table("t.db", "t"));
        assert_eq!(*first.get_or_insert_with(|| all.clone()), all, "{strategy}");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 11);
    }
}
