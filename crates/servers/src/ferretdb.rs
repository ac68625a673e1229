//! FerretDB on SQLite, which speaks MongoDB's protocol: no MongoDB itself can be had from a package registry.

use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::address::check_socket;
use super::installed::{Places, list};
use super::place::Place;
use super::running::failed_to_initialise;
use super::software::{Offer, Setting, Software};
use inrush_core::{Error, Result};

const NAME: &str = "ferretdb-1.24";
const PROGRAM: &str = "bin/ferretdb";

/// The one version.
#[derive(Debug)]
pub(super) struct Recipe;

pub(super) static RECIPES: &[Recipe] = &[Recipe];

impl Offer for Recipe {
    fn name(&self) -> &'static str {
        NAME
    }

    fn family(&self) -> &'static str {
        "mongodb"
    }

    fn find(&'static self, places: &Places) -> Result<Arc<dyn Software>> {
        match places.server(NAME, PROGRAM) {
            Some(folder) => Ok(Arc::new(Ferret { program: folder.join(PROGRAM) })),
            None => Err(Error::target(format!(
                "{NAME} is not here: no file {NAME}/{PROGRAM} in {}",
                list(&places.servers)
            ))
            .advise(format!("`scripts/servers.sh {NAME}` builds it"))
            .advise("INRUSH_SERVERS names the folders where it may be")),
        }
    }
}

/// An installed program.
#[derive(Debug)]
struct Ferret {
    program: PathBuf,
}

impl Software for Ferret {
    fn prepare(&self, place: &Place) -> Result<()> {
        check_socket(&self.socket(place, 0))?;
        make_folder(&place.files(), place)
    }

    fn make_data(&self, place: &Place, _settings: &[Setting]) -> Result<()> {
        make_folder(&place.data(), place)
    }

    fn shaped_by(&self, _settings: &[Setting]) -> Option<String> {
        None
    }

    fn command(&self, place: &Place, port: u16, settings: &[Setting]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(place.directory());
        // What they say is for other servers.
        let variables = std::env::vars_os().map(|(name, _)| name);
        for name in variables.filter(|name| name.as_encoded_bytes().starts_with(b"FERRETDB_")) {
            command.env_remove(name);
        }
        // It would tell its makers that it runs.
        command.args([
            "--telemetry=disable",
            "--debug-addr=-",
            "--state-dir=-",
            "--log-level=error",
        ]);
        command.arg("--handler=sqlite");
        command.arg(format!("--sqlite-url=file:{}/", place.data().display()));
        command.arg(format!("--listen-addr=127.0.0.1:{port}"));
        command.arg(format!("--listen-unix={}", self.socket(place, port).display()));
        command.args(settings.iter().map(|(name, value)| format!("--{name}={value}")));
        command
    }

    /// A server that is ready answers. Only ours can listen in our directory, whoever may have taken the port.
    fn answers(&self, place: &Place, port: u16, _pid: u32) -> bool {
        answers(&self.socket(place, port)).unwrap_or(false)
    }

    fn socket(&self, place: &Place, _port: u16) -> PathBuf {
        place.directory().join("s.sock")
    }

    fn url(&self, _place: &Place, port: u16) -> String {
        // Few programs know the form of a URL with a socket in the host's place.
        self.tcp_url(port)
    }

    fn tcp_url(&self, port: u16) -> String {
        format!("mongodb://127.0.0.1:{port}/")
    }

    fn bench_settings(&self) -> Vec<Setting> {
        Vec::new()
    }

    fn test_settings(&self) -> Vec<Setting> {
        Vec::new()
    }
}

fn make_folder(folder: &Path, place: &Place) -> Result<()> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    made.map_err(|error| failed_to_initialise(NAME, &error, place))
}

/// Whether the server answers `{hello: 1, $db: "admin"}`.
fn answers(socket: &Path) -> std::io::Result<bool> {
    const HELLO: &[u8] = b"\x34\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\x1f\0\0\0\x10hello\0\x01\0\0\0\x02$db\0\x06\0\0\0admin\0\0";
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.write_all(HELLO)?;
    let mut head = [0; 16];
    std::io::Read::read_exact(&mut stream, &mut head)?;
    Ok(head[12..] == 2013_i32.to_le_bytes())
}
