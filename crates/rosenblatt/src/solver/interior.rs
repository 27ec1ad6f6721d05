//! An interior-point method for losses that are a corner, and few features.
//!
//! With slacks s, ξ ≥ 0 the problem is min ½‖w‖² + Σ cᵢξᵢ with yᵢ(w·xᵢ + b) − 1 + ξᵢ − sᵢ = 0. Its conditions are w = Σ αᵢyᵢxᵢ, Σ αᵢyᵢ = 0, αᵢsᵢ = 0 and
//! (cᵢ − αᵢ)ξᵢ = 0; with μ in place of the last two zeros they have one solution for every μ > 0, which Newton's method follows to μ = 0. Eliminating all but (w, b)
//! leaves a system in as many unknowns as there are features: Ferris and Munson (2002), SIAM J. Optimization 13:3; steps by Mehrotra (1992), SIAM J. Optimization 2:4.
//! A dozen or two of them are enough whatever the scales of the columns.
//!
//! A hard margin is the same with cᵢ = ∞: there is no ξ, and no second product.

use rayon::prelude::*;

use super::certificate::{Certified, dual_at, evaluate, feasible, gradient, scores, support_vectors};
use super::factor::Factor;
use super::normal::Normal;
use super::{Binary, DualLoss, End, Example, Limits, Solution};
use crate::data::Rows;
use crate::loss::{HardMargin, Hinge};
use crate::watch::Monitor;

/// A loss without curvature on either side of a margin of 1.
pub(crate) trait Corner: DualLoss {
    /// What a point and α prove together.
    fn prove<R: Rows>(
        self,
        problem: &Binary<'_, R>,
        point: (&[f64], f64),
        scores: &[f64],
        alpha: &mut [f64],
    ) -> Certified;
}

impl Corner for Hinge {
    fn prove<R: Rows>(
        self,
        problem: &Binary<'_, R>,
        (w, b): (&[f64], f64),
        scores: &[f64],
        alpha: &mut [f64],
    ) -> Certified {
        let dual = dual_at(problem, self, alpha);
        let certificate = evaluate(problem, self, w, b, scores, alpha, dual);
        Certified { w: w.to_vec(), b, certificate, scores: Vec::new() }
    }
}

impl Corner for HardMargin {
    fn prove<R: Rows>(
        self,
        problem: &Binary<'_, R>,
        (_, b): (&[f64], f64),
        _: &[f64],
        alpha: &mut [f64],
    ) -> Certified {
        let sums = feasible(problem, alpha);
        self.certify(problem, alpha, sums, b)
    }
}

/// What belongs to an example.
#[derive(Clone, Copy)]
struct Interior {
    alpha: f64,
    s: f64,
    xi: f64,
    /// What α is less than, +∞ where there is no such thing.
    bound: f64,
    /// y·(w·x + b)
    margin: f64,
    y: f64,
}

/// How an example's variables move.
#[derive(Clone, Copy, Default)]
struct Move {
    alpha: f64,
    s: f64,
    xi: f64,
}

impl Interior {
    /// 1/(s/α + ξ/(c − α))
    fn weight(&self) -> f64 {
        1.0 / (self.s / self.alpha + self.xi / (self.bound - self.alpha))
    }

    /// What the two products lack to a target, less a correction of second order.
    fn lacks(&self, target: f64, before: Move) -> (f64, f64) {
        let lower = target - self.alpha * self.s - before.alpha * before.s;
        let upper = target - self.upper(self.alpha, self.xi) + before.alpha * before.xi;
        (lower, upper)
    }

    /// q of Δα = weight·(q − Δmargin)
    fn pull(&self, (lower, upper): (f64, f64)) -> f64 {
        lower / self.alpha - upper / (self.bound - self.alpha) - (self.margin - 1.0 + self.xi - self.s)
    }

    fn moves(&self, lacks: (f64, f64), margin_moves: f64) -> Move {
        let alpha = self.weight() * (self.pull(lacks) - margin_moves);
        let s = (lacks.0 - self.s * alpha) / self.alpha;
        let xi = (lacks.1 + self.xi * alpha) / (self.bound - self.alpha);
        Move { alpha, s, xi }
    }

