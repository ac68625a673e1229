use serde_json::json;

use super::server::{Rows, Server, for_each_server, rows};

/// Texts that are easily changed on their way into SQL, or into what COPY reads.
const TEXTS: [&str; 27] = [
    "plain",
    "",
    "NULL",
    "\\N",
    "\\",
    "\\.",
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
    "$1 ? :a @b %s $$ ; {c} E'x'",
    " spaces ",
    "\u{1}\u{1a}\u{8}\u{7f}",
    "\u{1f600} \u{e9}\u{301} \u{202e}\u{4e2d}\u{6587}",
    "\u{fffd}\u{feff}\u{2028}",
    "007",
    "1e5",
    "a,b;c|d",
    "\\x41",
    "{}",
];

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// A CSV file `id,text` of these, and what is to be stored of them, in hex.
fn texts() -> (String, Rows) {
    let mut file = "id,text\n".to_owned();
    let mut stored = Rows::new();
    for (id, text) in (1..).zip(TEXTS) {
        file += &format!("{id},\"{}\"\n", text.replace('"', "\"\""));
        stored.extend(rows![[id, hex(text)]]);
    }
    (file, stored)
}

#[track_caller]
fn assert_texts(server: &Server, expected: &Rows, what: &dyn std::fmt::Debug) {
    let sql = "SELECT id, encode(convert_to(text::text, 'UTF8'), 'hex') FROM t ORDER BY id";
    assert_eq!(server.query(sql), *expected, "{what:?}");
}

#[test]
fn every_text_arrives_as_it_is() {
    for_each_server(|server| {
        let (file, stored) = texts();
        server.write("t.csv", &file);
        let load = ["t.csv", "--quote", "\"", "--verify", "checksum"];
        for way in server.ways_into_new() {
            let report = server.report(&[&load[..], &way.options()].concat());
            assert_eq!(report["verify"], json!({"method": "checksum", "ok": true}));
            assert_eq!(report["rows_loaded"], TEXTS.len());
            assert_texts(server, &stored, &way);
            server.drop_table("t");
        }
        server.sql("CREATE DOMAIN short AS varchar(40)");
        for column in ["text", "varchar(50)", "varchar", "short"] {
            for way in server.ways_into_used() {
                server.sql(&format!("CREATE TABLE t (id int PRIMARY KEY, text {column})"));
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                assert_texts(server, &stored, &(column, &way));
                server.drop_table("t");
            }
        }
    });
}

