//! What becomes of values: types found by looking, types that a table has, and never another value than was written.

use rusqlite::types::Value;
use serde_json::Value as Json;

use crate::archives::gzip;
use crate::fixture::{Fixture, rows, strategies};

/// Loads one column of these values into a new table: its declared type, the plan's word for it, and the values stored.
#[track_caller]
fn inferred(values: &[&str]) -> (String, String, Vec<Value>) {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("c,d\n{},\n", values.join(",\n")));
    let report = fixture.report(&["in.csv", "t.db", "--table", "t", "--verify", "checksum"]);
    let (_, declared) = fixture.columns("t.db", "t").remove(0);
    let word = report["plan"]["columns"][0]["type"].as_str().unwrap().to_owned();
    let stored = fixture.query("t.db", "SELECT c FROM t ORDER BY rowid");
    (declared, word, stored.into_iter().flatten().collect())
}

#[track_caller]
fn assert_inferred(values: &[&str], word: &str, declared: &str, stored: Vec<Vec<Value>>) {
    let stored: Vec<Value> = stored.into_iter().flatten().collect();
    assert_eq!(
        inferred(values),
        (declared.to_owned(), word.to_owned(), stored),
        "{values:?} (declared, type, stored)"
    );
}

/// These values make a text column and stay as they are written.
#[track_caller]
fn assert_text(values: &[&str]) {
    let stored = values.iter().map(|value| Value::Text((*value).to_owned())).collect();
    assert_eq!(inferred(values), ("TEXT".to_owned(), "text".to_owned(), stored), "{values:?}");
}

#[test]
fn whole_numbers_of_64_bits_are_integers() {
    assert_inferred(&["1", "-20", "0"], "integer", "INTEGER", rows![[1, -20, 0]]);
    let limits = ["9223372036854775807", "-9223372036854775808"];
    assert_inferred(&limits, "integer", "INTEGER", rows![[i64::MAX, i64::MIN]]);
    assert_inferred(&["", "7"], "integer", "INTEGER", rows![[(), 7]]);
}

#[test]
fn numbers_that_an_integer_would_not_give_back_stay_text() {
    assert_text(&["1", "007"]);
    assert_text(&["1", "+1"]);
    assert_text(&["1", "1e5"]);
    assert_text(&["12", "1 "]);
    assert_text(&["0x10", "1"]);
    assert_text(&["1_000", "1"]);
    assert_text(&["\u{661}", "1"]);
    assert_text(&["00", "0"]);
    let fixture = Fixture::new();
    // An empty string, written so, is none of the integers.
    fixture.write("in.csv", "c,d\n\"\",\n1,\n").load(&["in.csv", "t.db"]).exits(0);
    assert_eq!(fixture.query("t.db", "SELECT c FROM \"in\""), rows![[""], ["1"]]);
}

#[test]
fn whole_numbers_beyond_64_bits_keep_every_digit() {
    let long = ["12345678901234567890", "1"];
    assert_inferred(&long, "decimal(20,0)", "TEXT", rows![["12345678901234567890", "1"]]);
    let just = ["9223372036854775808", "-1"];
    assert_inferred(&just, "decimal(19,0)", "TEXT", rows![["9223372036854775808", "-1"]]);
}

#[test]
fn numbers_that_a_double_keeps_are_floats() {
    assert_inferred(&["1", "2.5", "-0.25"], "float", "REAL", rows![[1.0, 2.5, -0.25]]);
    let weather = ["10.357019999999999", "39.02", "1e-05"];
    assert_inferred(&weather, "float", "REAL", rows![[10.357019999999999, 39.02, 1e-5]]);
    let spellings = [".5", "5.", "1.5e3"];
    assert_inferred(&spellings, "float", "REAL", rows![[0.5, 5.0, 1500.0]]);
    let extremes = ["1.7976931348623157e308", "5e-324", "0.1"];
    assert_inferred(&extremes, "float", "REAL", rows![[f64::MAX, 5e-324, 0.1]]);
}

#[test]
fn prices_are_numbers_and_versions_are_not() {
    assert_inferred(&["9.5", "10", "100.25"], "float", "REAL", rows![[9.5, 10.0, 100.25]]);
    assert_inferred(&["1.10", "2.50", "3"], "float", "REAL", rows![[1.1, 2.5, 3.0]]);
    let mixed = ["9.5", "9.50", "10", "100.25"];
    assert_inferred(&mixed, "decimal(5,2)", "TEXT", rows![["9.5", "9.50", "10", "100.25"]]);
    assert_inferred(&["3.10", "3.9"], "decimal(3,2)", "TEXT", rows![["3.10", "3.9"]]);
}

#[test]
fn a_column_of_numbers_that_becomes_text_says_why_and_what_to_say() {
    let says = |text: &str, words: &[&str]| {
        let fixture = Fixture::new();
        fixture.write("t.csv", text);
        fixture.inrush(&["plan", "t.csv", "t.db"]).exits(0).prints(words);
        let report = fixture.load(&["t.csv", "t.db", "--json"]).exits(0).json();
        let warnings = report["warnings"].to_string();
        for word in words {
            assert!(warnings.contains(word), "{word} in {warnings}");
        }
    };
    says(
        "price\n9.5\n9.50\n10\n",
        &["column price is text: '9.50' (line 3)", "--type price=float"],
    );
    says(
        "n\n1\n12345678901234567890\n",
        &[
            "column n is text: SQLite",
            "no decimal(20,0)",
            "'12345678901234567890' (line 3)",
            "--type n=float",
        ],
    );
    // What was asked for needs no word.
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,price\n1,9.5\n2,9.50\n");
    for options in [&["--type", "price=decimal(5,2)"][..], &["--types", "text"]] {
        let args = [&["t.csv", "t.db", "--if-exists", "replace", "--json"], options].concat();
        assert_eq!(fixture.load(&args).exits(0).json()["warnings"], serde_json::json!([]));
    }
}

#[test]
fn what_a_later_row_makes_text_of_is_told_with_its_line() {
    // Beyond what is looked at before.
    let fixture = Fixture::new();
    fixture.write("t.csv", surprising("free", "2013-01-01").replace(",5,", ",5.5,"));
    let report = fixture.load(&["t.csv", "t.db", "--json"]).exits(0).json();
    let warnings = report["warnings"].to_string();
    let said = format!("column n is text: {} of {ROWS}", ROWS - 1);
    assert!(warnings.contains(&said), "{warnings}");
    let said = format!("'free' (line {})", surprising_row() + 2);
    assert!(warnings.contains(&said), "{warnings}");
}

#[test]
fn numbers_that_a_double_would_change_stay_as_they_are() {
    let digits = ["0.1234567890123456789", "12"];
    assert_inferred(&digits, "decimal(21,19)", "TEXT", rows![["0.1234567890123456789", "12"]]);
    assert_text(&["1.5", "1e400"]);
    assert_text(&["1.5", "NaN"]);
    assert_text(&["1.5", "inf"]);
    assert_text(&["1.5", "-Infinity"]);
    assert_text(&["1.5", "007.5"]);
    assert_text(&["1.5", "+2.5"]);
}

#[test]
fn booleans_are_the_words_true_and_false() {
    let words = ["true", "false", "True", "FALSE"];
    assert_inferred(&words, "boolean", "BOOLEAN", rows![[1, 0, 1, 0]]);
    assert_text(&["true", "1"]);
    assert_text(&["yes", "no"]);
    assert_text(&["t", "f"]);
    assert_text(&["true", "maybe"]);
}

#[test]
fn dates_are_days_of_the_calendar() {
    let days = ["2013-01-01", "2012-02-29", "9999-12-31"];
    assert_inferred(&days, "date", "DATE", rows![["2013-01-01", "2012-02-29", "9999-12-31"]]);
    assert_text(&["2013-01-01", "2012-02-30"]);
    assert_text(&["2013-01-01", "2013-02-29"]);
    assert_text(&["2013-01-01", "2013-13-01"]);
    assert_text(&["2013-01-01", "2013-1-2"]);
    assert_text(&["2013-01-01", "0000-00-00"]);
    assert_text(&["01.02.2013", "1/2/2013"]);
}

