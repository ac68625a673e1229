//! `sqlite/bind`: one prepared INSERT, run once a row, its values bound where they lie.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rusqlite::ffi;

use crate::error::Result;
use crate::pipe::encode::{self, Shape};
use crate::pipe::{Ack, Checksum, Chunk, Encode, Wire};
use crate::plan::{Facts, OnConflict, Plan, Request, Verify};
use crate::target::sqlite::cells::CellEncoder;
use crate::target::sqlite::ddl::Insert;
use crate::target::sqlite::load::{self, SqliteLoad, Transaction, Writing};
use crate::target::sqlite::statement::{Statement, Step, fault, left_out, refusal};
use crate::target::{Fit, Knob, Knobs, Lane, Load, Memory, Strategy};

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

    fn begin<'a>(&self, plan: &'a Plan, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        SqliteLoad::start(Bind, plan, stop)
    }
}

impl Writing for Bind {
    fn encoder(&self, shape: Arc<Shape>, plan: &Plan) -> Box<dyn Encode> {
        encode::encoder(shape, CellEncoder::new(&plan.choice.columns))
    }

    fn lane<'l>(
        &'l mut self,
        transaction: Transaction<'l>,
        plan: &'l Plan,
    ) -> Result<Box<dyn Lane + 'l>> {
        let columns = plan.choice.columns.len();
        let statement =
            Statement::prepare(transaction.session, Insert::of(plan).prepared(columns).as_bytes())?;
        Ok(Box::new(BindLane {
            transaction,
            statement,
            columns,
            skips: plan.request.on_conflict == OnConflict::Skip,
            sums: plan.request.verify == Verify::Checksum,
        }))
    }
}

struct BindLane<'l> {
    statement: Statement<'l>,
    transaction: Transaction<'l>,
    columns: usize,
    skips: bool,
    sums: bool,
}

impl Lane for BindLane<'_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let mut ack =
            Ack { checksum: self.sums.then(|| Checksum::new(self.columns)), ..Ack::default() };
        let session = self.transaction.session;
        for row in 0..wire.rows.len() {
            let cells = &wire.cells[row * self.columns..(row + 1) * self.columns];
            // SAFETY: the encoder made the spans inside this chunk and this wire; both are borrowed until `send` returns, and
            // every parameter is bound anew before the next step or let go of below.
            let bound =
                unsafe { self.statement.bind(cells, |home, span| wire.value(chunk, home, span)) };
            if bound != ffi::SQLITE_OK {
                let (code, message) = session.last_failure();
                let Some((code, column)) = refusal(code, &message) else {
                    return Err(session.last_error());
                };
                ack.faults.push(fault(row, code, column, message));
                continue;
            }
            match self.statement.step(session)? {
                Step::Done if session.connection().changes() == 0 => match self.skips {
                    true => ack.skipped += 1,
                    false => ack.faults.push(left_out(row)),
                },
                Step::Done => {
                    ack.loaded += 1;
                    if let Some(sums) = &mut ack.checksum {
                        sums.add_row(cells, chunk, wire);
                    }
                    self.transaction.wrote(1)?;
                }
                Step::Refused(code, column, message) => {
                    self.transaction.refused(&message)?;
                    ack.faults.push(fault(row, code, column, message));
                }
            }
        }
        self.statement.forget();
        Ok(ack)
    }
}
