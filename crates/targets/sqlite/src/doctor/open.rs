//! Opening a database so that nothing is written: no checkpoint, no `-shm`, no end to what a killed writer has left.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::session::{LockWait, with_suffix};
use inrush_core::path;

/// How a rollback journal that has to be played back begins (<https://sqlite.org/fileformat2.html>, section 3).
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// What lies beside the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// Bytes of the write-ahead log.
    pub(super) wal_bytes: u64,
    /// Bytes of a rollback journal, of a writer that is at work or was interrupted.
    pub(super) journal_bytes: u64,
}

impl Beside {
    pub(crate) fn of(path: &Path) -> Self {
        let bytes = |suffix| fs::metadata(with_suffix(path, suffix)).map_or(0, |found| found.len());
        let mut begin = [0; 8];
        let is_hot = File::open(with_suffix(path, "-journal"))
            .and_then(|mut file| file.read_exact(&mut begin))
            .is_ok_and(|()| begin == JOURNAL_MAGIC);
        Self { wal_bytes: bytes("-wal"), journal_bytes: if is_hot { bytes("-journal") } else { 0 } }
    }
}

/// Opens the database without writing a byte, to it or beside it.
///
/// A database in rollback mode is read under SQLite's shared lock. Where a write-ahead log would have a shared-memory file made, or a
/// journal would be played back, it is read without locks: as it lies there (`immutable`), or, with a log that has something in it, with
/// the log's index in this connection's own memory, which is what SQLite does in exclusive mode. Who writes meanwhile may make such a
/// look fail; it harms nobody. The connection must be closed before `locks` goes.
pub(crate) fn open(
    path: &Path,
    is_wal: bool,
    beside: Beside,
    locks: &LockWait<'_>,
) -> rusqlite::Result<Connection> {
    let has_log = is_wal && beside.wal_bytes > 0;
    let how = match (is_wal || beside.journal_bytes > 0, has_log) {
        (false, _) => "mode=ro",
        (true, false) => "mode=ro&immutable=1",
        (true, true) => "mode=ro&vfs=unix-none",
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri(path, how), flags)?;
    locks.apply(&connection);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    if has_log {
        connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
    }
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// The path as SQLite's URI, whatever bytes are in it.
fn uri(path: &Path, how: &str) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    format!("file:{}?{how}", path::in_url(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_a_uri() {
        assert_eq!(
            uri(Path::new("/a b/c?d#é%.db"), "mode=ro"),
            "file:/a%20b/c%3fd%23%c3%a9%25.db?mode=ro"
        );
    }
}
