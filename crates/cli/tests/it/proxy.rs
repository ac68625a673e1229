//! What stands between the command and a server: it listens, cuts, and lies.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a proxy does besides passing on what both sides say, in terms of their protocol.
pub(crate) trait Tricks: Send + Sync + 'static {
    /// What the client says next, as much as the tricks have to see at once. An error ends the connection.
    fn of_client(&self, client: &mut TcpStream) -> io::Result<Vec<u8>> {
        piece(client)
    }

    /// The same for the server.
    fn of_server(&self, server: &mut TcpStream) -> io::Result<Vec<u8>> {
        piece(server)
    }

    /// After so many bytes of the clients this happens, once.
    fn cut_after(&self) -> Option<(u64, Fate)> {
        None
    }

    /// What becomes of what the client said; the tricks may have answered it.
    fn for_server(&self, said: Vec<u8>, _client: &mut TcpStream) -> io::Result<Fate> {
        Ok(Fate::Passed(said))
    }

    /// What becomes of what the server said.
    fn for_client(&self, said: Vec<u8>) -> Fate {
        Fate::Passed(said)
    }
}

pub(crate) enum Fate {
    /// The other side hears this, which may be nothing.
    Passed(Vec<u8>),
    /// All connections end. Others can be made.
    Cut,
    /// All connections end, and no other is made.
    CutForGood,
}

/// Whatever has come.
fn piece(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; 64 << 10];
    let read = stream.read(&mut piece)?;
    if read == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    piece.truncate(read);
    Ok(piece)
}

pub(crate) struct Proxy<T: Tricks> {
    pub(crate) address: String,
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    server: String,
    tricks: T,
    /// Bytes that clients have sent.
    sent: AtomicU64,
    /// The bytes themselves.
    seen: Mutex<Vec<u8>>,
    was_cut: AtomicBool,
    down: AtomicBool,
    frozen: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    /// Connections that clients have made.
    made: AtomicU64,
}

/// What the tricks have found out.
impl<T: Tricks> Deref for Proxy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.shared.tricks
    }
}

impl<T: Tricks> Proxy<T> {
    /// Stands before the server at this address until it is dropped.
    pub(crate) fn start(server: &str, tricks: impl Into<T>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            tricks: tricks.into(),
            sent: AtomicU64::new(0),
            seen: Mutex::new(Vec::new()),
            was_cut: AtomicBool::new(false),
            down: AtomicBool::new(false),
            frozen: AtomicBool::new(false),
            streams: Mutex::new(Vec::new()),
            made: AtomicU64::new(0),
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

    pub(crate) fn sent(&self) -> u64 {
        self.shared.sent.load(Relaxed)
    }

    /// How many connections clients have made so far.
    pub(crate) fn connections(&self) -> u64 {
        self.shared.made.load(Relaxed)
    }

    /// Whether a client has sent these bytes.
    pub(crate) fn has_seen(&self, bytes: &[u8]) -> bool {
        self.shared.seen.lock().unwrap().windows(bytes.len()).any(|window| window == bytes)
    }

    /// Ends all connections. Others can be made afterwards.
    pub(crate) fn cut(&self) {
        self.shared.cut();
    }

    /// Passes nothing on any more, and tells nobody.
    pub(crate) fn freeze(&self) {
        self.shared.frozen.store(true, Relaxed);
    }
}

impl<T: Tricks> Drop for Proxy<T> {
    fn drop(&mut self) {
        self.shared.down.store(true, Relaxed);
        self.cut();
        // Wakes the listener, which then has nothing more to do before the process ends.
        let _ = TcpStream::connect(&self.address);
    }
}

impl<T: Tricks> Shared<T> {
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

    /// Whether the connection goes on.
    fn follow(&self, fate: Fate, to: &mut TcpStream) -> bool {
        match fate {
            Fate::Passed(bytes) => to.write_all(&bytes).is_ok(),
            Fate::Cut => {
                self.cut();
                false
            }
            Fate::CutForGood => {
                self.down.store(true, Relaxed);
                self.cut();
                false
            }
        }
    }

    fn listen_to_client(&self, mut client: TcpStream, mut server: TcpStream) {
        while let Ok(said) = self.tricks.of_client(&mut client) {
            self.seen.lock().unwrap().extend_from_slice(&said);
            let sent = self.sent.fetch_add(said.len() as u64, Relaxed) + said.len() as u64;
            self.wait_while_frozen();
            if let Some((most, fate)) = self.tricks.cut_after().filter(|(most, _)| sent > *most)
                && !self.was_cut.swap(true, Relaxed)
            {
                let over = (sent - most).min(said.len() as u64) as usize;
                let _ = server.write_all(&said[..said.len() - over]);
                self.follow(fate, &mut server);
                break;
            }
            let Ok(fate) = self.tricks.for_server(said, &mut client) else { break };
            if !self.follow(fate, &mut server) {
                break;
            }
        }
        let _ = server.shutdown(Shutdown::Both);
    }

    fn listen_to_server(&self, mut server: TcpStream, mut client: TcpStream) {
        while let Ok(said) = self.tricks.of_server(&mut server) {
            self.wait_while_frozen();
            let fate = self.tricks.for_client(said);
            if !self.follow(fate, &mut client) {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    }
}

fn connect<T: Tricks>(shared: &Arc<Shared<T>>, client: TcpStream) {
    // Where nobody is there the client sees the connection end, and may come again.
    let Ok(server) = TcpStream::connect(&shared.server) else { return };
    shared.made.fetch_add(1, Relaxed);
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
        shared.streams.lock().unwrap().push(stream.try_clone().unwrap());
    }
    let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let upstream = Arc::clone(shared);
    std::thread::spawn(move || upstream.listen_to_client(client, ends.1));
    let downstream = Arc::clone(shared);
    std::thread::spawn(move || downstream.listen_to_server(server, ends.0));
}
