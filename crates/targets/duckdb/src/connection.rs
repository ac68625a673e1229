//! Databases, connections and answers.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::library::{
    ChunkHandle, ConfigHandle, ConnectionHandle, DatabaseHandle, Library, RawResult, RawString,
    SUCCESS, StatementHandle, VectorHandle, kind,
};
use inrush_core::error::Error;
use inrush_core::limits::Limit;
use inrush_core::locks::{self, Claim, FileLock};
use inrush_core::pending::{Named, not_at_its_name};
use inrush_core::signature;
use inrush_core::target::Row;
use inrush_core::wording::shell_word;

/// What sort of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A key, a CHECK, a NOT NULL.
    Constraint,
    /// A value that a type does not take.
    Value,
    Files,
    Interrupt,
    Memory,
    /// The database's file has lost its name, as we have found out.
    Moved,
    Other,
}

/// The causes that matter, as a message of the library begins.
const CAUSES: [(&str, Cause); 8] = [
    ("Constraint Error: ", Cause::Constraint),
    ("TransactionContext Error: Failed to commit: PRIMARY KEY or UNIQUE", Cause::Constraint),
    ("Conversion Error: ", Cause::Value),
    ("Out of Range Error: ", Cause::Value),
    ("Invalid Input Error: ", Cause::Value),
    ("INTERRUPT Error: ", Cause::Interrupt),
    ("IO Error: ", Cause::Files),
    ("Out of Memory Error: ", Cause::Memory),
];

/// What the engine says when it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) cause: Cause,
    /// Its words, without the kind and without its advice.
    pub(super) message: String,
}

impl Refusal {
    /// From a message of the library: what kind of error, then what happened, then perhaps advice or the line of the statement.
    pub(super) fn new(message: &str) -> Self {
        let cause = CAUSES.iter().find(|(words, _)| message.starts_with(words));
        // The appender puts its own words in front.
        let cause = cause
            .map(|(_, cause)| *cause)
            .or_else(|| message.starts_with("Failed to append: ").then_some(Cause::Constraint));
        let is_kind = |kind: &str| kind.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
        let what = match message.split_once(" Error: ") {
            Some((kind, what)) if is_kind(kind) => what,
            _ => message,
        };
        let what = what.split("\n\n").next().unwrap_or(what).trim_end();
        Self { cause: cause.unwrap_or(Cause::Other), message: what.replace('\n', " ") }
    }

    /// Whether the log beside the database, which a killed program has left, could not be played back. Where the log has rows and an index
    /// of them, the engine writes into the file while it does so, and fails if it has opened the file only to read it.
    pub(super) fn is_of_log(&self) -> bool {
        self.message.contains("replaying WAL")
    }

    /// Whether rows are to blame.
    pub(super) fn is_of_rows(&self) -> bool {
        matches!(self.cause, Cause::Constraint | Cause::Value)
    }
}

/// An open database. A process can't open a file a second time, so whoever wants the same one shares it.
pub(super) struct Database {
    library: &'static Library,
    handle: DatabaseHandle,
    /// The file that it is in; `None` in memory.
    named: Option<Arc<Named>>,
    /// After the handle's end.
    _claim: Claim,
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once; connections keep it alive until they are gone.
        unsafe { (self.library.close)(&raw mut self.handle) };
    }
}

/// The engine's words for a file that another DuckDB of this process has locked.
const OPEN_HERE: &str = "Could not set lock on file: this program has it open";

/// Claims a file. The engine's own lock does not exclude another DuckDB in the same process, such as Python's, and of two that write each
/// undoes what the other has written.
fn claim(path: &str) -> Result<Claim, Refusal> {
    Claim::new(Path::new(path), || {
        if locks::of(Path::new(path)).iter().any(FileLock::is_own) {
            return Err(Refusal::new(OPEN_HERE));
        }
        // Never of a file that is open here: who closes it frees the engine's lock.
        if is_sqlite(path) { Err(Refusal::new(SQLITE)) } else { Ok(()) }
    })
}

/// Databases that are open, by the process, for one that it forks can't go on with them, and by path or, in memory, by name.
static OPEN: Mutex<BTreeMap<(u32, PathBuf), Weak<Database>>> = Mutex::new(BTreeMap::new());

