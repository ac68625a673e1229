//! Which partitions of a job are in its table, where each comes in by itself: one row each, written in the transaction of the partition's
//! own rows. So what this table says is what the job's table holds, whoever was killed, and whatever was repeated.
//!
//! One row more, the fence, is locked by every such transaction, which others may do as well. Who ends the job changes its state first,
//! and then waits for the fence to be free: what has begun before is over then, and what begins later finds the job ended.

use super::ledger::Ledger;
use super::text::{Job, Token, Visible};
use crate::target::{JOB_PREFIX, text};
use inrush_core::error::{Error, Result};
use inrush_core::unique;

/// The number of the fence; partitions count from 0.
const FENCE: i64 = -1;

/// A name for such a table. Its digits are its own, for it outlasts the job that has made it where another one goes on with that.
pub(super) fn new_name() -> String {
    format!("{JOB_PREFIX}{}_partitions", unique::word())
}

/// The table that knows a job's partitions.
#[derive(Clone, Copy)]
pub(super) struct Partitions<'a>(pub(super) &'a str);

/// A partition that is in the job's table.
pub(super) struct Part {
    /// What it was written from, where that can be said.
    pub(super) origin: Option<String>,
    pub(super) token: Token,
}

impl Partitions<'_> {
    fn named(self, ledger: &Ledger<'_>) -> String {
        ledger.sql.named(&ledger.home, self.0)
    }

    /// Makes the table.
    pub(super) fn make(self, ledger: &mut Ledger<'_>) -> Result<()> {
        let make = ledger.sql.make_partitions(&ledger.home, self.0);
        ledger.console.execute(&make)?;
        let fence = format!(
            "INSERT INTO {} (part, attempt, loaded) VALUES ({FENCE}, '', 0)",
            self.named(ledger)
        );
        ledger.console.execute(&fence).map(drop)
    }

    /// Keeps those away who end the job, for as long as the transaction takes that this is a part of.
    pub(super) fn enter(self, ledger: &mut Ledger<'_>) -> Result<()> {
        let shared = ledger.sql.shared();
        self.lock(ledger, shared)
    }

    /// Waits until no transaction is under way that brings in a partition. Within a transaction, others wait until that is over.
    pub(super) fn close(self, ledger: &mut Ledger<'_>) -> Result<()> {
        self.lock(ledger, " FOR UPDATE")
    }

    fn lock(self, ledger: &mut Ledger<'_>, how: &str) -> Result<()> {
        let sql = format!("SELECT part FROM {} WHERE part = {FENCE}{how}", self.named(ledger));
        match ledger.console.value(&sql)? {
            Some(_) => Ok(()),
            None => Err(Error::target(format!("the table {} has lost its first row", self.0))),
        }
    }

    /// Notes that the partition is this attempt's; an error where it is another's already. An attempt that is under way is waited for.
    pub(super) fn claim(
        self,
        ledger: &mut Ledger<'_>,
        partition: u32,
        attempt: &str,
    ) -> Result<()> {
        let sql = format!(
            "INSERT INTO {} (part, attempt, loaded) VALUES ({partition}, {}, 0)",
            self.named(ledger),
            ledger.literal(attempt)
        );
        ledger.console.execute(&sql).map(drop)
    }

    /// Notes what the attempt has done.
    pub(super) fn note(self, ledger: &mut Ledger<'_>, partition: u32, part: &Part) -> Result<()> {
        let origin =
            part.origin.as_ref().map_or("NULL".to_owned(), |origin| ledger.literal(origin));
        let sql = format!(
            "UPDATE {} SET loaded = {}, origin = {origin}, token = {} WHERE part = {partition}",
            self.named(ledger),
            part.token.rows_loaded,
            ledger.literal(&part.token.to_string())
        );
        ledger.console.execute(&sql).map(drop)
    }

    /// The partition, if it is in the job's table: as a token of this job, which may be one that goes on with an earlier one.
    pub(super) fn find(
        self,
        ledger: &mut Ledger<'_>,
        job: &Job,
        partition: u32,
    ) -> Result<Option<Part>> {
        Ok(self.read(ledger, job, &format!("part = {partition}"))?.pop())
    }

    /// All that are.
    pub(super) fn all(self, ledger: &mut Ledger<'_>, job: &Job) -> Result<Vec<Part>> {
        self.read(ledger, job, &format!("part > {FENCE} ORDER BY part"))
    }

    fn read(self, ledger: &mut Ledger<'_>, job: &Job, wanted: &str) -> Result<Vec<Part>> {
        let sql = format!("SELECT origin, token FROM {} WHERE {wanted}", self.named(ledger));
        let mut found = Vec::new();
        ledger.console.query(&sql, &mut |row| found.push((text(row, 0), text(row, 1))))?;
        let part = |(origin, token): (Option<String>, Option<String>)| {
            let token: Token = token.unwrap_or_default().parse()?;
            Ok(Part { origin, token: Token { digits: job.digits.clone(), ..token } })
        };
        found.into_iter().map(part).collect()
    }

    /// Whether there is the table: a job whose beginning was cut off has none.
    pub(super) fn is_there(self, ledger: &mut Ledger<'_>) -> Result<bool> {
        Ok(ledger.tables(self.0)?.iter().any(|table| table == self.0))
    }

    /// What others see of the job.
    pub(super) fn visible(self, ledger: &mut Ledger<'_>) -> Result<Visible> {
        if !self.is_there(ledger)? {
            return Ok(Visible::default());
        }
        let sql = format!(
            "SELECT COUNT(*), COALESCE(SUM(loaded), 0) FROM {} WHERE part > {FENCE}",
            self.named(ledger)
        );
        let mut visible = Visible::default();
        ledger.console.query(&sql, &mut |row| {
            let number = |at| text(row, at).and_then(|text| text.parse().ok()).unwrap_or(0);
            visible = Visible { partitions: number(0), rows: number(1) };
        })?;
        Ok(visible)
    }
}
