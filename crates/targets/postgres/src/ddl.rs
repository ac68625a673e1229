//! SQL text that names tables and columns.

use crate::facts::ServerFacts;
use crate::types;
use inrush_core::ledger::{self, Ledger};
use inrush_core::{Column, Job, OnConflict, TargetFacts};

/// Bytes of a name; of a longer one the server would leave out the rest
/// (<https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS>).
pub(super) const NAME_MAX: usize = 63;

/// Columns that every table has already (<https://www.postgresql.org/docs/current/ddl-system-columns.html>).
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// Why no column can be called so.
pub(super) fn name_fault(name: &str) -> Option<String> {
    if SYSTEM_COLUMNS.contains(&name) {
        return Some("every table of PostgreSQL has a system column of that name".to_owned());
    }
    let length = name.len();
    (length > NAME_MAX)
        .then(|| format!("the name has {length} bytes, and PostgreSQL keeps {NAME_MAX}"))
}

/// The name in double quotes.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The text as a string literal, whatever standard_conforming_strings is.
pub(super) fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// The loaded columns, in order.
pub(super) fn columns(job: &Job) -> String {
    names(job.choice.columns.iter().map(|column| column.name.as_str()))
}

/// What stands around a part of a table's name that has a dot in it.
pub(super) const QUOTES: &[(char, char)] = &[('"', '"')];

/// A table where it is or will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
    /// Whether its rows are all in other tables: it is partitioned, or a view.
    is_whole: bool,
}

impl Table {
    /// The load's target.
    pub(super) fn of(facts: &TargetFacts) -> Self {
        let server = ServerFacts::of(facts);
        let storage = facts.table.as_ref().and_then(|table| table.storage.as_deref());
        let is_whole = matches!(storage, Some("partitioned table" | "view" | "view with rules"));
        Self { schema: server.schema.clone(), name: server.table.clone(), is_whole }
    }

    /// A plain table.
    pub(super) fn in_schema(schema: &str, name: &str) -> Self {
        Self { schema: schema.to_owned(), name: name.to_owned(), is_whole: false }
    }

    /// One of the catalogue's.
    pub(super) fn found(schema: &str, name: &str, is_whole: bool) -> Self {
        Self { is_whole, ..Self::in_schema(schema, name) }
    }

    /// Another one in the same schema.
    pub(super) fn beside(&self, name: &str) -> Self {
        Self::in_schema(&self.schema, name)
    }

    /// As SQL names it.
    pub(super) fn sql(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }

    /// The same without the tables that inherit from it, which have rows and keys of their own. Partitions belong to it.
    pub(super) fn only(&self) -> String {
        if self.is_whole { self.sql() } else { format!("ONLY {}", self.sql()) }
    }

    /// The same as a literal, for functions that take a `regclass`.
    pub(super) fn literal(&self) -> String {
        literal(&self.sql())
    }
}

/// A query for one row of the table, if there is any.
pub(super) fn first_row(table: &Table) -> String {
    format!("SELECT 1 FROM {} LIMIT 1", table.sql())
}

/// A query that takes the lock of loads into the table, until the transaction ends: `t`, or `f` where another one has it.
pub(super) fn try_lock(table: &Table) -> String {
    /// "inrs", the first half of such a lock's number.
    const LOADS: u32 = 0x696e_7273;
    format!(
        "SELECT pg_catalog.pg_try_advisory_xact_lock({LOADS}, pg_catalog.hashtext({}))",
        table.literal()
    )
}

/// The ledger of loads in steps into the table.
pub(super) fn ledger<'n>(schema: &str, table: &'n str) -> Ledger<'n> {
    let name = format!("{}.{}", quote(schema), quote(ledger::TABLE));
    let unless_known = "ON CONFLICT DO NOTHING";
    Ledger { name, table, text: "text", suffix: "", unless_known, folds_case: false, literal }
}

/// The type of a loaded column: the catalogue's, or that of the table which the load makes.
pub(super) fn declared(column: &Column) -> String {
    match &column.declared {
        Some(declared) => declared.clone(),
        None => types::spell(column.ty),
    }
}

