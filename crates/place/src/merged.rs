//! What `calamine` does not read of OpenDocument's sheets, merged ranges and how days are shown: the part of the workbook that has the
//! sheets is read once more. Of others, whether there is a merged range at all.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Seek};

use calamine::Dimensions;
use memchr::memmem;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use zip::ZipArchive;

use crate::workbook::{COLUMNS_MAX, Failure, ROWS_MAX};

/// The most that are taken: one for each row of the longest sheet. Repeated rows make many out of few bytes.
pub(crate) const RANGES_MAX: usize = ROWS_MAX as usize;

const TABLE: &str = "table:table";
const ROW: &str = "table:table-row";
const CELL: &str = "table:table-cell";
/// A cell that a range covers.
const COVERED: &str = "table:covered-table-cell";

/// Whether a workbook of Office Open XML may have merged ranges (ECMA-376-1, 18.3.1.55). They stand behind all cells of a sheet, which would
/// have to be read for them, and few workbooks have any.
pub(crate) fn may_be_in_xlsx(book: impl Read + Seek) -> Result<bool, Failure> {
    const ELEMENT: &[u8] = b"mergeCell";
    let finder = memmem::Finder::new(ELEMENT);
    let mut archive = ZipArchive::new(BufReader::new(book))?;
    let mut bytes = vec![0; 64 << 10];
    for index in 0..archive.len() {
        // Whoever needs a part that can't be unpacked says so.
        let Ok(mut part) = archive.by_index(index) else { continue };
        let mut kept = 0;
        loop {
            let end = match part.read(&mut bytes[kept..]) {
                Ok(0) => break,
                Ok(count) => kept + count,
                Err(_) => return Ok(true),
            };
            if finder.find(&bytes[..end]).is_some() {
                return Ok(true);
            }
            kept = end.min(ELEMENT.len() - 1);
            bytes.copy_within(end - kept..end, 0);
        }
    }
    Ok(false)
}

/// Those of OpenDocument (version 1.3, part 3, 19.676 and 19.679): a cell says how many columns and rows it spans.
pub(crate) fn of_ods(book: impl Read + Seek, sheet: &str) -> Result<Vec<Dimensions>, Failure> {
    let mut archive = ZipArchive::new(BufReader::new(book))?;
    let mut content = xml(BufReader::new(archive.by_name("content.xml")?));
    let mut ranges = Vec::new();
    while reaches_table(&mut content, sheet, |_| Ok(()))? {
        // Of two of one name the last one's cells are read.
        ranges = of_table(&mut content)?;
    }
    Ok(ranges)
}

/// Goes on to where the next table of this name has begun, if there is one. `see` gets what begins before.
fn reaches_table(
    content: &mut Reader<impl BufRead>,
    sheet: &str,
    mut see: impl FnMut(&BytesStart<'_>) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match content.read_event_into(&mut buffer)? {
            Event::Start(element)
                if element.name() == QName(TABLE)
                    && attribute(&element, "table:name")?.as_deref() == Some(sheet) =>
            {
                return Ok(true);
            }
            Event::Start(element) => see(&element)?,
            Event::Eof => return Ok(false),
            _ => {}
        }
    }
}

