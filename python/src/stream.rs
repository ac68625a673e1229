//! Record batches of whatever has Arrow's PyCapsule interface (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions,
    RecordBatchReader, StructArray, cast::AsArray, make_array, new_null_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use inrush::Error;

use crate::errors;

type Reader = Box<dyn RecordBatchReader + Send>;

/// The batches of an object that has `__arrow_c_stream__` or `__arrow_c_array__`; `None` where it has neither.
pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Option<Reader>> {
    let reader = if given.hasattr("__arrow_c_stream__")? {
        stream(&given.call_method0("__arrow_c_stream__")?)?
    } else if given.hasattr("__arrow_c_array__")? {
        array(given, &given.call_method0("__arrow_c_array__")?)?
    } else {
        return Ok(None);
    };
    if reader.schema().fields().is_empty() {
        let name = given.get_type().name()?;
        let error =
            Error::source(format!("the {name} has no columns, so there is nothing to load"));
        return Err(errors::raise(given.py(), &error, Vec::new()));
    }
    Ok(Some(reader))
}

/// The same rows with columns of NULL in place of these, which have no other value.
pub(crate) fn with_nulls(reader: Reader, names: &[String]) -> Reader {
    if names.is_empty() {
        return reader;
    }
    let own = reader.schema();
    let field = |field: &FieldRef| match names.contains(field.name()) {
        true => Arc::new(field.as_ref().clone().with_data_type(DataType::Null)),
        false => Arc::clone(field),
    };
    let fields: Vec<_> = own.fields().iter().map(field).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, own.metadata().clone()));
    let batches = {
        let schema = Arc::clone(&schema);
        reader.map(move |batch| {
            let batch = batch?;
            let values = |(column, field): (&ArrayRef, &FieldRef)| match field.data_type() {
                DataType::Null => new_null_array(&DataType::Null, column.len()),
                _ => Arc::clone(column),
            };
            let columns = batch.columns().iter().zip(schema.fields()).map(values).collect();
            RecordBatch::try_new(Arc::clone(&schema), columns)
        })
    };
    Box::new(RecordBatchIterator::new(batches, schema))
}

/// The columns of an object that has `__arrow_c_schema__`, or rows with columns of their own; `None` where it has neither.
pub(crate) fn schema_of(given: &Bound<'_, PyAny>) -> PyResult<Option<SchemaRef>> {
    if given.hasattr("__arrow_c_schema__")? {
        let capsule = given.call_method0("__arrow_c_schema__")?;
        let schema = pointer::<FFI_ArrowSchema>(&capsule, c"arrow_schema")?;
        // SAFETY: the capsule's name says what it points to, and it lives as long as `capsule`.
        let schema = Schema::try_from(unsafe { &*schema }).map_err(failed)?;
        return Ok(Some(Arc::new(schema)));
    }
    Ok(of(given)?.map(|reader| reader.schema()))
}

fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let py = capsule.py();
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: the capsule's name says what it points to, and it lives as long as `capsule`. What is moved out leaves a released
    // stream behind, as the interface wants it of a consumer.
    let reader = unsafe { ArrayStreamReader::from_raw(stream) }.map_err(failed)?;
    let schema = columns_of(py, reader.field().data_type())?;
    let batches = {
        let schema = Arc::clone(&schema);
        reader.map(move |array| batch_of(array?.as_struct(), &schema))
    };
    Ok(Box::new(RecordBatchIterator::new(batches, schema)))
}

fn array(given: &Bound<'_, PyAny>, pair: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
    let schema = pointer::<FFI_ArrowSchema>(&schema, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(&array, c"arrow_array")?;
    // SAFETY: as above; the schema stays its capsule's.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) }.map_err(failed)?;
    let schema = columns_of(given.py(), data.data_type())?;
    let batch = batch_of(&StructArray::from(data), &schema).map_err(failed)?;
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

/// A table is a struct: its fields are the columns.
fn columns_of(py: Python<'_>, ty: &DataType) -> PyResult<SchemaRef> {
    match ty {
        DataType::Struct(fields) => Ok(Arc::new(Schema::new(fields.clone()))),
        other => {
            let what = format!("Arrow data of structs is a table; this is of {other}");
            Err(errors::usage(py, what))
        }
    }
}

/// A struct's fields as columns; where the struct itself is NULL, each of them is.
///
/// # Errors
/// When what another program has made is no Arrow data: what reads it from here on takes its texts for UTF-8, and its offsets for ones
/// within its buffers.
fn batch_of(rows: &StructArray, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    for (column, field) in rows.columns().iter().zip(schema.fields()) {
        column.to_data().validate_full().map_err(|error| {
            ArrowError::InvalidArgumentError(format!("column {}: {error}", field.name()))
        })?;
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    if rows.null_count() == 0 {
        let columns = rows.columns().to_vec();
        return RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options);
    }
    let columns = rows.columns().iter().map(|column| null_where(column, rows.nulls()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    // A field that is never NULL by itself is NULL with its struct.
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    RecordBatch::try_new_with_options(schema, columns, &options)
}

/// The same values, and NULL where `nulls` says so.
fn null_where(column: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    use DataType as D;
    match column.data_type() {
        D::Null => Ok(Arc::clone(column)),
        // These have no place for it.
        ty @ (D::Union(..) | D::RunEndEncoded(..)) => Err(ArrowError::InvalidArgumentError(
            format!("a row is NULL as a whole, which a column of {ty} can't be"),
        )),
        _ => {
            let nulls = NullBuffer::union(nulls, column.nulls());
            Ok(make_array(column.to_data().into_builder().nulls(nulls).build()?))
        }
    }
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<*mut T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.as_ptr().cast())
}

/// What a producer says of its own failure.
pub(crate) fn failed(error: ArrowError) -> PyErr {
    let what = match error {
        ArrowError::CDataInterface(what) => what,
        other => other.to_string(),
    };
    Python::attach(|py| errors::raise(py, &Error::source(what), Vec::new()))
}
