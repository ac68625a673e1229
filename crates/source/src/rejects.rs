//! Files of bad rows that wait to be fixed, known by the sidecars that loads write beside them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use inrush_core::DialectRequest;
use inrush_core::cut::RECORD_BYTES_MAX;
use inrush_scan::{Cutter, Dialect, Newline, Scanner, Tail, count_lines};
use serde::{Deserialize, Serialize};

use crate::{Input, Source};

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
    /// That of a source's bad rows; `None` where they are objects of JSON.
    pub fn of(source: &Source) -> Option<Self> {
        let of_sheets = || source.is_of_sheets().then(Dialect::csv);
        let Dialect { delimiter, quote, escape, escape_is_guessed, .. } =
            source.grammar.dialect().cloned().or_else(of_sheets)?;
        Some(Self {
            delimiter: delimiter.into(),
            quote: quote.map(Into::into),
            escape: escape.map(Into::into),
            escape_is_guess: escape_is_guessed,
            header: source.inputs.iter().any(|input| !input.header.is_empty()),
        })
    }

    /// The same as a user would say it.
    pub fn request(&self) -> DialectRequest {
        let byte = |c: char| u8::try_from(c).ok();
        DialectRequest {
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
    /// Of a line whose quotes are broken: see [`line_hash`].
    #[serde(default)]
    line_hash: Option<String>,
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

/// The most that is read of a sidecar's line: a name has at most some hundred bytes, and a reason some thousand.
const SIDECAR_LINE_MAX: u64 = 1 << 20;

/// What is said of the first row of a rejects file, and holds for all of them; `None` where it has no sidecar.
pub fn first_note(rejects: &Path) -> Option<RejectsNote> {
    notes(rejects).next()
}

/// What is said of the rows of a rejects file, up to a line that says nothing of one.
fn notes(rejects: &Path) -> impl Iterator<Item = RejectsNote> {
    let path = sidecar_path(rejects);
    // A pipe of this name would be waited for.
    let is_file = fs::metadata(&path).is_ok_and(|meta| meta.is_file());
    let mut sidecar = is_file.then(|| File::open(path).ok()).flatten().map(BufReader::new);
    std::iter::from_fn(move || {
        let mut line = Vec::new();
        sidecar.as_mut()?.by_ref().take(SIDECAR_LINE_MAX).read_until(b'\n', &mut line).ok()?;
        serde_json::from_slice(&line).ok()
    })
}

/// The line of a rejects file at which a record begins that takes in the ones below it, as one does whose quote is never closed where
/// another such one follows: when they were refused, each was a line. `input` is the file, as it is read.
///
/// # Errors
/// When the file can't be read.
pub fn merged_at(rejects: &Path, input: &Input, dialect: &Dialect) -> io::Result<Option<u64>> {
    let broken: HashSet<String> = notes(rejects).filter_map(|note| note.line_hash).collect();
    if broken.is_empty() {
        return Ok(None);
    }
    let mut file = File::open(rejects)?;
    file.seek(SeekFrom::Start(input.body_at))?;
    let newline = match dialect.newline {
        Newline::Lf => b'\n',
        Newline::Cr => b'\r',
    };
    let (cutter, mut fields) = (Cutter::new(dialect), Vec::new());
    let (mut text, mut lines_before) = (Vec::new(), input.lines_before);
    while text.len() < RECORD_BYTES_MAX {
        let got = file.by_ref().take(PIECE_BYTES).read_to_end(&mut text)? as u64;
        let tail = if got < PIECE_BYTES { Tail::End } else { Tail::More };
        let end = match tail {
            Tail::End => text.len(),
            _ => cutter.cut(&text, text.len(), tail).unwrap_or(0),
        };
        let mut scanner = Scanner::new(dialect, &text[..end]);
        while let Some(record) = scanner.next(&mut fields) {
            let (start, end) = (record.start as usize, record.end as usize);
            let lines = count_lines(dialect, &text[start..end]) + 1;
            let is_broken = || {
                let first = text[start..end].split(|byte| *byte == newline).next();
                first.is_some_and(|line| broken.contains(&line_hash(line)))
            };
            if lines > 1 && is_broken() {
                return Ok(Some(lines_before + count_lines(dialect, &text[..start]) + 1));
            }
        }
        if tail == Tail::End {
            break;
        }
        lines_before += count_lines(dialect, &text[..end]);
        text.drain(..end);
    }
    Ok(None)
}

/// What a line is known by whatever stands around it: XXH3 of its bytes without the line end.
pub fn line_hash(line: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(line.trim_ascii_end()))
}

/// How much of a rejects file is looked at at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Whether a file is one of bad rows, or the sidecar of one.
pub(crate) fn is_of_rejects(path: &Path) -> bool {
    let of_sidecar = || {
        let rejects = PathBuf::from(path.to_str()?.strip_suffix(SIDECAR)?);
        rejects.is_file().then(|| first_note(&rejects)).flatten()
    };
    first_note(path).or_else(of_sidecar).is_some()
}
