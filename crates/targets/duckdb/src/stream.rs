//! `arrow`: one INSERT takes all rows from an Arrow C stream, whose batches are the encoders' own memory.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::{Array as _, RecordBatch, StructArray};
use arrow_select::concat::concat_batches;
use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};

use crate::connection::{Connection, Refusal, text};
use crate::ddl::{self, quote};
use crate::encode::batch_of;
use crate::facts;
use crate::knobs;
use crate::library::{ArrowStream, SUCCESS};
use crate::load::Outcome;
use crate::session::Session;
use crate::sift::GIVEN;
use crate::sums::Sent;
use crate::types::Carried;
use inrush_arrow::bytes_of;
use inrush_core::Job;
use inrush_core::error::{Error, Result};
use inrush_core::flow::{Ack, Chunk, Wire};
use inrush_core::target::Lane;
use inrush_core::wording::counted;

/// Counts the names of views: loads of this process into one database at a time have one each.
static VIEWS: AtomicU64 = AtomicU64::new(1);

/// Where a stream's batches come from.
pub(super) trait Supply: Send {
    /// The next batch; `None` at the end of a scan.
    fn next(&mut self) -> std::result::Result<Option<RecordBatch>, ()>;
}

/// `ArrowSchema` (<https://arrow.apache.org/docs/format/CDataInterface.html>).
#[repr(C)]
#[derive(Clone, Copy)]
struct RawSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    children_count: i64,
    children: *mut *mut RawSchema,
    dictionary: *mut RawSchema,
    release: Option<unsafe extern "C" fn(*mut RawSchema)>,
    private: *mut c_void,
}

/// ARROW_FLAG_NULLABLE.
const NULLABLE: i64 = 2;

