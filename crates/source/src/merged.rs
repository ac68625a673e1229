//! Merged ranges of sheets, for the formats of which `calamine` reads none: the part of the workbook that has the sheet is read once more.

use std::io::{self, BufRead, BufReader, Read, Seek};

use calamine::Dimensions;
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use zip::ZipArchive;

use crate::workbook::Failure;

/// The most that are taken: one for each row of the longest sheet. Repeated rows make many out of few bytes.
const RANGES_MAX: usize = ROWS_MAX as usize;

/// Rows of a sheet, as `calamine` counts them.
const ROWS_MAX: u32 = 1 << 20;

const TABLE: &str = "table:table";
const ROW: &str = "table:table-row";
const CELL: &str = "table:table-cell";
/// A cell that a range covers.
const COVERED: &str = "table:covered-table-cell";

/// Those of OpenDocument (version 1.3, part 3, 19.676 and 19.679): a cell says how many columns and rows it spans.
pub(crate) fn of_ods(book: impl Read + Seek, sheet: &str) -> Result<Vec<Dimensions>, Failure> {
    let mut archive = ZipArchive::new(BufReader::new(book))?;
    let mut content = xml(BufReader::new(archive.by_name("content.xml")?));
    let (mut buffer, mut ranges) = (Vec::new(), Vec::new());
    loop {
        buffer.clear();
        match content.read_event_into(&mut buffer)? {
            Event::Start(element)
                if element.name() == QName(TABLE)
                    && attribute(&element, "table:name")?.as_deref() == Some(sheet) =>
            {
                // Of two of one name the last one's cells are read.
                ranges = of_table(&mut content)?;
            }
            Event::Eof => return Ok(ranges),
            _ => {}
        }
    }
}

/// Those of the table that has just begun.
fn of_table(content: &mut Reader<impl BufRead>) -> Result<Vec<Dimensions>, Failure> {
    let (mut buffer, mut inner, mut ranges) = (Vec::new(), Vec::new(), Vec::new());
    let (mut row, mut column, mut rows) = (0_u32, 0_u32, 1);
    loop {
        buffer.clear();
        match content.read_event_into(&mut buffer)? {
            Event::Start(element) if element.name() == QName(ROW) => {
                rows = number(&element, "table:number-rows-repeated")?.min(ROWS_MAX - row);
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
                // What a cell holds may be a table of its own.
                content.read_to_end_into(element.name(), &mut inner)?;
            }
            Event::End(element) if element.name() == QName(TABLE) => return Ok(ranges),
            Event::Eof => return Ok(ranges),
            _ => {}
        }
    }
}

/// Reads as `calamine` does, so that what it has read can be read here.
fn xml<R: BufRead>(part: R) -> Reader<R> {
    let mut xml = Reader::from_reader(part);
    let config = xml.config_mut();
    config.check_end_names = false;
    config.check_comments = false;
    config.expand_empty_elements = true;
    xml
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Failure> {
    let Some(found) = element.try_get_attribute(name)? else { return Ok(None) };
    Ok(Some(unescape(&found.value)?.into_owned()))
}

/// A number of rows or columns; 1 unless it is said.
fn number(element: &BytesStart<'_>, name: &str) -> Result<u32, Failure> {
    Ok(attribute(element, name)?.map_or(Ok(1), |text| text.parse::<u32>())?.max(1))
}

/// Records of binary workbooks ([MS-XLSB], 2.3).
const SHEET: u16 = 0x009c;
const SHEET_END: u16 = 0x0082;
const RANGE: u16 = 0x00b0;

/// Those of a binary workbook ([MS-XLSB], 2.4.687).
pub(crate) fn of_xlsb(book: impl Read + Seek, sheet: &str) -> Result<Vec<Dimensions>, Failure> {
    let mut archive = ZipArchive::new(BufReader::new(book))?;
    let mut ranges = Vec::new();
    let Some(part) = part_of(&mut archive, sheet)? else { return Ok(ranges) };
    let mut records = Records::of(&mut archive, &part)?;
    while let Some((kind, body)) = records.next()? {
        match kind {
            RANGE if ranges.len() == RANGES_MAX => {
                return Err(format!("more than {RANGES_MAX} merged ranges").into());
            }
            RANGE => {
                let mut rest = body;
                let [top, bottom, left, right] = std::array::from_fn(|_| four(&mut rest));
                let cut = || Failure::from("a merged range is cut off");
                let start = top.zip(left).ok_or_else(cut)?;
                ranges.push(Dimensions::new(start, bottom.zip(right).ok_or_else(cut)?));
            }
            SHEET_END => break,
            _ => {}
        }
    }
    Ok(ranges)
}

/// The part that has the sheet.
fn part_of<B: Read + Seek>(
    archive: &mut ZipArchive<B>,
    sheet: &str,
) -> Result<Option<String>, Failure> {
    let Some(relation) = relation_of(archive, sheet)? else { return Ok(None) };
    let relations = named(archive, "xl/_rels/workbook.bin.rels");
    let mut relations = xml(BufReader::new(archive.by_name(&relations)?));
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match relations.read_event_into(&mut buffer)? {
            Event::Start(element)
                if element.name() == QName("Relationship")
                    && attribute(&element, "Id")?.as_deref() == Some(&*relation) =>
            {
                return Ok(attribute(&element, "Target")?.map(|part| format!("xl/{part}")));
            }
            Event::Eof => return Ok(None),
            _ => {}
        }
    }
}

