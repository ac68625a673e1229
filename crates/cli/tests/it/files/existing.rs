use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

use arrow_array::{BinaryArray, Int64Array, TimestampMicrosecondArray};

use super::loaded;
use crate::columns::{batch, column, parquet};
use crate::fixture::{Fixture, is_root, rows};

fn with_files() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("in.csv", "size,id\n2.5,2\n,3\n").write("out", "id,name,size\n1,\"a, b\",1.0");
    fixture
}

#[test]
fn rows_are_added_by_name_in_the_order_of_the_file() {
    let fixture = with_files();
    let run = fixture.refuses(&["in.csv", "csv:out"]);
    run.says(&["out holds rows already", "--if-exists append", "--if-exists replace"]);
    let before = fs::metadata(fixture.path("out")).unwrap().ino();
    let out = loaded(&fixture, &["in.csv", "csv:out", "--if-exists", "append"]);
    assert_eq!(out, "id,name,size\n1,\"a, b\",1.0\n2,,2.5\n3,,\n");
    // Another file: nobody could have seen half of it.
    assert_ne!(fs::metadata(fixture.path("out")).unwrap().ino(), before);
    assert_eq!(fixture.names(), ["in.csv", "out"]);
    // Without a header by position.
    fixture.write("in.csv", "7,x,y\n8,x,y\n");
    let args = ["in.csv", "csv:out", "--if-exists", "append", "--header", "no"];
    assert!(loaded(&fixture, &args).ends_with("3,,\n7,x,y\n8,x,y\n"));
}

#[test]
fn a_header_alone_is_an_empty_table() {
    let fixture = with_files();
    fixture.write("out", "\u{feff}id,size\r\n");
    assert_eq!(loaded(&fixture, &["in.csv", "csv:out"]), "\u{feff}id,size\r\n2,2.5\n3,\n");
    // An empty file is none.
    fixture.write("out", "");
    assert_eq!(loaded(&fixture, &["in.csv", "csv:out"]), "size,id\n2.5,2\n,3\n");
}

#[test]
fn truncate_keeps_the_columns_and_replace_does_not() {
    let fixture = with_files();
    let out = loaded(&fixture, &["in.csv", "csv:out", "--if-exists", "truncate"]);
    assert_eq!(out, "id,name,size\n2,,2.5\n3,,\n");
    let out = loaded(&fixture, &["in.csv", "csv:out", "--if-exists", "replace"]);
    assert_eq!(out, "size,id\n2.5,2\n,3\n");
    let run = fixture.refuses(&["in.csv", "csv:out", "--if-exists", "fail"]);
    run.says(&["out already exists"]);
    fixture.write("out", "");
    fixture.refuses(&["in.csv", "csv:out", "--if-exists", "fail"]).says(&["already exists"]);
    // What is replaced may be anything.
    fixture.write("out", b"\x89PNG\0\n\xff\n\"");
    let out = loaded(&fixture, &["in.csv", "csv:out", "--if-exists", "replace"]);
    assert_eq!(out, "size,id\n2.5,2\n,3\n");
}

#[test]
fn nul_bytes_in_values_are_read_back_and_added_to() {
    let fixture = Fixture::new();
    fixture.write("in.csv", [&b"id,b\n1,"[..], &[0; 40], b"\n"].concat());
    let bytes = ["--type", "b=bytes"];
    fixture
        .refuses(&[&["in.csv", "out.db"], &bytes[..]].concat())
        .says(&["does not look like text", "--encoding utf-8"]);
    let of_text = [&bytes[..], &["--encoding", "utf-8", "--if-exists", "append"]].concat();
    fixture.write("out", b"id,b\n0,\0\n");
    fixture.load(&[&["in.csv", "csv:out"], &of_text[..]].concat()).exits(0);
    let of_text = &of_text[..4];
    fixture.load(&[&["out", "out.db", "--table", "t"], of_text].concat()).exits(0);
    let found = fixture.query("out.db", "SELECT id, length(b), hex(b) FROM t ORDER BY id");
    assert_eq!(found, rows![[0, 1, "00"], [1, 40, "00".repeat(40)]]);
}

