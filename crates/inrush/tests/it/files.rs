use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use inrush::plan::{DialectRequest, Durability, IfExists, Inference, LoadOptions, Request, Verify};
use inrush::target::{Console, find};
use inrush::{Kind, Unobserved, plan, run};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::database::{open, query};

/// How many cases, unless PROPTEST_CASES says otherwise.
const CASES: u32 = 60;

type Row = Vec<Option<String>>;

/// Tables of one to four columns, full of what quoting is for.
fn tables() -> impl Strategy<Value = Vec<Row>> {
    let text = prop_oneof![
        "[,\"\n\r\t;'\\\\ a0\u{e9}\u{1f600}\u{feff}\u{1}]{0,6}",
        "[ -~]{0,12}",
        "-?[0-9]{1,20}(\\.[0-9]{1,3})?",
        Just(String::new()),
    ];
    (1..5usize).prop_flat_map(move |width| {
        let row = prop::collection::vec(prop::option::weighted(0.8, text.clone()), width);
        prop::collection::vec(row, 0..60)
    })
}

/// The table with quotes around all values, needed or not.
fn quoted(rows: &[Row], width: usize) -> String {
    let header: Vec<String> = (0..width).map(|column| format!("c{column}")).collect();
    let mut out = header.join(",") + "\n";
    for row in rows {
        let value = |value: &Option<String>| match value {
            None => String::new(),
            Some(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        };
        out += &(row.iter().map(value).collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

/// Loads with a dialect that is told, so that nothing depends on what the values look like.
fn load(dir: &Path, source: &str, target: &str, change: impl Fn(&mut Request)) {
    let (scheme, name) = target.split_once(':').unwrap_or(("sqlite", target));
    let mut request = Request {
        sources: vec![dir.join(source).display().to_string()],
        target: format!("{scheme}:{}", dir.join(name).display()),
        options: LoadOptions {
            table: Some("t".to_owned()),
            durability: Durability::None,
            verify: Verify::Checksum,
            inference: Inference::Text,
            if_exists: IfExists::Replace,
            chunk_bytes: Some(1 << 10),
            ..LoadOptions::default()
        },
        dialect: DialectRequest {
            delimiter: Some(b','),
            quote: Some(Some(b'"')),
            escape: Some(None),
            header: Some(true),
            ..DialectRequest::default()
        },
        ..Request::default()
    };
    change(&mut request);
    run(&plan(&request, &Unobserved).unwrap(), &Unobserved).unwrap();
}

#[test]
fn tables_come_back_from_files_as_they_were() {
    let config = Config { failure_persistence: None, ..Config::with_cases(CASES) };
    let config = match std::env::var("PROPTEST_CASES") {
        Ok(_) => Config { failure_persistence: None, ..Config::default() },
        Err(_) => config,
    };
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    TestRunner::new(config)
        .run(&tables(), |rows| {
            let width = rows.first().map_or(2, Vec::len);
            fs::write(dir.join("in.csv"), quoted(&rows, width)).unwrap();
            check_csv(dir);
            check_jsonl(dir, &rows);
            Ok(())
        })
        .unwrap();
}

fn check_csv(dir: &Path) {
    load(dir, "in.csv", "csv:out.csv", |_| {});
    load(dir, "out.csv", "csv:again.csv", |_| {});
    let out = fs::read(dir.join("out.csv")).unwrap();
    assert_eq!(out, fs::read(dir.join("again.csv")).unwrap());
    // Straight into a database, or by way of the file.
    load(dir, "in.csv", "straight.db", |_| {});
    load(dir, "out.csv", "around.db", |_| {});
    let table = |name| query(&open(&dir.join(name)), "SELECT * FROM t ORDER BY rowid");
    assert_eq!(table("straight.db"), table("around.db"));
    // Added row by row, it is the same file except for what was there.
    load(dir, "in.csv", "csv:again.csv", |request| request.if_exists = IfExists::Append);
    let twice = fs::read(dir.join("again.csv")).unwrap();
    let body = out.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(twice, [out.as_slice(), &out[body..]].concat());
}

fn check_jsonl(dir: &Path, rows: &[Row]) {
    let expected = |row: &Row| {
        let values = row.iter().enumerate();
        values.map(|(column, value)| (format!("c{column}"), value.clone().into())).collect()
    };
    let wanted: Vec<serde_json::Map<String, serde_json::Value>> =
        rows.iter().map(expected).collect();
    load(dir, "in.csv", "jsonl:out.jsonl", |_| {});
    let out = fs::read_to_string(dir.join("out.jsonl")).unwrap();
    let read: Vec<serde_json::Map<String, serde_json::Value>> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, wanted);
    // With the types that the values have, numbers are the same text.
    load(dir, "in.csv", "jsonl:typed.jsonl", |request| request.inference = Inference::Infer);
    let typed = fs::read_to_string(dir.join("typed.jsonl")).unwrap();
    assert_eq!(typed.lines().count(), rows.len());
}

/// A console on a file of the test's own.
fn console(path: &Path, scheme: &str) -> Box<dyn Console> {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let (target, location) = find(&format!("{scheme}:{}", path.display())).unwrap();
    target.console(&location, &GO_ON).unwrap()
}

#[test]
fn a_console_sums_a_column_and_adds_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    for (scheme, before, after) in [
        (
            "csv",
            "\u{feff}id,\"two words\",t\r\n1,-5,\"a,\nb\"\r\n2,,\n3,\"7\",\"\"\n",
            "\u{feff}id,\"two words\",t\r\n1,5,\"a,\nb\"\r\n2,,\n3,\"17\",\"\"\n",
        ),
        (
            "jsonl",
            "{\"id\":1,\"two words\": -5,\"t\":\"a,\\nb\"}\n{\"id\":2,\"two words\":null}\n\n{\"two words\":7}",
            "{\"id\":1,\"two words\": 5,\"t\":\"a,\\nb\"}\n{\"id\":2,\"two words\":null}\n\n{\"two words\":17}",
        ),
    ] {
        fs::write(&path, before).unwrap();
        let mut it = console(&path, scheme);
        assert_eq!(it.value("SUM two words").unwrap().as_deref(), Some("2"), "{scheme}");
        assert_eq!(it.execute("add 10 to two words").unwrap(), 3);
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
        assert_eq!(it.value("size").unwrap(), Some(after.len().to_string()));
        let mut rows = Vec::new();
        let count = it.query("ROWS", &mut |row| rows.push(row.len())).unwrap();
        assert_eq!((count, rows), (3, if scheme == "csv" { vec![3, 3, 3] } else { vec![3, 2, 1] }));
        // What fails changes nothing.
        for (wrong, words) in [
            ("ADD 9223372036854775807 TO two words", "out of range"),
            ("ADD 1 TO t", "is no integer"),
            ("SUM words", "there is no column words"),
            ("SELECT 1", "no statement for a file"),
        ] {
            let error = it.execute(wrong).unwrap_err();
            assert!(error.what().contains(words), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(it.settings().unwrap().is_empty());
        it.execute("DROP").unwrap();
        assert!(it.value("SUM id").unwrap_err().what().starts_with("the file can't be used"));
    }
    // Arrays have their columns by number, and values of a chunk's end are changed as well.
    let rows: String = (0..100_000).map(|n| format!("[{n},{}]\n", 2 * n)).collect();
    fs::write(&path, rows).unwrap();
    let mut it = console(&path, "jsonl");
    assert_eq!(it.value("SUM column_2").unwrap().as_deref(), Some("9999900000"));
    assert_eq!(it.execute("ADD 1 TO column_2").unwrap(), 100_000);
    assert_eq!(it.value("SUM column_2").unwrap().as_deref(), Some("10000000000"));
    assert_eq!(it.engine().unwrap(), "JSON Lines file");
}

#[cfg(feature = "parquet")]
#[test]
fn a_console_reads_a_parquet_file_and_changes_none() {
    let dir = tempfile::tempdir().unwrap();
    let text = "id,t,at,x\n1,\"a,\nb\",2024-01-01 00:00:00.5+02:00,1.50\n9223372036854775807,,,\n";
    fs::write(dir.path().join("in.csv"), text).unwrap();
    load(dir.path(), "in.csv", "parquet:t", |request| request.inference = Inference::Infer);
    let path = dir.path().join("t");
    let mut it = console(&path, "parquet");
    assert_eq!(it.value("SUM id").unwrap().as_deref(), Some("9223372036854775808"));
    let mut rows = Vec::new();
    let text =
        |value: &Option<&[u8]>| value.map(|value| String::from_utf8(value.to_vec()).unwrap());
    it.query("ROWS", &mut |row| rows.push(row.iter().map(text).collect::<Vec<_>>())).unwrap();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [
            vec![some("1"), some("a,\nb"), some("2023-12-31 22:00:00.5+00:00"), some("1.5")],
            vec![some("9223372036854775807"), None, None, None],
        ]
    );
    for (wrong, words) in [
        ("ADD 1 TO id", "changed in their place"),
        ("SUM t", "no column of integers"),
        ("SUM none", "there is no column none"),
    ] {
        let error = it.execute(wrong).unwrap_err();
        assert!(error.what().contains(words), "{error}");
    }
    let size = fs::metadata(&path).unwrap().len().to_string();
    assert_eq!(it.value("SIZE").unwrap(), Some(size));
    assert_eq!(it.engine().unwrap(), "Parquet file");
    it.execute("DROP").unwrap();
    assert!(!path.exists());
}

#[test]
fn a_console_stops_when_it_shall() {
    static STOP: AtomicBool = AtomicBool::new(true);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    fs::write(&path, "id\n1\n").unwrap();
    let (target, location) = find(&format!("csv:{}", path.display())).unwrap();
    let mut console = target.console(&location, &STOP).unwrap();
    assert_eq!(console.execute("ADD 1 TO id").unwrap_err().kind(), Kind::Interrupted);
    assert_eq!(fs::read(&path).unwrap(), b"id\n1\n");
}
