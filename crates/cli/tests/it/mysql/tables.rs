use std::fmt::Write as _;

use crate::fixture::{json_lines, some};

use super::server::{Server, for_each_server, for_some_servers, rows};

#[test]
fn columns_are_found_by_name_and_the_rest_has_its_default() {
    for_some_servers(|server| {
        server.write("t.csv", "NAME,Id\nb,2\n,3\n");
        for way in some(server.ways_into_empty()) {
            server.sql(
                "CREATE TABLE t (id INT PRIMARY KEY, day DATE DEFAULT '2013-01-01', name VARCHAR(9), n INT,
                 size DECIMAL(3,1) NOT NULL DEFAULT 1.5)",
            );
            server.load(&[&["t.csv"], &way.options()[..]].concat()).exits(0);
            let stored = rows![[2, "2013-01-01", "b", (), "1.5"], [3, "2013-01-01", (), (), "1.5"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            server.drop_table("t");
        }
        server.sql("CREATE TABLE t (id INT, name VARCHAR(9), needed INT NOT NULL)");
        server.refuses(&["t.csv"]).says(&["column needed"]);
    });
}

/// NO_ZERO_DATE, which is one of MySQL's own modes since 5.7, takes no new table with such a default, and none like an older one.
#[test]
fn a_default_that_the_mode_takes_no_more_is_the_table_s_own_matter() {
    for_each_server(|server| {
        // It refuses the default itself.
        if !server.is_mariadb && server.version == (5, 7) {
            return;
        }
        server.write("t.csv", "id,name\n1,a\n2,b\n");
        for way in some(server.ways_into_empty()) {
            server.sql(
                "SET SESSION sql_mode = '';; CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(9),
                 at DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', KEY n (name)) ENGINE=InnoDB;;
                 SET SESSION sql_mode = @@GLOBAL.sql_mode",
            );
            let made = server.state()["t"].0.clone();
            for if_exists in ["empty", "truncate"] {
                let load = ["t.csv", "--if-exists", if_exists];
                server.load(&[&load[..], &way.options()].concat()).exits(0);
                let stored =
                    rows![[1, "a", "0000-00-00 00:00:00"], [2, "b", "0000-00-00 00:00:00"]];
                assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
                assert_eq!(server.state()["t"].0, made, "{way:?} on {}", server.name);
            }
            server.sql("DELETE FROM t");
            let after = ["t.csv", "--set", "indexes=after"];
            let report = server.report(&after);
            assert!(report["seconds"]["index"].as_f64() > Some(0.0), "{report}");
            assert_eq!(server.state()["t"].0, made, "indexes after rows on {}", server.name);
            server.drop_table("t");
        }
    });
}

#[test]
fn columns_that_have_to_be_named_get_no_value_by_position() {
    for_each_server(|server| {
        if !server.is_from((8, 0, 23)) {
            return;
        }
        server.write("t.csv", "1,2\n3,4\n").write("named.csv", "a,c\n5,6\n");
        server.sql("CREATE TABLE t (a INT, c INT DEFAULT 7 INVISIBLE, b INT)");
        server
            .load(&["t.csv", "--header", "no"])
            .exits(0)
            .prints(&["by position, that is to a, b"]);
        server.load(&["named.csv", "--table", "t", "--if-exists", "append"]).exits(0);
        let stored = rows![[1, 2, 7], [3, 4, 7], [5, (), 6]];
        assert_eq!(server.query("SELECT a, b, c FROM t ORDER BY a"), stored, "{}", server.name);
    });
}

#[test]
fn a_column_that_counts_keeps_the_numbers_of_the_file_even_0() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n0,zero\n5,five\n").write("names.csv", "name\na\nb\n");
        server.write("null.csv", "id,name\n,who\n");
        for way in some(server.ways_into_empty()) {
            server.sql("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(9))");
            server.load(&[&["t.csv"], &way.options()[..]].concat()).exits(0);
            let stored = rows![[0, "zero"], [5, "five"]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            // The server would make a number up.
            let append =
                [&["null.csv", "--table", "t", "--if-exists", "append"], &way.options()[..2]];
            server.refuses(&append.concat()).says(&["null.csv: line 2, column id", "NULL"]);
            let append =
                [&["names.csv", "--table", "t", "--if-exists", "append"], &way.options()[..2]];
            server.load(&append.concat()).exits(0);
            assert_eq!(
                server.query("SELECT name FROM t WHERE id > 5 ORDER BY id"),
                rows![["a"], ["b"]]
            );
            server.drop_table("t");
        }
    });
}

#[test]
fn a_column_that_counts_goes_on_where_it_was() {
    for_some_servers(|server| {
        server.write("t.csv", "name\na\nb\n");
        for way in some(server.ways_into_empty()) {
            server.sql(
                "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(9)) ENGINE=InnoDB AUTO_INCREMENT=1000",
            );
            server.load(&[&["t.csv"], &way.options()[..]].concat()).exits(0);
            let ids = server.query("SELECT id FROM t ORDER BY id");
            assert_eq!(ids, rows![[1000], [1001]], "{way:?}");
            server.drop_table("t");
        }
    });
}

