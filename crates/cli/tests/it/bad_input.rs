//! Input that no load can go well with: each time a message that says what, where and why, and nothing
//! changed. `Fixture::refuses` compares every file of the directory, so whatever is left behind shows.

use std::fs;

use crate::fixture::{Fixture, INRUSH, Outcome, rows, strategies};

/// A database with a table `old` of two rows.
pub(crate) fn with_database() -> Fixture {
    let fixture = Fixture::new();
    fixture.sql("shop.db", "CREATE TABLE old (id INTEGER, name TEXT)");
    fixture.sql("shop.db", "INSERT INTO old VALUES (1, 'one'), (2, 'two')");
    fixture
}

/// The file is refused with these words, as a new database and as a new table in an existing one.
#[track_caller]
fn refused(fixture: &Fixture, file: &str, options: &[&str], words: &[&str]) -> Outcome {
    let load = |target: &str| fixture.refuses(&[&[file, target][..], options].concat());
    load("new.db").says(words);
    load("shop.db").says(words)
}

#[test]
fn a_row_with_too_few_fields() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name,size\n1,a,2\n2,b\n3,c,4\n4,d,5\n");
    refused(&fixture, "in.csv", &[], &["in.csv: line 3", "2 fields where 3 are expected", "'2,b'"]);
}

#[test]
fn a_row_with_too_many_fields() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n1,a\n2,b,c\n3,d\n4,e\n");
    refused(&fixture, "in.csv", &[], &["in.csv: line 3", "3 fields where 2 are expected", "2,b,c"]);
    // In one or in all of the rows: no column lacks a name then.
    for rows in ["1,a\n2,b\\,c\n", "1,a\\,b\n2,b\\,c\n"] {
        fixture.write("in.csv", format!("id,name\n{rows}"));
        let run = refused(&fixture, "in.csv", &[], &["3 fields", "say --escape '\\'"]);
        assert!(!run.stderr.contains("has names"), "{run:?}");
        fixture.load(&["in.csv", "t.db", "--escape", "\\", "--if-exists", "replace"]).exits(0);
        assert_eq!(fixture.table("t.db", "in")[1..], rows![[2, "b,c"]]);
    }
}

/// No row is at fault then, and no row can be fixed.
#[test]
fn rows_that_all_have_one_field_more_than_the_header() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n1,a,\n2,b,\n");
    let words = ["in.csv: line 2", "all rows have one field more", "rows end in a delimiter"];
    refused(&fixture, "in.csv", &[], &words);
    fixture.write("in.csv", "name,v\n1,a,5\n2,b,6\n");
    refused(
        &fixture,
        "in.csv",
        &[],
        &["the first column has no name", "--header no --skip-lines 1"],
    );
    fixture.load(&["in.csv", "new.db", "--header", "no", "--skip-lines", "1"]).exits(0);
    assert_eq!(fixture.table("new.db", "in"), rows![[1, "a", 5], [2, "b", 6]]);
    // Lines before the header count, whatever they are.
    let fixture = with_database();
    for (before, option) in
        [("# made\n", ["--comment", "#"]), ("Title\n# made\n", ["--skip-lines", "2"])]
    {
        fixture.write("in.csv", format!("{before}name,v\n1,a,5\n2,b,6\n"));
        let lines = before.lines().count() + 1;
        refused(&fixture, "in.csv", &option, &[&format!("--header no --skip-lines {lines} calls")]);
    }
    fixture.write("in.csv", "sep=;\nname;v\n1;a;5\n2;b;6\n");
    refused(&fixture, "in.csv", &[], &["--header no --skip-lines 2 calls"]);
}

#[test]
fn a_file_of_which_nothing_is_left_is_told() {
    let fixture = Fixture::new();
    fixture.write("a.csv", "Title\n\nid\n1\n").write("b.csv", "Title\n");
    for inputs in [["a.csv", "b.csv"], ["b.csv", "a.csv"]] {
        let way = ["t.db", "--table", "t", "--skip-lines", "2", "--if-exists", "replace"];
        let run = fixture.load(&[&inputs[..], &way].concat()).exits(0);
        run.prints(&["note: b.csv has nothing but what --skip-lines 2 leaves out"]);
        assert_eq!(fixture.table("t.db", "t"), rows![[1]]);
    }
}

