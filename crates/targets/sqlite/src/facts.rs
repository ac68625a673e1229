//! What a database says of itself, read without changing it.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, ffi};

use crate::clauses::Clauses;
use crate::ddl::{self, quote};
use crate::doctor::{self, Beside};
use crate::lost;
use crate::obstacle;
use crate::pages::layout::{database_obstacle, table_obstacle};
use crate::session::{
    Home, LockWait, claim, explain, is_read_only, open_file, refuse_leftovers, wait_for_program,
    with_suffix,
};
use crate::types;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::ledger::{self, Entries, Entry};
use inrush_core::locks::Claim;
use inrush_core::pending::{directory, follow_link, no_directory, plain_file};
use inrush_core::value::double::Specials;
use inrush_core::value::rule::Truths;
use inrush_core::wording::shell_word;
use inrush_core::{Basis, Column, IfExists, Own, Request, TableFacts, TargetFacts};

/// What only this target knows: how an existing database is laid out.
#[derive(Debug, Default)]
pub(super) struct DatabaseFacts {
    /// How it undoes a transaction, in SQLite's word.
    pub(super) journal_mode: String,
    /// The size of a page; `None` while it has none.
    pub(super) page_bytes: Option<u32>,
    /// Whether it is in memory.
    pub(super) is_in_memory: bool,
    /// Whether the existing table is STRICT.
    pub(super) is_strict: bool,
    /// What the schema says of rows that the existing table refuses.
    pub(super) clauses: Clauses,
}

impl DatabaseFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }
}

/// The facts of a database; `locks` says how to wait for a writer that shuts everybody out.
pub(super) fn gather(
    path: &Path,
    table: &str,
    request: &Request,
    locks: &LockWait<'_>,
) -> Result<TargetFacts> {
    let is_memory = Home::of(path).is_memory();
    let path = &if is_memory { path.to_owned() } else { follow_link(path) };
    let exists = is_memory || plain_file(path, "database")?.is_some();
    if !exists {
        if !directory(path).is_dir() {
            return Err(no_directory(path));
        }
        refuse_leftovers(path)?;
    }
    // The connection goes first, and the claim on its file behind it.
    let (_claim, connection) = if exists {
        open(path, locks).map(|(claim, connection)| (Some(claim), connection))
    } else {
        Connection::open_in_memory().map(|connection| (None, connection))
    }
    .map_err(|error| explain(path, &error))?;
    if is_memory {
        let pages = connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0));
        // Whoever keeps it open, a console of the same program, has made something in it.
        if pages.map_err(|error| explain(path, &error))? == 0 {
            return Err(Error::usage("a database in memory would be gone when the load ends")
                .advise("name a file"));
        }
    }
    let mut facts = read(&connection, table).map_err(|error| explain(path, &error))?;
    facts.exists = exists;
    let mut database = database(&connection, is_memory).map_err(|error| explain(path, &error))?;
    if let Some(found) = &facts.table {
        database.is_strict =
            is_strict(&connection, &found.name).map_err(|error| explain(path, &error))?;
        database.clauses =
            Clauses::read(&connection, &found.name).map_err(|error| explain(path, &error))?;
    }
    if exists {
        facts.settings.insert("journal_mode".to_owned(), database.journal_mode.clone());
        let page_size =
            database.page_bytes.map(|bytes| ("page_size".to_owned(), bytes.to_string()));
        facts.settings.extend(page_size);
    }
    facts.own = Own::new(database);
    facts.ledger = ledger::known(request, facts.table.as_ref(), |entries| {
        ledger(&connection, table, entries).map_err(|error| explain(path, &error))?
    })?;
    if is_memory {
        facts.engine_only = Some("the database is in memory, and has no file".to_owned());
    }
    // https://sqlite.org/fileformat2.html#internal_schema_objects
    let is_reserved = table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"));
    if is_reserved && facts.table.is_none() {
        return Err(Error::usage(format!(
            "--table {table}: names that begin with sqlite_ are reserved for SQLite"
        ))
        .advise("name another --table"));
    }
    // It would be a table of that whole name, in main.
    let of_schema = table.split_once('.').filter(|(schema, _)| {
        request.table.is_some()
            && ["main", "temp"].iter().any(|known| schema.eq_ignore_ascii_case(known))
    });
    if let (Some((schema, name)), None) = (of_schema, &facts.table) {
        return Err(Error::usage(format!(
            "--table {table}: tables go into the file's own schema, and are named without {schema}"
        ))
        .advise(format!("say --table {}", shell_word(name))));
    }
    if facts.table.is_none() {
        refuse_index(&connection, table).map_err(|error| explain(path, &error))??;
    }
    if let Some(found) = &facts.table {
        refuse_view(&connection, &found.name).map_err(|error| explain(path, &error))??;
        obstacle::look(&connection, found, request).map_err(|error| explain(path, &error))??;
        if request.if_exists == IfExists::Replace {
            facts.lost_with =
                lost::read(&connection, &found.name).map_err(|error| explain(path, &error))?;
            facts.mentioned_by = lost::mentioned_by(&connection, &found.name)
                .map_err(|error| explain(path, &error))?;
        }
    }
    Ok(facts)
}

