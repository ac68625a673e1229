//! Why something that was asked of a server has failed.
//!
//! ```text
//! io::Error -> Broken -> Failure<R>   Server(R)    what the engine's server refuses, in the engine's own terms
//!                                     Lost(Lost)   a kind to decide by, and words for the user
//!                                     Stopped
//! ```
//!
//! Whoever decides asks for the kind: words change with the server's version and language, and with the libraries in between.

use std::fmt;
use std::io;

use crate::channel::Broken;
use crate::{Distrust, DistrustKind};
use inrush_core::error::Error;

/// Why there is no connection, or none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    kind: LostKind,
    why: String,
}

/// What can be decided about a connection that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostKind {
    /// Nobody answers, or not in time, or the network gave the connection up.
    Connection,
    /// The server closed the connection, with or without a word about why; or it is closed already.
    Closed,
    /// The connection has to be encrypted, and the server speaks no TLS.
    NoTls,
    /// The connection is not encrypted, and the server wants it to be.
    WantsTls,
    /// TLS failed for another reason than the certificate.
    Tls,
    /// The server's certificate is not valid for the name by which the server was asked for.
    WrongName,
    /// The server's certificate is not believed: no known authority has signed it, or it is broken.
    BadCertificate,
    /// The server's certificate has expired, or is not valid yet.
    Expired,
    /// The file of the authority's certificate, which the user has named, can't be read or holds no certificate.
    CertificateFile,
    /// What came is nothing that a server says: garbled, without an end, or of another version of the protocol.
    Protocol,
    /// The server belongs to another replica set than the one that was asked for, or to none.
    WrongReplicaSet,
    /// The server takes no writes: it only follows another one, which does.
    NotWritable,
    /// The server hung up on a transaction that took longer than its settings allow.
    TransactionTimeout,
}

impl Lost {
    /// A connection that is lost. `why` is one sentence without a full stop.
    pub fn new(kind: LostKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }

    /// What TLS says of a server.
    pub(crate) fn by_tls(error: &rustls::Error) -> Self {
        let Some(distrust) = Distrust::of(error) else {
            return Self::new(LostKind::Tls, format!("TLS: {error}"));
        };
        let kind = match distrust.kind {
            DistrustKind::WrongName => LostKind::WrongName,
            DistrustKind::Dates => LostKind::Expired,
            DistrustKind::Authority | DistrustKind::IsAuthority => LostKind::BadCertificate,
        };
        Self::new(kind, format!("TLS: the server's certificate {distrust}"))
    }

    /// What can be decided by.
    pub fn kind(&self) -> LostKind {
        self.kind
    }

    /// What the user reads where it was lost in the middle. `shown` is the server's place.
    pub fn lost_connection(&self, shown: &str) -> Error {
        self.marked(Error::target(format!("the connection to {shown} was lost: {self}")))
    }

    /// The same over a connection that takes any statement, where what became of the last one may have to be asked: whatever the reason,
    /// it is lost.
    pub fn in_words(&self) -> Error {
        Error::target(format!("the connection was lost: {self}")).of_lost_connection()
    }

    /// Says so where another connection may fare better.
    fn marked(&self, error: Error) -> Error {
        match self.kind {
            LostKind::Connection | LostKind::Closed | LostKind::NotWritable => {
                error.of_lost_connection()
            }
            _ => error,
        }
    }

