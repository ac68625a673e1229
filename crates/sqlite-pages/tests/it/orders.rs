//! The order of records against SQLite's `ORDER BY`.

use std::cmp::Ordering;

use inrush_sqlite_pages::RecordWriter;
use inrush_sqlite_pages::order::{compare, first_null, prefix, same_key};
use proptest::prelude::*;
use rusqlite::{Connection, params};

use crate::assembler::{Cell, Column, write_row};
use crate::bytes::{integers, reals};
use crate::random::cases;

pub(crate) fn record(cells: &[Cell]) -> Vec<u8> {
    let mut record = RecordWriter::new(cells.len());
    write_row(&mut record, &vec![Column::Any; cells.len()], cells);
    record.finish().to_vec()
}

/// Values that are near each other, or equal in one respect and not in another.
fn special() -> Vec<Cell> {
    let mut cells = vec![Cell::Null];
    cells.extend(integers().into_iter().map(Cell::Integer));
    cells.extend(reals().into_iter().map(Cell::Real));
    for power in [1_i64 << 52, 1 << 53, 1 << 54, 1 << 62, i64::MAX, i64::MIN + 1] {
        for near in -3..=3 {
            cells.push(Cell::Integer(power.saturating_add(near)));
            let real = power as f64;
            cells.push(Cell::Real(f64::from_bits(real.to_bits().wrapping_add_signed(near))));
        }
    }
    cells.extend([-1.5, 1.5, 1.0, 2.0, 0.999, 255.0, 255.5].map(Cell::Real));
    let texts = [
        "",
        "\0",
        "\0\0",
        "a",
        "a\0",
        "a\0b",
        "ab",
        "b",
        "\u{e4}",
        "\u{1f600}",
        "1",
        "B",
        "abcdefg",
        "abcdefgh",
        "abcdefgh\0",
        "abcdefghi",
        "abcdefgi",
    ];
    for text in texts {
        cells.push(Cell::Text(text.to_owned()));
        cells.push(Cell::Blob(text.as_bytes().to_vec()));
    }
    cells.push(Cell::Blob(vec![0xff; 9]));
    cells.push(Cell::Blob(vec![0xff; 8]));
    cells
}

/// The places of values in SQLite's order; equal ones have one place.
fn ranks(cells: &[Cell]) -> Vec<i64> {
    let connection = Connection::open_in_memory().expect("a database");
    connection.execute_batch("CREATE TABLE v(id INTEGER PRIMARY KEY, c)").expect("a table");
    let mut insert = connection.prepare("INSERT INTO v VALUES(?, ?)").expect("an insert");
    for (id, cell) in (0_i64..).zip(cells) {
        insert.execute(params![id, cell]).expect("an insert");
    }
    let sql = "SELECT dense_rank() OVER (ORDER BY c) AS r, id FROM v ORDER BY id";
    let mut ranks = connection.prepare(sql).expect("the ranks");
    let ranks = ranks.query_map([], |row| row.get(0)).expect("the ranks");
    ranks.map(|rank| rank.expect("a rank")).collect()
}

/// Every pair of values, alone and as the second field.
fn check_pairs(cells: &[Cell]) {
    let ranks = ranks(cells);
    let alone: Vec<Vec<u8>> = cells.iter().map(|cell| record(std::slice::from_ref(cell))).collect();
    let second: Vec<Vec<u8>> =
        cells.iter().map(|cell| record(&[Cell::Integer(7), cell.clone()])).collect();
    for (i, a) in cells.iter().enumerate() {
        for (j, b) in cells.iter().enumerate() {
            let expected = ranks[i].cmp(&ranks[j]);
            assert_eq!(compare(&alone[i], &alone[j]), expected, "{a:?} and {b:?}");
            assert_eq!(compare(&second[i], &second[j]), expected, "{a:?} and {b:?}");
            if prefix(&alone[i]) < prefix(&alone[j]) {
                assert_eq!(expected, Ordering::Less, "{a:?} and {b:?}");
            }
            let is_same = expected.is_eq() && *a != Cell::Null;
            assert_eq!(same_key(&alone[i], &alone[j], 1), is_same);
            assert_eq!(same_key(&second[i], &second[j], 2), is_same);
            assert!(same_key(&second[i], &second[j], 1));
        }
    }
}

#[test]
fn all_pairs_of_special_values() {
    check_pairs(&special());
}

