//! Entries in ascending order as the b-tree of an index.
//!
//! The b-tree of an index is also that of a table `WITHOUT ROWID`. Its entries are records, and in
//! contrast to a table's an entry in an interior page is in no leaf:
//!
//! ```text
//! level 1                        | entry 8, left child |  right-most child
//!                                       |                      |
//! level 0 (leaves)     | entries 0 to 7 |      | entries 9 to ...
//! ```
//!
//! Each level keeps one page open. An entry that no longer fits is what separates the page from the
//! next one: the page is handed out, and the entry goes to the level above with the page as its
//! left child. There the same happens. Pages are so filled to the last entry that fits, which is
//! what SQLite makes of entries in order.
//!
//! The next page must not stay empty, and perhaps nothing follows. So the entry that did not fit is
//! held back until the next one comes, and begins the next page. When none comes, the last entry of
//! the full page goes up instead, and the one held back is alone in the last page:
//!
//! ```text
//!            another entry comes                            it was the last one
//!                       | 8 |                                         | 7 |
//! | 0 1 2 3 4 5 6 7 |  held: 8  | 9 ...         | 0 1 2 3 4 5 6 |             | 8 |
//! ```

use crate::page::{
    INDEX_INTERIOR, INDEX_LEAF, INTERIOR_HEADER, LEAF_HEADER, POINTER, PageSize, index_local_bytes,
    index_local_bytes_max, write_header,
};
use crate::record::RECORD_BYTES_MAX;
use crate::sink::PageSink;
use crate::varint;

/// Bytes of a page's number: a left child's or an overflow page's.
const LINK: usize = 4;
/// Bytes of a cell at least, below which SQLite couldn't free it.
const CELL_BYTES_MIN: usize = 4;

/// The longest cell and its pointer on the smallest pages: a payload length of 5 bytes, a local
/// part of X, two links.
const CELL_BYTES_MAX: usize = 5 + index_local_bytes_max(512) + 2 * LINK + POINTER;
/// How many cells a full page holds at least.
const CELLS_MIN: usize = (512 - INTERIOR_HEADER) / CELL_BYTES_MAX;
// So that a full page can give up its last cell. The larger pages are, the more there are.
const _: () = assert!(CELLS_MIN >= 2);
// SQLite reads trees of at most 20 levels (`BTCURSOR_MAX_DEPTH`).
const _: () = assert!((CELLS_MIN as u64 + 1).pow(19) > u32::MAX as u64);

/// What the root page of an index holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexRoot {
    /// The index has no entry: [`crate::empty_index_leaf`].
    Empty,
    /// This page, a leaf or an interior one. It has no number yet and goes wherever the root is to
    /// be.
    Page(Vec<u8>),
}

impl IndexRoot {
    /// The page's bytes, whatever the root is.
    #[must_use]
    pub fn into_page(self, size: PageSize) -> Vec<u8> {
        match self {
            Self::Empty => crate::empty_index_leaf(size),
            Self::Page(page) => page,
        }
    }
}

/// Builds the b-tree of an index out of its entries.
///
/// ```
/// use inrush_sqlite_pages::{IndexRoot, IndexTree, PageBuffer, PageSize, RecordWriter};
///
/// let size = PageSize::new(512).unwrap();
/// let mut sink = PageBuffer::new(size, 3);
/// let (mut tree, mut record) = (IndexTree::new(size), RecordWriter::new(2));
/// for rowid in 100..200 {
///     record.text(format!("name {rowid}").as_bytes());
///     record.integer(rowid);
///     tree.push(record.finish(), &mut sink);
/// }
/// let IndexRoot::Page(root) = tree.finish(&mut sink) else { unreachable!() };
/// assert_eq!((root[0], sink.pages.len()), (0x02, 4 * 512));
/// ```
#[derive(Clone, Debug)]
pub struct IndexTree {
    size: PageSize,
    /// The largest payload without overflow.
    local_max: usize,
    leaf: Level,
    /// The levels above the leaves, from below.
    interior: Vec<Level>,
    /// An entry on its way to a page other than the open leaf.
    entry: Vec<u8>,
    /// An overflow page.
    overflow: Vec<u8>,
}

impl IndexTree {
    /// A tree without entries.
    #[must_use]
    pub fn new(size: PageSize) -> Self {
        Self {
            size,
            local_max: index_local_bytes_max(size.usable()),
            leaf: Level::new(size, INDEX_LEAF),
            interior: Vec::new(),
            entry: Vec::new(),
            overflow: Vec::new(),
        }
    }

