//! Inputs of columns: Parquet and Arrow IPC files, sheets, and rows that a program has. Their values come in types of their own.
//!
//! ```text
//! file, program -> batches of whole rows -> each column in a form that encoders know (reading) -> chunks
//! ```

#[cfg(feature = "parquet")]
mod int96;
#[cfg(feature = "parquet")]
mod intervals;
pub(crate) mod ipc;
mod kept;
#[cfg(feature = "parquet")]
mod leaves;
mod nested;
#[cfg(feature = "parquet")]
mod parquet;
mod reading;
mod rows;
mod sample;
mod sheet;
#[cfg(test)]
mod tests;
mod text;
mod widen;

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

#[cfg(feature = "parquet")]
use ::parquet::file::reader::{ChunkReader as _, Length as _};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch, downcast_run_array};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use crate::blocks::{LOOK, Piece, Room};
use crate::format::{Layout, begin};
#[cfg(feature = "parquet")]
use crate::head::DECRYPT_PARQUET;
use crate::head::HEAD_BYTES;
use crate::header::{Names, named, order};
use crate::input::nothing_to_flatten;
use crate::{Input, Place, Source};
use inrush_core::encode::Grammar;
#[cfg(feature = "parquet")]
use inrush_core::encrypted::is_encrypted;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Feeder;
use inrush_core::flow::{Meter, Origin, Point, SheetRows};
use inrush_core::guard::Failure;
use inrush_core::reading::{ColumnReads, Family, Readers};
use inrush_core::wording::shell_word;
use inrush_core::{
    DialectRequest, FieldFacts, Format, MomentFacts, PlainFiles, ReadFacts, SourceFacts, Spoiler,
    Type,
};
use inrush_place::cannot_open;
use inrush_store::Fault;
use inrush_store::Pipe;
use inrush_store::{Stop, watched};
use reading::{Reading, names_of, readings};
use rows::Rows;
pub use rows::{BatchSource, Stream, columns_of};
pub use text::{duration_text, interval_text};

/// Columns that a batch can have; more are more than any target takes.
const COLUMNS_MAX: usize = u16::MAX as usize;

/// What an input says of its columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    store: Store,
    readings: Vec<Reading>,
}

#[derive(Clone, Debug)]
enum Store {
    #[cfg(feature = "parquet")]
    Parquet {
        footer: parquet::Footer,
        /// The row groups to read.
        groups: Range<usize>,
    },
    IpcFile,
    IpcStream,
    Sheet(Arc<sheet::Sheet>),
    Rows {
        rows: Rows,
        flatten: bool,
    },
}

/// Blocks of a file that is read from its start to its end, and has its table at the end.
const IN_ORDER: Room = Room { block_bytes: 4 << 20, blocks: 2 };

/// What a look reads at a time.
const LOOK_BYTES: usize = 4 << 20;

/// Some rows of an input.
struct Batch {
    rows: RecordBatch,
    /// The row group or batch of the file, from 0.
    group: u32,
    /// The first row's place in it, from 0.
    row: u64,
    /// What it took in the file.
    stored: u64,
    /// What is known of rows of a sheet.
    sheet: Option<SheetRows>,
    /// See [`inrush_core::flow::Chunk::spelled`].
    spelled: Vec<u32>,
}

impl Batch {
    /// Columns as [`Reading::apply`] makes them.
    fn of(
        columns: Vec<(ArrayRef, bool)>,
        names: &SchemaRef,
        group: u32,
        row: u64,
        stored: u64,
    ) -> Result<Self, ArrowError> {
        let spelled = (0..).zip(&columns).filter(|(_, (_, has_spelled))| *has_spelled);
        let spelled = spelled.map(|(at, _)| at).collect();
        let arrays = columns.into_iter().map(|(array, _)| array).collect();
        let rows = RecordBatch::try_new(Arc::clone(names), arrays)?;
        Ok(Self { rows, group, row, stored, sheet: None, spelled })
    }
}

/// Takes batches in order; false says that no more are wanted.
type Take<'a> = dyn FnMut(Batch) -> Result<bool> + 'a;

/// What to do about types that this version of Arrow does not know.
const UNSUPPORTED: &str = "write it again without the columns of the type that is not supported, or with these as decimals or texts";

