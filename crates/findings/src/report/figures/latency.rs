//! How long single operations took, up to the slowest.

use std::collections::BTreeSet;

use serde_json::json;

use crate::sample::Latency;
use crate::stats::median;

use super::super::cells::Cells;
use super::super::number::microseconds;
use super::{Csv, Figure, Plot, in_plots, lines_layout, log_axis, plain, style};

/// One figure for each timed phase and kind of operation.
pub(super) fn latency(cells: &Cells<'_>) -> Vec<Figure> {
    let mut kinds: BTreeSet<(&str, &str)> = BTreeSet::new();
    for cell in cells.first() {
        for phase in cells.samples(&cell.cell.id).iter().flat_map(|sample| &sample.phases) {
            if phase.timed {
                kinds.extend(phase.latency.keys().map(|kind| (phase.id.as_str(), kind.as_str())));
            }
        }
    }
    kinds.into_iter().map(|(phase, kind)| figure(cells, phase, kind)).collect()
}

struct Spectrum {
    id: String,
    label: String,
    group: String,
    latency: Latency,
}

fn figure(cells: &Cells<'_>, phase: &str, kind: &str) -> Figure {
    let mut csv =
        Csv::new(&["cell", "label", "n", "p50_us", "p90_us", "p99_us", "p999_us", "max_us"]);
    let mut all = Vec::new();
    for cell in cells.first() {
        let Some(latency) = middle(cells, &cell.cell.id, phase, kind) else { continue };
        let label = cells.label(&cell.cell);
        csv.rows.push(vec![
            json!(cell.cell.id),
            json!(label),
            json!(latency.n),
            json!(latency.p50_us),
            json!(latency.p90_us),
            json!(latency.p99_us),
            json!(latency.p999_us),
            json!(latency.max_us),
        ]);
        let group = cells.label_on(&cell.cell, &["target", "server"]);
        all.push(Spectrum { id: cell.cell.id.clone(), label, group, latency });
    }
    let plots = in_plots(all, |one| one.group.clone())
        .into_iter()
        .map(|(title, spectra)| plot(title, &spectra))
        .collect();
    let open = cells
        .experiment
        .and_then(|one| one.phase.iter().find(|one| one.id == phase))
        .and_then(|phase| phase.mix.as_ref())
        .is_some_and(|mix| mix.rate.is_some());
    // A closed loop does not ask while it waits: what its percentiles hide has to be said beside them.
    let (title, note) = if open {
        ("response time (open loop)", "From the moment at which an operation was due.")
    } else {
        (
            "service time (closed loop)",
            "The next operation waits for the one before it, so the percentiles say nothing of requests that would have come meanwhile.",
        )
    };
    Figure {
        id: format!("{}-latency-{phase}-{kind}", cells.id()),
        title: format!("Latency of each {kind} in {phase}: {title}"),
        note: format!(
            "{note} Medians over the samples; the last mark of a line is the longest of all."
        ),
        companions: false,
        plots,
        csv,
    }
}

fn plot(title: String, spectra: &[Spectrum]) -> Plot {
    let mut data = Vec::new();
    for (n, spectrum) in spectra.iter().enumerate() {
        let style = style(n);
        let latency = &spectrum.latency;
        let percentiles = [
            (2.0, latency.p50_us, "50 %"),
            (10.0, latency.p90_us, "90 %"),
            (100.0, latency.p99_us, "99 %"),
            (1_000.0, latency.p999_us, "99.9 %"),
        ];
        let last = latency.n as f64;
        let mut points: Vec<(f64, f64, &str)> =
            percentiles.into_iter().filter(|(x, ..)| *x < last).collect();
        points.push((last.max(2.0), latency.max_us, "longest"));
        let text: Vec<String> = points
            .iter()
            .map(|(_, us, name)| {
                format!(
                    "<b>{}</b> ({})<br>{name}: {}",
                    plain(&spectrum.label),
                    spectrum.id,
                    microseconds(*us)
                )
            })
            .collect();
        data.push(json!({
            "type": "scatter", "mode": "lines+markers", "x": points.iter().map(|point| point.0).collect::<Vec<_>>(),
            "y": points.iter().map(|point| point.1 / 1e3).collect::<Vec<_>>(), "text": text, "hoverinfo": "text",
            "name": plain(&spectrum.label), "line": {"color": style.color, "dash": style.dash, "width": 2},
            "marker": {"symbol": style.symbol, "size": 7, "color": style.color},
        }));
    }
    let x = json!({
        "type": "log", "title": {"text": "percentile", "standoff": 8}, "tickvals": [2, 10, 100, 1000, 10000, 100_000],
        "ticktext": ["50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"],
    });
    let shown = spectra.iter().flat_map(|one| [one.latency.p50_us / 1e3, one.latency.max_us / 1e3]);
    let mut y = log_axis(shown, "~g");
    y["title"] = json!({"text": "ms", "standoff": 8});
    Plot { title, height: 360 + 11 * spectra.len(), data, layout: lines_layout(x, y) }
}

/// The medians of the samples' percentiles, and the longest of all.
fn middle(cells: &Cells<'_>, cell: &str, phase: &str, kind: &str) -> Option<Latency> {
    let all: Vec<&Latency> = cells
        .samples(cell)
        .iter()
        .filter_map(|sample| sample.phases.iter().find(|one| one.id == phase))
        .filter_map(|phase| phase.latency.get(kind))
        .collect();
    let of =
        |pick: fn(&Latency) -> f64| median(&all.iter().map(|one| pick(one)).collect::<Vec<f64>>());
    Some(Latency {
        n: all.iter().map(|one| one.n).sum(),
        p50_us: of(|one| one.p50_us)?,
        p90_us: of(|one| one.p90_us)?,
        p99_us: of(|one| one.p99_us)?,
        p999_us: of(|one| one.p999_us)?,
        max_us: all.iter().map(|one| one.max_us).fold(0.0, f64::max),
        mean_us: of(|one| one.mean_us)?,
    })
}
