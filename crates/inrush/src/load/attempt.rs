//! One try at a load.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::nowhere::progress;
use super::steps::Steps;
use super::tally::Tally;
use super::{Earlier, Learnt, Mismatch, changed};
use crate::observer::Observer;
use crate::pipe::reject::{Reject, RejectFiles, fix_or_reject};
use crate::pipe::run::{Collector, Pass, pass};
use crate::plan::{OnConflict, Plan, Verify};
use crate::report::{InputReport, Report, Seconds, Verification};
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::flow::{Meter, Phase, Point, Slot};
use inrush_core::target::{Ended, Load, Sent};
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
    earlier: &mut Earlier,
    observer: &dyn Observer,
    began: Instant,
) -> Result<Report, Box<Failed>> {
    let stop = observer.stop_flag();
    // Whatever was waited for or running when the user stopped it, the user's wish is the reason.
    let unless_stopped = |error| if stop.load(Relaxed) { Error::interrupted() } else { error };
    let mut load = plan.choice.strategy.begin(&plan.job, stop).map_err(|error| {
        let aftermath = error.aftermath().unwrap_or(Aftermath::NothingChanged);
        Failed { error: unless_stopped(error), learnt: None, aftermath }
    })?;
    let before = (earlier.read, earlier.rejected);
    let rejects = earlier.rejects.get_or_insert_with(|| RejectFiles::of(plan));
    let mut steps = plan.job.steps.as_ref().map(Steps::new);
    let tried = carry_out(plan, before, observer, began, &mut *load, rejects, &mut steps);
    let Step { error, mismatch, bad_row } = match tried {
        Ok(report) => return Ok(report),
        Err(step) => match changed(plan, &step.error) {
            Some(changed) => changed.into(),
            None => step,
        },
    };
    // A try that knows the rows which repeat keys has told them where they come.
    let may_learn = !plan.facts.source.repeats.are_known() && !stop.load(Relaxed);
    let ended_by = match error.kind() {
        _ if !may_learn => Ended::Otherwise,
        _ if mismatch.is_some() => Ended::ByMismatch,
        Kind::Rejects => Ended::ByRows,
        _ => Ended::Otherwise,
    };
    let held = rejects.take_held();
    let learnt = load.retry(ended_by).map(Learnt::Target).or(mismatch.map(Learnt::Guess));
    let aftermath = load.abort();
    let aftermath = match &steps {
        Some(steps) => steps.aftermath(aftermath, rejects),
        None => aftermath,
    };
    if matches!(aftermath, Aftermath::NothingChanged | Aftermath::Resumable { .. }) {
        rejects.withdraw();
    }
    let may_retry = aftermath == Aftermath::NothingChanged && !stop.load(Relaxed);
    let mut error = unless_stopped(error);
    if may_retry && learnt.is_some() {
        if plan.facts.source.seekable {
            return Err(Failed { error, learnt, aftermath }.into());
        }
        error = error.advise(match plan.source.inputs[0].place {
            Place::Rows => "or give rows that can be read again, such as a list, a frame or a vector of batches: then inrush starts again by itself",
            _ => "or load from a file instead of a pipe: then inrush starts again by itself",
        });
    }
    if error.kind() == Kind::Rejects {
        let bad_row = bad_row.filter(|_| held.is_empty());
        held.iter().chain(bad_row.as_deref()).for_each(|row| observer.rejected(row));
    }
    if aftermath == Aftermath::NothingChanged
        && let Some(where_to_look) = load.beyond_undoing()
    {
        error = error.advise(where_to_look);
    }
    if let [input] = plan.source.inputs.as_slice() {
        error = error.in_input(&input.name);
    }
    if error.kind() == Kind::Rejects && steps.is_some() {
        error = error.advise(match aftermath {
            Aftermath::Resumable { .. } => {
                "go on with --resume and a higher --max-rejects (N or N%): a file that is fixed is another file, of which no row is loaded"
                    .to_owned()
            }
            _ => {
                let is_of_program = matches!(plan.source.inputs[0].place, Place::Rows);
                fix_or_reject(&plan.request, is_of_program)
            }
        });
    }
    // Rows that were committed stay, so the bad rows among them have to stay as well. Of a load in steps they do already.
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
    paths
        .iter()
        .map(|path| inrush_core::path::text(path).into_owned())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The steps of [`Load`], and what they add up to. `before` are the rows that a writer's steps have read, and rejected.
fn carry_out(
    plan: &Plan,
    before: (u64, u64),
    observer: &dyn Observer,
    began: Instant,
    load: &mut dyn Load,
    rejects: &mut RejectFiles,
    steps: &mut Option<Steps>,
) -> Result<Report, Step> {
    let request = &plan.request;
    let meter = Meter::default();
    if let Some(steps) = &mut *steps {
        steps.begin(plan, observer, load, rejects)?;
    }
    observer.phase(&Phase::Load);
    let load_began = Instant::now();
    let mut tally = Tally::new(plan);
    tally.before = before;
    if let Some(rows) = load.hand_over()? {
        (tally.read, tally.loaded) = (rows, rows);
        tally.inputs = handed_over(plan, rows);
        meter.bytes_read.store(plan.facts.source.bytes.unwrap_or(0), Relaxed);
    } else {
        let meter = &meter;
        let looked_at = tally.file;
        let tally = &mut tally;
        let stream = Stream { plan, observer, began, meter, tally, looked_at, rejects, steps };
        stream.run(load).map_err(|error| Step {
            error,
            mismatch: tally.mismatch.take(),
            bad_row: tally.last_reject.take().map(Box::new),
        })?;
    }
    plan.files.expect_unchanged()?;
    if tally.exceeds(plan, true) {
        let (error, mismatch) = (tally.over_limit(plan), tally.disproves());
        return Err(Step { error, mismatch, bad_row: tally.last_reject.take().map(Box::new) });
    }
    let mut seconds = Seconds { load: load_began.elapsed().as_secs_f64(), ..Seconds::default() };

    // What comes now may take long, and begins again what a connection could be told to end.
    if observer.stop_flag().load(Relaxed) {
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
        let held = steps.as_ref().and_then(Steps::held);
        let sent = Sent { rows: tally.loaded, checksum, held, grown: Cell::new(None) };
        seconds.verify = timed(|| {
            let verdict = load.verify(&sent)?;
            verified = verdict.ok;
            grown = sent.grown.get();
            match verdict.difference {
                Some(difference) => Err(differs(plan, &difference, steps.as_ref())),
                None => Ok(()),
            }
        })?;
    }
    observer.phase(&Phase::Commit);
    if observer.stop_flag().load(Relaxed) {
        return Err(Error::interrupted().into());
    }
    observer.commits(load)?;
    match &mut *steps {
        Some(steps) => steps.record(load, &tally, rejects, true)?,
        None => rejects.publish()?,
    }
    let mut durability_read_back = Default::default();
    seconds.durable = timed(|| {
        durability_read_back = load.commit(&|note| observer.noted(note))?;
        Ok(())
    })?;
    // Later than files are: nothing takes back what was told.
    rejects.take_held().iter().for_each(|row| observer.rejected(row));
    seconds.total = began.elapsed().as_secs_f64();

    let bytes_read = meter.bytes_read.load(Relaxed);
    let steps = steps.as_ref().map(Steps::report);
    // Of this run alone.
    let loaded_now = tally.loaded - steps.as_ref().map_or(0, |steps| steps.rows_loaded_before);
    let mut warnings = plan.warnings();
    warnings.extend(tally.notes(&plan.shape));
    warnings.extend(rejects.notes());
    warnings.extend(load.warnings());
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
        rows_per_second: loaded_now as f64 / seconds.total,
        mb_per_second: bytes_read as f64 / 1e6 / seconds.total,
        stages: meter.stages(),
        verify: Verification { method: request.verify, ok: verified },
        durability_read_back,
        rejects: rejects.paths(),
        steps,
        warnings,
    })
}

