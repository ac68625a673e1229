//! The socket under the driver.
//!
//! The driver (`tiberius`) wants an asynchronous stream, and leaves it to us which. Ours blocks in each call, as everything here does:
//! its calls look at the user's wish to stop while they wait ([`Channel`]), so no runtime is needed around the driver.
//!
//! Encryption is ours as well, for the driver's own would bring a second crypto library. The protocol settles it in the first message
//! each way, PRELOGIN, and wraps the handshake into messages of that type
//! (<https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-tds/60f56408-0188-4cd5-8b90-25c6f2423868>):
//!
//! ```text
//! driver         link                                 server
//! PRELOGIN  -->  sets what we want of encryption  -->
//!                                                 <-- PRELOGIN, with what it wants
//!                TLS handshake, wrapped          <-->
//!           <--  its PRELOGIN
//! LOGIN7    -->  encrypted from here on           -->
//! ```

use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::io::{AsyncRead, AsyncWrite};

use inrush_net::channel::{Broken, Channel, Duplex, Tls};
use inrush_net::{Lost, LostKind};

/// What the option ENCRYPTION of PRELOGIN says.
const ENCRYPT_ON: u8 = 1;
const ENCRYPT_NOT_SUP: u8 = 2;
const ENCRYPT_REQ: u8 = 3;

/// What a packet begins with: type, whether it is the message's last, length, and what doesn't matter here.
const HEADER: usize = 8;
const PRELOGIN: u8 = 0x12;
const LAST: u8 = 1;

/// The connection, for the driver and for who watches over it.
pub(super) struct Line<'a> {
    state: Mutex<State<'a>>,
}

struct State<'a> {
    /// `None` once it is lost.
    channel: Option<Channel<'a>>,
    /// Why.
    broken: Option<Broken>,
}

impl<'a> Line<'a> {
    pub(super) fn over(channel: Channel<'a>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { channel: Some(channel), broken: None }) })
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the connection, if there still is one.
    pub(super) fn with(&self, work: impl FnOnce(&mut Channel<'a>)) {
        if let Some(channel) = &mut self.state().channel {
            work(channel);
        }
    }

    /// Why the connection was lost, told once.
    pub(super) fn broken(&self) -> Option<Broken> {
        self.state().broken.take()
    }

    /// Runs a call; what goes wrong is kept, for the driver would make a text of it.
    fn call<T>(&self, work: impl FnOnce(&mut Channel<'a>) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        let Some(channel) = &mut state.channel else {
            return Err(ErrorKind::NotConnected.into());
        };
        work(channel).map_err(|error| state.lose(error.into()))
    }

    fn encrypt(&self, tls: &Tls, host: &str) -> io::Result<()> {
        let mut state = self.state();
        let Some(channel) = state.channel.take() else {
            return Err(ErrorKind::NotConnected.into());
        };
        let encrypted = channel.encrypt_by(tls, host, |tls, socket| {
            let mut wrapped = Wrapped::over(socket);
            while tls.is_handshaking() {
                tls.complete_io(&mut wrapped)?;
            }
            wrapped.flush()
        });
        match encrypted {
            Ok(channel) => state.channel = Some(channel),
            Err(broken) => return Err(state.lose(broken)),
        }
        Ok(())
    }

    fn lose(&self, kind: LostKind, why: &str) -> io::Error {
        self.state().lose(Broken::Lost(Lost::new(kind, why)))
    }
}

impl State<'_> {
    fn lose(&mut self, broken: Broken) -> io::Error {
        self.channel = None;
        self.broken.get_or_insert(broken);
        ErrorKind::BrokenPipe.into()
    }
}

/// A handshake's bytes in packets.
pub(super) struct Wrapped<'s> {
    socket: &'s mut dyn Duplex,
    /// What is still to be sent.
    out: Vec<u8>,
    /// Bytes of the packet that is being read.
    left: usize,
}

impl<'s> Wrapped<'s> {
    pub(super) fn over(socket: &'s mut dyn Duplex) -> Self {
        Self { socket, out: Vec::new(), left: 0 }
    }
}

impl Read for Wrapped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.flush()?;
        while self.left == 0 {
            let mut header = [0; HEADER];
            self.socket.read_exact(&mut header)?;
            self.left = usize::from(u16::from_be_bytes([header[2], header[3]]))
                .checked_sub(HEADER)
                .filter(|_| header[0] == PRELOGIN)
                .ok_or_else(|| {
                    Lost::new(LostKind::Protocol, "the server's handshake makes no sense")
                })?;
        }
        let most = buffer.len().min(self.left);
        let read = self.socket.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

impl Write for Wrapped<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.out.extend_from_slice(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        /// Whatever the packets' size will be, the server takes this one.
        const BYTES_MAX: usize = 4096 - HEADER;
        let pieces = self.out.chunks(BYTES_MAX);
        let last = pieces.len();
        for (index, piece) in pieces.enumerate() {
            let [high, low] = ((piece.len() + HEADER) as u16).to_be_bytes();
            let status = if index + 1 == last { LAST } else { 0 };
            self.socket.write_all(&[PRELOGIN, status, high, low, 0, 0, 0, 0])?;
            self.socket.write_all(piece)?;
        }
        self.out.clear();
        self.socket.flush()
    }
}

