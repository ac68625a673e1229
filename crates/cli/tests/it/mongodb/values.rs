use std::collections::BTreeSet;

use super::server::{STRATEGIES, for_each_server, rows};
use crate::servers::{self, Database as _};

const EXTREMES: &str = concat!(
    "id,text,int,real,day,moment,zoned,truth,document\n",
    "1,plain,1,1.5,2013-01-01,2013-01-01 05:00:00,2013-01-01T05:00:00Z,true,{}\n",
    "2,\"quote \"\" comma , newline\nand 'single'\",-9223372036854775808,5e-324,0001-01-01,0001-01-01 00:00:00,2013-01-01 05:00:00+14:00,false,\"{\"\"a\"\":[1,{\"\"b\"\":null}],\"\"c\"\":\"\"\u{e9}\"\"}\"\n",
    "3,\"\",9223372036854775807,1.7976931348623157e308,9999-12-31,9999-12-31 23:59:59.999,1969-12-31T23:59:59.999-02:00,true,[]\n",
    "4,,,,,,,,\n",
    "5,\u{1f600} \u{e9}\u{301} \u{202e},2147483648,-0.1,1970-01-01,1970-01-01 00:00:00.001,1970-01-01 00:00Z,false,\"[true,1.5,\"\"x\"\"]\"\n",
);

#[test]
fn values_are_what_the_file_says() {
    for_each_server(|server| {
        server.write("t.csv", EXTREMES);
        for strategy in STRATEGIES {
            let load = ["t.csv", "--strategy", strategy, "--if-exists", "replace"];
            let report = server.report(&[&load[..], &["--verify", "checksum"]].concat());
            assert_eq!(report["rows_loaded"], 5);
            let wanted = rows![
                [
                    1,
                    "plain",
                    1,
                    1.5,
                    "2013-01-01T00:00:00.000Z",
                    "2013-01-01T05:00:00.000Z",
                    "2013-01-01T05:00:00.000Z",
                    "true",
                    "{}"
                ],
                [
                    2,
                    "quote \" comma , newline\nand 'single'",
                    i64::MIN,
                    "5e-324",
                    "0001-01-01T00:00:00.000Z",
                    "0001-01-01T00:00:00.000Z",
                    "2012-12-31T15:00:00.000Z",
                    "false",
                    "{\"a\":[1,{\"b\":null}],\"c\":\"\u{e9}\"}"
                ],
                [
                    3,
                    "",
                    i64::MAX,
                    "1.7976931348623157e308",
                    "9999-12-31T00:00:00.000Z",
                    "9999-12-31T23:59:59.999Z",
                    "1970-01-01T01:59:59.999Z",
                    "true",
                    "[]"
                ],
                [4, (), (), (), (), (), (), (), ()],
                [
                    5,
                    "\u{1f600} \u{e9}\u{301} \u{202e}",
                    2_147_483_648,
                    -0.1,
                    "1970-01-01T00:00:00.000Z",
                    "1970-01-01T00:00:00.001Z",
                    "1970-01-01T00:00:00.000Z",
                    "false",
                    "[true,1.5,\"x\"]"
                ],
            ];
            let mut found = server.fields("t");
            // Doubles may be written in two ways.
            for row in &mut found {
                row[3] = row[3]
                    .as_ref()
                    .map(|text| servers::cell(text.parse::<f64>().unwrap()).unwrap());
            }
            assert_eq!(found, wanted, "{strategy} on {}", server.name());
        }
    });
}

#[test]
fn kinds_are_what_their_columns_say() {
    for_each_server(|server| {
        server.write("t.csv", "n,x,s\n1,1.0,a\n2147483648,2.5,\n");
        let types = |collection: &str| {
            let of = |field: &str, kind: &str| {
                let count = format!(
                    "{{\"count\": \"{collection}\", \"query\": {{\"{field}\": {{\"$type\": \"{kind}\"}}}}}}"
                );
                server.query(&count)[0][0].clone().unwrap()
            };
            [of("n", "int"), of("n", "long"), of("x", "double"), of("s", "string"), of("s", "null")]
        };
        server.load(&["t.csv"]).exits(0);
        assert_eq!(types("t"), ["1", "1", "2", "1", "1"]);
        server
            .load(&[
                "t.csv",
                "--if-exists",
                "replace",
                "--set",
                "integers=int64",
                "--set",
                "nulls=omit",
            ])
            .exits(0);
        assert_eq!(types("t"), ["0", "2", "2", "1", "0"]);
        let absent = "{\"count\": \"t\", \"query\": {\"s\": {\"$exists\": false}}}";
        assert_eq!(server.query(absent), rows![[1]]);
        // What is left out is NULL to a checksum as well.
        let load =
            ["t.csv", "--if-exists", "append", "--set", "nulls=omit", "--verify", "checksum"];
        server.load(&load).exits(0);
    });
}

