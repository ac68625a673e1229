use std::fmt::Write as _;

use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{
    DurationMillisecondArray, Int64Array, Time64NanosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray,
};
use serde_json::json;

use super::{STRATEGIES, columns, fixture, lines, rows, some_strategies, sql};
use crate::columns::{batch, column, int96, parquet, truths};
use crate::contract::with_late_value;
use crate::fixture::{Fixture, Random, json_lines, size, thorough};

/// Loads with every strategy, verified by checksum, and gives the table.
fn each(fixture: &Fixture, args: &[&str], mut see: impl FnMut(&str, &str)) {
    for strategy in STRATEGIES {
        let db = format!("{}.duckdb", &strategy[7..]);
        let load =
            [&["in.csv", &db, "--strategy", strategy, "--verify", "checksum"], args].concat();
        let report = fixture.report(&load);
        assert_eq!(report["verify"], json!({"method": "checksum", "ok": true}));
        see(&db, strategy);
    }
}

#[test]
fn a_new_table_has_the_types_that_the_values_have() {
    let Some(fixture) = fixture() else { return };
    fixture.write(
        "in.csv",
        "i,f,n,b,d,t,z,s,j\n\
         1,1.5,,true,2013-01-01,2013-01-01 10:00:00,2013-01-01 10:00:00+01:00,\"a \"\"b\"\", c\",\"{\"\"a\"\": 1}\"\n\
         -9223372036854775808,5e-324,,false,0001-01-01,2012-02-29T23:59:59.999999,1969-12-31 23:59:59-11:30,\"x\ny\",[]\n\
         9223372036854775807,-0.1,,,9999-12-31,,,\"\",\n",
    );
    each(&fixture, &["--type", "n=decimal(38,7)"], |db, strategy| {
        assert_eq!(
            columns(&fixture, db, "in"),
            "i BIGINT, f DOUBLE, n DECIMAL(38,7), b BOOLEAN, d DATE, t TIMESTAMP, z TIMESTAMP WITH TIME ZONE, s VARCHAR, j JSON",
            "{strategy}"
        );
        let found = lines(
            &fixture,
            db,
            "SELECT i, f, n, b, d, t, z AT TIME ZONE 'UTC', s, j FROM \"in\" ORDER BY rowid",
        );
        assert_eq!(
            found,
            [
                "1|1.5|~|true|2013-01-01|2013-01-01 10:00:00|2013-01-01 09:00:00|a \"b\", c|{\"a\": 1}",
                "-9223372036854775808|5e-324|~|false|0001-01-01|2012-02-29 23:59:59.999999|1970-01-01 11:29:59|x\ny|[]",
                "9223372036854775807|-0.1|~|~|9999-12-31|~|~||~",
            ],
            "{strategy}"
        );
    });
}

#[test]
fn text_stays_what_it_is() {
    let Some(fixture) = fixture() else { return };
    let wide: String = "0123456789".repeat(20_000);
    let values = [
        "\u{1f600} \u{e9}\u{301}",
        "'); DROP TABLE t; --",
        "$1",
        "\\",
        "NULL",
        " x ",
        "\r\n",
        "%s",
        "\u{0}",
    ];
    let mut text = "id,v\n".to_owned();
    for (id, value) in values.iter().chain([&wide.as_str()]).enumerate() {
        writeln!(text, "{id},\"{value}\"").unwrap();
    }
    fixture.write("in.csv", &text);
    each(&fixture, &["--type", "v=text"], |db, strategy| {
        let found = rows(&fixture, db, "SELECT v FROM \"in\" ORDER BY id");
        let found: Vec<&str> = found.iter().map(|row| row[0].as_deref().unwrap()).collect();
        assert_eq!(found[..values.len()], values, "{strategy}");
        assert!(found[values.len()] == wide);
    });
}

#[test]
fn bytes_and_wide_rows() {
    let Some(fixture) = fixture() else { return };
    let header: Vec<String> = (0..400).map(|n| format!("c{n}")).collect();
    let row = |n: usize| (0..400).map(|c| (n * c).to_string()).collect::<Vec<_>>().join(",");
    let mut text = format!("b,{}\n", header.join(",")).into_bytes();
    for n in 0..20 {
        text.extend_from_slice(b"\xff\x00\x80,");
        text.extend_from_slice(row(n).as_bytes());
        text.push(b'\n');
    }
    fixture.write("in.csv", text);
    each(&fixture, &["--type", "b=bytes", "--encoding", "utf-8"], |db, strategy| {
        let sum = lines(
            &fixture,
            db,
            "SELECT sum(CAST(c399 AS INTEGER)), min(hex(b)), count(*) FROM \"in\"",
        );
        assert_eq!(sum, [format!("{}|FF0080|20", 399 * 19 * 20 / 2)], "{strategy}");
    });
}

#[test]
fn files_without_rows() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id,name\n");
    each(&fixture, &[], |db, strategy| {
        assert_eq!(lines(&fixture, db, "SELECT count(*) FROM \"in\""), ["0"], "{strategy}");
    });
}

#[test]
fn one_bad_row_of_many_is_the_only_one() {
    let Some(fixture) = fixture() else { return };
    let mut text = String::from("id,n\n");
    (0..20_000).for_each(|n| writeln!(text, "{n},{}", n % 97).unwrap());
    let text = text.replace("\n17777,", "\n17777x,");
    fixture.write("in.csv", &text);
    for strategy in &STRATEGIES[..2] {
        let load = ["in.csv", "t.duckdb", "--strategy", strategy, "--type", "id=integer"];
        fixture.refuses(&load).says(&["in.csv: line 17779, column id: '17777x' is not an integer"]);
        let more = ["--max-rejects", "1", "--if-exists", "replace", "--verify", "checksum"];
        fixture.load(&[&load[..], &more].concat()).exits(3);
        assert_eq!(
            fixture.read("in.rejects.csv"),
            format!("id,n\n17777x,{}\n", 17_777 % 97).into_bytes()
        );
        assert_eq!(
            lines(&fixture, "t.duckdb", "SELECT count(*), sum(id) FROM \"in\""),
            ["19999|199972223"]
        );
        std::fs::remove_file(fixture.path("in.rejects.csv")).unwrap();
        std::fs::remove_file(fixture.path("in.rejects.csv.jsonl")).unwrap();
        std::fs::remove_file(fixture.path("t.duckdb")).unwrap();
    }
}

