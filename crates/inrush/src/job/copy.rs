//! Copies an attempt's rows into the table: all of them, or it is an error.

use super::ledger::{Ledger, Record};
use super::text::Token;
use crate::plan::OnConflict;
use inrush_core::error::{Error, Kind, Result};

/// Copies the rows of an attempt; how many were left out for their key's sake.
pub(super) fn copy(ledger: &mut Ledger<'_>, record: &Record, token: &Token) -> Result<u64> {
    let job = &record.job;
    let hidden = token.table(job);
    let gone = |found: u64| {
        Error::new(
            Kind::Verify,
            format!(
                "attempt {} wrote {} rows, and {found} of them came into the table",
                token.attempt, token.rows
            ),
        )
        .advise(
            "look for triggers that leave rows out, and whether the server has crashed meanwhile",
        )
    };
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
    match job.load.on_conflict {
        _ if lost > 0 => Err(gone(token.rows.saturating_sub(lost))),
        OnConflict::Skip => Ok(token.rows.saturating_sub(written)),
        _ => Ok(0),
    }
}

/// A row that repeats a key can be in any of the tables by now.
fn in_words(ledger: &Ledger<'_>, record: &Record, error: Error) -> Error {
    let (hidden, table) = (record.job.new_table(), record.job.table().to_owned());
    let error = error.reworded(|text| text.replace(&hidden, &table));
    let what = error.what().to_lowercase();
    if !what.contains("duplicate") {
        return error;
    }
    error.advise(match ledger.jobs.rows.has_transactions() {
        true => "a row has the key of one in the table, or of another attempt's: --on-conflict skip or update decides",
        false => "a row has another one's key: --guarantee per_partition compares them, and --on-conflict skip or update decides",
    })
}
