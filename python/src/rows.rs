//! Tuples, dicts and objects as record batches.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

use crate::column::{Column, Full};
use crate::errors;

/// A batch has at most so many rows, and bytes about: what encoders like, and soon enough full to keep them busy.
const ROWS_MAX: usize = 16 << 10;
const BYTES_MAX: usize = 1 << 20;

/// Types are told from so many rows, where nothing else says them.
const SAMPLE_ROWS: usize = 10_000;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Values by position.
    Sequence,
    /// Values by name.
    Mapping,
    /// Values as attributes.
    Object,
}

/// Rows on their way into batches.
pub(crate) struct Rows {
    pub(crate) form: Form,
    /// What mappings and objects are asked for.
    keys: Vec<Py<PyString>>,
    columns: Vec<Column>,
    /// Whether names that no column has become columns: while types are told from the first rows.
    pub(crate) is_open: bool,
    nan_is_null: bool,
    rows: usize,
    bytes: usize,
    /// Rows so far, for messages.
    pub(crate) position: u64,
    batches: VecDeque<RecordBatch>,
    /// Those of `batches`.
    waiting: usize,
}

impl Rows {
    /// For rows like this one. `names` are the columns, where they are known.
    pub(crate) fn like(
        row: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        nan_is_null: bool,
    ) -> PyResult<Self> {
        let py = row.py();
        let (form, own) = names_of(row)?;
        let names = match (names, own) {
            (Some(names), _) => names,
            (None, Some(own)) => own,
            (None, None) => {
                return Err(errors::usage(
                    py,
                    "tuples have no names: say columns=[...], one name for each of their values",
                ));
            }
        };
        if names.is_empty() {
            return Err(errors::usage(py, "the rows have no columns"));
        }
        let keys = names.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let columns = names.into_iter().map(|name| Column::new(name, nan_is_null)).collect();
        Ok(Self {
            form,
            keys,
            columns,
            is_open: false,
            nan_is_null,
            rows: 0,
            bytes: 0,
            position: 0,
            batches: VecDeque::new(),
            waiting: 0,
        })
    }

