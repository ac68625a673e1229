//! What a table has besides columns and rows, which goes when it is dropped.

use crate::connection::{Connection, Refusal};
use crate::facts::{collation, here, indexes, is_generated, plain, statement};
use inrush_core::mentions::{Definition, Mention, Sql, mentions};

/// In the words of SQL, one each.
pub(super) fn read(connection: &Connection, table: &str) -> Result<Vec<String>, Refusal> {
    let here = here(table);
    let rows = connection.rows(&format!(
        "SELECT constraint_type, array_to_string(constraint_column_names, ', '), constraint_text \
         FROM duckdb_constraints() WHERE {here} ORDER BY constraint_index"
    ))?;
    let of = |kind: &str| -> Vec<String> {
        rows.iter()
            .filter_map(|row| match row.as_slice() {
                [Some(found), columns, text] if found == kind => {
                    let columns = columns.as_deref().unwrap_or_default();
                    let text = text.as_deref().unwrap_or_default();
                    Some(match kind {
                        "NOT NULL" => format!("NOT NULL on {columns}"),
                        "PRIMARY KEY" | "UNIQUE" => format!("{kind} ({columns})"),
                        _ => text.to_owned(),
                    })
                }
                _ => None,
            })
            .collect()
    };
    let mut lost = of("PRIMARY KEY");
    // What the key takes no NULL for is said with it.
    let key = lost.first().and_then(|key| key.strip_prefix("PRIMARY KEY (")).map(str::to_owned);
    let key = key.as_deref().and_then(|key| key.strip_suffix(')')).unwrap_or_default();
    let is_of_key = |lost: &String| {
        let name = lost.trim_start_matches("NOT NULL on ");
        key.split(", ").any(|column| column == name)
    };
    lost.extend(of("NOT NULL").into_iter().filter(|lost| !is_of_key(lost)));
    let defaults = connection.rows(&format!(
        "SELECT column_name, column_default FROM duckdb_columns() \
         WHERE {here} AND column_default IS NOT NULL AND column_default <> 'NULL' ORDER BY column_index"
    ))?;
    for row in defaults {
        let [Some(column), Some(default)] = row.as_slice() else { continue };
        // What a generated column is made of is shown as its default.
        lost.push(match is_generated(connection, table, column) {
            true => {
                let made = default.strip_prefix("CAST(").and_then(|made| made.rsplit_once(" AS "));
                let made = made.map_or(default.as_str(), |(made, _)| made);
                format!("GENERATED ALWAYS AS ({made}) of {column}")
            }
            false => format!("DEFAULT {default} of {column}"),
        });
    }
    let made = statement(connection, table)?;
    let columns = format!(
        "SELECT column_name FROM duckdb_columns() WHERE {here} AND data_type = 'VARCHAR' ORDER BY column_index"
    );
    for column in connection.rows(&columns)?.iter().flatten().flatten() {
        let collation = collation(&made, column);
        lost.extend(collation.map(|collation| format!("COLLATE {collation} of {column}")));
    }
    for kind in ["CHECK", "UNIQUE", "FOREIGN KEY"] {
        lost.extend(of(kind));
    }
    for index in indexes(connection, table)? {
        let kind = if index.is_unique { "UNIQUE INDEX" } else { "INDEX" };
        let parts: Vec<String> = index.parts.iter().map(|part| plain(part)).collect();
        lost.push(format!("{kind} {} ({})", index.name, parts.join(", ")));
    }
    let comments = format!(
        "SELECT EXISTS (SELECT 1 FROM duckdb_tables() WHERE {here} AND comment IS NOT NULL) \
         OR EXISTS (SELECT 1 FROM duckdb_columns() WHERE {here} AND comment IS NOT NULL)"
    );
    if connection.value(&comments)?.as_deref() == Some("true") {
        lost.push("comments".to_owned());
    }
    Ok(lost)
}

/// Views and macros of the database that name a table.
pub(super) fn mentioned_by(connection: &Connection, table: &str) -> Result<Vec<Mention>, Refusal> {
    let rows = connection.rows(
        "SELECT 'VIEW', nullif(schema_name, current_schema()), view_name, sql FROM duckdb_views() \
         WHERE database_name = current_database() AND NOT internal \
         UNION ALL SELECT 'MACRO', nullif(schema_name, current_schema()), function_name, macro_definition FROM duckdb_functions() \
         WHERE database_name = current_database() AND NOT internal AND macro_definition IS NOT NULL",
    )?;
    let of = |row: Vec<Option<String>>| {
        let [kind, schema, name, sql] = row.try_into().ok()?;
        Some(Definition { kind: kind?, schema, name: name?, sql: sql.unwrap_or_default() })
    };
    Ok(mentions(table, Sql::Duckdb, rows.into_iter().filter_map(of).collect()))
}
