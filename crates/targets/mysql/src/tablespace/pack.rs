//! The records of the load's one lane to pages: as they come, or sorted first.
//!
//! ```text
//! ascending   record ------------------------------------------> Tablespace -> space, the file
//! any         record, position -> Sorter (memory, spilt files) --^  at the end
//! ```
//!
//! A row that repeats a key is left out by itself where rows come in order. Sorted rows are known to repeat one only when all have come:
//! then the load is done again, with their positions known.

use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

use inrush_core::flow::Code;
use inrush_core::{Job, RepeatedRows, Repeats, Retry};
use inrush_innodb_pages::{Layout, PushError, Tablespace, records};
use inrush_net::statement::{Batch, Blame, Done, Named, Write, Written};
use inrush_sort::{Order, Sorter};

use super::space::{File, Pages};
use super::{key_of, refusal, said};
use crate::knobs::{ROW_ORDER, SORT_MEMORY};
use crate::session::{Failure, Session};

/// After so many sorted rows the user's wish to stop is looked at: about a millisecond.
const CHECK_ROWS: u64 = 10_000;

/// Bytes of a row's position, which a record that is sorted has behind it.
const POSITION_BYTES: usize = 8;

/// Records in the order of their keys. What stands behind a record doesn't count.
#[derive(Clone)]
struct ByKey(Arc<Layout>);

impl Order for ByKey {
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.0.compare(a, b)
    }
}

/// Packs the records of the load's one lane into pages.
pub(super) struct Packer<'p> {
    /// None when it is finished.
    tablespace: Option<Tablespace<Pages>>,
    file: File,
    layout: Arc<Layout>,
    /// Rows that wait to be sorted.
    unsorted: Option<Sorter<ByKey>>,
    item: Vec<u8>,
    /// The key, by its columns.
    key: &'p [String],
    /// Rows that are known to repeat a key, and how many of them have come.
    repeats: Option<&'p RepeatedRows>,
    repeated: usize,
    /// Rows that have come.
    position: u64,
    retry: Option<Retry>,
}

impl<'p> Packer<'p> {
    /// What packs rows of `layout` into `tablespace`, whose pages go to `file`.
    pub(super) fn new(
        tablespace: Tablespace<Pages>,
        file: File,
        layout: Layout,
        job: &'p Job,
    ) -> Self {
        let layout = Arc::new(layout);
        let knobs = &job.choice.knobs;
        let directory = file.directory().to_owned();
        let unsorted = (layout.key() > 0 && knobs.is(&ROW_ORDER, "any")).then(|| {
            let memory_bytes = knobs.count(&SORT_MEMORY) as usize;
            Sorter::new(ByKey(Arc::clone(&layout)), memory_bytes, move || {
                inrush_sort::nameless_file(&directory)
            })
        });
        let repeats = match &*job.facts.source.repeats {
            Repeats::Rows(repeats) => Some(repeats),
            _ => None,
        };
        Self {
            tablespace: Some(tablespace),
            file,
            layout,
            unsorted,
            item: Vec::new(),
            key: key_of(job),
            repeats,
            repeated: 0,
            position: 0,
            retry: None,
        }
    }

    /// Takes a row; `false` where it repeats the key of an earlier one.
    fn push(&mut self, record: &[u8]) -> Result<bool, Failure> {
        let position = self.position;
        self.position += 1;
        if let Some(repeats) = self.repeats
            && let Some((known, _)) = repeats.rows.get(self.repeated)
            && *known == position
        {
            self.repeated += 1;
            return Ok(false);
        }
        if let Some(unsorted) = &mut self.unsorted {
            self.item.clear();
            self.item.extend_from_slice(record);
            self.item.extend_from_slice(&position.to_be_bytes());
            let prefix = self.layout.prefix(record);
            return unsorted.push(prefix, &self.item).map(|()| true).map_err(|error| spilt(&error));
        }
        let Some(tablespace) = &mut self.tablespace else {
            return Err(said("rows came behind the last one".to_owned()));
        };
        match tablespace.push(record) {
            Ok(()) => Ok(true),
            Err(PushError::KeyRepeats) => Ok(false),
            Err(PushError::KeyDescends) => {
                self.retry = Some(Retry::Knob(&ROW_ORDER, "any"));
                Err(said(
                    "the rows do not come in the order of the primary key (--set row_order=any has them sorted)"
                        .to_owned(),
                ))
            }
            Err(error) => Err(said(error.to_string())),
        }
    }

    /// Packs the rows that wait.
    fn pack_sorted(
        &mut self,
        tablespace: &mut Tablespace<Pages>,
        session: &Session<'_>,
    ) -> Result<(), Failure> {
        let Some(unsorted) = self.unsorted.take() else { return Ok(()) };
        let mut sorted = unsorted.finish().map_err(|error| spilt(&error))?;
        let (mut repeated, mut rows) = (Vec::new(), 0_u64);
        while let Some((_, item)) = sorted.next_item().map_err(|error| spilt(&error))? {
            rows += 1;
            if rows.is_multiple_of(CHECK_ROWS) && session.stopped() {
                return Err(Failure::Stopped);
            }
            let (record, position) = item.split_at(item.len() - POSITION_BYTES);
            match tablespace.push(record) {
                Ok(()) => {}
                // Of rows with the same key the one that came first stands first.
                Err(PushError::KeyRepeats) => {
                    repeated.push((position.try_into().map_or(0, u64::from_be_bytes), 0));
                }
                Err(error) => return Err(said(error.to_string())),
            }
        }
        if repeated.is_empty() {
            return Ok(());
        }
        repeated.sort_unstable();
        let message = match repeated.len() {
            1 => "1 row has the primary key of an earlier row".to_owned(),
            count => format!("{count} rows have the primary key of an earlier row"),
        };
        let repeats = RepeatedRows { keys: vec![self.key.to_vec()], rows: repeated };
        self.retry = Some(Retry::Repeats(Repeats::Rows(repeats)));
        Err(said(message))
    }
}

/// Rows that could not be sorted.
fn spilt(error: &io::Error) -> Failure {
    said(format!("the rows can't be sorted beside the table's file: {error}"))
}

impl<'s> Write<Session<'s>> for Packer<'_> {
    fn write(
        &mut self,
        session: &mut Session<'s>,
        batch: &Batch<'_>,
        guarded: bool,
    ) -> Result<Done, Failure> {
        self.write_new(session, batch, guarded).map(|written| written.done)
    }

    fn write_new(
        &mut self,
        _session: &mut Session<'s>,
        batch: &Batch<'_>,
        _guarded: bool,
    ) -> Result<Written, Failure> {
        let mut repeated = Vec::new();
        for (row, record) in records(batch.bytes()).enumerate() {
            if !self.push(record)? {
                let message = "Duplicate entry for key 'PRIMARY'".to_owned();
                let code = Code::DuplicateKey;
                repeated.push((row, Blame { row: None, named: Named::PrimaryKey, code, message }));
            }
        }
        let affected = (batch.to - batch.from - repeated.len()) as u64;
        Ok(Written { done: Done { affected, warnings: 0 }, left_out: repeated })
    }

    fn finish(&mut self, session: &mut Session<'s>) -> Result<(), Failure> {
        let Some(mut tablespace) = self.tablespace.take() else { return Ok(()) };
        self.pack_sorted(&mut tablespace, session)?;
        let summary = tablespace.finish().map_err(|error| said(error.to_string()))?;
        self.file.finish(summary.pages).map_err(|error| refusal(&error))
    }

    fn retry(&mut self) -> Option<Retry> {
        self.retry.take()
    }
}
