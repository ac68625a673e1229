//! What a table has besides columns and rows, which goes when another takes its place.

use crate::facts;
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
    let triggers = session.table(&facts::triggers(table))?;
    let names = triggers.into_iter().filter_map(|row| row.into_iter().next().flatten());
    lost.extend(names.map(|name| format!("TRIGGER {name}")));
    if !is_mariadb && !rights::sees_triggers(session, table)? {
        lost.push("triggers, if it has any: this login can't see them".to_owned());
    }
    Ok(lost)
}
