//! What all strategies share: each is a line of [`super::STRATEGIES`].

use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::plan::{Facts, Plan, Request};
use crate::target::mysql::load::{self, MysqlLoad, Writing};
use crate::target::{Fit, Knob, Knobs, Load, Memory, Strategy};

/// A strategy.
pub(super) struct Way {
    pub(super) id: &'static str,
    pub(super) about: &'static str,
    pub(super) knobs: &'static [Knob],
    pub(super) fit: fn(&Request, &Facts, &mut Knobs) -> Fit,
    pub(super) writing: &'static dyn Writing,
}

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
        load::memory(request)
    }

    fn begin<'a>(&self, plan: &'a Plan, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>> {
        MysqlLoad::start(self.writing, plan, stop)
    }
}
