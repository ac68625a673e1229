//! What a job has brought into its table before it is published, and whether it is in there still: others can do with the table what they
//! like, and of rows that are gone a job neither says that they are in, nor goes on behind them.

use super::ledger::{Entry, Ledger, Record};
use super::partitions::Partitions;
use super::publish::look;
use super::text::{Guarantee, Job, Place, Token, Visible};
use crate::observer::Observer;
use crate::plan::{OnConflict, Verify};
use inrush_core::TableFacts;
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::wording::counted;

/// What a job has brought into its table.
#[derive(Clone, Copy)]
pub(super) struct Brought {
    /// Partitions and rows; no partitions where they don't come in by themselves.
    pub(super) visible: Visible,
    /// Rows of the table before the job's first one, where each that the job loads is a row more; `None` where they weren't counted.
    pub(super) before: Option<u64>,
}

impl Brought {
    /// What these attempts have.
    pub(super) fn by(tokens: &[Token], record: &Record) -> Self {
        let partitions = record.partitions.as_ref().map_or(0, |_| tokens.len() as u64);
        let rows = tokens.iter().map(|token| token.rows_loaded).sum();
        Self { visible: Visible { partitions, rows }, before: record.before }
    }

    /// Refuses a job of whose rows some are not in the table any more, as far as a count of the table tells.
    ///
    /// # Errors
    /// The same. Nothing is counted with `--verify none`, and not of a view, which may hide rows that go through it.
    pub(super) fn stays(
        self,
        ledger: &mut Ledger<'_>,
        job: &Job,
        table: Option<&TableFacts>,
    ) -> Result<()> {
        let Some(table) = table else { return Err(self.gone(job)) };
        if self.visible.rows == 0 || job.load.verify == Verify::None || is_view(table) {
            return Ok(());
        }
        let found = ledger.count(&job.home.table)?;
        match found >= self.wanted() {
            true => Ok(()),
            false => Err(self.fewer(job, found)),
        }
    }

    /// Rows that the table holds at least.
    fn wanted(self) -> u64 {
        let rows = self.visible.rows;
        self.before.map_or(rows.min(1), |before| before + rows)
    }

    /// What the job has brought in.
    fn words(self, job: &Job) -> String {
        let Visible { partitions, rows } = self.visible;
        let rows = format!("{} of job {}", counted(rows, "row"), job.id);
        match job.guarantee {
            Guarantee::PerPartition => format!("{} with {rows}", counted(partitions, "partition")),
            Guarantee::None | Guarantee::Atomic => rows,
        }
    }

    fn gone(self, job: &Job) -> Error {
        let table = job.table();
        let what = match self.visible {
            Visible { partitions: 0, rows: 0 } => {
                format!("table {table}, which job {} writes into, is gone", job.id)
            }
            _ => format!("{} were in table {table}, which is gone", self.words(job)),
        };
        Error::target(what).advise(ANOTHER).leaving(Aftermath::NothingChanged)
    }

    fn fewer(self, job: &Job, found: u64) -> Error {
        let of = match self.before {
            Some(before @ 1..) => format!(", besides {before} of before"),
            _ => String::new(),
        };
        let error = Error::target(format!(
            "{} were in table {}{of}, and the table holds {} now",
            self.words(job),
            job.table(),
            counted(found, "row")
        ))
        .advise(ANOTHER);
        let error = match job.guarantee {
            Guarantee::PerPartition => error.advise(
                "or begin it again with --verify none, if other programs had a right to delete the rows that are missing: no partition in \
                 the table is written again",
            ),
            Guarantee::None | Guarantee::Atomic => error.advise(
                "a job that is begun with --verify none does not count, for tables whose rows other programs delete",
            ),
        };
        // Whose rows are missing can't be told.
        match self.visible.rows.min(found.saturating_sub(self.before.unwrap_or(0))) {
            0 => error.leaving(Aftermath::NothingChanged),
            rows => error.leaving(Aftermath::Committed { rows }),
        }
    }
}

/// What loads all rows.
const ANOTHER: &str = "give the load another name, and it loads all of its rows, when nothing of the first one is left in the table (inrush job \
     abort ends this one)";

/// Refuses to write more rows into a table that is gone, or holds none any more although partitions are in it. What it holds is not
/// counted: that is for who publishes.
///
/// # Errors
/// The same.
pub(super) fn is_in_place(
    place: &Place,
    ledger: &mut Ledger<'_>,
    entry: &Entry,
    observer: &dyn Observer,
) -> Result<Option<TableFacts>> {
    let record = entry.record()?;
    let job = &record.job;
    let found = look(place, job, observer.stop_flag())?;
    if found.as_ref().is_some_and(|table| table.holds_rows || is_view(table)) {
        return Ok(found);
    }
    let visible = match entry.partitions.as_deref().map(Partitions) {
        Some(partitions) => partitions.visible(ledger)?,
        None => Visible::default(),
    };
    Brought { visible, before: record.before }.stays(ledger, job, found.as_ref())?;
    Ok(found)
}

/// Rows of the table before those of a job that others see before it is published.
///
/// # Errors
/// When the database can't count them.
pub(super) fn rows_before(
    ledger: &mut Ledger<'_>,
    table: Option<&TableFacts>,
    job: &Job,
) -> Result<Option<u64>> {
    let counts = job.guarantee.is_early() && job.load.verify != Verify::None && adds_each(job);
    match table {
        None => Ok(counts.then_some(0)),
        Some(table) if counts && !is_view(table) => {
            let found = ledger.count(&job.home.table)?;
            // What a killed attempt has left is found again, and is none of before.
            Ok(Some(found.saturating_sub(ledger.left(job)?)))
        }
        Some(_) => Ok(None),
    }
}

/// Whether each row that the job loads is a row more in its table.
pub(super) fn adds_each(job: &Job) -> bool {
    matches!(job.load.on_conflict, OnConflict::Fail | OnConflict::Skip)
}

/// Whether it may hide rows that go through it.
fn is_view(table: &TableFacts) -> bool {
    table.storage.as_deref().is_some_and(|storage| storage.contains("view"))
}
