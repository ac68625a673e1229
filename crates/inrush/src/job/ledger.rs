//! The ledger: a table beside the job's, with a row a job. Every change of a state is one statement that has to hit the row in the state
//! it is expected in.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::LEDGER;
use super::text::{Guarantee, Job, Place, Stage, State, changed, other_version};
use crate::observer::Observer;
use crate::target::{
    self, At, Console, Copying, Fence, Home, JobLock, Jobs, Location, Lost, Part, Set,
    WITHOUT_TABLES, Wanted, Which,
};
use inrush_core::error::{Error, Result};
use inrush_core::unique;

/// What publishing has to know, and only who reads the ledger does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) job: Job,
    /// How rows come into the table.
    pub(super) copying: Copying,
    /// What a new table gets after its rows.
    pub(super) complete: Vec<String>,
    /// Whether the job makes its table.
    pub(super) makes: bool,
    /// Whether it takes the place of another.
    pub(super) replaces: bool,
    /// Whether the table has to be empty.
    pub(super) wants_empty: bool,
    /// What the table was like, if there was one.
    pub(super) outline: Option<String>,
    /// Whether every row that is sent is a row more in the table.
    pub(super) counts: bool,
    /// Whether the table is counted when rows come in, for what the database says of a statement may not be what is in the table then.
    #[serde(default)]
    pub(super) recounts: bool,
    /// The table that knows its partitions, where each comes in by itself.
    #[serde(default)]
    pub(super) partitions: Option<String>,
    /// Rows of the table before the job's first one, where each that the job loads is a row more; `None` where they weren't counted.
    #[serde(default)]
    pub(super) before: Option<u64>,
    /// What the job has made its table with, where that has its name before the rows come.
    #[serde(default)]
    pub(super) made: Option<Made>,
    /// What a user should know, such as what goes with a table that is replaced.
    pub(super) warnings: Vec<String>,
    /// The process that publishes the job, for whose table the statements are.
    #[serde(skip)]
    pub(super) publisher: String,
}

/// What a table is made with that no load gives an existing one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) primary_key: Vec<String>,
    pub(super) indexes: Vec<Vec<String>>,
}

impl Record {
    /// The same as a process publishes it: what is said of the table that gets the job's name is said of its own.
    pub(super) fn by(&self, publisher: &str) -> Self {
        let (new, own) = (self.job.new_table(), self.job.new_table_of(publisher));
        let renamed = |text: &String| text.replace(&new, &own);
        let lost = |lost: &Lost| match lost {
            Lost::Uncounted => Lost::Uncounted,
            Lost::Found { before, after } => {
                Lost::Found { before: renamed(before), after: renamed(after) }
            }
        };
        let Copying { before, after, lost: found } = &self.copying;
        Self {
            copying: Copying {
                before: renamed(before),
                after: renamed(after),
                lost: found.as_ref().map(lost),
            },
            complete: self.complete.iter().map(renamed).collect(),
            publisher: publisher.to_owned(),
            ..self.clone()
        }
    }

    /// The publisher's table that gets the job's name.
    pub(super) fn new_table(&self) -> String {
        self.job.new_table_of(&self.publisher)
    }

    fn text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::target(error.to_string()))
    }
}

/// A row of the ledger.
pub(super) struct Entry {
    pub(super) state: State,
    /// The process that publishes the job, if one does.
    pub(super) publisher: String,
    pub(super) digits: String,
    pub(super) version: String,
    pub(super) begun: i64,
    /// When a process at work has noted last that it is.
    pub(super) heartbeat: i64,
    /// Seconds since then.
    pub(super) age: i64,
    /// `None` where only the version knows it that has begun the job.
    pub(super) record: Option<Record>,
    /// The table that knows its partitions, which is also read of a job that another version has begun.
    pub(super) partitions: Option<String>,
    pub(super) tokens: Option<String>,
    pub(super) report: Option<String>,
    pub(super) table: String,
    pub(super) id: String,
}

