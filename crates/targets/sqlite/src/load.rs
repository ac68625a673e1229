//! A load into SQLite, step by step: the same for every strategy except for the encoder and the lane.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rusqlite::types::ValueRef;

use crate::clauses::Clauses;
use crate::ddl;
use crate::deferred;
use crate::facts::{self, DatabaseFacts};
use crate::keys::{self, Lookup};
use crate::orphans;
use crate::pages::{ROW_ORDER, SORT_MEMORY};
use crate::session::{LockWait, Session};
use crate::statement::{self, Step};
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Cell, Checksum, Chunk, Code, Encode, RowFault, Wire};
use inrush_core::ledger::{self, Begun, Entry};
use inrush_core::target::{
    Ended, Fit, Inspect, Knob, KnobKind, Knobs, Lane, Load, Memory, Sent, Snapshot, Verdict,
    Weakness,
};
use inrush_core::{
    Action, Durability, Facts, Guarantee, Job, OnConflict, Orphans, Request, Retry, TableFacts,
};

/// Rows in one transaction: all of them.
const WHOLE_LOAD: u64 = 0;

/// A strategy without the knob writes all rows in one.
fn rows_per_transaction(knobs: &Knobs) -> u64 {
    knobs.get_count(&ROWS_PER_TRANSACTION).unwrap_or(WHOLE_LOAD)
}

/// The knobs of `sqlite/pages`.
pub(super) fn page_knobs() -> &'static [Knob] {
    &KNOBS[..8]
}

/// The knobs of strategies that send statements of one row.
pub(super) fn row_knobs() -> &'static [Knob] {
    &KNOBS[2..9]
}

/// The knobs of strategies that send statements of several rows.
pub(super) fn statement_knobs() -> &'static [Knob] {
    &KNOBS[2..]
}

/// All knobs of this target: first those that only pages have, then those of every strategy, then those of SQL.
static KNOBS: [Knob; 10] = [
    ROW_ORDER,
    SORT_MEMORY,
    JOURNAL_MODE,
    SYNCHRONOUS,
    BEGIN,
    BUSY_TIMEOUT,
    PAGE_SIZE,
    CACHE,
    ROWS_PER_TRANSACTION,
    ROWS_PER_STATEMENT,
];

pub(super) const ROWS_PER_STATEMENT: Knob = Knob {
    name: "rows_per_statement",
    kind: KnobKind::Count { min: 1, max: 100_000 },
    default: "100",
    about: "rows in one INSERT",
    tries: &["20", "1000"],
};
const ROWS_PER_TRANSACTION: Knob = Knob {
    name: "rows_per_transaction",
    kind: KnobKind::Count { min: 0, max: 1_000_000_000_000 },
    default: "0",
    about: "rows between commits; 0 is the whole load in one transaction, 1 is autocommit",
    tries: &[],
};
pub(super) const JOURNAL_MODE: Knob = Knob {
    name: "journal_mode",
    kind: KnobKind::Choice(&["keep", "delete", "truncate", "persist", "memory", "wal", "off"]),
    default: "keep",
    about: "how SQLite can undo; 'keep' leaves the database's own mode",
    // A database keeps the mode, or loses its own.
    tries: &[],
};
pub(super) const SYNCHRONOUS: Knob = Knob {
    name: "synchronous",
    kind: KnobKind::Choice(&["off", "normal", "full", "extra"]),
    default: "full",
    about: "when SQLite waits for the disk; --durability process or none lowers it",
    tries: &[],
};
const BEGIN: Knob = Knob {
    name: "begin",
    kind: KnobKind::Choice(&["deferred", "immediate", "exclusive"]),
    default: "immediate",
    about: "when a transaction takes its locks",
    tries: &[],
};
pub(super) const BUSY_TIMEOUT: Knob = Knob {
    name: "busy_timeout",
    kind: KnobKind::Count { min: 0, max: i32::MAX as u64 },
    default: "5000",
    about: "milliseconds to wait for another process's lock",
    tries: &[],
};
const PAGE_SIZE: Knob = Knob {
    name: "page_size",
    kind: KnobKind::Choice(&[
        "keep", "512", "1024", "2048", "4096", "8192", "16384", "32768", "65536",
    ]),
    default: "keep",
    about: "bytes of a page, for a database that the load makes; 'keep' is 4096 there",
    tries: &[],
};
pub(super) const CACHE: Knob = Knob {
    name: "cache",
    kind: KnobKind::Count { min: 0, max: 64 << 30 },
    default: "33554432",
    about: "bytes of SQLite's page cache",
    tries: &["8388608", "134217728"],
};