    /// Appends an entry: a record of one value at least, which comes after the one before in the
    /// index's order ([`crate::order`]). Nothing here looks at the order.
    ///
    /// # Panics
    ///
    /// When the record is longer than [`RECORD_BYTES_MAX`].
    #[inline]
    pub fn push(&mut self, payload: &[u8], sink: &mut impl PageSink) {
        debug_assert!(payload.len() >= 2, "a record has a value");
        let prefix = varint::length(payload.len() as u64);
        let bytes = (prefix + payload.len()).max(CELL_BYTES_MIN);
        // Most entries go straight to the open leaf.
        if payload.len() <= self.local_max && bytes + POINTER <= self.leaf.free {
            let cell = self.leaf.reserve(bytes, prefix + payload.len());
            // The only shorter cell than 4 bytes is one of 3.
            cell[CELL_BYTES_MIN - 1] = 0;
            varint::write(cell, payload.len() as u64);
            cell[prefix..prefix + payload.len()].copy_from_slice(payload);
        } else {
            self.push_slowly(payload, sink);
        }
    }

    /// Hands out the pages that are still open, except the topmost, which is the root.
    pub fn finish(mut self, sink: &mut impl PageSink) -> IndexRoot {
        if self.leaf.cells == 0 {
            return IndexRoot::Empty;
        }
        let mut right = 0;
        for level in 0.. {
            if self.level(level).is_holding() {
                // This makes a level above, if there is none.
                let mut entry = std::mem::take(&mut self.entry);
                let page = self.level(level).split_last(&mut entry, sink);
                self.entry = entry;
                self.push_up(level + 1, page, sink);
            }
            self.level(level).end(right);
            if level == self.interior.len() {
                break;
            }
            right = sink.place(&self.level(level).page);
        }
        IndexRoot::Page(self.interior.pop().unwrap_or(self.leaf).page)
    }

    fn level(&mut self, level: usize) -> &mut Level {
        match level {
            0 => &mut self.leaf,
            _ => &mut self.interior[level - 1],
        }
    }

    /// The entry overflows, or the leaf is full.
    #[cold]
    fn push_slowly(&mut self, payload: &[u8], sink: &mut impl PageSink) {
        self.entry.clear();
        self.entry.resize(varint::length(payload.len() as u64), 0);
        varint::write(&mut self.entry, payload.len() as u64);
        if payload.len() <= self.local_max {
            self.entry.extend_from_slice(payload);
        } else {
            self.overflow(payload, sink);
        }
        self.push_up(0, 0, sink);
    }

    /// Appends what of an overflowing payload is in the cell, and hands out the rest.
    fn overflow(&mut self, payload: &[u8], sink: &mut impl PageSink) {
        assert!(payload.len() <= RECORD_BYTES_MAX, "SQLite reads no longer record");
        let usable = self.size.usable();
        let (local, rest) = payload.split_at(index_local_bytes(usable, payload.len()));
        let mut number = sink.reserve();
        self.entry.extend_from_slice(local);
        self.entry.extend_from_slice(&number.to_be_bytes());
        self.overflow.resize(self.size.bytes(), 0);
        let mut parts = rest.chunks(usable - LINK).peekable();
        while let Some(part) = parts.next() {
            let next = if parts.peek().is_some() { sink.reserve() } else { 0 };
            self.overflow[..LINK].copy_from_slice(&next.to_be_bytes());
            self.overflow[LINK..LINK + part.len()].copy_from_slice(part);
            self.overflow[LINK + part.len()..].fill(0);
            sink.store(number, &self.overflow);
            number = next;
        }
    }

    /// Appends `self.entry`, with `child` as its left child, to `level`, and what that pushes out
    /// to the levels above.
    fn push_up(&mut self, level: usize, child: u32, sink: &mut impl PageSink) {
        let mut entry = std::mem::take(&mut self.entry);
        let mut child = child;
        for level in level.. {
            if level > self.interior.len() {
                self.interior.push(Level::new(self.size, INDEX_INTERIOR));
            }
            match self.level(level).push(child, &mut entry, sink) {
                Some(full) => child = full,
                None => break,
            }
        }
        self.entry = entry;
    }
}