/// CREATE TABLE for a table that the load makes.
pub(super) fn create_table(table: &Table, job: &Job, unlogged: bool, with_indexes: bool) -> String {
    let mut parts: Vec<String> = job
        .choice
        .columns
        .iter()
        .map(|column| {
            let null = if column.required { " NOT NULL" } else { "" };
            format!("{} {}{null}", quote(&column.name), declared(column))
        })
        .collect();
    if with_indexes {
        parts.extend(primary_key(job));
    }
    let unlogged = if unlogged { "UNLOGGED " } else { "" };
    let mut sql = format!("CREATE {unlogged}TABLE {} ({})", table.sql(), parts.join(", "));
    if with_indexes {
        for index in indexes(table, job) {
            sql.push_str("; ");
            sql.push_str(&index);
        }
    }
    sql
}

/// ALTER TABLE for the columns that the load adds to an existing table; `None` where there are none.
pub(super) fn add_columns(table: &Table, job: &Job) -> Option<String> {
    let add = |column: &Column| format!("ADD {} {}", quote(&column.name), declared(column));
    let adds: Vec<String> = job.added_columns().map(add).collect();
    (!adds.is_empty()).then(|| format!("ALTER TABLE {} {}", table.sql(), adds.join(", ")))
}

/// CREATE TABLE for one that takes the loaded columns' values of the target, whatever they are.
pub(super) fn create_like(table: &Table, target: &Table, job: &Job) -> String {
    let is_new = |column: &Column| job.added_columns().any(|added| added.name == column.name);
    let column = |column: &Column| match is_new(column) {
        true => format!("NULL::{} AS {}", declared(column), quote(&column.name)),
        false => quote(&column.name),
    };
    let columns: Vec<String> = job.choice.columns.iter().map(column).collect();
    let (table, target, columns) = (table.sql(), target.sql(), columns.join(", "));
    format!("CREATE UNLOGGED TABLE {table} AS SELECT {columns} FROM {target} WITH NO DATA")
}

/// The columns of the primary key that was asked for, as the table spells them.
pub(super) fn key(job: &Job) -> Vec<String> {
    job.request.primary_key.iter().map(|name| column_named(job, name).to_owned()).collect()
}

/// The primary key that was asked for, as a part of CREATE or ALTER TABLE.
pub(super) fn primary_key(job: &Job) -> Option<String> {
    let key = key(job);
    let columns = names(key.iter().map(String::as_str));
    (!key.is_empty()).then(|| format!("PRIMARY KEY ({columns})"))
}

/// The indexes that were asked for.
pub(super) fn indexes(table: &Table, job: &Job) -> Vec<String> {
    let of = |columns: &Vec<String>| {
        let columns = columns.iter().map(|name| column_named(job, name));
        format!("CREATE INDEX ON {} ({})", table.sql(), names(columns))
    };
    job.request.indexes.iter().map(of).collect()
}

/// The column as the table spells it: users need not mind upper case.
fn column_named<'p>(job: &'p Job, name: &'p str) -> &'p str {
    let columns = &job.choice.columns;
    let alike = |column: &&Column| column.name.eq_ignore_ascii_case(name);
    let exact = columns.iter().find(|column| column.name == name);
    exact.or_else(|| columns.iter().find(alike)).map_or(name, |column| &column.name)
}

/// A query for how many rows of another table have left no trace in `table` where theirs were inserted unless their `key` was taken:
/// neither they are there nor others with their key. What stands before that table and after it. A key with a NULL in it is nobody's.
pub(super) fn lost(table: &Table, key: &[String]) -> (String, String) {
    let names: Vec<String> = key.iter().map(|name| quote(name)).collect();
    let all =
        |part: &dyn Fn(&String) -> String| names.iter().map(part).collect::<Vec<_>>().join(" AND ");
    let is_known = all(&|name| format!("sent.{name} IS NOT NULL"));
    let is_same = all(&|name| format!("kept.{name} = sent.{name}"));
    (
        "SELECT pg_catalog.count(*) FROM ".to_owned(),
        format!(
            " sent WHERE {is_known} AND NOT EXISTS (SELECT FROM {} kept WHERE {is_same})",
            table.only()
        ),
    )
}

/// What the row of the table is called that has the key of one that is inserted: a table may be called EXCLUDED, as the other one is.
const STORED: &str = "inrush_stored";

/// What the rows are called whose keys are looked for, and the row that has the key of one.
const GIVEN: &str = "inrush_given";
const KEPT: &str = "inrush_kept";

/// What stands before and after the rows of an INSERT, which are a query of the loaded columns.
pub(super) struct Insert {
    pub(super) head: String,
    pub(super) tail: String,
}

impl Insert {
    pub(super) fn into(table: &Table, job: &Job) -> Self {
        Self::of(table, table, job, &on_conflict(job))
    }

