//! What is read of a database file.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rusqlite::{Connection, ErrorCode};

use inrush_core::doctor::indexes::{ForeignKey, Index};
use inrush_core::error::{Error, Result};
use inrush_core::pending::plain_file;
use inrush_core::signature;
use inrush_core::wording::shell_word;

use super::open::{Beside, open};
use crate::ddl::quote;
use crate::session::{LockWait, explain, not_a_database, watch};

/// How long another program's lock is waited for.
const LOCK_WAIT_MS: u64 = 5_000;

/// Keys that are looked at to see whether they come in an order.
const KEYS: u32 = 100;

/// What the file and its tables are.
#[derive(Default)]
pub(super) struct Seen {
    /// The file, as the user names it.
    pub(super) shown: String,
    pub(super) is_wal: bool,
    pub(super) beside: Beside,
    pub(super) page_bytes: u64,
    pub(super) pages: u64,
    pub(super) free_pages: u64,
    pub(super) auto_vacuum: u64,
    /// The kind of file system, where that can be told.
    pub(super) file_system: Option<String>,
    pub(super) indexes: Vec<Index>,
    pub(super) foreign_keys: Vec<ForeignKey>,
    /// Names of everything in the schema: a new index needs another.
    pub(super) names: BTreeSet<String>,
    /// Indexes that ANALYZE found to tell few rows apart: table, index, rows, rows of one value.
    pub(super) dull: Vec<(String, String, u64, u64)>,
    /// Tables whose keys are random: table and column.
    pub(super) random: Vec<(String, String)>,
    pub(super) not_known: Vec<String>,
}

impl Seen {
    /// Reads all of it; nothing is written.
    pub(super) fn read(path: &Path, shown: &str, stop: &AtomicBool) -> Result<Self> {
        let header = header(path, shown)?;
        let beside = Beside::of(path);
        let mut seen = Self {
            shown: shown.to_owned(),
            is_wal: header.is_some_and(|header| header[18] == 2),
            beside,
            file_system: inrush_machine::mount_of(path).map(|mount| mount.kind),
            not_known: vec![
                "synchronous, cache_size, foreign_keys: each connection sets its own, and the file does not keep them"
                    .to_owned(),
                format!(
                    "damage: only the pages of the schema and of what is listed above were looked at; all are by: sqlite3 {} 'PRAGMA quick_check'",
                    shell_word(shown)
                ),
            ],
            ..Self::default()
        };
        // An empty file is a database without anything in it.
        if header.is_none() {
            seen.page_bytes = 4096;
            return Ok(seen);
        }
        if let Err(error) = seen.read_database(path, stop) {
            if stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
            let in_flux = beside.journal_bytes > 0 || beside.wal_bytes > 0;
            match &error {
                // As it lies there it is half of what it will be.
                rusqlite::Error::SqliteFailure(failure, _)
                    if matches!(
                        failure.code,
                        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked
                    ) || (in_flux && failure.code != ErrorCode::NotADatabase) =>
                {
                    seen.not_known.push(format!(
                        "tables and indexes: another process is writing, or was interrupted ({error})"
                    ));
                }
                error => return Err(explain(path, error)),
            }
        }
        Ok(seen)
    }

