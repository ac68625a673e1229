//! What becomes of jobs besides being published: ended, listed, taken up where a process was killed, swept.

use std::time::Duration;

use serde::Serialize;

use super::LEDGER;
use super::ledger::{Entry, Ledger, Lock};
use super::partitions::Partitions;
use super::publish::{entry_of, finish, own_entry, report_of};
use super::text::{Guarantee, Job, Place, State, Visible};
use crate::observer::Observer;
use crate::target::{Home, JOB_PREFIX};
use inrush_core::error::{Error, Kind, Result};

/// Ends a job, and drops what it has written and nobody sees; the job, in the state in which it has ended, with what others go on
/// seeing of it. One that is committed stays so: a scheduler may ask for this after a commit whose answer was lost.
///
/// # Errors
/// When the database can't be asked.
pub fn abort(job: &Job, observer: &dyn Observer) -> Result<Job> {
    let ended = |state| Ok(Job { state, ..job.clone() });
    let aborted = |visible| Ok(Job { state: State::Aborted, visible, ..job.clone() });
    job.check_version()?;
    let place = job.place()?;
    let _lock = Lock::take(&place, job, 0..=0, observer)?;
    let mut ledger = Ledger::open(&place, &job.home, observer.stop_flag())?;
    let entry = loop {
        let Some(entry) = own_entry(&mut ledger, job)? else {
            // Another job has the name, or none: of this one nothing but tables can be left.
            ledger.clear(job);
            return ended(State::Aborted);
        };
        match entry.state {
            State::Committed => return ended(State::Committed),
            State::Renaming => {
                finish(&place, &mut ledger, entry, observer)?;
                return ended(State::Committed);
            }
            State::Open | State::Publishing if !is_aborted_now(&mut ledger, &entry)? => {}
            State::Open | State::Publishing | State::Aborted => break entry,
        }
    };
    let visible = left(&mut ledger, &entry)?;
    ledger.clear(job);
    aborted(visible)
}

/// Aborts a job, unless another process has changed its state since it was read: then it is to be read again.
fn is_aborted_now(ledger: &mut Ledger<'_>, entry: &Entry) -> Result<bool> {
    let steps = (entry.state.by(&entry.publisher), State::Aborted);
    ledger.step((&entry.id, &entry.digits), steps, None, None)
}

/// What others go on seeing of a job that is aborted, once no attempt is about to bring in more.
fn left(ledger: &mut Ledger<'_>, entry: &Entry) -> Result<Option<Visible>> {
    let Some(partitions) = entry.partitions.as_deref().map(Partitions) else {
        return ledger.await_commits(&entry.id).map(|()| None);
    };
    if !partitions.is_there(ledger)? {
        return Ok(Some(Visible::default()));
    }
    ledger.begin()?;
    partitions.close(ledger)?;
    ledger.commit()?;
    partitions.visible(ledger).map(Some)
}

/// A job in a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// What it is called.
    pub id: String,
    /// The schema of its table; `None` where there are none.
    pub schema: Option<String>,
    /// Its table.
    pub table: String,
    /// What others see of it before it is published; `None` where only the version knows it that has begun the job.
    pub guarantee: Option<Guarantee>,
    /// How far it is.
    pub state: State,
    /// Whether a process holds one of its locks.
    pub working: bool,
    /// When it began, in seconds since 1970.
    pub begun: i64,
    /// Seconds since a process has noted that it is at work.
    pub heartbeat_age: i64,
    /// The version of inrush that has begun it.
    pub version: String,
}

/// All jobs of a database.
///
/// # Errors
/// When it can't be asked, or this user may not read which jobs there are.
pub fn list(url: &str, password: Option<&str>, observer: &dyn Observer) -> Result<Vec<Listed>> {
    let place = Place::of(url, password)?;
    let mut listed = Vec::new();
    for mut ledger in ledgers(&place, observer)? {
        for entry in ledger.entries()? {
            let working = match &entry.record {
                Some(record) => !ledger.is_idle(&record.job)?,
                None => false,
            };
            listed.push(Listed {
                schema: ledger.home.schema.clone(),
                working,
                guarantee: entry.record.as_ref().map(|record| record.job.guarantee),
                id: entry.id,
                table: entry.table,
                state: entry.state,
                begun: entry.begun,
                heartbeat_age: entry.age,
                version: entry.version,
            });
        }
    }
    Ok(listed)
}

