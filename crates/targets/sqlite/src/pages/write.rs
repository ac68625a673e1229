//! Records to pages: rowids given, leaves packed, trees built. One thread does it, in the source's order, which makes the file
//! the same whatever the number of encoders.

use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

use inrush_sqlite_pages::{PageNumbers, PageSize};

use crate::load::{SYNCHRONOUS, Transaction, Writing, create_indexes};
use crate::pages::free::FreeList;
use crate::pages::keys::{EntryOrder, IndexWriter, Rivals, split};
use crate::pages::lane::PageLane;
use crate::pages::layout::Layout;
use crate::pages::record::{RecordEncoder, RecordShape};
use crate::pages::rows::RowWriter;
use crate::pages::sink::{PageFile, Sink};
use crate::pages::{ROW_ORDER, SORT_MEMORY};
use crate::session::Session;
use inrush_core::encode::{self, Shape};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::flow::Encode;
use inrush_core::pending::directory;
use inrush_core::target::Lane;
use inrush_core::{Job, Repeats, Retry};
use inrush_sort::{Order, Sorter, nameless_file};

/// A load by pages. Its parts exist once it has begun.
#[derive(Default)]
pub(super) struct PageWriting {
    work: Option<Work>,
    retry: Option<Retry>,
}

struct Work {
    layout: Layout,
    shape: RecordShape,
    /// The file of a new database, which is written without SQLite.
    file: Option<PageFile>,
    numbers: PageNumbers,
    /// Pages of the database that are there to be used.
    free: FreeList,
    trees: Trees,
}

/// What the rows go into.
pub(super) struct Trees {
    /// The rows by rowid, unless the table is WITHOUT ROWID.
    pub(super) rows: Option<RowWriter>,
    /// Rows that wait to be sorted by their rowids, which come with them in any order.
    pub(super) unsorted: Option<Sorter<AsPushed>>,
    item: Vec<u8>,
    pub(super) indexes: Vec<IndexWriter>,
}

/// Rows are told apart by their rowids, which are the items' prefixes.
#[derive(Clone)]
pub(super) struct AsPushed;

impl Order for AsPushed {
    fn compare(&self, _: &[u8], _: &[u8]) -> Ordering {
        Ordering::Equal
    }
}

impl PageWriting {
    fn work(&mut self) -> (&mut Work, &mut Option<Retry>) {
        (self.work.as_mut().expect("the load has begun"), &mut self.retry)
    }
}

impl Writing for PageWriting {
    fn relies_on_rows(&self) -> bool {
        true
    }

    fn begin(&mut self, session: &mut Session<'_>, job: &Job) -> Result<()> {
        create_indexes(session, job)?;
        let layout = Layout::read(session.connection(), &job.table)
            .map_err(|error| session.explain(&error))?;
        let shape = RecordShape::new(job, &layout, session)?;
        let number = |pragma: &str| -> Result<u32> {
            let value = session.value(pragma)?;
            value.parse().map_err(|_| Error::target(format!("{pragma} answered {value}")))
        };
        let size = PageSize::new(number("PRAGMA page_size")?)
            .ok_or_else(|| Error::target("SQLite told a page size that there is not"))?;
        let free = FreeList::read(session)?;
        let numbers =
            PageNumbers::new(size, number("PRAGMA page_count")? + 1).with_free(free.pages());
        let knobs = &job.choice.knobs;
        let any_order = shape.has_rowids() && knobs.is(&ROW_ORDER, "any");
        let sorters = layout.indexes.len() + usize::from(any_order);
        let memory = knobs.count(&SORT_MEMORY) as usize / sorters.max(1);
        let spill = || {
            let directory = directory(&session.path).to_owned();
            move || nameless_file(&directory)
        };
        let trees = Trees {
            rows: layout.rows.map(|_| RowWriter::new(size)),
            unsorted: any_order.then(|| Sorter::new(AsPushed, memory, spill())),
            item: Vec::new(),
            indexes: layout
                .indexes
                .iter()
                .map(|index| {
                    let sorter = Sorter::new(EntryOrder::of(index), memory, spill());
                    IndexWriter::new(index.clone(), sorter)
                })
                .collect(),
        };
        let file = if session.is_new() {
            session.execute("COMMIT")?;
            let durable = !knobs.is(&SYNCHRONOUS, "off");
            let file = session.lend_file()?;
            Some(PageFile::new(file, durable).map_err(|error| session.write_error(&error))?)
        } else {
            None
        };
        self.work = Some(Work { layout, shape, file, numbers, free, trees });
        Ok(())
    }

    fn encoder(&self, shape: Arc<Shape>, _plan: &Job) -> Box<dyn Encode> {
        let work = self.work.as_ref().expect("the load has begun");
        encode::encoder(shape, RecordEncoder::new(work.shape.clone()))
    }