#[test]
fn a_guess_that_a_late_row_disproves_makes_the_load_start_again() {
    let Some(fixture) = fixture() else { return };
    let (text, _) = with_late_value("id,n", |id, is_late| match is_late {
        true => "7,12345678901234567890".to_owned(),
        false => format!("{id},{id}"),
    });
    fixture.write("in.csv", text);
    for strategy in &STRATEGIES[..2] {
        let db = format!("{}.duckdb", &strategy[7..]);
        fixture.load(&["in.csv", &db, "--strategy", strategy, "--verify", "checksum"]).exits(0);
        let max = lines(&fixture, &db, "SELECT max(n), count(*) FROM \"in\"");
        assert_eq!(max, ["12345678901234567890|1500"]);
    }
}

#[test]
fn what_is_kept_reads_back_as_the_same_value_to_the_engine() {
    // The engine's own cast of the text is the oracle.
    let Some(fixture) = fixture() else { return };
    let mut random = Random(0x5eed);
    let types = [
        "BIGINT",
        "UBIGINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL(4,1)",
        "DECIMAL(38,10)",
        "BOOLEAN",
        "DATE",
        "TIMESTAMP",
        "TIMESTAMP_NS",
        "HUGEINT",
        "INTERVAL",
        "BLOB",
        // Where the tests take their time: other widths of these, and what the contract looks at as well.
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "DECIMAL(9,3)",
        "DECIMAL(18,4)",
        "TIMESTAMP_S",
        "TIMESTAMP_MS",
        "UHUGEINT",
        "UUID",
        "TIME",
    ];
    let types = &types[..size(13, types.len())];
    let mut text = String::from("id,v\n");
    for id in 0..size(400, 2_000) {
        writeln!(text, "{id},{}", some_value(&mut random)).unwrap();
    }
    fixture.write("in.csv", &text);
    let cases: Vec<_> = types
        .iter()
        .enumerate()
        .flat_map(|(number, ty)| {
            // Each type by one strategy, and each strategy with many types.
            let by = move |at: &usize| thorough() || (number + at).is_multiple_of(STRATEGIES.len());
            (0..STRATEGIES.len()).filter(by).map(move |at| (*ty, STRATEGIES[at]))
        })
        .filter(|(ty, strategy)| {
            *strategy != "duckdb/appender"
                || !["HUGEINT", "UHUGEINT", "UUID", "TIME", "INTERVAL"].contains(ty)
        })
        .collect();
    let db = "oracle.duckdb";
    let made =
        (0..).zip(&cases).map(|(n, (ty, _))| format!("CREATE TABLE t{n} (id INTEGER, v {ty});"));
    sql(&fixture, db, &made.collect::<String>());
    for (n, (ty, strategy)) in cases.iter().enumerate() {
        let table = format!("t{n}");
        let load = ["in.csv", db, "--table", &table, "--strategy", strategy];
        let more = ["--max-rejects", "100%", "--verify", "checksum"];
        let run = fixture.load(&[&load[..], &more].concat());
        let code = run.status.code().unwrap();
        assert!([0, 3].contains(&code), "{ty} {strategy}: {}", run.stderr);
    }
    let source = fixture.path("in.csv").display().to_string();
    let wrong = (0..).zip(&cases).map(|(n, (ty, strategy))| {
        format!(
            "(SELECT '{ty} {strategy}', t.id, raw.v, CAST(t.v AS VARCHAR) \
             FROM t{n} t JOIN read_csv('{source}', all_varchar = true, header = true) raw \
             ON t.id = CAST(raw.id AS INTEGER) WHERE t.v IS DISTINCT FROM TRY_CAST(raw.v AS {ty}) LIMIT 5)"
        )
    });
    let wrong = wrong.collect::<Vec<_>>().join(" UNION ALL ");
    assert_eq!(lines(&fixture, db, &wrong), [] as [String; 0]);
    let kept = (0..).zip(&cases).map(|(n, (ty, strategy))| {
        format!("SELECT '{ty} {strategy}', count(v) FROM t{n} HAVING count(v) <= 10")
    });
    let few = lines(&fixture, db, &kept.collect::<Vec<_>>().join(" UNION ALL "));
    assert_eq!(few, [] as [String; 0], "hardly a value is kept");
}

/// A value of one kind or another, often at the end of what a type has.
fn some_value(random: &mut Random) -> String {
    let number = random.next();
    let small = number % 300;
    match random.next() % 15 {
        0 => small.to_string(),
        1 => format!("-{small}"),
        2 => (number >> (number % 64)).to_string(),
        3 => format!("-{}", number >> (number % 64)),
        4 => format!("{}.{}", small, number % 1_000),
        5 => format!("{}e{}", number % 1_000, number % 30),
        6 => ["true", "false", "t", "no"][(number % 4) as usize].to_owned(),
        7 => format!("{:04}-{:02}-{:02}", number % 3_000, number % 14, number % 33),
        8 => format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
            1_600 + number % 700,
            1 + number % 12,
            1 + number % 28,
            number % 24,
            number % 60,
            number % 61
        ),
        9 => format!("2020-01-{:02} 10:00:00.{}", 1 + number % 28, number % 1_000_000_000),
        10 => format!("{:08x}-0000-4000-8000-{:012x}", number as u32, number >> 16),
        11 => format!("{:02}:{:02}:{:02}", number % 24, number % 60, number % 60),
        12 => format!("{} days", number % 400),
        13 => format!(
            "{}\\x{:02X}",
            ["", "a", "\\x5c", "\\x0", "é"][(number % 5) as usize],
            small % 256
        ),
        _ => format!("{}{:018}", number % 100, number >> 8),
    }
}

