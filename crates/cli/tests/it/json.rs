//! JSON as input: a row a line, one array of rows, rows over many lines.

use std::fs;

use serde_json::json;

use crate::fixture::{Fixture, rows};

#[test]
fn objects_a_line_are_rows_and_members_are_found_by_name() {
    let fixture = Fixture::new();
    fixture.write(
        "t.jsonl",
        concat!(
            "{\"id\":1,\"name\":\"a\",\"size\":1.5,\"ok\":true,\"day\":\"2013-01-01\"}\n",
            "{\"name\":\"b \\u00e9 \\\"\\n\\ud83d\\ude00\",\"id\":2,\"size\":-2}\r\n",
            "\n",
            "  {\"id\":3,\"name\":\"\",\"ok\":null,\"extra\":\"x\"}",
        ),
    );
    let report = fixture.report(&["t.jsonl", "t.db"]);
    let columns = &report["plan"]["columns"];
    let types: Vec<&str> =
        columns.as_array().unwrap().iter().map(|column| column["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["integer", "text", "float", "boolean", "date", "text"]);
    assert_eq!(report["plan"]["dialect"]["format"], "json");
    assert_eq!(report["rows_read"], 3);
    assert_eq!(
        fixture.table("t.db", "t"),
        rows![
            [1, "a", 1.5, 1, "2013-01-01", ()],
            [2, "b \u{e9} \"\n\u{1f600}", -2.0, (), (), ()],
            [3, "", (), (), (), "x"],
        ]
    );
}

#[test]
fn strings_of_digits_stay_so_where_no_string_of_the_column_needs_the_options() {
    let fixture = Fixture::new();
    let rows = [
        r#"{"zip":"12345","price":"1,5","flag":"true","is_new":"yes","whole":"7"}"#,
        r#"{"zip":"12346","price":"12","flag":"false","is_new":"true","whole":"1.000,5"}"#,
    ];
    fixture.write("in.jsonl", rows.join("\n"));
    let options = ["--decimal", ",", "--thousands", ".", "--true", "yes", "--false", "no"];
    fixture.load(&[&["in.jsonl", "jsonl:out"], &options[..]].concat()).exits(0);
    let meant = [
        r#"{"zip":"12345","price":1.5,"flag":"true","is_new":true,"whole":7}"#,
        r#"{"zip":"12346","price":12,"flag":"false","is_new":true,"whole":1000.5}"#,
    ];
    let out = fixture.read("out");
    assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), meant);
}

#[test]
fn amounts_and_shares_that_are_numbers_may_have_an_exponent() {
    let fixture = Fixture::new();
    fixture.write("in.jsonl", "{\"p\":\"12%\"}\n{\"p\":1e-05}\n{\"p\":-1.5e+3}\n{\"p\":0.25}\n");
    let args = ["in.jsonl", "jsonl:out", "--type", "p=percent"];
    fixture.load(&args).exits(0);
    assert_eq!(
        fixture.read("out"),
        b"{\"p\":0.12}\n{\"p\":0.00001}\n{\"p\":-1500}\n{\"p\":0.25}\n"
    );
    fixture.write("in.jsonl", "{\"p\":\"12%\"}\n{\"p\":1e-300}\n");
    let args = ["in.jsonl", "jsonl:bad", "--type", "p=percent"];
    fixture.refuses(&args).says(&["line 2, column p", "1e-300", "a percentage"]);
}

#[test]
fn an_array_of_objects_is_a_table_however_it_is_broken_into_lines() {
    let fixture = Fixture::new();
    let rows: Vec<_> = (0..5_000).map(|id| json!({"id": id, "name": format!("n{id}")})).collect();
    fixture
        .write("one.json", serde_json::to_vec(&rows).unwrap())
        .write("many.json", serde_json::to_vec_pretty(&rows).unwrap())
        .write("apart.json", rows.iter().map(|row| format!("{row:#}\n")).collect::<String>());
    for name in ["one", "many", "apart"] {
        let file = format!("{name}.json");
        let report = fixture.report(&[&file, "t.db", "--chunk-size", "1k"]);
        assert_eq!(report["rows_loaded"], 5_000, "{name}");
        assert_eq!(fixture.table("t.db", name), fixture.table("t.db", "one"), "{name}");
    }
    assert_eq!(fixture.number("t.db", "SELECT sum(id) FROM one"), 12_497_500);
    let report = fixture.load_reading(&fixture.read("one.json"), &["-", "t.db", "--json"]);
    assert_eq!(report.exits(0).json()["rows_loaded"], 5_000);
}

