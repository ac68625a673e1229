//! Files that are being written: hidden beside the place they will have, and locked while they are ours, so that what a killed
//! load left can be told from what another is writing, on whatever machine or in whatever container that one runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::error::{Error, Result};

/// What a hidden folder's name has behind that of its hidden file.
const FOLDER: &str = ".d";

/// What a hidden file's name has between that of the file it is for, and PID-COUNT.
const MARK: &str = ".inrush-";

/// A file that is ours alone until this goes. The file itself stays: it is published or removed by name.
#[derive(Debug)]
pub struct Pending {
    /// Where it is until it is published.
    pub path: PathBuf,
    /// Held for its lock. The kernel lets go of it when we are killed.
    locked: File,
}

impl Pending {
    /// Where it is, and the file itself to write into, which is ours alone until that is closed: one handle for both.
    pub fn into_file(self) -> (PathBuf, File) {
        (self.path, self.locked)
    }

    /// An empty file for what will be `path` once it is whole; `private` when only its owner may read it. What loads that were
    /// killed left for the same place is removed.
    ///
    /// # Errors
    /// When the directory can't be read or written.
    pub fn create(path: &Path, private: bool) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = name_of(path);
        let directory = directory(path);
        sweep(directory, |of| of == name)?;
        loop {
            let count = COUNT.fetch_add(1, Relaxed);
            let path = directory.join(format!(".{name}{MARK}{}-{count}", std::process::id()));
            let mut options = File::options();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(
                &mut options,
                if private { 0o600 } else { 0o666 },
            );
            let file = match options.open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            if is_ours(&path, file.try_lock())? {
                return Ok(Self { path, locked: file });
            }
        }
    }
}

/// Whether a new file is ours, as far as its lock says: between the two calls a sweep may have taken it for a dead load's.
///
/// # Errors
/// When it can't be locked. It is gone then.
fn is_ours(path: &Path, locked: Result<(), TryLockError>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(path.exists()),
        Err(TryLockError::Error(error)) if path.exists() => {
            let _ = fs::remove_file(path);
            Err(no_locks(directory(path), &error))
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Ok(false),
    }
}

/// Why nothing is written into a folder whose file system has no locks, or none left: what a killed load leaves there could not be told from
/// what another is writing.
fn no_locks(directory: &Path, error: &io::Error) -> io::Error {
    let shown = directory.display();
    let what = format!(
        "no file can be locked in the directory {shown} ({error}): name a file in another directory, on a local disk, or mount this one with locks"
    );
    io::Error::new(error.kind(), what)
}

/// A folder that is ours alone, hidden beside `path`, on the same file system; it goes when this does.
#[derive(Debug)]
pub struct PendingFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Held for its lock: what finds the folder without it sweeps both.
    file: Pending,
}

impl PendingFolder {
    /// An empty folder. What loads that were killed left for the same place is removed.
    ///
    /// # Errors
    /// When the directory can't be read or written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = Pending::create(path, true)?;
        let mut name = file.path.as_os_str().to_owned();
        name.push(FOLDER);
        let path = PathBuf::from(name);
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if let Err(error) = builder.create(&path) {
            let _ = fs::remove_file(&file.path);
            return Err(error);
        }
        Ok(Self { path, file })
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        // What can't be removed is swept by the next load.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(&self.file.path);
    }
}

/// A turn at putting a file in the place of another: who has it looks at what is there and gives the name to a new file, and no other load
/// does either meanwhile.
#[derive(Debug)]
pub struct Turn {
    path: PathBuf,
    /// Held for its lock. The kernel lets go of it when we are killed.
    _locked: File,
}

