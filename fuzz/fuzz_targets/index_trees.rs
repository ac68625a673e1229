//! The b-tree of a table without a rowid: SQLite finds the file in order and reads every value.

#![no_main]

use inrush_sqlite_pages::order::{compare, same_key};
use inrush_sqlite_pages::{
    Header, IndexTree, PageBuffer, PageSink, PageSize, RecordWriter, SchemaRow, header, schema,
};
use libfuzzer_sys::fuzz_target;
use rusqlite::{Connection, MAIN_DB};

/// SQLite's C code brings another address sanitizer's idea of a global than Rust's does, which looks
/// like one that is there twice.
// SAFETY: the sanitizer looks for a function of this name and type, and there is no other.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const std::ffi::c_char {
    c"detect_odr_violation=0".as_ptr()
}

fuzz_target!(|input: &[u8]| {
    let [size, scale, lengths @ ..] = input else { return };
    let size = PageSize::ALL[usize::from(size % 8)];
    let scale = [1, 1, 7, size.bytes() / 64][usize::from(scale % 4)];
    // Each byte is a blob: its length, and what it is full of.
    let mut record = RecordWriter::new(1);
    let mut entries: Vec<Vec<u8>> = Vec::new();
    for (i, byte) in lengths.iter().enumerate() {
        let mut blob = vec![*byte; usize::from(*byte) * scale];
        let end = blob.len();
        // Some are equal for long, and none is there twice.
        blob[end - end.min(2)..].copy_from_slice(&(i as u16).to_be_bytes()[2 - end.min(2)..]);
        record.blob(&blob);
        entries.push(record.finish().to_vec());
    }
    entries.sort_by(|a, b| compare(a, b));
    entries.dedup_by(|a, b| same_key(a, b, 1));
    let connection = open(&file(size, &entries));
    let check = |sql| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(check("PRAGMA integrity_check").as_deref(), Ok("ok"));
    let mut rows = connection.prepare("SELECT c FROM t ORDER BY c").expect("the rows");
    let mut rows = rows.query([]).expect("the rows");
    for entry in &entries {
        let row = rows.next().expect("a row").expect("as many rows as entries");
        record.blob(row.get_ref(0).expect("a value").as_blob().expect("a blob"));
        assert!(record.finish() == entry);
    }
    assert!(rows.next().expect("the end").is_none());
});

/// A database of one table, whose root is page 2.
fn file(size: PageSize, entries: &[Vec<u8>]) -> Vec<u8> {
    let mut pages = PageBuffer::new(size, 2);
    let root_page = pages.reserve();
    let mut tree = IndexTree::new(size);
    entries.iter().for_each(|entry| tree.push(entry, &mut pages));
    let root = tree.finish(&mut pages).into_page(size);
    pages.store(root_page, &root);
    let sql = Some("CREATE TABLE t(c PRIMARY KEY) WITHOUT ROWID");
    let row = SchemaRow { kind: "table", name: "t", table_name: "t", root_page, sql };
    let schema = schema(size, &[row], pages.placement().next_page());
    assert!(schema.pages.is_empty());
    let mut file = schema.page_one;
    file[..100].copy_from_slice(&header(&Header {
        page_size: size,
        page_count: pages.placement().next_page() - 1,
        change_counter: 1,
        schema_cookie: 1,
        sqlite_version: 3_040_001,
    }));
    file.extend_from_slice(&pages.pages);
    file
}

fn open(file: &[u8]) -> Connection {
    let mut connection = Connection::open_in_memory().expect("a database");
    connection.deserialize_read_exact(MAIN_DB, file, file.len(), true).expect("the file opens");
    connection
}
