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
#[cfg(feature = "bench")]
mod tune;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap_complete::Shell;
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

#[cfg(unix)]
use inrush::patient::{Patient, unbuffered};
use inrush::target::Lease;
use inrush::wording::{shell_word, were};
use inrush::{Aftermath, Error, Kind, Request};

use crate::args::LoadArgs;
use crate::config::{self, Given};
use crate::help;
use crate::render::{self, ProgressMode};
use crate::settings;

#[cfg(feature = "bench")]
pub(crate) use compare::compare;
#[cfg(feature = "bench")]
pub(crate) use report::report;
#[cfg(feature = "bench")]
pub(crate) use tune::tune;

pub(crate) use check::check;
pub(crate) use doctor::doctor;
pub(crate) use job::job;
pub(crate) use man::man;

/// Loads, and reports on standard output.
pub(crate) fn load(args: &LoadArgs) -> Result<u64> {
    let request = settings::request(args, "load")?;
    let stop = stop_on_signals()?;
    let mode = ProgressMode::of(&args.shown.progress, args.shown.quiet);
    let observer = render::Progress::new(mode, stop, args.shown.quiet);
    let lease = Lease::default();
    let request = Request { spare: lease.spare(), ..request };
    let plan = inrush::plan(&request, &observer)?;
    if args.verbose {
        eprint_text(&plan.explain());
    }
    let outcome = inrush::run(&plan, &observer);
    observer.finish();
    let report = outcome?;
    // Where rows are on standard output, nothing else is.
    let say = if plan.location.is_stdout() { eprint_all } else { print_all };
    let said = match () {
        () if args.json => say(&(serde_json::to_string(&report)? + "\n")),
        () if args.shown.quiet => Ok(()),
        () => say(&render::report(&report, args.verbose)),
    };
    said.map_err(|error| {
        let rows = report.rows_loaded;
        let (loaded, were) = (render::counted(rows, "row"), were(rows));
        let done = format!("{loaded} {were} loaded into {}", plan.location.shown);
        unsaid(error, &done, "the report")
            .leaving(Aftermath::Committed { rows })
            .advise("look at the table before another load, which may add the same rows once more")
    })?;
    // The run that finished the load has reported its bad rows.
    let was_finished = report.steps.is_some_and(|steps| steps.was_finished);
    Ok(if was_finished { 0 } else { report.rows_rejected })
}

/// The command that goes on with a load, without what of its places is secret.
pub(crate) fn again(arguments: &[String], target: Option<&str>) -> String {
    const RESUME: &str = "--resume";
    let is_said = arguments[..options_end(arguments)].iter().any(|word| word == RESUME);
    retyped(arguments, if is_said { &[] } else { &[RESUME] }, target)
}

/// Behind this word there are places alone, whatever they look like.
const NO_OPTIONS: &str = "--";

/// Where no word is an option any more.
fn options_end(arguments: &[String]) -> usize {
    arguments.iter().position(|word| word == NO_OPTIONS).unwrap_or(arguments.len())
}

/// The command with more options, for a shell, without what of its places is secret.
fn retyped(arguments: &[String], more: &[&str], target: Option<&str>) -> String {
    let shown = |word: &String| {
        // A password can be in nothing but a URL.
        let is_url = target == Some(word.as_str()) && word.contains("://");
        match inrush::target::find(word) {
            Ok((_, location)) if is_url => location.shown,
            _ => config::shown(word),
        }
    };
    let mut words: Vec<String> = arguments.iter().map(|word| shell_word(&shown(word))).collect();
    // That word may be an option's value as well, so they go to where they are options in any case: behind the command.
    let at = if options_end(arguments) < arguments.len() { 1 } else { arguments.len() };
    words.splice(at..at, more.iter().map(|word| shell_word(word)));
    format!("inrush {}", words.join(" "))
}

/// The load that reads values as `plan` proposes it; empty where there is nothing to propose.
fn proposed(
    plan: &inrush::Plan,
    given: &[Given],
    arguments: &[String],
    target: Option<&str>,
) -> String {
    let proposals = plan.proposals();
    if proposals.is_empty() {
        return String::new();
    }
    // What was typed was the plan.
    let mut load = arguments.to_vec();
    load[0] = "load".to_owned();
    let (mut at, end) = (0, options_end(arguments));
    load.retain(|word| {
        at += 1;
        at > end || word != "--dry-run"
    });
    let options: Vec<&str> =
        proposals.iter().flat_map(|proposed| &proposed.options).map(String::as_str).collect();
    // A list that is typed replaces the one of a file or a variable, so what that says is typed as well.
    let is_replaced = |given: &&Given| {
        given.from != config::COMMAND_LINE && options.contains(&given.option.as_str())
    };
    let said = given
        .iter()
        .filter(is_replaced)
        .flat_map(|given| given.values.iter().map(|value| format!("{}={value}", given.option)));
    let said: Vec<String> = said.collect();
    let options: Vec<&str> = said.iter().map(String::as_str).chain(options).collect();
    retyped(&load, &options, target) + "\n"
}

