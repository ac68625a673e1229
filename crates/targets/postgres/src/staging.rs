//! The hidden table that several connections fill before it takes the target's place.
//!
//! Its name tells its owner: the load's first connection holds a lock with the name's number for as long as its transaction
//! lasts. So a load that was killed leaves a table that nobody has locked, and the next load into the schema drops it. The lock
//! belongs to the transaction, not to the session, which behind a pooler may be another one after each commit.

use crate::ddl::{self, NAME_MAX, Table, literal, quote};
use crate::lost::KEEPS_OWNER;
use crate::session::{Failure, Session};
use inrush_core::error::Result;
use inrush_core::target::{Console, JOB_PREFIX};
use inrush_core::{Action, Job};
use inrush_net::TextRows;
use inrush_net::staging::{self, Asks, PREFIX};

impl Asks for Session<'_> {
    type Failure = Failure;

    fn execute(&mut self, sql: &str) -> Result<(), Failure> {
        Session::execute(self, sql).map(drop)
    }

    fn table(&mut self, sql: &str) -> Result<TextRows, Failure> {
        Session::table(self, sql)
    }
}

/// A name that nobody has, for a table that takes the target's name later.
pub(super) fn hidden(target: &Table) -> Table {
    target.beside(&staging::hidden_name())
}

/// Tells other loads that the hidden table is somebody's, until the transaction ends.
pub(super) fn lock(session: &mut Session<'_>, hidden: &Table) -> Result<(), Failure> {
    let key = key(&hidden.name).ok_or_else(Failure::garbled)?;
    session.execute(format!("SELECT pg_catalog.pg_advisory_xact_lock({key})")).map(drop)
}

/// The same for a connection within a transaction.
pub(super) fn keep(console: &mut dyn Console, hidden: &Table) -> Result<()> {
    let key = key(&hidden.name).unwrap_or_default();
    console.execute(&format!("SELECT pg_catalog.pg_advisory_xact_lock({key})")).map(drop)
}

/// The number that the name ends in.
fn key(name: &str) -> Option<i64> {
    u64::from_str_radix(staging::digits_of(name)?, 16).ok().map(u64::cast_signed)
}

/// Seconds to wait for a connection that still uses a hidden table: one that was cut, and the server does not know yet.
const DROP_TIMEOUT: &str = "5s";

/// Drops hidden tables, if it can be done.
pub(super) fn discard<A: Asks + ?Sized>(session: &mut A, hidden: &[Table]) -> bool {
    let names: Vec<String> = hidden.iter().map(Table::sql).collect();
    let sql = format!(
        "BEGIN; SET LOCAL lock_timeout = '{DROP_TIMEOUT}'; SET LOCAL client_min_messages = error; \
         DROP TABLE IF EXISTS {}; COMMIT",
        names.join(", ")
    );
    let dropped = session.execute(&sql).is_ok();
    if !dropped {
        let _ = session.execute("ROLLBACK");
    }
    dropped
}

/// A query for the names of hidden tables beside the target.
pub(super) fn hidden_tables(target: &Table) -> String {
    format!(
        "SELECT relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = {} AND c.relkind = 'r' AND pg_catalog.starts_with(c.relname, {})",
        literal(&target.schema),
        literal(PREFIX)
    )
}

/// Drops those of them whose loads are no more. What can't be dropped stays for another time.
pub(super) fn sweep<A: Asks + ?Sized>(
    session: &mut A,
    target: &Table,
    hidden: impl IntoIterator<Item = String>,
) {
    for name in hidden {
        let Some(key) = key(&name) else { continue };
        let free = format!("BEGIN; SELECT pg_catalog.pg_try_advisory_xact_lock({key})");
        let is_free = session.value(&free).is_ok_and(|free| free.as_deref() == Some("t"));
        // With the transaction the lock goes: between the two nobody can begin a load with a name that is taken.
        let _ = session.execute("ROLLBACK");
        if is_free {
            discard(session, &[target.beside(&name)]);
        }
    }
}

/// Gives the table the target's name, within the transaction that is open: other connections see all of it at once or nothing.
/// What had the name goes.
pub(super) fn publish(
    session: &mut Session<'_>,
    hidden: &Table,
    target: &Table,
    job: &Job,
) -> Result<(), Failure> {
    take_name(session, hidden, target, job.choice.action == Action::Replace)
}

