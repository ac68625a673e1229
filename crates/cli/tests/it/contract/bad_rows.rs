use std::collections::BTreeSet;

use serde_json::json;

use super::values::with_late_value;
use super::written::{Kind, plain_rows, records};
use super::{COLUMNS, Place, adding, all_of, by_every_strategy, load, refuses, sorted};
use crate::fixture::{Random, json_lines, size, thorough};

/// Promised: a guess that a row disproves is no bad row.
const WHOLE: [&str; 2] = ["--type", "id=integer"];

pub(super) fn one_in_a_hundred_thousand<P: Place>() {
    // As many as are promised where they cost little.
    let rows = if P::TRAITS.target == "sqlite" { 100_000 } else { P::few(size(20_000, 100_000)) };
    // One that any target refuses, and one that only the target knows of.
    let (broken, again) = (rows / 9 * 7, rows / 9 * 8);
    let row = |n: usize| match n {
        n if n == broken => format!("{n}x,\"broken\nby \u{1f600}\"\n"),
        n if n == again && P::TRAITS.has_keys => format!("5,{n} again\n"),
        n => format!("{n},name of {n}\n"),
    };
    let text: String = (1..=rows).map(row).collect();
    let key: &[&str] = if P::TRAITS.has_keys { &["--primary-key", "id"] } else { &[] };
    let (bad, limit) = if P::TRAITS.has_keys { (2, "2") } else { (1, "1") };
    P::for_each(|place| {
        place.files().write("in.csv", format!("id,name\n{text}"));
        let args = [&["in.csv"], &WHOLE[..], key].concat();
        let line = format!("in.csv: line {}, column id", broken + 1);
        refuses(place, &COLUMNS, &args).says(&[&line, &format!("'{broken}x'")]);
        assert_eq!(place.rows(&COLUMNS), None);
        let args = [&args[..], &["--max-rejects", limit, "--json"]].concat();
        let report = load(place, &args).exits(3).json();
        let counts = ["rows_read", "rows_loaded", "rows_rejected"].map(|key| report[key].clone());
        assert_eq!(counts, [rows, rows - bad, bad]);
        let aside = [row(broken), row(again)][..bad].concat();
        assert_eq!(place.files().read("in.rejects.csv"), format!("id,name\n{aside}").as_bytes());
        let mut good = text.replace(&row(broken), "");
        if P::TRAITS.has_keys {
            good = good.replace(&row(again), "");
        }
        assert!(all_of(place, &COLUMNS) == sorted(records(&good)), "other rows than the file has");
    });
}

pub(super) fn what_programs_write_for_null_is_said_to_be_readable<P: Place>() {
    P::for_each(|place| {
        let args = [&["in.csv"], &WHOLE[..]].concat();
        for (value, advice) in [
            ("\\N", Some("--null 'id=\\N' reads it as NULL")),
            ("NULL", Some("--null id=NULL reads it as NULL")),
            ("\"\"", Some("--null id= reads it as NULL, as --null '' does in all columns")),
            ("\"NA\"", Some("--null 'id=\"NA\"' reads it as NULL")),
            ("five", None),
        ] {
            place.files().write("in.csv", format!("id,name\n1,a\n{value},b\n"));
            let run = refuses(place, &COLUMNS, &args).says(&["line 3, column id", "fix the row"]);
            match advice {
                Some(advice) => drop(run.says(&[advice])),
                None => assert!(!run.stderr.contains("--null"), "{run:?}"),
            }
        }
        place.files().write("in.csv", "id,name\n\\N,a\n");
        load(place, &[&args[..], &["--null", "id=\\N"]].concat()).exits(0);
        assert_eq!(all_of(place, &COLUMNS), records(",a\n"));
    });
}

