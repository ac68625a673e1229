//! Private databases that are like the user's.

use std::path::PathBuf;

use inrush::doctor::Copy;
use inrush::plan::{IfExists, RejectLimit};
use inrush::target::{self, Console};
use inrush::{Error, LoadOptions, Observer, RejectsTo, Request, Result};
use inrush_core::TableFacts;
use inrush_servers::{Installed, Place, Server};

use super::rows::Sample;

/// The table that loads make where the change is about none.
const TABLE: &str = "inrush_doctor";

/// Where twins are made.
pub(crate) enum Ground {
    /// Beside nothing: a file in a folder of its own.
    File,
    /// A server of the same version, with these settings.
    Server(Installed, Vec<(String, String)>),
}

/// A private database.
pub(crate) struct Twin {
    url: String,
    /// What makes a file anew before each load; a server keeps its tables.
    remade: Option<(PathBuf, Vec<String>)>,
    /// Ends when this does.
    _server: Option<Server>,
    _folder: Option<Place>,
}

impl Ground {
    /// The ground for the target of a request, whose engine says that it is `version`.
    ///
    /// # Errors
    /// When there is no server of that version here; with the way to get it.
    pub(crate) fn of(
        request: &Request,
        version: &str,
        settings: &[(String, String)],
    ) -> Result<Self> {
        let (target, _) = target::find(&request.target)?;
        let (engine, number) = version.split_once(' ').unwrap_or((version, ""));
        let parts: Vec<&str> = number.split('.').collect();
        let two = parts.get(..2).unwrap_or(&parts).join(".");
        let name = match (target.name(), engine) {
            ("sqlite", _) => return Ok(Self::File),
            ("mysql", "MariaDB") => format!("mariadb-{two}"),
            ("mysql", _) => format!("mysql-{two}"),
            ("postgres", _) => format!("postgres-{}", parts.first().unwrap_or(&"")),
            _ => return Err(Error::target(format!("changes of {engine} can't be tried out"))),
        };
        let installed = Installed::find(&name).map_err(|error| {
            error.reworded(|words| format!("no private server of {version}: {words}"))
        })?;
        Ok(Self::Server(installed, settings.to_vec()))
    }

    /// What makes an empty copy of the user's table, or database.
    pub(crate) fn copy(
        &self,
        request: &Request,
        table: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Copy> {
        let (target, location) = target::find(&request.target)?;
        let doctor = target.doctor().ok_or_else(|| Error::target("it can't be copied"))?;
        doctor.copy(&location, table, observer.stop_flag())
    }

    /// The columns of a copy of the user's table.
    pub(super) fn facts(
        &self,
        copy: &Copy,
        table: &str,
        observer: &dyn Observer,
    ) -> Result<TableFacts> {
        let mut twin = self.twin(&[], copy, &[], observer)?;
        twin.remake(observer)?;
        let (target, location) = target::find(&twin.url)?;
        let facts = target.facts(&location, table, &Request::default(), observer.stop_flag())?;
        facts.table.ok_or_else(|| Error::target(format!("the table {table} was not copied")))
    }

    /// A database as the user's, with other settings behind its own, the copy's tables, and `change` made to them.
    pub(crate) fn twin(
        &self,
        settings: &[(String, String)],
        copy: &Copy,
        change: &[String],
        observer: &dyn Observer,
    ) -> Result<Twin> {
        let statements: Vec<String> = copy.statements.iter().chain(change).cloned().collect();
        match self {
            Self::File => {
                let folder = Place::create(&std::env::temp_dir())?;
                let path = folder.directory().join("twin.db");
                Ok(Twin {
                    url: format!("sqlite:{}", path.display()),
                    remade: Some((path, statements)),
                    _server: None,
                    _folder: Some(folder),
                })
            }
            Self::Server(installed, own) => {
                let is_changed = |name: &str| settings.iter().any(|(changed, _)| changed == name);
                let mut all: Vec<_> =
                    own.iter().filter(|(name, _)| !is_changed(name)).cloned().collect();
                all.extend(settings.iter().cloned());
                let server = Server::start(installed, &all)?;
                let url = match installed.family() {
                    "mysql" => {
                        let database = copy.database.as_deref().unwrap_or(TABLE);
                        let name = format!("`{}`", database.replace('`', "``"));
                        console(&server.url().replace("/?", "/mysql?"), observer)?
                            .execute(&format!("CREATE DATABASE {name}"))?;
                        server.url().replace("/?", &format!("/{}?", percent_encoded(database)))
                    }
                    _ => server.url(),
                };
                run(&url, &statements, observer)?;
                Ok(Twin { url, remade: None, _server: Some(server), _folder: None })
            }
        }
    }
}

impl Twin {
    /// The database, as loads name it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Loads the rows; how many a second.
    pub(super) fn rate(
        &mut self,
        sample: &Sample,
        table: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<f64> {
        self.remake(observer)?;
        let request = Request {
            sources: sample.sources.clone(),
            target: self.url.clone(),
            options: LoadOptions {
                table: Some(table.unwrap_or(TABLE).to_owned()),
                if_exists: if table.is_some() { IfExists::Truncate } else { IfExists::Replace },
                max_rejects: RejectLimit::All,
                rejects: RejectsTo::Observer,
                ..LoadOptions::default()
            },
            ..Request::default()
        };
        let quiet = Quiet(observer);
        let report = inrush::run(&inrush::plan(&request, &quiet)?, &quiet)?;
        match report.rows_loaded > 0 && report.seconds.total > 0.0 {
            true => Ok(report.rows_loaded as f64 / report.seconds.total),
            false => Err(Error::target("the table takes none of the rows that were made for it")),
        }
    }

    /// A file begins as it was each time: what a load leaves bears on the next.
    fn remake(&mut self, observer: &dyn Observer) -> Result<()> {
        let Some((path, statements)) = &self.remade else { return Ok(()) };
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            // Most of them aren't there.
            let _ = std::fs::remove_file(name);
        }
        run(&self.url, statements, observer)
    }
}

/// The user's wish to stop, and nothing to be seen.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn stop(&self) -> Option<&std::sync::atomic::AtomicBool> {
        self.0.stop()
    }
}

fn console<'a>(url: &str, observer: &'a dyn Observer) -> Result<Box<dyn Console + 'a>> {
    let (target, location) = target::find(url)?;
    target.console(&location, observer.stop_flag())
}

fn run(url: &str, statements: &[String], observer: &dyn Observer) -> Result<()> {
    if statements.is_empty() {
        return Ok(());
    }
    let mut console = console(url, observer)?;
    for sql in statements {
        console.execute(sql)?;
    }
    Ok(())
}

/// A name as a URL takes it.
fn percent_encoded(name: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(encoded).collect()
}
