//! The table's file in the server's data directory: its template, the file while it is written, and how the server takes it over.
//!
//! A load that is killed leaves a hidden table without a file, which every next load drops, and files of ours with that table's name, which
//! the next load of this kind removes. The user's table gets its name when the server has taken the file over, and found it whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{
    FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};

use inrush_core::Job;
use inrush_core::error::{Error, Kind, Result};
use inrush_innodb_pages::{PAGE_BYTES, Sink, Template};
use inrush_net::staging::digits_of;

use super::{checkpoint, said};
use crate::ddl::quote;
use crate::facts::ServerFacts;
use crate::session::{Failure, Session};
use crate::staging;

/// The largest empty file that is read; one has seven pages or so.
const TEMPLATE_BYTES_MAX: u64 = 16 << 20;

/// What the name of the file ends with until it is whole. Servers take no notice of such files.
const PART: &str = "part";

/// What the name of the file ends with that has a setting of the server as it was, while it is another.
const SETTING: &str = "setting";

/// Why the data directory can't be written to, as far as can be said without having a table there.
pub(super) fn obstacle(server: &ServerFacts) -> Option<String> {
    if !server.is_local {
        return Some("the server is on another machine, and its data directory with it".to_owned());
    }
    let directory = server.variable("datadir");
    match fs::read_dir(directory) {
        Ok(_) => None,
        Err(error) => Some(format!(
            "the server's data directory {directory} can't be read: {error} (it takes its owner's rights, or root's)"
        )),
    }
}

/// The database's folder.
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// # Errors
    /// When its name in the data directory is not the database's own: the server spells other characters in a way of its own.
    pub(super) fn of(job: &Job, database: &str) -> Result<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if database.is_empty() || !database.bytes().all(is_plain) {
            return Err(Error::target(format!(
                "mysql/tablespace: the name of database {database} has characters that its folder's name has not"
            ))
            .advise("leave --strategy out"));
        }
        let directory = ServerFacts::of(&job.facts.target).variable("datadir");
        Ok(Self { path: Path::new(directory).join(database) })
    }

    fn file(&self, table: &str, ending: &str) -> PathBuf {
        self.path.join(format!("{table}.{ending}"))
    }

    /// Takes the empty table's file as a template, has the server give the file up, and begins the one that takes its place.
    ///
    /// # Errors
    /// When the server refuses, or the file can't be read or is none that can be written.
    pub(super) fn begin(&self, session: &mut Session<'_>, table: &str) -> Result<(Template, File)> {
        let name = quote(table);
        let run = |session: &mut Session<'_>, sql: String| {
            session.execute(sql).map(drop).map_err(|failure| session.explain(failure))
        };
        run(session, format!("FLUSH TABLES {name} FOR EXPORT"))?;
        // The server takes the .cfg back when it is unlocked.
        let read = self.read(table);
        run(session, "UNLOCK TABLES".to_owned())?;
        let (file, configuration, owner) = read?;
        // Not before: until its files were found there, the folder may be another server's, and so may what looks left over.
        self.sweep(session);
        let template = Template::read(&file).map_err(|error| {
            Error::target(format!("mysql/tablespace: {error}")).advise("leave --strategy out")
        })?;
        run(session, format!("ALTER TABLE {name} DISCARD TABLESPACE"))?;
        checkpoint::take(session, &self.file(table, SETTING))
            .map_err(|failure| session.explain(failure))?;
        let part = File::make(self.file(table, PART), &owner)?;
        let beside = self.file(table, "cfg");
        let configured = File::make(beside.clone(), &owner).and_then(|mut made| {
            made.file
                .write_all_at(&configuration, 0)
                .map_err(|error| cannot("written", &beside, &error))?;
            made.is_whole = true;
            Ok(())
        });
        configured.map(|()| (template, part))
    }

    /// The files that the server has made of the empty table, and of what kind the first is. That they are there, with a name that was made
    /// up a moment ago, shows that this is the folder of this server.
    fn read(&self, table: &str) -> Result<(Vec<u8>, Vec<u8>, fs::Metadata)> {
        let read = |ending: &str| {
            let path = self.file(table, ending);
            let read = || -> io::Result<_> {
                let file =
                    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&path)?;
                let kind = file.metadata()?;
                let mut bytes = Vec::new();
                file.take(TEMPLATE_BYTES_MAX).read_to_end(&mut bytes)?;
                Ok((bytes, kind))
            };
            read().map_err(|error| {
                cannot("read", &path, &error)
                    .advise("mysql/tablespace needs a server on this machine, outside of a container, and its owner's rights or root's")
                    .advise("leave --strategy out")
            })
        };
        let (file, kind) = read("ibd")?;
        Ok((file, read("cfg")?.0, kind))
    }

    /// Has the server take the file over.
    pub(super) fn import(&self, session: &mut Session<'_>, table: &str) -> Result<(), Failure> {
        let (part, file) = (self.file(table, PART), self.file(table, "ibd"));
        let placed = fs::rename(&part, &file)
            .and_then(|()| fs::File::open(&self.path))
            .and_then(|folder| folder.sync_all());
        placed.map_err(|error| said(cannot("put in place", &file, &error).what().to_owned()))?;
        let imported = session.execute(format!("ALTER TABLE {} IMPORT TABLESPACE", quote(table)));
        if matches!(imported, Err(Failure::Server(_))) {
            // The table stays without a file, and is dropped.
            let _ = fs::remove_file(&file);
        }
        imported?;
        self.remove(table);
        checkpoint::take(session, &self.file(table, SETTING))
    }

    /// Removes what is ours of a table's files.
    pub(super) fn remove(&self, table: &str) {
        for ending in [PART, "cfg"] {
            let _ = fs::remove_file(self.file(table, ending));
        }
    }

    /// Removes the files of hidden tables that are no more.
    fn sweep(&self, session: &mut Session<'_>) {
        let Ok(files) = fs::read_dir(&self.path) else { return };
        for file in files.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some((table, ending)) = name.split_once('.') else { continue };
            let is_ours =
                digits_of(table).is_some() && [PART, "cfg", "ibd", SETTING].contains(&ending);
            if is_ours && staging::exists(session, table).is_ok_and(|exists| !exists) {
                let is_done = ending != SETTING || checkpoint::restore(session, &file.path());
                if is_done {
                    let _ = fs::remove_file(file.path());
                }
            }
        }
    }
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(Kind::Target, format!("{} can't be {what}: {error}", path.display()))
}

