//! DuckDB, and what speaks MongoDB's protocol: what can be read of them.

use serde_json::Value as Json;

use super::{answer, named, statements};
use crate::contract::Place as _;
use crate::duckdb::File;
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
            "CREATE INDEX \"t w o\" ON t (a, \"b \"\"c\")",
            "CREATE INDEX begins ON t (a)",
            "CREATE INDEX again ON t (id)",
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
    });
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
