//! One connection to one database file, and SQLite's errors in words.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ffi::{CStr, c_int, c_void};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use crate::JOURNALS;
use crate::facts::engine;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::limits::Limit;
use inrush_core::locks::{self, Claim, FileLock};
use inrush_core::pending::{
    Named, Pending, directory, follow_link, no_directory, not_at_its_name, not_in_place, publish,
    sync_name,
};
use inrush_core::signature;
use inrush_core::target::{NOTED_AFTER, Spare};
use inrush_core::wording::{shell_word, waiting_for_lock};

/// Where a database is, as a location says it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Home<'p> {
    File(&'p Path),
    /// In this process, by its name, for as long as anybody here has it open (<https://sqlite.org/src/file/src/memdb.c>). It lives in one
    /// allocation, which SQLite lets have 2 GiB.
    Memory(&'p str),
}

impl<'p> Home<'p> {
    pub(super) fn of(path: &'p Path) -> Self {
        match path.to_str().and_then(|text| text.strip_prefix(":memory:")) {
            Some(name) => Self::Memory(name),
            None => Self::File(path),
        }
    }

    pub(super) fn is_memory(self) -> bool {
        matches!(self, Self::Memory(_))
    }
}

/// The largest allocation that SQLite makes (SQLITE_MAX_ALLOCATION_SIZE); by itself it lets a database in memory have half of that.
const MEMORY_BYTES_MAX: i64 = 0x7fff_feff;

/// How a connection waits for another's lock: in small steps, and no longer than the user wants.
pub(super) struct LockWait<'a> {
    timeout_ms: u64,
    stop: &'a AtomicBool,
    /// What is locked, and where a long wait is noted; `None` once it is.
    to_note: Cell<Option<(PathBuf, Spare)>>,
}

impl<'a> LockWait<'a> {
    /// A lock comes free, or the user changes their mind, at most so much before it is noticed.
    const STEP_MS: u64 = 10;

    pub(super) fn new(timeout_ms: u64, stop: &'a AtomicBool) -> Self {
        Self { timeout_ms, stop, to_note: Cell::default() }
    }

    /// Notes who has the database at `path` locked, where that takes long.
    pub(super) fn noting(self, path: &Path, spare: &Spare) -> Self {
        Self { to_note: Cell::new(Some((path.to_owned(), spare.clone()))), ..self }
    }

    /// One step; whether to go on waiting after `waited`.
    fn step(&self, waited: Duration) -> bool {
        if waited >= Duration::from_millis(self.timeout_ms) || self.stop.load(Relaxed) {
            return false;
        }
        if waited >= NOTED_AFTER
            && let Some((path, spare)) = self.to_note.take()
        {
            let holder = match holders(&path).as_slice() {
                [] => "another process".to_owned(),
                all => all.join(", "),
            };
            let path = path.display().to_string();
            spare.note(waiting_for_lock(Some(&path), &holder, &[]));
        }
        std::thread::sleep(Duration::from_millis(Self::STEP_MS));
        true
    }

