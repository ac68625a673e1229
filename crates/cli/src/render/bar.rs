//! A line on a terminal that says how far something is, from when it is worth a look.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is drawn before: what ends sooner would only flash.
const SHOWN_AFTER: Duration = Duration::from_millis(300);

/// How often the clock on it is set, and a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// The line. It goes when this does.
pub(super) struct Bar {
    bar: ProgressBar,
    stage: Arc<Mutex<Stage>>,
    began: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// There is nothing to show yet, or nobody to show it to.
    Idle,
    /// There is, and its time comes.
    Begun,
    Drawn,
    Finished,
}

impl Bar {
    pub(super) fn new() -> Self {
        let stage = Arc::new(Mutex::new(Stage::Idle));
        Self { bar: ProgressBar::hidden(), stage, began: Instant::now() }
    }

    /// There is something to show from now on, in this style: a line whose words are set already.
    pub(super) fn begin(&self) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *stage != Stage::Idle {
            return;
        }
        *stage = Stage::Begun;
        drop(stage);
        let (bar, stage) = (self.bar.clone(), Arc::clone(&self.stage));
        let left = SHOWN_AFTER.saturating_sub(self.began.elapsed());
        // Nobody calls while an index is built, so somebody has to look at the clock.
        let show = move || {
            std::thread::sleep(left);
            let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
            if *stage == Stage::Begun {
                *stage = Stage::Drawn;
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                bar.enable_steady_tick(TICK);
            }
        };
        // A load goes on without being shown.
        let _ = std::thread::Builder::new().spawn(show);
    }

    /// A line without an end in sight.
    pub(super) fn spin(&self, template: &str) {
        self.bar.set_style(style(template));
    }

    /// A line that is filled until `length`.
    pub(super) fn fill(&self, template: &str, position: u64, length: u64) {
        self.bar.set_length(length);
        self.bar.set_position(position);
        self.bar.set_style(style(template));
    }

    /// What the line says of what is done.
    pub(super) fn say(&self, prefix: &'static str, message: String) {
        self.bar.set_prefix(prefix);
        self.bar.set_message(message);
    }

    /// The next line's clock begins at zero.
    pub(super) fn restart(&self) {
        self.bar.set_position(0);
        self.bar.reset_elapsed();
        self.bar.reset_eta();
    }

    /// Prints something else, above the line.
    pub(super) fn above(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Takes it off the screen.
    pub(super) fn finish(&self) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Stage::Finished;
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Templates are ours and constant: a mistake in one shows in the first test that draws it.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}