    /// The longest step that keeps all variables from their bounds.
    fn longest(&self, by: Move) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        let alpha = until(self.alpha, by.alpha).min(until(self.bound - self.alpha, -by.alpha));
        alpha.min(until(self.s, by.s)).min(until(self.xi, by.xi))
    }

    fn products(&self, by: Move, t: f64) -> f64 {
        let (alpha, s, xi) = (self.alpha + t * by.alpha, self.s + t * by.s, self.xi + t * by.xi);
        alpha * s + self.upper(alpha, xi)
    }

    /// (c − α)·ξ
    fn upper(&self, alpha: f64, xi: f64) -> f64 {
        if self.bound.is_finite() { (self.bound - alpha) * xi } else { 0.0 }
    }

    /// Whether α, and not s, is what remains of the two in the end: the larger one, α by the usual one or its bound, s by the margin, which is 1.
    fn supports(&self, usual: f64) -> bool {
        self.alpha > self.s * usual.min(self.bound)
    }

    /// α on the bound that it is within a share of; without an upper bound it is measured by the largest α.
    fn settled(&self, close: f64, largest: f64) -> f64 {
        match self.alpha / if self.bound.is_finite() { self.bound } else { largest } {
            share if share < close => 0.0,
            share if share > 1.0 - close && self.bound.is_finite() => self.bound,
            _ => self.alpha,
        }
    }
}

/// The path under way.
pub(super) struct Path<'a, R, L> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    examples: Vec<Interior>,
    /// w, and b behind it where there is one.
    point: Vec<f64>,
}

/// α of a row of usual length by itself: where those without an upper bound begin.
fn alone<R: Rows>(problem: &Binary<'_, R>) -> f64 {
    let total: f64 = problem.examples.iter().map(|e| problem.x.sq_norm(e.row as usize)).sum();
    if total > 0.0 { problem.examples.len() as f64 / total } else { 1.0 }
}

/// How much of the way to the nearest bound is gone.
const ALMOST: f64 = 0.99;

