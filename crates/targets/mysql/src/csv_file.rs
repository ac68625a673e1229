//! `csv-file`: the encoded rows become the file of a table of the CSV engine.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ddl::quote;
use crate::encode::{self, EngineCsv, Stores};
use crate::facts::ServerFacts;
use crate::load::{self, Writing};
use crate::session::{Failure, Refusal, Session};
use inrush_core::encode::Shape;
use inrush_core::error::{Error, Result};
use inrush_core::flow::Encode;
use inrush_core::target::{Fit, Knobs};
use inrush_core::{Facts, Job, Request};
use inrush_net::statement::{Batch, Done, Write};

/// The file becomes the table.
pub(super) struct CsvFile;

pub(super) fn fit(request: &Request, facts: &Facts, knobs: &mut Knobs) -> Fit {
    let server = ServerFacts::of(&facts.target);
    if facts.kept_table(request).is_some() {
        return Fit::Unusable { reason: "the table is there, with the rows it has".to_owned() };
    }
    // The file is synced here, but what the server keeps beside it and the renames that give it the table's name are not.
    let fit = load::fit(request, facts, knobs, false);
    if matches!(fit, Fit::Usable { .. })
        && (!server.is_local || !Path::new(server.variable("datadir")).is_dir())
    {
        return Fit::Unusable {
            reason: "the server's data directory can't be reached from here".to_owned(),
        };
    }
    fit
}

impl Writing for CsvFile {
    fn encoder(&self, shape: Arc<Shape>, stores: &Stores, job: &Job) -> Box<dyn Encode> {
        encode::encoder::<EngineCsv>(shape, stores, job)
    }

    fn writer<'p, 's: 'p>(
        &self,
        session: &mut Session<'s>,
        table: &str,
        _stores: &Stores,
        job: &'p Job,
    ) -> Result<Box<dyn Write<Session<'s>> + 'p>> {
        let path = file_of(session, table, job);
        // The server has made the file, empty; closing the table lets go of it.
        session
            .execute(format!("FLUSH TABLES {}", quote(table)))
            .map_err(|failure| session.explain(failure))?;
        match OpenOptions::new().append(true).open(&path) {
            Ok(file) => Ok(Box::new(FileWriter { file })),
            Err(error) => {
                Err(Error::target(format!("the table's file {}: {error}", path.display()))
                    .advise("run as the user that the server runs as, or use another strategy"))
            }
        }
    }

    fn writes_file(&self) -> bool {
        true
    }

    /// Syncs the file, and has the server open it anew.
    fn complete(
        &self,
        session: &mut Session<'_>,
        table: &str,
        job: &Job,
    ) -> Result<Option<u64>, Failure> {
        let synced = File::open(file_of(session, table, job)).and_then(|file| file.sync_all());
        if let Err(error) = synced {
            return Err(write_failure(&error));
        }
        session.execute(format!("FLUSH TABLES {}", quote(table)))?;
        // Without this the server may take what it finds for a crashed table.
        session.execute(format!("REPAIR TABLE {}", quote(table))).map(|_| None)
    }
}

/// The file of a table (<https://mariadb.com/kb/en/csv-overview/>); our hidden names need no encoding, a database's may.
fn file_of(session: &Session<'_>, table: &str, job: &Job) -> PathBuf {
    let data = ServerFacts::of(&job.facts.target).variable("datadir");
    Path::new(data).join(encoded(session.database())).join(format!("{table}.CSV"))
}

/// A database's name as that of its directory (<https://dev.mysql.com/doc/refman/8.0/en/identifier-mapping.html>).
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c.is_ascii_alphanumeric() || c == '_' {
            true => out.push(c),
            false => out.push_str(&format!("@{:04x}", c as u32)),
        }
    }
    out
}

fn write_failure(error: &std::io::Error) -> Failure {
    Failure::Server(Box::new(Refusal {
        code: 0,
        state: String::new(),
        message: format!("the table's file can't be written: {error}"),
    }))
}

struct FileWriter {
    file: File,
}

impl<'s> Write<Session<'s>> for FileWriter {
    fn write(
        &mut self,
        _session: &mut Session<'s>,
        batch: &Batch<'_>,
        _guarded: bool,
    ) -> Result<Done, Failure> {
        self.file.write_all(batch.bytes()).map_err(|error| write_failure(&error))?;
        Ok(Done { affected: (batch.to - batch.from) as u64, warnings: 0 })
    }
}
