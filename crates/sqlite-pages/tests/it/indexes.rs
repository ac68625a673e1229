//! Indexes and tables without a rowid, in files that SQLite reads and goes on working with.

use std::path::Path;

use inrush_sqlite_pages::order::compare;
use inrush_sqlite_pages::page::index_local_bytes_max;
use inrush_sqlite_pages::{PageSize, RecordReader, RecordWriter};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::assembler::{Cell, Column, Layout, RootPage, Row, Table, TempFile};
use crate::bytes::{integers, reals};
use crate::index_assembler::{Index, Indexed, Kind, assemble_indexed};
use crate::index_pages::{IndexPages, Maker, read_index};
use crate::oracle::{check_integrity, open};
use crate::random_numbers::Random;

/// All rows of a query.
fn rows(connection: &Connection, sql: &str, cells: &[&Cell]) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).expect(sql);
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|i| row.get(i)).collect();
    let rows = statement.query_map(params_from_iter(cells), row).expect(sql);
    rows.map(|row| row.expect("a row")).collect()
}

/// What is found through each index is what is found without it.
fn check_look_ups(connection: &Connection, indexed: &Indexed, random: &mut Random) {
    let table = &indexed.table;
    for (name, index) in indexed.names().iter().zip(&indexed.indexes) {
        let list: Vec<String> = index.columns.iter().map(|i| format!("c{i}")).collect();
        let list = list.join(",");
        let all =
            |source: &str| format!("SELECT {list} FROM {} {source} ORDER BY {list}", table.name);
        let by_index = all(&format!("INDEXED BY {name}"));
        let plan = rows(connection, &format!("EXPLAIN QUERY PLAN {by_index}"), &[]);
        assert!(format!("{plan:?}").contains(&format!("INDEX {name}")), "{plan:?}");
        assert!(!format!("{plan:?}").contains("TEMP B-TREE"), "the index has the order: {plan:?}");
        assert!(rows(connection, &by_index, &[]) == rows(connection, &all("NOT INDEXED"), &[]));

        let conditions: Vec<String> = index.columns.iter().map(|i| format!("c{i} IS ?")).collect();
        let equal = |source: &str| {
            let conditions = conditions.join(" AND ");
            format!("SELECT * FROM {} {source} WHERE {conditions}", table.name)
        };
        let by_index = equal(&format!("INDEXED BY {name}"));
        for look_up in 0..table.rows.len().min(20) {
            let cells = &table.rows[random.below(table.rows.len() as u64) as usize].1;
            let cells: Vec<&Cell> = index.columns.iter().map(|i| &cells[*i]).collect();
            if look_up == 0 {
                let plan = rows(connection, &format!("EXPLAIN QUERY PLAN {by_index}"), &cells);
                assert!(format!("{plan:?}").contains(&format!("INDEX {name} (")), "{plan:?}");
            }
            let mut found = rows(connection, &by_index, &cells);
            let mut expected = rows(connection, &equal("NOT INDEXED"), &cells);
            for rows in [&mut found, &mut expected] {
                rows.sort_by_cached_key(|row| format!("{row:?}"));
            }
            assert!(found == expected && !found.is_empty());
        }
    }
}

/// SQLite goes on working with the table: deletes and inserts, `REINDEX`, `VACUUM`.
fn check_life(connection: &Connection, indexed: &Indexed, random: &mut Random) {
    let table = &indexed.table;
    let columns = table.columns.len();
    let count = || {
        let sql = format!("SELECT count(*) FROM {} NOT INDEXED", table.name);
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).expect("a count") as usize
    };
    assert_eq!(count(), table.rows.len());
    connection.execute_batch("BEGIN").expect("a transaction");
    let conditions: Vec<String> = (0..columns).map(|i| format!("c{i} IS ?")).collect();
    let delete = format!("DELETE FROM {} WHERE {}", table.name, conditions.join(" AND "));
    let mut delete = connection.prepare(&delete).expect("a delete");
    let marks = vec!["?"; columns].join(",");
    let insert = format!("INSERT INTO {} VALUES({marks})", table.name);
    let mut insert = connection.prepare(&insert).expect("an insert");
    let mut left = table.rows.len();
    for _ in 0..table.rows.len().min(40) {
        let cells = &table.rows[random.below(table.rows.len() as u64) as usize].1;
        let deleted = delete.execute(params_from_iter(cells)).expect("a delete");
        left -= deleted;
        if deleted > 0 && random.below(3) > 0 {
            insert.execute(params_from_iter(cells)).expect("an insert");
            left += 1;
        }
    }
    connection.execute_batch("COMMIT").expect("the end of the transaction");
    for sql in ["", "REINDEX", "VACUUM"] {
        connection.execute_batch(sql).expect(sql);
        check_integrity(connection);
        assert_eq!(count(), left);
    }
}