pub(super) fn go_aside_as_they_are_written<P: Place>() {
    /// Where each stands, and why.
    const BAD: [(u64, &str, &str); 5] = [
        (2, "2\n", "field-count"),
        (4, "4,\"a\nb\",c\n", "field-count"),
        (5, "\"five\",e\n", "type"),
        (7, "99999999999999999999,g\n", "range"),
        (8, "8,\"h\"i\n", "quote"),
    ];
    by_every_strategy::<P>(|place, way| {
        let good = ["1,a\n", "3,\"c\nc\"\n", "6,\n", "9,i\n", "10,\"\"\n"];
        let mut rest = good.iter();
        let row = |record: u64| match BAD.iter().find(|(at, ..)| *at == record) {
            Some((_, text, _)) => *text,
            None => rest.next().unwrap(),
        };
        let file: String = (1..=10).map(row).collect();
        place.files().write("in.csv", format!("id,name\n{file}"));
        let args = [&["in.csv"], &WHOLE[..], way].concat();
        refuses(place, &COLUMNS, &args).says(&["in.csv: line 3"]);
        refuses(place, &COLUMNS, &[&args[..], &["--max-rejects", "4"]].concat());
        load(place, &[&args[..], &["--max-rejects", "5"]].concat()).exits(3);
        assert_eq!(all_of(place, &COLUMNS), sorted(records(&good.concat())), "{way:?}");
        let aside: String = BAD.iter().map(|(_, text, _)| *text).collect();
        assert_eq!(place.files().read("in.rejects.csv"), format!("id,name\n{aside}").as_bytes());
        let notes = json_lines(&place.files().read("in.rejects.csv.jsonl"));
        let found: Vec<_> = notes
            .iter()
            .map(|note| (note["record"].as_u64().unwrap(), note["code"].as_str().unwrap()))
            .collect();
        assert_eq!(found, BAD.map(|(record, _, code)| (record, code)));
    });
}

