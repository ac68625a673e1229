//! A load into PostgreSQL, step by step: the same for every strategy except for the encoder and the statements.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use crate::blame;
use crate::connect;
use crate::ddl::{self, Table};
use crate::encode::Stores;
use crate::facts::{self, ServerFacts};
use crate::fit::{Mode, bytes, freezes, triggers_wait};
use crate::knobs::{
    FREEZE, INDEXES, ROWS_PER_STATEMENT, ROWS_PER_TRANSACTION, SYNCHRONOUS_COMMIT, UNLOGGED,
};
use crate::orphans::{self, OwnKey};
use crate::repeats;
use crate::rows::RowReader;
use crate::session::{self, Failure, Session};
use crate::staging;
use inrush_core::encode::Shape;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Checksum, Code, Encode};
use inrush_core::ledger::{self, Begun, Entry, Ledger, StepPlan};
use inrush_core::target::{Ended, Inspect, Knob, Lane, Load, Sent, Snapshot, TableName, Verdict};
use inrush_core::wording::{asks_about_commit, said_of};
use inrush_core::{Action, IfExists, Job, OnConflict, Orphans, RejectLimit, Repeats, Retry};
use inrush_net::statement::{
    Bounds, Commits, Connection as _, Held, Shared, StatementLane, Undo, Write,
};

/// What differs between strategies.
pub(super) trait Writing: Sync {
    /// Whether the wire's rows are those of COPY in binary, whose keys can be read.
    fn sends_binary(&self) -> bool {
        false
    }

    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode>;

    /// Whether a statement takes the rows of several chunks.
    fn streams(&self, _plan: &Job) -> bool {
        false
    }

    /// What writes the rows of one lane into `table`.
    ///
    /// # Errors
    /// When it can't be made ready.
    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &Table,
        stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>>;
}

/// Bytes of rows between two commits into a table that is ours alone.
const COMMIT_BYTES: usize = 64 << 20;

/// Bytes of a statement's text; a message has at most 1 GB.
const STATEMENT_BYTES_MAX: usize = 256 << 20;

/// A load under way.
pub(super) struct PostgresLoad<'a> {
    job: &'a Job,
    stop: &'a AtomicBool,
    session: Session<'a>,
    writing: &'static dyn Writing,
    mode: Mode,
    target: Table,
    /// The table that takes the rows, where it gets the target's name later.
    hidden: Option<Table>,
    /// The connection that has made it, for the first lane.
    maker: Option<Session<'a>>,
    stores: Stores,
    shape: Arc<Shape>,
    shared: Shared,
    /// Found out when keys and indexes were built.
    retry: Option<Retry>,
    before: Snapshot,
    /// The end was sent, and no answer came.
    unsure: bool,
    /// Statements that committed by themselves have changed the table.
    changed: bool,
    /// The table has to be empty but for the load's rows, and only a look at its end tells.
    looks_again: bool,
}

impl<'a> PostgresLoad<'a> {
    pub(super) fn start(
        writing: &'static dyn Writing,
        job: &'a Job,
        stop: &'a AtomicBool,
    ) -> Result<Box<dyn Load + 'a>> {
        let place = Arc::new(connect::place(&job.location.secret, &job.location.spare)?);
        let session = Session::take_over(&place, stop)?;
        let kept = job.kept_table().is_some();
        let source = &job.facts.source;
        let mode = match (&*source.repeats, &*source.orphans) {
            (Repeats::Sought { .. }, _) | (_, Orphans::Sought) => Mode::Survey,
            _ => Mode::of(kept, job.choice.lanes, &job.choice.knobs),
        };
        let mut load = Self {
            job,
            stop,
            session,
            writing,
            mode,
            target: Table::of(&job.facts.target),
            hidden: None,
            maker: None,
            stores: Stores::of_plan(job),
            shape: Arc::clone(&job.shape),
            shared: Shared::default(),
            retry: None,
            before: Snapshot::default(),
            unsure: false,
            changed: false,
            looks_again: false,
        };
        match load.prepare() {
            Ok(()) => Ok(Box::new(load) as Box<dyn Load + 'a>),
            Err(failure) => {
                let error = load.explain(failure);
                // What was committed by itself stays.
                Err(error.leaving(load.abort()))
            }
        }
    }

