//! Where an older workbook's cells are ([MS-XLS], in a compound file, [MS-CFB]): `calamine` makes room for all between the first and the
//! last of a sheet, and for those that a sheet says it has; and which of them are shown with times of day. Read as leniently as there: what
//! is no workbook is said there.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek};

use crate::archive::Refusal;
use crate::claims::{CELLS_MAX, too_many_cells, wrong};
use crate::number_format::NumberFormat;

/// Rows and columns of a sheet in this format.
const ROWS_MAX: u32 = 1 << 16;
const COLUMNS_MAX: u32 = 1 << 8;

/// Records ([MS-XLS] 2.3).
const BEGIN: u16 = 0x0809;
const END: u16 = 0x000a;
const SHEET: u16 = 0x0085;
const FORMAT: u16 = 0x041e;
const STYLE: u16 = 0x00e0;
const DIMENSIONS: u16 = 0x0200;
const FORMULA: u16 = 0x0006;
const NUMBERS: u16 = 0x00bd;
/// Those of cells: also texts, single numbers, truths.
const CELLS: [u16; 8] = [FORMULA, NUMBERS, 0x0203, 0x0204, 0x00d6, 0x0205, 0x027e, 0x00fd];

/// Refuses a workbook whose sheets take more room than such sheets can.
pub(crate) fn expect(mut file: impl Read + Seek) -> io::Result<()> {
    let mut all = Vec::new();
    file.read_to_end(&mut all)?;
    let book = match workbook(&all) {
        Ok(book) => book,
        Err(refusal) => return refusal.map_or(Ok(()), |refusal| Err(refusal.into())),
    };
    let mut cells = 0;
    for (kind, body) in records(&book, 0).take_while(|(kind, _)| *kind != END) {
        if kind == SHEET
            && let Some(at) = four(body, 0)
        {
            cells += cells_of(&book, at as usize)?;
            if cells > CELLS_MAX {
                return Err(too_many_cells().into());
            }
        }
    }
    Ok(())
}

/// The cells of the sheet of this number, from 0, whose format shows a time of day, which `calamine` does not tell.
pub(crate) fn times(mut file: impl Read + Seek, number: usize) -> io::Result<HashSet<(u32, u32)>> {
    let mut all = Vec::new();
    file.read_to_end(&mut all)?;
    let mut found = HashSet::new();
    let Ok(book) = workbook(&all) else { return Ok(found) };
    let (mut codes, mut styles, mut sheets) = (HashMap::new(), Vec::new(), Vec::new());
    for (kind, body) in records(&book, 0).take_while(|(kind, _)| *kind != END) {
        match kind {
            FORMAT => drop(two(body, 0).map(|id| codes.insert(id, code(body)))),
            STYLE => styles.push(two(body, 2)),
            SHEET => sheets.push(four(body, 0)),
            _ => {}
        }
    }
    let has_times = |style: &Option<u32>| {
        let id = (*style)?;
        let code = codes.get(&id).map(String::as_str);
        NumberFormat::of(code.or_else(|| NumberFormat::code(u16::try_from(id).ok()?))?)
    };
    let have_times: Vec<bool> = styles.iter().map(|style| has_times(style).is_some()).collect();
    let Some(Some(at)) = sheets.get(number).filter(|_| have_times.contains(&true)) else {
        return Ok(found);
    };
    let mut add = |row, column, style: Option<u32>| {
        if style.is_some_and(|style| have_times.get(style as usize) == Some(&true)) {
            found.insert((row, column));
        }
    };
    for (kind, body) in of_sheet(&book, *at as usize).filter(|(kind, _)| CELLS.contains(kind)) {
        let (Some(row), Some(first)) = (two(body, 0), two(body, 2)) else { continue };
        match kind {
            // A style and a number, one behind the other.
            NUMBERS => (first..).zip(body[4..].chunks_exact(6)).for_each(|(column, cell)| {
                add(row, column, two(cell, 0));
            }),
            _ => add(row, first, two(body, 4)),
        }
    }
    Ok(found)
}

