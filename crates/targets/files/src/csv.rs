//! Rows to CSV: RFC 4180 with line feeds, quotes around what needs them.
//!
//! What comes out is what inrush reads back as the same values: NULL is nothing, the empty string is `""`. Whoever reads has to find out
//! what separates and quotes fields, so whatever else may do so is in quotes, too.

use std::sync::Arc;

use inrush_scan::{Form, Newline};

use crate::layout::Layout;
use crate::packing::{Packer, Packing};
use crate::read::BOM;
use crate::types::Store;
use inrush_core::encode::{self, BadValue, EncodeRow, Encoded, Grammar, Row, Shape, Typed};
use inrush_core::flow::{Cell, Chunk, Encode, Wire};
use inrush_core::{Job, RejectLimit, Verify};

/// Bytes of output for a byte of input at worst: between tabs, a comma becomes `","` and takes a comma.
pub(super) const GROWTH: usize = 3;

/// An encoder for one thread.
pub(super) fn encoder(
    shape: Arc<Shape>,
    job: &Job,
    layout: &Layout,
    packing: Option<Packing>,
) -> Box<dyn Encode> {
    let row = CsvEncoder::new(&shape, job, layout, packing);
    encode::encoder(shape, row)
}

/// The header.
pub(super) fn header(layout: &Layout) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, column) in layout.columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let name = &column.name;
        // Without quotes the blanks at an end are not the name's, nor is what begins as a file may.
        match name.trim() == name && !name.as_bytes().starts_with(BOM) {
            true => push_value(name.as_bytes(), &mut out),
            false => push_quoted(name.as_bytes(), &mut out),
        }
    }
    out.push(b'\n');
    out
}

/// Values up to this length are looked at faster byte by byte.
const SHORT: usize = 32;

/// The bytes that a value without quotes can't have.
static SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    special[b',' as usize] = true;
    special[b'"' as usize] = true;
    special[b'\n' as usize] = true;
    special[b'\r' as usize] = true;
    // What separates fields in other files: where all rows have as many, it would be taken for that.
    special[b';' as usize] = true;
    special[b'|' as usize] = true;
    special[b'\t' as usize] = true;
    special
};

#[inline(always)]
fn needs_quotes(value: &[u8]) -> bool {
    // Where all rows have one, an apostrophe is taken for a quote.
    let starts_as_quoted = value.first() == Some(&b'\'');
    if value.len() <= SHORT {
        // All bytes without a branch: nearly every value has none of them.
        let first = value.is_empty() | starts_as_quoted;
        return value.iter().fold(first, |any, byte| any | SPECIAL[usize::from(*byte)]);
    }
    starts_as_quoted
        || memchr::memchr3(b',', b'"', b'\n', value).is_some()
        || memchr::memchr3(b'\r', b';', b'|', value).is_some()
        || memchr::memchr(b'\t', value).is_some()
}

/// Appends a value that isn't NULL.
#[inline]
pub(super) fn push_value(value: &[u8], out: &mut Vec<u8>) {
    if !needs_quotes(value) {
        out.extend_from_slice(value);
        return;
    }
    push_quoted(value, out);
}

