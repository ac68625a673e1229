//! The fastest way to load the user's rows into the user's target, measured.
//!
//! ```text
//! plan -> Sample (pieces of the source), Ground (a hidden place in the target), Field (candidates)
//!      -> Race: pairs, of which the slower half goes, then blocks -> Outcome -> profile, report
//! ```
//!
//! A load of a trial is [`inrush::run`], as everybody's, with the verification that the user asks for.

mod beside;
mod candidates;
mod ground;
mod outcome;
mod race;
mod report;
mod sample;
mod trial;

use std::time::{Duration, Instant};

use inrush::{Error, Kind, Observer, Plan, Request, Result};
use inrush_core::IfExists;

use beside::Beside;
use candidates::{Candidate, Field};
use ground::Ground;
use race::{Course, Race};
use sample::Sample;
use trial::{Lap, Trials};

pub use outcome::{Left, Outcome, Ran};
pub use report::ReportFolder;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// How long it takes, with everything but removing what was made.
    pub budget: Duration,
    /// Bytes of the source that are loaded at most.
    pub sample_bytes: u64,
    /// Whether to measure on a private server of the same version and settings.
    pub is_beside: bool,
}

/// What is kept for tidying up and the report.
const TIDY: Duration = Duration::from_millis(300);

/// Until when, as shares of the budget, strategies are compared, and what varies the best of them; the rest is for the finals.
const WAYS_UNTIL: f64 = 0.35;
const AROUND_UNTIL: f64 = 0.62;

/// Candidates that are left of each.
const WAYS_KEPT: usize = 2;
const AROUND_KEPT: usize = 3;
const FINALISTS: usize = 3;

/// A thing that makes a candidate so much faster is taken together with others that do.
const HELPS: f64 = 1.01;

/// What is ahead by less is not varied alone, but the default as well.
const LEADS: f64 = 1.1;

/// How it stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// What is compared.
    pub phase: &'static str,
    /// Loads so far.
    pub loads: usize,
    /// What is left of the budget.
    pub left: Duration,
    /// What is ahead, and how many times as fast as the default it is.
    pub ahead: Option<(String, f64)>,
}

/// Loads samples of the request's source into a hidden place of its target, in all the ways that serve the request, and says which is the
/// fastest. The user's tables are neither touched nor locked. `told` hears how it stands.
///
/// What the user interrupts has an outcome, too, as far as there is something to tell; [`Outcome::was_interrupted`] says so.
///
/// # Errors
/// When the request can't be planned, the source is too small, nothing can be made in the target, or the planner's own choice can't load
/// the sample. Nothing has changed then.
pub fn tune(
    request: &Request,
    tuning: Tuning,
    observer: &dyn Observer,
    told: &mut dyn FnMut(&Standing),
) -> Result<Outcome> {
    let began = Instant::now();
    let mut request = request.clone();
    request.profiles = None;
    if request.is_in_steps() {
        return Err(Error::usage("tune measures loads that are all or nothing")
            .advise("leave --guarantee chunks and --resume out"));
    }
    let beside = match tuning.is_beside {
        true => Beside::of(&request, observer).map_err(beside::unavailable)?,
        false => None,
    };
    if let Some(beside) = &beside {
        request = beside.request(&request);
    }
    let mut plan = planned(&request, observer)?;
    if plan.added_columns().next().is_some() {
        return Err(Error::usage("tune measures loads into a table as it is defined")
            .advise("add the columns to the table first, or say --new-columns ignore"));
    }
    let is_filled = beside.as_ref().is_some_and(|beside| beside.holds_rows);
    let is_seeded = is_filled || plan.kept_table().is_some_and(|table| table.holds_rows);
    let sample = Sample::of(&plan, tuning.sample_bytes, is_seeded, observer)?;
    if let (true, Some(beside), Some(before)) = (is_filled, &beside, &sample.before) {
        beside.fill(sample.of_split(before.clone()), observer)?;
        // The plan of a table with rows is another.
        plan = planned(&request, observer)?;
    }
    let ground = Ground::of(&plan)?;
    let trials = Trials::new(ground, sample, observer)?;
    let budget = tuning.budget.saturating_sub(TIDY);
    let mut track = Track {
        field: Field::of(&plan),
        trials,
        began,
        budget,
        phase: "warming up",
        loads: 0,
        told,
    };
    let sample = &track.trials.sample;
    let pieces = sample.least()..=sample.pieces();
    let seed = u64::from(std::process::id());
    let mut race = Race::new(&mut track, pieces, budget, seed);
    let ended = raced(&mut race);
    let ended = match ended {
        Ok(ended) => Some(ended),
        Err(error) if error.kind() == Kind::Interrupted => None,
        Err(error) => {
            let advice = "nothing was measured: the same rows can't be loaded as the plan has it";
            return Err(if race.loads <= 2 { error.advise(advice) } else { error });
        }
    };
    let outcome = Outcome::of(&race, &plan, tuning, began, ended);
    Ok(match beside {
        Some(beside) => beside.named(outcome),
        None => outcome,
    })
}

