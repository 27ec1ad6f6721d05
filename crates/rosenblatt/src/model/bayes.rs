//! Classes as distributions of each feature by itself.

use crate::data::Rows;

/// log P(c) + Σⱼ log p(xⱼ | c) where p is no exponential of something linear in xⱼ: normal distributions, and features of which only counts whether they are above a
/// threshold. With two classes the score is what the second is ahead of the first.
///
/// ```
/// use rosenblatt::{Body, Dataset, Dense, Distribution, Labels, Learner, NaiveBayes};
/// let x = Dense::new(vec![1.0, 3.0, 6.0, 10.0], 1)?;
/// let data = Dataset::new(x, &Labels::new(["low", "low", "high", "high"]))?;
/// let learner = NaiveBayes { distribution: Distribution::Gaussian, ..NaiveBayes::default() };
/// let Body::Bayes(bayes) = learner.fit(&data, &mut ())?.model.body else { unreachable!() };
/// assert_eq!(bayes.means(), Some(&[8.0, 2.0][..])); // "high" comes before "low"
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Bayes {
    /// log P(c)
    pub(crate) priors: Vec<f64>,
    pub(crate) likelihood: Likelihood,
    n_cols: usize,
    /// What each class has at a row of which no term counts.
    base: Vec<f64>,
}

/// Numbers of a feature lie side by side for all classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Likelihood {
    Gaussian {
        means: Vec<f64>,
        variances: Vec<f64>,
    },
    /// log P(xⱼ > threshold | c), and log P(xⱼ ≤ threshold | c).
    Bernoulli {
        threshold: f64,
        above: Vec<f64>,
        below: Vec<f64>,
    },
}

/// Of no size: it is added to others, and differences of such sums are to be numbers.
const FAR: f64 = 1e300;

impl Bayes {
    /// Nothing where lengths do not fit each other, or a variance is not more than 0.
    pub(crate) fn new(priors: Vec<f64>, n_cols: usize, likelihood: Likelihood) -> Option<Self> {
        let k = priors.len();
        let length = k.checked_mul(n_cols)?;
        let fits = match &likelihood {
            Likelihood::Gaussian { means, variances } => {
                (means.len(), variances.len()) == (length, length)
                    && variances.iter().all(|&v| v > 0.0 && v.is_finite())
            }
            Likelihood::Bernoulli { threshold, above, below } => {
                (above.len(), below.len()) == (length, length) && threshold.is_finite()
            }
        };
        if !fits || k < 2 {
            return None;
        }
        let mut base = priors.clone();
        let mut add = |values: &[f64], term: fn(f64) -> f64| {
            for row in values.chunks_exact(k) {
                base.iter_mut().zip(row).for_each(|(base, &value)| *base += term(value));
            }
        };
        match &likelihood {
            Likelihood::Gaussian { variances, .. } => add(variances, normalisation),
            // Of a row of zeros.
            Likelihood::Bernoulli { threshold, above, .. } if *threshold < 0.0 => add(above, |v| v),
            Likelihood::Bernoulli { below, .. } => add(below, |v| v),
        }
        Some(Bayes { priors, likelihood, n_cols, base })
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.priors.len()
    }

    /// Number of features.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// The logarithms of the probabilities of the classes before any feature is seen.
    pub fn log_priors(&self) -> &[f64] {
        &self.priors
    }

    /// Of Gaussian ones the mean of each feature in each class: those of a feature lie side by side.
    pub fn means(&self) -> Option<&[f64]> {
        match &self.likelihood {
            Likelihood::Gaussian { means, .. } => Some(means),
            Likelihood::Bernoulli { .. } => None,
        }
    }

    /// Of Gaussian ones the variance of each feature in each class, in the same order.
    pub fn variances(&self) -> Option<&[f64]> {
        match &self.likelihood {
            Likelihood::Gaussian { variances, .. } => Some(variances),
            Likelihood::Bernoulli { .. } => None,
        }
    }

    /// Of Bernoulli ones the logarithm of the probability that a feature is above the threshold, in the same order.
    pub fn log_above(&self) -> Option<&[f64]> {
        match &self.likelihood {
            Likelihood::Gaussian { .. } => None,
            Likelihood::Bernoulli { above, .. } => Some(above),
        }
    }

