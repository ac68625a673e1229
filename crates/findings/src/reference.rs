//! Published figures beside ours. Absolute ones of two machines say nothing of each other: each is divided by its own baseline.

use std::collections::BTreeSet;

use crate::finding::{CellFindings, ExperimentFindings, ReferenceFinding, ReferencePair, Summary};
use crate::stats;
use crate::suite::{Cell, Reference};
use crate::wording;

/// One finding, or one for each server that its cells are on; none, and why, when the reference lacks its own baseline.
pub(crate) fn compare(
    reference: &Reference,
    experiments: &[ExperimentFindings],
) -> Result<Vec<ReferenceFinding>, String> {
    let baseline = reference.values.iter().find(|published| published.cell == reference.baseline);
    let Some(baseline) = baseline.filter(|baseline| baseline.value > 0.0) else {
        let words = wording::selector(&reference.baseline);
        return Err(format!(
            "reference `{}` has no figure above 0 for its baseline {words}",
            reference.id
        ));
    };
    let experiment = experiments.iter().find(|other| other.id == reference.experiment);
    let cells = experiment.map_or(&[][..], |experiment| &experiment.cells);
    let noise = experiment.and_then(|experiment| experiment.noise.get(&reference.metric)).copied();
    let selectors = reference.values.iter().map(|published| &published.cell);
    let servers: BTreeSet<&str> = selectors
        .flat_map(|selector| cells.iter().filter(|cell| cell.cell.is_in(selector)))
        .filter_map(|cell| cell.cell.get("server"))
        .collect();
    let servers: Vec<Option<&str>> =
        if servers.is_empty() { vec![None] } else { servers.into_iter().map(Some).collect() };
    let findings = servers.into_iter().map(|server| {
        let ours = |selector: &Cell| summary(cells, selector, server, &reference.metric);
        let our_baseline = ours(&reference.baseline).map(|summary| summary.median);
        let mut pairs = Vec::new();
        let mut both = Vec::new();
        for published in &reference.values {
            let summary = ours(&published.cell);
            let label = published.label.clone();
            let pair = ReferencePair {
                label: label.unwrap_or_else(|| wording::selector(&published.cell)),
                published: published.value,
                published_relative: published.value / baseline.value,
                ours: summary.map(|summary| summary.median),
                ours_relative: summary
                    .zip(our_baseline.filter(|baseline| *baseline > 0.0))
                    .map(|(summary, baseline)| summary.median / baseline),
            };
            both.extend(summary.map(|summary| (published.value, summary)));
            pairs.push(pair);
        }
        let (published, medians): (Vec<f64>, Vec<f64>) =
            both.iter().map(|(published, summary)| (*published, summary.median)).unzip();
        ReferenceFinding {
            id: reference.id.clone(),
            server: server.map(str::to_owned),
            pairs,
            rank_correlation: stats::spearman(&published, &medians),
            same_order: noise.and_then(|noise| same_order(&both, noise)),
        }
    });
    Ok(findings.collect())
}

/// Of the one cell that is meant: on the server, or, where a cell has none, anyway.
fn summary<'e>(
    cells: &'e [CellFindings],
    selector: &Cell,
    server: Option<&str>,
    metric: &str,
) -> Option<&'e Summary> {
    let mut found = cells.iter().filter(|cell| {
        let cell = &cell.cell;
        cell.twice.is_none()
            && cell.is_in(selector)
            && cell.get("server").is_none_or(|on| Some(on) == server)
    });
    match (found.next(), found.next()) {
        (Some(cell), None) => cell.metrics.get(metric),
        _ => None,
    }
}

/// Of pairs of cells that differ as published, and by more than noise here: how many stand in the published order, and how many there are.
fn same_order(both: &[(f64, &Summary)], noise: f64) -> Option<(u32, u32)> {
    let (mut same, mut all) = (0, 0);
    for (index, (published, ours)) in both.iter().enumerate() {
        for (other_published, other_ours) in &both[..index] {
            let Some(ratio) = stats::paired(ours, other_ours) else { continue };
            let is_apart = ratio.low > 1.0 + noise || ratio.high < 1.0 / (1.0 + noise);
            if !is_apart || published == other_published {
                continue;
            }
            all += 1;
            if (ratio.value > 1.0) == (published > other_published) {
                same += 1;
            }
        }
    }
    (all > 0).then_some((same, all))
}