/// The same database, made by SQLite.
fn made_by_sqlite(size: PageSize, indexed: &Indexed, indexes_first: bool) -> TempFile {
    let file = TempFile::new();
    let connection = open(file.path());
    let pragma = format!("PRAGMA page_size={}", size.bytes());
    connection.execute_batch(&pragma).expect("a pragma");
    let (table, indexes) = indexed.sql();
    connection.execute_batch(&format!("{table}; BEGIN")).expect("a table");
    let create_indexes = || {
        for sql in indexes.iter().flatten() {
            connection.execute_batch(sql).expect("an index");
        }
    };
    if indexes_first {
        create_indexes();
    }
    let columns: Vec<String> = (0..indexed.table.columns.len()).map(|i| format!("c{i}")).collect();
    // Any name of the rowid will do that is no column's.
    let rowid = if indexed.key.is_empty() { "rowid," } else { "" };
    let marks = if indexed.key.is_empty() { "?," } else { "" };
    let sql = format!(
        "INSERT INTO {}({rowid}{}) VALUES({marks}{})",
        indexed.table.name,
        columns.join(","),
        vec!["?"; columns.len()].join(",")
    );
    let mut insert = connection.prepare(&sql).expect("an insert");
    for (rowid, cells) in &indexed.table.rows {
        let mut values = cells.clone();
        if indexed.key.is_empty() {
            values.insert(0, Cell::Integer(*rowid));
        }
        insert.execute(params_from_iter(values)).expect("an insert");
    }
    if !indexes_first {
        create_indexes();
    }
    connection.execute_batch("COMMIT").expect("the end of the transaction");
    file
}

/// The b-trees of a file that are indexes, or the table itself when it has no rowid.
fn index_trees(path: &Path, indexed: &Indexed, maker: Maker) -> Vec<IndexPages> {
    let connection = open(path);
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
    let mut names = indexed.names();
    if !indexed.key.is_empty() {
        names.push(indexed.table.name.clone());
    }
    let root = |name: &String| connection.query_row(sql, [name], |row| row.get::<_, u32>(0));
    let file = std::fs::read(path).expect("the file");
    let size = u32::from(u16::from_be_bytes([file[16], file[17]]));
    let size = PageSize::new(if size == 1 { 65536 } else { size }).expect("a page size");
    names.iter().map(|name| read_index(&file, size, root(name).expect("a root"), maker)).collect()
}

/// Pages are full: what is behind a leaf would not have fit. At each level the last page but one
/// may have given up an entry to the last one.
fn check_full(tree: &IndexPages) {
    for (level, pages) in tree.pages.iter().enumerate() {
        for page in pages.iter().rev().skip(2) {
            let next = &tree.entries[page.entries_before_end];
            assert!(next.level > level);
            let bytes = if level == 0 { next.cell_bytes } else { 4 + next.cell_bytes };
            assert!(page.free < bytes + 2, "{} bytes free, {bytes} needed", page.free);
        }
    }
}