    /// Makes `connection` wait so. It must be closed before `self` goes.
    pub(super) fn apply(&self, connection: &Connection) {
        unsafe extern "C" fn wait(this: *mut c_void, steps: c_int) -> c_int {
            // SAFETY: `apply` registers a reference that outlives the connection.
            let this = unsafe { &*this.cast::<LockWait<'_>>() };
            let steps = u64::try_from(steps).unwrap_or(0);
            c_int::from(this.step(Duration::from_millis(steps * LockWait::STEP_MS)))
        }
        // SAFETY: the callback fits the pointer; SQLite calls it from within calls on this connection only.
        unsafe {
            let this = std::ptr::from_ref(self).cast_mut().cast::<c_void>();
            ffi::sqlite3_busy_handler(connection.handle(), Some(wait), this);
        }
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where SQLite has its lock of who writes: in the file (RESERVED, <https://sqlite.org/src/file/src/os.h>), and with a write-ahead log in
/// its shared memory (WAL_WRITE_LOCK, <https://sqlite.org/walformat.html>, section 2.3).
const WRITER_BYTES: [(&str, u64); 2] = [("", 0x4000_0001), ("-shm", 120)];

/// The byte that every connection with the database open in WAL mode has locked in its shared memory, though it be idle
/// (<https://sqlite.org/src/file/src/os_unix.c>, UNIX_SHM_DMS).
const LOG_BYTE: u64 = 128;

/// What this process does with a database, by a connection that is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UsedHere {
    /// It is in the middle of a transaction that writes.
    Writes,
    /// It goes on writing to the log that it has open.
    KeepsLog,
    /// It is in the middle of reading.
    Reads,
}

impl UsedHere {
    /// The use that excludes a load. Within a process the system's locks exclude only connections of one library; those of two would write
    /// over each other's pages, who closes the file first frees the locks of both, and the last of one library takes the log away that the
    /// other goes on writing to.
    fn of(path: &Path) -> Option<Self> {
        let own =
            |suffix| locks::of(&with_suffix(path, suffix)).into_iter().filter(FileLock::is_own);
        let is_writer =
            |suffix, byte| own(suffix).any(|lock| lock.is_exclusive && lock.covers(byte));
        if WRITER_BYTES.iter().any(|(suffix, byte)| is_writer(*suffix, *byte)) {
            return Some(Self::Writes);
        }
        // Of one library alone the connections know of each other.
        if !locks::has_other_libraries() {
            return None;
        }
        let keeps_log = own("-shm").any(|lock| lock.covers(LOG_BYTE));
        let uses = [(Self::KeepsLog, keeps_log), (Self::Reads, own("").next().is_some())];
        uses.into_iter().find_map(|(this, is_so)| is_so.then_some(this))
    }

    fn error(self, path: &Path) -> Error {
        let shown = path.display();
        match self {
            Self::Writes => {
                Error::target(format!("{shown} is locked by another connection of this program"))
                    .advise("end that connection's transaction first, with COMMIT or ROLLBACK")
            }
            Self::KeepsLog => Error::target(format!(
                "{shown} is open in WAL mode by another connection of this program, which would lose what it writes afterwards"
            ))
            .advise("close that connection first, though it be idle, or load in another process, by the command inrush"),
            Self::Reads => {
                Error::target(format!("{shown} is being read by another connection of this program"))
                    .advise("read to the end first, or close that connection")
            }
        }
    }
}

/// Waits while the program itself uses the file by another SQLite, such as Python's; the file must not even be opened then.
pub(super) fn wait_for_program(path: &Path, locks: &LockWait<'_>) -> rusqlite::Result<()> {
    let is_used = || {
        // Whoever opens it here claims it before anything is locked, and gives the claim back behind the locks.
        Claim::is_free_and(path, || UsedHere::of(path).is_some())
    };
    let began = Instant::now();
    while is_used() {
        if !locks.step(began.elapsed()) {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None));
        }
    }
    Ok(())
}

/// A connection, and where its file really is.
pub(super) struct Session<'a> {
    /// `None` only after [`Session::close`].
    connection: Option<Connection>,
    /// After the connection, for fields go in their order.
    _claim: Claim,
    /// Boxed, for SQLite has its address; after the connection, for fields go in their order.
    locks: Box<LockWait<'a>>,
    /// The path the user named.
    pub(super) path: PathBuf,
    /// The file being written until the load has committed, when the database isn't there yet.
    temporary: Option<Pending>,
    /// Whether this session has made the database's file in its place: without a transaction it goes again.
    is_made: bool,
    /// The file that is written in its place; `None` for one under a temporary name, and in memory.
    named: Option<Named>,
    /// Whether rows were committed into a file that no longer has its name.
    is_astray: Cell<bool>,
    /// What every connection to the database begins with.
    settings: String,
    /// Whether the progress handler is registered.
    watched: bool,
}