/// What all strategies of this target answer to `fit`.
pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    match request.durability {
        Durability::Durable => {}
        Durability::Process => knobs.suggest(&SYNCHRONOUS, "normal"),
        Durability::None => knobs.suggest(&SYNCHRONOUS, "off"),
    }
    let database = DatabaseFacts::of(&facts.target);
    if let Some(found) = database.page_bytes
        && !knobs.is(&PAGE_SIZE, "keep")
        && found.to_string() != knobs.word(&PAGE_SIZE)
    {
        return Fit::Wrong {
            reason: format!(
                "page_size={}: the database exists, and has pages of {found} bytes",
                knobs.word(&PAGE_SIZE)
            ),
            advice: "leave page_size out: only a database that the load makes takes one".to_owned(),
        };
    }
    let journal = match (knobs.word(&JOURNAL_MODE), facts.target.exists) {
        ("keep", true) => &database.journal_mode,
        ("keep", false) => "delete",
        (mode, _) => mode,
    };
    if request.guarantee == Guarantee::Chunks {
        if rows_per_transaction(knobs) != WHOLE_LOAD {
            return Fit::Unusable {
                reason: "rows_per_transaction commits without the ledger; --commit-rows says how many rows a step has".to_owned(),
            };
        }
        if matches!(journal, "memory" | "off") {
            return Fit::Unusable {
                reason: format!(
                    "with journal_mode={journal} a load that is killed may destroy the steps before"
                ),
            };
        }
    }
    let is_memory = database.is_in_memory;
    if is_memory && !matches!(journal, "memory" | "off") {
        return Fit::Unusable {
            reason: format!(
                "the database is in memory, and with journal_mode={journal} its journal would not be"
            ),
        };
    }
    // https://sqlite.org/pragma.html#pragma_journal_mode: a journal in memory undoes what fails, and is lost with the process; without one
    // nothing is undone. What is left of a database then is half written.
    let danger = match journal {
        _ if is_memory || !facts.target.exists => None,
        "memory" => Some("a load that is killed may destroy an existing database"),
        "off" => Some("a failed load may destroy an existing database"),
        _ => None,
    };
    // https://sqlite.org/pragma.html#pragma_synchronous: NORMAL may lose the last transactions in WAL mode, and corrupt in rare cases in the
    // others.
    let (durability, weakness) = match (knobs.word(&SYNCHRONOUS), danger) {
        _ if is_memory => (Durability::None, Some(Weakness::thing("a database in memory"))),
        (_, Some(danger)) => {
            let weakness = Weakness::knob(&JOURNAL_MODE, journal);
            let what = format!("{}, by which {danger},", weakness.what);
            (Durability::None, Some(Weakness { what, ..weakness }))
        }
        ("full" | "extra", None) => (Durability::Durable, None),
        (word, None) => (Durability::Process, Some(Weakness::knob(&SYNCHRONOUS, word))),
    };
    let mut notes = notes(request, facts);
    notes.extend(danger.map(|danger| format!("with journal_mode={journal} {danger}")));
    Fit::Usable {
        atomic: !facts.target.exists
            || journal != "off" && rows_per_transaction(knobs) == WHOLE_LOAD,
        durability,
        weakness,
        lanes: 1,
        lanes_max: 1,
        // The lane never waits: there is no server.
        encoders: facts.processors.saturating_sub(1),
        notes,
    }
}

