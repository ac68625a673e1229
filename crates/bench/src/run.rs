//! The order in which samples are taken, and when there are enough of them.
//!
//! Samples are taken in blocks. A block holds every cell once, in an order that its number and the run's seed decide, so what changes on
//! the machine in the meantime changes all cells alike, and two cells can be compared within each block.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::generate::SplitMix64;
use crate::matrix::experiment_of;
use inrush_core::error::Result;
use inrush_findings::metric::of_sample;
use inrush_findings::record::{PlannedCell, TargetRecord};
use inrush_findings::sample::{Point, Sample, Status};
use inrush_findings::stats;
use inrush_findings::suite::{Profile, Suite};

/// Takes samples. What isn't one's own database and workers is a test's.
pub(super) trait Laboratory {
    /// Measures a cell once. Whatever happens is in the sample; `block`, `order` and `warmup` are the caller's to fill in.
    fn take(&mut self, cell: &PlannedCell, id: &str) -> Taken;
}

/// A sample with what is kept beside it.
pub(super) struct Taken {
    pub(super) sample: Sample,
    pub(super) series: Vec<Point>,
    /// A line for each histogram.
    pub(super) histograms: String,
    /// All targets that are known, when one is new.
    pub(super) targets: Option<Vec<TargetRecord>>,
}

/// Follows a run, and can stop it.
pub trait Watcher: Sync {
    /// Set to true, ends the run after tidying up the sample that is being taken.
    fn stop(&self) -> &AtomicBool {
        static NEVER: AtomicBool = AtomicBool::new(false);
        &NEVER
    }

    /// Something is made ready, in a few words.
    fn preparing(&self, _what: &str) {}

    /// A sample begins.
    fn begins(&self, _cell: &PlannedCell, _state: &State) {}

    /// A sample is there.
    fn taken(&self, _cell: &PlannedCell, _sample: &Sample, _state: &State) {}
}

/// A watcher that looks away.
pub struct Unwatched;

impl Watcher for Unwatched {}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// Samples that are there, of this and earlier sittings.
    pub taken: u32,
    /// Samples that there will be at least.
    pub planned: u32,
    /// The block, from 0.
    pub block: u32,
    /// How long the rest takes at most, by the budget and by what samples have taken so far.
    pub left: Option<Duration>,
}

/// Why a run took no further block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Every cell's interval is narrow enough.
    Precise,
    /// As many blocks as the profile allows.
    Blocks,
    /// The profile's time is spent.
    Budget,
    /// The user wanted to stop.
    Interrupted,
    /// No cell is left that could be measured.
    Hopeless,
}

impl Stopped {
    /// As the manifest has it.
    pub fn word(self) -> &'static str {
        match self {
            Stopped::Precise => "precise",
            Stopped::Blocks => "blocks",
            Stopped::Budget => "budget",
            Stopped::Interrupted => "interrupted",
            Stopped::Hopeless => "hopeless",
        }
    }
}

/// What a run measures.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) suite: &'a Suite,
    pub(super) profile: &'a Profile,
    pub(super) cells: &'a [PlannedCell],
    /// What the order comes from.
    pub(super) seed: u64,
}

