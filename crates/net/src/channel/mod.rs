//! The way to a server: a socket, perhaps encrypted, and a watch over calls that wait.
//!
//! Calls block. While they wait they look every [`TICK`] whether the user wants to stop, and whether the server takes longer than it
//! may. Where it can be told to end a command (over a connection of its own), it is, and what it says then is still read.

#[cfg(test)]
mod tests;
mod tls;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};
use socket2::{SockRef, TcpKeepalive};

use crate::failure::{Lost, LostKind};
use inrush_core::target::NOTED_AFTER;

pub use tls::{Believe, Tls};

/// How often a call that waits looks whether the user wants to stop.
pub const TICK: Duration = Duration::from_millis(50);

/// How long a command may go on once the server was told to end it.
pub const END_TIMEOUT: Duration = Duration::from_secs(10);

/// How long what must not be stopped halfway is waited for once the user wants to stop: a server that can't be heard any more would be
/// waited for for ever. Without an answer the server undoes what was not committed, as after any connection that is lost.
const LAST_WORD: Duration = Duration::from_secs(120);

/// How often it is told again: the first time the command may not have arrived yet.
const END_AGAIN: Duration = Duration::from_secs(1);

/// The longest that goodbye may take.
const GOODBYE: Duration = Duration::from_millis(500);

/// How often an idle connection is asked whether it is still there, so that a server that vanished without a word is noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host and a port, by TCP.
    Host(String, u16),
    /// The path of a Unix socket.
    Socket(String),
}

impl Address {
    /// Whether the server runs on this machine, as far as the way there tells.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Host(host, _) => matches!(host.as_str(), "localhost" | "127.0.0.1" | "::1"),
            Address::Socket(_) => true,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Host(host, port) => write!(f, "{host}:{port}"),
            Address::Socket(path) => f.write_str(path),
        }
    }
}

/// How long a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// To answer at all, and to let us in.
    pub connect: Duration,
    /// For one answer; `None` for as long as it likes.
    pub answer: Option<Duration>,
}

/// What bytes go both ways over.
pub trait Duplex: Read + Write {}

impl<T: Read + Write> Duplex for T {}

/// Bytes to and from a server.
pub struct Channel<'a> {
    way: Way<'a>,
}

