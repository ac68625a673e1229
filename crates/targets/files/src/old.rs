//! Whether the rows that a file of text holds can be read, before others are added behind them.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use inrush_scan::{Scanner, count_lines};

use crate::json::JsonRow;
use crate::layout::Layout;
use crate::place::{Format, Place};
use crate::read;
use inrush_core::error::{Error, Result};
use inrush_core::{Column, Type};

/// Looks at all of the file at `path`, which is a copy of `place`; `columns` are those of the load.
///
/// # Errors
/// When it holds what is no row, or no UTF-8, or when the user wants to stop.
pub(super) fn check(
    place: &Place,
    path: &Path,
    layout: &Layout,
    columns: &[Column],
    stop: &AtomicBool,
) -> Result<()> {
    let file = File::open(path).and_then(|file| place.text(file));
    let file = file.map_err(|error| place.read_error(&error))?;
    let is_bytes = |from: usize| columns[from].ty == Type::Bytes;
    let bytes: Vec<bool> =
        layout.columns.iter().map(|column| column.from.is_some_and(is_bytes)).collect();
    let mut lines_before = 0;
    read::chunks(place, file, |chunk| {
        if stop.load(Relaxed) {
            return Err(Error::interrupted());
        }
        let found = match place.format {
            Format::Csv => csv_fault(chunk, &bytes),
            _ => line_fault(chunk),
        };
        if let Some((at, what)) = found {
            let line = lines_before + count_lines(&Format::Csv.dialect(), &chunk[..at]) + 1;
            let shown = place.path.display();
            return Err(Error::target(format!(
                "{shown}: line {line} {what}, and rows are added only to what can be read"
            ))
            .advise(format!("fix line {line} of {shown}"))
            .advise("--if-exists replace puts a new file in its place"));
        }
        lines_before += count_lines(&Format::Csv.dialect(), chunk);
        Ok(true)
    })
}

/// The first record whose quoting is broken or whose text is not UTF-8: where it begins, and what is wrong with it. Columns of bytes may
/// hold any.
fn csv_fault(chunk: &[u8], bytes: &[bool]) -> Option<(usize, String)> {
    let is_utf8 = std::str::from_utf8(chunk).is_ok();
    let dialect = Format::Csv.dialect();
    let mut scanner = Scanner::new(&dialect, chunk);
    let mut fields = Vec::new();
    while let Some(record) = scanner.next(&mut fields) {
        let start = record.start as usize;
        if record.fault.is_some() {
            return Some((start, "has a quote that is not closed, or text behind one".to_owned()));
        }
        if is_utf8 {
            continue;
        }
        let wrong = fields.iter().enumerate().find(|(at, field)| {
            let is_bytes = bytes.get(*at).copied().unwrap_or(false);
            !is_bytes && std::str::from_utf8(field.raw(chunk)).is_err()
        });
        if let Some((at, field)) = wrong {
            // A value may begin lines behind its record.
            let what = format!("is not UTF-8 in column {}", at + 1);
            return Some((field.start as usize, what));
        }
    }
    None
}

/// The first line that is no row of JSON, as [`csv_fault`].
fn line_fault(chunk: &[u8]) -> Option<(usize, String)> {
    let line = read::lines(chunk).find(|line| JsonRow::read(line).is_none())?;
    let at = line.as_ptr() as usize - chunk.as_ptr() as usize;
    Some((at, "does not hold a row of JSON".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_row_is_found_where_it_is() {
        assert_eq!(csv_fault(b"id,n\n1,\"a\nb\"\n\n", &[]), None);
        for (chunk, at) in [
            (&b"id,n\n1,\"a\n"[..], 5),
            (b"id,n\n1,\"a\"b\n", 5),
            (b"id,n\n1,\"\nx\xe9\"\n", 8),
            (b"id,n\xe9\n1,2\n", 3),
        ] {
            assert_eq!(csv_fault(chunk, &[]).map(|(at, _)| at), Some(at), "{chunk:?}");
        }
        assert_eq!(csv_fault(b"id,n\n1,\xe9\n", &[false, true]), None);
        assert_eq!(line_fault(b"{\"a\":1}\n\n[2]\n"), None);
        assert_eq!(line_fault(b"{\"a\":1}\n{\"a\":\"\xe9\"}\n").map(|(at, _)| at), Some(8));
        assert_eq!(line_fault(b"{\"a\":1}\n{\"a\":").map(|(at, _)| at), Some(8));
    }
}