/// A statement takes a number for each of its rows, also one that is taken back because of a bad row.
#[test]
fn a_column_that_has_counted_to_its_end_makes_no_bad_rows() {
    for_some_servers(|server| {
        let name = |n: u32| if n == 110 { 1 } else { n };
        let rows: String = (1..=120).map(|n| format!("{},b\n", name(n))).collect();
        server
            .write("t.csv", format!("name,more\n{rows}"))
            .write("five.csv", "more\na\nb\nc\nd\ne\n");
        let table = "CREATE TABLE t (id TINYINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(9) UNIQUE, more CHAR(1)) ENGINE=InnoDB";
        let all = ["--max-rejects", "all"];
        for strategy in [&[][..], &["--strategy", "values"], &["--strategy", "load-data"]] {
            server.drop_table("t").sql(table);
            let load = [&["t.csv"], &all[..], strategy].concat();
            let words = ["column id has no number left", "--set rows_per_statement=1"];
            server.refuses(&load).says(&words);
            server.load(&[&load[..], &["--set", "rows_per_statement=1"]].concat()).exits(3);
            assert_eq!(server.count("t"), 119, "{strategy:?}");
        }
        server.drop_table("t").sql(&format!("{table} AUTO_INCREMENT=126"));
        let one_by_one = ["--strategy", "values", "--set", "rows_per_statement=1"];
        let load = [&["five.csv", "--table", "t"], &all[..], &one_by_one].concat();
        server.refuses(&load).says(&["column id has no number left"]);
        server
            .drop_table("t")
            .sql(&format!("{} AUTO_INCREMENT=126", table.replace("InnoDB", "MyISAM")));
        let load = [&load[..], &["--durability", "process"]].concat();
        server.load(&load).exits(1).says(&["column id has no number left"]);
    });
}

/// What triggers write is refused in the same words as the numbers that the server makes.
#[test]
fn what_triggers_repeat_is_a_bad_row_beside_a_column_that_counts() {
    for_some_servers(|server| {
        server.write("t.csv", "n\n1\n300\n300\n3\n");
        for (trigger, stored) in [
            ("AFTER INSERT ON t FOR EACH ROW INSERT INTO log VALUES (NEW.n)", 3),
            ("BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NEW.n", 3),
            ("AFTER INSERT ON t FOR EACH ROW INSERT INTO narrow VALUES (NEW.n)", 2),
        ] {
            server.sql(
                "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, n INT) ENGINE=InnoDB;
                 CREATE TABLE log (n INT PRIMARY KEY) ENGINE=InnoDB; CREATE TABLE narrow (id TINYINT) ENGINE=InnoDB",
            );
            server.sql(&format!("CREATE TRIGGER writes {trigger}"));
            for way in some(server.ways_into_used()) {
                let load = ["t.csv", "--if-exists", "append", "--max-rejects", "2"];
                server.load(&[&load[..], &way.options()].concat()).exits(3);
                assert_eq!(server.count("t"), stored, "{trigger} {way:?}");
                server.sql("DELETE FROM t; DELETE FROM log; DELETE FROM narrow");
            }
            for table in ["t", "log", "narrow"] {
                server.drop_table(table);
            }
        }
    });
}

#[test]
fn names_of_checks_and_histograms_stay() {
    for_each_server(|server| {
        if server.is_mariadb || !server.is_from((8, 0, 16)) {
            return;
        }
        server.write("t.csv", "id,n\n1,1\n2,2\n");
        let checks = "SELECT CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS \
             WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY 1";
        for way in some(server.ways_into_empty()) {
            for (check, histogram) in [("CONSTRAINT positive", false), ("", true), ("", false)] {
                server.sql(&format!(
                    "CREATE TABLE t (id INT PRIMARY KEY, n INT, {check} CHECK (n > 0))"
                ));
                if histogram {
                    server.sql("ANALYZE TABLE t UPDATE HISTOGRAM ON n WITH 4 BUCKETS");
                }
                let before = server.query(checks);
                server.load(&[&["t.csv"], &way.options()[..]].concat()).exits(0);
                assert_eq!(server.query(checks), before, "{way:?}");
                let kept = "SELECT COUNT(*) FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = DATABASE()";
                assert_eq!(server.number(kept), i64::from(histogram), "{way:?}");
                server.drop_table("t");
            }
        }
    });
}

/// Prepared statements that ask a sequence bring MariaDB 10.11 down.
#[test]
fn a_default_that_asks_a_sequence_is_asked_by_statements_that_are_not_prepared() {
    for_each_server(|server| {
        if !server.is_mariadb || server.version < (10, 3) {
            return;
        }
        server.write("t.csv", "n\n1\n2\n3\n").sql("CREATE SEQUENCE numbers");
        for way in server.ways_into_empty() {
            server.sql("CREATE TABLE t (id BIGINT DEFAULT nextval(numbers), n INT) ENGINE=InnoDB");
            let load = [&["t.csv"], &way.options()[..]].concat();
            if way.is("bulk") || way.is("prepared") {
                server.misused(&load).says(&["asks a sequence"]);
            } else {
                server.load(&load).exits(0);
                assert_eq!(server.number("SELECT COUNT(DISTINCT id) FROM t"), 3, "{way:?}");
            }
            server.drop_table("t");
        }
        server.sql("DROP TABLE numbers");
    });
}