    /// "gaussian" or "bernoulli"
    pub fn distribution(&self) -> &'static str {
        match &self.likelihood {
            Likelihood::Gaussian { .. } => "gaussian",
            Likelihood::Bernoulli { .. } => "bernoulli",
        }
    }

    /// One score a class, or one for two of them.
    pub(crate) fn n_scores(&self) -> usize {
        if self.priors.len() == 2 { 1 } else { self.priors.len() }
    }

    /// Terms of a feature with this value, one a class.
    pub(crate) fn terms(&self, j: usize, value: f64) -> Vec<f64> {
        let k = self.n_classes();
        let at = j * k..(j + 1) * k;
        match &self.likelihood {
            Likelihood::Gaussian { means, variances } => {
                let pairs = means[at.clone()].iter().zip(&variances[at]);
                pairs.map(|(mean, v)| normalisation(*v) - (value - mean).powi(2) / (2.0 * v)).collect()
            }
            Likelihood::Bernoulli { threshold, above, below } => {
                if value > *threshold {
                    above[at].to_vec()
                } else {
                    below[at].to_vec()
                }
            }
        }
    }

    /// How terms of a feature change with its value; those of a threshold what it makes to be above it.
    pub(crate) fn slopes(&self, j: usize, value: f64) -> Vec<f64> {
        let k = self.n_classes();
        let at = j * k..(j + 1) * k;
        match &self.likelihood {
            Likelihood::Gaussian { means, variances } => {
                means[at.clone()].iter().zip(&variances[at]).map(|(mean, v)| (mean - value) / v).collect()
            }
            Likelihood::Bernoulli { above, below, .. } => {
                above[at.clone()].iter().zip(&below[at]).map(|(above, below)| above - below).collect()
            }
        }
    }

    /// From one number a class to scores.
    pub(crate) fn joined(&self, classes: &[f64], out: &mut [f64]) {
        match classes {
            [first, second] => out[0] = second - first,
            _ => out.copy_from_slice(classes),
        }
    }

    /// Scores of rows from number `first` on.
    pub(crate) fn scores<R: Rows>(&self, x: &R, first: usize, out: &mut [f64]) {
        let k = self.n_classes();
        let (mut sums, mut row) = (vec![0.0; k], vec![0.0; self.n_cols]);
        for (i, out) in (first..).zip(out.chunks_mut(self.n_scores())) {
            sums.copy_from_slice(&self.base);
            match &self.likelihood {
                Likelihood::Gaussian { means, variances } => {
                    row.fill(0.0);
                    x.each(i, |j, v| row[j] = v);
                    add_distances(&row, means, variances, &mut sums);
                }
                Likelihood::Bernoulli { threshold, above, below } => x.each(i, |j, v| {
                    // Zeros are in the base.
                    if (v > *threshold) != (0.0 > *threshold) {
                        let at = j * k..(j + 1) * k;
                        let (to, from) = if v > *threshold { (above, below) } else { (below, above) };
                        for ((sum, to), from) in sums.iter_mut().zip(&to[at.clone()]).zip(&from[at]) {
                            *sum += to - from;
                        }
                    }
                }),
            }
            sums.iter_mut().for_each(|sum| *sum = sum.clamp(-FAR, FAR));
            self.joined(&sums, out);
        }
    }
}

fn normalisation(variance: f64) -> f64 {
    -0.5 * (std::f64::consts::TAU * variance).ln()
}

/// Of all features, zeros, too.
fn add_distances(row: &[f64], means: &[f64], variances: &[f64], sums: &mut [f64]) {
    let k = sums.len();
    for ((value, means), variances) in row.iter().zip(means.chunks_exact(k)).zip(variances.chunks_exact(k)) {
        for ((sum, mean), variance) in sums.iter_mut().zip(means).zip(variances) {
            let off = value - mean;
            *sum -= off * off / (2.0 * variance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    #[test]
    fn scores_are_sums_of_terms() {
        let likelihoods = [
            Likelihood::Gaussian { means: vec![0.0, 1.0, 2.0, -3.0], variances: vec![1.0, 2.0, 0.5, 4.0] },
            Likelihood::Bernoulli {
                threshold: 0.5,
                above: vec![-1.0, -2.0, -0.5, -0.25],
                below: vec![-0.4, -0.1, -0.9, -1.5],
            },
            Likelihood::Bernoulli {
                threshold: -0.5,
                above: vec![-1.0, -2.0, -0.5, -0.25],
                below: vec![-0.4, -0.1, -0.9, -1.5],
            },
        ];
        let rows = [[0.0, 0.0], [1.0, 0.0], [-2.0, 0.75], [0.5, -0.5]];
        let x = Dense::new(rows.as_flattened(), 2).unwrap();
        for likelihood in likelihoods {
            let bayes = Bayes::new(vec![-0.25, -1.5], 2, likelihood).unwrap();
            let mut scores = [0.0; 4];
            bayes.scores(&x, 0, &mut scores);
            for (row, score) in rows.iter().zip(scores) {
                let sum = |c: usize| bayes.priors[c] + (0..2).map(|j| bayes.terms(j, row[j])[c]).sum::<f64>();
                assert!((sum(1) - sum(0) - score).abs() < 1e-12, "{bayes:?} {row:?}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_no_model() {
        let gaussian =
            |variance: f64| Likelihood::Gaussian { means: vec![0.0; 2], variances: vec![variance; 2] };
        assert!(Bayes::new(vec![0.0; 2], 1, gaussian(1.0)).is_some());
        assert!(Bayes::new(vec![0.0; 2], 2, gaussian(1.0)).is_none());
        assert!(Bayes::new(vec![0.0; 2], usize::MAX, gaussian(1.0)).is_none());
        assert!(Bayes::new(vec![0.0; 2], 1, gaussian(0.0)).is_none());
        assert!(Bayes::new(vec![0.0], 2, gaussian(1.0)).is_none());
    }
}
