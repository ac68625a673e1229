//! Sources over the network: files of web servers, and objects of stores.
//!
//! ```text
//! address (web, bucket) -> answers -> first (what is it, which version?) -> sequence (all, in order, resumed where it is cut)
//!                                                                      -> parts (by ranges, or of a copy)
//! ```

mod bucket;
mod client;
mod listing;
mod sequence;
mod settings;
mod trouble;
mod web;

use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Cursor, Read};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{RecvTimeoutError, bounded};

use crate::pipe::PIPE_BYTES;
use crate::stop::ended;
use crate::{Copied, Fault, HEAD_BYTES, Stop, Store, TICK};
pub use bucket::{Found, ODD};
use sequence::Sequence;
use trouble::{Patience, Tries, Trouble};
use web::Web;

/// First bytes of sources that are kept until they are loaded, in all.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Those that are kept.
static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Where a source is, and how its bytes are asked for.
trait Address: Send + Sync {
    fn name(&self) -> String;

    fn file_name(&self) -> String;

    fn identity(&self) -> String;

    /// Asks once.
    fn get(&self, wanted: &Wanted) -> Result<Answer, Trouble>;

    /// Its version now, once all of it is read. `None` where that can't be found out, or where an answer is of one version for certain.
    fn now(&self, has_parts: bool) -> Option<Version>;
}

/// The encoding that a `Content-Type` names (RFC 9110, 8.3.2).
fn charset(of: &str) -> Option<String> {
    let mut parameters = of.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let (_, label) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    let label = label.trim().trim_matches('"').trim();
    (!label.is_empty()).then(|| label.to_ascii_lowercase())
}

/// How bytes are packed by the words of a `Content-Encoding`; `None` where they are as they are stored.
fn packed(coding: &str) -> Option<String> {
    let packs = |word: &str| ["gzip", "x-gzip", "deflate", "br", "zstd"].contains(&word.trim());
    let coding = coding.trim().to_ascii_lowercase();
    coding.split(',').any(packs).then_some(coding)
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
struct Wanted {
    from: u64,
    to: Option<u64>,
    /// Of the version that has this tag, and of no other.
    etag: Option<String>,
}

/// Does what waits for a server in a thread of its own, for nothing interrupts it.
fn waiting<T: Send + 'static>(
    stop: &Stop,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Trouble> {
    let (done, is_done) = bounded::<()>(0);
    let work = move || {
        let _done = done;
        work()
    };
    let thread = thread::Builder::new().spawn(work);
    let thread = thread.map_err(|error| Trouble::never(Fault::no_thread(&error)))?;
    while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        if stop.load(Relaxed) {
            return Err(Trouble::never(given_up()));
        }
    }
    Ok(ended(thread))
}

/// Why nothing comes to who was stopped. Whoever set the flag knows why, and says that instead.
fn given_up() -> Fault {
    Fault::new("it is waited for no longer")
}

/// What a server gives.
struct Answer {
    version: Version,
    /// Where in the file its bytes begin.
    from: u64,
    /// Whether a part was wanted, and is given.
    is_part: bool,
    /// Whether it is for a browser, as the server says.
    is_page: bool,
    /// How the server has packed it.
    coding: Option<String>,
    /// The encoding of its text, as the server calls it.
    charset: Option<String>,
    body: Box<dyn Read + Send>,
}

impl Answer {
    /// Whether other parts of this version can be asked for.
    fn gives_parts(&self) -> bool {
        self.is_part && self.version.strong_etag().is_some() && self.version.bytes.is_some()
    }
}

/// What tells a file from an earlier one of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Version {
    bytes: Option<u64>,
    etag: Option<String>,
    modified: Option<String>,
}