/// The server writes `{"b": 1, "aa": [1.1]}`.
#[test]
fn documents_that_the_server_spells_in_its_own_way_are_no_other_values() {
    for_each_server(|server| {
        if !server.is_mariadb && server.version < (5, 7) {
            return;
        }
        let doc = r#""{""aa"":[1.10],  ""b"":1, ""z"":-0}""#;
        server.write("t.csv", format!("id,doc\n1,{doc}\n2,\n"));
        for way in some(server.ways_into_empty()) {
            server.sql("CREATE TABLE t (id INT PRIMARY KEY, doc JSON)");
            server
                .load(&[&["t.csv", "--verify", "checksum"], &way.options()[..]].concat())
                .exits(0);
            let kept = "SELECT JSON_EXTRACT(doc, '$.b'), doc IS NULL FROM t ORDER BY id";
            assert_eq!(server.query(kept), rows![[1, 0], [(), 1]], "{way:?}");
            let zero = server.query("SELECT JSON_EXTRACT(doc, '$.z') FROM t WHERE id = 1");
            let is_short = server.is_mariadb || server.version < (8, 0);
            let wanted = if is_short { "-0" } else { "-0.0" };
            assert_eq!(zero, rows![[wanted]], "{way:?}");
            server.drop_table("t");
        }
    });
}

#[test]
fn generated_columns_are_the_servers() {
    for_each_server(|server| {
        if !server.is_mariadb && server.version < (5, 7) {
            return;
        }
        server.write("t.csv", "a,b\n1,2\n3,4\n").write("all.csv", "a,b,c,d\n1,2,3,2\n");
        for way in some(server.ways_into_empty()) {
            server.sql(
                "CREATE TABLE t (a INT, c INT GENERATED ALWAYS AS (a + b) VIRTUAL, b INT,
                 d INT GENERATED ALWAYS AS (a * b) STORED)",
            );
            server
                .load(&[&["t.csv", "--verify", "checksum"], &way.options()[..]].concat())
                .exits(0);
            assert_eq!(
                server.query("SELECT * FROM t ORDER BY a"),
                rows![[1, 3, 2, 2], [3, 7, 4, 12]]
            );
            server.refuses(&["all.csv", "--table", "t", "--if-exists", "append"]).says(&[
                "columns c, d",
                "computes the values",
                "--drop c,d",
            ]);
            server
                .refuses(&[
                    "all.csv",
                    "--table",
                    "t",
                    "--if-exists",
                    "append",
                    "--new-columns",
                    "add",
                ])
                .says(&["columns c, d"]);
            server
                .load(&["all.csv", "--table", "t", "--if-exists", "append", "--drop", "c,d"])
                .exits(0);
            server.drop_table("t");
        }
    });
}

/// A column's type, values that it keeps and how it shows them, and values that it can't keep, with their codes.
struct Column {
    ty: &'static str,
    good: Vec<(String, String)>,
    bad: Vec<(String, &'static [&'static str])>,
}

fn column(
    ty: &'static str,
    good: &[(&str, &str)],
    bad: &[(&str, &'static [&'static str])],
) -> Column {
    let good = good.iter().map(|(value, shown)| ((*value).to_owned(), (*shown).to_owned()));
    let bad = bad.iter().map(|(value, codes)| ((*value).to_owned(), *codes));
    Column { ty, good: good.collect(), bad: bad.collect() }
}

fn same<'v>(values: &[&'v str]) -> Vec<(&'v str, &'v str)> {
    values.iter().map(|value| (*value, *value)).collect()
}

const TYPE: &[&str] = &["type"];
const RANGE: &[&str] = &["range"];
const LONG: &[&str] = &["too-long"];
/// Which of the two is a matter of taste.
const EITHER: &[&str] = &["type", "range"];

