//! Loads that go well, and the options that say how.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::fixture::{
    Fixture, INRUSH, Outcome, compare, finish, repository, rows, sql_strategies, start, with_table,
};

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
        fixture
            .misused(&["load", "in.csv", target])
            .says(&["is not a supported target", "sqlite:PATH"]);
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
    for strategy in sql_strategies() {
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
    for strategy in sql_strategies() {
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

/// What comes of `a.csv` and a pipe behind it, when something is done to the file before the pipe ends.
fn with_a_change(command: &str, more: &[&str], change: impl Fn(&Fixture)) -> Outcome {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,v\n1,a\n2,b\n").tool("mkfifo", &["b.csv"], b"");
    let args = [&[command, "a.csv", "b.csv", "t.db", "--table", "t"], more].concat();
    let child = start(&mut fixture.command(&args));
    // Who opens the pipe has looked at the file.
    let mut pipe = File::options().write(true).open(fixture.path("b.csv")).unwrap();
    pipe.write_all(b"id,v\n3,c\n").unwrap();
    change(&fixture);
    drop(pipe);
    let run = Outcome::of(args.join(" "), finish(child, b""));
    assert!(!fixture.path("t.db").exists(), "{}", run.stderr);
    run
}

#[test]
fn a_file_that_is_changed_while_it_is_read_is_not_loaded() {
    let changed = "a.csv was changed while it was read: ";
    for (content, how) in [
        ("id,v\n1,a\n", "it had 13 bytes, and has 9"),
        ("id,v\n1,a\n2", "it had 13 bytes, and has 10"),
        ("", "it had 13 bytes, and has 0"),
        ("id,v\n1,a\n2,b\n3,c\n", "it had 13 bytes, and has 17"),
    ] {
        let write = |fixture: &Fixture| {
            fixture.write("a.csv", content);
        };
        let run = with_a_change("load", &["--max-rejects", "all"], write).exits(1);
        run.says(&[changed, how, "load it again"]).ends_with_nothing_changed();
        with_a_change("check", &[], write).exits(1).says(&[changed, how]);
    }
    let touch = |fixture: &Fixture| drop(fixture.tool("touch", &["-d", "@9", "a.csv"], b""));
    with_a_change("load", &[], touch).exits(1).says(&[changed, "it was written again"]);
    let replace = |fixture: &Fixture| {
        fixture.write("other", "id,v\n1,a\n2,c\n");
        fs::rename(fixture.path("other"), fixture.path("a.csv")).unwrap();
    };
    with_a_change("load", &[], replace).exits(1).says(&[changed, "another file has its name"]);
}

#[test]
fn help_that_can_not_be_written_is_a_failure() {
    for args in [&["--help"][..], &["-h"], &["load", "--help"], &["--version"], &["strategies"]] {
        let mut command = Command::new(INRUSH);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let run = command.args(args).stdout(full).output().unwrap();
        let run = Outcome::of(args.join(" "), (run.status, run.stdout, run.stderr)).exits(1);
        run.says(&["cannot write to standard output"]);
    }
}

#[test]
fn a_load_whose_report_is_lost_is_said_to_be_committed() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id\n1\n2\n");
    let full = || File::options().write(true).open("/dev/full");
    let read_only = || File::open("/dev/null");
    for (output, more) in
        [(full(), &[][..]), (full(), &["--json"]), (read_only(), &[]), (read_only(), &["--json"])]
    {
        let args = [&["load", "a.csv", "t.db", "--if-exists", "replace"], more].concat();
        let mut command = Command::new(INRUSH);
        command.args(&args).current_dir(fixture.dir());
        let run = command.stdout(output.unwrap()).output().unwrap();
        Outcome::of(args.join(" "), (run.status, run.stdout, run.stderr)).exits(1).says(&[
            "2 rows were loaded into t.db, and the report is lost: cannot write to standard output",
            "look at the table before another load",
            "committed: only the report is lost",
        ]);
        assert_eq!(fixture.table("t.db", "a"), rows![[1], [2]]);
    }
}

#[test]
fn a_key_is_for_conflicts_that_are_answered() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,v\n1,a\n1,b\n");
    for more in [&[][..], &["--on-conflict", "fail"]] {
        let load = [&["load", "t.csv", "t.db", "--key", "id"], more].concat();
        let said = ["--key id", "--on-conflict skip, replace or update", "leave --key out"];
        fixture.misused(&load).says(&said);
    }
}

#[test]
fn a_key_that_the_source_does_not_have_is_told_with_those_that_it_has() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,v\n1,a\n");
    fixture.sql(
        "t.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT, g INTEGER UNIQUE, c AS (id + 1))",
    );
    for (key, says) in [
        ("g", "--key g: the source has no column g"),
        ("c", "--key c: the database computes c"),
        ("x", "--key x: there is no column x"),
    ] {
        let upsert = ["load", "t.csv", "t.db", "--if-exists", "append", "--on-conflict", "update"];
        let run = fixture.misused(&[&upsert[..], &["--key", key]].concat());
        run.says(&[says, "use one of the columns: id, v"]);
    }
}

#[test]
fn names_for_a_file_without_a_header_are_told_as_names() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "1,a\n2,b\n");
    let load = ["load", "t.csv", "t.db", "--header", "no"];
    let run = fixture.misused(&[&load[..], &["--columns", "id,name"]].concat());
    run.says(&["say --rename column_1=id --rename column_2=name", "--match position"]);
    // As it is advised.
    let named = ["--rename", "column_1=id", "--rename", "column_2=name"];
    fixture.inrush(&[&load[..], &named].concat()).exits(0);
    assert_eq!(fixture.query("t.db", "SELECT id, name FROM t"), rows![[1, "a"], [2, "b"]]);
}
