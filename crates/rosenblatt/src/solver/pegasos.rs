//! Stochastic sub-gradient descent with steps 1/(λt).
//!
//! Pegasos: Shalev-Shwartz, Singer, Srebro (2007), ICML, figure 1 with k = 1, and (2011), Mathematical Programming 127. In terms of P, which is 1/λ = Σcᵢ times their
//! objective, step t is w ← (1 − 1/t)·w + n·cᵢ·a/t·yᵢxᵢ with a = −ℓ'(mᵢ): a row that costs more pulls harder. As they found better, rows come in a new random order in every
//! pass instead of by draws.
//!
//! w is a scale times a vector, so that shrinking it costs nothing. It is also Σ αᵢyᵢxᵢ with αᵢ = cᵢ times the mean of a over the visits to row i: Pegasos walks among
//! feasible dual points, and a pass is certified by the α it ends with.
//!
//! From another point w₀ the walk goes on as if it had come there in t₀ steps: a walk of t steps is within G²/t of the square of the way to the optimum, G² being how long steps are, and the gap at
//! w₀ bounds that by 2(P − D). α begins near what suits w₀, and what w₀ has beyond Σ αᵢyᵢxᵢ shrinks as all else does.
//!
//! A regularized bias is one more weight. A free one takes the same steps without being shrunk, for which the paper (section 4) promises no fast rate; at
//! the end of a pass the best bias for w takes its place.

use super::certificate::{best_bias, dual_at, evaluate, gradient, scores};
use super::nearest::alpha_near;
use super::{Binary, Certified, DescentLoss, End, Example, Limits, Method, Solution};
use crate::data::Rows;
use crate::learner::Bias;
use crate::rng::Rng;
use crate::watch::Monitor;

/// Pegasos on a loss.
pub(crate) struct Pegasos<L> {
    pub(crate) loss: L,
    /// Whether the answer is a mean over late passes.
    pub(crate) average: bool,
    /// Whether w is brought back into the ball that the optimum lies in.
    pub(crate) project: bool,
}

impl<L: DescentLoss> Method for Pegasos<L> {
    fn title(&self) -> String {
        "stochastic sub-gradient descent, steps of 1/(λt)".to_owned()
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        Walk::new(problem, self, limits).solve(monitor)
    }
}

/// The descent under way.
struct Walk<'a, R, L> {
    problem: &'a Binary<'a, R>,
    method: &'a Pegasos<L>,
    limits: Limits,
    order: Vec<u32>,
    t: f64,
    /// w and α are this times `u` and `beta`; behind these, where there is one, the share of the start's rest.
    scale: f64,
    u: Vec<f64>,
    beta: Vec<f64>,
    /// What the start has beyond the sum over its α.
    rest: Vec<f64>,
    /// b; where it is regularized, b over the scale.
    bias: f64,
    /// ‖w‖², kept for the projection.
    square: f64,
    /// The square of the ball's radius: ‖w*‖² ≤ 1/λ.
    ball: f64,
    mean: Mean,
}

/// Below this the scale is multiplied out, long before it is no number any more.
const SMALL: f64 = 1e-12;

impl<'a, R: Rows, L: DescentLoss> Walk<'a, R, L> {
    fn new(problem: &'a Binary<'a, R>, method: &'a Pegasos<L>, limits: Limits) -> Self {
        let n = problem.examples.len();
        let mut walk = Walk {
            problem,
            method,
            limits,
            order: (0..n as u32).collect(),
            t: calm(problem, L::CURVATURE.unwrap_or(0.0)),
            scale: 1.0,
            u: vec![0.0; problem.x.n_cols()],
            beta: vec![0.0; n],
            rest: Vec::new(),
            bias: 0.0,
            square: 0.0,
            ball: problem.examples.iter().map(|e| e.cost).sum(),
            mean: Mean { sum: vec![0.0; n], count: 0 },
        };
        if problem.start.is_some() {
            walk.start_near();
        }
        walk
    }

