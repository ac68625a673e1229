//! Requests as Python's keywords make them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use inrush::plan::{
    ColumnRequest, DialectRequest, Inference, ReadRequest, ReadType, RejectLimit, Trim, Type,
    TypeWord, character,
};
use inrush::{Error, LoadOptions, RejectsTo, Request};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
pub(crate) use crate::watch::Watching;

/// A request, from a dict that has what was said and nothing else: a word that is none of ours is refused.
pub(crate) struct Asked(pub(crate) Request);

impl<'a, 'py> FromPyObject<'a, 'py> for Asked {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let said = Said(given.cast::<PyDict>()?.copy()?);
        let py = given.py();
        let request = Request {
            sources: said.get("sources")?.unwrap_or_default(),
            split: said
                .get::<String>("split")?
                .map(|text| text.parse())
                .transpose()
                .map_err(|error: Error| errors::raise(py, &error, Vec::new()))?,
            target: said.get("target")?.unwrap_or_default(),
            dialect: dialect(&said)?,
            options: options(&said)?,
            ..Request::default()
        };
        match said.0.keys().iter().next() {
            None => Ok(Self(request)),
            Some(name) => Err(said.wrong(name.str()?.to_str()?, "there is no such option")),
        }
    }
}

/// What was said and was not asked for so far.
struct Said<'py>(Bound<'py, PyDict>);

impl<'py> Said<'py> {
    fn get<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        let Some(value) = self.0.get_item(name)? else { return Ok(None) };
        self.0.del_item(name)?;
        match value.extract() {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let (shown, why): (_, PyErr) = (value.repr()?, error.into());
                let why = why.value(self.0.py()).to_string();
                Err(self.wrong(name, &format!("{shown} is no value of it: {why}")))
            }
        }
    }

    /// A word, or a text that stands for something.
    fn word<T: FromStr<Err: ToString>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(word) = self.get::<String>(name)? else { return Ok(None) };
        word.parse().map(Some).map_err(|error: T::Err| self.wrong(name, &error.to_string()))
    }

    fn wrong(&self, name: &str, why: &str) -> PyErr {
        errors::raise(self.0.py(), &Error::usage(format!("{name}: {why}")), Vec::new())
    }

    /// One byte, by itself or by its name.
    fn byte(&self, name: &str) -> PyResult<Option<u8>> {
        let Some(text) = self.get::<String>(name)? else { return Ok(None) };
        let byte = character(&text);
        byte.map(Some)
            .ok_or_else(|| self.wrong(name, &format!("'{text}' is not one character of ASCII")))
    }

    /// The same, or none at all: the empty text, or the command's word.
    fn byte_or_none(&self, name: &str) -> PyResult<Option<Option<u8>>> {
        match self.0.get_item(name)?.map(|text| text.extract::<String>()) {
            Some(Ok(text)) if matches!(text.as_str(), "" | "none") => {
                self.0.del_item(name)?;
                Ok(Some(None))
            }
            _ => Ok(self.byte(name)?.map(Some)),
        }
    }

    /// Whether there is a header; `None` where that is to be found out.
    fn header(&self) -> PyResult<Option<bool>> {
        let word = self.0.get_item("header")?.map(|value| value.extract::<String>());
        let Some(Ok(word)) = word else { return self.get("header") };
        self.0.del_item("header")?;
        match word.as_str() {
            "yes" => Ok(Some(true)),
            "no" => Ok(Some(false)),
            "auto" => Ok(None),
            _ => Err(self.wrong("header", &format!("'{word}' is none of True, False, auto"))),
        }
    }
}

/// That bad rows may go somewhere, where some are allowed: those of a program have no file that theirs could stand beside.
pub(crate) fn check_rejects(py: Python<'_>, options: &LoadOptions) -> PyResult<()> {
    if options.rejects != RejectsTo::Beside || options.max_rejects == RejectLimit::Rows(0) {
        return Ok(());
    }
    let what = "max_rejects allows bad rows, and those of a program have no place of their own";
    let advice =
        "say where they go: rejects=\"bad.jsonl\", a list, or a function that is called with each";
    Err(errors::raise(py, &Error::usage(what).advise(advice), Vec::new()))
}

