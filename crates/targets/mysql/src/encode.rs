//! Rows as the server reads them: fields of a file, tuples of a statement, parameters, lines of a CSV table.

use std::sync::Arc;

use crate::ddl;
use crate::facts::{ServerFacts, engine, numbers};
use crate::load::engine_of;
use crate::types::{Class, Exact, Kept, LastDay, Modes, SessionZone, Store};
use inrush_core::encode::{self, BadValue, EncodeRow, NO_NULL, Row, Shape};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::flow::{Cell, Encode, Home, Span, Wire};
use inrush_core::value::hex;
use inrush_core::wording::shell_word;
use inrush_core::{Column, Job, Verify};

/// A way to write rows down.
pub(super) trait Notation: Send + 'static {
    /// Between two values.
    const BETWEEN: &'static [u8] = b"";
    /// After a row's last.
    const CLOSE: &'static [u8] = b"";

    /// Before a row's first value.
    fn open(&mut self, _columns: usize, _out: &mut Vec<u8>) {}

    /// Behind a row's last value.
    ///
    /// # Errors
    /// When the row as a whole can't be written down.
    #[inline]
    fn close(&mut self, out: &mut Vec<u8>) -> Result<(), BadValue<'static>> {
        out.extend_from_slice(Self::CLOSE);
        Ok(())
    }

    fn null(&mut self, column: usize, out: &mut Vec<u8>);

    fn value(&mut self, class: Class, value: &[u8], out: &mut Vec<u8>);

    /// A value in a type of its own; `memory` is for its text, where that is needed.
    #[inline]
    fn exact(&mut self, class: Class, value: Exact, memory: &mut Vec<u8>, out: &mut Vec<u8>) {
        memory.clear();
        value.write(memory);
        self.value(class, memory, out);
    }
}

/// Lines for LOAD DATA: a tab between fields, a backslash before what would be taken for something else.
#[derive(Default)]
pub(super) struct Fields;

impl Notation for Fields {
    const BETWEEN: &'static [u8] = b"\t";
    const CLOSE: &'static [u8] = b"\n";

    #[inline]
    fn null(&mut self, _column: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\\N");
    }

    #[inline]
    fn value(&mut self, class: Class, value: &[u8], out: &mut Vec<u8>) {
        match class {
            // The server looks at every byte of the file, and adds a fraction of zeros by itself.
            Class::Moment => out.extend_from_slice(value.strip_suffix(b".000000").unwrap_or(value)),
            Class::Text => escaped(value, memchr::memchr3_iter(b'\t', b'\n', b'\\', value), out),
            Class::Bytes => hex::put(value, out),
            _ => out.extend_from_slice(value),
        }
    }
}

/// Tuples for INSERT: `('a',1,NULL),`.
#[derive(Default)]
pub(super) struct Tuples;

impl Notation for Tuples {
    const BETWEEN: &'static [u8] = b",";
    const CLOSE: &'static [u8] = b"),";

    #[inline]
    fn open(&mut self, _columns: usize, out: &mut Vec<u8>) {
        out.push(b'(');
    }

    #[inline]
    fn null(&mut self, _column: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"NULL");
    }

    #[inline]
    fn value(&mut self, class: Class, value: &[u8], out: &mut Vec<u8>) {
        match class {
            _ if class.is_number() => out.extend_from_slice(value),
            Class::Text => {
                out.push(b'\'');
                escaped(value, memchr::memchr2_iter(b'\'', b'\\', value), out);
                out.push(b'\'');
            }
            Class::Bytes => {
                out.extend_from_slice(b"x'");
                hex::put(value, out);
                out.push(b'\'');
            }
            _ => {
                out.push(b'\'');
                out.extend_from_slice(value);
                out.push(b'\'');
            }
        }
    }
}

/// Adds the tuple of the values that a line of [`Fields`] has. `classes`: what its columns take.
pub(super) fn tuple_of_fields(line: &[u8], classes: &[Class], out: &mut Vec<u8>) {
    let mut rest = line.strip_suffix(Fields::CLOSE).unwrap_or(line);
    Tuples.open(classes.len(), out);
    for (column, class) in classes.iter().enumerate() {
        if column > 0 {
            out.extend_from_slice(Tuples::BETWEEN);
        }
        let (field, others) = split_field(rest);
        rest = others;
        match class {
            _ if field == b"\\N" => Tuples.null(column, out),
            // What a backslash is before means the same in a string.
            Class::Text => {
                out.push(b'\'');
                escaped(field, memchr::memchr_iter(b'\'', field), out);
                out.push(b'\'');
            }
            Class::Bytes => out.extend_from_slice(&[b"x'", field, b"'"].concat()),
            class => Tuples.value(*class, field, out),
        }
    }
    out.extend_from_slice(Tuples::CLOSE);
}

