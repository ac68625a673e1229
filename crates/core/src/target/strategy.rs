//! Ways to write to a target.

use std::sync::atomic::AtomicBool;

use crate::error::Result;
use crate::target::{Knob, Knobs, Load};
use crate::{Durability, Facts, Job, Request};

/// One way to write to one target.
pub trait Strategy: Sync {
    /// `target/name`. Users type it and reports keep it: never renamed.
    fn id(&self) -> &'static str;

    /// One sentence for help and docs.
    fn about(&self) -> &'static str;

    /// What a user who asks for it gives up, in one sentence. A strategy that gives anything up is used where it is named, and neither
    /// planner nor tune takes it by itself.
    fn gives_up(&self) -> Option<&'static str> {
        None
    }

    /// Whether it fills a table at once, so that none of a writer's later steps could add to that.
    fn fills_at_once(&self) -> bool {
        false
    }

    /// Its parameters.
    fn knobs(&self) -> &'static [Knob];

    /// Whether it can do this load, and what it would give up. Sets the knobs that the user left alone to what the request
    /// needs.
    fn fit(&self, request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit;

    /// What a load takes in memory.
    fn memory(&self, request: &Request, knobs: &Knobs) -> Memory;

    /// Begins a load: opens, locks, makes the table. `stop` is set when the user wants to.
    ///
    /// # Errors
    /// When the target refuses; it is then as it was, unless the error says otherwise by its aftermath.
    fn begin<'a>(&self, job: &'a Job, stop: &'a AtomicBool) -> Result<Box<dyn Load + 'a>>;
}

/// Whether a strategy can do a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It can, with these properties.
    Usable {
        /// Whether a failed load leaves the target as it was.
        atomic: bool,
        /// The strongest promise it can make with these knobs.
        durability: Durability,
        /// Why that is not the strongest of all.
        weakness: Option<Weakness>,
        /// The connections to use where the user says nothing.
        lanes: usize,
        /// The most connections it can use.
        lanes_max: usize,
        /// Encoder threads that keep this machine busy beside the lanes and the database they wait for.
        encoders: usize,
        /// What the user should know of how it goes about this load, one sentence each.
        notes: Vec<String>,
    },
    /// It can, but one of the strategies behind it is faster: it is for who asks for it, and where none of those can.
    Outdone {
        /// Why that one is faster: one sentence.
        reason: String,
        /// What it could do.
        fit: Box<Fit>,
    },
    /// It can't, for this reason.
    Unusable {
        /// One sentence.
        reason: String,
    },
    /// No strategy could, for it is the request that is wrong.
    Wrong {
        /// What is wrong: one sentence.
        reason: String,
        /// What to try.
        advice: String,
    },
    /// It isn't for such a target, and nobody has to be told: another strategy is.
    Foreign {
        /// One sentence, for who asks for it all the same.
        reason: String,
    },
    /// It could if the administrator let it; users are told what they miss.
    Barred {
        /// One sentence, with what to change.
        reason: String,
    },
}

/// What keeps a load from a stronger promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// The setting and its value, or what the table is: what follows "with".
    pub what: String,
    /// What to change, where the load alone can't.
    pub remedy: Option<String>,
}

impl Weakness {
    /// A setting of a server, which its administrator could have otherwise.
    pub fn server(name: &str, value: &str, better: &str) -> Self {
        Self {
            what: format!("{name}={value}, a setting of the server,"),
            remedy: Some(format!("or have the server run with {name}={better}")),
        }
    }

    /// A knob of the strategy.
    pub fn knob(knob: &Knob, value: &str) -> Self {
        let name = knob.name;
        Self {
            what: format!("{name}={value}"),
            remedy: Some(format!("or leave --set {name}={value} out")),
        }
    }

    /// What the table, or the database, is.
    pub fn thing(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None }
    }
}

/// What a load takes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// For each byte of a chunk, at worst.
    pub wire_bytes_per_byte: usize,
    /// Besides parcels: caches, buffers.
    pub fixed_bytes: u64,
    /// Bytes of input in a chunk, where the user says nothing.
    pub chunk_bytes: usize,
}
