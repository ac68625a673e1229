//! An attempt: an ordinary load into a table of its own, or, where nothing is promised, into the job's.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::brought::is_in_place;
use super::enter::Entering;
use super::ledger::{Entry, Ledger, Lock, NEVER};
use super::text::{Guarantee, Job, Place, Rejected, State, Token};
use super::{BEAT, LEDGER};
use crate::load::run;
use crate::observer::{Observer, Redirected};
use crate::pipe::reject::Reject;
use crate::plan::{
    DialectRequest, Durability, IfExists, LoadOptions, OnConflict, Plan, ReadRequest, RejectLimit,
    RejectsTo, Request, plan, plan_rows,
};
use crate::report::Report;
use crate::split::Split;
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::reading::is_alike;
use inrush_core::target::Load;
use inrush_core::wording::{noun, said_of};
use inrush_core::{RowIds, Type, unique};
use inrush_source::BatchSource;

/// Writes rows of a program: all of them, or none. `partition` says which part of the job's rows they are, and publishing sees to it then
/// that each part is there once. A job with [`Guarantee::PerPartition`] wants it, and writes no part that is in the table already.
///
/// # Errors
/// As for [`load`](crate::load); or when the job is over. Nothing of the attempt is left then.
pub fn write(
    job: &Job,
    rows: impl BatchSource + 'static,
    partition: Option<u32>,
    observer: &dyn Observer,
) -> Result<Token> {
    let planned = |request: &Request, observer: &dyn Observer| {
        let mut request = request.clone();
        request.read.types.clone_from(job.read_types());
        request.types = types_of(job);
        plan_rows(Box::new(rows), &request, observer)
    };
    written(job, partition, None, observer, planned)
}

/// The same for rows of files. What is not said here of how they are written and read, and of their columns' types, is what was said when
/// the job began.
///
/// # Errors
/// As for [`write()`].
pub fn write_sources(
    job: &Job,
    sources: &[String],
    dialect: &DialectRequest,
    read: &ReadRequest,
    types: &BTreeMap<String, Type>,
    partition: Option<u32>,
    observer: &dyn Observer,
) -> Result<Token> {
    let planned = |request: &Request, observer: &dyn Observer| {
        let (sources, dialect) = (sources.to_vec(), dialect.or(&job.load.dialect));
        let mut request = Request { sources, dialect, ..request.clone() };
        request.read = read.or(&job.load.read);
        request.types = types_of(job);
        request.types.retain(|name, _| !types.keys().any(|given| is_alike(given, name)));
        request.types.extend(types.clone());
        plan(&request, observer)
    };
    written(job, partition, None, observer, planned)
}

/// The same for a part of files; by itself it is the partition of its own number.
///
/// # Errors
/// As for [`write()`]; or when a file isn't what it was when it was split.
pub fn write_split(
    job: &Job,
    split: &Split,
    partition: Option<u32>,
    observer: &dyn Observer,
) -> Result<Token> {
    let own = u32::try_from(split.number).ok();
    let planned = |request: &Request, observer: &dyn Observer| {
        let mut request = Request { split: Some(split.clone()), ..request.clone() };
        request.types = types_of(job);
        plan(&request, observer)
    };
    let origin = serde_json::to_string(&split.parts).ok();
    written(job, partition.or(own), origin.as_deref(), observer, planned)
}

/// The types of the job's columns: those that the table does not say, and those that were said when the job began.
fn types_of(job: &Job) -> BTreeMap<String, Type> {
    let (untold, said) = (&job.load.untold.types, &job.load.types);
    untold.iter().chain(said).map(|(name, ty)| (name.clone(), *ty)).collect()
}

