//! The hidden collection that a load fills before it takes the target's place.
//!
//! MongoDB has no locks by which a living load could be told from a killed one, so a locked file on this machine is one: it has
//! the collection's name, and the kernel lets go of it when its owner dies. The next load from here drops what has lost its owner;
//! what was left by another machine has none here, and stays. An insert that a killed load had sent may come after that and make the
//! collection again, so the file stays for a day, and with it the right to drop it.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::bson::{Document, Raw, Value, kind};
use crate::client::{Failure, code, code_of};
use crate::connect::CONNECT_TIMEOUT;
use crate::facts;
use crate::session::Session;
use inrush_core::error::{Error, Result};
use inrush_core::wording::asks_about_commit;
use inrush_core::{Action, Job};
use inrush_net::staging::{PREFIX, digits_of, hidden_name};

/// A hidden collection that is ours.
pub(super) struct Staging {
    pub(super) name: String,
    /// What had the target's name is dropped, or may be: the rows are in this one alone.
    pub(super) is_alone: bool,
    lock: PathBuf,
    _locked: File,
}

/// How often a name is asked for that another client's insert takes first, or where the answer is lost.
pub(super) const TRIES: usize = 100;

/// What the name of a lock's file ends in.
const LOCK: &str = ".lock";

fn lock_of(collection: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{collection}{LOCK}"))
}

impl Staging {
    /// Makes the collection: a new one, or one that is like the target.
    pub(super) fn make(session: &mut Session<'_>, job: &Job) -> Result<Self> {
        let name = hidden_name();
        let lock = lock_of(&name);
        let no_lock = |error: std::io::Error| {
            Error::target(format!("can't make {}: {error}", lock.display()))
                .advise("TMPDIR names another folder for it")
        };
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&lock)
            .map_err(no_lock)?;
        let staging = Self { name, is_alone: false, lock: lock.clone(), _locked: file };
        staging._locked.try_lock().map_err(|error| no_lock(error.into()))?;
        match staging.create(session, job) {
            Ok(()) => Ok(staging),
            Err(failure) => {
                let error = session.explain(failure);
                staging.discard(session);
                Err(error)
            }
        }
    }

    fn create(&self, session: &mut Session<'_>, job: &Job) -> Result<(), Failure> {
        let mut create = Document::new().string("create", &self.name);
        let mut indexes: Vec<Document> = Vec::new();
        if job.choice.action == Action::Truncate {
            session.catalogue(facts::list(&job.table), |found| {
                let options = found.document("options").map(Raw::elements);
                for (name, value) in options.into_iter().flatten() {
                    let name = String::from_utf8_lossy(name);
                    create = std::mem::replace(&mut create, Document::new()).value(&name, value);
                }
            })?;
            facts::indexes(session, &job.table, |index| {
                if !facts::is_default(index) {
                    indexes.push(as_made(index));
                }
            })?;
        } else if job.request.primary_key.len() > 1 {
            let unique = index(&job.request.primary_key).boolean("unique", true);
            indexes.push(unique);
        }
        session.command(create)?;
        build(session, &self.name, indexes)
    }

    /// Gives the collection the target's name. What had the name goes.
    ///
    /// # Errors
    /// When it kept its name, or when the connection is lost again and again: then only the server knows which collection has the
    /// target's.
    pub(super) fn publish(
        &mut self,
        session: &mut Session<'_>,
        job: &Job,
        note: &dyn Fn(&str),
    ) -> Result<(), Failure> {
        let replaces = matches!(job.choice.action, Action::Replace | Action::Truncate);
        let (mut takes_free_names, mut drops, mut was_lost) = (false, false, false);
        let mut tries = 1..TRIES;
        session.unwatch();
        loop {
            let renamed = match drops {
                true => self.make_room(session, &job.table),
                false => Ok(()),
            };
            let renamed = renamed
                .and_then(|()| self.rename(session, &job.table, replaces && !takes_free_names));
            let Err(failure) = renamed else { break };
            drops = false;
            match code_of(&failure) {
                _ if matches!(failure, Failure::Lost(_)) => {
                    if !was_lost {
                        note(&asks_about_commit(CONNECT_TIMEOUT));
                    }
                    was_lost = true;
                    if session.reconnect().is_err() {
                        return Err(failure);
                    }
                }
                // FerretDB takes a name only when it is free.
                code::NOT_IMPLEMENTED if replaces && !takes_free_names => {
                    (takes_free_names, drops) = (true, true);
                }
                // Another client's insert has made the collection again.
                code::NAMESPACE_EXISTS if takes_free_names => drops = true,
                _ if !was_lost => return Err(failure),
                _ => {}
            }
            // Only the server knows what has become of what it did not answer.
            if was_lost && matches!(exists(session, &self.name), Ok(false)) {
                break;
            }
            if tries.next().is_none() {
                return Err(failure);
            }
        }
        self.disown();
        Ok(())
    }

    /// Drops what has the name.
    fn make_room(&mut self, session: &mut Session<'_>, table: &str) -> Result<(), Failure> {
        // From here on no load may sweep the rows, should this one be killed.
        self.disown();
        match session.command(Document::new().string("drop", table)) {
            Err(failure) if code_of(&failure) == code::NAMESPACE_NOT_FOUND => Ok(()),
            Err(failure @ Failure::Server(_)) => Err(failure),
            dropped => {
                self.is_alone = true;
                dropped.map(drop)
            }
        }
    }

    fn rename(
        &self,
        session: &mut Session<'_>,
        table: &str,
        drops_target: bool,
    ) -> Result<(), Failure> {
        let full = |name: &str| format!("{}.{name}", session.database());
        let rename = Document::new()
            .string("renameCollection", &full(&self.name))
            .string("to", &full(table))
            .boolean("dropTarget", drops_target);
        session.admin(rename).map(drop)
    }

    /// Drops the collection, if it can be done. Otherwise the file stays, without a lock, and with it the next load's right to do so.
    pub(super) fn discard(&self, session: &mut Session<'_>) -> bool {
        let dropped = session.command(Document::new().string("drop", &self.name));
        match dropped {
            Err(failure) if code_of(&failure) != code::NAMESPACE_NOT_FOUND => false,
            _ => {
                self.disown();
                true
            }
        }
    }

    /// There is no hidden collection any more.
    fn disown(&self) {
        // A file too many among the temporary ones harms nobody.
        let _ = fs::remove_file(&self.lock);
    }
}

