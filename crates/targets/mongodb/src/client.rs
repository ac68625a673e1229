//! One connection of MongoDB's protocol, in calls that block
//! (<https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>).
//!
//! A message is a command and, for inserts, a sequence of documents behind it: those are the encoder's bytes as they are.
//!
//! ```text
//! length, number, number it answers, 2013   flags   0, command   1, length, "documents", document, document, ...
//! ```

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustls::crypto::ring;

use crate::bson::{Document, Raw, Value, kind};
use crate::connect::{self, Mechanism, Place};
use crate::scram::{Hash, Scram};
use inrush_core::unique;
use inrush_net::channel::{Address, Broken, Channel};
use inrush_net::{LostKind, Wired};

/// The only kind of message that there still is.
const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
/// A message ends in its checksum.
const CHECKSUM_PRESENT: u32 = 1;
/// Nobody answers.
const MORE_TO_COME: u32 = 2;

/// Servers send no longer ones: 48,000,000 bytes is what all of them say (`maxMessageSizeBytes`).
const MESSAGE_MAX: usize = 64 << 20;
/// The same for one that nobody knows yet.
const GREETING_MAX: usize = 1 << 20;

/// Bytes asked of the socket at once.
const READ_BYTES: usize = 64 << 10;

/// The oldest protocol with such messages: MongoDB 3.6.
const WIRE_VERSION_MIN: i64 = 6;

/// Members of a replica set that are asked who the primary is; there are at most 50.
const MEMBERS_MAX: usize = 50;

/// Error codes (<https://www.mongodb.com/docs/manual/reference/error-codes/>).
pub(super) mod code {
    pub(in super::super) const UNAUTHORIZED: i64 = 13;
    pub(in super::super) const AUTHENTICATION_FAILED: i64 = 18;
    pub(in super::super) const NAMESPACE_NOT_FOUND: i64 = 26;
    pub(in super::super) const NAMESPACE_EXISTS: i64 = 48;
    pub(in super::super) const COMMAND_NOT_FOUND: i64 = 59;
    pub(in super::super) const NOT_IMPLEMENTED: i64 = 238;
    pub(in super::super) const NOT_WRITABLE_PRIMARY: i64 = 10_107;
    pub(in super::super) const DUPLICATE_KEY: i64 = 11_000;
}

/// Why a command failed.
pub(super) type Failure = inrush_net::Failure<Box<Refusal>>;

/// A server's no.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
}

/// What the server says no with.
pub(super) fn refused(code: i64, message: impl Into<String>) -> Failure {
    Failure::Server(Box::new(Refusal { code, message: message.into() }))
}

/// The server's own code; 0 when it said nothing.
pub(super) fn code_of(failure: &Failure) -> i64 {
    failure.refusal().map_or(0, |refused| refused.code)
}

/// An answer that is a document, which it was found to be.
pub(super) struct Reply(Vec<u8>);

impl Reply {
    pub(super) fn document(&self) -> Raw<'_> {
        // `Client::receive` has looked.
        Raw::read(&self.0).unwrap_or_else(|| unreachable!("replies are documents"))
    }

    /// The command's own success.
    ///
    /// # Errors
    /// When the server says no.
    fn succeeded(self) -> Result<Self, Failure> {
        let document = self.document();
        if document.is_true("ok") {
            return Ok(self);
        }
        let message =
            document.text("errmsg").or(document.text("$err")).unwrap_or("the command failed");
        Err(refused(document.number("code").unwrap_or_default(), message))
    }
}

/// What a server told of itself.
#[derive(Clone, Debug)]
pub(super) struct Greeted {
    /// Bytes of a document, of a message, and documents of an insert.
    pub(super) document_max: usize,
    pub(super) message_max: usize,
    pub(super) batch_max: usize,
    pub(super) wire_version: i64,
    /// It hands on what others keep.
    pub(super) is_router: bool,
    pub(super) replica_set: Option<String>,
    /// It has sessions, by which its work can be ended.
    has_sessions: bool,
    takes_writes: bool,
    primary: Option<String>,
    members: Vec<String>,
    mechanisms: Vec<String>,
}

