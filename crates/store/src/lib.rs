//! Bytes that are elsewhere, and how they are read so that a load can be stopped.
//!
//! ```text
//! Store (what an input has to bring to be read as often as one likes) <- remote (web servers, stores of objects)
//!                                                                     -> Copied (a private file, for what is read from anywhere)
//! Pipe (what can be read once, looked at before)      Pattern (which names are meant)
//! ```
//!
//! Nothing here knows what the bytes mean: formats, archives and text are `inrush-source`'s. What is changed here is when connections are
//! made, tried again and given up; what may not change is that the end comes only where everything has been whole.

mod copy;
mod pattern;
mod pipe;
#[cfg(feature = "cloud")]
pub mod remote;
mod stop;
mod stored;

pub use copy::Copied;
pub use pattern::Pattern;
pub use pipe::Pipe;
pub use stop::{Stop, TICK, watched};
pub use stored::{AtWill, Fault, Store, Stored};

/// Bytes of an input that are looked at before a plan is made, from its start.
pub const HEAD_BYTES: usize = 1 << 20;
