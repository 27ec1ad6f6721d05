//! Many fits side by side, under one watch and one clock.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::watch::{Progress, Watch};

/// The one who watches, and what there is to see.
pub(super) struct Shared<'w> {
    watch: Mutex<&'w mut dyn Watch>,
    deadline: Option<Instant>,
    stopped: AtomicBool,
    done: AtomicU64,
    expected: AtomicU64,
}

impl<'w> Shared<'w> {
    pub(super) fn new(watch: &'w mut dyn Watch, deadline: Option<Instant>) -> Self {
        let (stopped, done, expected) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        Shared { watch: Mutex::new(watch), deadline, stopped, done, expected }
    }

    /// So many more fits will be made.
    pub(super) fn expect(&self, fits: usize) {
        self.expected.fetch_add(fits as u64, Ordering::Relaxed);
    }

    pub(super) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Fits so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Tells how far the search is; whether it may go on.
    pub(super) fn go_on(&self) -> bool {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let progress = Progress {
            pass: 1,
            passes: 1,
            visited: self.done(),
            visits: self.expected.load(Ordering::Relaxed),
            last_mistakes: None,
        };
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if late || watch.search(&progress).is_break() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.is_stopped()
    }

    /// A watch for one of the fits.
    pub(super) fn relay(&self) -> Relay<'_, 'w> {
        Relay(self)
    }

    pub(super) fn into_watch(self) -> &'w mut dyn Watch {
        self.watch.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a fit of a search is watched by: only how many are done is told.
pub(super) struct Relay<'s, 'w>(&'s Shared<'w>);

impl Watch for Relay<'_, '_> {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        if self.0.go_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
