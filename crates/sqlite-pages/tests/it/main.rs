//! Database files made with this crate, given to SQLite: that is the oracle for everything here.

/// Puts a whole database file together, as a writer would.
mod assembler;
/// The same with indexes, and tables without a rowid.
mod index_assembler;
/// The b-tree of an index, read page by page.
mod index_pages;
/// What SQLite says about a file, and what becomes of it when SQLite goes on working with it.
mod oracle;
/// Numbers that look random and never change.
mod random_numbers;

/// Lengths and values at which something changes.
mod borders;
/// Byte for byte what SQLite writes.
mod bytes;
/// Indexes, and tables without a rowid.
mod indexes;
/// The page that must never be used.
mod lock_byte;
/// What callers may not do.
mod misuse;
/// The order of records.
mod orders;
/// Records read, and put together anew.
mod projections;
/// Random tables, with and without indexes.
mod random;
/// Short ways to write a record against the long ones.
mod records;
/// Page 1 and what doesn't fit on it.
mod schemas;
/// The `sqlite3` shell of the system, which is older than the library.
mod shell;
/// Trees of all depths.
mod trees;
/// Integers of 1 to 9 bytes.
mod varints;
