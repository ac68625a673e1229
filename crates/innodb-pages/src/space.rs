//! The pages of the file: extents, segments, and the lists that they are in.
//!
//! The space header is on page 0. Of each extent, 64 pages, a descriptor says which segment it belongs to, and which of its pages are in
//! use. Page 0 has those of the first 256 extents, page 16384 those of the next, and so on; the page behind is the change buffer's.
//!
//! ```text
//!          page 0                                              descriptor of an extent, 40 bytes
//! 38       50           62     78         94         150       +-----------+--------------+-------+-----------------+
//! +--------+------------+------+----------+----------+- - - -+ | segment   | list: before,| state | 2 bits a page,  |
//! | id,    | free limit,| FREE | FREE_FRAG| FULL_FRAG| 256 x | | u64       | behind, 6 + 6| u32   | lowest first:   |
//! | pages  | flags      | list | list     | list     |       | |           |              |       | free, clean     |
//! +--------+------------+------+----------+----------+- - - -+ +-----------+--------------+-------+-----------------+
//!
//!          inode of a segment, 192 bytes, on page 2
//! +-----------+-------------------+------+----------+------+----------+----------------------+
//! | segment   | pages in use in   | FREE | NOT_FULL | FULL | 05d669d2 | 32 pages of extents  |
//! | u64       | NOT_FULL u32      | list | list     | list |          | that are no segment's|
//! +-----------+-------------------+------+----------+------+----------+----------------------+
//! ```
//!
//! As in a file that the server has written, the first 32 pages of a segment lie in the first extent, and then it gets whole
//! extents. A list's node is linked with the one before and the one behind, so a page of descriptors can only be handed out when
//! the lists it is the end of have gone on: few wait at a time, however large the file gets.

use std::collections::BTreeMap;

use crate::page::{
    self, EXTENT_PAGES, NIL, PAGE_BYTES, Page, Stamp, blank_page, put_u16, put_u32, put_u64, u64_at,
};
use crate::sink::Sink;
use crate::template::Template;

pub(crate) const SIZE: usize = 46;
pub(crate) const FREE_LIMIT: usize = 50;
pub(crate) const FLAGS: usize = 54;
pub(crate) const FRAGMENTS_USED: usize = 58;
pub(crate) const FREE_LIST: usize = 62;
pub(crate) const FREE_FRAG_LIST: usize = 78;
pub(crate) const FULL_FRAG_LIST: usize = 94;
pub(crate) const DESCRIPTOR_ARRAY: usize = 150;
pub(crate) const DESCRIPTOR_BYTES: usize = 40;
const DESCRIPTOR_NODE: usize = 8;
pub(crate) const DESCRIPTOR_STATE: usize = 20;
pub(crate) const DESCRIPTOR_BITMAP: usize = 24;
/// Extents that one page describes.
const DESCRIBED: u32 = 256;
/// States of an extent.
pub(crate) const FREE_FRAG: u32 = 2;
const OF_A_SEGMENT: u32 = 4;

/// Where the inodes begin on their page.
pub(crate) const INODES: usize = 50;
pub(crate) const INODE_BYTES: usize = 192;
const INODE_NOT_FULL_USED: usize = 8;
pub(crate) const INODE_FREE: usize = 12;
pub(crate) const INODE_NOT_FULL: usize = 28;
pub(crate) const INODE_FULL: usize = 44;
pub(crate) const INODE_MAGIC: usize = 60;
pub(crate) const INODE_FRAGMENTS: usize = 64;
pub(crate) const MAGIC: u32 = 0x05d6_69d2;
pub(crate) const FRAGMENTS_MAX: usize = 32;

/// Extents that there can be: 2^32 pages, less the last extent, so that no page has the number [`NIL`].
const EXTENTS_MAX: u32 = u32::MAX / EXTENT_PAGES;

/// Why a page has no place.
#[derive(Debug)]
pub(crate) enum SpaceError<E> {
    Full,
    Sink(E),
}

/// A list of extents.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    length: u32,
    first: Option<u32>,
    last: Option<u32>,
}

/// What pages are for; the pages of each kind have extents of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Leaves,
    /// Pages of long values, which the segment of the leaves has too.
    Values,
    /// The levels above the leaves.
    Nodes,
}

impl Stream {
    const ALL: [Self; 3] = [Self::Leaves, Self::Values, Self::Nodes];

