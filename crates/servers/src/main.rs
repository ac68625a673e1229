//! Servers for as long as a command runs: `cargo run -p inrush-servers -- NAME... -- COMMAND ARGS...`
//!
//! COMMAND finds them in the environment variable INRUSH_TEST_SERVERS, as `NAME=URL` with spaces between. They have the settings
//! for tests. The exit code is COMMAND's.
#![allow(clippy::print_stderr, reason = "a program has nobody else to tell")]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use inrush_servers::{Installed, Server};
use signal_hook::consts::{SIGINT, SIGTERM};

/// After a Ctrl-C the command has so long to end by itself.
const TIDY_MAX: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("servers: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<u8, Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = args.splitn(2, |arg| arg == "--");
    let (names, command) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let [program, command_args @ ..] = command else {
        return Err("usage: servers NAME... -- COMMAND ARGS...".into());
    };
    let signals = Signals::watch()?;
    let servers = start(names)?;
    if let Some(signal) = signals.seen() {
        return Ok(code_of_signal(signal));
    }
    let list: Vec<_> = names
        .iter()
        .zip(&servers)
        .map(|(name, server)| format!("{name}={}", server.url()))
        .collect();
    let mut child = Command::new(program)
        .args(command_args)
        .env("INRUSH_TEST_SERVERS", list.join(" "))
        .spawn()
        .map_err(|error| format!("can't run {program}: {error}"))?;
    let status = wait(&mut child, &signals)?;
    for mut server in servers {
        // The command has had its say, but a server that it broke is no success.
        server.stop()?;
    }
    Ok(match (signals.seen(), status.code()) {
        (Some(signal), _) => code_of_signal(signal),
        (None, Some(code)) => u8::try_from(code).unwrap_or(u8::MAX),
        (None, None) => code_of_signal(status.signal().unwrap_or(SIGTERM)),
    })
}

/// All at once: MySQL 8.0 takes 5 s, and most of them it waits for the disk.
fn start(names: &[String]) -> Result<Vec<Server>, inrush_core::Error> {
    let installed =
        names.iter().map(|name| Installed::find(name)).collect::<Result<Vec<_>, _>>()?;
    std::thread::scope(|scope| {
        let starts: Vec<_> = installed
            .iter()
            .map(|installed| scope.spawn(|| Server::start(installed, &installed.test_settings())))
            .collect();
        starts
            .into_iter()
            .map(|start| start.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Until the command ends, and not much longer than until we are asked to end.
fn wait(child: &mut Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        match (signals.seen(), asked) {
            (Some(signal), None) => {
                asked = Some(Instant::now());
                if signal == SIGTERM || has_own_group(child) {
                    send(child, signal);
                }
            }
            (Some(_), Some(since)) if since.elapsed() > TIDY_MAX * 2 => child.kill()?,
            (Some(SIGINT), Some(since)) if since.elapsed() > TIDY_MAX => send(child, SIGTERM),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The terminal sends Ctrl-C to one process group, ours. A command that is in another one (`timeout` makes its own, and ends all of it)
/// hears of it from us alone; any other would hear of it twice.
fn has_own_group(child: &Child) -> bool {
    let Ok(id) = libc::pid_t::try_from(child.id()) else { return false };
    // SAFETY: neither call touches memory, and a child that has not been waited for keeps its number.
    unsafe { libc::getpgid(id) != libc::getpgrp() }
}

fn send(child: &Child, signal: i32) {
    let Ok(id) = libc::pid_t::try_from(child.id()) else { return };
    // SAFETY: kill() touches no memory, and a child that has not been waited for keeps its number.
    unsafe { libc::kill(id, signal) };
}

fn code_of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Which of the signals that ask us to end have come.
struct Signals([(i32, Arc<AtomicBool>); 2]);

impl Signals {
    fn watch() -> std::io::Result<Self> {
        let watched = [SIGINT, SIGTERM].map(|signal| (signal, Arc::<AtomicBool>::default()));
        for (signal, flag) in &watched {
            signal_hook::flag::register(*signal, Arc::clone(flag))?;
        }
        Ok(Self(watched))
    }

    /// The gravest of those that have come.
    fn seen(&self) -> Option<i32> {
        self.0.iter().rev().find(|(_, flag)| flag.load(Relaxed)).map(|(signal, _)| *signal)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn a_command_with_a_group_of_its_own_gets_the_ctrl_c() {
        let mut sleep = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let signals = Signals([(SIGINT, Arc::new(true.into())), (SIGTERM, Arc::default())]);
        let status = wait(&mut sleep, &signals).unwrap();
        assert_eq!(status.signal(), Some(SIGINT));
    }
}
