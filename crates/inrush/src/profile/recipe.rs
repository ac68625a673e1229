//! One way to load, in the words of a load's options.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::is_open;
use crate::plan::{Choice, LoadOptions, Request};
use crate::target::{Knob, Strategy};
use inrush_core::wording::{counted, said_of};

/// A strategy with everything that can be said of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct Recipe {
    /// `mysql/bulk`.
    pub strategy: String,
    /// Connections.
    pub lanes: usize,
    /// Threads that parse and encode.
    pub encoders: usize,
    /// Bytes of input in a chunk.
    pub chunk_bytes: usize,
    /// Knobs that are other than the strategy has them by itself.
    #[serde(default)]
    pub knobs: BTreeMap<String, String>,
}

impl Recipe {
    /// What a choice is, without the knobs: those that differ from the strategy's own are the planner's, and it sets them again.
    pub fn of(choice: &Choice) -> Self {
        Self {
            strategy: choice.strategy.id().to_owned(),
            lanes: choice.lanes,
            encoders: choice.encoders,
            chunk_bytes: choice.chunk_bytes,
            knobs: BTreeMap::new(),
        }
    }

    /// The request that goes by it.
    pub(super) fn add_to(&self, request: &mut Request) {
        let options = &mut request.options;
        options.strategy = Some(self.strategy.clone());
        options.lanes = Some(self.lanes);
        options.encoders = Some(self.encoders);
        options.chunk_bytes = Some(self.chunk_bytes);
        for (name, value) in &self.knobs {
            options.knobs.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    /// The first of its knobs with a value that is not measured: an older version has kept it, or an edit. It may change what a load leaves
    /// behind.
    pub(super) fn beyond_tries(&self, strategy: &dyn Strategy) -> Option<String> {
        let is_tried = |(name, value): &(&String, &String)| {
            let is_it = |knob: &&Knob| knob.name == name.as_str();
            let knob = strategy.knobs().iter().find(is_it);
            knob.is_some_and(|knob| knob.tries.contains(&value.as_str()))
        };
        let (name, value) = self.knobs.iter().find(|knob| !is_tried(knob))?;
        Some(format!("{name}={value}"))
    }

    /// The first of the user's options that says otherwise: what was measured was measured as a whole.
    pub(super) fn contradicts(&self, options: &LoadOptions) -> Option<String> {
        if is_open(options) {
            return None;
        }
        let Self { strategy, lanes, encoders, chunk_bytes, knobs } = self;
        let short = strategy.rsplit('/').next();
        let is_other = |asked: &Option<usize>, own: usize| asked.is_some_and(|asked| asked != own);
        let knob = |(name, value): (&String, &String)| {
            (knobs.get(name) != Some(value)).then(|| said_of("--set", name, value))
        };
        match () {
            () if options
                .strategy
                .as_deref()
                .is_some_and(|asked| asked != strategy && Some(asked) != short) =>
            {
                Some("--strategy".to_owned())
            }
            () if is_other(&options.lanes, *lanes) => Some("--lanes".to_owned()),
            () if is_other(&options.encoders, *encoders) => Some("--encoders".to_owned()),
            () if is_other(&options.chunk_bytes, *chunk_bytes) => Some("--chunk-size".to_owned()),
            () => options.knobs.iter().find_map(knob),
        }
    }

    /// As people read it beside another one: without what is the same in both.
    pub fn beside(&self, other: &Self) -> String {
        let lanes = counted(self.lanes as u64, "connection");
        let mut words = vec![format!("{} over {lanes}", self.strategy)];
        let mut more = Vec::new();
        if self.chunk_bytes != other.chunk_bytes {
            more.push(format!("chunks of {} KiB", self.chunk_bytes >> 10));
        }
        if self.encoders != other.encoders {
            more.push(counted(self.encoders as u64, "encoder"));
        }
        more.extend(self.knobs.iter().map(|(name, value)| format!("{name}={value}")));
        if !more.is_empty() {
            words.push(format!("with {}", more.join(", ")));
        }
        words.join(" ")
    }

    /// The options of `load` that say the same.
    pub fn options(&self) -> String {
        let Self { strategy, lanes, encoders, chunk_bytes, knobs } = self;
        let knobs: String =
            knobs.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
        format!(
            "--strategy {strategy} --lanes {lanes} --encoders {encoders} --chunk-size {chunk_bytes}{knobs}"
        )
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {}", self.strategy, counted(self.lanes as u64, "connection"))?;
        for (name, value) in &self.knobs {
            write!(f, ", {name}={value}")?;
        }
        Ok(())
    }
}