#[test]
fn arrays_a_line_are_rows_by_position() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", "[1,\"x\",null]\n[2,\"y\",2.5]\n[3]\n");
    fixture.load(&["t.jsonl", "t.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "x", ()], [2, "y", 2.5]]);
    assert_eq!(fixture.read("t.rejects.jsonl"), b"[3]\n");
}

#[test]
fn nested_values_are_documents_or_columns() {
    let fixture = Fixture::new();
    fixture.write(
        "t.jsonl",
        "{\"id\":1,\"at\":{\"lat\":1.5,\"lon\":{\"deg\":7}},\"tags\":[1,\"a\"]}\n{\"id\":2,\"at\":{},\"tags\":[]}\n",
    );
    fixture.load(&["t.jsonl", "t.db"]).exits(0);
    assert_eq!(
        fixture.table("t.db", "t"),
        rows![[1, "{\"lat\":1.5,\"lon\":{\"deg\":7}}", "[1,\"a\"]"], [2, "{}", "[]"],]
    );
    fixture.load(&["t.jsonl", "t.db", "--table", "flat", "--flatten"]).exits(0);
    let names: Vec<String> =
        fixture.columns("t.db", "flat").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["id", "at.lat", "at.lon.deg", "tags", "at"]);
    assert_eq!(
        fixture.table("t.db", "flat"),
        rows![[1, 1.5, 7, "[1,\"a\"]", ()], [2, (), (), "[]", "{}"]]
    );
}

#[test]
fn strings_stay_strings_and_numbers_keep_their_digits() {
    let fixture = Fixture::new();
    fixture.write(
        "t.jsonl",
        "{\"a\":\"007\",\"b\":\"1\",\"c\":12345678901234567890,\"d\":\"true\",\"e\":1e5}\n{\"a\":\"8\",\"b\":\"2\",\"c\":1,\"d\":\"x\",\"e\":2.5}\n",
    );
    fixture.load(&["t.jsonl", "t.db"]).exits(0);
    assert_eq!(
        fixture.typed_table("t.db", "t"),
        rows![
            [
                "text",
                "007",
                "text",
                "1",
                "text",
                "12345678901234567890",
                "text",
                "true",
                "real",
                1e5
            ],
            ["text", "8", "text", "2", "text", "1", "text", "x", "real", 2.5],
        ]
    );
}

#[test]
fn a_member_or_a_kind_that_comes_late_starts_the_load_again() {
    let fixture = Fixture::new();
    // Beyond the first megabyte and the places that are looked at.
    let line = |id: i32| match id {
        70_001 => "{\"id\":70001,\"late\":1}\n".to_owned(),
        90_001 => "{\"id\":\"90001\"}\n".to_owned(),
        _ => format!("{{\"id\":{id},\"name\":\"name {id}\"}}\n"),
    };
    fixture.write("t.jsonl", (0..100_000).map(line).collect::<String>());
    let run = fixture.load(&["t.jsonl", "t.db"]).exits(0);
    run.says(&["t.jsonl: line 70002: there is no column 'late'", "started again"]);
    let db = "t.db";
    assert_eq!(fixture.number(db, "SELECT late FROM t WHERE id = '70001'"), 1);
    assert_eq!(fixture.number(db, "SELECT count(*) FROM t"), 100_000);
    assert_eq!(fixture.number(db, "SELECT count(*) FROM t WHERE typeof(id) = 'text'"), 100_000);
    // What can't be read twice says so.
    let text = fixture.read("t.jsonl");
    fixture
        .load_reading(&text, &["-", "u.db"])
        .exits(1)
        .says(&["line 70002: there is no column 'late'", "instead of a pipe"]);
}

