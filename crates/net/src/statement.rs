//! The lane of targets that talk to a server: one statement after another, and what the server says of its rows.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::staging;
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Ack, Cell, Checksum, Chunk, Code, RowFault, Wire};
use inrush_core::target::{Knob, Lane};
use inrush_core::{Job, OnConflict, Retry, Verify};

/// Rows `from..to` of a wire.
#[derive(Clone, Copy)]
pub struct Batch<'w> {
    /// What was read.
    pub chunk: &'w Chunk,
    /// What was made of it.
    pub wire: &'w Wire,
    /// The first row.
    pub from: usize,
    /// The row behind the last.
    pub to: usize,
    /// Parameters of a row.
    pub columns: usize,
    /// Whether these rows have been refused together with others: one of them may be bad.
    pub suspect: bool,
}

impl<'w> Batch<'w> {
    /// The bytes of all rows.
    pub fn bytes(&self) -> &'w [u8] {
        &self.wire.bytes[offset(self.wire, self.from)..offset(self.wire, self.to)]
    }

    /// The parameters of each row.
    pub fn cells(&self) -> impl Iterator<Item = &'w [Cell]> {
        let cells = &self.wire.cells[self.from * self.columns..self.to * self.columns];
        cells.chunks_exact(self.columns)
    }

    /// The bytes of each row.
    pub fn rows_of_bytes(&self) -> impl Iterator<Item = &'w [u8]> {
        let wire = self.wire;
        (self.from..self.to).map(|row| &wire.bytes[offset(wire, row)..offset(wire, row + 1)])
    }

    fn rows(&self) -> usize {
        self.to - self.from
    }

    fn part(&self, from: usize, to: usize) -> Self {
        Self { from, to, ..*self }
    }
}

/// Where row `row` begins in the wire's bytes.
fn offset(wire: &Wire, row: usize) -> usize {
    if row == 0 { 0 } else { wire.rows[row - 1].end as usize }
}

/// A connection on which a lane runs one statement after another.
pub trait Connection: Send {
    /// Why a statement failed.
    type Failure: Send;

    /// Opens a transaction that the lane commits.
    fn begin(&mut self) -> Result<(), Self::Failure>;

    /// Ends it, and its rows stay.
    fn commit(&mut self) -> Result<(), Self::Failure>;

    /// Takes back what came after the savepoint that the writer set last; the transaction goes on.
    fn undo(&mut self) -> Result<(), Self::Failure>;

    /// What the server left out or changed of `rows` rows without calling it an error; `None` when every row is there as it was
    /// sent, or was skipped as the request has it.
    fn judge(
        &mut self,
        _done: Done,
        _rows: usize,
        _on_conflict: OnConflict,
    ) -> Result<Option<Blame>, Self::Failure> {
        Ok(None)
    }

    /// What the server says of a row; `None` when no row is to blame.
    fn blame(&self, failure: &Self::Failure) -> Option<Blame>;

    /// What a failure that no row is to blame for teaches. `many`: other connections of this load write into the same table.
    fn retry(&self, failure: &Self::Failure, many: bool) -> Option<Retry>;

    /// What the user reads of it.
    fn explain(&self, failure: Self::Failure) -> Error;
}

/// Writes a batch with one statement.
pub trait Write<C: Connection>: Send {
    /// `guarded`: a savepoint goes before the statement, in one message with it where that can be: a round trip that nobody
    /// waits for. [`Connection::undo`] goes back to it. Only a writer that [`Write::needs_savepoint`] is told so.
    ///
    /// # Errors
    /// When the server refuses the statement, or can't be asked.
    fn write(
        &mut self,
        connection: &mut C,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, C::Failure>;

    /// The same without those rows of which the writer knows already that they are bad.
    ///
    /// # Errors
    /// As for [`Write::write`].
    fn write_new(
        &mut self,
        connection: &mut C,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Written, C::Failure> {
        self.write(connection, batch, guarded).map(|done| Written { done, left_out: Vec::new() })
    }

    /// Ends what is still going on: a statement that takes the rows of several batches.
    ///
    /// # Errors
    /// When the server refuses what it was sent before.
    fn finish(&mut self, _connection: &mut C) -> Result<(), C::Failure> {
        Ok(())
    }

    /// What it has learnt by what it failed with, of which the server knows nothing: with it another try fares better.
    fn retry(&mut self) -> Option<Retry> {
        None
    }

    /// Whether a statement within a transaction can be taken back only to a savepoint: where it may succeed and yet not have
    /// stored every row as it is, and where its failure would end the transaction.
    fn needs_savepoint(&self, _batch: &Batch<'_>) -> bool {
        false
    }
}

/// What a statement did.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Rows that it made, changed or removed, as the server counts them.
    pub affected: u64,
    /// Warnings, where the server counts them.
    pub warnings: u16,
}

/// What became of a batch.
pub struct Written {
    /// What the statement did.
    pub done: Done,
    /// Rows that were left out because they are known to be bad: their index in the batch, ascending, and what the server would say.
    pub left_out: Vec<(usize, Blame)>,
}

/// What a server says of a bad row.
#[derive(Clone, Debug)]
pub struct Blame {
    /// Which row of the statement, counted from 0, where the server says so. Those before it are good, as far as the server has
    /// looked.
    pub row: Option<usize>,
    /// What of the row.
    pub named: Named,
    /// What sort of fault.
    pub code: Code,
    /// The server's words.
    pub message: String,
}

/// What of a row a server names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// Nothing of it.
    Nothing,
    /// A column, by name.
    Column(String),
    /// The primary key, by a name that tells nothing of its columns.
    PrimaryKey,
}

