//! MySQL and MariaDB, from 5.5 to 11.4: where each is found, how its first data directory is made, and what it is started with.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::address::check_socket;
use super::installed::{Places, list};
use super::place::{Place, copy_folder};
use super::process::run_to_end;
use super::running::failed_to_initialise;
use super::software::{INITIALISE_MAX, Offer, Setting, Software, identity};
use inrush_core::path::in_url;
use inrush_core::{Error, Result};

/// How one version of the family is found and prepared.
#[derive(Debug)]
pub(super) struct Recipe {
    name: &'static str,
    from: From,
    first_data: FirstData,
    /// What keeps it private, beside what all have.
    always: &'static [&'static str],
    for_tests: &'static [(&'static str, &'static str)],
}

/// Where a version lies.
#[derive(Debug)]
enum From {
    /// A package of the system, whose program says it is this version; any, if empty.
    System { program: &'static str, version: &'static str },
    /// A folder that `scripts/servers.sh` made, with the program at this place in it.
    Folder { program: &'static str },
}

/// How a version gets its first data directory.
#[derive(Debug)]
enum FirstData {
    /// SQL files of `share`, fed to the server's bootstrap mode. It is what `mariadb-install-db` does, without what that does to
    /// the machine: as root it changes the owner and mode of PAM's helper.
    Bootstrap,
    /// `--initialize-insecure`.
    Initialise,
    /// A copy of the folder `data` beside the program.
    Copy,
}

/// 96 MB otherwise, written at every first start.
const SMALL_LOG: (&str, &str) = ("innodb-log-file-size", "16M");

const MARIADB: &[(&str, &str)] = &[
    ("local-infile", "1"),
    SMALL_LOG,
    // RocksDB is not called stable everywhere.
    ("plugin-maturity", "unknown"),
];
/// As above, and without TLS: 11.4 makes itself a key at every start, which takes a core between 4 and 12 s.
const MARIADB_11_4: &[(&str, &str)] =
    &[("local-infile", "1"), SMALL_LOG, ("plugin-maturity", "unknown"), ("skip-ssl", "")];
const MYSQL: &[(&str, &str)] = &[("local-infile", "1")];

/// Engines that MariaDB has as plugins; tests have those that are installed.
const MARIADB_PLUGINS: &[&str] = &["ha_archive", "ha_blackhole", "ha_rocksdb"];

/// Settings that have to be known when the data directory is made. Others may belong to plugins, which are not there yet.
const SHAPING: &[&str] = &[
    "innodb-checksum-algorithm",
    "innodb-data-file-path",
    "innodb-log-file-size",
    "innodb-log-files-in-group",
    "innodb-page-size",
    "innodb-redo-log-capacity",
    "innodb-undo-tablespaces",
    "lower-case-table-names",
];

const fn mariadb_of_the_system(name: &'static str, version: &'static str) -> Recipe {
    let from = From::System { program: "mariadbd", version };
    Recipe { name, from, first_data: FirstData::Bootstrap, always: &[], for_tests: MARIADB }
}

const fn mysql(
    name: &'static str,
    first_data: FirstData,
    always: &'static [&'static str],
) -> Recipe {
    let from = From::Folder { program: "bin/mysqld" };
    Recipe { name, from, first_data, always, for_tests: MYSQL }
}

pub(super) static RECIPES: &[Recipe] = &[
    mariadb_of_the_system("mariadb", ""),
    mariadb_of_the_system("mariadb-10.11", "10.11"),
    Recipe {
        name: "mariadb-11.4",
        from: From::Folder { program: "bin/mariadbd" },
        first_data: FirstData::Bootstrap,
        always: &[],
        for_tests: MARIADB_11_4,
    },
    mysql("mysql-5.5", FirstData::Copy, &[]),
    mysql("mysql-5.6", FirstData::Copy, &[]),
    mysql("mysql-5.7", FirstData::Initialise, &[]),
    // Their second protocol would listen on a port that is not ours to choose.
    mysql("mysql-8.0.15", FirstData::Initialise, &["--mysqlx=OFF"]),
    mysql("mysql-8.0", FirstData::Initialise, &["--mysqlx=OFF"]),
];