#[test]
fn timestamps_with_and_without_a_zone() {
    let local = ["2013-01-01 05:00:00", "2013-01-01T06:00", "2013-01-01 05:00:00.123456"];
    let stored = rows![["2013-01-01 05:00:00", "2013-01-01T06:00", "2013-01-01 05:00:00.123456"]];
    assert_inferred(&local, "timestamp", "TIMESTAMP", stored);
    let zoned = ["2013-01-01T06:00:00Z", "2013-01-01 05:00:00+02:00"];
    let stored = rows![["2013-01-01T06:00:00Z", "2013-01-01 05:00:00+02:00"]];
    assert_inferred(&zoned, "timestamptz", "TIMESTAMP", stored);
    assert_text(&["2013-01-01 05:00:00", "2013-01-01 05:00:00Z"]);
    assert_text(&["2013-01-01 05:00:00", "2013-01-01 25:00:00"]);
    assert_text(&["2013-01-01 05:00:00", "2012-02-30 05:00:00"]);
}

#[test]
fn everything_else_is_text() {
    assert_text(&["a", "1"]);
    assert_text(&[" 1", "2"]);
    assert_text(&["NULL", "1"]);
    assert_text(&["N/A", "2013-01-01"]);
    assert_text(&["\u{1f600}", "'"]);
    assert_inferred(&["", ""], "text", "TEXT", rows![[(), ()]]);
    assert_inferred(&["{}", "[1]"], "json", "TEXT", rows![["{}", "[1]"]]);
}

#[test]
fn a_column_that_a_spelling_of_null_keeps_from_being_a_number_says_so() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,n\n1,5\n2,NA\n3,7\n");
    let report = fixture.report(&["in.csv", "t.db"]);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("--null n=NA") && warnings.contains("column n"), "{warnings}");
    assert_eq!(fixture.table("t.db", "in"), rows![[1, "5"], [2, "NA"], [3, "7"]]);
    fixture.load(&["in.csv", "t.db", "--null", "NA", "--if-exists", "replace"]).exits(0);
    assert_eq!(fixture.table("t.db", "in"), rows![[1, 5], [2, ()], [3, 7]]);
}

/// The head that is looked at before a load, and the places after it: as many bytes, so often.
const HEAD: usize = 1 << 20;
const PLACE: usize = 64 << 10;
const PLACES: usize = 8;

/// Rows of the surprising file. They are wide, as it takes the time of rows and not of bytes; all of them make twice the head.
const ROWS: usize = 2_250;
const ROW: usize = 1024;

/// Where the mismatch is: in the middle between two of the places.
fn surprising_row() -> usize {
    let step = (ROWS * ROW - PLACE) / PLACES;
    let byte = step * 4 + step / 2 + PLACE / 2;
    assert!(byte > HEAD);
    byte / ROW
}

/// `id,n,day,name` in one row of which, that no sample sees, another `n` and `day`.
fn surprising(n: &str, day: &str) -> String {
    let mut text = String::from("id,n,day,name\n");
    for row in 0..ROWS {
        let id = 1_000_000 + row;
        let (n, day) = if row == surprising_row() { (n, day) } else { ("5", "2013-01-01") };
        let fields = format!("{id},{n},{day},");
        text.push_str(&fields);
        text.push_str(&"x".repeat(ROW - 1 - fields.len()));
        text.push('\n');
    }
    text
}

/// Every value of the file is in the table, as it is written.
#[track_caller]
fn assert_all_kept(fixture: &Fixture, n: &str, day: &str) {
    let usual = "SELECT count(*) FROM t WHERE CAST(n AS REAL) = 5 AND day = '2013-01-01' AND name LIKE 'xx%'";
    assert_eq!(fixture.number("t.db", usual), ROWS as i64 - 1);
    let odd =
        format!("SELECT CAST(n AS TEXT), day FROM t WHERE id = {}", 1_000_000 + surprising_row());
    assert_eq!(fixture.query("t.db", &odd), rows![[n, day]]);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), ROWS as i64);
}

fn column(report: &Json, name: &str) -> String {
    let columns = report["plan"]["columns"].as_array().unwrap();
    let column = columns.iter().find(|column| column["name"] == name).unwrap();
    column["type"].as_str().unwrap().to_owned()
}

#[test]
fn a_late_value_of_another_type_widens_the_column_and_loses_nothing() {
    for (n, ty) in [
        ("x", "text"),
        ("007", "text"),
        ("1.5", "float"),
        ("12345678901234567890", "decimal(20,0)"),
    ] {
        let fixture = Fixture::new();
        fixture.write("t.csv", surprising(n, "2013-01-01")).sql("t.db", "CREATE TABLE other (a)");
        let report = fixture.report(&["t.csv", "t.db", "--verify", "checksum"]);
        assert_all_kept(&fixture, n, "2013-01-01");
        assert_eq!(column(&report, "n"), ty);
        assert_eq!(column(&report, "id"), "integer");
        assert_eq!(column(&report, "day"), "date");
        assert_eq!(report["rows_loaded"], ROWS);
        let note = report["warnings"][0].as_str().unwrap();
        let line = format!("t.csv: line {}", surprising_row() + 2);
        for word in [line.as_str(), "column n", n, "started again"] {
            assert!(note.contains(word), "no {word} in {note}");
        }
        assert_eq!(fixture.names(), ["t.csv", "t.db"]);
    }
}

/// A look at all values finds the same types, with which the same rows would be bad.
#[test]
fn rows_beyond_those_that_a_type_may_cost_make_one_restart() {
    let fixture = Fixture::new();
    fixture.sql("t.db", "CREATE TABLE t (k TEXT COLLATE NOCASE PRIMARY KEY)");
    fixture.write("t.csv", "k,v\nA,1\na,2\nB,007\n");
    let load = ["t.csv", "t.db", "--new-columns", "add", "--max-rejects", "1"];
    let run = fixture.load(&load).exits(3);
    for said in [&run.stderr, &run.stdout] {
        assert_eq!(said.matches("started again").count(), 1, "{said}");
    }
    assert_eq!(fixture.query("t.db", "SELECT v FROM t"), rows![["1"], ["007"]]);
}

#[test]
fn two_mismatches_cost_one_restart() {
    let fixture = Fixture::new();
    fixture.write("t.csv", surprising("1.5", "2012-02-30"));
    let run = fixture.load(&["t.csv", "t.db"]).exits(0).says(&["started again"]);
    assert_eq!(run.stderr.matches("started again").count(), 1, "{}", run.stderr);
    run.prints(&["note:", "started again", "2,250 rows"]);
    assert_all_kept(&fixture, "1.5", "2012-02-30");
    assert_eq!(fixture.columns("t.db", "t")[1].1, "REAL");
    assert_eq!(fixture.columns("t.db", "t")[2].1, "TEXT");
}

#[test]
fn a_restart_neither_doubles_rejects_nor_keeps_the_table_it_replaces() {
    let fixture = Fixture::new();
    let mut text = surprising("x", "2013-01-01");
    text.insert_str("id,n,day,name\n".len(), "1\n2\n");
    fixture.write("t.csv", text).sql("t.db", "CREATE TABLE t (old); INSERT INTO t VALUES (1)");
    fixture.load(&["t.csv", "t.db", "--if-exists", "replace", "--max-rejects", "2"]).exits(3);
    assert_all_kept(&fixture, "x", "2013-01-01");
    assert_eq!(fixture.read("t.rejects.csv"), b"id,n,day,name\n1\n2\n");
    fixture.assert_sound("t.db");
}

#[test]
fn a_mismatch_in_a_compressed_file_is_no_other() {
    let fixture = Fixture::new();
    fixture.write("t.csv", surprising("x", "2012-02-30"));
    fixture.tool("gzip", &["-1", "t.csv"], b"");
    fixture.load(&["t.csv.gz", "t.db"]).exits(0);
    assert_all_kept(&fixture, "x", "2012-02-30");
}

