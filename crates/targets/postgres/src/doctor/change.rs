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
    let source = seen.source(name);
    let found = match source {
        "command line" => {
            Found::new(SERVER, format!("{shown}, by the server's command line"), should)
        }
        "database" | "user" | "database user" => {
            Found::new(SERVER, format!("{shown}, by ALTER {}", of_whom(source)), should)
        }
        _ => Found::new(SERVER, shown, should),
    };
    let found = settings.iter().fold(found, |found, (name, value)| found.tried_with(name, *value));
    let (database, user) = (quote(&seen.database), quote(&seen.user));
    let line = |found: Found| {
        settings
            .iter()
            .fold(found, |found, (name, value)| found.line(format!("{name} = {}", literal(value))))
    };
    match source {
        "database" => found.statement(format!("ALTER DATABASE {database} RESET {name}")),
        "user" => found.statement(format!("ALTER ROLE {user} RESET {name}")),
        "database user" => {
            found.statement(format!("ALTER ROLE {user} IN DATABASE {database} RESET {name}"))
        }
        // What stands there overrides the files, ALTER SYSTEM's as well.
        "command line" | "environment variable" => line(found).after_restart(),
        _ => {
            let found = settings.iter().fold(found, |found, (name, value)| {
                found.statement(format!("ALTER SYSTEM SET {name} = {}", literal(value)))
            });
            match seen.wants_restart(name) {
                true => line(found).after_restart(),
                false => found.statement("SELECT pg_reload_conf()"),
            }
        }
    }
}

fn of_whom(source: &str) -> &'static str {
    if source == "database" { "DATABASE" } else { "ROLE" }
}
