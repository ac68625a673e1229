//! The report for people.

use std::fmt::Write as _;

use inrush::Report;
use inrush::path::text;
use inrush::plan::{Action, Durability, OnConflict, Verify};
use inrush::wording::bytes;

use super::{count, counted};

/// Several lines: what is where now, how fast, and what to know.
pub(crate) fn report(report: &Report, verbose: bool) -> String {
    let mut out = String::new();
    let plan = &report.plan;
    if report.steps.is_some_and(|steps| steps.was_finished) {
        let _ = writeln!(
            out,
            "nothing to do: the load of {} into table {} in {} is finished",
            counted(report.rows_loaded, "row"),
            plan.table,
            plan.location.shown
        );
        add_rejects(&mut out, report);
        return out;
    }
    let into = match plan.choice.action {
        Action::Create => "new table",
        Action::Replace => "table recreated:",
        Action::Truncate => "emptied table",
        Action::Append => "table",
    };
    let rows = counted(report.rows_loaded, "row");
    let _ = match plan.location.is_stdout() {
        true => writeln!(out, "{rows} written to standard output"),
        false => {
            writeln!(out, "{rows} loaded into {into} {} in {}", plan.table, plan.location.shown)
        }
    };
    let updated = match plan.request.on_conflict {
        OnConflict::Update => Some("updated"),
        OnConflict::Replace => Some("replaced"),
        OnConflict::Fail | OnConflict::Skip => None,
    };
    if let (Some(updated), Some(inserted), Some(others)) =
        (updated, report.rows_inserted, report.rows_updated)
    {
        let (inserted, others) = (counted(inserted, "row"), count(others));
        let _ = writeln!(out, "  {inserted} inserted, {others} {updated}");
    }
    add_rejects(&mut out, report);
    if report.rows_skipped > 0 {
        let _ = writeln!(
            out,
            "{} skipped because of a duplicate key",
            counted(report.rows_skipped, "row")
        );
    }
    let _ = writeln!(
        out,
        "  {} of {} in {}: {} rows/s, {}/s, by {}",
        bytes(report.bytes_read),
        plan.source.grammar.form(),
        seconds(report.seconds.total),
        count(report.rows_per_second as u64),
        bytes((report.mb_per_second * 1e6) as u64),
        plan.choice.strategy.id()
    );
    if let Some(steps) = report.steps {
        let _ = writeln!(out, "  in {}", counted(steps.committed, "step"));
        if steps.rows_read_before > 0 {
            let before = counted(steps.rows_read_before, "row");
            let _ = writeln!(out, "  behind {before} that earlier runs had read");
        }
    }
    let on_conflict = plan.request.on_conflict;
    let verified = match report.verify.method {
        // The rows can't be seen.
        _ if !report.verify.ok => "not verified",
        // How many of them are new is not known beforehand.
        Verify::Count if matches!(on_conflict, OnConflict::Update | OnConflict::Replace) => {
            "row count within bounds"
        }
        Verify::Count => "row count verified",
        Verify::Checksum => "row count and column checksums verified",
        Verify::None => "not verified",
    };
    let durable = match plan.request.durability {
        Durability::Durable => "safe on disk",
        Durability::Process => "safe from a crash of this process",
        Durability::None => "no guarantee about crashes",
    };
    if !plan.location.is_stdout() {
        let _ = writeln!(out, "  {verified}; {durable}");
    }
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

/// Where the bad rows are, if there are any.
fn add_rejects(out: &mut String, report: &Report) {
    if report.rows_rejected == 0 {
        return;
    }
    let files: Vec<String> = report.rejects.iter().map(|path| text(path).into_owned()).collect();
    let rejected = counted(report.rows_rejected, "bad row");
    let _ = writeln!(out, "{rejected} rejected to {}", files.join(", "));
    for path in &report.rejects {
        let _ = writeln!(out, "  reasons in {}", text(&inrush::pipe::reject::sidecar_path(path)));
    }
}

fn seconds(seconds: f64) -> String {
    // As they are shown, or 59.999 would be 60 s.
    let whole = seconds.round() as u64;
    if seconds < 59.995 {
        format!("{seconds:.2} s")
    } else {
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_sixty_seconds() {
        for (time, shown) in [
            (0.5, "0.50 s"),
            (59.99, "59.99 s"),
            (59.999, "1 min 00 s"),
            (119.7, "2 min 00 s"),
            (121.2, "2 min 01 s"),
        ] {
            assert_eq!(seconds(time), shown);
        }
    }
}
