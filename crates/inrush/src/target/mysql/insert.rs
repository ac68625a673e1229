//! `values`, `prepared`, `row-sql` and `insert-delayed`: INSERT, as programs write it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mysql_async::Value;

use crate::error::Result;
use crate::pipe::encode::Shape;
use crate::pipe::{Cell, Encode, Home, Span};
use crate::plan::{Facts, OnConflict, Plan, Request, Verify};
use crate::target::mysql::ddl::{Insert, quote};
use crate::target::mysql::encode::{self, Stores, Tuples};
use crate::target::mysql::knobs;
use crate::target::mysql::load::{self, MysqlLoad, Writing};
use crate::target::mysql::session::{Done, Failure, Session};
use crate::target::mysql::statement::{Batch, Write};
use crate::target::mysql::types::Class;
use crate::target::{Fit, Knob, Knobs, Load, Memory, Strategy};

/// INSERT with many rows.
pub(super) struct Values;

/// A prepared INSERT, run once a row.
pub(super) struct Prepared;

/// INSERT with one row.
pub(super) struct RowSql;

/// INSERT DELAYED.
pub(super) struct InsertDelayed;

macro_rules! strategy {
    ($name:ident, $id:literal, $about:literal, $knobs:path, $fit:path) => {
        impl Strategy for $name {
            fn id(&self) -> &'static str {
                $id
            }

            fn about(&self) -> &'static str {
                $about
            }

            fn knobs(&self) -> &'static [Knob] {
                $knobs()
            }

            fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
                $fit(request, facts, knobs)
            }

            fn memory(&self, _knobs: &Knobs) -> Memory {
                load::memory()
            }

            fn begin<'a>(
                &self,
                plan: &'a Plan,
                stop: &'a AtomicBool,
            ) -> Result<Box<dyn Load + 'a>> {
                MysqlLoad::start(&$name, plan, stop)
            }
        }
    };
}

strategy!(
    Values,
    "mysql/values",
    "SQL text: INSERT INTO ... VALUES (...), (...) with many rows a statement",
    knobs::statement,
    many_lanes
);
strategy!(
    Prepared,
    "mysql/prepared",
    "a prepared INSERT, executed once a row",
    knobs::row,
    many_lanes
);
strategy!(
    RowSql,
    "mysql/row-sql",
    "SQL text: one INSERT a row, not prepared",
    knobs::row,
    many_lanes
);
strategy!(
    InsertDelayed,
    "mysql/insert-delayed",
    "INSERT DELAYED: the server answers before it writes; for MyISAM, MEMORY and ARCHIVE",
    knobs::delayed,
    delayed_fit
);

fn many_lanes(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    load::fit(request, facts, knobs, true)
}

fn delayed_fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
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

impl Writing for Values {
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
        Ok(Box::new(TupleWriter::new(table, plan, "")))
    }
}

impl Writing for RowSql {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, plan: &Plan) -> Box<dyn Encode> {
        Values.encoder(shape, stores, plan)
    }

    fn writer<'p>(
        &self,
        session: &mut Session<'_>,
        table: &str,
        stores: &Stores,
        plan: &'p Plan,
    ) -> Result<Box<dyn Write + 'p>> {
        Values.writer(session, table, stores, plan)
    }
}

impl Writing for InsertDelayed {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, plan: &Plan) -> Box<dyn Encode> {
        Values.encoder(shape, stores, plan)
    }

    fn writer<'p>(
        &self,
        _session: &mut Session<'_>,
        table: &str,
        _stores: &Stores,
        plan: &'p Plan,
    ) -> Result<Box<dyn Write + 'p>> {
        Ok(Box::new(TupleWriter::new(table, plan, "DELAYED ")))
    }

    /// Waits for the queue: the server writes what is in it before it closes the table.
    fn complete(
        &self,
        session: &mut Session<'_>,
        table: &str,
        _plan: &Plan,
    ) -> Result<(), Failure> {
        session.execute(format!("FLUSH TABLES {}", quote(table))).map(drop)
    }
}

struct TupleWriter {
    insert: Insert,
    sql: Vec<u8>,
}

impl TupleWriter {
    fn new(table: &str, plan: &Plan, word: &str) -> Self {
        Self { insert: Insert::into(table, plan, word), sql: Vec::new() }
    }
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
        let bytes = |home, span: Span| {
            let from = match home {
                Home::Chunk => batch.chunk.bytes.as_slice(),
                Home::Wire => batch.wire.values.as_slice(),
            };
            from[span.at as usize..(span.at + span.len) as usize].to_vec()
        };
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
