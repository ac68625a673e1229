//! Statements over a connection of their own.

use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, ffi};

use crate::facts;
use crate::session::{claim, open_file, watch};
use inrush_core::error::{Error, Result};
use inrush_core::locks::Claim;
use inrush_core::target::{Console, Row, Setting};

/// Settings that bear on what a statement costs or means. One that a database does not have is left out.
const PRAGMAS: [&str; 13] = [
    "auto_vacuum",
    "busy_timeout",
    "cache_size",
    "encoding",
    "foreign_keys",
    "fullfsync",
    "journal_mode",
    "locking_mode",
    "mmap_size",
    "page_size",
    "synchronous",
    "temp_store",
    "wal_autocheckpoint",
];

/// A connection as a program without prepared statements has it: each statement is compiled, run and forgotten. SQLite's own settings
/// stay as they are; it waits for no lock until `PRAGMA busy_timeout` has it wait, and `stop` does not cut that wait short.
pub(super) struct SqliteConsole<'a> {
    connection: Connection,
    stop: &'a AtomicBool,
    /// After the connection, for fields go in their order.
    _claim: Claim,
}

impl<'a> SqliteConsole<'a> {
    /// Opens the database, or makes it.
    pub(super) fn open(path: &Path, stop: &'a AtomicBool) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let claim = claim(path);
        let connection = open_file(path, flags)
            // rusqlite sets a timeout of its own.
            .and_then(|connection| connection.busy_timeout(Duration::ZERO).map(|()| connection))
            .map_err(|error| in_words(&error))?;
        // SAFETY: the flag is valid for 'a, longer than the console, and the connection goes with that.
        unsafe { watch(&connection, stop) };
        Ok(Self { connection, stop, _claim: claim })
    }

    /// Compiles the first statement of `sql`, if there is one; what is behind it.
    fn compile<'s>(&self, sql: &'s str) -> Result<(Option<Statement>, &'s str)> {
        let Ok(length) = c_int::try_from(sql.len()) else {
            return Err(Error::target("the statement is longer than 2 GB"));
        };
        let (mut raw, mut tail) = (ptr::null_mut(), ptr::null::<c_char>());
        // SAFETY: the handle is open; the text is passed with its length; both pointers are written before they are read.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(
                self.connection.handle(),
                sql.as_ptr().cast::<c_char>(),
                length,
                0,
                &raw mut raw,
                &raw mut tail,
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(self.failure());
        }
        // At a NUL byte SQLite's text ends.
        let read = (tail as usize).saturating_sub(sql.as_ptr() as usize);
        let tail = if read == 0 { "" } else { sql.get(read..).unwrap_or("") };
        Ok(((!raw.is_null()).then_some(Statement(raw)), tail))
    }

    /// The last failure.
    fn failure(&self) -> Error {
        // SAFETY: the handle is open, and the message is copied before anything else uses the connection.
        let (code, message) = unsafe {
            let handle = self.connection.handle();
            let message = CStr::from_ptr(ffi::sqlite3_errmsg(handle)).to_string_lossy();
            (ffi::sqlite3_errcode(handle), message.into_owned())
        };
        if code & 0xff == ffi::SQLITE_INTERRUPT && self.stop.load(Relaxed) {
            return Error::interrupted();
        }
        Error::target(message)
    }
}

impl Console for SqliteConsole<'_> {
    /// Every statement of `sql`, one after the other; the number is of the last one that changes any row.
    fn run(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        let before = self.connection.total_changes();
        let mut rest = sql;
        while !rest.is_empty() {
            let (statement, tail) = self.compile(rest)?;
            rest = tail;
            // Blanks and comments are none.
            let Some(statement) = statement else { continue };
            let mut values = Vec::new();
            loop {
                // SAFETY: the statement is live, and only this thread uses the connection.
                match unsafe { ffi::sqlite3_step(statement.0) } {
                    ffi::SQLITE_ROW => {}
                    ffi::SQLITE_DONE => break,
                    _ => return Err(self.failure()),
                }
                // SAFETY: the statement has just given a row; the values are forgotten before the next step.
                unsafe { statement.values(&mut values) };
                row(&values);
                values.clear();
            }
        }
        // Statements other than INSERT, UPDATE and DELETE touch neither counter, and the one of the last of those still stands. The
        // total has in it what triggers and foreign keys have changed.
        let is_changed = self.connection.total_changes() != before;
        Ok(if is_changed { self.connection.changes() } else { 0 })
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        let mut settings = Vec::new();
        for name in PRAGMAS {
            if let Some(value) = self.value(&format!("PRAGMA {name}"))? {
                settings.push(Setting { name: name.to_owned(), value, default: None });
            }
        }
        Ok(settings)
    }

    fn engine(&mut self) -> Result<String> {
        Ok(facts::engine())
    }
}

/// A compiled statement. Finalized when dropped.
struct Statement(*mut ffi::sqlite3_stmt);

impl Statement {
    /// Adds the values of the row that it is at, as text; those that are bytes as they are.
    ///
    /// # Safety
    /// The statement is at a row, and is not stepped on or dropped as long as the values are used.
    unsafe fn values(&self, values: &mut Vec<Option<&[u8]>>) {
        // SAFETY: the statement is live.
        for column in 0..unsafe { ffi::sqlite3_column_count(self.0) } {
            // SAFETY: it is at a row, and the column is one of its. Text is asked for before its length, as that may turn a number
            // into text; both are then SQLite's, and stay until the next step.
            values.push(unsafe {
                let kind = ffi::sqlite3_column_type(self.0, column);
                let start = match kind {
                    ffi::SQLITE_BLOB => ffi::sqlite3_column_blob(self.0, column).cast::<u8>(),
                    _ => ffi::sqlite3_column_text(self.0, column),
                };
                let length = ffi::sqlite3_column_bytes(self.0, column);
                match (kind, usize::try_from(length)) {
                    (ffi::SQLITE_NULL, _) => None,
                    // No bytes have no place.
                    (_, Ok(length)) if !start.is_null() => {
                        Some(std::slice::from_raw_parts(start, length))
                    }
                    _ => Some(&[]),
                }
            });
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: compiled by us, finalized once, and the connection is still open.
        unsafe { ffi::sqlite3_finalize(self.0) };
    }
}

/// SQLite's words for why it does not open; rusqlite would put the path behind them.
fn in_words(error: &rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            // SAFETY: SQLite has a text for every code, and keeps it for ever.
            let words = unsafe { CStr::from_ptr(ffi::sqlite3_errstr(failure.extended_code)) };
            Error::target(words.to_string_lossy())
        }
        other => Error::target(other.to_string()),
    }
}
