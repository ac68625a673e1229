//! Rows as the server reads them: in binary, as lines of COPY, as tuples of a statement.

use std::sync::Arc;

use crate::ddl;
use crate::facts::ServerFacts;
use crate::types::{Locale, Misfit, Store, sql_type};
use inrush_core::encode::{self, BadValue, EncodeRow, Moment, Row, Shape, Typed};
use inrush_core::flow::{Cell, Code, Encode, Home, Span, Wire};
use inrush_core::{Column, Job, TargetFacts, Verify};

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

    /// Writes a value that has a type of its own, if that takes no text. `false` says nothing, and leaves `out` as it was.
    fn typed(&mut self, _column: &ColumnStore, _typed: Typed, _out: &mut Vec<u8>) -> bool {
        false
    }
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

    #[inline]
    fn typed(&mut self, column: &ColumnStore, typed: Typed, out: &mut Vec<u8>) -> bool {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        if !column.store.encode_typed(typed, out) {
            out.truncate(at);
            return false;
        }
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        true
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
    /// The value's text, where it is one that the column keeps.
    fn of<'v, 's>(
        &'v mut self,
        column: &'s ColumnStore,
        value: &'v [u8],
    ) -> Result<&'v [u8], Misfit<'s>> {
        let Self { binary, written } = self;
        binary.clear();
        column.store.encode(value, binary)?;
        Ok(column.store.text(value, binary, written))
    }
}

/// How every loaded column stores its values.
#[derive(Clone)]
pub(super) struct Stores(Arc<[ColumnStore]>);

pub(super) struct ColumnStore {
    store: Store,
    required: bool,
    /// What takes bytes of the source that aren't text, where the column's text is a notation for bytes.
    bytes: Option<Box<ColumnStore>>,
}

impl ColumnStore {
    fn compares(&self) -> bool {
        self.store.is_binary() && self.store.compares()
    }
}

impl Stores {
    /// Those of the plan's columns, on a server of this locale.
    pub(super) fn of(columns: &[Column], locale: &Locale) -> Self {
        let store = |column: &Column| {
            let declared = ddl::declared(column);
            let store = Store::of(column, &declared, locale);
            let required = column.required;
            let bytes = store
                .for_bytes()
                .map(|store| Box::new(ColumnStore { store, required, bytes: None }));
            ColumnStore { store, required, bytes }
        };
        Self(columns.iter().map(store).collect())
    }

    /// Those of the plan.
    pub(super) fn of_plan(job: &Job) -> Self {
        Self::of(&job.choice.columns, &locale(&job.facts.target))
    }

    /// For each column whether it takes values in binary.
    pub(super) fn are_binary(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(|column| column.store.is_binary())
    }

    /// For each column whether what the server keeps compares with what was sent.
    pub(super) fn compare(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(ColumnStore::compares)
    }
}

/// That of the load's sessions.
pub(super) fn locale(target: &TargetFacts) -> Locale {
    let server = ServerFacts::of(target);
    Locale::of(server.setting("TimeZone"), &server.amount)
}

/// What a user should know of values that are not compared, or not even looked at.
pub(super) fn cautions(job: &Job) -> Vec<String> {
    let columns = &job.choice.columns;
    let stores = Stores::of_plan(job);
    let named = |is_meant: &dyn Fn(&ColumnStore) -> bool| {
        let named = columns.iter().zip(stores.0.iter()).filter(|(_, column)| is_meant(column));
        let named = named
            .map(|(column, _)| format!("{} ({})", column.name, sql_type(&ddl::declared(column))));
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| named.join(", "))
    };
    let read = named(&|column| column.store.is_servers()).map(|columns| {
        format!(
            "only the server reads the values of {columns}, as \\copy has it do: what it rounds or completes is no bad row"
        )
    });
    let compared = named(&|column| !column.compares())
        .filter(|_| job.request.verify == Verify::Checksum)
        .map(|columns| format!("checksums compare of {columns} only whether there is a value"));
    read.into_iter().chain(compared).collect()
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
    job: &Job,
) -> Box<dyn Encode> {
    let sums = job.request.verify == Verify::Checksum;
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
            let mut store = store;
            if let Some(typed) = row.typed(column) {
                if notation.typed(store, typed, bytes) {
                    if *sums {
                        let at = values.len();
                        // What was written once can be written again.
                        let _ = store.compares() && store.store.encode_typed(typed, values);
                        cells.push(cell(at, values.len()));
                    }
                    continue;
                }
                if let (Typed::Bytes(..), Some(raw)) = (typed, &store.bytes) {
                    store = raw;
                }
                if let (Typed::Date(_) | Typed::Moment(Moment { zone: false, .. }), true) =
                    (typed, store.store.is_of_utc())
                {
                    let wanted = "a timestamp with a time zone, for the column has one";
                    return Err(BadValue { column, code: Code::Type, wanted });
                }
            }
            if let Some(raw) = &store.bytes
                && row.has_bytes(column)
            {
                store = raw;
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
                if store.compares() {
                    // What it was written out of may be in the same place.
                    let value = row.bytes(home, span, values).to_vec();
                    store.store.encode(&value, values).map_err(bad)?;
                }
                cells.push(cell(at, values.len()));
            }
        }
        bytes.extend_from_slice(N::CLOSE);
        Ok(())
    }
}

