//! Who has locked a file. Linux tells; elsewhere nothing is known.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::pending::{behind_links, from_root};

/// A lock of a process on a range of a file's bytes, as `fcntl` makes it. Those of one process never exclude each other, and all of them
/// go when the process closes the file once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLock {
    /// Whose it is.
    pub pid: u32,
    /// Whether it shuts out readers, too.
    pub is_exclusive: bool,
    /// Where the range begins.
    pub first_byte: u64,
    /// Its last byte; `u64::MAX` where it has no end.
    pub last_byte: u64,
}

impl FileLock {
    /// Whether it is this process's.
    pub fn is_own(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Whether the byte is in the range.
    pub fn covers(&self, byte: u64) -> bool {
        (self.first_byte..=self.last_byte).contains(&byte)
    }
}

/// How long a lock may last that its owner has let go of: a process that is being started holds what was open when it was forked, until its
/// program begins.
pub const LOCK_LINGERS: Duration = Duration::from_millis(200);

/// Locks a whole file, as its handle has it (`flock`), as soon as nobody else does, and within that time.
///
/// # Errors
/// When another handle has it locked by then, or it can't be locked.
pub fn lock_within(file: &File, patience: Duration) -> Result<(), TryLockError> {
    const PAUSE: Duration = Duration::from_millis(10);
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                std::thread::sleep(PAUSE)
            }
            locked => return locked,
        }
    }
}

/// Whether the program around may have libraries of its own for the files that engines' libraries here write.
static HAS_OTHER_LIBRARIES: AtomicBool = AtomicBool::new(false);

/// Says that the program around may have open, by libraries of its own, the files that engines' libraries here write: Python has an SQLite.
/// A program in Rust links one SQLite alone, for Cargo lets one package link a native library.
pub fn expect_other_libraries() {
    HAS_OTHER_LIBRARIES.store(true, Relaxed);
}

/// Whether [`expect_other_libraries`] was called.
pub fn has_other_libraries() -> bool {
    HAS_OTHER_LIBRARIES.load(Relaxed)
}

/// A file that an engine's library has open in this process: the locks on it are the library's to look after.
#[derive(Debug)]
pub struct Claim(ClaimKey);

/// By the process, for one that it forks has no part in it.
type ClaimKey = (u32, PathBuf);

/// How many claims there are.
static CLAIMS: Mutex<BTreeMap<ClaimKey, usize>> = Mutex::new(BTreeMap::new());

impl Claim {
    /// Claims a file, which need not be there. Of one without a claim `look` is asked first; meanwhile no other is made or given back.
    ///
    /// # Errors
    /// Those of `look`.
    pub fn new<E>(path: &Path, look: impl FnOnce() -> Result<(), E>) -> Result<Self, E> {
        let key = claim_key(path);
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        if !claims.contains_key(&key) {
            look()?;
        }
        *claims.entry(key.clone()).or_default() += 1;
        Ok(Self(key))
    }

    /// Whether there is no claim on the file, and `look` says so. Meanwhile none is made or given back.
    pub fn is_free_and(path: &Path, look: impl FnOnce() -> bool) -> bool {
        let claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        !claims.contains_key(&claim_key(path)) && look()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = CLAIMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = claims.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                claims.remove(&self.0);
            }
        }
    }
}

/// A file has one, however it is named and whether or not it is there.
fn claim_key(path: &Path) -> ClaimKey {
    (std::process::id(), from_root(&behind_links(path)))
}

/// The locks on a file, which is not opened for that.
#[cfg(target_os = "linux")]
pub fn of(path: &Path) -> Vec<FileLock> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(found) = std::fs::metadata(path) else { return Vec::new() };
    let of_file = |text: &str| -> Vec<FileLock> {
        let lines = text.lines().map(|line| line.strip_prefix("lock:").unwrap_or(line));
        // The device is another one there than in the metadata on some file systems.
        lines
            .filter_map(parsed)
            .filter(|(inode, _)| *inode == found.ino())
            .map(|lock| lock.1)
            .collect()
    };
    // The system's list comes page by page, and misses some while other files' locks come and go. What this process has locked it has
    // open, and of an open file the system tells all at once
    // (<https://docs.kernel.org/filesystems/proc.html#file-lock-information>).
    let is_it = |open: &std::fs::Metadata| (open.dev(), open.ino()) == (found.dev(), found.ino());
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut locks: Vec<FileLock> = open
        .filter(|entry| std::fs::metadata(entry.path()).is_ok_and(|open| is_it(&open)))
        .filter_map(|entry| {
            std::fs::read_to_string(Path::new("/proc/self/fdinfo").join(entry.file_name())).ok()
        })
        .flat_map(|info| of_file(&info))
        .filter(FileLock::is_own)
        .collect();
    let all = of_file(&std::fs::read_to_string("/proc/locks").unwrap_or_default());
    locks.extend(all.into_iter().filter(|lock| !lock.is_own()));
    locks
}

#[cfg(not(target_os = "linux"))]
pub fn of(_path: &Path) -> Vec<FileLock> {
    Vec::new()
}

/// A line of `/proc/locks`, or of what the system tells of an open file: the inode, and the lock.
///
/// ```text
/// 1: POSIX  ADVISORY  WRITE 4711 fe:00:1234567 1073741824 1073742335
/// ```
#[cfg(any(target_os = "linux", test))]
fn parsed(line: &str) -> Option<(u64, FileLock)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "POSIX", _, kind, pid, inode, first, last] = words[..] else { return None };
    let lock = FileLock {
        pid: pid.parse().ok()?,
        is_exclusive: kind == "WRITE",
        first_byte: first.parse().ok()?,
        last_byte: if last == "EOF" { u64::MAX } else { last.parse().ok()? },
    };
    Some((inode.rsplit(':').next()?.parse().ok()?, lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system() {
        let lock = |line| parsed(line).map(|(inode, lock)| (inode, lock.pid, lock.is_exclusive));
        assert_eq!(
            lock("1: POSIX  ADVISORY  WRITE 4711 fe:00:1234567 1073741824 1073742335"),
            Some((1_234_567, 4711, true))
        );
        assert_eq!(lock("2: POSIX  ADVISORY  READ  12 00:1b:7 0 EOF"), Some((7, 12, false)));
        // One that waits, one of another sort, and one of no process.
        assert_eq!(lock("3: -> POSIX  ADVISORY  WRITE 4711 fe:00:1234567 0 EOF"), None);
        assert_eq!(lock("4: FLOCK  ADVISORY  WRITE 4711 fe:00:1234567 0 EOF"), None);
        assert_eq!(lock("5: OFDLCK ADVISORY  WRITE -1 fe:00:1234567 0 EOF"), None);
        let (_, all) = parsed("6: POSIX  ADVISORY  READ  12 00:1b:7 128 EOF").unwrap();
        assert!(all.covers(128) && all.covers(u64::MAX) && !all.covers(127));
    }
}