impl Version {
    /// How it differs from an earlier one, in words.
    fn change(&self, before: &Version) -> Option<String> {
        if let (Some(was), Some(is)) = (before.bytes, self.bytes)
            && was != is
        {
            return Some(format!("it had {was} bytes, and has {is}"));
        }
        if before.etag.is_some() || self.etag.is_some() {
            let tag = |of: &Version| of.etag.clone().unwrap_or_else(|| "none".to_owned());
            return (before.etag != self.etag)
                .then(|| format!("its ETag was {}, and is {}", tag(before), tag(self)));
        }
        match (&before.modified, &self.modified) {
            (Some(was), Some(is)) if was != is => Some(format!("it was of {was}, and is of {is}")),
            _ => None,
        }
    }

    /// Its tag, where equal ones are of equal bytes.
    fn strong_etag(&self) -> Option<&String> {
        self.etag.as_ref().filter(|etag| !etag.starts_with("W/"))
    }
}

/// What the first answer says of a file.
struct First {
    version: Version,
    /// Whether parts of this version can be asked for.
    has_parts: bool,
    /// How the server has packed it.
    coding: Option<String>,
    /// The encoding of its text, as the server calls it.
    charset: Option<String>,
    start: Start,
    /// Its first bytes; none once many are kept.
    head: Vec<u8>,
    /// Nothing comes behind them.
    is_whole: bool,
}

impl First {
    fn new(answer: Answer, start: Start, head: Vec<u8>, is_whole: bool) -> Self {
        KEPT_BYTES.fetch_add(head.len(), Relaxed);
        let has_parts = answer.gives_parts();
        let Answer { version, coding, charset, .. } = answer;
        Self { version, has_parts, coding, charset, start, head, is_whole }
    }

    /// Bytes by which a body that begins again is told to be of the same file: none where its tag tells, or where no other is asked for.
    fn compared_bytes(&self) -> u64 {
        let is_told = self.is_whole || self.version.strong_etag().is_some();
        if is_told { 0 } else { self.start.bytes }
    }
}

impl Drop for First {
    fn drop(&mut self) {
        KEPT_BYTES.fetch_sub(self.head.len(), Relaxed);
    }
}

/// What tells whether a file begins as it did, also where its first bytes are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    bytes: u64,
    hash: u64,
}

impl Start {
    fn of(head: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(head);
        Self { bytes: head.len() as u64, hash: hasher.finish() }
    }
}

/// A source over the network.
pub struct Remote(Arc<Link>);

/// What readers of one source share.
struct Link {
    address: Box<dyn Address>,
    /// What a listing said.
    listed: Version,
    first: Mutex<Option<Arc<First>>>,
    patience: Patience,
    copied: Mutex<Option<Arc<Copied>>>,
}

impl Remote {
    /// A file of a web server.
    ///
    /// # Errors
    /// When it is no URL of one.
    pub fn web(source: &str) -> inrush_core::error::Result<Self> {
        Ok(Self::of(Web::of(source)?, Version::default()))
    }

    fn of(address: impl Address + 'static, listed: Version) -> Self {
        Self(Arc::new(Link {
            address: Box::new(address),
            listed,
            first: Mutex::default(),
            patience: Patience::default(),
            copied: Mutex::default(),
        }))
    }

    /// Finds out whether it is there.
    ///
    /// # Errors
    /// When it can't be had, or `stop` is set meanwhile.
    pub fn look(&self, stop: &Stop) -> io::Result<()> {
        self.0.first(stop).map(|_| ())
    }
}

impl Link {
    fn name(&self) -> String {
        self.address.name()
    }

