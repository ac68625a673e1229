use serde_json::{Value as Json, json};

use super::{TARGETS, loaded};
use crate::fixture::{Fixture, json_lines, repository};

/// Values that are easily changed on their way.
const NASTY: &str = concat!(
    "id,text,other\n",
    "1,\"quote \"\" comma , newline\nand 'single'\",\"\"\n",
    "2,\"\",\n",
    "3,,\"\r\"\n",
    "4, leading and trailing ,NULL\n",
    "5,\u{1f600} \u{e9}\u{301} \u{202e}\u{2028},\u{0}\u{1}\u{7f}\n",
    "6,\\,\\N\n",
    "7,\"\r\n\",\"a\tb\"\n",
    "8,mid\"quote,a;b|c\n",
);

#[test]
fn csv_is_written_as_it_is_read() {
    let fixture = Fixture::new();
    fixture.write("in.csv", NASTY);
    let first = loaded(&fixture, &["in.csv", "csv:out"]);
    // All that differs: what has quotes without need, and what has none with need.
    let wanted = NASTY.replace("mid\"quote", "\"mid\"\"quote\"").replace("a;b|c", "\"a;b|c\"");
    assert_eq!(first, wanted);
    fixture.write("again.csv", &first);
    let again = loaded(&fixture, &["again.csv", "csv:out", "--if-exists", "replace"]);
    assert_eq!(again, first);
}

/// Whoever reads has to find out what separates and quotes fields, and where the header begins.
#[test]
fn what_could_be_taken_for_another_dialect_is_read_as_it_was() {
    let fixture = Fixture::new();
    for rows in [
        "{\"t\":\"'abc'\"}\n{\"t\":\"'d,f'\"}\n",
        "{\"n\":1,\"t\":\"'abc'\"}\n{\"n\":2,\"t\":\"'def'\"}\n",
        "{\"'n'\":1,\"t\":\"x\"}\n",
        "{\"t\":\"x|y\"}\n{\"t\":\"z|w\"}\n",
        "{\"a|b\":\"x|y\"}\n{\"a|b\":\"z|w\"}\n",
        "{\"a\\tb\":\"x\\ty\",\"c\":\"z\"}\n{\"a\\tb\":\"z\\tw\",\"c\":\"z\"}\n",
        "{\"a;b\":1,\"c\":\"1;2\"}\n{\"a;b\":2,\"c\":\"3;4\"}\n",
        "{\"sep=;\":1,\"b\":2}\n",
        "{\"\u{feff}id\":1,\"b\":2}\n",
    ] {
        fixture.write("in.jsonl", rows);
        for target in ["csv:out", "jsonl:again"] {
            let source = if target == "csv:out" { "in.jsonl" } else { "out" };
            fixture.load(&[source, target, "--if-exists", "replace"]).exits(0);
        }
        assert_eq!(String::from_utf8(fixture.read("again")).unwrap(), rows);
        // Records of text are copied as they are only where that is the same.
        fixture.load(&["out", "csv:copy", "--if-exists", "replace"]).exits(0);
        assert_eq!(fixture.read("copy"), fixture.read("out"), "{rows}");
    }
}

#[test]
fn by_way_of_a_csv_file_into_a_database_is_the_same_as_straight() {
    for (file, options) in [
        (repository("examples/weather.csv.gz"), &["--null", "NA"][..]),
        (repository("examples/weather.csv.gz"), &["--types", "text", "--chunk-size", "1k"]),
    ] {
        let fixture = Fixture::new();
        let file = file.to_str().unwrap();
        let load = |source: &str, target: &str, options: &[&str]| {
            fixture.load(&[&[source, target, "--table", "t"], options].concat()).exits(0);
        };
        load(file, "csv:between.csv", options);
        load(file, "straight.db", options);
        load("between.csv", "around.db", &options[..2]);
        assert!(fixture.typed_table("straight.db", "t") == fixture.typed_table("around.db", "t"));
    }
}

#[test]
fn other_dialects_become_rfc_4180() {
    let fixture = Fixture::new();
    fixture.write("in.txt", "a;b\r\n'x;y';1\r\nNA;''\r\np,q;\"\r\n");
    let args = ["in.txt", "csv:out", "--delimiter", ";", "--quote", "'", "--null", "NA"];
    assert_eq!(loaded(&fixture, &args), "a,b\n\"x;y\",1\n,\"\"\n\"p,q\",\"\"\"\"\n");
    // UTF-16, tabs, a header that has to be made up.
    let fixture = Fixture::new();
    let wide: Vec<u8> =
        "\u{feff}1\t\u{e9}\n2\t\u{1f600}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.write("in.tsv", wide);
    let out = loaded(&fixture, &["in.tsv", "csv:out", "--header", "no"]);
    assert_eq!(out, "column_1,column_2\n1,\u{e9}\n2,\u{1f600}\n");
}

