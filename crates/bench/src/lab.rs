//! Takes one sample of one cell: database, workers, phases, comparison, clearing up.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use crate::clock::clock_ns;
use crate::crew::{Crew, Trouble, WorkerProgram};
use crate::durability::{keeps, promised};
use crate::fill::Words;
use crate::fleet::{self, Fleet, Way};
use crate::latency::{Histogram, LogEntry, write_log};
use crate::material::Material;
use crate::matrix::{Asked, NO_DATABASE, experiment_of};
use crate::meter::Meter;
use crate::phase::{self, is_done_in, steadiness, summed};
use crate::run::{Laboratory, Taken, Watcher};
use crate::task::{Cause, Failed, Hello, Outcome, SqlTask, Task};
use inrush_core::error::{Error, Kind, Result, without_secrets};
use inrush_findings::record::{PlannedCell, TargetRecord};
use inrush_findings::sample::{DurabilityRead, PhaseSample, Point, Sample, Status, Verified};
use inrush_findings::suite::{Experiment, Phase, Profile, Suite, Target};
use inrush_machine::{self as machine, Device};

/// Databases of cells, and the workers that write into them.
pub(super) struct Lab<'a> {
    pub(super) suite: &'a Suite,
    pub(super) profile: &'a Profile,
    pub(super) asked: &'a [Asked],
    pub(super) worker: &'a WorkerProgram,
    /// A folder of the run's own, on the disk that is measured.
    pub(super) folder: PathBuf,
    pub(super) material: Material<'a>,
    pub(super) fleet: Fleet,
    pub(super) stop: &'a AtomicBool,
    pub(super) seed: u64,
    /// What is known of each target on each server, and why it can't keep its promise, if so.
    pub(super) targets: BTreeMap<(String, Option<String>), (TargetRecord, Option<String>)>,
    /// Whether there are more of them than were kept.
    pub(super) has_news: bool,
    /// Rows a second that a load could do if the database took no time, by what is loaded how.
    pub(super) ceilings: HashMap<String, f64>,
}

/// Why a sample is not ok.
struct Fault {
    status: Status,
    error: String,
}

/// A client that is busy for more than this share of the time is what is measured.
const CLIENT_BUSY_MAX: f64 = 0.90;
/// And so it is when the database takes more than this share of what the client could give.
const CEILING_SHARE_MAX: f64 = 1.0 / 3.0;
/// Shorter phases say nothing of how busy a client is: the kernel counts in hundredths of a second.
const BUSY_FROM_NS: u64 = 200_000_000;
/// Requests for the time of a round trip.
const PINGS: u32 = 1000;

/// The flag of samples for which the server can't be used that was asked for.
pub const NO_SERVER: &str = "no-server";

/// What a sample has collected so far.
#[derive(Default)]
struct Collected {
    /// When it began, by the workers' clock.
    began_ns: u64,
    phases: Vec<PhaseSample>,
    verify: Option<Verified>,
    series: Vec<Point>,
    histograms: Vec<LogEntry>,
    flags: Vec<String>,
    sql: Vec<String>,
    read_back: BTreeMap<String, String>,
    /// How it was verified, in the order of how much that says.
    verified: BTreeSet<Verification>,
}

/// How a sample can be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verification {
    /// Every value is compared with what was generated.
    Values,
    /// What requests added up is compared with what is there.
    Counters,
    /// A statement's answer is compared with what it has to be.
    Answer,
    /// A load compares the number of its rows with the table's.
    Count,
}

impl Verification {
    fn word(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Counters => "counters",
            Self::Answer => "answer",
            Self::Count => "count",
        }
    }

    /// How a phase is verified once it has gone well.
    fn of(phase: &Phase) -> impl Iterator<Item = Self> {
        let has_counters = phase.mix.as_ref().is_some_and(|mix| !mix.check.is_empty());
        let all = [
            (Self::Values, phase.verify.is_some()),
            (Self::Counters, has_counters),
            (Self::Answer, phase.expect.is_some()),
            (Self::Count, phase.load.is_some()),
        ];
        all.into_iter().filter_map(|(verification, is_one)| is_one.then_some(verification))
    }
}

