use super::{STRATEGIES, fixture, lines, some_strategies, sql};
use crate::fixture::size;

#[test]
fn rows_go_to_the_columns_of_their_names_and_defaults_to_the_others() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "SIZE,id\n1.5,1\n,2\n");
    for strategy in STRATEGIES {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE TABLE t (id INTEGER, name VARCHAR DEFAULT 'x', size DOUBLE, twice INTEGER GENERATED ALWAYS AS (2 * id))",
        );
        fixture
            .load(&["in.csv", &db, "--table", "t", "--strategy", strategy, "--verify", "checksum"])
            .exits(0);
        assert_eq!(lines(&fixture, &db, "FROM t ORDER BY id"), ["1|x|1.5|2", "2|x|~|4"]);
    }
}

#[test]
fn what_to_do_with_a_table_that_is_there() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n1,new\n2,new\n");
    for strategy in some_strategies() {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR); CREATE UNIQUE INDEX u ON t (id); \
             INSERT INTO t VALUES (7, 'old'), (2, 'old')",
        );
        let load = |how| ["t.csv", db.as_str(), "--strategy", strategy, "--if-exists", how];
        fixture.refuses(&load("empty")).says(&["holds rows already"]);
        // The same keys as rows that are deleted in the same transaction, also of an index that CREATE INDEX has made.
        fixture.load(&load("truncate")).exits(0);
        assert_eq!(lines(&fixture, &db, "FROM t ORDER BY id"), ["1|new", "2|new"], "{strategy}");
        fixture.load(&load("replace")).exits(0);
        assert_eq!(super::columns(&fixture, &db, "t"), "id BIGINT, name VARCHAR");
        fixture.load(&load("append")).exits(0);
        assert_eq!(lines(&fixture, &db, "SELECT count(*) FROM t"), ["4"]);
        fixture.refuses(&load("fail")).says(&["has a table t already"]);
    }
}

#[test]
fn types_that_only_the_engine_knows() {
    let Some(fixture) = fixture() else { return };
    fixture.write(
        "t.csv",
        "id,m,l,s\n1,happy,\"[1, 2]\",\"{'x': 1}\"\n2,angry,[],\n3,happy,[1.5],\n4,happy,x,\n5,,,\"{'x': NULL}\"\n",
    );
    for strategy in ["duckdb/arrow", "duckdb/prepared"] {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE TABLE t (id INTEGER, m mood, l INTEGER[], s STRUCT(x INTEGER))",
        );
        let load =
            ["t.csv", &db, "--strategy", strategy, "--max-rejects", "3", "--verify", "checksum"];
        fixture.load(&load).exits(3);
        assert_eq!(
            lines(&fixture, &db, "FROM t ORDER BY id"),
            ["1|happy|[1, 2]|{'x': 1}", "5|~|~|{'x': NULL}"]
        );
        let notes = String::from_utf8(fixture.read("t.rejects.csv.jsonl")).unwrap();
        assert!(notes.contains("'angry': is not written as DuckDB writes ENUM"), "{notes}");
        assert!(notes.contains("'[1.5]': is not written as DuckDB writes INTEGER[]"), "{notes}");
        let _ = std::fs::remove_file(fixture.path("t.rejects.csv"));
        let _ = std::fs::remove_file(fixture.path("t.rejects.csv.jsonl"));
    }
    let load = ["load", "t.csv", "arrow.duckdb", "--strategy", "appender", "--if-exists", "append"];
    fixture.misused(&load).says(&["column m is of type ENUM"]);
}

