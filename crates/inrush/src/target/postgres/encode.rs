//! Rows as the server reads them: in binary, as lines of COPY, as tuples of a statement.

use std::io::Write as _;
use std::sync::Arc;

use crate::pipe::encode::{self, BadValue, EncodeRow, Row, Shape};
use crate::pipe::{Cell, Encode, Home, Span, Wire};
use crate::plan::{Column, Plan, Type, Verify};
use crate::target::hex;
use crate::target::postgres::ddl;
use crate::target::postgres::types::{Misfit, Store};

/// A way to write rows down.
pub(super) trait Notation: Default + Send + 'static {
    /// Between two values.
    const BETWEEN: &'static [u8] = b"";
    /// After a row's last.
    const CLOSE: &'static [u8] = b"";

    /// Before a row's first value.
    fn open(&mut self, _columns: usize, _out: &mut Vec<u8>) {}

    fn null(&mut self, out: &mut Vec<u8>);

    /// What a misfit leaves in `out` is taken back by the caller.
    fn value<'s>(
        &mut self,
        column: &'s ColumnStore,
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'s>>;
}

/// Rows of COPY in binary: how many fields, and each behind its length. Parameters of a prepared statement look the same
/// (<https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT>).
#[derive(Default)]
pub(super) struct Binary;

impl Notation for Binary {
    #[inline]
    fn open(&mut self, columns: usize, out: &mut Vec<u8>) {
        // At most 1600.
        out.extend_from_slice(&(columns as u16).to_be_bytes());
    }

    #[inline]
    fn null(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
    }

    #[inline]
    fn value<'s>(
        &mut self,
        column: &'s ColumnStore,
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'s>> {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        column.store.encode(value, out)?;
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

/// Lines of COPY: a tab between fields, a backslash before what would be taken for something else
/// (<https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS>).
#[derive(Default)]
pub(super) struct Lines {
    text: TextForm,
}

impl Notation for Lines {
    const BETWEEN: &'static [u8] = b"\t";
    const CLOSE: &'static [u8] = b"\n";

    #[inline]
    fn null(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\\N");
    }

    #[inline]
    fn value<'s>(
        &mut self,
        column: &'s ColumnStore,
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'s>> {
        let text = self.text.of(column, value)?;
        let mut done = 0;
        let mut put = |at: usize, out: &mut Vec<u8>| {
            out.extend_from_slice(&text[done..at]);
            match text[at] {
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                byte => out.extend_from_slice(&[b'\\', byte]),
            }
            done = at + 1;
        };
        // A carriage return among them is rare enough for a second look.
        match memchr::memchr(b'\r', text) {
            None => memchr::memchr3_iter(b'\t', b'\n', b'\\', text).for_each(|at| put(at, out)),
            Some(_) => {
                let special = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b'\\');
                (0..text.len()).filter(|at| special(&text[*at])).for_each(|at| put(at, out));
            }
        }
        out.extend_from_slice(&text[done..]);
        Ok(())
    }
}

/// Tuples for INSERT: `('a','1',NULL),`. Every value is a string literal, which the server takes for what its column is.
#[derive(Default)]
pub(super) struct Tuples {
    text: TextForm,
}

impl Notation for Tuples {
    const BETWEEN: &'static [u8] = b",";
    const CLOSE: &'static [u8] = b"),";

    #[inline]
    fn open(&mut self, _columns: usize, out: &mut Vec<u8>) {
        out.push(b'(');
    }

    #[inline]
    fn null(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"NULL");
    }

    #[inline]
    fn value<'s>(
        &mut self,
        column: &'s ColumnStore,
        value: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Misfit<'s>> {
        let text = self.text.of(column, value)?;
        // With an E the server reads backslashes in the same way whatever its settings.
        let escapes = memchr::memchr(b'\\', text).is_some();
        out.extend_from_slice(if escapes { b" E'" } else { b"'" });
        let mut done = 0;
        for at in memchr::memchr2_iter(b'\'', b'\\', text) {
            out.extend_from_slice(&text[done..=at]);
            out.push(text[at]);
            done = at + 1;
        }
        out.extend_from_slice(&text[done..]);
        out.push(b'\'');
        Ok(())
    }
}

/// Values as text that the server's own input functions read.
#[derive(Default)]
struct TextForm {
    binary: Vec<u8>,
    written: Vec<u8>,
}

impl TextForm {
    /// The value's text: its own, where the server reads that as the value which it is here.
    fn of<'v, 's>(
        &'v mut self,
        column: &'s ColumnStore,
        value: &'v [u8],
    ) -> Result<&'v [u8], Misfit<'s>> {
        let Self { binary, written } = self;
        binary.clear();
        column.store.encode(value, binary)?;
        written.clear();
        match (&column.form, binary.as_slice()) {
            (Form::Own, _) => return Ok(value),
            // The server wants digits where 1.0 is an integer here. Writing to memory doesn't fail.
            (Form::Integer, [a, b]) => {
                let _ = write!(written, "{}", i16::from_be_bytes([*a, *b]));
            }
            (Form::Integer, [a, b, c, d]) => {
                let _ = write!(written, "{}", i32::from_be_bytes([*a, *b, *c, *d]));
            }
            (Form::Integer, [a, b, c, d, e, f, g, h]) => {
                let number = i64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
                let _ = write!(written, "{number}");
            }
            (Form::Integer, _) => return Ok(value),
            (Form::Bytes, bytes) => {
                written.extend_from_slice(b"\\x");
                hex::put(bytes, written);
            }
        }
        Ok(written)
    }
}

