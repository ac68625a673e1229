//! PostgreSQL.
//!
//! ```text
//! connect  URL, environment, files       facts    what server, schema and table are
//! client   the protocol                  types    column types: what each keeps, and its binary form
//! session  one connection                encode   rows in the notations that the server reads
//! blame    which row it was              fit      what a load can do and promise
//! ddl      SQL that names things         load     the steps of a load; copy, insert: ways through it
//! staging  the hidden table              repeats  rows with one key, when there are many
//! orphans  rows whose foreign key refers to their own table, and finds no row    filter  leaves out what is known to be bad
//! console  a connection for statements that are no load's    jobs   what several processes write
//! doctor   what settings and tables put at risk or hold back
//! ```

mod blame;
mod client;
mod connect;
mod console;
mod copy;
mod ddl;
mod doctor;
mod encode;
mod facts;
mod filter;
mod fit;
mod insert;
mod jobs;
mod knobs;
mod load;
mod lost;
mod orphans;
mod repeats;
mod rows;
mod session;
mod staging;
mod types;
mod waits;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::copy::Copy;
use crate::insert::{Prepared, Text, Unnest};
use crate::load::PostgresLoad;
use inrush_core::doctor::Doctor;
use inrush_core::error::Result;
use inrush_core::flow::Encode;
use inrush_core::target::Way;
use inrush_core::target::{Console, Jobs, Location, OwnDatabase, Strategy, Target};
use inrush_core::{Column, Job, Request, TargetFacts};

/// Best first; the plainest comes last, for what even that one can't do is what the user reads.
static STRATEGIES: [&dyn Strategy; 7] = [
    &Way {
        id: "postgres/copy-binary",
        about: "COPY in binary, streamed from memory over one or several connections",
        knobs: &knobs::COPY,
        fit: copy::fit_binary,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Copy::Binary, job, stop),
    },
    &Way {
        id: "postgres/copy-text",
        about: "COPY as text, streamed from memory: the server reads the values itself",
        knobs: &knobs::COPY,
        fit: copy::fit_text,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Copy::Text, job, stop),
    },
    &Way {
        id: "postgres/copy-server",
        about: "COPY in binary from files that are written where the server, on this machine, reads them itself",
        knobs: &knobs::COPY,
        fit: copy::fit_server,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Copy::Server, job, stop),
    },
    &Way {
        id: "postgres/unnest",
        about: "a prepared INSERT of arrays, one a column, with many rows a statement",
        knobs: &knobs::ARRAYS,
        fit: insert::fit_unnest,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Unnest, job, stop),
    },
    &Way {
        id: "postgres/values",
        about: "SQL text: INSERT INTO ... VALUES (...), (...) with many rows a statement",
        knobs: &knobs::STATEMENT,
        fit: insert::fit,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Text::Values, job, stop),
    },
    &Way {
        id: "postgres/prepared",
        about: "a prepared INSERT, executed once a row",
        knobs: &knobs::ROW,
        fit: insert::fit,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Prepared, job, stop),
    },
    &Way {
        id: "postgres/row-sql",
        about: "SQL text: one INSERT a row, not prepared",
        knobs: &knobs::ROW,
        fit: insert::fit,
        memory: fit::memory,
        start: |job, stop| PostgresLoad::start(&Text::Row, job, stop),
    },
];

/// Servers that speak PostgreSQL's protocol.
struct Postgres;

/// The target.
pub static TARGET: &dyn Target = &Postgres;

impl Target for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn spelling(&self) -> &'static str {
        "postgres://USER@HOST:PORT/DATABASE"
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
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        let mut session = session::Session::take_over(&place, stop)?;
        let facts = facts::gather(&mut session, table, request)?;
        session.hand_on();
        Ok(facts)
    }

    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        Ok(Box::new(console::PostgresConsole::open(&place, stop)?))
    }

    fn own_database(&self, name: &str) -> Option<OwnDatabase> {
        Some(OwnDatabase {
            enter: None,
            make: format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
            drop: format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        })
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&doctor::PostgresDoctor)
    }

    fn jobs(&self) -> Result<Jobs> {
        Ok(Jobs { tables: &jobs::PostgresJobs, rows: &jobs::PostgresJobs })
    }

    fn nul_fault(&self) -> Option<&'static str> {
        Some("PostgreSQL's text has none")
    }

    fn takes_nested(&self, column: &Column) -> bool {
        column.declared.as_deref().is_some_and(types::is_array)
    }

    fn adds_columns(&self) -> bool {
        true
    }

    fn no_steps(&self) -> Option<&'static str> {
        None
    }

    fn cautions(&self, job: &Job) -> Vec<String> {
        [fit::cautions(job), encode::cautions(job)].concat()
    }

    fn compares_by(&self, request: &Request, facts: &TargetFacts) -> Result<()> {
        facts::compares_by(request, facts)
    }

    fn spell(&self, column: &Column, _plan: &Job) -> String {
        ddl::declared(column)
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let stores = encode::Stores::of_plan(job);
        Ok(encode::encoder::<encode::Binary>(Arc::clone(&job.shape), &stores, job))
    }

    fn definition(&self, job: &Job) -> Option<String> {
        Some(ddl::create_table(&ddl::Table::of(&job.facts.target), job, false, true))
    }
}