/// Takes samples until there are enough. Those in `samples` already exist, from an earlier sitting; new ones are added after `keep`
/// has them.
///
/// # Errors
/// When a sample can't be kept.
pub(super) fn run(
    task: Task<'_>,
    samples: &mut Vec<Sample>,
    laboratory: &mut dyn Laboratory,
    watcher: &dyn Watcher,
    mut keep: impl FnMut(&Taken) -> Result<()>,
) -> Result<Stopped> {
    let Task { profile, seed, .. } = task;
    let began = Instant::now();
    let budget = Duration::from_secs(profile.budget_s);
    let mut clock = Clock { began, budget, spent: HashMap::new() };
    for block in 0_u32.. {
        let counted = block.saturating_sub(profile.warmups);
        let due = due(task, samples, block);
        let is_begun = samples.iter().any(|sample| sample.block == block);
        if block >= profile.warmups && !is_begun {
            if counted >= profile.blocks_max {
                return Ok(Stopped::Blocks);
            }
            if due.is_empty() && samples.iter().all(|sample| sample.status != Status::Ok) {
                return Ok(Stopped::Hopeless);
            }
            if counted >= profile.blocks_min && due.is_empty() {
                return Ok(Stopped::Precise);
            }
            if counted > 0 && began.elapsed() >= budget {
                return Ok(Stopped::Budget);
            }
        }
        let mut queue: Vec<(&PlannedCell, String)> = order(&due, seed, block)
            .into_iter()
            .map(|cell| (cell, format!("b{block:02}.{}", cell.id)))
            .collect();
        let blocks_left = (profile.warmups + profile.blocks_min).saturating_sub(block + 1);
        let mut next = 0;
        while let Some((cell, id)) = queue.get(next).cloned() {
            next += 1;
            let known = samples.iter().find(|sample| sample.sample == id);
            let status = match known {
                Some(known) => known.status,
                None => {
                    if watcher.stop().load(Relaxed) {
                        return Ok(Stopped::Interrupted);
                    }
                    let state = clock.state(samples, &queue[next - 1..], due.len(), blocks_left);
                    watcher.begins(cell, &state);
                    let mut taken = match &cell.unavailable {
                        Some(why) => absent(&id, cell, why),
                        None => laboratory.take(cell, &id),
                    };
                    // A Ctrl-C goes to servers too, so what came of it may look like anything.
                    let is_stopped = watcher.stop().load(Relaxed);
                    if taken.sample.status == Status::Interrupted
                        || is_stopped && taken.sample.status != Status::Ok
                    {
                        return Ok(Stopped::Interrupted);
                    }
                    // On a machine that is never quiet there is nothing better to be had: it counts, and says so.
                    if taken.sample.status == Status::Contended && id.ends_with(AGAIN) {
                        taken.sample.status = Status::Ok;
                        taken.sample.flags.push("contended".to_owned());
                    }
                    taken.sample.block = block;
                    taken.sample.order = u32::try_from(samples.len()).unwrap_or(u32::MAX);
                    taken.sample.warmup = block < profile.warmups;
                    keep(&taken)?;
                    clock.spent.insert(cell.id.clone(), taken.sample.seconds);
                    samples.push(taken.sample);
                    let state = clock.state(samples, &queue[next..], due.len(), blocks_left);
                    watcher.taken(cell, &samples[samples.len() - 1], &state);
                    samples[samples.len() - 1].status
                }
            };
            // Once more, when everybody else in the block has had their turn.
            if status == Status::Contended {
                queue.push((cell, format!("{id}{AGAIN}")));
            }
        }
    }
    Ok(Stopped::Blocks)
}

/// The end of the id of a sample that was taken again.
const AGAIN: char = 'r';