#[test]
fn in_one_column_null_and_the_empty_string_are_two_things() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "a\n\n\"\"\nx\n\n");
    assert_eq!(loaded(&fixture, &["in.csv", "csv:out"]), "a\n\n\"\"\nx\n\n");
    let out = loaded(&fixture, &["in.csv", "jsonl:out", "--if-exists", "replace"]);
    assert_eq!(out, "{\"a\":null}\n{\"a\":\"\"}\n{\"a\":\"x\"}\n{\"a\":null}\n");
}

#[test]
fn json_has_the_values_that_the_source_has() {
    let fixture = Fixture::new();
    fixture.write("in.csv", NASTY);
    let out = loaded(&fixture, &["in.csv", "jsonl:out"]);
    assert_eq!(out.lines().count(), 8);
    let rows = json_lines(out.as_bytes());
    let texts = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Json>();
    assert_eq!(texts("id"), json!([1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(
        texts("text"),
        json!([
            "quote \" comma , newline\nand 'single'",
            "",
            null,
            " leading and trailing ",
            "\u{1f600} \u{e9}\u{301} \u{202e}\u{2028}",
            "\\",
            "\r\n",
            "mid\"quote"
        ])
    );
    assert_eq!(
        texts("other"),
        json!(["", null, "\r", "NULL", "\u{0}\u{1}\u{7f}", "\\N", "a\tb", "a;b|c"])
    );
    // Another client's reader agrees.
    let script = "import json, sys\nfor line in open('out', newline='\\n'): json.loads(line)\nprint(sum(1 for _ in open('out', newline='\\n')))";
    assert_eq!(fixture.tool("python3", &["-c", script], b""), b"8\n");
}

#[test]
fn json_has_the_types_that_the_columns_have() {
    let fixture = Fixture::new();
    fixture.write(
        "in.csv",
        "i,f,long,b,d,t,z,doc\n\
         -9223372036854775808,10.357019999999999,12345678901234567890.5,true,2024-02-29,2024-02-29 01:02:03,2024-02-29 01:02:03 +02:00,\"{\"\"a\"\":\n[1]}\"\n\
         ,,,,,,,\n\
         9223372036854775807,-1e-300,0.5,false,0001-01-01,2024-02-29T01:02:03.123456,2024-02-29T01:02:03Z,[]\n",
    );
    let out = loaded(&fixture, &["in.csv", "jsonl:out"]);
    let wanted = "{\"i\":-9223372036854775808,\"f\":10.357019999999999,\"long\":\"12345678901234567890.5\",\"b\":true,\"d\":\"2024-02-29\",\"t\":\"2024-02-29T01:02:03\",\"z\":\"2024-02-29T01:02:03+02:00\",\"doc\":{\"a\": [1]}}
{\"i\":null,\"f\":null,\"long\":null,\"b\":null,\"d\":null,\"t\":null,\"z\":null,\"doc\":null}
{\"i\":9223372036854775807,\"f\":-1e-300,\"long\":\"0.5\",\"b\":false,\"d\":\"0001-01-01\",\"t\":\"2024-02-29T01:02:03.123456\",\"z\":\"2024-02-29T01:02:03Z\",\"doc\":[]}
";
    assert_eq!(out, wanted);
    let array = ["in.csv", "jsonl:out", "--if-exists", "replace", "--set", "rows=array"];
    let out = loaded(&fixture, &array);
    assert_eq!(out.lines().nth(1).unwrap(), "[null,null,null,null,null,null,null,null]");
    assert!(out.starts_with("[-9223372036854775808,10.357019999999999,\"12345678901234567890.5\""));
}

#[test]
fn a_row_that_disproves_a_guess_makes_the_column_wider() {
    let fixture = Fixture::new();
    let rows: String = (0..50_000).map(|n| format!("{n},x\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}007,y\n"));
    let out = loaded(&fixture, &["in.csv", "jsonl:out", "--chunk-size", "64k"]);
    assert!(out.starts_with("{\"id\":\"0\",\"name\":\"x\"}\n"), "{}", &out[..40]);
    assert!(out.ends_with("{\"id\":\"007\",\"name\":\"y\"}\n"));
    // To CSV it makes no difference what it was taken for.
    let out = loaded(&fixture, &["in.csv", "csv:out", "--if-exists", "replace"]);
    assert!(out.ends_with("49999,x\n007,y\n"));
}

#[test]
fn promised_types_make_bad_rows_and_the_others_are_written() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,size\n1,2\nx,3\n007,4\n5,6,7\n8,\u{e9}\n");
    for (target, good) in [
        ("csv:out", "id,size\n1,2\n007,4\n8,\u{e9}\n"),
        (
            "jsonl:out",
            "{\"id\":1,\"size\":\"2\"}\n{\"id\":7,\"size\":\"4\"}\n{\"id\":8,\"size\":\"\u{e9}\"}\n",
        ),
    ] {
        let args = ["in.csv", target, "--type", "id=integer", "--type", "size=text"];
        fixture
            .refuses(&[&args[..], &["--if-exists", "replace"]].concat())
            .says(&["line 3, column id: 'x'"]);
        let options = ["--max-rejects", "5", "--if-exists", "replace", "--verify", "checksum"];
        fixture.load(&[&args[..], &options].concat()).exits(3);
        assert_eq!(String::from_utf8(fixture.read("out")).unwrap(), good);
        let rejects = String::from_utf8(fixture.read("in.rejects.csv")).unwrap();
        assert_eq!(rejects, "id,size\nx,3\n5,6,7\n");
    }
}

#[test]
fn bytes_stay_bytes() {
    let fixture = Fixture::new();
    fixture.write("in.csv", b"id,raw\n1,\xff\xfe\n2,\n3,ab\n");
    let options = ["--type", "raw=bytes", "--encoding", "utf-8", "--verify", "checksum"];
    fixture.load(&[&["in.csv", "csv:out"], &options[..]].concat()).exits(0);
    assert_eq!(fixture.read("out"), b"id,raw\n1,\xff\xfe\n2,\n3,ab\n");
    let again = ["in.csv", "jsonl:out", "--if-exists", "replace"];
    fixture.load(&[&again[..], &options].concat()).exits(0);
    assert_eq!(
        fixture.read("out"),
        b"{\"id\":1,\"raw\":\"//4=\"}\n{\"id\":2,\"raw\":null}\n{\"id\":3,\"raw\":\"YWI=\"}\n"
    );
}

#[test]
fn every_flush_gives_the_same_file() {
    let rows: String = (0..2_000).map(|n| format!("{n},\"name, {n}\"\n")).collect();
    for target in TARGETS {
        let mut first = None;
        for settings in [
            &[][..],
            &["--set", "rows_per_flush=1"],
            &["--set", "rows_per_flush=7", "--set", "fsync=never", "--durability", "process"],
            &["--set", "rows_per_flush=700", "--set", "fsync=flush"],
            &["--set", "rows_per_flush=100000"],
            &["--set", "fsync=flush"],
            &["--durability", "none"],
        ] {
            let fixture = Fixture::new();
            fixture.write("in.csv", format!("id,name\n{rows}"));
            let args =
                [&["in.csv", target, "--chunk-size", "1k", "--encoders", "2"], settings].concat();
            let out = loaded(&fixture, &args);
            assert_eq!(*first.get_or_insert_with(|| out.clone()), out, "{settings:?}");
            assert_eq!(fixture.names(), ["in.csv", "out"]);
        }
    }
}

#[test]
fn durability_is_what_was_asked_for() {
    for (durability, fsync) in [("durable", "end"), ("process", "never"), ("none", "never")] {
        let fixture = Fixture::new();
        fixture.write("in.csv", "id\n1\n");
        let report = fixture.report(&["in.csv", "csv:out", "--durability", durability]);
        assert_eq!(report["durability_read_back"], json!({"fsync": fsync}));
        assert_eq!(report["plan"]["atomic"], true);
    }
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    fixture.misused(&["load", "in.csv", "csv:out", "--set", "fsync=never"]).says(&[
        "with fsync=never",
        "'durable' is asked for",
        "--durability process",
    ]);
}

#[test]
fn no_row_makes_a_header_and_an_empty_file() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,\"a,b\"\n");
    assert_eq!(loaded(&fixture, &["in.csv", "csv:out", "--header", "yes"]), "id,\"a,b\"\n");
    let args = ["in.csv", "jsonl:out", "--header", "yes", "--if-exists", "replace"];
    assert_eq!(loaded(&fixture, &args), "");
}
