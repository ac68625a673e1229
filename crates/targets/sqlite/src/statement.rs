//! A prepared statement on SQLite's own interface: values are bound where they lie, without a copy.

use std::ffi::{c_char, c_int};
use std::marker::PhantomData;
use std::ptr;

use rusqlite::ffi;

use crate::session::Session;
use inrush_core::error::Result;
use inrush_core::flow::{Cell, Code, Home, RowFault, Span};

/// What executing did.
pub(super) enum Step {
    /// The statement ran to its end.
    Done,
    /// It was refused because of the values in it.
    Refused(Code, Option<String>, String),
}

/// A statement of a session. Finalized when dropped.
pub(super) struct Statement<'s> {
    raw: *mut ffi::sqlite3_stmt,
    session: PhantomData<&'s Session<'s>>,
}

// SAFETY: SQLite objects may move between threads as long as only one uses them at a time
// (https://sqlite.org/threadsafe.html, "multi-thread"); a statement is used through `&mut` by the lane that owns it, while the
// session is borrowed.
unsafe impl Send for Statement<'_> {}

impl<'s> Statement<'s> {
    /// Compiles `sql`, which is one statement.
    pub(super) fn prepare(session: &'s Session<'_>, sql: &[u8]) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the handle is open; the text is passed with its length; `raw` is written before it is read.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(
                session.connection().handle(),
                sql.as_ptr().cast::<c_char>(),
                c_int::try_from(sql.len()).unwrap_or(c_int::MAX),
                ffi::SQLITE_PREPARE_PERSISTENT,
                &raw mut raw,
                ptr::null_mut(),
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(session.last_error());
        }
        Ok(Self { raw, session: PhantomData })
    }

    /// Binds one row. Text stays where it lies, which `bytes` tells.
    ///
    /// # Safety
    /// What `bytes` gives for the spans in `cells` is live and unchanged until every parameter is bound anew or
    /// [`Statement::forget`] is called.
    #[inline]
    pub(super) unsafe fn bind<'b>(
        &mut self,
        cells: &[Cell],
        bytes: impl Fn(Home, Span) -> &'b [u8],
    ) -> c_int {
        let place = |home, span| -> (*const u8, u64) {
            let bytes = bytes(home, span);
            (bytes.as_ptr(), bytes.len() as u64)
        };
        for (index, cell) in cells.iter().enumerate() {
            let parameter = index as c_int + 1;
            // SAFETY: the statement is live; SQLITE_STATIC promises what the caller promises.
            let code = unsafe {
                match *cell {
                    Cell::Null => ffi::sqlite3_bind_null(self.raw, parameter),
                    Cell::Integer(number) => ffi::sqlite3_bind_int64(self.raw, parameter, number),
                    Cell::Real(number) => ffi::sqlite3_bind_double(self.raw, parameter, number),
                    Cell::Text(home, span) => {
                        let (at, len) = place(home, span);
                        ffi::sqlite3_bind_text64(
                            self.raw,
                            parameter,
                            at.cast::<c_char>(),
                            len,
                            ffi::SQLITE_STATIC(),
                            ffi::SQLITE_UTF8 as u8,
                        )
                    }
                    Cell::Bytes(home, span) => {
                        let (at, len) = place(home, span);
                        ffi::sqlite3_bind_blob64(
                            self.raw,
                            parameter,
                            at.cast(),
                            len,
                            ffi::SQLITE_STATIC(),
                        )
                    }
                }
            };
            if code != ffi::SQLITE_OK {
                return code;
            }
        }
        ffi::SQLITE_OK
    }

    /// Runs the statement to its end and makes it ready to run again. An answer in rows is passed over.
    #[inline]
    pub(super) fn step(&mut self, session: &Session<'_>) -> Result<Step> {
        // SAFETY: the statement is live and used by this thread alone.
        let code = unsafe {
            let mut code = ffi::sqlite3_step(self.raw);
            while code == ffi::SQLITE_ROW {
                code = ffi::sqlite3_step(self.raw);
            }
            code
        };
        if code == ffi::SQLITE_DONE {
            // SAFETY: as above.
            unsafe { ffi::sqlite3_reset(self.raw) };
            return Ok(Step::Done);
        }
        self.failed(session)
    }

    #[cold]
    fn failed(&mut self, session: &Session<'_>) -> Result<Step> {
        let (code, message) = session.last_failure();
        let error = session.last_error();
        // SAFETY: the statement is live; reset repeats the failure's code, which is known already.
        unsafe { ffi::sqlite3_reset(self.raw) };
        match refusal(code, &message) {
            Some((code, column)) => Ok(Step::Refused(code, column, message)),
            None => Err(error),
        }
    }

    /// Lets go of everything bound.
    pub(super) fn forget(&mut self) {
        // SAFETY: the statement is live.
        unsafe { ffi::sqlite3_clear_bindings(self.raw) };
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: prepared by us, finalized once.
        unsafe { ffi::sqlite3_finalize(self.raw) };
    }
}