#[test]
fn a_comment_before_the_header_is_named_as_one() {
    let fixture = with_database();
    fixture.write("in.csv", "# made today\nid,name,size\n1,a,2\n# half of it\n2,b,3\n");
    refused(&fixture, "in.csv", &[], &["--comment '#'"]);
    fixture.load(&["in.csv", "new.db", "--comment", "#"]).exits(0);
    assert_eq!(fixture.table("new.db", "in"), rows![[1, "a", 2], [2, "b", 3]]);
}

#[test]
fn characters_that_are_not_seen_are_shown() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "\u{feff}\u{feff}id,name\n1,a\n\u{feff}2,b\n");
    let says = ["column 1 in the header", "'\\u{feff}id'", "byte order mark", "'\\u{feff}2'"];
    fixture.load(&["in.csv", "new.db"]).exits(0).prints(&says);
}

#[test]
fn a_ragged_file_of_two_rows_is_still_separated_by_commas() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name,size\n1,2\n3,4,5\n");
    refused(&fixture, "in.csv", &[], &["in.csv: line 2", "2 fields where 3 are expected", "'1,2'"]);
    fixture.write("in.csv", "id,name,size\n1,2,3,4\n3,4,5");
    refused(&fixture, "in.csv", &[], &["in.csv: line 2", "4 fields where 3 are expected"]);
}

#[test]
fn a_quote_that_never_ends() {
    let fixture = with_database();
    let rows = |ids: std::ops::Range<u32>| -> String {
        ids.map(|id| format!("{id},\"name {id}\"\n")).collect()
    };
    // Far more than one chunk follows the quote.
    let text = format!("id,name\n{}1000,\"open\n{}", rows(1..1000), rows(1001..60_000));
    fixture.write("in.csv", text);
    let words = ["in.csv: line 1001", "the quote at byte 6", "never closed", "1000,\"open"];
    refused(&fixture, "in.csv", &[], &words);
    fixture.load(&["in.csv", "new.db", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.read("in.rejects.csv"), b"id,name\n1000,\"open\n");
    assert_eq!(fixture.number("new.db", "SELECT count(*) FROM \"in\""), 59_998);
}

#[test]
fn a_quote_in_mid_field_is_a_plain_character() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,name\n1,5\" disk\n2,\"a, \"\"b\"\"\"\n3,a\"\"b\n");
    fixture.load(&["in.csv", "new.db"]).exits(0);
    let rows = rows![[1, "5\" disk"], [2, "a, \"b\""], [3, "a\"\"b"]];
    assert_eq!(fixture.table("new.db", "in"), rows);
}

#[test]
fn text_after_a_closing_quote() {
    let fixture = with_database();
    let good: String = (3..200).map(|id| format!("{id},\"c\"\n")).collect();
    fixture.write("in.csv", format!("id,name\n1,\"a\"\n2,\"b\"x\n{good}"));
    let words = ["in.csv: line 3", "text after a closing quote", "'x'", "2,\"b\"x"];
    refused(&fixture, "in.csv", &[], &words);
}

#[test]
fn an_empty_file() {
    let fixture = with_database();
    for text in ["", "\n", "\r\n\r\n", "\u{feff}"] {
        fixture.write("in.csv", text);
        refused(&fixture, "in.csv", &[], &["in.csv is empty"]);
        let standard_input = fixture
            .leaves_all(|| fixture.load_reading(text.as_bytes(), &["-", "new.db", "--table", "t"]));
        standard_input.exits(1).says(&["- is empty"]).ends_with_nothing_changed();
    }
}

#[test]
fn a_header_only_makes_an_empty_table() {
    for text in ["id,name\n", "id,name", "id,name\r\n"] {
        let fixture = Fixture::new();
        fixture.write("in.csv", text);
        let report = fixture.report(&["in.csv", "new.db"]);
        assert_eq!(report["rows_read"], 0);
        assert_eq!(report["rows_loaded"], 0);
        let columns: Vec<String> =
            fixture.columns("new.db", "in").into_iter().map(|(name, _)| name).collect();
        assert_eq!(columns, ["id", "name"]);
        // And a second time, since the table holds no row.
        fixture.load(&["in.csv", "new.db"]).exits(0).prints(&["0 rows"]);
    }
}

