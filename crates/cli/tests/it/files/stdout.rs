//! Rows to standard output.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, Time64MicrosecondArray, Time64NanosecondArray};

use crate::columns::{batch, column, parquet};
use crate::fixture::{Fixture, INRUSH, json_lines};

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,a\n2,\"b, c\"\n3,\n");
    fixture
}

#[test]
fn rows_are_on_standard_output_and_all_else_on_standard_error() {
    let fixture = fixture();
    let run =
        fixture.load(&["in.csv", "csv:-"]).exits(0).says(&["3 rows written to standard output"]);
    assert_eq!(run.stdout, "id,name\n1,a\n2,\"b, c\"\n3,\n");
    let run = fixture.load(&["in.csv", "jsonl:-", "--json"]).exits(0);
    let rows = json_lines(run.stdout.as_bytes());
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1]["name"], "b, c");
    let report = json_lines(run.stderr.as_bytes()).pop().unwrap();
    assert_eq!(report["rows_loaded"], 3);
    assert_eq!(report["plan"]["target"], "standard output");
    assert_eq!(report["plan"]["guarantee"], "none");
    // From a pipe to a pipe; quiet is quiet.
    let run = fixture.load_reading(b"id\n7\n", &["-", "csv:-", "--quiet"]).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("id\n7\n", ""));
    // A table without rows has a header.
    let run = fixture.load_reading(b"id,name\n", &["-", "csv:-"]).exits(0);
    assert_eq!(run.stdout, "id,name\n");
    // A file of this name is another thing.
    fixture.load(&["in.csv", "csv:./-"]).exits(0);
    assert_eq!(fixture.read("-"), b"id,name\n1,a\n2,\"b, c\"\n3,\n");
}

#[test]
fn an_arrow_stream_holds_the_rows_in_their_types() {
    let fixture = fixture();
    let mut command = Command::new(INRUSH);
    command.args(["load", "in.csv", "arrow:-", "--quiet"]).current_dir(fixture.dir());
    let out = command.output().unwrap();
    assert!(out.status.success());
    let reader = arrow_ipc::reader::StreamReader::try_new(out.stdout.as_slice(), None).unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    let ids: Vec<i64> = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    assert_eq!(batches[0].column(1).as_string::<i32>().value(1), "b, c");
    // What it writes it reads.
    fixture.write("out.arrows", &out.stdout);
    let run = fixture.load(&["out.arrows", "csv:-"]).exits(0);
    assert_eq!(run.stdout, "id,name\n1,a\n2,\"b, c\"\n3,\n");
}

#[test]
fn rows_before_a_bad_one_are_out_and_that_is_planned_and_said() {
    let fixture = Fixture::new();
    let rows = |bad: &str| {
        let rows: String = (1..=20_000).map(|id| format!("{id},n\n")).collect();
        format!("id,name\n{rows}{bad}")
    };
    fixture.write("in.csv", rows("x,n,n\n"));
    let plan = fixture.inrush(&["plan", "in.csv", "csv:-"]).exits(0);
    plan.prints(&["those before a bad row are out when it is found", "written as they come"]);
    let args = ["in.csv", "csv:-", "--chunk-size", "1k", "--json"];
    let run = fixture
        .load(&args)
        .exits(1)
        .says(&["in.csv: line 20002", "rows were written to standard output before"]);
    assert!(run.stdout.starts_with("id,name\n1,n\n") && !run.stdout.contains('x'));
    let failure = run.stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let failure: serde_json::Value = serde_json::from_str(failure).unwrap();
    assert_eq!(failure["error"]["aftermath"], "written");
    let out = run.stdout.lines().count() as u64 - 1;
    assert_eq!(failure["error"]["rows_committed"], out);
    let run = fixture.load(&[&args[..], &["--max-rejects", "1"]].concat()).exits(3);
    assert_eq!(run.stdout.lines().count(), 20_001);
    assert_eq!(fixture.read("in.rejects.csv"), b"id,name\nx,n,n\n");
    // A guess that a late value disproves is found out before the first row is written.
    fixture.write("late.csv", rows("x,n\n"));
    let run = fixture.load(&["late.csv", "jsonl:-", "--chunk-size", "1k"]).exits(0);
    assert_eq!(json_lines(run.stdout.as_bytes()).len(), 20_001);
    // A failure before the first row leaves nothing.
    fixture.write("first.csv", "id\nx,y\n");
    let run = fixture.load(&["first.csv", "csv:-", "--header", "yes"]).exits(1);
    assert_eq!(run.ends_with_nothing_changed().stdout, "");
}

