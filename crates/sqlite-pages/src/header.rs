//! The database header: the first 100 bytes of page 1 (section 1.3).
//!
//! ```text
//!  0  "SQLite format 3\0"               40  schema cookie
//! 16  page size, u16; 1 is 65,536       44  schema format: 4
//! 18  write, read version: 1 1          48  suggested cache size: 0
//! 20  reserved bytes of a page: 0       52  largest root page: 0, no auto-vacuum
//! 21  payload fractions: 64 32 32       56  text encoding: 1, UTF-8
//! 24  change counter                    60  user version: 0
//! 28  pages of the file                 64  incremental vacuum: 0
//! 32  first freelist page: 0            68  application id: 0
//! 36  freelist pages: 0                 72  20 bytes of 0
//!                                       92  version-valid-for: the change counter
//!                                       96  SQLite's version number
//! ```
//!
//! Versions 1 and 1 stand for a rollback journal. SQLite believes the count of pages only when the
//! change counter equals version-valid-for.

use crate::page::PageSize;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 100;

/// What differs from database to database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The size of all pages.
    pub page_size: PageSize,
    /// How many pages the file has ([`crate::PageNumbers::page_count`]).
    pub page_count: u32,
    /// Goes up with every transaction; 1 for a new file.
    pub change_counter: u32,
    /// Goes up with every change of the schema; 1 for a new file.
    pub schema_cookie: u32,
    /// Of the SQLite that wrote the file last, 3_054_001 for 3.54.1.
    pub sqlite_version: u32,
}

/// The header's bytes.
#[must_use]
pub fn header(fields: &Header) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..16].copy_from_slice(b"SQLite format 3\0");
    bytes[16..18].copy_from_slice(&fields.page_size.header_bytes());
    bytes[18..24].copy_from_slice(&[1, 1, 0, 64, 32, 32]);
    let mut number = |at: usize, value: u32| {
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    };
    number(24, fields.change_counter);
    number(28, fields.page_count);
    number(40, fields.schema_cookie);
    number(44, 4);
    number(56, 1);
    number(92, fields.change_counter);
    number(96, fields.sqlite_version);
    bytes
}
