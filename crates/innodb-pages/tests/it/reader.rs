//! Reads a tablespace page by page, and looks at everything on the way: checksums, links, directories, lists, bitmaps, counts.
//!
//! It shares no code with the crate, only the description of the table.

use std::collections::{BTreeMap, BTreeSet};

use inrush_innodb_pages::{Layout, Storage};

const PAGE: usize = 16384;
const EXTENT: u32 = 64;
const NIL: u32 = u32::MAX;

/// A value; NULL is `None`.
pub(crate) type Value = Option<Vec<u8>>;

/// What a tablespace holds.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The rows in the index's order, without what InnoDB adds.
    pub(crate) rows: Vec<Vec<Value>>,
    /// `DB_ROW_ID` of each, if the table has no key.
    pub(crate) row_ids: Vec<u64>,
    /// Levels above the leaves.
    pub(crate) levels: usize,
    /// Values that are stored elsewhere.
    pub(crate) elsewhere: usize,
    pub(crate) leaves: usize,
}

/// Reads a file.
///
/// # Panics
/// When anything is not as a server would leave it.
pub(crate) fn read(file: &[u8], layout: &Layout) -> Contents {
    let mut rows = Vec::new();
    let contents = read_each(file, layout, |row| rows.push(row));
    Contents { rows, ..contents }
}

/// Reads a file, and gives its rows away one by one.
///
/// # Panics
/// As [`read`].
pub(crate) fn read_each(
    file: &[u8],
    layout: &Layout,
    mut each: impl FnMut(Vec<Value>),
) -> Contents {
    let flags = number(&file[54..58]);
    assert!([0x15, 0x21, 0x4021].contains(&flags), "flags {flags:x}");
    let pages = number(&file[46..50]) as u32;
    assert_eq!(pages as usize * PAGE, file.len(), "pages in the header");
    let is_root = |page: &u32| {
        let page = &file[*page as usize * PAGE..][..PAGE];
        number(&page[24..26]) == 0x45bf && number(&page[80..82]) != 0
    };
    let root = (3..pages).find(is_root).expect("there is a root");
    let index = number(&file[root as usize * PAGE + 66..][..8]);
    let space = number(&file[34..38]);
    let mut reader = Reader {
        file,
        layout,
        is_full: flags == 0x15,
        space,
        pages,
        root,
        index,
        values_pages: BTreeSet::new(),
        elsewhere: 0,
    };
    (0..pages).for_each(|page| reader.check_page(page));
    let segments = reader.segments();
    let (contents, leaves, nodes) = reader.tree(&mut each);
    assert_eq!(segments, [leaves, nodes], "pages of the segments");
    contents
}

struct Reader<'a> {
    file: &'a [u8],
    layout: &'a Layout,
    /// Whether checksums are MariaDB's.
    is_full: bool,
    space: u64,
    pages: u32,
    root: u32,
    index: u64,
    /// Pages of values that are stored elsewhere, and how many these are.
    values_pages: BTreeSet<u32>,
    elsewhere: usize,
}

/// A record on a page.
struct Found {
    /// Its columns: those of the key only, in a node.
    values: Vec<Value>,
    /// `DB_ROW_ID`.
    row_id: u64,
    /// The page that a node points to.
    child: u32,
}

