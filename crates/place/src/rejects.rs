//! Files of bad rows that wait to be fixed, known by the sidecars that loads write beside them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use inrush_core::error::{Error, Result};
use inrush_core::{DialectRequest, Type};
use serde::{Deserialize, Serialize};

use crate::place::some_of;

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

/// How the records of a rejects file are written, which is how the load took its input: some bad rows alone may look otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectsDialect {
    /// What separates fields.
    pub delimiter: char,
    /// What stands around fields.
    pub quote: Option<char>,
    /// What makes the next character literal.
    pub escape: Option<char>,
    /// Whether that was guessed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escape_is_guess: bool,
    /// Whether the first record names the columns.
    pub header: bool,
}

impl RejectsDialect {
    /// The same as a user would say it.
    pub fn request(&self) -> DialectRequest {
        let byte = |c: char| u8::try_from(c).ok();
        DialectRequest {
            // Of few rows, or of one, each sign may seem to be it that a value has.
            delimiter: byte(self.delimiter),
            quote: Some(self.quote.and_then(byte)),
            escape: Some(self.escape.and_then(byte)),
            escape_is_guess: self.escape_is_guess,
            // Where there was one, it may have been taken out with rows that are good.
            header: (!self.header).then_some(false),
            ..DialectRequest::default()
        }
    }
}

/// What a sidecar says of each row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RejectsNote {
    /// The table that refused it.
    #[serde(flatten)]
    pub table: RejectsTable,
    /// How it is written; loads of earlier versions said nothing of it.
    #[serde(default)]
    pub dialect: Option<RejectsDialect>,
    /// The types that the load gave its columns, by their names in the input, where no table has them: in the first line only.
    #[serde(default)]
    pub types: BTreeMap<String, Type>,
    /// The names that its user gave the columns of an input without names, by `column_N`: in the first line only.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// Of a line whose quotes are broken: see [`line_hash`].
    #[serde(default)]
    pub line_hash: Option<String>,
    // What tells a sidecar from any other file of its name.
    #[serde(rename = "record")]
    _record: u64,
    #[serde(rename = "code")]
    _code: String,
    #[serde(rename = "message")]
    _message: String,
}

/// The sidecar of a rejects file: its name with `.jsonl` after it.
pub fn sidecar_path(rejects: &Path) -> PathBuf {
    let mut name = rejects.as_os_str().to_owned();
    name.push(SIDECAR);
    PathBuf::from(name)
}

const SIDECAR: &str = ".jsonl";

/// The most that is read of a sidecar's line: a reason has some thousand bytes, and the first line a name and a type for each column.
const SIDECAR_LINE_MAX: u64 = 16 << 20;

/// What is said of the first row of a rejects file, and holds for all of them; `None` where it has no sidecar.
pub fn first_note(rejects: &Path) -> Option<RejectsNote> {
    notes(rejects).next()
}

/// What is said of the rows of a rejects file, up to a line that says nothing of one.
pub fn notes(rejects: &Path) -> impl Iterator<Item = RejectsNote> {
    let path = sidecar_path(rejects);
    // A pipe of this name would be waited for.
    let is_file = fs::metadata(&path).is_ok_and(|meta| meta.is_file());
    let mut sidecar = is_file.then(|| File::open(path).ok()).flatten().map(BufReader::new);
    std::iter::from_fn(move || next_note(sidecar.as_mut()?))
}

/// What the next line of a sidecar says; `None` where it says nothing of a row.
fn next_note(sidecar: &mut impl BufRead) -> Option<RejectsNote> {
    let mut line = Vec::new();
    sidecar.take(SIDECAR_LINE_MAX).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

/// What a line is known by whatever stands around it: XXH3 of its bytes without the line end.
pub fn line_hash(line: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(line.trim_ascii_end()))
}

/// What a file has of the bad rows of an earlier load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The rows.
    Rows,
    /// What is said of them.
    Sidecar,
}

impl Part {
    /// What a file of this path has of them.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let of_sidecar = || {
            let rejects = path
                .extension()
                .filter(|last| *last == &SIDECAR[1..])
                .map(|_| path.with_extension(""))?;
            let is_one = rejects.is_file() && first_note(&rejects).is_some();
            is_one.then_some(Self::Sidecar)
        };
        first_note(path).map(|_| Self::Rows).or_else(of_sidecar)
    }
}

/// The name of the rejects file that a file of this name is the sidecar of, if it is one.
pub(crate) fn of_sidecar(name: &str) -> Option<&str> {
    name.strip_suffix(SIDECAR).filter(|rejects| !rejects.is_empty())
}

/// Whether what is called as a sidecar is one.
pub(crate) fn is_sidecar(text: impl Read) -> bool {
    next_note(&mut BufReader::new(text)).is_some()
}

/// Leaves out bad rows of earlier loads, and what is said of them: they are beside the files that they are from, and loaded with those they
/// would be in twice once they are fixed. Who says `pattern` for them means them, and so does who names a `source` of nothing else: their
/// rows. `part` is what one of those `found` has of them, and `name` what it is called.
pub(crate) fn leave_out<T>(
    found: Vec<T>,
    (source, pattern): (&str, &str),
    part: impl Fn(&T) -> Option<Part>,
    name: impl Fn(&T) -> String,
    notes: &mut Vec<String>,
) -> Result<Vec<T>> {
    if pattern.rsplit('/').next().is_some_and(|name| name.contains(".rejects.")) {
        return Ok(found);
    }
    let parts = found.into_iter().map(|one| (part(&one), one));
    let (left, kept): (Vec<_>, Vec<_>) = parts.partition(|(part, _)| part.is_some());
    let kept: Vec<T> = kept.into_iter().map(|(_, one)| one).collect();
    if left.is_empty() {
        return Ok(kept);
    }
    let names = some_of(&left.iter().map(|(_, one)| name(one)).collect::<Vec<_>>());
    if !kept.is_empty() {
        notes.push(format!("left out, for they are bad rows of an earlier load: {names}"));
        return Ok(kept);
    }
    let rows = left.into_iter().filter(|(part, _)| *part == Some(Part::Rows));
    let rows: Vec<T> = rows.map(|(_, one)| one).collect();
    if rows.is_empty() {
        return Err(Error::source(format!(
            "'{source}' has nothing but what is said of bad rows of earlier loads: {names}"
        ))
        .advise("name the files themselves to load them"));
    }
    Ok(rows)
}