/// What the load's own clause overrides without being meant to.
fn notes(request: &Request, facts: &Facts) -> Vec<String> {
    let clauses = DatabaseFacts::of(&facts.target).clauses;
    let kept = facts.kept_table(request).filter(|_| clauses.of_table && clauses.of_triggers);
    let note = |table: &TableFacts| {
        format!(
            "table {} has ON CONFLICT clauses, which the load overrides so that each refused row is known: SQLite then takes \
             INSERT OR IGNORE, REPLACE INTO and the like in its triggers for INSERT, and a row for which that fails is a bad row",
            table.name
        )
    };
    kept.map(note).into_iter().collect()
}

pub(super) fn memory(knobs: &Knobs) -> Memory {
    Memory {
        // The narrowest field is a delimiter and makes a cell of 16 bytes; the narrowest row adds a mark.
        wire_bytes_per_byte: size_of::<Cell>() + size_of::<inrush_core::flow::RowMark>(),
        // SQLite's cache, its statement and schema memory, and the program itself.
        fixed_bytes: knobs.count(&CACHE) + (12 << 20),
        // Slots of this size stay in a core's own cache.
        chunk_bytes: 256 << 10,
    }
}

/// What differs between strategies.
pub(super) trait Writing: Send {
    /// The table is ready, and the transaction open in which it was made so.
    fn begin(&mut self, _session: &mut Session<'_>, _plan: &Job) -> Result<()> {
        Ok(())
    }

    fn encoder(&self, shape: Arc<Shape>, job: &Job) -> Box<dyn Encode>;

    fn lane<'l>(
        &'l mut self,
        transaction: Transaction<'l>,
        job: &'l Job,
    ) -> Result<Box<dyn Lane + 'l>>;

    /// Whether it takes a table for empty, or not, because the plan says so.
    fn relies_on_rows(&self) -> bool {
        false
    }

    /// Whether [`Writing::complete`] builds keys or indexes.
    fn indexes(&self, job: &Job) -> bool {
        !job.request.indexes.is_empty()
    }

    /// All rows are sent.
    fn complete(&mut self, session: &mut Session<'_>, job: &Job) -> Result<()> {
        if self.indexes(job) {
            begin(session, job)?;
            create_indexes(session, job)?;
        }
        Ok(())
    }

    /// Waits for what the strategy has started by itself, before the commit.
    fn settle(&mut self, _session: &Session<'_>) -> Result<()> {
        Ok(())
    }

    /// See [`Load::retry`].
    fn retry(&mut self, _session: &Session<'_>, _rows_are_to_blame: bool) -> Option<Retry> {
        None
    }
}

/// Has SQLite make the indexes that were asked for.
pub(super) fn create_indexes(session: &Session<'_>, job: &Job) -> Result<()> {
    for columns in &job.request.indexes {
        let taken = |name: &str| {
            let query = format!(
                "SELECT count(*) FROM sqlite_schema WHERE name = '{}' COLLATE NOCASE",
                name.replace('\'', "''")
            );
            session.value(&query).is_ok_and(|count| count != "0")
        };
        session.execute(&ddl::create_index(&job.table, columns, taken))?;
    }
    Ok(())
}

/// A load under way.
pub(super) struct SqliteLoad<'a> {
    job: &'a Job,
    session: Session<'a>,
    writing: Box<dyn Writing>,
    shape: Arc<Shape>,
    before: Snapshot,
    committed: Committed,
    /// Whether the strategy can't do it after all: it takes the table for empty, and others have added rows since the plan was made.
    is_outgrown: bool,
    /// The database's journal mode before a knob changed it.
    journal_mode_before: Option<String>,
    /// Whether rows were refused for their key, which others may have once some rows are left out.
    has_repeats: bool,
    /// The rows without parents that this try has found.
    orphans: Option<Orphans>,
}

