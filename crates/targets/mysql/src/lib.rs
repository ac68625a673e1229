//! MySQL and MariaDB.
//!
//! ```text
//! connect  URL, environment, option file   facts    what server, database and table are
//! client   the protocol                    types    column types: what each keeps, and how
//! session  one connection                  encode   rows in the notations that the server reads; binary: as parameters
//! ddl      SQL that names things           load     the steps of a load; load_data, insert, csv_file: ways through it
//! tablespace  the table's file, written without the server
//! staging  the hidden table                indexes  what it goes without while its rows come
//! rights   what the login may see
//! blame    what the server says of rows, for the lane (target/statement)
//! console  a connection for statements that are no load's    jobs   what several processes write
//! doctor   what settings and tables put at risk or hold back
//! ```

mod binary;
mod blame;
mod chunk;
mod client;
mod connect;
mod console;
mod csv_file;
mod ddl;
mod doctor;
mod encode;
mod facts;
mod indexes;
mod insert;
mod jobs;
mod knobs;
mod load;
mod load_data;
mod lost;
mod rights;
mod session;
mod staging;
mod tablespace;
mod types;
mod waits;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::load::MysqlLoad;
use crate::load_data::LoadData;
use crate::tablespace::IntoTablespace;
use inrush_core::doctor::Doctor;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Encode;
use inrush_core::target::Way;
use inrush_core::target::{Console, Jobs, Location, OwnDatabase, Strategy, Target};
use inrush_core::{Column, IfExists, Job, Request, TargetFacts, Type};

/// Best first; the plainest comes last, for what even that one can't do is what the user reads.
static STRATEGIES: [&dyn Strategy; 10] = [
    &Way {
        id: "mysql/bulk",
        about: "a prepared INSERT, executed for thousands of binary rows at once; MariaDB only",
        knobs: &knobs::BULK,
        fit: insert::fit_bulk,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&insert::Bulk, job, stop),
    },
    &Way {
        id: "mysql/load-data",
        about: "LOAD DATA LOCAL, streamed from memory over one or several connections",
        knobs: &knobs::BULK,
        fit: load_data::fit_local,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&LoadData::Local, job, stop),
    },
    &Way {
        id: "mysql/load-data-server",
        about: "LOAD DATA from files that are written where the server, on this machine, reads them itself",
        knobs: &knobs::BULK,
        fit: load_data::fit_server,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&LoadData::Server, job, stop),
    },
    &Way {
        id: "mysql/values",
        about: "SQL text: INSERT INTO ... VALUES (...), (...) with many rows a statement",
        knobs: &knobs::STATEMENT,
        fit: insert::fit,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&insert::Text::Plain, job, stop),
    },
    &Way {
        id: "mysql/prepared",
        about: "a prepared INSERT, executed once a row",
        knobs: &knobs::ROW,
        fit: insert::fit_prepared,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&insert::Prepared, job, stop),
    },
    &Way {
        id: "mysql/convert",
        about: "LOAD DATA LOCAL into a MyISAM table, then ALTER TABLE to InnoDB",
        knobs: &knobs::CONVERT,
        fit: load_data::fit_converted,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&LoadData::Converted, job, stop),
    },
    &Way {
        id: "mysql/csv-file",
        about: "a new table of the CSV engine, whose file is written without the server",
        knobs: &knobs::FILE,
        fit: csv_file::fit,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&csv_file::CsvFile, job, stop),
    },
    &IntoTablespace,
    &Way {
        id: "mysql/insert-delayed",
        about: "INSERT DELAYED: the server answers before it writes; for MyISAM, MEMORY and ARCHIVE",
        knobs: &knobs::DELAYED,
        fit: insert::fit_delayed,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&insert::Text::Delayed, job, stop),
    },
    &Way {
        id: "mysql/row-sql",
        about: "SQL text: one INSERT a row, not prepared",
        knobs: &knobs::ROW,
        fit: insert::fit,
        memory: load::memory,
        start: |job, stop| MysqlLoad::start(&insert::Text::Plain, job, stop),
    },
];

/// Servers that speak MySQL's protocol.
struct Mysql;

/// The target.
pub static TARGET: &dyn Target = &Mysql;

impl Target for Mysql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn spelling(&self) -> &'static str {
        "mysql://USER@HOST:PORT/DATABASE (or mariadb://)"
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
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        let mut session = session::Session::take_over(&place, stop)?;
        let facts = facts::gather(&mut session, place.is_local, table, request)?;
        session.hand_on();
        match &facts.table {
            Some(found) if found.storage.is_none() && request.if_exists == IfExists::Replace => {
                Err(Error::target(format!(
                    "{} is a view, and no table can take its place",
                    found.name
                ))
                .advise("--if-exists append writes through a view, where the server lets it"))
            }
            _ => Ok(facts),
        }
    }

    fn console<'a>(
        &self,
        location: &Location,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Console + 'a>> {
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        Ok(Box::new(console::MysqlConsole::open(&place, stop)?))
    }

    fn own_database(&self, name: &str) -> Option<OwnDatabase> {
        Some(OwnDatabase {
            // Any database will do to make another from, and everybody may enter this one.
            enter: Some("information_schema".to_owned()),
            make: format!("CREATE DATABASE {name} CHARACTER SET utf8"),
            drop: format!("DROP DATABASE IF EXISTS {name}"),
        })
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&doctor::MysqlDoctor)
    }

    fn jobs(&self) -> Result<Jobs> {
        Ok(Jobs { tables: &jobs::MysqlJobs, rows: &jobs::MysqlJobs })
    }

    fn nul_fault(&self) -> Option<&'static str> {
        None
    }

    fn takes_offsets(&self, column: &Column) -> bool {
        // Its TIMESTAMP holds moments, whatever their offset.
        let declared = column.declared.as_deref().unwrap_or_default();
        declared.starts_with("timestamp") || column.ty == Type::Timestamp { zone: true }
    }

    fn adds_columns(&self) -> bool {
        true
    }

    fn no_steps(&self) -> Option<&'static str> {
        None
    }

    fn cautions(&self, job: &Job) -> Vec<String> {
        load::cautions(job)
    }

    fn spell(&self, column: &Column, job: &Job) -> String {
        ddl::declared(job, column)
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        let stores = encode::Stores::of(job, load::engine_of(job) != "csv")?;
        Ok(encode::encoder::<encode::Tuples>(Arc::clone(&job.shape), &stores, job))
    }

    fn definition(&self, job: &Job) -> Option<String> {
        Some(ddl::create_table(&job.table, job, load::engine_of(job)))
    }
}
