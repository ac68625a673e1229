//! All of a file in order, by one request where nothing happens to it.

use std::io::{self, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::trouble::{Tries, Trouble};
use super::{First, Link, Start, Wanted, given_up};
use crate::pipe::Pipe;
use crate::stop::Stop;
use crate::stored::Fault;

/// What has been compared of a body, and what follows.
type Body = Chain<Cursor<Vec<u8>>, Pipe>;

/// A file as it comes.
pub(super) struct Sequence {
    link: Arc<Link>,
    first: Arc<First>,
    stop: Stop,
    /// Where it was opened, and what comes next.
    start: u64,
    at: u64,
    body: Option<Body>,
    /// What came next when the body began.
    began: u64,
    /// Bytes of the body before what comes next.
    skip: u64,
    tries: Tries,
    is_over: bool,
}

impl Sequence {
    pub(super) fn open(link: &Arc<Link>, at: u64, stop: &Stop) -> io::Result<Self> {
        let first = link.first(stop)?;
        Ok(Self {
            link: Arc::clone(link),
            first,
            stop: Arc::clone(stop),
            start: at,
            at,
            body: None,
            began: at,
            skip: 0,
            tries: Tries::default(),
            is_over: false,
        })
    }

    /// Asks for what is missing; `None` where that failed and another try may fare better.
    fn connect(&mut self) -> io::Result<Option<Body>> {
        let etag = self.first.version.strong_etag().cloned();
        let from = if self.first.has_parts { self.at } else { 0 };
        let asked = self.link.ask(&Wanted { from, to: None, etag }, &self.stop, |_| Ok(()));
        let answer = match asked {
            Ok((answer, ())) => answer,
            Err(trouble) => {
                self.link.patience.wait(&mut self.tries, trouble, true, &self.stop)?;
                return Ok(None);
            }
        };
        if let Some(how) = answer.version.change(&self.first.version) {
            return Err(Fault::changed(&self.link.name(), Some(how)).into());
        }
        let Some(skip) = self.at.checked_sub(answer.from) else {
            return Err(Fault::changed(&self.link.name(), None).into());
        };
        // Where its length is not known, nothing would tell the end of a part from the file's.
        if answer.is_part && self.first.version.bytes.is_none() {
            let what = format!(
                "{}: the server gives a part of the file where all of it was asked for",
                self.link.name()
            );
            return Err(Fault::new(what).advise("fetch it with curl, and load that file").into());
        }
        (self.skip, self.began) = (skip, self.at);
        let mut body = Pipe::of(answer.body, Arc::clone(&self.stop))
            .map_err(|error| Fault::no_thread(&error))?;
        let mut start = Vec::new();
        if answer.from == 0 {
            let compared = self.first.compared_bytes();
            if let Err(error) = body.by_ref().take(compared).read_to_end(&mut start) {
                self.lost(self.link.lost(&error))?;
                return Ok(None);
            }
            if compared > 0 && Start::of(&start) != self.first.start {
                let how = "its first bytes are others than before".to_owned();
                return Err(Fault::changed(&self.link.name(), Some(how))
                    .advise("or fetch it with curl, and load that file")
                    .into());
            }
        }
        Ok(Some(Cursor::new(start).chain(body)))
    }

    /// What has to be done once a body ends before the file does.
    fn lost(&mut self, trouble: Trouble) -> io::Result<()> {
        self.body = None;
        if self.stop.load(Relaxed) {
            return Err(given_up().into());
        }
        let may_resume = self.first.has_parts || self.at == self.start;
        if !may_resume {
            let Fault { what, .. } = trouble.fault;
            let name = self.link.name();
            let bytes = self.at;
            return Err(Fault::new(format!(
                "{what}; the server gives no ETag or no parts, so what comes behind byte {bytes} of {name} can't be asked for alone"
            ))
            .advise("try again, or fetch it with curl and load that file")
            .into());
        }
        Ok(self.link.patience.wait(&mut self.tries, trouble, true, &self.stop)?)
    }

    /// Once everything is read.
    fn end(&mut self) -> io::Result<usize> {
        if !self.is_over {
            self.link.confirm(&self.first, &self.stop)?;
            self.is_over = true;
        }
        Ok(0)
    }
}

impl Read for Sequence {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let first = Arc::clone(&self.first);
        let is_kept = first.has_parts || first.is_whole;
        if is_kept && self.at < first.head.len() as u64 {
            let got = (&first.head[self.at as usize..]).read(out)?;
            self.at += got as u64;
            return Ok(got);
        }
        if first.is_whole || self.is_over || out.is_empty() {
            return Ok(0);
        }
        loop {
            let ends_at = first.version.bytes;
            if first.has_parts && ends_at.is_some_and(|end| self.at >= end) {
                return self.end();
            }
            let mut body = match self.body.take() {
                Some(body) => body,
                None => match self.connect()? {
                    Some(body) => body,
                    None => continue,
                },
            };
            let skips = self.skip > 0;
            let most = if skips { self.skip.min(out.len() as u64) as usize } else { out.len() };
            match body.read(&mut out[..most]) {
                // A part that is whole, and shorter than what was asked for, is no trouble: what follows is asked for at once.
                Ok(0) if first.has_parts && !skips && self.at > self.began => {}
                Ok(0) if skips || ends_at.is_some_and(|end| self.at < end) => {
                    let fault = self.link.too_short(self.at, ends_at);
                    self.lost(Trouble::lost(fault))?;
                }
                Ok(0) => return self.end(),
                Ok(got) => {
                    self.link.patience.answered(&mut self.tries);
                    self.body = Some(body);
                    match skips {
                        true => self.skip -= got as u64,
                        false => {
                            self.at += got as u64;
                            return Ok(got);
                        }
                    }
                }
                Err(error) => self.lost(self.link.lost(&error))?,
            }
        }
    }
}
