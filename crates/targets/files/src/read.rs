//! Files read back: how many rows there are, and sums over their values.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use inrush_scan::{Field, Form, Scanner, unescape};

use crate::json::JsonRow;
use crate::layout::Layout;
use crate::parquet;
use crate::place::{Format, Place};
use inrush_core::cut::{ChunkReader, Next};
use inrush_core::error::{Error, Result};
use inrush_core::flow::Checksum;
use inrush_core::flow::checksum::Stored;
use inrush_core::{Column, Type};

/// Bytes read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// A mark that some programs put before UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) rows: u64,
    pub(super) sums: Option<Checksum>,
}

/// Hands out the file's chunks of whole records, the first without a byte order mark, until `work` has seen enough.
pub(super) fn chunks(
    place: &Place,
    file: impl Read,
    mut work: impl FnMut(&[u8]) -> Result<bool>,
) -> Result<()> {
    let mut reader = ChunkReader::new(file, &place.format.dialect());
    let mut bytes = Vec::new();
    let mut first = true;
    loop {
        match reader.next(&mut bytes, CHUNK_BYTES).map_err(|error| place.read_error(&error))? {
            Next::Chunk => {}
            Next::End => return Ok(()),
            Next::TooLong => {
                return Err(Error::target(format!(
                    "{} holds a record that is longer than {} MiB",
                    place.path.display(),
                    inrush_core::cut::RECORD_BYTES_MAX >> 20
                )));
            }
        }
        let records = match bytes.strip_prefix(BOM) {
            Some(rest) if std::mem::take(&mut first) => rest,
            _ => &bytes,
        };
        first = false;
        if !work(records)? {
            return Ok(());
        }
    }
}

/// Reads all of the file at `path`, which is or will be `place`; with `columns`, those of the load, sums over their values.
///
/// # Errors
/// When it can't be read, or the user wants to stop.
pub(super) fn contents(
    place: &Place,
    path: &Path,
    layout: &Layout,
    columns: Option<&[Column]>,
    stop: &AtomicBool,
) -> Result<Contents> {
    if place.format == Format::Parquet {
        return parquet::contents(place, path, layout, columns.map(<[Column]>::len), stop);
    }
    let fail = |error: io::Error| place.read_error(&error);
    let file = File::open(path).and_then(|file| place.text(file)).map_err(fail)?;
    let mut found = Contents { rows: 0, sums: columns.map(|columns| Checksum::new(columns.len())) };
    let mut csv = CsvRows { header: true, fields: Vec::new(), text: Vec::new() };
    chunks(place, file, |bytes| {
        if stop.load(Relaxed) {
            return Err(Error::interrupted());
        }
        match place.format {
            Format::Jsonl => add_lines(bytes, layout, columns, &mut found),
            _ => csv.add(bytes, layout, &mut found),
        }
        Ok(true)
    })?;
    Ok(found)
}

struct CsvRows {
    /// Whether the header is still to come.
    header: bool,
    fields: Vec<Field>,
    text: Vec<u8>,
}

impl CsvRows {
    /// Records that are no row of the table, broken or of another width, count for nothing.
    fn add(&mut self, bytes: &[u8], layout: &Layout, found: &mut Contents) {
        let dialect = Format::Csv.dialect();
        let width = layout.columns.len();
        let mut scanner = Scanner::new(&dialect, bytes);
        while let Some(record) = scanner.next(&mut self.fields) {
            if std::mem::take(&mut self.header) {
                continue;
            }
            if record.fault.is_some()
                || self.fields.len() != width
                || (record.is_blank() && width > 1)
            {
                continue;
            }
            found.rows += 1;
            let Some(sums) = &mut found.sums else { continue };
            for (column, field) in layout.columns.iter().zip(&self.fields) {
                let Some(column) = column.from else { continue };
                let raw = field.raw(bytes);
                let value = match field.form {
                    Form::Plain if raw.is_empty() => Stored::Null,
                    Form::Plain | Form::Quoted => Stored::Text(raw),
                    form @ Form::Escaped { .. } => {
                        self.text.clear();
                        unescape(&dialect, raw, form, &mut self.text);
                        Stored::Text(&self.text)
                    }
                };
                sums.add(column, value);
            }
        }
    }
}

/// The lines that aren't blank.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

fn add_lines(bytes: &[u8], layout: &Layout, columns: Option<&[Column]>, found: &mut Contents) {
    let (Some(sums), Some(columns)) = (&mut found.sums, columns) else {
        found.rows += lines(bytes).count() as u64;
        return;
    };
    for row in lines(bytes).filter_map(JsonRow::read) {
        found.rows += 1;
        for (position, column) in layout.columns.iter().enumerate() {
            let Some(index) = column.from else { continue };
            let raw = row.value(position, &column.name).unwrap_or("null");
            add_value(sums, index, columns[index].ty, raw);
        }
    }
}

/// Adds a value that is written as `raw` in a column of type `ty`.
fn add_value(sums: &mut Checksum, column: usize, ty: Type, raw: &str) {
    let bytes = raw.as_bytes();
    match (raw, ty) {
        ("null", _) => sums.add(column, Stored::Null),
        (_, Type::Json) => sums.add(column, Stored::Text(bytes)),
        ("true" | "false", _) => sums.add(column, Stored::Integer((raw == "true").into())),
        _ if bytes.starts_with(b"\"") => {
            let text: String = serde_json::from_str(raw).unwrap_or_default();
            match ty {
                Type::Bytes => {
                    let bytes = BASE64_STANDARD.decode(text).unwrap_or_default();
                    sums.add(column, Stored::Bytes(&bytes));
                }
                _ => sums.add(column, Stored::Text(text.as_bytes())),
            }
        }
        (_, Type::Integer) => match inrush_scan::integer(bytes) {
            Ok(number) => sums.add(column, Stored::Integer(number)),
            Err(_) => sums.add(column, Stored::Text(bytes)),
        },
        (_, Type::Float) => match inrush_scan::float(bytes) {
            Ok(number) => sums.add(column, Stored::Real(number)),
            Err(_) => sums.add(column, Stored::Text(bytes)),
        },
        _ => sums.add(column, Stored::Text(bytes)),
    }
}