#[test]
fn empty_and_doubled_names_in_the_header_get_names_of_their_own() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id,,Name,name, id ,\n1,2,3,4,5,6\n");
    let report = fixture.report(&["in.csv", "new.db"]);
    let columns: Vec<String> =
        fixture.columns("new.db", "in").into_iter().map(|(name, _)| name).collect();
    assert_eq!(columns, ["id", "column_2", "Name", "name_2", "id_2", "column_6"]);
    assert_eq!(fixture.table("new.db", "in"), rows![[1, 2, 3, 4, 5, 6]]);
    let warnings = report["warnings"].to_string();
    for word in ["column_2", "name_2", "id_2", "column_6"] {
        assert!(warnings.contains(word), "{warnings}");
    }
}

/// Names that break SQL made by pasting text together.
const NAMES: [&str; 12] = [
    "select",
    "table",
    "rowid",
    "a b",
    "a'b",
    "a\"b",
    "[a]",
    "`a`",
    "a;b",
    "\"; DROP TABLE old; --",
    "\u{1f600}",
    "?1",
];

#[test]
fn columns_may_have_any_name() {
    for strategy in strategies() {
        let fixture = with_database();
        let header: Vec<String> =
            NAMES.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        let values: Vec<String> = (1..=NAMES.len()).map(|n| n.to_string()).collect();
        fixture.write("in.csv", format!("{}\n{}\n", header.join(","), values.join(",")));
        let indexes: Vec<&str> = NAMES.iter().flat_map(|name| ["--index", *name]).collect();
        let load = ["in.csv", "shop.db", "--strategy", &strategy];
        fixture
            .load(
                &[
                    &load[..],
                    &["--primary-key", "\"; DROP TABLE old; --", "--verify", "checksum"],
                    &indexes,
                ]
                .concat(),
            )
            .exits(0);
        let columns: Vec<String> =
            fixture.columns("shop.db", "in").into_iter().map(|(name, _)| name).collect();
        assert_eq!(columns, NAMES);
        // The same header again, into the existing table now, and meeting its rows.
        let again = ["--if-exists", "append", "--on-conflict", "update"];
        fixture.load(&[&["in.csv", "shop.db"], &again[..]].concat()).exits(0);
        assert_eq!(fixture.table("shop.db", "in"), rows![[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]]);
        assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM old"), 2);
        assert_eq!(
            fixture.number(
                "shop.db",
                "SELECT count(*) FROM sqlite_schema WHERE sql LIKE 'CREATE INDEX%'"
            ),
            NAMES.len() as i64
        );
    }
}

#[test]
fn tables_may_have_any_name() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n1,a\n");
    for name in NAMES {
        let load = ["in.csv", "shop.db", "--table", name, "--index", "name"];
        fixture.load(&load).exits(0);
        assert_eq!(fixture.table("shop.db", name), rows![[1, "a"]]);
        fixture.refuses(&load[..4]).says(&["holds rows already", name]);
        fixture.load(&[&load[..], &["--if-exists", "replace"]].concat()).exits(0);
        fixture.load(&[&load[..4], &["--if-exists", "truncate"]].concat()).exits(0);
        assert_eq!(fixture.table("shop.db", name), rows![[1, "a"]]);
    }
    assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM old"), 2);
    fixture.assert_sound("shop.db");
}

#[test]
fn file_names_may_be_anything_too() {
    for name in
        ["\"; DROP TABLE old; --.csv", "a b.csv", "\u{1f600}.csv", "'.csv", "-.csv", "%s.csv"]
    {
        let fixture = with_database();
        fixture.write(name, "id,name\n1,a\n");
        fixture.load(&["--", name, "shop.db"]).exits(0);
        assert_eq!(fixture.table("shop.db", name.trim_end_matches(".csv")), rows![[1, "a"]]);
        assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM old"), 2);
    }
}

#[test]
fn a_name_that_sqlite_keeps_for_itself() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n1,a\n");
    fixture
        .load(&["in.csv", "shop.db", "--table", "sqlite_mine"])
        .exits(2)
        .says(&["sqlite_mine", "reserved"]);
}

#[test]
fn a_field_of_50_mb_is_a_field() {
    let fixture = Fixture::new();
    let plain = "x".repeat(50_000_000);
    let quoted = "a line, and \"\"another\"\"\n".repeat(100_000);
    fixture.write("in.csv", format!("id,big\n0,\"small\"\n1,{plain}\n2,\"{quoted}\"\n"));
    fixture.load(&["in.csv", "new.db", "--verify", "checksum"]).exits(0);
    let rows = fixture.table("new.db", "in");
    let quoted = quoted.replace("\"\"", "\"");
    // Not assert_eq: nobody wants to see the difference.
    assert!(rows == rows![[0, "small"], [1, plain], [2, quoted]]);
}

