use serde_json::json;

use super::double::{Double, Table};
use super::{STRATEGIES, int, load, text};
use crate::fixture::Fixture;

/// A table with a row.
fn filled() -> Double {
    let double = Double::with(Table::new("t", "id int NOT NULL;name nvarchar(20)"));
    double.state().table.as_mut().unwrap().rows = vec![vec![int(-1), text("old")]];
    double
}

#[test]
fn a_table_that_holds_rows_is_added_to_emptied_or_replaced_as_was_asked() {
    let file = "id,name\n1,a\n2,\n";
    let new = [vec![int(1), text("a")], vec![int(2), super::Value::Null]];
    for strategy in STRATEGIES {
        let (fixture, double) = (Fixture::new(), filled());
        let run = |how: &str| {
            load(
                &fixture,
                &double,
                file,
                &["--strategy", strategy, "--if-exists", how, "--verify", "checksum"],
            )
        };
        run("empty").exits(1).says(&["holds rows already"]).ends_with_nothing_changed();
        run("fail").exits(1).ends_with_nothing_changed();
        assert_eq!(double.rows(), [[int(-1), text("old")]]);
        run("append").exits(0);
        assert_eq!(double.rows(), [&[vec![int(-1), text("old")]][..], &new].concat());
        run("truncate").exits(0);
        assert_eq!(double.rows(), new);
        assert!(double.heard("TRUNCATE TABLE [dbo].[t]"));
        run("replace").exits(0);
        assert_eq!(double.rows(), new);
        let state = double.state();
        assert_eq!(state.table.as_ref().unwrap().columns[0].ty, "bigint");
    }
}

#[test]
fn rows_that_a_trigger_keeps_are_not_taken_for_deleted() {
    let double = filled();
    double.state().script.keeps_rows = true;
    let truncate = |more: &[&str]| {
        let options = [&["--if-exists", "truncate"], more].concat();
        load(&Fixture::new(), &double, "id,name\n1,a\n", &options)
            .exits(1)
            .says(&["rows of table t stay where they are deleted", "--if-exists append"])
    };
    truncate(&[]).ends_with_nothing_changed();
    assert_eq!(double.rows(), [[int(-1), text("old")]]);
    // Without a transaction others may have gone.
    truncate(&["--strategy", "values", "--set", "rows_per_transaction=7"])
        .says(&["may have been emptied"]);
}

#[test]
fn a_load_is_one_transaction_and_others_are_kept_from_the_table_while_it_counts() {
    let double = filled();
    load(&Fixture::new(), &double, "id,name\n1,a\n", &["--if-exists", "append"]).exits(0);
    let batches = double.state().batches.clone();
    let place = |part: &str| {
        let found = batches.iter().position(|batch| batch.contains(part));
        found.unwrap_or_else(|| panic!("no {part} in {batches:#?}"))
    };
    assert!(
        place("BEGIN TRANSACTION") < place("COUNT_BIG(*) FROM [dbo].[t] WITH (TABLOCKX, HOLDLOCK)")
    );
    assert!(place("COUNT_BIG") < place("INSERT BULK"));
    assert!(place("INSERT BULK") < place("COMMIT TRANSACTION"));
    assert!(
        batches[place("INSERT BULK")]
            .ends_with("WITH (CHECK_CONSTRAINTS, TABLOCK, KEEP_NULLS, FIRE_TRIGGERS)")
    );
    assert!(batches[0].starts_with("SET XACT_ABORT"), "{batches:#?}");
}

#[test]
fn columns_go_by_name_and_the_server_counts_where_the_file_does_not() {
    for strategy in STRATEGIES {
        let table = || Table::new("t", "id int IDENTITY;[a]]b] nvarchar(9);c int NOT NULL");
        let double = Double::with(table());
        load(&Fixture::new(), &double, "c,a]b\n5,x\n", &["--strategy", strategy]).exits(0);
        assert_eq!(double.rows(), [[super::Value::Null, text("x"), int(5)]]);
        assert!(!double.heard("IDENTITY_INSERT"));
        // What the file says of the column that counts is kept.
        let double = Double::with(table());
        load(&Fixture::new(), &double, "c,id\n5,7\n", &["--strategy", strategy]).exits(0);
        assert_eq!(double.rows(), [[int(7), super::Value::Null, int(5)]]);
        assert_eq!(double.heard("SET IDENTITY_INSERT [dbo].[t] ON"), strategy != "bulk");
    }
    // A column without a default has to be in the file.
    let double = Double::with(Table::new("t", "id int NOT NULL;c int NOT NULL"));
    load(&Fixture::new(), &double, "id\n1\n", &[]).exits(1).says(&["column c"]);
}

