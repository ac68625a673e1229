//! Jobs of a database, as people read them.

use std::fmt::Write as _;

use inrush::job::{Listed, Visible};

/// A line for each.
pub(crate) fn jobs(listed: &[Listed]) -> String {
    if listed.is_empty() {
        return "no jobs\n".to_owned();
    }
    let mut out = String::from("state       last heard  table                           job\n");
    for job in listed {
        let table = match &job.schema {
            Some(schema) => format!("{schema}.{}", job.table),
            None => job.table.clone(),
        };
        let heard =
            if job.working { "working".to_owned() } else { format!("{} s ago", job.heartbeat_age) };
        let _ = writeln!(out, "{:<11} {heard:<11} {table:<31} {}", job.state.word(), job.id);
    }
    out
}

/// What others see of a job that is not committed.
pub(crate) fn visible(visible: Visible) -> String {
    let Visible { partitions, rows } = visible;
    format!("{} with {}", super::counted(partitions, "partition"), super::counted(rows, "row"))
}