#[test]
fn a_record_beyond_the_limit_is_refused_and_the_limit_named() {
    let fixture = Fixture::new();
    fixture.write("in.csv", format!("id,big\n1,{}\n2,b\n", "x".repeat(70_000_000)));
    fixture.refuses(&["in.csv", "new.db"]).says(&["in.csv", "64 MiB"]);
    // Its lines are no rows, and whether its quote is closed behind them is not known.
    let lines = "line,x\n".repeat(9_700_000);
    fixture.write("in.csv", format!("id,big\n1,\"{lines}\"\n2,b\n"));
    let run = fixture.refuses(&["in.csv", "new.db", "--max-rejects", "1"]);
    run.says(&["the record at byte 7 is longer than 64 MiB", "never closed: --quote none"]);
}

fn wide(columns: usize) -> String {
    let line =
        |prefix: &str| (1..=columns).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>().join(",");
    format!("{}\n{}\n{}\n", line("c"), line(""), line("1"))
}

#[test]
fn a_table_has_at_most_2000_columns() {
    for strategy in strategies() {
        let fixture = Fixture::new();
        fixture.write("in.csv", wide(2000));
        let load = ["in.csv", "new.db", "--strategy", &strategy];
        fixture.load(&load).exits(0);
        let rows = fixture.table("new.db", "in");
        assert_eq!(rows[0][1999], crate::fixture::cell(2000));
        assert_eq!(rows[1][1999], crate::fixture::cell(12000));
    }
    let fixture = with_database();
    fixture.write("in.csv", wide(2001));
    refused(&fixture, "in.csv", &[], &["2001 columns", "2000", "SQLite", "check --delimiter"]);
    let members: Vec<_> = (1..=2001).map(|n| format!("\"c{n}\":{n}")).collect();
    fixture.write("in.jsonl", format!("{{\"a\":{{{}}}}}\n", members.join(",")));
    let run = refused(&fixture, "in.jsonl", &["--flatten"], &["--columns", "leave --flatten out"]);
    assert!(!run.stderr.contains("--delimiter"), "{run:?}");
    fixture.load(&["in.jsonl", "new.db"]).exits(0);
    let load = ["in.jsonl", "new.db", "--table", "some", "--flatten", "--columns", "a.c1,a.c2"];
    fixture.load(&load).exits(0);
}

#[test]
fn a_nul_byte_is_a_bad_row() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n1,a\n2,b\0c\n3,d\n");
    refused(&fixture, "in.csv", &[], &["in.csv: line 3, column name", "NUL", "'b\\u{0}c'"]);
    let good: String = (3..200).map(|id| format!("{id},d\n")).collect();
    fixture.write("in.csv", format!("id,name\n1,a\n2,b\0c\n{good}"));
    refused(&fixture, "in.csv", &[], &["in.csv: line 3, column name", "NUL", "'b\\u{0}c'"]);
    fixture.write("in.csv", format!("id,na\0me\n1,a\n{good}"));
    refused(&fixture, "in.csv", &[], &["in.csv", "column 2 in the header", "NUL"]);
}

/// Where a row with a NUL is the only one that has a value of a column, the value says what the column is.
#[test]
fn values_beside_a_nul_are_what_they_are() {
    let fixture = Fixture::new();
    for rows in ["1,x\0y\n", "1,x\0y\n,z\n"] {
        fixture.write("in.csv", format!("a,b\n{rows}"));
        let report = fixture.report(&[
            "in.csv",
            "jsonl:out.jsonl",
            "--if-exists",
            "replace",
            "--header",
            "yes",
        ]);
        assert_eq!(report["warnings"], serde_json::json!([]), "{rows:?}");
        assert_eq!(report["plan"]["columns"][0]["type"], "integer", "{rows:?}");
        assert!(fixture.read("out.jsonl").starts_with(b"{\"a\":1,\"b\":\"x\\u0000y\"}\n"));
    }
    // And the text with the NUL says nothing of its own.
    fixture.write("in.csv", "a,b\n1,2\n3,\0\0\n");
    let load = ["in.csv", "t.db", "--max-rejects", "1"];
    fixture.load(&load).exits(3);
    assert_eq!(fixture.query("t.db", "SELECT a, b FROM \"in\""), rows![[1, 2]]);
}

