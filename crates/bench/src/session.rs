//! A run from the request to the finished folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::crew::WorkerProgram;
use crate::fleet::{Fleet, asked};
use crate::ground::Ground;
use crate::lab::Lab;
use crate::machine;
use crate::material::Material;
use crate::matrix::{Asked, cells, experiment_of};
use crate::run::{Stopped, Task, Watcher, run};
use crate::suites;
use inrush_core::error::{Error, Result};
use inrush_findings::analysis::analyse;
use inrush_findings::finding::Findings;
use inrush_findings::index;
use inrush_findings::record::{Manifest, PlannedCell, RunPlan, TargetRecord};
use inrush_findings::report;
use inrush_findings::sample::Sample;
use inrush_findings::store::RunFolder;
use inrush_findings::suite::{Profile, ServerSpec, Suite, Value};
use inrush_servers::Installed;

/// A run as the user asked for it.
#[derive(Clone, Debug, Default)]
pub struct BenchRequest {
    /// The name of a suite that is built in, or the path of one.
    pub suite: String,
    /// One of its sizes.
    pub profile: String,
    /// Servers by name, or URLs.
    pub servers: Vec<String>,
    /// Where runs are kept.
    pub results: PathBuf,
    /// Where databases and rows lie while it runs; `None` for the system's folder for temporary files.
    pub place: Option<PathBuf>,
    /// What the order of samples comes from; `None` for one of its own.
    pub seed: Option<u64>,
    /// Only cells whose experiment and coordinates hold all of these words.
    pub only: Vec<String>,
    /// Replaces what the profile says: blocks at least and at most, seconds.
    pub blocks: Option<(u32, u32)>,
    /// See `blocks`.
    pub budget_s: Option<u64>,
    /// Values that axes keep.
    pub axes: Vec<(String, Vec<String>)>,
    /// Engines' libraries that the user names, by the target that is to open them.
    pub libraries: BTreeMap<String, PathBuf>,
    /// How the command was called, without the program.
    pub command: Vec<String>,
}

/// What a run would do.
pub struct Prepared {
    /// The suite, with its profile narrowed as the request wants it.
    pub suite: Suite,
    /// The profile's name.
    pub profile: String,
    /// The servers that were asked for.
    pub asked: Vec<Asked>,
    /// All cells.
    pub cells: Vec<PlannedCell>,
    /// Rows of each dataset that is needed, and about how many bytes they are as text.
    pub datasets: Vec<(String, u64, u64)>,
    /// Bytes that the disk has to have at most: rows, databases, logs.
    pub disk_bytes: u64,
    /// Bytes that it has free.
    pub free_bytes: u64,
    /// Servers that are installed here, by the names to ask by: cells can't be measured only because none was asked for.
    pub offers: Vec<&'static str>,
}

impl Prepared {
    /// The chosen size.
    pub fn size(&self) -> &Profile {
        &self.suite.profile[&self.profile]
    }

    /// Cells that can be measured here.
    pub fn measurable(&self) -> usize {
        self.cells.iter().filter(|cell| cell.unavailable.is_none()).count()
    }

    /// Cells that can't be measured as no server was asked for that they could be measured on.
    pub fn without_server(&self) -> impl Iterator<Item = &PlannedCell> {
        without_server(&self.suite, &self.cells)
    }

    /// Whether another process could go on with the run: of a server of the user's the URL isn't kept.
    pub fn can_resume(&self) -> bool {
        self.asked.iter().all(|asked| asked.url.is_none())
    }

    /// # Errors
    /// When the disk is too small.
    pub fn check_disk(&self) -> Result<()> {
        let wanted = self.disk_bytes.saturating_add(self.disk_bytes / 10 * 3);
        if wanted <= self.free_bytes {
            return Ok(());
        }
        let mb = |bytes: u64| bytes / 1_000_000;
        Err(Error::target(format!(
            "the run may take {} MB of disk, and there are {} MB free",
            mb(self.disk_bytes),
            mb(self.free_bytes)
        ))
        .advise("--place names another folder for it")
        .advise("a smaller --profile takes less"))
    }
}

