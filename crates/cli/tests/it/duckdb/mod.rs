//! DuckDB, through the library that `INRUSH_DUCKDB_LIB` names or `scripts/servers.sh duckdb-1.5` has fetched.

use std::path::PathBuf;
use std::sync::Once;

use crate::fixture::{Fixture, repository, some};
use crate::servers::{Rows, ask};
pub(crate) use place::File;

/// What the contract asks of it.
mod place;

/// Values: what the database has afterwards is what the file says.
mod values;

/// Tables that are there, of every type, and what becomes of them.
mod tables;

/// Keys and constraints, and rows that break them.
mod keys;

/// Loads that fail, are killed or stopped; libraries and databases that are none.
mod failures;

/// Every way to write.
const STRATEGIES: [&str; 3] = ["duckdb/arrow", "duckdb/appender", "duckdb/prepared"];

/// All of them where the tests take their time, else one, another for each test: each load costs this engine a tenth of a second.
fn some_strategies() -> Vec<&'static str> {
    some(STRATEGIES.to_vec())
}

const VARIABLE: &str = "INRUSH_DUCKDB_LIB";

/// Where the library is, for this process and for those that it starts. Without one the tests are skipped, visibly.
pub(crate) fn library() -> Option<PathBuf> {
    static FOUND: Once = Once::new();
    FOUND.call_once(|| {
        let fetched = repository("target/servers/duckdb-1.5/libduckdb.so");
        if std::env::var_os(VARIABLE).is_none() && fetched.exists() {
            // SAFETY: the first thing that a test of DuckDB does, and no other test reads the environment meanwhile: nextest gives each
            // a process of its own, and for tests that share one `make test` has set the variable.
            unsafe { std::env::set_var(VARIABLE, fetched) };
        }
    });
    let found = std::env::var_os(VARIABLE).map(PathBuf::from);
    if found.is_none() {
        assert!(std::env::var("CI").is_err(), "no libduckdb to test with: `make test` fetches it");
        eprintln!("SKIPPED: no libduckdb to test with: `make test` fetches it");
    }
    found
}

/// An empty directory, if there is a library to test with.
pub(crate) fn fixture() -> Option<Fixture> {
    library().map(|_| Fixture::new())
}

/// What a query answers.
#[track_caller]
fn rows(fixture: &Fixture, db: &str, sql: &str) -> Rows {
    ask(&format!("duckdb:{}", fixture.path(db).display()), sql)
}

/// Rows with `|` between their values, and `~` for NULL.
#[track_caller]
pub(crate) fn lines(fixture: &Fixture, db: &str, sql: &str) -> Vec<String> {
    let value = |value: Option<String>| value.unwrap_or_else(|| "~".to_owned());
    let line = |row: Vec<Option<String>>| row.into_iter().map(value).collect::<Vec<_>>().join("|");
    rows(fixture, db, sql).into_iter().map(line).collect()
}

/// Makes a database, or changes one.
#[track_caller]
fn sql(fixture: &Fixture, db: &str, sql: &str) {
    rows(fixture, db, sql);
}

/// A table's definition.
#[track_caller]
fn columns(fixture: &Fixture, db: &str, table: &str) -> String {
    let sql = format!(
        "SELECT column_name || ' ' || data_type FROM duckdb_columns() WHERE table_name = '{table}' ORDER BY column_index"
    );
    lines(fixture, db, &sql).join(", ")
}
