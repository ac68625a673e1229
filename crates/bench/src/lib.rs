//! Measures every way of writing on the user's own machine: suites, the matrix of their cells, samples in randomised blocks.
//!
//! ```text
//! suites -> matrix: cells -> run: shuffled blocks -> lab: one sample (fleet: servers, crew: workers, generate: rows)
//!                                                     |
//!                            sums: what was stored is what was generated -> findings: store, analysis, report
//! ```
//!
//! The modules are the way of a run: [`suite`] is read, `matrix` makes its cells, `generate` their rows, `run` takes samples through
//! `worker` processes and private servers, [`sums`] compare, and what was measured is kept, understood and shown by [`inrush_findings`]. A load of a bench
//! is [`inrush::run`], as everybody's.

mod batches;
mod clock;
mod crew;
pub mod doctor;
mod durability;
mod fill;
mod fleet;
pub mod generate;
mod ground;
mod lab;
pub mod latency;
pub mod machine;
mod material;
pub mod matrix;
pub mod meter;
mod mix;
mod phase;
pub mod relay;
mod run;
mod session;
mod suite_check;
pub mod suites;
pub mod sums;
mod task;
pub mod tune;
mod worker;

pub use crew::WorkerProgram;
pub use inrush_findings::{
    analysis, compare, finding, index, metric, record, report, sample, stats, store, suite,
};
pub use lab::NO_SERVER;
pub use run::{State, Stopped, Unwatched, Watcher, tally};
pub use session::{BenchRequest, Prepared, bench, findings, prepare, resume};
pub use worker::work;