/// What a failure says about the row, if a row is to blame: a code, and the column that the message names.
///
/// Codes: <https://sqlite.org/rescode.html>. Messages such as "UNIQUE constraint failed: nodes.id" name table and column.
pub(super) fn refusal(code: c_int, message: &str) -> Option<(Code, Option<String>)> {
    let column = || {
        let (_, place) = message.rsplit_once(": ")?;
        let first = place.split(", ").next()?;
        first.rsplit_once('.').map(|(_, column)| column.to_owned())
    };
    let found = match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE
        | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
        | ffi::SQLITE_CONSTRAINT_ROWID => Code::DuplicateKey,
        ffi::SQLITE_CONSTRAINT_NOTNULL => Code::NotNull,
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => return Some((Code::ForeignKey, None)),
        ffi::SQLITE_CONSTRAINT_DATATYPE => Code::Type,
        code if code & 0xff == ffi::SQLITE_CONSTRAINT => return Some((Code::Constraint, None)),
        // The statement was compiled, so what fails is the row: an overflow in a trigger, a CHECK or a generated column.
        ffi::SQLITE_ERROR => return Some((Code::Constraint, None)),
        ffi::SQLITE_MISMATCH => return Some((Code::Type, None)),
        ffi::SQLITE_TOOBIG => return Some((Code::TooLong, None)),
        _ => return None,
    };
    Some((found, column()))
}

/// The fault of a row that SQLite took and did not insert.
pub(super) fn left_out(row: usize) -> RowFault {
    let message = "a trigger left the row out (RAISE(IGNORE))".to_owned();
    RowFault { row: row as u32, column: None, code: Code::Constraint, message }
}

/// A refusal as the fault of a row.
pub(super) fn fault(row: usize, code: Code, column: Option<String>, message: String) -> RowFault {
    let message = match code {
        Code::DuplicateKey => format!("duplicate key ({message})"),
        Code::NotNull => format!("NULL where none is allowed ({message})"),
        Code::ForeignKey => format!("the row it refers to is not there ({message})"),
        Code::TooLong => format!("longer than SQLite takes ({message})"),
        _ => message,
    };
    RowFault { row: row as u32, column, code, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_their_column() {
        let unique = refusal(ffi::SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: t.a, t.b");
        assert_eq!(unique, Some((Code::DuplicateKey, Some("a".to_owned()))));
        let null =
            refusal(ffi::SQLITE_CONSTRAINT_NOTNULL, "NOT NULL constraint failed: my.table.x y");
        assert_eq!(null, Some((Code::NotNull, Some("x y".to_owned()))));
        assert_eq!(
            refusal(ffi::SQLITE_CONSTRAINT_CHECK, "CHECK constraint failed: a > 0"),
            Some((Code::Constraint, None))
        );
        assert_eq!(refusal(ffi::SQLITE_FULL, "database or disk is full"), None);
        assert_eq!(refusal(ffi::SQLITE_BUSY, "database is locked"), None);
    }
}
