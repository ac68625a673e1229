//! Measures every way of writing on the user's own machine: suites, the matrix of their cells, samples in randomised blocks, what
//! they add up to, and the report.
//!
//! The modules are the way of a run: [`suite`] is read, `matrix` makes its cells, `generate` their rows, `run` takes samples through
//! `worker` processes and private servers, `verify` compares, [`store`] keeps what was measured, [`index`] makes a database of
//! it, [`stats`] and [`analysis`] say what it means, [`compare`] holds two runs side by side, and [`report`] shows it. A load of a bench
//! is [`crate::run`], as everybody's.

mod fill;
pub mod finding;
pub mod generate;
pub mod matrix;
pub mod record;
mod reference;
pub mod report;
pub mod sample;
pub mod stats;
pub mod store;
pub mod suite;
mod suite_check;
pub mod suites;
pub mod sums;
