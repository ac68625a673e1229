//! The b-tree of rows by rowid while it grows: leaves packed, interior pages above them.

use inrush_sqlite_pages::page::empty_leaf;
use inrush_sqlite_pages::{LeafPacker, LeafRun, PageSink as _, PageSize, Root, TableTree};

use crate::pages::sink::Sink;
use inrush_core::error::Result;

/// Leaves are written when there are so many bytes of them.
const BATCH_BYTES: usize = 512 << 10;

/// Writes rows whose rowids ascend.
pub(super) struct RowWriter {
    packer: LeafPacker,
    run: LeafRun,
    tree: TableTree,
    /// The first leaf, with its largest rowid, while there is no other: then it is the root.
    first: Option<(Vec<u8>, i64)>,
    /// Whether there are more leaves than one.
    several: bool,
}

impl RowWriter {
    pub(super) fn new(size: PageSize) -> Self {
        Self {
            packer: LeafPacker::new(size),
            run: LeafRun::new(size),
            tree: TableTree::new(size),
            first: None,
            several: false,
        }
    }

    /// Adds a row; its rowid is greater than all before.
    #[inline]
    pub(super) fn push(&mut self, rowid: i64, record: &[u8]) {
        self.packer.push(rowid, record);
    }

    /// Writes the leaves once there are enough of them.
    #[inline]
    pub(super) fn flush(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        if self.packer.page_bytes() < BATCH_BYTES {
            return Ok(());
        }
        self.packer.finish(&mut self.run);
        self.write(sink)
    }

    fn write(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        if !self.several && self.first.is_none() && self.run.leaves.len() == 1 {
            return self.hold(sink);
        }
        if let Some((page, last_rowid)) = self.first.take_if(|_| !self.run.leaves.is_empty()) {
            let number = sink.place(&page);
            self.tree.push(number, last_rowid, sink);
        }
        self.several |= !self.run.leaves.is_empty();
        let placement = sink.append(&mut self.run)?;
        for leaf in &self.run.leaves {
            self.tree.push(placement.page(leaf.index), leaf.last_rowid, sink);
        }
        sink.check()
    }

    /// Keeps the run's only leaf, and writes the overflow pages that it has.
    fn hold(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        // Which number the leaf has is seen later; nothing refers to it yet.
        let placement = sink.numbers.take_run_under_root(1, self.run.page_count());
        self.run.place(&placement);
        for span in placement.spans_from(1) {
            sink.write(span.page, &self.run.pages()[span.bytes])?;
        }
        let page = self.run.pages()[..self.run.page_size().bytes()].to_vec();
        self.first = Some((page, self.run.leaves[0].last_rowid));
        Ok(())
    }

    /// Writes what is left, and gives the root page.
    pub(super) fn finish(mut self, sink: &mut Sink<'_>) -> Result<Vec<u8>> {
        self.packer.finish(&mut self.run);
        self.write(sink)?;
        if let Some((page, _)) = self.first {
            return Ok(page);
        }
        let root = match self.tree.finish(sink) {
            Root::Empty => empty_leaf(self.run.page_size()),
            Root::Interior(page) => page,
            Root::Leaf(_) => unreachable!("an only leaf is held"),
        };
        sink.check()?;
        Ok(root)
    }
}
