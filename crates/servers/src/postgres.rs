//! PostgreSQL, from 15 on: where each version is found, whom it runs as, and what it is started with.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::address::check_socket;
use super::installed::{Places, list};
use super::place::{Place, copy_folder};
use super::process::run_to_end;
use super::running::failed_to_initialise;
use super::software::{INITIALISE_MAX, Offer, Setting, Software, identity};
use inrush_core::path::in_url;
use inrush_core::{Error, Result};

/// One version.
#[derive(Debug)]
pub(super) struct Recipe {
    name: &'static str,
    /// What Debian's packages call its folder.
    version: &'static str,
}

pub(super) static RECIPES: &[Recipe] = &[
    Recipe { name: "postgres-15", version: "15" },
    Recipe { name: "postgres-16", version: "16" },
    Recipe { name: "postgres-17", version: "17" },
    Recipe { name: "postgres-18", version: "18" },
];

const FOR_TESTS: &[(&str, &str)] = &[
    // Off otherwise: transactions of several connections that are to be committed together.
    ("max_prepared_transactions", "16"),
];

/// Whom a server runs as for root, which PostgreSQL refuses to be: the first of them that there is. Debian's package makes the first.
const USERS: [&str; 2] = ["postgres", "nobody"];

impl Offer for Recipe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn family(&self) -> &'static str {
        "postgres"
    }

    /// A folder that was fetched comes before the system's package.
    fn find(&'static self, places: &Places) -> Result<Arc<dyn Software>> {
        const PROGRAM: &str = "bin/postgres";
        let name = self.name;
        let package = places.postgres.join(self.version);
        let of_the_system = || package.join(PROGRAM).is_file().then(|| package.clone());
        match places.server(name, PROGRAM).or_else(of_the_system) {
            Some(folder) => Ok(Arc::new(Postgres { name, folder })),
            None => Err(Error::target(format!(
                "{name} is not here: no file {PROGRAM} in {}, and no {name}/{PROGRAM} in {}",
                package.display(),
                list(&places.servers)
            ))
            .advise(format!("`scripts/servers.sh {name}` fetches it"))
            .advise("INRUSH_SERVERS names the folders where it may be")),
        }
    }
}

/// One installed version.
#[derive(Debug)]
struct Postgres {
    name: &'static str,
    /// With `bin`, `lib` and `share`. It finds them by itself.
    folder: PathBuf,
}

impl Postgres {
    /// One of its programs, run by the owner of `place`.
    fn program(&self, program: &str, place: &Place) -> Command {
        let copy = copy(place);
        let folder = if copy.is_dir() { &copy } else { &self.folder };
        let mut command = Command::new(folder.join("bin").join(program));
        command.current_dir(place.directory());
        if place.is_root()
            && let Ok((user, group)) = place.owner()
        {
            command.uid(user).gid(group);
        }
        // What they say of other servers, or of how clients see this one.
        let variables = std::env::vars_os().map(|(name, _)| name);
        for name in variables.filter(|name| name.as_encoded_bytes().starts_with(b"PG")) {
            command.env_remove(name);
        }
        // Until it has read its settings, it would speak the user's language.
        command.env("LC_ALL", "C");
        command
    }

    /// Gives `place` to somebody who may run the server, and the server to them: what was fetched may lie in a home that only
    /// root may enter.
    fn hand_over(&self, place: &Place) -> Result<()> {
        let failed = |error: io::Error| failed_to_initialise(self.name, &error, place);
        let passwd = fs::read_to_string("/etc/passwd").map_err(failed)?;
        let Some((user, group)) = user_among(&passwd) else {
            return Err(Error::target(format!(
                "{} does not run as root, and there is no user {} here",
                self.name,
                USERS.join(" or ")
            )));
        };
        place.give_to(user, group).map_err(failed)?;
        let mut version = self.program("initdb", place);
        // Not in `place`, because that may be what they can't enter.
        version.arg("--version").current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        if !version.status().is_ok_and(|status| status.success()) {
            // 60 MB.
            copy_folder(&self.folder, &copy(place)).map_err(failed)?;
        }
        Ok(())
    }
}

impl Software for Postgres {
    fn prepare(&self, place: &Place) -> Result<()> {
        check_socket(&self.socket(place, u16::MAX))?;
        DirBuilder::new()
            .mode(0o700)
            .create(place.files())
            .map_err(|error| failed_to_initialise(self.name, &error, place))?;
        if place.is_root() {
            self.hand_over(place)?;
        }
        Ok(())
    }

    fn make_data(&self, place: &Place, _settings: &[Setting]) -> Result<()> {
        let mut command = self.program("initdb", place);
        command.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        // Nobody wants it back after the machine has crashed.
        command.arg("--no-sync");
        command.arg("--pgdata").arg(place.data());
        run_to_end(&mut command, Stdio::null(), place, INITIALISE_MAX).map_err(|error| {
            let failed = failed_to_initialise(self.name, &error, place);
            match error.kind() {
                io::ErrorKind::PermissionDenied if place.is_root() => failed.advise(format!(
                    "the user {} has to be able to enter {}; TMPDIR names another place for it",
                    USERS.join(" or "),
                    place.directory().display()
                )),
                _ => failed,
            }
        })
    }

    fn shaped_by(&self, _settings: &[Setting]) -> Option<String> {
        Some(identity(&self.folder.join("bin/initdb")))
    }

