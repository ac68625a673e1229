//! What was found. Serializes to what `tune --json` prints, whose keys are stable.

use std::time::Instant;

use inrush::Plan;
use inrush::profile::{Key, Profile, Recipe};
use inrush_findings::finding::Measured;
use inrush_findings::stats;
use serde::Serialize;

use super::race::{Ended, Race, summary};
use super::{Track, Tuning};
use crate::clock;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The version of inrush.
    pub version: &'static str,
    /// The day.
    pub date: String,
    /// The target, without a password.
    pub target: String,
    /// The table that the rows would go to.
    pub table: String,
    /// The engine and its version.
    pub engine: String,
    /// How long it took, of how long it might.
    pub seconds: f64,
    /// See `seconds`.
    pub budget_seconds: f64,
    /// Loads that were made.
    pub loads: usize,
    /// Bytes of the sample.
    pub sample_bytes: u64,
    /// Bytes of the source.
    pub source_bytes: u64,
    /// Bytes that each load of the finals read.
    pub load_bytes: u64,
    /// `precise`, `blocks`, `budget`, or `interrupted`.
    pub stopped_by: &'static str,
    /// Whether there were enough pairs to say anything.
    pub is_decided: bool,
    /// How far two loads of the same lie apart: 0.03 are three per cent.
    pub noise: Option<f64>,
    /// What is the fastest.
    pub winner: Ran,
    /// Whether that is the planner's own choice.
    pub is_default: bool,
    /// The same in a sentence.
    pub sentence: String,
    /// The planner's own choice.
    pub default: Ran,
    /// All that was measured, the fastest first.
    pub candidates: Vec<Ran>,
    /// What could not be measured, or is of no use here, and why.
    pub left_out: Vec<Left>,
    /// What all this holds for.
    pub key: Key,
}

/// A way to load that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Ran {
    /// In words.
    pub label: String,
    /// With everything that can be said of it.
    pub recipe: Recipe,
    /// Whether it came to the finals.
    pub is_finalist: bool,
    /// How many times as fast as the default it was, in the finals or else in the pairs before.
    pub ratio: Option<f64>,
    /// The interval's ends; of fewer than six pairs from the least to the greatest.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// Pairs that this comes from.
    pub pairs: usize,
    /// Its median of rows a second.
    pub rows_per_second: Option<f64>,
}

/// A way to load that is out.
#[derive(Clone, Debug, Serialize)]
pub struct Left {
    /// In words.
    pub label: String,
    /// Why.
    pub reason: String,
}

impl Outcome {
    /// Whether the user wanted to stop before there was an end.
    pub fn was_interrupted(&self) -> bool {
        self.stopped_by == "interrupted"
    }

    /// What is to be kept of it; nothing where too little was measured.
    pub fn profile(&self) -> Option<Profile> {
        let Ran { recipe, ratio, low, high, pairs, .. } = &self.winner;
        self.is_decided.then(|| Profile {
            date: self.date.clone(),
            inrush: self.version.to_owned(),
            is_default: self.is_default,
            ratio: ratio.unwrap_or(1.0),
            low: low.unwrap_or(1.0),
            high: high.unwrap_or(1.0),
            pairs: *pairs,
            sample_bytes: self.sample_bytes,
            recipe: recipe.clone(),
            key: self.key.clone(),
        })
    }

