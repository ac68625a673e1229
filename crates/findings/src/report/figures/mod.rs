//! Figures as plotly.js takes them, each with the numbers that it shows.
//!
//! Colours are names of the page's palette (`var(--c1)`), which the page's script fills in, so that figures follow the theme. What has a
//! colour has a shape or a dash as well. Text from data is escaped: plotly.js reads tags in labels.

mod cost;
mod forest;
mod latency;
mod phases;
mod references;
mod scaling;
mod series;
mod strip;
mod sweep;

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::finding::{CellFindings, Summary};

use super::Input;
use super::cells::Cells;
use super::metric::Metric;
use super::number::significant;

pub(super) use forest::forest;
pub(super) use references::references;

/// More lines than this in one plot can't be told apart: they get a plot for each target.
const LINES_MAX: usize = 7;

/// One or several plots with one title.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    /// Unique in the page.
    pub(super) id: String,
    /// What it shows.
    pub(super) title: String,
    /// How to read it.
    pub(super) note: String,
    /// Whether the plots have the same rows, named once where there is room to put them side by side.
    pub(super) companions: bool,
    /// The plots.
    pub(super) plots: Vec<Plot>,
    /// Their numbers.
    pub(super) csv: Csv,
}

/// What plotly.js draws.
#[derive(Debug, Serialize)]
pub(super) struct Plot {
    /// Above it; empty for the only one of its figure.
    pub(super) title: String,
    /// In pixels.
    pub(super) height: usize,
    /// Traces.
    pub(super) data: Vec<Json>,
    /// Axes and the like.
    pub(super) layout: Json,
}

/// A figure's numbers as a table.
#[derive(Debug, Default, Serialize)]
pub(super) struct Csv {
    /// Their names.
    pub(super) columns: Vec<String>,
    /// Their values.
    pub(super) rows: Vec<Vec<Json>>,
}

impl Csv {
    fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }
}

/// All figures of an experiment; those that have nothing to show are left out.
pub(super) fn of_experiment(run: &Input<'_>, cells: &Cells<'_>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    figures.extend(strip::strip(cells));
    figures.extend(sweep::sweeps(cells));
    figures.extend(scaling::scaling(cells));
    figures.extend(phases::phases(cells));
    figures.extend(series::series(run, cells));
    figures.extend(latency::latency(cells));
    figures.extend(cost::cost(cells));
    figures
}

/// Colour, shape and dash of the nth thing.
struct Style {
    color: String,
    band: String,
    symbol: &'static str,
    dash: &'static str,
}

fn style(n: usize) -> Style {
    const SYMBOLS: [&str; 7] =
        ["circle", "diamond", "square", "triangle-up", "triangle-down", "cross", "x"];
    const DASHES: [&str; 4] = ["solid", "dash", "dot", "dashdot"];
    let color = n % 7 + 1;
    Style {
        color: format!("var(--c{color})"),
        band: format!("var(--c{color}-band)"),
        symbol: SYMBOLS[n % SYMBOLS.len()],
        // The same colour comes back with another dash, and neighbours differ too.
        dash: DASHES[(n + n / 7) % DASHES.len()],
    }
}

/// Text that plotly.js shows as it is.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The layout of a plot whose lines are cells, one below the other.
fn rows_layout(labels: &[String], x_title: &str, x: Json) -> Json {
    let mut x_axis = json!({
        "title": {"text": x_title, "standoff": 8}, "side": "top", "automargin": true, "fixedrange": false,
    });
    merge(&mut x_axis, x);
    json!({
        "xaxis": x_axis,
        "yaxis": {
            "tickvals": (0..labels.len()).collect::<Vec<_>>(),
            "ticktext": labels.iter().map(|label| plain(label)).collect::<Vec<_>>(),
            "range": [labels.len() as f64 - 0.4, -0.6], "automargin": true, "zeroline": false,
            "fixedrange": true, "showgrid": false, "ticks": "",
        },
        "margin": {"l": 8, "r": 24, "t": 64, "b": 12},
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 0, "yref": "container", "yanchor": "bottom"},
        "hovermode": "closest", "rows": true,
    })
}

/// As high as so many lines need, with a legend below or without.
fn rows_height(rows: usize, legend: bool) -> usize {
    let legend = if legend { 34 } else { 0 };
    84 + 26 * rows.max(2) + legend
}

