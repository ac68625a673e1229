//! Files of bad rows that wait to be fixed, read as their rows were written.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use inrush_core::cut::RECORD_BYTES_MAX;
pub use inrush_place::rejects::{
    RejectsDialect, RejectsNote, RejectsTable, first_note, line_hash, notes, sidecar_path,
};
use inrush_scan::{Cutter, Dialect, Newline, Scanner, Tail, count_lines};

use crate::{Input, Source};

/// How a source's bad rows are written; `None` where they are objects of JSON.
pub fn dialect_of(source: &Source) -> Option<RejectsDialect> {
    let of_sheets = || source.is_of_sheets().then(Dialect::csv);
    let Dialect { delimiter, quote, escape, escape_is_guessed, .. } =
        source.grammar.dialect().cloned().or_else(of_sheets)?;
    Some(RejectsDialect {
        delimiter: delimiter.into(),
        quote: quote.map(Into::into),
        escape: escape.map(Into::into),
        escape_is_guess: escape_is_guessed,
        header: source.inputs.iter().any(|input| !input.header.is_empty()),
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

/// How much of a rejects file is looked at at once.
const PIECE_BYTES: u64 = 1 << 20;
