//! `sqlite/values` and `sqlite/row-sql`: INSERT as SQL text, with many rows or with one. What most programs do, and what the
//! faster ways are measured against.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::cells::CellEncoder;
use crate::ddl::Insert;
use crate::load::{self, JOURNAL_MODE, ROWS_PER_STATEMENT, SqliteLoad, Transaction, Writing};
use crate::statement::{self, Statement, Step};
use inrush_core::encode::{self, BadValue, EncodeRow, Row, Shape};
use inrush_core::error::Result;
use inrush_core::flow::{Ack, Cell, Checksum, Chunk, Encode, Home, Span, Wire};
use inrush_core::target::{Fit, Knob, Knobs, Lane, Load, Memory, Strategy};
use inrush_core::{Facts, Job, OnConflict, Request, Verify};

/// SQL text with many rows a statement.
pub(super) struct Values;

/// SQL text with one row a statement.
pub(super) struct RowSql;

impl Strategy for Values {
    fn id(&self) -> &'static str {
        "sqlite/values"
    }

    fn about(&self) -> &'static str {
        "SQL text: INSERT INTO ... VALUES (...), (...) with many rows a statement"
    }

    fn knobs(&self) -> &'static [Knob] {
        load::statement_knobs()
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        // https://sqlite.org/pragma.html#pragma_journal_mode: without a journal SQLite can't undo half a statement.
        if knobs.is(&JOURNAL_MODE, "off") && knobs.count(&ROWS_PER_STATEMENT) > 1 {
            return Fit::Unusable {
                reason:
                    "with journal_mode=off a statement that fails at its second row can't be undone"
                        .to_owned(),
            };
        }
        load::fit(request, facts, knobs)
    }

    fn memory(&self, _request: &Request, knobs: &Knobs) -> Memory {
        text_memory(knobs)
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        SqliteLoad::start(Values, job, stop)
    }
}

impl Strategy for RowSql {
    fn id(&self) -> &'static str {
        "sqlite/row-sql"
    }

    fn about(&self) -> &'static str {
        "SQL text: one INSERT a row, not prepared"
    }

    fn knobs(&self) -> &'static [Knob] {
        load::row_knobs()
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        load::fit(request, facts, knobs)
    }

    fn memory(&self, _request: &Request, knobs: &Knobs) -> Memory {
        text_memory(knobs)
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        SqliteLoad::start(RowSql, job, stop)
    }
}

/// Cells, and the same values as text: an empty field takes "NULL,".
fn text_memory(knobs: &Knobs) -> Memory {
    let cells = load::memory(knobs);
    Memory { wire_bytes_per_byte: cells.wire_bytes_per_byte + 8, ..cells }
}

impl Writing for Values {
    fn encoder(&self, shape: Arc<Shape>, job: &Job) -> Box<dyn Encode> {
        encode::encoder(shape, TupleEncoder::new(job))
    }

    fn lane<'l>(
        &'l mut self,
        transaction: Transaction<'l>,
        job: &'l Job,
    ) -> Result<Box<dyn Lane + 'l>> {
        let rows = job.choice.knobs.count(&ROWS_PER_STATEMENT) as usize;
        Ok(Box::new(TextLane::new(transaction, job, rows)))
    }
}

impl Writing for RowSql {
    fn encoder(&self, shape: Arc<Shape>, job: &Job) -> Box<dyn Encode> {
        Values.encoder(shape, job)
    }

    fn lane<'l>(
        &'l mut self,
        transaction: Transaction<'l>,
        job: &'l Job,
    ) -> Result<Box<dyn Lane + 'l>> {
        Ok(Box::new(TextLane::new(transaction, job, 1)))
    }
}

/// Encodes a row as `(1,'a',NULL),` after its cells.
struct TupleEncoder {
    cells: CellEncoder,
    columns: usize,
}

impl TupleEncoder {
    fn new(job: &Job) -> Self {
        let columns = &job.choice.columns;
        Self { cells: CellEncoder::new(columns), columns: columns.len() }
    }
}

impl EncodeRow for TupleEncoder {
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        self.cells.row(row, wire)?;
        let Wire { cells, values, bytes, .. } = wire;
        for (index, cell) in cells[cells.len() - self.columns..].iter().enumerate() {
            bytes.push(if index == 0 { b'(' } else { b',' });
            literal(*cell, |home, span| row.bytes(home, span, values), bytes);
        }
        bytes.extend_from_slice(b"),");
        Ok(())
    }
}

/// A value as SQL text.
fn literal<'b>(cell: Cell, bytes: impl Fn(Home, Span) -> &'b [u8], out: &mut Vec<u8>) {
    // Writing to memory doesn't fail.
    match cell {
        Cell::Null => out.extend_from_slice(b"NULL"),
        // The most negative integer has no literal: its digits alone are out of range before the sign is seen.
        Cell::Integer(i64::MIN) => out.extend_from_slice(b"(-9223372036854775807-1)"),
        Cell::Integer(number) => drop(write!(out, "{number}")),
        // 17 significant digits and an exponent: exact, and never taken for an integer.
        Cell::Real(number) if number.is_finite() => drop(write!(out, "{number:.16e}")),
        // Infinity has no literal, but a number that is too large is it.
        Cell::Real(number) => {
            out.extend_from_slice(if number > 0.0 { b"9e999" } else { b"-9e999" })
        }
        Cell::Text(home, span) => {
            out.push(b'\'');
            for (index, part) in bytes(home, span).split(|b| *b == b'\'').enumerate() {
                if index > 0 {
                    out.extend_from_slice(b"''");
                }
                out.extend_from_slice(part);
            }
            out.push(b'\'');
        }
        Cell::Bytes(home, span) => {
            out.extend_from_slice(b"x'");
            bytes(home, span).iter().for_each(|byte| drop(write!(out, "{byte:02x}")));
            out.push(b'\'');
        }
    }
}

