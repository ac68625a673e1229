use super::server::{Rows, Server, for_each_server, rows};
use crate::fixture::some;

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
fn texts_are_kept_by_every_type_of_text() {
    for_each_server(|server| {
        let (file, stored) = texts();
        server.write("t.csv", &file);
        let load = ["t.csv", "--quote", "\"", "--verify", "checksum"];
        server.sql("CREATE DOMAIN short AS varchar(40)");
        for column in ["varchar(50)", "varchar", "short"] {
            for way in some(server.ways_into_used()) {
                server.sql(&format!("CREATE TABLE t (id int PRIMARY KEY, text {column})"));
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                assert_texts(server, &stored, &(column, &way));
                server.drop_table("t");
            }
        }
    });
}

/// What others write otherwise is named with what reads it.
#[test]
fn errors_name_what_reads_values_of_other_programs() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, at timestamp, b bytea)");
        server.write("t.csv", "id,at,b\n1,2024-02-29 07:04:56.5+00,\\xdeadbeef\n");
        let run = server.refuses(&["t.csv"]).says(&["is not a timestamp without an offset"]);
        run.says(&["--time-zone UTC"]);
        let run = server.load(&["t.csv", "--time-zone", "UTC"]).exits(0);
        assert!(!run.stdout.contains("hexadecimal"), "{run:?}");
        let stored = server.query("SELECT at::text, encode(b, 'hex') FROM t");
        assert_eq!(stored, rows![["2024-02-29 07:04:56.5", "deadbeef"]]);
        server.write("t.csv", "id,at\n2,0000-00-00 00:00:00\n");
        let said = "--null 'at=0000-00-00 00:00:00'";
        server.refuses(&["t.csv", "--if-exists", "append"]).says(&[said]);
        server.drop_table("t");
        server.write("t.csv", "id,text\n1,\0\n2,x\n");
        server.refuses(&["t.csv"]).says(&["a NUL byte", "bcp -c writes an empty text"]);
    });
}

/// JSON has bytes in base64, and what they stand for is no notation for others.
#[test]
fn bytes_of_json_are_the_bytes_of_a_column() {
    for_each_server(|server| {
        // Backslashes, and what reads as bytes in hex, or in octal digits.
        let bytes = [
            ("QzpcXGRpcg==", "433a5c5c646972"),
            ("XHg0MTQy", "5c7834313432"),
            ("XA==", "5c"),
            ("AFwwMDE=", "005c303031"),
            ("//4=", "fffe"),
            ("", ""),
        ];
        let line = |(id, (base64, _)): (usize, &(&str, &str))| {
            format!("{{\"id\":{id},\"b\":\"{base64}\"}}\n")
        };
        server.write("t.jsonl", bytes.iter().enumerate().map(line).collect::<String>());
        let stored: Vec<&str> = bytes.iter().map(|(_, hex)| *hex).collect();
        for way in some(server.ways_into_used()) {
            server.sql("CREATE TABLE t (id int, b bytea)");
            let load = ["t.jsonl", "--if-exists", "append", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(0);
            let found = "SELECT string_agg(encode(b, 'hex'), ' ' ORDER BY id) FROM t";
            assert_eq!(server.query(found), rows![[stored.join(" ")]], "{way:?}");
            server.drop_table("t");
        }
    });
}

/// `{}` is how the server writes an array without elements.
#[test]
fn an_object_of_json_is_no_array_not_even_an_empty_one() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, a int[], s text[])");
        let lines = [
            r#"{"id":1,"a":[1,2],"s":["x"]}"#,
            r#"{"id":2,"a":{},"s":["x"]}"#,
            r#"{"id":3,"a":[],"s":{ }}"#,
            r#"{"id":4,"a":"{}","s":"{y}"}"#,
            r#"{"id":5,"a":null,"s":[]}"#,
        ];
        server.write("t.jsonl", lines.join("\n")).write("c.csv", "id,a,s\n6,{},{z}\n");
        let append = ["--if-exists", "append", "--table", "t"];
        let run = server.load(&[&["t.jsonl", "--max-rejects", "2"], &append[..]].concat()).exits(3);
        run.prints(&["2 bad rows rejected"]);
        let notes = String::from_utf8(server.read("t.rejects.jsonl.jsonl")).unwrap();
        assert_eq!(notes.matches("is an object, not a list").count(), 2, "{notes}");
        server.load(&[&["c.csv"], &append[..]].concat()).exits(0);
        let found = server.query("SELECT id, a::text, s::text FROM t ORDER BY id");
        let wanted = rows![[1, "{1,2}", "{x}"], [4, "{}", "{y}"], [5, (), "{}"], [6, "{}", "{z}"]];
        assert_eq!(found, wanted);
        server.drop_table("t");
    });
}

