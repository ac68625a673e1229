//! The databases of a run, and which of their settings are not as they come.

use serde::Serialize;

use crate::record::TargetRecord;

use super::facts::{Fact, fact};
use super::number::microseconds;

/// A database.
#[derive(Serialize)]
pub(super) struct Target {
    /// Its name, and the server's.
    pub(super) name: String,
    /// Engine, transport, tier, round trip.
    pub(super) facts: Vec<Fact>,
    /// Why it can't be measured here; empty when it can.
    pub(super) unavailable: String,
    /// Settings that are not as they come: name, value, default, whether the suite sets it.
    pub(super) changed: Vec<Changed>,
    /// All settings.
    pub(super) settings: Vec<Fact>,
}

/// A setting that is not as it comes.
#[derive(Serialize)]
pub(super) struct Changed {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) default: String,
    pub(super) by_suite: bool,
}

/// The databases, as the run found them.
pub(super) fn targets(targets: &[TargetRecord]) -> Vec<Target> {
    targets.iter().map(target).collect()
}

fn target(record: &TargetRecord) -> Target {
    let server =
        record.server.as_deref().map(|server| format!(" \u{b7} {server}")).unwrap_or_default();
    let mut facts = Vec::new();
    for (name, value) in [
        ("engine", &record.engine),
        ("transport", &record.transport),
        ("durability", &record.durability),
    ] {
        if !value.is_empty() {
            facts.push(fact(name, value.clone()));
        }
    }
    if let Some(trip) = &record.round_trip {
        let (usual, rare) = (microseconds(trip.p50_us), microseconds(trip.p99_us));
        facts.push(fact("round trip", format!("{usual} (99 %: {rare})")));
    }
    let mut changed: Vec<Changed> = record
        .settings
        .iter()
        .filter(|one| {
            record.set.contains_key(&one.name)
                || one.default.as_ref().is_some_and(|default| *default != one.value)
        })
        .map(|one| Changed {
            name: one.name.clone(),
            value: one.value.clone(),
            default: one.default.clone().unwrap_or_default(),
            by_suite: record.set.contains_key(&one.name),
        })
        .collect();
    // What the suite sets and the database does not list.
    for (name, value) in &record.set {
        if !changed.iter().any(|one| one.name == *name) {
            let (name, value) = (name.clone(), value.clone());
            changed.push(Changed { name, value, default: String::new(), by_suite: true });
        }
    }
    Target {
        name: format!("{}{server}", record.target),
        facts,
        unavailable: record.unavailable.clone().unwrap_or_default(),
        changed,
        settings: record.settings.iter().map(|one| (one.name.clone(), one.value.clone())).collect(),
    }
}
