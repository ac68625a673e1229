//! What the samples of a run add up to. Pure: the same samples always say the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{CellFindings, ExperimentFindings, Findings};
use crate::record::{PlannedCell, RunPlan};
use crate::sample::{Sample, Status};
use crate::suite::{Experiment, Suite};
use crate::{claim, metric, reference, stats, verdict, wording};

/// Everything that a run's samples say: cells with their metrics and intervals, the noise, claims, references, sentences.
///
/// Figures are of samples that are `ok` and no warm-ups; of those that were measured again in a block, of the last one.
pub fn analyse(suite: &Suite, plan: &RunPlan, samples: &[Sample]) -> Findings {
    let mut by_cell: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| !sample.warmup) {
        by_cell.entry(&sample.cell).or_default().push(sample);
    }
    let samples_of = |cell: &PlannedCell| by_cell.get(&*cell.id).map_or(&[][..], Vec::as_slice);
    let experiments: Vec<ExperimentFindings> = suite
        .experiment
        .iter()
        .map(|experiment| {
            let cells = plan.cells.iter().filter(|cell| cell.experiment == experiment.id);
            let cells: Vec<CellFindings> =
                cells.map(|cell| cell_findings(suite, cell, samples_of(cell))).collect();
            ExperimentFindings { id: experiment.id.clone(), noise: noise(&cells), cells }
        })
        .collect();
    let mut warnings = Vec::new();
    for (experiment, found) in suite.experiment.iter().zip(&experiments) {
        warn(experiment, found, &samples_of, &mut warnings);
    }
    let claims =
        suite.claim.iter().flat_map(|claim| claim::evaluate(claim, &experiments)).collect();
    let mut references = Vec::new();
    for published in &suite.reference {
        match reference::compare(published, &experiments) {
            Ok(found) => references.extend(found),
            Err(why) => warnings.push(why),
        }
    }
    let mut findings = Findings { experiments, claims, references, verdict: Vec::new(), warnings };
    findings.verdict = verdict::sentences(suite, &findings);
    findings
}

fn cell_findings(suite: &Suite, cell: &PlannedCell, samples: &[&Sample]) -> CellFindings {
    let mut statuses = BTreeMap::new();
    let mut errors: Vec<String> = Vec::new();
    let mut flags = BTreeSet::new();
    for sample in samples {
        *statuses.entry(sample.status).or_insert(0) += 1;
        flags.extend(sample.flags.iter().cloned());
        let differences = sample.verify.iter().flat_map(|verify| &verify.differences);
        for error in sample.error.iter().chain(differences) {
            if sample.status != Status::Ok && !errors.contains(error) {
                errors.push(error.clone());
            }
        }
    }
    let mut values: BTreeMap<String, (Vec<f64>, Vec<u32>)> = BTreeMap::new();
    for sample in counted(samples) {
        for (name, value) in metric::of_sample(sample) {
            let (values, blocks) = values.entry(name).or_default();
            values.push(value);
            blocks.push(sample.block);
        }
    }
    let planned = || {
        let target = cell.get("target").and_then(|target| suite.target.get(target));
        target.map_or_else(String::new, |target| target.durability.word().to_owned())
    };
    CellFindings {
        cell: cell.clone(),
        statuses,
        errors,
        flags: flags.into_iter().collect(),
        durability: samples
            .iter()
            .rev()
            .find_map(|sample| promised(sample))
            .unwrap_or_else(planned),
        metrics: values
            .into_iter()
            .map(|(name, (values, blocks))| (name, stats::summary(&values, &blocks)))
            .collect(),
    }
}

/// What a sample promised; one that failed early may not have come to it.
fn promised(sample: &Sample) -> Option<String> {
    Some(sample.durability.asked.clone()).filter(|asked| !asked.is_empty())
}