/// The memory stays the stream's.
unsafe extern "C" fn keep_schema(schema: *mut RawSchema) {
    // SAFETY: the caller of a release gives its own structure, to be marked as released.
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn keep_stream(stream: *mut ArrowStream) {
    // SAFETY: as above.
    unsafe { (*stream).release = None };
}

/// A stream as the library has it. It lies in one place as long as a view refers to it.
pub(super) struct Stream {
    raw: Box<ArrowStream>,
    /// What `raw` points to.
    inner: *mut Inner,
    /// The view through which statements see it, once it is shown.
    view: String,
}

struct Inner {
    supply: Mutex<Box<dyn Supply>>,
    schema: RawSchema,
    _children: Vec<RawSchema>,
    _pointers: Vec<*mut RawSchema>,
    _texts: Vec<CString>,
}

// SAFETY: what the pointers refer to belongs to the stream and isn't changed after it is made, except for what is behind the mutex.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream of batches with these columns.
    pub(super) fn new(job: &Job, carried: &[Carried], supply: Box<dyn Supply>) -> Self {
        let plain = RawSchema {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: NULLABLE,
            children_count: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(keep_schema),
            private: ptr::null_mut(),
        };
        // Names of columns have no NUL bytes: the engine would have refused the table.
        let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
        let mut texts = vec![text("+s"), text("")];
        let mut children = Vec::new();
        for (column, carried) in job.choice.columns.iter().zip(carried) {
            let (format, name) = (text(&format_of(*carried)), text(&column.name));
            children.push(RawSchema { format: format.as_ptr(), name: name.as_ptr(), ..plain });
            texts.extend([format, name]);
        }
        let mut inner = Box::new(Inner {
            supply: Mutex::new(supply),
            schema: RawSchema {
                format: texts[0].as_ptr(),
                name: texts[1].as_ptr(),
                children_count: children.len() as i64,
                ..plain
            },
            _children: children,
            _pointers: Vec::new(),
            _texts: texts,
        });
        inner._pointers = inner._children.iter_mut().map(ptr::from_mut).collect();
        inner.schema.children = inner._pointers.as_mut_ptr();
        let inner = Box::into_raw(inner);
        let raw = Box::new(ArrowStream {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(keep_stream),
            private: inner.cast(),
        });
        Self { raw, inner, view: String::new() }
    }

    /// Lets statements of the connection see the stream, through a view in the schema of the load.
    ///
    /// The library puts that in the place of any other view, so its name is one that nothing has. What is shown has to be hidden before
    /// the transaction's end: without this process the view would be of memory that is gone.
    pub(super) fn show(&mut self, connection: &Connection) -> Result<(), Refusal> {
        while self.view.is_empty() {
            let name = format!("inrush rows {}", VIEWS.fetch_add(1, Relaxed));
            if facts::find(connection, &name)?.is_none() {
                self.view = name;
            }
        }
        let name = text(&self.view)?;
        // SAFETY: the connection is open, the name a C string; the stream outlives the statements that read the view.
        let state = unsafe {
            (connection.library.arrow_scan)(connection.handle, name.as_ptr(), &raw mut *self.raw)
        };
        match state {
            SUCCESS => Ok(()),
            _ => Err(Refusal::new("DuckDB takes no Arrow stream")),
        }
    }

    /// The view's name, as SQL has it.
    pub(super) fn view(&self) -> String {
        quote(&self.view)
    }

    /// Takes the view away again.
    pub(super) fn hide(&self, connection: &Connection) -> Result<(), Refusal> {
        connection.execute(&format!("DROP VIEW {}", self.view())).map(drop)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made by `new` and given back once; no statement reads the stream any more.
        drop(unsafe { Box::from_raw(self.inner) });
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowStream, out: *mut c_void) -> c_int {
    // SAFETY: the library gives a copy of our structure, whose private pointer is an `Inner` that lives.
    unsafe {
        let inner = &*(*stream).private.cast::<Inner>();
        out.cast::<RawSchema>().write(inner.schema);
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowStream, out: *mut c_void) -> c_int {
    /// What the C interface calls an input/output error.
    const EIO: c_int = 5;
    // SAFETY: as in `get_schema`.
    let inner = unsafe { &*(*stream).private.cast::<Inner>() };
    let next = inner.supply.lock().unwrap_or_else(PoisonError::into_inner).next();
    let array = match next {
        Ok(Some(batch)) => FFI_ArrowArray::new(&StructArray::from(batch).into_data()),
        // One that is released already: the end.
        Ok(None) => FFI_ArrowArray::empty(),
        Err(()) => return EIO,
    };
    // SAFETY: the library gives a place for an array, which is its own from now on.
    unsafe { out.cast::<FFI_ArrowArray>().write(array) };
    0
}

unsafe extern "C" fn get_last_error(_stream: *mut ArrowStream) -> *const c_char {
    c"the rows end before their end".as_ptr()
}

/// The format of a column's arrays.
fn format_of(carried: Carried) -> String {
    let format = match carried {
        Carried::Boolean => "b",
        Carried::Integer { bits: 8, signed: true } => "c",
        Carried::Integer { bits: 8, signed: false } => "C",
        Carried::Integer { bits: 16, signed: true } => "s",
        Carried::Integer { bits: 16, signed: false } => "S",
        Carried::Integer { bits: 32, signed: true } => "i",
        Carried::Integer { bits: 32, signed: false } => "I",
        Carried::Integer { signed: true, .. } => "l",
        Carried::Integer { signed: false, .. } => "L",
        Carried::Float => "f",
        Carried::Double => "g",
        Carried::Decimal { precision, scale } => return format!("d:{precision},{scale}"),
        Carried::Date => "tdD",
        Carried::Timestamp { digits: 0 } => "tss:",
        Carried::Timestamp { digits: 3 } => "tsm:",
        Carried::Timestamp { digits: 9 } => "tsn:",
        Carried::Timestamp { .. } => "tsu:",
        Carried::Moment => "tsu:UTC",
        Carried::Time => "ttu",
        Carried::Text | Carried::Uuid | Carried::Json | Carried::Nested | Carried::Cast => "u",
        Carried::Bytes => "z",
    };
    format.to_owned()
}

/// Rows of a row group (<https://duckdb.org/docs/stable/internals/storage#row-groups>). The engine compresses a batch that has as many
/// where it is; the rows of smaller ones it copies into a group of their own first.
const GROUP_ROWS: usize = 122_880;

/// Bytes of all batches that are gathered, wait, or are being read.
pub(super) const GATHERED_BYTES: usize = 320 << 20;

/// Batches that wait for the statement to take them.
const WAITING_MAX: usize = 1;

/// Bytes of a batch of rows that are too long for a group of them to be gathered. Larger ones keep the engine's threads from working
/// at once, and smaller ones cost it several times the work.
const LONG_ROWS_BYTES: usize = 4 << 20;

/// Bytes of the largest batch, where so many threads read one each, while one waits and the rows of another become one.
fn bytes_max(readers: usize) -> usize {
    GATHERED_BYTES / (readers + WAITING_MAX + 2)
}

/// Whether rows of so many bytes are gathered to row groups.
pub(super) fn are_gathered(row_bytes: usize, readers: usize) -> bool {
    GROUP_ROWS.saturating_mul(row_bytes) <= bytes_max(readers)
}

/// Rows of chunks, which go to the engine as a row group.
struct Group {
    batches: Vec<RecordBatch>,
    rows: usize,
    /// Threads of the engine.
    readers: usize,
}

impl Group {
    fn new(readers: usize) -> Self {
        Self { batches: Vec::new(), rows: 0, readers }
    }

    /// Takes a batch; what is to go to the engine now.
    fn add(&mut self, mut batch: RecordBatch) -> Result<Vec<RecordBatch>> {
        let mut ready = Vec::new();
        let row_bytes = bytes_of(&batch).div_ceil(batch.num_rows().max(1)).max(1);
        let rows_max = match are_gathered(row_bytes, self.readers) {
            true => GROUP_ROWS,
            false => (LONG_ROWS_BYTES / row_bytes).clamp(1, GROUP_ROWS),
        };
        while self.rows + batch.num_rows() >= rows_max {
            // There may be more, where rows become longer.
            let missing = rows_max.saturating_sub(self.rows).min(batch.num_rows());
            self.batches.push(batch.slice(0, missing));
            batch = batch.slice(missing, batch.num_rows() - missing);
            ready.extend(self.end()?);
        }
        if batch.num_rows() > 0 {
            self.rows += batch.num_rows();
            self.batches.push(batch);
        }
        Ok(ready)
    }

    /// What was gathered.
    fn end(&mut self) -> Result<Option<RecordBatch>> {
        self.rows = 0;
        let batches = std::mem::take(&mut self.batches);
        let Some(first) = batches.first() else { return Ok(None) };
        let whole = concat_batches(first.schema_ref(), &batches);
        whole.map(Some).map_err(|error| Error::target(format!("cannot join batches: {error}")))
    }
}

/// Batches as the encoders finish them.
struct Arriving {
    from: Receiver<RecordBatch>,
    /// All rows were sent.
    is_whole: Arc<AtomicBool>,
}

impl Supply for Arriving {
    fn next(&mut self) -> std::result::Result<Option<RecordBatch>, ()> {
        match self.from.recv() {
            Ok(batch) => Ok(Some(batch)),
            Err(_) if self.is_whole.load(Relaxed) => Ok(None),
            Err(_) => Err(()),
        }
    }
}

/// One statement that takes all rows.
pub(super) struct StreamLane<'l> {
    to: Option<Sender<RecordBatch>>,
    is_whole: Arc<AtomicBool>,
    statement: Option<JoinHandle<std::result::Result<u64, Refusal>>>,
    session: &'l Session<'l>,
    sent: Sent<'l>,
    outcome: &'l mut Outcome,
    rows: u64,
    group: Group,
    /// After the statement's end.
    stream: Stream,
}

impl<'l> StreamLane<'l> {
    pub(super) fn start(sent: Sent<'l>, outcome: &'l mut Outcome) -> Result<Self> {
        let Sent { session, job, carried, rules } = sent;
        let (to, from) = bounded(WAITING_MAX);
        let is_whole = Arc::new(AtomicBool::new(false));
        let supply = Arriving { from, is_whole: Arc::clone(&is_whole) };
        let mut stream = Stream::new(job, carried, Box::new(supply));
        stream.show(session.connection()).map_err(|refusal| session.explain(&refusal))?;
        let sql = format!(
            "{} SELECT {} FROM {} {GIVEN}",
            ddl::insert_into(job),
            rules.checked_values(),
            stream.view()
        );
        let runner = session.connection().borrowed();
        let statement = std::thread::Builder::new()
            .name("inrush-duckdb".to_owned())
            .spawn(move || runner.execute(&sql))
            .map_err(|error| Error::no_thread(&error))?;
        Ok(Self {
            to: Some(to),
            is_whole,
            statement: Some(statement),
            session,
            sent,
            outcome,
            rows: 0,
            group: Group::new(match job.choice.knobs.count(&knobs::THREADS) {
                0 => job.facts.processors,
                threads => usize::try_from(threads).unwrap_or(usize::MAX),
            }),
            stream,
        })
    }

    /// Hands a batch to the statement.
    fn hand(&mut self, mut batch: RecordBatch) -> Result<()> {
        while let Some(to) = &self.to {
            batch = match to.send_timeout(batch, TICK) {
                Ok(()) => break,
                Err(SendTimeoutError::Timeout(batch) | SendTimeoutError::Disconnected(batch)) => {
                    batch
                }
            };
            if self.statement.as_ref().is_none_or(JoinHandle::is_finished) {
                self.wait()?;
                return Err(Error::target("DuckDB ended the statement before the last row"));
            }
        }
        Ok(())
    }

    /// Waits for the statement's end: how many rows it has taken.
    fn wait(&mut self) -> Result<u64> {
        self.to = None;
        let Some(statement) = self.statement.take() else { return Ok(self.rows) };
        let ended = statement
            .join()
            .unwrap_or_else(|_| Err(Refusal::new("the thread of the statement has ended")));
        ended.map_err(|refusal| {
            self.outcome.refused |= refusal.is_of_rows();
            self.session.explain(&refusal)
        })
    }
}

/// How often a lane that waits looks whether the statement is still there.
const TICK: Duration = Duration::from_millis(20);

impl Lane for StreamLane<'_> {
    fn send(&mut self, _chunk: &Chunk, wire: &Wire) -> Result<Ack> {
        let Some(batch) = batch_of(wire) else { return Ok(Ack::default()) };
        let rows = batch.num_rows() as u64;
        let checksum = self.sent.without(wire, &[])?;
        for batch in self.group.add(batch)? {
            self.hand(batch)?;
        }
        self.rows += rows;
        Ok(Ack { loaded: rows, checksum, ..Ack::default() })
    }

    fn finish(&mut self) -> Result<()> {
        if let Some(rest) = self.group.end()? {
            self.hand(rest)?;
        }
        self.is_whole.store(true, Relaxed);
        let taken = self.wait()?;
        if taken != self.rows {
            return Err(Error::target(format!(
                "DuckDB took {taken} of {} and said nothing",
                counted(self.rows, "row")
            )));
        }
        let hidden = self.stream.hide(self.session.connection());
        hidden.map_err(|refusal| self.session.explain(&refusal))
    }
}

impl Drop for StreamLane<'_> {
    fn drop(&mut self) {
        // What ends without being whole is refused by the stream itself.
        let _ = self.wait();
    }
}

/// The same batch for every statement that asks.
#[derive(Clone, Default)]
pub(super) struct Replay(Arc<Mutex<(Option<RecordBatch>, bool)>>);

impl Replay {
    pub(super) fn set(&self, batch: Option<RecordBatch>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (batch, false);
    }
}

impl Supply for Replay {
    fn next(&mut self) -> std::result::Result<Option<RecordBatch>, ()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // After the end of one scan the next one begins.
        state.1 = !state.1;
        Ok(if state.1 { state.0.clone() } else { None })
    }
}
