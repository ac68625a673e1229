//! A load from end to end: one pass, and another when the first one has learnt something.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::observer::Observer;
use crate::pipe::reject::{Position, Reject, RejectFiles, limit_error};
use crate::pipe::run::{Pass, pass};
use crate::plan::{FieldFacts, Lesson, OnConflict, Plan, Verify};
use crate::report::{InputReport, Report, Seconds, Verification};
use crate::target::{Ended, Lane, Load, Sent};
use inrush_core::encode::Grammar;
use inrush_core::encode::{Shape, found_by_lane, verbatim};
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::flow::{Ack, Checksum, Chunk, Code, Encode, Meter, Phase, Progress, Wire};
use inrush_core::flow::{Found, Parcel};
use inrush_core::wording::{counted, were};
use inrush_source::Source;
use inrush_source::survey::Survey;

/// Carries out a plan.
///
/// # Errors
/// When the load did not happen; [`Error::aftermath`] says what is left of it.
pub fn run(plan: &Plan, observer: &dyn Observer) -> Result<Report> {
    let began = Instant::now();
    let nothing_changed = |error: Error| error.leaving(Aftermath::NothingChanged);
    let mut plan = plan.clone();
    let mut notes = Vec::new();
    loop {
        let Retry { error, lesson, aftermath, surprise } = match attempt(&plan, observer, began)? {
            Outcome::Done(mut report) => {
                report.warnings.splice(0..0, notes);
                return Ok(*report);
            }
            Outcome::Retry(retry) => *retry,
        };
        if aftermath != Aftermath::NothingChanged {
            return Err(error.leaving(aftermath));
        }
        if !plan.facts.source.seekable {
            return Err(nothing_changed(error.advise(
                "or load from a file instead of a pipe: then inrush starts again by itself",
            )));
        }
        let why = error.what().to_owned();
        // What a type turned out to be is the user's business; that a short try was in vain is not.
        let mut telling = matches!(lesson, Lesson::Types);
        let (next, how) = match lesson {
            Lesson::Types => {
                let again = surprise.map(|surprise| guess_again(&plan, &surprise, observer, began));
                match again.transpose().map_err(nothing_changed)?.flatten() {
                    Some((mut next, how)) => {
                        next.facts.source.reasons.push(started_again(&why, &how));
                        (next, how)
                    }
                    None => {
                        return Err(nothing_changed(
                            error.advise("or load a copy, if the file changes while it is loaded"),
                        ));
                    }
                }
            }
            Lesson::Knob(name, value) => {
                let Some(next) = plan.with_knob(name, value) else {
                    return Err(nothing_changed(error));
                };
                (next, format!("with {name}={value}"))
            }
            Lesson::InOrder(knob) => {
                let Some(next) = plan.in_order(knob) else {
                    return Err(nothing_changed(error));
                };
                next
            }
            Lesson::GaveUp if plan.request.strategy.is_some() => {
                return Err(nothing_changed(error));
            }
            Lesson::GaveUp => {
                telling = true;
                let next = plan.without_strategy(&why).map_err(nothing_changed)?;
                let how = format!("with {}", next.choice.strategy.id());
                (next, how)
            }
            Lesson::Repeats(_) if plan.facts.source.repeats.are_known() => {
                return Err(nothing_changed(error));
            }
            Lesson::Repeats(repeats) => {
                let how = match repeats.sought {
                    Some(_) => "to look for such rows first",
                    None => "to put such rows aside",
                };
                (plan.without(repeats), how.to_owned())
            }
        };
        plan = next;
        let note = started_again(&why, &how);
        telling |= began.elapsed() > NOTICED;
        if telling {
            observer.replanned(&note);
            notes.push(note);
        }
    }
}

/// The plan of another try after a guess was disproved, and what of it is new in words: all values are looked at, unless they were.
/// `None` when another try would end as this one did.
pub(crate) fn guess_again(
    plan: &Plan,
    surprise: &Surprise,
    observer: &dyn Observer,
    began: Instant,
) -> Result<Option<(Plan, String)>> {
    let mut next = plan.clone();
    if !plan.facts.source.is_surveyed {
        observer.phase(&Phase::Survey);
        let (types, source) = survey(plan, observer, began)?;
        next = plan.widened(types, source)?;
    }
    let column = match surprise {
        Surprise::Tolerated => {
            if plan.facts.source.is_surveyed {
                next = next.intolerant()?;
            }
            return Ok(Some((next, "with the types that all values have".to_owned())));
        }
        Surprise::Column => None,
        Surprise::Type(column) => Some(column.as_str()),
    };
    // Where all values were looked at, and the target's type keeps one of them not, a try with that type would end as this one did.
    // Text takes any.
    if !next.takes_other(plan, column) {
        match column.map(|column| next.with_text(column)).transpose()?.flatten() {
            Some(text) => next = text,
            None => return Ok(None),
        }
    }
    let how = next.told_from(plan, column);
    Ok(Some((next, how)))
}

