//! What a check found, for people.

use std::fmt::Write as _;

use inrush::check::{Check, CheckedColumn};
use inrush::wording::{bytes, noun};

use super::count;

/// What is longer is cut: a table's columns would be pushed out of sight.
const WIDE: usize = 40;

/// Counts, columns, the table's definition, bad rows.
pub(crate) fn check(check: &Check) -> String {
    let mut out = String::new();
    let rows = |number: u64| format!("{} {}", count(number), noun(number, "row"));
    let _ = writeln!(
        out,
        "{} read from {}: {} good, {} bad",
        rows(check.rows_read),
        check.source.join(", "),
        count(check.rows_good),
        count(check.rows_bad)
    );
    let _ = writeln!(
        out,
        "  {} in {:.2} s: {}/s, nothing was written",
        bytes(check.bytes_read),
        check.seconds,
        bytes((check.mb_per_second * 1e6) as u64)
    );
    let is_new = if check.makes_table { "would be created" } else { "exists: its columns rule" };
    let _ = match &check.target {
        Some(target) => writeln!(out, "table {} in {target} {is_new}", check.table),
        None => writeln!(out, "table {}", check.table),
    };
    out.push('\n');
    out.push_str(&columns(&check.columns));
    if let Some(statement) = &check.create_table {
        let _ = writeln!(out, "\n{statement};");
    }
    if !check.bad_rows.is_empty() {
        let _ = writeln!(out, "\nbad rows");
        let is_only = check.source.len() == 1;
        for bad in &check.bad_rows {
            let file = if is_only { String::new() } else { format!("{}: ", bad.file) };
            let column =
                bad.column.as_ref().map(|column| format!(", column {column}")).unwrap_or_default();
            let _ = writeln!(out, "  {file}{}{column}: {}", bad.at, bad.message);
        }
        let more = check.rows_bad.saturating_sub(check.bad_rows.len() as u64);
        if more > 0 {
            let _ = writeln!(
                out,
                "  and {} more (--json lists them, --rejects FILE writes them to a file)",
                count(more)
            );
        }
    }
    for path in &check.rejects {
        let sidecar = inrush::pipe::reject::sidecar_path(path);
        let _ = writeln!(out, "bad rows are in {}", inrush::path::text(path));
        let _ = writeln!(out, "  reasons in {}", inrush::path::text(&sidecar));
    }
    for warning in &check.warnings {
        let _ = writeln!(out, "note: {warning}");
    }
    out
}

/// One line a column, in columns.
fn columns(columns: &[CheckedColumn]) -> String {
    let head = ["column", "type", "values", "NULLs", "shapes", "most are", "decided by"];
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(columns.iter().map(cells));
    let wide = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let wide: Vec<usize> = (0..head.len()).map(wide).collect();
    let mut out = String::new();
    for line in &lines {
        let mut shown = String::new();
        for (at, cell) in line.iter().enumerate() {
            let pad = " ".repeat(wide[at] - cell.chars().count());
            // Numbers stand under each other by their ends.
            let is_number = (2..5).contains(&at);
            let _ = match is_number {
                true => write!(shown, "{pad}{cell}  "),
                false => write!(shown, "{cell}{pad}  "),
            };
        }
        let _ = writeln!(out, "{}", shown.trim_end());
    }
    out
}

fn cells(column: &CheckedColumn) -> [String; 7] {
    let more = if column.shapes_more { "+" } else { "" };
    let decided = match &column.decided_by {
        Some(decider) => {
            let file = decider.file.as_ref().map(|file| format!("{file}, ")).unwrap_or_default();
            let line = decider.line.map(|line| format!(" ({file}line {line})")).unwrap_or_default();
            format!("{}{line} is not {}", decider.value, decider.is_not)
        }
        None if column.is_declared => "declared".to_owned(),
        None if column.values == 0 => "no value".to_owned(),
        None => "all values".to_owned(),
    };
    let most = column.most_shapes.first().map_or("", |most| most.shape.as_str());
    [
        cut(&column.name),
        cut(&column.declared),
        count(column.values),
        count(column.nulls),
        format!("{}{more}", count(column.shapes as u64)),
        cut(most),
        decided,
    ]
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDE) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