/// The cells that a block has to hold: those that can still tell something.
fn due<'a>(task: Task<'a>, samples: &[Sample], block: u32) -> Vec<&'a PlannedCell> {
    let Task { suite, profile, cells, .. } = task;
    let before = |cell: &PlannedCell| {
        let id = cell.id.clone();
        samples.iter().filter(move |sample| sample.cell == id && sample.block < block)
    };
    let is_hopeless = |cell: &&PlannedCell| {
        before(cell).any(|sample| {
            matches!(
                sample.status,
                Status::Unavailable
                    | Status::Unsupported
                    | Status::Incorrect
                    | Status::Timeout
                    | Status::Oom
            )
        })
    };
    let is_precise = |cell: &&PlannedCell| {
        let metric = &experiment_of(suite, cell).metric;
        let found: Vec<(f64, u32)> = before(cell)
            .filter(|sample| sample.status == Status::Ok && !sample.warmup)
            .filter_map(|sample| Some((*of_sample(sample).get(metric)?, sample.block)))
            .collect();
        let (values, blocks): (Vec<f64>, Vec<u32>) = found.into_iter().unzip();
        values.len() >= profile.blocks_min as usize
            && !values.is_empty()
            && stats::precision(&stats::summary(&values, &blocks))
                .is_some_and(|precision| precision <= profile.precision)
    };
    let kept: Vec<&PlannedCell> = cells.iter().filter(|cell| !is_hopeless(cell)).collect();
    let counted = block.saturating_sub(profile.warmups);
    if counted < profile.blocks_min {
        return kept;
    }
    // Two measurements of one cell are compared in each block, so both go on as long as one has to.
    let open: BTreeSet<&str> = kept
        .iter()
        .filter(|cell| !is_precise(cell))
        .flat_map(|cell| [Some(cell.id.as_str()), cell.twice.as_deref()])
        .flatten()
        .collect();
    kept.into_iter()
        .filter(|cell| {
            open.contains(cell.id.as_str())
                || cell.twice.as_deref().is_some_and(|twice| open.contains(twice))
        })
        .collect()
}

/// Shuffled by Fisher and Yates.
fn order<'a>(cells: &[&'a PlannedCell], seed: u64, block: u32) -> Vec<&'a PlannedCell> {
    let mut random = SplitMix64::new(seed ^ (u64::from(block) << 40));
    let mut shuffled = cells.to_vec();
    for last in (1..shuffled.len()).rev() {
        let other = random.below(last as u64 + 1);
        shuffled.swap(last, usize::try_from(other).unwrap_or(0));
    }
    shuffled
}

fn absent(id: &str, cell: &PlannedCell, why: &str) -> Taken {
    let sample = Sample {
        v: 1,
        sample: id.to_owned(),
        cell: cell.id.clone(),
        block: 0,
        order: 0,
        warmup: false,
        status: Status::Unavailable,
        flags: Vec::new(),
        error: Some(why.to_owned()),
        started: super::clock::now(),
        seconds: 0.0,
        phases: Vec::new(),
        verify: None,
        verified: None,
        durability: Default::default(),
        load_before: 0.0,
        foreign_cpu: 0.0,
        sql: Vec::new(),
    };
    Taken { sample, series: Vec::new(), histograms: String::new(), targets: None }
}

/// What samples have taken so far, and what is left.
struct Clock {
    began: Instant,
    budget: Duration,
    /// By cell, in seconds.
    spent: HashMap<String, f64>,
}

impl Clock {
    /// With `queue` left of a block of so many `cells`, and so many blocks to come at least.
    fn state(
        &self,
        samples: &[Sample],
        queue: &[(&PlannedCell, String)],
        cells: usize,
        blocks_left: u32,
    ) -> State {
        let planned = samples.len() + queue.len() + cells * blocks_left as usize;
        let mean = self.spent.values().sum::<f64>() / self.spent.len().max(1) as f64;
        let one = |cell: &PlannedCell| self.spent.get(&cell.id).copied().unwrap_or(mean);
        let this: f64 = queue.iter().map(|(cell, _)| one(cell)).sum();
        let rest = Duration::from_secs_f64(this + mean * cells as f64 * f64::from(blocks_left));
        let budget = self.budget.saturating_sub(self.began.elapsed());
        State {
            taken: u32::try_from(samples.len()).unwrap_or(u32::MAX),
            planned: u32::try_from(planned).unwrap_or(u32::MAX),
            block: samples.last().map_or(0, |sample| sample.block),
            left: (!self.spent.is_empty()).then(|| rest.max(budget)),
        }
    }
}

/// How many samples ended how.
pub fn tally(samples: &[Sample]) -> BTreeMap<Status, u32> {
    let mut counts = BTreeMap::new();
    for sample in samples {
        *counts.entry(sample.status).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