/// The stream that the driver reads and writes.
pub(super) struct Link<'a> {
    line: Arc<Line<'a>>,
    /// What encrypts, and the name that the server has to prove.
    tls: Option<(Tls, String)>,
    /// What the driver has sent of its first message; `None` when that is through.
    opening: Option<Vec<u8>>,
    /// What the driver hasn't read yet of the server's answer to it, the last byte first.
    answer: Vec<u8>,
}

impl<'a> Link<'a> {
    pub(super) fn new(line: &Arc<Line<'a>>, tls: Option<(Tls, String)>) -> Self {
        Self { line: Arc::clone(line), tls, opening: Some(Vec::new()), answer: Vec::new() }
    }

    /// Exchanges the first message, and encrypts what follows it.
    fn open(&mut self, mut message: Vec<u8>) -> io::Result<()> {
        let garbled = || self.line.lose(LostKind::Protocol, "the server's answer makes no sense");
        let wanted = if self.tls.is_some() { ENCRYPT_ON } else { ENCRYPT_NOT_SUP };
        let at = encryption(&message).ok_or_else(garbled)?;
        message[at] = wanted;
        let mut answer = self.line.call(|channel| {
            channel.write_all(&message)?;
            channel.flush()?;
            let mut header = [0; HEADER];
            channel.read_exact(&mut header)?;
            let length = usize::from(u16::from_be_bytes([header[2], header[3]])).max(HEADER);
            let mut answer = header.to_vec();
            answer.resize(length, 0);
            channel.read_exact(&mut answer[HEADER..])?;
            Ok(answer)
        })?;
        let at = encryption(&answer).ok_or_else(garbled)?;
        match (&self.tls, answer[at]) {
            (None, ENCRYPT_ON | ENCRYPT_REQ) => {
                let why = "the server wants the connection to be encrypted";
                return Err(self.line.lose(LostKind::WantsTls, why));
            }
            (Some((tls, host)), ENCRYPT_ON | ENCRYPT_REQ) => self.line.encrypt(tls, host)?,
            (Some(_), _) => {
                return Err(self.line.lose(LostKind::NoTls, "the server does not encrypt"));
            }
            (None, _) => {}
        }
        // To the driver there is no encryption.
        answer[at] = ENCRYPT_NOT_SUP;
        answer.reverse();
        self.answer = answer;
        Ok(())
    }
}

/// Where a PRELOGIN message has its option ENCRYPTION. Before the options' values stand their kinds, places and lengths.
fn encryption(message: &[u8]) -> Option<usize> {
    const ENCRYPTION: u8 = 1;
    const END: u8 = 0xff;
    let body = message.get(HEADER..)?;
    let option = body
        .chunks_exact(5)
        .take_while(|option| option[0] != END)
        .find(|option| option[0] == ENCRYPTION)?;
    let at = usize::from(u16::from_be_bytes([option[1], option[2]]));
    (at < body.len()).then_some(HEADER + at)
}

impl AsyncRead for Link<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let link = self.get_mut();
        if !link.answer.is_empty() {
            let most = buffer.len().min(link.answer.len());
            let rest = link.answer.len() - most;
            for (to, from) in buffer.iter_mut().zip(link.answer.drain(rest..).rev()) {
                *to = from;
            }
            return Poll::Ready(Ok(most));
        }
        Poll::Ready(match link.line.call(|channel| channel.read(buffer)) {
            Ok(0) if !buffer.is_empty() => {
                Err(link.line.lose(LostKind::Closed, "the server closed it"))
            }
            read => read,
        })
    }
}

impl AsyncWrite for Link<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let link = self.get_mut();
        let Some(mut message) = link.opening.take() else {
            return Poll::Ready(link.line.call(|channel| channel.write(buffer)));
        };
        message.extend_from_slice(buffer);
        let length = message.get(2..4).map(|at| usize::from(u16::from_be_bytes([at[0], at[1]])));
        if length.is_none_or(|length| message.len() < length) {
            link.opening = Some(message);
            return Poll::Ready(Ok(buffer.len()));
        }
        Poll::Ready(link.open(message).map(|()| buffer.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.line.call(Channel::flush))
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

/// Runs what the driver does over a [`Link`], which never has it wait.
pub(super) fn run<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(outcome) = work.as_mut().poll(&mut context) {
            return outcome;
        }
        // Nothing here does so; if something did, it would be asked again.
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_is_found_in_a_first_message() {
        // VERSION at 11, 6 bytes; ENCRYPTION at 17, 1 byte.
        let mut message = vec![PRELOGIN, LAST, 0, 26, 0, 0, 0, 0];
        message.extend_from_slice(&[0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(encryption(&message), Some(25));
        assert_eq!(message[25], 7);
        message[15] = 200;
        assert_eq!(encryption(&message), None);
        assert_eq!(encryption(&message[..HEADER]), None);
    }

    #[test]
    fn a_handshake_goes_in_packets() {
        let mut socket = io::Cursor::new(Vec::new());
        let mut wrapped = Wrapped::over(&mut socket);
        wrapped.write_all(&[7; 5000]).unwrap();
        wrapped.flush().unwrap();
        let sent = socket.get_ref();
        assert_eq!(sent.len(), 5000 + 2 * HEADER);
        assert_eq!(sent[..4], [PRELOGIN, 0, 16, 0]);
        assert_eq!(sent[4096..4100], [PRELOGIN, LAST, 3, 0x98]);
        socket.set_position(0);
        let mut wrapped = Wrapped::over(&mut socket);
        let mut back = vec![0; 5000];
        wrapped.read_exact(&mut back).unwrap();
        assert!(back.iter().all(|byte| *byte == 7));
    }
}
