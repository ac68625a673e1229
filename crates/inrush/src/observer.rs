//! Who follows a load, and can stop it.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::pipe::reject::Reject;
use crate::plan::Plan;
use inrush_core::error::Result;
use inrush_core::flow::{Phase, Progress};
use inrush_core::target::{Load, Spare};

/// Follows a load, and can stop it.
pub trait Observer: Sync {
    /// Set to true, ends the load: everything is undone as far as the plan promises. `None`, as here, where nothing is to stop it.
    /// It is the observer's own, and stays true until the observer says otherwise: what it follows next ends at once.
    fn stop(&self) -> Option<&AtomicBool> {
        None
    }

    /// What the load is about to do; again where a try has found out that another way is better.
    fn planned(&self, _plan: &Plan) {}

    /// The load begins a phase.
    fn phase(&self, _phase: &Phase) {}

    /// How far it is; several times a second.
    fn progress(&self, _progress: &Progress) {}

    /// What is worth knowing before the end, such as that a try has found out a better way: one sentence without a full stop.
    fn noted(&self, _note: &str) {}

    /// A statement has waited for seconds for a lock: for which one, and who holds it, in one sentence without a full stop.
    fn waits(&self, note: &str) {
        self.noted(note);
    }

    /// All rows are sent, and what comes next is the commit, which an error keeps from happening.
    ///
    /// # Errors
    /// When they are not to be committed.
    #[doc(hidden)]
    fn commits(&self, _load: &mut dyn Load) -> Result<()> {
        Ok(())
    }

    /// A bad row of a load that puts them [here](crate::plan::RejectsTo::Observer): of one that has committed, or of one that ends
    /// because they are too many. Of such a load the last bad row is told wherever the others go.
    fn rejected(&self, _row: &Reject) {}
}

/// How often notes are looked for.
const LOOKS: Duration = Duration::from_millis(250);

impl dyn Observer + '_ {
    /// [`Observer::stop`], or one that stays false: for what wants to know at any time whether to go on.
    #[doc(hidden)]
    pub fn stop_flag(&self) -> &AtomicBool {
        static NEVER: AtomicBool = AtomicBool::new(false);
        self.stop().unwrap_or(&NEVER)
    }

    /// Does the work, and meanwhile passes on what is noted of its connections.
    pub(crate) fn follow<T>(&self, spare: &Spare, work: impl FnOnce() -> T) -> T {
        if !spare.is_followed() {
            return work();
        }
        let pass_on = || spare.notes().iter().for_each(|note| self.waits(note));
        let (ended, end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let look = move || {
                while end.recv_timeout(LOOKS) == Err(RecvTimeoutError::Timeout) {
                    pass_on();
                }
            };
            // Without a thread nothing is passed on, and all else goes on.
            let _ = thread::Builder::new().spawn_scoped(scope, look);
            let done = work();
            drop(ended);
            done
        })
    }
}

/// An observer to whom bad rows come by way of `rejected`, and who decides by `commits`.
pub(crate) struct Redirected<'a, R, C> {
    pub(crate) observer: &'a dyn Observer,
    pub(crate) rejected: R,
    pub(crate) commits: C,
}

impl<R, C> Observer for Redirected<'_, R, C>
where
    R: Fn(&Reject) + Sync,
    C: Fn(&mut dyn Load) -> Result<()> + Sync,
{
    fn stop(&self) -> Option<&AtomicBool> {
        self.observer.stop()
    }

    fn planned(&self, plan: &Plan) {
        self.observer.planned(plan);
    }

    fn phase(&self, phase: &Phase) {
        self.observer.phase(phase);
    }

    fn progress(&self, progress: &Progress) {
        self.observer.progress(progress);
    }

    fn noted(&self, note: &str) {
        self.observer.noted(note);
    }

    fn waits(&self, note: &str) {
        self.observer.waits(note);
    }

    fn commits(&self, load: &mut dyn Load) -> Result<()> {
        (self.commits)(load)
    }

    fn rejected(&self, row: &Reject) {
        (self.rejected)(row);
    }
}

/// An observer that looks away.
pub struct Unobserved;

impl Observer for Unobserved {}
