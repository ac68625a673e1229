//! The pipeline: one for every source, strategy and command.
//!
//! ```text
//! reader --> [slots] --> encoder x E --> [slots] --> lane x L --> [slots] --> collector
//!    ^                                                                                  |
//!    +----------------------------- empty slots, a fixed number -----------------------+
//! ```
//!
//! A slot carries one chunk through all stages and comes back empty. Their number is fixed when the load is
//! planned, which bounds memory whatever the input's size; no queue needs a bound of its own.

pub mod reject;
pub(crate) mod run;

pub use inrush_core::flow::*;
pub use reject::Reject;
