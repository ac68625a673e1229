//! Which of the candidates is the fastest: pairs of loads, of which the slower half goes each time, then blocks of those that are left.
//!
//! ```text
//! warm up -> halve: D a b D c d D ... (each beside a load as the planner would have it) -> finals: shuffled blocks of D, D, a, b
//! ```
//!
//! Nothing here knows what a load is, so that it can be tested with loads that take the time they are told to.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use inrush::{Error, Result};
use inrush_findings::finding::{Interval, Measured, Summary};
use inrush_findings::stats;

use super::trial::Lap;
use crate::generate::SplitMix64;

/// Takes loads. What isn't a database is a test's.
pub(super) trait Course {
    /// Loads so many pieces of the sample as a candidate has it, for so long at most; candidate 0 is the planner's own choice.
    ///
    /// # Errors
    /// When the user wants to stop, or no load can be taken any more.
    fn lap(&mut self, candidate: usize, pieces: usize, most: Option<Duration>) -> Result<Lap>;

    /// What time it is since the beginning.
    fn now(&self) -> Duration;

    /// Hears how it stands after each load.
    fn standing(&mut self, ahead: Option<(usize, f64)>);
}

/// A load that takes so many times as long as the planner's own choice is stopped.
const SLOWER_MAX: f64 = 2.5;

/// What a load takes besides, so that short ones aren't stopped for an unlucky moment.
const GRACE: Duration = Duration::from_millis(250);

/// A candidate's load takes about so much longer than the default's, before the slow ones are gone.
const EXPECTED: f64 = 1.3;

/// What the first two that are measured take, and the default behind them: so many loads by the default.
const FIRST: f64 = 2.0 * EXPECTED + 1.0;

/// Blocks of the finals: fewer have no interval, and more than so many make it hardly narrower. After 15 a choice at 1.18 times the
/// default still lay across the bound of the noise, on a busy machine and with half of the time left.
pub(super) const BLOCKS_MIN: usize = stats::CONFIDENCE_VALUES_MIN;
const BLOCKS_MAX: usize = 99;

/// Blocks that the finals are planned for: with nine the interval leaves out the least and the greatest.
const BLOCKS: f64 = 9.0;

/// Half of an interval's width, as a share of the ratio, from which on it is narrow enough.
const PRECISE: f64 = 0.02;

/// A choice that is slower than this in the finals is not kept, whatever its interval.
const KEPT_MIN: f64 = 0.95;

/// What is known of a candidate.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Its rate and that of the default beside it, in rows a second.
    pub(super) pairs: Vec<(f64, f64)>,
    /// Its rates in the finals, each with its block.
    pub(super) finals: Vec<(u32, f64)>,
    /// Why it is out.
    pub(super) out: Option<String>,
}

impl Known {
    /// How many times as fast as the default it was in pairs.
    pub(super) fn ratio(&self) -> Option<Measured> {
        let (own, default): (Vec<f64>, Vec<f64>) = self.pairs.iter().copied().unzip();
        (!own.is_empty()).then(|| stats::paired(&summary(&own), &summary(&default)))?
    }

    fn is_in(&self) -> bool {
        self.out.is_none()
    }

    /// Whether it had a turn.
    fn is_tried(&self) -> bool {
        self.out.is_some() || !self.pairs.is_empty() || !self.finals.is_empty()
    }
}

pub(super) fn summary(values: &[f64]) -> Summary {
    let blocks: Vec<u32> = (0..).take(values.len()).collect();
    stats::summary(values, &blocks)
}

/// Why the finals ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Precise,
    Blocks,
    Budget,
}

/// The winner, against the planner's own choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Winner {
    pub(super) candidate: usize,
    pub(super) ratio: Measured,
}

pub(super) struct Race<'c, C> {
    pub(super) course: &'c mut C,
    /// How many pieces a load has at least, to say anything, and at most.
    pieces: RangeInclusive<usize>,
    /// When all has to be over.
    budget: Duration,
    /// When the measuring began.
    ready: Duration,
    pub(super) known: BTreeMap<usize, Known>,
    /// The default's rates in the finals, twice each: what lies between the two is noise.
    pub(super) defaults: [Vec<f64>; 2],
    /// How long a load of so many pieces takes by the default, with all that goes with it.
    costs: BTreeMap<usize, f64>,
    pub(super) finalists: Vec<usize>,
    /// Pieces of a load in the finals.
    pub(super) final_pieces: usize,
    pub(super) loads: usize,
    pub(super) seed: u64,
    /// Whether there was anything to measure besides the default.
    has_rivals: bool,
}

