//! A load into SQL Server, step by step: the same for every strategy except for the encoder and the statements.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use tiberius::ColumnData;

use crate::connect;
use crate::ddl::{self, Table, quote};
use crate::encode::Stores;
use crate::facts::{self, DatabaseFacts};
use crate::fit::is_piecemeal;
use crate::knobs::{PACKET_SIZE, ROWS_PER_BATCH, ROWS_PER_STATEMENT, ROWS_PER_TRANSACTION};
use crate::session::{Failure, Session, number};
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::{Checksum, Encode};
use inrush_core::target::{Ended, Inspect, Lane, Load, Sent, Snapshot, TableName, Verdict};
use inrush_core::{Action, Job, Retry};
use inrush_net::statement::{Bounds, Commits, Held, Shared, StatementLane, Undo, Write};

pub(super) use crate::blame::SAVE;

/// What differs between strategies.
pub(super) trait Writing: Sync {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode>;

    /// What writes the rows of the lane into `table`.
    fn writer<'p, 's: 'p>(
        &self,
        table: &Table,
        stores: &Stores,
        job: &'p Job,
    ) -> Box<dyn Write<Session<'s>> + 'p>;

    /// Whether it brings numbers into a column that counts by itself without being allowed to first.
    fn writes_identity(&self) -> bool {
        false
    }
}

/// Bytes of a statement's text. The server takes more, and takes its time.
const STATEMENT_BYTES_MAX: usize = 64 << 20;

/// A load under way.
pub(super) struct MssqlLoad<'a> {
    job: &'a Job,
    session: Session<'a>,
    writing: &'static dyn Writing,
    table: Table,
    /// Rows are committed on the way.
    piecemeal: bool,
    /// The table is the load's own, and others see it already.
    made: bool,
    stores: Stores,
    shape: Arc<Shape>,
    shared: Shared,
    before: Snapshot,
    /// The end was sent, and no answer came.
    unsure: bool,
    /// Statements that committed by themselves have changed the table.
    changed: bool,
}

