use std::path::Path;
use std::process::Command;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// Rows; doubles as their bits, so that -0.0 is not 0.0.
pub(crate) type Rows = Vec<Vec<String>>;

pub(crate) fn open(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).unwrap();
    connection.execute_batch("PRAGMA synchronous = off; PRAGMA foreign_keys = off").unwrap();
    connection
}

pub(crate) fn make(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA synchronous = off").unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
}

pub(crate) fn query(connection: &Connection, sql: &str) -> Rows {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let width = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..width)
            .map(|index| {
                Ok(match row.get_ref(index)? {
                    ValueRef::Real(number) => format!("Real({:x})", number.to_bits()),
                    // Whatever bytes the text is made of.
                    ValueRef::Text(text) => format!("Text({})", text.escape_ascii()),
                    ValueRef::Blob(bytes) => format!("Blob({})", bytes.escape_ascii()),
                    other => format!("{other:?}"),
                })
            })
            .collect::<rusqlite::Result<Vec<_>>>()
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap_or_else(|error| panic!("{error}: {sql}"))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Names, in the order of their declaration.
fn columns(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    let names = statement.query_map([table], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

fn has_rowid(connection: &Connection, table: &str) -> bool {
    let sql = "SELECT NOT wr FROM pragma_table_list(?1)";
    connection.query_row(sql, [table], |row| row.get(0)).unwrap()
}

/// Every row of a table with its rowid and its values' storage classes, read from the table itself.
fn rows(connection: &Connection, table: &str) -> Rows {
    let mut parts = Vec::new();
    if has_rowid(connection, table) {
        parts.push("rowid".to_owned());
    }
    for name in columns(connection, table) {
        parts.push(format!("typeof({0}), {0}", quote(&name)));
    }
    query(connection, &format!("SELECT {} FROM {} NOT INDEXED", parts.join(", "), quote(table)))
}

/// All that a database says: its schema, and every table's rows.
pub(crate) fn content(connection: &Connection) -> Vec<(String, Rows)> {
    let schema = query(
        connection,
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
    );
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut content = vec![("schema".to_owned(), schema)];
    content.extend(tables.into_iter().map(|table| {
        let rows = rows(connection, &table);
        (table, rows)
    }));
    content
}

#[track_caller]
pub(crate) fn assert_sound(connection: &Connection) {
    for check in ["PRAGMA integrity_check", "PRAGMA quick_check"] {
        assert_eq!(query(connection, check), [["Text(ok)"]], "{check}");
    }
}

/// Asks every index of the table for what a look at all rows finds.
#[track_caller]
pub(crate) fn assert_indexes_answer(connection: &Connection, table: &str) {
    let list =
        query_texts(connection, &format!("SELECT name FROM pragma_index_list({})", literal(table)));
    for index in list {
        let names = query_texts(
            connection,
            &format!(
                "SELECT name FROM pragma_index_info({}) WHERE name IS NOT NULL",
                literal(&index)
            ),
        );
        let same: Vec<String> =
            names.iter().map(|name| format!("it.{0} IS one.{0}", quote(name))).collect();
        let count = |how: &str| {
            let sql = format!(
                "SELECT (SELECT count(*) FROM {0} AS it {how} WHERE {1}) \
                 FROM (SELECT * FROM {0} LIMIT 20 OFFSET 3) AS one",
                quote(table),
                same.join(" AND ")
            );
            query(connection, &sql)
        };
        assert_eq!(
            count(&format!("INDEXED BY {}", quote(&index))),
            count("NOT INDEXED"),
            "{index}"
        );
        let ordered: Vec<String> = names.iter().map(|name| quote(name)).collect();
        let sorted = |how: &str| {
            let sql =
                format!("SELECT {0} FROM {1} {how} ORDER BY {0}", ordered.join(", "), quote(table));
            query(connection, &sql)
        };
        assert!(
            sorted(&format!("INDEXED BY {}", quote(&index))) == sorted("NOT INDEXED"),
            "{index} is in another order"
        );
    }
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn query_texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Has SQLite do to a table whatever can be done to one.
pub(crate) fn stir(connection: &Connection, table: &str) {
    let name = quote(table);
    let columns = columns(connection, table);
    let (first, last) = (quote(&columns[0]), quote(&columns[columns.len() - 1]));
    let statements = [
        format!("CREATE TEMP TABLE before AS SELECT * FROM {name}"),
        format!("DELETE FROM {name} WHERE length({first}) % 3 = 1"),
        format!("INSERT OR IGNORE INTO {name} SELECT * FROM before ORDER BY 1 DESC"),
        format!("UPDATE OR IGNORE {name} SET {last} = substr({last} || '12345', 1, 300)"),
        format!(
            "UPDATE OR IGNORE {name} SET {first} = length({last}) || 'x' WHERE length({last}) % 5 = 2"
        ),
        format!("DELETE FROM {name} WHERE length({last}) % 7 > 3"),
        "DROP TABLE before".to_owned(),
    ];
    for sql in statements {
        // An INTEGER PRIMARY KEY takes no text.
        match connection.execute(&sql, []) {
            Ok(_) => {}
            Err(error) if error.to_string().contains("datatype mismatch") => {}
            Err(error) => panic!("{error}: {sql}"),
        }
    }
}

/// What the system's own shell makes of the database: what an older SQLite finds wrong with it, and the statements that make it.
pub(crate) fn dump(path: &Path) -> String {
    let run = Command::new("sqlite3")
        .arg(path)
        .args(["PRAGMA integrity_check", ".dump"])
        .output()
        .unwrap();
    assert!(
        run.status.success() && run.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    String::from_utf8_lossy(&run.stdout).into_owned()
}
