//! A relay that stands for a network: what is sent through it arrives later, and as fast as without it.
//!
//! Every byte is held back for half of the delay in each direction, so that a request and its answer take the delay longer than
//! directly. A connection costs what TCP's handshake costs: its first byte reaches the server after one and a half delays
//! (SYN, SYN-ACK, and the client's first bytes with the ACK), since the system accepts ours at once. Loss, jitter and the growth of
//! TCP's window are not modelled.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most that is on the way in one direction of one connection. It limits the throughput to so many bytes in half of a delay: 1.6
/// GB/s at 10 ms, 160 MB/s at 100 ms.
pub const QUEUE_BYTES_MAX: usize = 8 << 20;

/// What is read at once at most.
const BLOCK_BYTES_MAX: usize = 64 << 10;

/// What a block takes besides its bytes, at most: many small ones must not take more memory than the queue may hold.
const BLOCK_BYTES_EXTRA: usize = 64;

/// How long the relay waits before it accepts again, when that has failed because descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(5);

/// How long a relay that ends tries to reach its own port, which is busy only when hundreds wait to be accepted.
const WAKE_MAX: Duration = Duration::from_secs(1);

/// Where a relay leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

impl From<SocketAddr> for Upstream {
    fn from(address: SocketAddr) -> Self {
        Upstream::Tcp(address)
    }
}

impl From<PathBuf> for Upstream {
    fn from(path: PathBuf) -> Self {
        Upstream::Unix(path)
    }
}

/// A running relay. It ends, with all its connections, when this goes.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl Relay {
    /// Listens on a free port of 127.0.0.1. Each connection there becomes one to `to`; a client whose connection can't be made is
    /// disconnected. `delay` is what a round trip takes longer.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(to: impl Into<Upstream>, delay: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let upstream = to.into();
        let listening = Arc::clone(&shared);
        let listener = thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || listen(&listener, &upstream, delay, &listening))?;
        Ok(Self { address, shared, listener: Some(listener) })
    }

    /// The port of 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        // It waits for a connection, and looks then. When not even this one can be made, it may wait on: better than that we do.
        let is_woken = TcpStream::connect_timeout(&self.address, WAKE_MAX).is_ok();
        for links in lock(&self.shared.links).values() {
            links.close();
        }
        if let Some(listener) = self.listener.take().filter(|_| is_woken) {
            // A panic there has been printed.
            let _ = listener.join();
        }
    }
}

/// What the relay's threads have in common.
#[derive(Debug, Default)]
struct Shared {
    is_ending: AtomicBool,
    /// Of all connections that are open, by number.
    links: Mutex<BTreeMap<u64, Arc<Links>>>,
}

/// Both ends of a connection, and what is on its way between them.
#[derive(Debug)]
struct Links {
    client: Stream,
    /// Once it is connected.
    server: OnceLock<Stream>,
    forth: Queue,
    back: Queue,
}

impl Links {
    /// Ends all reading, writing and waiting.
    fn close(&self) {
        self.forth.close();
        self.back.close();
        self.client.shutdown(Shutdown::Both);
        if let Some(server) = self.server.get() {
            server.shutdown(Shutdown::Both);
        }
    }
}

fn listen(listener: &TcpListener, upstream: &Upstream, delay: Duration, shared: &Arc<Shared>) {
    let mut connections: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        let accepted = listener.accept();
        if shared.is_ending.load(Ordering::SeqCst) {
            break;
        }
        let Ok((client, _)) = accepted else {
            thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        // A bench may make a connection for every request.
        connections.retain(|connection| !connection.is_finished());
        let links = Arc::new(Links {
            client: Stream::Tcp(client),
            server: OnceLock::new(),
            forth: Queue::default(),
            back: Queue::default(),
        });
        lock(&shared.links).insert(number, Arc::clone(&links));
        let (upstream, its) = (upstream.clone(), Arc::clone(shared));
        let connection = thread::Builder::new().name("relay".to_owned()).spawn(move || {
            carry(&links, &upstream, delay, &its);
            lock(&its.links).remove(&number);
        });
        match connection {
            Ok(connection) => connections.push(connection),
            Err(_) => {
                lock(&shared.links).remove(&number);
            }
        }
    }
    // Those that came while the end was being told.
    for links in lock(&shared.links).values() {
        links.close();
    }
    for connection in connections {
        let _ = connection.join();
    }
}

