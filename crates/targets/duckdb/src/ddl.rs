//! SQL text: identifiers quoted, tables made.

use crate::facts::DatabaseFacts;
use crate::types;
use inrush_core::ledger::{self, Ledger};
use inrush_core::{Column, Job, OnConflict};

/// What stands around a part of a table's name that has a dot in it.
pub(super) const QUOTES: &[(char, char)] = &[('"', '"')];

/// A name as SQL takes it, whatever is in it.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A string as SQL takes it.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// An expression of SQL without the case of its letters, as the engine compares names: those of ASCII alone have one to it, and its
/// `lower` knows more.
pub(super) fn folded(text: &str) -> String {
    format!("translate({text}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')")
}

/// The ledger of loads in steps into the table.
pub(super) fn ledger(table: &str) -> Ledger<'_> {
    let name = quote(ledger::TABLE);
    let unless_known = "ON CONFLICT DO NOTHING";
    Ledger { name, table, text: "varchar", suffix: "", unless_known, folds_case: false, literal }
}

/// Names with commas between them.
pub(super) fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    names.into_iter().map(|name| quote(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The loaded columns.
pub(super) fn columns(job: &Job) -> String {
    list(job.choice.columns.iter().map(|column| &column.name))
}

/// Whether the engine has the type JSON.
pub(super) fn has_json(job: &Job) -> bool {
    DatabaseFacts::of(&job.facts.target).has_json
}

/// The table's name: of an existing one as the catalogue spells it.
pub(super) fn table(job: &Job) -> &str {
    let there = job.facts.target.table.as_ref().filter(|_| !job.choice.action.makes_table());
    there.map_or_else(|| named(job), |table| table.name.as_str())
}

/// The table's name as the user spells it, without the schema, which is the session's.
pub(super) fn named(job: &Job) -> &str {
    &DatabaseFacts::of(&job.facts.target).name.table
}

/// The name of a column as the table spells it.
fn spelled<'p>(job: &'p Job, name: &'p str) -> &'p str {
    let columns = &job.choice.columns;
    let found = columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    found.map_or(name, |column| column.name.as_str())
}

/// CREATE TABLE for a table that the load makes; `keyed` with its primary key.
pub(super) fn create_table(job: &Job, keyed: bool) -> String {
    let has_json = has_json(job);
    let key = &job.request.primary_key;
    let in_key = |column: &Column| key.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
    let mut parts: Vec<String> = job
        .choice
        .columns
        .iter()
        .map(|column| {
            // A key refuses NULL by itself.
            let null = if column.required && !in_key(column) { " NOT NULL" } else { "" };
            format!("{} {}{null}", quote(&column.name), types::spell(column.ty, has_json))
        })
        .collect();
    if keyed && !job.request.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", list(&job.request.primary_key)));
    }
    format!("CREATE TABLE {} (\n  {}\n)", quote(named(job)), parts.join(",\n  "))
}

/// A statement for each column that the load adds to an existing table.
pub(super) fn add_columns(job: &Job) -> impl Iterator<Item = String> {
    let has_json = has_json(job);
    job.added_columns().map(move |column| {
        let (table, name) = (quote(table(job)), quote(&column.name));
        format!("ALTER TABLE {table} ADD COLUMN {name} {}", types::spell(column.ty, has_json))
    })
}

/// Gives a table its primary key.
pub(super) fn add_key(job: &Job) -> String {
    let key = job.request.primary_key.iter().map(|name| spelled(job, name));
    format!("ALTER TABLE {} ADD PRIMARY KEY ({})", quote(named(job)), list(key))
}

/// CREATE INDEX; its name is the table's and the columns', and `taken` tells whether another object has it.
pub(super) fn create_index(
    job: &Job,
    columns: &[String],
    mut taken: impl FnMut(&str) -> bool,
) -> String {
    let base = format!("{}_{}", named(job), columns.join("_"));
    let name = std::iter::once(base.clone())
        .chain((2..).map(|n| format!("{base}_{n}")))
        .find(|name| !taken(name))
        .unwrap_or(base);
    let columns = columns.iter().map(|name| spelled(job, name));
    format!("CREATE INDEX {} ON {} ({})", quote(&name), quote(named(job)), list(columns))
}

/// Whether it is a column by which the load finds the row that it changes.
pub(super) fn is_key(job: &Job, name: &str) -> bool {
    job.choice.key.iter().any(|key| key.eq_ignore_ascii_case(name))
}

/// The columns that a row changes where its key is a duplicate. It has the key of the one that it changes, so the key stays; DuckDB takes no
/// change of an indexed column here. Where none is left the engine doesn't count the row.
pub(super) fn changed(job: &Job) -> Vec<&str> {
    let columns: Vec<&Column> = match job.request.on_conflict {
        OnConflict::Fail | OnConflict::Skip => Vec::new(),
        OnConflict::Update => job.choice.columns.iter().collect(),
        // The row as if it were new: columns that the source lacks get their default.
        OnConflict::Replace => job.table_columns().collect(),
    };
    let names = columns.into_iter().map(|column| column.name.as_str());
    names.filter(|name| !is_key(job, name)).collect()
}

/// A statement that adds no row. An index that CREATE INDEX has made the engine reads once a statement inserts; one that it has not read
/// before rows are deleted keeps their keys to the end of the transaction.
pub(super) fn insert_nothing(job: &Job) -> String {
    let own = job.kept_table().map_or(&[][..], |table| &table.columns);
    let (table, columns) = (quote(table(job)), list(own.iter().map(|column| &column.name)));
    format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM {table} WHERE false")
}

/// INSERT up to the values of the loaded columns and of those that stay as they are. The table has another name in it: it may be called
/// EXCLUDED, as the row with its key is.
pub(super) fn insert_into(job: &Job) -> String {
    let loaded = job.choice.columns.iter().map(|column| column.name.as_str());
    let columns = list(loaded.chain(job.kept_columns()));
    format!("INSERT INTO {} AS \"inrush stored\" ({columns})", quote(table(job)))
}

/// What INSERT does with a row with a duplicate key; empty where such a row is a bad row.
pub(super) fn on_conflict(job: &Job) -> String {
    if job.request.on_conflict == OnConflict::Fail {
        return String::new();
    }
    let key = list(job.choice.key.iter().map(|name| spelled(job, name)));
    let sets: Vec<String> =
        changed(job).into_iter().map(|name| format!("{0} = excluded.{0}", quote(name))).collect();
    match sets.is_empty() {
        true => format!(" ON CONFLICT ({key}) DO NOTHING"),
        false => format!(" ON CONFLICT ({key}) DO UPDATE SET {}", sets.join(", ")),
    }
}
