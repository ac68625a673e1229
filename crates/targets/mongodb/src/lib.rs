//! MongoDB, and what speaks its protocol.
//!
//! ```text
//! connect  the URL                    facts   what server and collection are
//! client   the protocol               types   what each column keeps, and its form in BSON
//! scram    logging in                 fields  which field a column is
//! session  one connection             encode  rows as documents
//! bson     documents, their bytes     insert  the lane: documents behind commands
//! json     JSON to BSON and back      load    the steps of a load
//! decimal  decimals of 128 bits       staging the hidden collection
//! ids      which row of a job a document is
//! keys     by which fields, and values of which kinds, rows are documents
//! console  a connection for commands that are no load's
//! jobs     collections and locks of loads that several processes write
//! ```

mod bson;
mod client;
mod connect;
mod console;
mod decimal;
mod doctor;
mod encode;
mod facts;
mod fields;
mod ids;
mod insert;
mod jobs;
mod json;
mod keys;
mod knobs;
mod load;
mod lost;
mod scram;
mod session;
mod staging;
mod types;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::load::MongoLoad;
use inrush_core::doctor::Doctor;
use inrush_core::error::Result;
use inrush_core::flow::Encode;
use inrush_core::target::Way;
use inrush_core::target::{Console, Jobs, Location, OwnDatabase, Strategy, Target};
use inrush_core::{Column, Job, Request, TargetFacts};

static STRATEGIES: [&dyn Strategy; 2] = [
    &Way {
        id: "mongodb/insert-many",
        about: "insert commands with many documents, which are encoded here and go out as they are",
        knobs: &knobs::MANY,
        fit: load::fit,
        memory: load::memory,
        start: |job, stop| MongoLoad::start(job, stop),
    },
    &Way {
        id: "mongodb/insert-one",
        about: "an insert command for each document",
        knobs: &knobs::ONE,
        fit: load::fit,
        memory: load::memory,
        start: |job, stop| MongoLoad::start(job, stop),
    },
];

/// Servers that speak MongoDB's protocol.
struct Mongodb;

/// The target.
pub static TARGET: &dyn Target = &Mongodb;

impl Target for Mongodb {
    fn name(&self) -> &'static str {
        "mongodb"
    }

    fn spelling(&self) -> &'static str {
        "mongodb://USER@HOST:PORT/DATABASE"
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
        Ok(Box::new(console::MongoConsole::open(&place, stop)?))
    }

    fn own_database(&self, name: &str) -> Option<OwnDatabase> {
        // It is there as soon as something is written into it.
        Some(OwnDatabase {
            enter: Some(name.to_owned()),
            make: "{\"ping\": 1}".to_owned(),
            drop: "{\"dropDatabase\": 1}".to_owned(),
        })
    }

    fn truncating(&self, facts: &TargetFacts) -> &'static str {
        // What `load::is_staged` says.
        match facts::ServerFacts::of(facts).is_router {
            true => "deletes them first, and a load that fails does not bring them back",
            false => "puts the new ones in their place, when all are in",
        }
    }

    fn cautions(&self, job: &Job) -> Vec<String> {
        keys::cautions(&job.request, &job.facts, &job.choice.knobs)
    }

    fn unique_key(&self, table: &str, columns: &[String], facts: &TargetFacts) -> String {
        let seen = &facts::ServerFacts::of(facts).seen;
        let is_missing = |name: &&String| !seen.fields.is_empty() && seen.kind(name).is_none();
        match (columns, columns.iter().find(is_missing)) {
            ([column], Some(_)) if seen.given_id().is_some() => format!(
                "say --primary-key {column} in the place of --key {column}, if that column is what _id holds: the collection's first document has no field {column}"
            ),
            // An index on it would be one of nothing.
            (_, Some(missing)) => format!(
                "name fields that documents have: the collection's first one has no field {missing}"
            ),
            (_, None) => {
                let fields: Vec<String> =
                    columns.iter().map(|name| format!("{name:?}: 1")).collect();
                format!(
                    "make one first: db.getCollection({table:?}).createIndex({{{}}}, {{unique: true}})",
                    fields.join(", ")
                )
            }
        }
    }

    fn suspects(&self) -> &'static str {
        "other programs that write into the collection"
    }

    fn doctor(&self) -> Option<&'static dyn Doctor> {
        Some(&doctor::MongoDoctor)
    }

    fn jobs(&self) -> Result<Jobs> {
        Ok(Jobs { tables: &jobs::MongoJobs, rows: &jobs::MongoJobs })
    }

    fn nul_fault(&self) -> Option<&'static str> {
        // BSON's strings have a length.
        None
    }

    fn spell(&self, column: &Column, job: &Job) -> String {
        types::Store::of(column, fields::wishes(job)).spelling().to_owned()
    }

    fn checker(&self, job: &Job) -> Result<Box<dyn Encode>> {
        // The time is for keys that nobody sends.
        let common = Arc::new(encode::Common::of(job, 0));
        Ok(encode::encoder(Arc::clone(&job.shape), job, &common))
    }
}
