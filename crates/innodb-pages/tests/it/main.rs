//! Tablespaces made with this crate, given to a reader that believes nothing, and to the servers.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "clippy knows tests by their attribute, helpers have none"
)]

/// The format once more, the other way round.
mod reader;
/// Rows of random tables.
mod rows;
/// The empty tables of servers.
mod templates;

/// Lengths and counts at which something changes.
mod borders;
/// What callers may not do.
mod misuse;
/// The order of keys.
mod orders;
/// Random tables.
mod random;
/// The servers of `INRUSH_TEST_SERVERS`.
mod servers;