/// A connection.
pub(super) struct Client<'a> {
    channel: Channel<'a>,
    /// The number of the message that was sent last.
    number: i32,
    incoming: Vec<u8>,
    message_max: usize,
    pub(super) greeted: Greeted,
    pub(super) address: Address,
    /// The session that all commands belong to, where the server has sessions.
    session: Option<[u8; 16]>,
}

impl<'a> Client<'a> {
    /// Connects to the first server that takes writes, and logs in.
    ///
    /// # Errors
    /// [`Failure::Server`] when the server says no, [`Failure::Lost`] when there is none, [`Failure::Stopped`] when the user
    /// does not want to wait.
    pub(super) fn connect(
        place: &Arc<Place>,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut ahead: Vec<Address> = place.servers.iter().rev().cloned().collect();
        let mut seen: Vec<Address> = Vec::new();
        let mut failure = None;
        while let Some(address) = ahead.pop() {
            if seen.contains(&address) || seen.len() >= MEMBERS_MAX {
                continue;
            }
            seen.push(address.clone());
            let mut client = match Self::greet(place, &address, stop) {
                Ok(client) => client,
                Err(Failure::Stopped) => return Err(Failure::Stopped),
                Err(other) => {
                    failure.get_or_insert(other);
                    continue;
                }
            };
            let greeted = &client.greeted;
            if let Some(wanted) = &place.replica_set
                && greeted.replica_set.as_ref() != Some(wanted)
            {
                let found = greeted.replica_set.as_deref().unwrap_or("none");
                let why = format!("{address} is not of replica set {wanted}: its own is {found}");
                failure = Some(Failure::lost(LostKind::WrongReplicaSet, why));
                continue;
            }
            if greeted.takes_writes {
                client.login(place)?;
                client.watch(place);
                return Ok(client);
            }
            let why = format!("{address} takes no writes: it is no primary");
            failure = Some(Failure::lost(LostKind::NotWritable, why));
            if !place.direct {
                // The one that it takes for the primary comes first.
                let members = greeted.members.iter().rev().chain(&greeted.primary);
                ahead.extend(members.filter_map(|member| connect::server(member)));
            }
        }
        Err(failure.unwrap_or_else(Failure::garbled))
    }

    /// A socket to the server, and what it says of itself.
    fn greet(
        place: &Place,
        address: &Address,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut channel = Channel::connect(address, place.patience, stop)?;
        if let Some(tls) = &place.tls {
            let name = match address {
                Address::Host(host, _) => host.as_str(),
                Address::Socket(_) => "localhost",
            };
            channel = channel.encrypt(tls, name).map_err(no_tls)?;
        }
        let greeted = Greeted {
            document_max: 0,
            message_max: 0,
            batch_max: 0,
            wire_version: 0,
            is_router: false,
            replica_set: None,
            has_sessions: false,
            takes_writes: false,
            primary: None,
            members: Vec::new(),
            mechanisms: Vec::new(),
        };
        let mut client = Self {
            channel,
            number: 0,
            incoming: Vec::new(),
            message_max: GREETING_MAX,
            greeted,
            address: address.clone(),
            session: None,
        };
        let answered = match client.command("admin", hello("hello", place)) {
            // Servers before 4.4.2.
            Err(failure) if code_of(&failure) == code::COMMAND_NOT_FOUND => {
                client.command("admin", hello("isMaster", place))?
            }
            answered => answered?,
        };
        client.greeted = greeted_by(answered.document());
        if client.greeted.wire_version < WIRE_VERSION_MIN {
            return Err(Failure::lost(
                LostKind::Protocol,
                "the server is older than MongoDB 3.6, and speaks another protocol",
            ));
        }
        Ok(client)
    }

