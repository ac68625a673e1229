use inrush_sqlite_pages::order::{compare, prefix};
use inrush_sqlite_pages::{
    IndexTree, PageSink, ProjectedColumn, Projection, RecordWriter, SchemaRow,
};

use crate::assembler::{Assembler, Column, Layout, RootPage, Table, TempFile, write_row};

/// What makes an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `CREATE INDEX`.
    Plain,
    /// `CREATE UNIQUE INDEX`.
    Unique,
    /// A constraint of the table: `sqlite_autoindex_t_1`.
    Automatic,
}

#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) kind: Kind,
    pub(crate) columns: Vec<usize>,
}

impl Index {
    pub(crate) fn new(kind: Kind, columns: &[usize]) -> Self {
        Self { kind, columns: columns.to_vec() }
    }

    fn column_list(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|i| format!("c{i}")).collect();
        columns.join(",")
    }
}

/// A table with its indexes; without a rowid when it has a `key`.
#[derive(Clone, Debug)]
pub(crate) struct Indexed {
    pub(crate) table: Table,
    /// The primary key of a table without a rowid. The rowids of its rows mean nothing.
    pub(crate) key: Vec<usize>,
    pub(crate) indexes: Vec<Index>,
}

impl Indexed {
    pub(crate) fn new(table: Table, indexes: &[Index]) -> Self {
        Self { table, key: Vec::new(), indexes: indexes.to_vec() }
    }

    pub(crate) fn without_rowid(table: Table, key: &[usize], indexes: &[Index]) -> Self {
        Self { table, key: key.to_vec(), indexes: indexes.to_vec() }
    }

    /// Statements of the table and of its indexes; none for automatic ones.
    pub(crate) fn sql(&self) -> (String, Vec<Option<String>>) {
        let mut table = self.table.sql();
        table.pop();
        if !self.key.is_empty() {
            let key = Index::new(Kind::Automatic, &self.key).column_list();
            table += &format!(",PRIMARY KEY({key})");
        }
        for index in self.indexes.iter().filter(|index| index.kind == Kind::Automatic) {
            table += &format!(",UNIQUE({})", index.column_list());
        }
        table += if self.key.is_empty() { ")" } else { ") WITHOUT ROWID" };
        let indexes = self.names().into_iter().zip(&self.indexes).map(|(name, index)| {
            let unique = match index.kind {
                Kind::Automatic => return None,
                Kind::Plain => "",
                Kind::Unique => "UNIQUE ",
            };
            Some(format!(
                "CREATE {unique}INDEX {name} ON {}({})",
                self.table.name,
                index.column_list()
            ))
        });
        (table, indexes.collect())
    }