impl<'a> MssqlLoad<'a> {
    pub(super) fn start(
        writing: &'static dyn Writing,
        job: &'a Job,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Load + 'a>> {
        let mut place = connect::place(&job.location.secret)?;
        if let Some(size) = job.choice.knobs.get_count(&PACKET_SIZE) {
            place.packet_size = size as u32;
        }
        let session = Session::open(&Arc::new(place), stop)?;
        let mut load = Self {
            job,
            session,
            writing,
            table: Table::of(&job.facts.target),
            piecemeal: is_piecemeal(&job.choice.knobs),
            made: false,
            stores: Stores::of_plan(job),
            shape: Arc::clone(&job.shape),
            shared: Shared::default(),
            before: Snapshot::default(),
            unsure: false,
            changed: false,
        };
        match load.prepare() {
            Ok(()) => Ok(Box::new(load) as Box<dyn Load + 'a>),
            Err(trouble) => {
                let error = match trouble {
                    Trouble::Failed(failure) => load.session.explain(failure),
                    Trouble::Ended(error) => error,
                };
                // What was committed by itself stays.
                Err(error.leaving(load.abort()))
            }
        }
    }

    /// Makes the table ready.
    fn prepare(&mut self) -> Result<(), Trouble> {
        let job = self.job;
        if !self.piecemeal {
            self.session.execute("BEGIN TRANSACTION")?;
        }
        let name =
            TableName { schema: Some(self.table.schema.clone()), table: self.table.name.clone() };
        let found = facts::read_table(&mut self.session, &name).map_err(Trouble::Ended)?;
        let identity = found.as_ref().and_then(|found| found.identity.clone());
        job.expects(found.map(|found| found.facts), false).map_err(Trouble::Ended)?;
        if job.choice.action == Action::Replace {
            self.session.execute(format!("DROP TABLE {}", self.table.sql()))?;
        }
        if job.choice.action.makes_table() {
            self.session.execute(ddl::create_table(&self.table, job))?;
            self.made = self.piecemeal;
            return Ok(());
        }
        if job.choice.action == Action::Truncate {
            self.truncate()?;
        }
        if let Some(add) = ddl::add_columns(&self.table, job) {
            self.session.execute(add)?;
            self.changed = self.piecemeal;
        }
        self.before = self.snapshot(job.request.verify)?;
        let loaded = |name: &String| job.choice.columns.iter().any(|column| column.name == *name);
        if identity.as_ref().is_some_and(loaded) && !self.writing.writes_identity() {
            // What the file says of a column that counts by itself is to be kept.
            self.session.execute(format!("SET IDENTITY_INSERT {} ON", self.table.sql()))?;
        }
        Ok(())
    }

    /// Deletes all rows, as cheaply as the server lets us.
    ///
    /// # Errors
    /// When the server refuses, or a trigger or a policy keeps rows.
    fn truncate(&mut self) -> Result<(), Trouble> {
        let table = self.table.sql();
        let is_plain = self
            .job
            .kept_table()
            .is_some_and(|table| !table.is_parent && table.storage.as_deref() == Some("table"));
        if is_plain {
            match self.session.execute(format!("TRUNCATE TABLE {table}")) {
                // Not for tables that are replicated, have history, or belong to another client.
                Err(Failure::Server(_)) => {}
                outcome => {
                    self.changed = self.piecemeal;
                    return Ok(outcome?);
                }
            }
        }
        self.session.execute(format!("DELETE FROM {table}"))?;
        self.changed = self.piecemeal;
        let holds = format!("SELECT CASE WHEN EXISTS (SELECT * FROM {table}) THEN 1 ELSE 0 END");
        if self.session.value(&holds)?.as_deref() != Some("1") {
            return Ok(());
        }
        let name = &self.job.table;
        Err(Trouble::Ended(
            Error::target(format!(
                "rows of table {name} stay where they are deleted: a trigger or a policy keeps them"
            ))
            .advise("delete them yourself, and load with --if-exists append"),
        ))
    }

    fn rows_per_transaction(&self) -> usize {
        self.job.choice.knobs.get_count(&ROWS_PER_TRANSACTION).unwrap_or(0) as usize
    }

    fn bounds(&self) -> Bounds {
        let knobs = &self.job.choice.knobs;
        let rows = knobs.get_count(&ROWS_PER_BATCH).or(knobs.get_count(&ROWS_PER_STATEMENT));
        let rows_per_transaction = self.rows_per_transaction();
        Bounds {
            undo: Undo::Yes,
            lasting: rows_per_transaction == 1,
            rows_per_statement: match rows_per_transaction {
                1 => 1,
                _ => rows.unwrap_or(0) as usize,
            },
            commits: match rows_per_transaction {
                0 => Commits::Never,
                1 => Commits::Always,
                rows => Commits::Rows(rows),
            },
            bytes_max: STATEMENT_BYTES_MAX,
            bytes_max_of: "a statement",
        }
    }

    /// How the table is read: where the load is one transaction, others are kept from it until that ends, or what they add would be
    /// taken for ours. A transaction of so many rows locks the whole table sooner or later, and whoever locks it late may have to give
    /// way to another who wants the same.
    fn locked(&self) -> &'static str {
        if self.piecemeal || self.job.choice.action.makes_table() {
            ""
        } else {
            " WITH (TABLOCKX, HOLDLOCK)"
        }
    }

    fn is_view(&self) -> bool {
        self.job.kept_table().is_some_and(|table| table.storage.as_deref() == Some(facts::VIEW))
    }
}

/// Why a step failed.
enum Trouble {
    Failed(Failure),
    Ended(Error),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failed(failure)
    }
}

