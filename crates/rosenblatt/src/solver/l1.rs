//! Coordinate descent by columns under an L1 penalty, for smooth losses.
//!
//! ```text
//! P(w, b) = ‖w‖₁ + Σ cᵢ·ℓ(yᵢ(w·xᵢ + b))
//! D(α)    = −Σ cᵢ·ℓ*(−αᵢ/cᵢ)                  |Σ αᵢyᵢxᵢⱼ| ≤ 1 for each j, Σ αᵢyᵢ = 0 where there is a bias
//! ```
//!
//! CDN: Yuan, Chang, Hsieh, Lin (2010), JMLR 11, section 4: a Newton step in one weight at a time with a line search, and weights left alone that are 0 and want to
//! stay there. A bias is one more column of ones that is not penalised. The slopes at the point, made to sum to 0 and scaled down until they are feasible, are the dual point.

use super::certificate::{Certified, dual_at_l1, evaluate, risk_at, scores};
use super::{Binary, Certificate, End, Example, Limits, Method, SmoothLoss, Solution};
use crate::data::{Float, Rows};
use crate::learner::Bias;
use crate::loss::MarginLoss;
use crate::rng::Rng;
use crate::watch::Monitor;

/// A smooth loss under an L1 penalty.
pub(crate) struct L1<L> {
    pub(crate) loss: L,
}

impl<L: SmoothLoss + MarginLoss> Method for L1<L> {
    fn title(&self) -> String {
        "coordinate descent by columns (penalty l1)".to_owned()
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        if R::SINGLE {
            Descent::<R, L, f32>::new(problem, self.loss, limits).solve(monitor)
        } else {
            Descent::<R, L, f64>::new(problem, self.loss, limits).solve(monitor)
        }
    }
}

/// The entries of the examples by column: position among the examples and value.
struct Columns<T> {
    starts: Vec<usize>,
    entries: Vec<(u32, T)>,
}

impl<T: Float> Columns<T> {
    fn new<R: Rows>(problem: &Binary<'_, R>) -> Self {
        let mut starts = vec![0; problem.x.n_cols() + 1];
        let each = |of: &mut dyn FnMut(usize, usize, f64)| {
            for (i, example) in problem.examples.iter().enumerate() {
                problem.x.each(example.row as usize, |j, value| {
                    if value != 0.0 {
                        of(i, j, value);
                    }
                });
            }
        };
        each(&mut |_, j, _| starts[j + 1] += 1);
        (1..starts.len()).for_each(|j| starts[j] += starts[j - 1]);
        let mut next = starts.clone();
        let mut entries = vec![(0, T::narrow(0.0)); starts.last().copied().unwrap_or(0)];
        each(&mut |i, j, value| {
            entries[next[j]] = (i as u32, T::narrow(value));
            next[j] += 1;
        });
        Columns { starts, entries }
    }

    fn column(&self, j: usize) -> &[(u32, T)] {
        &self.entries[self.starts[j]..self.starts[j + 1]]
    }
}

/// The descent under way.
struct Descent<'a, R, L, T> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    columns: Columns<T>,
    /// Columns; those before `active` are visited.
    order: Vec<u32>,
    active: usize,
    w: Vec<f64>,
    b: f64,
    /// w·x + b of each example.
    scores: Vec<f64>,
}

/// The share of the promised decrease that a step must bring.
const SUFFICIENT: f64 = 0.01;

