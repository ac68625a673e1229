//! What holds a target's loads back or puts its data at risk: the engine's rules, and the machine's.

mod machine;

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::observer::Observer;
use crate::target;
use inrush_core::doctor::{Examined, Surroundings};
use inrush_core::error::{Error, Result};
use inrush_core::facts::SourceFacts;
use inrush_core::pending::{follow_link, sweep_beside};
use inrush_core::request::Request;

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
    let (target, location) = target::find(&request.target)?;
    let Some(doctor) = target.doctor() else {
        return Err(Error::usage(format!(
            "{} is a file of rows: it has no settings",
            location.shown
        ))
        .advise("name a database"));
    };
    target.find_library(request.libraries.get(target.name()).map(PathBuf::as_path))?;
    sweep(request, target, &location, observer);
    let around = Surroundings {
        load_bytes: load_bytes(request, observer)?,
        memory_bytes: inrush_machine::memory_bytes(),
        host: inrush_machine::text("/proc/sys/kernel/hostname").unwrap_or_default(),
    };
    let examined = doctor.examine(&location, &around, observer.stop())?;
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
    let facts = target.facts(location, "inrush", request, observer.stop());
    let console = target.console(location, observer.stop());
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