/// Looks at a request without doing anything.
///
/// # Errors
/// When the suite can't be read or has mistakes, or something that is named isn't there.
pub fn prepare(request: &BenchRequest) -> Result<Prepared> {
    index::expect_own(&request.results)
        .map_err(|error| error.advise("or keep results in another folder: --results DIR"))?;
    let mut suite = suites::load(&request.suite)?;
    let name = request.profile.clone();
    let Some(profile) = suite.profile.get_mut(&name) else {
        let names: Vec<&str> = suite.profile.keys().map(String::as_str).collect();
        return Err(Error::usage(format!("suite {} has no profile '{name}'", suite.id))
            .advise(format!("use one of {}", names.join(", "))));
    };
    if let Some((min, max)) = request.blocks {
        (profile.blocks_min, profile.blocks_max) = (min, max);
    }
    if let Some(budget) = request.budget_s {
        profile.budget_s = budget;
    }
    for (axis, values) in &request.axes {
        let all: Vec<&Value> = suite
            .experiment
            .iter()
            .filter_map(|experiment| experiment.axes.get(axis))
            .flatten()
            .collect();
        if all.is_empty() {
            return Err(Error::usage(format!("suite {} has no axis '{axis}'", suite.id)));
        }
        let has = |text: &String| all.iter().any(|value| value.to_string() == *text);
        if let Some(unknown) = values.iter().find(|value| !has(value)) {
            let known: Vec<String> = all.iter().map(ToString::to_string).collect();
            return Err(Error::usage(format!("axis {axis} has no value '{unknown}'"))
                .advise(format!("use some of {}", known.join(", "))));
        }
        let kept: Vec<Value> =
            all.into_iter().filter(|value| values.contains(&value.to_string())).cloned().collect();
        profile.axes.insert(axis.clone(), kept);
    }
    let profile = profile.clone();
    let mut servers = Vec::new();
    for text in &request.servers {
        servers.extend(asked(text)?);
    }
    let mut names = BTreeSet::new();
    servers.retain(|server: &Asked| names.insert((server.name.clone(), server.url.clone())));
    let of_users = |family: &str| {
        servers.iter().filter(|one| one.url.is_some() && one.family == family).count()
    };
    if let Some(twice) = servers.iter().find(|server| of_users(&server.family) > 1) {
        let family = &twice.family;
        return Err(Error::usage(format!(
            "two servers of your own for {family}: one run measures one of them"
        )));
    }
    let wanted = |cell: &PlannedCell| {
        let shown = format!("{} {cell}", cell.experiment);
        request.only.iter().all(|word| shown.contains(word.as_str()))
    };
    let lacking = lacking(&suite, &request.libraries)?;
    let cells = cells(&suite, &profile, &servers, &lacking, &wanted)?;
    if cells.is_empty() {
        return Err(Error::usage(format!("no cell of {} is left", suite.id))
            .advise("--only takes words of an experiment's id, a target, a server or axis=value"));
    }
    let place = request.place.clone().unwrap_or_else(std::env::temp_dir);
    let material = Material::new(&suite, &profile, &place);
    let datasets = material
        .wanted(&cells)
        .into_iter()
        .map(|name| {
            let rows = material.rows()[&name];
            let bytes = material.bytes_of(&name)?;
            Ok((name, rows, bytes))
        })
        .collect::<Result<Vec<_>>>()?;
    let disk_bytes = disk_bytes(&suite, &cells, &datasets);
    let free_bytes = inrush_machine::space(&place).map_or(u64::MAX, |space| space.free_bytes);
    drop(material);
    let offers = offers(&suite, &cells, &servers);
    Ok(Prepared {
        suite,
        profile: name,
        asked: servers,
        cells,
        datasets,
        disk_bytes,
        free_bytes,
        offers,
    })
}

