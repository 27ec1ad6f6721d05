//! Newton's method, for smooth losses.
//!
//! Minimises P(w, b) itself. With few features 1 + Σ cᵢ·ℓ''(mᵢ)·xᵢxᵢᵀ costs n·d²/2 and is factored in d³/6, so that a dozen steps solve what coordinate descent
//! creeps along when columns differ in scale. With more the system is solved by conjugate gradients as far as it pays (Lin, Weng, Keerthi 2008), preconditioned by
//! the factor of the same sum over a sample of the rows, or by its diagonal. αᵢ = −cᵢ·ℓ'(mᵢ) are the dual variables of the point.

use rayon::prelude::*;

use super::certificate::{Certified, curve, dual_at, evaluate, gradient, scores};
use super::cholesky::{Factor, Normal};
use super::{Binary, End, Example, Limits, Solution, conjugate_gradient};
use crate::data::Rows;
use crate::loss::{Logistic, MarginLoss, SquaredHinge};
use crate::watch::Monitor;

/// A loss with a second derivative.
pub(crate) trait SmoothLoss: MarginLoss {
    /// ℓ''(m)
    fn curvature(self, m: f64) -> f64;
}

impl SmoothLoss for SquaredHinge {
    fn curvature(self, m: f64) -> f64 {
        if m < 1.0 { 2.0 } else { 0.0 }
    }
}

impl SmoothLoss for Logistic {
    fn curvature(self, m: f64) -> f64 {
        let p = -self.slope(m);
        p * (1.0 - p)
    }
}

/// The minimisation under way.
pub(super) struct Newton<'a, R, L> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    /// w, and b behind it where there is one.
    point: Vec<f64>,
    /// w·x + b of each example.
    scores: Vec<f64>,
    /// The gap at the point: how exact a step must be.
    gap: f64,
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
        Newton { problem, loss, limits, point, scores, gap: 1.0, sampled: None }
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut passes = 0;
        let (certified, end) = loop {
            passes += 1;
            let moved = self.step();
            let certified = self.certify();
            self.gap = certified.certificate.gap();
            let end = match () {
                () if self.gap <= self.limits.gap => End::Converged,
                () if !monitor.go_on(self.problem.examples.len()) => End::Stopped,
                () if passes >= self.limits.passes => End::PassLimit,
                () if !moved => End::Stalled,
                () => continue,
            };
            break (certified, end);
        };
        Solution::new(certified, passes, end)
    }

    /// The gap at this point, with the dual variables that its slopes are.
    fn certify(&self) -> Certified {
        let (w, b) = self.problem.split(&self.point);
        let alpha = |(e, score): (&Example, &f64)| -e.cost * self.loss.slope(e.y() * score);
        let mut alpha: Vec<f64> = self.problem.examples.iter().zip(&self.scores).map(alpha).collect();
        let dual = dual_at(self.problem, self.loss, &mut alpha);
        let without: Vec<f64> = self.scores.iter().map(|score| score - b).collect();
        let certificate = evaluate(self.problem, self.loss, w, b, &without, &alpha, dual);
        Certified { w: w.to_vec(), b, certificate }
    }

    /// One step with a line search; whether it moved.
    fn step(&mut self) -> bool {
        let problem = self.problem;
        let penalised = problem.penalised();
        let term =
            |(e, score): (&Example, &f64), of: fn(L, f64) -> f64| e.cost * of(self.loss, e.y() * score);
        let examples = || problem.examples.iter().zip(&self.scores);
        let slopes: Vec<f64> = examples().map(|pair| pair.0.y() * term(pair, L::slope)).collect();
        let curvatures: Vec<f64> = examples().map(|pair| term(pair, L::curvature)).collect();
        let mut downhill = gradient(problem, &slopes);
        downhill.iter_mut().zip(&self.point).take(penalised).for_each(|(g, w)| *g += w);
        let mut direction = match problem.x.n_cols() {
            0..=FEW_FEATURES => Normal::new(problem, &curvatures, penalised).factored().solved(&downhill),
            _ => self.approximate(&downhill, &curvatures, penalised),
        };
        direction.iter_mut().for_each(|p| *p = -*p);
        let slope: f64 = downhill.iter().zip(&direction).map(|(g, p)| g * p).sum();
        slope < 0.0 && self.search(&direction, slope, penalised)
    }

    /// A step by conjugate gradients, the more exact the nearer the optimum is.
    fn approximate(&mut self, downhill: &[f64], curvatures: &[f64], penalised: usize) -> Vec<f64> {
        let problem = self.problem;
        let tolerance = conjugate_gradient::tolerance(self.gap, self.limits.gap);
        let product = |v: &[f64]| curve(problem, curvatures, v, penalised);
        if problem.size() > MANY_FEATURES {
            let diagonal = diagonal(problem, curvatures, penalised);
            let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
            return conjugate_gradient::solve(downhill, tolerance, product, precondition).0;
        }
        let factor = self.sampled.take().unwrap_or_else(|| sampled(problem, curvatures, penalised));
        let precondition = |r: &[f64]| factor.solved(r);
        let (direction, steps) = conjugate_gradient::solve(downhill, tolerance, product, precondition);
        self.sampled = (steps <= MANY_STEPS).then_some(factor);
        direction
    }

    /// Armijo's rule on P along a direction.
    fn search(&mut self, direction: &[f64], slope: f64, penalised: usize) -> bool {
        let (problem, loss) = (self.problem, self.loss);
        let (along, lift) = problem.split(direction);
        let moves: Vec<f64> = scores(problem, along).into_iter().map(|f| f + lift).collect();
        let value = |t: f64| {
            let norm = |(w, p): (&f64, &f64)| (w + t * p).powi(2);
            let norm: f64 = self.point.iter().zip(direction).take(penalised).map(norm).sum();
            let risk = |((e, f), p): ((&Example, &f64), &f64)| e.cost * loss.value(e.y() * (f + t * p));
            let block = 1 << 14;
            let blocks = problem.examples.par_chunks(block).zip(self.scores.par_chunks(block));
            let blocks: Vec<f64> = blocks
                .zip(moves.par_chunks(block))
                .map(|((e, f), p)| e.iter().zip(f).zip(p).map(risk).sum())
                .collect();
            0.5 * norm + blocks.iter().sum::<f64>()
        };
        let start = value(0.0);
        let mut t = 1.0;
        loop {
            // What is not a number is no progress.
            if value(t) <= start + 1e-4 * t * slope {
                break;
            }
            t *= 0.5;
            if t < 1e-12 {
                return false;
            }
        }
        self.point.iter_mut().zip(direction).for_each(|(w, p)| *w += t * p);
        self.scores.iter_mut().zip(&moves).for_each(|(score, p)| *score += t * p);
        true
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