/// What makes rows wide, so that few of them fill the head.
fn wide() -> String {
    "w".repeat(1000)
}

/// A load of a compressed file, of which a sample is the head alone: rows that fill it, and then others. All have one more column.
fn behind_the_sample(header: &str, early: &str, late: &str, options: &[&str]) -> (Fixture, Json) {
    let fixture = Fixture::new();
    let delimiter = if header.contains(';') { ';' } else { ',' };
    let with = |rows: &str, last: &str| -> String {
        rows.lines().map(|row| format!("{row}{delimiter}{last}\n")).collect()
    };
    let early = with(early, &wide());
    let early = early.repeat((5 << 18) / early.len());
    let text = format!("{header}{delimiter}wide\n{early}{}", with(late, ""));
    fixture.write("t.csv.gz", gzip(text.as_bytes()));
    let report = fixture.report(&[&["t.csv.gz", "t.db"], options].concat());
    (fixture, report)
}

#[test]
fn a_column_without_a_value_in_the_sample_is_of_the_type_of_its_values() {
    const OPTIONS: [&str; 4] = ["--decimal", ",", "--date-format", "%d.%m.%Y"];
    let load = |late| behind_the_sample("id;paid;amount;more", "1;;;\n", late, &OPTIONS);
    let types = |report: &Json| ["paid", "amount", "more"].map(|name| column(report, name));
    let (fixture, report) = load("2;24.08.2024;99,50;\n3;;7;x\n");
    assert_eq!(types(&report), ["date", "float", "text"]);
    let note = report["warnings"].to_string();
    assert_eq!(note.matches("started again with column paid as date").count(), 1, "{note}");
    let late = fixture.query("t.db", "SELECT paid, amount, more FROM t WHERE id > 1 ORDER BY id");
    assert_eq!(late, rows![["2024-08-24", 99.5, ()], [(), 7.0, "x"]]);
    let check = fixture.inrush(&[&["check", "t.csv.gz", "--json"], &OPTIONS[..]].concat()).json();
    let checked = check["columns"].as_array().unwrap().iter().map(|column| &column["type"]);
    assert_eq!(checked.collect::<Vec<_>>(), ["integer", "date", "float", "text", "text"]);
    // What some of the values are says that all have to be looked at, and not what they are.
    let (_, report) = load("2;;99,50;\n3;;x;\n");
    assert_eq!(types(&report), ["text"; 3]);
    assert!(report["warnings"].to_string().contains("with the types that all values have"));
    // And what can be nothing but text is no news.
    let (_, report) = load("2;;;x\n3;;n/a;\n");
    assert_eq!(types(&report), ["text"; 3]);
    assert_eq!(report["warnings"].to_string().matches("started again").count(), 0);
}

#[test]
fn a_column_without_a_value_in_the_sample_of_a_pipe_is_told() {
    let fixture = Fixture::new();
    let early = format!("1,,,{}\n", wide()).repeat(1_200);
    let text = format!("id,closed,more,wide\n{early}2,3,x,\n");
    let run = fixture.load_reading(text.as_bytes(), &["-", "t.db", "--table", "t"]).exits(0);
    run.prints(&["column closed is text: the first rows have no value", "--type closed=TYPE"]);
    assert_eq!(fixture.query("t.db", "SELECT closed FROM t WHERE id = 2"), rows![["3"]]);
    let typed = ["-", "u.db", "--table", "t", "--type", "closed=integer"];
    let run = fixture.load_reading(text.as_bytes(), &typed).exits(0);
    assert!(!run.stdout.contains("is text"), "{}", run.stdout);
}

#[test]
fn versions_behind_the_sample_are_no_floats() {
    let load = |early: &str, late: &str| {
        let (fixture, report) = behind_the_sample("version", early, late, &[]);
        let kept = fixture.query("t.db", "SELECT DISTINCT version FROM t ORDER BY 1");
        (column(&report, "version"), report["warnings"].to_string(), kept)
    };
    let (ty, note, kept) = load("1.10\n1.12\n", "1.1\n");
    assert_eq!((ty.as_str(), kept), ("decimal(3,2)", rows![["1.1"], ["1.10"], ["1.12"]]));
    assert!(note.contains("started again with column version as decimal(3,2)"), "{note}");
    for early in ["1.1\n1.12\n", "1.1\n1.2\n"] {
        assert_eq!(load(early, "1.10\n").0, "decimal(3,2)", "{early:?}");
    }
    // Where no zero is at the end of any, they are floats after all.
    let (ty, _, kept) = load("1.11\n1.12\n", "1.5\n");
    assert_eq!((ty.as_str(), kept), ("float", rows![[1.11], [1.12], [1.5]]));
    for (early, late) in [("19.90\n5.00\n", "7.25\n8\n"), ("1.5\n1.25\n", "2.0\n1e-05\n")] {
        let (ty, note, _) = load(early, late);
        assert_eq!(ty, "float", "{early:?}");
        assert!(!note.contains("started again"), "{note}");
    }
}

#[test]
fn a_mismatch_on_standard_input_stops_the_load_with_advice() {
    let fixture = Fixture::new();
    let text = surprising("x", "2013-01-01");
    fixture.sql("t.db", "CREATE TABLE t (old); INSERT INTO t VALUES (1)");
    for load in [&["-", "t.db", "--table", "t", "--if-exists", "replace"][..], &["-", "new.db"]] {
        let run = fixture.leaves_all(|| fixture.load_reading(text.as_bytes(), load).exits(1));
        let line = format!("line {}, column n: 'x'", surprising_row() + 2);
        run.says(&[&line, "--type n=text", "--types text"]).ends_with_nothing_changed();
    }
    // Where bad rows are allowed, it may be one.
    let allowed = ["-", "a.db", "--table", "t", "--max-rejects", "5"];
    let run = fixture.load_reading(text.as_bytes(), &allowed).exits(1);
    let (_, advice) = run.stderr.split_once("try: ").unwrap();
    let (said, _) = advice.split_once(" makes a bad row of it").unwrap();
    let said: Vec<&str> = said.split(' ').collect();
    fixture.load_reading(text.as_bytes(), &[&allowed[..], &said].concat()).exits(3);
    assert_eq!(fixture.read("stdin.rejects.csv").iter().filter(|byte| **byte == b'\n').count(), 2);
    // The advice is good.
    let load = ["-", "t.db", "--table", "t", "--if-exists", "replace", "--type", "n=text"];
    fixture.load_reading(text.as_bytes(), &load).exits(0);
    assert_all_kept(&fixture, "x", "2013-01-01");
}

#[test]
fn a_type_that_was_promised_makes_bad_rows_and_no_restart() {
    let fixture = Fixture::new();
    fixture.write("t.csv", surprising("x", "2013-01-01"));
    let load = ["t.csv", "t.db", "--type", "n=integer"];
    fixture.refuses(&load).says(&["column n: 'x' is not an integer"]);
    fixture.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
    assert_eq!(fixture.columns("t.db", "t")[1].1, "INTEGER");
}

/// Loads values into a column of this declared type, one a row: what is stored of the good ones, and the bad ones.
fn into_column(declared: &str, more: &str, values: &[&str]) -> (Vec<Value>, Vec<String>) {
    let fixture = Fixture::new();
    let rows: String =
        values.iter().enumerate().map(|(n, value)| format!("{n},{value}\n")).collect();
    fixture
        .write("t.csv", format!("n,c\n{rows}"))
        .sql("t.db", &format!("CREATE TABLE t (n INTEGER, c {declared}) {more}"));
    let run = fixture.load(&["t.csv", "t.db", "--max-rejects", "100%", "--verify", "checksum"]);
    assert!(matches!(run.status.code(), Some(0 | 3)), "{}", run.stderr);
    let stored =
        fixture.query("t.db", "SELECT c FROM t ORDER BY rowid").into_iter().flatten().collect();
    let rejects = if fixture.names().contains(&"t.rejects.csv".to_owned()) {
        String::from_utf8(fixture.read("t.rejects.csv")).unwrap()
    } else {
        String::new()
    };
    let bad =
        rejects.lines().skip(1).map(|line| line.split_once(',').unwrap().1.to_owned()).collect();
    (stored, bad)
}

