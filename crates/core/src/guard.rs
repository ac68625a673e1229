//! Libraries that panic over damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Why a file can't be read.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

thread_local! {
    /// Whether a panic of this thread is caught, and made an error of.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does what may panic over a damaged file, as the libraries for workbooks, Arrow and Parquet do over some, and makes an error of that.
///
/// # Errors
/// When it fails, or panics.
pub fn guarded<T, E: Into<Failure>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                before(info);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    // What is half done isn't looked at again: the load ends.
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    match done {
        Ok(done) => done.map_err(Into::into),
        Err(_) => Err("it is damaged".into()),
    }
}
