//! A load in steps: what goes into the ledger, and when.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::tally::Tally;
use crate::observer::Observer;
use crate::pipe::reject::{RejectFiles, by_place};
use crate::plan::steps::{FROM_THE_FIRST_ROW, forgets};
use crate::plan::{OnConflict, Plan, Verify};
use crate::report::{Report, Seconds, StepsReport, Verification};
use inrush_core::error::{Aftermath, Error, Result};
use inrush_core::flow::Phase;
use inrush_core::ledger::{Entry, RejectsLength, Rows, StepPlan};
use inrush_core::pending::from_root;
use inrush_core::target::{Load, Sent};

/// The report of a load that has reached its end in an earlier run; `None` where there is something left to do.
pub(super) fn finished(plan: &Plan) -> Option<Report> {
    let steps = plan.steps.as_ref().filter(|steps| steps.is_finished)?;
    let tally = Tally::new(plan);
    let rows = steps.entry.so_far.rows;
    let mut warnings = plan.warnings();
    warnings.push("the load was finished before: nothing was done".to_owned());
    let report = StepsReport { was_finished: true, ..StepsReport::of(&steps.entry, rows) };
    Some(Report {
        version: env!("CARGO_PKG_VERSION"),
        plan: plan.clone(),
        rows_read: rows.read,
        rows_loaded: rows.loaded,
        rows_rejected: rows.rejected,
        rows_skipped: rows.skipped,
        rows_inserted: None,
        rows_updated: None,
        inputs: tally.inputs,
        bytes_read: 0,
        seconds: Seconds::default(),
        rows_per_second: 0.0,
        mb_per_second: 0.0,
        stages: Vec::new(),
        verify: Verification { method: Verify::None, ok: false },
        durability_read_back: Default::default(),
        rejects: as_planned(plan, &steps.entry.so_far.rejects),
        steps: Some(report),
        warnings,
    })
}

/// Files of bad rows, which the ledger has by their paths from the root on, as the reports before had them.
fn as_planned(plan: &Plan, lengths: &[RejectsLength]) -> Vec<PathBuf> {
    let planned = by_place(&plan.reject_places);
    let as_planned = lengths.iter().map(|length| {
        let path = planned.get(&from_root(&length.path)).copied().unwrap_or(&length.path);
        path.clone()
    });
    as_planned.collect()
}

/// What counting the table at steps may take: this much in all, and from then on a share of the load's time.
const COUNTING: Duration = Duration::from_secs(1);
const COUNTING_SHARE: u32 = 10;

/// The steps of one try.
pub(super) struct Steps {
    /// The load's row in the ledger, as it was written last, or will be next.
    entry: Entry,
    /// Steps that are committed for sure.
    committed: u64,
    /// Rows of those.
    rows_committed: u64,
    /// What earlier runs have committed.
    before: Rows,
    /// Something was recorded since, and only the ledger knows whether it is committed.
    is_recorded: bool,
    /// The table, or what else earlier runs have left, is not what it was, so that the same command would go on no better.
    is_refused: bool,
    /// When this run began.
    began: Instant,
    /// What counting the table has taken since.
    counting: Duration,
}

impl Steps {
    pub(super) fn new(plan: &StepPlan) -> Self {
        let entry = plan.entry.clone();
        let before = entry.so_far.rows;
        let (committed, rows_committed) = (entry.steps, before.loaded);
        Self {
            entry,
            committed,
            rows_committed,
            before,
            is_recorded: false,
            is_refused: false,
            began: Instant::now(),
            counting: Duration::ZERO,
        }
    }

    /// See [`inrush_core::ledger::SoFar::held`].
    pub(super) fn held(&self) -> Option<u64> {
        self.entry.so_far.held
    }

    /// Counts the table at the end of a step where nothing else says later whether rows of it are gone: of rows that change or replace
    /// others it is not known how many are new.
    pub(super) fn count(&mut self, plan: &Plan, load: &mut dyn Load) -> Result<()> {
        let says_nothing =
            matches!(plan.request.on_conflict, OnConflict::Update | OnConflict::Replace);
        let takes_too_long = self.counting > COUNTING + self.began.elapsed() / COUNTING_SHARE;
        if plan.request.verify == Verify::None || !says_nothing || takes_too_long {
            return Ok(());
        }
        let began = Instant::now();
        // Others may delete rows of their own meanwhile: that is judged at the end, when as many may be there again.
        self.entry.so_far.held = load.held()?.max(self.held());
        self.counting += began.elapsed();
        Ok(())
    }