impl Database {
    /// The database that is open under this key in this process.
    pub(super) fn shared(key: &Path) -> Option<Arc<Self>> {
        let key = (process::id(), key.to_owned());
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).get(&key).and_then(Weak::upgrade)
    }

    /// The database under `key` if it is open here, or opens `path` with these options and shares it.
    pub(super) fn open_shared(
        library: &'static Library,
        key: &Path,
        path: &str,
        options: &[(&str, &str)],
    ) -> Result<Arc<Self>, Refusal> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, database| database.strong_count() > 0);
        let key = (process::id(), key.to_owned());
        if let Some(database) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(database);
        }
        let database = Arc::new(Self::open(library, path, options)?);
        open.insert(key, Arc::downgrade(&database));
        Ok(database)
    }

    /// Opens a database for whoever calls alone. The engine runs what it was built with and what the user has installed: it fetches no
    /// extension over the network, which it would do unasked, and opens no database of another engine with one.
    pub(super) fn open(
        library: &'static Library,
        path: &str,
        options: &[(&str, &str)],
    ) -> Result<Self, Refusal> {
        let mut config = Config::new(library)?;
        config.set("autoinstall_known_extensions", "false")?;
        options.iter().try_for_each(|(name, value)| config.set(name, value))?;
        let claim = claim(path)?;
        // Before the engine opens it, so that what takes the name meanwhile is not mistaken for it.
        let named = Named::of(Path::new(path));
        let named = || named.or_else(|| Named::of(Path::new(path)));
        let path_text = text(path)?;
        let mut handle = DatabaseHandle::null();
        let mut words = std::ptr::null_mut();
        // SAFETY: the path is a C string, both pointers are written before they are read, and the configuration lives.
        let state = unsafe {
            (library.open_ext)(path_text.as_ptr(), &raw mut handle, config.handle, &raw mut words)
        };
        if state == SUCCESS {
            return Ok(Self { library, handle, named: named().map(Arc::new), _claim: claim });
        }
        let message = if words.is_null() {
            "the database can't be opened".to_owned()
        } else {
            // SAFETY: the library's own string, copied and then freed as duckdb.h says.
            unsafe {
                let message = CStr::from_ptr(words).to_string_lossy().into_owned();
                (library.free)(words.cast());
                message
            }
        };
        Err(Refusal::new(&message))
    }

    /// A connection; `stop` ends its statements.
    pub(super) fn connect(self: &Arc<Self>) -> Result<Connection, Refusal> {
        let mut handle = ConnectionHandle::null();
        // SAFETY: the database is open, the pointer is written before it is read.
        let state = unsafe { (self.library.connect)(self.handle, &raw mut handle) };
        if state != SUCCESS {
            return Err(Refusal::new("the database takes no connection"));
        }
        Ok(Connection { library: self.library, handle, database: Arc::clone(self) })
    }
}

/// The words for a file that is SQLite's.
const SQLITE: &str = "the file is an SQLite database";