/// A collection says no types, so what lies beside the bad rows does: of text, and of Parquet.
#[test]
fn fixed_rows_are_of_the_kinds_of_the_load_that_refused_them() {
    for_each_server(|server| {
        let header = "n,price,data,doc,word,whole,at\n";
        let row = "5,1.10,eHl6,\"{\"\"a\"\":[1]}\",2024-01-01,3,2024-01-01 00:00:00\n";
        let bad = row.replacen('5', "x", 1);
        let good = "5,1.25,plain,[],n/a,4.5,2024-01-02 00:00:00\n";
        server.write("t.csv", format!("{header}{good}{bad}"));
        let typed = ["--type", "price=decimal(20,2)", "--type", "data=bytes", "--type", "doc=json"];
        server.inrush(&[&["load", "t.csv", "t.parquet"], &typed[..]].concat()).exits(0);
        for (source, rejects) in [("t.csv", "t.rejects.csv"), ("t.parquet", "t.rejects.jsonl")] {
            let some =
                [source, "--max-rejects", "1", "--if-exists", "replace", "--type", "n=integer"];
            let types = if source == "t.csv" { &typed[..] } else { &[] };
            server.load(&[&some[..], types].concat()).exits(3);
            let text = String::from_utf8(server.read(rejects)).unwrap();
            server.write(rejects, text.replace("\"x\"", "6").replace("\nx,", "\n6,"));
            let adds = [rejects, "--if-exists", "append"];
            server.load(&adds).exits(0);
            let kinds = [
                ("n", "int"),
                ("data", "binData"),
                ("word", "string"),
                ("whole", "double"),
                ("at", "date"),
            ];
            for (field, kind) in kinds {
                let count = format!(
                    "{{\"count\": \"t\", \"query\": {{\"{field}\": {{\"$type\": \"{kind}\"}}}}}}"
                );
                assert_eq!(server.query(&count), rows![[2]], "{source}: {field}");
            }
            // Ids that two commands have made in one second are in any order.
            let prices: BTreeSet<_> = server.fields("t").iter().map(|row| row[1].clone()).collect();
            let wanted = ["1.10", "1.25"].map(|price| Some(price.to_owned()));
            assert_eq!(prices, BTreeSet::from(wanted), "{source}");
        }
    });
}

#[test]
fn a_finer_timestamp_than_dates_are_is_kept_as_text_or_refused() {
    for_each_server(|server| {
        server.write("t.csv", "id,at\n1,2024-01-01 00:00:00\n2,2024-01-01 00:00:00.123456\n");
        let report = server.report(&["t.csv"]);
        assert_eq!(report["plan"]["columns"][1]["type"], "text");
        let note = report["warnings"][0].as_str().unwrap();
        for word in ["column at is text", "123456", "--type at=timestamp"] {
            assert!(note.contains(word), "{note}");
        }
        assert_eq!(
            server.fields("t"),
            rows![[1, "2024-01-01 00:00:00"], [2, "2024-01-01 00:00:00.123456"]]
        );
        server
            .refuses(&["t.csv", "--if-exists", "replace", "--type", "at=timestamp"])
            .says(&["line 3, column at", "to the millisecond"]);
    });
}

