//! One phase of one sample: from the suite's words to tasks, and from the workers' outcomes to a line of results.

use std::collections::BTreeMap;

use crate::fill::Words;
use crate::latency::Histogram;
use crate::material::Material;
use crate::task::{CommandTask, LoadTask, MixTask, Outcome, RowsTask, SqlTask, StepTask, Task};
use crate::worker::NUMBER;
use inrush::plan::Durability;
use inrush_core::error::{Error, Result};
use inrush_findings::record::PlannedCell;
use inrush_findings::sample::{PhaseSample, Point, Resources, Steadiness};
use inrush_findings::suite::{By, Check, Load, Mix, Phase};

/// Whether the phase is part of this cell.
pub(super) fn is_done_in(phase: &Phase, cell: &PlannedCell) -> bool {
    phase.when.is_empty() || phase.when.iter().any(|wanted| cell.is_in(wanted))
}

/// What a worker has to do in this phase; `words` are this worker's.
pub(super) fn task(
    phase: &Phase,
    words: &Words,
    durability: Durability,
    workers: u64,
    material: &mut Material<'_>,
) -> Result<Task> {
    let in_phase =
        |error: Error| Error::new(error.kind(), format!("phase {}: {}", phase.id, error.what()));
    let parts = (&phase.load, &phase.sql, &phase.mix, &phase.verify, &phase.command, &phase.size);
    let task = match parts {
        (Some(load), None, None, None, None, None) => {
            self::load(load, words, durability, material).map(Task::Load)
        }
        (None, Some(sql), None, None, None, None) => (|| {
            let repeat = phase.repeat.as_ref().map(|times| words.count(times)).transpose()?;
            let words = words.with("n", NUMBER);
            let statements = words.statements(sql)?;
            Ok(Task::Sql(SqlTask { statements, repeat, value: phase.expect.is_some() }))
        })(),
        (None, None, Some(mix), None, None, None) => self::mix(mix, words, workers).map(Task::Mix),
        (None, None, None, Some(verify), None, None) => (|| {
            let asked = verify.rows.as_ref().map(|rows| words.count(rows)).transpose()?;
            let (_, rows) = material.file(&verify.dataset, asked.filter(|rows| *rows > 0))?;
            let sql = words.statements(&verify.sql)?.join(" ");
            Ok(Task::Rows(RowsTask { sql, rows, added: verify.added.clone() }))
        })(),
        (None, None, None, None, Some(program), None) => (|| {
            let filled = |line: &[String]| -> Result<Vec<String>> {
                line.iter().map(|word| words.fill(word)).collect()
            };
            let (run, needs) = (filled(&program.run)?, filled(&program.needs)?);
            let env = program
                .env
                .iter()
                .map(|(name, value)| Ok((name.clone(), words.fill(value)?)))
                .collect::<Result<_>>()?;
            let input = words.fill(&program.input)?;
            Ok(Task::Command(CommandTask {
                run,
                shown: program.run.join(" "),
                needs,
                waits: program.waits,
                input,
                env,
                codes: program.codes.clone(),
            }))
        })(),
        (None, None, None, None, None, Some(size)) => words
            .statements(size)
            .map(|statements| Task::Sql(SqlTask { statements, repeat: None, value: true })),
        _ => Err(Error::usage("takes exactly one of load, sql, mix, verify, command and size")),
    };
    task.map_err(in_phase)
}

