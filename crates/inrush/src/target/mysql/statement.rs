//! The lane of every strategy: one statement after another, and what the server says of its rows.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::{Error, Result};
use crate::pipe::{Ack, Cell, Checksum, Chunk, Code, RowFault, Wire};
use crate::plan::{Lesson, OnConflict, Plan, Verify};
use crate::target::Lane;
use crate::target::mysql::session::{Done, Failure, Session, column_named, fault_code};
use crate::target::mysql::staging;

/// Rows `from..to` of a wire.
#[derive(Clone, Copy)]
pub(super) struct Batch<'w> {
    pub(super) chunk: &'w Chunk,
    pub(super) wire: &'w Wire,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) columns: usize,
}

impl<'w> Batch<'w> {
    pub(super) fn bytes(&self) -> &'w [u8] {
        &self.wire.bytes[offset(self.wire, self.from)..offset(self.wire, self.to)]
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = &'w [Cell]> {
        let cells = &self.wire.cells[self.from * self.columns..self.to * self.columns];
        cells.chunks_exact(self.columns)
    }

    /// The bytes of each row.
    pub(super) fn rows_of_bytes(&self) -> impl Iterator<Item = &'w [u8]> {
        let wire = self.wire;
        (self.from..self.to).map(|row| &wire.bytes[offset(wire, row)..offset(wire, row + 1)])
    }

    fn rows(&self) -> usize {
        self.to - self.from
    }

    fn part(&self, from: usize, to: usize) -> Self {
        Self { from, to, ..*self }
    }

    fn halves(&self) -> [Self; 2] {
        let middle = self.from + self.rows() / 2;
        [self.part(self.from, middle), self.part(middle, self.to)]
    }
}

/// Where row `row` begins in the wire's bytes.
fn offset(wire: &Wire, row: usize) -> usize {
    if row == 0 { 0 } else { wire.rows[row - 1].end as usize }
}

/// Writes a batch with one statement.
pub(super) trait Write: Send {
    /// `guard` goes before the statement, with it in one message: a round trip that nobody waits for. Only a writer that
    /// [`Write::may_only_warn`] gets one that isn't empty.
    fn write(
        &mut self,
        session: &mut Session<'_>,
        batch: &Batch<'_>,
        guard: &str,
    ) -> Result<Done, Failure>;

    /// Whether a statement may succeed and yet not have stored every row as it is: LOAD DATA warns where INSERT fails.
    fn may_only_warn(&self) -> bool {
        false
    }
}

/// What bounds the statements and transactions of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Whether a statement that spoilt a row can be taken back: the engine has savepoints, and a transaction is open.
    pub(super) can_undo: bool,
    /// Whether rows stay as soon as their statement is through, in a table that isn't ours alone.
    pub(super) lasting: bool,
    /// Rows in one statement; 0 for as many as a chunk has.
    pub(super) rows_per_statement: usize,
    /// When the lane commits.
    pub(super) commits: Commits,
    /// Bytes of a statement.
    pub(super) bytes_max: usize,
}

/// When a lane commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commits {
    /// Never: the load does.
    Never,
    /// Every statement does so by itself.
    Always,
    /// After so many rows, and at the end.
    Rows(usize),
    /// After so many bytes of rows, and at the end: the table is ours alone until then.
    Bytes(usize),
}

/// What the lanes of a load share with it.
#[derive(Default)]
pub(super) struct Shared {
    /// What a lane found out before it gave up.
    pub(super) lesson: Mutex<Option<Lesson>>,
    /// Rows committed into the table itself.
    pub(super) committed: AtomicU64,
}

/// The load's own connection, or one more.
pub(super) enum Held<'l, 's> {
    Own(Box<Session<'s>>),
    Lent(&'l mut Session<'s>),
}

impl<'s> Held<'_, 's> {
    fn session(&mut self) -> &mut Session<'s> {
        match self {
            Held::Own(session) => session,
            Held::Lent(session) => session,
        }
    }
}

pub(super) struct StatementLane<'l, 's> {
    held: Held<'l, 's>,
    writer: Box<dyn Write + 'l>,
    bounds: Bounds,
    shared: &'l Shared,
    plan: &'l Plan,
    /// Whether the lane has opened a transaction.
    open: bool,
    /// Rows and bytes since the last commit, where the lane commits.
    uncommitted: (usize, usize),
}

/// Why a batch could not be written.
enum Trouble {
    Failed(Failure),
    Ended(Error),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failed(failure)
    }
}

impl<'l, 's> StatementLane<'l, 's> {
    pub(super) fn new(
        held: Held<'l, 's>,
        writer: Box<dyn Write + 'l>,
        bounds: Bounds,
        shared: &'l Shared,
        plan: &'l Plan,
    ) -> Self {
        Self { held, writer, bounds, shared, plan, open: false, uncommitted: (0, 0) }
    }