impl Offer for Recipe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn family(&self) -> &'static str {
        "mysql"
    }

    fn find(&'static self, places: &Places) -> Result<Arc<dyn Software>> {
        Ok(Arc::new(Mysql::find(self, places)?))
    }
}

/// One installed version.
#[derive(Debug)]
struct Mysql {
    recipe: &'static Recipe,
    program: PathBuf,
    /// The folder of one that did not come with the system. It does not know where it is.
    folder: Option<PathBuf>,
}

impl Mysql {
    fn find(recipe: &'static Recipe, places: &Places) -> Result<Self> {
        let name = recipe.name;
        let missing = |what: String| {
            let script = if name == "mariadb" { "mariadb-10.11" } else { name };
            Err(Error::target(what).advise(format!("`scripts/servers.sh {script}` fetches it")))
        };
        match recipe.from {
            From::System { program, version } => {
                let Some(path) = places.program(program) else {
                    let looked = list(&places.programs);
                    return missing(format!(
                        "{name} is not here: no program {program} in {looked}"
                    ));
                };
                let shown = version_of(&path)?;
                if !shown.contains(&format!(" Ver {version}")) {
                    let path = path.display();
                    return missing(format!("{name} is not here: {path} says it is '{shown}'"));
                }
                Ok(Self { recipe, program: path, folder: None })
            }
            From::Folder { program } => match places.server(name, program) {
                Some(folder) => {
                    Ok(Self { recipe, program: folder.join(program), folder: Some(folder) })
                }
                None => {
                    let looked = list(&places.servers);
                    missing(format!("{name} is not here: no file {name}/{program} in {looked}"))
                        .map_err(|error| {
                            error.advise("INRUSH_SERVERS names the folders where it may be")
                        })
                }
            },
        }
    }

    /// The program with what every run of it needs.
    fn program(&self, place: &Place) -> Command {
        let mut command = Command::new(&self.program);
        // Has to come first: what /etc/my.cnf says is for other servers.
        command.arg("--no-defaults").current_dir(place.directory());
        if place.is_root() {
            command.arg("--user=root");
        }
        if let Some(folder) = &self.folder {
            command.arg(option("basedir", folder));
            command.arg(option("lc-messages-dir", &folder.join("share")));
            command.arg(option("character-sets-dir", &folder.join("share/charsets")));
            let libraries = folder.join("libs");
            if libraries.is_dir() {
                command.env("LD_LIBRARY_PATH", libraries);
            }
        }
        command.arg(option("datadir", &place.data()));
        command.arg(option("tmpdir", &temporary(place)));
        command
    }

    /// The folder above the program's own, where what belongs to it lies.
    fn prefix(&self) -> &Path {
        let above = self.program.parent().and_then(Path::parent);
        above.unwrap_or(Path::new("/"))
    }

    /// The SQL that makes the system's tables.
    fn bootstrap_sql(&self) -> io::Result<Vec<u8>> {
        // Up to 10.11 some of them have the older name.
        const FILES: &[[&str; 2]] = &[
            ["mariadb_system_tables.sql", "mysql_system_tables.sql"],
            ["mariadb_performance_tables.sql", "mysql_performance_tables.sql"],
            ["mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"],
            ["fill_help_tables.sql", "fill_help_tables.sql"],
            ["maria_add_gis_sp_bootstrap.sql", "maria_add_gis_sp_bootstrap.sql"],
            ["mariadb_sys_schema.sql", "mysql_sys_schema.sql"],
        ];
        let folders = ["share/mysql", "share/mariadb", "share"].map(|s| self.prefix().join(s));
        // Without the last line root could only come by the socket, as root.
        let mut sql =
            b"CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
                .to_vec();
        for names in FILES {
            let mut paths =
                folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
            let Some(path) = paths.find(|path| path.is_file()) else {
                let looked = list(&folders);
                return Err(io::Error::other(format!("no file {} in {looked}", names[0])));
            };
            File::open(path)?.read_to_end(&mut sql)?;
            sql.push(b'\n');
        }
        Ok(sql)
    }

    /// Runs what makes the data directory, to its end.
    fn run(&self, mut command: Command, input: Stdio, place: &Place) -> Result<()> {
        run_to_end(&mut command, input, place, INITIALISE_MAX)
            .map_err(|error| self.failed_to_initialise(&error, place))
    }