    pub(super) fn of(
        race: &Race<'_, Track<'_, '_>>,
        plan: &Plan,
        tuning: Tuning,
        began: Instant,
        ended: Option<Ended>,
    ) -> Self {
        let field = &race.course.field;
        let own = &field.all[0].recipe;
        let ran = |place: usize| {
            let known = race.known.get(&place);
            let finals = race.final_ratio(place);
            let ratio = finals.or_else(|| known?.ratio());
            let rates = known.map(|known| match known.finals.is_empty() {
                true => known.pairs.iter().map(|(own, _)| *own).collect(),
                false => known.finals.clone(),
            });
            let recipe = field.all[place].recipe.clone();
            Ran {
                label: recipe.beside(own),
                recipe,
                is_finalist: race.finalists.contains(&place),
                ratio: ratio.map(|ratio| ratio.value),
                low: ratio.map(|ratio| ratio.low),
                high: ratio.map(|ratio| ratio.high),
                pairs: ratio.map_or(0, |ratio| ratio.n),
                rows_per_second: rates.and_then(|rates: Vec<f64>| stats::median(&rates)),
            }
        };
        let default = default_of(race, own);
        let winner = race.winner();
        let is_out = |place: &usize| race.known.get(place).is_some_and(|known| known.out.is_some());
        let measured = race.known.keys().copied().filter(|place| *place != 0 && !is_out(place));
        let mut candidates: Vec<Ran> =
            measured.map(ran).filter(|ran| ran.ratio.is_some()).collect();
        candidates.sort_by(|a, b| {
            let rank = |ran: &Ran| (ran.is_finalist, ran.ratio.unwrap_or(0.0));
            rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal)
        });
        let out = race.known.iter().filter_map(|(place, known)| {
            let label = field.all[*place].recipe.beside(own);
            Some(Left { label, reason: known.out.clone()? })
        });
        let unusable = field.unusable.iter().map(|(id, why)| Left {
            label: (*id).to_owned(),
            reason: why.strip_prefix(&format!("{id}: ")).unwrap_or(why).to_owned(),
        });
        let noise = race.noise();
        let is_decided = race.is_decided();
        let (is_default, won) = match &winner {
            Some(winner) => (false, ran(winner.candidate)),
            None => {
                (true, Ran { ratio: Some(1.0), low: Some(1.0), high: Some(1.0), ..default.clone() })
            }
        };
        let sample = &race.course.trials.sample;
        let share = race.final_pieces as f64 / sample.pieces() as f64;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            date: clock::now()[..10].to_owned(),
            target: plan.location.shown.clone(),
            table: plan.table.clone(),
            engine: plan.facts.target.engine.clone(),
            seconds: began.elapsed().as_secs_f64(),
            budget_seconds: tuning.budget.as_secs_f64(),
            loads: race.loads,
            sample_bytes: sample.bytes,
            source_bytes: sample.of_bytes,
            load_bytes: (sample.bytes as f64 * share) as u64,
            stopped_by: match ended {
                Some(Ended::Precise) => "precise",
                Some(Ended::Blocks) => "blocks",
                Some(Ended::Budget) => "budget",
                None => "interrupted",
            },
            is_decided,
            noise,
            sentence: match race.is_unrivalled() {
                true => {
                    format!("{}, the default: no other way to load fit into the time", won.label)
                }
                false => sentence(&won, is_default, is_decided, noise, race.defaults[1].len()),
            },
            winner: won,
            is_default,
            default,
            candidates,
            left_out: out.chain(unusable).collect(),
            key: plan.key(),
        }
    }
}

fn default_of(race: &Race<'_, Track<'_, '_>>, own: &Recipe) -> Ran {
    let rates: Vec<f64> = race.defaults.iter().flatten().copied().collect();
    let beside =
        race.known.values().flat_map(|known| known.pairs.iter().map(|(_, default)| *default));
    let rates = if rates.is_empty() { beside.collect() } else { rates };
    let blocks = race.defaults[1].len();
    let [first, second] = [0, 1].map(|which| &race.defaults[which][..blocks]);
    // How far it lies from itself.
    let ratio: Option<Measured> =
        (blocks > 0).then(|| stats::paired(&summary(first), &summary(second))).flatten();
    Ran {
        label: own.to_string(),
        recipe: own.clone(),
        is_finalist: true,
        ratio: ratio.map(|ratio| ratio.value),
        low: ratio.map(|ratio| ratio.low),
        high: ratio.map(|ratio| ratio.high),
        pairs: blocks,
        rows_per_second: stats::median(&rates),
    }
}

fn sentence(
    won: &Ran,
    is_default: bool,
    is_decided: bool,
    noise: Option<f64>,
    pairs: usize,
) -> String {
    match (is_default, won.ratio, won.low, won.high) {
        (false, Some(ratio), Some(low), Some(high)) => {
            format!("{}: {ratio:.2} times the default, {low:.2} to {high:.2}", won.label)
        }
        _ if is_decided => format!(
            "{}, the default: nothing was faster beyond the noise of {:.0} %",
            won.label,
            noise.unwrap_or_default() * 100.0
        ),
        _ => format!(
            "{}, the default: {pairs} of the {} pairs that say anything fit into the time",
            won.label,
            super::race::BLOCKS_MIN
        ),
    }
}
