//! What a table has besides columns and rows, which goes when it is dropped.

use crate::connection::{Connection, Refusal};
use crate::facts::{here, index_parts};

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
        "SELECT 'DEFAULT ' || column_default || ' of ' || column_name FROM duckdb_columns() \
         WHERE {here} AND column_default IS NOT NULL AND column_default <> 'NULL' ORDER BY column_index"
    ))?;
    lost.extend(defaults.into_iter().flatten().flatten());
    for kind in ["CHECK", "UNIQUE", "FOREIGN KEY"] {
        lost.extend(of(kind));
    }
    for row in connection.rows(&format!(
        "SELECT CASE WHEN is_unique THEN 'UNIQUE INDEX ' ELSE 'INDEX ' END || index_name, expressions \
         FROM duckdb_indexes() WHERE {here} ORDER BY index_oid"
    ))? {
        let [Some(index), Some(expressions)] = row.as_slice() else { continue };
        let parts = index_parts(expressions).unwrap_or_else(|| vec![expressions.clone()]);
        lost.push(format!("{index} ({})", parts.join(", ")));
    }
    Ok(lost)
}