impl<'c, C: Course> Race<'c, C> {
    pub(super) fn new(
        course: &'c mut C,
        pieces: RangeInclusive<usize>,
        budget: Duration,
        seed: u64,
    ) -> Self {
        Self {
            course,
            pieces,
            budget,
            ready: Duration::ZERO,
            known: BTreeMap::new(),
            defaults: Default::default(),
            costs: BTreeMap::new(),
            finalists: Vec::new(),
            final_pieces: 0,
            loads: 0,
            seed,
            has_rivals: false,
        }
    }

    /// Two loads that don't count: the first makes files and fills caches.
    ///
    /// # Errors
    /// When the planner's own choice can't load.
    pub(super) fn warm_up(&mut self) -> Result<()> {
        let least = self.least();
        self.default_lap(least)?;
        self.costs.clear();
        self.default_lap(least)?;
        self.ready = self.course.now();
        Ok(())
    }

    fn least(&self) -> usize {
        *self.pieces.start()
    }

    /// A load by the default: its rate.
    fn default_lap(&mut self, pieces: usize) -> Result<f64> {
        let mut again = true;
        loop {
            let began = self.course.now();
            let lap = self.course.lap(0, pieces, None)?;
            self.loads += 1;
            match lap {
                Lap::Took(rows, seconds) => {
                    let cost = (self.course.now() - began).as_secs_f64().max(seconds);
                    let known = self.costs.entry(pieces).or_insert(cost);
                    // What is rare doesn't count, and what comes to stay does.
                    *known = f64::midpoint(*known, cost);
                    return Ok(rows as f64 / seconds);
                }
                Lap::Failed(_) if again => again = false,
                Lap::Failed(why) => return Err(Error::target(why)),
                Lap::TooSlow => return Err(Error::target("a load without a limit was stopped")),
            }
        }
    }

    /// A load by a candidate: its rate, unless it is out from here on.
    fn lap(&mut self, candidate: usize, pieces: usize) -> Result<Option<f64>> {
        let most = Duration::from_secs_f64(self.cost(pieces) * SLOWER_MAX) + GRACE;
        let lap = self.course.lap(candidate, pieces, Some(most))?;
        self.loads += 1;
        let known = self.known.entry(candidate).or_default();
        Ok(match lap {
            Lap::Took(rows, seconds) => Some(rows as f64 / seconds),
            Lap::TooSlow => {
                known.out =
                    Some(format!("less than {:.1} of the default's rate", 1.0 / SLOWER_MAX));
                None
            }
            Lap::Failed(why) => {
                known.out = Some(why);
                None
            }
        })
    }

    /// Seconds of a load by the default; where that isn't known, in proportion to what is.
    fn cost(&self, pieces: usize) -> f64 {
        let below = self.costs.range(..=pieces).next_back();
        let near = below.or_else(|| self.costs.iter().next());
        near.map_or(1.0, |(known, cost)| cost * (pieces as f64 / *known as f64).max(1.0))
    }

    /// The most pieces of which `loads` fit into the time: the least, that doubled again and again, or all.
    fn fitting(&self, loads: f64, seconds: f64) -> usize {
        let (least, most) = (self.least(), *self.pieces.end());
        let more = std::iter::successors(Some(least * 2), |pieces| Some(pieces * 2));
        let more = more.take_while(|pieces| *pieces < most).chain([most]);
        more.take_while(|pieces| self.cost(*pieces) * loads <= seconds).last().unwrap_or(least)
    }

    /// What finals of one take at least.
    fn least_finals(&self) -> Duration {
        let loads = EXPECTED * 3.0 * (BLOCKS_MIN + 1) as f64;
        Duration::from_secs_f64(self.cost(self.final_pieces.max(self.least())) * loads)
    }

    /// A budget of which such a share is enough for the finals.
    pub(super) fn enough(&self, share: f64) -> Duration {
        self.ready + self.least_finals().div_f64(share)
    }

    /// When a share of the budget is over. However long loads take, the finals come to something.
    fn until(&self, share: f64) -> Duration {
        self.budget.mul_f64(share).min(self.budget.saturating_sub(self.least_finals()))
    }

    fn left(&self, until: Duration) -> f64 {
        until.saturating_sub(self.course.now()).as_secs_f64()
    }

