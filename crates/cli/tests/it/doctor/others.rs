//! DuckDB, and what speaks MongoDB's protocol: what can be read of them; and the machine.

use std::fs;

use serde_json::Value as Json;

use super::{answer, named, statements};
use crate::contract::Place as _;
use crate::disk::{Disk, has_mounts_of_its_own};
use crate::duckdb::{File, library};
use crate::fixture::{Fixture, Outcome, finish, start};
use crate::mongodb::server::Mongodb;
use crate::servers::{ask, for_each_server};

#[test]
fn an_index_of_duckdb_that_repeats_another_is_named_and_is_gone_after_the_statement() {
    File::for_each(|file| {
        let fixture = file.files();
        let url = format!("duckdb:{}", fixture.path("t.duckdb").display());
        for sql in [
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, \"b \"\"c\" INTEGER)",
            "CREATE INDEX one ON t (a, \"b \"\"c\")",
            "CREATE INDEX \"t w o\" ON t (A, \"b \"\"c\")",
            "CREATE INDEX begins ON t (a)",
            "CREATE INDEX again ON t (ID)",
            "CHECKPOINT",
        ] {
            ask(&url, sql);
        }
        let examined = || -> Json {
            let run = || fixture.inrush(&["doctor", &url, "--json"]).exits(0);
            answer(&fixture.leaves_all(run))
        };
        let found = examined();
        assert_eq!(named(&found), ["slow redundant-index", "slow redundant-index"]);
        for sql in statements(&found) {
            ask(&url, &sql);
        }
        assert_eq!(named(&examined()), [""; 0]);
        let run = fixture.inrush(&["doctor", "none.duckdb"]).exits(1);
        assert!(run.stderr.contains("there is no database none.duckdb"), "{}", run.stderr);
        assert!(!fixture.path("none.duckdb").exists());
        fixture.write("no.duckdb", "These are my notes.\n".repeat(500));
        let run = fixture.inrush(&["doctor", "no.duckdb"]).exits(1);
        run.says(&["no.duckdb is not a DuckDB database", "see what it is: file no.duckdb"]);
    });
}

#[test]
fn free_blocks_of_duckdb_are_worth_a_note_and_the_library_may_be_named() {
    let Some(library) = library() else { return };
    let fixture = Fixture::new();
    let url = format!("duckdb:{}", fixture.path("t.duckdb").display());
    for sql in [
        "CREATE TABLE gone AS SELECT hash(i) AS a, hash(-i) AS b, hash(i * 7) AS c FROM range(1000000) t (i)",
        "CREATE TABLE kept AS SELECT 1 AS a",
        "CHECKPOINT",
        "DROP TABLE gone",
        "CHECKPOINT",
        // What lies behind the free blocks keeps the file from being cut off.
        "CREATE TABLE last AS SELECT hash(i) AS a FROM range(10000) t (i)",
        "CHECKPOINT",
    ] {
        ask(&url, sql);
    }
    let mut command = fixture.command(&["doctor", &url, "--json"]);
    command.env("INRUSH_DUCKDB_LIB", "nowhere.so");
    let run = Outcome::of("inrush doctor".to_owned(), finish(start(&mut command), b""));
    run.exits(2).says(&["INRUSH_DUCKDB_LIB nowhere.so"]);
    command.args(["--duckdb-lib", library.to_str().unwrap()]);
    let run = Outcome::of("inrush doctor".to_owned(), finish(start(&mut command), b"")).exits(0);
    let found = answer(&run);
    assert_eq!(named(&found), ["note free-blocks"], "{found:#}");
    assert!(found["findings"][0]["is"].as_str().unwrap().ends_with("is free"), "{found:#}");
}

#[test]
fn what_the_machine_is_is_said_and_a_disk_that_is_too_small_is_named() {
    let test = "doctor::others::what_the_machine_is_is_said_and_a_disk_that_is_too_small_is_named";
    if !has_mounts_of_its_own(test) {
        return;
    }
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("disk")).unwrap();
    let _disk = Disk::over(fixture.path("disk"), "4m");
    fixture.write("few.csv", "id\n1\n");
    fixture.load(&["few.csv", "disk/t.db"]).exits(0);
    fixture.write("many.csv", "id\n".to_owned() + &"1234567\n".repeat(400_000));
    let people = fixture.inrush(&["doctor", "disk/t.db"]).exits(0);
    people.prints(&[
        "processors",
        "memory",
        "tmpfs",
        "in memory: nothing here outlives the machine",
    ]);
    let found = answer(&fixture.inrush(&["doctor", "disk/t.db", "many.csv", "--json"]).exits(0));
    assert_eq!(named(&found), ["slow disk-space"], "{found:#}");
    assert_eq!(found["findings"][0]["should"], "6.40 MB: twice the source");
    assert_eq!(
        named(&answer(&fixture.inrush(&["doctor", "disk/t.db", "few.csv", "--json"]).exits(0))),
        [""; 0]
    );
}

#[test]
fn an_index_of_mongodb_that_begins_another_is_named_and_is_gone_after_the_command() {
    for_each_server::<Mongodb>(|server| {
        let url = server.url();
        ask(&url, r#"{"insert": "t t", "documents": [{"a": 1, "b": 2}]}"#);
        ask(
            &url,
            r#"{"createIndexes": "t t", "indexes": [{"key": {"a": 1}, "name": "a"}, {"key": {"a": 1, "b": 1}, "name": "a b"}]}"#,
        );
        let examined = || answer(&server.inrush(&["doctor", &url, "--json"]).exits(0));
        let found = examined();
        assert_eq!(named(&found), ["slow redundant-index"]);
        for command in statements(&found) {
            ask(&url, &command);
        }
        assert_eq!(named(&examined()), [""; 0]);
    });
}
