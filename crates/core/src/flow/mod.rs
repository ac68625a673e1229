//! What flows from a source to a target: chunks of records, the wires that encoders make of them, and the answers of lanes.

pub mod checksum;
mod chunk;
mod meter;
mod reject;
mod slot;
mod wire;

pub use checksum::Checksum;
pub use chunk::{BadCell, Chunk, Origin, Part, Point, SheetRows};
pub use meter::{Meter, Phase, Progress, Stage, StageClock};
pub use reject::{Code, Found};
pub use slot::{Feeder, Slot};
pub use wire::{Ack, Cell, Home, RowFault, RowMark, Span, Wire, WireMark};

pub use crate::encode::{Encode, Encoded};
