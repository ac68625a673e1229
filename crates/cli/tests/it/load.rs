//! Loads that go well, and the options that say how.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::fixture::{Fixture, compare, finish, query, repository, rows, start, strategies};

/// `t.db` with a table of three columns and, if any, these rows.
fn with_table(values: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture
        .sql("t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, size REAL DEFAULT 0.5)");
    if !values.is_empty() {
        fixture.sql("t.db", &format!("INSERT INTO t VALUES {values}"));
    }
    fixture
}

fn with_weather() -> Fixture {
    let fixture = Fixture::new();
    std::fs::copy(repository("examples/weather.csv.gz"), fixture.path("weather.csv.gz")).unwrap();
    fixture
}

#[test]
fn the_first_load_of_a_newcomer() {
    let fixture = with_weather();
    fixture.load(&["weather.csv.gz", "weather.db"]).exits(0).prints(&[
        "26,115 rows",
        "weather",
        "weather.db",
        "row count verified",
        "safe on disk",
    ]);
    assert_eq!(fixture.number("weather.db", "SELECT count(*) FROM weather"), 26_115);
    assert_eq!(fixture.names(), ["weather.csv.gz", "weather.db"]);
    fixture.refuses(&["weather.csv.gz", "weather.db"]).says(&[
        "table weather in weather.db holds rows already",
        "--if-exists append",
        "--if-exists truncate",
        "--if-exists replace",
        "--table",
    ]);
}

#[test]
fn the_weather_is_what_python_reads() {
    let fixture = with_weather();
    fixture.load(&["weather.csv.gz", "weather.db", "--null", "NA"]).exits(0);
    assert_eq!(compare(&fixture, "weather.csv.gz", "weather.db", "weather", "NA"), 26_115);
    let types: Vec<String> =
        fixture.columns("weather.db", "weather").into_iter().map(|(_, ty)| ty).collect();
    let numbers = ["INTEGER"; 4];
    assert_eq!(types[0], "TEXT");
    assert_eq!(types[1..5], numbers);
    assert_eq!(types[5..8], ["REAL"; 3]);
    assert_eq!(types[14], "TIMESTAMP");
}

