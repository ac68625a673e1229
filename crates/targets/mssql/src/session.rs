//! One connection, used from a plain thread, that notices when the user wants to stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use tiberius::error::Error as DriverError;
use tiberius::{AuthMethod, Client, Column, ColumnData, Config, EncryptionLevel, QueryItem};

use crate::connect::{self, Encryption, Login, Place};
use crate::ddl::quote;
use crate::link::{self, Line, Link};
use crate::value;
use inrush_core::error::{Error, Kind, Result};
use inrush_net::channel::{Address, Believe, Channel, Tls};
use inrush_net::{Advice, Allowance, LostKind, RoundTrip, Wired};

/// A packet's bytes at most where they are encrypted
/// (<https://learn.microsoft.com/en-us/sql/database-engine/configure-windows/configure-the-network-packet-size-server-configuration-option>).
const ENCRYPTED_PACKET_MAX: u32 = 16_383;

/// How often a server may send us elsewhere.
const ROUTES_MAX: usize = 3;

/// What a load's connection wants to be sure of, whatever the login's or the database's defaults are. Dates are written so that
/// DATEFORMAT doesn't matter.
const SETTINGS: &str = "SET XACT_ABORT, IMPLICIT_TRANSACTIONS, NOCOUNT, NUMERIC_ROUNDABORT OFF; \
    SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON; \
    SET ROWCOUNT 0; SET TEXTSIZE 2147483647";

/// What gets users past what keeps them out.
const ADVICE: Advice = Advice {
    without_tls: Some("?encrypt=no goes without: anybody on the way can read along"),
    with_tls: Some("?encrypt=yes does so"),
    any_name: "name the server in the URL as its certificate does; ?trust_server_certificate=yes encrypts without looking who answers",
    authority: "?ca=FILE names the authority that signed it, in PEM or DER",
    unchecked: "?trust_server_certificate=yes encrypts without looking who answers",
    certificate_file: "?ca=FILE takes the authority's certificate, in PEM or DER",
    replica_set: None,
    writable: None,
    check_server: "check that the server runs and listens to TCP, and host, port or instance in the URL",
};

/// A connection.
pub(super) struct Session<'a> {
    /// `None` once it is lost.
    client: Option<Driver<'a>>,
    place: Arc<Place>,
    /// `None` while nothing may be ended halfway.
    stop: Option<&'a AtomicBool>,
    round_trip: RoundTrip,
}

/// The driver, and the connection under it.
struct Driver<'a> {
    client: Client<Link<'a>>,
    line: Arc<Line<'a>>,
}

/// What the server says no with.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// The row of the statement that it was at, from 0; not the server's word, but what the statement's writer knows.
    pub(super) row: Option<usize>,
    /// <https://learn.microsoft.com/en-us/sql/relational-databases/errors-events/database-engine-events-and-errors>
    pub(super) number: u32,
    pub(super) message: String,
}

/// Why a statement failed.
pub(super) type Failure = inrush_net::Failure<Box<Refusal>>;

/// What the driver calls an error.
fn failed(error: DriverError, line: &Line<'_>) -> Failure {
    /// From here on the server ends the connection.
    const FATAL: u8 = 20;
    if let Some(broken) = line.broken() {
        return broken.into();
    }
    match error {
        DriverError::Server(token) => {
            let (class, number) = (token.class(), token.code());
            let message = token.message().trim_end().to_owned();
            match class < FATAL {
                true => Failure::Server(Box::new(Refusal { row: None, number, message })),
                false => Failure::lost(LostKind::Closed, message),
            }
        }
        DriverError::Io { .. } => Failure::lost(LostKind::Connection, error.to_string()),
        // What it makes nothing of.
        other => Failure::lost(LostKind::Protocol, other.to_string()),
    }
}

/// Says which row of the statement was at fault.
pub(super) fn at_row(mut failure: Failure, row: usize) -> Failure {
    if let Failure::Server(refused) = &mut failure {
        refused.row = Some(row);
    }
    failure
}

/// The server's number; 0 when it said nothing.
pub(super) fn number(failure: &Failure) -> u32 {
    failure.refusal().map_or(0, |refused| refused.number)
}

impl Wired for Driver<'_> {
    /// Never: no command is ended but by hanging up, which is [`Failure::Stopped`] already.
    fn was_stopped(&self) -> bool {
        false
    }
}

