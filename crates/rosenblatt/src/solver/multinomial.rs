//! Multinomial logistic regression: all classes in one problem.
//!
//! ```text
//! P(W, b) = ½‖W‖² + Σ cᵢ·(log Σ_c exp(g_c(xᵢ)) − g_yᵢ(xᵢ))
//! D(α)    = −½‖Σ (cᵢe_yᵢ − αᵢ)xᵢᵀ‖² + Σ cᵢ·H(αᵢ/cᵢ)            αᵢ ≥ 0, Σ_c αᵢ_c = cᵢ, H the entropy; Σ (cᵢe_yᵢ − αᵢ) = 0 where the bias is free
//! ```
//!
//! Newton's method with conjugate gradients, preconditioned by the diagonal (Lin, Weng, Keerthi 2008). At every point αᵢ = cᵢpᵢ with the probabilities p of the point, so that the
//! gradient and the dual value come from one pass over the rows. A free bias is brought to its best value first, which is what makes that α feasible.

use rayon::prelude::*;

use super::certificate::Slacks;
use super::cholesky::Normal;
use super::conjugate_gradient::{self, dot};
use super::{Certificate, End, JointSolution, Limits};
use crate::data::Rows;
use crate::learner::Bias;
use crate::model::{Planes, add_to_all, scores};
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

/// The minimisation under way. A point has `k` numbers for each feature and `k` biases behind them, which stay 0 where there are to be none.
struct Newton<'a, R> {
    problem: &'a Multinomial<'a, R>,
    point: Vec<f64>,
    /// g_c(xᵢ), row after row.
    scores: Vec<f64>,
    /// αᵢ_c, row after row.
    alpha: Vec<f64>,
    primal: f64,
}

/// Rows a task looks at; fixed, so that no sum depends on the number of threads.
const BLOCK: usize = 1 << 12;

impl<R: Rows> Multinomial<'_, R> {
    pub(crate) fn solve(&self, limits: Limits, monitor: &Monitor<'_>) -> JointSolution {
        let mut newton = Newton::new(self);
        // D is 0 where every row has all of its cost on its own class.
        let (mut passes, mut best) = (0, 0.0f64);
        let (certificate, end) = loop {
            passes += 1;
            let feasible = newton.settle();
            let (downhill, dual) = newton.gradient();
            if feasible {
                best = best.max(dual);
            }
            let certificate = newton.certificate(best);
            let gap = certificate.gap();
            let end = match () {
                () if gap <= limits.gap => End::Converged,
                () if !monitor.go_on(self.x.n_rows()) => End::Stopped,
                () if passes >= limits.passes => End::PassLimit,
                () if !newton.step(&downhill, gap, limits.gap) => End::Stalled,
                () => continue,
            };
            break (certificate, end);
        };
        JointSolution { planes: newton.planes(), certificate, passes, end }
    }

    fn size(&self) -> usize {
        self.k * (self.x.n_cols() + 1)
    }

    /// How many numbers of a point the norm counts.
    fn penalised(&self) -> usize {
        if self.bias == Bias::Regularized { self.size() } else { self.k * self.x.n_cols() }
    }

    /// Weights and biases of a point.
    fn split<'p>(&self, point: &'p [f64]) -> (&'p [f64], &'p [f64]) {
        point.split_at(self.k * self.x.n_cols())
    }

    /// ½‖W‖², with the biases where they are regularized.
    fn half_norm(&self, point: &[f64]) -> f64 {
        let counted = &point[..self.penalised()];
        0.5 * dot(counted, counted)
    }

    /// All scores of a point.
    fn scores(&self, point: &[f64]) -> Vec<f64> {
        let (weights, bias) = self.split(point);
        let mut all = vec![0.0; self.x.n_rows() * self.k];
        all.par_chunks_mut(BLOCK * self.k).enumerate().for_each(|(block, out)| {
            let rows = (block * BLOCK..).zip(out.chunks_mut(self.k));
            rows.for_each(|(i, out)| scores(weights, bias, self.x, i, out));
        });
        all
    }

    /// Σ tᵢxᵢᵀ in the form of a point, in parts that do not depend on the number of threads; `factors` makes tᵢ.
    fn combine(&self, factors: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f64> {
        // Each part has a copy of all numbers.
        let parts = if self.size() > 1 << 20 { 2 } else { 4 };
        let rows = self.x.n_rows().div_ceil(parts).max(BLOCK / 4);
        let part = |start: usize| {
            let (mut sums, mut t) = (vec![0.0; self.size()], vec![0.0; self.k]);
            let (weights, bias) = sums.split_at_mut(self.k * self.x.n_cols());
            for i in (start..(start + rows).min(self.x.n_rows())).filter(|&i| self.cost[i] > 0.0) {
                factors(i, &mut t);
                add_to_all(weights, self.x, i, &t);
                if self.bias.is_lifted() {
                    bias.iter_mut().zip(&t).for_each(|(b, t)| *b += t);
                }
            }
            sums
        };
        let starts: Vec<usize> = (0..self.x.n_rows()).step_by(rows).collect();
        let mut parts = starts.into_par_iter().map(part).collect::<Vec<_>>().into_iter();
        let mut sums = parts.next().unwrap_or_else(|| vec![0.0; self.size()]);
        parts.for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        sums
    }

    /// The sum of a term over all rows with their scores.
    fn sum(&self, scores: &[f64], term: impl Fn(usize, &[f64]) -> f64 + Sync) -> f64 {
        let block = |(block, scores): (usize, &[f64])| -> f64 {
            let rows = (block * BLOCK..).zip(scores.chunks(self.k));
            rows.filter(|(i, _)| self.cost[*i] > 0.0).map(|(i, scores)| term(i, scores)).sum()
        };
        let blocks: Vec<f64> = scores.par_chunks(BLOCK * self.k).enumerate().map(block).collect();
        blocks.iter().sum()
    }

    /// cᵢ·(log Σ_c exp(g_c) − g_y)
    fn loss(&self, i: usize, scores: &[f64]) -> f64 {
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        self.cost[i] * (sum.ln() + most - scores[self.y[i] as usize])
    }
}