    /// What the first answer said, and its first bytes.
    fn first(self: &Arc<Self>, stop: &Stop) -> io::Result<Arc<First>> {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = &*first {
            return Ok(Arc::clone(first));
        }
        let mut tries = Tries::default();
        let head_bytes = HEAD_BYTES as u64;
        let found = loop {
            let wanted = Wanted { to: Some(head_bytes), ..Wanted::default() };
            let asked = self.ask(&wanted, stop, move |answer| {
                let mut head = Vec::new();
                // One more tells whether it ends there.
                let got = answer.body.by_ref().take(head_bytes + 1).read_to_end(&mut head);
                match got {
                    // What comes behind is asked for by parts.
                    Err(_) if answer.gives_parts() && answer.from == 0 && !head.is_empty() => {}
                    got => drop(got?),
                }
                let goes_on = head.len() as u64 > head_bytes;
                Ok((head, goes_on))
            });
            match asked {
                Ok((answer, (mut head, goes_on))) => {
                    let may_go_on = match answer.version.bytes {
                        Some(bytes) => bytes > head.len() as u64,
                        // Of how much a part is decides, and not how long it is: a server may give shorter ones than it is asked for.
                        None => answer.is_part,
                    };
                    if answer.from > 0 || (!answer.is_part && may_go_on && !goes_on) {
                        let fault = self.too_short(head.len() as u64, answer.version.bytes);
                        self.patience.wait(&mut tries, Trouble::lost(fault), true, stop)?;
                        continue;
                    }
                    self.refuse_page(&answer, &head)?;
                    let is_whole = !(may_go_on || goes_on);
                    head.truncate(HEAD_BYTES);
                    let start = Start::of(&head);
                    if KEPT_BYTES.load(Relaxed) + head.len() > KEPT_BYTES_MAX {
                        head.truncate(0);
                    }
                    let is_whole =
                        is_whole && (!head.is_empty() || answer.version.bytes == Some(0));
                    break First::new(answer, start, head, is_whole);
                }
                Err(trouble) => self.patience.wait(&mut tries, trouble, false, stop)?,
            }
        };
        self.patience.answered(&mut tries);
        if let Some(how) = found.version.change(&self.listed).filter(|_| self.listed.etag.is_some())
        {
            return Err(Fault::changed(&self.name(), Some(how)).into());
        }
        let found = Arc::new(found);
        *first = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Refuses what is for a browser where a file is wanted.
    fn refuse_page(&self, answer: &Answer, head: &[u8]) -> io::Result<()> {
        let name = self.address.file_name().to_ascii_lowercase();
        let is_page = answer.is_page && head.trim_ascii_start().starts_with(b"<");
        if !is_page || name.ends_with(".html") || name.ends_with(".htm") {
            return Ok(());
        }
        let what = format!("{}: the server gives a web page, and not a file", self.name());
        Err(Fault::new(what)
            .advise("look at it in a browser: it may want a login, or link to the file")
            .into())
    }

    fn too_short(&self, got: u64, of: Option<u64>) -> Fault {
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        Fault::new(format!("{} ended after {got}{of} bytes", self.name()))
            .advise("try again later, or fetch it with curl and load that file")
    }

    /// Asks once, and does what is to be done with the answer's body, in a thread of its own: nothing interrupts one that waits for a
    /// server.
    fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        wanted: &Wanted,
        stop: &Stop,
        then: impl FnOnce(&mut Answer) -> io::Result<T> + Send + 'static,
    ) -> Result<(Answer, T), Trouble> {
        let (link, wanted) = (Arc::clone(self), wanted.clone());
        waiting(stop, move || {
            let mut answer = link.address.get(&wanted)?;
            let done = then(&mut answer).map_err(|error| link.lost(&error))?;
            Ok((answer, done))
        })?
    }

    /// What a body that can't be read on means.
    fn lost(&self, error: &io::Error) -> Trouble {
        match Fault::within(error) {
            Some(fault) => Trouble::lost(fault.clone()),
            None => Trouble::lost(
                Fault::new(format!("{}: the connection was lost: {error}", self.name()))
                    .advise("try again later, or fetch it with curl and load that file"),
            ),
        }
    }

