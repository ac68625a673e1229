use crate::fixture::{Fixture, rows};

const STRATEGIES: [&str; 4] = ["sqlite/pages", "sqlite/bind", "sqlite/values", "sqlite/row-sql"];

/// Two tables whose columns have no type: an ordinary one, and one that is STRICT.
const TYPELESS: [&str; 2] = [
    "CREATE TABLE t (id PRIMARY KEY, v, b, d, s)",
    "CREATE TABLE t (id ANY PRIMARY KEY, v ANY, b ANY, d ANY, s ANY) STRICT",
];

#[test]
fn a_column_without_a_type_stores_what_a_new_table_would() {
    let json = "{\"id\":1,\"v\":2.5,\"b\":true,\"d\":\"2024-02-29\",\"s\":\"7x\"}\n\
                {\"id\":-2,\"v\":0.1,\"b\":false,\"d\":null,\"s\":\"\"}\n";
    let csv = "id,v,b,d,s\n1,2.5,true,2024-02-29,7x\n-2,0.1,false,,\"\"\n";
    let wanted = rows![
        ["integer", 1, "real", 2.5, "integer", 1, "text", "2024-02-29", "text", "7x"],
        ["integer", -2, "real", 0.1, "integer", 0, "null", (), "text", ""],
    ];
    for table in TYPELESS {
        for strategy in STRATEGIES {
            for (name, text) in [("t.jsonl", json), ("t.csv", csv)] {
                let fixture = Fixture::new();
                fixture.write(name, text).sql("t.db", table);
                let args = [name, "t.db", "--table", "t", "--verify", "checksum"];
                let is_strict = table.ends_with("STRICT");
                if is_strict && strategy == "sqlite/pages" {
                    continue;
                }
                fixture.load(&[&args[..], &["--strategy", strategy]].concat()).exits(0);
                assert_eq!(fixture.typed_table("t.db", "t"), wanted, "{table} {strategy} {name}");
                fixture.assert_sound("t.db");
            }
        }
    }
}

#[test]
fn numbers_without_a_type_find_their_keys() {
    for table in ["CREATE TABLE t (id PRIMARY KEY, v)", "CREATE TABLE t (id UNIQUE, v)"] {
        for (name, text) in [
            ("t.jsonl", "{\"id\":1,\"v\":2.5}\n{\"id\":2,\"v\":3}\n"),
            ("t.csv", "id,v\n1,2.5\n2,3\n"),
        ] {
            for how in ["update", "skip"] {
                let fixture = Fixture::new();
                fixture.write(name, text).sql("t.db", table);
                fixture.sql("t.db", "INSERT INTO t VALUES (1, 1.5)");
                let args = [name, "t.db", "--table", "t", "--if-exists", "append", "--key", "id"];
                fixture.load(&[&args[..], &["--on-conflict", how]].concat()).exits(0);
                let kept = if how == "update" { 2.5 } else { 1.5 };
                assert_eq!(
                    fixture.typed_table("t.db", "t"),
                    rows![["integer", 1, "real", kept], ["integer", 2, "real", 3.0]],
                    "{table} {name} {how}"
                );
            }
        }
    }
}

#[test]
fn a_key_without_a_type_that_holds_texts_is_compared_with_texts() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,v\n1,5\n2,6\n");
    // As `.import` leaves it.
    fixture.sql("t.db", "CREATE TABLE t (id PRIMARY KEY, v); INSERT INTO t VALUES ('1', '4')");
    let args = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "update"];
    fixture.load(&args).exits(0);
    assert_eq!(
        fixture.typed_table("t.db", "t"),
        rows![["text", "1", "integer", 5], ["text", "2", "integer", 6]]
    );
}

