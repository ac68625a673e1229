//! Values that are stored elsewhere, in chains of pages.
//!
//! ```text
//! record ... +-------+-------+--------+-----------+      38     42     46                                16376
//!            | space | page  | 38     | length    | ---> +------+------+- - - - - - - - - - - - - - - - -+
//!            | u32   | u32   | u32    | u64       |      | bytes| next | up to 16330 bytes of the value  |
//!            +-------+-------+--------+-----------+      | here | page |                                 |
//!                                                        +------+------+- - - - - - - - - - - - - - - - -+
//! ```
//!
//! This is the form of MySQL 5.7 and of MariaDB. MySQL 8.0 writes another one and goes on reading this one.

use crate::page::{self, CONTENT, NIL, Page, TRAILER, put_u32};
use crate::sink::Sink;
use crate::space::{Space, SpaceError, Stream};

/// Bytes of a reference.
pub(crate) const REFERENCE_BYTES: usize = 20;
/// Where the value's bytes begin on a page.
const BYTES: usize = CONTENT + 8;

/// A reference whose page is not known yet. The highest bits of the length are flags: the record owns the pages, and has inherited
/// none.
pub(crate) fn reference(length: usize) -> [u8; REFERENCE_BYTES] {
    let mut reference = [0; REFERENCE_BYTES];
    put_u32(&mut reference, 8, CONTENT as u32);
    put_u32(&mut reference, 16, length as u32);
    reference
}

/// Writes the pages of a value, which is not empty, by way of `page`. Returns the first one's number.
pub(crate) fn store<S: Sink>(
    space: &mut Space<S>,
    page: &mut Page,
    value: &[u8],
) -> Result<u32, SpaceError<S::Error>> {
    let first = space.allocate(Stream::Values)?;
    let mut number = first;
    let mut parts = value.chunks(TRAILER - BYTES).peekable();
    while let Some(part) = parts.next() {
        let next = if parts.peek().is_some() { space.allocate(Stream::Values)? } else { NIL };
        space.stamp.head(page, page::BLOB, number, None);
        put_u32(page, CONTENT, part.len() as u32);
        put_u32(page, CONTENT + 4, next);
        page[BYTES..BYTES + part.len()].copy_from_slice(part);
        page[BYTES + part.len()..].fill(0);
        space.stamp.checksum.seal(page);
        space.store(Stream::Values, number, page)?;
        number = next;
    }
    Ok(first)
}

/// Writes where the first page is into the reference at `at`.
pub(crate) fn refer(data: &mut [u8], at: usize, space_id: u32, first: u32) {
    put_u32(data, at, space_id);
    put_u32(data, at + 4, first);
}
