//! `values`, `prepared`, `row-sql` and `insert-delayed`: INSERT, as programs write it.

use std::sync::Arc;

use mysql_async::Value;

use crate::error::Result;
use crate::pipe::encode::Shape;
use crate::pipe::{Cell, Encode};
use crate::plan::{Facts, OnConflict, Plan, Request, Verify};
use crate::target::mysql::ddl::{Insert, quote};
use crate::target::mysql::encode::{self, Stores, Tuples};
use crate::target::mysql::load::{self, Writing};
use crate::target::mysql::session::{Done, Failure, Session};
use crate::target::mysql::statement::{Batch, Write};
use crate::target::mysql::types::Class;
use crate::target::{Fit, Knobs};

/// INSERT as SQL text.
pub(super) enum Text {
    /// As it is.
    Plain,
    /// INSERT DELAYED: the server answers before it writes.
    Delayed,
}

/// A prepared INSERT, run once a row.
pub(super) struct Prepared;

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
        return unusable("of a queued row nobody learns whether its key was there");
    }
    // A row that is refused when its turn comes is missing without a word; only the count tells.
    if request.verify == Verify::None {
        return unusable(
            "of a queued row nobody learns whether it was stored: it takes --verify count",
        );
    }
    load::fit(request, facts, knobs, false)
}

impl Writing for Text {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, plan: &Plan) -> Box<dyn Encode> {
        encode::encoder::<Tuples>(shape, stores, plan)
    }

    fn writer<'p>(
        &self,
        _session: &mut Session<'_>,
        table: &str,
        _stores: &Stores,
        plan: &'p Plan,
    ) -> Result<Box<dyn Write + 'p>> {
        let word = match self {
            Self::Plain => "",
            Self::Delayed => "DELAYED ",
        };
        Ok(Box::new(TupleWriter { insert: Insert::into(table, plan, word), sql: Vec::new() }))
    }

    fn complete(
        &self,
        session: &mut Session<'_>,
        table: &str,
        _plan: &Plan,
    ) -> Result<(), Failure> {
        match self {
            Self::Plain => Ok(()),
            // Waits for the queue: the server writes what is in it before it closes the table.
            Self::Delayed => session.execute(format!("FLUSH TABLES {}", quote(table))).map(drop),
        }
    }
}

struct TupleWriter {
    insert: Insert,
    sql: Vec<u8>,
}

impl Write for TupleWriter {
    fn write(
        &mut self,
        session: &mut Session<'_>,
        batch: &Batch<'_>,
        _guard: &str,
    ) -> Result<Done, Failure> {
        let Self { insert, sql } = self;
        let tuples = batch.bytes();
        sql.clear();
        sql.extend_from_slice(insert.head.as_bytes());
        sql.extend_from_slice(b"VALUES ");
        // Without the last tuple's comma.
        sql.extend_from_slice(&tuples[..tuples.len() - 1]);
        sql.extend_from_slice(insert.tail.as_bytes());
        session.execute(sql)
    }
}

impl Writing for Prepared {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, _plan: &Plan) -> Box<dyn Encode> {
        encode::parameters(shape, stores)
    }

    fn writer<'p>(
        &self,
        _session: &mut Session<'_>,
        table: &str,
        stores: &Stores,
        plan: &'p Plan,
    ) -> Result<Box<dyn Write + 'p>> {
        let Insert { head, tail } = Insert::into(table, plan, "");
        let marks = vec!["?"; plan.choice.columns.len()].join(", ");
        let classes = stores.classes().collect();
        Ok(Box::new(PreparedWriter { sql: format!("{head}VALUES ({marks}){tail}"), classes }))
    }
}

struct PreparedWriter {
    sql: String,
    classes: Vec<Class>,
}

impl Write for PreparedWriter {
    fn write(
        &mut self,
        session: &mut Session<'_>,
        batch: &Batch<'_>,
        _guard: &str,
    ) -> Result<Done, Failure> {
        let bytes = |home, span| batch.wire.value(batch.chunk, home, span).to_vec();
        let mut done = Done { affected: 0, warnings: 0 };
        for cells in batch.cells() {
            let row = cells.iter().zip(&self.classes).map(|(cell, class)| match *cell {
                Cell::Null => Value::NULL,
                Cell::Integer(number) => Value::Int(number),
                Cell::Real(number) => Value::Double(number),
                Cell::Text(home, span) | Cell::Bytes(home, span) => match class {
                    Class::Bit => number(bytes(home, span)),
                    _ => Value::Bytes(bytes(home, span)),
                },
            });
            done = session.execute_prepared(&self.sql, row.collect())?;
        }
        Ok(done)
    }
}

/// The digits of a number for a BIT column, which would take a text for its bits.
fn number(digits: Vec<u8>) -> Value {
    let number = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse().ok());
    number.map_or(Value::Bytes(digits), Value::UInt)
}
