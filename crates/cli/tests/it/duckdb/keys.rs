use std::fs;

use super::{STRATEGIES, fixture, lines, sql};
use crate::fixture::{Fixture, json_lines};

fn forget_rejects(fixture: &Fixture) {
    for name in fixture.names().iter().filter(|name| name.contains(".rejects.")) {
        fs::remove_file(fixture.path(name)).unwrap();
    }
}

#[test]
fn a_new_table_gets_its_key_and_indexes() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n2,b\n1,a\n");
    for strategy in STRATEGIES {
        let db = format!("{}.duckdb", &strategy[7..]);
        let load = [
            "t.csv",
            &db,
            "--strategy",
            strategy,
            "--primary-key",
            "ID",
            "--index",
            "name",
            "--index",
            "name,id",
        ];
        fixture.load(&load).exits(0);
        let sql = "SELECT constraint_text FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY' \
                   UNION ALL SELECT index_name FROM duckdb_indexes() ORDER BY 1";
        assert_eq!(
            lines(&fixture, &db, sql),
            ["PRIMARY KEY(id)", "t_name", "t_name_id"],
            "{strategy}"
        );
    }
}

#[test]
fn every_constraint_of_a_table_names_its_rows() {
    let Some(fixture) = fixture() else { return };
    fixture.write(
        "t.csv",
        "id,name,size,parent\n\
         1,a,1,1\n\
         2,b,-1,1\n\
         3,c,1,9\n\
         ,d,1,1\n\
         1,e,1,1\n\
         7,f,1,1\n\
         8,a,1,1\n\
         8,g,1,\n\
         9,,1,2\n\
         10,,,2\n",
    );
    for strategy in STRATEGIES {
        let db = format!("{}.duckdb", &strategy[7..]);
        sql(
            &fixture,
            &db,
            "CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2); \
             CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR UNIQUE, size INTEGER CHECK (size > 0), parent INTEGER REFERENCES p (id)); \
             INSERT INTO t VALUES (7, 'old', 1, 1)",
        );
        let load =
            ["t.csv", &db, "--strategy", strategy, "--if-exists", "append", "--max-rejects", "9"];
        fixture.load(&[&load[..], &["--verify", "checksum"]].concat()).exits(3);
        let notes = json_lines(&fixture.read("t.rejects.csv.jsonl"));
        let found: Vec<String> = notes
            .iter()
            .map(|note| {
                format!(
                    "{} {} {}",
                    note["line"],
                    note["code"].as_str().unwrap(),
                    note["column"].as_str().unwrap_or("-")
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                "3 constraint -",
                "4 foreign-key parent",
                "5 not-null id",
                "6 duplicate-key id",
                "7 duplicate-key id",
                "8 duplicate-key name",
            ],
            "{strategy}"
        );
        // A row whose other key a refused row has is a good row.
        assert_eq!(
            lines(&fixture, &db, "FROM t ORDER BY id"),
            ["1|a|1|1", "7|old|1|1", "8|g|1|~", "9|~|1|2", "10|~|~|2"]
        );
        forget_rejects(&fixture);
        fixture.refuses(&load[..6]).says(&["line 2, column id: '1': duplicate key"]);
    }
}

#[test]
fn a_row_whose_key_is_there_is_skipped_or_changes_it() {
    let Some(fixture) = fixture() else { return };
    fixture.write("t.csv", "id,name\n1,new\n2,new\n3,first\n3,last\n");
    for strategy in STRATEGIES {
        for (how, wanted) in [
            ("skip", ["1|old|5", "2|new|9", "3|first|9"]),
            ("update", ["1|new|5", "2|new|9", "3|last|9"]),
            ("replace", ["1|new|9", "2|new|9", "3|last|9"]),
        ] {
            let db = format!("{}-{how}.duckdb", &strategy[7..]);
            sql(
                &fixture,
                &db,
                "CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, n INTEGER DEFAULT 9); INSERT INTO t VALUES (1, 'old', 5)",
            );
            let load = [
                "t.csv",
                &db,
                "--strategy",
                strategy,
                "--if-exists",
                "append",
                "--on-conflict",
                how,
            ];
            if strategy == "duckdb/appender" && how != "skip" {
                fixture.misused(&[&["load"], &load[..]].concat()).says(&["the appender adds rows"]);
                continue;
            }
            let report = fixture.report(&load);
            assert_eq!(lines(&fixture, &db, "FROM t ORDER BY id"), wanted, "{strategy} {how}");
            let skipped = if how == "skip" { 2 } else { 0 };
            assert_eq!(report["rows_skipped"], skipped, "{strategy} {how}");
            assert_eq!(report["rows_loaded"], 4 - skipped);
        }
    }
}
