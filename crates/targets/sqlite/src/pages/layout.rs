//! How SQLite stores a table: which columns are in its records, which b-trees belong to it, and whether anything about it is
//! beyond records and b-trees, so that only SQLite itself can add rows.

use std::ffi::{c_int, c_void};

use rusqlite::{Connection, ffi};

use inrush_sqlite_pages::ProjectedColumn;

use crate::types::{Affinity, affinity};

/// A table as its records and b-trees see it.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The table's name as the schema spells it.
    pub(super) table: String,
    /// The root page of the rows by rowid; none in a table WITHOUT ROWID, whose rows are in an index.
    pub(super) rows: Option<u32>,
    /// The columns in the order of their declaration, which is that of the record of a row by rowid.
    pub(super) columns: Vec<LayoutColumn>,
    /// The column that is another name of the rowid.
    pub(super) rowid: Option<usize>,
    /// Automatic indexes and others, in the order in which SQLite checks their keys.
    pub(super) indexes: Vec<LayoutIndex>,
}

/// An index.
#[derive(Clone, Debug)]
pub(super) struct LayoutIndex {
    pub(super) root: u32,
    /// The columns of its key, by name.
    pub(super) key: Vec<String>,
    pub(super) unique: bool,
    /// What its entries are made of: the key, then what makes an entry's place certain, the rowid or the primary key. In a
    /// table WITHOUT ROWID the primary key's entries are the rows.
    pub(super) entry: Vec<ProjectedColumn>,
    /// Which of the entry's fields descend; empty where none does.
    pub(super) descends: Vec<bool>,
}

/// A column of a record.
#[derive(Clone, Debug)]
pub(super) struct LayoutColumn {
    pub(super) name: String,
    pub(super) affinity: Affinity,
    /// What a row gets that says nothing of the column: an SQL literal.
    pub(super) default: Option<String>,
    pub(super) not_null: bool,
}

impl Layout {
    /// The layout of an existing table.
    pub(super) fn read(connection: &Connection, table: &str) -> rusqlite::Result<Self> {
        let (table, root): (String, u32) = connection.query_row(
            "SELECT name, rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
            [table],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let without_rowid: bool =
            connection
                .query_row("SELECT wr FROM pragma_table_list(?1)", [&table], |row| row.get(0))?;
        let mut columns = Vec::new();
        let mut key = Vec::new();
        let mut statement = connection.prepare(
            "SELECT name, type, dflt_value, \"notnull\", pk FROM pragma_table_xinfo(?1)",
        )?;
        let mut rows = statement.query([&table])?;
        while let Some(row) = rows.next()? {
            let declared: String = row.get(1)?;
            if row.get::<_, i64>(4)? > 0 {
                key.push((columns.len(), declared.eq_ignore_ascii_case("INTEGER")));
            }
            columns.push(LayoutColumn {
                name: row.get(0)?,
                affinity: affinity(&declared),
                default: row.get(2)?,
                not_null: row.get(3)?,
            });
        }
        // https://sqlite.org/lang_createtable.html#rowid. An INTEGER PRIMARY KEY that is none, for instance because it is
        // declared DESC, has an index of its own.
        let own_index: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')",
            [&table],
            |row| row.get(0),
        )?;
        let rowid = match key.as_slice() {
            [(column, true)] if !own_index => Some(*column),
            _ => None,
        };
        let rows = (!without_rowid).then_some(root);
        let mut layout = Self { table, rows, columns, rowid, indexes: Vec::new() };
        layout.indexes = layout.read_indexes(connection, root)?;
        Ok(layout)
    }

    /// The columns of every key: first the rowid's, then those of the indexes.
    pub(super) fn keys(&self) -> Vec<Vec<String>> {
        let rowid = self.rowid.map_or("rowid", |column| self.columns[column].name.as_str());
        let indexes = self.indexes.iter().map(|index| index.key.clone());
        std::iter::once(vec![rowid.to_owned()]).chain(indexes).collect()
    }