    /// Measures the pool, and drops its slower half, until so many are left or this share of the budget is over. The fastest come first.
    ///
    /// # Errors
    /// When the user wants to stop, or the planner's own choice can't load any more.
    pub(super) fn halve(
        &mut self,
        mut pool: Vec<usize>,
        keep: usize,
        share: f64,
    ) -> Result<Vec<usize>> {
        pool.retain(|candidate| *candidate != 0);
        self.has_rivals |= !pool.is_empty();
        loop {
            let until = self.until(share);
            let rounds = (pool.len() as f64 / keep as f64).log2().ceil().max(1.0);
            let loads = pool.len() as f64 * (EXPECTED + 0.5) + 1.0;
            let pieces = self.fitting(loads, self.left(until) / rounds);
            self.round(&pool, pieces, until)?;
            self.rank(&mut pool);
            if pool.len() <= keep || self.left(until) <= 0.0 {
                pool.truncate(keep);
                return Ok(pool);
            }
            pool.truncate(pool.len().div_ceil(2).max(keep));
        }
    }

    /// One load of each, beside one of the default that it shares with its other neighbour: now before it, now after it.
    fn round(&mut self, pool: &[usize], pieces: usize, until: Duration) -> Result<()> {
        let mut order = pool.to_vec();
        shuffle(&mut order, &mut SplitMix64::new(self.seed ^ self.loads as u64));
        let mut default = self.default_lap(pieces)?;
        for two in order.chunks(2) {
            // Of what was compared with nothing the finals have nothing to tell: the first two have their turn.
            let until = if self.has_compared() { until } else { self.budget };
            let takes = if self.has_compared() { 0.0 } else { self.cost(pieces) * FIRST };
            if self.left(until) <= takes {
                return Ok(());
            }
            let mut rates = Vec::new();
            for candidate in two {
                rates.push(self.lap(*candidate, pieces)?);
            }
            let after = self.default_lap(pieces)?;
            let beside = [default, after];
            // Of one alone both are its neighbours.
            let beside = if two.len() == 1 { [(default * after).sqrt(); 2] } else { beside };
            for ((candidate, rate), beside) in two.iter().zip(rates).zip(beside) {
                if let Some(rate) = rate {
                    self.known.entry(*candidate).or_default().pairs.push((rate, beside));
                }
            }
            default = after;
            let ahead = self.ahead();
            self.course.standing(ahead);
        }
        Ok(())
    }

