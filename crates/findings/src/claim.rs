//! Claims: a study's sentences as predicates over our samples.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{
    CellFindings, ClaimFinding, ExperimentFindings, Interval, Measured, Summary, Verdict,
};
use crate::metric;
use crate::sample::Status;
use crate::stats;
use crate::suite::{Cell, Claim, Knee, Pick, Ratio};
use crate::wording;

/// A sweep's value is good enough from this share of the best on.
const KNEE_SHARE: f64 = 0.9;

/// What became of a claim: one finding, or one for each server that its cells are on.
pub(crate) fn evaluate(claim: &Claim, experiments: &[ExperimentFindings]) -> Vec<ClaimFinding> {
    let finding = |server: Option<&str>, measured, verdict, detail| ClaimFinding {
        id: claim.id.clone(),
        server: server.map(str::to_owned),
        verdict,
        measured,
        claimed: claimed(claim),
        detail,
    };
    let not_testable = |server, why| vec![finding(server, None, Verdict::NotTestable, why)];
    if let Some(why) = &claim.untestable {
        return not_testable(None, why.clone());
    }
    if claim.at_least.is_none() && claim.at_most.is_none() {
        return not_testable(None, "the suite gives it no bounds".to_owned());
    }
    let number = match (&claim.ratio, &claim.value, &claim.knee) {
        (Some(ratio), _, _) => Number::Ratio(ratio, claim.over.as_ref()),
        (None, Some(value), _) => Number::Value(value),
        (None, None, Some(knee)) => Number::Knee(knee),
        (None, None, None) => return not_testable(None, "the suite gives it no number".to_owned()),
    };
    let mut findings = Vec::new();
    for server in number.servers(experiments) {
        let server = server.as_deref();
        findings.push(match number.measure(server, experiments) {
            Ok(Found { measured, mut detail, noises }) => {
                let verdict = judge(claim, &measured, &noises, &mut detail);
                finding(server, Some(measured), verdict, detail)
            }
            Err(why) => finding(server, None, Verdict::NotTestable, why),
        });
    }
    findings
}

/// What a claim is about.
enum Number<'a> {
    Ratio(&'a Ratio, Option<&'a Ratio>),
    Value(&'a Pick),
    Knee(&'a Knee),
}

struct Found {
    measured: Measured,
    detail: String,
    /// The noise floors of a ratio's cells, as far as they are known.
    noises: Vec<Option<f64>>,
}

/// One side of a ratio, or a sweep: cells of an experiment.
struct Side<'a> {
    experiment: &'a str,
    cell: &'a Cell,
}

impl<'a> Side<'a> {
    fn of(pick: &'a Pick) -> Self {
        Self { experiment: &pick.experiment, cell: &pick.cell }
    }

    fn cells<'e>(&self, experiments: &'e [ExperimentFindings]) -> Vec<&'e CellFindings> {
        let experiment = experiments.iter().find(|experiment| experiment.id == self.experiment);
        let cells = experiment.map_or(&[][..], |experiment| &experiment.cells);
        // The second measurement of a cell is there for the noise.
        cells.iter().filter(|c| c.cell.twice.is_none() && c.cell.is_in(self.cell)).collect()
    }

    fn servers(&self, experiments: &[ExperimentFindings]) -> BTreeSet<String> {
        let cells = self.cells(experiments);
        cells.iter().filter_map(|cell| cell.cell.get("server")).map(str::to_owned).collect()
    }

    /// Whether the suite names the one server that it is on, whatever the other side's is.
    fn is_fixed(&self, servers: &BTreeSet<String>) -> bool {
        self.cell.contains_key("server") && servers.len() == 1
    }

    /// Its cells on that server, or without one, or on its own.
    fn cells_on<'e>(
        &self,
        server: Option<&str>,
        experiments: &'e [ExperimentFindings],
    ) -> Vec<&'e CellFindings> {
        let servers = self.servers(experiments);
        let mut cells = self.cells(experiments);
        if !servers.is_empty() && !self.is_fixed(&servers) {
            cells.retain(|cell| cell.cell.get("server") == server);
        }
        cells
    }

    fn words(&self) -> String {
        format!("{} of `{}`", wording::selector(self.cell), self.experiment)
    }
}