/// Nothing is written unasked beside the source, and no row behind the one that ends the load.
#[test]
fn a_bad_row_leaves_no_file_and_no_later_row_comes_out() {
    let fixture = Fixture::new();
    let rows: String = (3..=20_000).map(|id| format!("{id},2024-01-01\n")).collect();
    fixture.write("in.csv", format!("id,d\n1,2024-01-01\n2,xx\n{rows}"));
    for (target, out) in
        [("csv:-", "id,d\n1,2024-01-01\n"), ("jsonl:-", "{\"id\":1,\"d\":\"2024-01-01\"}\n")]
    {
        let args = ["in.csv", target, "--type", "d=date", "--chunk-size", "1k"];
        let run = fixture.leaves_all(|| fixture.load(&args).exits(1));
        assert_eq!(run.stdout, out);
        let run = run.says(&["line 3, column d: 'xx'", "1 row was written"]);
        assert!(!run.stderr.contains("rejects.csv"), "{}", run.stderr);
        // A file that is asked for is written: what is out has lost that row.
        fixture.load(&[&args[..], &["--rejects", "bad.csv"]].concat()).exits(1);
        assert_eq!(fixture.read("bad.csv"), b"id,d\n2,xx\n");
        for name in ["bad.csv", "bad.csv.jsonl"] {
            std::fs::remove_file(fixture.path(name)).unwrap();
        }
    }
    // A guess that a late value of a pipe disproves is found on the way.
    let rows: String = (1..=300_000).map(|id| format!("{id}\n")).collect();
    let input = format!("id\n{rows}x\n1\n2\n");
    let run = fixture.load_reading(input.as_bytes(), &["-", "jsonl:-"]).exits(1);
    let lines = run.stdout.lines();
    assert_eq!((lines.clone().count(), lines.last()), (300_000, Some("{\"id\":300000}")));
}