    /// That of rows which change others of `table`, and are only judged, in another one.
    pub(super) fn judging(judged: &Table, table: &Table, job: &Job) -> Self {
        Self::of(judged, table, job, "")
    }

    fn of(into: &Table, table: &Table, job: &Job, on_conflict: &str) -> Self {
        let kept = job.kept_columns();
        let stored = if on_conflict.is_empty() { String::new() } else { format!(" AS {STORED}") };
        let loaded = job.choice.columns.iter().map(|column| column.name.as_str());
        // What the file says of a column that counts by itself is to be kept.
        let head = format!(
            "INSERT INTO {}{stored} ({}) OVERRIDING SYSTEM VALUE ",
            into.sql(),
            names(loaded.clone().chain(kept.iter().copied()))
        );
        if kept.is_empty() {
            return Self { head, tail: on_conflict.to_owned() };
        }
        // What a kept column has in the row with the key of a new one; of a row without such, NULL.
        let is_same = |name: &String| format!("{KEPT}.{0} = {GIVEN}.{0}", quote(name));
        let is_same = job.choice.key.iter().map(is_same).collect::<Vec<_>>().join(" AND ");
        let value = |name: &str| {
            format!("(SELECT {KEPT}.{} FROM {} {KEPT} WHERE {is_same})", quote(name), table.only())
        };
        let given = loaded.map(|name| format!("{GIVEN}.{}", quote(name)));
        let values = given.chain(kept.iter().map(|name| value(name))).collect::<Vec<_>>();
        Self {
            head: format!("{head}SELECT {} FROM (", values.join(", ")),
            tail: format!(") {GIVEN} ({}){on_conflict}", columns(job)),
        }
    }
}

/// The columns in which a row changes the one that has its key. What counts by itself and takes nothing else (GENERATED ALWAYS) keeps its
/// number.
pub(super) fn changed_columns(job: &Job) -> Vec<&Column> {
    let counting = &ServerFacts::of(&job.facts.target).always_identity;
    let columns: Vec<&Column> = match job.request.on_conflict {
        OnConflict::Fail | OnConflict::Skip => Vec::new(),
        OnConflict::Update => job.choice.columns.iter().collect(),
        OnConflict::Replace => job.table_columns().collect(),
    };
    columns.into_iter().filter(|column| !counting.contains(&column.name)).collect()
}

/// Whether values of the column that compare as equal are the same. Setting such a key would only take a stronger lock of the row, for
/// which those wait who refer to it.
fn has_one_spelling(column: &Column) -> bool {
    const TYPES: [&str; 8] =
        ["smallint", "integer", "bigint", "uuid", "date", "boolean", "bytea", "timestamp"];
    let declared = declared(column);
    TYPES.iter().any(|name| declared.split([' ', '(']).next() == Some(name))
        && !declared.ends_with(']')
}

/// What becomes of a row with a duplicate key: the row that was to be inserted has a default where the source says nothing.
fn on_conflict(job: &Job) -> String {
    let key = &job.choice.key;
    let doing = match job.request.on_conflict {
        OnConflict::Fail => return String::new(),
        OnConflict::Skip => "NOTHING".to_owned(),
        OnConflict::Update | OnConflict::Replace => {
            // A key that compares as equal may be spelt otherwise: what is replaced is spelt as the source has it, what is updated keeps it.
            let respells = job.request.on_conflict == OnConflict::Replace;
            let changes = |column: &&Column| {
                !key.contains(&column.name) || (respells && !has_one_spelling(column))
            };
            let changed = changed_columns(job).into_iter().filter(changes);
            let set = |column: &Column| format!("{0} = EXCLUDED.{0}", quote(&column.name));
            let mut sets: Vec<String> = changed.map(set).collect();
            if sets.is_empty() {
                // So that the server counts the row.
                let keep = |name: &String| format!("{0} = {STORED}.{0}", quote(name));
                sets.extend(key.iter().map(keep));
            }
            format!("UPDATE SET {}", sets.join(", "))
        }
    };
    let key = names(key.iter().map(String::as_str));
    format!(" ON CONFLICT ({key}) DO {doing}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_one_name_or_text() {
        assert_eq!(quote("a\"; DROP"), "\"a\"\"; DROP\"");
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\\'b"), "E'a\\\\''b'");
    }

    #[test]
    fn the_names_of_system_columns_are_taken() {
        assert!(name_fault("xmin").is_some() && name_fault("tableoid").is_some());
        assert!(name_fault("Xmin").is_none() && name_fault("oid").is_none());
    }
}
