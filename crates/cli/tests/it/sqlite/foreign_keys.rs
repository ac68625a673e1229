use crate::fixture::{Fixture, json_lines, rows};

const PARENT: &str = "CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1)";
const DEFERRED: &str = "DEFERRABLE INITIALLY DEFERRED";

const WAYS: [&str; 3] = ["sqlite/bind", "sqlite/values", "sqlite/row-sql"];

#[test]
fn a_row_without_its_parent_is_a_bad_row_however_late_the_key_is_checked() {
    for strategy in WAYS {
        for knobs in
            [&[][..], &["--set", "rows_per_transaction=2"], &["--set", "rows_per_transaction=1"]]
        {
            let fixture = Fixture::new();
            fixture.write("t.csv", "id,p\n1,1\n2,9\n3,\n4,1\n5,8\n");
            fixture.sql("t.db", PARENT).sql(
                "t.db",
                &format!("CREATE TABLE t (id INTEGER PRIMARY KEY, p REFERENCES p {DEFERRED})"),
            );
            let args = ["t.csv", "t.db", "--max-rejects", "all", "--strategy", strategy];
            fixture.load(&[&args[..], knobs].concat()).exits(3);
            assert_eq!(
                fixture.query("t.db", "SELECT id FROM t"),
                rows![[1], [3], [4]],
                "{strategy}"
            );
            let rejects = String::from_utf8(fixture.read("t.rejects.csv")).unwrap();
            assert_eq!(rejects, "id,p\n2,9\n5,8\n");
        }
    }
    let fixture = Fixture::new();
    fixture.write("t.csv", "id,p\n1,1\n2,9\n");
    fixture
        .sql("t.db", PARENT)
        .sql("t.db", &format!("CREATE TABLE t (id, p REFERENCES p {DEFERRED})"));
    fixture.refuses(&["t.csv", "t.db"]).says(&["line 3", "the row it refers to is not there"]);
}

/// Whatever the key says of when it is checked. What refers to a row that is left out is left out as well.
#[test]
fn a_parent_may_come_later_and_rows_whose_parent_never_comes_are_bad_rows() {
    for (strategy, when) in WAYS.into_iter().flat_map(|way| [(way, ""), (way, DEFERRED)]) {
        let fixture = Fixture::new();
        fixture.sql(
            "t.db",
            &format!("CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t (id) {when})"),
        );
        let args = ["t.csv", "t.db", "--strategy", strategy, "--if-exists", "append"];
        fixture.write("t.csv", "id,up\n1,3\n2,1\n3,\n");
        fixture.load(&args).exits(0);
        fixture.write("t.csv", "id,up\n11,13\n12,3\n13,\n14,77\n15,14\n16,15\n17,12\n18,18\n");
        fixture.refuses(&args).says(&[
            "line 5, column up: '77': the row it refers to is not there (table t, by up = 77)",
        ]);
        let piped = [&["load", "-", "--table", "t"], &args[1..]].concat();
        let run = fixture.inrush_reading(&fixture.read("t.csv"), &piped);
        run.exits(1).says(&[
            "1 row of table t refers to rows of table t that are not there, one by up = 77",
            "or load from a file",
        ]);
        let text = "id,up\n11,13\n12,3\n13,\n14,77\n15,14\nx,\n16,15\n17,12\n18,18\n";
        fixture.write("t.csv", text);
        fixture.load(&[&args[..], &["--max-rejects", "all"]].concat()).exits(3);
        let rows = rows![[1], [2], [3], [11], [12], [13], [17], [18]];
        assert_eq!(fixture.query("t.db", "SELECT id FROM t"), rows, "{strategy}");
        assert_eq!(fixture.read("t.rejects.csv"), b"id,up\n14,77\n15,14\nx,\n16,15\n");
        let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
        let lines: Vec<_> = notes.iter().map(|note| note["line"].as_u64().unwrap()).collect();
        assert_eq!(lines, [5, 6, 7, 8]);
        assert_eq!(notes[1]["code"], "foreign-key");
    }
}

