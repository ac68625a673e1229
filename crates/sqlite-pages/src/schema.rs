//! The schema table, whose root is page 1 (section 2.6).
//!
//! It is a table like any other, with one row for each table and index. Only its root page is short
//! of the database header's 100 bytes. The rows are packed as usual, and the root is then moved:
//!
//! ```text
//! page 1   | 100 bytes | page header, pointers |  free  | cells |     if 100 bytes were free
//!          | 100 bytes | page header: no cells, right-most child -----> the root as it was
//! ```
//!
//! The second form is one that SQLite makes too, and page 1 is the only interior page that may be
//! without cells. It is needed for instance when pages have 512 bytes and the text of a table 420.

use crate::header::HEADER_BYTES;
use crate::leaf::LeafPacker;
use crate::page::{
    INTERIOR, INTERIOR_HEADER, LEAF, LEAF_HEADER, POINTER, PageSize, empty_leaf, write_header,
};
use crate::record::RecordWriter;
use crate::run::{LeafRun, Placement, Span};
use crate::sink::{PageBuffer, PageSink};
use crate::tree::{Root, TableTree};

/// A row of the schema table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaRow<'a> {
    /// `table` or `index`.
    pub kind: &'a str,
    /// Of the table or index itself.
    pub name: &'a str,
    /// Of the table that it is or belongs to.
    pub table_name: &'a str,
    /// Where its b-tree begins.
    pub root_page: u32,
    /// The statement as SQLite keeps it; none for an automatic index.
    pub sql: Option<&'a str>,
}

/// The pages of a schema table.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Page 1; its first 100 bytes are zeros and wait for the database header.
    pub page_one: Vec<u8>,
    /// The other pages, one after the other. Most often there are none.
    pub pages: Vec<u8>,
    placement: Placement,
}

impl Schema {
    /// Where [`Schema::pages`] go.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.placement.spans()
    }

    /// The first page number behind them.
    #[must_use]
    pub fn next_page(&self) -> u32 {
        self.placement.next_page()
    }
}

/// The schema table of `rows`. Pages beyond page 1 are numbered from `first_page` on, the lock-byte
/// page left out.
#[must_use]
pub fn schema(size: PageSize, rows: &[SchemaRow<'_>], first_page: u32) -> Schema {
    let mut run = pack(size, rows);
    if run.leaves.is_empty() {
        let (page_one, pages) = (below_header(&empty_leaf(size)), Vec::new());
        return Schema { page_one, pages, placement: Placement::new(size, first_page, 0) };
    }
    if run.leaves.len() == 1 && has_room(&run.pages()[..size.bytes()]) {
        // First the page numbers, then the move: the leaf holds links to its overflow pages.
        run.place(&Placement::under_root(size, 1, first_page, run.page_count()));
        let mut leaf = run.into_pages();
        let pages = leaf.split_off(size.bytes());
        let page_one = below_header(&leaf);
        let placement = Placement::new(size, first_page, (pages.len() / size.bytes()) as u32);
        return Schema { page_one, pages, placement };
    }
    let leaves = run.relocate(first_page);
    // Interior pages, if any, follow the leaves.
    let mut sink = PageBuffer::new(size, first_page);
    let own_leaves = std::mem::take(&mut run.leaves);
    sink.pages = run.into_pages();
    let mut tree = TableTree::new(size);
    for leaf in &own_leaves {
        tree.push(leaves.page(leaf.index), leaf.last_rowid, &mut sink);
    }
    let page_one = match tree.finish(&mut sink) {
        Root::Empty => unreachable!("there is a leaf"),
        Root::Leaf(page) => only_child(size, page),
        Root::Interior(root) if has_room(&root) => below_header(&root),
        Root::Interior(root) => only_child(size, sink.place(&root)),
    };
    Schema { page_one, placement: sink.placement(), pages: sink.pages }
}

/// The rows as leaves; their rowids count from 1.
fn pack(size: PageSize, rows: &[SchemaRow<'_>]) -> LeafRun {
    let (mut packer, mut run) = (LeafPacker::new(size), LeafRun::new(size));
    let mut record = RecordWriter::new(5);
    for (rowid, row) in (1..).zip(rows) {
        record.text(row.kind.as_bytes());
        record.text(row.name.as_bytes());
        record.text(row.table_name.as_bytes());
        record.integer(i64::from(row.root_page));
        match row.sql {
            Some(sql) => record.text(sql.as_bytes()),
            None => record.null(),
        }
        packer.push(rowid, record.finish());
    }
    packer.finish(&mut run);
    run
}

/// Whether as much of a b-tree page is free as the database header takes.
fn has_room(page: &[u8]) -> bool {
    let content = match usize::from(u16::from_be_bytes([page[5], page[6]])) {
        0 => page.len(),
        content => content,
    };
    pointers_end(page) + HEADER_BYTES <= content
}

/// `page` with room for the database header at its start. The cells stay where they are.
fn below_header(page: &[u8]) -> Vec<u8> {
    let mut moved = vec![0; HEADER_BYTES];
    moved.extend_from_slice(&page[..pointers_end(page)]);
    moved.extend_from_slice(&page[moved.len()..]);
    moved
}

/// Where the free part of a b-tree page begins.
fn pointers_end(page: &[u8]) -> usize {
    let page_header = if page[0] == LEAF { LEAF_HEADER } else { INTERIOR_HEADER };
    page_header + POINTER * usize::from(u16::from_be_bytes([page[3], page[4]]))
}

/// Page 1 as an interior page without cells.
fn only_child(size: PageSize, child: u32) -> Vec<u8> {
    let mut page = vec![0; size.bytes()];
    write_header(&mut page[HEADER_BYTES..], INTERIOR, 0, size.usable());
    page[HEADER_BYTES + INTERIOR_HEADER - 4..][..4].copy_from_slice(&child.to_be_bytes());
    page
}