/// What a file holds that can't be read although nothing is damaged, and what to do.
#[derive(Debug)]
struct Unreadable {
    what: String,
    advice: &'static str,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Unreadable {}

impl Source {
    /// Opens inputs of columns and looks at their schemas.
    pub(super) fn open_columns(
        places: &[(Place, Layout)],
        request: &DialectRequest,
        read: &Readers,
        known: Option<&[String]>,
        mut pipe: Option<Pipe>,
        abandoned: Stop,
    ) -> Result<(Self, SourceFacts)> {
        refuse_dialect(request, places)?;
        let mut inputs = Vec::new();
        let mut tables: Vec<Table> = Vec::new();
        let (mut orders, mut all) = (Vec::new(), Vec::new());
        // Whether a sheet has names is a guess.
        let is_of_sheet = |(place, _): &(Place, Layout)| matches!(place, Place::Sheet(_));
        let are = if places.iter().any(is_of_sheet) { Names::Row } else { Names::Schema };
        for (place, layout) in places {
            let mut input = Input::plain(place);
            let table = match place {
                Place::Sheet(of) => {
                    let (sheet, readings) = sheet::look(&mut input, of, request, read, known)?;
                    Table::of(Store::Sheet(Arc::new(sheet)), readings, &input)
                }
                _ => look(&mut input, *layout, request.flatten, &mut pipe, &abandoned),
            };
            let table = table.map_err(|error| error.in_input(&input.name))?;
            let names = |table: &Table| -> Vec<String> {
                table.readings.iter().map(|reading| reading.name.clone()).collect()
            };
            orders.push(match tables.first() {
                None => {
                    all = names(&table);
                    (0..all.len()).map(Some).collect()
                }
                Some(_) => order(&mut all, &names(&table), &input.name, are, &read.columns)?,
            });
            inputs.push(input);
            tables.push(table);
        }
        orders.iter_mut().for_each(|order| order.resize(all.len(), None));
        for (input, table) in inputs.iter().zip(&tables) {
            refuse_variants(input, table, &all, read)?;
        }
        let is_of_moments = |at: usize| read.is_of_moments(&all[at]);
        find_days(&inputs, &mut tables, &orders, &is_of_moments, &abandoned)?;
        join_midnights(&mut tables, &orders);
        let files = (inputs, tables, orders);
        let (source, mut facts, asked) =
            Self::of_tables(files, all, pipe, Arc::clone(&abandoned), read, request.flatten)?;
        source.sample_columns(&mut facts.fields, &asked, &abandoned)?;
        Ok((source, facts))
    }

    /// Takes the rows of a program, and looks at their schema.
    ///
    /// # Errors
    /// When they have no columns, or too many.
    pub fn of_rows(
        rows: Box<dyn BatchSource>,
        read: &Readers,
        flatten: bool,
        stop: &AtomicBool,
    ) -> Result<(Self, SourceFacts)> {
        let schema = rows.schema();
        let readings = readings(&schema, flatten);
        if readings.is_empty() {
            return Err(Error::source("the rows have no columns").advise(
                "where there is no batch, nothing says what the columns are: give one without rows, or a Stream or a Writer, which have \
                 a schema",
            ));
        }
        let (is_guess, is_replayable) = (rows.is_guess(), rows.is_replayable());
        let input = Input { records_before: rows.rows_before(), ..Input::plain(&Place::Rows) };
        let table =
            Table::of(Store::Rows { rows: Rows::new(rows, schema), flatten }, readings, &input)?;
        let names: Vec<String> =
            table.readings.iter().map(|reading| reading.name.clone()).collect();
        let (inputs, mut tables) = (vec![input], vec![table]);
        let orders = vec![(0..names.len()).map(Some).collect()];
        let flag = Stop::default();
        let is_of_moments = |at: usize| read.is_of_moments(&names[at]);
        watched(stop, &flag, || find_days(&inputs, &mut tables, &orders, &is_of_moments, &flag))?;
        let files = (inputs, tables, orders);
        let (source, mut facts, asked) =
            Self::of_tables(files, names, None, Arc::default(), read, flatten)?;
        watched(stop, &flag, || source.sample_columns(&mut facts.fields, &asked, &flag))?;
        facts.seekable = is_replayable;
        if is_guess {
            facts.reasons = vec!["types are those of the first rows' values".to_owned()];
            // Which values numbers and truths are, and what values of several kinds are, does not depend on how they are written.
            let is_final = |field: &FieldFacts| {
                let is_number = Family::of(field.ty) == Some(Family::Number);
                field.spoiler.is_some() || field.ty == Type::Boolean || is_number
            };
            for field in facts.fields.iter_mut().filter(|field| !is_final(field)) {
                field.is_declared = false;
            }
        }
        Ok((source, facts))
    }

