//! The command from outside: real files, real databases, and what a user sees.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "clippy knows tests by their attribute, helpers have none"
)]

/// A disk as small as a test wants it, mounted where nobody else sees it.
mod disk;
/// A directory, files, the command, a database: the words that all tests here are written in.
mod fixture;
/// What stands between the command and a server: it listens, cuts, and lies.
mod proxy;
/// Servers to load into, whichever they are.
mod servers;

/// What every target keeps.
mod contract;

/// Files within archives.
mod archives;
/// Input that no load can go well with.
mod bad_input;
/// Targets that no load can go well with: locked, full, read-only.
mod bad_target;
/// `inrush bench`: what it measures, what it catches, what is left of it.
mod bench;
/// `inrush check`: what it tells of an input.
mod check;
/// Parquet and Arrow IPC files as input.
#[cfg(feature = "parquet")]
mod columns;
/// What surrounds a load: plan, help, lists, completions, mistakes on the command line.
mod commands;
/// Options of a file, and of the environment.
mod config;
/// What separates fields: found by looking, or said by the file.
mod delimiters;
/// How a file is written: found by looking, or as told.
mod dialects;
/// `inrush doctor`: what it names, and what its statements change.
mod doctor;
/// DuckDB, through its library.
mod duckdb;
/// CSV and JSON Lines files as targets.
mod files;
/// What is promised, and which test holds it.
mod guarantees;
/// Several files, patterns, pipes.
mod inputs;
/// Jobs: one load that several processes write.
mod jobs;
/// JSON as input.
mod json;
/// Keys and indexes, and rows with a duplicate key.
mod keys;
/// Loads that go well, and the options that say how.
mod load;
/// MongoDB, on what speaks its protocol.
mod mongodb;
/// SQL Server, by a double that speaks its protocol.
#[cfg(feature = "mssql")]
mod mssql;
/// MySQL and MariaDB, on real servers.
mod mysql;
/// PostgreSQL, on real servers.
mod postgres;
/// Private servers: what they leave behind, and what they say when they can't start.
mod private_servers;
/// The README's examples print what it shows.
mod readme;
/// Bad rows rejected: exactly they, verbatim, with their positions and reasons.
mod rejects;
/// What a bench has to show, as a page in a browser and otherwise.
#[cfg(feature = "bench")]
mod report;
/// What a load in steps says that can't go on.
mod resume;
/// Files that are no tables, and JSON that is one.
mod shapes;
/// Sheets of workbooks.
mod sheets;
/// SQLite, as one target among others.
#[cfg(feature = "sqlite")]
mod sqlite;
/// Programs that write in steps, on servers that end their connections.
mod steps;
/// Loads and jobs that are stopped while the commit is without an answer.
mod stops;
/// Every way to write and every setting: the same table, the promises that were asked for.
mod strategies;
/// What a terminal shows.
#[cfg(feature = "sqlite")]
mod terminal;
/// `inrush tune`: what it keeps, and what it leaves.
#[cfg(all(feature = "bench", feature = "sqlite"))]
mod tune;
/// What becomes of values, and never another value than was written.
mod types;
/// Sources over the network.
#[cfg(all(feature = "cloud", feature = "sqlite"))]
mod web;

/// Loads that are killed or stopped.
mod crash;
/// The same for `sqlite/pages`, which writes past SQLite's SQL engine; and whoever uses the database meanwhile.
mod crash_pages;
/// A table of the real world against Python's csv module.
mod flights;
/// Databases that are moved, replaced or removed while a load writes to them.
#[cfg(feature = "sqlite")]
mod moved;
/// What once went wrong: each test is named after it.
mod regressions;
/// Passwords in URLs.
mod secrets;
