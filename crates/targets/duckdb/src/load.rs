//! A load into DuckDB, step by step: the same for every strategy except for the lane.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::appender::AppendWriter;
use crate::connection::{Cause, Refusal};
use crate::ddl::{self, quote};
use crate::encode;
use crate::facts::{self, DatabaseFacts};
use crate::knobs;
use crate::prepared::PreparedWriter;
use crate::read_file;
use crate::session::Session;
use crate::sift::{Rules, SiftLane, Sifting, Write, WriteLane};
use crate::stream::{self, GATHERED_BYTES, StreamLane};
use crate::sums;
use crate::types::Carried;
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::{Checksum, Encode};
use inrush_core::ledger::{self, Begun, Entry};
use inrush_core::target::{
    Ended, Fit, Inspect, Knobs, Lane, Load, Memory, Sent, Snapshot, Verdict, Weakness,
};
use inrush_core::{
    Action, Column, Durability, Facts, Guarantee, Job, OnConflict, Request, Retry, TableFacts,
};

/// Bytes of DuckDB's buffers: from as few as do for most tables, to as many as made a difference for wide ones (200 MB of rows of 60
/// columns: 1.16 times as fast).
const BUFFERS: RangeInclusive<u64> = 512 << 20..=2 << 30;

/// How rows get to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// One statement takes them from a stream of Arrow's.
    Arrow,
    /// The appender, in data chunks.
    Appender,
    /// A prepared INSERT, run once a row.
    Prepared,
    /// The engine reads the files.
    ReadFile,
}

/// What all strategies answer to `fit`.
pub(super) fn fit(way: Way, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let unusable = |reason: String| Fit::Unusable { reason };
    let kept = facts.kept_table(request);
    let conflicts = request.on_conflict != OnConflict::Fail;
    let changes = matches!(request.on_conflict, OnConflict::Update | OnConflict::Replace);
    if way == Way::ReadFile
        && let Some(fit) = read_file::unfit(request, facts)
    {
        return fit;
    }
    let asks = DatabaseFacts::of(&facts.target).asks;
    if kept.is_some() && asks.refers_to_itself && way != Way::Prepared {
        return unusable(
            "rows may refer to others of the table, and DuckDB finds those only of earlier statements"
                .to_owned(),
        );
    }
    if way == Way::Appender && changes {
        return unusable(format!(
            "the appender adds rows and changes none (--on-conflict {})",
            request.on_conflict
        ));
    }
    if way == Way::Appender
        && let Some(column) = kept.and_then(|table| {
            let is_cast = |column: &&inrush_core::Column| {
                let declared = column.declared.as_deref().unwrap_or_default();
                super::types::declared(declared).1 == Carried::Cast
            };
            table.columns.iter().find(is_cast)
        })
    {
        return unusable(format!(
            "column {} is of type {}, which takes a statement to make of text",
            column.name,
            column.declared.as_deref().unwrap_or_default()
        ));
    }
    let keyed = match kept {
        Some(table) => !table.primary_key.is_empty() || !table.unique_keys.is_empty(),
        None => !request.primary_key.is_empty(),
    };
    let in_steps = request.guarantee == Guarantee::Chunks;
    if in_steps && let Some(reason) = no_steps(way, keyed, knobs) {
        return unusable(reason.to_owned());
    }
    let is_asked = keyed || kept.is_some() && asks.refuses;
    let in_one = knobs.get_count(&knobs::ROWS_PER_TRANSACTION).is_none_or(|rows| rows == 0);
    // Which row it was a pipe can't be asked a second time, nor rows that are committed.
    if conflicts
        || in_steps && (keyed || kept.is_some())
        || is_asked && !(facts.source.seekable && in_one)
    {
        knobs.suggest(&knobs::SIFT, "on");
    }
    if conflicts && !is_sifted(knobs) {
        return unusable("--on-conflict asks the engine of each chunk (sift=on)".to_owned());
    }
    if let Some(bytes) = facts.memory_bytes {
        let share = (bytes / 4).clamp(*BUFFERS.start(), *BUFFERS.end());
        knobs.suggest(&knobs::MEMORY_LIMIT, &share.to_string());
    }
    let is_memory = DatabaseFacts::of(&facts.target).is_in_memory;
    let mut notes = Vec::new();
    let after =
        usize::from(!request.primary_key.is_empty() && !is_sifted(knobs)) + request.indexes.len();
    // Keys and indexes are built by all threads.
    if way == Way::Arrow && !is_sifted(knobs) && after == 0 && wants_one_thread(facts) {
        knobs.suggest(&knobs::THREADS, "1");
    }
    if kept.is_none() && after > 0 {
        notes.push(match after {
            1 => "its key or index is built after the rows".to_owned(),
            _ => format!("its {after} keys and indexes are built after the rows"),
        });
    }
    Fit::Usable {
        atomic: !facts.target.exists || in_one,
        durability: if is_memory { Durability::None } else { Durability::Durable },
        weakness: is_memory.then(|| Weakness::thing("a database in memory")),
        lanes: 1,
        lanes_max: 1,
        // DuckDB's own threads take what these leave.
        encoders: facts.processors.clamp(1, 16),
        notes,
    }
}

