//! A file of 1,000 records of which some are bad, one of each kind, into an existing table.

use serde_json::{Value as Json, json};

use crate::fixture::{Fixture, json_lines, rows, sql_strategies};

const HEADER: &str = "id,n,x,day,name,score";

const TABLE: &str = "CREATE TABLE t (
    id INTEGER PRIMARY KEY, n INTEGER, x REAL, day DATE, name TEXT NOT NULL,
    score INTEGER CHECK (score >= 0));
    INSERT INTO t VALUES (-1, 1, 1.5, '2013-01-01', 'old', 1);";

/// A bad row: as it is written, the column to blame, the code, and what a user would make of it.
struct Bad {
    raw: &'static [u8],
    column: Option<&'static str>,
    code: &'static str,
    fixed: &'static str,
}

const fn bad(
    raw: &'static [u8],
    column: Option<&'static str>,
    code: &'static str,
    fixed: &'static str,
) -> Bad {
    Bad { raw, column, code, fixed }
}

/// One of each kind, with the ids of the rows that they take the place of.
const BAD: [(u64, Bad); 14] = [
    (1, bad(b"1,1,1.5,2013-01-01", None, "field-count", "1,1,1.5,2013-01-01,a,1")),
    (90, bad(b"90,1,1.5,2013-01-01,a,1,2", None, "field-count", "90,1,1.5,2013-01-01,a,1")),
    (170, bad(b"170,1,1.5,2013-01-01,\"a,1", None, "quote", "170,1,1.5,2013-01-01,a,1")),
    (240, bad(b"240,1,1.5,2013-01-01,\"a\"b,1", None, "quote", "240,1,1.5,2013-01-01,ab,1")),
    (
        333,
        bad(
            b"333,1,1.5,2013-01-01,Zo\xeb,1",
            Some("name"),
            "utf-8",
            "333,1,1.5,2013-01-01,Zo\u{eb},1",
        ),
    ),
    (334, bad(b"334,1,1.5,2013-01-01,a\0b,1", Some("name"), "nul", "334,1,1.5,2013-01-01,ab,1")),
    (420, bad(b"420,many,1.5,2013-01-01,a,1", Some("n"), "type", "420,99,1.5,2013-01-01,a,1")),
    (
        500,
        bad(
            b"500,9223372036854775808,1.5,2013-01-01,a,1",
            Some("n"),
            "range",
            "500,9223372036854775807,1.5,2013-01-01,a,1",
        ),
    ),
    (555, bad(b"555,1,1e400,2013-01-01,a,1", Some("x"), "range", "555,1,1e300,2013-01-01,a,1")),
    (600, bad(b"600,1,1.5,2012-02-30,a,1", Some("day"), "type", "600,1,1.5,2012-02-29,a,1")),
    (700, bad(b"700,1,1.5,2013-01-01,,1", Some("name"), "not-null", "700,1,1.5,2013-01-01,a,1")),
    (
        800,
        bad(b"799,1,1.5,2013-01-01,a,1", Some("id"), "duplicate-key", "800,1,1.5,2013-01-01,a,1"),
    ),
    (900, bad(b"900,1,1.5,2013-01-01,a,-1", None, "constraint", "900,1,1.5,2013-01-01,a,1")),
    (
        1000,
        bad(b"-1,1,1.5,2013-01-01,a,1", Some("id"), "duplicate-key", "1000,1,1.5,2013-01-01,a,1"),
    ),
];

/// The file, what its rejects should be, and where in it they stand.
struct Dirty {
    bytes: Vec<u8>,
    rejects: Vec<u8>,
    fixed: String,
    /// `{record, line, byte, column, code}` of each bad row.
    places: Vec<Json>,
}

/// 1,000 records; every fifth good one from 20 on has a quoted field, over two lines if `multiline`.
fn dirty(newline: &str, multiline: bool) -> Dirty {
    let mut dirty = Dirty {
        bytes: format!("{HEADER}{newline}").into_bytes(),
        rejects: format!("{HEADER}{newline}").into_bytes(),
        fixed: format!("{HEADER}\n"),
        places: Vec::new(),
    };
    for record in 1..=1000 {
        match BAD.iter().find(|(at, _)| *at == record) {
            Some((_, bad)) => {
                let line = 1 + dirty.bytes.iter().filter(|byte| **byte == b'\n').count();
                let byte = dirty.bytes.len();
                let Bad { column, code, .. } = bad;
                dirty.places.push(
                    json!({"record": record, "line": line, "byte": byte, "column": column, "code": code}),
                );
                for bytes in [&mut dirty.bytes, &mut dirty.rejects] {
                    bytes.extend_from_slice(bad.raw);
                    bytes.extend_from_slice(newline.as_bytes());
                }
                dirty.fixed += bad.fixed;
                dirty.fixed.push('\n');
            }
            None => {
                let name = match (record % 5 == 0, multiline) {
                    (false, _) => format!("name {record}"),
                    (true, false) => format!("\"name, {record}\""),
                    (true, true) => format!("\"name{newline}\"\"{record}\"\"{newline}\""),
                };
                let row = format!("{record},{record},0.5,2013-01-01,{name},{record}{newline}");
                dirty.bytes.extend_from_slice(row.as_bytes());
            }
        }
    }
    dirty
}

