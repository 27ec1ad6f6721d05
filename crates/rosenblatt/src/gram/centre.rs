//! The middle of rows.

use std::sync::Arc;

use crate::data::{Matrix, Rows};
use crate::kernel::Kernel;
use crate::similarity::Similarity;
use crate::with_rows;

/// What is taken from rows before distances are formed, if anything is to be.
pub(super) fn middle(kernel: &Similarity, x: &Matrix<'_>) -> Option<Arc<[f32]>> {
    if kernel.kernel().is_some_and(Kernel::is_of_distance) { centre(x) } else { None }
}

/// The mean row, where it is long beside the distances between rows: ‖u‖² + ‖v‖² − 2u·v would be a small difference of large numbers.
fn centre(x: &Matrix<'_>) -> Option<Arc<[f32]>> {
    /// Rows looked at.
    const MANY: usize = 4096;
    /// Share of entries below which zeros are where the middle is.
    const FULL: f64 = 0.25;
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let step = n_rows.div_ceil(MANY).max(1);
    // Rows with few entries may have more columns than there is room for.
    if (x.entries() as f64) < FULL * n_rows.div_ceil(step) as f64 * n_cols as f64 {
        return None;
    }
    let (mut mean, mut squares, mut seen, mut entries) = (vec![0.0; n_cols], 0.0, 0.0, 0.0);
    for i in (0..n_rows).step_by(step) {
        with_rows!(x, x => x.each(i, |j, v| {
            mean[j] += v;
            squares += v * v;
            entries += f64::from(u8::from(v != 0.0));
        }));
        seen += 1.0;
    }
    mean.iter_mut().for_each(|sum| *sum /= f64::max(seen, 1.0));
    let middle: f64 = mean.iter().map(|m| m * m).sum();
    let apart = squares / f64::max(seen, 1.0) - middle;
    let pays = middle > apart && entries >= FULL * seen * n_cols as f64;
    pays.then(|| mean.iter().map(|&m| m as f32).collect())
}