/// As the engine casts it, and writes it into files itself. Bytes that are no text are bytes.
#[test]
fn text_for_bytes_of_an_existing_table_is_the_engines_notation() {
    let Some(fixture) = fixture() else { return };
    fixture.write(
        "in.csv",
        "id,b\n1,\\xDE\\xad\n2,abc\n3,a\\x00\n4,\n5,\"\\x22,\\x5C\"\n6,\\x\n7,a\\b\n8,\\xZZ\n9,é\n10,\\xD\n",
    );
    let good = ["1|DEAD", "2|616263", "3|6100", "4|~", "5|222C5C"];
    fixture.write("in.jsonl", "{\"id\":1,\"b\":\"3q0=\"}\n{\"id\":2,\"b\":\"XHgwMA==\"}\n");
    fixture.load(&["in.jsonl", "in.parquet", "--type", "b=bytes"]).exits(0);
    let all = "SELECT id, hex(b) FROM t ORDER BY id";
    for (number, strategy) in STRATEGIES.into_iter().enumerate() {
        let new = |kind: &str, table: &str| {
            let db = format!("{kind}{number}.duckdb");
            sql(&fixture, &db, table);
            db
        };
        for (kind, table) in [
            ("plain", "CREATE TABLE t (id INTEGER, b BLOB)"),
            ("judged", "CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB CHECK (b <> 'zz'::BLOB))"),
        ] {
            let db = new(kind, table);
            let sift: &[&str] = if kind == "judged" { &["--set", "sift=on"] } else { &[] };
            let bad = format!("{db}.csv");
            let args = ["in.csv", &db, "--table", "t", "--strategy", strategy, "--rejects", &bad];
            let args =
                [&args[..], &["--max-rejects", "all", "--verify", "checksum"], sift].concat();
            fixture.load(&args).exits(3);
            assert_eq!(lines(&fixture, &db, all), good, "{strategy}");
            let rejects = String::from_utf8(fixture.read(&bad)).unwrap();
            assert_eq!(rejects, "id,b\n6,\\x\n7,a\\b\n8,\\xZZ\n9,é\n10,\\xD\n");
        }
        for file in ["in.jsonl", "in.parquet"] {
            let db = new(&file[3..], "CREATE TABLE t (id INTEGER, b BLOB)");
            fixture.load(&[file, &db, "--table", "t", "--strategy", strategy]).exits(0);
            assert_eq!(lines(&fixture, &db, all), ["1|DEAD", "2|5C783030"], "{strategy} {file}");
        }
        // Other servers' notation is said not to be the engine's.
        fixture
            .write("pg.csv", "id,b\n1,\\xdeadbeef\n2,\\xff\n")
            .write("one.csv", "id,b\n1,\\xff\n");
        let db = new("pg", "CREATE TABLE t (id INTEGER, b BLOB)");
        let load = ["pg.csv", &db, "--table", "t", "--strategy", strategy];
        fixture.load(&load).exits(0).prints(&["column b: \\x and hexadecimal digits"]);
        let load =
            ["one.csv", &db, "--table", "t", "--if-exists", "append", "--strategy", strategy];
        let run = fixture.load(&load).exits(0);
        assert!(!run.stdout.contains("hexadecimal"), "{run:?}");
        let db = new("own", "CREATE TABLE t (id INTEGER, b BLOB)");
        let own = ["in.csv", &db, "--table", "t", "--strategy", strategy, "--type", "b=bytes"];
        fixture.load(&own).exits(0);
        let own = lines(&fixture, &db, "SELECT hex(b) FROM t WHERE id IN (3, 9) ORDER BY id");
        assert_eq!(own, ["615C783030", "C3A9"]);
    }
}

/// A list of DuckDB's has the number that no JSON has, and nothing is to be said of it; a document of JSON has a text.
#[test]
fn numbers_that_json_has_none_for_stay_numbers_in_lists() {
    let Some(fixture) = fixture() else { return };
    let mut list = ListBuilder::new(Float64Builder::new());
    list.append_value([Some(0.5), Some(f64::NAN), Some(f64::INFINITY)]);
    parquet(&fixture, "t.parquet", &batch(vec![("l", column(list.finish()))]), 100);
    for (ty, shown, said) in
        [("DOUBLE[]", "[0.5, nan, inf]", false), ("VARCHAR", "[0.5,\"NaN\",\"Infinity\"]", true)]
    {
        let db = format!("{}.duckdb", &ty[..4]);
        sql(&fixture, &db, &format!("CREATE TABLE t (l {ty})"));
        let load = ["t.parquet", &db, "--strategy", "duckdb/arrow"];
        let warnings = fixture.report(&load)["warnings"].to_string();
        assert_eq!(warnings.contains("within its lists"), said, "{ty}: {warnings}");
        assert_eq!(lines(&fixture, &db, "SELECT CAST(l AS VARCHAR) FROM t"), [shown]);
    }
}

/// Documents of JSON, and lists and structs of Parquet, which come as such, go into what DuckDB has for them.
#[test]
fn documents_go_into_lists_structs_and_maps() {
    let Some(fixture) = fixture() else { return };
    let made = "CREATE TABLE t (i INTEGER, l BIGINT[], s STRUCT(a INTEGER, b VARCHAR[]), v VARCHAR[], m MAP(VARCHAR, DOUBLE), \
                f FLOAT[2], d DECIMAL(38,2)[], t TIMESTAMP[], z TIMESTAMPTZ[], h HUGEINT[], e ENUM('x', 'y')[], n INTEGER[][])";
    fixture.write(
        "t.jsonl",
        "{\"i\":1,\"l\":[1, -2,null],\"s\":{\"a\":7,\"b\":[\"p\",\"q \\\"\\u00e9\\n'\"]},\"v\":[\"p\",\"1\",\"\",\"a, b\"],\
         \"m\":{\"k\":1e300,\"\":0.1},\"f\":[3.1,1],\"d\":[123456789012345678901234567890.5],\
         \"t\":[\"2020-01-01T10:00:00.5\"],\"z\":[\"2020-01-01T02:00:00+02:00\"],\
         \"h\":[170141183460469231731687303715884105727],\"e\":[\"y\"],\"n\":[[1],null,[]]}\n\
         {\"i\":2,\"l\":[],\"s\":{\"a\":null,\"b\":null},\"v\":null,\"m\":{},\"f\":null,\"d\":[],\"t\":[],\"z\":[],\"h\":[],\"e\":[],\"n\":[]}\n",
    );
    let shown = [
        "1|[1, -2, NULL]|7|q \"\u{e9}\n'|4|p|1||a, b|1e+300|0.1|[3.1, 1.0]|[123456789012345678901234567890.50]|\
         2020-01-01 10:00:00.5|2020-01-01 00:00:00|[170141183460469231731687303715884105727]|[y]|[[1], NULL, []]",
        "2|[]|~|~|~|~|~|~|~|~|~|~|[]|~|~|[]|[]|[]",
    ];
    let all = "SELECT i, l, s.a, s.b[2], len(v), v[1], v[2], v[3], v[4], m['k'], m[''], f, d, t[1], z[1] AT TIME ZONE 'UTC', h, e, n FROM t ORDER BY i";
    for strategy in ["duckdb/arrow", "duckdb/prepared"] {
        for sift in ["off", "on"] {
            let db = format!("{}-{sift}.duckdb", &strategy[7..]);
            sql(&fixture, &db, made);
            let sift = format!("sift={sift}");
            let load =
                ["t.jsonl", &db, "--strategy", strategy, "--verify", "checksum", "--set", &sift];
            let report = fixture.report(&load);
            assert_eq!(report["verify"], json!({"method": "checksum", "ok": true}));
            assert_eq!(lines(&fixture, &db, all), shown, "{strategy} {sift}");
        }
    }
    // And back, by way of a Parquet file.
    let file = fixture.path("p.parquet").display().to_string();
    let copy = "SELECT i, l, s, v, m, f, t, z, n FROM t";
    sql(
        &fixture,
        "arrow-off.duckdb",
        &format!("COPY ({copy} ORDER BY i) TO '{file}' (FORMAT parquet)"),
    );
    sql(&fixture, "p.duckdb", made);
    let load = ["p.parquet", "p.duckdb", "--table", "t", "--verify", "checksum"];
    fixture.load(&load).exits(0);
    let same = |db: &str| {
        lines(
            &fixture,
            db,
            &format!(
                "SELECT CAST(row(i, l, s, v, m, f, t, z, n) AS VARCHAR) FROM ({copy}) ORDER BY i"
            ),
        )
    };
    assert_eq!(same("p.duckdb"), same("arrow-off.duckdb"));
}

