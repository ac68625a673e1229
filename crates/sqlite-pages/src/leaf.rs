//! Records as leaf pages and overflow pages.
//!
//! Leaves are filled to the last cell that fits, as SQLite fills them when rows are appended: the
//! next free place for a pointer grows upwards, the content downwards, and a page is full when a
//! cell and its pointer no longer fit between them. Overflow pages come right behind the leaf that
//! was open when their record came, so a chain lies in the order in which it is read.

use crate::page::{
    LEAF, LEAF_HEADER, POINTER, PageSize, local_bytes, local_bytes_max, write_header,
};
use crate::record::RECORD_BYTES_MAX;
use crate::run::{Leaf, LeafRun};
use crate::varint;

/// Bytes of an overflow page's number.
const LINK: usize = 4;

/// The longest prefix of a cell with a payload of at most X: 3 bytes of length, 9 of rowid.
const PREFIX_BYTES_MAX: usize = 3 + varint::BYTES_MAX;
// So that a cell whose payload needs no overflow page fits an empty leaf.
const _: () = assert!(LEAF_HEADER + POINTER + PREFIX_BYTES_MAX <= 35);

/// Packs records into the leaf pages of a table.
///
/// ```
/// use inrush_sqlite_pages::{LeafPacker, LeafRun, PageSize};
///
/// let size = PageSize::new(4096).unwrap();
/// let (mut packer, mut run) = (LeafPacker::new(size), LeafRun::new(size));
/// for rowid in 1..=1000 {
///     packer.push(rowid, b"\x03\x00\x13abc");
/// }
/// packer.finish(&mut run);
/// assert_eq!((run.page_count(), run.leaves.len()), (3, 3));
/// ```
#[derive(Clone, Debug)]
pub struct LeafPacker {
    run: LeafRun,
    /// The largest payload without overflow.
    local_max: usize,
    open: OpenLeaf,
    last_rowid: Option<i64>,
}

/// The leaf that is being filled.
#[derive(Clone, Copy, Debug)]
struct OpenLeaf {
    /// Where in the run's bytes it starts.
    offset: usize,
    /// How many cells it has; 0 when there is no leaf.
    cells: usize,
    /// Where in the page its content starts; so low when there is no leaf that nothing fits.
    content: usize,
    first_rowid: i64,
}

const NO_LEAF: OpenLeaf = OpenLeaf { offset: 0, cells: 0, content: LEAF_HEADER, first_rowid: 0 };

impl LeafPacker {
    /// A packer for pages of `size`.
    #[must_use]
    pub fn new(size: PageSize) -> Self {
        Self {
            run: LeafRun::new(size),
            local_max: local_bytes_max(size.usable()),
            open: NO_LEAF,
            last_rowid: None,
        }
    }

    /// Appends a row: its rowid and its record, which has one value at least.
    ///
    /// # Panics
    ///
    /// When `rowid` is not greater than the one before, when the record is longer than
    /// [`RECORD_BYTES_MAX`], or when the run would reach 4 GiB.
    #[inline]
    pub fn push(&mut self, rowid: i64, record: &[u8]) {
        assert!(self.last_rowid.is_none_or(|last| last < rowid), "rowids ascend");
        // So that a cell has 4 bytes at least, below which SQLite couldn't free it.
        debug_assert!(record.len() >= 2, "a record has a value");
        if record.len() <= self.local_max {
            let short = short_prefix(rowid, record.len());
            let prefix =
                short.map_or_else(|| prefix_length(rowid, record.len()), |(_, length)| length);
            let at = self.reserve(rowid, prefix + record.len());
            let cell = &mut self.run.pages_mut()[at..at + prefix + record.len()];
            // The record overwrites the surplus of a short prefix.
            match (short, cell.first_chunk_mut()) {
                (Some((bytes, _)), Some(first)) => *first = bytes,
                _ => write_prefix(cell, rowid, record.len()),
            }
            cell[prefix..].copy_from_slice(record);
        } else {
            self.push_overflowing(rowid, record);
        }
        self.last_rowid = Some(rowid);
    }