#[test]
fn a_header_of_other_columns_is_refused() {
    for (header, words) in [
        ("id,name\n1,a\n", &["no column size"][..]),
        ("x,y\n1,2\n", &["no columns size, id", "x, y"]),
        ("id;size\n1;2\n", &["no columns size, id", "separate fields by ';'", "csv:NEW.csv"]),
        ("id\tsize\n1\t2\n", &["no columns size, id", "separate fields by a tab"]),
        ("id,sizes\n1,2\n", &["no column size", "or load into another file"]),
        ("id,size,id\n1,2,3\n", &["names column 'id' twice"]),
        ("\"id,size\n", &["no header"]),
    ] {
        let fixture = with_files();
        fixture.write("out", header);
        let run = fixture
            .leaves_all(|| fixture.load(&["in.csv", "csv:out", "--if-exists", "append"]).exits(1));
        run.says(words);
    }
}

#[test]
fn json_rows_are_added_with_the_types_of_those_that_are_there() {
    let fixture = with_files();
    fixture.write("out", "{\"id\":1,\"size\":\"big\",\"ok\":true}\n\n{\"id\":2,\"size\":null}");
    let out = loaded(&fixture, &["in.csv", "jsonl:out", "--if-exists", "append"]);
    let (_, new) = out.split_once("null}\n").unwrap();
    assert_eq!(
        new,
        "{\"id\":2,\"size\":\"2.5\",\"ok\":null}\n{\"id\":3,\"size\":null,\"ok\":null}\n"
    );
    // A value that isn't of the type is a bad row.
    fixture.write("out", "{\"id\":1,\"size\":1}\n");
    let args = ["in.csv", "jsonl:out", "--if-exists", "append"];
    fixture.refuses(&args).says(&["line 2, column size: '2.5' is not an integer"]);
    // Arrays by position, and no mixture.
    fixture.write("out", "[1.5,1]\n[null,0]\n");
    assert_eq!(loaded(&fixture, &args), "[1.5,1]\n[null,0]\n[2.5,2]\n[null,3]\n");
    fixture
        .misused(&[&["load"], &args[..], &["--set", "rows=object"]].concat())
        .says(&["holds its rows as arrays"]);
    for other in ["1,2\n", "[1,2]\n{\"id\":1}\n", "{\"id\":1,\"id\":2}\n{\n"] {
        fixture.write("out", other);
        fixture.leaves_all(|| fixture.load(&args).exits(1).says(&["does not hold a row of JSON"]));
    }
}

/// NULL in every row says nothing of what other values are.
#[test]
fn a_column_that_was_only_null_takes_the_type_of_the_source() {
    let fixture = Fixture::new();
    for (old, new) in [
        ("{\"a\":1,\"b\":null,\"c\":null}\n", "{\"a\":2,\"b\":5,\"c\":{\"d\":[1]}}\n"),
        ("{\"a\":1,\"b\":null,\"c\":null}\n", "{\"a\":2,\"b\":false,\"c\":\"007\"}\n"),
        ("[1,null,null]\n", "[2,2.5,\"2024-02-29\"]\n"),
    ] {
        fixture.write("out", old).write("new.jsonl", new);
        let run = ["new.jsonl", "jsonl:out", "--if-exists", "append"];
        assert_eq!(loaded(&fixture, &run), [old, new].concat());
    }
}

/// To a file of text bytes and moments are texts, and only the source's types say how they are spelled there.
#[test]
fn bytes_and_moments_are_added_as_a_new_file_has_them() {
    let fixture = Fixture::new();
    let moments = || TimestampMicrosecondArray::from(vec![1_704_070_923_000_000, 500_000]);
    let rows = batch(vec![
        ("id", column(Int64Array::from(vec![1, 2]))),
        ("raw", column(BinaryArray::from_vec(vec![b"abcd", b"\xff,\n"]))),
        ("at", column(moments())),
        ("zoned", column(moments().with_timezone("UTC"))),
    ]);
    parquet(&fixture, "in.parquet", &rows, 10);
    for (target, header, setting) in [
        ("csv:out", "id,raw,at,zoned\n", &[][..]),
        ("jsonl:out", "", &[]),
        ("jsonl:out", "", &["--set", "rows=array"]),
    ] {
        let load = |more: &[&str]| {
            fixture.load(&[&["in.parquet", target], setting, more].concat()).exits(0);
            fixture.read("out")
        };
        let new = load(&["--if-exists", "replace"]);
        let rows = &new[header.len()..];
        let twice = load(&["--if-exists", "append"]);
        assert_eq!(twice, [&new, rows].concat(), "{}", String::from_utf8_lossy(&twice));
        let thrice = load(&["--if-exists", "append", "--verify", "checksum"]);
        assert_eq!(thrice, [&twice, rows].concat());
        assert_eq!(load(&["--if-exists", "truncate"]), new);
    }
    // What a source of text has there stays as it is written.
    fixture.write("out", "{\"at\":\"2024-01-01T01:02:03\"}\n");
    fixture.write("in.csv", "at\n2024-01-01 01:02:03\n");
    let out = loaded(&fixture, &["in.csv", "jsonl:out", "--if-exists", "append"]);
    assert!(out.ends_with("{\"at\":\"2024-01-01 01:02:03\"}\n"), "{out}");
}

