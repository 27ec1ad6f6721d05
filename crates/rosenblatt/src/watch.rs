//! One observer sees how training goes and may stop it.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Receives progress. The library never prints; a front end draws the bar.
///
/// ```
/// use std::ops::ControlFlow;
/// use rosenblatt::{Progress, Watch};
/// struct ThreePasses;
/// impl Watch for ThreePasses {
///     fn progress(&mut self, p: &Progress) -> ControlFlow<()> {
///         if p.pass > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
///     }
/// }
/// ```
pub trait Watch: Send {
    /// Called every few thousand examples; `Break` ends the run, which then returns its best model so far.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()>;

    /// Called while a [`Search`](crate::Search) is under way, whose examples are fits; `Break` ends it with the best so far.
    fn search(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.progress(progress)
    }

    /// Called before the last fit, of the model that a search has led to: one who stopped the search has not stopped this.
    fn next(&mut self) {}
}

/// Nobody watches.
impl Watch for () {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// The pass under way, from 1.
    pub pass: usize,
    /// At most so many passes will be made.
    pub passes: usize,
    /// Examples visited in this pass, over all sub-problems.
    pub visited: u64,
    /// Examples to visit in this pass.
    pub visits: u64,
    /// Mistakes in the last whole pass.
    pub last_mistakes: Option<u64>,
}

/// Why a run was stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Time,
    Interrupt,
}

/// Shares one [`Watch`] and the clock among the threads of a fit.
pub(crate) struct Monitor<'w> {
    watch: Mutex<&'w mut dyn Watch>,
    deadline: Option<Instant>,
    stop: AtomicU8,
    visited: AtomicU64,
    progress: Progress,
}

impl<'w> Monitor<'w> {
    /// Examples between two looks at the clock.
    pub(crate) const BLOCK: usize = 2048;

    pub(crate) fn new(watch: &'w mut dyn Watch, limit: Option<f64>, passes: usize) -> Self {
        let limit = limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Monitor {
            watch: Mutex::new(watch),
            deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
            stop: AtomicU8::new(0),
            visited: AtomicU64::new(0),
            progress: Progress { passes, ..Progress::default() },
        }
    }

    pub(crate) fn start_pass(&mut self, pass: usize, visits: u64, last_mistakes: Option<u64>) {
        self.progress = Progress { pass, visits, last_mistakes, ..self.progress };
        *self.visited.get_mut() = 0;
    }

    /// Reports `count` more examples; true while the run may go on.
    pub(crate) fn go_on(&self, count: usize) -> bool {
        let visited = self.visited.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop.fetch_max(1, Ordering::Relaxed);
        }
        if let Ok(mut watch) = self.watch.lock()
            && watch.progress(&Progress { visited, ..self.progress }).is_break()
        {
            self.stop.fetch_max(2, Ordering::Relaxed);
        }
        self.stopped().is_none()
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Time),
            _ => Some(Stop::Interrupt),
        }
    }
}
