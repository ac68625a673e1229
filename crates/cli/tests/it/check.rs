//! `inrush check` by itself: what it says of an input, with no target or one that has no say in it.

use crate::fixture::Fixture;

const ORDERS: &str = "\
id,amount,at,name
1,9.5,2024-01-01,Ana
2,free,2024-02-29,
3,3,2024-03-01,Bob
";

#[test]
fn every_column_is_told_with_the_value_that_decided_its_type() {
    let files = Fixture::new();
    files.write("orders.csv", ORDERS);
    let run = files.leaves_all(|| files.inrush(&["check", "orders.csv", "--json"])).exits(0);
    let found = run.json();
    assert_eq!(found["target"], serde_json::Value::Null);
    assert_eq!(found["table"], "orders");
    let columns = found["columns"].as_array().unwrap();
    let told: Vec<_> = columns
        .iter()
        .map(|column| {
            let number = |key: &str| column[key].as_u64().unwrap();
            (column["type"].as_str().unwrap(), number("values"), number("nulls"), number("shapes"))
        })
        .collect();
    let wanted = [("integer", 3, 0, 1), ("text", 3, 0, 3), ("date", 3, 0, 1), ("text", 2, 1, 1)];
    assert_eq!(told, wanted);
    assert_eq!(columns[0]["decided_by"], serde_json::Value::Null);
    let decider = &columns[1]["decided_by"];
    assert_eq!((&decider["value"], &decider["line"]), (&"'free'".into(), &3.into()));
    assert_eq!(decider["is_not"], "float");
    files.inrush(&["check", "orders.csv"]).exits(0).prints(&[
        "3 good, 0 bad",
        "'free' (line 3) is not float",
        "CREATE TABLE \"orders\"",
    ]);
}

/// As notes have it, which say the same of the column.
#[test]
fn what_decides_a_type_is_a_value_that_options_do_not_read_either() {
    let files = Fixture::new();
    files
        .write("amounts.csv", "id;v\n1;5,5\n2;abc\n3;12\n")
        .write("days.csv", "id,v\n1,31.12.2024\n2,abc\n3,01.01.2024\n")
        .write("blanks.csv", "id,v\n1, 5\n2, abc\n3, 12\n")
        .write("strings.jsonl", "{\"v\":\"5,5\"}\n{\"v\":\"abc\"}\n{\"v\":\"12\"}\n");
    for (file, options, is_not, line) in [
        ("amounts.csv", &["--decimal", ","][..], "float", 3),
        ("days.csv", &["--date-format", "%d.%m.%Y"], "date", 3),
        ("blanks.csv", &["--trim"], "integer", 3),
        ("strings.jsonl", &["--decimal", ","], "float", 2),
    ] {
        let args = [&["check", file, "--json"], options].concat();
        let found = files.inrush(&args).exits(0).json();
        let columns = found["columns"].as_array().unwrap();
        let decider = &columns.last().unwrap()["decided_by"];
        assert_eq!((&decider["value"], &decider["is_not"]), (&"'abc'".into(), &is_not.into()));
        assert_eq!(decider["line"], line, "{file}");
        let notes = found["warnings"].to_string();
        assert!(notes.contains(&format!("'abc' (line {line}) is not")), "{notes}");
    }
    // What they do read decides nothing.
    files.write("good.csv", "id;v\n1;5,5\n2;12\n");
    let found = files.inrush(&["check", "good.csv", "--decimal", ",", "--json"]).exits(0).json();
    assert_eq!(found["columns"][1]["decided_by"], serde_json::Value::Null);
}

#[test]
fn types_are_those_of_the_whole_input_and_lines_are_the_files() {
    let files = Fixture::new();
    let mut text = String::from("id,code\n");
    for n in 0..200_000 {
        text += &format!("{n},{n}\n");
    }
    text += "200000,x7\n";
    // The sample sees whole numbers only.
    text += &"9,9\n".repeat(50_000);
    files.write("big.csv", text);
    let found = files.inrush(&["check", "big.csv", "--json"]).exits(0).json();
    let code = &found["columns"][1];
    assert_eq!((&code["type"], &code["values"]), (&"text".into(), &250_001.into()));
    assert_eq!(code["decided_by"]["line"], 200_002);
    let typed = ["check", "big.csv", "--type", "code=integer", "--json"];
    let found = files.inrush(&typed).exits(3).json();
    assert_eq!(found["rows_bad"], 1);
    assert_eq!(found["bad_rows"][0]["line"], 200_002);
}

#[test]
fn a_check_counts_rows_under_its_own_name() {
    let fixture = Fixture::new();
    let rows: String = (0..200_000).map(|n| format!("{n},name {n}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}1\n"));
    let run = fixture.inrush(&["check", "in.csv", "--progress", "json"]).exits(3);
    let last = run.stderr.lines().rfind(|line| line.contains("\"rows\"")).unwrap();
    let last: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!((&last["rows"], &last["rejected"]), (&200_000.into(), &1.into()));
}

#[test]
fn a_file_that_is_the_target_is_said_not_to_be_checked() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    for name in ["p1.parquet", "p2.parquet"] {
        fixture.load(&["in.csv", name]).exits(0);
    }
    let note = "p2.parquet stands last, so it is the target";
    fixture.inrush(&["check", "p1.parquet", "p2.parquet"]).exits(0).prints(&[note]);
    let run = fixture.inrush(&["check", "in.csv", "new.parquet"]).exits(0);
    assert!(!run.stdout.contains("stands last"), "{run:?}");
}

#[test]
fn json_and_standard_input_are_checked_too() {
    let files = Fixture::new();
    files.write("in.jsonl", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2.5}\n{\"a\":\n");
    let found = files.inrush(&["check", "in.jsonl", "--json"]).exits(3).json();
    assert_eq!(found["columns"][0]["type"], "float");
    assert_eq!(found["columns"][1]["nulls"], 1);
    assert_eq!(found["bad_rows"][0]["line"], 3);
    let run = files.inrush_reading(ORDERS.as_bytes(), &["check", "-", "--table", "orders"]);
    run.exits(0).prints(&["3 rows read from -"]);
    files.inrush(&["check", "none.csv"]).exits(1).says(&["none.csv"]);
    files.inrush(&["check", "in.jsonl", "--lanes", "x"]).exits(2);
}

#[test]
fn uuids_are_checked_and_other_types_of_one_target_want_it_named() {
    let files = Fixture::new();
    files.write("a.csv", "id,took\n00112233-4455-6677-8899-aabbccddeeff,PT1S\n7,PT2S\n");
    let found = files.inrush(&["check", "a.csv", "--type", "id=uuid", "--json"]).exits(3).json();
    assert_eq!((&found["rows_bad"], &found["columns"][0]["type"]), (&1.into(), &"uuid".into()));
    assert_eq!(found["bad_rows"][0]["line"], 3);
    let run = files.inrush(&["check", "a.csv", "--type", "took=interval"]).exits(2);
    run.says(&["check without a target has no type interval", "--type took=text"]);
}

#[test]
fn blanks_that_are_cut_off_are_of_no_value() {
    let files = Fixture::new();
    files.write("in.csv", "a,b\n1, \n2,x\n3, NA\n");
    let found =
        files.inrush(&["check", "in.csv", "--trim", "--null", "NA", "--json"]).exits(0).json();
    let column = &found["columns"][1];
    assert_eq!((&column["values"], &column["nulls"]), (&1.into(), &2.into()));
}
