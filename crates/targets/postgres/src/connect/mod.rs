//! Where the server is, and how to get in, as libpq finds out.
//!
//! ```text
//! url        connection URIs             service        connections that have a name
//! parameter  what else can be said       password_file  passwords
//! tls        whether to encrypt, and whom to believe
//! ```

mod parameter;
mod password_file;
mod service;
mod tls;
mod url;

use std::path::{Path, PathBuf};
use std::time::Duration;

use self::parameter::{Settings, Wrong};
use self::password_file::PasswordFile;
pub(super) use self::tls::{Encrypts, TlsMode};
use self::url::Uri;
use inrush_core::error::{Error, Result, without_secrets};
use inrush_core::target::{Location, Spare};
use inrush_net::account;
use inrush_net::channel::{Address, Patience};

/// A server that does not answer for so long is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest that a timeout may be.
const TIMEOUT_SECONDS_MAX: u64 = 86_400;

const PORT: u16 = 5432;

/// Where distributions have their servers listen, and where PostgreSQL's own builds do.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Everything that it takes to connect. It has no `Debug`, for it has passwords.
#[derive(Clone)]
pub(super) struct Place {
    /// Tried in this order; at least one.
    pub(super) servers: Vec<Server>,
    pub(super) user: String,
    pub(super) database: String,
    /// Whether a server that only reads is passed over.
    pub(super) must_write: bool,
    pub(super) channel_binding: ChannelBinding,
    /// What the first message says besides user and database.
    pub(super) options: Vec<(&'static str, String)>,
    pub(super) patience: Patience,
    /// Hosts and ports, or sockets, for messages.
    pub(super) shown: String,
    /// Where it is noted what statements wait for.
    pub(super) spare: Spare,
    /// Why the password file was not read although it is there: worth saying when a password turns out to be missing.
    pub(super) password_file_refused: Option<String>,
}

/// One of the servers that a place names.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) address: Address,
    /// The name that the server's certificate has to hold.
    pub(super) name: String,
    pub(super) password: Option<String>,
    pub(super) tls: TlsMode,
}

/// Whether the password is proved together with the encrypted channel, so that nobody in between can pass the proof on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelBinding {
    Disable,
    Prefer,
    Require,
}

/// The location that a URL names.
pub(super) fn claim(text: &str) -> Option<Location> {
    if !url::is_uri(text) {
        return None;
    }
    let shown = Uri::parse(text).ok().and_then(|uri| {
        // What makes no sense may hold a piece of a password where none belongs.
        let settings = of_uri(&uri).ok()?;
        addresses(&settings, &[]).ok()?;
        Some(uri.shown())
    });
    let shown = shown.unwrap_or_else(|| without_secrets(text));
    Some(Location::new(text.to_owned(), shown, Vec::new()))
}

/// What is around the program: its environment, who runs it, and where servers may listen.
struct Surroundings<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    account: Option<String>,
    socket_directories: &'a [&'a str],
}

impl Surroundings<'_> {
    /// What an environment variable says; an empty one says something, too.
    fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name)
    }

    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }
}

/// Takes a URL apart and adds what a service file, the environment and the password file say, in this order, which is libpq's.
///
/// # Errors
/// When the URL is none, or something is said that makes no sense or can't be had.
pub(super) fn place(url: &str, spare: &Spare) -> Result<Place> {
    let variable = |name: &str| std::env::var(name).ok();
    let surroundings = Surroundings {
        variable: &variable,
        account: account(),
        socket_directories: &SOCKET_DIRECTORIES,
    };
    Ok(Place { spare: spare.clone(), ..place_with(url, &surroundings)? })
}

