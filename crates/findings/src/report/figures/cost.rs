//! What a row costs: processors, bytes written, bytes kept.

use serde_json::{Value as Json, json};

use crate::sample::{PhaseSample, Sample};
use crate::stats::median;

use super::super::cells::Cells;
use super::super::number::significant;
use super::{Csv, Figure, Plot, plain, rows_height, rows_layout};

/// What can be told of: CPU time, write amplification, space.
pub(super) fn cost(cells: &Cells<'_>) -> Option<Figure> {
    let mut csv = Csv::new(&["cell", "label", "cost", "part", "median"]);
    let plots: Vec<Plot> = [cpu(cells, &mut csv), written(cells, &mut csv), space(cells, &mut csv)]
        .into_iter()
        .flatten()
        .collect();
    (!plots.is_empty()).then(|| Figure {
        id: format!("{}-cost", cells.id()),
        title: "What it costs".to_owned(),
        note: "Medians; bytes of data are counted as text. What is written is what the workers and the server's processes sent to storage. On one machine client and server share the processors."
            .to_owned(),
        companions: true,
        plots,
        csv,
    })
}

/// What a sample tells of a cost.
type Tell<'a> = Box<dyn Fn(&Sample) -> Option<f64> + 'a>;

/// One kind of cost: its name and how a sample tells it.
struct Part<'a> {
    name: String,
    color: &'static str,
    hatched: bool,
    of: Tell<'a>,
}

/// Of the phase that the first metric is about.
fn of_phase<'a>(cells: &Cells<'a>, tell: impl Fn(&PhaseSample) -> Option<f64> + 'a) -> Tell<'a> {
    let id = cells.metric.phase;
    Box::new(move |sample| tell(sample.phases.iter().find(|phase| phase.id == id)?))
}

fn per(number: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| number as f64 / of as f64)
}

fn cpu(cells: &Cells<'_>, csv: &mut Csv) -> Option<Plot> {
    let client = of_phase(cells, |phase| per(phase.resources.client_cpu_us, work(phase)));
    let server = of_phase(cells, |phase| per(phase.resources.server_cpu_us?, work(phase)));
    let parts = [
        Part { name: "client".to_owned(), color: "var(--c1)", hatched: false, of: client },
        Part { name: "server".to_owned(), color: "var(--c5)", hatched: true, of: server },
    ];
    bars(cells, "CPU time (server hatched)", "us per row or request", &parts, csv)
}

/// Rows; for phases that have none, requests.
fn work(phase: &PhaseSample) -> u64 {
    if phase.rows > 0 { phase.rows } else { phase.requests }
}

fn written(cells: &Cells<'_>, csv: &mut Csv) -> Option<Plot> {
    let of = of_phase(cells, |phase| {
        per(phase.resources.write_bytes, phase.user_bytes)
            .filter(|amplification| *amplification > 0.0)
    });
    let part = Part { name: "written".to_owned(), color: "var(--c3)", hatched: false, of };
    bars(cells, "Written", "bytes per byte of data", &[part], csv)
}

fn space(cells: &Cells<'_>, csv: &mut Csv) -> Option<Plot> {
    let experiment = cells.experiment?;
    let id = &experiment.phase.iter().rev().find(|phase| phase.size.is_some())?.id;
    let stored = |sample: &Sample| sample.phases.iter().find(|phase| phase.id == *id)?.bytes;
    let user = |sample: &Sample| sample.phases.iter().map(|phase| phase.user_bytes).max();
    let of = Box::new(move |sample: &Sample| per(stored(sample)?, user(sample)?));
    let part = Part { name: "stored".to_owned(), color: "var(--c4)", hatched: false, of };
    bars(cells, "Stored", "bytes per byte of data", &[part], csv)
}

fn bars(
    cells: &Cells<'_>,
    title: &str,
    unit: &str,
    parts: &[Part<'_>],
    csv: &mut Csv,
) -> Option<Plot> {
    let ranked = cells.ranked(cells.metric);
    let labels: Vec<String> = ranked.iter().map(|(cell, _)| cells.label(&cell.cell)).collect();
    let mut data: Vec<Json> = Vec::new();
    for part in parts {
        let (mut x, mut y, mut text) = (vec![], vec![], vec![]);
        for (row, (cell, _)) in ranked.iter().enumerate() {
            let values = cells.samples(&cell.cell.id).iter().filter_map(|sample| (part.of)(sample));
            let Some(value) = median(&values.collect::<Vec<f64>>()) else { continue };
            x.push(value);
            y.push(row);
            text.push(format!("{}<br>{}: {}", plain(&labels[row]), part.name, significant(value)));
            csv.rows.push(vec![
                json!(cell.cell.id),
                json!(labels[row]),
                json!(format!("{title}, {unit}")),
                json!(part.name),
                json!(value),
            ]);
        }
        if x.is_empty() {
            continue;
        }
        let mut marker = json!({"color": part.color});
        if part.hatched {
            marker["pattern"] = json!({
                "shape": "\\", "size": 6, "solidity": 0.25, "fillmode": "overlay", "fgcolor": "var(--page)",
            });
        }
        data.push(json!({
            "type": "bar", "orientation": "h", "x": x, "y": y, "text": text, "textposition": "none", "hoverinfo": "text",
            "name": part.name, "marker": marker, "width": 0.58,
        }));
    }
    if data.is_empty() {
        return None;
    }
    let mut layout =
        rows_layout(&labels, unit, json!({"rangemode": "tozero", "tickformat": "~g", "nticks": 5}));
    layout["barmode"] = json!("stack");
    // A legend would move the rows away from their companions'.
    layout["showlegend"] = json!(false);
    Some(Plot { title: title.to_owned(), height: rows_height(labels.len(), false), data, layout })
}