/// What was committed before the end, because the plan says so.
#[derive(Default)]
struct Committed {
    anything: bool,
    rows: u64,
}

impl<'a> SqliteLoad<'a> {
    pub(super) fn start(
        writing: impl Writing + 'static,
        job: &'a Job,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Load + 'a>> {
        let knobs = &job.choice.knobs;
        let path = Path::new(&job.location.secret);
        // What is committed step by step has to be in its place from the first step on.
        let in_place = job.steps.is_some();
        let locks = LockWait::new(knobs.count(&BUSY_TIMEOUT), stop);
        let locks = locks.noting(path, &job.location.spare);
        let mut session = Session::open(path, locks, in_place)?;
        let has_pages = DatabaseFacts::of(&job.facts.target).page_bytes.is_some();
        if !has_pages && !knobs.is(&PAGE_SIZE, "keep") {
            session.execute(&format!("PRAGMA page_size = {}", knobs.word(&PAGE_SIZE)))?;
        }
        let mut journal_mode_before = None;
        if !knobs.is(&JOURNAL_MODE, "keep") {
            let before = session.value("PRAGMA journal_mode")?;
            let mode =
                session.value(&format!("PRAGMA journal_mode = {}", knobs.word(&JOURNAL_MODE)))?;
            if mode != knobs.word(&JOURNAL_MODE) {
                return Err(Error::target(format!(
                    "the journal mode stays {mode}: another connection uses the database"
                )));
            }
            journal_mode_before = (before != mode).then_some(before);
        }
        let (synchronous, cache) = (knobs.word(&SYNCHRONOUS), knobs.count(&CACHE) >> 10);
        session.configure(format!(
            "PRAGMA synchronous = {synchronous}; PRAGMA cache_size = -{cache}"
        ))?;
        let mut load = Self {
            job,
            session,
            writing: Box::new(writing),
            shape: Arc::clone(&job.shape),
            before: Snapshot::default(),
            committed: Committed::default(),
            is_outgrown: false,
            journal_mode_before,
            has_repeats: false,
            orphans: None,
        };
        load.session.watch();
        match load.prepare() {
            Ok(()) => Ok(Box::new(load)),
            // What was committed, or can't be undone, stays.
            Err(error) => Err(error.leaving(load.abort())),
        }
    }

    /// Makes the table ready, and leaves a transaction open for the rows.
    fn prepare(&mut self) -> Result<()> {
        begin(&self.session, self.job)?;
        self.prepare_table()?;
        self.session.expect_in_place()?;
        if self.is_outgrown {
            return Ok(());
        }
        self.enter()?;
        if self.is_one_transaction() && self.own_key()? {
            self.session.execute("PRAGMA defer_foreign_keys = ON")?;
        }
        // One row a transaction is what SQLite does by itself; the table itself is made or emptied in one, all the same.
        if rows_per_transaction(&self.job.choice.knobs) == 1 {
            self.session.execute("COMMIT")?;
            self.committed.anything = self.job.choice.action != Action::Append;
        }
        self.writing.begin(&mut self.session, self.job)
    }

    fn is_one_transaction(&self) -> bool {
        self.job.steps.is_none() && rows_per_transaction(&self.job.choice.knobs) == WHOLE_LOAD
    }

    /// Whether a row's parent may come later, see [`orphans::wait`].
    fn own_key(&self) -> Result<bool> {
        // The file of a table that the load makes may be written without a connection.
        if self.job.kept_table().is_none() {
            return Ok(false);
        }
        orphans::wait(self.session.connection(), self.job)
            .map_err(|error| self.session.explain(&error))
    }

    /// Whether each row has its parent, now that all are in; else which ones have none, for another try.
    fn expect_parents(&mut self) -> Result<()> {
        let job = self.job;
        if job.kept_table().is_none() || !self.is_one_transaction() {
            return Ok(());
        }
        let blamed = deferred::blame(self.session.connection(), &job.table);
        let Some(error) = blamed else { return Ok(()) };
        // Without a journal nothing is taken back, and there is no other try.
        if !job.choice.knobs.is(&JOURNAL_MODE, "off") {
            let follows = job.request.on_conflict == OnConflict::Fail && !self.has_repeats;
            self.orphans = orphans::find(&self.session, job, follows).ok().flatten();
        }
        Err(error)
    }

    fn prepare_table(&mut self) -> Result<()> {
        let job = self.job;
        let table = &job.table;
        if !self.session.is_new() {
            let now = facts::read(self.session.connection(), table)
                .map_err(|error| self.session.explain(&error))?;
            let relies = self.writing.relies_on_rows();
            // Row by row can be added to whatever rows are in it.
            self.is_outgrown = relies
                && job.expects(now.table.clone(), true).is_err()
                && job.expects(now.table.clone(), false).is_ok();
            if self.is_outgrown {
                return Ok(());
            }
            job.expects(now.table, relies)?;
            keys::look(self.session.connection(), job)
                .map_err(|error| self.session.explain(&error))??;
        }
        match job.choice.action {
            Action::Append => {}
            Action::Truncate => self.truncate()?,
            Action::Replace => {
                self.session.execute(&format!("DROP TABLE {}", ddl::quote(table)))?
            }
            Action::Create => {}
        }
        if job.choice.action.makes_table() {
            self.session.execute(&ddl::create_table(
                table,
                &job.choice.columns,
                &job.request.primary_key,
            ))?;
        }
        for statement in ddl::add_columns(job) {
            self.session.execute(&statement)?;
        }
        self.before = match job.before() {
            Some(before) => before.clone(),
            None => self.snapshot(job.request.verify)?,
        };
        Ok(())
    }

    /// Deletes all rows.
    ///
    /// # Errors
    /// When SQLite refuses, or a trigger keeps rows (`RAISE(IGNORE)`).
    fn truncate(&self) -> Result<()> {
        let (table, name) = (ddl::quote(&self.job.table), &self.job.table);
        self.session.execute(&format!("DELETE FROM {table}"))?;
        if self.session.value(&format!("SELECT EXISTS (SELECT 1 FROM {table})"))? == "0" {
            return Ok(());
        }
        Err(Error::target(format!(
            "rows of table {name} stay where they are deleted: a trigger keeps them"
        ))
        .advise("delete them yourself, and load with --if-exists append"))
    }

    /// Enters a load in steps into the ledger, or claims the entry that it goes on with.
    fn enter(&mut self) -> Result<()> {
        let Some(steps) = &self.job.steps else {
            return Ok(());
        };
        let ledger = ddl::ledger(&self.job.table);
        if steps.goes_on {
            self.session.execute(&ledger.claim(&steps.entry))?;
            return ledger::updated(self.session.connection().changes());
        }
        self.session.execute(&ledger.make())?;
        if let Some(forget) = ledger.forget(&steps.outdated) {
            self.session.execute(&forget)?;
        }
        self.session.execute(&ledger.enter(&steps.entry)?)?;
        ledger::entered(self.session.connection().changes())
    }
}

impl Inspect for SqliteLoad<'_> {
    type Failure = Error;