#[test]
fn bad_records_are_told_with_their_place_and_go_aside_as_they_are() {
    let bad = [
        ("{\"id\":2,\"name\":\"b\"", "never closed"),
        ("{\"id\":3,\"id\":4}", "'id' comes twice"),
        ("[1,2]", "is not an object"),
        ("17", "is not an object"),
        ("{\"id\":5,\"name\":\"a\tb\"}", "control character"),
        ("{\"id\":01}", "number"),
        ("{\"id\":6,}", "expected"),
        ("{\"id\":7} {\"id\":8}", "text follows"),
        ("{\"id\":\"x\"}", "'x' is not an integer"),
        ("{\"id\":9,\"name\":\"\\ud800\"}", "escape"),
    ];
    let fixture = Fixture::new();
    let file: String = bad
        .iter()
        .enumerate()
        .map(|(n, (line, _))| format!("{{\"id\":{n},\"name\":\"n\"}}\n{line}\n"))
        .collect();
    fixture.write("t.jsonl", &file);
    fixture.refuses(&["t.jsonl", "t.db"]).says(&["t.jsonl: line 2", "never closed"]);
    let pinned = ["t.jsonl", "t.db", "--type", "id=integer", "--max-rejects"];
    fixture.load(&[&pinned[..], &["10"]].concat()).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t WHERE name = 'n'"), 10);
    let aside = String::from_utf8(fixture.read("t.rejects.jsonl")).unwrap();
    assert_eq!(aside.lines().collect::<Vec<_>>(), bad.map(|(line, _)| line));
    let notes = String::from_utf8(fixture.read("t.rejects.jsonl.jsonl")).unwrap();
    for (n, (note, (_, why))) in notes.lines().zip(bad).enumerate() {
        let note: serde_json::Value = serde_json::from_str(note).unwrap();
        assert_eq!(note["line"], 2 * n + 2, "{note}");
        assert_eq!(note["record"], 2 * n + 2, "{note}");
        assert!(note["message"].as_str().unwrap().contains(why), "{note}");
    }
    // Mended, they load again.
    fixture.write("fixed.jsonl", "{\"id\":20,\"name\":\"m\"}\n");
    fixture.load(&["fixed.jsonl", "t.db", "--table", "t", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 11);
}

#[test]
fn one_broken_element_costs_one_row_of_an_array() {
    let fixture = Fixture::new();
    fixture.write(
        "t.json",
        "[\n  {\"id\": 1},\n  {\"id\": 2,\n   \"x\": oops},\n  {\"id\": 3\n,\n  {\"id\": 4}\n]\n",
    );
    fixture.load(&["t.json", "t.db", "--max-rejects", "2"]).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1], [4]]);
    let aside = String::from_utf8(fixture.read("t.rejects.jsonl")).unwrap();
    assert_eq!(aside.lines().count(), 2, "{aside}");
    // The brackets around the records belong to none.
    fixture.write("last.json", "[\n{\"a\":1},\n{\"a\":tru}\n]\n");
    fixture.load(&["last.json", "t.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.read("last.rejects.jsonl"), b"{\"a\":tru}\n");
}

#[test]
fn a_table_that_is_there_takes_members_by_name() {
    let fixture = Fixture::new();
    fixture
        .sql("t.db", "CREATE TABLE t (name TEXT DEFAULT 'none', id INTEGER NOT NULL, n REAL)")
        .write("t.jsonl", "{\"id\":1,\"n\":2}\n{\"id\":2,\"name\":\"b\"}\n");
    fixture.load(&["t.jsonl", "t.db"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[(), 1, 2.0], ["b", 2, ()]]);
    fixture.write("u.jsonl", "{\"id\":1,\"colour\":\"red\"}\n");
    fixture
        .refuses(&["u.jsonl", "t.db", "--table", "t", "--if-exists", "append"])
        .says(&["no column colour"]);
    fixture.write("v.jsonl", "{\"id\":null}\n");
    fixture.refuses(&["v.jsonl", "t.db", "--table", "t", "--if-exists", "append"]).says(&[
        "line 1",
        "column id",
        "NULL",
    ]);
}

#[test]
fn words_for_null_and_for_delimited_text() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", "{\"a\":\"NA\",\"b\":1}\n{\"a\":\"x\",\"b\":2}\n");
    fixture.load(&["t.jsonl", "t.db", "--null", "NA"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[(), 1], ["x", 2]]);
    fixture
        .misused(&["load", "t.jsonl", "t.db", "--table", "u", "--delimiter", ";"])
        .says(&["--delimiter is for delimited text", "t.jsonl is JSON"]);
    // A CSV file stays one, whatever is in it.
    fixture.write("t.csv", "a\n{\"b\":1}\n{\"b\":2}\n");
    fixture.misused(&["load", "t.csv", "u.db", "--flatten"]).says(&["--flatten", "delimited text"]);
    fixture.load(&["t.csv", "t.db", "--table", "csv"]).exits(0);
    assert_eq!(fixture.table("t.db", "csv"), rows![["{\"b\":1}"], ["{\"b\":2}"]]);
    fixture.write("empty.jsonl", "").write("none.json", "[]\n");
    fixture.refuses(&["empty.jsonl", "u.db"]).says(&["holds no object"]);
    fixture.refuses(&["none.json", "u.db"]).says(&["holds no object"]);
}