#[test]
fn if_exists_empty_takes_an_empty_table_and_keeps_its_definition() {
    let fixture = with_table("");
    fixture.write("t.csv", "id,name,size\n1,a,1\n");
    fixture.load(&["t.csv", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a", 1.0]]);
    fixture.refuses(&["t.csv", "t.db", "--if-exists", "empty"]).says(&["holds rows already"]);
}

#[test]
fn if_exists_append_adds_to_the_rows_that_are_there() {
    let fixture = with_table("(1, 'a', 1.0)");
    fixture.write("t.csv", "id,name,size\n2,b,2.5\n");
    fixture.load(&["t.csv", "t.db", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a", 1.0], [2, "b", 2.5]]);
}

#[test]
fn if_exists_truncate_keeps_the_definition_and_replace_does_not() {
    let fixture = with_table("(1, 'a', 1.0)");
    fixture.write("t.csv", "id,name\n2,b\n");
    fixture.load(&["t.csv", "t.db", "--if-exists", "truncate"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[2, "b", 0.5]]);
    fixture.load(&["t.csv", "t.db", "--if-exists", "replace"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[2, "b"]]);
}

#[test]
fn if_exists_truncate_and_replace_leave_the_old_rows_when_the_load_fails() {
    let fixture = with_table("(1, 'a', 1.0)");
    fixture.write("t.csv", "id,name,size\n2,b,3\n3,c,4\n3,c\n5,d,6\n");
    for word in ["truncate", "replace"] {
        fixture.refuses(&["t.csv", "t.db", "--if-exists", word]).says(&["t.csv: line 4"]);
    }
}

#[test]
fn if_exists_fail_wants_no_table_at_all() {
    let fixture = with_table("");
    fixture.write("t.csv", "id,name,size\n1,a,1\n");
    fixture.refuses(&["t.csv", "t.db", "--if-exists", "fail"]).says(&["has a table t already"]);
    fixture.load(&["t.csv", "t.db", "--if-exists", "fail", "--table", "other"]).exits(0);
    assert_eq!(fixture.table("t.db", "other"), rows![[1, "a", 1]]);
}

#[test]
fn the_table_is_called_after_the_source_unless_named() {
    let fixture = Fixture::new();
    fixture.write("sales.2024.csv", "id\n1\n");
    fixture.load(&["sales.2024.csv", "t.db"]).exits(0);
    fixture.load(&["sales.2024.csv", "t.db", "--table", "Other"]).exits(0);
    assert_eq!(fixture.table("t.db", "sales.2024"), rows![[1]]);
    assert_eq!(fixture.table("t.db", "Other"), rows![[1]]);
    // SQL doesn't tell names apart by their case.
    fixture.refuses(&["sales.2024.csv", "t.db", "--table", "OTHER"]).says(&["holds rows already"]);
    fixture.misused(&["load", "sales.2024.csv", "t.db", "--table", ""]);
}

#[test]
fn a_target_can_be_spelled_in_several_ways() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let absolute = format!("sqlite:{}", fixture.path("d").display());
    for (target, file) in [
        ("a.db", "a.db"),
        ("b.sqlite", "b.sqlite"),
        ("c.SQLite3", "c.SQLite3"),
        ("sqlite:noending", "noending"),
        (&absolute, "d"),
    ] {
        fixture.load(&["in.csv", target]).exits(0);
        assert_eq!(fixture.table(file, "in"), rows![[1]]);
    }
    for target in ["in.txt", "noending", "sqlite:", "oracle://host/in.db"] {
        fixture.misused(&["load", "in.csv", target]).says(&["names no target", "sqlite:PATH"]);
    }
}

#[test]
fn a_link_to_a_database_stays_a_link() {
    let fixture = with_table("(1, 'a', 1.0)");
    fixture.write("t.csv", "id,name,size\n2,b,2.5\n");
    std::os::unix::fs::symlink("t.db", fixture.path("link.db")).unwrap();
    fixture.load(&["t.csv", "link.db", "--if-exists", "append"]).exits(0);
    assert!(fixture.path("link.db").is_symlink());
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a", 1.0], [2, "b", 2.5]]);
}

#[test]
fn a_database_in_utf_16_holds_the_same_text() {
    for strategy in strategies() {
        let fixture = Fixture::new();
        fixture
            .write("t.csv", "id,name\n1,Zo\u{eb} \u{1f600}\n2,\"it's\n\"\n")
            .sql("t.db", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (id INTEGER, name TEXT)");
        fixture.load(&["t.csv", "t.db", "--strategy", &strategy, "--verify", "checksum"]).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, "Zo\u{eb} \u{1f600}"], [2, "it's\n"]]);
    }
}

/// The type of the value behind a path of keys: the names of the stable report are checked with it.
fn kind(report: &Json, path: &str) -> &'static str {
    let value = path.split('.').try_fold(report, |value, key| value.get(key));
    match value {
        None => "missing",
        Some(Json::Null) => "null",
        Some(Json::Bool(_)) => "bool",
        Some(Json::Number(number)) if number.is_u64() => "count",
        Some(Json::Number(_)) => "number",
        Some(Json::String(_)) => "string",
        Some(Json::Array(_)) => "array",
        Some(Json::Object(_)) => "object",
    }
}