    fn rows(&mut self) -> Result<Option<u64>> {
        let count =
            self.session.value(&format!("SELECT count(*) FROM {}", ddl::quote(&self.job.table)))?;
        Ok(Some(count.parse().unwrap_or(0)))
    }

    fn sums(&mut self) -> Result<Checksum> {
        let columns = &self.job.choice.columns;
        let names: Vec<String> = columns.iter().map(|column| ddl::quote(&column.name)).collect();
        let sql = format!("SELECT {} FROM {}", names.join(", "), ddl::quote(&self.job.table));
        let mut sums = Checksum::new(columns.len());
        let read = || -> rusqlite::Result<()> {
            let mut statement = self.session.connection().prepare(&sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                for index in 0..columns.len() {
                    sums.add(
                        index,
                        match row.get_ref(index)? {
                            ValueRef::Null => Stored::Null,
                            ValueRef::Integer(number) => Stored::Integer(number),
                            ValueRef::Real(number) => Stored::Real(number),
                            ValueRef::Text(text) => Stored::Text(text),
                            ValueRef::Blob(bytes) => Stored::Bytes(bytes),
                        },
                    );
                }
            }
            Ok(())
        };
        let mut read = read;
        read().map_err(|error| self.session.explain(&error))?;
        Ok(sums)
    }
}

