//! SQLite fills pages in one way when rows are appended to a table, so whole pages can be compared.

use inrush_sqlite_pages::page::{local_bytes, local_bytes_max};
use inrush_sqlite_pages::{PageSize, varint};
use rusqlite::{Connection, params_from_iter};

use crate::assembler::{Cell, Column, Layout, Table, TempFile, assemble};
use crate::random_numbers::Random;

/// The same tables, made by SQLite.
fn made_by_sqlite(size: PageSize, tables: &[Table]) -> TempFile {
    let file = TempFile::new();
    let connection = Connection::open(file.path()).expect("a database");
    let pragmas = format!("PRAGMA page_size={}; PRAGMA synchronous=OFF", size.bytes());
    connection.execute_batch(&pragmas).expect("pragmas");
    for table in tables {
        connection.execute_batch("BEGIN").expect("a transaction");
        connection.execute_batch(&table.sql()).expect("a table");
        let marks = vec!["?"; table.columns.len()].join(",");
        let sql = format!("INSERT INTO {} VALUES({marks})", table.name);
        let mut insert = connection.prepare(&sql).expect("an insert");
        for (_, cells) in &table.rows {
            insert.execute(params_from_iter(cells)).expect("an insert");
        }
        connection.execute_batch("COMMIT").expect("the end of the transaction");
    }
    file
}

fn read(file: &TempFile) -> Vec<u8> {
    std::fs::read(file.path()).expect("the file")
}

/// Every page is the same. Left out are the header's counters, and the version at its end.
fn expect_same_file(size: PageSize, tables: &[Table]) {
    let mut ours = read(&assemble(Layout::of(size), tables));
    let mut theirs = read(&made_by_sqlite(size, tables));
    for bytes in [&mut ours, &mut theirs] {
        assert_eq!(bytes[24..28], bytes[92..96], "the page count is valid");
        for counter in [24..28, 40..44, 92..96] {
            bytes[counter].fill(0);
        }
    }
    assert_eq!(ours.len(), theirs.len());
    let different = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    if let Some(at) = different {
        let page = at / size.bytes();
        panic!("page {}, offset {}", page + 1, at % size.bytes());
    }
}

/// The records of the only row are the same. For tables whose text overflows page 1: SQLite writes
/// it before the row, we write it last, so the pages have other numbers.
fn expect_same_record(size: PageSize, table: &Table) {
    let tables = std::slice::from_ref(table);
    let ours = only_record(size, &read(&assemble(Layout::of(size), tables)));
    let theirs = only_record(size, &read(&made_by_sqlite(size, tables)));
    assert!(ours == theirs, "records of {} columns differ", table.columns.len());
}

