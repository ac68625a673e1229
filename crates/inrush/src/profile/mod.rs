//! What was measured on this machine, and what a plan makes of it.
//!
//! ```text
//! tune (the bench) -> Profile (Key, Recipe) -> profiles.toml -> apply: the plan's choice, where every part of the key is the same
//! ```
//!
//! A profile is advice: what the user says of the way to load stands above it, a strategy that does not fit is passed over, and a file that
//! can't be read is a warning.

mod file;
mod key;
mod recipe;

use serde::{Deserialize, Serialize};

use crate::plan::{Choice, Facts, LoadOptions, Measured, Request, choose_because};
use crate::target::{Location, Target};
use inrush_core::wording::counted;

pub use file::{Held, Profiles, default_path};
pub use key::Key;
pub use recipe::Recipe;

/// The fastest way that was found to load rows of one shape into one target, and what it was found for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Profile {
    /// The day, as `2026-11-23`.
    pub date: String,
    /// The version of inrush that measured.
    pub inrush: String,
    /// Whether nothing was found that is faster than the planner's own choice.
    pub is_default: bool,
    /// How many times as fast as the planner's own choice it was.
    pub ratio: f64,
    /// The interval's ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Pairs of loads that this comes from.
    pub pairs: usize,
    /// Bytes of the source that were loaded each time.
    pub sample_bytes: u64,
    /// How to load.
    pub recipe: Recipe,
    /// For what.
    pub key: Key,
}

impl Profile {
    /// Why it can't be what was measured; `None` where it can.
    fn nonsense(&self) -> Option<&'static str> {
        let Self { ratio, low, high, recipe, .. } = self;
        let is_ratio = |value: &f64| value.is_finite() && *value > 0.0;
        match () {
            () if !inrush_scan::is_date(self.date.as_bytes()) => {
                Some("date has to be a day, such as 2026-11-23")
            }
            () if ![ratio, low, high].into_iter().all(is_ratio) => {
                Some("ratio, low and high have to be positive numbers")
            }
            () if [recipe.lanes, recipe.encoders, recipe.chunk_bytes].contains(&0) => {
                Some("lanes, encoders and chunk_bytes can't be 0")
            }
            () => None,
        }
    }

    /// What a plan says that goes by it.
    fn words(&self) -> String {
        let Self { date, recipe, ratio, low, high, .. } = self;
        match self.is_default {
            true => format!("measured here on {date}: the default, {recipe}"),
            false => format!(
                "measured here on {date}: {recipe}, {ratio:.2} times the default, {low:.2} to {high:.2}"
            ),
        }
    }
}

/// Chunks below which nothing is measured, and so nothing goes by what was.
pub const CHUNKS_MIN: u64 = 8;

/// Has the choice go by what was measured for the same, if anything was.
pub(crate) fn apply(
    request: &Request,
    facts: &Facts,
    target: &'static dyn Target,
    location: &Location,
    table: &str,
    format: &str,
    choice: &mut Choice,
) {
    let Some(path) = &request.profiles else { return };
    let profiles = match Profiles::read(path) {
        Ok(profiles) => profiles,
        Err(why) => {
            choice.hints.push(format!("what was measured here is passed over: {why}"));
            return;
        }
    };
    if profiles.profiles.is_empty() {
        // The file that is looked at unasked need not be there.
        if default_path().as_ref() != Some(path) && !path.exists() {
            choice.hints.push(format!(
                "there is no file {}, so that the choice goes by no profile: inrush tune --profiles makes one",
                path.display()
            ));
        }
        return;
    }
    let key = Key::of(request, facts, target, location, choice, format);
    let Some(profile) = profiles.find(&key) else {
        choice.reasons.extend(profiles.nearly(&key));
        return;
    };
    let date = &profile.date;
    if !facts.source.seekable {
        choice.reasons.push(format!(
            "what was measured here on {date} is for files: what can be read only once goes by the planner's own choice"
        ));
        return;
    }
    let small = facts.source.bytes.is_some_and(|bytes| {
        bytes < CHUNKS_MIN * choice.chunk_bytes as u64 && bytes < profile.sample_bytes
    });
    if small {
        let least = counted(CHUNKS_MIN, "chunk");
        choice.reasons.push(format!(
            "what was measured here on {date} is for more rows: the source has less than {least}"
        ));
        return;
    }
    if let Some(option) = profile.recipe.contradicts(request) {
        choice.reasons.push(format!(
            "{option} is yours: {} was measured here on {date}, and is passed over",
            profile.recipe
        ));
        return;
    }
    let because = Some(profile.words());
    let chosen = chosen(request, &profile.recipe, facts, target, (location, table), because);
    let passed_over = match &chosen {
        // What was measured was measured as a whole.
        Ok(measured) if measured.lanes != profile.recipe.lanes => {
            Some(format!("it can use {} here", counted(measured.lanes as u64, "connection")))
        }
        Ok(measured) if !promises_as_much(measured, choice) => {
            Some("rows of a load that fails would stay".to_owned())
        }
        Ok(measured) => {
            let knob = profile.recipe.beyond_tries(measured.strategy);
            knob.map(|knob| format!("{knob} is for the user to say"))
        }
        Err(error) => Some(error.what().to_owned()),
    };
    match (chosen, passed_over) {
        (Ok(mut measured), None) => {
            let Profile { date, ratio, low, high, .. } = profile.clone();
            measured.measured = Some(Measured { date, ratio, low, high });
            *choice = measured;
        }
        (_, why) => choice.hints.push(format!(
            "what was measured here on {date} is passed over: {}: {}",
            profile.recipe,
            why.unwrap_or_default()
        )),
    }
}

