use serde_json::json;

use super::server::{
    Extras, Rows, SPECIAL, Server, Way, for_each_private_server, for_each_server, for_some_servers,
    rows,
};
use crate::fixture::{some, thorough};

/// Texts that are easily changed on their way into SQL, into a file that a server reads, or into the file of a CSV table.
const TEXTS: [&str; 26] = [
    "plain",
    "",
    "NULL",
    "\\N",
    "\\",
    "a\\tb\\",
    "\\\\n",
    "a\tb",
    "two\nlines",
    "\r\n",
    "\r",
    "'",
    "\"",
    "\"\"",
    "it's \"quoted\", isn't it",
    "'); DROP TABLE t; --",
    "? ?1 :a @b %s $$ ; `c` {}",
    " spaces ",
    "a\0b\0",
    "\u{1a}\u{8}\u{7f}",
    "\u{1f600} \u{e9}\u{301} \u{202e}\u{4e2d}\u{6587}",
    "\u{fffd}\u{feff}\u{2028}",
    "007",
    "1e5",
    "a,b;c|d",
    "0x41",
];

/// A CSV file `id,text` of these, and what HEX() shows of the text.
fn texts() -> (String, Rows) {
    let mut file = "id,text\n".to_owned();
    let mut stored = Rows::new();
    for (id, text) in (1..).zip(TEXTS) {
        file += &format!("{id},\"{}\"\n", text.replace('"', "\"\""));
        let hex = text.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
        stored.push(rows![[id, hex]].remove(0));
    }
    (file, stored)
}

#[track_caller]
fn assert_texts(server: &Server, expected: &Rows, what: &dyn std::fmt::Debug) {
    let found = server.query("SELECT id, HEX(text) FROM t ORDER BY id");
    assert_eq!(found, *expected, "{what:?} on {}", server.name);
}