    fn statements(&mut self, batch: Batch<'_>, ack: &mut Ack) -> Result<(), Trouble> {
        let mut from = batch.from;
        while from < batch.to {
            let to = self.end(&batch, from);
            let piece = batch.part(from, to);
            match piece.bytes().len() > self.bounds.bytes_max {
                // Only a row that is too long by itself comes here.
                true => ack.faults.push(RowFault {
                    row: from as u32,
                    column: None,
                    code: Code::TooLong,
                    message: format!(
                        "the row takes {} bytes, and the server's max_allowed_packet leaves {}",
                        piece.bytes().len(),
                        self.bounds.bytes_max
                    ),
                }),
                false => self.statement(piece, ack)?,
            }
            from = to;
        }
        Ok(())
    }

    /// Where the statement ends that begins with row `from`.
    fn end(&self, batch: &Batch<'_>, from: usize) -> usize {
        let bounds = &self.bounds;
        let room = match bounds.commits {
            Commits::Rows(most) => most - self.uncommitted.0,
            Commits::Never | Commits::Always | Commits::Bytes(_) => usize::MAX,
        };
        let rows = match bounds.rows_per_statement {
            0 => room,
            rows => rows.min(room),
        };
        let to = batch.to.min(from.saturating_add(rows));
        let last = offset(batch.wire, from).saturating_add(bounds.bytes_max);
        let fitting = batch.wire.rows[from..to].partition_point(|row| row.end as usize <= last);
        from + fitting.max(1)
    }

    fn statement(&mut self, batch: Batch<'_>, ack: &mut Ack) -> Result<(), Trouble> {
        let rows = batch.rows();
        self.begin()?;
        let guarded = self.bounds.can_undo && self.writer.may_only_warn();
        let guard = if guarded { "SAVEPOINT inrush; " } else { "" };
        let (fault, stored) = match self.writer.write(self.held.session(), &batch, guard) {
            Ok(done) => match self.judge(&batch, done)? {
                None => return self.count(&batch, done, ack),
                Some(fault) => (fault, done.affected > 0),
            },
            // The engine has undone the whole statement by itself, if it can undo at all.
            Err(failure) => match failure.of_row() {
                Some((code, message)) => (self.fault(batch.from, code, message), false),
                None => return Err(failure.into()),
            },
        };
        if guarded {
            self.held.session().execute("ROLLBACK TO SAVEPOINT inrush")?;
        }
        match rows {
            1 if guarded || !stored => self.refuse(fault, ack),
            1 => Err(Trouble::Ended(
                Error::target(format!(
                    "the server stored a row otherwise than it was sent, and can't take it back: {}",
                    fault.message
                ))
                .advise("load into an engine with transactions, such as InnoDB"),
            )),
            _ if self.bounds.can_undo => {
                batch.halves().into_iter().try_for_each(|half| self.statement(half, ack))
            }
            _ => Err(self.row_by_row(&fault)),
        }
    }

    /// Opens a transaction where the lane commits and there is none.
    fn begin(&mut self) -> Result<(), Failure> {
        if !self.open && matches!(self.bounds.commits, Commits::Rows(_) | Commits::Bytes(_)) {
            self.held.session().execute("START TRANSACTION")?;
            self.open = true;
        }
        Ok(())
    }

    /// What the server left out or changed without calling it an error; `None` when every row is there as it was sent.
    fn judge(&mut self, batch: &Batch<'_>, done: Done) -> Result<Option<RowFault>, Failure> {
        let rows = batch.rows() as u64;
        let counts = match self.plan.request.on_conflict {
            OnConflict::Fail => done.affected == rows,
            // Rows that were there are counted twice or not at all.
            OnConflict::Skip => done.affected <= rows,
            OnConflict::Replace | OnConflict::Update => true,
        };
        if counts && done.warnings == 0 {
            return Ok(None);
        }
        let warnings = self.held.session().warnings()?;
        Ok(match warnings.first() {
            Some(warning) => {
                let code = fault_code(warning.code, "").unwrap_or(Code::Constraint);
                Some(self.fault(batch.from, code, &warning.message))
            }
            None if counts => None,
            // Servers before MySQL 5.7 leave out a row whose key is there without a word.
            None => Some(self.fault(
                batch.from,
                Code::DuplicateKey,
                "the server skipped the row: its key is there already",
            )),
        })
    }

    fn count(&mut self, batch: &Batch<'_>, done: Done, ack: &mut Ack) -> Result<(), Trouble> {
        let rows = batch.rows() as u64;
        let skipped = match self.plan.request.on_conflict {
            OnConflict::Skip => rows - done.affected,
            _ => 0,
        };
        ack.loaded += rows - skipped;
        ack.skipped += skipped;
        if skipped == 0
            && let Some(sums) = &mut ack.checksum
        {
            batch.cells().for_each(|cells| sums.add_row(cells, batch.chunk, batch.wire));
        }
        self.wrote(batch)?;
        Ok(())
    }

