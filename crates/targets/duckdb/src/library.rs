//! DuckDB's library, loaded at run time: what we call of it, and where it is looked for.
//!
//! Types and functions are those of `duckdb.h` (<https://duckdb.org/docs/stable/clients/c/api>), which is stable since 1.0; those that came
//! later are asked for by name, and a library without them is told to be too old.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::Library as Shared;

use crate::TARGET;
use inrush_core::Request;
use inrush_core::error::{Error, Result};
use inrush_core::limits::Limit;

/// Names the library, where no option does.
const VARIABLE: &str = "INRUSH_DUCKDB_LIB";

/// What the system calls it.
#[cfg(target_os = "windows")]
const FILE: &str = "duckdb.dll";
#[cfg(target_os = "macos")]
const FILE: &str = "libduckdb.dylib";
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const FILE: &str = "libduckdb.so";

/// `duckdb_state`: 0 is success.
pub(super) type State = c_int;
pub(super) const SUCCESS: State = 0;

/// `idx_t`.
pub(super) type Index = u64;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        $($(#[$doc])* #[repr(transparent)] #[derive(Clone, Copy, Debug)] pub(super) struct $name(*mut c_void);

        impl $name {
            #[allow(dead_code, reason = "not every kind is made by a call")]
            pub(super) const fn null() -> Self {
                Self(std::ptr::null_mut())
            }

            #[allow(dead_code, reason = "not every kind is asked for it")]
            pub(super) fn is_null(self) -> bool {
                self.0.is_null()
            }
        }

        // SAFETY: a handle is a number to us; who may call what with it is said where it is kept.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {})+
    };
}

handles! {
    /// `duckdb_database`.
    DatabaseHandle,
    /// `duckdb_connection`. The library locks it by itself; `duckdb_interrupt` is made for other threads.
    ConnectionHandle,
    /// `duckdb_config`.
    ConfigHandle,
    /// `duckdb_prepared_statement`.
    StatementHandle,
    /// `duckdb_data_chunk`.
    ChunkHandle,
    /// `duckdb_vector`.
    VectorHandle,
    /// `duckdb_logical_type`.
    TypeHandle,
    /// `duckdb_appender`.
    AppenderHandle,
    /// `duckdb_extracted_statements`.
    ExtractedHandle,
}

/// `duckdb_result`: it is passed by value, so its size matters, and nothing in it is ours to read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawResult {
    fields: [u64; 3],
    pointers: [*mut c_void; 3],
}

impl RawResult {
    pub(super) const fn empty() -> Self {
        Self { fields: [0; 3], pointers: [std::ptr::null_mut(); 3] }
    }
}

/// `duckdb_string_t`: up to 12 bytes in place, or a prefix of 4 and a pointer.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawString {
    length: u32,
    inlined: [u8; 4],
    rest: [u8; 8],
}

impl RawString {
    /// The bytes.
    ///
    /// # Safety
    /// The string is in a vector that lives as long as the answer.
    pub(super) unsafe fn bytes<'v>(this: *const Self) -> &'v [u8] {
        const INLINE_MAX: u32 = 12;
        // SAFETY: `this` is a string of a vector; short ones lie behind their length, others where the pointer says.
        unsafe {
            let length = (*this).length;
            let start = if length <= INLINE_MAX {
                (&raw const (*this).inlined).cast::<u8>()
            } else {
                usize::from_ne_bytes((*this).rest) as *const u8
            };
            std::slice::from_raw_parts(start, length as usize)
        }
    }
}

/// `duckdb_type`, as far as chunks of ours and answers have them.
pub(super) mod kind {
    use std::ffi::c_int;

    pub(in super::super) const BOOLEAN: c_int = 1;
    pub(in super::super) const TINYINT: c_int = 2;
    pub(in super::super) const SMALLINT: c_int = 3;
    pub(in super::super) const INTEGER: c_int = 4;
    pub(in super::super) const BIGINT: c_int = 5;
    pub(in super::super) const UTINYINT: c_int = 6;
    pub(in super::super) const USMALLINT: c_int = 7;
    pub(in super::super) const UINTEGER: c_int = 8;
    pub(in super::super) const UBIGINT: c_int = 9;
    pub(in super::super) const FLOAT: c_int = 10;
    pub(in super::super) const DOUBLE: c_int = 11;
    pub(in super::super) const TIMESTAMP: c_int = 12;
    pub(in super::super) const DATE: c_int = 13;
    pub(in super::super) const TIME: c_int = 14;
    pub(in super::super) const VARCHAR: c_int = 17;
    pub(in super::super) const BLOB: c_int = 18;
    pub(in super::super) const TIMESTAMP_S: c_int = 20;
    pub(in super::super) const TIMESTAMP_MS: c_int = 21;
    pub(in super::super) const TIMESTAMP_NS: c_int = 22;
    pub(in super::super) const TIMESTAMP_TZ: c_int = 31;
}

