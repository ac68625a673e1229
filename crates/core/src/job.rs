//! What a target has to know of a load: what was asked for, found and decided.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::encode::Shape;
use crate::ledger::{Entry, StepPlan};
use crate::target::{Knobs, Location, Snapshot, Strategy};
use crate::{Column, Error, Facts, IfExists, Request, Result, TableFacts};

/// A load, as a target sees it. Where the rows come from is not its affair.
#[derive(Clone)]
pub struct Job {
    /// What the user asked for.
    pub request: Request,
    /// What was found.
    pub facts: Facts,
    /// What was decided.
    pub choice: Choice,
    /// Where the database is.
    pub location: Location,
    /// The table's name.
    pub table: String,
    /// How records become rows.
    pub shape: Arc<Shape>,
    /// Where the load commits in steps, what of it is committed already; `None` where it is all or nothing.
    pub steps: Option<StepPlan>,
}

impl Job {
    /// The table that is there and stays as it is defined; none where the load makes one.
    pub fn kept_table(&self) -> Option<&TableFacts> {
        self.facts.kept_table(&self.request)
    }

    /// The columns that the load adds to an existing table, behind its own.
    pub fn added_columns(&self) -> impl Iterator<Item = &Column> {
        let kept = self.kept_table().filter(|table| !table.takes_any && !table.is_nameless);
        let is_new = move |column: &&Column| {
            kept.is_some_and(|table| !table.columns.iter().any(|own| own.name == column.name))
        };
        self.choice.columns.iter().filter(is_new)
    }

    /// The columns that the source lacks and that stay as they are in the rows that the load changes, see [`Facts::kept_columns`].
    pub fn kept_columns(&self) -> Vec<&str> {
        self.facts.kept_columns(&self.request)
    }

    /// All columns of the table that rows come into, those that the load adds among them.
    pub fn table_columns(&self) -> impl Iterator<Item = &Column> {
        let columns = self.kept_table().map_or(&self.choice.columns, |table| &table.columns);
        columns.iter().chain(self.added_columns())
    }

    /// What the user reads where a table that the load was to make was made by another client meanwhile.
    pub fn was_made_meanwhile(&self) -> Error {
        let what = format!("another client has made table {} during the load", self.table);
        let advice = match self.request.if_exists {
            IfExists::Replace => "run the load again: it replaces that table",
            _ => "run the load again: --if-exists append adds to it",
        };
        Error::target(what).advise(advice)
    }

    /// The load's row in the ledger, where an earlier run has begun it and this one goes on.
    pub fn goes_on(&self) -> Option<&Entry> {
        self.steps.as_ref().filter(|steps| steps.goes_on).map(|steps| &steps.entry)
    }

    /// The table as it was before the load's first row, where an earlier run has seen that.
    pub fn before(&self) -> Option<&Snapshot> {
        Some(&self.goes_on()?.begun.as_ref()?.before)
    }

    /// Compares the table with what the plan was made for: between the two another client may have changed it. Rows that others
    /// add or delete meanwhile are their business, unless the request is for an empty table, or the strategy relies on one
    /// (`relies_on_rows`).
    ///
    /// # Errors
    /// When it is another table now, or one that is there no longer, or is there all of a sudden.
    pub fn expects(&self, mut found: Option<TableFacts>, relies_on_rows: bool) -> Result<()> {
        let planned = self.facts.target.table.as_ref();
        if let (Some(found), Some(planned)) = (&mut found, planned)
            && self.request.if_exists != IfExists::Empty
            && !relies_on_rows
        {
            found.holds_rows = planned.holds_rows;
        }
        if found.as_ref() == planned {
            return Ok(());
        }
        Err(Error::target(format!("table {} has changed since the plan was made", self.table))
            .advise("run the load again: it will look at what is there now"))
    }
}

/// What is done to the table before the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It isn't there, and is made.
    Create,
    /// It is there, and is dropped and recreated.
    Replace,
    /// It is there, and its rows are deleted.
    Truncate,
    /// It is there; rows are added.
    Append,
}

impl Action {
    /// Whether the load decides on the table's columns.
    pub fn makes_table(self) -> bool {
        matches!(self, Action::Create | Action::Replace)
    }
}

/// What was decided.
#[derive(Clone)]
pub struct Choice {
    /// How rows are written.
    pub strategy: &'static dyn Strategy,
    /// With which parameters.
    pub knobs: Knobs,
    /// What is done to the table first.
    pub action: Action,
    /// The columns that get values, in the table's order.
    pub columns: Vec<Column>,
    /// For each of them, the first input's field it takes them from.
    pub fields: Vec<usize>,
    /// The columns that keep a type which not all of their values seen are of, because so many bad rows are allowed.
    pub tolerated: Vec<usize>,
    /// The columns that `--on-conflict` compares.
    pub key: Vec<String>,
    /// Whether a failed load leaves the target as it was.
    pub atomic: bool,
    /// Connections.
    pub lanes: usize,
    /// Encoder threads.
    pub encoders: usize,
    /// Bytes of input in a chunk.
    pub chunk_bytes: usize,
    /// Slots in flight: the bound of every queue.
    pub slots: usize,
    /// The most memory the load takes while no record is longer than a chunk; an outsized record adds four times its length.
    pub memory_ceiling_bytes: u64,
    /// Why all this, in plain words.
    pub reasons: Vec<String>,
    /// What the user may want otherwise, in plain words.
    pub hints: Vec<String>,
    /// The measurement on this machine that it goes by, if any.
    pub measured: Option<Measured>,
}

/// A measurement that a choice goes by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The day, as `2026-11-23`.
    pub date: String,
    /// How many times as fast as the planner's own choice it was; 1 where that is what was chosen.
    pub ratio: f64,
    /// The interval's ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}