/// A load's task.
pub(super) fn load(
    load: &Load,
    words: &Words,
    durability: Durability,
    material: &mut Material<'_>,
) -> Result<LoadTask> {
    let asked = load.rows.as_ref().map(|rows| words.count(rows)).transpose()?;
    let (file, rows) = material.file(&load.dataset, asked.filter(|rows| *rows > 0))?;
    let strategy = load.strategy.as_deref().map(|id| words.fill(id)).transpose()?;
    let knobs = load
        .set
        .iter()
        .map(|(name, value)| Ok((name.clone(), words.value(value)?)))
        .collect::<Result<BTreeMap<_, _>>>()?;
    let lanes = load.lanes.as_ref().map(|lanes| words.count(lanes)).transpose()?;
    Ok(LoadTask {
        file,
        table: words.fill(&load.table)?,
        strategy: strategy.filter(|id| !id.is_empty()),
        knobs: knobs.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
        lanes: lanes.and_then(|lanes| usize::try_from(lanes).ok()).filter(|lanes| *lanes > 0),
        primary_key: load.primary_key.clone(),
        durability,
        rows: (load.by == By::Writer).then_some(rows),
    })
}

fn mix(mix: &Mix, words: &Words, workers: u64) -> Result<MixTask> {
    let words = words.with("r", NUMBER);
    let mut steps: Vec<StepTask> = Vec::new();
    for step in &mix.step {
        let sql = words.statements(&step.sql)?.join("; ");
        if sql.is_empty() {
            continue;
        }
        let when = match &step.when {
            None => None,
            Some(id) => {
                let place = steps.iter().position(|before| before.id == *id).ok_or_else(|| {
                    Error::usage(format!("step {}: no step '{id}' comes before it", step.id))
                })?;
                steps[place].keep = true;
                Some(place)
            }
        };
        let (id, transaction) = (step.id.clone(), step.transaction);
        steps.push(StepTask { id, sql, when, transaction, keep: false });
    }
    let worker: u64 = words.fill("{worker}")?.parse().unwrap_or(1);
    let all = words.count(&mix.requests)?;
    let requests = all / workers + u64::from(worker <= all % workers);
    let turn = (worker - 1) as f64 / workers as f64;
    let rate = match &mix.rate {
        None => None,
        Some(rate) => {
            let text = words.value(rate)?;
            let rate: f64 =
                text.parse().map_err(|_| Error::usage(format!("'{text}' is not a rate")))?;
            (rate > 1e-6).then_some(rate / workers as f64)
        }
    };
    let connect_each = match words.value(&mix.connect)?.as_str() {
        "request" => true,
        "worker" => false,
        other => {
            return Err(Error::usage(format!("connect is '{other}', not request or worker")));
        }
    };
    Ok(MixTask {
        requests,
        connect_each,
        range: mix.range,
        rate,
        turn,
        retries: mix.retries,
        steps,
    })
}

/// What a check's query has to answer.
pub(super) fn expected_of(
    check: &Check,
    words: &Words,
    outcomes: &[Outcome],
) -> Result<(u64, u64)> {
    let plus = check.plus.as_ref().map(|plus| words.count(plus)).transpose()?.unwrap_or(0);
    let of_step = |id: &String| {
        let rows = |outcome: &Outcome| outcome.acknowledged.get(id).copied().unwrap_or(0);
        outcomes.iter().map(rows).sum::<u64>()
    };
    let sum = check.steps.iter().map(of_step).sum::<u64>() + plus;
    Ok((sum, outcomes.iter().map(|outcome| outcome.unknown).sum()))
}

