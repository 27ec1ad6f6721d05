//! Cholesky factors of symmetric positive definite matrices.
//!
//! Columns are made a few at a time: first what all finished columns take from them, which is nearly all of the work and is done for two rows at a time; then what they take from each other (Golub and Van Loan 2013, section 4.2). Rows are independent of each other, and so nothing depends on the number of threads.

use rayon::prelude::*;

use crate::simd::{Arithmetic, FusedLoop, fused};

/// Columns that are made together.
const PANEL: usize = 16;

/// What is left of a diagonal entry where exact numbers would leave nothing.
const ROUNDING: f64 = 1e-14;

/// L of L·Lᵀ.
#[derive(Default)]
pub(crate) struct Factor {
    l: Vec<f64>,
    n: usize,
}

impl Factor {
    /// Of a matrix of which the lower half is given, row by row.
    pub(super) fn of(a: Vec<f64>, n: usize) -> Factor {
        let mut factor = Factor::default();
        factor.renew(n, |l| *l = a);
        factor
    }

    /// Of a matrix of inner products that are not exact: a row of which no more than this share is new is left out, as if it were not there.
    pub(crate) fn of_new(a: Vec<f64>, n: usize, share: f64) -> Factor {
        let mut factor = Factor { l: a, n };
        factor.make(share);
        factor
    }

    /// Becomes that of another matrix, which `fill` puts into the same room.
    pub(super) fn renew(&mut self, n: usize, fill: impl FnOnce(&mut Vec<f64>)) {
        self.l.clear();
        fill(&mut self.l);
        self.n = n;
        self.make(ROUNDING);
    }

    pub(super) fn size(&self) -> usize {
        self.n
    }

    /// Bytes of one of so many features.
    pub(super) fn bytes(size: usize) -> usize {
        size.saturating_mul(size).saturating_mul(size_of::<f64>())
    }

    /// The rows that are not left out.
    pub(crate) fn kept(&self) -> Vec<usize> {
        (0..self.n).filter(|&j| self.l[j * self.n + j].is_finite()).collect()
    }

    /// Column j of L⁻¹, from row j on; 0 in the rows that are left out.
    pub(crate) fn inverse_column(&self, j: usize) -> Vec<f64> {
        let mut column = Vec::with_capacity(self.n - j);
        for i in j..self.n {
            let (row, unit) = (&self.l[i * self.n..][..=i], if i == j { 1.0 } else { 0.0 });
            column.push((unit - dot(&row[j..i], &column)) / row[i]);
        }
        column
    }

    /// Makes what is the matrix yet its factor.
    fn make(&mut self, share: f64) {
        /// From so many rows on a second thread has enough to do.
        const MANY: usize = 512;
        /// Rows a task takes.
        const ROWS: usize = 32;
        let n = self.n;
        let diagonal: Vec<f64> = (0..n).map(|j| self.l[j * n + j]).collect();
        let mut finished = Vec::with_capacity(n);
        for first in (0..n).step_by(PANEL) {
            let last = (first + PANEL).min(n);
            let (own, below) = self.l[first * n..].split_at_mut((last - first) * n);
            finished.clear();
            finished.extend((0..first).map(|j| column(own, n, j)));
            fused(Reduction { rows: own, n, finished: &finished });
            factor_square(own, n, first, &diagonal[first..last], share);
            let inverse = inverse(own, n, first);
            let finish = |rows: &mut [f64]| {
                fused(Reduction { rows: &mut *rows, n, finished: &finished });
                fused(Elimination { rows, n, first, width: last - first, inverse: &inverse });
            };
            match n >= MANY {
                true => below.par_chunks_mut(ROWS * n).for_each(finish),
                false => finish(below),
            }
        }
    }

    /// (L·Lᵀ)⁻¹b
    pub(super) fn solved(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.solve(&mut x);
        x
    }