impl Load for SqliteLoad<'_> {
    fn hand_over(&mut self) -> Result<Option<u64>> {
        match self.is_outgrown {
            true => Err(Error::target(format!(
                "other programs have added rows to table {}, or deleted some, since the plan was made",
                self.job.table
            ))
            .advise("run the load again: it will look at what is there now")),
            false => Ok(None),
        }
    }

    fn encoder(&self) -> Box<dyn Encode> {
        self.writing.encoder(Arc::clone(&self.shape), self.job)
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        // A table that the load makes has no such keys, and its file may be written without a connection.
        let look = || -> rusqlite::Result<(Clauses, bool)> {
            let (connection, table) = (self.session.connection(), &self.job.table);
            let settles_by_row = deferred::settles_by_row(connection, table)?;
            Ok((Clauses::read(connection, table)?, settles_by_row))
        };
        let (clauses, settles_by_row) = match self.job.kept_table() {
            Some(_) => look().map_err(|error| self.session.explain(&error))?,
            None => (Clauses::default(), false),
        };
        let skips = self.job.request.on_conflict == OnConflict::Skip;
        let cure = match &self.job.steps {
            _ if self.is_one_transaction() || !self.own_key()? => "",
            Some(_) => "; with --guarantee atomic it may come later in the source",
            None => "; without rows_per_transaction it may come later in the source",
        };
        let transaction = Transaction {
            session: &self.session,
            job: self.job,
            clauses,
            settles_by_row,
            lookup: (skips && clauses.leave_out).then(|| Lookup::of(self.job)),
            rows_max: rows_per_transaction(&self.job.choice.knobs),
            rows: 0,
            committed: &mut self.committed,
            has_repeats: &mut self.has_repeats,
            orphans: orphans::Filter::of(self.job),
            cure,
        };
        Ok(vec![self.writing.lane(transaction, self.job)?])
    }

    fn begun(&mut self) -> Result<Begun> {
        let now = facts::read(self.session.connection(), &self.job.table)
            .map_err(|error| self.session.explain(&error))?;
        let definition = now.table.as_ref().map(TableFacts::definition).unwrap_or_default();
        Ok(Begun { before: self.before.clone(), definition })
    }

    fn held(&mut self) -> Result<Option<u64>> {
        self.rows()
    }

    fn record(&mut self, entry: &Entry) -> Result<()> {
        begin(&self.session, self.job)?;
        self.session.execute(&ddl::ledger(&self.job.table).update(entry)?)?;
        ledger::updated(self.session.connection().changes())
    }

    fn step(&mut self) -> Result<()> {
        commit(&self.session, self.job)?;
        self.session.keep();
        Ok(())
    }

    fn next_step(&mut self) -> Result<()> {
        begin(&self.session, self.job)
    }

    fn indexes(&self) -> bool {
        self.writing.indexes(self.job)
    }

    fn complete(&mut self) -> Result<()> {
        self.expect_parents()?;
        self.writing.complete(&mut self.session, self.job)
    }

    fn retry(&mut self, ended_by: Ended) -> Option<Retry> {
        if let Some(orphans) = self.orphans.take() {
            return Some(Retry::Orphans(orphans));
        }
        match self.is_outgrown {
            true => Some(Retry::GaveUp),
            false => self.writing.retry(&self.session, ended_by != Ended::Otherwise),
        }
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        let after = self.snapshot(self.job.request.verify)?;
        Ok(sent.verdict(&self.before, &after, self.job))
    }

    fn commit(&mut self, _note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        let mut settings = BTreeMap::new();
        for name in ["journal_mode", "synchronous"] {
            let value = self.session.value(&format!("PRAGMA {name}"))?;
            let value = match (name, value.as_str()) {
                ("synchronous", "0") => "off".to_owned(),
                ("synchronous", "1") => "normal".to_owned(),
                ("synchronous", "2") => "full".to_owned(),
                ("synchronous", "3") => "extra".to_owned(),
                _ => value,
            };
            settings.insert(name.to_owned(), value);
        }
        if self.session.is_memory() {
            settings.insert("database".to_owned(), "in memory".to_owned());
        }
        self.writing.settle(&self.session)?;
        // From here on there is no stopping halfway.
        self.session.unwatch();
        if self.session.in_transaction() {
            commit(&self.session, self.job)?;
        }
        self.session.keep();
        if let Some(unsure) = self.session.finish()? {
            settings.insert("directory".to_owned(), unsure);
        }
        // A log is taken into the file when that is closed.
        self.session.expect_kept()?;
        Ok(settings)
    }

    fn abort(&mut self) -> Aftermath {
        self.session.unwatch();
        if self.session.is_astray() {
            self.session.discard();
            return Aftermath::Unknown;
        }
        // SQLite itself has rolled back after some errors, and closing rolls back as well.
        let is_open = self.session.in_transaction();
        if is_open && self.session.execute("ROLLBACK").is_err() && self.session.in_transaction() {
            return Aftermath::Unknown;
        }
        let new = self.session.is_new();
        if !new && self.job.choice.knobs.is(&JOURNAL_MODE, "off") {
            // What was written is written, and nobody can say what it was.
            self.session.discard();
            return Aftermath::Unknown;
        }
        let journal_mode =
            self.journal_mode_before.take().filter(|_| !new && self.session.is_open());
        if let Some(mode) = journal_mode
            && self.session.value(&format!("PRAGMA journal_mode = {mode}")).ok() != Some(mode)
        {
            return Aftermath::Unknown;
        }
        // What has lost its name is not there to be opened again, and has been rolled back through the connection.
        let is_undone = is_open && !self.session.is_in_place();
        self.session.discard();
        if !new && !is_undone && self.session.recover().is_err() {
            return Aftermath::Unknown;
        }
        match self.committed {
            Committed { anything: true, rows } if !new => Aftermath::Committed { rows },
            _ => Aftermath::NothingChanged,
        }
    }
}

