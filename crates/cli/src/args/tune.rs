//! What `tune` takes.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::LoadArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  inrush tune orders.csv shop.db                 the fastest way for these rows, in two minutes
  inrush tune orders.csv mysql://root@localhost/shop --budget 5m
  inrush tune 'part-*.parquet' postgres:///shop --table orders --if-exists append
  inrush tune --config load.toml                 the load that these settings are of
  inrush tune --list                             what was measured on this machine
  inrush tune --forget all

Takes a sample of the source to a hidden place in the target, in every way that serves the same request with the same guarantees, and \
compares it with the planner's own choice in pairs. The user's tables are neither touched nor locked, and nothing is left. What is faster \
beyond noise is kept, and inrush plan and inrush load go by it, as long as machine, version, settings, table and guarantee are the same.

Exit codes: 0 measured; 1 failed, and the target is as it was; 2 usage; 130 interrupted: what is known is reported, and nothing is kept.";

/// What `tune` takes.
#[derive(Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// How long to measure, such as 90, 90s or 2m; all is included but removing what was made
    #[arg(long, value_name = "TIME", default_value = "2m", help_heading = "Measuring")]
    pub(crate) budget: String,
    /// How much of the source to load each time at most
    #[arg(long, value_name = "SIZE", default_value = "200MB", help_heading = "Measuring")]
    pub(crate) sample: String,
    /// Measure on a private server of the same version and settings, not in the target itself
    #[arg(long, help_heading = "Measuring")]
    pub(crate) beside: bool,
    /// Where report.html, report.md and report.json go [default: ./inrush-tune-DATE]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Measuring")]
    pub(crate) report: Option<PathBuf>,
    /// List what was measured on this machine, and measure nothing
    #[arg(long, conflicts_with_all = ["export", "forget"], help_heading = "Profiles")]
    pub(crate) list: bool,
    /// Print what was measured, as TOML
    #[arg(long, conflicts_with_all = ["forget", "json"], help_heading = "Profiles")]
    pub(crate) export: bool,
    /// Forget what was measured of a target, as --list names it or as load takes it, or all of it
    #[arg(long, value_name = "TARGET|all", help_heading = "Profiles")]
    pub(crate) forget: Option<String>,
}