/// Read-only; but where a writer was killed, SQLite has to finish its undoing first, and that takes the right to write.
fn open(path: &Path, locks: &LockWait<'_>) -> rusqlite::Result<(Claim, Connection)> {
    wait_for_program(path, locks)?;
    let look = |flags| {
        let claim = claim(path);
        let connection = open_file(path, flags)?;
        locks.apply(&connection);
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok((claim, connection))
    };
    // A reader of a database in WAL mode makes -wal and -shm files, and only one that may write takes them away again.
    // Of one that is open here, which has a -wal file by now, the header is not read: who closes a file frees the locks of the process.
    if Claim::is_free_and(path, || is_wal(path)) {
        let [has_log, has_index] =
            ["-wal", "-shm"].map(|suffix| with_suffix(path, suffix).exists());
        if !(has_log && has_index) && is_read_only(path) {
            let beside = Beside::of(path);
            let claim = claim(path);
            return Ok((claim, doctor::open(path, true, beside, locks)?));
        }
        if !has_log {
            return look(OpenFlags::SQLITE_OPEN_READ_WRITE);
        }
    }
    match look(OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Err(rusqlite::Error::SqliteFailure(code, _))
            if matches!(code.extended_code & 0xff, ffi::SQLITE_READONLY | ffi::SQLITE_CANTOPEN) =>
        {
            look(OpenFlags::SQLITE_OPEN_READ_WRITE)
        }
        other => other,
    }
}

/// Whether the header says WAL: byte 18, the write version, is 2 (<https://sqlite.org/fileformat2.html>, section 1.3).
fn is_wal(path: &Path) -> bool {
    let mut header = [0; 19];
    File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header[18] == 2
}

/// Name and version.
pub(super) fn engine() -> String {
    format!("SQLite {}", rusqlite::version())
}

/// The facts as this connection sees them; a load calls it again inside its transaction.
pub(super) fn read(connection: &Connection, table: &str) -> rusqlite::Result<TargetFacts> {
    let mut facts = TargetFacts {
        engine: engine(),
        exists: true,
        columns_max: connection.limit(Limit::SQLITE_LIMIT_COLUMN)?.try_into().unwrap_or(2000),
        name_fault: None,
        text_types: &[],
        decimals_are_texts: true,
        truths: Truths::Digits,
        specials: Specials::Infinities,
        reads_hex: false,
        ..TargetFacts::default()
    };
    facts.engine_only = database_obstacle(connection)?;
    facts.table = read_table(connection, table)?;
    Ok(facts)
}

/// The table's loads in steps.
fn ledger(
    connection: &Connection,
    table: &str,
    entries: Entries,
) -> rusqlite::Result<Result<Vec<Entry>>> {
    let known = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    if connection.query_row(known, [ledger::TABLE], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(Ok(Vec::new()));
    }
    let ledger = ddl::ledger(table);
    let mut statement = connection.prepare(&ledger.read(entries))?;
    let rows: Vec<String> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(rows.iter().map(|text| ledger.parse(text)).collect())
}

