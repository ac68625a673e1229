//! The cells of a suite's experiments.

use std::collections::BTreeMap;

use inrush_core::error::{Error, Result};
use inrush_findings::record::PlannedCell;
use inrush_findings::suite::{Experiment, Profile, Suite, Target, Transport, Value};

/// A server that the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name: `mariadb-10.11`, or, of one that the user runs, the family and `-url`.
    pub name: String,
    /// The target that talks to it: `mysql`, `postgres`.
    pub family: String,
    /// Where the user's own one is; `None` for a private one.
    pub url: Option<String>,
    /// Why it isn't here.
    pub missing: Option<String>,
}

/// The cells of `suite` at `profile` that are wanted, in the order of experiments, targets, servers and axes, and of each experiment one
/// of them once more. `lacking` are families that can't be had here, with the reason.
///
/// # Errors
/// When an experiment names a target that isn't there.
pub(super) fn cells(
    suite: &Suite,
    profile: &Profile,
    asked: &[Asked],
    lacking: &BTreeMap<String, String>,
    wanted: &dyn Fn(&PlannedCell) -> bool,
) -> Result<Vec<PlannedCell>> {
    let mut all = Vec::new();
    for experiment in &suite.experiment {
        let first = all.len();
        for name in &experiment.targets {
            let target = suite.target.get(name).ok_or_else(|| {
                Error::usage(format!(
                    "suite {}, experiment {}: there is no target '{name}'",
                    suite.id, experiment.id
                ))
            })?;
            for (server, unavailable) in places(target, asked, lacking) {
                for axes in combinations(experiment, profile) {
                    let mut coordinates = axes;
                    coordinates.insert("target".to_owned(), name.clone());
                    if let Some(server) = &server {
                        coordinates.insert("server".to_owned(), server.clone());
                    }
                    let id = format!("c{:03}", all.len());
                    let experiment = experiment.id.clone();
                    let unavailable = unavailable.clone();
                    all.push(PlannedCell { id, experiment, coordinates, twice: None, unavailable });
                    let cell = &all[all.len() - 1];
                    if !is_wanted(experiment_of(suite, cell), cell) || !wanted(cell) {
                        all.pop();
                    }
                }
            }
        }
        if let Some(twice) = twice(experiment, &all[first..]) {
            let again = PlannedCell {
                id: format!("c{:03}", all.len()),
                twice: Some(twice.id.clone()),
                ..twice.clone()
            };
            all.push(again);
        }
    }
    Ok(all)
}

/// The experiment that a cell belongs to.
///
/// # Panics
/// When the cell is another suite's.
pub(super) fn experiment_of<'a>(suite: &'a Suite, cell: &PlannedCell) -> &'a Experiment {
    let found = suite.experiment.iter().find(|experiment| experiment.id == cell.experiment);
    found.expect("a cell's experiment is its suite's")
}

fn is_wanted(experiment: &Experiment, cell: &PlannedCell) -> bool {
    let included =
        experiment.include.is_empty() || experiment.include.iter().any(|wanted| cell.is_in(wanted));
    included && !experiment.exclude.iter().any(|unwanted| cell.is_in(unwanted))
}

/// Of the cells that can be measured, the one to measure twice: without one it is not known which differences mean nothing.
fn twice<'a>(experiment: &Experiment, cells: &'a [PlannedCell]) -> Option<&'a PlannedCell> {
    let mut here = cells.iter().filter(|cell| cell.unavailable.is_none());
    let chosen =
        experiment.twice.as_ref().and_then(|chosen| here.clone().find(|cell| cell.is_in(chosen)));
    chosen.or_else(|| here.next())
}

/// Where a target's database is: on which servers, or none; and why it can't be had.
fn places(
    target: &Target,
    asked: &[Asked],
    lacking: &BTreeMap<String, String>,
) -> Vec<(Option<String>, Option<String>)> {
    let family = &target.family;
    let known = family == NO_DATABASE
        || inrush::target::ALL.iter().any(|target| {
            target.name() == family
                || target
                    .strategies()
                    .iter()
                    .any(|strategy| strategy.id() == format!("files/{family}"))
        });
    if !known {
        return vec![(None, Some(format!("this version of inrush has no target {family}")))];
    }
    if let Some(why) = lacking.get(family) {
        return vec![(None, Some(why.clone()))];
    }
    let Some(server) = &target.server else { return vec![(None, None)] };
    let is_one = |asked: &&Asked| {
        asked.family == *family
            && (server.only.is_empty()
                || server.only.iter().any(|name| asked.name.starts_with(name.as_str())))
    };
    let places: Vec<_> = asked
        .iter()
        .filter(is_one)
        .map(|asked| {
            let settings = !server.settings.is_empty() || !server.settings_on.is_empty();
            let why = match &asked.url {
                Some(_) if settings => {
                    Some("its settings can only be had on a private server".to_owned())
                }
                Some(_) if target.transport == Transport::Relay => {
                    Some("a relay leads to private servers only".to_owned())
                }
                _ => asked.missing.clone(),
            };
            (Some(asked.name.clone()), why)
        })
        .collect();
    if !places.is_empty() {
        return places;
    }
    let wanted = if server.only.is_empty() { family.clone() } else { server.only.join(" or ") };
    vec![(None, Some(format!("no server was asked for: --server {wanted}")))]
}

/// The family of targets that are no databases of ours: programs.
pub(super) const NO_DATABASE: &str = "none";

/// Every combination of the axes' values, the last axis varying fastest.
fn combinations(experiment: &Experiment, profile: &Profile) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for (axis, values) in &experiment.axes {
        let kept = |value: &&Value| profile.axes.get(axis).is_none_or(|kept| kept.contains(value));
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().filter(kept).map(|value| {
                    let mut with = before.clone();
                    with.insert(axis.clone(), value.to_string());
                    with
                })
            })
            .collect();
    }
    all
}