    fn read_indexes(
        &self,
        connection: &Connection,
        own_root: u32,
    ) -> rusqlite::Result<Vec<LayoutIndex>> {
        let mut list = connection.prepare(
            "SELECT list.name, list.\"unique\", schema.rootpage FROM pragma_index_list(?1) AS list \
             LEFT JOIN sqlite_schema AS schema ON schema.type = 'index' AND schema.name = list.name ORDER BY list.seq",
        )?;
        let mut parts = connection
            .prepare("SELECT cid, key, \"desc\" FROM pragma_index_xinfo(?1) ORDER BY seqno")?;
        let mut indexes = Vec::new();
        let mut rows = list.query([&self.table])?;
        while let Some(row) = rows.next()? {
            let (name, unique, root): (String, bool, Option<u32>) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            let mut index = LayoutIndex {
                root: root.unwrap_or(own_root),
                key: Vec::new(),
                unique,
                entry: Vec::new(),
                descends: Vec::new(),
            };
            let mut found = parts.query([&name])?;
            while let Some(part) = found.next()? {
                let (column, in_key): (i64, bool) = (part.get(0)?, part.get(1)?);
                let column = usize::try_from(column).ok();
                if in_key {
                    index.key.extend(column.map(|column| self.columns[column].name.clone()));
                }
                index.entry.push(self.projected(column));
                index.descends.push(part.get(2)?);
            }
            if !index.descends.contains(&true) {
                index.descends.clear();
            }
            indexes.push(index);
        }
        Ok(indexes)
    }

    /// Where an entry takes a column from; none is the rowid.
    fn projected(&self, column: Option<usize>) -> ProjectedColumn {
        match column {
            Some(column) if self.rowid != Some(column) => ProjectedColumn::Column(column),
            _ => ProjectedColumn::Rowid,
        }
    }
}

/// Why only SQLite itself can write rows into this database.
pub(crate) fn database_obstacle(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let module = "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_dbpage')";
    if !connection.query_row(module, [], |row| row.get::<_, bool>(0))? {
        return Ok(Some("SQLite was built without SQLITE_ENABLE_DBPAGE_VTAB".to_owned()));
    }
    if connection.query_row("PRAGMA auto_vacuum", [], |row| row.get::<_, i64>(0))? != 0 {
        return Ok(Some("the database is in auto_vacuum mode".to_owned()));
    }
    let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0))?;
    if encoding != "UTF-8" {
        return Ok(Some(format!("the database's text is {encoding}")));
    }
    if reserved_bytes(connection) != 0 {
        return Ok(Some("the database's pages have reserved bytes".to_owned()));
    }
    Ok(None)
}

/// Bytes at the end of each page that belong to an extension; -1 when SQLite doesn't say.
fn reserved_bytes(connection: &Connection) -> c_int {
    let mut bytes: c_int = -1;
    // SAFETY: the handle is open; the operation reads and writes the one integer it is given
    // (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, SQLITE_FCNTL_RESERVE_BYTES).
    let code = unsafe {
        ffi::sqlite3_file_control(
            connection.handle(),
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_RESERVE_BYTES,
            (&raw mut bytes).cast::<c_void>(),
        )
    };
    if code == ffi::SQLITE_OK { bytes } else { -1 }
}

