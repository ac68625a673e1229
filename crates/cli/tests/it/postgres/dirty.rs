use serde_json::{Value as Json, json};

use crate::fixture::{json_lines, size, some};
use crate::servers::cell;

use super::server::{Rows, Server, Way, for_each_server, rows};

const TABLE: &str = "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1), (2);
    CREATE TYPE kind AS ENUM ('a', 'b'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE FUNCTION no_13() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        IF NEW.name = 'thirteen' THEN RAISE 'no thirteen here'; END IF; RETURN NEW; END$$;
    CREATE TABLE t (
        id int PRIMARY KEY, n smallint CONSTRAINT n_is_even CHECK (n % 2 = 0), price numeric(5,2), day date, seen timestamp(0),
        name varchar(12) NOT NULL, kind kind DEFAULT 'b', size positive, parent int REFERENCES parent DEFERRABLE INITIALLY DEFERRED,
        code text UNIQUE, more jsonb);
    CREATE TRIGGER no_13 BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION no_13();";

const GONE: &str =
    "DROP TABLE t, parent; DROP TYPE kind; DROP DOMAIN positive; DROP FUNCTION no_13";

const HEADER: &str = "id,n,price,day,seen,name,kind,size,parent,code,more";

/// Where a bad row stands, as it is written, the column to blame, the code, and words of the message.
type Bad = (u64, &'static [u8], Option<&'static str>, &'static str, &'static str);

/// One of each kind. The key of the last is that of a row which may be there.
const BAD: [Bad; 30] = [
    (1, b"1,2,1.5,2013-01-01", None, "field-count", ""),
    (40, b"40,2,1.5,2013-01-01,,a,a,1,1,,,2", None, "field-count", ""),
    (90, b"90,2,1.5,2013-01-01,,\"a,a,1,1,,", None, "quote", ""),
    (130, b"130,2,1.5,2013-01-01,,\"a\"b,a,1,1,,", None, "quote", ""),
    (170, b"170,2,1.5,2013-01-01,,Zo\xeb,a,1,1,,", Some("name"), "utf-8", ""),
    (171, b"171,2,1.5,2013-01-01,,a\0b,a,1,1,,", Some("name"), "nul", ""),
    (240, b"240,many,1.5,2013-01-01,,a,a,1,1,,", Some("n"), "type", ""),
    (241, b"241,\"\",1.5,2013-01-01,,a,a,1,1,,", Some("n"), "type", ""),
    (300, b"300,32768,1.5,2013-01-01,,a,a,1,1,,", Some("n"), "range", ""),
    (333, b"333,3,1.5,2013-01-01,,a,a,1,1,,", None, "constraint", "\"n_is_even\""),
    (380, b"380,2,1000,2013-01-01,,a,a,1,1,,", Some("price"), "range", ""),
    (420, b"420,2,1.567,2013-01-01,,a,a,1,1,,", Some("price"), "range", ""),
    (421, b"421,2,1;5,2013-01-01,,a,a,1,1,,", Some("price"), "type", ""),
    (500, b"500,2,1.5,2013-13-45,,a,a,1,1,,", Some("day"), "type", ""),
    (501, b"501,2,1.5,2013-02-30,,a,a,1,1,,", Some("day"), "type", ""),
    (555, b"555,2,1.5,2013-01-01,2013-01-01 25:00:00,a,a,1,1,,", Some("seen"), "type", ""),
    (600, b"600,2,1.5,2013-01-01,,,a,1,1,,", Some("name"), "not-null", ""),
    (640, b"640,2,1.5,2013-01-01,,thirteen char,a,1,1,,", Some("name"), "too-long", ""),
    (
        641,
        b"641,2,1.5,2013-01-01,,thirteen,a,1,1,,",
        None,
        "constraint",
        "no thirteen here (SQLSTATE P0001)",
    ),
    (700, b"700,2,1.5,2013-01-01,,a,c,1,1,,", Some("kind"), "type", ""),
    (701, b"701,2,1.5,2013-01-01,,a,A,1,1,,", Some("kind"), "type", ""),
    (720, b"720,2,1.5,2013-01-01,,a,a,0,1,,", None, "constraint", "\"positive_check\""),
    (750, b"750,2,1.5,2013-01-01,,a,a,1,3,,", Some("parent"), "foreign-key", "\"t_parent_fkey\""),
    (751, b"751,2,1.5,2013-01-01,,a,a,1,,,{\"a\": }", Some("more"), "type", ""),
    (
        800,
        b"799,2,1.5,2013-01-01,,a,a,1,1,,",
        Some("id"),
        "duplicate-key",
        "\"t_pkey\": Key (id)=(799) already exists (SQLSTATE 23505)",
    ),
    (
        801,
        b"801,2,1.5,2013-01-01,,a,a,1,1,code 2,",
        Some("code"),
        "duplicate-key",
        "\"t_code_key\"",
    ),
    (802, b"803,1,1.5,2013-01-01,,a,a,1,1,,", None, "constraint", "23514"),
    (900, b",2,1.5,2013-01-01,,a,a,1,1,,", Some("id"), "not-null", ""),
    (990, b"99999999999,2,1.5,2013-01-01,,a,a,1,1,,", Some("id"), "range", ""),
    (1000, b"-1,2,1.5,2013-01-01,,a,a,1,1,,", Some("id"), "duplicate-key", "\"t_pkey\""),
];

/// The file, what should be in the table, and what should be rejected, and where it stood.
struct Dirty {
    file: Vec<u8>,
    rejects: Vec<u8>,
    places: Vec<Json>,
    stored: Rows,
}

/// 1,000 records. The last is good where no row has its key.
fn dirty(newline: &str, is_used: bool) -> Dirty {
    let header = format!("{HEADER}{newline}").into_bytes();
    let mut dirty =
        Dirty { file: header.clone(), rejects: header, places: Vec::new(), stored: Rows::new() };
    let old = |name: &str| {
        let values = ["-1", "2", "1.50", "2013-01-01"].map(cell);
        [&values[..], &[None, cell(name), cell("a"), cell("1"), cell("1"), None, None]].concat()
    };
    for record in 1..=1000 {
        let bad = BAD.iter().find(|(at, ..)| *at == record);
        if let Some((_, raw, column, code, _)) = bad.filter(|_| record < 1000 || is_used) {
            let line = 1 + dirty.file.iter().filter(|byte| **byte == b'\n').count();
            let byte = dirty.file.len();
            dirty.places.push(
                json!({"record": record, "line": line, "byte": byte, "column": column, "code": code}),
            );
            for bytes in [&mut dirty.file, &mut dirty.rejects] {
                bytes.extend_from_slice(raw);
                bytes.extend_from_slice(newline.as_bytes());
            }
            continue;
        }
        if bad.is_some() {
            dirty.file.extend_from_slice(BAD[BAD.len() - 1].1);
            dirty.file.extend_from_slice(newline.as_bytes());
            dirty.stored.insert(0, old("a"));
            continue;
        }
        let name = match record % 10 {
            0 => format!("\u{4e2d}{newline}\"{record}\""),
            3 => format!("a\t\\{record}\\"),
            5 => String::new(),
            7 => format!("'{record}\\N"),
            _ => format!("name {record}"),
        };
        let moment = if record % 4 == 0 { "" } else { "2013-01-01 10:20:30" };
        let cents = record % 100;
        let kind = if record % 2 == 0 { "a" } else { "b" };
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        let n = record % 256 * 2;
        let (parent, code) = (1 + record % 2, format!("code {record}"));
        let row = format!(
            "{record},{n},7.{cents:02},2012-02-29,{moment},{quoted},{kind},{record},{parent},{code},[{record}]{newline}"
        );
        dirty.file.extend_from_slice(row.as_bytes());
        dirty.stored.push(vec![
            cell(record.to_string()),
            cell(n.to_string()),
            cell(format!("7.{cents:02}")),
            cell("2012-02-29"),
            Some(moment.to_owned()).filter(|moment| !moment.is_empty()),
            cell(name),
            cell(kind),
            cell(record.to_string()),
            cell(parent.to_string()),
            cell(code),
            cell(format!("[{record}]")),
        ]);
    }
    if is_used {
        dirty.stored.insert(0, old("old"));
    }
    dirty
}

const OLD_ROW: &str = "INSERT INTO t VALUES (-1, 2, 1.5, '2013-01-01', NULL, 'old', 'a', 1, 1)";

/// Loads the file in this way and looks at everything that comes of it.
#[track_caller]
fn assert_exactly_the_good_rows(server: &Server, dirty: &Dirty, way: &Way, more: &[&str]) {
    let bad = dirty.places.len();
    let limit = bad.to_string();
    let load = ["dirty.csv", "--table", "t", "--if-exists", "append", "--quote", "\"", "--json"];
    let options = way.options();
    let options = [&load[..], &options, &["--max-rejects", &limit], more].concat();
    let report = server.load(&options).exits(3).json();
    let counts = ["rows_read", "rows_loaded", "rows_rejected"].map(|name| report[name].clone());
    assert_eq!(counts, [json!(1000), json!(1000 - bad), json!(bad)], "{way:?}");
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(text(&server.read("dirty.rejects.csv")), text(&dirty.rejects), "{way:?}");
    let mut places = json_lines(&server.read("dirty.rejects.csv.jsonl"));
    for (note, (.., words)) in places.iter_mut().zip(BAD) {
        let note = note.as_object_mut().unwrap();
        assert_eq!(note.remove("file"), Some(json!("dirty.csv")));
        let message = note.remove("message").unwrap();
        assert!(note.remove("table").unwrap().is_string());
        assert!(note.remove("dialect").is_some());
        assert_eq!(note.remove("line_hash").is_some(), note["code"] == "quote");
        assert!(message.as_str().unwrap().contains(words) && message != "", "{message} by {way:?}");
        if words.contains("positive_check") {
            // Only COPY says which column has a domain's values.
            let column = note.insert("column".to_owned(), Json::Null).unwrap();
            assert!([json!("size"), Json::Null].contains(&column), "{column}");
        }
    }
    for (found, right) in places.iter().zip(&dirty.places) {
        assert_eq!(found, right, "{way:?}");
    }
    assert_eq!(places.len(), dirty.places.len(), "{way:?}");
    let found = server.query("SELECT * FROM t ORDER BY id");
    for (found, right) in found.iter().zip(&dirty.stored) {
        assert_eq!(found, right, "{way:?}");
    }
    assert_eq!(found.len(), dirty.stored.len(), "{way:?}");
}

#[test]
fn exactly_the_good_rows_of_a_dirty_file() {
    for_each_server(|server| {
        let (empty, used) = (dirty("\n", false), dirty("\n", true));
        for way in some(server.ways_into_used()) {
            server.sql(TABLE).write("dirty.csv", &empty.file);
            assert_exactly_the_good_rows(server, &empty, &way, &[]);
            server.sql("TRUNCATE t").sql(OLD_ROW).write("dirty.csv", &used.file);
            assert_exactly_the_good_rows(server, &used, &way, &[]);
            server.sql(GONE);
        }
    });
}

#[test]
fn exactly_the_good_rows_among_answers_to_conflicts() {
    for_each_server(|server| {
        let mut used = dirty("\n", true);
        server.write("dirty.csv", &used.file);
        // A key that is there is no fault then: rows 800 and 1000.
        used.places.retain(|place| ![json!(800), json!(1000)].contains(&place["record"]));
        // The table has a trigger, and only COPY tells a row that it leaves out from one whose key is there.
        let ways = server.ways_into_used().into_iter().filter(|way| way.strategy.contains("copy"));
        for way in some(ways.collect::<Vec<_>>()) {
            server.sql(TABLE).sql(OLD_ROW);
            let load = [
                "dirty.csv",
                "--table",
                "t",
                "--if-exists",
                "append",
                "--quote",
                "\"",
                "--max-rejects",
                "40",
            ];
            let answer = ["--on-conflict", "skip", "--key", "id", "--json"];
            let report =
                server.load(&[&load[..], &answer, &way.options()].concat()).exits(3).json();
            assert_eq!(report["rows_skipped"], 2, "{way:?}");
            let lines = |places: &[Json]| {
                places.iter().map(|place| place["line"].clone()).collect::<Vec<_>>()
            };
            let found = json_lines(&server.read("dirty.rejects.csv.jsonl"));
            assert_eq!(lines(&found), lines(&used.places), "{way:?}");
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), used.stored, "{way:?}");
            server.sql(GONE);
        }
    });
}