impl Number<'_> {
    fn sides(&self) -> Vec<Side<'_>> {
        match self {
            Number::Ratio(ratio, over) => {
                let over = over.iter().flat_map(|over| [&over.of, &over.to]);
                [&ratio.of, &ratio.to].into_iter().chain(over).map(Side::of).collect()
            }
            Number::Value(pick) => vec![Side::of(pick)],
            Number::Knee(knee) => {
                vec![Side { experiment: &knee.experiment, cell: &knee.cell }]
            }
        }
    }

    /// Where it is measured: on every server that one of the sides leaves open; once, where there are none.
    fn servers(&self, experiments: &[ExperimentFindings]) -> Vec<Option<String>> {
        let sides: Vec<(bool, BTreeSet<String>)> = self
            .sides()
            .iter()
            .map(|side| {
                let servers = side.servers(experiments);
                (side.is_fixed(&servers), servers)
            })
            .collect();
        let all = |fixed: bool| -> BTreeSet<&String> {
            sides.iter().filter(|side| side.0 == fixed).flat_map(|side| &side.1).collect()
        };
        let (open, fixed) = (all(false), all(true));
        if !open.is_empty() {
            return open.into_iter().cloned().map(Some).collect();
        }
        // Two different ones are a comparison of servers, which is about neither.
        match fixed.first() {
            Some(server) if fixed.len() == 1 => vec![Some((*server).clone())],
            _ => vec![None],
        }
    }

    fn measure(
        &self,
        server: Option<&str>,
        experiments: &[ExperimentFindings],
    ) -> Result<Found, String> {
        match self {
            Number::Ratio(ratio, None) => {
                let (of, to) =
                    (pick(&ratio.of, server, experiments)?, pick(&ratio.to, server, experiments)?);
                let measured = quotient(of.summary, to.summary).ok_or_else(|| zero(ratio))?;
                let detail = format!(
                    "{} of {} is {} times that of {}",
                    wording::metric(&ratio.of.metric, &ratio.to.metric),
                    of.cell.cell,
                    wording::measured(&measured),
                    to.cell.cell
                );
                Ok(Found { measured, detail, noises: vec![of.noise, to.noise] })
            }
            Number::Ratio(ratio, Some(over)) => {
                let upper =
                    (pick(&ratio.of, server, experiments)?, pick(&ratio.to, server, experiments)?);
                let lower =
                    (pick(&over.of, server, experiments)?, pick(&over.to, server, experiments)?);
                let measured = quotient_of_quotients(
                    (upper.0.summary, upper.1.summary),
                    (lower.0.summary, lower.1.summary),
                )
                .ok_or_else(|| zero(ratio))?;
                let detail = format!(
                    "{} of {} to {} is {} times that of {} to {}",
                    wording::metric(&ratio.of.metric, &ratio.to.metric),
                    upper.0.cell.cell,
                    upper.1.cell.cell,
                    wording::measured(&measured),
                    lower.0.cell.cell,
                    lower.1.cell.cell
                );
                let picked = [upper.0, upper.1, lower.0, lower.1];
                let noises = picked.map(|picked| picked.noise).to_vec();
                Ok(Found { measured, detail, noises })
            }
            Number::Value(value) => {
                let Picked { cell, summary, .. } = pick(value, server, experiments)?;
                let Summary { median, low, high, interval, .. } = *summary;
                let n = summary.values.len();
                let measured = Measured { value: median, low, high, n, interval };
                let detail = format!(
                    "`{}` of {} is {}",
                    value.metric,
                    cell.cell,
                    wording::measured(&measured)
                );
                Ok(Found { measured, detail, noises: Vec::new() })
            }
            Number::Knee(knee) => measure_knee(knee, server, experiments),
        }
    }
}