    fn segment(self) -> usize {
        match self {
            Self::Leaves | Self::Values => 0,
            Self::Nodes => 1,
        }
    }
}

/// One of the two segments of an index.
#[derive(Clone, Debug)]
struct Segment {
    /// Where in page 2 its inode is.
    inode: usize,
    id: u64,
    fragments: Vec<u32>,
    full: List,
    not_full: List,
    not_full_used: u32,
}

/// The extents of a stream.
#[derive(Clone, Debug, Default)]
struct Supply {
    /// The extent that numbers come from, and how many have been given away.
    open: Option<(u32, u32)>,
    /// Pages of the extent that is being stored, and the first one's number.
    pages: Vec<u8>,
    first: u32,
}

/// A tablespace that is being written.
#[derive(Debug)]
pub(crate) struct Space<S> {
    pub(crate) stamp: Stamp,
    sink: S,
    /// The first extent, which is kept to the end.
    first_extent: Vec<u8>,
    template_pages: u32,
    /// A bit for each page of it that is in use.
    used: u64,
    extents: u32,
    /// Pages of descriptors besides page 0 that may still change, by the number of the first extent that they describe.
    descriptors: BTreeMap<u32, Box<Page>>,
    segments: [Segment; 2],
    supplies: [Supply; 3],
    /// Extents of no segment that have free pages. Those that begin with descriptors stay so.
    free_frag: List,
}

impl<S: Sink> Space<S> {
    pub(crate) fn new(template: &Template, sink: S) -> Self {
        let segment = |inode: usize, fragments: Vec<u32>| Segment {
            inode,
            id: u64_at(&template.first_extent, 2 * PAGE_BYTES + inode),
            fragments,
            full: List::default(),
            not_full: List::default(),
            not_full_used: 0,
        };
        let segments = [
            segment(template.leaf_inode, Vec::new()),
            segment(template.node_inode, vec![template.root]),
        ];
        Self {
            stamp: template.stamp,
            sink,
            first_extent: template.first_extent.clone(),
            template_pages: template.pages,
            used: template.used,
            extents: 1,
            descriptors: BTreeMap::new(),
            segments,
            supplies: Default::default(),
            free_frag: List { length: 1, first: Some(0), last: Some(0) },
        }
    }

    /// A page that is no other's from now on. Leaves are stored in the order in which they were allocated, and so are pages of values.
    pub(crate) fn allocate(&mut self, stream: Stream) -> Result<u32, SpaceError<S::Error>> {
        if let Some((extent, given)) = &mut self.supplies[stream as usize].open
            && *given < EXTENT_PAGES
        {
            *given += 1;
            return Ok(*extent * EXTENT_PAGES + *given - 1);
        }
        let fragments = &mut self.segments[stream.segment()].fragments;
        // One page stays free, so that the extent stays at the head of the list it is in.
        if fragments.len() < FRAGMENTS_MAX && self.used.count_zeros() > 1 {
            let number = self.used.trailing_ones();
            self.used |= 1 << number;
            fragments.push(number);
            return Ok(number);
        }
        self.close(stream);
        let extent = self.next_extent()?;
        self.supplies[stream as usize].open = Some((extent, 1));
        Ok(extent * EXTENT_PAGES)
    }

    /// Stores a page that is sealed.
    pub(crate) fn store(
        &mut self,
        stream: Stream,
        number: u32,
        page: &Page,
    ) -> Result<(), SpaceError<S::Error>> {
        if number < EXTENT_PAGES {
            let begin = number as usize * PAGE_BYTES;
            self.first_extent[begin..begin + PAGE_BYTES].copy_from_slice(page);
            return Ok(());
        }
        let supply = &mut self.supplies[stream as usize];
        if supply.pages.is_empty() {
            supply.first = number;
        }
        debug_assert_eq!(supply.first as usize + supply.pages.len() / PAGE_BYTES, number as usize);
        supply.pages.extend_from_slice(page);
        // Pages of the levels above come in no order.
        if stream == Stream::Nodes || number % EXTENT_PAGES == EXTENT_PAGES - 1 {
            self.hand_out(stream)?;
        }
        Ok(())
    }

