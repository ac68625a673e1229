use inrush_sqlite_pages::page::{local_bytes, local_bytes_max};
use inrush_sqlite_pages::{LeafPacker, LeafRun, PageSize, RecordWriter, Value};

use crate::assembler::{Cell, Column, Layout, RootPage, Table, assemble};
use crate::bytes::{integers, reals};
use crate::oracle::check;

#[test]
fn page_sizes() {
    for bytes in 0..200_000 {
        let legal = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].contains(&bytes);
        assert_eq!(PageSize::new(bytes).is_some(), legal, "{bytes}");
    }
    assert_eq!(
        PageSize::ALL.map(|size| PageSize::new(size.bytes() as u32)),
        PageSize::ALL.map(Some)
    );
}

/// What is in the cell obeys the format: X at most, M at least, and what is left for overflow pages
/// fills them, unless the cell has M.
#[test]
fn local_part_of_payloads() {
    for size in PageSize::ALL {
        let usable = size.usable();
        let least = (usable - 12) * 32 / 255 - 23;
        for payload in 1..4 * usable {
            let local = local_bytes(usable, payload);
            if payload <= local_bytes_max(usable) {
                assert_eq!(local, payload);
                continue;
            }
            assert!((least..=local_bytes_max(usable)).contains(&local));
            assert!(local == least || (payload - local).is_multiple_of(usable - 4));
        }
    }
}

#[test]
fn all_values_in_all_columns() {
    let mut cells = vec![Cell::Null, Cell::Text(String::new()), Cell::Blob(Vec::new())];
    cells.extend(integers().into_iter().map(Cell::Integer));
    cells.extend(reals().into_iter().map(Cell::Real));
    cells.push(Cell::Text("a\0b\u{1f600}".to_owned()));
    cells.push(Cell::Blob((0..=255).collect()));
    for size in PageSize::ALL {
        check(
            assemble(Layout::of(size), &[Table::of_one_column(cells.clone())]).path(),
            &[Table::of_one_column(cells.clone())],
            1,
        );
        let reals = reals().into_iter().map(|real| vec![Cell::Real(real)]);
        let table = Table::new(&[Column::Real], (1..).zip(reals).collect());
        check(assemble(Layout::of(size), std::slice::from_ref(&table)).path(), &[table], 2);
    }
}

#[test]
fn rowids_at_the_ends() {
    let far = [i64::MIN, i64::MIN + 1, -1, 0, 1, 127, 128, i64::MAX - 1, i64::MAX];
    for size in PageSize::ALL {
        for root in [RootPage::First, RootPage::Last] {
            for run_rows in [1, 2, 100] {
                let row = |rowid| (rowid, vec![Cell::Null, Cell::Blob(vec![3; size.bytes() / 3])]);
                let table = Table::new(&[Column::Key, Column::Any], far.map(row).to_vec());
                let file = assemble(Layout { size, run_rows, root }, std::slice::from_ref(&table));
                check(file.path(), &[table], 3);
            }
        }
    }
}

/// A run begins and ends with a record that overflows, and consists of nothing else.
#[test]
fn runs_of_overflowing_records() {
    for size in PageSize::ALL {
        for run_rows in [1, 2, 3] {
            for length in [size.bytes(), size.bytes() * 3, 200_000] {
                let cells = (0..5).map(|i| Cell::Blob(vec![i; length + usize::from(i)]));
                let table = Table::of_one_column(cells);
                let layout = Layout { size, run_rows, root: RootPage::First };
                check(assemble(layout, std::slice::from_ref(&table)).path(), &[table], 4);
            }
        }
    }
}

/// One writer of records is used for rows of all lengths, and a row that is given up leaves
/// nothing.
#[test]
fn a_record_leaves_nothing_behind() {
    let long = [b'x'; 70_000];
    let values = [
        vec![Value::Text(&long), Value::Integer(-5)],
        vec![Value::Null, Value::Integer(5)],
        vec![Value::Blob(&long[..58]), Value::Blob(&long[..57])],
        vec![Value::Real(1.5)],
        vec![Value::Text(b""), Value::Text(&long[..2])],
    ];
    let mut reused = RecordWriter::new(2);
    for row in values.iter().chain(values.iter().rev()) {
        let mut fresh = RecordWriter::new(2);
        row.iter().for_each(|value| fresh.push(*value));
        reused.text(&long[..100]);
        reused.clear();
        row.iter().for_each(|value| reused.push(*value));
        assert!(reused.finish() == fresh.finish());
    }
}

/// Runs made in memory that was full of other pages are the same as in fresh memory.
#[test]
fn a_run_leaves_nothing_behind() {
    for size in PageSize::ALL {
        let (mut packer, mut run) = (LeafPacker::new(size), LeafRun::new(size));
        for lengths in [[9000, 70_000, 10], [40, 50, 100], [100_000, 10, 10], [10, 10, 3000]] {
            let mut fresh = (LeafPacker::new(size), LeafRun::new(size));
            for (rowid, length) in (0..).zip(lengths) {
                let mut record = RecordWriter::new(1);
                record.blob(&vec![0xff; length]);
                let record = record.finish();
                packer.push(rowid, record);
                assert_eq!(packer.last_rowid(), Some(rowid));
                fresh.0.push(rowid, record);
            }
            assert!(packer.page_bytes() > 0);
            packer.finish(&mut run);
            fresh.0.finish(&mut fresh.1);
            assert!(run.pages() == fresh.1.pages());
            assert_eq!((&run.leaves, &run.links), (&fresh.1.leaves, &fresh.1.links));
            assert_eq!((packer.page_bytes(), packer.last_rowid()), (0, None));
        }
        packer.finish(&mut run);
        assert_eq!((run.page_count(), run.leaves.len()), (0, 0));
    }
}
