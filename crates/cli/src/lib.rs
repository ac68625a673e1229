//! The `inrush` command, as a library: the program of this name and the Python package run it.
//!
//! ```text
//! config (with what a file and the environment say) -> args -> settings (as meant: a Request) -> commands -> inrush, inrush_bench
//!    |  hints: options of other tools                     |
//!    help, docs                                        render: what people read, or --json -> exit code
//! ```
//!
//! What a program could want as well belongs into the library; exit codes are made here and nowhere else.

mod args;
mod commands;
mod config;
#[cfg(test)]
mod docs;
mod help;
mod hints;
mod render;
mod settings;

use std::ffi::OsString;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;
use inrush::{Error, Kind, path};

use crate::args::{Cli, Command};
use crate::config::Secrets;

/// All rows are in.
const DONE: u8 = 0;
/// The load did not happen, or not whole.
const FAILED: u8 = 1;
/// The request is wrong; clap uses the same.
const USAGE: u8 = 2;
/// Done, with bad rows rejected.
const DONE_WITH_REJECTS: u8 = 3;
/// The doctor has found data at risk.
const AT_RISK: u8 = 3;
/// As a shell reports a program ended by SIGINT.
const INTERRUPTED: u8 = 130;

pub use crate::render::{Progress, ProgressMode};

/// Runs the command. The first of `words` is the program's own name; the exit code is what comes back.
pub fn run(words: Vec<OsString>) -> u8 {
    inrush_machine::raise_open_files();
    let arguments: Vec<String> = words.iter().skip(1).cloned().map(help::place).collect();
    let json = config::wants_json(&words);
    let secrets = Secrets::of(arguments.iter().map(String::as_str));
    let mut typed = Typed { arguments, json, secrets };
    let mut command = help::command();
    let config::Words { words, given, json } = match config::complete(&command, words) {
        Ok(words) => words,
        Err(error) => return failed(error.into(), false, &typed, None),
    };
    typed.json = json;
    typed.secrets = Secrets::of(words.iter().filter_map(|word| word.to_str()));
    let arguments = &typed.arguments;
    let parsed = command.try_get_matches_from_mut(&words).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((cli, help::expect_expanded(&command, &matches)))
    });
    let cli = match parsed {
        Ok((cli, Ok(()))) => cli,
        Ok((cli, Err(error))) => {
            return failed(error.into(), cli.command.has_target(), &typed, None);
        }
        Err(error) if error.kind() == ErrorKind::InvalidUtf8 => {
            return failed(no_text(&words).into(), false, &typed, None);
        }
        Err(error) => return without_command(error, &typed),
    };
    let outcome = match &cli.command {
        Command::Load(args) if args.dry_run => {
            commands::plan(args, &given, false, arguments).map(loaded)
        }
        Command::Load(args) => commands::load(args).map(loaded),
        Command::Plan(args) => {
            commands::plan(&args.load, &given, args.as_config, arguments).map(loaded)
        }
        Command::Check(args) => commands::check(args).map(loaded),
        Command::Doctor(args) => {
            commands::doctor(args).map(|has_risk| if has_risk { AT_RISK } else { DONE })
        }
        #[cfg(feature = "bench")]
        Command::Tune(args) => commands::tune(args).map(loaded),
        Command::Job(job) => commands::job(job).map(loaded),
        Command::Strategies { target } => commands::strategies(target.as_deref()).map(loaded),
        #[cfg(feature = "bench")]
        Command::Bench(args) => commands::bench::run(args, arguments).map(loaded),
        #[cfg(feature = "bench")]
        Command::BenchWorker => commands::bench::work().map(loaded),
        #[cfg(feature = "bench")]
        Command::Report { run } => commands::report(run).map(|()| DONE),
        #[cfg(feature = "bench")]
        Command::Compare(args) => {
            commands::compare(args).map(|is_slower| if is_slower { FAILED } else { DONE })
        }
        Command::Completions { shell } => commands::completions(*shell).map(loaded),
        Command::Man { out } => commands::man(out.as_deref()).map(loaded),
    };
    outcome.unwrap_or_else(|error| {
        let error = match error.downcast::<Error>() {
            Ok(error) => config::with_origins(error, &given).into(),
            Err(error) => error,
        };
        failed(error, cli.command.has_target(), &typed, cli.command.target())
    })
}

