//! The leaves of a schema: its columns of values, in whatever they are nested.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};

/// The schema with other types for the leaves of which `ty` says one. They are counted from 0, as Parquet counts its columns.
pub(super) fn with_types(schema: &Schema, ty: &dyn Fn(usize) -> Option<DataType>) -> SchemaRef {
    let mut leaf = 0;
    let fields = schema.fields().iter().map(|field| with_type(field, &mut leaf, ty));
    let fields: Vec<FieldRef> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn with_type(
    field: &FieldRef,
    leaf: &mut usize,
    ty: &dyn Fn(usize) -> Option<DataType>,
) -> FieldRef {
    let becomes = match field.data_type() {
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| with_type(field, leaf, ty)).collect())
        }
        DataType::List(inner) => DataType::List(with_type(inner, leaf, ty)),
        DataType::LargeList(inner) => DataType::LargeList(with_type(inner, leaf, ty)),
        DataType::FixedSizeList(inner, length) => {
            DataType::FixedSizeList(with_type(inner, leaf, ty), *length)
        }
        DataType::Map(inner, sorted) => DataType::Map(with_type(inner, leaf, ty), *sorted),
        other => {
            let found = ty(*leaf);
            *leaf += 1;
            found.unwrap_or_else(|| other.clone())
        }
    };
    Arc::new(Field::clone(field).with_data_type(becomes))
}