fn fixture(dirty: &Dirty) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("dirty.csv", &dirty.bytes).sql("shop.db", TABLE);
    fixture
}

const INTO_SHOP: [&str; 6] = ["dirty.csv", "shop.db", "--table", "t", "--if-exists", "append"];

fn into_shop<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&INTO_SHOP[..], more].concat()
}

/// The sidecar without file and message, which the tests look at by themselves.
fn places(sidecar: &[u8]) -> Vec<Json> {
    json_lines(sidecar)
        .into_iter()
        .map(|mut line| {
            let line = line.as_object_mut().unwrap();
            line.remove("file");
            line.remove("message");
            assert!(line.remove("table").is_some());
            assert_eq!(line.remove("dialect").unwrap()["delimiter"], ",");
            assert_eq!(line.remove("line_hash").is_some(), line["code"] == "quote");
            Json::Object(line.clone())
        })
        .collect()
}

#[track_caller]
fn assert_rejects(fixture: &Fixture, name: &str, dirty: &Dirty) {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(text(&fixture.read(name)), text(&dirty.rejects));
    assert_eq!(places(&fixture.read(&format!("{name}.jsonl"))), dirty.places);
}

/// The old row is there, and all good rows with the values they should have.
#[track_caller]
fn assert_all_others_loaded(fixture: &Fixture) {
    let good = 1000 - BAD.len() as i64;
    assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM t"), 1 + good);
    let right = "SELECT count(*) FROM t WHERE typeof(id) || typeof(n) || typeof(x) = 'integerintegerreal'
        AND n = id AND x = 0.5 AND day = '2013-01-01' AND score = id AND name LIKE 'name%' || id || '%'";
    assert_eq!(fixture.number("shop.db", right), good);
    fixture.assert_sound("shop.db");
}

#[test]
fn the_first_bad_row_stops_the_load_and_nothing_changes() {
    let fixture = fixture(&dirty("\n", false));
    fixture.refuses(&INTO_SHOP).says(&[
        "dirty.csv: line 2",
        "4 fields where 6 are expected",
        "1,1,1.5",
    ]);
}

#[test]
fn each_kind_of_bad_row_is_told_with_file_line_column_value_and_reason() {
    let messages: [&[&str]; BAD.len()] = [
        &["line 2:", "4 fields where 6 are expected", "'1,1,1.5,2013-01-01'"],
        &["line 2:", "7 fields where 6 are expected"],
        &["line 2:", "quote", "never closed", "--quote none"],
        &["line 2:", "text after a closing quote", "'b,1'"],
        &["line 2, column name:", "invalid UTF-8", "0xeb", "--encoding windows-1252"],
        &["line 2, column name:", "NUL"],
        &["line 2, column n:", "'many' is not an integer"],
        &["line 2, column n:", "'9223372036854775808' is out of range", "64 bits"],
        &["line 2, column x:", "'1e400' is out of range", "double"],
        &["line 2, column day:", "'2012-02-30' is not a date"],
        &["line 2, column name:", "NULL"],
        &["line 2, column id:", "'799'", "duplicate key"],
        &["line 2:", "score >= 0"],
        &["line 2, column id:", "'-1'", "duplicate key"],
    ];
    for ((_, bad), words) in BAD.iter().zip(messages) {
        let fixture = Fixture::new();
        // Good rows enough to tell the dialect by, and that the file is text.
        let good: String = (1000..1020).map(|id| format!("{id},5,5,2013-01-01,a,5\n")).collect();
        let file = [HEADER.as_bytes(), b"\n", bad.raw, b"\n", good.as_bytes()].concat();
        fixture.write("dirty.csv", file).sql("shop.db", TABLE);
        fixture.sql("shop.db", "INSERT INTO t VALUES (799, 1, 1.5, '2013-01-01', 'old', 1)");
        fixture.refuses(&into_shop(&["--quote", "\""])).says(&["dirty.csv: "]).says(words);
    }
}

#[test]
fn with_a_limit_exactly_the_bad_rows_are_put_aside_and_all_others_are_loaded() {
    let dirty = dirty("\n", false);
    let fixture = fixture(&dirty);
    fixture.load(&into_shop(&["--max-rejects", "20"])).exits(3).prints(&[
        "986 rows",
        "14 bad rows",
        "dirty.rejects.csv",
        "dirty.rejects.csv.jsonl",
    ]);
    assert_rejects(&fixture, "dirty.rejects.csv", &dirty);
    assert_all_others_loaded(&fixture);
    let names = ["dirty.csv", "dirty.rejects.csv", "dirty.rejects.csv.jsonl", "shop.db"];
    assert_eq!(fixture.names(), names);
    for note in json_lines(&fixture.read("dirty.rejects.csv.jsonl")) {
        assert_eq!(note["file"], "dirty.csv");
        assert!(note["message"].as_str().is_some_and(|message| !message.is_empty()), "{note}");
    }
}

