//! Where finished pages go: straight into the file of a new database, or through SQLite's pager into an existing one.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use inrush_sqlite_pages::{LeafRun, PageNumbers, PageSink, PageSize, Placement};

use crate::pages::free::FreeList;
use crate::session::Session;
use crate::statement::{Statement, Step};
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Cell, Home, Span};

/// Page 1 says how many pages there are, in four bytes from here on (<https://sqlite.org/fileformat2.html>, section 1.3).
const PAGE_COUNT: usize = 28;

/// Takes pages, and gives them numbers behind those that the database has.
pub(super) struct Sink<'l> {
    pub(super) size: PageSize,
    pub(super) numbers: &'l mut PageNumbers,
    session: &'l Session<'l>,
    to: To<'l>,
    /// The first failure: a tree is built by code that knows nothing of files, so it shows at the next flush.
    failed: Option<Error>,
}

enum To<'l> {
    File(&'l mut PageFile),
    Database(Statement<'l>),
}

// SAFETY: the session is used by the thread that owns the sink alone, as with a transaction.
unsafe impl Send for Sink<'_> {}

impl<'l> Sink<'l> {
    /// A sink into `file`, or into the session's database when there is none.
    pub(super) fn new(
        session: &'l Session<'_>,
        file: Option<&'l mut PageFile>,
        numbers: &'l mut PageNumbers,
    ) -> Result<Self> {
        let size = numbers.page_size();
        let to = match file {
            Some(file) => To::File(file),
            None => To::Database(Statement::prepare(
                session,
                b"INSERT INTO sqlite_dbpage (pgno, data) VALUES (?1, ?2)",
            )?),
        };
        Ok(Self { size, numbers, session, to, failed: None })
    }

    /// Writes the pages of a run behind the others.
    pub(super) fn append(&mut self, run: &mut LeafRun) -> Result<Placement> {
        let placement = self.numbers.take_run(run.page_count());
        run.place(&placement);
        for span in placement.spans() {
            self.write(span.page, &run.pages()[span.bytes])?;
        }
        Ok(placement)
    }

    /// Writes pages that are neighbours.
    pub(super) fn write(&mut self, page: u32, bytes: &[u8]) -> Result<()> {
        let size = self.size.bytes();
        match &mut self.to {
            To::File(file) => {
                let at = u64::from(page - 1) * size as u64;
                file.write(at, bytes).map_err(|error| self.session.write_error(&error))
            }
            To::Database(statement) => {
                for (index, bytes) in bytes.chunks_exact(size).enumerate() {
                    let number = Cell::Integer(i64::from(page) + index as i64);
                    let data = Cell::Bytes(Home::Chunk, Span { at: 0, len: size as u32 });
                    // SAFETY: the page is borrowed until the statement has run, and let go of then.
                    let code = unsafe { statement.bind(&[number, data], |_, _| bytes) };
                    let step = match code {
                        rusqlite::ffi::SQLITE_OK => statement.step(self.session),
                        _ => Err(self.session.last_error()),
                    };
                    statement.forget();
                    match step? {
                        Step::Done => {}
                        Step::Refused(_, _, message) => {
                            return Err(Error::target(format!(
                                "SQLite refused page {page}: {message}"
                            )));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// What went wrong since the last time; that the user wants to stop counts.
    pub(super) fn check(&mut self) -> Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None if self.session.stopped() => Err(Error::interrupted()),
            None => Ok(()),
        }
    }

    /// An error of a file that belongs to the load.
    pub(super) fn file_error(&self, error: &io::Error) -> Error {
        self.session.write_error(error)
    }

    /// Writes a page that SQLite has made before.
    pub(super) fn replace(&mut self, number: u32, page: &[u8]) -> Result<()> {
        if let To::Database(_) = self.to {
            // SQLite has looked at the page and keeps what it saw there, as how many cells it has, beside the page itself. Only
            // where a savepoint is rolled back does it look again at the pages that were changed since (`pageReinit` in btree.c).
            self.session.execute("SAVEPOINT inrush_page")?;
            self.write(number, page)?;
            self.session.execute("ROLLBACK TO inrush_page; RELEASE inrush_page")?;
        }
        self.write(number, page)
    }

    /// Tells page 1 how many pages there are now, and what is left of the free ones. After that SQLite can be asked about them.
    pub(super) fn finish(&mut self, free: &FreeList) -> Result<()> {
        match self.to {
            To::File(_) => self.write_first(free),
            To::Database(_) => {
                // The end of a savepoint has SQLite read the count of pages again (`sqlite3BtreeSavepoint`).
                self.session.execute("SAVEPOINT inrush_count")?;
                self.write_first(free)?;
                self.session.execute("RELEASE inrush_count")
            }
        }
    }

    fn write_first(&mut self, free: &FreeList) -> Result<()> {
        let count = self.numbers.page_count();
        let mut first = match &mut self.to {
            To::File(file) => {
                file.first(self.size.bytes()).map_err(|error| self.session.write_error(&error))?
            }
            To::Database(_) => self.session.page(1)?,
        };
        first[PAGE_COUNT..PAGE_COUNT + 4].copy_from_slice(&count.to_be_bytes());
        let rest = free.rest(self.numbers.free_count(), &mut first, self.size.bytes());
        if let Some((trunk, page)) = rest {
            self.write(trunk, &page)?;
        }
        self.write(1, &first)?;
        match &mut self.to {
            To::File(file) => {
                file.flush().map_err(|error| self.session.write_error(&error))?;
                file.sync_early();
                Ok(())
            }
            To::Database(_) => Ok(()),
        }
    }
}

impl PageSink for Sink<'_> {
    fn reserve(&mut self) -> u32 {
        self.numbers.take()
    }

    fn store(&mut self, number: u32, page: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.write(number, page).err();
        }
    }
}

/// The file of a new database, written mostly from one end to the other.
pub(super) struct PageFile {
    file: File,
    /// Pages that are not written yet, and where they go.
    held: Vec<u8>,
    at: u64,
    /// Bytes written since the disk was last asked to follow.
    unsynced: usize,
    early: Option<EarlySync>,
}

/// Has the disk follow while the load goes on, so that little is left to wait for at its end.
struct EarlySync {
    wanted: SyncSender<()>,
    /// Ends with the first failure, which the kernel tells once only.
    thread: JoinHandle<io::Result<()>>,
}

impl EarlySync {
    fn start(file: File) -> io::Result<Self> {
        let (wanted, asked) = sync_channel::<()>(1);
        let thread = thread::Builder::new()
            .name("inrush-sync".to_owned())
            .spawn(move || asked.iter().try_for_each(|()| file.sync_data()))?;
        Ok(Self { wanted, thread })
    }
}

impl PageFile {
    /// Fewer bytes than this wait for more, and more go in parts: for larger ones the kernel looks for larger blocks of memory, which
    /// are harder to find, and the first that the host of a virtual machine takes away.
    const WRITE_BYTES: usize = 128 << 10;
    /// The disk is asked to follow after so many.
    const SYNC_BYTES: usize = 32 << 20;

    /// `durable`: whether what is written will be synced at the end.
    pub(super) fn new(file: File, durable: bool) -> io::Result<Self> {
        let early = if durable { Some(EarlySync::start(file.try_clone()?)?) } else { None };
        Ok(Self { file, held: Vec::new(), at: 0, unsynced: 0, early })
    }

    /// Waits until the disk has followed as far as it was asked to.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        match self.early.take() {
            Some(EarlySync { wanted, thread }) => {
                drop(wanted);
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            None => Ok(()),
        }
    }

    /// Asks the disk to follow, unless it has not done yet what it was asked before.
    fn sync_early(&mut self) {
        if let Some(early) = &self.early {
            // Full means asked already; ended means failed, which `settle` tells.
            let _ = early.wanted.try_send(());
            self.unsynced = 0;
        }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.at + self.held.len() as u64 != at || self.held.len() >= Self::WRITE_BYTES {
            self.flush()?;
            self.at = at;
        }
        if self.held.is_empty() && bytes.len() >= Self::WRITE_BYTES {
            self.file.seek(SeekFrom::Start(at))?;
            for part in bytes.chunks(Self::WRITE_BYTES) {
                self.file.write_all(part)?;
            }
            self.at = at + bytes.len() as u64;
            self.wrote(bytes.len());
        } else {
            self.held.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.held.is_empty() {
            self.file.seek(SeekFrom::Start(self.at))?;
            self.file.write_all(&self.held)?;
            self.at += self.held.len() as u64;
            self.wrote(self.held.len());
            self.held.clear();
        }
        Ok(())
    }

    fn wrote(&mut self, bytes: usize) {
        self.unsynced += bytes;
        if self.unsynced >= Self::SYNC_BYTES {
            self.sync_early();
        }
    }

    /// The file's first bytes, which SQLite has written.
    fn first(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut first = vec![0; bytes];
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_exact(&mut first)?;
        Ok(first)
    }
}