impl<'a> Driver<'a> {
    /// Connects, and goes where the server sends us.
    fn connect(place: &Place, stop: Option<&'a AtomicBool>) -> Result<Self, Failure> {
        let port = match (&place.port, &place.instance) {
            (Some(port), _) => *port,
            (None, Some(instance)) => {
                connect::port_of(&place.host, instance, place.patience, stop)?
            }
            (None, None) => return Err(Failure::lost(LostKind::Connection, "no port")),
        };
        let mut address = (place.host.clone(), port);
        let mut tls = match &place.encryption {
            Encryption::Yes(tls) => Some(tls.clone()),
            Encryption::No | Encryption::IfWanted => None,
        };
        for _ in 0..ROUTES_MAX {
            let channel = Channel::connect(
                &Address::Host(address.0.clone(), address.1),
                place.patience,
                stop,
            )?;
            let line = Line::over(channel);
            let config = config(place, &address, tls.is_some());
            let proves = tls.clone().map(|tls| (tls, address.0.clone()));
            let opened = link::run(Client::connect(config, Link::new(&line, proves)));
            let error = match opened {
                Ok(client) => {
                    line.with(Channel::logged_in_for_good);
                    return Ok(Self { client, line });
                }
                Err(DriverError::Routing { host, port }) => {
                    address = (host, port);
                    continue;
                }
                Err(error) => failed(error, &line),
            };
            let insists = error.lost_kind() == Some(LostKind::WantsTls);
            if insists && tls.is_none() && place.encryption == Encryption::IfWanted {
                // It is on this machine: whoever it is, nobody is between us.
                tls = Some(Tls { believe: Believe::Anybody, authority: None });
                continue;
            }
            return Err(error);
        }
        let why = "one server sends us to the next, and that to another";
        Err(Failure::lost(LostKind::Connection, why))
    }
}

/// What the driver has to know. Encryption is the link's.
fn config(place: &Place, (host, port): &(String, u16), encrypted: bool) -> Config {
    let mut config = Config::new();
    config.host(host);
    config.port(*port);
    config.database(&place.database);
    config.application_name(&place.application);
    config.encryption(EncryptionLevel::NotSupported);
    // Our own waits are bounded below it.
    config.handshake_timeout(None);
    config.command_timeout(None);
    let most = if encrypted { ENCRYPTED_PACKET_MAX } else { u32::MAX };
    config.packet_size(place.packet_size.min(most));
    config.authentication(match &place.login {
        Login::Password { user, password } => AuthMethod::sql_server(user, password),
        Login::Token(token) => AuthMethod::aad_token(token),
    });
    config
}

