//! Where a run's databases and rows lie while it runs. Nothing of it is left when the run ends, however it ends: a process of its own
//! waits for that.

use std::fs::{self, DirBuilder};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::crew::WorkerProgram;
use crate::fleet;
use crate::task::{Left, Order};
use inrush_core::error::{Error, Result};
use inrush_core::unique;

/// A server flushes for some seconds.
const STOP_MAX: Duration = Duration::from_secs(20);

/// A run's folder on the disk that is measured.
pub(super) struct Ground {
    folder: PathBuf,
    keeper: Child,
    /// While this is open the keeper waits.
    life: Option<Arc<Mutex<ChildStdin>>>,
}

/// Tells the keeper which databases of ours are on servers of the user's. It holds no run's end up.
#[derive(Clone, Default)]
pub(super) struct Will(Weak<Mutex<ChildStdin>>);

impl Will {
    /// Without a keeper the bench drops what it can itself.
    pub(super) fn say(&self, order: &Order) {
        let Some(life) = self.0.upgrade() else { return };
        let Ok(order) = serde_json::to_string(order) else { return };
        let mut life = life.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = life.write_all(format!("{order}\n").as_bytes());
    }
}

impl Ground {
    /// Makes one in `parent`, or where the system has temporary files.
    pub(super) fn make(parent: Option<&Path>, worker: &WorkerProgram) -> Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let unmade = |error| {
            Error::target(format!("can't make a folder in {}: {error}", parent.display()))
                .advise("--place names another place for databases and rows")
        };
        let parent = parent.canonicalize().map_err(unmade)?;
        let folder = parent.join(format!("inrush-bench-{}", unique::word()));
        // Others may pass, for a server that runs as another user, and see nothing.
        DirBuilder::new().mode(0o711).create(&folder).map_err(unmade)?;
        let mut keeper = Command::new(&worker.path)
            .args(&worker.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(unmade)?;
        let mut life = keeper.stdin.take();
        let order = serde_json::to_string(&Order::Keep(folder.clone())).unwrap_or_default();
        let told = life.as_mut().map(|life| life.write_all(format!("{order}\n").as_bytes()));
        let mut answer = String::new();
        let heard = keeper.stdout.take().map(|out| BufReader::new(out).read_line(&mut answer));
        match (told, heard) {
            (Some(Ok(())), Some(Ok(1..))) => {
                let life = life.map(|life| Arc::new(Mutex::new(life)));
                Ok(Self { folder, keeper, life })
            }
            _ => {
                clear(&folder);
                Err(Error::target(format!("{} is no inrush", worker.path.display())))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    pub(super) fn will(&self) -> Will {
        Will(self.life.as_ref().map(Arc::downgrade).unwrap_or_default())
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.life = None;
        // It clears up, which takes a moment; and whatever became of it, we do.
        let _ = self.keeper.wait();
        clear(&self.folder);
    }
}

/// Waits until `gone` returns, which is when the bench is gone, and clears up after it, with the databases that it has left. Only a kill
/// keeps it from that.
pub(super) fn keep(folder: &Path, gone: impl FnOnce() -> Vec<Left>) {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: no handler of ours runs; the process has begun nothing else.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let left = gone();
    clear(folder);
    let began = Instant::now();
    for database in left {
        // Workers that are still at their last statement may hold it.
        while fleet::drop_left(&database).is_err() && began.elapsed() < STOP_MAX * 2 {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Has the file system write back what came before, so that nobody pays for it in a measured phase.
pub(super) fn settle(folder: &Path) {
    let Ok(folder) = fs::File::open(folder) else { return };
    // SAFETY: the descriptor is open until `folder` goes.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::syncfs(folder.as_raw_fd());
    }
    #[cfg(not(target_os = "linux"))]
    let _ = folder.sync_all();
}

/// Removes a run's folder. Servers that the run has left have keepers of their own, which end them.
fn clear(folder: &Path) {
    let began = Instant::now();
    // Servers and workers that are still at their last statement may make files meanwhile.
    while fs::remove_dir_all(folder).is_err() && folder.exists() && began.elapsed() < STOP_MAX * 2 {
        std::thread::sleep(Duration::from_millis(100));
    }
}
