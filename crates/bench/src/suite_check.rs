//! What the parts of a suite may have wrong about each other: names that nobody has, placeholders that nothing fills, cells that
//! there are not. All of it is said before anything is measured.

use std::collections::{BTreeMap, BTreeSet};

use crate::fill::Words;
use crate::generate::Generator;
use crate::matrix::{Asked, NO_DATABASE, cells};
use inrush::target::Knobs;
use inrush_core::error::Result;
use inrush_findings::metric::TOTAL;
use inrush_findings::record::PlannedCell;
use inrush_findings::suite::{
    Cell, Claim, Experiment, Load, Mix, Phase, Pick, Profile, Suite, Target, Value,
};

/// Metrics of every phase that is timed.
const TIMED: &[&str] = &[
    "seconds",
    "durable_seconds",
    "rows_per_s",
    "durable_rows_per_s",
    "mb_per_s",
    "client_cpu_us_per_row",
    "server_cpu_us_per_row",
    "write_amplification",
    "client_peak_mb",
];
/// That of a load into a server.
const CEILING: &str = "ceiling_rows_per_s";
/// Those of requests and of repeated statements, besides latencies.
const COUNTED: &[&str] = &["requests_per_s", "failed"];
/// What latencies are of, and which of them.
const OPERATIONS: &[&str] = &["request", "response", "statement", "failed"];
const PERCENTILES: &[&str] = &["p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms"];

/// Sentences, each once.
#[derive(Default)]
struct Faults {
    sentences: Vec<String>,
    known: BTreeSet<String>,
}

impl Faults {
    fn add(&mut self, place: &str, what: impl std::fmt::Display) {
        let sentence = format!("{place}: {what}");
        if self.known.insert(sentence.clone()) {
            self.sentences.push(sentence);
        }
    }

    /// The same fault in many cells is said of the first.
    fn add_in(&mut self, place: &str, cell: &PlannedCell, what: impl std::fmt::Display) {
        let sentence = format!("{place}: {what}");
        if self.known.insert(sentence.clone()) {
            self.sentences.push(format!("{sentence} (in the cell {})", cell.label()));
        }
    }

    fn unique<'a>(&mut self, what: &str, ids: impl Iterator<Item = &'a String>) {
        let mut seen = BTreeSet::new();
        for id in ids.filter(|id| !seen.insert((*id).clone())) {
            self.add(what, format!("'{id}' is there twice"));
        }
    }
}

/// Everything that is wrong with a suite, a sentence each; nothing for one that can be run.
pub(super) fn faults(suite: &Suite) -> Vec<String> {
    Checker(suite).faults()
}

/// A suite under examination.
struct Checker<'s>(&'s Suite);

impl std::ops::Deref for Checker<'_> {
    type Target = Suite;

    fn deref(&self) -> &Suite {
        self.0
    }
}