/// The open page of a level.
#[derive(Clone, Debug)]
struct Level {
    kind: u8,
    /// Bytes of the page's header.
    header: usize,
    page: Vec<u8>,
    cells: usize,
    content: usize,
    /// Bytes for more cells and their pointers. None when an entry is held, as what comes then may
    /// be shorter and must not go before it.
    free: usize,
    /// Bytes of the last cell's entry, without the left child and what makes it 4 bytes.
    last_entry: usize,
    /// The first entry that did not fit, if there is one, and its left child.
    held: Vec<u8>,
    held_child: u32,
}

impl Level {
    fn new(size: PageSize, kind: u8) -> Self {
        let header = if kind == INDEX_LEAF { LEAF_HEADER } else { INTERIOR_HEADER };
        Self {
            kind,
            header,
            page: vec![0; size.bytes()],
            cells: 0,
            content: size.usable(),
            free: size.usable() - header,
            last_entry: 0,
            held: Vec::new(),
            held_child: 0,
        }
    }

    fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    #[inline]
    fn pointers_end(&self) -> usize {
        self.header + POINTER * self.cells
    }

    /// Bytes of a left child's number in a cell.
    fn child_bytes(&self) -> usize {
        if self.kind == INDEX_LEAF { 0 } else { LINK }
    }

    /// Appends the entry that `entry` has, or holds it back. If another one is held back already,
    /// the full page is handed out and its number returned; what was held is then in `entry`.
    fn push(&mut self, child: u32, entry: &mut Vec<u8>, sink: &mut impl PageSink) -> Option<u32> {
        if self.is_holding() {
            let full = self.split(sink);
            self.append(child, entry);
            std::mem::swap(entry, &mut self.held);
            self.held.clear();
            return Some(full);
        }
        if self.cell_bytes(entry) + POINTER <= self.free {
            self.append(child, entry);
        } else {
            self.held.clone_from(entry);
            self.held_child = child;
            self.free = 0;
        }
        None
    }

    /// Hands out the full page and begins the next one. The entry that is held is what separates
    /// them.
    fn split(&mut self, sink: &mut impl PageSink) -> u32 {
        self.end(self.held_child);
        (self.cells, self.content) = (0, self.page.len());
        self.free = self.content - self.header;
        sink.place(&self.page)
    }

    /// The same when no other entry comes: the last one of the full page goes to `entry`, and the
    /// one that is held begins the next page.
    fn split_last(&mut self, entry: &mut Vec<u8>, sink: &mut impl PageSink) -> u32 {
        debug_assert!(self.cells > 1);
        let start = self.content + self.child_bytes();
        entry.clear();
        entry.extend_from_slice(&self.page[start..start + self.last_entry]);
        let last_child = match self.page[self.content..start] {
            [a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
            _ => 0,
        };
        self.content += self.cell_bytes(entry);
        self.cells -= 1;
        let (held, held_child) = (std::mem::take(&mut self.held), self.held_child);
        self.held_child = last_child;
        let full = self.split(sink);
        self.append(held_child, &held);
        full
    }

    fn cell_bytes(&self, entry: &[u8]) -> usize {
        (self.child_bytes() + entry.len()).max(CELL_BYTES_MIN)
    }

    fn append(&mut self, child: u32, entry: &[u8]) {
        let child_bytes = self.child_bytes();
        let cell = self.reserve(self.cell_bytes(entry), entry.len());
        cell[CELL_BYTES_MIN - 1] = 0;
        cell[..child_bytes].copy_from_slice(&child.to_be_bytes()[..child_bytes]);
        cell[child_bytes..child_bytes + entry.len()].copy_from_slice(entry);
    }

    /// Makes room for a cell of `bytes` bytes and points at it.
    #[inline]
    fn reserve(&mut self, bytes: usize, entry: usize) -> &mut [u8] {
        let pointer = self.pointers_end();
        self.content -= bytes;
        self.free -= bytes + POINTER;
        self.cells += 1;
        self.last_entry = entry;
        self.page[pointer..pointer + POINTER].copy_from_slice(&(self.content as u16).to_be_bytes());
        &mut self.page[self.content..self.content + bytes]
    }

    /// Writes the header, in an interior page with `right` as the right-most child, and clears what
    /// the page before left between pointers and content.
    fn end(&mut self, right: u32) {
        debug_assert!(self.cells > 0);
        write_header(&mut self.page, self.kind, self.cells, self.content);
        if self.kind == INDEX_INTERIOR {
            self.page[LEAF_HEADER..INTERIOR_HEADER].copy_from_slice(&right.to_be_bytes());
        }
        let free = self.pointers_end()..self.content;
        self.page[free].fill(0);
    }
}