    /// Gives the pages of a stream to the sink.
    fn hand_out(&mut self, stream: Stream) -> Result<(), SpaceError<S::Error>> {
        let supply = &mut self.supplies[stream as usize];
        if !supply.pages.is_empty() {
            self.sink.pages(supply.first, &mut supply.pages).map_err(SpaceError::Sink)?;
            supply.pages.clear();
        }
        Ok(())
    }

    /// A new extent at the end of the file.
    fn next_extent(&mut self) -> Result<u32, SpaceError<S::Error>> {
        if self.extents >= EXTENTS_MAX - 1 {
            return Err(SpaceError::Full);
        }
        if self.extents.is_multiple_of(DESCRIBED) {
            self.describe_more();
            self.hand_out_descriptors()?;
        }
        self.extents += 1;
        Ok(self.extents - 1)
    }

    /// Makes the next extent one that begins with descriptors, and a page of the change buffer's.
    fn describe_more(&mut self) {
        let extent = self.extents;
        self.extents += 1;
        let mut page = blank_page();
        self.stamp.head(&mut page, page::DESCRIPTORS, extent * EXTENT_PAGES, None);
        self.descriptors.insert(extent, page);
        self.describe(extent, 0, FREE_FRAG, 0b11);
        self.append_to(extent, |space| &mut space.free_frag);
    }

    /// Hands out the pages of descriptors that can't change any more: those that describe neither the end of a list, nor an extent that
    /// will be in one, nor extents to come.
    fn hand_out_descriptors(&mut self) -> Result<(), SpaceError<S::Error>> {
        let lists = self.segments.iter().flat_map(|segment| [segment.full, segment.not_full]);
        let mut kept: Vec<u32> =
            lists.chain([self.free_frag]).filter_map(|list| list.last).collect();
        kept.extend(
            self.supplies.iter().filter_map(|supply| supply.open).map(|(extent, _)| extent),
        );
        kept.push(self.extents);
        kept.iter_mut().for_each(|extent| *extent = *extent / DESCRIBED * DESCRIBED);
        let done: Vec<u32> =
            self.descriptors.keys().filter(|first| !kept.contains(first)).copied().collect();
        done.into_iter().try_for_each(|first| self.hand_out_descriptors_of(first))
    }

    fn hand_out_descriptors_of(&mut self, first: u32) -> Result<(), SpaceError<S::Error>> {
        let Some(mut page) = self.descriptors.remove(&first) else { return Ok(()) };
        let number = first * EXTENT_PAGES;
        self.stamp.checksum.seal(&mut page[..]);
        let mut pages = page.to_vec();
        page.fill(0);
        self.stamp.head(&mut page, page::CHANGE_BUFFER_BITMAP, number + 1, None);
        self.stamp.checksum.seal(&mut page[..]);
        pages.extend_from_slice(&page[..]);
        self.sink.pages(number, &mut pages).map_err(SpaceError::Sink)
    }

    /// Writes an extent's descriptor, except for its place in a list.
    fn describe(&mut self, extent: u32, segment: u64, state: u32, used: u64) {
        let descriptor = self.descriptor(extent);
        put_u64(descriptor, 0, segment);
        put_u32(descriptor, DESCRIPTOR_STATE, state);
        for (i, byte) in descriptor[DESCRIPTOR_BITMAP..].iter_mut().enumerate() {
            let is_free = |page: usize| u8::from(used >> (4 * i + page) & 1 == 0);
            *byte = (0..4).fold(0, |byte, page| byte | (0b10 | is_free(page)) << (2 * page));
        }
    }

    fn descriptor(&mut self, extent: u32) -> &mut [u8] {
        let (first, i) = (extent / DESCRIBED * DESCRIBED, (extent % DESCRIBED) as usize);
        let page: &mut [u8] = match first {
            0 => &mut self.first_extent[..PAGE_BYTES],
            _ => &mut self.descriptors.get_mut(&first).expect("what may change is kept")[..],
        };
        &mut page[DESCRIPTOR_ARRAY + i * DESCRIPTOR_BYTES..][..DESCRIPTOR_BYTES]
    }

    /// Appends an extent to a list.
    fn append_to(&mut self, extent: u32, list: impl Fn(&mut Self) -> &mut List) {
        let before = list(self).last;
        put_address(self.descriptor(extent), DESCRIPTOR_NODE, before);
        put_address(self.descriptor(extent), DESCRIPTOR_NODE + 6, None);
        if let Some(before) = before {
            put_address(self.descriptor(before), DESCRIPTOR_NODE + 6, Some(extent));
        }
        let list = list(self);
        list.first.get_or_insert(extent);
        list.last = Some(extent);
        list.length += 1;
    }

