//! What the page and the Markdown say in words: the machine, claims, references, the procedure.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding::{ReferenceFinding, Verdict};
use crate::record::{Doctor, Environment};
use crate::sample::{Sample, Status};

use super::Input;
use super::cells::{Cells, word};
use super::figures::{self, Figure};
use super::number::{bytes, count, microseconds, percent, significant};
use inrush_core::wording::counted;

/// A name and what it is.
pub(super) type Fact = (String, String);

pub(super) fn fact(name: &str, value: impl Into<String>) -> Fact {
    (name.to_owned(), value.into())
}

/// The run in a line of facts.
pub(super) fn summary(run: &Input<'_>) -> Vec<Fact> {
    let counted: Vec<&Sample> = run.samples.iter().filter(|sample| !sample.warmup).collect();
    let mut statuses: BTreeMap<Status, u64> = BTreeMap::new();
    for sample in &counted {
        *statuses.entry(sample.status).or_default() += 1;
    }
    let statuses: Vec<String> = statuses
        .iter()
        .map(|(status, times)| format!("{} {}", count(*times), word(*status)))
        .collect();
    let compared = counted.iter().filter(|sample| sample.verify.is_some()).count() as u64;
    let equal =
        counted.iter().filter(|sample| sample.verify.as_ref().is_some_and(|one| one.ok)).count()
            as u64;
    let mut facts = vec![
        fact("Profile", run.manifest.profile.clone()),
        fact("Cells", count(run.plan.cells.len() as u64)),
        fact("Samples", statuses.join(", ")),
    ];
    if compared > 0 {
        let words = format!("{} of {} equal to what was generated", count(equal), count(compared));
        facts.push(fact("Rows compared", words));
    }
    facts.push(fact("Started", run.manifest.started.clone()));
    if let Some(ended) = &run.manifest.ended {
        facts.push(fact("Ended", ended.clone()));
    }
    facts
}

/// What a reader has to know first.
pub(super) fn warnings(run: &Input<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if run.manifest.exit.as_deref() != Some("complete") {
        warnings.push(match &run.manifest.exit {
            Some(exit) => format!("The run is not complete: {exit}."),
            None => "The run is not complete: it was ended before it could say why.".to_owned(),
        });
    }
    warnings.extend(run.findings.warnings.iter().cloned());
    warnings.extend(run.doctor.warnings.iter().cloned());
    warnings
}

/// How far equal cells lie apart, experiment by experiment.
pub(super) fn noise(run: &Input<'_>) -> Vec<Fact> {
    Cells::of_run(run)
        .iter()
        .map(|cells| (cells.id().to_owned(), noise_of(cells)))
        .filter(|(_, noise)| !noise.is_empty())
        .collect()
}

/// That of the experiment's first metric; empty where there is nothing that it would be of.
pub(super) fn noise_of(cells: &Cells<'_>) -> String {
    let name = cells.metric.name;
    let has_figures = || cells.first().any(|cell| cell.metrics.contains_key(name));
    match cells.findings.noise.get(name) {
        Some(noise) => percent(*noise),
        None if has_figures() => "not known".to_owned(),
        None => String::new(),
    }
}

/// The machine.
pub(super) fn environment(environment: &Environment) -> Vec<Fact> {
    let mut facts = vec![
        fact("processor", environment.cpu.clone()),
        fact("processors for us", environment.processors.to_string()),
        fact("memory", bytes(environment.memory_bytes)),
    ];
    facts.extend(environment.facts.iter().map(|(name, value)| (name.clone(), value.clone())));
    facts.push(fact("fingerprint", environment.id.clone()));
    facts
}

