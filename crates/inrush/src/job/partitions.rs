//! Which partitions of a job are in its table, where each comes in by itself: one row each, written in the transaction of the partition's
//! own rows. So what this table says is what the job's table holds, whoever was killed, and whatever was repeated.
//!
//! One row more, the fence, is locked by every such transaction, which others may do as well. Who ends the job changes its state first,
//! and then waits for the fence to be free: what has begun before is over then, and what begins later finds the job ended.

use super::ledger::Ledger;
use super::text::{Job, Token, Visible};
use crate::target::{Fence, JOB_PREFIX, Part};
use inrush_core::error::Result;
use inrush_core::unique;

/// A name for such a table. Its digits are its own, for it outlasts the job that has made it where another one goes on with that.
pub(super) fn new_name() -> String {
    format!("{JOB_PREFIX}{}_partitions", unique::word())
}

/// The table that knows a job's partitions.
#[derive(Clone, Copy)]
pub(super) struct Partitions<'a>(pub(super) &'a str);

/// A partition that is in the job's table.
pub(super) struct Known {
    /// What it was written from, where that can be said.
    pub(super) origin: Option<String>,
    pub(super) token: Token,
}

impl Partitions<'_> {
    /// Makes the table.
    pub(super) fn make(self, ledger: &mut Ledger<'_>) -> Result<()> {
        ledger.make_partitions(self.0)
    }

    /// Keeps those away who end the job, for as long as the transaction takes that this is a part of.
    pub(super) fn enter(self, ledger: &mut Ledger<'_>) -> Result<()> {
        ledger.keep_fence(self.0, Fence::Shared)
    }

    /// Waits until no transaction is under way that brings in a partition. Within a transaction, others wait until that is over.
    pub(super) fn close(self, ledger: &mut Ledger<'_>) -> Result<()> {
        ledger.keep_fence(self.0, Fence::Alone)
    }

    /// Notes that the partition is this attempt's; an error where it is another's already. An attempt that is under way is waited for.
    pub(super) fn claim(
        self,
        ledger: &mut Ledger<'_>,
        partition: u32,
        attempt: &str,
    ) -> Result<()> {
        ledger.claim(self.0, partition, attempt)
    }

    /// Notes what the attempt has done.
    pub(super) fn note(self, ledger: &mut Ledger<'_>, partition: u32, part: &Known) -> Result<()> {
        let Known { origin, token } = part;
        let (loaded, origin) = (token.rows_loaded, origin.clone());
        let token = token.kept_alone().to_string();
        ledger.note(self.0, partition, &Part { loaded, origin, token })
    }

    /// The partition, if it is in the job's table: as a token of this job, which may be one that goes on with an earlier one.
    pub(super) fn find(
        self,
        ledger: &mut Ledger<'_>,
        job: &Job,
        partition: u32,
    ) -> Result<Option<Known>> {
        Ok(self.read(ledger, job, Some(partition))?.pop())
    }

    /// All that are.
    pub(super) fn all(self, ledger: &mut Ledger<'_>, job: &Job) -> Result<Vec<Known>> {
        self.read(ledger, job, None)
    }

    fn read(self, ledger: &mut Ledger<'_>, job: &Job, number: Option<u32>) -> Result<Vec<Known>> {
        let known = |Part { origin, token, .. }: Part| {
            let token: Token = token.parse()?;
            Ok(Known { origin, token: Token { digits: job.digits.clone(), ..token } })
        };
        ledger.parts(self.0, number)?.into_iter().map(known).collect()
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
        let parts = ledger.parts(self.0, None)?;
        let rows = parts.iter().map(|part| part.loaded).sum();
        Ok(Visible { partitions: parts.len() as u64, rows })
    }
}