/// Those of the table that has just begun.
fn of_table(content: &mut Reader<impl BufRead>) -> Result<Vec<Dimensions>, Failure> {
    let (mut buffer, mut inner, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    let (mut row, mut column, mut rows, mut rows_said) = (0_u32, 0_u32, 1, 1);
    loop {
        buffer.clear();
        match content.read_event_into(&mut buffer)? {
            Event::Start(element) if element.name() == QName(ROW) => {
                rows_said = number(&element, "table:number-rows-repeated")?;
                rows = rows_said.min(ROWS_MAX - row);
                column = 0;
            }
            Event::End(element) if element.name() == QName(ROW) => row += rows,
            Event::Start(element) if [QName(CELL), QName(COVERED)].contains(&element.name()) => {
                let wide = number(&element, "table:number-columns-spanned")?;
                let high = number(&element, "table:number-rows-spanned")?;
                if wide > 1 || high > 1 {
                    for top in row..row + rows {
                        if ranges.len() == RANGES_MAX {
                            return Err(format!("more than {RANGES_MAX} merged ranges").into());
                        }
                        let end = (top.saturating_add(high - 1), column.saturating_add(wide - 1));
                        ranges.push(Dimensions::new((top, column), end));
                    }
                }
                column = column.saturating_add(number(&element, "table:number-columns-repeated")?);
                // `calamine` leaves them out. Empty ones only fill up the sheet.
                if (rows_said > rows || column > COLUMNS_MAX)
                    && attribute(&element, "office:value-type")?.is_some()
                {
                    return Err(format!(
                        "it has cells beyond row {ROWS_MAX} or column {COLUMNS_MAX}, a sheet's last"
                    )
                    .into());
                }
                // What a cell holds may be a table of its own.
                content.read_to_end_into(element.name(), &mut inner)?;
            }
            Event::End(element) if element.name() == QName(TABLE) => return Ok(ranges),
            Event::Eof => return Ok(ranges),
            _ => {}
        }
    }
}

/// Cells of a sheet of OpenDocument whose days are shown with times of day: its programs write a midnight as a day, and only the style tells
/// (version 1.3, part 3, 16.29 and 19.470).
pub(crate) fn times_of_ods(
    book: impl Read + Seek,
    sheet: &str,
) -> Result<HashSet<(u32, u32)>, Failure> {
    let mut archive = ZipArchive::new(BufReader::new(book))?;
    let mut content = xml(BufReader::new(archive.by_name("content.xml")?));
    let (mut times, mut styles) = (HashSet::new(), TimeStyles::default());
    while reaches_table(&mut content, sheet, |element| styles.see(element))?
        && !styles.of_cells.is_empty()
    {
        times = times_of_table(&mut content, &styles.of_cells)?;
    }
    Ok(times)
}

/// Which styles of a workbook show times of day.
#[derive(Default)]
struct TimeStyles {
    /// The one of dates that has begun.
    date: Option<String>,
    of_dates: HashSet<String>,
    of_cells: HashSet<String>,
}

impl TimeStyles {
    fn see(&mut self, element: &BytesStart<'_>) -> Result<(), Failure> {
        match element.name().as_ref() {
            "number:date-style" => self.date = attribute(element, "style:name")?,
            "number:hours" | "number:minutes" | "number:seconds" => {
                self.of_dates.extend(self.date.clone());
            }
            "number:time-style" | "number:number-style" => self.date = None,
            "style:style" => {
                let of = attribute(element, "style:data-style-name")?;
                if of.is_some_and(|of| self.of_dates.contains(&of)) {
                    self.of_cells.extend(attribute(element, "style:name")?);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Those of the table that has just begun, by the styles that show times.
fn times_of_table(
    content: &mut Reader<impl BufRead>,
    styles: &HashSet<String>,
) -> Result<HashSet<(u32, u32)>, Failure> {
    let (mut buffer, mut inner, mut times) = (Vec::new(), Vec::new(), HashSet::new());
    // Of columns: up to which the style of each goes.
    let mut columns: Vec<(u32, bool)> = Vec::new();
    let (mut row, mut column, mut rows, mut of_row) = (0_u32, 0_u32, 1, None);
    let is_one = |name: Option<String>| name.map(|name| styles.contains(&name));
    loop {
        buffer.clear();
        match content.read_event_into(&mut buffer)? {
            Event::Start(element) if element.name() == QName("table:table-column") => {
                let before = columns.last().map_or(0, |(end, _)| *end);
                let end = before.saturating_add(number(&element, "table:number-columns-repeated")?);
                let style = is_one(attribute(&element, "table:default-cell-style-name")?);
                columns.push((end, style.unwrap_or(false)));
            }
            Event::Start(element) if element.name() == QName(ROW) => {
                rows = number(&element, "table:number-rows-repeated")?.min(ROWS_MAX - row);
                of_row = is_one(attribute(&element, "table:default-cell-style-name")?);
                column = 0;
            }
            Event::End(element) if element.name() == QName(ROW) => row += rows,
            Event::Start(element) if [QName(CELL), QName(COVERED)].contains(&element.name()) => {
                let wide = number(&element, "table:number-columns-repeated")?;
                let of_column = || {
                    let at = columns.partition_point(|(end, _)| *end <= column);
                    columns.get(at).is_some_and(|(_, is_one)| *is_one)
                };
                let own = is_one(attribute(&element, "table:style-name")?);
                if attribute(&element, "office:value-type")?.as_deref() == Some("date")
                    && own.or(of_row).unwrap_or_else(of_column)
                {
                    let end = column.saturating_add(wide).min(COLUMNS_MAX);
                    for row in row..row + rows {
                        times.extend((column..end).map(|column| (row, column)));
                    }
                }
                column = column.saturating_add(wide);
                content.read_to_end_into(element.name(), &mut inner)?;
            }
            Event::End(element) if element.name() == QName(TABLE) => return Ok(times),
            Event::Eof => return Ok(times),
            _ => {}
        }
    }
}

/// Reads as `calamine` does, so that what it has read can be read here.
pub(crate) fn xml<R: BufRead>(part: R) -> Reader<R> {
    let mut xml = Reader::from_reader(part);
    let config = xml.config_mut();
    config.check_end_names = false;
    config.check_comments = false;
    config.expand_empty_elements = true;
    xml
}

pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Failure> {
    let Some(found) = element.try_get_attribute(name)? else { return Ok(None) };
    Ok(Some(unescape(&found.value)?.into_owned()))
}

/// A number of rows or columns; 1 unless it is said.
fn number(element: &BytesStart<'_>, name: &str) -> Result<u32, Failure> {
    Ok(attribute(element, name)?.map_or(Ok(1), |text| text.parse::<u32>())?.max(1))
}
