//! Sheets of workbooks as columns. A sheet says of each cell what it is, and of no column: so all cells are looked at before a plan is
//! made. Where they are not too many they are kept from then on, else read again.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

use crate::Input;
use crate::columns::kept::Kept;
use crate::columns::reading::{Reading, readings};
use crate::columns::{Batch, Failure, Take};
use crate::first_line::{self, Below};
use crate::header;
use crate::infer::{Observed, Spot, is_null_like};
use crate::proposal::Forms;
use inrush_core::encode::{Typed, csv_field};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{BadCell, SheetRows};
use inrush_core::reading::{self, ColumnReads, Readers};
use inrush_core::wording::shell_word;
use inrush_core::{DialectRequest, MomentFacts, Nulls, Proposal, ReadFacts, Spoiler, Type};
use inrush_place::Place;
use inrush_place::workbook::{self, Cell, Dimensions, Workbook, is_inexact, letters};

/// What is known of a sheet, and how its rows are read.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// Its name in the workbook.
    name: String,
    /// The first row that holds data, from 0.
    first: u32,
    /// For each column of the load, the one of the sheet, and what its cells become.
    columns: Vec<(u32, DataType)>,
    /// Which texts are NULL, by those columns, and what is cut off of them before.
    nulls: Nulls,
    trims: Vec<Option<reading::Reading>>,
    /// Ranges of cells that are shown as one.
    merged: Vec<Dimensions>,
    /// All rows, as they were looked at; `None` of a sheet that there was no room for.
    kept: Option<Arc<Kept>>,
    /// Rows with data.
    pub(super) rows: u64,
    /// What was seen of each column's values.
    pub(super) seen: Vec<Seen>,
    /// Bytes of memory that reading takes besides batches.
    pub(super) memory_bytes: u64,
    /// What the user should know.
    pub(super) notes: Vec<String>,
    pub(super) reasons: Vec<String>,
}

/// What the values of a column are.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) ty: Type,
    /// Whether all are of this type as cells, and none is a text.
    pub(super) is_typed: bool,
    /// Whether there is any, besides NULL.
    pub(super) has_values: bool,
    /// Whether they are days of which some are shown with a time of day.
    pub(super) are_midnights: bool,
    pub(super) spoiler: Option<Spoiler>,
    pub(super) moments: MomentFacts,
    /// Of its texts, as the options of reading have them.
    pub(super) reads: ReadFacts,
}

const DAY_MS: i64 = 86_400_000;

/// The sorts of cells that a column has.
#[derive(Clone, Copy, Debug, Default)]
struct Sorts(u8);

impl Sorts {
    const INTEGER: u8 = 1;
    const FLOAT: u8 = 2;
    const BOOLEAN: u8 = 4;
    const DATE: u8 = 8;
    const MOMENT: u8 = 16;
    const TEXT: u8 = 32;
    /// Floats that may have been other whole numbers.
    const INEXACT: u8 = 64;
    /// Moments that are midnights, which may be days all the same.
    const MIDNIGHT: u8 = 128;

    fn add(&mut self, cell: &Cell<'_>) {
        self.0 |= match cell {
            Cell::Integer(_) => Self::INTEGER,
            Cell::Float(number) if is_inexact(*number) => Self::FLOAT | Self::INEXACT,
            Cell::Float(_) => Self::FLOAT,
            Cell::Boolean(_) => Self::BOOLEAN,
            Cell::Date(_) => Self::DATE,
            Cell::Moment(ms) if ms % DAY_MS == 0 => Self::MIDNIGHT,
            Cell::Moment(_) => Self::MOMENT,
            Cell::Text(_) => Self::TEXT,
            Cell::Bad { .. } => 0,
        };
    }

    fn are_inexact(self) -> bool {
        self.0 & Self::INEXACT != 0
    }

    fn are_texts(self) -> bool {
        self.0 == Self::TEXT
    }

