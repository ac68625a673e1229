//! Rows to JSON Lines: a value of its column's type for each, one row a line.

use std::io::Write as _;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::json::is_number;
use crate::knobs::ROWS;
use crate::layout::Layout;
use crate::packing::{Packer, Packing};
use crate::types::{Kept, Store};
use inrush_core::encode::{self, BadValue, EncodeRow, Encoded, Row, Shape, Typed};
use inrush_core::flow::{Cell, Chunk, Encode, Home, Span, Wire};
use inrush_core::value::json::push_string;
use inrush_core::{Job, Verify};

/// Bytes of output for a byte of input, names of up to a dozen characters for values of one.
pub(super) const GROWTH: usize = 20;

/// An encoder for one thread.
pub(super) fn encoder(
    shape: Arc<Shape>,
    job: &Job,
    layout: &Layout,
    packing: Option<Packing>,
) -> Box<dyn Encode> {
    encode::encoder(shape, JsonEncoder::new(job, layout, packing))
}

/// A column of the file.
struct JsonColumn {
    /// What stands before the value.
    before: Vec<u8>,
    /// The load's column that it takes values from, and what that takes.
    from: Option<(usize, Store)>,
}

/// Encodes a row as an object or an array.
struct JsonEncoder {
    columns: Vec<JsonColumn>,
    after: &'static [u8],
    /// Whether values are noted for the checksum.
    sums: bool,
    packer: Packer,
}

impl JsonEncoder {
    fn new(job: &Job, layout: &Layout, packing: Option<Packing>) -> Self {
        let objects = job.choice.knobs.is(&ROWS, "object");
        let column = |index: usize, name: &str| {
            let mut before = vec![match (index, objects) {
                (0, true) => b'{',
                (0, false) => b'[',
                _ => b',',
            }];
            if objects {
                push_string(name.as_bytes(), &mut before);
                before.push(b':');
            }
            before
        };
        let columns = layout
            .columns
            .iter()
            .enumerate()
            .map(|(index, found)| JsonColumn {
                before: column(index, &found.name),
                from: found.from.map(|from| (from, Store::of(&job.choice.columns[from]))),
            })
            .collect();
        Self {
            columns,
            after: if objects { b"}\n" } else { b"]\n" },
            sums: job.request.verify == Verify::Checksum,
            packer: Packer::new(packing),
        }
    }
}

impl EncodeRow for JsonEncoder {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let Wire { cells, values, bytes, .. } = wire;
        for column in &self.columns {
            bytes.extend_from_slice(&column.before);
            let Some((index, store)) = column.from else {
                bytes.extend_from_slice(b"null");
                continue;
            };
            // Sums are taken from texts.
            if !self.sums
                && let Some(typed) = row.typed(index)
                && let Some(kept) = store.keep_typed(typed)
            {
                push_typed(kept, typed, bytes);
                continue;
            }
            let Some((home, span)) = row.value(index, values) else {
                bytes.extend_from_slice(b"null");
                if self.sums {
                    cells.push(Cell::Null);
                }
                continue;
            };
            let value = row.bytes(home, span, values);
            let kept = store.keep(value).map_err(|(code, wanted)| BadValue {
                column: index,
                code,
                wanted,
            })?;
            let at = bytes.len();
            push_value(kept, value, bytes);
            if self.sums {
                let cell = match kept {
                    Kept::Integer(number) => Cell::Integer(number),
                    Kept::Float(number) => Cell::Real(number),
                    Kept::Boolean(truth) => Cell::Integer(truth.into()),
                    Kept::Text => Cell::Text(home, span),
                    Kept::Bytes => Cell::Bytes(home, span),
                    // JSON has one null.
                    Kept::Json if bytes[at..] == *b"null" => Cell::Null,
                    Kept::Json | Kept::Decimal => note(values, &bytes[at..]),
                    Kept::Moment => note(values, &bytes[at + 1..bytes.len() - 1]),
                };
                cells.push(cell);
            }
        }
        bytes.extend_from_slice(self.after);
        Ok(())
    }

    fn end(&mut self, _chunk: &Chunk, out: &mut Encoded) {
        self.packer.end(&mut out.wire);
    }
}

/// A cell of text that is written otherwise than in the source.
fn note(values: &mut Vec<u8>, text: &[u8]) -> Cell {
    let span = Span { at: values.len() as u32, len: text.len() as u32 };
    values.extend_from_slice(text);
    Cell::Text(Home::Wire, span)
}

