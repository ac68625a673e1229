//! The report as Markdown, for a pull request. ASCII, as far as names from data are.

use std::fmt::Write as _;

use super::cells::{Cells, reason};
use super::matrix::{self, Entry, Panel};
use super::metric::Metric;
use super::number::bytes;
use super::{Input, facts};
use inrush_core::wording::counted;

/// All of it.
pub(super) fn markdown(run: &Input<'_>) -> String {
    let mut out = String::new();
    head(&mut out, run);
    for cells in Cells::of_run(run) {
        experiment(&mut out, &cells);
    }
    references(&mut out, run);
    claims(&mut out, run);
    method(&mut out, run);
    out
}

fn head(out: &mut String, run: &Input<'_>) {
    let _ = writeln!(out, "# {}\n", text(&run.suite.title));
    for sentence in &run.findings.verdict {
        let _ = writeln!(out, "- {}", prose(sentence));
    }
    if !run.findings.verdict.is_empty() {
        out.push('\n');
    }
    for warning in facts::warnings(run) {
        let _ = writeln!(out, "> **Warning:** {}\n", prose(&warning));
    }
    let noise: Vec<String> =
        facts::noise(run).into_iter().map(|(id, noise)| format!("{} {noise}", text(&id))).collect();
    if !noise.is_empty() {
        let _ = writeln!(
            out,
            "Noise floor (two measurements of the same cell): {}.\n",
            noise.join(", ")
        );
    }
    let environment = run.environment;
    let mut machine = vec![
        environment.cpu.clone(),
        counted(environment.processors as u64, "processor"),
        bytes(environment.memory_bytes),
    ];
    for name in ["os", "kernel", "filesystem", "disk model"] {
        machine.extend(environment.facts.get(name).cloned());
    }
    let _ = writeln!(out, "Machine: {}.\n", text(&machine.join(", ")));
    let summary: Vec<String> = facts::summary(run)
        .iter()
        .map(|(name, value)| format!("{name}: {}", text(value)))
        .collect();
    let _ = writeln!(out, "{}.\n", summary.join("; "));
}

fn experiment(out: &mut String, cells: &Cells<'_>) {
    let title = cells.experiment.map_or(cells.id(), |one| one.title.as_str());
    let _ = writeln!(out, "## {}\n", text(title));
    if let Some(one) = cells.experiment.filter(|one| !one.question.is_empty()) {
        let _ = writeln!(out, "{}\n", text(&one.question));
    }
    let constant: Vec<String> =
        cells.constant.iter().map(|(axis, value)| text(&format!("{axis}={value}"))).collect();
    if !constant.is_empty() {
        let _ = writeln!(out, "All cells: {}.\n", constant.join(", "));
    }
    for name in std::iter::once(cells.metric.name).chain(cells.further_metrics()) {
        let metric = Metric::of(name);
        for panel in matrix::panels(cells, metric) {
            let _ = writeln!(out, "**{}** - {}\n", text(&panel.title), text(&panel.tier));
            table(out, &panel);
        }
    }
    reasons(out, cells);
}

fn table(out: &mut String, panel: &Panel) {
    let column = |name: &String| match panel.column_header.as_str() {
        "" => text(name),
        axis => text(&format!("{axis}={name}")),
    };
    let columns: Vec<String> = panel.columns.iter().map(column).collect();
    let _ = writeln!(out, "| {} | {} |", text(&panel.row_header), columns.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(columns.len()));
    for row in &panel.rows {
        let entries: Vec<String> =
            row.entries.iter().map(|one| one.as_ref().map(entry).unwrap_or_default()).collect();
        let _ = writeln!(out, "| {} | {} |", text(&row.label), entries.join(" | "));
    }
    out.push('\n');
}

/// Why cells have no figure, or fewer than others: those with the same reason together.
fn reasons(out: &mut String, cells: &Cells<'_>) {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for cell in cells.first() {
        let reason = reason(cell);
        match reasons.iter_mut().find(|(one, _)| *one == reason) {
            _ if reason.is_empty() => {}
            Some((_, ids)) => ids.push(&cell.cell.id),
            None => reasons.push((reason, vec![&cell.cell.id])),
        }
    }
    for (reason, ids) in &reasons {
        let _ = writeln!(out, "- {}: {}", ids.join(", "), text(reason));
    }
    if !reasons.is_empty() {
        out.push('\n');
    }
}

fn entry(entry: &Entry) -> String {
    let mut words = Vec::new();
    if entry.median.is_some() {
        let interval = text(&entry.interval);
        words.push(format!(
            "**{}** ({interval}; {}, n={})",
            entry.shown, entry.interval_kind, entry.n
        ));
    }
    if !entry.trouble.is_empty() {
        words.push(format!("{} ({})", text(&entry.trouble), entry.id));
    }
    if !entry.flags.is_empty() {
        words.push(format!("[{}]", text(&entry.flags)));
    }
    words.join(" ")
}