#[test]
fn values_that_are_no_numbers_keep_a_column_without_a_type_text() {
    let fixture = Fixture::new();
    let rows: String = (1..=3_000).map(|id| format!("{id}\n")).collect();
    fixture.write("t.csv", format!("id\n{rows}007\n")).sql("t.db", "CREATE TABLE t (id)");
    fixture.load(&["t.csv", "t.db"]).exits(0);
    let kinds = fixture.query("t.db", "SELECT typeof(id), count(*) FROM t GROUP BY 1");
    assert_eq!(kinds, rows![["text", 3_001]]);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t WHERE id = '007'"), 1);
    // The user's word makes it a bad row, or texts from the start.
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\nx\n").sql("t.db", "CREATE TABLE t (id)");
    fixture.load(&["t.csv", "t.db", "--type", "id=integer", "--max-rejects", "1"]).exits(3);
    assert_eq!(fixture.typed_table("t.db", "t"), rows![["integer", 1]]);
    fixture.load(&["t.csv", "t.db", "--types", "text", "--if-exists", "truncate"]).exits(0);
    assert_eq!(fixture.typed_table("t.db", "t"), rows![["text", "1"], ["text", "x"]]);
}

/// The column takes them all.
#[test]
fn no_row_is_bad_for_the_sake_of_a_column_without_a_type() {
    for made in ["CREATE TABLE t (id INTEGER, v)", "CREATE TABLE t (id INTEGER, v ANY) STRICT"] {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id,v\n1,1\n2,x\n3,1\n4,2\n").sql("t.db", made);
        fixture.load(&["t.csv", "t.db", "--max-rejects", "all"]).exits(0);
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t WHERE typeof(v) = 'text'"), 4);
        // Nor is one that comes late.
        let rows: String = (1..=3_000).map(|id| format!("{id},{id}\n")).collect();
        fixture.write("t.csv", format!("id,v\n{rows}3001,x\n"));
        let again = ["t.csv", "t.db", "--max-rejects", "all", "--if-exists", "truncate"];
        fixture.load(&again).exits(0);
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 3_001);
    }
}

#[test]
fn the_plan_says_what_becomes_of_a_column_without_a_type() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,v\n1,x\n").sql("t.db", "CREATE TABLE t (id PRIMARY KEY, v)");
    fixture.inrush(&["plan", "t.csv", "t.db"]).exits(0).prints(&[
        "id  integer      no type of its own",
        "v   text         no type of its own",
        "without a type in table t, so that values are stored as in a new one: id, v",
    ]);
}

#[test]
fn rows_that_a_trigger_keeps_are_not_taken_for_deleted() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n2\n").sql(
        "t.db",
        "CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1);
         CREATE TRIGGER g BEFORE DELETE ON t BEGIN SELECT RAISE(IGNORE); END",
    );
    fixture
        .refuses(&["t.csv", "t.db", "--if-exists", "truncate"])
        .says(&["rows of table t stay where they are deleted: a trigger keeps them", "append"]);
    // Without a journal nothing can be undone.
    let unsafely = ["--if-exists", "truncate", "--set", "journal_mode=off", "--durability", "none"];
    let run = fixture.load(&[&["t.csv", "t.db"], &unsafely[..]].concat()).exits(1);
    assert!(!run.stderr.contains("nothing changed"), "{}", run.stderr);
}

#[test]
fn columns_are_added_to_a_strict_table_in_its_own_types() {
    let fixture = Fixture::new();
    fixture
        .write("t.csv", "id,d,b,m,f\n1,2024-02-29,true,2024-02-29 10:00:00,1.5\n")
        .sql("t.db", "CREATE TABLE t (id INTEGER) STRICT");
    let args = ["t.csv", "t.db", "--new-columns", "add", "--verify", "checksum"];
    fixture.inrush(&[&["plan"], &args[..]].concat()).exits(0).prints(&[
        "d   date         TEXT",
        "b   boolean      INTEGER",
        "m   timestamp    TEXT",
    ]);
    fixture.load(&args).exits(0);
    let types: Vec<String> = fixture.columns("t.db", "t").into_iter().map(|(_, ty)| ty).collect();
    assert_eq!(types, ["INTEGER", "TEXT", "INTEGER", "TEXT", "REAL"]);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "2024-02-29", 1, "2024-02-29 10:00:00", 1.5]]);
}

