use serde_json::{Value as Json, json};

use crate::fixture::{json_lines, size, some};

use super::server::{Rows, Server, Way, alone_on_each_server, cell, for_some_servers};

const TABLE: &str = "CREATE TABLE t (
    id INT PRIMARY KEY, n TINYINT UNSIGNED, price DECIMAL(5,2), day DATE, seen DATETIME,
    name VARCHAR(12) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL, kind ENUM('a','b') DEFAULT 'b')
    ENGINE=InnoDB";

const HEADER: &str = "id,n,price,day,seen,name,kind";

/// Where a bad row stands, as it is written, the column to blame, and the code.
type Bad = (u64, &'static [u8], Option<&'static str>, &'static str);

/// One of each kind. The key of the last is that of a row which may be there.
const BAD: [Bad; 24] = [
    (1, b"1,1,1.5,2013-01-01", None, "field-count"),
    (40, b"40,1,1.5,2013-01-01,,a,a,2", None, "field-count"),
    (90, b"90,1,1.5,2013-01-01,,\"a,a", None, "quote"),
    (130, b"130,1,1.5,2013-01-01,,\"a\"b,a", None, "quote"),
    (170, b"170,1,1.5,2013-01-01,,Zo\xeb,a", Some("name"), "utf-8"),
    (171, b"171,1,1.5,2013-01-01,,a\xf0\x9f\x98\x80,a", Some("name"), "type"),
    (240, b"240,many,1.5,2013-01-01,,a,a", Some("n"), "type"),
    (241, b"241,\"\",1.5,2013-01-01,,a,a", Some("n"), "type"),
    (300, b"300,256,1.5,2013-01-01,,a,a", Some("n"), "range"),
    (333, b"333,-1,1.5,2013-01-01,,a,a", Some("n"), "range"),
    (380, b"380,1,1000,2013-01-01,,a,a", Some("price"), "range"),
    (420, b"420,1,1.567,2013-01-01,,a,a", Some("price"), "range"),
    (421, b"421,1,1;5,2013-01-01,,a,a", Some("price"), "type"),
    (500, b"500,1,1.5,2013-13-45,,a,a", Some("day"), "type"),
    (501, b"501,1,1.5,2012-02-30,,a,a", Some("day"), "type"),
    (555, b"555,1,1.5,2013-01-01,2013-01-01 25:00:00,a,a", Some("seen"), "type"),
    (600, b"600,1,1.5,2013-01-01,,,a", Some("name"), "not-null"),
    (640, b"640,1,1.5,2013-01-01,,thirteen char,a", Some("name"), "too-long"),
    (700, b"700,1,1.5,2013-01-01,,a,c", Some("kind"), "type"),
    (701, b"701,1,1.5,2013-01-01,,a,1", Some("kind"), "type"),
    (800, b"799,1,1.5,2013-01-01,,a,a", None, "duplicate-key"),
    (900, b",1,1.5,2013-01-01,,a,a", Some("id"), "not-null"),
    (990, b"99999999999,1,1.5,2013-01-01,,a,a", Some("id"), "range"),
    (1000, b"-1,1,1.5,2013-01-01,,a,a", None, "duplicate-key"),
];

/// The file, what should be in the table, and what should be rejected, and where it stood.
#[derive(Clone)]
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
        let values = ["-1", "1", "1.50", "2013-01-01"].map(cell);
        [&values[..], &[None, cell(name), cell("a")]].concat()
    };
    for record in 1..=1000 {
        let bad = BAD.iter().find(|(at, ..)| *at == record);
        if let Some((_, raw, column, code)) = bad.filter(|_| record < 1000 || is_used) {
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
            dirty.stored.insert(0, old("61"));
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
        let n = record % 256;
        let row = format!("{record},{n},7.{cents:02},2012-02-29,{moment},{quoted},{kind}{newline}");
        dirty.file.extend_from_slice(row.as_bytes());
        dirty.stored.push(vec![
            cell(record.to_string()),
            cell(n.to_string()),
            cell(format!("7.{cents:02}")),
            cell("2012-02-29"),
            Some(moment.to_owned()).filter(|moment| !moment.is_empty()),
            cell(name.bytes().map(|byte| format!("{byte:02X}")).collect::<String>()),
            cell(kind),
        ]);
    }
    if is_used {
        dirty.stored.insert(0, old("6F6C64"));
    }
    dirty
}

