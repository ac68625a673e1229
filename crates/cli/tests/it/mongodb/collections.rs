use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use inrush::plan::Type;
use inrush::{LoadOptions, Steps, Unobserved, Writer};
use serde_json::json;

use super::script::{Fate, Script, VERB};
use super::server::{STRATEGIES, for_each_server, rows};
use crate::fixture::Fixture;
use crate::servers::Database as _;

#[test]
fn what_becomes_of_a_collection_that_is_there() {
    for_each_server(|server| {
        for strategy in STRATEGIES {
            let by = ["--strategy", strategy, "--verify", "checksum"];
            let load = |file: &'static str, more: &[&'static str]| {
                server.load(&[&[file, "--table", "t"], more, &by].concat())
            };
            server.write("a.csv", "id,name\n1,a\n").write("b.csv", "id,size\n2,0.5\n");
            load("a.csv", &["--if-exists", "replace"]).exits(0);
            load("a.csv", &[]).exits(1).says(&["holds rows already"]).ends_with_nothing_changed();
            load("a.csv", &["--if-exists", "fail"]).exits(1).ends_with_nothing_changed();
            // Other columns are no trouble.
            load("b.csv", &["--if-exists", "append"]).exits(0);
            let mut fields = server.fields("t");
            // Both loads may have been in the same second, and so be ordered by chance.
            fields.sort();
            assert_eq!(fields, rows![[1, "a"], [2, 0.5]]);
            server.query("{\"createIndexes\": \"t\", \"indexes\": [{\"key\": {\"id\": 1}, \"name\": \"own\", \"unique\": true}]}");
            load("b.csv", &["--if-exists", "truncate"]).exits(0);
            assert_eq!(server.fields("t"), rows![[2, 0.5]]);
            assert_eq!(server.query("{\"listIndexes\": \"t\"}").len(), 2);
            // The index is kept, and refuses what it did before.
            load("b.csv", &["--if-exists", "append"]).exits(1).says(&["line 2", "E11000"]);
            load("a.csv", &["--if-exists", "replace"]).exits(0);
            assert_eq!(server.query("{\"listIndexes\": \"t\"}").len(), 1);
            assert_eq!(server.fields("t"), rows![[1, "a"]]);
            assert_eq!(server.tables(), ["t"]);
        }
    });
}

#[test]
fn an_empty_collection_takes_rows_and_keeps_its_indexes() {
    for_each_server(|server| {
        server.query("{\"create\": \"t\"}");
        server.query(
            "{\"createIndexes\": \"t\", \"indexes\": [{\"key\": {\"id\": 1}, \"name\": \"own\"}]}",
        );
        server.write("t.csv", "id\n1\n2\n");
        server.load(&["t.csv"]).exits(0);
        assert_eq!(server.fields("t"), rows![[1], [2]]);
        assert_eq!(server.query("{\"listIndexes\": \"t\"}").len(), 2);
    });
}

#[test]
fn a_failed_load_into_a_collection_that_is_there_says_how_many_rows_stay() {
    for_each_server(|server| {
        server.write("t.csv", "id,n\n0,0\n");
        server.load(&["t.csv"]).exits(0);
        let rows: String = (1..3000).map(|n| format!("{n},{n}\n")).collect();
        server.write("t.csv", format!("id,n\n{rows}3000,x\n"));
        let load = ["t.csv", "--if-exists", "append", "--type", "n=integer", "--chunk-size", "1k"];
        server
            .plan(&load)
            .exits(0)
            .prints(&["committed on the way", "straight into the existing collection"]);
        let run = server.load(&load).exits(1).says(&["t.csv: line 3001, column n"]);
        let last = run.stderr.lines().last().unwrap().replace(',', "");
        let stayed = server.count("t") - 1;
        assert!(
            stayed > 0 && last.contains(&format!("{stayed} rows")) && last.contains("stay"),
            "{last}"
        );
        // One row is no transaction's, and no several.
        server.write("two.csv", "id,n\n1,1\n1,2\n");
        server
            .load(&["two.csv", "--table", "two", "--primary-key", "id", "--max-rejects", "1"])
            .exits(3);
        server.write("two.csv", "id,n\n3,1\n1,2\n");
        let run = server
            .load(&["two.csv", "--table", "two", "--primary-key", "id", "--if-exists", "append"])
            .exits(1);
        let last = run.stderr.lines().last().unwrap();
        assert_eq!(
            last,
            "1 row was committed before, and stays in the table (rows from behind the one that ended the load may be among them)"
        );
        // A new one is all or nothing.
        server.refuses(&["t.csv", "--table", "new", "--type", "n=integer", "--chunk-size", "1k"]);
    });
}

