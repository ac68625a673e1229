//! The empty table's own file, of which a tablespace is made.
//!
//! What a server puts into a new file differs with its version: the checksum, flags, where the index begins, what else lies in
//! the first pages. `FLUSH TABLES t FOR EXPORT` leaves all of it in the file of an empty table. Only what is known is
//! accepted; whatever else such a file may be is refused by its name.
//!
//! ```text
//! page 0     1       2        3          4             5 ...
//! +--------+-------+--------+----------+-------------+- - - - - -+
//! | space  | change| inodes | MariaDB, | MySQL 8:    | MySQL 8:  |
//! | header,| buffer| of the | 5.7:     | the root    | more of   |
//! | extents| bitmap| segments the root | (3 is SDI's)| the SDI   |
//! +--------+-------+--------+----------+-------------+- - - - - -+
//! ```

use std::fmt;

use crate::page::{self, Checksum, EXTENT_PAGES, NIL, PAGE_BYTES, u16_at, u32_at, u64_at};
use crate::space::{
    self, DESCRIPTOR_ARRAY, DESCRIPTOR_BITMAP, DESCRIPTOR_STATE, FRAGMENTS_MAX, FREE_FRAG,
};

/// Why a file is no template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateError {
    /// It does not begin as a tablespace.
    NotATablespace,
    /// Its flags have bits that no server is known to set for a table of this kind.
    UnknownFlags(u32),
    /// Its pages have this many bytes, not 16 KiB.
    PageSize(u32),
    /// `ROW_FORMAT=COMPRESSED`, or pages that the server compresses.
    Compressed,
    /// Its pages are encrypted.
    Encrypted,
    /// `ROW_FORMAT=COMPACT` or `REDUNDANT`.
    NotDynamic,
    /// A general tablespace, one of temporary tables, or a table with a `DATA DIRECTORY`.
    NotOfOneTable,
    /// Columns were added or dropped at once, without a new file.
    Instant,
    /// The header names another number of pages than there are.
    Size {
        /// Pages in the header.
        said: u32,
        /// Bytes there are.
        bytes: usize,
    },
    /// It is larger than an empty table's file is, one extent; `AUTOEXTEND_SIZE` makes it so.
    TooLarge {
        /// Pages it has.
        pages: u32,
    },
    /// A page's checksum is wrong, or is not the CRC-32C that the flags promise.
    Checksum {
        /// The page.
        page: u32,
    },
    /// There are rows in it.
    Rows,
    /// There are so many indexes besides the clustered one.
    SecondaryIndexes(usize),
    /// Something else is not as in an empty table.
    Unexpected(&'static str),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATablespace => f.write_str("the table's file is not an InnoDB tablespace"),
            Self::UnknownFlags(flags) => {
                write!(f, "the table's file has the flags 0x{flags:x}, which are not supported")
            }
            Self::PageSize(bytes) => {
                write!(f, "the server's InnoDB pages have {bytes} bytes; only 16384 are supported")
            }
            Self::Compressed => f.write_str("the table is compressed"),
            Self::Encrypted => f.write_str("the table is encrypted"),
            Self::NotDynamic => f.write_str("the table's row format is not DYNAMIC"),
            Self::NotOfOneTable => {
                f.write_str("the table's file is a general or temporary tablespace, or lies in a DATA DIRECTORY")
            }
            Self::Instant => f.write_str("the table has columns that were added or dropped instantly"),
            Self::Size { said, bytes } => {
                write!(f, "the table's file has {bytes} bytes, but its header says {said} pages of 16384")
            }
            Self::TooLarge { pages } => write!(
                f,
                "the empty table's file has {pages} pages; at most {EXTENT_PAGES} are supported (is AUTOEXTEND_SIZE set?)"
            ),
            Self::Checksum { page } => {
                write!(f, "page {page} of the table's file has a wrong checksum (is innodb_checksum_algorithm crc32 or full_crc32?)")
            }
            Self::Rows => f.write_str("the table has rows"),
            Self::SecondaryIndexes(count) => write!(f, "the table has {count} secondary indexes"),
            Self::Unexpected(what) => write!(f, "the table's file is not as a new table's: {what}"),
        }
    }
}

impl std::error::Error for TemplateError {}

/// An empty table's file, understood.
#[derive(Clone, Debug)]
pub struct Template {
    /// The first extent, zeros where the file ends before.
    pub(crate) first_extent: Vec<u8>,
    pub(crate) stamp: page::Stamp,
    /// Pages of the file.
    pub(crate) pages: u32,
    pub(crate) root: u32,
    /// A bit for each page of the first extent.
    pub(crate) used: u64,
    /// Where in page 2 the inodes are.
    pub(crate) leaf_inode: usize,
    pub(crate) node_inode: usize,
    flags: u32,
}