enum Way<'a> {
    Plain(Socket<'a>),
    Encrypted(Box<StreamOwned<ClientConnection, Socket<'a>>>),
}

impl<'a> Channel<'a> {
    /// A socket to the server, on which nothing was said.
    ///
    /// # Errors
    /// When nobody answers in time, or the user does not want to wait.
    pub fn connect(
        address: &Address,
        patience: Patience,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Broken> {
        let watch = Watch::new(patience, stop);
        let stream = match address {
            Address::Socket(path) => Stream::Unix(UnixStream::connect(path)?),
            Address::Host(host, port) => Stream::Tcp(reach(host, *port, &watch)?),
        };
        stream.prepare()?;
        Ok(Self { way: Way::Plain(Socket { stream, watch, heard: VecDeque::new() }) })
    }

    /// Encrypts all that follows.
    ///
    /// # Errors
    /// When the server isn't whom it has to be.
    pub fn encrypt(self, tls: &Tls, host: &str) -> Result<Self, Broken> {
        self.encrypt_by(tls, host, |tls, mut socket| {
            while tls.is_handshaking() {
                tls.complete_io(&mut socket)?;
            }
            Ok(())
        })
    }

    /// The same where `shake` leads the handshake: for protocols that put it into messages of their own.
    ///
    /// # Errors
    /// As for [`Channel::encrypt`], and when `shake` fails.
    pub fn encrypt_by(
        self,
        tls: &Tls,
        host: &str,
        shake: impl FnOnce(&mut ClientConnection, &mut dyn Duplex) -> io::Result<()>,
    ) -> Result<Self, Broken> {
        let Way::Plain(mut socket) = self.way else { return Ok(self) };
        let mut tls = tls.client(host)?;
        shake(&mut tls, &mut socket)?;
        Ok(Self { way: Way::Encrypted(Box::new(StreamOwned::new(tls, socket))) })
    }

    /// Whether nobody on the way can read along.
    pub fn is_private(&self) -> bool {
        matches!(self.way, Way::Encrypted(_)) || matches!(self.socket().stream, Stream::Unix(_))
    }

    /// Whether the other end is on this machine.
    pub fn is_local(&self) -> bool {
        match &self.socket().stream {
            Stream::Unix(_) => true,
            Stream::Tcp(stream) => stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()),
        }
    }

    /// The certificate that the server proved to have, in DER.
    pub fn certificate(&self) -> Option<Vec<u8>> {
        match &self.way {
            Way::Plain(_) => None,
            Way::Encrypted(tls) => Some(tls.conn.peer_certificates()?.first()?.to_vec()),
        }
    }

    /// The same connection for whoever uses it next, who has another way to say stop, or none.
    pub fn watched_by<'b>(self, stop: Option<&'b AtomicBool>) -> Channel<'b> {
        let of = |socket: Socket<'a>| Socket {
            stream: socket.stream,
            watch: Watch { stop, goes_on: false, ..socket.watch },
            heard: socket.heard,
        };
        Channel {
            way: match self.way {
                Way::Plain(socket) => Way::Plain(of(socket)),
                Way::Encrypted(tls) => {
                    let StreamOwned { conn, sock } = *tls;
                    Way::Encrypted(Box::new(StreamOwned::new(conn, of(sock))))
                }
            },
        }
    }

    /// Whether the server, which nobody has asked anything, has said nothing either: what it says then is goodbye.
    pub fn is_quiet(&self) -> bool {
        let socket = self.socket();
        socket.heard.is_empty() && socket.stream.is_quiet()
    }

    fn socket(&self) -> &Socket<'a> {
        match &self.way {
            Way::Plain(socket) => socket,
            Way::Encrypted(tls) => &tls.sock,
        }
    }

    fn watch(&mut self) -> &mut Watch<'a> {
        match &mut self.way {
            Way::Plain(socket) => &mut socket.watch,
            Way::Encrypted(tls) => &mut tls.sock.watch,
        }
    }

    /// The server has let us in; `end` tells it to end the command that it is at.
    pub fn logged_in(&mut self, end: impl Fn() + Send + 'static) {
        self.watch().end = Some(Box::new(end));
        self.watch().is_in = true;
    }

    /// `is_idle` asks the server whether it is through with the command that it is at; it is asked where an answer may be missing
    /// ([`Channel::doubt`]).
    pub fn can_ask(&mut self, is_idle: impl Fn() -> bool + Send + 'static) {
        let is_idle = Box::new(is_idle);
        self.watch().doubt =
            Some(Box::new(Doubt { is_idle, asked: None, wait: DOUBT, was_idle: false }));
    }

    /// `look` asks the server what the command waits for, and notes it for whoever follows the work. It is asked again and again while
    /// nothing goes either way, by a thread of its own: an answer may come meanwhile.
    pub fn can_look(&mut self, look: impl Fn() + Send + Sync + 'static) {
        let look: Arc<dyn Fn() + Send + Sync> = Arc::new(look);
        self.watch().curiosity = Some(Box::new(Curiosity {
            look,
            looks: Arc::default(),
            looked: None,
            wait: NOTED_AFTER,
        }));
    }

    /// The server has let us in, and can't be told to end a command but by hanging up.
    pub fn logged_in_for_good(&mut self) {
        self.watch().is_in = true;
    }

    /// A command begins: its time starts anew.
    pub fn begin(&mut self) {
        self.watch().restart();
    }

    /// The server may be through with the command, and never say so: from here on to the next command it is asked, now and then, while
    /// it says nothing.
    pub fn doubt(&mut self) {
        if let Some(doubt) = &mut self.watch().doubt {
            doubt.begin();
        }
    }

    /// The command is given up: the server is told to end it where it does not answer within a second, and not waited for for ever.
    pub fn give_up(&mut self) {
        let now = Instant::now();
        self.watch().ended = Some((now, now));
    }

    /// From here on a call that waits is not given up when the user wants to stop, unless it waits for long.
    pub fn unwatch(&mut self) {
        self.watch().goes_on = true;
    }

    /// Waits no longer than politeness asks for: only goodbye is left to say.
    pub fn be_brief(&mut self) {
        let watch = self.watch();
        watch.goes_on = true;
        watch.is_leaving = true;
        watch.began = Instant::now();
    }

    /// Whether the server was told to end the last command.
    pub fn was_stopped(&self) -> bool {
        self.socket().watch.ended.is_some()
    }
}

