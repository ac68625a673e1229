//! A table that has to be empty until the job's rows come: who else wants it so, load or job, waits for the transaction that brings them in,
//! and rows that others add all the same are found before it ends.

use super::ledger::{Ledger, Record};
use super::text::Place;
use crate::observer::Observer;
use inrush_core::error::{Error, Result};

/// What a transaction does that wants the table for itself.
pub(super) struct Alone {
    /// Whether others may add rows meanwhile.
    looks_again: bool,
}

impl Alone {
    /// Has others wait who want the table empty.
    ///
    /// # Errors
    /// When one of them goes on for too long, or the database refuses.
    pub(super) fn begin(ledger: &mut Ledger<'_>) -> Result<Self> {
        Ok(Self { looks_again: ledger.begin_alone()? })
    }

    /// Looks once more, just before the transaction ends: over another connection, which sees nothing of the job's own rows.
    ///
    /// # Errors
    /// When others have added rows.
    pub(super) fn end(self, place: &Place, record: &Record, observer: &dyn Observer) -> Result<()> {
        if !self.looks_again {
            return Ok(());
        }
        let mut beside = Ledger::open(place, &record.job.home, observer.stop_flag())?;
        match beside.holds_others()? {
            true => Err(holds_rows(record)),
            false => Ok(()),
        }
    }
}

/// Refuses a table that holds rows.
///
/// # Errors
/// The same.
pub(super) fn expect_empty(ledger: &mut Ledger<'_>, record: &Record) -> Result<()> {
    match ledger.is_empty()? {
        true => Ok(()),
        false => Err(holds_rows(record)),
    }
}

fn holds_rows(record: &Record) -> Error {
    Error::target(format!(
        "table {} was empty when job {} began, and now holds rows",
        record.job.home.table, record.job.id
    ))
    .advise("abort the job, and begin one with --if-exists append")
}