/// `ArrowArrayStream` of the Arrow C data interface (<https://arrow.apache.org/docs/format/CDataInterface.html>).
#[repr(C)]
pub(super) struct ArrowStream {
    pub(super) get_schema: Option<unsafe extern "C" fn(*mut ArrowStream, *mut c_void) -> c_int>,
    pub(super) get_next: Option<unsafe extern "C" fn(*mut ArrowStream, *mut c_void) -> c_int>,
    pub(super) get_last_error: Option<unsafe extern "C" fn(*mut ArrowStream) -> *const c_char>,
    pub(super) release: Option<unsafe extern "C" fn(*mut ArrowStream)>,
    pub(super) private: *mut c_void,
}

macro_rules! functions {
    ($($name:ident: ($($arg:ty),*) $(-> $answer:ty)?;)+) => {
        /// What we call of the library, by the names in `duckdb.h` without `duckdb_`.
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($arg),*) $(-> $answer)?,)+
        }

        impl Functions {
            /// Finds all functions, or the name of one that isn't there.
            ///
            /// # Safety
            /// The library is DuckDB's, and stays loaded as long as the answer.
            unsafe fn of(shared: &Shared) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        const NAME: &str = concat!("duckdb_", stringify!($name));
                        // SAFETY: the types are those of duckdb.h.
                        *unsafe { shared.get(NAME.as_bytes()) }.map_err(|_| NAME)?
                    },)+
                })
            }
        }
    };
}

functions! {
    create_config: (*mut ConfigHandle) -> State;
    set_config: (ConfigHandle, *const c_char, *const c_char) -> State;
    destroy_config: (*mut ConfigHandle);
    open_ext: (*const c_char, *mut DatabaseHandle, ConfigHandle, *mut *mut c_char) -> State;
    close: (*mut DatabaseHandle);
    connect: (DatabaseHandle, *mut ConnectionHandle) -> State;
    disconnect: (*mut ConnectionHandle);
    interrupt: (ConnectionHandle);
    free: (*mut c_void);
    query: (ConnectionHandle, *const c_char, *mut RawResult) -> State;
    destroy_result: (*mut RawResult);
    result_error: (*mut RawResult) -> *const c_char;
    column_count: (*mut RawResult) -> Index;
    column_type: (*mut RawResult, Index) -> c_int;
    rows_changed: (*mut RawResult) -> Index;
    result_return_type: (RawResult) -> c_int;
    fetch_chunk: (RawResult) -> ChunkHandle;
    extract_statements: (ConnectionHandle, *const c_char, *mut ExtractedHandle) -> Index;
    extract_statements_error: (ExtractedHandle) -> *const c_char;
    prepare_extracted_statement: (ConnectionHandle, ExtractedHandle, Index, *mut StatementHandle) -> State;
    destroy_extracted: (*mut ExtractedHandle);
    prepare: (ConnectionHandle, *const c_char, *mut StatementHandle) -> State;
    prepare_error: (StatementHandle) -> *const c_char;
    prepared_statement_type: (StatementHandle) -> c_int;
    destroy_prepare: (*mut StatementHandle);
    execute_prepared: (StatementHandle, *mut RawResult) -> State;
    execute_prepared_streaming: (StatementHandle, *mut RawResult) -> State;
    bind_null: (StatementHandle, Index) -> State;
    bind_boolean: (StatementHandle, Index, bool) -> State;
    bind_int64: (StatementHandle, Index, i64) -> State;
    bind_uint64: (StatementHandle, Index, u64) -> State;
    bind_double: (StatementHandle, Index, f64) -> State;
    bind_date: (StatementHandle, Index, i32) -> State;
    bind_time: (StatementHandle, Index, i64) -> State;
    bind_timestamp: (StatementHandle, Index, i64) -> State;
    bind_timestamp_tz: (StatementHandle, Index, i64) -> State;
    bind_varchar_length: (StatementHandle, Index, *const c_char, Index) -> State;
    bind_blob: (StatementHandle, Index, *const c_void, Index) -> State;
    data_chunk_get_size: (ChunkHandle) -> Index;
    data_chunk_get_vector: (ChunkHandle, Index) -> VectorHandle;
    data_chunk_set_size: (ChunkHandle, Index);
    data_chunk_reset: (ChunkHandle);
    create_data_chunk: (*mut TypeHandle, Index) -> ChunkHandle;
    destroy_data_chunk: (*mut ChunkHandle);
    vector_get_data: (VectorHandle) -> *mut c_void;
    vector_get_validity: (VectorHandle) -> *mut u64;
    vector_ensure_validity_writable: (VectorHandle);
    vector_assign_string_element_len: (VectorHandle, Index, *const c_char, Index);
    vector_size: () -> Index;
    create_logical_type: (c_int) -> TypeHandle;
    create_decimal_type: (u8, u8) -> TypeHandle;
    destroy_logical_type: (*mut TypeHandle);
    appender_create_ext: (ConnectionHandle, *const c_char, *const c_char, *const c_char, *mut AppenderHandle) -> State;
    appender_add_column: (AppenderHandle, *const c_char) -> State;
    append_data_chunk: (AppenderHandle, ChunkHandle) -> State;
    appender_error: (AppenderHandle) -> *const c_char;
    appender_flush: (AppenderHandle) -> State;
    appender_destroy: (*mut AppenderHandle) -> State;
    arrow_scan: (ConnectionHandle, *const c_char, *mut ArrowStream) -> State;
}