#[test]
fn invalid_utf_8_is_a_bad_row_and_never_a_replacement_character() {
    let fixture = with_database();
    fixture.write("in.csv", b"id,name\n1,a\n2,Zo\xeb\n3,d\n");
    let words =
        ["in.csv: line 3, column name", "invalid UTF-8", "0xeb", "'Zo", "--encoding windows-1252"];
    refused(&fixture, "in.csv", &[], &words);
    fixture.write("in.csv", b"id,n\xe4me\n1,a\n2,b\n");
    let words = ["in.csv", "column 2 in the header", "UTF-8", "--encoding windows-1252"];
    refused(&fixture, "in.csv", &[], &words);
}

#[test]
fn what_is_malformed_in_another_encoding_is_called_so() {
    let fixture = Fixture::new();
    let utf16: Vec<u8> =
        "id,v\n1,a\n2,b".encode_utf16().chain([0xd800]).flat_map(u16::to_le_bytes).collect();
    fixture.write("u.csv", [&b"\xff\xfe"[..], &utf16, b"\n\0"].concat());
    fixture.write("s.csv", b"id,v\n1,a\n2,b\x81\xff\n");
    fixture.write("s.jsonl", b"{\"v\":\"b\x81\xff\"}\n");
    for (file, encoding, name) in [
        ("u.csv", "utf-16le", "UTF-16LE"),
        ("s.csv", "shift_jis", "Shift_JIS"),
        ("s.jsonl", "shift_jis", "Shift_JIS"),
    ] {
        let options = ["t.db", "--table", "t", "--encoding", encoding, "--type", "v=text"];
        let run = fixture.refuses(&[&[file], &options[..]].concat());
        let run = run.says(&[&format!("bytes that are malformed in {name}: 'b")]);
        assert!(!run.stderr.contains("UTF-8"), "{}", run.stderr);
    }
}

#[test]
fn numbers_beyond_64_bits_are_no_integers() {
    let fixture = Fixture::new();
    fixture.sql("t.db", "CREATE TABLE t (id INTEGER, n INTEGER)");
    for number in ["9223372036854775808", "-9223372036854775809", "123456789012345678901234567890"]
    {
        fixture.write("in.csv", format!("id,n\n1,{number}\n2,2\n3,3\n"));
        fixture.refuses(&["in.csv", "t.db", "--table", "t"]).says(&[
            "in.csv: line 2, column n",
            number,
            "out of range",
            "64 bits",
        ]);
    }
    for number in ["9223372036854775807", "-9223372036854775808"] {
        fixture.write("in.csv", format!("id,n\n1,{number}\n"));
        fixture.load(&["in.csv", "t.db", "--table", "t", "--if-exists", "truncate"]).exits(0);
        assert_eq!(fixture.number("t.db", "SELECT n FROM t").to_string(), number);
    }
}

#[test]
fn files_that_are_no_text() {
    let fixture = with_database();
    let noise: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let parquet = [b"PAR1", &noise[..]].concat();
    let zip = [b"PK\x03\x04", &noise[..]].concat();
    let elf = fs::read(INRUSH).unwrap()[..100_000].to_vec();
    let database = fixture.read("shop.db");
    let png = [b"\x89PNG\r\n\x1a\n", &noise[..]].concat();
    let cases: [(&[u8], &str); 6] = [
        (&parquet, "Parquet"),
        (&zip, "zip archive"),
        (&elf, "a program"),
        (&database, "SQLite database"),
        (&png, "a picture"),
        (&noise, "UTF-8"),
    ];
    for (bytes, word) in cases {
        fixture.write("in.csv", bytes);
        refused(&fixture, "in.csv", &[], &["in.csv", word]);
    }
    // A database given as its own target.
    fixture.misused(&["load", "shop.db", "shop.db"]).says(&["shop.db is source and target"]);
    // Behind a compression it is no better.
    fixture.write("in.csv", &parquet);
    fixture.tool("gzip", &["in.csv"], b"");
    refused(&fixture, "in.csv.gz", &[], &["in.csv.gz", "Parquet"]);
}

