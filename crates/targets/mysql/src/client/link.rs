//! Packets to and from the server.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::{Buf, BytesMut};
use flate2::Compression;
use mysql_common::io::ParseBuf;
use mysql_common::proto::codec::PacketCodec;
use mysql_common::proto::codec::error::PacketCodecError;

use super::Client;
use crate::connect::Place;
use crate::session::{Failure, refused};
use crate::waits;
use inrush_core::target::Spare;
use inrush_net::LostKind;
use inrush_net::channel::{Channel, Patience, Tls};

/// No server takes or sends longer packets
/// (<https://dev.mysql.com/doc/refman/8.0/en/server-system-variables.html#sysvar_max_allowed_packet>).
const PACKET_MAX: usize = 1 << 30;

/// Bytes asked of the socket at once.
const READ_BYTES: usize = 16 << 10;

/// A channel with packets on it.
pub(super) struct Link<'a> {
    pub(super) channel: Channel<'a>,
    codec: PacketCodec,
    incoming: BytesMut,
    outgoing: BytesMut,
}

impl<'a> Link<'a> {
    /// A socket to the server, on which nothing was said.
    pub(super) fn connect(place: &Place, stop: Option<&'a AtomicBool>) -> Result<Self, Failure> {
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = PACKET_MAX;
        Ok(Self {
            channel: Channel::connect(&place.address, place.patience, stop)?,
            codec,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
        })
    }

    /// The same for whoever uses it next.
    pub(super) fn watched_by<'b>(self, stop: Option<&'b AtomicBool>) -> Link<'b> {
        Link {
            channel: self.channel.watched_by(stop),
            codec: self.codec,
            incoming: self.incoming,
            outgoing: self.outgoing,
        }
    }

    /// Encrypts all that follows.
    pub(super) fn encrypt(self, tls: &Tls, host: &str) -> Result<Self, Failure> {
        // What came before was said by anybody, and must not be taken for what the server says in secret.
        if !self.incoming.is_empty() {
            return Err(Failure::garbled());
        }
        Ok(Self { channel: self.channel.encrypt(tls, host)?, ..self })
    }

    /// Compresses all that follows.
    pub(super) fn compress(&mut self) {
        self.codec.compress(Compression::fast());
    }

    /// The server knows the connection by the number `id`: it can be told to end what it does. What can't be ended is waited for,
    /// for a while.
    pub(super) fn logged_in(&mut self, place: &Arc<Place>, id: u32) {
        // Whoever ends a wait must not wait for ever.
        let patience = Patience { answer: Some(place.patience.connect), ..place.patience };
        // A connection that asks has none that asks for it.
        let spare = place.spare.clone();
        let place = Arc::new(Place { patience, spare: Spare::default(), ..Place::clone(place) });
        let (asked, looked) = (Arc::clone(&place), Arc::clone(&place));
        self.channel.logged_in(move || {
            if let Ok(mut other) = Client::connect(&place, None) {
                let _ = other.query(format!("KILL QUERY {id}").as_bytes());
                other.quit();
            }
        });
        self.channel.can_ask(move || {
            let Ok(mut other) = Client::connect(&asked, None) else { return false };
            // Numbers of a proxy's own are none of the server's.
            let look = format!(
                "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {id} AND INFO IS NULL AND CONNECTION_ID() = {}",
                other.id
            );
            let mut is_idle = false;
            let looked = other.rows(look.as_bytes(), |_| is_idle = true);
            other.quit();
            looked.is_ok() && is_idle
        });
        if spare.is_followed() {
            self.channel.can_look(move || {
                if let Some(waits) = waits::ask(&looked, id) {
                    spare.note(waits);
                }
            });
        }
    }

    /// Sends a command.
    pub(super) fn command(&mut self, code: u8, rest: impl Buf) -> Result<(), Failure> {
        self.channel.begin();
        self.codec.reset_seq_id();
        self.write(Buf::chain(&[code][..], rest))?;
        self.flush()
    }

    /// Writes one packet.
    pub(super) fn write(&mut self, mut packet: impl Buf) -> Result<(), Failure> {
        self.outgoing.clear();
        self.codec.encode(&mut packet, &mut self.outgoing).map_err(unpacked)?;
        Ok(self.channel.write_all(&self.outgoing)?)
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.channel.flush()?)
    }

    /// One more result of the same command follows. It never does where another client kills the query between two statements of it
    /// (MySQL up to 8.0 at least, and MariaDB).
    pub(super) fn next_result(&mut self) {
        self.codec.sync_seq_id();
        self.channel.doubt();
    }

    /// Reads one packet that isn't the server's no, in place of what is in `packet`; it has a first byte.
    pub(super) fn read(&mut self, packet: &mut Vec<u8>) -> Result<(), Failure> {
        self.receive(packet)?;
        match packet.first() {
            Some(0xff) => Err(refusal(packet)),
            Some(_) => Ok(()),
            None => Err(Failure::garbled()),
        }
    }

    /// A server that hangs up while it is spoken to has said why, if there is a why.
    pub(super) fn reason(&mut self, failure: Failure) -> Failure {
        if matches!(failure, Failure::Lost(_)) {
            self.channel.be_brief();
            let mut packet = Vec::new();
            if self.receive(&mut packet).is_ok() && packet.first() == Some(&0xff) {
                return refusal(&packet);
            }
        }
        failure
    }

    fn receive(&mut self, packet: &mut Vec<u8>) -> Result<(), Failure> {
        packet.clear();
        while !self.codec.decode(&mut self.incoming, packet).map_err(unpacked)? {
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

/// The server's no: a number, a SQLSTATE (which is missing as long as nobody has logged in), a message.
fn refusal(packet: &[u8]) -> Failure {
    let mut buffer = ParseBuf(&packet[1..]);
    let Some(code) = buffer.checked_eat_u16_le() else { return Failure::garbled() };
    let (state, message) = match buffer.0 {
        [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
        message => (&[][..], message),
    };
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    refused(code, text(state), text(message))
}

/// What the library makes nothing of.
fn unpacked(error: PacketCodecError) -> Failure {
    match error {
        PacketCodecError::Io(error) => error.into(),
        other => {
            let why = format!("the server's packets make no sense ({other})");
            Failure::lost(LostKind::Protocol, why)
        }
    }
}
