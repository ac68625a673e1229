//! A load from end to end: one try, and another where the first has found out how.
//!
//! ```text
//! run -> attempt (a pass, keys, verification, commit) -> report
//!   ^        |
//!   +- plan -+  what a failed try has learnt makes another plan: Plan::after, or guess_again for types
//! ```

mod attempt;
mod guess;
mod nowhere;
mod steps;
mod tally;

use std::time::{Duration, Instant};

use crate::observer::Observer;
use crate::pipe::reject::RejectFiles;
use crate::plan::{Plan, Retry};
use crate::report::Report;
use inrush_core::error::{Aftermath, Error, Kind, Result};
use inrush_core::pending::{follow_link, sweep_beside, sweep_beside_all};

use attempt::{Failed, attempt};

pub(crate) use guess::guess_again;
pub use nowhere::rehearse;
pub(crate) use nowhere::{Nowhere, progress};
pub(crate) use tally::Tally;

/// What a failed try has learnt.
enum Learnt {
    /// What the target has found out.
    Target(Retry),
    /// A guess was wrong.
    Guess(Mismatch),
}

/// What disproves a guess.
#[derive(Clone, Debug)]
pub(crate) enum Mismatch {
    /// A value is not of its column's type, or of a sort that the sample had none of.
    Type(String),
    /// A column that nobody knew of.
    Column,
    /// More bad rows than are allowed, of columns that were to have some.
    Tolerated,
}

/// The reason for a failure where that may be what the input holds, and a file was changed while it was read: no record of it may be one.
fn changed(plan: &Plan, error: &Error) -> Option<Error> {
    let is_of_input = matches!(error.kind(), Kind::Source | Kind::Rejects | Kind::Verify);
    is_of_input.then(|| plan.files.expect_unchanged().err()).flatten()
}

/// A try that ends sooner is hardly noticed.
const NOTICED: Duration = Duration::from_secs(1);

/// Carries out a plan.
///
/// # Errors
/// When the load did not happen; [`aftermath`](crate::Error::aftermath) says what is left of it.
pub fn run(plan: &Plan, observer: &dyn Observer) -> Result<Report> {
    run_behind(&mut Earlier::default(), plan, observer)
}

/// What a writer's steps so far have left for the next one.
#[derive(Default)]
pub(crate) struct Earlier {
    read: u64,
    rejected: u64,
    /// The files of bad rows; `None` before the first step.
    rejects: Option<RejectFiles>,
}

/// The same for a step of a writer: bad rows are counted with those of the steps before, and go where those are.
pub(crate) fn run_behind(
    earlier: &mut Earlier,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Report> {
    let report = observer.follow(&plan.location.spare, || tries(earlier, plan, observer))?;
    earlier.read += report.rows_read;
    earlier.rejected += report.rows_rejected;
    earlier.rejects.iter_mut().for_each(RejectFiles::keep);
    Ok(report)
}

fn tries(earlier: &mut Earlier, plan: &Plan, observer: &dyn Observer) -> Result<Report> {
    let began = Instant::now();
    if let Some(file) = plan.location.files.first() {
        sweep_beside(&follow_link(file));
    }
    // Once, of a writer's steps.
    if earlier.rejects.is_none() {
        sweep_beside_all(plan.files_of_rejects());
    }
    if let Some(report) = steps::finished(plan) {
        return Ok(report);
    }
    observer.planned(plan);
    let mut plan = guess::looked_at(plan.clone(), observer, began).map_err(|error| {
        changed(plan, &error).unwrap_or(error).leaving(Aftermath::NothingChanged)
    })?;
    let mut notes = Vec::new();
    loop {
        let Failed { error, learnt, aftermath } = match attempt(&plan, earlier, observer, began) {
            Ok(mut report) => {
                report.warnings.splice(0..0, notes);
                return Ok(report);
            }
            Err(failed) => *failed,
        };
        let error = error.leaving(aftermath);
        let Some(learnt) = learnt else {
            return Err(error);
        };
        // What a type turned out to be is the user's business, and which strategy it is; that a short try was in vain is not.
        let is_guess = matches!(learnt, Learnt::Guess(_));
        let gave_up = matches!(learnt, Learnt::Target(Retry::GaveUp));
        let next = match learnt {
            Learnt::Target(retry) => plan.after(retry, error.what()),
            Learnt::Guess(mismatch) => guess_again(&plan, &mismatch, observer, began),
        };
        let next = next.map_err(|error| changed(&plan, &error).unwrap_or(error).leaving(aftermath));
        let Some((next, how)) = next? else { return Err(error) };
        plan = next;
        observer.planned(&plan);
        let note = format!("{}: the load started again {how}", error.what());
        if is_guess {
            plan.facts.source.reasons.push(note.clone());
        }
        if is_guess || gave_up || began.elapsed() > NOTICED {
            observer.noted(&note);
            notes.push(note);
        }
    }
}