/// Payloads are SQLite's, byte for byte, whether it makes the index before or after the rows.
///
/// With one exception. Of a whole number in a column of REAL affinity SQLite has two forms: the
/// short one is in a table without indexes, and where `CREATE INDEX` copies it; where there is an
/// index when the row is inserted, version 3.54 puts the double into both. We have the short one.
fn check_bytes(path: &Path, size: PageSize, indexed: &Indexed) {
    let ours = index_trees(path, indexed, Maker::Us);
    ours.iter().for_each(check_full);
    let columns = indexed.trees();
    let has_index = !indexed.key.is_empty()
        || indexed.indexes.iter().any(|index| index.kind == Kind::Automatic);
    for indexes_first in [false, true] {
        let file = made_by_sqlite(size, indexed, indexes_first);
        let theirs = index_trees(file.path(), indexed, Maker::Sqlite);
        for ((ours, theirs), columns) in ours.iter().zip(&theirs).zip(&columns) {
            assert_eq!(ours.entries.len(), theirs.entries.len());
            for (ours, theirs) in ours.entries.iter().zip(&theirs.entries) {
                let equal = if indexes_first || has_index {
                    ours.payload == with_short_reals(&theirs.payload, columns)
                } else {
                    ours.payload == theirs.payload
                };
                assert!(equal, "{:x?}, SQLite has {:x?}", ours.payload, theirs.payload);
            }
            // Longer payloads can take less of a leaf, as they overflow.
            let is_same = std::iter::zip(&ours.entries, &theirs.entries)
                .all(|(ours, theirs)| ours.payload == theirs.payload);
            let (ours, theirs) = (ours.pages[0].len(), theirs.pages[0].len());
            assert!(ours <= theirs || !is_same, "{ours} leaves, SQLite has {theirs}");
        }
    }
}

/// The record with the short form of whole numbers in its columns of REAL affinity.
fn with_short_reals(payload: &[u8], columns: &[Column]) -> Vec<u8> {
    let mut record = RecordWriter::new(columns.len());
    for (field, column) in RecordReader::new(payload).zip(columns) {
        match (field.value(), column) {
            (inrush_sqlite_pages::Value::Real(real), Column::Real) => record.compact_real(real),
            (value, _) => record.push(value),
        }
    }
    record.finish().to_vec()
}

/// Everything above.
pub(crate) fn check(layout: Layout, indexed: &Indexed, seed: u64) {
    let file = assemble_indexed(layout, indexed);
    check_bytes(file.path(), layout.size, indexed);
    let connection = open(file.path());
    check_integrity(&connection);
    let random = &mut Random(seed);
    check_look_ups(&connection, indexed, random);
    check_life(&connection, indexed, random);
}

/// Rows with all that an index has to order: numbers of both kinds, texts and blobs that begin
/// alike, NULLs, and values that overflow.
fn mixed_rows(count: i64, size: PageSize) -> Vec<Row> {
    let (integers, reals) = (integers(), reals());
    let mut random = Random(count as u64);
    let local_max = index_local_bytes_max(size.usable());
    let mut cell = move |long: bool| match random.below(8) {
        0 => Cell::Null,
        1 => Cell::Integer(random.pick(&integers)),
        2 => Cell::Integer(random.below(20) as i64 - 10),
        3 => Cell::Real(random.pick(&reals)),
        4 => Cell::Text("ab\0c".repeat(random.below(6) as usize)),
        5 => Cell::Blob(b"ab\0c".repeat(random.below(6) as usize)),
        _ if long && random.below(4) == 0 => {
            let length = local_max as u64 * (1 + random.below(3)) + random.below(12);
            Cell::Blob(vec![random.below(3) as u8; length as usize - 6])
        }
        _ => Cell::Text(format!("name {}", random.below(200))),
    };
    let real = |i: i64| match i % 5 {
        0 => Cell::Null,
        1 => Cell::Real((i % 11) as f64),
        _ => Cell::Real(i as f64 / 7.0),
    };
    let rows = (0..count).map(|i| {
        let text = Cell::Text(format!("{:x}", i * 7919 % 1009));
        (
            i * 3 - 100,
            vec![
                Cell::Integer(i * 3 - 100),
                cell(true),
                real(i),
                text,
                Cell::Integer(i),
                cell(false),
            ],
        )
    });
    rows.collect()
}

const MIXED: [Column; 6] =
    [Column::Key, Column::Any, Column::Real, Column::Text, Column::Any, Column::Any];

