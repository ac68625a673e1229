//! Statements over a connection of their own.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tiberius::ColumnData;

use crate::connect::Place;
use crate::facts;
use crate::session::{Failure, Session};
use crate::value;
use inrush_core::error::{Error, Result};
use inrush_core::target::{Console, Row, Setting};
use inrush_net::Allowance;

/// A connection; nothing goes over it but what it is told to send, and a question for how many rows that changed.
pub(super) struct MssqlConsole<'a> {
    session: Session<'a>,
}

/// The column that tells how many rows were changed: the driver keeps to itself what the server says of it.
const COUNT: &str = "inrush_rowcount";

impl<'a> MssqlConsole<'a> {
    /// Connects.
    pub(super) fn open(place: &Arc<Place>, stop: &'a AtomicBool) -> Result<Self> {
        let mut session = Session::plain(place, stop);
        match session.connect_only() {
            Ok(()) => Ok(Self { session }),
            Err(Failure::Lost(lost)) => Err(Error::target(format!("no connection: {lost}"))
                .advise(format!("check that the server runs at {}", place.shown))),
            Err(failure) => Err(in_words(failure)),
        }
    }
}

impl Console for MssqlConsole<'_> {
    fn run(&mut self, sql: &str, row: &mut dyn FnMut(&Row<'_>)) -> Result<u64> {
        let counted = match is_alone(sql) {
            true => sql.to_owned(),
            // On a line of its own, for the statement may end in a comment.
            false => format!("{sql}\nSELECT ROWCOUNT_BIG() AS {COUNT}"),
        };
        let mut changed = 0;
        let ran = self.session.batch(&counted, |_, columns, values| {
            if let ([column], [ColumnData::I64(rows)]) = (columns, values)
                && column.name() == COUNT
            {
                changed = rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(0);
                return;
            }
            let texts: Vec<Option<String>> = values.iter().map(value::text).collect();
            let texts: Vec<Option<&[u8]>> =
                texts.iter().map(|text| text.as_ref().map(String::as_bytes)).collect();
            row(&texts);
        });
        ran.map(|()| changed).map_err(in_words)
    }

    fn settings(&mut self) -> Result<Vec<Setting>> {
        let text = |value: Option<&Option<&[u8]>>| {
            let value = value.copied().flatten().unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        let (mut settings, mut allowance) = (Vec::new(), Allowance::default());
        let sql = "SELECT name, CONVERT(nvarchar(128), value_in_use) FROM sys.configurations \
             UNION ALL SELECT N'recovery_model', CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Recovery')) \
             UNION ALL SELECT N'snapshot_isolation', snapshot_isolation_state_desc FROM sys.databases WHERE database_id = DB_ID() \
             UNION ALL SELECT N'read_committed_snapshot', CONVERT(nvarchar(128), is_read_committed_snapshot_on) FROM sys.databases WHERE database_id = DB_ID() \
             UNION ALL SELECT N'compatibility_level', CONVERT(nvarchar(128), compatibility_level) FROM sys.databases WHERE database_id = DB_ID() \
             ORDER BY 1";
        self.run(sql, &mut |row| {
            if allowance.admits_row(row) {
                let (name, value) = (text(row.first()), text(row.get(1)));
                settings.push(Setting { name, value, default: None });
            }
        })?;
        allowance.kept().map_err(in_words)?;
        // Servers before 2014 have no such thing, and always wait for the log.
        let delayed = facts::durability(&mut self.session).map_err(in_words)?;
        settings.extend(delayed.into_iter().map(|(name, value)| Setting {
            name,
            value,
            default: None,
        }));
        Ok(settings)
    }

    fn engine(&mut self) -> Result<String> {
        let sql = "SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion'))";
        let version = self.value(sql)?;
        Ok(facts::engine(&version.unwrap_or_default()))
    }
}

/// Whether the statement has to be its batch's only one
/// (<https://learn.microsoft.com/en-us/sql/odbc/reference/develop-app/batches-of-sql-statements>).
fn is_alone(sql: &str) -> bool {
    const ALONE: [&str; 8] =
        ["DEFAULT", "FUNCTION", "PROC", "PROCEDURE", "RULE", "SCHEMA", "TRIGGER", "VIEW"];
    let mut words = sql.split_whitespace().map(str::to_ascii_uppercase);
    let verb = words.next().unwrap_or_default();
    let mut what = words.next().unwrap_or_default();
    if what == "OR" {
        // ALTER, and then what.
        words.next();
        what = words.next().unwrap_or_default();
    }
    matches!(verb.as_str(), "CREATE" | "ALTER") && ALONE.contains(&what.as_str())
}

fn in_words(failure: Failure) -> Error {
    match failure {
        Failure::Stopped => Error::interrupted(),
        Failure::Lost(lost) => lost.in_words(),
        Failure::Server(refused) => Error::target(refused.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_statements_want_no_others_beside_them() {
        assert!(is_alone("CREATE VIEW v AS SELECT 1"));
        assert!(is_alone("create or alter  procedure p AS SELECT 1"));
        assert!(!is_alone("CREATE TABLE t (a int)") && !is_alone("SELECT 1") && !is_alone(""));
    }
}
