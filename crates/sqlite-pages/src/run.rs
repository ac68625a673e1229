//! What a packer made, and where in the file it goes.
//!
//! Packers work side by side, so none knows how many pages the others make. A run therefore numbers
//! its pages from 0, and every place where such a number stands is listed. When the run's turn
//! comes it gets a [`Placement`], the numbers are replaced, and its pages go to the file in one to
//! three writes:
//!
//! ```text
//! run     | leaf 0 | leaf 1 | overflow 2 | overflow 3 | leaf 4 |      links: 1 -> 2, 2 -> 3
//! file    ... 1000 | 1001   | 1002       | 1003       | 1004          relocate(1000)
//! ```

use std::ops::Range;

use crate::page::{PAGE_NUMBER_MAX, PageSize, page_number};

/// A leaf of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Which page of the run it is, from 0.
    pub index: u32,
    /// Its smallest rowid.
    pub first_rowid: i64,
    /// Its largest rowid.
    pub last_rowid: i64,
}

/// The pages that [`crate::LeafPacker`] made of some rows. Filled by
/// [`crate::LeafPacker::finish`], which also takes over its memory.
#[derive(Clone, Debug)]
pub struct LeafRun {
    size: PageSize,
    /// What the pages lie in. Behind them is what runs before have left there.
    memory: Vec<u8>,
    /// Bytes of the pages.
    used: usize,
    /// The leaves in the order of their rowids.
    pub leaves: Vec<Leaf>,
    /// Offsets in `pages` of the page numbers that are indices of this run; none once it is placed.
    pub links: Vec<u32>,
}

impl LeafRun {
    /// An empty run.
    #[must_use]
    pub fn new(size: PageSize) -> Self {
        Self { size, memory: Vec::new(), used: 0, leaves: Vec::new(), links: Vec::new() }
    }

    /// Empties the run and keeps its memory.
    pub fn clear(&mut self) {
        self.used = 0;
        self.leaves.clear();
        self.links.clear();
    }

    /// The pages one after the other, leaves and the overflow pages of their cells.
    #[inline]
    #[must_use]
    pub fn pages(&self) -> &[u8] {
        &self.memory[..self.used]
    }

    #[inline]
    pub(crate) fn pages_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.used]
    }

    /// The pages alone.
    pub(crate) fn into_pages(mut self) -> Vec<u8> {
        self.memory.truncate(self.used);
        self.memory
    }

    /// The size of its pages.
    #[must_use]
    pub fn page_size(&self) -> PageSize {
        self.size
    }

    /// How many pages it has.
    #[inline]
    #[must_use]
    pub fn page_count(&self) -> u32 {
        (self.used / self.size.bytes()) as u32
    }

    /// Places the run at `first_page` and the pages behind it, the lock-byte page left out.
    ///
    /// # Panics
    ///
    /// When the pages would be more than a database can have.
    pub fn relocate(&mut self, first_page: u32) -> Placement {
        let placement = Placement::new(self.size, first_page, self.page_count());
        self.place(&placement);
        placement
    }

    /// Replaces the run's own page numbers by those of the file. That is done once: a run that has
    /// been placed has no links left, and stays where it is.
    ///
    /// # Panics
    ///
    /// When `placement` is for another number of pages.
    pub fn place(&mut self, placement: &Placement) {
        assert_eq!(placement.count, self.page_count(), "a placement is for one run");
        for link in self.links.drain(..) {
            let number = &mut self.memory[link as usize..][..4];
            let index = u32::from_be_bytes([number[0], number[1], number[2], number[3]]);
            number.copy_from_slice(&placement.page(index).to_be_bytes());
        }
    }

    /// Appends a page and returns its offset. Who fills it clears what is left of it: most pages are filled to the last bytes, and
    /// to clear all of each would be to write it twice.
    #[inline]
    pub(crate) fn append_page(&mut self) -> usize {
        let offset = self.used;
        // 4 GiB is what links can address. No chunk comes near; a single record is at most 1 GB.
        assert!(offset + self.size.bytes() <= u32::MAX as usize, "a run is shorter than 4 GiB");
        self.used += self.size.bytes();
        if self.memory.len() < self.used {
            self.memory.resize(self.used, 0);
        }
        offset
    }

    /// Writes the number of the run's page `index` at `offset`.
    pub(crate) fn link(&mut self, offset: usize, index: u32) {
        self.memory[offset..offset + 4].copy_from_slice(&index.to_be_bytes());
        self.links.push(offset as u32);
    }
}

