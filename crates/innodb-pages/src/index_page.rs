//! A page of an index, while records are appended to it.
//!
//! ```text
//! 38                 94                         120                  heap top           directory
//! +------------------+---------------+----------+--------------------+- - - - - - - - +----+- -+----+----+
//! | counts, level,   | infimum       | supremum | record | record |  | free           | n  |   | 1  | 0  |
//! | index, segments  | origin 99     | 112      |        |        |  |                |    |   |    |    |
//! +------------------+---------------+----------+--------------------+- - - - - - - - +----+- -+----+----+
//!                          next ------------------> next --> next ---> supremum                        16376
//! ```
//!
//! Records are linked in their order, each by the distance to the next. A slot of the directory has the origin of the last record of a
//! group of 4 to 8; slot 0 is the infimum alone, and the last one the supremum, with up to 7 others.

use crate::page::{self, CONTENT, NIL, Page, TRAILER, blank_page, put_u16, put_u32, put_u64};
use crate::record::HEADER_BYTES;

const DIRECTORY_SLOTS: usize = 38;
const HEAP_TOP: usize = 40;
const HEAP_COUNT: usize = 42;
const LAST_INSERT: usize = 48;
const DIRECTION: usize = 50;
const RECORD_COUNT: usize = 54;
/// The newest transaction, or in MariaDB's roots the last automatic number.
pub(crate) const TRANSACTION: usize = 56;
pub(crate) const LEVEL: usize = 64;
pub(crate) const INDEX_ID: usize = 66;
/// Where a root names its segments.
pub(crate) const SEGMENTS: usize = 74;
pub(crate) const INFIMUM_HEADER: usize = 94;
const INFIMUM: usize = 99;
const SUPREMUM: usize = 112;
/// Where records begin.
pub(crate) const HEAP: usize = 120;
/// Records of a group, as the server makes them of rows that come in order.
const GROUP: usize = 4;
/// What is free on a page without records, its two slots taken off.
pub(crate) const FREE_MAX: usize = TRAILER - HEAP - 2 * 2;
/// What the server leaves free for rows to grow: a sixteenth (`dict_index_get_space_reserve`).
const RESERVE: usize = page::PAGE_BYTES / 16;

const RIGHT: u16 = 2;
/// Kinds of records.
pub(crate) const ROW: u8 = 0;
pub(crate) const NODE: u8 = 1;
/// The first record of the first page of a level above the leaves.
pub(crate) const FIRST_OF_LEVEL: u8 = 0x10;

const INFIMUM_AND_SUPREMUM: [u8; HEAP - INFIMUM_HEADER] =
    *b"\x01\x00\x02\x00\x0dinfimum\x00\x01\x00\x0b\x00\x00supremum";

/// A page that is being filled.
#[derive(Clone, Debug)]
pub(crate) struct IndexPage {
    pub(crate) bytes: Box<Page>,
    pub(crate) count: usize,
    heap_top: usize,
    /// The last record's origin.
    pub(crate) last: usize,
    /// The first record's.
    pub(crate) first: usize,
    /// Slots so far, the supremum's left out.
    slots: usize,
    /// Records behind the last slot's.
    group: usize,
}

impl IndexPage {
    pub(crate) fn new() -> Self {
        let mut page = Self {
            bytes: blank_page(),
            count: 0,
            heap_top: HEAP,
            last: INFIMUM,
            first: 0,
            slots: 1,
            group: 0,
        };
        page.clear();
        page
    }

    pub(crate) fn clear(&mut self) {
        self.bytes[CONTENT..HEAP].fill(0);
        self.bytes[INFIMUM_HEADER..HEAP].copy_from_slice(&INFIMUM_AND_SUPREMUM);
        put_u16(&mut self.bytes[..], TRAILER - 2, INFIMUM as u16);
        (self.count, self.heap_top, self.last, self.first) = (0, HEAP, INFIMUM, 0);
        (self.slots, self.group) = (1, 0);
    }

    /// Whether a record of so many bytes is still to go to this page.
    #[inline]
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        // Of the directory a record costs a quarter of a slot, rounded up.
        let directory = (2 * (self.count + 1)).div_ceil(GROUP);
        let used = self.heap_top - HEAP + bytes + directory;
        used <= if self.count < 2 { FREE_MAX } else { FREE_MAX - RESERVE }
    }

    /// Appends a record of this kind, which fits.
    #[inline]
    pub(crate) fn push(&mut self, kind: u8, info: u8, extra: &[u8], data: &[u8]) {
        let origin = self.heap_top + extra.len() + HEADER_BYTES;
        let end = origin + data.len();
        self.bytes[self.heap_top..origin - HEADER_BYTES].copy_from_slice(extra);
        self.bytes[origin..end].copy_from_slice(data);
        self.group += 1;
        self.count += 1;
        let mut owned = 0;
        if self.group == GROUP {
            owned = GROUP as u8;
            self.group = 0;
            self.slots += 1;
            let slot = TRAILER - 2 * self.slots;
            put_u16(&mut self.bytes[..], slot, origin as u16);
        }
        let heap_number = (self.count + 1) as u16;
        let [high, low] = (heap_number << 3 | u16::from(kind)).to_be_bytes();
        self.bytes[origin - HEADER_BYTES..origin - 2].copy_from_slice(&[info | owned, high, low]);
        self.link(origin);
        if self.count == 1 {
            self.first = origin;
        }
        self.last = origin;
        self.heap_top = end;
    }

    /// Makes `next` follow the last record.
    #[inline]
    fn link(&mut self, next: usize) {
        let distance = (next as u16).wrapping_sub(self.last as u16);
        put_u16(&mut self.bytes[..], self.last - 2, distance);
    }

    /// Ends a page that has records, except for what [`page::Stamp`] writes.
    pub(crate) fn finish(&mut self, level: u16, index_id: u64) {
        self.link(SUPREMUM);
        self.bytes[SUPREMUM - HEADER_BYTES] = self.group as u8 + 1;
        let slots = self.slots + 1;
        let directory = TRAILER - 2 * slots;
        let page = &mut self.bytes[..];
        page[self.heap_top..directory].fill(0);
        put_u16(page, directory, SUPREMUM as u16);
        put_u16(page, DIRECTORY_SLOTS, slots as u16);
        put_u16(page, HEAP_TOP, self.heap_top as u16);
        put_u16(page, HEAP_COUNT, (self.count + 2) as u16 | 0x8000);
        put_u32(page, HEAP_COUNT + 2, 0);
        put_u16(page, LAST_INSERT, self.last as u16);
        put_u16(page, DIRECTION, RIGHT);
        put_u16(page, DIRECTION + 2, 0);
        put_u16(page, RECORD_COUNT, self.count as u16);
        put_u64(page, TRANSACTION, 0);
        put_u16(page, LEVEL, level);
        put_u64(page, INDEX_ID, index_id);
    }
}

/// A page of a level, and its place in it.
#[derive(Clone, Debug)]
pub(crate) struct OpenPage {
    pub(crate) page: IndexPage,
    /// Its number, if it has one yet: the only page of the highest level is the root, which has its own.
    pub(crate) number: Option<u32>,
    pub(crate) previous: u32,
}

impl OpenPage {
    pub(crate) fn new() -> Self {
        Self { page: IndexPage::new(), number: None, previous: NIL }
    }
}
