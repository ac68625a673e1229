//! A proxy that reads MySQL's packets on their way (https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html).

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::proxy::{self, Fate};

/// What begins a server's request for a file of the client.
const LOCAL_INFILE: u8 = 0xfb;
/// What begins a statement of the client.
const QUERY: u8 = 3;

/// What the proxy does besides passing packets on.
#[derive(Clone)]
pub(super) enum Trick {
    Nothing,
    /// All that the clients say takes so long on its way.
    Slow(Duration),
    /// After so many bytes of the clients all connections end, and no other is made.
    CutAfter(u64),
    /// Where the server asks for the file of LOAD DATA LOCAL, it asks for this one.
    OtherFile(String),
    /// The first statement that has these words in it is answered with a request for a file.
    AskAt {
        words: &'static str,
        file: String,
    },
    /// Where the server says this text, it says the other.
    Instead {
        of: String,
        put: String,
    },
    /// Where the client says these words for the `nth` time, counted from 0, something is done, before the server hears it or when it
    /// has answered; `true` has all connections end.
    At {
        words: &'static str,
        nth: u64,
        is_answered: bool,
        act: Act,
    },
}

/// What is done at a certain time.
pub(super) type Act = Arc<dyn Fn() -> bool + Send + Sync>;

pub(super) type Proxy = proxy::Proxy<Tricks>;

pub(super) struct Tricks {
    trick: Trick,
    /// What the client sent when it was asked for a file that it had not offered; `None` while it was not asked.
    given: Mutex<Option<Vec<u8>>>,
    /// What of the server was changed.
    changed: AtomicU64,
    /// How often the words of [`Trick::At`] were said, and whether often enough; of [`Trick::Slow`] how often a client waited for an answer.
    said: AtomicU64,
    is_met: AtomicBool,
    /// The next answer is that to them.
    is_due: AtomicBool,
}

impl From<Trick> for Tricks {
    fn from(trick: Trick) -> Self {
        Self {
            trick,
            given: Mutex::new(None),
            changed: AtomicU64::new(0),
            said: AtomicU64::new(0),
            is_due: AtomicBool::new(false),
            is_met: AtomicBool::new(false),
        }
    }
}

impl Tricks {
    /// How often the server was made to say something else.
    pub(super) fn changed(&self) -> u64 {
        self.changed.load(Relaxed)
    }

    /// How often clients said something for an answer.
    pub(super) fn asked(&self) -> u64 {
        self.said.load(Relaxed)
    }

    /// Whether the words of [`Trick::At`] were said.
    pub(super) fn is_met(&self) -> bool {
        self.is_met.load(Relaxed)
    }

    /// What a client sent when it was asked for a file at the wrong time.
    pub(super) fn given(&self) -> Option<Vec<u8>> {
        self.given.lock().unwrap().clone()
    }

    /// Asks for a file and takes what comes, up to the empty packet that ends it or the end of the connection.
    fn ask(&self, client: &mut TcpStream, file: &str) -> io::Result<()> {
        *self.given.lock().unwrap() = Some(Vec::new());
        client.write_all(&request(1, file))?;
        loop {
            let packet = packet(client)?;
            if packet.len() == 4 {
                let ok = [0, 0, 0, 2, 0, 0, 0];
                return client.write_all(&with_header(packet[3] + 1, &ok));
            }
            self.given.lock().unwrap().as_mut().unwrap().extend_from_slice(&packet[4..]);
        }
    }
}

impl proxy::Tricks for Tricks {
    fn of_client(&self, client: &mut TcpStream) -> io::Result<Vec<u8>> {
        packet(client)
    }

    fn of_server(&self, server: &mut TcpStream) -> io::Result<Vec<u8>> {
        packet(server)
    }

    fn cut_after(&self) -> Option<(u64, Fate)> {
        match self.trick {
            Trick::CutAfter(most) => Some((most, Fate::CutForGood)),
            _ => None,
        }
    }

    fn for_server(&self, packet: Vec<u8>, client: &mut TcpStream) -> io::Result<Fate> {
        if let Trick::AskAt { words, file } = &self.trick
            && packet.get(4) == Some(&QUERY)
            && String::from_utf8_lossy(&packet).contains(words)
            && self.given().is_none()
        {
            self.ask(client, file)?;
            return Ok(Fate::Passed(Vec::new()));
        }
        if let Trick::Slow(time) = self.trick {
            // The first packet of a command, or what it takes to log in.
            if packet[3] <= 1 {
                self.said.fetch_add(1, Relaxed);
                std::thread::sleep(time);
            }
        }
        if let Trick::At { words, nth, is_answered, act } = &self.trick
            && packet.get(4) == Some(&QUERY)
            && String::from_utf8_lossy(&packet).contains(words)
            && self.said.fetch_add(1, Relaxed) == *nth
        {
            self.is_met.store(true, Relaxed);
            if *is_answered {
                self.is_due.store(true, Relaxed);
            } else if act() {
                return Ok(Fate::Cut);
            }
        }
        Ok(Fate::Passed(packet))
    }

    fn for_client(&self, packet: Vec<u8>) -> Fate {
        // The first packet of an answer, or of a second statement's: a row that begins with NULL comes later.
        if let Trick::OtherFile(file) = &self.trick
            && packet[3] <= 2
            && packet.get(4) == Some(&LOCAL_INFILE)
        {
            self.changed.fetch_add(1, Relaxed);
            return Fate::Passed(request(packet[3], file));
        }
        if let Trick::Instead { of, put } = &self.trick {
            // With the length that every text of a row has before it.
            let [of, put] = [of, put].map(|text| [&[text.len() as u8], text.as_bytes()].concat());
            if let Some(at) = packet.windows(of.len()).position(|bytes| bytes == of) {
                self.changed.fetch_add(1, Relaxed);
                let rest = &packet[at + of.len()..];
                return Fate::Passed(with_header(
                    packet[3],
                    &[&packet[4..at], &put, rest].concat(),
                ));
            }
        }
        if let Trick::At { act, .. } = &self.trick
            && self.is_due.swap(false, Relaxed)
            && act()
        {
            return Fate::Cut;
        }
        Fate::Passed(packet)
    }
}

/// A packet: its header and what is in it. An error at the end of the connection.
fn packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    stream.read_exact(&mut packet)?;
    let length =
        usize::from(packet[0]) | usize::from(packet[1]) << 8 | usize::from(packet[2]) << 16;
    packet.resize(4 + length, 0);
    stream.read_exact(&mut packet[4..])?;
    Ok(packet)
}

fn with_header(number: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[number], payload].concat()
}

fn request(number: u8, file: &str) -> Vec<u8> {
    with_header(number, &[&[LOCAL_INFILE], file.as_bytes()].concat())
}
