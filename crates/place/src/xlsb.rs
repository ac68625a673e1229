//! What `calamine` leaves out of binary workbooks ([MS-XLSB]): merged ranges, errors of formulas, texts of several fonts, formats with
//! conditions or times of day. The part of the workbook that has the sheet is read beside it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek};

use calamine::Dimensions;
use quick_xml::events::Event;
use quick_xml::name::QName;
use zip::ZipArchive;

use crate::merged::{RANGES_MAX, attribute, xml};
use crate::number_format::NumberFormat;
use crate::workbook::{Cell, Failure, ROWS_MAX, error_cell, is_error, shown_as, twice};

/// Records (2.3).
const SHEET: u16 = 0x009c;
const SHEET_END: u16 = 0x0082;
const RANGE: u16 = 0x00b0;
const ROWS: u16 = 0x0091;
const ROWS_END: u16 = 0x0092;
const ROW: u16 = 0x0000;
const PACKED_NUMBER: u16 = 0x0002;
const ERROR: u16 = 0x0003;
const NUMBER: u16 = 0x0005;
const FORMULA_NUMBER: u16 = 0x0009;
const FORMULA_TEXT: u16 = 0x0008;
const FORMULA_ERROR: u16 = 0x000b;
const RICH_TEXT: u16 = 0x003e;
const FORMAT: u16 = 0x002c;
const STYLES: u16 = 0x0269;
const STYLES_END: u16 = 0x026a;
const STYLE: u16 = 0x002f;

pub(crate) type Archive<B> = ZipArchive<BufReader<B>>;

/// The parts of a workbook.
pub(crate) fn parts<B: Read + Seek>(book: B) -> Result<Archive<B>, Failure> {
    Ok(ZipArchive::new(BufReader::new(book))?)
}

/// Ranges of a sheet that are shown as one cell (2.4.687).
pub(crate) fn merged(book: impl Read + Seek, sheet: &str) -> Result<Vec<Dimensions>, Failure> {
    let mut archive = parts(book)?;
    let mut ranges = Vec::new();
    let mut records = Records::of_sheet(&mut archive, sheet)?;
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

/// A cell, behind its row and its column from 0.
type Placed = ((u32, u32), Cell<'static>);

/// The cells of a sheet that `calamine` skips, fails at or takes for others, in the workbook's order.
pub(crate) struct Others<R> {
    records: Records<R>,
    /// By the number of the style.
    formats: Vec<Option<NumberFormat>>,
    since_1904: bool,
    row: u32,
    /// The columns in which the row has cells, whoever reads those.
    columns: Vec<u32>,
    is_over: bool,
}

impl Others<()> {
    pub(crate) fn of<'a, B: Read + Seek>(
        archive: &'a mut Archive<B>,
        sheet: &str,
        since_1904: bool,
    ) -> Result<Others<impl Read + use<'a, B>>, Failure> {
        let formats = formats(archive)?;
        let mut records = Records::of_sheet(archive, sheet)?;
        while let Some((kind, _)) = records.next()?
            && kind != ROWS
        {}
        Ok(Others { records, formats, since_1904, row: 0, columns: Vec::new(), is_over: false })
    }
}

