//! `inrush report`.

use std::path::Path;

use anyhow::Result;
use inrush_bench::report::write_stored;
use inrush_bench::store::RunFolder;

/// Writes the report of a stored run again, and prints where it is; the page comes last.
pub(crate) fn report(run: &Path) -> Result<()> {
    let paths = write_stored(&RunFolder::open(run)?)?;
    let lines: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
    super::print(&lines)
}
