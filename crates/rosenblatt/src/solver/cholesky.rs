//! Symmetric positive definite systems, for solvers that look at all features at once.

use rayon::prelude::*;

use super::{Binary, Example};
use crate::data::Rows;
use crate::simd::{Loop, widely};

/// The lower half of 1 + Σ dᵢ·xᵢxᵢᵀ, row by row, with a row for the bias where there is one.
#[derive(Default)]
pub(super) struct Normal {
    a: Vec<f64>,
    size: usize,
    /// Room for the sums over parts of the rows, which is used again.
    spare: Vec<Vec<f64>>,
}

impl Normal {
    /// A matrix of which the lower half is given, row by row.
    pub(super) fn of(a: Vec<f64>, size: usize) -> Normal {
        Normal { a, size, spare: Vec::new() }
    }

    /// `penalised` features have the 1 on their diagonal; rows whose `d` is 0 are not looked at.
    pub(super) fn new<R: Rows>(problem: &Binary<'_, R>, d: &[f64], penalised: usize) -> Normal {
        Normal::default().summed(problem, d, penalised)
    }

    /// The same in the place of another.
    pub(super) fn summed<R: Rows>(mut self, problem: &Binary<'_, R>, d: &[f64], penalised: usize) -> Normal {
        let size = problem.size();
        let curved = d.iter().filter(|d| **d != 0.0).count();
        let parts = parts(size, curved);
        self.spare.resize(parts - 1, Vec::new());
        let chunk = d.len().div_ceil(parts).max(1);
        let mut sums = vec![&mut self.a];
        sums.extend(&mut self.spare);
        let rows = problem.examples.par_chunks(chunk).zip(d.par_chunks(chunk));
        sums.par_iter_mut().for_each(|sum| {
            sum.clear();
            sum.resize(size * size, 0.0);
        });
        sums.par_iter_mut().zip(rows).for_each(|(a, (examples, d))| {
            widely(Products { problem, examples, d, size, a });
        });
        if let [a, others @ ..] = &mut sums[..] {
            let add = |(k, row): (usize, &mut [f64])| {
                for other in others.iter() {
                    row.iter_mut().zip(&other[k * size..]).take(k + 1).for_each(|(sum, part)| *sum += part);
                }
            };
            a.par_chunks_mut(size).with_min_len(32).enumerate().for_each(add);
            (0..penalised).for_each(|j| a[j * size + j] += 1.0);
        }
        Normal { size, ..self }
    }

    /// The lower Cholesky factor in its place. A feature without curvature gets no step.
    pub(super) fn factored(mut self) -> Factor {
        widely(Factoring { a: &mut self.a, n: self.size });
        Factor { l: self.a, n: self.size, spare: self.spare }
    }
}

/// Parts that sums are taken in, each with a matrix of its own; they do not depend on the number of threads, and so no sum does.
fn parts(size: usize, rows: usize) -> usize {
    let most = if size > 400 { 2 } else { 8 };
    (rows / (8 * size.max(1))).clamp(2, most)
}

/// Makes a matrix its lower Cholesky factor.
struct Factoring<'a> {
    a: &'a mut [f64],
    n: usize,
}

impl Loop for Factoring<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Factoring { a, n } = self;
        for j in 0..n {
            let (done, rest) = a.split_at_mut(j * n);
            let row = &mut rest[..n];
            for k in 0..j {
                let other = &done[k * n..][..k];
                row[k] = (row[k] - dot(other, &row[..k])) / done[k * n + k];
            }
            let left = row[j] - dot(&row[..j], &row[..j]);
            row[j] = if left > 1e-14 * row[j].abs() { left.sqrt() } else { f64::INFINITY };
        }
    }
}

/// L of L·Lᵀ.
pub(super) struct Factor {
    l: Vec<f64>,
    n: usize,
    spare: Vec<Vec<f64>>,
}

impl Factor {
    pub(super) fn size(&self) -> usize {
        self.n
    }

    /// Its room, for the next matrix.
    pub(super) fn recycled(self) -> Normal {
        Normal { a: self.l, size: self.n, spare: self.spare }
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

/// Sums dᵢ·xᵢxᵢᵀ over some examples.
struct Products<'a, R> {
    problem: &'a Binary<'a, R>,
    examples: &'a [Example],
    d: &'a [f64],
    size: usize,
    a: &'a mut [f64],
}

impl<R: Rows> Loop for Products<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Products { problem, examples, d, size, a } = self;
        let (x, lifted) = (problem.x, size > problem.x.n_cols());
        let mut entries: Vec<(usize, f64)> = Vec::with_capacity(size);
        for (example, &d) in examples.iter().zip(d).filter(|(_, d)| **d != 0.0) {
            entries.clear();
            x.each(example.row as usize, |j, v| entries.push((j, v)));
            if lifted {
                entries.push((size - 1, 1.0));
            }
            add_products(a, size, d, &entries);
        }
    }
}

/// Adds d·xxᵀ to the lower half of a, two rows at a time, so that each entry is looked at half as often.
#[inline(always)]
fn add_products(a: &mut [f64], size: usize, d: f64, entries: &[(usize, f64)]) {
    let (pairs, last) = entries.as_chunks::<2>();
    for (at, &[(i, u), (j, v)]) in pairs.iter().enumerate() {
        let (above, below) = a.split_at_mut(j * size);
        let (upper, lower) = (&mut above[i * size..][..=i], &mut below[..=j]);
        let (u, v) = (d * u, d * v);
        for &(k, x) in &entries[..2 * at] {
            upper[k] += u * x;
            lower[k] += v * x;
        }
        upper[i] += u * entries[2 * at].1;
        lower[i] += v * entries[2 * at].1;
        lower[j] += v * entries[2 * at + 1].1;
    }
    if let &[(j, v)] = last {
        let (row, v) = (&mut a[j * size..][..=j], d * v);
        entries.iter().for_each(|&(k, x)| row[k] += v * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves() {
        // [[4, 2, 1], [2, 5, 3], [1, 3, 6]]·(1, 2, 3) = (11, 21, 25)
        let a = vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let mut x = vec![11.0, 21.0, 25.0];
        Normal::of(a, 3).factored().solve(&mut x);
        for (found, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{x:?}");
        }
    }
}