fn place_with(text: &str, surroundings: &Surroundings<'_>) -> Result<Place> {
    let uri = Uri::parse(text).map_err(|why| no_uri(text, &why))?;
    let settings = settings(text, &uri, surroundings)?;
    let get = |name| settings.get(name).map(str::to_owned);
    let wrong = |name, takes: &str| {
        let value = settings.get(name).unwrap_or_default();
        Error::usage(format!("{}={value}: takes {takes}", settings.called(name)))
    };

    let said = |name| surroundings.variable(name).filter(|value| !value.is_empty());
    // As libpq does; where the account has no name, libpq gives up.
    let user = get("user").or_else(|| surroundings.account.clone());
    let user = user.or_else(|| said("USER")).or_else(|| said("LOGNAME")).ok_or_else(|| {
        Error::usage("the URL names no user, and this account has no name either")
            .advise("write postgres://USER@HOST/DATABASE, or set PGUSER")
    })?;
    let database = get("dbname").unwrap_or_else(|| user.clone());
    let must_write = match settings.get("target_session_attrs") {
        None | Some("any") => false,
        Some("read-write" | "primary") => true,
        Some(_) => {
            let takes = "any, read-write or primary: a load has to write";
            return Err(wrong("target_session_attrs", takes));
        }
    };
    let channel_binding = match settings.get("channel_binding") {
        None | Some("prefer") => ChannelBinding::Prefer,
        Some("disable") => ChannelBinding::Disable,
        Some("require") => ChannelBinding::Require,
        Some(_) => return Err(wrong("channel_binding", "disable, prefer or require")),
    };
    let seconds = |name| match settings.get(name).map(|value| value.trim().parse::<i64>()) {
        None => Ok(None),
        // For libpq, too, these mean that none is set.
        Some(Ok(..=0)) => Ok(None),
        Some(Ok(seconds)) if seconds.unsigned_abs() <= TIMEOUT_SECONDS_MAX => {
            Ok(Some(Duration::from_secs(seconds.unsigned_abs())))
        }
        Some(_) => Err(wrong(name, &format!("seconds from 1 to {TIMEOUT_SECONDS_MAX}"))),
    };
    let patience = Patience {
        connect: seconds("connect_timeout")?.unwrap_or(CONNECT_TIMEOUT),
        answer: seconds("read_timeout")?,
    };
    let application_name = get("application_name").or_else(|| get("fallback_application_name"));
    let mut options =
        vec![("application_name", application_name.unwrap_or_else(|| "inrush".to_owned()))];
    options.extend(get("options").map(|arguments| ("options", arguments)));
    options.extend(parameter::of_session(|name| surroundings.variable(name)));

    let (passwords, authority) = (Passwords::of(&settings, surroundings), authority(surroundings));
    let servers = addresses(&settings, surroundings.socket_directories)?.into_iter().map(|found| {
        let tls = TlsMode::of(&settings, &found.address, authority.as_deref());
        Ok(Server {
            tls: tls.map_err(Error::usage)?,
            password: passwords.find(&found, &database, &user),
            address: found.address,
            name: found.name,
        })
    });
    let servers = servers.collect::<Result<Vec<_>>>()?;
    let shown: Vec<_> = servers.iter().map(|server| server.address.to_string()).collect();
    Ok(Place {
        shown: shown.join(", "),
        servers,
        user,
        database,
        must_write,
        channel_binding,
        options,
        patience,
        password_file_refused: passwords.refused(),
        spare: Spare::default(),
    })
}

fn no_uri(text: &str, why: &str) -> Error {
    Error::usage(format!("{}: {why}", without_secrets(text)))
        .advise("write postgres://user@host:port/database, with ?host=/directory for a unix socket")
}

/// What the URL, the service that it or the environment names, and the environment say, in this order.
fn settings(text: &str, uri: &Uri<'_>, surroundings: &Surroundings<'_>) -> Result<Settings> {
    let mut settings = of_uri(uri).map_err(|wrong| match wrong {
        NotUri::Unclear(why) => no_uri(text, &why),
        NotUri::Unknown(name) => Error::usage(format!("the URL has an unknown parameter{name}"))
            .advise(format!("use {}", parameter::names())),
        NotUri::Refused(what) => Error::usage(what),
    })?;
    let variable = |name| surroundings.variable(name).filter(|value| !value.is_empty());
    let service = settings.get("service").map(str::to_owned).or_else(|| variable("PGSERVICE"));
    if let Some(service) = service {
        let file = settings.get("servicefile").map(str::to_owned);
        let file = file.or_else(|| variable("PGSERVICEFILE"));
        let found = service::settings(&service, file.as_deref(), surroundings);
        for (name, value) in found.map_err(Error::usage)? {
            let called = format!("service {service}, {name}");
            settings.add(&name, &value, called).map_err(|wrong| match wrong {
                Wrong::Unknown => {
                    Error::usage(format!("service {service} has an unknown parameter {name}"))
                        .advise(format!("use {}", parameter::names()))
                }
                Wrong::Refused(what) => Error::usage(what),
            })?;
        }
    }
    settings.add_environment(|name| surroundings.variable(name)).map_err(Error::usage)?;
    Ok(settings)
}

/// Why a URL can't be followed.
enum NotUri {
    Unclear(String),
    /// The name of an unknown parameter, if it can be said, after a space.
    Unknown(String),
    Refused(String),
}

