//! Dual coordinate descent.
//!
//! Maximises D(α) one αᵢ at a time, with w = Σ αᵢyᵢxᵢ kept up to date: Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), ICML, algorithms 1 and 3, with
//! their shrinking. A coordinate that is right where it is, on a bound, rests for an epoch or a few, for it will most likely be right the next time (cf. Glasmachers and Dogan 2013, ACML).
//!
//! A free bias is a constraint Σ αᵢyᵢ = 0 on α, met by the method of multipliers: with s = Σ αᵢyᵢ the constraint costs μ·s + σ/2·s², which is a bias
//! b = μ + σ·s for the coordinate at hand; after every epoch μ becomes b (Bertsekas 1982). So a bias costs one number.
//!
//! Blocks of neighbouring rows come in a new random order in every epoch: random enough, and memory is read in runs. Between certificates, which need all rows, the sum of cᵢ·ℓ(mᵢ) + cᵢ·ℓ*(−αᵢ/cᵢ) + αᵢ·mᵢ over the rows met, or an estimate of it, tells the
//! gap: each term is what the row adds to P − D.

use super::certificate::{Certified, conjugate, feasible, half_norm};
use super::forecast::Forecast;
use super::{Binary, DualLoss, End, Example, Limits, Solution};
use crate::data::Rows;
use crate::learner::Bias;
use crate::rng::Rng;
use crate::simd::prefetch;
use crate::watch::Monitor;

/// What the inner loop needs to know of an example, in half a cache line.
#[derive(Clone, Copy)]
struct Coordinate {
    alpha: f64,
    cost: f64,
    /// ‖x‖² with the part of the bias; below 0 before the first visit.
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
    /// Whether a row that was met has stored zeros.
    zeros: bool,
    rests: Vec<Rest>,
    w: Vec<f64>,
    /// How many steps it is the sum of.
    steps: usize,
    /// Σ αᵢyᵢ
    s: f64,
    /// μ and σ of the bias.
    mu: f64,
    sigma: f64,
    /// Gradients that let a coordinate at its lower, upper bound be left alone.
    leave: (f64, f64),
    /// P at 0.
    ceiling: f64,
    /// Room for the coordinates that are awake, and for them in the order of their visits.
    awake: Vec<u32>,
    order: Vec<u32>,
}

/// How a coordinate takes part in epochs.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// Left out until all are visited again.
    gone: bool,
    /// Epochs that it still rests.
    left: u8,
    /// How long it rested the last time, if it had not to move since.
    length: u8,
}

impl Rest {
    const LONGEST: u8 = 7;

    /// It was right where it was.
    fn longer(&mut self) {
        self.length = (2 * self.length + 1).min(Self::LONGEST);
        self.left = self.length;
    }