    /// Proves who the user is.
    fn login(&mut self, place: &Place) -> Result<(), Failure> {
        let Some(user) = &place.user else { return Ok(()) };
        let Some(password) = &place.password else {
            return Err(denied("the URL names a user, and no password is known"));
        };
        let offers = |mechanism: Mechanism| {
            self.greeted.mechanisms.iter().any(|offered| offered == mechanism.name())
        };
        let mechanism = place.mechanism.unwrap_or_else(|| {
            // A server that says nothing of this user may not know it; it is older than SCRAM-SHA-256 otherwise.
            Mechanism::ALL.into_iter().find(|known| offers(*known)).unwrap_or(Mechanism::ScramSha1)
        });
        let hash = match mechanism {
            Mechanism::ScramSha1 => Hash::Sha1,
            Mechanism::ScramSha256 => Hash::Sha256,
            Mechanism::Plain => return self.login_plainly(place, user, password),
        };
        let mut scram = Scram::new(hash, user, password, nonce()?);
        let start = Document::new()
            .int32("saslStart", 1)
            .string("mechanism", mechanism.name())
            .binary("payload", scram.first().as_bytes())
            .document("options", Document::new().boolean("skipEmptyExchange", true));
        let answered = self.command(&place.authority, start)?;
        let conversation = answered.document().get("conversationId");
        let next = |payload: &[u8]| {
            let next = Document::new().int32("saslContinue", 1);
            let next = match conversation {
                Some(conversation) => next.value("conversationId", conversation),
                None => next,
            };
            next.binary("payload", payload)
        };
        let last = scram.last(&payload(&answered)?).map_err(denied)?;
        let finished = self.command(&place.authority, next(last.as_bytes()))?;
        if !scram.is_proved(&payload(&finished)?) {
            return Err(denied("the server does not prove that it knows the password as well"));
        }
        if !finished.document().is_true("done") {
            self.command(&place.authority, next(b""))?;
        }
        Ok(())
    }

    fn login_plainly(&mut self, place: &Place, user: &str, password: &str) -> Result<(), Failure> {
        // Whoever is on the way could read it, or be the one who asks.
        if !self.channel.is_private() && !self.channel.is_local() {
            return Err(denied(
                "the server asks for the password in plain text over a connection that is not encrypted",
            ));
        }
        let start = Document::new()
            .int32("saslStart", 1)
            .string("mechanism", Mechanism::Plain.name())
            .binary("payload", format!("\0{user}\0{password}").as_bytes());
        self.command(&place.authority, start).map(drop)
    }

    /// From here on the server's work can be ended, and takes as long as it takes.
    fn watch(&mut self, place: &Arc<Place>) {
        self.message_max = MESSAGE_MAX;
        if !self.greeted.has_sessions {
            // Nothing of ours takes such a server long.
            self.channel.logged_in(|| {});
            return;
        }
        let session = session_number();
        self.session = Some(session);
        // Where the connection leads, and nowhere else.
        let servers = vec![self.address.clone()];
        let patience = inrush_net::channel::Patience {
            answer: Some(place.patience.connect),
            ..place.patience
        };
        let place = Arc::new(Place { servers, patience, direct: true, ..Place::clone(place) });
        self.channel.logged_in(move || {
            if let Ok(mut other) = Client::connect(&place, None) {
                let sessions = Document::new().document("0", session_of(&session)).finish();
                let kill = Document::new().element("killSessions", kind::ARRAY, &sessions);
                let _ = other.command("admin", kill);
            }
        });
    }

    /// From here on the call that waits is not given up when the user wants to stop.
    pub(super) fn unwatch(&mut self) {
        self.channel.unwatch();
    }

    /// Runs a command in a database.
    pub(super) fn command(&mut self, database: &str, command: Document) -> Result<Reply, Failure> {
        let command = self.addressed(database, command, true);
        self.send(0, &command, None)?;
        self.receive()?.succeeded()
    }