impl Entry {
    fn of(row: target::Entry) -> Self {
        // A state that is not known here is another version's, as is what it says besides.
        let stage = Stage::of(&row.state);
        let said: serde_json::Value = serde_json::from_str(&row.job).unwrap_or_default();
        let partitions = said["partitions"].as_str().map(str::to_owned);
        let record = serde_json::from_value(said).ok().filter(|_| stage.is_some());
        let target::Entry {
            id,
            target: table,
            digits,
            version,
            begun,
            heartbeat,
            age,
            tokens,
            report,
            ..
        } = row;
        let Stage(state, publisher) = stage.unwrap_or(State::Open.into());
        Self {
            state,
            publisher,
            digits,
            version,
            begun,
            heartbeat,
            age,
            record,
            partitions,
            tokens,
            report,
            table,
            id,
        }
    }

    /// What publishing has to know.
    ///
    /// # Errors
    /// When another version of inrush has begun the job.
    pub(super) fn record(&self) -> Result<&Record> {
        let own = self.record.as_ref().filter(|_| self.version == env!("CARGO_PKG_VERSION"));
        own.ok_or_else(|| other_version(&self.id, &self.version))
    }
}

/// A connection to the ledger's database.
pub(super) struct Ledger<'a> {
    console: Box<dyn Console + 'a>,
    pub(super) jobs: Jobs,
    pub(super) home: Home,
    location: Location,
    stop: &'a AtomicBool,
}

impl<'a> Ledger<'a> {
    pub(super) fn open(place: &Place, home: &Home, stop: &'a AtomicBool) -> Result<Self> {
        let mut console = place.target.console(&place.location, stop)?;
        if let Some(opening) = place.jobs.tables.opening() {
            console.send_ahead(opening)?;
        }
        let (jobs, home, location) = (place.jobs, home.clone(), place.location.clone());
        Ok(Self { console, jobs, home, location, stop })
    }

    /// Ends the connection, or leaves it for the next step.
    pub(super) fn hand_on(self) {
        self.console.hand_on();
    }