fn written(
    job: &Job,
    partition: Option<u32>,
    origin: Option<&str>,
    observer: &dyn Observer,
    planned: impl FnOnce(&Request, &dyn Observer) -> Result<Plan>,
) -> Result<Token> {
    job.check_version()?;
    let comes_in = match (job.guarantee, partition) {
        (Guarantee::PerPartition, None) => {
            return Err(Error::usage(format!(
                "job {} is to have each partition once, and these rows are of none",
                job.id
            ))
            .advise("say which partition of the job's rows they are, from 0: --partition N"));
        }
        (Guarantee::PerPartition, Some(partition)) => Some(partition),
        _ => None,
    };
    let place = job.place()?;
    let _slot = Lock::take(&place, job, 1..=job.connections, observer)?;
    let mut ledger = Ledger::open(&place, &job.home, observer.stop_flag())?;
    let entry = is_open(&mut ledger, job)?;
    if job.guarantee.is_early() {
        is_in_place(&place, &mut ledger, &entry, observer)?;
    }
    let entering = comes_in.map(|partition| Entering { place: &place, job, partition, origin });
    if let Some(entering) = &entering
        && let Some(token) = entering.found(&mut ledger, &entry)?
    {
        return Ok(token);
    }
    ledger.beat(&job.id, &job.digits)?;

    let attempt = unique::word();
    // Its own, unless rows go straight into the job's: nothing is promised, or their ids say which they are.
    let row_ids = match comes_in {
        Some(partition) if !place.jobs.rows.has_transactions() => {
            Some(RowIds { job: job.id.clone(), partition })
        }
        _ => None,
    };
    let own = (job.guarantee != Guarantee::None && row_ids.is_none())
        .then(|| job.hidden(&Token::suffix(&attempt, partition)));
    let table = own.as_ref().unwrap_or(&job.home.table);
    if let Some(own) = &own {
        let make = place.jobs.tables.make_like(&job.home, own, &job.template());
        if let Err(error) = ledger.run([&make]) {
            return Err(still_open(&place, job, in_job(&place, job, own, error)));
        }
    }
    let request = Request {
        target: place.location.secret.clone(),
        options: LoadOptions {
            table: Some(place.jobs.tables.requested(&job.home, table)),
            if_exists: IfExists::Append,
            owns_table: own.is_some(),
            shares_table: own.is_none(),
            row_ids,
            match_by: job.load.match_by,
            on_conflict: job.load.on_conflict,
            key: job.load.key.clone(),
            types: job.load.types.clone(),
            max_rejects: allowed(job),
            rejects: RejectsTo::Observer,
            verify: job.load.verify,
            strategy: job.load.strategy.clone(),
            knobs: job.load.knobs.clone(),
            primary_key: job.load.untold.primary_key.clone(),
            // Attempts are many already.
            lanes: Some(1),
            // What has to last is copied into the job's table, and counted again.
            durability: own.as_ref().map_or(job.load.durability, |_| Durability::None),
            ..LoadOptions::default()
        },
        spare: place.location.spare.clone(),
        ..Request::default()
    };
    // A database may end a connection that is idle for as long as a load takes.
    ledger.hand_on();
    let rejected = Mutex::new(Vec::new());
    let collecting = Redirected {
        observer,
        rejected: |row: &Reject| {
            rejected.lock().unwrap_or_else(PoisonError::into_inner).push(row.clone());
            observer.rejected(row);
        },
        commits: |load: &mut dyn Load| match own {
            Some(_) => Ok(()),
            None => may_commit(&place, job, load),
        },
    };
    // What is copied from the attempt's table are the job's columns, by name; a document is copied whole.
    let copies_columns = own.is_some() && place.jobs.rows.has_transactions();
    let outcome = beating(&place, job, || {
        let plan = planned(&request, &collecting)?;
        for warning in &plan.facts.source.warnings {
            observer.noted(&format!("note: {warning}"));
        }
        if copies_columns {
            has_columns(job, &plan)?;
        }
        let report = run(&plan, &collecting)?;
        Ok((report, plan.source_names().into_iter().map(str::to_owned).collect::<Vec<_>>()))
    });
    // What a failed load has left in the attempt's own table goes with that: of the job's nothing has changed.
    let outcome = outcome.map_err(|error| match (error.aftermath(), &own) {
        (Some(_), Some(_)) => error.leaving(Aftermath::NothingChanged),
        _ => error,
    });
    let judged = outcome.and_then(|(report, names)| {
        let rows = match &own {
            Some(own) => counted(&place, job, own, &report)?,
            None => report.rows_loaded,
        };
        let rejected = rejected.into_inner().unwrap_or_else(PoisonError::into_inner);
        let named = |reject: &Reject| {
            names.get(reject.file as usize).filter(|_| names.len() > 1 || !is_program(&report))
        };
        let hints = &report.plan.choice.hints;
        let warnings = report.warnings.iter().filter(|warning| !hints.contains(*warning));
        let warnings = warnings.map(|warning| of_job(&place, job, table, warning)).collect();
        let token = Token {
            version: job.version.clone(),
            job: job.id.clone(),
            digits: job.digits.clone(),
            attempt,
            partition,
            already_written: false,
            rows_read: report.rows_read,
            rows,
            rows_loaded: report.rows_loaded,
            rows_skipped: report.rows_skipped,
            rejected: rejected
                .iter()
                .map(|reject| Rejected::of(reject, partition, named(reject).map(String::as_str)))
                .collect(),
            warnings,
        };
        match &entering {
            Some(entering) => beating(&place, job, || entering.enter(&token, observer)),
            None => Ok(token),
        }
    });
    if let Ok(mut ledger) = Ledger::open(&place, &job.home, &NEVER) {
        // Who waits whether it is gone learns that this process was at work until now.
        let _ = ledger.beat(&job.id, &job.digits);
        // What has come into the table, or never will, is not needed any more.
        if let Some(own) = own.as_ref().filter(|_| judged.is_err() || entering.is_some()) {
            ledger.drop_tables(std::slice::from_ref(own));
        }
    }
    judged.map_err(|error| still_open(&place, job, in_job(&place, job, table, error)))
}