/// A try that ends sooner is hardly noticed.
const NOTICED: Duration = Duration::from_secs(1);

fn started_again(why: &str, how: &str) -> String {
    format!("{why}: the load started again {how}")
}

enum Outcome {
    Done(Box<Report>),
    Retry(Box<Retry>),
}

/// A try that failed and knows better now.
struct Retry {
    /// What the user reads if there is no other try.
    error: Error,
    lesson: Lesson,
    /// What the try left behind.
    aftermath: Aftermath,
    /// What disproved a guess, where one was.
    surprise: Option<Surprise>,
}

fn attempt(plan: &Plan, observer: &dyn Observer, began: Instant) -> Result<Outcome> {
    let stop = observer.stop();
    // Whatever was waited for or running when the user stopped it, the user's wish is the reason.
    let unless_stopped = |error| if stop.load(Relaxed) { Error::interrupted() } else { error };
    let mut load = plan
        .choice
        .strategy
        .begin(&plan.job, stop)
        .map_err(|error| unless_stopped(error).leaving(Aftermath::NothingChanged))?;
    let mut rejects =
        RejectFiles::new(plan.reject_places.clone(), plan.source.grammar.newline(), &plan.table);
    let mut surprise = None;
    let steps = steps(plan, observer, began, &mut *load, &mut rejects, &mut surprise);
    let error = match steps {
        Ok(report) => return Ok(Outcome::Done(Box::new(report))),
        Err(error) => error,
    };
    // A try that knows the rows which repeat keys has told them where they come.
    let is_new_lesson = !plan.facts.source.repeats.are_known() && !stop.load(Relaxed);
    let ended_by = match error.kind() {
        _ if !is_new_lesson => Ended::Otherwise,
        _ if surprise.is_some() => Ended::BySurprise,
        Kind::Rejects => Ended::ByRows,
        _ => Ended::Otherwise,
    };
    let lesson = load.lesson(ended_by).or(surprise.is_some().then_some(Lesson::Types));
    let aftermath = load.abort();
    if aftermath == Aftermath::NothingChanged {
        rejects.withdraw();
    }
    if let Some(lesson) = lesson
        && !stop.load(Relaxed)
    {
        return Ok(Outcome::Retry(Box::new(Retry { error, lesson, aftermath, surprise })));
    }
    let mut error = unless_stopped(error);
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
    Err(error.leaving(aftermath))
}