/// The library.
pub(super) struct Library {
    pub(super) functions: Functions,
    /// As the library says it: `v1.5.6`.
    pub(super) version: String,
    /// Where it was found.
    path: PathBuf,
    _shared: Shared,
}

impl std::ops::Deref for Library {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

/// A process loads one, once: two of them would take each other's symbols.
static LOADED: Mutex<Option<&'static Library>> = Mutex::new(None);

/// The library that the user names.
pub(super) fn wanted(request: &Request) -> Option<&Path> {
    request.libraries.get(TARGET.name()).map(PathBuf::as_path)
}

/// The library: the one that is loaded, or the first that is found; `wanted` when the user names one.
///
/// # Errors
/// When there is none, or it is none of use, with where was looked and what to do.
pub(super) fn library(wanted: Option<&Path>) -> Result<&'static Library> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = *loaded {
        return match wanted {
            Some(wanted) if !is_same(&inside(wanted), &library.path) => Err(Error::usage(format!(
                "--duckdb-lib {}: this process uses {} already",
                wanted.display(),
                library.path.display()
            ))),
            _ => Ok(library),
        };
    }
    let library = search(wanted)?;
    // It stays: DuckDB's threads may run code of it until the process ends.
    Ok(loaded.insert(Box::leak(Box::new(library))))
}

fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Looks at one place after the other. One that the user names is the only one.
fn search(wanted: Option<&Path>) -> Result<Library> {
    if let Some(path) = wanted {
        return open(&inside(path)).map_err(|why| named_fails("--duckdb-lib", path, &why));
    }
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return open(&inside(&path)).map_err(|why| named_fails(VARIABLE, &path, &why));
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| program.canonicalize().ok())
        .and_then(|program| Some(program.parent()?.join(FILE)));
    let mut looked = Vec::new();
    if let Some(path) = beside {
        if path.exists() {
            return open(&path).map_err(|why| unfit(&path, &why));
        }
        looked.push(path.display().to_string());
    }
    match open(Path::new(FILE)) {
        Ok(library) => Ok(library),
        Err(Why::Unfit(why)) => Err(unfit(Path::new(FILE), &Why::Unfit(why))),
        Err(Why::Absent(_)) => {
            looked.push(format!("the system's {FILE}"));
            Err(get_one(Error::target(format!(
                "DuckDB's library isn't there: looked for {}",
                looked.join(" and ")
            ))))
        }
    }
}

/// A directory stands for the library in it.
fn inside(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE) } else { path.to_owned() }
}

/// Why a file is no library for us.
enum Why {
    /// The system can't load it, in its words.
    Absent(String),
    /// It is loaded, and isn't what we need.
    Unfit(String),
}

fn named_fails(by: &str, path: &Path, why: &Why) -> Error {
    match why {
        Why::Absent(words) => {
            let error = Error::usage(format!(
                "{by} {}: this library can't be loaded: {words}",
                path.display()
            ));
            match Limit::Memory.advice().filter(|_| words.contains("map segment")) {
                Some(advice) => error.advise(advice),
                None => get_one(error),
            }
        }
        Why::Unfit(_) => unfit(path, why),
    }
}

fn unfit(path: &Path, why: &Why) -> Error {
    let (Why::Absent(words) | Why::Unfit(words)) = why;
    get_one(Error::target(format!("{}: {words}", path.display())))
}

fn get_one(error: Error) -> Error {
    error
        .advise(format!(
            "get {FILE} 1.2 or newer, from DuckDB's releases (libduckdb), your distribution, or npm pack @duckdb/node-bindings-linux-x64"
        ))
        .advise(format!("name it with --duckdb-lib PATH or {VARIABLE}, or put it beside inrush"))
}

fn open(path: &Path) -> Result<Library, Why> {
    // SAFETY: loading a library runs its initialisers. It is the one that the user or the system names as DuckDB's.
    let shared = unsafe { Shared::new(path) }.map_err(|error| {
        // The error itself only says what call failed.
        Why::Absent(error.source().map_or_else(|| error.to_string(), ToString::to_string))
    })?;
    // SAFETY: in every version of duckdb.h the function takes nothing and gives a string that is never freed.
    let version = unsafe {
        shared
            .get::<unsafe extern "C" fn() -> *const c_char>(b"duckdb_library_version")
            .map(|version| CStr::from_ptr(version()).to_string_lossy().into_owned())
            .map_err(|_| Why::Unfit("this is not DuckDB's library".to_owned()))?
    };
    // SAFETY: it is DuckDB's, and kept together with the functions.
    let functions = unsafe { Functions::of(&shared) }.map_err(|name| {
        Why::Unfit(format!("DuckDB {version} has no {name}, which inrush needs"))
    })?;
    Ok(Library { functions, version, path: path.to_owned(), _shared: shared })
}
