//! Progress on standard error: rows, bytes, rate, time left.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use inrush::pipe::Phase;
use inrush::{Observer, Plan};

use super::count;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    Bar,
    /// A line every second.
    Plain,
    /// A JSON object a line, every half second.
    Json,
    None,
}

impl ProgressMode {
    /// The mode that the words of `--progress` mean here.
    pub(crate) fn of(word: &str, quiet: bool) -> Self {
        match word {
            "bar" => ProgressMode::Bar,
            "plain" => ProgressMode::Plain,
            "json" => ProgressMode::Json,
            "auto" if !quiet && std::io::stderr().is_terminal() => ProgressMode::Bar,
            _ => ProgressMode::None,
        }
    }

    fn every(self) -> Duration {
        match self {
            ProgressMode::Plain => Duration::from_secs(1),
            _ => Duration::from_millis(500),
        }
    }
}

/// Shows a load's progress, and carries the user's wish to stop.
pub(crate) struct Progress {
    mode: ProgressMode,
    stop: Arc<AtomicBool>,
    quiet: bool,
    bar: ProgressBar,
    shown: Mutex<Instant>,
}

impl Progress {
    pub(crate) fn new(mode: ProgressMode, stop: Arc<AtomicBool>, quiet: bool) -> Self {
        let bar = ProgressBar::hidden();
        if mode == ProgressMode::Bar {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        Self { mode, stop, quiet, bar, shown: Mutex::new(Instant::now()) }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, text: &str) {
        self.bar.suspend(|| {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        });
    }
}

fn word(phase: &Phase) -> &'static str {
    match phase {
        Phase::Load => "loading",
        Phase::Survey => "looking at all values",
        Phase::Index => "building indexes",
        Phase::Verify => "verifying",
        Phase::Commit => "committing",
        _ => "working",
    }
}

/// Templates are ours and constant: a mistake in one shows in the first test that draws it.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

impl Observer for Progress {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn phase(&self, phase: &Phase) {
        match self.mode {
            ProgressMode::Bar => {
                self.bar.set_prefix(word(phase));
                self.bar.set_message("");
                match phase {
                    Phase::Load | Phase::Survey => {
                        self.bar.disable_steady_tick();
                        self.bar.set_position(0);
                        self.bar.reset_elapsed();
                    }
                    _ => {
                        self.bar.set_style(style("{prefix} {spinner} {elapsed}"));
                        self.bar.enable_steady_tick(Duration::from_millis(100));
                    }
                }
            }
            ProgressMode::Plain => self.line(word(phase)),
            ProgressMode::Json => {
                self.line(&serde_json::json!({ "phase": word(phase) }).to_string())
            }
            ProgressMode::None => {}
        }
    }

    fn progress(&self, progress: &inrush::pipe::Progress) {
        let seconds = progress.elapsed.as_secs_f64().max(1e-9);
        match self.mode {
            ProgressMode::None => {}
            ProgressMode::Bar => {
                match progress.bytes_total {
                    Some(total) => {
                        self.bar.set_length(total);
                        self.bar.set_style(style(
                            "{prefix} [{wide_bar}] {percent}% {bytes}, {msg}, {bytes_per_sec}, {eta} left",
                        ));
                    }
                    None => self.bar.set_style(style(
                        "{prefix} {spinner} {bytes}, {msg}, {bytes_per_sec}, {elapsed}",
                    )),
                }
                self.bar.set_position(progress.bytes_stored);
                self.bar.set_message(format!("{} rows", count(progress.rows_loaded)));
            }
            ProgressMode::Plain | ProgressMode::Json => {
                let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
                if shown.elapsed() < self.mode.every() {
                    return;
                }
                *shown = Instant::now();
                let rate = progress.rows_loaded as f64 / seconds;
                let left =
                    progress.bytes_total.filter(|_| progress.bytes_stored > 0).map(|total| {
                        total.saturating_sub(progress.bytes_stored) as f64 * seconds
                            / progress.bytes_stored as f64
                    });
                if self.mode == ProgressMode::Json {
                    let line = serde_json::json!({
                        "rows": progress.rows_loaded,
                        "rejected": progress.rows_rejected,
                        "bytes": progress.bytes_stored,
                        "bytes_total": progress.bytes_total,
                        "seconds": progress.elapsed.as_secs_f64(),
                        "seconds_left": left,
                    });
                    self.line(&line.to_string());
                } else {
                    let left = left.map(|left| format!(", {left:.0} s left")).unwrap_or_default();
                    let bytes = HumanBytes(progress.bytes_stored);
                    self.line(&format!(
                        "{} rows, {bytes}, {} rows/s{left}",
                        count(progress.rows_loaded),
                        count(rate as u64)
                    ));
                }
            }
        }
    }

    fn replanned(&self, _plan: &Plan, why: &str) {
        if !self.quiet {
            self.line(why);
        }
    }
}
