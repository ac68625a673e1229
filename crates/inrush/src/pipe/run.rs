//! The threads and queues of one pass over the source.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use inrush_core::error::{Error, Result};
use inrush_core::flow::{Encode, Feeder, Meter, Slot, StageClock};
use inrush_core::target::Lane;

/// The reading stage's ends of the queues.
struct SlotFeeder<'a> {
    empty: Receiver<Slot>,
    full: Sender<Slot>,
    halt: &'a AtomicBool,
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
}

/// What one pass runs with.
pub(crate) struct Pass<'a> {
    /// Slots in all: the bound of every queue.
    pub(crate) slots: usize,
    /// Bytes beyond which an outsized slot gives its memory back.
    pub(crate) chunk_bytes: usize,
    pub(crate) encoders: Vec<Box<dyn Encode>>,
    /// One lane takes the chunks in the source's order; several take what comes.
    pub(crate) lanes: Vec<Box<dyn Lane + 'a>>,
    pub(crate) meter: &'a Meter,
    pub(crate) stop: &'a AtomicBool,
}

/// How often the collector looks up from waiting, to show progress and to notice that the user wants to stop.
const TICK: Duration = Duration::from_millis(50);

/// Runs one pass: `feed` reads, the encoders encode, the lanes send, and `collect` sees every slot in the source's
/// order on the calling thread, as does `tick` now and then. The first failure ends all stages; `release` then makes a `feed`
/// that waits for input give up.
pub(crate) fn pass<'a>(
    pass: Pass<'a>,
    feed: impl FnOnce(&mut dyn Feeder) -> Result<()> + Send,
    mut collect: impl FnMut(&mut Slot) -> Result<()>,
    mut tick: impl FnMut(),
    release: impl FnOnce(),
) -> Result<()> {
    let Pass { slots, chunk_bytes, encoders, lanes, meter, stop } = pass;
    let halt = AtomicBool::new(false);
    let halt = &halt;
    let ordered = lanes.len() == 1;
    thread::scope(|scope| {
        let (empty_tx, empty_rx) = bounded::<Slot>(slots);
        let (chunk_tx, chunk_rx) = bounded::<Slot>(slots);
        let (wire_tx, wire_rx) = bounded::<Slot>(slots);
        let (done_tx, done_rx) = bounded::<Slot>(slots);
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
        for mut encoder in encoders {
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
            }));
        }
        for lane in lanes {
            let (from, to) = (wire_rx.clone(), done_tx.clone());
            workers.push(spawn(scope, "inrush-send", halt, move || {
                let mut clock = StageClock::start(meter, "send");
                let sent = run_lane(lane, &from, &to, ordered, halt, &mut clock);
                if sent.is_err() {
                    // Its slot never reaches the collector, which would wait for it as long as other lanes are there.
                    halt.store(true, Relaxed);
                }
                sent
            }));
        }
        drop((chunk_rx, wire_tx, wire_rx, done_tx));

        let mut collected = Ok(());
        let mut waiting = InOrder::default();
        'collect: loop {
            match done_rx.recv_timeout(TICK) {
                Ok(slot) => waiting.push(slot),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(mut slot) = waiting.pop() {
                collected = collect(&mut slot);
                if collected.is_err() {
                    break 'collect;
                }
                slot.chunk.bytes.shrink_to(chunk_bytes * 2);
                slot.encoded.wire.shrink(chunk_bytes * 16);
                // Fails only when the reader is through with the input.
                let _ = empty_tx.send(slot);
            }
            tick();
            if halt.load(Relaxed) {
                break;
            }
            if stop.load(Relaxed) {
                collected = Err(Error::interrupted());
                break;
            }
        }
        halt.store(true, Relaxed);
        release();
        drop((done_rx, empty_tx));
        let mut outcome = collected;
        // What the collector saw is what the user should read; then the lanes' and encoders' troubles, then the reader's.
        for worker in workers.into_iter().chain([reader]) {
            outcome =
                outcome.and(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        outcome
    })
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    name: &str,
    halt: &'scope AtomicBool,
    work: impl FnOnce() -> T + Send + 'scope,
) -> thread::ScopedJoinHandle<'scope, T> {
    // Threads are few (the planner bounds them) and all started before the first byte moves; a system that has not even those
    // left is out of reach of an error message, and std's own spawn panics there as well.
    thread::Builder::new()
        .name(name.to_owned())
        .spawn_scoped(scope, move || {
            let _guard = HaltOnPanic(halt);
            work()
        })
        .expect("a thread")
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
    ordered: bool,
    halt: &AtomicBool,
    clock: &mut StageClock<'_>,
) -> Result<()> {
    let mut waiting = InOrder { free: !ordered, ..InOrder::default() };
    while let Ok(slot) = clock.starved(|| from.recv()) {
        waiting.push(slot);
        while let Some(mut slot) = waiting.pop() {
            if halt.load(Relaxed) {
                return Ok(());
            }
            slot.ack = lane.send(&slot.chunk, &slot.encoded.wire)?;
            if to.send(slot).is_err() {
                return Ok(());
            }
        }
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
