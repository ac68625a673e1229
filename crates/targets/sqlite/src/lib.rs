//! SQLite, built in: the first load needs no server.
//!
//! ```text
//! facts    what file and table are         load      the steps of a load, in one transaction
//! types    what each column keeps          bind      prepared statements; values: SQL text
//! cells    rows as parameters              pages     pages of b-trees, past the SQL engine (crates/sqlite-pages)
//! session  one connection, its waits       console   a connection for statements that are no load's
//! ddl      SQL that names things           doctor    what the file puts at risk or holds back
//! obstacle what SQLite would refuse        deferred foreign keys that are checked at the end
//! clauses  what the schema says of refused rows
//! orphans  rows that lack their parent when all rows are in
//! ```

mod bind;
mod cells;
mod clauses;
mod console;
mod ddl;
mod deferred;
mod doctor;
mod facts;
mod keys;
mod load;
mod lost;
mod obstacle;
mod orphans;
mod pages;
mod session;
mod statement;
mod types;
mod values;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::Doctor;
use inrush_core::encode::{self, Encode};
use inrush_core::error::Result;
use inrush_core::target::{Console, Jobs, Location, Strategy, Target, no_jobs, path_of};
use inrush_core::{Column, Job, Request, TargetFacts};

/// SQLite database files, and databases in memory: `sqlite::memory:NAME` is the same one for all who name it so in one process, for as
/// long as one of them has it open. A load appends to what is in one; for a command line, whose load is alone, there is none.
struct Sqlite;

/// The target.
pub static TARGET: &dyn Target = &Sqlite;

/// Endings that name an SQLite database without a scheme.
const ENDINGS: [&str; 3] = [".db", ".sqlite", ".sqlite3"];

/// What a database's files are called after its path: the database itself, and SQLite's own beside it.
const JOURNALS: [&str; 4] = ["", "-journal", "-wal", "-shm"];

impl Target for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn spelling(&self) -> &'static str {
        "FILE.db, FILE.sqlite, FILE.sqlite3 or sqlite:PATH"
    }

    fn claim(&self, text: &str) -> Option<Location> {
        let path = path_of(text, self.name(), &ENDINGS)?;
        let files = match session::Home::of(path.as_ref()) {
            session::Home::File(path) => {
                JOURNALS.iter().map(|suffix| session::with_suffix(path, suffix)).collect()
            }
            session::Home::Memory(_) => Vec::new(),
        };
        Some(Location::new(path.to_owned(), path.to_owned(), files))
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        &[&pages::Pages, &bind::Bind, &values::Values, &values::RowSql]
    }

    fn facts(
        &self,
        location: &Location,
        table: &str,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<TargetFacts> {
        let timeout = request
            .knobs
            .get(load::BUSY_TIMEOUT.name)
            .map_or(load::BUSY_TIMEOUT.default, String::as_str);
        // A value that is no number is refused with the other knobs, in words.
        let locks = session::LockWait::new(timeout.parse().unwrap_or(0), stop);
        let path = location.secret.as_ref();
        facts::gather(path, table, request, &locks.noting(path, &location.spare))
    }

    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        Ok(Box::new(console::SqliteConsole::open(location.secret.as_ref(), stop)?))
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&doctor::SqliteDoctor)
    }

    fn jobs(&self) -> Result<Jobs> {
        Err(no_jobs(
            "a SQLite file has one writer at a time",
            "have every worker write a Parquet file, and load them all at once, as in inrush load 'part-*.parquet' FILE.db",
        ))
    }

    fn takes_offsets(&self, column: &Column) -> bool {
        // Timestamps are texts here, and what an existing table calls a column says nothing of offsets.
        column.ty.has_offset() || !column.is_own()
    }

    fn nul_fault(&self) -> Option<&'static str> {
        // https://sqlite.org/nulinstr.html
        Some("SQLite's text functions stop there")
    }

    fn adds_columns(&self) -> bool {
        true
    }

    fn no_steps(&self) -> Option<&'static str> {
        None
    }

    fn spell(&self, column: &Column, job: &Job) -> String {
        ddl::spell(column.ty, job).to_owned()
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let cells = cells::CellEncoder::new(&job.choice.columns);
        Ok(encode::encoder(Arc::clone(&job.shape), cells))
    }

    fn definition(&self, job: &Job) -> Option<String> {
        Some(ddl::create_table(&job.table, &job.choice.columns, &job.request.primary_key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_claimed() {
        let path = |text| Sqlite.claim(text).map(|location| location.secret);
        assert_eq!(path("weather.db").as_deref(), Some("weather.db"));
        assert_eq!(path("/a/B.SQLITE3").as_deref(), Some("/a/B.SQLITE3"));
        assert_eq!(path("sqlite:weather").as_deref(), Some("weather"));
        assert_eq!(path("sqlite:///tmp/weather").as_deref(), Some("/tmp/weather"));
        assert_eq!(path("duckdb:x.db"), None);
        assert_eq!(path("sqlite::memory:m").as_deref(), Some(":memory:m"));
        assert!(Sqlite.claim("sqlite::memory:m").unwrap().files.is_empty());
    }
}
