//! Ratios with their intervals, one below the other, and what is noise.

use serde_json::{Value as Json, json};

use super::{Csv, Figure, Plot, log_axis, plain, rows_height, rows_layout};

/// Labels, groups, and low, ratio and high of each; `noise` is a share.
pub(in crate::report) fn forest(
    rows: Vec<(&str, &str, [f64; 3])>,
    noise: f64,
    csv: Vec<Vec<Json>>,
) -> Figure {
    let labels: Vec<String> = rows.iter().map(|(label, ..)| (*label).to_owned()).collect();
    let mut groups: Vec<&str> = Vec::new();
    for (_, group, _) in &rows {
        if !groups.contains(group) {
            groups.push(group);
        }
    }
    let mut data = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let of = rows.iter().enumerate().filter(|(_, (_, own, _))| own == group);
        let (mut ends, mut ends_y, mut x, mut y, mut text) =
            (vec![], vec![], vec![], vec![], vec![]);
        for (row, (label, _, [low, ratio, high])) in of {
            ends.extend([json!(low), json!(high), json!(null)]);
            ends_y.extend([json!(row), json!(row), json!(null)]);
            x.push(*ratio);
            y.push(row);
            text.push(format!("<b>{}</b><br>{ratio:.2}, {low:.2} to {high:.2}", plain(label)));
        }
        let style = super::style(number);
        data.push(json!({
            "type": "scatter", "mode": "lines", "x": ends, "y": ends_y, "hoverinfo": "skip", "showlegend": false,
            "legendgroup": group, "line": {"color": style.band, "width": 12},
        }));
        data.push(json!({
            "type": "scatter", "mode": "markers", "x": x, "y": y, "text": text, "hoverinfo": "text",
            "name": plain(group), "legendgroup": group, "showlegend": groups.len() > 1,
            "marker": {"symbol": style.symbol, "size": 9, "color": style.color},
        }));
    }
    let values = rows.iter().flat_map(|(_, _, values)| *values);
    let mut layout = rows_layout(&labels, "times the default", log_axis(values, ".2~f"));
    layout["shapes"] = json!([{
        "type": "rect", "xref": "x", "yref": "paper", "x0": 1.0 / (1.0 + noise), "x1": 1.0 + noise, "y0": 0, "y1": 1,
        "fillcolor": "rgba(128,128,128,0.25)", "line": {"width": 0}, "layer": "below",
    }]);
    let mut table = Csv::new(&[
        "way to load",
        "measured in",
        "times the default",
        "low",
        "high",
        "pairs",
        "rows a second",
    ]);
    table.rows = csv;
    Figure {
        id: "ratio".to_owned(),
        title: "Times the default".to_owned(),
        note: "The median of the pairs' ratios, with its interval. The grey band is the noise."
            .to_owned(),
        companions: false,
        plots: vec![Plot {
            title: String::new(),
            height: rows_height(labels.len(), groups.len() > 1),
            data,
            layout,
        }],
        csv: table,
    }
}