/// The record in the only cell of page 2, its overflow pages included.
fn only_record(size: PageSize, file: &[u8]) -> Vec<u8> {
    let page = |number: u32| &file[(number as usize - 1) * size.bytes()..][..size.bytes()];
    let leaf = page(2);
    assert_eq!(leaf[..5], [0x0d, 0, 0, 0, 1]);
    let cell = &leaf[usize::from(u16::from_be_bytes([leaf[8], leaf[9]]))..];
    let (payload, length) = varint::read(cell).expect("a length");
    let cell = &cell[length..];
    let (rowid, length) = varint::read(cell).expect("a rowid");
    assert_eq!(rowid, 1);
    let (payload, cell) = (payload as usize, &cell[length..]);
    let local = local_bytes(size.usable(), payload);
    let mut record = cell[..local].to_vec();
    let mut link = if local < payload { number(cell, local) } else { 0 };
    while link != 0 {
        let next = page(link);
        record.extend_from_slice(&next[4..][..(payload - record.len()).min(size.usable() - 4)]);
        link = number(next, 0);
    }
    assert_eq!(record.len(), payload);
    record
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

/// Integers around every width.
pub(crate) fn integers() -> Vec<i64> {
    let mut integers = vec![0, 1, 2, -1, i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1];
    for bits in [7, 8, 15, 16, 23, 24, 31, 32, 39, 47, 48, 52, 53, 55, 62] {
        let power = 1_i64 << bits;
        integers.extend([power - 1, power, power + 1, -power - 1, -power, -power + 1]);
    }
    integers
}

pub(crate) fn reals() -> Vec<f64> {
    let mut reals: Vec<f64> = integers().iter().map(|&integer| integer as f64).collect();
    reals.extend([-0.0, 0.5, -0.5, 1e-300, -1e300, f64::MAX, f64::MIN, f64::EPSILON, 0.1]);
    reals.extend([f64::MIN_POSITIVE, 5e-324, -5e-324, f64::INFINITY, f64::NEG_INFINITY]);
    reals.extend([140_737_488_355_327.0, 140_737_488_355_328.0, -140_737_488_355_329.0]);
    reals
}

#[test]
fn every_integer_alone() {
    for integer in integers() {
        let table = Table::of_one_column([Cell::Integer(integer)]);
        expect_same_file(PageSize::ALL[0], &[table]);
    }
}

#[test]
fn every_real_alone() {
    for real in reals() {
        let mut table = Table::of_one_column([Cell::Real(real)]);
        expect_same_file(PageSize::ALL[0], &[table.clone()]);
        table.columns[0] = Column::Real;
        expect_same_file(PageSize::ALL[0], &[table]);
    }
}

#[test]
fn all_types_in_one_row() {
    let mut cells: Vec<Cell> = integers().into_iter().map(Cell::Integer).collect();
    cells.extend(reals().into_iter().map(Cell::Real));
    cells.push(Cell::Null);
    for length in [0, 1, 57, 58, 59, 127, 128, 300, 9000] {
        cells.push(Cell::Text("t".repeat(length)));
        cells.push(Cell::Blob(vec![0xb1; length]));
    }
    let columns = vec![Column::Any; cells.len()];
    let reals: Vec<Cell> = reals().into_iter().map(Cell::Real).collect();
    let real_columns = vec![Column::Real; reals.len()];
    for size in PageSize::ALL {
        expect_same_record(size, &Table::new(&columns, vec![(1, cells.clone())]));
        expect_same_record(size, &Table::new(&real_columns, vec![(1, reals.clone())]));
    }
}

/// The header's length takes a second byte when it is 128, and counts itself.
#[test]
fn headers_of_all_lengths() {
    let size = PageSize::ALL[3];
    for columns in (1..8).chain(14..18).chain(124..132).chain([1000, 1999, 2000]) {
        let cells = (0..columns).map(|i| Cell::Integer(i % 3)).collect();
        let columns = vec![Column::Any; columns as usize];
        expect_same_record(size, &Table::new(&columns, vec![(1, cells)]));
    }
    // Serial types of 3 bytes.
    for columns in [40, 41, 42, 43, 44] {
        let cells = vec![Cell::Blob(vec![7; 9000]); columns];
        let columns = vec![Column::Any; columns];
        expect_same_record(size, &Table::new(&columns, vec![(1, cells)]));
    }
}

/// Payloads around X, around the lengths at which K = X, and at which K = M, for up to 3 overflow
/// pages.
#[test]
fn overflow_borders() {
    for size in PageSize::ALL {
        let usable = size.usable();
        let local_max = local_bytes_max(usable);
        let local_min = (usable - 12) * 32 / 255 - 23;
        let mut payloads = vec![local_max - 1, local_max, local_max + 1, local_max + 2];
        for pages in 1..4 {
            let least = local_min + pages * (usable - 4);
            let most = least + local_max - local_min;
            payloads.extend([least - 1, least, least + 1, most - 1, most, most + 1, most + 2]);
        }
        for payload in payloads {
            // A serial type of 1, 2, 3 bytes, and as many of header length.
            let blob = |header: usize| vec![Cell::Blob(vec![0xee; payload - header])];
            let header = 1 + [0, 128, 16_384, 2_097_152]
                .iter()
                .filter(|&&border| 12 + 2 * payload >= border + 8)
                .count();
            let table =
                Table::new(&[Column::Any], vec![(1, blob(header)), (2, vec![Cell::Integer(5)])]);
            expect_same_file(size, &[table]);
        }
    }
}

/// Small rows that fill one leaf to its last byte, and one byte less.
#[test]
fn full_leaves() {
    for size in PageSize::ALL {
        // A NULL is the smallest row: a cell of 4 bytes and a pointer of 2.
        for nulls in [1, 2, (size.bytes() - 8) / 7] {
            let table = Table::of_one_column(vec![Cell::Null; nulls]);
            expect_same_file(size, &[table]);
        }
    }
    // 80 rows of 6 bytes with their pointers leave 24 of 512, of which the last row takes all.
    for last in [10, 16, 17] {
        let mut cells = vec![Cell::Null; 80];
        cells.push(Cell::Blob(vec![1; last]));
        expect_same_file(PageSize::ALL[0], &[Table::of_one_column(cells)]);
    }
}

#[test]
fn several_tables() {
    let mut tables = Vec::new();
    for i in 0..3 {
        let cells = (0..4 * i).map(|j| Cell::Text(format!("row {j}")));
        let mut table = Table::of_one_column(cells);
        table.name = format!("table_{i}");
        tables.push(table);
    }
    let empty = Table::of_one_column([]);
    tables.push(empty);
    // SQLite adds tables one by one, which changes no page but the first; ours come in the same
    // order.
    for size in &PageSize::ALL[1..] {
        expect_same_file(*size, &tables);
    }
}

/// A table of many leaves: SQLite numbers them otherwise, so they are compared in the order of
/// their rowids.
#[test]
fn leaves_of_a_long_table() {
    for size in PageSize::ALL {
        let mut random = Random(size.bytes() as u64);
        let rows = size.bytes() * 20 / 60;
        let row = |i: usize| {
            let text = "abcdefghijklmnopqrstuvwxyz".repeat(3);
            let text = text[..random.below(78) as usize].to_owned();
            (i as i64, vec![Cell::Integer(i as i64), Cell::Text(text), Cell::Real(i as f64 / 7.0)])
        };
        let table = Table::new(&[Column::Any; 3], (1..=rows).map(row).collect());
        let ours = leaves(size, &read(&assemble(Layout::of(size), std::slice::from_ref(&table))));
        let theirs = leaves(size, &read(&made_by_sqlite(size, &[table])));
        assert!(ours.len() > 10);
        assert!(ours == theirs, "leaves of {} bytes differ", size.bytes());
    }
}

/// The used parts of a table's leaves, its root being page 2.
fn leaves(size: PageSize, file: &[u8]) -> Vec<Vec<u8>> {
    let mut leaves = Vec::new();
    let mut pages = vec![2];
    while let Some(page) = pages.pop() {
        let page = &file[(page as usize - 1) * size.bytes()..][..size.bytes()];
        let half = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
        let cells = half(3);
        if page[0] == 0x0d {
            let used = [&page[..8 + 2 * cells], &page[half(5)..]].concat();
            leaves.push(used);
            continue;
        }
        assert_eq!(page[0], 0x05);
        pages.push(number(page, 8));
        pages.extend((0..cells).rev().map(|cell| number(page, half(12 + 2 * cell))));
    }
    leaves
}