    fn at(&mut self) -> At<'_> {
        At { console: &mut *self.console, home: &self.home }
    }

    /// The ledgers' schemas.
    pub(super) fn schemas(&mut self) -> Result<Vec<Option<String>>> {
        self.jobs.rows.schemas_with(&mut *self.console, LEDGER)
    }

    /// Runs statements of the engine.
    pub(super) fn run<'s>(
        &mut self,
        statements: impl IntoIterator<Item = &'s String>,
    ) -> Result<()> {
        statements.into_iter().try_for_each(|sql| self.console.execute(sql).map(drop))
    }

    /// Begins a transaction, where the database has one for several tables.
    pub(super) fn begin(&mut self) -> Result<()> {
        match self.jobs.rows.has_transactions() {
            true => self.console.send_ahead("BEGIN"),
            false => Ok(()),
        }
    }

    /// Ends the transaction: what it has done stays; what the database warns of then.
    pub(super) fn commit(&mut self) -> Result<Option<String>> {
        match self.jobs.rows.has_transactions() {
            true => self.console.commit(),
            false => Ok(None),
        }
    }

    /// Ends the transaction: what it has done is undone.
    pub(super) fn roll_back(&mut self) -> Result<()> {
        match self.jobs.rows.has_transactions() {
            true => self.console.execute("ROLLBACK").map(drop),
            false => Ok(()),
        }
    }

    /// Refuses what of a job only the database can say, before anything is made.
    pub(super) fn admits(&mut self, job: &inrush_core::Job) -> Result<()> {
        self.jobs.tables.admits(&mut *self.console, job, &self.home)
    }

    /// Refuses a user who lacks a right to what jobs make, before anything is made; `hidden` is a name for a table of the job's.
    pub(super) fn try_rights(&mut self, hidden: Option<&str>) -> Result<()> {
        let error = match self.jobs.rows.try_rights(self.at(), LEDGER, hidden) {
            Err(error) if error.lacks_right() => error,
            tried => return tried,
        };
        Err(Error::target(format!("this user may not use tables that jobs make: {}", error.what()))
            .advise(format!(
                "ask for SELECT, INSERT, UPDATE and DELETE on {LEDGER}, and for CREATE, DROP, SELECT and INSERT on all tables beside it"
            ))
            .advise(WITHOUT_TABLES))
    }

    /// Has the connection wait for no lock longer than a second.
    pub(super) fn hurry(&mut self) -> Result<()> {
        self.jobs.rows.hurry(self.at())
    }

    /// Gives a hidden table the name of another one, and its own again.
    pub(super) fn try_name(&mut self, hidden: &str, other: &str) -> Result<()> {
        self.jobs.tables.try_name(&mut *self.console, &self.home, hidden, other)
    }

    /// Makes the ledger.
    pub(super) fn make(&mut self) -> Result<()> {
        let sql = self.jobs.tables.make_ledger(&self.home, LEDGER);
        match self.console.execute(&sql) {
            Ok(_) => Ok(()),
            // Another process may have made it meanwhile.
            Err(_) if self.is_there().unwrap_or(false) => Ok(()),
            Err(error) => Err(Error::target(format!(
                "can't make the table {LEDGER}, in which jobs are kept: {}",
                error.what()
            ))
            .advise("ask for the right to make tables")
            .advise(WITHOUT_TABLES)),
        }
    }

    pub(super) fn is_there(&mut self) -> Result<bool> {
        Ok(self.tables(LEDGER)?.iter().any(|name| name == LEDGER))
    }

    /// The job's row; with `settled` once nobody is changing it.
    pub(super) fn entry(&mut self, id: &str, settled: bool) -> Result<Option<Entry>> {
        // A database may take one with blanks behind it for the same.
        Ok(self.read(Wanted::One { id, settled })?.into_iter().find(|entry| entry.id == id))
    }

    /// Waits until no attempt is about to commit that has found the job open: who has changed its state asks this.
    pub(super) fn await_commits(&mut self, id: &str) -> Result<()> {
        self.entry(id, true).map(drop)
    }

    /// All rows.
    pub(super) fn entries(&mut self) -> Result<Vec<Entry>> {
        self.read(Wanted::All)
    }

    fn read(&mut self, wanted: Wanted<'_>) -> Result<Vec<Entry>> {
        match self.jobs.rows.entries(self.at(), LEDGER, wanted) {
            Ok(rows) => Ok(rows.into_iter().map(Entry::of).collect()),
            Err(error) if error.lacks_right() || !error.is_refusal() => Err(error),
            Err(error) => Err(match self.is_there() {
                Ok(false) => gone(),
                _ => error,
            }),
        }
    }

    /// Adds a row; an error where there is one of the name.
    pub(super) fn insert(&mut self, record: &Record) -> Result<()> {
        let job = &record.job;
        let entry = target::Entry {
            id: job.id.clone(),
            target: job.table().to_owned(),
            state: State::Open.word().to_owned(),
            digits: job.digits.clone(),
            version: job.version.clone(),
            job: record.text()?,
            ..target::Entry::default()
        };
        self.jobs.rows.add_entry(self.at(), LEDGER, &entry)
    }

    fn change(
        &mut self,
        (id, digits): (&str, &str),
        stage: Option<&Stage>,
        sets: &[(&str, Set<'_>)],
    ) -> Result<bool> {
        let state = stage.map(Stage::to_string);
        let which = Which { id, digits, state: state.as_deref() };
        self.jobs.rows.change_entry(self.at(), LEDGER, which, sets)
    }

    /// Goes on with a job that is aborted, which had these digits: everything of it is as `record` says; whether it was in that state.
    pub(super) fn reopen(&mut self, record: &Record, digits: &str) -> Result<bool> {
        let (job, text) = (&record.job, record.text()?);
        let sets = [
            ("state", Set::Text(State::Open.word())),
            ("digits", Set::Text(&job.digits)),
            ("heartbeat", Set::Now),
            ("job", Set::Text(&text)),
            ("tokens", Set::Null),
            ("report", Set::Null),
        ];
        self.change((&job.id, digits), Some(&State::Aborted.into()), &sets)
    }

    /// Writes down what is known of an open job by now.
    pub(super) fn rewrite(&mut self, record: &Record) -> Result<()> {
        let (job, text) = (&record.job, record.text()?);
        let sets = [("job", Set::Text(&text))];
        match self.change((&job.id, &job.digits), Some(&State::Open.into()), &sets)? {
            true => Ok(()),
            false => Err(changed(job)),
        }
    }

    /// Takes away a job that is over, for another of its name; whether it was there.
    pub(super) fn delete(&mut self, id: &str, digits: &str, state: State) -> Result<bool> {
        let which = Which { id, digits, state: Some(state.word()) };
        self.jobs.rows.remove_entry(self.at(), LEDGER, which)
    }

    /// Brings the job from one state into another; whether it was in that one: where not, another process has changed it. `tokens` and
    /// `report` are kept with it.
    pub(super) fn step(
        &mut self,
        names: (&str, &str),
        (from, to): (impl Into<Stage>, impl Into<Stage>),
        tokens: Option<&str>,
        report: Option<&str>,
    ) -> Result<bool> {
        let (from, to) = (from.into(), to.into().to_string());
        let mut sets = vec![("state", Set::Text(&to)), ("heartbeat", Set::Now)];
        sets.extend(tokens.map(|tokens| ("tokens", Set::Text(tokens))));
        sets.extend(report.map(|report| ("report", Set::Text(report))));
        self.change(names, Some(&from), &sets)
    }

    /// Notes that a process is at work.
    pub(super) fn beat(&mut self, id: &str, digits: &str) -> Result<()> {
        self.change((id, digits), None, &[("heartbeat", Set::Now)]).map(drop)
    }

    /// Whether nobody holds one of the job's locks.
    pub(super) fn is_idle(&mut self, job: &Job) -> Result<bool> {
        let last = JobLock { number: job.connections, ..lock_of(job) };
        self.jobs.rows.are_free(self.at(), LEDGER, last)
    }

    /// The same of a job whose row was read as `entry`, but for processes that have just ended: a server takes a moment to notice, and gives
    /// up their locks then; or it never does, and they are not renewed. One that notes meanwhile that it is at work was none of these,
    /// though it may have ended since.
    pub(super) fn falls_idle(
        &mut self,
        job: &Job,
        entry: &Entry,
        observer: &dyn Observer,
    ) -> Result<bool> {
        let ending = self.jobs.rows.lease().unwrap_or_default() + ENDING;
        let began = Instant::now();
        let (mut waited, mut noticed) = (false, false);
        loop {
            let is_idle = self.is_idle(job)?;
            if is_idle && !waited {
                return Ok(true);
            }
            let is_heard = self
                .entry(&job.id, false)?
                .is_some_and(|now| now.digits == entry.digits && now.heartbeat != entry.heartbeat);
            if is_idle || is_heard || began.elapsed() > ending {
                return Ok(is_idle && !is_heard);
            }
            if observer.stop_flag().load(Relaxed) {
                return Err(Error::interrupted());
            }
            if !noticed && began.elapsed() > HARDLY_NOTICED {
                noticed = true;
                observer.noted(&format!(
                    "a process may be at work for job {}: waiting up to {} s for its end",
                    job.id,
                    ending.as_secs()
                ));
            }
            waited = true;
            thread::sleep(TICK);
        }
    }

    /// Tables that begin so.
    pub(super) fn tables(&mut self, prefix: &str) -> Result<Vec<String>> {
        self.jobs.rows.tables(self.at(), prefix)
    }

    /// Rows of a hidden table.
    pub(super) fn count(&mut self, table: &str) -> Result<u64> {
        self.jobs.rows.count(self.at(), table)
    }

    /// Whether the job's table holds no rows.
    pub(super) fn is_empty(&mut self) -> Result<bool> {
        self.jobs.rows.is_empty(self.at())
    }

    /// Has loads and jobs that want the job's table empty wait until the transaction is over; whether others may add rows all the same.
    pub(super) fn begin_alone(&mut self) -> Result<bool> {
        self.jobs.rows.begin_alone(self.at())
    }

    /// Gives back what [`Ledger::begin_alone`] has taken.
    pub(super) fn end_alone(&mut self) -> Result<()> {
        self.jobs.rows.end_alone(self.at())
    }

    /// Whether the job's table holds rows that others have committed, where another connection has a transaction with the job's own.
    pub(super) fn holds_others(&mut self) -> Result<bool> {
        self.jobs.rows.holds_others(self.at())
    }

    /// Rows in the job's table that a killed attempt has left, and which the next one at its partition finds again.
    pub(super) fn left(&mut self, job: &Job) -> Result<u64> {
        match job.guarantee {
            Guarantee::PerPartition => self.jobs.rows.left(self.at(), &job.home.table, &job.id),
            Guarantee::Atomic | Guarantee::None => Ok(0),
        }
    }

    /// Copies the rows of a hidden table; how many came into the other.
    pub(super) fn copy(&mut self, copying: &Copying, from: &str) -> Result<u64> {
        let at = At { console: &mut *self.console, home: &self.home };
        self.jobs.rows.copy(at, (&self.location, self.stop), copying, from)
    }

    /// How many of a hidden table's `rows`, of which `written` came into the other, a trigger has kept out.
    pub(super) fn lost(
        &mut self,
        copying: &Copying,
        from: &str,
        rows: u64,
        written: u64,
    ) -> Result<u64> {
        self.jobs.rows.lost(self.at(), copying, from, rows, written)
    }

    /// Gives a hidden table the name of the job's.
    pub(super) fn take_name(&mut self, home: &Home, hidden: &str, replaces: bool) -> Result<()> {
        self.jobs.tables.take_name(&mut *self.console, home, hidden, replaces)
    }

    /// Drops a table, which no statement that is under way gives another name then; whether it was there.
    pub(super) fn drop_surely(&mut self, table: &str) -> Result<bool> {
        self.jobs.rows.drop_surely(self.at(), table)
    }

    /// Drops tables; how many are gone. One that is in use stays for another time.
    pub(super) fn drop_tables(&mut self, tables: &[String]) -> usize {
        let jobs = self.jobs.tables;
        let mut drop = |tables: &[&str]| jobs.drop_tables(&mut *self.console, &self.home, tables);
        let all: Vec<&str> = tables.iter().map(String::as_str).collect();
        // All at once, unless one of them is in the way of the others.
        if all.len() > 1 && drop(&all) {
            return all.len();
        }
        all.iter().filter(|table| drop(&[**table])).count()
    }

    /// Drops what loads have left that are no more.
    pub(super) fn sweep(&mut self) {
        self.jobs.tables.sweep(&mut *self.console, &self.home);
    }

    /// Drops all that is left of a job but the ledger's row, and what it knows of its partitions.
    pub(super) fn clear(&mut self, job: &Job) {
        if let Ok(tables) = self.tables(&job.prefix()) {
            self.drop_tables(&tables);
        }
    }

    /// Drops what it knows of the partitions of a job that is over, for good.
    pub(super) fn forget(&mut self, record: &Record) {
        if let Some(partitions) = &record.partitions {
            self.drop_tables(std::slice::from_ref(partitions));
        }
    }

    /// Makes the table of partitions.
    pub(super) fn make_partitions(&mut self, partitions: &str) -> Result<()> {
        let make = self.jobs.tables.make_partitions(&self.home, partitions);
        self.console.execute(&make)?;
        self.jobs.rows.add_fence(self.at(), partitions)
    }

    /// Keeps the fence of partitions until the transaction is over.
    pub(super) fn keep_fence(&mut self, partitions: &str, fence: Fence) -> Result<()> {
        self.jobs.rows.keep_fence(self.at(), partitions, fence)
    }

    /// Notes that a partition is this attempt's.
    pub(super) fn claim(&mut self, partitions: &str, number: u32, attempt: &str) -> Result<()> {
        self.jobs.rows.claim(self.at(), partitions, number, attempt)
    }

    /// Notes what the attempt has done.
    pub(super) fn note(&mut self, partitions: &str, number: u32, part: &Part) -> Result<()> {
        self.jobs.rows.note(self.at(), partitions, number, part)
    }

    /// Whether one is in the job's table.
    pub(super) fn has_parts(&mut self, partitions: &str) -> Result<bool> {
        self.jobs.rows.has_parts(self.at(), partitions)
    }

    /// Partitions that are in the job's table.
    pub(super) fn parts(&mut self, partitions: &str, number: Option<u32>) -> Result<Vec<Part>> {
        self.jobs.rows.parts(self.at(), partitions, number)
    }
}

/// The error where the ledger was there when a job began.
fn gone() -> Error {
    Error::target(format!(
        "the table {LEDGER}, in which jobs are kept, is gone, and with it what is known of them"
    ))
    .advise(
        "begin the job again, and write its rows again: where others see rows before it is published, delete first what is in the table, \
         for it would be there twice",
    )
    .advise("what jobs have left is dropped by inrush job gc, once another one has begun")
}

/// For what has to be done whether or not the user wants to stop.
pub(super) static NEVER: AtomicBool = AtomicBool::new(false);

/// One of a job's locks, for as long as this is there: number 0 is for who publishes, aborts or recovers, the others are for attempts.
pub(super) struct Lock<'a> {
    held: Held<'a>,
}

