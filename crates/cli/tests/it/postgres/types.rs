use crate::fixture::{size, some};

use super::server::{Server, Way, for_each_server, rows};

/// A column's type, and values that it keeps as they are.
type Column = (&'static str, Vec<String>);

fn column(ty: &'static str, values: &[&str]) -> Column {
    (ty, values.iter().map(|value| (*value).to_owned()).collect())
}

/// Types that the user has made.
const OWN: &str = "CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'a,b (c)'); CREATE TYPE pair AS (a int, b text);
    CREATE DOMAIN zip AS varchar(5) CHECK (VALUE ~ '^[0-9]+$'); CREATE DOMAIN same_mood AS mood; CREATE DOMAIN price AS numeric(6,2);
    CREATE SCHEMA \"Own Types\";
    CREATE TYPE \"Own Types\".\"Big (One)\" AS ENUM ('x', '')";

/// Those that go in binary.
fn plain() -> Vec<Column> {
    let digits = "9876543210".repeat(100);
    let mut columns = vec![
        column("smallint", &["-32768", "32767", "0", "-0", "007"]),
        column("integer", &["-2147483648", "2147483647"]),
        column("bigint", &["-9223372036854775808", "9223372036854775807"]),
        column("oid", &["0", "4294967295"]),
        column(
            "numeric",
            &[
                "NaN",
                "Infinity",
                "-Infinity",
                "0",
                "-0.00",
                "1.500",
                "1e-7",
                "12e20",
                "10000",
                "0.0001",
            ],
        ),
        column("numeric(1000,500)", &["0.5", "NaN", "-12345678901234567890.12345678901234567890"]),
        column("numeric(6,2)", &["9999.99", "-9999.99", "0.1", "7"]),
        column("numeric(3,-2)", &["12300", "-99900"]),
        column("numeric(3,5)", &["0.00123", "-0.00999"]),
        column(
            "real",
            &[
                "3.4028235e38",
                "1.1754944e-38",
                "1e-45",
                "NaN",
                "Infinity",
                "-Infinity",
                "-0",
                "0.1",
            ],
        ),
        column(
            "double precision",
            &[
                "1.7976931348623157e308",
                "2.2250738585072014e-308",
                "5e-324",
                "NaN",
                "Infinity",
                "-Infinity",
                "-0",
                "0.1",
            ],
        ),
        column("boolean", &["true", "false", "t", "f", "1", "0"]),
        column("text", &["", " ", "\\N", "\u{1f600}", "a\tb\nc\r\nd\\"]),
        column("character varying(5)", &["\u{e9}\u{e9}\u{1f600}\u{e9}\u{e9}", "", "ab   "]),
        column("character(5)", &["abcde", "a", "", " b"]),
        column("bpchar", &["ab", "c  "]),
        column("name", &["a", "sixty-three bytes are the longest name that a server keeps, 63!"]),
        column("bytea", &["\\x00fFab", "\\x", "", "abc", "\\\\", "\\001\\377'"]),
        column(
            "date",
            &[
                "infinity",
                "-infinity",
                "0001-01-01 BC",
                "4713-01-01 BC",
                "5874897-12-31",
                "10000-01-01",
                "2012-02-29",
            ],
        ),
        column("time", &["00:00:00", "23:59:59.999999", "24:00:00", "12:30"]),
        column("time(3)", &["12:00:00.123"]),
        column(
            "money",
            &["$1,234.56", "-0.01", "92233720368547758.07", "$5", "-$1.5", "$1,234", "1,234.56"],
        ),
        column("time with time zone", &["12:00:00+15:59", "12:00:00.000001-15:59:59", "12:00:00Z"]),
        column(
            "timestamp",
            &[
                "infinity",
                "-infinity",
                "294276-12-31 23:59:59.999999",
                "4713-01-01 00:00:00 BC",
                "2013-01-01T10:00:00.000001",
            ],
        ),
        column("timestamp(0)", &["2013-01-01 10:00:00"]),
        column(
            "timestamp with time zone",
            &[
                "infinity",
                "-infinity",
                "2013-01-01 10:00:00+02",
                "2013-01-01T10:00:00.000001-11:30",
                "294276-12-31 23:59:59.999999Z",
                "4713-01-01 00:00:00+00 BC",
            ],
        ),
        column(
            "interval",
            &[
                "178000000 years",
                "-178000000 years",
                "1 mon -1 days +00:00:00.000001",
                "1 year 2 mons 3 days 04:05:06.789",
                "P1Y2M3DT4H5M6S",
                "-00:00:01",
                "00:00:00",
            ],
        ),
        column(
            "uuid",
            &[
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                "A0EEBC999C0B4EF8BB6D6BB9BD380A11",
                "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
            ],
        ),
        column("json", &["{\"a\" : 1,\"a\":2 }", " [] ", "\"\\u0000\"", "1e400", "null"]),
        column(
            "jsonb",
            &["{\"b\": 1.00, \"a\": [null, true, \"\\u00e9\\n\"]}", "1e400", "\"\"", "-0", "null"],
        ),
        column(
            "inet",
            &["192.168.0.1", "192.168.0.1/24", "::1", "::ffff:1.2.3.4/128", "fe80::1/64"],
        ),
        column("cidr", &["10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32", "192.168.0.1/32"]),
        column("macaddr", &["08:00:2b:01:02:03", "08-00-2B-01-02-03", "08002b010203"]),
        column("macaddr8", &["08:00:2b:01:02:03:04:05"]),
        column("bit(3)", &["101", "000"]),
        column("bit varying(9)", &["1", "", "101010101"]),
        column("bit varying", &["1111111100000000111"]),
        column("mood", &["sad", "it's ok", "a,b (c)"]),
        column("same_mood", &["it's ok"]),
        column("zip", &["00501", "1"]),
        column("price", &["9999.99"]),
        column("\"Own Types\".\"Big (One)\"", &["x", ""]),
    ];
    columns[4].1.extend([digits.clone(), format!("-{digits}.{digits}"), format!("0.{digits}")]);
    columns
}

/// Arrays of such types.
fn arrays() -> Vec<Column> {
    vec![
        column(
            "integer[]",
            &["{}", "{1,NULL,-2147483648}", "{{1,2},{3,4}}", "{ 1 , 2 }", "{{{1}}}"],
        ),
        column(
            "text[]",
            &[
                "{}",
                "{\"\",NULL,\"NULL\"}",
                "{\"a,b\",\"{\",\"\\\\\",\"\\\"\"}",
                "{{a,b},{c,\" d\"}}",
                "{\u{1f600},a b}",
            ],
        ),
        column("boolean[]", &["{t,f}"]),
        column("numeric[]", &["{1.50,NaN,NULL}"]),
        column("double precision[]", &["{0.1,Infinity,5e-324}"]),
        column("timestamp with time zone[]", &["{\"2013-01-01 10:00:00+02\",infinity}"]),
        column("date[]", &["{2013-01-01,\"0001-01-01 BC\"}"]),
        column("uuid[]", &["{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"]),
        column("jsonb[]", &["{\"{\\\"a\\\": 1}\",null}"]),
        column("inet[]", &["{::1,10.0.0.0/8}"]),
        column("character varying(3)[]", &["{abc,\"\"}"]),
        column("bytea[]", &["{\"\\\\x00ff\",NULL}"]),
    ]
}

/// Those that only the server reads.
fn others() -> Vec<Column> {
    vec![
        column("int4range", &["[1,5)", "(,)", "empty"]),
        column("tstzrange", &["[\"2013-01-01 10:00:00+02\",)"]),
        column("nummultirange", &["{[1.1,2.2],(3,4)}", "{}"]),
        column("tsvector", &["a:1A fat:2 'it''s':3", ""]),
        column("tsquery", &["'fat' & 'rat'"]),
        column("point", &["(1.5,-2)"]),
        column("polygon", &["((0,0),(1,1),(2,0))"]),
        column("pair", &["(1,\"a,b\")", "(,)", "(,\"\")"]),
        column("pair[]", &["{\"(1,a)\",NULL}"]),
        column("mood[]", &["{sad,\"a,b (c)\",NULL}"]),
        column("zip[]", &["{00501}"]),
        column("\"char\"", &["a", ""]),
        column("pg_lsn", &["16/B374D848"]),
        column("xid", &["4294967295"]),
        column("regclass", &["pg_class"]),
        column("jsonpath", &["$.\"a\"[*]"]),
        column("integer[]", &["[2:3]={1,2}"]),
    ]
}

/// Table t and its twin, and a file with a value in each row, and one with NULLs.
fn twins(server: &Server, columns: &[Column]) {
    let declared = |at: usize| format!("c{at} {}", columns[at].0);
    let all: Vec<String> = (0..columns.len()).map(declared).collect();
    let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
    let mut file = format!("id,{}\n", names.join(","));
    let mut id = 0;
    let mut row = |at: usize, value: &str| {
        id += 1;
        let (before, behind) = (",".repeat(at + 1), ",".repeat(columns.len() - at - 1));
        file += &format!("{id}{before}{value}{behind}\n");
    };
    for (at, (_, values)) in columns.iter().enumerate() {
        row(at, "");
        for value in values {
            row(at, &format!("\"{}\"", value.replace('"', "\"\"")));
        }
    }
    server.write("t.csv", file).sql(&format!(
        "DROP TABLE IF EXISTS t, twin; CREATE TABLE t (id int PRIMARY KEY, {}); CREATE TABLE twin (LIKE t)",
        all.join(", ")
    ));
    server.sql(&format!(
        "\\copy twin FROM '{}' (FORMAT csv, HEADER)",
        server.path("t.csv").display()
    ));
}

/// What inrush has loaded is what `\copy` has.
#[track_caller]
fn assert_twins(server: &Server, way: &dyn std::fmt::Debug) {
    assert_eq!(server.count("t"), server.count("twin"), "{way:?}");
    let differ =
        "SELECT t::text, twin::text FROM t JOIN twin USING (id) WHERE t::text <> twin::text";
    assert_eq!(server.query(differ), Vec::<Vec<_>>::new(), "{way:?}");
}

fn loads_like_copy(server: &Server, ways: impl IntoIterator<Item = Way>) {
    for way in ways {
        server.sql("TRUNCATE t");
        let load = ["t.csv", "--quote", "\"", "--delimiter", ",", "--verify", "checksum"];
        server.load(&[&load[..], &way.options()].concat()).exits(0);
        assert_twins(server, &way);
    }
}

#[test]
fn every_type_keeps_its_extremes_as_copy_does() {
    for_each_server(|server| {
        server.sql(OWN);
        twins(server, &plain());
        loads_like_copy(server, server.ways_into_used());
    });
}

#[test]
fn arrays_are_kept_as_copy_does() {
    for_each_server(|server| {
        twins(server, &arrays());
        for way in some(server.ways_into_used()) {
            if way.is("unnest") {
                server.sql("TRUNCATE t");
                server.misused(&["t.csv", "--strategy", &way.strategy]).says(&["array"]);
            } else {
                loads_like_copy(server, [way]);
            }
        }
    });
}

#[test]
fn types_that_only_the_server_reads_go_as_text() {
    for_each_server(|server| {
        server.sql(OWN);
        twins(server, &others());
        for way in some(server.ways_into_used()) {
            if ["copy-binary", "copy-server", "unnest"].iter().any(|name| way.is(name)) {
                server.sql("TRUNCATE t");
                let run = server.misused(&["t.csv", "--strategy", &way.strategy]);
                assert!(
                    run.stderr.contains("int4range") || run.stderr.contains("array"),
                    "{}",
                    run.stderr
                );
            } else {
                loads_like_copy(server, [way]);
            }
        }
        server.sql("TRUNCATE t");
        assert_eq!(
            server.report(&["t.csv", "--quote", "\""])["plan"]["strategy"],
            "postgres/copy-text"
        );
        // Without arrays unnest takes them too.
        let few: Vec<Column> = others().into_iter().filter(|(ty, _)| !ty.ends_with("[]")).collect();
        twins(server, &few);
        loads_like_copy(server, server.ways_into_used().into_iter().filter(|way| way.is("unnest")));
    });
}

#[test]
fn settings_of_the_database_change_no_value() {
    for_each_server(|server| {
        server.sql(OWN);
        for columns in [plain(), arrays(), others()] {
            twins(server, &columns);
            let settings = [
                "timezone = 'America/New_York'",
                "datestyle = 'SQL, DMY'",
                "intervalstyle = 'sql_standard'",
                "standard_conforming_strings = off",
                "bytea_output = escape",
                "extra_float_digits = -15",
                "client_encoding = LATIN1",
                "default_transaction_isolation = serializable",
                "default_transaction_deferrable = on",
                "array_nulls = off",
                "xmloption = document",
            ];
            // All of them at once: none has anything to do with another one.
            for settings in settings.chunks(size(settings.len(), 1)) {
                for set in settings {
                    server.sql(&format!("ALTER DATABASE {} SET {set}", server.database));
                }
                for strategy in ["copy-text", "values", "prepared"] {
                    println!("{settings:?} {strategy}");
                    loads_like_copy(server, [Way { strategy: strategy.to_owned(), lanes: "1" }]);
                }
                server.sql("TRUNCATE t").load(&["t.csv", "--quote", "\""]).exits(0);
                assert_twins(server, &settings);
                server.sql(&format!("ALTER DATABASE {} RESET ALL", server.database));
            }
        }
    });
}

#[test]
fn a_time_without_an_offset_is_of_the_servers_zone() {
    for_each_server(|server| {
        let columns = [column(
            "timestamp with time zone",
            &["2013-01-01 10:00:00", "2013-07-01 10:00:00", "2013-10-27 02:30:00"],
        )];
        server.sql("SET timezone = 'Europe/Berlin'");
        server.sql(&format!("ALTER DATABASE {} SET timezone = 'Europe/Berlin'", server.database));
        twins(server, &columns);
        for way in some(server.ways_into_used()) {
            if way.is("copy-binary") || way.is("copy-server") {
                server.sql("TRUNCATE t");
                server.misused(&["t.csv", "--strategy", &way.strategy]).says(&["time zone"]);
            } else {
                loads_like_copy(server, [way]);
            }
        }
        // What a load would make a table of, it reads by itself: the zone has to be said.
        let load = ["t.csv", "--if-exists", "replace", "--type", "c0=timestamptz"];
        let run = server.leaves_everything(|| server.load(&load));
        assert_ne!(run.status.code(), Some(0), "{run:?}");
    });
}

#[test]
fn what_copy_would_round_cut_or_refuse_is_a_bad_row() {
    for_each_server(|server| {
        server.sql(OWN);
        let bad: &[(&str, &[&str])] = &[
            ("smallint", &["32768", "x", "1.5", "", " "]),
            ("bigint", &["9223372036854775808", "-9223372036854775809"]),
            ("oid", &["-1", "4294967296"]),
            ("numeric(5,2)", &["1000", "1.234", "Infinity"]),
            ("money", &["", "12,34", "1.005", "92233720368547758.08"]),
            ("real", &["1e39", "1e-46", "x"]),
            ("double precision", &["1e400", "1e-400"]),
            ("boolean", &["2", "maybe"]),
            ("varchar(5)", &["abcdef", "abcde "]),
            ("character(3)", &["abcd"]),
            ("bytea", &["\\x0", "\\xgg", "\\"]),
            (
                "date",
                &[
                    "2013-02-29",
                    "0000-01-01",
                    "5874898-01-01",
                    "4714-11-23 BC",
                    "2013-01-01 10:00:00",
                ],
            ),
            ("time", &["24:00:01", "12:60:00", "12:00:00.1234567"]),
            ("timetz", &["12:00:00+02:60"]),
            (
                "timestamp",
                &["294277-01-01 00:00:00", "2013-01-01 25:00:00", "2013-01-01 10:00:00.1234567"],
            ),
            ("timestamp(0)", &["2013-01-01 10:00:00.5"]),
            ("interval", &["178956971 years", "x"]),
            (
                "uuid",
                &["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1", "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
            ),
            ("json", &["{", "{'a': 1}", ""]),
            ("jsonb", &["\"\\u0000\"", "[1,]"]),
            ("inet", &["256.0.0.1", "1.2.3.4/33", ":::"]),
            ("cidr", &["10.0.0.1/8"]),
            ("macaddr", &["08:00:2b:01:02"]),
            ("bit(3)", &["10", "1011", "102"]),
            ("mood", &["SAD", ""]),
            ("zip", &["abc", "123456"]),
            ("price", &["99999"]),
            ("integer[]", &["{1", "1,2", "{x}", "{{1},{2,3}}", "{2147483648}"]),
            ("text[]", &["{\"a}", "{a}b"]),
            ("int4range", &["[2,1)", "x"]),
            ("tsvector", &["'"]),
            ("tsquery", &["a b"]),
            ("jsonpath", &["$."]),
        ];
        for way in some(server.ways_into_used()) {
            let is_taken = |ty: &str| {
                !(way.is("unnest") && ty.ends_with("[]")
                    || ["copy-binary", "copy-server"].iter().any(|name| way.is(name))
                        && ["int4range", "tsvector", "tsquery", "jsonpath"].contains(&ty))
            };
            // A column for each type, and a row for each bad value.
            let bad: Vec<_> = bad.iter().filter(|(ty, _)| is_taken(ty)).collect();
            let declared = |(at, (ty, _)): (usize, &&(&str, _))| format!("c{at} {ty}");
            let declared: Vec<String> = bad.iter().enumerate().map(declared).collect();
            let names: Vec<String> = (0..bad.len()).map(|at| format!("c{at}")).collect();
            let mut rows = String::new();
            for (at, (_, values)) in bad.iter().enumerate() {
                let (before, behind) = (",".repeat(at + 1), ",".repeat(bad.len() - at - 1));
                for (number, value) in values.iter().enumerate() {
                    let value = value.replace('"', "\"\"");
                    rows += &format!("{at}0{number}{before}\"{value}\"{behind}\n");
                }
            }
            let (header, nulls) = (format!("id,{}\n", names.join(",")), ",".repeat(bad.len()));
            server
                .write("t.csv", format!("{header}-1{nulls}\n{rows}9999{nulls}\n"))
                .drop_table("t")
                .sql(&format!("CREATE TABLE t (id int, {})", declared.join(", ")));
            let load = ["t.csv", "--quote", "\"", "--delimiter", ",", "--max-rejects", "all"];
            server.load(&[&load[..], &way.options()].concat()).exits(3);
            assert_eq!(
                String::from_utf8(server.read("t.rejects.csv")).unwrap(),
                format!("{header}{rows}"),
                "{way:?}"
            );
            assert_eq!(
                server.query("SELECT id FROM t ORDER BY id"),
                rows![[-1], [9999]],
                "{way:?}"
            );
        }
    });
}

#[test]
fn a_zone_that_only_the_server_knows_lets_no_other_value_through() {
    for_each_server(|server| {
        server.sql(&format!(
            "ALTER DATABASE {} SET TimeZone = 'Europe/Berlin'; CREATE TABLE t (seen timestamptz(0))",
            server.database
        ));
        let bad = ["today", "01/02/2024", "2024-05-01 10:00:00.9+02", "now"];
        server.write("t.csv", format!("seen\n2024-05-01 10:00:00\n{}\n", bad.join("\n")));
        server.load(&["t.csv", "--max-rejects", "4"]).exits(3);
        assert_eq!(server.read("t.rejects.csv"), format!("seen\n{}\n", bad.join("\n")).as_bytes());
        assert_eq!(server.number("SELECT count(*) FROM t WHERE seen = '2024-05-01 08:00Z'"), 1);
    });
}

/// Elsewhere its offset would be that of the day on which it is loaded.
#[test]
fn a_time_of_day_without_an_offset_is_one_of_utc_or_a_bad_row() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (v timetz)").write("t.csv", "v\n12:00:00\n12:00:00+02\n");
        for (zone, count, code) in [("UTC", 2, 0), ("Europe/Berlin", 1, 3)] {
            server.sql(&format!("ALTER DATABASE {} SET TimeZone = '{zone}'", server.database));
            for way in some(server.ways_into_used()) {
                server.sql("TRUNCATE t");
                let load = ["t.csv", "--max-rejects", "1"];
                server.load(&[&load[..], &way.options()].concat()).exits(code);
                let stored = "SELECT count(*) FROM t WHERE v IN ('12:00:00+00', '12:00:00+02')";
                assert_eq!(server.number(stored), count, "{zone} {way:?}");
            }
        }
    });
}