#[test]
fn names_that_no_collection_may_have() {
    for_each_server(|server| {
        server.write("t.csv", "id\n1\n");
        for name in ["a$b", "system.users", ".a", &"x".repeat(300)] {
            server.misused(&["t.csv", "--table", name]).says(&["--table"]);
        }
        server.load(&["t.csv", "--table", "a b \u{e9}"]).exits(0);
        assert_eq!(server.tables(), ["a b \u{e9}"]);
        if server.name().starts_with("ferretdb") {
            server.misused(&["t.csv", "--table", "a.b"]).says(&["FerretDB"]);
            // An existing one keeps its name.
            server.query("{\"create\": \"a.b\"}");
            server.load(&["t.csv", "--table", "a.b", "--if-exists", "append"]).exits(0);
            server
                .misused(&["t.csv", "--table", "a.b", "--if-exists", "replace"])
                .says(&["FerretDB"]);
        }
    });
}

#[test]
fn knobs_change_no_row() {
    for_each_server(|server| {
        let rows: String = (0..500).map(|n| format!("{n},name {n}\n")).collect();
        server.write("t.csv", format!("id,name\n{rows}"));
        for settings in [
            &["--set", "documents_per_batch=1"][..],
            &["--set", "documents_per_batch=7", "--set", "ordered=yes"],
            &["--set", "write_concern=majority", "--set", "journal=yes"],
            &["--lanes", "4", "--chunk-size", "1k"],
            &["--encoders", "3", "--lanes", "2", "--chunk-size", "1k"],
            &["--durability", "none"],
            &["--durability", "process"],
        ] {
            let load =
                ["t.csv", "--primary-key", "id", "--if-exists", "replace", "--verify", "checksum"];
            let report = server.report(&[&load[..], settings].concat());
            let wanted = if settings[1] == "none" { "false" } else { "true" };
            assert_eq!(report["durability_read_back"]["j"], wanted, "{settings:?}");
            let documents = server.documents("t");
            assert_eq!(documents.len(), 500);
            assert_eq!(documents[499], rows![[499, "name 499"]][0]);
        }
    });
}

/// What is refused is refused before a row is sent.
#[test]
fn what_no_collection_replaces_and_what_has_no_keys_is_refused() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n");
    for (kind, more, says) in [
        ("view", &["--if-exists", "replace"][..], "a view, whose place no collection takes"),
        ("view", &["--if-exists", "append"], "a view, which takes no rows"),
        ("timeseries", &["--if-exists", "replace"], "time series, whose place no collection takes"),
        (
            "timeseries",
            &["--if-exists", "append", "--on-conflict", "skip", "--primary-key", "id"],
            "which has no unique key",
        ),
    ] {
        let server = Script::start(move |command, _| match command[VERB].as_str() {
            Some("listCollections") => Fate::Answered(json!({
                "cursor": {"id": 0, "ns": "d.t", "firstBatch": [{"name": "t", "type": kind, "options": {}}]},
                "ok": 1.0,
            })),
            _ => Fate::Done,
        });
        let url = server.url();
        let load = [&["t.csv", &url][..], more].concat();
        fixture.load(&load).exits(2).says(&[says]);
        assert!(server.heard("insert").is_empty());
    }
}

/// Its oldest documents go as new ones come: no count says how many were added.
#[test]
fn a_full_capped_collection_takes_rows() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n2\n");
    let server = Script::start(|command, documents| match command[VERB].as_str() {
        Some("listCollections") => Fate::Answered(json!({
            "cursor": {"id": 0, "ns": "d.t", "firstBatch": [{"name": "t", "type": "collection", "options": {"capped": true}}]},
            "ok": 1.0,
        })),
        Some("insert") => Fate::Answered(json!({"n": documents.len(), "ok": 1.0})),
        _ => Fate::Done,
    });
    server.put("t", &[json!({"_id": 7})]);
    let url = server.url();
    let load = ["t.csv", &url, "--if-exists", "append", "-v"];
    fixture.load(&load).exits(0).says(&["drops its oldest documents"]);
    let load = ["t.csv", &url, "--if-exists", "append", "--verify", "checksum"];
    fixture.load(&load).exits(2).says(&["--verify count or none"]);
}

/// Types that were declared hold for every step of a program's rows.
#[test]
fn declared_types_hold_for_every_step() {
    for_each_server(|server| {
        let types = [("id".to_owned(), Type::Text)].into();
        let table = Some("t".to_owned());
        let options = LoadOptions { table, types, ..LoadOptions::default() };
        let steps = Steps { rows: Some(1), time: None };
        let ids: Int64Array = [1, 2].into_iter().collect();
        let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap();
        let observer = Arc::new(Unobserved);
        let url = server.url();
        let mut writer = Writer::in_steps(batch.schema(), &url, &options, steps, observer).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let strings = "{\"count\": \"t\", \"query\": {\"id\": {\"$type\": \"string\"}}}";
        assert_eq!(server.number(strings), 2);
    });
}
