//! What naive Bayes has counted, counted again: one row after the other, by the formulas alone.

use serde::Deserialize;

use super::claim::{Claims, Verdict, figure};
use super::naive::entries;
use crate::data::Dataset;
use crate::learner::{ClassWeight, Fit, NaiveBayes};
use crate::model::{Bayes, Body, Likelihood};

/// Sums over rows of a class.
struct Counted {
    /// The weight of each class.
    masses: Vec<f64>,
    k: usize,
    n: usize,
}

/// Holds all numbers of a model against those of the rows.
pub(super) fn estimates(claims: &mut Claims, fit: &Fit, rows: &Dataset<'_>) {
    let Ok(learner) = NaiveBayes::deserialize(&fit.report.parameters) else { return };
    let Ok(weights) = ClassWeight::weigh(learner.class_weight.as_ref(), rows) else { return };
    let weight = |i: usize| weights.as_ref().map_or(1.0, |weights| weights[i]);
    let (k, n) = (rows.classes().len(), rows.n_features());
    let mut masses = vec![0.0; k];
    (0..rows.n_rows()).for_each(|i| masses[rows.y()[i] as usize] += weight(i));
    let counted = Counted { masses, k, n };
    let (theirs, ours) = match &fit.model.body {
        Body::Linear(planes) => {
            let theirs: Vec<f64> = planes.weights.iter().chain(&planes.bias).copied().collect();
            (theirs, counted.multinomial(&learner, rows, weight))
        }
        Body::Bayes(bayes) => (numbers(bayes), counted.distributions(bayes, &learner, rows, weight)),
        _ => return,
    };
    let off = |(a, b): (&f64, &f64)| (a - b).abs() / (1.0 + b.abs());
    let worst = theirs.iter().zip(&ours).map(off).fold(0.0, |most: f64, off| most.max(off));
    let held = theirs.len() == ours.len() && worst <= 1e-9;
    let found = format!("differ by {} at the most", figure(worst));
    claims.push("estimates", format!("{} numbers", theirs.len()), found, Verdict::of(held));
}

fn numbers(bayes: &Bayes) -> Vec<f64> {
    let (first, second) = match &bayes.likelihood {
        Likelihood::Gaussian { means, variances } => (means, variances),
        Likelihood::Bernoulli { above, below, .. } => (above, below),
    };
    first.iter().chain(second).chain(&bayes.priors).copied().collect()
}

impl Counted {
    /// Σ weight · f(feature, class, value), at feature · k + class, over all values, zeros, too.
    fn summed(
        &self,
        rows: &Dataset<'_>,
        weight: impl Fn(usize) -> f64,
        f: impl Fn(usize, usize, f64) -> f64,
    ) -> Vec<f64> {
        let mut sums = vec![0.0; self.k * self.n];
        for i in 0..rows.n_rows() {
            let class = rows.y()[i] as usize;
            let mut row = vec![0.0; self.n];
            entries(rows.x(), i).into_iter().for_each(|(j, v)| row[j] = v);
            for (j, v) in row.into_iter().enumerate() {
                sums[j * self.k + class] += weight(i) * f(j, class, v);
            }
        }
        sums
    }

    fn priors(&self, learner: &NaiveBayes) -> Vec<f64> {
        let total: f64 = self.masses.iter().sum();
        let prior = |&mass: &f64| match (mass > 0.0, learner.fit_prior) {
            (false, _) => NaiveBayes::NEVER,
            (true, true) => (mass / total).ln(),
            (true, false) => (1.0 / self.k as f64).ln(),
        };
        self.masses.iter().map(prior).collect()
    }

    fn multinomial(
        &self,
        learner: &NaiveBayes,
        rows: &Dataset<'_>,
        weight: impl Fn(usize) -> f64,
    ) -> Vec<f64> {
        let counts = self.summed(rows, weight, |_, _, v| v);
        let total = |c: usize| (0..self.n).map(|j| counts[j * self.k + c] + learner.alpha).sum::<f64>();
        let totals: Vec<f64> = (0..self.k).map(total).collect();
        let logs = counts.iter().enumerate().map(|(at, v)| ((v + learner.alpha) / totals[at % self.k]).ln());
        let all: Vec<f64> = logs.chain(self.priors(learner)).collect();
        match self.k {
            2 => all.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect(),
            _ => all,
        }
    }

    fn distributions(
        &self,
        bayes: &Bayes,
        learner: &NaiveBayes,
        rows: &Dataset<'_>,
        weight: impl Fn(usize) -> f64 + Copy,
    ) -> Vec<f64> {
        let over = |sum: f64, c: usize| if self.masses[c] > 0.0 { sum / self.masses[c] } else { 0.0 };
        let (first, second): (Vec<f64>, Vec<f64>) = match &bayes.likelihood {
            Likelihood::Bernoulli { .. } => {
                let t = learner.binarize;
                let above = self.summed(rows, weight, |_, _, v| f64::from(u8::from(v > t)));
                let part = |(at, count): (usize, f64)| {
                    let (mass, alpha) = (self.masses[at % self.k], learner.alpha);
                    let of = |count: f64| ((count + alpha) / (mass + 2.0 * alpha)).ln();
                    (of(count), of(mass - count))
                };
                above.into_iter().enumerate().map(part).unzip()
            }
            Likelihood::Gaussian { .. } => {
                let each = |sums: Vec<f64>| -> Vec<f64> {
                    sums.into_iter().enumerate().map(|(at, sum)| over(sum, at % self.k)).collect()
                };
                let means = each(self.summed(rows, weight, |_, _, v| v));
                let squares = self.summed(rows, weight, |j, c, v| (v - means[j * self.k + c]).powi(2));
                let more =
                    (learner.var_smoothing * self.largest_variance(rows, weight)).max(f64::MIN_POSITIVE);
                let variances = each(squares).into_iter().map(|variance| variance + more).collect();
                (means, variances)
            }
        };
        first.into_iter().chain(second).chain(self.priors(learner)).collect()
    }

    /// Over all classes, of the feature that varies most.
    fn largest_variance(&self, rows: &Dataset<'_>, weight: impl Fn(usize) -> f64 + Copy) -> f64 {
        let total: f64 = self.masses.iter().sum();
        let over_classes = |sums: Vec<f64>| -> Vec<f64> {
            sums.chunks_exact(self.k).map(|sums| sums.iter().sum::<f64>() / total).collect()
        };
        let means = over_classes(self.summed(rows, weight, |_, _, v| v));
        let variances = over_classes(self.summed(rows, weight, |j, _, v| (v - means[j]).powi(2)));
        variances.into_iter().fold(0.0, f64::max)
    }
}
