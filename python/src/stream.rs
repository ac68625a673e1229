//! Record batches of whatever has Arrow's PyCapsule interface (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use inrush::Error;

use crate::errors;

type Reader = Box<dyn RecordBatchReader + Send>;

/// The batches of an object that has `__arrow_c_stream__` or `__arrow_c_array__`; `None` where it has neither.
pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Option<Reader>> {
    if given.hasattr("__arrow_c_stream__")? {
        return stream(&given.call_method0("__arrow_c_stream__")?).map(Some);
    }
    if given.hasattr("__arrow_c_array__")? {
        return array(given, &given.call_method0("__arrow_c_array__")?).map(Some);
    }
    Ok(None)
}

/// The columns of an object that has `__arrow_c_schema__`, or rows with columns of their own.
pub(crate) fn schema_of(given: &Bound<'_, PyAny>) -> PyResult<SchemaRef> {
    if given.hasattr("__arrow_c_schema__")? {
        let capsule = given.call_method0("__arrow_c_schema__")?;
        let schema = pointer::<FFI_ArrowSchema>(&capsule, c"arrow_schema")?;
        // SAFETY: the capsule's name says what it points to, and it lives as long as `capsule`.
        let schema = Schema::try_from(unsafe { &*schema }).map_err(failed)?;
        return Ok(Arc::new(schema));
    }
    match of(given)? {
        Some(reader) => Ok(reader.schema()),
        None => Err(errors::usage(
            given.py(),
            "schema: takes what has Arrow's interface: a schema of PyArrow, or a frame",
        )),
    }
}

fn stream(capsule: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: the capsule's name says what it points to, and it lives as long as `capsule`. What is moved out leaves a released
    // stream behind, as the interface wants it of a consumer.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream) }.map_err(failed)?;
    Ok(Box::new(reader))
}

fn array(given: &Bound<'_, PyAny>, pair: &Bound<'_, PyAny>) -> PyResult<Reader> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
    let schema = pointer::<FFI_ArrowSchema>(&schema, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(&array, c"arrow_array")?;
    // SAFETY: as above; the schema stays its capsule's.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) }.map_err(failed)?;
    let batch = match data.data_type() {
        arrow_schema::DataType::Struct(_) => RecordBatch::from(StructArray::from(data)),
        other => {
            let what = format!("an Arrow array of structs is a table; this one is of {other}");
            return Err(errors::usage(given.py(), what));
        }
    };
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
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