/// Families of the suite's whose library isn't here, each with the reason.
///
/// # Errors
/// When it is one that the user names.
fn lacking(
    suite: &Suite,
    libraries: &BTreeMap<String, PathBuf>,
) -> Result<BTreeMap<String, String>> {
    let mut lacking = BTreeMap::new();
    for target in inrush::target::ALL {
        let name = target.name();
        if suite.target.values().all(|ours| ours.family != name) {
            continue;
        }
        let named = libraries.get(name).map(PathBuf::as_path);
        match target.find_library(named) {
            Ok(()) => {}
            Err(error) if named.is_some() => return Err(error),
            Err(error) => drop(lacking.insert(name.to_owned(), error.to_string())),
        }
    }
    Ok(lacking)
}

/// Cells whose target wants a server, and that have none.
fn without_server<'c>(
    suite: &Suite,
    cells: &'c [PlannedCell],
) -> impl Iterator<Item = &'c PlannedCell> {
    cells.iter().filter(|cell| {
        let target = cell.get("target").and_then(|name| suite.target.get(name));
        let wants_server = target.is_some_and(|target| target.server.is_some());
        wants_server && cell.unavailable.is_some() && cell.get("server").is_none()
    })
}

/// The servers here on which cells could be measured whose target wants one, and whose family nobody asked for.
fn offers(suite: &Suite, cells: &[PlannedCell], asked: &[Asked]) -> Vec<&'static str> {
    let targets: BTreeSet<&str> =
        without_server(suite, cells).filter_map(|cell| cell.get("target")).collect();
    let wanted: Vec<(&str, &ServerSpec)> = targets
        .into_iter()
        .filter_map(|name| {
            let target = suite.target.get(name)?;
            Some((target.family.as_str(), target.server.as_ref()?))
        })
        .filter(|(family, _)| asked.iter().all(|asked| asked.family != *family))
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let serves = |found: &Installed| {
        wanted.iter().any(|(family, server)| {
            let is_one = |name: &String| found.name().starts_with(name.as_str());
            *family == found.family() && (server.only.is_empty() || server.only.iter().any(is_one))
        })
    };
    let (versions, plain): (Vec<&str>, Vec<&str>) =
        Installed::names().partition(|name| name.contains('-'));
    // A name without a version is easier to remember; one with a version is for what has no such name here.
    let mut offers: Vec<&'static str> = Vec::new();
    for name in plain.into_iter().chain(versions) {
        let is_known = offers.iter().any(|known| name.starts_with(known));
        if !is_known && Installed::find(name).is_ok_and(|found| serves(&found)) {
            offers.push(name);
        }
    }
    offers
}

/// Rows as text lie there all the time; one cell's databases at a time take four times their rows (tables, indexes, logs); a server
/// takes 400 MB before it holds a row.
fn disk_bytes(suite: &Suite, cells: &[PlannedCell], datasets: &[(String, u64, u64)]) -> u64 {
    const OF_A_SERVER: u64 = 400 << 20;
    let rows = datasets.iter().fold(0_u64, |sum, (_, _, bytes)| sum.saturating_add(*bytes));
    let workers = |cell: &PlannedCell| {
        let workers = experiment_of(suite, cell).workers.to_string();
        let axis = workers.trim_matches(['{', '}']);
        cell.get(axis).unwrap_or(&workers).parse::<u64>().unwrap_or(1)
    };
    let most = cells.iter().map(workers).max().unwrap_or(1);
    let is_private =
        |cell: &&PlannedCell| cell.unavailable.is_none() && cell.get("server").is_some();
    let mut servers: Vec<_> = cells
        .iter()
        .filter(is_private)
        .map(|cell| {
            let target = cell.get("target").unwrap_or_default();
            let spec = suite.target.get(target).and_then(|target| target.server.as_ref());
            (cell.get("server"), spec.map(|spec| format!("{spec:?}")))
        })
        .collect();
    servers.sort();
    servers.dedup();
    let databases = rows.saturating_mul(4).saturating_mul(most);
    rows.saturating_add(databases).saturating_add(servers.len() as u64 * OF_A_SERVER)
}