/// The look at the machine before the first sample.
pub(super) fn doctor(doctor: &Doctor) -> Vec<Fact> {
    let mut facts = Vec::new();
    if doctor.fsync.n > 0 {
        let (usual, rare) = (microseconds(doctor.fsync.p50_us), microseconds(doctor.fsync.p99_us));
        facts.push(fact("write and sync 4 KiB", format!("{usual} (99 %: {rare})")));
    }
    facts.push(fact("free disk", bytes(doctor.free_bytes)));
    facts
        .push(fact("used by others", format!("{} of the processors", percent(doctor.foreign_cpu))));
    facts.push(fact("load average", significant(doctor.load_average)));
    facts
}

/// A claim with its verdict.
#[derive(Serialize)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) server: String,
    pub(super) claimed: String,
    pub(super) measured: String,
    pub(super) interval: String,
    /// `reproduced`, ...
    pub(super) verdict: &'static str,
    /// The verdict as the name of a style.
    pub(super) class: &'static str,
    pub(super) detail: String,
}

/// The study's sentences and what became of them.
pub(super) fn claims(run: &Input<'_>) -> Vec<Claim> {
    let text = |id: &str| {
        let claim = run.suite.claim.iter().find(|claim| claim.id == id);
        claim.map_or_else(|| id.to_owned(), |claim| claim.text.clone())
    };
    run.findings
        .claims
        .iter()
        .map(|finding| {
            let class = match finding.verdict {
                Verdict::Reproduced => "good",
                Verdict::NotReproduced => "bad",
                Verdict::Indistinguishable => "even",
                Verdict::NotTestable => "absent",
            };
            let interval = finding.measured.map(|one| {
                format!(
                    "{} \u{2013} {}, {}, n={}",
                    significant(one.low),
                    significant(one.high),
                    super::matrix::kind(one.interval),
                    one.n
                )
            });
            Claim {
                id: finding.id.clone(),
                text: text(&finding.id),
                server: finding.server.clone().unwrap_or_default(),
                claimed: finding.claimed.clone(),
                measured: finding.measured.map(|one| significant(one.value)).unwrap_or_default(),
                interval: interval.unwrap_or_default(),
                verdict: finding.verdict.words(),
                class,
                detail: finding.detail.clone(),
            }
        })
        .collect()
}

/// Published figures and ours.
#[derive(Serialize)]
pub(super) struct Reference {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) server: String,
    pub(super) unit: String,
    pub(super) figure: Option<Figure>,
    pub(super) correlation: String,
    pub(super) same_order: String,
    pub(super) rows: Vec<ReferenceRow>,
    /// Whether the absolute figures stand here: once for each reference, whatever the number of servers.
    pub(super) absolute: bool,
}

/// One of them.
#[derive(Serialize)]
pub(super) struct ReferenceRow {
    pub(super) label: String,
    pub(super) published: String,
    pub(super) published_relative: String,
    pub(super) ours_relative: String,
}

/// All references that were found something of.
pub(super) fn references(run: &Input<'_>) -> Vec<Reference> {
    let mut seen: Vec<&str> = Vec::new();
    run.findings
        .references
        .iter()
        .filter_map(|finding| {
            let reference = run.suite.reference.iter().find(|one| one.id == finding.id)?;
            let absolute = !seen.contains(&finding.id.as_str());
            seen.push(&finding.id);
            let shown = reference_of(finding, &reference.title, &reference.unit, absolute);
            let figure = figures::references(reference, run.suite.source.as_ref(), finding);
            Some(Reference { figure, ..shown })
        })
        .collect()
}

fn reference_of(finding: &ReferenceFinding, title: &str, unit: &str, absolute: bool) -> Reference {
    let rows = finding.pairs.iter().map(|pair| ReferenceRow {
        label: pair.label.clone(),
        published: significant(pair.published),
        published_relative: significant(pair.published_relative),
        ours_relative: pair.ours_relative.map(significant).unwrap_or_default(),
    });
    Reference {
        id: finding.id.clone(),
        title: title.to_owned(),
        server: finding.server.clone().unwrap_or_default(),
        unit: unit.to_owned(),
        figure: None,
        correlation: finding.rank_correlation.map(|one| format!("{one:.2}")).unwrap_or_default(),
        same_order: finding
            .same_order
            .map(|(same, all)| format!("{same} of {all}"))
            .unwrap_or_default(),
        rows: rows.collect(),
        absolute,
    }
}

