//! Whether rows can have the keys of a table's rows: to SQLite `1`, `'1'` and `x'31'` are three keys.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::ddl::quote;
use crate::types::{Class, Store};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Cell, Chunk, Wire};
use inrush_core::wording::said_of;
use inrush_core::{Action, Job, OnConflict, Type};

/// The first rows of a table, whose keys say what those of all are.
const ROWS_SEEN: u32 = 1_000;

/// Refuses a load that looks for existing rows by values of a class that none of them has: it would add a second row for each.
pub(super) fn look(connection: &Connection, job: &Job) -> rusqlite::Result<Result<()>> {
    let how = job.request.on_conflict;
    if how == OnConflict::Fail || job.choice.action != Action::Append {
        return Ok(Ok(()));
    }
    let is_key = |name: &str| job.choice.key.iter().any(|key| key.eq_ignore_ascii_case(name));
    for column in job.choice.columns.iter().filter(|column| is_key(&column.name)) {
        let Some(sent) = Store::of(column).class() else { continue };
        let found = types_of(connection, &job.table, &column.name)?;
        let of = |name: &str| match name {
            "text" => (Class::Text, Type::Text),
            "blob" => (Class::Blob, Type::Bytes),
            "real" => (Class::Number, Type::Float),
            _ => (Class::Number, Type::Integer),
        };
        let Some(other) = found.first() else { continue };
        if found.iter().any(|found| of(found).0 == sent) {
            continue;
        }
        let name = &column.name;
        let sent = match sent {
            Class::Number => "numbers",
            Class::Text => "text",
            Class::Blob => "blobs",
        };
        let said = said_of("--type", name, of(other).1);
        return Ok(Err(Error::usage(format!(
            "--on-conflict {how}: column {name} of the table holds values of type {other}, and the rows have {sent} in it, \
             so none would meet one of the table's"
        ))
        .advise(format!("{said} stores the rows' values as such"))));
    }
    Ok(Ok(()))
}

/// Finds out whether the table has the key of a row that was not inserted.
pub(super) struct Lookup {
    sql: String,
    /// Where the key's values are among those of a row.
    places: Vec<usize>,
}

impl Lookup {
    pub(super) fn of(job: &Job) -> Self {
        let choice = &job.choice;
        let is_same: Vec<String> =
            choice.key.iter().map(|name| format!("{} = ?", quote(name))).collect();
        let sql = format!("SELECT 1 FROM {} WHERE {}", quote(&job.table), is_same.join(" AND "));
        let place = |key: &String| {
            choice.columns.iter().position(|column| column.name.eq_ignore_ascii_case(key))
        };
        Self { sql, places: choice.key.iter().filter_map(place).collect() }
    }

    pub(super) fn finds(
        &self,
        connection: &Connection,
        cells: &[Cell],
        chunk: &Chunk,
        wire: &Wire,
    ) -> rusqlite::Result<bool> {
        let value = |place: &usize| {
            ToSqlOutput::Borrowed(match cells[*place] {
                Cell::Null => ValueRef::Null,
                Cell::Integer(number) => ValueRef::Integer(number),
                Cell::Real(number) => ValueRef::Real(number),
                Cell::Text(home, span) => ValueRef::Text(wire.value(chunk, home, span)),
                Cell::Bytes(home, span) => ValueRef::Blob(wire.value(chunk, home, span)),
            })
        };
        let values = params_from_iter(self.places.iter().map(value));
        connection.prepare(&self.sql)?.exists(values)
    }
}

/// The storage classes of a column's values, in SQLite's words.
fn types_of(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<Vec<String>> {
    let (table, column) = (quote(table), quote(column));
    let sql = format!(
        "SELECT DISTINCT typeof({column}) FROM (SELECT {column} FROM {table} LIMIT {ROWS_SEEN}) WHERE {column} IS NOT NULL"
    );
    connection.prepare(&sql)?.query_map([], |row| row.get(0))?.collect()
}