fn database(connection: &Connection, is_in_memory: bool) -> rusqlite::Result<DatabaseFacts> {
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let page_bytes = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    Ok(DatabaseFacts {
        journal_mode: connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?,
        page_bytes: (pages > 0).then_some(page_bytes),
        is_in_memory,
        ..DatabaseFacts::default()
    })
}

fn is_strict(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT strict FROM pragma_table_list(?1)";
    connection.query_row(sql, [table], |row| row.get(0))
}

fn read_table(connection: &Connection, table: &str) -> rusqlite::Result<Option<TableFacts>> {
    let name: Option<String> = connection
        .query_row(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
            [table],
            |row| row.get(0),
        )
        .optional()?;
    let Some(name) = name else { return Ok(None) };
    let mut facts = TableFacts { name: name.clone(), ..TableFacts::default() };
    let strict = is_strict(connection, &name)?;
    let mut key: Vec<(i64, String)> = Vec::new();
    // table_xinfo: cid, name, type, notnull, dflt_value, pk, hidden; hidden columns are generated (2 and 3), or a virtual table's own.
    let mut generated =
        connection.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden IN (2, 3)")?;
    let generated = generated.query_map([&name], |row| row.get(0))?;
    facts.computed = generated.collect::<Result<_, _>>()?;
    let mut statement = connection.prepare(
        "SELECT name, type, pk, \"notnull\", length(CAST(dflt_value AS BLOB)) FROM pragma_table_xinfo(?1) WHERE hidden = 0",
    )?;
    let mut rows = statement.query([&name])?;
    while let Some(row) = rows.next()? {
        let (column, mut declared, pk, required): (String, String, i64, bool) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        if strict && declared.eq_ignore_ascii_case("ANY") {
            // In a STRICT table ANY keeps every value as it is, like a column without a type in an ordinary one; there the word
            // means NUMERIC affinity (https://sqlite.org/stricttables.html).
            declared.clear();
        }
        if pk > 0 {
            key.push((pk, column.clone()));
        }
        let default: Option<u32> = row.get(4)?;
        if required && default.is_none() {
            facts.needs.push(column.clone());
        }
        // And the one in a record's header that says what it is.
        facts.default_bytes.push(1 + default.unwrap_or_default());
        let (ty, is_open) = (types::declared(&declared), declared.is_empty());
        facts.columns.push(Column {
            name: column,
            ty,
            declared: (!is_open).then_some(declared),
            basis: if is_open { Basis::Inferred } else { Basis::Declared },
            required,
        });
    }
    key.sort();
    // SQLite numbers a row whose INTEGER PRIMARY KEY is NULL (https://sqlite.org/lang_createtable.html#rowid): a value that the
    // source does not have. Who wants that leaves the column out. A key with an index of its own, as that of INTEGER PRIMARY KEY DESC
    // has, is not the number of the row, and stays NULL.
    let has_index = "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk')";
    if let [(_, only)] = key.as_slice()
        && !connection.query_row(has_index, [&name], |row| row.get::<_, bool>(0))?
    {
        let is_number = |column: &Column| {
            let declared = column.declared.as_deref();
            column.name == *only && declared.is_some_and(|ty| ty.eq_ignore_ascii_case("INTEGER"))
        };
        for column in facts.columns.iter_mut().filter(|column| is_number(column)) {
            column.required = true;
            facts.needs.retain(|name| *name != column.name);
        }
    }
    facts.primary_key = key.into_iter().map(|(_, column)| column).collect();
    facts.unique_keys = unique_keys(connection, &name)?;
    let keys = facts.unique_keys.iter().chain([&facts.primary_key]);
    let in_key: HashSet<String> = keys.flatten().cloned().collect();
    for column in &mut facts.columns {
        if !column.is_pinned()
            && in_key.contains(&column.name)
            && holds_texts(connection, &name, &column.name)?
        {
            (column.declared, column.basis) = (Some(String::new()), Basis::Declared);
        }
    }
    facts.module = module(connection, &name)?;
    // An R*Tree numbers a row whose id is NULL (https://sqlite.org/rtree.html).
    let is_tree = |module: &str| module.to_ascii_lowercase().starts_with("rtree");
    if let Some(id) = facts.columns.first_mut()
        && facts.module.as_deref().is_some_and(is_tree)
    {
        id.required = true;
    }
    facts.dependents = dependents(connection, &name)?;
    facts.is_parent = is_parent(connection, &name)?;
    facts.engine_only = table_obstacle(connection, &name)?;
    facts.holds_rows = connection.query_row(
        &format!("SELECT EXISTS (SELECT 1 FROM {})", quote(&name)),
        [],
        |row| row.get(0),
    )?;
    Ok(Some(facts))
}

