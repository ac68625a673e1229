//! The threads and queues of one pass over the source.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use inrush_core::error::{Error, Result};
use inrush_core::flow::{Encode, Feeder, Meter, Slot, StageClock};
use inrush_core::target::{Lane, Load};

/// The reading stage's ends of the queues.
struct SlotFeeder<'a> {
    empty: Receiver<Slot>,
    full: Sender<Slot>,
    halt: &'a Arc<AtomicBool>,
    clock: StageClock<'a>,
    seq: u64,
}

impl Feeder for SlotFeeder<'_> {
    fn take(&mut self) -> Option<Slot> {
        if self.halt.load(Relaxed) {
            return None;
        }
        self.clock.blocked(|| self.empty.recv()).ok()
    }

    fn give(&mut self, mut slot: Slot) -> bool {
        slot.chunk.seq = self.seq;
        self.seq += 1;
        self.full.send(slot).is_ok()
    }

    fn halt(&self) -> &Arc<AtomicBool> {
        self.halt
    }
}

/// What one pass runs with.
pub(crate) struct Pass<'a> {
    /// Slots in all: the bound of every queue.
    pub(crate) slots: usize,
    /// Bytes beyond which an outsized slot gives its memory back.
    pub(crate) chunk_bytes: usize,
    pub(crate) encoders: Vec<Box<dyn Encode>>,
    /// Records from which on a step ends, behind the chunk that brings as many; `None` where there are no steps.
    pub(crate) step_records: Option<u64>,
    pub(crate) meter: &'a Meter,
    pub(crate) stop: &'a AtomicBool,
}

/// Where a pass ends: what gives lanes.
pub(crate) trait Sink {
    /// One lane takes the chunks in the source's order; several take what comes. Asked again for each step, of which there is but one
    /// lane.
    ///
    /// # Errors
    /// When they can't be had.
    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>>;
}

impl Sink for dyn Load + '_ {
    fn lanes(&mut self) -> Result<Vec<Box<dyn Lane + '_>>> {
        Load::lanes(self)
    }
}

/// What sees the slots of a pass, in the source's order and on the calling thread.
pub(crate) trait Collector<S: ?Sized> {
    /// A slot is through.
    ///
    /// # Errors
    /// Whatever ends the pass.
    fn collect(&mut self, slot: &mut Slot) -> Result<()>;

    /// All slots of a step are through, and none of the next is sent.
    ///
    /// # Errors
    /// Whatever ends the pass.
    fn step(&mut self, _sink: &mut S) -> Result<()> {
        Ok(())
    }

    /// Now and then.
    fn tick(&mut self) {}
}

/// A collector of what is called for each slot, and what is now and then.
pub(crate) struct Calls<C, T> {
    pub(crate) collect: C,
    pub(crate) tick: T,
}

impl<S: ?Sized, C: FnMut(&mut Slot) -> Result<()>, T: FnMut()> Collector<S> for Calls<C, T> {
    fn collect(&mut self, slot: &mut Slot) -> Result<()> {
        (self.collect)(slot)
    }

    fn tick(&mut self) {
        (self.tick)();
    }
}

/// Whether a pass goes on.
#[derive(PartialEq, Eq)]
enum Flow {
    /// A step is through, and there may be another.
    StepEnds,
    /// All is through, or something has failed.
    Ends,
}

/// How often the collector looks up from waiting, to show progress and to notice that the user wants to stop.
const TICK: Duration = Duration::from_millis(50);

