//! Strategies as lines of a table, for targets whose strategies differ in little but their encoder and their statements.

use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::plan::{Facts, Plan, Request};
use crate::target::{Fit, Knob, Knobs, Load, Memory, Strategy};

/// A strategy.
pub(in crate::target) struct Way {
    pub(in crate::target) id: &'static str,
    pub(in crate::target) about: &'static str,
    pub(in crate::target) knobs: &'static [Knob],
    pub(in crate::target) fit: fn(&Request, &Facts, &mut Knobs) -> Fit,
    pub(in crate::target) memory: fn(&Request) -> Memory,
    pub(in crate::target) start: Start,
}

/// Begins a load, as [`Strategy::begin`] has it.
pub(in crate::target) type Start =
    for<'a> fn(&'a Plan, &'a AtomicBool) -> Result<Box<dyn Load + 'a>>;

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

    fn begin<'a>(&self, plan: &'a Plan, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        (self.start)(plan, stop)
    }
}
