//! Strategies as lines of a table, for targets whose strategies differ in little but their encoder and their statements.

use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::target::{Fit, Knob, Knobs, Load, Memory, Strategy};
use crate::{Facts, Job, Request};

/// A strategy.
pub struct Way {
    /// As [`Strategy::id`].
    pub id: &'static str,
    /// As [`Strategy::about`].
    pub about: &'static str,
    /// As [`Strategy::knobs`].
    pub knobs: &'static [Knob],
    /// As [`Strategy::fit`].
    pub fit: fn(&Request, &Facts, &mut Knobs) -> Fit,
    /// As [`Strategy::memory`].
    pub memory: fn(&Request) -> Memory,
    /// As [`Strategy::begin`].
    pub start: Start,
}

/// Begins a load, as [`Strategy::begin`] has it.
pub type Start = for<'a> fn(&'a Job, &'a AtomicBool) -> Result<Box<dyn Load + 'a>>;

impl Strategy for Way {
    fn id(&self) -> &'static str {
        self.id
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn knobs(&self) -> &'static [Knob] {
        self.knobs
    }

    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
        (self.fit)(request, facts, knobs)
    }

    fn memory(&self, request: &Request, _knobs: &Knobs) -> Memory {
        (self.memory)(request)
    }

    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        (self.start)(job, stop)
    }
}