    /// The source, what is known of it, and which of its fields are to be looked at, for options name them.
    fn of_tables(
        (inputs, tables, orders): (Vec<Input>, Vec<Table>, Vec<Vec<Option<usize>>>),
        names: Vec<String>,
        pipe: Option<Pipe>,
        abandoned: Stop,
        read: &Readers,
        flatten: bool,
    ) -> Result<(Self, SourceFacts, Vec<usize>)> {
        let mut warnings = Vec::new();
        let sheets: Vec<&sheet::Sheet> = tables.iter().filter_map(Table::sheet).collect();
        warnings.extend(sheets.iter().flat_map(|sheet| sheet.notes.clone()));
        for note in
            tables.iter().flat_map(|table| &table.readings).filter_map(|one| one.note.clone())
        {
            if !warnings.contains(&note) {
                warnings.push(note);
            }
        }
        let names = named(names, read, &mut warnings)?;
        let mut asked = Vec::new();
        let fields = names.into_iter().enumerate().map(|(index, name)| {
            // Where each input has the column that has it.
            let all = || {
                let all = tables.iter().zip(&orders);
                all.filter_map(|(table, order)| Some((table, order[index]?)))
            };
            let types = tables.iter().zip(&orders).zip(&inputs);
            let reads = read.column(&name);
            let has_zone = reads.as_ref().is_some_and(|reads| reads.has_zone());
            let types = types.filter_map(|((table, order), input)| {
                Some((table.ty(order[index]?, has_zone)?, input.name.as_str()))
            });
            let types: Vec<(Type, &str)> = types.collect();
            let ty = types.iter().map(|(ty, _)| *ty).reduce(common).unwrap_or(Type::Text);
            let digits = all().map(|(table, at)| table.readings[at].moment_digits());
            let digits = digits.max().unwrap_or(0);
            let moments = MomentFacts { digits, ..MomentFacts::default() };
            let seen = all().filter_map(|(table, at)| Some(table.sheet()?.seen[at].clone()));
            let mut seen: Vec<sheet::Seen> = seen.collect();
            let is_of_sheets = seen.len() == all().count();
            if seen.iter().any(|seen| seen.has_values) {
                seen.retain(|seen| seen.has_values);
            }
            let spoiler = seen
                .iter()
                .find_map(|seen| seen.spoiler.clone())
                .or_else(|| all().find_map(|(table, at)| table.readings[at].spoiler.clone()))
                .or_else(|| several(&types).filter(|_| ty == Type::Text));
            let read_facts = seen.iter().map(|seen| seen.reads.clone()).reduce(both);
            let moments = match seen.into_iter().max_by_key(|seen| seen.moments.digits) {
                Some(seen) if is_of_sheets => seen.moments,
                _ => moments,
            };
            let is_number = |ty| Family::of(ty) == Some(Family::Number);
            let (ty, is_declared) = match &reads {
                // Of cells that were all looked at the type is known.
                Some(reads)
                    if is_of_sheets && Family::of(ty) == Family::of(reads.default_type()) =>
                {
                    (ty, false)
                }
                // What options say of a column's texts and numbers stands above the schema, as a first guess. Other numbers than whole
                // ones are numbers of the same kind whatever is said of how these are written.
                Some(reads)
                    if reads.is_declared()
                        && (matches!(ty, Type::Text | Type::Integer)
                            || is_number(ty) && !is_number(reads.default_type())) =>
                {
                    asked.push(index);
                    (reads.default_type(), false)
                }
                _ => (ty, !is_of_sheets),
            };
            let read_facts = read_facts
                .filter(|_| is_of_sheets)
                .unwrap_or_else(|| reads_of_typed(reads.as_deref()));
            let facts = FieldFacts {
                name,
                written: None,
                added: None,
                ty,
                spoiler,
                is_declared,
                is_settled: false,
                moments,
                reads: read_facts,
            };
            (facts, reads)
        });
        let (fields, reads): (Vec<FieldFacts>, Vec<_>) = fields.unzip();
        let mut reasons = match sheets.is_empty() {
            true => vec!["columns and types are those of the source's own schema".to_owned()],
            false => sheets.iter().flat_map(|sheet| sheet.reasons.clone()).collect(),
        };
        reasons.dedup();
        let is_ipc = |table: &Table| matches!(table.store, Store::IpcFile | Store::IpcStream);
        if tables.iter().any(is_ipc) {
            reasons.push("each of the source's record batches is in memory as a whole".to_owned());
        }
        let facts = SourceFacts {
            fields,
            taken: None,
            case: read.columns.case,
            header: true,
            header_is_detected: false,
            reasons,
            warnings,
            title: None,
            bytes: inputs.iter().map(|input| input.bytes_stored).sum(),
            row_bytes: None,
            rows_seen: sheets.iter().map(|sheet| sheet.rows).sum(),
            rows_bad: 0,
            seekable: inputs.iter().all(|input| input.place.can_be_reread()),
            is_delimited: false,
            is_typed: true,
            is_surveyed: !sheets.is_empty() && read.is_empty(),
            is_intolerant: false,
            repeats: Arc::default(),
            orphans: Arc::default(),
            memory_bytes: tables.iter().map(Table::memory_bytes).max().unwrap_or(0)
                + tables.iter().map(Table::kept_bytes).sum::<u64>(),
            chunks_ahead: tables.iter().map(Table::chunks_ahead).max().unwrap_or(0),
            plain_files: plain_files(&inputs, &tables, &orders)
                .filter(|_| !flatten && read.is_empty() && read.columns.keeps_all()),
        };
        let source = Source {
            inputs,
            grammar: Grammar::Columns,
            nulls: read.nulls_of(facts.fields.iter().map(|field| field.name.as_str())),
            reads,
            read: read.clone(),
            header: true,
            bytes: Vec::new(),
            flatten,
            widths: tables.iter().map(|table| table.readings.len()).collect(),
            orders,
            tables,
            pipe: Mutex::new(pipe),
            abandoned,
        };
        Ok((source, facts, asked))
    }
}

/// What options of reading make of a column whose values have a type of their own.
fn reads_of_typed(reads: Option<&ColumnReads>) -> ReadFacts {
    let is_read = reads.is_some_and(|reads| reads.reads_typed(Family::Moment));
    ReadFacts { is_read, ..ReadFacts::default() }
}

/// What is known of a column's texts in two sheets. What is proposed has to read both.
fn both(mut one: ReadFacts, other: ReadFacts) -> ReadFacts {
    for family in Family::ALL {
        if other.plain.has(family) {
            one.plain.add(family);
        }
        if other.made.has(family) {
            one.made.add(family);
        }
    }
    ReadFacts {
        is_null: one.is_null && other.is_null,
        exact: one
            .exact
            .zip(other.exact)
            .map(|(one, other)| common(one, other))
            .or(one.exact)
            .or(other.exact),
        two_ways: one.two_ways.or(other.two_ways),
        proposal: one.proposal.zip(other.proposal).and_then(|(one, other)| one.and(other)),
        is_open: one.is_open && other.is_open,
        is_read: one.is_read || other.is_read,
        plain: one.plain,
        made: one.made,
        unread: one.unread.or(other.unread),
        marked: one.marked.or(other.marked),
        is_hex: false,
        // All of a sheet's values are looked at.
        fractions: None,
    }
}

/// The files, where all are of one format and have the same columns of the same types in the same order: who reads them by himself takes
/// what the first one says for all.
fn plain_files(
    inputs: &[Input],
    tables: &[Table],
    orders: &[Vec<Option<usize>>],
) -> Option<PlainFiles> {
    let first = tables.first()?;
    let layout = first.layout();
    let format = match layout {
        Layout::Parquet => Format::Parquet,
        Layout::ArrowFile => Format::Arrow,
        // A stream may be a pipe, of which a part is read already.
        Layout::ArrowStream | Layout::Sheet | Layout::Rows | Layout::Text => return None,
    };
    let are_alike =
        tables.iter().all(|table| table.layout() == layout && table.says_all_of_its_types());
    // What the format itself calls whole numbers.
    let has_bool8 = tables.iter().flat_map(|table| &table.readings).any(Reading::has_bool8);
    let is_same = |table: &Table, order: &Vec<Option<usize>>| {
        let mut types = first.readings.iter().zip(&table.readings);
        order.len() == table.readings.len()
            && order.iter().enumerate().all(|(at, of)| Some(at) == *of)
            && types.all(|(first, other)| first.has_type_of(other))
    };
    let are_same = tables.iter().zip(orders).all(|(table, order)| is_same(table, order));
    let path = |input: &Input| input.place.plain().map(Path::to_owned);
    if !are_alike || !are_same || has_bool8 {
        return None;
    }
    let types = first.readings.iter().map(|reading| reading.from().clone()).collect();
    Some(PlainFiles { format, paths: inputs.iter().map(path).collect::<Option<_>>()?, types })
}

/// Refuses values of Parquet's VARIANT, which are bytes of their own form, in a column that is to be loaded; of `all` columns.
fn refuse_variants(input: &Input, table: &Table, all: &[String], read: &Readers) -> Result<()> {
    let all: Vec<&String> = all.iter().collect();
    let is_loaded =
        |name: &str| !read.columns.is_dropped(name, &all) && !read.columns.is_unchosen(name, &all);
    let found = table.readings.iter().find(|one| one.is_variant && is_loaded(&one.name));
    found.map_or(Ok(()), |found| {
        let (file, name) = (&input.name, &found.name);
        Err(Error::source(format!(
            "{file}: column {name} is of the type VARIANT, which is not read"
        ))
        .about(file)
        .advise(format!("write it as JSON: {name}::json in DuckDB, to_json({name}) in Spark"))
        .advise(format!("or leave it out: --drop {}", shell_word(name))))
    })
}

/// What is said of text has no meaning here; of sheets some has.
fn refuse_dialect(request: &DialectRequest, places: &[(Place, Layout)]) -> Result<()> {
    let Some((place, layout)) = places.iter().find(|(_, layout)| *layout != Layout::Sheet) else {
        if request.flatten {
            let (place, layout) = &places[0];
            return Err(nothing_to_flatten(&place.name(), layout.words()).advise("leave it out"));
        }
        let said = DialectRequest { header: None, ..request.clone() };
        let option = said.encoding.as_ref().map(|_| "--encoding").or(said.delimited_option());
        return refuse_option(option, &places[0]);
    };
    let option = match () {
        () if request.encoding.is_some() => Some("--encoding"),
        () if request.skip_lines > 0 => Some("--skip-lines"),
        () => request.delimited_option(),
    };
    refuse_option(option, &(place.clone(), *layout))
}

fn refuse_option(option: Option<&str>, (place, layout): &(Place, Layout)) -> Result<()> {
    match option {
        Some(option) => Err(Error::usage(format!(
            "{option} is for text, and {} is {}",
            place.name(),
            layout.words()
        ))),
        None => Ok(()),
    }
}

/// The types of a column of which inputs have two that none holds both of: one that is not text, and the first other one.
fn several(types: &[(Type, &str)]) -> Option<Spoiler> {
    let (narrower, narrower_in) = types.iter().find(|(ty, _)| *ty != Type::Text)?;
    let (other, other_in) = types.iter().find(|(ty, _)| common(*ty, *narrower) == Type::Text)?;
    Some(Spoiler::Inputs {
        narrower: *narrower,
        narrower_in: (*narrower_in).to_owned(),
        other: *other,
        other_in: (*other_in).to_owned(),
    })
}

/// A type for what is of either.
fn common(a: Type, b: Type) -> Type {
    match (a, b) {
        _ if a == b => a,
        (Type::Integer, Type::Float) | (Type::Float, Type::Integer) => Type::Float,
        (Type::Integer, Type::Decimal { precision, scale })
        | (Type::Decimal { precision, scale }, Type::Integer) => {
            let precision = (precision - scale).max(19).saturating_add(scale);
            Type::Decimal { precision, scale }
        }
        (Type::Decimal { precision: p, scale: s }, Type::Decimal { precision: q, scale: t }) => {
            let scale = s.max(t);
            Type::Decimal { precision: (p - s).max(q - t).saturating_add(scale), scale }
        }
        _ => Type::Text,
    }
}

/// Looks through the columns that count days in milliseconds, which should be whole, and need not be: those that are in all inputs are
/// of days from now on. Those that are known to be of moments stay moments.
fn find_days(
    inputs: &[Input],
    tables: &mut [Table],
    orders: &[Vec<Option<usize>>],
    is_of_moments: &dyn Fn(usize) -> bool,
    stop: &Stop,
) -> Result<()> {
    // For each column of the source, where it is in which tables.
    let mut left: Vec<Vec<(usize, usize)>> = Vec::new();
    for index in (0..orders.first().map_or(0, Vec::len)).filter(|at| !is_of_moments(*at)) {
        let places = orders.iter().enumerate();
        let places = places.filter_map(|(table, order)| Some((table, order[index]?)));
        let may_be = |(table, at): &(usize, usize)| tables[*table].readings[*at].may_be_days();
        left.push(places.filter(may_be).collect());
    }
    for (at, input) in inputs.iter().enumerate() {
        let mut asked: Vec<usize> =
            left.iter().flatten().filter(|(table, _)| *table == at).map(|(_, at)| *at).collect();
        asked.sort_unstable();
        let found = tables[at].whole_days(input, asked, stop)?;
        left.retain(|places| {
            places.iter().all(|(table, place)| *table != at || found.contains(place))
        });
    }
    for (table, at) in left.into_iter().flatten() {
        tables[table].readings[at].take_days();
    }
    Ok(())
}

/// A sheet's column of midnights that are shown as such is one of moments where another input's column of this name is.
fn join_midnights(tables: &mut [Table], orders: &[Vec<Option<usize>>]) {
    for index in 0..orders.first().map_or(0, Vec::len) {
        let places: Vec<(usize, usize)> = orders
            .iter()
            .enumerate()
            .filter_map(|(table, order)| Some((table, order[index]?)))
            .collect();
        let is_of_moments = |(table, at): &(usize, usize)| {
            tables[*table].ty(*at, false) == Some(Type::Timestamp { zone: false })
        };
        if !places.iter().any(is_of_moments) {
            continue;
        }
        for (table, at) in places {
            let Table { store, readings } = &mut tables[table];
            if let Store::Sheet(sheet) = store
                && sheet.seen[at].are_midnights
                && let Some(reading) = Arc::make_mut(sheet).take_moments(at, &readings[at].name)
            {
                readings[at] = reading;
            }
        }
    }
}

/// Looks at an input's schema. The input learns how it is compressed.
fn look(
    input: &mut Input,
    layout: Layout,
    flatten: bool,
    pipe: &mut Option<Pipe>,
    stop: &Stop,
) -> Result<Table> {
    if layout == Layout::ArrowStream {
        let (head, compression) = begin(&input.place, pipe, HEAD_BYTES, stop)?;
        input.compression = compression;
        let schema = ipc::stream_schema(&head);
        let schema = schema.map_err(|failure| input.damaged(layout, failure))?;
        return Table::of(Store::IpcStream, readings(&schema, flatten), input);
    }
    let damaged = |failure: Failure| input.damaged(layout, failure);
    let fail = |error| cannot_open(&input.name, &error);
    let place = &input.place;
    let (store, readings) = match (layout, place.can_be_reread()) {
        #[cfg(feature = "parquet")]
        (Layout::Parquet, true) => {
            let file = Piece::of(place, LOOK, stop).map_err(fail)?;
            let is_encrypted =
                is_encrypted(file.len(), |start, length| file.get_bytes(start, length));
            if is_encrypted.map_err(|error| damaged(error.into()))? {
                return Err(Error::source(format!("{} is an encrypted Parquet file", input.name))
                    .about(&input.name)
                    .advise(DECRYPT_PARQUET));
            }
            let footer = parquet::Footer::read(&file).map_err(damaged)?;
            let readings = footer.readings(flatten);
            let groups = 0..footer.groups();
            (Store::Parquet { footer, groups }, readings)
        }
        (Layout::ArrowFile, true) => {
            let file = Piece::of(place, LOOK, stop).map_err(fail)?;
            let schema = ipc::file_schema(file).map_err(damaged)?;
            (Store::IpcFile, readings(&schema, flatten))
        }
        #[cfg(not(feature = "parquet"))]
        (Layout::Parquet, ..) => {
            return Err(Error::source(format!(
                "{} is {}, which this build of inrush can't read",
                input.name,
                layout.words()
            )));
        }
        _ => {
            return Err(Error::source(format!(
                "{} is {}, which can't be read from a pipe: its end has to be read first",
                input.name,
                layout.words()
            ))
            .advise("save it to a file first"));
        }
    };
    Table::of(store, readings, input)
}

/// Cuts a batch into slices of about `batch_bytes`, which share its memory, and hands them on; false says that no more are wanted.
/// `stored` is what the whole of it took in the file.
fn slices(
    batch: &RecordBatch,
    group: u32,
    stored: u64,
    readings: &[Reading],
    names: &SchemaRef,
    batch_bytes: usize,
    take: &mut Take<'_>,
) -> Result<bool, Failure> {
    let bytes: usize = batch.columns().iter().map(|column| written_out_bytes(column)).sum();
    let rows_max = (batch_bytes / (bytes / batch.num_rows().max(1)).max(1)).clamp(1, 1 << 16);
    let mut row = 0;
    while row < batch.num_rows() {
        let rows = rows_max.min(batch.num_rows() - row);
        let slice = batch.slice(row, rows);
        let columns = readings
            .iter()
            .map(|reading| reading.apply(&slice, reading.path[0]))
            .collect::<Result<Vec<_>, ArrowError>>()?;
        let stored = if row == 0 { stored } else { 0 };
        if !take(Batch::of(columns, names, group, row as u64, stored)?)? {
            return Ok(false);
        }
        row += rows;
    }
    Ok(true)
}

/// About how many bytes an array takes once each row has a value of its own: those of a dictionary or of a run are there once, whatever
/// many rows have them.
fn written_out_bytes(array: &dyn Array) -> usize {
    let of_rows = |values: &ArrayRef, places: &mut dyn Iterator<Item = usize>| {
        let mut rows = vec![0; values.len()];
        places.for_each(|place| rows[place] += 1);
        let used = rows.iter().enumerate().filter(|(_, rows)| **rows > 0);
        used.map(|(place, rows)| rows * written_out_bytes(&values.slice(place, 1))).sum()
    };
    let viewed =
        |lengths: &mut dyn Iterator<Item = u32>| lengths.map(|length| length as usize + 16).sum();
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            if dictionary.values().is_empty() {
                return 0;
            }
            of_rows(dictionary.values(), &mut dictionary.normalized_keys().into_iter())
        }
        DataType::RunEndEncoded(..) => downcast_run_array!(
            array => of_rows(array.values(), &mut (0..array.len()).map(|at| array.get_physical_index(at))),
            _ => unreachable!("runs end at integers")
        ),
        DataType::Struct(_) => {
            array.as_struct().columns().iter().map(|column| written_out_bytes(column)).sum()
        }
        // A slice of views keeps all that they lie in.
        DataType::Utf8View => viewed(&mut array.as_string_view().lengths()),
        DataType::BinaryView => viewed(&mut array.as_binary_view().lengths()),
        _ => {
            // What the array itself has of its buffers.
            let own = array.to_data().get_slice_memory_size();
            own.unwrap_or_else(|_| array.get_array_memory_size())
        }
    }
}

