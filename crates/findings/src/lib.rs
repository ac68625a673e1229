//! What a bench has measured, and what it means. Nothing here measures: it reads what is stored.
//!
//! ```text
//! suite.toml -> Suite ----------------------+
//! samples.jsonl <-> store -> Sample --------+--> analysis (stats, claim, reference) -> Findings -> report
//!                      |                                                                  |
//!                    index (a database of all runs)                       compare (two runs) -> verdict
//! ```
//!
//! A sample is a line of text that a reader of later years has to understand: fields are added, never renamed.

pub mod analysis;
pub mod claim;
pub mod compare;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod index;
pub mod metric;
pub mod record;
mod reference;
pub mod report;
pub mod sample;
pub mod stats;
pub mod store;
pub mod suite;
mod verdict;
mod wording;
