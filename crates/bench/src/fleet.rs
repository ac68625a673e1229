//! The servers of a run: private ones with a suite's settings, or the user's own; each with a database that is the run's alone.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use url::Url;

use crate::ground::Will;
use crate::matrix::Asked;
use crate::relay::Relay;
use crate::task::{Left, Order};
use inrush::target::{Console, OwnDatabase};
use inrush_core::error::{Error, Kind, Result, without_secrets};
use inrush_core::unique;
use inrush_findings::suite::{ServerSpec, Target, Transport, Value};
use inrush_servers::{Installed, Server};

/// What a URL or a name after `--server` asks for.
///
/// # Errors
/// When it is neither a server's name nor the URL of one.
pub(super) fn asked(text: &str) -> Result<Vec<Asked>> {
    if text == "all" {
        return Ok(Installed::names()
            .filter(|name| name.contains('-'))
            .filter_map(|name| Installed::find(name).ok())
            .map(|found| private(found.name(), found.family(), None))
            .collect());
    }
    if text.contains("://") {
        let (target, _) = inrush::target::find(text)?;
        let family = target.name();
        return Ok(vec![Asked {
            name: format!("{family}-url"),
            family: family.to_owned(),
            url: Some(text.to_owned()),
            missing: None,
        }]);
    }
    let missing = match Installed::find(text) {
        Ok(found) => return Ok(vec![private(found.name(), found.family(), None)]),
        Err(error) => error.to_string(),
    };
    let Some(family) = Installed::family_of(text) else {
        let names: Vec<_> = Installed::names().collect();
        return Err(Error::usage(format!("no server is called '{}'", without_secrets(text)))
            .advise(format!("name one of {}, or a URL", names.join(", ")))
            .advise("--server all takes all that are installed"));
    };
    Ok(vec![private(text, family, Some(missing))])
}

fn private(name: &str, family: &str, missing: Option<String>) -> Asked {
    Asked { name: name.to_owned(), family: family.to_owned(), url: None, missing }
}

/// The servers that run.
pub(super) struct Fleet {
    /// Who drops our databases where we are killed.
    will: Will,
    ships: BTreeMap<(String, Vec<(String, String)>), Ship>,
    /// Why those that could not be started could not: it is not tried again.
    sunk: BTreeMap<(String, Vec<(String, String)>), String>,
}

/// One server, private or not, with a database of ours.
struct Ship {
    /// `None` for one that the user runs.
    server: Option<Server>,
    /// Without a database.
    base: Url,
    database: String,
    /// By what they delay, in microseconds.
    relays: BTreeMap<u64, Relay>,
}

/// How a cell reaches its database.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// As a target; may hold a password.
    pub(super) url: String,
    /// For programs.
    pub(super) socket: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) database: String,
    /// Where the server reads files.
    pub(super) files: Option<PathBuf>,
    /// The server's process.
    pub(super) pid: Option<u32>,
}

/// A server's settings for one target, in the order of their names.
pub(super) fn settings(
    spec: &ServerSpec,
    server: &str,
    fill: &dyn Fn(&Value) -> Result<String>,
) -> Result<Vec<(String, String)>> {
    let mut all: BTreeMap<&str, &Value> =
        spec.settings.iter().map(|(name, value)| (name.as_str(), value)).collect();
    for (_, others) in spec.settings_on.iter().filter(|(name, _)| server.starts_with(name.as_str()))
    {
        all.extend(others.iter().map(|(name, value)| (name.as_str(), value)));
    }
    all.into_iter()
        .filter(|(_, value)| **value != Value::Flag(false))
        .map(|(name, value)| Ok((name.to_owned(), fill(value)?)))
        .collect()
}

/// Drops a database that a bench has left on a server of the user's.
///
/// # Errors
/// When the server can't be reached, or refuses.
pub(super) fn drop_left(left: &Left) -> Result<()> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let (mut console, own) = entered(&parsed(&left.url)?, &left.database, &NEVER)?;
    console.execute(&own.drop).map(drop)
}

/// The way into a server, and its words for what becomes of a database of ours there.
fn entered<'a>(
    base: &Url,
    database: &str,
    stop: &'a AtomicBool,
) -> Result<(Box<dyn Console + 'a>, OwnDatabase)> {
    let (target, _) = inrush::target::find(base.as_str())?;
    let Some(own) = target.own_database(database) else {
        return Err(Error::usage(format!("{} has no databases of its own", target.name())));
    };
    let mut base = base.clone();
    if let Some(database) = &own.enter {
        base.set_path(database);
    }
    let (target, location) = inrush::target::find(base.as_str())?;
    Ok((target.console(&location, stop)?, own))
}

impl Fleet {
    /// None that runs yet.
    pub(super) fn new(will: Will) -> Self {
        Self { will, ships: BTreeMap::new(), sunk: BTreeMap::new() }
    }