/// A cell of what was written to the wire's values.
fn cell(at: usize, end: usize) -> Cell {
    Cell::Bytes(Home::Wire, Span { at: at as u32, len: (end - at) as u32 })
}

/// The columns that a load of this plan's shape can't bring in binary, as the reason says it.
pub(super) fn not_binary(columns: &[Column], locale: &Locale) -> Option<String> {
    let stores = Stores::of(columns, locale);
    let mut both = columns.iter().zip(stores.0.iter());
    let (column, ColumnStore { store, .. }) = both.find(|(_, column)| !column.store.is_binary())?;
    let declared = ddl::declared(column);
    Some(match store.is_zoned() {
        true => format!(
            "what column {} ({declared}) makes of a time without an offset depends on the server's time zone",
            column.name
        ),
        false => format!(
            "column {} is of type {declared}, which inrush leaves to the server to read",
            column.name
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types;
    use arrow_array::{ArrayRef, BinaryArray, Date32Array, RecordBatch};
    use inrush_core::encode::{Grammar, ShapeColumn};
    use inrush_core::flow::{Chunk, Encoded};
    use inrush_core::value::hex;
    use inrush_core::{Basis, Type};

    /// How the server writes [`types::AMOUNT`].
    const AMOUNTS: &str = "$12,345.00";

    /// A column of each sort.
    fn samples() -> Vec<Column> {
        let made = [
            Type::Integer,
            Type::Float,
            Type::Decimal { precision: 0, scale: 0 },
            Type::Decimal { precision: 10, scale: 2 },
            Type::Decimal { precision: 38, scale: 20 },
            Type::Boolean,
            Type::Date,
            Type::Timestamp { zone: false },
            Type::Timestamp { zone: true },
            Type::Text,
            Type::Json,
            Type::Bytes,
        ];
        let existing = [
            "smallint",
            "integer",
            "bigint",
            "oid",
            "real",
            "double precision",
            "numeric",
            "numeric(10,2)",
            "numeric(3,5)",
            "numeric(2,-3)",
            "money",
            "boolean",
            "bit(3)",
            "date",
            "timestamp without time zone",
            "timestamp(3) without time zone",
            "timestamp with time zone",
            "timestamp(0) with time zone",
            "time without time zone",
            "interval",
            "text",
            "character varying(5)",
            "character(30)",
            "json",
            "jsonb",
            "bytea",
            "integer[]",
            "zip = integer",
        ];
        let column = |ty, declared: Option<&str>, pinned| Column {
            name: "c".to_owned(),
            ty,
            declared: declared.map(str::to_owned),
            basis: if pinned { Basis::Declared } else { Basis::Inferred },
            required: false,
        };
        let made = made.iter().flat_map(|ty| [false, true].map(|pinned| column(*ty, None, pinned)));
        let existing = existing.map(|text| column(types::declared(text), Some(text), true));
        // A text column whose values have to be numbers.
        let checked = column(Type::Integer, Some("text"), true);
        made.chain(existing).chain([checked]).collect()
    }

    fn check<N: Notation>() {
        let encoder = |column: &Column, zone, sums| {
            let stores = Stores::of(std::slice::from_ref(column), &Locale::of(zone, AMOUNTS));
            let encoder = RowEncoder { stores, sums, notation: N::default() };
            (format!("{column:?}, {zone}"), encoder)
        };
        let both = [("Asia/Kolkata", false), ("UTC", false), ("Asia/Kolkata", true), ("UTC", true)];
        let encoders = |columns: &[Column]| {
            let columns = columns.iter();
            let all = columns.map(|column| both.map(|(zone, sums)| encoder(column, zone, sums)));
            all.flatten().collect::<Vec<_>>()
        };
        let is_of_utc = |column: &Column| {
            Stores::of(std::slice::from_ref(column), &Locale::of("UTC", AMOUNTS)).0[0]
                .store
                .is_of_utc()
        };
        let (of_utc, others): (Vec<_>, Vec<_>) = samples().into_iter().partition(is_of_utc);
        assert!(!of_utc.is_empty());
        inrush_proof::check(encoders(&others));
        // A text without an offset is taken as the server takes it, a day or a moment without a zone is refused.
        let has_zone =
            |typed| !matches!(typed, Typed::Date(_) | Typed::Moment(Moment { zone: false, .. }));
        inrush_proof::check_where(has_zone, encoders(&of_utc));
    }

    #[test]
    fn values_become_what_their_texts_become() {
        check::<Binary>();
        check::<Lines>();
        check::<Tuples>();
    }

    /// What becomes of a column of a batch.
    fn encoded<N: Notation>(ty: Type, declared: Option<&str>, array: ArrayRef) -> Encoded {
        let name = "c".to_owned();
        let column = Column {
            name: name.clone(),
            ty,
            declared: declared.map(str::to_owned),
            basis: Basis::Declared,
            required: false,
        };
        let shape = Shape {
            grammar: Grammar::Columns,
            nulls: Default::default(),
            widths: vec![1],
            fields: vec![vec![Some(0)]],
            decoded: vec![None],
            headers: vec![],
            columns: vec![ShapeColumn {
                name,
                pinned: true,
                strict: false,
                bytes: ty == Type::Bytes,
                typed: ty != Type::Bytes,
                is_textual: true,
                is_document: false,
                is_list: false,
                reading: None,
                added: None,
                refuses_null: false,
                foreseen: Default::default(),
            }],
            nul_fault: Some("no NUL"),
            found_max: 1,
        };
        let stores = Stores::of(&[column], &Locale::of("UTC", AMOUNTS));
        let row = RowEncoder { stores, sums: false, notation: N::default() };
        let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
        let mut encoded = Encoded::default();
        let chunk = Chunk { batch: Some(batch), ..Chunk::default() };
        encode::encoder(Arc::new(shape), row).encode(&chunk, &mut encoded);
        encoded
    }

    /// The session's time zone would say which moment it is.
    #[test]
    fn a_day_of_a_batch_is_no_moment() {
        let day = || Arc::new(Date32Array::from(vec![18_262])) as ArrayRef;
        let ty = Type::Timestamp { zone: true };
        let refused = encoded::<Binary>(ty, Some("timestamp with time zone"), day());
        assert_eq!(refused.found.len(), 1);
        let ty = Type::Timestamp { zone: false };
        assert_eq!(encoded::<Lines>(ty, Some("timestamp without time zone"), day()).found, []);
    }

    /// Bytes of a batch are no notation for bytes, even if they look like it.
    #[test]
    fn bytes_are_what_they_are() {
        fn bytes<N: Notation>(value: &[u8], declared: Option<&str>) -> Vec<u8> {
            let array = Arc::new(BinaryArray::from_vec(vec![value]));
            let encoded = encoded::<N>(Type::Bytes, declared, array);
            assert_eq!(encoded.found, []);
            encoded.wire.bytes
        }

        for value in [&b"\\x41"[..], b"\\101", b"\\", b"\xff\0", b""] {
            for declared in [None, Some("bytea")] {
                let binary = [b"\0\x01\0\0\0", &[value.len() as u8][..], value].concat();
                assert_eq!(bytes::<Binary>(value, declared), binary);
                let mut digits = Vec::new();
                hex::put(value, &mut digits);
                let line = [b"\\\\x", &digits[..], b"\n"].concat();
                assert_eq!(bytes::<Lines>(value, declared), line);
                let tuple = [b"( E'\\\\x", &digits[..], b"'),"].concat();
                assert_eq!(bytes::<Tuples>(value, declared), tuple);
            }
        }
    }
}
