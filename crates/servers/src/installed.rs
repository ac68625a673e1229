//! Servers that this machine has, by name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::software::{Offer, Setting, Software};
use super::{ferretdb, mysql, postgres};
use inrush_core::{Error, Result};

/// Names that stand for the newest version that is here of what is called so, with a version behind it.
const NEWEST: [(&str, &str); 3] =
    [("mysql", "mysql"), ("postgres", "postgres"), ("mongodb", "ferretdb")];

/// What the versions are called that the name may stand for.
fn newest(name: &str) -> Option<&'static str> {
    NEWEST.iter().find(|(newest, _)| *newest == name).map(|(_, versions)| *versions)
}

/// A server program that is installed here and can be started.
#[derive(Clone, Debug)]
pub struct Installed {
    name: &'static str,
    family: &'static str,
    pub(super) software: Arc<dyn Software>,
    pub(super) environment: Vec<(String, String)>,
}

impl Installed {
    /// The names that can be asked for: `mariadb` is whatever MariaDB is on the path, `mysql` and `postgres` are the newest of
    /// their versions that are here, and `mongodb` is what stands for it.
    pub fn names() -> impl Iterator<Item = &'static str> {
        offers().map(Offer::name).chain(NEWEST.map(|(name, _)| name))
    }

    /// The server of that name. A package of the system is looked for on the path and in the folders for daemons, or where
    /// Debian has its PostgreSQL; the others in the
    /// folders that the environment variable `INRUSH_SERVERS` names, separated like those of `PATH`, or else in `target/servers`
    /// of the current directory and of those above it.
    ///
    /// # Errors
    /// When there is no such name, or no such server here; the message says where it was looked for.
    pub fn find(name: &str) -> Result<Self> {
        Self::find_in(&Places::of_this_machine(), name)
    }

    fn find_in(places: &Places, name: &str) -> Result<Self> {
        let is_version = |known: &str| {
            let rest = newest(name).and_then(|versions| known.strip_prefix(versions));
            rest.is_some_and(|rest| rest.starts_with('-'))
        };
        let meant: Vec<_> =
            offers().filter(|offer| offer.name() == name || is_version(offer.name())).collect();
        let mut missing = None;
        for offer in meant.into_iter().rev() {
            match offer.find(places) {
                Ok(software) => {
                    let (name, family) = (offer.name(), offer.family());
                    return Ok(Self { name, family, software, environment: Vec::new() });
                }
                // Of several the newest is the one to fetch.
                Err(error) => missing = missing.or(Some(error)),
            }
        }
        Err(missing.unwrap_or_else(|| {
            let names: Vec<_> = Self::names().collect();
            Error::usage(format!("no server is called '{name}'; there are {}", names.join(", ")))
        }))
    }

    /// The same with a variable in the environment of its servers: what is no setting, such as `TZ`, the system's time zone.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// As it was asked for; of `mysql`, `postgres` and `mongodb` the version that was found, such as `mysql-8.0`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name of the target that loads into it: `mysql`, which MariaDB is too, `postgres`, or `mongodb`.
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// The family of the servers of that name, whether or not they are here; `None` if there is no such name.
    pub fn family_of(name: &str) -> Option<&'static str> {
        let is_version = |offer: &&dyn Offer| {
            let rest = newest(name).and_then(|versions| offer.name().strip_prefix(versions));
            offer.name() == name || rest.is_some_and(|rest| rest.starts_with('-'))
        };
        offers().find(is_version).map(Offer::family)
    }

    /// What benches start it with, besides what they set themselves: what loads need that is not the default.
    pub fn bench_settings(&self) -> Vec<Setting> {
        self.software.bench_settings()
    }

    /// What tests start it with: everything a load may want to use is on, and its files are small.
    pub fn test_settings(&self) -> Vec<Setting> {
        self.software.test_settings()
    }
}

/// Every version that can be asked for, family by family; of one program older versions come first.
fn offers() -> impl Iterator<Item = &'static dyn Offer> {
    let mysql = mysql::RECIPES.iter().map(|recipe| recipe as &dyn Offer);
    let postgres = postgres::RECIPES.iter().map(|recipe| recipe as &dyn Offer);
    let ferretdb = ferretdb::RECIPES.iter().map(|recipe| recipe as &dyn Offer);
    mysql.chain(postgres).chain(ferretdb)
}

/// Where servers are looked for.
#[derive(Debug)]
pub(super) struct Places {
    /// For programs of the system.
    pub(super) programs: Vec<PathBuf>,
    /// Each with a folder NAME for the server of that name.
    pub(super) servers: Vec<PathBuf>,
    /// With a folder for each version that Debian's packages have installed; none of them is on the path.
    pub(super) postgres: PathBuf,
}

impl Places {
    fn of_this_machine() -> Self {
        let list = |variable: &str| {
            std::env::var_os(variable)
                .map(|value| std::env::split_paths(&value).collect::<Vec<_>>())
                .filter(|paths| paths.iter().any(|path| !path.as_os_str().is_empty()))
        };
        let mut programs = list("PATH").unwrap_or_default();
        // Not on the path of every user.
        programs.extend(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
        let servers = list("INRUSH_SERVERS").unwrap_or_else(|| {
            let current = std::env::current_dir().unwrap_or_default();
            current.ancestors().map(|folder| folder.join("target/servers")).collect()
        });
        Self { programs, servers, postgres: PathBuf::from("/usr/lib/postgresql") }
    }

    /// The program, after all symbolic links: what belongs to it lies beside the real one.
    pub(super) fn program(&self, name: &str) -> Option<PathBuf> {
        first_file(&self.programs, Path::new(name)).and_then(|path| path.canonicalize().ok())
    }

    /// The folder of the server `name`, if it has the file `inside`. Absolute, because a server runs elsewhere.
    pub(super) fn server(&self, name: &str, inside: &str) -> Option<PathBuf> {
        let folder = self.servers.iter().find(|folder| folder.join(name).join(inside).is_file())?;
        folder.join(name).canonicalize().ok()
    }
}

/// Folders as a message names them.
pub(super) fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn first_file(folders: &[PathBuf], file: &Path) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(file)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_name_without_a_version_is_the_newest_that_is_here() {
        let place = tempfile::tempdir().unwrap();
        let places = Places {
            programs: Vec::new(),
            servers: vec![place.path().to_owned()],
            postgres: place.path().join("packages"),
        };
        let found = |name: &str| {
            let found = Installed::find_in(&places, name);
            found.map(|installed| (installed.name(), installed.family()))
        };
        let make = |program: &str| {
            let program = place.path().join(program);
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::write(program, "").unwrap();
        };
        let missing = found("mysql").unwrap_err();
        assert!(missing.what().starts_with("mysql-8.0 is not here"), "{missing}");
        make("mysql-5.6/bin/mysqld");
        make("mysql-5.5/bin/mysqld");
        make("mariadb-11.4/bin/mariadbd");
        assert_eq!(found("mysql").unwrap(), ("mysql-5.6", "mysql"));
        assert_eq!(found("mysql-5.5").unwrap(), ("mysql-5.5", "mysql"));
        assert_eq!(found("mariadb-11.4").unwrap(), ("mariadb-11.4", "mysql"));
        make("packages/16/bin/postgres");
        make("postgres-15/bin/postgres");
        assert_eq!(found("postgres").unwrap(), ("postgres-16", "postgres"));
        for name in ["mariadb-", "mysql-", "post", ""] {
            assert!(found(name).unwrap_err().what().starts_with("no server is called"), "{name}");
        }
    }
}
