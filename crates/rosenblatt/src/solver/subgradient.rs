//! Batch sub-gradient descent.
//!
//! From w = 0, step t = 0, 1, … is w ← w − η/√(t+1)·g with g a sub-gradient of P at w: Shor (1985), Minimization Methods for Non-differentiable Functions,
//! chapter 2. A step may lead uphill, so that the best point met is the answer.
//!
//! With the slopes aᵢ = −cᵢ·ℓ'(mᵢ), a step is w ← (1 − ηₜ)·w + ηₜ·Σ aᵢyᵢxᵢ: w is a mean of what slopes made of the rows. The same mean of the slopes, α, is the dual
//! point for hinge, whose slopes at one point are all or nothing where the optimal α lie in between. For a smooth loss the slopes at the point itself are often better, so
//! that both are tried.
//!
//! From another point the mean begins at α that suit it. P is strongly convex in w: with ½‖w − w*‖² ≤ P − D they also tell how far steps need to go.

use super::certificate::{dual_at, evaluate, gradient, primal_at, scores};
use super::nearest::alpha_near;
use super::{Binary, Certified, DualLoss, End, Example, Limits, Method, Solution};
use crate::data::Rows;
use crate::loss::{Hinge, SquaredHinge};
use crate::rng::Rng;
use crate::watch::Monitor;

/// A loss that steps of a length fixed beforehand descend on.
pub(crate) trait DescentLoss: DualLoss {
    /// The most its slope changes by where the margin changes by 1, if it is smooth.
    const CURVATURE: Option<f64>;
}

impl DescentLoss for Hinge {
    const CURVATURE: Option<f64> = None;
}

impl DescentLoss for SquaredHinge {
    const CURVATURE: Option<f64> = Some(2.0);
}

/// Sub-gradient descent on a loss.
pub(crate) struct Subgradient<L> {
    pub(crate) loss: L,
    /// η; without one the data decides.
    pub(crate) rate: Option<f64>,
}

impl<L: DescentLoss> Method for Subgradient<L> {
    fn title(&self) -> String {
        let rate = self.rate.map_or("by the data".to_owned(), |eta| format!("= {eta}"));
        format!("batch sub-gradient descent (η {rate})")
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        Descent::new(problem, self.loss, self.rate, limits).solve(monitor)
    }
}

/// η where none is given, at most 1, which is what ½‖w‖² by itself bears. For a smooth loss two over the curvature of P: longer steps fly away. Otherwise how far the optimum can be, twice the
/// radius of the ball ‖w‖² ≤ Σcᵢ it lies in or `reach`, over how long a sub-gradient can be (Nesterov 2004, Introductory Lectures on Convex Optimization, section 3.2.3).
fn rate_of<L: DescentLoss, R: Rows>(problem: &Binary<'_, R>, reach: f64) -> f64 {
    if let Some(curvature) = L::CURVATURE {
        return 2.0 / (1.0 + curvature * stretch(problem)).max(2.0);
    }
    let lift = f64::from(u8::from(problem.bias.is_lifted()));
    let length = |e: &Example| (problem.x.sq_norm(e.row as usize) + lift).sqrt();
    let costs: f64 = problem.examples.iter().map(|e| e.cost).sum();
    let longest: f64 = problem.examples.iter().map(|e| e.cost * length(e)).sum();
    ((2.0 * costs.sqrt()).min(reach) / longest).min(1.0)
}

/// The largest eigenvalue of Σ cᵢxᵢxᵢᵀ, by the power method from a random start; close enough for a step that shrinks anyway.
fn stretch<R: Rows>(problem: &Binary<'_, R>) -> f64 {
    let mut rng = Rng::new(0);
    let mut v: Vec<f64> = (0..problem.size()).map(|_| rng.uniform() - 0.5).collect();
    let mut largest = 0.0;
    for _ in 0..20 {
        let (w, b) = problem.split(&v);
        let scores = scores(problem, w);
        let factors: Vec<f64> =
            problem.examples.iter().zip(scores).map(|(e, score)| e.cost * (score + b)).collect();
        v = gradient(problem, &factors);
        largest = v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if largest == 0.0 {
            break;
        }
        v.iter_mut().for_each(|v| *v /= largest);
    }
    largest
}

/// The descent under way.
struct Descent<'a, R, L> {
    problem: &'a Binary<'a, R>,
    loss: L,
    rate: f64,
    limits: Limits,
    /// w, and b behind it where there is one.
    point: Vec<f64>,
    /// w·x of each example.
    scores: Vec<f64>,
    /// The mean of the slopes.
    alpha: Vec<f64>,
    /// P at each point so far.
    costs: Vec<f64>,
    best: Best,
}

/// The best met, each on its side.
struct Best {
    primal: f64,
    point: Vec<f64>,
    dual: f64,
    alpha: Vec<f64>,
}