/// The transaction a lane writes in, committed every so many rows when the plan says so.
pub(super) struct Transaction<'l> {
    pub(super) session: &'l Session<'l>,
    job: &'l Job,
    pub(super) clauses: Clauses,
    settles_by_row: bool,
    /// Where a row that was not inserted need not be a duplicate.
    lookup: Option<Lookup>,
    rows_max: u64,
    rows: u64,
    committed: &'l mut Committed,
    has_repeats: &'l mut bool,
    orphans: Option<orphans::Filter<'l>>,
    /// What lets a parent come later, in words.
    cure: &'static str,
}

// SAFETY: a session is used by one thread at a time: the lane's while the pipeline runs, and the lane alone holds this borrow
// of it; the load's own thread before and after. SQLite's "multi-thread" mode asks for no more.
unsafe impl Send for Transaction<'_> {}

/// Opens a transaction, unless there is one.
pub(super) fn begin(session: &Session<'_>, job: &Job) -> Result<()> {
    if !session.in_transaction() {
        session.execute(&format!("BEGIN {}", job.choice.knobs.word(&BEGIN)))?;
    }
    Ok(())
}

/// Ends the transaction. Where a foreign key that is checked then refuses that, the error says which rows are to blame.
fn commit(session: &Session<'_>, job: &Job) -> Result<()> {
    let blame = |error| deferred::blame(session.connection(), &job.table).unwrap_or(error);
    session.expect_in_place()?;
    session.execute("COMMIT").map_err(blame)?;
    session.expect_kept()
}

