//! A connection that runs statements: for what is no load, such as a bench's queries, updates and transactions.

use crate::error::Result;

/// A connection. It is closed when it goes.
///
/// Text of one protocol round trip each: what a program without prepared statements would send. Errors are the database's own words
/// ([`crate::Error::what`] begins with neither URL nor path, so that equal failures read equal), and the connection goes on after one
/// unless it is lost; then every later call fails.
pub trait Console: Send {
    /// Runs one statement and forgets what it answers; how many rows it changed, as the database counts them.
    ///
    /// # Errors
    /// When the database refuses, or is gone.
    fn execute(&mut self, sql: &str) -> Result<u64>;

    /// Runs a query, and hands out its rows, values as the database writes them as text, `None` for NULL; how many rows there were.
    ///
    /// # Errors
    /// When the database refuses, or is gone.
    fn query(&mut self, sql: &str, row: &mut dyn FnMut(&[Option<&[u8]>])) -> Result<u64>;

    /// The first value of a query, if there is one and it isn't NULL.
    ///
    /// # Errors
    /// As [`Console::query`].
    fn value(&mut self, sql: &str) -> Result<Option<String>> {
        let mut first = None;
        self.query(sql, &mut |row| {
            if first.is_none() {
                first = Some(
                    row.first()
                        .copied()
                        .flatten()
                        .map(|text| String::from_utf8_lossy(text).into_owned()),
                );
            }
        })?;
        Ok(first.flatten())
    }

    /// Every setting of the database as this connection sees it, by name; none of them holds a secret.
    ///
    /// # Errors
    /// As [`Console::query`].
    fn settings(&mut self) -> Result<Vec<Setting>>;

    /// The engine and its version.
    ///
    /// # Errors
    /// As [`Console::query`].
    fn engine(&mut self) -> Result<String>;
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value, as the database writes it.
    pub value: String,
    /// What it would be if nobody had set it, where the database says so.
    pub default: Option<String>,
}