/// The table is not what was sent.
fn differs(plan: &Plan, difference: &str, steps: Option<&Steps>) -> Error {
    let table = &plan.table;
    let error = |why: &str| Error::new(Kind::Verify, format!("{table}: {difference}{why}"));
    let module = plan.kept_table().and_then(|table| table.module.as_ref());
    match (module, steps) {
        (Some(module), _) => {
            error(&format!(": {module}, the module of this virtual table, stores others"))
                .advise("--verify none loads without comparing, and leaves them to the module")
        }
        (None, Some(steps)) => steps.advise(error(""), plan.target.suspects()),
        (None, None) => error("")
            .advise(format!("look for {}", plan.target.suspects()))
            .advise("--verify none loads without comparing"),
    }
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
struct Stream<'a> {
    plan: &'a Plan,
    observer: &'a dyn Observer,
    began: Instant,
    meter: &'a Meter,
    tally: &'a mut Tally,
    /// The first input of which rows may come into the next step: those before it have been looked at when theirs were committed.
    looked_at: u32,
    rejects: &'a mut RejectFiles,
    steps: &'a mut Option<Steps>,
}

impl Stream<'_> {
    fn run(mut self, load: &mut dyn Load) -> Result<()> {
        let (plan, meter) = (self.plan, self.meter);
        let (choice, source) = (&plan.choice, &plan.source);
        let parts = Pass {
            slots: choice.slots,
            chunk_bytes: choice.chunk_bytes,
            encoders: (0..choice.encoders).map(|_| load.encoder()).collect(),
            step_records: plan.job.steps.as_ref().map(|steps| steps.commit_rows),
            meter,
            stop: self.observer.stop_flag(),
        };
        let from = plan.goes_on().map_or_else(Point::default, |entry| entry.so_far.point);
        pass(parts, |feeder| source.feed(choice.chunk_bytes, &from, meter, feeder), load, &mut self)
    }
}

impl<'l> Collector<dyn Load + 'l> for Stream<'_> {
    fn collect(&mut self, slot: &mut Slot) -> Result<()> {
        let Self { plan, tally, rejects, .. } = self;
        tally.collect(plan, &plan.shape, slot, &mut |reject| rejects.push(reject))
    }

    fn step(&mut self, load: &mut (dyn Load + 'l)) -> Result<()> {
        let Self { plan, tally, looked_at, rejects, steps, .. } = self;
        let Some(steps) = steps else { return Ok(()) };
        plan.files.expect_inputs_unchanged(*looked_at as usize..=tally.file as usize)?;
        *looked_at = tally.file;
        steps.count(plan, load)?;
        steps.record(load, tally, rejects, false)?;
        load.step()?;
        steps.committed(rejects);
        rejects.take_held().iter().for_each(|row| self.observer.rejected(row));
        load.next_step()
    }

    fn tick(&mut self) {
        let Self { plan, meter, began, tally, .. } = self;
        self.observer.progress(&progress(plan, meter, *began, tally.loaded, tally.rejected));
    }
}
