//! Workbooks of spreadsheets: which sheets they have, and a sheet's cells, row by row. `calamine` knows the formats.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Read, Seek};
use std::sync::Arc;

/// A range of cells.
pub use calamine::Dimensions;
use calamine::{
    Data, DataRef, ExcelDateTime, ExcelDateTimeType, Ods, OdsError, Range, Reader, SheetType,
    SheetVisible, Xls, XlsError, Xlsb, XlsbError, Xlsx, XlsxError,
};
use inrush_core::encode::write_time;
use inrush_core::error::{Error, Result};
pub use inrush_core::guard::Failure;
use inrush_core::guard::guarded;

use crate::archive::{Refusal, zip};
use crate::number_format::{NumberFormat, Shown};
use crate::place::cannot_open;
use crate::{Place, claims, merged, xls, xlsb};
use inrush_store::Stop;

/// A sheet of a workbook.
#[derive(Debug, PartialEq, Eq)]
pub struct Sheet {
    /// The workbook: a file, or a member of an archive.
    pub book: Place,
    /// The sheet, as the user calls it; the first one, where the user names none.
    pub name: Option<String>,
}

/// The formats of workbooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

/// Rows and columns that a sheet may have.
pub(crate) const ROWS_MAX: u32 = 1 << 20;
pub(crate) const COLUMNS_MAX: u32 = 1 << 14;

/// What files begin with that older Office programs write, and new ones with a password.
const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Bytes that can be read from anywhere.
pub trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

type Bytes = BufReader<Box<dyn Seekable>>;

impl Format {
    /// Whether a file that begins so has to be looked into.
    pub(crate) fn may_be(head: &[u8]) -> bool {
        head.starts_with(COMPOUND) || zip::is_one(head)
    }

    /// The format of a file that begins so, and can be looked into.
    ///
    /// # Errors
    /// When it is a document of an office program, but no workbook.
    pub(crate) fn of(
        head: &[u8],
        open: impl FnOnce() -> io::Result<Box<dyn Seekable>>,
    ) -> Result<Option<Self>, Refusal> {
        if head.starts_with(COMPOUND) {
            return Ok(Some(Self::Xls));
        }
        if !zip::is_one(head) {
            return Ok(None);
        }
        let Some(document) = open().ok().and_then(zip::document) else { return Ok(None) };
        match document {
            zip::Document::Workbook => Ok(Some(Self::Xlsx)),
            zip::Document::BinaryWorkbook => Ok(Some(Self::Xlsb)),
            zip::Document::OpenSheet => Ok(Some(Self::Ods)),
            zip::Document::Other(what) => Err(Refusal::new(
                format!("it is {what}, not a table"),
                "copy the table into a sheet, or save it as CSV",
            )),
        }
    }
}

/// An open workbook.
pub enum Workbook {
    /// Office Open XML, with the workbook's place, for what has to be read beside it.
    Xlsx(Box<Xlsx<Bytes>>, Place),
    /// Its binary form.
    Xlsb(Box<Xlsb<Bytes>>, Place),
    /// Of Excel until 2003.
    Xls(Box<Xls<Bytes>>, Place),
    /// OpenDocument.
    Ods(Box<Ods<Bytes>>, Place),
}

macro_rules! each_format {
    ($workbook:expr, $book:ident => $what:expr) => {
        match $workbook {
            Workbook::Xlsx($book, _) => $what,
            Workbook::Xlsb($book, _) => $what,
            Workbook::Xls($book, _) => $what,
            Workbook::Ods($book, _) => $what,
        }
    };
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// TRUE or FALSE.
    Boolean(bool),
    /// Days since 1970.
    Date(i32),
    /// Milliseconds since 1970, without a zone.
    Moment(i64),
    /// Anything else, as it is shown.
    Text(Cow<'a, str>),
    /// No value, though it isn't empty.
    Bad {
        /// What the cell shows.
        shown: String,
        /// What it is instead of a value.
        why: &'static str,
    },
}

impl Cell<'_> {
    /// The same, with its text.
    #[must_use]
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Integer(number) => Cell::Integer(number),
            Self::Float(number) => Cell::Float(number),
            Self::Boolean(truth) => Cell::Boolean(truth),
            Self::Date(days) => Cell::Date(days),
            Self::Moment(ms) => Cell::Moment(ms),
            Self::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
            Self::Bad { shown, why } => Cell::Bad { shown, why },
        }
    }
}

/// The names of the other sheets of a workbook that hold tables.
#[derive(Debug)]
pub struct Others {
    shown: Vec<String>,
    hidden: Vec<String>,
}

impl Others {
    /// One of them, a shown one before others.
    pub fn first(&self) -> Option<&str> {
        self.shown.first().or(self.hidden.first()).map(String::as_str)
    }

    /// All of them: `A, B, C (hidden)`.
    pub fn words(&self) -> String {
        let hidden = self.hidden.iter().map(|name| format!("{name} (hidden)"));
        self.shown.iter().cloned().chain(hidden).collect::<Vec<_>>().join(", ")
    }
}

