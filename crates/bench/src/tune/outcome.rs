//! What was found. Serializes to what `tune --json` prints, whose keys are stable.

use std::time::{Duration, Instant};

use inrush::Plan;
use inrush::profile::{Key, Profile, Recipe};
use inrush_findings::finding::Measured;
use inrush_findings::stats;
use serde::Serialize;

use super::race::{BLOCKS_MIN, Ended, Race, summary};
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
    /// Bytes that each load of the finals read; 0 where there were none.
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
    /// What becomes of an existing table: of one that holds rows, where the user does not say, it is measured how rows are added to them.
    pub if_exists: &'static str,
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

    /// What is to be kept of it; nothing where too little was measured, or the user stopped it.
    pub fn profile(&self) -> Option<Profile> {
        let Ran { recipe, ratio, low, high, pairs, .. } = &self.winner;
        (self.is_decided && !self.was_interrupted()).then(|| Profile {
            date: self.date.clone(),
            inrush: self.version.to_owned(),
            is_default: self.is_default,
            ratio: ratio.unwrap_or(1.0),
            low: low.unwrap_or(1.0),
            high: high.unwrap_or(1.0),
            pairs: *pairs,
            sample_bytes: self.load_bytes,
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
                false => known.finals.iter().map(|(_, rate)| *rate).collect(),
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
        let out = (1..field.all.len()).filter_map(|place| {
            let why = race.known.get(&place).and_then(|known| known.out.clone());
            let reason = match (why, ended) {
                (Some(why), _) => why,
                (None, _) if !race.is_untried(place) => return None,
                (None, Some(_)) => "the time was over before its turn".to_owned(),
                (None, None) => "interrupted before its turn".to_owned(),
            };
            Some(Left { label: field.all[place].recipe.beside(own), reason })
        });
        let unusable = field.unusable.iter().map(|(id, why)| Left {
            label: (*id).to_owned(),
            reason: why.strip_prefix(&format!("{id}: ")).unwrap_or(why).to_owned(),
        });
        let (noise, pairs) = (race.noise(), race.defaults[1].len());
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
            sentence: match (is_decided, ended) {
                (true, _) => sentence(&won, is_default, noise),
                (false, None) => format!(
                    "{}, the default: interrupted after {pairs} of the {BLOCKS_MIN} pairs that say anything",
                    won.label
                ),
                (false, Some(_)) => format!(
                    "{}, the default: {} fit into the time; try --budget {}s",
                    won.label,
                    match race.is_unrivalled() {
                        true => "no other way to load".to_owned(),
                        false => format!("{pairs} of the {BLOCKS_MIN} pairs that say anything"),
                    },
                    more_seconds(tuning.budget, race.enough(1.0 - super::AROUND_UNTIL))
                ),
            },
            winner: won,
            is_default,
            default,
            candidates,
            if_exists: plan.request.if_exists.word(),
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

fn sentence(won: &Ran, is_default: bool, noise: Option<f64>) -> String {
    match (is_default, won.ratio, won.low, won.high) {
        (false, Some(ratio), Some(low), Some(high)) => {
            format!("{}: {ratio:.2} times the default, {low:.2} to {high:.2}", won.label)
        }
        _ => format!(
            "{}, the default: nothing was faster beyond the noise of {:.0} %",
            won.label,
            noise.unwrap_or_default() * 100.0
        ),
    }
}

/// A budget that has what was lacking, in seconds: what is enough by what is known, in tens, and half as much again as before at least.
fn more_seconds(budget: Duration, enough: Duration) -> u64 {
    enough.max(budget.saturating_mul(3) / 2).as_secs().div_ceil(10).max(1) * 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(ratio: f64) -> Ran {
        Ran {
            label: "sqlite/values over 1 connection".to_owned(),
            recipe: Recipe {
                strategy: "sqlite/values".to_owned(),
                lanes: 1,
                encoders: 2,
                chunk_bytes: 1 << 19,
                knobs: std::collections::BTreeMap::new(),
            },
            is_finalist: true,
            ratio: Some(ratio),
            low: Some(ratio),
            high: Some(ratio),
            pairs: 9,
            rows_per_second: None,
        }
    }

    fn outcome(is_decided: bool, stopped_by: &'static str) -> Outcome {
        let text = String::new;
        Outcome {
            version: "1",
            date: "2026-11-23".to_owned(),
            target: text(),
            table: text(),
            engine: text(),
            seconds: 1.0,
            budget_seconds: 2.0,
            loads: 60,
            sample_bytes: 16 << 20,
            source_bytes: 32 << 20,
            load_bytes: 8 << 20,
            stopped_by,
            is_decided,
            noise: Some(0.01),
            winner: ran(1.5),
            is_default: false,
            sentence: text(),
            default: ran(1.0),
            candidates: Vec::new(),
            if_exists: "append",
            left_out: Vec::new(),
            key: Key {
                machine: text(),
                engine: text(),
                target: text(),
                shape: text(),
                guarantee: text(),
                settings: std::collections::BTreeMap::new(),
            },
        }
    }

    #[test]
    fn what_is_decided_is_kept_unless_the_user_stopped_it() {
        assert!(outcome(false, "budget").profile().is_none());
        assert!(outcome(true, "interrupted").profile().is_none());
        let kept = outcome(true, "budget").profile().unwrap();
        assert_eq!((kept.ratio, kept.sample_bytes), (1.5, 8 << 20));
    }

    #[test]
    fn a_larger_budget_is_named() {
        let seconds = Duration::from_secs;
        assert_eq!(more_seconds(seconds(1), seconds(33)), 40);
        assert_eq!(more_seconds(seconds(60), seconds(33)), 90);
        assert_eq!(more_seconds(seconds(1), seconds(0)), 10);
        assert!(more_seconds(seconds(u64::MAX), seconds(0)) > u64::MAX / 4);
    }
}