/// Runs a suite as [`prepare`] has found it for the request, and keeps everything in a folder of its own: its path, and why it ended.
///
/// # Errors
/// When the disk is too small, or results can't be kept. What fails in a sample is in the sample.
pub fn bench(
    request: &BenchRequest,
    prepared: &Prepared,
    worker: &WorkerProgram,
    watcher: &dyn Watcher,
) -> Result<(PathBuf, Stopped)> {
    prepared.check_disk()?;
    let seed =
        request.seed.unwrap_or_else(|| xxhash_rust::xxh3::xxh3_64(super::clock::now().as_bytes()));
    let manifest = Manifest {
        profile: prepared.profile.clone(),
        seed,
        command: request.command.clone(),
        servers: prepared.asked.iter().map(|asked| asked.name.clone()).collect(),
        ..Manifest::default()
    };
    let place = Ground::make(request.place.as_deref(), worker)?;
    let material = material(prepared, place.path(), watcher)?;
    watcher.preparing("looking at the machine");
    let plan = RunPlan {
        cells: prepared.cells.clone(),
        rows: material.rows().clone(),
        hashes: material.hashes().clone(),
    };
    let environment = machine::environment(place.path());
    let doctor = machine::doctor(place.path());
    let folder = RunFolder::create(
        &request.results,
        manifest,
        &prepared.suite,
        &plan,
        &environment,
        &doctor,
    )?;
    carry_out(prepared, (folder, Vec::new(), Vec::new()), material, place, worker, watcher)
}

/// Goes on with a run that was interrupted: its path, and why it ended.
///
/// # Errors
/// When it is complete, is another version's, or needs servers that aren't here any more.
pub fn resume(
    path: &Path,
    place: Option<&Path>,
    libraries: &BTreeMap<String, PathBuf>,
    worker: &WorkerProgram,
    watcher: &dyn Watcher,
) -> Result<(PathBuf, Stopped)> {
    // Of a bare name there is no folder that it is in.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let known = RunFolder::open(path)?;
    path.parent().map_or(Ok(()), index::expect_own)?;
    let manifest = &known.manifest;
    if manifest.version != env!("CARGO_PKG_VERSION") {
        let version = &manifest.version;
        return Err(Error::usage(format!(
            "{} was begun by inrush {version}: samples of two versions are not one run",
            path.display()
        )));
    }
    if manifest.exit.as_deref() == Some("complete") {
        return Err(Error::usage(format!("{} is complete", path.display()))
            .advise("begin another run: inrush bench SUITE"));
    }
    let mut servers = Vec::new();
    for name in &manifest.servers {
        if name.ends_with("-url") {
            return Err(Error::usage(
                "the run used a server of your own, whose URL was not kept: begin another run",
            ));
        }
        servers.extend(asked(name)?);
    }
    if let Some(why) = servers.iter().find_map(|server| server.missing.as_ref()) {
        return Err(Error::target(format!(
            "the run needs a server that is not here any more: {why}"
        )));
    }
    let lacking = lacking(&known.suite, libraries)?;
    let is_measured = |cell: &PlannedCell, family: &str| {
        let target = cell.get("target").and_then(|name| known.suite.target.get(name));
        cell.unavailable.is_none() && target.is_some_and(|target| target.family == family)
    };
    let is_needed =
        |family: &&String| known.plan.cells.iter().any(|cell| is_measured(cell, family.as_str()));
    if let Some(family) = lacking.keys().find(is_needed) {
        return Err(Error::target(format!(
            "the run needs a library that is not here any more: {}",
            lacking[family]
        ))
        .advise("where it was named when the run began, name it again, as --duckdb-lib does"));
    }
    let prepared = Prepared {
        suite: known.suite.clone(),
        profile: manifest.profile.clone(),
        asked: servers,
        cells: known.plan.cells.clone(),
        datasets: Vec::new(),
        disk_bytes: 0,
        free_bytes: 0,
        offers: Vec::new(),
    };
    let place = Ground::make(place, worker)?;
    let material = material(&prepared, place.path(), watcher)?;
    if machine::environment(place.path()).id != known.env.id {
        return Err(Error::usage(
            "the run began on another machine, or with another disk: samples of two are not one run",
        )
        .advise("where it began with --place, say so again"));
    }
    let hashes = &known.plan.hashes;
    if let Some((name, _)) =
        hashes.iter().find(|(name, hash)| material.hashes().get(*name) != Some(hash))
    {
        return Err(Error::usage(format!("dataset {name} is not what it was")));
    }
    let (folder, run) = RunFolder::resume(path)?;
    carry_out(&prepared, (folder, run.samples, run.targets), material, place, worker, watcher)
}

