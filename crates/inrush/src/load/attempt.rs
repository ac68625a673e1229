//! One try at a load.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::nowhere::progress;
use super::tally::Tally;
use super::{Learnt, Mismatch};
use crate::observer::Observer;
use crate::pipe::reject::{Reject, RejectFiles};
use crate::pipe::run::{Pass, pass};
use crate::plan::{OnConflict, Plan, Verify};
use crate::report::{InputReport, Report, Seconds, Verification};
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::flow::{Meter, Phase};
use inrush_core::target::{Ended, Load, Sent};
use inrush_core::wording::{counted, were};
use inrush_source::Place;

/// A try that failed.
pub(super) struct Failed {
    /// What the user reads if there is no other try.
    pub(super) error: Error,
    /// With what another one fares better; only where this one left nothing behind.
    pub(super) learnt: Option<Learnt>,
    /// What the try left behind.
    pub(super) aftermath: Aftermath,
}

/// Where a try failed.
struct Step {
    error: Error,
    /// What disproved a guess, where one was.
    mismatch: Option<Mismatch>,
    /// The last bad row, where those that there are have ended the try.
    bad_row: Option<Box<Reject>>,
}

impl From<Error> for Step {
    fn from(error: Error) -> Self {
        Self { error, mismatch: None, bad_row: None }
    }
}

/// Loads, once.
pub(super) fn attempt(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
) -> Result<Report, Box<Failed>> {
    let stop = observer.stop();
    // Whatever was waited for or running when the user stopped it, the user's wish is the reason.
    let unless_stopped = |error| if stop.load(Relaxed) { Error::interrupted() } else { error };
    let mut load = plan.choice.strategy.begin(&plan.job, stop).map_err(|error| {
        let (error, aftermath) = (unless_stopped(error), Aftermath::NothingChanged);
        Failed { error, learnt: None, aftermath }
    })?;
    let mut rejects =
        RejectFiles::new(plan.reject_places.clone(), plan.source.grammar.newline(), &plan.table);
    let tried = steps(plan, observer, began, &mut *load, &mut rejects);
    let Step { error, mismatch, bad_row } = match tried {
        Ok(report) => return Ok(report),
        Err(step) => step,
    };
    // A try that knows the rows which repeat keys has told them where they come.
    let may_learn = !plan.facts.source.repeats.are_known() && !stop.load(Relaxed);
    let ended_by = match error.kind() {
        _ if !may_learn => Ended::Otherwise,
        _ if mismatch.is_some() => Ended::ByMismatch,
        Kind::Rejects => Ended::ByRows,
        _ => Ended::Otherwise,
    };
    let learnt = load.retry(ended_by).map(Learnt::Target).or(mismatch.map(Learnt::Guess));
    let aftermath = load.abort();
    if aftermath == Aftermath::NothingChanged {
        rejects.withdraw();
    }
    let may_retry = aftermath == Aftermath::NothingChanged && !stop.load(Relaxed);
    let mut error = unless_stopped(error);
    if may_retry && learnt.is_some() {
        if plan.facts.source.seekable {
            return Err(Failed { error, learnt, aftermath }.into());
        }
        error = error.advise(match plan.source.inputs[0].place {
            Place::Rows => "or give the rows as a list or a frame: they can be read again, and inrush starts again by itself",
            _ => "or load from a file instead of a pipe: then inrush starts again by itself",
        });
    }
    if error.kind() == Kind::Rejects {
        let held = rejects.take_held();
        let bad_row = bad_row.filter(|_| held.is_empty());
        held.iter().chain(bad_row.as_deref()).for_each(|row| observer.rejected(row));
    }
    if let [input] = plan.source.inputs.as_slice() {
        error = error.in_input(&input.name);
    }
    // Rows that were committed stay, so the bad rows among them have to stay as well.
    if aftermath != Aftermath::NothingChanged && !rejects.is_empty() {
        let files = rejects.paths();
        error = match rejects.publish() {
            Ok(()) => error.advise(format!("look at the bad rows so far in {}", names(&files))),
            Err(lost) => error.advise(lost.to_string()),
        };
    }
    Err(Failed { error, learnt: None, aftermath }.into())
}

