//! `sqlite/bind`: one prepared INSERT, run once a row, its values bound where they lie.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rusqlite::ffi;

use crate::cells::CellEncoder;
use crate::ddl::Insert;
use crate::load::{self, SqliteLoad, Transaction, Writing};
use crate::statement::{Statement, Step, left_out, refusal};
use inrush_core::encode::{self, Shape};
use inrush_core::error::Result;
use inrush_core::flow::{Ack, Checksum, Chunk, Encode, Wire};
use inrush_core::target::{Fit, Knob, Knobs, Lane, Load, Memory, Strategy};
use inrush_core::{Facts, Job, Request, Verify};

/// The strategy.
pub(super) struct Bind;

impl Strategy for Bind {
    fn id(&self) -> &'static str {
        "sqlite/bind"
    }

    fn about(&self) -> &'static str {
        "one prepared INSERT, run once a row; values are parsed on other threads and bound without a copy"
    }

    fn knobs(&self) -> &'static [Knob] {
        load::row_knobs()
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        load::fit(request, facts, knobs)
    }

    fn memory(&self, _request: &Request, knobs: &Knobs) -> Memory {
        load::memory(knobs)
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        SqliteLoad::start(Bind, job, stop)
    }
}

impl Writing for Bind {
    fn encoder(&self, shape: Arc<Shape>, job: &Job) -> Box<dyn Encode> {
        encode::encoder(shape, CellEncoder::new(&job.choice.columns))
    }

    fn lane<'l>(
        &'l mut self,
        transaction: Transaction<'l>,
        job: &'l Job,
    ) -> Result<Box<dyn Lane + 'l>> {
        let columns = job.choice.columns.len();
        let insert = Insert::of(job, transaction.clauses).prepared;
        let statement = Statement::prepare(transaction.session, insert.as_bytes())?;
        Ok(Box::new(BindLane {
            transaction,
            statement,
            columns,
            sums: job.request.verify == Verify::Checksum,
        }))
    }
}

struct BindLane<'l> {
    statement: Statement<'l>,
    transaction: Transaction<'l>,
    columns: usize,
    sums: bool,
}

impl Lane for BindLane<'_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let mut ack =
            Ack { checksum: self.sums.then(|| Checksum::new(self.columns)), ..Ack::default() };
        let session = self.transaction.session;
        for row in 0..wire.rows.len() {
            let cells = &wire.cells[row * self.columns..(row + 1) * self.columns];
            if let Some(orphan) = self.transaction.orphan(row, cells, chunk, wire) {
                ack.faults.push(orphan);
                continue;
            }
            // SAFETY: the encoder made the spans inside this chunk and this wire; both are borrowed until `send` returns, and
            // every parameter is bound anew before the next step or let go of below.
            let bound =
                unsafe { self.statement.bind(cells, |home, span| wire.value(chunk, home, span)) };
            if bound != ffi::SQLITE_OK {
                let (code, message) = session.last_failure();
                let Some((code, column)) = refusal(code, &message) else {
                    return Err(session.last_error());
                };
                ack.faults.push(self.transaction.fault(row, code, column, message));
                continue;
            }
            match self.transaction.run(|| self.statement.step(session))? {
                Step::Done if session.connection().changes() == 0 => {
                    match self.transaction.is_skipped(cells, chunk, wire)? {
                        true => ack.skipped += 1,
                        false => ack.faults.push(left_out(row)),
                    }
                }
                Step::Done => {
                    ack.loaded += 1;
                    if let Some(sums) = &mut ack.checksum {
                        sums.add_row(cells, chunk, wire);
                    }
                    self.transaction.wrote(1)?;
                }
                Step::Refused(code, column, message) => {
                    self.transaction.refused(code, &message)?;
                    ack.faults.push(self.transaction.fault(row, code, column, message));
                }
            }
        }
        self.statement.forget();
        Ok(ack)
    }
}
