//! Weights with a variance each (AROW).

use serde::{Deserialize, Serialize};

use super::hypothesis::{Hypothesis, Push};
use super::rule::Step;
use crate::data::Rows;
use crate::model::{Body, Planes};

/// A Gaussian over weight vectors with diagonal covariance: mean 0 and variance 1 at the start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Confident {
    mean: Planes,
    variance: Planes,
}

impl Confident {
    pub(crate) fn new(mean: Planes) -> Self {
        let mut variance = mean.clone();
        variance.map(|_| 1.0);
        Confident { mean, variance }
    }
}

impl Hypothesis for Confident {
    #[inline]
    fn scores<R: Rows>(&self, x: &R, i: usize, out: &mut [f64]) {
        self.mean.scores(x, i, out);
    }

    #[inline]
    fn energy<R: Rows>(&self, x: &R, i: usize, pushes: &[Push]) -> f64 {
        let (k, sigma) = (self.variance.k(), &self.variance);
        let mut sum = 0.0;
        for push in pushes {
            x.each(i, |j, v| sum += sigma.weights[j * k + push.plane] * v * v);
            if sigma.lifted {
                sum += sigma.bias[push.plane];
            }
        }
        sum
    }

    #[inline]
    fn push<R: Rows>(&mut self, x: &R, i: usize, pushes: &[Push], step: &Step) {
        let k = self.mean.k();
        for push in pushes {
            let size = push.sign * step.size;
            let nudge = |mean: &mut f64, variance: &mut f64, v: f64| {
                let reach = *variance * v;
                *mean += size * reach;
                *variance -= step.shrink * reach * reach;
            };
            let (means, variances) = (&mut self.mean.weights, &mut self.variance.weights);
            x.each(i, |j, v| {
                let at = j * k + push.plane;
                nudge(&mut means[at], &mut variances[at], v);
            });
            if self.mean.lifted {
                nudge(&mut self.mean.bias[push.plane], &mut self.variance.bias[push.plane], 1.0);
            }
        }
    }

    fn grow(&mut self, n_cols: usize) {
        self.mean.grow(n_cols, 0.0);
        self.variance.grow(n_cols, 1.0);
    }

    fn flip(&mut self) {
        self.mean.map(|w| -w);
    }

    fn split(&mut self) {
        Hypothesis::split(&mut self.mean);
        let (weights, bias) = (self.variance.weights.clone(), self.variance.bias.clone());
        self.variance.insert(0, 1.0);
        let pairs = self.variance.weights.chunks_mut(2).chain(self.variance.bias.chunks_mut(2));
        pairs.zip(weights.iter().chain(&bias)).for_each(|(pair, &variance)| pair.fill(variance));
    }

    fn insert(&mut self, at: usize) {
        self.mean.insert(at, 0.0);
        self.variance.insert(at, 1.0);
    }

    fn fits(&self, k: usize, n_cols: usize) -> bool {
        self.mean.fits(k, n_cols) && self.variance.fits(k, n_cols)
    }

    fn body(&self) -> Body {
        Body::Linear(self.mean.clone())
    }

    fn current(&self) -> Planes {
        self.mean.clone()
    }
}