#[test]
fn json_without_a_whole_object_is_said_to_be_broken_and_where() {
    let fixture = Fixture::new();
    for (file, text, words) in [
        ("comma.jsonl", "{\"a\":1},\n{\"a\":2},\n", &["line 1", "text follows", "sed"][..]),
        ("pages.json", "[{\"a\":1}][{\"a\":2}]", &["the array ends behind this record", "jq"]),
        ("table.json", "a,b\n1,2\n", &["line 1", "--format csv"]),
        ("cut.json", "\n\n{\"a\":", &["line 3", "never closed"]),
    ] {
        fixture.write(file, text);
        fixture.refuses(&[file, "t.db"]).says(&[file, "no whole object"]).says(words);
    }
    for (file, text, words) in [
        ("none.json", "{}", "has nothing in its objects"),
        ("nul.json", "{\"a\\u0000b\":1}", "no member with a name that a column can have"),
    ] {
        fixture.write(file, text);
        fixture.refuses(&[file, "t.db"]).says(&[file, words, "there are no columns"]);
    }
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    fixture.write("deep.json", deep);
    fixture.refuses(&["deep.json", "t.db"]).says(&["more than 127 levels deep"]);
}

/// RFC 7464, as `journalctl -o json-seq` and GDAL's GeoJSONSeq write it.
#[test]
fn a_text_sequence_is_json_whatever_it_is_called() {
    let fixture = Fixture::new();
    let lines = "\x1e{\"a\":1,\"b\":\"x\"}\n\x1e{\"a\":2,\"b\":\"y\"}\n";
    let printed = "\x1e{\n  \"a\": 1,\n  \"b\": \"x\"\n}\n\x1e{\"a\":2,\n\"b\":\"y\"}\n";
    for file in ["a.geojsons", "b.log", "c.json", "d.jsonl", "e.json-seq"] {
        for text in [lines, printed] {
            if text == lines || !file.ends_with("jsonl") {
                fixture.write(file, text);
                fixture.report(&[file, "t.db", "--table", "t", "--if-exists", "replace"]);
                assert_eq!(fixture.table("t.db", "t"), rows![[1, "x"], [2, "y"]], "{file}");
            }
        }
    }
    let load = ["-", "t.db", "--table", "piped"];
    fixture.load_reading(lines.as_bytes(), &load).exits(0);
    assert_eq!(fixture.table("t.db", "piped"), rows![[1, "x"], [2, "y"]]);
    fixture.write("f.csv", lines);
    fixture.refuses(&["f.csv", "t.db"]).says(&["f.csv looks like JSON"]);
    // A record that was cut off costs no other.
    fixture.write("cut.seq", format!("\x1e{{\n\"a\": 0,\n{printed}"));
    fixture.load(&["cut.seq", "t.db", "--table", "cut", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.table("t.db", "cut"), rows![[1, "x"], [2, "y"]]);
}

#[test]
fn an_empty_array_is_one_of_no_rows_and_no_row_itself() {
    let fixture = Fixture::new();
    fixture
        .sql("t.db", "CREATE TABLE t (a INTEGER, b INTEGER)")
        .write("none.json", "[]")
        .write("blank.jsonl", "\n [ ] \n")
        .write("lines.jsonl", "[]\n[1,2]\n")
        .write("rows.json", "[[3,4]]\n");
    let adding = ["t.db", "--table", "t", "--if-exists", "append"];
    for file in ["none.json", "blank.jsonl"] {
        assert_eq!(fixture.report(&[&[file], &adding[..]].concat())["rows_read"], 0);
        // It says nothing of what the rows of others are.
        fixture.load(&[&[file, "rows.json"], &adding[..]].concat()).exits(0);
    }
    assert_eq!(fixture.table("t.db", "t"), rows![[3, 4], [3, 4]]);
    // A line among others is a row, if a bad one.
    fixture
        .refuses(&[&["lines.jsonl"], &adding[..]].concat())
        .says(&["line 1: 0 values where 2 are expected"]);
}

/// White space between values, as RFC 8259 has it.
#[test]
fn carriage_returns_alone_end_records_too() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", "{\"a\":1}\r{\"a\":2}\r").write("u.ndjson", "{\"a\":1}\r{\"a\":2}");
    for file in ["t.jsonl", "u.ndjson"] {
        fixture.report(&[file, "t.db", "--table", "t", "--if-exists", "replace"]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1], [2]], "{file}");
    }
}