/// As those of JSON do.
#[test]
fn bad_rows_of_lists_and_structs_of_parquet_go_back() {
    let Some(fixture) = fixture() else { return };
    let columns = "l BIGINT[], st STRUCT(x BIGINT, t VARCHAR[]), m MAP(VARCHAR, DOUBLE)";
    let rows = "VALUES (1, [1], {'x': 1, 't': ['a']}, MAP {'k': 0.5}), (2, [2, NULL], {'x': NULL, 't': ['', NULL]}, MAP {'': -2, 'q''s': 1}), \
                (2, [NULL], {'x': 3, 't': ['[1]', 'a\nb']}, MAP {}), (2, [], NULL, NULL)";
    let file = fixture.path("q.parquet").display().to_string();
    let copy = format!("COPY (SELECT * FROM t) TO '{file}' (FORMAT parquet)");
    let filled = format!("CREATE TABLE t (id INTEGER, {columns}); INSERT INTO t {rows}; {copy}");
    sql(&fixture, "from.duckdb", &filled);
    sql(&fixture, "q.duckdb", &format!("CREATE TABLE q (id INTEGER PRIMARY KEY, {columns})"));
    fixture.load(&["q.parquet", "q.duckdb", "--max-rejects", "5"]).exits(3);
    let mut rejects = String::from_utf8(fixture.read("q.rejects.jsonl")).unwrap();
    for id in 3..5 {
        rejects = rejects.replacen("{\"id\":2", &format!("{{\"id\":{id}"), 1);
    }
    fixture.write("q.rejects.jsonl", rejects);
    fixture
        .load(&["q.rejects.jsonl", "q.duckdb", "--if-exists", "append", "--max-rejects", "5"])
        .exits(0);
    let all =
        |table: &str| format!("SELECT CAST(row(l, st, m) AS VARCHAR) FROM {table} ORDER BY 1");
    assert_eq!(lines(&fixture, "q.duckdb", &all("q")), lines(&fixture, "from.duckdb", &all("t")));
}

#[test]
fn a_document_that_a_nested_type_would_change_is_a_bad_row() {
    let Some(fixture) = fixture() else { return };
    let cases = [
        (
            "INTEGER[]",
            "[1]",
            &["[1.5]", "[2147483648]", "[\"1\"]", "[true]", "[[1]]", "1", "{\"a\":1}"][..],
        ),
        ("VARCHAR[]", "[\"1\"]", &["[1]", "[true]", "[[]]"]),
        ("FLOAT[3]", "[1,2.5,3]", &["[1,2]", "[1,2,1e39]", "[1,2,3,4]"]),
        (
            "STRUCT(a INTEGER, b INTEGER)",
            "{\"a\":1,\"b\":2}",
            &["{\"a\":1}", "{\"b\":2,\"a\":1}", "{\"a\":1,\"b\":2,\"c\":3}", "{}", "[1,2]"],
        ),
        (
            "MAP(INTEGER, VARCHAR)",
            "{\"1\":\"x\"}",
            &["{\"x\":\"x\"}", "{\"1\":\"x\",\"1\":\"y\"}", "{\"1\":1}"],
        ),
        ("DECIMAL(5,2)[]", "[1.5]", &["[1.005]", "[1000]"]),
        ("DATE[]", "[\"2020-01-31\"]", &["[\"2020-02-31\"]", "[\"20200131\"]"]),
        ("ENUM('x', 'y')[]", "[\"x\"]", &["[\"z\"]"]),
        ("INTERVAL[]", "[\"1 day\"]", &["[\"P1D\"]"]),
    ];
    let made =
        (0..).zip(&cases).map(|(n, (ty, ..))| format!("CREATE TABLE t{n} (i INTEGER, v {ty});"));
    sql(&fixture, "x.duckdb", &made.collect::<String>());
    for (n, (ty, good, bad)) in cases.iter().enumerate() {
        let mut text = format!("{{\"i\":0,\"v\":{good}}}\n");
        for (i, bad) in bad.iter().enumerate() {
            writeln!(text, "{{\"i\":{},\"v\":{bad}}}", i + 1).unwrap();
        }
        fixture.write("t.jsonl", &text);
        let table = format!("t{n}");
        let load = ["t.jsonl", "x.duckdb", "--table", &table, "--verify", "checksum"];
        let more = ["--max-rejects", "90%", "--rejects", &format!("{table}.jsonl")];
        fixture.load(&[&load[..], &more].concat()).exits(3);
        let notes = json_lines(&fixture.read(&format!("{table}.jsonl.jsonl")));
        assert_eq!(notes.len(), bad.len(), "{ty}");
        for (note, line) in notes.iter().zip(2_u64..) {
            assert_eq!((&note["line"], &note["column"]), (&json!(line), &json!("v")), "{ty}");
        }
    }
    let kept = (0..cases.len()).map(|n| format!("SELECT i FROM t{n}"));
    let kept = lines(&fixture, "x.duckdb", &kept.collect::<Vec<_>>().join(" UNION ALL "));
    assert_eq!(kept, vec!["0"; cases.len()]);
}

/// A value that is none among them changes nothing for the others, be it in the sample or behind it.
#[test]
fn documents_are_documents_beside_what_is_none() {
    let Some(fixture) = fixture() else { return };
    let document = |id: usize| format!("{{\"id\":{id},\"v\":[\"t{id}\",\"a\\nb\"]}}\n");
    let few: String = (0..99).map(document).collect();
    let many: String = (0..60_000).map(document).collect();
    let texts = [few + "{\"id\":99,\"v\":false}\n", many + "{\"id\":99,\"v\":7}\n"];
    for (n, text) in texts.iter().enumerate() {
        let table = format!("t{n}");
        sql(&fixture, "x.duckdb", &format!("CREATE TABLE {table} (id INTEGER, v VARCHAR[])"));
        fixture.write("t.jsonl", text);
        let load = ["t.jsonl", "x.duckdb", "--table", &table, "--max-rejects", "1"];
        let run = fixture.load(&[&load[..], &["--verify", "checksum"]].concat()).exits(3);
        run.prints(&["1 bad row"]);
        let good = text.lines().count() - 1;
        let count = format!("SELECT count(*), min(v[2] = 'a' || chr(10) || 'b') FROM {table}");
        assert_eq!(lines(&fixture, "x.duckdb", &count), [format!("{good}|true")]);
        std::fs::remove_file(fixture.path("t.rejects.jsonl")).unwrap();
        std::fs::remove_file(fixture.path("t.rejects.jsonl.jsonl")).unwrap();
    }
}

