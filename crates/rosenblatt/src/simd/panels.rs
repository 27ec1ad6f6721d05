//! Products of rows with the columns of a panel.

use super::{Arithmetic, FusedLoop, fused};

/// Columns of a panel.
pub const PANEL: usize = 16;

/// What becomes of the numbers where the sums belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// The sums are taken away from them.
    Less,
    /// The sums take their places.
    Instead,
}

/// sₖ = Σⱼ row\[from + j\]·table\[j\]\[k\] for each of some rows of `n` numbers, which belong from number `to` on, as far as the row goes.
///
/// Where the processor has fused operations, each product is rounded together with its addition. Nothing depends on the other rows or on the registers.
#[inline]
pub fn multiply_panel(
    rows: &mut [f64],
    n: usize,
    from: usize,
    table: &[[f64; PANEL]],
    to: usize,
    sums: Sums,
) {
    assert!(from + table.len() <= n && to < n, "rows are long enough");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has just said that it knows these instructions; lengths have been checked.
        return unsafe { avx512::multiply_panel(rows, n, from, table, to, sums) };
    }
    fused(Product { rows, n, from, table, to, sums });
}

struct Product<'a> {
    rows: &'a mut [f64],
    n: usize,
    from: usize,
    table: &'a [[f64; PANEL]],
    to: usize,
    sums: Sums,
}

impl FusedLoop for Product<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Product { rows, n, from, table, to, sums } = self;
        let mut pairs = rows.chunks_exact_mut(2 * n);
        for pair in &mut pairs {
            tile::<A, 2>(pair, n, from, table, to, sums);
        }
        for row in pairs.into_remainder().chunks_exact_mut(n) {
            tile::<A, 1>(row, n, from, table, to, sums);
        }
    }
}

/// The same for R rows side by side.
#[inline(always)]
fn tile<A: Arithmetic, const R: usize>(
    rows: &mut [f64],
    n: usize,
    from: usize,
    table: &[[f64; PANEL]],
    to: usize,
    kind: Sums,
) {
    let factors: [&[f64]; R] = std::array::from_fn(|r| &rows[r * n + from..][..table.len()]);
    let mut sums = [[0.0; PANEL]; R];
    for (j, column) in table.iter().enumerate() {
        for (sums, factors) in sums.iter_mut().zip(factors) {
            for k in 0..PANEL {
                sums[k] = A::add_product(sums[k], factors[j], column[k]);
            }
        }
    }
    for (row, sums) in rows.chunks_exact_mut(n).zip(sums) {
        let places = row[to..].iter_mut().zip(sums);
        match kind {
            Sums::Less => places.for_each(|(to, sum)| *to -= sum),
            Sums::Instead => places.for_each(|(to, sum)| *to = sum),
        }
    }
}

