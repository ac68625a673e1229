//! A load's connection, and the file that it writes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::connection::{Cause, Connection, Database, Interrupter, Refusal, explain};
use crate::facts::{DatabaseFacts, Home, enter, path_text, refuse_leftovers, with_suffix};
use crate::knobs;
use crate::library::{library, wanted};
use inrush_core::Job;
use inrush_core::error::{Error, Result};
use inrush_core::pending::{
    Named, Pending, directory, no_directory, not_in_place, publish, sync_name,
};

/// What DuckDB writes beside a database that has this ending after the hidden name, with the database itself: they are swept with it.
const HIDDEN: &str = ".db";

/// A connection, and where its database really is.
pub(super) struct Session<'a> {
    /// Before the connection: its thread calls that.
    interrupter: Option<Interrupter<'a>>,
    /// `None` once the session is over.
    connection: Option<Connection>,
    home: Home,
    shown: String,
    /// Holds the hidden name while the database isn't there yet.
    pending: Option<Pending>,
    /// Whether this session has made the database in its place: without a transaction it goes again.
    is_made: bool,
    /// The file that is written in its place; `None` for one under a hidden name, and in memory.
    named: Option<Arc<Named>>,
    in_transaction: bool,
}

impl<'a> Session<'a> {
    /// Opens the database for writing. One that isn't there is written under a hidden name beside it, so that a load that is killed
    /// leaves nothing under the target's name.
    pub(super) fn open(job: &Job, stop: &'a AtomicBool) -> Result<Self> {
        let home = Home::of(&job.location);
        let shown = job.location.shown.clone();
        let library = library(wanted(&job.request))?;
        let knobs = &job.choice.knobs;
        let memory = format!("{}B", knobs.count(&knobs::MEMORY_LIMIT));
        let mut options = vec![("access_mode", "READ_WRITE"), ("memory_limit", memory.as_str())];
        if !knobs.is(&knobs::THREADS, "0") {
            options.push(("threads", knobs.word(&knobs::THREADS)));
        }
        let words = |refusal: Refusal| explain(&shown, &refusal);
        let mut is_made = false;
        let mut pending = None;
        let database = match &home {
            Home::File { named, real } if !real.exists() => {
                refuse_leftovers(named, real)?;
                let hidden = Pending::create(real, false).map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => no_directory(real),
                    _ => Error::target(format!("cannot make {shown}: {error}"))
                        .advise("check the permissions of the directory, where the database is written under another name first"),
                })?;
                let path = with_suffix(&hidden.path, HIDDEN);
                let path = std::path::absolute(&path).unwrap_or(path);
                let version =
                    ("storage_compatibility_version", knobs.word(&knobs::STORAGE_VERSION));
                let of_new = [options.as_slice(), &[version]].concat();
                let database = Database::open(library, path_text(&path)?, &of_new);
                match job.steps {
                    None => {
                        pending = Some(hidden);
                        database.map(Arc::new)
                    }
                    // What is committed step by step has to be in its place from the first step on. The engine takes no empty file.
                    Some(_) => {
                        let placed = database.map(|database| {
                            drop(database);
                            publish(&path, real)
                        });
                        remove(&hidden.path);
                        match placed.map_err(words)? {
                            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                                return Err(not_in_place(&shown, &error));
                            }
                            placed => is_made = placed.is_ok(),
                        }
                        Database::open_shared(library, &home.key(), path_text(real)?, &options)
                    }
                }
            }
            Home::File { real, .. } => {
                Database::open_shared(library, &home.key(), path_text(real)?, &options)
            }
            Home::Memory(_) => Database::open_shared(library, &home.key(), ":memory:", &options),
        };
        let connection = database.and_then(|database| database.connect());
        let mut session = Self {
            interrupter: None,
            connection: None,
            home,
            shown: shown.clone(),
            pending,
            is_made: false,
            named: None,
            in_transaction: false,
        };
        let connection = session.connection.insert(connection.map_err(words)?);
        if session.pending.is_none() {
            session.named = connection.named();
        }
        // Who made it may have removed it before the engine locked it.
        expect_in_place(session.named.as_deref(), &shown)?;
        session.is_made = is_made;
        session.interrupter = Some(Interrupter::new(connection, stop));
        // What the engine makes of text with an offset, or writes as text, must not depend on where we are. Without its extension for
        // time zones it has no such setting, and no such text.
        let _ = connection.execute("SET TimeZone = 'UTC'");
        enter(connection, &DatabaseFacts::of(&job.facts.target).name, &shown)?;
        Ok(session)
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("open until the end")
    }

    pub(super) fn explain(&self, refusal: &Refusal) -> Error {
        explain(&self.shown, refusal)
    }

    pub(super) fn execute(&self, sql: &str) -> Result<u64> {
        self.connection().execute(sql).map_err(|refusal| self.explain(&refusal))
    }

    pub(super) fn value(&self, sql: &str) -> Result<String> {
        let value = self.connection().value(sql).map_err(|refusal| self.explain(&refusal))?;
        Ok(value.unwrap_or_default())
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        if !self.in_transaction {
            self.execute("BEGIN TRANSACTION")?;
            self.in_transaction = true;
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<(), Refusal> {
        // Whatever comes of it: after an error the engine has rolled back.
        match std::mem::take(&mut self.in_transaction) {
            true => self.commit_part(),
            false => Ok(()),
        }
    }

    /// Commits what a lane has written, which begins another transaction then. The user's wish to stop waits: a commit that is
    /// interrupted goes through all the same, and the engine answers that it was interrupted.
    pub(super) fn commit_part(&self) -> Result<(), Refusal> {
        let _held = self.interrupter.as_ref().map(Interrupter::hold);
        self.connection().execute("COMMIT").map(drop)
    }

    /// Makes sure before a commit that the database has kept its name.
    pub(super) fn expect_in_place(&self) -> Result<()> {
        expect_in_place(self.named.as_deref(), &self.shown)
    }

    /// The same for a lane.
    pub(super) fn expect_name(&self) -> Result<(), Refusal> {
        match self.named.as_ref().is_none_or(|named| named.is_in_place()) {
            true => Ok(()),
            false => Err(Refusal { cause: Cause::Moved, message: String::new() }),
        }
    }

    /// The same behind it.
    pub(super) fn expect_kept(&self) -> Result<()> {
        match (&self.named, &self.home) {
            (Some(named), Home::File { real, .. }) => {
                named.expect_kept(&self.shown, &with_suffix(real, ".wal"))
            }
            _ => Ok(()),
        }
    }

    /// Undoes the transaction; whether that went well.
    pub(super) fn rollback(&mut self) -> bool {
        if !std::mem::take(&mut self.in_transaction) {
            return true;
        }
        let Some(connection) = &self.connection else { return true };
        connection.execute("ROLLBACK").is_ok()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.interrupter.as_ref().is_some_and(Interrupter::is_stopped)
    }

    /// What comes now must not be stopped halfway.
    pub(super) fn unwatch(&mut self) {
        self.interrupter = None;
    }

    /// Whether the database is new with this load.
    pub(super) fn is_new(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn is_memory(&self) -> bool {
        matches!(self.home, Home::Memory(_))
    }

    /// Closes the connection; a database that is new gets its name, safe on disk. Answers with what could not be made sure.
    pub(super) fn finish(&mut self) -> Result<Option<String>> {
        self.unwatch();
        let Some(pending) = &self.pending else {
            self.connection = None;
            return Ok(None);
        };
        let hidden = with_suffix(&pending.path, HIDDEN);
        self.execute("CHECKPOINT")?;
        self.connection = None;
        let Home::File { real, .. } = &self.home else { return Ok(None) };
        let shown = &self.shown;
        let fail = |error: io::Error| not_in_place(shown, &error);
        // What DuckDB has not taken into the database would be lost with its name.
        if with_suffix(&hidden, ".wal").exists() {
            return Err(Error::target(format!("DuckDB did not finish writing {shown}")).advise(
                format!("make room on its file system: df -h {}", directory(real).display()),
            ));
        }
        File::open(&hidden).and_then(|file| file.sync_all()).map_err(fail)?;
        refuse_leftovers(Path::new(shown), real)?;
        publish(&hidden, real).map_err(fail)?;
        let unsure = sync_name(real);
        self.remove_hidden();
        Ok(unsure)
    }

    /// Closes the connection and removes a database that was new.
    pub(super) fn discard(&mut self) {
        self.unwatch();
        if let Some(connection) = self.connection.take()
            && let Home::File { real, .. } = &self.home
            && std::mem::take(&mut self.is_made)
        {
            let named = self.named.as_deref();
            // While the engine has it locked: afterwards it may be another process's. One that stays behind is an empty database.
            connection.close(|connection| {
                if holds_nothing(connection) && named.is_none_or(Named::is_in_place) {
                    for path in [with_suffix(real, ".wal"), real.clone()] {
                        let _ = fs::remove_file(path);
                    }
                }
            });
        }
        self.remove_hidden();
    }

    /// Something is committed, so a database that is new stays.
    pub(super) fn keep(&mut self) {
        self.is_made = false;
    }

    fn remove_hidden(&mut self) {
        if let Some(pending) = self.pending.take() {
            remove(&pending.path);
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.rollback();
        self.discard();
    }
}

fn expect_in_place(named: Option<&Named>, shown: &str) -> Result<()> {
    named.map_or(Ok(()), |named| named.expect_in_place(shown))
}

/// Whether a database has nothing in it, as far as the engine can say.
fn holds_nothing(connection: &Connection) -> bool {
    let kinds = ["schemas", "tables", "views", "types", "functions"]
        .map(|kind| format!("SELECT database_name, internal FROM duckdb_{kind}()"))
        .join(" UNION ALL ");
    let sql = format!(
        "SELECT CAST(count(*) AS VARCHAR) FROM \
         ({kinds} UNION ALL SELECT database_name, temporary FROM duckdb_sequences()) AS found(home, is_own) \
         WHERE home = current_database() AND NOT is_own"
    );
    connection.value(&sql).is_ok_and(|count| count.as_deref() == Some("0"))
}

/// Removes a hidden name and all that goes with it. One that can't be removed is swept by the next load.
fn remove(path: &Path) {
    let database = with_suffix(path, HIDDEN);
    let beside: [PathBuf; 3] = [database.clone(), with_suffix(&database, ".wal"), path.to_owned()];
    for path in beside {
        let _ = fs::remove_file(path);
    }
    let _ = fs::remove_dir_all(with_suffix(&database, ".tmp"));
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    /// A commit that takes some ticks of the interrupter, as it does where keys are put into an index.
    #[test]
    fn a_commit_comes_to_its_end_though_the_user_wants_to_stop() {
        let Ok(library) = library(None) else {
            assert!(std::env::var("CI").is_err(), "no library of DuckDB");
            eprintln!("SKIPPED: no library of DuckDB on this machine");
            return;
        };
        let connect = || Arc::new(Database::open(library, ":memory:", &[])?).connect();
        let connection = connect().unwrap();
        let stop = AtomicBool::new(false);
        let mut session = Session {
            interrupter: Some(Interrupter::new(&connection, &stop)),
            connection: Some(connection),
            home: Home::Memory(String::new()),
            shown: String::new(),
            pending: None,
            is_made: false,
            named: None,
            in_transaction: false,
        };
        session.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)").unwrap();
        session.begin().unwrap();
        session.execute("INSERT INTO t SELECT range FROM range(300000)").unwrap();
        stop.store(true, Relaxed);
        session.commit().unwrap();
        session.unwatch();
        assert_eq!(session.value("SELECT CAST(count(*) AS VARCHAR) FROM t").unwrap(), "300000");
    }
}
