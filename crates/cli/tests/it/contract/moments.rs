use super::values::with_late_value;
use super::written::{Kind, plain, plain_rows};
use super::{Place, all_of, by_every_strategy, load, refuses};
use crate::fixture::Outcome;

const AT: [&str; 2] = ["id", "at"];

/// A note of the report in which all of these stand.
#[track_caller]
fn noted(report: &serde_json::Value, words: &[&str]) {
    let notes: Vec<&str> =
        report["warnings"].as_array().unwrap().iter().filter_map(|note| note.as_str()).collect();
    let is_it = |note: &&str| words.iter().all(|word| note.contains(word));
    assert!(notes.iter().any(is_it), "no {words:?} in {notes:?}");
}

/// The type that a column got.
fn type_of<'r>(report: &'r serde_json::Value, name: &str) -> &'r str {
    let columns = report["plan"]["columns"].as_array().unwrap();
    let column = columns.iter().find(|column| column["name"] == name).unwrap();
    column["type"].as_str().unwrap()
}

/// The first fields of a rejects file's lines.
fn rejected<P: Place>(place: &P, file: &str) -> Vec<String> {
    let text = String::from_utf8(place.files().read(file)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

pub(super) fn declared_by_hand_are_checked_as_if_guessed<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        let days = concat!(
            "id,at\n1,2024-03-01\n2,5\n3,99999999999\n4,20240301\n5,2024-02-30\n6,hello\n7,2024-03-01 10:00:00\n",
            "8,infinity\n9,0000-00-00\n10,2024-3-1\n11,\n12,2460371.5\n"
        );
        let moments = concat!(
            "id,at\n1,2024-03-01 10:00:00.5\n2,1709251200\n3,2024-03-01\n4,20240301T100000\n5,2024-02-30 10:00:00\n",
            "6,hello\n7,2024-03-01 10:00:00+01:00\n8,infinity\n9,0000-00-00 00:00:00\n10,2024-03-01 24:00:00\n11,\n12,now\n"
        );
        let moments = match place.keeps_fractions() {
            true => moments.to_owned(),
            false => moments.replace(":00.5", ":00"),
        };
        let bad = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "12"];
        let run = |text: &str, ty: &str| -> Outcome {
            place.files().write("in.csv", text);
            let asked = format!("at={ty}");
            let args =
                ["in.csv", "--type", &asked, "--max-rejects", "20", "--if-exists", "replace"];
            load(place, &[&args[..], way].concat())
        };
        for (text, ty, kind) in
            [(days, "date", Kind::Date), (&moments, "timestamp", Kind::Timestamp)]
        {
            run(text, ty).exits(3);
            assert_eq!(rejected(place, "in.rejects.csv"), bad, "{ty} {way:?}");
            let kept: String = text
                .lines()
                .filter(|line| !bad.contains(&line.split(',').next().unwrap()))
                .fold(String::new(), |text, line| text + line + "\n");
            let kinds = [Kind::Text, kind];
            assert_eq!(plain_rows(all_of(place, &AT), &kinds), plain(&kept, &kinds), "{way:?}");
        }
    });
}

/// A moment in nanoseconds, and others.
const FINE: &str = concat!(
    "id,at\n1,2024-01-01 00:00:00\n2,2024-01-01 00:00:00.123456789\n3,\n",
    "4,1969-12-31 23:59:59.999999999\n5,2024-01-01T00:00:00.5\n"
);

/// What a column with nanoseconds may be, and that the report says so where it is text.
fn is_told(report: &serde_json::Value, value: &str) {
    match type_of(report, "at") {
        "text" => noted(report, &["column at", "text", value, "--type at=timestamp"]),
        ty => assert!(ty.starts_with("timestamp"), "{ty}"),
    }
}