    /// Commits when it is time.
    fn wrote(&mut self, batch: &Batch<'_>) -> Result<(), Failure> {
        if self.bounds.lasting {
            self.shared.committed.fetch_add(batch.rows() as u64, Relaxed);
        }
        self.uncommitted.0 += batch.rows();
        self.uncommitted.1 += batch.bytes().len();
        match self.bounds.commits {
            Commits::Rows(most) if self.uncommitted.0 >= most => self.commit(),
            Commits::Bytes(most) if self.uncommitted.1 >= most => self.commit(),
            _ => Ok(()),
        }
    }

    fn commit(&mut self) -> Result<(), Failure> {
        if self.open {
            self.held.session().execute("COMMIT")?;
            self.open = false;
            if matches!(self.bounds.commits, Commits::Rows(_)) && matches!(self.held, Held::Lent(_))
            {
                self.shared.committed.fetch_add(self.uncommitted.0 as u64, Relaxed);
            }
        }
        self.uncommitted = (0, 0);
        Ok(())
    }

    fn refuse(&mut self, fault: RowFault, ack: &mut Ack) -> Result<(), Trouble> {
        // Another lane may have written the row that this one repeats, although it comes later in the source.
        if fault.code == Code::DuplicateKey && self.plan.choice.lanes > 1 {
            return Err(self.in_order(&fault.message));
        }
        ack.faults.push(fault);
        Ok(())
    }

    fn in_order(&self, message: &str) -> Trouble {
        self.learn(Lesson::OneLane);
        Trouble::Ended(Error::target(format!(
            "a row repeats a key, and with several connections nobody can say which came first ({message})"
        )))
    }

    /// What a failure that is no row's fault means.
    fn explain(&mut self, failure: Failure) -> Error {
        // Lanes wait for each other only where they write the same key.
        let waits = matches!(failure, Failure::Server { code: 1205 | 1213, .. });
        if waits && matches!(self.held, Held::Own(_)) && self.plan.choice.lanes > 1 {
            self.learn(Lesson::OneLane);
        }
        if matches!(&failure, Failure::Server { code, .. } if IN_VAIN.contains(code)) {
            self.learn(Lesson::GaveUp);
        }
        self.held.session().explain(failure)
    }

    /// Nothing takes back the rows of a statement that failed halfway, so each row needs a statement of its own.
    fn row_by_row(&self, fault: &RowFault) -> Trouble {
        self.learn(Lesson::Knob("rows_per_statement", "1"));
        Trouble::Ended(
            Error::target(format!(
                "a row was refused, and the table's engine can't undo those before it: {}",
                fault.message
            ))
            .advise("--set rows_per_statement=1 sends each row by itself"),
        )
    }

    /// What the server says of a row; of the hidden table under the name that it will have.
    fn fault(&self, row: usize, code: Code, message: &str) -> RowFault {
        let message = staging::unhidden(message, &self.plan.table);
        let column = column_named(&message).or_else(|| self.only_key_column(code, &message));
        RowFault { row: row as u32, column, code, message }
    }

    /// The column of a primary key that has no other, where the message names that key.
    fn only_key_column(&self, code: Code, message: &str) -> Option<String> {
        let plan = self.plan;
        let key = match &plan.facts.target.table {
            Some(table) if !plan.choice.action.makes_table() => &table.primary_key,
            _ => &plan.request.primary_key,
        };
        match key.as_slice() {
            [column] if code == Code::DuplicateKey && message.ends_with("PRIMARY'") => {
                Some(column.clone())
            }
            _ => None,
        }
    }

    fn learn(&self, lesson: Lesson) {
        let mut known = self.shared.lesson.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert(lesson);
    }
}

impl Lane for StatementLane<'_, '_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let columns = self.plan.choice.columns.len();
        let sums = self.plan.request.verify == Verify::Checksum;
        let mut ack = Ack { checksum: sums.then(|| Checksum::new(columns)), ..Ack::default() };
        let all = Batch { chunk, wire, from: 0, to: wire.rows.len(), columns };
        match self.statements(all, &mut ack) {
            Ok(()) => {}
            Err(Trouble::Ended(error)) => return Err(error),
            Err(Trouble::Failed(failure)) => return Err(self.explain(failure)),
        }
        Ok(ack)
    }

    fn finish(&mut self) -> Result<()> {
        self.commit().map_err(|failure| self.explain(failure))
    }
}

/// The server, or what stands before it, does not take LOAD DATA from this client: no LOCAL, no FILE privilege, a path that it
/// may not read, not found.
const IN_VAIN: [u16; 8] = [1045, 1148, 1227, 1290, 3948, 4166, 13, 29];