/// The plan of the user's load; of a table that holds rows, as if they were added to.
fn planned(request: &Request, observer: &dyn Observer) -> Result<Plan> {
    let mut request = request.clone();
    let error = match inrush::plan(&request, observer) {
        Ok(plan) => return Ok(plan),
        Err(error) if error.kind() == Kind::Interrupted => return Err(error),
        Err(error) => error,
    };
    if request.if_exists == IfExists::Empty {
        request.if_exists = IfExists::Append;
        if let Ok(plan) = inrush::plan(&request, observer) {
            return Ok(plan);
        }
    }
    // What no option makes writable is no mistake in the options.
    let (target, location) = inrush::target::find(&request.target)?;
    let table = request.table.clone().unwrap_or_default();
    let facts = target.facts(&location, &table, &request, observer.stop_flag());
    match facts.ok().and_then(|facts| facts.read_only) {
        Some(why) => Err(Error::target(why)
            .advise("--beside measures on a private server of the same version instead")),
        None => Err(error),
    }
}

/// Strategies and connections first, then what varies the best of them, then the finals.
fn raced(race: &mut Race<'_, Track<'_, '_>>) -> Result<race::Ended> {
    race.course.phase = "warming up";
    race.warm_up()?;
    race.course.phase = "comparing strategies and connections";
    let ways = race.course.field.ways();
    let ways = race.halve(ways, WAYS_KEPT, WAYS_UNTIL)?;
    race.course.phase = "varying chunks, threads and knobs";
    let mut bases = vec![0];
    bases.extend(
        ways.iter().copied().filter(|way| race.value(*way).is_some_and(|value| value > 1.0)),
    );
    // What is ahead is varied, and the default, where nothing is far ahead of it.
    let best = bases.get(1).copied().unwrap_or(0);
    let mut around = race.course.field.around(best);
    // What leads by little may not lead at all.
    if best != 0 && race.value(best).is_some_and(|value| value < LEADS) {
        around.extend(race.course.field.around(0));
        around.retain(|place| !ways.contains(place));
    }
    let varied = race.halve(around, AROUND_KEPT, AROUND_UNTIL)?;
    let base = race.value(best).unwrap_or(1.0);
    let helps = |place: &&usize| race.value(**place).is_some_and(|value| value > base * HELPS);
    let helping: Vec<usize> = varied.iter().filter(helps).copied().collect();
    let together = match helping.len() {
        0 | 1 => None,
        _ => race.course.field.together(best, &helping),
    };
    let mut finalists: Vec<usize> = together.into_iter().chain(helping).chain(ways).collect();
    finalists.extend(varied);
    finalists.retain(|place| *place != 0);
    let mut seen = std::collections::BTreeSet::new();
    finalists.retain(|place| seen.insert(*place));
    // One that was not measured by itself yet has the better of its parts.
    finalists.truncate(FINALISTS);
    for place in &finalists {
        race.known.entry(*place).or_default();
    }
    race.course.phase = "comparing the best";
    let all = race.course.field.all.len();
    race.decide(finalists, all)
}

/// Loads of the candidates, one after the other.
struct Track<'a, 'p> {
    field: Field<'p>,
    trials: Trials<'a>,
    began: Instant,
    budget: Duration,
    phase: &'static str,
    loads: usize,
    told: &'a mut dyn FnMut(&Standing),
}

impl Course for Track<'_, '_> {
    fn lap(&mut self, candidate: usize, pieces: usize, most: Option<Duration>) -> Result<Lap> {
        self.loads += 1;
        if candidate == 0 && self.loads == 1 {
            self.standing(None);
        }
        let Candidate { choice, .. } = &self.field.all[candidate];
        let choice = choice.clone();
        self.trials.lap(&choice, pieces, most)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn standing(&mut self, ahead: Option<(usize, f64)>) {
        let default = &self.field.all[0].recipe;
        let named =
            |(place, ratio): (usize, f64)| (self.field.all[place].recipe.beside(default), ratio);
        let standing = Standing {
            phase: self.phase,
            loads: self.loads,
            left: self.budget.saturating_sub(self.began.elapsed()),
            ahead: ahead.map(named),
        };
        (self.told)(&standing);
    }
}