    /// The candidate that is ahead so far, with its ratio.
    fn ahead(&self) -> Option<(usize, f64)> {
        let known = self.known.iter().filter(|(_, known)| known.is_in());
        let ratios =
            known.filter_map(|(candidate, known)| Some((*candidate, known.ratio()?.value)));
        ratios.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// What a candidate's pairs say; nothing of one that was never measured, or is out.
    pub(super) fn value(&self, candidate: usize) -> Option<f64> {
        let known = self.known.get(&candidate).filter(|known| known.is_in())?;
        Some(known.ratio()?.value)
    }

    /// The fastest first, without those that are out or were not measured.
    fn rank(&self, pool: &mut Vec<usize>) {
        pool.retain(|candidate| self.value(*candidate).is_some());
        let value = |candidate: &usize| self.value(*candidate).unwrap_or(0.0);
        pool.sort_by(|a, b| value(b).total_cmp(&value(a)));
    }

    /// The finals, and as long as there is time, of `all` candidates those that had no turn, and finals of the best of them.
    ///
    /// # Errors
    /// As for [`Race::halve`].
    pub(super) fn decide(&mut self, finalists: Vec<usize>, all: usize) -> Result<Ended> {
        let kept = finalists.len().max(1);
        let mut ended = self.finals(finalists)?;
        loop {
            let untried: Vec<usize> = (1..all).filter(|place| self.is_untried(*place)).collect();
            let takes = self.cost(self.least()) * FIRST + self.least_finals().as_secs_f64();
            if untried.is_empty() || self.left(self.budget) <= takes {
                return Ok(ended);
            }
            let more = self.halve(untried, kept, 1.0)?;
            if !more.is_empty() {
                ended = self.finals(more)?;
            }
        }
    }

    /// Whether a candidate had no turn.
    pub(super) fn is_untried(&self, candidate: usize) -> bool {
        !self.known.get(&candidate).is_some_and(Known::is_tried)
    }

    /// Blocks of the finalists and of the default, twice, until their ratios are known well enough or the time is over.
    ///
    /// # Errors
    /// As for [`Race::halve`].
    pub(super) fn finals(&mut self, mut finalists: Vec<usize>) -> Result<Ended> {
        if self.is_unrivalled() {
            return Ok(Ended::Budget);
        }
        let until = self.budget;
        let left = self.left(until);
        let loads = |finalists: usize| BLOCKS * (finalists as f64 + 2.0) * EXPECTED;
        let least = self.final_pieces.max(self.least());
        while finalists.len() > 1 && self.cost(least) * loads(finalists.len()) > left {
            finalists.pop();
        }
        // All blocks are of the same loads.
        let pieces = match self.final_pieces {
            0 => self.fitting(loads(finalists.len()), left),
            pieces => pieces,
        };
        self.finalists.extend(&finalists);
        self.final_pieces = pieces;
        let mut random = SplitMix64::new(self.seed);
        let first = self.course.now();
        for block in 0..BLOCKS_MAX {
            // One that took long was not the rule.
            let each = (self.course.now() - first).as_secs_f64() / block.max(1) as f64;
            if self.left(until) <= each {
                return Ok(Ended::Budget);
            }
            // Neither is a candidate's place: two loads by the default.
            let mut order: Vec<(bool, usize)> = finalists
                .iter()
                .filter(|candidate| self.known.get(candidate).is_some_and(Known::is_in))
                .map(|candidate| (false, *candidate))
                .chain([(true, 0), (true, 1)])
                .collect();
            let has_rivals = order.len() > 2;
            shuffle(&mut order, &mut random);
            let mut rates = Vec::new();
            for (is_default, which) in order {
                let rate = match is_default {
                    true => Some(self.default_lap(pieces)?),
                    false => self.lap(which, pieces)?,
                };
                rates.push((is_default, which, rate));
            }
            // A block counts as a whole.
            let number = u32::try_from(self.defaults[0].len()).unwrap_or(u32::MAX);
            for (is_default, which, rate) in rates {
                let Some(rate) = rate else { continue };
                match is_default {
                    true => self.defaults[which].push(rate),
                    false => self.known.entry(which).or_default().finals.push((number, rate)),
                }
            }
            let ahead = self.fastest(|_| true).map(|winner| (winner.candidate, winner.ratio.value));
            self.course.standing(ahead);
            if block + 1 >= BLOCKS_MIN && self.is_precise(&finalists) {
                return Ok(if has_rivals { Ended::Precise } else { Ended::Blocks });
            }
        }
        Ok(Ended::Blocks)
    }

    /// How far two loads of the same lie apart.
    pub(super) fn noise(&self) -> Option<f64> {
        let [first, second] = &self.defaults;
        let blocks = first.len().min(second.len());
        (blocks > 0)
            .then(|| stats::noise(&summary(&first[..blocks]), &summary(&second[..blocks])))?
    }

    /// A finalist against the default, in the blocks that have both.
    pub(super) fn final_ratio(&self, candidate: usize) -> Option<Measured> {
        let (blocks, own): (Vec<u32>, Vec<f64>) =
            self.known.get(&candidate)?.finals.iter().copied().unzip();
        if own.is_empty() {
            return None;
        }
        // Both of the default's loads are its own.
        let [first, second] = &self.defaults;
        let both = first.iter().zip(second).map(|(first, second)| (first * second).sqrt());
        stats::paired(&stats::summary(&own, &blocks), &summary(&both.collect::<Vec<f64>>()))
    }

    /// The fastest of the finalists of which this holds.
    fn fastest(&self, holds: impl Fn(&Winner) -> bool) -> Option<Winner> {
        let ratios = self.finalists.iter().filter_map(|candidate| {
            self.known.get(candidate).filter(|known| known.is_in())?;
            Some(Winner { candidate: *candidate, ratio: self.final_ratio(*candidate)? })
        });
        ratios.filter(holds).max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))
    }

    fn is_precise(&self, finalists: &[usize]) -> bool {
        let noise = self.noise().unwrap_or_default();
        let is_known = |candidate: &usize| match self.final_ratio(*candidate) {
            None => true,
            Some(ratio) => {
                let width = (ratio.high - ratio.low) / 2.0 / ratio.value;
                let lies_across = |bound: f64| ratio.low <= bound && ratio.value > bound;
                // What is slower need not be known any better, and what may yet be the better choice has to.
                ratio.high < 1.0
                    || width <= PRECISE
                    || width <= noise / 2.0 && !lies_across(1.0 + noise)
            }
        };
        let is_in = |candidate: &&usize| self.known.get(candidate).is_some_and(Known::is_in);
        finalists.iter().filter(is_in).all(is_known)
    }

    /// The fastest of the finalists that is better than the default beyond noise, if any.
    pub(super) fn winner(&self) -> Option<Winner> {
        let noise = self.noise()?;
        self.fastest(|Winner { ratio, .. }| {
            ratio.interval == Interval::Confidence
                && ratio.low > 1.0
                && ratio.low > 1.0 + noise
                && ratio.value >= KEPT_MIN
        })
    }

    fn has_compared(&self) -> bool {
        self.known.values().any(Known::is_tried)
    }

    /// Whether the time was over before anything but the default was measured: it has won against nothing.
    pub(super) fn is_unrivalled(&self) -> bool {
        self.has_rivals && !self.has_compared()
    }

    /// Whether there was enough to say anything of: blocks, and something to compare the default with, if there is any.
    pub(super) fn is_decided(&self) -> bool {
        self.defaults[1].len() >= BLOCKS_MIN && !self.is_unrivalled()
    }
}