#[track_caller]
fn assert_column(declared: &str, good: &[(&str, Vec<Vec<Value>>)], bad: &[&str]) {
    // A row that is fine in every column, so that the good and the bad ones are told apart by nothing else.
    let values: Vec<&str> =
        good.iter().map(|(value, _)| *value).chain(bad.iter().copied()).collect();
    let stored: Vec<Value> = good.iter().flat_map(|(_, stored)| stored.concat()).collect();
    let bad: Vec<String> = bad.iter().map(|value| (*value).to_owned()).collect();
    assert_eq!(into_column(declared, "", &values), (stored, bad), "{declared}");
}

#[test]
fn an_integer_column_takes_whole_numbers_however_written() {
    assert_column(
        "INTEGER",
        &[
            ("1", rows![[1]]),
            ("007", rows![[7]]),
            ("+1", rows![[1]]),
            ("1.0", rows![[1]]),
            ("", rows![[()]]),
        ],
        &["1.5", "abc", "\"\"", "1e5", "0x10", " 1", "9223372036854775808", "true", "NaN"],
    );
}

#[test]
fn a_real_column_takes_numbers_and_infinity() {
    assert_column(
        "REAL",
        &[
            ("1", rows![[1.0]]),
            ("1e5", rows![[1e5]]),
            ("-0.5", rows![[-0.5]]),
            ("007.50", rows![[7.5]]),
            ("1152921504606846976", rows![[1_152_921_504_606_846_976.0]]),
            ("10000000000000000000000", rows![[1e22]]),
            ("-0.0", rows![[0.0]]),
            ("inf", rows![[f64::INFINITY]]),
            ("-Infinity", rows![[f64::NEG_INFINITY]]),
            ("", rows![[()]]),
        ],
        &[
            "1e400",
            "1e-400",
            "9007199254740993",
            "9223372036854775807",
            "12345678901234567890",
            "10000000000000000000000001",
            "NaN",
            "abc",
            "\"\"",
            "\"1,5\"",
            "0x1p3",
        ],
    );
}

#[test]
fn a_decimal_column_takes_what_sqlite_keeps_exactly() {
    assert_column(
        "DECIMAL(10,2)",
        &[("12.50", rows![[12.5]]), ("0012", rows![[12]]), ("-7", rows![[-7]]), ("", rows![[()]])],
        &["0.12345678901234567890", "12345678901234567890", "abc", "\"\""],
    );
}

#[test]
fn a_date_column_takes_days_that_exist() {
    assert_column(
        "DATE",
        &[("2012-02-29", rows![["2012-02-29"]]), ("", rows![[()]])],
        &["2012-02-30", "29.02.2012", "yesterday", "\"\""],
    );
    assert_column(
        "DATETIME",
        &[
            ("2012-02-29 10:00:00", rows![["2012-02-29 10:00:00"]]),
            ("2012-02-29T10:00:00Z", rows![["2012-02-29T10:00:00Z"]]),
        ],
        &["2012-02-30 10:00:00", "2012-02-29 25:00:00", "noon"],
    );
}

#[test]
fn a_boolean_column_takes_truth_values() {
    assert_column(
        "BOOLEAN",
        &[
            ("true", rows![[1]]),
            ("FALSE", rows![[0]]),
            ("1", rows![[1]]),
            ("0", rows![[0]]),
            ("", rows![[()]]),
        ],
        &["2", "yes", "maybe", "\"\""],
    );
}

#[test]
fn a_blob_column_takes_bytes_as_they_are() {
    let fixture = Fixture::new();
    fixture
        .write("t.csv", b"n,c\n1,a\xff\xfe\n2,\"\"\n3,\n4,\"x\"\"y\"\n5,7\n6,a\0b\n")
        .sql("t.db", "CREATE TABLE t (n INTEGER, c BLOB)");
    fixture.load(&["t.csv", "t.db", "--header", "yes", "--verify", "checksum"]).exits(0);
    let values: [&[u8]; 6] = [b"a\xff\xfe", b"", b"", b"x\"y", b"7", b"a\0b"];
    let mut rows: Vec<Vec<Value>> =
        values.iter().map(|bytes| vec![Value::Blob(bytes.to_vec())]).collect();
    rows[2] = vec![Value::Null];
    assert_eq!(fixture.query("t.db", "SELECT c FROM t ORDER BY n"), rows);
}

#[test]
fn a_column_without_a_type_and_a_text_column_take_text() {
    for declared in ["", "TEXT", "VARCHAR(3)"] {
        let text = ["abc", "007", "1", "1e5", "9223372036854775808", " 1 ", "2012-02-30", "NaN"];
        let good: Vec<(&str, Vec<Vec<Value>>)> =
            text.iter().map(|text| (*text, rows![[*text]])).collect();
        assert_column(declared, &good, &[]);
    }
}

#[test]
fn a_column_declared_string_does_not_turn_text_into_numbers() {
    // Its affinity is NUMERIC: SQLite itself would store 007 as 7 and 1e5 as 100000.0.
    assert_column(
        "STRING",
        &[
            ("abc", rows![["abc"]]),
            ("7", rows![[7]]),
            ("2.5", rows![[2.5]]),
            ("2012-02-30", rows![["2012-02-30"]]),
            ("", rows![[()]]),
            ("\"\"", rows![[""]]),
        ],
        &["007", "1e5", "+7", " 7", "9223372036854775808"],
    );
}

#[test]
fn a_strict_table_takes_each_type_strictly() {
    let check = |declared: &str, values: &[&str], stored: Vec<Vec<Value>>, bad: &[&str]| {
        let bad: Vec<String> = bad.iter().map(|value| (*value).to_owned()).collect();
        assert_eq!(into_column(declared, "STRICT", values), (stored.concat(), bad), "{declared}");
    };
    check("INT", &["1", "007", "x", "1.5"], rows![[1, 7]], &["x", "1.5"]);
    check("REAL", &["1", "2.5", "x"], rows![[1.0, 2.5]], &["x"]);
    check("TEXT", &["1", "007"], rows![["1", "007"]], &[]);
    check("BLOB", &["a"], rows![[&b"a"[..]]], &[]);
    // Elsewhere a column declared ANY is one for numbers.
    check("ANY", &["x", "1", "007"], rows![["x", "1", "007"]], &[]);
}

#[test]
fn a_decimal_or_json_column_of_a_new_table_keeps_its_text() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "price,doc\n12.50,\"{\"\"a\"\":1.10}\"\n0.10,[]\n");
    let load = ["t.csv", "t.db", "--type", "price=decimal(6,2)", "--type", "doc=json"];
    fixture.load(&load).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![["12.50", "{\"a\":1.10}"], ["0.10", "[]"]]);
    fixture.write("t.csv", "price,doc\n12.505,{}\n1,{}\n");
    fixture.refuses(&[&load[..], &["--if-exists", "replace"]].concat()).says(&[
        "t.csv: line 2, column price",
        "'12.505'",
        "precision",
    ]);
    fixture.write("t.csv", "price,doc\n12.5,{a}\n1,{}\n");
    fixture
        .refuses(&[&load[..], &["--if-exists", "replace"]].concat())
        .says(&["t.csv: line 2, column doc", "'{a}' is not a JSON document"]);
}