fn columns(server: &Server) -> Vec<Column> {
    let long = |length: usize| "x".repeat(length);
    let (fits, too_long) = (long(255), long(256));
    let most = format!("{}.{}", "9".repeat(35), "9".repeat(30));
    let more = format!("1{}", "0".repeat(35));
    let mut columns = vec![
        column(
            "TINYINT",
            &[("-128", "-128"), ("127", "127"), ("007", "7"), ("-0", "0"), ("1.0", "1")],
            &[
                ("128", RANGE),
                ("-129", RANGE),
                ("x", TYPE),
                ("1.5", TYPE),
                ("", TYPE),
                ("1x", TYPE),
                (" 1", TYPE),
            ],
        ),
        column("TINYINT UNSIGNED", &same(&["0", "255"]), &[("256", RANGE), ("-1", RANGE)]),
        column("SMALLINT", &same(&["-32768", "32767"]), &[("32768", RANGE)]),
        column("MEDIUMINT UNSIGNED", &same(&["16777215"]), &[("16777216", RANGE)]),
        column(
            "INT",
            &same(&["-2147483648", "2147483647"]),
            &[("2147483648", RANGE), ("0x10", TYPE)],
        ),
        column(
            "BIGINT",
            &same(&["-9223372036854775808", "9223372036854775807"]),
            &[("9223372036854775808", RANGE)],
        ),
        column(
            "BIGINT UNSIGNED",
            &same(&["18446744073709551615"]),
            &[("18446744073709551616", RANGE)],
        ),
        column(
            "DECIMAL(5,2)",
            &[
                ("999.99", "999.99"),
                ("-999.99", "-999.99"),
                ("0.1", "0.10"),
                ("7", "7.00"),
                ("1.500", "1.50"),
            ],
            &[("1000", RANGE), ("1.234", EITHER), ("abc", TYPE), ("1,5", TYPE)],
        ),
        column("DECIMAL(65,30)", &same(&[&most]), &[(&more, RANGE)]),
        column(
            "DOUBLE",
            &[("1.7976931348623157e308", "1.7976931348623157e308"), ("-0.1", "-0.1")],
            &[("1e400", RANGE), ("nan", TYPE), ("inf", TYPE)],
        ),
        column("FLOAT", &[("0.5", "0.5"), ("-1e10", "-10000000000")], &[("1e39", RANGE)]),
        column(
            "BIT(1)",
            &[("0", "0"), ("1", "1"), ("\u{1}", "1"), ("\0", "0")],
            &[("2", RANGE), ("a", TYPE), ("01", TYPE)],
        ),
        column(
            "BIT(8)",
            &[("101", "101"), ("b'00000101'", "5"), ("0b101", "5"), ("0", "0")],
            &[("00000101", TYPE), ("00", TYPE)],
        ),
        column(
            "BIT(64)",
            &same(&["18446744073709551615", "65"]),
            &[("18446744073709551616", RANGE)],
        ),
        column(
            "DATE",
            &same(&["1000-01-01", "9999-12-31", "2012-02-29"]),
            &[
                ("2013-02-29", TYPE),
                ("2012-02-30", TYPE),
                ("2013-13-01", TYPE),
                ("13-01-01", TYPE),
                ("2013-01-01 10:00:00", TYPE),
                ("20130101", TYPE),
                ("01.02.2013", TYPE),
            ],
        ),
        column(
            "TIME",
            &same(&["-838:59:59", "838:59:59", "00:00:00"]),
            &[("839:00:00", RANGE), ("10:60:00", TYPE), ("10", TYPE), ("10:00:00.5", EITHER)],
        ),
        column(
            "DATETIME",
            &[
                ("1000-01-01 00:00:00", "1000-01-01 00:00:00"),
                ("9999-12-31 23:59:59", "9999-12-31 23:59:59"),
                ("2013-01-01T10:00:00", "2013-01-01 10:00:00"),
            ],
            &[
                ("2013-01-01 24:00:00", TYPE),
                ("2013-02-30 10:00:00", TYPE),
                ("2013-01-01 10:00:00.5", EITHER),
                ("noon", TYPE),
            ],
        ),
        column(
            "TIMESTAMP NULL",
            &same(&["1970-01-03 00:00:01", "2038-01-17 00:00:00"]),
            &[("1960-01-01 00:00:00", RANGE), ("2200-01-01 00:00:00", RANGE)],
        ),
        column("YEAR", &same(&["1901", "2155"]), &[("1900", RANGE), ("2156", RANGE), ("13", TYPE)]),
        column("CHAR(5)", &same(&["abcde", "", " a"]), &[("abcdef", LONG), ("ab ", TYPE)]),
        column(
            "VARCHAR(5)",
            &same(&["\u{e9}\u{e9}\u{1f600}\u{e9}\u{e9}", "ab   "]),
            &[("abcdef", LONG), ("abcde ", LONG)],
        ),
        column(
            "VARCHAR(5) CHARACTER SET latin1",
            &same(&["caf\u{e9}", "\u{20ac}"]),
            &[("\u{4e2d}", TYPE), ("abcdef", LONG)],
        ),
        column(
            "VARCHAR(5) CHARACTER SET utf8",
            &same(&["\u{4e2d}\u{6587}"]),
            &[("a\u{1f600}", TYPE)],
        ),
        column("TINYTEXT", &same(&[&fits]), &[(&too_long, LONG)]),
        column("VARBINARY(3)", &same(&["abc", "", "a "]), &[("abcd", LONG)]),
        column("TINYBLOB", &same(&[&fits]), &[(&too_long, LONG)]),
        column(
            "ENUM('a','it''s','1')",
            &same(&["a", "it's", "1"]),
            &[("c", TYPE), ("2", TYPE), ("", TYPE)],
        ),
        column(
            "SET('x','y','z')",
            &[("x", "x"), ("z,x", "x,z"), ("", "")],
            &[("x,q", TYPE), ("8", TYPE)],
        ),
    ];
    if server.is_mariadb || server.version >= (5, 6) {
        columns.push(column(
            "TIME(6)",
            &same(&["10:00:00.000001"]),
            &[("10:00:00.0000001", EITHER)],
        ));
        columns.push(column(
            "DATETIME(3)",
            &same(&["2013-01-01 10:00:00.123"]),
            &[("2013-01-01 10:00:00.1234", EITHER)],
        ));
    }
    if server.is_mariadb || server.version >= (5, 7) {
        columns.push(column(
            "JSON",
            &same(&["{\"a\": 1}", "[]"]),
            &[("{", &["type", "constraint"]), ("'a'", &["type", "constraint"])],
        ));
    }
    columns
}