impl Template {
    /// Looks at the file of an empty table, as `FLUSH TABLES ... FOR EXPORT` leaves it.
    ///
    /// COMPACT and DYNAMIC look the same in files of MariaDB 10.5 and later; asking the server is the caller's.
    ///
    /// # Errors
    /// When it is something else.
    pub fn read(file: &[u8]) -> Result<Self, TemplateError> {
        if file.len() < 58
            || u16_at(file, page::KIND) != page::SPACE_HEADER
            || u32_at(file, page::NUMBER) != 0
        {
            return Err(TemplateError::NotATablespace);
        }
        let flags = u32_at(file, space::FLAGS);
        let checksum = checksum(flags)?;
        let pages = u32_at(file, space::SIZE);
        if file.len() as u64 != u64::from(pages) * PAGE_BYTES as u64 || pages < 4 {
            return Err(TemplateError::Size { said: pages, bytes: file.len() });
        }
        if pages > EXTENT_PAGES || u32_at(file, space::FREE_LIMIT) > EXTENT_PAGES {
            return Err(TemplateError::TooLarge { pages });
        }
        for (number, page) in file.chunks_exact(PAGE_BYTES).enumerate() {
            look_at_page(checksum, number as u32, page)?;
        }
        let used = used_pages(file, pages)?;
        let root = root(file, used)?;
        let page = &file[root as usize * PAGE_BYTES..][..PAGE_BYTES];
        if u16_at(page, 54) != 0 || u16_at(page, 64) != 0 {
            return Err(TemplateError::Rows);
        }
        let leaf_inode = inode(file, page, 74, &[])?;
        let node_inode = inode(file, page, 84, &[root])?;
        if leaf_inode == node_inode {
            return Err(TemplateError::Unexpected("its two segments are one"));
        }
        let stamp = page::Stamp {
            checksum,
            space_id: u32_at(file, page::SPACE_ID),
            lsn: u64_at(page, page::LSN),
        };
        let mut first_extent = file.to_vec();
        first_extent.resize(EXTENT_PAGES as usize * PAGE_BYTES, 0);
        Ok(Self { first_extent, stamp, pages, root, used, leaf_inode, node_inode, flags })
    }

    /// How its pages are checked.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        self.stamp.checksum
    }

    /// The tablespace's flags.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// The number of the page where the clustered index begins.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.root
    }

    /// Pages of the file.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }
}

/// What flags say, if they are those of a plain table.
fn checksum(flags: u32) -> Result<Checksum, TemplateError> {
    /// MariaDB's `full_crc32`; the four bits below are the page size.
    const FULL: u32 = 1 << 4;
    const COMPRESSIONS: u32 = 7 << 5;
    const POST_ANTELOPE: u32 = 1;
    const ROW_COMPRESSED: u32 = 0xf << 1;
    const DYNAMIC: u32 = 1 << 5;
    const PAGE_SIZE: u32 = 0xf << 6;
    const OF_NO_ONE_TABLE: u32 = 7 << 10;
    const ENCRYPTED: u32 = 1 << 13;
    const SDI: u32 = 1 << 14;
    // MySQL has no compressed pages of 128 KiB, which this bit would mean there.
    if flags & FULL != 0 {
        let known = FULL | 0xf | COMPRESSIONS;
        return match flags & 0xf {
            _ if flags & !known != 0 => Err(TemplateError::UnknownFlags(flags)),
            size @ (3 | 4 | 6 | 7) => Err(TemplateError::PageSize(512 << size)),
            5 if flags & COMPRESSIONS != 0 => Err(TemplateError::Compressed),
            5 => Ok(Checksum::Full),
            _ => Err(TemplateError::UnknownFlags(flags)),
        };
    }
    match (flags & PAGE_SIZE) >> 6 {
        0 | 5 => {}
        size @ (3 | 4 | 6 | 7) => return Err(TemplateError::PageSize(512 << size)),
        _ => return Err(TemplateError::UnknownFlags(flags)),
    }
    if flags & ENCRYPTED != 0 {
        Err(TemplateError::Encrypted)
    } else if flags & ROW_COMPRESSED != 0 {
        Err(TemplateError::Compressed)
    } else if flags & OF_NO_ONE_TABLE != 0 {
        Err(TemplateError::NotOfOneTable)
    } else if flags & !(SDI | PAGE_SIZE | DYNAMIC | POST_ANTELOPE) != 0 {
        Err(TemplateError::UnknownFlags(flags))
    } else if flags & (DYNAMIC | POST_ANTELOPE) == 0 {
        Err(TemplateError::NotDynamic)
    } else if flags & (DYNAMIC | POST_ANTELOPE) == DYNAMIC | POST_ANTELOPE {
        Ok(Checksum::Crc32)
    } else {
        Err(TemplateError::UnknownFlags(flags))
    }
}