fn exists(session: &mut Session<'_>, collection: &str) -> Result<bool, Failure> {
    let mut found = false;
    session.catalogue(facts::list(collection), |_| found = true)?;
    Ok(found)
}

/// An index as it is made: what is listed also says of which version it is, which is for the server to choose, and up to MongoDB 4.2
/// where it is.
fn as_made(index: Raw<'_>) -> Document {
    let elements = index.elements().filter(|(name, _)| !matches!(*name, b"ns" | b"v"));
    elements.fold(Document::new(), |copy, (name, value): (&[u8], Value<'_>)| {
        copy.value(&String::from_utf8_lossy(name), value)
    })
}

/// An ascending index of these fields, named as the server would.
pub(super) fn index(fields: &[String]) -> Document {
    let key = fields.iter().fold(Document::new(), |key, field| key.int32(field, 1));
    let parts: Vec<String> = fields.iter().map(|field| format!("{field}_1")).collect();
    Document::new().document("key", key).string("name", &parts.join("_"))
}

/// Builds indexes, if there are any.
pub(super) fn build(
    session: &mut Session<'_>,
    collection: &str,
    indexes: Vec<Document>,
) -> Result<(), Failure> {
    if indexes.is_empty() {
        return Ok(());
    }
    let command = Document::new().string("createIndexes", collection).array("indexes", indexes);
    session.command(command).map(drop)
}

/// Drops hidden collections of loads that are no more. What can't be dropped stays for another time.
pub(super) fn sweep(session: &mut Session<'_>) {
    let mut names = Vec::new();
    let list = Document::new().int32("listCollections", 1).element("nameOnly", kind::BOOLEAN, &[1]);
    let listed =
        session.catalogue(list, |found| names.extend(found.text("name").map(str::to_owned)));
    if listed.is_err() {
        return;
    }
    for name in names.iter().filter(|name| digits_of(name).is_some()) {
        let Ok(file) = File::options().write(true).open(lock_of(name)) else { continue };
        if file.try_lock().is_ok() {
            let _ = session.command(Document::new().string("drop", name));
        }
    }
    remove_old_locks();
}

/// What a killed load had sent has come by then.
const LOCK_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes files of loads that were killed so long ago that none of their inserts is on its way.
fn remove_old_locks() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_lock =
            name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(LOCK));
        let is_old = || {
            let written = entry.metadata().and_then(|data| data.modified()).ok();
            written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > LOCK_KEPT)
        };
        if is_lock
            && is_old()
            && let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
