//! One load that counts for nothing.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use inrush::plan::Choice;
use inrush::{Kind, Observer, RejectsTo, Result};
use inrush_core::IfExists;

use super::ground::Ground;
use super::sample::Sample;

/// What became of a load.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lap {
    /// Rows, and the seconds that they took.
    Took(u64, f64),
    /// It was stopped when it had taken so much longer than it may.
    TooSlow,
    /// Why the strategy is of no use here.
    Failed(String),
}

/// Loads of one sample into one place.
pub(super) struct Trials<'a> {
    pub(super) ground: Ground,
    pub(super) sample: Sample,
    pub(super) observer: &'a dyn Observer,
    /// What is there before a load has rows already.
    is_seeded: bool,
}

impl<'a> Trials<'a> {
    /// # Errors
    /// When the rows that have to be there before can't be loaded.
    pub(super) fn new(
        mut ground: Ground,
        sample: Sample,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let mut is_seeded = false;
        if sample.before.is_some() {
            ground.ready()?;
            seed(&ground, &sample, observer)?;
            is_seeded = ground.keep_rows()?;
        }
        Ok(Self { ground, sample, observer, is_seeded })
    }

    /// Loads so many pieces as `choice` says, for so long at most.
    ///
    /// # Errors
    /// When the user wants to stop, or the place can't be made ready.
    pub(super) fn lap(
        &mut self,
        choice: &Choice,
        pieces: usize,
        most: Option<Duration>,
    ) -> Result<Lap> {
        self.ground.ready()?;
        if !self.is_seeded {
            seed(&self.ground, &self.sample, self.observer)?;
        }
        let mut request = self.sample.request(pieces);
        request.target = self.ground.target().to_owned();
        request.table = Some(self.ground.table());
        request.rejects = RejectsTo::Observer;
        request.profiles = None;
        let stopped = AtomicBool::new(false);
        let limited = Limited { stopped: &stopped };
        let outcome = watched(&stopped, self.observer.stop_flag(), most, || {
            let mut plan = inrush::plan(&request, &limited)?;
            plan.load_as(choice);
            inrush::run(&plan, &limited)
        });
        if self.observer.stop_flag().load(Relaxed) {
            return Err(inrush::Error::new(Kind::Interrupted, "interrupted"));
        }
        Ok(match outcome {
            Ok(report) if report.plan.choice.strategy.id() != choice.strategy.id() => {
                Lap::Failed(format!("it went on as {}", report.plan.choice.strategy.id()))
            }
            Ok(report) if report.rows_loaded == 0 => Lap::Failed("it loaded no row".to_owned()),
            Ok(report) => Lap::Took(report.rows_loaded, report.seconds.total.max(1e-6)),
            Err(error) if error.kind() == Kind::Interrupted => Lap::TooSlow,
            Err(error) => Lap::Failed(error.what().to_owned()),
        })
    }
}

/// The rows that the table holds before a load, where the user's holds some.
fn seed(ground: &Ground, sample: &Sample, observer: &dyn Observer) -> Result<()> {
    let Some(split) = &sample.before else { return Ok(()) };
    let mut request = sample.of_split(split.clone());
    request.target = ground.target().to_owned();
    request.table = Some(ground.table());
    (request.if_exists, request.rejects) = (IfExists::Append, RejectsTo::Observer);
    request.profiles = None;
    let stopped = Quiet(observer);
    inrush::run(&inrush::plan(&request, &stopped)?, &stopped).map(drop)
}

/// Does the work, and raises `stopped` when `outer` is, or when it has taken too long.
fn watched<T>(
    stopped: &AtomicBool,
    outer: &AtomicBool,
    most: Option<Duration>,
    work: impl FnOnce() -> T,
) -> T {
    /// How soon a wish is noticed.
    const STEP: Duration = Duration::from_millis(10);
    let done = AtomicBool::new(false);
    let began = Instant::now();
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Relaxed) {
                if outer.load(Relaxed) || most.is_some_and(|most| began.elapsed() > most) {
                    stopped.store(true, Relaxed);
                }
                thread::park_timeout(STEP);
            }
        });
        let result = work();
        done.store(true, Relaxed);
        watch.thread().unpark();
        result
    })
}

/// Nothing to be seen of a load that can be stopped.
struct Limited<'a> {
    stopped: &'a AtomicBool,
}

impl Observer for Limited<'_> {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(self.stopped)
    }
}

/// The user's wish to stop, and nothing to be seen.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn stop(&self) -> Option<&AtomicBool> {
        self.0.stop()
    }
}