/// Why only SQLite itself can write this table's rows.
pub(crate) fn table_obstacle(
    connection: &Connection,
    table: &str,
) -> rusqlite::Result<Option<String>> {
    let count = |sql: &str| connection.query_row(sql, [table], |row| row.get::<_, i64>(0));
    let found = |what: &str| Ok(Some(format!("the table {what}")));
    let (kind, strict): (String, bool) =
        connection.query_row("SELECT type, strict FROM pragma_table_list(?1)", [table], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    if kind != "table" {
        return found(&format!("is a {kind} table"));
    }
    if table.to_ascii_lowercase().starts_with("sqlite_") {
        return found("is SQLite's own");
    }
    if strict {
        return found("is STRICT");
    }
    let triggers = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE";
    if count(triggers)? > 0 {
        return found("has a trigger");
    }
    if count("SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 0")? > 0 {
        return found("has a generated column");
    }
    let enforced = connection.query_row("PRAGMA foreign_keys", [], |row| row.get::<_, bool>(0))?;
    if enforced && count("SELECT count(*) FROM pragma_foreign_key_list(?1)")? > 0 {
        return found("has a foreign key");
    }
    if count("SELECT count(*) FROM pragma_index_list(?1) WHERE partial")? > 0 {
        return found("has a partial index");
    }
    let parts = |condition: &str| {
        count(&format!(
            "SELECT count(*) FROM pragma_index_list(?1) AS list, pragma_index_xinfo(list.name) AS part \
             WHERE part.key AND {condition}"
        ))
    };
    for (condition, what) in [
        ("part.cid = -2", "an index on an expression"),
        ("part.coll <> 'BINARY'", "an index with a collation"),
    ] {
        if parts(condition)? > 0 {
            return found(&format!("has {what}"));
        }
    }
    // No PRAGMA tells these, so their words are looked for: a column with such a name costs speed, nothing else.
    let sql: String = connection.query_row(
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
        [table],
        |row| row.get(0),
    )?;
    for (word, what) in [("CHECK", "a CHECK constraint"), ("AUTOINCREMENT", "AUTOINCREMENT")] {
        if has_word(&sql, word) {
            return found(&format!("has {what}, or a name like it"));
        }
    }
    let mut defaults = connection.prepare(
        "SELECT name, type, dflt_value FROM pragma_table_xinfo(?1) WHERE dflt_value IS NOT NULL",
    )?;
    let mut rows = defaults.query([table])?;
    while let Some(row) = rows.next()? {
        let (name, declared, default): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        if !is_plain(&default, affinity(&declared)) {
            return found(&format!("computes the default of column {name}"));
        }
    }
    Ok(None)
}

/// Whether a word stands in SQL text, whatever its case.
fn has_word(sql: &str, word: &str) -> bool {
    sql.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|found| found.eq_ignore_ascii_case(word))
}

/// Whether a default is the same for every row and is stored as it is written: NULL, a number in a column of numbers, text in
/// another.
fn is_plain(default: &str, affinity: Affinity) -> bool {
    let numeric = matches!(affinity, Affinity::Integer | Affinity::Real | Affinity::Numeric);
    let quoted = default.len() >= 2
        && default.starts_with('\'')
        && default.ends_with('\'')
        && !default[1..default.len() - 1].replace("''", "").contains('\'');
    let digits = default.strip_prefix(['-', '+']).unwrap_or(default);
    let number =
        digits.len() <= 15 && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty();
    default.eq_ignore_ascii_case("NULL") || (quoted && !numeric) || (number && numeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(has_word("CREATE TABLE t(a CHECK(a>0))", "CHECK"));
        assert!(has_word("create table t(a,check (a>0))", "CHECK"));
        assert!(!has_word("CREATE TABLE t(checked, check_in, \"recheck\")", "CHECK"));
    }

    #[test]
    fn defaults_that_are_values() {
        for (default, affinity, plain) in [
            ("NULL", Affinity::Integer, true),
            ("'a''b'", Affinity::Text, true),
            ("'a'||'b'", Affinity::Text, false),
            ("'5'", Affinity::Integer, false),
            ("-17", Affinity::Integer, true),
            ("5", Affinity::Text, false),
            ("CURRENT_TIMESTAMP", Affinity::Text, false),
            ("random()", Affinity::Integer, false),
            ("1e3", Affinity::Real, false),
            ("", Affinity::Text, false),
        ] {
            assert_eq!(is_plain(default, affinity), plain, "{default}");
        }
    }
}