#[test]
fn the_json_report_has_the_keys_that_programs_rely_on() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n2,b\n");
    let run = fixture.load(&["in.csv", "t.db", "--json"]).exits(0);
    assert_eq!(run.stderr, "");
    let report = run.json();
    let keys = [
        ("version", "string"),
        ("plan.target", "string"),
        ("plan.table", "string"),
        ("plan.strategy", "string"),
        ("plan.knobs", "object"),
        ("plan.columns", "array"),
        ("plan.dialect", "object"),
        ("plan.durability", "string"),
        ("plan.lanes", "count"),
        ("plan.encoders", "count"),
        ("plan.chunk_bytes", "count"),
        ("plan.memory_ceiling_bytes", "count"),
        ("plan.reasons", "array"),
        ("rows_read", "count"),
        ("rows_loaded", "count"),
        ("rows_rejected", "count"),
        ("rows_skipped", "count"),
        ("bytes_read", "count"),
        ("rows_per_second", "number"),
        ("mb_per_second", "number"),
        ("seconds.total", "number"),
        ("seconds.load", "number"),
        ("seconds.index", "number"),
        ("seconds.durable", "number"),
        ("seconds.verify", "number"),
        ("stages", "array"),
        ("verify.method", "string"),
        ("verify.ok", "bool"),
        ("durability_read_back", "object"),
        ("warnings", "array"),
    ];
    for (key, wanted) in keys {
        let found = kind(&report, key);
        // A whole number of seconds is still a number.
        assert!(found == wanted || (wanted, found) == ("number", "count"), "{key}: {found}");
    }
    assert!(matches!(kind(&report, "plan.source"), "array" | "string"), "{report}");
    assert_eq!(
        report["plan"]["columns"],
        json!([{"name": "id", "type": "integer"}, {"name": "name", "type": "text"}])
    );
    for stage in report["stages"].as_array().unwrap() {
        assert!(stage["name"].is_string(), "{stage}");
        for time in ["busy", "starved", "blocked"] {
            assert!(stage[time].is_f64(), "{stage}");
        }
    }
    assert_eq!(report["rows_read"], 2);
    assert_eq!(report["rows_loaded"], 2);
    assert_eq!(report["verify"], json!({"method": "count", "ok": true}));
    assert_eq!(
        report["durability_read_back"],
        json!({"journal_mode": "delete", "synchronous": "full"})
    );
}

#[test]
fn read_rows_are_the_loaded_the_rejected_and_the_skipped_ones() {
    for strategy in strategies() {
        let fixture = with_table("(1, 'old', 1.0)");
        fixture.write("t.csv", "id,name\n1,a\n2,b\nx,c\n3,c\n2,d\n4\n");
        let report = fixture
            .load(&[
                "t.csv",
                "t.db",
                "--if-exists",
                "append",
                "--on-conflict",
                "skip",
                "--max-rejects",
                "2",
                "--strategy",
                &strategy,
                "--json",
            ])
            .exits(3)
            .json();
        let count = |key: &str| report[key].as_u64().unwrap();
        let counts = ["rows_read", "rows_loaded", "rows_rejected", "rows_skipped"].map(count);
        assert_eq!(counts, [6, 2, 2, 2], "{strategy}");
    }
}

#[test]
fn columns_find_each_other_by_name_whatever_their_order_and_case() {
    let fixture = with_table("");
    fixture.write("in.csv", "SIZE,Id,name\n2.5,1,a\n");
    let run = fixture.inrush(&["plan", "in.csv", "t.db", "--table", "t"]).exits(0);
    run.prints(&["by name"]);
    fixture.load(&["in.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a", 2.5]]);
}

#[test]
fn without_a_header_columns_go_by_position() {
    let fixture = with_table("");
    fixture.write("in.csv", "1,a,2.5\n2,b,3.5\n");
    fixture
        .inrush(&["plan", "in.csv", "t.db", "--table", "t"])
        .exits(0)
        .prints(&["by position", "no header"]);
    fixture.load(&["in.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a", 2.5], [2, "b", 3.5]]);
    fixture.write("in.csv", "1,a\n2,b\n");
    fixture
        .refuses(&["in.csv", "t.db", "--table", "t", "--if-exists", "append"])
        .says(&["2 columns", "has 3"]);
}