    fn command(&self, place: &Place, port: u16, settings: &[Setting]) -> Command {
        let mut command = self.program("postgres", place);
        command.arg("-D").arg(place.data());
        let mut set = |name: &str, value: &str| {
            command.arg("-c").arg(format!("{name}={value}"));
        };
        set("port", &port.to_string());
        set("listen_addresses", "127.0.0.1");
        set("unix_socket_directories", &quoted(place.directory()));
        for (name, value) in settings {
            set(name, value);
        }
        command
    }

    /// The server writes its state into a file. One that was killed has left it there, with another process id.
    fn answers(&self, place: &Place, _port: u16, pid: u32) -> bool {
        let state = fs::read_to_string(place.data().join("postmaster.pid")).unwrap_or_default();
        is_ready(&state, pid)
    }

    fn stop_signal(&self) -> i32 {
        // "Fast": it ends its connections, where with SIGTERM it would wait for them.
        libc::SIGINT
    }

    fn socket(&self, place: &Place, port: u16) -> PathBuf {
        place.directory().join(format!(".s.PGSQL.{port}"))
    }

    fn url(&self, place: &Place, port: u16) -> String {
        let folder = in_url(place.directory());
        format!("postgres://postgres@127.0.0.1:{port}/postgres?host={folder}")
    }

    fn tcp_url(&self, port: u16) -> String {
        // Otherwise a client would ask for TLS first, a round trip that comes to nothing.
        format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    fn bench_settings(&self) -> Vec<Setting> {
        Vec::new()
    }

    fn test_settings(&self) -> Vec<Setting> {
        FOR_TESTS.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }
}

/// Where the server itself is copied to, if need be.
fn copy(place: &Place) -> PathBuf {
    place.directory().join("server")
}

/// The numbers of the first of `USERS` that a file like /etc/passwd has, and of their group.
fn user_among(passwd: &str) -> Option<(u32, u32)> {
    let numbers = |wanted: &str| {
        passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            let is_wanted = fields.next()? == wanted;
            let user = fields.nth(1)?.parse().ok()?;
            let group = fields.next()?.parse().ok()?;
            is_wanted.then_some((user, group))
        })
    };
    USERS.into_iter().find_map(numbers)
}

/// A folder in a list of folders, where commas and blanks at the ends mean something.
fn quoted(folder: &Path) -> String {
    format!("\"{}\"", folder.display().to_string().replace('"', "\"\""))
}

/// Whether postmaster.pid says that process `pid` takes clients. Its lines: process id, data directory, start time, port, socket
/// directory, address, shared memory, state.
fn is_ready(state: &str, pid: u32) -> bool {
    let mut lines = state.lines().map(str::trim);
    lines.next() == Some(pid.to_string().as_str()) && lines.nth(6) == Some("ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_server_says_where_it_was_looked_for_and_what_to_do() {
        let nowhere = PathBuf::from("/nowhere");
        let places =
            Places { programs: Vec::new(), servers: vec![nowhere.clone()], postgres: nowhere };
        assert_eq!(
            RECIPES[0].find(&places).unwrap_err().to_string(),
            "postgres-15 is not here: no file bin/postgres in /nowhere/15, and no postgres-15/bin/postgres in /nowhere; \
             `scripts/servers.sh postgres-15` fetches it; INRUSH_SERVERS names the folders where it may be"
        );
    }

    #[test]
    fn a_fetched_server_comes_before_the_system_s() {
        let place = tempfile::tempdir().unwrap();
        let here = place.path().canonicalize().unwrap();
        let make = |folder: &str| {
            fs::create_dir_all(here.join(folder).join("bin")).unwrap();
            fs::write(here.join(folder).join("bin/postgres"), "").unwrap();
        };
        let places = Places {
            programs: Vec::new(),
            servers: vec![here.join("fetched")],
            postgres: here.join("packages"),
        };
        let folder = || format!("{:?}", RECIPES[1].find(&places).unwrap());
        make("packages/16");
        assert!(folder().contains("packages/16"), "{}", folder());
        make("fetched/postgres-16");
        assert!(folder().contains("fetched/postgres-16"), "{}", folder());
    }

    #[test]
    fn root_s_servers_run_as_postgres_or_else_as_nobody() {
        let nobody = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65533:nobody:/nonexistent:/bin/false\n";
        assert_eq!(user_among(nobody), Some((65534, 65533)));
        let both = format!("{nobody}postgres:x:101:104:PostgreSQL administrator,,,:/:/bin/bash\n");
        assert_eq!(user_among(&both), Some((101, 104)));
        assert_eq!(user_among("root:x:0:0:root:/root:/bin/bash\nbroken\n"), None);
    }

    #[test]
    fn only_our_own_server_is_ready() {
        let state =
            |word: &str| format!("42\n/d\n1700000000\n5433\n/s\n127.0.0.1\n 123456 7\n{word}\n");
        assert!(is_ready(&state("ready   "), 42));
        assert!(!is_ready(&state("starting"), 42));
        assert!(!is_ready(&state("ready   "), 43));
        assert!(!is_ready("42\n/d\n", 42));
        assert!(!is_ready("", 42));
    }

    #[test]
    fn a_folder_with_a_comma_is_one_folder() {
        assert_eq!(quoted(Path::new("/tmp/a, \"b")), r#""/tmp/a, ""b""#);
    }
}