impl Sheet {
    /// Opens the workbook.
    ///
    /// # Errors
    /// When it is none, or damaged.
    pub fn open(&self) -> Result<Workbook> {
        let name = self.book.name();
        let fail = |error: io::Error| cannot_open(&name, &error);
        let mut head = Vec::new();
        self.book
            .open(0, &Stop::default())
            .and_then(|book| book.take(8).read_to_end(&mut head))
            .map_err(fail)?;
        let format = Format::of(&head, || self.book.seekable());
        let format = format.map_err(|refusal| refusal.of(&name))?;
        let bytes = BufReader::with_capacity(64 << 10, self.book.seekable().map_err(fail)?);
        let open = || match format {
            Some(Format::Xlsx) => {
                let book = Xlsx::new(bytes).map_err(of_xlsx)?;
                Ok(Workbook::Xlsx(Box::new(book), self.book.clone()))
            }
            Some(Format::Xlsb) => {
                let book = Xlsb::new(bytes).map_err(|error| of_any(&error))?;
                Ok(Workbook::Xlsb(Box::new(book), self.book.clone()))
            }
            Some(Format::Ods) => {
                let book = Ods::new(bytes).map_err(of_ods)?;
                Ok(Workbook::Ods(Box::new(book), self.book.clone()))
            }
            Some(Format::Xls) => {
                let book = compound(bytes)?;
                Ok(Workbook::Xls(Box::new(book), self.book.clone()))
            }
            None => Err(Refusal::new("it is no workbook", "name an .xlsx, .xls or .ods file")),
        };
        guarded(open).map_err(|failure| match failure.downcast::<Refusal>() {
            Ok(refusal) => refusal.of(&name),
            Err(failure) => of_any(&failure).of(&name),
        })
    }

    /// Whether it is the same sheet as the other one, which is of the same workbook: the first one is by its name as well, and names are
    /// the same in upper case.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.name, &other.name) {
            (own, other) if own == other => true,
            (Some(own), Some(other)) if !own.eq_ignore_ascii_case(other) => false,
            _ => {
                let Ok(book) = self.open() else { return false };
                let found = |sheet: &Self| sheet.find(&book).ok().map(|(name, _)| name);
                found(self).is_some_and(|name| found(other) == Some(name))
            }
        }
    }

    /// The sheet's name in the workbook, and the others that hold tables.
    ///
    /// # Errors
    /// When there is no such sheet.
    pub fn find(&self, book: &Workbook) -> Result<(String, Others)> {
        let sheets = each_format!(book, book => book.sheets_metadata());
        let tables = || sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        let shown = || tables().filter(|sheet| sheet.visible == SheetVisible::Visible);
        let found = match &self.name {
            None => shown().next().or_else(|| tables().next()),
            Some(name) => {
                let alike = || tables().find(|sheet| sheet.name.eq_ignore_ascii_case(name));
                tables().find(|sheet| sheet.name == *name).or_else(alike)
            }
        };
        let others = |is_shown: bool| -> Vec<String> {
            let is_other = |name: &String| found.is_none_or(|found| found.name != *name);
            let of_kind =
                |sheet: &&calamine::Sheet| (sheet.visible == SheetVisible::Visible) == is_shown;
            tables().filter(of_kind).map(|sheet| sheet.name.clone()).filter(is_other).collect()
        };
        let others = Others { shown: others(true), hidden: others(false) };
        let Some(found) = found else {
            let (book, all) = (self.book.name(), others.words());
            return Err(match &self.name {
                Some(name) => Error::source(format!("{book} has no sheet '{name}': it has {all}")),
                None => Error::source(format!("{book} has no sheet with cells")),
            }
            .about(&book));
        };
        Ok((found.name.clone(), others))
    }

    /// Ranges of cells of the sheet with this name that are shown as one.
    ///
    /// # Errors
    /// When the workbook is damaged.
    pub fn merged(&self, book: &mut Workbook, name: &str) -> Result<Vec<Dimensions>, Failure> {
        match book {
            Workbook::Xlsx(_, place) if !guarded(|| merged::may_be_in_xlsx(place.seekable()?))? => {
                Ok(Vec::new())
            }
            Workbook::Xlsx(book, _) => guarded(|| book.merge_cells_by_sheet_name(name)),
            Workbook::Xls(book, _) => guarded(|| book.merge_cells_by_sheet_name(name)),
            Workbook::Ods(..) => guarded(|| merged::of_ods(self.book.seekable()?, name)),
            Workbook::Xlsb(_, place) => guarded(|| xlsb::merged(place.seekable()?, name)),
        }
    }
}