impl<'a> Session<'a> {
    /// Opens the database for writing. One that isn't there is written under a temporary name beside it, so that a load that
    /// is killed leaves nothing under the target's name, unless it is to be written `in_place`.
    pub(super) fn open(path: &Path, locks: LockWait<'a>, in_place: bool) -> Result<Self> {
        let is_memory = Home::of(path).is_memory();
        let path = &if is_memory { path.to_owned() } else { follow_link(path) };
        let is_absent = !is_memory && !path.exists();
        if is_absent {
            refuse_leftovers(path)?;
        }
        let temporary = if in_place || !is_absent {
            None
        } else {
            Some(Pending::create(path, false).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => no_directory(path),
                _ => Error::target(format!("cannot make {}: {error}", path.display()))
                    .advise("check the permissions of the directory, where the database is written under another name first"),
            })?)
        };
        let file = temporary.as_ref().map_or(path.as_path(), |temporary| &temporary.path);
        let locks = Box::new(locks);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut is_made = false;
        let connection = wait_for_program(path, &locks)
            .and_then(|()| {
                if !is_absent && is_read_only(path) {
                    let refused = ffi::Error::new(ffi::SQLITE_READONLY);
                    return Err(rusqlite::Error::SqliteFailure(refused, None));
                }
                is_made = in_place && is_absent && make_file(path);
                open_file(file, flags)
            })
            .map_err(|error| explain(path, &error))?;
        locks.apply(&connection);
        let is_in_place = !is_memory && temporary.is_none();
        Ok(Self {
            named: is_in_place.then(|| Named::of(path)).flatten(),
            is_astray: Cell::new(false),
            connection: Some(connection),
            _claim: claim(path),
            locks,
            path: path.to_owned(),
            temporary,
            is_made,
            settings: String::new(),
            watched: false,
        })
    }

    /// Whether the database is in memory.
    pub(super) fn is_memory(&self) -> bool {
        Home::of(&self.path).is_memory()
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("open until closed")
    }

    /// Has these settings made, now and whenever the database is opened again.
    pub(super) fn configure(&mut self, settings: String) -> Result<()> {
        self.execute(&settings)?;
        self.settings = settings;
        Ok(())
    }

    /// Closes the connection to a new database, whose file is then the caller's to write: SQLite would take what it remembers of
    /// a page for what is in the file.
    pub(super) fn lend_file(&mut self) -> Result<File> {
        let Some(temporary) = &self.temporary else { unreachable!("the database is new") };
        let path = temporary.path.clone();
        self.unwatch();
        if let Some(connection) = self.connection.take() {
            connection.close().map_err(|(_, error)| explain(&self.path, &error))?;
        }
        File::options().read(true).write(true).open(path).map_err(|error| self.write_error(&error))
    }

    /// Opens the database again after [`Session::lend_file`].
    pub(super) fn reopen(&mut self) -> Result<()> {
        let file = self.temporary.as_ref().map_or(self.path.as_path(), |temporary| &temporary.path);
        let connection = open_file(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(|error| explain(&self.path, &error))?;
        self.locks.apply(&connection);
        self.connection = Some(connection);
        self.execute(&self.settings)?;
        self.watch();
        Ok(())
    }

    /// A page of the database as it is stored, from `sqlite_dbpage`.
    pub(super) fn page(&self, number: u32) -> Result<Vec<u8>> {
        self.connection()
            .query_row("SELECT data FROM sqlite_dbpage WHERE pgno = ?1", [number], |row| row.get(0))
            .map_err(|error| self.explain(&error))
    }

    /// Whether the user wants to stop.
    pub(super) fn stopped(&self) -> bool {
        self.locks.stop.load(Relaxed)
    }

    /// An error while the database's file is written without SQLite.
    pub(super) fn write_error(&self, error: &io::Error) -> Error {
        let shown = self.path.display();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => explain_code(&self.path, ffi::SQLITE_FULL, ""),
            // A file is never refused so, and the threads that write behind are.
            io::ErrorKind::WouldBlock => Error::no_thread(error),
            _ => Error::target(format!("cannot write {shown}: {error}")),
        }
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

    /// Makes long statements end with SQLITE_INTERRUPT once the user wants to stop.
    pub(super) fn watch(&mut self) {
        // SAFETY: the reference is valid for 'a, longer than the session, whose connection goes with it.
        unsafe { watch(self.connection(), self.locks.stop) };
        self.watched = true;
    }

    /// Ends [`Session::watch`]: undoing a load must not be interrupted.
    pub(super) fn unwatch(&mut self) {
        if std::mem::take(&mut self.watched) {
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

    /// Closes the connection; a database that is new gets its name, safe on disk. Answers with what could not be made sure.
    pub(super) fn finish(&mut self) -> Result<Option<String>> {
        self.unwatch();
        if self.is_new() {
            self.empty_the_wal()?;
        }
        if let Some(connection) = self.connection.take() {
            connection.close().map_err(|(_, error)| explain(&self.path, &error))?;
        }
        let Some(temporary) = &self.temporary else { return Ok(None) };
        let temporary = &temporary.path;
        let shown = self.path.display();
        let fail = |error: io::Error| not_in_place(&shown, &error);
        // What SQLite has not taken back into the database would be lost with its name.
        if JOURNALS[1..].iter().any(|suffix| with_suffix(temporary, suffix).exists()) {
            return Err(Error::target(format!("SQLite did not finish writing {shown}")).advise(
                format!("make room on its file system: df -h {}", directory(&self.path).display()),
            ));
        }
        File::open(temporary).and_then(|file| file.sync_all()).map_err(fail)?;
        refuse_leftovers(&self.path)?;
        publish(temporary, &self.path).map_err(fail)?;
        self.temporary = None;
        Ok(sync_name(&self.path))
    }

    /// Has SQLite move all of a write-ahead log into the database: closing does that too, but keeps quiet when it fails.
    fn empty_the_wal(&self) -> Result<()> {
        // busy, pages in the log, pages moved; -1 without a log (https://sqlite.org/pragma.html#pragma_wal_checkpoint).
        let checkpoint = |row: &rusqlite::Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        };
        let (busy, log, moved) = self
            .connection()
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], checkpoint)
            .map_err(|error| self.explain(&error))?;
        if busy != 0 || log != moved {
            return Err(Error::target(format!(
                "SQLite could not move the write-ahead log into {}",
                self.path.display()
            )));
        }
        Ok(())
    }

    /// Closes the connection and removes a database that was new.
    pub(super) fn discard(&mut self) {
        self.unwatch();
        if let Some(connection) = self.connection.take() {
            // One that stays behind is an empty database, which any load takes.
            if self.is_made && self.is_alone(&connection) {
                let _ = fs::remove_file(&self.path);
            }
        }
        if let Some(temporary) = self.temporary.take() {
            remove_database(&temporary.path);
        }
    }

    /// Whether the database is still empty, and locked so that it stays so until `connection` is closed. The length alone tells too
    /// little: what another connection has not committed yet is in its memory and its journal.
    fn is_alone(&self, connection: &Connection) -> bool {
        if !connection.is_autocommit() && connection.execute_batch("ROLLBACK").is_err() {
            return false;
        }
        // Whoever has it locked has it. A journal on the disk would be removed by its name when the connection is closed, and then it may
        // be the next database's.
        let lock = "PRAGMA journal_mode = memory; BEGIN EXCLUSIVE";
        connection.busy_timeout(Duration::ZERO).is_ok()
            && connection.execute_batch(lock).is_ok()
            && !has_moved(connection)
            && fs::metadata(&self.path).is_ok_and(|found| found.len() == 0)
    }

    /// Makes sure, while a transaction has the database locked, that its file has kept its name: at its begin, for who made the file may
    /// have removed it between our opening and our lock, and before the commit. SQLite itself looks only where it makes a journal, and not
    /// at an empty file.
    pub(super) fn expect_in_place(&self) -> Result<()> {
        let shown = self.path.display();
        match &self.named {
            // The name may be a link that leads elsewhere by now, of which SQLite knows the end alone.
            Some(named) if !has_moved(self.connection()) => named.expect_in_place(shown),
            None if self.is_new() || self.is_memory() => Ok(()),
            _ => Err(not_at_its_name(shown)),
        }
    }

    /// The same once something is committed, when there is no undoing it.
    pub(super) fn expect_kept(&self) -> Result<()> {
        let Some(named) = &self.named else { return Ok(()) };
        // Without its name SQLite does not take a log into the file.
        let kept = named.expect_kept(self.path.display(), &with_suffix(&self.path, "-wal"));
        self.is_astray.set(kept.is_err());
        kept
    }

    /// Whether rows were committed into a file that no longer has its name.
    pub(super) fn is_astray(&self) -> bool {
        self.is_astray.get()
    }

    /// Whether the name still leads to the file, as far as it is known.
    pub(super) fn is_in_place(&self) -> bool {
        self.named.as_ref().is_none_or(Named::is_in_place)
    }

    /// Something is committed, so a database that is new stays.
    pub(super) fn keep(&mut self) {
        self.is_made = false;
    }

    /// Has SQLite play back what a failed transaction left in the journal: after an error of the disk it leaves that to the next
    /// connection, and the user should not have to be that one. For a closed session.
    pub(super) fn recover(&self) -> Result<()> {
        if self.is_made {
            return Ok(());
        }
        let read =
            open_file(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            });
        match read {
            // Who has it locked has played the journal back before.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
            read => read.map_err(|error| self.explain(&error)),
        }
    }

    /// Whether there is a connection.
    pub(super) fn is_open(&self) -> bool {
        self.connection.is_some()
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

/// Makes long statements of `connection` end with SQLITE_INTERRUPT once `stop` is set.
///
/// # Safety
/// `stop` lives at least as long as the connection.
pub(super) unsafe fn watch(connection: &Connection, stop: &AtomicBool) {
    unsafe extern "C" fn stopped(stop: *mut c_void) -> c_int {
        // SAFETY: the caller of `watch` promises that it lives.
        c_int::from(unsafe { &*stop.cast::<AtomicBool>() }.load(Relaxed))
    }
    // Looked at about every 10,000 instructions of SQLite's machine: some tenths of a millisecond.
    // SAFETY: the handle is open, and the callback fits the pointer.
    unsafe {
        let stop = std::ptr::from_ref(stop).cast_mut().cast::<c_void>();
        ffi::sqlite3_progress_handler(connection.handle(), 10_000, Some(stopped), stop);
    }
}

/// Says that the library has the file open in this process.
pub(super) fn claim(path: &Path) -> Claim {
    let Ok(claim) = Claim::new(path, || Ok::<_, Infallible>(()));
    claim
}

/// Opens the file of this path and no other: to SQLite `:memory:` and `file:x.db?mode=...` are no paths, but they can't begin
/// with a slash. Or the database in memory that the path stands for.
pub(super) fn open_file(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match Home::of(path) {
        Home::File(path) => Connection::open_with_flags(absolute(path), flags),
        Home::Memory(name) => {
            // Without the slash each connection would have one of its own.
            let connection =
                Connection::open_with_flags_and_vfs(format!("/{name}"), flags, c"memdb")?;
            let mut limit = MEMORY_BYTES_MAX;
            // SAFETY: the handle is open, NULL is the main database, and the operation reads and writes one sqlite3_int64.
            unsafe {
                ffi::sqlite3_file_control(
                    connection.handle(),
                    std::ptr::null(),
                    ffi::SQLITE_FCNTL_SIZE_LIMIT,
                    (&raw mut limit).cast(),
                );
            }
            Ok(connection)
        }
    }
}

/// Whether the database's file is one that this process may not write to. SQLite opens such a one all the same, to read, and leaves files
/// of this user's beside one in WAL mode, which shut its owner out.
pub(super) fn is_read_only(path: &Path) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    // Of one that is open here no handle is closed: that would free the locks on it.
    Claim::is_free_and(path, || {
        let opened = File::options().write(true).open(path);
        opened.is_err_and(|error| matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem))
    })
}

