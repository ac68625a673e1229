//! Files that are no tables are refused by name, and arrays of JSON are rows however they are written.

use crate::fixture::{Fixture, rows};

const PAGE: &str = "<!DOCTYPE html>\n<html>\n<head><title>Sign in</title></head>\n</html>\n";
const DUMP: &str = "-- MySQL dump 10.13\n\nDROP TABLE IF EXISTS `t`;\nCREATE TABLE `t` (id int);\n";

#[test]
fn what_is_no_table_is_refused_by_name() {
    let fixture = Fixture::new();
    let cases = [
        ("in.csv", PAGE, "an HTML page: a login page?"),
        ("in.json", PAGE, "an HTML page: a login page?"),
        ("in.txt", "<?xml version=\"1.0\"?>\n<rows><row/></rows>\n", "an XML document"),
        ("in.csv", "---\nname: a\nage: 5\n", "YAML"),
        ("in", "name: a\nage: 5\n", "YAML"),
        ("in.sql", DUMP, "an SQL dump"),
        ("in.csv", "{\"id\":1}\n{\"id\":2}\n", "JSON"),
        ("in.rpt", "id  name\r\n--- ----\r\n1   Anna\r\n", "a table drawn for people"),
        (
            "in.txt",
            "Table: MARA\n-------------\n|MANDT|NTGEW|\n-------------\n|100  |  1,5|\n-------------\n",
            "a table drawn for people",
        ),
        ("in.csv", "code,name\r\n----,----\r\na1,Anna\r\n", "a table with a line of dashes"),
    ];
    for (name, text, what) in cases {
        fixture.write(name, text);
        let what = format!("{name} looks like {what}");
        let run = fixture.refuses(&[name, "new.db"]);
        run.says(&[&what, "--format csv loads it as text anyway"]);
        fixture.inrush(&["plan", name, "new.db"]).exits(1).says(&[&what]);
    }
    // Whoever says that it is a table has one.
    fixture.write("page.csv", PAGE);
    fixture.load(&["page.csv", "t.db", "--format", "csv", "--header", "no"]).exits(0);
    assert_eq!(fixture.table("t.db", "page").len(), 4);
}

#[test]
fn however_it_is_packed() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> =
        format!("\u{feff}{DUMP}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.write("utf16.sql", utf16).write("page.csv", format!("\u{feff}{PAGE}"));
    fixture.refuses(&["utf16.sql", "t.db"]).says(&["an SQL dump"]);
    fixture.refuses(&["page.csv", "t.db"]).says(&["an HTML page"]);
    fixture.tool("gzip", &["page.csv", "utf16.sql"], b"");
    fixture.refuses(&["page.csv.gz", "t.db"]).says(&["page.csv.gz looks like an HTML page"]);
    fixture.refuses(&["utf16.sql.gz", "t.db"]).says(&["an SQL dump"]);
    let pipe = fixture.load_reading(PAGE.as_bytes(), &["-", "t.db"]).exits(1);
    pipe.says(&["- looks like an HTML page"]).ends_with_nothing_changed();
    // The second of two as well as the first.
    fixture.write("good.csv", "id\n1\n").write("bad.csv", PAGE);
    fixture.refuses(&["good.csv", "bad.csv", "t.db"]).says(&["bad.csv looks like an HTML page"]);
}

#[test]
fn the_line_that_clients_write_below_rows_is_named() {
    let fixture = Fixture::new();
    for footer in ["(3 rows affected)", "3 rows selected.", "(3 rows)"] {
        let advice = format!("sed '/^ *{footer}/,$d' leaves it out");
        fixture.write("in.csv", format!("id,name\r\n1,a\r\n2,b\r\n3,c\r\n\r\n{footer}\r\n"));
        fixture.refuses(&["in.csv", "t.db"]).says(&["1 field where 2 are expected", &advice]);
        fixture.write("one.csv", format!("name\na\nb\nc\n\n{footer}\n"));
        fixture.load(&["one.csv", "t.db", "--if-exists", "replace"]).exits(0).prints(&[&advice]);
        let piped = format!("sed '/^ *{footer}/,$d' in.csv");
        let text = fixture.tool("sh", &["-c", &piped], b"");
        let load = ["-", "t.db", "--table", "t", "--if-exists", "replace"];
        fixture.load_reading(&text, &load).exits(0);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [2, "b"], [3, "c"]]);
    }
}