/// The same, where what has the name is only there if the new table `replaces` it.
pub(super) fn take_name<A: Asks + ?Sized>(
    session: &mut A,
    hidden: &Table,
    target: &Table,
    replaces: bool,
) -> Result<(), A::Failure> {
    let mut owner = None;
    if replaces {
        owner = session.value(&format!(
            "SELECT pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(c.relowner)) FROM pg_catalog.pg_class c \
             WHERE c.oid = {}::pg_catalog.regclass AND pg_catalog.pg_get_userbyid(c.relowner) <> current_user AND {KEEPS_OWNER}; \
             DROP TABLE {}",
            target.literal(),
            target.sql()
        ))?;
    }
    rename(session, hidden, target)?;
    // The old table's owner has the new one as well: others may have no right to it.
    match owner {
        Some(owner) => session.execute(&format!("ALTER TABLE {} OWNER TO {owner}", target.sql())),
        None => Ok(()),
    }
}

/// Renames the table, and its keys, indexes and constraints: the server has named those after the hidden table, and now they are called
/// as if the target had been made under its own name. Each question is a round trip, which most tables need just one of.
fn rename<A: Asks + ?Sized>(
    session: &mut A,
    hidden: &Table,
    target: &Table,
) -> Result<(), A::Failure> {
    let relation = format!("{}::pg_catalog.regclass", target.literal());
    // An index of a constraint is called as that is.
    let parts = session.table(&format!(
        "ALTER TABLE {} RENAME TO {}; \
         SELECT 'constraint', conname FROM pg_catalog.pg_constraint WHERE conrelid = {relation} \
         UNION ALL SELECT 'index', c.relname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid \
         WHERE i.indrelid = {relation} AND NOT EXISTS \
         (SELECT FROM pg_catalog.pg_constraint n WHERE n.conrelid = i.indrelid AND n.conindid = i.indexrelid) \
         ORDER BY 1, 2",
        hidden.sql(),
        quote(&target.name)
    ))?;
    for part in parts {
        let [Some(kind), Some(name)] = &part[..] else { continue };
        let Some(new) = free_name(session, name, target)? else { continue };
        session.execute(&match kind.as_str() {
            "index" => {
                format!("ALTER INDEX {} RENAME TO {}", hidden.beside(name).sql(), quote(&new))
            }
            _ => format!(
                "ALTER TABLE {} RENAME CONSTRAINT {} TO {}",
                target.sql(),
                quote(name),
                quote(&new)
            ),
        })?;
    }
    Ok(())
}

/// Names that are tried.
const NUMBERS: usize = 1000;

/// The name with the target's in place of the hidden table's, as short as names are, and with a number behind it where another
/// relation of the schema has it; `None` where the hidden name isn't part of it.
fn free_name<A: Asks + ?Sized>(
    session: &mut A,
    name: &str,
    target: &Table,
) -> Result<Option<String>, A::Failure> {
    // Of a long name the server leaves out the end of each part.
    let rest = [PREFIX, JOB_PREFIX].iter().find_map(|prefix| name.strip_prefix(prefix));
    let Some(rest) = rest else { return Ok(None) };
    let digits = rest.bytes().take(16).take_while(u8::is_ascii_hexdigit).count();
    let rest = &rest[digits..];
    let rest = match rest.strip_prefix("_new") {
        Some(of) => of.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()),
        None => rest,
    };
    for number in 0..NUMBERS {
        let number = if number == 0 { String::new() } else { number.to_string() };
        let mut stem = target.name.as_str();
        while stem.len() + rest.len() + number.len() > NAME_MAX {
            let mut shorter = stem.chars();
            if shorter.next_back().is_none() {
                return Ok(None);
            }
            stem = shorter.as_str();
        }
        let new = format!("{stem}{rest}{number}");
        let taken = session.value(&format!(
            "SELECT pg_catalog.to_regclass({})",
            ddl::literal(&target.beside(&new).sql())
        ))?;
        if taken.is_none() {
            return Ok(Some(new));
        }
    }
    Ok(None)
}