#[test]
fn every_type_keeps_what_it_can_and_refuses_the_rest() {
    for_some_servers(|server| {
        let columns = columns(server);
        let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        let declared: Vec<String> = columns
            .iter()
            .zip(&names)
            .map(|(column, name)| format!("{name} {}", column.ty))
            .collect();
        let header = format!("id,{}\n", names.join(","));
        let (mut file, mut rejects) = (header.clone(), header);
        let (mut expected, mut notes) = (Vec::new(), Vec::new());
        let mut id = 0;
        for (at, column) in columns.iter().enumerate() {
            let mut row = |value: &str| {
                id += 1;
                let commas = (",".repeat(at + 1), ",".repeat(columns.len() - at - 1));
                let row =
                    format!("{id}{}\"{}\"{}\n", commas.0, value.replace('"', "\"\""), commas.1);
                file += &row;
                row
            };
            for (value, shown) in &column.good {
                row(value);
                expected.push((at, shown.clone()));
            }
            for (value, codes) in &column.bad {
                rejects += &row(value);
                notes.push((at, value, *codes));
            }
        }
        server.write("t.csv", file);
        let limit = notes.len().to_string();
        let shown: Vec<String> = columns
            .iter()
            .zip(&names)
            .map(|(column, name)| match column.ty.starts_with("BIT") {
                true => format!("{name} + 0"),
                false => name.clone(),
            })
            .collect();
        for way in some(server.ways_into_empty()) {
            server.sql(&format!("CREATE TABLE t (id INT PRIMARY KEY, {})", declared.join(", ")));
            let load = [
                "t.csv",
                "--quote",
                "\"",
                "--delimiter",
                ",",
                "--max-rejects",
                &limit,
                "--verify",
                "checksum",
            ];
            server.load(&[&load[..], &way.options()].concat()).exits(3);
            let found = String::from_utf8(server.read("t.rejects.csv")).unwrap();
            assert_eq!(found, rejects, "{way:?} on {}", server.name);
            let sidecar = json_lines(&server.read("t.rejects.csv.jsonl"));
            for (note, (at, value, codes)) in sidecar.iter().zip(&notes) {
                let place = format!("{value:?} for {} by {way:?}: {note}", columns[*at].ty);
                assert!(codes.contains(&note["code"].as_str().unwrap()), "{place}");
                // A CHECK is the table's.
                if note["code"] != "constraint" {
                    assert_eq!(note["column"], names[*at], "{place}");
                }
            }
            let stored = server.query(&format!("SELECT {} FROM t ORDER BY id", shown.join(", ")));
            assert_eq!(stored.len(), expected.len());
            for (mut row, (at, shown)) in stored.into_iter().zip(&expected) {
                let value = row.remove(*at);
                assert_eq!(value.as_ref(), Some(shown), "{} by {way:?}", columns[*at].ty);
                assert!(row.iter().all(Option::is_none), "{row:?}");
            }
            server.drop_table("t");
        }
    });
}

#[test]
fn rows_that_a_trigger_a_parent_or_a_check_refuses_are_bad_rows() {
    for_each_server(|server| {
        let checks = server.is_from((8, 0, 16));
        server.write("t.csv", "id,parent,n\n1,1,5\n2,9,5\n3,1,13\n4,1,\n5,1,-1\n6,1,6\n");
        for way in some(server.ways_into_used()) {
            server.sql(
                "CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;; INSERT INTO parent VALUES (1);;
                 CREATE TABLE t (id INT PRIMARY KEY, parent INT, n INT NOT NULL, CHECK (n >= 0),
                    FOREIGN KEY (parent) REFERENCES parent (id)) ENGINE=InnoDB;;
                 CREATE TRIGGER no_13 BEFORE INSERT ON t FOR EACH ROW
                    IF NEW.n = 13 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no thirteen here'; END IF",
            );
            let load = [&["t.csv"], &way.options()[..]].concat();
            server.refuses(&load).says(&["t.csv: line 3"]);
            server.load(&[&load[..], &["--max-rejects", "9"]].concat()).exits(3);
            let mut notes = json_lines(&server.read("t.rejects.csv.jsonl"));
            if !checks {
                assert_eq!(server.query("SELECT id FROM t ORDER BY id"), rows![[1], [5], [6]]);
            } else {
                assert_eq!(
                    server.query("SELECT id FROM t ORDER BY id"),
                    rows![[1], [6]],
                    "{way:?}"
                );
                assert_eq!(notes.pop().unwrap()["code"], "constraint", "{way:?}");
            }
            let codes: Vec<&str> =
                notes.iter().map(|note| note["code"].as_str().unwrap()).collect();
            assert_eq!(codes, ["foreign-key", "constraint", "not-null"], "{way:?}");
            assert!(notes[1]["message"].as_str().unwrap().contains("no thirteen here"));
            let raw = server.read("t.rejects.csv");
            assert!(raw.starts_with(b"id,parent,n\n2,9,5\n3,1,13\n4,1,\n"), "{way:?}");
            server.drop_table("t").drop_table("parent");
        }
    });
}