/// Clocks there go from 02:00 to 03:00 on that day.
#[test]
fn a_time_that_clocks_of_the_server_skip_is_a_bad_row() {
    for_each_server(|server| {
        server.sql(&format!(
            "ALTER DATABASE {} SET TimeZone = 'America/New_York'; CREATE TABLE t (seen timestamptz, others timestamptz[])",
            server.database
        ));
        let good = "2024-03-10 02:30:00-05,{2024-03-10 03:00:00}\n2024-11-03 01:30:00,\n";
        let bad = "2024-03-10 02:30:00,\n,{2024-03-10 02:30:00}\n";
        server.write("t.csv", format!("seen,others\n{good}{bad}"));
        for way in some(server.ways_into_used()) {
            let refuses = ["copy-binary", "copy-server", "unnest"];
            if refuses.iter().any(|name| way.is(name)) {
                continue;
            }
            server.sql("TRUNCATE t");
            let run = server.load(&[&["t.csv", "--max-rejects", "2"][..], &way.options()].concat());
            run.exits(3);
            let reasons = String::from_utf8(server.read("t.rejects.csv.jsonl")).unwrap();
            assert!(
                reasons.contains(
                    "is out of range for clocks in America/New_York, which skip it on that day"
                ),
                "{reasons}"
            );
            let rejects = String::from_utf8(server.read("t.rejects.csv")).unwrap();
            assert_eq!(rejects, format!("seen,others\n{bad}"), "{way:?}");
            assert_eq!(server.number("SELECT count(*) FROM t WHERE seen = '2024-03-10 07:30Z'"), 1);
        }
    });
}

