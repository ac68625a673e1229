//! `inrush doctor`.

use anyhow::Result;
use inrush::{LoadOptions, Request};
#[cfg(feature = "bench")]
use inrush::{Observer, doctor::Diagnosis};

#[cfg(feature = "bench")]
use super::eprint_text;
use super::{print, stop_on_signals};
use crate::args::DoctorArgs;
use crate::config::libraries;
use crate::render::{self, ProgressMode};

/// Says what puts data at risk or holds loads back; whether data is at risk.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<bool> {
    let libraries = libraries(args.duckdb_lib.as_ref());
    let options = LoadOptions { libraries, ..LoadOptions::default() };
    let request = Request {
        sources: args.sources.clone(),
        target: args.target.clone(),
        options,
        ..Request::default()
    };
    let observer = render::Progress::new(ProgressMode::None, stop_on_signals()?, true);
    let diagnosis = inrush::doctor(&request, &observer)?;
    #[cfg(feature = "bench")]
    let diagnosis = match args.measure {
        true => measured(&request, diagnosis, &observer, args)?,
        false => diagnosis,
    };
    if args.json {
        print(&(serde_json::to_string(&diagnosis)? + "\n"))?;
    } else {
        print(&render::diagnosis(&diagnosis, args.quiet))?;
    }
    Ok(diagnosis.has_risk())
}

/// The same with what its changes are worth; says on standard error which one is being measured.
#[cfg(feature = "bench")]
fn measured(
    request: &Request,
    mut diagnosis: Diagnosis,
    observer: &dyn Observer,
    args: &DoctorArgs,
) -> Result<Diagnosis> {
    let is_silent = args.json || args.quiet;
    let mut told = |what: &str| {
        if !is_silent {
            eprint_text(&format!("{what}\n"));
        }
    };
    inrush_bench::doctor::measure(request, &mut diagnosis, observer, &mut told)?;
    Ok(diagnosis)
}
