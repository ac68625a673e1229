//! Every repetition a dot: spread and number are seen, not told.

use serde_json::json;

use super::super::cells::{Cells, TIERS, promise};
use super::super::number::significant;
use super::{Csv, Figure, Plot, hover, log_axis, plain, rows_height, rows_layout};

/// Shapes and colours of the tiers.
const MARKS: [(&str, &str); 3] =
    [("circle", "var(--c1)"), ("diamond", "var(--c2)"), ("square", "var(--c3)")];

/// All values of the first metric.
pub(super) fn strip(cells: &Cells<'_>) -> Option<Figure> {
    let metric = cells.metric;
    let ranked = cells.ranked(metric);
    if ranked.is_empty() {
        return None;
    }
    let labels: Vec<String> = ranked.iter().map(|(cell, _)| cells.label(&cell.cell)).collect();
    let tiers = cells.tiers();
    let mut csv = Csv::new(&["cell", "label", "tier", "block", metric.name, "outlier"]);
    let mut data = Vec::new();
    for tier in &tiers {
        let mark = TIERS.iter().position(|one| one == tier).unwrap_or(2);
        let (symbol, color) = MARKS[mark];
        let band = format!("{}-band)", color.trim_end_matches(')'));
        let (mut x, mut y, mut symbols, mut text) = (vec![], vec![], vec![], vec![]);
        let (mut ends, mut ends_y) = (vec![], vec![]);
        let (mut medians, mut medians_y, mut medians_text) = (vec![], vec![], vec![]);
        for (row, (cell, summary)) in ranked.iter().enumerate() {
            if cell.durability != *tier {
                continue;
            }
            let label = &labels[row];
            let last = summary.values.len().saturating_sub(1).max(1) as f64;
            for (index, value) in summary.values.iter().enumerate() {
                let outlier = summary.outliers.contains(&index);
                let block = summary.blocks.get(index).copied().unwrap_or_default();
                x.push(*value);
                // Later blocks lie lower, so that a drift is seen.
                y.push(row as f64 + 0.36 * (index as f64 / last - 0.5));
                symbols.push(if outlier { format!("{symbol}-open") } else { symbol.to_owned() });
                text.push(format!(
                    "{}<br>block {block}: {} {}",
                    plain(label),
                    significant(*value),
                    metric.unit()
                ));
                csv.rows.push(vec![
                    json!(cell.cell.id),
                    json!(label),
                    json!(tier),
                    json!(block),
                    json!(value),
                    json!(outlier),
                ]);
            }
            ends.extend([json!(summary.low), json!(summary.high), json!(null)]);
            ends_y.extend([json!(row), json!(row), json!(null)]);
            medians.push(summary.median);
            medians_y.push(row);
            medians_text.push(hover(label, metric, summary));
        }
        let several = tiers.len() > 1;
        data.push(json!({
            "type": "scatter", "mode": "lines", "x": ends, "y": ends_y, "hoverinfo": "skip", "showlegend": false,
            "legendgroup": tier, "line": {"color": band, "width": 14},
        }));
        data.push(json!({
            "type": "scatter", "mode": "markers", "x": medians, "y": medians_y, "text": medians_text,
            "hoverinfo": "text", "showlegend": false, "legendgroup": tier,
            "marker": {"symbol": "line-ns", "size": 18, "line": {"width": 2.5, "color": color}},
        }));
        data.push(json!({
            "type": "scatter", "mode": "markers", "x": x, "y": y, "text": text, "hoverinfo": "text",
            "name": promise(tier), "legendgroup": tier, "showlegend": several,
            "marker": {"symbol": symbols, "size": 6.5, "color": color, "opacity": 0.85},
        }));
    }
    let layout = rows_layout(
        &labels,
        &plain(&metric.title()),
        log_axis(
            ranked.iter().flat_map(|(_, one)| one.values.iter().copied()),
            metric.tick_format(),
        ),
    );
    Some(Figure {
        id: format!("{}-strip", cells.id()),
        title: "Every repetition".to_owned(),
        note: "Each mark is one sample; later blocks lie lower. The tick is the median, the bar its interval. Hollow: far from the others."
            .to_owned(),
        companions: false,
        plots: vec![Plot {
            title: String::new(),
            height: rows_height(ranked.len(), tiers.len() > 1),
            data,
            layout,
        }],
        csv,
    })
}