#[inline]
fn push_value(kept: Kept, value: &[u8], out: &mut Vec<u8>) {
    match kept {
        Kept::Text => push_string(value, out),
        Kept::Integer(_) if inrush_scan::is_canonical_integer(value) => {
            out.extend_from_slice(value);
        }
        // Writing to memory doesn't fail.
        Kept::Integer(number) => drop(write!(out, "{number}")),
        // As it is written: no shorter text is more exact.
        Kept::Float(_) if is_number(value) => out.extend_from_slice(value),
        Kept::Float(number) => drop(serde_json::to_writer(out, &number)),
        Kept::Decimal => out.extend_from_slice(value),
        Kept::Boolean(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        Kept::Moment => push_moment(value, out),
        // Line ends in a document are between its parts, never within a string.
        Kept::Json => out.extend(value.trim_ascii().iter().map(|byte| match byte {
            b'\n' | b'\r' => b' ',
            byte => *byte,
        })),
        Kept::Bytes => {
            out.push(b'"');
            let at = out.len();
            out.resize(at + value.len().div_ceil(3) * 4, 0);
            // It is exactly as long.
            let written = BASE64_STANDARD.encode_slice(value, &mut out[at..]).unwrap_or_default();
            out.truncate(at + written);
            out.push(b'"');
        }
    }
}

/// The same of a value that has a type of its own, which is what it is kept as.
#[inline]
fn push_typed(kept: Kept, typed: Typed, out: &mut Vec<u8>) {
    match kept {
        Kept::Boolean(truth) => Typed::Boolean(truth).write(out),
        Kept::Moment => {
            out.push(b'"');
            let at = out.len();
            typed.write(out);
            out[at + DAY_LEN] = b'T';
            out.push(b'"');
        }
        // Dates, and digits that a double wouldn't keep.
        Kept::Text => {
            out.push(b'"');
            typed.write(out);
            out.push(b'"');
        }
        _ => typed.write(out),
    }
}

/// Bytes of `YYYY-MM-DD`.
const DAY_LEN: usize = 10;

/// A timestamp as ISO 8601 has it: a `T` before the time, no blank before the offset, and in that hours and minutes.
fn push_moment(value: &[u8], out: &mut Vec<u8>) {
    let (day, rest) = value.split_at(DAY_LEN);
    out.push(b'"');
    out.extend_from_slice(day);
    out.push(b'T');
    let time = out.len();
    out.extend(rest[1..].iter().filter(|byte| **byte != b' '));
    if let Some(sign) = memchr::memrchr2(b'+', b'-', &out[time..]) {
        let offset = time + sign + 1;
        match out.len() - offset {
            2 => out.extend_from_slice(b":00"),
            4 => out.insert(offset + 2, b':'),
            _ => {}
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::samples;
    use inrush_core::{Basis, Column, Type};

    fn written(ty: Type, pinned: bool, value: &str) -> Option<String> {
        let name = String::new();
        let store = Store::of(&Column {
            name,
            ty,
            declared: None,
            basis: if pinned { Basis::Declared } else { Basis::Inferred },
            required: false,
        });
        let kept = store.keep(value.as_bytes()).ok()?;
        let mut out = Vec::new();
        push_value(kept, value.as_bytes(), &mut out);
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_what_their_columns_say() {
        let long = Type::Decimal { precision: 20, scale: 2 };
        let short = Type::Decimal { precision: 10, scale: 2 };
        let zoned = Type::Timestamp { zone: true };
        let local = Type::Timestamp { zone: false };
        for (ty, value, wanted) in [
            (Type::Integer, "-7", "-7"),
            (Type::Integer, "9223372036854775807", "9223372036854775807"),
            (Type::Float, "1.50", "1.50"),
            (Type::Float, "1e-05", "1e-05"),
            (Type::Float, ".5", "0.5"),
            (Type::Float, "-5.", "-5.0"),
            (long, "123456789012345678.90", "\"123456789012345678.90\""),
            (short, "12.50", "12.50"),
            (Type::Boolean, "true", "true"),
            (Type::Date, "2024-02-29", "\"2024-02-29\""),
            (local, "2024-02-29 01:02", "\"2024-02-29T01:02\""),
            (zoned, "2024-02-29 01:02:03 +02:00", "\"2024-02-29T01:02:03+02:00\""),
            (zoned, "2024-02-29 01:02:03-0930", "\"2024-02-29T01:02:03-09:30\""),
            (zoned, "2024-02-29 01:02+00", "\"2024-02-29T01:02+00:00\""),
            (zoned, "2024-02-29 01:02Z", "\"2024-02-29T01:02Z\""),
            (Type::Json, " {\"a\":\n [1,\r\n2]}\n", "{\"a\":  [1,  2]}"),
            (Type::Text, "a\"b\\\u{0}\u{7f}\u{1f600}", "\"a\\\"b\\\\\\u0000\u{7f}\u{1f600}\""),
            (Type::Bytes, "ab", "\"YWI=\""),
        ] {
            assert_eq!(written(ty, false, value).as_deref(), Some(wanted), "{ty} {value}");
        }
    }

    #[test]
    fn values_become_what_their_texts_become() {
        let mut encoders: Vec<(String, JsonEncoder)> = Vec::new();
        for column in samples() {
            for sums in [false, true] {
                let columns =
                    vec![JsonColumn { before: b"[".to_vec(), from: Some((0, Store::of(&column))) }];
                let encoder =
                    JsonEncoder { columns, after: b"]\n", sums, packer: Packer::new(None) };
                encoders.push((format!("{column:?}"), encoder));
            }
        }
        inrush_proof::check(encoders);
    }

    #[test]
    fn a_guess_keeps_the_text_and_a_promise_keeps_the_value() {
        assert_eq!(written(Type::Integer, false, "007"), None);
        assert_eq!(written(Type::Integer, true, "007").as_deref(), Some("7"));
        assert_eq!(written(Type::Integer, true, "9223372036854775808"), None);
        assert_eq!(written(Type::Float, true, "+1.5").as_deref(), Some("1.5"));
        assert_eq!(written(Type::Float, true, "NaN"), None);
        assert_eq!(written(Type::Float, true, "9007199254740993"), None);
        assert_eq!(written(Type::Boolean, true, "1").as_deref(), Some("true"));
        assert_eq!(written(Type::Date, true, "2023-02-29"), None);
    }
}
