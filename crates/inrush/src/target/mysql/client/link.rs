//! The way to the server: a socket, perhaps encrypted, packets on it, and a watch over calls that wait.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use flate2::Compression;
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::codec::error::PacketCodecError;
use rustls::{ClientConnection, StreamOwned};
use socket2::{SockRef, TcpKeepalive};

use super::Client;
use crate::target::mysql::connect::{Address, Place};
use crate::target::mysql::session::Failure;

/// How often a call that waits looks whether the user wants to stop.
const TICK: Duration = Duration::from_millis(50);

/// How long a statement may go on once the server was told to end it.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest that goodbye may take.
const GOODBYE: Duration = Duration::from_millis(500);

/// How often an idle connection is asked whether it is still there, so that a server that vanished without a word is noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// No server takes or sends longer packets
/// (https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_max_allowed_packet).
const PACKET_MAX: usize = 1 << 30;

/// Bytes asked of the socket at once.
const READ_BYTES: usize = 16 << 10;

/// Packets to and from the server.
pub(super) struct Link<'a> {
    way: Way<'a>,
    codec: PacketCodec,
    incoming: BytesMut,
    outgoing: BytesMut,
}

enum Way<'a> {
    Plain(Socket<'a>),
    Encrypted(Box<StreamOwned<ClientConnection, Socket<'a>>>),
}

impl<'a> Link<'a> {
    /// A socket to the server, on which nothing was said.
    pub(super) fn connect(
        place: &Arc<Place>,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Failure> {
        let watch = Watch::new(place, stop);
        let stream = match &place.address {
            Address::Socket(path) => Stream::Unix(UnixStream::connect(path)?),
            Address::Host(host, port) => Stream::Tcp(reach(host, *port, &watch)?),
        };
        stream.prepare()?;
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = PACKET_MAX;
        Ok(Self {
            way: Way::Plain(Socket { stream, watch }),
            codec,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
        })
    }

    /// Encrypts all that follows.
    pub(super) fn encrypt(self, mut tls: ClientConnection) -> Result<Self, Failure> {
        let Way::Plain(mut socket) = self.way else { return Ok(self) };
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        Ok(Self { way: Way::Encrypted(Box::new(StreamOwned::new(tls, socket))), ..self })
    }

    /// Compresses all that follows.
    pub(super) fn compress(&mut self) {
        self.codec.compress(Compression::fast());
    }

    /// Whether nobody on the way can read along.
    pub(super) fn is_private(&self) -> bool {
        match &self.way {
            Way::Encrypted(_) => true,
            Way::Plain(socket) => matches!(socket.stream, Stream::Unix(_)),
        }
    }

    fn watch(&mut self) -> &mut Watch<'a> {
        match &mut self.way {
            Way::Plain(socket) => &mut socket.watch,
            Way::Encrypted(tls) => &mut tls.sock.watch,
        }
    }

    /// The server knows the connection by this number: it can be told to end what it does.
    pub(super) fn logged_in(&mut self, id: u32) {
        self.watch().connection = Some(id);
    }

    pub(super) fn unwatch(&mut self) {
        self.watch().stop = None;
    }

    /// Waits no longer than politeness asks for.
    pub(super) fn be_brief(&mut self) {
        let watch = self.watch();
        watch.stop = None;
        watch.is_leaving = true;
        watch.restart();
    }

    pub(super) fn was_stopped(&self) -> bool {
        match &self.way {
            Way::Plain(socket) => socket.watch.ended.is_some(),
            Way::Encrypted(tls) => tls.sock.watch.ended.is_some(),
        }
    }

    /// Sends a command.
    pub(super) fn command(&mut self, code: u8, rest: impl Buf) -> Result<(), Failure> {
        self.watch().restart();
        self.codec.reset_seq_id();
        self.write(Buf::chain(&[code][..], rest))?;
        self.flush()
    }

    /// Writes one packet.
    pub(super) fn write(&mut self, mut packet: impl Buf) -> Result<(), Failure> {
        self.outgoing.clear();
        self.codec.encode(&mut packet, &mut self.outgoing)?;
        match &mut self.way {
            Way::Plain(socket) => socket.write_all(&self.outgoing)?,
            Way::Encrypted(tls) => tls.write_all(&self.outgoing)?,
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match &mut self.way {
            Way::Plain(socket) => socket.flush()?,
            Way::Encrypted(tls) => tls.flush()?,
        }
        Ok(())
    }

    /// One more result of the same command follows.
    pub(super) fn next_result(&mut self) {
        self.codec.sync_seq_id();
    }

    /// Reads one packet, in place of what is in `packet`.
    pub(super) fn read(&mut self, packet: &mut Vec<u8>) -> Result<(), Failure> {
        packet.clear();
        while !self.codec.decode(&mut self.incoming, packet)? {
            let filled = self.incoming.len();
            self.incoming.resize(filled + READ_BYTES, 0);
            let room = &mut self.incoming[filled..];
            let read = match &mut self.way {
                Way::Plain(socket) => socket.read(room),
                Way::Encrypted(tls) => tls.read(room),
            };
            self.incoming.truncate(filled + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Err(Failure::Lost("the server closed it".to_owned()));
            }
        }
        Ok(())
    }
}

/// Connects to the first address of `host` that answers, while the user may change his mind: neither looking up a name nor
/// connecting can be interrupted, so another thread does both.
fn reach(host: &str, port: u16, watch: &Watch<'_>) -> Result<TcpStream, Failure> {
    let (sender, receiver) = channel();
    let (host, limit) = (host.to_owned(), watch.place.connect_timeout);
    std::thread::spawn(move || {
        let connect = || {
            let mut outcome = Err(io::Error::new(ErrorKind::NotFound, "the name has no address"));
            for address in (host.as_str(), port).to_socket_addrs()? {
                outcome = TcpStream::connect_timeout(&address, limit);
                if outcome.is_ok() {
                    break;
                }
            }
            outcome
        };
        // Nobody may be waiting any more.
        let _ = sender.send(connect());
    });
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(connected) => return Ok(connected?),
            Err(RecvTimeoutError::Timeout) => watch.look_while_connecting()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Lost("the name can't be looked up".to_owned()));
            }
        }
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Has reads and writes return after a tick, and a server that vanished noticed.
    fn prepare(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_nodelay(true)?;
                SockRef::from(stream)
                    .set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
                stream.set_read_timeout(Some(TICK))?;
                stream.set_write_timeout(Some(TICK))
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(Some(TICK))?;
                stream.set_write_timeout(Some(TICK))
            }
        }
    }
}