/// Whether a file is a database of SQLite.
fn is_sqlite(path: &str) -> bool {
    let mut head = [0; signature::SQLITE.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == signature::SQLITE
}

struct Config {
    library: &'static Library,
    handle: ConfigHandle,
}

impl Config {
    fn new(library: &'static Library) -> Result<Self, Refusal> {
        let mut handle = ConfigHandle::null();
        // SAFETY: the pointer is written before it is read.
        match unsafe { (library.create_config)(&raw mut handle) } {
            SUCCESS => Ok(Self { library, handle }),
            _ => Err(Refusal::new("no memory for a configuration")),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let (c_name, c_value) = (text(name)?, text(value)?);
        // SAFETY: the configuration lives, and both are C strings.
        match unsafe { (self.library.set_config)(self.handle, c_name.as_ptr(), c_value.as_ptr()) } {
            SUCCESS => Ok(()),
            _ => Err(Refusal::new(&format!(
                "DuckDB {} takes no {name}={value}",
                self.library.version
            ))),
        }
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: made by us, destroyed once.
        unsafe { (self.library.destroy_config)(&raw mut self.handle) };
    }
}

/// SQL and names as C has them.
pub(super) fn text(text: &str) -> Result<CString, Refusal> {
    CString::new(text).map_err(|_| Refusal::new("a NUL byte can't be part of a statement"))
}

/// Copies a message of the library's.
///
/// # Safety
/// `words` is NULL or a C string that lives during the call.
pub(super) unsafe fn words(words: *const c_char) -> String {
    if words.is_null() {
        return "the engine says no more".to_owned();
    }
    // SAFETY: the caller promises.
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}

/// A connection. Its calls block; another thread ends them with an [`Interrupter`].
pub(super) struct Connection {
    pub(super) library: &'static Library,
    pub(super) handle: ConnectionHandle,
    /// After the handle's end.
    database: Arc<Database>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once; the database is still there.
        unsafe { (self.library.disconnect)(&raw mut self.handle) };
    }
}

impl Connection {
    /// Another one to the same database.
    pub(super) fn another(&self) -> Result<Self, Refusal> {
        self.database.connect()
    }

    /// Closes the connection. When the database goes with it, which this process then opens no second time meanwhile, `last` comes first.
    pub(super) fn close(self, last: impl FnOnce(&Self)) {
        let _open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::strong_count(&self.database) == 1 {
            last(&self);
        }
        drop(self);
    }

    /// The file that the database is in; `None` in memory.
    pub(super) fn named(&self) -> Option<Arc<Named>> {
        self.database.named.clone()
    }

    /// Runs statements; the answer is the last one's.
    pub(super) fn query(&self, sql: &str) -> Result<Answer, Refusal> {
        self.borrowed().query(sql)
    }

    /// The connection for another thread, which must be done with it before this goes.
    pub(super) fn borrowed(&self) -> Borrowed {
        Borrowed { library: self.library, handle: self.handle }
    }

    /// Runs statements that answer with nothing; how many rows the last one changed.
    pub(super) fn execute(&self, sql: &str) -> Result<u64, Refusal> {
        self.query(sql).map(|mut answer| answer.changed())
    }

    /// All rows of a query whose columns are all VARCHAR.
    pub(super) fn rows(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, Refusal> {
        let mut answer = self.query(sql)?;
        let mut rows = Vec::new();
        answer.texts(&mut |row| {
            let text = |value: &Option<&[u8]>| {
                value.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            rows.push(row.iter().map(text).collect());
        });
        Ok(rows)
    }

    /// The first value of a query whose columns are all VARCHAR.
    pub(super) fn value(&self, sql: &str) -> Result<Option<String>, Refusal> {
        let row = self.rows(sql)?.into_iter().next().unwrap_or_default();
        Ok(row.into_iter().next().flatten())
    }

    /// Compiles a statement.
    pub(super) fn prepare(&self, sql: &str) -> Result<Statement, Refusal> {
        let sql = text(sql)?;
        let mut statement = Statement { library: self.library, handle: StatementHandle::null() };
        // SAFETY: the connection is open; the statement is destroyed whatever became of it.
        let state =
            unsafe { (self.library.prepare)(self.handle, sql.as_ptr(), &raw mut statement.handle) };
        match state {
            SUCCESS => Ok(statement),
            _ => Err(statement.refusal()),
        }
    }
}

/// A connection that is another thread's.
pub(super) struct Borrowed {
    library: &'static Library,
    handle: ConnectionHandle,
}

impl Borrowed {
    fn query(&self, sql: &str) -> Result<Answer, Refusal> {
        let sql = text(sql)?;
        let mut answer = Answer { library: self.library, raw: RawResult::empty() };
        // SAFETY: the connection is open, the statement a C string, and the answer is destroyed whatever became of it.
        let state = unsafe { (self.library.query)(self.handle, sql.as_ptr(), &raw mut answer.raw) };
        answer.checked(state)
    }

    /// As [`Connection::execute`].
    pub(super) fn execute(&self, sql: &str) -> Result<u64, Refusal> {
        self.query(sql).map(|mut answer| answer.changed())
    }
}

/// A compiled statement.
pub(super) struct Statement {
    pub(super) library: &'static Library,
    pub(super) handle: StatementHandle,
}

impl Statement {
    /// Why it did not compile.
    pub(super) fn refusal(&self) -> Refusal {
        // SAFETY: the handle is the one that prepare wrote; the message lives as long as it.
        let message = unsafe { words((self.library.prepare_error)(self.handle)) };
        Refusal::new(&message)
    }

    pub(super) fn run(&self) -> Result<Answer, Refusal> {
        let mut answer = Answer { library: self.library, raw: RawResult::empty() };
        // SAFETY: the statement is live, and its connection open.
        let state = unsafe { (self.library.execute_prepared)(self.handle, &raw mut answer.raw) };
        answer.checked(state)
    }
}

impl Statement {
    /// Runs the statement; rows come as they are asked for.
    pub(super) fn stream(&self) -> Result<Answer, Refusal> {
        let mut answer = Answer { library: self.library, raw: RawResult::empty() };
        // SAFETY: as for `run`.
        let state =
            unsafe { (self.library.execute_prepared_streaming)(self.handle, &raw mut answer.raw) };
        answer.checked(state)
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: made by us, destroyed once.
        unsafe { (self.library.destroy_prepare)(&raw mut self.handle) };
    }
}

// SAFETY: a statement is used by one thread at a time, as its owner is.
unsafe impl Send for Statement {}

/// What a statement answers.
pub(super) struct Answer {
    library: &'static Library,
    raw: RawResult,
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: written by the library or empty, destroyed once.
        unsafe { (self.library.destroy_result)(&raw mut self.raw) };
    }
}

impl Answer {
    fn checked(mut self, state: c_int) -> Result<Self, Refusal> {
        if state == SUCCESS {
            return Ok(self);
        }
        // SAFETY: the library has written the result; the message lives as long as it.
        let message = unsafe { words((self.library.result_error)(&raw mut self.raw)) };
        Err(Refusal::new(&message))
    }

    /// Rows that the statement changed.
    pub(super) fn changed(&mut self) -> u64 {
        // SAFETY: the result is live.
        unsafe { (self.library.rows_changed)(&raw mut self.raw) }
    }

    /// Whether it has rows, and isn't a number of rows that were changed.
    pub(super) fn has_rows(&self) -> bool {
        /// `DUCKDB_RESULT_TYPE_QUERY_RESULT`.
        const QUERY: c_int = 3;
        // SAFETY: the result is live.
        unsafe { (self.library.result_return_type)(self.raw) == QUERY }
    }

    /// What went wrong while rows were fetched.
    pub(super) fn ended(mut self) -> Result<(), Refusal> {
        // SAFETY: the result is live; a message lives as long as it.
        unsafe {
            let message = (self.library.result_error)(&raw mut self.raw);
            if message.is_null() || *message == 0 {
                return Ok(());
            }
            Err(Refusal::new(&words(message)))
        }
    }

    pub(super) fn columns(&mut self) -> usize {
        // SAFETY: the result is live.
        unsafe { (self.library.column_count)(&raw mut self.raw) as usize }
    }

    /// `duckdb_type` of a column.
    pub(super) fn kind(&mut self, column: usize) -> c_int {
        // SAFETY: the result is live; out of its columns the answer is 0.
        unsafe { (self.library.column_type)(&raw mut self.raw, column as u64) }
    }

    /// The next rows.
    pub(super) fn chunk(&mut self) -> Option<Chunk> {
        // SAFETY: the result is live.
        let handle = unsafe { (self.library.fetch_chunk)(self.raw) };
        (!handle.is_null()).then_some(Chunk { library: self.library, handle })
    }

    /// Hands out rows as text. Values of other kinds than text, numbers and booleans have no text here, and are given as such.
    pub(super) fn texts(&mut self, row: &mut dyn FnMut(&Row<'_>)) {
        let kinds: Vec<c_int> = (0..self.columns()).map(|column| self.kind(column)).collect();
        while let Some(chunk) = self.chunk() {
            let vectors: Vec<Vector> =
                (0..kinds.len()).map(|column| chunk.vector(column)).collect();
            for index in 0..chunk.rows() {
                let texts: Vec<_> = vectors
                    .iter()
                    .zip(&kinds)
                    // SAFETY: the vector is the chunk's, has the column's type, and the row is one of the chunk's.
                    .map(|(vector, kind)| unsafe { vector.text(*kind, index) })
                    .collect();
                let values: Vec<_> = texts.iter().map(Option::as_deref).collect();
                row(&values);
            }
        }
    }
}

/// Some rows of an answer.
pub(super) struct Chunk {
    library: &'static Library,
    handle: ChunkHandle,
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: given to us, destroyed once.
        unsafe { (self.library.destroy_data_chunk)(&raw mut self.handle) };
    }
}

impl Chunk {
    pub(super) fn rows(&self) -> usize {
        // SAFETY: the chunk is live.
        unsafe { (self.library.data_chunk_get_size)(self.handle) as usize }
    }

    pub(super) fn vector(&self, column: usize) -> Vector<'_> {
        // SAFETY: the chunk is live, and both arrays are until it goes.
        unsafe {
            let vector: VectorHandle =
                (self.library.data_chunk_get_vector)(self.handle, column as u64);
            Vector {
                data: (self.library.vector_get_data)(vector).cast(),
                validity: (self.library.vector_get_validity)(vector),
                _chunk: std::marker::PhantomData,
            }
        }
    }
}

/// One column of a chunk.
pub(super) struct Vector<'c> {
    data: *const u8,
    /// A bit a row; NULL where all are valid.
    validity: *const u64,
    _chunk: std::marker::PhantomData<&'c Chunk>,
}