/// One connection, until both directions have ended.
fn carry(links: &Arc<Links>, upstream: &Upstream, delay: Duration, shared: &Shared) {
    let mut threads = Vec::new();
    if start(links, upstream, delay, shared, &mut threads).is_err() {
        // Its client sees a connection that ends.
        links.close();
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Connects, and starts a reader and a writer for each direction.
fn start(
    links: &Arc<Links>,
    upstream: &Upstream,
    delay: Duration,
    shared: &Shared,
    threads: &mut Vec<JoinHandle<()>>,
) -> io::Result<()> {
    let accepted = Instant::now();
    let half = delay / 2;
    links.client.hurry()?;
    let mut spawn = |work: fn(&Links, Duration)| -> io::Result<()> {
        let links = Arc::clone(links);
        let thread = thread::Builder::new().name("relay".to_owned());
        threads.push(thread.spawn(move || work(&links, half))?);
        Ok(())
    };
    spawn(|links, half| fill(&links.forth, &links.client, half))?;
    // What the client sends meanwhile waits in the queue.
    links.forth.wait_until(accepted + delay + half);
    // It is empty: nobody else sets it.
    let _ = links.server.set(upstream.connect()?);
    // Whoever has ended us meanwhile did not know of the server.
    if links.forth.is_closed() || shared.is_ending.load(Ordering::SeqCst) {
        links.close();
    }
    spawn(|links, _| {
        if let Some(server) = links.server.get() {
            drain(&links.forth, links, server);
        }
    })?;
    spawn(|links, half| {
        if let Some(server) = links.server.get() {
            fill(&links.back, server, half);
        }
    })?;
    spawn(|links, _| drain(&links.back, links, &links.client))
}

/// Reads until the end, and stamps what is read with when it is due.
fn fill(queue: &Queue, mut from: &Stream, held: Duration) {
    let mut buffer = vec![0; BLOCK_BYTES_MAX];
    loop {
        match from.read(&mut buffer) {
            // A connection that breaks ends for the other side as if it had been closed.
            Ok(0) => break,
            Ok(read) => {
                if !queue.push(Some(buffer[..read].into()), Instant::now() + held) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    queue.push(None, Instant::now() + held);
}

/// Writes what is due, until the end, and passes that on.
fn drain(queue: &Queue, links: &Links, mut to: &Stream) {
    while let Some(block) = queue.pop() {
        let Some(block) = block else {
            to.shutdown(Shutdown::Write);
            return;
        };
        if to.write_all(&block).is_err() {
            // Nobody reads any more: whoever sends has to learn that.
            links.close();
            return;
        }
    }
}

/// Blocks on their way, in order. `None` is the end of what is sent.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    blocks: VecDeque<(Instant, Option<Box<[u8]>>)>,
    bytes: usize,
    is_closed: bool,
}

fn size(block: Option<&[u8]>) -> usize {
    block.map_or(0, <[u8]>::len) + BLOCK_BYTES_EXTRA
}

impl Queue {
    /// Waits for room; false if the queue was closed.
    fn push(&self, block: Option<Box<[u8]>>, due: Instant) -> bool {
        let bytes = size(block.as_deref());
        let mut state = lock(&self.state);
        while !state.is_closed && state.bytes + bytes > QUEUE_BYTES_MAX {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return false;
        }
        state.bytes += bytes;
        state.blocks.push_back((due, block));
        self.changed.notify_all();
        true
    }

    /// The next block when it is due; `None` if the queue was closed.
    fn pop(&self) -> Option<Option<Box<[u8]>>> {
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            let now = Instant::now();
            let left = state.blocks.front().map(|&(due, _)| due.saturating_duration_since(now));
            state = match left {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    let (_, block) = state.blocks.pop_front()?;
                    state.bytes -= size(block.as_deref());
                    self.changed.notify_all();
                    return Some(block);
                }
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Sleeps, unless the queue is closed.
    fn wait_until(&self, due: Instant) {
        let mut state = lock(&self.state);
        while !state.is_closed {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }

    fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }
}

/// What a thread has left behind that panicked is still a queue.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection of either kind.
#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Upstream {
    fn connect(&self) -> io::Result<Stream> {
        let stream = match self {
            Upstream::Tcp(address) => Stream::Tcp(TcpStream::connect(address)?),
            Upstream::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
        };
        stream.hurry()?;
        Ok(stream)
    }
}

impl Stream {
    /// Nagle's algorithm would hold small blocks back for longer than we say.
    fn hurry(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nodelay(true),
            Stream::Unix(_) => Ok(()),
        }
    }

    /// It may be shut down already.
    fn shutdown(&self, how: Shutdown) {
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
        };
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(buffer),
            Stream::Unix(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
            Stream::Unix(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A server that answers every connection, until it is dropped by the end of the test.
    fn serve(answer: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let answer = answer.clone();
                thread::spawn(move || answer(stream.unwrap()));
            }
        });
        address
    }

    fn echo(mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut reader = stream.try_clone().unwrap();
        // The other side may end at any time.
        let _ = io::copy(&mut reader, &mut stream);
        let _ = stream.shutdown(Shutdown::Write);
    }

    fn connect(relay: &Relay) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    fn ping(stream: &mut TcpStream) -> Duration {
        let start = Instant::now();
        let mut byte = [7];
        stream.write_all(&byte).unwrap();
        stream.read_exact(&mut byte).unwrap();
        start.elapsed()
    }

    const DELAY: Duration = Duration::from_millis(10);

    #[test]
    fn a_round_trip_takes_the_delay_and_a_connection_one_more() {
        let relay = Relay::start(serve(echo), DELAY).unwrap();
        let mut stream = connect(&relay);
        assert!(ping(&mut stream) >= 2 * DELAY);
        let mut trips: Vec<Duration> = (0..20).map(|_| ping(&mut stream)).collect();
        trips.sort();
        assert!(trips[0] >= DELAY, "{trips:?}");
        let median = trips[10];
        assert!(median < DELAY + Duration::from_millis(3), "{trips:?}");
    }

    #[test]
    fn much_goes_through_at_once_and_unchanged() {
        let relay = Relay::start(serve(echo), DELAY).unwrap();
        let mut stream = connect(&relay);
        let sent: Vec<u8> = (0..20_000_000_u32).map(|n| (n ^ (n >> 8)) as u8).collect();
        let start = Instant::now();
        let mut writer = stream.try_clone().unwrap();
        let (taken, received) = thread::scope(|scope| {
            scope.spawn(|| {
                writer.write_all(&sent).unwrap();
                writer.shutdown(Shutdown::Write).unwrap();
            });
            let mut received = Vec::new();
            // The echo ends when it has heard that we did: a half that is closed stays half.
            stream.read_to_end(&mut received).unwrap();
            (start.elapsed(), received)
        });
        assert!(received == sent, "{} bytes came back", received.len());
        assert!(taken < Duration::from_secs(1), "{taken:?}");
    }

    #[test]
    fn the_servers_end_and_its_last_words_arrive() {
        let address = serve(|mut stream| stream.write_all(b"too many connections").unwrap());
        let relay = Relay::start(address, DELAY).unwrap();
        let start = Instant::now();
        let mut said = String::new();
        connect(&relay).read_to_string(&mut said).unwrap();
        assert_eq!(said, "too many connections");
        // As long as a greeting takes: the handshake, and the way back.
        assert!(start.elapsed() >= 2 * DELAY);
    }

    #[test]
    fn unix_sockets_are_reached() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            stream.write_all(&byte).unwrap();
        });
        let relay = Relay::start(path, Duration::ZERO).unwrap();
        ping(&mut connect(&relay));
        server.join().unwrap();
    }

    #[test]
    fn nobody_there_is_a_connection_that_ends() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let relay = Relay::start(address, Duration::ZERO).unwrap();
        assert!(matches!(connect(&relay).read(&mut [0]), Ok(0) | Err(_)));
    }

    #[test]
    fn a_relay_that_goes_takes_its_connections_along() {
        let relay = Relay::start(serve(echo), DELAY).unwrap();
        let mut idle = connect(&relay);
        ping(&mut idle);
        // Nobody reads what comes back: both queues and all buffers are full.
        let full = connect(&relay);
        full.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        let block = vec![0; 1 << 20];
        while (&full).write_all(&block).is_ok() {}
        let starting = connect(&relay);
        let (address, start) = (relay.address, Instant::now());
        drop(relay);
        assert!(start.elapsed() < Duration::from_secs(5));
        for mut stream in [idle, starting] {
            assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
        }
        assert!(TcpStream::connect(address).is_err());
    }

    #[test]
    fn connections_that_ended_are_forgotten() {
        let relay = Relay::start(serve(echo), Duration::ZERO).unwrap();
        for _ in 0..50 {
            ping(&mut connect(&relay));
        }
        let start = Instant::now();
        while !lock(&relay.shared.links).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(10));
            thread::sleep(Duration::from_millis(1));
        }
    }
}