/// The ledgers of a database, in whatever schema. What has the name and is none is passed over, as is one beside others that this user may
/// not read.
///
/// # Errors
/// When the user may read none of those that there are: then it is not known whether there are jobs.
fn ledgers<'a>(place: &Place, observer: &'a dyn Observer) -> Result<Vec<Ledger<'a>>> {
    let open =
        |schema| Ledger::open(place, &Home { schema, table: String::new() }, observer.stop_flag());
    let mut ledgers = Vec::new();
    let mut unread = Vec::new();
    for schema in open(None)?.schemas()? {
        let mut ledger = open(schema.clone())?;
        // No job is called so: this asks for the columns.
        let Err(error) = ledger.entry("", false).map(drop) else {
            ledgers.push(ledger);
            continue;
        };
        if error.is_lost_connection() || error.kind() == Kind::Interrupted {
            return Err(error);
        }
        let name = schema.map_or(LEDGER.to_owned(), |schema| format!("{schema}.{LEDGER}"));
        if error.lacks_right() {
            unread.push((name, error));
        } else if ledger.is_there()? {
            observer.noted(&format!(
                "note: {name} is passed over, for it can't be read as the table in which jobs are kept: {}",
                error.what()
            ));
        }
    }
    if ledgers.is_empty()
        && let Some((name, error)) = unread.first()
    {
        let why = error.what();
        let error = Error::target(format!("can't read the table in which jobs are kept: {why}"));
        return Err(error.advise(format!("ask for the right to: it takes SELECT on {name}")));
    }
    for (name, error) in unread {
        observer.noted(&format!(
            "note: jobs in {name} are passed over, for this user may not read it: {}",
            error.what()
        ));
    }
    Ok(ledgers)
}

/// Brings a job to its end whose processes are gone: one that was being published is published, any other is aborted. The job, in the
/// state that it has then.
///
/// # Errors
/// When there is none of the name, several are not at their end, or a process still works at it.
pub fn recover(
    url: &str,
    password: Option<&str>,
    id: &str,
    observer: &dyn Observer,
) -> Result<Job> {
    let place = Place::of(url, password)?;
    let mut found = Vec::new();
    for mut ledger in ledgers(&place, observer)? {
        if let Some(entry) = ledger.entry(id, false)? {
            found.push((ledger, entry));
        }
    }
    // A name is one of each schema's ledger.
    let is_over = |entry: &Entry| matches!(entry.state, State::Committed | State::Aborted);
    found.sort_by_key(|(_, entry)| is_over(entry));
    if let [(one, first), (other, second), ..] = found.as_slice()
        && !is_over(second)
    {
        let table = |ledger: &Ledger<'_>, entry: &Entry| {
            let schema = ledger.home.schema.iter().map(|schema| format!("{schema}."));
            schema.chain([entry.table.clone()]).collect::<String>()
        };
        return Err(Error::usage(format!(
            "two jobs {id} are not at their end, one of table {} and one of {}",
            table(one, first),
            table(other, second)
        ))
        .advise("begin the one that is meant again, which brings it to its end first, or end it by inrush job abort"));
    }
    let Some((mut ledger, entry)) = found.into_iter().next() else {
        return Err(Error::usage(format!("there is no job {id}"))
            .advise("inrush job list URL names those that there are"));
    };
    let job = Job {
        url: url.to_owned(),
        password: password.map(str::to_owned),
        ..entry.record()?.job.clone()
    };
    if entry.state == State::Open && !ledger.falls_idle(&job, &entry, observer)? {
        return Err(Error::target(format!(
            "a process still writes for job {id}, or has until now: its rows are not to be thrown away"
        ))
        .advise("wait for it, and for who publishes the job; or inrush job abort ends the job all the same"));
    }
    let Settled { state, visible, .. } = settle(&place, &job, observer)?;
    Ok(Job { state, visible, ..job })
}

/// How a job has ended.
pub(super) struct Settled {
    state: State,
    /// What others go on seeing of one that is aborted, where its partitions are known.
    visible: Option<Visible>,
    /// Rows that others see of it; `None` where they aren't known.
    rows: Option<u64>,
}

/// The same for a job whose processes are known to be gone.
pub(super) fn settle(place: &Place, job: &Job, observer: &dyn Observer) -> Result<Settled> {
    let committed = |rows| Settled { state: State::Committed, visible: None, rows };
    let _lock = Lock::take(place, job, 0..=0, observer)?;
    let mut ledger = Ledger::open(place, &job.home, observer.stop_flag())?;
    let entry = loop {
        let entry = entry_of(&mut ledger, job)?;
        match entry.state {
            State::Publishing | State::Renaming => {
                let published = finish(place, &mut ledger, entry, observer)?;
                return Ok(committed(Some(published.rows_loaded)));
            }
            State::Open if !is_aborted_now(&mut ledger, &entry)? => {}
            State::Open | State::Committed | State::Aborted => break entry,
        }
    };
    let settled = match entry.state {
        State::Committed => committed(report_of(&entry, &[]).ok().map(|report| report.rows_loaded)),
        _ => {
            let visible = left(&mut ledger, &entry)?;
            let rows = match job.guarantee {
                Guarantee::Atomic => Some(0),
                Guarantee::PerPartition => visible.map(|visible| visible.rows),
                Guarantee::None => None,
            };
            Settled { state: State::Aborted, visible, rows }
        }
    };
    ledger.clear(job);
    Ok(settled)
}