/// Decimals of a file of numbers, texts as the server writes them, and never a rounded one, whatever the currency.
#[test]
fn money_is_what_the_file_says() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, v money)");
        server.write(
            "t.jsonl",
            "{\"id\":1,\"v\":1.5}\n{\"id\":2,\"v\":\"-$1,234.56\"}\n{\"id\":3,\"v\":-0.004}\n",
        );
        for way in some(server.ways_into_used()) {
            server.sql("TRUNCATE t");
            let load = ["t.jsonl", "--max-rejects", "1", "--verify", "checksum"];
            server.load(&[&load[..], &way.options()].concat()).exits(3);
            let reasons = String::from_utf8(server.read("t.rejects.jsonl.jsonl")).unwrap();
            assert!(
                reasons.contains("'-0.004' is out of range for money (12345.00 or $12,345.00)"),
                "{reasons}"
            );
            let stored = super::server::rows![[1, "1.50"], [2, "-1234.56"]];
            assert_eq!(server.query("SELECT id, v::numeric FROM t ORDER BY id"), stored, "{way:?}");
        }
    });
}

#[test]
fn columns_that_only_the_server_reads_are_named() {
    for_each_server(|server| {
        server.write("t.csv", "span,doc\n\"[1,2)\",{}\n");
        server.sql("CREATE TABLE t (span int4range, doc jsonb)");
        let read = "only the server reads the values of span (int4range)";
        let compared =
            "checksums compare of span (int4range), doc (jsonb) only whether there is a value";
        server.plan(&["t.csv"]).exits(0).prints(&[read]);
        let report = server.report(&["t.csv", "--verify", "checksum"]);
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains(read) && warnings.contains(compared), "{warnings}");
    });
}

