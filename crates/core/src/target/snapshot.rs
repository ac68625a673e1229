//! The table before the first row and after the last: what a load is verified by.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

use crate::flow::Checksum;
use crate::wording::{counted, were};
use crate::{Job, OnConflict, Verify};

/// A table at one moment. What the request does not want compared isn't looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// How many rows it holds; `None` where they aren't counted.
    pub rows: Option<u64>,
    /// Sums over the values of the loaded columns; `None` of a table that had no rows, or where they aren't compared.
    pub sums: Option<Checksum>,
}

/// A table that can be read while a load is under way.
pub trait Inspect {
    /// Why it can't.
    type Failure;

    /// Counts the rows; `None` where their number says nothing, as behind a view.
    ///
    /// # Errors
    /// When the target refuses.
    fn rows(&mut self) -> Result<Option<u64>, Self::Failure>;

    /// Adds up the values of the loaded columns.
    ///
    /// # Errors
    /// When the target refuses.
    fn sums(&mut self) -> Result<Checksum, Self::Failure>;

    /// Looks at as much as `verify` wants compared.
    ///
    /// # Errors
    /// When the target refuses.
    fn snapshot(&mut self, verify: Verify) -> Result<Snapshot, Self::Failure> {
        Ok(Snapshot {
            rows: if verify == Verify::None { None } else { self.rows()? },
            sums: if verify == Verify::Checksum { Some(self.sums()?) } else { None },
        })
    }
}

/// What a load sent, to be compared with what is there.
#[derive(Debug)]
pub struct Sent {
    /// Rows the target acknowledged.
    pub rows: u64,
    /// Sums over their values, when verified by checksum.
    pub checksum: Option<Checksum>,
    /// The most rows that the table is known to have held between the two moments, see [`crate::ledger::SoFar::held`].
    pub held: Option<u64>,
    /// By how many rows the table has grown, once [`crate::target::Load::verify`] has counted them.
    pub grown: Cell<Option<u64>>,
}

impl Sent {
    /// Whether what was sent is what came to a table between two moments.
    pub fn verdict(&self, before: &Snapshot, after: &Snapshot, job: &Job) -> Verdict {
        let miscounted =
            after.rows.and_then(|after| self.miscounted(before.rows.unwrap_or(0), after, job));
        let difference = miscounted.or_else(|| {
            let now = after.sums.as_ref()?;
            match &before.sums {
                Some(before) => self.differs(&now.since(before), job),
                None => self.differs(now, job),
            }
        });
        let compared = after.rows.is_some() || after.sums.is_some();
        Verdict { ok: compared && difference.is_none(), difference }
    }

    /// What is wrong with a table that went from `before` to `after` rows. Where nothing is, the report knows from here on how many
    /// of the rows are new.
    fn miscounted(&self, before: u64, after: u64, job: &Job) -> Option<String> {
        self.grown.set(after.checked_sub(before));
        let sent = self.rows;
        let most = before.saturating_add(sent);
        let least = match job.request.on_conflict {
            OnConflict::Fail | OnConflict::Skip => most,
            // Rows that replaced or changed others did not make the table longer. A row that was sent is in it, under its key.
            OnConflict::Update | OnConflict::Replace => {
                before.max(self.held.unwrap_or(0)).max(sent.min(1))
            }
        };
        let now = counted(after, "row");
        (!(least..=most).contains(&after)).then(|| match self.held.filter(|held| after < *held) {
            Some(held) => format!("the table held {}, and holds {now}", counted(held, "row")),
            None => format!("the table went from {before} to {now}, {sent} {} sent", were(sent)),
        })
    }

    /// What is wrong with a table to which values of these sums were added.
    fn differs(&self, arrived: &Checksum, job: &Job) -> Option<String> {
        let column = arrived.first_difference(self.checksum.as_ref()?)?;
        let name = &job.choice.columns[column].name;
        Some(format!("the values in column {name} are not those that were sent"))
    }
}

/// The outcome of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the target was compared with what was sent, and holds it.
    pub ok: bool,
    /// The difference, in words.
    pub difference: Option<String>,
}
