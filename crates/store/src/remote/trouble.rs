//! What goes wrong with a request, and how long it is tried again.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::given_up;
use crate::stop::{Stop, TICK};
use crate::stored::Fault;

/// How long a source is without an answer in all, until that is its end.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Requests to a server that has not answered any yet: more likely the address is wrong.
const FIRST_TRIES: u32 = 4;

/// The pause before the second request, and the longest one; it doubles.
const PAUSE_LEAST: Duration = Duration::from_millis(200);
const PAUSE_MOST: Duration = Duration::from_secs(4);

/// Whether another request may fare better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    Never,
    /// Where the server has answered before.
    OnceAnswered,
    Always,
}

/// A request that failed.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) fault: Fault,
    pub(super) again: Again,
    /// When the server wants to be asked again.
    pub(super) after: Option<Duration>,
}

impl Trouble {
    pub(super) fn new(fault: Fault, again: Again) -> Self {
        Self { fault, again, after: None }
    }

    /// One that another request would not change.
    pub(super) fn never(fault: Fault) -> Self {
        Self::new(fault, Again::Never)
    }

    /// One that has become of a connection.
    pub(super) fn lost(fault: Fault) -> Self {
        Self::new(fault, Again::Always)
    }
}

/// How long a source may be without an answer yet.
#[derive(Debug)]
pub(super) struct Patience(Mutex<Duration>);

impl Default for Patience {
    fn default() -> Self {
        Self(Mutex::new(WAIT_MAX))
    }
}

/// Tries to get one answer.
#[derive(Debug, Default)]
pub(super) struct Tries {
    since: Option<Instant>,
    failed: u32,
}

impl Patience {
    /// Waits before another try.
    ///
    /// # Errors
    /// When there shall be none.
    pub(super) fn wait(
        &self,
        tries: &mut Tries,
        trouble: Trouble,
        has_answered: bool,
        stop: &Stop,
    ) -> Result<(), Fault> {
        let since = *tries.since.get_or_insert_with(Instant::now);
        tries.failed += 1;
        let may_try = match trouble.again {
            Again::Never => false,
            Again::OnceAnswered => has_answered,
            Again::Always => has_answered || tries.failed < FIRST_TRIES,
        };
        let doubled = PAUSE_LEAST * 2u32.saturating_pow(tries.failed - 1).min(1 << 10);
        let pause = trouble.after.unwrap_or(doubled.min(PAUSE_MOST));
        let until = Instant::now() + pause;
        if !may_try || until.duration_since(since) > self.left() {
            let mut fault = trouble.fault;
            if tries.failed > 1 {
                fault.what = format!("{} ({} requests)", fault.what, tries.failed);
            }
            return Err(fault);
        }
        while Instant::now() < until {
            if stop.load(Relaxed) {
                return Err(given_up());
            }
            thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    /// There is an answer.
    pub(super) fn answered(&self, tries: &mut Tries) {
        if let Some(since) = tries.since.take() {
            let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *left = left.saturating_sub(since.elapsed());
        }
        tries.failed = 0;
    }

    fn left(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
