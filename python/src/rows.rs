//! Tuples, dicts and objects as record batches.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use inrush::Error;
use inrush::plan::{Inference, Plan, Type};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple, PyType,
};

use crate::column::{Classes, Column, Full, Taking};
use crate::errors;

/// A batch has at most so many rows, and bytes about: what encoders like, and soon enough full to keep them busy.
const ROWS_MAX: usize = 16 << 10;
const BYTES_MAX: usize = 1 << 20;

/// Types are told from so many rows, where nothing else says them, and no more can be looked at.
const SAMPLE_ROWS: usize = 10_000;

/// The same where rows are large: about so many bytes of them.
const SAMPLE_BYTES: usize = 64 << 20;

/// What to do about a key that a row lacks.
const STRICT: &str = "leave missing_columns=\"fail\" out, and it is NULL there";

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Values by position.
    Sequence,
    /// Values by name.
    Mapping,
    /// Values as attributes, which the class declares.
    Object,
    /// The same of objects whose fields are their own: another one may have others.
    Loose,
}

/// Rows on their way into batches.
pub(crate) struct Rows {
    pub(crate) form: Form,
    /// What mappings and objects are asked for.
    keys: Vec<Py<PyString>>,
    /// Of objects the class of the last one.
    class: Option<Py<PyType>>,
    /// Whether those of that class may have fields beside those of the class and their own, as pydantic's models have.
    has_extra: bool,
    /// Of named tuples the fields.
    fields: Option<Py<PyAny>>,
    /// Of named tuples with the columns' names in another order: where each column's value is.
    order: Option<Vec<usize>>,
    /// Whether a frame has said what the columns are, and not who writes these rows.
    pub(crate) is_behind_frame: bool,
    columns: Vec<Column>,
    /// Whether the columns' names are those of the first row, and not what was asked for.
    is_own: bool,
    /// The names as Python looks them up.
    known: Py<PyDict>,
    /// Whether names that no column has become columns: while types are told from the first rows.
    pub(crate) is_open: bool,
    taking: Taking,
    /// Whether there was a name that no column has, after that.
    has_unknown: bool,
    rows: usize,
    bytes: usize,
    /// Those of all batches so far.
    closed_bytes: usize,
    /// Rows so far, for messages.
    pub(crate) position: u64,
    /// Those of them that came as frames.
    framed: u64,
    /// Rows that were looked at behind these.
    looked: u64,
    batches: VecDeque<RecordBatch>,
    /// Those of `batches`.
    waiting: usize,
}

impl Rows {
    /// For rows like this one, which comes behind so many of frames. `names` are the columns, where they are known.
    pub(crate) fn like(
        row: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        taking: &Taking,
        framed: u64,
    ) -> PyResult<Self> {
        let py = row.py();
        let (form, own) = names_of(row, framed + 1)?;
        let is_own = names.is_none();
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
        let keys = names.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        let known = PyDict::new(py);
        names.iter().try_for_each(|name| known.set_item(name, py.None()))?;
        let columns = names.into_iter().map(|name| Column::new(name, taking, 0)).collect();
        let mut rows = Self {
            form,
            keys,
            class: None,
            has_extra: false,
            fields: None,
            order: None,
            is_behind_frame: false,
            columns,
            is_own,
            known: known.unbind(),
            is_open: false,
            has_unknown: false,
            taking: taking.clone(),
            rows: 0,
            bytes: 0,
            closed_bytes: 0,
            position: 0,
            framed: 0,
            looked: 0,
            batches: VecDeque::new(),
            waiting: 0,
        };
        rows.pass(framed);
        Ok(rows)
    }

    /// That there are columns, as there have to be once none is added any more.
    ///
    /// # Errors
    /// When no row so far has a value.
    pub(crate) fn check_columns(&self, py: Python<'_>) -> PyResult<()> {
        if self.columns.is_empty() {
            let rows = self.pending().max(1);
            let which =
                if rows == 1 { "row 1 is".to_owned() } else { format!("rows 1 to {rows} are") };
            let what = format!("{which} empty, so say what the columns are: columns=[...]");
            return Err(errors::usage(py, what));
        }
        Ok(())
    }

