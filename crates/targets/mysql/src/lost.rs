//! What a table has besides columns and rows, which goes when another takes its place.

use crate::ddl::literal;
use crate::indexes;
use crate::rights;
use crate::session::{Failure, Session};

/// In the words of SQL, one each.
pub(super) fn read(
    session: &mut Session<'_>,
    table: &str,
    is_mariadb: bool,
) -> Result<Vec<String>, Failure> {
    let create = indexes::show(session, table)?;
    let mut lost = indexes::beside_columns(&create);
    lost.extend(indexes::own_options(&create));
    let triggers = session.table(&format!(
        "SELECT CONCAT('TRIGGER ', TRIGGER_NAME) FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = {} ORDER BY TRIGGER_NAME",
        literal(table)
    ))?;
    lost.extend(triggers.into_iter().flatten().flatten());
    if !is_mariadb && !rights::sees_triggers(session, table)? {
        lost.push("triggers, if it has any: this login can't see them".to_owned());
    }
    Ok(lost)
}
