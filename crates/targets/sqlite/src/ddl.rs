//! SQL text: identifiers quoted, tables made, rows inserted.

use crate::clauses::Clauses;
use crate::facts::DatabaseFacts;
use crate::types;
use inrush_core::ledger::{self, Ledger};
use inrush_core::{Column, Job, OnConflict, Type};

/// A name as SQL takes it, whatever is in it.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    names.into_iter().map(|name| quote(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// The ledger of loads in steps into the table.
pub(super) fn ledger(table: &str) -> Ledger<'_> {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let name = ledger::TABLE.to_owned();
    let unless_known = "ON CONFLICT DO NOTHING";
    Ledger { name, table, text: "text", suffix: "", unless_known, folds_case: true, literal }
}

/// CREATE TABLE for a table that the load makes.
pub(super) fn create_table(table: &str, columns: &[Column], primary_key: &[String]) -> String {
    let in_key =
        |column: &Column| primary_key.iter().any(|name| name.eq_ignore_ascii_case(&column.name));
    // "INTEGER PRIMARY KEY" on the column makes it the rowid itself; as a table constraint it does so as well, but only this
    // spelling is what people look for in a schema.
    let rowid = primary_key.len() == 1;
    let mut parts: Vec<String> = columns
        .iter()
        .map(|column| {
            let mut part = format!("{} {}", quote(&column.name), types::spell(column.ty));
            if in_key(column) {
                part.push_str(if rowid && column.ty == Type::Integer {
                    " PRIMARY KEY"
                } else if rowid {
                    " NOT NULL PRIMARY KEY"
                } else {
                    " NOT NULL"
                });
            } else if column.required {
                part.push_str(" NOT NULL");
            }
            part
        })
        .collect();
    if primary_key.len() > 1 {
        parts.push(format!("PRIMARY KEY ({})", list(primary_key)));
    }
    format!("CREATE TABLE {} (\n  {}\n)", quote(table), parts.join(",\n  "))
}

/// The type of a column that the load makes, in a table of its own or an existing one.
pub(super) fn spell(ty: Type, job: &Job) -> &'static str {
    let is_strict = DatabaseFacts::of(&job.facts.target).is_strict;
    if is_strict && job.kept_table().is_some() { types::spell_strict(ty) } else { types::spell(ty) }
}

/// A statement for each column that the load adds to an existing table (<https://sqlite.org/lang_altertable.html#altertabaddcol>).
pub(super) fn add_columns(job: &Job) -> impl Iterator<Item = String> {
    let add = |column: &Column| {
        let (table, name) = (quote(&job.table), quote(&column.name));
        format!("ALTER TABLE {table} ADD COLUMN {name} {}", spell(column.ty, job))
    };
    job.added_columns().map(add)
}

/// CREATE INDEX; its name is the table's and the columns', and `taken` tells whether another object has it.
pub(super) fn create_index(
    table: &str,
    columns: &[String],
    taken: impl Fn(&str) -> bool,
) -> String {
    let base = format!("{table}_{}", columns.join("_"));
    let name = std::iter::once(base.clone())
        .chain((2..).map(|n| format!("{base}_{n}")))
        .find(|name| !taken(name))
        .unwrap_or(base);
    format!("CREATE INDEX {} ON {} ({})", quote(&name), quote(table), list(columns))
}

/// Rows of values, under names that are numbers, where SQL makes more of them; and the row of the table that has the key of one.
const GIVEN: &str = "\"inrush given\"";
const KEPT: &str = "\"inrush kept\"";

/// The parts of INSERT around the values.
pub(super) struct Insert {
    /// Up to and with VALUES.
    pub(super) head: String,
    /// What follows the values; empty, or the answer to a conflict.
    pub(super) tail: String,
    /// The statement with a parameter for each value of one row.
    pub(super) prepared: String,
}

