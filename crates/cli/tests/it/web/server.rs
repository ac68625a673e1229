//! A web server that does what a test says, faults among it.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    /// How many requests came before it.
    pub(crate) before: usize,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// First byte, and the last one where it is said.
    pub(crate) fn range(&self) -> Option<(usize, Option<usize>)> {
        let (from, to) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()))
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) form: Form,
    /// The connection ends behind so many bytes of the body.
    pub(crate) cut: Option<usize>,
    /// Nothing comes any more behind them.
    pub(crate) stall: bool,
}

/// How a body says where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Length,
    Chunked,
    /// Not at all.
    Bare,
}

impl Answer {
    pub(crate) fn of(status: u16, body: impl Into<Vec<u8>>) -> Self {
        let (headers, body) = (Vec::new(), body.into());
        Self { status, headers, body, form: Form::Length, cut: None, stall: false }
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::of(302, "moved").with("Location", to)
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn cut(self, behind: usize) -> Self {
        Self { cut: Some(behind), ..self }
    }
}

/// A file as servers have it that can do everything.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) etag: Option<&'static str>,
    pub(crate) ranges: bool,
}

impl Served {
    pub(crate) fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: Arc::new(bytes.into()), etag: Some("\"one\""), ranges: true }
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Answer {
        let tagged = |answer: Answer| match self.etag {
            Some(etag) => answer.with("ETag", etag),
            None => answer,
        };
        if asked.header("if-match").is_some_and(|wanted| Some(wanted) != self.etag) {
            return tagged(Answer::of(412, "changed"));
        }
        let all = self.bytes.len();
        match asked.range().filter(|_| self.ranges) {
            Some((from, _)) if from >= all => {
                Answer::of(416, "").with("Content-Range", &format!("bytes */{all}"))
            }
            Some((from, to)) => {
                let to = to.map_or(all, |last| (last + 1).min(all));
                let range = format!("bytes {from}-{}/{all}", to - 1);
                tagged(Answer::of(206, &self.bytes[from..to])).with("Content-Range", &range)
            }
            None => tagged(Answer::of(200, self.bytes.to_vec())),
        }
    }
}

/// A server that ends with the test.
pub(crate) struct Web {
    address: SocketAddr,
    scheme: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
}

type Handler = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

impl Web {
    /// Answers each request by what `handler` makes of it.
    pub(crate) fn of(handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(Arc::new(handler), None)
    }

    /// The same with TLS; the folder holds `server.pem` and `server.key`.
    pub(crate) fn secure(
        folder: &Path,
        handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let chain: Vec<_> = CertificateDer::pem_file_iter(folder.join("server.pem"))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        Self::start(Arc::new(handler), Some(Arc::new(config)))
    }

    /// One file, whatever is asked for.
    pub(crate) fn file(served: Served) -> Self {
        Self::of(move |asked| served.answer(asked))
    }

    fn start(handler: Handler, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Head and body are written apart, and the second would wait for word of the first.
                stream.set_nodelay(true).unwrap();
                let (handler, log, tls) = (Arc::clone(&handler), Arc::clone(&log), tls.clone());
                thread::spawn(move || match tls {
                    None => converse(stream, &handler, &log),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        converse(StreamOwned::new(connection, stream), &handler, &log);
                    }
                });
            }
        });
        Self { address, scheme, asked }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}/{path}", self.scheme, self.port())
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers requests of one connection, until it ends or is ended.
fn converse(stream: impl Read + Write, handler: &Handler, log: &Mutex<Vec<Asked>>) {
    let mut stream = BufReader::new(stream);
    // What speaks TLS to a server without it is answered all the same.
    if stream.fill_buf().is_ok_and(|first| first.first() == Some(&0x16)) {
        let _ = stream.get_mut().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        return;
    }
    while let Some(asked) = request(&mut stream, log) {
        let answer = handler(&asked);
        if respond(stream.get_mut(), &asked, &answer).is_none() {
            break;
        }
    }
}

fn request(stream: &mut impl std::io::BufRead, log: &Mutex<Vec<Asked>>) -> Option<Asked> {
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|got| *got > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut log = log.lock().unwrap();
    let asked = Asked { method, path, headers, before: log.len() };
    log.push(asked.clone());
    Some(asked)
}

/// `None` where the connection is over.
fn respond(stream: &mut impl Write, asked: &Asked, answer: &Answer) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match answer.form {
        Form::Length => head.push_str(&format!("Content-Length: {}\r\n", answer.body.len())),
        Form::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
        Form::Bare => head.push_str("Connection: close\r\n"),
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    if asked.method == "HEAD" {
        return stream.flush().ok();
    }
    let body = &answer.body[..answer.cut.unwrap_or(usize::MAX).min(answer.body.len())];
    for part in body.chunks(50_000) {
        match answer.form {
            Form::Chunked => {
                stream.write_all(format!("{:x}\r\n", part.len()).as_bytes()).ok()?;
                stream.write_all(part).ok()?;
                stream.write_all(b"\r\n").ok()?;
            }
            Form::Length | Form::Bare => stream.write_all(part).ok()?,
        }
    }
    stream.flush().ok()?;
    if answer.stall {
        thread::park();
    }
    if answer.cut.is_some() || answer.form == Form::Bare {
        return None;
    }
    if answer.form == Form::Chunked {
        stream.write_all(b"0\r\n\r\n").ok()?;
    }
    stream.flush().ok()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        403 => "Forbidden",
        404 => "Not Found",
        500 => "Internal Server Error",
        _ => "Otherwise",
    }
}

/// Makes the machine's own name certified by an authority of its own: `authority.pem`, `server.pem`, `server.key`.
pub(crate) fn certify(fixture: &crate::fixture::Fixture, names: &str) {
    let openssl = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        fixture.tool("openssl", &args, b"");
    };
    fixture.write("names", format!("subjectAltName={names}"));
    openssl(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout authority.key -out authority.pem -subj /CN=authority",
    );
    openssl("req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server");
    openssl(
        "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
}

/// A free port that nothing listens at.
pub(crate) fn silent_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