#[test]
fn null_and_the_empty_text_stay_apart() {
    for_each_server(|server| {
        server.write("t.csv", "id,a,n\n1,,\n2,\"\",2\n3,NULL,\n4,\\N,4\n5,NA,5\n");
        let stored = rows![[1, (), ()], [2, "", 2], [3, "NULL", ()], [4, "\\N", 4], [5, (), 5]];
        for way in server.ways_into_new() {
            let load = ["t.csv", "--null", "NA", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            server.drop_table("t");
        }
        server.sql("CREATE TABLE t (id int, a varchar(9), n numeric(5,1))");
        for way in server.ways_into_used() {
            server.sql("TRUNCATE t; INSERT INTO t VALUES (0, '', 0)");
            let load = ["t.csv", "--null", "NA", "--if-exists", "append", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let sql = "SELECT id, a, floor(n) FROM t WHERE id > 0 ORDER BY id";
            assert_eq!(server.query(sql), stored, "{way:?}");
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
             -9223372036854775808,-1.7976931348623157e308,false,0001-01-01,9999-12-31 23:59:59.999999,\
             2013-01-01T10:00:00Z,b,[],1,18446744073709551615\n\
             9223372036854775807,2.2250738585072014e-308,true,2012-02-29,2012-02-29 00:00:00,\
             2012-12-31T23:59:59-11:30,c,1,+1,-1\n",
        );
        let types = "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum";
        for way in server.ways_into_new() {
            let load = ["t.csv", "--type", "j=json", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let mut found = server.query(types);
            let big = found.pop().unwrap()[1].clone().unwrap();
            assert!(big.starts_with("numeric") || big == "text", "{big}");
            let right = rows![
                ["i", "bigint"],
                ["f", "double precision"],
                ["b", "boolean"],
                ["d", "date"],
                ["m", "timestamp without time zone"],
                ["z", "timestamp with time zone"],
                ["s", "text"],
                ["j", "json"],
                ["code", "text"],
            ];
            assert_eq!(found, right, "{way:?}");
            let stored = rows![
                [
                    i64::MIN,
                    "-1.7976931348623157e+308",
                    "f",
                    "0001-01-01",
                    "9999-12-31 23:59:59.999999",
                    "2013-01-01 10:00:00",
                    "b",
                    "[]",
                    "1",
                    "18446744073709551615"
                ],
                [
                    1,
                    "1.5",
                    "t",
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
                    "2.2250738585072014e-308",
                    "t",
                    "2012-02-29",
                    "2012-02-29 00:00:00",
                    "2013-01-01 11:29:59",
                    "c",
                    "1",
                    "+1",
                    "-1"
                ],
            ];
            let shown =
                "SELECT i, f, b, d, m, z AT TIME ZONE 'UTC', s, j, code, big FROM t ORDER BY i";
            assert_eq!(server.query(shown), stored, "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_late_mismatch_widens_the_column_and_loses_nothing() {
    for_each_server(|server| {
        let rows: String = (1..=120_000).map(|id| format!("{id},{}\n", id % 100)).collect();
        server.write("t.csv", format!("id,n\n{rows}120001,007\n"));
        for way in server.ways_into_new() {
            if way.is("row-sql") || way.is("prepared") {
                continue;
            }
            let load = [
                "t.csv",
                "--strategy",
                &way.strategy,
                "--lanes",
                way.lanes(),
                "--verify",
                "checksum",
            ];
            server.load(&load).exits(0);
            let sql = "SELECT count(*), sum(id), count(DISTINCT n), max(n) FILTER (WHERE id = 120001), pg_typeof(max(n)) FROM t";
            assert_eq!(
                server.query(sql),
                rows![[120_001, 7_200_180_001, 101, "007", "text"]],
                "{way:?}"
            );
            assert_eq!(server.tables(), ["t"], "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn lines_that_end_with_crlf() {
    for_each_server(|server| {
        server.write("t.csv", "id,a\r\n1,x\r\n2,\"two\r\nlines\"\r\n3,\r\n");
        for way in server.ways_into_new() {
            server.load(&[&["t.csv"], &way.options()[..]].concat()).exits(0);
            let stored = rows![[1, "x"], [2, "two\r\nlines"], [3, ()]];
            assert_eq!(server.query("SELECT id, a FROM t ORDER BY id"), stored, "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_nul_byte_is_a_bad_value_because_the_server_has_none() {
    for_each_server(|server| {
        server.write("t.csv", b"id,a\n1,x\n2,y\0z\n3,\n");
        for way in server.ways_into_new() {
            let load = [&["t.csv"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3, column a", "NUL"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "x"], [3, ()]]);
            assert_eq!(server.read("t.rejects.csv"), b"id,a\n2,y\0z\n", "{way:?}");
            server.drop_table("t");
        }
    });
}

/// A file of so many columns with these values in each row.
fn wide(columns: usize, values: &[&str]) -> String {
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let rows: Vec<String> = values.iter().map(|value| vec![*value; columns].join(",")).collect();
    format!("{}\n{}\n", names.join(","), rows.join("\n"))
}

#[test]
fn as_many_columns_as_a_table_can_have_and_one_more() {
    for_each_server(|server| {
        server.write("t.csv", wide(1600, &["a", "b", ""])).write("more.csv", wide(1601, &["a"]));
        server.refuses(&["more.csv"]).says(&["1601", "1600"]);
        for way in server.ways_into_new() {
            let load = ["t.csv", "--verify", "checksum", "--header", "yes"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let sums = server.query("SELECT count(*), count(c0), max(c1599) FROM t");
            assert_eq!(sums, rows![[3, 2, "b"]], "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_row_that_is_wider_than_a_page_takes_is_a_bad_row() {
    for_each_server(|server| {
        server.write("t.csv", wide(1000, &["a", "wider than", "b"]));
        for way in server.ways_into_new() {
            let load = [&["t.csv", "--header", "yes"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3", "row is too big"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(
                server.query("SELECT c0, c999 FROM t ORDER BY 1"),
                rows![["a", "a"], ["b", "b"]],
                "{way:?}"
            );
            assert_eq!(server.read("t.rejects.csv"), wide(1000, &["wider than"]).as_bytes());
            server.drop_table("t");
        }
    });
}

#[test]
fn long_values() {
    for_each_server(|server| {
        let long: String = (0..10 << 20).map(|at| char::from(b'a' + (at % 23) as u8)).collect();
        server.write("t.csv", format!("id,a\n1,x\n2,\"{long}\"\n3,{long}\n"));
        let md5 = server.tool("md5sum", &[], long.as_bytes());
        let md5 = String::from_utf8(md5).unwrap()[..32].to_owned();
        // Two connections have no other way with them.
        for way in server.ways_into_new().into_iter().filter(|way| way.lanes() == "1") {
            let load = [&["t.csv", "--verify", "checksum"], &way.options()[..]].concat();
            server.load(&load).exits(0);
            let stored = server.query("SELECT id, length(a), md5(a) FROM t ORDER BY id");
            assert_eq!(
                stored[1..],
                rows![[2, 10 << 20, md5.clone()], [3, 10 << 20, md5.clone()]],
                "{way:?}"
            );
            server.drop_table("t");
        }
    });
}

#[test]
fn empty_files_and_headers_alone() {
    for_each_server(|server| {
        server.write("none.csv", "").write("t.csv", "id,name\n");
        server.refuses(&["none.csv"]).says(&["none.csv"]);
        for way in server.ways_into_new() {
            server
                .load(&[&["t.csv", "--verify", "checksum"], &way.options()[..]].concat())
                .exits(0);
            assert_eq!(server.count("t"), 0, "{way:?}");
            server.drop_table("t");
        }
        server.sql("CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, 'a')");
        for way in server.ways_into_used() {
            let load = [&["t.csv", "--if-exists", "append"], &way.options()[..]].concat();
            server.load(&load).exits(0);
            assert_eq!(server.query("SELECT * FROM t"), rows![[1, "a"]], "{way:?}");
        }
    });
}

#[test]
fn one_bad_row_in_100_000() {
    for_each_server(|server| {
        let mut text = "id,n\n".to_owned();
        for id in 1..=100_000 {
            let n = if id == 70_001 { "-1".to_owned() } else { (id % 1000).to_string() };
            text += &format!("{id},{n}\n");
        }
        server.write("t.csv", text);
        for strategy in ["copy-binary", "copy-text", "copy-server", "unnest", "values"] {
            server.sql("CREATE TABLE t (id int PRIMARY KEY, n int CHECK (n >= 0))");
            let load = ["t.csv", "--strategy", strategy];
            server.refuses(&load).says(&["t.csv: line 70002", "t_n_check", "23514"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            let stored = server.query("SELECT count(*), sum(id), sum(n) FROM t");
            let ids = 100_000 * 100_001 / 2 - 70_001_i64;
            assert_eq!(stored, rows![[99_999, ids, 49_950_000 - 1]]);
            assert_eq!(server.read("t.rejects.csv"), b"id,n\n70001,-1\n");
            server.drop_table("t");
        }
    });
}

#[test]
fn what_to_do_with_a_table_that_is_there() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n2,b\n3,c\n");
        let names = |server: &Server| server.query("SELECT name FROM t ORDER BY id");
        for way in server.ways_into_used() {
            let load = |word: &'static str| {
                server.load(&[&["t.csv", "--if-exists", word], &way.options()[..]].concat())
            };
            let no = |word: &'static str| {
                server.refuses(&[&["t.csv", "--if-exists", word], &way.options()[..]].concat())
            };
            server.drop_table("t").sql(
                "CREATE TABLE t (id int PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, name varchar(20), more int DEFAULT 7);
                 INSERT INTO t (name, more) VALUES ('a', 1)",
            );
            no("empty").says(&["table t", "--if-exists"]);
            no("fail").says(&["table t"]);
            load("append").exits(0);
            assert_eq!(names(server), rows![["a"], ["b"], ["c"]], "{way:?}");
            load("truncate").exits(0);
            assert_eq!(names(server), rows![["b"], ["c"]], "{way:?}");
            assert_eq!(server.query("SELECT DISTINCT more FROM t"), rows![[7]]);
            // The column counts on.
            assert_eq!(
                server.query("SELECT nextval(pg_get_serial_sequence('t', 'id'))"),
                rows![[2]]
            );
            load("replace").exits(0);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[2, "b"], [3, "c"]]);
            server.sql("DELETE FROM t");
            load("empty").exits(0);
            assert_eq!(names(server), rows![["b"], ["c"]], "{way:?}");
        }
        assert_eq!(server.tables(), ["t"]);
    });
}

#[test]
fn names_that_need_quoting() {
    for_each_server(|server| {
        server.write("t.csv", "order,\"a\"\"b\",\"it's\",\u{e9}\u{4e2d},Upper\n1,x,y,z,u\n");
        let odd = "odd \"\"table\"\" \u{e9} 'x'.y";
        let written = format!("\"{odd}\"");
        for way in server.ways_into_new() {
            server.load(&[&["t.csv", "--table", &written], &way.options()[..]].concat()).exits(0);
            assert_eq!(server.tables(), [odd.replace("\"\"", "\"")], "{way:?}");
            let sql = format!("SELECT \"Upper\", * FROM {written}");
            assert_eq!(server.query(&sql), rows![["u", 1, "x", "y", "z", "u"]], "{way:?}");
            server.sql(&format!("DROP TABLE {written}"));
        }
    });
}
