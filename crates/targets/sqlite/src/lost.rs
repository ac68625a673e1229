//! What a table has besides columns and rows, which goes when it is dropped.

use rusqlite::Connection;

use inrush_core::mentions::{Definition, Mention, Sql, mentions, tokens};

/// In the words of SQL, one each.
pub(super) fn read(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut lost = Vec::new();
    let mut key: Vec<(i64, String)> = Vec::new();
    let mut of_columns = Vec::new();
    let mut columns = connection
        .prepare("SELECT name, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)")?;
    let mut rows = columns.query([table])?;
    while let Some(row) = rows.next()? {
        let (name, not_null, pk, hidden): (String, bool, i64, i64) =
            (row.get(0)?, row.get(1)?, row.get(3)?, row.get(4)?);
        match pk {
            0 if not_null => of_columns.push(format!("NOT NULL on {name}")),
            0 => {}
            place => key.push((place, name.clone())),
        }
        // 2 and 3 are generated columns, virtual and stored (https://sqlite.org/pragma.html#pragma_table_xinfo).
        if matches!(hidden, 2 | 3) {
            of_columns.push(format!("the generated column {name}"));
        }
        if let Some(default) = row.get::<_, Option<String>>(2)? {
            of_columns.push(format!("DEFAULT {default} of {name}"));
        }
        let known = connection.column_metadata(Some("main"), table, name.as_str());
        let collation = known.ok().and_then(|(_, collation, ..)| collation);
        let collation = collation.map(std::ffi::CStr::to_string_lossy).unwrap_or_default();
        if !collation.is_empty() && !collation.eq_ignore_ascii_case("BINARY") {
            of_columns.push(format!("COLLATE {collation} of {name}"));
        }
    }
    key.sort();
    if !key.is_empty() {
        let names: Vec<String> = key.into_iter().map(|(_, name)| name).collect();
        lost.push(format!("PRIMARY KEY ({})", names.join(", ")));
    }
    lost.append(&mut of_columns);
    let sql: String = connection.query_row(
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE",
        [table],
        |row| row.get(0),
    )?;
    if let Some(made) = sql.strip_prefix("CREATE ").filter(|_| module(&sql).is_some()) {
        lost.push(made.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    lost.extend(checks(&sql));
    foreign_keys(connection, table, &mut lost)?;
    indexes(connection, table, &mut lost)?;
    let (strict, without_rowid): (bool, bool) =
        connection.query_row("SELECT strict, wr FROM pragma_table_list(?1)", [table], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let words = [
        ("STRICT", strict),
        ("WITHOUT ROWID", without_rowid),
        (
            "AUTOINCREMENT",
            tokens(&sql, Sql::Sqlite).any(|token| token.eq_ignore_ascii_case("AUTOINCREMENT")),
        ),
    ];
    lost.extend(words.iter().filter(|(_, is_so)| *is_so).map(|(word, _)| (*word).to_owned()));
    Ok(lost)
}

fn foreign_keys(
    connection: &Connection,
    table: &str,
    lost: &mut Vec<String>,
) -> rusqlite::Result<()> {
    let mut keys = connection.prepare(
        "SELECT id, \"table\", \"from\" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq",
    )?;
    let mut rows = keys.query([table])?;
    let mut found: Vec<(i64, String, Vec<String>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, parent, column): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        match found.last_mut() {
            Some((last, _, columns)) if *last == id => columns.push(column),
            _ => found.push((id, parent, vec![column])),
        }
    }
    lost.extend(found.into_iter().map(|(_, parent, columns)| {
        format!("FOREIGN KEY ({}) REFERENCES {parent}", columns.join(", "))
    }));
    Ok(())
}

/// Unique constraints, indexes, triggers.
fn indexes(connection: &Connection, table: &str, lost: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut unique = connection
        .prepare("SELECT name FROM pragma_index_list(?1) WHERE origin = 'u' ORDER BY seq DESC")?;
    let mut columns = connection
        .prepare("SELECT name, \"desc\" FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")?;
    let mut columns_of = |index: &str| -> rusqlite::Result<String> {
        let column = |row: &rusqlite::Row<'_>| {
            let name: Option<String> = row.get(0)?;
            let name = name.unwrap_or_else(|| "an expression".to_owned());
            Ok(if row.get(1)? { format!("{name} DESC") } else { name })
        };
        let names: Vec<String> = columns.query_map([index], column)?.collect::<Result<_, _>>()?;
        Ok(names.join(", "))
    };
    let names: Vec<String> =
        unique.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for name in names {
        lost.push(format!("UNIQUE ({})", columns_of(&name)?));
    }
    let mut others = connection.prepare(
        "SELECT name, \"unique\", partial FROM pragma_index_list(?1) WHERE origin = 'c' ORDER BY seq DESC",
    )?;
    let mut rows = others.query([table])?;
    while let Some(row) = rows.next()? {
        let (name, unique, partial): (String, bool, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let word = if unique { "UNIQUE INDEX" } else { "INDEX" };
        let end = if partial { " WHERE ..." } else { "" };
        lost.push(format!("{word} {name} ({}){end}", columns_of(&name)?));
    }
    let mut triggers = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE",
    )?;
    let names = triggers.query_map([table], |row| row.get::<_, String>(0))?;
    for name in names {
        lost.push(format!("TRIGGER {}", name?));
    }
    Ok(())
}

/// Views, and triggers of other tables, that name a table.
pub(super) fn mentioned_by(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Mention>> {
    let mut others = connection.prepare(
        "SELECT upper(type), name, sql FROM sqlite_schema \
         WHERE type = 'view' OR type = 'trigger' AND tbl_name <> ?1 COLLATE NOCASE",
    )?;
    let of = |row: &rusqlite::Row<'_>| {
        Ok(Definition { kind: row.get(0)?, schema: None, name: row.get(1)?, sql: row.get(2)? })
    };
    Ok(mentions(table, Sql::Sqlite, others.query_map([table], of)?.collect::<Result<_, _>>()?))
}

/// The module of a virtual table, by the statement that made it.
pub(super) fn module(sql: &str) -> Option<&str> {
    let mut tokens = tokens(sql, Sql::Sqlite);
    let is_virtual = tokens.nth(1)?.eq_ignore_ascii_case("VIRTUAL");
    tokens.find(|token| is_virtual && token.eq_ignore_ascii_case("USING"))?;
    tokens.next()
}

/// The CHECK constraints of a CREATE TABLE, which no PRAGMA tells.
fn checks(sql: &str) -> Vec<String> {
    let mut checks = Vec::new();
    let mut tokens = tokens(sql, Sql::Sqlite).peekable();
    while let Some(token) = tokens.next() {
        if !token.eq_ignore_ascii_case("CHECK") || tokens.peek() != Some(&"(") {
            continue;
        }
        let (mut depth, mut from, mut to) = (0, 0, 0);
        for token in tokens.by_ref() {
            let at = token.as_ptr() as usize - sql.as_ptr() as usize;
            match token {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if from == 0 {
                from = at;
            }
            to = at + token.len();
            if depth == 0 {
                break;
            }
        }
        let words: Vec<&str> = sql[from..to].split_whitespace().collect();
        checks.push(format!("CHECK {}", words.join(" ")));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_columns_and_rows_is_told() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE p (a, b, UNIQUE (a, b));
                 CREATE TABLE t (
                   id INTEGER PRIMARY KEY AUTOINCREMENT,
                   name TEXT NOT NULL DEFAULT 'CHECK (x)' UNIQUE, -- CHECK (no)
                   n INT CHECK (n >  0 AND n <> ')'),
                   twice AS (n * 2),
                   \"check\" INT,
                   FOREIGN KEY (n, name) REFERENCES p (a, b)
                 );
                 CREATE INDEX t_n ON t (n DESC, name);
                 CREATE UNIQUE INDEX t_e ON t (lower(name)) WHERE n > 3;
                 CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END;
                 CREATE TABLE plain (a, b);
                 CREATE TABLE sorted (a TEXT COLLATE NOCASE, b COLLATE \"RTRIM\", c COLLATE BINARY, d AS (a || b))",
            )
            .unwrap();
        assert_eq!(
            read(&connection, "t").unwrap(),
            [
                "PRIMARY KEY (id)",
                "NOT NULL on name",
                "DEFAULT 'CHECK (x)' of name",
                "the generated column twice",
                "CHECK (n > 0 AND n <> ')')",
                "FOREIGN KEY (n, name) REFERENCES p",
                "UNIQUE (name)",
                "INDEX t_n (n DESC, name)",
                "UNIQUE INDEX t_e (an expression) WHERE ...",
                "TRIGGER g",
                "AUTOINCREMENT",
            ]
        );
        assert_eq!(read(&connection, "plain").unwrap(), [""; 0]);
        assert_eq!(
            read(&connection, "sorted").unwrap(),
            ["COLLATE NOCASE of a", "COLLATE RTRIM of b", "the generated column d"]
        );
        connection
            .execute_batch("CREATE TABLE s (a TEXT, PRIMARY KEY (a)) STRICT, WITHOUT ROWID")
            .unwrap();
        assert_eq!(read(&connection, "s").unwrap(), ["PRIMARY KEY (a)", "STRICT", "WITHOUT ROWID"]);
    }
}