/// What is not of the target's form is called by its name, and what is advised can be done.
#[test]
fn rows_are_added_to_no_file_of_another_form() {
    let fixture = with_files();
    let packed = fixture.tool("gzip", &["-c"], b"id,size\n1,2\n");
    let database = fixture.path("t.db");
    fixture.load(&["in.csv", "t.db"]).exits(0);
    let database = fs::read(database).unwrap();
    let convert = |words: &str| ["inrush load out ", words].concat();
    for (scheme, old, what, advice) in [
        ("csv", &packed[..], "out is compressed by gzip", convert("csv:NEW.csv")),
        ("jsonl", &packed[..], "out is compressed by gzip", convert("jsonl:NEW.jsonl")),
        ("csv", &database[..], "out is an SQLite database", String::new()),
        ("csv", b"id,\0\x1b[31m\n", "out is no text", String::new()),
        ("jsonl", b"[{\"id\":1,\"size\":2}]", "out holds one array of JSON", convert("jsonl:NEW")),
        ("jsonl", b"[\n {\"id\":1}\n]\n", "out holds one array of JSON", convert("jsonl:NEW")),
    ] {
        fixture.write("out", old);
        let target = format!("{scheme}:out");
        for if_exists in ["empty", "append", "truncate"] {
            let args = ["in.csv", &target, "--if-exists", if_exists];
            let run = fixture.leaves_all(|| fixture.load(&args).exits(1));
            assert!(!run.stderr.contains("append adds"), "{}", run.stderr);
            run.says(&[what, &advice, "--if-exists replace"]);
        }
        fixture.load(&["in.csv", &target, "--if-exists", "replace"]).exits(0);
    }
    // The advice: a file of its own, to which rows can be added.
    fixture.write("out", "[\n {\"id\":1,\"size\":2.5}\n]\n");
    fixture.load(&["out", "jsonl:new.jsonl"]).exits(0);
    fixture.load(&["in.csv", "jsonl:new.jsonl", "--if-exists", "append"]).exits(0);
    // One that separates fields otherwise holds rows, and none can be added.
    fixture.write("out", "id;size\n1;2\n");
    let run = fixture.refuses(&["in.csv", "csv:out"]);
    assert!(!run.stderr.contains("append adds"), "{}", run.stderr);
    run.says(&["out holds rows already", "separate fields by ';'"]);
    fixture.load(&["out", "csv:new.csv"]).exits(0);
    fixture.load(&["in.csv", "csv:new.csv", "--if-exists", "append"]).exits(0);
}

