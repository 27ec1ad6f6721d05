//! Cholesky factors of symmetric positive definite matrices.
//!
//! Columns are made a few at a time: first what all finished columns take from them, which is nearly all of the work and is done for two rows at a time; then what they take from each other (Golub and Van Loan 2013, section 4.2). Rows are independent of each other, and so nothing depends on the number of threads.

use rayon::prelude::*;

use crate::simd::{Arithmetic, FusedLoop, PANEL, Plain, Sums, fused, multiply_panel};

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
        Factor::of_new(a, n, ROUNDING)
    }

    /// Of a matrix of inner products that are not exact: a row of which no more than this share is new is left out, as if it were not there.
    pub(crate) fn of_new(a: Vec<f64>, n: usize, share: f64) -> Factor {
        let mut factor = Factor { l: a, n };
        factor.make(share);
        factor
    }

    /// Becomes that of another matrix, of which `fill` puts the lower half, row by row, into the same room.
    pub(super) fn renew(&mut self, n: usize, fill: impl FnOnce(&mut [f64])) {
        self.l.resize(n * n, 0.0);
        self.n = n;
        fill(&mut self.l);
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
            column.push((unit - plain_dot(&row[j..i], &column)) / row[i]);
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
        let mut inverse = [[0.0; PANEL]; PANEL];
        for first in (0..n).step_by(PANEL) {
            let last = (first + PANEL).min(n);
            let (own, below) = self.l[first * n..].split_at_mut((last - first) * n);
            finished.clear();
            finished.extend((0..first).map(|j| column(own, n, j)));
            multiply_panel(own, n, 0, &finished, first, Sums::Less);
            let diagonal = &diagonal[first..last];
            fused(Square { own, n, first, diagonal, share, inverse: &mut inverse });
            // A product with the inverse, for the numbers of a row would have to wait for each other otherwise.
            let finish = |rows: &mut [f64]| {
                multiply_panel(rows, n, 0, &finished, first, Sums::Less);
                multiply_panel(rows, n, first, &inverse[..last - first], first, Sums::Instead);
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
        fused(Substitution { l: &self.l, n: self.n, x });
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

/// The square where a panel meets its own rows.
struct Square<'a> {
    own: &'a mut [f64],
    n: usize,
    first: usize,
    /// What its diagonal was before anything was taken from it.
    diagonal: &'a [f64],
    share: f64,
    inverse: &'a mut [Panel; PANEL],
}

impl FusedLoop for Square<'_> {
    /// Becomes its factor, of which the inverse is made, too. A feature without curvature gets no step.
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Square { own, n, first, diagonal, share, inverse } = self;
        let mut columns = [[0.0; PANEL]; PANEL];
        let rows = || (0..diagonal.len()).flat_map(|i| (0..=i).map(move |j| (i, j, i * n + first + j)));
        rows().for_each(|(i, j, at)| columns[j][i] = own[at]);
        for (j, before) in diagonal.iter().enumerate() {
            let left = columns[j][j];
            let pivot = if left > share * before.abs() { left.sqrt() } else { f64::INFINITY };
            let mut column = columns[j];
            column.iter_mut().for_each(|value| *value /= pivot);
            column[j] = 0.0;
            for k in j + 1..diagonal.len() {
                add_multiple::<A>(&mut columns[k], -column[k], &column);
            }
            column[j] = pivot;
            columns[j] = column;
        }
        rows().for_each(|(i, j, at)| own[at] = columns[j][i]);
        *inverse = inverse_of::<A>(&columns, diagonal.len());
    }
}

/// The columns of the inverse, of which the rows are made one after the other.
#[inline(always)]
fn inverse_of<A: Arithmetic>(columns: &[Panel; PANEL], width: usize) -> [Panel; PANEL] {
    let mut rows = [[0.0; PANEL]; PANEL];
    for c in 0..width {
        let mut row = [0.0; PANEL];
        row[c] = 1.0;
        for l in 0..c {
            add_multiple::<A>(&mut row, -columns[l][c], &rows[l]);
        }
        row.iter_mut().for_each(|value| *value /= columns[c][c]);
        rows[c] = row;
    }
    std::array::from_fn(|k| std::array::from_fn(|c| rows[c][k]))
}

/// to ← to + factor·of
#[inline(always)]
fn add_multiple<A: Arithmetic>(to: &mut Panel, factor: f64, of: &Panel) {
    for k in 0..PANEL {
        to[k] = A::add_product(to[k], factor, of[k]);
    }
}

/// Forward and back substitution.
struct Substitution<'a> {
    l: &'a [f64],
    n: usize,
    x: &'a mut [f64],
}

impl FusedLoop for Substitution<'_> {
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Substitution { l, n, x } = self;
        for j in 0..n {
            let (done, rest) = x.split_at_mut(j);
            rest[0] = (rest[0] - dot::<A>(&l[j * n..][..j], done)) / l[j * n + j];
        }
        for j in (0..n).rev() {
            x[j] /= l[j * n + j];
            let (value, row) = (-x[j], &l[j * n..][..j]);
            x[..j].iter_mut().zip(row).for_each(|(x, a)| *x = A::add_product(*x, value, *a));
        }
    }
}

/// Sixteen sums side by side, so that none waits for the last addition.
#[inline(always)]
fn dot<A: Arithmetic>(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<PANEL>(), b.as_chunks::<PANEL>());
    let mut sums = [0.0; PANEL];
    for (a, b) in a.iter().zip(b) {
        (0..PANEL).for_each(|k| sums[k] = A::add_product(sums[k], a[k], b[k]));
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (a, b)| A::add_product(sum, *a, *b));
    sums.iter().sum::<f64>() + rest
}

/// The same in plain code.
fn plain_dot(a: &[f64], b: &[f64]) -> f64 {
    dot::<Plain>(a, b)
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
            let entry = |i: usize, j: usize| {
                plain_dot(&b[i * n..][..n], &b[j * n..][..n]) + if i == j { 1.0 } else { 0.0 }
            };
            let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
            let factor = Factor::of(a.clone(), n);
            for i in 0..n {
                for j in 0..=i {
                    let product = plain_dot(&factor.l[i * n..][..=j], &factor.l[j * n..][..=j]);
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
        let entry = |i: usize, j: usize| plain_dot(&rows[i], &rows[j]) * (1.0 + 1e-9 * (i + j) as f64);
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