    /// Whether it is awake in the epoch that begins.
    fn is_over(&mut self) -> bool {
        let over = self.left == 0;
        self.left = self.left.saturating_sub(1);
        over
    }
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
            alpha: 0.0,
            cost: example.cost,
            q: -1.0,
            row: example.row,
            sign: example.y() as f32,
        };
        let coordinates: Vec<Coordinate> = problem.examples.iter().map(coordinate).collect();
        let sigma = sigma(problem.bias, || mean_sq_norm(problem));
        let mut descent = Descent {
            problem,
            loss,
            limits,
            active: (0..coordinates.len() as u32).collect(),
            block: block(problem),
            zeros: false,
            rests: vec![Rest::default(); coordinates.len()],
            coordinates,
            w: vec![0.0; problem.x.n_cols()],
            steps: 0,
            s: 0.0,
            mu: 0.0,
            sigma,
            leave: (f64::INFINITY, f64::NEG_INFINITY),
            ceiling: problem.examples.iter().map(|example| example.cost).sum::<f64>() * loss.value(0.0),
            awake: Vec::new(),
            order: Vec::new(),
        };
        match problem.alpha {
            Some((alpha, bias)) => descent.start_from(alpha, bias),
            None => {
                if problem.start.is_some() {
                    descent.start_near();
                }
                descent.rebuild();
            }
        }
        descent
    }

    /// A multiple of the α that were best at other costs: the best there is within the new bounds.
    fn start_from(&mut self, alpha: &[f64], bias: f64) {
        self.coordinates.iter_mut().zip(alpha).for_each(|(coordinate, &alpha)| coordinate.alpha = alpha);
        self.rebuild();
        let costs = self.coordinates.iter().map(|c| (c.cost, c.alpha));
        let factor = best_multiple(self.loss, costs, half_norm(self.problem.bias, &self.w, self.s));
        self.coordinates.iter_mut().for_each(|coordinate| coordinate.alpha *= factor);
        self.w.iter_mut().for_each(|w| *w *= factor);
        self.s *= factor;
        if self.problem.bias == Bias::Free {
            self.mu = bias;
        }
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
        (self.s, self.steps) = (0.0, self.coordinates.len());
        for coordinate in self.coordinates.iter().filter(|coordinate| coordinate.alpha != 0.0) {
            let a = coordinate.alpha * f64::from(coordinate.sign);
            self.problem.x.axpy(a, coordinate.row as usize, &mut self.w);
            self.s += a;
        }
    }

    fn bias(&self) -> f64 {
        self.mu + self.sigma * self.s
    }

    /// Given what is known of the point to start from, if there is one.
    pub(super) fn solve(mut self, start: Option<Certified>, monitor: &Monitor<'_>) -> Solution {
        let mut best = start.unwrap_or_else(|| Certified::nothing(self.problem.x.n_cols()));
        let (mut passes, mut since_certificate) = (0, 0);
        let mut forecast = Forecast::new();
        let end = loop {
            passes += 1;
            since_certificate += 1;
            let epoch = self.epoch(passes, monitor);
            if self.problem.bias == Bias::Free {
                self.mu += self.sigma * self.s;
            }
            let at_end = epoch.stopped || passes >= self.limits.passes;
            let short = 2 * self.order.len() < self.coordinates.len();
            let expected = forecast.after(epoch.gap, short);
            let hopeful = expected.is_finite() && self.is_small(expected, epoch.gap);
            if hopeful || at_end || since_certificate >= L::PATIENCE {
                since_certificate = 0;
                let certified = self.certify();
                let (gap, dual) = (certified.certificate.gap(), certified.certificate.dual);
                best.improve(certified);
                if best.certificate.gap() <= self.limits.gap {
                    break End::Converged;
                }
                if dual >= self.limits.dual {
                    break End::Diverged;
                }
                let primal = self.primal(epoch.gap);
                if hopeful && epoch.gap > MISLED * gap * primal {
                    // The rows that are visited tell the truth: the gap will be small enough when they say so.
                    forecast.correct(expected, gap * primal);
                    self.shrink_by(&epoch);
                } else {
                    self.active = (0..self.coordinates.len() as u32).collect();
                    self.rests.fill(Rest::default());
                    self.leave = (f64::INFINITY, f64::NEG_INFINITY);
                }
            } else {
                self.shrink_by(&epoch);
            }
            if at_end {
                break if epoch.stopped { End::Stopped } else { End::PassLimit };
            }
        };
        let alpha = self.coordinates.iter().map(|coordinate| coordinate.alpha).collect();
        Solution { alpha, ..Solution::new(best, passes, end) }
    }

    /// Whether so much of P is at most the gap asked for, given an estimate of P − D.
    fn is_small(&self, part: f64, gap: f64) -> bool {
        // P is at most what it is at 0, or so: a sum over all α for nothing.
        part <= self.limits.gap * (gap + self.ceiling) && part <= self.limits.gap * self.primal(gap)
    }

    /// An estimate of P, given one of P − D.
    fn primal(&self, gap: f64) -> f64 {
        let conjugates: f64 = self.coordinates.iter().map(|c| conjugate(self.loss, c.cost, c.alpha)).sum();
        gap - conjugates - half_norm(self.problem.bias, &self.w, self.s)
    }

    fn certify(&self) -> Certified {
        let mut alpha: Vec<f64> = self.coordinates.iter().map(|coordinate| coordinate.alpha).collect();
        let sums = match self.is_exact() {
            true => (self.w.clone(), self.s),
            false => feasible(self.problem, &mut alpha),
        };
        self.loss.certify(self.problem, &alpha, sums, self.bias())
    }

    /// Whether w, to which every step has added a rounding error, is still Σ αᵢyᵢxᵢ beyond what the gap asked for can tell, and α feasible as it is.
    fn is_exact(&self) -> bool {
        let error = self.steps as f64 * f64::EPSILON;
        self.problem.bias != Bias::Free && self.ceiling.is_finite() && error <= 1e-3 * self.limits.gap
    }

    fn shrink_by(&mut self, epoch: &Epoch) {
        /// Of the largest gradient of the last epoch. Half of it instead of all saved hinge a twentieth of its visits on text; a quarter cost more at small gaps.
        const PART: f64 = 0.5;
        let above = if epoch.above > 0.0 { PART * epoch.above } else { f64::INFINITY };
        let below = if epoch.below < 0.0 { PART * epoch.below } else { f64::NEG_INFINITY };
        self.leave = (above, below);
    }

    fn epoch(&mut self, pass: usize, monitor: &Monitor<'_>) -> Epoch {
        let order = self.shuffled(pass);
        let mut epoch = Epoch::default();
        for start in (0..order.len()).step_by(Monitor::BLOCK) {
            let end = (start + Monitor::BLOCK).min(order.len());
            (start..end).for_each(|at| self.visit(&order, at, &mut epoch));
            if !monitor.go_on(end - start) {
                epoch.stopped = true;
                break;
            }
        }
        self.order = order;
        let rests = &self.rests;
        self.active.retain(|&i| !rests[i as usize].gone);
        epoch
    }

    /// The coordinates that are awake, in blocks of random order.
    fn shuffled(&mut self, pass: usize) -> Vec<u32> {
        let (rests, mut awake) = (&mut self.rests, std::mem::take(&mut self.awake));
        awake.clear();
        awake.extend(self.active.iter().copied().filter(|&i| rests[i as usize].is_over()));
        let mut blocks: Vec<&[u32]> = awake.chunks(self.block).collect();
        Rng::stream(self.limits.seed, pass as u64).shuffle(&mut blocks);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        blocks.iter().for_each(|block| order.extend_from_slice(block));
        self.awake = awake;
        order
    }

    #[inline]
    fn visit(&mut self, order: &[u32], at: usize, epoch: &mut Epoch) {
        self.ask_ahead(order, at);
        let (x, i) = (self.problem.x, order[at] as usize);
        let row = self.coordinates[i].row as usize;
        if self.coordinates[i].q < 0.0 {
            // Now that the row is at hand.
            self.coordinates[i].q = x.sq_norm(row) + self.sigma;
            self.zeros |= x.has_zeros(row);
        }
        let score = if self.zeros { x.dot_past_zeros(row, &self.w) } else { x.dot_in_two(row, &self.w) };
        let step = self.step(i, score, epoch);
        if step != 0.0 {
            x.axpy(step, row, &mut self.w);
        }
    }

    /// The step of a coordinate, given w·x: 0 where it is left alone.
    #[inline]
    fn step(&mut self, i: usize, score: f64, epoch: &mut Epoch) -> f64 {
        let Coordinate { alpha, cost, q, sign, .. } = self.coordinates[i];
        let y = f64::from(sign);
        let margin = y * (score + self.bias());
        epoch.gap += self.loss.owed(alpha, cost, margin);
        if let Some(gradient) = self.loss.gradient(alpha, cost, margin) {
            let at_lower = alpha <= 0.0;
            let at_upper = alpha >= cost * self.loss.steepest();
            if (at_lower && gradient > self.leave.0) || (at_upper && gradient < self.leave.1) {
                self.rests[i].gone = true;
                return 0.0;
            }
            let projected = match () {
                () if at_lower => gradient.min(0.0),
                () if at_upper => gradient.max(0.0),
                () => gradient,
            };
            epoch.above = epoch.above.max(projected);
            epoch.below = epoch.below.min(projected);
            if projected.abs() < 1e-12 {
                // Where epochs are short they had better be complete.
                if self.block > 1 {
                    self.rests[i].longer();
                }
                return 0.0;
            }
        }
        let best = self.loss.best(alpha, cost, margin, q.max(f64::MIN_POSITIVE));
        let step = (best - alpha) * y;
        if step != 0.0 {
            self.coordinates[i].alpha = best;
            self.rests[i].length = 0;
            self.steps += 1;
            self.s += step;
        }
        step
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

/// The t for which tα has the largest dual value, −t²·½‖w‖² − Σ cᵢ·ℓ*(−tαᵢ/cᵢ), which is concave in t; within the bounds of all α.
fn best_multiple<L: DualLoss>(
    loss: L,
    alpha: impl Iterator<Item = (f64, f64)> + Clone,
    half_norm: f64,
) -> f64 {
    /// The next cost of a path is rarely so many times the last.
    const MOST: f64 = 1e3;
    const STEPS: usize = 40;
    let room = |(cost, alpha): (f64, f64)| if alpha > 0.0 { cost * loss.steepest() / alpha } else { MOST };
    let most = alpha.clone().map(room).fold(MOST, f64::min);
    let value = |t: f64| -> f64 {
        t * t * half_norm + alpha.clone().map(|(cost, a)| conjugate(loss, cost, t * a)).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, most);
    for _ in 0..STEPS {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        match value(left) > value(right) {
            true => low = left,
            false => high = right,
        }
    }
    // At the bound itself all that were there stay there.
    if value(most) <= value(0.5 * (low + high)) { most } else { 0.5 * (low + high) }
}

/// σ of the bias, given the mean ‖x‖².
pub(super) fn sigma(bias: Bias, mean_sq_norm: impl FnOnce() -> f64) -> f64 {
    match bias {
        // So that a step towards the constraint is about as long as one along a row.
        Bias::Free => 0.1 * mean_sq_norm().max(f64::MIN_POSITIVE),
        Bias::Regularized => 1.0,
        Bias::None => 0.0,
    }
}

/// The mean ‖x‖² of some rows, or of all where these are all 0.
fn mean_sq_norm<R: Rows>(problem: &Binary<'_, R>) -> f64 {
    let mean = |every: usize| {
        let some = problem.examples.iter().step_by(every);
        let (sum, n) =
            some.fold((0.0, 0.0), |(sum, n), e| (sum + problem.x.sq_norm(e.row as usize), n + 1.0));
        sum / f64::max(n, 1.0)
    };
    let some = mean(problem.examples.len().div_ceil(1024).max(1));
    if some > 0.0 { some } else { mean(1) }
}

/// How many neighbours are visited together. Rows that do not fit into the nearest caches are read twice as fast in short runs; longer ones help where there are many more, but take
/// several times as many epochs where rows are sorted by class.
fn block<R: Rows>(problem: &Binary<'_, R>) -> usize {
    const SOME_ENTRIES: usize = 500_000;
    const MANY_ENTRIES: usize = 5_000_000;
    match problem.entries() {
        MANY_ENTRIES.. if is_mixed(problem) => 64,
        SOME_ENTRIES.. => 4,
        _ => 1,
    }
}

/// Whether classes follow each other as by chance.
fn is_mixed<R>(problem: &Binary<'_, R>) -> bool {
    let examples = problem.examples;
    let n = examples.len() as f64;
    let share = examples.iter().filter(|example| example.is_positive()).count() as f64 / n.max(1.0);
    let changes =
        examples.windows(2).filter(|pair| pair[0].is_positive() != pair[1].is_positive()).count() as f64;
    changes >= n * share * (1.0 - share)
}
