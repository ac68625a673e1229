//! What SQLite would refuse whatever the rows are, so that it is known before the first of them.

use rusqlite::{Connection, ffi};

use crate::ddl::quote;
use crate::deferred;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::wording::shell_word;
use inrush_core::{IfExists, Request, TableFacts};

/// Looks at an existing table, and compiles what the load would say to it; nothing is run.
pub(super) fn look(
    connection: &Connection,
    table: &TableFacts,
    request: &Request,
) -> rusqlite::Result<Result<()>> {
    let (name, if_exists) = (&table.name, request.if_exists);
    if matches!(if_exists, IfExists::Truncate | IfExists::Replace) {
        let children = referring(connection, table)?;
        if !children.is_empty() {
            let children = children.join(", ");
            return Ok(Err(Error::new(
                Kind::Target,
                format!("the rows of table {name} can't be deleted: foreign keys of {children} refer to them"),
            )
            .advise("delete those first, or load with --if-exists append, or into another --table")));
        }
    }
    if if_exists == IfExists::Replace
        && let Some((child, key)) = keyless(connection, table, &request.primary_key)?
    {
        let key = key.join(",");
        return Ok(Err(Error::new(
            Kind::Target,
            format!("a foreign key of {child} refers to {name} ({key}), which would be no key of the new table"),
        )
        .advise(format!(
            "--primary-key {} makes it one; or load with --if-exists truncate, which keeps the table's keys",
            shell_word(&key)
        ))));
    }
    let delete = format!("DELETE FROM {}", quote(name));
    let columns: Vec<String> = table.columns.iter().map(|column| quote(&column.name)).collect();
    let insert = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        quote(name),
        columns.join(", "),
        vec!["?"; columns.len()].join(", ")
    );
    let statements = [
        (if_exists == IfExists::Truncate, delete, "its rows can't be deleted"),
        (if_exists != IfExists::Replace, insert, "it takes no rows"),
    ];
    for (is_said, sql, what) in statements {
        match connection.prepare(&sql) {
            Err(rusqlite::Error::SqliteFailure(error, Some(message)))
                if is_said && error.extended_code == ffi::SQLITE_ERROR =>
            {
                return Ok(Err(refused(connection, name, what, &message)?));
            }
            Err(error) if is_said => return Err(error),
            _ => {}
        }
    }
    Ok(Ok(()))
}

/// SQLite's reason, and what to do about it.
fn refused(
    connection: &Connection,
    table: &str,
    what: &str,
    message: &str,
) -> rusqlite::Result<Error> {
    let error = Error::new(Kind::Target, format!("table {table}: {what}: {message}"));
    if message.starts_with("foreign key mismatch") {
        return Ok(error.advise(
            "make the columns that the foreign key refers to a key of their table: CREATE UNIQUE INDEX ... ON ...",
        ));
    }
    let Some(missing) = message.strip_prefix("no such table: ") else { return Ok(error) };
    let missing = missing.strip_prefix("main.").unwrap_or(missing);
    let is_parent = "SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1) WHERE \"table\" = ?2 COLLATE NOCASE)";
    let is_parent = connection.query_row(is_parent, [table, missing], |row| row.get(0))?;
    Ok(error.advise(match is_parent {
        true => format!("a foreign key refers to table {missing}: make and load that first"),
        false => format!("make {missing} first, or drop the trigger that names it"),
    }))
}

/// A table with a foreign key to columns that are a key of this one and would be none of the table that takes its place, and these
/// columns: SQLite refuses then to change rows of either table. A key that fits none before is not this load's doing.
fn keyless(
    connection: &Connection,
    table: &TableFacts,
    primary_key: &[String],
) -> rusqlite::Result<Option<(String, Vec<String>)>> {
    let mut keys = connection.prepare(
        "SELECT child.name, key.id, key.\"to\" \
         FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key, pragma_foreign_keys AS enforced \
         WHERE child.type = 'table' AND key.\"table\" = ?1 COLLATE NOCASE AND child.name <> ?1 COLLATE NOCASE \
         AND enforced.foreign_keys ORDER BY child.name, key.id, key.seq",
    )?;
    let mut rows = keys.query([&table.name])?;
    let mut found: Vec<(String, i64, Vec<String>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (child, id, to): (String, i64, Option<String>) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        // A key without columns of the parent's means its primary key.
        match (found.last_mut(), to) {
            (Some((last, key, parts)), to) if *last == child && *key == id => parts.extend(to),
            (_, Some(to)) => found.push((child, id, vec![to])),
            (_, None) => found.push((child, id, table.primary_key.clone())),
        }
    }
    let is_same = |key: &[String], columns: &[String]| {
        let has = |name: &String| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        key.len() == columns.len() && key.iter().all(has)
    };
    let is_lost = |(_, _, columns): &(String, i64, Vec<String>)| {
        let mut before = table.unique_keys.iter().chain([&table.primary_key]);
        before.any(|key| is_same(key, columns)) && !is_same(primary_key, columns)
    };
    Ok(found.into_iter().find(is_lost).map(|(child, _, columns)| (child, columns)))
}

/// Tables whose rows refer to rows of this one by foreign keys that forbid at once that these are deleted. Those that wait for the end
/// of the transaction may find other rows in their place by then.
fn referring(connection: &Connection, table: &TableFacts) -> rusqlite::Result<Vec<String>> {
    let mut keys = connection.prepare(
        "SELECT child.name, child.sql, key.id, key.seq, key.\"from\", key.\"to\" \
         FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key, pragma_foreign_keys AS enforced \
         WHERE child.type = 'table' AND key.\"table\" = ?1 COLLATE NOCASE AND child.name <> ?1 COLLATE NOCASE \
         AND key.on_delete IN ('NO ACTION', 'RESTRICT') AND enforced.foreign_keys ORDER BY child.name, key.id, key.seq",
    )?;
    let mut rows = keys.query([&table.name])?;
    let mut found: Vec<(String, i64, Vec<String>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (child, sql, id): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (place, from, to): (u32, String, Option<String>) =
            (row.get(3)?, row.get(4)?, row.get(5)?);
        // A key without columns of the parent's means its primary key.
        let to = to.or_else(|| table.primary_key.get(place as usize).cloned());
        let Some(to) = to.filter(|_| !deferred::is_said(&sql)) else { continue };
        let is_equal = format!("parent.{} = child.{}", quote(&to), quote(&from));
        match found.last_mut() {
            Some((last, key, parts)) if *last == child && *key == id => parts.push(is_equal),
            _ => found.push((child, id, vec![is_equal])),
        }
    }
    let mut children = Vec::new();
    for (child, _, parts) in found {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {} AS child JOIN {} AS parent ON {})",
            quote(&child),
            quote(&table.name),
            parts.join(" AND ")
        );
        // A key that fits no column is none that SQLite looks at when rows are deleted.
        let refers = connection.query_row(&sql, [], |row| row.get(0)).unwrap_or(false);
        if refers && !children.contains(&child) {
            children.push(child);
        }
    }
    Ok(children)
}