/// Refuses rows that would change more than one key of others: which of a chunk's rows the engine would refuse for the other key isn't known
/// before it has changed those ahead of them. A key that an update leaves alone is asked of new rows only.
pub(super) fn compares(request: &Request, facts: &Facts, columns: &[Column]) -> Result<()> {
    let changes_all = match request.on_conflict {
        OnConflict::Fail | OnConflict::Skip => return Ok(()),
        OnConflict::Update => false,
        OnConflict::Replace => true,
    };
    let Some(table) = facts.kept_table(request) else { return Ok(()) };
    let is_set = |name: &String| {
        let mut loaded = columns.iter().map(|column| &column.name).chain(&table.computed);
        changes_all || loaded.any(|loaded| loaded.eq_ignore_ascii_case(name))
    };
    let keys = [&table.primary_key].into_iter().chain(&table.unique_keys);
    let mut keys: Vec<String> = keys
        .filter(|key| key.iter().any(is_set))
        .map(|key| format!("({})", key.join(", ")))
        .collect();
    if DatabaseFacts::of(&facts.target).asks.keys_on_expressions > 0 {
        keys.push("a unique index on an expression".to_owned());
    }
    if keys.len() < 2 {
        return Ok(());
    }
    Err(Error::usage(format!(
        "--on-conflict {} would set columns of several keys of table {}: {}; a row is found by one of them, and of the others it is not known \
         beforehand which rows DuckDB would refuse",
        request.on_conflict,
        table.name,
        keys.join(", ")
    ))
    .advise("--drop COLUMN leaves a column of another key as it is, with --on-conflict update")
    .advise("or load into a table of its own, and merge the two by a statement of your own"))
}

/// Whether one thread of the engine is the fastest. It writes rows as they come; of several each writes its batches apart from the others',
/// and where these are no whole row groups they are put together afterwards, which costs half as much again. Of 640 to 6,000 bytes a row
/// one thread loaded 1.0 to 1.4 times as much as two on two processors, with two thirds of their work. More processors than that may well
/// do the work sooner.
fn wants_one_thread(facts: &Facts) -> bool {
    const FEW: usize = 2;
    let is_long = |bytes: u64| {
        usize::try_from(bytes).is_ok_and(|bytes| !stream::are_gathered(bytes, facts.processors))
    };
    facts.processors <= FEW && facts.source.row_bytes.is_some_and(is_long)
}

/// Why a load with these knobs can't be committed step by step.
fn no_steps(way: Way, keyed: bool, knobs: &Knobs) -> Option<&'static str> {
    Some(match () {
        () if way == Way::ReadFile => "what the engine reads by itself it takes as a whole",
        () if knobs.get_count(&knobs::ROWS_PER_TRANSACTION).is_some_and(|rows| rows != 0) => {
            "rows_per_transaction commits without the ledger; --commit-rows says how many rows a step has"
        }
        () if keyed && knobs.is_set(&knobs::SIFT) && !is_sifted(knobs) => {
            "sift=off finds a row that repeats a key when the steps are committed"
        }
        () => return None,
    })
}