impl<'a, R: Rows, L: Corner> Path<'a, R, L> {
    pub(super) fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let unbounded = alone(problem);
        let start = |example: &Example| {
            let bound = example.cost * loss.steepest();
            let (alpha, xi) = if bound.is_finite() { (0.5 * bound, 1.0) } else { (unbounded, 0.0) };
            Interior { alpha, s: 1.0, xi, bound, margin: 0.0, y: example.y() }
        };
        let examples = problem.examples.iter().map(start).collect();
        Path { problem, loss, limits, examples, point: vec![0.0; problem.size()] }
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut passes = 0;
        let mut best = Certified::nothing(self.problem.x.n_cols());
        let end = loop {
            passes += 1;
            let moved = self.step();
            let certified = self.certify();
            let dual = certified.certificate.dual;
            best.improve(certified);
            let gap = best.certificate.gap();
            break match () {
                () if gap <= self.limits.gap => End::Converged,
                () if dual >= self.limits.dual => End::Diverged,
                () if !monitor.go_on(self.examples.len()) => End::Stopped,
                () if passes >= self.limits.passes => End::PassLimit,
                () if moved < 1e-10 => End::Stalled,
                () => continue,
            };
        };
        Solution::new(best, passes, end)
    }

    /// The path never touches a bound. Where the answer is good enough with α put on the bounds it is close to, that is the answer; where only α as it is proves enough, support vectors are still the rows
    /// whose α does not go to 0.
    fn certify(&self) -> Certified {
        let (w, b) = self.problem.split(&self.point);
        let scores: Vec<f64> = self.examples.iter().map(|e| e.y * e.margin - b).collect();
        let largest = self.examples.iter().map(|e| e.alpha).fold(0.0, f64::max);
        let with = |close: f64| {
            let mut alpha: Vec<f64> = self.examples.iter().map(|e| e.settled(close, largest)).collect();
            self.loss.prove(self.problem, (w, b), &scores, &mut alpha)
        };
        let mut exact = with(0.0);
        if exact.certificate.gap() <= self.limits.gap {
            let settled = with(1e-3);
            if settled.certificate.gap() <= self.limits.gap {
                return settled;
            }
        }
        // The mean of α, each weighed by itself, so that those near 0 have no part in it.
        let power = |k: i32| self.examples.iter().map(|e| e.alpha.powi(k)).sum::<f64>();
        let usual = power(2) / power(1);
        let supporting = |e: &Interior| if e.supports(usual) { e.alpha } else { 0.0 };
        let supporting: Vec<f64> = self.examples.iter().map(supporting).collect();
        exact.certificate.support_vectors = support_vectors(self.problem.examples, &supporting);
        exact
    }

    /// A predictor and a corrector; how far it went, 1 being all the way.
    fn step(&mut self) -> f64 {
        let count = |e: &Interior| if e.bound.is_finite() { 2.0 } else { 1.0 };
        let n: f64 = self.examples.iter().map(count).sum();
        let weights: Vec<f64> = self.examples.par_iter().map(Interior::weight).collect();
        let factor = Normal::new(self.problem, &weights, self.problem.penalised()).factored();
        let still = vec![Move::default(); self.examples.len()];
        let (_, ahead) = self.direction(&factor, 0.0, &still);
        let reach = self.reach(&ahead);
        let products = |t: f64, by: &[Move]| -> f64 {
            self.examples.iter().zip(by).map(|(example, &by)| example.products(by, t)).sum()
        };
        let (now, then) = (products(0.0, &still), products(reach, &ahead));
        let target = (then / now).powi(3) * now / n;
        let (direction, moves) = self.direction(&factor, target, &ahead);
        if !direction.iter().all(|p| p.is_finite()) {
            return 0.0;
        }
        let t = self.reach(&moves);
        self.point.iter_mut().zip(&direction).for_each(|(value, p)| *value += t * p);
        let changes = self.margin_moves(&direction);
        for ((example, by), change) in self.examples.iter_mut().zip(&moves).zip(changes) {
            example.alpha += t * by.alpha;
            example.s += t * by.s;
            example.xi += t * by.xi;
            example.margin += t * change;
        }
        t
    }

    /// y·(Δw·x + Δb)
    fn margin_moves(&self, direction: &[f64]) -> Vec<f64> {
        let (along, lift) = self.problem.split(direction);
        let scores = scores(self.problem, along);
        scores.into_iter().zip(&self.examples).map(|(f, example)| example.y * (f + lift)).collect()
    }

    /// Newton's step towards a target for all products.
    fn direction(&self, factor: &Factor, target: f64, before: &[Move]) -> (Vec<f64>, Vec<Move>) {
        let lacks: Vec<(f64, f64)> = self
            .examples
            .par_iter()
            .zip(before)
            .map(|(example, &before)| example.lacks(target, before))
            .collect();
        let push = |(example, &lacks): (&Interior, &(f64, f64))| {
            example.y * (example.alpha + example.weight() * example.pull(lacks))
        };
        let pushes: Vec<f64> = self.examples.par_iter().zip(&lacks).map(push).collect();
        let mut direction = gradient(self.problem, &pushes);
        let penalised = self.problem.penalised();
        direction.iter_mut().zip(&self.point).take(penalised).for_each(|(g, w)| *g -= w);
        factor.solve(&mut direction);
        let changes = self.margin_moves(&direction);
        let moves =
            |((example, &lacks), change): ((&Interior, &(f64, f64)), f64)| example.moves(lacks, change);
        let moves = self.examples.par_iter().zip(&lacks).zip(changes).map(moves).collect();
        (direction, moves)
    }

    fn reach(&self, moves: &[Move]) -> f64 {
        let longest = |(example, &by): (&Interior, &Move)| example.longest(by);
        (ALMOST * self.examples.par_iter().zip(moves).map(longest).reduce(|| f64::INFINITY, f64::min))
            .min(1.0)
    }
}