#[test]
fn texts_are_kept_by_every_type_of_text_and_every_engine() {
    for_some_servers(|server| {
        let (file, stored) = texts();
        server.write("t.csv", &file);
        let is_special = |way: &Way| SPECIAL.contains(&way.strategy.as_str());
        for way in server.ways_into_new().into_iter().filter(is_special) {
            let load = ["t.csv", "--quote", "\"", "--verify", "checksum"];
            let report = server.report(&[&load[..], &way.options()].concat());
            assert_eq!(report["verify"], json!({"method": "checksum", "ok": true}));
            assert_eq!(report["rows_loaded"], TEXTS.len());
            assert_texts(server, &stored, &way);
            server.drop_table("t");
        }
        let columns = ["VARCHAR(50)", "TEXT", "MEDIUMTEXT", "VARBINARY(100)", "LONGBLOB"];
        let ways = server.ways_into_empty().into_iter().filter(|way| way.lanes() == "2");
        let cases = ways.flat_map(|way| columns.map(|column| (column, way.clone())));
        for (column, way) in some(cases.collect()) {
            server.sql(&format!("CREATE TABLE t (id INT PRIMARY KEY, text {column})"));
            let load = ["t.csv", "--quote", "\"", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            assert_texts(server, &stored, &(column, &way));
            server.drop_table("t");
        }
    });
}

/// What PostgreSQL writes otherwise is named, and what reads it where something does.
#[test]
fn values_as_postgres_writes_them_are_named() {
    for_some_servers(|server| {
        server.sql("CREATE TABLE t (id INT, ok TINYINT(1), at DATETIME, b BLOB)");
        server.write("t.csv", "id,ok,at,b\n1,t,,\\xdeadbeef\n2,f,2024-02-29 07:04:56+00,\n");
        server.refuses(&["t.csv"]).says(&["'t' is not a boolean", "--true ok=t --false ok=f"]);
        let read = ["t.csv", "--true", "ok=t", "--false", "ok=f"];
        server.refuses(&read).says(&["without an offset", "--time-zone UTC"]);
        let load = [&read[..], &["--time-zone", "UTC"]].concat();
        server.load(&load).exits(0).prints(&["column b: \\x and hexadecimal digits"]);
        let stored = server.query("SELECT ok, HEX(b) FROM t ORDER BY id");
        assert_eq!(stored, rows![[1, "5C786465616462656566"], [0, ()]]);
        server.drop_table("t");
    });
}

/// As text and as bytes; what is none is a bad row, also where the server would make NULL of it.
#[test]
fn geometries_are_kept_by_every_way() {
    const POINT: &str = "0101000000000000000000F03F0000000000000040";
    const LINE: &str =
        "010200000002000000000000000000000000000000000000000000000000000840000000000000F03F";
    for_some_servers(|server| {
        server.write(
            "t.csv",
            format!(
                "id,spot,area\n1,POINT(1 2),\n2,{POINT},\"LINESTRING(0 0,3 1)\"\n3,POINT(1),\n4,00000000{POINT},E6100000{LINE}\n\
                 5,LINESTRING EMPTY,\n6,,\n7,point(1 2),SRID=4326;POINT(1 2)\n8,\"LINESTRING(0 0,3 1)\",\n9,POINT(1 2),\n"
            ),
        );
        let point = format!("00000000{POINT}");
        let there = format!("E6100000{POINT}");
        let stored = rows![
            [1, point.as_str(), ()],
            [2, point.as_str(), format!("00000000{LINE}").as_str()],
            [4, point.as_str(), format!("E6100000{LINE}").as_str()],
            [7, point.as_str(), there.as_str()]
        ];
        // InnoDB of older ones has no spatial indexes.
        if !server.is_from((5, 7, 5)) {
            return;
        }
        let used = server.ways_into_used().into_iter().map(|way| (way, 5));
        let hidden = server.ways_into_empty().into_iter().map(|way| (way, 4));
        for (way, expected) in some(used.chain(hidden).collect()) {
            server.sql(
                "CREATE TABLE parents (id INT PRIMARY KEY) ENGINE=InnoDB;;\
                 INSERT INTO parents VALUES (1), (2), (3), (4), (5), (6), (7), (8);;\
                 CREATE TABLE t (id INT PRIMARY KEY, spot POINT NOT NULL, area GEOMETRY, SPATIAL KEY (spot)) ENGINE=InnoDB",
            );
            if expected == 5 {
                // Keeps the table in its place; only the server knows that row 9 is bad.
                server.sql("ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES parents (id)");
            }
            server.refuses(&[&["t.csv"], &way.options()[..]].concat()).says(&[
                "t.csv: line 4, column spot",
                "'POINT(1)' is not a point as text (WKT) or hexadecimal digits (WKB)",
            ]);
            let load =
                [&["t.csv", "--max-rejects", "all", "--verify", "checksum"], &way.options()[..]]
                    .concat();
            let report = server.load(&[&load[..], &["--json"]].concat()).exits(3).json();
            assert_eq!(report["rows_rejected"], expected, "{way:?}");
            assert_eq!(report["verify"], json!({"method": "checksum", "ok": true}), "{way:?}");
            let found =
                server.query("SELECT id, HEX(spot), HEX(area) FROM t WHERE id < 9 ORDER BY id");
            assert_eq!(found, stored, "{way:?} on {}", server.name);
            server.sql("DROP TABLE t;; DROP TABLE parents");
        }
    });
}

/// MySQL's texts have latitude first where the column's SRID says so, and what it keeps has longitude first.
#[test]
fn geometries_have_the_srid_of_their_column() {
    for_some_servers(|server| {
        if server.has_bulk() || !server.is_from((8, 0, 3)) {
            return;
        }
        server.write("t.csv", "id,spot\n1,POINT(2 1)\n2,SRID=4326;POINT(1 2)\n3,SRID=3857;POINT(1 2)\n4,POINT(100 1)\n");
        for way in some(server.ways_into_empty()) {
            server.sql(
                "CREATE TABLE t (id INT PRIMARY KEY, spot POINT NOT NULL SRID 4326, SPATIAL KEY (spot));;\
                 CREATE TABLE own AS SELECT ST_GeomFromText('POINT(2 1)', 4326) AS spot",
            );
            let load =
                [&["t.csv", "--max-rejects", "2", "--verify", "checksum"], &way.options()[..]]
                    .concat();
            server.load(&load).exits(3).prints(&["latitude first in spot"]);
            let reasons = String::from_utf8(server.read("t.rejects.csv.jsonl")).unwrap();
            for reason in ["of SRID 4326", "latitudes from -90 to 90"] {
                assert!(reasons.contains(reason), "{reasons}");
            }
            let found =
                server.query("SELECT COUNT(*) FROM t JOIN own ON HEX(t.spot) = HEX(own.spot)");
            assert_eq!(found, rows![[2]], "{way:?}");
            server.sql("DROP TABLE t;; DROP TABLE own");
        }
    });
}

#[test]
fn a_table_of_the_csv_engine_holds_no_null() {
    for_some_servers(|server| {
        server.write("t.csv", "id,a\n1,\n2,\"\"\n");
        for way in server.ways_into_new().into_iter().filter(|way| way.is("csv-file")) {
            let load = [&["t.csv"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 2, column a", "NULL"]);
        }
    });
}

#[test]
fn a_new_table_has_the_types_of_the_values() {
    for_each_server(|server| {
        server.write(
            "t.csv",
            "i,f,b,d,m,z,s,j,code,big\n\
             1,1.5,true,2013-01-01,2013-01-01 10:00:00,2013-01-01T10:00:00+02:00,a,{},007,1\n\
             -9223372036854775808,-1.7976931348623157e308,false,0001-01-01,9999-12-31 23:59:59,\
             2013-01-01T10:00:00Z,b,[],1,18446744073709551615\n\
             9223372036854775807,2.2250738585072014e-308,true,2012-02-29,2012-02-29 00:00:00,\
             2012-12-31T23:59:59-11:30,c,1,+1,-1\n",
        );
        let types = "SELECT COLUMN_NAME AS name, DATA_TYPE AS type FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't' ORDER BY ORDINAL_POSITION";
        for way in some(server.ways_into_new()) {
            let load = ["t.csv", "--type", "j=json", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let mut found = server.query(types);
            let big = found.pop().unwrap();
            assert!(matches!(big[1].as_deref(), Some("decimal" | "longtext")), "{big:?}");
            let right = rows![
                ["i", "bigint"],
                ["f", "double"],
                ["b", "tinyint"],
                ["d", "date"],
                ["m", "datetime"],
                ["z", "datetime"],
                ["s", "longtext"],
                ["j", "longtext"],
                ["code", "longtext"],
            ];
            assert_eq!(found, right, "{way:?}");
            let stored = rows![
                [
                    i64::MIN,
                    -f64::MAX,
                    0,
                    "0001-01-01",
                    "9999-12-31 23:59:59",
                    "2013-01-01 10:00:00",
                    "b",
                    "[]",
                    "1",
                    "18446744073709551615"
                ],
                [
                    1,
                    1.5,
                    1,
                    "2013-01-01",
                    "2013-01-01 10:00:00",
                    "2013-01-01 08:00:00",
                    "a",
                    "{}",
                    "007",
                    "1"
                ],
                [
                    i64::MAX,
                    f64::MIN_POSITIVE,
                    1,
                    "2012-02-29",
                    "2012-02-29 00:00:00",
                    "2013-01-01 11:29:59",
                    "c",
                    "1",
                    "+1",
                    "-1"
                ],
            ];
            let whole_seconds = "SELECT i, f, b, d, DATE_FORMAT(m, '%Y-%m-%d %T'), DATE_FORMAT(z, '%Y-%m-%d %T'), \
                 s, j, code, big FROM t ORDER BY i";
            assert_eq!(server.query(whole_seconds), stored, "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn moments_keep_their_fractions_where_the_server_can() {
    for_each_server(|server| {
        server.write("t.csv", "m\n2013-01-01 10:00:00.123456\n2013-01-01 10:00:00\n");
        let run = server.load(&["t.csv", "--verify", "checksum"]).exits(0);
        if !server.is_mariadb && server.version < (5, 6) {
            run.prints(&["column m is text", "--type m=timestamp"]);
        }
        let stored = server.query("SELECT CAST(m AS CHAR) FROM t ORDER BY 1");
        assert_eq!(stored[1][0].as_deref(), Some("2013-01-01 10:00:00.123456"), "{stored:?}");
    });
}

#[test]
fn hours_that_the_clock_skips_or_repeats() {
    // Central Europe, by its rule: no zone files are needed, of the machine or of the server.
    let environment = [("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")];
    let extras = Extras { environment: &environment, ..Extras::default() };
    let skipped = ["2023-03-26 02:00:00", "2023-03-26 02:30:00", "2023-03-26 02:59:59"];
    let moments = [
        "2023-03-26 01:59:59",
        skipped[0],
        "2023-03-26 03:00:00",
        skipped[1],
        "2023-10-29 01:59:59",
        "2023-10-29 02:00:00",
        "2023-10-29 02:30:00",
        skipped[2],
        "2023-10-29 02:30:00",
        "2023-10-29 03:00:00",
        "2023-07-01 12:00:00",
        "1970-01-01 01:00:00",
        "1970-01-01 01:00:01",
    ];
    let lines = |is_good: &dyn Fn(&str) -> bool| {
        let rows = (1..).zip(moments).filter(|(_, moment)| is_good(moment));
        rows.map(|(id, moment)| (id.to_string(), moment)).collect::<Vec<_>>()
    };
    let file = |rows: &[(String, &str)]| {
        let rows: String = rows.iter().map(|(id, moment)| format!("{id},{moment}\n")).collect();
        format!("id,moment\n{rows}")
    };
    // Second 0 is how TIMESTAMP keeps the zero date.
    let is_bad = |moment: &str| skipped.contains(&moment) || moment == "1970-01-01 01:00:00";
    let good: Rows = lines(&|moment| !is_bad(moment))
        .into_iter()
        .map(|(id, moment)| vec![Some(id), Some(moment.to_owned())])
        .collect();
    for_each_private_server(
        |name| thorough() || name.starts_with("mysql"),
        extras,
        |_, server| {
            server.write("t.csv", file(&lines(&|_| true)));
            for mode in ["STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", ""] {
                server.sql(&format!("SET GLOBAL sql_mode = '{mode}'"));
                for strategy in ["load-data", "load-data-server", "values", "prepared"] {
                    server.drop_table("t").sql(
                        "CREATE TABLE t (id INT PRIMARY KEY, moment TIMESTAMP NULL) ENGINE=InnoDB",
                    );
                    let what = format!("{strategy}, sql_mode '{mode}', on {}", server.name);
                    println!("{what}");
                    let load = ["t.csv", "--strategy", strategy, "--verify", "checksum"];
                    let run = server.refuses(&load);
                    run.says(&["t.csv: line 3, column moment", "'2023-03-26 02:00:00'"]);
                    server.load(&[&load[..], &["--max-rejects", "4"]].concat()).exits(3);
                    let stored = server.query("SELECT id, CAST(moment AS CHAR) FROM t ORDER BY id");
                    assert_eq!(stored, good, "{what}");
                    let rejects = String::from_utf8(server.read("t.rejects.csv")).unwrap();
                    assert_eq!(rejects, file(&lines(&is_bad)), "{what}");
                }
            }
        },
    );
}

/// Which servers end in 2038 and which in 2106 is theirs to say.
#[test]
fn a_check_knows_the_days_that_timestamps_have() {
    let days = ["1900-01-01", "1969-12-30", "1970-01-03", "2038-01-17", "2038-01-21", "2106-02-09"];
    let rows = |(line, day): (usize, &&str)| format!("{line},{day} 12:00:00\n");
    let file = "id,at\n".to_owned() + &(2..).zip(&days).map(rows).collect::<String>();
    for_each_server(|server| {
        server.write("t.csv", &file);
        server.sql("CREATE TABLE t (id INT, at TIMESTAMP NULL)");
        let url = server.url();
        let check = ["check", "t.csv", &url, "--table", "t", "--json"];
        let found = server.inrush(&check).exits(3).json();
        let lines = found["bad_rows"].as_array().unwrap().iter();
        let bad: Vec<u64> = lines.map(|row| row["line"].as_u64().unwrap()).collect();
        server.load(&["t.csv", "--max-rejects", "all"]).exits(3);
        let good = server.query("SELECT id FROM t ORDER BY id");
        let left = (2..8).filter(|line| !bad.contains(line));
        let left: Vec<_> = left.map(|line| Some(line.to_string())).collect();
        assert_eq!(good.concat(), left, "on {}", server.name);
        server.drop_table("t");
    });
}

#[test]
fn moments_with_an_offset_are_the_same_moments_in_timestamp_columns() {
    // The hour that comes twice among them, once each time; second 0 is the zero date, and MySQL 5 to 8 end in 2038.
    let file = "id,moment\n1,2023-10-29T02:30:00+02:00\n2,2023-10-29T02:30:00+01:00\n3,2024-07-01T12:00:00Z\n\
                4,1970-01-01T00:00:00Z\n5,2106-12-31T00:00:00Z\n6,2024-01-31 12:00:00.5-03:30\n7,1960-01-01T00:00:00Z\n";
    let good = rows![
        [1, "1698539400.000000"],
        [2, "1698543000.000000"],
        [3, "1719835200.000000"],
        [6, "1706715000.500000"]
    ];
    let table = "CREATE TABLE t (id INT PRIMARY KEY, moment TIMESTAMP(6) NULL) ENGINE=InnoDB";
    let test = |server: &Server| {
        // Older ones have no fractions.
        if !server.is_from((5, 6, 4)) {
            return;
        }
        server.write("t.csv", file);
        server.sql(table);
        server.refuses(&["t.csv"]).says(&["t.csv: line 5, column moment"]);
        for way in some(server.ways_into_empty()) {
            for verify in ["count", "checksum"] {
                let options = way.options();
                let load = [&["t.csv", "--verify", verify], &options[..]].concat();
                server.load(&[&load[..], &["--max-rejects", "3"]].concat()).exits(3);
                // That is the moment itself, whatever the session's zone.
                let stored = server.query("SELECT id, UNIX_TIMESTAMP(moment) FROM t ORDER BY id");
                assert_eq!(stored, good, "{way:?} on {}", server.name);
                server.sql("DELETE FROM t");
            }
        }
        server.drop_table("t");
    };
    for_some_servers(|server| test(server));
    let environment = [("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")];
    let extras = Extras { environment: &environment, ..Extras::default() };
    for_each_private_server(
        |name| thorough() || name.starts_with("mariadb"),
        extras,
        |_, server| {
            test(server);
            // One without would be shifted by the load's session.
            server.sql("CREATE TABLE t (id INT, zoned TIMESTAMP NULL, local TIMESTAMP NULL)");
            server
                .write("both.csv", "id,zoned,local\n1,2024-07-01T12:00:00Z,2024-07-01 12:00:00\n");
            let run = server.refuses(&["both.csv", "--table", "t"]);
            run.says(&["column local", "'2024-07-01 12:00:00' is not a timestamp with an offset"]);
            // And where none has one, all mean what they always did.
            server.write("local.csv", "id,local\n1,2024-07-01 12:00:00\n");
            server.load(&["local.csv", "--table", "t"]).exits(0);
            assert_eq!(
                server.query("SELECT CAST(local AS CHAR), UNIX_TIMESTAMP(local) FROM t"),
                rows![["2024-07-01 12:00:00", 1_719_828_000]]
            );
        },
    );
}

#[test]
fn a_row_wider_than_a_page_takes_is_told_before_anything_is_there() {
    for_some_servers(|server| {
        let names: Vec<String> = (0..500).map(|column| format!("c{column}")).collect();
        server.write("t.csv", format!("{}\n{}\n", names.join(","), vec!["text"; 500].join(",")));
        let run = server.leaves_everything(|| {
            let run = server.load(&["t.csv"]);
            if run.status.success() {
                server.drop_table("t");
            }
            run
        });
        // As long as nobody finds a way.
        if !run.status.success() {
            let run = run.exits(1).ends_with_nothing_changed();
            run.says(&["Row size too large", "--set engine=myisam --durability process", "--type"]);
        }
        server.load(&["t.csv", "--set", "engine=myisam", "--durability", "process"]).exits(0);
        assert_eq!(server.query("SELECT c0, c499 FROM t"), rows![["text", "text"]]);
    });
}

#[test]
fn a_row_that_is_wider_than_the_others_and_than_a_page_takes() {
    for_some_servers(|server| {
        let columns = |text: &str| vec![text; 300].join(",");
        // Texts of up to 40 bytes stay in the page whatever happens.
        let wide = columns(&"x".repeat(38));
        let rows = [columns("a"), wide.clone(), columns("b")].join("\n");
        let names: Vec<String> = (0..300).map(|column| format!("c{column}")).collect();
        server.write("t.csv", format!("{}\n{rows}\n", names.join(",")));
        let types: Vec<String> = names.iter().map(|name| format!("{name} TEXT")).collect();
        // A table that could not be made any more, as it is found where this was switched off once.
        server.sql("SET SESSION innodb_strict_mode = 0");
        let table =
            format!("CREATE TABLE t ({}) ENGINE=InnoDB ROW_FORMAT=DYNAMIC", types.join(","));
        for strategy in some(vec!["load-data", "values", "prepared"]) {
            server.sql(&table);
            let load = ["t.csv", "--header", "yes", "--strategy", strategy];
            server.refuses(&load).says(&["t.csv: line 3"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.query("SELECT c0, c299 FROM t"), rows![["a", "a"], ["b", "b"]]);
            let rejects = format!("{}\n{wide}\n", names.join(","));
            assert_eq!(String::from_utf8(server.read("t.rejects.csv")).unwrap(), rejects);
            server.drop_table("t");
        }
    });
}

#[test]
fn a_truncated_table_keeps_its_defaults_and_counts() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n2,b\n3,c\n");
        server.sql(
            "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20), more INT DEFAULT 7);;
             INSERT INTO t VALUES (1, 'a', 1)",
        );
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[2, "b", 7], [3, "c", 7]]);
        server.sql("INSERT INTO t (name) VALUES ('d')");
        assert_eq!(server.query("SELECT id FROM t WHERE name = 'd'"), rows![[4]]);
    });
}

#[test]
fn a_trigger_that_changes_what_was_sent_is_seen() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n").sql(
            "CREATE TABLE t (id INT, name VARCHAR(9));;
             CREATE TRIGGER shout BEFORE INSERT ON t FOR EACH ROW SET NEW.name = UPPER(NEW.name)",
        );
        for way in some(server.ways_into_used()) {
            let load = [&["t.csv", "--verify"], &way.options()[..]].concat();
            let checked = [&load[..1], &["--verify", "checksum"], &load[2..]].concat();
            server.refuses(&checked).says(&["column name", "trigger"]);
            let unchecked = [&load[..1], &["--verify", "none"], &load[2..]].concat();
            server.load(&unchecked).exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "A"], [2, "B"]]);
            server.sql("DELETE FROM t");
        }
    });
}

