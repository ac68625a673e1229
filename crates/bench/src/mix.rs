//! Requests of several statements, one after the other, as one client of a web service would make them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::clock::clock_ns;
use crate::generate::SplitMix64;
use crate::latency::Histogram;
use crate::task::{MixTask, Outcome};
use crate::worker::{Access, NAP, NUMBER, Pace};
use inrush::target::Console;
use inrush_core::error::{Error, Result};
use inrush_findings::suite::Transaction;

/// One worker's requests.
pub(super) struct Runner<'a> {
    task: &'a MixTask,
    access: &'a Access,
    random: SplitMix64,
    stop: &'a AtomicBool,
    /// The connection that is kept.
    kept: Option<Box<dyn Console>>,
}

/// What one try at a request came to.
struct Tried {
    /// Rows changed and acknowledged, by the step's place.
    acknowledged: Vec<u64>,
    /// Why it failed.
    error: Option<Error>,
    /// The connection is gone, perhaps with the answer to a commit.
    lost_at_commit: bool,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        task: &'a MixTask,
        access: &'a Access,
        seed: u64,
        stop: &'a AtomicBool,
    ) -> Self {
        Self { task, access, random: SplitMix64::new(seed), stop, kept: None }
    }

    /// Makes all requests.
    ///
    /// # Errors
    /// When the user wants to stop; requests that fail are counted.
    pub(super) fn run(mut self, outcome: &mut Outcome) -> Result<()> {
        let began = Instant::now();
        let pace = Pace::default();
        let (mut service, mut response) = (Histogram::new(), Histogram::new());
        let mut failures = Histogram::new();
        for request in 0..self.task.requests {
            let due = self
                .task
                .rate
                .map(|rate| Duration::from_secs_f64((request as f64 + self.task.turn) / rate));
            if let Some(due) = due {
                self.wait_until(began, due)?;
            }
            let number = self.random.below(self.task.range.saturating_add(1));
            let before = Instant::now();
            let is_done = self.request(number, outcome);
            // What failed is in a histogram of its own: successes alone look the better, the more fails.
            match is_done {
                true => {
                    outcome.requests += 1;
                    service.record(before.elapsed());
                    if let Some(due) = due {
                        response.record(began.elapsed().saturating_sub(due));
                    }
                }
                false => failures.record(before.elapsed()),
            }
            pace.tell(outcome.requests);
            if self.stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
        }
        outcome.ack_ns = clock_ns();
        outcome.rows = outcome.requests;
        let named = [("request", service), ("response", response), ("failed", failures)];
        for (name, histogram) in named.into_iter().filter(|(_, histogram)| histogram.count() > 0) {
            outcome.latency.insert(name.to_owned(), histogram.encode());
        }
        Ok(())
    }

    fn wait_until(&self, began: Instant, due: Duration) -> Result<()> {
        while let Some(left) = due.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
            if self.stop.load(Relaxed) {
                return Err(Error::interrupted());
            }
            std::thread::sleep(left.min(NAP));
        }
        Ok(())
    }

    /// One request, with its further tries; whether it was done.
    fn request(&mut self, number: u64, outcome: &mut Outcome) -> bool {
        for attempt in 0..=self.task.retries {
            let tried = self.attempt(number);
            for (step, rows) in self.task.steps.iter().zip(&tried.acknowledged) {
                *outcome.acknowledged.entry(step.id.clone()).or_default() += rows;
            }
            let Some(error) = tried.error else { return true };
            outcome.unknown += u64::from(tried.lost_at_commit);
            if attempt < self.task.retries {
                outcome.retries += 1;
            } else {
                *outcome.failed.entry(error.what().to_owned()).or_default() += 1;
            }
        }
        false
    }

    fn attempt(&mut self, number: u64) -> Tried {
        let steps = self.task.steps.len();
        let mut tried = Tried { acknowledged: vec![0; steps], error: None, lost_at_commit: false };
        let mut console = match self.kept.take().map_or_else(|| self.access.open(), Ok) {
            Ok(console) => console,
            Err(error) => {
                tried.error = Some(error);
                return tried;
            }
        };
        let broken = self.statements(&mut *console, number, &mut tried);
        if !self.task.connect_each && !broken {
            self.kept = Some(console);
        }
        tried
    }

    /// Whether the connection can't be used any more.
    fn statements(&self, console: &mut dyn Console, number: u64, tried: &mut Tried) -> bool {
        let number = number.to_string();
        let mut values: BTreeMap<usize, f64> = BTreeMap::new();
        // Changed in the open transaction: nothing is acknowledged before its commit is.
        let mut pending: Option<Vec<(usize, u64)>> = None;
        for (place, step) in self.task.steps.iter().enumerate() {
            if step.when.is_some_and(|when| !values.get(&when).is_some_and(|value| *value > 0.0)) {
                continue;
            }
            let sql = step.sql.replace(NUMBER, &number);
            let done = if step.keep {
                console.value(&sql).map(|value| {
                    let value = value.and_then(|text| text.parse().ok()).unwrap_or(0.0);
                    values.insert(place, value);
                    0
                })
            } else {
                console.execute(&sql)
            };
            let rows = match done {
                Ok(rows) => rows,
                Err(error) => {
                    tried.error = Some(error);
                    // A connection that can't roll back is of no use for the next request either.
                    let gone = pending.is_some() && console.execute("ROLLBACK").is_err()
                        || console.ping().is_err();
                    // Outside of a transaction every statement is its own commit.
                    let commits = step.transaction == Some(Transaction::Commit);
                    tried.lost_at_commit = gone && (commits || pending.is_none());
                    return gone;
                }
            };
            match (step.transaction, &mut pending) {
                (Some(Transaction::Begin), _) => pending = Some(Vec::new()),
                (Some(Transaction::Commit), _) => {
                    for (place, rows) in pending.take().unwrap_or_default() {
                        tried.acknowledged[place] += rows;
                    }
                }
                (None, Some(pending)) => pending.push((place, rows)),
                (None, None) => tried.acknowledged[place] += rows,
            }
        }
        false
    }
}
