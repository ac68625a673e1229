//! A bench's progress on standard error.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_bench::record::PlannedCell;
use inrush_bench::sample::{Sample, Status};
use inrush_bench::{State, Watcher};

use super::ProgressMode;
use super::bar::Bar;

/// Shows how far a run is, and carries the user's wish to stop.
pub(crate) struct BenchProgress {
    mode: ProgressMode,
    stop: Arc<AtomicBool>,
    quiet: bool,
    bar: Bar,
}

impl BenchProgress {
    pub(crate) fn new(mode: ProgressMode, stop: Arc<AtomicBool>, quiet: bool) -> Self {
        let bar = Bar::new();
        if mode == ProgressMode::Bar {
            bar.say("", "preparing".to_owned());
            bar.spin("{spinner} {elapsed} {msg}");
            bar.begin();
        }
        Self { mode, stop, quiet, bar }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish();
    }

    fn line(&self, text: &str) {
        self.bar.above(|| {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        });
    }
}

fn left(state: &State) -> String {
    match state.left.map(|left| left.as_secs()) {
        None => String::new(),
        Some(seconds) if seconds < 90 => format!(", at most {seconds} s left"),
        Some(seconds) => format!(", at most {} min left", seconds.div_ceil(60)),
    }
}

impl Watcher for BenchProgress {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn preparing(&self, what: &str) {
        match self.mode {
            ProgressMode::Bar => self.bar.say("", what.to_owned()),
            ProgressMode::Plain => self.line(what),
            ProgressMode::Json => self.line(&serde_json::json!({ "preparing": what }).to_string()),
            ProgressMode::None => {}
        }
    }

    fn begins(&self, cell: &PlannedCell, state: &State) {
        if self.mode == ProgressMode::Bar {
            self.bar.say("", format!("{} {cell}{}", cell.experiment, left(state)));
            let template = "[{wide_bar}] {pos}/{len} {elapsed} {msg}";
            self.bar.fill(template, u64::from(state.taken), u64::from(state.planned));
        }
    }

    fn taken(&self, cell: &PlannedCell, sample: &Sample, state: &State) {
        let status = sample.status.word();
        let experiment = &cell.experiment;
        let why = sample.error.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        match self.mode {
            ProgressMode::Plain => {
                let (taken, planned) = (state.taken, state.planned);
                let seconds = sample.seconds;
                let left = left(state);
                self.line(&format!(
                    "{taken}/{planned} {experiment} {cell}: {status} {seconds:.1} s{why}{left}"
                ));
            }
            ProgressMode::Json => {
                let line = serde_json::json!({
                    "sample": sample.sample, "experiment": experiment, "cell": cell.label(), "status": status,
                    "seconds": sample.seconds, "error": sample.error, "taken": state.taken, "planned": state.planned,
                    "seconds_left": state.left.map(|left| left.as_secs_f64()),
                });
                self.line(&line.to_string());
            }
            // What fails is told when it does, whatever else is shown.
            _ if !self.quiet
                && !matches!(
                    sample.status,
                    Status::Ok | Status::Unavailable | Status::Contended
                ) =>
            {
                self.line(&format!("{experiment} {cell}: {status}{why}"));
            }
            _ => {}
        }
    }
}
