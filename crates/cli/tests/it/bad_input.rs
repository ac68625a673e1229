//! Input and targets that no load can go well with: each time a message that says what, where and why, and nothing
//! changed. `Fixture::refuses` compares every file of the directory, so whatever is left behind shows.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::fixture::{Fixture, INRUSH, Outcome, finish, is_root, rows, start, strategies};

/// A database with a table `old` of two rows.
fn with_database() -> Fixture {
    let fixture = Fixture::new();
    fixture.sql("shop.db", "CREATE TABLE old (id INTEGER, name TEXT)");
    fixture.sql("shop.db", "INSERT INTO old VALUES (1, 'one'), (2, 'two')");
    fixture
}

/// The file is refused with these words, as a new database and as a new table in one that is there.
#[track_caller]
fn refused(fixture: &Fixture, file: &str, options: &[&str], words: &[&str]) {
    let load = |target: &str| fixture.refuses(&[&[file, target][..], options].concat());
    load("new.db").says(words);
    load("shop.db").says(words);
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
        // The same header again, into the table that is there now, and meeting its rows.
        let again = ["--if-exists", "append", "--on-conflict", "update"];
        fixture.load(&[&load[..], &again].concat()).exits(0);
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
        .refuses(&["in.csv", "shop.db", "--table", "sqlite_mine"])
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
    refused(&fixture, "in.csv", &[], &["2001 columns", "2000", "SQLite"]);
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

#[test]
fn invalid_utf_8_is_a_bad_row_and_never_a_replacement_character() {
    let fixture = with_database();
    fixture.write("in.csv", b"id,name\n1,a\n2,Zo\xeb\n3,d\n");
    let words =
        ["in.csv: line 3, column name", "invalid UTF-8", "0xeb", "'Zo", "--encoding latin1"];
    refused(&fixture, "in.csv", &[], &words);
    fixture.write("in.csv", b"id,n\xe4me\n1,a\n2,b\n");
    refused(&fixture, "in.csv", &[], &["in.csv", "column 2 in the header", "UTF-8", "--encoding"]);
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
        (&zip, "ZIP"),
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
    fixture.refuses(&["shop.db", "shop.db"]).says(&["shop.db is an SQLite database"]);
    // Behind a compression it is no better.
    fixture.write("in.csv", &parquet);
    fixture.tool("gzip", &["in.csv"], b"");
    refused(&fixture, "in.csv.gz", &[], &["in.csv.gz", "Parquet"]);
}

#[test]
fn a_directory_as_source() {
    let fixture = with_database();
    fs::create_dir(fixture.path("files")).unwrap();
    fixture.refuses(&["files", "shop.db"]).says(&["files is a directory", "'files/*.csv'"]);
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

#[test]
fn a_target_in_a_directory_that_is_not_there() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n");
    fixture
        .refuses(&["in.csv", "nowhere/new.db"])
        .says(&["the directory nowhere does not exist", "mkdir -p nowhere"]);
}

#[test]
fn a_target_that_is_a_directory() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("data.db")).unwrap();
    fixture.write("in.csv", "id\n1\n");
    fixture.refuses(&["in.csv", "data.db"]).says(&["data.db is a directory"]);
    assert!(fs::read_dir(fixture.path("data.db")).unwrap().next().is_none());
}

#[test]
fn a_target_that_is_no_database() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("notes.db", "These are my notes.\n".repeat(500));
    fixture.refuses(&["in.csv", "notes.db"]).says(&["notes.db is not an SQLite database"]);
    // Shorter than a database's header.
    fixture.write("notes.db", "note");
    fixture.refuses(&["in.csv", "notes.db"]).says(&["notes.db is not an SQLite database"]);
}

#[test]
fn an_empty_file_is_an_empty_database() {
    let fixture = Fixture::new();
    fixture.write("in.csv", "id\n1\n").write("new.db", "");
    fixture.load(&["in.csv", "new.db"]).exits(0);
    assert_eq!(fixture.table("new.db", "in"), rows![[1]]);
}

