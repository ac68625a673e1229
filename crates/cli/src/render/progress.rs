//! Progress on standard error: rows, bytes, rate, time left.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use inrush::Observer;
use inrush::pipe::Phase;
use inrush::wording::bytes;

use super::bar::Bar;
use super::{count, counted, legible};

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressMode {
    /// A bar that moves.
    Bar,
    /// A line every second.
    Plain,
    /// A JSON object a line, every half second.
    Json,
    /// Nothing.
    None,
}

impl ProgressMode {
    /// The mode that the words of `--progress` mean here.
    pub fn of(word: &str, quiet: bool) -> Self {
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
pub struct Progress {
    mode: ProgressMode,
    stop: Arc<AtomicBool>,
    quiet: bool,
    bar: Bar,
    clock: Mutex<Clock>,
}

/// When what happened.
struct Clock {
    /// The phase's begin.
    phase: Instant,
    /// Its name.
    word: &'static str,
    /// Whether rows are counted in it.
    has_rows: bool,
    /// The last line.
    line: Instant,
    /// What came too soon after the last line to have one, but is the last word of its phase if nothing follows.
    unsaid: Option<inrush::pipe::Progress>,
}

impl Progress {
    /// Shows it in this way; `stop` ends the load once it is set, and `quiet` keeps to what was asked for.
    pub fn new(mode: ProgressMode, stop: Arc<AtomicBool>, quiet: bool) -> Self {
        let now = Instant::now();
        let word = word(&Phase::Load);
        let clock = Clock { phase: now, word, has_rows: true, line: now, unsaid: None };
        Self { mode, stop, quiet, bar: Bar::new(), clock: Mutex::new(clock) }
    }

    /// Says the last of it, and takes the bar off the screen.
    pub fn finish(&self) {
        self.say_unsaid();
        self.bar.finish();
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say_unsaid(&self) {
        let unsaid = self.clock().unsaid.take();
        if let Some(progress) = unsaid {
            self.say(&progress);
        }
    }

    /// A line of what is done so far.
    fn say(&self, progress: &inrush::pipe::Progress) {
        // What an earlier try took says nothing of how fast this one is.
        let seconds = self.clock().phase.elapsed().as_secs_f64().max(1e-9);
        let rate = progress.rows_loaded as f64 / seconds;
        let left = progress.bytes_total.filter(|_| progress.bytes_stored > 0).map(|total| {
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
            self.line(&format!(
                "{}, {}, {} rows/s{left}",
                counted(progress.rows_loaded, "row"),
                bytes(progress.bytes_stored),
                count(rate as u64)
            ));
        }
    }

    fn line(&self, text: &str) {
        self.bar.above(|| {
            // Nobody is left to tell when standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        });
    }
}

fn word(phase: &Phase) -> &'static str {
    match phase {
        Phase::Load => "loading",
        Phase::Survey => "looking at all values",
        Phase::Check => "checking",
        Phase::Index => "building indexes",
        Phase::Verify => "verifying",
        Phase::Commit => "committing",
        _ => "working",
    }
}

/// What is done so far, and how fast: `1.50 MB, 12,000 rows, 32.9 MB/s`.
fn done(progress: &inrush::pipe::Progress, has_rows: bool, began: Instant) -> String {
    let seconds = began.elapsed().as_secs_f64().max(1e-3);
    let read = bytes(progress.bytes_stored);
    let rate = bytes((progress.bytes_stored as f64 / seconds) as u64);
    match has_rows {
        true => format!("{read}, {}, {rate}/s", counted(progress.rows_loaded, "row")),
        false => format!("{read}, {rate}/s"),
    }
}

impl Observer for Progress {
    fn stop(&self) -> Option<&AtomicBool> {
        Some(&self.stop)
    }

    fn phase(&self, phase: &Phase) {
        self.say_unsaid();
        let mut clock = self.clock();
        (clock.phase, clock.word) = (Instant::now(), word(phase));
        clock.has_rows = *phase != Phase::Survey;
        drop(clock);
        match self.mode {
            ProgressMode::Bar => {
                // Until something can be said of it, it says nothing but its name.
                self.bar.say(word(phase), String::new());
                self.bar.restart();
                self.bar.spin("{prefix} {spinner} {elapsed}");
                self.bar.begin();
            }
            ProgressMode::Plain => self.line(word(phase)),
            ProgressMode::Json => {
                self.line(&serde_json::json!({ "phase": word(phase) }).to_string())
            }
            ProgressMode::None => {}
        }
    }

    fn progress(&self, progress: &inrush::pipe::Progress) {
        match self.mode {
            ProgressMode::None => {}
            ProgressMode::Bar => {
                let clock = self.clock();
                let (word, has_rows, began) = (clock.word, clock.has_rows, clock.phase);
                drop(clock);
                self.bar.say(word, done(progress, has_rows, began));
                match progress.bytes_total {
                    Some(total) => {
                        let template = "{prefix} [{wide_bar}] {percent}% {msg}, {eta} left";
                        self.bar.fill(template, progress.bytes_stored, total);
                    }
                    None => self.bar.spin("{prefix} {spinner} {msg}, {elapsed}"),
                }
            }
            ProgressMode::Plain | ProgressMode::Json => {
                let mut clock = self.clock();
                if clock.line.elapsed() < self.mode.every() {
                    clock.unsaid = Some(*progress);
                    return;
                }
                clock.line = Instant::now();
                clock.unsaid = None;
                drop(clock);
                self.say(progress);
            }
        }
    }

    fn noted(&self, note: &str) {
        match self.mode {
            _ if self.quiet => {}
            ProgressMode::Json => self.line(&serde_json::json!({ "note": note }).to_string()),
            _ => self.line(&legible(note)),
        }
    }
}