/// Makes the empty file of a new database; whether it is ours. Where it can't be made, SQLite says why when it opens it.
fn make_file(path: &Path) -> bool {
    // Of one that is open here no handle is closed: that would free the locks on it.
    Claim::is_free_and(path, || File::create_new(path).is_ok())
}

/// Whether a connection's file no longer has the name that it was opened by.
fn has_moved(connection: &Connection) -> bool {
    let mut moved: c_int = 0;
    // SAFETY: the handle is open, NULL is the main database, and the operation writes one int.
    unsafe {
        ffi::sqlite3_file_control(
            connection.handle(),
            std::ptr::null(),
            ffi::SQLITE_FCNTL_HAS_MOVED,
            (&raw mut moved).cast(),
        );
    }
    moved != 0
}

/// A journal of another database, left beside the place of a new one, would be played back into it by whoever opens it next.
pub(super) fn refuse_leftovers(path: &Path) -> Result<()> {
    match JOURNALS[1..].iter().map(|suffix| with_suffix(path, suffix)).find(|name| name.exists()) {
        None => Ok(()),
        // Another load has made the database meanwhile, and writes into it: that is for whoever puts a new one in its place to say.
        Some(_) if path.exists() => Ok(()),
        Some(name) => {
            let (shown, name) = (path.display(), name.display());
            Err(Error::target(format!(
                "{name} is there without {shown}: it belongs to a database that is gone"
            ))
            .advise(format!("put that database back as {shown}, or remove {name}")))
        }
    }
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
        // For a journal SQLite asks for the permissions of the file by its name.
        _ if code == ffi::SQLITE_READONLY_DBMOVED
            || (code == ffi::SQLITE_IOERR_FSTAT && !path.exists()) =>
        {
            not_at_its_name(shown)
        }
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED if Home::of(path).is_memory() => {
            Error::target(format!("{shown} is locked by another connection of this program"))
        }
        ffi::SQLITE_FULL if Home::of(path).is_memory() => {
            Error::target(format!("{shown} has as many bytes as SQLite takes in memory, 2 GiB"))
        }
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => {
            let error = match (holders(path).as_slice(), UsedHere::of(path)) {
                ([], Some(used)) => used.error(path),
                ([], None) => Error::target(format!("{shown} is locked by another process"))
                    .advise(format!("find who has it open: lsof {shown}")),
                (holders, _) => Error::target(format!("{shown} is locked by another process"))
                    .advise(format!("look at {}, which holds the lock", holders.join(", "))),
            };
            error.advise("wait longer with --set busy_timeout=MILLISECONDS")
        }
        ffi::SQLITE_NOTADB => not_a_database(path),
        ffi::SQLITE_CORRUPT => Error::target(format!("{shown} is damaged: {message}"))
            .advise(format!("look at it with: sqlite3 {shown} 'PRAGMA integrity_check'")),
        ffi::SQLITE_FULL => {
            Error::target(format!("the disk is full, or {shown} has reached its size limit"))
                .perhaps_of(Limit::FileSize)
                .advise(format!("make room on its file system: df -h {}", directory(path).display()))
        }
        ffi::SQLITE_READONLY => Error::target(format!("{shown} is read-only"))
            .advise("check the permissions of the file and of its directory, where SQLite keeps its journal"),
        ffi::SQLITE_CANTOPEN if path.is_dir() => Error::target(format!("{shown} is a directory, not a database")),
        ffi::SQLITE_CANTOPEN => Error::target(format!("cannot open {shown}: {message}"))
            .perhaps_of(Limit::OpenFiles)
            .advise("check the permissions of the file and of its directory"),
        ffi::SQLITE_INTERRUPT => Error::interrupted(),
        ffi::SQLITE_IOERR => {
            let error = Error::target(format!("{shown}: {message}"));
            match io::Error::last_os_error().raw_os_error() {
                // EFBIG and ENOSPC arrive here when a write stops halfway.
                Some(27) => error.advise(Limit::FileSize.cure()),
                Some(28) => error.advise("make room: the disk or a quota is full"),
                _ => error,
            }
        }
        _ => Error::new(Kind::Target, format!("{shown}: {message}")),
    }
}