    /// Bytes of a file that has parts.
    fn part(
        self: &Arc<Self>,
        first: &First,
        at: u64,
        length: usize,
        stop: &Stop,
    ) -> io::Result<Vec<u8>> {
        let end = first.version.bytes.unwrap_or(u64::MAX).min(at.saturating_add(length as u64));
        let length = end.saturating_sub(at);
        if length == 0 {
            return Ok(Vec::new());
        }
        if end <= first.head.len() as u64 {
            return Ok(first.head[at as usize..end as usize].to_vec());
        }
        let mut bytes = Vec::new();
        let mut tries = Tries::default();
        loop {
            let at = at + bytes.len() as u64;
            let wanted =
                Wanted { from: at, to: Some(end), etag: first.version.strong_etag().cloned() };
            let missing = end - at;
            let asked = self.ask(&wanted, stop, move |answer| {
                let mut more = Vec::with_capacity(missing as usize);
                let got = answer.body.by_ref().take(missing).read_to_end(&mut more);
                Ok((more, got.err()))
            });
            let trouble = match asked {
                Ok((answer, (more, lost))) => {
                    if let Some(how) = answer.version.change(&first.version) {
                        return Err(Fault::changed(&self.name(), Some(how)).into());
                    }
                    if !answer.is_part || answer.from != at {
                        let what = format!(
                            "{}: the server gives other parts than those it is asked for",
                            self.name()
                        );
                        return Err(Fault::new(what)
                            .advise("fetch it with curl, and load that file")
                            .into());
                    }
                    if !more.is_empty() {
                        self.patience.answered(&mut tries);
                    }
                    let got = at + more.len() as u64;
                    match bytes.is_empty() {
                        true => bytes = more,
                        false => bytes.extend_from_slice(&more),
                    }
                    if bytes.len() as u64 == length {
                        return Ok(bytes);
                    }
                    match lost {
                        // A part that is whole, and shorter than what was asked for, is no trouble.
                        None if got > at => continue,
                        None => Trouble::lost(self.too_short(got, first.version.bytes)),
                        Some(error) => self.lost(&error),
                    }
                }
                Err(trouble) => trouble,
            };
            self.patience.wait(&mut tries, trouble, true, stop)?;
        }
    }

    /// The copy that has been made.
    fn kept(&self) -> Option<Arc<Copied>> {
        self.copied.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A copy, of what has no parts or is read from anywhere.
    fn copied(self: &Arc<Self>, stop: &Stop) -> io::Result<Arc<Copied>> {
        let mut copied = self.copied.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copied) = &*copied {
            return Ok(Arc::clone(copied));
        }
        let whole = Sequence::open(self, 0, stop)?;
        let bytes = self.first(stop)?.version.bytes;
        let made = Arc::new(Copied::of(whole, bytes, &self.name())?);
        *copied = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Looks whether a file that was read is still of the version that it was.
    fn confirm(self: &Arc<Self>, first: &First, stop: &Stop) -> io::Result<()> {
        let (link, has_parts) = (Arc::clone(self), first.has_parts);
        let now = waiting(stop, move || link.address.now(has_parts));
        let now = now.map_err(|trouble| trouble.fault)?;
        let how = now.and_then(|now| now.change(&first.version));
        how.map_or(Ok(()), |how| Err(Fault::changed(&self.name(), Some(how)).into()))
    }

    fn known(&self) -> Option<Arc<First>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Store for Remote {
    fn name(&self) -> String {
        self.0.name()
    }

    fn file_name(&self) -> String {
        self.0.address.file_name()
    }

    fn identity(&self) -> String {
        self.0.address.identity()
    }

    fn bytes(&self) -> Option<u64> {
        let said = self.0.known().map_or(self.0.listed.bytes, |first| first.version.bytes);
        said.or_else(|| self.0.kept().map(|copied| copied.bytes()))
    }

    fn version(&self) -> Option<String> {
        let first = self.0.known();
        let version = first.as_ref().map_or(&self.0.listed, |first| &first.version);
        version.strong_etag().cloned()
    }

    fn coding(&self) -> Option<String> {
        self.0.known()?.coding.clone()
    }

    fn charset(&self) -> Option<String> {
        self.0.known()?.charset.clone()
    }

    fn memory_bytes(&self) -> u64 {
        let first = self.0.known();
        first.map_or(0, |first| first.head.len() as u64 + first.compared_bytes()) + PIPE_BYTES
    }

    fn begin(&self, stop: &Stop) -> io::Result<Box<dyn Read + Send>> {
        let first = self.0.first(stop)?;
        Ok(Box::new(Beginning {
            link: Arc::clone(&self.0),
            first,
            at: 0,
            more: Box::new(io::empty()),
            stop: Arc::clone(stop),
        }))
    }

    fn open(&self, at: u64, stop: &Stop) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Sequence::open(&self.0, at, stop)?))
    }

    fn keep(&self, stop: &Stop) -> io::Result<()> {
        self.0.copied(stop).map(|_| ())
    }

    fn is_looked_at(&self) -> bool {
        self.0.known().is_some()
    }

    fn has_parts(&self) -> bool {
        self.0.known().is_some_and(|first| first.has_parts)
    }

    fn read_at(&self, at: u64, length: usize, stop: &Stop) -> io::Result<Vec<u8>> {
        if let Some(copied) = self.0.kept() {
            return copied.read_at(at, length);
        }
        let first = self.0.first(stop)?;
        match first.has_parts {
            true => self.0.part(&first, at, length, stop),
            false => self.0.copied(stop)?.read_at(at, length),
        }
    }

    fn length(&self, stop: &Stop) -> io::Result<u64> {
        let first = self.0.first(stop)?;
        match first.version.bytes {
            Some(bytes) => Ok(bytes),
            None => self.0.copied(stop).map(|copied| copied.bytes()),
        }
    }
}

