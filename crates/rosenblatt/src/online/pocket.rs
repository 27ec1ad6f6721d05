//! The best weights met on data that cannot be separated.

use serde::{Deserialize, Serialize};

/// Gallant's pocket with ratchet (1990, IEEE Transactions on Neural Networks 1:2): weights that survive longer than those in
/// the pocket replace them if they also classify more rows rightly.
///
/// A full count over the data costs as much as a pass, so counts are rationed: small data has them all, large data about
/// one a pass besides the one at its end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pocket<H> {
    best: Option<H>,
    best_correct: f64,
    best_run: u64,
    run: u64,
    seen_current: bool,
    visited: u64,
    counted: u64,
}

/// Rows that may be counted for nothing.
const FREE: u64 = 1 << 20;

impl<H> Default for Pocket<H> {
    fn default() -> Self {
        Pocket {
            best: None,
            best_correct: -1.0,
            best_run: 0,
            run: 0,
            seen_current: false,
            visited: 0,
            counted: 0,
        }
    }
}

impl<H: Clone> Pocket<H> {
    pub(crate) fn best(&self) -> Option<&H> {
        self.best.as_ref()
    }

    pub(crate) fn has_seen_current(&self) -> bool {
        self.seen_current
    }

    /// Notes one visit, which the current weights survived or not; whether they now deserve a count.
    #[inline]
    pub(crate) fn is_due(&mut self, survived: bool, n_rows: usize) -> bool {
        self.visited += 1;
        if !survived {
            self.run = 0;
            self.seen_current = false;
            return false;
        }
        self.run += 1;
        let affordable = self.counted + n_rows as u64 <= self.visited + FREE;
        self.run > self.best_run && !self.seen_current && affordable
    }

    pub(crate) fn compare(&mut self, current: &H, correct: f64, n_rows: usize) {
        self.seen_current = true;
        self.counted += n_rows as u64;
        if correct > self.best_correct {
            self.best = Some(current.clone());
            self.best_correct = correct;
            self.best_run = self.run;
        }
    }
}