/// The code of a format (2.4.126), as far as it is ASCII, which is what says what it shows; in older workbooks a byte a character.
fn code(body: &[u8]) -> String {
    let is_wide = body.get(4) == Some(&1);
    let is_of_bytes = two(body, 2).is_some_and(|length| length > 255);
    let text = if is_of_bytes { body.get(3..) } else { body.get(5..) }.unwrap_or_default();
    let bytes = text.iter().step_by(if is_wide && !is_of_bytes { 2 } else { 1 });
    bytes.map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect()
}

/// The records of the sheet that begins there, but for those of charts within it.
fn of_sheet(book: &[u8], at: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let mut depth = 0_u64;
    let inside = records(book, at).map_while(move |(kind, body)| {
        match kind {
            BEGIN => depth += 1,
            END if depth <= 1 => return None,
            END => depth -= 1,
            _ if depth <= 1 => return Some(Some((kind, body))),
            _ => {}
        }
        Some(None)
    });
    inside.flatten()
}

/// The cells of the sheet that begins there, from the first to the last, and those of its formulas.
fn cells_of(book: &[u8], at: usize) -> Result<u64, Refusal> {
    let (mut values, mut formulas) = (Reach::default(), Reach::default());
    for (kind, body) in of_sheet(book, at) {
        match kind {
            DIMENSIONS => expect_room(body)?,
            _ if CELLS.contains(&kind) => {
                let (Some(row), Some(first)) = (two(body, 0), two(body, 2)) else { continue };
                let last = match kind {
                    NUMBERS => two(body, body.len() - 2).unwrap_or(first),
                    _ => first,
                };
                if last >= COLUMNS_MAX {
                    return Err(wrong(format!("column {} is beyond a sheet's last", last + 1)));
                }
                values.take(row, first, last);
                if kind == FORMULA {
                    formulas.take(row, first, last);
                }
            }
            _ => {}
        }
    }
    Ok(values.cells() + formulas.cells())
}

/// The first and the last row, and the first and the last column.
#[derive(Default)]
struct Reach(Option<[u32; 4]>);

impl Reach {
    fn take(&mut self, row: u32, first: u32, last: u32) {
        let [top, bottom, left, right] = self.0.get_or_insert([row, row, first, last]);
        *top = row.min(*top);
        *bottom = row.max(*bottom);
        *left = first.min(*left);
        *right = last.max(*right);
    }

    fn cells(&self) -> u64 {
        self.0.map_or(0, |[top, bottom, left, right]| {
            (u64::from(bottom - top) + 1) * (u64::from(right.saturating_sub(left)) + 1)
        })
    }
}

/// Refuses a sheet that says it has more rows and columns than one can have (2.4.90). Wrong ones of fewer cells do no harm.
fn expect_room(body: &[u8]) -> Result<(), Refusal> {
    let (rows, columns) = match body.len() {
        10 => ([two(body, 0), two(body, 2)], [two(body, 4), two(body, 6)]),
        _ => ([four(body, 0), four(body, 4)], [two(body, 8), two(body, 10)]),
    };
    let ([Some(top), Some(bottom)], [Some(left), Some(right)]) = (rows, columns) else {
        return Ok(());
    };
    // As `calamine` has it.
    let left = if left >= COLUMNS_MAX || right < left { 0 } else { left };
    if bottom == 0 || right == 0 {
        return Ok(());
    }
    let (rows, columns) = (bottom.wrapping_sub(top), right.wrapping_sub(left));
    match u64::from(rows) * u64::from(columns) > u64::from(ROWS_MAX * COLUMNS_MAX) {
        true => Err(wrong(format!("a sheet says that it has {rows} rows of {columns} columns"))),
        false => Ok(()),
    }
}

/// The records from there on.
fn records(book: &[u8], at: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = book.get(at..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (kind, length) = (two(rest, 0)? as u16, two(rest, 2)? as usize);
        let body = rest.get(4..4 + length)?;
        rest = &rest[4 + length..];
        Some((kind, body))
    })
}

/// What is found, or why the workbook is refused; without a reason, where it is left to who reads it to say what is wrong.
type Found<T> = Result<T, Option<Refusal>>;

