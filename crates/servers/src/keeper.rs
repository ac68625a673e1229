//! What becomes of a private directory and its server where we are killed: a process of its own waits for that.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::process::STOP_MAX;

/// Waits until its input ends, which is when we are gone. The last line is of the process that runs then: the signal that ends it in good
/// order, and its number; or empty, if none does. A process that works elsewhere has been given the number since. One that is dead, and for
/// which a container's first process does not wait, works nowhere.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
last=
while read -r line; do last=$line; done
set -- "$1" "$2" $last
tries=$2
again() { tries=$((tries - 1)); [ "$tries" -gt 0 ] && sleep 1; }
lives() {
    kill -0 "$1" && case $(readlink "/proc/$1/cwd" || [ -d /proc/self ] || echo "$2") in "$2"*) ;; *) false ;; esac
}
if [ -n "$4" ] && lives "$4" "$1"; then
    kill "-$3" "$4"
    while again && lives "$4" "$1"; do :; done
    if lives "$4" "$1"; then kill -KILL "$4"; fi
    tries=$2
fi
until rm -rf -- "$1" || ! again; do :; done
"#;

/// The process. It clears up once this goes.
#[derive(Debug)]
pub(super) struct Keeper {
    shell: Child,
    /// While this is open it waits.
    life: Option<Arc<Mutex<ChildStdin>>>,
}

/// Tells the keeper which process runs. It holds nothing up.
#[derive(Clone, Debug, Default)]
pub(super) struct Will(Weak<Mutex<ChildStdin>>);

impl Will {
    /// Process `id` is to be ended by `signal`.
    pub(super) fn end(&self, id: u32, signal: i32) {
        self.say(&format!("{signal} {id}\n"));
    }

    /// It has ended.
    pub(super) fn ended(&self) {
        self.say("\n");
    }

    fn say(&self, line: &str) {
        let Some(life) = self.0.upgrade() else { return };
        // A keeper that was killed keeps nothing, and nothing fails for that.
        let _ = life.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}

impl Keeper {
    /// One for `directory`.
    ///
    /// # Errors
    /// When there is no shell.
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "inrush-keeper"])
            .arg(directory)
            .arg(STOP_MAX.as_secs().to_string())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Whoever kills our group kills the server, and the directory is left to it.
            .process_group(0)
            .spawn()?;
        let life = shell.stdin.take().map(|life| Arc::new(Mutex::new(life)));
        Ok(Self { shell, life })
    }

    pub(super) fn will(&self) -> Will {
        Will(self.life.as_ref().map(Arc::downgrade).unwrap_or_default())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.life = None;
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::fs;
    use std::time::{Duration, Instant};

    use super::super::place::Place;
    use super::super::process::{LOOK_EVERY, Process};
    use super::*;

    const VARIABLE: &str = "INRUSH_TEST_KEEPER";

    /// Whether it comes true.
    fn becomes(is_so: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        while !is_so() {
            if began.elapsed() > Duration::from_secs(60) {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        true
    }

    #[test]
    fn what_a_killed_process_leaves_is_cleared_up() {
        if let Some(parent) = env::var_os(VARIABLE) {
            // We are the one that is killed. The server writes that it was asked to end.
            let place = Place::create(Path::new(&parent)).unwrap();
            let script = "trap 'echo asked > ../asked; exit' INT; echo $$ > ../id; while :; do sleep 0.01; done";
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(place.directory());
            let server = Process::start(&mut command, Stdio::null(), &place).unwrap();
            let _server = server.stopped_by(libc::SIGINT);
            fs::write(Path::new(&parent).join("started"), "").unwrap();
            std::thread::sleep(Duration::from_secs(600));
        }
        let parent = tempfile::tempdir().unwrap();
        let here = parent.path();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "keeper::tests::what_a_killed_process_leaves_is_cleared_up"])
            .env(VARIABLE, here)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let id = || fs::read_to_string(here.join("id")).unwrap_or_default().trim().to_owned();
        assert!(becomes(|| here.join("started").exists() && !id().is_empty()));
        let names = || -> Vec<_> {
            let entries = fs::read_dir(here).unwrap().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
        };
        let has_place = || names().iter().any(|name| name.starts_with("inrush-place-"));
        assert!(has_place(), "{:?}", names());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(becomes(|| !has_place()), "{:?}", names());
        assert!(here.join("asked").exists());
        let lives = || Command::new("kill").args(["-0", &id()]).stderr(Stdio::null()).status();
        let is_dead = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", id())).unwrap_or_default();
            stat.contains(") Z ") || !lives().unwrap().success()
        };
        assert!(becomes(is_dead));
    }
}