impl<'a, R: Rows, L: SmoothLoss + MarginLoss, T: Float> Descent<'a, R, L, T> {
    fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let d = problem.x.n_cols();
        let (point, scores) = problem.beginning();
        let (w, b) = problem.split(&point);
        Descent {
            problem,
            loss,
            limits,
            columns: Columns::new(problem),
            order: (0..d as u32).collect(),
            active: d,
            w: w.to_vec(),
            b,
            scores,
        }
    }

    fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut best = self.certify();
        let (mut passes, mut enough, mut last) = (0, f64::INFINITY, f64::INFINITY);
        let end = loop {
            if best.certificate.gap() <= self.limits.gap {
                break End::Converged;
            }
            passes += 1;
            let whole = self.active == self.order.len();
            let violation = self.pass(passes, last);
            last = violation;
            let on = monitor.go_on(self.problem.examples.len());
            let stop = !on || passes >= self.limits.passes;
            if violation <= enough || stop {
                // Good enough on the weights still visited: what do all say?
                best.improve(self.certify());
                if violation > 0.0 {
                    enough = 0.3 * violation;
                }
                (self.active, last) = (self.order.len(), f64::INFINITY);
            }
            match () {
                () if best.certificate.gap() <= self.limits.gap => break End::Converged,
                () if !on => break End::Stopped,
                () if stop => break End::PassLimit,
                () if whole && violation < 1e-15 => break End::Stalled,
                () => {}
            }
        };
        Solution::new(best, passes, end)
    }

    /// A step in each weight that is not left alone; the largest violation met. Weights that lie deeper within their bounds than the last one are left alone.
    fn pass(&mut self, pass: usize, last: f64) -> f64 {
        Rng::stream(self.limits.seed, pass as u64).shuffle(&mut self.order[..self.active]);
        let inside = 1.0 - last / self.problem.examples.len().max(1) as f64;
        let mut largest = self.move_bias();
        let mut at = 0;
        while at < self.active {
            let j = self.order[at] as usize;
            let (slope, curvature) = self.derivatives(j);
            if self.w[j] == 0.0 && slope.abs() < inside {
                self.active -= 1;
                self.order.swap(at, self.active);
                continue;
            }
            largest = largest.max(violation(self.w[j], slope));
            self.move_weight(j, slope, curvature);
            at += 1;
        }
        largest
    }

    /// The first two derivatives of the risk in a weight.
    fn derivatives(&self, j: usize) -> (f64, f64) {
        let (mut slope, mut curvature) = (0.0, 1e-12);
        for &(i, x) in self.columns.column(j) {
            let (e, x) = (&self.problem.examples[i as usize], x.wide());
            let margin = e.y() * self.scores[i as usize];
            let bend = self.loss.bend(margin, L::Memory::default());
            slope += e.cost * bend.slope * e.y() * x;
            curvature += e.cost * bend.curvature * x * x;
        }
        (slope, curvature)
    }

    fn move_weight(&mut self, j: usize, slope: f64, curvature: f64) {
        let w = self.w[j];
        let step = match () {
            () if slope + 1.0 <= curvature * w => -(slope + 1.0) / curvature,
            () if slope - 1.0 >= curvature * w => -(slope - 1.0) / curvature,
            () => -w,
        };
        if step == 0.0 {
            return;
        }
        let entries = self.columns.column(j).iter().map(|&(i, x)| (i as usize, x.wide()));
        let penalty = |step: f64| (w + step).abs() - w.abs();
        let promised = slope * step + penalty(step);
        if let Some(step) = self.search(entries.clone(), step, promised, penalty) {
            entries.for_each(|(i, x)| self.scores[i] += step * x);
            self.w[j] = w + step;
        }
    }

    /// A step in the bias; how large the slope was before.
    fn move_bias(&mut self) -> f64 {
        if self.problem.bias != Bias::Free {
            return 0.0;
        }
        let (mut slope, mut curvature) = (0.0, 1e-12);
        for (e, score) in self.problem.examples.iter().zip(&self.scores) {
            let bend = self.loss.bend(e.y() * score, L::Memory::default());
            slope += e.cost * e.y() * bend.slope;
            curvature += e.cost * bend.curvature;
        }
        let step = -slope / curvature;
        let all = (0..self.scores.len()).map(|i| (i, 1.0));
        if let Some(step) = self.search(all, step, slope * step, |_| 0.0) {
            self.scores.iter_mut().for_each(|score| *score += step);
            self.b += step;
        }
        slope.abs()
    }

    /// The longest of step, step/2, step/4, … that brings its share of what was promised.
    fn search(
        &self,
        entries: impl Iterator<Item = (usize, f64)> + Clone,
        step: f64,
        promised: f64,
        penalty: impl Fn(f64) -> f64,
    ) -> Option<f64> {
        let enough = |share: f64| {
            let step = share * step;
            let (mut change, mut size) = (penalty(step), 0.0);
            for (i, x) in entries.clone() {
                let (e, score) = (&self.problem.examples[i], self.scores[i]);
                let value = |score: f64| e.cost * self.loss.value(e.y() * score);
                change += value(score + step * x) - value(score);
                size += value(score);
            }
            // Near the optimum the change is smaller than the rounding of what it is the difference of.
            change <= SUFFICIENT * share * promised + f64::EPSILON * size
        };
        (0..40).map(|k| 0.5f64.powi(k)).find(|&share| enough(share)).map(|share| share * step)
    }

    /// The gap at this point, whose scores are summed anew on the way.
    fn certify(&mut self) -> Certified {
        let (problem, loss, b) = (self.problem, self.loss, self.b);
        let without = scores(problem, &self.w);
        self.scores = without.iter().map(|score| score + b).collect();
        let slope = |(e, score): (&Example, &f64)| -e.cost * loss.slope(e.y() * score);
        let mut alpha: Vec<f64> = problem.examples.iter().zip(&self.scores).map(slope).collect();
        let dual = dual_at_l1(problem, loss, &mut alpha);
        let primal = self.w.iter().map(|w| w.abs()).sum::<f64>() + risk_at(problem, loss, b, &without);
        let certificate = evaluate(problem, loss, &self.w, b, &without, &alpha, dual);
        Certified {
            w: self.w.clone(),
            b,
            certificate: Certificate { primal, ..certificate },
            scores: Vec::new(),
        }
    }
}

/// How far 0 is from the sub-gradients of P in a weight, given the slope of the risk.
fn violation(w: f64, slope: f64) -> f64 {
    if w == 0.0 { (slope.abs() - 1.0).max(0.0) } else { (slope + w.signum()).abs() }
}