/// Whether a statement with a bad row can be taken back, so that its other rows can be sent again.
#[derive(Clone, Copy, Debug)]
pub enum Undo {
    /// It can.
    Yes,
    /// It can't.
    No {
        /// Whether a statement of the bad row alone leaves no trace all the same. Where it doesn't, its failure has ended the
        /// transaction.
        alone: bool,
        /// Why not, as the end of "a row was refused, and ".
        why: &'static str,
        /// The knob and the value with which another try gets by.
        knob: (&'static Knob, &'static str),
        /// The same for the user.
        advice: &'static str,
    },
}

/// What bounds the statements and transactions of a lane.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Whether a statement with a bad row leaves no trace, or can be made to.
    pub undo: Undo,
    /// Whether rows stay as soon as their statement is through, in a table that isn't ours alone.
    pub lasting: bool,
    /// Rows in one statement; 0 for as many as a chunk has.
    pub rows_per_statement: usize,
    /// When the lane commits.
    pub commits: Commits,
    /// Bytes of rows in a statement.
    pub bytes_max: usize,
    /// What sets this bound, for messages.
    pub bytes_max_of: &'static str,
}

/// When a lane commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
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
pub struct Shared {
    /// What a lane found out before it gave up.
    pub retry: Mutex<Option<Retry>>,
    /// Rows committed into the table itself.
    pub committed: AtomicU64,
}

/// The load's own connection, or one more.
pub enum Held<'l, C> {
    /// One of its own.
    Own(Box<C>),
    /// The session's.
    Lent(&'l mut C),
}

impl<C> Held<'_, C> {
    fn connection(&mut self) -> &mut C {
        match self {
            Held::Own(connection) => connection,
            Held::Lent(connection) => connection,
        }
    }
}

/// What a lane knows of its load.
struct Errand {
    /// The table's name in the end.
    table: String,
    primary_key: Vec<String>,
    columns: usize,
    on_conflict: OnConflict,
    /// Whether sums over the values are wanted.
    sums: bool,
    lanes: usize,
}

impl Errand {
    fn of(job: &Job) -> Self {
        let primary_key = match &job.facts.target.table {
            Some(table) if !job.choice.action.makes_table() => &table.primary_key,
            _ => &job.request.primary_key,
        };
        Self {
            table: job.table.clone(),
            primary_key: primary_key.clone(),
            columns: job.choice.columns.len(),
            on_conflict: job.request.on_conflict,
            sums: job.request.verify == Verify::Checksum,
            lanes: job.choice.lanes,
        }
    }
}

/// A lane that sends each wire in statements.
///
/// When a row is bad, the statement's other rows are sent again: halved until the bad one is alone, or, where the server names
/// it, those before it and those behind it. Of two halves the second is not sent whole where the first was good, for then it has the bad
/// one. The outcome is that of sending row by row, in the source's order.
pub struct StatementLane<'l, C: Connection> {
    held: Held<'l, C>,
    writer: Box<dyn Write<C> + 'l>,
    bounds: Bounds,
    shared: &'l Shared,
    errand: Errand,
    /// Whether the lane has opened a transaction.
    open: bool,
    /// Rows and bytes since the last commit, where the lane commits.
    uncommitted: (usize, usize),
    /// The most rows that the next statement takes: few where bad rows are close, so that the good ones behind each are not sent
    /// again and again.
    step: usize,
}

/// The fewest rows of a statement after a bad row that the server has named.
const STEP_MIN: usize = 8;

/// Rows `from..to` that are still to be written.
struct Piece {
    from: usize,
    to: usize,
    known: Known,
}