#[test]
fn a_name_that_an_index_has_is_known_beforehand() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id\n1\n").sql("t.db", "CREATE TABLE u (a); CREATE INDEX T ON u (a)");
    let says = ["there is an index t already, on table u", "--table"];
    fixture.refuses(&["t.csv", "t.db"]).says(&says);
    fixture.inrush(&["plan", "t.csv", "t.db"]).exits(1).says(&says);
    fixture.inrush(&["check", "t.csv", "t.db"]).exits(1).says(&says);
}

#[test]
fn views_and_triggers_that_a_replaced_table_breaks_are_named() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,name\n1,a\n").write("all.csv", "NAME,id,note\na,1,b\n").sql(
        "t.db",
        "CREATE TABLE t (id, name, note); CREATE TABLE u (note); CREATE TABLE other (note);
         CREATE VIEW notes AS SELECT \"Note\" AS n FROM t; CREATE VIEW longest AS SELECT max(n) FROM notes;
         CREATE VIEW names AS SELECT name FROM t; CREATE VIEW others AS SELECT note FROM other /* t */;
         CREATE TRIGGER kept AFTER INSERT ON u BEGIN INSERT INTO t (note) VALUES (new.note); END",
    );
    let says = "the new table lacks note, which TRIGGER kept, VIEW longest, VIEW notes may need";
    let replace = ["--if-exists", "replace"];
    let plan =
        |file| fixture.inrush(&[&["plan", file, "t.db", "--table", "t"], &replace[..]].concat());
    plan("t.csv").exits(0).prints(&[says]);
    let all = plan("all.csv").exits(0);
    assert!(!all.stdout.contains("may need"), "{}", all.stdout);
    fixture.load(&[&["t.csv", "t.db"], &replace[..]].concat()).exits(0).prints(&[says]);
    assert_eq!(fixture.query("t.db", "SELECT name FROM names"), rows![["a"]]);
}

#[test]
fn intervals_are_texts_although_int_is_in_the_word() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "i\n1 day\n").sql("t.db", "CREATE TABLE t (i INTERVAL)");
    fixture.load(&["t.csv", "t.db"]).exits(0);
    assert_eq!(fixture.typed_table("t.db", "t"), rows![["text", "1 day"]]);
}

/// A file without a page has no size of one yet.
#[test]
fn an_empty_file_takes_any_page_size() {
    for strategy in STRATEGIES {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id\n1\n").write("t.db", "");
        let load = ["t.csv", "t.db", "--strategy", strategy, "--set", "page_size=8192"];
        fixture.load(&load).exits(0);
        assert_eq!(fixture.number("t.db", "PRAGMA page_size"), 8192, "{strategy}");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 1);
        fixture.assert_sound("t.db");
    }
}

#[test]
fn a_name_with_its_schema_makes_no_table_of_that_name() {
    let fixture = Fixture::new();
    fixture
        .write("t.csv", "id\n1\n")
        .sql("t.db", "CREATE TABLE t (id); CREATE TABLE \"main.u\" (id)");
    for schema in ["main", "Temp"] {
        let table = format!("{schema}.t");
        let run = fixture.misused(&["load", "t.csv", "t.db", "--table", &table]);
        run.says(&[&table, "say --table t"]);
    }
    fixture.load(&["t.csv", "t.db", "--table", "main.u"]).exits(0);
    assert_eq!(fixture.query("t.db", "SELECT * FROM \"main.u\""), rows![[1]]);
}