/// A bad row among a thousand: which record it is, its bytes, the column to blame, the code.
type Bad = (usize, &'static [u8], Option<&'static str>, &'static str);

/// At both ends, next to each other, and between. The key of the last two already exists.
const DIRT: [Bad; 10] = [
    (1, b"1,1,2013-01-01", None, "field-count"),
    (77, b"77,x,2013-01-01,a", Some("n"), "type"),
    (78, b"78,1,2013-01-01,a,b,c", None, "field-count"),
    (130, b"130,1,2013-01-01,\"a\"b", None, "quote"),
    (170, b"170,1,2013-01-01,Zo\xeb", Some("name"), "utf-8"),
    (200, b"200,1,2013-02-30,a", Some("day"), "type"),
    (345, b"345,99999999999999999999,2013-01-01,a", Some("n"), "range"),
    (501, b"500000000000000000000,1,2013-01-01,a", Some("id"), "range"),
    (700, b"11,1,2013-01-01,a", Some("id"), "duplicate-key"),
    (1000, b"11,2,2013-01-01,a", Some("id"), "duplicate-key"),
];

/// Exactly the good rows are loaded, and exactly the bad ones rejected, byte for byte and with their places.
pub(super) fn among_a_thousand_cost_no_good_one<P: Place>() {
    let dirt: Vec<Bad> =
        DIRT.into_iter().filter(|bad| P::TRAITS.has_keys || bad.3 != "duplicate-key").collect();
    by_every_strategy::<P>(|place, way| {
        // Files of other systems go by every strategy; lines of one byte have a test of their own.
        let newline = if way.is_empty() { "\n" } else { "\r\n" };
        let header = format!("id,n,day,name{newline}");
        let (mut file, mut aside) = (header.clone().into_bytes(), header.into_bytes());
        let (mut good, mut places) = (String::new(), Vec::new());
        for record in 1..=1000 {
            if let Some((_, raw, column, code)) = dirt.iter().find(|(at, ..)| *at == record) {
                let line = 1 + file.iter().filter(|byte| **byte == b'\n').count();
                places.push(json!({
                    "record": record, "line": line, "byte": file.len(), "column": column, "code": code,
                }));
                for bytes in [&mut file, &mut aside] {
                    bytes.extend_from_slice(raw);
                    bytes.extend_from_slice(newline.as_bytes());
                }
                continue;
            }
            let name = match record % 10 {
                0 => format!("\"\u{4e2d}{newline}\"\"{record}\"\"\""),
                3 => format!("a\t\\{record}\\"),
                5 => "\"\"".to_owned(),
                6 => String::new(),
                7 => format!("'{record}\\N"),
                _ => format!("name {record}"),
            };
            let row = format!("{record},{},2012-02-29,{name}{newline}", record % 7);
            file.extend_from_slice(row.as_bytes());
            good += &row;
        }
        place.files().write("in.csv", file);
        let key: &[&str] = if P::TRAITS.has_keys { &["--primary-key", "id"] } else { &[] };
        let types = ["--type", "id=integer", "--type", "n=integer", "--type", "day=date"];
        let columns = ["id", "n", "day", "name"];
        let args = [&["in.csv", "--quote", "\"", "--json"], &types[..], key, way].concat();
        let refused = |limit: usize| {
            let limit = limit.to_string();
            let args = [&args[..], &["--max-rejects", &limit]].concat();
            let run = place.leaves_as_it_was(&columns, || load(place, &args));
            run.exits(1).ends_with_nothing_changed()
        };
        // What refuses rows by every strategy has a test of its own.
        if way.is_empty() || thorough() {
            refused(0).says(&["in.csv: line 2"]);
            refused(dirt.len() - 1);
        }
        let limit = dirt.len().to_string();
        let more = ["--max-rejects", &limit, "--verify", "checksum"];
        let report = load(place, &[&args[..], &more].concat()).exits(3).json();
        let counts = ["rows_read", "rows_loaded", "rows_rejected"].map(|key| report[key].clone());
        assert_eq!(counts, [1000, 1000 - dirt.len(), dirt.len()], "{way:?}");
        let shown = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
        assert_eq!(shown(&place.files().read("in.rejects.csv")), shown(&aside), "{way:?}");
        let mut found = json_lines(&place.files().read("in.rejects.csv.jsonl"));
        for note in &mut found {
            let note = note.as_object_mut().unwrap();
            assert_eq!(note.remove("file"), Some(json!("in.csv")));
            assert_ne!(note.remove("message"), Some(json!("")));
            assert!(note.remove("table").unwrap().is_string());
            assert!(note.remove("dialect").is_some());
            note.remove("line_hash");
            note.remove("types");
            if note["code"] == "duplicate-key" {
                // A server may tell the key alone, which may have several columns.
                note.insert("column".to_owned(), json!("id"));
            }
        }
        assert_eq!(found, places, "{way:?}");
        let kinds = [Kind::Text, Kind::Text, Kind::Date, Kind::Text];
        let wanted = plain_rows(records(&good), &kinds);
        assert!(plain_rows(all_of(place, &columns), &kinds) == wanted, "other rows by {way:?}");
    });
}

/// However many connections share the work, and however far the two lie apart.
pub(super) fn are_the_later_ones_with_one_key<P: Place>() {
    if !P::TRAITS.has_keys {
        return;
    }
    let mut random = Random(0x7);
    let mut seen = BTreeSet::new();
    let (mut good, mut bad) = (String::new(), String::new());
    let (mut text, mut first) = (String::new(), None);
    for line in 2..size(500, 4_000) {
        let id = random.next() % size(5_000, 20_000);
        let row = format!("{id},line {line}\n");
        text += &row;
        if seen.insert(id) {
            good += &row;
        } else {
            bad += &row;
            first = first.or(Some(line));
        }
    }
    let first = format!("in.csv: line {}", first.unwrap());
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", format!("id,name\n{text}"));
        let args = [&["in.csv", "--primary-key", "id"], way].concat();
        refuses(place, &COLUMNS, &args).says(&[&first]);
        load(place, &[&args[..], &["--max-rejects", "50%"]].concat()).exits(3);
        let aside = String::from_utf8(place.files().read("in.rejects.csv")).unwrap();
        assert_eq!(aside, format!("id,name\n{bad}"), "{way:?}");
        assert!(all_of(place, &COLUMNS) == sorted(records(&good)), "other rows by {way:?}");
    });
}