#[test]
fn the_end_of_a_file_of_dos_is_named() {
    let fixture = Fixture::new();
    let advice = "tr -d '\\032' leaves it out";
    fixture.write("in.csv", "id,name\r\n1,a\r\n\u{1a}").write("one.csv", "name\na\n\u{1a}\n");
    fixture.refuses(&["in.csv", "t.db"]).says(&["1 field where 2 are expected", advice]);
    fixture.load(&["one.csv", "t.db"]).exits(0).prints(&["U+001A", advice]);
    // Behind the last value as well.
    fixture.write("behind.csv", "id,name\r\n1,a\r\n2,b\u{1a}");
    fixture.load(&["behind.csv", "t.db"]).exits(0).prints(&["last value", "U+001A", advice]);
    fixture.write("behind.csv", "id\n1\n2\u{1a}\n");
    let load = ["behind.csv", "t.db", "--if-exists", "replace"];
    fixture.load(&load).exits(0).prints(&["last value", "U+001A", advice]);
}

#[test]
fn tables_that_look_strange_are_loaded() {
    for (text, rows) in [
        ("<b>x</b>,5\n<i>y</i>,6\n", rows![["<b>x</b>", 5], ["<i>y</i>", 6]]),
        ("---\n5\n6\n", rows![[5], [6]]),
    ] {
        let fixture = Fixture::new();
        fixture.write("in.csv", text);
        fixture.load(&["in.csv", "t.db"]).exits(0);
        assert_eq!(fixture.table("t.db", "in"), rows, "{text}");
    }
}

#[test]
fn an_array_of_arrays_is_a_row_each_however_it_is_written() {
    let fixture = Fixture::new();
    let rows = rows![[1, "a"], [2, "b"]];
    for text in [
        "[[1,\"a\"],[2,\"b\"]]",
        "[[1,\"a\"],[2,\"b\"]]\n",
        "[[1,\"a\"],\n [2,\"b\"]]\n",
        "[\n[1,\"a\"],\n[2,\"b\"]\n]\n",
        "[\n  [\n    1,\n    \"a\"\n  ],\n  [\n    2,\n    \"b\"\n  ]\n]\n",
        "[1,\"a\"]\n[2,\"b\"]\n",
    ] {
        for name in ["in.json", "in.jsonl", "in"] {
            fixture.write(name, text);
            let load = [name, "t.db", "--table", "t", "--if-exists", "replace"];
            fixture.load(&load).exits(0);
            assert_eq!(fixture.table("t.db", "t"), rows, "{name}: {text}");
        }
        fixture.load_reading(text.as_bytes(), &["-", "u.db", "--if-exists", "replace"]).exits(0);
        assert_eq!(fixture.table("u.db", "stdin"), rows, "{text}");
    }
    // A line of arrays among other lines is a row.
    fixture.write("in.jsonl", "[[1,2],[3]]\n[[4],[5]]\n");
    fixture.load(&["in.jsonl", "t.db", "--table", "nested"]).exits(0);
    assert_eq!(fixture.table("t.db", "nested"), rows![["[1,2]", "[3]"], ["[4]", "[5]"]]);
    // One array alone.
    fixture.write("one.json", "[[1,\"a\"]]");
    fixture.load(&["one.json", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "one"), rows![[1, "a"]]);
}

#[test]
fn an_array_of_names_is_a_row_and_that_is_said() {
    let fixture = Fixture::new();
    fixture.write("in.json", "[[\"id\",\"name\"],[1,\"a\"],[2,\"b\"]]");
    let report = fixture.report(&["in.json", "t.db"]);
    assert_eq!(fixture.table("t.db", "in"), rows![["id", "name"], ["1", "a"], ["2", "b"]]);
    let note = "the first array could be a header, and is loaded as a row";
    assert!(report["warnings"].to_string().contains(note), "{}", report["warnings"]);
}