#[test]
fn the_report_counts_loaded_and_rejected_rows() {
    let fixture = fixture(&dirty("\n", false));
    let report = fixture.load(&into_shop(&["--max-rejects", "20", "--json"])).exits(3).json();
    assert_eq!(report["rows_read"], 1000);
    assert_eq!(report["rows_loaded"], 986);
    assert_eq!(report["rows_rejected"], 14);
    assert_eq!(report["rows_skipped"], 0);
    assert_eq!(report["verify"], json!({"method": "count", "ok": true}));
}

#[test]
fn mended_rejects_load_into_the_same_table() {
    let dirty = dirty("\n", false);
    let fixture = fixture(&dirty);
    fixture.load(&into_shop(&["--max-rejects", "20"])).exits(3);
    fixture.write("dirty.rejects.csv", &dirty.fixed);
    fixture
        .load(&["dirty.rejects.csv", "shop.db", "--table", "t", "--if-exists", "append"])
        .exits(0);
    assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM t WHERE id > 0"), 1000);
    assert_eq!(fixture.number("shop.db", "SELECT sum(id) FROM t WHERE id > 0"), 500_500);
}

#[test]
fn unmended_rejects_are_rejected_again_for_the_same_reasons() {
    let dirty = dirty("\n", false);
    let fixture = fixture(&dirty);
    fixture.load(&into_shop(&["--max-rejects", "20"])).exits(3);
    // Among rows that are all bad the sniffer may well decide that quotes are plain characters.
    let again = ["dirty.rejects.csv", "shop.db", "--table", "t", "--if-exists", "append"];
    fixture.load(&[&again[..], &["--max-rejects", "20", "--quote", "\""]].concat()).exits(3);
    let codes = |name: &str| -> Vec<Json> {
        places(&fixture.read(name)).iter().map(|place| place["code"].clone()).collect()
    };
    assert_eq!(
        codes("dirty.rejects.rejects.csv.jsonl"),
        codes("dirty.rejects.csv.jsonl"),
        "{:?}",
        fixture.names()
    );
    assert_eq!(fixture.read("dirty.rejects.rejects.csv"), dirty.rejects);
}

#[test]
fn positions_are_right_after_quoted_lines_and_crlf() {
    for (newline, multiline) in [("\n", true), ("\r\n", false), ("\r\n", true)] {
        let dirty = dirty(newline, multiline);
        let fixture = fixture(&dirty);
        fixture.load(&into_shop(&["--max-rejects", "20"])).exits(3);
        assert_eq!(places(&fixture.read("dirty.rejects.csv.jsonl")), dirty.places);
        assert_all_others_loaded(&fixture);
    }
}

#[test]
fn rejects_of_a_crlf_file_keep_their_line_ends() {
    let dirty = dirty("\r\n", true);
    let fixture = fixture(&dirty);
    fixture.load(&into_shop(&["--max-rejects", "20"])).exits(3);
    assert_rejects(&fixture, "dirty.rejects.csv", &dirty);
}

#[test]
fn every_strategy_and_chunk_size_rejects_the_same_rows() {
    let dirty = dirty("\n", true);
    let mut first = None;
    for strategy in sql_strategies() {
        for size in ["256k", "1k", "3000"] {
            let fixture = fixture(&dirty);
            let options = ["--max-rejects", "20", "--strategy", &strategy, "--chunk-size", size];
            fixture.load(&into_shop(&[&options[..], &["--encoders", "3"]].concat())).exits(3);
            assert_rejects(&fixture, "dirty.rejects.csv", &dirty);
            assert_all_others_loaded(&fixture);
            let all = (
                fixture.typed_table("shop.db", "t"),
                fixture.read("dirty.rejects.csv"),
                fixture.read("dirty.rejects.csv.jsonl"),
            );
            assert!(*first.get_or_insert_with(|| all.clone()) == all, "{strategy}, {size}");
        }
    }
}

#[test]
fn a_limit_that_is_exceeded_changes_nothing_and_leaves_no_rejects() {
    for limit in ["0", "1", "13"] {
        let fixture = fixture(&dirty("\n", false));
        fixture.refuses(&into_shop(&["--max-rejects", limit])).says(&["dirty.csv: line "]);
    }
    let fixture = fixture(&dirty("\n", false));
    fixture.load(&into_shop(&["--max-rejects", "14"])).exits(3);
}

#[test]
fn a_limit_can_be_a_share_of_the_rows() {
    let dirty = dirty("\n", false);
    let fixture = fixture(&dirty);
    fixture.refuses(&into_shop(&["--max-rejects", "1%"])).says(&["1%"]);
    fixture.refuses(&into_shop(&["--max-rejects", "1.3%"]));
    fixture.load(&into_shop(&["--max-rejects", "1.4%"])).exits(3);
    assert_rejects(&fixture, "dirty.rejects.csv", &dirty);
    fixture.misused(&["load", "dirty.csv", "shop.db", "--max-rejects", "101%"]);
    fixture.misused(&["load", "dirty.csv", "shop.db", "--max-rejects", "few"]);
}

#[test]
fn rejects_can_go_elsewhere() {
    let dirty = dirty("\n", false);
    let fixture = fixture(&dirty);
    fixture
        .load(&into_shop(&["--max-rejects", "20", "--rejects", "aside.txt"]))
        .exits(3)
        .prints(&["aside.txt"]);
    assert_rejects(&fixture, "aside.txt", &dirty);
    assert_eq!(fixture.names(), ["aside.txt", "aside.txt.jsonl", "dirty.csv", "shop.db"]);
}