/// Says what load would do.
pub(crate) fn plan(
    args: &LoadArgs,
    given: &[Given],
    as_config: bool,
    arguments: &[String],
) -> Result<u64> {
    if as_config {
        // It has to be one that makes a request.
        settings::request(args, "plan")?;
        print(&config::as_file(given, &args.places))?;
        return Ok(0);
    }
    let request = settings::request(args, "plan")?;
    let observer = render::Progress::new(ProgressMode::None, stop_on_signals()?, true);
    let plan = inrush::plan(&request, &observer)?;
    if args.json {
        // The plan's keys have no place for them.
        plan.warnings().iter().for_each(|warning| eprint_text(&format!("note: {warning}\n")));
    }
    print(&match args.json {
        true => serde_json::to_string(&PlanShown { plan: &plan, options: given })? + "\n",
        false => {
            let target = args.places.last().map(String::as_str);
            plan.explain() + &config::origins(given) + &proposed(&plan, given, arguments, target)
        }
    })?;
    Ok(0)
}

/// A plan, and where its options come from.
#[derive(Serialize)]
struct PlanShown<'a> {
    #[serde(flatten)]
    plan: &'a inrush::Plan,
    options: &'a [Given],
}

/// Lists strategies and knobs.
pub(crate) fn strategies(target: Option<&str>) -> Result<u64> {
    let named = target.map(target_called).transpose()?;
    let listed =
        inrush::target::ALL.iter().filter(|target| named.is_none_or(|name| name == target.name()));
    print(&listed.map(|target| render::strategies(*target)).collect::<String>())?;
    Ok(0)
}

/// The name of the target that is meant by that name, by another one that its URLs have, or as a load takes it.
fn target_called(text: &str) -> Result<&'static str> {
    let names = || inrush::target::ALL.iter().map(|target| target.name());
    if let Some(name) = names().find(|name| *name == text) {
        return Ok(name);
    }
    let as_url = format!("{text}://host/database");
    match inrush::target::find(text) {
        Ok((target, _)) => Ok(target.name()),
        Err(error) => match inrush::target::find(&as_url) {
            Ok((target, _)) if !text.contains(':') => Ok(target.name()),
            _ => {
                let names = names().collect::<Vec<_>>().join(", ");
                let advice = format!("say one of {names}, or a target as inrush load takes it");
                Err(error.readvised(|_| None).advise(advice).into())
            }
        },
    }
}

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<u64> {
    let mut script = Vec::new();
    let mut command = with_choices(visible(&help::command()));
    clap_complete::generate(shell, &mut command, "inrush", &mut script);
    let script = String::from_utf8(script)?;
    print(&match shell {
        Shell::Bash => with_files(&script, &command),
        _ => script,
    })?;
    Ok(0)
}

/// Bash's script so that it proposes no options where a command takes a path: bash proposes files where nothing else is.
fn with_files(script: &str, command: &clap::Command) -> String {
    let mut functions = Vec::new();
    taking_paths(command, "inrush", &mut functions);
    // What ends each function; the same stands deeper behind a dash.
    const ALL: &str = r#"            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )"#;
    let mut is_path = false;
    let line = |line: &str| {
        if let Some(function) =
            line.trim().strip_suffix(')').filter(|name| name.starts_with("inrush"))
        {
            is_path = functions.iter().any(|name| name == function);
        }
        match line.split_once(" || ${COMP_CWORD} -eq ") {
            Some((options, _)) if is_path => format!("{options} ]] ; then\n"),
            None if is_path && line == ALL => String::new(),
            _ => format!("{line}\n"),
        }
    };
    script.lines().map(line).collect()
}

/// What the script calls the commands whose first place is a path.
fn taking_paths(command: &clap::Command, function: &str, functions: &mut Vec<String>) {
    let is_path = |arg: &clap::Arg| {
        matches!(arg.get_value_hint(), clap::ValueHint::FilePath | clap::ValueHint::DirPath)
    };
    if command.get_positionals().next().is_some_and(is_path) {
        functions.push(function.to_owned());
    }
    for sub in command.get_subcommands() {
        taking_paths(sub, &format!("{function}__subcmd__{}", sub.get_name()), functions);
    }
}

/// The command without what help does not show either, which scripts would complete all the same.
fn visible(command: &clap::Command) -> clap::Command {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned();
    clap::Command::new("inrush")
        .version(env!("CARGO_PKG_VERSION"))
        .about(command.get_about().cloned().unwrap_or_default())
        .args(command.get_arguments().cloned())
        .subcommands(shown)
}