/// Wherever the rows are within one object, the report names the way to them.
#[test]
fn rows_within_an_object_are_named() {
    for (text, filter, what) in [
        (
            r#"{"response": {"data": [{"a": 1}, {"a": 2}]}}"#,
            ".response.data[]",
            "objects in its list data",
        ),
        (
            r#"{"a": {"my rows": {"x": [{"a": 1}]}}}"#,
            r#".a["my rows"].x[]"#,
            "objects in its list x",
        ),
        (
            r#"{"meta": {"n": 2}, "rows": [[1, "a"], [2, "b"]]}"#,
            ".rows[]",
            "arrays in its list rows",
        ),
        (
            r#"{"x": {"a": 1, "b": 2}, "y": {"a": 3, "b": 4}}"#,
            "to_entries[] | {key: .key} + .value",
            "objects in it, with the name of each as key",
        ),
        (
            r#"{"x": {"key": 1, "b": 2}, "y": {"key": 3, "b": 4}}"#,
            "to_entries[] | {key_2: .key} + .value",
            "objects in it, with the name of each as key_2",
        ),
        (
            r#"{"id": {"0": 10, "1": 20}, "name": {"0": "x", "1": "y"}}"#,
            ". as $o | ($o[keys_unsorted[0]] | keys_unsorted[]) as $row | map_values(.[$row])",
            "rows, of which it has the columns",
        ),
        (
            r#"{"id": [1, 2], "name": ["x", "y"]}"#,
            "range(.[keys_unsorted[0]] | length) as $row | map_values(.[$row])",
            "rows, of which it has the columns as lists",
        ),
        (
            "{\n  \"id\": [\n    1,\n    2\n  ],\n  \"name\": [\n    \"x\",\n    \"y\"\n  ]\n}\n",
            "range(.[keys_unsorted[0]] | length) as $row | map_values(.[$row])",
            "rows, of which it has the columns as lists",
        ),
    ] {
        let fixture = Fixture::new();
        fixture.write("in.json", text);
        let report = fixture.report(&["in.json", "t.db"]);
        let wanted = format!("jq -c '{filter}' makes lines of the {what}, to be loaded as rows");
        let warnings = &report["warnings"];
        assert!(warnings[0].as_str().is_some_and(|note| note.contains(&wanted)), "{warnings}");
    }
    for text in [
        r#"{"a": {"b": 1}, "c": {"d": 2}}"#,
        r#"{"a": {"at": [[1, 2], [3, 4]]}}"#,
        r#"{"at": [[1, 2], [3, 4, 5]]}"#,
        r#"{"at": [[1, 2], null]}"#,
        r#"{"at": [1, 2], "b": [1, 2, 3]}"#,
        r#"{"at": [1], "b": [2]}"#,
        r#"{"at": [1, 2], "b": 7}"#,
        r#"{"at": [1, 2]}"#,
    ] {
        let fixture = Fixture::new();
        fixture.write("in.json", text);
        assert_eq!(fixture.report(&["in.json", "t.db"])["warnings"].to_string(), "[]", "{text}");
    }
}

#[test]
fn numbers_that_an_older_jq_changes_are_a_reason_for_a_newer_one() {
    let note = "jq 1.7 or later";
    for (number, is_long) in [
        ("9007199254740993", true),
        ("9223372036854775808", true),
        ("-0.12345678901234567890", true),
        ("1e999999999999999", true),
        ("9007199254740992", false),
        ("1000000000000000000000", false),
        ("0.10000000000000000", false),
        ("\"9007199254740993 \\\" 9007199254740993\"", false),
    ] {
        let fixture = Fixture::new();
        fixture.write("in.json", format!("{{\"rows\": [{{\"a\": 1}}, {{\"a\": {number}}}]}}"));
        let warnings = fixture.report(&["in.json", "t.db"])["warnings"].to_string();
        assert_eq!(warnings.contains(note), is_long, "{number}: {warnings}");
        fixture.write("in.json", format!("[{{\"a\":{number}}}][{{\"a\":{number}}}]"));
        let run = fixture.refuses(&["in.json", "u.db"]).says(&["jq -c '.[]'"]);
        assert_eq!(run.stderr.contains(note), is_long, "{number}: {}", run.stderr);
    }
}

#[test]
fn commas_behind_objects_that_are_in_no_array_are_named() {
    for name in ["in.json", "in.jsonl"] {
        let fixture = Fixture::new();
        fixture.write(name, "{\"a\":1},\n{\"a\":2}\n");
        fixture.refuses(&[name, "t.db"]).says(&["line 1", "sed 's/,[[:space:]]*$//'"]);
    }
}