    /// How many bytes the pages take so far.
    #[inline]
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.run.pages().len()
    }

    /// The largest rowid of the run so far: the next one has to be greater.
    #[inline]
    #[must_use]
    pub fn last_rowid(&self) -> Option<i64> {
        self.last_rowid
    }

    /// Ends the last leaf and exchanges the run for `run`, whose memory is used for the next one.
    ///
    /// The next run may begin with any rowid, as chunks needn't come to a packer in the order in
    /// which they lie in the table.
    ///
    /// # Panics
    ///
    /// When `run` is of another page size.
    pub fn finish(&mut self, run: &mut LeafRun) {
        assert_eq!(run.page_size(), self.run.page_size(), "a database has one page size");
        self.close();
        self.last_rowid = None;
        run.clear();
        std::mem::swap(&mut self.run, run);
    }

    /// Makes room for a cell of `bytes` bytes and points at it. Returns its offset in the run.
    #[inline]
    fn reserve(&mut self, rowid: i64, bytes: usize) -> usize {
        if bytes + POINTER > self.open.content - LEAF_HEADER - POINTER * self.open.cells {
            self.next_leaf(rowid);
        }
        let open = &mut self.open;
        open.content -= bytes;
        let pointer = open.offset + LEAF_HEADER + POINTER * open.cells;
        open.cells += 1;
        self.run.pages_mut()[pointer..pointer + POINTER]
            .copy_from_slice(&(open.content as u16).to_be_bytes());
        open.offset + open.content
    }

    fn next_leaf(&mut self, rowid: i64) {
        self.close();
        let offset = self.run.append_page();
        let content = self.run.page_size().usable();
        self.open = OpenLeaf { offset, cells: 0, content, first_rowid: rowid };
    }

    fn close(&mut self) {
        let OpenLeaf { offset, cells, content, first_rowid } = self.open;
        if let (Some(last_rowid), 1..) = (self.last_rowid, cells) {
            let size = self.run.page_size();
            let page = &mut self.run.pages_mut()[offset..offset + size.bytes()];
            write_header(page, LEAF, cells, content);
            page[LEAF_HEADER + POINTER * cells..content].fill(0);
            page[size.usable()..].fill(0);
            let index = (offset / size.bytes()) as u32;
            self.run.leaves.push(Leaf { index, first_rowid, last_rowid });
        }
        self.open = NO_LEAF;
    }

    #[cold]
    fn push_overflowing(&mut self, rowid: i64, record: &[u8]) {
        assert!(record.len() <= RECORD_BYTES_MAX, "SQLite reads no longer record");
        let usable = self.run.page_size().usable();
        let (local, rest) = record.split_at(local_bytes(usable, record.len()));
        let prefix = prefix_length(rowid, record.len());
        let at = self.reserve(rowid, prefix + local.len() + LINK);
        write_prefix(&mut self.run.pages_mut()[at..], rowid, record.len());
        self.run.pages_mut()[at + prefix..][..local.len()].copy_from_slice(local);
        let mut link = at + prefix + local.len();
        for part in rest.chunks(usable - LINK) {
            let page = self.run.append_page();
            self.run.link(link, (page / self.run.page_size().bytes()) as u32);
            let bytes = &mut self.run.pages_mut()[page..];
            // The last one has no next.
            bytes[..LINK].fill(0);
            bytes[LINK..][..part.len()].copy_from_slice(part);
            bytes[LINK + part.len()..].fill(0);
            link = page;
        }
    }
}

/// Bytes of a cell before the payload.
#[inline]
fn prefix_length(rowid: i64, payload: usize) -> usize {
    varint::length(payload as u64) + varint::length(rowid as u64)
}

/// The prefix of a cell with a payload below 128 bytes and a rowid below 2^28, as nearly all have, and its length.
#[inline(always)]
fn short_prefix(rowid: i64, payload: usize) -> Option<([u8; 8], usize)> {
    if payload >= 0x80 || !(0..1 << 28).contains(&rowid) {
        return None;
    }
    let (bytes, length) = varint::short(rowid as u32);
    Some((((payload as u64) << 56 | u64::from(bytes) << 24).to_be_bytes(), 1 + length))
}

#[inline]
fn write_prefix(cell: &mut [u8], rowid: i64, payload: usize) {
    let length = varint::write(cell, payload as u64);
    varint::write(&mut cell[length..], rowid as u64);
}
