//! Threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::Yield;

/// Does some work while another thread, if there is one, does something else first and then helps with the work.
///
/// A thread that has nothing to do falls asleep within some ten microseconds and takes about as long to wake up as a sum over some thousand rows takes. Solvers have hundreds of these one after the other; so the other
/// thread looks for parts of them without a pause, until there have been none for a while.
pub(crate) fn beside<A: Send, B: Send>(
    work: impl FnOnce() -> A + Send,
    first: impl FnOnce() -> B + Send,
) -> (A, B) {
    let done = AtomicBool::new(false);
    let work = || {
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    };
    let helper = || {
        let result = first();
        help(&done);
        result
    };
    rayon::join(work, helper)
}

/// Does what others have left to do, until they are done or leave nothing for a while.
fn help(done: &AtomicBool) {
    const PATIENCE: Duration = Duration::from_millis(3);
    let mut last = Instant::now();
    while !done.load(Ordering::Relaxed) && last.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(Yield::Executed) => last = Instant::now(),
            // Others may want the processor.
            _ => std::thread::yield_now(),
        }
    }
}