/// Who has asked for texts is not told that the server has nothing else.
#[test]
fn counts_are_kept_as_text_where_that_is_asked_for() {
    for_each_server(|server| {
        server.write("t.csv", "id,v\n1,1700000000\n2,1700000001.5\n");
        let texts = ["t.csv", "--set", "timestamps=text"];
        let run = server.load(&[&texts[..], &["--type", "v=timestamp[s]"]].concat()).exits(0);
        assert!(!run.stdout.contains("is text"), "{run:?}");
        assert_eq!(server.fields("t")[0][1].as_deref(), Some("2023-11-14 22:13:20+00:00"));
        server.load(&[&texts[..], &["--if-exists", "replace"]].concat()).exits(0);
        assert_eq!(server.fields("t"), rows![[1, 1_700_000_000.0], [2, 1_700_000_001.5]]);
    });
}

#[test]
fn decimals_keep_their_digits() {
    for_each_server(|server| {
        server.write("t.csv", "price\n12345678901234567890.10\n-0.01\n");
        server.load(&["t.csv", "--verify", "checksum"]).exits(0);
        assert_eq!(server.fields("t"), rows![["12345678901234567890.10"], ["-0.01"]]);
        if server.name().starts_with("ferretdb") {
            server.plan(&["t.csv", "--table", "u"]).exits(0).prints(&["FerretDB has no decimals"]);
        }
    });
}

#[test]
fn wide_rows_long_values_and_odd_names() {
    for_each_server(|server| {
        let names: Vec<String> = (0..500).map(|n| format!("column {n} \u{e9}")).collect();
        let values: Vec<String> = (0..500).map(|n| n.to_string()).collect();
        server.write("t.csv", format!("{}\n{}\n", names.join(","), values.join(",")));
        server.load(&["t.csv", "--verify", "checksum"]).exits(0);
        let row: Vec<Option<String>> = values.into_iter().map(Some).collect();
        assert_eq!(server.fields("t"), [row]);
        let long = "x".repeat(2 << 20);
        server.write("long.csv", format!("id,text\n1,{long}\n2,y\n"));
        server.load(&["long.csv", "--verify", "checksum"]).exits(0);
        assert_eq!(server.fields("long"), rows![[1, long], [2, "y"]]);
        server.write("odd.csv", "id,a.b\n1,2\n");
        if server.name().starts_with("ferretdb") {
            server.misused(&["odd.csv"]).says(&["FerretDB", "a.b", "--rename a.b=NEW"]);
            // It would give out no document of the collection.
            for name in [r"a\\b", r#"a\"b"#, r"a\tb", r"a\u0001b"] {
                server.write("odd.jsonl", format!("{{\"id\":1,\"{name}\":2}}\n"));
                server.misused(&["odd.jsonl"]).says(&["FerretDB keeps no field", "--rename"]);
            }
            server.write("odd.jsonl", r#"{"id":1,"d":{"a\tb":1,"c\\d":2,"e\"f":3}}"#);
            server.load(&["odd.jsonl", "--verify", "checksum"]).exits(0);
            server.write("lists.jsonl", "{\"id\":1,\"d\":[1]}\n{\"id\":2,\"d\":[[1]]}\n");
            let said = ["lists.jsonl", "--type", "d=json"];
            server.refuses(&said).says(&["line 2, column d", "lists within lists"]);
            server.load(&["lists.jsonl"]).exits(0).prints(&["column d as text"]);
        }
    });
}

#[test]
fn nothing_at_all_is_loaded_from_empty_files() {
    for_each_server(|server| {
        server.write("header.csv", "id,name\n").write("empty.csv", "");
        server.load(&["header.csv", "--verify", "checksum"]).exits(0);
        assert_eq!(server.count("header"), 0);
        let run = server.load(&["empty.csv"]);
        assert_ne!(run.status.code(), Some(0), "{run:?}");
        assert_eq!(server.tables(), ["header"]);
    });
}

#[test]
fn other_forms_of_input_are_typed_all_the_same() {
    for_each_server(|server| {
        server.write(
            "t.jsonl",
            "{\"id\":1,\"a\":{\"b\":[1,2]},\"x\":0.5}\n{\"id\":2,\"a\":null,\"x\":-1}\n",
        );
        server.load(&["t.jsonl", "--verify", "checksum"]).exits(0);
        assert_eq!(server.fields("t"), rows![[1, "{\"b\":[1,2]}", 0.5], [2, (), -1]]);
    });
}
