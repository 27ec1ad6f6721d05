//! Newton's method, for smooth losses.
//!
//! Minimises P(w, b) itself. With few features 1 + Σ cᵢ·ℓ''(mᵢ)·xᵢxᵢᵀ costs n·d²/2 and is factored in d³/6, so that a dozen steps solve what coordinate descent
//! creeps along when columns differ in scale. With more the system is solved by conjugate gradients as far as it pays (Lin, Weng, Keerthi 2008), preconditioned by
//! the factor of the same sum over a sample of the rows, or by its diagonal. αᵢ = −cᵢ·ℓ'(mᵢ) are the dual variables of the point.

use rayon::prelude::*;

use super::certificate::{self, BLOCK, Certified, curve, dual_at, scores};
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
        let (point, scores) = problem.beginning();
        let at = Evaluation::of(problem, loss, &point, &scores);
        Newton { problem, loss, limits, point, scores, at, sampled: None }
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let (mut passes, mut summed_anew) = (0, false);
        let (certified, end) = loop {
            if self.is_there() {
                let certified = self.certify();
                if certified.certificate.gap() <= self.limits.gap {
                    break (certified, End::Converged);
                }
                if summed_anew {
                    break (certified, End::Stalled);
                }
                // Scores that were added up step by step had too large an error.
                summed_anew = true;
                self.sum_anew();
                continue;
            }
            if passes >= self.limits.passes {
                break (self.certify(), End::PassLimit);
            }
            passes += 1;
            while !self.is_there()
                && let Some(nearer) = self.loss.nearer(&self.at, self.limits.gap)
            {
                self.loss = nearer;
                self.at = Evaluation::of(self.problem, self.loss, &self.point, &self.scores);
            }
            if self.is_there() {
                continue;
            }
            if !self.step() {
                break (self.certify(), End::Stalled);
            }
            if !self.is_there() && !monitor.go_on(self.problem.examples.len()) {
                break (self.certify(), End::Stopped);
            }
        };
        // What was known on the way may have been a little too careful.
        let proved = certified.certificate.gap() <= self.limits.gap;
        Solution::new(certified, passes, if proved { End::Converged } else { end })
    }

    /// Whether the gap is small enough, as far as is known without summing anew.
    fn is_there(&self) -> bool {
        self.at.gap <= self.limits.gap
    }

    fn sum_anew(&mut self) {
        let (w, b) = self.problem.split(&self.point);
        self.scores = scores(self.problem, w).into_iter().map(|score| score + b).collect();
        self.at = Evaluation::of(self.problem, self.loss, &self.point, &self.scores);
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

    /// Moves along a direction to where P hardly falls any more. That is nearly always a whole step; if not, the place is looked for by the scores alone.
    fn search(&mut self, direction: &[f64], slope: f64) -> bool {
        let (along, lift) = self.problem.split(direction);
        let moves: Vec<f64> = scores(self.problem, along).into_par_iter().map(|f| f + lift).collect();
        let mut next = self.moved(direction, &moves, 1.0);
        let is_flat = conjugate_gradient::dot(&next.2.gradient, direction).abs() <= 0.5 * slope.abs();
        // What is not a number is no progress.
        let falls = |at: &Evaluation| at.value < self.at.value;
        if !(is_flat && falls(&next.2)) {
            let mut t = Line::new(self, direction, &moves).flat(slope);
            loop {
                next = self.moved(direction, &moves, t);
                t *= 0.5;
                match () {
                    () if falls(&next.2) => break,
                    () if t < 1e-12 => return false,
                    () => {}
                }
            }
        }
        (self.point, self.scores, self.at) = next;
        true
    }

    /// The point, the scores and what they are worth after a step.
    fn moved(&self, direction: &[f64], moves: &[f64], t: f64) -> (Vec<f64>, Vec<f64>, Evaluation) {
        let point: Vec<f64> = self.point.iter().zip(direction).map(|(value, p)| value + t * p).collect();
        let scores: Vec<f64> = self.scores.par_iter().zip(moves).map(|(f, p)| f + t * p).collect();
        let at = Evaluation::of(self.problem, self.loss, &point, &scores);
        (point, scores, at)
    }
}

/// P along a line, a convex function of how far one goes.
struct Line<'a, L> {
    loss: L,
    examples: &'a [Example],
    scores: &'a [f64],
    moves: &'a [f64],
    /// Slope and curvature of ½‖w‖² at the start.
    norm: (f64, f64),
}

impl<'a, L: SmoothLoss> Line<'a, L> {
    fn new<R: Rows>(newton: &'a Newton<'a, R, L>, direction: &[f64], moves: &'a [f64]) -> Self {
        let penalised = &direction[..newton.problem.penalised()];
        let norm = (
            conjugate_gradient::dot(&newton.point[..penalised.len()], penalised),
            conjugate_gradient::dot(penalised, penalised),
        );
        Line { loss: newton.loss, examples: newton.problem.examples, scores: &newton.scores, moves, norm }
    }

    /// The first two derivatives.
    fn derivatives(&self, t: f64) -> (f64, f64) {
        let block = |((examples, scores), moves): ((&[Example], &[f64]), &[f64])| {
            let mut sums = (0.0, 0.0);
            for ((e, f), p) in examples.iter().zip(scores).zip(moves) {
                let bend = self.loss.bend(e.y() * (f + t * p));
                sums.0 += e.cost * bend.slope * e.y() * p;
                sums.1 += e.cost * bend.curvature * p * p;
            }
            sums
        };
        let blocks = self.examples.par_chunks(BLOCK).zip(self.scores.par_chunks(BLOCK));
        let blocks: Vec<(f64, f64)> = blocks.zip(self.moves.par_chunks(BLOCK)).map(block).collect();
        let start = (self.norm.0 + t * self.norm.1, self.norm.1);
        blocks.into_iter().fold(start, |sum, block| (sum.0 + block.0, sum.1 + block.1))
    }

    /// Where the slope is a small part of what it is at the start, by Newton's steps inside a bracket that halves where they leave it.
    fn flat(&self, start: f64) -> f64 {
        const STEPS: usize = 30;
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..STEPS {
            let (slope, curvature) = self.derivatives(t);
            if slope.abs() <= 0.1 * start.abs() {
                break;
            }
            *(if slope > 0.0 { &mut high } else { &mut low }) = t;
            let next = t - slope / curvature;
            t = match () {
                () if next > low && next < high && next < 8.0 * t => next,
                () if high.is_finite() => 0.5 * (low + high),
                () => 2.0 * t,
            };
        }
        t
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