#[test]
fn a_name_may_have_a_schema_brackets_and_dots() {
    for strategy in STRATEGIES {
        let (fixture, double) = (Fixture::new(), Double::start());
        let options = ["--strategy", strategy, "--table", "dbo.[a.b]]c]"];
        load(&fixture, &double, "a b,c]d\n1,2\n", &options).exits(0);
        assert_eq!(double.state().table.as_ref().unwrap().name, "a.b]c");
        assert_eq!(double.rows(), [[int(1), int(2)]]);
        load(&fixture, &double, "a\n1\n", &["--table", "nowhere.t"])
            .exits(1)
            .says(&["there is no schema nowhere", "CREATE SCHEMA"]);
        load(&fixture, &double, "a\n1\n", &["--table", "a.b.c"]).exits(2);
    }
}

#[test]
fn keys_share_the_room_that_an_index_has() {
    let double = Double::start();
    let options = ["--primary-key", "a,b", "--index", "c", "--index", "n,a"];
    load(&Fixture::new(), &double, "a,b,c,n\nx,y,z,1\n", &options).exits(0);
    let state = double.state();
    let table = state.table.as_ref().unwrap();
    let types: Vec<&str> = table.columns.iter().map(|column| column.ty.as_str()).collect();
    assert_eq!(types, ["nvarchar(225)", "nvarchar(225)", "nvarchar(450)", "bigint"]);
    assert_eq!(table.key, [0, 1]);
    drop(state);
    assert!(double.heard("CREATE INDEX [t_c_idx] ON [dbo].[t] ([c])"));
    assert!(double.heard("CREATE INDEX [t_n_a_idx] ON [dbo].[t] ([n], [a])"));
}

#[test]
fn what_it_cannot_do_it_says_before() {
    let double = filled();
    let fixture = Fixture::new();
    load(&fixture, &double, "id,name\n1,a\n", &["--if-exists", "append", "--on-conflict", "skip"])
        .exits(2)
        .says(&["MERGE"]);
    load(&fixture, &double, "id,name\n1,a\n", &["--if-exists", "append", "--lanes", "0"]).exits(2);
    load(&fixture, &double, "id,name\n1,a\n", &["--if-exists", "append", "--set", "tablock=maybe"])
        .exits(2);
    assert_eq!(double.rows().len(), 1);
}

#[test]
fn what_the_server_keeps_is_read_back_and_promised() {
    let (fixture, double) = (Fixture::new(), Double::start());
    fixture.write("t.csv", "id\n1\n");
    let url = double.url();
    let report = fixture.report(&["t.csv", &url]);
    assert_eq!(report["plan"]["durability"], "durable");
    assert_eq!(
        report["durability_read_back"],
        json!({"delayed_durability": "DISABLED", "recovery_model": "SIMPLE"})
    );
    assert_eq!(report["plan"]["strategy"], "mssql/bulk");
    // Where commits don't wait for the log, nobody promises that they do.
    let double = Double::start();
    double.script(|script| script.delayed = "FORCED");
    let url = double.url();
    fixture.misused(&["load", "t.csv", &url]).says(&["durable"]);
    fixture.load(&["t.csv", &url, "--durability", "none"]).exits(0);
}

#[test]
fn rows_may_be_committed_on_the_way() {
    for strategy in ["values", "row-sql"] {
        for rows in ["1", "7", "100"] {
            let set = format!("rows_per_transaction={rows}");
            let options = ["--strategy", strategy, "--set", &set, "--max-rejects", "1"];
            let lines: String = (1..=50).map(|id| format!("{id},a\n")).collect();
            let file = format!("id,name\n{lines}50,again\n");
            let double = filled();
            load(
                &Fixture::new(),
                &double,
                &file,
                &[&options[..], &["--if-exists", "append"]].concat(),
            )
            .exits(3);
            assert_eq!(double.rows().len(), 51, "{strategy} {rows}");
            // A table that the load has made goes again with it.
            let double = Double::start();
            double.script(|script| {
                script.refuses =
                    Some(Box::new(|row| (row[0] == int(50)).then(|| (9002, "full".to_owned()))))
            });
            load(&Fixture::new(), &double, &file, &options).exits(1).ends_with_nothing_changed();
            assert!(double.state().table.is_none());
        }
    }
}