impl Checker<'_> {
    fn faults(&self) -> Vec<String> {
        let mut faults = Faults::default();
        if self.format != 1 {
            faults.add("format", format!("is {}; this version reads 1", self.format));
        }
        if self.profile.is_empty() {
            faults.add("profile", "there is none");
        }
        for (name, dataset) in &self.dataset {
            if let Err(error) = Generator::of(&dataset.kind, dataset.seed) {
                faults.add(&format!("dataset {name}"), error);
            }
        }
        faults.unique("experiment", self.experiment.iter().map(|experiment| &experiment.id));
        faults.unique("reference", self.reference.iter().map(|reference| &reference.id));
        faults.unique("claim", self.claim.iter().map(|claim| &claim.id));
        for experiment in &self.experiment {
            self.check_experiment(experiment, &mut faults);
        }
        for (name, profile) in &self.profile {
            self.check_profile(name, profile, &mut faults);
        }
        // What follows is about cells that any profile may have.
        if let Some(all) = self.profile.values().next().map(unrestricted) {
            let cells = cells(self, &all, &self.possible_servers(), &BTreeMap::new(), &|_| true)
                .unwrap_or_default();
            self.check_references(&cells, &mut faults);
            for claim in &self.claim {
                self.check_claim(claim, &cells, &mut faults);
            }
        }
        faults.sentences
    }

    /// A server of each sort that the suite tells from others.
    fn possible_servers(&self) -> Vec<Asked> {
        let mut names = BTreeSet::new();
        for target in self.target.values() {
            let Some(server) = &target.server else { continue };
            let named = server.only.iter().chain(server.settings_on.keys()).cloned();
            let family = target.family.clone();
            names.extend(named.chain([family.clone()]).map(|name| (family.clone(), name)));
        }
        names
            .into_iter()
            .map(|(family, name)| Asked { name, family, url: None, missing: None })
            .collect()
    }

    fn check_experiment(&self, experiment: &Experiment, faults: &mut Faults) {
        let place = format!("experiment {}", experiment.id);
        for target in experiment.targets.iter().filter(|name| !self.target.contains_key(*name)) {
            faults.add(&place, format!("there is no target '{target}'"));
        }
        let axes = &experiment.axes;
        if let Some(sweep) = experiment.sweep.as_ref().filter(|sweep| !axes.contains_key(*sweep)) {
            faults.add(&place, format!("there is no axis '{sweep}' to sweep"));
        }
        for axis in ["target", "server"].iter().filter(|name| axes.contains_key(**name)) {
            faults.add(&place, format!("'{axis}' is an axis already"));
        }
        let phases = experiment.phase.iter().flat_map(|phase| &phase.when);
        let wanted = experiment.exclude.iter().chain(&experiment.include).chain(&experiment.twice);
        for cell in wanted.chain(phases) {
            check_cell(experiment, cell, &place, faults);
        }
        if let Err(what) = self.check_metric(experiment, &experiment.metric, None) {
            faults.add(&place, what);
        }
        for phase in &experiment.phase {
            let place = format!("{place}, phase {}", phase.id);
            self.check_phase(phase, &place, faults);
        }
    }

    /// What is the same in every cell.
    fn check_phase(&self, phase: &Phase, place: &str, faults: &mut Faults) {
        let parts = [
            phase.load.is_some(),
            phase.sql.is_some(),
            phase.mix.is_some(),
            phase.verify.is_some(),
            phase.command.is_some(),
            phase.size.is_some(),
        ];
        if parts.iter().filter(|there| **there).count() != 1 {
            faults.add(place, "takes exactly one of load, sql, mix, verify, command and size");
        }
        if (phase.repeat.is_some() || phase.expect.is_some()) && phase.sql.is_none() {
            faults.add(place, "repeat and expect are for sql");
        }
        if phase.command.as_ref().is_some_and(|program| program.waits && !program.input.is_empty())
        {
            faults.add(place, "a program that waits has no input");
        }
        if let Some(mix) = &phase.mix {
            check_mix(mix, place, faults);
        }
        let dataset = phase.load.as_ref().map(|load| &load.dataset);
        let dataset = dataset.or(phase.verify.as_ref().map(|verify| &verify.dataset));
        let Some(name) = dataset else { return };
        let Some(dataset) = self.dataset.get(name) else {
            return faults.add(place, format!("there is no dataset '{name}'"));
        };
        let Ok(generator) = Generator::of(&dataset.kind, dataset.seed) else { return };
        for added in phase.verify.iter().flat_map(|verify| verify.added.keys()) {
            let columns = generator.columns();
            if !columns.iter().any(|column| column.name == *added && column.integer) {
                faults.add(place, format!("'{name}' has no integer column '{added}'"));
            }
        }
    }

    fn check_profile(&self, name: &str, profile: &Profile, faults: &mut Faults) {
        let place = format!("profile {name}");
        for dataset in profile.rows.keys().filter(|name| !self.dataset.contains_key(*name)) {
            faults.add(&place, format!("there is no dataset '{dataset}'"));
        }
        if profile.blocks_min == 0 || profile.blocks_min > profile.blocks_max {
            faults.add(&place, "blocks_min has to be from 1 to blocks_max");
        }
        for (axis, kept) in &profile.axes {
            let values: Vec<&Value> =
                self.experiment.iter().filter_map(|found| found.axes.get(axis)).flatten().collect();
            if values.is_empty() {
                faults.add(&place, format!("no experiment has an axis '{axis}'"));
            } else if let Some(value) = kept.iter().find(|value| !values.contains(value)) {
                faults.add(&place, format!("the axis '{axis}' has no value '{value}'"));
            }
        }
        // A target that isn't there has been told.
        let Ok(cells) = cells(self, profile, &self.possible_servers(), &BTreeMap::new(), &|_| true)
        else {
            return;
        };
        for experiment in &self.experiment {
            if !cells.iter().any(|cell| cell.experiment == experiment.id) {
                faults.add(&place, format!("leaves experiment {} without a cell", experiment.id));
            }
            let of_it = cells.iter().filter(|cell| cell.experiment == experiment.id);
            for cell in of_it.filter(|cell| cell.twice.is_none()) {
                let place = format!("profile {name}, experiment {}", experiment.id);
                self.check_in_cell(experiment, profile, cell, &place, faults);
            }
        }
    }

    fn check_in_cell(
        &self,
        experiment: &Experiment,
        profile: &Profile,
        cell: &PlannedCell,
        place: &str,
        faults: &mut Faults,
    ) {
        let Some(target) = cell.get("target").and_then(|name| self.target.get(name)) else {
            return;
        };
        let words = Words::of(self, profile, cell, self.built_in(profile, target, cell));
        let mut filled = |result: Result<()>, place: &str| {
            if let Err(error) = result {
                faults.add_in(place, cell, error);
            }
        };
        filled(words.count(&experiment.workers).map(drop), &format!("{place}, workers"));
        for line in &target.connect {
            filled(words.fill(line).map(drop), &format!("{place}, connect"));
        }
        let settings = target.server.iter().flat_map(|server| {
            server.settings.values().chain(server.settings_on.values().flat_map(BTreeMap::values))
        });
        for value in settings.chain(target.read_back.values()) {
            filled(words.value(value).map(drop), &format!("{place}, settings"));
        }
        let mut done = BTreeSet::new();
        for phase in &experiment.phase {
            if !phase.when.is_empty() && !phase.when.iter().any(|wanted| cell.is_in(wanted)) {
                continue;
            }
            let place = format!("{place}, phase {}", phase.id);
            if !done.insert(&phase.id) {
                faults.add_in(&place, cell, "two phases of this name are done");
            }
            if let Err(error) = fill_phase(phase, &words, cell.unavailable.is_none()) {
                faults.add_in(&place, cell, error);
            }
        }
    }

    /// Placeholders that cells have without the suite.
    fn built_in(
        &self,
        profile: &Profile,
        target: &Target,
        cell: &PlannedCell,
    ) -> Vec<(String, String)> {
        let mut names = vec!["table", "worker", "workers", "dir", "target", "python", "script"];
        if target.server.is_some() {
            names.extend(["url", "socket", "port", "user", "database", "files"]);
        } else if target.family != NO_DATABASE {
            names.extend(["url", "db"]);
        }
        let mut words: Vec<(String, String)> =
            names.into_iter().map(|name| (name.to_owned(), "1".to_owned())).collect();
        words.push(("target".to_owned(), cell.get("target").unwrap_or_default().to_owned()));
        for (name, dataset) in &self.dataset {
            let rows = profile.rows.get(name).copied().unwrap_or(dataset.rows);
            words.push((format!("file.{name}"), "1".to_owned()));
            words.push((format!("rows.{name}"), rows.to_string()));
            let Ok(generator) = Generator::of(&dataset.kind, dataset.seed) else { continue };
            let sums = generator.columns().iter().filter(|column| column.integer);
            words
                .extend(sums.map(|column| (format!("sum.{name}.{}", column.name), "1".to_owned())));
        }
        words
    }

    fn check_references(&self, cells: &[PlannedCell], faults: &mut Faults) {
        for reference in &self.reference {
            let place = format!("reference {}", reference.id);
            let Some(experiment) = self.experiment_called(&reference.experiment) else {
                faults.add(&place, format!("there is no experiment '{}'", reference.experiment));
                continue;
            };
            if let Err(what) = self.check_metric(experiment, &reference.metric, None) {
                faults.add(&place, what);
            }
            if !reference.values.iter().any(|value| value.cell == reference.baseline) {
                faults.add(&place, "its baseline has no value");
            }
            for value in &reference.values {
                check_cell(experiment, &value.cell, &place, faults);
                if !any_matches(cells, experiment, &value.cell) {
                    faults.add(&place, format!("there is no cell {}", shown(&value.cell)));
                }
            }
        }
    }

    fn check_claim(&self, claim: &Claim, cells: &[PlannedCell], faults: &mut Faults) {
        let place = format!("claim {}", claim.id);
        match (&claim.ratio, &claim.value, &claim.knee, &claim.untestable) {
            (None, None, None, Some(_)) => return,
            (Some(_), None, None, None)
            | (None, Some(_), None, None)
            | (None, None, Some(_), None) => {}
            _ => faults.add(&place, "takes exactly one of ratio, value, knee and untestable"),
        }
        if claim.at_least.is_none() && claim.at_most.is_none() {
            faults.add(&place, "says neither at_least nor at_most");
        }
        for ratio in claim.ratio.iter().chain(&claim.over) {
            self.check_pick(&ratio.of, cells, &place, faults);
            self.check_pick(&ratio.to, cells, &place, faults);
        }
        if let Some(value) = &claim.value {
            self.check_pick(value, cells, &place, faults);
        }
        if let Some(knee) = &claim.knee {
            let pick = Pick {
                experiment: knee.experiment.clone(),
                cell: knee.cell.clone(),
                metric: knee.metric.clone(),
            };
            self.check_pick(&pick, cells, &place, faults);
            let swept = self.experiment_called(&knee.experiment);
            if swept.is_some_and(|swept| !swept.axes.contains_key(&knee.axis)) {
                faults.add(&place, format!("{} has no axis '{}'", knee.experiment, knee.axis));
            }
        }
    }

    fn check_pick(&self, pick: &Pick, cells: &[PlannedCell], place: &str, faults: &mut Faults) {
        let Some(experiment) = self.experiment_called(&pick.experiment) else {
            return faults.add(place, format!("there is no experiment '{}'", pick.experiment));
        };
        check_cell(experiment, &pick.cell, place, faults);
        if !any_matches(cells, experiment, &pick.cell) {
            let (id, cell) = (&experiment.id, shown(&pick.cell));
            faults.add(place, format!("experiment {id} has no cell {cell}"));
        }
        if let Err(what) = self.check_metric(experiment, &pick.metric, Some((cells, &pick.cell))) {
            faults.add(place, what);
        }
    }

    fn experiment_called(&self, id: &str) -> Option<&Experiment> {
        self.experiment.iter().find(|experiment| experiment.id == id)
    }

    /// Whether a phase has what a metric is made of; in the cells given, if any.
    fn check_metric(
        &self,
        experiment: &Experiment,
        name: &str,
        within: Option<(&[PlannedCell], &Cell)>,
    ) -> Result<(), String> {
        let Some((id, kind)) = name.rsplit_once('.') else {
            return Err(format!("the metric '{name}' is not PHASE.METRIC"));
        };
        if id == TOTAL {
            return match kind {
                "seconds" | "rows_per_s" => Ok(()),
                _ => Err(format!("all phases together have no metric '{kind}'")),
            };
        }
        let is_done = |phase: &&Phase| {
            let Some((cells, wanted)) = within else { return true };
            phase.when.is_empty()
                || cells.iter().any(|cell| {
                    cell.experiment == experiment.id
                        && cell.is_in(wanted)
                        && phase.when.iter().any(|when| cell.is_in(when))
                })
        };
        let mut phases =
            experiment.phase.iter().filter(|phase| phase.id == id).filter(is_done).peekable();
        if phases.peek().is_none() {
            return Err(format!("experiment {} has no phase '{id}' there", experiment.id));
        }
        let latency = kind.split_once('_').is_some_and(|(operation, percentile)| {
            OPERATIONS.contains(&operation) && PERCENTILES.contains(&percentile)
        });
        let has_server = || {
            let mut targets = experiment.targets.iter().filter_map(|name| self.target.get(name));
            targets.any(|target| target.server.is_some())
        };
        let has = |phase: &Phase| match phase.size {
            Some(_) => kind == "bytes",
            None => {
                let counted = phase.mix.is_some() || phase.repeat.is_some();
                phase.timed
                    && phase.verify.is_none()
                    && (TIMED.contains(&kind)
                        || counted && (latency || COUNTED.contains(&kind))
                        || kind == CEILING && phase.load.is_some() && has_server())
            }
        };
        match phases.all(has) {
            true => Ok(()),
            false => Err(format!("the phase '{id}' has no metric '{kind}'")),
        }
    }
}