/// The first bytes of a file, and more of them as far as they are read.
struct Beginning {
    link: Arc<Link>,
    first: Arc<First>,
    /// What comes behind `more`.
    at: u64,
    more: Box<dyn Read + Send>,
    stop: Stop,
}

impl Read for Beginning {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let head = &self.first.head;
        if self.at < head.len() as u64 {
            let got = (&head[self.at as usize..]).read(out)?;
            self.at += got as u64;
            return Ok(got);
        }
        let got = self.more.read(out)?;
        if got > 0 || self.first.is_whole || out.is_empty() {
            return Ok(got);
        }
        if self.first.has_parts {
            let bytes = self.link.part(&self.first, self.at, HEAD_BYTES, &self.stop)?;
            self.at += bytes.len() as u64;
            self.more = Box::new(Cursor::new(bytes));
        } else if self.at == head.len() as u64 {
            self.more = Box::new(Sequence::open(&self.link, self.at, &self.stop)?);
            self.at += 1;
        }
        self.more.read(out)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_is_one_where_it_is_waited_for_and_no_interruption() {
        let stop = Stop::default();
        assert_eq!(waiting(&stop, || 1).unwrap(), 1);
        let panicked = catch_unwind(AssertUnwindSafe(|| waiting(&stop, || panic!("broken"))));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"broken"));
        stop.store(true, Relaxed);
        let slow = || thread::sleep(TICK * 20);
        assert!(waiting(&stop, slow).is_err());
    }

    #[test]
    fn the_charset_of_a_type_is_found() {
        for (of, wanted) in [
            ("text/csv; charset=iso-8859-1", Some("iso-8859-1")),
            ("text/csv;header=present; Charset=\"Windows-1251\"", Some("windows-1251")),
            ("text/csv; charset=", None),
            ("text/csv", None),
            ("charset=utf-8", None),
        ] {
            assert_eq!(charset(of).as_deref(), wanted, "{of}");
        }
    }

    #[test]
    fn only_codings_that_pack_are_named() {
        for (coding, shown) in [
            ("gzip", Some("gzip")),
            (" GZIP", Some("gzip")),
            ("aws-chunked,gzip", Some("aws-chunked,gzip")),
            ("aws-chunked", None),
            ("identity", None),
            ("", None),
        ] {
            assert_eq!(packed(coding).as_deref(), shown);
        }
    }
}