/// Of some texts the engine's TRY_CAST throws.
#[test]
fn a_value_that_its_type_throws_at_is_a_bad_row() {
    let Some(fixture) = fixture() else { return };
    fixture.write("m.csv", "id|v\n1|{a=1}\n2|\"{a=1, a=2}\"\n3|x\n4|\n");
    fixture.write("g.csv", "id|v\n1|POINT (1 2)\n2|PONT (1 2)\n3|x\n4|\n");
    for (source, ty) in [("m.csv", "MAP(VARCHAR, INTEGER)"), ("g.csv", "GEOMETRY")] {
        for strategy in ["duckdb/arrow", "duckdb/prepared"] {
            let db = format!("{}-{}.duckdb", &strategy[7..], &source[..1]);
            sql(&fixture, &db, &format!("CREATE TABLE t (id INTEGER, v {ty})"));
            let load = [source, &db, "--table", "t", "--strategy", strategy, "--max-rejects", "2"];
            fixture.load(&load).exits(3).prints(&["2 bad rows"]);
            assert_eq!(lines(&fixture, &db, "SELECT id FROM t ORDER BY id"), ["1", "4"], "{ty}");
        }
    }
}

#[test]
fn a_new_file_is_one_that_old_versions_open() {
    let Some(fixture) = fixture() else { return };
    fixture.write("in.csv", "id\n1\n");
    let version = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()";
    let report = fixture.report(&["in.csv", "a.duckdb"]);
    assert_eq!(report["durability_read_back"]["storage_version"], "v1.0.0+");
    assert_eq!(lines(&fixture, "a.duckdb", version), ["v1.0.0+"]);
    fixture.load(&["in.csv", "b.duckdb", "--set", "storage_version=v1.4.0"]).exits(0);
    assert_eq!(lines(&fixture, "b.duckdb", version), ["v1.4.0+"]);
    // An existing file keeps its own.
    fixture.load(&["in.csv", "b.duckdb", "--if-exists", "append"]).exits(0);
    assert_eq!(lines(&fixture, "b.duckdb", version), ["v1.4.0+"]);
    assert_eq!(fixture.names(), ["a.duckdb", "b.duckdb", "in.csv"]);
}

/// A schema is named as in SQL, and so is a table with a dot in its name.
#[test]
fn a_table_may_be_in_another_schema() {
    let Some(fixture) = fixture() else { return };
    fixture.write("a.csv", "id,word\n1,one\n2,two\n");
    fixture.write("b.csv", "id,word\n2,zwei\n3,drei\n");
    fixture.write("c.d.csv", "id\n7\n");
    let load = |file: &str, table: &str, more: &[&str]| {
        let given = [file, "x.duckdb", "--table", table];
        fixture.load(&[&given[..], more].concat())
    };
    let said = ["no schema shop", "CREATE SCHEMA", "'\"shop.t\"'"];
    load("a.csv", "shop.t", &[]).exits(1).says(&said);
    assert!(!fixture.path("x.duckdb").exists());
    let made = "CREATE SCHEMA \"Shop\"; CREATE TABLE t (id INTEGER, word VARCHAR)";
    sql(&fixture, "x.duckdb", made);
    for strategy in some_strategies() {
        let with = |file: &str, more: &[&str]| {
            load(file, "shop.t", &[&["--strategy", strategy], more].concat()).exits(0);
        };
        with("a.csv", &["--primary-key", "id", "--index", "word", "--verify", "checksum"]);
        let update = ["--if-exists", "append", "--on-conflict", "update"];
        load("b.csv", "shop.t", &update).exits(0);
        let kept = lines(&fixture, "x.duckdb", "FROM \"Shop\".t ORDER BY id");
        assert_eq!(kept, ["1|one", "2|zwei", "3|drei"], "{strategy}");
        with("a.csv", &["--if-exists", "replace"]);
        with("b.csv", &["--if-exists", "append", "--guarantee", "chunks"]);
        let kept = lines(&fixture, "x.duckdb", "SELECT count(*) FROM \"Shop\".t");
        assert_eq!(kept, ["4"], "{strategy}");
        sql(&fixture, "x.duckdb", "DROP TABLE \"Shop\".t");
    }
    load("a.csv", "\"shop.t\"", &[]).exits(0);
    fixture.load(&["c.d.csv", "x.duckdb"]).exits(0);
    let tables = "SELECT schema_name || '/' || table_name FROM duckdb_tables() ORDER BY 1";
    let all = ["Shop/inrush_steps", "main/c.d", "main/shop.t", "main/t"];
    assert_eq!(lines(&fixture, "x.duckdb", tables), all);
    assert_eq!(lines(&fixture, "x.duckdb", "SELECT count(*) FROM t"), ["0"]);
}

