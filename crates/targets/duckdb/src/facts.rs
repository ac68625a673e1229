//! What a database says of itself, read without changing it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::connection::{Connection, Database, Interrupter, Refusal, explain};
use crate::ddl::{self, folded, literal, quote};
use crate::library::{Library, library, wanted};
use crate::lost;
use crate::types::{self, Carried};
use inrush_core::Basis;
use inrush_core::error::{Error, Result};
use inrush_core::ledger::{self, Entries, Entry};
use inrush_core::pending::{behind_links, directory, follow_link, no_directory, plain_file};
use inrush_core::target::{Location, TableName};
use inrush_core::{
    Column, IfExists, MomentLimits, OnConflict, Own, Request, TableFacts, TargetFacts, Type,
};

/// What only this target knows: what the library has, and where the database is.
#[derive(Debug, Default)]
pub(super) struct DatabaseFacts {
    /// Whether the engine has the type JSON, which is an extension that some libraries leave out.
    pub(super) has_json: bool,
    /// Whether the database is in memory.
    pub(super) is_in_memory: bool,
    /// The table as the user names it.
    pub(super) name: TableName,
    /// What the existing table asks of rows besides its keys.
    pub(super) asks: Asks,
}

/// What a table asks of rows besides its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asks {
    /// A CHECK, a foreign key, a unique index on an expression, or a type of which the engine has the last word: it may refuse rows.
    pub(super) refuses: bool,
    /// Unique indexes on expressions, which are keys that no list of columns names.
    pub(super) keys_on_expressions: usize,
    /// A foreign key refers to the table itself.
    pub(super) refers_to_itself: bool,
}

impl DatabaseFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }
}

/// Where a database is, as a location says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// A file: as the user names it, and where it really is.
    File { named: PathBuf, real: PathBuf },
    /// In this process, by its name, for as long as anybody here has it open.
    Memory(String),
}

impl Home {
    pub(super) fn of(location: &Location) -> Self {
        match location.secret.strip_prefix(":memory:") {
            Some(name) => Self::Memory(name.to_owned()),
            None => {
                let named = PathBuf::from(&location.secret);
                let real = behind_links(&named);
                Self::File { real: std::path::absolute(&real).unwrap_or(real), named }
            }
        }
    }

    /// Under which this process shares it.
    pub(super) fn key(&self) -> PathBuf {
        match self {
            Self::File { real, .. } => real.clone(),
            Self::Memory(name) => PathBuf::from(format!(":memory:{name}")),
        }
    }
}

/// A path as the library takes it.
pub(super) fn path_text(path: &Path) -> Result<&str> {
    path.to_str()
        .ok_or_else(|| Error::usage(format!("{}: DuckDB takes paths in UTF-8", path.display())))
}

/// The facts of a database.
pub(super) fn gather(
    location: &Location,
    table: &str,
    request: &Request,
    stop: &AtomicBool,
) -> Result<TargetFacts> {
    let home = Home::of(location);
    let exists = match &home {
        Home::Memory(_) => true,
        Home::File { named, real } => is_there(named, real)?,
    };
    let library = library(wanted(request))?;
    let shown = location.shown.as_str();
    let words = |refusal: Refusal| explain(shown, &refusal);
    let database = match (Database::shared(&home.key()), &home) {
        (Some(database), _) => database,
        (None, Home::Memory(_)) => {
            return Err(Error::usage("a database in memory would be gone when the load ends")
                .advise("name a file"));
        }
        (None, Home::File { real, .. }) if exists => {
            open_to_read(library, path_text(real)?).map(Arc::new).map_err(words)?
        }
        // For its version and its types.
        (None, Home::File { .. }) => {
            Database::open(library, ":memory:", &[]).map(Arc::new).map_err(words)?
        }
    };
    let connection = database.connect().map_err(words)?;
    let _interrupter = Interrupter::new(&connection, stop);
    let name = TableName::of(request, table, ddl::QUOTES)?;
    enter(&connection, &name, shown)?;
    let table = name.table.as_str();
    let mut facts = read(&connection, exists.then_some(table)).map_err(words)?;
    facts.exists = exists;
    if exists {
        facts.ledger = ledger::known(request, facts.table.as_ref(), |entries| {
            ledger(&connection, table, entries).map_err(words)?
        })?;
    }
    facts.own = Own::new(DatabaseFacts {
        has_json: has_json(&connection).map_err(words)?,
        is_in_memory: matches!(home, Home::Memory(_)),
        asks: match &facts.table {
            Some(found) => asks(&connection, found).map_err(words)?,
            None => Asks::default(),
        },
        name,
    });
    if let Some(found) = &facts.table
        && request.if_exists == IfExists::Replace
        && found.storage.as_deref() != Some("view")
    {
        facts.lost_with = lost::read(&connection, &found.name).map_err(words)?;
        facts.mentioned_by = lost::mentioned_by(&connection, &found.name).map_err(words)?;
        let children = children(&connection, &found.name).map_err(words)?;
        facts.held_by =
            children.into_iter().map(|child| format!("table {}", child.table)).collect();
        facts.held_by.dedup();
    }
    if let Some(found) = &facts.table
        && request.if_exists == IfExists::Truncate
    {
        let children = referring(&connection, &found.name).map_err(words)?;
        if !children.is_empty() {
            return Err(Error::target(format!(
                "the rows of table {} can't be deleted: foreign keys of {} refer to them",
                found.name,
                children.join(", ")
            ))
            .advise(
                "delete those first, or load with --if-exists append, or into another --table",
            ));
        }
    }
    if let Some(found) = &facts.table
        && request.on_conflict != OnConflict::Fail
        && request.if_exists != IfExists::Replace
        && let Some(column) = collated(&connection, found).map_err(words)?
    {
        return Err(Error::usage(format!(
            "--on-conflict {}: column {column} of the key has a collation, and DuckDB compares such keys now by it, now by their bytes",
            request.on_conflict
        ))
        .advise("load into a table without the collation, and merge the two yourself"));
    }
    if let Some(found) = &facts.table
        && found.storage.as_deref() == Some("view")
    {
        return Err(Error::target(format!(
            "{} is a view, and rows can't be loaded into a view",
            found.name
        ))
        .advise("name the table behind it with --table"));
    }
    Ok(facts)
}