/// What can't be read would take the new rows with it: an open quote swallows them, and text of two encodings is text of none.
#[test]
fn rows_are_added_only_to_what_can_be_read() {
    let fixture = with_files();
    fixture.write("in.csv", "id,size\n2,\"x\"\"\ny\"\n3,\u{e9}\n");
    let far: String = (0..50_000).map(|n| format!("{n},\"x\ny\"\n")).collect();
    for (old, words) in [
        (&b"id,size\n1,\"open\n"[..], "out: line 2 has a quote that is not closed"),
        (b"id,size\n1,\"a\"b\n4,5\n", "out: line 2 has a quote"),
        (b"id,size\n1,\"\nn\xe9\"\n", "out: line 2 is not UTF-8 in column 2"),
        (b"id,size\n1,x\n2,caf\xe9\n", "out: line 3 is not UTF-8 in column 2"),
        (b"id,size,n\xe9\n1,x,2\n", "out: line 1 is not UTF-8 in column 3"),
        (&[b"id,size\n", far.as_bytes(), b"1,\xe9\n"].concat(), "out: line 100002 is not UTF-8"),
    ] {
        for verify in ["count", "none"] {
            fixture.write("out", old);
            let load = ["in.csv", "csv:out", "--if-exists", "append", "--verify", verify];
            let run = fixture.leaves_all(|| fixture.load(&load).exits(1));
            run.says(&[words, "--if-exists replace"]);
        }
    }
    fixture.write("out", b"id,size\n1,caf\xe9\n");
    let load = ["in.csv", "csv:out", "--if-exists", "append", "--type", "size=bytes"];
    fixture.load(&load).exits(0);
    assert_eq!(fixture.read("out"), b"id,size\n1,caf\xe9\n2,\"x\"\"\ny\"\n3,\xc3\xa9\n");
    for (old, words) in [
        (
            &b"{\"id\":1,\"size\":\"x\"}\n{\"id\":2,\"size\":\"\xe9\"}\n"[..],
            "out does not hold a row of JSON",
        ),
        (
            &[&b"{\"id\":1,\"size\":\"x\"}\n".repeat(20_000)[..], b"{\"id\":"].concat(),
            "out: line 20001 does not hold",
        ),
    ] {
        fixture.write("out", old);
        let load = ["in.csv", "jsonl:out", "--if-exists", "append"];
        fixture.leaves_all(|| fixture.load(&load).exits(1)).says(&[words]);
    }
}

#[test]
fn blanks_at_the_end_of_a_name_are_part_of_it() {
    let fixture = Fixture::new();
    fixture.write("in.jsonl", "{\" a\":1,\"b \":2,\"c\":3}\n");
    let out = loaded(&fixture, &["in.jsonl", "csv:out"]);
    assert_eq!(out, "\" a\",\"b \",c\n1,2,3\n");
    // The same columns, whichever way they go.
    let out = loaded(&fixture, &["in.jsonl", "csv:out", "--if-exists", "append"]);
    assert_eq!(out, "\" a\",\"b \",c\n1,2,3\n1,2,3\n");
    fixture.write("back.csv", out);
    fixture.load(&["back.csv", "jsonl:back.jsonl"]).exits(0);
    let row = "{\" a\":1,\"b \":2,\"c\":3}\n";
    assert_eq!(String::from_utf8(fixture.read("back.jsonl")).unwrap(), row.repeat(2));
    // Without quotes they are not.
    fixture.write("bare.csv", " a, b ,c\n1,2,3\n");
    fixture.load(&["bare.csv", "jsonl:bare.jsonl"]).exits(0);
    assert_eq!(fixture.read("bare.jsonl"), b"{\"a\":1,\"b\":2,\"c\":3}\n");
}

#[test]
fn permissions_and_links_stay() {
    let fixture = with_files();
    fs::create_dir(fixture.path("data")).unwrap();
    fs::rename(fixture.path("out"), fixture.path("data/real")).unwrap();
    symlink("data/real", fixture.path("out")).unwrap();
    for how in ["append", "truncate", "replace"] {
        if is_root() {
            chown(fixture.path("data/real"), Some(65_534), Some(65_533)).unwrap();
        }
        // A new owner or group would take the first bit away.
        fs::set_permissions(fixture.path("data/real"), Permissions::from_mode(0o2750)).unwrap();
        loaded(&fixture, &["in.csv", "csv:out", "--if-exists", how]);
        assert!(fs::symlink_metadata(fixture.path("out")).unwrap().is_symlink());
        let real = fs::metadata(fixture.path("data/real")).unwrap();
        assert_eq!(real.permissions().mode() & 0o7777, 0o2750, "{how}");
        assert!(!is_root() || (real.uid(), real.gid()) == (65_534, 65_533), "{how}");
        assert_eq!(fs::read_dir(fixture.path("data")).unwrap().count(), 1);
    }
    // A link to nothing yet.
    symlink("data/new", fixture.path("later")).unwrap();
    fixture.load(&["in.csv", "csv:later"]).exits(0);
    assert_eq!(fs::read(fixture.path("data/new")).unwrap(), b"size,id\n2.5,2\n,3\n");
}
