//! How long it may take.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::watch::{Progress, Watch};

/// When it is to be over; nothing where there is no limit.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn after(seconds: f64) -> Self {
        let limit = Duration::try_from_secs_f64(seconds.max(0.0)).ok();
        Deadline(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    pub(crate) fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// Seconds that are left.
    pub(crate) fn left(self) -> f64 {
        self.0.map_or(f64::INFINITY, |end| end.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// For the first of so many that share what is left.
    pub(crate) fn share(self, parts: usize) -> Self {
        if self.0.is_none() { self } else { Deadline::after(self.left() / parts.max(1) as f64) }
    }
}

/// Ends what it watches when the time is over, or when another watch does.
pub(crate) struct Until<'w> {
    pub(crate) deadline: Deadline,
    pub(crate) watch: &'w mut dyn Watch,
}

impl Watch for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        if self.deadline.is_over() { ControlFlow::Break(()) } else { self.watch.progress(progress) }
    }
}
