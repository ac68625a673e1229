//! What holds a target's loads back or puts its data at risk: the engine's rules, and the machine's.

mod machine;

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::observer::Observer;
use crate::target;
use inrush_core::doctor::{Examined, Surroundings};
use inrush_core::error::{Error, Result, without_secrets};
use inrush_core::facts::SourceFacts;
use inrush_core::pending::{follow_link, sweep_beside};
use inrush_core::request::Request;
use inrush_core::wording::shell_word;

pub use inrush_core::doctor::{Copy, Doctor, Finding, Rule, Severity, Trial, Worth};
pub use machine::machine_rules;

/// What was found. Serializes to what `doctor --json` prints, whose keys are stable.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The target, without a password.
    pub target: String,
    /// Its engine and version.
    pub version: String,
    /// How long it took.
    pub seconds: f64,
    /// What is not as it should be, the worst first.
    pub findings: Vec<Finding>,
    /// What could not be read or measured, and what that takes.
    pub not_known: Vec<String>,
    /// What is no fault: memory, disk, how long a sync takes; names and values, for people.
    #[serde(skip)]
    pub facts: Vec<(&'static str, String)>,
    /// The server's settings that bear on loads.
    #[serde(skip)]
    pub settings: Vec<(String, String)>,
}

impl Diagnosis {
    /// Whether data is at risk.
    pub fn has_risk(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Risk)
    }
}

/// Looks at the target of a request, and at how much its sources bring, if it names any; changes nothing.
///
/// # Errors
/// When there is no such target, it does not answer, has nothing to be examined, or a source can't be read.
pub fn doctor(request: &Request, observer: &dyn Observer) -> Result<Diagnosis> {
    let began = Instant::now();
    let (target, location) =
        target::find(&request.target).map_err(|error| named(request, error))?;
    let Some(doctor) = target.doctor() else {
        let what = format!("{} is a file of rows: it has no settings", location.shown);
        return Err(named(request, Error::usage(what)));
    };
    target.find_library(request.libraries.get(target.name()).map(PathBuf::as_path))?;
    sweep(request, target, &location, observer);
    let around = Surroundings {
        load_bytes: load_bytes(request, observer)?,
        memory_bytes: inrush_machine::memory_bytes(),
        host: inrush_machine::text("/proc/sys/kernel/hostname").unwrap_or_default(),
    };
    let examined = doctor.examine(&location, &around, observer.stop_flag())?;
    let Examined { version, mut findings, not_known, folders, settings } = examined;
    let (of_machine, facts) = machine::look(&folders, &around);
    findings.extend(of_machine);
    findings.sort_by_key(|finding| finding.severity);
    Ok(Diagnosis {
        target: location.shown,
        version,
        seconds: began.elapsed().as_secs_f64(),
        findings,
        not_known,
        facts,
        settings,
    })
}

/// What is no database, with where that is named: a load's target, of which the error may speak, comes last, and may be a file of rows.
fn named(request: &Request, error: Error) -> Error {
    let claimed = |text: &str| target::ALL.iter().find(|target| target.claim(text).is_some());
    let is_other =
        |advice: &str| advice.starts_with("name the target last") || advice.starts_with("say ");
    let is_of_load = error.advice().iter().any(|advice| is_other(advice));
    let named = claimed(&request.target);
    if named.is_some_and(|target| target.doctor().is_some()) || !is_of_load && named.is_none() {
        return error;
    }
    let error = error.readvised(|advice| (!is_other(advice)).then(|| advice.to_owned()));
    let is_database =
        |text: &&String| claimed(text).is_some_and(|target| target.doctor().is_some());
    match request.sources.iter().find(is_database) {
        Some(meant) => {
            let meant = shell_word(&without_secrets(meant));
            let other = shell_word(&without_secrets(&request.target));
            error.advise(format!("name the database first: inrush doctor {meant} {other}"))
        }
        None => {
            let databases = target::ALL.iter().filter(|target| target.doctor().is_some());
            let spellings: Vec<&str> = databases.map(|target| target.spelling()).collect();
            error.advise(format!("name a database, as {}", spellings.join(" or ")))
        }
    }
}

/// Removes what loads and measurements that were killed have left under hidden names, as every load does at its beginning. What can't be
/// removed stays for another time.
fn sweep(
    request: &Request,
    target: &dyn target::Target,
    location: &target::Location,
    observer: &dyn Observer,
) {
    if let Some(file) = location.files.first() {
        sweep_beside(&follow_link(file));
        return;
    }
    let Ok(jobs) = target.jobs() else { return };
    let facts = target.facts(location, "inrush", request, observer.stop_flag());
    let console = target.console(location, observer.stop_flag());
    if let (Ok(facts), Ok(mut console)) = (facts, console) {
        jobs.tables.sweep(&mut *console, &jobs.tables.home(&facts, "inrush"));
    }
}

/// Bytes of the sources as they are stored; `None` where one of them is no file.
fn load_bytes(request: &Request, observer: &dyn Observer) -> Result<Option<u64>> {
    if request.sources.is_empty() {
        return Ok(None);
    }
    let mut alone = request.clone();
    alone.target = String::new();
    let plan = crate::plan::plan_check(&alone, observer)?;
    let source: &SourceFacts = &plan.facts.source;
    Ok(source.bytes)
}