/// Rows that were refused with others are sent again, perhaps by another statement than before.
#[test]
fn rows_between_refused_ones_are_stored_as_in_a_file_of_good_ones() {
    for_some_servers(|server| {
        let texts = ["it's", "a\tb", "c:\\new", "\\N", "two\nlines", "", "\\", "漢'\\'", "NULL"];
        let file = |ids: &[usize]| {
            let mut file = String::from("id,parent,t,b,bits,d,n,f\n");
            for id in ids {
                let (parent, text) = (1 + id % 3 / 2, texts[id % texts.len()]);
                let [n, bits] = if id % 5 == 0 {
                    [String::new(), String::new()]
                } else {
                    [format!("-{id}.25"), id.to_string()]
                };
                writeln!(
                    file,
                    "{id},{parent},\"{text}\",\"{text}\",{bits},2024-02-29 12:00:{:02}.5,{n},1e{}",
                    id % 60,
                    id % 99
                )
                .unwrap();
            }
            file
        };
        let all: Vec<usize> = (0..400).collect();
        let good: Vec<usize> = all.iter().copied().filter(|id| id % 3 != 2).collect();
        // Older ones have no fractions.
        if !server.is_from((5, 6, 4)) {
            return;
        }
        server.write("all.csv", file(&all)).write("good.csv", file(&good));
        let columns = "id INT PRIMARY KEY, parent INT, t TEXT, b BLOB, bits BIT(9), d DATETIME(3), n DECIMAL(20,5), f DOUBLE";
        server.sql(&format!(
            "CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB;; INSERT INTO parent VALUES (1);;
             CREATE TABLE good ({columns}) ENGINE=InnoDB;;
             CREATE TABLE t ({columns}, FOREIGN KEY (parent) REFERENCES parent (id)) ENGINE=InnoDB"
        ));
        server.load(&["good.csv", "--table", "good", "--if-exists", "append"]).exits(0);
        let stored = |table: &str| {
            server.query(&format!("SELECT *, HEX(t), HEX(b), HEX(bits) FROM {table} ORDER BY id"))
        };
        assert_eq!(stored("good").len(), good.len());
        for way in some(server.ways_into_used()) {
            let load =
                ["all.csv", "--table", "t", "--if-exists", "truncate", "--max-rejects", "all"];
            server.load(&[&load[..], &way.options()].concat()).exits(3);
            assert_eq!(stored("t"), stored("good"), "{way:?}");
        }
    });
}

/// InnoDB checks row by row whether others refer to the one that is deleted.
#[test]
fn rows_that_refer_to_others_of_their_table_go_with_them() {
    for_some_servers(|server| {
        server.write("t.csv", "id,boss\n1,\n2,1\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY, boss INT, FOREIGN KEY (boss) REFERENCES t (id)) ENGINE=InnoDB;;
             INSERT INTO t VALUES (5, NULL), (6, 5)",
        );
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, ()], [2, 1]]);
        // Where others could refer to them, and do not.
        server.sql("CREATE TABLE child (t INT, FOREIGN KEY (t) REFERENCES t (id)) ENGINE=InnoDB;; INSERT INTO child VALUES (NULL)");
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, ()], [2, 1]]);
        // Those of others are in the way, as ever.
        server.sql("INSERT INTO child VALUES (2)");
        let run = server.load(&["t.csv", "--if-exists", "truncate"]).exits(1);
        run.ends_with_nothing_changed().says(&["rows that stay refer to these"]);
        assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, ()], [2, 1]]);
    });
}

/// MariaDB counts warnings of statements in triggers, and shows none of them.
#[test]
fn what_a_trigger_is_warned_of_is_no_fault_of_the_row() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n1,c\n").sql(
            "CREATE TABLE other (id INT PRIMARY KEY, n INT);; CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9)) ENGINE=InnoDB;;
             CREATE TRIGGER look BEFORE INSERT ON t FOR EACH ROW
                BEGIN DECLARE found INT; SELECT n INTO found FROM other WHERE id = NEW.id; END",
        );
        for way in some(server.ways_into_used()) {
            let load = [&["t.csv", "--max-rejects", "1"], &way.options()[..]].concat();
            server.load(&load).exits(3);
            assert_eq!(server.read("t.rejects.csv"), b"id,name\n1,c\n", "{way:?}");
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1, "a"], [2, "b"]]);
            server.sql("DELETE FROM t");
        }
    });
}

