//! Multinomial logistic regression: all classes in one problem.
//!
//! ```text
//! P(W, b) = ½‖W‖² + Σ cᵢ·(log Σ_c exp(g_c(xᵢ)) − g_yᵢ(xᵢ))
//! D(α)    = −½‖Σ (cᵢe_yᵢ − αᵢ)xᵢᵀ‖² + Σ cᵢ·H(αᵢ/cᵢ)            αᵢ ≥ 0, Σ_c αᵢ_c = cᵢ, H the entropy; Σ (cᵢe_yᵢ − αᵢ) = 0 where the bias is free
//! ```
//!
//! Solved by Newton's method (`multinomial_newton`) or, where features are many and rows short, one row at a time (`multinomial_dual`).

use rayon::prelude::*;

use super::conjugate_gradient::{self, dot};
use super::multinomial_dual::Descent;
use super::multinomial_newton::{Newton, matrix_bytes};
use super::newton::{MANY_FEATURES, one_of};
use super::{End, JointSolution, Limits, Solver};
use crate::data::Rows;
use crate::learner::Bias;
use crate::model::{Planes, add_to_all, scores};
use crate::rng::Rng;
use crate::watch::Monitor;

/// A problem with `k` classes over some rows.
pub(crate) struct Multinomial<'a, R> {
    pub(crate) x: &'a R,
    pub(crate) y: &'a [u32],
    pub(crate) cost: &'a [f64],
    pub(crate) k: usize,
    pub(crate) bias: Bias,
    /// Where to start.
    pub(crate) start: Option<&'a Planes>,
}

/// Numbers of a row by itself: its cost, also in a sample, its length, its place, and what factors see of it.
const ROW: usize = 8;

/// Rows a task looks at; fixed, so that no sum depends on the number of threads.
pub(super) const BLOCK: usize = 1 << 12;