impl Input {
    /// Its bytes, for a look at it.
    fn begin(&self, stop: &Stop) -> Result<Box<dyn Read + Send>> {
        let raw = self.place.begin(stop).map_err(|error| cannot_open(&self.name, &error))?;
        match self.compression {
            None => Ok(raw),
            Some(compression) => compression.open(raw).map_err(|error| self.read_error(&error)),
        }
    }

    /// What keeps it from being read, where that doesn't say so itself.
    fn damaged(&self, layout: Layout, failure: Failure) -> Error {
        if let Some(fault) = Fault::within(failure.as_ref()) {
            return fault.about(&self.name);
        }
        let failure = match failure.downcast::<Error>() {
            Ok(error) => return *error,
            Err(failure) => failure,
        };
        if let Some(error) = failure.downcast_ref::<io::Error>() {
            return self.read_error(error);
        }
        let said = failure.to_string();
        let is_of_text = said.contains("UTF-8") || said.contains("UTF8");
        Error::source(format!("{}: cannot be read as {}: {said}", self.name, layout.words()))
            .about(&self.name)
            .advise(match failure.downcast_ref::<Unreadable>() {
                Some(unreadable) => unreadable.advice,
                None if is_of_text => {
                    "a text in it is not UTF-8: write that column as binary, or correct its texts"
                }
                None if said.ends_with("not supported") => UNSUPPORTED,
                None => "check that it is whole: fetch or write it again",
            })
    }
}

