//! The rate within a sample, second by second.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::finding::CellFindings;
use crate::sample::{Point, Sample};
use crate::stats::median;

use super::super::Input;
use super::super::cells::Cells;
use super::super::number::significant;
use super::{Csv, Figure, Plot, lines_layout, plain};

/// More small plots than this tell nobody anything.
const PLOTS_MAX: usize = 24;
/// A second below that share of the median rate is a stall.
const STALL: f64 = 0.1;

/// One small plot for each cell and phase that took long enough to have a series.
pub(super) fn series(run: &Input<'_>, cells: &Cells<'_>) -> Option<Figure> {
    let mut csv = Csv::new(&["cell", "label", "phase", "sample", "second", "rate"]);
    let mut plots = Vec::new();
    let mut left_out = 0;
    for (cell, _) in cells.ranked(cells.metric) {
        let samples = cells.samples(&cell.cell.id);
        let phases: BTreeSet<&str> = samples
            .iter()
            .filter_map(|sample| run.series.get(&sample.sample))
            .flatten()
            .map(|point| point.phase.as_str())
            .collect();
        for phase in phases {
            let rates: Vec<(&Sample, Vec<f64>)> = samples
                .iter()
                .filter_map(|sample| Some((*sample, rates(run.series.get(&sample.sample)?, phase))))
                .filter(|(_, rates)| rates.len() > 1)
                .collect();
            if rates.is_empty() {
                continue;
            }
            if plots.len() == PLOTS_MAX {
                left_out += 1;
                continue;
            }
            plots.push(plot(cells, cell, phase, &rates, &mut csv));
        }
    }
    if plots.is_empty() {
        return None;
    }
    let more = match left_out {
        0 => String::new(),
        n => format!(" {n} more are in series/ of the run's folder."),
    };
    Some(Figure {
        id: format!("{}-series", cells.id()),
        title: "Second by second".to_owned(),
        note: format!(
            "The line is the repetition in the middle, the band spans all of them, crosses are seconds below a tenth of the median.{more}"
        ),
        companions: false,
        plots,
        csv,
    })
}

fn plot(
    cells: &Cells<'_>,
    cell: &CellFindings,
    phase: &str,
    rates: &[(&Sample, Vec<f64>)],
    csv: &mut Csv,
) -> Plot {
    let label = cells.label(&cell.cell);
    for (sample, rates) in rates {
        for (second, rate) in rates.iter().enumerate() {
            csv.rows.push(vec![
                json!(cell.cell.id),
                json!(label),
                json!(phase),
                json!(sample.sample),
                json!(second + 1),
                json!(rate),
            ]);
        }
    }
    let mut by_length: Vec<&Vec<f64>> = rates.iter().map(|(_, rates)| rates).collect();
    by_length.sort_by_key(|rates| rates.len());
    let middle = by_length[by_length.len() / 2];
    let longest = by_length[by_length.len() - 1].len();
    let at = |second: usize| by_length.iter().filter_map(move |rates| rates.get(second)).copied();
    let low: Vec<f64> = (0..longest).map(|n| at(n).fold(f64::INFINITY, f64::min)).collect();
    let high: Vec<f64> = (0..longest).map(|n| at(n).fold(0.0, f64::max)).collect();
    let usual = median(middle).unwrap_or_default();
    let stalls: Vec<usize> = (0..middle.len()).filter(|n| middle[*n] < usual * STALL).collect();
    let seconds = |n: usize| (1..=n).collect::<Vec<usize>>();
    let text: Vec<String> = middle
        .iter()
        .enumerate()
        .map(|(second, rate)| format!("second {}: {} /s", second + 1, significant(*rate)))
        .collect();
    let mut data = vec![
        json!({"type": "scatter", "mode": "lines", "x": seconds(longest), "y": low, "hoverinfo": "skip", "line": {"width": 0}}),
        json!({
            "type": "scatter", "mode": "lines", "x": seconds(longest), "y": high, "hoverinfo": "skip", "line": {"width": 0},
            "fill": "tonexty", "fillcolor": "var(--c1-band)",
        }),
        json!({
            "type": "scatter", "mode": "lines", "x": seconds(middle.len()), "y": middle, "text": text, "hoverinfo": "text",
            "line": {"color": "var(--c1)", "width": 1.6},
        }),
    ];
    if !stalls.is_empty() {
        data.push(json!({
            "type": "scatter", "mode": "markers", "hoverinfo": "skip", "cliponaxis": false, "x": stalls.iter().map(|n| n + 1).collect::<Vec<_>>(),
            "y": stalls.iter().map(|n| middle[*n]).collect::<Vec<_>>(),
            "marker": {"symbol": "x", "size": 8, "color": "var(--c2)"},
        }));
    }
    let mut layout = lines_layout(
        json!({"title": {"text": "s", "standoff": 4}, "dtick": (longest / 6).max(1)}),
        json!({"rangemode": "tozero", "tickformat": "~s", "title": {"text": plain(&format!("{phase}, per s")), "standoff": 4}}),
    );
    layout["showlegend"] = json!(false);
    Plot { title: label, height: 190, data, layout }
}

/// What all workers did in every whole second.
fn rates(points: &[Point], phase: &str) -> Vec<f64> {
    let mut workers: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for point in points.iter().filter(|point| point.phase == phase) {
        let at = point.at_ns as f64 / 1e9;
        workers.entry(point.worker).or_default().push((at, point.done as f64));
    }
    let end =
        workers.values().filter_map(|points| points.last()).map(|(at, _)| *at).fold(0.0, f64::max);
    let done = |at: f64| workers.values().map(|points| done_at(points, at)).sum::<f64>();
    let seconds = end.floor() as usize;
    let totals: Vec<f64> = (0..=seconds).map(|second| done(second as f64)).collect();
    totals.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Between two points a worker is taken to have been steady.
fn done_at(points: &[(f64, f64)], at: f64) -> f64 {
    let mut before = (0.0, 0.0);
    for point in points {
        if point.0 >= at {
            let width = point.0 - before.0;
            let share = if width > 0.0 { (at - before.0) / width } else { 1.0 };
            return before.1 + (point.1 - before.1) * share;
        }
        before = *point;
    }
    before.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_whole_seconds_over_all_workers() {
        let point = |worker, at_ns, done| Point { phase: "insert".to_owned(), worker, at_ns, done };
        let points = [
            point(1, 500_000_000, 50),
            point(1, 1_500_000_000, 150),
            point(1, 2_000_000_000, 150),
            point(2, 1_000_000_000, 10),
            point(2, 2_100_000_000, 10),
            Point { phase: "other".to_owned(), ..point(1, 9_000_000_000, 9) },
        ];
        assert_eq!(rates(&points, "insert"), [110.0, 50.0]);
        assert_eq!(rates(&[], "insert"), [0.0; 0]);
    }
}