    /// As if the walk had come to the start.
    fn start_near(&mut self) {
        let (problem, loss) = (self.problem, self.method.loss);
        let (point, scores) = problem.beginning();
        let margins: Vec<f64> =
            problem.examples.iter().zip(&scores).map(|(e, score)| e.y() * score).collect();
        self.beta = alpha_near(problem, loss, &point, &margins);
        let signed: Vec<f64> = problem.examples.iter().zip(&self.beta).map(|(e, a)| e.y() * a).collect();
        self.rest = gradient(problem, &signed);
        self.rest.iter_mut().zip(&point).for_each(|(rest, w)| *rest = w - *rest);
        self.beta.push(1.0);
        let (w, b) = problem.split(&point);
        (self.u, self.bias) = (w.to_vec(), b);
        self.square = w.iter().map(|w| w * w).sum();
        let certificate = self.certify(self.beta.clone()).certificate;
        let pull = |(e, &margin): (&Example, &f64)| {
            (e.cost * loss.slope(margin)).powi(2) * problem.x.sq_norm(e.row as usize)
        };
        let length = self.n_examples() * problem.examples.iter().zip(&margins).map(pull).sum::<f64>();
        let steps = length / (2.0 * (certificate.primal - certificate.dual)).max(f64::MIN_POSITIVE);
        // A start that is no number, or beyond all numbers, ends the walk at its first pass.
        self.t = self.t.max(1.0).max(steps.min(1e15));
    }

    fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut best = self.certify(self.beta.clone());
        if best.certificate.gap() <= self.limits.gap {
            return Solution::new(best, 0, End::Converged);
        }
        let mut passes = 0;
        let end = loop {
            passes += 1;
            let on = self.pass(passes, monitor);
            self.settle_bias();
            let alpha = self.alpha(passes);
            let certified = self.certify(alpha);
            let lost = !certified.certificate.primal.is_finite();
            best.improve(certified);
            match () {
                () if best.certificate.gap() <= self.limits.gap => break End::Converged,
                () if !on => break End::Stopped,
                () if lost => break End::Stalled,
                () if passes >= self.limits.passes => break End::PassLimit,
                () => {}
            }
        };
        Solution::new(best, passes, end)
    }

    /// A step along each row; false if stopped on the way.
    fn pass(&mut self, pass: usize, monitor: &Monitor<'_>) -> bool {
        let mut order = std::mem::take(&mut self.order);
        Rng::stream(self.limits.seed, pass as u64).shuffle(&mut order);
        let on = order.chunks(Monitor::BLOCK).all(|block| {
            block.iter().for_each(|&i| self.step(i as usize));
            monitor.go_on(block.len())
        });
        self.order = order;
        on
    }

    fn step(&mut self, i: usize) {
        let (x, e) = (self.problem.x, self.problem.examples[i]);
        let (y, row) = (e.y(), e.row as usize);
        let score = self.scale * x.dot(row, &self.u);
        let margin = y * (score + self.b());
        self.t += 1.0;
        // The first step shrinks by 0 what is 0.
        let shrink = if self.t > 1.0 { 1.0 - 1.0 / self.t } else { 1.0 };
        self.scale *= shrink;
        self.square *= shrink * shrink;
        let pull = self.n_examples() * e.cost * -self.method.loss.slope(margin) / self.t;
        if pull > 0.0 {
            self.square += pull * (2.0 * y * score * shrink + pull * x.sq_norm(row));
            x.axpy(y * pull / self.scale, row, &mut self.u);
            self.beta[i] += pull / self.scale;
            self.bias += match self.problem.bias {
                Bias::Free => y * pull,
                Bias::Regularized => y * pull / self.scale,
                Bias::None => 0.0,
            };
        }
        if self.method.project {
            self.project();
        }
        if self.scale < SMALL {
            self.multiply_out();
        }
    }

    /// n, the number of rows.
    fn n_examples(&self) -> f64 {
        self.problem.examples.len() as f64
    }

    fn b(&self) -> f64 {
        if self.problem.bias == Bias::Regularized { self.scale * self.bias } else { self.bias }
    }

    /// Back into the ball of radius 1/√λ.
    fn project(&mut self) {
        let own = if self.problem.bias == Bias::Regularized { self.b().powi(2) } else { 0.0 };
        if self.square + own > self.ball {
            let factor = (self.ball / (self.square + own)).sqrt();
            self.scale *= factor;
            self.square *= factor * factor;
        }
    }

    fn multiply_out(&mut self) {
        let scale = self.scale;
        self.u.iter_mut().chain(&mut self.beta).for_each(|value| *value *= scale);
        if self.problem.bias == Bias::Regularized {
            self.bias *= scale;
        }
        self.scale = 1.0;
    }

    /// The best free bias for w, in place of the one that steps came to.
    fn settle_bias(&mut self) {
        if self.problem.bias == Bias::Free {
            let scores: Vec<f64> = scores(self.problem, &self.u).iter().map(|f| self.scale * f).collect();
            self.bias = best_bias(self.method.loss, self.problem.examples, &scores, self.bias);
        }
    }

    /// α of the answer after a pass.
    fn alpha(&mut self, pass: usize) -> Vec<f64> {
        let alpha = self.beta.iter().map(|beta| self.scale * beta).collect();
        if self.method.average { self.mean.with(pass, alpha) } else { alpha }
    }

    /// The point that is Σ αᵢyᵢxᵢ, and what α proves of it.
    fn certify(&self, mut alpha: Vec<f64>) -> Certified {
        let (problem, loss) = (self.problem, self.method.loss);
        let signed: Vec<f64> = problem.examples.iter().zip(&alpha).map(|(e, a)| e.y() * a).collect();
        let mut point = gradient(problem, &signed);
        let shares = alpha.split_off(problem.examples.len());
        for share in shares {
            point.iter_mut().zip(&self.rest).for_each(|(w, rest)| *w += share * rest);
        }
        let (w, sum) = problem.split(&point);
        let scores = scores(problem, w);
        let b = match problem.bias {
            Bias::Free => best_bias(loss, problem.examples, &scores, self.bias),
            _ => sum,
        };
        // A pass that was stopped may have come to a row more often than to others.
        alpha.iter_mut().zip(problem.examples).for_each(|(a, e)| *a = a.min(e.cost * loss.steepest()));
        let dual = dual_at(problem, loss, &mut alpha);
        let certificate = evaluate(problem, loss, w, b, &scores, &alpha, dual);
        Certified { w: w.to_vec(), b, certificate, scores: Vec::new() }
    }
}

/// How many steps a smooth loss must be behind from the start: earlier ones, longer than its curvature bears, would fly away.
fn calm<R: Rows>(problem: &Binary<'_, R>, curvature: f64) -> f64 {
    let lift = f64::from(u8::from(problem.bias.is_lifted()));
    let term = |e: &Example| e.cost * (problem.x.sq_norm(e.row as usize) + lift);
    let largest = problem.examples.iter().map(term).fold(0.0, f64::max);
    curvature * problem.examples.len() as f64 * largest
}

/// The mean over late passes. It begins anew at passes 1, 2, 4, 8, …, so that it holds up to the last half of all without the number of passes being known.
struct Mean {
    sum: Vec<f64>,
    count: usize,
}

impl Mean {
    /// The mean with one more.
    fn with(&mut self, pass: usize, one: Vec<f64>) -> Vec<f64> {
        if pass.is_power_of_two() {
            *self = Mean { sum: one.clone(), count: 1 };
            return one;
        }
        self.count += 1;
        self.sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
        self.sum.iter().map(|sum| sum / self.count as f64).collect()
    }
}