/// Whether what one way to load leaves behind when it fails is no more than what the other one would. A way whose rows are not as durable
/// as the request wants them is no choice at all.
pub fn promises_as_much(choice: &Choice, other: &Choice) -> bool {
    choice.atomic || !other.atomic
}

/// The choice for a request that goes by a recipe; its knobs are not the user's, so that a try may find that it wants others.
fn chosen(
    request: &Request,
    recipe: &Recipe,
    facts: &Facts,
    target: &'static dyn Target,
    (location, table): (&Location, &str),
    because: Option<String>,
) -> inrush_core::Result<Choice> {
    let mut going_by = request.clone();
    recipe.add_to(&mut going_by);
    let mut choice = choose_because(&going_by, facts, target, &location.shown, table, because)?;
    if request.knobs.is_empty() {
        choice.knobs.release();
    }
    Ok(choice)
}

impl crate::Plan {
    /// The choice for the same load by another recipe; nothing is looked at again.
    ///
    /// # Errors
    /// When the strategy can't do it, with the reason.
    pub fn by(&self, recipe: &Recipe) -> inrush_core::Result<Choice> {
        let place = (&self.location, self.table.as_str());
        chosen(&self.request, recipe, &self.facts, self.target, place, None)
    }

    /// The choice for the same load by another strategy, which decides on all else.
    ///
    /// # Errors
    /// When the strategy can't do it, with the reason; or when the user wants another one.
    pub fn of_strategy(&self, id: &str) -> inrush_core::Result<Choice> {
        let mut request = self.request.clone();
        if let Some(asked) = &request.strategy
            && asked != id
            && Some(asked.as_str()) != id.rsplit('/').next()
        {
            return Err(inrush_core::Error::usage(format!("--strategy {asked} was asked for")));
        }
        request.strategy = Some(id.to_owned());
        let place = &self.location.shown;
        choose_because(&request, &self.facts, self.target, place, &self.table, None)
    }

    /// The same plan that loads as another one's choice says: by its strategy, knobs, connections, threads and chunks.
    pub fn load_as(&mut self, choice: &Choice) {
        let own = &mut self.job.choice;
        own.strategy = choice.strategy;
        own.knobs = choice.knobs.clone();
        (own.lanes, own.encoders) = (choice.lanes, choice.encoders);
        (own.chunk_bytes, own.slots) = (choice.chunk_bytes, choice.slots);
        own.memory_ceiling_bytes = choice.memory_ceiling_bytes;
        own.atomic = choice.atomic;
    }

    /// What a profile of this load is kept under.
    pub fn key(&self) -> Key {
        let format = self.source.grammar.word();
        let Self { job, target, .. } = self;
        Key::of(&job.request, &job.facts, *target, &job.location, &job.choice, format)
    }
}

/// What the options of a load leave open.
pub(crate) fn is_open(options: &LoadOptions) -> bool {
    options.strategy.is_none()
        && options.knobs.is_empty()
        && options.lanes.is_none()
        && options.encoders.is_none()
        && options.chunk_bytes.is_none()
}