/// What is known of a piece's rows.
enum Known {
    Nothing,
    /// The server's word about the only row, when the rows before it were in the same statement.
    Bad(Verdict),
    /// One of them is bad, as long as so many faults are known: these rows were refused together with others, which were good.
    HasBad(usize),
}

/// What the server has said of a row.
struct Verdict {
    fault: RowFault,
    /// The faults known then. With another one since, the row would follow on other rows than it did.
    faults: usize,
}

/// What came of a statement.
enum Outcome {
    Written,
    /// One of its rows is bad, and none of them is there.
    Refused(Blame),
}

/// Why a batch could not be written.
enum Trouble<F> {
    Failed(F),
    Ended(Error),
}

impl<F> From<F> for Trouble<F> {
    fn from(failure: F) -> Self {
        Trouble::Failed(failure)
    }
}

impl<'l, C: Connection> StatementLane<'l, C> {
    /// A lane over `connection` that writes by `writer`.
    pub fn new(
        held: Held<'l, C>,
        writer: Box<dyn Write<C> + 'l>,
        bounds: Bounds,
        shared: &'l Shared,
        job: &Job,
    ) -> Self {
        Self::on(Errand::of(job), held, writer, bounds, shared)
    }

    fn on(
        errand: Errand,
        held: Held<'l, C>,
        writer: Box<dyn Write<C> + 'l>,
        mut bounds: Bounds,
        shared: &'l Shared,
    ) -> Self {
        // A statement that has skipped some of its rows says how many, and not which: sums need to know.
        if errand.sums && errand.on_conflict == OnConflict::Skip {
            bounds.rows_per_statement = 1;
        }
        let (open, uncommitted, step) = (false, (0, 0), usize::MAX);
        Self { held, writer, bounds, shared, errand, open, uncommitted, step }
    }

    fn statements(&mut self, batch: Batch<'_>, ack: &mut Ack) -> Result<(), Trouble<C::Failure>> {
        let piece = |from, to| Piece { from, to, known: Known::Nothing };
        // The second half has the bad row, should the first be good.
        let halves = |from: usize, to: usize, faults| {
            let middle = from + (to - from) / 2;
            [Piece { from: middle, to, known: Known::HasBad(faults) }, piece(from, middle)]
        };
        // What is next comes last. A stack of our own: a server that names ever earlier rows must not exhaust the thread's.
        let mut ahead = vec![piece(batch.from, batch.to)];
        let mut refused_to = batch.from;
        while let Some(Piece { from, to: mut all, known }) = ahead.pop() {
            if from == all {
                continue;
            }
            match known {
                Known::Bad(Verdict { fault, faults }) if faults == ack.faults.len() => {
                    self.refuse(fault, ack)?;
                    continue;
                }
                Known::HasBad(faults)
                    if faults == ack.faults.len() && (2..=self.step).contains(&(all - from)) =>
                {
                    ahead.extend(halves(from, all, faults));
                    continue;
                }
                _ => {}
            }
            // Of what stands behind a row that turned out bad no more is known than of the rest.
            let is_as_known = |next: &Piece| match next.known {
                Known::Nothing => true,
                Known::Bad(_) => false,
                Known::HasBad(faults) => faults != ack.faults.len(),
            };
            while let Some(next) = ahead.pop_if(|next| is_as_known(next)) {
                all = next.to;
            }
            let to = self.end(&batch.part(from, all));
            let part = Batch { suspect: to <= refused_to, ..batch.part(from, to) };
            if part.bytes().len() > self.bounds.bytes_max {
                // Only a row that is too long by itself comes here.
                ack.faults.push(self.too_long(&part));
                ahead.push(piece(to, all));
                continue;
            }
            let blame = match self.statement(&part, ack)? {
                Outcome::Written => {
                    ahead.push(piece(to, all));
                    continue;
                }
                Outcome::Refused(blame) => blame,
            };
            refused_to = refused_to.max(to);
            let rows = part.rows();
            match blame.row.filter(|row| *row < rows) {
                _ if rows == 1 => {
                    let since = ack.faults.last().map_or(batch.from, |last| last.row as usize + 1);
                    self.step = from.saturating_sub(since).max(1);
                    let fault = self.fault(from, blame);
                    self.refuse(fault, ack)?;
                    ahead.push(piece(to, all));
                }
                Some(before) => {
                    self.step = before.saturating_mul(2).max(STEP_MIN);
                    let bad = from + before;
                    let fault = self.fault(bad, blame);
                    let known = Known::Bad(Verdict { fault, faults: ack.faults.len() });
                    ahead.push(piece(bad + 1, all));
                    ahead.push(Piece { from: bad, to: bad + 1, known });
                    ahead.push(piece(from, bad));
                }
                None => {
                    ahead.push(piece(to, all));
                    ahead.extend(halves(from, to, ack.faults.len()));
                }
            }
        }
        Ok(())
    }