#[test]
fn a_directory_for_rejects_that_is_not_there_is_told_before_the_load() {
    let fixture = fixture(&dirty("\n", false));
    let load = into_shop(&["--max-rejects", "20", "--rejects", "nowhere/aside.csv"]);
    fixture.misused(&[&["load"], &load[..]].concat()).says(&["nowhere/aside.csv", "--rejects"]);
}

#[test]
fn rejects_never_overwrite_an_input_or_the_target() {
    let fixture = fixture(&dirty("\n", false));
    std::os::unix::fs::symlink("dirty.csv", fixture.path("link.csv")).unwrap();
    for path in ["dirty.csv", "./dirty.csv", "link.csv", "shop.db"] {
        fixture
            .misused(
                &[&["load"], &into_shop(&["--max-rejects", "20", "--rejects", path])[..]].concat(),
            )
            .says(&[path]);
    }
    // The default place of the first one's bad rows is the second input.
    fixture.write("dirty.rejects.csv", format!("{HEADER}\n2000,1,1.5,2013-01-01,a,1\n"));
    fixture.misused(&[
        "load",
        "dirty.csv",
        "dirty.rejects.csv",
        "shop.db",
        "--table",
        "t",
        "--if-exists",
        "append",
        "--max-rejects",
        "20",
    ]);
}

#[test]
fn every_input_has_its_own_rejects() {
    let fixture = Fixture::new();
    fixture
        .write("a.csv", "id,n\n1,1\n2,x\n3,3\n")
        .write("b.csv", "n,id\n4,4\n5,y\n")
        .write("c.tsv", "id,n\n7,7\n8\n")
        .sql("t.db", "CREATE TABLE t (id INTEGER, n INTEGER)");
    let sources = ["a.csv", "b.csv", "c.tsv", "t.db", "--table", "t", "--max-rejects", "5"];
    fixture.load(&sources).exits(3).prints(&["3 bad rows"]);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, 1], [3, 3], [4, 4], [7, 7]]);
    assert_eq!(fixture.read("a.rejects.csv"), b"id,n\n2,x\n");
    assert_eq!(fixture.read("b.rejects.csv"), b"n,id\n5,y\n");
    assert_eq!(fixture.read("c.rejects.tsv"), b"id,n\n8\n");
    let place = |name: &str| {
        let note = json_lines(&fixture.read(name)).remove(0);
        (note["file"].clone(), note["record"].clone(), note["line"].clone(), note["byte"].clone())
    };
    assert_eq!(place("a.rejects.csv.jsonl"), (json!("a.csv"), json!(2), json!(3), json!(9)));
    assert_eq!(place("b.rejects.csv.jsonl"), (json!("b.csv"), json!(2), json!(3), json!(9)));
    assert_eq!(place("c.rejects.tsv.jsonl"), (json!("c.tsv"), json!(2), json!(3), json!(9)));
}

#[test]
fn positions_count_the_decompressed_text_with_comments_and_skipped_lines() {
    let fixture = Fixture::new();
    let text = "a report\nof today\nid,n\n# a comment\n1,1\n\n2,x\n";
    fixture.sql("t.db", "CREATE TABLE t (id INTEGER, n INTEGER)").write("in.csv", text);
    fixture.tool("gzip", &["in.csv"], b"");
    fixture
        .load(&[
            "in.csv.gz",
            "t.db",
            "--table",
            "t",
            "--skip-lines",
            "2",
            "--comment",
            "#",
            "--max-rejects",
            "1",
        ])
        .exits(3);
    assert_eq!(fixture.read("in.rejects.csv"), b"id,n\n2,x\n");
    assert_eq!(
        places(&fixture.read("in.rejects.csv.jsonl")),
        [json!({"record": 2, "line": 7, "byte": 40, "column": "n", "code": "type"})]
    );
}

#[test]
fn lines_to_skip_are_none_of_a_file_of_bad_rows() {
    let fixture = Fixture::new();
    for (name, text, fixed) in [
        ("in.csv", "a report\nof today\nid,n\n1,1\n2,x\n3,y\n", "id,n\n2,2\n3,3\n"),
        ("plain.csv", "a report\nof today\n1,1\n2,x\n3,y\n", "2,2\n3,3\n"),
        (
            "in.jsonl",
            "a report\nof today\n{\"id\":1,\"n\":1}\n{\"id\":2,\"n\":\"x\"}\n{\"id\":3,\"n\":\"x\"}\n",
            "{\"id\":2,\"n\":2}\n{\"id\":3,\"n\":3}\n",
        ),
    ] {
        fixture.sql("t.db", "DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER, n INTEGER)");
        let options = ["t.db", "--table", "t", "--max-rejects", "2", "--skip-lines", "2"];
        fixture.write(name, text).load(&[&[name], &options[..]].concat()).exits(3);
        let rejects = name.replace('.', ".rejects.");
        fixture.write(&rejects, fixed);
        let again = [&[&*rejects], &options[..], &["--if-exists", "append"]].concat();
        let run = fixture.load(&again).exits(0);
        run.prints(&[&format!("--skip-lines 2 is not for {rejects}")]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, 1], [2, 2], [3, 3]], "{name}");
        // Beside a file that has such lines.
        let more = ["--if-exists", "replace"];
        fixture
            .write("more.csv", "a report\nof today\nid,n\n9,9\n")
            .write("more.jsonl", "\n\n{\"id\":9,\"n\":9}\n");
        if name != "plain.csv" {
            let other = if name == "in.csv" { "more.csv" } else { "more.jsonl" };
            fixture.load(&[&[&*rejects, other], &options[..], &more].concat()).exits(0);
            assert_eq!(fixture.table("t.db", "t"), rows![[2, 2], [3, 3], [9, 9]], "{name}");
        }
    }
}