impl<'c> Vector<'c> {
    /// Whether the value of a row of the chunk isn't NULL.
    ///
    /// # Safety
    /// The row is one of the chunk's.
    pub(super) unsafe fn is_valid(&self, row: usize) -> bool {
        // SAFETY: a bit for every row.
        self.validity.is_null() || unsafe { *self.validity.add(row / 64) } >> (row % 64) & 1 == 1
    }

    /// A value.
    ///
    /// # Safety
    /// The row is one of the chunk's, and the column's values are of type `T`.
    pub(super) unsafe fn value<T: Copy>(&self, row: usize) -> T {
        // SAFETY: the caller promises.
        unsafe { *self.data.cast::<T>().add(row) }
    }

    /// The bytes of a string.
    ///
    /// # Safety
    /// The row is one of the chunk's, and the column is of strings or bytes.
    pub(super) unsafe fn bytes(&self, row: usize) -> &'c [u8] {
        // SAFETY: the caller promises; the strings live as long as the chunk.
        unsafe { RawString::bytes(self.data.cast::<RawString>().add(row)) }
    }

    /// # Safety
    /// The row is one of the chunk's, and the column is of this kind.
    unsafe fn text(&self, of: c_int, row: usize) -> Option<std::borrow::Cow<'c, [u8]>> {
        // SAFETY: the caller promises all of it.
        unsafe {
            if !self.is_valid(row) {
                return None;
            }
            let text = match of {
                kind::VARCHAR | kind::BLOB => return Some(self.bytes(row).into()),
                kind::BOOLEAN => self.value::<bool>(row).to_string(),
                kind::TINYINT => self.value::<i8>(row).to_string(),
                kind::SMALLINT => self.value::<i16>(row).to_string(),
                kind::INTEGER => self.value::<i32>(row).to_string(),
                kind::BIGINT => self.value::<i64>(row).to_string(),
                kind::UTINYINT => self.value::<u8>(row).to_string(),
                kind::USMALLINT => self.value::<u16>(row).to_string(),
                kind::UINTEGER => self.value::<u32>(row).to_string(),
                kind::UBIGINT => self.value::<u64>(row).to_string(),
                kind::FLOAT => self.value::<f32>(row).to_string(),
                kind::DOUBLE => self.value::<f64>(row).to_string(),
                other => format!("(a value of type {other})"),
            };
            Some(text.into_bytes().into())
        }
    }
}

