use inrush_sqlite_pages::page::index_local_bytes;
use inrush_sqlite_pages::{PageSize, varint};

/// The b-tree of an index, taken apart by the words of the format.
pub(crate) struct IndexPages {
    /// In the order of the tree.
    pub(crate) entries: Vec<Entry>,
    /// By level from below; the leaves are level 0.
    pub(crate) pages: Vec<Vec<Page>>,
}

/// Who made the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// Cells lie in order and without gaps, what is free is zeros, and chains in reading order.
    Us,
    /// SQLite has been working in the pages.
    Sqlite,
}

pub(crate) struct Entry {
    pub(crate) payload: Vec<u8>,
    /// Bytes of its cell in a leaf.
    pub(crate) cell_bytes: usize,
    pub(crate) level: usize,
}

pub(crate) struct Page {
    /// Bytes between pointers and content.
    pub(crate) free: usize,
    /// How many entries of the whole tree are before the end of its subtree.
    pub(crate) entries_before_end: usize,
}

/// Reads the index whose root is page `root` of `file`.
pub(crate) fn read_index(file: &[u8], size: PageSize, root: u32, maker: Maker) -> IndexPages {
    let mut found = IndexPages { entries: Vec::new(), pages: Vec::new() };
    let mut reader = Reader { file, size, maker, found: &mut found };
    let height = reader.height(root);
    reader.page(root, height);
    found
}

struct Reader<'a> {
    file: &'a [u8],
    size: PageSize,
    maker: Maker,
    found: &'a mut IndexPages,
}

impl<'a> Reader<'a> {
    fn bytes(&self, number: u32) -> &'a [u8] {
        &self.file[(number as usize - 1) * self.size.bytes()..][..self.size.bytes()]
    }

    fn height(&self, number: u32) -> usize {
        match self.bytes(number) {
            [0x0a, ..] => 0,
            page @ [0x02, ..] => 1 + self.height(u32_at(page, 8)),
            page => panic!("a page of an index begins with {}", page[0]),
        }
    }

    /// Reads a subtree. All leaves are on the same level, and only the root may be without cells.
    fn page(&mut self, number: u32, level: usize) {
        let page = self.bytes(number);
        assert_eq!(page[0], if level == 0 { 0x0a } else { 0x02 });
        let (header, child) = if level == 0 { (8, 0) } else { (12, 4) };
        let (cells, content) = (u16_at(page, 3), u16_at(page, 5));
        let content = if content == 0 { 65536 } else { content };
        assert!(cells > 0 || (level == 0 && self.found.entries.is_empty()), "a page has a cell");
        let mut end = self.size.usable();
        for cell in 0..cells {
            let at = u16_at(page, header + 2 * cell);
            if level > 0 {
                self.page(u32_at(page, at), level - 1);
            }
            let bytes = self.entry(&page[at + child..], level);
            let bytes = if level == 0 { bytes } else { child + bytes };
            if self.maker == Maker::Us {
                assert_eq!(at + bytes.max(4), end, "cells lie one before the other");
                assert!(page[at + bytes..end].iter().all(|byte| *byte == 0));
            }
            end = at;
        }
        let pointers_end = header + 2 * cells;
        if self.maker == Maker::Us {
            assert_eq!((u16_at(page, 1), page[7], content), (0, 0, end));
            assert!(page[pointers_end..end].iter().all(|byte| *byte == 0), "zeros are between");
        }
        if level > 0 {
            self.page(u32_at(page, 8), level - 1);
        }
        let pages = &mut self.found.pages;
        pages.resize_with(pages.len().max(level + 1), Vec::new);
        let entries_before_end = self.found.entries.len();
        pages[level].push(Page { free: content - pointers_end, entries_before_end });
    }

    /// Reads the entry in a cell and returns how many bytes it has there.
    fn entry(&mut self, cell: &[u8], level: usize) -> usize {
        let (length, prefix) = varint::read(cell).expect("a length");
        let length = length as usize;
        let local = index_local_bytes(self.size.usable(), length);
        let mut payload = cell[prefix..prefix + local].to_vec();
        let mut bytes = prefix + local;
        if local < length {
            let mut number = u32_at(cell, bytes);
            bytes += 4;
            loop {
                let page = self.bytes(number);
                let part = (length - payload.len()).min(self.size.usable() - 4);
                payload.extend_from_slice(&page[4..4 + part]);
                let next = u32_at(page, 0);
                if self.maker == Maker::Us {
                    assert!(page[4 + part..].iter().all(|byte| *byte == 0));
                }
                if next == 0 {
                    break;
                }
                if self.maker == Maker::Us {
                    assert_eq!(next, number + 1, "a chain lies in reading order");
                }
                number = next;
            }
        }
        assert_eq!(payload.len(), length);
        self.found.entries.push(Entry { payload, cell_bytes: bytes.max(4), level });
        bytes
    }
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}