impl Read for Channel<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.way {
            Way::Plain(socket) => socket.read(buffer),
            Way::Encrypted(tls) => tls.read(buffer),
        }
    }
}

impl Write for Channel<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.way {
            Way::Plain(socket) => socket.write(buffer),
            Way::Encrypted(tls) => tls.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Plain(socket) => socket.flush(),
            Way::Encrypted(tls) => tls.flush(),
        }
    }
}

/// Connects to the first address of `host` that answers, while the user may change his mind: neither looking up a name nor
/// connecting can be interrupted, so another thread does both.
fn reach(host: &str, port: u16, watch: &Watch<'_>) -> Result<TcpStream, Broken> {
    let (sender, receiver) = channel();
    let (host, limit) = (host.to_owned(), watch.patience.connect);
    let look = move || {
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
    };
    std::thread::Builder::new().spawn(look)?;
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(connected) => return Ok(connected?),
            Err(RecvTimeoutError::Timeout) => watch.look_without_end()?,
            Err(RecvTimeoutError::Disconnected) => {
                let why = "the name can't be looked up";
                return Err(Broken::Lost(Lost::new(LostKind::Connection, why)));
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
        let socket = match self {
            Stream::Tcp(stream) => {
                let socket = SockRef::from(stream);
                socket.set_tcp_nodelay(true)?;
                socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE))?;
                socket
            }
            Stream::Unix(stream) => SockRef::from(stream),
        };
        socket.set_read_timeout(Some(TICK))?;
        socket.set_write_timeout(Some(TICK))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nonblocking(nonblocking),
            Stream::Unix(stream) => stream.set_nonblocking(nonblocking),
        }
    }

    /// Whether the other end is there and has sent nothing that is not read yet.
    fn is_quiet(&self) -> bool {
        let socket = match self {
            Stream::Tcp(stream) => SockRef::from(stream),
            Stream::Unix(stream) => SockRef::from(stream),
        };
        let mut byte = [MaybeUninit::uninit()];
        let heard = self.set_nonblocking(true).and_then(|()| socket.peek(&mut byte));
        let quiet = heard.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        self.set_nonblocking(false).is_ok() && quiet
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(buffer),
            Stream::Unix(stream) => stream.write(buffer),
        }
    }
}

/// A socket that blocks for as long as its watch allows.
struct Socket<'a> {
    stream: Stream,
    watch: Watch<'a>,
    /// What came while the other end took no more bytes, and isn't read yet.
    heard: VecDeque<u8>,
}

/// The most that is heard while the other end doesn't listen: triggers that say something about every row of a chunk say less.
const HEARD_MAX: usize = 64 << 20;

impl Socket<'_> {
    /// Does `work` until it is done, the socket fails, or the watch has enough.
    fn patiently<T>(
        &mut self,
        mut work: impl FnMut(&mut Stream) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            self.watch.look()?;
            match work(&mut self.stream) {
                Err(error) if is_not_yet(&error) => {}
                outcome => {
                    self.watch.heard();
                    return outcome;
                }
            }
        }
    }

    /// Takes what has come, and waits for nothing: a server that can't say what it has to say takes no more bytes, and would
    /// wait for us for ever.
    fn hear(&mut self) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        let mut buffer = [0; 64 << 10];
        let outcome = loop {
            if self.heard.len() > HEARD_MAX {
                let why = "the server talks, and does not listen";
                break Err(Lost::new(LostKind::Protocol, why).into());
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(read) => self.heard.extend(&buffer[..read]),
                Err(error) if is_not_yet(&error) => break Ok(()),
                // The next call that needs the socket sees it, too.
                Err(_) => break Ok(()),
            }
        };
        self.stream.set_nonblocking(false)?;
        outcome
    }
}