/// Requests that failed or were tried again, in one cell.
#[derive(Serialize)]
pub(super) struct Requests {
    pub(super) cell: String,
    pub(super) label: String,
    pub(super) phase: String,
    pub(super) done: String,
    pub(super) retries: String,
    pub(super) failed: Vec<(String, String)>,
}

/// Those of an experiment, over all samples that count.
pub(super) fn requests(cells: &Cells<'_>) -> Vec<Requests> {
    let mut all = Vec::new();
    for cell in cells.first() {
        let mut phases: BTreeMap<&str, (u64, u64, BTreeMap<&str, u64>)> = BTreeMap::new();
        for phase in cells.samples(&cell.cell.id).iter().flat_map(|sample| &sample.phases) {
            let sums = phases.entry(&phase.id).or_default();
            sums.0 += phase.requests;
            sums.1 += phase.retries;
            for (message, times) in &phase.failed {
                *sums.2.entry(message).or_default() += times;
            }
        }
        for (phase, (done, retries, failed)) in phases {
            if retries > 0 || !failed.is_empty() {
                all.push(Requests {
                    cell: cell.cell.id.clone(),
                    label: cells.label(&cell.cell),
                    phase: phase.to_owned(),
                    done: count(done),
                    retries: count(retries),
                    failed: failed
                        .into_iter()
                        .map(|(message, times)| (message.to_owned(), count(times)))
                        .collect(),
                });
            }
        }
    }
    all
}

/// How it was measured.
pub(super) fn procedure(run: &Input<'_>) -> Vec<Fact> {
    let manifest = run.manifest;
    let mut facts = vec![
        fact("to repeat", repeated(&manifest.command, manifest.seed)),
        fact("run", manifest.run.clone()),
        fact("inrush", manifest.version.clone()),
        fact("suite", format!("{} ({})", manifest.suite, manifest.suite_hash)),
        fact("order", format!("blocks of all cells, each shuffled from seed {}", manifest.seed)),
    ];
    if let Some(profile) = run.suite.profile.get(&manifest.profile) {
        let blocks = match (profile.blocks_min, profile.blocks_max) {
            (least, most) if least == most => format!("{least} in every cell"),
            (least, most) => format!(
                "{least} to {most} in every cell, until half of the median's interval is within {} of the median",
                percent(profile.precision)
            ),
        };
        facts.push(fact("repetitions", blocks));
        if profile.warmups > 0 {
            facts.push(fact(
                "warm-ups",
                format!("{} in every cell, kept and not counted", profile.warmups),
            ));
        }
    }
    if let Some(reason) = &manifest.stopped_by {
        let words = match reason.as_str() {
            "precise" => "every interval was as narrow as the profile asks",
            "blocks" => "the profile's greatest number of repetitions was reached",
            "budget" => "the profile's time was used up",
            "interrupted" => "the user ended it",
            other => other,
        };
        facts.push(fact("ended because", words));
    }
    let contended = run.samples.iter().filter(|one| one.status == Status::Contended).count();
    if contended > 0 {
        facts.push(fact(
            "measured again",
            format!("{}, as others kept the machine busy", counted(contended as u64, "sample")),
        ));
    }
    facts
}

/// The command that measures the same once more, in the same order.
fn repeated(command: &[String], seed: u64) -> String {
    let mut words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    // Behind that word nothing is an option.
    let end = command.iter().position(|word| word == "--").unwrap_or(command.len());
    let is_seed = |word: &String| word == "--seed" || word.starts_with("--seed=");
    if !command[..end].iter().any(is_seed) {
        words.insert(end, format!("--seed {seed}"));
    }
    format!("inrush {}", words.join(" "))
}

