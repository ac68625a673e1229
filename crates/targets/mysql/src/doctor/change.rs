//! How a setting is changed.

use inrush_core::doctor::Found;

use super::seen::Seen;

/// The server's object in findings.
pub(super) const SERVER: &str = "server";

/// A setting that can be changed while the server runs: with SET PERSIST where there is that, so that it outlives a restart, and else with
/// SET GLOBAL and a line of the file. `value` is as SQL takes it, `line` as the file does.
pub(super) fn dynamic(seen: &Seen, name: &str, should: &str, value: &str, line: &str) -> Found {
    let found = Found::new(SERVER, shown(seen, name), should).tried_with(name, line);
    match seen.persists() {
        true => found.statement(format!("SET PERSIST {name} = {value}")),
        false => {
            found.statement(format!("SET GLOBAL {name} = {value}")).line(format!("{name} = {line}"))
        }
    }
}

/// One that sessions begin with and that is not an option of the file: a restart makes it what it should be, unless it was persisted.
pub(super) fn of_sessions(seen: &Seen, name: &str, should: &str) -> Found {
    let verb = if seen.persists() { "PERSIST" } else { "GLOBAL" };
    Found::new(SERVER, shown(seen, name), should).statement(format!("SET {verb} {name} = {should}"))
}

/// One that counts after a restart.
pub(super) fn at_start(seen: &Seen, name: &str, should: &str, line: &str) -> Found {
    Found::new(SERVER, shown(seen, name), should)
        .line(format!("{name} = {line}"))
        .after_restart()
        .tried_with(name, line)
}

fn shown(seen: &Seen, name: &str) -> String {
    match seen.variable(name) {
        "" => "empty".to_owned(),
        value => value.to_owned(),
    }
}