    /// The way to `target` on the server `asked`, which is started if it doesn't run with these settings yet.
    ///
    /// # Errors
    /// When it can't be started or reached, with the last lines of its log.
    pub(super) fn way(
        &mut self,
        target: &Target,
        asked: &Asked,
        settings: Vec<(String, String)>,
        place: &Path,
        stop: &AtomicBool,
    ) -> Result<Way> {
        let key = (asked.name.clone(), settings);
        if let Some(why) = self.sunk.get(&key) {
            return Err(Error::target(why));
        }
        if !self.ships.contains_key(&key) {
            match Ship::launch(asked, &key.1, place, &self.will, stop) {
                Ok(ship) => {
                    self.ships.insert(key.clone(), ship);
                }
                Err(error) => {
                    self.sunk.insert(key, error.to_string());
                    return Err(error);
                }
            }
        }
        let Some(ship) = self.ships.get_mut(&key) else { unreachable!("just inserted") };
        ship.way(target)
    }

    /// Empties the database that a way leads to.
    ///
    /// # Errors
    /// When the server refuses.
    pub(super) fn empty(&self, way: &Way, stop: &AtomicBool) -> Result<()> {
        for ship in self.ships.values().filter(|ship| ship.database == way.database) {
            let (mut console, own) = entered(&ship.base, &ship.database, stop)?;
            console.execute(&own.drop)?;
            console.execute(&own.make)?;
        }
        Ok(())
    }

    /// Stops what we started, and takes our databases off what we did not, whether or not the user wants to stop: what could not be
    /// done, a sentence each.
    pub(super) fn close(mut self) -> Vec<String> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let mut notes = Vec::new();
        for ship in self.ships.values_mut() {
            ship.relays.clear();
            let closed = match &mut ship.server {
                Some(server) => server.stop(),
                None => {
                    let dropped = ship.drop_database(&NEVER);
                    // What could not be dropped is said, and then the keeper need not try.
                    self.will.say(&Order::Dropped(ship.left()));
                    dropped
                }
            };
            notes.extend(closed.err().map(|error| match &ship.server {
                Some(_) => error.to_string(),
                None => format!("the database {} could not be dropped: {error}", ship.database),
            }));
        }
        notes
    }
}

impl Ship {
    fn launch(
        asked: &Asked,
        settings: &[(String, String)],
        place: &Path,
        will: &Will,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let server = match &asked.url {
            Some(_) => None,
            None => {
                let installed = Installed::find(&asked.name)?;
                let mut all = installed.bench_settings();
                all.extend(settings.iter().cloned());
                Some(Server::start_in(place, &installed, &all)?)
            }
        };
        let url = match (&server, &asked.url) {
            (Some(server), _) => server.url(),
            (None, Some(url)) => url.clone(),
            (None, None) => unreachable!("private servers were started"),
        };
        let base = parsed(&url)?;
        // Nobody else has a database of this name, not on a server of the user's either.
        let database = format!("inrush_bench_{}", unique::word());
        let ship = Self { server, base, database, relays: BTreeMap::new() };
        // On a server that can't be reached there is nothing to drop.
        let (mut console, own) = entered(&ship.base, &ship.database, stop)?;
        if ship.server.is_none() {
            will.say(&Order::Drop(ship.left()));
        }
        // A database of this name is another client's.
        console.execute(&own.make).inspect_err(|error| {
            // Where the answer was lost, or not waited for, it may be there.
            if !error.is_lost_connection() && error.kind() != Kind::Interrupted {
                will.say(&Order::Dropped(ship.left()));
            }
        })?;
        Ok(ship)
    }

    fn left(&self) -> Left {
        Left { url: self.base.to_string(), database: self.database.clone() }
    }

    fn drop_database(&self, stop: &AtomicBool) -> Result<()> {
        let (mut console, own) = entered(&self.base, &self.database, stop)?;
        console.execute(&own.drop).map(drop)
    }

    fn way(&mut self, target: &Target) -> Result<Way> {
        let port = match (&self.server, target.transport) {
            (Some(server), Transport::Socket | Transport::Tcp) => server.port(),
            (Some(_), Transport::Relay) => self.relay(target.delay_ms)?,
            // The user's URL says how.
            (None, Transport::Socket | Transport::Tcp) => self.base.port().unwrap_or_default(),
            (None, Transport::Relay) => {
                return Err(Error::usage("a relay leads to private servers only"));
            }
        };
        let mut url = match (&self.server, target.transport) {
            (Some(server), Transport::Tcp | Transport::Relay) => parsed(&server.tcp_url(port))?,
            _ => self.base.clone(),
        };
        url.set_path(&self.database);
        Ok(Way {
            url: url.to_string(),
            socket: self
                .server
                .as_ref()
                .map(|server| server.socket().display().to_string())
                .unwrap_or_default(),
            port,
            user: self.base.username().to_owned(),
            database: self.database.clone(),
            files: self.server.as_ref().map(Server::files),
            pid: self.server.as_ref().and_then(Server::pid),
        })
    }

    fn relay(&mut self, delay_ms: f64) -> Result<u16> {
        let delay = Duration::from_secs_f64(delay_ms.max(0.0) / 1e3);
        let key = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        if let Some(relay) = self.relays.get(&key) {
            return Ok(relay.port());
        }
        let port = self.server.as_ref().map_or(0, Server::port);
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let relay = Relay::start(to, delay)
            .map_err(|error| Error::target(format!("no relay on 127.0.0.1: {error}")))?;
        let port = relay.port();
        self.relays.insert(key, relay);
        Ok(port)
    }
}

fn parsed(url: &str) -> Result<Url> {
    Url::parse(url).map_err(|error| Error::usage(format!("{}: {error}", without_secrets(url))))
}