impl Dirty {
    /// The bad row of this record is a good one.
    fn allow(&mut self, record: u64) {
        let (_, raw, ..) = BAD.iter().find(|(at, ..)| *at == record).unwrap();
        let row = [raw, &b"\n"[..]].concat();
        let at = self.rejects.windows(row.len()).position(|window| window == row).unwrap();
        self.rejects.drain(at..at + row.len());
        self.places.retain(|place| place["record"] != record);
        let text = std::str::from_utf8(raw).unwrap();
        let mut values: Vec<&str> = text.split(',').collect();
        values[2] = "1.50";
        values[5] = "61";
        let stored = values.into_iter().map(|value| cell(value).filter(|value| !value.is_empty()));
        self.stored.push(stored.collect());
        self.stored.sort_by_key(|row| row[0].as_ref().unwrap().parse::<i64>().unwrap());
    }
}

const OLD_ROW: &str = "INSERT INTO t VALUES (-1, 1, 1.5, '2013-01-01', NULL, 'old', 'a')";

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
    for note in &mut places {
        let note = note.as_object_mut().unwrap();
        assert_eq!(note.remove("file"), Some(json!("dirty.csv")));
        assert!(
            note.remove("message").unwrap().as_str().is_some_and(|message| !message.is_empty())
        );
        assert_eq!(note.remove("table").unwrap(), "t");
        assert!(note.remove("dialect").is_some());
        assert_eq!(note.remove("line_hash").is_some(), note["code"] == "quote");
        if note["code"] == "duplicate-key" {
            // A key may have several columns.
            note.insert("column".to_owned(), Json::Null);
        }
    }
    assert_eq!(places, dirty.places, "{way:?} on {}", server.name);
    let sql = "SELECT id, n, price, day, seen, HEX(CONVERT(name USING utf8mb4)) AS name, kind FROM t ORDER BY id";
    let found = server.query(sql);
    for (found, right) in found.iter().zip(&dirty.stored) {
        assert_eq!(found, right, "{way:?} on {}", server.name);
    }
    assert_eq!(found.len(), dirty.stored.len(), "{way:?}");
}

/// By every way, into an empty table and into one that holds a row.
fn by_every_way(server: &Server, newline: &str) {
    let (empty, used) = (dirty(newline, false), dirty(newline, true));
    server.write("dirty.csv", &empty.file);
    for way in some(server.ways_into_empty()) {
        server.sql(TABLE);
        assert_exactly_the_good_rows(server, &empty, &way, &[]);
        server.drop_table("t");
    }
    server.write("dirty.csv", &used.file);
    for way in some(server.ways_into_used()) {
        server.sql(TABLE).sql(OLD_ROW);
        assert_exactly_the_good_rows(server, &used, &way, &[]);
        server.drop_table("t");
    }
}

#[test]
fn exactly_the_good_rows_of_a_dirty_file() {
    for_some_servers(|server| by_every_way(server, "\n"));
}

#[test]
fn exactly_the_good_rows_whatever_the_sql_mode_of_the_server() {
    let strict = "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'";
    // Modes that change what quotes, backslashes, zeros and trailing spaces are.
    let odd = "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH,ALLOW_INVALID_DATES,IGNORE_SPACE'";
    alone_on_each_server(|server| {
        let (empty, used) = (dirty("\n", false), dirty("\n", true));
        for (at, mode) in ["''", strict, odd].into_iter().enumerate() {
            // Each way in one of the modes.
            let others = |ways: Vec<Way>| ways.into_iter().skip(size(at, 0)).step_by(size(3, 1));
            if mode == odd && !server.is_mariadb && server.version < (5, 6) {
                continue;
            }
            server.with_global("sql_mode", mode, || {
                println!("sql_mode {mode}");
                let (mut empty, mut used) = (empty.clone(), used.clone());
                if mode == odd {
                    // There is a 30th of February then.
                    empty.allow(501);
                    used.allow(501);
                }
                server.write("dirty.csv", &empty.file);
                let over_two =
                    server.ways_into_empty().into_iter().filter(|way| way.lanes() == "2");
                for way in others(over_two.collect()) {
                    server.sql(TABLE);
                    assert_exactly_the_good_rows(server, &empty, &way, &[]);
                    server.drop_table("t");
                }
                server.write("dirty.csv", &used.file);
                for way in others(server.ways_into_used()) {
                    server.sql(TABLE).sql(OLD_ROW);
                    assert_exactly_the_good_rows(server, &used, &way, &[]);
                    server.drop_table("t");
                }
            });
        }
    });
}
