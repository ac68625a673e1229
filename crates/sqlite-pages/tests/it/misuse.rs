use inrush_sqlite_pages::{
    LeafPacker, LeafRun, PageBuffer, PageNumbers, PageSize, Placement, RecordWriter, TableTree,
};

const SIZE: PageSize = PageSize::ALL[0];

#[test]
#[should_panic(expected = "rowids ascend")]
fn rowid_twice() {
    let mut packer = LeafPacker::new(SIZE);
    packer.push(7, &[2, 0]);
    packer.push(7, &[2, 0]);
}

#[test]
#[should_panic(expected = "rowids ascend")]
fn leaves_out_of_order() {
    let mut tree = TableTree::new(SIZE);
    let mut sink = PageBuffer::new(SIZE, 4);
    tree.push(2, 7, &mut sink);
    tree.push(3, 6, &mut sink);
}

#[test]
#[should_panic(expected = "one page size")]
fn another_page_size() {
    let mut packer = LeafPacker::new(SIZE);
    packer.finish(&mut LeafRun::new(PageSize::ALL[1]));
}

#[test]
#[should_panic(expected = "a placement is for one run")]
fn placement_of_another_run() {
    LeafRun::new(SIZE).place(&Placement::new(SIZE, 2, 1));
}

#[test]
#[should_panic(expected = "2^32 - 2 pages")]
fn too_many_pages() {
    let _ = PageNumbers::new(SIZE, u32::MAX - 10).take_run(11);
}

#[test]
#[should_panic(expected = "numbered from 1")]
fn page_zero() {
    let _ = Placement::new(SIZE, 0, 1);
}

#[test]
#[should_panic(expected = "out of bounds")]
fn more_values_than_columns() {
    let mut record = RecordWriter::new(0);
    record.null();
}
