//! A metric over the values of one axis, with the place where it bends.

use serde_json::{Value as Json, json};

use super::super::cells::{Cells, promise};
use super::super::metric::Metric;
use super::{
    Csv, Figure, Line, LinePoint, Plot, hover, in_plots, lines, lines_layout, log_axis, merge,
    plain, style, ticks,
};

/// A knee is the least value whose median is that near to the best.
const KNEE: f64 = 0.9;

/// One figure for each tier.
pub(super) fn sweeps(cells: &Cells<'_>) -> Vec<Figure> {
    let Some(axis) = cells.experiment.and_then(|one| one.sweep.as_deref()) else {
        return Vec::new();
    };
    let lines = lines(cells, axis, cells.metric);
    let mut figures = Vec::new();
    let tiers = cells.tiers();
    for tier in &tiers {
        let of_tier: Vec<&Line<'_>> = lines.iter().filter(|line| line.tier == *tier).collect();
        if !of_tier.iter().any(|line| line.points.len() > 1) {
            continue;
        }
        figures.push(sweep(cells, axis, tier, of_tier, tiers.len() > 1));
    }
    figures
}

fn sweep(
    cells: &Cells<'_>,
    axis: &str,
    tier: &str,
    lines: Vec<&Line<'_>>,
    several: bool,
) -> Figure {
    let metric = cells.metric;
    let mut csv = Csv::new(&["cell", "line", "tier", axis, "median", "low", "high", "n", "knee"]);
    let mut plots = Vec::new();
    for (title, lines) in in_plots(lines, |line| line.group.clone()) {
        let mut data = Vec::new();
        let all: Vec<f64> =
            lines.iter().flat_map(|line| line.points.iter().map(|point| point.x)).collect();
        for (n, line) in lines.iter().enumerate() {
            let knee = knee(line, metric);
            data.extend(match line.points.as_slice() {
                [point] => level(line, n, point, &all, metric),
                _ => curve(line, n, knee, axis, metric),
            });
            for (index, point) in line.points.iter().enumerate() {
                let summary = point.summary;
                csv.rows.push(vec![
                    json!(point.cell.cell.id),
                    json!(line.label),
                    json!(tier),
                    json!(point.x),
                    json!(summary.median),
                    json!(summary.low),
                    json!(summary.high),
                    json!(summary.values.len()),
                    json!(Some(index) == knee && line.points.len() > 1),
                ]);
            }
        }
        let mut x = json!({"type": "log", "title": {"text": plain(axis), "standoff": 8}});
        merge(&mut x, ticks(all.into_iter()));
        let shown = lines
            .iter()
            .flat_map(|line| &line.points)
            .flat_map(|point| [point.summary.low, point.summary.high]);
        let mut y = log_axis(shown, metric.tick_format());
        y["title"] = json!({"text": plain(&metric.title()), "standoff": 8});
        let legend = lines.len() > 1 || !line_label(lines[0]).is_empty();
        let mut layout = lines_layout(x, y);
        layout["showlegend"] = json!(legend);
        plots.push(Plot { title, height: 400 + 11 * lines.len(), data, layout });
    }
    let tier_words = if several { format!(" ({})", promise(tier)) } else { String::new() };
    Figure {
        id: format!("{}-sweep-{tier}", cells.id()),
        title: format!("Over {axis}{tier_words}"),
        note: format!(
            "Both axes are logarithmic. The band is the median's interval; the large open mark is the knee: the least {axis} within 90 % of the line's best."
        ),
        companions: false,
        plots,
        csv,
    }
}

/// The index of the knee.
fn knee(line: &Line<'_>, metric: Metric<'_>) -> Option<usize> {
    let best = metric.best(line.points.iter().map(|point| point.summary.median))?;
    line.points.iter().position(|point| metric.share(point.summary.median, best) >= KNEE)
}

fn line_label(line: &Line<'_>) -> String {
    plain(&line.label)
}

fn curve(
    line: &Line<'_>,
    n: usize,
    knee: Option<usize>,
    axis: &str,
    metric: Metric<'_>,
) -> Vec<Json> {
    let style = style(n);
    let of = |pick: fn(&LinePoint<'_>) -> f64| line.points.iter().map(pick).collect::<Vec<f64>>();
    let x = of(|point| point.x);
    let text: Vec<String> = line
        .points
        .iter()
        .map(|point| {
            hover(&format!("{} \u{b7} {axis}={}", line.label, point.x), metric, point.summary)
        })
        .collect();
    let mut traces = vec![
        json!({
            "type": "scatter", "mode": "lines", "x": x, "y": of(|point| point.summary.low), "hoverinfo": "skip",
            "showlegend": false, "legendgroup": line.label, "line": {"width": 0},
        }),
        json!({
            "type": "scatter", "mode": "lines", "x": x, "y": of(|point| point.summary.high), "hoverinfo": "skip",
            "showlegend": false, "legendgroup": line.label, "line": {"width": 0}, "fill": "tonexty", "fillcolor": style.band,
        }),
        json!({
            "type": "scatter", "mode": "lines+markers", "x": x, "y": of(|point| point.summary.median), "text": text,
            "hoverinfo": "text", "name": line_label(line), "legendgroup": line.label,
            "line": {"color": style.color, "dash": style.dash, "width": 2},
            "marker": {"symbol": style.symbol, "size": 7, "color": style.color},
        }),
    ];
    if let Some(point) = knee.map(|index| &line.points[index]) {
        traces.push(json!({
            "type": "scatter", "mode": "markers", "x": [point.x], "y": [point.summary.median], "hoverinfo": "skip",
            "showlegend": false, "legendgroup": line.label,
            "marker": {"symbol": format!("{}-open", style.symbol), "size": 15, "color": style.color, "line": {"width": 2}},
        }));
    }
    traces
}

/// What has no such axis: one value, drawn across.
fn level(
    line: &Line<'_>,
    n: usize,
    point: &LinePoint<'_>,
    all: &[f64],
    metric: Metric<'_>,
) -> Vec<Json> {
    let style = style(n);
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    let text = hover(&line.label, metric, point.summary);
    let median = point.summary.median;
    vec![json!({
        "type": "scatter", "mode": "lines+markers", "x": [least, point.x, most], "y": [median, median, median],
        "text": [text, text, text], "hoverinfo": "text", "name": line_label(line), "legendgroup": line.label,
        "line": {"color": style.color, "dash": "dashdot", "width": 1.5},
        "marker": {"symbol": style.symbol, "size": [0, 8, 0], "color": style.color},
    })]
}
