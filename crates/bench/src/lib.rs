//! Measures every way of writing on the user's own machine: suites, the matrix of their cells, samples in randomised blocks, what
//! they add up to, and the report.
//!
//! The modules are the way of a run: [`suite`] is read, `matrix` makes its cells, `generate` their rows, `run` takes samples through
//! `worker` processes and private servers, [`sums`] compare, [`store`] keeps what was measured, [`index`] makes a database of
//! it, [`stats`] and [`analysis`] say what it means, [`compare`] holds two runs side by side, and [`report`] shows it. A load of a bench
//! is [`inrush::run`], as everybody's.

pub mod analysis;
mod claim;
mod clock;
pub mod compare;
mod crew;
mod durability;
mod fill;
pub mod finding;
#[cfg(test)]
mod fixture;
mod fleet;
pub mod generate;
mod ground;
pub mod index;
mod lab;
pub mod latency;
pub mod machine;
mod material;
pub mod matrix;
pub mod meter;
pub mod metric;
mod mix;
mod phase;
pub mod record;
mod reference;
pub mod relay;
pub mod report;
mod run;
pub mod sample;
mod session;
pub mod stats;
pub mod store;
pub mod suite;
mod suite_check;
pub mod suites;
pub mod sums;
mod task;
mod verdict;
mod wording;
mod worker;

pub use crew::WorkerProgram;
pub use run::{State, Stopped, Unwatched, Watcher, tally};
pub use session::{BenchRequest, Prepared, bench, findings, prepare, resume};
pub use worker::work;
