//! What a table has besides columns and rows, which goes when it is dropped.

use crate::ddl;
use crate::session::{Failure, Session};
use inrush_core::target::TableName;

/// In the words of SQL, one each.
pub(super) fn read(session: &mut Session<'_>, name: &TableName) -> Result<Vec<String>, Failure> {
    let id = format!("OBJECT_ID({})", ddl::object(name));
    let keys = session.table(&format!(
        "SELECT CASE WHEN x.is_primary_key = 1 THEN N'PRIMARY KEY' WHEN x.is_unique = 1 THEN N'UNIQUE INDEX ' + x.name \
                ELSE N'INDEX ' + x.name END, c.name \
         FROM sys.indexes x \
         JOIN sys.index_columns k ON k.object_id = x.object_id AND k.index_id = x.index_id AND k.is_included_column = 0 \
         JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id \
         WHERE x.object_id = {id} ORDER BY x.is_primary_key DESC, x.index_id, k.key_ordinal"
    ))?;
    let mut indexes: Vec<(String, Vec<String>)> = Vec::new();
    for row in keys {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let (what, column) = (row.next().unwrap_or_default(), row.next().unwrap_or_default());
        match indexes.last_mut() {
            Some((last, columns)) if *last == what => columns.push(column),
            _ => indexes.push((what, vec![column])),
        }
    }
    let mut lost: Vec<String> = indexes
        .into_iter()
        .map(|(what, columns)| format!("{what} ({})", columns.join(", ")))
        .collect();
    // A catalogue's names and definitions may differ in their collations, and would not be put into one column.
    let others = [
        (
            "N'NOT NULL on ' + c.name",
            "sys.columns c WHERE c.is_nullable = 0 AND NOT EXISTS (SELECT * FROM sys.index_columns k \
             JOIN sys.indexes x ON x.object_id = k.object_id AND x.index_id = k.index_id AND x.is_primary_key = 1 \
             WHERE k.object_id = c.object_id AND k.column_id = c.column_id) AND c.object_id",
        ),
        ("N'IDENTITY of ' + name", "sys.identity_columns WHERE object_id"),
        (
            "N'DEFAULT ' + definition + N' of ' + COL_NAME(parent_object_id, parent_column_id)",
            "sys.default_constraints WHERE parent_object_id",
        ),
        ("N'the computed column ' + name", "sys.computed_columns WHERE object_id"),
        ("N'CHECK ' + definition", "sys.check_constraints WHERE parent_object_id"),
        (
            "N'FOREIGN KEY ' + name + N' REFERENCES ' + OBJECT_NAME(referenced_object_id)",
            "sys.foreign_keys WHERE parent_object_id",
        ),
        ("N'TRIGGER ' + name", "sys.triggers WHERE parent_id"),
    ];
    let parts = others.map(|(what, from)| {
        format!("SELECT CONVERT(nvarchar(max), {what}) COLLATE DATABASE_DEFAULT FROM {from} = {id}")
    });
    let rows = session.table(&parts.join(" UNION ALL "))?;
    lost.extend(rows.into_iter().flatten().flatten());
    Ok(lost)
}
