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
//! console  a connection for commands that are no load's
//! ```

mod bson;
mod client;
mod connect;
mod console;
mod decimal;
mod encode;
mod facts;
mod fields;
mod insert;
mod json;
mod knobs;
mod load;
mod lost;
mod scram;
mod session;
mod staging;
mod types;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::pipe::Encode;
use crate::plan::{Column, Plan, Request, TargetFacts};
use crate::target::mongodb::load::MongoLoad;
use crate::target::way::Way;
use crate::target::{Console, Location, OwnDatabase, Strategy, Target};

static STRATEGIES: [&dyn Strategy; 2] = [
    &Way {
        id: "mongodb/insert-many",
        about: "insert commands with many documents, which are encoded here and go out as they are",
        knobs: &knobs::MANY,
        fit: load::fit,
        memory: load::memory,
        start: |plan, stop| MongoLoad::start(plan, stop),
    },
    &Way {
        id: "mongodb/insert-one",
        about: "an insert command for each document",
        knobs: &knobs::ONE,
        fit: load::fit,
        memory: load::memory,
        start: |plan, stop| MongoLoad::start(plan, stop),
    },
];

/// Servers that speak MongoDB's protocol.
pub(super) struct Mongodb;

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

    fn nul_fault(&self) -> Option<&'static str> {
        // BSON's strings have a length.
        None
    }

    fn spell(&self, column: &Column, plan: &Plan) -> String {
        types::Store::of(column, fields::wishes(plan)).spelling().to_owned()
    }

    fn checker(&self, plan: &Plan) -> Result<Box<dyn Encode>> {
        // The time is for keys that nobody sends.
        let common = Arc::new(encode::Common::of(plan, 0));
        Ok(encode::encoder(Arc::new(plan.shape()), plan, &common))
    }
}
