//! A process that we started, and end.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a process or a socket is looked at while we wait for it. Small against the 200 ms in which the fastest server starts.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);

/// From SIGTERM until it has ended. A busy MySQL flushes for some seconds.
pub(super) const STOP_MAX: Duration = Duration::from_secs(20);

/// A running process. It is ended when this goes.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
}

impl Process {
    /// Starts `command` with nothing to read but `input`; whatever it says is added to `log`.
    ///
    /// It stays in our process group, so that whoever ends the group of a test that hangs, ends its servers too.
    ///
    /// # Errors
    /// When the program can't be run, or the log not be written.
    pub(super) fn start(command: &mut Command, input: Stdio, log: &Path) -> io::Result<Self> {
        let log = File::options().create(true).append(true).open(log)?;
        let child = command.stdin(input).stdout(log.try_clone()?).stderr(log).spawn()?;
        Ok(Self { child })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// When the system can't say.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// How it ended, if it does within `limit`.
    ///
    /// # Errors
    /// When the system can't say.
    pub(super) fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + limit;
        loop {
            let ended = self.ended()?;
            if ended.is_some() || Instant::now() >= deadline {
                return Ok(ended);
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Asks it to end, and how it did; kills it if it has not done so within `limit`.
    ///
    /// # Errors
    /// When the system can't say how it ended.
    pub(super) fn stop(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        if self.ended()?.is_none() {
            self.ask_to_end();
        }
        let ended = self.wait(limit)?;
        if ended.is_none() {
            self.kill()?;
        }
        Ok(ended)
    }

    /// Ends it where it stands.
    ///
    /// # Errors
    /// When the system can't say how it ended.
    pub(super) fn kill(&mut self) -> io::Result<ExitStatus> {
        self.child.kill()?;
        self.child.wait()
    }

    fn ask_to_end(&self) {
        let Ok(id) = libc::pid_t::try_from(self.child.id()) else { return };
        // SAFETY: kill() touches no memory. The number is our child's: it has not been waited for, or `ended` would know, so no
        // other process can have been given it.
        unsafe { libc::kill(id, libc::SIGTERM) };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.stop(STOP_MAX);
    }
}

/// Runs `command` to its end; what it says is added to `log`.
///
/// # Errors
/// When it can't be run, fails, or is not done within `limit`.
pub(super) fn run_to_end(
    command: &mut Command,
    input: Stdio,
    log: &Path,
    limit: Duration,
) -> io::Result<()> {
    match Process::start(command, input, log)?.wait(limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(io::Error::other(status.to_string())),
        None => Err(io::Error::other(format!("not done within {} s", limit.as_secs()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Process, tempfile::TempDir) {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join("log");
        let mut command = Command::new("sh");
        let process = Process::start(command.arg("-c").arg(script), Stdio::null(), &log).unwrap();
        // Until it has said so, it has not got to its `trap`.
        while std::fs::read(&log).unwrap().is_empty() {
            std::thread::sleep(LOOK_EVERY);
        }
        (process, place)
    }

    #[test]
    fn a_process_that_will_not_end_is_killed() {
        let (mut deaf, _place) = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
        assert_eq!(deaf.stop(Duration::from_millis(100)).unwrap(), None);
        let (mut tidy, _place) =
            shell("trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done");
        let code = |ended: Option<ExitStatus>| ended.and_then(|status| status.code());
        assert_eq!(code(tidy.stop(STOP_MAX).unwrap()), Some(3));
        // Once more is no error.
        assert_eq!(code(tidy.stop(Duration::ZERO).unwrap()), Some(3));
    }
}