/// What all workers' outcomes come to.
pub(super) fn summed(phase: &Phase, outcomes: &[Outcome], rows_each: Option<u64>) -> PhaseSample {
    let start = outcomes.iter().map(|outcome| outcome.start_ns).min().unwrap_or(0);
    let since = |moment: fn(&Outcome) -> u64| {
        outcomes.iter().map(moment).max().unwrap_or(0).saturating_sub(start)
    };
    let sum = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>();
    let mut failed = BTreeMap::new();
    for (message, count) in outcomes.iter().flat_map(|outcome| &outcome.failed) {
        *failed.entry(message.clone()).or_insert(0) += count;
    }
    let mut histograms: BTreeMap<&str, Histogram> = BTreeMap::new();
    for (operation, text) in outcomes.iter().flat_map(|outcome| &outcome.latency) {
        // Our own worker wrote it.
        if let Ok(more) = Histogram::decode(text) {
            histograms.entry(operation).or_default().merge(&more);
        }
    }
    let is_counted = rows_each.is_some();
    let rows_of = |outcome: &Outcome| rows_each.unwrap_or(outcome.rows);
    let rate = |outcome: &Outcome| {
        let ns = outcome.ack_ns.saturating_sub(outcome.start_ns).max(1);
        rows_of(outcome) as f64 * 1e9 / ns as f64
    };
    PhaseSample {
        id: phase.id.clone(),
        timed: phase.is_timed(),
        ack_ns: since(|outcome| outcome.ack_ns),
        // What acknowledges also syncs, or promises no more.
        durable_ns: since(|outcome| outcome.ack_ns),
        rows: if is_counted || phase.load.is_some() || phase.mix.is_some() {
            outcomes.iter().map(rows_of).sum()
        } else {
            0
        },
        requests: sum(|outcome| outcome.requests),
        failed,
        retries: sum(|outcome| outcome.retries),
        user_bytes: sum(|outcome| outcome.user_bytes),
        strategy: outcomes.iter().find_map(|outcome| outcome.strategy.clone()),
        worker_rates: outcomes.iter().map(rate).collect(),
        resources: Resources {
            client_cpu_us: sum(|outcome| outcome.cpu_us),
            client_peak_bytes: outcomes.iter().map(|outcome| outcome.peak_bytes).max().unwrap_or(0),
            write_bytes: sum(|outcome| outcome.write_bytes),
            ..Resources::default()
        },
        latency: histograms
            .iter()
            .map(|(operation, histogram)| ((*operation).to_owned(), histogram.latency()))
            .collect(),
        ..PhaseSample::default()
    }
}

/// How steadily rows went, by the second; of what the workers said on the way, each since its own beginning.
pub(super) fn steadiness(points: &[Point], lasted_ns: u64) -> Option<Steadiness> {
    const SECOND: u64 = 1_000_000_000;
    let seconds = usize::try_from(lasted_ns / SECOND).ok().filter(|seconds| *seconds >= 3)?;
    let mut rates = vec![0.0_f64; seconds];
    let mut last: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for point in points {
        let (from, before) = last.insert(point.worker, (point.at_ns, point.done)).unwrap_or((0, 0));
        let (rows, lasted) =
            (point.done.saturating_sub(before) as f64, point.at_ns.saturating_sub(from));
        // Spread evenly over the seconds that it touches.
        for (second, rate) in rates.iter_mut().enumerate() {
            let (begin, end) = (second as u64 * SECOND, (second as u64 + 1) * SECOND);
            let shared = point.at_ns.min(end).saturating_sub(from.max(begin));
            if lasted > 0 && shared > 0 {
                *rate += rows * shared as f64 / lasted as f64;
            }
        }
    }
    rates.sort_by(f64::total_cmp);
    let at = |share: f64| rates[((rates.len() - 1) as f64 * share) as usize];
    let median = at(0.5);
    let stalled = rates.iter().filter(|rate| **rate < median / 10.0).count();
    Some(Steadiness {
        rate_p50: median,
        rate_p01: at(0.01),
        rate_min: rates[0],
        stall_s: u32::try_from(stalled).unwrap_or(u32::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_seen() {
        let points: Vec<Point> = [(1, 100), (2, 200), (4, 200), (5, 300), (6, 400)]
            .iter()
            .map(|(second, done)| Point {
                phase: "load".to_owned(),
                worker: 1,
                at_ns: second * 1_000_000_000,
                done: *done,
            })
            .collect();
        let found = steadiness(&points, 6_000_000_000).unwrap();
        assert_eq!((found.rate_p50, found.rate_min, found.stall_s), (100.0, 0.0, 2));
        assert_eq!(steadiness(&points, 2_900_000_000), None);
    }
}
