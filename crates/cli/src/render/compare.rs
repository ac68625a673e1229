//! Two runs of a bench, for people.

use std::fmt::Write as _;

use inrush_bench::finding::{Compared, ComparedCell, Comparison, Interval};
use inrush_bench::record::Manifest;
use inrush_bench::report::significant;

use super::counted;

/// A table for every experiment, and what a reader has to know before and after.
pub(crate) fn comparison(
    runs: [&Manifest; 2],
    found: &Comparison,
    limit: Option<f64>,
    slower: &[String],
) -> String {
    let mut out = String::new();
    if !found.differences.is_empty() {
        let _ = writeln!(out, "NOT COMPARABLE, only ratios mean anything:");
        for difference in &found.differences {
            let _ = writeln!(out, "  {difference}");
        }
        out.push('\n');
    }
    for (name, manifest) in ["A", "B"].iter().zip(runs) {
        let Manifest { run, suite, profile, version, .. } = manifest;
        let _ = writeln!(out, "{name}  {run}  {suite}, {profile}, inrush {version}");
    }
    let mut tables: Vec<(&str, &str)> = Vec::new();
    for cell in &found.cells {
        let table = (cell.experiment.as_str(), cell.metric.as_str());
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for (experiment, metric) in tables {
        let cells = found
            .cells
            .iter()
            .filter(|one| (&*one.experiment, &*one.metric) == (experiment, metric));
        let _ = writeln!(out, "\n{experiment}, {metric}");
        out += &table(cells);
    }
    if !found.failed_in_b.is_empty() {
        let _ = writeln!(out, "\nFAILED in B: {}", found.failed_in_b.join(", "));
    }
    for (name, only) in [("A", &found.only_in_a), ("B", &found.only_in_b)] {
        if !only.is_empty() {
            let _ = writeln!(out, "\nonly {name} has figures of {}", only.join(", "));
        }
    }
    if let Some(limit) = limit {
        let _ = match slower {
            [] => writeln!(out, "\nnothing is seen to be slower by more than {limit} %"),
            _ => writeln!(out, "\nslower by more than {limit} %: {}", slower.join(", ")),
        };
    }
    let untold = found.cells.iter().filter(|cell| cell.untold.is_some()).count() as u64;
    if untold > 0 {
        let _ = writeln!(out, "\nnot judged: {}, see there", counted(untold, "cell"));
    }
    out
}

fn table<'a>(cells: impl Iterator<Item = &'a ComparedCell>) -> String {
    let mut rows =
        vec![["cell", "A", "B", "B is faster by", "from", "to", "", ""].map(str::to_owned)];
    for cell in cells {
        let speed = &cell.speed;
        let kind = match speed.interval {
            Interval::Range => "range",
            Interval::Confidence => "95 % CI",
        };
        let verdict = match cell.verdict {
            Compared::Faster => "faster",
            Compared::Slower => "SLOWER",
            Compared::Indistinguishable => "indistinguishable",
        };
        rows.push([
            cell.label.clone(),
            significant(cell.a),
            significant(cell.b),
            format!("{}x", significant(speed.value)),
            significant(speed.low),
            significant(speed.high),
            format!("{kind}, n={}", speed.n),
            match &cell.untold {
                Some(why) => format!("{verdict}: {why}"),
                None => verdict.to_owned(),
            },
        ]);
    }
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..8).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::from(" ");
        for (column, (text, width)) in row.iter().zip(&widths).enumerate() {
            // Words begin at the left, numbers end at the right.
            let _ = match column {
                0 | 6 | 7 => write!(line, " {text:<width$} "),
                _ => write!(line, " {text:>width$} "),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
