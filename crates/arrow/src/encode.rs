//! Rows to batches.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

use crate::builder::Builder;
use crate::column::ArrowColumn;
use crate::sums::add_batch;
use inrush_core::encode::{BadValue, EncodeRow, Encoded, Row, Typed, is_plain};
use inrush_core::flow::{Checksum, Chunk, Wire};

/// Bytes of the rows of a batch, without what its buffers have room for besides.
pub fn bytes_of(batch: &RecordBatch) -> usize {
    let column = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    batch.columns().iter().map(column).sum()
}

/// Encodes the rows of a chunk as one batch, [`Wire::batch`].
pub struct ArrowEncoder {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// Rows so far.
    rows: usize,
    /// For each column of the batch, the load's column that it takes values from, and how many of those there are; `None`
    /// where values aren't summed.
    sums: Option<(Arc<[Option<usize>]>, usize)>,
}

struct Column {
    from: Option<usize>,
    required: bool,
    builder: Builder,
}

impl ArrowEncoder {
    /// An encoder of batches of these columns. With `sums`, the load's number of columns, values are summed into
    /// [`Wire::checksum`].
    pub fn new(columns: &[ArrowColumn], sums: Option<usize>) -> Self {
        let from: Arc<[Option<usize>]> = columns.iter().map(|column| column.from).collect();
        let column = |column: &ArrowColumn| Column {
            from: column.from,
            required: column.required,
            builder: Builder::of(column),
        };
        Self {
            schema: ArrowColumn::schema(columns),
            columns: columns.iter().map(column).collect(),
            rows: 0,
            sums: sums.map(|count| (from, count)),
        }
    }

    /// The batches' schema.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many rows wait to be taken.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Takes the rows so far. Their values are added to the wire's checksum, if they are to be summed.
    pub fn take(&mut self, checksum: &mut Option<Checksum>) -> RecordBatch {
        let rows = std::mem::take(&mut self.rows);
        let columns = self.columns.iter_mut().map(|column| column.builder.take(rows)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .expect("columns of the schema's types, all of them as long");
        if let Some((from, count)) = &self.sums {
            let sums = checksum.get_or_insert_with(|| Checksum::new(*count));
            add_batch(sums, &batch, from);
        }
        batch
    }

    /// Appends a row, or nothing of it.
    #[inline(always)]
    pub fn push<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'static>> {
        let pushed = Self::push_values(&mut self.columns, self.rows, row, &mut wire.values);
        if pushed.is_ok() {
            self.rows += 1;
        } else {
            let rows = self.rows;
            self.columns.iter_mut().for_each(|column| column.builder.truncate(rows));
        }
        pushed
    }

    #[inline(always)]
    fn push_values<R: Row>(
        columns: &mut [Column],
        rows: usize,
        row: &R,
        values: &mut Vec<u8>,
    ) -> Result<(), BadValue<'static>> {
        let (text, fields) = (row.text(), row.fields());
        for Column { from, required, builder } in columns {
            let Some(column) = *from else {
                builder.push_null(rows);
                continue;
            };
            if let Some(field) = fields.get(column).filter(|field| is_plain(field))
                && builder.push_plain(text, field.start as usize, field.end as usize)
            {
                continue;
            }
            if let Some(typed) = row.typed(column)
                && builder.push_typed(typed)
            {
                continue;
            }
            if let Some((text, span)) = row.text_among(column)
                && builder.push_plain(text, span.at as usize, (span.at + span.len) as usize)
            {
                continue;
            }
            push_any(builder, column, *required, rows, row, values)?;
        }
        Ok(())
    }
}

/// Appends the value of any field.
#[inline(never)]
fn push_any(
    builder: &mut Builder,
    column: usize,
    required: bool,
    rows: usize,
    row: &impl Row,
    values: &mut Vec<u8>,
) -> Result<(), BadValue<'static>> {
    // The column has its own copy of what had to be rewritten.
    values.clear();
    match row.value(column, values) {
        None if required => Err(BadValue::null(column)),
        None => {
            builder.push_null(rows);
            Ok(())
        }
        Some((home, span)) => {
            let is_raw = builder.is_notation()
                && (matches!(row.typed(column), Some(Typed::Bytes(..))) || row.has_bytes(column));
            let text = row.bytes(home, span, values);
            let pushed = if is_raw {
                builder.push_bytes(text)
            } else if builder.is_nested() && row.is_document(column) {
                builder.push_document(text)
            } else {
                builder.push_text(text)
            };
            pushed.map_err(|(code, wanted)| BadValue { column, code, wanted })
        }
    }
}

impl EncodeRow for ArrowEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        self.push(row, wire)
    }

    fn end(&mut self, _chunk: &Chunk, out: &mut Encoded) {
        out.wire.batch = Some(self.take(&mut out.wire.checksum));
    }
}

#[cfg(test)]
mod tests;