fn unrestricted(profile: &Profile) -> Profile {
    Profile { axes: BTreeMap::new(), ..profile.clone() }
}

fn any_matches(cells: &[PlannedCell], experiment: &Experiment, wanted: &Cell) -> bool {
    // Which servers there will be, nobody knows yet.
    let mut wanted = wanted.clone();
    wanted.remove("server");
    cells.iter().any(|cell| cell.experiment == experiment.id && cell.is_in(&wanted))
}

fn shown(cell: &Cell) -> String {
    let pairs: Vec<String> = cell
        .iter()
        .map(|(axis, values)| {
            let values: Vec<String> = values.values().iter().map(Value::to_string).collect();
            format!("{axis}={}", values.join("|"))
        })
        .collect();
    pairs.join(" ")
}

/// Whether the axes of a cell, and its values on them, are the experiment's.
fn check_cell(experiment: &Experiment, cell: &Cell, place: &str, faults: &mut Faults) {
    for (axis, wanted) in cell {
        let values = wanted.values().iter();
        let known: Vec<String> = match (axis.as_str(), experiment.axes.get(axis)) {
            ("server", _) => continue,
            ("target", _) => experiment.targets.clone(),
            (_, Some(values)) => values.iter().map(Value::to_string).collect(),
            (_, None) => {
                faults.add(place, format!("experiment {} has no axis '{axis}'", experiment.id));
                continue;
            }
        };
        for value in values.map(Value::to_string).filter(|value| !known.contains(value)) {
            let id = &experiment.id;
            faults.add(place, format!("experiment {id} has no {axis} '{value}'"));
        }
    }
}