#[test]
fn a_damaged_database() {
    let fixture = Fixture::new();
    fixture.sql(
        "shop.db",
        "CREATE TABLE t (id INTEGER, name TEXT);
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
         INSERT INTO t SELECT n, 'name ' || n FROM n;",
    );
    let mut bytes = fixture.read("shop.db");
    // Everything but the first page, which holds the schema.
    bytes[4096..].fill(0xa5);
    fixture.write("shop.db", bytes).write("in.csv", "id,name\n1,a\n");
    fixture
        .refuses(&["in.csv", "shop.db", "--table", "t", "--if-exists", "append"])
        .says(&["shop.db is damaged", "integrity_check"]);
}

#[test]
fn a_view_takes_no_rows() {
    let fixture = with_database();
    fixture
        .sql("shop.db", "CREATE VIEW seen AS SELECT * FROM old")
        .write("in.csv", "id,name\n1,a\n");
    fixture.refuses(&["in.csv", "shop.db", "--table", "seen"]).says(&["seen is a view"]);
    fixture
        .refuses(&["in.csv", "shop.db", "--table", "seen", "--if-exists", "replace"])
        .says(&["seen is a view"]);
}

#[test]
fn a_locked_database_is_waited_for_and_its_holder_named() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n3,c\n");
    // Read before and after, not while it is locked: who closes a file loses all locks that their process has on it.
    let bytes = fixture.read("shop.db");
    for mode in ["EXCLUSIVE", "IMMEDIATE"] {
        let holder = fixture.db("shop.db");
        holder.execute_batch(&format!("BEGIN {mode}")).unwrap();
        let before = Instant::now();
        fixture
            .load(&[
                "in.csv",
                "shop.db",
                "--table",
                "old",
                "--if-exists",
                "append",
                "--set",
                "busy_timeout=300",
            ])
            .exits(1)
            .says(&["shop.db is locked", &format!("pid {}", std::process::id()), "busy_timeout"])
            .ends_with_nothing_changed();
        let waited = before.elapsed();
        assert!(waited >= Duration::from_millis(300), "{waited:?}");
        assert!(waited < Duration::from_millis(2500), "BEGIN {mode}: waited {waited:?}");
        holder.execute_batch("ROLLBACK").unwrap();
        assert_eq!(fixture.read("shop.db"), bytes);
    }
    assert_eq!(fixture.names(), ["in.csv", "shop.db"]);
}

#[test]
fn a_lock_that_goes_away_in_time_only_delays_the_load() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n3,c\n");
    for mode in ["EXCLUSIVE", "IMMEDIATE"] {
        let holder = fixture.db("shop.db");
        holder.execute_batch(&format!("BEGIN {mode}")).unwrap();
        let load = ["load", "in.csv", "shop.db", "--table", "old", "--if-exists", "append"];
        let child = start(&mut fixture.command(&load));
        std::thread::sleep(Duration::from_millis(300));
        holder.execute_batch("COMMIT").unwrap();
        Outcome::of("load".to_owned(), finish(child, b"")).exits(0);
    }
    assert_eq!(fixture.number("shop.db", "SELECT count(*) FROM old"), 4);
}

#[test]
fn a_reader_that_never_ends_keeps_the_load_from_its_commit() {
    let fixture = with_database();
    fixture.write("in.csv", "id,name\n3,c\n");
    let bytes = fixture.read("shop.db");
    let reader = fixture.db("shop.db");
    reader.execute_batch("BEGIN; SELECT * FROM old").unwrap();
    fixture
        .load(&[
            "in.csv",
            "shop.db",
            "--table",
            "old",
            "--if-exists",
            "append",
            "--set",
            "busy_timeout=300",
        ])
        .exits(1)
        .says(&["shop.db is locked", &format!("pid {}", std::process::id())])
        .ends_with_nothing_changed();
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(fixture.read("shop.db"), bytes);
    assert_eq!(fixture.names(), ["in.csv", "shop.db"]);
}

