//! The sentences at the top of a report: made from what was found, with numbers, interval and n.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{CellFindings, ExperimentFindings, Findings, Measured, Verdict};
use crate::metric;
use crate::sample::Status;
use crate::suite::{Experiment, Suite};
use crate::{stats, wording};

/// More of them nobody reads.
const SENTENCES_MAX: usize = 6;

/// What was incorrect comes first, then the greatest differences, then claims and noise.
pub(crate) fn sentences(suite: &Suite, findings: &Findings) -> Vec<String> {
    let mut sentences: Vec<String> = incorrect(findings).into_iter().collect();
    let last: Vec<String> =
        [claims(suite, findings), Some(extent(findings)), noise(suite, findings)]
            .into_iter()
            .flatten()
            .collect();
    let mut spreads: Vec<(f64, String)> = suite
        .experiment
        .iter()
        .zip(&findings.experiments)
        .flat_map(|(experiment, found)| spreads(experiment, found, suite.experiment.len() > 1))
        .collect();
    spreads.sort_by(|a, b| b.0.total_cmp(&a.0));
    let room = SENTENCES_MAX.saturating_sub(sentences.len() + last.len());
    sentences.extend(spreads.into_iter().take(room).map(|(_, sentence)| sentence));
    sentences.extend(last);
    sentences
}

fn incorrect(findings: &Findings) -> Option<String> {
    let cells = || findings.experiments.iter().flat_map(|experiment| &experiment.cells);
    let labels: Vec<String> = cells()
        .filter(|cell| cell.statuses.contains_key(&Status::Incorrect))
        .map(|cell| cell.cell.label())
        .collect();
    let all = cells().filter(|cell| !cell.statuses.is_empty()).count();
    (!labels.is_empty()).then(|| {
        format!(
            "{} of {all} failed verification, what was stored was not what was sent: {}",
            wording::count(labels.len(), "cell"),
            wording::list(&labels)
        )
    })
}

/// The best against the worst of each tier, and by how much (as a logarithm), to sort by.
fn spreads(
    experiment: &Experiment,
    found: &ExperimentFindings,
    is_named: bool,
) -> Vec<(f64, String)> {
    let name = &experiment.metric;
    let is_higher_better = metric::is_better_when_higher(name);
    let mut tiers: BTreeMap<&str, Vec<(f64, &CellFindings)>> = BTreeMap::new();
    for cell in found.cells.iter().filter(|cell| cell.cell.twice.is_none()) {
        if let Some(summary) = cell.metrics.get(name) {
            tiers.entry(&cell.durability).or_default().push((summary.median, cell));
        }
    }
    let noise = found.noise.get(name).copied();
    let why = if noise.is_none() { ", as the noise is not known" } else { "" };
    let mut spreads = Vec::new();
    for (tier, mut cells) in tiers {
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [(_, least), .., (_, most)] = *cells else { continue };
        let Some(ratio) = stats::paired(&most.metrics[name], &least.metrics[name]) else {
            continue;
        };
        let (best, worst) = if is_higher_better { (most, least) } else { (least, most) };
        let within = if is_named { format!(" of `{}`", experiment.id) } else { String::new() };
        let sentence = if noise.is_none_or(|noise| ratio.low <= 1.0 + noise) {
            format!(
                "At {tier}, {} can't be told apart in `{name}`{within}{why}: from {} to {} it is {} times",
                wording::count(cells.len(), "cell"),
                least.cell,
                most.cell,
                wording::measured(&ratio)
            )
        } else {
            format!("At {tier}, {}{within}", faster(name, best, worst, &ratio))
        };
        spreads.push((ratio.value.ln(), sentence));
    }
    spreads
}

fn faster(name: &str, best: &CellFindings, worst: &CellFindings, ratio: &Measured) -> String {
    let (phase, metric) = name.rsplit_once('.').unwrap_or(("", name));
    let (best, worst) = (&best.cell, &worst.cell);
    let Measured { value, low, high, n, interval } = *ratio;
    let interval = wording::interval_words(low, high, n, interval);
    let times = format!("{} times ({interval})", wording::number(value));
    match metric {
        "rows_per_s" | "mb_per_s" => {
            format!("{best} loads {times} as fast as {worst} in `{phase}`")
        }
        "durable_rows_per_s" => {
            format!("{best} loads {times} as fast as {worst} in `{phase}`, until it is durable")
        }
        "requests_per_s" => format!("{best} does {times} the requests of {worst} in `{phase}`"),
        "seconds" => format!("{best} is {times} as fast as {worst} in `{phase}`"),
        "bytes" => format!("{worst} takes {times} the space of {best} in `{phase}`"),
        _ => format!("{worst} has {times} the `{name}` of {best}"),
    }
}

fn claims(suite: &Suite, findings: &Findings) -> Option<String> {
    let count = |verdict| findings.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let testable = findings.claims.len() - count(Verdict::NotTestable);
    if findings.claims.is_empty() {
        return None;
    }
    let study = if suite.source.is_some() { "study" } else { "suite" };
    if testable == 0 {
        return Some(format!("No claim of the {study} can be tested here"));
    }
    let mut sentence = format!(
        "{} of {} of the {study} {} reproduced",
        count(Verdict::Reproduced),
        wording::count(testable, "testable claim"),
        if count(Verdict::Reproduced) == 1 { "is" } else { "are" },
    );
    for (verdict, words) in [
        (Verdict::NotReproduced, "not reproduced"),
        (Verdict::Indistinguishable, "indistinguishable"),
    ] {
        match count(verdict) {
            0 => {}
            n => sentence.push_str(&format!(", {n} {words}")),
        }
    }
    match findings.claims.len() - testable {
        0 => {}
        n => sentence.push_str(&format!("; {n} can't be tested here")),
    }
    Some(sentence)
}

fn extent(findings: &Findings) -> String {
    let cells = || findings.experiments.iter().flat_map(|experiment| &experiment.cells);
    let (mut ok, mut all) = (0, 0);
    let mut others: BTreeSet<&str> = BTreeSet::new();
    for (status, count) in cells().flat_map(|cell| &cell.statuses) {
        all += count;
        match status {
            Status::Ok => ok += count,
            other => {
                others.insert(other.word());
            }
        }
    }
    let others = others.into_iter().collect::<Vec<_>>().join(", ");
    let measured = cells().filter(|cell| !cell.metrics.is_empty()).count();
    let sentence =
        format!("{measured} of {} have figures", wording::count(cells().count(), "cell"));
    match all - ok {
        0 => format!("{sentence}, from {}", wording::count(ok as usize, "sample")),
        failed => {
            format!("{sentence}, from {ok} of {all} samples: {failed} ended otherwise ({others})")
        }
    }
}

/// Of the experiment where it is the greatest.
fn noise(suite: &Suite, findings: &Findings) -> Option<String> {
    let noise =
        suite.experiment.iter().zip(&findings.experiments).filter_map(|(experiment, found)| {
            Some((*found.noise.get(&experiment.metric)?, &experiment.metric))
        });
    let (noise, metric) = noise.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "Two measurements of the same cell in one block lie {} % apart in `{metric}`: smaller differences mean nothing",
        wording::number(noise * 100.0)
    ))
}
