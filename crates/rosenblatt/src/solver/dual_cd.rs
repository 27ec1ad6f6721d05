//! Dual coordinate descent.
//!
//! Maximises D(α) one αᵢ at a time, with w = Σ αᵢyᵢxᵢ kept up to date: Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), ICML, algorithms 1 and 3, with
//! their shrinking. Logistic loss: Yu, Huang, Lin (2011), Machine Learning 85, algorithm 5, with a bracket around Newton's steps.
//!
//! A free bias is a constraint Σ αᵢyᵢ = 0 on α, met by the method of multipliers: with s = Σ αᵢyᵢ the constraint costs μ·s + σ/2·s², which is a bias
//! b = μ + σ·s for the coordinate at hand; after every epoch μ becomes b (Bertsekas 1982). So a bias costs one number.
//!
//! Blocks of neighbouring rows come in a new random order in every epoch: random enough, and memory is read in runs. Between certificates, which need all rows, the sum of cᵢ·ℓ(mᵢ) + cᵢ·ℓ*(−αᵢ/cᵢ) + αᵢ·mᵢ over the rows met tells the
//! gap: each term is what the row adds to P − D.

use super::certificate::{Certified, certify, conjugate};
use super::{Binary, End, Example, Limits, Solution};
use crate::data::Rows;
use crate::learner::Bias;
use crate::loss::{Hinge, Logistic, MarginLoss, SquaredHinge};
use crate::rng::Rng;
use crate::simd::prefetch;
use crate::watch::Monitor;

/// A loss whose dual can be maximised in one coordinate.
pub(crate) trait DualLoss: MarginLoss {
    /// Where α is best, given its margin and the curvature q = ‖x‖² of the rest.
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64;
    /// Where α begins.
    fn start(self, _cost: f64) -> f64 {
        0.0
    }
    /// α near the best for a row of this margin, where another solution is to start from.
    fn near(self, cost: f64, _margin: f64) -> f64 {
        self.start(cost)
    }
    /// The slope of −D at α: negative where α should grow.
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> f64;
    /// Whether optimal α often lie on a bound, where they can be left alone.
    const SHRINKS: bool;
    /// Passes between two certificates at the most.
    const PATIENCE: usize = 50;
    /// What α proves, made feasible first, with the bias there or near by.
    fn certify<R: Rows>(self, problem: &Binary<'_, R>, alpha: &mut [f64], bias: f64) -> Certified {
        certify(problem, self, alpha, bias)
    }
}

impl DualLoss for Hinge {
    const SHRINKS: bool = true;

    #[inline]
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        (alpha - (margin - 1.0) / q).clamp(0.0, cost)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        // At the margin itself any α will do.
        const AROUND: f64 = 0.05;
        cost * (0.5 - 0.5 * (margin - 1.0) / AROUND).clamp(0.0, 1.0)
    }
    #[inline]
    fn gradient(self, _: f64, _: f64, margin: f64) -> f64 {
        margin - 1.0
    }
}

impl DualLoss for SquaredHinge {
    const SHRINKS: bool = true;

    #[inline]
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        let own = 0.5 / cost;
        (alpha - (margin - 1.0 + alpha * own) / (q + own)).max(0.0)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        -cost * self.slope(margin)
    }
    #[inline]
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> f64 {
        margin - 1.0 + alpha * (0.5 / cost)
    }
}

impl DualLoss for Logistic {
    const SHRINKS: bool = false;

    fn start(self, cost: f64) -> f64 {
        // Inside the interval, where the logarithms are finite, and far from the middle, as most rows end.
        (1e-3 * cost).min(1e-8)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        (-cost * self.slope(margin)).clamp(self.start(cost), cost - self.start(cost))
    }

    /// The zero of G(α) = m + q(α − α₀) + log(α/(c − α)), by Newton's steps inside a bracket that halves where they leave it.
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        let (mut low, mut high, mut at) = (0.0, cost, alpha);
        for _ in 0..100 {
            let slope = margin + q * (at - alpha) + (at / (cost - at)).ln();
            if slope.abs() < 1e-10 || high - low <= 1e-15 * cost {
                break;
            }
            *(if slope > 0.0 { &mut high } else { &mut low }) = at;
            let step = slope / (q + cost / (at * (cost - at)));
            let next = at - step;
            at = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        at
    }
    #[inline]
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> f64 {
        margin + (alpha / (cost - alpha)).ln()
    }
}

/// What the inner loop needs to know of an example, in half a cache line.
#[derive(Clone, Copy)]
struct Coordinate {
    alpha: f64,
    cost: f64,
    /// ‖x‖² with the part of the bias.
    q: f64,
    row: u32,
    sign: f32,
}

