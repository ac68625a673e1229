//! One connection, used from a plain thread, in the database of the load.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::bson::{Document, Raw};
use crate::client::{Client, Failure, Greeted, Reply, code};
use crate::connect::Place;
use inrush_core::error::{Error, Kind, Result};
use inrush_net::{Advice, Allowance, Lost, LostKind, RoundTrip};

/// What gets users past what keeps them out.
const ADVICE: Advice = Advice {
    without_tls: Some(
        "a server that speaks no TLS waits for ever, or hangs up: if this is one, leave tls out of the URL",
    ),
    with_tls: Some("a server that wants TLS hangs up on who does not speak it: ?tls=true"),
    any_name: "?tlsAllowInvalidHostnames=true takes any name, for a certificate of an authority that tlsCAFile names",
    authority: "?tlsCAFile=FILE names the authority that signed it",
    unchecked: "?tlsAllowInvalidCertificates=true encrypts without looking who answers",
    certificate_file: "?tlsCAFile=FILE takes the authority's certificate, in PEM or DER",
    replica_set: Some("leave ?replicaSet out, or name the right one"),
    writable: Some("name the replica set's other hosts in the URL, without directConnection"),
    check_server: "check that the server runs, and host and port in the URL",
};

/// The database of commands that concern the server.
pub(super) const ADMIN: &str = "admin";

/// A connection.
pub(super) struct Session<'a> {
    client: Option<Client<'a>>,
    pub(super) place: Arc<Place>,
    /// `None` while nothing may be ended halfway.
    stop: Option<&'a AtomicBool>,
    /// What the server said of itself, the last time.
    pub(super) greeted: Greeted,
    round_trip: RoundTrip,
}

impl<'a> Session<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        let client =
            Client::connect(place, Some(stop)).map_err(|failure| no_connection(place, failure))?;
        let greeted = client.greeted.clone();
        Ok(Self {
            client: Some(client),
            place: Arc::clone(place),
            stop: Some(stop),
            greeted,
            round_trip: RoundTrip::default(),
        })
    }

    /// A second connection to the same place.
    pub(super) fn another(&self, stop: &'a AtomicBool) -> Result<Self> {
        Session::open(&self.place, stop)
    }

    /// Connects again where the connection was lost.
    pub(super) fn reconnect(&mut self) -> Result<()> {
        self.client = None;
        let client = Client::connect(&self.place, self.stop)
            .map_err(|failure| no_connection(&self.place, failure))?;
        self.client = Some(client);
        Ok(())
    }

    /// From here on there is no stopping halfway.
    pub(super) fn unwatch(&mut self) {
        self.stop = None;
        if let Some(client) = &mut self.client {
            client.unwatch();
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.client.is_none()
    }

    pub(super) fn database(&self) -> &str {
        &self.place.database
    }

    /// Lets `work` use the connection's protocol; the connection is gone when it fails in a way that leaves nothing to say.
    pub(super) fn drive<T>(
        &mut self,
        work: impl FnOnce(&mut Client<'a>, &str) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.round_trip.time(|| {
            inrush_net::drive(&mut self.client, |client| work(client, &self.place.database))
        })
    }

    /// How long the server takes to answer, at least.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip.shortest()
    }

    /// Runs a command in the load's database.
    pub(super) fn command(&mut self, command: Document) -> Result<Reply, Failure> {
        self.drive(|client, database| client.command(database, command))
    }

    /// Runs a command that concerns the server.
    pub(super) fn admin(&mut self, command: Document) -> Result<Reply, Failure> {
        self.drive(|client, _| client.command(ADMIN, command))
    }

    /// Hands each document of a command's answer to `each`, batch after batch.
    pub(super) fn documents(
        &mut self,
        command: Document,
        mut each: impl FnMut(Raw<'_>),
    ) -> Result<(), Failure> {
        let mut reply = self.command(command)?;
        loop {
            let (id, collection) = {
                let cursor = reply.document().document("cursor").ok_or_else(Failure::garbled)?;
                let batch =
                    ["firstBatch", "nextBatch"].iter().find(|name| cursor.get(name).is_some());
                cursor.documents(batch.ok_or_else(Failure::garbled)?).for_each(&mut each);
                let name = cursor.text("ns").and_then(|name| name.split_once('.'));
                let collection = name.map_or("", |(_, collection)| collection).to_owned();
                (cursor.number("id").unwrap_or_default(), collection)
            };
            if id == 0 {
                return Ok(());
            }
            let more = Document::new().int64("getMore", id).string("collection", &collection);
            reply = self.command(more)?;
        }
    }

    /// The same for what the server says of its collections, which is kept: it has to be short.
    pub(super) fn catalogue(
        &mut self,
        command: Document,
        mut each: impl FnMut(Raw<'_>),
    ) -> Result<(), Failure> {
        let mut allowance = Allowance::default();
        self.documents(command, |document| {
            if allowance.admits([document.bytes().len()]) {
                each(document);
            }
        })?;
        allowance.kept()
    }

    /// What the user reads of a failure that no row is to blame for.
    pub(super) fn explain(&self, failure: Failure) -> Error {
        explain(&self.place, failure)
    }
}

/// What the user reads of a failure that no row is to blame for.
pub(super) fn explain(place: &Place, failure: Failure) -> Error {
    let refused = match failure {
        Failure::Stopped => return Error::interrupted(),
        Failure::Lost(lost) => {
            return lost
                .lost_connection(&place.shown)
                .advise("look into the server's log, and run the load again");
        }
        Failure::Server(refused) => refused,
    };
    let error = Error::new(Kind::Target, format!("{}: {}", place.shown, refused.message));
    match refused.code {
        code::AUTHENTICATION_FAILED => error
            .advise("check the user in the URL; the password comes from the URL or INRUSH_PASSWORD")
            .advise(format!("the user was looked for in database {}: ?authSource=admin names another", place.authority)),
        code::UNAUTHORIZED => error.advise(match place.user {
            Some(_) => "ask for that privilege (the role readWrite on the database has it), or use another user",
            None => "the URL names no user: mongodb://USER@HOST/DATABASE?authSource=admin",
        }),
        code::NAMESPACE_EXISTS => error
            .advise("another client has made a collection of that name during the load: run it again"),
        // Another member has become the primary.
        code::NOT_WRITABLE_PRIMARY | 189 | 91 | 11_600 | 11_602 | 13_435 => error
            .advise("the replica set has elected another primary: run the load again")
            .advise("?replicaSet=NAME with all its hosts in the URL finds the new one"),
        14_031 => error.advise("make room where the server keeps its data, and run the load again"),
        64 | 79 | 100 => error
            .advise("too few members of the replica set answer: ?wtimeoutMS=N waits longer, --durability process waits for one alone"),
        _ if refused.message.contains("journal") => error.advise(
            "--durability none waits for no journal, which this server keeps none of (storage.journal.enabled)",
        ),
        _ => error,
    }
}

pub(super) fn no_connection(place: &Place, failure: Failure) -> Error {
    let Failure::Lost(mut lost) = failure else { return explain(place, failure) };
    // The protocol has no word for it: a server that wants TLS hangs up.
    if lost.kind() == LostKind::Closed && place.tls.is_none() {
        lost = Lost::new(LostKind::WantsTls, lost.to_string());
    }
    lost.no_connection(&place.shown, &ADVICE)
}