fn check_mix(mix: &Mix, place: &str, faults: &mut Faults) {
    faults.unique(&format!("{place}, step"), mix.step.iter().map(|step| &step.id));
    let known = |id: &String| mix.step.iter().any(|step| step.id == *id);
    for (index, step) in mix.step.iter().enumerate() {
        let before = |id: &String| mix.step[..index].iter().any(|step| step.id == *id);
        if let Some(id) = step.when.as_ref().filter(|id| !before(id)) {
            faults.add(place, format!("step {}: no step '{id}' comes before it", step.id));
        }
    }
    for id in mix.check.iter().flat_map(|check| &check.steps).filter(|id| !known(id)) {
        faults.add(place, format!("there is no step '{id}' to check"));
    }
}

/// Fills every placeholder of a phase, and looks for its strategy and knobs if its target is in this build.
fn fill_phase(phase: &Phase, words: &Words, is_known: bool) -> Result<()> {
    let counts = [&phase.rows, &phase.repeat].into_iter().flatten();
    counts.into_iter().try_for_each(|count| words.count(count).map(drop))?;
    if let Some(expect) = &phase.expect {
        words.value(expect)?;
    }
    if let Some(load) = &phase.load {
        fill_load(load, words, is_known)?;
    }
    if let Some(sql) = &phase.sql {
        words.with("n", 1).statements(sql)?;
    }
    if let Some(size) = &phase.size {
        words.statements(size)?;
    }
    if let Some(verify) = &phase.verify {
        words.statements(&verify.sql)?;
        verify.rows.iter().try_for_each(|rows| words.count(rows).map(drop))?;
    }
    if let Some(mix) = &phase.mix {
        words.count(&mix.requests)?;
        words.value(&mix.connect)?;
        mix.rate.iter().try_for_each(|rate| words.value(rate).map(drop))?;
        let words = words.with("r", 1);
        mix.step.iter().try_for_each(|step| words.statements(&step.sql).map(drop))?;
        for check in &mix.check {
            words.statements(&check.sql)?;
            check.plus.iter().try_for_each(|plus| words.count(plus).map(drop))?;
        }
    }
    if let Some(program) = &phase.command {
        let texts = program.run.iter().chain(&program.needs).chain([&program.input]);
        let texts = texts.chain(program.env.values());
        texts.into_iter().try_for_each(|text| words.fill(text).map(drop))?;
    }
    Ok(())
}

fn fill_load(load: &Load, words: &Words, is_known: bool) -> Result<()> {
    words.fill(&load.table)?;
    let counts = [&load.rows, &load.lanes].into_iter().flatten();
    counts.into_iter().try_for_each(|count| words.count(count).map(drop))?;
    let mut knobs = BTreeMap::new();
    for (name, value) in &load.set {
        let value = words.value(value)?;
        if !value.is_empty() {
            knobs.insert(name.clone(), value);
        }
    }
    let Some(id) = &load.strategy else { return Ok(()) };
    let id = words.fill(id)?;
    if !is_known || id.is_empty() {
        return Ok(());
    }
    let strategies = inrush::target::ALL.iter().flat_map(|target| target.strategies());
    let Some(strategy) = strategies.into_iter().find(|strategy| strategy.id() == id) else {
        return Err(inrush::Error::usage(format!("there is no strategy '{id}'")));
    };
    Knobs::resolve(*strategy, &knobs).map(drop)
}

#[cfg(test)]
mod tests;
