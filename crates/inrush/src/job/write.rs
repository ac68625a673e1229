//! An attempt: an ordinary load into a table of its own.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::BEAT;
use super::ledger::{Ledger, Lock, NEVER};
use super::text::{Job, Place, Rejected, State, Token};
use crate::load::run;
use crate::observer::{Observer, Redirected};
use crate::pipe::reject::Reject;
use crate::plan::{
    DialectRequest, Durability, IfExists, LoadOptions, OnConflict, Plan, ReadRequest, RejectsTo,
    Request, plan, plan_rows,
};
use crate::report::Report;
use crate::split::Split;
use inrush_core::error::{Error, Result};
use inrush_core::unique;
use inrush_source::BatchSource;

/// Writes rows of a program: all of them, or none. `partition` says which part of the job's rows they are, and publishing sees to it then
/// that each part is there once.
///
/// # Errors
/// As for [`load`](crate::load); or when the job is over. Nothing of the attempt is left then.
pub fn write(
    job: &Job,
    rows: impl BatchSource + 'static,
    partition: Option<u32>,
    observer: &dyn Observer,
) -> Result<Token> {
    let planned =
        |request: &Request, observer: &dyn Observer| plan_rows(Box::new(rows), request, observer);
    written(job, partition, observer, planned)
}

/// The same for rows of files.
///
/// # Errors
/// As for [`write`].
pub fn write_sources(
    job: &Job,
    sources: &[String],
    dialect: &DialectRequest,
    read: &ReadRequest,
    partition: Option<u32>,
    observer: &dyn Observer,
) -> Result<Token> {
    let planned = |request: &Request, observer: &dyn Observer| {
        let mut request =
            Request { sources: sources.to_vec(), dialect: dialect.clone(), ..request.clone() };
        request.read.clone_from(read);
        plan(&request, observer)
    };
    written(job, partition, observer, planned)
}

/// The same for a part of files; by itself it is the partition of its own number.
///
/// # Errors
/// As for [`write`]; or when a file isn't what it was when it was split.
pub fn write_split(
    job: &Job,
    split: &Split,
    partition: Option<u32>,
    observer: &dyn Observer,
) -> Result<Token> {
    let own = u32::try_from(split.number).ok();
    let planned = |request: &Request, observer: &dyn Observer| {
        let request = Request { split: Some(split.clone()), ..request.clone() };
        plan(&request, observer)
    };
    written(job, partition.or(own), observer, planned)
}

fn written(
    job: &Job,
    partition: Option<u32>,
    observer: &dyn Observer,
    planned: impl FnOnce(&Request, &dyn Observer) -> Result<Plan>,
) -> Result<Token> {
    job.check_version()?;
    let place = job.place()?;
    let _slot = Lock::take(&place, job, 1..=job.connections, observer)?;
    let mut ledger = Ledger::open(&place, &job.home, observer.stop())?;
    is_open(&mut ledger, job)?;
    ledger.beat(&job.id, &job.digits)?;

    let attempt = unique::word();
    let table = job.hidden(&Token::suffix(&attempt, partition));
    let make = place.sql.make_like(&job.home, &table, &job.template());
    ledger.console.execute(&make).map_err(|error| in_job(job, &table, error))?;
    let request = Request {
        target: place.location.secret.clone(),
        options: LoadOptions {
            table: Some(place.sql.requested(&job.home, &table)),
            if_exists: IfExists::Append,
            owns_table: true,
            on_conflict: job.load.on_conflict,
            key: job.load.key.clone(),
            max_rejects: job.load.max_rejects(),
            rejects: RejectsTo::Observer,
            verify: job.load.verify,
            strategy: job.load.strategy.clone(),
            knobs: job.load.knobs.clone(),
            // Attempts are many already.
            lanes: Some(1),
            // What has to last is published, which counts again.
            durability: Durability::None,
            ..LoadOptions::default()
        },
        ..Request::default()
    };
    // A database may end a connection that is idle for as long as a load takes.
    drop(ledger);
    let rejected = Mutex::new(Vec::new());
    let collecting = Redirected {
        observer,
        rejected: |row: &Reject| {
            rejected.lock().unwrap_or_else(PoisonError::into_inner).push(row.clone());
            observer.rejected(row);
        },
    };
    let outcome = beating(&place, job, || {
        let plan = planned(&request, &collecting)?;
        let report = run(&plan, &collecting)?;
        Ok((report, plan.source_names().into_iter().map(str::to_owned).collect::<Vec<_>>()))
    });
    let judged = match Ledger::open(&place, &job.home, &NEVER) {
        Ok(mut ledger) => {
            let judged = outcome.and_then(|(report, names)| {
                is_open(&mut ledger, job)?;
                let rows = match job.load.on_conflict {
                    OnConflict::Fail => report.rows_loaded,
                    _ => ledger.count(&table)?,
                };
                Ok((report, names, rows))
            });
            if judged.is_err() {
                ledger.drop_tables(std::slice::from_ref(&table));
            }
            judged
        }
        // What has ended the load is the reason, where something has.
        Err(lost) => Err(outcome.err().unwrap_or(lost)),
    };
    let (report, names, rows): (Report, Vec<String>, u64) =
        judged.map_err(|error| in_job(job, &table, error))?;
    let rejected = rejected.into_inner().unwrap_or_else(PoisonError::into_inner);
    let named = |reject: &Reject| {
        names.get(reject.file as usize).filter(|_| names.len() > 1 || !is_program(&report))
    };
    Ok(Token {
        version: job.version.clone(),
        job: job.id.clone(),
        digits: job.digits.clone(),
        attempt,
        partition,
        rows_read: report.rows_read,
        rows,
        rows_loaded: report.rows_loaded,
        rows_skipped: report.rows_skipped,
        rejected: rejected
            .iter()
            .map(|reject| Rejected::of(reject, partition, named(reject).map(String::as_str)))
            .collect(),
    })
}

fn is_program(report: &Report) -> bool {
    matches!(report.plan.source.inputs[0].place, inrush_source::Place::Rows)
}

/// Refuses a job that is over.
fn is_open(ledger: &mut Ledger<'_>, job: &Job) -> Result<()> {
    let over = |how: &str| {
        Error::target(format!("job {} {how}: it takes no more rows", job.id))
            .advise("begin another job")
    };
    match ledger.entry(&job.id, false)? {
        Some(entry) if entry.digits != job.digits => {
            Err(over("has been begun again by another process"))
        }
        Some(entry) if entry.state == State::Open => Ok(()),
        Some(entry) => Err(over(&format!("is {}", entry.state))),
        None => Err(over("is not in the ledger any more")),
    }
}

/// Notes every now and then that this process is at work, for as long as `work` takes.
fn beating<T: Send>(place: &Place, job: &Job, work: impl FnOnce() -> Result<T>) -> Result<T> {
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            while is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                // A beat that is lost is no reason to stop.
                if let Ok(mut ledger) = Ledger::open(place, &job.home, &NEVER) {
                    let _ = ledger.beat(&job.id, &job.digits);
                }
            }
        });
        let worked = work();
        drop(done);
        worked
    })
}

/// Errors of the load name the job's table, and not the attempt's.
fn in_job(job: &Job, table: &str, error: Error) -> Error {
    error.reworded(|text| text.replace(table, job.table()))
}