impl<R: Read> Others<R> {
    /// The next cell.
    pub(crate) fn next(&mut self) -> Result<Option<Placed>, Failure> {
        let cut = || Failure::from("a cell is cut off");
        while !self.is_over
            && let Some((kind, body)) = self.records.next()?
        {
            let mut rest = body.get(8..).unwrap_or_default();
            if is_cell(kind) {
                self.columns.push(four(&mut &*body).ok_or_else(cut)?);
            }
            let cell = match kind {
                ROWS_END => {
                    expect_once(self.row, &mut self.columns)?;
                    self.is_over = true;
                    continue;
                }
                ROW => {
                    let row = four(&mut &*body).ok_or_else(cut)?;
                    if row != self.row {
                        expect_once(self.row, &mut self.columns)?;
                        self.columns.clear();
                    }
                    self.row = row;
                    if self.row >= ROWS_MAX {
                        return Err(format!(
                            "row {} is beyond a sheet's last",
                            u64::from(self.row) + 1
                        )
                        .into());
                    }
                    continue;
                }
                ERROR | FORMULA_ERROR => error_cell(shown(*rest.first().ok_or_else(cut)?)),
                FORMULA_TEXT => match text(&mut rest).filter(|text| is_error(text)) {
                    Some(shown) => error_cell(shown),
                    None => continue,
                },
                PACKED_NUMBER | NUMBER | FORMULA_NUMBER => {
                    let style = body.get(4..7).ok_or_else(cut)?;
                    let style = u32::from_le_bytes([style[0], style[1], style[2], 0]) as usize;
                    let Some(Some(format)) = self.formats.get(style) else { continue };
                    let number = match kind {
                        PACKED_NUMBER => four(&mut rest).map(unpacked),
                        _ => rest
                            .split_off(..8)
                            .and_then(|eight| Some(f64::from_le_bytes(eight.try_into().ok()?))),
                    };
                    shown_as(number.ok_or_else(cut)?, format, self.since_1904)
                }
                RICH_TEXT => {
                    let _flags = rest.split_off_first();
                    match text(&mut rest).ok_or_else(cut)? {
                        text if text.is_empty() => continue,
                        text => Cell::Text(Cow::Owned(text)),
                    }
                }
                // Their columns are those behind the cell before.
                0x000c..=0x0012 => return Err("its cells are in a short form".into()),
                _ => continue,
            };
            let column = four(&mut &*body).ok_or_else(cut)?;
            return Ok(Some(((self.row, column), cell)));
        }
        Ok(None)
    }
}

/// Whether a record is of a cell that isn't empty.
fn is_cell(kind: u16) -> bool {
    matches!(kind, PACKED_NUMBER..=FORMULA_ERROR | RICH_TEXT)
}

/// Refuses a row that has two cells in one of its columns, whichever of them would be read.
fn expect_once(row: u32, columns: &mut [u32]) -> Result<(), Failure> {
    if !columns.is_sorted() {
        columns.sort_unstable();
    }
    let same = columns.windows(2).find(|two| two[0] == two[1]);
    same.map_or(Ok(()), |two| Err(twice(row, two[0])))
}

/// A number that is kept in 30 bits (2.5.122): a whole one, or the first bits of a double; of either also the hundredth part.
fn unpacked(packed: u32) -> f64 {
    let number = match packed & 2 {
        0 => f64::from_bits(u64::from(packed & !3) << 32),
        _ => f64::from(packed as i32 >> 2),
    };
    if packed & 1 == 0 { number } else { number / 100.0 }
}

/// The formats of a workbook's styles that `calamine` doesn't read to their ends.
fn formats<B: Read + Seek>(archive: &mut Archive<B>) -> Result<Vec<Option<NumberFormat>>, Failure> {
    let mut found = Vec::new();
    if archive.index_for_name(&named(archive, STYLES_PART)).is_none() {
        return Ok(found);
    }
    let two = |body: &[u8]| Some(u16::from_le_bytes(body.get(..2)?.try_into().ok()?));
    let mut records = Records::of(archive, STYLES_PART)?;
    let (mut codes, mut are_of_cells) = (HashMap::new(), false);
    while let Some((kind, body)) = records.next()? {
        let mut behind = body.get(2..).unwrap_or_default();
        match kind {
            FORMAT => {
                drop(two(body).zip(text(&mut behind)).map(|(id, code)| codes.insert(id, code)))
            }
            STYLES => are_of_cells = true,
            STYLES_END => break,
            STYLE if are_of_cells => {
                let of = |id| codes.get(&id).map(String::as_str).or(NumberFormat::code(id));
                found.push(two(behind).and_then(of).and_then(NumberFormat::of));
            }
            _ => {}
        }
    }
    Ok(found)
}

const STYLES_PART: &str = "xl/styles.bin";

/// What a cell with this error shows (2.5.97.2).
fn shown(error: u8) -> String {
    let name = match error {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        0x2a => "#N/A",
        0x2b => "#GETTING_DATA",
        other => return format!("#ERROR {other}"),
    };
    name.to_owned()
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

    fn of_sheet<'a, B: Read + Seek>(
        archive: &'a mut Archive<B>,
        sheet: &str,
    ) -> Result<Records<impl Read + use<'a, B>>, Failure> {
        let part = part_of(archive, sheet)?.ok_or_else(|| format!("it has no part of {sheet}"))?;
        Records::of(archive, &part)
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