pub(super) fn nanoseconds_are_kept<P: Place>() {
    by_every_strategy::<P>(|place, way| {
        place.files().write("in.csv", FINE);
        let args = [&["in.csv", "--verify", "checksum", "--json"], way].concat();
        let report = load(place, &args).exits(0).json();
        is_told(&report, "'2024-01-01 00:00:00.123456789'");
        let kinds = [Kind::Text, Kind::Timestamp];
        assert_eq!(plain_rows(all_of(place, &AT), &kinds), plain(FINE, &kinds), "{way:?}");
    });
}

pub(super) fn nanoseconds_that_come_late_cost_one_restart<P: Place>() {
    let (text, line) = with_late_value("id,at,zoned", |id, is_late| {
        let fraction = if is_late { ".000000001" } else { "" };
        format!("{id},2024-01-01 00:00:00{fraction},2024-01-01 00:00:00{fraction}Z")
    });
    P::for_each(|place| {
        place.files().write("in.csv", &text);
        let run = load(place, &["in.csv", "--verify", "checksum", "--json"]).exits(0);
        let restarts = run.stderr.matches("started again").count();
        assert!(restarts <= 1, "{run:?}");
        let report = run.json();
        is_told(&report, "'2024-01-01 00:00:00.000000001'");
        if restarts > 0 {
            let line = format!("line {line}");
            noted(&report, &["started again", "column at", &line]);
        }
        // What the target can't keep is found in the middle of the load, and ends that.
        assert!(restarts == 1 || type_of(&report, "at") != "text", "{run:?}");
        let kinds = [Kind::Text, Kind::Timestamp, Kind::Moment, Kind::Text];
        let rows = plain_rows(all_of(place, &["id", "at", "zoned", "filler"]), &kinds);
        assert!(rows == plain(&text, &kinds), "rows have changed");
    });
}

/// 64 bits of nanoseconds reach from 1677 to 2262.
pub(super) fn nanoseconds_far_away_are_text<P: Place>() {
    P::for_each(|place| {
        let text = "id,at\n1,1600-01-01 00:00:00.123456789\n2,2024-01-01 00:00:00\n";
        place.files().write("in.csv", text);
        let report = load(place, &["in.csv", "--verify", "checksum", "--json"]).exits(0).json();
        is_told(&report, "'1600-01-01 00:00:00.123456789'");
        let kinds = [Kind::Text, Kind::Timestamp];
        assert_eq!(plain_rows(all_of(place, &AT), &kinds), plain(text, &kinds));
    });
}

pub(super) fn a_type_of_nanoseconds_is_had_or_refused<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.csv", FINE);
        let run = load(place, &["in.csv", "--type", "at=timestamp_ns"]);
        if run.status.success() {
            let kinds = [Kind::Text, Kind::Timestamp];
            assert_eq!(plain_rows(all_of(place, &AT), &kinds), plain(FINE, &kinds));
        } else {
            run.exits(2).says(&["at=timestamp_ns", "--type at=text"]);
            assert_eq!(place.rows(&AT), None);
        }
    });
}

