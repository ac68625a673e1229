//! What makes an empty copy of a table on another server.

use inrush_core::doctor::{Asked, Copy};
use inrush_core::error::{Error, Result};

use crate::ddl::literal;

/// Columns, keys and indexes of a table, whose name is as SQL takes it; nothing that refers to other tables.
pub(super) fn read(asked: &mut Asked<'_>, table: &str) -> Result<Copy> {
    let oid = format!("{}::pg_catalog.regclass", literal(table));
    let who = asked.rows(
        &format!(
            "SELECT n.nspname::text, c.relname::text, pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = {oid}"
        ),
        "the table",
        "takes USAGE on its schema",
    )?;
    let Some([Some(schema), Some(name), Some(quoted)]) =
        who.as_ref().and_then(|rows| rows.first()).map(Vec::as_slice)
    else {
        return Err(Error::target(format!("the definition of {table} can't be read")));
    };
    let mut statements = vec![format!("CREATE SCHEMA IF NOT EXISTS {quoted}")];
    let columns = asked.value(&format!(
        "SELECT pg_catalog.string_agg(pg_catalog.quote_ident(attname) || ' ' || pg_catalog.format_type(atttypid, atttypmod) \
             || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY attnum) \
         FROM pg_catalog.pg_attribute WHERE attrelid = {oid} AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"
    ))?;
    statements.push(format!("CREATE TABLE {table} ({})", columns.unwrap_or_default()));
    let keys = asked.rows_if_any(&format!(
        "SELECT pg_catalog.quote_ident(conname) || ' ' || pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint \
         WHERE conrelid = {oid} AND contype IN ('p', 'u') ORDER BY contype"
    ))?;
    let constraint = |key: String| format!("ALTER TABLE {table} ADD CONSTRAINT {key}");
    statements.extend(keys.into_iter().flatten().flatten().map(constraint));
    let indexes = asked.rows_if_any(&format!(
        "SELECT pg_catalog.pg_get_indexdef(indexrelid) FROM pg_catalog.pg_index i WHERE indrelid = {oid} \
         AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint o WHERE o.conindid = i.indexrelid)"
    ))?;
    statements.extend(indexes.into_iter().flatten().flatten());
    // A load names a table without its schema where that is the usual one.
    match schema.as_str() {
        "public" => Ok(Copy { statements, table: Some(name.clone()), ..Copy::default() }),
        other => Err(Error::target(format!("tables of the schema {other} are not measured"))),
    }
}
