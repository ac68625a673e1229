//! The steps of a load.

use std::collections::BTreeMap;

use crate::Retry;
use crate::error::{Error, Result};
use crate::flow::{Ack, Chunk, Encode, Wire};
use crate::ledger::{Begun, Entry};
use crate::target::{Sent, Verdict};

/// A load under way. The steps, in order:
///
/// 1. [`crate::target::Strategy::begin`] gave it.
/// 2. [`Load::hand_over`], which ends the next two steps where the engine reads the source by itself; else [`Load::encoder`] as often
///    as there are encoder threads, and [`Load::lanes`] once.
/// 3. The pipeline runs; the lanes are dropped when all chunks are sent.
/// 4. Of a load in steps: [`Load::record`], [`Load::step`] and [`Load::next_step`], and again from [`Load::lanes`] on, as long as there
///    are rows.
/// 5. [`Load::complete`], [`Load::verify`]; of a load in steps [`Load::record`] once more.
/// 6. [`Load::commit`]; or, from any step, [`Load::abort`]. One dropped without either is aborted.
pub trait Load: Send {
    /// Has the engine read the source by itself, and says how many rows it took; `None` where they go through the pipeline.
    ///
    /// # Errors
    /// When the engine refuses.
    fn hand_over(&mut self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// An encoder for one thread.
    fn encoder(&self) -> Box<dyn Encode>;

    /// A connection that sends.
    ///
    /// # Errors
    /// When it can't be had.
    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>>;

    /// Whether keys or indexes are built after the rows.
    fn indexes(&self) -> bool;

    /// Completes the table once all rows are sent: what comes after the rows, keys and indexes among it.
    ///
    /// # Errors
    /// When one can't be built; a duplicate key found here names its columns.
    fn complete(&mut self) -> Result<()>;

    /// Compares the table with what was sent.
    ///
    /// # Errors
    /// When it can't be read. A difference is an answer, not an error.
    fn verify(&mut self, sent: &Sent) -> Result<Verdict>;

    /// What the table is before the first row of a load in steps.
    ///
    /// # Errors
    /// When it can't be read, or the strategy commits no steps.
    fn begun(&mut self) -> Result<Begun> {
        Err(without_steps())
    }

    /// How many rows the table holds, those of the step that is not committed yet among them; `None` where their number says nothing.
    ///
    /// # Errors
    /// When it can't be read, or the strategy commits no steps.
    fn held(&mut self) -> Result<Option<u64>> {
        Err(without_steps())
    }

    /// Writes the load's row in the ledger, in the transaction of the rows that it tells of.
    ///
    /// # Errors
    /// When the target refuses, or another process goes on with the same load.
    fn record(&mut self, _entry: &Entry) -> Result<()> {
        Err(without_steps())
    }

    /// Commits what was sent, with what was recorded.
    ///
    /// # Errors
    /// When the target refuses, or does not answer: then only the ledger knows whether the step is committed, and [`Load::abort`] says
    /// nothing else than that it does not know.
    fn step(&mut self) -> Result<()> {
        Err(without_steps())
    }

    /// Makes ready for more behind a step, which is committed whatever comes of this.
    ///
    /// # Errors
    /// When the target refuses.
    fn next_step(&mut self) -> Result<()> {
        Err(without_steps())
    }

    /// Runs a statement in the transaction of the rows, where one has them all: what it locks stays so until they are committed.
    ///
    /// # Errors
    /// When the target refuses.
    fn hold(&mut self, _statement: &str) -> Result<()> {
        Ok(())
    }

    /// Makes everything visible and lasting, and reads back what durability the engine was running with. `note` is for what the user
    /// is to read while that takes time.
    ///
    /// # Errors
    /// When the target refuses; [`Load::abort`] says what is left.
    fn commit(&mut self, note: &dyn Fn(&str)) -> Result<BTreeMap<String, String>>;

    /// What the target has warned of when it committed, for the report.
    fn warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What a load that has just failed found out: with it another try fares better.
    fn retry(&mut self, _ended_by: Ended) -> Option<Retry> {
        None
    }

    /// Where a user should look for what the database did of its own accord and keeps, after a load that it says has changed nothing.
    fn beyond_undoing(&self) -> Option<String> {
        None
    }

    /// Undoes everything that can be undone, and says what is left.
    fn abort(&mut self) -> crate::error::Aftermath;
}

fn without_steps() -> Error {
    Error::usage("this strategy commits all rows at once")
}

/// What ended a load before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Bad rows: there may be earlier ones that it would have told at its end only.
    ByRows,
    /// A row that disproves a guessed type, before which the same holds; with nothing else to learn the types are.
    ByMismatch,
    /// Anything else, or what was learnt before.
    Otherwise,
}

/// One connection. Only I/O: the encoder has done the thinking.
pub trait Lane: Send {
    /// Sends one wire, whole. Rows that the target refuses are in the answer; an error ends the load.
    ///
    /// # Errors
    /// When the target fails for a reason that no row is to blame for.
    fn send(&mut self, chunk: &Chunk, wire: &Wire) -> Result<Ack>;

    /// All wires of this lane are sent.
    ///
    /// # Errors
    /// When what was sent can't be completed.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