fn options(said: &Said<'_>) -> PyResult<LoadOptions> {
    let (types, read_types) = types(said, "types")?;
    let is_told = said.get::<bool>("rejects_told")?.unwrap_or_default();
    let rejects = match said.get::<PathBuf>("rejects")? {
        Some(path) => RejectsTo::File(path),
        None if is_told => RejectsTo::Observer,
        None => RejectsTo::Beside,
    };
    let is_text = said.get::<bool>("all_text")?.unwrap_or_default();
    let library = said.get("duckdb_lib")?.map(|path| ("duckdb".to_owned(), path));
    Ok(LoadOptions {
        table: said.get("table")?,
        if_exists: said.word("if_exists")?.unwrap_or_default(),
        match_by: said.word("match_by")?,
        on_conflict: said.word("on_conflict")?.unwrap_or_default(),
        key: said.get("key")?.unwrap_or_default(),
        primary_key: said.get("primary_key")?.unwrap_or_default(),
        indexes: said.get("indexes")?.unwrap_or_default(),
        types,
        inference: if is_text { Inference::Text } else { Inference::Infer },
        read: ReadRequest { types: read_types, ..read(said)? },
        strategy: said.get("strategy")?,
        knobs: said.get("knobs")?.unwrap_or_default(),
        lanes: said.get("lanes")?,
        encoders: said.get("encoders")?,
        chunk_bytes: said.get("chunk_bytes")?,
        durability: said.word("durability")?.unwrap_or_default(),
        guarantee: said.word("guarantee")?.unwrap_or_default(),
        commit_rows: said.get("commit_rows")?,
        resume: said.get("resume")?.unwrap_or_default(),
        max_rejects: said.word("max_rejects")?.unwrap_or_default(),
        rejects,
        verify: said.word("verify")?.unwrap_or_default(),
        owns_table: false,
        shares_table: false,
        row_ids: None,
        libraries: library.into_iter().collect(),
        profiles: said.get("profiles")?,
    })
}

/// Types of columns, and how values of columns are read.
type Types = (BTreeMap<String, Type>, BTreeMap<String, ReadType>);

fn types(said: &Said<'_>, name: &str) -> PyResult<Types> {
    let (mut types, mut read_types) = Types::default();
    for (column, word) in said.get::<BTreeMap<String, String>>(name)?.unwrap_or_default() {
        match word.parse().map_err(|error: String| said.wrong(name, &error))? {
            TypeWord::Type(ty) => drop(types.insert(column, ty)),
            TypeWord::Read(ty) => drop(read_types.insert(column, ty)),
        }
    }
    Ok((types, read_types))
}

fn read(said: &Said<'_>) -> PyResult<ReadRequest> {
    let texts = |name| said.get::<Vec<String>>(name).map(Option::unwrap_or_default);
    let trim = match said.get::<String>("trim")?.as_deref() {
        None => Trim::No,
        Some("unquoted") => Trim::Unquoted,
        Some("all") => Trim::All,
        Some(other) => return Err(said.wrong("trim", &format!("'{other}' is none of True, all"))),
    };
    Ok(ReadRequest {
        nulls: texts("nulls")?,
        decimals: texts("decimal")?,
        thousands: texts("thousands")?,
        date_formats: texts("date_format")?,
        timestamp_formats: texts("timestamp_format")?,
        truths: texts("true")?,
        falses: texts("false")?,
        time_zones: texts("time_zone")?,
        trim,
        types: BTreeMap::new(),
        columns: ColumnRequest {
            chosen: texts("columns")?,
            dropped: texts("drop")?,
            renamed: texts("rename")?,
            added: texts("add")?,
            added_types: types(said, "added_types")?.0,
            required: texts("not_null")?,
            case: said.word("case")?.unwrap_or_default(),
            new: said.word("new_columns")?.unwrap_or_default(),
            missing: said.word("missing_columns")?,
        },
    })
}

fn dialect(said: &Said<'_>) -> PyResult<DialectRequest> {
    Ok(DialectRequest {
        format: said.word("format")?,
        flatten: said.get("flatten")?.unwrap_or_default(),
        delimiter: said.byte("delimiter")?,
        quote: said.byte_or_none("quote")?,
        escape: said.byte_or_none("escape")?,
        escape_is_guess: false,
        blanks: false,
        empty: said.word("empty")?,
        header: said.header()?,
        encoding: said.get("encoding")?,
        skip_lines: said.get("skip_lines")?.unwrap_or_default(),
        comment: said.byte("comment")?,
        expand_max: said.get("max_expand")?,
    })
}
