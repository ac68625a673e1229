//! A server of our own, from its first start to its last stop.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::Installed;
use super::first_data;
use super::place::Place;
use super::process::{LOOK_EVERY, Process, STOP_MAX};
use super::software::Setting;
use inrush_core::{Error, Result};

/// From its start until it answers; a crash recovery may be on the way.
const START_MAX: Duration = Duration::from_secs(120);
/// Between our look at a port and the server's, another process may take it.
const PORTS_TRIED_MAX: u32 = 5;

/// A private server. It is stopped and its directory removed when this goes.
#[derive(Debug)]
pub struct Server {
    installed: Installed,
    settings: Vec<Setting>,
    port: u16,
    /// Goes before `place`: fields are dropped in this order.
    process: Option<Process>,
    place: Place,
}

impl Server {
    /// Makes a data directory, starts a server on it and waits until it answers, at most two minutes.
    ///
    /// Where the environment variable `INRUSH_FIRST_DATA` names a folder, the first data directory of each kind is kept there, and copied
    /// for servers that come later.
    ///
    /// It has `settings` and no others, except for those that keep it private: directories, port, socket, and listening on
    /// 127.0.0.1 only. They come last, so a later one replaces an earlier one. For MySQL a setting with an empty value is given as
    /// a plain `--name`, and the name `secure-file-priv=` with an empty value gives `--secure-file-priv=`; PostgreSQL has none without a value.
    ///
    /// # Errors
    /// When it can't be prepared, ends, or does not answer in time; with the last lines of its log.
    pub fn start(installed: &Installed, settings: &[(String, String)]) -> Result<Self> {
        Self::start_in(&std::env::temp_dir(), installed, settings)
    }

    /// The same with its directory in `parent`, which whoever it runs as has to be able to pass.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_in(
        parent: &Path,
        installed: &Installed,
        settings: &[(String, String)],
    ) -> Result<Self> {
        let place = Place::create(parent)?;
        installed.software.prepare(&place)?;
        first_data::give(installed.name(), &*installed.software, &place, settings)?;
        let installed = installed.clone();
        let mut server =
            Self { installed, settings: settings.to_vec(), port: 0, process: None, place };
        let mut tried = 0;
        loop {
            tried += 1;
            server.port = free_port()?;
            match server.run() {
                Err(_) if tried < PORTS_TRIED_MAX && !is_free(server.port) => {}
                outcome => return outcome.map(|()| server),
            }
        }
    }

    /// Starts it again on the same data directory and port, with the same settings; stops it first if it runs.
    ///
    /// # Errors
    /// As [`stop`](Self::stop) and [`start`](Self::start).
    pub fn restart(&mut self) -> Result<()> {
        self.stop()?;
        self.run()
    }

    /// Stops it in good order, waiting at most 20 seconds. The directory stays until this goes. No error when it does not run.
    ///
    /// # Errors
    /// When it ended in another way, by itself or because it had to be killed. It does not run any more in either case.
    pub fn stop(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        match process.stop(STOP_MAX).map_err(|error| self.failed(&error))? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.failed(&format_args!("ended in disorder ({status})"))),
            None => {
                let seconds = STOP_MAX.as_secs();
                Err(self.failed(&format_args!("did not end within {seconds} s and was killed")))
            }
        }
    }

    /// Ends it where it stands (SIGKILL), with every process that it has for its connections, as a crash would. No error when it does not run.
    ///
    /// # Errors
    /// When the system can't say that it ended.
    pub fn kill(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        process.kill().map_err(|error| self.failed(&error))?;
        Ok(())
    }

    /// What was started.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// The server as a target: `mysql://root@127.0.0.1:PORT/?socket=PATH`, without a database, or
    /// `postgres://postgres@127.0.0.1:PORT/postgres?host=FOLDER`, with the database that every PostgreSQL has. libpq takes
    /// that as it is, and goes by the socket that lies in the folder, as our own targets do; what stands before the `?` goes by TCP.
    /// Anything in the path that means something in a URL or a shell is percent-encoded.
    pub fn url(&self) -> String {
        self.installed.software.url(&self.place, self.port)
    }

    /// The server as a target that is reached by TCP without TLS, at `port` of 127.0.0.1: its own [`port`](Self::port), or that of
    /// something in between which passes on what comes. User and database are those of [`url`](Self::url).
    pub fn tcp_url(&self, port: u16) -> String {
        self.installed.software.tcp_url(port)
    }

    /// The unix socket.
    pub fn socket(&self) -> PathBuf {
        self.installed.software.socket(&self.place, self.port)
    }

    /// The port on 127.0.0.1; the same for as long as this lives.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// The folder of files that the server itself may read and write for its clients, as LOAD DATA INFILE and COPY do. Only the
    /// server's user and root may enter it.
    pub fn files(&self) -> PathBuf {
        self.place.files()
    }

    /// The private directory: `data`, `files` for what the server itself reads and writes, `log`, and for MySQL `tmp` for its
    /// temporary files. It belongs to whoever the server runs as: for root, PostgreSQL's to the user `postgres` or `nobody`.
    pub fn directory(&self) -> &Path {
        self.place.directory()
    }

    fn run(&mut self) -> Result<()> {
        let software = &*self.installed.software;
        let mut command = software.command(&self.place, self.port, &self.settings);
        let environment = &self.installed.environment;
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        let mut process = Process::start(&mut command, Stdio::null(), &self.place)
            .map_err(|error| self.failed(&format_args!("can't be run: {error}")))?
            .stopped_by(software.stop_signal());
        let deadline = Instant::now() + START_MAX;
        loop {
            if let Some(status) = process.ended().map_err(|error| self.failed(&error))? {
                return Err(self.failed(&format_args!("ended before it answered ({status})")));
            }
            if software.answers(&self.place, self.port, process.id()) {
                self.process = Some(process);
                return Ok(());
            }
            if Instant::now() >= deadline {
                // A server that hangs hears no SIGTERM either.
                let _ = process.kill();
                let seconds = START_MAX.as_secs();
                return Err(self.failed(&format_args!("did not answer within {seconds} s")));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn failed(&self, what: &dyn std::fmt::Display) -> Error {
        failed(self.installed.name(), what, &self.place)
    }
}

/// `what` happened to the server `name`, with the end of its log.
pub(super) fn failed(name: &str, what: &dyn std::fmt::Display, place: &Place) -> Error {
    let last_words = place.last_words();
    let log = if last_words.is_empty() { "" } else { "; the end of its log:" };
    Error::target(format!("{name} {what}{log}{last_words}"))
}

/// The server `name` has no data directory, with the end of the log.
pub(super) fn failed_to_initialise(
    name: &str,
    why: &dyn std::fmt::Display,
    place: &Place,
) -> Error {
    failed(name, &format_args!("can't make its data directory ({why})"), place)
}

fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| Error::target(format!("no free port on 127.0.0.1: {error}")))
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
