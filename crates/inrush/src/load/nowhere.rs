//! Passes over the source that send nothing.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::observer::Observer;
use crate::pipe::run::{Calls, Pass, Sink, pass};
use crate::plan::Plan;
use inrush_core::error::Result;
use inrush_core::flow::{Ack, Chunk, Encode, Meter, Point, Progress, Slot, Wire};
use inrush_core::target::Lane;

pub(crate) fn progress(
    plan: &Plan,
    meter: &Meter,
    began: Instant,
    rows_loaded: u64,
    rows_rejected: u64,
) -> Progress {
    let mut progress = Progress::default();
    progress.bytes_stored = meter.bytes_stored.load(Relaxed);
    progress.bytes_total = plan.facts.source.bytes;
    progress.rows_loaded = rows_loaded;
    progress.rows_rejected = rows_rejected;
    progress.elapsed = began.elapsed();
    progress
}

/// A lane that takes all and keeps nothing.
pub(crate) struct Nowhere;

impl Sink for Nowhere {
    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        Ok(vec![Box::new(Self)])
    }
}

impl Lane for Nowhere {
    fn send(&mut self, _chunk: &Chunk, _wire: &Wire) -> Result<Ack> {
        Ok(Ack::default())
    }
}

/// The same pass with other encoders, sent nowhere; how many records there were.
pub(super) fn pass_nowhere(
    plan: &Plan,
    observer: &dyn Observer,
    began: Instant,
    encoders: Vec<Box<dyn Encode>>,
    mut collect: impl FnMut(&mut Slot) -> Result<()>,
) -> Result<u64> {
    let meter = Meter::default();
    let parts = Pass {
        slots: plan.choice.slots,
        chunk_bytes: plan.choice.chunk_bytes,
        encoders,
        step_records: None,
        meter: &meter,
        stop: observer.stop_flag(),
    };
    let mut records = 0;
    pass(
        parts,
        |feeder| plan.source.feed(plan.choice.chunk_bytes, &Point::default(), &meter, feeder),
        &mut Nowhere,
        &mut Calls {
            collect: |slot: &mut Slot| {
                records += u64::from(slot.encoded.records);
                collect(slot)
            },
            tick: || observer.progress(&progress(plan, &meter, began, 0, 0)),
        },
    )?;
    Ok(records)
}

/// Does everything that a load does except for sending its rows: how many there were, and how long it took to read, cut and encode
/// them. No target can take the plan's rows faster from us. The target is as before when it ends.
///
/// # Errors
/// As [`run`](crate::run), except for what the target would say of the rows.
pub fn rehearse(plan: &Plan, observer: &dyn Observer) -> Result<(u64, Duration)> {
    let mut load = plan.choice.strategy.begin(&plan.job, observer.stop_flag())?;
    let encoders = (0..plan.choice.encoders).map(|_| load.encoder()).collect();
    let began = Instant::now();
    let records = pass_nowhere(plan, observer, began, encoders, |_| Ok(()));
    let took = began.elapsed();
    load.abort();
    Ok((records?, took))
}