/// The last sample of each block, if it is `ok`. One that the user interrupted says nothing of those before it.
fn counted<'s>(samples: &[&'s Sample]) -> impl Iterator<Item = &'s Sample> {
    let mut last: BTreeMap<u32, &Sample> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.status != Status::Interrupted) {
        last.insert(sample.block, sample);
    }
    last.into_values().filter(|sample| sample.status == Status::Ok)
}

/// Of several cells that are measured twice, the noisiest.
fn noise(cells: &[CellFindings]) -> BTreeMap<String, f64> {
    let mut noise = BTreeMap::new();
    for second in cells {
        let Some(id) = &second.cell.twice else { continue };
        let Some(first) = cells.iter().find(|cell| cell.cell.id == *id) else { continue };
        for (name, summary) in &first.metrics {
            let other = second.metrics.get(name);
            if let Some(found) = other.and_then(|other| stats::noise(summary, other)) {
                let floor = noise.entry(name.clone()).or_insert(found);
                *floor = found.max(*floor);
            }
        }
    }
    noise
}

fn warn<'s>(
    experiment: &Experiment,
    found: &ExperimentFindings,
    samples_of: &dyn Fn(&PlannedCell) -> &'s [&'s Sample],
    warnings: &mut Vec<String>,
) {
    let id = &experiment.id;
    let labels = |is_so: &dyn Fn(&CellFindings) -> bool| -> Vec<String> {
        found.cells.iter().filter(|cell| is_so(cell)).map(|cell| cell.cell.label()).collect()
    };
    let incorrect = labels(&|cell| cell.statuses.contains_key(&Status::Incorrect));
    if !incorrect.is_empty() {
        warnings.push(format!(
            "`{id}`: what was stored was not what was sent in {}",
            wording::list(&incorrect)
        ));
    }
    let tiers: BTreeSet<&str> =
        found.cells.iter().map(|cell| &*cell.durability).filter(|tier| !tier.is_empty()).collect();
    if tiers.len() > 1 {
        let tiers = tiers.into_iter().collect::<Vec<_>>().join(", ");
        warnings.push(format!(
            "`{id}` has cells of several durabilities ({tiers}), which are not ranked with each other"
        ));
    }
    for cell in &found.cells {
        let samples = samples_of(&cell.cell);
        let promises: BTreeSet<String> =
            samples.iter().filter_map(|sample| promised(sample)).collect();
        if promises.len() > 1 {
            let promised = promises.into_iter().collect::<Vec<_>>().join(", ");
            warnings.push(format!(
                "`{id}`: samples of {} differ in durability ({promised})",
                cell.cell
            ));
        }
        let is_changed = samples.windows(2).any(|two| {
            let [a, b] = [two[0], two[1]].map(|sample| &sample.durability);
            a.asked == b.asked
                && !a.read_back.is_empty()
                && !b.read_back.is_empty()
                && a.read_back != b.read_back
        });
        if is_changed {
            warnings.push(format!(
                "`{id}`: the settings of {} that decide its durability changed between samples",
                cell.cell
            ));
        }
    }
    let contended = labels(&|cell| {
        counted(samples_of(&cell.cell)).any(|sample| sample.flags.iter().any(|f| f == "contended"))
    });
    if !contended.is_empty() {
        warnings.push(format!(
            "`{id}`: others kept the machine busy during samples that count, of {}",
            wording::list(&contended)
        ));
    }
    let flagged = |flag: &'static str| labels(&|cell| cell.flags.iter().any(|f| f == flag));
    for (flag, words) in [
        ("client-bound", "what limits these cells may be the client and not the database"),
        ("partial", "these cells handle fewer rows than their dataset has"),
    ] {
        let cells = flagged(flag);
        if !cells.is_empty() {
            warnings.push(format!("`{id}`: {words}: {}", wording::list(&cells)));
        }
    }
    let drifting: Vec<String> = found
        .cells
        .iter()
        .filter_map(|cell| {
            let drift = stats::drift(cell.metrics.get(&experiment.metric)?)?;
            let direction = if drift > 0.0 { "rises" } else { "falls" };
            Some(format!("{} {direction} (rank correlation {drift:.2})", cell.cell))
        })
        .collect();
    if !drifting.is_empty() {
        warnings.push(format!(
            "`{id}`: `{}` drifts over the blocks: {}",
            experiment.metric,
            wording::list(&drifting)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{ClaimFinding, Interval, Verdict};
    use crate::fixture::{Measured, suite};
    use crate::sample::DurabilityRead;

    const SIX: [f64; 6] = [1.00, 1.02, 0.98, 1.01, 0.99, 1.03];

    fn times(factor: f64) -> Vec<f64> {
        SIX.iter().map(|value| value * factor).collect()
    }

    fn pick(cell: &str) -> String {
        format!("{{ experiment = \"load\", cell = {{ {cell} }}, metric = \"insert.rows_per_s\" }}")
    }

    /// A claim about the ratio of two cells, `target = "fast"` and the like.
    fn ratio(of: &str, to: &str, bounds: &str) -> String {
        format!(
            "[[claim]]\nid = \"it\"\ntext = \"\"\nratio = {{ of = {}, to = {} }}\n{bounds}\n",
            pick(of),
            pick(to)
        )
    }

    fn findings(measured: &Measured, rest: &str) -> Findings {
        let suite = suite(&["fast", "slow", "served"], "{}", rest);
        analyse(&suite, &measured.plan, &measured.samples)
    }

    fn claims(measured: &Measured, rest: &str) -> Vec<ClaimFinding> {
        findings(&measured.clone().with_twin(), rest).claims
    }

    const FAST: &str = r#"target = "fast""#;
    const SLOW: &str = r#"target = "slow""#;

    #[test]
    fn a_ratio_is_judged_by_its_whole_interval() {
        // Each block is 9.9, 10 or 10.1 times; what disturbs a block disturbs both.
        let fast: Vec<f64> =
            SIX.iter().zip([9.9, 10.0, 10.1, 10.0, 9.9, 10.1]).map(|(a, b)| a * b).collect();
        let measured = Measured::new().rates("target=fast", &fast).rates("target=slow", &SIX);
        for (bounds, verdict) in [
            ("at_least = 8\nat_most = 14", Verdict::Reproduced),
            ("at_least = 9.8", Verdict::Reproduced),
            ("at_most = 10.2", Verdict::Reproduced),
            ("at_least = 10", Verdict::Indistinguishable),
            ("at_least = 8\nat_most = 10", Verdict::Indistinguishable),
            ("at_least = 10.2", Verdict::NotReproduced),
            ("at_most = 4", Verdict::NotReproduced),
            ("", Verdict::NotTestable),
        ] {
            let claims = claims(&measured, &ratio(FAST, SLOW, bounds));
            assert_eq!(claims.len(), 1);
            assert_eq!(claims[0].verdict, verdict, "{bounds}: {:?}", claims[0]);
        }
        let claim = &claims(&measured, &ratio(FAST, SLOW, "at_least = 8\nat_most = 14"))[0];
        assert_eq!(claim.claimed, "at least 8, at most 14");
        assert_eq!(
            claim.detail,
            "`insert.rows_per_s` of fast is 10 (9.9 to 10.1, n=6) times that of slow"
        );
        assert_eq!(claim.measured.unwrap().interval, Interval::Confidence);
        let claim = &claims(&measured, &ratio(FAST, SLOW, "at_least = 10"))[0];
        assert!(claim.detail.ends_with("; that lies across the bound"), "{}", claim.detail);
    }

    #[test]
    fn a_difference_within_the_noise_is_none() {
        // Two measurements of `slow` lie 10 % apart.
        let measured = |factor| {
            Measured::new()
                .rates("target=fast", &times(factor))
                .rates("target=slow", &SIX)
                .rates("target=slow", &times(1.1))
                .twice("c001")
        };
        let verdict =
            |factor, bounds| claims(&measured(factor), &ratio(FAST, SLOW, bounds))[0].verdict;
        assert_eq!(verdict(1.08, "at_least = 1.05"), Verdict::Indistinguishable);
        assert_eq!(verdict(1.02, "at_least = 1.05"), Verdict::Indistinguishable);
        assert_eq!(verdict(0.95, "at_most = 0.99"), Verdict::Indistinguishable);
        assert_eq!(verdict(1.2, "at_least = 1.05"), Verdict::Reproduced);
        // That both are about equal is what this one says.
        assert_eq!(verdict(1.08, "at_least = 0.8\nat_most = 1.25"), Verdict::Reproduced);
        // No noise makes eight times of this.
        assert_eq!(verdict(1.02, "at_least = 8"), Verdict::NotReproduced);
        let noise = findings(&measured(1.0), "").experiments[0].noise["insert.rows_per_s"];
        assert!((noise - 0.1).abs() < 1e-6, "{noise}");
    }

    #[test]
    fn noise_that_is_not_known_is_not_nought() {
        let measured = Measured::new().rates("target=fast", &times(2.0)).rates("target=slow", &SIX);
        let found = findings(&measured, &ratio(FAST, SLOW, "at_least = 1.5"));
        assert_eq!(found.claims[0].verdict, Verdict::Indistinguishable);
        let detail = &found.claims[0].detail;
        assert!(detail.ends_with("how far two equal cells lie apart is not known"), "{detail}");
        let untold = "can't be told apart in `insert.rows_per_s`, as the noise is not known";
        assert!(found.verdict.iter().any(|sentence| sentence.contains(untold)), "{found:?}");
        // That both are about equal needs none.
        let equal = ratio(FAST, SLOW, "at_least = 0.5\nat_most = 3");
        assert_eq!(findings(&measured, &equal).claims[0].verdict, Verdict::Reproduced);
    }

    #[test]
    fn what_cannot_be_tested_says_why() {
        let measured = Measured::new()
            .rates("target=fast", &SIX)
            .rates("target=slow", &[1.0])
            .status(Status::Unsupported, "Unknown storage engine 'SLOW'")
            .rates("target=served server=mysql-5.6 n=1", &SIX)
            .rates("target=served server=mysql-5.6 n=2", &SIX)
            .cell("target=gone");
        let mut measured = measured;
        measured.last_cell().unavailable = Some("it is not installed".to_owned());
        let bounds = "at_least = 2";
        for (rest, why) in [
            (
                ratio(FAST, SLOW, bounds),
                "slow has no sample that is ok, but unsupported: Unknown storage engine 'SLOW'",
            ),
            (ratio(FAST, r#"target = "gone""#, bounds), "gone is unavailable: it is not installed"),
            (ratio(FAST, r#"target = "other""#, bounds), "there is no cell other of `load`"),
            (
                ratio(FAST, r#"target = "served""#, bounds),
                "served of `load` on mysql-5.6 is 2 cells: served mysql-5.6 n=1 and served mysql-5.6 n=2, to begin with",
            ),
            (
                "[[claim]]\nid = \"it\"\ntext = \"\"\nuntestable = \"nobody has such a disk\"\n"
                    .to_owned(),
                "nobody has such a disk",
            ),
            (
                ratio(FAST, FAST, bounds).replacen("rows_per_s", "requests_per_s", 1),
                "fast has no `insert.requests_per_s`",
            ),
        ] {
            let claims = claims(&measured, &rest);
            assert_eq!(claims[0].verdict, Verdict::NotTestable);
            assert_eq!(claims[0].detail, why);
            assert!(claims[0].measured.is_none());
        }
    }

    #[test]
    fn a_claim_about_servers_is_tested_on_each() {
        let measured = Measured::new()
            .rates("target=fast", &times(10.0))
            .rates("target=served server=mysql-5.6 engine=a", &times(2.0))
            .rates("target=served server=mysql-5.6 engine=b", &SIX)
            .rates("target=served server=mariadb-10.11 engine=a", &times(4.0))
            .rates("target=served server=mariadb-10.11 engine=b", &SIX);
        let (a, b) = (r#"target = "served", engine = "a""#, r#"target = "served", engine = "b""#);
        let found = |rest: &str| -> Vec<(String, Verdict, f64)> {
            claims(&measured, rest)
                .into_iter()
                .map(|claim| {
                    let value = claim.measured.map_or(0.0, |measured| measured.value);
                    (claim.server.unwrap_or_default(), claim.verdict, (value * 1e3).round() / 1e3)
                })
                .collect()
        };
        let mysql = "mysql-5.6".to_owned();
        let maria = "mariadb-10.11".to_owned();
        assert_eq!(
            found(&ratio(a, b, "at_least = 3")),
            [
                (maria.clone(), Verdict::Reproduced, 4.0),
                (mysql.clone(), Verdict::NotReproduced, 2.0)
            ]
        );
        // One side without servers.
        assert_eq!(
            found(&ratio(FAST, a, "at_least = 3")),
            [
                (maria.clone(), Verdict::NotReproduced, 2.5),
                (mysql.clone(), Verdict::Reproduced, 5.0)
            ]
        );
        // Some of them, by the beginning of their names.
        let only = r#"target = "served", engine = "a", server = "mysql""#;
        assert_eq!(found(&ratio(only, b, "at_least = 3"))[1].1, Verdict::NotReproduced);
        // Two servers against each other.
        let other = r#"target = "served", engine = "a", server = "mariadb""#;
        assert_eq!(
            found(&ratio(other, only, "at_least = 1.5")),
            [(String::new(), Verdict::Reproduced, 2.0)]
        );
        // A quotient of quotients: 4 over 2.
        let over = format!("over = {{ of = {}, to = {} }}\nat_least = 1.9", pick(only), pick(FAST));
        assert_eq!(found(&ratio(other, FAST, &over)), [(String::new(), Verdict::Reproduced, 2.0)]);
    }

    #[test]
    fn a_knee_is_the_least_value_near_the_best() {
        let sweep = |rates: &[(&str, f64)]| {
            rates.iter().fold(Measured::new(), |measured, (n, rate)| {
                measured.rates(&format!("target=fast n={n}"), &times(*rate))
            })
        };
        let claim = |bounds: &str| {
            format!(
                "[[claim]]\nid = \"it\"\ntext = \"\"\nknee = {{ experiment = \"load\", cell = {{ {FAST} }}, axis = \"n\", \
                 metric = \"insert.rows_per_s\" }}\n{bounds}\n"
            )
        };
        // As numbers, not as words: 9 comes before 10 and 100.
        let measured = sweep(&[("100", 99.0), ("10", 95.0), ("9", 80.0), ("1000", 100.0)]);
        let found = &claims(&measured, &claim("at_most = 40"))[0];
        assert_eq!(found.verdict, Verdict::Reproduced, "{found:?}");
        assert_eq!(
            found.detail,
            "`insert.rows_per_s` of fast is within 90 % of its best from n=10 (10 to 10, n=6) on"
        );
        assert_eq!(claims(&measured, &claim("at_least = 11"))[0].verdict, Verdict::NotReproduced);
        // Blocks that disagree with each other: the best is the same, 10 is at 90 % in about half of them.
        let rates = [0.895, 0.905, 0.895, 0.905, 0.905, 0.905];
        let measured =
            Measured::new().rates("target=fast n=10", &rates).rates("target=fast n=100", &[1.0; 6]);
        let found = &claims(&measured, &claim("at_most = 40"))[0];
        assert_eq!(found.verdict, Verdict::Indistinguishable, "{found:?}");
        // Where a value is missing, nobody knows where the knee is.
        let measured = sweep(&[("1", 1.0), ("10", 2.0)]).cell("target=fast n=100");
        let found = &claims(&measured, &claim("at_most = 40"))[0];
        assert_eq!(found.detail, "fast n=100 has no sample");
        let measured = sweep(&[("1", 1.0), ("many", 2.0)]);
        let found = &claims(&measured, &claim("at_most = 40"))[0];
        assert_eq!(found.detail, "n=many of fast n=many is no number");
    }

    #[test]
    fn none_of_something_is_a_ratio_too() {
        let failing = |measured: Measured, failed: u64| {
            let mut measured = measured;
            for sample in measured.samples.iter_mut().rev().take(6) {
                sample.phases[0].requests = 10;
                sample.phases[0].failed = BTreeMap::from([("locked".to_owned(), failed)]);
            }
            measured
        };
        let measured = failing(Measured::new().rates("target=fast", &SIX), 0);
        let measured = failing(measured.rates("target=slow", &SIX), 7);
        let failed = |of, to| ratio(of, to, "at_most = 0.1").replace("rows_per_s", "failed");
        let found = &claims(&measured, &failed(FAST, SLOW))[0];
        assert_eq!(found.verdict, Verdict::Reproduced, "{found:?}");
        let found = &claims(&measured, &failed(SLOW, FAST))[0];
        assert_eq!(found.verdict, Verdict::NotTestable, "{found:?}");
    }

    #[test]
    fn only_the_last_ok_sample_of_each_block_counts_and_no_warm_up_does() {
        let mut measured = Measured::new().rates("target=fast", &[5.0]);
        measured.last_sample().warmup = true;
        let measured = measured
            .sample(1, 6.0)
            .status(Status::Contended, "")
            .sample(1, 7.0)
            .sample(2, 8.0)
            .sample(2, 9.0)
            .status(Status::Interrupted, "")
            .sample(3, 10.0)
            .sample(3, 11.0)
            .status(Status::Error, "it is full");
        let mut measured = measured;
        // It failed before anything was promised.
        measured.last_sample().durability = DurabilityRead::default();
        let found = findings(&measured, "");
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        let found = &found.experiments[0].cells[0];
        let summary = &found.metrics["insert.rows_per_s"];
        assert_eq!(summary.blocks, [1, 2]);
        assert_eq!(summary.values.iter().map(|v| v.round()).collect::<Vec<_>>(), [7000.0, 8000.0]);
        assert_eq!(found.statuses[&Status::Ok], 3);
        assert_eq!(found.statuses[&Status::Contended], 1);
        assert_eq!(found.errors, ["it is full"]);
        assert_eq!(found.durability, "durable");
    }

    #[test]
    fn published_figures_are_beside_ours_each_over_its_own_baseline() {
        let measured = Measured::new()
            .rates("target=fast", &times(10.0))
            .rates("target=slow", &SIX)
            .rates("target=served server=mysql-5.6", &times(3.0))
            .rates("target=served server=mariadb-10.11", &times(20.0));
        let reference = r#"[[reference]]
id = "rates"
title = ""
experiment = "load"
metric = "insert.rows_per_s"
unit = "rows/s"
baseline = { target = "slow" }
values = [
  { cell = { target = "fast" }, value = 800, label = "the file" },
  { cell = { target = "slow" }, value = 100 },
  { cell = { target = "served" }, value = 300 },
]
"#;
        let found = findings(&measured.clone().with_twin(), reference);
        let [maria, mysql] = &*found.references else { panic!("{:?}", found.references) };
        assert_eq!(mysql.server.as_deref(), Some("mysql-5.6"));
        assert_eq!(mysql.rank_correlation, Some(1.0));
        assert_eq!(mysql.same_order, Some((3, 3)));
        assert_eq!(maria.rank_correlation, Some(0.5));
        assert_eq!(maria.same_order, Some((2, 3)));
        assert_eq!(mysql.pairs[0].label, "the file");
        assert_eq!(mysql.pairs[2].label, "served");
        assert!((mysql.pairs[0].published_relative - 8.0).abs() < 1e-9);
        assert!((mysql.pairs[0].ours_relative.unwrap() - 10.0).abs() < 1e-3);
        let found = findings(
            &measured,
            &reference
                .replace("baseline = { target = \"slow\" }", "baseline = { target = \"none\" }"),
        );
        assert!(found.references.is_empty());
        assert_eq!(
            found.warnings,
            ["reference `rates` has no figure above 0 for its baseline none"]
        );
    }

    #[test]
    fn the_verdict_is_made_of_numbers() {
        let mut measured = Measured::new()
            .rates("target=fast n=1", &times(10.0))
            .rates("target=slow n=1", &SIX)
            .rates("target=slow n=1", &times(1.02))
            .twice("c001")
            .rates("target=served n=1", &[1.0])
            .status(Status::Incorrect, "a row is missing")
            .rates("target=fast n=2", &times(0.5));
        for sample in measured.samples.iter_mut().rev().take(6) {
            sample.durability.asked = "none".to_owned();
        }
        let claim = ratio(r#"target = "fast", n = 1"#, SLOW, "at_least = 8");
        let found = findings(&measured, &claim);
        assert_eq!(
            found.verdict,
            [
                "1 cell of 5 failed verification, what was stored was not what was sent: served n=1",
                "At durable, fast n=1 loads 10 times (10 to 10, n=6) as fast as slow n=1 in `insert`",
                "1 of 1 testable claim of the suite is reproduced",
                "4 of 5 cells have figures, from 24 of 25 samples: 1 ended otherwise (incorrect)",
                "Two measurements of the same cell in one block lie 2 % apart in `insert.rows_per_s`: smaller differences mean nothing",
            ]
        );
        assert_eq!(
            found.warnings,
            [
                "`load`: what was stored was not what was sent in served n=1",
                "`load` has cells of several durabilities (durable, none), which are not ranked with each other",
            ]
        );
    }

    #[test]
    fn of_few_samples_the_interval_is_called_a_range() {
        let measured = Measured::new()
            .rates("target=fast", &[10.0, 11.0, 12.0])
            .rates("target=slow", &[1.0, 1.0, 1.0])
            .with_twin();
        let found = findings(&measured, &ratio(FAST, SLOW, "at_least = 8"));
        let text = serde_json::to_string(&(&found.verdict, &found.claims[0].detail)).unwrap();
        assert!(text.contains("11 times (range 10 to 12, n=3)"), "{text}");
        assert!(!text.contains("CI") && !text.to_lowercase().contains("confidence"), "{text}");
        let measured = Measured::new()
            .rates("target=fast", &[10.0, 11.0, 12.0])
            .rates("target=slow", &[11.0, 11.0, 11.0]);
        let found = findings(&measured, "");
        assert!(found.verdict[0].contains("2 cells can't be told apart"), "{:?}", found.verdict);
    }

    #[test]
    fn what_casts_doubt_is_a_warning() {
        let mut measured = Measured::new()
            .rates("target=fast", &[9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5])
            .rates("target=slow", &[1.0, 1.0]);
        measured.last_sample().flags =
            ["contended", "client-bound", "partial"].map(str::to_owned).to_vec();
        measured
            .last_sample()
            .durability
            .read_back
            .insert("synchronous".to_owned(), "0".to_owned());
        let found = findings(&measured, "");
        assert_eq!(
            found.warnings,
            [
                "`load`: the settings of slow that decide its durability changed between samples",
                "`load`: others kept the machine busy during samples that count, of slow",
                "`load`: what limits these cells may be the client and not the database: slow",
                "`load`: these cells handle fewer rows than their dataset has: slow",
                "`load`: `insert.rows_per_s` drifts over the blocks: fast falls (rank correlation -1.00)",
            ]
        );
    }

    #[test]
    fn nothing_measured_is_nothing_found() {
        let found = findings(&Measured::new(), "");
        assert_eq!(found.verdict, ["0 of 0 cells have figures, from 0 samples"]);
        assert!(found.warnings.is_empty());
    }
}
