use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use inrush_sqlite_pages::page::empty_leaf;
use inrush_sqlite_pages::{
    Header, LeafPacker, LeafRun, PageNumbers, PageSink, PageSize, RecordWriter, Root, SchemaRow,
    TableTree, Value, header, schema,
};

/// A value that owns its bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// How a column is declared, which decides how its values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Without a type, so that SQLite takes values as they are.
    Any,
    Text,
    /// Doubles that are whole numbers are stored as integers.
    Real,
    /// `INTEGER PRIMARY KEY`: the rowid, stored as NULL.
    Key,
}

pub(crate) type Row = (i64, Vec<Cell>);

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    /// By rowid, ascending.
    pub(crate) rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(columns: &[Column], rows: Vec<Row>) -> Self {
        Self { name: "t".to_owned(), columns: columns.to_vec(), rows }
    }

    /// One column that takes everything.
    pub(crate) fn of_one_column(cells: impl IntoIterator<Item = Cell>) -> Self {
        Self::new(&[Column::Any], (1..).zip(cells.into_iter().map(|cell| vec![cell])).collect())
    }

    pub(crate) fn sql(&self) -> String {
        let columns: Vec<String> = (0..)
            .zip(&self.columns)
            .map(|(i, column): (usize, _)| match column {
                Column::Any => format!("c{i}"),
                Column::Text => format!("c{i} TEXT"),
                Column::Real => format!("c{i} REAL"),
                Column::Key => format!("c{i} INTEGER PRIMARY KEY"),
            })
            .collect();
        format!("CREATE TABLE {}({})", self.name, columns.join(","))
    }
}

/// Where the root page of a table goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootPage {
    /// Before everything else of the table.
    First,
    /// Behind everything else.
    Last,
}

/// How a file is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) size: PageSize,
    /// Rows that are packed into one run.
    pub(crate) run_rows: usize,
    pub(crate) root: RootPage,
}

impl Layout {
    pub(crate) fn of(size: PageSize) -> Self {
        Self { size, run_rows: usize::MAX, root: RootPage::First }
    }
}

/// A file that goes away with its owner.
#[derive(Debug)]
pub(crate) struct TempFile(pub(crate) PathBuf);

