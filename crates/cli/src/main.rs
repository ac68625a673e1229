//! The `inrush` command: arguments to settings to a command; what it answers, rendered; one place for exit codes.

mod args;
mod commands;
#[cfg(test)]
mod docs;
mod render;
mod settings;

use std::process::ExitCode;

use clap::Parser as _;
use inrush::Kind;

use crate::args::{Cli, Command};

/// All rows are in.
const DONE: u8 = 0;
/// The load did not happen, or not whole.
const FAILED: u8 = 1;
/// The request is wrong; clap uses the same.
const USAGE: u8 = 2;
/// Done, with bad rows put aside.
const DONE_WITH_REJECTS: u8 = 3;
/// As a shell reports a program ended by SIGINT.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Load(args) => commands::load(args).map(loaded),
        Command::Plan(args) => commands::plan(args).map(loaded),
        Command::Strategies { target } => commands::strategies(target.as_deref()).map(loaded),
        #[cfg(feature = "bench")]
        Command::Bench(args) => commands::bench::run(args).map(loaded),
        #[cfg(feature = "bench")]
        Command::BenchWorker => commands::bench::work().map(loaded),
        #[cfg(feature = "bench")]
        Command::Report { run } => commands::report(run).map(|()| DONE),
        #[cfg(feature = "bench")]
        Command::Compare(args) => {
            commands::compare(args).map(|is_slower| if is_slower { FAILED } else { DONE })
        }
        Command::Completions { shell } => commands::completions(*shell).map(loaded),
        Command::Man => commands::man().map(loaded),
    };
    let code = outcome.unwrap_or_else(|error| {
        render::error(&error, cli.command.has_target());
        match error.downcast_ref::<inrush::Error>().map(inrush::Error::kind) {
            Some(Kind::Usage) => USAGE,
            Some(Kind::Interrupted) => INTERRUPTED,
            _ => FAILED,
        }
    });
    ExitCode::from(code)
}

/// The exit code of a load that put so many bad rows aside, or of a bench with so many cells that failed.
fn loaded(rejected: u64) -> u8 {
    if rejected > 0 { DONE_WITH_REJECTS } else { DONE }
}