fn push_quoted(value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = value;
    while let Some(at) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(&rest[..=at]);
        out.push(b'"');
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Encodes a row as a record. In a file of one column a row of NULL is a blank line, which is how it is read.
struct CsvEncoder {
    /// For each column of the file, the load's column that it takes values from.
    order: Vec<Option<usize>>,
    /// For each of the load's columns, what it takes: only a type that was promised (`--type`) is checked, because a guess decides
    /// nothing here, unless values that are not of it make bad rows.
    checks: Vec<Option<Store>>,
    /// Whether a record of plain fields can be copied as it is written.
    copies: bool,
    /// Whether values are noted for the checksum.
    sums: bool,
    packer: Packer,
}

impl CsvEncoder {
    fn new(shape: &Shape, job: &Job, layout: &Layout, packing: Option<Packing>) -> Self {
        let columns = &job.choice.columns;
        // A guess that a value disproves has all of them looked at, which takes what can be read again.
        let may_reject =
            job.request.max_rejects != RejectLimit::Rows(0) && job.facts.source.seekable;
        let checks: Vec<Option<Store>> = columns
            .iter()
            .map(|column| {
                let store = Store::of_text(column);
                ((column.is_pinned() || may_reject) && !store.takes_all()).then_some(store)
            })
            .collect();
        let sums = job.request.verify == Verify::Checksum;
        Self {
            order: layout.columns.iter().map(|column| column.from).collect(),
            copies: matches!(&shape.grammar, Grammar::Delimited(dialect)
                    if dialect.delimiter == b',' && dialect.newline == Newline::Lf)
                && layout.is_plain()
                && checks.iter().all(Option::is_none)
                && !sums,
            checks,
            sums,
            packer: Packer::new(packing),
        }
    }
}

/// The bytes of a record that is written as we would write it: nothing in it is quoted, nor has to be.
#[inline(always)]
fn plain_record(row: &impl Row) -> Option<&[u8]> {
    let fields = row.fields();
    let (first, last) = (fields.first()?, fields.last()?);
    let mut next = first.start;
    for field in fields {
        if field.form != Form::Plain || field.start != next {
            return None;
        }
        next = field.end + 1;
    }
    let record = &row.text()[first.start as usize..last.end as usize];
    let is_plain = memchr::memchr3(b'"', b'\r', b'\'', record).is_none()
        && memchr::memchr3(b';', b'|', b'\t', record).is_none();
    is_plain.then_some(record)
}

impl EncodeRow for CsvEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        if self.copies
            && let Some(record) = plain_record(row)
        {
            wire.bytes.extend_from_slice(record);
            wire.bytes.push(b'\n');
            return Ok(());
        }
        let Wire { cells, values, bytes, .. } = wire;
        for (index, column) in self.order.iter().enumerate() {
            if index > 0 {
                bytes.push(b',');
            }
            let Some(column) = *column else { continue };
            // Sums are taken from texts.
            if !self.sums
                && let Some(typed) = row.typed(column)
                && !matches!(typed, Typed::Bytes(..))
                && self.checks[column].is_none_or(|store| store.keep_typed(typed).is_some())
            {
                // Its text needs no quotes: it has neither commas nor line ends.
                typed.write(bytes);
                continue;
            }
            let place = row.value(column, values);
            if let Some((home, span)) = place {
                let value = row.bytes(home, span, values);
                if let Some(store) = self.checks[column] {
                    store.keep(value).map_err(|(code, wanted)| BadValue {
                        column,
                        code,
                        wanted,
                    })?;
                }
                push_value(value, bytes);
            }
            if self.sums {
                cells.push(place.map_or(Cell::Null, |(home, span)| Cell::Text(home, span)));
            }
        }
        bytes.push(b'\n');
        Ok(())
    }

    fn end(&mut self, _chunk: &Chunk, out: &mut Encoded) {
        self.packer.end(&mut out.wire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::samples;

    #[test]
    fn values_become_what_their_texts_become() {
        let mut encoders: Vec<(String, CsvEncoder)> = Vec::new();
        for column in samples() {
            for sums in [false, true] {
                let checks = vec![column.is_pinned().then(|| Store::of(&column))];
                let encoder = CsvEncoder {
                    order: vec![Some(0)],
                    checks,
                    copies: false,
                    sums,
                    packer: Packer::new(None),
                };
                encoders.push((format!("{column:?}"), encoder));
            }
        }
        inrush_proof::check(encoders);
    }

    #[test]
    fn only_what_needs_quotes_has_them() {
        let written = |value: &str| {
            let mut out = Vec::new();
            push_value(value.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        for plain in ["a", " a ", "a:b", "O'Brien", "\\", "\u{1f600}", "-", "NULL"] {
            assert_eq!(written(plain), plain);
        }
        for other in ["a;b", "a\tb", "a|b", "'", "'a'"] {
            assert_eq!(written(other), format!("\"{other}\""));
            let long = format!("{other}{}", "x".repeat(SHORT));
            assert_eq!(written(&long), format!("\"{long}\""));
        }
        assert_eq!(written(""), "\"\"");
        assert_eq!(written("a,b"), "\"a,b\"");
        assert_eq!(written("\""), "\"\"\"\"");
        assert_eq!(written("say \"hi\"\n"), "\"say \"\"hi\"\"\n\"");
        assert_eq!(written("\r"), "\"\r\"");
    }
}