/// The command whose options know the words that they take, which are there where help has them: `a|b|c`. What the words mean is the
/// library's to say, so the command line itself takes texts.
fn with_choices(command: clap::Command) -> clap::Command {
    let with_words = |arg: clap::Arg| {
        let names = arg.get_value_names().unwrap_or_default();
        let words: Vec<&'static str> = match names {
            // Leaked by a process that prints one script and ends.
            [name] if name.contains('|') => name.to_string().leak().split('|').collect(),
            _ => return arg,
        };
        let is_word = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        match words.iter().all(is_word) {
            true => arg.value_parser(clap::builder::PossibleValuesParser::new(words)),
            false => arg,
        }
    };
    command.mut_args(with_words).mut_subcommands(with_choices)
}

/// What goes with an error whose place in the answer of `--json` has been printed already.
#[derive(Debug)]
pub(crate) struct Answered;

impl std::fmt::Display for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

/// How soon after the first signal another one is the same wish: `timeout` sends its signal to the process, and then to its group.
const SAME_WISH: Duration = Duration::from_millis(200);

/// How long a tidy stop takes before the terminal is told how to end it.
const LONG_STOP: Duration = Duration::from_secs(3);

/// The first Ctrl-C (or SIGTERM) asks for a tidy stop; the second ends the process at once. So does the end of the terminal's session ask.
/// A signal that whoever started the process has it ignore (`nohup`, `trap ''`) goes on doing nothing, but for SIGINT: scripts have their
/// background jobs ignore it, and who sends it to one of these by its number means it.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // Where the system does not say, `nohup` may have been at work.
    if ignores(SIGHUP) == Some(false) {
        // Shell and system may both send it, so the second one says nothing more.
        signal_hook::flag::register(SIGHUP, Arc::clone(&stop))?;
    }
    let is_heard = |signal: &i32| *signal == SIGINT || ignores(*signal) != Some(true);
    let heard: Vec<i32> = [SIGINT, SIGTERM].into_iter().filter(is_heard).collect();
    let ends = Arc::new(AtomicBool::new(false));
    for signal in &heard {
        signal_hook::flag::register_conditional_shutdown(*signal, 130, Arc::clone(&ends))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    let mut signals = signal_hook::iterator::Signals::new(&heard)?;
    let watched = Arc::clone(&ends);
    let watch = thread::Builder::new().spawn(move || {
        if signals.forever().next().is_some() {
            thread::sleep(SAME_WISH);
            watched.store(true, Ordering::Relaxed);
            thread::sleep(LONG_STOP);
            if io::stderr().is_terminal() {
                let _ = writeln!(
                    io::stderr().lock(),
                    "\ninterrupted: what was begun is being undone; a second Ctrl-C ends inrush at once, and the next load removes what is left"
                );
            }
        }
    });
    if watch.is_err() {
        // There are no threads left: any second signal counts, as long as the first has raised its flag before.
        for signal in &heard {
            signal_hook::flag::register(*signal, Arc::clone(&ends))?;
        }
    }
    // A file beyond the limit of sizes (ulimit -f) is an error of the write; without a handler it ends the process without a word.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    Ok(stop)
}

/// Whether the process was started so that the signal does nothing; `None` where the system does not say.
fn ignores(signal: i32) -> Option<bool> {
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    ignored.map(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Writes to standard output. Whoever closes it has seen enough: that is no failure, least of all of a load that is done.
pub(crate) fn print(text: &str) -> Result<()> {
    Ok(print_all(text)?)
}

/// The same with an error that can say what was done before.
fn print_all(text: &str) -> inrush::Result<()> {
    printed(write_out(render::legible(text).as_bytes()))
}

/// What became of words for standard output.
pub(crate) fn printed(outcome: io::Result<()>) -> inrush::Result<()> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let why = inrush::error::reason(&error);
            Err(Error::new(Kind::Output, format!("cannot write to standard output: {why}")))
        }
        _ => Ok(()),
    }
}

/// Without the library's own handle, which takes an output that can't be written to for one that is closed, and says nothing.
#[cfg(unix)]
fn write_out(bytes: &[u8]) -> io::Result<()> {
    Patient(unbuffered(&io::stdout())?).write_all(bytes)
}

/// As a terminal takes text.
#[cfg(not(unix))]
fn write_out(bytes: &[u8]) -> io::Result<()> {
    io::stdout().lock().write_all(bytes)
}

/// The failure to say what was done, which stays done.
fn unsaid(error: Error, done: &str, lost: &str) -> Error {
    error.reworded(|why| format!("{done}, and {lost} is lost: {why}"))
}

fn eprint_all(text: &str) -> inrush::Result<()> {
    eprint_text(text);
    Ok(())
}

/// Writes to standard output what `--json` says of a failure; or to standard error, where rows are on standard output.
pub(crate) fn print_failure(text: &str, target: Option<&str>) {
    let location = target.and_then(|target| inrush::target::find(target).ok());
    match location.is_some_and(|(_, location)| location.is_stdout()) {
        true => eprint_text(text),
        // Whoever closes standard output has seen enough.
        false => drop(print(text)),
    }
}

fn eprint_text(text: &str) {
    // Nobody is left to tell when standard error is closed.
    let _ = io::stderr().lock().write_all(render::legible(text).as_bytes());
}
