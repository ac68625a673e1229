//! What the server, the database and the table are.

use std::collections::BTreeMap;

use crate::ddl::{self, literal, quote};
use crate::lost;
use crate::session::{Failure, Session, number};
use inrush_core::error::{Error, Kind, Result};
use inrush_core::target::TableName;
use inrush_core::value::double::Specials;
use inrush_core::value::rule::Truths;
use inrush_core::{
    Basis, Column, IfExists, MomentLimits, Own, Request, TableFacts, TargetFacts, Type,
};

/// <https://learn.microsoft.com/en-us/sql/sql-server/maximum-capacity-specifications-for-sql-server>
const COLUMNS_MAX: usize = 1024;

/// What only this target knows: where the table is or will be, and what the database is.
#[derive(Debug, Default)]
pub(super) struct DatabaseFacts {
    /// Its name.
    pub(super) name: String,
    /// Whether it only reads.
    pub(super) only_reads: bool,
    /// How much goes into its log, in the server's word, where that says so.
    pub(super) recovery_model: Option<String>,
    /// Whether a commit waits for the log, in the server's word; empty before 2014, when it always did.
    pub(super) delayed_durability: String,
    /// The table's schema.
    pub(super) schema: String,
    /// The table, of an existing one as the catalogue spells it.
    pub(super) table: String,
    /// The column of the existing table that counts by itself.
    pub(super) identity: Option<String>,
}

impl DatabaseFacts {
    pub(super) fn of(facts: &TargetFacts) -> &Self {
        facts.own.get()
    }
}

pub(super) fn gather(
    session: &mut Session<'_>,
    table: &str,
    request: &Request,
) -> Result<TargetFacts> {
    let name = TableName::of(request, table, ddl::QUOTES)?;
    let name = name.within("SQL Server", (ddl::NAME_MAX, "characters"), ddl::length)?;
    let mut settings = settings(session).map_err(|failure| session.explain(failure))?;
    let table = read_table(session, &name)?;
    let schema = match &table {
        Some(found) => found.schema.clone(),
        None => schema_for(session, &name)?,
    };
    let mut lost_with = Vec::new();
    if let Some(found) = &table {
        if request.if_exists == IfExists::Replace && found.is_view() {
            return Err(Error::target(format!(
                "{} is a view, and no table can take its place",
                found.facts.name
            ))
            .advise("--if-exists append writes through it, where the server lets it"));
        }
        if request.if_exists == IfExists::Replace {
            lost_with = lost::read(session, &name).map_err(|failure| session.explain(failure))?;
        }
    }
    let mut setting = |name: &str| settings.remove(name);
    let version = setting("version").unwrap_or_default();
    let database = DatabaseFacts {
        name: setting("database").unwrap_or_default(),
        only_reads: setting("updateability").is_some_and(|word| word == "READ_ONLY"),
        recovery_model: setting("recovery_model"),
        delayed_durability: setting("delayed_durability").unwrap_or_default(),
        schema,
        table: table.as_ref().map_or(name.table, |found| found.facts.name.clone()),
        identity: table.as_ref().and_then(|found| found.identity.clone()),
    };
    Ok(TargetFacts {
        engine: engine(&version),
        exists: true,
        table: table.map(|found| found.facts),
        columns_max: COLUMNS_MAX,
        name_fault: Some(ddl::name_fault),
        text_types: &[Type::Time, Type::Uuid],
        decimals_are_texts: false,
        truths: Truths::Words,
        specials: Specials::None,
        reads_hex: false,
        lost_with,
        mentioned_by: Vec::new(),
        held_by: Vec::new(),
        moments: MomentLimits::of(7),
        is_stream: false,
        own: Own::new(database),
        engine_only: None,
        gave_up: BTreeMap::new(),
        settings: BTreeMap::new(),
        read_only: None,
        ledger: Vec::new(),
        round_trip: session.round_trip(),
    })
}

/// Name and version.
pub(super) fn engine(version: &str) -> String {
    format!("SQL Server {version}")
}

/// What bears on a load, of server and database.
fn settings(session: &mut Session<'_>) -> Result<BTreeMap<String, String>, Failure> {
    let mut settings = session.pairs(
        "SELECT N'version', CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')) \
         UNION ALL SELECT N'database', DB_NAME() \
         UNION ALL SELECT N'updateability', CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability')) \
         UNION ALL SELECT N'recovery_model', CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Recovery'))",
    )?;
    settings.append(&mut durability(session)?);
    Ok(settings)
}

