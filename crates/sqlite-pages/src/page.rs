//! Page sizes, page numbers, and what all b-tree pages have in common.

use crate::run::Placement;

/// The first byte of an index's interior page.
pub(crate) const INDEX_INTERIOR: u8 = 0x02;
/// The first byte of an index's leaf page.
pub(crate) const INDEX_LEAF: u8 = 0x0a;
/// The first byte of a table's interior page.
pub(crate) const INTERIOR: u8 = 0x05;
/// The first byte of a table's leaf page.
pub(crate) const LEAF: u8 = 0x0d;
/// Bytes of a leaf's header; the cell pointers follow.
pub(crate) const LEAF_HEADER: usize = 8;
/// Bytes of an interior page's header: a leaf's and the right-most child.
pub(crate) const INTERIOR_HEADER: usize = 12;
/// Bytes of a cell pointer.
pub(crate) const POINTER: usize = 2;

/// The byte at which SQLite's file locks begin.
const LOCK_BYTE: u64 = 1 << 30;

/// The largest page number, 2^32 - 2.
pub const PAGE_NUMBER_MAX: u32 = u32::MAX - 1;

/// How many bytes a page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageSize(u32);

impl PageSize {
    /// Every page size there is.
    pub const ALL: [Self; 8] = [
        Self(512),
        Self(1024),
        Self(2048),
        Self(4096),
        Self(8192),
        Self(16384),
        Self(32768),
        Self(65536),
    ];

    /// `None` unless `bytes` is a power of two from 512 to 65,536.
    #[must_use]
    pub const fn new(bytes: u32) -> Option<Self> {
        if bytes.is_power_of_two() && bytes >= 512 && bytes <= 65536 {
            Some(Self(bytes))
        } else {
            None
        }
    }

    /// The whole page.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// U, the part of a page that b-trees use. It is the whole page, as the files written here have
    /// no reserved bytes.
    #[inline]
    #[must_use]
    pub const fn usable(self) -> usize {
        self.bytes()
    }

    /// The two bytes that stand for the size in the database header: 1 is 65,536.
    pub(crate) const fn header_bytes(self) -> [u8; 2] {
        if self.0 == 65536 { [0, 1] } else { (self.0 as u16).to_be_bytes() }
    }
}

/// The page that must never be used, because SQLite's file locks lie on its bytes (section 1.4).
#[inline]
#[must_use]
pub const fn lock_byte_page(size: PageSize) -> u32 {
    (LOCK_BYTE / size.bytes() as u64) as u32 + 1
}

/// The number of the page `index` places behind `first`, the lock-byte page not counted.
///
/// `first` may be the lock-byte page itself, which then stands for the page after it.
#[inline]
pub(crate) const fn page_number(size: PageSize, first: u32, index: u32) -> u32 {
    let lock = lock_byte_page(size);
    let number = first + index;
    if first <= lock && number >= lock { number + 1 } else { number }
}

/// How many places behind `first` the page `number` is: [`page_number`] the other way round.
#[inline]
pub(crate) const fn page_index(size: PageSize, first: u32, number: u32) -> u32 {
    let lock = lock_byte_page(size);
    number - first - (first <= lock && lock < number) as u32
}

/// Page numbers: first those of free pages, then one after the other, the lock-byte page left out, as a file grows at its end.
#[derive(Clone, Debug)]
pub struct PageNumbers {
    size: PageSize,
    /// Free pages, the next one last.
    free: Vec<u32>,
    next: u32,
}

impl PageNumbers {
    /// Numbers from `first` on.
    ///
    /// # Panics
    ///
    /// When `first` is 0, which is no page.
    #[must_use]
    pub fn new(size: PageSize, first: u32) -> Self {
        assert!(first > 0, "pages are numbered from 1");
        Self { size, free: Vec::new(), next: first }
    }

    /// The same numbers, but before them these, which are pages of the file that hold nothing.
    #[must_use]
    pub fn with_free(mut self, pages: impl IntoIterator<Item = u32>) -> Self {
        self.free = pages.into_iter().collect();
        self.free.reverse();
        self
    }

