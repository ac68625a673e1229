//! Messages to and from the server
//! (<https://www.postgresql.org/docs/current/protocol-message-formats.html>).

use std::io::{self, Read, Write};
use std::sync::atomic::AtomicBool;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{ErrorFields, ErrorResponseBody, Header, Message};

use crate::session::{Failure, Refusal, refused};
use inrush_net::LostKind;
use inrush_net::channel::{Address, Channel, Patience, Tls};

/// No server sends longer messages: none allocates more for one
/// (<https://www.postgresql.org/docs/current/limits.html>, a field has 1 GB at most).
const MESSAGE_MAX: usize = (1 << 30) + (1 << 20);

/// The same for one that nobody knows yet.
const GREETING_MAX: usize = 64 << 10;

/// Bytes asked of the socket at once.
const READ_BYTES: usize = 16 << 10;

/// A channel with messages on it.
pub(super) struct Link<'a> {
    pub(super) channel: Channel<'a>,
    incoming: BytesMut,
    /// Messages that go out with the next flush.
    pub(super) outgoing: BytesMut,
    /// Longer messages make no sense.
    message_max: usize,
    /// The first warning since it was taken last.
    pub(super) warning: Option<String>,
}

impl<'a> Link<'a> {
    /// A socket to the server, on which nothing was said.
    pub(super) fn connect(
        address: &Address,
        patience: Patience,
        stop: Option<&'a AtomicBool>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            channel: Channel::connect(address, patience, stop)?,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            message_max: GREETING_MAX,
            warning: None,
        })
    }

    /// The server has let us in: what it says may be long from now on.
    pub(super) fn logged_in(&mut self, end: impl Fn() + Send + 'static) {
        self.message_max = MESSAGE_MAX;
        self.channel.logged_in(end);
    }

    /// The same for whoever uses it next.
    pub(super) fn watched_by<'b>(self, stop: Option<&'b AtomicBool>) -> Link<'b> {
        Link {
            channel: self.channel.watched_by(stop),
            incoming: self.incoming,
            outgoing: self.outgoing,
            message_max: self.message_max,
            warning: None,
        }
    }

    /// Whether nothing is on the way from the server.
    pub(super) fn is_quiet(&self) -> bool {
        self.incoming.is_empty() && self.channel.is_quiet()
    }

    /// Encrypts all that follows.
    pub(super) fn encrypt(self, tls: &Tls, host: &str) -> Result<Self, Failure> {
        // What came before was said by anybody, and must not be taken for what the server says in secret.
        if !self.incoming.is_empty() {
            return Err(Failure::garbled());
        }
        Ok(Self { channel: self.channel.encrypt(tls, host)?, ..self })
    }

    /// Sends what was put into `outgoing`.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.channel.write_all(&self.outgoing).map_err(failed)?;
        self.outgoing.clear();
        self.channel.flush().map_err(failed)
    }

    /// Sends what was put into `outgoing`, and `bytes` behind it.
    pub(super) fn flush_with(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.channel.write_all(&self.outgoing).map_err(failed)?;
        self.outgoing.clear();
        self.channel.write_all(bytes).map_err(failed)
    }

    /// Reads one byte that is no message: the answer to the wish to encrypt.
    pub(super) fn read_byte(&mut self) -> Result<u8, Failure> {
        let mut byte = [0];
        self.channel.read_exact(&mut byte).map_err(failed)?;
        Ok(byte[0])
    }

    /// Reads one message. Of notices, which nobody waits for, a warning is kept.
    pub(super) fn read(&mut self) -> Result<Message, Failure> {
        loop {
            if let Some(header) = Header::parse(&self.incoming).map_err(failed)? {
                let bytes = header.len() as usize + 1;
                if bytes > self.message_max {
                    return Err(Failure::garbled());
                }
                // Memory grows with what has come, not with what was announced.
                if self.incoming.len() >= bytes {
                    match Message::parse(&mut self.incoming).map_err(failed)? {
                        Some(Message::NoticeResponse(body)) => {
                            if self.warning.is_none() {
                                self.warning = warning(body.fields());
                            }
                        }
                        Some(Message::NotificationResponse(_)) => {}
                        Some(message) => return Ok(message),
                        None => return Err(Failure::garbled()),
                    }
                    continue;
                }
            }
            let filled = self.incoming.len();
            self.incoming.resize(filled + READ_BYTES, 0);
            let read = self.channel.read(&mut self.incoming[filled..]);
            self.incoming.truncate(filled + *read.as_ref().unwrap_or(&0));
            if read.map_err(failed)? == 0 {
                return Err(Failure::lost(LostKind::Closed, "the server closed it"));
            }
        }
    }

    /// A server that hangs up while it is spoken to has said why, if there is a why.
    pub(super) fn reason(&mut self, failure: Failure) -> Failure {
        if matches!(failure, Failure::Lost(_)) {
            self.channel.be_brief();
            loop {
                match self.read() {
                    Ok(Message::ErrorResponse(body)) => return refusal(&body),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        }
        failure
    }
}

/// What a notice says that is a warning.
fn warning(fields: ErrorFields<'_>) -> Option<String> {
    let (mut warns, mut message, mut detail) = (false, None, None);
    for field in fields.iterator().map_while(Result::ok) {
        let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'V' => warns = text == "WARNING",
            b'M' => message = Some(text),
            b'D' => detail = Some(text),
            _ => {}
        }
    }
    let message = message.filter(|_| warns)?;
    Some(match detail {
        Some(detail) => format!("{message}: {}", detail.trim_end_matches('.')),
        None => message,
    })
}

/// The server's no (<https://www.postgresql.org/docs/current/protocol-error-fields.html>).
pub(super) fn refusal(body: &ErrorResponseBody) -> Failure {
    let mut refusal = Refusal::default();
    for field in body.fields().iterator().map_while(Result::ok) {
        let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            // The severity in English, whatever the server speaks.
            b'V' => refusal.is_fatal = matches!(text.as_str(), "FATAL" | "PANIC"),
            b'C' => refusal.state = text,
            b'M' => refusal.message = text,
            b'D' => refusal.detail = Some(text),
            b'H' => refusal.hint = Some(text),
            b'W' => refusal.context = Some(text),
            b'c' => refusal.column = Some(text),
            b'n' => refusal.constraint = Some(text),
            b'R' => refusal.routine = text,
            _ => {}
        }
    }
    refused(refusal)
}

/// What an error of the channel or of the library is: the library says by such an error that it makes nothing of a message.
pub(super) fn failed(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            let why = format!("the server's messages make no sense ({error})");
            Failure::lost(LostKind::Protocol, why)
        }
        _ => error.into(),
    }
}