fn is_sifted(knobs: &Knobs) -> bool {
    knobs.is(&knobs::SIFT, "on")
}

pub(super) fn memory(way: Way, knobs: &Knobs) -> Memory {
    // DuckDB's buffers, its code and threads, batches that it is reading, and the program itself.
    let fixed_bytes = knobs.count(&knobs::MEMORY_LIMIT) + (96 << 20);
    let wire_bytes_per_byte = encode::GROWTH;
    match is_sifted(knobs) {
        // A statement takes batches of some ten thousand rows with a third less work than of some thousand.
        true => Memory { wire_bytes_per_byte, fixed_bytes, chunk_bytes: 2 << 20 },
        false => Memory {
            wire_bytes_per_byte,
            fixed_bytes: fixed_bytes + if way == Way::Arrow { GATHERED_BYTES as u64 } else { 0 },
            chunk_bytes: 512 << 10,
        },
    }
}

/// A load under way.
pub(super) struct DuckLoad<'a> {
    job: &'a Job,
    way: Way,
    session: Session<'a>,
    shape: Arc<Shape>,
    carried: Arc<[Carried]>,
    rules: Rules,
    before: Snapshot,
    outcome: Outcome,
}

/// What the lanes have found out.
#[derive(Default)]
pub(super) struct Outcome {
    /// Rows were refused without saying which.
    pub(super) refused: bool,
    /// Something was committed before the end, because the plan says so.
    pub(super) committed: bool,
    pub(super) committed_rows: u64,
    /// It is not known whether a step is committed, or what is committed is not where the user looks for it.
    unsure: bool,
    /// What the engine reads by itself it refuses, or would change.
    gave_up: bool,
}

impl<'a> DuckLoad<'a> {
    pub(super) fn start(
        way: Way,
        job: &'a Job,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Load + 'a>> {
        let session = Session::open(job, stop)?;
        let mut load = Self {
            job,
            way,
            session,
            shape: Arc::clone(&job.shape),
            carried: super::types::carried_of(job),
            rules: Rules::default(),
            before: Snapshot::default(),
            outcome: Outcome::default(),
        };
        match load.prepare() {
            Ok(()) => Ok(Box::new(load)),
            // What was committed, or can't be undone, stays.
            Err(error) => Err(error.leaving(load.abort())),
        }
    }

    fn is_sifted(&self) -> bool {
        is_sifted(&self.job.choice.knobs)
    }

    /// Makes the table ready, in the transaction that the rows come in.
    fn prepare(&mut self) -> Result<()> {
        let job = self.job;
        self.session.begin()?;
        if !self.session.is_new() {
            let now = facts::read(self.session.connection(), Some(ddl::named(job)))
                .map_err(|refusal| self.session.explain(&refusal))?;
            job.expects(now.table, false)?;
        }
        let table = quote(ddl::table(job));
        match job.choice.action {
            Action::Append | Action::Create => {}
            Action::Truncate => {
                self.session.execute(&ddl::insert_nothing(job))?;
                self.session.execute(&format!("DELETE FROM {table}"))?;
            }
            Action::Replace => {
                let old = job
                    .facts
                    .target
                    .table
                    .as_ref()
                    .map_or_else(|| ddl::named(job), |table| &table.name);
                self.session.execute(&format!("DROP TABLE {}", quote(old)))?;
            }
        }
        if job.choice.action.makes_table() {
            self.session.execute(&ddl::create_table(job, self.is_sifted()))?;
        }
        for statement in ddl::add_columns(job) {
            self.session.execute(&statement)?;
        }
        self.rules = Rules::read(self.session.connection(), job, &self.carried)
            .map_err(|refusal| self.session.explain(&refusal))?;
        self.before = match job.before() {
            Some(before) => before.clone(),
            None => self.snapshot(job.request.verify)?,
        };
        self.enter()
    }

    /// Enters a load in steps into the ledger, or claims the entry that it goes on with.
    fn enter(&mut self) -> Result<()> {
        let Some(steps) = &self.job.steps else {
            return Ok(());
        };
        let ledger = ddl::ledger(ddl::table(self.job));
        if steps.goes_on {
            return ledger::updated(self.session.execute(&ledger.claim(&steps.entry))?);
        }
        self.session.execute(&ledger.make())?;
        if let Some(forget) = ledger.forget(&steps.outdated) {
            self.session.execute(&forget)?;
        }
        ledger::entered(self.session.execute(&ledger.enter(&steps.entry)?)?)
    }

    /// Commits. Of a step that the engine refuses for another reason than its rows, the ledger alone knows.
    fn commit_rows(&mut self) -> Result<()> {
        self.session.expect_in_place()?;
        self.session.commit().map_err(|refusal| {
            self.outcome.unsure = self.job.steps.is_some() && !refusal.is_of_rows();
            self.refused(&refusal)
        })?;
        self.expect_kept()
    }

    /// Makes sure that what is committed is where the user looks for it.
    fn expect_kept(&mut self) -> Result<()> {
        let kept = self.session.expect_kept();
        self.outcome.unsure |= kept.is_err();
        kept
    }

    /// What the engine has said of all rows together.
    fn refused(&mut self, refusal: &Refusal) -> Error {
        self.outcome.refused |= refusal.is_of_rows();
        let error = self.session.explain(refusal);
        match self.way == Way::ReadFile && (self.outcome.gave_up || refusal.is_of_rows()) {
            true => error.advise("leave --strategy out: then inrush reads the file itself"),
            false => error,
        }
    }

    /// Whether the engine may refuse rows that the encoders take for good.
    fn is_checked_by_engine(&self) -> bool {
        let keyed =
            self.job.choice.action.makes_table() && !self.job.request.primary_key.is_empty();
        keyed || self.rules.refuse_rows()
    }
}

impl Inspect for DuckLoad<'_> {
    type Failure = Error;