/// Runs a script with a file system of 1 MiB mounted as `disk`, seen by the script alone. `None`, and a word about it,
/// when this machine lets nobody mount.
fn on_a_small_disk(fixture: &Fixture, script: &str) -> Option<String> {
    fs::create_dir(fixture.path("disk")).unwrap();
    let script = format!("mount -t tmpfs -o size=1m tmpfs disk && echo mounted && {script}");
    for options in [&["-m"][..], &["-rm"]] {
        let run = Command::new("unshare")
            .args(options)
            .args(["sh", "-c", &script])
            .current_dir(fixture.dir())
            .output();
        match run {
            Ok(run) if run.stdout.starts_with(b"mounted") => {
                let text = String::from_utf8(run.stdout).unwrap();
                return Some(text + &String::from_utf8(run.stderr).unwrap());
            }
            _ => continue,
        }
    }
    eprintln!(
        "SKIPPED: no full disk to test with, because `unshare -m` and `unshare -rm` can't mount here"
    );
    None
}

#[test]
fn a_full_disk_under_a_new_database() {
    let fixture = Fixture::new();
    let rows: String =
        (1..40_000).map(|id| format!("{id},a name that takes room {id}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{rows}"));
    let script = format!("'{INRUSH}' load in.csv disk/new.db; echo exit $?; ls -A disk; echo end");
    let Some(said) = on_a_small_disk(&fixture, &script) else { return };
    // Nothing stands between the exit code and the end of the list of files.
    assert!(said.contains("exit 1\nend\n"), "{said}");
    assert!(said.contains("the disk is full") && said.contains("disk/new.db"), "{said}");
    assert!(said.trim_end().ends_with("nothing changed in the target"), "{said}");
}

#[test]
fn a_full_disk_under_a_database_that_is_there() {
    for more in ["", "--set cache=0", "--set journal_mode=wal", "--strategy values"] {
        let fixture = with_database();
        let rows: String =
            (1..40_000).map(|id| format!("{id},a name that takes room {id}\n")).collect();
        fixture.write("in.csv", format!("id,name\n{rows}"));
        let script = format!(
            "cp shop.db disk/ && '{INRUSH}' load in.csv disk/shop.db {more} --table old --if-exists append;
             echo exit $?; cp disk/shop.db after.db; ls -A disk; echo end"
        );
        let Some(said) = on_a_small_disk(&fixture, &script) else { return };
        assert!(said.contains("exit 1\nshop.db\nend\n"), "{more}: {said}");
        assert!(said.contains("the disk is full"), "{more}: {said}");
        assert!(said.trim_end().ends_with("nothing changed in the target"), "{more}: {said}");
        assert_eq!(fixture.table("after.db", "old"), rows![[1, "one"], [2, "two"]], "{more}");
        fixture.assert_sound("after.db");
        if !more.contains("wal") {
            assert_eq!(fixture.read("after.db"), fixture.read("shop.db"), "{more}");
        }
    }
}

#[test]
fn a_full_disk_under_the_rejects() {
    let fixture = with_database();
    let rows: String =
        (1..40_000).map(|id| format!("{id},a name that takes room,{id}\n")).collect();
    fixture.write("in.csv", format!("id,name\n1,a\n2,b\n{rows}"));
    let script = format!(
        "'{INRUSH}' load in.csv shop.db --header yes --table old --if-exists append --max-rejects 90000 --rejects disk/in.rejects.csv;
         echo exit $?; ls -A disk; echo end"
    );
    let before = fixture.read("shop.db");
    let Some(said) = on_a_small_disk(&fixture, &script) else { return };
    assert!(said.contains("exit 1\nend\n"), "{said}");
    assert!(said.contains("disk/in.rejects.csv"), "{said}");
    assert_eq!(fixture.read("shop.db"), before);
    assert_eq!(fixture.names(), ["disk", "in.csv", "shop.db"]);
}