/// What can't be read twice.
pub(super) fn of_a_pipe_may_repeat_a_key<P: Place>() {
    if !P::TRAITS.has_keys {
        return;
    }
    by_every_strategy::<P>(|place, way| {
        let (files, url) = (place.files(), place.url());
        let text = b"id,name\n2,a\n1,b\n2,c\n";
        let pipe = ["-", "--table", place.table(), &url, "--primary-key", "id"];
        let pipe = [&pipe[..], way].concat();
        let run = files.leaves_all(|| files.load_reading(text, &pipe));
        assert_eq!(place.rows(&COLUMNS), None);
        if run.status.code() == Some(2) {
            // It says that it needs a file.
            run.says(&["a pipe can be read once"]);
            return;
        }
        run.exits(1).ends_with_nothing_changed();
        let aside = ["--max-rejects", "1", "--rejects", "bad.csv"];
        let run = files.load_reading(text, &[&pipe[..], &aside].concat());
        if run.status.code() == Some(1) && way.contains(&"--lanes") {
            // Which of the two came first only a second look can tell.
            run.says(&["instead of a pipe"]).ends_with_nothing_changed();
            assert_eq!(place.rows(&COLUMNS), None);
            return;
        }
        run.exits(3);
        assert_eq!(all_of(place, &COLUMNS), records("1,b\n2,a\n"), "{way:?}");
        assert_eq!(files.read("bad.csv"), b"id,name\n2,c\n", "{way:?}");
    });
}

pub(super) fn a_key_that_is_there_is_one<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let good = "1,a\n2,b\n3,c\n";
        place.files().write("in.csv", "id,name\n1,a\n2,b\n1,again\n3,c\n2,\"to\no\"\n");
        let args = [&["in.csv", "--primary-key", "id"], way].concat();
        if !P::TRAITS.has_keys {
            let run = place.files().leaves_all(|| load(place, &args));
            run.exits(2).says(&["no keys"]);
            return;
        }
        refuses(place, &COLUMNS, &args).says(&["in.csv: line 4"]);
        load(place, &[&args[..], &["--max-rejects", "2"]].concat()).exits(3);
        assert_eq!(all_of(place, &COLUMNS), records(good), "{way:?}");
        let aside = "id,name\n1,again\n2,\"to\no\"\n";
        assert_eq!(place.files().read("in.rejects.csv"), aside.as_bytes(), "{way:?}");
        // And the keys of an existing table.
        place.files().write("in.csv", "id,name\n4,d\n3,again\n");
        let args = [&["in.csv"], P::TRAITS.with_key, &adding::<P>(way)[..]].concat();
        if P::TRAITS.undoes_appends {
            refuses(place, &COLUMNS, &args).says(&["in.csv: line 3"]);
        }
        let report = load(place, &[&args[..], &["--max-rejects", "1", "--json"]].concat());
        assert_eq!(report.exits(3).json()["rows_loaded"], 1);
        assert_eq!(all_of(place, &COLUMNS), records(&format!("{good}4,d\n")), "{way:?}");
        assert_eq!(place.files().read("in.rejects.csv"), b"id,name\n3,again\n");
    });
}

/// Whatever NULL is to the target's keys.
pub(super) fn without_a_key_change_no_other<P: Place>() {
    if !P::TRAITS.has_keys {
        return;
    }
    by_every_strategy::<P>(|place, way| {
        for how in ["update", "replace", "skip"] {
            place
                .files()
                .write("old.csv", "id,name\n1,a\n2,b\n")
                .write("in.csv", "id,name\n2,c\n,x\n");
            load(place, &["old.csv", "--primary-key", "id", "--if-exists", "replace"]).exits(0);
            let changed = ["in.csv", "--on-conflict", how, "--max-rejects", "1", "--json"];
            let args = [&changed[..], P::TRAITS.with_key, &adding::<P>(way)[..]].concat();
            let run = load(place, &args);
            // What can't do this says so.
            if run.status.code() == Some(2) {
                assert_eq!(run.json()["error"]["kind"], "usage");
                continue;
            }
            let (two, found) =
                (if how == "skip" { "2,b\n" } else { "2,c\n" }, all_of(place, &COLUMNS));
            let others: Vec<_> =
                found.into_iter().filter(|row| row[1].as_deref() != Some("x")).collect();
            assert_eq!(others, records(&format!("1,a\n{two}")), "{how} {way:?}");
        }
    });
}