    fn rows(&mut self) -> Result<Option<u64>> {
        let sql = format!("SELECT CAST(count(*) AS VARCHAR) FROM {}", quote(ddl::table(self.job)));
        Ok(Some(self.session.value(&sql)?.parse().unwrap_or(0)))
    }

    fn sums(&mut self) -> Result<Checksum> {
        sums::of_table(self.session.connection(), self.job, &self.carried)
            .map_err(|refusal| self.session.explain(&refusal))
    }
}

impl Load for DuckLoad<'_> {
    fn hand_over(&mut self) -> Result<Option<u64>> {
        if self.way != Way::ReadFile {
            return Ok(None);
        }
        let read = read_file::run(self.session.connection(), self.job);
        read.map(Some).map_err(|refusal| {
            self.outcome.gave_up = refusal.cause != Cause::Interrupt;
            self.refused(&refusal)
        })
    }

    fn encoder(&self) -> Box<dyn Encode> {
        encode::encoder(Arc::clone(&self.shape), self.job, &self.carried)
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        let sifted = self.is_sifted();
        let Self { job, way, session, carried, rules, outcome, .. } = self;
        let job: &Job = job;
        let sent = sums::Sent { session, job, carried, rules };
        let lane: Box<dyn Lane + '_> = match way {
            Way::Arrow if !sifted => Box::new(StreamLane::start(sent, outcome)?),
            _ => {
                let connection = session.connection();
                let writer: Option<Box<dyn Write + Send>> = match way {
                    Way::Arrow | Way::ReadFile => None,
                    Way::Appender => {
                        let opened = AppendWriter::open(connection, job, carried);
                        Some(Box::new(opened.map_err(|refusal| session.explain(&refusal))?))
                    }
                    Way::Prepared => {
                        let opened = PreparedWriter::open(connection, job, rules, carried);
                        Some(Box::new(opened.map_err(|refusal| session.explain(&refusal))?))
                    }
                };
                match writer {
                    Some(writer) if !sifted => Box::new(WriteLane::start(sent, writer, outcome)),
                    writer => {
                        let way = Sifting { rules, writer };
                        Box::new(SiftLane::start(session, job, carried, way, outcome)?)
                    }
                }
            }
        };
        Ok(vec![lane])
    }

    fn begun(&mut self) -> Result<Begun> {
        let now = facts::read(self.session.connection(), Some(ddl::table(self.job)))
            .map_err(|refusal| self.session.explain(&refusal))?;
        let definition = now.table.as_ref().map(TableFacts::definition).unwrap_or_default();
        Ok(Begun { before: self.before.clone(), definition })
    }

    fn held(&mut self) -> Result<Option<u64>> {
        self.rows()
    }

    fn record(&mut self, entry: &Entry) -> Result<()> {
        self.session.begin()?;
        ledger::updated(self.session.execute(&ddl::ledger(ddl::table(self.job)).update(entry)?)?)
    }

    fn step(&mut self) -> Result<()> {
        self.commit_rows()?;
        self.session.keep();
        Ok(())
    }

    fn next_step(&mut self) -> Result<()> {
        self.session.begin()
    }

    fn indexes(&self) -> bool {
        let keyed = !self.job.request.primary_key.is_empty() && !self.is_sifted();
        let is_own = self.job.choice.action.makes_table() || self.job.goes_on().is_some();
        is_own && (keyed || !self.job.request.indexes.is_empty())
    }

    fn complete(&mut self) -> Result<()> {
        let job = self.job;
        if !self.indexes() {
            return Ok(());
        }
        self.session.begin()?;
        if !job.request.primary_key.is_empty() && !self.is_sifted() {
            let made = self.session.connection().execute(&ddl::add_key(job));
            made.map_err(|refusal| self.refused(&refusal))?;
        }
        for columns in &job.request.indexes {
            let taken = |name: &str| {
                let sql = format!(
                    "SELECT CAST(count(*) AS VARCHAR) FROM duckdb_indexes() WHERE database_name = current_database() AND {} = {}",
                    ddl::folded("index_name"),
                    ddl::folded(&ddl::literal(name))
                );
                self.session.value(&sql).is_ok_and(|count| count != "0")
            };
            let sql = ddl::create_index(job, columns, taken);
            self.session.execute(&sql)?;
        }
        Ok(())
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        let after = self.snapshot(self.job.request.verify)?;
        Ok(sent.verdict(&self.before, &after, self.job))
    }

    fn commit(&mut self, _note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        let mut settings = BTreeMap::new();
        let sql = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()";
        if let Ok(version) = self.session.value(sql)
            && !version.is_empty()
        {
            settings.insert(knobs::STORAGE_VERSION.name.to_owned(), version);
        }
        let commit = match self.session.is_memory() {
            true => "in memory",
            // https://duckdb.org/docs/stable/internals/storage: the log is synced at each commit, the file at each checkpoint.
            false if self.session.is_new() => "checkpointed and synced",
            false => "the log is synced at each commit",
        };
        settings.insert("commit".to_owned(), commit.to_owned());
        // From here on there is no stopping halfway.
        self.session.unwatch();
        // A key that was added after the rows is looked at here.
        self.commit_rows()?;
        self.session.keep();
        if let Some(unsure) = self.session.finish()? {
            settings.insert("directory".to_owned(), unsure);
        }
        // Whoever closes the file last has the log taken into it.
        self.expect_kept()?;
        Ok(settings)
    }

    fn retry(&mut self, ended_by: Ended) -> Option<Retry> {
        let on = Retry::Knob(&knobs::SIFT, "on");
        match ended_by {
            _ if self.way == Way::ReadFile => {
                (self.outcome.gave_up || self.outcome.refused).then_some(Retry::GaveUp)
            }
            _ if self.is_sifted() || self.session.is_stopped() => None,
            _ if self.outcome.refused => Some(on),
            Ended::ByRows | Ended::ByMismatch if self.is_checked_by_engine() => Some(on),
            _ => None,
        }
    }

    fn abort(&mut self) -> Aftermath {
        self.session.unwatch();
        let is_new = self.session.is_new();
        let undone = self.session.rollback();
        self.session.discard();
        match self.outcome {
            _ if is_new => Aftermath::NothingChanged,
            Outcome { unsure: true, .. } => Aftermath::Unknown,
            Outcome { committed: true, committed_rows: rows, .. } => Aftermath::Committed { rows },
            _ if !undone => Aftermath::Unknown,
            _ => Aftermath::NothingChanged,
        }
    }
}
