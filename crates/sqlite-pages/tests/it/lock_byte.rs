//! Page numbers near byte 2^30.

use inrush_sqlite_pages::{
    LeafPacker, LeafRun, PageBuffer, PageNumbers, PageSink, PageSize, Placement, RecordWriter,
    SchemaRow, lock_byte_page, schema,
};

use crate::assembler::{Assembler, Cell, Layout, RootPage, Table, TempFile};
use crate::oracle::{check_integrity, open};

#[test]
fn the_page_that_holds_the_byte() {
    for size in PageSize::ALL {
        let first = u64::from(lock_byte_page(size) - 1) * size.bytes() as u64;
        assert!((first..first + size.bytes() as u64).contains(&(1 << 30)));
    }
    assert_eq!(lock_byte_page(PageSize::ALL[3]), 262_145);
}

/// What a placement should be, number by number.
fn model(size: PageSize, root: Option<u32>, first: u32, count: u32) -> Vec<u32> {
    let lock = lock_byte_page(size);
    let others = (first..).filter(|page| *page != lock);
    root.into_iter().chain(others).take(count as usize).collect()
}

fn check_placement(placement: &Placement, size: PageSize, expected: &[u32]) {
    let pages: Vec<u32> = (0..placement.count()).map(|index| placement.page(index)).collect();
    assert_eq!(pages, expected);
    let mut written = Vec::new();
    let mut at = 0;
    for span in placement.spans() {
        assert_eq!(span.bytes.start, at);
        assert!(!span.bytes.is_empty());
        at = span.bytes.end;
        written.extend((span.page..).take(span.bytes.len() / size.bytes()));
    }
    assert_eq!(written, expected);
    assert!(placement.spans().count() <= 3);
}

#[test]
fn placements() {
    for size in PageSize::ALL {
        let lock = lock_byte_page(size);
        for first in lock - 5..lock + 3 {
            for count in 0..9 {
                let expected = model(size, None, first, count + 1);
                let placement = Placement::new(size, first, count);
                check_placement(&placement, size, &expected[..count as usize]);
                // The next run follows without a gap, and may name the lock-byte page.
                let next = Placement::new(size, placement.next_page(), 1);
                assert_eq!(next.page(0), expected[count as usize]);
                let mut numbers = PageNumbers::new(size, first);
                assert_eq!(numbers.take_run(count), placement);
                assert_eq!(numbers.take(), expected[count as usize]);
                assert_eq!(numbers.page_count(), expected[count as usize]);

                for root in [2, lock - 9, lock - 6] {
                    let expected = model(size, Some(root), first, count);
                    let placement = Placement::under_root(size, root, first, count);
                    check_placement(&placement, size, &expected);
                    let last = expected.iter().skip(1).last().map_or(first, |last| last + 1);
                    assert_eq!(placement.next_page(), last);
                    let mut numbers = PageNumbers::new(size, first);
                    assert_eq!(numbers.take_run_under_root(root, count), placement);
                }
            }
        }
    }
}

/// The chains of a run lead over the lock-byte page to the right bytes.
#[test]
fn links() {
    for size in PageSize::ALL {
        let lock = lock_byte_page(size);
        for first in lock - 12..lock + 2 {
            let (mut packer, mut run) = (LeafPacker::new(size), LeafRun::new(size));
            let mut record = RecordWriter::new(1);
            for rowid in 0..3 {
                record.blob(&vec![rowid as u8 + 1; 4 * size.bytes()]);
                packer.push(rowid, record.finish());
            }
            packer.finish(&mut run);
            let links = run.links.clone();
            let indices: Vec<u32> = links.iter().map(|link| number(run.pages(), *link)).collect();
            let placement = run.relocate(first);
            assert!(run.links.is_empty());
            let expected = model(size, None, first, run.page_count());
            for (link, index) in links.iter().zip(indices) {
                assert_eq!(number(run.pages(), *link), expected[index as usize]);
            }
            let placed = run.pages().to_vec();
            run.place(&placement);
            assert!(run.pages() == placed, "a placed run stays");
        }
    }
}