/// What was typed, and what it asks of standard output.
struct Typed {
    arguments: Vec<String>,
    /// Whether that is for a program.
    json: bool,
    /// What of it, and of what a file and variables add to it, no failure repeats.
    secrets: Secrets,
}

/// Says what went wrong; the exit code.
fn failed(error: anyhow::Error, has_target: bool, typed: &Typed, target: Option<&str>) -> u8 {
    let is_answered = error.is::<commands::Answered>();
    let error = without_secrets(error, &typed.secrets);
    render::error(&error, has_target, &commands::again(&typed.arguments, target));
    if typed.json && !is_answered {
        commands::print_failure(&render::failure(&error, has_target), target);
    }
    match error.downcast_ref::<inrush::Error>().map(inrush::Error::kind) {
        Some(Kind::Usage) => USAGE,
        Some(Kind::Interrupted) => INTERRUPTED,
        // Whoever reads the rows has had enough of them.
        Some(Kind::Closed) => DONE,
        _ => FAILED,
    }
}

/// The failure in words that repeat no password.
fn without_secrets(error: anyhow::Error, secrets: &Secrets) -> anyhow::Error {
    match error.downcast::<Error>() {
        Ok(error) => {
            let place = error.place().cloned();
            let error = error.reworded(|words| secrets.hidden_in(words));
            let Some(mut place) = place else { return error.into() };
            place.file = secrets.hidden_in(&place.file);
            error.at(place).into()
        }
        Err(error) => anyhow::Error::msg(secrets.hidden_in(&format!("{error:#}"))),
    }
}

/// Names the words that are not UTF-8 where a text is wanted: clap does not say which.
fn no_text(words: &[OsString]) -> Error {
    let wrong = words.iter().filter(|word| word.to_str().is_none());
    let wrong: Vec<String> =
        wrong.map(|word| format!("'{}'", config::shown(&path::name(word)))).collect();
    Error::new(Kind::Usage, format!("not UTF-8: {}", wrong.join(", ")))
        .advise("write it in UTF-8: only names of files and folders may have any bytes")
}

/// Help, the version, or what is wrong on the command line.
fn without_command(error: clap::Error, typed: &Typed) -> u8 {
    if error.kind() == ErrorKind::DisplayHelp
        && let Some(screen) = help::short(&typed.arguments)
    {
        return shown(commands::print(&screen), typed);
    }
    let mut error = hints::advise(error, &typed.arguments);
    let told = error.to_string();
    let hidden = typed.secrets.hidden_in(&told);
    if hidden != told {
        // A value stands in the words of its own error, too.
        let hidden = hidden.strip_prefix("error: ").unwrap_or(&hidden);
        error = clap::Error::raw(error.kind(), hidden);
    }
    let printed = error.print();
    if !error.use_stderr() {
        return shown(commands::printed(printed).map_err(Into::into), typed);
    }
    // Nobody is left to tell when standard error is closed.
    if typed.json {
        let _ = commands::print(&render::misuse(&error));
    }
    USAGE
}

/// The exit code of help.
fn shown(printed: anyhow::Result<()>, typed: &Typed) -> u8 {
    match printed {
        Ok(()) => DONE,
        Err(error) => failed(error, false, typed, None),
    }
}

/// The exit code of a load that put so many bad rows aside, or of a bench with so many cells that failed.
fn loaded(rejected: u64) -> u8 {
    if rejected > 0 { DONE_WITH_REJECTS } else { DONE }
}
