//! Sums by class: what naive Bayes is made of.

use rayon::prelude::*;

use crate::data::Rows;

/// Rows, their classes and what each counts.
#[derive(Clone, Copy)]
pub(crate) struct Weighed<'a, R> {
    pub(crate) x: &'a R,
    pub(crate) y: &'a [u32],
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) k: usize,
}

/// Rows of a part at the least, and parts at the most: both are part of the order in which numbers are summed, and so do not depend on threads.
const ROWS: usize = 2048;
const PARTS: usize = 16;
/// Numbers that all parts may take.
const NUMBERS: usize = 1 << 24;

impl<R: Rows> Weighed<'_, R> {
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The weight of each class.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.k];
        self.y.iter().enumerate().for_each(|(i, &class)| masses[class as usize] += self.weight(i));
        masses
    }

    /// Σ weight · term(class, column, value) over the entries that are not 0, for each column and class: those of a column lie side by side.
    pub(crate) fn sums(&self, term: impl Fn(usize, usize, f64) -> f64 + Sync) -> Vec<f64> {
        let (n, length) = (self.x.n_rows(), self.k * self.x.n_cols());
        let parts = (n / ROWS).clamp(1, PARTS.min((NUMBERS / length.max(1)).max(1)));
        let part = |p: usize| {
            let mut sums = vec![0.0; length];
            for i in p * n / parts..(p + 1) * n / parts {
                let (class, weight) = (self.y[i] as usize, self.weight(i));
                if weight > 0.0 {
                    self.x.each(i, |j, v| {
                        if v != 0.0 {
                            sums[j * self.k + class] += weight * term(class, j, v);
                        }
                    });
                }
            }
            sums
        };
        let all: Vec<Vec<f64>> = (0..parts).into_par_iter().map(part).collect();
        let mut all = all.into_iter();
        let mut total = all.next().unwrap_or_default();
        for sums in all {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        total
    }

    /// Mean and variance of each column in each class, zeros counted: squares are of distances from the mean, or digits would cancel. Classes of weight 0 have those of nothing, 0.
    pub(crate) fn moments(&self, masses: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let k = self.k;
        let over = |sum: f64, mass: f64| if mass > 0.0 { sum / mass } else { 0.0 };
        let by_class = |sums: &mut [f64], f: &dyn Fn(f64, usize, usize) -> f64| {
            for (j, sums) in sums.chunks_exact_mut(k).enumerate() {
                sums.iter_mut().enumerate().for_each(|(c, sum)| *sum = f(*sum, j, c));
            }
        };
        let mut means = self.sums(|_, _, v| v);
        by_class(&mut means, &|sum, _, c| over(sum, masses[c]));
        let there = self.sums(|_, _, _| 1.0);
        let mut variances = self.sums(|c, j, v| (v - means[j * k + c]).powi(2));
        by_class(&mut variances, &|sum, j, c| {
            let zeros = (masses[c] - there[j * k + c]).max(0.0);
            over(sum + zeros * means[j * k + c].powi(2), masses[c])
        });
        (means, variances)
    }
}

/// The variance of each column over all classes, from those within them.
pub(crate) fn overall(masses: &[f64], means: &[f64], variances: &[f64]) -> Vec<f64> {
    let total: f64 = masses.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let column = |(means, variances): (&[f64], &[f64])| {
        let mean = masses.iter().zip(means).map(|(mass, mean)| mass * mean).sum::<f64>() / total;
        let parts = masses.iter().zip(means).zip(variances);
        parts.map(|((mass, m), v)| mass * (v + (m - mean).powi(2))).sum::<f64>() / total
    };
    let k = masses.len();
    means.chunks_exact(k).zip(variances.chunks_exact(k)).map(column).collect()
}
