//! inrush for Python: what the package `inrush` calls.
//!
//! ```text
//! files ---------------------------------> watch (a thread of its own; signals, progress) -> inrush::plan, run, check
//! frames -> stream (Arrow's C interface) -+
//! tuples, dicts, objects -> rows (columns) -+-> feed (batches from the caller's thread) -> inrush::BatchSource
//! Writer -> rows -> inrush::Writer
//! job: the steps of one load that many processes write, by feed or files -> inrush::job
//! ```
//!
//! Words of options are those of the command; errors are made in `inrush/_errors.py`.

mod column;
mod errors;
mod feed;
mod job;
mod options;
mod own;
mod rows;
mod stream;
mod watch;
mod writer;

use std::ffi::OsString;
use std::path::PathBuf;

use inrush::target::Lease;
use pyo3::prelude::*;

#[pymodule]
mod _inrush {
    use super::PyModule;
    #[pymodule_export]
    use super::column::constant;
    #[pymodule_export]
    use super::feed::write;
    #[pymodule_export]
    use super::job::{
        job_abort, job_begin, job_begin_files, job_gc, job_list, job_publish, job_recover,
        job_write, job_write_files, job_write_split,
    };
    #[pymodule_export]
    use super::watch::leave;
    #[pymodule_export]
    use super::writer::RowWriter;

    #[pymodule_init]
    fn init(_module: &super::Bound<'_, PyModule>) -> super::PyResult<()> {
        // Python's own SQLite, and whatever else a package brings along.
        inrush::target::expect_other_libraries();
        Ok(())
    }

    #[pymodule_export]
    use super::{check, default_profiles, forked, load, main, plan, shown, table_columns, version};
}

/// The version of inrush.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Runs the command; `words` begins with the program's name. The exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| inrush_cli::run(words))
}

/// The file of what `inrush tune` has measured, where no other is named.
#[pyfunction]
fn default_profiles() -> Option<PathBuf> {
    inrush::profile::default_path()
}

/// Called in a child after `fork`: the writers of its parent are not its own.
#[pyfunction]
fn forked() {
    writer::forked();
    watch::forked();
}

/// A target as people may see it, without what is secret; of a text that names none, nothing.
#[pyfunction]
fn shown(target: &str) -> String {
    inrush::target::find(target).map_or_else(|_| "...".to_owned(), |(_, found)| found.shown)
}

/// Loads files; the report as JSON, and the plan in words.
#[pyfunction]
fn load(
    py: Python<'_>,
    watch: options::Watching,
    request: options::Asked,
) -> PyResult<(String, String)> {
    let lease = Lease::default();
    let request = inrush::Request { spare: lease.spare(), ..request.0 };
    let report = watch
        .over(py, move |observer| inrush::run(&inrush::plan(&request, observer)?, observer))?;
    drop(lease);
    Ok((errors::json(&report)?, report.plan.explain()))
}

/// Plans a load of files; the plan as JSON, and in words.
#[pyfunction]
fn plan(
    py: Python<'_>,
    watch: options::Watching,
    request: options::Asked,
) -> PyResult<(String, String)> {
    let request = request.0;
    let plan = watch.over(py, move |observer| inrush::plan(&request, observer))?;
    Ok((errors::json(&plan)?, plan.explain()))
}

/// Checks files as JSON; `bad_rows` of the bad ones are in it.
#[pyfunction]
fn check(
    py: Python<'_>,
    watch: options::Watching,
    request: options::Asked,
    bad_rows: usize,
) -> PyResult<String> {
    let request = request.0;
    let check = watch.over(py, move |observer| inrush::check(&request, observer, bad_rows))?;
    errors::json(&check)
}

/// The names of an existing table's columns, but for those that the load adds itself; `None` where there is no table, or none with names.
#[pyfunction]
fn table_columns(
    py: Python<'_>,
    watch: options::Watching,
    request: options::Asked,
) -> PyResult<Option<Vec<String>>> {
    let request = request.0;
    watch.over(py, move |observer| {
        let (target, location) = inrush::target::find(&request.target)?;
        let table = request.table.clone().unwrap_or_default();
        let facts = target.facts(&location, &table, &request, observer.stop_flag())?;
        let named = facts.table.filter(|table| !table.takes_any && !table.is_nameless);
        let names = named.map(|table| table.columns.into_iter().map(|column| column.name));
        Ok(names.map(|names| without_added(names.collect(), &request.read.columns)))
    })
}

/// The names of a table's columns that rows have to have.
fn without_added(mut names: Vec<String>, columns: &inrush::plan::ColumnRequest) -> Vec<String> {
    for said in &columns.added {
        let added = said.split_once('=').map_or(said.as_str(), |(name, _)| name);
        let exact = names.iter().position(|name| name == added);
        let is_same = |name: &String| {
            columns.case.is_same(name, added) || name.to_lowercase() == added.to_lowercase()
        };
        if let Some(at) = exact.or_else(|| names.iter().position(is_same)) {
            names.remove(at);
        }
    }
    names
}
