//! Database files made with this crate, given to SQLite: that is the oracle for everything here.

/// Puts a whole database file together, as a writer would.
mod assembler;
/// What SQLite says about a file, and what becomes of it when SQLite goes on working with it.
mod oracle;
/// Numbers that look random and never change.
mod random_numbers;

/// Lengths and values at which something changes.
mod borders;
/// Byte for byte what SQLite writes.
mod bytes;
/// The page that must never be used.
mod lock_byte;
/// What callers may not do.
mod misuse;
/// Random tables.
mod random;
/// Page 1 and what doesn't fit on it.
mod schemas;
/// The `sqlite3` shell of the system, which is older than the library.
mod shell;
/// Trees of all depths.
mod trees;
/// Integers of 1 to 9 bytes.
mod varints;