#[test]
fn names_that_need_quoting() {
    for_some_servers(|server| {
        server.write("t.csv", "order,a`b,\"it's\",\u{e9}\u{4e2d}\n1,x,y,z\n");
        let odd = "odd `table` \u{e9} 'x'.y";
        for way in some(server.ways_into_new()) {
            server.load(&[&["t.csv", "--table", odd], &way.options()[..]].concat()).exits(0);
            assert_eq!(server.tables(), [odd], "{way:?}");
            let sql = format!("SELECT * FROM `{}`", odd.replace('`', "``"));
            assert_eq!(server.query(&sql), rows![[1, "x", "y", "z"]], "{way:?}");
            server.sql(&format!("DROP TABLE `{}`", odd.replace('`', "``")));
        }
    });
}

/// What a later run of a load in steps finds is a column of the catalogue.
#[test]
fn values_mean_the_same_in_all_runs_of_a_load() {
    for_some_servers(|server| {
        let moment = |id: usize| match id % 2 {
            0 => "2024-01-01 00:00:00Z",
            _ => "2024-01-01 00:00:00",
        };
        let truth = |id: usize| if id.is_multiple_of(2) { "true" } else { "5" };
        for (ty, value) in
            [("timestamptz", &moment as &dyn Fn(usize) -> &'static str), ("boolean", &truth)]
        {
            let row = |id: usize| format!("{id},{}\n", value(id));
            let (first, rest): (String, String) =
                ((1..=2000).map(row).collect(), (2001..=3000).map(row).collect());
            let file = format!("{ty}.csv");
            server.write(&file, format!("id,v\n{first}bad,{}\n{rest}", value(2)));
            let typed = format!("v={ty}");
            let steps = ["--guarantee", "chunks", "--commit-rows", "500", "--chunk-size", "1k"];
            let types = ["--table", "t", "--type", "id=integer", "--type", &typed];
            let load = [&[&file[..]][..], &types, &steps].concat();
            let run = server.load(&[&load[..], &["--max-rejects", "1000"]].concat()).exits(1);
            run.says(&["line 2002", "resumable"]);
            server.load(&[&load[..], &["--resume", "--max-rejects", "all"]].concat()).exits(3);
            assert_eq!(server.count("t"), 1500, "{ty} on {}", server.name);
            assert_eq!(server.number("SELECT COUNT(*) FROM t WHERE id % 2 = 1"), 0, "{ty}");
            server.sql("DROP TABLE t, inrush_steps");
        }
    });
}