    /// Runs a command with a sequence of documents behind it.
    pub(super) fn command_with(
        &mut self,
        database: &str,
        command: Document,
        name: &str,
        documents: &[u8],
    ) -> Result<Reply, Failure> {
        let command = self.addressed(database, command, true);
        self.send(0, &command, Some((name, documents)))?;
        self.receive()?.succeeded()
    }

    /// The same for one that the server does not answer.
    pub(super) fn tell_with(
        &mut self,
        database: &str,
        command: Document,
        name: &str,
        documents: &[u8],
    ) -> Result<(), Failure> {
        // Such a command can't be part of a session.
        let command = self.addressed(database, command, false);
        self.send(MORE_TO_COME, &command, Some((name, documents)))
    }

    fn addressed(&self, database: &str, command: Document, answered: bool) -> Vec<u8> {
        let command = match &self.session {
            Some(session) if answered => command.document("lsid", session_of(session)),
            _ => command,
        };
        command.string("$db", database).finish()
    }

    fn send(
        &mut self,
        flags: u32,
        command: &[u8],
        sequence: Option<(&str, &[u8])>,
    ) -> Result<(), Failure> {
        self.channel.begin();
        self.number = self.number.wrapping_add(1);
        let (name, documents) = sequence.unwrap_or_default();
        let mut head = Vec::with_capacity(HEADER_BYTES + command.len() + name.len() + 16);
        head.extend_from_slice(&[0; 4]);
        head.extend_from_slice(&self.number.to_le_bytes());
        head.extend_from_slice(&[0; 4]);
        head.extend_from_slice(&OP_MSG.to_le_bytes());
        head.extend_from_slice(&flags.to_le_bytes());
        head.push(0);
        head.extend_from_slice(command);
        if sequence.is_some() {
            head.push(1);
            let length = 4 + name.len() + 1 + documents.len();
            head.extend_from_slice(&(length as u32).to_le_bytes());
            head.extend_from_slice(name.as_bytes());
            head.push(0);
        }
        let length = (head.len() + documents.len()) as u32;
        head[..4].copy_from_slice(&length.to_le_bytes());
        self.channel.write_all(&head)?;
        self.channel.write_all(documents)?;
        Ok(self.channel.flush()?)
    }

    fn receive(&mut self) -> Result<Reply, Failure> {
        self.fill(HEADER_BYTES)?;
        let number = |at: usize| {
            let bytes = self.incoming.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            i32::from_le_bytes(bytes.unwrap_or_default())
        };
        let (length, answers, operation) = (number(0), number(8), number(12));
        let length = usize::try_from(length).unwrap_or(0);
        if operation != OP_MSG
            || answers != self.number
            || !(HEADER_BYTES + 5..=self.message_max).contains(&length)
        {
            return Err(Failure::garbled());
        }
        self.fill(length)?;
        let reply =
            body(&self.incoming[HEADER_BYTES..length]).map(|body| Reply(body.bytes().to_vec()));
        self.incoming.drain(..length);
        reply.ok_or_else(Failure::garbled)
    }

    /// Reads until so many bytes are there. Memory grows with what has come, not with what was announced.
    fn fill(&mut self, bytes: usize) -> Result<(), Failure> {
        while self.incoming.len() < bytes {
            let filled = self.incoming.len();
            self.incoming.resize(filled + READ_BYTES, 0);
            let read = self.channel.read(&mut self.incoming[filled..]);
            self.incoming.truncate(filled + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Err(Failure::lost(LostKind::Closed, "the server closed it"));
            }
        }
        Ok(())
    }
}

impl Wired for Client<'_> {
    fn was_stopped(&self) -> bool {
        self.channel.was_stopped()
    }
}

/// The command's document in a message without its header: the one section of kind 0.
fn body(message: &[u8]) -> Option<Raw<'_>> {
    let (flags, mut rest) = message.split_first_chunk()?;
    if u32::from_le_bytes(*flags) & CHECKSUM_PRESENT != 0 {
        rest = rest.get(..rest.len().checked_sub(4)?)?;
    }
    while let Some((section, behind)) = rest.split_first() {
        if *section == 0 {
            return Raw::read(behind);
        }
        let length = usize::try_from(i32::from_le_bytes(*behind.first_chunk()?)).ok()?;
        rest = behind.get(length.max(4)..)?;
    }
    None
}