impl Laboratory for Lab<'_> {
    fn take(&mut self, cell: &PlannedCell, id: &str) -> Taken {
        let began = Instant::now();
        let (started, wall) = (super::clock::now(), SystemTime::now());
        let load_before = machine::load_average().unwrap_or_default();
        // Workers and private servers are children of ours.
        let before = Meter::of(&[std::process::id()]);
        let mut collected = Collected { began_ns: clock_ns(), ..Collected::default() };
        let fault = self.measure(cell, id, &mut collected).err();
        let foreign_cpu = Meter::of(&[std::process::id()]).since(&before).foreign_cpu;
        // A server of the user's is a stranger to the machine's bookkeeping.
        let is_ours = self.asked.iter().all(|asked| asked.url.is_none());
        let foreign_cpu = foreign_cpu.filter(|_| is_ours).unwrap_or_default();
        // A count that the load itself takes is better than nothing, and no comparison with what was generated.
        let is_compared = collected.verified.iter().any(|way| *way != Verification::Count);
        if fault.is_none() && !is_compared {
            collected.flags.push("unverified".to_owned());
        }
        let words: Vec<&str> = collected.verified.iter().map(|way| way.word()).collect();
        let verified = match words.as_slice() {
            _ if fault.is_some() => None,
            [] => Some("nothing".to_owned()),
            words => Some(words.join(", ")),
        };
        let mut status = fault.as_ref().map_or(Status::Ok, |fault| fault.status);
        if status == Status::Ok && foreign_cpu > self.profile.foreign_cpu_max {
            status = Status::Contended;
        }
        let target = &self.suite.target[cell.get("target").unwrap_or_default()];
        let read_back = collected.read_back;
        collected.flags.sort();
        collected.flags.dedup();
        let sample = Sample {
            v: 1,
            sample: id.to_owned(),
            cell: cell.id.clone(),
            block: 0,
            order: 0,
            warmup: false,
            status,
            flags: collected.flags,
            error: fault.map(|fault| redacted(&fault.error)),
            started,
            seconds: began.elapsed().as_secs_f64(),
            phases: collected.phases,
            verify: collected.verify,
            verified,
            durability: DurabilityRead { asked: target.durability.to_string(), read_back },
            load_before,
            foreign_cpu,
            sql: collected.sql,
        };
        let histograms = match collected.histograms.as_slice() {
            [] => String::new(),
            entries => write_log(wall, entries),
        };
        let records = || self.targets.values().map(|(record, _)| record.clone()).collect();
        let targets = std::mem::take(&mut self.has_news).then(records);
        Taken { sample, series: collected.series, histograms, targets }
    }
}

/// What the phases of one sample share.
struct Bench<'c> {
    cell: &'c PlannedCell,
    experiment: &'c Experiment,
    target: &'c Target,
    way: Way,
    /// Each worker's.
    words: Vec<Words>,
    deadline: Instant,
}