/// What the workbook calls the relationship to the sheet's part.
fn relation_of<B: Read + Seek>(
    archive: &mut ZipArchive<B>,
    sheet: &str,
) -> Result<Option<String>, Failure> {
    let mut records = Records::of(archive, "xl/workbook.bin")?;
    while let Some((kind, body)) = records.next()? {
        if kind == SHEET
            && let Some(mut rest) = body.get(8..)
            && let (Some(id), Some(name)) = (text(&mut rest), text(&mut rest))
            && name == sheet
        {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// A part's name as the archive has it: some programs write `\`, and the case is theirs.
fn named<B: Read + Seek>(archive: &ZipArchive<B>, part: &str) -> String {
    let mut names = archive.file_names().flatten();
    let found = names.find(|name| name.replace('\\', "/").eq_ignore_ascii_case(part));
    found.map_or_else(|| part.to_owned(), Into::into)
}

/// Records of a part, one after the other.
struct Records<R> {
    part: BufReader<R>,
    body: Vec<u8>,
}

impl Records<()> {
    fn of<'a, B: Read + Seek>(
        archive: &'a mut ZipArchive<B>,
        part: &str,
    ) -> Result<Records<impl Read + use<'a, B>>, Failure> {
        let name = named(archive, part);
        Ok(Records { part: BufReader::new(archive.by_name(&name)?), body: Vec::new() })
    }
}

impl<R: Read> Records<R> {
    /// The next record's number and what is in it; `None` at the end of the part.
    fn next(&mut self) -> io::Result<Option<(u16, &[u8])>> {
        if self.part.fill_buf()?.is_empty() {
            return Ok(None);
        }
        // Both are numbers of seven bits a byte, the lowest first, of at most two bytes and of four.
        let kind = self.number(2)? as u16;
        let length = u64::from(self.number(4)?);
        self.body.clear();
        let read = self.part.by_ref().take(length).read_to_end(&mut self.body)?;
        if (read as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some((kind, &self.body)))
    }

    fn number(&mut self, bytes_max: u32) -> io::Result<u32> {
        let (mut number, mut byte) = (0, [0]);
        for place in 0..bytes_max {
            self.part.read_exact(&mut byte)?;
            number |= u32::from(byte[0] & 0x7f) << (7 * place);
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        Ok(number)
    }
}

/// A number of four bytes.
fn four(rest: &mut &[u8]) -> Option<u32> {
    rest.split_off(..4)?.try_into().ok().map(u32::from_le_bytes)
}

/// A text of UTF-16, behind its length.
fn text(rest: &mut &[u8]) -> Option<String> {
    let units = four(rest)? as usize;
    let bytes = rest.split_off(..units.checked_mul(2)?)?;
    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    Some(
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect(),
    )
}