#[test]
fn rows_without_parents_are_known_by_keys_of_every_kind() {
    for table in [
        "CREATE TABLE t (id TEXT PRIMARY KEY, up TEXT REFERENCES t)",
        "CREATE TABLE t (id PRIMARY KEY, up REFERENCES t)",
        "CREATE TABLE t (id TEXT PRIMARY KEY, up TEXT REFERENCES t) WITHOUT ROWID",
        "CREATE TABLE t (id TEXT COLLATE NOCASE PRIMARY KEY, up TEXT REFERENCES t)",
    ] {
        let fixture = Fixture::new();
        fixture.sql("t.db", table).write("t.csv", "id,up\na,b\nb,\nc,z\nd,c\ne,d\n");
        fixture.load(&["t.csv", "t.db", "--max-rejects", "all"]).exits(3);
        assert_eq!(fixture.read("t.rejects.csv"), b"id,up\nc,z\nd,c\ne,d\n", "{table}");
        assert_eq!(fixture.number("t.db", "SELECT count(*) FROM t"), 2);
    }
    let fixture = Fixture::new();
    fixture.sql("t.db", PARENT).sql(
        "t.db",
        "CREATE TABLE t (a INT, b TEXT, p REFERENCES p, x INT, y TEXT, PRIMARY KEY (a, b), \
            FOREIGN KEY (x, y) REFERENCES t (a, b))",
    );
    fixture
        .write("t.csv", "a,b,p,x,y\n1,a,1,2,b\n2,b,1,,\n3,c,9,,\n4,d,1,3,c\n5,e,1,2,c\n6,f,,2,\n");
    fixture.load(&["t.csv", "t.db", "--max-rejects", "all"]).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"a,b,p,x,y\n3,c,9,,\n4,d,1,3,c\n5,e,1,2,c\n");
    let notes = String::from_utf8(fixture.read("t.rejects.csv.jsonl")).unwrap();
    assert!(notes.contains("(table t, by x = 2, y = 'c')"), "{notes}");
}

/// What had no parent before the load stays, and rows may refer to it.
#[test]
fn rows_that_come_instead_of_those_without_parents_are_parents() {
    let load = |before: &str, text: &str, args: &[&str]| {
        let fixture = Fixture::new();
        let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t)";
        fixture.sql("t.db", &format!("{table}; {before}")).write("t.csv", text);
        let args =
            [&["t.csv", "t.db", "--max-rejects", "all", "--if-exists", "append"], args].concat();
        fixture.load(&args).exits(3);
        let rejects = String::from_utf8(fixture.read("t.rejects.csv")).unwrap();
        (rejects, fixture.query("t.db", "SELECT id, up FROM t ORDER BY id"))
    };
    let (rejects, rows) = load("", "id,up\n1,99\n1,\n2,1\n", &[]);
    assert_eq!((rejects.as_str(), rows), ("id,up\n1,99\n", rows![[1, ()], [2, 1]]));
    let old = "PRAGMA foreign_keys = OFF; INSERT INTO t VALUES (5, 99)";
    let (rejects, rows) = load(old, "id,up\n6,5\n7,98\n8,7\n", &[]);
    assert_eq!((rejects.as_str(), rows), ("id,up\n7,98\n8,7\n", rows![[5, 99], [6, 5]]));
    let old = "INSERT INTO t VALUES (1, NULL), (2, 1)";
    for how in ["update", "replace"] {
        let text = "id,up\n1,99\n3,1\n4,5\n5,\n";
        let (rejects, rows) = load(old, text, &["--on-conflict", how]);
        assert_eq!(rejects, "id,up\n1,99\n");
        assert_eq!(rows, rows![[1, ()], [2, 1], [3, 1], [4, 5], [5, ()]]);
    }
    let (rejects, rows) = load(old, "id,up\n1,88\n3,77\n4,2\n", &["--on-conflict", "skip"]);
    assert_eq!((rejects.as_str(), rows), ("id,up\n3,77\n", rows![[1, ()], [2, 1], [4, 2]]));
}

#[test]
fn in_several_transactions_parents_come_first_and_the_message_says_what_helps() {
    let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t)";
    for (args, cure) in [
        (["--set", "rows_per_transaction=2"], "without rows_per_transaction it may come later"),
        (["--guarantee", "chunks"], "with --guarantee atomic it may come later"),
    ] {
        let fixture = Fixture::new();
        fixture.sql("t.db", table).write("t.csv", "id,up\n1,3\n2,\n3,\n");
        let run = fixture.load(&[&["t.csv", "t.db"], &args[..]].concat());
        run.exits(1).says(&["line 2", cure]);
    }
    // What triggers do to other tables with keys is laid to the row that they do it for.
    let fixture = Fixture::new();
    fixture.sql("t.db", &format!("{PARENT}; {table}; CREATE TABLE log (p REFERENCES p)")).sql(
        "t.db",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id); END",
    );
    fixture.write("t.csv", "id,up\n1,\n2,\n");
    fixture.load(&["t.csv", "t.db", "--max-rejects", "all"]).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,up\n2,\n");
}