    /// Looks at the table, and, where an earlier run has begun, whether it holds what that has left.
    pub(super) fn begin(
        &mut self,
        plan: &Plan,
        observer: &dyn Observer,
        load: &mut dyn Load,
        rejects: &mut RejectFiles,
    ) -> Result<()> {
        let begun = self.look(plan, observer, load, rejects);
        self.is_refused = begun.as_ref().is_err_and(Error::is_refusal);
        begun
    }

    fn look(
        &mut self,
        plan: &Plan,
        observer: &dyn Observer,
        load: &mut dyn Load,
        rejects: &mut RejectFiles,
    ) -> Result<()> {
        let so_far = &self.entry.so_far;
        if self.entry.begun.is_none() {
            self.entry.begun = Some(load.begun()?);
            self.entry.types = plan.settled().collect();
            self.entry.settled = self.entry.types.keys().cloned().collect();
            return Ok(());
        }
        if plan.request.verify != Verify::None {
            observer.phase(&Phase::Verify);
            let (rows, checksum, held) = (so_far.rows.loaded, so_far.checksum.clone(), so_far.held);
            let sent = Sent { rows, checksum, held, grown: Cell::new(None) };
            let verdict = load.verify(&sent)?;
            if let Some(difference) = verdict.difference {
                let error = Error::target(format!(
                    "the rows of table {} have changed since the last step: {difference}",
                    plan.table
                ))
                .advise("look at what other programs did to the table");
                let are_gone = sent.grown.get().is_none_or(|grown| grown < rows);
                if !are_gone {
                    return Err(error.advise("or go on with --verify none, if they had a right to"));
                }
                let forgets = forgets(&self.entry);
                return Err(error
                    .advise(match plan.request.on_conflict {
                        OnConflict::Fail => {
                            format!("or, where the table holds none of the load's rows any more, {forgets}")
                        }
                        _ => format!(
                            "or begin at the first row, which repeats none of those that are left: {forgets}"
                        ),
                    })
                    .advise(FROM_THE_FIRST_ROW)
                    .advise(
                        "or go on with --verify none, if rows were to be deleted: they are not loaded again",
                    ));
            }
        }
        rejects.go_on(&so_far.rejects)
    }

    /// Writes what there is now into the ledger, and gives the bad rows that go with it their names: all but the commit. In this order
    /// a process that goes on with a load of another one touches none of its files.
    pub(super) fn record(
        &mut self,
        load: &mut dyn Load,
        tally: &Tally,
        rejects: &mut RejectFiles,
        is_done: bool,
    ) -> Result<()> {
        self.entry.steps += 1;
        self.entry.is_done = is_done;
        self.entry.so_far = tally.so_far(self.held(), rejects.lengths()?);
        load.record(&self.entry)?;
        rejects.publish()?;
        self.is_recorded = true;
        Ok(())
    }

    /// What was recorded is committed.
    pub(super) fn committed(&mut self, rejects: &mut RejectFiles) {
        rejects.keep();
        self.committed = self.entry.steps;
        self.rows_committed = self.entry.so_far.rows.loaded;
        self.is_recorded = false;
    }

    /// What a try leaves that fails now and of which the target says this. Of earlier steps the ledger knows better. Bad rows of a step
    /// that may be committed stay.
    pub(super) fn aftermath(&self, says: Aftermath, rejects: &mut RejectFiles) -> Aftermath {
        let is_undone = !matches!(says, Aftermath::Unknown | Aftermath::Committed { .. });
        let may_be_committed = self.is_recorded && !is_undone;
        if may_be_committed {
            rejects.keep();
        }
        match (self.committed > 0 || may_be_committed) && !self.is_refused {
            true => Aftermath::Resumable { rows: self.rows_committed, or_more: may_be_committed },
            false => says,
        }
    }

    /// What to try where the table holds at the end something else than the steps have brought, which may be the work of `suspects` as
    /// well.
    pub(super) fn advise(&self, differs: Error, suspects: &str) -> Error {
        let differs = differs
            .advise("look at what other programs did to the table meanwhile: their rows are counted with those of the steps")
            .advise(format!("or look for {suspects}"));
        match self.committed {
            0 => differs.advise("--verify none loads without comparing"),
            _ => differs.advise("or go on with --resume --verify none, if that is as it should be"),
        }
    }

    /// The steps of a load that has reached its end.
    pub(super) fn report(&self) -> StepsReport {
        StepsReport::of(&self.entry, self.before)
    }
}