/// Whether it is worth another try.
fn is_not_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Read for Socket<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.heard.is_empty() {
            return self.heard.read(buffer);
        }
        self.patiently(|stream| stream.read(buffer))
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        loop {
            self.watch.look()?;
            match self.stream.write(buffer) {
                Err(error) if is_not_yet(&error) => self.hear()?,
                outcome => {
                    self.watch.moved();
                    return outcome;
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How often a server that says nothing is asked whether it is through, at first.
const DOUBT: Duration = Duration::from_secs(1);

/// The same in the end.
const DOUBT_MAX: Duration = Duration::from_secs(60);

/// An answer that may never come.
struct Doubt {
    /// Asks the server whether it is through with the command.
    is_idle: Box<dyn Fn() -> bool + Send>,
    /// When it was asked, or the doubt began; `None` while there is none.
    asked: Option<Instant>,
    /// How long to wait until it is asked.
    wait: Duration,
    /// Whether it has said that it is through: the answer may have come since then.
    was_idle: bool,
}

impl Doubt {
    fn begin(&mut self) {
        (self.asked, self.wait, self.was_idle) = (Some(Instant::now()), DOUBT, false);
    }

    /// Whether the answer won't come: the server was through with the command when it was asked the last time, and has said nothing since.
    fn is_lost(&mut self, now: Instant) -> bool {
        if self.asked.is_none_or(|asked| now - asked < self.wait) {
            return false;
        }
        let was_idle = std::mem::replace(&mut self.was_idle, (self.is_idle)());
        self.asked = Some(Instant::now());
        self.wait = if self.was_idle { DOUBT } else { (self.wait * 2).min(DOUBT_MAX) };
        was_idle && self.was_idle
    }
}

/// How often a server is asked what a command waits for, in the end.
const CURIOUS_MAX: Duration = Duration::from_secs(60);

/// What a command may wait for.
struct Curiosity {
    /// Asks the server, and notes it.
    look: Arc<dyn Fn() + Send + Sync>,
    /// Whether it is being asked.
    looks: Arc<AtomicBool>,
    /// When it was asked, or it was first seen that nothing moves; `None` while something does.
    looked: Option<Instant>,
    /// How long to wait until it is asked.
    wait: Duration,
}

impl Curiosity {
    /// Looks where it is time to.
    fn look_at(&mut self, now: Instant) {
        let Some(looked) = self.looked else {
            (self.looked, self.wait) = (Some(now), NOTED_AFTER);
            return;
        };
        if now - looked < self.wait || self.looks.swap(true, Relaxed) {
            return;
        }
        (self.looked, self.wait) = (Some(now), (self.wait * 2).min(CURIOUS_MAX));
        let (look, looks) = (Arc::clone(&self.look), Arc::clone(&self.looks));
        // Without a thread nothing is noted, and all else goes on.
        let _ = std::thread::Builder::new().spawn(move || {
            look();
            looks.store(false, Relaxed);
        });
    }
}

/// Looks whether a call has waited long enough.
struct Watch<'a> {
    patience: Patience,
    stop: Option<&'a AtomicBool>,
    /// Whether nothing may be ended halfway.
    goes_on: bool,
    /// How long it may take then, once the user wants to stop.
    last_word: Duration,
    /// Whether the server has let us in.
    is_in: bool,
    /// Tells the server to end the command; `None` where nothing does but hanging up, and as long as it has not let us in.
    end: Option<Box<dyn Fn() + Send>>,
    /// `None` where the server can't be asked whether it is through with a command.
    doubt: Option<Box<Doubt>>,
    /// `None` where the server can't be asked what a command waits for, or nobody wants to know.
    curiosity: Option<Box<Curiosity>>,
    /// When the command was sent.
    began: Instant,
    looked: Instant,
    /// When the server was told to end the command, for the first time and the last.
    ended: Option<(Instant, Instant)>,
    /// Only goodbye is left to say.
    is_leaving: bool,
}

impl<'a> Watch<'a> {
    fn new(patience: Patience, stop: Option<&'a AtomicBool>) -> Self {
        let now = Instant::now();
        Self {
            patience,
            stop,
            goes_on: false,
            last_word: LAST_WORD,
            is_in: false,
            end: None,
            doubt: None,
            curiosity: None,
            began: now,
            looked: now,
            ended: None,
            is_leaving: false,
        }
    }

    /// A command begins.
    fn restart(&mut self) {
        self.began = Instant::now();
        self.ended = None;
        if let Some(doubt) = &mut self.doubt {
            doubt.asked = None;
        }
        self.moved();
    }

    /// Bytes went one way or the other.
    fn moved(&mut self) {
        if let Some(curiosity) = &mut self.curiosity {
            curiosity.looked = None;
        }
    }

    /// The server has said something.
    fn heard(&mut self) {
        self.moved();
        if let Some(doubt) = self.doubt.as_mut().filter(|doubt| doubt.asked.is_some()) {
            doubt.begin();
        }
    }

    /// How long the command may take.
    fn limit(&self) -> Option<Duration> {
        match self.is_in {
            _ if self.is_leaving => Some(GOODBYE),
            true if self.goes_on && self.is_unwanted() => {
                Some(self.patience.answer.map_or(self.last_word, |most| most.min(self.last_word)))
            }
            true => self.patience.answer,
            false => Some(self.patience.connect),
        }
    }

    fn in_time(&self) -> Result<(), Impatience> {
        match self.limit() {
            Some(limit) if self.began.elapsed() > limit => Err(Impatience::NoAnswer(limit)),
            _ => Ok(()),
        }
    }

    /// Whether the user wants to stop.
    fn is_unwanted(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Relaxed))
    }

    fn is_asked_to_stop(&self) -> bool {
        !self.goes_on && self.is_unwanted()
    }

    fn look_without_end(&self) -> Result<(), Impatience> {
        if self.is_asked_to_stop() {
            return Err(Impatience::Stopped);
        }
        self.in_time()
    }

    fn look(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if now - self.looked < TICK {
            return Ok(());
        }
        self.looked = now;
        let Some(end) = &self.end else { return Ok(self.look_without_end()?) };
        self.in_time()?;
        if self.doubt.as_mut().is_some_and(|doubt| doubt.is_lost(now)) {
            return Err(Impatience::NoMore.into());
        }
        if let Some(curiosity) = self.curiosity.as_mut().filter(|_| !self.is_leaving) {
            curiosity.look_at(now);
        }
        match self.ended {
            Some((first, _)) if now - first > END_TIMEOUT => return Err(Impatience::NoEnd.into()),
            Some((_, last)) if now - last < END_AGAIN => {}
            None if !self.is_asked_to_stop() => {}
            ended => {
                end();
                self.ended = Some((ended.map_or(now, |(first, _)| first), Instant::now()));
            }
        }
        Ok(())
    }
}