/// Scores become cost times probabilities.
fn soften(scores: &mut [f64], cost: f64) {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let factor = cost / scores.iter().sum::<f64>();
    scores.iter_mut().for_each(|score| *score *= factor);
}

impl<'a, R: Rows> Newton<'a, R> {
    fn new(problem: &'a Multinomial<'a, R>) -> Self {
        let mut point = vec![0.0; problem.size()];
        let mut scores = vec![0.0; problem.x.n_rows() * problem.k];
        if let Some(planes) = problem.start {
            let (weights, bias) = point.split_at_mut(problem.k * problem.x.n_cols());
            weights.copy_from_slice(&planes.weights);
            if problem.bias.is_lifted() {
                bias.copy_from_slice(&planes.bias);
            }
            scores = problem.scores(&point);
        }
        Newton { problem, point, alpha: vec![0.0; scores.len()], scores, primal: f64::INFINITY }
    }

    /// Brings a free bias to its best value; then α and P. Whether α is feasible.
    fn settle(&mut self) -> bool {
        /// Newton's steps in the biases alone; near the optimum one does.
        const MOST_STEPS: usize = 30;
        let problem = self.problem;
        self.find_alpha();
        if problem.bias == Bias::Free {
            for _ in 0..MOST_STEPS {
                let (missing, shift) = self.bias_step();
                let size = dot(&missing, &missing).sqrt();
                if size <= 1e-9 * problem.cost.iter().sum::<f64>() {
                    break;
                }
                // A long step may go too far; half of it, and so on, cannot for ever.
                let before = problem.sum(&self.scores, |i, scores| problem.loss(i, scores));
                let slope = dot(&missing, &shift);
                let mut t = 1.0;
                loop {
                    let shifted = |i: usize, scores: &[f64]| {
                        let moved: Vec<f64> = scores.iter().zip(&shift).map(|(s, b)| s + t * b).collect();
                        problem.loss(i, &moved)
                    };
                    if t < 1e-6 || problem.sum(&self.scores, shifted) <= before - 1e-4 * t * slope {
                        break;
                    }
                    t *= 0.5;
                }
                self.shift(&shift, t);
                self.find_alpha();
            }
        }
        let feasible = problem.bias != Bias::Free || self.make_feasible();
        let loss = problem.sum(&self.scores, |i, scores| problem.loss(i, scores));
        self.primal = problem.half_norm(&self.point) + loss;
        feasible
    }

