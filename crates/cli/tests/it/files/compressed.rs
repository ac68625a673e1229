use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use crate::archives::gzip;
use crate::fixture::Fixture;

/// The text of a file, by gzip's own format or by what inrush reads.
fn text(fixture: &Fixture, name: &str) -> String {
    let mut text = String::new();
    if name.ends_with(".gz") {
        MultiGzDecoder::new(&fixture.read(name)[..]).read_to_string(&mut text).unwrap();
    } else {
        fixture.load(&[name, "csv:text", "--if-exists", "replace"]).exits(0);
        text = String::from_utf8(fixture.read("text")).unwrap();
    }
    text
}

fn rows(from: u32, to: u32) -> String {
    (from..to).map(|id| format!("{id},name {id}\n")).collect()
}

#[test]
fn a_file_is_compressed_as_its_name_says() {
    let fixture = Fixture::new();
    let source = format!("id,name\n{}", rows(0, 20_000));
    fixture.write("in.csv", &source);
    for name in ["out.csv.gz", "out.csv.zst"] {
        let target = format!("csv:{name}");
        for verify in ["count", "checksum"] {
            // Several chunks, each of them a member or frame of its own.
            let pieces = ["--chunk-size", "32k", "--if-exists", "replace", "--verify", verify];
            fixture.load(&[&["in.csv", &target], &pieces[..]].concat()).exits(0);
            assert!(fixture.read(name).len() < source.len() / 2, "{name}");
            assert_eq!(text(&fixture, name), source, "{name}");
        }
    }
    fixture.load(&["in.csv", "jsonl:out.jsonl.gz", "--verify", "checksum"]).exits(0);
    let lines = text(&fixture, "out.jsonl.gz");
    assert!(lines.starts_with("{\"id\":0,\"name\":\"name 0\"}\n"));
    assert_eq!(lines.lines().count(), 20_000);
}

#[test]
fn rows_are_added_to_a_compressed_file() {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,name\n{}", rows(2, 4)));
    // Of another program, whose last line has no end.
    fixture.write("out.csv.gz", gzip(b"name,id\nname 1,1"));
    let add = |verify| {
        let args = ["in.csv", "csv:out.csv.gz", "--if-exists", "append", "--verify", verify];
        fixture.load(&args).exits(0);
    };
    add("count");
    assert_eq!(text(&fixture, "out.csv.gz"), "name,id\nname 1,1\nname 2,2\nname 3,3\n");
    add("checksum");
    assert_eq!(text(&fixture, "out.csv.gz").lines().count(), 6);
    fixture.load(&["in.csv", "csv:out.csv.gz", "--if-exists", "truncate"]).exits(0);
    assert_eq!(text(&fixture, "out.csv.gz"), "name,id\nname 2,2\nname 3,3\n");
    // One that holds no text is an empty file.
    fixture.write("none.csv.gz", gzip(b""));
    fixture.load(&["in.csv", "csv:none.csv.gz"]).exits(0);
    assert_eq!(text(&fixture, "none.csv.gz").lines().count(), 3);
    fixture.write("blank.jsonl", "\n");
    fixture.load(&["in.csv", "jsonl:blank.jsonl"]).exits(0);
}

/// Without a member, or a frame, it is no compressed file.
#[test]
fn a_file_without_rows_is_compressed_all_the_same() {
    let fixture = Fixture::new();
    fixture.write("none.csv", "id\n").write("in.csv", "id\n7\n");
    for name in ["out.jsonl.gz", "out.jsonl.zst"] {
        let target = format!("jsonl:{name}");
        for source in ["none.csv", "in.csv"] {
            fixture.load(&[source, &target]).exits(0);
        }
        fixture.load(&[name, "csv:back.csv", "--if-exists", "replace"]).exits(0);
        assert_eq!(fixture.read("back.csv"), b"id\n7\n", "{name}");
    }
    assert_eq!(text(&fixture, "out.jsonl.gz"), "{\"id\":7}\n");
}

#[test]
fn a_compressed_file_that_is_not_what_its_name_says_takes_no_rows() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    let whole = gzip(b"id\n7\n8\n9\n");
    for (bytes, words) in [
        (b"id\n7\n".to_vec(), "is not compressed by gzip"),
        (whole[..whole.len() - 6].to_vec(), "cannot read"),
        (gzip(&whole), "is compressed by gzip: no rows can be added"),
        ([&whole[..], b"rest"].concat(), "cannot read"),
    ] {
        fixture.write("out.csv.gz", bytes);
        let run = fixture.leaves_all(|| {
            fixture.load(&["in.csv", "csv:out.csv.gz", "--if-exists", "append"]).exits(1)
        });
        run.says(&["out.csv.gz", words]);
    }
    fixture.load(&["in.csv", "csv:out.csv.gz", "--if-exists", "replace"]).exits(0);
    assert_eq!(text(&fixture, "out.csv.gz"), "id\n1\n");
    let flushed = ["load", "in.csv", "csv:new.csv.gz", "--set", "rows_per_flush=10"];
    fixture.misused(&flushed).says(&["rows_per_flush is of text"]);
}
