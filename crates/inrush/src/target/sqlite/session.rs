//! One connection to one database file, and SQLite's errors in words.

use std::ffi::{CStr, c_int, c_void};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use rusqlite::{Connection, OpenFlags, ffi};

use crate::error::{Error, Kind, Result};
use crate::target::sqlite::JOURNALS;

/// A connection, and where its file really is.
pub(super) struct Session<'a> {
    /// `None` only after [`Session::close`].
    connection: Option<Connection>,
    /// The path the user named.
    pub(super) path: PathBuf,
    /// The file being written until the load has committed, when the database isn't there yet.
    temporary: Option<PathBuf>,
    /// What the progress handler looks at, while there is one.
    watched: Option<&'a AtomicBool>,
}

impl<'a> Session<'a> {
    /// Opens the database for writing. One that isn't there is written under a temporary name beside it, so that a load that
    /// is killed leaves nothing under the target's name.
    pub(super) fn open(path: &Path, busy_timeout_ms: u64) -> Result<Self> {
        let temporary = if path.exists() { None } else { Some(temporary_path(path)?) };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = temporary.as_deref().unwrap_or(path);
        let connection =
            Connection::open_with_flags(file, flags).map_err(|error| explain(path, &error))?;
        connection
            .busy_timeout(std::time::Duration::from_millis(busy_timeout_ms))
            .map_err(|error| explain(path, &error))?;
        Ok(Self { connection: Some(connection), path: path.to_owned(), temporary, watched: None })
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("open until closed")
    }

    /// Runs statements that answer with nothing.
    pub(super) fn execute(&self, sql: &str) -> Result<()> {
        self.connection().execute_batch(sql).map_err(|error| self.explain(&error))
    }

    /// The one value that a query answers with, as text.
    pub(super) fn value(&self, sql: &str) -> Result<String> {
        self.connection()
            .query_row(sql, [], |row| {
                row.get_ref(0).map(|value| match value {
                    rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                    rusqlite::types::ValueRef::Text(text) => {
                        String::from_utf8_lossy(text).into_owned()
                    }
                    _ => String::new(),
                })
            })
            .map_err(|error| self.explain(&error))
    }

    /// Whether an explicit transaction is open.
    pub(super) fn in_transaction(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| !connection.is_autocommit())
    }

    pub(super) fn explain(&self, error: &rusqlite::Error) -> Error {
        explain(&self.path, error)
    }

    /// The last failure on this connection.
    pub(super) fn last_error(&self) -> Error {
        let (code, message) = self.last_failure();
        explain_code(&self.path, code, &message)
    }

    /// Extended result code and message of the last failure on this connection.
    pub(super) fn last_failure(&self) -> (c_int, String) {
        // SAFETY: the handle is open, and the message is copied before anything else uses the connection.
        unsafe {
            let handle = self.connection().handle();
            let message =
                CStr::from_ptr(ffi::sqlite3_errmsg(handle)).to_string_lossy().into_owned();
            (ffi::sqlite3_extended_errcode(handle), message)
        }
    }

    /// Makes long statements end with SQLITE_INTERRUPT once `stop` is set.
    pub(super) fn watch(&mut self, stop: &'a AtomicBool) {
        unsafe extern "C" fn stopped(stop: *mut c_void) -> c_int {
            // SAFETY: the session holds the reference while the handler is registered, and unregisters before it goes.
            c_int::from(unsafe { &*stop.cast::<AtomicBool>() }.load(Relaxed))
        }
        // Looked at about every 10,000 instructions of SQLite's machine: some tenths of a millisecond.
        // SAFETY: the callback fits the pointer, which is valid for 'a, longer than the session.
        unsafe {
            let stop = std::ptr::from_ref(stop).cast_mut().cast::<c_void>();
            ffi::sqlite3_progress_handler(self.connection().handle(), 10_000, Some(stopped), stop);
        }
        self.watched = Some(stop);
    }

    /// Ends [`Session::watch`]: undoing a load must not be interrupted.
    pub(super) fn unwatch(&mut self) {
        if self.watched.take().is_some() {
            // SAFETY: the handle is open; no callback is registered after this.
            unsafe {
                ffi::sqlite3_progress_handler(
                    self.connection().handle(),
                    0,
                    None,
                    std::ptr::null_mut(),
                )
            }
        }
    }

    /// Closes the connection; a database that is new gets its name, safe on disk.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.unwatch();
        if let Some(connection) = self.connection.take() {
            connection.close().map_err(|(_, error)| explain(&self.path, &error))?;
        }
        if let Some(temporary) = &self.temporary {
            let fail = |error: io::Error| {
                Error::target(format!(
                    "cannot put the database in place as {}: {error}",
                    self.path.display()
                ))
            };
            File::open(temporary).and_then(|file| file.sync_all()).map_err(fail)?;
            // A hard link fails where a rename would overwrite what somebody else has made meanwhile.
            match fs::hard_link(temporary, &self.path) {
                Ok(()) => drop(fs::remove_file(temporary)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(Error::target(format!(
                        "{} was made by somebody else during the load",
                        self.path.display()
                    ))
                    .advise("run the load again: it will look at what is there now"));
                }
                // A file system without hard links.
                Err(_) => fs::rename(temporary, &self.path).map_err(fail)?,
            }
            self.temporary = None;
            File::open(directory(&self.path))
                .and_then(|directory| directory.sync_all())
                .map_err(fail)?;
        }
        Ok(())
    }

    /// Closes the connection and removes a database that was new.
    pub(super) fn discard(&mut self) {
        self.unwatch();
        drop(self.connection.take());
        if let Some(temporary) = self.temporary.take() {
            remove_database(&temporary);
        }
    }

    /// Has SQLite play back what a failed transaction left in the journal: after an error of the disk it leaves that to the next
    /// connection, and the user should not have to be that one. For a closed session.
    pub(super) fn recover(&self) -> Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(&self.path, flags)
            .and_then(|connection| {
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            })
            .map_err(|error| self.explain(&error))
    }

    /// Whether the database is new with this load.
    pub(super) fn is_new(&self) -> bool {
        self.temporary.is_some()
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.discard();
    }
}