    fn explain(&mut self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Failed(failure) => match session::state(&failure) {
                session::NOT_ENCODED => {
                    self.misnamed().unwrap_or_else(|| self.session.explain(failure))
                }
                _ => self.session.explain(failure),
            },
            Trouble::Ended(error) => error,
        }
    }

    /// What to do about the column whose name the database's encoding has no characters for: the server is asked with each, as it reads
    /// a message before it looks whether the transaction has failed.
    fn misnamed(&mut self) -> Option<Error> {
        let columns = self.job.choice.columns.iter();
        let mut names = columns.map(|column| &column.name).filter(|name| !name.is_ascii());
        let name = names.find(|name| {
            let asked = self.session.execute(format!("SELECT {}", ddl::literal(name)));
            asked.is_err_and(|failure| session::state(&failure) == session::NOT_ENCODED)
        })?;
        let encoding = ServerFacts::of(&self.job.facts.target).setting("server_encoding");
        let renamed = said_of("--rename", name, "NEW");
        let error = session::not_encoded("column", name, encoding);
        Some(error.advise(format!("{renamed} gives it another name")))
    }

    /// Makes the table ready.
    fn prepare(&mut self) -> Result<(), Trouble> {
        let job = self.job;
        let makes = job.choice.action.makes_table();
        if !job.request.owns_table {
            let name = TableName {
                schema: Some(self.target.schema.clone()),
                table: self.target.name.clone(),
            };
            let hidden = staging::hidden_tables(&self.target);
            let [hidden, entry] = self.session.tables([&hidden, &facts::table_entry(&name)])?;
            staging::sweep(&mut self.session, &self.target, hidden.into_iter().flatten().flatten());
            let found = facts::with_columns(&mut self.session, entry).map_err(Trouble::Ended)?;
            job.expects(found.map(|found| found.facts), false).map_err(Trouble::Ended)?;
        }
        let survey = self.mode == Mode::Survey;
        if makes || survey {
            self.hidden = Some(staging::hidden(&self.target));
        }
        let begin = settings(job, self.mode, makes || survey, "");
        let with_indexes = !builds_later(job);
        let unlogged = job.choice.knobs.is(&UNLOGGED, "on");
        let target = &self.target;
        let create = |hidden: &Table| match survey {
            true => ddl::create_like(hidden, target, job),
            false => ddl::create_table(hidden, job, unlogged, with_indexes),
        };
        match (self.mode, &self.hidden) {
            (Mode::Hidden | Mode::Survey, Some(hidden)) => {
                self.session.execute(begin)?;
                staging::lock(&mut self.session, hidden)?;
                let mut maker = self.session.another(self.stop).map_err(Trouble::Ended)?;
                maker.execute(format!("BEGIN; {}; COMMIT", create(hidden)))?;
                self.maker = Some(maker);
                return Ok(());
            }
            (Mode::InOne, Some(hidden)) => {
                self.session.execute(format!("{begin}; {}", create(hidden)))?;
                return self.enter();
            }
            (Mode::InOne, None) if self.wants_empty() => self.begin_alone()?,
            (Mode::InOne, None) => self.session.send_ahead(begin)?,
            (Mode::Hidden | Mode::Piecemeal | Mode::Survey, _) => self.session.set_up(&begin),
        }
        if self.wants_empty() {
            let first = ddl::first_row(&self.target);
            let first = self.in_transaction(|session| session.table(&first))?;
            if !first.is_empty() {
                return Err(Trouble::Ended(self.not_empty()));
            }
        }
        if self.may_seek() && !ServerFacts::of(&job.facts.target).triggers_decide {
            self.session.may_seek = Some(job);
        }
        self.session.own_keys = &ServerFacts::of(&job.facts.target).own_keys;
        self.session.may_seek_orphans = self.may_seek_orphans();
        if job.choice.action == Action::Truncate {
            self.truncate()?;
        }
        if let Some(add) = ddl::add_columns(&self.target, job) {
            self.session.execute(add)?;
            self.changed = self.mode == Mode::Piecemeal;
        }
        self.before = match job.before() {
            Some(before) => before.clone(),
            None => self.snapshot(job.request.verify)?,
        };
        self.enter()
    }

    /// Whether the load is for an existing table without rows, and no earlier run has brought any.
    fn wants_empty(&self) -> bool {
        let job = self.job;
        job.request.if_exists == IfExists::Empty
            && job.kept_table().is_some()
            && job.before().is_none()
    }

    /// Begins the transaction of a load that wants an empty table. Whoever else writes into it waits until the load is through; where
    /// this user may not have them wait, or the table is none that can be locked, other loads are kept out, and at the end the table is
    /// looked at once more.
    fn begin_alone(&mut self) -> Result<(), Trouble> {
        // Before the first query: the transaction is to see what the lock has waited for.
        let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", self.target.sql());
        let begin = |first: &str| settings(self.job, self.mode, false, first);
        match self.session.execute(begin(&lock)) {
            Err(failure) if matches!(session::state(&failure), "42501" | "42809") => {
                self.session.execute("ROLLBACK")?;
            }
            locked => return Ok(locked.map(drop)?),
        }
        self.session.execute(begin(""))?;
        let locked = self.session.value(&ddl::try_lock(&self.target))?;
        if locked.as_deref() != Some("t") {
            let what = format!("another load writes into table {}", self.job.table);
            return Err(Trouble::Ended(Error::target(what).advise(EMPTY_ADVICE)));
        }
        self.looks_again = true;
        Ok(())
    }

    /// Looks whether others have written into a table that was to be empty, where nothing has kept them from it.
    ///
    /// # Errors
    /// When there are rows that are not the load's.
    fn look_again(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.looks_again) {
            return Ok(());
        }
        // It sees what others have committed, and nothing of this load. Whoever waits to alter the table waits for this load, and would
        // let that connection wait behind.
        let mut other = self.session.another(self.stop)?;
        let patience = other.execute("SET lock_timeout = '1s'");
        let first = patience.and_then(|_| other.table(&ddl::first_row(&self.target)));
        match first {
            Err(failure) if session::state(&failure) == "55P03" => Ok(()),
            Err(failure) => Err(other.explain(failure)),
            Ok(first) if first.is_empty() => Ok(()),
            Ok(_) => Err(self.not_empty()),
        }
    }

    fn not_empty(&self) -> Error {
        let table = &self.job.table;
        Error::target(format!("table {table} was empty, and another client has written into it"))
            .advise(EMPTY_ADVICE)
    }

    /// Enters a load in steps into the ledger, or claims the entry that it goes on with.
    fn enter(&mut self) -> Result<(), Trouble> {
        let Some(steps) = &self.job.steps else {
            return Ok(());
        };
        let entered = enter(&mut self.session, &self.target, steps);
        entered.map_err(|trouble| match trouble {
            Trouble::Failed(failure) => Trouble::Ended(facts::of_ledger(&self.session, failure)),
            ended @ Trouble::Ended(_) => ended,
        })
    }

    /// Deletes all rows, as cheaply as can be done without touching other tables.
    ///
    /// # Errors
    /// When the server refuses, or a trigger or a rule keeps rows.
    fn truncate(&mut self) -> Result<(), Trouble> {
        let table = self.target.only();
        let truncates = self.job.kept_table().is_some_and(facts::may_truncate);
        let left = self.in_transaction(|session| {
            if truncates {
                return session.execute(format!("TRUNCATE {table}")).map(|_| Vec::new());
            }
            session.execute(format!("DELETE FROM {table}"))?;
            session.table(&format!("SELECT 1 FROM {table} LIMIT 1"))
        });
        let left = left.map_err(|failure| match session::state(&failure) {
            "23503" | "23001" => Trouble::Ended(self.session.explain(failure).advise(
                "rows that stay refer to these: delete those first, or keep these with --if-exists append",
            )),
            _ => Trouble::Failed(failure),
        })?;
        self.changed = self.mode == Mode::Piecemeal;
        if left.is_empty() {
            return Ok(());
        }
        let name = &self.job.table;
        Err(Trouble::Ended(
            Error::target(format!(
                "rows of table {name} stay where they are deleted: a trigger or a rule keeps them"
            ))
            .advise("delete them yourself, and load with --if-exists append"),
        ))
    }

    /// Does `work` in a transaction that begins as all of the load do: in the one that is open, or else in one of its own.
    fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Session<'a>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.mode != Mode::Piecemeal {
            return work(&mut self.session);
        }
        self.session.begin()?;
        let done = work(&mut self.session)?;
        self.session.commit()?;
        Ok(done)
    }

    /// Whether each row is a transaction without a word of ours.
    fn autocommits(&self) -> bool {
        let knobs = &self.job.choice.knobs;
        let needs_settings = knobs.get(&SYNCHRONOUS_COMMIT).is_some_and(|wanted| wanted != "keep")
            || ServerFacts::of(&self.job.facts.target).setting("array_nulls") == "off";
        self.mode == Mode::Piecemeal && self.rows_per_transaction() == 1 && !needs_settings
    }

    /// Whether another try may look for rows that repeat a key.
    fn may_seek(&self) -> bool {
        let job = self.job;
        self.mode == Mode::InOne
            && self.hidden.is_none()
            && self.writing.sends_binary()
            && ServerFacts::of(&job.facts.target).creates
            && ServerFacts::of(&job.facts.target).lanes_max() != Some(0)
            && job.facts.source.seekable
            && job.request.on_conflict == OnConflict::Fail
            && job.request.max_rejects != RejectLimit::Rows(0)
            && !job.facts.source.repeats.are_known()
            && job.steps.is_none()
    }

    /// Whether another try can leave out the rows that this one finds to be orphans.
    fn may_leave_out(&self) -> bool {
        self.writing.sends_binary() && self.job.facts.source.seekable
    }

    /// Whether another try may look for orphans, where the one statement that takes the rows fails for them.
    fn may_seek_orphans(&self) -> bool {
        let job = self.job;
        let server = ServerFacts::of(&job.facts.target);
        self.mode == Mode::InOne
            && self.writing.streams(job)
            && orphans::come_in_one(job)
            && self.may_leave_out()
            && server.creates
            && server.lanes_max() != Some(0)
            && *job.facts.source.orphans == Orphans::Unknown
            && job.steps.is_none()
    }

    /// Looks for the orphans among the rows, which are in the table itself, or beside it; the retry of this try.
    fn seek_orphans(&mut self) -> Result<(), Failure> {
        let job = self.job;
        let own_keys = &ServerFacts::of(&job.facts.target).own_keys;
        let keys: Vec<&OwnKey> = own_keys.iter().filter(|key| key.is_loaded(job)).collect();
        let is_survey = self.mode == Mode::Survey;
        let beside = is_survey.then_some(job.choice.action == Action::Append);
        let rows = self.table().clone();
        let found = match keys.is_empty() {
            true => None,
            false => orphans::find(&mut self.session, &rows, beside, &keys, &self.target.name)?,
        };
        self.retry = match (found, is_survey) {
            (Some(found), false) if found.is_empty() => None,
            (Some(found), _) => Some(Retry::Orphans(Orphans::Known(found))),
            // The server refuses them chunk by chunk then.
            (None, true) => Some(Retry::Orphans(Orphans::Known(Vec::new()))),
            (None, false) => None,
        };
        Ok(())
    }

    /// Has the server check what has waited for all rows.
    fn settle(&mut self) -> Result<()> {
        if deferred(self.job, self.mode).is_none() {
            return Ok(());
        }
        let check = [session::SET, "SET CONSTRAINTS ALL IMMEDIATE"].concat();
        let Err(failure) = self.session.execute(check) else { return Ok(()) };
        let is_orphan =
            failure.refusal().is_some_and(|refused| self.session.own_key(refused).is_some());
        if is_orphan && self.may_leave_out() && self.session.undo().is_ok() {
            // Whoever may not look for them hears of the first one alone.
            let _ = self.seek_orphans();
        }
        let error = self.session.explain(failure);
        let server = ServerFacts::of(&self.job.facts.target);
        Err(match is_orphan {
            true => error
                .advise("the key is checked when all rows are in: load that row too, or take those out that refer to it"),
            false if triggers_wait(&self.job.request) && !server.late_triggers.is_empty() => error
                .advise("constraint triggers are checked when all rows are in; with --max-rejects, as they come, and then the row is named"),
            false => error,
        })
    }

    /// Looks for the values of the key that rows repeat; the retry of this try.
    fn seek(
        &mut self,
        key: Vec<String>,
        words: &str,
        target: Option<&Table>,
    ) -> Result<(), Failure> {
        let rows = self.table().clone();
        let values = repeats::find(&mut self.session, &rows, target, &key, words)?;
        self.retry = Some(match values {
            None if self.mode != Mode::Survey => Retry::InOrder(Some((&INDEXES, "before"))),
            values => {
                // With too many to be kept the server refuses each row by itself.
                Retry::Repeats(Repeats::Values { key, values: values.unwrap_or_default() })
            }
        });
        Ok(())
    }

    /// Keys and indexes can't be built on the rows. Which of them repeat a key, they have to be asked themselves; another that no index
    /// takes the server names as it comes.
    fn not_built(&mut self, mut failure: Failure) -> Error {
        let code = failure.refusal().and_then(|refused| blame::fault_code(refused));
        let lacks_room = session::state(&failure) == "53400";
        if let Failure::Server(refused) = &mut failure {
            refused.message.insert_str(0, "keys and indexes can't be built: ");
        }
        let mut error = self.session.explain(failure);
        if lacks_room {
            error = error.advise(
                "--set indexes=before builds them while the rows come, which takes no such files",
            );
        }
        match code {
            None => return error,
            Some(Code::DuplicateKey) if self.job.facts.source.repeats.are_known() => return error,
            Some(Code::DuplicateKey) => {}
            Some(_) => {
                self.retry = Some(Retry::InOrder(Some((&INDEXES, "before"))));
                return error.advise("--set indexes=before finds the row");
            }
        }
        let words =
            format!("duplicate key value violates unique constraint \"{}_pkey\"", self.target.name);
        let found = match self.writing.sends_binary() && self.session.undo().is_ok() {
            true => self.seek(ddl::key(self.job), &words, None),
            false => {
                self.retry = Some(Retry::InOrder(Some((&INDEXES, "before"))));
                Ok(())
            }
        };
        match found {
            Ok(()) => error.advise("--set indexes=before finds the row"),
            Err(failure) => self.session.explain(failure),
        }
    }

    /// The table that takes the rows.
    fn table(&self) -> &Table {
        self.hidden.as_ref().unwrap_or(&self.target)
    }

    fn rows_per_transaction(&self) -> usize {
        self.job.choice.knobs.get_count(&ROWS_PER_TRANSACTION).unwrap_or(0) as usize
    }

    fn bounds(&self) -> Bounds {
        let knobs = &self.job.choice.knobs;
        let rows_per_transaction = self.rows_per_transaction();
        let rows = knobs.get_count(&ROWS_PER_STATEMENT);
        Bounds {
            undo: match (self.writing.streams(self.job), freezes(self.job)) {
                (true, _) => Undo::No {
                    alone: false,
                    why: "the statement took many others before",
                    knob: CHUNK_BY_CHUNK,
                    advice: "--set rows_per_statement=1000000 finds it",
                },
                // The table has to be made or truncated in the same subtransaction, so there is no savepoint to go back to.
                (false, true) => Undo::No {
                    alone: false,
                    why: "COPY FREEZE leaves no way back",
                    knob: (&FREEZE, "off"),
                    advice: "--set freeze=off finds it",
                },
                (false, false) => Undo::Yes,
            },
            lasting: self.autocommits(),
            rows_per_statement: match rows_per_transaction {
                1 => 1,
                _ => rows.unwrap_or(0) as usize,
            },
            commits: match (self.mode, rows_per_transaction) {
                (Mode::InOne, _) => Commits::Never,
                (_, 0) => Commits::Bytes(COMMIT_BYTES),
                _ if self.autocommits() => Commits::Always,
                (_, rows) => Commits::Rows(rows),
            },
            bytes_max: STATEMENT_BYTES_MAX,
            bytes_max_of: "the protocol",
        }
    }

    /// Ends the transaction; where the answer is lost, finds out what became of it.
    fn end(&mut self, number: Option<String>, note: &dyn Fn(&str)) -> Result<()> {
        // From here on nobody can say that nothing has changed but the server.
        self.session.unwatch();
        let Err(failure) = self.session.commit() else { return Ok(()) };
        if !matches!(failure, Failure::Lost(_)) {
            return Err(self.session.explain(failure));
        }
        let committed = number.and_then(|number| self.became(&number, note));
        match committed {
            Some(true) => Ok(()),
            Some(false) => Err(self.session.explain(failure)),
            None => {
                self.unsure = true;
                Err(self.session.explain(failure))
            }
        }
    }

    /// Whether the transaction was committed; `None` where nobody can be asked. A server that has crashed takes a while to say.
    fn became(&mut self, number: &str, note: &dyn Fn(&str)) -> Option<bool> {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);
        note(&asks_about_commit(PATIENCE));
        let began = std::time::Instant::now();
        while began.elapsed() < PATIENCE {
            if self.session.reconnect().is_ok() {
                let sql = format!("SELECT pg_catalog.txid_status({number})");
                match self.session.value(&sql) {
                    Ok(Some(status)) if status == "committed" => return Some(true),
                    Ok(Some(status)) if status == "aborted" => return Some(false),
                    // One "in the future": a server that has crashed never wrote its log so far
                    // (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT).
                    Err(failure) if session::state(&failure) == "22023" => return Some(false),
                    _ => {}
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        None
    }
}

/// See [`PostgresLoad::enter`].
fn enter(session: &mut Session<'_>, target: &Table, steps: &StepPlan) -> Result<(), Trouble> {
    let ledger = ddl::ledger(&target.schema, &target.name);
    if steps.goes_on {
        let claimed = changed_in_ledger(session, &ledger.claim(&steps.entry))?;
        return ledger::updated(claimed).map_err(Trouble::Ended);
    }
    // Who may write into an existing one need not have the right to make it.
    let known = facts::relation(session, &ledger.name)?;
    if known.is_none() {
        make_ledger(session, &ledger)?;
    }
    if let Some(forget) = ledger.forget(&steps.outdated) {
        session.execute(forget)?;
    }
    let enter = ledger.enter(&steps.entry).map_err(Trouble::Ended)?;
    let entered = changed_in_ledger(session, &enter)?;
    ledger::entered(entered).map_err(Trouble::Ended)
}

/// Makes the ledger, unless another load does so at the same time: who comes second waits for the first step of that one, and then hears
/// of the table, or of the catalogue's own index that has it.
fn make_ledger(session: &mut Session<'_>, ledger: &Ledger<'_>) -> Result<(), Failure> {
    let make = format!("SAVEPOINT made; {}; RELEASE SAVEPOINT made", ledger.make());
    match session.execute(make) {
        Err(failure) if matches!(session::state(&failure), "42P07" | "23505") => {
            session.execute("ROLLBACK TO SAVEPOINT made; RELEASE SAVEPOINT made").map(drop)
        }
        made => made.map(drop),
    }
}

/// How many entries the statement changes. One that another process has changed since the transaction began is none of ours: where
/// the transaction sees what was there then, the server refuses the statement for it.
fn changed_in_ledger(session: &mut Session<'_>, sql: &str) -> Result<u64, Failure> {
    match session.execute(sql) {
        Err(failure) if session::state(&failure) == "40001" => Ok(0),
        changed => changed,
    }
}

/// Whether keys and indexes that the user asked for are built when the rows are in.
fn builds_later(job: &Job) -> bool {
    let wants = !job.request.primary_key.is_empty() || !job.request.indexes.is_empty();
    wants && job.choice.action.makes_table() && job.choice.knobs.is(&INDEXES, "after")
}

/// What to do about a table that isn't empty any more.
const EMPTY_ADVICE: &str = "--if-exists append adds to what others write";

/// Off, the server reads NULL within an array as the text of these letters where it reads text, and as NULL in binary
/// (<https://www.postgresql.org/docs/current/runtime-config-compatible.html#GUC-ARRAY-NULLS>).
const ARRAY_NULLS: &str = "SET LOCAL array_nulls = on";

/// What the load's own transaction begins with, and the statement that comes first in it. Nothing is set for longer than that: behind a
/// pooler the next one may be another client's.
fn settings(job: &Job, mode: Mode, makes: bool, first: &str) -> String {
    // Nobody reads notices while rows are on their way.
    let mut settings =
        vec!["SET LOCAL client_min_messages = error".to_owned(), ARRAY_NULLS.to_owned()];
    if let Some(wanted) =
        job.choice.knobs.get(&SYNCHRONOUS_COMMIT).filter(|wanted| *wanted != "keep")
    {
        settings.push(format!("SET LOCAL synchronous_commit = {wanted}"));
    }
    if !makes {
        // A row that a deferred constraint refuses has to be known while it can be told which it is.
        settings.push("SET CONSTRAINTS ALL IMMEDIATE".to_owned());
        // But one that refers to the table itself, or is a trigger's, may find its rows only when all are in.
        settings.extend(deferred(job, mode));
    }
    if mode == Mode::Piecemeal {
        return settings.join("; ");
    }
    // The first connection waits while others write, or while the source is read.
    settings.push("SET LOCAL idle_in_transaction_session_timeout = 0".to_owned());
    // What others write meanwhile is not taken for ours; but a hidden table's rows are other connections'.
    let level = if makes { "READ COMMITTED" } else { "REPEATABLE READ" };
    settings.extend((!first.is_empty()).then(|| first.to_owned()));
    let (settings, savepoint) = (settings.join("; "), session::FIRST);
    format!("BEGIN ISOLATION LEVEL {level}; {settings}{savepoint}")
}

/// The statement that has keys and triggers wait for the end of the load, where that is the end of its transaction.
fn deferred(job: &Job, mode: Mode) -> Option<String> {
    let waits = mode == Mode::InOne && job.steps.is_none() && job.kept_table().is_some();
    let server = ServerFacts::of(&job.facts.target);
    let triggers = if triggers_wait(&job.request) { &server.late_triggers[..] } else { &[] };
    orphans::defer(&server.own_keys, triggers).filter(|_| waits)
}

/// What transactions into a hidden table begin with: they need not last before the load's own, and the source may keep them waiting.
const HIDDEN_SETTINGS: &str = "SET LOCAL client_min_messages = error; SET LOCAL synchronous_commit = off; \
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL array_nulls = on";

/// Memory for building indexes, in megabytes: with the default of 64 a few million rows are sorted on disk.
const INDEX_MEMORY_MB: u64 = 256;

/// A statement for each chunk, which can be taken back.
const CHUNK_BY_CHUNK: (&Knob, &str) = (&ROWS_PER_STATEMENT, "1000000");

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

impl Inspect for PostgresLoad<'_> {
    type Failure = Failure;

    fn rows(&mut self) -> Result<Option<u64>, Failure> {
        if self.job.kept_table().is_some() && ServerFacts::of(&self.job.facts.target).is_secured {
            return Ok(None);
        }
        let count = self
            .session
            .value(&format!("SELECT pg_catalog.count(*) FROM {}", self.table().sql()))?;
        Ok(Some(count.and_then(|count| count.parse().ok()).unwrap_or(0)))
    }

    fn sums(&mut self) -> Result<Checksum, Failure> {
        let columns = &self.job.choice.columns;
        let compare: Vec<bool> = self.stores.compare().collect();
        let shown: Vec<String> = columns
            .iter()
            .zip(&compare)
            .map(|(column, compares)| {
                let name = ddl::quote(&column.name);
                // Of the others only whether there is a value. A composite one is NOT NULL only if all in it are.
                match compares {
                    true => name,
                    false => format!("CASE WHEN {name} IS DISTINCT FROM NULL THEN '' END"),
                }
            })
            .collect();
        let sql = format!(
            "COPY (SELECT {} FROM {}) TO STDOUT (FORMAT binary)",
            shown.join(", "),
            self.table().sql()
        );
        let mut sums = Checksum::new(columns.len());
        let mut reader = RowReader::default();
        self.session.drive(|client| {
            client.copy_out(&sql, |bytes| {
                reader.read(bytes, |column, value| {
                    if column < columns.len() {
                        sums.add(column, value.map_or(Stored::Null, Stored::Bytes));
                    }
                });
            })
        })?;
        Ok(sums)
    }
}