    /// How many free pages there still are.
    #[must_use]
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// The next page number.
    ///
    /// # Panics
    ///
    /// When there are no numbers left.
    pub fn take(&mut self) -> u32 {
        self.take_run(1).page(0)
    }

    /// Places for `count` pages, for [`crate::LeafRun::place`].
    ///
    /// # Panics
    ///
    /// When there are not that many numbers left.
    pub fn take_run(&mut self, count: u32) -> Placement {
        self.take_behind(Vec::new(), count)
    }

    /// Places for the run of a table that has a single leaf and a given root page
    /// ([`Placement::under_root`]).
    ///
    /// # Panics
    ///
    /// When there are not that many numbers left.
    pub fn take_run_under_root(&mut self, root: u32, count: u32) -> Placement {
        assert!(root > 0, "pages are numbered from 1");
        self.take_behind(vec![root], count)
    }

    fn take_behind(&mut self, mut given: Vec<u32>, count: u32) -> Placement {
        let wanted = (count as usize).saturating_sub(given.len());
        let kept = self.free.len().saturating_sub(wanted);
        given.extend(self.free.drain(kept..).rev());
        let placement = Placement::scattered(self.size, given, self.next, count);
        self.next = placement.next_page();
        placement
    }

    /// The size of the pages.
    #[must_use]
    pub fn page_size(&self) -> PageSize {
        self.size
    }

    /// How many pages a file has that ends with the last number taken: what its header says.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        self.next - 1
    }
}

/// A b-tree page's header at the start of `page`; of an interior page, without the right-most
/// child. `content` is the offset of the content area.
#[inline]
pub(crate) fn write_header(page: &mut [u8], kind: u8, cells: usize, content: usize) {
    let [cells_high, cells_low] = (cells as u16).to_be_bytes();
    // 65,536 becomes 0, as the format wants it.
    let [content_high, content_low] = (content as u16).to_be_bytes();
    page[..LEAF_HEADER].copy_from_slice(&[
        kind,
        0,
        0,
        cells_high,
        cells_low,
        content_high,
        content_low,
        0,
    ]);
}

/// A leaf without cells: the root of an empty table.
#[must_use]
pub fn empty_leaf(size: PageSize) -> Vec<u8> {
    without_cells(size, LEAF)
}

/// A leaf without cells: the root of an empty index.
#[must_use]
pub fn empty_index_leaf(size: PageSize) -> Vec<u8> {
    without_cells(size, INDEX_LEAF)
}

fn without_cells(size: PageSize, kind: u8) -> Vec<u8> {
    let mut page = vec![0; size.bytes()];
    write_header(&mut page, kind, 0, size.usable());
    page
}

/// How much of a payload of `payload` bytes is in a table leaf's cell when `usable` bytes of a page
/// can be used. The rest is on overflow pages.
#[inline]
#[must_use]
pub const fn local_bytes(usable: usize, payload: usize) -> usize {
    local_bytes_up_to(usable, payload, local_bytes_max(usable))
}

/// The same of the cells of an index, on leaves and on interior pages.
#[inline]
#[must_use]
pub const fn index_local_bytes(usable: usize, payload: usize) -> usize {
    local_bytes_up_to(usable, payload, index_local_bytes_max(usable))
}

const fn local_bytes_up_to(usable: usize, payload: usize, local_max: usize) -> usize {
    if payload <= local_max {
        return payload;
    }
    let local_min = (usable - 12) * 32 / 255 - 23;
    let local = local_min + (payload - local_min) % (usable - 4);
    if local <= local_max { local } else { local_min }
}

/// X, the largest payload that needs no overflow page.
#[inline]
#[must_use]
pub const fn local_bytes_max(usable: usize) -> usize {
    usable - 35
}

/// X of an index: four cells fit every page.
#[inline]
#[must_use]
pub const fn index_local_bytes_max(usable: usize) -> usize {
    (usable - 12) * 64 / 255 - 23
}