    /// What all of them fit into; text, where nothing else.
    fn becomes(self) -> (DataType, Option<Type>) {
        const NUMBER: u8 = Sorts::INTEGER | Sorts::FLOAT;
        // Programs write days as midnights with a time of day, as pandas does: so a column of nothing else is one of days.
        const DAY: u8 = Sorts::DATE | Sorts::MIDNIGHT;
        match self.0 & !Self::INEXACT {
            Self::INTEGER => (DataType::Int64, Some(Type::Integer)),
            Self::FLOAT | NUMBER => (DataType::Float64, Some(Type::Float)),
            Self::BOOLEAN => (DataType::Boolean, Some(Type::Boolean)),
            Self::DATE | Self::MIDNIGHT | DAY => (DataType::Date32, Some(Type::Date)),
            sorts if sorts & !DAY == Self::MOMENT => (
                DataType::Timestamp(TimeUnit::Millisecond, None),
                Some(Type::Timestamp { zone: false }),
            ),
            _ => (DataType::Utf8, None),
        }
    }
}

/// Appends what a cell is as text.
fn write(cell: &Cell<'_>, out: &mut Vec<u8>) {
    match cell {
        Cell::Integer(number) => Typed::Integer(*number).write(out),
        Cell::Float(number) => Typed::Float(*number).write(out),
        Cell::Boolean(truth) => Typed::Boolean(*truth).write(out),
        Cell::Date(days) => Typed::Date(*days).write(out),
        Cell::Moment(ms) => Typed::Moment(inrush_core::encode::Moment {
            seconds: ms.div_euclid(1_000),
            nanos: (ms.rem_euclid(1_000) * 1_000_000) as u32,
            zone: false,
        })
        .write(out),
        Cell::Text(text) => out.extend_from_slice(text.as_bytes()),
        Cell::Bad { shown, .. } => out.extend_from_slice(shown.as_bytes()),
    }
}

/// One column as it is looked at.
#[derive(Default)]
struct Column {
    observed: Observed,
    trim: Option<reading::Reading>,
    sorts: Sorts,
    /// Of its texts; a sheet of numbers has no use for it.
    forms: Option<Forms>,
    /// Those that its texts share with the one in the first row.
    like: Option<Forms>,
    /// Whether any cell has something in it.
    is_used: bool,
}

impl Column {
    /// One that these options concern.
    fn of(reads: Option<&Arc<ColumnReads>>) -> Self {
        let (observed, trim) = (Observed::of(reads), reading::Reading::trim(reads));
        Self { observed, trim, ..Self::default() }
    }

    fn proposal(&self) -> Option<Proposal> {
        self.forms.as_ref()?.proposal()
    }
}

