//! `bulk`, `values`, `prepared`, `row-sql` and `insert-delayed`: INSERT, as programs write it.

use std::sync::Arc;

use crate::binary::{self, BulkRows, Parameters};
use crate::chunk::{CHUNK, Chunk};
use crate::client;
use crate::ddl::{self, Insert, quote};
use crate::encode::{self, Stores, Tuples};
use crate::facts::ServerFacts;
use crate::load::{self, Writing};
use crate::session::{Failure, Session};
use inrush_core::encode::Shape;
use inrush_core::error::Result;
use inrush_core::flow::Encode;
use inrush_core::target::{Fit, Knobs};
use inrush_core::{Facts, Job, OnConflict, Request, Verify};
use inrush_net::statement::{Batch, Done, Write};

/// INSERT as SQL text.
pub(super) enum Text {
    /// As it is.
    Plain,
    /// INSERT DELAYED: the server answers before it writes.
    Delayed,
}

/// A prepared INSERT, run once a row.
pub(super) struct Prepared;

/// A prepared INSERT, run for many rows at once.
pub(super) struct Bulk;

pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    load::fit(request, facts, knobs, true)
}

pub(super) fn fit_delayed(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let unusable = |reason: &str| Fit::Unusable { reason: reason.to_owned() };
    // https://mariadb.com/kb/en/insert-delayed/; other engines answer with error 1616.
    if !matches!(load::engine(request, facts, knobs), "myisam" | "memory" | "archive") {
        return unusable("only MyISAM, MEMORY and ARCHIVE queue rows (--set engine=myisam)");
    }
    if request.on_conflict != OnConflict::Fail {
        return unusable("of a queued row it is not known whether its key was a duplicate");
    }
    // A row that is refused when its turn comes is missing without a word; only the count tells.
    if request.verify == Verify::None {
        return unusable(
            "of a queued row it is not known whether it was stored: it takes --verify count",
        );
    }
    load::fit(request, facts, knobs, false)
}

impl Writing for Text {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<Tuples>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        _stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let word = match self {
            Self::Plain => "",
            Self::Delayed => "DELAYED ",
        };
        if job.kept_columns().is_empty() {
            let insert = Insert::into(table, job, word);
            return Ok(Box::new(TupleWriter { insert, chunk: None, sql: Vec::new() }));
        }
        // A tuple has no place for what another row has.
        let chunk = Some(Chunk::make(session, table, job)?);
        let head = format!("INSERT INTO {CHUNK} ({}) ", ddl::columns(job));
        let insert = Insert { head, tail: String::new() };
        Ok(Box::new(TupleWriter { insert, chunk, sql: Vec::new() }))
    }

    fn complete(
        &self,
        session: &mut Session<'_>,
        table: &str,
        _plan: &Job,
    ) -> Result<Option<u64>, Failure> {
        match self {
            Self::Plain => Ok(None),
            // Waits for the queue: the server writes what is in it before it closes the table.
            Self::Delayed => {
                session.execute(format!("FLUSH TABLES {}", quote(table))).map(|_| None)
            }
        }
    }
}

struct TupleWriter {
    insert: Insert,
    /// Where the rows go first.
    chunk: Option<Chunk>,
    sql: Vec<u8>,
}

impl<'s> Write<Session<'s>> for TupleWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        _guarded: bool,
    ) -> Result<Done, Failure> {
        let Self { insert, chunk, sql } = self;
        if let Some(chunk) = chunk {
            chunk.empty(session)?;
        }
        let tuples = batch.bytes();
        sql.clear();
        sql.extend_from_slice(insert.head.as_bytes());
        sql.extend_from_slice(b"VALUES ");
        // Without the last tuple's comma.
        sql.extend_from_slice(&tuples[..tuples.len() - 1]);
        sql.extend_from_slice(insert.tail.as_bytes());
        let done = session.execute(sql)?;
        match chunk {
            Some(chunk) => chunk.move_on(session, batch, done),
            None => Ok(done),
        }
    }
}

/// Has the server prepare an INSERT of one row.
fn prepare(session: &mut Session<'_>, table: &str, job: &Job) -> Result<client::Prepared> {
    let Insert { head, tail } = Insert::into(table, job, "");
    let marks = vec!["?"; job.choice.columns.len()].join(", ");
    let prepared =
        session.drive(|client| client.prepare(format!("{head}VALUES ({marks}){tail}").as_bytes()));
    prepared.map_err(|failure| session.explain(failure))
}

impl Writing for Prepared {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<Parameters>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let statement = prepare(session, table, job)?;
        let (head, types) = (Parameters::nulls(stores.classes().count()), binary::types(stores));
        Ok(Box::new(PreparedWriter { statement, head, types, parameters: Vec::new() }))
    }
}

struct PreparedWriter {
    statement: client::Prepared,
    /// Bytes of a row that say which values are NULL.
    head: usize,
    /// Types of the parameters, which the server is told each time.
    types: Vec<u8>,
    parameters: Vec<u8>,
}

impl<'s> Write<Session<'s>> for PreparedWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        _guarded: bool,
    ) -> Result<Done, Failure> {
        /// The types come along.
        const SEND_TYPES: u8 = 1;
        let Self { statement, head, types, parameters } = self;
        let mut done = Done { affected: 0, warnings: 0 };
        for row in batch.rows_of_bytes() {
            let (nulls, values) = row.split_at(*head);
            parameters.clear();
            parameters.extend_from_slice(nulls);
            parameters.push(SEND_TYPES);
            parameters.extend_from_slice(types);
            parameters.extend_from_slice(values);
            let one = session.drive(|client| client.execute(*statement, parameters))?;
            done.affected += one.affected;
            done.warnings = done.warnings.saturating_add(one.warnings);
        }
        Ok(done)
    }
}

/// <https://mariadb.com/kb/en/com_stmt_bulk_execute/>
pub(super) fn fit_bulk(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    if !ServerFacts::of(&facts.target).has_bulk {
        let reason = "the server takes no rows of parameters in bulk; MariaDB does, from 10.2 on";
        return Fit::Unusable { reason: reason.to_owned() };
    }
    fit_prepared(request, facts, knobs)
}

/// A prepared statement keeps what it knows of a sequence from one run to the next, while the server closes that: MariaDB 10.11 crashes.
pub(super) fn fit_prepared(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    if facts.kept_table(request).is_some() && ServerFacts::of(&facts.target).asks_sequences {
        let reason =
            "a column's default asks a sequence, and MariaDB crashes where prepared statements do";
        return Fit::Unusable { reason: reason.to_owned() };
    }
    if let Some(column) = facts.kept_columns(request).first() {
        let reason =
            format!("column {column} is to stay as it is, which takes a table in between (values)");
        return Fit::Unusable { reason };
    }
    load::fit(request, facts, knobs, true)
}

impl Writing for Bulk {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<BulkRows>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let statement = prepare(session, table, job)?;
        Ok(Box::new(BulkWriter { statement, types: binary::types(stores) }))
    }
}

struct BulkWriter {
    statement: client::Prepared,
    types: Vec<u8>,
}

impl<'s> Write<Session<'s>> for BulkWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        _guarded: bool,
    ) -> Result<Done, Failure> {
        let Self { statement, types } = self;
        session.drive(|client| client.execute_bulk(*statement, types, batch.bytes()))
    }
}