/// The first field of a line, and what comes behind the tab that ends it.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\t', b'\\', &line[at..]) {
        at += found;
        if line[at] == b'\t' {
            return (&line[..at], &line[at + 1..]);
        }
        // A backslash and the byte that it is before.
        at = line.len().min(at + 2);
    }
    (line, b"")
}

/// Lines of a table of the CSV engine, as its own source writes them: every value in double quotes, with a backslash before
/// quotes, backslashes and line ends (<https://mariadb.com/kb/en/csv-overview/>).
#[derive(Default)]
pub(super) struct EngineCsv;

impl Notation for EngineCsv {
    const BETWEEN: &'static [u8] = b",";
    const CLOSE: &'static [u8] = b"\n";

    /// Its columns take none: the encoder refuses NULL before.
    fn null(&mut self, _column: usize, _out: &mut Vec<u8>) {}

    fn value(&mut self, class: Class, value: &[u8], out: &mut Vec<u8>) {
        if class.is_number() {
            out.extend_from_slice(value);
            return;
        }
        out.push(b'"');
        for byte in value {
            match byte {
                b'"' => out.extend_from_slice(b"\\\""),
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                byte => out.push(*byte),
            }
        }
        out.push(b'"');
    }
}

/// Copies `value` with a backslash before each byte at `places`.
#[inline(always)]
fn escaped(value: &[u8], places: impl Iterator<Item = usize>, out: &mut Vec<u8>) {
    let mut done = 0;
    for at in places {
        out.extend_from_slice(&value[done..at]);
        out.extend_from_slice(&[b'\\', value[at]]);
        done = at + 1;
    }
    out.extend_from_slice(&value[done..]);
}

/// What is said of NULL in a table of the CSV engine.
const NO_NULL_IN_CSV: &str = "NULL where none is allowed: tables of MySQL's CSV engine keep none, those of other strategies and engines do";

/// How every loaded column stores its values.
#[derive(Clone)]
pub(super) struct Stores(Arc<[ColumnStore]>);

struct ColumnStore {
    store: Store,
    class: Class,
    real: Option<Real>,
    /// Whether the text that the server will show is known. Of other values only whether there is one is compared.
    compares: bool,
    /// Why NULL is a bad value, where it is one.
    no_null: Option<&'static str>,
}

/// A column of binary fractions: the server shows their values in digits of its own, so they compare as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Real {
    Single,
    Double,
}

impl Real {
    fn of(declared: &str) -> Option<Self> {
        let name = declared.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "float" => Some(Real::Single),
            "double" | "real" => Some(Real::Double),
            _ => None,
        }
    }

    /// The number that the column makes of `value`.
    pub(super) fn number(self, value: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(value).ok()?;
        match self {
            Real::Single => text.parse::<f32>().ok().map(f64::from),
            Real::Double => text.parse().ok(),
        }
    }
}

impl Stores {
    /// # Errors
    /// When a column's type is one that no text can be loaded into.
    pub(super) fn of(job: &Job, nullable: bool) -> Result<Self> {
        let server = ServerFacts::of(&job.facts.target);
        let (zone, last_day) = (session_zone(job), last_day(server));
        let modes = Modes { zone, last_day, ..modes(server.variable("sql_mode")) };
        let store = |column: &Column| {
            let declared = ddl::declared(job, column);
            let store = Store::of(column, &declared, modes).map_err(|why| {
                let error = Error::new(Kind::Target, format!("column {}: {why}", column.name));
                match column.required {
                    true => error,
                    false => error.advise(format!(
                        "--drop {} leaves it out of what is loaded",
                        shell_word(&column.name)
                    )),
                }
            })?;
            Ok(ColumnStore {
                class: store.class(),
                real: Real::of(&declared),
                compares: store.compares(),
                store,
                no_null: match (nullable, column.required) {
                    (false, _) => Some(NO_NULL_IN_CSV),
                    (true, true) => Some(NO_NULL),
                    (true, false) => None,
                },
            })
        };
        job.choice.columns.iter().map(store).collect::<Result<_>>().map(Self)
    }

    pub(super) fn reals(&self) -> impl Iterator<Item = Option<Real>> {
        self.0.iter().map(|column| column.real)
    }