fn references(out: &mut String, run: &Input<'_>) {
    let references = facts::references(run);
    if references.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Published figures\n");
    if let Some(source) = &run.suite.source {
        let _ = writeln!(
            out,
            "{} ({}), {}. Measured on {}, with {}.\n",
            text(&source.title),
            text(&source.date),
            text(&source.url),
            text(&source.machine),
            text(&source.software)
        );
    }
    for reference in &references {
        let server = if reference.server.is_empty() {
            String::new()
        } else {
            format!(" ({})", text(&reference.server))
        };
        let _ = writeln!(out, "### {}{server}\n", text(&reference.title));
        let _ = writeln!(
            out,
            "Each side is divided by its own baseline; only the shapes can be compared.\n"
        );
        let _ = writeln!(out, "| cell | as published | this run |\n|---|---:|---:|");
        for row in &reference.rows {
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                text(&row.label),
                row.published_relative,
                if row.ours_relative.is_empty() { "-" } else { &row.ours_relative }
            );
        }
        out.push('\n');
        if !reference.correlation.is_empty() {
            let _ = write!(out, "Rank correlation {}. ", reference.correlation);
        }
        if !reference.same_order.is_empty() {
            let _ = write!(out, "Pairs in the same order: {}.", reference.same_order);
        }
        out.push_str("\n\n");
        if reference.absolute {
            let _ = writeln!(
                out,
                "As published: different machine, year and software; not comparable.\n\n| cell | {} |\n|---|---:|",
                text(&reference.unit)
            );
            for row in &reference.rows {
                let _ = writeln!(out, "| {} | {} |", text(&row.label), row.published);
            }
            out.push('\n');
        }
    }
}

fn claims(out: &mut String, run: &Input<'_>) {
    let claims = facts::claims(run);
    if claims.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "## Claims\n\n| claim | claimed | measured | verdict | detail |\n|---|---|---|---|---|"
    );
    for claim in claims {
        let server = if claim.server.is_empty() {
            String::new()
        } else {
            format!(" ({})", text(&claim.server))
        };
        let measured = match claim.measured.as_str() {
            "" => "-".to_owned(),
            measured => format!("{measured} ({})", text(&claim.interval)),
        };
        let _ = writeln!(
            out,
            "| {}{server} | {} | {measured} | **{}** | {} |",
            text(&claim.text),
            text(&claim.claimed),
            claim.verdict,
            prose(&claim.detail)
        );
    }
    out.push('\n');
}

fn method(out: &mut String, run: &Input<'_>) {
    let _ = writeln!(out, "## Method\n");
    for (name, value) in facts::procedure(run) {
        if name == "to repeat" {
            continue;
        }
        let _ = writeln!(out, "- {name}: {}", text(&value));
    }
    for (name, rows, hash) in facts::datasets(run) {
        let _ = writeln!(out, "- data {}: {rows} rows, xxh3 {}", text(&name), text(&hash));
    }
    if let Some(source) = run.suite.source.as_ref().filter(|source| !source.deviations.is_empty()) {
        let _ = writeln!(out, "\nOurs differs from the study:\n");
        for deviation in &source.deviations {
            let _ = writeln!(out, "- {}", text(deviation));
        }
    }
    let repeat = facts::procedure(run).into_iter().find(|(name, _)| name == "to repeat");
    if let Some((_, command)) = repeat {
        // Longer than any run of backticks in it.
        let fence = "`".repeat(longest_run(&command, '`').max(2) + 1);
        let _ = writeln!(out, "\nTo repeat it:\n\n{fence}sh\n{command}\n{fence}");
    }
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for c in text.chars() {
        current = if c == wanted { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

/// A sentence of ours: what stands in backticks stays code.
fn prose(words: &str) -> String {
    let parts: Vec<&str> = words.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(words);
    }
    let shown = parts.iter().enumerate().map(|(index, part)| match index % 2 {
        1 if !part.contains('|') => format!("`{}`", part.replace(char::is_control, " ")),
        _ => text(part),
    });
    shown.collect()
}

/// Words of data as they are: no markup, no line of their own. Our own dashes and dots become ASCII.
fn text(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\u{2013}' => out.push('-'),
            '\u{b7}' => out.push('/'),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_no_markup() {
        assert_eq!(text("a|b*c_d`e\nf<g>&"), "a\\|b\\*c\\_d\\`e f&lt;g&gt;&amp;");
        assert_eq!(text("1 \u{2013} 2 \u{b7} x"), "1 - 2 / x");
        assert_eq!(prose("`a_b` c_d"), "`a_b` c\\_d");
        assert_eq!(prose("a`b_c"), "a\\`b\\_c");
        assert_eq!(longest_run("a``b```c", '`'), 3);
    }
}