/// The descent under way.
pub(super) struct Descent<'a, R, L> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    coordinates: Vec<Coordinate>,
    /// Positions of the coordinates that are visited, ascending.
    active: Vec<u32>,
    /// Neighbours that are visited one after the other.
    block: usize,
    /// Whether a coordinate was left alone in this epoch.
    left: Vec<bool>,
    w: Vec<f64>,
    /// Σ αᵢyᵢ
    s: f64,
    /// μ and σ of the bias.
    mu: f64,
    sigma: f64,
    /// Gradients that let a coordinate at its lower, upper bound be left alone.
    leave: (f64, f64),
}

/// What an epoch saw.
#[derive(Default)]
struct Epoch {
    /// P − D over the rows met, each before its step.
    gap: f64,
    /// The most that projected gradients were above and below 0.
    above: f64,
    below: f64,
    stopped: bool,
}

/// Where the rows visited tell less than this of the gap, others have a part in it.
const MISLED: f64 = 0.7;

/// Rows and coordinates are asked for so many steps ahead.
const AHEAD: usize = 4;

impl<'a, R: Rows, L: DualLoss> Descent<'a, R, L> {
    pub(super) fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let coordinate = |example: &Example| Coordinate {
            alpha: loss.start(example.cost),
            cost: example.cost,
            q: problem.x.sq_norm(example.row as usize),
            row: example.row,
            sign: example.sign,
        };
        let mut coordinates: Vec<Coordinate> = problem.examples.iter().map(coordinate).collect();
        let mean = coordinates.iter().map(|c| c.q).sum::<f64>() / coordinates.len().max(1) as f64;
        let sigma = match problem.bias {
            // So that a step towards the constraint is about as long as one along a row.
            Bias::Free => 0.1 * mean.max(f64::MIN_POSITIVE),
            Bias::Regularized => 1.0,
            Bias::None => 0.0,
        };
        coordinates.iter_mut().for_each(|c| c.q += sigma);
        let mut descent = Descent {
            problem,
            loss,
            limits,
            active: (0..coordinates.len() as u32).collect(),
            block: block(problem),
            left: vec![false; coordinates.len()],
            coordinates,
            w: vec![0.0; problem.x.n_cols()],
            s: 0.0,
            mu: 0.0,
            sigma,
            leave: (f64::INFINITY, f64::NEG_INFINITY),
        };
        if problem.start.is_some() {
            descent.start_near();
        }
        descent.rebuild();
        descent
    }

    /// α from the margins of a solution to start from.
    fn start_near(&mut self) {
        let (point, scores) = self.problem.beginning();
        for (coordinate, score) in self.coordinates.iter_mut().zip(scores) {
            coordinate.alpha = self.loss.near(coordinate.cost, f64::from(coordinate.sign) * score);
        }
        if self.problem.bias == Bias::Free {
            self.mu = self.problem.split(&point).1;
        }
    }

    /// w and s from α.
    fn rebuild(&mut self) {
        self.w.fill(0.0);
        self.s = 0.0;
        for coordinate in self.coordinates.iter().filter(|coordinate| coordinate.alpha != 0.0) {
            let a = coordinate.alpha * f64::from(coordinate.sign);
            self.problem.x.axpy(a, coordinate.row as usize, &mut self.w);
            self.s += a;
        }
    }

    fn bias(&self) -> f64 {
        self.mu + self.sigma * self.s
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut best: Option<Certified> = None;
        let (mut passes, mut since_certificate) = (0, 0);
        // What the rows tell is a little more than the gap, for they are met before their steps.
        let mut hope = 1.2;
        let end = loop {
            passes += 1;
            since_certificate += 1;
            let epoch = self.epoch(passes, monitor);
            if self.problem.bias == Bias::Free {
                self.mu += self.sigma * self.s;
            }
            let at_end = epoch.stopped || passes >= self.limits.passes;
            let primal = self.primal(epoch.gap);
            let hopeful = epoch.gap.is_finite() && epoch.gap <= hope * self.limits.gap * primal;
            if hopeful || at_end || since_certificate >= L::PATIENCE {
                since_certificate = 0;
                let certified = self.certify();
                let (gap, dual) = (certified.certificate.gap(), certified.certificate.dual);
                if best.as_ref().is_none_or(|best| gap <= best.certificate.gap()) {
                    best = Some(certified);
                }
                if gap <= self.limits.gap {
                    break End::Converged;
                }
                if dual >= self.limits.dual {
                    break End::Diverged;
                }
                let told = epoch.gap / primal;
                if hopeful && told > MISLED * gap {
                    // The rows that are visited tell the truth: the gap will be small enough when they say so.
                    hope = 0.95 * told / gap;
                    self.shrink_by(&epoch);
                } else {
                    self.active = (0..self.coordinates.len() as u32).collect();
                    self.leave = (f64::INFINITY, f64::NEG_INFINITY);
                }
            } else {
                self.shrink_by(&epoch);
            }
            if at_end {
                break if epoch.stopped { End::Stopped } else { End::PassLimit };
            }
        };
        Solution::new(best.unwrap_or_else(|| self.certify()), passes, end)
    }

    /// An estimate of P, given one of P − D.
    fn primal(&self, gap: f64) -> f64 {
        let own = if self.problem.bias == Bias::Regularized { self.s * self.s } else { 0.0 };
        let half = 0.5 * (self.w.iter().map(|w| w * w).sum::<f64>() + own);
        let dual: f64 =
            self.coordinates.iter().map(|c| -conjugate(self.loss, c.cost, c.alpha)).sum::<f64>() - half;
        dual + gap
    }

    fn certify(&self) -> Certified {
        let mut alpha: Vec<f64> = self.coordinates.iter().map(|coordinate| coordinate.alpha).collect();
        self.loss.certify(self.problem, &mut alpha, self.bias())
    }

    fn shrink_by(&mut self, epoch: &Epoch) {
        let above = if epoch.above > 0.0 { epoch.above } else { f64::INFINITY };
        let below = if epoch.below < 0.0 { epoch.below } else { f64::NEG_INFINITY };
        self.leave = (above, below);
    }

    fn epoch(&mut self, pass: usize, monitor: &Monitor<'_>) -> Epoch {
        let mut blocks: Vec<&[u32]> = self.active.chunks(self.block).collect();
        Rng::stream(self.limits.seed, pass as u64).shuffle(&mut blocks);
        let order = blocks.concat();
        let mut epoch = Epoch::default();
        for start in (0..order.len()).step_by(Monitor::BLOCK) {
            let end = (start + Monitor::BLOCK).min(order.len());
            (start..end).for_each(|at| self.visit(&order, at, &mut epoch));
            if !monitor.go_on(end - start) {
                epoch.stopped = true;
                break;
            }
        }
        let left = &mut self.left;
        self.active.retain(|&i| !std::mem::take(&mut left[i as usize]));
        epoch
    }

    /// One step, or the decision to leave a coordinate alone.
    #[inline]
    fn visit(&mut self, order: &[u32], at: usize, epoch: &mut Epoch) {
        self.ask_ahead(order, at);
        let x = self.problem.x;
        let i = order[at] as usize;
        let Coordinate { alpha, cost, q, row, sign } = self.coordinates[i];
        let y = f64::from(sign);
        let margin = y * (x.dot(row as usize, &self.w) + self.bias());
        epoch.gap += cost * self.loss.value(margin) + conjugate(self.loss, cost, alpha) + alpha * margin;
        if L::SHRINKS {
            let gradient = self.loss.gradient(alpha, cost, margin);
            let at_lower = alpha <= 0.0;
            let at_upper = alpha >= cost * self.loss.steepest();
            if (at_lower && gradient > self.leave.0) || (at_upper && gradient < self.leave.1) {
                self.left[i] = true;
                return;
            }
            let projected = match () {
                () if at_lower => gradient.min(0.0),
                () if at_upper => gradient.max(0.0),
                () => gradient,
            };
            epoch.above = epoch.above.max(projected);
            epoch.below = epoch.below.min(projected);
            if projected.abs() < 1e-12 {
                return;
            }
        }
        let best = self.loss.best(alpha, cost, margin, q.max(f64::MIN_POSITIVE));
        let step = (best - alpha) * y;
        if step != 0.0 {
            self.coordinates[i].alpha = best;
            self.s += step;
            x.axpy(step, row as usize, &mut self.w);
        }
    }

    #[inline]
    fn ask_ahead(&self, order: &[u32], at: usize) {
        if let Some(&later) = order.get(at + 3 * AHEAD) {
            prefetch(std::slice::from_ref(&self.coordinates[later as usize]));
        }
        if let Some(&later) = order.get(at + 2 * AHEAD) {
            self.problem.x.prefetch_place(self.coordinates[later as usize].row as usize);
        }
        if let Some(&soon) = order.get(at + AHEAD) {
            self.problem.x.prefetch(self.coordinates[soon as usize].row as usize);
        }
    }
}

/// How many neighbours are visited together. Data that does not fit into caches is read twice as fast in runs; where it does, runs only take more epochs, and several times
/// as many where rows are sorted by class.
fn block<R: Rows>(problem: &Binary<'_, R>) -> usize {
    const ROWS: usize = 16;
    const MANY_ENTRIES: usize = 4_000_000;
    let examples = problem.examples;
    let n = examples.len() as f64;
    let share = examples.iter().filter(|example| example.sign > 0.0).count() as f64 / n.max(1.0);
    let changes = examples.windows(2).filter(|pair| pair[0].sign != pair[1].sign).count() as f64;
    let is_mixed = changes >= n * share * (1.0 - share);
    // Of every so many rows the entries are counted.
    let every = examples.len().div_ceil(1024).max(1);
    let mut entries = 0;
    for example in examples.iter().step_by(every) {
        problem.x.each(example.row as usize, |_, _| entries += every);
    }
    if is_mixed && entries >= MANY_ENTRIES { ROWS } else { 1 }
}