#[test]
fn bad_rows_of_standard_input_go_to_the_current_directory() {
    let dirty = dirty("\n", false);
    let fixture = fixture(&dirty);
    let args = ["-", "shop.db", "--table", "t", "--if-exists", "append", "--max-rejects", "20"];
    fixture.load_reading(&dirty.bytes, &args).exits(3);
    assert_rejects(&fixture, "stdin.rejects.csv", &dirty);
    assert_all_others_loaded(&fixture);
}

#[test]
fn a_new_table_has_bad_rows_too() {
    let fixture = Fixture::new();
    let good: String = (10..30).map(|id| format!("{id},name\n")).collect();
    fixture.write("in.csv", format!("id,name\n1,a\n2\n3,\"b\" c\n4,d\n5,e,f\n6,\"g\n{good}"));
    // In so few rows two broken quotes would be taken for plain characters.
    let load = ["in.csv", "new.db", "--quote", "\""];
    fixture.refuses(&load).says(&["in.csv: line 3", "1 field where 2 are expected"]);
    fixture.load(&[&load[..], &["--max-rejects", "4"]].concat()).exits(3);
    assert_eq!(fixture.table("new.db", "in")[..3], rows![[1, "a"], [4, "d"], [10, "name"]]);
    assert_eq!(fixture.number("new.db", "SELECT count(*) FROM \"in\""), 22);
    assert_eq!(fixture.read("in.rejects.csv"), b"id,name\n2\n3,\"b\" c\n5,e,f\n6,\"g\n");
}

#[test]
fn the_last_row_may_be_bad_and_lack_its_newline() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n2,\"open");
    fixture.load(&["in.csv", "new.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.table("new.db", "in"), rows![[1, "a"]]);
    assert_eq!(fixture.read("in.rejects.csv"), b"id,name\n2,\"open\n");
}

#[test]
fn rows_that_a_strict_table_or_a_trigger_refuses_are_bad_rows() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,parent\n1,1\n2,9\n3,x\n").sql(
        "t.db",
        "CREATE TABLE parent (id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (1);
             CREATE TABLE t (id INT, parent INT) STRICT;
             CREATE TRIGGER no_orphans BEFORE INSERT ON t
                WHEN NOT EXISTS (SELECT 1 FROM parent WHERE id = new.parent)
                BEGIN SELECT RAISE(ABORT, 'no such parent'); END;",
    );
    fixture.load(&["in.csv", "t.db", "--table", "t", "--max-rejects", "2"]).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, 1]]);
    assert_eq!(fixture.read("in.rejects.csv"), b"id,parent\n2,9\n3,x\n");
    let notes = json_lines(&fixture.read("in.rejects.csv.jsonl"));
    assert_eq!(notes[0]["code"], "constraint");
    assert!(notes[0]["message"].as_str().unwrap().contains("no such parent"));
    assert_eq!(notes[1]["code"], "type");
}

#[test]
fn rows_without_the_row_they_refer_to_are_bad_rows() {
    for strategy in sql_strategies() {
        let fixture = Fixture::new();
        fixture.write("in.csv", "id,parent\n1,1\n2,9\n3,\n").sql(
            "t.db",
            "CREATE TABLE parent (id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (1);
             CREATE TABLE t (id INTEGER, parent INTEGER REFERENCES parent (id));
             CREATE TABLE late (id INTEGER,
                parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);",
        );
        let load = ["in.csv", "t.db", "--strategy", &strategy, "--table"];
        fixture.refuses(&[&load[..], &["t"]].concat()).says(&["in.csv: line 3", "FOREIGN KEY"]);
        fixture.load(&[&load[..], &["t", "--max-rejects", "1"]].concat()).exits(3);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, 1], [3, ()]]);
        assert_eq!(json_lines(&fixture.read("in.rejects.csv.jsonl"))[0]["code"], "foreign-key");
        // SQLite itself looks when all rows are there, and then names none.
        fixture.refuses(&[&load[..], &["late"]].concat()).says(&["in.csv: line 3", "FOREIGN KEY"]);
        // The rows that refer to it keep the parent table as it is.
        fixture.write("parent.csv", "id\n5\n");
        for word in ["truncate", "replace"] {
            fixture
                .refuses(&["parent.csv", "t.db", "--if-exists", word])
                .says(&["the rows of table parent can't be deleted: foreign keys of t refer"]);
        }
    }
}