/// What is stored under a number lies where the placement says, whatever the order.
#[test]
fn buffers() {
    for size in PageSize::ALL {
        let lock = lock_byte_page(size);
        for first in lock - 4..lock + 2 {
            let mut buffer = PageBuffer::new(size, first);
            let numbers: Vec<u32> = (0..6).map(|_| buffer.reserve()).collect();
            assert_eq!(numbers, model(size, None, first, 6));
            for number in numbers.iter().rev() {
                buffer.store(*number, &vec![*number as u8; size.bytes()]);
            }
            for span in buffer.placement().spans() {
                let pages = buffer.pages[span.bytes].chunks(size.bytes());
                for (number, page) in (span.page..).zip(pages) {
                    assert!(page.iter().all(|byte| *byte == number as u8));
                }
            }
        }
    }
}

fn number(pages: &[u8], at: u32) -> u32 {
    u32::from_be_bytes(pages[at as usize..][..4].try_into().expect("4 bytes"))
}

#[test]
fn schema_pages() {
    for size in PageSize::ALL {
        let lock = lock_byte_page(size);
        let sql = format!("CREATE TABLE t({})", "a".repeat(size.bytes() * 3));
        let row =
            SchemaRow { kind: "table", name: "t", table_name: "t", root_page: 2, sql: Some(&sql) };
        for first in lock - 5..lock + 2 {
            let schema = schema(size, &[row], first);
            let count = schema.pages.len() / size.bytes();
            let expected = model(size, None, first, count as u32);
            // Each page leads to the next one.
            let links: Vec<u32> = (0..count)
                .map(|page| number(&schema.pages, (page * size.bytes()) as u32))
                .collect();
            assert_eq!(links[..count - 1], expected[1..]);
            assert_eq!(schema.next_page(), expected[count - 1] + 1);
            assert_eq!(schema.spans().next().map(|span| span.page), Some(expected[0]));
        }
    }
}

/// A file of a little more than 1 GiB, most of it holes: blobs of zeros, whose pages of 64 KiB
/// differ from zeros in their first 4 bytes only.
#[test]
fn a_real_file() {
    const ROWS: i64 = 66;
    const BLOB: usize = 1 << 24;
    let size = PageSize::ALL[7];
    let file = TempFile::new();
    let layout = Layout { size, run_rows: 1, root: RootPage::First };
    let mut assembler = Assembler::new(layout, file.path());
    let mut record = RecordWriter::new(1);
    let mut packer = LeafPacker::new(size);
    let zeros = vec![0; BLOB];
    let root_page = assembler.runs((1..=ROWS).map(|rowid| {
        record.blob(&zeros);
        packer.push(rowid, record.finish());
        let mut run = LeafRun::new(size);
        packer.finish(&mut run);
        run
    }));
    let sql = Table::of_one_column([Cell::Null]).sql();
    let row = SchemaRow { kind: "table", name: "t", table_name: "t", root_page, sql: Some(&sql) };
    assembler.finish(&[row]);
    let length = std::fs::metadata(file.path()).expect("the file").len();
    assert!(length > (1 << 30) + 10 * BLOB as u64 / 8);

    let connection = open(file.path());
    // Reads from the system's cache; otherwise every check copies the gigabyte once more.
    connection.execute_batch("PRAGMA mmap_size=2000000000").expect("a pragma");
    check_integrity(&connection);
    // The lock-byte page is within row 64.
    let equal = "SELECT count(*) FROM t WHERE rowid > 62 AND c0 = zeroblob(16777216)";
    let equal = connection.query_row(equal, [], |row| row.get::<_, i64>(0)).expect("a count");
    assert_eq!(equal, 4);
    let life = "DELETE FROM t WHERE rowid IN (3, 63, 64); INSERT INTO t VALUES(zeroblob(30000000))";
    connection.execute_batch(life).expect("SQLite goes on with the file");
    check_integrity(&connection);
}