/// Whether a commit waits for the log
/// (<https://learn.microsoft.com/en-us/sql/relational-databases/logs/control-transaction-durability>). Servers before 2014 always do.
pub(super) fn durability(session: &mut Session<'_>) -> Result<BTreeMap<String, String>, Failure> {
    const SINCE_2014: &str = "SELECT N'delayed_durability', delayed_durability_desc FROM sys.databases WHERE database_id = DB_ID()";
    /// Invalid column name.
    const NO_COLUMN: u32 = 207;
    match session.pairs(SINCE_2014) {
        Err(failure) if number(&failure) == NO_COLUMN => Ok(BTreeMap::new()),
        found => found,
    }
}

/// Where a new table would be made.
fn schema_for(session: &mut Session<'_>, name: &TableName) -> Result<String> {
    let sql = match &name.schema {
        Some(schema) => {
            format!("SELECT name FROM sys.schemas WHERE name = {}", literal(schema))
        }
        None => "SELECT SCHEMA_NAME()".to_owned(),
    };
    let found = session.value(&sql).map_err(|failure| session.explain(failure))?;
    found.ok_or_else(|| match &name.schema {
        Some(schema) => Error::target(format!("there is no schema {schema}"))
            .advise(format!("make it first: CREATE SCHEMA {}", quote(schema))),
        None => Error::target("the user has no schema")
            .advise("--table SCHEMA.TABLE says where the table is to be"),
    })
}

/// What [`TableFacts::storage`] says of a view, and of a table in memory.
pub(super) const VIEW: &str = "view";
pub(super) const IN_MEMORY: &str = "memory-optimized table";

/// An existing table.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) facts: TableFacts,
    /// The schema that it is in.
    pub(super) schema: String,
    /// The column that counts by itself.
    pub(super) identity: Option<String>,
}

impl Found {
    fn is_view(&self) -> bool {
        self.facts.storage.as_deref() == Some(VIEW)
    }
}

/// The table, if it is there.
pub(super) fn read_table(session: &mut Session<'_>, name: &TableName) -> Result<Option<Found>> {
    let found = table_facts(session, name).map_err(|failure| session.explain(failure))?;
    match found {
        Some(Found { facts, .. }) if facts.columns.is_empty() => Err(Error::new(
            Kind::Target,
            format!("table {} has no column that can be written", facts.name),
        )),
        found => Ok(found),
    }
}

fn table_facts(session: &mut Session<'_>, name: &TableName) -> Result<Option<Found>, Failure> {
    let found = session.table(&format!(
        "SELECT o.object_id, s.name, o.name, o.type, \
                CONVERT(int, OBJECTPROPERTY(o.object_id, 'TableIsMemoryOptimized')) \
         FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id \
         WHERE o.object_id = OBJECT_ID({}) AND o.type IN ('U', 'V')",
        ddl::object(name)
    ))?;
    let Some(row) = found.into_iter().next() else { return Ok(None) };
    let mut row = row.into_iter().map(Option::unwrap_or_default);
    let mut next = || row.next().unwrap_or_default();
    let (id, schema, name, kind, in_memory) = (next(), next(), next(), next(), next());
    let storage = match (kind.trim(), in_memory.as_str()) {
        ("V", _) => VIEW,
        (_, "1") => IN_MEMORY,
        _ => "table",
    };
    let mut facts = TableFacts { name, storage: Some(storage.to_owned()), ..TableFacts::default() };
    let identity = columns(session, &id, &mut facts)?;
    keys(session, &id, &mut facts)?;
    references(session, &id, &mut facts)?;
    let table = format!("{}.{}", quote(&schema), quote(&facts.name));
    let holds = session
        .value(&format!("SELECT CASE WHEN EXISTS (SELECT * FROM {table}) THEN 1 ELSE 0 END"))?;
    facts.holds_rows = holds.as_deref() == Some("1");
    Ok(Some(Found { facts, schema, identity }))
}

/// Those that can be written; the one that counts by itself.
fn columns(
    session: &mut Session<'_>,
    id: &str,
    facts: &mut TableFacts,
) -> Result<Option<String>, Failure> {
    // A type that was made from another has that one's name and the column's limits. A view's columns may be computed without a word.
    let rows = session.table(&format!(
        "SELECT c.name, COALESCE(b.name, t.name), c.max_length, c.precision, c.scale, c.is_nullable, c.is_identity, \
                CASE WHEN c.default_object_id <> 0 THEN 1 ELSE 0 END, \
                CONVERT(int, COLLATIONPROPERTY(c.collation_name, 'CodePage')) \
         FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id \
              LEFT JOIN sys.types b ON b.user_type_id = c.system_type_id \
         WHERE c.object_id = {id} AND c.is_computed = 0 AND COALESCE(b.name, t.name) <> N'timestamp' \
           AND COALESCE(COLUMNPROPERTY(c.object_id, c.name, 'GeneratedAlwaysType'), 0) = 0 \
         ORDER BY c.column_id"
    ))?;
    let mut identity = None;
    for row in rows {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let (name, ty, length, precision, scale) = (next(), next(), next(), next(), next());
        let (nullable, counts, has_default, page) =
            (next() == "1", next() == "1", next() == "1", next());
        let declared = declared(&ty, &length, &precision, &scale, &page);
        if !nullable && !has_default && !counts {
            facts.needs.push(name.clone());
        }
        if counts {
            identity = Some(name.clone());
        }
        facts.default_bytes.push(1);
        facts.columns.push(Column {
            name,
            ty: meaning(&ty, &scale),
            declared: Some(declared),
            basis: Basis::Declared,
            required: !nullable,
        });
    }
    Ok(identity)
}