/// Why a call was given up.
#[derive(Debug)]
enum Impatience {
    Stopped,
    NoAnswer(Duration),
    NoEnd,
    NoMore,
}

impl fmt::Display for Impatience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => write!(f, "stopped"),
            Self::NoAnswer(limit) => write!(f, "no answer within {} s", limit.as_secs()),
            Self::NoEnd => write!(f, "the server does not end it"),
            Self::NoMore => {
                write!(f, "the statement was interrupted, and the server says no more of it")
            }
        }
    }
}

impl std::error::Error for Impatience {}

impl From<Impatience> for io::Error {
    fn from(impatience: Impatience) -> Self {
        io::Error::other(impatience)
    }
}

/// Why there is no talking to the server any more.
#[derive(Debug)]
pub enum Broken {
    /// The user does not want to wait.
    Stopped,
    /// The connection is gone, or never was.
    Lost(Lost),
}

impl From<Impatience> for Broken {
    fn from(impatience: Impatience) -> Self {
        match impatience {
            Impatience::Stopped => Broken::Stopped,
            other => Broken::Lost(Lost::new(LostKind::Connection, other.to_string())),
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref();
        if inner.is_some_and(|inner| matches!(inner.downcast_ref(), Some(Impatience::Stopped))) {
            return Broken::Stopped;
        }
        let by_tls = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        let known = inner.and_then(|inner| inner.downcast_ref::<Lost>());
        Broken::Lost(match (error.kind(), by_tls, known) {
            (ErrorKind::UnexpectedEof, ..) => Lost::new(LostKind::Closed, "the server closed it"),
            (_, Some(error), _) => Lost::by_tls(error),
            (_, _, Some(lost)) => lost.clone(),
            _ => Lost::new(LostKind::Connection, error.to_string()),
        })
    }
}
