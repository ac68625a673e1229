//! The steps of a job. Jobs and tokens are text, on both sides.

use std::str::FromStr;
use std::time::Duration;

use inrush::job::{self, Job, Options, Token};
use inrush::plan::ReadRequest;
use inrush::{Error, Parts, Request, Split};
use pyo3::prelude::*;

use crate::errors;
use crate::feed::{Fed, feed, schema_of};
use crate::options::{Asked, Watching};

/// The job's name, its connections, how many attempts, where the password is, the guarantee, and whether all types are to be known.
type Said = (Option<String>, u32, Option<u32>, Option<String>, String, bool);

fn options(py: Python<'_>, said: Said) -> PyResult<Options> {
    let (id, connections, attempts, password, guarantee, wants_types) = said;
    let guarantee =
        guarantee.parse().map_err(|why: String| errors::usage(py, format!("guarantee: {why}")))?;
    Ok(Options { id, connections, attempts, password, guarantee, wants_types })
}

fn parsed<T: FromStr<Err = Error>>(py: Python<'_>, text: &str) -> PyResult<T> {
    text.parse().map_err(|error: Error| errors::raise(py, &error, Vec::new()))
}

/// Begins a job for rows like these, or those of this schema, and, where there is neither, of the request's sources.
#[pyfunction]
pub(crate) fn job_begin(
    py: Python<'_>,
    watch: Watching,
    schema: Option<Fed<'_>>,
    request: Asked,
    options: Said,
) -> PyResult<String> {
    let options = self::options(py, options)?;
    let schema = schema.map(|rows| schema_of(py, rows, &watch)).transpose()?;
    let request = request.0;
    let job = watch.over(py, move |observer| match schema {
        Some(schema) => job::begin(schema, &request.target, &request.options, &options, observer),
        None => job::begin_like(&request, &options, observer),
    })?;
    Ok(job.to_string())
}

/// Begins a job for the rows of the request's sources, cut into `parts`: so many, or else of so many bytes each. The job, and the parts,
/// which are its attempts.
#[pyfunction]
pub(crate) fn job_begin_files(
    py: Python<'_>,
    watch: Watching,
    request: Asked,
    options: Said,
    parts: (Option<usize>, u64),
) -> PyResult<(String, Vec<String>)> {
    let options = self::options(py, options)?;
    let request = request.0;
    let (count, bytes) = parts;
    let parts = count.map_or(Parts::Bytes(bytes), Parts::Count);
    let (job, splits) =
        watch.over(py, move |observer| job::begin_split(&request, parts, &options, observer))?;
    Ok((job.to_string(), splits.iter().map(Split::to_string).collect()))
}

/// Writes a part of files; the token.
#[pyfunction]
pub(crate) fn job_write_split(
    py: Python<'_>,
    watch: Watching,
    job: &str,
    split: &str,
    partition: Option<u32>,
) -> PyResult<String> {
    let (job, split): (Job, Split) = (parsed(py, job)?, parsed(py, split)?);
    let token =
        watch.over(py, move |observer| job::write_split(&job, &split, partition, observer))?;
    Ok(token.to_string())
}

/// Writes rows of the program; the token.
#[pyfunction]
pub(crate) fn job_write(
    py: Python<'_>,
    watch: Watching,
    job: &str,
    rows: Fed<'_>,
    partition: Option<u32>,
) -> PyResult<String> {
    let job: Job = parsed(py, job)?;
    // What else a job says of reading is for files.
    let read = ReadRequest { types: job.read_types().clone(), ..ReadRequest::default() };
    let (token, _) = feed(py, rows, &read, &watch, move |rows, observer| {
        job::write(&job, rows, partition, observer)
    })?;
    Ok(token.to_string())
}

/// Writes rows of files; the token.
#[pyfunction]
pub(crate) fn job_write_files(
    py: Python<'_>,
    watch: Watching,
    job: &str,
    request: Asked,
    partition: Option<u32>,
) -> PyResult<String> {
    let job: Job = parsed(py, job)?;
    let Request { sources, dialect, options, .. } = request.0;
    let token = watch.over(py, move |observer| {
        let (read, types) = (&options.read, &options.types);
        job::write_sources(&job, &sources, &dialect, read, types, partition, observer)
    })?;
    Ok(token.to_string())
}

/// Publishes; what was done, as JSON.
#[pyfunction]
pub(crate) fn job_publish(
    py: Python<'_>,
    watch: Watching,
    job: &str,
    tokens: Vec<String>,
) -> PyResult<String> {
    let job: Job = parsed(py, job)?;
    let tokens = tokens.iter().map(|token| parsed(py, token)).collect::<PyResult<Vec<Token>>>()?;
    let published = watch.over(py, move |observer| job::publish(&job, &tokens, observer))?;
    Ok(published.to_string())
}

/// Ends a job; the job.
#[pyfunction]
pub(crate) fn job_abort(py: Python<'_>, watch: Watching, job: &str) -> PyResult<String> {
    let job: Job = parsed(py, job)?;
    Ok(watch.over(py, move |observer| job::abort(&job, observer))?.to_string())
}

/// The jobs of a database, as JSON.
#[pyfunction]
pub(crate) fn job_list(
    py: Python<'_>,
    watch: Watching,
    url: String,
    password: Option<String>,
) -> PyResult<String> {
    errors::json(&watch.over(py, move |observer| job::list(&url, password.as_deref(), observer))?)
}

/// Brings a job to its end; the job.
#[pyfunction]
pub(crate) fn job_recover(
    py: Python<'_>,
    watch: Watching,
    url: String,
    id: String,
    password: Option<String>,
) -> PyResult<String> {
    let recover = move |observer: &dyn inrush::Observer| {
        job::recover(&url, password.as_deref(), &id, observer)
    };
    Ok(watch.over(py, recover)?.to_string())
}

/// Drops what is left over; what that was, as JSON.
#[pyfunction]
pub(crate) fn job_gc(
    py: Python<'_>,
    watch: Watching,
    url: String,
    older_than: f64,
    password: Option<String>,
) -> PyResult<String> {
    let older_than = Duration::try_from_secs_f64(older_than)
        .map_err(|_| errors::usage(py, "older_than: takes seconds, from 0 on"))?;
    let collect = move |observer: &dyn inrush::Observer| {
        job::gc(&url, password.as_deref(), older_than, observer)
    };
    errors::json(&watch.over(py, collect)?)
}