/// How many bad rows an attempt may have: a share is one of all rows, which only publishing knows.
fn allowed(job: &Job) -> RejectLimit {
    match job.load.max_rejects() {
        RejectLimit::Percent(_) => RejectLimit::All,
        limit => limit,
    }
}

/// Refuses rows that have other columns than the job: one more would be lost, and one that is missing would get the default of the
/// attempt's table, also where the job's table has a value already, or counts.
fn has_columns(job: &Job, plan: &Plan) -> Result<()> {
    let own: Vec<&String> = plan.choice.columns.iter().map(|column| &column.name).collect();
    let list =
        |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let more: Vec<&String> =
        own.iter().copied().filter(|name| !job.columns.contains(name)).collect();
    let missing: Vec<&String> = job.columns.iter().filter(|name| !own.contains(name)).collect();
    let refused = |verb: &str, names: &[&String]| {
        Error::target(format!(
            "the rows {verb} {} {}: job {} was begun for the columns {}",
            noun(names.len() as u64, "column"),
            list(names),
            job.id,
            job.columns.join(", ")
        ))
    };
    match (more.as_slice(), missing.as_slice()) {
        ([], []) => Ok(()),
        ([], [name, ..]) => Err(refused("lack", &missing)
            .advise(match plan.source.inputs[0].place {
                inrush_source::Place::Rows => {
                    format!(
                        "write them with a column {name}, also where all of its values are NULL"
                    )
                }
                _ => format!("{} gives these rows a value", said_of("--add", name, "VALUE")),
            })
            .advise("or begin a job for the columns that all of its rows have")),
        _ => Err(refused("also have", &more)
            .advise(format!(
                "--drop {} leaves out what the job does not have",
                list(&more).replace(", ", ",")
            ))
            .advise("or begin a job for all columns")),
    }
}