#[test]
fn a_new_table_has_the_types_of_the_values() {
    for_each_server(|server| {
        server.write(
            "t.csv",
            "i,f,b,d,m,z,s,j,u,l,code,big\n\
             1,1.5,true,2013-01-01,2013-01-01 10:00:00,2013-01-01T10:00:00+02:00,a,{},\
             {00112233445566778899AABBCCDDEEFF},P1Y2M3DT4H5M6.5S,007,1\n\
             -9223372036854775808,-1.7976931348623157e308,false,0001-01-01,9999-12-31 23:59:59.999999,\
             2013-01-01T10:00:00Z,b,[],00000000-0000-0000-0000-000000000001,PT-0.000001S,1,18446744073709551615\n\
             9223372036854775807,2.2250738585072014e-308,true,2012-02-29,2012-02-29 00:00:00,\
             2012-12-31T23:59:59-11:30,c,1,,,+1,-1\n",
        );
        let types = "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum";
        for way in some(server.ways_into_new()) {
            let types_said = ["--type", "j=json", "--type", "u=uuid", "--type", "l=interval"];
            let load = [&["t.csv", "--verify", "checksum"][..], &types_said].concat();
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
                ["u", "uuid"],
                ["l", "interval"],
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
                    "00000000-0000-0000-0000-000000000001",
                    "-00:00:00.000001",
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
                    "00112233-4455-6677-8899-aabbccddeeff",
                    "1 year 2 mons 3 days 04:05:06.5",
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
                    (),
                    (),
                    "+1",
                    "-1"
                ],
            ];
            let shown = "SELECT i, f, b, d, m, z AT TIME ZONE 'UTC', s, j, u, l, code, big FROM t ORDER BY i";
            assert_eq!(server.query(shown), stored, "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn a_nul_byte_is_a_bad_value_because_the_server_has_none() {
    for_each_server(|server| {
        server.write("t.csv", b"id,a\n1,x\n2,y\0z\n3,\n");
        for way in some(server.ways_into_new()) {
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
        for way in some(some(server.ways_into_new())) {
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
        // Together wider than a page, and each so short that it is not kept elsewhere.
        server.write("t.csv", wide(600, &["a", "wider than it", "b"]));
        for way in some(server.ways_into_new()) {
            let load = [&["t.csv", "--header", "yes"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3", "row is too big"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(
                server.query("SELECT c0, c599 FROM t ORDER BY 1"),
                rows![["a", "a"], ["b", "b"]],
                "{way:?}"
            );
            assert_eq!(server.read("t.rejects.csv"), wide(600, &["wider than it"]).as_bytes());
            server.drop_table("t");
        }
    });
}

#[test]
fn a_truncated_table_keeps_its_defaults_and_counts_on() {
    for_each_server(|server| {
        server.write("t.csv", "id,name\n2,b\n3,c\n");
        server.sql(
            "CREATE TABLE t (id int PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, name varchar(20), more int DEFAULT 7);
             INSERT INTO t (name, more) VALUES ('a', 1)",
        );
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[2, "b", 7], [3, "c", 7]]);
        assert_eq!(server.query("SELECT nextval(pg_get_serial_sequence('t', 'id'))"), rows![[2]]);
    });
}

#[test]
fn rows_that_a_trigger_keeps_are_not_taken_for_deleted() {
    for_each_server(|server| {
        server.write("t.csv", "id\n3\n").sql(
            "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2); CREATE TABLE child (id int REFERENCES t);
             CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN IF OLD.id = 1 THEN RETURN NULL; END IF; RETURN OLD; END$$;
             CREATE TRIGGER keep BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION keep()",
        );
        let says = ["rows of table t stay where they are deleted"];
        server.refuses(&["t.csv", "--if-exists", "truncate"]).says(&says);
        assert_eq!(server.count("t"), 2);
        // Without a transaction the others are gone.
        let way = ["--strategy", "values", "--set", "rows_per_transaction=7"];
        let run = server.load(&[&["t.csv", "--if-exists", "truncate"], &way[..]].concat()).exits(1);
        run.says(&says).says(&["may have been emptied"]);
        assert_eq!(server.count("t"), 1);
        server.sql("DROP TABLE t CASCADE; DROP FUNCTION keep");
    });
}

#[test]
fn names_that_need_quoting() {
    for_each_server(|server| {
        server.write("t.csv", "order,\"a\"\"b\",\"it's\",\u{e9}\u{4e2d},Upper\n1,x,y,z,u\n");
        let odd = "odd \"\"table\"\" \u{e9} 'x'.y";
        let written = format!("\"{odd}\"");
        for way in some(server.ways_into_new()) {
            server.load(&[&["t.csv", "--table", &written], &way.options()[..]].concat()).exits(0);
            assert_eq!(server.tables(), [odd.replace("\"\"", "\"")], "{way:?}");
            let sql = format!("SELECT \"Upper\", * FROM {written}");
            assert_eq!(server.query(&sql), rows![["u", 1, "x", "y", "z", "u"]], "{way:?}");
            server.sql(&format!("DROP TABLE {written}"));
        }
    });
}

#[test]
fn documents_of_bad_rows_are_the_same_once_these_are_fixed() {
    for_each_server(|server| {
        server.drop_table("t").sql("CREATE TABLE t (id int, j json)");
        let documents = ["5", "-1.50", "\"q\"", "true", "{\"a\": 1}", "[1, 2]", "1e400"];
        let row = |(id, document): (usize, &&str)| {
            format!("bad{id},\"{}\"\n", document.replace('"', "\"\""))
        };
        let rows: String = documents.iter().enumerate().map(row).collect();
        server.write("in.csv", format!("id,j\n{rows}"));
        let as_text = ["load", "in.csv", "in.parquet", "--type", "id=text", "--type", "j=text"];
        server.inrush(&as_text).exits(0);
        server
            .load(&["in.parquet", "--table", "t", "--if-exists", "append", "--max-rejects", "all"])
            .exits(3);
        let rejects = String::from_utf8(server.read("in.rejects.jsonl")).unwrap();
        server.write("in.rejects.jsonl", rejects.replace("bad", ""));
        server.load(&["in.rejects.jsonl", "--table", "t", "--if-exists", "append"]).exits(0);
        let found = server.query("SELECT j::text FROM t ORDER BY id");
        assert_eq!(
            format!("{found:?}"),
            format!("{:?}", documents.map(|document| [Some(document)])),
            "{rejects}"
        );
    });
}