/// The engine folds letters of ASCII alone.
#[test]
fn names_that_differ_in_the_case_of_other_letters_are_two() {
    let Some(fixture) = fixture() else { return };
    fixture.write("a.csv", "a\n1\n");
    sql(
        &fixture,
        "u.duckdb",
        "CREATE TABLE \"\u{c9}t\" (a INTEGER); INSERT INTO \"\u{c9}t\" VALUES (42); CREATE SCHEMA \"\u{c9}\"",
    );
    let load = |table: &str, more: &[&str]| {
        fixture.load(&[&["a.csv", "u.duckdb", "--table", table], more].concat())
    };
    for how in ["fail", "replace"] {
        load("\u{e9}t", &["--if-exists", how]).exits(0);
        sql(&fixture, "u.duckdb", "DROP TABLE \"\u{e9}t\"");
    }
    load("\u{e9}t", &["--guarantee", "chunks", "--index", "a"]).exits(0);
    load("\u{c9}T", &["--guarantee", "chunks", "--if-exists", "append"]).exits(0);
    assert_eq!(lines(&fixture, "u.duckdb", "FROM \"\u{c9}t\" ORDER BY a"), ["1", "42"]);
    assert_eq!(lines(&fixture, "u.duckdb", "FROM \"\u{e9}t\""), ["1"]);
    load("\u{e9}.t", &[]).exits(1).says(&["there is no schema \u{e9}"]);
}

/// What the engine shows its statements is under no name of the user's, and gone before it is committed.
#[test]
fn tables_and_views_of_any_name_stay() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id\n1\n2\n");
    for (at, strategy) in STRATEGIES.into_iter().enumerate() {
        for sift in size(&["on", "off", "on"][at..=at], &["off", "on"]) {
            let db = format!("{}-{sift}.duckdb", &strategy[7..]);
            sql(
                &fixture,
                &db,
                "CREATE VIEW inrush_rows AS SELECT 1 AS id; CREATE VIEW \"inrush rows 1\" AS SELECT 2 AS id; \
                 CREATE TABLE \"Inrush Rows 2\" (id INTEGER)",
            );
            for table in ["inrush rows 2", "inrush rows 3", "t"] {
                let knob = format!("sift={sift}");
                let load = ["t.csv", &db, "--table", table, "--strategy", strategy, "--set", &knob];
                fixture.load(&load).exits(0);
            }
            let count = |table| format!("(SELECT count(*) FROM \"{table}\")");
            let counts = ["inrush rows 2", "inrush rows 3", "t"].map(count).join(", ");
            let found = lines(&fixture, &db, &format!("SELECT {counts}, id FROM inrush_rows"));
            assert_eq!(found, ["2|2|2|1"], "{strategy} {sift}");
            let views = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1";
            assert_eq!(lines(&fixture, &db, views), ["inrush rows 1", "inrush_rows"]);
        }
    }
}

#[test]
fn a_schema_may_be_called_like_the_database_and_none_like_the_engine_s() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id\n1\n");
    sql(&fixture, "x.duckdb", "CREATE SCHEMA x; CREATE SCHEMA main2");
    for strategy in some_strategies() {
        for table in ["x.t", "t", "main2.t"] {
            let load = ["t.csv", "x.duckdb", "--table", table, "--strategy", strategy];
            fixture.load(&[&load[..], &["--if-exists", "replace"]].concat()).exits(0);
        }
    }
    for own in ["information_schema.t", "PG_CATALOG.t"] {
        let run = fixture.load(&["t.csv", "x.duckdb", "--table", own]).exits(2);
        assert!(!run.stderr.contains("CREATE SCHEMA"), "{}", run.stderr);
        run.says(&["is DuckDB's own"]);
    }
}

