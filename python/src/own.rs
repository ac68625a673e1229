//! Values in memory of our own. What other libraries hand out is often memory that the program goes on to write to.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType};
use arrow_select::dictionary::garbage_collect_any_dictionary;

/// How many bytes are copied at a time: of one that is larger, the next part is copied when the one before is queued.
const PART_BYTES: usize = 8 << 20;

/// The batch as parts without a row of another one, each of them to be copied before the next.
pub(crate) fn parts(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    let bytes: usize = batch.columns().iter().map(|column| bytes_of(column)).sum();
    let parts = bytes.div_ceil(PART_BYTES).max(1);
    let step = rows.div_ceil(parts).max(1);
    // One without a row has columns, too.
    (0..rows.max(1)).step_by(step).map(move |at| batch.slice(at, step.min(rows - at)))
}

/// A copy of the rows, of which it takes no more memory than they need.
///
/// # Errors
/// When they are no Arrow data.
pub(crate) fn copy(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let copied = |column: &ArrayRef| copy_of(&column.to_data()).map(make_array);
    let columns = batch.columns().iter().map(copied).collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
}

/// About how many bytes a copy takes.
pub(crate) fn bytes_of(column: &dyn Array) -> usize {
    let views = size_of::<u128>() * column.len();
    match column.data_type() {
        DataType::Utf8View => views + column.as_string_view().total_buffer_bytes_used(),
        DataType::BinaryView => views + column.as_binary_view().total_buffer_bytes_used(),
        DataType::Dictionary(..) => {
            let values = column.as_any_dictionary().values();
            let used = column.len().min(values.len());
            size_of::<u64>() * column.len() + bytes_of(values) / values.len().max(1) * used
        }
        _ => {
            let bytes = column.to_data().get_slice_memory_size();
            bytes.unwrap_or_else(|_| column.get_array_memory_size())
        }
    }
}

fn copy_of(values: &ArrayData) -> Result<ArrayData, ArrowError> {
    let rows = values.len();
    let mut copy = MutableArrayData::try_new(vec![values], false, rows)?;
    copy.try_extend(0, 0, rows)?;
    without_shared(copy.freeze())
}

/// A copy that shares what it refers to with the values that it is of: without that.
fn without_shared(copy: ArrayData) -> Result<ArrayData, ArrowError> {
    if !is_sharing(copy.data_type()) {
        return Ok(copy);
    }
    let values = make_array(copy);
    match values.data_type() {
        DataType::Utf8View => Ok(values.as_string_view().gc().into_data()),
        DataType::BinaryView => Ok(values.as_binary_view().gc().into_data()),
        DataType::Dictionary(..) => {
            // A slice may use few of them.
            let used = garbage_collect_any_dictionary(values.as_any_dictionary())?.to_data();
            with_children(used, copy_of)
        }
        _ => with_children(values.into_data(), |child| without_shared(child.clone())),
    }
}

fn with_children(
    values: ArrayData,
    with: impl Fn(&ArrayData) -> Result<ArrayData, ArrowError>,
) -> Result<ArrayData, ArrowError> {
    let children = values.child_data().iter().map(with).collect::<Result<_, _>>()?;
    values.into_builder().child_data(children).build()
}

/// Whether values of the type, or some within them, refer to others that any number of arrays may have in common.
fn is_sharing(ty: &DataType) -> bool {
    use DataType as D;
    match ty {
        D::Utf8View | D::BinaryView | D::Dictionary(..) => true,
        D::List(field)
        | D::LargeList(field)
        | D::ListView(field)
        | D::LargeListView(field)
        | D::FixedSizeList(field, _)
        | D::Map(field, _)
        | D::RunEndEncoded(_, field) => is_sharing(field.data_type()),
        D::Struct(fields) => fields.iter().any(|field| is_sharing(field.data_type())),
        D::Union(fields, _) => fields.iter().any(|(_, field)| is_sharing(field.data_type())),
        _ => false,
    }
}