    /// For each column whether what the server shows compares with what was sent.
    pub(super) fn compare(&self) -> impl Iterator<Item = bool> {
        self.0.iter().map(|column| column.compares)
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = Class> {
        self.0.iter().map(|column| column.class)
    }
}

/// What the server's own sql_mode allows of dates. The load's session keeps these modes and sets the others itself.
pub(super) fn modes(sql_mode: &str) -> Modes {
    let has = |mode: &str| sql_mode.split(',').any(|word| word.eq_ignore_ascii_case(mode));
    Modes {
        zero_date: !has("NO_ZERO_DATE"),
        zero_in_date: !has("NO_ZERO_IN_DATE"),
        invalid_dates: has("ALLOW_INVALID_DATES"),
        zone: SessionZone::Servers,
        last_day: LastDay::OF_31_BITS,
    }
}

/// Whether the server's own time zone is UTC.
pub(super) fn is_utc(server: &ServerFacts) -> bool {
    let zone = match server.variable("time_zone") {
        "SYSTEM" => server.variable("system_time_zone"),
        zone => zone,
    };
    matches!(zone, "UTC" | "Etc/UTC" | "+00:00" | "-00:00")
}

/// Where the server's TIMESTAMP ends: MariaDB's since 11.5 later than others'. A build of 32 bits doesn't say that it has kept the old
/// end, and refuses what is behind it.
fn last_day(server: &ServerFacts) -> LastDay {
    let engine = engine(server.variable("version"), server.variable("version_comment"));
    match engine.strip_prefix("MariaDB ") {
        Some(version) if numbers(version) >= (11, 5, 0) => LastDay::OF_32_BITS,
        _ => LastDay::OF_31_BITS,
    }
}

/// The zone of the load's sessions: UTC where a TIMESTAMP column gets moments with an offset, as they were seen in the source or are
/// said to be.
pub(super) fn session_zone(job: &Job) -> SessionZone {
    // Its tables are text, which later sessions take for moments of their own zones.
    if engine_of(job) == "csv" {
        return SessionZone::Servers;
    }
    if is_utc(ServerFacts::of(&job.facts.target)) {
        return SessionZone::Utc;
    }
    let gets_offsets = |(column, field): (&Column, &usize)| {
        let is_timestamp =
            column.declared.as_ref().is_some_and(|declared| declared.starts_with("timestamp"));
        let ty = if column.is_asked() { column.ty } else { job.facts.source.fields[*field].ty };
        is_timestamp && ty.has_offset()
    };
    match job.choice.columns.iter().zip(&job.choice.fields).any(gets_offsets) {
        true => SessionZone::UtcForLoad,
        false => SessionZone::Servers,
    }
}

struct RowEncoder<N> {
    stores: Stores,
    /// Sums are taken from cells, beside the bytes.
    sums: bool,
    /// The canonical text of one value.
    written: Vec<u8>,
    notation: N,
}

/// Encodes rows in notation `N`.
pub(super) fn encoder<N: Notation + Default>(
    shape: Arc<Shape>,
    stores: &Stores,
    job: &Job,
) -> Box<dyn Encode> {
    encoder_in(N::default(), shape, stores, job)
}

/// Encodes rows in this notation.
pub(super) fn encoder_in<N: Notation>(
    notation: N,
    shape: Arc<Shape>,
    stores: &Stores,
    job: &Job,
) -> Box<dyn Encode> {
    let row = RowEncoder {
        stores: stores.clone(),
        sums: job.request.verify == Verify::Checksum,
        written: Vec::new(),
        notation,
    };
    encode::encoder(shape, row)
}

/// What of `stored` the server needs: the zeros that a decimal has to have at its end it adds by itself.
#[inline]
fn shortest(class: Class, stored: &[u8]) -> &[u8] {
    if class != Class::Decimal || !stored.contains(&b'.') {
        return stored;
    }
    let zeros = stored.iter().rev().take_while(|digit| **digit == b'0').count();
    let kept = &stored[..stored.len() - zeros];
    kept.strip_suffix(b".").unwrap_or(kept)
}

impl<N: Notation> EncodeRow for RowEncoder<N> {
    #[inline]
    fn row<R: Row>(&mut self, row: &R, wire: &mut Wire) -> Result<(), BadValue<'_>> {
        let Self { stores, sums, written, notation } = self;
        let Wire { cells, values, bytes, .. } = wire;
        notation.open(stores.0.len(), bytes);
        for (column, of_column) in stores.0.iter().enumerate() {
            let ColumnStore { store, class, real, compares, no_null } = of_column;
            if column > 0 {
                bytes.extend_from_slice(N::BETWEEN);
            }
            // Sums are taken from texts.
            if !*sums
                && let Some(value) = row.typed(column).and_then(|typed| store.keep_typed(typed))
            {
                notation.exact(*class, value, written, bytes);
                continue;
            }
            let Some((home, span)) = row.value(column, values) else {
                if let Some(wanted) = *no_null {
                    return Err(BadValue { wanted, ..BadValue::null(column) });
                }
                notation.null(column, bytes);
                if *sums {
                    cells.push(Cell::Null);
                }
                continue;
            };
            let value = row.bytes(home, span, values);
            written.clear();
            let kept = store.keep(value, written).map_err(|(code, wanted)| BadValue {
                column,
                code,
                wanted,
            })?;
            let stored = match kept {
                Kept::AsIs => value,
                Kept::Written => written.as_slice(),
            };
            notation.value(*class, shortest(*class, stored), bytes);
            if !*sums {
                continue;
            }
            if let Some(number) = real.and_then(|real| real.number(stored)) {
                cells.push(Cell::Real(number));
                continue;
            }
            let (home, span) = match kept {
                _ if !compares => (Home::Wire, Span { at: values.len() as u32, len: 0 }),
                Kept::AsIs => (home, span),
                Kept::Written => {
                    let at = values.len() as u32;
                    values.extend_from_slice(written);
                    (Home::Wire, Span { at, len: written.len() as u32 })
                }
            };
            cells.push(match class {
                Class::Bytes => Cell::Bytes(home, span),
                _ => Cell::Text(home, span),
            });
        }
        notation.close(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::{BulkRows, Parameters};
    use crate::types;
    use inrush_core::Basis;
    use inrush_core::Type;

    const MODES: Modes = Modes {
        zero_date: true,
        zero_in_date: true,
        invalid_dates: true,
        zone: SessionZone::Servers,
        last_day: LastDay::OF_31_BITS,
    };

    /// A column of each sort, with the type that the server spells.
    fn samples() -> Vec<(Column, String)> {
        let column = |ty, declared: Option<&str>, pinned| Column {
            name: "c".to_owned(),
            ty,
            declared: declared.map(str::to_owned),
            basis: if pinned { Basis::Declared } else { Basis::Inferred },
            required: false,
        };
        let made = types::MADE.iter().flat_map(|ty| {
            let spelled = types::spell(*ty, true, false);
            [false, true].map(|pinned| (column(*ty, None, pinned), spelled.clone()))
        });
        let existing = types::DECLARED.iter().map(|text| {
            let ty = types::declared(text);
            (column(ty, Some(text), true), (*text).to_owned())
        });
        // A text column whose values have to be numbers.
        let checked = (column(Type::Integer, Some("text"), true), "text".to_owned());
        made.chain(existing).chain([checked]).collect()
    }

    #[test]
    fn a_line_of_fields_becomes_a_tuple() {
        let classes = [
            Class::Text,
            Class::Integer { unsigned: false },
            Class::Bytes,
            Class::Moment,
            Class::Text,
        ];
        let tuple = |line: &[u8]| {
            let mut out = Vec::new();
            tuple_of_fields(line, &classes, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            tuple(b"a\\tb'\\\\\t-7\t00ff\t2024-02-29 12:00:00\t\\\\N\n"),
            "('a\\tb\\'\\\\',-7,x'00ff','2024-02-29 12:00:00','\\\\N'),"
        );
        assert_eq!(tuple(b"\t\\N\t\t\\N\t\\N\n"), "('',NULL,x'',NULL,NULL),");
    }

    fn check<N: Notation + Default>() {
        let mut encoders = Vec::new();
        for (column, declared) in samples() {
            let Ok(store) = Store::of(&column, &declared, MODES) else { continue };
            for sums in [false, true] {
                let (class, compares, store) = (store.class(), store.compares(), store.clone());
                let column_store =
                    ColumnStore { class, real: None, compares, store, no_null: None };
                let encoder = RowEncoder {
                    stores: Stores(Arc::new([column_store])),
                    sums,
                    written: Vec::new(),
                    notation: N::default(),
                };
                encoders.push((format!("{declared}, {column:?}"), encoder));
            }
        }
        inrush_proof::check(encoders);
    }

    #[test]
    fn values_become_what_their_texts_become() {
        check::<Fields>();
        check::<Tuples>();
        check::<EngineCsv>();
        check::<BulkRows>();
        check::<Parameters>();
    }
}