#[test]
fn more_bad_rows_than_are_allowed_make_a_tolerated_column_text() {
    let files = Fixture::new();
    let wide = wide();
    let row = |n: usize| match n {
        // Where no sample is taken.
        5 | 2_000..2_010 => format!("{n},free,{wide}\n"),
        n => format!("{n},{n}.5,{wide}\n"),
    };
    let text: String = (0..2_500).map(row).collect();
    files.write("in.csv", format!("id,amount,wide\n{text}"));
    let load = |limit: &str| {
        let args = ["in.csv", "t.db", "--max-rejects", limit, "--if-exists", "replace", "--json"];
        files.load(&args)
    };
    let report = load("11").exits(3).json();
    assert_eq!(report["plan"]["columns"][1]["type"], "float");
    assert_eq!(report["rows_rejected"], 11);
    let report = load("5").exits(0).json();
    assert_eq!(report["plan"]["columns"][1]["type"], "text");
    assert_eq!(report["rows_loaded"], 2_500);
    let notes = report["warnings"].to_string();
    assert!(
        notes.contains("the load started again") && notes.contains("'free' (line 7)"),
        "{notes}"
    );
    // What was said to be of a type stays of it.
    let typed = [
        "in.csv",
        "t.db",
        "--max-rejects",
        "5",
        "--if-exists",
        "replace",
        "--type",
        "amount=float",
    ];
    files.load(&typed).exits(1).says(&["(bad row 6; --max-rejects 5 allows no more)"]);
}

#[test]
fn a_table_that_calls_a_column_date_takes_numbers_and_no_words() {
    let text = "d,m\n5,1709251200\n2460371.5,2024-03-01\n2024-03-01,2024-03-01 10:00:00+01:00\nhello,1\n1,now\n";
    for strategy in strategies() {
        let fixture = Fixture::new();
        fixture.write("t.csv", text).sql("t.db", "CREATE TABLE t (d DATE, m DATETIME)");
        let args = ["t.csv", "t.db", "--strategy", &strategy, "--max-rejects", "9"];
        fixture.load(&args).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"d,m\nhello,1\n1,now\n", "{strategy}");
        assert_eq!(
            fixture.table("t.db", "t"),
            rows![
                [5, 1709251200],
                [2460371.5, "2024-03-01"],
                ["2024-03-01", "2024-03-01 10:00:00+01:00"]
            ]
        );
        // What is asked for is checked, whatever the table says.
        let asked = ["--type", "d=date", "--type", "m=timestamp", "--if-exists", "truncate"];
        fixture.write("t.csv", "d,m\n2024-03-01,2024-03-01 10:00:00\n5,2024-03-01 10:00:00\n");
        fixture.load(&[&args[..], &asked].concat()).exits(3);
        assert_eq!(fixture.table("t.db", "t"), rows![["2024-03-01", "2024-03-01 10:00:00"]]);
    }
}

#[test]
fn a_plan_says_which_index_pages_leave_to_the_next_strategy() {
    let table = "CREATE TABLE t (a INTEGER, b TEXT);";
    for (index, why) in [
        ("CREATE INDEX i ON t (a DESC)", None),
        ("CREATE UNIQUE INDEX i ON t (b, a DESC)", None),
        ("CREATE INDEX i ON t (a DESC) WHERE a > 1", Some("the table has a partial index")),
        ("CREATE INDEX i ON t (lower(b) DESC)", Some("the table has an index on an expression")),
        (
            "CREATE INDEX i ON t (b COLLATE NOCASE DESC)",
            Some("the table has an index with a collation"),
        ),
    ] {
        let fixture = Fixture::new();
        fixture.write("t.csv", "a,b\n1,x\n3,y\n2,z\n").sql("t.db", &format!("{table} {index}"));
        let plan = fixture.inrush(&["plan", "t.csv", "t.db"]).exits(0);
        match why {
            None => plan.prints(&["strategy  sqlite/pages"]),
            Some(why) => {
                plan.prints(&["strategy  sqlite/bind", &format!("not sqlite/pages: {why}")])
            }
        };
        fixture.load(&["t.csv", "t.db"]).exits(0);
        fixture.assert_sound("t.db");
        let first = fixture.number("t.db", "SELECT a FROM t ORDER BY a DESC LIMIT 1");
        assert_eq!(first, 3, "{index}");
        assert_eq!(
            fixture.number("t.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'i'"),
            1
        );
    }
}

#[test]
fn what_a_replaced_table_had_is_listed_in_plan_and_report() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,name\n1,a\n").sql(
        "t.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x' CHECK (length(name) < 9));
         CREATE INDEX t_name ON t (name DESC); INSERT INTO t VALUES (7, 'old')",
    );
    let lost = "--if-exists replace drops what the old table had: PRIMARY KEY (id), NOT NULL on name, \
                DEFAULT 'x' of name, CHECK (length(name) < 9), INDEX t_name (name DESC) (--if-exists truncate keeps it)";
    fixture.inrush(&["plan", "t.csv", "t.db", "--if-exists", "replace"]).exits(0).prints(&[lost]);
    // What the new table has as well is not gone.
    let report =
        fixture.report(&["t.csv", "t.db", "--if-exists", "replace", "--primary-key", "id"]);
    let without = lost.replace("PRIMARY KEY (id), ", "");
    assert_eq!(report["warnings"], serde_json::json!([without]));
}

#[test]
fn a_date_that_two_forms_read_differently_is_reported_once() {
    let files = Fixture::new();
    files.write("t.csv", "d\n31/12/2024\n01/02/2024\n03/04/2024\n12/31/2024\n");
    let forms = ["--date-format", "%d/%m/%Y", "--date-format", "%m/%d/%Y"];
    let report = files.report(&[&["t.csv", "t.db"], &forms[..]].concat());
    let notes = report["warnings"].as_array().unwrap();
    let about: Vec<&str> = notes
        .iter()
        .filter_map(|note| note.as_str())
        .filter(|note| note.contains("another"))
        .collect();
    assert_eq!(about.len(), 1, "{notes:?}");
    assert!(
        about[0].contains("'01/02/2024' (line 3)") && about[0].contains("%d/%m/%Y comes first")
    );
    let days = files.query("t.db", "SELECT d FROM t ORDER BY rowid");
    let wanted = ["2024-12-31", "2024-02-01", "2024-04-03", "2024-12-31"];
    assert_eq!(days, wanted.map(|day| vec![rusqlite::types::Value::from(day.to_owned())]));
}

#[test]
fn a_column_whose_values_an_option_reads_in_part_says_so() {
    let files = Fixture::new();
    // Fewer than half, for the others have another blank between their thousands.
    files.write("t.csv", "id;amt\n1;1 000,5\n2;2\u{a0}000,5\n3;3\u{a0}000,5\n4;4\u{a0}000,5\n");
    let options = ["--decimal", ",", "--thousands", " "];
    let report = files.report(&[&["t.csv", "t.db"], &options[..]].concat());
    let notes = report["warnings"].to_string();
    let said = "column amt is taken as it is written: 1 of 4 values seen are a number with ',' before its decimals \
                and ' ' between groups of three digits, but '2\u{a0}000,5' (line 3) is not";
    assert!(notes.contains(said), "{notes}");
    // As who writes decimals with a comma, and thousands with a point, does not mean them.
    files.write("t.csv", "x;y\n1.234;1,5\n2.345;2,5\n");
    let args = ["t.csv", "t.db", "--if-exists", "replace", "--decimal", ","];
    let notes = files.report(&args)["warnings"].to_string();
    let said = "column x is taken as it is written: none of 2 values seen is a number with ',' before its decimals, such as '1.234'";
    assert!(notes.contains(said) && !notes.contains("column y"), "{notes}");
    // Most are what they are as they are written.
    files.write("t.csv", "amt\n1.5\n2.75\n1.125\n");
    let numbers = ["--decimal", ",", "--thousands", "."];
    let args = ["t.csv", "t.db", "--if-exists", "replace"];
    let notes = files.report(&[&args[..], &numbers].concat())["warnings"].to_string();
    let said = "column amt is taken as it is written: 1 of 3 values seen are a number with ',' before its decimals \
                and '.' between groups of three digits, but '1.5' (line 2) is not";
    assert!(notes.contains(said), "{notes}");
    assert_eq!(files.query("t.db", "SELECT amt FROM t"), rows![[1.5], [2.75], [1.125]]);
    // Texts among which are a few such values, numbers that mean the same either way, and words: no word of these.
    let texts: String = (0..30).map(|id| format!("{id};word {id}\n")).collect();
    files.write("t.csv", format!("id;text\n{texts}30;1,5\n"));
    let args = ["t.csv", "t.db", "--if-exists", "replace", "--decimal", ","];
    assert_eq!(files.report(&args)["warnings"], serde_json::json!([]));
}