/// What is seen of a sheet on the way through it.
struct Look<'a> {
    skip: u64,
    read: &'a Readers,
    /// The first row: its number, and its cells.
    first: Option<(u32, Vec<(u32, Cell<'static>)>)>,
    /// The numbers of the first rows, and how many cells each has.
    begins: Vec<(u32, usize)>,
    /// Spellings of NULL, by column of the sheet.
    known: Nulls,
    columns: Vec<Column>,
    rows: u64,
    text: Vec<u8>,
    read_text: Vec<u8>,
}

impl Look<'_> {
    fn row(&mut self, at: u32, cells: &[(u32, Cell<'_>)]) {
        if u64::from(at) < self.skip {
            return;
        }
        if self.begins.len() < TITLE_ROWS_MAX {
            self.begins.push((at, cells.len()));
        }
        if self.first.as_ref().is_some_and(|(first, _)| *first == at) {
            return;
        }
        if self.first.is_none() {
            self.first = Some((
                at,
                cells.iter().map(|(column, cell)| (*column, cell.clone().into_owned())).collect(),
            ));
            let texts = self.first_texts();
            let numbers: Vec<String> = (1..=texts.len()).map(header::column_name).collect();
            let names = [&texts, &numbers].map(|names| names.iter().map(String::as_str).collect());
            self.known = Nulls::of(&self.read.nulls, &names);
            let column = |(at, name): (usize, &String)| Column {
                like: Some(name)
                    .filter(|name| !is_null_like(name.as_bytes()))
                    .and_then(|name| Forms::like(name)),
                ..self.column(at, name)
            };
            self.columns = texts.iter().enumerate().map(column).collect();
            return;
        }
        self.add(at, cells);
    }

    /// A column of the sheet that may be called so; if there is no header, its name is a number.
    fn column(&self, at: usize, name: &str) -> Column {
        let numbered = self.read.column(&header::column_name(at + 1));
        let named = self.read.column(name).filter(|_| !name.is_empty());
        let is_declared = |reads: &Arc<ColumnReads>| reads.is_declared();
        let reads = named.as_ref().filter(|reads| is_declared(reads)).or(numbered.as_ref());
        Column::of(reads)
    }

    /// Forgets what was seen of the columns, to look again at rows whose columns have names: each of `names` is that of a column of the
    /// sheet.
    fn again(&mut self, known: Nulls, names: &[(usize, String)]) {
        let name = |at: usize| names.iter().find(|(column, _)| *column == at).map(|(_, name)| name);
        let column = |at| Column::of(name(at).and_then(|name| self.read.column(name)).as_ref());
        self.columns = (0..self.columns.len()).map(column).collect();
        (self.known, self.rows) = (known, 0);
    }

    fn add(&mut self, at: u32, cells: &[(u32, Cell<'_>)]) {
        self.rows += 1;
        let spot = Spot::of_sheet(at);
        for (column, cell) in cells {
            let index = *column as usize;
            while self.columns.len() <= index {
                self.columns.push(self.column(self.columns.len(), ""));
            }
            let seen = &mut self.columns[index];
            seen.is_used = true;
            // What is NULL is of no sort, as an empty cell.
            let text = match cell {
                Cell::Text(text) => match valued(text, index, &self.known, seen.trim.as_ref()) {
                    Some(text) => Some(text),
                    None => continue,
                },
                _ => None,
            };
            seen.sorts.add(cell);
            self.text.clear();
            write(cell, &mut self.text);
            match (cell, text) {
                (Cell::Bad { .. }, _) => {}
                (_, Some(text)) => {
                    seen.observed.add_string(text, spot);
                    seen.forms.get_or_insert_default().add(text, None, &mut self.read_text);
                    if let Some(like) = &mut seen.like {
                        like.add(text, None, &mut self.read_text);
                    }
                }
                _ => seen.observed.add_typed(&self.text, spot),
            }
        }
    }

    /// What to say where the first rows have cells in half of the columns or fewer, and the next one in more, as below a title.
    fn title(&self, width: usize) -> Option<String> {
        let is_short = |(_, cells): &&(u32, usize)| cells * 2 <= width;
        self.begins.first().filter(is_short)?;
        let (header, _) = self.begins.iter().find(|row| !is_short(row))?;
        Some(format!(
            "the first row has fewer cells than the others: if it is a title, --skip-lines {header} leaves it out"
        ))
    }

    /// The texts of the first row, one a column.
    fn first_texts(&self) -> Vec<String> {
        let Some((_, cells)) = &self.first else { return Vec::new() };
        let width = cells.iter().map(|(column, _)| *column as usize + 1).max().unwrap_or(0);
        let mut texts = vec![String::new(); width];
        for (column, cell) in cells {
            let mut text = Vec::new();
            write(cell, &mut text);
            texts[*column as usize] = String::from_utf8_lossy(&text).trim().to_owned();
        }
        texts
    }

    /// What the first row's cells are by themselves.
    fn first_seen(&self, width: usize) -> Vec<Observed> {
        let mut seen = vec![Observed::default(); width];
        for (column, cell) in self.first.iter().flat_map(|(_, cells)| cells) {
            let mut text = Vec::new();
            write(cell, &mut text);
            match cell {
                Cell::Text(_) if is_null_like(text.trim_ascii()) => {}
                Cell::Text(_) => seen[*column as usize].add_string(&text, Spot::default()),
                _ => seen[*column as usize].add(&text, Spot::default()),
            }
        }
        seen
    }
}

/// What a cell's text is without the blanks that are cut off; `None` where it is NULL.
fn valued<'t>(
    text: &'t str,
    column: usize,
    nulls: &Nulls,
    trim: Option<&reading::Reading>,
) -> Option<&'t [u8]> {
    let (text, is_trimmed) =
        trim.map_or((text.as_bytes(), false), |trim| trim.trimmed(text.as_bytes(), false));
    let is_null = nulls.of_column(column).any(|null| null == text);
    let is_blank = is_trimmed && text.is_empty();
    (!is_null && !is_blank).then_some(text)
}

/// Rows among which a header is looked for, below a title.
const TITLE_ROWS_MAX: usize = 10;

/// Looks at all cells of a sheet: what its columns are called, and what they hold. The input learns its header.
pub(super) fn look(
    input: &mut Input,
    sheet: &workbook::Sheet,
    request: &DialectRequest,
    read: &Readers,
    known: Option<&[String]>,
) -> Result<(Sheet, Vec<Reading>)> {
    let mut book = sheet.open()?;
    let (name, others) = sheet.find(&book)?;
    let mut look = Look {
        skip: request.skip_lines,
        read,
        first: None,
        begins: Vec::new(),
        known: Nulls::default(),
        columns: Vec::new(),
        rows: 0,
        text: Vec::new(),
        read_text: Vec::new(),
    };
    let merged = sheet.merged(&mut book, &name).map_err(|failure| damaged(input, failure))?;
    let mut kept = Some(Kept::default());
    book.rows(&name, &merged, |at, cells| {
        kept = kept.take().and_then(|kept| kept.add(at, cells));
        look.row(at, cells);
        Ok(true)
    })
    .map_err(|failure| damaged(input, failure))?;
    let (mut notes, mut reasons) = (Vec::new(), Vec::new());
    if sheet.name.is_none()
        && let Some(one) = others.first()
    {
        let (book, others) = (input.name.as_str(), others.words());
        let how = match &sheet.book {
            // The query is not shown: it may be a secret.
            Place::Stored(_) => {
                format!(
                    "write {} behind its address, and its query",
                    shell_word(&format!("!{one}"))
                )
            }
            _ => format!("inrush load {} ...", shell_word(&format!("{book}!{one}"))),
        };
        notes.push(format!("{book} has other sheets, which are not loaded: {others} ({how})"));
    }
    let Some((first_row, cells)) = look.first.clone() else {
        return Err(Error::source(format!("{} has no cells in its sheet {name}", input.name))
            .about(&input.name)
            .advise(match others.first() {
                None => "check that it is the file you mean".to_owned(),
                Some(_) => format!("name another sheet: {}", others.words()),
            }));
    };
    let texts = look.first_texts();
    let has_header = is_header(&look, &texts, input, request, known, &mut reasons, &mut notes)?;
    if !has_header {
        look.add(first_row, &cells);
    }
    let name_of =
        |column: usize| texts.get(column).filter(|_| has_header).map_or("", String::as_str);
    let width = look.columns.len().max(texts.len());
    let is_used = |column: &usize| {
        look.columns.get(*column).is_some_and(|seen| seen.is_used) || !name_of(*column).is_empty()
    };
    let used: Vec<usize> = (0..width).filter(is_used).collect();
    let names: Vec<String> = used
        .iter()
        .map(|column| match name_of(*column) {
            "" if !has_header => header::column_name(*column + 1 - used[0]),
            name => name.to_owned(),
        })
        .collect();
    let names = header::named(names, read, &mut notes)?;
    // Which spellings of NULL are one column's is known when the names are.
    let nulls = read.nulls_of(names.iter().map(String::as_str));
    let moved = nulls.clone().moved(&used);
    if !used.iter().all(|at| moved.of_column(*at).eq(look.known.of_column(*at))) {
        look.again(moved, &used.iter().copied().zip(names.iter().cloned()).collect::<Vec<_>>());
        let mut look_again = |at, cells: &[(u32, Cell<'_>)]| {
            look.row(at, cells);
            Ok(true)
        };
        let looked = match &kept {
            Some(kept) => kept.rows(look_again),
            None => book.rows(&name, &merged, |at, cells| look_again(at, cells)),
        };
        looked.map_err(|failure| damaged(input, failure))?;
        if !has_header {
            look.add(first_row, &cells);
        }
    }
    if has_header && request.header.is_none() {
        notes.extend(look.title(used.len()));
    }
    if has_header {
        input.lines_before = u64::from(first_row) + 1;
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                input.header.push(b',');
            }
            csv_field(name.as_bytes(), &mut input.header);
        }
        input.header.push(b'\n');
    }
    let mut columns = Vec::new();
    let mut seen = Vec::new();
    for (column, name) in used.iter().zip(&names) {
        let found = look.columns.get(*column);
        if found.is_some_and(|found| found.sorts.are_inexact()) {
            notes.push(format!(
                "column {name} has whole numbers beyond 9007199254740991: a sheet keeps 15 digits of a number, so the others may not be \
                 those that were typed"
            ));
        }
        let (becomes, ty) =
            found.map(|found| found.sorts.becomes()).unwrap_or((DataType::Utf8, None));
        let observed = found.map(|found| found.observed.clone()).unwrap_or_default();
        let inputs = std::slice::from_ref(&*input);
        let reads = match (ty, observed.reads(inputs)) {
            (None, reads) => reads,
            // Bad rows go to a file of text, which is read as the options say.
            (Some(_), ReadFacts { is_read, exact, two_ways, .. }) => {
                let of_typed = super::reads_of_typed(read.column(name).as_deref());
                let is_read = is_read || of_typed.is_read;
                ReadFacts { is_read, exact, two_ways, ..of_typed }
            }
        };
        seen.push(Seen {
            ty: ty.unwrap_or_else(|| observed.ty()),
            is_typed: ty.is_some(),
            has_values: observed.has_values(),
            are_midnights: ty == Some(Type::Date)
                && found.is_some_and(|found| found.sorts.0 & Sorts::MIDNIGHT != 0),
            spoiler: observed.spoiler(inputs).filter(|_| ty.is_none()),
            moments: observed.moments(inputs),
            reads: reads.proposing(
                found.filter(|found| found.sorts.are_texts()).and_then(Column::proposal),
            ),
        });
        columns.push((*column as u32, becomes));
    }
    notes.extend(of_merged(&merged, &input.name));
    reasons.push("types are those of the sheet's cells, which were all looked at".to_owned());
    let first = if has_header { first_row + 1 } else { first_row };
    let memory_bytes = memory(&book, look.rows, used.len(), input.bytes_stored.unwrap_or(0));
    let fields: Vec<Field> = names
        .iter()
        .zip(&columns)
        .map(|(name, (_, becomes))| Field::new(name, becomes.clone(), true))
        .collect();
    let rows = look.rows;
    let trims =
        names.iter().map(|name| reading::Reading::trim(read.column(name).as_ref())).collect();
    let sheet = Sheet {
        name,
        first,
        columns,
        nulls,
        trims,
        merged,
        kept: kept.map(Arc::new),
        rows,
        seen,
        memory_bytes,
        notes,
        reasons,
    };
    Ok((sheet, readings(&Schema::new(fields), false)))
}

/// What is wrong with a sheet, or with its workbook, where that says so itself.
pub(super) fn damaged(input: &Input, failure: Failure) -> Error {
    let failure = match failure.downcast::<Error>() {
        Ok(error) => return *error,
        Err(failure) => failure,
    };
    Error::source(format!("{}: the sheet can't be read: {failure}", input.name))
        .about(&input.name)
        .advise("check that the workbook is whole, or save the sheet as CSV")
}

/// Whether the first row names the columns, by the rules that hold for text.
fn is_header(
    look: &Look<'_>,
    texts: &[String],
    input: &Input,
    request: &DialectRequest,
    known: Option<&[String]>,
    reasons: &mut Vec<String>,
    notes: &mut Vec<String>,
) -> Result<bool> {
    if let Some(header) = request.header {
        return Ok(header);
    }
    let width = look.columns.len().max(texts.len());
    let mut rest: Vec<Observed> =
        look.columns.iter().map(|column| column.observed.clone()).collect();
    rest.resize(width, Observed::default());
    let mut names = texts.to_vec();
    names.resize(width, String::new());
    let used: Vec<usize> =
        (0..width).filter(|at| !names[*at].is_empty() || rest[*at].values() > 0).collect();
    let first = look.first_seen(width);
    let pick = |seen: &[Observed]| used.iter().map(|at| seen[*at].clone()).collect::<Vec<_>>();
    let names: Vec<String> = used.iter().map(|at| names[*at].clone()).collect();
    let nulls = Nulls::of(&look.read.nulls, &[names.iter().map(String::as_str).collect()]);
    let is_null = |(at, name): (usize, &String)| {
        let is_said = || nulls.of_column(at).any(|null| null == name.as_bytes());
        !name.is_empty() && (is_null_like(name.as_bytes()) || is_said())
    };
    let has_null = names.iter().enumerate().any(is_null);
    let is_alike = |at: &usize| {
        look.columns.get(*at).is_some_and(|column| {
            column.sorts.are_texts() && column.like.as_ref().is_some_and(Forms::are_alike)
        })
    };
    let are_alike: Vec<bool> = used.iter().map(is_alike).collect();
    let are_other_forms = vec![false; names.len()];
    let below =
        Below { seen: &pick(&rest), are_other_forms: &are_other_forms, are_alike: &are_alike };
    let columns = &look.read.columns;
    let verdict = first_line::header(&names, &pick(&first), has_null, &below, known, columns);
    let Some(is_header) = verdict.header else {
        let values: Vec<Vec<u8>> = names.into_iter().map(String::into_bytes).collect();
        return Err(header::unclear(&input.name, &values, known, verdict.why));
    };
    let (what, otherwise) = match is_header {
        true => ("the first row is taken as the header", "--header no if it is data"),
        false => ("there is no header", "--header yes if the first row is one"),
    };
    let reason = format!("{what}: {}", verdict.why.replace("first line", "first row"));
    match verdict.proven {
        true => reasons.push(reason),
        false => notes.push(format!("{reason} ({otherwise})")),
    }
    Ok(is_header)
}

/// What to say of cells that are shown as one.
fn of_merged(merged: &[Dimensions], input: &str) -> Option<String> {
    const SHOWN_MAX: usize = 3;
    let names: Vec<String> = merged
        .iter()
        .take(SHOWN_MAX)
        .map(|range| {
            let cell = |(row, column): (u32, u32)| format!("{}{}", letters(column), row + 1);
            format!("{}:{}", cell(range.start), cell(range.end))
        })
        .collect();
    let more = if merged.len() > SHOWN_MAX { ", ..." } else { "" };
    (!merged.is_empty()).then(|| {
        format!(
            "{input} has merged cells ({}{more}): the first has the value, the others are NULL",
            names.join(", ")
        )
    })
}

/// What the reader has in memory besides batches and what is kept: of most formats all cells, of xlsx the texts that cells share.
fn memory(book: &Workbook, rows: u64, columns: usize, stored: u64) -> u64 {
    /// What a cell takes in a table of cells.
    const CELL_BYTES: u64 = 32;
    /// How many times its size a workbook's texts are, unpacked.
    const UNPACKED: u64 = 4;
    match book.is_read_whole() {
        true => rows * columns as u64 * CELL_BYTES + stored * UNPACKED,
        false => stored * UNPACKED,
    }
}

/// An array under way.
enum Builder {
    Integer(Int64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Date(Date32Builder),
    Moment(TimestampMillisecondBuilder),
    /// Texts, and which of them are cells of another sort, written out.
    Text(StringBuilder, Vec<bool>),
}

impl Builder {
    fn of(ty: &DataType) -> Self {
        match ty {
            DataType::Int64 => Self::Integer(Int64Builder::new()),
            DataType::Float64 => Self::Float(Float64Builder::new()),
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::Date32 => Self::Date(Date32Builder::new()),
            DataType::Timestamp(..) => Self::Moment(TimestampMillisecondBuilder::new()),
            _ => Self::Text(StringBuilder::new(), Vec::new()),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(..))
    }

    /// Appends a cell, and says how many bytes it takes. What is of another sort than all cells were has changed since.
    fn push(&mut self, cell: Option<&Cell<'_>>, text: &mut Vec<u8>) -> Result<usize, Failure> {
        let cell = cell.filter(|cell| !matches!(cell, Cell::Bad { .. }));
        match (&mut *self, cell) {
            (Self::Integer(to), Some(Cell::Integer(number))) => to.append_value(*number),
            (Self::Float(to), Some(Cell::Float(number))) => to.append_value(*number),
            (Self::Float(to), Some(Cell::Integer(number))) => to.append_value(*number as f64),
            (Self::Boolean(to), Some(Cell::Boolean(truth))) => to.append_value(*truth),
            (Self::Date(to), Some(Cell::Date(days))) => to.append_value(*days),
            (Self::Moment(to), Some(Cell::Moment(ms))) => to.append_value(*ms),
            (Self::Moment(to), Some(Cell::Date(days))) => {
                to.append_value(i64::from(*days) * DAY_MS);
            }
            (Self::Date(to), Some(Cell::Moment(ms))) if ms % DAY_MS == 0 => {
                to.append_value(i32::try_from(ms / DAY_MS)?);
            }
            (Self::Text(to, typed), Some(cell)) => {
                text.clear();
                write(cell, text);
                if i32::try_from(to.values_slice().len() + text.len()).is_err() {
                    // The builder would panic.
                    return Err("it has a text of more than 2 GiB".into());
                }
                to.append_value(std::str::from_utf8(text)?);
                typed.push(!matches!(cell, Cell::Text(_)));
                return Ok(text.len() + 5);
            }
            (Self::Integer(to), None) => to.append_null(),
            (Self::Float(to), None) => to.append_null(),
            (Self::Boolean(to), None) => to.append_null(),
            (Self::Date(to), None) => to.append_null(),
            (Self::Moment(to), None) => to.append_null(),
            (Self::Text(to, typed), None) => {
                to.append_null();
                typed.push(false);
            }
            (_, Some(_)) => return Err("it has changed since it was looked at".into()),
        }
        Ok(8)
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Integer(from) => Arc::new(from.finish()),
            Self::Float(from) => Arc::new(from.finish()),
            Self::Boolean(from) => Arc::new(from.finish()),
            Self::Date(from) => Arc::new(from.finish()),
            Self::Moment(from) => Arc::new(from.finish()),
            Self::Text(from, _) => Arc::new(from.finish()),
        }
    }

    /// Which of the texts are cells of another sort; empty where none is.
    fn take_typed(&mut self) -> Vec<bool> {
        match self {
            Self::Text(_, typed) => {
                let typed = std::mem::take(typed);
                if typed.contains(&true) { typed } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }
}

impl Sheet {
    /// Bytes of memory that the rows take that are kept.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept.as_ref().map_or(0, |kept| kept.bytes())
    }

    /// From now on a column of midnights is one of moments: how that is read, under its name.
    pub(super) fn take_moments(&mut self, column: usize, name: &str) -> Option<Reading> {
        let seen = &mut self.seen[column];
        (seen.ty, seen.are_midnights) = (Type::Timestamp { zone: false }, false);
        let ty = DataType::Timestamp(TimeUnit::Millisecond, None);
        self.columns[column].1 = ty.clone();
        readings(&Schema::new(vec![Field::new(name, ty, true)]), false).pop().map(|mut reading| {
            reading.path = vec![column];
            reading
        })
    }

    /// Reads the rows, a batch of about `batch_bytes` at a time.
    pub(super) fn batches(
        &self,
        sheet: &workbook::Sheet,
        stored: u64,
        names: &SchemaRef,
        batch_bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        let mut batch = Making::of(self, stored, names);
        let mut push = |at, cells: &[(u32, Cell<'_>)]| {
            if at < self.first {
                return Ok(true);
            }
            batch.push(at, cells)?;
            match batch.bytes >= batch_bytes {
                true => batch.give(take),
                false => Ok(true),
            }
        };
        match &self.kept {
            Some(kept) => kept.rows(push)?,
            None => {
                sheet.open()?.rows(&self.name, &self.merged, |at, cells| push(at, cells))?;
            }
        }
        if !batch.about.rows.is_empty() {
            batch.give(take)?;
        }
        Ok(())
    }
}

/// A batch under way.
struct Making<'a> {
    sheet: &'a Sheet,
    names: &'a SchemaRef,
    /// What the workbook takes, and how much of that is used up.
    stored: u64,
    given: u64,
    builders: Vec<Builder>,
    about: SheetRows,
    bytes: usize,
    rows: u64,
    text: Vec<u8>,
}

impl<'a> Making<'a> {
    fn of(sheet: &'a Sheet, stored: u64, names: &'a SchemaRef) -> Self {
        let builders = sheet.columns.iter().map(|(_, ty)| Builder::of(ty)).collect();
        let about = SheetRows::default();
        Self {
            sheet,
            names,
            stored,
            given: 0,
            builders,
            about,
            bytes: 0,
            rows: 0,
            text: Vec::new(),
        }
    }

    fn push(&mut self, at: u32, cells: &[(u32, Cell<'_>)]) -> Result<(), Failure> {
        let mut cells = cells.iter().peekable();
        let row = self.about.rows.len() as u32;
        for (index, ((column, _), builder)) in
            self.sheet.columns.iter().zip(&mut self.builders).enumerate()
        {
            while cells.next_if(|(other, _)| other < column).is_some() {}
            let cell = cells.next_if(|(other, _)| other == column).map(|(_, cell)| cell);
            if let Some(Cell::Bad { shown, why }) = cell {
                let name = format!("{}{}", letters(*column), at + 1);
                let message = match shown.as_str() {
                    "" => format!("{name}: {why}"),
                    shown => format!("{name} is {shown}, {why}"),
                };
                self.about.bad.push(BadCell {
                    row,
                    column: index as u32,
                    shown: shown.as_str().into(),
                    message: message.into(),
                });
            }
            let (nulls, trim) = (&self.sheet.nulls, self.sheet.trims[index].as_ref());
            let cell = cell.filter(|cell| match cell {
                // In a column of texts NULL is found as it is in all others.
                Cell::Text(text) => builder.is_text() || valued(text, index, nulls, trim).is_some(),
                _ => true,
            });
            self.bytes += builder.push(cell, &mut self.text)?;
        }
        self.about.rows.push(at + 1);
        Ok(())
    }

    fn give(&mut self, take: &mut Take<'_>) -> Result<bool, Failure> {
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(self.names), arrays)?;
        let row = self.rows;
        self.rows += batch.num_rows() as u64;
        let share = u128::from(self.stored) * u128::from(self.rows);
        let given = (share / u128::from(self.sheet.rows.max(1))) as u64;
        let stored = given.saturating_sub(self.given);
        self.given += stored;
        self.bytes = 0;
        self.about.typed = self.builders.iter_mut().map(Builder::take_typed).collect();
        let sheet = Some(std::mem::take(&mut self.about));
        Ok(take(Batch { rows: batch, group: 0, row, stored, sheet, spelled: vec![] })?)
    }
}