impl Insert {
    pub(super) fn of(job: &Job, clauses: Clauses) -> Self {
        let choice = &job.choice;
        let names = || choice.columns.iter().map(|column| column.name.as_str());
        // OR ABORT overrides the table's own ON CONFLICT clauses: one that says IGNORE, REPLACE, FAIL or ROLLBACK would lose
        // rows without telling us which. It overrides what statements of triggers say as well, so it is said only where there are any.
        let or = if clauses.of_table { "OR ABORT " } else { "" };
        // The table has another name in it: it may be called EXCLUDED, as the row with its key is.
        let stored = match job.request.on_conflict {
            OnConflict::Fail => "",
            _ => " AS \"inrush stored\"",
        };
        let table = quote(&job.table);
        let kept = job.kept_columns();
        let into = list(names().chain(kept.iter().copied()));
        let into = format!("INSERT {or}INTO {table}{stored} ({into}) ");
        let set = |names: Vec<&str>| {
            names
                .iter()
                .map(|name| format!("{0}=excluded.{0}", quote(name)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let key = list(&choice.key);
        let tail = match job.request.on_conflict {
            OnConflict::Fail => String::new(),
            OnConflict::Skip => format!(" ON CONFLICT ({key}) DO NOTHING"),
            // The key stays as it is spelled, and no trigger hears of a change of it. Where there is nothing else to set, it is set, so that the row counts.
            OnConflict::Update => {
                let is_key =
                    |name: &&str| choice.key.iter().any(|key| key.eq_ignore_ascii_case(name));
                let others: Vec<&str> = names().filter(|name| !is_key(name)).collect();
                let changed = if others.is_empty() { names().collect() } else { others };
                format!(" ON CONFLICT ({key}) DO UPDATE SET {}", set(changed))
            }
            // The row as if it were new: columns that the source lacks get their default. INSERT OR REPLACE would do the same
            // but also put defaults where the source has NULL in a NOT NULL column.
            OnConflict::Replace => {
                let all = job.table_columns().map(|column| column.name.as_str());
                format!(" ON CONFLICT ({key}) DO UPDATE SET {}", set(all.collect()))
            }
        };
        if kept.is_empty() {
            let head = format!("{into}VALUES ");
            let prepared = format!("{head}({}){tail}", vec!["?"; choice.columns.len()].join(","));
            return Self { head, tail, prepared };
        }
        // What a kept column has in the row with the key of a new one; of a row without such, NULL.
        let values = |given: &dyn Fn(usize) -> String| {
            let place = |key: &String| names().position(|name| name.eq_ignore_ascii_case(key));
            let is_same =
                |key: &String| Some(format!("{KEPT}.{} = {}", quote(key), given(place(key)?)));
            let is_same: Vec<String> = choice.key.iter().filter_map(is_same).collect();
            let value = |name: &&str| {
                let name = quote(name);
                format!(
                    "(SELECT {KEPT}.{name} FROM {table} {KEPT} WHERE {})",
                    is_same.join(" AND ")
                )
            };
            let given = (0..choice.columns.len()).map(given);
            given.chain(kept.iter().map(value)).collect::<Vec<_>>().join(", ")
        };
        let numbers: Vec<String> =
            (1..=choice.columns.len()).map(|number| format!("\"{number}\"")).collect();
        Self {
            prepared: format!("{into}VALUES ({}){tail}", values(&|at| format!("?{}", at + 1))),
            head: format!("{into}WITH {GIVEN} ({}) AS (VALUES ", numbers.join(", ")),
            // Without WHERE the parser takes ON for that of a join (https://sqlite.org/lang_upsert.html#parsing_ambiguity).
            tail: format!(
                ") SELECT {} FROM {GIVEN} WHERE true{tail}",
                values(&|at| format!("{GIVEN}.\"{}\"", at + 1))
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inrush_core::Basis;

    fn column(name: &str, ty: Type) -> Column {
        Column {
            name: name.to_owned(),
            ty,
            declared: None,
            basis: Basis::Inferred,
            required: false,
        }
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        let sql = create_table("a\"; DROP TABLE b; --", &[column("\"", Type::Text)], &[]);
        assert_eq!(sql, "CREATE TABLE \"a\"\"; DROP TABLE b; --\" (\n  \"\"\"\" TEXT\n)");
    }

    #[test]
    fn keys_are_declared() {
        let columns = [column("id", Type::Integer), column("b", Type::Text)];
        let key = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(create_table("t", &columns, &key(&["ID"])).contains("\"id\" INTEGER PRIMARY KEY"));
        assert!(
            create_table("t", &columns, &key(&["b"])).contains("\"b\" TEXT NOT NULL PRIMARY KEY")
        );
        let both = create_table("t", &columns, &key(&["id", "b"]));
        assert!(
            both.contains("\"id\" INTEGER NOT NULL,")
                && both.contains("PRIMARY KEY (\"id\", \"b\")"),
            "{both}"
        );
    }

    #[test]
    fn index_names_avoid_what_is_there() {
        let sql = create_index("t", &["a".to_owned()], |name| name == "t_a");
        assert_eq!(sql, "CREATE INDEX \"t_a_2\" ON \"t\" (\"a\")");
    }
}