impl Load for PostgresLoad<'_> {
    fn encoder(&self) -> Box<dyn Encode> {
        self.writing.encoder(Arc::clone(&self.shape), &self.stores, self.job)
    }

    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        let bounds = self.bounds();
        let table = self.table().clone();
        let Self { job, session, writing, stores, shared, mode, maker, stop, .. } = self;
        let shared: &Shared = shared;
        if !matches!(mode, Mode::Hidden | Mode::Survey) {
            session.autocommits = bounds.commits == Commits::Always;
            let writer = writing.writer(session, &table, stores, job)?;
            let held = Held::Lent(session);
            return Ok(vec![Box::new(StatementLane::new(held, writer, bounds, shared, job))]);
        }
        let mut lanes: Vec<Box<dyn Lane + '_>> = Vec::new();
        // Looking for repeated keys takes no order, and so as many connections as a new table would.
        let count = match mode {
            Mode::Survey => {
                let most = ServerFacts::of(&job.facts.target).lanes_max().unwrap_or(usize::MAX);
                job.facts.processors.clamp(2, 4).min(most)
            }
            _ => job.choice.lanes,
        };
        for _ in 0..count {
            let mut own = match maker.take() {
                Some(maker) => maker,
                None => session.another(stop)?,
            };
            own.set_up(HIDDEN_SETTINGS);
            let writer = writing.writer(&mut own, &table, stores, job)?;
            let held = Held::Own(Box::new(own));
            lanes.push(Box::new(StatementLane::new(held, writer, bounds, shared, job)));
        }
        Ok(lanes)
    }

    fn begun(&mut self) -> Result<Begun> {
        let Table { schema, name, .. } = self.table();
        let name = TableName { schema: Some(schema.clone()), table: name.clone() };
        let found = facts::read_table(&mut self.session, &name)?;
        let definition = found.map(|found| found.facts.definition()).unwrap_or_default();
        Ok(Begun { before: self.before.clone(), definition })
    }

    fn held(&mut self) -> Result<Option<u64>> {
        self.rows().map_err(|failure| self.session.explain(failure))
    }

    fn record(&mut self, entry: &Entry) -> Result<()> {
        let update = ddl::ledger(&self.target.schema, &self.target.name).update(entry)?;
        let rows = self.session.execute(update);
        ledger::updated(rows.map_err(|failure| facts::of_ledger(&self.session, failure))?)
    }

    fn step(&mut self) -> Result<()> {
        self.look_again()?;
        if let Some(hidden) = self.hidden.take() {
            staging::publish(&mut self.session, &hidden, &self.target, self.job)
                .map_err(|failure| in_the_way(&self.session, failure, self.job))?;
        }
        self.session.commit().map_err(|failure| {
            // A refusal alone says that it is not committed: a commit that the user stopped may have had no answer.
            self.unsure = !matches!(failure, Failure::Server(_));
            self.session.explain(failure)
        })
    }

    fn next_step(&mut self) -> Result<()> {
        let begin = settings(self.job, self.mode, false, "");
        let begun = self.session.execute(begin);
        begun.map(drop).map_err(|failure| self.session.explain(failure))
    }

    fn indexes(&self) -> bool {
        builds_later(self.job)
    }

    fn complete(&mut self) -> Result<()> {
        let job = self.job;
        if let Repeats::Sought { key, words } = &*job.facts.source.repeats {
            let target = self.target.clone();
            let target = Some(&target).filter(|_| job.choice.action == Action::Append);
            let sought = self.seek(key.clone(), words, target);
            sought.map_err(|failure| self.session.explain(failure))?;
            return Err(Error::target(words.clone()));
        }
        if *job.facts.source.orphans == Orphans::Sought {
            self.seek_orphans().map_err(|failure| self.session.explain(failure))?;
            return Err(Error::target(format!(
                "rows refer to others that neither the source nor table {} has",
                job.table
            )));
        }
        let Some(hidden) = &self.hidden else { return self.settle() };
        let mut statements = Vec::new();
        let mut alters = Vec::new();
        if job.choice.knobs.is(&UNLOGGED, "on") {
            alters.push("SET LOGGED".to_owned());
        }
        if builds_later(job) {
            let given = ServerFacts::of(&job.facts.target).setting("maintenance_work_mem");
            let given = bytes(given).unwrap_or(0) >> 20;
            if given < INDEX_MEMORY_MB {
                statements.push(format!("SET LOCAL maintenance_work_mem = '{INDEX_MEMORY_MB}MB'"));
            }
            alters.extend(ddl::primary_key(job).map(|key| format!("ADD {key}")));
        }
        if !alters.is_empty() {
            // The transaction is to go on when rows repeat the key.
            statements.push(session::SET.to_owned());
            statements.push(format!("ALTER TABLE {} {}", hidden.sql(), alters.join(", ")));
        }
        if builds_later(job) {
            statements.extend(ddl::indexes(hidden, job));
        }
        for sql in statements {
            if let Err(failure) = self.session.execute(sql) {
                return Err(self.not_built(failure));
            }
        }
        Ok(())
    }

    fn verify(&mut self, sent: &Sent) -> Result<Verdict> {
        let after = self.snapshot(self.job.request.verify);
        let after = after.map_err(|failure| self.session.explain(failure))?;
        let mut verdict = sent.verdict(&self.before, &after, self.job);
        if let (Some(table), Some(difference)) = (self.job.kept_table(), &mut verdict.difference) {
            if ServerFacts::of(&self.job.facts.target).is_secured {
                difference.push_str(", or row-level security hides them from this user");
            } else if table.storage.as_deref() == Some("view") {
                difference.push_str(
                    "; the view may show only some of them, as its WHERE says: load into the table behind it",
                );
            } else if table.engine_only.is_some() {
                difference.push_str("; the table's rules say what becomes of them");
            }
        }
        Ok(verdict)
    }

    fn retry(&mut self, ended_by: Ended) -> Option<Retry> {
        let shared = self.shared.retry.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let known = shared.or(self.retry.take());
        if known.is_some() || ended_by != Ended::ByRows {
            return known;
        }
        // A row before the bad one may be bad as well, and only the server knows: it tells so at the end of a statement, or when
        // keys are built.
        if builds_later(self.job) && !self.job.request.primary_key.is_empty() {
            return Some(Retry::InOrder(Some((&INDEXES, "before"))));
        }
        (self.mode == Mode::InOne && self.hidden.is_none() && self.writing.streams(self.job))
            .then_some(Retry::Knob(CHUNK_BY_CHUNK.0, CHUNK_BY_CHUNK.1))
    }

    fn hold(&mut self, statement: &str) -> Result<()> {
        if self.mode == Mode::Piecemeal {
            return Ok(());
        }
        let held = self.session.execute(statement);
        held.map(drop).map_err(|failure| self.session.explain(failure))
    }

    fn commit(&mut self, note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>> {
        let wanted =
            ["fsync", "full_page_writes", "synchronous_commit", "wal_level", "data_checksums"];
        let sql = facts::settings_of(&wanted);
        // By its number others can be asked what became of the transaction.
        let number = match self.mode {
            Mode::Piecemeal => "SELECT NULL",
            _ => "SELECT pg_catalog.txid_current()",
        };
        let asked = self.in_transaction(|session| session.tables([&sql, number]));
        let [settings, number] = asked.map_err(|failure| self.session.explain(failure))?;
        let (settings, number) = (session::pairs(settings), session::first(number));
        if let Some(hidden) = &self.hidden {
            staging::publish(&mut self.session, hidden, &self.target, self.job)
                .map_err(|failure| in_the_way(&self.session, failure, self.job))?;
        }
        self.look_again()?;
        if self.mode != Mode::Piecemeal {
            self.end(number, note)?;
        }
        self.hidden = None;
        self.session.hand_on();
        Ok(settings)
    }

    fn warnings(&mut self) -> Vec<String> {
        self.session.warning.take().iter().map(|said| session::warned(said)).collect()
    }

    fn abort(&mut self) -> Aftermath {
        self.session.unwatch();
        if self.unsure {
            return Aftermath::Unknown;
        }
        let rows = self.shared.committed.load(Relaxed);
        if self.mode == Mode::Piecemeal && self.session.is_lost() {
            // The last of its commits may have had no answer.
            return Aftermath::Unknown;
        }
        // A lost connection's transaction the server rolls back by itself.
        let _ = self.session.execute("ROLLBACK");
        if let Some(hidden) =
            self.hidden.take().filter(|_| matches!(self.mode, Mode::Hidden | Mode::Survey))
        {
            self.maker = None;
            // What can't be dropped now has no owner any more: the next load drops it.
            if !staging::discard(&mut self.session, std::slice::from_ref(&hidden))
                && self.session.is_lost()
                && self.session.reconnect().is_ok()
            {
                staging::discard(&mut self.session, std::slice::from_ref(&hidden));
            }
        }
        match rows {
            0 if !self.changed => Aftermath::NothingChanged,
            rows => Aftermath::Committed { rows },
        }
    }
}

/// What keeps a table from making room for another.
fn in_the_way(session: &Session<'_>, failure: Failure, job: &Job) -> Error {
    match session::state(&failure) {
        "2BP01" => session.explain(failure).advise(format!(
            "--if-exists truncate keeps table {} and what depends on it",
            job.table
        )),
        // Of two that commit at once the later one hears of the catalogue's own index.
        "42P07" | "42710" | "23505" => job.was_made_meanwhile(),
        _ => session.explain(failure),
    }
}