fn hello(command: &str, place: &Place) -> Document {
    let driver =
        Document::new().string("name", "inrush").string("version", env!("CARGO_PKG_VERSION"));
    let client = Document::new()
        .document("application", Document::new().string("name", &place.app_name))
        .document("driver", driver)
        .document("os", Document::new().string("type", std::env::consts::OS));
    let hello = Document::new().int32(command, 1).document("client", client);
    match &place.user {
        Some(user) => hello.string("saslSupportedMechs", &format!("{}.{user}", place.authority)),
        None => hello,
    }
}

fn greeted_by(hello: Raw<'_>) -> Greeted {
    let count = |name: &str, default: usize| {
        let found = hello.number(name).and_then(|found| usize::try_from(found).ok());
        found.filter(|found| *found > 0).unwrap_or(default)
    };
    Greeted {
        document_max: count("maxBsonObjectSize", 16 << 20),
        message_max: count("maxMessageSizeBytes", 48_000_000),
        batch_max: count("maxWriteBatchSize", 1000),
        wire_version: hello.number("maxWireVersion").unwrap_or_default(),
        is_router: hello.text("msg") == Some("isdbgrid"),
        replica_set: hello.text("setName").map(str::to_owned),
        has_sessions: hello.number("logicalSessionTimeoutMinutes").is_some(),
        takes_writes: hello.is_true("isWritablePrimary") || hello.is_true("ismaster"),
        primary: hello.text("primary").map(str::to_owned),
        members: hello.texts("hosts").take(MEMBERS_MAX).map(str::to_owned).collect(),
        mechanisms: hello.texts("saslSupportedMechs").map(str::to_owned).collect(),
    }
}

/// The protocol has no word for it: a server that speaks no TLS waits for more of what it takes for a message, or hangs up.
fn no_tls(broken: Broken) -> Failure {
    match Failure::from(broken) {
        Failure::Lost(lost) if matches!(lost.kind(), LostKind::Connection | LostKind::Closed) => {
            Failure::lost(LostKind::NoTls, format!("no TLS: {lost}"))
        }
        other => other,
    }
}

/// We do not get in, for a reason of our own.
fn denied(why: &str) -> Failure {
    refused(code::AUTHENTICATION_FAILED, why)
}

fn payload(reply: &Reply) -> Result<String, Failure> {
    let payload =
        reply.document().get("payload").and_then(Value::binary).ok_or_else(Failure::garbled)?;
    String::from_utf8(payload.to_vec()).map_err(|_| Failure::garbled())
}

/// What nobody else has said, nor can guess.
fn nonce() -> Result<String, Failure> {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let mut bytes = [0; 24];
    let random = ring::default_provider().secure_random;
    random
        .fill(&mut bytes)
        .map_err(|_| denied("this machine has no random numbers to log in with"))?;
    Ok(BASE64_STANDARD.encode(bytes))
}

/// A number that no other session has.
fn session_number() -> [u8; 16] {
    let mut number = [0; 16];
    for half in number.chunks_exact_mut(8) {
        let word = u64::from_str_radix(&unique::word(), 16).unwrap_or_default();
        half.copy_from_slice(&word.to_le_bytes());
    }
    // A random UUID says so (RFC 9562, section 5.4).
    number[6] = number[6] & 0x0f | 0x40;
    number[8] = number[8] & 0x3f | 0x80;
    number
}

fn session_of(number: &[u8; 16]) -> Document {
    /// Of a binary that is a UUID.
    const UUID: u8 = 4;
    let mut value = Vec::with_capacity(21);
    crate::bson::put_binary(number, &mut value);
    value[4] = UUID;
    Document::new().element("id", kind::BINARY, &value)
}
