//! What a learner would take, before it has begun.

use serde::Serialize;

/// The solver that would run on some data, and the memory it would need beside them.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, LinearSvm};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let demand = LinearSvm::default().demand(&data)?;
/// assert!(demand.solver.starts_with("Newton's method"));
/// assert!(demand.bytes < 4096);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Demand {
    /// Which solver would run, and why.
    pub solver: String,
    /// Bytes at most, beside the data: weights, what is kept for each row, matrices, cache.
    pub bytes: u64,
}

impl Demand {
    /// So many numbers for each row and for each feature, and some more bytes.
    pub(crate) fn of(solver: String, rows: (usize, usize), features: (usize, usize), more: usize) -> Self {
        let numbers =
            |(count, each): (usize, usize)| count.saturating_mul(each).saturating_mul(size_of::<f64>());
        let bytes = numbers(rows).saturating_add(numbers(features)).saturating_add(more);
        Demand { solver, bytes: bytes as u64 }
    }
}