/// Feeds every input of `source` into the pipeline, in order, as batches of about `chunk_bytes`: what comes behind `from`.
pub(crate) fn feed(
    source: &Source,
    chunk_bytes: usize,
    from: &Point,
    meter: &Meter,
    feeder: &mut dyn Feeder,
) -> Result<()> {
    let halt = &Arc::clone(feeder.halt());
    for (file, table) in source.tables.iter().enumerate().skip(from.file as usize) {
        let input = &source.inputs[file];
        let mut goes_on = true;
        let mut skipped = if file == from.file as usize { from.records } else { 0 };
        let mut records = input.records_before + skipped;
        #[cfg(not(feature = "parquet"))]
        let groups = 0..0;
        #[cfg(feature = "parquet")]
        let groups = match &table.store {
            Store::Parquet { footer, groups } => {
                let (groups, rows) = footer.groups_behind(groups.clone(), skipped);
                skipped -= rows;
                groups
            }
            _ => 0..0,
        };
        let mut take = |mut batch: Batch| {
            let rows = batch.rows.num_rows() as u64;
            if skipped > 0 && skipped >= rows {
                skipped -= rows;
                meter.add_stored(batch.stored);
                return Ok(true);
            }
            if skipped > 0 {
                batch.rows = batch.rows.slice(skipped as usize, (rows - skipped) as usize);
                if let Some(sheet) = &mut batch.sheet {
                    sheet.skip(skipped as u32);
                }
                batch.row += std::mem::take(&mut skipped);
            }
            let Some(mut slot) = feeder.take() else {
                goes_on = false;
                return Ok(false);
            };
            meter.add_stored(batch.stored);
            meter.add_read(batch.stored);
            slot.chunk.bytes.clear();
            slot.chunk.origin = Origin {
                file: file as u32,
                byte: 0,
                group: batch.group,
                group_row: batch.row,
                records,
            };
            records += batch.rows.num_rows() as u64;
            slot.chunk.batch = Some(batch.rows);
            slot.chunk.sheet = batch.sheet;
            slot.chunk.spelled = batch.spelled;
            goes_on = feeder.give(slot);
            Ok(goes_on)
        };
        let before = meter.bytes_stored.load(Relaxed);
        let body = || source.open_body(file, meter, halt);
        table.read(input, groups, &table.readings, body, halt, chunk_bytes, &mut take)?;
        if matches!(table.store, Store::IpcStream) {
            meter.add_read(meter.bytes_stored.load(Relaxed) - before);
        }
        if !goes_on {
            break;
        }
    }
    Ok(())
}