    fn find_alpha(&mut self) {
        self.alpha.copy_from_slice(&self.scores);
        let (k, cost) = (self.problem.k, self.problem.cost);
        self.alpha.par_chunks_mut(BLOCK * k).zip(cost.par_chunks(BLOCK)).for_each(|(alpha, cost)| {
            alpha.chunks_mut(k).zip(cost).for_each(|(alpha, &cost)| soften(alpha, cost));
        });
    }

    /// Adds t·shift to all biases.
    fn shift(&mut self, shift: &[f64], t: f64) {
        let first = self.problem.k * self.problem.x.n_cols();
        self.point[first..].iter_mut().zip(shift).for_each(|(b, s)| *b += t * s);
        self.scores.par_chunks_mut(self.problem.k).for_each(|scores| {
            scores.iter_mut().zip(shift).for_each(|(score, s)| *score += t * s);
        });
    }

    /// Σ (cᵢe_yᵢ − αᵢ), and the step of the biases that would make it 0 if α were linear in them.
    fn bias_step(&self) -> (Vec<f64>, Vec<f64>) {
        let Multinomial { k, y, cost, .. } = *self.problem;
        let (mut missing, mut curvature) = (vec![0.0; k], vec![0.0; k * k]);
        for ((alpha, &y), &cost) in self.alpha.chunks(k).zip(y).zip(cost).filter(|(_, cost)| **cost > 0.0) {
            missing[y as usize] += cost;
            for (c, &a) in alpha.iter().enumerate() {
                missing[c] -= a;
                curvature[c * k + c] += a;
                curvature[c * k..=c * k + c].iter_mut().zip(alpha).for_each(|(h, b)| *h -= a * b / cost);
            }
        }
        // The same number added to all biases changes nothing; this makes the sum of a step 0.
        let mean = (0..k).map(|c| curvature[c * k + c]).sum::<f64>() / k as f64;
        curvature.iter_mut().for_each(|h| *h += mean);
        let step = Normal::of(curvature, k).factored().solved(&missing);
        (missing, step)
    }

    /// Moves α by what is left, along the step's own direction, so that it meets the constraint to rounding; or leaves it as it is where that cannot be.
    fn make_feasible(&mut self) -> bool {
        let (_, step) = self.bias_step();
        let Multinomial { k, cost, .. } = *self.problem;
        let mut moved = self.alpha.clone();
        for (alpha, &cost) in moved.chunks_mut(k).zip(cost).filter(|(_, cost)| **cost > 0.0) {
            let mean = dot(alpha, &step) / cost;
            alpha.iter_mut().zip(&step).for_each(|(a, s)| *a += *a * (s - mean));
        }
        if moved.iter().any(|a| *a < 0.0) {
            return false;
        }
        let before = std::mem::replace(&mut self.alpha, moved);
        let (missing, _) = self.bias_step();
        let met = dot(&missing, &missing).sqrt() <= 1e-9 * cost.iter().sum::<f64>();
        if !met {
            self.alpha = before;
        }
        met
    }

    /// The gradient of P, and D, both from α.
    fn gradient(&self) -> (Vec<f64>, f64) {
        let problem = self.problem;
        let Multinomial { k, y, cost, .. } = *problem;
        let mut sums = problem.combine(|i, t| {
            t.copy_from_slice(&self.alpha[i * k..][..k]);
            t[y[i] as usize] -= cost[i];
        });
        let entropy = problem.sum(&self.alpha, |i, alpha| {
            let term = |&a: &f64| if a > 0.0 { a * (a / cost[i]).ln() } else { 0.0 };
            -alpha.iter().map(term).sum::<f64>()
        });
        let dual = entropy - problem.half_norm(&sums);
        sums.iter_mut().zip(&self.point).take(problem.penalised()).for_each(|(g, w)| *g += w);
        (sums, dual)
    }