/// By Fisher and Yates.
fn shuffle<T>(all: &mut [T], random: &mut SplitMix64) {
    for last in (1..all.len()).rev() {
        let other = random.below(last as u64 + 1);
        all.swap(last, usize::try_from(other).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads that take the time they are told to, more or less.
    struct Told {
        /// How many times as fast as the default each is; 0 fails.
        speeds: Vec<f64>,
        now: Duration,
        noise: f64,
        random: SplitMix64,
    }

    impl Told {
        fn new(speeds: &[f64], noise: f64) -> Self {
            let speeds = speeds.to_vec();
            Self { speeds, now: Duration::ZERO, noise, random: SplitMix64::new(7) }
        }
    }

    impl Course for Told {
        fn lap(&mut self, candidate: usize, pieces: usize, most: Option<Duration>) -> Result<Lap> {
            let speed = self.speeds[candidate];
            if speed == 0.0 {
                return Ok(Lap::Failed("no".to_owned()));
            }
            let spread = 1.0 + self.noise * (self.random.below(2001) as f64 / 1000.0 - 1.0);
            let seconds = (0.05 + 0.1 * pieces as f64) / speed * spread;
            let took = Duration::from_secs_f64(seconds);
            if most.is_some_and(|most| took > most) {
                self.now += most.unwrap_or_default();
                return Ok(Lap::TooSlow);
            }
            self.now += took;
            Ok(Lap::Took(1000 * pieces as u64, seconds))
        }

        fn now(&self) -> Duration {
            self.now
        }

        fn standing(&mut self, _ahead: Option<(usize, f64)>) {}
    }

    fn raced(speeds: &[f64], noise: f64, budget: u64) -> (Option<usize>, Duration, usize) {
        let mut course = Told::new(speeds, noise);
        let mut race = Race::new(&mut course, 1..=16, Duration::from_secs(budget), 1);
        race.warm_up().unwrap();
        let pool = race.halve((0..speeds.len()).collect(), 2, 0.6).unwrap();
        race.finals(pool).unwrap();
        let winner = race.winner().map(|winner| winner.candidate);
        let blocks = race.defaults[0].len();
        (winner, course.now, blocks)
    }

    #[test]
    fn the_fastest_wins_and_the_time_is_kept() {
        let mut speeds = vec![1.0, 0.01, 0.9, 1.2, 1.62, 0.0, 1.5];
        speeds.extend([0.7; 12]);
        for budget in [20, 60, 120] {
            let (winner, took, blocks) = raced(&speeds, 0.03, budget);
            assert_eq!(winner, Some(4), "{budget}");
            assert!(took <= Duration::from_secs(budget + budget / 10), "{took:?} of {budget}");
            assert!(blocks >= BLOCKS_MIN, "{blocks}");
        }
    }

    /// Nine percent more, where two loads of the same lie five percent apart.
    #[test]
    fn what_may_yet_win_is_measured_for_as_long_as_there_is_time() {
        let (winner, took, blocks) = raced(&[1.0, 1.09], 0.08, 120);
        assert_eq!(winner, Some(1), "{blocks} blocks in {took:?}");
        assert!(took <= Duration::from_secs(132), "{took:?}");
    }

    #[test]
    fn nothing_wins_that_is_within_the_noise() {
        for noise in [0.0, 0.02, 0.2] {
            assert_eq!(raced(&[1.0, 1.0, 1.0, 0.98], noise, 60).0, None, "{noise}");
        }
        assert_eq!(raced(&[1.0], 0.02, 20).0, None, "there is nothing else");
        assert_eq!(raced(&[1.0, 0.0, 0.0], 0.02, 20).0, None, "all others fail");
    }

    #[test]
    fn a_default_that_cannot_load_ends_it() {
        let mut course = Told::new(&[0.0], 0.0);
        let mut race = Race::new(&mut course, 1..=1, Duration::from_secs(60), 1);
        assert!(race.warm_up().is_err());
    }

    #[test]
    fn too_little_time_decides_nothing() {
        let (winner, _, blocks) = raced(&[1.0, 2.0, 3.0], 0.0, 1);
        assert_eq!(winner, None);
        assert!(blocks < BLOCKS_MIN);
    }

    #[test]
    fn a_default_that_was_compared_with_nothing_has_not_won() {
        let decided = |speeds: &[f64], budget: u64| {
            let mut course = Told::new(speeds, 0.0);
            let mut race = Race::new(&mut course, 1..=1, Duration::from_millis(budget), 1);
            race.warm_up().unwrap();
            race.halve((0..speeds.len()).collect(), 2, 0.35).unwrap();
            let ended = race.finals(Vec::new()).unwrap();
            (ended, race.is_decided(), race.is_unrivalled())
        };
        assert_eq!(decided(&[1.0, 2.0], 500), (Ended::Budget, false, true), "no time for it");
        assert_eq!(decided(&[1.0, 2.0], 20_000), (Ended::Blocks, true, false));
        assert_eq!(decided(&[1.0], 20_000), (Ended::Blocks, true, false), "there is nothing else");
    }

    /// What the finals take at least is more than half of the time: something is compared before them, and in them.
    #[test]
    fn something_is_compared_for_as_long_as_there_is_time() {
        for budget in [5, 6, 7, 9, 12, 20, 40] {
            let mut course = Told::new(&[1.0, 1.5, 1.4, 1.3, 1.2], 0.01);
            let mut race = Race::new(&mut course, 1..=4, Duration::from_secs(budget), 1);
            race.warm_up().unwrap();
            let pool = race.halve((0..5).collect(), 2, 0.35).unwrap();
            assert!(!pool.is_empty(), "{budget}");
            race.finals(pool).unwrap();
            assert!(race.known.values().any(|known| !known.finals.is_empty()), "{budget}");
            assert!(race.winner().is_some() || !race.is_decided(), "{budget}");
            if !race.is_decided() {
                assert!(race.enough(0.38) > race.budget, "{budget}");
            }
        }
    }

    #[test]
    fn what_had_no_turn_has_one_in_the_time_that_is_left() {
        let speeds = [1.0, 0.7, 0.6, 1.5, 0.9, 0.0];
        let mut course = Told::new(&speeds, 0.01);
        let mut race = Race::new(&mut course, 1..=4, Duration::from_secs(60), 1);
        race.warm_up().unwrap();
        let pool = race.halve(vec![1, 2], 2, 0.35).unwrap();
        race.decide(pool, speeds.len()).unwrap();
        assert_eq!(race.winner().map(|winner| winner.candidate), Some(3));
        assert!((1..speeds.len()).all(|place| !race.is_untried(place)));
        assert!(course.now <= Duration::from_secs(66), "{:?}", course.now);
    }

    #[test]
    fn no_load_is_below_what_says_anything() {
        for budget in [2, 10, 60] {
            let mut course = Told::new(&[1.0, 1.1, 0.9, 1.2], 0.02);
            let mut race = Race::new(&mut course, 4..=13, Duration::from_secs(budget), 1);
            race.warm_up().unwrap();
            let pool = race.halve((0..4).collect(), 2, 0.35).unwrap();
            race.finals(pool).unwrap();
            assert!(
                race.costs.keys().all(|pieces| [4, 8, 13].contains(pieces)),
                "{:?}",
                race.costs
            );
            assert!(race.final_pieces == 0 || race.final_pieces >= 4);
        }
    }

    /// One that fails in the finals has nothing more to tell, and does not end them before the default's own loads say anything.
    #[test]
    fn finalists_that_fail_leave_blocks_enough() {
        let mut course = Told::new(&[1.0, 1.5], 0.01);
        let mut race = Race::new(&mut course, 1..=4, Duration::from_secs(60), 1);
        race.warm_up().unwrap();
        let pool = race.halve(vec![1], 2, 0.35).unwrap();
        race.course.speeds[1] = 0.0;
        assert_eq!(race.finals(pool).unwrap(), Ended::Blocks);
        assert!(race.is_decided() && race.winner().is_none());
    }
}
