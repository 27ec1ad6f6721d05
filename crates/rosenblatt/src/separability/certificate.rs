//! The checks of both answers, in exact arithmetic and apart from the search: whatever made an answer, it is right if it passes here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use rayon::prelude::*;

use super::points::{Plane, Points};
use crate::data::Rows;

/// Whether every point has a product above 0 with the plane: yᵢ(w·xᵢ + b) > 0 for every row.
pub(super) fn separates<R: Rows>(points: &Points<'_, R>, plane: &Plane) -> bool {
    let apart = |i: usize| plane.side(points, i) == Ordering::Greater;
    points.len() > 0 && (0..points.len()).into_par_iter().with_min_len(256).all(apart)
}

/// Whether Σ λᵢpᵢ = 0 with every λ above 0 and at least one of them. A plane with pᵢ·w > 0 for these points would have 0 = (Σ λᵢpᵢ)·w = Σ λᵢ(pᵢ·w) > 0, so there is
/// none (Gordan 1873).
pub(super) fn obstructs<R: Rows>(points: &Points<'_, R>, multipliers: &[(usize, BigInt)]) -> bool {
    if multipliers.is_empty() || !multipliers.iter().all(|(_, value)| value.is_positive()) {
        return false;
    }
    // Each point is p·2^shift in whole numbers; all are brought to the same power.
    let whole: Vec<_> = multipliers.iter().map(|(i, value)| (points.whole(*i), value)).collect();
    let most = whole.iter().map(|(point, _)| point.shift).max().unwrap_or(0);
    let mut sums: BTreeMap<usize, BigInt> = BTreeMap::new();
    for (point, value) in &whole {
        let scaled = *value << (most - point.shift).unsigned_abs();
        for (column, v) in &point.entries {
            *sums.entry(*column).or_default() += v * &scaled;
        }
    }
    sums.values().all(BigInt::is_zero)
}