    fn failed_to_initialise(&self, why: &io::Error, place: &Place) -> Error {
        failed_to_initialise(self.recipe.name, why, place)
    }

    /// Which of `MARIADB_PLUGINS` there are.
    fn plugins(&self) -> Vec<&'static str> {
        let folders = ["lib/mysql", "lib64/mysql", "lib/mariadb", "lib64/mariadb", "lib"]
            .map(|folder| self.prefix().join(folder).join("plugin"));
        let is_here = |plugin: &str| {
            folders.iter().any(|folder| folder.join(format!("{plugin}.so")).is_file())
        };
        MARIADB_PLUGINS.iter().copied().filter(|plugin| is_here(plugin)).collect()
    }
}

impl Software for Mysql {
    fn prepare(&self, place: &Place) -> Result<()> {
        check_socket(&self.socket(place, 0))?;
        for folder in [place.files(), temporary(place)] {
            // The server warns about one that others may enter, although they can't get here.
            let made = DirBuilder::new().mode(0o700).create(folder);
            made.map_err(|error| self.failed_to_initialise(&error, place))?;
        }
        Ok(())
    }

    fn make_data(&self, place: &Place, settings: &[Setting]) -> Result<()> {
        let failed = |error: io::Error| self.failed_to_initialise(&error, place);
        let mut command = self.program(place);
        command.args(shaping(settings));
        match self.recipe.first_data {
            FirstData::Copy => {
                copy_folder(&self.prefix().join("data"), &place.data()).map_err(failed)
            }
            FirstData::Initialise => {
                command.arg("--initialize-insecure");
                self.run(command, Stdio::null(), place)?;
                // The server makes its own number when there is none, and a copy's is not to be another's.
                match fs::remove_file(place.data().join("auto.cnf")) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
                    _ => Ok(()),
                }
            }
            FirstData::Bootstrap => {
                fs::create_dir(place.data()).map_err(failed)?;
                // A file, because a pipe would have to be filled while the process is waited for.
                let path = place.directory().join("bootstrap.sql");
                let mut file = File::create_new(&path).map_err(failed)?;
                file.write_all(&self.bootstrap_sql().map_err(failed)?).map_err(failed)?;
                let file = File::open(&path).map_err(failed)?;
                command.args(["--bootstrap", "--log-warnings=0", "--enforce-storage-engine="]);
                command.args(["--max-allowed-packet=8M", "--net-buffer-length=16K"]);
                self.run(command, file.into(), place)?;
                fs::remove_file(&path).map_err(failed)
            }
        }
    }

    fn shaped_by(&self, settings: &[Setting]) -> Option<String> {
        let is_made = !matches!(self.recipe.first_data, FirstData::Copy);
        let settings: Vec<_> = shaping(settings).collect();
        is_made.then(|| format!("{} {settings:?}", identity(&self.program)))
    }

    fn command(&self, place: &Place, port: u16, settings: &[Setting]) -> Command {
        let mut command = self.program(place);
        command.args(["--bind-address=127.0.0.1", &format!("--port={port}")]);
        command.arg(option("socket", &self.socket(place, port)));
        command.arg(option("pid-file", &place.directory().join("pid")));
        command.arg(option("secure-file-priv", &place.files()));
        command.args(self.recipe.always);
        command.args(settings.iter().map(argument));
        command
    }

    /// A server that is ready greets; one that still recovers does not listen yet. Only our server can listen in our directory,
    /// whoever may have taken the port.
    fn answers(&self, place: &Place, port: u16, _pid: u32) -> bool {
        greets(&self.socket(place, port)).unwrap_or(false)
    }

    fn socket(&self, place: &Place, _port: u16) -> PathBuf {
        place.directory().join("s.sock")
    }

    fn url(&self, place: &Place, port: u16) -> String {
        let socket = self.socket(place, port);
        format!("{}?socket={}", self.tcp_url(port), in_url(&socket))
    }

    fn tcp_url(&self, port: u16) -> String {
        // What stays on this machine is not encrypted unless somebody asks for it.
        format!("mysql://root@127.0.0.1:{port}/")
    }

    fn bench_settings(&self) -> Vec<Setting> {
        let mut settings = self.test_settings();
        settings.retain(|(name, _)| name != SMALL_LOG.0);
        settings
    }

    fn test_settings(&self) -> Vec<Setting> {
        let mut settings: Vec<_> = self
            .recipe
            .for_tests
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        if matches!(self.recipe.first_data, FirstData::Bootstrap) {
            let load = |plugin: &str| ("plugin-load-add".to_owned(), plugin.to_owned());
            settings.extend(self.plugins().into_iter().map(load));
        }
        settings
    }
}