#[test]
fn mixed_values() {
    for size in PageSize::ALL {
        for (root, count) in [(RootPage::First, 1500), (RootPage::Last, 33)] {
            let table = Table::new(&MIXED, mixed_rows(count, size));
            let indexes = [
                Index::new(Kind::Plain, &[1]),
                Index::new(Kind::Automatic, &[4]),
                Index::new(Kind::Plain, &[2, 5, 1]),
                Index::new(Kind::Unique, &[1, 4]),
                Index::new(Kind::Automatic, &[5, 3, 4, 2]),
                Index::new(Kind::Plain, &[3, 0]),
            ];
            let layout = Layout { size, run_rows: 100, root };
            check(layout, &Indexed::new(table, &indexes), 11);
        }
    }
}

#[test]
fn without_rowid() {
    for size in PageSize::ALL {
        for (root, count) in [(RootPage::First, 700), (RootPage::Last, 20)] {
            let mut table = Table::new(&MIXED, mixed_rows(count, size));
            table.columns[0] = Column::Any;
            let indexes = [
                Index::new(Kind::Plain, &[1]),
                Index::new(Kind::Automatic, &[4, 2]),
                Index::new(Kind::Plain, &[2, 5]),
            ];
            let indexed = Indexed::without_rowid(table, &[3, 4], &indexes);
            check(Layout { size, run_rows: 100, root }, &indexed, 12);
        }
    }
}

/// Whole numbers in a column of REAL affinity are integers in the index as they are in the table:
/// those of 48 bits, and no others. That is what `CREATE INDEX` makes.
#[test]
fn reals_that_are_whole() {
    let mut random = Random(5);
    let mut reals = reals();
    reals.extend((0..300).map(|_| (random.bits() as i64 >> random.below(64)) as f64));
    let row = |(rowid, real): (i64, f64)| {
        (rowid, vec![Cell::Real(real), Cell::Real(real), Cell::Integer(rowid)])
    };
    let rows = (1..).zip(reals).map(row).collect();
    let table = Table::new(&[Column::Real, Column::Any, Column::Any], rows);
    let indexes = [Index::new(Kind::Plain, &[0]), Index::new(Kind::Plain, &[1, 0])];
    let size = PageSize::ALL[3];
    check(Layout::of(size), &Indexed::new(table.clone(), &indexes), 13);
    check(Layout::of(size), &Indexed::without_rowid(table, &[2], &indexes), 14);
}

#[test]
fn no_rows_and_few() {
    for size in PageSize::ALL {
        for root in [RootPage::First, RootPage::Last] {
            for count in 0..4 {
                let mut table = Table::new(&MIXED, mixed_rows(count, size));
                let indexes = [Index::new(Kind::Plain, &[1]), Index::new(Kind::Automatic, &[4])];
                let layout = Layout { size, run_rows: 100, root };
                check(layout, &Indexed::new(table.clone(), &indexes), 15);
                table.columns[0] = Column::Any;
                check(layout, &Indexed::without_rowid(table, &[3], &indexes), 16);
            }
        }
    }
}

/// A table without a rowid that has one column: blobs in ascending order, of the given lengths.
fn blobs(lengths: impl IntoIterator<Item = usize>) -> Indexed {
    let blob = |(i, length): (u32, usize)| {
        let mut blob = i.to_be_bytes().to_vec();
        blob.resize(length, 0xbb);
        vec![Cell::Blob(blob)]
    };
    let rows = (0..).zip((0..).zip(lengths).map(blob)).collect();
    Indexed::without_rowid(Table::new(&[Column::Any], rows), &[0], &[])
}

/// Integrity, order and fullness; for many small trees.
fn check_quickly(layout: Layout, indexed: &Indexed) -> IndexPages {
    let file = assemble_indexed(layout, indexed);
    check_integrity(&open(file.path()));
    let tree = index_trees(file.path(), indexed, Maker::Us).pop().expect("a tree");
    check_full(&tree);
    assert_eq!(tree.entries.len(), indexed.table.rows.len());
    assert!(tree.entries.is_sorted_by(|a, b| compare(&a.payload, &b.payload).is_lt()));
    tree
}

/// Every number of entries around those that fill a leaf, two leaves, an interior page.
#[test]
fn every_number_of_entries() {
    let size = PageSize::ALL[0];
    for root in [RootPage::First, RootPage::Last] {
        for count in (0..70).chain((70..2500).step_by(199)) {
            let layout = Layout { size, run_rows: 1, root };
            // 6 entries of 84 bytes fill a leaf to the last byte.
            let tree = check_quickly(layout, &blobs(vec![78; count]));
            let levels = match count {
                0..=6 => 1,
                7..=41 => 2,
                _ => tree.pages.len().max(3),
            };
            assert_eq!(tree.pages.len(), levels, "{count} entries");
        }
    }
}

