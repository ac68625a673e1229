//! Two runs, cell by cell.
//!
//! Blocks of two runs have nothing in common but their numbers, so nothing is paired: the ratio's interval goes from the worst of one
//! against the best of the other to the opposite ([`stats::unpaired`]). It is wider than that of two cells of one run, and rightly so.

use std::collections::BTreeMap;

use crate::analysis::analyse;
use crate::finding::{CellFindings, Compared, ComparedCell, Comparison, Findings, Measured};
use crate::sample::Status;
use crate::store::Run;
use crate::{metric, stats, wording};

/// So few samples say nothing of how far others would lie from them.
const SAMPLES_MIN: usize = 3;

/// How B stands to A: each experiment's own metric in all cells that both have figures of, turned so that above 1 B is faster (or
/// smaller), whatever the metric. A cell is faster or slower if its whole interval is, by more than the larger noise floor of the
/// two runs, which has to be known of one of them, and if both have measured it three times.
pub fn compare(a: &Run, b: &Run) -> Comparison {
    let findings = |run: &Run| analyse(&run.suite, &run.plan, &run.samples);
    let (found_a, found_b) = (findings(a), findings(b));
    let mut comparison = Comparison { differences: differences(a, b), ..Comparison::default() };
    let (cells_a, mut cells_b) = (Measurements::of(a, &found_a), Measurements::of(b, &found_b));
    for (key, ours) in cells_a.0 {
        let theirs = cells_b.0.remove(&key);
        let ended = failures(b, &found_b, &key);
        if !ended.is_empty() && (theirs.is_none() || failures(a, &found_a, &key).is_empty()) {
            comparison.failed_in_b.push(format!("{} ({})", ours.label(), ended.join(", ")));
        }
        let Some(theirs) = theirs else {
            // What has failed is said already.
            if ended.is_empty() {
                comparison.only_in_a.push(ours.label());
            }
            continue;
        };
        let tiers = (&*ours.cell.durability, &*theirs.cell.durability);
        if tiers.0 != tiers.1 {
            comparison.differences.push(format!(
                "the durability of {}: {} and {}",
                ours.label(),
                tiers.0,
                tiers.1
            ));
        }
        match compare_cell(&ours, &theirs) {
            Some(cell) => comparison.cells.push(cell),
            None => comparison.differences.push(format!(
                "`{}` of {} can't be divided: {} and {}",
                ours.metric,
                ours.label(),
                wording::number(ours.median()),
                wording::number(theirs.median())
            )),
        }
    }
    comparison.only_in_b = cells_b.0.values().map(Measurement::label).collect();
    // Keys are in order, and this keeps the order of equal effects.
    comparison.cells.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    comparison
}

impl Comparison {
    /// Cells where B is slower by more than so many percent, and its whole interval says so, beyond noise.
    pub fn slower_than(&self, percent: f64) -> Vec<&ComparedCell> {
        let bound = 1.0 - percent / 100.0;
        let is_slower =
            |cell: &&ComparedCell| cell.verdict == Compared::Slower && cell.speed.high < bound;
        self.cells.iter().filter(is_slower).collect()
    }
}

/// How samples of a cell ended that have failed.
fn failures(run: &Run, findings: &Findings, key: &Key<'_>) -> Vec<&'static str> {
    let (experiment, _, coordinates) = *key;
    let cells = run.suite.experiment.iter().zip(&findings.experiments);
    let cells = cells.filter(|(one, _)| one.id == experiment).flat_map(|(_, found)| &found.cells);
    cells
        .filter(|cell| cell.cell.twice.is_none() && cell.cell.coordinates == *coordinates)
        .flat_map(|cell| {
            let is_planned = cell.cell.unavailable.is_none();
            cell.statuses.keys().filter(move |status| {
                status.is_failure() || (is_planned && **status == Status::Unavailable)
            })
        })
        .map(|status| status.word())
        .collect()
}

/// One cell's figures of its experiment's metric.
struct Measurement<'f> {
    experiment: &'f str,
    metric: &'f str,
    noise: Option<f64>,
    cell: &'f CellFindings,
}

