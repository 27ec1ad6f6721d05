//! Newton's method with a Cholesky factor, for smooth losses and few features.
//!
//! Minimises P(w, b) itself: 1 + Σ cᵢ·ℓ''(mᵢ)·xᵢxᵢᵀ costs n·d²/2 and is factored in d³/6, so that a dozen steps solve what coordinate descent
//! creeps along when columns differ in scale. αᵢ = −cᵢ·ℓ'(mᵢ) are the dual variables of the point.

use rayon::prelude::*;

use super::certificate::{Certified, dual_at, evaluate, gradient, scores};
use super::cholesky::Normal;
use super::{Binary, End, Example, Limits, Solution};
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
}

impl<'a, R: Rows, L: SmoothLoss> Newton<'a, R, L> {
    pub(super) fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let (point, scores) = (vec![0.0; problem.size()], vec![0.0; problem.examples.len()]);
        Newton { problem, loss, limits, point, scores }
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut passes = 0;
        let (certified, end) = loop {
            passes += 1;
            let moved = self.step();
            let certified = self.certify();
            let end = match () {
                () if certified.certificate.gap() <= self.limits.gap => End::Converged,
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
        let mut direction = gradient(problem, &slopes);
        direction.iter_mut().zip(&self.point).take(penalised).for_each(|(g, w)| *g += w);
        let downhill = direction.clone();
        Normal::new(problem, &curvatures, penalised).factored().solve(&mut direction);
        direction.iter_mut().for_each(|p| *p = -*p);
        let slope: f64 = downhill.iter().zip(&direction).map(|(g, p)| g * p).sum();
        slope < 0.0 && self.search(&direction, slope, penalised)
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
        while value(t) > start + 1e-4 * t * slope {
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
