//! Records in order as the leaves of a clustered index, and the levels above them.
//!
//! Of each level one page is open. When a record doesn't fit it, the page gets its neighbours' numbers and is stored, and its first key
//! with its number becomes a record of the level above:
//!
//! ```text
//! level 2                          | open: root at the end
//!                                    |
//! level 1         | stored  <-->  | open
//!                   |     |         |
//! leaves   | stored | stored | stored <--> | open
//! ```
//!
//! A page gets its number when the second page of its level comes. So at the end the only one without a number is the only one of
//! the highest level: the root, whose place is in the template.

use std::fmt;

use crate::index_page::{
    FIRST_OF_LEVEL, HEAP, INFIMUM_HEADER, LEVEL, NODE, OpenPage, ROW, SEGMENTS, TRANSACTION,
};
use crate::layout::{Layout, ROW_ID_BYTES};
use crate::overflow;
use crate::page::{self, NIL, Page, blank_page, u64_at};
use crate::record::{HEADER_BYTES, Record};
use crate::sink::Sink;
use crate::space::{Space, SpaceError, Stream};
use crate::template::Template;

/// Why a row can't be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<E> {
    /// The key is the one before. Nothing was appended; others may follow.
    KeyRepeats,
    /// The key comes before the one before. Nothing was appended; others may follow.
    KeyDescends,
    /// The file would have more than 2^32 pages (64 TiB). It is of no use.
    Full,
    /// The sink failed. The file is of no use.
    Sink(E),
}

impl<E: fmt::Display> fmt::Display for PushError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyRepeats => f.write_str("the row repeats the key of the one before"),
            Self::KeyDescends => f.write_str("the row's key comes before that of the one before"),
            Self::Full => f.write_str("the tablespace would be larger than 64 TiB"),
            Self::Sink(error) => write!(f, "can't store pages: {error}"),
        }
    }
}

impl<E: std::error::Error> std::error::Error for PushError<E> {}

