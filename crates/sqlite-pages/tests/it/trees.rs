use inrush_sqlite_pages::{PageSink, PageSize, Root, TableTree};

use crate::assembler::{Cell, Column, Layout, RootPage, Table, assemble};
use crate::oracle::{check, check_integrity, check_rows, open};

/// A row that fills a page of 512 bytes to more than half, so that every leaf has one.
fn wide_rows(count: i64, rowid: impl Fn(i64) -> i64) -> Table {
    let row = |i| (rowid(i), vec![Cell::Null, Cell::Blob(vec![i as u8; 300])]);
    Table::new(&[Column::Key, Column::Any], (0..count).map(row).collect())
}

/// Every number of leaves up to three levels, where one more cell changes what goes where.
#[test]
fn every_number_of_leaves() {
    let size = PageSize::ALL[0];
    for root in [RootPage::First, RootPage::Last] {
        for count in (0..140).chain((140..3000).step_by(263)) {
            let table = wide_rows(count, |i| i);
            let layout = Layout { size, run_rows: 7, root };
            let file = assemble(layout, std::slice::from_ref(&table));
            let connection = open(file.path());
            check_integrity(&connection);
            check_rows(&connection, &table, &table.rows);
        }
    }
}

/// Four levels of interior pages over leaves, with the longest rowids there are.
#[test]
fn deep_tree() {
    let table = wide_rows(40_000, |i| i64::MIN + i * 5);
    let layout = Layout { size: PageSize::ALL[0], run_rows: 1000, root: RootPage::First };
    check(assemble(layout, std::slice::from_ref(&table)).path(), &[table], 5);
}

#[test]
fn all_page_sizes() {
    for size in PageSize::ALL {
        for root in [RootPage::First, RootPage::Last] {
            let row =
                |i| (i * 1000, vec![Cell::Integer(i), Cell::Text("x".repeat(i as usize % 90))]);
            let table = Table::new(&[Column::Any, Column::Text], (-5000..5000).map(row).collect());
            let file = assemble(Layout { size, run_rows: 999, root }, std::slice::from_ref(&table));
            check(file.path(), &[table], 6);
        }
    }
}

/// Looks at pages and forgets them.
struct InteriorPages {
    size: PageSize,
    next: u32,
}

impl PageSink for InteriorPages {
    fn reserve(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn store(&mut self, number: u32, page: &[u8]) {
        assert_eq!((number, page.len()), (self.next, self.size.bytes()));
        let half = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
        assert!(half(3) > 0);
        // Nothing of the page before is left in the free part.
        assert!(page[12 + 2 * half(3)..half(5)].iter().all(|byte| *byte == 0));
    }
}

/// No interior page is without a cell, whatever the number of leaves.
#[test]
fn interior_pages_have_cells() {
    for size in [PageSize::ALL[0], PageSize::ALL[7]] {
        for count in (0..200).chain((200..30_000).step_by(997)) {
            let mut sink = InteriorPages { size, next: 1_000_000 };
            let mut tree = TableTree::new(size);
            for leaf in 0..count {
                tree.push(leaf + 2, i64::from(leaf), &mut sink);
            }
            match (count, tree.finish(&mut sink)) {
                (0, root) => assert_eq!(root, Root::Empty),
                (1, root) => assert_eq!(root, Root::Leaf(2)),
                (_, Root::Interior(page)) => {
                    sink.place(&page);
                }
                (_, root) => panic!("{count} leaves and {root:?}"),
            }
        }
    }
}