    /// x ← (L·Lᵀ)⁻¹x
    pub(super) fn solve(&self, x: &mut [f64]) {
        let (l, n) = (&self.l, self.n);
        for j in 0..n {
            x[j] = (x[j] - dot(&l[j * n..][..j], &x[..j])) / l[j * n + j];
        }
        for j in (0..n).rev() {
            x[j] /= l[j * n + j];
            let (value, row) = (x[j], &l[j * n..][..j]);
            x[..j].iter_mut().zip(row).for_each(|(x, a)| *x -= value * a);
        }
    }
}

/// The numbers of a row in a panel, or of a column in a panel's own rows.
type Panel = [f64; PANEL];

/// Column j of some rows.
fn column(rows: &[f64], n: usize, j: usize) -> Panel {
    let mut column = [0.0; PANEL];
    column.iter_mut().zip(rows.chunks(n)).for_each(|(to, row)| *to = row[j]);
    column
}

/// Takes what the finished columns make from those of the panel behind them, in some rows.
struct Reduction<'a> {
    rows: &'a mut [f64],
    n: usize,
    /// The finished columns in the panel's own rows.
    finished: &'a [Panel],
}

impl FusedLoop for Reduction<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Reduction { rows, n, finished } = self;
        let first = finished.len();
        let mut pairs = rows.chunks_exact_mut(2 * n);
        for pair in &mut pairs {
            let (a, b) = pair.split_at_mut(n);
            let ((a, to_a), (b, to_b)) = (a.split_at_mut(first), b.split_at_mut(first));
            let mut sums = [[0.0; PANEL]; 2];
            for ((a, b), column) in a.iter().zip(&*b).zip(finished) {
                for k in 0..PANEL {
                    sums[0][k] = A::add_product(sums[0][k], *a, column[k]);
                    sums[1][k] = A::add_product(sums[1][k], *b, column[k]);
                }
            }
            take(to_a, &sums[0]);
            take(to_b, &sums[1]);
        }
        for row in pairs.into_remainder().chunks_exact_mut(n) {
            let (row, to) = row.split_at_mut(first);
            let mut sums = [0.0; PANEL];
            for (a, column) in row.iter().zip(finished) {
                for k in 0..PANEL {
                    sums[k] = A::add_product(sums[k], *a, column[k]);
                }
            }
            take(to, &sums);
        }
    }
}

#[inline(always)]
fn take(from: &mut [f64], sums: &Panel) {
    for (to, sum) in from.iter_mut().zip(sums) {
        *to -= sum;
    }
}

/// The factor of the square where a panel meets its own rows. A feature without curvature gets no step.
fn factor_square(own: &mut [f64], n: usize, first: usize, diagonal: &[f64], share: f64) {
    for (j, before) in diagonal.iter().enumerate() {
        let (done, rest) = own.split_at_mut(j * n);
        let row = &mut rest[first..=first + j];
        for (k, other) in done.chunks(n).enumerate() {
            let other = &other[first..=first + k];
            let taken: f64 = row.iter().zip(&other[..k]).map(|(a, b)| a * b).sum();
            row[k] = (row[k] - taken) / other[k];
        }
        let left = row[j] - row[..j].iter().map(|l| l * l).sum::<f64>();
        row[j] = if left > share * before.abs() { left.sqrt() } else { f64::INFINITY };
    }
}

/// The inverse of a panel's square, column by column.
fn inverse(own: &[f64], n: usize, first: usize) -> [Panel; PANEL] {
    let mut inverse = [[0.0; PANEL]; PANEL];
    for (k, column) in inverse.iter_mut().enumerate() {
        for (c, row) in own.chunks(n).enumerate().skip(k) {
            let row = &row[first..=first + c];
            let unit = if c == k { 1.0 } else { 0.0 };
            let taken: f64 = row[k..c].iter().zip(&column[k..c]).map(|(a, b)| a * b).sum();
            column[c] = (unit - taken) / row[c];
        }
    }
    inverse
}

/// The rest of a panel's columns, below its square: a product with its inverse, for the numbers of a row would have to wait for each other otherwise.
struct Elimination<'a> {
    rows: &'a mut [f64],
    n: usize,
    first: usize,
    width: usize,
    inverse: &'a [Panel; PANEL],
}