/// Other programs have a year 0 there; the server wants to hear of the era.
#[test]
fn a_day_before_the_year_1_is_written_with_its_era() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (day date, at timestamp)");
        server.write("t.csv", "day,at\n0000-12-31,\n,0000-12-31 23:59:59\n0001-12-31 BC,\n");
        server.load(&["t.csv", "--max-rejects", "2"]).exits(3);
        let reasons = String::from_utf8(server.read("t.rejects.csv.jsonl")).unwrap();
        for words in [
            "'0000-12-31' is out of range for days from the year 1 on: one before is written 0044-03-15 BC",
            "59' is out of range for days from the year 1",
        ] {
            assert!(reasons.contains(words), "{reasons}");
        }
        assert_eq!(server.query("SELECT day FROM t"), super::server::rows![["0001-12-31 BC"]]);
    });
}

#[test]
fn members_of_an_enum_may_have_backslashes_and_quotes() {
    for_each_server(|server| {
        server.write("t.csv", "a\na\\b\nit's\n");
        server.sql("CREATE TYPE odd AS ENUM ('a\\b', 'it''s'); CREATE TABLE t (a odd)");
        server.load(&["t.csv"]).exits(0);
        assert_eq!(server.number("SELECT count(*) FROM t WHERE a IN ('a\\b', 'it''s')"), 2);
    });
}