fn names(paths: &[std::path::PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The steps of [`Load`], and what they add up to.
fn steps(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
    load: &mut dyn Load,
    rejects: &mut RejectFiles,
) -> Result<Report, Step> {
    let request = &plan.request;
    let meter = Meter::default();
    observer.phase(&Phase::Load);
    let load_began = Instant::now();
    let mut tally = Tally::new(plan);
    if let Some(rows) = load.hand_over()? {
        (tally.read, tally.loaded) = (rows, rows);
        tally.inputs = handed_over(plan, rows);
        meter.bytes_read.store(plan.facts.source.bytes.unwrap_or(0), Relaxed);
    } else {
        stream(plan, observer, began, load, &meter, &mut tally, rejects).map_err(|error| Step {
            error,
            mismatch: tally.mismatch.take(),
            bad_row: tally.last_reject.take().map(Box::new),
        })?;
    }
    if request.max_rejects.exceeded(tally.rejected, tally.read, true) {
        let (error, mismatch) = (tally.over_limit(plan), tally.disproves());
        return Err(Step { error, mismatch, bad_row: tally.last_reject.take().map(Box::new) });
    }
    let mut seconds = Seconds { load: load_began.elapsed().as_secs_f64(), ..Seconds::default() };

    // What comes now may take long, and begins again what a connection could be told to end.
    if observer.stop().load(Relaxed) {
        return Err(Error::interrupted().into());
    }
    let indexes = load.indexes();
    if indexes {
        observer.phase(&Phase::Index);
    }
    let completing = timed(|| load.complete())?;
    match indexes {
        true => seconds.index = completing,
        false => seconds.load += completing,
    }
    let mut verified = false;
    let mut grown = None;
    if request.verify != Verify::None {
        observer.phase(&Phase::Verify);
        let checksum = tally.checksum.take();
        let sent = Sent { rows: tally.loaded, checksum, grown: Cell::new(None) };
        seconds.verify = timed(|| {
            let verdict = load.verify(&sent)?;
            verified = verdict.ok;
            grown = sent.grown.get();
            match verdict.difference {
                Some(difference) => {
                    Err(Error::new(Kind::Verify, format!("{}: {difference}", plan.table)).advise(
                        "look for triggers that change rows; --verify none loads without comparing",
                    ))
                }
                None => Ok(()),
            }
        })?;
    }
    observer.phase(&Phase::Commit);
    if observer.stop().load(Relaxed) {
        return Err(Error::interrupted().into());
    }
    rejects.publish()?;
    let mut durability_read_back = Default::default();
    seconds.durable = timed(|| {
        durability_read_back = load.commit()?;
        Ok(())
    })?;
    // Later than files are: nothing takes back what was told.
    rejects.take_held().iter().for_each(|row| observer.rejected(row));
    seconds.total = began.elapsed().as_secs_f64();

    let bytes_read = meter.bytes_read.load(Relaxed);
    let mut warnings = plan.warnings();
    if tally.blanks > 0 {
        let (blanks, were) = (counted(tally.blanks, "blank line"), were(tally.blanks));
        warnings.push(format!("{blanks} {were} left out"));
    }
    warnings.extend(rejects.notes());
    let inserted = match request.on_conflict {
        OnConflict::Fail | OnConflict::Skip => Some(tally.loaded),
        OnConflict::Update | OnConflict::Replace => grown,
    };
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        plan: plan.clone(),
        rows_read: tally.read,
        rows_loaded: tally.loaded,
        rows_rejected: tally.rejected,
        rows_skipped: tally.skipped,
        rows_inserted: inserted,
        rows_updated: inserted.map(|inserted| tally.loaded - inserted),
        inputs: tally.inputs,
        bytes_read,
        seconds,
        rows_per_second: tally.loaded as f64 / seconds.total,
        mb_per_second: bytes_read as f64 / 1e6 / seconds.total,
        stages: meter.stages(),
        verify: Verification { method: request.verify, ok: verified },
        durability_read_back,
        rejects: rejects.paths(),
        warnings,
    })
}

/// The inputs of a load in which the engine read them by itself. Of several it says no more than how many rows all of them held;
/// each of the files knows its own.
fn handed_over(plan: &Plan, rows: u64) -> Vec<InputReport> {
    let is_only = plan.source.inputs.len() == 1;
    let inputs = (0..).zip(&plan.source.inputs);
    let inputs = inputs.map(|(index, input)| {
        let own = if is_only { Some(rows) } else { plan.source.rows_of(index) };
        let own = own.unwrap_or_default();
        InputReport { rows_read: own, rows_loaded: own, ..InputReport::of(input) }
    });
    inputs.collect()
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}

/// Moves the rows.
fn stream(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
    load: &mut dyn Load,
    meter: &Meter,
    tally: &mut Tally,
    rejects: &mut RejectFiles,
) -> Result<()> {
    let choice = &plan.choice;
    let source = &plan.source;
    let shape = &*plan.shape;
    let encoders = (0..choice.encoders).map(|_| load.encoder()).collect();
    let counts = Mutex::new((0, 0));
    let parts = Pass {
        slots: choice.slots,
        chunk_bytes: choice.chunk_bytes,
        encoders,
        lanes: load.lanes()?,
        meter,
        stop: observer.stop(),
    };
    pass(
        parts,
        |feeder| source.feed(choice.chunk_bytes, meter, feeder),
        |slot| {
            let collected = tally.collect(plan, shape, slot, &mut |reject| rejects.push(reject));
            *counts.lock().unwrap_or_else(PoisonError::into_inner) = (tally.loaded, tally.rejected);
            collected
        },
        || {
            let (rows_loaded, rows_rejected) =
                *counts.lock().unwrap_or_else(PoisonError::into_inner);
            observer.progress(&progress(plan, meter, began, rows_loaded, rows_rejected));
        },
        || source.abandon(),
    )
}