    /// Where the statement ends that begins with the batch's first row.
    fn end(&self, batch: &Batch<'_>) -> usize {
        let (bounds, from) = (&self.bounds, batch.from);
        let room = match bounds.commits {
            Commits::Rows(most) => most - self.uncommitted.0,
            Commits::Never | Commits::Always | Commits::Bytes(_) => usize::MAX,
        };
        let rows = match bounds.rows_per_statement {
            0 => room.min(self.step),
            rows => rows.min(room).min(self.step),
        };
        let to = batch.to.min(from.saturating_add(rows));
        let last = offset(batch.wire, from).saturating_add(bounds.bytes_max);
        let fitting = batch.wire.rows[from..to].partition_point(|row| row.end as usize <= last);
        from + fitting.max(1)
    }

    /// Writes the batch, or leaves nothing of it.
    fn statement(
        &mut self,
        batch: &Batch<'_>,
        ack: &mut Ack,
    ) -> Result<Outcome, Trouble<C::Failure>> {
        let rows = batch.rows();
        self.begin()?;
        let can_undo = matches!(self.bounds.undo, Undo::Yes);
        let guarded = can_undo
            && self.bounds.commits != Commits::Always
            && self.writer.needs_savepoint(batch);
        let connection = self.held.connection();
        let (blame, stored) = match self.writer.write_new(connection, batch, guarded) {
            Ok(Written { done, left_out }) => {
                let judged = connection.judge(done, rows - left_out.len(), self.errand.on_conflict);
                match judged? {
                    None => {
                        self.count(batch, done, left_out, ack)?;
                        return Ok(Outcome::Written);
                    }
                    Some(blame) => (blame, done.affected > 0),
                }
            }
            // The server has undone the whole statement by itself, if it can undo at all.
            Err(failure) => match connection.blame(&failure) {
                Some(blame) => (blame, false),
                None => return Err(failure.into()),
            },
        };
        if guarded {
            connection.undo()?;
            return Ok(Outcome::Refused(blame));
        }
        match self.bounds.undo {
            Undo::No { alone, why, knob, advice } if rows > 1 || !alone => {
                Err(Trouble::Ended(self.no_way_back(&blame, why, knob, advice)))
            }
            _ if stored => Err(Trouble::Ended(self.stored_otherwise(&blame, can_undo))),
            _ => Ok(Outcome::Refused(blame)),
        }
    }

    /// A statement has succeeded, and its rows are not those that were sent. Where they can be undone the load does so.
    fn stored_otherwise(&self, blame: &Blame, can_undo: bool) -> Error {
        let message = self.shown(&blame.message);
        match (can_undo, self.errand.on_conflict) {
            (true, OnConflict::Skip) => Error::target(format!(
                "the server changed rows of table {}, where --on-conflict skip leaves them as they are: {message}",
                self.errand.table
            ))
            .advise("load into a table of its own, and add what is new by INSERT ... SELECT ... WHERE NOT EXISTS")
            .advise("--on-conflict fail makes a bad row of a duplicate key"),
            (true, _) => Error::target(format!(
                "the server stored a row otherwise than it was sent: {message}"
            ))
            .advise("look for what changes it: a trigger, a rule"),
            (false, _) => Error::target(format!(
                "the server stored a row otherwise than it was sent, and can't take it back: {message}"
            ))
            .advise("load into an engine with transactions, such as InnoDB"),
        }
    }

    /// Another try has to send rows in other statements: each by itself, or whatever leaves nothing behind.
    fn no_way_back(
        &self,
        blame: &Blame,
        why: &str,
        (knob, value): (&'static Knob, &'static str),
        advice: &str,
    ) -> Error {
        self.learn(Retry::Knob(knob, value));
        let message = self.shown(&blame.message);
        Error::target(format!("a row was refused, and {why}: {message}")).advise(advice)
    }

    /// Opens a transaction where the lane commits and there is none.
    fn begin(&mut self) -> Result<(), C::Failure> {
        if !self.open && matches!(self.bounds.commits, Commits::Rows(_) | Commits::Bytes(_)) {
            self.held.connection().begin()?;
            self.open = true;
        }
        Ok(())
    }