    fn certificate(&self, dual: f64) -> Certificate {
        let (k, mut slacks) = (self.problem.k, Slacks::default());
        let mut support_vectors = 0;
        for (i, scores) in self.scores.chunks(k).enumerate().filter(|(i, _)| self.problem.cost[*i] > 0.0) {
            let own = self.problem.y[i] as usize;
            let others = scores.iter().enumerate().filter(|(c, _)| *c != own).map(|(_, score)| *score);
            slacks.count(scores[own] - others.fold(f64::NEG_INFINITY, f64::max));
            support_vectors += 1;
        }
        Certificate { primal: self.primal, dual, slacks, support_vectors }
    }

    /// One step with a line search; whether it moved.
    fn step(&mut self, downhill: &[f64], gap: f64, asked: f64) -> bool {
        let tolerance = conjugate_gradient::tolerance(gap, asked);
        let diagonal = self.diagonal();
        let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
        let (mut direction, _) =
            conjugate_gradient::solve(downhill, tolerance, |v| self.curve(v), precondition);
        direction.iter_mut().for_each(|p| *p = -*p);
        let slope = dot(downhill, &direction);
        slope < 0.0 && self.search(&direction, slope)
    }

    /// The second derivative times v: of a row diag(α) − ααᵀ/c on its scores.
    fn curve(&self, v: &[f64]) -> Vec<f64> {
        let problem = self.problem;
        let (weights, bias) = problem.split(v);
        let mut image = problem.combine(|i, t| {
            scores(weights, bias, problem.x, i, t);
            let alpha = &self.alpha[i * problem.k..][..problem.k];
            let mean = dot(alpha, t) / problem.cost[i];
            t.iter_mut().zip(alpha).for_each(|(t, a)| *t = a * (*t - mean));
        });
        image.iter_mut().zip(v).take(problem.penalised()).for_each(|(image, v)| *image += v);
        image
    }

    fn diagonal(&self) -> Vec<f64> {
        let problem = self.problem;
        let k = problem.k;
        let mut diagonal = vec![0.0; problem.size()];
        diagonal[..problem.penalised()].fill(1.0);
        let (weights, bias) = diagonal.split_at_mut(k * problem.x.n_cols());
        for (i, alpha) in self.alpha.chunks(k).enumerate().filter(|(i, _)| problem.cost[*i] > 0.0) {
            let own = |a: f64| a * (1.0 - a / problem.cost[i]);
            problem.x.each(i, |j, v| {
                weights[j * k..][..k].iter_mut().zip(alpha).for_each(|(d, a)| *d += v * v * own(*a));
            });
            bias.iter_mut().zip(alpha).for_each(|(d, a)| *d += own(*a));
        }
        diagonal.iter_mut().for_each(|d| *d = d.max(f64::MIN_POSITIVE));
        diagonal
    }

    /// Armijo's rule on P along a direction.
    fn search(&mut self, direction: &[f64], slope: f64) -> bool {
        let problem = self.problem;
        let moves = problem.scores(direction);
        let mut t = 1.0;
        loop {
            let point: Vec<f64> = self.point.iter().zip(direction).map(|(w, p)| w + t * p).collect();
            let mut moved = self.scores.clone();
            moved.par_iter_mut().zip(&moves).for_each(|(score, p)| *score += t * p);
            let value = problem.half_norm(&point) + problem.sum(&moved, |i, scores| problem.loss(i, scores));
            if value <= self.primal + 1e-4 * t * slope {
                (self.point, self.scores) = (point, moved);
                return true;
            }
            t *= 0.5;
            if t < 1e-12 {
                return false;
            }
        }
    }

    /// The point as planes; of free biases, which are determined but for a common number, those with mean 0.
    fn planes(self) -> Planes {
        let Multinomial { k, bias, x, .. } = *self.problem;
        let mut planes = Planes::zeros(k, x.n_cols(), bias.is_lifted());
        let (weights, biases) = self.problem.split(&self.point);
        planes.weights.copy_from_slice(weights);
        let mean = if bias == Bias::Free { biases.iter().sum::<f64>() / k as f64 } else { 0.0 };
        planes.bias.iter_mut().zip(biases).for_each(|(to, b)| *to = b - mean);
        planes
    }
}