    /// The columns, after what they have had so far.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(Column::field).collect::<Vec<_>>()))
    }

    /// Whether enough was seen to say what the columns are.
    pub(crate) fn is_sampled(&self) -> bool {
        self.rows + self.waiting >= SAMPLE_ROWS
    }

    /// Whether [`Rows::take`] has one.
    #[inline]
    pub(crate) fn has_batch(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Rows that are in no batch that was taken.
    pub(crate) fn pending(&self) -> usize {
        self.rows + self.waiting
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When it has other columns, or a value that no database has a type for; then nothing of it is added.
    pub(crate) fn push(&mut self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        loop {
            match self.push_values(row) {
                Ok(()) => break,
                Err(full) => {
                    let rows = self.rows;
                    let failed_at = self.columns.iter().position(|column| column.rows() == rows);
                    self.columns.iter_mut().for_each(|column| column.truncate(rows));
                    match full {
                        Full::OtherKind => self.close(),
                        Full::Failed(error) => return Err(error),
                        Full::Value(error) => return Err(self.unfit(row.py(), failed_at, &error)),
                    }
                }
            }
        }
        self.rows += 1;
        self.position += 1;
        if self.rows >= ROWS_MAX || self.bytes >= BYTES_MAX {
            self.close();
        }
        Ok(())
    }

    fn push_values(&mut self, row: &Bound<'_, PyAny>) -> Result<(), Full> {
        let py = row.py();
        match self.form {
            Form::Sequence => {
                if let Ok(row) = row.cast::<PyTuple>() {
                    if row.len() != self.columns.len() {
                        return Err(self.wrong_count(py, row.len()).into());
                    }
                    for (at, column) in self.columns.iter_mut().enumerate() {
                        self.bytes += column.push(&*row.get_borrowed_item(at)?)?;
                    }
                    return Ok(());
                }
                let Some(row) = list_of(row)? else {
                    return Err(self.wrong_form(row).into());
                };
                if row.len() != self.columns.len() {
                    return Err(self.wrong_count(py, row.len()).into());
                }
                for (at, column) in self.columns.iter_mut().enumerate() {
                    self.bytes += column.push(&row.get_item(at)?)?;
                }
            }
            Form::Mapping => {
                let Some(row) = dict_of(row)? else {
                    return Err(self.wrong_form(row).into());
                };
                let mut found = 0;
                for (key, column) in self.keys.iter().zip(&mut self.columns) {
                    match row.get_item(key.bind(py))? {
                        Some(value) => {
                            found += 1;
                            self.bytes += column.push(&value)?;
                        }
                        None => column.push_null(),
                    }
                }
                if found < row.len() {
                    return self.take_unknown(&row);
                }
            }
            Form::Object => {
                for (key, column) in self.keys.iter().zip(&mut self.columns) {
                    let value = row.getattr(key.bind(py)).map_err(Full::of_attribute)?;
                    self.bytes += column.push(&value)?;
                }
            }
        }
        Ok(())
    }

    /// A mapping has a key that no column has.
    fn take_unknown(&mut self, row: &Bound<'_, PyDict>) -> Result<(), Full> {
        let py = row.py();
        for key in row.keys() {
            let name: String = key.extract()?;
            if self.columns.iter().any(|column| column.name == name) {
                continue;
            }
            if !self.is_open {
                let position = self.position + 1;
                return Err(errors::usage(
                    py,
                    format!("row {position} has a key '{name}', and there is no such column"),
                )
                .into());
            }
            // The batches before have no such column.
            self.close_first(name);
            return Err(Full::OtherKind);
        }
        Ok(())
    }

    /// Adds a column, which is NULL in all rows so far.
    fn close_first(&mut self, name: String) {
        let rows = self.rows;
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.close();
        Python::attach(|py| self.keys.push(PyString::intern(py, &name).unbind()));
        self.columns.push(Column::new(name, self.nan_is_null));
    }

    fn wrong_count(&self, py: Python<'_>, count: usize) -> PyErr {
        let (position, columns) = (self.position + 1, self.columns.len());
        errors::usage(
            py,
            format!("row {position} has {count} values, and there are {columns} columns"),
        )
    }

    /// A value that can't be taken, and where it stands.
    fn unfit(&self, py: Python<'_>, column: Option<usize>, why: &PyErr) -> PyErr {
        let position = self.position + 1;
        let column =
            column.map_or_else(String::new, |at| format!(", column {}", self.columns[at].name));
        let error = errors::usage(py, format!("row {position}{column}: {}", why.value(py)));
        error.set_cause(py, Some(why.clone_ref(py)));
        error
    }

    fn wrong_form(&self, row: &Bound<'_, PyAny>) -> PyErr {
        let position = self.position + 1;
        let name = row.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        let before = match self.form {
            Form::Sequence => "tuples or lists",
            Form::Mapping => "dicts",
            Form::Object => "objects with fields",
        };
        errors::usage(
            row.py(),
            format!("row {position} is a {name}, and those before are {before}"),
        )
    }

    /// Makes a batch of the rows so far.
    pub(crate) fn close(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows == 0 {
            // A column that has begun for the row which did not fit would not fit the next time either.
            self.columns.iter_mut().for_each(Column::clear);
            return;
        }
        let arrays: Vec<_> = self.columns.iter_mut().map(Column::take).collect();
        let fields = self
            .columns
            .iter()
            .zip(&arrays)
            .map(|(column, array)| column.field().with_data_type(array.data_type().clone()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema, arrays)
            .expect("columns of one length, of their own types");
        self.waiting += rows;
        self.batches.push_back(batch);
    }

    /// The next whole batch. It has all columns that there are by now.
    pub(crate) fn take(&mut self) -> Option<RecordBatch> {
        let batch = self.batches.pop_front()?;
        self.waiting -= batch.num_rows();
        if batch.num_columns() == self.columns.len() {
            return Some(batch);
        }
        let mut arrays = batch.columns().to_vec();
        let mut fields = batch.schema().fields().to_vec();
        for column in &self.columns[arrays.len()..] {
            let array =
                arrow_array::new_null_array(&arrow_schema::DataType::Null, batch.num_rows());
            fields.push(Arc::new(column.field().with_data_type(array.data_type().clone())));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        Some(RecordBatch::try_new(schema, arrays).expect("columns of one length"))
    }
}

/// Whether a row's values have no names.
pub(crate) fn is_nameless(row: &Bound<'_, PyAny>) -> bool {
    row.is_exact_instance_of::<PyTuple>() || row.is_exact_instance_of::<PyList>()
}

/// A row with names as a dict: other mappings, and what drivers have that is asked by name.
fn dict_of<'py>(row: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(row) = row.cast::<PyDict>() {
        return Ok(Some(row.clone()));
    }
    // A class among the rows has both, too, but not as an instance has them.
    let is_mapping = !row.is_instance_of::<PyTuple>()
        && !row.is_instance_of::<PyList>()
        && !row.is_instance_of::<PyType>()
        && row.hasattr("keys")?
        && row.hasattr("__getitem__")?;
    match is_mapping {
        true => Ok(Some(row.py().get_type::<PyDict>().call1((row,))?.cast_into::<PyDict>()?)),
        false => Ok(None),
    }
}

/// A row without names as a list: also the rows of SQLAlchemy, which look like named tuples and are none.
fn list_of<'py>(row: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyList>>> {
    if let Ok(row) = row.cast::<PyList>() {
        return Ok(Some(row.clone()));
    }
    match !row.is_instance_of::<PyType>() && row.hasattr("_fields")? && row.hasattr("__len__")? {
        true => Ok(Some(row.py().get_type::<PyList>().call1((row,))?.cast_into::<PyList>()?)),
        false => Ok(None),
    }
}