/// Opens a file so that others may read it meanwhile, if the engine can: there are logs that it only plays back where it may write. It does
/// so for whoever opens the file next, and what has been committed is the same before and after.
fn open_to_read(library: &'static Library, path: &str) -> Result<Database, Refusal> {
    let open = |mode| Database::open(library, path, &[("access_mode", mode)]);
    open("READ_ONLY").or_else(|refusal| match refusal.is_of_log() {
        true => open("READ_WRITE"),
        false => Err(refusal),
    })
}

/// Whether there is a database.
fn is_there(named: &Path, real: &Path) -> Result<bool> {
    let shown = named.display();
    match plain_file(named, "database")? {
        Some(found) if found.len() == 0 => {
            Err(Error::target(format!("{shown} is empty, which no DuckDB database is"))
                .advise(format!("remove it, and inrush makes the database: rm {shown}")))
        }
        Some(_) => Ok(true),
        None if !directory(real).is_dir() => Err(no_directory(&follow_link(named))),
        None => {
            refuse_leftovers(named, real)?;
            Ok(false)
        }
    }
}

/// A log of another database, left beside the place of a new one, would be played back into it by whoever opens it next.
pub(super) fn refuse_leftovers(named: &Path, real: &Path) -> Result<()> {
    let log = with_suffix(real, ".wal");
    if !log.exists() {
        return Ok(());
    }
    let (shown, log) = (named.display(), log.display());
    Err(Error::target(format!(
        "{log} is there without {shown}: it belongs to a database that is gone"
    ))
    .advise(format!("put that database back as {shown}, or remove {log}")))
}

/// The path with something after its last byte, as DuckDB names its log.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the table's schema the one in which tables are looked for and made.
///
/// # Errors
/// When there is none of the name.
pub(super) fn enter(connection: &Connection, name: &TableName, shown: &str) -> Result<()> {
    let TableName { schema: Some(schema), table } = name else { return Ok(()) };
    let words = |refusal: Refusal| explain(shown, &refusal);
    // A name as it is written comes before one that differs in case.
    let sql = format!(
        "SELECT database_name, schema_name FROM duckdb_schemas() \
         WHERE database_name = current_database() AND {1} = {2} ORDER BY schema_name <> {0} LIMIT 1",
        literal(schema),
        folded("schema_name"),
        folded(&literal(schema))
    );
    match connection.rows(&sql).map_err(words)?.pop().as_deref() {
        Some([Some(database), Some(schema)]) => {
            let sql = format!("USE {}.{}", quote(database), quote(schema));
            connection.execute(&sql).map(drop).map_err(words)
        }
        _ if is_own_schema(connection, schema).map_err(words)? => {
            Err(Error::usage(format!("schema {schema} is DuckDB's own, and takes no tables"))
                .advise("name a table of another schema: --table TABLE or SCHEMA.TABLE"))
        }
        _ => Err(Error::target(format!("there is no schema {schema} in {shown}"))
            .advise(format!("make it first: CREATE SCHEMA {}", quote(schema)))
            .advise(format!(
                "where the dot is part of the table's name: --table '\"{schema}.{table}\"'"
            ))),
    }
}

