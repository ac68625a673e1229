//! Statements over a connection of their own.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::connection::{Connection, Database, Interrupter, Refusal, Statement};
use crate::facts::{Home, engine, path_text};
use crate::library::{ExtractedHandle, SUCCESS, StatementHandle, library};
use inrush_core::error::{Error, Result};
use inrush_core::target::{Console, Location, Row, Setting, may_be_secret};

/// `duckdb_statement_type` of a query.
const SELECT: std::ffi::c_int = 1;

/// A connection as a program has it. The engine's own settings stay as they are.
pub(super) struct DuckConsole<'a> {
    /// Before the connection: its thread calls that.
    interrupter: Interrupter<'a>,
    connection: Connection,
}

impl<'a> DuckConsole<'a> {
    /// Opens the database, or makes it.
    pub(super) fn open(location: &Location, stop: &'a AtomicBool) -> Result<Self> {
        let library = library(None)?;
        let home = Home::of(location);
        let path = match &home {
            Home::File { real, .. } => path_text(real)?,
            Home::Memory(_) => ":memory:",
        };
        let is_there = Path::new(path).exists();
        // A file that this makes can be opened by other versions as well.
        let options: &[(&str, &str)] =
            if is_there { &[] } else { &[("storage_compatibility_version", "v1.0.0")] };
        let connection = Database::open_shared(library, &home.key(), path, options)
            .and_then(|database| database.connect())
            .map_err(|refusal| Error::target(refusal.message))?;
        Ok(Self { interrupter: Interrupter::new(&connection, stop), connection })
    }

    fn failure(&self, refusal: Refusal) -> Error {
        if self.interrupter.is_stopped() {
            Error::interrupted()
        } else {
            Error::target(refusal.message)
        }
    }

    /// The statements of `sql`, compiled one by one as they are asked for.
    fn statements(&self, sql: &str) -> Result<Statements<'_>> {
        let text = crate::connection::text(sql).map_err(|refusal| self.failure(refusal))?;
        let library = self.connection.library;
        let mut handle = ExtractedHandle::null();
        // SAFETY: the connection is open, the text a C string, and what comes of it is destroyed with the answer.
        let count = unsafe {
            (library.extract_statements)(self.connection.handle, text.as_ptr(), &raw mut handle)
        };
        let statements = Statements { connection: &self.connection, handle, count };
        // SAFETY: the handle is live.
        let words = unsafe { (library.extract_statements_error)(handle) };
        if count == 0 && !words.is_null() {
            // SAFETY: it is a C string that lives as long as the handle.
            let message = unsafe { crate::connection::words(words) };
            return Err(self.failure(Refusal::new(&message)));
        }
        Ok(statements)
    }
}

impl Console for DuckConsole<'_> {
    /// Every statement of `sql`, one after the other; the number is of the last one.
    fn run(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        let statements = self.statements(sql)?;
        let mut changed = 0;
        for index in 0..statements.count {
            let statement = statements.compile(index).map_err(|refusal| self.failure(refusal))?;
            // SAFETY: the statement is live.
            let kind = unsafe { (statement.library.prepared_statement_type)(statement.handle) };
            if kind == SELECT && statements.count == 1 {
                // The engine knows how each of its types is written.
                let inner = sql.trim_end().trim_end_matches(';');
                let texts = format!("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({inner}\n)");
                if let Ok(as_text) = self.connection.prepare(&texts) {
                    let mut answer = as_text.stream().map_err(|refusal| self.failure(refusal))?;
                    answer.texts(row);
                    answer.ended().map_err(|refusal| self.failure(refusal))?;
                    return Ok(0);
                }
            }
            let mut answer = statement.run().map_err(|refusal| self.failure(refusal))?;
            if answer.has_rows() {
                answer.texts(row);
            } else {
                changed = answer.changed();
            }
        }
        Ok(changed)
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        let rows = self
            .connection
            .rows(concat!(
                "SELECT name, CAST(value AS VARCHAR) FROM duckdb_settings() ",
                // No setting, but what decides what a commit survives.
                "UNION ALL SELECT 'database', CASE WHEN path IS NULL THEN 'memory' ELSE 'file' END ",
                "FROM duckdb_databases() WHERE database_name = current_database() ORDER BY ALL",
            ))
            .map_err(|refusal| self.failure(refusal))?;
        let setting = |row: Vec<Option<String>>| match <[Option<String>; 2]>::try_from(row) {
            Ok([Some(name), Some(value)]) if !may_be_secret(&name) && !value.is_empty() => {
                Some(Setting { name, value, default: None })
            }
            _ => None,
        };
        Ok(rows.into_iter().filter_map(setting).collect())
    }

    fn engine(&mut self) -> Result<String> {
        Ok(engine(&self.connection))
    }
}

/// Statements of one text.
struct Statements<'c> {
    connection: &'c Connection,
    handle: ExtractedHandle,
    count: u64,
}

impl Statements<'_> {
    fn compile(&self, index: u64) -> Result<Statement, Refusal> {
        let library = self.connection.library;
        let mut statement = Statement { library, handle: StatementHandle::null() };
        // SAFETY: the connection is open, the handle live, and the index below its count.
        let state = unsafe {
            (library.prepare_extracted_statement)(
                self.connection.handle,
                self.handle,
                index,
                &raw mut statement.handle,
            )
        };
        match state {
            SUCCESS => Ok(statement),
            _ => Err(statement.refusal()),
        }
    }
}

impl Drop for Statements<'_> {
    fn drop(&mut self) {
        // SAFETY: made by us, destroyed once.
        unsafe { (self.connection.library.destroy_extracted)(&raw mut self.handle) };
    }
}