    /// The columns, after what they have had so far, and what keeps some of them from being more than texts.
    pub(crate) fn schema(&self) -> SchemaRef {
        let field = |column: &Column| match column.spoiler() {
            Some(spoiler) => spoiler.marked(column.field()),
            None => column.field(),
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    /// The same, with the type of NULL for columns that have had no value.
    pub(crate) fn schema_so_far(&self) -> SchemaRef {
        let schema = self.schema();
        let field = |(field, column): (&FieldRef, &Column)| match column.has_values() {
            true => Arc::clone(field),
            false => Arc::new(field.as_ref().clone().with_data_type(DataType::Null)),
        };
        let fields: Vec<_> = schema.fields().iter().zip(&self.columns).map(field).collect();
        Arc::new(Schema::new(fields))
    }

    /// So many rows come as frames before the next one.
    pub(crate) fn pass(&mut self, rows: u64) {
        self.position += rows;
        self.framed += rows;
        self.columns.iter_mut().for_each(|column| column.pass(rows));
    }

    /// Whether enough was seen to say what the columns are.
    pub(crate) fn is_sampled(&self) -> bool {
        self.rows + self.waiting >= SAMPLE_ROWS || self.closed_bytes >= SAMPLE_BYTES
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
                    if !matches!(full, Full::OtherKind) {
                        self.columns.iter_mut().for_each(Column::refuse);
                    }
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
                let is_named = !is_nameless(row) && self.check_fields(row)?;
                let order = self.order.as_deref().filter(|_| is_named);
                if let Ok(row) = row.cast::<PyTuple>() {
                    if row.len() != self.columns.len() {
                        return Err(self.wrong_count(py, row.len()).into());
                    }
                    for (at, column) in self.columns.iter_mut().enumerate() {
                        let at = order.map_or(at, |order| order[at]);
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
                    let at = order.map_or(at, |order| order[at]);
                    self.bytes += column.push(&row.get_item(at)?)?;
                }
            }
            Form::Mapping => {
                let given = row;
                let Some(row) = dict_of(given)? else {
                    return Err(self.wrong_form(given).into());
                };
                if !row.is(given) {
                    self.check_names(given, &row)?;
                }
                let mut found = 0;
                for (key, column) in self.keys.iter().zip(&mut self.columns) {
                    match row.get_item(key.bind(py))? {
                        Some(value) => {
                            found += 1;
                            self.bytes += column.push(&value)?;
                        }
                        None if self.taking.is_strict => {
                            let key = key.bind(py);
                            let what = format!("row {} lacks the key '{key}'", self.position + 1);
                            let error = Error::usage(what).advise(STRICT);
                            return Err(errors::raise(py, &error, Vec::new()).into());
                        }
                        None => column.push_null(),
                    }
                }
                if found < row.len() {
                    return self.take_unknown(&row);
                }
            }
            Form::Object | Form::Loose => {
                self.check_class(row)?;
                // What was asked for has to be there, and what wasn't is left alone.
                let is_open = self.is_own && self.form == Form::Loose;
                for (key, column) in self.keys.iter().zip(&mut self.columns) {
                    match row.getattr(key.bind(py)).map_err(Full::of_attribute) {
                        Ok(value) => self.bytes += column.push(&value)?,
                        Err(Full::Value(_))
                            if is_open && !self.taking.is_strict && !is_computed(row, key)? =>
                        {
                            column.push_null();
                        }
                        Err(error) => return Err(error),
                    }
                }
                if is_open && let Some(fields) = fields_of(row, self.has_extra)? {
                    let known = self.known.bind(py);
                    for (key, _) in &fields {
                        if !known.contains(key)? {
                            return self.take_unknown(&fields);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A mapping has a key that no column has.
    fn take_unknown(&mut self, row: &Bound<'_, PyDict>) -> Result<(), Full> {
        let py = row.py();
        for key in row.keys() {
            let Ok(name) = key.extract::<String>() else {
                return Err(self.nameless_key(&key).into());
            };
            if self.columns.iter().any(|column| column.name == name) {
                continue;
            }
            if !self.is_open {
                self.has_unknown = true;
                return Err(self.unknown_name(py, &name).into());
            }
            // The batches before have no such column.
            self.add_column(py, name)?;
            return Err(Full::OtherKind);
        }
        Ok(())
    }

    /// A name that no column has.
    fn unknown_name(&self, py: Python<'_>, name: &str) -> PyErr {
        let position = self.position + 1;
        let what = if self.form == Form::Mapping { "key" } else { "field" };
        let whose = match (self.is_own, self.is_behind_frame) {
            (_, true) => "of the frame before",
            (true, false) => "of the rows before",
            (false, false) => "that columns= names",
        };
        let names: Vec<&str> = self.names().collect();
        let columns = list(&names);
        let error = Error::usage(format!(
            "row {position} has a {what} '{name}', and the columns are those {whose}: {columns}"
        ));
        errors::raise(py, &error.advise(naming(&names, name)), Vec::new())
    }

    /// A key that is no name.
    fn nameless_key(&self, key: &Bound<'_, PyAny>) -> PyErr {
        let position = self.position + 1;
        let error = match key.is_none() {
            // Such rows are those of csv.DictReader.
            true => Error::usage(format!("row {position} has more values than there are columns, under the key None"))
                .advise("load the file itself: inrush.load makes bad rows of such lines, which max_rejects allows"),
            false => Error::usage(format!("row {position}: the keys of rows are names of columns")),
        };
        errors::raise(key.py(), &error, Vec::new())
    }

    /// Adds a column, which is NULL in all rows so far.
    fn add_column(&mut self, py: Python<'_>, name: String) -> PyResult<()> {
        let rows = self.rows;
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.close();
        self.keys.push(PyString::intern(py, &name).unbind());
        self.known.bind(py).set_item(&name, py.None())?;
        self.columns.push(Column::new(name, &self.taking, self.position));
        Ok(())
    }

    /// Looks at a row that will be pushed later: at what its values are, and at names that no column has. What is wrong with it is
    /// told then.
    pub(crate) fn look_at(&mut self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = row.py();
        self.looked += 1;
        let position = self.position + self.looked;
        let named = match self.form {
            Form::Sequence => {
                let is_named = !is_nameless(row) && self.check_fields(row).unwrap_or(false);
                let order = self.order.as_deref().filter(|_| is_named);
                let places = |at| order.map_or(at, |order| order[at]);
                if let Ok(row) = row.cast::<PyTuple>() {
                    for (at, column) in self.columns.iter_mut().enumerate() {
                        let Ok(value) = row.get_borrowed_item(places(at)) else { continue };
                        column.look_at(&value, position);
                    }
                } else if let Some(row) = list_of(row)? {
                    for (at, column) in self.columns.iter_mut().enumerate() {
                        let Ok(value) = row.get_item(places(at)) else { continue };
                        column.look_at(&value, position);
                    }
                }
                return Ok(());
            }
            Form::Mapping => dict_of(row)?,
            Form::Loose => fields_of(row, self.has_extra(row)?)?,
            Form::Object => None,
        };
        let Some(row) = named else { return Ok(()) };
        let mut found = 0;
        for (key, column) in self.keys.iter().zip(&mut self.columns) {
            if let Some(value) = row.get_item(key.bind(py))? {
                found += 1;
                column.look_at(&value, position);
            }
        }
        if found < row.len() && self.is_open {
            for (key, value) in &row {
                if !self.known.bind(py).contains(&key)?
                    && let Ok(name) = key.extract()
                {
                    self.add_column(py, name)?;
                    if let Some(column) = self.columns.last_mut() {
                        column.look_at(&value, position);
                    }
                }
            }
        }
        Ok(())
    }

    /// The columns are what they are by now.
    pub(crate) fn settle(&mut self) {
        self.is_open = false;
        self.columns.iter_mut().for_each(Column::settle);
    }

    /// Whether what came since would have made other columns, where their types are not said in another way.
    pub(crate) fn are_misleading(&self, is_open: impl Fn(&str) -> bool) -> bool {
        let is_other = |column: &Column| column.was_misleading() && is_open(&column.name);
        self.has_unknown || self.columns.iter().any(is_other)
    }

    /// What a report is to warn of: values that have become text.
    /// `planned` are the table's columns before it was made.
    pub(crate) fn warnings(&self, plan: &Plan, planned: &[inrush::plan::Column]) -> Vec<String> {
        let warnings = text_columns(plan, planned).flat_map(|(name, is_guess)| {
            let own = self.columns.iter().find(|own| own.name == name);
            let of_column = format!("{name}=NaN");
            let has_null =
                plan.request.read.nulls.iter().any(|null| *null == "NaN" || *null == of_column);
            own.map(|own| own.said_of_text(is_guess, has_null)).unwrap_or_default()
        });
        warnings.collect()
    }

    /// The columns' names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Adds the columns of these names that it lacks.
    pub(crate) fn add_columns<'n>(
        &mut self,
        py: Python<'_>,
        names: impl Iterator<Item = &'n str>,
    ) -> PyResult<()> {
        for name in names {
            if !self.known.bind(py).contains(name)? {
                self.add_column(py, name.to_owned())?;
            }
        }
        Ok(())
    }

    /// Whether a row has names of fields. Named tuples have the fields of the first one, in its order: they go by name where these are
    /// the columns, and by position where who writes them has given their values other names.
    fn check_fields(&mut self, row: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = row.py();
        let Some(fields) = row.getattr_opt(intern!(py, "_fields"))? else { return Ok(false) };
        match self.fields.as_ref().map(|known| known.bind(py)) {
            None => {
                let names: Vec<String> = fields.extract().unwrap_or_default();
                let own: Vec<&str> = self.names().collect();
                let order = order_of(&own, &names);
                let (position, columns) = (self.position + 1, own.join(", "));
                let what = format!("row {position} has the fields {fields}, and ");
                if order.is_none() && self.is_behind_frame {
                    let what = format!("{what}the frame before has the columns {columns}");
                    return Err(errors::usage(py, what));
                }
                // Rows without names have gone by position before.
                if self.position > self.framed
                    && order.as_ref().is_none_or(|order| !order.is_sorted())
                {
                    let what = format!("{what}those before are values of the columns {columns}");
                    return Err(errors::usage(py, what));
                }
                self.order = order.filter(|order| !order.is_sorted());
                self.fields = Some(fields.unbind());
            }
            Some(known) if known.is(&fields) || known.eq(&fields)? => {}
            Some(known) => {
                let position = self.position + 1;
                let what =
                    format!("row {position} has the fields {fields}, and those before {known}");
                return Err(errors::usage(py, what));
            }
        }
        Ok(true)
    }

    /// As a dict a row has one value of each name: of what else has names, such as the rows of a query, there may be more.
    fn check_names(&self, row: &Bound<'_, PyAny>, values: &Bound<'_, PyDict>) -> PyResult<()> {
        if row.len().is_ok_and(|count| count > values.len()) {
            let position = self.position + 1;
            let keys = row.call_method0("keys")?.try_iter()?.collect::<PyResult<Vec<_>>>()?;
            let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
            let twin = (1..names.len()).find(|at| names[..*at].contains(&names[*at]));
            let name = twin.map_or("the same", |at| &names[at]);
            let what = format!(
                "row {position} has several values called {name}: give each a name of its own"
            );
            return Err(errors::usage(row.py(), what));
        }
        Ok(())
    }

    /// Any value has some attributes: an object has fields.
    fn check_class(&mut self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let class = row.get_type();
        if self.class.as_ref().is_some_and(|known| class.is(known)) {
            return Ok(());
        }
        let Some((Form::Object | Form::Loose, Some(names))) = form_of(row)? else {
            return Err(self.wrong_form(row));
        };
        // The fields of the first row are the columns, and what is an object's own is looked at with each.
        let has_extra = self.has_extra(row)?;
        if self.is_own {
            let own = fields_of(row, has_extra)?.filter(|_| self.form == Form::Loose);
            let known = self.known.bind(row.py());
            for name in &names {
                let is_own = own.as_ref().map_or(Ok(false), |own| own.contains(name))?;
                if !is_own && !known.contains(name)? {
                    return Err(self.unknown_name(row.py(), name));
                }
            }
        }
        self.class = Some(class.unbind());
        self.has_extra = has_extra;
        Ok(())
    }

    /// What `has_extra` is of the row's class.
    fn has_extra(&self, row: &Bound<'_, PyAny>) -> PyResult<bool> {
        let class = row.get_type();
        match self.class.as_ref().is_some_and(|known| class.is(known)) {
            true => Ok(self.has_extra),
            false => class.hasattr(intern!(row.py(), "__pydantic_extra__")),
        }
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
        let mut error = Error::usage(format!("row {position}{column}: {}", why.value(py)));
        if self.is_own && matches!(self.form, Form::Object | Form::Loose) {
            error = error.advise("columns=[...] names the fields to take");
        }
        let error = errors::raise(py, &error, Vec::new());
        error.set_cause(py, Some(why.clone_ref(py)));
        error
    }

    fn wrong_form(&self, row: &Bound<'_, PyAny>) -> PyErr {
        let position = self.position + 1;
        let name = row.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        let before = match self.form {
            Form::Sequence => "tuples or lists",
            Form::Mapping => "dicts",
            Form::Object | Form::Loose => "objects with fields",
        };
        let what = format!("row {position} is a {name}, and those before are {before}");
        let error = Error::usage(what);
        let error = match how_to_make_a_row_of(row) {
            Some(advice) if self.form == Form::Sequence => error.advise(advice),
            _ => error,
        };
        errors::raise(row.py(), &error, Vec::new())
    }

    /// Makes a batch of the rows so far.
    pub(crate) fn close(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.closed_bytes += std::mem::take(&mut self.bytes);
        if rows == 0 {
            // A column that has begun for the row which did not fit would not fit the next time either.
            self.columns.iter_mut().for_each(Column::clear);
            return;
        }
        let (fields, arrays): (Vec<_>, Vec<_>) = self.columns.iter_mut().map(Column::take).unzip();
        let schema = Arc::new(Schema::new(fields));
        // There may be no columns yet.
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options)
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
            let array = arrow_array::new_null_array(&DataType::Null, batch.num_rows());
            fields.push(Arc::new(column.field().with_data_type(array.data_type().clone())));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        Some(RecordBatch::try_new(schema, arrays).expect("columns of one length"))
    }
}

/// Names in a row, as far as a message has room for them.
pub(crate) fn list(names: &[&str]) -> String {
    const SHOWN_MAX: usize = 20;
    let more = if names.len() > SHOWN_MAX { ", ..." } else { "" };
    format!("{}{more}", names[..names.len().min(SHOWN_MAX)].join(", "))
}

/// How to say that there are these columns and one more.
pub(crate) fn naming(names: &[&str], more: &str) -> String {
    const NAMED_MAX: usize = 10;
    let named: Vec<String> = names.iter().chain([&more]).map(|name| format!("{name:?}")).collect();
    let named = if named.len() > NAMED_MAX { "...".to_owned() } else { named.join(", ") };
    format!("columns=[{named}] names more")
}

/// Whether the object's class has something of this name that computes it: a field that is missing is none of these.
fn is_computed(row: &Bound<'_, PyAny>, name: &Py<PyString>) -> PyResult<bool> {
    let py = row.py();
    let Some(own) = row.get_type().getattr_opt(name.bind(py))? else { return Ok(false) };
    // What a class has of `__slots__` is empty until it is set.
    Ok(&*own.get_type().name()?.to_string_lossy() != "member_descriptor")
}

/// The fields that an object has of its own.
fn fields_of<'py>(
    row: &Bound<'py, PyAny>,
    has_extra: bool,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let dict = |name: &Bound<'py, PyString>| -> PyResult<Option<Bound<'py, PyDict>>> {
        Ok(row.getattr_opt(name)?.and_then(|fields| fields.cast_into::<PyDict>().ok()))
    };
    let fields = dict(intern!(row.py(), "__dict__"))?;
    let extra = if has_extra { dict(intern!(row.py(), "__pydantic_extra__"))? } else { None };
    match (fields, extra) {
        (Some(fields), Some(extra)) if !extra.is_empty() => {
            let all = fields.copy()?;
            all.update(extra.as_mapping())?;
            Ok(Some(all))
        }
        (fields, _) => Ok(fields),
    }
}

/// Where among `names` each of the columns is; `None` where they are not the same names, each of them once.
fn order_of(columns: &[&str], names: &[String]) -> Option<Vec<usize>> {
    let place = |column: &&str| names.iter().position(|name| name == column);
    let order: Vec<usize> = columns.iter().map(place).collect::<Option<_>>()?;
    let mut seen = vec![false; names.len()];
    order.iter().for_each(|at| seen[*at] = true);
    (order.len() == names.len() && seen.into_iter().all(|is_seen| is_seen)).then_some(order)
}

/// The columns of text, by the names of what was given, where the target has other types than text; and whether each is one by what
/// the load has seen of its values alone. `planned` are the table's columns before it was made.
pub(crate) fn text_columns<'p>(
    plan: &'p Plan,
    planned: &'p [inrush::plan::Column],
) -> impl Iterator<Item = (&'p str, bool)> {
    // Where all columns are of text, such as in a file of it, none has become another.
    let spelled = |column: &inrush::plan::Column, ty| {
        plan.target.spell(&inrush::plan::Column { ty, declared: None, ..column.clone() }, plan)
    };
    let places = plan.choice.columns.iter().zip(&plan.choice.fields);
    let texts = places.filter(move |(column, _)| {
        column.ty == Type::Text && spelled(column, Type::Text) != spelled(column, Type::Integer)
    });
    texts.map(|(column, field)| {
        let is_open = |planned: &inrush::plan::Column| {
            planned.name == column.name && planned.declared.is_none() && !planned.is_asked()
        };
        let is_guess = plan.request.inference == Inference::Infer && planned.iter().any(is_open);
        (plan.facts.source.fields[*field].source_name(), is_guess)
    })
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
/// `position` is the row's number, for messages.
fn names_of(row: &Bound<'_, PyAny>, position: u64) -> PyResult<(Form, Option<Vec<String>>)> {
    let py = row.py();
    let name = row.get_type().name()?;
    if Classes::get(py)?.is_frame.bind(py).call1((row,))?.extract()? {
        let error = Error::usage(format!("a {name} is no row, it has rows")).advise(
            "write one after the other: with inrush.Writer(...) as rows: rows.write(frame)",
        );
        return Err(errors::raise(py, &error, Vec::new()));
    }
    form_of(row)?.ok_or_else(|| {
        let what = format!(
            "row {position} is a {name}, and a row is a tuple, a list, a dict or an object with fields"
        );
        let error = Error::usage(what);
        let error = match how_to_make_a_row_of(row) {
            Some(advice) => error.advise(advice),
            None => error,
        };
        errors::raise(py, &error, Vec::new())
    })
}

/// What to do with values that are in no tuple or list, where this is some; a text is one value.
fn how_to_make_a_row_of(row: &Bound<'_, PyAny>) -> Option<&'static str> {
    if row.is_instance_of::<PySet>() || row.is_instance_of::<PyFrozenSet>() {
        return Some("a set has no order: make a tuple of its values in the order of the columns");
    }
    let is_text = row.is_instance_of::<PyString>()
        || row.is_instance_of::<PyBytes>()
        || row.is_instance_of::<PyByteArray>();
    (!is_text && row.try_iter().is_ok()).then_some("make a list of its values: list(row)")
}

/// The same; `None` of what is no row.
fn form_of(row: &Bound<'_, PyAny>) -> PyResult<Option<(Form, Option<Vec<String>>)>> {
    let py = row.py();
    if let Some(row) = dict_of(row)? {
        let names = row.keys().iter().map(|key| key.extract()).collect::<PyResult<_>>();
        let names =
            names.map_err(|_| errors::usage(py, "the keys of rows are names of columns"))?;
        return Ok(Some((Form::Mapping, Some(names))));
    }
    if row.is_instance_of::<PyTuple>() || list_of(row)?.is_some() {
        let fields = row.getattr_opt("_fields")?.map(|fields| fields.extract()).transpose()?;
        return Ok(Some((Form::Sequence, fields)));
    }
    let fields = Classes::get(py)?.fields_of.bind(py).call1((row,))?;
    let fields: Option<(Vec<String>, bool)> = fields.extract()?;
    Ok(fields
        .map(|(names, is_loose)| (if is_loose { Form::Loose } else { Form::Object }, Some(names))))
}