    /// What the user reads where it was lost before anything could be asked for. `shown` is the server's place.
    pub fn no_connection(&self, shown: &str, advice: &Advice) -> Error {
        let error = self.marked(Error::target(format!("no connection to {shown}: {self}")));
        advice.on(self.kind).into_iter().flatten().fold(error, Error::advise)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Lost {}

/// For calls that can fail with nothing else, such as those of `Read`. [`Broken`] takes it out again, with its kind.
impl From<Lost> for io::Error {
    fn from(lost: Lost) -> Self {
        io::Error::other(lost)
    }
}

/// How an engine's users get past what keeps them out: whole sentences without a full stop, for they spell the engine's options.
/// `None` where the engine has no better advice than [`Advice::check_server`].
#[derive(Clone, Copy, Debug)]
pub struct Advice {
    /// The option that goes without TLS, and what that means.
    pub without_tls: Option<&'static str>,
    /// The option that encrypts.
    pub with_tls: Option<&'static str>,
    /// The option that takes a certificate of any name, or what else to do about a wrong one.
    pub any_name: &'static str,
    /// The option that names the authority to believe.
    pub authority: &'static str,
    /// The option that encrypts and believes whoever answers.
    pub unchecked: &'static str,
    /// What the authority's file has to be.
    pub certificate_file: &'static str,
    /// The option that names the replica set.
    pub replica_set: Option<&'static str>,
    /// How to reach a server that takes writes.
    pub writable: Option<&'static str>,
    /// For all else: what to look at, at the server and in the URL.
    pub check_server: &'static str,
}

/// What helps against a certificate out of its time.
const RENEW: &str = "have the certificate renewed, or set this machine's clock, if that is wrong";

impl Advice {
    /// What helps against a connection lost so.
    fn on(&self, kind: LostKind) -> [Option<&'static str>; 2] {
        let first = match kind {
            LostKind::NoTls => self.without_tls,
            LostKind::WantsTls => self.with_tls,
            LostKind::WrongName => Some(self.any_name),
            LostKind::BadCertificate => return [Some(self.authority), Some(self.unchecked)],
            LostKind::Expired => return [Some(RENEW), Some(self.unchecked)],
            LostKind::CertificateFile => Some(self.certificate_file),
            LostKind::WrongReplicaSet => self.replica_set,
            LostKind::NotWritable => self.writable,
            LostKind::Connection
            | LostKind::Closed
            | LostKind::Tls
            | LostKind::Protocol
            | LostKind::TransactionTimeout => None,
        };
        [first.or(Some(self.check_server)), None]
    }
}

/// Why something that was asked of a server has failed. `R` is what the engine's server says no with.
#[derive(Debug)]
pub enum Failure<R> {
    /// The server says no, and is there.
    Server(R),
    /// The connection is gone, or never was.
    Lost(Lost),
    /// The user wants to stop.
    Stopped,
}

impl<R> Failure<R> {
    /// The connection is gone. `why` is one sentence without a full stop.
    pub fn lost(kind: LostKind, why: impl Into<String>) -> Self {
        Self::Lost(Lost::new(kind, why))
    }

    /// What came is nothing that a server says.
    pub fn garbled() -> Self {
        Self::lost(LostKind::Protocol, "the server's answer makes no sense")
    }

    /// What the server said no with, if it did.
    pub fn refusal(&self) -> Option<&R> {
        match self {
            Failure::Server(refusal) => Some(refusal),
            Failure::Lost(_) | Failure::Stopped => None,
        }
    }

    /// In which way the connection was lost, if it was.
    pub fn lost_kind(&self) -> Option<LostKind> {
        match self {
            Failure::Lost(lost) => Some(lost.kind()),
            Failure::Server(_) | Failure::Stopped => None,
        }
    }
}

impl<R> From<Broken> for Failure<R> {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Stopped => Failure::Stopped,
            Broken::Lost(lost) => Failure::Lost(lost),
        }
    }
}

impl<R> From<io::Error> for Failure<R> {
    fn from(error: io::Error) -> Self {
        Broken::from(error).into()
    }
}

/// An engine's end of a connection, as [`drive`] has to know it.
pub trait Wired {
    /// Whether the server was told to end the last command.
    fn was_stopped(&self) -> bool;
}

/// Lets `work` use the connection that a session holds. The session holds none any more when `work` fails in a way that leaves nothing
/// to say on it.
///
/// # Errors
/// Those of `work`, and [`Failure::Lost`] where there is no connection. Whatever a server says that was told to end the command, it is
/// [`Failure::Stopped`].
pub fn drive<C: Wired, T, R>(
    held: &mut Option<C>,
    work: impl FnOnce(&mut C) -> Result<T, Failure<R>>,
) -> Result<T, Failure<R>> {
    let Some(connection) = held else {
        return Err(Failure::lost(LostKind::Closed, "the connection is closed"));
    };
    let outcome = work(connection);
    let was_stopped = connection.was_stopped();
    // What was given up while it waited leaves an answer behind that the next command would take for its own.
    if matches!(outcome, Err(Failure::Lost(_) | Failure::Stopped)) {
        *held = None;
    }
    outcome.map_err(|failure| if was_stopped { Failure::Stopped } else { failure })
}

#[cfg(test)]
mod tests;