#[test]
fn a_bad_element_among_others_on_a_line_is_named_by_its_number() {
    let fixture = Fixture::new();
    let good: Vec<String> = (0..1_000).map(|id| format!("{{\"id\":{id}}}")).collect();
    fixture.write("one.json", format!("[{},{{\"id\":x}},{{\"id\":5}}]", good.join(",")));
    fixture.refuses(&["one.json", "t.db"]).says(&["one.json: record 1001 (line 1): broken JSON"]);
    fixture.write("two.json", format!("[{}]\n[{{\"id\":7}}]\n", good.join(",")));
    fixture.refuses(&["two.json", "t.db"]).says(&["record 1000 (line 1)", "more follows it"]);
    // Where each has a line of its own, that is enough.
    fixture.write("t.jsonl", format!("{}\n{{\"id\":x}}\n", good.join("\n")));
    fixture.refuses(&["t.jsonl", "t.db"]).says(&["t.jsonl: line 1001: broken JSON"]);
}

#[test]
fn values_of_several_kinds_become_text_and_are_named_however_few() {
    let fixture = Fixture::new();
    let warnings = |file: &str| fixture.report(&[file, "t.db"])["warnings"].to_string();
    fixture.write(
        "numbers.jsonl",
        "{\"v\":\"x\"}\n{\"v\":1}\n{\"v\":null}\n{\"v\":\"1\"}\n{\"v\":\"y\"}\n{\"v\":\"z\"}\n",
    );
    let found = warnings("numbers.jsonl");
    assert!(found.contains("column v is text: 1 of 5 values seen are of type integer"), "{found}");
    assert!(found.contains("'x' (line 1)"), "{found}");
    fixture.write("kinds.jsonl", "{\"v\":true}\n{\"v\":1}\n{\"v\":[1]}\n");
    let found = warnings("kinds.jsonl");
    assert!(found.contains("column v is text: 1 of 3 values seen"), "{found}");
    fixture.write("tiny.jsonl", "{\"v\":1e-400}\n");
    let found = warnings("tiny.jsonl");
    assert!(found.contains("column v is text: 0 of 1 values seen are of type float"), "{found}");
    fixture.write("texts.jsonl", "{\"v\":\"x\"}\n{\"v\":\"1\"}\n{\"v\":null}\n");
    assert_eq!(warnings("texts.jsonl"), "[]");
}

/// As `jsonl:` writes them with `rows=array`.
#[test]
fn arrays_a_line_are_rows_whatever_they_hold() {
    let fixture = Fixture::new();
    fixture
        .write("objects.jsonl", "{\"id\":1,\"doc\":{\"a\":1}}\n{\"id\":2,\"doc\":{\"b\":[2]}}\n");
    fixture.load(&["objects.jsonl", "jsonl:t.jsonl", "--set", "rows=array"]).exits(0);
    fixture.write("only.jsonl", "[{\"a\":1}]\n[{\"b\":[2]}]\n");
    fixture.write("unnamed", fixture.read("t.jsonl"));
    for format in [&[][..], &["--format", "jsonl"]] {
        let load = |source| {
            let args = [&[source, "t.db", "--table", "t", "--if-exists", "replace"], format];
            fixture.load(&args.concat()).exits(0);
            fixture.table("t.db", "t")
        };
        for source in ["t.jsonl", "unnamed"] {
            assert_eq!(load(source), rows![[1, "{\"a\":1}"], [2, "{\"b\":[2]}"]]);
        }
        assert_eq!(load("only.jsonl"), rows![["{\"a\":1}"], ["{\"b\":[2]}"]]);
    }
    // In the only line they are the rows.
    fixture.write("t.jsonl", "[{\"a\":1},{\"a\":2}]\n");
    fixture.load(&["t.jsonl", "one.db"]).exits(0);
    assert_eq!(fixture.table("one.db", "t"), rows![[1], [2]]);
}