/// The page behind page 1 is free, and would be its neighbour.
#[test]
fn a_long_row_goes_into_pages_that_are_free() {
    let old: String = (0..300).map(|id| format!("{id},{}\n", "x".repeat(200))).collect();
    for page_size in [512, 4096, 65536] {
        let fixture = Fixture::new();
        fixture.sql("t.db", &format!("PRAGMA page_size = {page_size}; VACUUM"));
        let long = "b".repeat(12 * page_size);
        fixture
            .write("old.csv", format!("id,v\n{old}"))
            .write("t.csv", format!("id,v\n1,{long}\n"));
        fixture.load(&["old.csv", "t.db"]).exits(0);
        fixture.load(&["t.csv", "t.db"]).exits(0);
        fixture.sql("t.db", "DROP TABLE old");
        for _ in 0..2 {
            let load = ["t.csv", "t.db", "--if-exists", "truncate", "--strategy", "sqlite/pages"];
            fixture.load(&load).exits(0);
            fixture.assert_sound("t.db");
            assert_eq!(fixture.query("t.db", "SELECT id, v FROM t"), rows![[1, long.as_str()]]);
        }
    }
}

/// Triggers of the key hear of nothing, and who refers to it goes on to.
#[test]
fn an_update_leaves_the_key_as_it_is_spelled() {
    for strategy in STRATEGIES.iter().filter(|strategy| **strategy != "sqlite/pages") {
        let fixture = Fixture::new();
        fixture.write("t.csv", "name,qty\nBOB,10\namy,20\n").write("k.csv", "name\nBOB\ncat\n").sql(
            "t.db",
            "CREATE TABLE t (name TEXT COLLATE NOCASE PRIMARY KEY, qty INT); INSERT INTO t VALUES ('Bob', 1); \
             CREATE TABLE of_t (n TEXT REFERENCES t (name) ON UPDATE CASCADE); INSERT INTO of_t VALUES ('Bob'); \
             CREATE TRIGGER fixed BEFORE UPDATE OF name ON t BEGIN SELECT RAISE(ABORT, 'the key is fixed'); END",
        );
        let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "update"];
        let report = fixture.report(&[&load[..], &["--strategy", strategy]].concat());
        assert_eq!(report["rows_loaded"], 2, "{strategy}");
        let wanted = rows![["amy", 20], ["Bob", 10]];
        assert_eq!(fixture.query("t.db", "SELECT * FROM t ORDER BY 1"), wanted, "{strategy}");
        // Where there is nothing else to set, the row counts all the same.
        fixture.sql("t.db", "DROP TRIGGER fixed");
        let load =
            ["k.csv", "t.db", "--table", "t", "--if-exists", "append", "--on-conflict", "update"];
        let report = fixture.report(&[&load[..], &["--strategy", strategy]].concat());
        assert_eq!(report["rows_loaded"], 2, "{strategy}");
    }
}

/// A table may be called as the row with its key is within the statement.
#[test]
fn rows_of_a_table_called_excluded_are_changed() {
    for strategy in &STRATEGIES[1..] {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id,v\n1,new\n2,b\n").sql(
            "t.db",
            "CREATE TABLE excluded (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO excluded VALUES (1, 'old')",
        );
        let load = ["t.csv", "t.db", "--table", "excluded", "--if-exists", "append"];
        let update = ["--on-conflict", "update", "--strategy", strategy];
        fixture.load(&[&load[..], &update].concat()).exits(0);
        assert_eq!(fixture.table("t.db", "excluded"), rows![[1, "new"], [2, "b"]], "{strategy}");
    }
}

/// What statements of triggers say of conflicts holds, unless the table itself says something that a load has to override.
#[test]
fn triggers_that_ignore_what_is_there_refuse_no_row() {
    let seen = "CREATE TABLE seen (v PRIMARY KEY); \
                CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT OR IGNORE INTO seen VALUES (new.v); END";
    for strategy in &STRATEGIES[1..] {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id,v\n1,a\n2,a\n3,b\n");
        fixture.sql("t.db", &format!("CREATE TABLE t (id INT UNIQUE, v); {seen}"));
        let load = ["t.csv", "t.db", "--if-exists", "append", "--strategy", strategy];
        fixture.load(&load).exits(0);
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 3, "{strategy}");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM seen"), 2, "{strategy}");
    }
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,v\n1,a\n2,a\n3,b\n");
    fixture.sql("t.db", &format!("CREATE TABLE t (id INT UNIQUE ON CONFLICT REPLACE, v); {seen}"));
    let load = ["t.csv", "t.db", "--if-exists", "append", "--max-rejects", "1"];
    let plan = fixture.inrush(&[&["plan"], &load[..]].concat()).exits(0);
    plan.prints(&["table t has ON CONFLICT clauses, which the load overrides"]);
    fixture.load(&load).exits(3);
    assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
}