enum Held<'a> {
    /// By a connection.
    Connected { _connection: Box<dyn Console + 'a> },
    /// By who renews it, until it is told to end.
    Renewed { end: Option<Sender<()>>, renewing: Option<JoinHandle<()>> },
}

/// How often a lock is asked for that others hold.
const TICK: Duration = Duration::from_millis(100);

/// How long the end of a connection may take to be noticed.
const ENDING: Duration = Duration::from_secs(5);

/// Most processes that have ended are noticed by then.
const HARDLY_NOTICED: Duration = Duration::from_secs(1);

/// After so long a user wants to know what is waited for.
const NOTICED: Duration = Duration::from_secs(5);

/// How often a lock is renewed while it is held.
const RENEWALS: u32 = 4;

fn lock_of(job: &Job) -> JobLock<'_> {
    JobLock { id: &job.id, digits: &job.digits, number: 0, owner: "" }
}

impl<'a> Lock<'a> {
    /// Waits for one of the numbers.
    ///
    /// # Errors
    /// When the observer stops it, or the database does not answer.
    pub(super) fn take(
        place: &Place,
        job: &Job,
        numbers: std::ops::RangeInclusive<u32>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let rows = place.jobs.rows;
        let mut console = place.target.console(&place.location, observer.stop_flag())?;
        let owner = unique::word();
        let began = Instant::now();
        let (mut again, mut noticed) = (false, false);
        loop {
            let first = JobLock { number: *numbers.start(), owner: &owner, ..lock_of(job) };
            let at = At { console: &mut *console, home: &job.home };
            if let Some(number) = rows.try_locks(at, LEDGER, first, *numbers.end(), again)? {
                let held = match rows.lease() {
                    None => Held::Connected { _connection: console },
                    Some(lease) => renewed(place, job, (number, owner), lease),
                };
                return Ok(Self { held });
            }
            again = true;
            if observer.stop_flag().load(Relaxed) {
                return Err(Error::interrupted());
            }
            if !noticed && began.elapsed() > NOTICED {
                noticed = true;
                observer.noted(&match numbers.clone().count() {
                    1 => format!(
                        "job {} is being published or aborted by another process: waiting for it",
                        job.id
                    ),
                    all => format!(
                        "job {} has {all} connections, and all of them write: waiting for one",
                        job.id
                    ),
                });
            }
            thread::sleep(TICK);
        }
    }
}