#[test]
fn columns_that_the_source_lacks_get_their_default() {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        "CREATE TABLE t (n INTEGER NOT NULL DEFAULT 7, id INTEGER, made TEXT DEFAULT ('now'), other,
             twice INTEGER GENERATED ALWAYS AS (id * 2) STORED)",
    );
    fixture.write("in.csv", "id\n1\n2\n");
    fixture.load(&["in.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[7, 1, "now", (), 2], [7, 2, "now", (), 4]]);
}

#[test]
fn a_column_that_the_table_lacks_is_refused() {
    let fixture = with_table("");
    fixture.write("in.csv", "id,nmae,size\n1,a,2\n");
    fixture
        .refuses(&["in.csv", "t.db", "--table", "t"])
        .says(&["table t has no column nmae", "id, name, size"]);
}

#[test]
fn several_files_go_into_one_table() {
    let fixture = Fixture::new();
    fixture
        .write("b.csv", "id,name\n3,c\n4,d\n")
        .write("a.csv", "name,id\na,1\nb,2\n")
        .write("c.tsv", "Id,Name\n9,z\n");
    // In the order they are named; each has its own header.
    let report = fixture.report(&["b.csv", "a.csv", "t.db"]);
    assert_eq!(report["plan"]["source"], json!(["b.csv", "a.csv"]));
    assert_eq!(fixture.table("t.db", "b"), rows![[3, "c"], [4, "d"], [1, "a"], [2, "b"]]);
    // A pattern's files in the order of their names.
    fixture.load(&["*.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["a", 1], ["b", 2], ["c", 3], ["d", 4]]);
}

#[test]
fn several_files_without_headers_and_one_that_is_empty() {
    let fixture = Fixture::new();
    fixture.write("1.csv", "1,a\n2,b").write("2.csv", "").write("3.csv", "3,c\n");
    fixture.load(&["?.csv", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
}

#[test]
fn files_of_different_columns_are_refused() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,name\n1,a\n").write("b.csv", "id,size\n2,b\n");
    fixture.refuses(&["a.csv", "b.csv", "t.db"]).says(&[
        "b.csv has other columns",
        "missing: name",
        "more: size",
    ]);
}

#[test]
fn a_bad_row_in_the_second_file_undoes_the_first() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,name\n1,a\n").write("b.csv", "name,id\nb,2\nc\nd,4\n");
    fixture.refuses(&["a.csv", "b.csv", "t.db"]).says(&["b.csv: line 3"]);
}

#[test]
fn files_may_be_compressed_and_encoded_each_in_its_own_way() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> =
        "\u{feff}id,name\n2,Zo\u{eb}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture
        .write("a.csv", "id,name\n1,Zo\u{eb}\n")
        .write("b.csv", utf16)
        .write("c.csv", "id,name\n3,Zo\u{eb}\n");
    fixture.tool("gzip", &["c.csv"], b"");
    fixture.load(&["a.csv", "b.csv", "c.csv.gz", "t.db", "--table", "t"]).exits(0);
    let rows = rows![[1, "Zo\u{eb}"], [2, "Zo\u{eb}"], [3, "Zo\u{eb}"]];
    assert_eq!(fixture.table("t.db", "t"), rows);
}

#[test]
fn standard_input_plain_and_compressed() {
    let fixture = Fixture::new();
    let text: String = (0..100_000).map(|n| format!("{n},name {n}\n")).collect();
    let text = format!("id,name\n{text}");
    let packed = fixture.tool("gzip", &["-c"], text.as_bytes());
    for (bytes, table) in [(text.as_bytes(), "plain"), (&packed, "packed")] {
        fixture.load_reading(bytes, &["-", "t.db", "--table", table]).exits(0);
        let sum = format!("SELECT sum(id) FROM {table} WHERE name = 'name ' || id");
        assert_eq!(fixture.number("t.db", &sum), 99_999 * 100_000 / 2);
    }
    fixture.load_reading(b"id\n1\n", &["-", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "stdin"), rows![[1]]);
    fixture.misused(&["load", "-", "-", "t.db"]).says(&["only once"]);
}

#[test]
fn standard_input_together_with_files() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,name\n1,a\n").write("c.csv", "id,name\n3,c\n");
    fixture
        .load_reading(b"name,id\nb,2\n", &["a.csv", "-", "c.csv", "t.db", "--table", "t"])
        .exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
}

#[test]
fn a_slow_pipe_is_waited_for() {
    let fixture = Fixture::new();
    let mut child = start(&mut fixture.command(&["load", "-", "t.db"]));
    let mut input = child.stdin.take().unwrap();
    for part in ["id,na", "me\n1", ",a\n2,b", "\n"] {
        input.write_all(part.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(fixture.table("t.db", "stdin"), rows![[1, "a"], [2, "b"]]);
}

#[test]
fn a_named_pipe_is_read_like_a_file() {
    let fixture = Fixture::new();
    fixture.tool("mkfifo", &["in.csv"], b"");
    let child = start(&mut fixture.command(&["load", "in.csv", "t.db"]));
    std::fs::write(fixture.path("in.csv"), "id,name\n1,a\n").unwrap();
    assert!(finish(child, b"").0.success());
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "a"]]);
}

