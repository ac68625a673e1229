use super::written::records;
use super::{COLUMNS, Place, adding, all_of, by_every_strategy, load, refuses, sorted};
use crate::fixture::json_lines;

/// Promised: a guess that a row disproves is no bad row.
const WHOLE: [&str; 2] = ["--type", "id=integer"];

pub(super) fn one_in_a_hundred_thousand<P: Place>() {
    P::for_each(|place| {
        let row = |n: usize| match n {
            77_777 => "77777x,\"broken\nby \u{1f600}\"\n".to_owned(),
            n => format!("{n},name of {n}\n"),
        };
        let text: String = (1..=100_000).map(row).collect();
        place.files().write("in.csv", format!("id,name\n{text}"));
        let args = [&["in.csv"], &WHOLE[..]].concat();
        refuses(place, &COLUMNS, &args).says(&["in.csv: line 77778, column id", "'77777x'"]);
        assert_eq!(place.rows(&COLUMNS), None);
        let args = [&args[..], &["--max-rejects", "1", "--json"]].concat();
        let report = load(place, &args).exits(3).json();
        let counts = ["rows_read", "rows_loaded", "rows_rejected"].map(|key| report[key].clone());
        assert_eq!(counts, [100_000, 99_999, 1]);
        assert_eq!(
            place.files().read("in.rejects.csv"),
            format!("id,name\n{}", row(77_777)).as_bytes()
        );
        let text = text.replace(&row(77_777), "");
        assert!(all_of(place, &COLUMNS) == sorted(records(&text)), "other rows than the file has");
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
    });
}