#[test]
fn standard_output_takes_no_rejects() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\nx\n");
    let options = ["--type", "id=integer", "--max-rejects", "1", "--rejects", "-"];
    let load = fixture.load(&[&["t.csv", "t.db"], &options[..]].concat());
    load.exits(2).says(&["--rejects -", "./-"]);
    assert!(!fixture.path("-").exists());
}

#[test]
fn a_pattern_or_a_folder_leaves_bad_rows_of_an_earlier_load_out() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("in")).unwrap();
    fixture.write("in/a.csv", "id,v\n1,a\nx,b\n").write("in/b.csv", "id,v\n3,c\n");
    let load = |source: &str, more: &[&str]| {
        let args = [source, "t.db", "--table", "t", "--if-exists", "replace"];
        fixture.load(&[&args[..], &["--type", "id=integer"], more].concat())
    };
    load("in/*.csv", &["--max-rejects", "all"]).exits(3);
    // Without a sidecar they are data as any other.
    fixture.write("in/c.rejects.csv", "id,v\n4,d\n");
    for name in ["in/a.csv", "in/a.rejects.csv"] {
        let dirty = String::from_utf8(fixture.read(name)).unwrap();
        fixture.write(name, dirty.replace('x', "2"));
    }
    let note = "left out, for they are bad rows of an earlier load: in/a.rejects.csv";
    for source in ["in/*.csv", "in", "in/**", "in/*"] {
        load(source, &[]).exits(0).prints(&[note]);
        let all = rows![[1, "a"], [2, "b"], [3, "c"], [4, "d"]];
        assert_eq!(fixture.query("t.db", "SELECT * FROM t ORDER BY id"), all, "{source}");
    }
    // Who names them means them.
    fixture.write("list", "in/a.rejects.csv\n");
    for source in ["in/a.rejects.csv", "in/a.rejects.*v", "@list"] {
        load(source, &[]).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[2, "b"]], "{source}");
    }
    // And so does who names nothing else: their rows, and not what is said of them.
    std::fs::create_dir(fixture.path("bad")).unwrap();
    for name in ["a.rejects.csv", "a.rejects.csv.jsonl"] {
        std::fs::copy(fixture.path(&format!("in/{name}")), fixture.path(&format!("bad/{name}")))
            .unwrap();
    }
    for source in ["in/a.r*", "bad", "bad/**", "bad/*"] {
        load(source, &[]).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[2, "b"]], "{source}");
    }
    let said = ["'bad/*.jsonl' has nothing but what is said of bad rows", "name the files"];
    load("bad/*.jsonl", &[]).exits(1).says(&said);
}

#[test]
fn a_sidecar_says_when_a_table_has_a_name_of_parts() {
    let fixture = Fixture::new();
    fixture.write("a.b.csv", "id\nx\n");
    let noted = |more: &[&str]| {
        let load = ["a.b.csv", "t.db", "--type", "id=integer", "--max-rejects", "all"];
        fixture.load(&[&load[..], more].concat()).exits(3);
        let note = json_lines(&fixture.read("a.b.rejects.csv.jsonl")).remove(0);
        (note["table"].clone(), note["table_named"].clone())
    };
    assert_eq!(noted(&[]), (json!("a.b"), Json::Null));
    assert_eq!(noted(&["--table", "s.t"]), (json!("s.t"), json!(true)));
    assert_eq!(noted(&["--table", "t"]), (json!("t"), Json::Null));
}