/// MariaDB's JSON is a text with a CHECK.
#[test]
fn a_text_that_a_check_makes_json_is_a_column_of_documents() {
    for_each_server(|server| {
        if !server.is_mariadb {
            return;
        }
        let lines =
            ["\"12\"", "\"true\"", "\"null\"", "\"s\"", "12", "null", "{\"a\": [1]}", "\"[1]\""];
        let rows: String =
            (1..).zip(lines).map(|(id, doc)| format!("{{\"id\":{id},\"doc\":{doc}}}\n")).collect();
        server.write("t.jsonl", rows).write("t.csv", "id,doc\n1,12\n2,s\n3,\"[1]\"\n");
        server.sql("CREATE TABLE t (id INT PRIMARY KEY, doc JSON)");
        for way in some(server.ways_into_used()) {
            let checked = ["t.jsonl", "--verify", "checksum"];
            server.load(&[&checked[..], &way.options()].concat()).exits(0);
            let docs = server.query("SELECT doc FROM t ORDER BY id");
            let docs: Vec<_> = docs.into_iter().flatten().collect();
            let mut kept = lines.map(|doc| Some(doc.to_owned()));
            kept[5] = None;
            kept[7] = Some("[1]".to_owned());
            assert_eq!(docs, kept, "{way:?}");
            server.sql("DELETE FROM t");
            // A field of CSV is the document itself.
            server.load(&[&["t.csv", "--max-rejects", "1"], &way.options()[..]].concat()).exits(3);
            assert_eq!(server.query("SELECT doc FROM t ORDER BY id"), rows![[12], ["[1]"]]);
            server.sql("DELETE FROM t");
        }
    });
}

#[test]
fn a_column_that_takes_no_text_can_be_left_out() {
    for_some_servers(|server| {
        // What no server takes from text is rare: MySQL 8.0 has no such type.
        if !server.is_mariadb {
            return;
        }
        server.write("t.csv", "id,g\n1,\n").sql("CREATE TABLE t (id INT, g YEAR(2))");
        server.refuses(&["t.csv"]).says(&["column g", "--drop g leaves it out"]);
        server.load(&["t.csv", "--drop", "g"]).exits(0);
        assert_eq!(server.count("t"), 1);
    });
}

#[test]
fn a_table_that_others_refer_to_stays_their_parent() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n2\n").sql(
            "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;;
             CREATE TABLE child (t INT, FOREIGN KEY (t) REFERENCES t (id)) ENGINE=InnoDB",
        );
        server.load(&["t.csv"]).exits(0);
        server.sql("INSERT INTO child VALUES (1)");
        server.write("t.csv", "id\n5\n");
        for word in ["truncate", "replace"] {
            server.leaves_everything(|| {
                let run = server.load(&["t.csv", "--if-exists", word]).says(&["child"]);
                assert_ne!(run.status.code(), Some(0), "{word}");
            });
        }
        // The constraint still stands, and changes no rows where none refers to the parent's.
        server.sql("DELETE FROM child");
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT id FROM t"), rows![[5]]);
        let made = server.query("SHOW CREATE TABLE child");
        assert!(made[0][1].as_ref().unwrap().contains("REFERENCES `t`"), "{made:?}");
    });
}

#[test]
fn what_belongs_to_a_table_stays_when_another_takes_its_place() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n2,b\n");
        let table = "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, name VARCHAR(9) COLLATE utf8mb4_bin COMMENT 'of whom',
             PRIMARY KEY (id), KEY by_name (name)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COMMENT='people'
             PARTITION BY HASH (id) PARTITIONS 3";
        for way in some(server.ways_into_empty()) {
            server.sql(table);
            let before = server.state()["t"].0.clone();
            server.load(&[&["t.csv"], &way.options()[..]].concat()).exits(0);
            assert_eq!(server.count("t"), 2);
            assert_eq!(server.state()["t"].0, before, "{way:?} on {}", server.name);
            server.drop_table("t");
        }
    });
}

#[test]
fn a_view_takes_rows_where_the_server_lets_it_and_is_never_replaced() {
    for_some_servers(|server| {
        server.write("few.csv", "id\n1\n200\n3\n").write("two.csv", "id,n\n1,1\n").sql(
            "CREATE TABLE t (id INT);; INSERT INTO t VALUES (7);;
             CREATE VIEW few AS SELECT id FROM t WHERE id < 100 WITH CHECK OPTION;;
             CREATE VIEW two AS SELECT id, COUNT(*) AS n FROM t GROUP BY id",
        );
        for way in some(server.ways_into_used()) {
            let load = [&["few.csv", "--if-exists", "append"], &way.options()[..]].concat();
            server.refuses(&load).says(&["few.csv: line 3", "CHECK OPTION"]);
            server.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), rows![[1], [3], [7]]);
            server.sql("DELETE FROM t WHERE id <> 7");
            let load = [&["two.csv", "--if-exists", "append"], &way.options()[..]].concat();
            server.refuses(&load).says(&["two"]);
        }
        server.refuses(&["few.csv", "--if-exists", "replace"]).says(&["few is a view"]);
    });
}

