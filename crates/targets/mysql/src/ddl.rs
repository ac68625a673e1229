//! SQL text that names tables and columns.

use crate::facts::ServerFacts;
use crate::knobs::{ENGINE, INDEXES};
use crate::session::Refusal;
use crate::types;
use inrush_core::ledger::{self, Ledger};
use inrush_core::value::hex;
use inrush_core::{Column, Job, OnConflict, TableFacts};

/// The name in backticks (<https://dev.mysql.com/doc/refman/8.0/en/identifiers.html>).
pub(super) fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The text as a string literal, whatever the session's sql_mode makes of a backslash (NO_BACKSLASH_ESCAPES): then its bytes.
pub(super) fn literal(text: &str) -> String {
    if !text.contains('\\') {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut bytes = b"_utf8mb4 x'".to_vec();
    hex::put(text.as_bytes(), &mut bytes);
    bytes.push(b'\'');
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A file's name for LOAD DATA, which takes none but a quoted text. The load's own sessions read backslashes as the manual has it.
pub(super) fn file_name(name: &str) -> String {
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "''"))
}

/// The ledger of loads in steps into the table. It has to have transactions, whatever the server's default engine is.
pub(super) fn ledger(table: &str) -> Ledger<'_> {
    let suffix = " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
    let name = quote(ledger::TABLE);
    let unless_known = "ON DUPLICATE KEY UPDATE id = id";
    Ledger { name, table, text: "longtext", suffix, unless_known, folds_case: false, literal }
}

/// A query for one row of the table, if there is any.
pub(super) fn first_row(table: &str) -> String {
    format!("SELECT 1 FROM {} LIMIT 1", quote(table))
}

pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// The loaded columns, in order.
pub(super) fn columns(job: &Job) -> String {
    names(job.choice.columns.iter().map(|column| column.name.as_str()))
}

/// The type of a loaded column: the catalogue's, or that of the table which the load makes.
pub(super) fn declared(job: &Job, column: &Column) -> String {
    if let Some(declared) = &column.declared {
        return declared.clone();
    }
    let fractions = ServerFacts::of(&job.facts.target).keeps_fractions;
    let spelled = types::spell(column.ty, fractions, job.request.is_keyed(&column.name));
    match (job.choice.knobs.get(&ENGINE), spelled.as_str()) {
        // https://mariadb.com/kb/en/memory-storage-engine/: no BLOB, no TEXT, and every row as long as the longest.
        (Some("memory"), "longtext") => "varchar(255)".to_owned(),
        (Some("memory"), "longblob") => "varbinary(255)".to_owned(),
        _ => spelled,
    }
}

/// CREATE TABLE for a table that the load makes. Text compares by its code points: a key that differs only in case is another
/// key, as it is in the source.
pub(super) fn create_table(name: &str, job: &Job, engine: &str) -> String {
    let nullable = engine != "csv";
    let mut parts: Vec<String> = job
        .choice
        .columns
        .iter()
        .map(|column| {
            let null = if column.required || !nullable { " NOT NULL" } else { " NULL" };
            format!("{} {}{null}", quote(&column.name), declared(job, column))
        })
        .collect();
    if !job.request.primary_key.is_empty() {
        let key = names(job.request.primary_key.iter().map(String::as_str));
        parts.push(format!("PRIMARY KEY ({key})"));
    }
    if job.choice.knobs.is(&INDEXES, "before") {
        parts.extend(indexes(job));
    }
    format!(
        "CREATE TABLE {} ({}) ENGINE={engine} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        quote(name),
        parts.join(", ")
    )
}

/// ALTER TABLE for the columns that the load adds to an existing table, or those of the hidden one in its place; `None` where there are
/// none.
pub(super) fn add_columns(name: &str, job: &Job) -> Option<String> {
    let add = |column: &Column| {
        format!("ADD COLUMN {} {} NULL", quote(&column.name), declared(job, column))
    };
    let adds: Vec<String> = job.added_columns().map(add).collect();
    (!adds.is_empty()).then(|| format!("ALTER TABLE {} {}", quote(name), adds.join(", ")))
}