/// Some bad rows alone may look as if they were written otherwise than the file that they are from.
#[test]
fn bad_rows_are_read_again_as_the_load_read_them() {
    let quotes = "id,name\n1,'Ann'\n2,'Bob'\nx,'Cy'\n4,'Di'\n";
    let escapes = "id,name\n1,\"say \\\"hi\\\"\"\n2,\"x\"\nx,\"a \\\\ b\"\n";
    let plain = "id\tname\n1\t\"Bob\" Smith\n2\t\"Al\" Jones\n3\t\"Cy\" Young\nx\t\"Di\"\n";
    let headless = "1,2\n2,3\nx,y\nu,v\n";
    let bytes = "id,v\n1,\"a\"\"b\"\nx,'c'\nx,'d'\n";
    for (name, text, wanted) in [
        ("t.csv", quotes, rows![[1, "Cy"]]),
        ("t.csv", escapes, rows![[1, "a \\ b"]]),
        ("t.tsv", plain, rows![[1, "\"Di\""]]),
        ("t.csv", bytes, rows![[1, "'c'"], [1, "'d'"]]),
    ] {
        let fixture = Fixture::new();
        fixture.write(name, text);
        let more = ["--type", "id=integer", "--max-rejects", "5"];
        fixture.load(&[&[name, "t.db"], &more[..]].concat()).exits(3);
        let rejects = name.replace("t.", "t.rejects.");
        let fixed = String::from_utf8(fixture.read(&rejects)).unwrap();
        fixture.write(&rejects, fixed.replace("\nx", "\n1"));
        fixture.sql("t.db", "DELETE FROM t");
        let said = ["are read as that load read them", "--quote"];
        let again = [&[rejects.as_str(), "t.db"], &more[..2]].concat();
        let run = fixture.load(&again).exits(0);
        // What is usual is said by the plan alone.
        let plan = fixture.inrush(&[&["plan"], &again[..], &["--if-exists", "append"]].concat());
        if text == bytes {
            plan.exits(0).prints(&said)
        } else {
            run.prints(&said)
        };
        assert_eq!(fixture.table("t.db", "t"), wanted, "{text}");
        // What is said stands above it, and a sidecar of an earlier version says nothing of it.
        fixture.load(&[&again[..], &["--if-exists", "truncate", "--quote", "none"]].concat());
        let sidecar = format!("{rejects}.jsonl");
        let note = json_lines(&fixture.read(&sidecar)).remove(0);
        let old = ["record", "code", "message", "table"].map(|key| (key, note[key].clone()));
        fixture.write(&sidecar, json!(std::collections::BTreeMap::from(old)).to_string());
        fixture.load(&[&again[..], &["--if-exists", "truncate"]].concat()).exits(0);
    }
    let fixture = Fixture::new();
    fixture.write("h.csv", headless);
    let load = ["h.csv", "t.db", "--type", "column_1=integer", "--type", "column_2=integer"];
    fixture.load(&[&load[..], &["--max-rejects", "5"]].concat()).exits(3);
    let again = ["h.rejects.csv", "t.db", "--if-exists", "append", "--max-rejects", "5"];
    let report = fixture.load(&[&again[..], &["--json"]].concat()).exits(3).json();
    assert_eq!(report["rows_rejected"], 2);
    // Of one row any sign may seem to be what separates its fields.
    for (text, bad, fixed, wanted) in [
        ("k1,a\nk2,b\nk1,x;1\n", "k1", "k9", "x;1"),
        ("k1|a\nk2|b\nk1|x,1;2,3\n", "k1", "k9", "x,1;2,3"),
    ] {
        let fixture = Fixture::new();
        fixture.sql("t.db", "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)");
        fixture.write("t.csv", text);
        let append = ["--if-exists", "append", "--header", "no", "--max-rejects", "all"];
        fixture.load(&[&["t.csv", "t.db"], &append[..]].concat()).exits(3);
        let rejects = String::from_utf8(fixture.read("t.rejects.csv")).unwrap();
        fixture.write("t.rejects.csv", rejects.replace(bad, fixed));
        fixture.load(&["t.rejects.csv", "t.db", "--if-exists", "append"]).exits(0);
        assert_eq!(fixture.query("t.db", "SELECT v FROM t WHERE k = 'k9'"), rows![[wanted]]);
    }
}

/// Rejects are in UTF-8, and the --encoding of their input is said of them again: the mark stands above it.
#[test]
fn bad_rows_are_no_other_text_when_the_encoding_is_said_once_more() {
    let marked = "\u{feff}id,n\n1,Zo\u{eb}\nx,Andr\u{e9}\n".as_bytes();
    let latin = b"id,n\n3,Zo\xeb\ny,Ren\xe9\n";
    let more = ["--encoding", "latin1", "--type", "id=integer", "--table", "t"];
    let again = |fixture: &Fixture, name: &str| {
        let text = String::from_utf8(fixture.read(name)).unwrap();
        fixture.write(name, text.replace("\nx,", "\n2,").replace("\ny,", "\n4,"));
        fixture.load(&[&[name, "t.db"], &more[..], &["--if-exists", "append"]].concat()).exits(0);
    };
    let fixture = Fixture::new();
    fixture.write("u.csv", marked).write("b.csv", latin);
    fixture
        .load(&[&["u.csv", "b.csv", "t.db"], &more[..], &["--max-rejects", "5"]].concat())
        .exits(3);
    again(&fixture, "u.rejects.csv");
    again(&fixture, "b.rejects.csv");
    let wanted = rows![[1, "Zo\u{eb}"], [2, "Andr\u{e9}"], [3, "Zo\u{eb}"], [4, "Ren\u{e9}"]];
    let rows = |fixture: &Fixture| fixture.query("t.db", "SELECT id, n FROM t ORDER BY id");
    assert_eq!(rows(&fixture), wanted);
    let fixture = Fixture::new();
    fixture.write("u.csv", marked).write("b.csv", latin);
    let shared = ["--rejects", "bad.csv", "--max-rejects", "5"];
    fixture.load(&[&["u.csv", "b.csv", "t.db"], &more[..], &shared].concat()).exits(3);
    again(&fixture, "bad.csv");
    assert_eq!(rows(&fixture), wanted);
    // Where all of it is UTF-8 there is nothing to say.
    let plain = "id,n\n1,a\nx,Andr\u{e9}\n";
    fixture.write("p.csv", plain);
    let said =
        ["p.csv", "p.db", "--encoding", "utf8", "--type", "id=integer", "--max-rejects", "1"];
    fixture.load(&said).exits(3);
    assert_eq!(fixture.read("p.rejects.csv"), "id,n\nx,Andr\u{e9}\n".as_bytes());
}

