//! A process that we started, and end.

use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::keeper::Will;
use super::place::Place;

/// How often a process or a socket is looked at while we wait for it. Small against the 200 ms in which the fastest server starts.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);

/// From the request to end until it has ended. A busy MySQL flushes for some seconds.
pub(super) const STOP_MAX: Duration = Duration::from_secs(20);

/// From SIGKILL until a process is dead, or from SIGSTOP until it stands still: the kernel does so at once, or is in the middle of
/// a write.
const HALT_MAX: Duration = Duration::from_secs(5);

/// A running process. It is ended when this goes.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stop_signal: i32,
    will: Will,
}

impl Process {
    /// Starts `command`, which works in `place`, with nothing to read but `input`; whatever it says is added to the log there.
    ///
    /// It stays in our process group, so that whoever ends the group of a test that hangs, ends its servers too.
    ///
    /// # Errors
    /// When the program can't be run, or the log not be written.
    pub(super) fn start(command: &mut Command, input: Stdio, place: &Place) -> io::Result<Self> {
        let log = File::options().create(true).append(true).open(place.log())?;
        let child = command.stdin(input).stdout(log.try_clone()?).stderr(log).spawn()?;
        Ok(Self { child, stop_signal: libc::SIGTERM, will: place.will() }.stopped_by(libc::SIGTERM))
    }

    /// The same, to be ended by another signal than SIGTERM.
    pub(super) fn stopped_by(mut self, signal: i32) -> Self {
        self.stop_signal = signal;
        self.will.end(self.id(), signal);
        self
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
            self.send(self.stop_signal);
        }
        let ended = self.wait(limit)?;
        if ended.is_none() {
            self.kill()?;
        }
        Ok(ended)
    }

    /// Ends it where it stands, and its children with it: a PostgreSQL has one for each connection, which would go on for a
    /// while, and as long as one does, no other can be started on the same data.
    ///
    /// # Errors
    /// When the system can't say how it ended.
    pub(super) fn kill(&mut self) -> io::Result<ExitStatus> {
        if self.ended()?.is_none() {
            self.kill_children();
        }
        self.child.kill()?;
        self.child.wait()
    }

    /// A process that stands still starts no children, and does not wait for those that have ended, so that their numbers stay
    /// theirs until it goes itself. Where there is no /proc, they are left to notice by themselves.
    fn kill_children(&self) {
        self.send(libc::SIGSTOP);
        let deadline = Instant::now() + HALT_MAX;
        while Instant::now() < deadline {
            let processes = processes();
            let Some(parent) = processes.iter().find(|process| process.id == self.id()) else {
                return;
            };
            if matches!(parent.state, 'T' | 't') {
                let is_living =
                    |child: &&Entry| child.parent == self.id() && !matches!(child.state, 'Z' | 'X');
                let living: Vec<_> = processes.iter().filter(is_living).collect();
                if living.is_empty() {
                    return;
                }
                for child in living {
                    send(child.id, libc::SIGKILL);
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// To a process that has not ended, as far as we know.
    fn send(&self, signal: i32) {
        send(self.child.id(), signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody is left to tell.
        let _ = self.stop(STOP_MAX);
        self.will.ended();
    }
}

/// To our child, or to a child of it while that stands still. None of them has been waited for (or `ended` would know), so no
/// other process can have been given its number.
fn send(id: u32, signal: i32) {
    let Ok(id) = libc::pid_t::try_from(id) else { return };
    // SAFETY: kill() touches no memory. Whom it reaches, see above.
    unsafe { libc::kill(id, signal) };
}

/// A process of this machine.
struct Entry {
    id: u32,
    /// As /proc has it: T is stopped, Z is dead and not waited for.
    state: char,
    parent: u32,
}

/// All of them; none where there is no /proc.
fn processes() -> Vec<Entry> {
    let Ok(folders) = std::fs::read_dir("/proc") else { return Vec::new() };
    folders
        .filter_map(|folder| {
            let folder = folder.ok()?;
            let id = folder.file_name().to_str()?.parse().ok()?;
            // `12 (a name, with anything in it) S 1 ...`
            let stat = std::fs::read(folder.path().join("stat")).ok()?;
            let stat = String::from_utf8_lossy(&stat);
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?.chars().next()?;
            Some(Entry { id, state, parent: fields.next()?.parse().ok()? })
        })
        .collect()
}

/// Runs `command`, which works in `place`, to its end; what it says is added to the log there.
///
/// # Errors
/// When it can't be run, fails, or is not done within `limit`.
pub(super) fn run_to_end(
    command: &mut Command,
    input: Stdio,
    place: &Place,
    limit: Duration,
) -> io::Result<()> {
    match Process::start(command, input, place)?.wait(limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(io::Error::other(status.to_string())),
        None => Err(io::Error::other(format!("not done within {} s", limit.as_secs()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Process, Place) {
        let place = Place::create(&std::env::temp_dir()).unwrap();
        let mut command = Command::new("sh");
        let process = Process::start(command.arg("-c").arg(script), Stdio::null(), &place).unwrap();
        // Until it has said so, it has not got to its `trap`.
        while std::fs::read(place.log()).unwrap().is_empty() {
            std::thread::sleep(LOOK_EVERY);
        }
        (process, place)
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_killed_process_takes_its_children_along() {
        let (mut parent, _place) = shell("sleep 600 & sleep 600 & echo ready; wait");
        let children: Vec<_> =
            processes().into_iter().filter(|process| process.parent == parent.id()).collect();
        assert_eq!(children.len(), 2);
        parent.kill().unwrap();
        let is_living = |id| {
            processes()
                .iter()
                .any(|process| process.id == id && !matches!(process.state, 'Z' | 'X'))
        };
        assert!(!children.iter().any(|child| is_living(child.id)));
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