/// Whether the engine has a schema of the name for its own catalogue, as `information_schema`.
fn is_own_schema(connection: &Connection, schema: &str) -> Result<bool, Refusal> {
    let sql = format!(
        "SELECT count(*) FROM duckdb_schemas() WHERE internal AND {} = {}",
        folded("schema_name"),
        folded(&literal(schema))
    );
    Ok(connection.value(&sql)?.is_some_and(|count| count != "0"))
}

/// Name and version.
pub(super) fn engine(connection: &Connection) -> String {
    format!("DuckDB {}", connection.library.version.trim_start_matches('v'))
}

/// The facts as this connection sees them; a load calls it again inside its transaction. Without a table there is none.
pub(super) fn read(connection: &Connection, table: Option<&str>) -> Result<TargetFacts, Refusal> {
    let mut facts = TargetFacts {
        engine: engine(connection),
        exists: true,
        // No limit is documented; a row of more has never been seen to be of use.
        columns_max: 10_000,
        name_fault: None,
        moments: MomentLimits { nanos: true, infinite_ends: true, ..MomentLimits::of(6) },
        text_types: &[Type::Time, Type::Uuid],
        ..TargetFacts::default()
    };
    facts.table = match table {
        Some(table) => read_table(connection, table)?,
        None => None,
    };
    Ok(facts)
}

fn asks(connection: &Connection, table: &TableFacts) -> Result<Asks, Refusal> {
    let sql = format!(
        "SELECT constraint_type, referenced_table FROM duckdb_constraints() \
         WHERE {} AND constraint_type IN ('CHECK', 'FOREIGN KEY')",
        here(&table.name)
    );
    let constraints = connection.rows(&sql)?;
    let is_own = |parent: &Option<String>| {
        parent.as_ref().is_some_and(|parent| parent.eq_ignore_ascii_case(&table.name))
    };
    let is_on_expression =
        |index: &&Index| index.is_unique && index.columns(&table.columns).is_none();
    let keys_on_expressions =
        indexes(connection, &table.name)?.iter().filter(is_on_expression).count();
    let is_cast = |column: &Column| {
        let declared = column.declared.as_deref().unwrap_or_default();
        types::declared(declared).1 == Carried::Cast
    };
    Ok(Asks {
        refuses: !constraints.is_empty()
            || keys_on_expressions > 0
            || table.columns.iter().any(is_cast),
        keys_on_expressions,
        refers_to_itself: constraints.iter().any(|row| row.get(1).is_some_and(is_own)),
    })
}

/// A foreign key of another table.
struct Child {
    table: String,
    /// Its columns, and those that they refer to.
    columns: Vec<(String, String)>,
}

/// The foreign keys that refer to a table. DuckDB has none of other schemas.
fn children(connection: &Connection, table: &str) -> Result<Vec<Child>, Refusal> {
    // The name of the parent is as the child's statement spelled it.
    let rows = connection.rows(&format!(
        "SELECT table_name, constraint_index, unnest(constraint_column_names), unnest(referenced_column_names) \
         FROM duckdb_constraints() WHERE database_name = current_database() AND schema_name = current_schema() \
         AND constraint_type = 'FOREIGN KEY' AND {referred} = {table} AND {} <> {table} ORDER BY table_name, constraint_index",
        folded("table_name"),
        referred = folded("referenced_table"),
        table = folded(&literal(table)),
    ))?;
    let mut found: Vec<(String, Child)> = Vec::new();
    for row in rows {
        let mut row = row.into_iter().flatten();
        let (Some(table), Some(index), Some(from), Some(to)) =
            (row.next(), row.next(), row.next(), row.next())
        else {
            continue;
        };
        match found.last_mut() {
            Some((last, child)) if *last == index && child.table == table => {
                child.columns.push((from, to));
            }
            _ => found.push((index, Child { table, columns: vec![(from, to)] })),
        }
    }
    Ok(found.into_iter().map(|(_, child)| child).collect())
}

/// Tables whose rows refer to rows of this one, which DuckDB does not delete then.
fn referring(connection: &Connection, table: &str) -> Result<Vec<String>, Refusal> {
    let mut referring = Vec::new();
    for child in children(connection, table)? {
        let is_equal =
            |(from, to): &(String, String)| format!("parent.{} = child.{}", quote(to), quote(from));
        let refers = connection.value(&format!(
            "SELECT CAST(EXISTS (SELECT 1 FROM {} AS child JOIN {} AS parent ON {}) AS VARCHAR)",
            quote(&child.table),
            quote(table),
            child.columns.iter().map(is_equal).collect::<Vec<_>>().join(" AND ")
        ))?;
        if refers.as_deref() == Some("true") && !referring.contains(&child.table) {
            referring.push(child.table);
        }
    }
    Ok(referring)
}

