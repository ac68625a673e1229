//! Failures as exceptions, and answers as JSON.

use inrush::{Aftermath, Error, Kind, Reject};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde_json::{Value, json};

/// The exception of a failure; `rows` are the bad rows that ended a load, as [`Watching::given`](crate::watch::Watching::given) makes them.
pub(crate) fn raise(py: Python<'_>, error: &Error, rows: Vec<Py<PyAny>>) -> PyErr {
    made(py, error, rows).unwrap_or_else(|failure| failure)
}

fn made(py: Python<'_>, error: &Error, rows: Vec<Py<PyAny>>) -> PyResult<PyErr> {
    let about = PyDict::new(py);
    about.set_item("kind", error.kind().word())?;
    about.set_item("advice", error.advice().to_vec())?;
    about.set_item("aftermath", error.aftermath().map_or("nothing-changed", Aftermath::word))?;
    let committed = match error.aftermath() {
        Some(
            Aftermath::Committed { rows }
            | Aftermath::Resumable { rows, .. }
            | Aftermath::Written { rows },
        ) => Some(rows),
        _ => None,
    };
    about.set_item("rows_committed", committed)?;
    let place = error.place();
    about.set_item("file", place.map(|place| place.file.as_str()))?;
    about.set_item("line", place.and_then(|place| place.line))?;
    about.set_item("record", place.and_then(|place| place.record))?;
    about.set_item("column", place.and_then(|place| place.column.as_deref()))?;
    if error.kind() == Kind::Rejects {
        about.set_item("rows", rows)?;
    }
    let exception = py.import("inrush._errors")?.call_method1("make", (error.what(), about))?;
    Ok(PyErr::from_value(exception))
}

/// An exception of ours that knows of no row that stays says that those of earlier steps do.
pub(crate) fn behind_steps(py: Python<'_>, raised: PyErr, rows: u64) -> PyErr {
    let settled = || -> PyResult<()> {
        py.import("inrush._errors")?.call_method1("behind_steps", (raised.value(py), rows))?;
        Ok(())
    };
    if rows == 0 { raised } else { settled().err().unwrap_or(raised) }
}

/// A bad row as JSON: the words of the sidecar, and the row.
pub(crate) fn shown(row: &Reject) -> Value {
    json!({
        "position": row.record,
        "column": row.column,
        "code": row.code.to_string(),
        "message": row.message,
        "raw": String::from_utf8_lossy(&row.raw),
    })
}

/// A failure of usage.
pub(crate) fn usage(py: Python<'_>, what: impl Into<String>) -> PyErr {
    raise(py, &Error::usage(what), Vec::new())
}

/// An answer as JSON.
pub(crate) fn json(answer: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(answer)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}
