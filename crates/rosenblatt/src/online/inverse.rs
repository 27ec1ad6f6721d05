//! The inverse of a matrix that grows.

use serde::{Deserialize, Serialize};

use super::terms::add_and_dot;
use crate::simd::{Loop, widely};

/// K⁻¹ of a symmetric positive definite K that gets one row and column at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Inverse {
    n: usize,
    /// The lower half, row after row: a new row goes to the end.
    rows: Vec<f64>,
}

impl Inverse {
    /// K⁻¹k
    pub(super) fn times(&self, k: &[f64]) -> Vec<f64> {
        struct Times<'a>(&'a [f64], &'a [f64]);
        impl Loop for Times<'_> {
            type Output = Vec<f64>;
            #[inline(always)]
            fn run(self) -> Vec<f64> {
                let Times(mut rest, k) = self;
                let mut product = vec![0.0; k.len()];
                for (i, &own) in k.iter().enumerate() {
                    // One sweep over a row serves the column that mirrors it, too.
                    let (row, later) = rest.split_at(i + 1);
                    let (before, after) = product.split_at_mut(i);
                    after[0] += add_and_dot(own, &row[..i], before, k) + row[i] * own;
                    rest = later;
                }
                product
            }
        }
        debug_assert_eq!(k.len(), self.n);
        widely(Times(&self.rows, &k[..self.n]))
    }

    /// K gets the column k and the corner κ; d = K⁻¹k and δ² = κ − k·d > 0: K⁻¹ becomes ((K⁻¹ + ddᵀ/δ², −d/δ²), (−dᵀ/δ², 1/δ²)) (Orabona, Keshet, Caputo 2009).
    pub(super) fn border(&mut self, d: &[f64], delta: f64) {
        let mut rest = &mut self.rows[..];
        for (i, di) in d.iter().enumerate() {
            let (row, later) = rest.split_at_mut(i + 1);
            row.iter_mut().zip(d).for_each(|(entry, dj)| *entry += di * dj / delta);
            rest = later;
        }
        self.rows.extend(d.iter().map(|d| -d / delta));
        self.rows.push(1.0 / delta);
        self.n += 1;
    }

    /// Whether it is as large as it says, and has numbers only.
    pub(super) fn fits(&self, n: usize) -> bool {
        let entries = n.checked_mul(n + 1).map(|twice| twice / 2);
        self.n == n && entries == Some(self.rows.len()) && self.rows.iter().all(|entry| entry.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_inverse_undoes_the_matrix() {
        let (mut rng, n) = (Rng::new(1), 21);
        let lower: Vec<Vec<f64>> = (0..n).map(|i| (0..=i).map(|_| rng.uniform()).collect()).collect();
        // Heavy on the diagonal, and so positive definite.
        let k = |i: usize, j: usize| lower[i.max(j)][i.min(j)] + if i == j { n as f64 } else { 0.0 };
        let column = |j: usize, rows: usize| (0..rows).map(|i| k(i, j)).collect::<Vec<f64>>();
        let mut inverse = Inverse::default();
        for i in 0..n {
            let new = column(i, i);
            let d = inverse.times(&new);
            inverse.border(&d, k(i, i) - d.iter().zip(&new).map(|(d, k)| d * k).sum::<f64>());
            assert!(inverse.fits(i + 1) && !inverse.fits(i));
            for j in 0..=i {
                for (row, value) in inverse.times(&column(j, i + 1)).into_iter().enumerate() {
                    let unit = if row == j { 1.0 } else { 0.0 };
                    assert!((value - unit).abs() < 1e-12, "{value} in row {row}, column {j}");
                }
            }
        }
    }
}
