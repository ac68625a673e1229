//! Rows to row groups.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::Field;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::Result;
use parquet::file::metadata::RowGroupMetaDataPtr;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnPath;

use crate::parquet::choice::dictionaries;
use crate::parquet::{BATCH_ROWS, ParquetLayout, gather};
use inrush_arrow::ArrowEncoder;
use inrush_core::encode::{self, BadValue, EncodeRow, Encoded, Row, Shape};
use inrush_core::flow::{Chunk, Encode, Wire};
use inrush_core::{Job, Verify};

/// An encoder for one thread.
pub(crate) fn encoder(shape: Arc<Shape>, job: &Job, layout: &ParquetLayout) -> Box<dyn Encode> {
    let sums = (job.request.verify == Verify::Checksum).then_some(job.choice.columns.len());
    let arrow = ArrowEncoder::new(&layout.columns, sums);
    let row = ParquetEncoder { layout: layout.clone(), arrow, group: None };
    encode::encoder(shape, row)
}

/// Encodes a chunk's rows as row groups; those of a small chunk are left to be gathered, [`Wire::batch`].
struct ParquetEncoder {
    layout: ParquetLayout,
    /// Rows that wait to be encoded.
    arrow: ArrowEncoder,
    /// The row group that is being made.
    group: Option<Group>,
}

/// A row group that is being made.
pub(super) struct Group {
    writers: Vec<ArrowColumnWriter>,
    properties: Arc<WriterProperties>,
    pub(super) rows: usize,
}

impl Group {
    /// One that begins with these rows, which tell how to encode them.
    pub(super) fn begin(layout: &ParquetLayout, batch: &RecordBatch) -> Result<Self> {
        let mut properties = layout.properties();
        for (column, pays) in layout.columns.iter().zip(dictionaries(batch)) {
            let path = ColumnPath::new(vec![column.name.clone()]);
            properties = properties.set_column_dictionary_enabled(path, pays);
        }
        let properties = Arc::new(properties.build());
        // Only a file can tell how its row groups are written, so there is one that goes nowhere.
        let file = SerializedFileWriter::new(
            std::io::sink(),
            layout.schema.root_schema_ptr(),
            Arc::clone(&properties),
        )?;
        let factory = ArrowRowGroupWriterFactory::new(&file, batch.schema());
        Ok(Self { writers: factory.create_column_writers(0)?, properties, rows: 0 })
    }

    pub(super) fn write(&mut self, layout: &ParquetLayout, batch: &RecordBatch) -> Result<()> {
        let fields = batch.schema_ref().fields();
        let mut writers = self.writers.iter_mut();
        for ((field, array), bytes) in fields.iter().zip(batch.columns()).zip(&layout.decimal_bytes)
        {
            let leaves = match bytes {
                Some(bytes) => {
                    let array = fixed(array, *bytes);
                    let ty = array.data_type().clone();
                    compute_leaves(&Field::new(field.name(), ty, field.is_nullable()), &array)?
                }
                None => compute_leaves(field, array)?,
            };
            for leaf in leaves {
                if let Some(writer) = writers.next() {
                    writer.write(&leaf)?;
                }
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Appends the columns to `bytes`, one after the other.
    pub(super) fn end(self, layout: &ParquetLayout, bytes: &mut Vec<u8>) -> Result<RowGroup> {
        let start = bytes.len();
        let mut output = TrackedWrite::new(bytes);
        let schema = Arc::clone(&layout.schema);
        let mut group =
            SerializedRowGroupWriter::new(schema, self.properties, &mut output, 0, None);
        for writer in self.writers {
            writer.close()?.append_to_row_group(&mut group)?;
        }
        let metadata = group.close()?;
        output.into_inner()?;
        Ok(RowGroup { start, metadata })
    }
}

/// Decimals in so many bytes each, the highest first. The crate's writer goes by their precision, and a file of another program may have
/// more of them.
fn fixed(decimals: &ArrayRef, bytes: usize) -> ArrayRef {
    let decimals = decimals.as_primitive::<Decimal128Type>();
    let mut values = Vec::with_capacity(decimals.len() * bytes);
    for digits in decimals.values() {
        values.extend_from_slice(&digits.to_be_bytes()[size_of::<i128>() - bytes..]);
    }
    let nulls = decimals.nulls().cloned();
    Arc::new(FixedSizeBinaryArray::new(bytes as i32, Buffer::from_vec(values), nulls))
}

/// Rows as Parquet has them: columns, each encoded and compressed.
pub(crate) struct RowGroup {
    /// Where its bytes begin in [`Wire::bytes`].
    pub(crate) start: usize,
    /// What there is, by places that count from there.
    pub(crate) metadata: RowGroupMetaDataPtr,
}

/// What [`Wire::own`] is here.
pub(crate) type RowGroups = Vec<Result<RowGroup>>;

fn row_groups(wire: &mut Wire) -> &mut RowGroups {
    let own = wire.own.get_or_insert_with(|| Box::new(RowGroups::new()));
    own.downcast_mut().expect("a wire's own is its encoder's")
}

impl ParquetEncoder {
    /// Encodes the rows that wait; a row group that is full then is put into the wire.
    fn flush(&mut self, wire: &mut Wire) -> Result<()> {
        let batch = self.arrow.take(&mut wire.checksum);
        self.write(&batch, wire)
    }

    fn write(&mut self, batch: &RecordBatch, wire: &mut Wire) -> Result<()> {
        if batch.num_rows() > 0 {
            let group = match &mut self.group {
                Some(group) => group,
                none => none.insert(Group::begin(&self.layout, batch)?),
            };
            group.write(&self.layout, batch)?;
            if group.rows >= self.layout.rows_max {
                return self.end_group(wire);
            }
        }
        Ok(())
    }

    fn end_group(&mut self, wire: &mut Wire) -> Result<()> {
        if let Some(group) = self.group.take() {
            let group = group.end(&self.layout, &mut wire.bytes)?;
            row_groups(wire).push(Ok(group));
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        let rows = self.group.as_ref().map_or(0, |group| group.rows);
        self.arrow.rows() >= BATCH_ROWS.min(self.layout.rows_max - rows)
    }
}

impl EncodeRow for ParquetEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> std::result::Result<(), BadValue<'_>> {
        self.arrow.push(row, wire)?;
        if self.is_full()
            && let Err(error) = self.flush(wire)
        {
            row_groups(wire).push(Err(error));
        }
        Ok(())
    }

    fn end(&mut self, chunk: &Chunk, out: &mut Encoded) {
        let wire = &mut out.wire;
        let batch = self.arrow.take(&mut wire.checksum);
        let is_all = self.group.is_none() && wire.own.is_none();
        if is_all && gather::is_small(&self.layout, chunk, &batch) {
            wire.batch = Some(batch);
            return;
        }
        if let Err(error) = self.write(&batch, wire).and_then(|()| self.end_group(wire)) {
            row_groups(wire).push(Err(error));
        }
    }
}