/// The error of an attempt; or, where its job is over, that: then its tables are gone, which is what the database speaks of.
fn still_open(place: &Place, job: &Job, error: Error) -> Error {
    if error.is_lost_connection() || error.kind() == Kind::Interrupted {
        return error;
    }
    let entry =
        Ledger::open(place, &job.home, &NEVER).and_then(|mut ledger| ledger.entry(&job.id, false));
    match (entry.map(|entry| taking(job, entry)), error.aftermath()) {
        (Ok(Err(over)), Some(aftermath)) => over.leaving(aftermath),
        (Ok(Err(over)), None) => over,
        _ => error,
    }
}

/// Refuses rows that went straight into the job's table, unless the job is still open: who ends it waits from here on until they are in.
/// Over a connection of its own, for the load's may see the ledger as it was when the load began.
fn may_commit(place: &Place, job: &Job, load: &mut dyn Load) -> Result<()> {
    if let Some(hold) = place.jobs.rows.holding(&job.home, LEDGER, &job.id) {
        load.hold(&hold)?;
    }
    is_open(&mut Ledger::open(place, &job.home, &NEVER)?, job).map(drop)
}

/// Rows of an attempt's table, of a job that is still open.
fn counted(place: &Place, job: &Job, table: &str, report: &Report) -> Result<u64> {
    let mut ledger = Ledger::open(place, &job.home, &NEVER)?;
    is_open(&mut ledger, job)?;
    let rows = match job.load.on_conflict {
        OnConflict::Fail => report.rows_loaded,
        _ => ledger.count(table)?,
    };
    ledger.hand_on();
    Ok(rows)
}

fn is_program(report: &Report) -> bool {
    matches!(report.plan.source.inputs[0].place, inrush_source::Place::Rows)
}

/// The row of a job that takes rows; an error where it is over.
pub(super) fn is_open(ledger: &mut Ledger<'_>, job: &Job) -> Result<Entry> {
    let entry = ledger.entry(&job.id, false)?;
    taking(job, entry)
}

/// The job's row, if that says that it takes rows.
fn taking(job: &Job, entry: Option<Entry>) -> Result<Entry> {
    let over = |how: &str| Error::target(format!("job {} {how}: it takes no more rows", job.id));
    let again = job.again();
    let Some(entry) = entry else {
        return Err(over("is not in the ledger any more").advise(again));
    };
    if entry.digits != job.digits {
        return Err(over("has been begun again by another process")
            .advise("write with the text of the job that was printed then"));
    }
    let over = over(&format!("is {}", entry.state));
    match entry.state {
        State::Open => Ok(entry),
        State::Aborted => Err(over.advise(again)),
        State::Publishing | State::Renaming => Err(over
            .advise("inrush job publish JOB brings it to its end")
            .advise("rows that were not written for it go into a job of another name")),
        State::Committed => Err(over
            .advise("what it was published with is in already: inrush job publish JOB gives its report again")
            .advise("rows that were not written for it go into a job of another name")),
    }
}

/// Notes every now and then that this process is at work, for as long as `work` takes.
fn beating<T: Send>(place: &Place, job: &Job, work: impl FnOnce() -> Result<T>) -> Result<T> {
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let beat = move || {
            while is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                // A beat that is lost is no reason to stop.
                if let Ok(mut ledger) = Ledger::open(place, &job.home, &NEVER) {
                    let _ = ledger.beat(&job.id, &job.digits);
                }
            }
        };
        let _ = thread::Builder::new().spawn_scoped(scope, beat);
        let worked = work();
        drop(done);
        worked
    })
}

/// Errors of the load name the job's table, and not the attempt's.
fn in_job(place: &Place, job: &Job, table: &str, error: Error) -> Error {
    error.reworded(|text| of_job(place, job, table, text))
}

/// A text that names the job's table, and not the attempt's.
fn of_job(place: &Place, job: &Job, table: &str, text: &str) -> String {
    let requested = place.jobs.tables.requested(&job.home, table);
    text.replace(&requested, job.table()).replace(table, job.table())
}
