//! `inrush bench`: lists suites, says what a run would do, runs, goes on with one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use inrush::{Error, Kind, wording};
use inrush_bench::finding::Findings;
use inrush_bench::sample::{Sample, Status};
use inrush_bench::{
    BenchRequest, Prepared, Stopped, WorkerProgram, bench, findings, prepare, resume, suites,
};
use serde_json::{Value, json};

use super::{Answered, eprint_text, print, retyped, stop_on_signals};
use crate::args::BenchArgs;
use crate::config::{OF_LIBRARY, libraries};
use crate::render::{self, BenchProgress, ProgressMode, count, counted};
use crate::settings;

/// Runs suites, one after the other; how many cells could not be measured although they should have been.
pub(crate) fn run(args: &BenchArgs, arguments: &[String]) -> Result<u64> {
    if args.suites.is_empty() && args.resume.is_none() {
        print(&list(args.json))?;
        return Ok(0);
    }
    let suites = args.suites.iter().flat_map(|suite| match suite.as_str() {
        "all" => suites::ALL.iter().map(|(name, _)| *name).collect(),
        name => vec![name],
    });
    let requests =
        suites.map(|suite| request(args, suite, arguments)).collect::<Result<Vec<_>>>()?;
    if args.dry_run {
        for request in &requests {
            let prepared = prepare(request)?;
            print(&match args.json {
                true => format!("{}\n", dry_object(&prepared)),
                false => dry(&prepared) + &offered(&prepared, arguments),
            })?;
            prepared.check_disk()?;
        }
        return Ok(0);
    }
    let library = args.duckdb_lib.as_ref().map(|path| path.clone().into_os_string());
    let worker = WorkerProgram {
        path: own_program()?,
        arguments: vec!["bench-worker".to_owned()],
        environment: library.map(|path| (OF_LIBRARY.to_owned(), path)).into_iter().collect(),
    };
    // A mistake in the last one is no news for after the first.
    let prepared = requests
        .iter()
        .map(|request| {
            let prepared = prepare(request)?;
            prepared.check_disk()?;
            Ok((request, prepared))
        })
        .collect::<Result<Vec<_>>>()?;
    let stop = stop_on_signals()?;
    let mode = ProgressMode::of(&args.shown.progress, args.shown.quiet);
    let watch =
        |stop: &Arc<AtomicBool>| BenchProgress::new(mode, Arc::clone(stop), args.shown.quiet);
    let mut failed = 0;
    if let Some(run) = &args.resume {
        let progress = watch(&stop);
        let done = resume(
            run,
            args.place.as_deref(),
            &libraries(args.duckdb_lib.as_ref()),
            &worker,
            &progress,
        );
        progress.finish();
        failed += shown(done?, true, args)?;
    }
    for (request, prepared) in &prepared {
        let progress = watch(&stop);
        let done = bench(request, prepared, &worker, &progress);
        progress.finish();
        failed += shown(done?, prepared.can_resume(), args)?;
        if !args.shown.quiet {
            eprint_text(&offered(prepared, arguments));
        }
    }
    Ok(failed)
}

/// What workers are started from: this very program, whatever is built in its place meanwhile.
fn own_program() -> Result<PathBuf> {
    let image = PathBuf::from("/proc/self/exe");
    Ok(if image.exists() { image } else { std::env::current_exe()? })
}

/// The hidden command that the bench's workers are.
pub(crate) fn work() -> Result<u64> {
    inrush_bench::work()?;
    Ok(0)
}

fn request(args: &BenchArgs, suite: &str, arguments: &[String]) -> Result<BenchRequest> {
    let usage = |what: String| Error::new(Kind::Usage, what);
    let axes = args
        .axes
        .iter()
        .map(|text| match text.split_once('=') {
            Some((axis, values)) if !axis.is_empty() => {
                let values = values.split(',').map(|value| value.trim().to_owned()).collect();
                Ok((axis.trim().to_owned(), values))
            }
            _ => Err(usage(format!("--set {text}: takes AXIS=VALUE[,VALUE]"))),
        })
        .collect::<std::result::Result<_, _>>()?;
    let budget = args.budget.as_deref();
    let budget = budget.map(|text| settings::time(text, "--budget")).transpose()?;
    let blocks = args
        .blocks
        .as_deref()
        .map(|text| {
            let (min, max) = text.split_once("..").unwrap_or((text, text));
            match (min.parse(), max.parse()) {
                (Ok(min), Ok(max)) if 0 < min && min <= max => Ok((min, max)),
                _ => Err(usage(format!("--blocks {text}: takes a number, or MIN..MAX"))),
            }
        })
        .transpose()?;
    Ok(BenchRequest {
        suite: suite.to_owned(),
        profile: args.profile.clone(),
        servers: args.server.clone(),
        results: args.results.clone(),
        place: args.place.clone(),
        seed: args.seed,
        only: args.only.clone(),
        blocks,
        budget_s: budget.map(|budget| budget.as_secs()),
        axes,
        libraries: libraries(args.duckdb_lib.as_ref()),
        command: arguments.to_vec(),
    })
}