/// Leaves that are full to the last byte, to the last but one, and so on.
#[test]
fn every_length() {
    let size = PageSize::ALL[0];
    for length in (4..260).chain([500, 512, 1000, 1020, 3000]) {
        for count in [3, 9, 60] {
            check_quickly(Layout::of(size), &blobs(vec![length; count]));
        }
    }
    for size in [PageSize::ALL[2], PageSize::ALL[7]] {
        let local_max = index_local_bytes_max(size.usable());
        let usable = size.usable();
        for length in [local_max - 8, usable / 3, usable / 8, usable - 4, usable, 2 * usable] {
            for length in length - 6..length + 12 {
                check_quickly(Layout::of(size), &blobs(vec![length; 17]));
            }
        }
    }
}

/// A short entry behind a long one that no longer fits must not slip in before it.
#[test]
fn short_behind_long() {
    let size = PageSize::ALL[0];
    for short in 1..8 {
        for phase in 0..40 {
            let length = |i: usize| if (i + phase).is_multiple_of(short + 1) { 98 } else { 4 };
            check_quickly(Layout::of(size), &blobs((0..200).map(length)));
        }
    }
}

/// Trees of many levels: the longest entries without overflow on the smallest pages.
#[test]
fn deep_trees() {
    let size = PageSize::ALL[0];
    let tree = check_quickly(Layout::of(size), &blobs(vec![98; 20_000]));
    assert!(tree.pages.len() >= 6, "{} levels", tree.pages.len());
}

/// A record of one value that takes no bytes makes a cell of 3 bytes, which has to be 4.
#[test]
fn the_shortest_entry() {
    for size in PageSize::ALL {
        for value in [Cell::Integer(0), Cell::Integer(1), Cell::Text(String::new())] {
            let table = Table::new(&[Column::Any], vec![(1, vec![value])]);
            check(Layout::of(size), &Indexed::without_rowid(table, &[0], &[]), 17);
        }
        let cells =
            [Cell::Integer(0), Cell::Integer(1), Cell::Integer(2), Cell::Text(String::new())];
        let rows = (1..).zip(cells.map(|cell| vec![cell])).collect();
        let table = Table::new(&[Column::Any], rows);
        check(Layout::of(size), &Indexed::without_rowid(table, &[0], &[]), 18);
    }
}

/// The same behind other entries: on a page that had others before, and as the entry that goes up
/// because the last one no longer fits.
#[test]
fn the_shortest_entry_is_last() {
    let size = PageSize::ALL[0];
    for count in 60..240 {
        let mut rows: Vec<Row> = (1..=count).map(|i| (i, vec![Cell::Integer(1000 + i)])).collect();
        rows.push((count + 1, vec![Cell::Text(String::new())]));
        rows.push((count + 2, vec![Cell::Blob(Vec::new())]));
        let table = Table::new(&[Column::Any], rows);
        check_quickly(Layout::of(size), &Indexed::without_rowid(table, &[0], &[]));
    }
}

/// SQLite finds what is there twice, also in an index that it didn't make.
#[test]
fn unique_is_kept() {
    let size = PageSize::ALL[0];
    let row = |i| (i, vec![Cell::Text(format!("name {i}")), Cell::Integer(i)]);
    let table = Table::new(&[Column::Text, Column::Any], (0..500).map(row).collect());
    let indexes = [Index::new(Kind::Automatic, &[0]), Index::new(Kind::Unique, &[1, 0])];
    let file = assemble_indexed(Layout::of(size), &Indexed::new(table, &indexes));
    let connection = open(file.path());
    for i in 0..500 {
        let twice = connection.execute("INSERT INTO t VALUES('name ' || ?, -1)", [i]);
        assert!(twice.is_err_and(|error| error.to_string().contains("UNIQUE")));
    }
    connection.execute("INSERT INTO t VALUES('name 500', -1)", []).expect("a new name");
    check_integrity(&connection);
}