/// The first values of a column that say what all of them are.
const VALUES_SEEN: u32 = 1_000;

/// Whether a column without a type holds texts alone, as `.import` leaves them, as far as its first values show: a key of it finds
/// only texts.
fn holds_texts(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let (table, column) = (quote(table), quote(column));
    let sql = format!(
        "SELECT count(*) > 0 AND min(kind = 'text') FROM (SELECT typeof({column}) AS kind FROM {table} LIMIT {VALUES_SEEN}) \
         WHERE kind <> 'null'"
    );
    connection.query_row(&sql, [], |row| row.get(0))
}

/// The module of a virtual table.
fn module(connection: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let sql: Option<String> = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = ?1 AND type = 'table'",
            [table],
            |row| row.get(0),
        )
        .optional()?
        .flatten();
    Ok(sql.as_deref().and_then(lost::module).map(str::to_owned))
}

/// The column lists that SQLite accepts as the target of ON CONFLICT: unique indexes on plain columns without a condition.
fn unique_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Vec<String>>> {
    let mut indexes = connection
        .prepare("SELECT name FROM pragma_index_list(?1) WHERE \"unique\" AND NOT partial")?;
    let names: Vec<String> =
        indexes.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut columns = connection.prepare("SELECT name FROM pragma_index_info(?1)")?;
    let mut keys = Vec::new();
    for name in names {
        let key: Vec<Option<String>> =
            columns.query_map([name], |row| row.get(0))?.collect::<Result<_, _>>()?;
        keys.extend(key.into_iter().collect::<Option<Vec<String>>>());
    }
    Ok(keys)
}

/// Tables with foreign keys that refer to this one, where `condition` holds of the child and the key.
fn children(
    connection: &Connection,
    table: &str,
    condition: &str,
) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT DISTINCT child.name FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key \
         WHERE child.type = 'table' AND key.\"table\" = ?1 COLLATE NOCASE AND {condition}"
    );
    connection.prepare(&sql)?.query_map([table], |row| row.get(0))?.collect()
}

/// Tables whose rows SQLite would delete or change if this one's rows were deleted.
fn dependents(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let condition = "key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT') AND child.name <> ?1 COLLATE NOCASE";
    children(connection, table, condition)
}

/// Whether SQLite checks foreign keys of other tables against this one's rows.
fn is_parent(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let enforced = "(SELECT foreign_keys FROM pragma_foreign_keys)";
    Ok(!children(connection, table, enforced)?.is_empty())
}

/// Tables and indexes share their names.
fn refuse_index(connection: &Connection, name: &str) -> rusqlite::Result<Result<()>> {
    let of = "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?1 COLLATE NOCASE";
    let of: Option<String> = connection.query_row(of, [name], |row| row.get(0)).optional()?;
    Ok(match of {
        Some(of) => Err(Error::new(
            Kind::Target,
            format!(
                "there is an index {name} already, on table {of}, and no table can have its name"
            ),
        )
        .advise("name another --table, or drop the index")),
        None => Ok(()),
    })
}

fn refuse_view(connection: &Connection, name: &str) -> rusqlite::Result<Result<()>> {
    let kind: String =
        connection.query_row("SELECT type FROM sqlite_schema WHERE name = ?1", [name], |row| {
            row.get(0)
        })?;
    Ok(if kind == "view" {
        Err(Error::new(
            Kind::Target,
            format!("{name} is a view, and rows can't be loaded into a view"),
        )
        .advise("name the table behind it with --table"))
    } else {
        Ok(())
    })
}
