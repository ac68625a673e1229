//! What a workbook says of its own size, and `calamine` believes: numbers of texts, rows and columns that memory is taken for, and
//! repetitions that are written out. They are looked at before it reads the workbook, for memory that can't be had ends the process.

use std::io::{self, BufRead, BufReader, Read, Seek};

use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use zip::ZipArchive;

use crate::archive::{Limit, Refusal};
use crate::merged::{attribute, xml};
use crate::workbook::{COLUMNS_MAX, Failure, Format, ROWS_MAX};
use crate::xls;

/// Cells that are in memory at once where all are, empty ones between them too: as many as `calamine` makes of repeated rows.
pub(crate) const CELLS_MAX: u64 = 100_000_000;

/// Refuses a workbook that would take memory out of proportion to its bytes. Whatever else is wrong with it is said by who reads it.
pub(crate) fn expect(file: impl Read + Seek, format: Format, limit: Limit) -> io::Result<()> {
    match format {
        Format::Xls => xls::expect(file),
        Format::Xlsx => of_parts(file, |name, bytes, part| match is_shared_texts(name) {
            true => shared_texts(bytes, part),
            false => Ok(()),
        }),
        Format::Ods => of_parts(file, |name, _, part| match name {
            "content.xml" => content(part, limit),
            _ => Ok(()),
        }),
        // Its numbers are those of records, which have to come.
        Format::Xlsb => Ok(()),
    }
}

/// Refuses formulas with numbers beyond those of any sheet, where all formulas up to the highest number get a place.
pub(crate) fn expect_formulas(book: impl Read + Seek) -> Result<(), Failure> {
    Ok(of_parts(book, |_, _, part| {
        each(part, |event| match event {
            Event::Start(element) if element.local_name().as_ref() == "f" => {
                match number(element, "si") {
                    Some(shared) if shared > u64::from(ROWS_MAX) => {
                        Err(wrong(format!("it has a shared formula with the number {shared}")))
                    }
                    _ => Ok(true),
                }
            }
            _ => Ok(true),
        })
    })?)
}

/// A workbook that can't be what it says.
pub(crate) fn wrong(what: impl Into<String>) -> Refusal {
    Refusal::new(what, "save the workbook again by its program, or the sheet as CSV")
}

/// Hands on the parts of a workbook: name, bytes as the directory says, and content.
fn of_parts(
    file: impl Read + Seek,
    mut take: impl FnMut(&str, u64, &mut dyn BufRead) -> Result<(), Refusal>,
) -> io::Result<()> {
    let Ok(mut archive) = ZipArchive::new(BufReader::new(file)) else { return Ok(()) };
    for index in 0..archive.len() {
        let Ok(part) = archive.by_index(index) else { continue };
        let Ok(name) = part.name().map(|name| name.replace('\\', "/")) else { continue };
        take(&name, part.size(), &mut BufReader::with_capacity(64 << 10, part))?;
    }
    Ok(())
}

