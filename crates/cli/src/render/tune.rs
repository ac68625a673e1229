//! What tune measures and has found, for people.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush::Observer;
use inrush::profile::Profiles;
use inrush::wording::bytes;
use inrush_bench::tune::{Outcome, Ran, Standing};

use super::bar::Bar;
use super::{ProgressMode, count, counted};

/// Shows how it stands, and carries the user's wish to stop.
pub(crate) struct TuneProgress {
    mode: ProgressMode,
    stop: Arc<AtomicBool>,
    bar: Bar,
}

impl TuneProgress {
    pub(crate) fn new(mode: ProgressMode, stop: Arc<AtomicBool>) -> Self {
        let bar = Bar::new();
        if mode == ProgressMode::Bar {
            bar.say("", "preparing".to_owned());
            bar.spin("{spinner} {elapsed} {msg}");
            bar.begin();
        }
        Self { mode, stop, bar }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish();
    }

    pub(crate) fn standing(&self, standing: &Standing) {
        let Standing { phase, loads, left, ahead } = standing;
        let seconds = left.as_secs();
        let leads = match ahead {
            Some((label, ratio)) if *ratio > 1.0 => {
                format!("ahead: {label}, {ratio:.2} times the default")
            }
            Some(_) => "ahead: the default".to_owned(),
            None => "nothing is known yet".to_owned(),
        };
        match self.mode {
            ProgressMode::Bar => self.bar.say("", format!("{phase}; {leads}; {seconds} s left")),
            ProgressMode::Plain => {
                self.line(&format!("{loads} loads, {phase}; {leads}; {seconds} s left"))
            }
            ProgressMode::Json => {
                let (label, ratio) = ahead.clone().unzip();
                let line = serde_json::json!({
                    "phase": phase, "loads": loads, "seconds_left": left.as_secs_f64(), "ahead": label, "ratio": ratio,
                });
                self.line(&line.to_string());
            }
            ProgressMode::None => {}
        }
    }

    fn line(&self, text: &str) {
        self.bar.above(|| {
            // Whoever closes standard error has seen enough.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        });
    }
}

impl Observer for TuneProgress {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&self.stop)
    }
}

/// Candidates below which none are listed: the report has all.
const LISTED: usize = 12;

/// A table of what was measured, the fastest first.
pub(crate) fn tuned(outcome: &Outcome) -> String {
    let finals = match outcome.load_bytes {
        0 => "none of them of the finals".to_owned(),
        each => {
            format!("those of the finals with {} of {}", bytes(each), bytes(outcome.source_bytes))
        }
    };
    let loads = counted(outcome.loads as u64, "load");
    let mut out = format!("{loads}, {finals}, in {:.0} s\n", outcome.seconds);
    let default = Ran {
        label: format!("{} (the default)", outcome.default.label),
        ..outcome.default.clone()
    };
    let listed: Vec<&Ran> =
        std::iter::once(&default).chain(outcome.candidates.iter().take(LISTED)).collect();
    let wide = listed.iter().map(|ran| ran.label.chars().count()).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "  {:wide$}  {:>7}  {:>12}  {:>5}  {:>10}",
        "", "times", "interval", "pairs", "rows/s"
    );
    for ran in listed {
        let ratio = ran.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        let interval = match (ran.low, ran.high) {
            (Some(low), Some(high)) => format!("{low:.2} to {high:.2}"),
            _ => String::new(),
        };
        let rate = ran.rows_per_second.map(|rate| count(rate as u64)).unwrap_or_default();
        let label = &ran.label;
        let pad = wide.saturating_sub(label.chars().count());
        let pairs = ran.pairs;
        let _ = writeln!(
            out,
            "  {label}{:pad$}  {ratio:>7}  {interval:>12}  {pairs:>5}  {rate:>10}",
            ""
        );
    }
    let more = outcome.candidates.len().saturating_sub(LISTED);
    if more > 0 {
        let _ = writeln!(out, "  and {more} more in the report");
    }
    if let Some(noise) = outcome.noise {
        let _ = writeln!(out, "  two loads of the same lie {:.1} % apart", noise * 100.0);
    }
    out
}

/// What was measured on this machine.
pub(crate) fn profiles(profiles: &Profiles) -> String {
    if profiles.profiles.is_empty() {
        return "nothing was measured here yet\n".to_owned();
    }
    let mut out = String::new();
    for profile in &profiles.profiles {
        let key = &profile.key;
        let found = match profile.is_default {
            true => format!("{}, the default", profile.recipe),
            false => format!(
                "{}, {:.2} times the default, {:.2} to {:.2}",
                profile.recipe, profile.ratio, profile.low, profile.high
            ),
        };
        let _ = writeln!(out, "{}  {}: {found}", profile.date, key.target);
        let _ = writeln!(out, "            {}; {}", key.engine, key.shape);
        let _ = writeln!(out, "            {}; {}", key.guarantee, key.machine);
    }
    out
}
