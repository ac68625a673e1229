//! What each command does. Those that may load answer with the number of bad rows rejected.

mod check;
#[cfg(feature = "bench")]
mod compare;
mod doctor;
mod job;
mod man;
#[cfg(feature = "bench")]
mod report;

#[cfg(feature = "bench")]
pub(crate) mod bench;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use clap_complete::Shell;
use signal_hook::consts::{SIGINT, SIGTERM};

use inrush::wording::shell_word;

use crate::args::LoadArgs;
use crate::help;
use crate::render::{self, ProgressMode};
use crate::settings;

#[cfg(feature = "bench")]
pub(crate) use compare::compare;
#[cfg(feature = "bench")]
pub(crate) use report::report;

pub(crate) use check::check;
pub(crate) use doctor::doctor;
pub(crate) use job::job;
pub(crate) use man::man;

/// Loads, and reports on standard output.
pub(crate) fn load(args: &LoadArgs) -> Result<u64> {
    let request = settings::request(args)?;
    let stop = stop_on_signals()?;
    let mode = ProgressMode::of(&args.shown.progress, args.shown.quiet);
    let observer = render::Progress::new(mode, stop, args.shown.quiet);
    let plan = inrush::plan(&request, &observer)?;
    if args.verbose {
        eprint_text(&plan.explain());
    }
    let outcome = inrush::run(&plan, &observer);
    observer.finish();
    let report = outcome?;
    if args.json {
        print(&(serde_json::to_string(&report)? + "\n"))?;
    } else if !args.shown.quiet {
        print(&render::report(&report, args.verbose))?;
    }
    // The run that finished the load has reported its bad rows.
    let was_finished = report.steps.is_some_and(|steps| steps.was_finished);
    Ok(if was_finished { 0 } else { report.rows_rejected })
}

/// The command that goes on with a load, without what of its target is secret.
pub(crate) fn again(arguments: &[String], target: Option<&str>) -> String {
    let mut words = vec!["inrush".to_owned()];
    for word in arguments {
        // A password can be in nothing but a URL.
        let is_url = target == Some(word.as_str()) && word.contains("://");
        words.push(match inrush::target::find(word) {
            Ok((_, location)) if is_url => shell_word(&location.shown),
            _ => shell_word(word),
        });
    }
    if !arguments.iter().any(|word| word == "--resume") {
        words.push("--resume".to_owned());
    }
    words.join(" ")
}

/// Says what load would do.
pub(crate) fn plan(args: &LoadArgs) -> Result<u64> {
    let plan = inrush::plan(&settings::request(args)?, &inrush::Unobserved)?;
    print(&if args.json { serde_json::to_string(&plan)? + "\n" } else { plan.explain() })?;
    Ok(0)
}

/// Lists strategies and knobs.
pub(crate) fn strategies(target: Option<&str>) -> Result<u64> {
    let named = match target {
        Some(name) if !inrush::target::ALL.iter().any(|target| target.name() == name) => {
            Some(inrush::target::find(name)?.0.name())
        }
        other => other,
    };
    let listed =
        inrush::target::ALL.iter().filter(|target| named.is_none_or(|name| name == target.name()));
    print(&listed.map(|target| render::strategies(*target)).collect::<String>())?;
    Ok(0)
}

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<u64> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "inrush", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(0)
}

/// What goes with an error whose place in the answer of `--json` has been printed already.
#[derive(Debug)]
pub(crate) struct Answered;

impl std::fmt::Display for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

/// The first Ctrl-C (or SIGTERM) asks for a tidy stop; the second ends the process at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: while the flag is down the first does nothing, and the second raises it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Writes to standard output. Whoever closes it has seen enough: that is no failure, least of all of a load that is done.
pub(crate) fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn eprint_text(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