    fn count(
        &mut self,
        batch: &Batch<'_>,
        done: Done,
        left_out: Vec<(usize, Blame)>,
        ack: &mut Ack,
    ) -> Result<(), Trouble<C::Failure>> {
        let sent = (batch.rows() - left_out.len()) as u64;
        match self.errand.on_conflict {
            OnConflict::Skip if done.affected < sent => {
                ack.loaded += done.affected;
                ack.skipped += sent - done.affected;
                for (row, blame) in left_out {
                    let fault = self.fault(batch.from + row, blame);
                    self.refuse(fault, ack)?;
                }
            }
            _ => {
                let mut from = batch.from;
                for (row, blame) in left_out {
                    let row = batch.from + row;
                    written(&batch.part(from, row), ack);
                    from = row + 1;
                    let fault = self.fault(row, blame);
                    self.refuse(fault, ack)?;
                }
                written(&batch.part(from, batch.to), ack);
            }
        }
        if batch.rows() == self.step {
            self.step = self.step.saturating_mul(2);
        }
        self.wrote(batch)?;
        Ok(())
    }

    /// Commits when it is time.
    fn wrote(&mut self, batch: &Batch<'_>) -> Result<(), C::Failure> {
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

    fn commit(&mut self) -> Result<(), C::Failure> {
        self.writer.finish(self.held.connection())?;
        if self.open {
            self.held.connection().commit()?;
            self.open = false;
            if matches!(self.bounds.commits, Commits::Rows(_)) && matches!(self.held, Held::Lent(_))
            {
                self.shared.committed.fetch_add(self.uncommitted.0 as u64, Relaxed);
            }
        }
        self.uncommitted = (0, 0);
        Ok(())
    }

    fn refuse(&mut self, fault: RowFault, ack: &mut Ack) -> Result<(), Trouble<C::Failure>> {
        // Another lane may have written the row that this one repeats, although it comes later in the source.
        if fault.code == Code::DuplicateKey && self.errand.lanes > 1 {
            self.learn(Retry::InOrder(None));
            return Err(Trouble::Ended(Error::target(format!(
                "a row repeats a key, and with several connections which one came first is not known ({})",
                fault.message
            ))));
        }
        ack.faults.push(fault);
        Ok(())
    }

    /// What a failure that is no row's fault means.
    fn explain(&mut self, failure: C::Failure) -> Error {
        // Of a statement that took several batches only the end is told, when their rows are gone.
        if let Undo::No { why, knob, advice, .. } = self.bounds.undo
            && let Some(blame) = self.held.connection().blame(&failure)
        {
            return self.no_way_back(&blame, why, knob, advice);
        }
        let many = matches!(self.held, Held::Own(_)) && self.errand.lanes > 1;
        let retry = self.writer.retry().or_else(|| self.held.connection().retry(&failure, many));
        retry.into_iter().for_each(|retry| self.learn(retry));
        self.held.connection().explain(failure)
    }

    /// A message of the server as users may read it.
    fn shown(&self, message: &str) -> String {
        staging::unhidden(message, &self.errand.table)
    }

    fn fault(&self, row: usize, blame: Blame) -> RowFault {
        let column = match (blame.named, self.errand.primary_key.as_slice()) {
            (Named::Column(name), _) => Some(name),
            (Named::PrimaryKey, [column]) => Some(column.clone()),
            (Named::PrimaryKey | Named::Nothing, _) => None,
        };
        let message = self.shown(&blame.message);
        RowFault { row: row as u32, column, code: blame.code, message }
    }

    fn too_long(&self, row: &Batch<'_>) -> RowFault {
        RowFault {
            row: row.from as u32,
            column: None,
            code: Code::TooLong,
            message: format!(
                "the row takes {} bytes, and {} leaves {}",
                row.bytes().len(),
                self.bounds.bytes_max_of,
                self.bounds.bytes_max
            ),
        }
    }

    fn learn(&self, retry: Retry) {
        let mut known = self.shared.retry.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert(retry);
    }
}

/// All rows of the batch are there.
fn written(batch: &Batch<'_>, ack: &mut Ack) {
    ack.loaded += batch.rows() as u64;
    if let Some(sums) = &mut ack.checksum {
        batch.cells().for_each(|cells| sums.add_row(cells, batch.chunk, batch.wire));
    }
}

impl<C: Connection> Lane for StatementLane<'_, C> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let columns = self.errand.columns;
        let checksum = self.errand.sums.then(|| Checksum::new(columns));
        let mut ack = Ack { checksum, ..Ack::default() };
        let to = wire.rows.len();
        let all = Batch { chunk, wire, from: 0, to, columns, suspect: false };
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

#[cfg(test)]
mod tests;