impl FusedLoop for Elimination<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Elimination { rows, n, first, width, inverse } = self;
        for row in rows.chunks_exact_mut(n) {
            let own = &mut row[first..][..width];
            let mut made = [0.0; PANEL];
            for (&left, column) in own.iter().zip(inverse) {
                for c in 0..PANEL {
                    made[c] = A::add_product(made[c], left, column[c]);
                }
            }
            own.copy_from_slice(&made[..width]);
        }
    }
}

/// Sixteen sums side by side, so that none waits for the last addition.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const SUMS: usize = 16;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    let mut sums = [0.0; SUMS];
    for (a, b) in a.iter().zip(b) {
        (0..SUMS).for_each(|k| sums[k] += a[k] * b[k]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_factor_solves() {
        // [[4, 2, 1], [2, 5, 3], [1, 3, 6]]·(1, 2, 3) = (11, 21, 25)
        let a = vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let mut x = vec![11.0, 21.0, 25.0];
        Factor::of(a, 3).solve(&mut x);
        for (found, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{x:?}");
        }
    }

    /// Of every size around the panel's width, and of one that several threads work on.
    #[test]
    fn a_factor_times_itself_is_the_matrix() {
        for n in (1..40).chain([127, 530]) {
            let mut rng = Rng::new(n as u64);
            let b: Vec<f64> = (0..n * n).map(|_| rng.uniform() - 0.5).collect();
            let entry =
                |i: usize, j: usize| dot(&b[i * n..][..n], &b[j * n..][..n]) + if i == j { 1.0 } else { 0.0 };
            let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            let factor = Factor::of(a.clone(), n);
            for i in 0..n {
                for j in 0..=i {
                    let product = dot(&factor.l[i * n..][..=j], &factor.l[j * n..][..=j]);
                    assert!((product - a[i * n + j]).abs() <= 1e-11 * n as f64, "{n}: {i}, {j}");
                }
            }
        }
    }

    /// Rows of which every third is the sum of the two before: what is kept is a factor of what is kept of the matrix.
    #[test]
    fn what_is_not_new_is_left_out() {
        let n = 50;
        let mut rng = Rng::new(3);
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for i in 0..n {
            rows.push(match i % 3 {
                2 => rows[i - 1].iter().zip(&rows[i - 2]).map(|(a, b)| a + b).collect(),
                _ => (0..n).map(|_| rng.uniform() - 0.5).collect(),
            });
        }
        let entry = |i: usize, j: usize| dot(&rows[i], &rows[j]) * (1.0 + 1e-9 * (i + j) as f64);
        let factor = Factor::of_new((0..n * n).map(|at| entry(at / n, at % n)).collect(), n, 1e-6);
        let kept = factor.kept();
        assert_eq!(kept, (0..n).filter(|i| i % 3 != 2).collect::<Vec<_>>());
        for &j in &kept {
            let column = factor.inverse_column(j);
            for &i in &kept {
                let product: f64 = kept
                    .iter()
                    .filter(|&&k| j <= k && k <= i)
                    .map(|&k| factor.l[i * n + k] * column[k - j])
                    .sum();
                assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-9, "{i}, {j}: {product}");
            }
        }
    }

    #[test]
    fn nothing_moves_where_nothing_curves() {
        let a = vec![4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 16.0];
        assert_eq!(Factor::of(a, 3).solved(&[4.0, 5.0, 16.0]), [1.0, 0.0, 1.0]);
        // Behind the first panel, and in the middle of the next.
        let n = 40;
        let diagonal = |at: usize| if at / n == at % n && at / n != 19 { 4.0 } else { 0.0 };
        let x = Factor::of((0..n * n).map(diagonal).collect(), n).solved(&vec![8.0; n]);
        assert!(x.iter().enumerate().all(|(j, &x)| x == if j == 19 { 0.0 } else { 2.0 }), "{x:?}");
    }
}
