//! The interior pages of a table, built while its leaves go by.
//!
//! Each level keeps one page open. A child becomes a cell of it; when the page is full it is handed
//! out, gets its number, and is a child of the level above:
//!
//! ```text
//! level 1                       | cell 0 | ...       held: 2 children
//!                                  |
//! level 0   | handed out | ... | handed out | cell 0 | cell 1 | ...    held: 2 children
//!              |      |                         |        |
//! leaves    | leaf | leaf | ...              | leaf  | leaf  | leaf | leaf
//! ```
//!
//! The last child of a page has no cell, as it is the header's right-most child, and no interior
//! page may be without a cell. Two children are therefore held back at each level: the first of
//! them ends a full page, and the second, together with the child that has just come, begins the
//! next one. So whenever the leaves end every open page has two children at least.

use crate::page::{INTERIOR, INTERIOR_HEADER, POINTER, PageSize, write_header};
use crate::sink::PageSink;
use crate::varint;

/// Bytes of a child's page number.
const CHILD: usize = 4;

/// How many cells a page holds at least.
const CELLS_MIN: usize = (512 - INTERIOR_HEADER) / (CHILD + varint::BYTES_MAX + POINTER);
// SQLite reads trees of at most 20 levels (`BTCURSOR_MAX_DEPTH`). 7 levels of interior pages hold
// all the pages there are.
const _: () = assert!((CELLS_MIN as u64).pow(7) > u32::MAX as u64);

/// What the root page of a table holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// The table has no leaf: [`crate::page::empty_leaf`].
    Empty,
    /// The table has one leaf, which was given this page number. It is the root.
    ///
    /// Where the root's number is given, that leaf has to be placed there
    /// ([`crate::Placement::under_root`]). So a writer holds a run of one leaf back until it knows
    /// whether there is another leaf.
    Leaf(u32),
    /// This interior page. It has no number yet and goes wherever the root is to be.
    Interior(Vec<u8>),
}

/// Builds the interior pages over the leaves of one table.
///
/// Finished pages go to a [`PageSink`]:
///
/// ```
/// use inrush_sqlite_pages::{PageBuffer, PageSize, Root, TableTree};
///
/// let size = PageSize::new(512).unwrap();
/// let mut sink = PageBuffer::new(size, 1002);
/// let mut tree = TableTree::new(size);
/// for leaf in 0..1000 {
///     tree.push(2 + leaf, i64::from(leaf) * 10, &mut sink);
/// }
/// assert!(matches!(tree.finish(&mut sink), Root::Interior(_)));
/// assert_eq!(sink.pages.len(), 17 * 512);
/// ```
#[derive(Clone, Debug)]
pub struct TableTree {
    size: PageSize,
    levels: Vec<Level>,
    last_rowid: Option<i64>,
}

/// A page and the largest rowid of its subtree.
#[derive(Clone, Copy, Debug)]
struct Child {
    page: u32,
    last_rowid: i64,
}

impl TableTree {
    /// A tree over nothing yet.
    #[must_use]
    pub fn new(size: PageSize) -> Self {
        Self { size, levels: Vec::new(), last_rowid: None }
    }

    /// Appends a leaf by its page number and its largest rowid.
    ///
    /// # Panics
    ///
    /// When the rowid is not greater than the one before.
    pub fn push(&mut self, page: u32, last_rowid: i64, sink: &mut impl PageSink) {
        assert!(self.last_rowid.is_none_or(|last| last < last_rowid), "rowids ascend");
        self.last_rowid = Some(last_rowid);
        self.push_at(0, Child { page, last_rowid }, sink);
    }

    /// Hands out the pages that are still open, except the topmost, which is the root.
    pub fn finish(mut self, sink: &mut impl PageSink) -> Root {
        let Some(bottom) = self.levels.first() else { return Root::Empty };
        if let [Some(leaf), None] = bottom.held {
            return Root::Leaf(leaf.page);
        }
        // A level that is not the lowest came to be when a page was handed out, and the one that
        // then began makes its second child.
        for level in 0.. {
            let child = self.levels[level].close();
            if level + 1 == self.levels.len() {
                break;
            }
            let child = Child { page: sink.place(&self.levels[level].page), ..child };
            self.push_at(level + 1, child, sink);
        }
        self.levels.pop().map_or(Root::Empty, |top| Root::Interior(top.page))
    }

    fn push_at(&mut self, level: usize, child: Child, sink: &mut impl PageSink) {
        let mut child = child;
        for level in level.. {
            if level == self.levels.len() {
                self.levels.push(Level::new(self.size));
            }
            match self.levels[level].push(child, sink) {
                Some(full) => child = full,
                None => break,
            }
        }
    }
}

/// The open page of a level.
#[derive(Clone, Debug)]
struct Level {
    page: Vec<u8>,
    cells: usize,
    content: usize,
    /// The last two children. Between calls there is room for the first one's cell.
    held: [Option<Child>; 2],
}

impl Level {
    fn new(size: PageSize) -> Self {
        Self { page: vec![0; size.bytes()], cells: 0, content: size.usable(), held: [None; 2] }
    }

    /// Appends a child. When that fills the page it is handed out and returned as a child itself.
    fn push(&mut self, child: Child, sink: &mut impl PageSink) -> Option<Child> {
        let (first, second) = match self.held {
            [Some(first), Some(second)] => (first, second),
            [Some(first), None] => {
                self.held = [Some(first), Some(child)];
                return None;
            }
            [None, _] => {
                self.held = [Some(child), None];
                return None;
            }
        };
        self.held = [Some(second), Some(child)];
        if cell_bytes(first) + cell_bytes(second) + 2 * POINTER <= self.free() {
            self.append(first);
            return None;
        }
        self.end(first);
        let page = sink.place(&self.page);
        self.page.fill(0);
        (self.cells, self.content) = (0, self.page.len());
        Some(Child { page, ..first })
    }

    /// Ends the last page of the level. Returns its last child.
    fn close(&mut self) -> Child {
        let [Some(first), Some(second)] = self.held else {
            unreachable!("an open page has two children");
        };
        self.append(first);
        self.end(second);
        second
    }

    fn free(&self) -> usize {
        self.content - INTERIOR_HEADER - POINTER * self.cells
    }

    fn append(&mut self, child: Child) {
        let bytes = cell_bytes(child);
        debug_assert!(bytes + POINTER <= self.free());
        self.content -= bytes;
        let cell = &mut self.page[self.content..];
        cell[..CHILD].copy_from_slice(&child.page.to_be_bytes());
        varint::write(&mut cell[CHILD..], child.last_rowid as u64);
        let pointer = INTERIOR_HEADER + POINTER * self.cells;
        self.page[pointer..pointer + POINTER].copy_from_slice(&(self.content as u16).to_be_bytes());
        self.cells += 1;
    }

    /// Writes the header, with `child` as the right-most child.
    fn end(&mut self, child: Child) {
        debug_assert!(self.cells > 0);
        write_header(&mut self.page, INTERIOR, self.cells, self.content);
        self.page[INTERIOR_HEADER - CHILD..INTERIOR_HEADER]
            .copy_from_slice(&child.page.to_be_bytes());
    }
}

fn cell_bytes(child: Child) -> usize {
    CHILD + varint::length(child.last_rowid as u64)
}
