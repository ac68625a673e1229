//! What a table has besides columns and rows, which goes when another takes its place.

use crate::ddl::literal;
use crate::facts;
use crate::indexes;
use crate::rights;
use crate::session::{Failure, Session};
use inrush_core::mentions::{Definition, Mention, Sql, mentions};

/// In the words of SQL, one each.
pub(super) fn read(session: &mut Session<'_>, table: &str) -> Result<Vec<String>, Failure> {
    let create = indexes::show(session, table)?;
    let mut lost = indexes::beside_columns(&create);
    lost.extend(indexes::own_options(&create));
    let triggers = session.table(&facts::triggers(table))?;
    let names = triggers.into_iter().filter_map(|row| row.into_iter().next().flatten());
    lost.extend(names.map(|name| format!("TRIGGER {name}")));
    if !rights::sees_triggers(session, table)? {
        lost.push("triggers, if it has any: this login can't see them".to_owned());
    }
    Ok(lost)
}

/// Views, and triggers of other tables, that name a table, as far as the login may read what defines them.
pub(super) fn mentioned_by(
    session: &mut Session<'_>,
    table: &str,
) -> Result<Vec<Mention>, Failure> {
    let rows = session.table(&format!(
        "SELECT 'VIEW', TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() \
         UNION ALL SELECT 'TRIGGER', TRIGGER_NAME, ACTION_STATEMENT FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE <> {}",
        literal(table)
    ))?;
    let of = |row: Vec<Option<String>>| {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        Some(Definition { kind: row.next()?, schema: None, name: row.next()?, sql: row.next()? })
    };
    Ok(mentions(table, Sql::Mysql, rows.into_iter().filter_map(of).collect()))
}
