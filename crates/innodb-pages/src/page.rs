//! Pages: what stands at the beginning and at the end of each, and its checksum.
//!
//! ```text
//! 0          4        8       12      16    24     26          34      38                 16376      16384
//! +----------+--------+-------+-------+-----+------+-----------+-------+- - - - - - - - - +----------+
//! | checksum | number | prev  | next  | LSN | type | flush LSN | space | content           | trailer  |
//! | or 0     | u32    | u32   | u32   | u64 | u16  | u64       | u32   |                   |          |
//! +----------+--------+-------+-------+-----+------+-----------+-------+- - - - - - - - - +----------+
//! ```
//!
//! `prev` and `next` link the pages of one level of an index; 2^32 - 1 is no page.

use crc32c::{crc32c, crc32c_append};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 16 << 10;
/// Pages of an extent.
pub const EXTENT_PAGES: u32 = 64;
/// No page.
pub(crate) const NIL: u32 = u32::MAX;

pub(crate) const NUMBER: usize = 4;
pub(crate) const PREV: usize = 8;
pub(crate) const NEXT: usize = 12;
pub(crate) const LSN: usize = 16;
pub(crate) const KIND: usize = 24;
pub(crate) const SPACE_ID: usize = 34;
/// Where the content starts.
pub(crate) const CONTENT: usize = 38;
/// Where it ends, and the trailer starts.
pub(crate) const TRAILER: usize = PAGE_BYTES - 8;

/// Types of pages, as `type` has them.
pub(crate) const INODES: u16 = 3;
pub(crate) const CHANGE_BUFFER_BITMAP: u16 = 5;
pub(crate) const SPACE_HEADER: u16 = 8;
pub(crate) const DESCRIPTORS: u16 = 9;
pub(crate) const BLOB: u16 = 10;
pub(crate) const COMPRESSED: u16 = 14;
pub(crate) const ENCRYPTED: u16 = 15;
pub(crate) const COMPRESSED_AND_ENCRYPTED: u16 = 16;
pub(crate) const INSTANT: u16 = 18;
pub(crate) const INDEX: u16 = 0x45bf;

/// One page in memory.
pub(crate) type Page = [u8; PAGE_BYTES];

pub(crate) fn blank_page() -> Box<Page> {
    Box::new([0; PAGE_BYTES])
}

/// How pages of a tablespace are checked; its flags say which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// `full_crc32` of MariaDB 10.5 and later: the last four bytes are the CRC-32C of all before.
    Full,
    /// `crc32` of MySQL, and of older MariaDB: the CRC-32C of the header from byte 4 to 26, xor that of the content, at the
    /// beginning and in the trailer.
    Crc32,
}

impl Checksum {
    /// Writes the trailer, and the checksum wherever it stands. Everything else has been written.
    pub(crate) fn seal(self, page: &mut [u8]) {
        let lsn = u32_at(page, LSN + 4);
        match self {
            Self::Full => {
                put_u32(page, TRAILER, lsn);
                let sum = crc32c(&page[..TRAILER + 4]);
                put_u32(page, TRAILER + 4, sum);
            }
            Self::Crc32 => {
                let sum = header_and_content(page);
                put_u32(page, 0, sum);
                put_u32(page, TRAILER, sum);
                put_u32(page, TRAILER + 4, lsn);
            }
        }
    }

    /// Whether a page of 16 KiB is as it was sealed. A page of zeros is one that was never written, and is right.
    #[must_use]
    pub fn holds(self, page: &[u8]) -> bool {
        let lsn = u32_at(page, LSN + 4);
        let holds = match self {
            Self::Full => {
                let sum = crc32c(&page[..TRAILER + 4]);
                u32_at(page, TRAILER) == lsn && u32_at(page, TRAILER + 4) == sum
            }
            Self::Crc32 => {
                let sum = header_and_content(page);
                [0, TRAILER].iter().all(|at| u32_at(page, *at) == sum)
                    && u32_at(page, TRAILER + 4) == lsn
            }
        };
        holds || page.iter().all(|byte| *byte == 0)
    }
}

fn header_and_content(page: &[u8]) -> u32 {
    crc32c_append(0, &page[NUMBER..26]) ^ crc32c(&page[CONTENT..TRAILER])
}

/// What all pages of one tablespace have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) checksum: Checksum,
    pub(crate) space_id: u32,
    pub(crate) lsn: u64,
}

impl Stamp {
    /// Writes the header of a page. `links` are `prev` and `next`; pages that have none say so in the way of their server.
    pub(crate) fn head(&self, page: &mut Page, kind: u16, number: u32, links: Option<[u32; 2]>) {
        let [prev, next] = links.unwrap_or(match self.checksum {
            Checksum::Full => [NIL; 2],
            Checksum::Crc32 => [0; 2],
        });
        page[..CONTENT].fill(0);
        put_u32(page, NUMBER, number);
        put_u32(page, PREV, prev);
        put_u32(page, NEXT, next);
        put_u64(page, LSN, self.lsn);
        put_u16(page, KIND, kind);
        put_u32(page, SPACE_ID, self.space_id);
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    (u32::from(u16_at(bytes, at)) << 16) | u32::from(u16_at(bytes, at + 2))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    (u64::from(u32_at(bytes, at)) << 32) | u64::from(u32_at(bytes, at + 4))
}

pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_be_bytes());
}