/// A prefix tells most values apart, or it would not be worth its 8 bytes.
#[test]
fn prefixes_differ() {
    let of = |cell: Cell| prefix(&record(&[cell]));
    for i in 0..10_000 {
        assert!(of(Cell::Integer(i)) < of(Cell::Integer(i + 1)));
        assert!(of(Cell::Integer((1 << 50) + i)) < of(Cell::Integer((1 << 50) + i + 1)));
        assert!(of(Cell::Real(i as f64 / 8.0)) < of(Cell::Real((i + 1) as f64 / 8.0)));
    }
    let texts = ["", "a", "aaaaaaa", "aaaaaab", "aaaaaac"].map(|text| of(Cell::Text(text.into())));
    assert!(texts.is_sorted_by(|a, b| a < b));
    assert_eq!((of(Cell::Null), prefix(&[])), (0, 0));
}

#[test]
fn shorter_records_are_first() {
    let short = record(&[Cell::Integer(1)]);
    let long = record(&[Cell::Integer(1), Cell::Null]);
    assert_eq!(compare(&short, &long), Ordering::Less);
    assert_eq!(compare(&long, &short), Ordering::Greater);
    assert_eq!(compare(&record(&[Cell::Integer(2)]), &long), Ordering::Greater);
}

#[test]
fn nulls_are_found() {
    let with_null = record(&[Cell::Integer(1), Cell::Null, Cell::Text("a".into())]);
    let found = [0, 1, 2, 3].map(|fields| first_null(&with_null, fields));
    assert_eq!(found, [None, None, Some(1), Some(1)]);
    let two = record(&[Cell::Integer(0), Cell::Text(String::new())]);
    // What isn't there is NULL.
    assert_eq!((first_null(&two, 2), first_null(&two, 3)), (None, Some(2)));
    assert!(same_key(&two, &two, 2) && !same_key(&two, &two, 3));
    // A double that is not a number reads as NULL.
    let nan = [b"\x02\x07".as_slice(), &f64::NAN.to_bits().to_be_bytes()].concat();
    assert_eq!(first_null(&nan, 1), Some(0));
    assert_eq!((prefix(&nan), same_key(&nan, &nan, 1)), (0, false));
    assert_eq!(compare(&nan, &record(&[Cell::Null])), Ordering::Equal);
}

pub(crate) fn cell() -> impl Strategy<Value = Cell> {
    let special = proptest::sample::select(special());
    let bytes = || proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), any::<u8>()], 0..12);
    let text = proptest::collection::vec(proptest::sample::select(vec!["", "a", "b", "\0"]), 0..10);
    prop_oneof![
        4 => special,
        2 => any::<i64>().prop_map(Cell::Integer),
        2 => (any::<i64>(), 0..64).prop_map(|(bits, shift)| Cell::Integer(bits >> shift)),
        2 => (any::<i64>(), 0..64).prop_map(|(bits, shift)| Cell::Real((bits >> shift) as f64)),
        1 => any::<f64>().prop_filter("NaN is NULL", |real| !real.is_nan()).prop_map(Cell::Real),
        3 => text.prop_map(|text| Cell::Text(text.concat())),
        2 => bytes().prop_map(Cell::Blob),
    ]
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn any_pairs(cells in proptest::collection::vec(cell(), 1..40)) {
        check_pairs(&cells);
    }

    /// Rows of several columns, where the first ones are often equal.
    #[test]
    fn any_rows(
        pool in proptest::collection::vec(cell(), 1..6),
        picks in proptest::collection::vec([0_usize..100, 0..100, 0..100], 1..150),
    ) {
        let connection = Connection::open_in_memory().expect("a database");
        connection.execute_batch("CREATE TABLE v(id INTEGER PRIMARY KEY, a, b, c)").expect("a table");
        let mut insert = connection.prepare("INSERT INTO v VALUES(?, ?, ?, ?)").expect("an insert");
        let mut entries = Vec::new();
        for (id, pick) in (0_i64..).zip(&picks) {
            let [a, b, c] = pick.map(|pick| &pool[pick % pool.len()]);
            insert.execute(params![id, a, b, c]).expect("an insert");
            let cells = [a.clone(), b.clone(), c.clone(), Cell::Integer(id)];
            entries.push((record(&cells), id));
        }
        entries.reverse();
        entries.sort_by(|(a, _), (b, _)| prefix(a).cmp(&prefix(b)).then_with(|| compare(a, b)));
        let mut rows = connection.prepare("SELECT id FROM v ORDER BY a, b, c, id").expect("rows");
        let rows = rows.query_map([], |row| row.get(0)).expect("rows");
        let expected: Vec<i64> = rows.map(|row| row.expect("a row")).collect();
        let found: Vec<i64> = entries.into_iter().map(|(_, id)| id).collect();
        prop_assert_eq!(found, expected);
    }
}