/// Steps between two looks at the dual.
const CERTIFY_EVERY: usize = 10;

/// Beyond this a step is lost: sums of squares would not be numbers.
const LOST: f64 = 1e154;

impl<'a, R: Rows, L: DescentLoss> Descent<'a, R, L> {
    fn new(problem: &'a Binary<'a, R>, loss: L, rate: Option<f64>, limits: Limits) -> Self {
        let (point, _) = problem.beginning();
        let (w, b) = problem.split(&point);
        let zeros = vec![0.0; problem.examples.len()];
        let scores = if problem.start.is_some() { scores(problem, w) } else { zeros.clone() };
        let primal = primal_at(problem, loss, w, b, &scores);
        let best = Best { primal, point: point.clone(), dual: 0.0, alpha: zeros.clone() };
        let (costs, alpha) = (vec![primal], zeros);
        let mut descent = Descent { problem, loss, rate: 0.0, limits, point, scores, alpha, costs, best };
        let mut reach = f64::INFINITY;
        if problem.start.is_some() {
            descent.start_near();
            reach = (2.0 * (descent.best.primal - descent.best.dual)).max(0.0).sqrt();
        }
        descent.rate = rate.unwrap_or_else(|| rate_of::<L, R>(problem, reach));
        descent
    }

    /// α from the margins of the start.
    fn start_near(&mut self) {
        let (_, b) = self.problem.split(&self.point);
        let rows = self.problem.examples.iter().zip(&self.scores);
        let margins: Vec<f64> = rows.map(|(e, score)| e.y() * (score + b)).collect();
        self.alpha = alpha_near(self.problem, self.loss, &self.point, &margins);
        self.look_at_dual();
    }

    fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut steps = 0;
        let end = loop {
            if self.is_done() {
                break End::Converged;
            }
            let found = self.step(steps);
            steps += 1;
            let on = monitor.go_on(self.problem.examples.len());
            let last = !on || !found || steps >= self.limits.passes;
            if last || steps % CERTIFY_EVERY == 0 {
                self.look_at_dual();
            }
            match () {
                () if self.is_done() => break End::Converged,
                () if !on => break End::Stopped,
                () if !found => break End::Stalled,
                () if last => break End::PassLimit,
                () => {}
            }
        };
        let certified = self.certified();
        Solution { costs: self.costs, ..Solution::new(certified, steps, end) }
    }

    fn is_done(&self) -> bool {
        self.best.primal - self.best.dual <= self.limits.gap * self.best.primal
    }

    /// Step t; false where it went astray.
    fn step(&mut self, t: usize) -> bool {
        let (problem, loss) = (self.problem, self.loss);
        let rate = self.rate / (t as f64 + 1.0).sqrt();
        let slopes = self.slopes();
        let factors: Vec<f64> = problem.examples.iter().zip(&slopes).map(|(e, a)| -e.y() * a).collect();
        let mut direction = gradient(problem, &factors);
        direction.iter_mut().zip(&self.point).take(problem.penalised()).for_each(|(g, w)| *g += w);
        self.point.iter_mut().zip(&direction).for_each(|(w, g)| *w -= rate * g);
        let share = rate.min(1.0);
        self.alpha.iter_mut().zip(&slopes).for_each(|(mean, a)| *mean += share * (a - *mean));
        let (w, b) = problem.split(&self.point);
        self.scores = scores(problem, w);
        let cost = primal_at(problem, loss, w, b, &self.scores);
        let found = cost < LOST;
        if found {
            self.costs.push(cost);
        }
        if cost < self.best.primal {
            self.best.primal = cost;
            self.best.point.clone_from(&self.point);
        }
        found
    }

    /// −cᵢ·ℓ' of each example at the point.
    fn slopes(&self) -> Vec<f64> {
        let (_, b) = self.problem.split(&self.point);
        let slope = |(e, score): (&Example, &f64)| -e.cost * self.loss.slope(e.y() * (score + b));
        self.problem.examples.iter().zip(&self.scores).map(slope).collect()
    }

    fn look_at_dual(&mut self) {
        for mut alpha in [self.alpha.clone(), self.slopes()] {
            let dual = dual_at(self.problem, self.loss, &mut alpha);
            if dual > self.best.dual {
                (self.best.dual, self.best.alpha) = (dual, alpha);
            }
        }
    }

    fn certified(&self) -> Certified {
        let Best { point, alpha, dual, .. } = &self.best;
        let (w, b) = self.problem.split(point);
        let scores = scores(self.problem, w);
        let certificate = evaluate(self.problem, self.loss, w, b, &scores, alpha, *dual);
        Certified { w: w.to_vec(), b, certificate, scores: Vec::new() }
    }
}
