//! Names of the hidden tables that loads fill before they take the target's place.

use crate::answer::TextRows;
use inrush_core::error::Error;
use inrush_core::target::{Console, text};
use inrush_core::unique;

/// What every hidden table's name begins with; digits of base 16 follow.
pub const PREFIX: &str = "inrush_staging_";

/// What answers statements: a load's session, or a console. So what is done to hidden tables is written once.
pub trait Asks {
    /// What can go wrong.
    type Failure;

    /// Runs a statement.
    ///
    /// # Errors
    /// When the server refuses, or is gone.
    fn execute(&mut self, sql: &str) -> Result<(), Self::Failure>;

    /// The rows of a query, as text.
    ///
    /// # Errors
    /// As for [`Asks::execute`].
    fn table(&mut self, sql: &str) -> Result<TextRows, Self::Failure>;

    /// The first value of a query, if there is one and it isn't NULL.
    ///
    /// # Errors
    /// As for [`Asks::execute`].
    fn value(&mut self, sql: &str) -> Result<Option<String>, Self::Failure> {
        Ok(self.table(sql)?.into_iter().next().and_then(|row| row.into_iter().next()).flatten())
    }

    /// The names that a query answers with.
    ///
    /// # Errors
    /// As for [`Asks::execute`].
    fn names(&mut self, sql: &str) -> Result<Vec<String>, Self::Failure> {
        Ok(self.table(sql)?.into_iter().flatten().flatten().collect())
    }
}

impl Asks for dyn Console + '_ {
    type Failure = Error;

    fn execute(&mut self, sql: &str) -> Result<(), Error> {
        Console::execute(self, sql).map(drop)
    }

    fn table(&mut self, sql: &str) -> Result<TextRows, Error> {
        let mut rows = Vec::new();
        self.query(sql, &mut |row| rows.push((0..row.len()).map(|at| text(row, at)).collect()))?;
        Ok(rows)
    }
}

/// A name that no other load has.
pub fn hidden_name() -> String {
    format!("{PREFIX}{}", unique::word())
}

/// The digits of a table that a load has named so, where it is one: no table of a user's, which may be called nearly so.
///
/// ```
/// use inrush_net::staging::digits_of;
///
/// assert_eq!(digits_of("inrush_staging_00ff00ff00ff00ff"), Some("00ff00ff00ff00ff"));
/// assert_eq!(digits_of("inrush_staging_2026"), None);
/// assert_eq!(digits_of("inrush_staging_orders"), None);
/// ```
pub fn digits_of(name: &str) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16 && digits.bytes().all(is_digit))
}

/// A message of the server with the table's name in place of the hidden one's.
pub fn unhidden(message: &str, table: &str) -> String {
    let mut parts = message.split(PREFIX);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(table);
        out.push_str(&part[digits..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_shows_a_hidden_name() {
        let (hidden, other) = (hidden_name(), hidden_name());
        assert_ne!(hidden, other);
        let message = format!("'7' for key '{hidden}.PRIMARY', and `{other}_old`.`n`");
        assert_eq!(unhidden(&message, "t"), "'7' for key 't.PRIMARY', and `t_old`.`n`");
        assert_eq!(unhidden("nothing of ours", "t"), "nothing of ours");
    }
}
