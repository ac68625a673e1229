//! Whatever bytes a file holds, a plan comes of it or an error that says why; and a load does what its plan says.

use std::fs;

use inrush::plan::{Durability, IfExists, LoadOptions, RejectLimit, Request};
use inrush::{Unobserved, plan, run};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const CASES: u32 = 200;

/// Bytes, text of what has a meaning somewhere, and the starts of things that are no tables.
fn files() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    let text = "(sep=|---|<html>|\\[\\[|\\{\"a\":)?[a-c0-9,;|\t\"'\\\\\r\n:<>{}\\[\\]# -]{0,120}";
    prop_oneof![
        1 => bytes,
        3 => text.prop_map(String::into_bytes),
        1 => text.prop_map(|text| text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        1 => text.prop_map(|text| text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect()),
    ]
}

#[test]
fn any_file_is_planned_or_refused() {
    let config = match std::env::var("PROPTEST_CASES") {
        Ok(_) => Config { failure_persistence: None, ..Config::default() },
        Err(_) => Config { failure_persistence: None, ..Config::with_cases(CASES) },
    };
    let dir = tempfile::tempdir().unwrap();
    let names = prop::sample::select(vec!["in.csv", "in.tsv", "in.json", "in.jsonl", "in"]);
    TestRunner::new(config)
        .run(&(files(), names), |(bytes, name)| {
            let path = dir.path().join(name);
            fs::write(&path, &bytes).unwrap();
            let request = Request {
                sources: vec![path.display().to_string()],
                target: format!("sqlite:{}", dir.path().join("t.db").display()),
                options: LoadOptions {
                    table: Some("t".to_owned()),
                    if_exists: IfExists::Replace,
                    durability: Durability::None,
                    max_rejects: RejectLimit::Rows(1_000),
                    ..LoadOptions::default()
                },
                ..Request::default()
            };
            let error = match plan(&request, &Unobserved) {
                Err(error) => Some(error),
                Ok(plan) => run(&plan, &Unobserved).err(),
            };
            if let Some(error) = error {
                prop_assert!(!error.what().is_empty());
            }
            Ok(())
        })
        .unwrap();
}