/// The first record says what rows are, and one of the other kind makes no column.
#[test]
fn a_record_of_another_kind_is_a_bad_row_and_nothing_else() {
    let fixture = Fixture::new();
    for (text, why, wanted) in [
        ("{\"a\":1}\n[7,8]\n{\"a\":2}\n", "'[7,8]' is not an object", rows![[1], [2]]),
        ("[1,2]\n{\"a\":1}\n[3,4]\n", "is not an array", rows![[1, 2], [3, 4]]),
    ] {
        fixture.write("t.jsonl", text);
        fixture.refuses(&["t.jsonl", "u.db"]).says(&["t.jsonl: line 2", why]);
        let load = ["t.jsonl", "t.db", "--max-rejects", "1", "--if-exists", "replace"];
        fixture.load(&load).exits(3);
        assert_eq!(fixture.table("t.db", "t"), wanted);
        fs::remove_file(fixture.path("t.rejects.jsonl")).unwrap();
    }
}

#[test]
fn objects_in_arrays_are_taken_apart_where_that_is_wanted() {
    let fixture = Fixture::new();
    let columns = "SELECT group_concat(name) FROM pragma_table_info('t')";
    for text in [
        "[[1,{\"a\":2,\"b\":5}],[3,{\"a\":4}],[5,null],[6]]",
        "[1,{\"a\":2,\"b\":5}]\n[3,{\"a\":4}]\n[5,null]\n[6]\n",
    ] {
        fixture.write("t.json", text);
        let load = ["t.json", "t.db", "--flatten", "--max-rejects", "1", "--if-exists", "replace"];
        fixture.load(&load).exits(3);
        assert_eq!(fixture.read("t.rejects.jsonl"), b"[6]\n");
        assert_eq!(fixture.query("t.db", columns), rows![["column_1,column_2.a,column_2.b"]]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1, 2, 5], [3, 4, ()], [5, (), ()]]);
        fs::remove_file(fixture.path("t.rejects.jsonl")).unwrap();
    }
}

/// As of a value: which of the two is meant can't be known.
#[test]
fn an_object_that_comes_twice_is_a_bad_row_where_it_is_taken_apart() {
    let fixture = Fixture::new();
    let bad = [
        r#"{"id":2,"a":{"b":1},"a":{"c":2}}"#,
        r#"{"id":3,"a":null,"a":{"b":5}}"#,
        r#"{"id":4,"a":{"b":7},"a":null}"#,
        r#"{"id":5,"a":{"b":7},"a":{"b":8}}"#,
    ];
    fixture.write("t.jsonl", format!("{}\n{}\n", r#"{"id":1,"a":{"b":1,"c":2}}"#, bad.join("\n")));
    fixture.load(&["t.jsonl", "t.db", "--flatten", "--max-rejects", "4"]).exits(3);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, 1, 2]]);
    // A name may be empty, and its members are not those of the record.
    fixture.write(
        "e.jsonl",
        "{\"\":{\"x\":1},\"y\":1}\n{\"x\":2,\"y\":2}\n{\"\":{\"x\":3},\"x\":4}\n",
    );
    fixture.load(&["e.jsonl", "e.db", "--flatten"]).exits(0);
    let columns = "SELECT group_concat(name) FROM pragma_table_info('e')";
    assert_eq!(fixture.query("e.db", columns), rows![[".x,y,x"]]);
    assert_eq!(fixture.table("e.db", "e"), rows![[1, 1, ()], [(), 2, 2], [3, (), 4]]);
}

/// Answers of services, and GeoJSON: the rows are within.
#[test]
fn one_object_around_a_list_is_a_row_and_said_to_be() {
    let fixture = Fixture::new();
    let list = |rows: usize| {
        let rows: Vec<String> = (0..rows).map(|id| format!("{{\"id\": {id}}}")).collect();
        rows.join(",\n")
    };
    let around = |rows| format!("{{\"type\": \"all\",\n\"my rows\": [\n{}\n]}}\n", list(rows));
    fixture.write("small.json", around(3)).write("large.json", around(20_000));
    fixture.write("line.json", around(20_000).replace('\n', ""));
    fixture.write("two.json", around(3).repeat(2)).write("no-list.json", "{\"a\": [1, 2]}");
    for source in ["small.json", "large.json", "line.json"] {
        let table = source.trim_end_matches(".json");
        fixture.load(&[source, "t.db"]).exits(0).prints(&[
            &format!("{source} is one object, which is one row"),
            "jq -c '.[\"my rows\"][]' makes lines of the objects in its list my rows",
        ]);
        let count = format!("SELECT type, json_array_length(\"my rows\") FROM \"{table}\"");
        let rows = if source == "small.json" { 3 } else { 20_000 };
        assert_eq!(fixture.query("t.db", &count), rows![["all", rows]], "{source}");
    }
    // Where there are more, or no objects within, nothing is odd.
    for source in ["two.json", "no-list.json"] {
        let run = fixture.load(&[source, "t.db", "--if-exists", "replace"]).exits(0);
        assert!(!run.stdout.contains("jq"), "{run:?}");
    }
    // From a pipe as well, whose name says nothing.
    let all = around(20_000);
    let pipe = fixture.load_reading(all.as_bytes(), &["-", "p.db", "--table", "t"]).exits(0);
    pipe.prints(&["is one object, which is one row"]);
}

