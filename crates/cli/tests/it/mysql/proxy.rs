//! A proxy that reads MySQL's packets on their way (https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html).

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What begins a server's request for a file of the client.
const LOCAL_INFILE: u8 = 0xfb;
/// What begins a statement of the client.
const QUERY: u8 = 3;

/// What the proxy does besides passing packets on.
#[derive(Clone)]
pub(super) enum Trick {
    Nothing,
    /// After so many bytes of the clients all connections end, and no other is made.
    CutAfter(u64),
    /// Where the server asks for the file of LOAD DATA LOCAL, it asks for this one.
    OtherFile(String),
    /// The first statement that has these words in it is answered with a request for a file.
    AskAt {
        words: &'static str,
        file: String,
    },
}

pub(super) struct Proxy {
    pub(super) address: String,
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    trick: Trick,
    /// Bytes that clients have sent.
    sent: AtomicU64,
    /// The bytes themselves.
    seen: Mutex<Vec<u8>>,
    /// What the client sent when it was asked for a file that it had not offered; `None` while it was not asked.
    given: Mutex<Option<Vec<u8>>>,
    /// Requests for a file that were changed.
    changed: AtomicU64,
    down: AtomicBool,
    frozen: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Stands before the server at this address until it is dropped.
    pub(super) fn start(server: &str, trick: Trick) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            trick,
            sent: AtomicU64::new(0),
            seen: Mutex::new(Vec::new()),
            given: Mutex::new(None),
            changed: AtomicU64::new(0),
            down: AtomicBool::new(false),
            frozen: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { break };
                if accepting.down.load(Relaxed) {
                    // Whoever is connecting sees the connection end.
                    continue;
                }
                connect(&accepting, client);
            }
        });
        Self { address, shared }
    }

    pub(super) fn sent(&self) -> u64 {
        self.shared.sent.load(Relaxed)
    }

    /// How often a server asked for another file.
    pub(super) fn changed(&self) -> u64 {
        self.shared.changed.load(Relaxed)
    }

    /// Whether a client has sent these bytes.
    pub(super) fn has_seen(&self, bytes: &[u8]) -> bool {
        self.shared.seen.lock().unwrap().windows(bytes.len()).any(|window| window == bytes)
    }

    /// What a client sent when it was asked for a file at the wrong time.
    pub(super) fn given(&self) -> Option<Vec<u8>> {
        self.shared.given.lock().unwrap().clone()
    }

    /// Ends all connections. Others can be made afterwards.
    pub(super) fn cut(&self) {
        self.shared.cut();
    }

    /// Passes nothing on any more, and tells nobody.
    pub(super) fn freeze(&self) {
        self.shared.frozen.store(true, Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.down.store(true, Relaxed);
        self.cut();
        // Wakes the listener, which then has nothing more to do before the process ends.
        let _ = TcpStream::connect(&self.address);
    }
}

impl Shared {
    fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn wait_while_frozen(&self) {
        while self.frozen.load(Relaxed) && !self.down.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn connect(shared: &Arc<Shared>, client: TcpStream) {
    let server = TcpStream::connect(&shared.server).unwrap();
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
        shared.streams.lock().unwrap().push(stream.try_clone().unwrap());
    }
    let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let upstream = Arc::clone(shared);
    std::thread::spawn(move || from_client(&upstream, client, ends.1));
    let downstream = Arc::clone(shared);
    std::thread::spawn(move || from_server(&downstream, server, ends.0));
}

/// A packet: its header and what is in it. `None` at the end of the connection.
fn packet(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
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

fn from_client(shared: &Shared, mut client: TcpStream, mut server: TcpStream) {
    while let Ok(packet) = packet(&mut client) {
        shared.seen.lock().unwrap().extend_from_slice(&packet);
        let sent = shared.sent.fetch_add(packet.len() as u64, Relaxed) + packet.len() as u64;
        shared.wait_while_frozen();
        let passed = match &shared.trick {
            Trick::CutAfter(most) if sent > *most => {
                shared.down.store(true, Relaxed);
                let over = (sent - most).min(packet.len() as u64) as usize;
                let passed = server.write_all(&packet[..packet.len() - over]);
                shared.cut();
                passed
            }
            Trick::AskAt { words, file }
                if packet.get(4) == Some(&QUERY)
                    && String::from_utf8_lossy(&packet).contains(words)
                    && shared.given.lock().unwrap().is_none() =>
            {
                ask(shared, &mut client, file)
            }
            _ => server.write_all(&packet),
        };
        if passed.is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

/// Asks for a file and takes what comes, up to the empty packet that ends it or the end of the connection.
fn ask(shared: &Shared, client: &mut TcpStream, file: &str) -> std::io::Result<()> {
    *shared.given.lock().unwrap() = Some(Vec::new());
    client.write_all(&request(1, file))?;
    loop {
        let packet = packet(client)?;
        if packet.len() == 4 {
            let ok = [0, 0, 0, 2, 0, 0, 0];
            return client.write_all(&with_header(packet[3] + 1, &ok));
        }
        shared.given.lock().unwrap().as_mut().unwrap().extend_from_slice(&packet[4..]);
    }
}

fn from_server(shared: &Shared, mut server: TcpStream, mut client: TcpStream) {
    while let Ok(mut packet) = packet(&mut server) {
        shared.wait_while_frozen();
        // The first packet of an answer, or of a second statement's: a row that begins with NULL comes later.
        if let Trick::OtherFile(file) = &shared.trick
            && packet[3] <= 2
            && packet.get(4) == Some(&LOCAL_INFILE)
        {
            packet = request(packet[3], file);
            shared.changed.fetch_add(1, Relaxed);
        }
        if client.write_all(&packet).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
