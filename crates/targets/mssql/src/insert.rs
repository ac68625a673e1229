//! `values` and `row-sql`: INSERT as SQL text.

use std::sync::Arc;

use crate::ddl::{self, Table};
use crate::encode::{self, Form, Stores};
use crate::load::{SAVE, Writing};
use crate::session::{self, Failure, Session};
use inrush_core::Job;
use inrush_core::encode::Shape;
use inrush_core::flow::Encode;
use inrush_net::statement::{Batch, Done, Write};

/// INSERT.
pub(super) enum Insert {
    /// With many rows.
    Many,
    /// With one row.
    One,
}

impl Writing for Insert {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder(shape, stores, job, Form::Tuples)
    }

    fn writer<'p, 's: 'p>(
        &self,
        table: &Table,
        _stores: &Stores,
        job: &'p Job,
    ) -> Box<dyn Write<Session<'s>> + 'p> {
        let head = format!("INSERT INTO {} ({}) VALUES ", table.sql(), ddl::columns(job));
        match self {
            Self::Many => Box::new(ManyWriter { head }),
            Self::One => Box::new(RowWriter { head }),
        }
    }
}

/// The statement around tuples, of which the last has a comma behind it. They are text that was checked before, except for the bytes of
/// columns which a new table takes as they are; and those are in hex.
fn statement(head: &str, tuples: &[u8]) -> Result<String, Failure> {
    let tuples =
        std::str::from_utf8(&tuples[..tuples.len() - 1]).map_err(|_| Failure::garbled())?;
    Ok([head, tuples].concat())
}

struct ManyWriter {
    head: String,
}

impl<'s> Write<Session<'s>> for ManyWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        let save = if guarded { SAVE } else { "" };
        let sql = statement(&self.head, batch.bytes())?;
        let affected = session.affected(&[save, &sql].concat())?;
        Ok(Done { affected, warnings: 0 })
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}

struct RowWriter {
    head: String,
}

impl<'s> Write<Session<'s>> for RowWriter {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        if guarded {
            session.execute(SAVE)?;
        }
        let mut done = Done { affected: 0, warnings: 0 };
        for (index, row) in batch.rows_of_bytes().enumerate() {
            let sql = statement(&self.head, row)?;
            done.affected +=
                session.affected(&sql).map_err(|failure| session::at_row(failure, index))?;
        }
        Ok(done)
    }

    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        true
    }
}