    fn read_database(&mut self, path: &Path, stop: &AtomicBool) -> rusqlite::Result<()> {
        let locks = LockWait::new(LOCK_WAIT_MS, stop);
        let connection = open(path, self.is_wal, self.beside, &locks)?;
        // SAFETY: the flag is valid for longer than the connection, which goes at the end of this function.
        unsafe { watch(&connection, stop) };
        let number = |pragma: &str| {
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0))
        };
        let number = |pragma| number(pragma).map(|number| u64::try_from(number).unwrap_or(0));
        self.page_bytes = number("page_size")?;
        self.pages = number("page_count")?;
        self.free_pages = number("freelist_count")?;
        self.auto_vacuum = number("auto_vacuum")?;
        self.names = texts(&connection, "SELECT name FROM sqlite_schema")?.into_iter().collect();
        self.read_indexes(&connection)?;
        self.read_foreign_keys(&connection)?;
        self.read_statistics(&connection);
        self.read_keys(&connection)
    }

    /// Indexes, and rowids as what they are: indexes of their column that stay. Virtual tables, which have no page, have none, and of one whose
    /// module is not loaded nothing can be asked.
    fn read_indexes(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(
            "SELECT t.name, l.name, l.\"unique\", l.origin, l.partial, i.sql, x.name, x.\"desc\", x.coll \
             FROM sqlite_schema t, pragma_index_list(t.name) l, pragma_index_xinfo(l.name) x \
             LEFT JOIN sqlite_schema i ON i.type = 'index' AND i.name = l.name \
             WHERE t.type = 'table' AND t.rootpage > 0 AND x.key ORDER BY t.rowid, l.seq DESC, x.seqno",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, name): (String, String) = (row.get(0)?, row.get(1)?);
            let is_new =
                self.indexes.last().is_none_or(|last| last.name != name || last.table != table);
            let sql: String = row.get::<_, Option<String>>(5)?.unwrap_or_default();
            let column: Option<String> = row.get(6)?;
            if is_new {
                self.indexes.push(Index {
                    table,
                    name,
                    is_unique: row.get(2)?,
                    is_kept: row.get::<_, String>(3)? != "c",
                    kind: if row.get::<_, bool>(4)? { condition(&sql) } else { String::new() },
                    ..Index::default()
                });
            }
            if let Some(index) = self.indexes.last_mut() {
                if column.is_none() {
                    // An expression: equal ones are written the same.
                    index.kind = condition(&sql);
                }
                let (descends, collation): (bool, Option<String>) = (row.get(7)?, row.get(8)?);
                let collation = collation.unwrap_or_default().to_ascii_uppercase();
                index
                    .columns
                    .push(format!("{}\0{descends}\0{collation}", column.unwrap_or_default()));
            }
        }
        let rowids = "SELECT t.name, p.name FROM sqlite_schema t, pragma_table_xinfo(t.name) p \
             WHERE t.type = 'table' AND t.rootpage > 0 AND p.pk = 1 AND upper(p.type) = 'INTEGER' \
             AND NOT EXISTS (SELECT 1 FROM pragma_index_list(t.name) WHERE origin = 'pk') \
             AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) WHERE pk = 2)";
        for (table, column) in pairs(connection, rowids)? {
            self.indexes.push(Index {
                table,
                name: "rowid".to_owned(),
                columns: vec![format!("{}\0false\0BINARY", column)],
                is_unique: true,
                is_kept: true,
                ..Index::default()
            });
        }
        Ok(())
    }

    fn read_foreign_keys(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(
            "SELECT t.name, f.id, f.\"from\", f.\"table\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f \
             WHERE t.type = 'table' AND t.rootpage > 0 ORDER BY t.rowid, f.id, f.seq",
        )?;
        let (mut rows, mut last) = (statement.query([])?, None);
        while let Some(row) = rows.next()? {
            let (table, id): (String, i64) = (row.get(0)?, row.get(1)?);
            let column: String = row.get(2)?;
            if last.as_ref() != Some(&(table.clone(), id)) {
                last = Some((table.clone(), id));
                self.foreign_keys.push(ForeignKey {
                    table,
                    parent: row.get(3)?,
                    ..ForeignKey::default()
                });
            }
            if let Some(key) = self.foreign_keys.last_mut() {
                key.columns.push(column);
            }
        }
        Ok(())
    }

    /// What ANALYZE has left: rows of the table, and rows that have one value of the index (<https://sqlite.org/fileformat2.html>, section
    /// 2.6.3). Most databases were never analyzed.
    fn read_statistics(&mut self, connection: &Connection) {
        let Ok(mut statement) =
            connection.prepare("SELECT tbl, idx, stat FROM sqlite_stat1 WHERE idx IS NOT NULL")
        else {
            return;
        };
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        };
        let Ok(rows) = statement.query_map([], row) else { return };
        for (table, name, statistics) in rows.flatten() {
            let numbers = statistics.split(' ').map_while(|word| word.parse::<u64>().ok());
            let numbers: Vec<u64> = numbers.collect();
            if let [all, .., alike] = numbers[..] {
                self.dull.push((table, name, all, alike));
            }
        }
    }

    /// Looks at the first keys of tables whose key is one column of text or bytes.
    fn read_keys(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let keyed = "SELECT t.name, p.name FROM sqlite_schema t, pragma_table_xinfo(t.name) p \
             WHERE t.type = 'table' AND t.rootpage > 0 AND p.pk = 1 AND upper(p.type) <> 'INTEGER' \
             AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(t.name) WHERE pk = 2)";
        for (table, column) in pairs(connection, keyed)? {
            let (key, from) = (quote(&column), quote(&table));
            let mut statement = connection
                .prepare(&format!("SELECT CAST({key} AS BLOB) FROM {from} LIMIT {KEYS}"))?;
            let rows = statement.query_map([], |row| row.get::<_, Option<Vec<u8>>>(0))?;
            let keys: Vec<Vec<u8>> = rows.flatten().flatten().collect();
            if inrush_core::doctor::keys::are_random(keys.iter().map(Vec::as_slice)) {
                self.random.push((table, column));
            }
        }
        Ok(())
    }
}