impl<R: Rows> Multinomial<'_, R> {
    /// With the solver asked for, or the one that suits the data; which, and why.
    pub(crate) fn solve(
        &self,
        solver: Solver,
        limits: Limits,
        monitor: &Monitor<'_>,
    ) -> (JointSolution, String) {
        let (solver, title) = self.choose(solver);
        let solution = match solver {
            Solver::Dual => Descent::new(self, limits).solve(monitor),
            _ => self.newton(limits, monitor),
        };
        (solution, title)
    }

    /// Which solver would run, and what the report says of it.
    pub(crate) fn choose(&self, asked: Solver) -> (Solver, String) {
        /// Where rows are longer, c·‖x‖² on average, a step in one of them has to be short.
        const LONGEST: f64 = 4.0;
        let features = self.x.n_cols();
        let many = || format!("{features} features are more than {MANY_FEATURES}");
        let (solver, why) = match asked {
            Solver::Auto if features <= MANY_FEATURES => {
                (Solver::Newton, format!("{features} features are at most {MANY_FEATURES}"))
            }
            Solver::Auto => match self.mean_length() {
                ..=LONGEST => (Solver::Dual, format!("{} and rows short", many())),
                length => {
                    let why = format!("{}, but rows long: C·‖x‖² is {length:.3} on average", many());
                    (Solver::Newton, why)
                }
            },
            asked => (asked, "asked for".to_owned()),
        };
        let name = match solver {
            Solver::Dual => "dual coordinate descent",
            _ => "Newton's method with conjugate gradients",
        };
        (solver, format!("{name} ({why})"))
    }

    /// Bytes that it takes beside the data.
    pub(crate) fn bytes(&self, asked: Solver) -> usize {
        let (rows, features) = (self.x.n_rows(), self.x.n_cols());
        let (of_row, of_feature, matrices) = match self.choose(asked).0 {
            // α, and scores while they are certified; the weights, and what Newton's method makes of a point.
            Solver::Dual => (3, 8, 0),
            // Scores and α, these as they were, moves and where they lead to; points, directions and gradients, those of conjugate gradients among them, and sums over parts of the rows.
            _ => (5, 12, matrix_bytes(rows, features, self.k)),
        };
        let numbers = rows
            .saturating_mul(of_row * self.k + ROW)
            .saturating_add(features.saturating_add(1).saturating_mul(of_feature * self.k))
            .saturating_add(self.k * self.k);
        numbers.saturating_mul(size_of::<f64>()).saturating_add(matrices)
    }

    /// Newton's method, from the optimum of a sample of the rows where there are many more than features.
    fn newton(&self, limits: Limits, monitor: &Monitor<'_>) -> JointSolution {
        /// Relative gap, which the difference to all rows makes pointless to go below.
        const GAP: f64 = 0.7;
        let Some(cost) = self.sample() else { return Newton::solve(self, limits, monitor) };
        let some = Multinomial { cost: &cost, ..*self };
        let rough = Newton::solve(&some, Limits { gap: GAP, ..limits }, monitor);
        match rough.end {
            End::Converged | End::Stopped => {
                let started = Multinomial { start: Some(&rough.planes), ..*self };
                Newton::solve(&started, limits, monitor)
            }
            // What is far from the optimum of some rows is no better for all than nothing.
            _ => Newton::solve(self, limits, monitor),
        }
    }

    /// Costs that leave one of every few rows, with the cost of all of these; nothing where that would not pay, or not every class would be left.
    fn sample(&self) -> Option<Vec<f64>> {
        let taking_part = self.cost.iter().filter(|cost| **cost > 0.0).count();
        let features = self.x.n_cols() + usize::from(self.bias.is_lifted());
        let every = one_of(taking_part, features).filter(|_| self.start.is_none())?;
        let mut rng = Rng::new(every as u64);
        let mut costs = vec![0.0; self.cost.len()];
        for (to, from) in costs.chunks_mut(every).zip(self.cost.chunks(every)) {
            let one = rng.below(from.len() as u64) as usize;
            to[one] = from[one] * from.len() as f64;
        }
        let mut left = vec![0; self.k];
        self.y.iter().zip(&costs).filter(|(_, cost)| **cost > 0.0).for_each(|(&y, _)| left[y as usize] += 1);
        left.iter().all(|&rows| rows > 0).then_some(costs)
    }

    /// The mean of c·‖x‖², over some rows.
    fn mean_length(&self) -> f64 {
        let n = self.x.n_rows();
        let some: Vec<usize> = (0..n).step_by(n.div_ceil(1024).max(1)).collect();
        some.iter().map(|&i| self.cost[i] * self.x.sq_norm(i)).sum::<f64>() / some.len().max(1) as f64
    }

    /// Where to start.
    pub(super) fn beginning(&self) -> Vec<f64> {
        let mut point = vec![0.0; self.size()];
        if let Some(planes) = self.start {
            let (weights, bias) = point.split_at_mut(self.k * self.x.n_cols());
            weights.copy_from_slice(&planes.weights);
            if self.bias.is_lifted() {
                bias.copy_from_slice(&planes.bias);
            }
        }
        point
    }

    pub(super) fn size(&self) -> usize {
        self.k * (self.x.n_cols() + 1)
    }

    /// How many numbers of a point the norm counts.
    pub(super) fn penalised(&self) -> usize {
        if self.bias == Bias::Regularized { self.size() } else { self.k * self.x.n_cols() }
    }

    /// Weights and biases of a point.
    pub(super) fn split<'p>(&self, point: &'p [f64]) -> (&'p [f64], &'p [f64]) {
        point.split_at(self.k * self.x.n_cols())
    }

    /// ½‖W‖², with the biases where they are regularized.
    pub(super) fn half_norm(&self, point: &[f64]) -> f64 {
        let counted = &point[..self.penalised()];
        0.5 * dot(counted, counted)
    }

    /// All scores of a point, of the rows that take part.
    pub(super) fn scores(&self, point: &[f64]) -> Vec<f64> {
        let (weights, bias) = self.split(point);
        let mut all = vec![0.0; self.x.n_rows() * self.k];
        all.par_chunks_mut(BLOCK * self.k).enumerate().for_each(|(block, out)| {
            let rows = (block * BLOCK..).zip(out.chunks_mut(self.k)).filter(|(i, _)| self.cost[*i] > 0.0);
            rows.for_each(|(i, out)| scores(weights, bias, self.x, i, out));
        });
        all
    }

    /// A point as planes; of free biases, which are determined but for a common number, those with mean 0.
    pub(super) fn planes(&self, point: &[f64]) -> Planes {
        let mut planes = Planes::zeros(self.k, self.x.n_cols(), self.bias.is_lifted());
        let (weights, biases) = self.split(point);
        planes.weights.copy_from_slice(weights);
        let mean = if self.bias == Bias::Free { biases.iter().sum::<f64>() / self.k as f64 } else { 0.0 };
        planes.bias.iter_mut().zip(biases).for_each(|(to, b)| *to = b - mean);
        planes
    }

    /// How many parts sums over the rows are taken in, which does not depend on the number of threads. Each has a copy of all numbers.
    fn parts(&self) -> usize {
        let most = if self.size() > 1 << 20 { 2 } else { 4 };
        self.x.n_rows().div_ceil(BLOCK / 4).clamp(1, most)
    }

    /// Room for all parts but the first.
    pub(super) fn spare(&self) -> Vec<Vec<f64>> {
        vec![vec![0.0; self.size()]; self.parts() - 1]
    }

    /// The sum over all rows of what `add` adds to a point's weights and biases.
    pub(super) fn combine(
        &self,
        out: &mut [f64],
        spare: &mut [Vec<f64>],
        add: impl Fn(usize, &mut [f64], &mut [f64], &mut [f64]) + Sync,
    ) {
        let rows = self.x.n_rows().div_ceil(self.parts());
        let mut parts: Vec<&mut [f64]> = vec![out];
        parts.extend(spare.iter_mut().map(|part| &mut part[..]));
        parts.par_iter_mut().enumerate().for_each(|(part, sums)| {
            sums.fill(0.0);
            let mut t = vec![0.0; self.k];
            let (weights, bias) = sums.split_at_mut(self.k * self.x.n_cols());
            let own = part * rows..((part + 1) * rows).min(self.x.n_rows());
            own.filter(|&i| self.cost[i] > 0.0).for_each(|i| add(i, &mut t, weights, bias));
        });
        if let [sums, others @ ..] = &mut parts[..] {
            others.iter().for_each(|part| conjugate_gradient::add(1.0, part, sums));
        }
    }

    /// Σ (αᵢ − cᵢe_yᵢ)xᵢᵀ
    pub(super) fn push(&self, alpha: &[f64], sums: &mut [f64], spare: &mut [Vec<f64>]) {
        self.combine(sums, spare, |i, t, weights, bias| {
            t.copy_from_slice(&alpha[i * self.k..][..self.k]);
            t[self.y[i] as usize] -= self.cost[i];
            self.add(i, t, weights, bias);
        });
    }

    /// Adds tᵢxᵢᵀ.
    pub(super) fn add(&self, i: usize, t: &[f64], weights: &mut [f64], bias: &mut [f64]) {
        add_to_all(weights, self.x, i, t);
        if self.bias.is_lifted() {
            bias.iter_mut().zip(t).for_each(|(b, t)| *b += t);
        }
    }

    /// The sum of a term over all rows with their scores.
    pub(super) fn sum(&self, scores: &[f64], term: impl Fn(usize, &[f64]) -> f64 + Sync) -> f64 {
        let block = |(block, scores): (usize, &[f64])| -> f64 {
            let rows = (block * BLOCK..).zip(scores.chunks(self.k));
            rows.filter(|(i, _)| self.cost[*i] > 0.0).map(|(i, scores)| term(i, scores)).sum()
        };
        let blocks: Vec<f64> = scores.par_chunks(BLOCK * self.k).enumerate().map(block).collect();
        blocks.iter().sum()
    }

    /// cᵢ·(log Σ_c exp(g_c) − g_y)
    pub(super) fn loss(&self, i: usize, scores: &[f64]) -> f64 {
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        self.cost[i] * (sum.ln() + most - scores[self.y[i] as usize])
    }
}

/// Scores become cost times probabilities.
pub(super) fn soften(scores: &mut [f64], cost: f64) {
    if cost == 0.0 {
        return scores.fill(0.0);
    }
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let factor = cost / scores.iter().sum::<f64>();
    scores.iter_mut().for_each(|score| *score *= factor);
}
