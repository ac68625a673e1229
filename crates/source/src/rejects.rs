//! Files of bad rows that wait to be fixed, known by the sidecars that loads write beside them.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The table that refused rows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RejectsTable {
    /// Its name, as the load had it.
    #[serde(rename = "table")]
    pub name: String,
    /// Whether `--table` said a name that may have several parts (`SCHEMA.TABLE`); else it is one, dots and all.
    #[serde(rename = "table_named", default)]
    pub is_named: bool,
}

/// The sidecar of a rejects file: its name with `.jsonl` after it.
pub fn sidecar_path(rejects: &Path) -> PathBuf {
    let mut name = rejects.as_os_str().to_owned();
    name.push(SIDECAR);
    PathBuf::from(name)
}

const SIDECAR: &str = ".jsonl";

/// The most that is read of a sidecar's first line: a name has at most some hundred bytes, and a reason some thousand.
const SIDECAR_LINE_MAX: u64 = 1 << 20;

/// The table that the rows of a rejects file are for, as its sidecar says; `None` where the file has none.
pub fn table_of_rejects(rejects: &Path) -> Option<RejectsTable> {
    /// What tells a sidecar from any other file of its name.
    #[derive(Deserialize)]
    struct Line {
        #[serde(flatten)]
        table: RejectsTable,
        #[serde(rename = "record")]
        _record: u64,
        #[serde(rename = "code")]
        _code: String,
        #[serde(rename = "message")]
        _message: String,
    }
    let path = sidecar_path(rejects);
    // A pipe of this name would be waited for.
    fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let mut line = Vec::new();
    let sidecar = File::open(path).ok()?.take(SIDECAR_LINE_MAX);
    BufReader::new(sidecar).read_until(b'\n', &mut line).ok()?;
    let line: Line = serde_json::from_slice(&line).ok()?;
    Some(line.table)
}

/// Whether a file is one of bad rows, or the sidecar of one.
pub(crate) fn is_of_rejects(path: &Path) -> bool {
    let of_sidecar = || {
        let rejects = PathBuf::from(path.to_str()?.strip_suffix(SIDECAR)?);
        rejects.is_file().then(|| table_of_rejects(&rejects)).flatten()
    };
    table_of_rejects(path).or_else(of_sidecar).is_some()
}