/// Rows and hashes of the data.
pub(super) fn datasets(run: &Input<'_>) -> Vec<(String, String, String)> {
    run.plan
        .rows
        .iter()
        .map(|(name, rows)| {
            (name.clone(), count(*rows), run.plan.hashes.get(name).cloned().unwrap_or_default())
        })
        .collect()
}

/// A sample in the order in which it was taken.
#[derive(Serialize)]
pub(super) struct Taken {
    pub(super) order: u32,
    pub(super) sample: String,
    pub(super) block: u32,
    pub(super) cell: String,
    pub(super) label: String,
    pub(super) status: &'static str,
    pub(super) notes: String,
    pub(super) error: String,
    pub(super) seconds: f64,
    pub(super) shown: String,
    pub(super) started: String,
    pub(super) foreign: String,
}

/// All samples.
pub(super) fn order(run: &Input<'_>) -> Vec<Taken> {
    let mut samples: Vec<&Sample> = run.samples.iter().collect();
    samples.sort_by_key(|sample| sample.order);
    samples
        .into_iter()
        .map(|sample| {
            let warmup = sample.warmup.then_some("warm-up");
            let notes: Vec<&str> =
                warmup.into_iter().chain(sample.flags.iter().map(String::as_str)).collect();
            Taken {
                order: sample.order,
                sample: sample.sample.clone(),
                block: sample.block,
                cell: sample.cell.clone(),
                label: label(run, &sample.cell),
                status: word(sample.status),
                notes: notes.join(", "),
                error: sample.error.clone().unwrap_or_default(),
                seconds: sample.seconds,
                shown: significant(sample.seconds),
                started: sample.started.clone(),
                foreign: percent(sample.foreign_cpu),
            }
        })
        .collect()
}

fn label(run: &Input<'_>, id: &str) -> String {
    let cell = run.plan.cells.iter().find(|cell| cell.id == id);
    cell.map(|cell| format!("{}: {}", cell.experiment, cell.label())).unwrap_or_default()
}

/// What was sent, and in which cells.
#[derive(Serialize)]
pub(super) struct Statements {
    /// Ids and labels.
    pub(super) cells: Vec<Fact>,
    /// The loader's strategies and knobs.
    pub(super) strategies: Vec<String>,
    /// The first statements.
    pub(super) sql: Vec<String>,
}

/// Of the first sample of every cell; cells that sent the same stand together.
pub(super) fn statements(run: &Input<'_>) -> Vec<Statements> {
    let mut all: Vec<Statements> = Vec::new();
    for cell in &run.plan.cells {
        let mut samples = run.samples.iter().filter(|one| one.cell == cell.id);
        let Some(sample) = samples.find(|one| {
            !one.sql.is_empty() || one.phases.iter().any(|phase| phase.strategy.is_some())
        }) else {
            continue;
        };
        let strategies: Vec<String> = sample
            .phases
            .iter()
            .filter_map(|phase| Some(format!("{}: {}", phase.id, phase.strategy.as_ref()?)))
            .collect();
        let name = (cell.id.clone(), label(run, &cell.id));
        match all.iter_mut().find(|one| one.sql == sample.sql && one.strategies == strategies) {
            Some(one) => one.cells.push(name),
            None => all.push(Statements { cells: vec![name], strategies, sql: sample.sql.clone() }),
        }
    }
    all
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::{quoted, repeated};

    #[test]
    fn a_run_is_repeated_in_its_order() {
        let command = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (words, wanted) in [
            ("bench peers", "inrush bench peers --seed 7"),
            ("bench --seed=8 peers", "inrush bench --seed=8 peers"),
            ("bench -- --seed", "inrush bench --seed 7 -- --seed"),
        ] {
            assert_eq!(repeated(&command(words), 7), wanted);
        }
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("--set"), "--set");
        assert_eq!(quoted("matrix.workers=[1,2]"), "'matrix.workers=[1,2]'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