/// Has a thread renew the lock, and give it up in the end.
fn renewed<'a>(
    place: &Place,
    job: &Job,
    (number, owner): (u32, String),
    lease: Duration,
) -> Held<'a> {
    let (end, ended) = channel::<()>();
    let (place, job) = (place.clone(), job.clone());
    let renewing = thread::spawn(move || {
        let mut console = None;
        let mut keep = true;
        while keep {
            keep = ended.recv_timeout(lease / RENEWALS) == Err(RecvTimeoutError::Timeout);
            let lock = JobLock { number, owner: &owner, ..lock_of(&job) };
            let renew = |console: &mut Box<dyn Console>| {
                let at = At { console: &mut **console, home: &job.home };
                place.jobs.rows.renew(at, LEDGER, lock, keep)
            };
            // A connection that is lost is replaced; what can't be renewed now may be the next time.
            if console.as_mut().is_none_or(|console| renew(console).is_err()) {
                console = place.target.console(&place.location, &NEVER).ok();
                let _ = console.as_mut().map(renew);
            }
        }
    });
    Held::Renewed { end: Some(end), renewing: Some(renewing) }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if let Held::Renewed { end, renewing } = &mut self.held {
            drop(end.take());
            // Another process can have the lock as soon as this one goes on.
            let _ = renewing.take().map(JoinHandle::join);
        }
    }
}