/// What makes an empty database like this one: its layout, tables and indexes; and its foreign keys. Triggers, views and virtual tables
/// are left out.
pub(super) fn definition(
    path: &Path,
    shown: &str,
    stop: &AtomicBool,
) -> Result<(Vec<String>, Vec<ForeignKey>)> {
    let Some(header) = header(path, shown)? else { return Ok(Default::default()) };
    let is_wal = header[18] == 2;
    let read = || {
        let locks = LockWait::new(LOCK_WAIT_MS, stop);
        let connection = open(path, is_wal, Beside::of(path), &locks)?;
        // SAFETY: the flag is valid for longer than the connection, which goes at the end of this closure.
        unsafe { watch(&connection, stop) };
        let mut statements = Vec::new();
        for pragma in ["page_size", "auto_vacuum"] {
            let value: i64 =
                connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?;
            statements.push(format!("PRAGMA {pragma} = {value}"));
        }
        if is_wal {
            statements.push("PRAGMA journal_mode = WAL".to_owned());
        }
        statements.extend(texts(
            &connection,
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             AND type IN ('table', 'index') AND upper(sql) NOT LIKE 'CREATE VIRTUAL%' ORDER BY type = 'index', rowid",
        )?);
        let mut seen = Seen::default();
        seen.read_foreign_keys(&connection)?;
        Ok((statements, seen.foreign_keys))
    };
    read().map_err(|error: rusqlite::Error| explain(path, &error))
}

/// The file's first 100 bytes; `None` of an empty file.
fn header(path: &Path, shown: &str) -> Result<Option<[u8; 100]>> {
    match plain_file(path, "database")? {
        Some(found) if found.len() == 0 => return Ok(None),
        Some(_) => {}
        None => {
            return Err(Error::target(format!("there is no database {shown}"))
                .advise("check the name: doctor looks at a database that exists"));
        }
    }
    let mut file = File::open(path).map_err(|error| Error::target(format!("{shown}: {error}")))?;
    let mut header = [0; 100];
    match file.read_exact(&mut header) {
        Ok(()) if header.starts_with(signature::SQLITE) => Ok(Some(header)),
        _ => Err(not_a_database(path)),
    }
}

/// What follows the table's name in CREATE INDEX.
fn condition(sql: &str) -> String {
    sql.find('(').map_or(sql, |at| &sql[at..]).to_owned()
}

fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

fn pairs(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<(String, String)>> {
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
