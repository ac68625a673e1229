//! How a setting is changed: it depends on who has set it (<https://www.postgresql.org/docs/current/view-pg-settings.html>).

use inrush_core::doctor::Found;

use super::seen::Seen;
use crate::ddl::{literal, quote};

/// The server's object in findings.
pub(super) const SERVER: &str = "server";

/// A setting that should have another value, `value`; `should` is what people read.
pub(super) fn set(seen: &Seen, name: &str, should: &str, value: &str) -> Found {
    set_all(seen, &[(name, value)], should)
}

/// The same of a setting that takes others with it, which come behind.
pub(super) fn set_all(seen: &Seen, settings: &[(&str, &str)], should: &str) -> Found {
    let name = settings.first().map_or("", |(name, _)| *name);
    let shown = seen.shown(name);
    let found = |is: String| {
        let found = Found::new(SERVER, is, should);
        settings.iter().fold(found, |found, (name, value)| found.tried_with(name, *value))
    };
    let line = |found: Found| {
        settings
            .iter()
            .fold(found, |found, (name, value)| found.line(format!("{name} = {}", literal(value))))
    };
    let (database, user) = (quote(&seen.database), quote(&seen.user));
    // What stands there overrides the files, ALTER SYSTEM's as well.
    let reset = |alter: String| {
        found(format!("{shown}, by {alter}")).statement(format!("{alter} RESET {name}"))
    };
    match seen.source(name) {
        "global" => reset("ALTER ROLE ALL".to_owned()),
        "database" => reset(format!("ALTER DATABASE {database}")),
        "user" => reset(format!("ALTER ROLE {user}")),
        "database user" => reset(format!("ALTER ROLE {user} IN DATABASE {database}")),
        "client" => found(format!("{shown}, by the options of the connection")),
        "command line" => {
            line(found(format!("{shown}, by the server's command line"))).after_restart()
        }
        "environment variable" => {
            line(found(format!("{shown}, by the server's environment"))).after_restart()
        }
        _ => {
            let found = settings.iter().fold(found(shown), |found, (name, value)| {
                found.statement(format!("ALTER SYSTEM SET {name} = {}", literal(value)))
            });
            match seen.wants_restart(name) {
                true => line(found).after_restart(),
                false => found.statement("SELECT pg_reload_conf()"),
            }
        }
    }
}
