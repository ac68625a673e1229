//! Keys: index entries gathered while rows go by, sorted, and built into b-trees; rows that repeat a key found on the way.

use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

use inrush_sqlite_pages::{IndexTree, Projection, order};

use crate::pages::layout::LayoutIndex;
use crate::pages::sink::Sink;
use inrush_core::RepeatedRows;
use inrush_core::error::Result;
use inrush_sort::{Order, Sorter};

/// After so many entries somebody looks up: about a millisecond.
const CHECK_ENTRIES: u64 = 10_000;

/// Bytes of a row's position, kept behind what must be told apart by it.
const POSITION: usize = 8;

/// The entries of one index.
pub(super) struct IndexWriter {
    index: LayoutIndex,
    projection: Projection,
    sorter: Sorter<EntryOrder>,
    entry: Vec<u8>,
}

/// Entries in the order of their b-tree. What stands behind the record doesn't count.
#[derive(Clone)]
pub(super) struct EntryOrder {
    /// Which fields descend; none of them where it is empty, as nearly always.
    descends: Arc<[bool]>,
}

impl EntryOrder {
    pub(super) fn of(index: &LayoutIndex) -> Self {
        Self { descends: index.descends.as_slice().into() }
    }
}

impl Order for EntryOrder {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.descends.is_empty() {
            true => order::compare(a, b),
            false => order::compare_mixed(a, b, &self.descends),
        }
    }
}

impl IndexWriter {
    pub(super) fn new(index: LayoutIndex, sorter: Sorter<EntryOrder>) -> Self {
        let projection = Projection::new(&index.entry);
        Self { index, projection, sorter, entry: Vec::new() }
    }

    /// Adds the entry of a row; `position` is the row's among all.
    pub(super) fn push(&mut self, record: &[u8], rowid: i64, position: u64) -> io::Result<()> {
        self.entry.clear();
        self.projection.write(record, rowid, &mut self.entry);
        let prefix = match self.index.descends.first() {
            Some(true) => order::descending_prefix(&self.entry),
            _ => order::prefix(&self.entry),
        };
        if self.index.unique {
            self.entry.extend_from_slice(&position.to_be_bytes());
        }
        self.sorter.push(prefix, &self.entry)
    }

    /// Builds the b-tree and gives its root page; rows that repeat a key are noted as rivals for key number `key` instead.
    pub(super) fn finish(
        self,
        sink: &mut Sink<'_>,
        key: u32,
        rivals: &mut Rivals,
    ) -> Result<(u32, Vec<u8>)> {
        let root = self.index.root;
        let mut tree = IndexTree::new(sink.size);
        self.entries(key, rivals, sink, |entry, sink| tree.push(entry, sink))?;
        Ok((root, tree.finish(sink).into_page(sink.size)))
    }

    /// Notes rows that repeat a key, and builds nothing.
    pub(super) fn rivals(self, key: u32, rivals: &mut Rivals, sink: &mut Sink<'_>) -> Result<()> {
        if self.index.unique { self.entries(key, rivals, sink, |_, _| {}) } else { Ok(()) }
    }

    /// Goes through the entries in their order; from the first rivals on there is no use in building.
    fn entries(
        self,
        key: u32,
        rivals: &mut Rivals,
        sink: &mut Sink<'_>,
        mut build: impl FnMut(&[u8], &mut Sink<'_>),
    ) -> Result<()> {
        let mut sorted = self.sorter.finish().map_err(|error| sink.file_error(&error))?;
        let fields = self.index.key.len();
        let mut last = Vec::new();
        let mut entries = 0_u64;
        while let Some((_, item)) = sorted.next_item().map_err(|error| sink.file_error(&error))? {
            entries += 1;
            if entries.is_multiple_of(CHECK_ENTRIES) {
                sink.check()?;
            }
            if !self.index.unique {
                build(item, sink);
                continue;
            }
            let (entry, position) = split(item);
            if !last.is_empty() && order::same_key(split(&last).0, entry, fields) {
                rivals.push(key, split(&last).1, position);
            } else {
                rivals.end_group();
            }
            if rivals.is_empty() {
                build(entry, sink);
            }
            last.clear();
            last.extend_from_slice(item);
        }
        rivals.end_group();
        Ok(())
    }
}

/// An item and the position behind it.
pub(super) fn split(item: &[u8]) -> (&[u8], u64) {
    let (bytes, position) = item.split_at(item.len() - POSITION);
    (bytes, position.try_into().map_or(0, u64::from_be_bytes))
}

/// Rows that have a key in common with others.
#[derive(Default)]
pub(super) struct Rivals {
    rows: Vec<Rival>,
    groups: u32,
    open: bool,
}

/// A row among those that have one key in common. In the order in which SQLite judges them: row by row, and of a row key by key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rival {
    position: u64,
    key: u32,
    group: u32,
}

impl Rivals {
    /// Two rows with the same key, neighbours in its order.
    pub(super) fn push(&mut self, key: u32, one: u64, other: u64) {
        if !self.open {
            self.open = true;
            self.groups += 1;
            self.rows.push(Rival { position: one, key, group: self.groups });
        }
        self.rows.push(Rival { position: other, key, group: self.groups });
    }

    /// The next row has another key.
    pub(super) fn end_group(&mut self) {
        self.open = false;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows that SQLite would have refused one by one: those with a key of an earlier row that it would have taken.
    pub(super) fn losers(mut self, keys: Vec<Vec<String>>) -> RepeatedRows {
        self.rows.sort_unstable();
        let mut taken = vec![false; self.groups as usize + 1];
        let mut rows = Vec::new();
        for row in self.rows.chunk_by(|a, b| a.position == b.position) {
            match row.iter().find(|rival| taken[rival.group as usize]) {
                Some(rival) => rows.push((rival.position, rival.key)),
                None => row.iter().for_each(|rival| taken[rival.group as usize] = true),
            }
        }
        RepeatedRows { keys, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_is_taken_has_the_key() {
        let mut rivals = Rivals::default();
        // Key 0: rows 1, 4, 9 and rows 2, 3. Key 1: rows 4 and 7.
        rivals.push(0, 4, 1);
        rivals.push(0, 1, 9);
        rivals.end_group();
        rivals.push(0, 2, 3);
        rivals.end_group();
        rivals.push(1, 7, 4);
        rivals.end_group();
        let repeats = rivals.losers(vec![]);
        // Row 4 is refused because of row 1, so that row 7 repeats nobody's key.
        assert_eq!(repeats.rows, [(3, 0), (4, 0), (9, 0)]);
    }
}