#[test]
fn three_in_a_hundred_rows_are_bad() {
    let rows = size(4_000_i64, 100_000);
    for_each_server(|server| {
        let (mut file, mut rejects) = ("id,n,name\n".to_owned(), "id,n,name\n".to_owned());
        for id in 1..=rows {
            // Half of them only the server knows of.
            let row = match id % 67 {
                0 => format!("{id},x,a\n"),
                33 => format!("{id},-1,a\n"),
                _ => format!("{id},{},name {id}\n", id % 100),
            };
            if !row.contains("name") {
                rejects += &row;
            }
            file += &row;
        }
        let bad = rejects.lines().count() as i64 - 1;
        server.write("t.csv", file);
        for strategy in some(vec!["copy-binary", "copy-text", "copy-server", "unnest", "values"]) {
            server.sql("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (n >= 0), name text)");
            let load =
                ["t.csv", "--strategy", strategy, "--max-rejects", "4%", "--verify", "checksum"];
            server.load(&load).exits(3);
            assert_eq!(
                String::from_utf8(server.read("t.rejects.csv")).unwrap(),
                rejects,
                "{strategy}"
            );
            assert_eq!(server.count("t"), rows - bad, "{strategy}");
            server.drop_table("t");
        }
    });
}

/// The server's stack has an end.
#[test]
fn a_document_that_is_too_deep_is_a_bad_row() {
    for_each_server(|server| {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        server.write("t.csv", format!("id,j\n1,[1]\n2,{deep}\n3,[]\n"));
        server.sql("CREATE TABLE t (id int, j json)");
        server.load(&["t.csv", "--max-rejects", "1"]).exits(3);
        assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]]);
    });
}

