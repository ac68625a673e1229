//! What a measurement holds for: another machine, version, setting, table or guarantee has another.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::plan::{Action, Choice, Facts, Guarantee, Request};
use crate::target::{Location, Target};
use inrush_core::wording::counted;

/// Each part says what it is, so that people see what differs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Key {
    /// Processors and memory.
    pub machine: String,
    /// The engine and its version.
    pub engine: String,
    /// The server's host and port, or the file system; not the database.
    pub target: String,
    /// Format of the rows, types of the columns, keys and indexes, and whether the table is there.
    pub shape: String,
    /// What the load promises.
    pub guarantee: String,
    /// Settings of the database on which it depends what is the fastest.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

impl Key {
    pub(super) fn of(
        request: &Request,
        facts: &Facts,
        target: &dyn Target,
        location: &Location,
        choice: &Choice,
        format: &str,
    ) -> Self {
        Self {
            machine: machine(facts.processors),
            engine: match facts.target.engine.as_str() {
                "" => target.name().to_owned(),
                engine => engine.to_owned(),
            },
            target: place(target, location),
            shape: shape(request, facts, choice, format),
            guarantee: guarantee(request),
            settings: facts.target.settings.clone(),
        }
    }

    /// The part of the key that says which target it is.
    pub fn place(target: &dyn Target, location: &Location) -> String {
        place(target, location)
    }

    /// What is another in `now`, in words; nothing where all is the same.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let parts = [
            ("machine", &self.machine, &now.machine),
            ("engine", &self.engine, &now.engine),
            ("target", &self.target, &now.target),
            ("table", &self.shape, &now.shape),
            ("guarantee", &self.guarantee, &now.guarantee),
        ];
        let of = |(what, then, now): (&str, &String, &String)| {
            (then != now).then(|| format!("{what} was '{then}', and is '{now}'"))
        };
        let names: std::collections::BTreeSet<&String> =
            self.settings.keys().chain(now.settings.keys()).collect();
        let setting = |name: &String| {
            let value = |key: &Self| key.settings.get(name).cloned().unwrap_or_default();
            let (then, now) = (value(self), value(now));
            (then != now).then(|| format!("{name} was '{then}', and is '{now}'"))
        };
        parts.into_iter().filter_map(of).chain(names.into_iter().filter_map(setting)).collect()
    }
}

fn machine(processors: usize) -> String {
    let cpuinfo = inrush_machine::text("/proc/cpuinfo").unwrap_or_default();
    let name = inrush_machine::cpu_name(&cpuinfo);
    // A new kernel takes a little more or less for itself.
    let memory = inrush_machine::memory_bytes()
        .map(|bytes| format!(", {} GiB", ((bytes as f64) / (1u64 << 30) as f64).round()));
    format!(
        "{}, {}{}",
        name.as_deref().unwrap_or("unknown processor"),
        counted(processors as u64, "core"),
        memory.unwrap_or_default()
    )
}

fn place(target: &dyn Target, location: &Location) -> String {
    let name = target.name();
    match location.files.first() {
        Some(file) => format!("{name} on {}", file_system(file)),
        None => format!("{name} at {}", server(&location.shown)),
    }
}

fn file_system(file: &Path) -> String {
    match inrush_machine::mount_of(file) {
        Some(mount) => format!("{} {} ({})", mount.kind, mount.source, mount.point.display()),
        None => "an unknown file system".to_owned(),
    }
}

/// Host, port and socket of a URL that is for people.
fn server(shown: &str) -> String {
    let rest = shown.split_once("://").map_or(shown, |(_, rest)| rest);
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let said = ["host", "port", "socket"];
    let ways = query
        .split('&')
        .filter(|pair| pair.split_once('=').is_some_and(|(name, _)| said.contains(&name)))
        .collect::<Vec<_>>()
        .join("&");
    match (host, ways.as_str()) {
        ("", "") => "its own place".to_owned(),
        (host, "") => host.to_owned(),
        ("", ways) => ways.to_owned(),
        (host, ways) => format!("{host}?{ways}"),
    }
}

/// Columns by their types, those in a row that are alike as one; then keys and indexes by the columns' places.
fn shape(request: &Request, facts: &Facts, choice: &Choice, format: &str) -> String {
    let kept = facts.kept_table(request);
    let mut out = format!(
        "{format} into a table that {}",
        match (choice.action, kept.is_some_and(|table| table.holds_rows)) {
            (Action::Create, _) => "the load makes",
            (Action::Replace, _) => "is recreated",
            (Action::Truncate, _) => "is emptied",
            (Action::Append, true) => "holds rows",
            (Action::Append, false) => "is empty",
        }
    );
    let types: Vec<String> = choice
        .columns
        .iter()
        .map(|column| column.declared.clone().unwrap_or_else(|| column.ty.to_string()))
        .collect();
    for alike in types.chunk_by(|a, b| a == b) {
        match alike {
            [one] => write!(out, ", {one}"),
            [one, ..] => write!(out, ", {} times {one}", alike.len()),
            [] => Ok(()),
        }
        .unwrap_or_default();
    }
    let places = |names: &[String]| {
        let place = |name: &String| {
            let at =
                choice.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            at.map_or_else(|| "-".to_owned(), |at| (at + 1).to_string())
        };
        names.iter().map(place).collect::<Vec<_>>().join("+")
    };
    let mut keys = Vec::new();
    let primary = kept.map_or(&request.primary_key, |table| &table.primary_key);
    if !primary.is_empty() {
        keys.push(format!("primary key {}", places(primary)));
    }
    match kept {
        Some(table) => {
            keys.extend(table.unique_keys.iter().map(|key| format!("unique {}", places(key))));
            keys.extend(table.indexes.iter().map(|index| format!("index {index}")));
            keys.extend(table.engine_only.clone());
        }
        None => keys.extend(request.indexes.iter().map(|index| format!("index {}", places(index)))),
    }
    let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
    out + "; " + &keys
}

fn guarantee(request: &Request) -> String {
    let steps = match request.guarantee {
        Guarantee::Atomic => "all rows or none",
        Guarantee::Chunks => "in steps",
    };
    format!(
        "{}, {steps}, verified by {}, conflicts {}",
        request.durability, request.verify, request.on_conflict
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_its_host_and_port_and_not_by_its_database() {
        for (shown, wanted) in [
            ("mysql://root@db.example:3307/shop", "db.example:3307"),
            ("mysql://root@localhost/shop?socket=/run/m.sock", "localhost?socket=/run/m.sock"),
            (
                "postgres:///shop?host=/run/pg&port=5433&application_name=x",
                "host=/run/pg&port=5433",
            ),
            ("postgres:///shop", "its own place"),
        ] {
            assert_eq!(server(shown), wanted);
        }
    }
}