/// Another `--type` beside the one that says how values are written is refused.
#[test]
fn counts_that_are_finer_than_timestamps_are_named_with_a_way_out_that_works() {
    for_each_server(|server| {
        server.write("t.csv", "id,v\n1,1700000000.1234567\n");
        let counted = ["t.csv", "--type", "v=timestamp[s]"];
        let way = "without --type 'v=timestamp[s]' it has the numbers as they are";
        server.load(&counted).exits(0).prints(&["column v is text", way]);
        server.load(&["t.csv", "--if-exists", "replace"]).exits(0);
        assert_eq!(server.number("SELECT count(*) FROM t WHERE v = 1700000000.1234567"), 1);
    });
}

/// A value far behind the sample makes a column text, and the load begins again: what is to be known is the same.
#[test]
fn what_only_the_server_reads_is_said_of_another_try_too() {
    for_each_server(|server| {
        let row = |n: u32| {
            let extra = if n == 7_500 { "late".to_owned() } else { n.to_string() };
            // Wide, so that few rows are longer than the sample.
            format!("{n},\"[{n},{})\",{extra},{}\n", n + 5, "x".repeat(200))
        };
        let rows: String = (0..8_000).map(row).collect();
        server.write("t.csv", format!("id,r,extra,pad\n{rows}"));
        server.sql("CREATE TABLE t (id int, r int4range)");
        let report = server.report(&["t.csv", "--new-columns", "add"]);
        assert_eq!(report["plan"]["columns"][2]["type"], "text", "{report}");
        let warnings = report["warnings"].as_array().unwrap().iter().map(ToString::to_string);
        let read = "only the server reads the values of r (int4range)";
        assert_eq!(warnings.filter(|warning| warning.contains(read)).count(), 1, "{report}");
    });
}