fn look_at_page(checksum: Checksum, number: u32, page: &[u8]) -> Result<(), TemplateError> {
    /// Where page 0 says how it is encrypted: behind the descriptors.
    const ENCRYPTION: usize = DESCRIPTOR_ARRAY + 256 * space::DESCRIPTOR_BYTES;
    /// How that begins: MariaDB, and the three versions of MySQL.
    const MAGICS: [&[u8]; 4] = [b"s\x0e\x0cREt", b"lCA", b"lCB", b"lCC"];
    // Where the checksum does not stand at the beginning, the version of the key does.
    if checksum == Checksum::Full && u32_at(page, 0) != 0 {
        return Err(TemplateError::Encrypted);
    }
    if !checksum.holds(page) {
        return Err(TemplateError::Checksum { page: number });
    }
    if number == 0 && MAGICS.iter().any(|magic| page[ENCRYPTION..].starts_with(magic)) {
        return Err(TemplateError::Encrypted);
    }
    match u16_at(page, page::KIND) {
        page::COMPRESSED => Err(TemplateError::Compressed),
        page::ENCRYPTED | page::COMPRESSED_AND_ENCRYPTED => Err(TemplateError::Encrypted),
        page::INSTANT => Err(TemplateError::Instant),
        _ if u32_at(page, page::NUMBER) != number && page.iter().any(|byte| *byte != 0) => {
            Err(TemplateError::Unexpected("a page has another page's number"))
        }
        _ => Ok(()),
    }
}

/// A bit for each used page of the first extent, which has to be the only one there is.
fn used_pages(file: &[u8], pages: u32) -> Result<u64, TemplateError> {
    let length = |list| u32_at(file, list);
    let is_first = u32_at(file, space::FREE_FRAG_LIST + 4) == 0
        && u16_at(file, space::FREE_FRAG_LIST + 8) as usize == DESCRIPTOR_ARRAY + 8;
    let one_extent = length(space::FREE_LIST) == 0
        && length(space::FULL_FRAG_LIST) == 0
        && length(space::FREE_FRAG_LIST) == 1
        && is_first
        && u32_at(file, DESCRIPTOR_ARRAY + DESCRIPTOR_STATE) == FREE_FRAG
        && u32_at(file, space::FREE_LIMIT) == EXTENT_PAGES;
    if !one_extent {
        return Err(TemplateError::Unexpected("its extents"));
    }
    let bitmap = &file[DESCRIPTOR_ARRAY + DESCRIPTOR_BITMAP..];
    let is_used = |page: u32| bitmap[page as usize / 4] >> (page % 4 * 2) & 1 == 0;
    let used =
        (0..EXTENT_PAGES).filter(|page| is_used(*page)).fold(0, |used, page| used | 1 << page);
    let below_end = if pages == EXTENT_PAGES { u64::MAX } else { (1 << pages) - 1 };
    if used & !below_end != 0 || used & 0b1111 != 0b1111 {
        return Err(TemplateError::Unexpected("its used pages"));
    }
    if used.count_ones() != u32_at(file, space::FRAGMENTS_USED) {
        return Err(TemplateError::Unexpected("its count of used pages"));
    }
    Ok(used)
}

/// The only page of an index.
fn root(file: &[u8], used: u64) -> Result<u32, TemplateError> {
    let is_index = |number: &u32| {
        used >> number & 1 == 1
            && u16_at(file, *number as usize * PAGE_BYTES + page::KIND) == page::INDEX
    };
    let mut roots = (0..EXTENT_PAGES).filter(is_index);
    let root = roots.next().ok_or(TemplateError::Unexpected("it has no index"))?;
    match roots.count() {
        0 if root < 3 => Err(TemplateError::Unexpected("its first pages")),
        0 => Ok(root),
        others => Err(TemplateError::SecondaryIndexes(others)),
    }
}

/// Where in page 2 the inode of a segment is, whose pages are `pages` and no others. `at` is where the root names it.
fn inode(file: &[u8], root: &[u8], at: usize, pages: &[u32]) -> Result<usize, TemplateError> {
    const WRONG: TemplateError = TemplateError::Unexpected("its segments");
    let inodes = &file[2 * PAGE_BYTES..3 * PAGE_BYTES];
    let offset = u16_at(root, at + 8) as usize;
    let is_entry = offset >= space::INODES
        && (offset - space::INODES).is_multiple_of(space::INODE_BYTES)
        && offset + space::INODE_BYTES <= page::TRAILER;
    if u16_at(inodes, page::KIND) != page::INODES || u32_at(root, at + 4) != 2 || !is_entry {
        return Err(WRONG);
    }
    let entry = &inodes[offset..offset + space::INODE_BYTES];
    let fragments = (0..FRAGMENTS_MAX)
        .map(|i| u32_at(entry, space::INODE_FRAGMENTS + 4 * i))
        .filter(|page| *page != NIL);
    let is_right = u32_at(entry, space::INODE_MAGIC) == space::MAGIC
        && fragments.eq(pages.iter().copied())
        && pages
            .iter()
            .enumerate()
            .all(|(i, page)| u32_at(entry, space::INODE_FRAGMENTS + 4 * i) == *page)
        && [space::INODE_FREE, space::INODE_NOT_FULL, space::INODE_FULL]
            .iter()
            .all(|list| u32_at(entry, *list) == 0);
    if is_right { Ok(offset) } else { Err(WRONG) }
}