/// What a program's own reader says, as it says it.
fn unreadable(failure: Failure) -> Error {
    Error::source(format!("the rows can't be read: {failure}"))
}

impl Table {
    /// Whether it is rows of a program whose types are those of the first ones.
    pub(super) fn is_guess(&self) -> bool {
        matches!(&self.store, Store::Rows { rows, .. } if rows.source().is_guess())
    }

    fn of(store: Store, readings: Vec<Reading>, input: &Input) -> Result<Self> {
        if readings.is_empty() {
            return Err(Error::source(format!("{} has no columns", input.name)));
        }
        if readings.len() > COLUMNS_MAX {
            let name = &input.name;
            return Err(Error::source(format!("{name} has more than {COLUMNS_MAX} columns")));
        }
        Ok(Self { store, readings })
    }

    /// Reads its rows, of a Parquet file those of these groups, as batches of about `batch_bytes` with the columns of `readings`;
    /// `body` opens a stream of Arrow.
    #[expect(clippy::too_many_arguments)]
    fn read<'a>(
        &self,
        input: &Input,
        #[cfg_attr(not(feature = "parquet"), expect(unused_variables))] groups: Range<usize>,
        readings: &[Reading],
        body: impl FnOnce() -> Result<Box<dyn Read + Send + 'a>>,
        stop: &Stop,
        batch_bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let names = &names_of(readings);
        let layout = self.layout();
        let damaged = |failure| input.damaged(layout, failure);
        let piece = |room| {
            Piece::of(&input.place, room, stop).map_err(|error| cannot_open(&input.name, &error))
        };
        let stored = input.bytes_stored.unwrap_or(0);
        match &self.store {
            Store::Rows { rows, flatten } => {
                let reader = rows.source().open()?;
                rows.batches(reader, (readings, names), *flatten, batch_bytes, take)
                    .map_err(unreadable)
            }
            #[cfg(feature = "parquet")]
            Store::Parquet { footer, .. } => {
                let file = piece(footer.room)?;
                footer.batches(&file, groups, readings, names, batch_bytes, take).map_err(damaged)
            }
            Store::Sheet(sheet) => match &input.place {
                Place::Sheet(of) => sheet
                    .batches(of, stored, names, batch_bytes, take)
                    .map_err(|failure| sheet::damaged(input, failure)),
                _ => Ok(()),
            },
            Store::IpcFile => {
                ipc::file_batches(piece(IN_ORDER)?, readings, names, batch_bytes, take)
                    .map_err(damaged)
            }
            Store::IpcStream => {
                ipc::stream_batches(body()?, &input.name, readings, names, batch_bytes, take)
                    .map_err(damaged)
            }
        }
    }

    /// Those of the columns that have no time of day in any row. None of what can't be read twice.
    ///
    /// # Errors
    /// When the input can't be read, or the user does not want to wait for it.
    fn whole_days(
        &mut self,
        input: &Input,
        mut left: Vec<usize>,
        stop: &Stop,
    ) -> Result<Vec<usize>> {
        let (groups, can_be_reread) = match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { groups, .. } => (groups.clone(), true),
            Store::Rows { rows, .. } => (0..0, rows.source().is_replayable()),
            Store::IpcFile | Store::IpcStream | Store::Sheet(_) => {
                (0..0, input.place.can_be_reread())
            }
        };
        if !can_be_reread {
            for at in left.drain(..) {
                let reading = &mut self.readings[at];
                reading.note = Some(format!(
                    "column {} counts days in milliseconds (date64) and may have times of day, which only a second look could tell: it is of \
                     timestamps",
                    reading.name
                ));
            }
        }
        if left.is_empty() {
            return Ok(left);
        }
        // A program's batches may each have types of their own, so all columns are read.
        let asked: Vec<usize> = match self.store {
            Store::Rows { .. } => (0..self.readings.len()).collect(),
            _ => left.clone(),
        };
        let readings: Vec<Reading> = asked.iter().map(|at| self.readings[*at].clone()).collect();
        let mut take = |batch: Batch| {
            left.retain(|at| {
                let place = asked.binary_search(at);
                place.is_ok_and(|place| Reading::are_days(batch.rows.column(place)))
            });
            Ok(!left.is_empty() && !stop.load(Relaxed))
        };
        self.read(input, groups, &readings, || input.begin(stop), stop, LOOK_BYTES, &mut take)?;
        match stop.load(Relaxed) {
            true => Err(Error::interrupted()),
            false => Ok(left),
        }
    }

    /// Takes columns for days as the whole of a source has them, of which this is a part: moments have room for parts of a second.
    pub(super) fn take_days(&mut self, order: &[Option<usize>], fields: &[FieldFacts]) {
        for (at, field) in order.iter().zip(fields) {
            if let Some(reading) = at.and_then(|at| self.readings.get_mut(at))
                && reading.may_be_days()
                && field.moments.digits == 0
            {
                reading.take_days();
            }
        }
    }

    /// A file of which these row groups are read, or all of it.
    pub(super) fn of_part(
        input: &mut Input,
        flatten: bool,
        part: Option<(usize, usize)>,
    ) -> Result<Self> {
        let (request, never) = (DialectRequest::default(), Stop::default());
        let layout = crate::format::layout(&input.place, &request, &mut None, &never)?;
        let mut table = look(input, layout, flatten, &mut None, &never)?;
        match (&mut table.store, part) {
            #[cfg(feature = "parquet")]
            (Store::Parquet { footer, groups }, Some((from, to)))
                if from <= to && to <= footer.groups() =>
            {
                *groups = from..to;
            }
            (_, None) => {}
            _ => {
                return Err(Error::source(format!("{} has no such row groups", input.name))
                    .advise("split it again, and load all parts of it anew"));
            }
        }
        Ok(table)
    }

    fn sheet(&self) -> Option<&sheet::Sheet> {
        match &self.store {
            Store::Sheet(sheet) => Some(sheet),
            _ => None,
        }
    }

    /// What a column's values are; `None` where it is known to have none but NULL. What clocks of a zone show becomes moments of UTC.
    fn ty(&self, column: usize, has_zone: bool) -> Option<Type> {
        let reading = &self.readings[column];
        let (has_values, ty, is_typed) = match self.sheet() {
            Some(sheet) => {
                let seen = &sheet.seen[column];
                (seen.has_values, seen.ty, seen.is_typed)
            }
            None => (!reading.is_nothing(), reading.ty, true),
        };
        has_values.then_some(match ty {
            Type::Timestamp { zone: false } if has_zone && is_typed => {
                Type::Timestamp { zone: true }
            }
            ty => ty,
        })
    }

    /// How many row groups it has, where it can be read from any.
    pub(super) fn groups(&self) -> Option<usize> {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { footer, .. } => Some(footer.groups()),
            Store::IpcFile | Store::IpcStream | Store::Sheet(_) | Store::Rows { .. } => None,
        }
    }

    /// The first row group that is read.
    fn first_group(&self) -> usize {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { groups, .. } => groups.start,
            Store::IpcFile | Store::IpcStream | Store::Sheet(_) | Store::Rows { .. } => 0,
        }
    }

    /// Rows and stored bytes of each row group; none where it can be read only from its start.
    pub(super) fn group_sizes(&self) -> Vec<(u64, u64)> {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { footer, groups } => footer.group_sizes(groups.clone()).collect(),
            Store::IpcFile | Store::IpcStream | Store::Sheet(_) | Store::Rows { .. } => Vec::new(),
        }
    }

    /// Bytes of memory that its reader takes, besides the chunks.
    pub(super) fn memory_bytes(&self) -> u64 {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { footer, .. } => footer.memory_bytes,
            Store::Sheet(sheet) => sheet.memory_bytes,
            Store::IpcFile | Store::IpcStream | Store::Rows { .. } => 0,
        }
    }

    /// Bytes of memory that are kept from the look at it.
    pub(super) fn kept_bytes(&self) -> u64 {
        match &self.store {
            Store::Sheet(sheet) => sheet.kept_bytes(),
            _ => 0,
        }
    }

    /// Chunks that its reader has in hand before they are wanted.
    pub(super) fn chunks_ahead(&self) -> usize {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { .. } => parquet::CHUNKS_AHEAD,
            Store::IpcFile | Store::IpcStream | Store::Sheet(_) | Store::Rows { .. } => 0,
        }
    }

    /// How many rows it says that it holds.
    pub(super) fn rows(&self) -> Option<u64> {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { footer, groups } => {
                Some(footer.group_sizes(groups.clone()).map(|(rows, _)| rows).sum())
            }
            Store::Sheet(sheet) => Some(sheet.rows),
            Store::IpcFile | Store::IpcStream | Store::Rows { .. } => None,
        }
    }

    /// Whether its columns' types are what the file says, and not what its values say: two readers may look at others of them.
    fn says_all_of_its_types(&self) -> bool {
        match &self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { footer, .. } => !footer.has_int96(),
            _ => true,
        }
    }

    fn layout(&self) -> Layout {
        match self.store {
            #[cfg(feature = "parquet")]
            Store::Parquet { .. } => Layout::Parquet,
            Store::IpcFile => Layout::ArrowFile,
            Store::IpcStream => Layout::ArrowStream,
            Store::Sheet(_) => Layout::Sheet,
            Store::Rows { .. } => Layout::Rows,
        }
    }
}