#[test]
fn a_first_step_that_fails_at_its_commit_leaves_nothing() {
    let fixture = Fixture::new();
    fixture.sql(
        "t.db",
        &format!("CREATE TABLE t (id INTEGER PRIMARY KEY, up REFERENCES t {DEFERRED})"),
    );
    let rows: String = (4..2_000).map(|id| format!("{id},\n")).collect();
    let in_steps = ["--guarantee", "chunks", "--chunk-size", "4k", "--max-rejects", "all"];
    // In the first of several steps, and in the only one.
    for commit_rows in ["500", "500000"] {
        let args = [&["t.csv", "t.db", "--commit-rows", commit_rows], &in_steps[..]].concat();
        fixture.write("t.csv", format!("id,up\n1,2\nbad,\n2,\n3,77777\n{rows}"));
        fixture.refuses(&args).says(&["refers to rows of table t that are not there"]);
    }
    fixture.write("t.csv", format!("id,up\n1,2\nbad,\n2,\n{rows}"));
    let args = ["t.csv", "t.db", "--commit-rows", "500"];
    fixture.load(&[&args, &in_steps[..]].concat()).exits(3);
    assert_eq!(fixture.read("t.rejects.csv"), b"id,up\nbad,\n");
}

#[test]
fn rows_that_come_back_satisfy_those_that_refer_to_them_in_the_end() {
    let fixture = Fixture::new();
    fixture.sql("t.db", PARENT).sql(
        "t.db",
        &format!("CREATE TABLE c (p REFERENCES p {DEFERRED}); INSERT INTO c VALUES (1)"),
    );
    let args = ["p.csv", "t.db", "--if-exists", "truncate"];
    fixture.write("p.csv", "id\n2\n1\n");
    fixture.load(&args).exits(0);
    fixture.write("p.csv", "id\n2\n3\n");
    fixture.refuses(&args).says(&["1 row of table c refers to rows of table p", "one by p = 1"]);
}

#[test]
fn what_foreign_keys_forbid_is_known_beforehand() {
    let mismatch = "CREATE TABLE p (a); CREATE TABLE t (id, p REFERENCES p (a))";
    let missing = "CREATE TABLE t (id, p REFERENCES gone (a))";
    let trigger = "CREATE TABLE t (id, p);
        CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END";
    for (sql, says) in [
        (mismatch, ["foreign key mismatch", "CREATE UNIQUE INDEX"]),
        (missing, ["no such table: main.gone", "refers to table gone: make and load that first"]),
        (trigger, ["no such table: main.log", "make log first"]),
    ] {
        let fixture = Fixture::new();
        fixture.write("t.csv", "id,p\n1,\n").sql("t.db", sql);
        fixture.refuses(&["t.csv", "t.db"]).says(&says);
        for command in ["plan", "check"] {
            fixture.inrush(&[command, "t.csv", "t.db"]).exits(1).says(&says);
        }
        // Its keys and triggers go with a table that is replaced.
        fixture.load(&["t.csv", "t.db", "--if-exists", "replace"]).exits(0);
    }
}

#[test]
fn rows_that_others_refer_to_are_not_deleted() {
    for how in ["truncate", "replace"] {
        let fixture = Fixture::new();
        fixture.write("p.csv", "id\n1\n").sql("t.db", PARENT);
        fixture.sql("t.db", "CREATE TABLE c (p REFERENCES p); INSERT INTO c VALUES (NULL), (1)");
        let args = ["p.csv", "t.db", "--if-exists", how];
        let says = ["the rows of table p can't be deleted: foreign keys of c refer to them"];
        fixture.refuses(&args).says(&says);
        for command in ["plan", "check"] {
            fixture.inrush(&[&[command], &args[..]].concat()).exits(1).says(&says);
        }
        fixture.sql("t.db", "DELETE FROM c WHERE p = 1");
        let key: &[&str] = if how == "replace" { &["--primary-key", "id"] } else { &[] };
        fixture.load(&[&args[..], key].concat()).exits(0);
    }
}

/// Else SQLite would take no row of either table any more.
#[test]
fn a_table_keeps_the_key_that_others_refer_to_or_is_not_replaced() {
    let fixture = Fixture::new();
    fixture.write("t.csv", "a,c\n1,z\n").sql(
        "t.db",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x'); \
         CREATE TABLE child (x REFERENCES t)",
    );
    let args = ["t.csv", "t.db", "--if-exists", "replace"];
    fixture.refuses(&args).says(&[
        "a foreign key of child refers to t (a), which would be no key of the new table",
        "--primary-key a makes it one",
    ]);
    fixture.load(&[&args[..], &["--primary-key", "a"]].concat()).exits(0);
    fixture.sql("t.db", "PRAGMA foreign_keys = ON; INSERT INTO child VALUES (1)");
}
