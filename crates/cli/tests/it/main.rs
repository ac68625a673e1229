//! The command from outside: real files, real databases, and what a user sees.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "clippy knows tests by their attribute, helpers have none"
)]

/// A directory, files, the command, a database: the words that all tests here are written in.
mod fixture;

/// Input and targets that no load can go well with.
mod bad_input;
/// How a file is written: found by looking, or as told.
mod dialects;
/// Loads that go well, and the options that say how.
mod load;
/// The README's examples print what it shows.
mod readme;
/// Bad rows put aside: exactly they, verbatim, with their positions and reasons.
mod rejects;
/// What becomes of values, and never another value than was written.
mod types;

/// Loads that are killed or stopped.
mod crash;
/// A table of the real world against Python's csv module.
mod flights;
/// Passwords in URLs.
mod secrets;