/// Hands on what a part consists of until false says that no more is wanted.
fn each(
    part: impl BufRead,
    mut take: impl FnMut(&Event<'_>) -> Result<bool, Refusal>,
) -> Result<(), Refusal> {
    let (mut part, mut buffer) = (xml(part), Vec::new());
    while let Ok(event) = part.read_event_into(&mut buffer) {
        if matches!(event, Event::Eof) || !take(&event)? {
            break;
        }
        buffer.clear();
    }
    Ok(())
}

/// An attribute that is a number, and a sensible one.
fn number(element: &BytesStart<'_>, name: &str) -> Option<u64> {
    attribute(element, name).ok()??.trim().parse().ok()
}

/// Whether a part has the texts that cells share; programs write its name in any case.
fn is_shared_texts(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("sharedstrings.xml")
}

/// Their number, for which memory is taken, is at most what the part has room for. Small ones do no harm.
fn shared_texts(bytes: u64, part: &mut dyn BufRead) -> Result<(), Refusal> {
    const TEXT_BYTES_MIN: u64 = b"<si/>".len() as u64;
    each(part, |event| match event {
        Event::Start(element) if element.local_name().as_ref() == "sst" => {
            match number(element, "uniqueCount") {
                Some(said) if said > u64::from(ROWS_MAX).max(bytes / TEXT_BYTES_MIN) => Err(wrong(
                    format!("it says that it has {said} texts, and has no room for them"),
                )),
                _ => Ok(false),
            }
        }
        _ => Ok(true),
    })
}

/// A cell of OpenDocument as far as it has been read.
#[derive(Default)]
struct Repeated {
    columns: u64,
    /// Of its value and its formula.
    bytes: u64,
    is_empty: bool,
    /// Whether what stands in it is its value.
    is_text: bool,
}

/// Cells and blanks of OpenDocument (version 1.3, part 3, 6.1.3, 19.675 and 19.677) say how often they are repeated. Each becomes a copy:
/// cells within their row, and texts within the limit of what the workbook may unpack to.
fn content(part: &mut dyn BufRead, limit: Limit) -> Result<(), Refusal> {
    let (mut rows, mut cell) = (1, None::<Repeated>);
    let (mut cells, mut empty, mut bytes) = (0_u64, 0_u64, 0_u64);
    each(part, |event| {
        match event {
            Event::Start(element) if is_cell(element.name()) => {
                // One within a cell is a part of it.
                let cell =
                    cell.get_or_insert_with(|| Repeated { is_empty: true, ..<_>::default() });
                begin(element, cell);
            }
            Event::Start(element)
                if element.name() == QName("table:table-row") && cell.is_none() =>
            {
                let said = number(element, "table:number-rows-repeated").unwrap_or(1);
                (rows, empty) = (said.min(ROWS_MAX.into()), 0);
            }
            Event::Start(element) if element.name() == QName("text:s") => {
                if let Some(cell) = &mut cell {
                    let blanks = number(element, "text:c").unwrap_or(1);
                    cell.bytes = cell.bytes.saturating_add(blanks);
                    limit.expect(cell.bytes)?;
                }
            }
            Event::Text(text) => {
                if let Some(cell) = cell.as_mut().filter(|cell| cell.is_text) {
                    cell.bytes = cell.bytes.saturating_add(text.len() as u64);
                }
            }
            Event::End(element) if is_cell(element.name()) => {
                if let Some(cell) = cell.take() {
                    // Those between others are cells too.
                    empty += cell.columns;
                    if !cell.is_empty {
                        cells += std::mem::take(&mut empty);
                        let copies = cell.columns.saturating_mul(rows);
                        bytes = bytes.saturating_add(cell.bytes.saturating_mul(copies));
                    }
                }
                if cells > CELLS_MAX {
                    return Err(too_many_cells());
                }
                limit.expect(bytes)?;
            }
            _ => {}
        }
        Ok(true)
    })
}

fn is_cell(name: QName<'_>) -> bool {
    [QName("table:table-cell"), QName("table:covered-table-cell")].contains(&name)
}

/// More cells than are taken into memory.
pub(crate) fn too_many_cells() -> Refusal {
    Refusal::new(
        format!("its sheets have more than {CELLS_MAX} cells, empty ones between others too"),
        "save the sheet as CSV",
    )
}

/// What the beginning of a cell says of it.
fn begin(element: &BytesStart<'_>, cell: &mut Repeated) {
    let columns = number(element, "table:number-columns-repeated").unwrap_or(1);
    cell.columns = cell.columns.max(columns.min(COLUMNS_MAX.into()));
    let mut has_value = false;
    for attribute in element.attributes().flatten() {
        match attribute.key.as_ref() {
            "office:value" | "office:boolean-value" => has_value = true,
            "office:date-value" | "office:time-value" => {
                has_value = true;
                cell.bytes += attribute.value.len() as u64;
            }
            "office:string-value" | "table:formula" => cell.bytes += attribute.value.len() as u64,
            "office:value-type" => {}
            _ => continue,
        }
        cell.is_empty = false;
    }
    cell.is_text |= !has_value;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &str) -> Result<(), Refusal> {
        let limit = Limit::of(0, None);
        content(&mut rows.as_bytes(), limit)
    }

    #[test]
    fn what_is_repeated_is_counted_as_often() {
        let row = |row: &str, cell: &str, text: &str| {
            read(&format!(
                "<table:table-row {row}><table:table-cell office:value-type='string' {cell}><text:p>{text}</text:p>\
                 </table:table-cell></table:table-row>"
            ))
        };
        let (rows, columns) =
            ("table:number-rows-repeated='1048576'", "table:number-columns-repeated='16384'");
        row("", "", "a<text:s text:c='32767'/>b").unwrap();
        row(rows, "", "abc").unwrap();
        row("", columns, "abc").unwrap();
        row(rows, columns, "").unwrap();
        row("", "", "a<text:s text:c='2147483647'/>b").unwrap_err();
        row(rows, "", &"x".repeat(2_000)).unwrap_err();
        row("", columns, "<text:s text:c='100000'/>").unwrap_err();
        row(rows, "office:string-value='aaaaaaaaaa'", &"x".repeat(2_000)).unwrap_err();
        row(rows, "office:value='1'", &"x".repeat(2_000)).unwrap();
    }

    #[test]
    fn empty_cells_count_before_others_only() {
        let empty = "<table:table-cell table:number-columns-repeated='16384'/>";
        let full = "<table:table-cell office:value-type='float' office:value='1'/>";
        let rows = |row: &str| format!("<table:table-row>{row}</table:table-row>").repeat(7_000);
        read(&rows(empty)).unwrap();
        read(&rows(&[full, empty].concat())).unwrap();
        read(&rows(&[empty, full].concat())).unwrap_err();
    }

    #[test]
    fn texts_have_room_in_their_part() {
        let part = |count: &str| format!("<?xml version='1.0'?><sst {count}><si/></sst>");
        let of = |count: &str| shared_texts(60_000_000, &mut part(count).as_bytes());
        of("").unwrap();
        of("uniqueCount='12000000'").unwrap();
        of("uniqueCount='-1'").unwrap();
        of("uniqueCount='4000000000'").unwrap_err();
        let of_few = |count: &str| shared_texts(100, &mut part(count).as_bytes());
        of_few("uniqueCount='1000'").unwrap();
        of_few("uniqueCount='2000000'").unwrap_err();
    }
}