/// Of two readings of one text none is taken that is not the engine's own.
#[test]
fn text_is_a_document_or_written_as_the_engine_writes_it() {
    let Some(fixture) = fixture() else { return };
    let cases = [
        (
            "VARCHAR[]",
            &[
                (r#"["a","it's"]"#, r"[a, 'it\'s']"),
                ("[a, NULL]", "[a, NULL]"),
                (r#"["q\"\\",null]"#, r#"['q"\\', NULL]"#),
                ("[1]", "[1]"),
                ("[]", "[]"),
            ][..],
            &[r#"["a\nb"]"#, r#"["a"#, "x", r#" [a]"#][..],
        ),
        ("INTEGER[]", &[("[1,2]", "[1, 2]"), ("[1, NULL]", "[1, NULL]")], &["[1.5]", r#"["1"]"#]),
        ("FLOAT[2]", &[("[1,2]", "[1.0, 2.0]"), ("[1.0, 2.5]", "[1.0, 2.5]")], &["[1]"]),
        ("DATE[]", &[(r#"["2024-01-31"]"#, "[2024-01-31]")], &[r#"["20240131"]"#]),
        (
            "STRUCT(a INTEGER, b FLOAT[1])",
            &[
                (r#"{"a":1,"b":[2]}"#, "{'a': 1, 'b': [2.0]}"),
                ("{'a': 1, 'b': NULL}", "{'a': 1, 'b': NULL}"),
            ],
            &[r#"{"b":[2],"a":1}"#],
        ),
        ("MAP(VARCHAR, DOUBLE)", &[(r#"{"a":1}"#, "{a=1.0}"), ("{a=1.5}", "{a=1.5}")], &["{a=1}"]),
    ];
    for strategy in ["duckdb/arrow", "duckdb/prepared"] {
        let db = format!("{}.duckdb", &strategy[7..]);
        for (n, (ty, good, bad)) in cases.iter().enumerate() {
            let table = format!("t{n}");
            sql(&fixture, &db, &format!("CREATE TABLE {table} (v {ty})"));
            let texts = good.iter().map(|(text, _)| text).chain(*bad);
            let texts: Vec<String> =
                texts.map(|text| format!("\"{}\"\n", text.replace('"', "\"\""))).collect();
            fixture.write("t.csv", format!("v\n{}", texts.concat()));
            let load = ["t.csv", &db, "--table", &table, "--strategy", strategy];
            let rest = ["--delimiter", ";", "--max-rejects", "90%", "--verify", "checksum"];
            fixture.load(&[&load[..], &rest].concat()).exits(3);
            let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
            assert_eq!(notes.len(), bad.len(), "{ty}: {notes:?}");
            let wanted: Vec<&str> = good.iter().map(|(_, shown)| *shown).collect();
            let stored = lines(&fixture, &db, &format!("SELECT CAST(v AS VARCHAR) FROM {table}"));
            assert_eq!(stored, wanted, "{ty}");
            for rejects in ["t.rejects.csv", "t.rejects.csv.jsonl"] {
                let _ = std::fs::remove_file(fixture.path(rejects));
            }
        }
    }
}

/// What `COPY ... TO` writes for them comes back as text; what a column that is said to be of days takes is another matter.
#[test]
fn days_that_only_the_engine_writes_go_into_its_columns() {
    let Some(fixture) = fixture() else { return };
    let made = "d DATE, t TIMESTAMP, s TIMESTAMP_S, n TIMESTAMP_NS, z TIMESTAMPTZ";
    let text = "d,t,s,n,z\n\
                infinity,infinity,infinity,infinity,infinity\n\
                -infinity,-infinity,-infinity,-infinity,-infinity\n\
                0044-03-15 (BC),0044-03-15 (BC) 12:00:00.5,0044-03-15 (BC),1700-01-01,0044-03-15 (BC) 12:00:00+00\n\
                10000-01-01,10000-01-01 01:02:03,290000-12-31 00:00:00,2024-01-01,10000-01-01 01:02:03+02\n";
    fixture.write("in.csv", text);
    for strategy in STRATEGIES {
        sql(
            &fixture,
            &format!("{}.duckdb", &strategy[7..]),
            &format!("CREATE TABLE \"in\" ({made})"),
        );
    }
    each(&fixture, &[], |db, strategy| {
        let shown = "SELECT d, t, s, n, epoch_ms(z) FROM \"in\" WHERE isfinite(d)";
        let wanted = [
            "0044-03-15 (BC)|0044-03-15 (BC) 12:00:00.5|0044-03-15 (BC) 00:00:00|1700-01-01 00:00:00|-63517780800000",
            "10000-01-01|10000-01-01 01:02:03|290000-12-31 00:00:00|2024-01-01 00:00:00|253402297323000",
        ];
        assert_eq!(lines(&fixture, db, shown), wanted, "{strategy}");
        let ends = "SELECT count(*) FROM \"in\" WHERE NOT (isfinite(d) OR isfinite(t) OR isfinite(s) OR isfinite(n) OR isfinite(z))";
        assert_eq!(lines(&fixture, db, ends), ["2"], "{strategy}");
    });
    let said = ["in.csv", "new.duckdb", "--type", "d=date", "--columns", "d"];
    fixture.refuses(&said).says(&["line 2, column d", "--null d=infinity"]);
}

#[test]
fn duckdb_reads_parquet_by_itself_where_nothing_is_lost() {
    let Some(fixture) = fixture() else { return };
    let path = fixture.path("in.parquet").display().to_string();
    sql(
        &fixture,
        "source.duckdb",
        &format!(
            "COPY (SELECT range AS id, CAST(range AS INTEGER) AS small, range / 8 AS size, 'n' || range AS name, \
             TIMESTAMP '2020-01-01' + INTERVAL (range) SECOND AS t FROM range(10000)) TO '{path}' (FORMAT parquet)"
        ),
    );
    let by_itself = ["--strategy", "duckdb/read-file"];
    let report = fixture.report(&[&["in.parquet", "a.duckdb"], &by_itself[..]].concat());
    assert_eq!(report["plan"]["strategy"], "duckdb/read-file");
    assert_eq!(report["rows_loaded"], 10_000);
    let report = fixture.report(&["in.parquet", "b.duckdb"]);
    assert_eq!(report["plan"]["strategy"], "duckdb/arrow");
    let all = "FROM \"in\" ORDER BY id";
    assert_eq!(rows(&fixture, "a.duckdb", all), rows(&fixture, "b.duckdb", all));
    // Where a column may not keep all values, or a key is repeated, inrush reads the file.
    sql(
        &fixture,
        "c.duckdb",
        "CREATE TABLE \"in\" (id SMALLINT, name VARCHAR, t TIMESTAMP_S, small INTEGER, size DOUBLE)",
    );
    let report = fixture.report(&["in.parquet", "c.duckdb"]);
    assert_eq!(report["plan"]["strategy"], "duckdb/arrow");
    assert_eq!(lines(&fixture, "c.duckdb", "SELECT count(*) FROM \"in\""), ["10000"]);
    sql(
        &fixture,
        "d.duckdb",
        "CREATE TABLE \"in\" (id BIGINT PRIMARY KEY, small INTEGER, size DOUBLE, name VARCHAR, t TIMESTAMP); INSERT INTO \"in\" VALUES (77, 0, 0, '', NULL)",
    );
    let load = ["in.parquet", "d.duckdb", "--if-exists", "append"];
    fixture.refuses(&load).says(&["row 78", "'77': duplicate key"]);
    // It would read all files as the first one says.
    for (name, value) in [("f1", "0.5::DOUBLE"), ("f2", "9007199254740993")] {
        let path = fixture.path(&format!("{name}.parquet")).display().to_string();
        let copy = format!("COPY (SELECT {value} AS x) TO '{path}' (FORMAT parquet)");
        sql(&fixture, "source.duckdb", &copy);
    }
    let load = ["f1.parquet", "f2.parquet", "e.duckdb", "--table", "t"];
    fixture.misused(&[&["load"], &load[..], &by_itself[..]].concat()).says(&["duckdb/read-file"]);
    fixture.refuses(&load).says(&["f2.parquet: row 1", "'9007199254740993'"]);
}

/// Bare integers of which only Arrow's schema says what they count, and timestamps of which no type says how fine they are.
#[test]
fn what_duckdb_would_read_otherwise_is_not_left_to_it() {
    let Some(fixture) = fixture() else { return };
    let durations = column(DurationMillisecondArray::from(vec![90_000]));
    parquet(&fixture, "spans.parquet", &batch(vec![("d", durations)]), 1);
    int96(&fixture, "fine.parquet", &[&[(19_723, 123_456_789)]]);
    sql(&fixture, "a.duckdb", "CREATE TABLE spans (d BIGINT); CREATE TABLE fine (t TIMESTAMP)");
    let by_itself = ["--strategy", "duckdb/read-file"];
    for (file, why) in [
        ("spans.parquet", "sees bare numbers instead of time in column d"),
        ("fine.parquet", "leaves nothing open (INT96 does"),
    ] {
        let load = [&["load", file, "a.duckdb"], &by_itself[..]].concat();
        fixture.misused(&load).says(&["duckdb/read-file", why]);
    }
    fixture.refuses(&["spans.parquet", "a.duckdb"]).says(&["'PT90S' is not an integer"]);
    // What only DuckDB says of its columns it says when it reads.
    let smaller = "CREATE TABLE t (d TINYINT)";
    sql(&fixture, "b.duckdb", smaller);
    let numbers = column(Int64Array::from(vec![1]));
    parquet(&fixture, "t.parquet", &batch(vec![("d", numbers)]), 1);
    fixture
        .load(&[&["t.parquet", "b.duckdb"], &by_itself[..]].concat())
        .exits(1)
        .says(&["might not keep every value", "leave --strategy out"]);
    // Nor does it tell which row repeats a key, wherever in the load it sees that.
    let twice = column(Int64Array::from(vec![1, 1]));
    parquet(&fixture, "twice.parquet", &batch(vec![("d", twice)]), 1);
    sql(&fixture, "c.duckdb", "CREATE TABLE there (d BIGINT UNIQUE)");
    for table in [&["there"][..], &["new", "--primary-key", "d"]] {
        let load = [&["twice.parquet", "c.duckdb", "--table"], table, &by_itself[..]].concat();
        fixture.refuses(&load).says(&["duplicate key", "leave --strategy out"]);
    }
}

/// DuckDB sees whole numbers.
#[test]
fn bytes_that_are_truth_values_are_left_to_inrush() {
    let Some(fixture) = fixture() else { return };
    parquet(&fixture, "t.parquet", &truths(), 2);
    let load = ["t.parquet", "x.duckdb", "--table", "t"];
    let by_itself = [&["load"], &load[..], &["--strategy", "duckdb/read-file"]].concat();
    fixture.misused(&by_itself).says(&["duckdb/read-file", "bytes that are truth values"]);
    fixture.load(&load).exits(0);
    assert_eq!(lines(&fixture, "x.duckdb", "SELECT ok, n FROM t WHERE n = -3"), ["true|-3"]);
}

#[test]
fn what_is_advised_for_infinity_loads_it() {
    let Some(fixture) = fixture() else { return };
    let write = |name: &str, query: &str| {
        let path = fixture.path(&format!("{name}.parquet")).display().to_string();
        let copy = format!("COPY ({query}) TO '{path}' (FORMAT parquet)");
        sql(&fixture, "source.duckdb", &copy);
    };
    write("float", "SELECT '-inf'::DOUBLE AS x");
    sql(&fixture, "a.duckdb", "CREATE TABLE whole (x BIGINT); CREATE TABLE part (x DECIMAL(5,2))");
    for table in ["whole", "part"] {
        let load = ["float.parquet", "a.duckdb", "--table", table];
        fixture.refuses(&load).says(&["--null x=-Infinity loads NULL", "column x takes no such"]);
        fixture.load(&[&load[..], &["--null", "x=-Infinity"]].concat()).exits(0);
        assert_eq!(lines(&fixture, "a.duckdb", &format!("FROM {table}")), ["~"]);
    }
    // As text it would be a year that is none.
    sql(&fixture, "a.duckdb", "CREATE TABLE moments (x TIMESTAMP); CREATE TABLE days (x DATE)");
    let advised = "CASE WHEN isfinite(\"x\") THEN \"x\" END";
    for (table, ty) in [("moments", "TIMESTAMP"), ("days", "DATE"), ("new", "DATE")] {
        let endless = format!("SELECT 'infinity'::{ty} AS x");
        write("endless", &endless);
        let load = ["endless.parquet", "a.duckdb", "--table", table];
        let run = fixture.refuses(&[&load[..], &["--strategy", "duckdb/arrow"]].concat());
        assert!(!run.stderr.contains("--type"), "{}", run.stderr);
        run.says(&[&format!("write NULL for it: {advised} in DuckDB")]);
        write("endless", &format!("SELECT {advised} AS x FROM ({endless})"));
        fixture.load(&load).exits(0);
        assert_eq!(lines(&fixture, "a.duckdb", &format!("FROM {table}")), ["~"]);
    }
}

/// A load that starts again has looked at values of which the first one knew only the type.
#[test]
fn moments_at_the_ends_of_nanoseconds_are_bad_rows_however_often_the_load_starts() {
    let Some(fixture) = fixture() else { return };
    let moments = || column(TimestampNanosecondArray::from(vec![-1, i64::MAX]));
    let clocks = column(Time64NanosecondArray::from(vec![1, 1]));
    parquet(&fixture, "alone.parquet", &batch(vec![("t", moments())]), 2);
    let both = batch(vec![("t", moments()), ("clock", clocks)]);
    parquet(&fixture, "both.parquet", &both, 2);
    for source in ["alone.parquet", "both.parquet"] {
        let load = [source, "t.duckdb", "--table", "t", "--if-exists", "replace"];
        let run = fixture.load(&[&load[..], &["--max-rejects", "1"]].concat()).exits(3);
        run.prints(&["1 row"]);
        let found = lines(&fixture, "t.duckdb", "SELECT typeof(t), t FROM t");
        assert_eq!(found, ["TIMESTAMP_NS|1969-12-31 23:59:59.999999999"], "{source}");
    }
}

/// To the engine a folder `id=7` is a column, and `x[1].parquet` a pattern.
#[test]
fn what_files_are_called_is_no_part_of_their_rows() {
    let Some(fixture) = fixture() else { return };
    std::fs::create_dir(fixture.path("id=7")).unwrap();
    for (name, id) in [("id=7/h.parquet", 1), ("x[1].parquet", 2), ("x1.parquet", 3)] {
        let path = fixture.path(name).display().to_string();
        let copy = format!("COPY (SELECT {id} AS id, 'x' AS name) TO '{path}' (FORMAT parquet)");
        sql(&fixture, "source.duckdb", &copy);
    }
    let load = |file: &'static str, db: &'static str| [file, db, "--table", "t"];
    let by_itself = ["--strategy", "duckdb/read-file"];
    fixture.load(&[&load("id=7/h.parquet", "a.duckdb")[..], &by_itself].concat()).exits(0);
    assert_eq!(lines(&fixture, "a.duckdb", "FROM t"), ["1|x"]);
    let load = load("x[1].parquet", "b.duckdb");
    fixture
        .misused(&[&["load"], &load[..], &by_itself].concat())
        .says(&["duckdb/read-file", "in a path for a pattern"]);
    fixture.load(&load).exits(0);
    assert_eq!(lines(&fixture, "b.duckdb", "FROM t"), ["2|x"]);
}

/// However small the chunks are, and in the file's order.
#[test]
fn rows_of_a_file_are_whole_row_groups() {
    let Some(fixture) = fixture() else { return };
    let text: String = (0..300_000).map(|row| format!("{row},name {row}\n")).collect();
    fixture.write("in.csv", format!("id,name\n{text}"));
    fixture.report(&["in.csv", "a.duckdb", "--table", "t", "--chunk-size", "100k"]);
    let groups = "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('t')";
    assert_eq!(lines(&fixture, "a.duckdb", groups), ["3"]);
    let moved = "SELECT count(*) FROM t WHERE rowid <> id OR name <> 'name ' || id";
    assert_eq!(lines(&fixture, "a.duckdb", moved), ["0"]);
}

#[test]
fn null_goes_into_a_union() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.jsonl", "{\"id\":1,\"u\":null}\n{\"id\":2,\"u\":\"a\"}\n{\"id\":3}\n");
    sql(&fixture, "u.duckdb", "CREATE TABLE t (id INT, u UNION(i INT, s VARCHAR))");
    fixture.load(&["in.jsonl", "u.duckdb", "--table", "t", "--if-exists", "append"]).exits(0);
    let nulls = "SELECT count(*) FROM t WHERE u IS NULL";
    assert_eq!(lines(&fixture, "u.duckdb", nulls), ["2"]);
}

#[test]
fn the_ends_of_days_and_moments_are_no_values() {
    let Some(fixture) = fixture() else { return };
    let file = fixture.path("in.parquet").display().to_string();
    let columns = [
        ("DATE", "5881580-07-10", "5877642-06-25 (BC)"),
        ("TIMESTAMP", "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00"),
        ("TIMESTAMP_NS", "2262-04-11 23:47:16.854775806", "1677-09-22 00:00:00.000000001"),
        ("TIMESTAMPTZ", "294246-01-10 04:00:54+00", "290308-12-22 (BC) 00:00:00+00"),
    ];
    for (ty, last, first) in columns {
        let values: String = [last, first, "infinity", "-infinity"]
            .iter()
            .enumerate()
            .map(|(id, value)| format!(" UNION ALL SELECT {id}, '{value}'::{ty}"))
            .collect();
        sql(
            &fixture,
            "made.duckdb",
            &format!(
                "COPY (SELECT -1 AS id, NULL::{ty} AS v{values}) TO '{file}' (FORMAT parquet)"
            ),
        );
        for strategy in some_strategies() {
            let db = format!("{}.duckdb", &strategy[7..]);
            sql(&fixture, &db, &format!("CREATE OR REPLACE TABLE t (id INTEGER, v {ty})"));
            let load = ["in.parquet", &db, "--table", "t", "--max-rejects", "2"];
            fixture.load(&[&load[..], &["--strategy", strategy]].concat()).exits(3);
            let found = lines(&fixture, &db, "SELECT id, isfinite(v) FROM t ORDER BY id");
            assert_eq!(found, ["-1|~", "0|true", "1|true"], "{ty} {strategy}");
        }
    }
}

/// DuckDB counts seconds and milliseconds in microseconds when it writes or converts them, and a day's midnight has to be a moment, too.
#[test]
fn moments_that_the_engine_could_not_read_again_are_bad_rows() {
    let Some(fixture) = fixture() else { return };
    let first = ("290309-12-22 (BC) 00:00:00", "290309-12-21 (BC) 23:59:59");
    let columns = [
        ("TIMESTAMP_S", first, ("294247-01-10 04:00:54", "294247-01-10 04:00:55")),
        ("TIMESTAMP_MS", first, ("294247-01-10 04:00:54.775", "294247-01-10 04:00:54.776")),
        ("TIMESTAMP", first, ("294247-01-10 04:00:54.775806", "294247-01-10 04:00:54.775807")),
        (
            "TIMESTAMP_NS",
            ("1677-09-22 00:00:00", "1677-09-21 23:59:59.999999999"),
            ("2262-04-11 23:47:16.854775806", "2262-04-11 23:47:16.854775807"),
        ),
    ];
    let written = "SELECT CAST(v AS VARCHAR) FROM t ORDER BY v";
    for (ty, (first, before), (last, beyond)) in columns {
        fixture.write("in.csv", format!("v\n{before}\n{first}\n{last}\n{beyond}\n"));
        for strategy in STRATEGIES {
            let db = format!("{}.duckdb", &strategy[7..]);
            sql(&fixture, &db, &format!("CREATE OR REPLACE TABLE t (v {ty})"));
            let load = ["in.csv", &db, "--table", "t", "--strategy", strategy];
            let run = fixture.load(&[&load[..], &["--max-rejects", "2"]].concat()).exits(3);
            run.prints(&["2 rows loaded"]);
            assert_eq!(lines(&fixture, &db, written), [first, last], "{ty} {strategy}");
            for rejects in ["in.rejects.csv", "in.rejects.csv.jsonl"] {
                std::fs::remove_file(fixture.path(rejects)).unwrap();
            }
        }
    }
    let ends = [9_223_372_036_854_775, -9_223_372_022_400_000];
    let moments = vec![ends[0], ends[0] + 1, ends[1], ends[1] - 1, i64::MAX, i64::MIN];
    let moments = batch(vec![("v", column(TimestampMillisecondArray::from(moments)))]);
    parquet(&fixture, "in.parquet", &moments, 6);
    sql(&fixture, "m.duckdb", "CREATE TABLE t (v TIMESTAMP_MS)");
    fixture.load(&["in.parquet", "m.duckdb", "--table", "t", "--max-rejects", "4"]).exits(3);
    assert_eq!(lines(&fixture, "m.duckdb", written), [columns[1].1.0, columns[1].2.0]);
    // In a list it rounds what has more digits, beyond the last one, too.
    let rounded = "294247-01-10 04:00:54.775806";
    fixture.write("in.csv", format!("v\n['{rounded}']\n['2024-01-31 00:00:00']\n"));
    sql(&fixture, "l.duckdb", "CREATE TABLE t (v TIMESTAMP_S[])");
    let run = fixture.load(&["in.csv", "l.duckdb", "--table", "t", "--max-rejects", "1"]).exits(3);
    run.prints(&["1 row loaded"]);
    assert_eq!(lines(&fixture, "l.duckdb", written), ["['2024-01-31 00:00:00']"]);
}

/// The engine has no CASE of arrays, by which text and NULL might be told apart.
#[test]
fn an_array_may_be_null_beside_one_in_the_words_of_the_engine() {
    let Some(fixture) = fixture() else { return };
    for (ty, text) in [
        ("VARCHAR[2]", "[a, b]"),
        ("INTEGER[2]", "[NULL, 2]"),
        ("BLOB[2]", "[a, b]"),
        ("STRUCT(a INTEGER[2])", "{'a': [1, 2]}"),
        ("UNION(a INTEGER[2], s VARCHAR)", "x"),
    ] {
        fixture.write("in.csv", format!("id;n\n1;{text}\n2;\n"));
        for strategy in ["duckdb/arrow", "duckdb/prepared"] {
            let db = format!("{}.duckdb", &strategy[7..]);
            sql(&fixture, &db, &format!("CREATE OR REPLACE TABLE t (id INTEGER, n {ty})"));
            let load = ["in.csv", &db, "--table", "t", "--delimiter", ";"];
            let rest = ["--strategy", strategy, "--verify", "checksum"];
            fixture.load(&[&load[..], &rest].concat()).exits(0);
            let all = "SELECT CAST(n AS VARCHAR) FROM t ORDER BY id";
            assert_eq!(lines(&fixture, &db, all), [text, "~"], "{ty} {strategy}");
        }
    }
}

#[test]
fn a_day_in_a_column_of_timestamps_is_its_midnight() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "a,b,c\n2024-02-29,2024-02-29,2024-02-29\n0001-01-01,,\n");
    let file = fixture.path("in.parquet").display().to_string();
    let copy = "COPY (SELECT * FROM (VALUES (DATE '2024-02-29', DATE '2024-02-29', DATE '2024-02-29'), \
                (DATE '0001-01-01', NULL, NULL)) AS t(a, b, c))";
    sql(&fixture, "made.duckdb", &format!("{copy} TO '{file}' (FORMAT parquet)"));
    for (source, strategy) in ["in.csv", "in.parquet"]
        .into_iter()
        .flat_map(|source| STRATEGIES.map(|strategy| (source, strategy)))
    {
        let db = format!("{}.duckdb", &strategy[7..]);
        let made = "CREATE OR REPLACE TABLE t (a TIMESTAMP, b TIMESTAMP_S, c TIMESTAMP_NS)";
        sql(&fixture, &db, made);
        let load = [source, &db, "--table", "t", "--strategy", strategy];
        fixture.load(&load).exits(0);
        let midnight = "2024-02-29 00:00:00";
        assert_eq!(
            lines(&fixture, &db, "SELECT a, b, c FROM t ORDER BY a DESC"),
            [&format!("{midnight}|{midnight}|{midnight}"), "0001-01-01 00:00:00|~|~"],
            "{source} {strategy}"
        );
    }
    // Where there is a zone, a day has no midnight of its own.
    sql(&fixture, "zoned.duckdb", "CREATE TABLE t (a TIMESTAMPTZ, b TIMESTAMP, c TIMESTAMP)");
    fixture.refuses(&["in.csv", "zoned.duckdb", "--table", "t"]).says(&["line 2, column a"]);
}

/// The end of the day is a time of DuckDB's, in lists too.
#[test]
fn a_time_of_day_goes_as_far_as_the_day() {
    let Some(fixture) = fixture() else { return };
    fixture.write(
        "t.csv",
        "a,l\n24:00:00,\"[\"\"24:00\"\"]\"\n24:00,[]\n24:00:00.000001,[]\n24:01,[]\n25:00,[]\n",
    );
    let all = "SELECT CAST(a AS VARCHAR), CAST(l AS VARCHAR) FROM t ORDER BY rowid";
    for (number, strategy) in STRATEGIES.into_iter().enumerate() {
        let db = format!("{number}.duckdb");
        // The appender takes no lists.
        let (list, shown) = match strategy {
            "duckdb/appender" => ("VARCHAR", "[\"24:00\"]"),
            _ => ("TIME[]", "['24:00:00']"),
        };
        sql(&fixture, &db, &format!("CREATE TABLE t (a TIME, l {list})"));
        let load = ["t.csv", &db, "--strategy", strategy, "--max-rejects", "3"];
        fixture.load(&[&load[..], &["--verify", "checksum"]].concat()).exits(3);
        let wanted = [format!("24:00:00|{shown}"), "24:00:00|[]".to_owned()];
        assert_eq!(lines(&fixture, &db, all), wanted, "{strategy}");
    }
}