/// The type as SQL has it, with its collation's code page behind. Lengths are in bytes, -1 for `max`.
fn declared(ty: &str, length: &str, precision: &str, scale: &str, page: &str) -> String {
    let bytes: i32 = length.parse().unwrap_or(0);
    let long = |unit: i32| match bytes {
        -1 => "max".to_owned(),
        bytes => (bytes / unit).to_string(),
    };
    let page = if page.is_empty() { String::new() } else { format!(" code page {page}") };
    match ty {
        "nvarchar" | "nchar" => format!("{ty}({})", long(2)),
        "varchar" | "char" => format!("{ty}({}){page}", long(1)),
        "text" => format!("{ty}{page}"),
        "varbinary" | "binary" => format!("{ty}({})", long(1)),
        "decimal" | "numeric" => format!("{ty}({precision},{scale})"),
        "time" | "datetime2" | "datetimeoffset" => format!("{ty}({scale})"),
        "float" => format!("{ty}({precision})"),
        _ => ty.to_owned(),
    }
}

/// What the values of a catalogue's type are.
fn meaning(ty: &str, scale: &str) -> Type {
    match ty {
        "bit" => Type::Boolean,
        "tinyint" | "smallint" | "int" | "bigint" => Type::Integer,
        "real" | "float" => Type::Float,
        "decimal" | "numeric" | "money" | "smallmoney" => {
            let scale = scale.parse().unwrap_or(0);
            Type::Decimal { precision: 38, scale }
        }
        "date" => Type::Date,
        "datetime" | "datetime2" | "smalldatetime" => Type::Timestamp { zone: false },
        "datetimeoffset" => Type::Timestamp { zone: true },
        // Written as the server shows them, in digits.
        _ => Type::Text,
    }
}

/// Keys that refuse a row at once, whatever else is in it.
fn keys(session: &mut Session<'_>, id: &str, facts: &mut TableFacts) -> Result<(), Failure> {
    let rows = session.table(&format!(
        "SELECT i.index_id, i.is_primary_key, c.name FROM sys.indexes i \
         JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0 \
         JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id \
         WHERE i.object_id = {id} AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0 \
         ORDER BY i.index_id, k.key_ordinal"
    ))?;
    let mut unique: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let (index, primary, column) = (next(), next() == "1", next());
        match primary {
            true => facts.primary_key.push(column),
            false => unique.entry(index).or_default().push(column),
        }
    }
    facts.unique_keys = unique.into_values().collect();
    Ok(())
}

/// Tables whose foreign keys look at this one.
fn references(session: &mut Session<'_>, id: &str, facts: &mut TableFacts) -> Result<(), Failure> {
    let rows = session.table(&format!(
        "SELECT OBJECT_NAME(parent_object_id), CASE WHEN delete_referential_action <> 0 THEN 1 ELSE 0 END \
         FROM sys.foreign_keys WHERE referenced_object_id = {id} AND parent_object_id <> {id} ORDER BY 1"
    ))?;
    for row in rows {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let (child, changes) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
        facts.is_parent = true;
        if changes == "1" && !facts.dependents.contains(&child) {
            facts.dependents.push(child);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelt_as_they_were_declared() {
        assert_eq!(declared("nvarchar", "100", "0", "0", "1252"), "nvarchar(50)");
        assert_eq!(declared("nvarchar", "-1", "0", "0", "1252"), "nvarchar(max)");
        assert_eq!(declared("varchar", "20", "0", "0", "1252"), "varchar(20) code page 1252");
        assert_eq!(declared("decimal", "9", "10", "2", ""), "decimal(10,2)");
        assert_eq!(declared("datetime2", "7", "22", "3", ""), "datetime2(3)");
        assert_eq!(declared("int", "4", "10", "0", ""), "int");
    }
}