/// Whether rows of an aborted job are in its table, which beginning it again has to know.
fn has_rows(ledger: &mut Ledger<'_>, entry: &Entry) -> Result<bool> {
    let Some(partitions) = entry.partitions.as_deref().map(Partitions) else { return Ok(false) };
    Ok(partitions.visible(ledger)?.partitions > 0)
}

/// A job that a sweep has brought to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// What it is called.
    pub id: String,
    /// The schema of its table; `None` where there are none.
    pub schema: Option<String>,
    /// Its table.
    pub table: String,
    /// `committed` or `aborted`.
    pub state: State,
    /// Rows of it that are in the table, and stay there: of one that is aborted those of partitions that have come in by themselves; `None`
    /// where they aren't known, as with [`Guarantee::None`].
    pub rows: Option<u64>,
}

/// What a sweep has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Jobs that no process works at any more, and which this has brought to their end.
    pub jobs: Vec<String>,
    /// Which end each of them has come to.
    pub ended: Vec<Ended>,
    /// Tables that are dropped.
    pub tables: usize,
    /// Tables that are in use and stay for another time.
    pub tables_left: usize,
}

/// The error of who may read which jobs there are, and not end them.
fn unwritable(error: &Error) -> Error {
    Error::target(format!("can't end a job that no process works at: {}", error.what()))
        .advise(format!("ask for the right to: it takes INSERT, UPDATE and DELETE on {LEDGER}"))
}

/// Drops what jobs have left that are over, and ends those which no process has worked at for so long.
///
/// # Errors
/// When the database can't be asked, or this user may not read which jobs there are, or not end them.
pub fn gc(
    url: &str,
    password: Option<&str>,
    older_than: Duration,
    observer: &dyn Observer,
) -> Result<Collected> {
    let place = Place::of(url, password)?;
    let mut collected = Collected::default();
    for mut ledger in ledgers(&place, observer)? {
        // Before the jobs are: a table that is found belongs to one whose row was there first.
        let mut tables = ledger.tables(JOB_PREFIX)?;
        let mut living = Vec::new();
        // What is known of partitions is kept for whoever goes on with an aborted job.
        let mut kept = Vec::new();
        for entry in ledger.entries()? {
            let is_old = entry.age.unsigned_abs() >= older_than.as_secs();
            let is_over = matches!(entry.state, State::Committed | State::Aborted);
            kept.extend(entry.partitions.clone().filter(|_| entry.state != State::Committed));
            // What another version has begun it may know better how to end.
            let Ok(record) = entry.record() else {
                if !is_over {
                    living.push(entry.digits.clone());
                }
                continue;
            };
            let job = &record.job;
            if is_over {
                if entry.state == State::Aborted && is_old && !has_rows(&mut ledger, &entry)? {
                    let is_gone = ledger.delete(&entry.id, &entry.digits, State::Aborted)?;
                    kept.retain(|partitions| {
                        !is_gone || Some(partitions) != entry.partitions.as_ref()
                    });
                }
            } else if is_old && ledger.is_idle(job)? {
                // One that can't be published any more waits for who decides about it.
                match settle(&place, job, observer) {
                    Ok(Settled { state, rows, .. }) => {
                        let (id, table) = (entry.id.clone(), entry.table.clone());
                        collected.jobs.push(id.clone());
                        let schema = ledger.home.schema.clone();
                        collected.ended.push(Ended { id, schema, table, state, rows });
                    }
                    Err(error) if error.lacks_right() => return Err(unwritable(&error)),
                    Err(_) => living.push(entry.digits.clone()),
                }
            } else {
                living.push(entry.digits.clone());
            }
        }
        tables.retain(|table| {
            let digits = table.get(JOB_PREFIX.len()..JOB_PREFIX.len() + 16);
            digits.is_some_and(|digits| {
                digits.bytes().all(|byte| byte.is_ascii_hexdigit())
                    && !kept.contains(table)
                    && !living.iter().any(|living| living == digits)
            })
        });
        let dropped = ledger.drop_tables(&tables);
        collected.tables += dropped;
        collected.tables_left += tables.len() - dropped;
        ledger.sweep();
    }
    Ok(collected)
}