impl Transaction<'_> {
    /// Runs a statement that inserts rows, and takes them back where one of them lacks a parent that no later row can be, or was
    /// refused and stays all the same.
    #[inline]
    pub(super) fn run(&self, insert: impl FnOnce() -> Result<Step>) -> Result<Step> {
        if !self.clauses.keep_refused && !self.settles_by_row {
            return insert();
        }
        // By itself SQLite refuses a row without its parent where each is a transaction.
        let is_alone = !self.session.in_transaction();
        if !self.clauses.keep_refused && is_alone {
            return insert();
        }
        self.session.execute("SAVEPOINT inrush_row")?;
        let mut step = insert()?;
        if matches!(step, Step::Done)
            && (is_alone || self.settles_by_row)
            && deferred::are_open(self.session.connection())
        {
            let message = "FOREIGN KEY constraint failed".to_owned();
            step = Step::Refused(Code::ForeignKey, None, message);
        }
        // RAISE(ROLLBACK) has ended it.
        if self.session.in_transaction() {
            if matches!(step, Step::Refused(..)) {
                self.session.execute("ROLLBACK TO inrush_row")?;
            }
            self.session.execute("RELEASE inrush_row")?;
        }
        Ok(step)
    }

    /// Whether a row that SQLite did not insert has the key of another, which `--on-conflict skip` asks for: else a trigger left it out.
    pub(super) fn is_skipped(&self, cells: &[Cell], chunk: &Chunk, wire: &Wire) -> Result<bool> {
        let connection = self.session.connection();
        match &self.lookup {
            Some(lookup) => lookup
                .finds(connection, cells, chunk, wire)
                .map_err(|error| self.session.explain(&error)),
            None => Ok(self.job.request.on_conflict == OnConflict::Skip),
        }
    }

    /// A row was refused. Where SQLite has rolled back the whole transaction because of it (a trigger's RAISE(ROLLBACK)), the
    /// rows before it are gone, and going on would lose them.
    pub(super) fn refused(&mut self, code: Code, message: &str) -> Result<()> {
        *self.has_repeats |= code == Code::DuplicateKey;
        if self.rows_max == 1 || self.session.in_transaction() {
            return Ok(());
        }
        Err(Error::target(format!("a row made SQLite roll back the whole load: {message}"))
            .advise("let the trigger say RAISE(ABORT) instead of RAISE(ROLLBACK): then the row alone is refused"))
    }

    /// A refusal as the fault of a row.
    pub(super) fn fault(
        &self,
        row: usize,
        code: Code,
        column: Option<String>,
        message: String,
    ) -> RowFault {
        let mut fault = statement::fault(row, code, column, message);
        if code == Code::ForeignKey {
            fault.message.push_str(self.cure);
        }
        fault
    }

    /// What is wrong with a row that refers to none, where a try before has found that out.
    #[inline]
    pub(super) fn orphan(
        &mut self,
        row: usize,
        cells: &[Cell],
        chunk: &Chunk,
        wire: &Wire,
    ) -> Option<RowFault> {
        self.orphans.as_mut()?.fault(row, cells, chunk, wire)
    }

    /// Rows that can be written before the next commit.
    pub(super) fn room(&self) -> u64 {
        if self.rows_max == 0 { u64::MAX } else { self.rows_max - self.rows }
    }

    /// Notes rows as written, and commits when the transaction is full.
    #[inline]
    pub(super) fn wrote(&mut self, rows: u64) -> Result<()> {
        if self.rows_max == 0 {
            return Ok(());
        }
        self.rows += rows;
        if self.rows >= self.rows_max {
            match self.session.in_transaction() {
                true => commit(self.session, self.job)?,
                false => self.session.expect_kept()?,
            }
            self.committed.anything = true;
            self.committed.rows += self.rows;
            self.rows = 0;
            if self.rows_max > 1 {
                begin(self.session, self.job)?;
            }
        }
        Ok(())
    }
}
