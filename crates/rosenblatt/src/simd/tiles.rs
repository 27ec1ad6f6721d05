//! Sums of products of columns, a square of them at a time.

/// Columns that are multiplied together, and rows of a batch: as many as a number has bits.
pub const SIDE: usize = 8;
/// Rows of a batch, as many as a number has bits.
pub const BATCH: usize = 64;

/// Some columns of the rows of a batch.
pub type Panel = [[f64; SIDE]; BATCH];

/// A row of a tile, as halves that wide registers hold; never across two cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Line(pub [[f64; SIDE / 2]; 2]);

/// Adds Σₖ leftₖ·rightₖᵀ over the `rows` k, which are bits, to the tile whose lines lie `stride` apart, or takes it away.
///
/// Where the processor has fused operations, sums are rounded once instead of twice.
#[inline]
pub fn add_products(
    left: &Panel,
    right: &Panel,
    rows: u64,
    taken_away: bool,
    tile: &mut [Line],
    stride: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx512::add_products(left, right, rows, taken_away, tile, stride) };
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::add_products(left, right, rows, taken_away, tile, stride) };
    }
    plain_add_products(left, right, rows, taken_away, tile, stride);
}

fn plain_add_products(
    left: &Panel,
    right: &Panel,
    rows: u64,
    taken_away: bool,
    tile: &mut [Line],
    stride: usize,
) {
    let mut sums = [[0.0; SIDE]; SIDE];
    for k in bits(rows) {
        for (sums, u) in sums.iter_mut().zip(left[k]) {
            sums.iter_mut().zip(right[k]).for_each(|(sum, v)| *sum += u * v);
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        let line = tile[r * stride].0.as_flattened_mut();
        line.iter_mut().zip(sums).for_each(|(to, sum)| *to += if taken_away { -sum } else { *sum });
    }
}

/// The places of the bits of a number, from the lowest.
#[inline(always)]
fn bits(mut number: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (number != 0).then(|| number.trailing_zeros() as usize);
        number &= number.wrapping_sub(1);
        next
    })
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Line, Panel, bits};
    use std::arch::x86_64::*;

    /// Lines that are summed at once: more would not leave a register for what is multiplied.
    const LINES: usize = 4;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn add_products(
        left: &Panel,
        right: &Panel,
        rows: u64,
        taken_away: bool,
        tile: &mut [Line],
        stride: usize,
    ) {
        for first in [0, LINES] {
            let mut sums = [[_mm256_setzero_pd(); 2]; LINES];
            for k in bits(rows) {
                let (u, v) = (&left[k], right[k].as_ptr());
                // SAFETY: eight numbers lie there; the loads need no alignment.
                let v = unsafe { [_mm256_loadu_pd(v), _mm256_loadu_pd(v.add(4))] };
                for (r, sums) in sums.iter_mut().enumerate() {
                    let u = _mm256_set1_pd(u[first + r]);
                    *sums = [_mm256_fmadd_pd(u, v[0], sums[0]), _mm256_fmadd_pd(u, v[1], sums[1])];
                }
            }
            for (r, sums) in sums.into_iter().enumerate() {
                let Line(halves) = &mut tile[(first + r) * stride];
                for (half, sum) in halves.iter_mut().zip(sums) {
                    // SAFETY: four numbers lie there; loads and stores need no alignment.
                    unsafe {
                        let before = _mm256_loadu_pd(half.as_ptr());
                        let after = match taken_away {
                            true => _mm256_sub_pd(before, sum),
                            false => _mm256_add_pd(before, sum),
                        };
                        _mm256_storeu_pd(half.as_mut_ptr(), after);
                    }
                }
            }
        }
    }
}

/// A line in a register, and so all eight of a tile at once; the same bits as two halves give.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Line, Panel, SIDE, bits};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(super) fn add_products(
        left: &Panel,
        right: &Panel,
        rows: u64,
        taken_away: bool,
        tile: &mut [Line],
        stride: usize,
    ) {
        let mut sums = [_mm512_setzero_pd(); SIDE];
        for k in bits(rows) {
            // SAFETY: eight numbers lie there; the load needs no alignment.
            let v = unsafe { _mm512_loadu_pd(right[k].as_ptr()) };
            for (sum, &u) in sums.iter_mut().zip(&left[k]) {
                *sum = _mm512_fmadd_pd(_mm512_set1_pd(u), v, *sum);
            }
        }
        for (r, sum) in sums.into_iter().enumerate() {
            let line = tile[r * stride].0.as_flattened_mut();
            // SAFETY: eight numbers lie there; loads and stores need no alignment.
            unsafe {
                let before = _mm512_loadu_pd(line.as_ptr());
                let after = match taken_away {
                    true => _mm512_sub_pd(before, sum),
                    false => _mm512_add_pd(before, sum),
                };
                _mm512_storeu_pd(line.as_mut_ptr(), after);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn wide_tiles_are_plain_tiles() {
        let mut rng = Rng::new(1);
        for round in 0..50 {
            let mut panel =
                || -> Panel { std::array::from_fn(|_| std::array::from_fn(|_| rng.uniform() - 0.5)) };
            let (left, right) = (panel(), panel());
            // From none to all of the rows.
            let rows =
                [0, u64::MAX, 1 << 63, 0x9E37_79B9_7F4A_7C15u64.wrapping_mul(round + 1)][round as usize % 4];
            let stride = 1 + round as usize % 3;
            let mut wide = vec![Line([[1.0; 4]; 2]); 7 * stride + 1];
            let mut plain = wide.clone();
            add_products(&left, &right, rows, round % 5 == 0, &mut wide, stride);
            plain_add_products(&left, &right, rows, round % 5 == 0, &mut plain, stride);
            for (wide, plain) in wide.iter().zip(&plain) {
                for (a, b) in wide.0.as_flattened().iter().zip(plain.0.as_flattened()) {
                    assert!((a - b).abs() <= 1e-13, "{a} is not {b}");
                }
            }
        }
    }
}