/// The stream that has the workbook.
fn workbook(all: &[u8]) -> Found<Vec<u8>> {
    let sector_bytes = match two(all, 30) {
        Some(9) => 512,
        Some(12) => 4096,
        _ => return Err(None),
    };
    let of_file = all.get(sector_bytes..).ok_or(None)?;
    let table = table(all, of_file, sector_bytes)?;
    let stream = |at, bytes| chain(of_file, sector_bytes, &table, at, bytes);
    let header = |at| four(all, at).ok_or(None);
    let folder = stream(header(48)?, u64::MAX)?;
    let entries: Vec<&[u8]> = folder.chunks_exact(ENTRY_BYTES).collect();
    let entry = |entry: &[u8]| {
        let bytes = match sector_bytes {
            512 => four(entry, 120).map(u64::from),
            _ => entry[120..].try_into().ok().map(u64::from_le_bytes),
        };
        four(entry, 116).zip(bytes).ok_or(None)
    };
    let named = |name: &str| entries.iter().find(|entry| is_called(entry, name));
    let (at, bytes) = entry(named("Workbook").or_else(|| named("Book")).ok_or(None)?)?;
    if bytes >= SMALL_BYTES {
        return stream(at, bytes);
    }
    // Small ones are in parts of one that is the root's, which have a table of their own.
    let (small_at, small_bytes) = entry(entries.first().ok_or(None)?)?;
    let small = stream(small_at, small_bytes)?;
    let table = stream(header(60)?, u64::from(header(64)?) * sector_bytes as u64)?;
    chain(&small, SMALL_SECTOR_BYTES, &numbers(&table).collect::<Vec<_>>(), at, bytes)
}

/// What follows each sector. The sectors of this table are named in the header, and in a chain of their own.
fn table(all: &[u8], of_file: &[u8], sector_bytes: usize) -> Found<Vec<u32>> {
    let sectors = of_file.len() / sector_bytes + 1;
    let mut places: Vec<u32> = numbers(all.get(76..512).ok_or(None)?).collect();
    let mut next = four(all, 68).ok_or(None)?;
    let mut chained = 0;
    while next < SECTORS_MAX {
        places.extend(numbers(chunk(of_file, sector_bytes, next).ok_or(None)?));
        next = places.pop().ok_or(None)?;
        chained += 1;
        if chained > sectors {
            return Err(Some(in_a_circle()));
        }
    }
    places.retain(|at| *at < SECTORS_MAX);
    if places.len() > sectors {
        return Err(Some(in_a_circle()));
    }
    let mut table = Vec::new();
    for at in places {
        table.extend(numbers(chunk(of_file, sector_bytes, at).ok_or(None)?));
    }
    Ok(table)
}

/// From here on numbers of sectors have other meanings.
const SECTORS_MAX: u32 = 0xffff_fffa;
const CHAIN_END: u32 = 0xffff_fffe;
const ENTRY_BYTES: usize = 128;
/// A stream of fewer bytes is a small one.
const SMALL_BYTES: u64 = 4096;
const SMALL_SECTOR_BYTES: usize = 64;

fn in_a_circle() -> Refusal {
    wrong("its parts follow one another in a circle")
}

/// The bytes of a chain of sectors: at most so many, and nothing where it leads nowhere.
fn chain(of: &[u8], sector_bytes: usize, table: &[u32], mut at: u32, bytes: u64) -> Found<Vec<u8>> {
    let mut found = Vec::new();
    while at != CHAIN_END && (found.len() as u64) < bytes {
        if found.len() > of.len() {
            return Err(Some(in_a_circle()));
        }
        found.extend_from_slice(chunk(of, sector_bytes, at).ok_or(None)?);
        at = *table.get(at as usize).ok_or(None)?;
    }
    found.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
    Ok(found)
}

/// A sector; the last may be cut off.
fn chunk(of: &[u8], bytes: usize, at: u32) -> Option<&[u8]> {
    let rest = of.get((at as usize).checked_mul(bytes)?..)?;
    (!rest.is_empty()).then(|| &rest[..rest.len().min(bytes)])
}

fn is_called(entry: &[u8], name: &str) -> bool {
    let units = entry[..64].chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
    String::from_utf16_lossy(&units).eq_ignore_ascii_case(name)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn two(bytes: &[u8], at: usize) -> Option<u32> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u32::from(u16::from_le_bytes([two[0], two[1]])))
}

fn four(bytes: &[u8], at: usize) -> Option<u32> {
    numbers(bytes.get(at..at.checked_add(4)?)?).next()
}