/// Ends a connection's statements once the user wants to stop. DuckDB asks nobody by itself, so a thread looks.
pub(super) struct Interrupter<'a> {
    stop: &'a AtomicBool,
    over: Arc<AtomicBool>,
    /// Whose turn it is: whoever has this is not interrupted.
    turn: Arc<Mutex<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// As often as the user's wish is looked at.
const TICK: Duration = Duration::from_millis(20);

impl<'a> Interrupter<'a> {
    /// Watches over a connection until this is dropped, which has to be before the connection is.
    pub(super) fn new(connection: &Connection, stop: &'a AtomicBool) -> Self {
        /// A reference whose owner joins the thread that has it.
        struct Stop(*const AtomicBool);
        // SAFETY: an atomic is shared by nature; the owner outlives the thread.
        unsafe impl Send for Stop {}

        let over = Arc::new(AtomicBool::new(false));
        let turn = Arc::new(Mutex::new(()));
        let (library, handle) = (connection.library, connection.handle);
        let (is_over, turns) = (Arc::clone(&over), Arc::clone(&turn));
        let flag = Stop(stop);
        let watch = move || {
            let flag = flag;
            while !is_over.load(Relaxed) {
                // SAFETY: the interrupter borrows the flag and joins this thread before that ends.
                if unsafe { &*flag.0 }.load(Relaxed) {
                    let _turn = turns.lock().unwrap_or_else(PoisonError::into_inner);
                    // SAFETY: made to be called from other threads; the connection is open until the thread has ended.
                    unsafe { (library.interrupt)(handle) };
                }
                thread::park_timeout(TICK);
            }
        };
        // Without a thread a long statement can't be ended before its time, which is all that is lost.
        let thread = thread::Builder::new().name("inrush-watch".to_owned()).spawn(watch).ok();
        Self { stop, over, turn, thread }
    }