impl Lab<'_> {
    fn measure(&mut self, cell: &PlannedCell, id: &str, out: &mut Collected) -> Result<(), Fault> {
        let suite = self.suite;
        let experiment = experiment_of(suite, cell);
        let target = &suite.target[cell.get("target").unwrap_or_default()];
        let work = self.folder.join("work");
        remove(&work);
        fs::create_dir_all(&work).map_err(|error| Fault::of_disk(&work, &error))?;
        let way = self.way(target, cell).inspect_err(|_| out.flags.push(NO_SERVER.to_owned()))?;
        let plain = self.words(cell, &way, &work, None);
        let workers = plain.count(&experiment.workers)?.max(1);
        let words: Vec<Words> = (1..=workers)
            .map(|worker| self.words(cell, &way, &work, Some((worker, workers, experiment.shared))))
            .collect();
        let hellos = (0u64..)
            .zip(&words)
            .map(|(worker, words)| self.hello(target, words, id, worker))
            .collect::<Result<Vec<_>>>()?;
        self.acquaint(target, cell, &way, &hellos[0])?;
        // A look at a database that is a file has made the file.
        remove(&work);
        fs::create_dir_all(&work).map_err(|error| Fault::of_disk(&work, &error))?;
        if !way.url.is_empty() {
            self.fleet.empty(&way, self.stop)?;
        }
        let deadline = Instant::now() + Duration::from_secs(self.profile.sample_s);
        let mut crew = Crew::start(self.worker, &hellos).map_err(Fault::from)?;
        let bench = Bench { cell, experiment, target, way, words, deadline };
        for phase in experiment.phase.iter().filter(|phase| is_done_in(phase, cell)) {
            self.phase(&bench, phase, &mut crew, out)?;
        }
        self.ceiling(&bench, &mut crew, out);
        drop(crew);
        remove(&work);
        Ok(())
    }

    /// Has all servers started that these cells need. Those that don't start are told of in the samples.
    pub(super) fn launch(&mut self, cells: &[PlannedCell], watcher: &dyn Watcher) {
        let is_here =
            |cell: &&PlannedCell| cell.unavailable.is_none() && cell.get("server").is_some();
        let mut told = BTreeSet::new();
        for cell in cells.iter().filter(is_here) {
            if self.stop.load(Relaxed) {
                return;
            }
            let (name, server) = (cell.get("target").unwrap_or_default(), cell.get("server"));
            if told.insert((name, server)) {
                watcher.preparing(&format!("starting {} for {name}", server.unwrap_or_default()));
            }
            let _ = self.way(&self.suite.target[name], cell);
        }
    }

    /// The way to the cell's database.
    fn way(&mut self, target: &Target, cell: &PlannedCell) -> Result<Way, Fault> {
        let Some(server) = cell.get("server") else { return Ok(Way::default()) };
        let unavailable =
            |error: Error| Fault { status: Status::Unavailable, error: error.to_string() };
        let asked = self.asked.iter().find(|asked| asked.name == server).ok_or_else(|| {
            unavailable(Error::usage(format!("no server {server} was asked for")))
        })?;
        let words = self.words(cell, &Way::default(), &self.folder, None);
        let spec = target.server.clone().unwrap_or_default();
        let settings = fleet::settings(&spec, server, &|value| words.value(value))?;
        self.fleet.way(target, asked, settings, &self.folder, self.stop).map_err(unavailable)
    }

    /// What placeholders stand for; `worker` is its number, how many there are, and whether they share.
    fn words(
        &self,
        cell: &PlannedCell,
        way: &Way,
        work: &Path,
        worker: Option<(u64, u64, bool)>,
    ) -> Words {
        let (worker, workers, shared) = worker.unwrap_or((1, 1, true));
        let table = if shared { "bench".to_owned() } else { format!("bench_{worker}") };
        let target = self.suite.target.get(cell.get("target").unwrap_or_default());
        let family = target.map_or("", |target| target.family.as_str());
        let memory = target.is_some_and(|target| target.memory);
        let ending = if family == "sqlite" { "db" } else { family };
        let file = work.join(format!("{table}.{ending}")).display().to_string();
        let url = match (way.url.as_str(), family) {
            ("", NO_DATABASE) => String::new(),
            ("", family @ ("sqlite" | "duckdb")) if memory => format!("{family}::memory:bench"),
            ("", family) => format!("{family}:{file}"),
            (url, _) => url.to_owned(),
        };
        let files = way.files.as_deref().unwrap_or(work).display().to_string();
        let pairs = [
            ("table", table),
            ("worker", worker.to_string()),
            ("workers", workers.to_string()),
            ("dir", work.display().to_string()),
            ("db", file),
            ("url", url),
            ("socket", way.socket.clone()),
            ("port", way.port.to_string()),
            ("user", way.user.clone()),
            ("database", way.database.clone()),
            ("files", files),
            ("python", python()),
        ];
        let own = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
        Words::of(self.suite, self.profile, cell, own.chain(self.material.words()))
    }

    fn hello(&self, target: &Target, words: &Words, id: &str, worker: u64) -> Result<Hello> {
        let read_back = |(name, value): (&String, &_)| Ok((name.clone(), words.value(value)?));
        Ok(Hello {
            url: words.fill("{url}")?,
            connect: target.connect.iter().map(|sql| words.fill(sql)).collect::<Result<_>>()?,
            read_back: target.read_back.iter().map(read_back).collect::<Result<_>>()?,
            seed: xxhash_rust::xxh3::xxh3_64_with_seed(id.as_bytes(), self.seed ^ worker),
        })
    }

    /// Gets to know a target at its first sample, and sees whether its settings keep what it promises.
    fn acquaint(
        &mut self,
        target: &Target,
        cell: &PlannedCell,
        way: &Way,
        hello: &Hello,
    ) -> Result<(), Fault> {
        let name = cell.get("target").unwrap_or_default().to_owned();
        let server = cell.get("server").map(str::to_owned);
        let key = (name.clone(), server.clone());
        if !self.targets.contains_key(&key) {
            let mut record = TargetRecord {
                target: name,
                server,
                transport: target.transport.word().to_owned(),
                durability: target.durability.to_string(),
                ..TargetRecord::default()
            };
            let mut broken = None;
            if target.family != NO_DATABASE {
                let deadline = Instant::now() + Duration::from_secs(60);
                let mut crew = Crew::start(self.worker, std::slice::from_ref(hello))?;
                let known = self.one(&mut crew, Task::Settings, deadline)?;
                record.engine = known.engine;
                record.settings = known.settings;
                if !way.url.is_empty() {
                    let pinged = self.one(&mut crew, Task::Ping(PINGS), deadline)?;
                    let histogram = pinged.latency.get("ping").map(|text| Histogram::decode(text));
                    record.round_trip = histogram.and_then(Result::ok).map(|times| times.latency());
                    let words = self.words(cell, way, &self.folder, None);
                    let spec = target.server.clone().unwrap_or_default();
                    let server = record.server.clone().unwrap_or_default();
                    let set = fleet::settings(&spec, &server, &|value| words.value(value))?;
                    record.set = set.into_iter().collect();
                }
                broken = promised(&target.family, &record.settings)
                    .filter(|is| !keeps(*is, target.durability))
                    .map(|is| {
                        let promise = target.durability;
                        format!("the suite says that target {} is {promise}, but its settings make it {is}", record.target)
                    });
            }
            self.targets.insert(key.clone(), (record, broken));
            self.has_news = true;
        }
        // Loads see to their durability themselves, and refuse what they can't keep.
        let experiment = experiment_of(self.suite, cell);
        let by_statements = |phase: &&Phase| {
            let is_a_load = phase.load.is_some();
            phase.is_timed() && is_done_in(phase, cell) && !is_a_load
        };
        match &self.targets[&key].1 {
            Some(broken) if experiment.phase.iter().any(|phase| by_statements(&phase)) => {
                Err(Fault { status: Status::Incorrect, error: broken.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Has the first worker alone do something.
    fn one(&self, crew: &mut Crew, task: Task, deadline: Instant) -> Result<Outcome, Fault> {
        let outcomes = crew.run(vec![Some(task)], deadline, self.stop, || (), |_, _, _| ())?;
        let outcome = outcomes.into_iter().next().flatten().unwrap_or_default();
        match outcome.failure {
            Some(failed) => Err(Fault::of_task(failed)),
            None => Ok(outcome),
        }
    }

    fn phase(
        &mut self,
        bench: &Bench<'_>,
        phase: &Phase,
        crew: &mut Crew,
        out: &mut Collected,
    ) -> Result<(), Fault> {
        let workers = bench.words.len() as u64;
        let tasks = bench
            .words
            .iter()
            .enumerate()
            .map(|(worker, words)| {
                if phase.once && worker > 0 {
                    return Ok(None);
                }
                let durability = bench.target.durability;
                let shared = if phase.once { 1 } else { workers };
                let material = &mut self.material;
                phase::task(phase, words, durability, shared, material).map(Some)
            })
            .collect::<Result<Vec<_>>>()?;
        let device = Device::of(&self.folder);
        let server = bench.way.pid.map(|pid| vec![pid]);
        let mut before = None;
        let mut points = Vec::new();
        if phase.is_timed() {
            super::ground::settle(&self.folder);
        }
        let snapshot =
            || (server.as_deref().map(Meter::of), device.as_ref().and_then(Device::written_bytes));
        let outcomes = crew.run(
            tasks,
            bench.deadline,
            self.stop,
            || before = Some(snapshot()),
            |worker, at_ns, done| {
                points.push((worker as u32 + 1, at_ns, done));
            },
        );
        let outcomes = outcomes.map_err(|trouble| Fault::from(trouble).during(phase))?;
        let after = snapshot();
        let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
        if let Some(failed) = outcomes.iter().find_map(|outcome| outcome.failure.clone()) {
            return Err(Fault::of_phase(phase, failed));
        }
        let rows = phase.rows.as_ref().map(|rows| bench.words[0].count(rows)).transpose()?;
        let mut found = summed(phase, &outcomes, rows);
        if let Some((tree, written)) = before {
            if let (Some(tree), Some(now)) = (tree, after.0) {
                let used = now.since(&tree);
                found.resources.server_cpu_us = used.cpu_us;
                found.resources.server_memory_bytes = used.memory.map(|memory| memory.bytes);
                found.resources.write_bytes += used.write_bytes.unwrap_or(0);
            }
            found.resources.device_write_bytes =
                written.zip(after.1).map(|(before, now)| now.saturating_sub(before));
        }
        let start = outcomes.iter().map(|outcome| outcome.start_ns).min().unwrap_or(0);
        let series: Vec<Point> = points
            .into_iter()
            .map(|(worker, at_ns, done)| Point {
                phase: phase.id.clone(),
                worker,
                at_ns: at_ns.saturating_sub(start),
                done,
            })
            .collect();
        let ends = (1_u32..).zip(&outcomes).map(|(worker, outcome)| Point {
            phase: phase.id.clone(),
            worker,
            at_ns: outcome.ack_ns.saturating_sub(start),
            done: outcome.rows.max(outcome.requests),
        });
        let series: Vec<Point> = series.into_iter().chain(ends).collect();
        found.steadiness = steadiness(&series, found.ack_ns);
        out.series.extend(series);
        for (worker, outcome) in (1_u32..).zip(&outcomes) {
            for (operation, text) in &outcome.latency {
                // Our own worker wrote it.
                let Ok(histogram) = Histogram::decode(text) else { continue };
                out.histograms.push(LogEntry {
                    tag: format!("worker={worker};phase={};op={operation}", phase.id),
                    start: Duration::from_nanos(outcome.start_ns.saturating_sub(out.began_ns)),
                    length: Duration::from_nanos(outcome.ack_ns.saturating_sub(outcome.start_ns)),
                    histogram,
                });
            }
        }
        if phase.is_timed() && out.sql.len() < 3 {
            out.sql.extend(outcomes.iter().flat_map(|outcome| outcome.sql.clone()).take(3));
        }
        for outcome in &outcomes {
            out.read_back.extend(outcome.read_back.clone());
        }
        self.mark_busy(bench, &found, out);
        if let Some(load) = &phase.load
            && let Some(rows) = self.material.rows_of(&load.dataset)
            && found.timed
            && found.rows < rows * outcomes.len() as u64
        {
            found.partial = true;
            out.flags.push("partial".to_owned());
        }
        if phase.size.is_some() {
            found.bytes = Some(
                outcomes
                    .iter()
                    .filter_map(|outcome| outcome.value.as_ref()?.parse::<u64>().ok())
                    .sum(),
            );
        }
        let comparison = phase.verify.is_some().then_some(found.ack_ns);
        out.phases.push(found);
        out.verified.extend(Verification::of(phase));
        if let Some(took_ns) = comparison {
            return verified(&outcomes, took_ns, out);
        }
        for (outcome, words) in outcomes.iter().zip(&bench.words) {
            if let Some(expect) = &phase.expect {
                let expected = words.value(expect)?;
                let is = outcome.value.clone().unwrap_or_else(|| "NULL".to_owned());
                if !is_same(&is, &expected) {
                    return Err(Fault::incorrect(format!(
                        "phase {}: the answer is {is}, not {expected}",
                        phase.id
                    )));
                }
            }
        }
        let failed: u64 = outcomes.iter().flat_map(|outcome| outcome.failed.values()).sum();
        let is_done = outcomes.iter().any(|outcome| outcome.requests > 0);
        if let Some(why) = outcomes.iter().find_map(|outcome| outcome.failed.keys().next())
            && !is_done
        {
            let error = format!("phase {}: all {failed} requests failed: {why}", phase.id);
            return Err(Fault { status: Status::Error, error });
        }
        self.check(bench, phase, crew, &outcomes)
    }

    /// Asks the database whether everything is there that was acknowledged.
    fn check(
        &mut self,
        bench: &Bench<'_>,
        phase: &Phase,
        crew: &mut Crew,
        outcomes: &[Outcome],
    ) -> Result<(), Fault> {
        for check in phase.mix.iter().flat_map(|mix| &mix.check) {
            let words = &bench.words[0];
            let (expected, unknown) = phase::expected_of(check, words, outcomes)?;
            let statements = words.statements(&check.sql)?;
            let task = Task::Sql(SqlTask { statements, repeat: None, value: true });
            let answer = self.one(crew, task, bench.deadline)?.value;
            let is: f64 = answer.as_deref().unwrap_or("0").parse().unwrap_or(f64::NAN);
            let (least, most) = (expected as f64, (expected + unknown) as f64);
            if !(least..=most).contains(&is) {
                let about = &check.about;
                return Err(Fault::incorrect(format!(
                    "{about}: {is} are there, {expected} were acknowledged"
                )));
            }
        }
        Ok(())
    }

    fn mark_busy(&self, bench: &Bench<'_>, found: &PhaseSample, out: &mut Collected) {
        let has_server = !bench.way.url.is_empty();
        let wall_us = (found.ack_ns / 1000).max(1) as f64;
        let processors = machine::processors() as f64;
        let busy = found.resources.client_cpu_us as f64 / (wall_us * processors);
        // A database in our own process has no client but itself.
        let is_long = found.ack_ns >= BUSY_FROM_NS;
        if found.timed && has_server && is_long && busy > CLIENT_BUSY_MAX {
            out.flags.push("client-bound".to_owned());
        }
    }

    /// How fast the cell's loads could be if the database took no time; once for each way of loading.
    fn ceiling(&mut self, bench: &Bench<'_>, crew: &mut Crew, out: &mut Collected) {
        if bench.way.url.is_empty() {
            return;
        }
        let loads = bench
            .experiment
            .phase
            .iter()
            .filter(|phase| phase.is_timed() && is_done_in(phase, bench.cell));
        for (phase, load) in loads.filter_map(|phase| Some((phase, phase.load.as_ref()?))) {
            let words = &bench.words[0];
            let Ok(task) = phase::load(load, words, bench.target.durability, &mut self.material)
            else {
                continue;
            };
            let key = format!("{} {} {:?} {:?}", task.file, bench.cell, task.strategy, task.knobs);
            if !self.ceilings.contains_key(&key) {
                // What it can't rehearse, such as a way that only makes tables, has no ceiling.
                let Ok(outcome) = self.one(crew, Task::Ceiling(task), bench.deadline) else {
                    continue;
                };
                let took_ns = outcome.ack_ns.saturating_sub(outcome.start_ns).max(1);
                self.ceilings.insert(key.clone(), outcome.rows as f64 * 1e9 / took_ns as f64);
            }
            let ceiling = self.ceilings[&key];
            let Some(found) = out.phases.iter_mut().find(|found| found.id == phase.id) else {
                continue;
            };
            found.ceiling_rows_per_s = Some(ceiling);
            let each = found.worker_rates.iter().copied().fold(0.0, f64::max);
            if each > ceiling * CEILING_SHARE_MAX {
                out.flags.push("client-bound".to_owned());
            }
        }
    }
}

/// What the workers' comparisons come to.
fn verified(outcomes: &[Outcome], took_ns: u64, out: &mut Collected) -> Result<(), Fault> {
    let mut verified = out.verify.take().unwrap_or(Verified { ok: true, ..Verified::default() });
    verified.seconds += took_ns as f64 / 1e9;
    for outcome in outcomes {
        verified.rows += outcome.rows;
        verified.hash.clone_from(&outcome.hash);
        verified.differences.extend(outcome.differences.clone());
    }
    verified.ok = verified.differences.is_empty();
    let fault = (!verified.ok).then(|| Fault::incorrect(verified.differences.join("; ")));
    out.verify = Some(verified);
    fault.map_or(Ok(()), Err)
}

/// Whether two answers are the same: as text, or as numbers (`10` and `10.0000`).
fn is_same(is: &str, expected: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    is == expected || number(is).is_some_and(|is| number(expected) == Some(is))
}

/// An error's text without what may be a password.
fn redacted(text: &str) -> String {
    text.split(' ').map(without_secrets).collect::<Vec<_>>().join(" ")
}

/// The Python that runs programs in Python.
fn python() -> String {
    let said = std::env::var("INRUSH_PYTHON").ok();
    said.filter(|python| !python.is_empty()).unwrap_or_else(|| "python3".to_owned())
}

fn remove(folder: &Path) {
    // What can't be removed now is removed with the run's folder.
    let _ = fs::remove_dir_all(folder);
}

impl Fault {
    fn incorrect(error: String) -> Self {
        Self { status: Status::Incorrect, error }
    }

    /// The same, and where it happened.
    fn during(mut self, phase: &Phase) -> Self {
        self.error = format!("phase {}: {}", phase.id, self.error);
        self
    }

    fn of_disk(path: &Path, error: &std::io::Error) -> Self {
        Self { status: Status::Error, error: format!("{}: {error}", path.display()) }
    }

    fn of_task(failed: Failed) -> Self {
        let status = match failed.cause {
            Cause::Interrupted => Status::Interrupted,
            Cause::Missing => Status::Unavailable,
            Cause::Promise => Status::Incorrect,
            Cause::Usage => Status::Unsupported,
            Cause::Other => Status::Error,
        };
        Self { status, error: failed.what }
    }

    /// What a database refuses to do at all it refuses before anything is timed, or where the suite says that it may.
    fn of_phase(phase: &Phase, failed: Failed) -> Self {
        let refused =
            phase.may_refuse && !matches!(failed.cause, Cause::Interrupted | Cause::Promise);
        let error = format!("phase {}: {}", phase.id, failed.what);
        let status = if refused { Status::Unsupported } else { Self::of_task(failed).status };
        Self { status, error }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            Kind::Interrupted => Status::Interrupted,
            _ => Status::Error,
        };
        Self { status, error: error.to_string() }
    }
}

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        let (status, error) = match trouble {
            Trouble::Late => (Status::Timeout, "it took longer than a sample may".to_owned()),
            Trouble::Stopped => (Status::Interrupted, "interrupted".to_owned()),
            Trouble::Died(status) => {
                use std::os::unix::process::ExitStatusExt as _;
                let killed = status.and_then(|status| status.signal()) == Some(libc::SIGKILL);
                let how = status.map_or("without a word".to_owned(), |status| status.to_string());
                // Nobody else kills our workers.
                let status = if killed { Status::Oom } else { Status::Error };
                (status, format!("a worker ended: {how}"))
            }
            Trouble::Lost(error) => (Status::Error, format!("a worker could not be had: {error}")),
        };
        Self { status, error }
    }
}