impl Turn {
    /// Waits for a turn at `path`. The lock is on a hidden file beside it, for a lock on the file itself or its folder may be that of the
    /// script that runs us.
    ///
    /// # Errors
    /// When the directory can't be written.
    pub fn wait(path: &Path) -> io::Result<Self> {
        let path = directory(path).join(format!(".{}{MARK}lock", name_of(path)));
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        // Whoever may write into the folder could have put a link here, to have a file made elsewhere, or a pipe, which would be waited for.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32,
        );
        let is_plain = || fs::symlink_metadata(&path).map_or(true, |found| found.is_file());
        let in_the_way = |error: io::Error| match is_plain() {
            true => error,
            false => {
                let what = format!("{} is in the way: it is no plain file", path.display());
                io::Error::new(io::ErrorKind::AlreadyExists, what)
            }
        };
        loop {
            let locked = options.open(&path).map_err(in_the_way)?;
            if !locked.metadata()?.is_file() {
                return Err(in_the_way(io::ErrorKind::AlreadyExists.into()));
            }
            match locked.lock() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(no_locks(directory(&path), &error)),
                Ok(()) => {}
            }
            // Who had the turn before has removed it.
            #[cfg(unix)]
            let is_there = std::os::unix::fs::MetadataExt::nlink(&locked.metadata()?) > 0;
            #[cfg(not(unix))]
            let is_there = path.exists();
            if is_there {
                return Ok(Self { path, _locked: locked });
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // While it is locked. One that can't be removed is the next turn's.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes what loads that were killed have left hidden beside `path`, whether or not `path` is there.
pub fn sweep_beside(path: &Path) {
    // A folder that can't be read or written holds nothing of ours, or keeps it.
    let name = name_of(path);
    let _ = sweep(directory(path), |of| of == name);
}

/// The same for many paths: each folder is read once.
pub fn sweep_beside_all(paths: impl IntoIterator<Item = PathBuf>) {
    let mut folders: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for path in paths {
        let names = folders.entry(directory(&path).to_owned()).or_default();
        names.insert(name_of(&path));
    }
    for (folder, names) in &folders {
        let _ = sweep(folder, |of| names.contains(of));
    }
}

/// Gives a hidden file the name that it is for, which has to be free: others see all of it, or nothing.
///
/// # Errors
/// Of kind `AlreadyExists` when another process has made a file of that name meanwhile; otherwise as the system says.
pub fn publish(hidden: &Path, path: &Path) -> io::Result<()> {
    // A hard link fails where a rename would overwrite.
    match fs::hard_link(hidden, path) {
        Ok(()) => {
            // The name that is left would be swept by the next load.
            let _ = fs::remove_file(hidden);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // A file system without hard links.
        Err(_) => fs::rename(hidden, path),
    }
}

/// Why a new database is not in its place, as [`publish`] or the disk says.
pub fn not_in_place(shown: impl fmt::Display, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::target(format!("{shown} was made by another process during the load"))
                .advise("run the load again: it will look at what is there now")
        }
        _ => Error::target(format!("cannot put the database in place as {shown}: {error}")),
    }
}

/// A file by the name that leads to it, so that it can be asked later whether the name still does: a database that is moved or replaced
/// while it is open goes on taking rows, and who opens the name afterwards finds none of them.
#[derive(Debug)]
pub struct Named {
    path: PathBuf,
    number: Option<(u64, u64)>,
}

impl Named {
    /// What is at `path` now, with links followed; `None` where nothing is.
    pub fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self { path: path.to_owned(), number: crate::path::number(&found) })
    }

    /// Whether the name still leads to the file. Elsewhere than on Unix files that are open keep their names, and it has to lead to one.
    pub fn is_in_place(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|found| crate::path::number(&found) == self.number)
    }

    /// Makes sure of that before rows are committed.
    ///
    /// # Errors
    /// When the name leads elsewhere, or nowhere.
    pub fn expect_in_place(&self, shown: impl fmt::Display) -> Result<()> {
        match self.is_in_place() {
            true => Ok(()),
            false => Err(not_at_its_name(shown)),
        }
    }

    /// The same once they are committed; `log` is where the engine has what it has not taken into the file yet.
    ///
    /// # Errors
    /// As [`Named::expect_in_place`], and they say where the rows are.
    pub fn expect_kept(&self, shown: impl fmt::Display, log: &Path) -> Result<()> {
        if self.is_in_place() {
            return Ok(());
        }
        let behind = match log.exists() {
            true => format!(" and in {}", log.display()),
            false => String::new(),
        };
        Err(Error::target(format!(
            "{shown} was moved, replaced or removed by another process during the commit: the rows are in the file that had this name \
             before{behind}"
        ))
        .advise(format!("look for that file, and put it back as {shown}"))
        .advise("or, if it is gone, run the load again: it will look at what is there now"))
    }
}

/// Why nothing is committed into a database that has lost its name.
pub fn not_at_its_name(shown: impl fmt::Display) -> Error {
    Error::target(format!("{shown} was moved, replaced or removed by another process meanwhile"))
        .advise("run the load again: it will look at what is there now")
}