/// What is no database, or none that this SQLite reads.
pub(super) fn not_a_database(path: &Path) -> Error {
    let shown = path.display();
    let mut begin = [0; 20];
    // Of one that is open here no handle is closed: that would free the locks on it.
    let is_read = Claim::is_free_and(path, || {
        File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
    });
    match begin[19] {
        // 1 is a rollback journal, 2 a write-ahead log; there may be others one day.
        version if is_read && begin.starts_with(signature::SQLITE) && version > 2 => {
            Error::target(format!(
                "{shown} is of a newer format, read version {version}, or damaged: {} reads versions 1 and 2",
                engine()
            ))
            .advise("open it with the program that wrote it")
        }
        _ if is_read && begin[8..].starts_with(signature::DUCKDB) => {
            Error::target(format!("{shown} is a DuckDB database"))
                .advise(format!("name it as such: {}", shell_word(&format!("duckdb:{shown}"))))
        }
        _ => Error::target(format!("{shown} is not an SQLite database, or is encrypted"))
            .advise(format!("see what it is: file {}", shell_word(&shown.to_string()))),
    }
}

/// How often the locks on a file are looked for: while other files' come and go, the system's list misses some.
const LOOKS: usize = 5;

/// Which other processes hold a lock on the file: "sqlite3 (pid 4711)". Linux tells; elsewhere the list is empty.
fn holders(path: &Path) -> Vec<String> {
    let look = |_| -> BTreeSet<u32> {
        let found = ["", "-shm"].iter().flat_map(|suffix| locks::of(&with_suffix(path, suffix)));
        found.filter(|lock| !lock.is_own()).map(|lock| lock.pid).collect()
    };
    let pids = (0..LOOKS).map(look).find(|pids| !pids.is_empty()).unwrap_or_default();
    pids.iter()
        .map(|pid| match fs::read_to_string(format!("/proc/{pid}/comm")) {
            Ok(name) => format!("{} (pid {pid})", name.trim()),
            Err(_) => format!("pid {pid}"),
        })
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn in_place<'a>(path: &Path, stop: &'a AtomicBool) -> Session<'a> {
        Session::open(path, LockWait::new(0, stop), true).expect("a database")
    }

    /// Until it is committed a table leaves the file empty.
    #[test]
    fn a_new_database_is_removed_by_who_made_it_alone_and_only_while_no_other_writes() {
        const MAKE: &str = "BEGIN IMMEDIATE; CREATE TABLE t (a)";
        let (folder, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let path = folder.path().join("new.db");
        let names = || fs::read_dir(folder.path()).unwrap().count();

        let mut maker = in_place(&path, &stop);
        let mut other = in_place(&path, &stop);
        maker.execute(MAKE).unwrap();
        other.discard();
        assert_eq!(names(), 2, "the database and its journal");
        maker.discard();
        assert_eq!(names(), 0);
        drop((maker, other));

        let mut maker = in_place(&path, &stop);
        let mut other = in_place(&path, &stop);
        assert!(maker.is_made && !other.is_made);
        other.execute(MAKE).unwrap();
        maker.discard();
        maker.recover().unwrap();
        assert_eq!(names(), 2);
        other.execute("COMMIT").unwrap();
        other.keep();
        other.discard();
        drop((maker, other));
        assert_eq!(in_place(&path, &stop).value("SELECT count(*) FROM t").unwrap(), "0");
    }

    #[test]
    fn what_is_written_into_a_database_that_was_removed_is_an_error() {
        let (folder, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        for mode in ["delete", "memory"] {
            let path = folder.path().join(format!("{mode}.db"));
            let mut maker = in_place(&path, &stop);
            let other = in_place(&path, &stop);
            other.execute(&format!("PRAGMA journal_mode = {mode}")).unwrap();
            other.expect_in_place().unwrap();
            maker.discard();
            let written = other.execute("BEGIN IMMEDIATE; CREATE TABLE t (a)");
            let error = written.and_then(|()| other.expect_in_place()).unwrap_err().to_string();
            assert!(error.contains("was moved, replaced or removed by another process"), "{error}");
        }
    }

    /// The system's list of all locks leaves some out while others come and go.
    #[test]
    fn a_transaction_of_the_program_is_seen_beside_many_others() {
        const OTHERS: usize = 80;
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let connection = Connection::open(folder.path().join(name)).unwrap();
            connection.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (a)").unwrap();
            connection
        };
        let own = open("own.db");
        own.execute_batch("BEGIN IMMEDIATE").unwrap();
        let others: Vec<Connection> = (0..OTHERS).map(|number| open(&number.to_string())).collect();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Relaxed) {
                    for sql in ["BEGIN IMMEDIATE", "ROLLBACK"] {
                        others.iter().for_each(|other| other.execute_batch(sql).unwrap());
                    }
                }
            });
            let path = folder.path().join("own.db");
            let is_written = || UsedHere::of(&path) == Some(UsedHere::Writes);
            let seen = (0..200).filter(|_| is_written()).count();
            is_over.store(true, Relaxed);
            assert_eq!(seen, 200);
        });
        own.execute_batch("ROLLBACK").unwrap();
        assert_eq!(UsedHere::of(&folder.path().join("own.db")), None);
    }
}