fn material<'a>(
    prepared: &'a Prepared,
    place: &Path,
    watcher: &dyn Watcher,
) -> Result<Material<'a>> {
    let mut material = Material::new(&prepared.suite, prepared.size(), place);
    for name in material.wanted(&prepared.cells) {
        watcher.preparing(&format!("making the rows of {name}"));
        material.prepare(&name)?;
    }
    Ok(material)
}

fn carry_out(
    prepared: &Prepared,
    (mut folder, mut samples, known): (RunFolder, Vec<Sample>, Vec<TargetRecord>),
    material: Material<'_>,
    place: Ground,
    worker: &WorkerProgram,
    watcher: &dyn Watcher,
) -> Result<(PathBuf, Stopped)> {
    let seed = folder.manifest().seed;
    let mut lab = Lab {
        suite: &prepared.suite,
        profile: prepared.size(),
        asked: &prepared.asked,
        worker,
        folder: place.path().to_owned(),
        material,
        fleet: Fleet::new(place.will()),
        stop: watcher.stop(),
        seed,
        targets: BTreeMap::new(),
        has_news: false,
        ceilings: Default::default(),
    };
    lab.launch(&prepared.cells, watcher);
    let (suite, profile, cells) = (&prepared.suite, prepared.size(), &prepared.cells);
    let stopped =
        run(Task { suite, profile, cells, seed }, &mut samples, &mut lab, watcher, |taken| {
            if !taken.series.is_empty() {
                folder.write_series(&taken.sample.sample, &taken.series)?;
            }
            if let Some(targets) = &taken.targets {
                folder.write_targets(&merged(&known, targets))?;
            }
            if !taken.histograms.is_empty() {
                folder.write_histograms(&taken.sample.sample, &taken.histograms)?;
            }
            folder.append(&taken.sample)
        });
    for note in lab.fleet.close() {
        watcher.preparing(&note);
        folder.log(&note)?;
    }
    let stopped = stopped?;
    let exit = if stopped == Stopped::Interrupted { "interrupted" } else { "complete" };
    folder.finish(exit, stopped.word())?;
    let path = folder.path().to_owned();
    drop((folder, place));
    watcher.preparing("writing the report");
    report::write_stored(&RunFolder::open(&path)?)?;
    // Samples and report are kept, and the index can be made of them at any time.
    let warnings = match path.parent().map(index::rebuild) {
        Some(Ok(rebuilt)) => rebuilt.warnings,
        Some(Err(error)) => vec![format!("no index of the runs: {error}")],
        None => Vec::new(),
    };
    warnings.iter().for_each(|warning| watcher.preparing(warning));
    Ok((path, stopped))
}

/// What was known of targets, and what is known now.
fn merged(known: &[TargetRecord], now: &[TargetRecord]) -> Vec<TargetRecord> {
    let is_new = |old: &&TargetRecord| {
        !now.iter().any(|new| (&new.target, &new.server) == (&old.target, &old.server))
    };
    known.iter().filter(is_new).chain(now).cloned().collect()
}

/// The samples of a run, and what they add up to.
///
/// # Errors
/// When the run can't be read.
pub fn findings(path: &Path) -> Result<(Vec<Sample>, Findings)> {
    let run = RunFolder::open(path)?;
    let findings = analyse(&run.suite, &run.plan, &run.samples);
    Ok((run.samples, findings))
}