/// A socket that blocks for as long as its watch allows.
struct Socket<'a> {
    stream: Stream,
    watch: Watch<'a>,
}

impl Socket<'_> {
    /// Does `work` until it is done, the socket fails, or the watch has enough.
    fn patiently<T>(
        &mut self,
        mut work: impl FnMut(&mut Stream) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            self.watch.look()?;
            match work(&mut self.stream) {
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) => {}
                outcome => return outcome,
            }
        }
    }
}

impl Read for Socket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patiently(|stream| match stream {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        })
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.patiently(|stream| match stream {
            Stream::Tcp(stream) => stream.write(buffer),
            Stream::Unix(stream) => stream.write(buffer),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Looks whether a call has waited long enough.
struct Watch<'a> {
    place: Arc<Place>,
    /// `None` while nothing may be ended halfway.
    stop: Option<&'a AtomicBool>,
    /// The connection's number, as soon as the server has told it.
    connection: Option<u32>,
    /// When the command was sent, and how long it may take.
    began: Instant,
    limit: Option<Duration>,
    looked: Instant,
    /// When the server was told to end the command.
    ended: Option<Instant>,
    /// Only goodbye is left to say.
    is_leaving: bool,
}

impl<'a> Watch<'a> {
    fn new(place: &Arc<Place>, stop: Option<&'a AtomicBool>) -> Self {
        let now = Instant::now();
        let limit = Some(place.connect_timeout);
        Self {
            place: Arc::clone(place),
            stop,
            connection: None,
            began: now,
            limit,
            looked: now,
            ended: None,
            is_leaving: false,
        }
    }

    /// A command begins.
    fn restart(&mut self) {
        self.limit = match self.connection {
            _ if self.is_leaving => Some(GOODBYE),
            Some(_) => self.place.read_timeout,
            None => Some(self.place.connect_timeout),
        };
        self.began = Instant::now();
        self.ended = None;
    }

    fn is_asked_to_stop(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Relaxed))
    }

    fn look_while_connecting(&self) -> Result<(), Impatience> {
        match self.limit {
            _ if self.is_asked_to_stop() => Err(Impatience::Stopped),
            Some(limit) if self.began.elapsed() > limit => Err(Impatience::NoAnswer(limit)),
            _ => Ok(()),
        }
    }

    fn look(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if now - self.looked < TICK {
            return Ok(());
        }
        self.looked = now;
        let Some(connection) = self.connection else {
            return Ok(self.look_while_connecting()?);
        };
        if let Some(limit) = self.limit.filter(|limit| self.began.elapsed() > *limit) {
            return Err(Impatience::NoAnswer(limit).into());
        }
        match self.ended {
            None if self.is_asked_to_stop() => {
                self.ended = Some(now);
                end_statement(&self.place, connection);
            }
            Some(since) if since.elapsed() > END_TIMEOUT => return Err(Impatience::NoEnd.into()),
            _ => {}
        }
        Ok(())
    }
}

/// Tells the server, over a connection of its own, to end the statement that connection `id` runs. What can't be ended is waited
/// for, for a while.
fn end_statement(place: &Arc<Place>, id: u32) {
    if let Ok(mut other) = Client::connect(place, None) {
        let _ = other.query(format!("KILL QUERY {id}").as_bytes());
        other.quit();
    }
}

/// Why a call was given up.
#[derive(Debug)]
enum Impatience {
    Stopped,
    NoAnswer(Duration),
    NoEnd,
}

impl std::fmt::Display for Impatience {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stopped => write!(f, "stopped"),
            Self::NoAnswer(limit) => write!(f, "no answer within {} s", limit.as_secs()),
            Self::NoEnd => write!(f, "the server does not end it"),
        }
    }
}

impl std::error::Error for Impatience {}

impl From<Impatience> for io::Error {
    fn from(impatience: Impatience) -> Self {
        io::Error::other(impatience)
    }
}

impl From<Impatience> for Failure {
    fn from(impatience: Impatience) -> Self {
        match impatience {
            Impatience::Stopped => Failure::Stopped,
            other => Failure::Lost(other.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref();
        if inner.is_some_and(|inner| matches!(inner.downcast_ref(), Some(Impatience::Stopped))) {
            return Failure::Stopped;
        }
        match error.kind() {
            ErrorKind::UnexpectedEof => Failure::Lost("the server closed it".to_owned()),
            _ if inner.is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>) => {
                Failure::Lost(format!("TLS: {error}"))
            }
            _ => Failure::Lost(error.to_string()),
        }
    }
}

impl From<PacketCodecError> for Failure {
    fn from(error: PacketCodecError) -> Self {
        match error {
            PacketCodecError::Io(error) => error.into(),
            other => Failure::Lost(format!("the server's packets make no sense ({other})")),
        }
    }
}