/// Its first object may be longer than what is looked at first, and is no line.
#[test]
fn objects_that_span_many_lines_are_rows_however_long() {
    let fixture = Fixture::new();
    let object = |id: usize| {
        let items: Vec<String> = (0..20_000).map(|n| format!("  {n}")).collect();
        format!("{{\n \"id\": {id},\n \"list\": [\n{}\n ]\n}}\n", items.join(",\n"))
    };
    fixture.write("long.json", (1..=3).map(object).collect::<String>());
    fixture.load(&["long.json", "t.db"]).exits(0);
    let query = "SELECT id, json_array_length(list) FROM long ORDER BY id";
    assert_eq!(fixture.query("t.db", query), rows![[1, 20_000], [2, 20_000], [3, 20_000]]);
}

#[test]
fn compressed_and_encoded_json_from_several_files() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> =
        "\u{feff}{\"id\":2,\"s\":\"\u{eb}\"}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture
        .write("a.jsonl", "{\"id\":1}\n")
        .write("b.jsonl", utf16)
        .write("c.json", "[{\"t\":true,\"id\":3}]");
    fixture.tool("gzip", &["a.jsonl"], b"");
    fixture.load(&["a.jsonl.gz", "b.jsonl", "c.json", "t.db", "--table", "t"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, (), ()], [2, "\u{eb}", ()], [3, (), 1]]);
    fixture.write("d.csv", "id\n4\n");
    for inputs in [["c.json", "d.csv"], ["d.csv", "c.json"]] {
        let run = fixture.refuses(&[&inputs[..], &["u.db", "--table", "t"]].concat());
        run.says(&["c.json is JSON, and d.csv is not", "one by one"]);
    }
}

#[test]
fn what_is_written_as_json_lines_is_read_back() {
    let fixture = Fixture::new();
    fixture.write(
        "t.csv",
        "id,name,size,ok,day,at\n1,\"a\"\"b\",1.5,true,2013-01-01,2013-01-01T10:00:00\n2,\"\",,false,,\n3,,1e-5,,2012-02-29,2013-01-01T10:00:00.5\n",
    );
    fixture.load(&["t.csv", "a.db"]).exits(0);
    fixture.load(&["t.csv", "jsonl:t.jsonl"]).exits(0);
    fixture.load(&["t.jsonl", "b.db"]).exits(0);
    assert_eq!(fixture.typed_table("b.db", "t"), fixture.typed_table("a.db", "t"));
}

#[test]
fn an_object_that_is_null_is_no_column_where_objects_are_taken_apart() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", "{\"id\":1,\"o\":{\"a\":1}}\n{\"id\":2,\"o\":null}\n{\"id\":3}\n");
    let rows = rows![[1, 1], [2, ()], [3, ()]];
    fixture.load(&["t.jsonl", "t.db", "--flatten"]).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows);
    fixture.load(&["t.jsonl", "t.db", "--flatten", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.table("t.db", "t").len(), 2 * rows.len());
    // An object may come late.
    let line = |n| match n {
        123_457 => "{\"id\":0,\"o\":{\"a\":1}}\n".to_owned(),
        n => format!("{{\"id\":{n},\"o\":null,\"x\":\"some text to fill\"}}\n"),
    };
    fixture.write("late.jsonl", (0..200_000).map(line).collect::<String>());
    fixture.load(&["late.jsonl", "t.db", "--flatten"]).exits(0);
    assert_eq!(fixture.query("t.db", "SELECT count(\"o.a\") FROM late"), [[1.into()]]);
    // A value of another kind is one.
    fixture.write("u.jsonl", "{\"o\":{\"a\":1}}\n{\"o\":null}\n{\"o\":2}\n");
    fixture.load(&["u.jsonl", "t.db", "--flatten"]).exits(0);
    assert_eq!(fixture.table("t.db", "u"), rows![[1, ()], [(), ()], [(), 2]]);
}