/// The layout of a plot with two measured axes.
fn lines_layout(x: Json, y: Json) -> Json {
    let mut x_axis = json!({"automargin": true, "zeroline": false});
    merge(&mut x_axis, x);
    let mut y_axis = json!({"automargin": true, "zeroline": false});
    merge(&mut y_axis, y);
    json!({
        "xaxis": x_axis, "yaxis": y_axis, "margin": {"l": 8, "r": 16, "t": 16, "b": 8},
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.22, "yanchor": "top"},
        "hovermode": "closest",
    })
}

fn merge(into: &mut Json, from: Json) {
    if let (Json::Object(into), Json::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// What the pointer shows of a cell.
fn hover(label: &str, metric: Metric<'_>, summary: &Summary) -> String {
    format!(
        "<b>{}</b><br>median {} {}<br>{} {} to {}, n={}",
        plain(label),
        significant(summary.median),
        plain(&metric.unit()),
        super::matrix::kind(summary.interval),
        significant(summary.low),
        significant(summary.high),
        summary.values.len(),
    )
}

/// Cells of one tier that differ on one axis only: a line over it.
struct Line<'a> {
    label: String,
    group: String,
    tier: &'a str,
    /// Sorted by `x`.
    points: Vec<LinePoint<'a>>,
}

struct LinePoint<'a> {
    x: f64,
    cell: &'a CellFindings,
    summary: &'a Summary,
}

/// All lines over `axis`, of cells whose value on it is a number.
fn lines<'a>(cells: &Cells<'a>, axis: &str, metric: Metric<'_>) -> Vec<Line<'a>> {
    let others: Vec<&str> = cells.varying.iter().copied().filter(|one| *one != axis).collect();
    let mut lines: Vec<Line<'a>> = Vec::new();
    for cell in cells.first() {
        let x = cell.cell.get(axis).and_then(|value| value.parse::<f64>().ok());
        let (Some(x), Some(summary)) = (x, cell.metrics.get(metric.name)) else { continue };
        let label = cells.label_on(&cell.cell, &others);
        let tier = cell.durability.as_str();
        let point = LinePoint { x, cell, summary };
        match lines.iter_mut().find(|line| line.label == label && line.tier == tier) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                label,
                group: cells.label_on(&cell.cell, &["target", "server"]),
                tier,
                points: vec![point],
            }),
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    lines
}

/// Lines in as many plots as can be read: one, or one for each target.
fn in_plots<T>(lines: Vec<T>, group: impl Fn(&T) -> String) -> Vec<(String, Vec<T>)> {
    if lines.len() <= LINES_MAX {
        return vec![(String::new(), lines)];
    }
    let mut plots: Vec<(String, Vec<T>)> = Vec::new();
    for line in lines {
        let name = group(&line);
        match plots.iter_mut().find(|(one, _)| *one == name) {
            Some((_, lines)) => lines.push(line),
            None => plots.push((name, vec![line])),
        }
    }
    plots
}

/// A logarithmic axis over these values. Left to itself plotly.js writes 70k, 80k and 90k into each other.
fn log_axis(values: impl Iterator<Item = f64>, tick_format: &str) -> Json {
    let (least, most) = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0f64), |(least, most), value| (least.min(value), most.max(value)));
    let decades = (most / least).log10();
    let mut axis = json!({"type": "log", "tickformat": tick_format});
    if decades > 3.5 {
        axis["dtick"] = json!(1);
    } else if decades > 0.6 {
        axis["dtick"] = json!("D2");
    } else {
        axis["nticks"] = json!(5);
    }
    axis
}

/// Values of an axis as ticks, written out.
fn ticks(values: impl Iterator<Item = f64>) -> Json {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let text: Vec<String> = values.iter().map(|value| compact(*value)).collect();
    json!({"tickvals": values, "ticktext": text})
}

/// `1`, `100`, `10k`.
fn compact(number: f64) -> String {
    match number {
        n if n >= 1e6 && n % 1e5 == 0.0 => format!("{}M", n / 1e6),
        n if n >= 1e4 && n % 100.0 == 0.0 => format!("{}k", n / 1e3),
        n => format!("{n}"),
    }
}