#[test]
fn a_primary_key_is_declared_and_kept() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,code,name\n2,x,a\n1,x,b\n3,y,c\n2,z,d\n");
    let load = ["in.csv", "t.db", "--primary-key"];
    fixture.refuses(&[&load[..], &["id"]].concat()).says(&[
        "in.csv: line 5, column id",
        "'2'",
        "this key is there already",
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
    // For a table that is there they are its owner's business.
    fixture.misused(&["load", "in.csv", "t.db", "--if-exists", "append", "--index", "id"]);
}

/// Two rows that are there, and a file that meets both, adds one, and names one key twice.
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
    for strategy in strategies() {
        let rows = rows![[1, "old", 1.0], [2, "old", 2.0], [3, "c", 0.5]];
        assert_eq!(meeting(&strategy, "skip").table("t.db", "t"), rows, "{strategy}");
    }
}

#[test]
fn on_conflict_update_sets_the_columns_of_the_source() {
    for strategy in strategies() {
        let rows = rows![[1, "new", 1.0], [2, (), 2.0], [3, "cc", 0.5]];
        assert_eq!(meeting(&strategy, "update").table("t.db", "t"), rows, "{strategy}");
    }
}

#[test]
fn on_conflict_replace_makes_the_row_anew() {
    for strategy in strategies() {
        let rows = rows![[1, "new", 0.5], [2, (), 0.5], [3, "cc", 0.5]];
        assert_eq!(meeting(&strategy, "replace").table("t.db", "t"), rows, "{strategy}");
    }
}