/// Which times of day a column takes its target alone knows.
#[test]
fn times_of_day_that_a_stream_has_no_type_for_are_text_from_the_first_row_on() {
    let micros = Time64MicrosecondArray::from(vec![1, 2, 86_400_000_000, 5]);
    let nanos = Time64NanosecondArray::from(vec![1_000, 2_000, 3_001, 5_000]);
    for (times, last) in [
        (column(micros), ["00:00:00.000001", "00:00:00.000002", "24:00:00", "00:00:00.000005"]),
        (
            column(nanos),
            ["00:00:00.000001", "00:00:00.000002", "00:00:00.000003001", "00:00:00.000005"],
        ),
    ] {
        let fixture = Fixture::new();
        let ids = column(Int64Array::from(vec![1, 2, 3, 4]));
        parquet(&fixture, "t.parquet", &batch(vec![("id", ids), ("t", times)]), 2);
        let mut command = Command::new(INRUSH);
        command.args(["load", "t.parquet", "arrow:-"]).current_dir(fixture.dir());
        let out = command.output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.success(), "{said}");
        for words in [
            "t.parquet: row 3 (row 1 of group 1), column t: '",
            "column t as text (--type t=time makes such rows bad rows)",
        ] {
            assert!(said.contains(words), "{said}");
        }
        let reader = arrow_ipc::reader::StreamReader::try_new(out.stdout.as_slice(), None).unwrap();
        let texts: Vec<String> = reader
            .flat_map(|batch| {
                let texts = batch.unwrap().column(1).as_string::<i32>().clone();
                texts.iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(texts, last);
    }
}

#[test]
fn documents_of_an_arrow_stream_say_that_they_are_some() {
    let fixture = Fixture::new();
    let row = r#"{"id":1,"j":{"a":[1.50]},"t":"x"}"#;
    fixture.write("in.jsonl", format!("{row}\n"));
    let stream = fixture.tool(INRUSH, &["load", "in.jsonl", "arrow:-", "--quiet"], b"");
    let reader = arrow_ipc::reader::StreamReader::try_new(stream.as_slice(), None).unwrap();
    let schema = reader.schema();
    assert!(schema.field(1).extension_type_metadata() == Some(""), "{schema:?}");
    assert_eq!(schema.field(1).extension_type_name(), Some("arrow.json"));
    let marked = schema.fields().iter().filter(|field| field.extension_type_name().is_some());
    assert_eq!(marked.count(), 1);
    assert_eq!(fixture.load_reading(&stream, &["-", "jsonl:-"]).stdout, format!("{row}\n"));
    let report = fixture.load_reading(&stream, &["-", "t.db", "--json"]).exits(0).json();
    assert_eq!(report["plan"]["columns"][1]["type"], "json");
}

#[test]
fn a_reader_that_has_enough_is_no_failure_and_a_full_device_is_one() {
    let fixture = Fixture::new();
    let rows: String = (1..=2_000).map(|id| format!("{id},{id:0>1000}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    for target in ["csv:-", "jsonl:-", "arrow:-"] {
        let mut command = Command::new(INRUSH);
        command.args(["load", "in.csv", target]).current_dir(fixture.dir());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut head = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut head).unwrap();
        let out = child.wait_with_output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(0), "{target}: {said}");
        assert!(said.contains("note: whoever reads standard output has closed it"), "{said}");
        assert!(!said.contains("error"), "{said}");
        // Of text every line that is out counts, and not whole chunks alone.
        if target != "arrow:-" {
            assert!(!said.contains("\n0 rows"), "{target}: {said}");
        }
        // All of it is there when it fails.
        let mut command = Command::new(INRUSH);
        command.args(["load", "in.csv", target]).current_dir(fixture.dir());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let out = command.stdout(full).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(1), "{target}: {said}");
        assert!(said.contains("standard output: the disk is full"), "{said}");
    }
}

/// Rust opens `/dev/null` in the place of a stream that is closed.
#[test]
fn rows_for_a_closed_standard_output_are_no_rows_written() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let run = |command: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", command, INRUSH]).current_dir(fixture.dir());
        let out = shell.output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    for target in ["csv:-", "jsonl:-", "arrow:-"] {
        let (code, said) = run(&format!("exec \"$0\" load in.csv {target} >&-"));
        assert_eq!(code, Some(1), "{target}: {said}");
        assert!(said.contains("cannot write to standard output: it is closed"), "{said}");
        let (code, said) = run(&format!("exec \"$0\" load in.csv {target} <>/dev/null >&0"));
        assert_eq!(code, Some(0), "{target}: {said}");
    }
    // A report that is not wanted is a different matter.
    let (code, said) = run("exec \"$0\" load in.csv t.db >&-");
    assert_eq!(code, Some(0), "{said}");
}

/// Node and ssh leave such pipes to what they start.
#[test]
fn standard_input_and_output_that_do_not_block_are_waited_for() {
    let fixture = Fixture::new();
    let streams = || {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        (ours, Stdio::from(OwnedFd::from(theirs)))
    };
    let (mut input, stdin) = streams();
    let (mut output, stdout) = streams();
    let mut load = fixture.command(&["load", "-", "jsonl:-", "--header", "yes"]);
    let mut child = load.stdin(stdin).stdout(stdout).spawn().unwrap();
    drop(load);
    let rows = 100_000;
    let feed = std::thread::spawn(move || {
        input.write_all(b"id\n").unwrap();
        for row in 0..rows {
            if row == 1000 {
                std::thread::sleep(std::time::Duration::from_millis(300));
            }
            input.write_all(format!("{row}\n").as_bytes()).unwrap();
        }
    });
    std::thread::sleep(std::time::Duration::from_millis(600));
    let mut out = String::new();
    output.read_to_string(&mut out).unwrap();
    feed.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(out.lines().count(), rows);
    assert!(out.lines().enumerate().all(|(row, line)| line == format!("{{\"id\":{row}}}")));
}