/// How a row is written, and its columns' names, where it has any.
fn names_of(row: &Bound<'_, PyAny>) -> PyResult<(Form, Option<Vec<String>>)> {
    let py = row.py();
    if let Some(row) = dict_of(row)? {
        let names = row.keys().iter().map(|key| key.extract()).collect::<PyResult<_>>();
        let names =
            names.map_err(|_| errors::usage(py, "the keys of rows are names of columns"))?;
        return Ok((Form::Mapping, Some(names)));
    }
    if row.is_instance_of::<PyTuple>() || list_of(row)?.is_some() {
        let fields = row.getattr_opt("_fields")?.map(|fields| fields.extract()).transpose()?;
        return Ok((Form::Sequence, fields));
    }
    for fields in ["__dataclass_fields__", "model_fields"] {
        if let Some(fields) = row.get_type().getattr_opt(fields)? {
            let names = fields.try_iter()?.map(|name| name?.extract()).collect::<PyResult<_>>()?;
            return Ok((Form::Object, Some(names)));
        }
    }
    if let Some(fields) = row.get_type().getattr_opt("__attrs_attrs__")? {
        let name = |field: PyResult<Bound<'_, PyAny>>| field?.getattr("name")?.extract();
        return Ok((Form::Object, Some(fields.try_iter()?.map(name).collect::<PyResult<_>>()?)));
    }
    if let Some(fields) = row.get_type().getattr_opt("__slots__")?
        && let Ok(fields) = fields.extract::<Vec<String>>()
        && !fields.is_empty()
    {
        return Ok((Form::Object, Some(fields)));
    }
    if let Some(fields) = row.getattr_opt("__dict__")?
        && let Ok(fields) = fields.cast::<PyDict>()
        && !fields.is_empty()
    {
        let names: Vec<String> = fields.keys().extract()?;
        return Ok((Form::Object, Some(names)));
    }
    let name = row.get_type().name()?;
    Err(errors::usage(
        py,
        format!("a row is a tuple, a dict or an object with fields, and not a {name}"),
    ))
}