struct TextLane<'l> {
    transaction: Transaction<'l>,
    insert: Insert,
    columns: usize,
    rows_per_statement: usize,
    skips: bool,
    sums: bool,
    sql: Vec<u8>,
}

impl<'l> TextLane<'l> {
    fn new(transaction: Transaction<'l>, job: &Job, rows_per_statement: usize) -> Self {
        let skips = job.request.on_conflict == OnConflict::Skip;
        let sums = job.request.verify == Verify::Checksum;
        // A statement that skipped some rows does not say which, nor whether a trigger left one of them out.
        let is_single = skips && (sums || transaction.clauses.leave_out);
        let rows_per_statement = if is_single { 1 } else { rows_per_statement };
        Self {
            insert: Insert::of(job, transaction.clauses),
            columns: job.choice.columns.len(),
            rows_per_statement,
            skips,
            sums,
            transaction,
            sql: Vec::new(),
        }
    }

    /// Sends rows `from..to` as one statement; where a row in it is refused, in two halves, down to the row.
    fn send_rows(
        &mut self,
        chunk: &Chunk,
        wire: &Wire,
        from: usize,
        to: usize,
        ack: &mut Ack,
    ) -> Result<()> {
        let session = self.transaction.session;
        let start = if from == 0 { 0 } else { wire.rows[from - 1].end as usize };
        // Without the last tuple's comma.
        let end = wire.rows[to - 1].end as usize - 1;
        self.sql.clear();
        self.sql.extend_from_slice(self.insert.head.as_bytes());
        self.sql.extend_from_slice(&wire.bytes[start..end]);
        self.sql.extend_from_slice(self.insert.tail.as_bytes());
        // A trigger's RAISE(FAIL) keeps the rows before the one it refuses; the savepoint takes them back before the halves
        // are sent.
        let several = to - from > 1;
        if several {
            session.execute("SAVEPOINT inrush_statement")?;
        }
        let step =
            self.transaction.run(|| Statement::prepare(session, &self.sql)?.step(session))?;
        let rows = (to - from) as u64;
        let changed = session.connection().changes();
        let is_short = matches!(step, Step::Done) && changed < rows;
        let cells = &wire.cells[from * self.columns..to * self.columns];
        let left_out = is_short
            && match several {
                true => !self.skips,
                false => !self.transaction.is_skipped(cells, chunk, wire)?,
            };
        if let Step::Refused(code, _, message) = &step {
            self.transaction.refused(*code, message)?;
        }
        if several {
            if left_out || matches!(step, Step::Refused(..)) {
                session.execute("ROLLBACK TO inrush_statement")?;
            }
            session.execute("RELEASE inrush_statement")?;
        }
        match step {
            Step::Done if left_out && !several => {
                ack.faults.push(statement::left_out(from));
                Ok(())
            }
            Step::Done if !left_out => {
                ack.loaded += changed;
                ack.skipped += rows - changed;
                if let Some(sums) = &mut ack.checksum
                    && changed == rows
                {
                    for cells in cells.chunks_exact(self.columns) {
                        sums.add_row(cells, chunk, wire);
                    }
                }
                self.transaction.wrote(changed)
            }
            Step::Refused(code, column, message) if to - from == 1 => {
                ack.faults.push(self.transaction.fault(from, code, column, message));
                Ok(())
            }
            Step::Refused(..) | Step::Done => {
                let middle = from + (to - from) / 2;
                self.send_rows(chunk, wire, from, middle, ack)?;
                self.send_rows(chunk, wire, middle, to, ack)
            }
        }
    }
}

impl Lane for TextLane<'_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let mut ack =
            Ack { checksum: self.sums.then(|| Checksum::new(self.columns)), ..Ack::default() };
        let mut from = 0;
        while from < wire.rows.len() {
            let orphan = |transaction: &mut Transaction<'_>, row: usize| {
                let cells = &wire.cells[row * self.columns..(row + 1) * self.columns];
                transaction.orphan(row, cells, chunk, wire)
            };
            if let Some(orphan) = orphan(&mut self.transaction, from) {
                ack.faults.push(orphan);
                from += 1;
                continue;
            }
            let room = usize::try_from(self.transaction.room()).unwrap_or(usize::MAX);
            let to = from.saturating_add(self.rows_per_statement.min(room)).min(wire.rows.len());
            let to = (from + 1..to)
                .find(|row| orphan(&mut self.transaction, *row).is_some())
                .unwrap_or(to);
            self.send_rows(chunk, wire, from, to, &mut ack)?;
            from = to;
        }
        Ok(ack)
    }
}
