//! One chunk on its way through the stages.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::encode::Encoded;
use crate::flow::{Ack, Chunk};

/// A chunk, what the encoder made of it, and how the lane answered: the memory that all stages reuse.
#[derive(Default)]
pub struct Slot {
    /// What was read.
    pub chunk: Chunk,
    /// What became of it.
    pub encoded: Encoded,
    /// What the target says.
    pub ack: Ack,
    /// Whether a step of the load ends with it.
    pub ends_step: bool,
}

/// Where a source gets empty slots and leaves full ones.
pub trait Feeder {
    /// An empty slot; `None` when the pass is over, for whatever reason.
    fn take(&mut self) -> Option<Slot>;

    /// Passes a slot on; false when the pass is over.
    fn give(&mut self, slot: Slot) -> bool;

    /// Set once the pass is over, for whatever reason: who waits for input then gives up.
    fn halt(&self) -> &Arc<AtomicBool>;
}