fn measure_knee(
    knee: &Knee,
    server: Option<&str>,
    experiments: &[ExperimentFindings],
) -> Result<Found, String> {
    let side = Side { experiment: &knee.experiment, cell: &knee.cell };
    let cells = side.cells_on(server, experiments);
    if cells.len() < 2 {
        return Err(format!("there is no sweep over {} in {}", knee.axis, side.words()));
    }
    let mut sweep: Vec<(f64, &Summary)> = Vec::new();
    for cell in cells {
        let value = cell.cell.get(&knee.axis).unwrap_or("nothing");
        let number: f64 = value
            .parse()
            .map_err(|_| format!("{}={value} of {} is no number", knee.axis, cell.cell))?;
        if sweep.iter().any(|(other, _)| *other == number) {
            return Err(format!("{} leaves more open than {}", side.words(), knee.axis));
        }
        sweep.push((number, summary_of(cell, &knee.metric)?));
    }
    sweep.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_higher_better = metric::is_better_when_higher(&knee.metric);
    let measured = knee_of(&sweep, is_higher_better);
    let detail = format!(
        "`{}` of {} is within 90 % of its best from {}={} on",
        knee.metric,
        wording::selector(&knee.cell),
        knee.axis,
        wording::measured(&measured)
    );
    Ok(Found { measured, detail, noises: Vec::new() })
}

/// A metric of one cell, and how noisy it is.
struct Picked<'e> {
    cell: &'e CellFindings,
    summary: &'e Summary,
    noise: Option<f64>,
}

fn pick<'e>(
    pick: &Pick,
    server: Option<&str>,
    experiments: &'e [ExperimentFindings],
) -> Result<Picked<'e>, String> {
    let side = Side::of(pick);
    let cells = side.cells_on(server, experiments);
    let on = server.map_or_else(String::new, |server| format!(" on {server}"));
    match *cells {
        [] => Err(format!("there is no cell {}{on}", side.words())),
        [cell] => {
            let summary = summary_of(cell, &pick.metric)?;
            let experiment = experiments.iter().find(|other| other.id == pick.experiment);
            let noise = experiment.and_then(|experiment| experiment.noise.get(&pick.metric));
            Ok(Picked { cell, summary, noise: noise.copied() })
        }
        [first, second, ..] => Err(format!(
            "{}{on} is {}: {} and {}, to begin with",
            side.words(),
            wording::count(cells.len(), "cell"),
            first.cell,
            second.cell
        )),
    }
}

/// Or why there is none: the cell, and how its samples ended.
fn summary_of<'e>(cell: &'e CellFindings, metric: &str) -> Result<&'e Summary, String> {
    if let Some(summary) = cell.metrics.get(metric) {
        return Ok(summary);
    }
    let label = &cell.cell;
    if let Some(why) = &cell.cell.unavailable {
        return Err(format!("{label} is unavailable: {why}"));
    }
    if cell.statuses.is_empty() {
        return Err(format!("{label} has no sample"));
    }
    if cell.statuses.contains_key(&Status::Ok) && !cell.metrics.is_empty() {
        return Err(format!("{label} has no `{metric}`"));
    }
    let statuses: Vec<&str> = cell.statuses.keys().map(|status| status.word()).collect();
    let why = cell.errors.first().map_or_else(String::new, |error| format!(": {error}"));
    Err(format!("{label} has no sample that is ok, but {}{why}", statuses.join(", ")))
}

/// `a` divided by `b`, in pairs. None of `a` may be something (failed requests); of `b` not.
fn quotient(a: &Summary, b: &Summary) -> Option<Measured> {
    stats::paired(a, b).or_else(|| {
        let shared = block_by_block(a, b, |a, b| (a >= 0.0 && b > 0.0).then(|| a / b))?;
        Some(measured_of(&shared))
    })
}

fn quotient_of_quotients(
    upper: (&Summary, &Summary),
    lower: (&Summary, &Summary),
) -> Option<Measured> {
    let divided = |(a, b)| block_by_block(a, b, |a, b| (a > 0.0 && b > 0.0).then(|| a / b));
    if let (Some(a), Some(b)) = (divided(upper), divided(lower)) {
        return stats::paired(&a, &b);
    }
    // Without shared blocks both intervals have to be given their worst.
    let (a, b) = (stats::paired(upper.0, upper.1)?, stats::paired(lower.0, lower.1)?);
    Some(Measured {
        value: a.value / b.value,
        low: a.low / b.high,
        high: a.high / b.low,
        n: a.n.min(b.n),
        interval: Interval::Range,
    })
}

