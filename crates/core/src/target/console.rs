//! A connection that runs statements: for what is no load, such as a bench's queries, updates and transactions.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Result;

/// A connection. It is closed when it goes.
///
/// Text of one protocol round trip each: what a program without prepared statements would send. Errors are the database's own words
/// ([`crate::Error::what`] begins with neither URL nor path, so that equal failures read equal), and the connection goes on after one
/// unless it is lost; then every later call fails. A statement during which the user wanted to stop is
/// [`Interrupted`](crate::Kind::Interrupted), whatever became of it, as soon as it takes more than some tens of milliseconds.
pub trait Console: Send {
    /// Runs one statement, and hands out the rows that it answers with, as they come; how many rows it changed, as the database counts
    /// them.
    ///
    /// # Errors
    /// When the database refuses, or is gone.
    fn run(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64>;

    /// Runs one statement and forgets what it answers; how many rows it changed.
    ///
    /// # Errors
    /// As [`Console::run`].
    fn execute(&mut self, sql: &str) -> Result<u64> {
        self.run(sql, &mut |_| {})
    }

    /// The same where nobody needs to know how many; it may come back before the database has answered, whose no is the next call's then.
    ///
    /// # Errors
    /// As [`Console::run`].
    fn send_ahead(&mut self, sql: &str) -> Result<()> {
        self.execute(sql).map(drop)
    }

    /// Ends the transaction, whose rows stay; what the database warns of then, for the report.
    ///
    /// # Errors
    /// As [`Console::run`].
    fn commit(&mut self) -> Result<Option<String>> {
        self.execute("COMMIT").map(|_| None)
    }

    /// Runs a query, and hands out its rows; how many there were.
    ///
    /// # Errors
    /// As [`Console::run`].
    fn query(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        let mut rows = 0;
        self.run(sql, &mut |values| {
            rows += 1;
            row(values);
        })?;
        Ok(rows)
    }

    /// The first value of a query, if there is one and it isn't NULL.
    ///
    /// # Errors
    /// As [`Console::query`].
    fn value(&mut self, sql: &str) -> Result<Option<String>> {
        let mut first = None;
        self.query(sql, &mut |row| {
            if first.is_none() {
                first = Some(text(row, 0));
            }
        })?;
        Ok(first.flatten())
    }

    /// The first value of each row of a query, `None` for NULL.
    ///
    /// # Errors
    /// As [`Console::query`].
    fn column(&mut self, sql: &str) -> Result<Vec<Option<String>>> {
        let mut values = Vec::new();
        self.query(sql, &mut |row| values.push(text(row, 0)))?;
        Ok(values)
    }

    /// Asks for nothing, and waits for the answer: whether somebody is there, and how long the way takes.
    ///
    /// # Errors
    /// As [`Console::run`].
    fn ping(&mut self) -> Result<()> {
        self.value("SELECT 1").map(drop)
    }

    /// This machine's clock, in whole seconds since 1970; or the database's, where it says that apart from a statement.
    ///
    /// # Errors
    /// As [`Console::query`].
    fn seconds(&mut self) -> Result<i64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(now.as_secs().cast_signed())
    }

    /// Ends it, unless its place keeps it ([`Spare`](super::Spare)) for whoever connects next: nothing is open in it, and nothing was set
    /// that could bear on a load.
    fn hand_on(self: Box<Self>) {}

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

/// A value of a row as text, `None` for NULL.
pub fn text(row: &Row<'_>, index: usize) -> Option<String> {
    row.get(index).copied().flatten().map(|text| String::from_utf8_lossy(text).into_owned())
}

/// A row of an answer: values as the database writes them as text, `None` for NULL. Gone when the call that hands it out goes on.
pub type Row<'r> = [Option<&'r [u8]>];

/// Whether a setting of this name may hold a password, or something as good as one; most databases show asterisks, not all of them
/// everywhere.
pub fn may_be_secret(name: &str) -> bool {
    const ENDINGS: [&str; 5] = ["_password", "_pwd", "_auth", "_token", "_secret"];
    /// Connection strings and commands, with what is needed to connect in them.
    const NAMES: [&str; 3] =
        ["primary_conninfo", "ssl_passphrase_command", "wsrep_provider_options"];
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending)) || NAMES.contains(&name.as_str())
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
