//! What flows from a source to a target: chunks of records, the wires that encoders make of them, and the answers of lanes.

pub mod checksum;
mod chunk;
mod meter;
mod parcel;
mod reject;
mod wire;

pub use checksum::Checksum;
pub use chunk::{Chunk, Origin, Part};
pub use meter::{Meter, Phase, Progress, Stage, StageClock};
pub use parcel::{Feeder, Parcel};
pub use reject::{Code, Found};
pub use wire::{Ack, Cell, Home, RowFault, RowMark, Span, Wire, WireMark};

pub use crate::encode::{Encode, Encoded};
