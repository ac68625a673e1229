//! A file that grows by row groups.

use std::any::Any;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedFileWriter;

use crate::parquet::encode::{RowGroup, RowGroups};
use crate::parquet::gather::Gather;
use crate::parquet::{ParquetLayout, write_error};
use crate::place::Place;
use inrush_core::flow::{Ack, Chunk, Wire};
use inrush_core::target::Lane;

/// Bytes that are handed to the kernel at a time: row groups come through a buffer of 8 KiB.
const WRITE_BYTES: usize = 1 << 20;

/// A file that is being written.
pub(crate) struct ParquetOutput {
    file: SerializedFileWriter<BufWriter<File>>,
    is_synced: bool,
}

impl ParquetOutput {
    pub(crate) fn new(
        place: &Place,
        file: File,
        layout: &ParquetLayout,
        is_synced: bool,
    ) -> inrush_core::error::Result<Self> {
        let root = layout.schema.root_schema_ptr();
        let properties = Arc::new(layout.properties().build());
        let buffered = BufWriter::with_capacity(WRITE_BYTES, file);
        let file = SerializedFileWriter::new(buffered, root, properties)
            .map_err(|error| write_error(place, error))?;
        Ok(Self { file, is_synced })
    }

    /// Appends the row groups of another file of the same columns, byte for byte, and says how many. Those without rows are left out: where
    /// the pages would be that they lack, writers say in their own ways.
    pub(crate) fn copy(
        &mut self,
        place: &Place,
        old: &File,
        metadata: &ParquetMetaData,
    ) -> inrush_core::error::Result<usize> {
        let mut groups = 0;
        for group in metadata.row_groups().iter().filter(|group| group.num_rows() > 0) {
            let copied = placed(group).and_then(|group| self.append(old, &group));
            copied.map_err(|error| write_error(place, error))?;
            groups += 1;
        }
        Ok(groups)
    }

    fn append(&mut self, bytes: &impl ChunkReader, metadata: &RowGroupMetaData) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in metadata.columns() {
            let closed = ColumnCloseResult {
                bytes_written: column.compressed_size() as u64,
                rows_written: metadata.num_rows() as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            group.append_column(bytes, closed)?;
        }
        group.close()?;
        Ok(())
    }

    /// Waits for the disk, unless that was not asked for.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        if self.is_synced { self.file.inner().get_ref().sync_all() } else { Ok(()) }
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.is_synced
    }
}

/// A row group whose columns have a dictionary where there is one: some writers say that there is none by one at the file's first byte, or
/// behind the values, which no reader takes for one.
fn placed(group: &RowGroupMetaData) -> Result<RowGroupMetaData> {
    let placed = |column: &ColumnChunkMetaData| {
        let is_one = |at: &i64| (1..column.data_page_offset()).contains(at);
        let dictionary = column.dictionary_page_offset().filter(is_one);
        column.clone().into_builder().set_dictionary_page_offset(dictionary).build()
    };
    let columns = group.columns().iter().map(placed).collect::<Result<_>>()?;
    group.clone().into_builder().set_column_metadata(columns).build()
}

/// Part of a wire, read as if it were a file.
struct Part<'w>(&'w [u8]);

impl<'w> Part<'w> {
    fn from(&self, start: u64) -> Result<&'w [u8]> {
        let start = usize::try_from(start).ok();
        start
            .and_then(|start| self.0.get(start..))
            .ok_or_else(|| ParquetError::EOF("the wire ends before its row group".to_owned()))
    }
}

impl Length for Part<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

impl<'w> ChunkReader for Part<'w> {
    type T = &'w [u8];

    fn get_read(&self, start: u64) -> Result<&'w [u8]> {
        self.from(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.from(start)?.get(..length);
        let bytes = bytes.ok_or_else(|| ParquetError::EOF("the wire is too short".to_owned()))?;
        Ok(Bytes::copy_from_slice(bytes))
    }
}

/// The file takes what the encoders made.
pub(crate) struct ParquetLane<'l> {
    output: &'l mut ParquetOutput,
    layout: &'l ParquetLayout,
    place: &'l Place,
    gather: Gather,
}

impl<'l> ParquetLane<'l> {
    pub(crate) fn new(
        output: &'l mut ParquetOutput,
        layout: &'l ParquetLayout,
        place: &'l Place,
    ) -> Self {
        Self { output, layout, place, gather: Gather::default() }
    }

    fn take(&mut self, chunk: &Chunk, wire: &Wire) -> Result<()> {
        if let Some(batch) = &wire.batch {
            let mut full = Vec::new();
            self.gather.add(self.layout, chunk, batch, &mut full)?;
            return full.iter().try_for_each(|(bytes, group)| self.append(bytes, group));
        }
        let own: Option<&dyn Any> = wire.own.as_deref().map(|own| own as _);
        let groups = own.and_then(<dyn Any>::downcast_ref::<RowGroups>);
        for group in groups.into_iter().flatten() {
            let group = group.as_ref();
            let group = group.map_err(|error| ParquetError::General(error.to_string()))?;
            self.append_gathered()?;
            self.append(&wire.bytes, group)?;
        }
        Ok(())
    }

    /// Rows stay in the order of their chunks.
    fn append_gathered(&mut self) -> Result<()> {
        match self.gather.end(self.layout)? {
            Some((bytes, group)) => self.append(&bytes, &group),
            None => Ok(()),
        }
    }

    fn append(&mut self, bytes: &[u8], group: &RowGroup) -> Result<()> {
        self.output.append(&Part(&bytes[group.start..]), &group.metadata)
    }
}

impl Lane for ParquetLane<'_> {
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> inrush_core::error::Result<Ack> {
        self.take(chunk, wire).map_err(|error| write_error(self.place, error))?;
        let loaded = wire.rows.len() as u64;
        Ok(Ack { loaded, checksum: wire.checksum.clone(), ..Ack::default() })
    }

    fn finish(&mut self) -> inrush_core::error::Result<()> {
        let finished = self.append_gathered().and_then(|()| self.output.file.finish().map(|_| ()));
        finished.map_err(|error| write_error(self.place, error))
    }
}