#[test]
fn a_member_that_comes_late_and_is_called_otherwise_is_told() {
    let fixture = Fixture::new();
    // Where no sample is taken.
    let line = |n| match n {
        123_457 => "{\"id\":0,\"Lvl\":\"late\"}\n".to_owned(),
        n => format!("{{\"id\":{n},\"lvl\":\"info of some length\"}}\n"),
    };
    let text: String = (0..200_000).map(line).collect();
    fixture.write("t.jsonl", text);
    fixture
        .load(&["t.jsonl", "t.db"])
        .exits(0)
        .says(&["there is no column 'Lvl'"])
        .prints(&["it is called Lvl_2"]);
}

/// Rows of 40 bytes, one of which has a member more: behind the head that is looked at, and between the places behind it.
fn with_a_late_member() -> String {
    let line = |n: u32| match n {
        31_250 => "{\"id\":     0,\"name\":\"x\",\"extra\":\"7\\u0037\"}\n".to_owned(),
        n => format!("{{\"id\":{n:6},\"name\":\"some text to fill\"}}\n"),
    };
    (0..40_000).map(line).collect()
}

#[test]
fn a_late_member_that_is_not_loaded_is_known_all_the_same() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", with_a_late_member());
    let report = fixture.report(&["t.jsonl", "t.db", "--columns", "id,name"]);
    assert_eq!(report["rows_loaded"], 40_000);
    let append = ["t.jsonl", "t.db", "--if-exists", "append", "--new-columns", "ignore"];
    assert_eq!(fixture.report(&append)["rows_loaded"], 40_000);
    assert_eq!(fixture.columns("t.db", "t").len(), 2);
}

#[test]
fn a_late_member_goes_by_its_name_in_options() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", with_a_late_member());
    let report = fixture.report(&["t.jsonl", "t.db", "--rename", "extra=more", "--drop", "name"]);
    assert!(!report["warnings"].to_string().contains("started again"));
    assert_eq!(fixture.query("t.db", "SELECT id, more FROM t WHERE more = '77'"), rows![[0, "77"]]);
    fixture
        .misused(&["load", "t.jsonl", "t.db", "--table", "u", "--type", "extras=text"])
        .says(&["there is no column extras"]);
}

#[test]
fn a_string_with_escapes_is_null_by_what_it_stands_for() {
    let fixture = Fixture::new();
    fixture
        .write("t.jsonl", "{\"v\":1}\n{\"v\":\"N\\/A\"}\n{\"v\":\"\\u2014\"}\n{\"v\":\"\\\\N\"}\n");
    let nulls = ["--null", "N/A", "--null", "v=\u{2014}", "--null", "\\N"];
    let load = |more: &[&str]| fixture.report(&[&["t.jsonl", "t.db"], &nulls[..], more].concat());
    assert_eq!(load(&[])["plan"]["columns"][0]["type"], "integer");
    load(&["--if-exists", "append"]);
    let values = crate::fixture::rows![[1], [()], [()], [()]];
    assert_eq!(fixture.table("t.db", "t"), [values.clone(), values].concat());
}

#[test]
fn numbers_that_json_lacks_are_named() {
    let fixture = Fixture::new();
    fixture.write("t.jsonl", "{\"v\":1}\n{\"v\":NaN}\n");
    let failed = fixture.load(&["t.jsonl", "t.db"]);
    failed.exits(1).says(&["line 2", "NaN at byte 6", "write null"]);
    fixture.write("u.jsonl", "{\"v\":-Infinity}\n");
    fixture.refuses(&["u.jsonl", "t.db"]).says(&["Infinity at byte", "write null"]);
}

#[test]
fn options_for_columns_of_several_files_that_json_does_not_have_are_named() {
    let fixture = Fixture::new();
    fixture.write("a.jsonl", "{\"a\":1}\n").write("b.jsonl", "{\"a\":2,\"b\":3}\n");
    let note = |option: [&str; 2]| {
        let more = ["--table", "t", "--if-exists", "replace", option[0], option[1]];
        let report = fixture.report(&[&["a.jsonl", "b.jsonl", "t.db"], &more[..]].concat());
        report["warnings"].to_string().contains("files of JSON have no header")
    };
    assert!(note(["--new-columns", "ignore"]));
    assert!(note(["--missing-columns", "fail"]));
    assert!(!note(["--new-columns", "add"]));
    assert_eq!(fixture.table("t.db", "t"), rows![[1, ()], [2, 3]]);
}