/// Has the new name of a file survive a crash. What could not be made sure, in words: some file systems can't sync a directory, and
/// that undoes nothing.
pub fn sync_name(path: &Path) -> Option<String> {
    let synced = File::open(directory(path)).and_then(|directory| directory.sync_all());
    synced.err().map(|error| format!("the directory could not be synced: {error}"))
}

/// Where a link to a file that isn't there points: it is made there.
pub fn follow_link(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(goal) if !path.exists() => path = directory(&path).join(goal),
            _ => break,
        }
    }
    path
}

/// The file that a path leads to, behind all links, whether or not it is there.
pub fn behind_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| follow_link(path))
}

/// The path from the root on, without links among its folders, whether or not there is a file. A link in its own place is not followed.
pub fn from_root(path: &Path) -> PathBuf {
    match (directory(path).canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

/// What is at the place of a file, with links followed; `None` where nothing is. `what` is what should be there: "database".
///
/// # Errors
/// When it is a directory, a pipe or a device, which may have its reader wait for ever, or can't be looked at.
pub fn plain_file(path: &Path, what: &str) -> Result<Option<fs::Metadata>> {
    let shown = path.display();
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                _ => Err(Error::target(format!("{shown}: {error}"))
                    .advise("check the permissions of its directory")),
            };
        }
    };
    match () {
        () if found.is_file() => Ok(Some(found)),
        () if found.is_dir() => Err(Error::target(format!("{shown} is a directory, not a {what}"))
            .advise("name a file in it")),
        () => {
            Err(Error::target(format!("{shown} is not a file, but a pipe, a socket or a device"))
                .advise(format!("name the file of a {what}")))
        }
    }
}

