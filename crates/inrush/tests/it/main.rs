//! The library from outside: a plan, a run, and what is in the database afterwards.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "clippy knows tests by their attribute, helpers have none"
)]

/// Files of any bytes: each has a plan or an error.
mod any_file;
/// Tables and files that look random: every kind of key, type and page that SQLite has, and data that fits badly.
mod case;
/// Statements over a connection, which every target has to run in the same way.
mod console;
/// Two databases that have to be the same to SQLite, whoever wrote them.
mod database;
/// Tables to CSV and JSON Lines files, and what is read from those.
#[cfg(feature = "files")]
mod files;
/// `sqlite/pages` against `sqlite/bind`: for every input the same table, the same bad rows, the same words.
mod pages;
/// Numbers that look random and are the same in every run with the same seed.
#[path = "../../../sqlite-pages/tests/it/random_numbers.rs"]
mod random_numbers;
/// What `sqlite/pages` leaves to SQLite, and the words it has for that.
mod refusals;
/// Rows that a program has, and no file.
mod rows;
/// Files in parts, which together are the whole.
mod splits;
