//! DuckDB: its library is loaded at run time, and the database is a file.
//!
//! ```text
//! library     the functions that are called      facts     what file and table are
//! connection  one connection, its answers        load      the steps of a load, in one transaction
//! encode      rows as Arrow batches              stream, appender, prepared, read_file: ways through it
//! types, ddl  columns; SQL that names things     sift      which rows the engine would refuse, asked beforehand
//! nested      lists, structs and maps, whose values are documents
//! console     a connection for statements that are no load's
//! ```

mod appender;
mod connection;
mod console;
mod ddl;
mod doctor;
mod encode;
mod facts;
mod knobs;
mod library;
mod load;
mod lost;
mod nested;
mod prepared;
mod read_file;
mod session;
mod sift;
mod stream;
mod sums;
mod types;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::Doctor;
use inrush_core::error::Result;
use inrush_core::flow::Encode;
use inrush_core::target::{
    Console, Fit, Jobs, Knob, Knobs, Load, Location, Memory, Strategy, Target, no_jobs, path_of,
};
use inrush_core::{Column, Facts, Job, Request, TargetFacts};
use load::{DuckLoad, Way};

/// DuckDB database files, and databases in memory: `duckdb::memory:NAME` is the same one for all who name it so in one process, for as
/// long as one of them has it open.
struct DuckDb;

/// The target.
pub static TARGET: &dyn Target = &DuckDb;

/// Endings that name a DuckDB database without a scheme.
const ENDINGS: [&str; 2] = [".duckdb", ".ddb"];

/// A strategy.
struct Duck {
    way: Way,
    id: &'static str,
    about: &'static str,
    knobs: &'static [Knob],
}

static STRATEGIES: [&dyn Strategy; 4] = [
    &Duck {
        way: Way::Arrow,
        id: "duckdb/arrow",
        about: "one INSERT, which takes all rows from an Arrow stream of columns that were encoded on other threads",
        knobs: &knobs::STREAM,
    },
    &Duck {
        way: Way::ReadFile,
        id: "duckdb/read-file",
        about: "DuckDB reads Parquet files by itself, where the table's columns keep what is in them",
        knobs: &knobs::FILE,
    },
    &Duck {
        way: Way::Appender,
        id: "duckdb/appender",
        about: "the library's appender, which takes data chunks of 2,048 rows",
        knobs: &knobs::ROWS,
    },
    &Duck {
        way: Way::Prepared,
        id: "duckdb/prepared",
        about: "one prepared INSERT, run once a row",
        knobs: &knobs::ROWS,
    },
];

impl Strategy for Duck {
    fn id(&self) -> &'static str {
        self.id
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn knobs(&self) -> &'static [Knob] {
        self.knobs
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        load::fit(self.way, request, facts, knobs)
    }

    fn memory(&self, _request: &Request, knobs: &Knobs) -> Memory {
        load::memory(self.way, knobs)
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        DuckLoad::start(self.way, job, stop)
    }
}

impl Target for DuckDb {
    fn name(&self) -> &'static str {
        "duckdb"
    }

    fn spelling(&self) -> &'static str {
        "FILE.duckdb, FILE.ddb or duckdb:PATH"
    }

    fn claim(&self, text: &str) -> Option<Location> {
        let path = path_of(text, self.name(), &ENDINGS)?;
        let files = match path.starts_with(":memory:") {
            true => Vec::new(),
            false => ["", ".wal"].iter().map(|suffix| format!("{path}{suffix}").into()).collect(),
        };
        Some(Location::new(path.to_owned(), path.to_owned(), files))
    }

    fn quotes(&self) -> &'static [(char, char)] {
        ddl::QUOTES
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        &STRATEGIES
    }

    fn compares(&self, request: &Request, facts: &Facts, columns: &[Column]) -> Result<()> {
        load::compares(request, facts, columns)
    }

    fn find_library(&self, named: Option<&Path>) -> Result<()> {
        library::library(named).map(drop)
    }

    fn facts(
        &self,
        location: &Location,
        table: &str,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<TargetFacts> {
        facts::gather(location, table, request, stop)
    }

    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        Ok(Box::new(console::DuckConsole::open(location, stop)?))
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&doctor::DuckDoctor)
    }

    fn jobs(&self) -> Result<Jobs> {
        Err(no_jobs(
            "a DuckDB file has one writer at a time",
            "have every worker write a Parquet file, and load them all at once, as in inrush load 'part-*.parquet' duckdb:FILE",
        ))
    }

    fn nul_fault(&self) -> Option<&'static str> {
        None
    }

    fn takes_nested(&self, column: &Column) -> bool {
        types::nested(column).is_some()
    }

    fn adds_columns(&self) -> bool {
        true
    }

    fn no_steps(&self) -> Option<&'static str> {
        None
    }

    fn spell(&self, column: &Column, job: &Job) -> String {
        types::spell(column.ty, ddl::has_json(job))
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let carried = types::carried_of(job);
        Ok(encode::encoder(Arc::clone(&job.shape), job, &carried))
    }

    fn definition(&self, job: &Job) -> Option<String> {
        Some(ddl::create_table(job, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_claimed() {
        let path = |text| DuckDb.claim(text).map(|location| location.secret);
        assert_eq!(path("weather.duckdb").as_deref(), Some("weather.duckdb"));
        assert_eq!(path("/a/B.DDB").as_deref(), Some("/a/B.DDB"));
        assert_eq!(path("duckdb:weather").as_deref(), Some("weather"));
        assert_eq!(path("duckdb:///tmp/weather").as_deref(), Some("/tmp/weather"));
        assert_eq!(path("duckdb:x.db").as_deref(), Some("x.db"));
        assert_eq!(path("parquet:x.duckdb"), None);
        assert_eq!(path("weather.db"), None);
        assert!(DuckDb.claim("duckdb::memory:m").unwrap().files.is_empty());
    }
}
