//! Records read, and put together anew.

use inrush_sqlite_pages::order::{compare, first_null, prefix, same_key};
use inrush_sqlite_pages::{ProjectedColumn, Projection, RecordReader, Value};
use proptest::prelude::*;

use crate::assembler::Cell;
use crate::orders::{cell, record};
use crate::random::cases;

fn values(record: &[u8]) -> Vec<Cell> {
    let cell = |value| match value {
        Value::Null => Cell::Null,
        Value::Integer(value) => Cell::Integer(value),
        Value::Real(value) => Cell::Real(value),
        Value::Text(text) => Cell::Text(String::from_utf8(text.to_vec()).expect("UTF-8")),
        Value::Blob(blob) => Cell::Blob(blob.to_vec()),
    };
    RecordReader::new(record).map(|field| cell(field.value())).collect()
}

/// The record of the cells that are chosen.
fn expected(cells: &[Cell], rowid: i64, columns: &[ProjectedColumn]) -> Vec<u8> {
    let cell = |column: &ProjectedColumn| match column {
        ProjectedColumn::Column(index) => cells.get(*index).cloned().unwrap_or(Cell::Null),
        ProjectedColumn::Rowid => Cell::Integer(rowid),
    };
    record(&columns.iter().map(cell).collect::<Vec<_>>())
}

fn project(record: &[u8], rowid: i64, columns: &[ProjectedColumn]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    Projection::new(columns).write(record, rowid, &mut out);
    assert_eq!(out[..6], *b"before");
    out.split_off(6)
}

/// The header's length takes a second byte when it is 128, and counts itself.
#[test]
fn headers_of_all_lengths() {
    for count in (0..8).chain(120..132).chain([1000, 2000, 20_000]) {
        let cells: Vec<Cell> = (0..count).map(|i| Cell::Integer(i % 300 - 150)).collect();
        let table = record(&cells);
        assert!(values(&table) == cells);
        let mut columns: Vec<_> = (0..count as usize).map(ProjectedColumn::Column).collect();
        assert!(project(&table, 5, &columns) == table);
        columns.reverse();
        columns.push(ProjectedColumn::Rowid);
        assert!(project(&table, -5, &columns) == expected(&cells, -5, &columns));
    }
}

/// One projection is used for records of all lengths.
#[test]
fn a_record_leaves_nothing_behind() {
    let columns = [ProjectedColumn::Column(2), ProjectedColumn::Rowid, ProjectedColumn::Column(0)];
    let mut projection = Projection::new(&columns);
    for count in [3, 1, 5, 0, 2, 4] {
        let cells: Vec<Cell> = (0..count).map(|i| Cell::Text("x".repeat(i * 100))).collect();
        let mut out = Vec::new();
        projection.write(&record(&cells), 9, &mut out);
        assert_eq!(out, expected(&cells, 9, &columns));
    }
}

/// The fields end where the bytes are no record.
#[test]
fn what_is_no_record() {
    let cases: [(&[u8], usize); 14] = [
        (b"", 0),
        (b"\x00", 0),
        (b"\x01", 0),
        // Shorter than its own length; longer than the record.
        (b"\x80\x01\x00", 0),
        (b"\x05\x00", 0),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 0),
        (b"\x80", 0),
        // Values that aren't there as a whole.
        (b"\x03\x08\x01", 1),
        (b"\x03\x01\x06\x07\x00\x00", 1),
        (b"\x02\x0f", 0),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0),
        // Serial types that no file has, and one that is cut off.
        (b"\x04\x08\x0a\x08", 1),
        (b"\x04\x08\x0b\x08", 1),
        (b"\x03\x08\x80", 1),
    ];
    for (bytes, fields) in cases {
        let mut reader = RecordReader::new(bytes);
        assert_eq!(reader.by_ref().count(), fields, "{bytes:x?}");
        assert_eq!(reader.next(), None);
        let entry = project(bytes, 3, &[ProjectedColumn::Column(fields), ProjectedColumn::Rowid]);
        assert_eq!(entry, b"\x03\x00\x01\x03");
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_record(
        cells in proptest::collection::vec(cell(), 0..20),
        rowid in any::<i64>(),
        picks in proptest::collection::vec(proptest::option::of(0_usize..22), 0..20),
    ) {
        let table = record(&cells);
        prop_assert_eq!(values(&table), cells.clone());
        let column = |pick: &Option<usize>| {
            pick.map_or(ProjectedColumn::Rowid, ProjectedColumn::Column)
        };
        let columns: Vec<ProjectedColumn> = picks.iter().map(column).collect();
        prop_assert_eq!(project(&table, rowid, &columns), expected(&cells, rowid, &columns));
    }

    /// Any bytes can be given to everything that reads records.
    #[test]
    fn any_bytes(
        a in proptest::collection::vec(prop_oneof![0_u8..16, any::<u8>()], 0..24),
        b in proptest::collection::vec(prop_oneof![0_u8..16, any::<u8>()], 0..24),
    ) {
        let columns = [5, 0, 1].map(ProjectedColumn::Column);
        let projected = project(&a, 1, &columns);
        prop_assert_eq!(RecordReader::new(&projected).count(), 3);
        prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
        prop_assert!(compare(&a, &a).is_eq());
        if prefix(&a) < prefix(&b) {
            prop_assert!(compare(&a, &b).is_lt());
        }
        let fields = RecordReader::new(&a).count();
        prop_assert_eq!(same_key(&a, &a, fields + 1), false);
        prop_assert_eq!(same_key(&a, &a, fields), first_null(&a, fields).is_none());
        let bytes: usize = RecordReader::new(&a).map(|field| field.bytes.len()).sum();
        prop_assert!(bytes <= a.len());
    }
}
