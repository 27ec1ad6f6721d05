//! How often and in which sequence examples are visited.

use serde::{Deserialize, Serialize};

use crate::error::ParamError;
use crate::rng::Rng;

/// The sequence in which rows are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they stand.
    Cyclic,
    /// A fresh permutation each pass.
    #[default]
    Shuffle,
    /// As many draws with replacement as there are rows.
    Random,
}

/// The part of an online learner's parameters that concerns passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) passes: usize,
    pub(crate) order: Order,
    pub(crate) seed: u64,
    pub(crate) time_limit: Option<f64>,
}

impl Schedule {
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        ParamError::unless(self.passes >= 1, "passes", "must be at least 1")?;
        let limit = self.time_limit.unwrap_or(1.0);
        ParamError::unless(limit > 0.0, "time_limit", "must be more than 0 seconds")
    }

    /// The rows of a pass; passes are counted from 1.
    pub(crate) fn rows(&self, pass: usize, n_rows: usize, order: Order) -> Vec<usize> {
        let mut rng = Rng::stream(self.seed, pass as u64);
        match order {
            Order::Cyclic => (0..n_rows).collect(),
            Order::Shuffle => {
                let mut rows: Vec<usize> = (0..n_rows).collect();
                rng.shuffle(&mut rows);
                rows
            }
            Order::Random => (0..n_rows).map(|_| rng.below(n_rows as u64) as usize).collect(),
        }
    }
}