/// What the server reads as a column's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The source's text.
    Own,
    /// An integer's digits.
    Integer,
    /// The bytes, in hex.
    Bytes,
}

/// How every loaded column stores its values.
#[derive(Clone)]
pub(super) struct Stores(Arc<[ColumnStore]>);

pub(super) struct ColumnStore {
    store: Store,
    form: Form,
    required: bool,
}

impl Stores {
    /// Those of the plan's columns, on a server whose sessions are in UTC or not.
    pub(super) fn of(columns: &[Column], utc: bool) -> Self {
        let store = |column: &Column| {
            let declared = ddl::declared(column);
            let form = match declared.as_str() {
                "smallint" | "integer" | "bigint" => Form::Integer,
                // The server has a notation for bytes; a file of a table that the load makes has the bytes themselves.
                "bytea" if column.declared.is_none() => Form::Bytes,
                _ => Form::Own,
            };
            ColumnStore {
                store: Store::of(column, &declared, utc),
                form,
                required: column.required,
            }
        };
        Self(columns.iter().map(store).collect())
    }

    /// Those of the plan.
    pub(super) fn of_plan(plan: &Plan) -> Self {
        Self::of(&plan.choice.columns, is_utc(plan))
    }

    /// For each column whether it takes values in binary.
    pub(super) fn are_binary(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(|column| column.store.is_binary())
    }

    /// For each column whether what the server keeps compares with what was sent.
    pub(super) fn compare(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(|column| column.store.is_binary() && column.store.compares())
    }
}

/// Whether a time without an offset is UTC to the server.
pub(super) fn is_utc(plan: &Plan) -> bool {
    means_utc(plan.facts.target.settings.get("TimeZone").map_or("", String::as_str))
}

/// Names of the zone that is UTC whatever the day.
pub(super) fn means_utc(zone: &str) -> bool {
    matches!(
        zone,
        "UTC"
            | "Etc/UTC"
            | "GMT"
            | "Etc/GMT"
            | "Zulu"
            | "Etc/Zulu"
            | "Universal"
            | "Etc/Universal"
            | "UCT"
            | "Etc/UCT"
    )
}

struct RowEncoder<N> {
    stores: Stores,
    /// Sums are taken from cells, beside the bytes.
    sums: bool,
    notation: N,
}

/// Encodes rows in notation `N`.
pub(super) fn encoder<N: Notation>(
    shape: Arc<Shape>,
    stores: &Stores,
    plan: &Plan,
) -> Box<dyn Encode> {
    let sums = plan.request.verify == Verify::Checksum;
    let row = RowEncoder { stores: stores.clone(), sums, notation: N::default() };
    encode::encoder(shape, row)
}

impl<N: Notation> EncodeRow for RowEncoder<N> {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let Self { stores, sums, notation } = self;
        let Wire { cells, values, bytes, .. } = wire;
        notation.open(stores.0.len(), bytes);
        for (column, store) in stores.0.iter().enumerate() {
            if column > 0 {
                bytes.extend_from_slice(N::BETWEEN);
            }
            let Some((home, span)) = row.value(column, values) else {
                if store.required {
                    return Err(BadValue::null(column));
                }
                notation.null(bytes);
                if *sums {
                    cells.push(Cell::Null);
                }
                continue;
            };
            let value = row.bytes(home, span, values);
            let bad = |(code, wanted)| BadValue { column, code, wanted };
            notation.value(store, value, bytes).map_err(bad)?;
            if *sums {
                let at = values.len();
                if store.store.is_binary() && store.store.compares() {
                    // What it was written out of may be in the same place.
                    let value = row.bytes(home, span, values).to_vec();
                    store.store.encode(&value, values).map_err(bad)?;
                }
                let span = Span { at: at as u32, len: (values.len() - at) as u32 };
                cells.push(Cell::Bytes(Home::Wire, span));
            }
        }
        bytes.extend_from_slice(N::CLOSE);
        Ok(())
    }
}

/// The columns that a load of this plan's shape can't bring in binary, as the reason says it.
pub(super) fn not_binary(columns: &[Column], utc: bool) -> Option<String> {
    let stores = Stores::of(columns, utc);
    let at = stores.are_binary().position(|binary| !binary)?;
    let column = &columns[at];
    let declared = ddl::declared(column);
    Some(match column.ty {
        Type::Timestamp { zone: true } => format!(
            "what column {} ({declared}) makes of a time without an offset depends on the server's time zone",
            column.name
        ),
        _ => format!(
            "column {} is of type {declared}, which inrush leaves to the server to read",
            column.name
        ),
    })
}
