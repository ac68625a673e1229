//! What an archive may unpack to.

use std::fmt;
use std::io::{self, Read};

use inrush_core::error::Error;
use inrush_core::wording::bytes;

/// What anything may unpack to.
const FREE_BYTES: u64 = 1 << 30;

/// Beyond that, how many times what it takes in the archive. Text with columns of zeros has been seen at 150.
const TIMES: u64 = 200;

/// What something may unpack to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Bytes unpacked.
    pub(crate) most: u64,
    /// Whether that is what the user says.
    pub(crate) is_said: bool,
}

impl Limit {
    /// The limit of what takes so many bytes in the archive; the user's word stands above it.
    pub(crate) fn of(packed: u64, said: Option<u64>) -> Self {
        let own = FREE_BYTES.max(packed.saturating_mul(TIMES));
        Self { most: said.unwrap_or(own), is_said: said.is_some() }
    }

    /// Refuses what would become larger.
    pub(crate) fn expect(self, unpacked: u64) -> Result<(), Refusal> {
        if unpacked <= self.most {
            return Ok(());
        }
        let how = match self.is_said {
            true => "--max-expand allows".to_owned(),
            false => format!("is allowed unasked: {TIMES} times what it takes in the archive"),
        };
        Err(Refusal::new(
            format!("it unpacks to more than the {} that {how}", bytes(self.most)),
            "if it is to be trusted, say --max-expand SIZE",
        ))
    }
}

/// Why something in an archive isn't read, without its name.
#[derive(Clone, Debug)]
pub struct Refusal {
    what: String,
    advice: String,
}

impl Refusal {
    pub(crate) fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: advice.into() }
    }

    /// The one in an error of reading.
    pub fn within(error: &io::Error) -> Option<&Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }

    /// The failure of what has this name.
    pub fn of(&self, name: &str) -> Error {
        Error::source(format!("{name}: {}", self.what)).about(name).advise(&self.advice)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::other(refusal)
    }
}

/// Reads no more than a limit.
pub struct Bounded<R> {
    input: R,
    limit: Limit,
    seen: u64,
}

impl<R> Bounded<R> {
    /// A reader of `input` that fails behind `limit`.
    pub fn new(input: R, limit: Limit) -> Self {
        Self { input, limit, seen: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(out)?;
        self.seen += got as u64;
        self.limit.expect(self.seen)?;
        Ok(got)
    }
}