/// What is left out was not sent.
pub(super) fn that_are_skipped_are_in_no_checksum<P: Place>() {
    if !P::TRAITS.has_keys {
        return;
    }
    by_every_strategy::<P>(|place, way| {
        place
            .files()
            .write("old.csv", "id,name\n1,a\n2,b\n")
            .write("in.csv", "id,name\n3,c\n2,x\n3,d\n4,e\n");
        load(place, &["old.csv", "--primary-key", "id", "--if-exists", "replace"]).exits(0);
        let skip = ["in.csv", "--on-conflict", "skip", "--verify", "checksum", "--json"];
        let args = [&skip[..], P::TRAITS.with_key, &adding::<P>(way)[..]].concat();
        let run = load(place, &args);
        if run.status.code() == Some(2) {
            assert_eq!(run.json()["error"]["kind"], "usage");
            return;
        }
        let report = run.exits(0).json();
        assert_eq!((&report["rows_loaded"], &report["rows_skipped"]), (&2.into(), &2.into()));
        assert_eq!(all_of(place, &COLUMNS), records("1,a\n2,b\n3,c\n4,e\n"), "{way:?}");
    });
}

pub(super) fn that_are_allowed_keep_a_columns_type<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1,9.5\n2,free\n3,3\n4,2.25\n");
        // Nothing is rejected unasked: then the column is text, and the report says why.
        let report = load(place, &["in.csv", "--json"]).exits(0).json();
        assert_eq!(report["plan"]["columns"][1]["type"], "text");
        assert!(report["warnings"].to_string().contains("'free' (line 3)"), "{report}");
        let args = ["in.csv", "--max-rejects", "1", "--if-exists", "replace"];
        let url = place.url();
        let plan = [&["plan"], &args[..], &["--table", place.table(), &url]].concat();
        place.files().inrush(&plan).exits(0).prints(&["--max-rejects 1 allows", "'free' (line 3)"]);
        let report = load(place, &[&args[..], &["--json"]].concat()).exits(3).json();
        assert_eq!(report["plan"]["columns"][1]["type"], "float");
        assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&3.into(), &1.into()));
        assert_eq!(place.files().read("in.rejects.csv"), b"id,name\n2,free\n");
        assert_eq!(all_of(place, &COLUMNS).len(), 3);
        // Rows with other numbers of fields count as well, and a plan knows of them.
        place.files().write("in.csv", "id,name\n1,9.5\n2,free\n3,3\n4,2.25\n5\n");
        for (limit, ty) in [("1", "text"), ("2", "float")] {
            let args = ["in.csv", "--max-rejects", limit, "--if-exists", "replace", "--json"];
            let plan = [&["plan"], &args[..], &["--table", place.table(), &url]].concat();
            let planned = place.files().inrush(&plan).exits(0).json();
            let loaded = load(place, &args).exits(3).json();
            assert_eq!(planned["columns"][1]["type"], ty, "{limit}");
            assert_eq!(planned["columns"], loaded["plan"]["columns"], "{limit}");
            assert_eq!(loaded["rows_rejected"].to_string(), limit);
        }
        // Wherever in the file it stands.
        let row = |id: usize, is_late| format!("{id},{}", if is_late { "free" } else { "2.5" });
        let (text, line) = with_late_value("id,price", row);
        place.files().write("late.csv", text);
        let args = ["late.csv", "--max-rejects", "1", "--if-exists", "replace", "--json"];
        let report = load(place, &args).exits(3).json();
        assert_eq!((&report["rows_loaded"], &report["rows_rejected"]), (&1499.into(), &1.into()));
        let reasons = json_lines(&place.files().read("late.rejects.csv.jsonl"));
        assert_eq!((&reasons[0]["line"], &reasons[0]["column"]), (&line.into(), &"price".into()));
    });
}