    /// What runs as long as this is held comes to its own end.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

impl Drop for Interrupter<'_> {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// A refusal in the user's words, where `shown` is the database.
pub(super) fn explain(shown: &str, refusal: &Refusal) -> Error {
    let message = refusal.message.as_str();
    let lower = message.to_lowercase();
    if refusal.cause == Cause::Interrupt || message == "Interrupted!" {
        return Error::interrupted();
    }
    if refusal.cause == Cause::Moved {
        return not_at_its_name(shown);
    }
    if message == OPEN_HERE {
        return Error::target(format!(
            "{shown} is open in this program, by another DuckDB than inrush's"
        ))
        .advise(
            "close it there first: the program's own connections to it, and what has attached it",
        );
    }
    if message == SQLITE {
        return Error::target(format!("{shown} is an SQLite database"))
            .advise(format!("name it as such: {}", shell_word(&format!("sqlite:{shown}"))));
    }
    if lower.contains("could not set lock on file") {
        let holder = message
            .split_once("held in ")
            .and_then(|(_, rest)| rest.split_once(')'))
            .map(|(holder, _)| format!(" ({holder}))"))
            .unwrap_or_default();
        return Error::target(format!("{shown} is open in another process{holder}"))
            .advise("close it there: DuckDB lets one process at a time write to a file, and none read meanwhile");
    }
    if lower.contains("not a valid duckdb database file") {
        return Error::target(format!("{shown} is not a DuckDB database"))
            .advise(format!("see what it is: file {}", shell_word(shown)));
    }
    if lower.contains("version number") && lower.contains("storage")
        || lower.contains("newer version of duckdb")
    {
        return Error::target(format!("{shown} was made by another version of DuckDB: {message}"))
            .advise("use a library of that version: --duckdb-lib PATH");
    }
    if lower.contains("no space left") || lower.contains("disk full") {
        return Error::target(format!("the disk is full: {message}"))
            .advise("make room on the file system of the database");
    }
    let limits = [("file too large", Limit::FileSize), ("too many open files", Limit::OpenFiles)];
    if let Some((_, limit)) = limits.into_iter().find(|(words, _)| lower.contains(words)) {
        return Error::target(format!("{shown}: {message}")).advise(limit.cure());
    }
    if refusal.cause == Cause::Memory {
        return Error::target(format!("{shown}: {message}"))
            .advise("let DuckDB take more memory: --set memory_limit=2g");
    }
    Error::target(format!("{shown}: {message}"))
}
