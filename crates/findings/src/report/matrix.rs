//! A metric of all cells as tables, one for each durability tier: tiers promise different things and are never ranked together.

use serde::Serialize;

use crate::finding::{CellFindings, Interval};

use super::cells::{Cells, promise, reason, trouble};
use super::metric::Metric;
use super::number::significant;

/// More columns than this are turned into rows, where that helps.
const COLUMNS_MAX: usize = 8;

/// The cells of one tier.
#[derive(Debug, Serialize)]
pub(super) struct Panel {
    /// The metric and its unit.
    pub(super) title: String,
    /// The tier and what it promises.
    pub(super) tier: String,
    /// What the rows are.
    pub(super) row_header: String,
    /// The axis whose values are the columns; empty when there is one column.
    pub(super) column_header: String,
    /// Its values.
    pub(super) columns: Vec<String>,
    /// The cells.
    pub(super) rows: Vec<Row>,
}

/// One row.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// What its cells have in common.
    pub(super) label: String,
    /// One for each column; `None` where the experiment has no such cell.
    pub(super) entries: Vec<Option<Entry>>,
}

/// One cell.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    /// The cell's id.
    pub(super) id: String,
    /// The median, to sort by.
    pub(super) median: Option<f64>,
    /// The median as shown.
    pub(super) shown: String,
    /// `low - high`.
    pub(super) interval: String,
    /// `95 % CI` or `range`.
    pub(super) interval_kind: &'static str,
    /// How many values.
    pub(super) n: usize,
    /// The ratio to the panel's best, 0 to 1.
    pub(super) share: f64,
    /// `ok`, `mixed`, `failed` or `absent`.
    pub(super) state: &'static str,
    /// What became of it, where not all is well.
    pub(super) trouble: String,
    /// Why, in the database's words.
    pub(super) reason: String,
    /// `partial`, `client-bound`, ...
    pub(super) flags: String,
}

/// The panels of one metric.
pub(super) fn panels(cells: &Cells<'_>, metric: Metric<'_>) -> Vec<Panel> {
    cells.tiers().into_iter().map(|tier| panel(cells, metric, tier)).collect()
}

fn panel(cells: &Cells<'_>, metric: Metric<'_>, tier: &str) -> Panel {
    let shown: Vec<&CellFindings> = cells.first().filter(|cell| cell.durability == tier).collect();
    let column_axis = column_axis(cells, &shown);
    let row_axes: Vec<&str> =
        cells.varying.iter().copied().filter(|axis| Some(*axis) != column_axis).collect();
    let medians = || shown.iter().filter_map(|cell| Some(cell.metrics.get(metric.name)?.median));
    let best = metric.best(medians());
    let (scale, title) = metric.scale(medians().fold(f64::INFINITY, f64::min));
    let mut panel = Panel {
        title,
        tier: promise(tier).to_owned(),
        row_header: row_axes.join(" \u{b7} "),
        column_header: column_axis.unwrap_or_default().to_owned(),
        columns: Vec::new(),
        rows: Vec::new(),
    };
    for cell in &shown {
        let column = column_axis
            .map_or_else(|| metric.unit(), |axis| cell.cell.get(axis).unwrap_or("-").to_owned());
        let label = cells.label_on(&cell.cell, &row_axes);
        let column = place(&mut panel.columns, |one| *one == column, || column.clone());
        let row = place(
            &mut panel.rows,
            |one| one.label == label,
            || Row { label: label.clone(), entries: Vec::new() },
        );
        let entries = &mut panel.rows[row].entries;
        if entries.len() <= column {
            entries.resize_with(column + 1, || None);
        }
        entries[column] = Some(entry(cell, metric, best, scale));
    }
    sort_columns(&mut panel);
    if panel.columns.len() > COLUMNS_MAX && panel.rows.len() < panel.columns.len() {
        panel = turned(panel);
    }
    panel
}

/// A sweep reads best along a line; so do servers and numbers of workers.
fn column_axis<'a>(cells: &Cells<'a>, shown: &[&CellFindings]) -> Option<&'a str> {
    if cells.varying.len() < 2 {
        return None;
    }
    let differs = |axis: &&str| {
        let mut values = shown.iter().map(|cell| cell.cell.get(axis));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let sweep = cells.experiment.and_then(|one| one.sweep.as_deref());
    let candidates = sweep.into_iter().chain(["server", "workers"]);
    let named = candidates
        .filter_map(|name| cells.varying.iter().copied().find(|axis| *axis == name))
        .find(differs);
    named.or_else(|| cells.varying.iter().rev().copied().find(differs))
}

fn place<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    all.iter().position(is).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    })
}

/// Numbers in their order; whatever else as it came.
fn sort_columns(panel: &mut Panel) {
    let width = panel.columns.len();
    let mut order: Vec<usize> = (0..width).collect();
    let number = |index: &usize| panel.columns[*index].parse::<f64>().unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|a, b| number(a).total_cmp(&number(b)));
    panel.columns = order.iter().map(|index| panel.columns[*index].clone()).collect();
    for row in &mut panel.rows {
        row.entries.resize_with(width, || None);
        let mut sorted = Vec::with_capacity(width);
        for index in &order {
            sorted.push(row.entries[*index].take());
        }
        row.entries = sorted;
    }
}

fn turned(panel: Panel) -> Panel {
    let mut rows: Vec<Row> = panel
        .columns
        .into_iter()
        .map(|label| Row { label, entries: Vec::with_capacity(panel.rows.len()) })
        .collect();
    let columns = panel.rows.iter().map(|row| row.label.clone()).collect();
    for row in panel.rows {
        for (column, entry) in row.entries.into_iter().enumerate() {
            rows[column].entries.push(entry);
        }
    }
    Panel {
        title: panel.title,
        tier: panel.tier,
        row_header: panel.column_header,
        column_header: panel.row_header,
        columns,
        rows,
    }
}

fn entry(cell: &CellFindings, metric: Metric<'_>, best: Option<f64>, scale: f64) -> Entry {
    let summary = cell.metrics.get(metric.name);
    let trouble = trouble(cell);
    let state = match (summary, &trouble) {
        (Some(_), None) => "ok",
        (Some(_), Some(_)) => "mixed",
        (None, Some(_)) => "failed",
        (None, None) => "absent",
    };
    let share = match (summary, best) {
        (Some(summary), Some(best)) => metric.share(summary.median, best),
        _ => 0.0,
    };
    Entry {
        id: cell.cell.id.clone(),
        median: summary.map(|summary| summary.median),
        shown: summary.map(|summary| significant(summary.median / scale)).unwrap_or_default(),
        interval: summary
            .map(|summary| {
                let (low, high) =
                    (significant(summary.low / scale), significant(summary.high / scale));
                if low == high { low } else { format!("{low} \u{2013} {high}") }
            })
            .unwrap_or_default(),
        interval_kind: summary.map_or("", |summary| kind(summary.interval)),
        n: summary.map_or(0, |summary| summary.values.len()),
        share,
        state,
        trouble: trouble.unwrap_or_default(),
        reason: reason(cell),
        flags: cell.flags.join(", "),
    }
}

/// What an interval is called. Fewer than six values have none that deserves the name.
pub(super) fn kind(interval: Interval) -> &'static str {
    match interval {
        Interval::Range => "range",
        Interval::Confidence => "95 % CI",
    }
}