/// The statement that would make the table.
pub(super) fn statement(connection: &Connection, table: &str) -> Result<String, Refusal> {
    let sql = format!("SELECT sql FROM duckdb_tables() WHERE {}", here(table));
    Ok(connection.value(&sql)?.unwrap_or_default())
}

/// The collation of a column, as only the statement that makes its table says.
pub(super) fn collation<'s>(statement: &'s str, column: &str) -> Option<&'s str> {
    // The engine puts a name in quotes only where it has to.
    let names = [column.to_owned(), quote(column)];
    let spelled = |name| ["(", ", "].map(|before| format!("{before}{name} VARCHAR COLLATE "));
    let behind = names.iter().flat_map(spelled).find_map(|words| statement.split_once(&words))?.1;
    behind.split([' ', ',', ')']).next()
}

/// A column of a key that has a collation.
fn collated(connection: &Connection, table: &TableFacts) -> Result<Option<String>, Refusal> {
    let made = statement(connection, &table.name)?;
    let is_collated = |column: &&String| collation(&made, column).is_some();
    Ok(table
        .primary_key
        .iter()
        .chain(table.unique_keys.iter().flatten())
        .find(is_collated)
        .cloned())
}

/// The table's loads in steps.
fn ledger(
    connection: &Connection,
    table: &str,
    entries: Entries,
) -> Result<Result<Vec<Entry>>, Refusal> {
    let known = format!("SELECT count(*) FROM duckdb_tables() WHERE {}", here(ledger::TABLE));
    if connection.value(&known)?.as_deref() == Some("0") {
        return Ok(Ok(Vec::new()));
    }
    let ledger = ddl::ledger(table);
    // The names that are the same to the engine, which compares them otherwise than its SQL does.
    let names = format!("SELECT DISTINCT table_name FROM {} ORDER BY 1", ledger.name);
    let mut rows = Vec::new();
    for name in connection.rows(&names)?.into_iter().flatten().flatten() {
        if name.eq_ignore_ascii_case(table) {
            rows.extend(connection.rows(&ddl::ledger(&name).read(entries))?);
        }
    }
    Ok(rows.into_iter().flatten().flatten().map(|text| ledger.parse(&text)).collect())
}

fn has_json(connection: &Connection) -> Result<bool, Refusal> {
    let sql = "SELECT count(*) FROM duckdb_types() WHERE type_name = 'JSON'";
    Ok(connection.value(sql)?.is_some_and(|count| count != "0"))
}

/// The condition that finds the lines of a table of the connection's schema in one of the engine's lists.
pub(super) fn here(name: &str) -> String {
    format!(
        "database_name = current_database() AND schema_name = current_schema() AND table_name = {}",
        literal(name)
    )
}

/// The connection's schema, as SQL names it before a table that another name of the statement may hide.
pub(super) fn schema(connection: &Connection) -> Result<String, Refusal> {
    let names = connection.rows("SELECT current_database(), current_schema()")?;
    let names: Vec<String> = names.iter().flatten().flatten().map(|name| quote(name)).collect();
    Ok(names.join("."))
}

/// What a name means to the engine in the connection's schema: the name as the catalogue has it, and whether that is a table or a view.
pub(super) fn find(
    connection: &Connection,
    name: &str,
) -> Result<Option<(String, String)>, Refusal> {
    // A name as it is written comes before one that differs in case.
    let sql = format!(
        "SELECT name, kind FROM (\
           SELECT table_name AS name, 'table' AS kind FROM duckdb_tables() \
           WHERE database_name = current_database() AND schema_name = current_schema() \
           UNION ALL SELECT view_name, 'view' FROM duckdb_views() \
           WHERE database_name = current_database() AND schema_name = current_schema() AND NOT internal) \
         WHERE {1} = {2} ORDER BY name <> {0} LIMIT 1",
        literal(name),
        folded("name"),
        folded(&literal(name))
    );
    let found = connection.rows(&sql)?.pop();
    Ok(found.and_then(|row| match <[Option<String>; 2]>::try_from(row) {
        Ok([Some(name), Some(kind)]) => Some((name, kind)),
        _ => None,
    }))
}

