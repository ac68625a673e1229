//! Published figures and ours, side by side, each in relation to its own baseline.

use serde_json::{Value as Json, json};

use crate::finding::ReferenceFinding;
use crate::suite::{Reference, Source};

use super::super::number::significant;
use super::{Csv, Figure, Plot, log_axis, plain, rows_height, rows_layout};

/// Two plots: as published, and this run.
pub(in super::super) fn references(
    reference: &Reference,
    source: Option<&Source>,
    finding: &ReferenceFinding,
) -> Option<Figure> {
    if finding.pairs.iter().filter(|pair| pair.ours_relative.is_some()).count() < 2 {
        return None;
    }
    let labels: Vec<String> = finding.pairs.iter().map(|pair| pair.label.clone()).collect();
    let published: Vec<Option<f64>> =
        finding.pairs.iter().map(|pair| Some(pair.published_relative)).collect();
    let ours: Vec<Option<f64>> = finding.pairs.iter().map(|pair| pair.ours_relative).collect();
    let ratios = published.iter().chain(&ours).flatten().copied();
    // Ratios may share a range; the absolute figures behind them may not.
    let least = ratios.clone().fold(1.0, f64::min);
    let most = ratios.fold(1.0, f64::max);
    let pad = (most / least).log10() * 0.08 + 0.03;
    let mut axis = log_axis([least, most].into_iter(), "~g");
    axis["range"] = json!([least.log10() - pad, most.log10() + pad]);
    let plot = |title: String, values: &[Option<f64>], color: &str, symbol: &str| {
        let mut layout = rows_layout(&labels, "in relation to the baseline", axis.clone());
        layout["shapes"] = json!([{
            "type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1,
            "line": {"color": "var(--muted)", "width": 1, "dash": "dot"},
        }]);
        layout["showlegend"] = json!(false);
        Plot {
            title,
            height: rows_height(labels.len(), false),
            data: dots(&labels, values, color, symbol),
            layout,
        }
    };
    let when = source.map(|source| format!(" ({})", source.date)).unwrap_or_default();
    let server =
        finding.server.as_deref().map(|server| format!(" on {server}")).unwrap_or_default();
    let mut csv =
        Csv::new(&["label", "published_relative", "ours_relative", "published", "ours", "unit"]);
    for pair in &finding.pairs {
        csv.rows.push(vec![
            json!(pair.label),
            json!(pair.published_relative),
            json!(pair.ours_relative),
            json!(pair.published),
            json!(pair.ours),
            json!(reference.unit),
        ]);
    }
    Some(Figure {
        id: format!("reference-{}-{}", finding.id, finding.server.as_deref().unwrap_or("all")),
        title: format!("{}{server}", reference.title),
        note: "Each side is divided by its own baseline (dotted). Only the shapes can be compared."
            .to_owned(),
        companions: false,
        plots: vec![
            plot(format!("As published{when}"), &published, "var(--muted)", "square-open"),
            plot("This run".to_owned(), &ours, "var(--c1)", "circle"),
        ],
        csv,
    })
}

fn dots(labels: &[String], values: &[Option<f64>], color: &str, symbol: &str) -> Vec<Json> {
    let (mut x, mut y, mut text) = (vec![], vec![], vec![]);
    let (mut stems, mut stems_y) = (vec![], vec![]);
    for (row, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        x.push(*value);
        y.push(row);
        text.push(format!("{}<br>{} of the baseline", plain(&labels[row]), significant(*value)));
        stems.extend([json!(1), json!(value), json!(null)]);
        stems_y.extend([json!(row), json!(row), json!(null)]);
    }
    vec![
        json!({
            "type": "scatter", "mode": "lines", "x": stems, "y": stems_y, "hoverinfo": "skip",
            "line": {"color": color, "width": 1.5},
        }),
        json!({
            "type": "scatter", "mode": "markers", "x": x, "y": y, "text": text, "hoverinfo": "text",
            "marker": {"symbol": symbol, "size": 10, "color": color, "line": {"width": 2, "color": color}},
        }),
    ]
}
