//! Threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::Yield;
use rayon::prelude::*;

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

/// Pieces of work that take much memory each, at most as many at a time as there are threads; the results in order.
///
/// A thread that waits for others within its piece looks for work, too. What it would find of a plain parallel loop is the next piece, so that it would begin one within the other, and all of them would be under way at once.
pub(crate) fn abreast<T: Send, R: Send>(pieces: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let (count, threads) = (pieces.len(), rayon::current_num_threads());
    let queue = Mutex::new(pieces.into_iter().enumerate());
    let done: Mutex<Vec<Option<R>>> = Mutex::new((0..count).map(|_| None).collect());
    let worker = |_: usize| {
        while let Some((at, piece)) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            let result = work(piece);
            if let Ok(mut done) = done.lock() {
                done[at] = Some(result);
            }
        }
    };
    (0..threads.min(count)).into_par_iter().with_max_len(1).for_each(worker);
    done.into_inner().unwrap_or_default().into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn no_more_pieces_are_under_way_than_there_are_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let piece = |i: usize| {
            most.fetch_max(1 + now.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            // Parts of it that the other thread may take, so that this one has to wait for them.
            let sum: usize = (0..64usize).into_par_iter().with_max_len(1).map(busy).sum();
            now.fetch_sub(1, Ordering::SeqCst);
            i + sum
        };
        let results = pool.install(|| abreast((0..40).collect(), piece));
        let one = piece(0);
        assert_eq!(results, (0..40).map(|i| i + one).collect::<Vec<_>>());
        assert!(most.into_inner() <= 2);
    }

    fn busy(part: usize) -> usize {
        (0..20_000).fold(part, |sum, i| sum.wrapping_mul(31) ^ i) % 7
    }
}
