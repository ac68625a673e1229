//! Where a sample's time goes, phase by phase.

use serde_json::json;

use crate::stats::median;

use super::super::cells::Cells;
use super::super::number::significant;
use super::{Csv, Figure, Plot, plain, rows_height, rows_layout, style};

/// Median seconds of every phase, stacked.
pub(super) fn phases(cells: &Cells<'_>) -> Option<Figure> {
    let ranked = cells.ranked(cells.metric);
    let mut names: Vec<(&str, bool)> = Vec::new();
    for (cell, _) in &ranked {
        for phase in cells.samples(&cell.cell.id).iter().flat_map(|sample| &sample.phases) {
            if !names.iter().any(|(name, _)| *name == phase.id) && phase.durable_ns > 0 {
                names.push((&phase.id, phase.timed));
            }
        }
    }
    if names.len() < 2 {
        return None;
    }
    let labels: Vec<String> = ranked.iter().map(|(cell, _)| cells.label(&cell.cell)).collect();
    let mut csv = Csv::new(&["cell", "label", "phase", "timed", "median_s"]);
    let mut data = Vec::new();
    for (n, (name, timed)) in names.iter().enumerate() {
        let (mut x, mut y, mut text) = (vec![], vec![], vec![]);
        for (row, (cell, _)) in ranked.iter().enumerate() {
            let seconds = cells
                .samples(&cell.cell.id)
                .iter()
                .filter_map(|sample| sample.phases.iter().find(|phase| phase.id == *name))
                .map(|phase| phase.durable_ns.max(phase.ack_ns) as f64 / 1e9);
            let Some(seconds) = median(&seconds.collect::<Vec<f64>>()) else { continue };
            x.push(seconds);
            y.push(row);
            text.push(format!(
                "{}<br>{}: {} s",
                plain(&labels[row]),
                plain(name),
                significant(seconds)
            ));
            csv.rows.push(vec![
                json!(cell.cell.id),
                json!(labels[row]),
                json!(name),
                json!(timed),
                json!(seconds),
            ]);
        }
        let style = style(n);
        let marker = if *timed {
            json!({"color": style.color})
        } else {
            // Hatched: its time is no result.
            json!({"color": style.band, "pattern": {"shape": "/", "size": 6, "solidity": 0.3, "fgcolor": style.color, "bgcolor": style.band}})
        };
        let words = if *timed { "timed" } else { "not timed" };
        data.push(json!({
            "type": "bar", "orientation": "h", "x": x, "y": y, "text": text, "textposition": "none", "hoverinfo": "text",
            "name": format!("{} ({words})", plain(name)), "marker": marker, "width": 0.62,
        }));
    }
    let mut layout = rows_layout(&labels, "median s", json!({"rangemode": "tozero"}));
    layout["barmode"] = json!("stack");
    Some(Figure {
        id: format!("{}-phases", cells.id()),
        title: "Where the time goes".to_owned(),
        note: "The median of every phase. Solid phases are results; hatched ones are preparation and checks.".to_owned(),
        companions: false,
        plots: vec![Plot { title: String::new(), height: rows_height(labels.len(), true), data, layout }],
        csv,
    })
}
