//! Foreign keys that are `DEFERRABLE INITIALLY DEFERRED`, or that the load has wait as if they were: SQLite takes a row whose parent is
//! not there, and refuses the COMMIT of all where it still is not (<https://sqlite.org/foreignkeys.html#fk_deferred>).

use std::ffi::c_int;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, ffi};

use crate::ddl::quote;
use inrush_core::error::Error;
use inrush_core::mentions::{Sql, tokens};
use inrush_core::wording::counted;

/// Whether the statement that made a table has such a key. No PRAGMA tells.
pub(super) fn is_said(sql: &str) -> bool {
    let words: Vec<&str> = tokens(sql, Sql::Sqlite).collect();
    words.windows(2).any(|pair| {
        pair[0].eq_ignore_ascii_case("INITIALLY") && pair[1].eq_ignore_ascii_case("DEFERRED")
    })
}

/// Whether a row that has no parent as it is inserted has none for good: the table has such keys, but none of them refers to the table
/// itself, no trigger of the table adds rows elsewhere, and nothing waits for its parent already.
pub(super) fn settles_by_row(connection: &Connection, table: &str) -> rusqlite::Result<bool> {
    let sql: Option<String> = connection
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE \
             AND (SELECT foreign_keys FROM pragma_foreign_keys) \
             AND EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1)) \
             AND NOT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1) WHERE \"table\" = ?1 COLLATE NOCASE) \
             AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE)",
            [table],
            |row| row.get(0),
        )
        .optional()?;
    Ok(sql.is_some_and(|sql| is_said(&sql)) && !are_open(connection))
}

/// Whether the transaction has rows that lack their parents.
pub(super) fn are_open(connection: &Connection) -> bool {
    let (mut now, mut most): (c_int, c_int) = (0, 0);
    // SAFETY: the handle is open, and both numbers are written before they are read.
    unsafe {
        ffi::sqlite3_db_status(
            connection.handle(),
            ffi::SQLITE_DBSTATUS_DEFERRED_FKS,
            &raw mut now,
            &raw mut most,
            0,
        );
    }
    now != 0
}

/// Which rows they are, for a COMMIT that has failed because of them; `None` where there are none.
pub(super) fn blame(connection: &Connection, table: &str) -> Option<Error> {
    if !are_open(connection) {
        return None;
    }
    // Of this table, or of one whose rows refer to rows that the load has deleted.
    let own = orphans(connection, "pragma_foreign_key_check(?1)", table).ok().flatten();
    let found = own.or_else(|| {
        let all = "pragma_foreign_key_check WHERE ?1 IS NOT NULL";
        orphans(connection, all, table).ok().flatten()
    })?;
    let Orphans { table, parent, rows, first } = found;
    let refer = if rows == 1 { "refers" } else { "refer" };
    let mut what = format!(
        "{} of table {table} {refer} to rows of table {parent} that are not there",
        counted(rows, "row")
    );
    if let Some(first) = first {
        what.push_str(&format!(", one by {first}"));
    }
    Some(Error::target(format!("{what}: the foreign key is checked when all rows are in")).advise(
        format!("load the missing rows of table {parent} first, or take these out of the source"),
    ))
}

/// Rows that lack their parents.
struct Orphans {
    table: String,
    parent: String,
    rows: u64,
    /// The first one's key, in words, where it has a rowid.
    first: Option<String>,
}

fn orphans(connection: &Connection, check: &str, table: &str) -> rusqlite::Result<Option<Orphans>> {
    let sql = format!(
        "SELECT \"table\", min(rowid), parent, fkid, count(*) FROM {check} GROUP BY \"table\", fkid ORDER BY fkid LIMIT 1"
    );
    let group = connection.query_row(&sql, [table], |row| {
        let rowid: Option<i64> = row.get(1)?;
        let fkid: i64 = row.get(3)?;
        Ok((row.get(0)?, rowid, row.get(2)?, fkid, row.get::<_, i64>(4)?))
    });
    let Some((table, rowid, parent, fkid, rows)) = group.optional()? else { return Ok(None) };
    let mut orphans = Orphans { table, parent, rows: rows.unsigned_abs(), first: None };
    let Some(rowid) = rowid else { return Ok(Some(orphans)) };
    let mut columns = connection
        .prepare("SELECT \"from\" FROM pragma_foreign_key_list(?1) WHERE id = ?2 ORDER BY seq")?;
    let columns: Vec<String> = columns
        .query_map((&orphans.table, fkid), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let list = columns.iter().map(|column| quote(column)).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT {list} FROM {} WHERE rowid = ?1", quote(&orphans.table));
    orphans.first = Some(connection.query_row(&sql, [rowid], |row| {
        let mut words = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            words.push(format!("{column} = {}", shown(row.get_ref(at)?)));
        }
        Ok(words.join(", "))
    })?);
    Ok(Some(orphans))
}

pub(super) fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}