/// A few values that options for all columns don't read make no other numbers, or days, of most.
#[test]
fn values_that_most_of_a_column_are_not_leave_the_others_what_options_make_of_them() {
    let files = Fixture::new();
    let thousands = format!("{};1.234\n", wide()).repeat(1_600);
    files.write("in.csv", format!("k;v\n{thousands}b;1.5\n"));
    let numbers = ["--decimal", ",", "--thousands", "."];
    let into = ["in.csv", "t.db", "--table", "t", "--if-exists", "replace"];
    let load = |more: &[&'static str]| [&into[..], more].concat();
    let found = || files.query("t.db", "SELECT v, count(*) FROM t GROUP BY 1 ORDER BY 1");
    let notes = files.report(&load(&numbers))["warnings"].to_string();
    assert!(notes.contains("column v is text") && notes.contains("'1.5'"), "{notes}");
    assert_eq!(found(), rows![["1.234", 1_600], ["1.5", 1]]);
    let allowed = [&numbers[..], &["--max-rejects", "1%"]].concat();
    files.load(&load(&allowed)).exits(3);
    assert_eq!(found(), rows![[1234, 1_600]]);
    // As the note has it.
    let way = "--decimal v=. takes all values as they are written";
    assert!(notes.contains(way), "{notes}");
    files.load(&load(&[&numbers[..], &["--decimal", "v=."]].concat())).exits(0);
    assert_eq!(found(), rows![[1.234, 1_600], [1.5, 1]]);
    // A value that none of them is as it stands, beside one that only is a number as it stands.
    files.write("in.csv", "k;v\na;1.234\na;2.500\na;1.234,5\na;1.5\n");
    let notes = files.report(&load(&numbers))["warnings"].to_string();
    let said = "column v is text: 3 of 4 values seen are a number with ',' before its decimals and '.' between groups of three \
                digits, but '1.5' (line 5) is not (--decimal v=, --thousands v=. makes such rows bad rows)";
    assert!(notes.contains(said), "{notes}");
    files.write("in.csv", "k;v\na;2024-01-02\na;2024-03-04\na;2024-01-13\n");
    let notes = files.report(&load(&["--date-format", "%Y-%d-%m"]))["warnings"].to_string();
    let said = "2 of 3 values seen are a date as %Y-%d-%m has it, but '2024-01-13' (line 4) is not";
    assert!(notes.contains(said) && notes.contains("--date-format v=%Y-%m-%d takes"), "{notes}");
    assert_eq!(found(), rows![["2024-01-02", 1], ["2024-01-13", 1], ["2024-03-04", 1]]);
}

/// A column of text because an option for all columns reads the fewer of its values: what is advised is of the values that are named.
#[test]
fn what_makes_bad_rows_of_values_makes_none_of_the_others() {
    let files = Fixture::new();
    let load = |more: &[&str]| {
        files.load(&[&["in.csv", "t.db", "--table", "t", "--if-exists", "replace"], more].concat())
    };
    for (text, option, said, ways) in [
        (
            "v;w\n31.12.2024;a\n30.12.2024;a\n2024-12-31;a\n2024-12-30;a\n2024-12-30;a\n",
            ["--date-format", "%d.%m.%Y"],
            [
                "column v is text: 3 of 5 values seen are of type date, but '31.12.2024' (line 2) is not \
                 (--date-format v=%Y-%m-%d makes such rows bad rows)",
                "column v is taken as it is written: 2 of 5 values seen are a date as %d.%m.%Y has it, but '2024-12-31' (line 4) \
                 is not (--date-format v=%d.%m.%Y makes such rows bad rows)",
            ],
            [("v=%Y-%m-%d", 3), ("v=%d.%m.%Y", 2)],
        ),
        (
            "v;w\n1,5;a\n2,5;a\n1.5;a\n2.5;a\n3.5;a\n",
            ["--decimal", ","],
            [
                "column v is text: 3 of 5 values seen are of type float, but '1,5' (line 2) is not (--decimal v=. makes such rows bad",
                "column v is taken as it is written: 2 of 5 values seen are a number with ',' before its decimals, but '1.5' (line 4) \
                 is not (--decimal v=, makes such rows bad rows)",
            ],
            [("v=.", 3), ("v=,", 2)],
        ),
    ] {
        files.write("in.csv", text);
        let notes =
            load(&[&option[..], &["--json"]].concat()).exits(0).json()["warnings"].to_string();
        for said in said {
            assert!(notes.contains(said), "{said}: {notes}");
        }
        // As the notes have it.
        for (way, good) in ways {
            load(&[&option[..], &[option[0], way, "--max-rejects", "3"]].concat()).exits(3);
            assert_eq!(files.query("t.db", "SELECT count(*) FROM t"), rows![[good]], "{way}");
        }
    }
    // Where the option reads what is a value as it is written, the type alone tells the others.
    files.write("in.csv", "v;w\n1;a\n2;a\nx;a\n");
    let notes = load(&["--decimal", ",", "--json"]).exits(0).json()["warnings"].to_string();
    assert!(notes.contains("(--type v=integer makes such rows bad rows)"), "{notes}");
}

#[test]
fn a_fraction_among_whole_numbers_of_a_pipe_names_the_type_that_takes_it() {
    let files = Fixture::new();
    let rows = |at: usize, value: &str| -> String {
        let row = |id: usize| if id == at { value.to_owned() } else { id.to_string() };
        (0..200_000).map(|id| format!("{id};{}\n", row(id))).collect()
    };
    let load = |text: &str, more: &[&str]| {
        let args = ["-", "t.db", "--table", "t", "--if-exists", "replace"];
        files.load_reading(format!("id;n\n{text}").as_bytes(), &[&args[..], more].concat())
    };
    for (value, more) in [("777.5", &[][..]), ("777,5", &["--decimal", ","])] {
        let text = rows(150_000, value);
        load(&text, more).exits(1).says(&["line 150002, column n", "--type n=float takes it"]);
        let allowed = [more, &["--max-rejects", "1"]].concat();
        let said = ["--type n=float takes it", "--type n=integer makes a bad row of it"];
        load(&text, &allowed).exits(1).says(&said);
        load(&text, &[more, &["--type", "n=float"]].concat()).exits(0);
        let found = files.query("t.db", "SELECT n FROM t WHERE id = 150000");
        assert_eq!(found, rows![[777.5]]);
    }
    let run = load(&rows(150_000, "x"), &[]).exits(1).says(&["--type n=text"]);
    assert!(!run.stderr.contains("float"), "{}", run.stderr);
}

/// A German export, whose counts have points between thousands.
#[test]
fn floats_that_may_be_thousands_are_named_where_decimals_have_commas() {
    let files = Fixture::new();
    files.write("eu.csv", "Artikel;Menge;Preis\nA;1.234;5,50\nB;2.500;7,25\nC;12.000;1.250,00\n");
    let ways = "column Menge: 3 values seen, and all may be read in 2 ways, so none is proposed: say which, \
                --decimal Menge=, --thousands Menge=. or --decimal Menge=. (they are loaded as the last has them)";
    let price = ["--decimal", "Preis=,", "--thousands", "Preis=."];
    let load = ["eu.csv", "t.db", "--if-exists", "replace"];
    for (options, proposed) in [(&[][..], true), (&price, false), (&["--decimal", ","], true)] {
        let report = files.report(&[&load[..], options].concat());
        let notes = report["warnings"].to_string();
        assert!(notes.contains(ways), "{options:?}: {notes}");
        let found: Vec<&str> = report["plan"]["proposals"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|one| one["options"].as_array().unwrap())
            .map(|option| option.as_str().unwrap())
            .collect();
        assert_eq!(found, if proposed { &price[..] } else { &[] }, "{options:?}");
    }
    // As it is said.
    let meant = [&load[..], &price, &["--decimal", "Menge=,", "--thousands", "Menge=."]].concat();
    assert_eq!(files.report(&meant)["warnings"], serde_json::json!([]));
    assert_eq!(files.query("t.db", "SELECT Menge FROM eu"), rows![[1234], [2500], [12_000]]);
    let meant = [&load[..], &price, &["--decimal", "Menge=."]].concat();
    assert_eq!(files.report(&meant)["warnings"], serde_json::json!([]));
    assert_eq!(files.query("t.db", "SELECT Menge FROM eu"), rows![[1.234], [2.5], [12.0]]);
    // Without a comma anywhere they are floats, and nothing else.
    files.write("eu.csv", "Artikel;Menge;Preis\nA;1.234;5.50\nB;2.500;7.25\n");
    assert_eq!(files.report(&load)["warnings"], serde_json::json!([]));
}

#[test]
fn infinity_is_a_float_whatever_stands_before_decimals() {
    let files = Fixture::new();
    files.sql("t.db", "CREATE TABLE t (n REAL, i INTEGER)");
    files.write("t.csv", "n;i\n1,5;1\n-Infinity;2\nNaN;3\n");
    let options = ["--if-exists", "append", "--decimal", "n=,", "--max-rejects", "all"];
    // SQLite has no NaN.
    files.load(&[&["t.csv", "t.db"], &options[..]].concat()).exits(3);
    let wanted = [1.5, f64::NEG_INFINITY].map(|n| vec![rusqlite::types::Value::from(n)]);
    assert_eq!(files.query("t.db", "SELECT n FROM t ORDER BY rowid"), wanted);
}

#[test]
fn nothing_is_proposed_for_values_that_are_numbers_as_they_stand() {
    let files = Fixture::new();
    files.sql("f.db", "CREATE TABLE t (id INT, amt REAL)");
    files.write("t.jsonl", "{\"id\":1,\"amt\":\"3.5\"}\n");
    files.write("t.csv", "id,amt\n1,1.50\n2,1.555\n3,-1\n4,1e2\n");
    for source in ["t.jsonl", "t.csv"] {
        let planned = files.inrush(&["plan", source, "f.db", "--if-exists", "append"]).exits(0);
        assert!(!planned.stdout.contains("--thousands"), "{planned:?}");
        let report = files.report(&[source, "f.db", "--if-exists", "append"]);
        assert_eq!(report["plan"]["proposals"], serde_json::json!([]), "{report}");
        assert_eq!(report["warnings"], serde_json::json!([]), "{report}");
    }
}

#[test]
fn forms_that_can_not_be_are_misuse_before_anything_is_read() {
    let files = Fixture::new();
    files.write("t.csv", "d\n31/12/2024\n");
    for (options, words) in [
        (["--date-format", "%d.%Q"], "'%Q' at character 4"),
        (["--date-format", "born=%d.%m.%Y"], "no column born"),
        (["--decimal", ";"], "takes '.' or ','"),
        (["--thousands", "."], "--decimal ','"),
        (["--time-zone", "Mars/Base"], "no such zone"),
        (["--time-zone", "Etc/Unknown"], "no such zone"),
        (["--type", "d=timestamp[h]"], "s, ms, us or ns"),
    ] {
        files.misused(&[&["load", "t.csv", "t.db"], &options[..]].concat()).says(&[words]);
        assert_eq!(files.names(), ["t.csv"]);
    }
}

#[test]
fn a_day_that_could_be_a_month_is_never_converted_and_both_options_are_said() {
    let files = Fixture::new();
    let of_day = |day: u32| format!("{day},0{day}/02/2024,0{day}/02/2024 10:0{day}\n");
    let text = "id,day,at\n".to_owned() + &(1..=9).map(of_day).collect::<String>();
    files.write("t.csv", &text);
    let either = [
        "column day: 9 values seen, and all may be read in 2 ways, so none is proposed: say which, --date-format day=%d/%m/%Y or --date-format day=%m/%d/%Y",
        "column at: 9 values seen, and all may be read in 2 ways, so none is proposed: say which, --timestamp-format 'at=%d/%m/%Y %H:%M' or --timestamp-format 'at=%m/%d/%Y %H:%M'",
    ];
    let planned = files.inrush(&["plan", "t.csv", "t.db"]).exits(0).prints(&either);
    assert!(!planned.stdout.contains("inrush load"), "{planned:?}");
    let report = files.report(&["t.csv", "t.db"]);
    assert_eq!(report["plan"]["proposals"], serde_json::json!([]));
    let notes = report["warnings"].as_array().unwrap();
    for words in either {
        assert!(notes.iter().any(|note| note == words), "{notes:?}");
    }
    let days = files.query("t.db", "SELECT day FROM t WHERE id = 9");
    assert_eq!(days, [[Value::from("09/02/2024".to_owned())]]);
    // Each of the options can be copied; one more value tells which it is.
    for (form, day) in [("day=%d/%m/%Y", "2024-02-09"), ("day=%m/%d/%Y", "2024-09-02")] {
        files.load(&["t.csv", "t.db", "--if-exists", "replace", "--date-format", form]).exits(0);
        let days = files.query("t.db", "SELECT day FROM t WHERE id = 9");
        assert_eq!(days, [[Value::from(day.to_owned())]]);
    }
    files.write("t.csv", text + "10,31/02/2024,31/01/2024 10:00\n");
    let planned = files.inrush(&["plan", "t.csv", "t.db", "--if-exists", "replace"]).exits(0);
    let planned = planned.prints(&["--timestamp-format 'at=%d/%m/%Y %H:%M'"]);
    assert!(!planned.stdout.contains("--date-format"), "no form has a 31 February: {planned:?}");
}

#[test]
fn one_form_of_all_values_is_proposed_and_nothing_is_read_unasked() {
    let files = Fixture::new();
    files.write(
        "t.csv",
        "id,day,price,either,name\n1,31.12.2024,\"1.234,5\",01/02/2024,Ann\n2,01.02.1999,\"7\",03/04/2024,Bob\n",
    );
    let planned = files.inrush(&["plan", "t.csv", "t.db"]).exits(0).stdout;
    let command =
        "inrush load t.csv t.db --date-format day=%d.%m.%Y --decimal price=, --thousands price=.";
    assert_eq!(planned.lines().last(), Some(command));
    let report = files.report(&["t.csv", "t.db"]);
    let proposals = report["plan"]["proposals"].as_array().unwrap();
    let options: Vec<String> = proposals
        .iter()
        .flat_map(|one| one["options"].as_array().unwrap())
        .map(|option| option.as_str().unwrap().to_owned())
        .collect();
    let wanted =
        ["--date-format", "day=%d.%m.%Y", "--decimal", "price=,", "--thousands", "price=."];
    assert_eq!(options, wanted, "{report}");
    let notes = report["warnings"].to_string();
    assert!(notes.contains("--date-format day=%d.%m.%Y reads them so"), "{notes}");
    let text = |value: &str| Value::from(value.to_owned());
    let days = files.query("t.db", "SELECT day, price FROM t ORDER BY id");
    assert_eq!(days[0], [text("31.12.2024"), text("1.234,5")]);
    // What is proposed can be said as it is.
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let report = files.report(&[&["t.csv", "other.db"], &options[..]].concat());
    assert_eq!(report["plan"]["proposals"], serde_json::json!([]));
    let days = files.query("other.db", "SELECT day, price FROM t ORDER BY id");
    assert_eq!(
        days,
        vec![
            vec![text("2024-12-31"), Value::from(1234.5)],
            vec![text("1999-02-01"), Value::from(7.0)],
        ]
    );
    // Blanks that are cut off are no way to write a value.
    files.write("b.csv", "id,day\n1, 31.12.2024\n2, 30.12.2024\n");
    let report = files.report(&["b.csv", "t.db", "--trim"]);
    let options = &report["plan"]["proposals"][0]["options"];
    assert_eq!(*options, serde_json::json!(["--date-format", "day=%d.%m.%Y"]));
}

/// Where an option reads a spelling of NULL it is named, and where none does that is said.
#[test]
fn spellings_of_null_are_advised_where_they_help() {
    let files = Fixture::new();
    for (name, text, said) in [
        ("q.csv", "\"id\",\"n\"\n\"1\",\"5\"\n\"2\",\"\"\n", "because of '': --null n= reads it"),
        (
            "q.jsonl",
            "{\"id\":1,\"n\":5}\n{\"id\":2,\"n\":\"\"}\n",
            "because of '': --null n= reads it",
        ),
        ("q.tsv", "id\tn\n1\t5\n2\tNA\n3\t-\n", "--null n=NA --null n=- read them as NULL"),
    ] {
        files.write(name, text);
        let load = [name, "t.db", "--table", "t", "--if-exists", "replace"];
        files.load(&load).exits(0).prints(&[said]);
        let nulls = ["--null", "n=", "--null", "n=NA", "--null", "n=-"];
        files.load(&[&load[..], &nulls].concat()).exits(0);
        assert_eq!(files.table("t.db", "t")[..2], rows![[1, 5], [2, ()]], "{name}");
    }
    files.write("q.csv", "\"s\",\"n\"\n\"a\",\"1.5\"\n\"b\",\"NA\"\n\"c\",\"3\"\n");
    for options in [&[][..], &["--null", "n=NA"], &["--trim"]] {
        let load = [&["q.csv", "u.db", "--if-exists", "replace"], options].concat();
        files.load(&load).exits(0).prints(&["--null 'n=\"NA\"' reads it as NULL"]);
    }
}

/// Nothing but PostgreSQL reads them, and what is loaded are other bytes.
#[test]
fn bytes_as_postgres_writes_them_are_named() {
    let files = Fixture::new();
    files.write("in.csv", "id,b\n1,\\xdeadbeef\n2,\n3,\\x\n");
    let load = ["in.csv", "t.db", "--type", "b=bytes", "--if-exists", "replace"];
    files.load(&load).exits(0).prints(&["column b: \\x and hexadecimal digits", "base64"]);
    let run = files.load(&["in.csv", "u.db"]).exits(0);
    assert!(!run.stdout.contains("hexadecimal"), "{run:?}");
    files.write("in.csv", "id,b\n1,\\xdeadbeef\n2,\\xno\n");
    let run = files.load(&load).exits(0);
    assert!(!run.stdout.contains("hexadecimal"), "{run:?}");
}

/// A load that stops at a value names what reads it, as plan does.
#[test]
fn errors_name_the_options_that_read_the_value() {
    let files = Fixture::new();
    for (text, options, said) in [
        ("id,v\n1,5\n2,\\N\n", &["--type", "v=integer", "--escape", "\\"][..], "--null '\\N'"),
        ("id,v\n1,t\n2,f\n", &["--type", "v=boolean"], "--true v=t --false v=f"),
        ("id,v\n1,2024-01-01\n2,0000-00-00\n", &["--type", "v=date"], "--null v=0000-00-00"),
        (
            "id,v\n1,\"2024-01-01\"\n2,\"0000-00-00\"\n",
            &["--type", "v=date"],
            "--null 'v=\"0000-00-00\"'",
        ),
        ("id,v\n1,31.12.2024\n", &["--type", "v=date"], "--date-format v=%d.%m.%Y"),
    ] {
        files.write("in.csv", text);
        files.refuses(&[&["in.csv", "t.db"], options].concat()).says(&[said]);
    }
    // Behind the sample of a pipe.
    let text = format!("id,v\n{}1,NULL\n", "1,2\n".repeat(400_000));
    let run = files.load_reading(text.as_bytes(), &["-", "t.db", "--table", "t"]);
    run.says(&["--null v=NULL", "--type v=text"]);
}

/// Infinity is a number of such a column, whatever `--decimal` says.
#[test]
fn infinities_beside_numbers_that_an_option_reads_are_no_reason_to_propose_it() {
    let files = Fixture::new();
    files.sql("t.db", "CREATE TABLE t (id INTEGER, x REAL)");
    files.write("t.csv", "id;x\n1;2,5\n2;inf\n3;7,25\n");
    let load = ["t.csv", "t.db", "--decimal", ",", "--header", "yes"];
    let notes = files.report(&load)["warnings"].to_string();
    assert!(!notes.contains("reads them so"), "{notes}");
    assert_eq!(files.query("t.db", "SELECT x FROM t"), rows![[2.5], [f64::INFINITY], [7.25]]);
    // A spelling of NULL is one.
    files.write("t.csv", "id;x\n1;2,5\n2;NA\n3;7,25\n");
    let plan = files.inrush(&["plan", "t.csv", "t.db", "--decimal", ",", "--if-exists", "append"]);
    plan.exits(0).prints(&["--decimal x=, --null x=NA reads them so"]);
}

/// Days beside spellings of NULL, numbers that may be thousands, and columns that are written alike.
#[test]
fn proposals_read_all_values_and_name_what_only_the_user_knows() {
    let files = Fixture::new();
    files.write(
        "t.csv",
        "s,d,a,b,c\nAL,31.12.2024,yes,no,\"6,718\"\nAK,NA,no,yes,776\nAZ,01.02.2023,no,no,12\n",
    );
    let report = files.report(&["t.csv", "t.db"]);
    let notes = report["warnings"].to_string();
    for said in [
        "columns a, b: 6 values seen, each",
        "--true a=yes --false a=no --true b=yes --false b=no reads them so",
        "say which, --decimal c=, or --thousands c=,",
        "--date-format d=%d.%m.%Y --null d=NA reads them so",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    assert!(!notes.contains("--type"), "{notes}");
    let options = &report["plan"]["proposals"][0]["options"];
    assert_eq!(*options, serde_json::json!(["--date-format", "d=%d.%m.%Y", "--null", "d=NA"]));
    let load = ["t.csv", "t.db", "--if-exists", "replace", "--date-format", "d=%d.%m.%Y"];
    files.load(&[&load[..], &["--null", "d=NA", "--thousands", "c=,"]].concat()).exits(0);
    assert_eq!(
        files.query("t.db", "SELECT d, c FROM t"),
        rows![["2024-12-31", 6718], [(), 776], ["2023-02-01", 12]]
    );
    // In quotes it has a spelling with these.
    files.write("t.csv", "s,d\nAL,31.12.2024\nAK,\"NA\"\n");
    let report = files.report(&["t.csv", "u.db"]);
    let options = &report["plan"]["proposals"][0]["options"];
    assert_eq!(*options, serde_json::json!(["--date-format", "d=%d.%m.%Y", "--null", "d=\"NA\""]));
}

#[test]
fn the_last_record_of_a_long_file_is_looked_at_whatever_its_size_is() {
    let fixture = Fixture::new();
    fixture.write("t.csv", format!("id\n{}x\n", "1234567\n".repeat(140_000)));
    let report = fixture.report(&["t.csv", "t.db"]);
    assert_eq!(report["plan"]["columns"][0]["type"], "text");
    assert!(!report["warnings"].to_string().contains("started again"), "{}", report["warnings"]);
}

#[cfg(all(feature = "files", feature = "parquet"))]
#[test]
fn whole_numbers_that_are_text_are_advised_to_be_integers() {
    let files = Fixture::new();
    files.write("n.csv", "n\n5\n");
    files.load(&["n.csv", "n.parquet", "--type", "n=decimal(20,0)"]).exits(0);
    let run = files.load(&["n.parquet", "t.db"]).exits(0);
    run.prints(&["column n is text", "--type n=integer makes rows bad rows"]);
    files.load(&["n.parquet", "t.db", "--if-exists", "replace", "--type", "n=integer"]).exits(0);
    assert_eq!(files.table("t.db", "n"), rows![[5]]);
}