    /// Gives the extent that is open to its segment, for good.
    fn close(&mut self, stream: Stream) {
        let Some((extent, given)) = self.supplies[stream as usize].open.take() else { return };
        let segment = stream.segment();
        let is_full = given == EXTENT_PAGES;
        let used = if is_full { u64::MAX } else { (1 << given) - 1 };
        self.describe(extent, self.segments[segment].id, OF_A_SEGMENT, used);
        if is_full {
            self.append_to(extent, |space| &mut space.segments[segment].full);
        } else {
            self.append_to(extent, |space| &mut space.segments[segment].not_full);
            self.segments[segment].not_full_used += given;
        }
    }

    /// The template's page of this number, to be changed.
    pub(crate) fn template_page(&mut self, number: u32) -> &mut Page {
        let page = &mut self.first_extent[number as usize * PAGE_BYTES..][..PAGE_BYTES];
        page.try_into().expect("a page is so long")
    }

    /// Hands out what is left. Returns the pages of the file.
    pub(crate) fn finish(&mut self) -> Result<u32, SpaceError<S::Error>> {
        for stream in Stream::ALL {
            self.hand_out(stream)?;
            self.close(stream);
        }
        let rest: Vec<u32> = self.descriptors.keys().copied().collect();
        rest.into_iter().try_for_each(|first| self.hand_out_descriptors_of(first))?;
        self.write_inodes();
        let pages = self.write_header();
        self.stamp.checksum.seal(self.template_page(0));
        self.stamp.checksum.seal(self.template_page(2));
        self.first_extent.truncate(pages as usize * PAGE_BYTES);
        self.sink.pages(0, &mut self.first_extent).map_err(SpaceError::Sink)?;
        Ok(pages)
    }

    fn write_inodes(&mut self) {
        let page = &mut self.first_extent[2 * PAGE_BYTES..3 * PAGE_BYTES];
        put_u64(page, page::LSN, self.stamp.lsn);
        for segment in &self.segments {
            let inode = &mut page[segment.inode..segment.inode + INODE_BYTES];
            put_u32(inode, INODE_NOT_FULL_USED, segment.not_full_used);
            put_list(inode, INODE_NOT_FULL, segment.not_full);
            put_list(inode, INODE_FULL, segment.full);
            for (i, page) in segment.fragments.iter().enumerate() {
                put_u32(inode, INODE_FRAGMENTS + 4 * i, *page);
            }
        }
    }

    /// Returns the pages of the file.
    fn write_header(&mut self) -> u32 {
        let used_end = u64::BITS - self.used.leading_zeros();
        let pages = match self.extents {
            1 => used_end.max(self.template_pages),
            extents => extents * EXTENT_PAGES,
        };
        let fragments = self.used.count_ones() + 2 * ((self.extents - 1) / DESCRIBED);
        self.describe(0, 0, FREE_FRAG, self.used);
        let (lsn, extents, free_frag) = (self.stamp.lsn, self.extents, self.free_frag);
        let page = &mut self.template_page(0)[..];
        put_u64(page, page::LSN, lsn);
        put_u32(page, SIZE, pages);
        put_u32(page, FREE_LIMIT, extents * EXTENT_PAGES);
        put_u32(page, FRAGMENTS_USED, fragments);
        put_list(page, FREE_FRAG_LIST, free_frag);
        pages
    }
}

fn put_list(bytes: &mut [u8], at: usize, list: List) {
    put_u32(bytes, at, list.length);
    put_address(bytes, at + 4, list.first);
    put_address(bytes, at + 10, list.last);
}

/// Where the node of an extent is: its page, and the place there.
fn put_address(bytes: &mut [u8], at: usize, extent: Option<u32>) {
    let (page, offset) = extent.map_or((NIL, 0), |extent| {
        let offset = DESCRIPTOR_ARRAY + (extent % DESCRIBED) as usize * DESCRIPTOR_BYTES;
        (extent / DESCRIBED * DESCRIBED * EXTENT_PAGES, offset + DESCRIPTOR_NODE)
    });
    put_u32(bytes, at, page);
    put_u16(bytes, at + 4, offset as u16);
}