fn read_table(connection: &Connection, table: &str) -> Result<Option<TableFacts>, Refusal> {
    let Some((name, kind)) = find(connection, table)? else { return Ok(None) };
    let name = name.as_str();
    let mut facts =
        TableFacts { name: name.to_owned(), storage: Some(kind.clone()), ..TableFacts::default() };
    if kind == "view" {
        return Ok(Some(facts));
    }
    let sql = format!(
        "SELECT column_name, data_type, CAST(NOT is_nullable AS VARCHAR), CAST(column_default IS NOT NULL AS VARCHAR) \
         FROM duckdb_columns() WHERE {} ORDER BY column_index",
        here(name)
    );
    for row in connection.rows(&sql)? {
        let [Some(column), Some(declared), required, has_default] = row.as_slice() else {
            continue;
        };
        let (required, has_default) =
            (required.as_deref() == Some("true"), has_default.as_deref() == Some("true"));
        // What a generated column is made of is shown as its default.
        if has_default && is_generated(connection, name, column) {
            facts.computed.push(column.clone());
            continue;
        }
        if required && !has_default {
            facts.needs.push(column.clone());
        }
        facts.columns.push(Column {
            name: column.clone(),
            ty: types::declared(declared).0,
            declared: Some(declared.clone()),
            basis: Basis::Declared,
            required,
        });
    }
    for row in connection.rows(&format!(
        "SELECT constraint_type, array_to_string(constraint_column_names, chr(31)) FROM duckdb_constraints() \
         WHERE {} AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') ORDER BY constraint_index",
        here(name)
    ))? {
        let [Some(kind), Some(columns)] = row.as_slice() else { continue };
        let columns: Vec<String> = columns.split('\u{1f}').map(str::to_owned).collect();
        match kind.as_str() {
            "PRIMARY KEY" => facts.primary_key = columns,
            _ => facts.unique_keys.push(columns),
        }
    }
    for index in indexes(connection, name)? {
        match index.is_unique {
            true => facts.unique_keys.extend(index.columns(&facts.columns)),
            false => facts.indexes.push(index.name),
        }
    }
    facts.is_parent = !children(connection, name)?.is_empty();
    let holds = format!("SELECT CAST(EXISTS (FROM {}) AS VARCHAR)", quote(name));
    facts.holds_rows = connection.value(&holds)?.as_deref() == Some("true");
    Ok(Some(facts))
}

/// Whether a column's values are the engine's: it refuses to compile a statement that gives one.
pub(super) fn is_generated(connection: &Connection, table: &str, column: &str) -> bool {
    let sql = format!("INSERT INTO {} ({}) VALUES (NULL)", quote(table), quote(column));
    connection.prepare(&sql).is_err_and(|refusal| refusal.message.contains("generated column"))
}

/// An index as the engine lists it.
pub(super) struct Index {
    pub(super) name: String,
    pub(super) is_unique: bool,
    /// What it is on, in the words of SQL.
    pub(super) parts: Vec<String>,
}

impl Index {
    /// The columns that it is on. None where one of its parts is an expression.
    fn columns(&self, columns: &[Column]) -> Option<Vec<String>> {
        self.parts.iter().map(|part| column_of(part, columns)).collect()
    }
}

/// The column that a part of an index is, which is written as whoever made the index has spelled it.
pub(super) fn column_of(part: &str, columns: &[Column]) -> Option<String> {
    let name = plain(part);
    let column = columns.iter().find(|column| column.name.eq_ignore_ascii_case(&name))?;
    Some(column.name.clone())
}

/// A name without the quotes that SQL may have around it.
pub(super) fn plain(part: &str) -> String {
    match part.strip_prefix('"').and_then(|part| part.strip_suffix('"')) {
        Some(part) => part.replace("\"\"", "\""),
        None => part.to_owned(),
    }
}

/// A table's indexes.
pub(super) fn indexes(connection: &Connection, table: &str) -> Result<Vec<Index>, Refusal> {
    // The engine writes a list, and reads what it has written.
    let sql = format!(
        "SELECT index_name, CAST(is_unique AS VARCHAR), array_to_string(CAST(expressions AS VARCHAR[]), chr(31)) \
         FROM duckdb_indexes() WHERE {} ORDER BY index_oid",
        here(table)
    );
    let index = |row: Vec<Option<String>>| match row.as_slice() {
        [Some(name), unique, Some(parts)] => Some(Index {
            name: name.clone(),
            is_unique: unique.as_deref() == Some("true"),
            parts: parts.split('\u{1f}').map(str::to_owned).collect(),
        }),
        _ => None,
    };
    Ok(connection.rows(&sql)?.into_iter().filter_map(index).collect())
}