impl<'a> Session<'a> {
    /// Connects, and settles what a load wants to be sure of.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        let mut session = Self::plain(place, stop);
        session.connect()?;
        Ok(session)
    }

    /// One that is not connected yet.
    pub(super) fn plain(place: &Arc<Place>, stop: &'a AtomicBool) -> Self {
        Self {
            client: None,
            place: Arc::clone(place),
            stop: Some(stop),
            round_trip: RoundTrip::default(),
        }
    }

    /// Connects and settles nothing.
    pub(super) fn connect_only(&mut self) -> Result<(), Failure> {
        self.client = Some(Driver::connect(&self.place, self.stop)?);
        Ok(())
    }

    fn connect(&mut self) -> Result<()> {
        let connected = self.connect_only().and_then(|()| self.execute(SETTINGS));
        let Err(failure) = connected else { return Ok(()) };
        match failure {
            Failure::Lost(lost) => Err(lost.no_connection(&self.place.shown, &ADVICE)),
            failure => Err(self.explain(failure)),
        }
    }

    /// Connects again where the connection was lost.
    pub(super) fn reconnect(&mut self) -> Result<()> {
        self.client = None;
        self.connect()
    }

    /// From here on there is no stopping halfway.
    pub(super) fn unwatch(&mut self) {
        self.stop = None;
        if let Some(driver) = &self.client {
            driver.line.with(Channel::unwatch);
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.client.is_none()
    }

    /// Lets `work` use the driver; the connection is gone when it fails in a way that leaves nothing to say.
    pub(super) fn drive<T>(
        &mut self,
        work: impl FnOnce(&mut Client<Link<'a>>) -> tiberius::Result<T>,
    ) -> Result<T, Failure> {
        self.round_trip.time(|| {
            inrush_net::drive(&mut self.client, |driver| {
                driver.line.with(Channel::begin);
                work(&mut driver.client).map_err(|error| failed(error, &driver.line))
            })
        })
    }

    /// How long the server takes to answer, at least.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.shortest()
    }

    /// Runs a batch of statements, and hands out the rows that they answer with, each with its columns and the number of its answer.
    pub(super) fn batch(
        &mut self,
        sql: &str,
        mut each: impl FnMut(usize, &[Column], &[ColumnData<'static>]),
    ) -> Result<(), Failure> {
        self.drive(|client| {
            link::run(async {
                let mut answer = client.simple_query(sql).await?;
                let mut values = Vec::new();
                while let Some(item) = answer.try_next().await? {
                    if let QueryItem::Row(row) = item {
                        let (index, columns) = (row.result_index(), row.columns().to_vec());
                        values.clear();
                        values.extend(row);
                        each(index, &columns, &values);
                    }
                }
                Ok(())
            })
        })
    }

    /// Runs statements that give no rows.
    pub(super) fn execute(&mut self, sql: impl AsRef<str>) -> Result<(), Failure> {
        self.batch(sql.as_ref(), |_, _, _| {})
    }

    /// Runs statements of which the last one changes rows; how many.
    pub(super) fn affected(&mut self, sql: &str) -> Result<u64, Failure> {
        let counted = format!("{sql}; SELECT ROWCOUNT_BIG()");
        let mut affected = None;
        self.batch(&counted, |_, _, values| {
            if let Some(ColumnData::I64(Some(rows))) = values.first() {
                affected = u64::try_from(*rows).ok();
            }
        })?;
        affected.ok_or_else(Failure::garbled)
    }

    /// All rows of a query as text; NULL is None.
    pub(super) fn table(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let (mut rows, mut allowance) = (Vec::new(), Allowance::default());
        self.batch(sql, |_, _, values| {
            let row: Vec<Option<String>> = values.iter().map(value::text).collect();
            if allowance.admits(row.iter().map(|value| value.as_ref().map_or(0, String::len))) {
                rows.push(row);
            }
        })?;
        allowance.kept().map(|()| rows)
    }

    /// The first value of a query.
    pub(super) fn value(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        let first = self.table(sql)?.into_iter().next();
        Ok(first.and_then(|row| row.into_iter().next()).flatten())
    }

    /// The rows of a query that gives names and their values; a name whose value is NULL is left out.
    pub(super) fn pairs(&mut self, sql: &str) -> Result<BTreeMap<String, String>, Failure> {
        let pair = |row: Vec<Option<String>>| {
            let mut row = row.into_iter().flatten();
            Some((row.next()?, row.next()?))
        };
        Ok(self.table(sql)?.into_iter().filter_map(pair).collect())
    }

    /// What the user reads of a failure that no row is to blame for.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        let refused = match failure {
            Failure::Stopped => return Error::interrupted(),
            Failure::Lost(lost) => {
                return lost
                    .lost_connection(&self.place.shown)
                    .advise("look into the server's log, and run the load again");
            }
            Failure::Server(refused) => refused,
        };
        let what = format!("{}: {} (error {})", self.place.shown, refused.message, refused.number);
        let error = Error::new(Kind::Target, what);
        match refused.number {
            18_456 => error.advise(
                "check the user in the URL; the password comes from the URL or INRUSH_PASSWORD",
            ),
            4_060 | 911 => error.advise(format!(
                "make it first, or let the user in: CREATE DATABASE {}",
                quote(&self.place.database)
            )),
            229 | 230 | 262 | 297 | 1_088 | 2_760 | 4_834 => {
                error.advise("ask for that permission, or use another user")
            }
            1_101 | 1_105 => {
                error.advise("the database's files are full: make room and run the load again")
            }
            9_002 => error.advise(
                "the transaction log is full: back it up or let it grow, and run the load again",
            ),
            1_205 | 1_222 => error.advise(
                "another connection holds the table or its rows: try again when it is through",
            ),
            8_115 if refused.message.contains("IDENTITY") => error.advise(
                "the IDENTITY column has no number left for a row: give it a type with more; statements that are taken back use numbers up",
            ),
            3_906 => {
                error.advise("the database, or this replica, only reads: load into the primary")
            }
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests;
