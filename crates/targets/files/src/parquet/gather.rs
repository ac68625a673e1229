//! Chunks that are too small to be row groups: those of small files, and what is left at the end of a large one.
//!
//! A row group for each of a thousand files of twenty rows would make a file many times as large and as slow as one for all of them.

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use parquet::errors::Result;

use crate::parquet::encode::{Group, RowGroup};
use crate::parquet::{BATCH_ROWS, ParquetLayout};
use inrush_arrow::bytes_of;
use inrush_core::flow::Chunk;

/// A chunk is small if it holds less than this part of what chunks may.
const SMALL_PART: usize = 16;

/// Bytes that buffers of batches may hold, what they have room for included, until they are joined to one.
const ROOM_MAX: usize = 4 << 20;

/// Whether rows of a chunk are to be gathered with those of others, in the order of chunks: whoever writes the file encodes these, and
/// all others are encoded on their encoders' threads.
pub(super) fn is_small(layout: &ParquetLayout, chunk: &Chunk, batch: &RecordBatch) -> bool {
    batch.num_rows() < BATCH_ROWS && size(chunk, batch) < layout.chunk_bytes / SMALL_PART
}

/// What counts of a chunk: of columns there are no bytes but the batch's.
fn size(chunk: &Chunk, batch: &RecordBatch) -> usize {
    chunk.bytes.len().max(bytes_of(batch))
}

/// Rows that are gathered to row groups of about a chunk each.
#[derive(Default)]
pub(super) struct Gather {
    /// Those that the group does not have yet.
    batches: Vec<RecordBatch>,
    rows: usize,
    room: usize,
    /// The row group that is being made, and how large the chunks in it are.
    group: Option<Group>,
    bytes: usize,
}

impl Gather {
    /// Takes a chunk's rows, and puts the row groups that are full then into `out`.
    pub(super) fn add(
        &mut self,
        layout: &ParquetLayout,
        chunk: &Chunk,
        batch: &RecordBatch,
        out: &mut Vec<(Vec<u8>, RowGroup)>,
    ) -> Result<()> {
        let mut at = 0;
        while at < batch.num_rows() {
            let grouped = self.group.as_ref().map_or(0, |group| group.rows);
            let rows = (layout.rows_max - grouped - self.rows).min(batch.num_rows() - at);
            let part = batch.slice(at, rows);
            at += rows;
            self.rows += rows;
            self.room += part.get_array_memory_size();
            self.batches.push(part);
            if grouped + self.rows == layout.rows_max {
                out.extend(self.end(layout)?);
            } else if self.rows >= BATCH_ROWS {
                self.write(layout)?;
            } else if self.room >= ROOM_MAX {
                self.join()?;
            }
        }
        self.bytes += size(chunk, batch);
        if self.bytes >= layout.chunk_bytes {
            out.extend(self.end(layout)?);
        }
        Ok(())
    }

    /// The row group of what is left, if anything is.
    pub(super) fn end(&mut self, layout: &ParquetLayout) -> Result<Option<(Vec<u8>, RowGroup)>> {
        self.write(layout)?;
        self.bytes = 0;
        let Some(group) = self.group.take() else { return Ok(None) };
        let mut bytes = Vec::new();
        let group = group.end(layout, &mut bytes)?;
        Ok(Some((bytes, group)))
    }

    fn write(&mut self, layout: &ParquetLayout) -> Result<()> {
        self.join()?;
        (self.rows, self.room) = (0, 0);
        let Some(batch) = self.batches.pop() else { return Ok(()) };
        let group = match &mut self.group {
            Some(group) => group,
            none => none.insert(Group::begin(layout, &batch)?),
        };
        group.write(layout, &batch)
    }

    /// Makes one batch of them, with no more room than they need.
    fn join(&mut self) -> Result<()> {
        if let Some(first) = self.batches.first() {
            let whole = concat_batches(first.schema_ref(), &self.batches)?;
            self.room = whole.get_array_memory_size();
            self.batches = vec![whole];
        }
        Ok(())
    }
}