#[test]
fn on_conflict_fail_makes_bad_rows() {
    let fixture = with_table("(1, 'old', 1.0), (2, 'old', 2.0)");
    fixture.write("t.csv", MEETING);
    let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "fail"];
    fixture.refuses(&load).says(&["t.csv: line 2, column id", "this key is there already"]);
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
fn types_can_be_named_or_all_be_text() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,code,day\n1,2,2013-01-01\n");
    fixture.load(&["t.csv", "t.db", "--type", "code=text", "--type", "day=text"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "2", "2013-01-01"]]);
    fixture
        .load(&[
            "t.csv",
            "t.db",
            "--if-exists",
            "replace",
            "--types",
            "text",
            "--type",
            "CODE=float",
        ])
        .exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["1", 2.0, "2013-01-01"]]);
    let declared: Vec<String> =
        fixture.columns("t.db", "t").into_iter().map(|(_, ty)| ty).collect();
    assert_eq!(declared, ["TEXT", "REAL", "TEXT"]);
    fixture
        .refuses(&["t.csv", "t.db", "--table", "u", "--type", "day=integer"])
        .says(&["t.csv: line 2, column day", "'2013-01-01' is not an integer"]);
}

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
    for strategy in strategies() {
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
    fixture
        .misused(&["load", "in.csv", "t.db", "--set", "synchronous=off"])
        .says(&["'durable' is promised", "--durability"]);
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
        for strategy in strategies() {
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

#[test]
fn what_is_wrong_on_the_command_line_is_told_with_exit_code_2() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n");
    let cases: [(&[&str], &str); 22] = [
        (&["--strategy", "sqlite/warp"], "sqlite/bind"),
        (&["--strategy", "mysql/load-data"], "sqlite/bind"),
        (&["--set", "warp=9"], "rows_per_transaction"),
        (&["--strategy", "bind", "--set", "rows_per_statement=9"], "rows_per_statement"),
        (&["--set", "journal_mode=diary"], "wal"),
        (&["--set", "rows_per_transaction=-1"], "rows_per_transaction"),
        (&["--set", "busy_timeout=soon"], "busy_timeout"),
        (&["--set", "page_size"], "KNOB=VALUE"),
        (&["--type", "id=elephant"], "elephant"),
        (&["--type", "id"], "COL=TYPE"),
        (&["--type", "nobody=text"], "nobody"),
        (&["--types", "guess"], "infer"),
        (&["--if-exists", "sometimes"], "append"),
        (&["--on-conflict", "ignore"], "skip"),
        (&["--durability", "eternal"], "durable"),
        (&["--verify", "twice"], "checksum"),
        (&["--max-rejects", "-1"], "-1"),
        (&["--chunk-size", "huge"], "256k"),
        (&["--lanes", "2"], "lanes"),
        (&["--delimiter", "ab"], "one ASCII character"),
        (&["--encoding", "klingon"], "klingon"),
        (&["--warp"], "--warp"),
    ];
    for (options, word) in cases {
        fixture.misused(&[&["load", "in.csv", "t.db"], options].concat()).says(&[word]);
        fixture.misused(&[&["plan", "in.csv", "t.db"], options].concat()).says(&[word]);
    }
    fixture.misused(&["load"]);
    fixture.misused(&["load", "in.csv"]);
    fixture.misused(&[]);
    fixture.misused(&["fly"]);
}

#[test]
fn a_plan_says_what_load_would_do_and_touches_nothing() {
    let fixture = Fixture::new();
    fixture
        .write("in.csv", "id,name\n1,a\n2,b\n")
        .sql("t.db", "CREATE TABLE t (id INTEGER, name TEXT)");
    let plan =
        |args: &[&str]| fixture.leaves_all(|| fixture.inrush(&[&["plan"], args].concat()).exits(0));
    plan(&["in.csv", "new.db"]).prints(&[
        "sqlite/bind",
        "id",
        "integer",
        "name",
        "text",
        "commas",
        "header",
        "will be made",
        "durable",
        "MB of memory",
    ]);
    plan(&["in.csv", "t.db", "--table", "t"]).prints(&["is there and empty", "by name", "INTEGER"]);
    let strategy = plan(&["in.csv", "new.db", "--strategy", "values"]);
    strategy.prints(&["sqlite/values", "rows_per_statement=100", "was asked for"]);
    let json = plan(&["in.csv", "new.db", "--json"]).json();
    assert_eq!(json["strategy"], "sqlite/bind");
    assert_eq!(json["columns"][1], json!({"name": "name", "type": "text"}));
    // What load would refuse, plan refuses.
    fixture.sql("t.db", "INSERT INTO t VALUES (1, 'x')");
    fixture.leaves_all(|| {
        fixture
            .inrush(&["plan", "in.csv", "t.db", "--table", "t"])
            .exits(1)
            .says(&["holds rows already"])
    });
    fixture.leaves_all(|| fixture.inrush(&["plan", "in.csv", "nowhere/new.db"]).exits(1));
}

#[test]
fn progress_is_for_standard_error_and_can_be_read_by_programs() {
    let fixture = Fixture::new();
    let rows: String = (0..200_000).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let run = fixture.load(&["in.csv", "t.db", "--progress", "json", "--json"]).exits(0);
    run.json();
    assert!(!run.stderr.is_empty());
    for line in run.stderr.lines() {
        let line: Json =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(line.get("phase").is_some() || line.get("rows").is_some(), "{line}");
    }
    let load = |options: &[&str]| {
        fixture.load(&[&["in.csv", "t.db", "--if-exists", "replace"], options].concat()).exits(0)
    };
    // Nothing but the report where nobody watches.
    assert_eq!(load(&[]).stderr, "");
    assert_eq!(load(&["--progress", "none"]).stderr, "");
    let quiet = load(&["--quiet"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    load(&["--progress", "plain"]).says(&["loading", "committing"]);
    load(&["--verbose"]).says(&["strategy  sqlite/bind"]).prints(&["busy", "synchronous = full"]);
}

#[test]
fn help_is_there_for_every_command_and_shows_the_options_that_work() {
    let fixture = Fixture::new();
    fixture.inrush(&["--version"]).exits(0).prints(&["inrush 0."]);
    fixture.inrush(&["--help"]).exits(0).prints(&["load", "plan", "strategies", "Exit codes"]);
    for command in ["load", "plan"] {
        let help = fixture.inrush(&[command, "--help"]).exits(0);
        help.prints(&[
            "--table",
            "--if-exists",
            "--on-conflict",
            "--key",
            "--primary-key",
            "--index",
            "--type",
            "--types",
            "--format",
            "--delimiter",
            "--quote",
            "--escape",
            "--header",
            "--null",
            "--encoding",
            "--skip-lines",
            "--comment",
            "--strategy",
            "--set",
            "--lanes",
            "--encoders",
            "--chunk-size",
            "--durability",
            "--max-rejects",
            "--rejects",
            "--verify",
            "--json",
            "--progress",
            "--quiet",
            "--verbose",
        ]);
    }
    for command in ["strategies", "completions", "man"] {
        fixture.inrush(&[command, "--help"]).exits(0);
    }
}

#[test]
fn strategies_lists_ids_and_knobs() {
    let fixture = Fixture::new();
    for args in [&["strategies"][..], &["strategies", "sqlite"], &["strategies", "any.db"]] {
        fixture.inrush(args).exits(0).prints(&[
            "sqlite/bind",
            "sqlite/values",
            "sqlite/row-sql",
            "rows_per_statement",
            "rows_per_transaction",
            "journal_mode",
            "synchronous",
            "begin",
            "busy_timeout",
            "page_size",
            "cache",
        ]);
    }
    fixture.misused(&["strategies", "paper"]).says(&["paper"]);
}

#[test]
fn completions_are_scripts_that_their_shells_read() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = fixture.inrush(&["completions", shell]).exits(0).stdout;
        assert!(script.contains("inrush") && script.contains("max-rejects"), "{shell}");
        if std::process::Command::new(shell)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_err()
        {
            eprintln!("SKIPPED: no {shell} here to read its script");
            continue;
        }
        fixture.tool(shell, &["-n"], script.as_bytes());
    }
    fixture.misused(&["completions", "abacus"]).says(&["bash"]);
}

#[test]
fn the_manual_page_is_one() {
    let page = Fixture::new().inrush(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH inrush 1"), "{page}");
    assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
    assert!(page.contains("max\\-rejects"), "{page}");
}

#[test]
fn whoever_stops_reading_our_output_has_seen_enough() {
    let fixture = Fixture::new();
    let script = "for args in man 'completions bash' strategies; do \"$0\" $args | head -c 1; done";
    let run = fixture.tool("bash", &["-o", "pipefail", "-ec", script, crate::fixture::INRUSH], b"");
    assert_eq!(run.len(), 3);
}
