//! Measures every way of writing on the user's own machine: suites, the matrix of their cells, samples in randomised blocks, what
//! they add up to, and the report.
//!
//! The modules are the way of a run: [`suite`] is read, `matrix` makes its cells, `generate` their rows, `run` takes samples through
//! `worker` processes and private servers, `verify` compares, `store` keeps what was measured, `stats` and `analysis` say what it means, and
//! `report` shows it. A load of a bench is [`crate::run`], as everybody's.

pub mod finding;
pub mod record;
pub mod report;
pub mod sample;
pub mod suite;
