//! What targets share that talk to a server.
//!
//! ```text
//! URL -> Channel (address, TLS, patience, Ctrl-C) -> an engine's session -> lane of statements
//!            |                                             |
//!         Failure (refused, lost and how, stopped)   hidden tables (staging names)
//! ```
//!
//! An engine's crate brings its protocol; nothing here knows one. What is here holds for all servers: change it for all, or not at all.

mod account;
mod answer;
pub mod channel;
mod distrust;
mod failure;
pub mod folder;
mod round_trip;
pub mod staging;
pub mod statement;

pub use account::account;
pub use answer::{ANSWER_BYTES_MAX, Allowance, Answers, TextRows};
pub use distrust::{Distrust, DistrustKind};
pub use failure::{Advice, Failure, Lost, LostKind, Wired, drive};
pub use round_trip::RoundTrip;