pub(super) fn kinds_of_text_have_a_type_or_are_refused<P: Place>() {
    /// With zeros behind a fraction, or without.
    fn trimmed(value: Option<String>) -> Option<String> {
        value.map(|text| match text.contains('.') {
            true => text.trim_end_matches('0').to_owned(),
            false => text,
        })
    }
    P::for_each(|place| {
        for (said, values) in [
            (
                "v=uuid",
                ["00112233-4455-6677-8899-aabbccddeeff", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
            ),
            ("v=time", ["23:59:59.999999", "00:00:00.5"]),
        ] {
            place.files().write("in.csv", format!("id,v\n1,{}\n2,{}\n", values[0], values[1]));
            let args = ["in.csv", "--type", said, "--if-exists", "replace"];
            let run = load(place, &args);
            if run.status.success() {
                let found =
                    all_of(place, &["id", "v"]).into_iter().map(|row| trimmed(row[1].clone()));
                assert_eq!(found.collect::<Vec<_>>(), values.map(|value| Some(value.to_owned())));
                place.files().write("in.csv", "id,v\n3,none\n");
                load(place, &args).exits(1).says(&["'none' is not"]);
            } else {
                run.exits(2).says(&[&format!("--type {said}"), "--type v=text"]);
                assert_eq!(place.rows(&["id", "v"]), None);
            }
        }
    });
}

/// By way of a file whose column is of nanoseconds: where all values are coarser it stays a column of timestamps.
#[cfg(all(feature = "files", feature = "parquet"))]
pub(super) fn nanoseconds_of_a_parquet_file_are_kept<P: Place>() {
    let coarse = FINE.replace(".123456789", ".123").replace(".999999999", ".25");
    for text in [FINE, &coarse] {
        by_every_strategy::<P>(|place, way| {
            let files = place.files();
            files.write("in.csv", text);
            files.load(&["in.csv", "fine.parquet", "--type", "at=timestamp_ns"]).exits(0);
            let args = [&["fine.parquet", "--verify", "checksum", "--json"], way].concat();
            let report = load(place, &args).exits(0).json();
            if text == coarse && place.keeps_fractions() {
                assert!(type_of(&report, "at").starts_with("timestamp"), "{report}");
            }
            let kinds = [Kind::Text, Kind::Timestamp];
            assert_eq!(plain_rows(all_of(place, &AT), &kinds), plain(text, &kinds), "{way:?}");
        });
    }
}

const TEXT: [&str; 2] = ["id", "text"];

/// Whatever a source calls it: a target that has no NUL in its text refuses the row.
pub(super) fn an_escaped_nul_is_a_nul<P: Place>() {
    P::for_each(|place| {
        let files = place.files();
        files.write("in.csv", "id,text\n1,a\n2,b\0c\n");
        let takes = load(place, &["in.csv"]).status.success();
        let json = "{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"b\\u0000c\"}\n";
        files.write("lines.jsonl", json);
        // What isn't one.
        let none = "{\"id\":1,\"text\":\"\\\\u0000\"}\n{\"id\":2,\"text\":\"\\u00310\"}\n";
        files.write("none.jsonl", none);
        let mut sources = vec!["in.csv", "lines.jsonl"];
        if cfg!(all(feature = "files", feature = "parquet")) {
            files.load(&["lines.jsonl", "typed.parquet"]).exits(0);
            sources.push("typed.parquet");
        }
        for source in sources {
            if takes {
                load(place, &[source, "--if-exists", "replace", "--verify", "checksum"]).exits(0);
                // MariaDB's own client shows a NUL as a blank; the checksum knows better.
                let found = all_of(place, &TEXT)[1][1].as_ref().map(|text| text.replace('\0', " "));
                assert_eq!(found.as_deref(), Some("b c"), "{source}");
                continue;
            }
            let run = refuses(place, &TEXT, &[source, "--if-exists", "replace"]);
            run.says(&["column text", "a NUL byte", "b\\u{0}c"]);
            let args = [source, "--max-rejects", "1", "--if-exists", "replace"];
            let report = load(place, &[&args[..], &["--json"]].concat()).exits(3).json();
            assert_eq!(report["rows_rejected"], 1, "{source}");
            assert_eq!(all_of(place, &TEXT).len(), 1, "{source}");
        }
        load(place, &["none.jsonl", "--if-exists", "replace", "--verify", "checksum"]).exits(0);
        let found: Vec<_> = all_of(place, &TEXT).into_iter().map(|mut row| row.remove(1)).collect();
        assert_eq!(found, [Some("\\u0000".to_owned()), Some("10".to_owned())]);
    });
}

pub(super) fn half_a_surrogate_is_no_text<P: Place>() {
    P::for_each(|place| {
        for text in ["\\ud800", "\\udc00", "a\\ud800\\u0041"] {
            let json = format!("{{\"id\":1,\"text\":\"a\"}}\n{{\"id\":2,\"text\":\"{text}\"}}\n");
            place.files().write("in.jsonl", json);
            refuses(place, &TEXT, &["in.jsonl"]).says(&["in.jsonl: line 2", "escape"]);
        }
    });
}

/// What the grammar of JSON has an escape for and readers refuse: such a value is text, and none of a column of documents.
pub(super) fn a_document_with_half_a_surrogate_is_text<P: Place>() {
    let half = |id: usize| format!("{id},\"{{\"\"b\"\":\"\"\\ud800\"\"}}\"");
    let whole = |id: usize| format!("{id},\"{{\"\"b\"\":\"\"\\ud83d\\ude00\"\"}}\"");
    let early = format!("id,text\n{}\n{}\n{}\n", whole(1), half(2), whole(3));
    let (late, _) = with_late_value("id,text", |id, is_late| match is_late {
        true => half(id),
        false => whole(id),
    });
    P::for_each(|place| {
        place.files().write("early.csv", &early);
        place.files().write("late.csv", &late);
        let kinds = [Kind::Text, Kind::Text];
        let report = load(place, &["early.csv", "--json"]).exits(0).json();
        assert_eq!(type_of(&report, "text"), "text");
        noted(&report, &["column text is text: 2 of 3", "json", "(line 3)", "--type text=json"]);
        assert_eq!(plain_rows(all_of(place, &TEXT), &kinds), plain(&early, &kinds));
        // What the note says is so.
        let declared = ["early.csv", "--type", "text=json", "--if-exists", "replace"];
        refuses(place, &TEXT, &declared).says(&["early.csv: line 3", "half a surrogate pair"]);
        let report = load(place, &["late.csv", "--if-exists", "replace", "--json"]);
        let report = report.exits(0).json();
        if !P::TRAITS.is_text {
            assert_eq!(type_of(&report, "text"), "text");
            noted(&report, &["column text", "surrogate pair"]);
        }
        let kinds = [Kind::Text, Kind::Text, Kind::Text];
        let rows = plain_rows(all_of(place, &["id", "text", "filler"]), &kinds);
        assert!(rows == plain(&late, &kinds), "rows have changed");
    });
}

pub(super) fn a_name_with_a_nul_is_no_column<P: Place>() {
    P::for_each(|place| {
        place.files().write("in.jsonl", "{\"id\":1,\"te\\u0000xt\":\"a\"}\n");
        let run = load(place, &["in.jsonl"]).exits(1);
        run.says(&["te\\u{0}xt", "NUL", "--columns leaves it out"]);
        assert_eq!(place.rows(&TEXT), None);
    });
}

pub(super) fn what_a_replaced_table_had_is_told<P: Place>() {
    if !P::TRAITS.has_keys {
        return;
    }
    P::for_each(|place| {
        place.files().write("in.csv", "id,name\n1,a\n");
        let keyed = ["--primary-key", "id", "--index", "name"];
        let replace = ["in.csv", "--if-exists", "replace"];
        let report = |more: &[&str]| {
            load(place, &[&replace[..], more, &["--json"]].concat()).exits(0).json()
        };
        load(place, &[&["in.csv"], &keyed[..]].concat()).exits(0);
        // The same again loses nothing.
        let notes = report(&keyed)["warnings"].to_string();
        assert!(!notes.contains("drops"), "{notes}");
        let plan = ["plan", "in.csv", "--if-exists", "replace", "--table", place.table()];
        let plan = place.files().inrush(&[&plan[..], &[&place.url()]].concat()).exits(0);
        plan.prints(&["--if-exists replace drops what the old table had"]);
        noted(&report(&[]), &["--if-exists replace drops", P::TRAITS.lost]);
        // Now it is columns and rows.
        let notes = report(&[])["warnings"].to_string();
        assert!(!notes.contains("drops"), "{notes}");
    });
}