/// A file in a container of older Office programs: a workbook, or one that is encrypted.
fn compound(mut bytes: Bytes) -> Result<Xls<Bytes>, Refusal> {
    /// The names of its streams are in UTF-16, at its end or at its start.
    const LOOK_BYTES: u64 = 16 << 20;
    let mut all = Vec::new();
    let io = |error: io::Error| Refusal::new(error.to_string(), "check the file");
    bytes.by_ref().take(LOOK_BYTES).read_to_end(&mut all).map_err(io)?;
    let has = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memchr::memmem::find(&all, &name).is_some()
    };
    if has("EncryptedPackage") {
        return Err(encrypted());
    }
    if has("WordDocument") || has("PowerPoint Document") {
        return Err(Refusal::new(
            "it is an old Office document, not a workbook",
            "copy the table into a sheet, or save it as CSV",
        ));
    }
    bytes.rewind().map_err(io)?;
    match Xls::new(bytes) {
        Ok(book) => Ok(book),
        Err(XlsError::Password) => Err(encrypted()),
        Err(error) => Err(of_any(&error)),
    }
}

fn encrypted() -> Refusal {
    Refusal::new("the workbook is encrypted", "save it without a password first")
}

fn of_xlsx(error: XlsxError) -> Refusal {
    match error {
        XlsxError::Password => encrypted(),
        error => of_any(&error),
    }
}

fn of_ods(error: OdsError) -> Refusal {
    match error {
        OdsError::Password => encrypted(),
        error => of_any(&error),
    }
}

fn of_any(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(
        format!("cannot be read as a workbook: {error}"),
        "check that it is whole, or save the sheet as CSV",
    )
}

impl Workbook {
    /// Whether a sheet is in memory as a whole when it is read.
    pub fn is_read_whole(&self) -> bool {
        matches!(self, Self::Xls(..) | Self::Ods(..))
    }

    /// Hands on the rows of a sheet that hold anything, with their numbers from 0: each cell that isn't empty with its column, those aside
    /// that a merged range covers. False says that no more are wanted.
    ///
    /// # Errors
    /// When the workbook is damaged, and those of `take`.
    pub fn rows(
        &mut self,
        sheet: &str,
        merged: &[Dimensions],
        mut take: impl FnMut(u32, &mut Vec<(u32, Cell<'_>)>) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let mut covered = Covered::by(merged);
        let mut take = |at, cells: &mut Vec<(u32, Cell<'_>)>| {
            if let Some((column, _)) = cells.iter().find(|(column, _)| *column >= COLUMNS_MAX) {
                let column = u64::from(*column) + 1;
                return Err(format!("column {column} is beyond a sheet's last").into());
            }
            covered.leave_out(at, cells);
            if cells.is_empty() { Ok(true) } else { take(at, cells) }
        };
        match self {
            Self::Xlsx(book, place) => {
                let formats = formats(book, sheet)?;
                let none = Strange::new();
                let Some(from) = xlsx_rows(book, sheet, &formats, &none, 0, &mut take)? else {
                    return Ok(());
                };
                let strange = strange_errors(book, place, sheet)?;
                xlsx_rows(book, sheet, &formats, &strange, from, &mut take).map(|_| ())
            }
            Self::Xlsb(book, place) => xlsb_rows(book, place, sheet, take),
            Self::Xls(book, place) => {
                let number = book.sheets_metadata().iter().position(|one| one.name == sheet);
                let times = xls::times(place.seekable()?, number.unwrap_or(0))?;
                whole(&mut **book, sheet, &times, take)
            }
            Self::Ods(book, place) => {
                let times = guarded(|| merged::times_of_ods(place.seekable()?, sheet))?;
                whole(&mut **book, sheet, &times, take)
            }
        }
    }
}

/// Cells that merged ranges cover: what stands in one is not shown, and no value.
struct Covered<'a> {
    /// In the order of their first rows.
    ranges: Vec<&'a Dimensions>,
    begun: usize,
    /// Those of `ranges` that have not ended before the row.
    here: Vec<&'a Dimensions>,
}

impl<'a> Covered<'a> {
    fn by(merged: &'a [Dimensions]) -> Self {
        let mut ranges: Vec<_> = merged.iter().collect();
        ranges.sort_by_key(|range| range.start);
        Self { ranges, begun: 0, here: Vec::new() }
    }

