//! A proxy that reads PostgreSQL's messages on their way (https://www.postgresql.org/docs/current/protocol-message-formats.html).

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::proxy::{self, Fate};

/// What the proxy does besides passing messages on.
pub(super) enum Trick {
    Nothing,
    /// After so many bytes of the clients all connections end.
    CutAfter(u64),
    /// The same, and no other is made.
    CutForGoodAfter(u64),
    /// Something happens at the first message that has these words in it, and comes after one that has the others.
    At {
        after: &'static str,
        words: &'static str,
        act: Act,
    },
}

pub(super) enum Act {
    /// The server never hears it.
    Cut,
    /// The server hears it, but nobody its answer.
    Swallow,
    /// The same, and then nobody gets through to the server.
    SwallowForGood,
    /// The server doesn't hear it, and this is the answer.
    Say(Vec<u8>),
    /// And then it hangs up.
    SayAndCut(Vec<u8>),
    /// This is said for as long as anybody listens.
    Repeat(Vec<u8>),
}

pub(super) type Proxy = proxy::Proxy<Tricks>;

pub(super) struct Tricks {
    trick: Trick,
    /// Whether the message that has to come before has come.
    is_armed: AtomicBool,
    has_happened: AtomicBool,
    swallows: AtomicBool,
}

impl From<Trick> for Tricks {
    fn from(trick: Trick) -> Self {
        let not_yet = || AtomicBool::new(false);
        Self { trick, is_armed: not_yet(), has_happened: not_yet(), swallows: not_yet() }
    }
}

impl Tricks {
    pub(super) fn has_happened(&self) -> bool {
        self.has_happened.load(Relaxed)
    }

    fn act(&self, message: Vec<u8>, act: &Act, client: &mut TcpStream) -> io::Result<Fate> {
        Ok(match act {
            Act::Cut => Fate::Cut,
            Act::Swallow | Act::SwallowForGood => {
                self.swallows.store(true, Relaxed);
                Fate::Passed(message)
            }
            Act::Say(answer) => {
                client.write_all(answer)?;
                Fate::Passed(Vec::new())
            }
            Act::SayAndCut(answer) => {
                client.write_all(answer)?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Act::Repeat(answer) => {
                let answer = answer.repeat(1 + (16 << 10) / answer.len());
                loop {
                    client.write_all(&answer)?;
                }
            }
        })
    }
}

impl proxy::Tricks for Tricks {
    fn of_client(&self, client: &mut TcpStream) -> io::Result<Vec<u8>> {
        message(client)
    }

    fn cut_after(&self) -> Option<(u64, Fate)> {
        match self.trick {
            Trick::CutAfter(most) => Some((most, Fate::Cut)),
            Trick::CutForGoodAfter(most) => Some((most, Fate::CutForGood)),
            _ => None,
        }
    }

    fn for_server(&self, message: Vec<u8>, client: &mut TcpStream) -> io::Result<Fate> {
        let Trick::At { after, words, act } = &self.trick else {
            return Ok(Fate::Passed(message));
        };
        let has = |words: &str| String::from_utf8_lossy(&message).contains(words);
        if has(words) && (after.is_empty() || self.is_armed.load(Relaxed)) {
            if !self.has_happened.swap(true, Relaxed) {
                return self.act(message, act, client);
            }
        } else if has(after) {
            self.is_armed.store(true, Relaxed);
        }
        Ok(Fate::Passed(message))
    }

    fn for_client(&self, said: Vec<u8>) -> Fate {
        match &self.trick {
            Trick::At { act: Act::SwallowForGood, .. } if self.swallows.load(Relaxed) => {
                Fate::CutForGood
            }
            Trick::At { .. } if self.swallows.swap(false, Relaxed) => Fate::Cut,
            _ => Fate::Passed(said),
        }
    }
}

/// What a client says: the kind, the length and what is in it. The first messages of a connection have no kind, and are so short
/// that their length begins with zero.
fn message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut message = vec![0; 4];
    stream.read_exact(&mut message)?;
    if message[0] != 0 {
        message.push(0);
        stream.read_exact(&mut message[4..])?;
    }
    let head = message.len();
    let length: [u8; 4] = message[head - 4..].try_into().unwrap();
    message.resize(head - 4 + u32::from_be_bytes(length) as usize, 0);
    stream.read_exact(&mut message[head..])?;
    Ok(message)
}

/// A message of the server.
pub(super) fn said(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}