/// The command that goes on with a run.
fn going_on(path: &Path, args: &BenchArgs) -> String {
    let options = [
        ("--resume", Some(path)),
        ("--place", args.place.as_deref()),
        ("--duckdb-lib", args.duckdb_lib.as_deref()),
    ];
    let options = options.into_iter().filter_map(|(option, path)| {
        Some(format!(" {option} {}", wording::shell_word(&path?.display().to_string())))
    });
    format!("inrush bench{}", options.collect::<String>())
}

/// What became of a run, for people or programs; how many of its cells failed.
fn shown((path, stopped): (PathBuf, Stopped), can_resume: bool, args: &BenchArgs) -> Result<u64> {
    let (samples, findings) = findings(&path)?;
    let failed = failed_cells(&samples);
    let interrupted = (stopped == Stopped::Interrupted).then(|| {
        let error = Error::new(Kind::Interrupted, "interrupted; every finished sample is kept");
        anyhow::Error::from(match can_resume {
            true => error.advise(going_on(&path, args)),
            false => error,
        })
    });
    if args.json {
        let mut object = json!({
            "run": path,
            "stopped_by": stopped.word(),
            "failed_cells": failed.len(),
            "findings": findings,
        });
        // One answer, not two.
        if let Some(error) = &interrupted {
            object["error"] = render::failure_object(error, false);
        }
        print(&format!("{object}\n"))?;
    } else if !args.shown.quiet {
        print(&told(&path, stopped, &samples, &findings, &failed))?;
    }
    match interrupted {
        Some(error) => Err(error.context(Answered)),
        None => Ok(failed.len() as u64),
    }
}

/// Cells whose last sample failed, with its status and reason.
fn failed_cells(samples: &[Sample]) -> Vec<&Sample> {
    let is_last = |sample: &&Sample| {
        samples
            .iter()
            .rfind(|other| other.cell == sample.cell)
            .is_some_and(|last| last.sample == sample.sample)
    };
    // A program that is missing is no failure; a server was asked for.
    let lacks_server =
        |sample: &Sample| sample.flags.iter().any(|flag| flag == inrush_bench::NO_SERVER);
    let has_failed = |sample: &&Sample| {
        sample.status.is_failure() || (sample.status == Status::Unavailable && lacks_server(sample))
    };
    samples.iter().filter(is_last).filter(has_failed).collect()
}

fn told(
    path: &Path,
    stopped: Stopped,
    samples: &[Sample],
    findings: &Findings,
    failed: &[&Sample],
) -> String {
    let mut out = String::new();
    let tally: Vec<String> = inrush_bench::tally(samples)
        .into_iter()
        .map(|(status, samples)| format!("{} {}", count(u64::from(samples)), status.word()))
        .collect();
    let why = match stopped {
        Stopped::Precise => "every interval is narrow enough",
        Stopped::Blocks => "as many blocks as the profile takes",
        Stopped::Budget => "the time is spent",
        Stopped::Interrupted => "interrupted",
        Stopped::Hopeless => "nothing is left that could be measured",
    };
    let _ =
        writeln!(out, "{} ({}); {why}", counted(samples.len() as u64, "sample"), tally.join(", "));
    for sentence in &findings.verdict {
        let _ = writeln!(out, "  {sentence}");
    }
    // What was asked for and could not be had. One reason may be many cells'.
    let cells = findings.experiments.iter().flat_map(|experiment| &experiment.cells);
    let missing: std::collections::BTreeSet<&String> = cells
        .filter(|cell| {
            cell.cell.unavailable.is_none() && cell.statuses.contains_key(&Status::Unavailable)
        })
        .flat_map(|cell| &cell.errors)
        .collect();
    for why in missing {
        let _ = writeln!(out, "  unavailable: {why}");
    }
    // Of those that are unavailable the reasons are there.
    for sample in failed.iter().filter(|sample| sample.status != Status::Unavailable) {
        let error = sample.error.as_deref().unwrap_or_default();
        let status = sample.status.word();
        let _ = writeln!(out, "  {} {status}: {error}", sample.sample);
    }
    let _ = writeln!(out, "report: {}", path.join("report.html").display());
    out
}