#[test]
fn other_kinds_of_files_are_refused_with_the_tool_that_reads_them() {
    let fixture = with_database();
    let stata = [&b"\x72\x02\x01\0\x02\0\x02\0\0\0"[..], &[0; 400]].concat();
    let sas = [
        &[0; 12][..],
        b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11",
    ];
    let sas = [sas.concat(), vec![0; 400]].concat();
    let xport = [&b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!"[..], &[b'0'; 30], &[0; 80]];
    let xport = xport.concat();
    let cases: [(&[u8], &str, &str); 15] = [
        (&stata, "a Stata file", "read_stata"),
        (&sas, "a SAS data set", "read_sas"),
        (&xport, "a SAS transport file", "read_sas"),
        (b"\x80\x05\x95\x0c\0\0\0\0\0\0\0]\x94(K\x01K\x02e.", "a Python pickle", "Python"),
        (b"\x80\x02]q\0(K\x01K\x02e.", "a Python pickle", "Python"),
        (b"PGDMP\x01\x0e\0", "a dump of PostgreSQL's own format", "pg_restore"),
        (b"Salted__\x01\x02\0\x04", "encrypted by OpenSSL", "openssl enc -d"),
        (b"age-encryption.org/v1\n-> X25519 abc\n", "encrypted by age", "age -d"),
        (b"\x85\x02\x0c\x03\xf8\xe1\x92\x55\xf0\x9a\x77\x81\x12\xd3", "encrypted by PGP", "gpg -d"),
        (b"ORC\x0a\x03\0\0\0\x12\x09\x08\x07\x12\xe2\x82", "an ORC file", "pyarrow.orc"),
        (b"7z\xbc\xaf\x27\x1c\0", "a 7z archive", "7z x"),
        (b"\0\x01\0\0Standard ACE DB\0", "an Access database", "mdb-export"),
        (b"\x12\x34\0\0\0\0\0\0DUCK\x40\0", "a DuckDB database", "duckdb:"),
        (
            b"-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n",
            "an encrypted message (PGP)",
            "gpg -d",
        ),
        (
            b"-- PostgreSQL database dump\n\nCREATE TABLE t (\n  id integer\n);\nCOPY t (id) FROM stdin;\n1\n",
            "an SQL dump of PostgreSQL",
            "psql",
        ),
    ];
    for (bytes, what, tool) in cases {
        fixture.write("in.csv", bytes);
        refused(&fixture, "in.csv", &[], &["in.csv", what, tool]);
    }
    // What has no mark goes by its name, unless it is text.
    for (name, what, tool) in
        [("in.csv.br", "Brotli", "brotli -d"), ("in.csv.LZMA", "LZMA", "xz -d")]
    {
        fixture.write(name, b"]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x34\x99");
        refused(&fixture, name, &[], &[name, what, tool]);
        fixture.write(name, "id\n1\n");
        fixture.load(&[name, "t.db", "--table", what]).exits(0);
    }
    // A domain, and text of which a byte is not UTF-8.
    fixture.write("dados.gov.br", b"id,name\n1,Jo\xe3o\n");
    refused(&fixture, "dados.gov.br", &[], &["dados.gov.br: line 2", "invalid UTF-8"]);
    // A table may begin with any letters.
    fixture.write("in.csv", "ORC,RDX\n1,2\n");
    fixture.load(&["in.csv", "orcs.db"]).exits(0);
}

#[test]
fn a_folder_without_a_file_that_can_be_read() {
    let fixture = with_database();
    fs::create_dir_all(fixture.path("files/deep")).unwrap();
    fixture.write("files/photo.jpg", [0xff, 0xd8]).write("files/.hidden.csv", "id\n1\n");
    fixture.write("files/deep/in.csv", "id\n1\n");
    fixture.refuses(&["files", "shop.db"]).says(&[
        "no file in files is of a format that can be read",
        "'files/**'",
        "'files/*'",
    ]);
    fixture
        .misused(&["load", "file://host/in.csv", "shop.db"])
        .says(&["another machine", "file:///PATH"]);
    fixture.write("list.txt", "# nothing\n\n");
    fixture.refuses(&["@list.txt", "shop.db"]).says(&["the list names no source"]);
    fixture.write("list.txt", "files/deep/in.csv\nnone.csv\n");
    fixture.refuses(&["@list.txt", "shop.db"]).says(&["list.txt: cannot read none.csv"]);
    fixture.refuses(&["@none.txt", "shop.db"]).says(&["cannot read none.txt"]);
}

#[test]
fn a_source_that_is_not_there() {
    let fixture = with_database();
    refused(&fixture, "none.csv", &[], &["none.csv", "No such file"]);
    refused(&fixture, "none*.csv", &[], &["'none*.csv' matches no file"]);
    refused(&fixture, "none/in.csv", &[], &["none/in.csv", "No such file"]);
    fixture.write("in.csv", "id\n1\n");
    fixture.refuses(&["in.csv", "none.csv", "shop.db"]).says(&["none.csv"]);
}