#[test]
fn bad_rows_go_back_to_the_schema_of_their_table() {
    let Some(fixture) = fixture() else { return };
    sql(&fixture, "x.duckdb", "CREATE SCHEMA shop");
    fixture.write("a.b.csv", "id\n1\nx\n");
    for (said, home) in [("shop.t", "shop.t"), ("\"shop.t\"", "\"shop.t\""), ("", "\"a.b\"")] {
        let named = if said.is_empty() { &[][..] } else { &["--table", said] };
        let load = ["a.b.csv", "x.duckdb", "--type", "id=integer", "--max-rejects", "all"];
        fixture.load(&[&load[..], named].concat()).exits(3);
        fixture.write("a.b.rejects.csv", "id\n2\n");
        fixture.load(&["a.b.rejects.csv", "x.duckdb", "--if-exists", "append"]).exits(0);
        let rows = lines(&fixture, "x.duckdb", &format!("FROM {home} ORDER BY id"));
        assert_eq!(rows, ["1", "2"], "{home}");
    }
}

#[test]
fn what_is_lost_is_said_in_the_words_of_its_definition() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id\n1\n");
    sql(
        &fixture,
        "x.duckdb",
        "CREATE TABLE t (id INTEGER DEFAULT 7, name VARCHAR COLLATE NOCASE, \"a b\" VARCHAR COLLATE NFC.NOCASE, up VARCHAR GENERATED ALWAYS AS (upper(name) || ', x')); \
         CREATE UNIQUE INDEX u ON t (coalesce(name, ', '''), \"id\"); COMMENT ON COLUMN t.name IS 'of a person'",
    );
    let run = fixture.inrush(&["plan", "t.csv", "x.duckdb", "--if-exists", "replace"]).exits(0);
    run.prints(&[
        "DEFAULT 7 of id",
        "GENERATED ALWAYS AS ((upper(\"name\") || ', x')) of up",
        "COLLATE NOCASE of name, COLLATE NFC.NOCASE of a b",
        "UNIQUE INDEX u ((COALESCE(\"name\", ', ''')), id), comments",
    ]);
}

#[test]
fn views_and_macros_that_a_replaced_table_breaks_are_named() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n1,a\n").write("all.csv", "NAME,id,note\na,1,b\n");
    sql(
        &fixture,
        "x.duckdb",
        "CREATE TABLE t (id VARCHAR, name VARCHAR, note VARCHAR); CREATE TABLE other (note VARCHAR); \
         CREATE VIEW notes AS SELECT note AS n FROM t; CREATE VIEW longest AS SELECT max(n) AS n FROM notes; \
         CREATE VIEW names AS SELECT id, name FROM t; CREATE VIEW others AS SELECT note FROM other; \
         CREATE MACRO noted(i) AS (SELECT note FROM t WHERE id = i); \
         CREATE VIEW texts AS SELECT 'it''s t' AS a, $$ t 't $$ AS b, note FROM other; \
         CREATE SCHEMA s; CREATE VIEW s.notes AS SELECT 'it''s' AS a, note FROM main.t",
    );
    let says = "the new table lacks note, which MACRO noted, VIEW longest, VIEW notes, VIEW s.notes may need";
    let replace = ["x.duckdb", "--table", "t", "--if-exists", "replace"];
    let plan = |file| fixture.inrush(&[&["plan", file], &replace[..]].concat()).exits(0);
    plan("t.csv").prints(&[says]);
    assert!(!plan("all.csv").stdout.contains("may need"));
    fixture.load(&[&["t.csv"], &replace[..]].concat()).exits(0).prints(&[says]);
    // Other types break none.
    assert_eq!(lines(&fixture, "x.duckdb", "FROM names"), ["1|a"]);
}

