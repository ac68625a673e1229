use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::assembler::{Cell, Column, Row, Table};
use crate::random_numbers::Random;

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

/// Opens a file of ours. Nothing is worth a sync here.
pub(crate) fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("SQLite opens the file");
    connection.execute_batch("PRAGMA synchronous=OFF").expect("a pragma");
    connection
}

/// The whole file is as it should be.
pub(crate) fn check_integrity(connection: &Connection) {
    let mut statement = connection.prepare("PRAGMA integrity_check").expect("a pragma");
    let lines = statement.query_map([], |row| row.get::<_, String>(0)).expect("lines");
    let lines: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    assert_eq!(lines, ["ok"]);
}

/// Every row is there, in order, and equal in value and type.
pub(crate) fn check_rows(connection: &Connection, table: &Table, rows: &[Row]) {
    // Apart from the values, because 2,000 columns and the rowid are one too many for SQLite.
    let sql = format!("SELECT rowid FROM {} ORDER BY rowid", table.name);
    let mut statement = connection.prepare(&sql).expect("the rowids");
    let rowids = statement.query_map([], |row| row.get::<_, i64>(0)).expect("the rowids");
    let rowids: Vec<i64> = rowids.map(|rowid| rowid.expect("a rowid")).collect();
    let expected: Vec<i64> = rows.iter().map(|(rowid, _)| *rowid).collect();
    assert!(rowids == expected, "{} rowids, expected {}", rowids.len(), expected.len());

    let sql = format!("SELECT * FROM {} ORDER BY rowid", table.name);
    let mut statement = connection.prepare(&sql).expect("the values");
    let mut found = statement.query([]).expect("the values");
    for row in rows {
        let found = found.next().expect("a row").expect("as many rows as rowids");
        check_row(found, &table.columns, row);
    }
    assert!(found.next().expect("the end").is_none());
}

fn check_row(found: &rusqlite::Row<'_>, columns: &[Column], (rowid, cells): &Row) {
    for (i, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let expected = as_read(*column, *rowid, cell);
        let equal = match (found.get_ref(i).expect("a value"), &expected) {
            (ValueRef::Null, Cell::Null) => true,
            (ValueRef::Integer(found), Cell::Integer(value)) => found == *value,
            (ValueRef::Real(found), Cell::Real(value)) => found.to_bits() == value.to_bits(),
            (ValueRef::Text(found), Cell::Text(text)) => found == text.as_bytes(),
            (ValueRef::Blob(found), Cell::Blob(blob)) => found == blob.as_slice(),
            _ => false,
        };
        let found = found.get_ref(i);
        assert!(equal, "row {rowid}, column {i}: {found:?} is not {expected:?}");
    }
}

/// What SQLite shows for a cell.
fn as_read(column: Column, rowid: i64, cell: &Cell) -> Cell {
    match (column, cell) {
        (Column::Key, _) => Cell::Integer(rowid),
        (Column::Real, Cell::Real(value)) if *value == 0.0 => Cell::Real(0.0),
        (_, cell) => cell.clone(),
    }
}

/// Rows are found by their rowid, and their neighbours aren't there.
pub(crate) fn check_look_ups(connection: &Connection, table: &Table, random: &mut Random) {
    let rows: BTreeMap<i64, &Row> = table.rows.iter().map(|row| (row.0, row)).collect();
    let sql = format!("SELECT * FROM {} WHERE rowid = ?", table.name);
    let mut statement = connection.prepare(&sql).expect("a look-up");
    for _ in 0..table.rows.len().min(50) {
        let row = &table.rows[random.below(table.rows.len() as u64) as usize];
        for rowid in [row.0.saturating_sub(1), row.0, row.0.saturating_add(1)] {
            let mut found = statement.query([rowid]).expect("a look-up");
            let found = found.next().expect("an answer");
            assert_eq!(found.is_some(), rows.contains_key(&rowid), "rowid {rowid}");
            if let (Some(found), Some(row)) = (found, rows.get(&rowid)) {
                check_row(found, &table.columns, row);
            }
        }
    }
}

/// SQLite goes on working with the table: deletes, inserts and updates at random, `VACUUM`.
pub(crate) fn check_life(connection: &Connection, table: &Table, random: &mut Random) {
    let mut rows: BTreeMap<i64, Vec<Cell>> = table.rows.iter().cloned().collect();
    let marks = vec!["?"; table.columns.len()].join(",");
    let key = table.columns.iter().position(|column| *column == Column::Key);
    let name = &table.name;
    connection.execute_batch("BEGIN").expect("a transaction");
    let mut delete =
        connection.prepare(&format!("DELETE FROM {name} WHERE rowid = ?")).expect("a delete");
    let mut insert =
        connection.prepare(&format!("INSERT INTO {name} VALUES({marks})")).expect("an insert");
    let mut set_rowid = connection
        .prepare(&format!("UPDATE {name} SET rowid = ? WHERE rowid = last_insert_rowid()"))
        .expect("an update");
    for _ in 0..60 {
        let near = match table.rows.len() as u64 {
            0 => 0,
            length => table.rows[random.below(length) as usize].0,
        };
        if random.below(2) == 0 {
            let deleted = delete.execute([near]).expect("a delete");
            assert_eq!(deleted, usize::from(rows.remove(&near).is_some()));
            continue;
        }
        let rowid = near.wrapping_add(random.below(7) as i64 - 3);
        if rows.contains_key(&rowid) {
            continue;
        }
        let mut cells = match table.rows.len() as u64 {
            0 => vec![Cell::Null; table.columns.len()],
            length => table.rows[random.below(length) as usize].1.clone(),
        };
        if let Some(key) = key {
            cells[key] = Cell::Integer(rowid);
        }
        insert.execute(params_from_iter(&cells)).expect("an insert");
        if key.is_none() {
            set_rowid.execute([rowid]).expect("another rowid");
        }
        rows.insert(rowid, cells);
    }
    connection.execute_batch("COMMIT").expect("the end of the transaction");
    check_integrity(connection);
    let rows: Vec<Row> = rows.into_iter().collect();
    check_rows(connection, table, &rows);
    // VACUUM gives rows without a key new rowids.
    connection.execute_batch("VACUUM").expect("VACUUM");
    check_integrity(connection);
    let rows: Vec<Row> = match key {
        Some(_) => rows,
        None => {
            let sql = format!("SELECT rowid FROM {} ORDER BY rowid", table.name);
            let mut statement = connection.prepare(&sql).expect("the rowids");
            let rowids = statement.query_map([], |row| row.get(0)).expect("the rowids");
            let rowids = rowids.map(|rowid| rowid.expect("a rowid"));
            rowids.zip(rows.into_iter().map(|row| row.1)).collect()
        }
    };
    check_rows(connection, table, &rows);
}

/// Everything above.
pub(crate) fn check(path: &Path, tables: &[Table], seed: u64) {
    let connection = open(path);
    check_integrity(&connection);
    for table in tables {
        check_rows(&connection, table, &table.rows);
        let random = &mut Random(seed);
        check_look_ups(&connection, table, random);
        check_life(&connection, table, random);
    }
}