/// A panel in two registers, for eight rows at once; the same bits as `fused` gives.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{PANEL, Sums};
    use std::arch::x86_64::*;

    const HALF: usize = PANEL / 2;

    /// The caller has seen to it that rows are long enough.
    #[target_feature(enable = "avx512f")]
    pub(super) fn multiply_panel(
        rows: &mut [f64],
        n: usize,
        from: usize,
        table: &[[f64; PANEL]],
        to: usize,
        sums: Sums,
    ) {
        let mut eights = rows.chunks_exact_mut(8 * n);
        for rows in &mut eights {
            tile::<8>(rows, n, from, table, to, sums);
        }
        let mut pairs = eights.into_remainder().chunks_exact_mut(2 * n);
        for rows in &mut pairs {
            tile::<2>(rows, n, from, table, to, sums);
        }
        for row in pairs.into_remainder().chunks_exact_mut(n) {
            tile::<1>(row, n, from, table, to, sums);
        }
    }

    #[target_feature(enable = "avx512f")]
    fn tile<const R: usize>(
        rows: &mut [f64],
        n: usize,
        from: usize,
        table: &[[f64; PANEL]],
        to: usize,
        kind: Sums,
    ) {
        let mut factors = [[].as_slice(); R];
        for (r, factors) in factors.iter_mut().enumerate() {
            *factors = &rows[r * n + from..][..table.len()];
        }
        let mut sums = [[_mm512_setzero_pd(); 2]; R];
        for (j, column) in table.iter().enumerate() {
            // SAFETY: sixteen numbers lie there; the loads need no alignment.
            let v = unsafe { [_mm512_loadu_pd(column.as_ptr()), _mm512_loadu_pd(column[HALF..].as_ptr())] };
            for (sums, factors) in sums.iter_mut().zip(&factors) {
                // SAFETY: there are as many factors as the table has columns.
                let u = _mm512_set1_pd(unsafe { *factors.get_unchecked(j) });
                *sums = [_mm512_fmadd_pd(u, v[0], sums[0]), _mm512_fmadd_pd(u, v[1], sums[1])];
            }
        }
        let width = (n - to).min(PANEL);
        let masks = [low_bits(width.min(HALF)), low_bits(width.saturating_sub(HALF))];
        for (r, sums) in sums.into_iter().enumerate() {
            let places = &mut rows[r * n + to..][..width];
            let start = places.as_mut_ptr();
            for (half, (sum, mask)) in sums.into_iter().zip(masks).enumerate() {
                // SAFETY: what the mask lets through lies within the slice; the rest is neither read nor written.
                unsafe {
                    let place = start.wrapping_add(half * HALF);
                    let after = match kind {
                        Sums::Less => _mm512_sub_pd(_mm512_maskz_loadu_pd(mask, place), sum),
                        Sums::Instead => sum,
                    };
                    _mm512_mask_storeu_pd(place, mask, after);
                }
            }
        }
    }

    /// So many ones.
    fn low_bits(count: usize) -> __mmask8 {
        ((1u16 << count) - 1) as __mmask8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Rows of all numbers, tables of all lengths, and panels that end with the row, against plain sums.
    #[test]
    fn as_plain_code() {
        let mut rng = Rng::new(5);
        for round in 0..200 {
            let (n, count) = (1 + round % 41, round % 23);
            let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.uniform() - 0.5).collect() };
            let (before, values) = (numbers(n * count), numbers(n * PANEL));
            let from = round % 3 % n;
            let table: Vec<[f64; PANEL]> = (0..(n - from) * (round % 5) / 4)
                .map(|j| std::array::from_fn(|k| values[j * PANEL + k]))
                .collect();
            let to = (7 * round) % n;
            for kind in [Sums::Less, Sums::Instead] {
                let mut rows = before.clone();
                multiply_panel(&mut rows, n, from, &table, to, kind);
                for (at, (found, before_it)) in rows.iter().zip(&before).enumerate() {
                    let (row, k) = (&before[at / n * n..][..n], at % n);
                    let expected = if (to..to + PANEL).contains(&k) {
                        let sum: f64 =
                            table.iter().enumerate().map(|(j, column)| row[from + j] * column[k - to]).sum();
                        if kind == Sums::Less { before_it - sum } else { sum }
                    } else {
                        *before_it
                    };
                    assert!(
                        (found - expected).abs() <= 1e-13,
                        "{n}, {count}, {from}, {to}: {found} is not {expected}"
                    );
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn wide_registers_give_the_same_bits() {
        if !is_x86_feature_detected!("avx512f") {
            return;
        }
        let mut rng = Rng::new(6);
        let (n, count) = (53, 21);
        let before: Vec<f64> = (0..n * count).map(|_| rng.uniform() - 0.5).collect();
        let table: Vec<[f64; PANEL]> =
            (0..40).map(|_| std::array::from_fn(|_| rng.uniform() - 0.5)).collect();
        let (mut wide, mut narrow) = (before.clone(), before);
        multiply_panel(&mut wide, n, 0, &table, 40, Sums::Less);
        fused(Product { rows: &mut narrow, n, from: 0, table: &table, to: 40, sums: Sums::Less });
        assert_eq!(wide, narrow);
    }
}
