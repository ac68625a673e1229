//! What a server's settings and a database's tables put at risk or hold back.
//!
//! ```text
//! seen     what is read: variables, catalogue, the first keys of tables
//! change   how a setting is changed: SET PERSIST, SET GLOBAL and a line of the file, or the line and a restart
//! server   rules of settings        tables   rules of tables
//! ```

mod change;
mod seen;
mod server;
mod tables;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inrush_core::doctor::{Asked, Check, Copy, Doctor, Examined, Rule, Surroundings, apply};
use inrush_core::error::{Error, Result};
use inrush_core::target::Location;

use crate::connect;
use crate::console::MysqlConsole;
use crate::ddl::quote;
use seen::Seen;

pub(super) struct MysqlDoctor;

/// What is the server's, then what is a table's.
const PARTS: [&[Check<Seen>]; 2] = [server::CHECKS, tables::CHECKS];

impl Doctor for MysqlDoctor {
    fn rules(&self) -> Vec<&'static Rule> {
        PARTS.iter().flat_map(|checks| checks.iter().map(|check| &check.rule)).collect()
    }

    fn examine(
        &self,
        location: &Location,
        around: &Surroundings,
        stop: &AtomicBool,
    ) -> Result<Examined> {
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        let mut asked = Asked::new(Box::new(MysqlConsole::open(&place, stop)?));
        let version = asked.engine()?;
        let seen = Seen::read(&mut asked, place.is_local, around)?;
        let mut findings: Vec<_> =
            PARTS.into_iter().flat_map(|checks| apply(checks, &seen)).collect();
        findings.sort_by_key(|finding| finding.severity);
        Ok(Examined {
            version,
            findings,
            not_known: asked.unknown(),
            folders: seen.folders(),
            settings: seen.settings(),
        })
    }

    fn copy(&self, location: &Location, table: Option<&str>, stop: &AtomicBool) -> Result<Copy> {
        let place = Arc::new(connect::place(&location.secret, &location.spare)?);
        let mut asked = Asked::new(Box::new(MysqlConsole::open(&place, stop)?));
        let mut copy = Copy { database: Some(place.database.clone()), ..Copy::default() };
        let Some(table) = table else { return Ok(copy) };
        let sql = format!("SHOW CREATE TABLE {}", quote(table));
        let made = asked.rows(&sql, "the table", "takes SELECT on it")?.unwrap_or_default();
        let Some(made) = made.into_iter().next().and_then(|row| row.into_iter().nth(1).flatten())
        else {
            return Err(Error::target(asked.unknown().join("; ")));
        };
        copy.statements.push(without_foreign_keys(&made));
        copy.table = Some(table.to_owned());
        Ok(copy)
    }
}

/// The definition without what refers to other tables, each of which is a line.
fn without_foreign_keys(made: &str) -> String {
    let mut lines: Vec<String> = made
        .lines()
        .filter(|line| {
            !(line.trim_start().starts_with("CONSTRAINT ") && line.contains(" FOREIGN KEY "))
        })
        .map(str::to_owned)
        .collect();
    // What was last has no comma behind it.
    if let Some(end) = lines.iter().position(|line| line.starts_with(')'))
        && let Some(last) = end.checked_sub(1).and_then(|at| lines.get_mut(at))
        && last.ends_with(',')
    {
        last.pop();
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_refers_to_no_other_table() {
        let made = "CREATE TABLE `t` (\n  `a` int,\n  KEY `a` (`a`),\n  CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `p` (`id`)\n) ENGINE=InnoDB";
        assert_eq!(
            without_foreign_keys(made),
            "CREATE TABLE `t` (\n  `a` int,\n  KEY `a` (`a`)\n) ENGINE=InnoDB"
        );
        let plain = "CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB";
        assert_eq!(without_foreign_keys(plain), plain);
    }
}
