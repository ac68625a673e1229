//! SQL text that names tables and columns.

use crate::facts::DatabaseFacts;
use crate::types;
use inrush_core::target::TableName;
use inrush_core::{Column, Job, TargetFacts, Type};

/// Characters of a name (<https://learn.microsoft.com/en-us/sql/sql-server/maximum-capacity-specifications-for-sql-server>).
pub(super) const NAME_MAX: usize = 128;

/// Why no column can be called so.
pub(super) fn name_fault(name: &str) -> Option<String> {
    match length(name) {
        length if length > NAME_MAX => {
            Some(format!("the name has {length} characters, and SQL Server keeps {NAME_MAX}"))
        }
        _ if name.chars().any(char::is_control) => Some("a control character".to_owned()),
        _ => None,
    }
}

/// Bytes of a clustered index's key.
const KEY_BYTES_MAX: usize = 900;

/// The name in brackets.
pub(super) fn quote(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// The text as a literal.
pub(super) fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

pub(super) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// The loaded columns, in order.
pub(super) fn columns(job: &Job) -> String {
    names(job.choice.columns.iter().map(|column| column.name.as_str()))
}

/// What stands around a part of a table's name that has a dot in it.
pub(super) const QUOTES: &[(char, char)] = &[('[', ']'), ('"', '"')];

/// A name as a function such as OBJECT_ID takes it.
pub(super) fn object(name: &TableName) -> String {
    let table = quote(&name.table);
    literal(&match &name.schema {
        Some(schema) => format!("{}.{table}", quote(schema)),
        None => table,
    })
}

/// Units of a name, as the server counts them.
pub(super) fn length(name: &str) -> usize {
    name.encode_utf16().count()
}

/// A table where it is or will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
}

impl Table {
    /// The load's target.
    pub(super) fn of(facts: &TargetFacts) -> Self {
        let database = DatabaseFacts::of(facts);
        Self { schema: database.schema.clone(), name: database.table.clone() }
    }

    /// As SQL names it.
    pub(super) fn sql(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }
}

/// The type of a loaded column: the catalogue's, or that of the table which the load makes.
pub(super) fn declared(column: &Column, job: &Job) -> String {
    if let Some(declared) = &column.declared {
        return declared.clone();
    }
    let spelled = types::spell(column.ty);
    let is_long = spelled == types::TEXT;
    let keys = std::iter::once(&job.request.primary_key).chain(&job.request.indexes);
    let share = keys
        .filter(|key| key.iter().any(|name| name.eq_ignore_ascii_case(&column.name)))
        .map(|key| key_share(job, key))
        .min();
    match (share, column.ty) {
        // No index takes texts without end, so those of a key share what room there is.
        (Some(bytes), _) if is_long => format!("nvarchar({})", bytes / 2),
        (Some(bytes), Type::Bytes) => format!("varbinary({bytes})"),
        _ => spelled,
    }
}

/// Bytes of an index's key that each of its texts may take. Its other columns take 17 at most, as decimals do.
fn key_share(job: &Job, key: &[String]) -> usize {
    let is_long = |name: &&String| {
        let column = &job.choice.columns;
        column.iter().any(|column| {
            column.name.eq_ignore_ascii_case(name)
                && (types::spell(column.ty) == types::TEXT || column.ty == Type::Bytes)
        })
    };
    let long = key.iter().filter(is_long).count().max(1);
    let others = key.len() - long.min(key.len());
    (KEY_BYTES_MAX.saturating_sub(others * 17) / long).max(2)
}

/// CREATE TABLE for a table that the load makes.
pub(super) fn create_table(table: &Table, job: &Job) -> String {
    let mut parts: Vec<String> = job
        .choice
        .columns
        .iter()
        .map(|column| {
            // Said either way: what a column without a word takes depends on settings.
            let null = if column.required { "NOT NULL" } else { "NULL" };
            format!("{} {} {null}", quote(&column.name), declared(column, job))
        })
        .collect();
    let key = names(job.request.primary_key.iter().map(|name| column_named(job, name)));
    if !key.is_empty() {
        parts.push(format!("PRIMARY KEY ({key})"));
    }
    format!("CREATE TABLE {} ({})", table.sql(), parts.join(", "))
}

/// ALTER TABLE for the columns that the load adds to an existing table; `None` where there are none.
pub(super) fn add_columns(table: &Table, job: &Job) -> Option<String> {
    let add = |column: &Column| format!("{} {} NULL", quote(&column.name), declared(column, job));
    let adds: Vec<String> = job.added_columns().map(add).collect();
    (!adds.is_empty()).then(|| format!("ALTER TABLE {} ADD {}", table.sql(), adds.join(", ")))
}

/// The indexes that were asked for. Their names are the table's own affair.
pub(super) fn indexes(table: &Table, job: &Job) -> Vec<String> {
    let of = |columns: &Vec<String>| {
        let columns: Vec<&str> = columns.iter().map(|name| column_named(job, name)).collect();
        let mut name = format!("{}_{}_idx", table.name, columns.join("_"));
        while length(&name) > NAME_MAX {
            name.pop();
        }
        format!("CREATE INDEX {} ON {} ({})", quote(&name), table.sql(), names(columns))
    };
    job.request.indexes.iter().map(of).collect()
}

/// The column as the table spells it: users need not mind upper case.
fn column_named<'p>(job: &'p Job, name: &'p str) -> &'p str {
    let columns = &job.choice.columns;
    let exact = columns.iter().find(|column| column.name == name);
    let alike = || columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    exact.or_else(alike).map_or(name, |column| &column.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_one_name_or_text() {
        assert_eq!(quote("a]; DROP"), "[a]]; DROP]");
        assert_eq!(literal("it's"), "N'it''s'");
    }
}