/// What to say to measure on servers that are installed here, where none was asked for; nothing where nothing would come of it.
fn offered(prepared: &Prepared, arguments: &[String]) -> String {
    if prepared.offers.is_empty() {
        return String::new();
    }
    let cells = prepared.without_server().count() as u64;
    let mut out = format!(
        "{} of {} not measured, for want of a server; installed here:\n",
        counted(cells, "cell"),
        prepared.suite.id
    );
    for server in &prepared.offers {
        let _ = writeln!(out, "  {}", retyped(arguments, &["--server", server], None));
    }
    out
}

/// The suites that are built in.
fn list(json: bool) -> String {
    let mut out = String::new();
    let mut objects = Vec::new();
    for (name, _) in suites::ALL {
        // Ours are read by a test.
        let Ok(suite) = suites::load(name) else { continue };
        let families: std::collections::BTreeSet<&str> =
            suite.target.values().map(|target| target.family.as_str()).collect();
        let shown = families.iter().copied().collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "{name}\n  {}\n  targets: {shown}\n", suite.title);
        objects.push(json!({ "suite": name, "title": suite.title, "targets": families }));
    }
    if json {
        return format!("{}\n", json!({ "suites": objects }));
    }
    out.push_str("inrush bench SUITE --server mariadb --server postgres runs one; --dry-run says what it would do\n");
    out
}

/// What a run would do, for programs.
fn dry_object(prepared: &Prepared) -> Value {
    let datasets = prepared
        .datasets
        .iter()
        .map(|(name, rows, bytes)| json!({ "dataset": name, "rows": rows, "bytes": bytes }));
    let [samples_min, samples_max] = samples(prepared);
    json!({
        "suite": prepared.suite.id,
        "profile": prepared.profile,
        "cells": prepared.cells,
        "datasets": datasets.collect::<Vec<_>>(),
        "samples_min": samples_min,
        "samples_max": samples_max,
        "budget_seconds": prepared.size().budget_s,
        "disk_bytes": prepared.disk_bytes,
        "free_bytes": prepared.free_bytes,
        "installed_servers": prepared.offers,
    })
}

/// How many samples there are at least and at most.
fn samples(prepared: &Prepared) -> [u64; 2] {
    let size = prepared.size();
    let of_blocks =
        |blocks: u32| prepared.measurable() as u64 * (u64::from(blocks) + u64::from(size.warmups));
    [size.blocks_min, size.blocks_max].map(of_blocks)
}

/// What a run would do.
fn dry(prepared: &Prepared) -> String {
    let mut out = String::new();
    let (suite, size) = (&prepared.suite, prepared.size());
    let _ = writeln!(out, "{} at {}: {}", suite.id, prepared.profile, suite.title);
    for experiment in &suite.experiment {
        let cells: Vec<_> =
            prepared.cells.iter().filter(|cell| cell.experiment == experiment.id).collect();
        if cells.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{}: {}", experiment.id, experiment.title);
        for cell in cells {
            let note = match (&cell.unavailable, &cell.twice) {
                (Some(why), _) => format!("  unavailable: {why}"),
                (None, Some(_)) => "  once more, for the noise".to_owned(),
                (None, None) => String::new(),
            };
            let _ = writeln!(out, "  {} {cell}{note}", cell.id);
        }
    }
    for (name, rows, bytes) in &prepared.datasets {
        let (rows, size) = (counted(*rows, "row"), wording::bytes(*bytes));
        let _ = writeln!(out, "rows      {name}: {rows}, {size} as text");
    }
    let [min, max] = samples(prepared);
    let _ = writeln!(
        out,
        "samples   {} to {} of {}",
        count(min),
        count(max),
        counted(prepared.measurable() as u64, "cell")
    );
    let _ = writeln!(
        out,
        "time      at most {} s, and the block that is under way then",
        count(size.budget_s)
    );
    let _ = writeln!(
        out,
        "disk      at most {} MB, of {} MB free",
        count(prepared.disk_bytes / 1_000_000),
        count(prepared.free_bytes / 1_000_000)
    );
    out
}