/// The system has nowhere to make a new file: its directory isn't there, or is one in which nobody makes files, such as `/proc`.
pub fn no_directory(path: &Path) -> Error {
    let directory = directory(path);
    let shown = directory.display();
    match directory.is_dir() {
        true => Error::target(format!("the directory {shown} takes no new files"))
            .advise("name a file in another directory"),
        false => Error::target(format!("the directory {shown} does not exist"))
            .advise(format!("mkdir -p {shown}")),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of the file that a hidden one is for.
fn goal(hidden: &str) -> Option<&str> {
    let (name, rest) = hidden.strip_prefix('.')?.rsplit_once(MARK)?;
    let (pid, count) = rest.split_once('-')?;
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    (is_number(pid) && is_number(count)).then_some(name)
}

fn sweep(directory: &Path, is_swept: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(directory)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // What SQLite and DuckDB write beside it goes with it.
        if !goal(&name).is_some_and(&is_swept) {
            continue;
        }
        let Ok(file) = File::options().write(true).open(entry.path()) else { continue };
        match file.try_lock() {
            Ok(()) => {
                // Where a database spills what memory does not hold.
                let _ = fs::remove_dir_all(directory.join(format!("{name}.db.tmp")));
                let _ = fs::remove_dir_all(directory.join(format!("{name}{FOLDER}")));
                for suffix in ["-journal", "-wal", "-shm", ".db", ".db.wal", ""] {
                    // One that can't be removed harms nobody, and its turn comes again.
                    let _ = fs::remove_file(directory.join(format!("{name}{suffix}")));
                }
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
    Ok(())
}

/// The directory of a file named by the user.
pub fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_only_where_it_is_free() {
        let place = tempfile::tempdir().unwrap();
        let (hidden, path) = (place.path().join(".hidden"), place.path().join("a.db"));
        fs::write(&hidden, b"ours").unwrap();
        publish(&hidden, &path).unwrap();
        assert!(!hidden.exists());
        fs::write(&hidden, b"later").unwrap();
        assert_eq!(publish(&hidden, &path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&path).unwrap(), hidden.exists()), (b"ours".to_vec(), true));
        assert_eq!(sync_name(&path), None);
    }

    #[test]
    fn a_name_that_leads_to_another_file_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let (path, other) = (place.path().join("a.db"), place.path().join("b.db"));
        assert!(Named::of(&path).is_none());
        fs::write(&path, b"").unwrap();
        let named = Named::of(&path).unwrap();
        fs::write(&path, b"rows").unwrap();
        assert!(named.is_in_place());
        fs::rename(&path, &other).unwrap();
        assert!(!named.is_in_place());
        assert!(
            named.expect_in_place("a.db").is_err() && named.expect_kept("a.db", &other).is_err()
        );
        fs::write(&path, b"rows").unwrap();
        assert_eq!(named.is_in_place(), !cfg!(unix));
        fs::rename(&other, &path).unwrap();
        assert!(named.is_in_place());
        named.expect_in_place("a.db").unwrap();
        named.expect_kept("a.db", &other).unwrap();
    }

    #[test]
    fn a_file_that_can_not_be_locked_does_not_stay() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(".a.db.inrush-1-0");
        fs::write(&path, b"").unwrap();
        assert!(is_ours(&path, Ok(())).unwrap());
        assert!(!is_ours(&path, Err(TryLockError::WouldBlock)).unwrap());
        assert!(path.exists());
        let no_locks = || Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));
        let error = is_ours(&path, no_locks()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        let words = error.to_string();
        assert!(words.contains(&place.path().display().to_string()), "{words}");
        assert!(!path.exists() && !is_ours(&path, no_locks()).unwrap());
    }

    /// Each turn looks at what is there and puts one more in its place.
    #[test]
    fn turns_at_a_name_come_one_after_the_other() {
        const TURNS: usize = 50;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.csv");
        fs::write(&path, b"").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..TURNS {
                        let hidden = Pending::create(&path, false).unwrap();
                        let _turn = Turn::wait(&path).unwrap();
                        let mut bytes = fs::read(&path).unwrap();
                        bytes.push(b'x');
                        fs::write(&hidden.path, bytes).unwrap();
                        fs::rename(&hidden.path, &path).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read(&path).unwrap().len(), 4 * TURNS);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    /// Such as another user of the folder may have put there.
    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_is_not_opened_for_a_turn() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.csv");
        let lock = place.path().join(".a.csv.inrush-lock");
        let elsewhere = place.path().join("elsewhere");
        let refused = || {
            let words = Turn::wait(&path).unwrap_err().to_string();
            assert!(words.contains(".a.csv.inrush-lock is in the way"), "{words}");
            fs::remove_file(&lock).unwrap();
        };
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        refused();
        assert!(!elsewhere.exists());
        fs::write(&elsewhere, b"").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        refused();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &lock,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        refused();
        Turn::wait(&path).unwrap();
    }

    #[test]
    fn what_the_dead_left_is_swept_and_the_living_are_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.db");
        let living = Pending::create(&path, true).unwrap();
        // Even with our own process id: in a container every load has the same.
        let dead = [
            format!(".a.db.inrush-{}-4000000000", std::process::id()),
            ".a.db.inrush-1-0".to_owned(),
        ];
        let beside = [".a.db.inrush-1-0-journal", ".a.db.inrush-1-0-wal"];
        let others = ["a.db", ".b.db.inrush-1-0", ".a.db.inrush-x", ".a.db.inrush-1-0.txt"];
        let write = |name: &str| fs::write(place.path().join(name), b"").unwrap();
        dead.iter().for_each(|name| write(name));
        beside.iter().chain(&others).for_each(|name| write(name));
        let folder = place.path().join(".a.db.inrush-1-0.d");
        fs::create_dir(&folder).unwrap();
        write(".a.db.inrush-1-0.d/a.db");
        let second = Pending::create(&path, true).unwrap();
        assert!(!folder.exists());
        let of_living = PendingFolder::create(&path).unwrap();
        sweep_beside(&path);
        assert!(of_living.path.exists());
        let (folder, file) = (of_living.path.clone(), of_living.file.path.clone());
        drop(of_living);
        assert!(!folder.exists() && !file.exists());
        assert_ne!(living.path, second.path);
        assert!(living.path.exists() && second.path.exists());
        assert!(others.iter().all(|name| place.path().join(name).exists()));
        assert!(!dead.iter().any(|name| place.path().join(name).exists()));
        assert!(!beside.iter().any(|name| place.path().join(name).exists()));
        dead.iter().for_each(|name| write(name));
        sweep_beside_all(["b.db", "a.db", "c.db"].map(|name| place.path().join(name)));
        let left = |name: &&&str| place.path().join(name).exists();
        assert_eq!(others.iter().filter(left).count(), others.len() - 1);
        assert!(!dead.iter().any(|name| place.path().join(name).exists()));
        assert!(living.path.exists() && second.path.exists());
    }
}