/// Each pair of files stays open until the load ends: inputs are not to run out of the files that a process begins with.
#[test]
#[cfg(unix)]
fn many_inputs_with_bad_rows_need_few_open_files() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("many")).unwrap();
    for n in 0..60 {
        fixture.write(&format!("many/f{n}.csv"), "id\n1\nx\n");
    }
    let run = |limit: &str| {
        let load = "load many t.db --table t --type id=integer --max-rejects all --quiet";
        let script = format!("{limit} && \"$0\" {load} --if-exists replace");
        fixture.tool("sh", &["-c", &format!("{script}; test $? = 3"), crate::fixture::INRUSH], b"");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 60);
        assert_eq!(fixture.read("many/f59.rejects.csv"), b"id\nx\n");
    };
    // What begins with few may have more.
    run("ulimit -S -n 100");
    run("ulimit -n 180");
}

/// An escape that was guessed stays a guess: a record with another one is bad again.
#[test]
fn a_guessed_escape_stays_a_guess_in_bad_rows() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,text\n1,\"say \\\"hi\\\"\"\n");
    fixture.write("b.csv", "id,text\n2,C:\\new\n3,x\n");
    let load = ["a.csv", "b.csv", "t.db", "--table", "t", "--max-rejects", "2"];
    fixture.load(&load).exits(3);
    let again = ["b.rejects.csv", "t.db", "--if-exists", "append"];
    fixture.refuses(&again).says(&["line 2", "a backslash that escapes nothing"]);
}

/// Two records whose quotes are never closed are one good row where they follow each other.
#[test]
fn two_bad_rows_do_not_become_a_good_one() {
    let fixture = Fixture::new();
    let text =
        "id,inch,x\n1,\",a\n2,say \"hi\" there,b\n3,\",c\n4,\"two\nlines\",d\nx,\"two\nlines\",e\n";
    fixture.write("t.csv", text);
    let load = ["t.csv", "t.db", "--type", "id=integer", "--max-rejects", "all"];
    fixture.load(&load).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
    let again = ["t.rejects.csv", "t.db", "--if-exists", "append", "--max-rejects", "all"];
    let said =
        ["t.rejects.csv: line 2: a quote is open at the end of the line", "take the row out"];
    fixture.refuses(&again).says(&said);
    let rejects = String::from_utf8(fixture.read("t.rejects.csv")).unwrap();
    fixture.write("t.rejects.csv", rejects.replace("1,\",a\n", "").replace("3,\"", "3,"));
    fixture.load(&again).exits(3);
    let found = fixture.query("t.db", "SELECT id FROM t ORDER BY id");
    assert_eq!(found, rows![[2], [3], [4]]);
}

/// Whatever name they are moved to, they are bad rows with their sidecar.
#[test]
fn bad_rows_that_were_moved_aside_keep_their_sidecar() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("in")).unwrap();
    fixture.write("in/t.csv", "id,v\n1,a\nx,b\n");
    let load = ["in/t.csv", "t.db", "--type", "id=integer", "--max-rejects", "1"];
    let replace = [&load[..], &["--if-exists", "replace"]].concat();
    fixture.load(&load).exits(3);
    fixture.write("in/t.rejects.csv", "id,v\n2,b\n");
    let said = ["is now in/t.rejects.csv.1", "is now in/t.rejects.csv.1.jsonl"];
    fixture.load(&replace).exits(3).prints(&said);
    let folder = ["in/*", "all.db", "--table", "t", "--type", "id=integer", "--max-rejects", "1"];
    fixture.load(&folder).exits(3).prints(&["left out, for they are bad rows"]);
    assert_eq!(fixture.number("all.db", "SELECT count(*) FROM t"), 1);
    fixture.load(&["in/t.rejects.csv.1", "t.db", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"]]);
}

#[test]
fn bad_rows_of_unlike_width_share_no_file() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,v\n1,a\nx,b\n").write("b.csv", "id,v,more\n3,c,1\ny,d,2\n");
    let load = ["a.csv", "b.csv", "t.db", "--table", "t", "--type", "id=integer"];
    let more = ["--new-columns", "ignore", "--max-rejects", "5"];
    let shared = [&load[..], &more, &["--rejects", "bad.csv"]].concat();
    fixture.misused(&[&["load"], &shared[..]].concat()).says(&["bad.csv", "not equally many"]);
    fixture.load(&[&load[..], &more].concat()).exits(3);
}

/// A column of another file, to be left out or renamed there, is none of theirs.
#[test]
fn bad_rows_of_one_of_several_files_go_back_with_the_same_options() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "id,v\n1,a\nx,b\n").write("b.csv", "id,v,junk,old\n3,c,1,n\n");
    let same = ["t.db", "--table", "t", "--drop", "junk", "--rename", "old=new"];
    let same = [&same[..], &["--type", "id=integer", "--max-rejects", "1"]].concat();
    let files = ["a.csv", "b.csv", "--new-columns", "add", "--missing-columns", "null"];
    fixture.load(&[&files[..], &same].concat()).exits(3);
    fixture.write("a.rejects.csv", "id,v\n2,b\n");
    let again = [&["a.rejects.csv", "--if-exists", "append"], &same[..]].concat();
    fixture.load(&again).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 3);
    // Of any other file it is a mistake.
    fixture.write("c.csv", "id,v\n5,e\n");
    let other = [&["load", "c.csv", "--if-exists", "append"], &same[..]].concat();
    fixture.misused(&other).says(&["--drop junk: there is no column junk"]);
}
