//! Newton's method, for smooth losses.
//!
//! Minimises P(w, b) itself. With few features 1 + Σ cᵢ·ℓ''(mᵢ)·xᵢxᵢᵀ costs n·d²/2 and is factored in d³/6, so that a dozen steps solve what coordinate descent
//! creeps along when columns differ in scale. With more the system is solved by conjugate gradients as far as it pays (Lin, Weng, Keerthi 2008), preconditioned by
//! the factor of the same sum over a sample of the rows, or by its diagonal. αᵢ = −cᵢ·ℓ'(mᵢ) are the dual variables of the point.

use rayon::prelude::*;

use super::certificate::{self, Certified, curve, dual_at, scores};
use super::cholesky::{Factor, Normal};
use super::evaluation::{Evaluation, SmoothLoss};
use super::{Binary, End, Example, Limits, Solution, conjugate_gradient};
use crate::data::Rows;
use crate::watch::Monitor;

/// The minimisation under way.
pub(super) struct Newton<'a, R, L> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    /// w, and b behind it where there is one.
    point: Vec<f64>,
    /// w·x + b of each example.
    scores: Vec<f64>,
    /// What the point is worth.
    at: Evaluation,
    /// Of a sample of the rows, as long as it serves.
    sampled: Option<Factor>,
}

/// Up to so many features a step solves its system exactly.
pub(super) const FEW_FEATURES: usize = 300;

/// Up to so many a sample of the rows is factored.
pub(super) const MANY_FEATURES: usize = 2000;

/// Conjugate gradient steps after which a factor is made anew.
const MANY_STEPS: usize = 12;

impl<'a, R: Rows, L: SmoothLoss> Newton<'a, R, L> {
    pub(super) fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let (point, scores) = (vec![0.0; problem.size()], vec![0.0; problem.examples.len()]);
        let at = Evaluation::of(problem, loss, &point, &scores);
        Newton { problem, loss, limits, point, scores, at, sampled: None }
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut passes = 0;
        let end = loop {
            match () {
                () if self.at.gap <= self.limits.gap => break End::Converged,
                () if passes >= self.limits.passes => break End::PassLimit,
                () => passes += 1,
            }
            while let Some(nearer) = self.loss.nearer(&self.at, self.limits.gap) {
                self.loss = nearer;
                self.at = Evaluation::of(self.problem, self.loss, &self.point, &self.scores);
            }
            if !self.step() {
                break End::Stalled;
            }
            if !monitor.go_on(self.problem.examples.len()) {
                break End::Stopped;
            }
        };
        Solution::new(self.certify(), passes, end)
    }

    /// The gap at this point, from scores summed anew, with the dual variables that its slopes are.
    fn certify(&self) -> Certified {
        let (w, b) = self.problem.split(&self.point);
        let scores = scores(self.problem, w);
        let alpha = |(e, score): (&Example, &f64)| -e.cost * self.loss.bend(e.y() * (score + b)).slope;
        let mut alpha: Vec<f64> = self.problem.examples.iter().zip(&scores).map(alpha).collect();
        let dual = dual_at(self.problem, L::REAL, &mut alpha);
        let certificate = certificate::evaluate(self.problem, L::REAL, w, b, &scores, &alpha, dual);
        Certified { w: w.to_vec(), b, certificate }
    }

    /// One step with a line search; whether it moved.
    fn step(&mut self) -> bool {
        let (problem, curvatures) = (self.problem, &self.at.curvatures);
        let mut direction = match problem.x.n_cols() {
            0..=FEW_FEATURES => {
                Normal::new(problem, curvatures, problem.penalised()).factored().solved(&self.at.gradient)
            }
            _ => self.approximate(),
        };
        direction.iter_mut().for_each(|p| *p = -*p);
        let slope = conjugate_gradient::dot(&self.at.gradient, &direction);
        slope < 0.0 && self.search(&direction, slope)
    }

    /// A step by conjugate gradients, the more exact the nearer the optimum is.
    fn approximate(&mut self) -> Vec<f64> {
        let (problem, penalised) = (self.problem, self.problem.penalised());
        let Evaluation { gradient, curvatures, gap, smooth_gap, .. } = &self.at;
        // What remains of the gap belongs to the difference of the losses, which no step on this one removes.
        let asked = self.limits.gap.max(0.3 * (gap - smooth_gap));
        let tolerance = conjugate_gradient::tolerance(*smooth_gap, asked);
        let product = |v: &[f64]| curve(problem, curvatures, v, penalised);
        if problem.size() > MANY_FEATURES {
            let diagonal = diagonal(problem, curvatures, penalised);
            let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
            return conjugate_gradient::solve(gradient, tolerance, product, precondition).0;
        }
        let factor = self.sampled.take().unwrap_or_else(|| sampled(problem, curvatures, penalised));
        let precondition = |r: &[f64]| factor.solved(r);
        let (direction, steps) = conjugate_gradient::solve(gradient, tolerance, product, precondition);
        self.sampled = (steps <= MANY_STEPS).then_some(factor);
        direction
    }

    /// Armijo's rule on P along a direction. The whole step is nearly always taken, so that each try is a full evaluation.
    fn search(&mut self, direction: &[f64], slope: f64) -> bool {
        let (along, lift) = self.problem.split(direction);
        let moves = scores(self.problem, along);
        let mut t = 1.0;
        while t > 1e-12 {
            let step = |(value, p): (&f64, &f64)| value + t * p;
            let point: Vec<f64> = self.point.iter().zip(direction).map(step).collect();
            let scores: Vec<f64> =
                self.scores.par_iter().zip(&moves).map(|(f, p)| f + t * (p + lift)).collect();
            let at = Evaluation::of(self.problem, self.loss, &point, &scores);
            // What is not a number is no progress.
            if at.value <= self.at.value + 1e-4 * t * slope {
                (self.point, self.scores, self.at) = (point, scores, at);
                return true;
            }
            t *= 0.5;
        }
        false
    }
}

/// The factor of 1 + Σ dᵢ·xᵢxᵢᵀ over a few times as many rows as there are features, as if these were all.
fn sampled<R: Rows>(problem: &Binary<'_, R>, d: &[f64], penalised: usize) -> Factor {
    let curved = || problem.examples.iter().zip(d).filter(|(_, d)| **d > 0.0);
    let every = (curved().count() / (4 * problem.size())).max(1);
    let (examples, d): (Vec<Example>, Vec<f64>) =
        curved().step_by(every).map(|(example, d)| (*example, d * every as f64)).unzip();
    Normal::new(&Binary { examples: &examples, ..*problem }, &d, penalised).factored()
}

/// The diagonal of 1 + Σ dᵢ·xᵢxᵢᵀ.
fn diagonal<R: Rows>(problem: &Binary<'_, R>, d: &[f64], penalised: usize) -> Vec<f64> {
    let mut diagonal = vec![0.0; problem.size()];
    diagonal[..penalised].fill(1.0);
    for (example, &d) in problem.examples.iter().zip(d).filter(|(_, d)| **d > 0.0) {
        problem.x.each(example.row as usize, |j, v| diagonal[j] += d * v * v);
    }
    if problem.bias.is_lifted() {
        let last = problem.x.n_cols();
        diagonal[last] += d.iter().sum::<f64>();
        // No row curves a free bias where all are far beyond the margin.
        diagonal[last] = diagonal[last].max(f64::MIN_POSITIVE);
    }
    diagonal
}