    /// Leaves such cells out of a row; rows come in their order.
    fn leave_out(&mut self, row: u32, cells: &mut Vec<(u32, Cell<'_>)>) {
        while let Some(range) = self.ranges.get(self.begun)
            && range.start.0 <= row
        {
            self.here.push(range);
            self.begun += 1;
        }
        self.here.retain(|range| range.end.0 >= row);
        if !self.here.is_empty() {
            cells.retain(|(column, _)| {
                let at = (row, *column);
                !self.here.iter().any(|range| {
                    at != range.start && (range.start.1..=range.end.1).contains(column)
                })
            });
        }
    }
}

/// Errors that `calamine` has no name for, such as `#SPILL!`: for the number of the cell in the sheet, where it is and what it shows.
type Strange = HashMap<u64, ((u32, u32), String)>;

/// The rows of a sheet from one on, read as they come. Where there is an error that `strange` doesn't have, nothing of its row is handed
/// on, and that row's number is the answer.
fn xlsx_rows(
    book: &mut Xlsx<Bytes>,
    sheet: &str,
    formats: &Formats,
    strange: &Strange,
    from: u32,
    take: &mut impl FnMut(u32, &mut Vec<(u32, Cell<'_>)>) -> Result<bool, Failure>,
) -> Result<Option<u32>, Failure> {
    let since_1904 = book.has_1904_epoch();
    let mut reader = guarded(|| book.worksheet_cells_reader(sheet))?;
    let (mut at, mut row) = (0, Vec::new());
    let mut last_strange = None;
    for number in 0.. {
        let next = guarded(|| reader.next_cell_with_formula_metadata());
        let (place, cell) = match next {
            Ok(None) => break,
            Ok(Some(found)) => {
                let value = match &found.value {
                    DataRef::Int(number) => Some(*number as f64),
                    DataRef::Float(number) => Some(*number),
                    // By the first section of its format alone.
                    DataRef::DateTime(moment) => Some(moment.as_f64()),
                    _ => None,
                };
                let shown = match formats.of_cell(found.pos).zip(value) {
                    Some((format, value)) => Some(shown_as(value, format, since_1904)),
                    None => cell(found.value, found.formula.is_some(), formats.have_times),
                };
                (found.pos, shown)
            }
            Err(failure) if strange_error(&failure).is_some() => match strange.get(&number) {
                None => return Ok(Some(at)),
                Some((place, shown)) => {
                    last_strange = Some(*place);
                    (*place, Some(error_cell(shown.clone())))
                }
            },
            Err(failure) => return Err(failure),
        };
        let (here, column) = place;
        if here != at {
            if here < at {
                return Err(format!("row {} comes behind row {}", here + 1, at + 1).into());
            }
            in_order(at, &mut row)?;
            if at >= from && !row.is_empty() && !take(at, &mut row)? {
                return Ok(None);
            }
            row.clear();
            at = here;
        }
        // Where cells have no addresses they are counted, and those that fail are not.
        if row
            .last()
            .is_some_and(|(last, _)| Some((here, *last)) == last_strange && *last >= column)
        {
            return Err(format!("the cells of row {} have no addresses", here + 1).into());
        }
        if let Some(cell) = cell {
            row.push((column, cell));
        }
    }
    in_order(at, &mut row)?;
    if at >= from && !row.is_empty() {
        take(at, &mut row)?;
    }
    Ok(None)
}

/// Brings the cells of a row into order, as they nearly always are. Two in one place are refused: one of them would be lost.
fn in_order(at: u32, cells: &mut [(u32, Cell<'_>)]) -> Result<(), Failure> {
    if cells.is_sorted_by(|(one, _), (next, _)| one < next) {
        return Ok(());
    }
    cells.sort_by_key(|(column, _)| *column);
    match cells.windows(2).find(|two| two[0].0 == two[1].0) {
        Some(two) => Err(twice(at, two[0].0)),
        None => Ok(()),
    }
}

/// A workbook that has two cells in one place.
pub(crate) fn twice(row: u32, column: u32) -> Failure {
    format!("cell {}{} comes twice", letters(column), u64::from(row) + 1).into()
}

/// What a cell shows that `calamine` fails at.
fn strange_error(failure: &Failure) -> Option<&str> {
    match failure.downcast_ref::<XlsxError>() {
        Some(XlsxError::CellError(shown)) => Some(shown),
        _ => None,
    }
}

/// What the cells of a sheet are shown as, where `calamine` doesn't tell.
#[derive(Default)]
struct Formats {
    /// Whether all days have times of day, and no format has conditions.
    have_times: bool,
    /// Else by column, in the order of their first rows, those that follow each other with one format.
    runs: HashMap<u32, Vec<Run>>,
}

struct Run {
    first: u32,
    last: u32,
    format: Arc<NumberFormat>,
}

impl Formats {
    fn of_cell(&self, (row, column): (u32, u32)) -> Option<&NumberFormat> {
        let runs = self.runs.get(&column)?;
        let run = &runs[..runs.partition_point(|run| run.first <= row)].last()?;
        (row <= run.last).then_some(&*run.format)
    }

    fn add(&mut self, row: u32, column: u32, format: &Arc<NumberFormat>) {
        let runs = self.runs.entry(column).or_default();
        match runs.last_mut() {
            Some(run)
                if Arc::ptr_eq(&run.format, format) && run.last.checked_add(1) == Some(row) =>
            {
                run.last = row;
            }
            _ => runs.push(Run { first: row, last: row, format: Arc::clone(format) }),
        }
    }
}

/// In most workbooks days are shown in one way, and then the cells' styles are not looked at.
fn formats(book: &mut Xlsx<Bytes>, sheet: &str) -> Result<Formats, Failure> {
    let mut reader = guarded(|| book.worksheet_cells_reader(sheet))?;
    let code = |style: &calamine::Style| {
        let format = style.number_format.as_ref()?;
        let by_number = || NumberFormat::code(u16::try_from(format.format_id?).ok()?);
        let is_known = NumberFormat::of(&format.format_code).is_some();
        by_number().filter(|_| !is_known).map(str::to_owned).or(Some(format.format_code.clone()))
    };
    let codes: Vec<Option<String>> = reader.styles().iter().map(code).collect();
    let of = |code: &Option<String>| NumberFormat::of(code.as_deref()?).map(Arc::new);
    let formats: Vec<Option<Arc<NumberFormat>>> = codes.iter().map(of).collect();
    let mut found = Formats::default();
    if formats.iter().all(Option::is_none) {
        return Ok(found);
    }
    if !formats.iter().flatten().any(|format| format.is_conditional())
        && !codes.iter().flatten().any(|code| NumberFormat::is_of_days(code))
    {
        found.have_times = true;
        return Ok(found);
    }
    while let Some((row, column, style)) = guarded(|| reader.next_style_id())? {
        if let Some(format) = formats.get(style).and_then(Option::as_ref) {
            found.add(row, column, format);
        }
    }
    Ok(found)
}

/// What a format shows a number as.
pub(crate) fn shown_as(number: f64, format: &NumberFormat, since_1904: bool) -> Cell<'static> {
    let shown = format.shown(number);
    let sort = match shown {
        Shown::Number => return number_of(number),
        Shown::Day | Shown::Moment => ExcelDateTimeType::DateTime,
        Shown::Duration => ExcelDateTimeType::TimeDelta,
    };
    moment_of(ExcelDateTime::new(number, sort, since_1904), shown == Shown::Moment)
}

/// All of a sheet's errors that have no name: which cells fail, and where those are. It takes two more looks, since what fails doesn't say
/// where it is, and formulas are read without values.
fn strange_errors(book: &mut Xlsx<Bytes>, place: &Place, sheet: &str) -> Result<Strange, Failure> {
    claims::expect_formulas(place.seekable()?)?;
    let mut shown = HashMap::new();
    let mut reader = guarded(|| book.worksheet_cells_reader(sheet))?;
    for number in 0u64.. {
        match guarded(|| reader.next_cell_with_formula_metadata().map(|found| found.is_none())) {
            Ok(true) => break,
            Ok(false) => {}
            Err(failure) => match strange_error(&failure) {
                Some(error) => drop(shown.insert(number, error.to_owned())),
                None => return Err(failure),
            },
        }
    }
    drop(reader);
    let mut strange = Strange::new();
    let mut reader = guarded(|| book.worksheet_cells_reader(sheet))?;
    for number in 0.. {
        let Some(found) = guarded(|| reader.next_formula())? else { break };
        if let Some(error) = shown.remove(&number) {
            strange.insert(number, (found.get_position(), error));
        }
    }
    Ok(strange)
}

/// The same of a binary workbook, with the cells that `calamine` skips or fails at, which are read from the same records beside it.
fn xlsb_rows(
    book: &mut Xlsb<Bytes>,
    place: &Place,
    sheet: &str,
    mut take: impl FnMut(u32, &mut Vec<(u32, Cell<'_>)>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let since_1904 = book.has_1904_epoch();
    let mut reader = guarded(|| book.worksheet_cells_reader(sheet))?;
    let mut next_cell = || {
        loop {
            match guarded(|| reader.next_cell()) {
                Ok(None) => return Ok(None),
                Ok(Some(found)) => {
                    if let Some(cell) = cell(found.get_value().clone(), false, false) {
                        return Ok(Some((found.get_position(), cell)));
                    }
                }
                // One without a name, which is read beside.
                Err(failure) if matches!(failure.downcast_ref(), Some(XlsbError::CellError(_))) => {
                }
                Err(failure) => return Err(failure),
            }
        }
    };
    let mut parts = xlsb::parts(place.seekable()?)?;
    let mut others = xlsb::Others::of(&mut parts, sheet, since_1904)?;
    let (mut cell, mut other) = (next_cell()?, others.next()?);
    let (mut row, mut last) = (Vec::new(), None);
    loop {
        let rows = [cell.as_ref().map(|(at, _)| at.0), other.as_ref().map(|(at, _)| at.0)];
        let Some(at) = rows.into_iter().flatten().min() else { return Ok(()) };
        if let Some(last) = last.filter(|last| at < *last) {
            return Err(format!("row {} comes behind row {}", at + 1, last + 1).into());
        }
        last = Some(at);
        row.clear();
        while let Some(((_, column), found)) = cell.take_if(|((row, _), _)| *row == at) {
            row.push((column, found));
            cell = next_cell()?;
        }
        while let Some(((_, column), found)) = other.take_if(|((row, _), _)| *row == at) {
            row.push((column, found));
            other = others.next()?;
        }
        // Of two in one place the one that was read beside comes later, and is the cell: the workbook has it once.
        row.sort_by_key(|(column, _)| *column);
        row.dedup_by(|later, cell| {
            let is_same = later.0 == cell.0;
            if is_same {
                std::mem::swap(later, cell);
            }
            is_same
        });
        if !row.is_empty() && !take(at, &mut row)? {
            return Ok(());
        }
    }
}

/// The same of a format whose sheets are in memory when they are read; `times` are the cells that are shown with a time of day.
fn whole<R: Reader<Bytes>>(
    book: &mut R,
    sheet: &str,
    times: &HashSet<(u32, u32)>,
    take: impl FnMut(u32, &mut Vec<(u32, Cell<'_>)>) -> Result<bool, Failure>,
) -> Result<(), Failure>
where
    R::Error: Into<Failure>,
{
    let cells = guarded(|| book.worksheet_range(sheet))?;
    let formulas = guarded(|| book.worksheet_formula(sheet))?;
    range_rows(&cells, &formulas, times, take)
}

/// The same of a sheet that is in memory.
fn range_rows(
    cells: &Range<Data>,
    formulas: &Range<String>,
    times: &HashSet<(u32, u32)>,
    mut take: impl FnMut(u32, &mut Vec<(u32, Cell<'_>)>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let corners = [cells.start(), formulas.start()];
    let ends = [cells.end(), formulas.end()];
    let Some(first) = corners.iter().flatten().map(|(row, _)| *row).min() else { return Ok(()) };
    let last = ends.iter().flatten().map(|(row, _)| *row).max().unwrap_or(first);
    let left = corners.iter().flatten().map(|(_, column)| *column).min().unwrap_or(0);
    let right = ends.iter().flatten().map(|(_, column)| *column).max().unwrap_or(left);
    let mut found = Vec::new();
    for row in first..=last {
        found.clear();
        for column in left..=right {
            let value = match cells.get_value((row, column)) {
                None | Some(Data::Empty) => DataRef::Empty,
                Some(Data::Int(number)) => DataRef::Int(*number),
                Some(Data::Float(number)) => DataRef::Float(*number),
                Some(Data::String(text)) => DataRef::SharedString(text),
                Some(Data::Bool(truth)) => DataRef::Bool(*truth),
                Some(Data::DateTime(moment)) => DataRef::DateTime(*moment),
                Some(Data::DateTimeIso(text)) => DataRef::DateTimeIso(text.clone()),
                Some(Data::DurationIso(text)) => DataRef::DurationIso(text.clone()),
                Some(Data::Error(error)) => DataRef::Error(error.clone()),
                #[allow(unreachable_patterns)]
                Some(other) => DataRef::String(other.to_string()),
            };
            let formula = formulas.get_value((row, column));
            let is_formula = formula.is_some_and(|formula| !formula.is_empty());
            if let Some(cell) = cell(value, is_formula, times.contains(&(row, column))) {
                found.push((column, cell));
            }
        }
        if !found.is_empty() && !take(row, &mut found)? {
            break;
        }
    }
    Ok(())
}

/// What a cell holds; nothing, where it is empty. `has_time` says whether a day would be shown with a time of day.
fn cell(value: DataRef<'_>, is_formula: bool, has_time: bool) -> Option<Cell<'_>> {
    Some(match value {
        DataRef::Empty if is_formula => Cell::Bad {
            shown: String::new(),
            why: "the formula has no stored value: open the workbook in its program, and save it",
        },
        DataRef::Empty => return None,
        DataRef::Int(number) => Cell::Integer(number),
        DataRef::Float(number) => number_of(number),
        DataRef::Bool(truth) => Cell::Boolean(truth),
        // OpenDocument has errors as texts of formulas.
        DataRef::SharedString(text) if is_formula && is_error(text) => error_cell(text.to_owned()),
        DataRef::String(text) if is_formula && is_error(&text) => error_cell(text),
        DataRef::SharedString(text) => return text_of(Cow::Borrowed(text)),
        DataRef::String(text) => return text_of(Cow::Owned(text)),
        DataRef::DateTime(moment) => moment_of(moment, has_time),
        DataRef::DateTimeIso(text) => iso_moment_of(text, has_time),
        DataRef::DurationIso(text) => iso_time_of(text),
        DataRef::Error(error) => error_cell(error.to_string()),
        #[allow(unreachable_patterns)]
        other => return text_of(Cow::Owned(format!("{other:?}"))),
    })
}

pub(crate) fn error_cell(shown: String) -> Cell<'static> {
    Cell::Bad { shown, why: "an error and no value" }
}

/// Whether a formula's text is an error of a spreadsheet: `#DIV/0!` and so on, or `Err:502`, as LibreOffice has it.
pub(crate) fn is_error(text: &str) -> bool {
    /// Microsoft's ERROR.TYPE names most of them.
    const ERRORS: [&str; 17] = [
        "#NULL!",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
        "#NAME?",
        "#NUM!",
        "#N/A",
        "#GETTING_DATA",
        "#SPILL!",
        "#CONNECT!",
        "#BLOCKED!",
        "#UNKNOWN!",
        "#FIELD!",
        "#CALC!",
        "#BUSY!",
        "#PYTHON!",
        "#EXTERNAL!",
    ];
    ERRORS.contains(&text)
        || text.strip_prefix("Err:").is_some_and(|number| {
            number.len() == 3 && number.bytes().all(|digit| digit.is_ascii_digit())
        })
}

fn text_of(text: Cow<'_, str>) -> Option<Cell<'_>> {
    (!text.is_empty()).then_some(Cell::Text(text))
}

/// From here on a whole double is what several integers become.
const INEXACT_FROM: f64 = 9_007_199_254_740_992.0;

/// Whether a cell may have been another integer before its program made a double of it.
pub fn is_inexact(number: f64) -> bool {
    // Beyond 64 bits these are measurements.
    number.fract() == 0.0 && (INEXACT_FROM..u64::MAX as f64).contains(&number.abs())
}

/// Whole doubles are integers as far as each of them is one of its own.
fn number_of(number: f64) -> Cell<'static> {
    match number.fract() == 0.0 && number.abs() < INEXACT_FROM {
        true => Cell::Integer(number as i64),
        false => Cell::Float(number),
    }
}

const DAY_MS: i64 = 86_400_000;

/// A number that is shown as a day, a moment, a time of day or a duration. `has_time` says that a midnight is shown as one, and is no day.
fn moment_of(moment: ExcelDateTime, has_time: bool) -> Cell<'static> {
    /// The day behind 9999-12-31.
    const END: f64 = 2_958_466.0;
    let number = moment.as_f64();
    if moment.is_duration() {
        let ms = (number * DAY_MS as f64).round() as i64;
        return Cell::Text(Cow::Owned(duration(ms)));
    }
    if !(0.0..END).contains(&number) {
        return number_of(number);
    }
    if number < 1.0 {
        let ms = ((number * DAY_MS as f64).round() as i64).min(DAY_MS - 1);
        return Cell::Text(Cow::Owned(time(ms)));
    }
    let (year, month, day, hour, minute, second, ms) = moment.to_ymd_hms_milli();
    let text = format!("{year:04}-{month:02}-{day:02}");
    let Some(days) = inrush_scan::date_days(text.as_bytes()) else {
        // Excel has a 29 February 1900.
        return Cell::Bad { shown: text, why: "no day of the calendar" };
    };
    let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    match seconds * 1_000 + i64::from(ms) {
        0 if !has_time => Cell::Date(days),
        of_day => Cell::Moment(i64::from(days) * DAY_MS + of_day),
    }
}

fn time(ms: i64) -> String {
    let mut text = Vec::new();
    write_time(ms * 1_000_000, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// As ISO 8601 has it, and as durations of other sources are written.
fn duration(ms: i64) -> String {
    let sign = if ms < 0 { "-" } else { "" };
    let (seconds, ms) = (ms.unsigned_abs() / 1_000, ms.unsigned_abs() % 1_000);
    match ms {
        0 => format!("PT{sign}{seconds}S"),
        ms => format!("PT{sign}{}S", format!("{seconds}.{ms:03}").trim_end_matches('0')),
    }
}

/// OpenDocument has one type for times of day and durations: an XML Schema duration (OpenDocument 1.3, part 3, 19.383). One of less than a
/// day is what its programs show as a time of day.
fn iso_time_of(text: String) -> Cell<'static> {
    match iso_milliseconds(&text) {
        Some(ms @ 0..DAY_MS) => Cell::Text(Cow::Owned(time(ms))),
        Some(ms) => Cell::Text(Cow::Owned(duration(ms))),
        None => Cell::Text(Cow::Owned(text)),
    }
}

/// The milliseconds of `PT13H30M00.5S` and its like; `None` of what has other parts, or is finer.
fn iso_milliseconds(text: &str) -> Option<i64> {
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut rest = rest.strip_prefix("PT")?;
    let mut total = 0_i64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (whole, fraction) = rest[..end].split_once('.').unwrap_or((&rest[..end], ""));
        let unit_ms = match (rest.as_bytes()[end], fraction) {
            (b'H', "") => 3_600_000,
            (b'M', "") => 60_000,
            (b'S', _) => 1_000,
            _ => return None,
        };
        let fraction = fraction.trim_end_matches('0');
        let thousandths = format!("{fraction:0<3}");
        let ms = (thousandths.len() == 3).then(|| thousandths.parse::<i64>().ok())??;
        let units = whole.parse::<i64>().ok()?;
        total = total.checked_add(units.checked_mul(unit_ms)?)?.checked_add(ms)?;
        rest = &rest[end + 1..];
    }
    Some(sign * total)
}

/// OpenDocument writes days and moments as text of ISO 8601. One with an offset from UTC is no moment of the others' kind, which clocks show.
/// Its programs write no time of day for a midnight, however that is shown.
fn iso_moment_of(text: String, has_time: bool) -> Cell<'static> {
    if let Some(days) = inrush_scan::date_days(text.as_bytes()) {
        return match has_time {
            true => Cell::Moment(i64::from(days) * DAY_MS),
            false => Cell::Date(days),
        };
    }
    let zone = inrush_scan::read_timestamp(text.as_bytes()).map(|found| found.zone);
    if zone == Some(inrush_scan::Zone::Offset) {
        return Cell::Text(Cow::Owned(text));
    }
    match inrush_scan::timestamp_micros(text.as_bytes()) {
        Some(micros) if micros % 1_000 == 0 => Cell::Moment(micros / 1_000),
        _ => Cell::Text(Cow::Owned(text)),
    }
}

/// The name of a column as spreadsheets have it, of its number from 0.
pub fn letters(mut column: u32) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'A' + (column % 26) as u8);
        if column < 26 {
            break;
        }
        column = column / 26 - 1;
    }
    letters.reverse();
    String::from_utf8_lossy(&letters).into_owned()
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType::{DateTime, TimeDelta};

    use super::*;

    #[test]
    fn columns_are_named_by_letters() {
        let names = [0, 25, 26, 27, 701, 702, 16_383].map(letters);
        assert_eq!(names, ["A", "Z", "AA", "AB", "ZZ", "AAA", "XFD"]);
    }

    #[test]
    fn days_moments_times_and_durations_are_told_apart() {
        let of = |number, sort| moment_of(ExcelDateTime::new(number, sort, false), false);
        assert_eq!(of(45_322.0, DateTime), Cell::Date(19_753));
        assert_eq!(of(45_322.5, DateTime), Cell::Moment((19_753 * 24 + 12) * 3_600_000));
        assert_eq!(of(1.0, DateTime), Cell::Date(-25_567));
        assert_eq!(of(59.0, DateTime), Cell::Date(-25_509));
        assert!(matches!(of(60.0, DateTime), Cell::Bad { .. }));
        assert_eq!(of(61.0, DateTime), Cell::Date(-25_508));
        assert_eq!(of(0.75, DateTime), Cell::Text("18:00:00".into()));
        assert_eq!(of(1.5, TimeDelta), Cell::Text("PT129600S".into()));
        assert_eq!(of(-0.5 / 86_400.0, TimeDelta), Cell::Text("PT-0.5S".into()));
        assert_eq!(of(-1.0, DateTime), Cell::Integer(-1));
        assert_eq!(of(3e9, DateTime), Cell::Integer(3_000_000_000));
        let midnight = moment_of(ExcelDateTime::new(45_322.0, DateTime, false), true);
        assert_eq!(midnight, Cell::Moment(19_753 * DAY_MS));
        let early = moment_of(ExcelDateTime::new(1.0, DateTime, true), false);
        assert_eq!(early, Cell::Date(-24_106));
    }

    #[test]
    fn moments_with_an_offset_keep_it() {
        let of = |text: &str| iso_moment_of(text.to_owned(), false);
        assert_eq!(of("2024-01-31"), Cell::Date(19_753));
        assert_eq!(of("2024-01-31T00:00:00"), Cell::Moment(19_753 * DAY_MS));
        assert_eq!(iso_moment_of("2024-01-31".to_owned(), true), Cell::Moment(19_753 * DAY_MS));
        assert_eq!(of("2024-01-31T12:00:00"), Cell::Moment((19_753 * 24 + 12) * 3_600_000));
        for text in ["2024-01-31T12:00:00+02:00", "2024-01-31T00:00:00Z"] {
            assert_eq!(of(text), Cell::Text(text.into()));
        }
    }

    #[test]
    fn times_of_opendocument_are_of_a_day_or_durations() {
        let of = |text: &str| match iso_time_of(text.to_owned()) {
            Cell::Text(text) => text.into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(of("PT13H30M00S"), "13:30:00");
        assert_eq!(of("PT00H00M07.250S"), "00:00:07.25");
        assert_eq!(of("PT30H00M00S"), "PT108000S");
        assert_eq!(of("-PT00H00M00.5S"), "PT-0.5S");
        for text in ["P1DT2H", "PT1.5H", "PT1H2", "PT0.0001S", ""] {
            assert_eq!(of(text), text);
        }
    }

    #[test]
    fn whole_numbers_are_integers() {
        assert_eq!(number_of(3.0), Cell::Integer(3));
        assert_eq!(number_of(-0.0), Cell::Integer(0));
        assert_eq!(number_of(1e300), Cell::Float(1e300));
        assert_eq!(number_of(9_007_199_254_740_991.0), Cell::Integer(9_007_199_254_740_991));
        let first = 9_007_199_254_740_992.0;
        assert_eq!(number_of(first), Cell::Float(first));
        assert_eq!(
            [first - 1.0, first, -first, 1e300, 0.5].map(is_inexact),
            [false, true, true, false, false]
        );
        assert_eq!(number_of(0.1), Cell::Float(0.1));
    }
}