/// Where in the file the pages of a run lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    size: PageSize,
    /// Where the first pages are, those that aren't with the others.
    given: Vec<u32>,
    /// Where the first of the others is.
    first: u32,
    /// How many pages there are in all.
    count: u32,
}

/// Pages of a run that are neighbours in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of the first one.
    pub page: u32,
    /// Where they are in [`LeafRun::pages`].
    pub bytes: Range<usize>,
}

impl Placement {
    /// `count` pages from `first_page` on, the lock-byte page left out.
    ///
    /// # Panics
    ///
    /// When they would be more than a database can have, or `first_page` is 0.
    #[must_use]
    pub fn new(size: PageSize, first_page: u32, count: u32) -> Self {
        assert!(first_page > 0, "pages are numbered from 1");
        // The lock-byte page may lie between, so the last one can be `first_page + count`.
        let last = u64::from(first_page) + u64::from(count);
        assert!(last <= u64::from(PAGE_NUMBER_MAX), "a database has at most 2^32 - 2 pages");
        Self { size, given: Vec::new(), first: first_page, count }
    }

    /// Page 0 at `root`, the others from `first_page` on: where a table whose root page is given
    /// goes when it has a single leaf. That leaf is the root, and its overflow pages follow.
    ///
    /// # Panics
    ///
    /// As [`Placement::new`].
    #[must_use]
    pub fn under_root(size: PageSize, root: u32, first_page: u32, count: u32) -> Self {
        assert!(root > 0, "pages are numbered from 1");
        Self::scattered(size, vec![root], first_page, count)
    }

    /// The first pages where `given` says, as many as it has numbers for, and the others from `first_page` on.
    ///
    /// # Panics
    ///
    /// As [`Placement::new`].
    #[must_use]
    pub(crate) fn scattered(size: PageSize, given: Vec<u32>, first_page: u32, count: u32) -> Self {
        Self { given, ..Self::new(size, first_page, count) }
    }

    /// How many pages are placed.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of the run's page `index`.
    #[inline]
    #[must_use]
    pub fn page(&self, index: u32) -> u32 {
        debug_assert!(index < self.count);
        match self.given.get(index as usize) {
            Some(number) => *number,
            None => page_number(self.size, self.first, index - self.given.len() as u32),
        }
    }

    /// The first page number behind the run.
    #[must_use]
    pub fn next_page(&self) -> u32 {
        match self.count.saturating_sub(self.given.len() as u32) {
            0 => self.first,
            others => page_number(self.size, self.first, others - 1) + 1,
        }
    }

    /// The run cut where its pages are no neighbours in the file.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.spans_from(0)
    }

    /// The run's pages from index `from` on, cut so. Whoever writes the first page by itself takes the others from 1: the page numbers
    /// alone don't part the two.
    pub fn spans_from(&self, mut from: u32) -> impl Iterator<Item = Span> + '_ {
        std::iter::from_fn(move || {
            if from >= self.count {
                return None;
            }
            let (page, start) = (self.page(from), from);
            from = self.span_end(start);
            let bytes = start as usize * self.size.bytes()..from as usize * self.size.bytes();
            Some(Span { page, bytes })
        })
    }

    /// The index behind the span that starts at index `start`.
    fn span_end(&self, start: u32) -> u32 {
        let given = self.given.len().min(self.count as usize) as u32;
        if start < given {
            let next = |index: &u32| self.page(*index) == self.page(*index - 1) + 1;
            return (start + 1..given).find(|index| !next(index)).unwrap_or(given);
        }
        // Numbers grow by one except at the lock-byte page, so the last one says whether it is
        // there.
        let page = self.page(start);
        if self.page(self.count - 1) - page == self.count - 1 - start {
            return self.count;
        }
        start + (crate::lock_byte_page(self.size) - page)
    }
}