#[test]
fn rows_that_go_with_those_behind_a_view_are_not_lost() {
    for_some_servers(|server| {
        let base =
            "CREATE TABLE base (id INT PRIMARY KEY) ENGINE=InnoDB;; INSERT INTO base VALUES (1)";
        let child = "CREATE TABLE child (p INT, FOREIGN KEY (p) REFERENCES base (id) ON DELETE CASCADE) ENGINE=InnoDB;; INSERT INTO child VALUES (1)";
        let own = "CREATE TABLE base (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES base (id) ON DELETE SET NULL) ENGINE=InnoDB";
        let words = &["deleting the rows of table t would change those of"][..];
        for (made, words) in [
            (vec![base, child, "CREATE VIEW t AS SELECT id FROM base"], words),
            (
                vec![
                    base,
                    child,
                    "CREATE VIEW v AS SELECT id FROM base",
                    "CREATE VIEW t AS SELECT id FROM v WHERE id < 7",
                ],
                words,
            ),
            (vec![own, "CREATE VIEW t AS SELECT id FROM base WHERE id > 7"], words),
            (
                vec![
                    base,
                    child,
                    "CREATE VIEW t AS SELECT id FROM base WHERE id IN (SELECT p FROM child)",
                ],
                &["it can't be told which table has them", "--if-exists append"],
            ),
        ] {
            server.write("t.csv", "id\n2\n").sql(&made.join(";; "));
            let truncate = ["t.csv", "--if-exists", "truncate", "--durability", "process"];
            server.leaves_everything(|| server.refuses(&truncate)).says(words);
            server.sql("DROP VIEW t;; DROP VIEW IF EXISTS v;; DROP TABLE IF EXISTS child;; DROP TABLE base");
        }
        // What nothing hangs on is deleted.
        let refers =
            "CREATE TABLE child (p INT, FOREIGN KEY (p) REFERENCES base (id)) ENGINE=InnoDB";
        server.sql(&format!("{base};; {refers};; CREATE VIEW t AS SELECT id FROM base"));
        server.load(&["t.csv", "--if-exists", "truncate"]).exits(0);
        assert_eq!(server.query("SELECT id FROM base"), rows![[2]]);
    });
}

#[test]
fn what_a_replaced_table_had_is_listed() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n");
        server.sql(
            "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'NOT NULL x', n INT COMMENT 'k', \
             UNIQUE KEY u (n, name), KEY k (name)) ENGINE=InnoDB COLLATE utf8mb4_unicode_ci COMMENT='people'",
        );
        server.plan(&["t.csv", "--if-exists", "replace"]).exits(0).prints(&[
            "--if-exists replace drops what the old table had: PRIMARY KEY (id), AUTO_INCREMENT of id, NOT NULL on name, DEFAULT of name, COMMENT of n, ",
            "UNIQUE KEY u (n, name), INDEX k (name)",
            "COLLATE=utf8mb4_unicode_ci, its COMMENT",
        ]);
    });
}

#[test]
fn views_and_triggers_that_a_replaced_table_breaks_are_named() {
    for_some_servers(|server| {
        server.write("t.csv", "id,name\n1,a\n").write("all.csv", "NAME,id,note\na,1,b\n");
        for statement in [
            "CREATE TABLE t (id INT, name TEXT, note TEXT)",
            "CREATE TABLE u (note TEXT)",
            "CREATE VIEW notes AS SELECT note AS n FROM t",
            "CREATE VIEW longest AS SELECT MAX(n) FROM notes",
            "CREATE VIEW names AS SELECT name FROM t",
            "CREATE VIEW others AS SELECT note FROM u",
            "CREATE TRIGGER kept AFTER INSERT ON u FOR EACH ROW INSERT INTO t (note) VALUES (new.note)",
        ] {
            server.sql(statement);
        }
        let says =
            "the new table lacks note, which TRIGGER kept, VIEW longest, VIEW notes may need";
        let plan = |file| server.plan(&[file, "--table", "t", "--if-exists", "replace"]).exits(0);
        plan("t.csv").prints(&[says]);
        assert!(!plan("all.csv").stdout.contains("may need"));
        server.load(&["t.csv", "--if-exists", "replace"]).exits(0).prints(&[says]);
        assert_eq!(server.count("names"), 1);
    });
}

#[test]
fn a_table_of_another_database_is_not_looked_for_in_this_one() {
    for_some_servers(|server| {
        server.write("t.csv", "id\n1\n");
        let named = format!("{}.t", server.database);
        let advice = format!("/{}, and the table with --table t", server.database);
        server.misused(&["t.csv", "--table", &named]).says(&["has a database", &advice]);
        // Other dots are as good as any character, and so are those of an existing table.
        server.load(&["t.csv", "--table", "no_such_database.t"]).exits(0);
        server.sql(&format!("CREATE TABLE `{named}` (id INT)"));
        server.load(&["t.csv", "--table", &named]).exits(0);
        assert_eq!(server.count(&named), 1);
    });
}

#[test]
fn names_that_the_server_can_not_keep_are_refused_by_the_plan() {
    for_some_servers(|server| {
        let long = "n".repeat(65);
        server.write("t.csv", "id\n1\n").write("c.csv", format!("id,{long}\n1,2\n"));
        let url = server.url();
        for args in [["t.csv", "--table", &long], ["c.csv", "--table", "t"]] {
            let plan = [&["plan", args[0], &url][..], &args[1..]].concat();
            server.inrush(&plan).exits(2).says(&["65 characters, and the server keeps 64"]);
        }
    });
}