fn names(paths: &[std::path::PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn steps(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
    load: &mut dyn Load,
    rejects: &mut RejectFiles,
    surprise: &mut Option<Surprise>,
) -> Result<Report> {
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
        let streamed = stream(plan, observer, began, load, &meter, &mut tally, rejects);
        *surprise = tally.surprise.take();
        streamed?;
    }
    if request.max_rejects.exceeded(tally.rejected, tally.read, true) {
        *surprise = tally.disproves();
        return Err(tally.over_limit(plan));
    }
    let mut seconds = Seconds { load: load_began.elapsed().as_secs_f64(), ..Seconds::default() };

    // What comes now may take long, and begins anew what a connection could be told to end.
    if observer.stop().load(Relaxed) {
        return Err(Error::interrupted());
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
        return Err(Error::interrupted());
    }
    rejects.publish()?;
    let mut durability_read_back = Default::default();
    seconds.durable = timed(|| {
        durability_read_back = load.commit()?;
        Ok(())
    })?;
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
        parcels: choice.parcels,
        chunk_bytes: choice.chunk_bytes,
        encoders,
        lanes: load.lanes()?,
        meter,
        stop: observer.stop(),
    };
    pass(
        parts,
        |feeder| source.feed(choice.chunk_bytes, meter, feeder),
        |parcel| {
            let collected = tally.collect(plan, shape, parcel, &mut |reject| rejects.push(reject));
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

pub(crate) fn progress(
    plan: &Plan,
    meter: &Meter,
    began: Instant,
    rows_loaded: u64,
    rows_rejected: u64,
) -> Progress {
    let mut progress = Progress::default();
    progress.bytes_stored = meter.bytes_stored.load(Relaxed);
    progress.bytes_total = plan.facts.source.bytes;
    progress.rows_loaded = rows_loaded;
    progress.rows_rejected = rows_rejected;
    progress.elapsed = began.elapsed();
    progress
}

/// What disproves a guess.
#[derive(Clone, Debug)]
pub(crate) enum Surprise {
    /// A value is not of its column's type.
    Type(String),
    /// A column that nobody knew of.
    Column,
    /// More bad rows than are allowed, of columns that were to have some.
    Tolerated,
}

/// What the parcels add up to, seen in the source's order.
pub(crate) struct Tally {
    file: u32,
    /// Records and lines of the current input so far.
    records: u64,
    lines: u64,
    pub(crate) read: u64,
    loaded: u64,
    pub(crate) rejected: u64,
    skipped: u64,
    blanks: u64,
    checksum: Option<Checksum>,
    /// A value that didn't fit what its column was taken for.
    pub(crate) surprise: Option<Surprise>,
    /// Bad rows of columns that keep a type although not all of their values are of it.
    tolerated: u64,
    last_reject: Option<Reject>,
    /// The same for each input.
    inputs: Vec<InputReport>,
}

impl Tally {
    pub(crate) fn new(plan: &Plan) -> Self {
        let checksum = (plan.request.verify == Verify::Checksum)
            .then(|| Checksum::new(plan.choice.columns.len()));
        Self {
            file: 0,
            records: 0,
            lines: plan.source.inputs[0].lines_before,
            read: 0,
            loaded: 0,
            rejected: 0,
            skipped: 0,
            blanks: 0,
            checksum,
            surprise: None,
            tolerated: 0,
            last_reject: None,
            inputs: plan.source.inputs.iter().map(InputReport::of).collect(),
        }
    }

    /// Adds what became of a chunk, and hands on its bad rows.
    pub(crate) fn collect(
        &mut self,
        plan: &Plan,
        shape: &Shape,
        parcel: &mut Parcel,
        put: &mut dyn FnMut(&Reject) -> Result<()>,
    ) -> Result<()> {
        let Parcel { chunk, encoded, ack } = parcel;
        if chunk.origin.file != self.file {
            self.file = chunk.origin.file;
            self.records = 0;
            self.lines = plan.source.inputs[self.file as usize].lines_before;
        }
        let mut found = found_by_lane(shape, chunk, encoded, &ack.faults);
        found.append(&mut encoded.found);
        found.sort_by_key(|found| found.start);
        let surprise = encoded.surprise.take();
        self.read += u64::from(encoded.records);
        self.loaded += ack.loaded;
        self.skipped += ack.skipped;
        let here = &mut self.inputs[self.file as usize];
        here.rows_read += u64::from(encoded.records);
        here.rows_loaded += ack.loaded;
        here.rows_skipped += ack.skipped;
        self.blanks += encoded.blanks;
        if let (Some(sums), Some(more)) = (&mut self.checksum, &ack.checksum) {
            sums.merge(more);
        }
        for found in found {
            if surprise.as_ref().is_some_and(|surprise| surprise.start < found.start) {
                break;
            }
            let reject = self.place(shape, chunk, &found);
            self.rejected += 1;
            let is_tolerated = |column: u32| plan.choice.tolerated.contains(&(column as usize));
            self.tolerated += u64::from(found.column.is_some_and(is_tolerated));
            self.inputs[self.file as usize].rows_rejected += 1;
            let over = plan.request.max_rejects.exceeded(self.rejected, self.read, false);
            put(&reject)?;
            self.last_reject = Some(reject);
            if over {
                self.surprise = self.disproves();
                return Err(self.over_limit(plan));
            }
        }
        if let Some(found) = surprise {
            let reject = self.place(shape, chunk, &found);
            self.surprise = Some(match &reject.column {
                Some(column) => Surprise::Type(column.clone()),
                None => Surprise::Column,
            });
            let input = &plan.source.inputs[self.file as usize].name;
            let place = reject.place(input);
            let (at, message) = (reject.at, reject.message);
            let error = match reject.column {
                Some(column) => Error::source(format!("{input}: {at}, column {column}: {message}"))
                    .advise(format!("say --type {column}=text (or --types text for all columns)")),
                None => Error::source(format!("{input}: {at}: {message}")),
            };
            return Err(error.at(place));
        }
        self.records += u64::from(encoded.records);
        self.lines += encoded.lines;
        Ok(())
    }

    fn place(&self, shape: &Shape, chunk: &Chunk, found: &Found) -> Reject {
        let record = self.records + u64::from(found.record) + 1;
        let at = match &shape.grammar {
            Grammar::Columns => Position::Columns {
                row: record,
                group: chunk.origin.group,
                group_row: chunk.origin.group_row + u64::from(found.start) + 1,
            },
            _ => Position::Text {
                line: self.lines + u64::from(found.line) + 1,
                byte: chunk.origin.byte + u64::from(found.start),
            },
        };
        Reject {
            file: self.file,
            record,
            at,
            column: found.column.map(|column| shape.columns[column as usize].name.clone()),
            code: found.code,
            message: found.message.to_string(),
            raw: verbatim(shape, chunk, found),
        }
    }

    /// When there are too many bad rows: whether columns of tolerated types have brought some, which with another type are none.
    pub(crate) fn disproves(&self) -> Option<Surprise> {
        (self.tolerated > 0).then_some(Surprise::Tolerated)
    }

    fn over_limit(&self, plan: &Plan) -> Error {
        match &self.last_reject {
            Some(reject) => {
                let name = &plan.source.inputs[reject.file as usize].name;
                let error = limit_error(name, reject, self.rejected, plan.request.max_rejects);
                if reject.code == Code::Utf8 {
                    return error
                        .advise("if the file is in another encoding, say so: --encoding latin1");
                }
                match (&reject.column, special_shown(&reject.message)) {
                    (Some(column), Some(special)) => error.advise(format!(
                        "--null {column}={special} loads NULL for it: {} has no such number",
                        plan.facts.target.engine
                    )),
                    _ => error,
                }
            }
            None => Error::new(Kind::Rejects, "too many bad rows"),
        }
    }
}

/// What isn't a number, or infinite, at the start of a message that shows it as a value of its column.
fn special_shown(message: &str) -> Option<&str> {
    let (value, why) = message.strip_prefix('\'')?.split_once('\'')?;
    let (_, word) = match value.split_at_checked(1) {
        Some(signed @ ("+" | "-", _)) => signed,
        _ => ("", value),
    };
    let is_special =
        ["nan", "inf", "infinity"].iter().any(|special| special.eq_ignore_ascii_case(word));
    (is_special && why.starts_with(" is not ")).then_some(value)
}

/// A lane that takes all and keeps nothing.
pub(crate) struct Nowhere;

impl Lane for Nowhere {
    fn send(&mut self, _chunk: &Chunk, _wire: &Wire) -> Result<Ack> {
        Ok(Ack::default())
    }
}

/// The same pass with other encoders, sent nowhere; how many records there were.
fn pass_nowhere(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
    encoders: Vec<Box<dyn Encode>>,
    mut collect: impl FnMut(&Parcel),
) -> Result<u64> {
    let meter = Meter::default();
    let parts = Pass {
        parcels: plan.choice.parcels,
        chunk_bytes: plan.choice.chunk_bytes,
        encoders,
        lanes: vec![Box::new(Nowhere)],
        meter: &meter,
        stop: observer.stop(),
    };
    let mut records = 0;
    pass(
        parts,
        |feeder| plan.source.feed(plan.choice.chunk_bytes, &meter, feeder),
        |parcel| {
            records += u64::from(parcel.encoded.records);
            collect(parcel);
            Ok(())
        },
        || observer.progress(&progress(plan, &meter, began, 0, 0)),
        || plan.source.abandon(),
    )?;
    Ok(records)
}

/// Does everything that a load does but for sending its rows: how many there were, and how long it took to read, cut and encode
/// them. No target can take the plan's rows faster from us. The target is as before when it ends.
///
/// # Errors
/// As [`run`], but for what the target would say of the rows.
pub fn rehearse(plan: &Plan, observer: &dyn Observer) -> Result<(u64, Duration)> {
    let mut load = plan.choice.strategy.begin(&plan.job, observer.stop())?;
    let encoders = (0..plan.choice.encoders).map(|_| load.encoder()).collect();
    let began = Instant::now();
    let records = pass_nowhere(plan, observer, began, encoders, |_| ());
    let took = began.elapsed();
    load.abort();
    Ok((records?, took))
}

/// Looks at every value of the whole input, through the same pipeline, and says what each column really is; with another source
/// where there are columns that nobody knew of.
fn survey(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
) -> Result<(Vec<FieldFacts>, Option<Source>)> {
    let mut survey = Survey::of(&plan.source, &plan.facts.source.fields);
    let surveyors = (0..plan.facts.processors.max(1)).map(|_| survey.encoder()).collect();
    pass_nowhere(plan, observer, began, surveyors, |parcel| {
        survey.collect(&parcel.chunk, parcel.encoded.lines);
    })?;
    Ok(survey.end())
}