#[test]
fn a_table_that_foreign_keys_refer_to_is_refused_before_anything_is_written() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,b\n2,2\n");
    sql(
        &fixture,
        "x.duckdb",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, b INTEGER, UNIQUE (b, id)); INSERT INTO t VALUES (1, 1); \
         CREATE TABLE child (x INTEGER REFERENCES T (id)); \
         CREATE TABLE pair (x INTEGER, y INTEGER, FOREIGN KEY (y, x) REFERENCES t (b, id)); \
         CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree (id)); INSERT INTO tree VALUES (1, NULL)",
    );
    let with = |table: &'static str, how: &'static str| {
        ["t.csv", "x.duckdb", "--table", table, "--if-exists", how]
    };
    let plan = |how| fixture.inrush(&[&["plan"], &with("t", how)[..]].concat()).exits(1);
    let says = ["others depend on it: table child, table pair", "--if-exists append"];
    fixture.refuses(&with("t", "replace")).says(&says);
    plan("replace").says(&says);
    // What DuckDB keeps are the rows that others refer to.
    sql(&fixture, "x.duckdb", "INSERT INTO pair VALUES (1, 1)");
    let says = ["the rows of table t can't be deleted: foreign keys of pair", "--if-exists append"];
    fixture.refuses(&with("t", "truncate")).says(&says);
    plan("truncate").says(&says);
    sql(&fixture, "x.duckdb", "DELETE FROM pair");
    fixture.load(&with("t", "truncate")).exits(0);
    assert_eq!(lines(&fixture, "x.duckdb", "FROM t"), ["2|2"]);
    // A key of its own keeps no table.
    fixture.load(&with("tree", "replace")).exits(0);
    assert_eq!(lines(&fixture, "x.duckdb", "FROM tree"), ["2|2"]);
}

#[test]
fn a_view_is_no_table() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id\n1\n");
    sql(&fixture, "x.duckdb", "CREATE TABLE b (id INTEGER); CREATE VIEW t AS FROM b");
    fixture.refuses(&["t.csv", "x.duckdb"]).says(&["t is a view"]);
}

#[test]
fn rows_are_committed_on_the_way_when_asked_for() {
    let Some(fixture) = fixture() else { return };
    let rows: String = (0..1_000).map(|n| format!("{n}\n")).collect();
    fixture.write("t.csv", format!("id\n{rows}x\n"));
    for strategy in &STRATEGIES[1..] {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(&fixture, &db, "CREATE TABLE t (id INTEGER)");
        let load = [
            "t.csv",
            &db,
            "--strategy",
            strategy,
            "--set",
            "rows_per_transaction=300",
            "--chunk-size",
            "1k",
        ];
        fixture.inrush(&[&["plan"], &load[..]].concat()).exits(0).prints(&["committed on the way"]);
        let run = fixture.load(&load).exits(1);
        let stayed: u64 = lines(&fixture, &db, "SELECT count(*) FROM t")[0].parse().unwrap();
        assert!(stayed > 0 && stayed.is_multiple_of(300), "{stayed}");
        assert!(run.stderr.contains(&format!("{stayed} rows")), "{}", run.stderr);
    }
}

#[test]
fn memory_is_a_quarter_of_the_machine_s_within_bounds_or_what_the_user_says() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id\n1\n");
    let limit = |args: &[&str]| {
        let run = fixture
            .load(&[&["t.csv", "t.duckdb", "--if-exists", "replace", "--json"], args].concat());
        run.exits(0).json()["plan"]["knobs"]["memory_limit"].as_u64().unwrap()
    };
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let total: u64 = meminfo.split_whitespace().nth(1).unwrap().parse().unwrap();
    // A group of processes may be allowed less than the machine has.
    let found = limit(&[]);
    assert!(found >= 512 << 20 && found <= (total * 1024 / 4).clamp(512 << 20, 2 << 30), "{found}");
    assert_eq!(limit(&["--set", "memory_limit=256m"]), 256 << 20);
}