impl<E> From<SpaceError<E>> for PushError<E> {
    fn from(error: SpaceError<E>) -> Self {
        match error {
            SpaceError::Full => Self::Full,
            SpaceError::Sink(error) => Self::Sink(error),
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Rows.
    pub rows: u64,
    /// Pages of the file: its length is this times [`PAGE_BYTES`](crate::PAGE_BYTES).
    pub pages: u32,
}

/// Writes a tablespace: the records of a table's rows, in the order of their keys.
///
/// ```
/// use inrush_innodb_pages::{Column, Encoder, Layout, PAGE_BYTES, Tablespace, Template, records};
///
/// # fn template() -> Vec<u8> { include_bytes!("../tests/it/templates/mariadb-10.11").to_vec() }
/// let template = Template::read(&template()).unwrap();
/// let layout = Layout::new(vec![Column::fixed(4), Column::variable(80).nullable()], 1).unwrap();
/// let (mut encoder, mut wire) = (Encoder::new(&layout), Vec::new());
/// for id in 0..100_000_u32 {
///     let id = id.to_be_bytes();
///     encoder.encode(&[Some(&id), Some(b"a name")], &mut wire).unwrap();
/// }
/// let mut file = Vec::new();
/// let mut tablespace = Tablespace::new(&template, &layout, &mut file);
/// for record in records(&wire) {
///     tablespace.push(record).unwrap();
/// }
/// let summary = tablespace.finish().unwrap();
/// file.resize(summary.pages as usize * PAGE_BYTES, 0);
/// assert_eq!(summary.rows, 100_000);
/// ```
#[derive(Debug)]
pub struct Tablespace<S> {
    layout: Layout,
    space: Space<S>,
    leaf: OpenPage,
    /// The levels above, the lowest first.
    nodes: Vec<OpenPage>,
    root: u32,
    index_id: u64,
    rows: u64,
    /// What pages of long values are made in.
    value: Box<Page>,
    /// The data of a record that refers to values elsewhere.
    data: Vec<u8>,
}

impl<S: Sink> Tablespace<S> {
    /// A table without rows yet, of the template's server and identity.
    ///
    /// Whether the template is that of a table of this layout is the caller's to know.
    #[must_use]
    pub fn new(template: &Template, layout: &Layout, sink: S) -> Self {
        let mut space = Space::new(template, sink);
        let index_id = u64_at(&space.template_page(template.root)[..], crate::index_page::INDEX_ID);
        Self {
            layout: layout.clone(),
            space,
            leaf: OpenPage::new(),
            nodes: Vec::new(),
            root: template.root,
            index_id,
            rows: 0,
            value: blank_page(),
            data: Vec::new(),
        }
    }

    /// Appends a row by its record in transit.
    ///
    /// # Errors
    /// When its key does not come behind the one before, or the sink fails.
    ///
    /// # Panics
    /// When it is no record, or that of another layout.
    #[inline]
    pub fn push(&mut self, record: &[u8]) -> Result<(), PushError<S::Error>> {
        let record = Record::parse(record);
        if self.leaf.page.count > 0 && self.layout.key() > 0 {
            let page = &self.leaf.page;
            let (extra, data) = page.bytes.split_at(page.last);
            let extra = &extra[HEAP..page.last - HEADER_BYTES];
            match self.layout.compare_keys(extra, data, record.extra, record.data) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Err(PushError::KeyRepeats),
                std::cmp::Ordering::Greater => return Err(PushError::KeyDescends),
            }
        }
        if !self.leaf.page.fits(record.extra.len() + HEADER_BYTES + record.data.len()) {
            self.end_leaf()?;
        }
        self.rows += 1;
        if record.elsewhere.is_empty() {
            self.leaf.page.push(ROW, 0, record.extra, record.data);
        } else {
            self.push_long(record)?;
        }
        if self.layout.key() == 0 {
            let at = self.leaf.page.last;
            let row_id = &mut self.leaf.page.bytes[at..at + ROW_ID_BYTES];
            row_id.copy_from_slice(&self.rows.to_be_bytes()[2..]);
        }
        Ok(())
    }

    /// The same for one that has values elsewhere.
    #[cold]
    fn push_long(&mut self, record: Record<'_>) -> Result<(), PushError<S::Error>> {
        self.data.clear();
        self.data.extend_from_slice(record.data);
        for (at, value) in record.elsewhere() {
            let first = overflow::store(&mut self.space, &mut self.value, value)?;
            overflow::refer(&mut self.data, at, self.space.stamp.space_id, first);
        }
        self.leaf.page.push(ROW, 0, record.extra, &self.data);
        Ok(())
    }

    /// Stores the open leaf, and begins the next.
    fn end_leaf(&mut self) -> Result<(), PushError<S::Error>> {
        let Self { space, leaf, index_id, .. } = self;
        let child = end(space, leaf, Stream::Leaves, 0, *index_id)?;
        self.push_node(0, child)?;
        self.leaf.page.clear();
        Ok(())
    }

    /// Appends the last page of the level below to `nodes[i]`; that page still has its records.
    fn push_node(&mut self, i: usize, child: u32) -> Result<(), PushError<S::Error>> {
        if i == self.nodes.len() {
            self.nodes.push(OpenPage::new());
        }
        let below = if i == 0 { &self.leaf } else { &self.nodes[i - 1] };
        let (extra, data) = node(&self.layout, below, child);
        if !self.nodes[i].page.fits(extra.len() + HEADER_BYTES + data.len()) {
            let child =
                end(&mut self.space, &mut self.nodes[i], Stream::Nodes, i + 1, self.index_id)?;
            self.push_node(i + 1, child)?;
            self.nodes[i].page.clear();
        }
        let OpenPage { page, previous, .. } = &mut self.nodes[i];
        let info = if page.count == 0 && *previous == NIL { FIRST_OF_LEVEL } else { 0 };
        page.push(NODE, info, &extra, &data);
        Ok(())
    }

    /// Stores what is left: the file is whole then.
    ///
    /// # Errors
    /// When the sink fails.
    pub fn finish(mut self) -> Result<Summary, PushError<S::Error>> {
        let mut level = 0;
        loop {
            let open = if level == 0 { &mut self.leaf } else { &mut self.nodes[level - 1] };
            let Some(number) = open.number else { break };
            let stream = if level == 0 { Stream::Leaves } else { Stream::Nodes };
            store(&mut self.space, open, stream, level, self.index_id, [number, NIL])?;
            self.push_node(level, number)?;
            level += 1;
        }
        if self.rows > 0 {
            self.write_root(level);
        }
        let pages = self.space.finish()?;
        Ok(Summary { rows: self.rows, pages })
    }

    /// Writes the only page of the highest level where the root is.
    fn write_root(&mut self, level: usize) {
        let open = if level == 0 { &mut self.leaf } else { &mut self.nodes[level - 1] };
        open.page.finish(level as u16, self.index_id);
        let page = &mut open.page.bytes;
        let checksum = self.space.stamp.checksum;
        let root = self.space.template_page(self.root);
        page[..page::CONTENT].copy_from_slice(&root[..page::CONTENT]);
        page[TRANSACTION..LEVEL].copy_from_slice(&root[TRANSACTION..LEVEL]);
        page[SEGMENTS..INFIMUM_HEADER].copy_from_slice(&root[SEGMENTS..INFIMUM_HEADER]);
        *root = **page;
        checksum.seal(&mut root[..]);
    }
}

/// Stores the open page of a level, which another one follows, and gives that its number. Returns the number of the one that was
/// stored, whose records are still there.
fn end<S: Sink>(
    space: &mut Space<S>,
    open: &mut OpenPage,
    stream: Stream,
    level: usize,
    index_id: u64,
) -> Result<u32, SpaceError<S::Error>> {
    let number = match open.number {
        Some(number) => number,
        None => space.allocate(stream)?,
    };
    let next = space.allocate(stream)?;
    store(space, open, stream, level, index_id, [number, next])?;
    (open.number, open.previous) = (Some(next), number);
    Ok(number)
}

fn store<S: Sink>(
    space: &mut Space<S>,
    open: &mut OpenPage,
    stream: Stream,
    level: usize,
    index_id: u64,
    [number, next]: [u32; 2],
) -> Result<(), SpaceError<S::Error>> {
    open.page.finish(level as u16, index_id);
    let bytes = &mut open.page.bytes;
    space.stamp.head(bytes, page::INDEX, number, Some([open.previous, next]));
    space.stamp.checksum.seal(&mut bytes[..]);
    space.store(stream, number, bytes)
}

/// The record that points to a page: its extra bytes and its data, the first key and the number.
fn node(layout: &Layout, open: &OpenPage, child: u32) -> (Vec<u8>, Vec<u8>) {
    let first = open.page.first;
    let (extra, data) = open.page.bytes.split_at(first);
    let extra = &extra[HEAP..first - HEADER_BYTES];
    let (key_bytes, length_bytes) = layout.key_bytes(extra);
    let nulls = extra.len() - layout.null_bytes();
    let mut node_extra = extra[nulls - length_bytes..nulls].to_vec();
    node_extra.resize(length_bytes + layout.null_bytes(), 0);
    let mut node_data = data[..key_bytes].to_vec();
    node_data.extend_from_slice(&child.to_be_bytes());
    (node_extra, node_data)
}