impl Inspect for MssqlLoad<'_> {
    type Failure = Failure;

    fn rows(&mut self) -> Result<Option<u64>, Failure> {
        // What a view shows of the rows that go through it is its own affair.
        if self.is_view() {
            return Ok(None);
        }
        let sql = format!("SELECT COUNT_BIG(*) FROM {}{}", self.table.sql(), self.locked());
        let count = self.session.value(&sql)?;
        count.and_then(|count| count.parse().ok()).map(Some).ok_or_else(Failure::garbled)
    }

    fn sums(&mut self) -> Result<Checksum, Failure> {
        let columns = &self.job.choice.columns;
        let stores = self.stores.clone();
        let shown: Vec<String> = columns
            .iter()
            .zip(stores.iter())
            .map(|(column, store)| store.read_back(&quote(&column.name)))
            .collect();
        let sql = format!("SELECT {} FROM {}{}", shown.join(", "), self.table.sql(), self.locked());
        let mut sums = Checksum::new(columns.len());
        let mut written = Vec::new();
        self.session.batch(&sql, |_, _, values: &[ColumnData<'static>]| {
            for (column, (value, store)) in values.iter().zip(stores.iter()).enumerate() {
                sums.add(column, store.stored(value, &mut written));
            }
        })?;
        Ok(sums)
    }
}

impl Load for MssqlLoad<'_> {
    fn encoder(&self) -> Box<dyn Encode> {
        self.writing.encoder(Arc::clone(&self.shape), &self.stores, self.job)
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        let bounds = self.bounds();
        let Self { job, session, writing, stores, shared, table, .. } = self;
        let writer = writing.writer(table, stores, job);
        let lane = StatementLane::new(Held::Lent(session), writer, bounds, shared, job);
        Ok(vec![Box::new(lane)])
    }

    fn indexes(&self) -> bool {
        self.job.choice.action.makes_table() && !self.job.request.indexes.is_empty()
    }

    fn complete(&mut self) -> Result<()> {
        if self.indexes() {
            for sql in ddl::indexes(&self.table, self.job) {
                self.session.execute(sql).map_err(|failure| self.session.explain(failure))?;
            }
        }
        Ok(())
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        let after = self.snapshot(self.job.request.verify);
        let after = after.map_err(|failure| self.session.explain(failure))?;
        Ok(sent.verdict(&self.before, &after, self.job))
    }

    fn commit(&mut self, _note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        let mut settings = facts::durability(&mut self.session)
            .map_err(|failure| self.session.explain(failure))?;
        let known = DatabaseFacts::of(&self.job.facts.target);
        if let Some(model) = &known.recovery_model {
            settings.insert("recovery_model".to_owned(), model.clone());
        }
        if !self.piecemeal {
            // From here on nobody can say that nothing has changed but the server.
            self.session.unwatch();
            if let Err(failure) = self.session.execute(super::blame::COMMIT) {
                self.unsure = matches!(failure, Failure::Lost(_));
                return Err(match number(&failure) {
                    // The catalogue's own index.
                    2_714 => self.job.was_made_meanwhile(),
                    _ => self.session.explain(failure),
                });
            }
        }
        self.made = false;
        Ok(settings)
    }

    fn retry(&mut self, _ended_by: Ended) -> Option<Retry> {
        self.shared.retry.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn abort(&mut self) -> Aftermath {
        self.session.unwatch();
        if self.unsure {
            return Aftermath::Unknown;
        }
        if !self.piecemeal {
            // A lost connection's transaction the server rolls back by itself.
            let _ = self.session.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
            return Aftermath::NothingChanged;
        }
        let was_lost = self.session.is_lost();
        if self.made {
            let dropped = (!was_lost || self.session.reconnect().is_ok())
                && self
                    .session
                    .execute(format!(
                        "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; DROP TABLE {}",
                        self.table.sql()
                    ))
                    .is_ok();
            self.made = false;
            return if dropped { Aftermath::NothingChanged } else { Aftermath::Unknown };
        }
        if was_lost {
            // The last of its commits may have had no answer.
            return Aftermath::Unknown;
        }
        let _ = self.session.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
        match self.shared.committed.load(Relaxed) {
            0 if !self.changed => Aftermath::NothingChanged,
            rows => Aftermath::Committed { rows },
        }
    }
}

impl Drop for MssqlLoad<'_> {
    fn drop(&mut self) {
        // One dropped without its end is aborted; what lasts is only a table that others see.
        if self.made {
            self.abort();
        }
    }
}
