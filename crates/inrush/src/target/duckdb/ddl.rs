//! SQL text: identifiers quoted, tables made.

use crate::plan::{OnConflict, Plan};
use crate::target::duckdb::facts::HAS_JSON;
use crate::target::duckdb::types;

/// A name as SQL takes it, whatever is in it.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A string as SQL takes it.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Names with commas between them.
pub(super) fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    names.into_iter().map(|name| quote(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The loaded columns.
pub(super) fn columns(plan: &Plan) -> String {
    list(plan.choice.columns.iter().map(|column| &column.name))
}

/// Whether the engine has the type JSON.
pub(super) fn has_json(plan: &Plan) -> bool {
    plan.facts.target.settings.contains_key(HAS_JSON)
}

/// The table's name: of one that is there as the catalogue spells it.
pub(super) fn table(plan: &Plan) -> &str {
    let there = plan.facts.target.table.as_ref().filter(|_| !plan.choice.action.makes_table());
    there.map_or(plan.table.as_str(), |table| table.name.as_str())
}

/// The name of a column as the table spells it.
fn spelled<'p>(plan: &'p Plan, name: &'p str) -> &'p str {
    let columns = &plan.choice.columns;
    let found = columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    found.map_or(name, |column| column.name.as_str())
}

/// CREATE TABLE for a table that the load makes; `keyed` with its primary key.
pub(super) fn create_table(plan: &Plan, keyed: bool) -> String {
    let has_json = has_json(plan);
    let mut parts: Vec<String> = plan
        .choice
        .columns
        .iter()
        .map(|column| format!("{} {}", quote(&column.name), types::spell(column.ty, has_json)))
        .collect();
    if keyed && !plan.request.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", list(&plan.request.primary_key)));
    }
    format!("CREATE TABLE {} (\n  {}\n)", quote(&plan.table), parts.join(",\n  "))
}

/// Gives a table its primary key.
pub(super) fn add_key(plan: &Plan) -> String {
    let key = plan.request.primary_key.iter().map(|name| spelled(plan, name));
    format!("ALTER TABLE {} ADD PRIMARY KEY ({})", quote(&plan.table), list(key))
}

/// CREATE INDEX; its name is the table's and the columns', and `taken` tells whether another object has it.
pub(super) fn create_index(
    plan: &Plan,
    columns: &[String],
    mut taken: impl FnMut(&str) -> bool,
) -> String {
    let base = format!("{}_{}", plan.table, columns.join("_"));
    let name = std::iter::once(base.clone())
        .chain((2..).map(|n| format!("{base}_{n}")))
        .find(|name| !taken(name))
        .unwrap_or(base);
    let columns = columns.iter().map(|name| spelled(plan, name));
    format!("CREATE INDEX {} ON {} ({})", quote(&name), quote(&plan.table), list(columns))
}

/// What INSERT does with a row whose key is there; empty where such a row is a bad row.
pub(super) fn on_conflict(plan: &Plan) -> String {
    let choice = &plan.choice;
    let key = list(choice.key.iter().map(|name| spelled(plan, name)));
    let is_key = |name: &str| choice.key.iter().any(|key| key.eq_ignore_ascii_case(name));
    // A row has the key of the one that it changes, so the key stays; DuckDB takes no change of an indexed column here.
    let set = |names: Vec<&str>| {
        let sets: Vec<String> = names
            .iter()
            .filter(|name| !is_key(name))
            .map(|name| format!("{0} = excluded.{0}", quote(name)))
            .collect();
        match sets.is_empty() {
            true => "DO NOTHING".to_owned(),
            false => format!("DO UPDATE SET {}", sets.join(", ")),
        }
    };
    let loaded = || choice.columns.iter().map(|column| column.name.as_str()).collect();
    match plan.request.on_conflict {
        OnConflict::Fail => String::new(),
        OnConflict::Skip => format!(" ON CONFLICT ({key}) DO NOTHING"),
        OnConflict::Update => format!(" ON CONFLICT ({key}) {}", set(loaded())),
        // The row as if it were new: columns that the source lacks get their default.
        OnConflict::Replace => {
            let table = plan.facts.target.table.as_ref().filter(|_| !choice.action.makes_table());
            let all = match table {
                Some(table) => table.columns.iter().map(|column| column.name.as_str()).collect(),
                None => loaded(),
            };
            format!(" ON CONFLICT ({key}) {}", set(all))
        }
    }
}