impl TempFile {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("inrush-sqlite-pages-{}-{count}.db", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // What can't be removed is not there.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Appends a row's record the way a loader does.
pub(crate) fn write_row(record: &mut RecordWriter, columns: &[Column], cells: &[Cell]) {
    for (column, cell) in columns.iter().zip(cells) {
        match (column, cell) {
            (Column::Key, _) => record.null(),
            (Column::Real, Cell::Real(value)) => record.compact_real(*value),
            (_, cell) => record.push(match cell {
                Cell::Null => Value::Null,
                Cell::Integer(value) => Value::Integer(*value),
                Cell::Real(value) => Value::Real(*value),
                Cell::Text(text) => Value::Text(text.as_bytes()),
                Cell::Blob(blob) => Value::Blob(blob),
            }),
        }
    }
}

/// A database file with `tables`, page by page.
pub(crate) fn assemble(layout: Layout, tables: &[Table]) -> TempFile {
    let file = TempFile::new();
    let mut assembler = Assembler::new(layout, file.path());
    let roots: Vec<u32> = tables.iter().map(|table| assembler.table(table)).collect();
    let statements: Vec<String> = tables.iter().map(Table::sql).collect();
    let rows: Vec<SchemaRow> = (tables.iter().zip(&statements).zip(roots))
        .map(|((table, sql), root_page)| SchemaRow {
            kind: "table",
            name: &table.name,
            table_name: &table.name,
            root_page,
            sql: Some(sql),
        })
        .collect();
    assembler.finish(&rows);
    file
}

pub(crate) struct Assembler {
    layout: Layout,
    pages: Pages,
}

impl PageSink for Assembler {
    fn reserve(&mut self) -> u32 {
        self.pages.reserve()
    }

    fn store(&mut self, number: u32, page: &[u8]) {
        self.pages.store(number, page);
    }
}

/// The pages of a file that grows at its end.
struct Pages {
    size: PageSize,
    file: File,
    numbers: PageNumbers,
}

impl Pages {
    /// Writes neighbours, without blocks of zeros, which a new file has anyway.
    fn write(&mut self, number: u32, pages: &[u8]) {
        const BLOCK: usize = 4096;
        let start = u64::from(number - 1) * self.size.bytes() as u64;
        let zeros = |block: &[u8]| block.len() == BLOCK && *block == [0; BLOCK];
        if pages.len() < 1 << 20 {
            self.file.seek(SeekFrom::Start(start)).expect("a place in the file");
            return self.file.write_all(pages).expect("room on the disk");
        }
        for (i, block) in pages.chunks(BLOCK).enumerate().filter(|(_, block)| !zeros(block)) {
            let at = SeekFrom::Start(start + (i * BLOCK) as u64);
            self.file.seek(at).expect("a place in the file");
            self.file.write_all(block).expect("room on the disk");
        }
    }
}

impl PageSink for Pages {
    fn reserve(&mut self) -> u32 {
        self.numbers.take()
    }

    fn store(&mut self, number: u32, page: &[u8]) {
        assert_eq!(page.len(), self.size.bytes());
        self.write(number, page);
    }
}

impl Assembler {
    pub(crate) fn new(layout: Layout, path: &Path) -> Self {
        let size = layout.size;
        let file = File::create_new(path).expect("a new file");
        Self { layout, pages: Pages { size, file, numbers: PageNumbers::new(size, 2) } }
    }

    /// Writes a table and returns its root page.
    pub(crate) fn table(&mut self, table: &Table) -> u32 {
        let size = self.layout.size;
        let (mut packer, mut record) =
            (LeafPacker::new(size), RecordWriter::new(table.columns.len()));
        let runs = table.rows.chunks(self.layout.run_rows).map(|rows| {
            for (rowid, cells) in rows {
                write_row(&mut record, &table.columns, cells);
                packer.push(*rowid, record.finish());
            }
            let mut run = LeafRun::new(size);
            packer.finish(&mut run);
            run
        });
        self.runs(runs)
    }

    /// Writes the runs of a table and returns its root page. This is what a writer has to do.
    pub(crate) fn runs(&mut self, runs: impl Iterator<Item = LeafRun>) -> u32 {
        let size = self.layout.size;
        let Self { pages, layout } = self;
        let root_page = (layout.root == RootPage::First).then(|| pages.reserve());
        let mut tree = TableTree::new(size);
        let mut runs = runs.peekable();
        let mut is_first = true;
        while let Some(mut run) = runs.next() {
            // The only leaf of a table is its root, so it has to be known before it is placed.
            let placement = match root_page {
                Some(root) if is_first && run.leaves.len() == 1 && runs.peek().is_none() => {
                    pages.numbers.take_run_under_root(root, run.page_count())
                }
                _ => pages.numbers.take_run(run.page_count()),
            };
            is_first = false;
            run.place(&placement);
            for span in placement.spans() {
                pages.write(span.page, &run.pages()[span.bytes]);
            }
            for leaf in &run.leaves {
                tree.push(placement.page(leaf.index), leaf.last_rowid, pages);
            }
        }
        let content = match tree.finish(pages) {
            Root::Leaf(page) => return page,
            Root::Empty => empty_leaf(size),
            Root::Interior(page) => page,
        };
        let root_page = root_page.unwrap_or_else(|| pages.reserve());
        pages.store(root_page, &content);
        root_page
    }

    /// Writes page 1 and what belongs to it.
    pub(crate) fn finish(mut self, rows: &[SchemaRow<'_>]) {
        let size = self.layout.size;
        let first_page = self.pages.numbers.page_count() + 1;
        let schema = schema(size, rows, first_page);
        for span in schema.spans() {
            self.pages.write(span.page, &schema.pages[span.bytes]);
        }
        let page_count = schema.next_page() - 1;
        let mut page_one = schema.page_one;
        page_one[..100].copy_from_slice(&header(&Header {
            page_size: size,
            page_count,
            change_counter: 1,
            schema_cookie: 1,
            sqlite_version: rusqlite::version_number() as u32,
        }));
        self.pages.store(1, &page_one);
        let length = u64::from(page_count) * size.bytes() as u64;
        self.pages.file.set_len(length).expect("the file's length");
    }
}