/// Runs one pass: `feed` reads, the encoders encode, the sink's lanes send, and `collector` sees every slot in the source's
/// order on the calling thread. The first failure ends all stages, and halts a `feed` that waits for input; that a stage can't be
/// started is one.
pub(crate) fn pass<S: Sink + ?Sized>(
    pass: Pass<'_>,
    feed: impl FnOnce(&mut dyn Feeder) -> Result<()> + Send,
    sink: &mut S,
    collector: &mut dyn Collector<S>,
) -> Result<()> {
    let Pass { slots, chunk_bytes, encoders, step_records, meter, stop } = pass;
    // Of this pass alone: another one may follow it.
    let halt = &Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let (empty_tx, empty_rx) = bounded::<Slot>(slots);
        let (chunk_tx, chunk_rx) = bounded::<Slot>(slots);
        let (wire_tx, wire_rx) = bounded::<Slot>(slots);
        for _ in 0..slots {
            // The channel holds as many.
            let _ = empty_tx.send(Slot::default());
        }

        let reader = spawn(scope, "inrush-read", halt, move || {
            let clock = StageClock::start(meter, "read");
            let mut feeder = SlotFeeder { empty: empty_rx, full: chunk_tx, halt, clock, seq: 0 };
            feed(&mut feeder)
        });
        let mut workers = vec![];
        let started = encoders.into_iter().try_for_each(|mut encoder| {
            let (from, to) = (chunk_rx.clone(), wire_tx.clone());
            workers.push(spawn(scope, "inrush-encode", halt, move || {
                let mut clock = StageClock::start(meter, "encode");
                while let Ok(mut slot) = clock.starved(|| from.recv()) {
                    slot.encoded.clear();
                    encoder.encode(&slot.chunk, &mut slot.encoded);
                    if halt.load(Relaxed) || to.send(slot).is_err() {
                        break;
                    }
                }
                Ok(())
            })?);
            Ok(())
        });
        drop((chunk_rx, wire_tx));

        let mut stages = Stages {
            wires: wire_rx,
            empty: Some(empty_tx),
            ahead: Vec::new(),
            waiting: InOrder::default(),
            step_records,
            slots,
            chunk_bytes,
            meter,
            halt,
            stop,
        };
        let (reader, missing) = match reader {
            Ok(reader) => (Some(reader), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let mut steps = || {
            while stages.send(sink, collector)? == Flow::StepEnds {
                collector.step(sink)?;
            }
            Ok(())
        };
        let mut outcome = missing.and(started).and_then(|()| steps());
        stages.end();
        drop(stages);
        // What the collector saw is what the user should read, and the lanes' troubles; then the encoders', then the reader's.
        for worker in workers.into_iter().chain(reader) {
            outcome =
                outcome.and(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcome
    })
}

/// What stays from step to step: the queues of the stages before the lanes, and slots that came before their turn.
struct Stages<'p> {
    wires: Receiver<Slot>,
    /// `None` once the reader gets no more.
    empty: Option<Sender<Slot>>,
    /// Slots of each lane.
    ahead: Vec<InOrder>,
    /// Those of the collector.
    waiting: InOrder,
    step_records: Option<u64>,
    slots: usize,
    chunk_bytes: usize,
    meter: &'p Meter,
    halt: &'p AtomicBool,
    stop: &'p AtomicBool,
}

impl Stages<'_> {
    /// Has all stages come to their end: whoever waits for a slot, or for input, waits no longer.
    fn end(&mut self) {
        self.halt.store(true, Relaxed);
        self.empty = None;
    }

    /// Has the sink's lanes send what comes, until a step is through or there is no more.
    fn send<S: Sink + ?Sized>(
        &mut self,
        sink: &mut S,
        collector: &mut dyn Collector<S>,
    ) -> Result<Flow> {
        let lanes = sink.lanes()?;
        let free = lanes.len() > 1;
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.resize_with(lanes.len(), || InOrder { free, ..InOrder::default() });
        let (step_records, meter, halt) = (self.step_records, self.meter, self.halt);
        let wires = self.wires.clone();
        let flow = thread::scope(|scope| {
            let (done_tx, done_rx) = bounded::<Slot>(self.slots);
            let mut workers = Vec::new();
            let mut collected = lanes.into_iter().zip(&mut ahead).try_for_each(|(lane, ahead)| {
                let (from, to) = (wires.clone(), done_tx.clone());
                workers.push(spawn(scope, "inrush-send", halt, move || {
                    let mut clock = StageClock::start(meter, "send");
                    let sent = run_lane(lane, &from, &to, ahead, step_records, halt, &mut clock);
                    if sent.is_err() {
                        // Its slot never reaches the collector, which would wait for it as long as other lanes are there.
                        halt.store(true, Relaxed);
                    }
                    sent
                })?);
                Ok(())
            });
            drop(done_tx);

            let mut flow = Flow::Ends;
            'collect: while collected.is_ok() {
                match done_rx.recv_timeout(TICK) {
                    Ok(slot) => self.waiting.push(slot),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                while let Some(mut slot) = self.waiting.pop() {
                    if std::mem::take(&mut slot.ends_step) {
                        flow = Flow::StepEnds;
                    }
                    collected = collector.collect(&mut slot);
                    if collected.is_err() {
                        break 'collect;
                    }
                    slot.chunk.bytes.shrink_to(self.chunk_bytes * 2);
                    slot.encoded.wire.shrink(self.chunk_bytes * 16);
                    if let Some(empty) = &self.empty {
                        // Fails only when the reader is through with the input.
                        let _ = empty.send(slot);
                    }
                }
                collector.tick();
                if halt.load(Relaxed) {
                    break;
                }
                if self.stop.load(Relaxed) {
                    collected = Err(Error::interrupted());
                    break;
                }
            }
            if collected.is_err() || flow == Flow::Ends {
                // Lanes may wait for what the stages before them would never send.
                self.end();
            }
            drop(done_rx);
            let mut outcome = collected;
            for worker in workers {
                outcome = outcome
                    .and(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            outcome.map(|()| flow)
        });
        self.ahead = ahead;
        flow
    }
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    halt: &'scope AtomicBool,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<thread::ScopedJoinHandle<'scope, T>> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn_scoped(scope, move || {
            let _guard = HaltOnPanic(halt);
            work()
        })
        .map_err(|error| Error::no_thread(&error))
}

/// A stage that panics takes its slot with it, and the others would wait for that one for ever.
struct HaltOnPanic<'a>(&'a AtomicBool);

impl Drop for HaltOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

fn run_lane(
    mut lane: Box<dyn Lane + '_>,
    from: &Receiver<Slot>,
    to: &Sender<Slot>,
    ahead: &mut InOrder,
    step_records: Option<u64>,
    halt: &AtomicBool,
    clock: &mut StageClock<'_>,
) -> Result<()> {
    let mut records = 0;
    loop {
        while let Some(mut slot) = ahead.pop() {
            if halt.load(Relaxed) {
                return Ok(());
            }
            slot.ack = lane.send(&slot.chunk, &slot.encoded.wire)?;
            records += u64::from(slot.encoded.records);
            let ends_step = step_records.is_some_and(|most| records >= most);
            slot.ends_step = ends_step;
            if to.send(slot).is_err() {
                return Ok(());
            }
            if ends_step {
                return lane.finish();
            }
        }
        let Ok(slot) = clock.starved(|| from.recv()) else { break };
        ahead.push(slot);
    }
    // The queue also closes when the pass has failed: then there is nothing to complete.
    if halt.load(Relaxed) { Ok(()) } else { lane.finish() }
}

/// Gives slots back in the order of their chunks. Never holds more than there are slots, for the one it waits for is
/// always on its way.
#[derive(Default)]
struct InOrder {
    held: BTreeMap<u64, Slot>,
    next: u64,
    /// Give them back as they come.
    free: bool,
}

impl InOrder {
    fn push(&mut self, slot: Slot) {
        self.held.insert(slot.chunk.seq, slot);
    }

    fn pop(&mut self) -> Option<Slot> {
        if self.free {
            return self.held.pop_first().map(|(_, slot)| slot);
        }
        let slot = self.held.remove(&self.next)?;
        self.next += 1;
        Some(slot)
    }
}
