use crate::fixture::{Fixture, rows};

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

#[test]
fn a_parent_may_come_later_and_one_that_never_comes_is_named() {
    for strategy in WAYS {
        let fixture = Fixture::new();
        fixture.sql(
            "t.db",
            &format!("CREATE TABLE t (id INTEGER PRIMARY KEY, up REFERENCES t {DEFERRED})"),
        );
        let args = ["t.csv", "t.db", "--strategy", strategy, "--max-rejects", "all"];
        fixture.write("t.csv", "id,up\n1,2\n2,\n3,77\n4,78\n");
        let run = fixture.refuses(&args).says(&[
            "2 rows of table t refer to rows of table t that are not there, one by up = 77",
            "take these out of the source",
        ]);
        assert!(!run.stderr.contains("--resume"), "{run:?}");
        fixture.write("t.csv", "id,up\n1,2\n2,\n");
        fixture.load(&args).exits(0);
        assert_eq!(fixture.table("t.db", "t").len(), 2);
    }
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
