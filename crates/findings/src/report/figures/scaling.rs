//! What several workers make of it, beside what they would at best.

use serde_json::json;

use crate::stats::median;

use super::super::cells::{Cells, promise};
use super::super::metric::Metric;
use super::super::number::percent;
use super::{
    Csv, Figure, Line, Plot, hover, in_plots, lines, lines_layout, log_axis, merge, plain, style,
    ticks,
};

/// One figure for each tier, where there is more than one number of workers.
pub(super) fn scaling(cells: &Cells<'_>) -> Vec<Figure> {
    let metric = cells.metric;
    if !metric.is_rate() || !cells.varying.contains(&"workers") {
        return Vec::new();
    }
    let lines = lines(cells, "workers", metric);
    let tiers = cells.tiers();
    let of_tier = |tier: &str| {
        lines.iter().filter(|line| line.tier == tier && line.points.len() > 1).collect()
    };
    tiers
        .iter()
        .map(|tier| (*tier, of_tier(tier)))
        .filter(|(_, lines): &(_, Vec<&Line<'_>>)| !lines.is_empty())
        .map(|(tier, lines)| figure(cells, metric, tier, lines, tiers.len() > 1))
        .collect()
}

fn figure(
    cells: &Cells<'_>,
    metric: Metric<'_>,
    tier: &str,
    lines: Vec<&Line<'_>>,
    several: bool,
) -> Figure {
    let mut csv = Csv::new(&[
        "cell",
        "line",
        "tier",
        "workers",
        "median",
        "low",
        "high",
        "n",
        "slowest_to_fastest_worker",
    ]);
    let mut plots = Vec::new();
    for (title, lines) in in_plots(lines, |line| line.group.clone()) {
        let mut data = Vec::new();
        let mut all = Vec::new();
        for (n, line) in lines.iter().enumerate() {
            let style = style(n);
            let (mut x, mut y, mut above, mut below, mut text) =
                (vec![], vec![], vec![], vec![], vec![]);
            for point in &line.points {
                let summary = point.summary;
                let skew = skew(cells, &point.cell.cell.id, metric.phase);
                let mut words =
                    hover(&format!("{} \u{b7} workers={}", line.label, point.x), metric, summary);
                if let Some(skew) = skew {
                    words += &format!("<br>the slowest worker at {} of the fastest", percent(skew));
                }
                x.push(point.x);
                y.push(summary.median);
                above.push(summary.high - summary.median);
                below.push(summary.median - summary.low);
                text.push(words);
                csv.rows.push(vec![
                    json!(point.cell.cell.id),
                    json!(line.label),
                    json!(tier),
                    json!(point.x),
                    json!(summary.median),
                    json!(summary.low),
                    json!(summary.high),
                    json!(summary.values.len()),
                    json!(skew),
                ]);
            }
            let (first, last) = (&line.points[0], &line.points[line.points.len() - 1]);
            let ideal = first.summary.median * last.x / first.x;
            data.push(json!({
                "type": "scatter", "mode": "lines", "x": [first.x, last.x], "y": [first.summary.median, ideal],
                "hoverinfo": "skip", "name": "ideal: twice the workers, twice the rate", "showlegend": n == 0,
                "line": {"color": "var(--muted)", "dash": "dot", "width": 1.2},
            }));
            data.push(json!({
                "type": "scatter", "mode": "lines+markers", "x": x, "y": y, "text": text, "hoverinfo": "text",
                "name": plain(&line.label), "line": {"color": style.color, "dash": style.dash, "width": 2},
                "marker": {"symbol": style.symbol, "size": 8, "color": style.color},
                "error_y": {"type": "data", "array": above, "arrayminus": below, "color": style.color, "thickness": 1.5, "width": 5},
            }));
            all.extend(x);
        }
        let mut x_axis = json!({"type": "log", "title": {"text": "workers", "standoff": 8}});
        merge(&mut x_axis, ticks(all.into_iter()));
        let shown = lines
            .iter()
            .flat_map(|line| &line.points)
            .flat_map(|point| [point.summary.low, point.summary.high]);
        let mut y_axis = log_axis(shown, metric.tick_format());
        y_axis["title"] =
            json!({"text": plain(&format!("{}, all workers", metric.title())), "standoff": 8});
        let height = 380 + 11 * lines.len();
        plots.push(Plot { title, height, data, layout: lines_layout(x_axis, y_axis) });
    }
    let tier_words = if several { format!(" ({})", promise(tier)) } else { String::new() };
    Figure {
        id: format!("{}-scaling-{tier}", cells.id()),
        title: format!("Several workers{tier_words}"),
        note: "Both axes are logarithmic, so a line as steep as the dotted one scales perfectly. Bars are the median's interval.".to_owned(),
        companions: false,
        plots,
        csv,
    }
}

/// What the slowest worker did of what the fastest did, in the middle of the samples.
fn skew(cells: &Cells<'_>, cell: &str, phase: &str) -> Option<f64> {
    let shares = cells.samples(cell).iter().filter_map(|sample| {
        let rates = &sample.phases.iter().find(|one| one.id == phase)?.worker_rates;
        let least = rates.iter().copied().reduce(f64::min)?;
        let most = rates.iter().copied().reduce(f64::max)?;
        (rates.len() > 1 && most > 0.0).then(|| least / most)
    });
    median(&shares.collect::<Vec<f64>>())
}
