//! The serial part: each row gets its rowid and goes where it belongs, and rows that can't are told from the rest.

use inrush_sqlite_pages::record::RECORD_BYTES_MAX;
use inrush_sqlite_pages::{RecordReader, Value};

use crate::pages::ROW_ORDER;
use crate::pages::layout::Layout;
use crate::pages::record::RecordShape;
use crate::pages::sink::Sink;
use crate::pages::write::Trees;
use crate::statement::fault;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::flow::checksum::Stored;
use inrush_core::flow::{Ack, Checksum, Chunk, Code, RowFault, Wire};
use inrush_core::target::Lane;
use inrush_core::{Job, RepeatedRows, Repeats, Retry, Verify};

pub(super) struct PageLane<'l> {
    sink: Sink<'l>,
    layout: &'l Layout,
    trees: &'l mut Trees,
    always_null: Option<&'l str>,
    /// Rows that are known to repeat a key, and how many of them have come by.
    repeats: Option<&'l RepeatedRows>,
    repeated: usize,
    /// How many rows have come by.
    position: u64,
    /// Whether rowids come before the records.
    keyed: bool,
    /// The rowid of the last row.
    last_rowid: Option<i64>,
    /// For each value of a record, which column of the plan it is.
    loaded: Vec<Option<usize>>,
    sums: bool,
    retry: &'l mut Option<Retry>,
}

impl<'l> PageLane<'l> {
    pub(super) fn new(
        sink: Sink<'l>,
        layout: &'l Layout,
        shape: &'l RecordShape,
        trees: &'l mut Trees,
        job: &'l Job,
        retry: &'l mut Option<Retry>,
    ) -> Self {
        Self {
            sink,
            layout,
            trees,
            always_null: shape.always_null.as_deref(),
            repeats: match &*job.facts.source.repeats {
                Repeats::Rows(rows) => Some(rows),
                _ => None,
            },
            repeated: 0,
            position: 0,
            keyed: shape.has_rowids(),
            last_rowid: None,
            loaded: shape.loaded().collect(),
            sums: job.request.verify == Verify::Checksum,
            retry,
        }
    }

    /// Why this row can't be loaded, in the words that SQLite has for it.
    fn refused(&mut self, row: usize, record: &[u8]) -> Option<RowFault> {
        if let Some(column) = self.always_null {
            let message = format!("NOT NULL constraint failed: {}.{column}", self.layout.table);
            return Some(fault(row, Code::NotNull, Some(column.to_owned()), message));
        }
        if record.len() > RECORD_BYTES_MAX {
            return Some(fault(row, Code::TooLong, None, "string or blob too big".to_owned()));
        }
        if let Some(repeats) = self.repeats
            && let Some((position, key)) = repeats.rows.get(self.repeated)
            && *position == self.position
        {
            self.repeated += 1;
            return Some(self.duplicate(row, &repeats.keys[*key as usize]));
        }
        None
    }

    fn duplicate(&self, row: usize, key: &[String]) -> RowFault {
        let table = &self.layout.table;
        let names: Vec<String> = key.iter().map(|column| format!("{table}.{column}")).collect();
        let message = format!("UNIQUE constraint failed: {}", names.join(", "));
        fault(row, Code::DuplicateKey, key.first().cloned(), message)
    }

    /// A row whose rowid is not greater than `last`, the one before.
    #[cold]
    fn out_of_order(&mut self, row: usize, rowid: i64, last: i64) -> Result<RowFault> {
        let key = &self.layout.keys()[0];
        // The row before may itself be one that another key forbids; who can tell needs all rows.
        if rowid == last && self.trees.indexes.is_empty() {
            return Ok(self.duplicate(row, key));
        }
        *self.retry = Some(Retry::Knob(&ROW_ORDER, "any"));
        let why = format!("the rows are not in the order of {}: {rowid} after {last}", key[0]);
        Err(Error::new(Kind::Source, why)
            .advise(format!("--set {}=any has them sorted", ROW_ORDER.name)))
    }

    fn add_to(&self, sums: &mut Checksum, rowid: i64, record: &[u8]) {
        let keyed = self.layout.rowid;
        for ((index, column), field) in
            self.loaded.iter().enumerate().zip(RecordReader::new(record))
        {
            let Some(column) = column else { continue };
            let stored = match field.value() {
                _ if keyed == Some(index) => Stored::Integer(rowid),
                Value::Null => Stored::Null,
                Value::Integer(number) => Stored::Integer(number),
                Value::Real(number) => Stored::Real(number),
                Value::Text(text) => Stored::Text(text),
                Value::Blob(bytes) => Stored::Bytes(bytes),
            };
            sums.add(*column, stored);
        }
    }
}

impl Lane for PageLane<'_> {
    fn send(&mut self, _chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let columns = self.loaded.iter().flatten().count();
        let mut ack = Ack { checksum: self.sums.then(|| Checksum::new(columns)), ..Ack::default() };
        let ascending = self.trees.unsorted.is_none() && self.trees.rows.is_some();
        let mut start = 0;
        for (row, mark) in wire.rows.iter().enumerate() {
            let bytes = &wire.bytes[start..mark.end as usize];
            start = mark.end as usize;
            let (rowid, record) = match bytes.split_first_chunk() {
                Some((rowid, record)) if self.keyed => (i64::from_be_bytes(*rowid), record),
                _ => (self.last_rowid.unwrap_or(0) + 1, bytes),
            };
            let mut refused = self.refused(row, record);
            if refused.is_none()
                && ascending
                && let Some(last) = self.last_rowid.filter(|last| rowid <= *last)
            {
                refused = Some(self.out_of_order(row, rowid, last)?);
            }
            let position = self.position;
            self.position += 1;
            if let Some(fault) = refused {
                ack.faults.push(fault);
                continue;
            }
            self.last_rowid = Some(rowid);
            self.trees
                .push(record, rowid, position)
                .map_err(|error| self.sink.file_error(&error))?;
            ack.loaded += 1;
            if let Some(sums) = &mut ack.checksum {
                self.add_to(sums, rowid, record);
            }
        }
        if let Some(rows) = &mut self.trees.rows {
            rows.flush(&mut self.sink)?;
        }
        Ok(ack)
    }
}
