//! SQL Server.
//!
//! ```text
//! connect  URL, environment, instances   facts    what server, schema and table are
//! link     the socket under the driver   types    column types: what each keeps
//! session  one connection                encode   rows as values, and as literals
//! value    what the driver reads         fit      what a load can do and promise
//! blame    which row it was              load     the steps of a load; bulk, insert: ways through it
//! ddl      SQL that names things
//! console  a connection for statements that are no load's
//! ```

mod blame;
mod bulk;
mod connect;
mod console;
mod ddl;
mod doctor;
mod encode;
mod facts;
mod fit;
mod insert;
mod knobs;
mod link;
mod load;
mod lost;
mod session;
mod types;
mod value;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::bulk::Bulk;
use crate::insert::Insert;
use crate::load::MssqlLoad;
use inrush_core::doctor::Doctor;
use inrush_core::error::Result;
use inrush_core::flow::Encode;
use inrush_core::target::Way;
use inrush_core::target::{Console, Jobs, Location, OwnDatabase, Strategy, Target, no_jobs};
use inrush_core::{Column, Job, Request, TargetFacts};

/// Best first; the plainest comes last, for what even that one can't do is what the user reads.
static STRATEGIES: [&dyn Strategy; 3] = [
    &Way {
        id: "mssql/bulk",
        about: "INSERT BULK: rows as the protocol has them (verified against the protocol, not against a server)",
        knobs: &knobs::BULK,
        fit: bulk::fit,
        memory: fit::memory,
        start: |job, stop| MssqlLoad::start(&Bulk, job, stop),
    },
    &Way {
        id: "mssql/values",
        about: "SQL text: INSERT INTO ... VALUES (...), (...) with up to 1000 rows a statement (verified against the protocol, not against a server)",
        knobs: &knobs::STATEMENT,
        fit: fit::fit,
        memory: fit::memory,
        start: |job, stop| MssqlLoad::start(&Insert::Many, job, stop),
    },
    &Way {
        id: "mssql/row-sql",
        about: "SQL text: one INSERT a row (verified against the protocol, not against a server)",
        knobs: &knobs::ROW,
        fit: fit::fit,
        memory: fit::memory,
        start: |job, stop| MssqlLoad::start(&Insert::One, job, stop),
    },
];

/// Servers that speak TDS as SQL Server 2012 and later do.
struct Mssql;

/// The target.
pub static TARGET: &dyn Target = &Mssql;

impl Target for Mssql {
    fn name(&self) -> &'static str {
        "mssql"
    }

    fn spelling(&self) -> &'static str {
        "mssql://USER@HOST:PORT/DATABASE (or sqlserver://)"
    }

    fn claim(&self, text: &str) -> Option<Location> {
        connect::claim(text)
    }

    fn quotes(&self) -> &'static [(char, char)] {
        ddl::QUOTES
    }

    fn strategies(&self) -> &'static [&'static dyn Strategy] {
        &STRATEGIES
    }

    fn facts(
        &self,
        location: &Location,
        table: &str,
        request: &Request,
        stop: &AtomicBool,
    ) -> Result<TargetFacts> {
        let place = Arc::new(connect::place(&location.secret)?);
        let mut session = session::Session::open(&place, stop)?;
        facts::gather(&mut session, table, request)
    }

    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        let place = Arc::new(connect::place(&location.secret)?);
        Ok(Box::new(console::MssqlConsole::open(&place, stop)?))
    }

    fn own_database(&self, name: &str) -> Option<OwnDatabase> {
        Some(OwnDatabase {
            // Everybody may enter this one.
            enter: Some("master".to_owned()),
            make: format!("CREATE DATABASE {name}"),
            drop: format!("DROP DATABASE IF EXISTS {name}"),
        })
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&doctor::MssqlDoctor)
    }

    fn jobs(&self) -> Result<Jobs> {
        Err(no_jobs(
            "SQL Server has no jobs here yet",
            "have every worker write a file, and load them all at once",
        ))
    }

    fn adds_columns(&self) -> bool {
        true
    }

    fn no_steps(&self) -> Option<&'static str> {
        Some("a load there is all or nothing, or commits without a ledger")
    }

    fn nul_fault(&self) -> Option<&'static str> {
        None
    }

    fn spell(&self, column: &Column, job: &Job) -> String {
        ddl::declared(column, job)
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let stores = encode::Stores::of_plan(job);
        Ok(encode::encoder(Arc::clone(&job.shape), &stores, job, encode::Form::Cells))
    }

    fn definition(&self, job: &Job) -> Option<String> {
        Some(ddl::create_table(&ddl::Table::of(&job.facts.target), job))
    }
}