#[test]
fn a_domain_over_an_integer_takes_what_the_integer_takes() {
    for_each_server(|server| {
        server.write("t.csv", "z\n1.0\n2\n").sql("CREATE DOMAIN zip AS integer");
        for strategy in ["copy-binary", "copy-text", "values"] {
            server.sql("CREATE TABLE t (z zip)");
            server.load(&["t.csv", "--strategy", strategy]).exits(0);
            assert_eq!(server.query("SELECT z FROM t ORDER BY z"), rows![[1], [2]], "{strategy}");
            server.drop_table("t");
        }
    });
}

/// The server calls them by the codes of faulty statements.
#[test]
fn a_name_of_what_is_not_there_is_a_bad_value() {
    for_each_server(|server| {
        server.write("t.csv", "id,what\n1,pg_class\n2,nowhere\n3,pg_type\n");
        server.sql("CREATE TABLE t (id int, what regclass)");
        for way in [&[][..], &["--strategy", "copy-text"], &["--set", "rows_per_statement=2"]] {
            let load = [&["t.csv", "--if-exists", "append"], way].concat();
            server.refuses(&load).says(&["t.csv: line 3, column what: 'nowhere'", "42P01"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"id,what\n2,nowhere\n", "{way:?}");
            assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [3]], "{way:?}");
            server.sql("TRUNCATE t");
        }
    });
}
