//! Questions to a database, some of which it may refuse.

use crate::error::{Error, Kind, Result};
use crate::target::{Console, text};

/// Rows of an answer: a catalogue may be longer than anybody wants to read in a second.
const ROWS_MAX: usize = 50_000;

/// Rows of values, `None` for NULL.
pub type Answer = Vec<Vec<Option<String>>>;

/// A connection that is asked, and what it would not say.
pub struct Asked<'a> {
    console: Box<dyn Console + 'a>,
    not_known: Vec<String>,
}

impl<'a> Asked<'a> {
    /// Over this connection.
    pub fn new(console: Box<dyn Console + 'a>) -> Self {
        Self { console, not_known: Vec::new() }
    }

    /// The rows that a query answers with; `None` where the database refuses: then `what` isn't known, and `needs` says what that
    /// takes.
    ///
    /// # Errors
    /// When the connection is lost, or the user has stopped it.
    pub fn rows(&mut self, sql: &str, what: &str, needs: &str) -> Result<Option<Answer>> {
        match self.read(sql) {
            Ok((_, true)) => {
                self.not_known(format!("{what}: there is more than {ROWS_MAX} rows to read"));
                Ok(None)
            }
            Ok((rows, false)) => Ok(Some(rows)),
            Err(error) if error.is_lost_connection() || error.kind() == Kind::Interrupted => {
                Err(error)
            }
            Err(error) => {
                self.not_known(format!("{what}: {needs} ({})", error.what()));
                Ok(None)
            }
        }
    }

    /// The rows, none of them where the database refuses or has nothing of the kind, as other versions of it have.
    ///
    /// # Errors
    /// As [`Asked::rows`].
    pub fn rows_if_any(&mut self, sql: &str) -> Result<Answer> {
        match self.read(sql) {
            Ok((rows, _)) => Ok(rows),
            Err(error) if error.is_lost_connection() || error.kind() == Kind::Interrupted => {
                Err(error)
            }
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The first value of the first row, where there is one.
    ///
    /// # Errors
    /// As [`Asked::rows`].
    pub fn value(&mut self, sql: &str) -> Result<Option<String>> {
        Ok(self.rows_if_any(sql)?.into_iter().flatten().next().flatten())
    }

    fn read(&mut self, sql: &str) -> Result<(Answer, bool), Error> {
        let (mut rows, mut is_cut) = (Answer::new(), false);
        self.console.query(sql, &mut |row| match rows.len() < ROWS_MAX {
            true => rows.push((0..row.len()).map(|index| text(row, index)).collect()),
            false => is_cut = true,
        })?;
        Ok((rows, is_cut))
    }

    /// The engine and its version.
    ///
    /// # Errors
    /// As [`Console::engine`].
    pub fn engine(&mut self) -> Result<String> {
        self.console.engine()
    }

    /// Something that can't be known, and why.
    pub fn not_known(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.not_known.contains(&what) {
            self.not_known.push(what);
        }
    }

    /// What isn't known.
    pub fn unknown(self) -> Vec<String> {
        self.not_known
    }
}