    fn lane<'l>(
        &'l mut self,
        transaction: Transaction<'l>,
        job: &'l Job,
    ) -> Result<Box<dyn Lane + 'l>> {
        let (Work { layout, shape, file, numbers, trees, .. }, retry) = self.work();
        let sink = Sink::new(transaction.session, file.as_mut(), numbers)?;
        Ok(Box::new(PageLane::new(sink, layout, shape, trees, job, retry)))
    }

    fn indexes(&self, _plan: &Job) -> bool {
        self.work
            .as_ref()
            .is_some_and(|work| !work.trees.indexes.is_empty() || work.trees.unsorted.is_some())
    }

    fn complete(&mut self, session: &mut Session<'_>, _plan: &Job) -> Result<()> {
        let (Work { layout, file, numbers, free, trees, .. }, retry) = self.work();
        {
            let mut sink = Sink::new(session, file.as_mut(), numbers)?;
            let rivals = trees.finish(layout, &mut sink)?;
            if !rivals.is_empty() {
                let repeats = rivals.losers(layout.keys());
                let count = repeats.rows.len();
                let (_, key) = repeats.rows[0];
                let error = Error::new(
                    Kind::Rejects,
                    format!(
                        "{count} row{} the key of an earlier row ({})",
                        if count == 1 { " has" } else { "s have" },
                        repeats.keys[key as usize].join(", ")
                    ),
                );
                *retry = Some(Retry::Repeats(Repeats::Rows(repeats)));
                return Err(error);
            }
            sink.finish(free)?;
        }
        if file.is_some() {
            session.reopen()?;
        }
        let pages = session.value("PRAGMA page_count")?;
        if pages != numbers.page_count().to_string() {
            return Err(Error::target(format!(
                "SQLite counts {pages} pages where {} were written",
                numbers.page_count()
            )));
        }
        Ok(())
    }

    fn settle(&mut self, session: &Session<'_>) -> Result<()> {
        match &mut self.work().0.file {
            Some(file) => file.settle().map_err(|error| session.write_error(&error)),
            None => Ok(()),
        }
    }

    fn retry(&mut self, session: &Session<'_>, rows_are_to_blame: bool) -> Option<Retry> {
        if self.retry.is_none() && rows_are_to_blame {
            // A row before the one that was too much may have an earlier one's key, and SQLite would have told that row first.
            let Work { layout, file, numbers, trees, .. } = self.work.as_mut()?;
            let mut sink = Sink::new(session, file.as_mut(), numbers).ok()?;
            // What can't be sorted can't be told; the bad row is one all the same.
            let rivals = trees.rivals(&mut sink).ok().filter(|rivals| !rivals.is_empty())?;
            return Some(Retry::Repeats(Repeats::Rows(rivals.losers(layout.keys()))));
        }
        self.retry.take()
    }
}

impl Trees {
    /// Adds a row. An error of the disk is the sorters'.
    pub(super) fn push(&mut self, record: &[u8], rowid: i64, position: u64) -> io::Result<()> {
        for index in &mut self.indexes {
            index.push(record, rowid, position)?;
        }
        match (&mut self.unsorted, &mut self.rows) {
            (Some(unsorted), _) => {
                self.item.clear();
                self.item.extend_from_slice(record);
                self.item.extend_from_slice(&position.to_be_bytes());
                unsorted.push(sortable(rowid), &self.item)?;
            }
            (None, Some(rows)) => rows.push(rowid, record),
            (None, None) => {}
        }
        Ok(())
    }

    /// Finds the rows so far that repeat a key, and builds nothing.
    fn rivals(&mut self, sink: &mut Sink<'_>) -> Result<Rivals> {
        let mut rivals = Rivals::default();
        self.sorted_rows(&mut rivals, sink, |_, _, _| Ok(()))?;
        for (index, key) in self.indexes.drain(..).zip(1..) {
            index.rivals(key, &mut rivals, sink)?;
        }
        Ok(rivals)
    }

    /// Builds what the rows still wait for, and puts every root in its place; unless rows have a key in common.
    fn finish(&mut self, layout: &Layout, sink: &mut Sink<'_>) -> Result<Rivals> {
        let mut rivals = Rivals::default();
        let mut rows = self.rows.take();
        self.sorted_rows(&mut rivals, sink, |rowid, record, sink| {
            let Some(rows) = &mut rows else { return Ok(()) };
            rows.push(rowid, record);
            rows.flush(sink)
        })?;
        let mut roots = Vec::new();
        if let (Some(root), Some(rows)) = (layout.rows, rows) {
            roots.push((root, rows.finish(sink)?));
        }
        for (index, key) in self.indexes.drain(..).zip(1..) {
            roots.push(index.finish(sink, key, &mut rivals)?);
        }
        sink.check()?;
        if rivals.is_empty() {
            for (number, page) in roots {
                sink.replace(number, &page)?;
            }
        }
        Ok(rivals)
    }

    /// Gives rows that wait to be sorted in the order of their rowids, and notes those that have one in common.
    fn sorted_rows(
        &mut self,
        rivals: &mut Rivals,
        sink: &mut Sink<'_>,
        mut each: impl FnMut(i64, &[u8], &mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(unsorted) = self.unsorted.take() else { return Ok(()) };
        let mut sorted = unsorted.finish().map_err(|error| sink.file_error(&error))?;
        let mut last = None;
        while let Some((number, item)) =
            sorted.next_item().map_err(|error| sink.file_error(&error))?
        {
            let (record, position) = split(item);
            match last {
                Some((same, first)) if same == number => rivals.push(0, first, position),
                _ => {
                    rivals.end_group();
                    last = Some((number, position));
                    each(from_sortable(number), record, sink)?;
                }
            }
        }
        rivals.end_group();
        Ok(())
    }
}

/// A rowid as an unsigned number of the same order.
fn sortable(rowid: i64) -> u64 {
    rowid as u64 ^ (1 << 63)
}

fn from_sortable(number: u64) -> i64 {
    (number ^ (1 << 63)) as i64
}
