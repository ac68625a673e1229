//! Waiting for others so that the user can stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};

/// Set once whoever waits need wait no longer.
pub type Stop = Arc<AtomicBool>;

/// How often who waits looks whether the answer is still wanted.
pub const TICK: Duration = Duration::from_millis(50);

/// What a thread that is over has done. Where it panicked that goes on here: nothing else would say why there is nothing.
pub(crate) fn ended<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Does the work with a flag that is set as soon as `stop` is: threads that outlive the work can hold it.
pub fn watched<T>(stop: &AtomicBool, flag: &Stop, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, is_done) = bounded::<()>(0);
        let watch = move || {
            while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if stop.load(Relaxed) {
                    return flag.store(true, Relaxed);
                }
            }
        };
        // A system without a thread for it has none for what comes next either, which says so.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let result = work();
        drop(done);
        result
    })
}
