//! A column of integers: where its values lie in a file.

use std::ops::Range;

use inrush_scan::{Field, Form, Scanner, unescape};

use crate::json::JsonRow;
use crate::place::Format;
use crate::read;
use inrush_core::error::{Error, Result, shorten};

/// Finds the values, chunk after chunk.
pub(super) struct Integers<'c> {
    format: Format,
    column: &'c str,
    /// Where the column is in a row: of CSV once the header is read; of JSON where arrays have it, and objects have it likely.
    position: Option<usize>,
    /// Whether a row has had it.
    found: bool,
    rows: u64,
    fields: Vec<Field>,
}

impl<'c> Integers<'c> {
    pub(super) fn of(format: Format, column: &'c str) -> Self {
        let position = match format {
            Format::Jsonl => column
                .strip_prefix("column_")
                .and_then(|number| number.parse::<usize>().ok()?.checked_sub(1)),
            _ => None,
        };
        Self { format, column, position, found: false, rows: 0, fields: Vec::new() }
    }

    /// Calls `work` for each value that isn't NULL, with the place of its digits in `bytes`.
    ///
    /// # Errors
    /// Those of `work`; when there is no such column, or a value in it is no integer of 64 bits.
    pub(super) fn each(
        &mut self,
        bytes: &[u8],
        work: impl FnMut(Range<usize>, i64) -> Result<()>,
    ) -> Result<()> {
        match self.format {
            Format::Jsonl => self.each_member(bytes, work),
            _ => self.each_field(bytes, work),
        }
    }

    /// How many rows there were.
    ///
    /// # Errors
    /// When none of them had the column.
    pub(super) fn end(self) -> Result<u64> {
        let is_named = self.found || self.rows == 0 && self.format == Format::Jsonl;
        if is_named { Ok(self.rows) } else { Err(self.missing()) }
    }

    fn missing(&self) -> Error {
        Error::target(format!("there is no column {}", self.column))
    }

    fn integer(&self, text: &[u8]) -> Result<i64> {
        inrush_scan::integer(text).map_err(|_| {
            let (shown, row) = (shorten(text), self.rows);
            Error::target(format!("{shown} in row {row} of column {} is no integer", self.column))
        })
    }

    fn each_field(
        &mut self,
        bytes: &[u8],
        mut work: impl FnMut(Range<usize>, i64) -> Result<()>,
    ) -> Result<()> {
        let dialect = Format::Csv.dialect();
        let mut scanner = Scanner::new(&dialect, bytes);
        let mut name = Vec::new();
        let mut fields = std::mem::take(&mut self.fields);
        while let Some(record) = scanner.next(&mut fields) {
            let Some(position) = self.position else {
                self.position = fields.iter().position(|field| {
                    name.clear();
                    unescape(&dialect, field.raw(bytes), field.form, &mut name);
                    name == self.column.as_bytes()
                });
                self.found = self.position.is_some();
                if !self.found {
                    return Err(self.missing());
                }
                continue;
            };
            let Some(field) = fields.get(position).filter(|_| record.fault.is_none()) else {
                continue;
            };
            if record.is_blank() && position > 0 {
                continue;
            }
            self.rows += 1;
            if field.start < field.end || field.form != Form::Plain {
                let number = self.integer(field.raw(bytes))?;
                work(field.start as usize..field.end as usize, number)?;
            }
        }
        self.fields = fields;
        Ok(())
    }

    fn each_member(
        &mut self,
        bytes: &[u8],
        mut work: impl FnMut(Range<usize>, i64) -> Result<()>,
    ) -> Result<()> {
        for line in read::lines(bytes) {
            let Some(row) = JsonRow::read(line) else { continue };
            self.rows += 1;
            let position = self.position.unwrap_or(usize::MAX);
            let Some(raw) = row.value(position, self.column) else { continue };
            self.found = true;
            if raw != "null" {
                let number = self.integer(raw.as_bytes())?;
                // The value is borrowed from the chunk.
                let start = raw.as_ptr() as usize - bytes.as_ptr() as usize;
                work(start..start + raw.len(), number)?;
            }
        }
        Ok(())
    }
}
