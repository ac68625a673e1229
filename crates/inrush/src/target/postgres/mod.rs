//! PostgreSQL.
//!
//! ```text
//! connect  URL, environment, files       facts    what server, schema and table are
//! client   the protocol                  types    column types: what each keeps, and its binary form
//! session  one connection                encode   rows in the notations that the server reads
//! blame    which row it was              fit      what a load can do and promise
//! ddl      SQL that names things         load     the steps of a load; copy, insert: ways through it
//! staging  the hidden table              repeats  rows with one key, when there are many
//! console  a connection for statements that are no load's
//! ```

mod blame;
mod client;
mod connect;
mod console;
mod copy;
mod ddl;
mod encode;
mod facts;
mod fit;
mod insert;
mod knobs;
mod load;
mod lost;
mod repeats;
mod rows;
mod session;
mod staging;
mod types;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::pipe::Encode;
use crate::plan::{Column, Plan, Request, TargetFacts};
use crate::target::postgres::copy::Copy;
use crate::target::postgres::insert::{Prepared, Text, Unnest};
use crate::target::postgres::load::PostgresLoad;
use crate::target::way::Way;
use crate::target::{Console, Location, OwnDatabase, Strategy, Target};

/// Best first; the plainest comes last, for what even that one can't do is what the user reads.
static STRATEGIES: [&dyn Strategy; 7] = [
    &Way {
        id: "postgres/copy-binary",
        about: "COPY in binary, streamed from memory over one or several connections",
        knobs: &knobs::COPY,
        fit: copy::fit_binary,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Copy::Binary, plan, stop),
    },
    &Way {
        id: "postgres/copy-text",
        about: "COPY as text, streamed from memory: the server reads the values itself",
        knobs: &knobs::COPY,
        fit: copy::fit_text,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Copy::Text, plan, stop),
    },
    &Way {
        id: "postgres/copy-server",
        about: "COPY in binary from files that are written where the server, on this machine, reads them itself",
        knobs: &knobs::COPY,
        fit: copy::fit_server,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Copy::Server, plan, stop),
    },
    &Way {
        id: "postgres/unnest",
        about: "a prepared INSERT of arrays, one a column, with many rows a statement",
        knobs: &knobs::ARRAYS,
        fit: insert::fit_unnest,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Unnest, plan, stop),
    },
    &Way {
        id: "postgres/values",
        about: "SQL text: INSERT INTO ... VALUES (...), (...) with many rows a statement",
        knobs: &knobs::STATEMENT,
        fit: fit::fit,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Text::Values, plan, stop),
    },
    &Way {
        id: "postgres/prepared",
        about: "a prepared INSERT, executed once a row",
        knobs: &knobs::ROW,
        fit: fit::fit,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Prepared, plan, stop),
    },
    &Way {
        id: "postgres/row-sql",
        about: "SQL text: one INSERT a row, not prepared",
        knobs: &knobs::ROW,
        fit: fit::fit,
        memory: fit::memory,
        start: |plan, stop| PostgresLoad::start(&Text::Row, plan, stop),
    },
];

/// Servers that speak PostgreSQL's protocol.
pub(super) struct Postgres;

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
        Ok(Box::new(console::PostgresConsole::open(&place, stop)?))
    }

    fn own_database(&self, name: &str) -> Option<OwnDatabase> {
        Some(OwnDatabase {
            enter: None,
            make: format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
            drop: format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
        })
    }

    fn nul_fault(&self) -> Option<&'static str> {
        Some("PostgreSQL's text has none")
    }

    fn spell(&self, column: &Column, _plan: &Plan) -> String {
        ddl::declared(column)
    }

    fn checker(&self, plan: &Plan) -> Result<Box<dyn Encode>> {
        let stores = encode::Stores::of_plan(plan);
        Ok(encode::encoder::<encode::Binary>(Arc::new(plan.shape()), &stores, plan))
    }

    fn definition(&self, plan: &Plan) -> Option<String> {
        Some(ddl::create_table(&ddl::Table::of(&plan.facts.target), plan, false, true))
    }
}
