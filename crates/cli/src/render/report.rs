//! The report for people.

use std::fmt::Write as _;

use inrush::Report;
use inrush::plan::{Action, Durability, Verify};

use super::count;

/// Several lines: what is where now, how fast, and what to know.
pub(crate) fn report(report: &Report, verbose: bool) -> String {
    let mut out = String::new();
    let plan = &report.plan;
    let into = match plan.choice.action {
        Action::Create => "new table",
        Action::Replace => "table made anew:",
        Action::Truncate => "emptied table",
        Action::Append => "table",
    };
    let _ = writeln!(
        out,
        "{} rows loaded into {into} {} in {}",
        count(report.rows_loaded),
        plan.table,
        plan.location.shown
    );
    if report.rows_rejected > 0 {
        let files: Vec<String> =
            report.rejects.iter().map(|path| path.display().to_string()).collect();
        let s = if report.rows_rejected == 1 { "" } else { "s" };
        let _ = writeln!(
            out,
            "{} bad row{s} put aside in {}",
            count(report.rows_rejected),
            files.join(", ")
        );
        for path in &report.rejects {
            let _ = writeln!(
                out,
                "  reasons in {}",
                inrush::pipe::reject::sidecar_path(path).display()
            );
        }
    }
    if report.rows_skipped > 0 {
        let _ = writeln!(
            out,
            "{} rows skipped because their key was there",
            count(report.rows_skipped)
        );
    }
    let _ = writeln!(
        out,
        "  {} of {} in {}: {} rows/s, {:.0} MB/s, by {}",
        bytes(report.bytes_read),
        plan.source.grammar.form(),
        seconds(report.seconds.total),
        count(report.rows_per_second as u64),
        report.mb_per_second,
        plan.choice.strategy.id()
    );
    let verified = match report.verify.method {
        Verify::Count => "row count verified",
        Verify::Checksum => "row count and column checksums verified",
        Verify::None => "not verified",
    };
    let durable = match plan.request.durability {
        Durability::Durable => "safe on disk",
        Durability::Process => "safe from a crash of this process",
        Durability::None => "no promise about crashes",
    };
    let _ = writeln!(out, "  {verified}; {durable}");
    for warning in &report.warnings {
        let _ = writeln!(out, "  note: {warning}");
    }
    if verbose {
        for stage in &report.stages {
            let _ = writeln!(
                out,
                "  {:<7} busy {:.3} s, starved {:.3} s, blocked {:.3} s",
                stage.name, stage.busy, stage.starved, stage.blocked
            );
        }
        for (name, value) in &report.durability_read_back {
            let _ = writeln!(out, "  {name} = {value}");
        }
    }
    out
}

/// A size in units of 1,000.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0)
    }
}