/// The server would make them fit without a word.
#[test]
fn elements_of_a_domain_and_single_characters_are_kept_whole_or_refused() {
    for_each_server(|server| {
        server.sql(
            "CREATE DOMAIN price AS numeric(5,2); CREATE DOMAIN dear AS price CHECK (VALUE > 1); CREATE DOMAIN prices AS price[];
             CREATE DOMAIN code AS varchar(3);
             CREATE TABLE t (id int, p price[], d dear[], l prices, k code[], c \"char\", cs \"char\"[])",
        );
        let good = "1|{1.25,NULL}|{2.5}|{0.01}|{abc,\"\"}|x|{a,\"\"}\n";
        let bad = [
            "2|{1.234}|||||\n",
            "3||{1000}||||\n",
            "4|||{1,1.005}|||\n",
            "5||||{abcd}||\n",
            "6|||||xy|\n",
            "7|||||\u{e9}|\n",
            "8||||||{ab}\n",
            "9||{0.5}||||\n",
        ];
        server.write("t.csv", format!("id|p|d|l|k|c|cs\n{good}{}", bad.concat()));
        for way in some(server.ways_into_used()) {
            let load = ["t.csv", "--if-exists", "append", "--delimiter", "|", "--max-rejects", "8"];
            let run = server.load(&[&load[..], &way.options()].concat());
            if run.status.code() == Some(2) {
                // It goes in binary, or takes no arrays.
                continue;
            }
            run.exits(3);
            let rejects = format!("id|p|d|l|k|c|cs\n{}", bad.concat());
            assert_eq!(server.read("t.rejects.csv"), rejects.as_bytes(), "{way:?}");
            assert_eq!(
                server.query("SELECT * FROM t"),
                rows![[1, "{1.25,NULL}", "{2.50}", "{0.01}", "{abc,\"\"}", "x", "{a,\"\"}"]],
                "{way:?}"
            );
            server.sql("TRUNCATE t");
        }
        // Binary ways take a column of single characters.
        server.drop_table("t").sql("CREATE TABLE t (id int, c \"char\")");
        server.write("t.csv", "id,c\n1,x\n2,\"\"\n3,xy\n");
        for way in some(server.ways_into_used()) {
            let load = ["t.csv", "--if-exists", "append", "--verify", "checksum", "--max-rejects"];
            server.load(&[&load[..], &["1"], &way.options()].concat()).exits(3);
            let stored = rows![[1, "x"], [2, ""]];
            assert_eq!(server.query("SELECT * FROM t ORDER BY id"), stored, "{way:?}");
            server.sql("TRUNCATE t");
        }
    });
}

/// Of enums, domains over them, and other types that the server alone reads.
#[test]
fn lists_are_arrays_of_what_the_server_reads() {
    for_each_server(|server| {
        server.drop_table("t").sql("DROP TYPE IF EXISTS mood_of_lists CASCADE");
        server.sql(
            "CREATE TYPE mood_of_lists AS ENUM ('sad', 'so, \"so\"', 'NULL');
             CREATE DOMAIN domain_of_moods AS mood_of_lists;
             CREATE DOMAIN moods AS mood_of_lists[];
             CREATE TABLE t (id int, e mood_of_lists[], d domain_of_moods[], a moods, r int4range[])",
        );
        let good = r#"{"id":1,"e":["sad",null,"so, \"so\"","NULL"],"d":[["sad"],["sad"]],"a":["sad"],"r":["[1,3)"]}
{"id":2,"e":[],"d":null,"a":[],"r":[]}
{"id":3,"e":"{sad}","d":"{sad}","a":"[2:2]={sad}","r":"{\"[1,2)\"}"}
"#;
        server.write("t.jsonl", good);
        server.write("bad.jsonl", "{\"id\":4,\"e\":[\"sad\",\"glad\"]}\n");
        for way in some(server.ways_into_used()) {
            let load = ["--table", "t", "--if-exists", "append"];
            let run = server.load(&[&["t.jsonl"], &load[..], &way.options()].concat());
            if run.status.code() == Some(2) {
                // It takes no arrays.
                continue;
            }
            run.exits(0);
            let stored = rows![
                [1, r#"{sad,NULL,"so, \"so\"","NULL"}"#, "{{sad},{sad}}", "{sad}", "{\"[1,3)\"}"],
                [2, "{}", (), "{}", "{}"],
                [3, "{sad}", "{sad}", "[2:2]={sad}", "{\"[1,2)\"}"]
            ];
            let sql = "SELECT id, e, d, a, r FROM t ORDER BY id";
            assert_eq!(server.query(sql), stored, "{way:?}");
            server
                .load(&[&["bad.jsonl"], &load[..], &way.options()].concat())
                .exits(1)
                .says(&["glad"]);
            server.sql("TRUNCATE t");
        }
    });
}

/// Of JSON, and of Arrow and of programs, whose lists are JSON here.
#[test]
fn lists_are_arrays() {
    for_each_server(|server| {
        server.drop_table("t");
        server.sql(
            "CREATE TABLE t (id int, n int[], x text[], p numeric(5,2)[], deep bigint[], j jsonb[], at timestamptz[])",
        );
        let nested = |id: u32, depth: usize| {
            format!("{{\"id\":{id},\"deep\":{}1{}}}\n", "[".repeat(depth), "]".repeat(depth))
        };
        let flat = "{\"id\":1,\"n\":[1.0,null,-3],\"x\":[\"a, \\\"b\\\"\\\\ {\",\"null\",\"\",7],\"p\":[1.5],\"deep\":[[1,2],[3,4]]}\n\
             {\"id\":2,\"n\":[],\"x\":null,\"p\":null,\"deep\":[]}\n\
             {\"id\":3,\"n\":[\"x\"]}\n\
             {\"id\":4,\"deep\":[[1],[2,3]]}\n";
        // Arrays have six dimensions at most, and a stack some thousand.
        let deep = [nested(5, 6), nested(6, 7), nested(7, 100_000)].concat();
        // A string is one in documents, whatever is in it; a text has no NUL, and of which zone a moment is has to be said.
        let kinds = r#"{"id":8,"j":["5","null",null,{"a":"b"},[1,"2"],true]}
{"id":9,"x":["a\u0000b"]}
{"id":10,"at":["2024-06-01T00:00:00"]}
{"id":11,"at":["2024-06-01T02:00:00+02:00",null,"2024-06-01T00:00:00.5Z"]}
"#;
        server.write("t.jsonl", format!("{flat}{deep}{kinds}"));
        for way in some(server.ways_into_used()) {
            let load = ["t.jsonl", "--if-exists", "append", "--max-rejects", "6"];
            let run = server.load(&[&load[..], &way.options()].concat());
            if run.status.code() == Some(2) {
                // It takes no arrays.
                continue;
            }
            run.exits(3);
            let moments = "SELECT at = ARRAY['2024-06-01 00:00Z', NULL, '2024-06-01 00:00:00.5Z']::timestamptz[] FROM t WHERE id = 11";
            assert_eq!(server.query(moments), rows![["t"]], "{way:?}");
            let documents = r#"{"\"5\"","\"null\"",NULL,"{\"a\": \"b\"}","[1, \"2\"]",true}"#;
            let stored = rows![
                [
                    1,
                    "{1,NULL,-3}",
                    r#"{"a, \"b\"\\ {","null","",7}"#,
                    "{1.50}",
                    "{{1,2},{3,4}}",
                    ()
                ],
                [2, "{}", (), (), "{}", ()],
                [5, (), (), (), "{{{{{{1}}}}}}", ()],
                [8, (), (), (), (), documents]
            ];
            let sql = "SELECT id, n, x, p, deep, j FROM t WHERE id <> 11 ORDER BY id";
            assert_eq!(server.query(sql), stored, "{way:?}");
            server.sql("TRUNCATE t");
        }
    });
}

/// Of options that are said for all columns.
#[test]
fn truths_and_days_that_no_option_reads_stay_as_the_server_has_them() {
    for_each_server(|server| {
        server.sql("CREATE TABLE t (id int, a boolean, b boolean, c boolean, d date)");
        server.write(
            "t.csv",
            "id,a,b,c,d\n1,yes,1,t,0044-03-15 BC\n2,no,0,f,12024-01-01\n3,no,,,infinity\n",
        );
        let options = ["--true", "yes", "--false", "no", "--date-format", "%d.%m.%Y"];
        server.load(&[&["t.csv"], &options[..]].concat()).exits(0);
        assert_eq!(
            server.query("SELECT a::text, b::text, c::text, d::text FROM t ORDER BY id"),
            rows![
                ["true", "true", "true", "0044-03-15 BC"],
                ["false", "false", "false", "12024-01-01"],
                ["false", (), (), "infinity"]
            ]
        );
        server.write("t.csv", "id,a,b,c,d\n1,yes,yes,,\n2,no,0,,\n");
        let append = ["t.csv", "--if-exists", "append", "--true", "yes", "--false", "no"];
        let said = ["--true", "b=yes,1", "--false", "b=no,0"];
        server.refuses(&append).says(&["line 3, column b", &said.join(" ")]);
        server.load(&[&append[..], &said].concat()).exits(0);
    });
}