/// Bytes of every kind, which JSON has no form for: in a file of bad rows they are in base64.
#[cfg(all(feature = "files", feature = "parquet"))]
pub(super) fn of_a_parquet_file_are_loaded_as_they_were_once_fixed<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        let rows = "1,plain,5\n2,eHl6,x\n3,\"\",6\n4,\u{e9}\u{1f600},y\n";
        files.write("in.csv", format!("id,data,n\n{rows}"));
        let columns = ["id", "data", "n"];
        let typed = ["--type", "data=bytes", "--type", "n=integer"];
        // All of them, of numbers that are texts.
        let fixed = rows.replace("x\n", "7\n").replace("y\n", "8\n");
        files.write("good.csv", format!("id,data,n\n{fixed}"));
        files.load(&["good.csv", "good.parquet", "--type", "data=bytes"]).exits(0);
        load(place, &[&["good.parquet"], &typed[..]].concat()).exits(0);
        let wanted = all_of(place, &columns);
        let again = ["in.rejects.jsonl", "--if-exists", "append", "--verify", "checksum"];
        // Text goes into columns of bytes, too.
        for of_data in ["bytes", "text"] {
            let data = format!("data={of_data}");
            let write = ["in.csv", "in.parquet", "--if-exists", "replace", "--type", &data];
            files.load(&write).exits(0);
            let some = ["in.parquet", "--if-exists", "replace", "--max-rejects", "2"];
            load(place, &[&some[..], &typed].concat()).exits(3);
            let rejects = String::from_utf8(files.read("in.rejects.jsonl")).unwrap();
            assert!(rejects.contains(r#""data":"ZUhsNg==""#), "{rejects}");
            let rejects = rejects.replace("\"x\"", "7").replace("\"y\"", "8");
            files.write("in.rejects.jsonl", rejects);
            // The table says the types, or what lies beside the rows.
            load(place, &again).exits(0);
            assert_eq!(all_of(place, &columns), wanted, "{of_data}");
        }
        // Another text is refused, and not taken for bytes.
        files.write("in.jsonl", "{\"id\":5,\"data\":\"no base64\",\"n\":9}\n");
        let run = refuses(place, &columns, &[&["in.jsonl"], &again[1..3], &typed].concat());
        run.says(&["line 1, column data", "'no base64' is not bytes in base64"]);
    });
}