/// With RAISE(FAIL) SQLite keeps what the row has changed so far, and the row itself where the trigger comes after it.
#[test]
fn a_row_that_a_trigger_refuses_leaves_nothing() {
    for strategy in &STRATEGIES[1..] {
        for rows in ["0", "1"] {
            let fixture = Fixture::new();
            fixture.write("t.csv", "id,v\n1,a\n2,bad\n3,c\n").sql(
                "t.db",
                "CREATE TABLE t (id INT, v); CREATE TABLE seen (v); \
                 CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO seen VALUES (new.v); \
                   SELECT RAISE(FAIL, 'no') WHERE new.v = 'bad'; END",
            );
            let load = ["t.csv", "t.db", "--if-exists", "append", "--strategy", strategy];
            let commits = format!("rows_per_transaction={rows}");
            let load = [&load[..], &["--max-rejects", "1", "--set", &commits]].concat();
            fixture.load(&load).exits(3);
            assert_eq!(fixture.read("t.rejects.csv"), b"id,v\n2,bad\n");
            assert_eq!(fixture.table("t.db", "t"), rows![[1, "a"], [3, "c"]], "{strategy} {rows}");
            assert_eq!(fixture.query("t.db", "SELECT * FROM seen"), rows![["a"], ["c"]]);
        }
    }
}

/// Neither a row whose key is there nor one that a trigger leaves out changes anything, but only one of them is to be skipped.
#[test]
fn rows_that_a_trigger_leaves_out_are_not_skipped() {
    for strategy in &STRATEGIES[1..] {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id,v\nA,a\nb,new\nc,bad\nd,d\n").sql(
            "t.db",
            "CREATE TABLE t (id TEXT COLLATE NOCASE PRIMARY KEY, v); INSERT INTO t VALUES ('B', 'old'); \
             CREATE TRIGGER g BEFORE INSERT ON t WHEN new.v = 'bad' BEGIN SELECT RAISE(IGNORE); END",
        );
        let load = ["t.csv", "t.db", "--if-exists", "append", "--on-conflict", "skip"];
        let load = [&load[..], &["--strategy", strategy, "--max-rejects", "1"]].concat();
        let run = fixture.load(&[&load[..], &["--json"]].concat()).exits(3);
        assert_eq!(run.json()["rows_skipped"], 1, "{strategy}");
        assert_eq!(fixture.read("t.rejects.csv"), b"id,v\nc,bad\n", "{strategy}");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 3, "{strategy}");
    }
}

/// A key of another storage class is another key, so each row would be added beside the one that it is to change.
#[test]
fn rows_whose_keys_are_of_another_class_are_refused() {
    for (table, text, found, sent, ty) in [
        (
            "CREATE TABLE t (k PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')",
            "1,2,x",
            "integer",
            "text",
            "integer",
        ),
        (
            "CREATE TABLE t (k BLOB PRIMARY KEY, v); INSERT INTO t VALUES ('1', 'a')",
            "1,2",
            "text",
            "blobs",
            "text",
        ),
        (
            "CREATE TABLE t (k, v, UNIQUE (v, k)); INSERT INTO t VALUES (x'31', 'b')",
            "1,2",
            "blob",
            "numbers",
            "bytes",
        ),
    ] {
        for strategy in &STRATEGIES[1..] {
            let fixture = Fixture::new();
            let rows: String = text.split(',').map(|key| format!("{key},b\n")).collect();
            fixture.write("t.csv", format!("k,v\n{rows}")).sql("t.db", table);
            let load = ["t.csv", "t.db", "--if-exists", "append", "--strategy", strategy];
            let key = if table.contains("UNIQUE") { "k,v" } else { "k" };
            let update = [&load[..], &["--on-conflict", "update", "--key", key]].concat();
            let ty = format!("k={ty}");
            let run = fixture.misused(&[&["load"], &update[..]].concat());
            run.says(&["column k of the table", found, sent, &format!("try: --type {ty}")]);
            let typed = ["--type", &ty, "--max-rejects", "1", "--json"];
            let report = fixture.inrush(&[&["load"], &update[..], &typed].concat()).json();
            assert_eq!(
                (&report["rows_inserted"], &report["rows_updated"]),
                (&1.into(), &1.into()),
                "{table}"
            );
        }
    }
}