fn temporary(place: &Place) -> PathBuf {
    place.directory().join("tmp")
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("--{name}="));
    option.push(path);
    option
}

fn argument((name, value): &Setting) -> String {
    if value.is_empty() { format!("--{name}") } else { format!("--{name}={value}") }
}

/// Those of `settings` that the data directory has to be made with.
fn shaping(settings: &[Setting]) -> impl Iterator<Item = String> {
    settings
        .iter()
        .filter(|(name, _)| SHAPING.contains(&name.replace('_', "-").as_str()))
        .map(argument)
}

fn version_of(program: &Path) -> Result<String> {
    let output = Command::new(program)
        .args(["--no-defaults", "--version"])
        .output()
        .map_err(|error| Error::target(format!("can't run {}: {error}", program.display())))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether what listens on `socket` begins as a MySQL server that takes us: a packet of protocol 10. An error packet begins
/// with 255.
fn greets(socket: &Path) -> io::Result<bool> {
    const HEADER_BYTES: usize = 4;
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut begin = [0; HEADER_BYTES + 1];
    stream.read_exact(&mut begin)?;
    Ok(begin[HEADER_BYTES] == 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(name: &str) -> &'static Recipe {
        RECIPES.iter().find(|recipe| recipe.name == name).unwrap()
    }

    #[test]
    fn a_missing_server_says_where_it_was_looked_for_and_what_to_do() {
        let nowhere = PathBuf::from("/nowhere");
        let places = Places {
            programs: vec![nowhere.clone()],
            servers: vec![nowhere.clone()],
            postgres: nowhere,
        };
        for (name, expected) in [
            (
                "mysql-8.0",
                "mysql-8.0 is not here: no file mysql-8.0/bin/mysqld in /nowhere; `scripts/servers.sh mysql-8.0` fetches it; \
                 INRUSH_SERVERS names the folders where it may be",
            ),
            (
                "mariadb",
                "mariadb is not here: no program mariadbd in /nowhere; `scripts/servers.sh mariadb-10.11` fetches it",
            ),
        ] {
            assert_eq!(Mysql::find(recipe(name), &places).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn another_version_of_the_system_is_not_the_one_asked_for() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("script");
        let program = place.path().join("mariadbd");
        fs::write(&script, "#!/bin/sh\necho 'mariadbd  Ver 11.8.3-MariaDB for Linux'\n").unwrap();
        // By another process: what other tests start meanwhile would have the program open to be written, and then it
        // can't be run (ETXTBSY of execve(2)).
        let installed = Command::new("install").args([&script, &program]).status();
        assert!(installed.unwrap().success());
        let places = Places {
            programs: vec![place.path().to_owned()],
            servers: Vec::new(),
            postgres: PathBuf::new(),
        };
        assert!(Mysql::find(recipe("mariadb"), &places).is_ok());
        let error = Mysql::find(recipe("mariadb-10.11"), &places).unwrap_err();
        assert!(error.what().ends_with("says it is 'mariadbd  Ver 11.8.3-MariaDB for Linux'"));
    }

    #[test]
    fn settings_are_spelled_as_they_were_given() {
        let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(argument(&setting("local-infile", "1")), "--local-infile=1");
        assert_eq!(argument(&setting("skip-log-bin", "")), "--skip-log-bin");
        assert_eq!(argument(&setting("secure-file-priv=", "")), "--secure-file-priv=");
        let settings = [setting("innodb_page_size", "8k"), setting("rocksdb-max-row-locks", "9")];
        assert_eq!(shaping(&settings).collect::<Vec<_>>(), ["--innodb_page_size=8k"]);
    }
}