/// A query for a row that has a value in one of them, if there is any.
pub(super) fn added_values(job: &Job) -> String {
    let has = |column: &Column| format!("{} IS NOT NULL", quote(&column.name));
    let any: Vec<String> = job.added_columns().map(has).collect();
    format!("SELECT 1 FROM {} WHERE {} LIMIT 1", quote(&job.table), any.join(" OR "))
}

/// ALTER TABLE that takes them out again.
pub(super) fn drop_columns(job: &Job) -> String {
    let drop = |column: &Column| format!("DROP COLUMN {}", quote(&column.name));
    let drops: Vec<String> = job.added_columns().map(drop).collect();
    format!("ALTER TABLE {} {}", quote(&job.table), drops.join(", "))
}

/// One ALTER TABLE for all indexes that were asked for: the rows are read once.
pub(super) fn add_indexes(name: &str, job: &Job) -> String {
    let adds: Vec<String> = indexes(job).map(|index| format!("ADD {index}")).collect();
    format!("ALTER TABLE {} {}", quote(name), adds.join(", "))
}

fn indexes(job: &Job) -> impl Iterator<Item = String> {
    let indexes = job.request.indexes.iter();
    indexes.map(|columns| format!("INDEX ({})", names(columns.iter().map(String::as_str))))
}

/// How many keys of the table a row may meet.
pub(super) fn keys(table: &TableFacts) -> usize {
    table.unique_keys.len() + usize::from(!table.primary_key.is_empty())
}

/// The server's update is of whatever row has any of the keys. That it is the row with the key which rows are compared by, and not one
/// with a number that the server has just made, is a condition in the update: of 0 the complement is the largest number, and 1 more is an
/// error in every mode.
const ANOTHER_KEY: &str = "~";

/// Whether an error is that of the condition: the server shows the expression.
pub(super) fn is_of_another_key(refused: &Refusal) -> bool {
    let is_of = |before: &str| refused.message.contains(&format!("'{before}{ANOTHER_KEY}("));
    refused.code == 1690 && (is_of("") || is_of("("))
}

/// What stands before and after the rows of an INSERT; these have values of the kept columns as well.
pub(super) struct Insert {
    pub(super) head: String,
    pub(super) tail: String,
}

impl Insert {
    pub(super) fn into(table: &str, job: &Job, word: &str) -> Self {
        let verb = match job.request.on_conflict {
            OnConflict::Replace => "REPLACE",
            _ => "INSERT",
        };
        let loaded = job.choice.columns.iter().map(|column| column.name.as_str());
        let into = names(loaded.chain(job.kept_columns()));
        let head = format!("{verb} {word}INTO {} ({into}) ", quote(table));
        let key = &job.choice.key;
        // The key stays as it is spelt: one that compares as equal may be another text, which foreign keys of other tables would follow.
        let is_changed = |column: &&Column| {
            job.request.on_conflict == OnConflict::Update
                && !key.iter().any(|name| name.eq_ignore_ascii_case(&column.name))
        };
        let set = |column: &Column| {
            let name = quote(&column.name);
            format!("{name} = VALUES({name})")
        };
        let mut sets: Vec<String> = job.choice.columns.iter().filter(is_changed).map(set).collect();
        let tail = match job.request.on_conflict {
            OnConflict::Fail | OnConflict::Replace => String::new(),
            OnConflict::Skip | OnConflict::Update => {
                let of_table = |name: &String| format!("{}.{}", quote(table), quote(name));
                // A column that is set to what it is: the row stays, and isn't counted.
                let (column, same) = (quote(&key[0]), of_table(&key[0]));
                if job.kept_table().is_some_and(|table| keys(table) > 1) {
                    let is_met =
                        |name: &String| format!("{} = VALUES({})", of_table(name), quote(name));
                    let is_met: Vec<String> = key.iter().map(is_met).collect();
                    let guard = format!("{ANOTHER_KEY}(({}) IS TRUE) + 1", is_met.join(" AND "));
                    sets.push(format!("{column} = IF({guard}, {same}, {same})"));
                } else if sets.is_empty() {
                    sets.push(format!("{column} = {same}"));
                }
                format!(" ON DUPLICATE KEY UPDATE {}", sets.join(", "))
            }
        };
        Self { head, tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_the_text_in_whatever_mode() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("o\\'q"), "_utf8mb4 x'6f5c2771'");
        assert_eq!(file_name("o\\'q"), "'o\\\\''q'");
    }
}