impl<'a> Reader<'a> {
    fn page(&self, page: u32) -> &'a [u8] {
        assert!(page < self.pages, "page {page} of {}", self.pages);
        &self.file[page as usize * PAGE..][..PAGE]
    }

    fn kind(&self, page: u32) -> u64 {
        number(&self.page(page)[24..26])
    }

    /// What is the same for all pages.
    fn check_page(&self, number_of: u32) {
        let page = self.page(number_of);
        if page.iter().all(|byte| *byte == 0) {
            return;
        }
        assert_eq!(number(&page[4..8]), u64::from(number_of), "the number of a page");
        assert_eq!(number(&page[34..38]), self.space, "the space of page {number_of}");
        let sums = if self.is_full {
            assert_eq!(number(&page[..4]), 0);
            assert_eq!(page[16376..16380], page[20..24], "the LSN of page {number_of}");
            vec![(number(&page[16380..]), crc(&page[..16380]))]
        } else {
            let sum = crc(&page[4..26]) ^ crc(&page[38..16376]);
            assert_eq!(page[16380..], page[20..24], "the LSN of page {number_of}");
            vec![(number(&page[..4]), sum), (number(&page[16376..16380]), sum)]
        };
        for (said, is) in sums {
            assert_eq!(said, u64::from(is), "the checksum of page {number_of}");
        }
        if number_of.is_multiple_of(16384) {
            assert_eq!(self.kind(number_of), if number_of == 0 { 8 } else { 9 });
        } else if number_of % 16384 == 1 {
            assert_eq!(self.kind(number_of), 5);
        }
    }

    /// The pages of the segment of the leaves, and of the other one, by all that says so.
    fn segments(&self) -> [BTreeSet<u32>; 2] {
        let head = self.page(0);
        let limit = number(&head[50..54]) as u32;
        assert_eq!(limit % EXTENT, 0);
        assert!(limit >= self.pages && limit < self.pages + EXTENT);
        let extents: Vec<u32> = (0..limit / EXTENT).collect();
        let states: BTreeMap<u32, (u64, u64)> = extents
            .iter()
            .map(|extent| {
                let descriptor = self.descriptor(*extent);
                (*extent, (number(&descriptor[20..24]), number(&descriptor[..8])))
            })
            .collect();
        // No list has an extent of another's, and each extent is in one.
        let mut seen = BTreeMap::new();
        let mut list = |base: &[u8], what: &'static str| {
            let extents = self.list(base);
            for extent in &extents {
                assert_eq!(seen.insert(*extent, what), None, "lists of extent {extent}");
            }
            extents
        };
        assert_eq!(list(&head[62..78], "free"), []);
        let free_frag = list(&head[78..94], "free_frag");
        assert_eq!(list(&head[94..110], "full_frag"), []);
        let mut fragments_used = 0;
        for extent in &free_frag {
            assert_eq!(states[extent], (2, 0));
            assert!(*extent == 0 || extent % 256 == 0);
            let used = self.used(*extent);
            assert!(*extent == 0 || used.iter().eq(&[extent * EXTENT, extent * EXTENT + 1]));
            fragments_used += used.len();
        }
        assert_eq!(number(&head[58..62]) as usize, fragments_used);
        let mut all_fragments = BTreeSet::new();
        let root = self.page(self.root);
        let segments = [74, 84].map(|at| {
            assert_eq!(number(&root[at..at + 4]), self.space);
            assert_eq!(number(&root[at + 4..at + 8]), 2);
            let at = number(&root[at + 8..at + 10]) as usize;
            let inode = &self.page(2)[at..at + 192];
            assert_eq!(number(&inode[60..64]), 0x05d6_69d2);
            let id = number(&inode[..8]);
            let mut pages = BTreeSet::new();
            assert_eq!(list(&inode[12..28], "a segment's free"), []);
            let mut not_full_used = 0;
            for extent in list(&inode[28..44], "a segment's not full") {
                assert_eq!(states[&extent], (4, id));
                let used = self.used(extent);
                assert!((1..64).contains(&used.len()));
                not_full_used += used.len();
                pages.extend(used);
            }
            assert_eq!(number(&inode[8..12]) as usize, not_full_used);
            for extent in list(&inode[44..60], "a segment's full") {
                assert_eq!(states[&extent], (4, id));
                let used = self.used(extent);
                assert_eq!(used.len(), 64);
                pages.extend(used);
            }
            let fragments = inode[64..].chunks(4).map(|page| number(page) as u32);
            for page in fragments.filter(|page| *page != NIL) {
                assert!(self.used(0).contains(&page) && all_fragments.insert(page));
                assert!(pages.insert(page));
            }
            pages
        });
        assert!(extents.iter().all(|extent| seen.contains_key(extent)), "each extent is in a list");
        // Of the first extent the segments have what the template's own pages leave.
        let others: Vec<u32> =
            self.used(0).into_iter().filter(|page| !all_fragments.contains(page)).collect();
        assert!(others.iter().all(|page| [3, 5, 8, 0x45bd, 18, 19].contains(&self.kind(*page))));
        segments
    }

    fn descriptor(&self, extent: u32) -> &'a [u8] {
        &self.page(extent / 256 * 16384)[150 + extent as usize % 256 * 40..][..40]
    }

    /// The pages of an extent that are in use.
    fn used(&self, extent: u32) -> BTreeSet<u32> {
        let bitmap = &self.descriptor(extent)[24..40];
        let bits = |page: u32| bitmap[page as usize / 4] >> (page % 4 * 2) & 0b11;
        assert!((0..EXTENT).all(|page| bits(page) & 0b10 != 0), "the clean bits of {extent}");
        (0..EXTENT).filter(|page| bits(*page) == 0b10).map(|page| extent * EXTENT + page).collect()
    }

    /// The extents of a list, gone through in both directions.
    fn list(&self, base: &[u8]) -> Vec<u32> {
        let extent_at = |address: &[u8]| {
            let (page, offset) = (number(&address[..4]) as u32, number(&address[4..6]) as u32);
            (page != NIL).then(|| {
                assert!(page % 16384 == 0 && (offset - 158).is_multiple_of(40));
                page / EXTENT + (offset - 158) / 40
            })
        };
        let through = |first: &[u8], at: usize| {
            let mut extents = Vec::new();
            let mut next = extent_at(first);
            while let Some(extent) = next {
                extents.push(extent);
                assert!(extents.len() as u64 <= number(&base[..4]));
                next = extent_at(&self.descriptor(extent)[at..at + 6]);
            }
            extents
        };
        let forwards = through(&base[4..10], 14);
        let mut backwards = through(&base[10..16], 8);
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert_eq!(forwards.len() as u64, number(&base[..4]));
        forwards
    }

    /// What the index holds, the pages of its leaves and their values, and those of the levels above.
    fn tree(
        &mut self,
        each: &mut impl FnMut(Vec<Value>),
    ) -> (Contents, BTreeSet<u32>, BTreeSet<u32>) {
        let levels = number(&self.page(self.root)[64..66]) as usize;
        let mut contents =
            Contents { rows: Vec::new(), row_ids: Vec::new(), levels, elsewhere: 0, leaves: 0 };
        let mut nodes = BTreeSet::from([self.root]);
        let mut numbers = vec![self.root];
        let mut keys: Option<Vec<(Vec<Value>, u64)>> = None;
        for level in (0..=levels).rev() {
            let mut below = Vec::new();
            for (i, page) in numbers.iter().enumerate() {
                let head = self.page(*page);
                let before = if i == 0 { NIL } else { numbers[i - 1] };
                let behind = numbers.get(i + 1).copied().unwrap_or(NIL);
                assert_eq!(number(&head[8..12]), u64::from(before), "what is before {page}");
                assert_eq!(number(&head[12..16]), u64::from(behind), "what is behind {page}");
                assert_eq!(number(&head[64..66]) as usize, level);
                let records = self.records(*page, level, i == 0);
                if let Some(keys) = &keys {
                    let first = &records[0];
                    let key = first.values[..self.layout.key()].to_vec();
                    assert_eq!(keys[i], (key, first.row_id), "the key of page {page}");
                }
                if level > 0 {
                    below.extend(records);
                    continue;
                }
                for row in records {
                    contents.row_ids.push(row.row_id);
                    each(row.values);
                }
            }
            if level == 0 {
                break;
            }
            numbers = below.iter().map(|node| node.child).collect();
            keys = Some(below.into_iter().map(|node| (node.values, node.row_id)).collect());
            if level > 1 {
                numbers.iter().for_each(|page| assert!(nodes.insert(*page)));
            }
        }
        contents.leaves = numbers.len();
        contents.elsewhere = self.elsewhere;
        let mut leaves: BTreeSet<u32> = std::mem::take(&mut self.values_pages);
        numbers
            .iter()
            .filter(|page| **page != self.root)
            .for_each(|page| assert!(leaves.insert(*page)));
        (contents, leaves, nodes)
    }

    /// The records of a page, whose directory and counts have to fit them.
    fn records(&mut self, page_number: u32, level: usize, is_first: bool) -> Vec<Found> {
        let page = self.page(page_number);
        let at = |at: usize| number(&page[at..at + 2]) as usize;
        assert_eq!(at(24), 0x45bf);
        assert_eq!(number(&page[66..74]), self.index);
        assert_eq!((at(44), at(46)), (0, 0), "nothing was deleted");
        assert_eq!((&page[99..107], &page[112..120]), (&b"infimum\0"[..], &b"supremum"[..]));
        let (slots, top, count) = (at(38), at(40), at(54));
        assert_eq!(at(42), 0x8000 | (count + 2));
        assert!(top <= 16376 - 2 * slots);
        let mut found = Vec::new();
        let (mut origin, mut slot, mut group, mut last) = (99, 0, 0, 0);
        let mut end = 120;
        loop {
            let owned = usize::from(page[origin - 5] & 0xf);
            group += 1;
            if owned > 0 {
                assert_eq!((owned, at(16374 - 2 * slot)), (group, origin), "slot {slot}");
                let most = if slot == 0 { 1..=1 } else { 4..=8 };
                assert!(most.contains(&owned) || origin == 112 && owned <= 8);
                (slot, group) = (slot + 1, 0);
            }
            let heap_number = at(origin - 4) >> 3;
            let kind = at(origin - 4) & 7;
            match origin {
                99 => assert_eq!((heap_number, kind), (0, 2)),
                112 => {
                    assert_eq!((heap_number, kind, at(origin - 2)), (1, 3, 0));
                    break;
                }
                _ => {
                    assert_eq!((heap_number, kind), (found.len() + 2, usize::from(level > 0)));
                    let info = page[origin - 5] & 0xf0;
                    let is_least = is_first && level > 0 && found.is_empty();
                    assert_eq!(info, if is_least { 0x10 } else { 0 });
                    let (record, begin, record_end) = self.record(page, origin, level);
                    assert_eq!(begin, end, "records lie one behind the other");
                    end = record_end;
                    last = origin;
                    found.push(record);
                }
            }
            origin = (origin + at(origin - 2)) & 0xffff;
        }
        assert_eq!((slot, found.len(), end), (slots, count, top));
        assert!(count == 0 || at(48) == last);
        assert!(level == 0 || count > 0);
        found
    }

    /// A record by its origin, and where it begins and ends.
    fn record(&mut self, page: &[u8], origin: usize, level: usize) -> (Found, usize, usize) {
        let columns = self.layout.columns();
        let key = self.layout.key();
        let nullable = columns.iter().filter(|column| column.is_nullable).count();
        let mut lengths = origin - 5 - nullable.div_ceil(8);
        let (mut at, mut nullable_so_far) = (origin, 0);
        let mut take = |bytes: usize| {
            at += bytes;
            at - bytes
        };
        let mut found = Found { values: Vec::new(), row_id: 0, child: 0 };
        if key == 0 {
            let at = take(6);
            found.row_id = number(&page[at..at + 6]);
        }
        for i in 0..=columns.len() {
            if i == key && level > 0 {
                let at = take(4);
                found.child = number(&page[at..at + 4]) as u32;
                break;
            }
            if i == key {
                let at = take(13);
                assert_eq!(page[at..at + 13], *b"\0\0\0\0\0\0\x80\0\0\0\0\0\0");
            }
            let Some(column) = columns.get(i) else { break };
            if column.is_nullable {
                let byte = page[origin - 6 - nullable_so_far / 8];
                nullable_so_far += 1;
                if byte >> ((nullable_so_far - 1) % 8) & 1 == 1 {
                    found.values.push(None);
                    continue;
                }
            }
            let mut is_elsewhere = false;
            let length = match column.storage {
                Storage::Fixed(bytes) => bytes.into(),
                Storage::Variable { bytes_max, is_blob } => {
                    lengths -= 1;
                    let mut length = usize::from(page[lengths]);
                    if (is_blob || bytes_max > 255) && length >= 128 {
                        is_elsewhere = length & 0x40 != 0;
                        lengths -= 1;
                        length = (length & 0x3f) << 8 | usize::from(page[lengths]);
                        assert!(length >= 128 || is_elsewhere, "a short length takes one byte");
                    }
                    length
                }
            };
            let at = take(length);
            let value = &page[at..at + length];
            found.values.push(Some(if is_elsewhere { self.value(value) } else { value.to_vec() }));
        }
        // Bits behind the last nullable column are not set.
        if nullable % 8 != 0 && level == 0 {
            assert_eq!(page[origin - 5 - nullable.div_ceil(8)] >> (nullable % 8), 0);
        }
        let bytes = at - lengths;
        assert!(level > 0 || bytes < 8126, "a record of {bytes} bytes");
        (found, lengths, at)
    }

    /// A value that is stored elsewhere, by its reference.
    fn value(&mut self, reference: &[u8]) -> Vec<u8> {
        assert_eq!(reference.len(), 20);
        assert_eq!(number(&reference[..4]), self.space);
        assert_eq!(number(&reference[8..12]), 38);
        self.elsewhere += 1;
        let length = number(&reference[12..20]) as usize;
        assert!(length > 40);
        let mut value = Vec::with_capacity(length);
        let mut next = number(&reference[4..8]) as u32;
        while next != NIL {
            assert!(self.values_pages.insert(next));
            let page = self.page(next);
            assert_eq!(number(&page[24..26]), 10);
            let part = number(&page[38..42]) as usize;
            value.extend_from_slice(&page[46..46 + part]);
            next = number(&page[42..46]) as u32;
            assert!(part > 0 && (part == 16330 || next == NIL));
        }
        assert_eq!(value.len(), length);
        value
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// CRC-32C, a byte at a time.
fn crc(bytes: &[u8]) -> u32 {
    static TABLE: std::sync::LazyLock<[u32; 256]> = std::sync::LazyLock::new(|| {
        let bit = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
        std::array::from_fn(|i| (0..8).fold(i as u32, |sum, _| bit(sum)))
    });
    !bytes.iter().fold(!0, |sum: u32, byte| sum >> 8 ^ TABLE[usize::from(sum as u8 ^ byte)])
}