fn of_uri(uri: &Uri<'_>) -> Result<Settings, NotUri> {
    let mut settings = Settings::default();
    for (name, value) in uri.settings().map_err(NotUri::Unclear)?.into_iter().rev() {
        settings.add(&name, &value, name.clone()).map_err(|wrong| match wrong {
            Wrong::Unknown if uri.names_are_secret() => NotUri::Unknown(String::new()),
            Wrong::Unknown => NotUri::Unknown(format!(" {name}")),
            Wrong::Refused(what) => NotUri::Refused(what),
        })?;
    }
    Ok(settings)
}

/// Where one server is.
struct Found {
    address: Address,
    name: String,
    port: u16,
}

/// The servers, of which there are as many as hosts, or as addresses if those are given. A port stands for all of them, or there
/// are as many of those, too.
fn addresses(settings: &Settings, socket_directories: &[&str]) -> Result<Vec<Found>> {
    let list = |name| -> Vec<&str> {
        settings.get(name).map(|list| list.split(',').collect()).unwrap_or_default()
    };
    let (hosts, numbers, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = hosts.len().max(numbers.len()).max(1);
    let fits = |length: usize| length == 0 || length == count;
    if !fits(hosts.len()) || !fits(numbers.len()) || !(fits(ports.len()) || ports.len() == 1) {
        return Err(Error::usage(format!(
            "{} hosts, {} addresses and {} ports do not fit together",
            hosts.len(),
            numbers.len(),
            ports.len()
        )));
    }
    let at = |list: &[&str], index: usize| {
        list.get(index).copied().filter(|part| !part.is_empty()).map(str::to_owned)
    };
    (0..count)
        .map(|index| {
            let port = match at(&ports, if ports.len() == 1 { 0 } else { index }) {
                None => PORT,
                Some(port) => match port.trim().parse() {
                    Ok(port @ 1..) => port,
                    _ => return Err(Error::usage("a port is a number from 1 to 65535")),
                },
            };
            let (host, number) = (at(&hosts, index), at(&numbers, index));
            let socket = |directory: &str| format!("{directory}/.s.PGSQL.{port}");
            let host = match host {
                Some(host) => host,
                None if number.is_some() => String::new(),
                None => {
                    let is_there = |directory: &&&str| Path::new(&socket(directory)).exists();
                    let directory = socket_directories.iter().find(is_there);
                    directory.map_or("localhost", |directory| *directory).to_owned()
                }
            };
            if host.starts_with('@') {
                return Err(Error::usage("sockets without a file are not supported"));
            }
            let address = match &number {
                Some(number) => Address::Host(number.clone(), port),
                None if host.starts_with('/') => Address::Socket(socket(&host)),
                None => Address::Host(host.clone(), port),
            };
            let name = match number {
                Some(number) if host.is_empty() || host.starts_with('/') => number,
                _ => host,
            };
            Ok(Found { address, name, port })
        })
        .collect()
}

/// The authority that libpq believes when `sslrootcert` names none, if it is there.
fn authority(surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    let path = surroundings.home()?.join(".postgresql/root.crt");
    path.exists().then_some(path)
}

/// Where passwords come from: one for all servers, or a file with one for each.
enum Passwords {
    One(String),
    File(PasswordFile, Vec<String>),
}

impl Passwords {
    fn of(settings: &Settings, surroundings: &Surroundings<'_>) -> Self {
        let ours = || surroundings.variable("INRUSH_PASSWORD").filter(|ours| !ours.is_empty());
        if let Some(password) = settings.get("password").map(str::to_owned).or_else(ours) {
            return Self::One(password);
        }
        let path = settings.get("passfile").map(PathBuf::from);
        let path = path.or_else(|| surroundings.home().map(|home| home.join(".pgpass")));
        let file = path.map(|path| PasswordFile::read(&path)).unwrap_or_default();
        let directories = surroundings.socket_directories.iter();
        Self::File(file, directories.map(|directory| (*directory).to_owned()).collect())
    }

    fn find(&self, server: &Found, database: &str, user: &str) -> Option<String> {
        match self {
            Self::One(password) => Some(password.clone()),
            Self::File(file, socket_directories) => {
                // The file calls a socket by its directory, and localhost if that is where it is by default.
                let is_default = socket_directories.contains(&server.name);
                let host = if is_default { "localhost" } else { &server.name };
                file.find(host, server.port, database, user)
            }
        }
    }

    fn refused(self) -> Option<String> {
        match self {
            Self::One(_) => None,
            Self::File(file, _) => file.refused,
        }
    }
}

#[cfg(test)]
mod tests;