#[test]
fn another_page_size_than_the_database_has_is_refused() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a\n1\n").sql("t.db", "CREATE TABLE t (a)");
    let load = ["load", "t.csv", "t.db", "--set", "page_size=512"];
    let run = fixture.misused(&load);
    let run = run.says(&["error: page_size=512: the database exists", "try: leave page_size out"]);
    assert!(!run.stderr.contains("row-sql"), "{}", run.stderr);
}

/// Its key has an index of its own, and is not the number of the row, which SQLite would make up.
#[test]
fn an_integer_primary_key_desc_takes_null() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,b\n5,x\n,z\n");
    fixture.sql("t.db", "CREATE TABLE t (id INTEGER PRIMARY KEY DESC, b TEXT)");
    fixture.load(&["t.csv", "t.db"]).exits(0);
    let found = fixture.query("t.db", "SELECT count(*) FROM t WHERE id IS NULL");
    assert_eq!(found, rows![[1]]);
}

/// What SQLite has no value for of its own is missed before a row is read.
#[test]
fn columns_that_need_a_value_are_missed_at_once() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a\n1\n").sql(
        "t.db",
        "CREATE TABLE numbered (k INTEGER PRIMARY KEY NOT NULL, a INT, d INT NOT NULL DEFAULT 3,
             g INT NOT NULL GENERATED ALWAYS AS (a + 1));
         CREATE TABLE bare (a INT, k INT NOT NULL);
         CREATE TABLE own_key (k INTEGER PRIMARY KEY NOT NULL, a INT) WITHOUT ROWID",
    );
    fixture.load(&["t.csv", "t.db", "--table", "numbered", "--if-exists", "append"]).exits(0);
    assert_eq!(fixture.query("t.db", "SELECT k, a, d, g FROM numbered"), rows![[1, 1, 3, 2]]);
    for table in ["bare", "own_key"] {
        let into = ["t.csv", "t.db", "--table", table, "--if-exists", "append"];
        let lacks = format!("column k of table {table} has no default, and the source has no such");
        fixture.inrush(&[&["check"], &into[..4]].concat()).exits(1).says(&[&lacks]);
        fixture.refuses(&into).says(&[&lacks]);
    }
}

/// Seconds of 1970 to SQLite, and hardly meant so.
#[test]
fn a_day_in_digits_is_refused_with_options_for_its_very_column() {
    let fixture = Fixture::new();
    fixture
        .write("t.csv", "id,The day\n1,20240229\n")
        .sql("t.db", "CREATE TABLE t (id INT, \"The day\" DATETIME)");
    let append = ["t.csv", "t.db", "--table", "t", "--if-exists", "append"];
    let options =
        "--date-format 'The day=%Y%m%d' reads it as a day, and --type 'The day=integer' loads";
    fixture.refuses(&append).says(&["'20240229' is not a moment", options]);
    let said = ["--date-format", "The day=%Y%m%d"];
    fixture.load(&[&append[..], &said].concat()).exits(0);
    assert_eq!(fixture.table("t.db", "t"), rows![[1, "2024-02-29 00:00:00"]]);
}
