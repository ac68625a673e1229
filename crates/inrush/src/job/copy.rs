//! Copies an attempt's rows into the table: all of them, or it is an error.

use super::ledger::{Ledger, Record};
use super::text::Token;
use crate::plan::OnConflict;
use inrush_core::error::{Error, Kind, Result};
use inrush_core::wording::{counted, were};

/// A table's rows before those of attempts come in, where they are counted.
pub(super) struct Tally(Option<u64>);

impl Tally {
    /// Counts the table, where the database's word is not enough.
    ///
    /// # Errors
    /// As the database says.
    pub(super) fn before(ledger: &mut Ledger<'_>, record: &Record) -> Result<Self> {
        let table = &record.job.home.table;
        record.recounts.then(|| ledger.count(table)).transpose().map(Self)
    }

    /// Refuses a table that has not grown by so many rows. That others may have added some meanwhile is not noticed.
    ///
    /// # Errors
    /// The same, or as the database says.
    pub(super) fn grown(self, ledger: &mut Ledger<'_>, record: &Record, rows: u64) -> Result<()> {
        let Self(Some(before)) = self else { return Ok(()) };
        let table = &record.job.home.table;
        let after = ledger.count(table)?;
        if after >= before.saturating_add(rows) {
            return Ok(());
        }
        let (after, were) = (counted(after, "row"), were(rows));
        Err(Error::new(
            Kind::Verify,
            format!("table {table} went from {before} to {after}, {rows} {were} sent"),
        )
        .advise(format!(
            "look for rules and triggers of {table} that leave rows out; a view may show only some of them, as its WHERE says: begin a job \
             for the table behind it"
        ))
        .advise("or begin the job with --verify none, if they are right to: it does not count the table"))
    }
}

/// Copies the rows of an attempt; how many were left out for their key's sake.
pub(super) fn copy(ledger: &mut Ledger<'_>, record: &Record, token: &Token) -> Result<u64> {
    let job = &record.job;
    let hidden = token.table(job);
    let missing = |came: u64, skipped: u64| {
        let skipped = match skipped {
            0 => String::new(),
            skipped => format!(", besides {skipped} whose key was a duplicate"),
        };
        Error::new(
            Kind::Verify,
            format!(
                "attempt {} wrote {} rows, and {came} of them came into the table{skipped}",
                token.attempt, token.rows
            ),
        )
        .advise(
            "look for triggers that leave rows out, and whether the server has crashed meanwhile",
        )
    };
    let gone = |found| missing(found, 0);
    if !record.counts {
        let found = ledger.count(&hidden)?;
        if found != token.rows {
            return Err(gone(found));
        }
    }
    let written = ledger.copy(&record.copying, &hidden);
    let written = written.map_err(|error| in_words(ledger, record, error))?;
    if job.load.on_conflict == OnConflict::Fail {
        return if written == token.rows { Ok(0) } else { Err(gone(written)) };
    }
    let lost = ledger.lost(&record.copying, &hidden, token.rows, written)?;
    let left = token.rows.saturating_sub(lost);
    match job.load.on_conflict {
        OnConflict::Skip if lost > 0 => Err(missing(written, left.saturating_sub(written))),
        _ if lost > 0 => Err(gone(left)),
        OnConflict::Skip => Ok(token.rows.saturating_sub(written)),
        _ => Ok(0),
    }
}

/// An error of the hidden table that gets the name of the job's, by that name. A row that the attempt's table took can repeat a key of
/// another one.
pub(super) fn by_name(ledger: &Ledger<'_>, record: &Record, error: Error) -> Error {
    let (hidden, table) = (record.new_table(), record.job.table().to_owned());
    let error = error.reworded(|text| text.replace(&hidden, &table));
    if !is_duplicate(&error) {
        return error;
    }
    error.advise(match ledger.jobs.rows.has_transactions() {
        true => "a row has the key of one in the table, or of another attempt's: a job that is begun with --on-conflict skip or update decides",
        false => "a row has another one's key: a job that is begun with --guarantee per_partition compares them, and --on-conflict skip or update decides",
    })
}

fn is_duplicate(error: &Error) -> bool {
    error.what().to_lowercase().contains("duplicate")
}

/// The same of rows that are copied, or of the end of their transaction, for which some rules wait: they can break rules that only the job's
/// table has.
pub(super) fn in_words(ledger: &Ledger<'_>, record: &Record, error: Error) -> Error {
    let table = record.job.table();
    let error = by_name(ledger, record, error);
    if is_duplicate(&error) {
        return error;
    }
    match error.breaks_rule() {
        true => error.advise(format!(
            "a row that breaks a foreign key, a partition or a trigger of {table} is no bad row of its own here: leave it out or have the \
             table take it, and write its part again"
        )),
        false => error,
    }
}