    /// The names of the indexes. The key of a table without a rowid takes the first number.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut automatic = usize::from(!self.key.is_empty());
        let name = |(i, index): (usize, &Index)| match index.kind {
            Kind::Automatic => {
                automatic += 1;
                format!("sqlite_autoindex_{}_{automatic}", self.table.name)
            }
            _ => format!("i{i}"),
        };
        self.indexes.iter().enumerate().map(name).collect()
    }

    /// The columns of each b-tree's entries: of the indexes, then of a table without a rowid.
    pub(crate) fn trees(&self) -> Vec<Vec<Column>> {
        let stored: Vec<Column> =
            self.stored().into_iter().map(|column| self.table.columns[column]).collect();
        let column = |projected| match projected {
            ProjectedColumn::Column(place) => stored[place],
            ProjectedColumn::Rowid => Column::Key,
        };
        let entry = |index| self.entry(index).into_iter().map(column).collect();
        self.indexes.iter().map(entry).chain([stored.clone()]).collect()
    }

    /// The table's records with their rowids, those of a table without a rowid as they are stored.
    fn records(&self) -> Vec<(i64, Vec<u8>)> {
        let mut record = RecordWriter::new(self.table.columns.len());
        let mut records: Vec<(i64, Vec<u8>)> = Vec::new();
        let stored: Vec<_> = self.stored().into_iter().map(ProjectedColumn::Column).collect();
        let mut projection = Projection::new(&stored);
        for (rowid, cells) in &self.table.rows {
            write_row(&mut record, &self.table.columns, cells);
            let mut stored = Vec::new();
            projection.write(record.finish(), *rowid, &mut stored);
            records.push((*rowid, stored));
        }
        records
    }

    /// The table's columns in the order in which they are stored: those of the key first.
    fn stored(&self) -> Vec<usize> {
        let others = (0..self.table.columns.len()).filter(|i| !self.key.contains(i));
        self.key.iter().copied().chain(others).collect()
    }

    /// The columns of an index's entry, out of the stored record.
    fn entry(&self, index: &Index) -> Vec<ProjectedColumn> {
        let stored = self.stored();
        let place = |column: &usize| stored.iter().position(|at| at == column).expect("a column");
        let mut entry: Vec<ProjectedColumn> = (index.columns.iter())
            .map(|column| match self.table.columns[*column] {
                Column::Key => ProjectedColumn::Rowid,
                _ => ProjectedColumn::Column(place(column)),
            })
            .collect();
        if self.key.is_empty() {
            entry.push(ProjectedColumn::Rowid);
        }
        let key = self.key.iter().filter(|column| !index.columns.contains(column));
        entry.extend(key.map(|column| ProjectedColumn::Column(place(column))));
        entry
    }
}

/// Entries in the order of an index, as a loader sorts them.
pub(crate) fn sort(entries: &mut [Vec<u8>]) {
    entries.sort_by(|a, b| prefix(a).cmp(&prefix(b)).then_with(|| compare(a, b)));
}

/// Writes the b-tree of an index and returns its root page.
pub(crate) fn write_index(assembler: &mut Assembler, layout: Layout, entries: &[Vec<u8>]) -> u32 {
    let root = (layout.root == RootPage::First).then(|| assembler.reserve());
    let mut tree = IndexTree::new(layout.size);
    for entry in entries {
        tree.push(entry, assembler);
    }
    let page = tree.finish(assembler).into_page(layout.size);
    let root = root.unwrap_or_else(|| assembler.reserve());
    assembler.store(root, &page);
    root
}

/// A database file with one table and its indexes.
pub(crate) fn assemble_indexed(layout: Layout, indexed: &Indexed) -> TempFile {
    let file = TempFile::new();
    let mut assembler = Assembler::new(layout, file.path());
    let records = indexed.records();
    let mut roots = Vec::new();
    roots.push(if indexed.key.is_empty() {
        assembler.table(&indexed.table)
    } else {
        let mut rows: Vec<Vec<u8>> = records.iter().map(|record| record.1.clone()).collect();
        sort(&mut rows);
        write_index(&mut assembler, layout, &rows)
    });
    for index in &indexed.indexes {
        let mut projection = Projection::new(&indexed.entry(index));
        let mut entries: Vec<Vec<u8>> = Vec::new();
        for (rowid, record) in &records {
            let mut entry = Vec::new();
            projection.write(record, *rowid, &mut entry);
            entries.push(entry);
        }
        sort(&mut entries);
        roots.push(write_index(&mut assembler, layout, &entries));
    }
    let (sql, statements) = indexed.sql();
    let mut names = indexed.names();
    names.insert(0, indexed.table.name.clone());
    let statements = std::iter::once(Some(sql)).chain(statements).collect::<Vec<_>>();
    let row = |(i, root_page): (usize, &u32)| SchemaRow {
        kind: if i == 0 { "table" } else { "index" },
        name: &names[i],
        table_name: &indexed.table.name,
        root_page: *root_page,
        sql: statements[i].as_deref(),
    };
    let rows: Vec<SchemaRow<'_>> = roots.iter().enumerate().map(row).collect();
    assembler.finish(&rows);
    file
}