/// The directory of a file named by the user.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path with something after its last byte, as SQLite names its journals.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn remove_database(path: &Path) {
    for suffix in JOURNALS {
        let name = with_suffix(path, suffix);
        // Most of them aren't there; one that can't be removed is swept by the next load.
        let _ = fs::remove_file(name);
    }
}

/// The directory that a new database would be in isn't there.
pub(super) fn no_directory(path: &Path) -> Error {
    let directory = directory(path).display();
    Error::target(format!("the directory {directory} does not exist"))
        .advise(format!("mkdir -p {directory}"))
}

/// A name for the new database until it is whole: hidden, beside the target, with our process id and a count. What loads that were killed
/// left there is removed.
fn temporary_path(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.inrush-");
    let directory = directory(path);
    let entries = fs::read_dir(directory).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => no_directory(path),
        _ => Error::target(format!("cannot use the directory {}: {error}", directory.display())),
    })?;
    for entry in entries.flatten() {
        let pid = entry
            .file_name()
            .to_string_lossy()
            .strip_prefix(&prefix)
            .and_then(|rest| rest.split('-').next().and_then(|pid| pid.parse::<u32>().ok()));
        if let Some(pid) = pid
            && cfg!(target_os = "linux")
            && !Path::new(&format!("/proc/{pid}")).exists()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Relaxed);
    Ok(directory.join(format!("{prefix}{}-{count}", std::process::id())))
}

/// SQLite's error in the user's words: what happened, and what to try.
pub(super) fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => {
            explain_code(path, code.extended_code, message.as_deref().unwrap_or(&code.to_string()))
        }
        other => Error::target(format!("{}: {other}", path.display())),
    }
}

fn explain_code(path: &Path, code: c_int, message: &str) -> Error {
    let shown = path.display();
    match code & 0xff {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => {
            let error = Error::target(format!("{shown} is locked by another process"));
            match holders(path).as_slice() {
                [] => error.advise(format!("find who has it open: lsof {shown}")),
                holders => error.advise(format!("it is held by {}", holders.join(", "))),
            }
            .advise("wait longer with --set busy_timeout=MILLISECONDS")
        }
        ffi::SQLITE_NOTADB => Error::target(format!("{shown} is not an SQLite database"))
            .advise("name another target; the target comes last: inrush load FILE... DATABASE"),
        ffi::SQLITE_CORRUPT => Error::target(format!("{shown} is damaged: {message}"))
            .advise(format!("look at it with: sqlite3 {shown} 'PRAGMA integrity_check'")),
        ffi::SQLITE_FULL => Error::target(format!("the disk is full, or {shown} has reached its size limit"))
            .advise(format!("make room on its file system: df -h {}", directory(path).display())),
        ffi::SQLITE_READONLY => Error::target(format!("{shown} is read-only"))
            .advise("check the permissions of the file and of its directory, where SQLite keeps its journal"),
        ffi::SQLITE_CANTOPEN if path.is_dir() => Error::target(format!("{shown} is a directory, not a database")),
        ffi::SQLITE_CANTOPEN => Error::target(format!("cannot open {shown}: {message}"))
            .advise("check the permissions of the file and of its directory"),
        ffi::SQLITE_INTERRUPT => Error::interrupted(),
        ffi::SQLITE_IOERR => {
            let error = Error::target(format!("{shown}: {message}"));
            match io::Error::last_os_error().raw_os_error() {
                // EFBIG and ENOSPC arrive here when a write stops halfway.
                Some(27 | 28) => error.advise("the disk, a quota or a file size limit is reached"),
                _ => error,
            }
        }
        _ => Error::new(Kind::Target, format!("{shown}: {message}")),
    }
}

/// Who holds a lock on the file: "sqlite3 (pid 4711)". Linux tells; elsewhere the list is empty.
fn holders(path: &Path) -> Vec<String> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        let inodes: Vec<u64> = ["", "-shm"]
            .iter()
            .filter_map(|suffix| {
                fs::metadata(with_suffix(path, suffix)).ok().map(|meta| meta.ino())
            })
            .collect();
        let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
        let mut pids: Vec<&str> = locks
            .lines()
            // 1: POSIX  ADVISORY  WRITE 4711 fe:00:1234567 1073741824 1073742335
            .filter_map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let inode = words.get(5)?.rsplit(':').next()?.parse().ok()?;
                inodes.contains(&inode).then_some(*words.get(4)?)
            })
            .filter(|pid| *pid != std::process::id().to_string())
            .collect();
        pids.sort_unstable();
        pids.dedup();
        pids.iter()
            .map(|pid| match fs::read_to_string(format!("/proc/{pid}/comm")) {
                Ok(name) => format!("{} (pid {pid})", name.trim()),
                Err(_) => format!("pid {pid}"),
            })
            .collect()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        Vec::new()
    }
}
