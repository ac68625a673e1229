//! Who follows a load, and can stop it.

use std::sync::atomic::AtomicBool;

use crate::pipe::reject::Reject;
use crate::plan::Plan;
use inrush_core::error::Result;
use inrush_core::flow::{Phase, Progress};
use inrush_core::target::Load;

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

    /// The plan was made again after what a try has found out.
    fn replanned(&self, _why: &str) {}

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

impl dyn Observer + '_ {
    /// [`Observer::stop`], or one that stays false: for what wants to know at any time whether to go on.
    #[doc(hidden)]
    pub fn stop_flag(&self) -> &AtomicBool {
        static NEVER: AtomicBool = AtomicBool::new(false);
        self.stop().unwrap_or(&NEVER)
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

    fn replanned(&self, why: &str) {
        self.observer.replanned(why);
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
