//! The `inrush` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(inrush_cli::run(std::env::args_os().collect()))
}