/// A file of ours, which goes unless it is whole.
pub(super) struct File {
    path: PathBuf,
    file: fs::File,
    is_whole: bool,
}

impl File {
    /// Makes the file, for the owner of the table's own.
    fn make(path: PathBuf, owner: &fs::Metadata) -> Result<Self> {
        let fail = |error: io::Error| cannot("made", &path, &error);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(fail)?;
        let file = Self { path, file, is_whole: false };
        let (user, group) = (owner.uid(), owner.gid());
        let mode = fs::Permissions::from_mode(owner.mode() & 0o777);
        let found = file.file.metadata();
        let is_owners = found.is_ok_and(|found| (found.uid(), found.gid()) == (user, group));
        let owned = if is_owners { Ok(()) } else { fchown(&file.file, Some(user), Some(group)) };
        owned.and_then(|()| file.file.set_permissions(mode)).map_err(|error| {
            cannot("given to the server", &file.path, &error)
                .advise("mysql/tablespace takes root's rights, or those of the server's own user")
        })?;
        Ok(file)
    }

    /// The folder that it is in.
    pub(super) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// What pages go to.
    pub(super) fn pages(&self) -> Result<Pages> {
        let file = self.file.try_clone();
        file.map(Pages).map_err(|error| cannot("written", &self.path, &error))
    }

    /// All pages are stored: gives the file its length, and waits until it is safe.
    pub(super) fn finish(&mut self, pages: u32) -> Result<()> {
        let length = u64::from(pages) * PAGE_BYTES as u64;
        let synced = self.file.set_len(length).and_then(|()| self.file.sync_all());
        synced.map_err(|error| cannot("written", &self.path, &error))?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Stores pages in a file.
pub(super) struct Pages(fs::File);

impl Sink for Pages {
    type Error = io::Error;

    fn pages(&mut self, first: u32, pages: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_all_at(pages, u64::from(first) * PAGE_BYTES as u64)
    }
}