/// Somebody who may not do everything: this user, or, when that is root, "nobody", with a copy of the command that they
/// can reach.
struct Nobody {
    bin: Option<Fixture>,
}

impl Nobody {
    const UID: u32 = 65_534;

    fn new() -> Self {
        let bin = is_root().then(|| {
            let bin = Fixture::new();
            fs::copy(INRUSH, bin.path("inrush")).unwrap();
            mode(&bin, ".", 0o755);
            bin
        });
        Self { bin }
    }

    fn load(&self, fixture: &Fixture, args: &[&str]) -> Outcome {
        let mut command = match &self.bin {
            Some(bin) => {
                let mut command = Command::new(bin.path("inrush"));
                command.uid(Self::UID).gid(Self::UID);
                command
            }
            None => Command::new(INRUSH),
        };
        command.arg("load").args(args).current_dir(fixture.dir());
        Outcome::of(format!("inrush load {}", args.join(" ")), finish(start(&mut command), b""))
    }

    /// As [`Fixture::refuses`].
    fn refused(&self, fixture: &Fixture, args: &[&str]) -> Outcome {
        fixture.leaves_all(|| self.load(fixture, args).exits(1)).ends_with_nothing_changed()
    }
}

fn mode(fixture: &Fixture, name: &str, mode: u32) {
    fs::set_permissions(fixture.path(name), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_database() {
    let (nobody, fixture) = (Nobody::new(), with_database());
    fixture.write("in.csv", "id,name\n3,c\n");
    mode(&fixture, ".", 0o777);
    mode(&fixture, "shop.db", 0o444);
    let append = ["in.csv", "shop.db", "--table", "old", "--if-exists", "append"];
    nobody.refused(&fixture, &append).says(&["shop.db is read-only", "permissions"]);
    nobody.refused(&fixture, &["in.csv", "shop.db"]).says(&["shop.db is read-only"]);
}

#[test]
fn a_read_only_directory() {
    let (nobody, fixture) = (Nobody::new(), with_database());
    fixture.write("in.csv", "id,name\n3,c\n");
    mode(&fixture, "shop.db", 0o666);
    mode(&fixture, ".", 0o555);
    nobody.refused(&fixture, &["in.csv", "new.db"]).says(&["new.db", "permissions"]);
    // SQLite needs to make its journal beside the database.
    nobody
        .refused(&fixture, &["in.csv", "shop.db", "--table", "old", "--if-exists", "append"])
        .says(&["shop.db", "directory", "permissions"]);
    mode(&fixture, ".", 0o755);
}

#[test]
fn a_directory_that_takes_no_rejects() {
    let (nobody, fixture) = (Nobody::new(), Fixture::new());
    mode(&fixture, ".", 0o755);
    fs::create_dir(fixture.path("data")).unwrap();
    mode(&fixture, "data", 0o777);
    fixture.write("in.csv", "id,name\n1,a\n2\n3,b\n4,c\n");
    mode(&fixture, ".", 0o555);
    nobody
        .refused(&fixture, &["in.csv", "data/new.db", "--max-rejects", "1"])
        .says(&["in.rejects.csv", "--rejects"]);
    assert!(fs::read_dir(fixture.path("data")).unwrap().next().is_none());
    nobody
        .load(
            &fixture,
            &["in.csv", "data/new.db", "--max-rejects", "1", "--rejects", "data/bad.csv"],
        )
        .exits(3);
    mode(&fixture, ".", 0o755);
}

#[test]
fn a_source_that_may_not_be_read() {
    let (nobody, fixture) = (Nobody::new(), Fixture::new());
    fixture.write("in.csv", "id,name\n1,a\n");
    mode(&fixture, ".", 0o777);
    mode(&fixture, "in.csv", 0o000);
    let run = nobody.load(&fixture, &["in.csv", "new.db"]).exits(1);
    run.says(&["in.csv", "Permission denied"]).ends_with_nothing_changed();
    assert_eq!(fixture.names(), ["in.csv"]);
}
