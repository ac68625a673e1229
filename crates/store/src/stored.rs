//! Inputs that are no plain files, and can be read as often as one likes: what an input has to bring for that.
//!
//! ```text
//! begin (what is it?) -> open (all of it, in order) -> chunks
//!                     -> read_at (any part of it)   -> blocks (Parquet, Arrow files)
//! ```

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::sync::Arc;

use crate::stop::Stop;
use inrush_core::error::Error;

/// Bytes that something keeps, and gives whenever it is asked. What fails says so as a [`Fault`].
pub trait Store: Send + Sync {
    /// What messages call it: with no password, and no query of a URL.
    fn name(&self) -> String;

    /// The last part of its name, as that of a file: it tells table and format.
    fn file_name(&self) -> String;

    /// Where it is, whole: two of one place are one input. Never shown.
    fn identity(&self) -> String;

    /// Its bytes as they are stored, where that is known.
    fn bytes(&self) -> Option<u64>;

    /// What changes when its bytes do, such as an ETag. `None` where nothing does.
    fn version(&self) -> Option<String>;

    /// How what is given is packed for the way (`Content-Encoding`, such as `gzip`), as far as has been said. `None` where bytes are given
    /// as they are stored.
    fn coding(&self) -> Option<String> {
        None
    }

    /// The encoding of its text, as its server calls it, as far as has been said (`Content-Type: text/csv; charset=iso-8859-1`).
    fn charset(&self) -> Option<String> {
        None
    }

    /// Memory that it takes while it waits to be loaded, and while it is, besides what its parts take.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Its first bytes, of which as many are fetched as are read, or some more.
    ///
    /// # Errors
    /// When it can't be had.
    fn begin(&self, stop: &Stop) -> io::Result<Box<dyn Read + Send>>;

    /// All bytes from `at` on, in order. The end comes only where everything has been whole.
    ///
    /// # Errors
    /// When it can't be had.
    fn open(&self, at: u64, stop: &Stop) -> io::Result<Box<dyn Read + Send>>;

    /// Whether its first bytes have been asked for.
    fn is_looked_at(&self) -> bool;

    /// Whether parts of it can be read without what is before them.
    fn has_parts(&self) -> bool;

    /// `length` bytes from `at` on; fewer only where it ends. Where it has no parts, a copy is made first.
    ///
    /// # Errors
    /// When they can't be had.
    fn read_at(&self, at: u64, length: usize, stop: &Stop) -> io::Result<Vec<u8>>;

    /// Makes a copy of all of it, once, of which is read from then on.
    ///
    /// # Errors
    /// When it can't be had, or there is no room for it.
    fn keep(&self, stop: &Stop) -> io::Result<()>;

    /// The file's size, where a part is to be read.
    ///
    /// # Errors
    /// When it can't be found out.
    fn length(&self, stop: &Stop) -> io::Result<u64>;
}

/// One of them.
#[derive(Clone)]
pub struct Stored(Arc<dyn Store>);

impl Stored {
    /// What the store keeps.
    pub fn new(store: impl Store + 'static) -> Self {
        Self(Arc::new(store))
    }
}

impl Deref for Stored {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.identity() == other.identity()
    }
}

impl Eq for Stored {}

/// What a store keeps, as a file that can be read from anywhere.
pub struct AtWill {
    stored: Stored,
    at: u64,
    bytes: u64,
    stop: Stop,
    /// What was read last, of which this is left.
    part: io::Cursor<Vec<u8>>,
}

/// Bytes that are read at a time.
const PART_BYTES: usize = 128 << 10;

impl AtWill {
    /// What the store keeps, from its first byte on.
    ///
    /// # Errors
    /// When its size can't be found out.
    pub fn of(stored: &Stored) -> io::Result<Self> {
        let (stored, stop) = (stored.clone(), Stop::default());
        let bytes = stored.length(&stop)?;
        Ok(Self { stored, at: 0, bytes, stop, part: io::Cursor::default() })
    }
}

impl Read for AtWill {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut got = self.part.read(out)?;
        if got == 0 && !out.is_empty() {
            self.part = io::Cursor::new(self.stored.read_at(self.at, PART_BYTES, &self.stop)?);
            got = self.part.read(out)?;
        }
        self.at += got as u64;
        Ok(got)
    }
}

impl Seek for AtWill {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.bytes, by),
            SeekFrom::Current(by) => (self.at, by),
        };
        let outside = || io::Error::from(io::ErrorKind::InvalidInput);
        let at = from.checked_add_signed(by).ok_or_else(outside)?;
        // Most steps are short ones forward.
        let skipped = at.checked_sub(self.at).map(|step| self.part.position().saturating_add(step));
        match skipped {
            Some(within) if within <= self.part.get_ref().len() as u64 => {
                self.part.set_position(within);
            }
            _ => self.part = io::Cursor::default(),
        }
        self.at = at;
        Ok(at)
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored({})", self.name())
    }
}

/// Why an input can't be read, in words that need no others: it goes as an error through readers that know nothing of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened, and where.
    pub what: String,
    /// What to try.
    pub advice: Vec<String>,
}

impl Fault {
    /// Says what happened, and where.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), advice: Vec::new() }
    }

    /// As [`Error::no_thread`] has it.
    pub fn no_thread(error: &io::Error) -> Self {
        let error = Error::no_thread(error);
        Self { what: error.what().to_owned(), advice: error.advice().to_vec() }
    }

    /// An input that is not what it was when it was first looked at; `how`, where that is known.
    pub fn changed(name: &str, how: Option<String>) -> Self {
        let how = how.map_or_else(String::new, |how| format!(": {how}"));
        Self::new(format!("{name} was changed while it was read{how}"))
            .advise("load it again, once it stays as it is")
    }

    /// Adds what to try.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }

    /// The fault that an error comes from.
    pub fn within<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(fault) = error.downcast_ref::<Self>() {
                return Some(fault);
            }
            // Its source is the inner error's source, not that error.
            next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        None
    }

    /// The same about an input.
    pub fn about(&self, name: &str) -> Error {
        let error = Error::source(self.what.clone()).about(name);
        self.advice.iter().cloned().fold(error, Error::advise)
    }

    /// Why a place can't be found.
    pub fn refused(&self) -> Error {
        let error = Error::source(self.what.clone());
        self.advice.iter().cloned().fold(error, Error::advise)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        io::Error::other(fault)
    }
}
