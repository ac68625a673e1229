//! The leaves of a schema: its columns of values, in whatever they are nested.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

/// The schema with what `change` makes of its leaves. They are counted from 0, as Parquet counts its columns.
pub(super) fn changed(schema: &Schema, change: &dyn Fn(usize, Field) -> Field) -> SchemaRef {
    let mut leaf = 0;
    let fields = schema.fields().iter().map(|field| changed_field(field, &mut leaf, change));
    let fields: Vec<FieldRef> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The schema with other types for the leaves of which `ty` says one.
pub(super) fn with_types(schema: &Schema, ty: &dyn Fn(usize) -> Option<DataType>) -> SchemaRef {
    changed(schema, &|leaf, field| match ty(leaf) {
        Some(ty) => field.with_data_type(ty),
        None => field,
    })
}

fn changed_field(
    field: &FieldRef,
    leaf: &mut usize,
    change: &dyn Fn(usize, Field) -> Field,
) -> FieldRef {
    let mut inner = |field: &FieldRef| changed_field(field, leaf, change);
    let becomes = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(inner(item), *length),
        DataType::Map(entry, sorted) => DataType::Map(inner(entry), *sorted),
        _ => {
            *leaf += 1;
            return Arc::new(change(*leaf - 1, Field::clone(field)));
        }
    };
    Arc::new(Field::clone(field).with_data_type(becomes))
}

/// The columns of a batch under another schema, whose leaves differ in their types, of which `values` makes values, or in what is said of
/// them; `roots` says which of the schema's columns they are.
///
/// # Errors
/// When `values` has one, or the columns are nested otherwise than the schema has it.
pub(super) fn batch(
    batch: &RecordBatch,
    schema: &Schema,
    roots: &[usize],
    values: &Values<'_>,
) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<FieldRef> =
        roots.iter().map(|root| Arc::clone(&schema.fields()[*root])).collect();
    let arrays = batch.columns().iter().zip(&fields).map(|(column, field)| {
        array(column, field.data_type(), values)
            .map_err(|error| ArrowError::ComputeError(format!("column {}: {error}", field.name())))
    });
    let arrays = arrays.collect::<Result<_, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

/// Makes values of a leaf's type.
type Values<'v> = dyn Fn(&ArrayRef, &DataType) -> Result<ArrayRef, ArrowError> + 'v;

fn array(from: &ArrayRef, to: &DataType, values: &Values<'_>) -> Result<ArrayRef, ArrowError> {
    let nulls = from.nulls().cloned();
    match to {
        to if from.data_type() == to => Ok(Arc::clone(from)),
        DataType::Struct(fields) => {
            let inner = from.as_struct().columns().iter().zip(fields);
            let inner = inner.map(|(from, field)| array(from, field.data_type(), values));
            let inner = inner.collect::<Result<_, _>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), inner, nulls)?))
        }
        DataType::List(item) => {
            let list = from.as_list::<i32>();
            let inner = array(list.values(), item.data_type(), values)?;
            let offsets = list.offsets().clone();
            Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, inner, nulls)?))
        }
        DataType::Map(entry, sorted) => {
            let map = from.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = array(&entries, entry.data_type(), values)?.as_struct().clone();
            let (entry, offsets) = (Arc::clone(entry), map.offsets().clone());
            Ok(Arc::new(MapArray::try_new(entry, offsets, entries, nulls, *sorted)?))
        }
        to => values(from, to),
    }
}
