//! The pipeline: one for every source, strategy and command.
//!
//! ```text
//! reader --> [parcels] --> encoder x E --> [parcels] --> lane x L --> [parcels] --> collector
//!    ^                                                                                  |
//!    +----------------------------- empty parcels, a fixed number -----------------------+
//! ```
//!
//! A parcel carries one chunk through all stages and comes back empty. Their number is fixed when the load is
//! planned, which bounds memory whatever the input's size; no queue needs a bound of its own.

pub(crate) mod checksum;
mod chunk;
pub(crate) mod encode;
mod meter;
pub mod reject;
pub(crate) mod run;
mod wire;

pub use checksum::Checksum;
pub use chunk::{Chunk, Origin, Part};
pub use encode::{Encode, Encoded};
pub(crate) use meter::Meter;
pub use meter::{Phase, Progress, Stage};
pub use reject::{Code, Reject};
#[cfg(feature = "parquet")]
pub use wire::RowGroup;
pub use wire::{Ack, Cell, Home, RowFault, RowMark, Span, Wire};
