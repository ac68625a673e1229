//! What a row costs: processors, bytes written, bytes kept.

use serde_json::{Value as Json, json};

use crate::bench::sample::{PhaseSample, Sample};

use super::super::cells::Cells;
use super::super::number::{median, significant};
use super::{Csv, Figure, Plot, plain, rows_height, rows_layout};

/// What can be told of: CPU time, write amplification, space.
pub(super) fn cost(cells: &Cells<'_>) -> Vec<Figure> {
    [cpu(cells), written(cells), space(cells)].into_iter().flatten().collect()
}

/// One kind of cost: its name and how a sample tells it.
struct Part<'a> {
    name: String,
    color: &'static str,
    hatched: bool,
    of: Box<dyn Fn(&Sample) -> Option<f64> + 'a>,
}

/// Of the phase that the first metric is about.
fn of_phase<'a>(
    cells: &Cells<'a>,
    tell: impl Fn(&PhaseSample) -> Option<f64> + 'a,
) -> Box<dyn Fn(&Sample) -> Option<f64> + 'a> {
    let id = cells.metric.phase;
    Box::new(move |sample| tell(sample.phases.iter().find(|phase| phase.id == id)?))
}

fn per(number: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| number as f64 / of as f64)
}

fn cpu(cells: &Cells<'_>) -> Option<Figure> {
    let client = of_phase(cells, |phase| per(phase.resources.client_cpu_us, work(phase)));
    let server = of_phase(cells, |phase| per(phase.resources.server_cpu_us?, work(phase)));
    let parts = [
        Part { name: "client".to_owned(), color: "var(--c1)", hatched: false, of: client },
        Part { name: "server".to_owned(), color: "var(--c5)", hatched: true, of: server },
    ];
    bars(cells, "cpu", "CPU time", "us of CPU time per row or request", &parts)
}

/// Rows; for phases that have none, requests.
fn work(phase: &PhaseSample) -> u64 {
    if phase.rows > 0 { phase.rows } else { phase.requests }
}

fn written(cells: &Cells<'_>) -> Option<Figure> {
    let of = of_phase(cells, |phase| {
        per(phase.resources.write_bytes, phase.user_bytes)
            .filter(|amplification| *amplification > 0.0)
    });
    let part = Part { name: "written".to_owned(), color: "var(--c3)", hatched: false, of };
    bars(cells, "written", "Write amplification", "bytes written per byte of data as text", &[part])
}

fn space(cells: &Cells<'_>) -> Option<Figure> {
    let experiment = cells.experiment?;
    let id = &experiment.phase.iter().rev().find(|phase| phase.size.is_some())?.id;
    let stored = |sample: &Sample| sample.phases.iter().find(|phase| phase.id == *id)?.bytes;
    let user = |sample: &Sample| sample.phases.iter().map(|phase| phase.user_bytes).max();
    let of = Box::new(move |sample: &Sample| per(stored(sample)?, user(sample)?));
    let part = Part { name: "stored".to_owned(), color: "var(--c4)", hatched: false, of };
    bars(cells, "space", "Space", "bytes stored per byte of data as text", &[part])
}

fn bars(
    cells: &Cells<'_>,
    id: &str,
    title: &str,
    unit: &str,
    parts: &[Part<'_>],
) -> Option<Figure> {
    let ranked = cells.ranked(cells.metric);
    let labels: Vec<String> = ranked.iter().map(|(cell, _)| cells.label(&cell.cell)).collect();
    let mut csv = Csv::new(&["cell", "label", "part", unit]);
    let mut data: Vec<Json> = Vec::new();
    for part in parts {
        let (mut x, mut y, mut text) = (vec![], vec![], vec![]);
        for (row, (cell, _)) in ranked.iter().enumerate() {
            let values = cells.samples(&cell.cell.id).iter().filter_map(|sample| (part.of)(sample));
            let Some(value) = median(values.collect()) else { continue };
            x.push(value);
            y.push(row);
            text.push(format!("{}<br>{}: {}", plain(&labels[row]), part.name, significant(value)));
            csv.rows.push(vec![
                json!(cell.cell.id),
                json!(labels[row]),
                json!(part.name),
                json!(value),
            ]);
        }
        if x.is_empty() {
            continue;
        }
        let mut marker = json!({"color": part.color});
        if part.hatched {
            marker["pattern"] = json!({"shape": "\\", "size": 6, "solidity": 0.25, "fillmode": "overlay", "fgcolor": "var(--page)"});
        }
        data.push(json!({
            "type": "bar", "orientation": "h", "x": x, "y": y, "text": text, "textposition": "none", "hoverinfo": "text",
            "name": part.name, "marker": marker, "width": 0.62,
        }));
    }
    if data.is_empty() {
        return None;
    }
    let legend = data.len() > 1;
    let mut layout = rows_layout(&labels, unit, json!({"rangemode": "tozero", "tickformat": "~g"}));
    layout["barmode"] = json!("stack");
    layout["showlegend"] = json!(legend);
    Some(Figure {
        id: format!("{}-{id}", cells.id()),
        title: title.to_owned(),
        note: match id {
            "cpu" => "Medians. On one machine client and server share the processors.".to_owned(),
            "written" => {
                "Medians of what the workers and the server's processes wrote to storage; data is counted as text."
                    .to_owned()
            }
            _ => "Medians of the table's size after the load; data is counted as text.".to_owned(),
        },
        plots: vec![Plot {
            title: String::new(),
            height: rows_height(labels.len(), legend),
            data,
            layout,
        }],
        csv,
    })
}