/// Lists, structs and maps, which a column may have a type for, and documents within them.
#[cfg(all(feature = "files", feature = "parquet"))]
pub(super) fn of_lists_and_structs_are_loaded_as_they_were_once_fixed<P: Place>() {
    use crate::columns::{batch, column, parquet};
    use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
    use arrow_array::{Int64Array, StringArray, StructArray};

    P::for_each(|place| {
        let files = place.files();
        let write = |name: &str, numbers: [&str; 3]| {
            let mut list = ListBuilder::new(Int64Builder::new());
            list.append_value([Some(1), None]);
            list.append_value([Some(1 << 60), Some(-3)]);
            list.append_value([None; 0]);
            let mut texts = ListBuilder::new(StringBuilder::new());
            for text in ["a\nb", "[1, \"\"]", "{\"\u{e9}\\\\\":\u{1f600}}"] {
                texts.append_value([Some(text)]);
            }
            let inner = StructArray::from(batch(vec![
                ("x", column(Int64Array::from(vec![Some(1), Some(2), None]))),
                ("y", column(texts.finish())),
            ]));
            let rows = batch(vec![
                ("id", column(Int64Array::from(vec![1, 2, 3]))),
                ("l", column(list.finish())),
                ("st", column(inner)),
                ("n", column(StringArray::from_iter_values(numbers))),
            ]);
            parquet(files, name, &rows, 2);
        };
        let columns = ["id", "l", "st", "n"];
        write("good.parquet", ["5", "6", "7"]);
        write("in.parquet", ["5", "x", "y"]);
        let typed = ["--type", "n=integer", "--if-exists", "replace"];
        load(place, &[&["good.parquet"], &typed[..]].concat()).exits(0);
        let wanted = all_of(place, &columns);
        load(place, &[&["in.parquet", "--max-rejects", "2"], &typed[..]].concat()).exits(3);
        let rejects = String::from_utf8(files.read("in.rejects.jsonl")).unwrap();
        assert!(rejects.contains(r#""l":[1152921504606846976,-3],"st":{"x":2,"#), "{rejects}");
        files.write("in.rejects.jsonl", rejects.replace("\"x\"}", "6}").replace("\"y\"}", "7}"));
        load(place, &["in.rejects.jsonl", "--if-exists", "append"]).exits(0);
        assert_eq!(all_of(place, &columns), wanted);
    });
}

/// A guess takes only what stays as it is written, also where it is kept at the price of bad rows.
pub(super) fn are_values_that_would_not_stay_as_they_are_written<P: Place>() {
    P::for_each(|place| {
        for (good, odd) in [
            (["10115", "20095", "80331"], "01067"),
            (["1.5", "2.5", "3.25"], "+4.5"),
            (["true", "false", "true"], "1"),
        ] {
            let rows: String = good.iter().map(|value| format!("x,{value}\n")).collect();
            place.files().write("in.csv", format!("id,name\n{rows}x,{odd}\n"));
            let args = ["in.csv", "--max-rejects", "1", "--if-exists", "replace"];
            let run = load(place, &args).exits(3);
            run.prints(&[&format!("'{odd}' (line 5)"), "1 bad row rejected"]);
            assert_eq!(all_of(place, &COLUMNS).len(), good.len(), "{odd}");
            assert_eq!(
                place.files().read("in.rejects.csv"),
                format!("id,name\nx,{odd}\n").as_bytes()
            );
            place
                .files()
                .inrush(&["check", "in.csv", "--max-rejects", "1"])
                .prints(&["3 good, 1 bad"]);
        }
        // So does a string among the numbers of JSON, even where it is written alike.
        let rows: String = (1..=3).map(|n| format!("{{\"id\":\"x\",\"name\":{n}}}\n")).collect();
        place.files().write("in.jsonl", rows + "{\"id\":\"x\",\"name\":\"4\"}\n");
        let args = ["in.jsonl", "--max-rejects", "1", "--if-exists", "replace"];
        load(place, &args).exits(3).prints(&["1 bad row rejected"]);
        assert_eq!(all_of(place, &COLUMNS).len(), 3);
    });
}

/// A record that is bad for the name of one of its members, which has a byte that is not UTF-8, or a NUL.
pub(super) fn are_records_with_a_name_that_no_column_can_have<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        for (name, code) in [(&b"na\xff"[..], "utf-8"), (b"na\\u0000me", "nul")] {
            let bad = [b"{\"id\":2,\"name\":\"b\",\"", name, b"\":1}\n"].concat();
            let (first, last) = (b"{\"id\":1,\"name\":\"a\"}\n", b"{\"id\":3,\"name\":\"c\"}\n");
            files.write("in.jsonl", [&first[..], &bad, last].concat());
            for more in [&["--if-exists", "replace"], &["--if-exists", "append"]] {
                let run = load(place, &[&["in.jsonl", "--max-rejects", "1"], &more[..]].concat());
                run.exits(3).prints(&["1 bad row rejected"]);
                let notes = json_lines(&files.read("in.rejects.jsonl.jsonl"));
                assert_eq!((&notes[0]["code"], &notes[0]["line"]), (&json!(code), &json!(2)));
                assert_eq!(files.read("in.rejects.jsonl"), bad);
            }
            assert_eq!(all_of(place, &COLUMNS).len(), 4, "{code}");
            files.inrush(&["check", "in.jsonl", "--max-rejects", "1"]).prints(&["2 good, 1 bad"]);
        }
        // Where it isn't loaded, it may have any name.
        let args = ["in.jsonl", "--columns", "id,name", "--if-exists", "replace"];
        load(place, &args).exits(0);
        assert_eq!(all_of(place, &COLUMNS).len(), 3);
    });
}