impl Measurement<'_> {
    fn label(&self) -> String {
        format!("{}: {}", self.experiment, self.cell.cell)
    }

    fn median(&self) -> f64 {
        self.cell.metrics[self.metric].median
    }
}

/// Experiment, metric and coordinates: ids may differ when the suite does.
type Key<'f> = (&'f str, &'f str, &'f BTreeMap<String, String>);

struct Measurements<'f>(BTreeMap<Key<'f>, Measurement<'f>>);

impl<'f> Measurements<'f> {
    fn of(run: &'f Run, findings: &'f Findings) -> Self {
        let mut measurements = BTreeMap::new();
        for (experiment, found) in run.suite.experiment.iter().zip(&findings.experiments) {
            let metric = &*experiment.metric;
            let noise = found.noise.get(metric).copied();
            for cell in &found.cells {
                if cell.cell.twice.is_none() && cell.metrics.contains_key(metric) {
                    let key = (&*experiment.id, metric, &cell.cell.coordinates);
                    let experiment = &*experiment.id;
                    measurements.insert(key, Measurement { experiment, metric, noise, cell });
                }
            }
        }
        Self(measurements)
    }
}

fn compare_cell(a: &Measurement<'_>, b: &Measurement<'_>) -> Option<ComparedCell> {
    let (summary_a, summary_b) = (&a.cell.metrics[a.metric], &b.cell.metrics[b.metric]);
    let speed = if metric::is_better_when_higher(a.metric) {
        stats::unpaired(summary_b, summary_a)
    } else {
        stats::unpaired(summary_a, summary_b)
    }?;
    // That of the other run, of the same cells on the same machine, is better than none.
    let noise = a.noise.into_iter().chain(b.noise).reduce(f64::max);
    let (verdict, untold) = match noise {
        _ if speed.n < SAMPLES_MIN => {
            let samples = wording::count(speed.n, "sample");
            (Compared::Indistinguishable, Some(format!("{samples}, and {SAMPLES_MIN} are needed")))
        }
        None => (Compared::Indistinguishable, Some("the noise is not known".to_owned())),
        Some(noise) => (verdict(&speed, noise), None),
    };
    Some(ComparedCell {
        experiment: a.experiment.to_owned(),
        label: a.cell.cell.label(),
        metric: a.metric.to_owned(),
        a: summary_a.median,
        b: summary_b.median,
        speed,
        verdict,
        untold,
    })
}

fn verdict(speed: &Measured, noise: f64) -> Compared {
    if speed.low > 1.0 + noise {
        Compared::Faster
    } else if speed.high < 1.0 / (1.0 + noise) {
        Compared::Slower
    } else {
        Compared::Indistinguishable
    }
}

fn effect(cell: &ComparedCell) -> f64 {
    cell.speed.value.ln().abs()
}

