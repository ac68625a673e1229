//! One chunk on its way through the stages.

use crate::encode::Encoded;
use crate::flow::{Ack, Chunk};

/// A chunk, what the encoder made of it, and how the lane answered: the memory that all stages reuse.
#[derive(Default)]
pub struct Parcel {
    /// What was read.
    pub chunk: Chunk,
    /// What became of it.
    pub encoded: Encoded,
    /// What the target says.
    pub ack: Ack,
}

/// Where a source gets empty parcels and leaves full ones.
pub trait Feeder {
    /// An empty parcel; `None` when the pass is over, for whatever reason.
    fn take(&mut self) -> Option<Parcel>;

    /// Passes a parcel on; false when the pass is over.
    fn give(&mut self, parcel: Parcel) -> bool;
}