/// Block by block; `None` if one is, or none is shared.
fn block_by_block(
    a: &Summary,
    b: &Summary,
    of: impl Fn(f64, f64) -> Option<f64>,
) -> Option<Summary> {
    let others: BTreeMap<u32, f64> =
        b.blocks.iter().copied().zip(b.values.iter().copied()).collect();
    let (mut values, mut blocks) = (Vec::new(), Vec::new());
    for (&value, &block) in a.values.iter().zip(&a.blocks) {
        let Some(&other) = others.get(&block) else { continue };
        values.push(of(value, other)?);
        blocks.push(block);
    }
    (!values.is_empty()).then(|| stats::summary(&values, &blocks))
}

fn measured_of(summary: &Summary) -> Measured {
    Measured {
        value: summary.median,
        low: summary.low,
        high: summary.high,
        n: summary.values.len(),
        interval: summary.interval,
    }
}

/// The knee of the medians, and between which values those of single blocks lie.
fn knee_of(sweep: &[(f64, &Summary)], is_higher_better: bool) -> Measured {
    let knee = |values: &[f64]| -> f64 {
        let best =
            values.iter().copied().reduce(if is_higher_better { f64::max } else { f64::min });
        let best = best.unwrap_or(0.0);
        let is_near = |value: f64| {
            if is_higher_better { value >= best * KNEE_SHARE } else { value * KNEE_SHARE <= best }
        };
        let first = values.iter().zip(sweep).find(|(value, _)| is_near(**value));
        first.map_or(f64::NAN, |(_, (axis, _))| *axis)
    };
    let medians: Vec<f64> = sweep.iter().map(|(_, summary)| summary.median).collect();
    let value = knee(&medians);
    let mut by_block: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (_, summary) in sweep {
        for (&value, &block) in summary.values.iter().zip(&summary.blocks) {
            by_block.entry(block).or_default().push(value);
        }
    }
    by_block.retain(|_, values| values.len() == sweep.len());
    let knees: Vec<f64> = by_block.values().map(|values| knee(values)).collect();
    if knees.is_empty() {
        return Measured { value, low: value, high: value, n: 0, interval: Interval::Range };
    }
    let summary = stats::summary(&knees, &by_block.keys().copied().collect::<Vec<_>>());
    let blocks = measured_of(&summary);
    Measured { value, low: blocks.low.min(value), high: blocks.high.max(value), ..blocks }
}

/// A ratio that can't be told from 1 proves nothing of a claim near 1, but a claim that is further off than noise reaches is refuted by it.
/// Where the noise is not known, no difference is proven.
fn judge(
    claim: &Claim,
    measured: &Measured,
    noises: &[Option<f64>],
    detail: &mut String,
) -> Verdict {
    let least = claim.at_least.unwrap_or(f64::NEG_INFINITY);
    let most = claim.at_most.unwrap_or(f64::INFINITY);
    let noise = noises.iter().flatten().copied().fold(0.0, f64::max);
    let is_outside = |low: f64, high: f64| high < least || low > most;
    let says_different = claim.ratio.is_some() && (least > 1.0 || most < 1.0);
    let distance = measured.value.max(1.0 / measured.value) - 1.0;
    if says_different && noises.contains(&None) {
        detail.push_str("; how far two equal cells lie apart is not known");
        return Verdict::Indistinguishable;
    }
    if says_different && distance <= noise {
        if is_outside(measured.low / (1.0 + noise), measured.high * (1.0 + noise)) {
            return Verdict::NotReproduced;
        }
        detail.push_str(&format!(
            "; two equal cells lie as far apart (noise {:.1} %)",
            noise * 100.0
        ));
        return Verdict::Indistinguishable;
    }
    if measured.low >= least && measured.high <= most {
        return Verdict::Reproduced;
    }
    if is_outside(measured.low, measured.high) {
        return Verdict::NotReproduced;
    }
    detail.push_str("; that lies across the bound");
    Verdict::Indistinguishable
}

fn zero(ratio: &Ratio) -> String {
    format!(
        "{} has values that are not above 0, and nothing can be divided by them",
        wording::metric(&ratio.of.metric, &ratio.to.metric)
    )
}

fn claimed(claim: &Claim) -> String {
    let least = claim.at_least.map(|bound| format!("at least {}", wording::number(bound)));
    let most = claim.at_most.map(|bound| format!("at most {}", wording::number(bound)));
    [least, most].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