fn differences(a: &Run, b: &Run) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, a: &str, b: &str| {
        if a != b {
            differences.push(format!("the {what}: {a} and {b}"));
        }
    };
    differ("machine", &a.env.id, &b.env.id);
    differ("suite", &a.manifest.suite, &b.manifest.suite);
    differ("suite's text", &a.manifest.suite_hash, &b.manifest.suite_hash);
    differ("profile", &a.manifest.profile, &b.manifest.profile);
    for (dataset, hash) in &a.plan.hashes {
        if let Some(other) = b.plan.hashes.get(dataset) {
            differ(&format!("rows of {dataset}"), hash, other);
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Measured, suite};
    use crate::store::RunFolder;

    fn run(measured: &Measured) -> Run {
        let place = tempfile::tempdir().unwrap();
        let suite = suite(&["fast", "slow"], "{ n = [1, 2] }", "");
        let folder = measured.clone().with_twin().store(place.path(), &suite);
        RunFolder::open(folder.path()).unwrap()
    }

    /// Nine samples around a rate.
    fn around(rate: f64) -> Vec<f64> {
        (0..9).map(|block| rate * (1.0 + 0.001 * f64::from(block - 4))).collect()
    }

    #[test]
    fn each_cell_is_faster_slower_or_neither() {
        let measured = |rates: [f64; 3]| {
            Measured::new()
                .rates("target=fast n=1", &around(rates[0]))
                .rates("target=fast n=2", &around(rates[1]))
                .rates("target=slow n=1", &around(rates[2]))
        };
        let a = run(&measured([10.0, 10.0, 10.0]));
        let b = run(&measured([10.01, 20.0, 9.0]));
        let comparison = compare(&a, &b);
        assert_eq!(comparison.differences, Vec::<String>::new());
        let found: Vec<(&str, Compared)> =
            comparison.cells.iter().map(|cell| (&*cell.label, cell.verdict)).collect();
        assert_eq!(
            found,
            [
                ("fast n=2", Compared::Faster),
                ("slow n=1", Compared::Slower),
                ("fast n=1", Compared::Indistinguishable),
            ]
        );
        let speed = &comparison.cells[0].speed;
        assert!((speed.value - 2.0).abs() < 1e-6 && speed.low < 2.0 && speed.high > 2.0);
        assert!((comparison.cells[0].a - 10_000.0).abs() < 1.0);
        assert!((comparison.cells[0].b - 20_000.0).abs() < 1.0);
        // The other way round everything is.
        let back = compare(&b, &a);
        assert_eq!(back.cells[0].verdict, Compared::Slower);
        assert_eq!(back.cells[1].verdict, Compared::Faster);
    }

    #[test]
    fn the_bound_and_not_the_median_decides_whether_a_cell_is_slower_by_so_much() {
        let a = run(&Measured::new().rates("target=fast n=1", &around(10.0)));
        // The median is 5.2 % slower, the least difference that the interval allows is below 5 %.
        let b = run(&Measured::new().rates("target=fast n=1", &around(9.48)));
        let comparison = compare(&a, &b);
        assert!(comparison.cells[0].speed.value < 0.95);
        assert_eq!(comparison.cells[0].verdict, Compared::Slower);
        assert!(comparison.slower_than(5.0).is_empty());
        assert_eq!(comparison.slower_than(4.0).len(), 1);
        assert!(compare(&b, &a).slower_than(0.0).is_empty());
    }

    #[test]
    fn less_is_faster_where_less_is_better() {
        let (a, b) = (
            run(&Measured::new().rates("target=fast n=1", &around(10.0))),
            run(&Measured::new().rates("target=fast n=1", &around(20.0))),
        );
        let seconds = |mut run: Run| {
            run.suite.experiment[0].metric = "insert.seconds".to_owned();
            run
        };
        let comparison = compare(&seconds(a), &seconds(b));
        assert_eq!(comparison.cells[0].verdict, Compared::Faster);
        assert!((comparison.cells[0].speed.value - 2.0).abs() < 1e-3);
    }

    #[test]
    fn the_larger_noise_of_the_two_runs_counts() {
        let second: Vec<f64> = around(10.0).iter().map(|rate| rate * 1.2).collect();
        let a = run(&Measured::new().rates("target=fast n=1", &around(10.0)));
        let b = run(&Measured::new()
            .rates("target=fast n=1", &around(11.0))
            .rates("target=fast n=1", &second)
            .twice("c000"));
        let comparison = compare(&a, &b);
        assert_eq!(comparison.cells.len(), 1);
        assert!(comparison.cells[0].speed.low > 1.05);
        // Noise of 9 %: 12 against 11.
        assert_eq!(comparison.cells[0].verdict, Compared::Faster);
        let b = run(&Measured::new()
            .rates("target=fast n=1", &around(10.8))
            .rates("target=fast n=1", &second)
            .twice("c000"));
        assert_eq!(compare(&a, &b).cells[0].verdict, Compared::Indistinguishable);
    }

    #[test]
    fn a_cell_that_fails_in_b_is_named() {
        let measured = |status: Option<Status>| {
            let measured = Measured::new()
                .rates("target=fast n=1", &around(10.0))
                .rates("target=slow n=1", &around(10.0));
            match status {
                Some(status) => measured.status(status, "it is full"),
                None => measured,
            }
        };
        let whole = run(&measured(None));
        for status in [Status::Incorrect, Status::Error, Status::Timeout, Status::Unavailable] {
            let failing = run(&measured(Some(status)));
            let comparison = compare(&whole, &failing);
            assert_eq!(comparison.failed_in_b, [format!("load: slow n=1 ({})", status.word())]);
            // Eight of the nine have figures.
            assert_eq!(comparison.cells.len(), 2);
            // What fails now and then in both was known, and what fails no more is better.
            assert!(compare(&failing, &failing).failed_in_b.is_empty());
            assert!(compare(&failing, &whole).failed_in_b.is_empty());
        }
        let mut none = run(&measured(None));
        let of_slow = none.plan.cells[1].id.clone();
        for sample in none.samples.iter_mut().filter(|sample| sample.cell == of_slow) {
            sample.status = Status::Error;
        }
        let comparison = compare(&whole, &none);
        assert_eq!(comparison.failed_in_b, ["load: slow n=1 (error)"]);
        assert!(comparison.only_in_a.is_empty() && comparison.cells.len() == 1, "{comparison:?}");
        // What was never to be measured has not failed.
        none.plan.cells[1].unavailable = Some("no server was asked for".to_owned());
        none.samples.retain(|sample| sample.cell != of_slow);
        let comparison = compare(&whole, &none);
        assert!(comparison.failed_in_b.is_empty());
        assert_eq!(comparison.only_in_a, ["load: slow n=1"]);
    }

    #[test]
    fn few_samples_and_unknown_noise_tell_nothing() {
        let of = |rate: f64, n: usize| {
            run(&Measured::new().rates("target=fast n=1", &around(rate)[..n]))
        };
        let told = |a: &Run, b: &Run| {
            let comparison = compare(a, b);
            let cell = &comparison.cells[0];
            assert_eq!(cell.untold.is_some(), cell.verdict == Compared::Indistinguishable);
            cell.untold.clone().unwrap_or_default()
        };
        assert_eq!(told(&of(10.0, 9), &of(5.0, 3)), "");
        assert_eq!(told(&of(10.0, 9), &of(5.0, 2)), "2 samples, and 3 are needed");
        assert_eq!(told(&of(10.0, 1), &of(5.0, 9)), "1 sample, and 3 are needed");
        let without = |rate: f64| {
            let mut run = of(rate, 9);
            run.plan.cells.truncate(1);
            run
        };
        assert_eq!(told(&without(10.0), &without(5.0)), "the noise is not known");
        // That of one run is known.
        assert_eq!(told(&without(10.0), &of(5.0, 9)), "");
    }

    #[test]
    fn what_forbids_a_comparison_is_told() {
        let measured = Measured::new()
            .rates("target=fast n=1", &around(10.0))
            .rates("target=slow n=1", &around(10.0));
        let a = run(&measured);
        let mut b = run(&measured);
        b.env.id = "other".to_owned();
        b.manifest.suite_hash = "other".to_owned();
        b.manifest.profile = "paper".to_owned();
        b.plan.hashes.insert("pairs".to_owned(), "other".to_owned());
        b.plan.cells[1].coordinates.insert("n".to_owned(), "2".to_owned());
        for sample in &mut b.samples {
            sample.durability.asked = "none".to_owned();
        }
        let comparison = compare(&a, &b);
        let beginnings = [
            "the machine: ",
            "the suite's text: ",
            "the profile: quick and paper",
            "the rows of pairs: ",
            "the durability of load: fast n=1: durable and none",
        ];
        assert_eq!(comparison.differences.len(), beginnings.len(), "{:?}", comparison.differences);
        for (difference, beginning) in comparison.differences.iter().zip(beginnings) {
            assert!(difference.starts_with(beginning), "{difference}");
        }
        assert_eq!(comparison.only_in_a, ["load: slow n=1"]);
        assert_eq!(comparison.only_in_b, ["load: slow n=2"]);
    }
}
