//! Newton's method, for smooth losses.
//!
//! Minimises P(w, b) itself. With few features 1 + Σ cᵢ·ℓ''(mᵢ)·xᵢxᵢᵀ costs n·d²/2 and is factored in d³/6, so that a dozen steps solve what coordinate descent
//! creeps along when columns differ in scale. Where that costs more, the system is solved by conjugate gradients as far as it pays (Lin, Weng, Keerthi 2008), preconditioned by
//! the factor of the same sum over a sample of the rows, or by its diagonal. αᵢ = −cᵢ·ℓ'(mᵢ) are the dual variables of the point.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::certificate::{self, BLOCK, Certified, curve, dual_at, score_all, scores, support_vectors};
use super::conjugate_gradient::{self, Accuracy};
use super::evaluation::{Evaluation, SmoothLoss};
use super::factor::Factor;
use super::normal::{Normal, curved};
use super::{Binary, End, Example, Limits, Means, Shared, Solution};
use crate::data::Rows;
use crate::rng::Rng;
use crate::watch::Monitor;

/// The minimisation under way.
struct Newton<'a, R, L: SmoothLoss> {
    problem: &'a Binary<'a, R>,
    /// The examples that are looked at, and, unless these are all, which ones of the problem they are: others lie far beyond the margin, and a loss that is 0 there has no part in anything.
    near: Cow<'a, [Example]>,
    places: Vec<u32>,
    loss: L,
    limits: Limits,
    here: Spot,
    /// Room for where a step may lead to, and for how much it changes each score.
    next: Spot,
    moves: Vec<f64>,
    /// The least P met, of the loss that is meant, and where: steps on one that stands for it may lead uphill.
    lowest: (f64, Vec<f64>),
    /// What the loss remembers of each example.
    memory: Vec<L::Memory>,
    /// Entries of a row, on average.
    entries: f64,
    /// What the last step promised, as a part of P.
    promised: f64,
    /// Of a sample of the rows, as long as it serves.
    sampled: Option<Factor>,
    /// Room for a matrix and its factor.
    normal: Normal,
    factor: Factor,
    means: Means,
}

/// A point and what is known of it.
#[derive(Default)]
struct Spot {
    /// w, and b behind it where there is one.
    point: Vec<f64>,
    /// w·x + b of each example.
    scores: Vec<f64>,
    worth: Evaluation,
}

impl Spot {
    /// Goes to where a step of length t along a direction leads from another spot.
    fn go(&mut self, from: &Spot, direction: &[f64], moves: &[f64], t: f64) {
        self.point.clear();
        self.point.extend(from.point.iter().zip(direction).map(|(value, p)| value + t * p));
        self.scores.resize(moves.len(), 0.0);
        let moved = self.scores.par_iter_mut().zip(&from.scores).zip(moves);
        moved.with_min_len(BLOCK).for_each(|((to, f), p)| *to = f + t * p);
    }
}

/// Up to so many features a step solves its system exactly, whatever the rows.
pub(super) const FEW_FEATURES: usize = 300;

/// Up to so many a sample of the rows is factored.
pub(super) const MANY_FEATURES: usize = 2000;

/// Beyond this margin no example is looked at for a while, where its loss is 0.
const FAR: f64 = 1.5;
/// The same while the plane is far from its place.
const FARTHER: f64 = 2.0;

/// Conjugate gradient steps after which a factor is made anew.
pub(super) const MANY_STEPS: usize = 8;

/// Minimises P for a smooth loss, or one that a smooth loss stands for; also gives the loss that stood for it in the end.
///
/// Where there are many more rows than features, a few of them tell roughly where the optimum is, at a fraction of the cost of the first steps.
pub(super) fn minimise<R: Rows, L: SmoothLoss>(
    problem: &Binary<'_, R>,
    loss: L,
    limits: Limits,
    monitor: &Monitor<'_>,
) -> (Solution, L) {
    /// Relative gap, which the difference to all rows makes pointless to go below: a tenth of it cost more steps on the few and saved none on all.
    const GAP: f64 = 1.0;
    let rough = sample(problem).and_then(|examples| {
        let some = Binary { examples: &examples, alpha: None, ..*problem };
        // About so much of P is the optimum of n rows off from that of all: no step need promise less.
        let gain = problem.size() as f64 / examples.len() as f64;
        let (rough, loss) = minimise(&some, loss, Limits { gap: GAP, gain, ..limits }, monitor);
        // What is far from the optimum of some rows is no better for all than nothing.
        matches!(rough.end, End::Converged | End::Stopped).then_some((rough, loss))
    });
    let Some((Solution { w, b, means, .. }, loss)) = rough else {
        return Newton::new(problem, loss, limits).solve(monitor);
    };
    let started = Binary { start: Some((&w, b)), common: None, ..*problem };
    let (solution, loss) = Newton::new(&started, loss, limits).solve(monitor);
    (Solution { means: solution.means.and(means), ..solution }, loss)
}

/// The matrix of the first step from 0 on, where every row is curved alike whatever its class, if that step is to be exact.
pub(super) fn first_normal<R: Rows, L: SmoothLoss>(problem: &Binary<'_, R>, loss: L) -> Option<Normal> {
    let examples = sample(problem);
    let some = problem.of(examples.as_deref().unwrap_or(problem.examples));
    let curvature = loss.bend(0.0, L::Memory::default()).curvature;
    let d: Vec<f64> = some.examples.iter().map(|e| e.cost * curvature).collect();
    let rows = curved(&d);
    exact_pays::<L, R>(&some, some.entries_a_row(), rows, rows).then(|| {
        let mut normal = Normal::default();
        normal.update(&some, &d, some.penalised());
        normal.alone()
    })
}

/// Bytes of the matrices of a problem with so many rows and features: the sum and its factor, and where conjugate gradients may take a step both of a sample, too.
pub(super) fn matrix_bytes(rows: usize, features: usize) -> usize {
    // With one for the bias.
    let size = features.saturating_add(1);
    let both = Normal::bytes(size, rows).saturating_add(Factor::bytes(size));
    if features <= FEW_FEATURES { both } else { both.saturating_mul(2) }
}

/// One of every few examples, with the cost of all of these; nothing where that would not pay, or has not both classes.
fn sample<R: Rows>(problem: &Binary<'_, R>) -> Option<Vec<Example>> {
    let every = one_of(problem.examples.len(), problem.size()).filter(|_| problem.start.is_none())?;
    // By chance, for classes may take turns.
    let mut rng = Rng::new(every as u64);
    let one = |of: &[Example]| {
        let cost: f64 = of.iter().map(|example| example.cost).sum();
        let mut left = rng.uniform() * cost;
        let drawn = of.iter().find(|example| {
            left -= example.cost;
            left < 0.0
        });
        Example { cost, ..*drawn.unwrap_or(&of[0]) }
    };
    let examples: Vec<Example> = problem.examples.chunks(every).map(one).collect();
    let both = [true, false].iter().all(|side| examples.iter().any(|e| e.is_positive() == *side));
    both.then_some(examples)
}

/// One of how many rows makes a sample to start from; nothing where that would not pay.
pub(super) fn one_of(rows: usize, features: usize) -> Option<usize> {
    /// More than one of three would cost as much as it saves.
    const EVERY: RangeInclusive<usize> = 3..=8;
    /// Rows for each feature: fewer are fitted too well to tell anything of the others.
    const ENOUGH: usize = 16;
    let every = (rows / (ENOUGH * features.max(1))).min(*EVERY.end());
    EVERY.contains(&every).then_some(every)
}

impl<'a, R: Rows, L: SmoothLoss> Newton<'a, R, L> {
    fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let (point, scores) = problem.beginning();
        let mut memory = vec![L::Memory::default(); scores.len()];
        if problem.start.is_some() {
            let rows = memory.iter_mut().zip(problem.examples).zip(&scores);
            rows.for_each(|((memory, e), score)| *memory = loss.guess(e.y() * score));
        }
        let mut newton = Newton {
            problem,
            near: Cow::Borrowed(problem.examples),
            places: Vec::new(),
            loss,
            limits,
            here: Spot { point, scores, ..Spot::default() },
            next: Spot::default(),
            moves: Vec::new(),
            lowest: (f64::INFINITY, Vec::new()),
            memory,
            entries: problem.entries_a_row(),
            promised: f64::INFINITY,
            sampled: None,
            normal: problem.common.and_then(Shared::normal).cloned().unwrap_or_default(),
            factor: Factor::default(),
            means: Means::default(),
        };
        newton.evaluate();
        newton.note();
        newton
    }

    /// The solution, and the loss that stood for the real one in the end.
    fn solve(mut self, monitor: &Monitor<'_>) -> (Solution, L) {
        let (mut passes, mut summed_anew) = (0, false);
        let (certified, end) = loop {
            if monitor.stopped().is_some() {
                break (self.best(), End::Stopped);
            }
            if self.is_as_good_as_it_gets() {
                break (self.certify(), End::Converged);
            }
            if self.is_there() {
                let certified = self.certify();
                if certified.certificate.gap() <= self.limits.gap {
                    break (certified, End::Converged);
                }
                if self.widen(&certified) {
                    continue;
                }
                if summed_anew {
                    break (self.best(), End::Stalled);
                }
                // Scores that were added up step by step had too large an error.
                summed_anew = true;
                self.sum_anew();
                continue;
            }
            if passes >= self.limits.passes {
                break (self.best(), End::PassLimit);
            }
            passes += 1;
            while !self.is_there()
                && let Some(nearer) = self.loss.nearer(&self.here.worth)
            {
                self.remember();
                self.loss = nearer;
                self.evaluate();
            }
            if self.is_there() {
                continue;
            }
            if !self.step(monitor) {
                break (self.best(), End::Stalled);
            }
            if !self.is_there() && !monitor.go_on(self.near.len()) {
                break (self.best(), End::Stopped);
            }
            self.narrow();
        };
        // What was known on the way may have been a little too careful.
        let proved = certified.certificate.gap() <= self.limits.gap;
        let end = if proved { End::Converged } else { end };
        (Solution { means: self.means, ..Solution::new(certified, passes, end) }, self.loss)
    }

    /// Whether the gap is small enough, as far as is known without summing anew.
    fn is_there(&self) -> bool {
        self.here.worth.gap <= self.limits.gap
    }

    /// Whether the last step gained so little that other rows matter more. The end of a round of a loss that stands for another says nothing of that.
    fn is_as_good_as_it_gets(&self) -> bool {
        self.limits.gain > 0.0
            && self.promised <= self.limits.gain
            && self.here.worth.smooth_gap == self.here.worth.gap
    }

    fn evaluate(&mut self) {
        let Spot { point, scores, worth } = &mut self.here;
        worth.renew(&self.problem.of(&self.near), self.loss, point, scores, &self.memory);
    }

    /// Ends a round.
    fn remember(&mut self) {
        let loss = self.loss;
        let rows = self.memory.par_iter_mut().zip(&*self.near).zip(&self.here.scores);
        rows.with_min_len(BLOCK).for_each(|((memory, e), score)| {
            *memory = loss.remember(loss.bend(e.y() * score, *memory));
        });
    }

    fn sum_anew(&mut self) {
        let (w, b) = self.problem.split(&self.here.point);
        let scores = scores(&self.problem.of(&self.near), w);
        self.here.scores = scores.into_iter().map(|score| score + b).collect();
        self.evaluate();
    }

    /// Leaves examples alone that lie far beyond the margin, once they are most.
    fn narrow(&mut self) {
        /// Relative gap.
        const NEAR: f64 = 0.1;
        if !L::FLAT {
            return;
        }
        let far = if self.here.worth.gap > NEAR { FARTHER } else { FAR };
        let is_near = |k: usize| {
            self.near[k].y() * self.here.scores[k] < far
                || self.memory[k] != L::Memory::default()
                || self.normal.has(k)
        };
        let kept: Vec<usize> = (0..self.near.len()).filter(|&k| is_near(k)).collect();
        if 2 * kept.len() > self.near.len() {
            return;
        }
        self.places = match &self.places[..] {
            [] => kept.iter().map(|&k| k as u32).collect(),
            places => kept.iter().map(|&k| places[k]).collect(),
        };
        self.near = kept.iter().map(|&k| self.near[k]).collect();
        self.memory = kept.iter().map(|&k| self.memory[k]).collect();
        self.here.scores = kept.iter().map(|&k| self.here.scores[k]).collect();
        self.here.worth.curvatures = kept.iter().map(|&k| self.here.worth.curvatures[k]).collect();
        self.normal.keep(&kept);
    }

    /// Looks at all examples again that are near the margin now; whether there were others left.
    fn widen(&mut self, certified: &Certified) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let mut met = vec![false; self.problem.examples.len()];
        self.places.iter().for_each(|&place| met[place as usize] = true);
        let near = |(k, score): (usize, &f64)| {
            let margin = self.problem.examples[k].y() * (score + certified.b);
            (!met[k] && margin < FAR).then_some(k)
        };
        let more: Vec<usize> = certified.scores.iter().enumerate().filter_map(near).collect();
        self.places.extend(more.iter().map(|&k| k as u32));
        let examples = self.problem.examples;
        self.near.to_mut().extend(more.iter().map(|&k| examples[k]));
        self.memory.resize(self.near.len(), L::Memory::default());
        self.normal.extend(self.near.len());
        self.here.scores =
            self.places.iter().map(|&place| certified.scores[place as usize] + certified.b).collect();
        self.evaluate();
        if !more.is_empty() {
            // What points seemed to be worth without these may be too little.
            self.lowest.0 = f64::INFINITY;
            self.note();
        }
        !more.is_empty()
    }

    /// The gap at this point, from scores summed anew, with the dual variables that its slopes are.
    fn certify(&self) -> Certified {
        let (w, b) = self.problem.split(&self.here.point);
        let scores = scores(self.problem, w);
        let mut alpha = self.spread(|k, place| {
            let e = &self.near[k];
            -e.cost * self.loss.bend(e.y() * (scores[place] + b), self.memory[k]).slope
        });
        let dual = dual_at(self.problem, L::REAL, &mut alpha);
        let certificate = certificate::evaluate(self.problem, L::REAL, w, b, &scores, &alpha, dual);
        Certified { w: w.to_vec(), b, certificate, scores }
    }

    /// The same with the best that was met on the way, for an end that is not at the optimum: the point of the least P, and α of the end of the last round.
    fn best(&self) -> Certified {
        let mut best = self.certify();
        if self.memory.first().is_some_and(|&memory| L::recall(memory).is_some()) {
            let recalled = |k: usize| L::recall(self.memory[k]).unwrap_or_default();
            let mut alpha = self.spread(|k, _| self.near[k].cost * recalled(k));
            let dual = dual_at(self.problem, L::REAL, &mut alpha);
            best.certificate.raise(dual, support_vectors(self.problem.examples, &alpha));
        }
        let (lowest, point) = &self.lowest;
        if *lowest < self.here.worth.real {
            let (w, b) = self.problem.split(point);
            let scores = scores(self.problem, w);
            let nothing = f64::NEG_INFINITY;
            let certificate = certificate::evaluate(self.problem, L::REAL, w, b, &scores, &[], nothing);
            best.improve(Certified { w: w.to_vec(), b, certificate, scores });
        }
        best
    }

    /// Numbers of the examples that are looked at, at their places among all; the others have 0.
    fn spread(&self, number: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mut all = vec![0.0; self.problem.examples.len()];
        for k in 0..self.near.len() {
            let place = self.places.get(k).map_or(k, |&place| place as usize);
            all[place] = number(k, place);
        }
        all
    }

    /// Keeps this point if it is the lowest so far.
    fn note(&mut self) {
        let (lowest, point) = &mut self.lowest;
        if self.here.worth.real < *lowest {
            *lowest = self.here.worth.real;
            point.clone_from(&self.here.point);
        }
    }

    /// One step with a line search; whether it moved.
    fn step(&mut self, monitor: &Monitor<'_>) -> bool {
        // A matrix that was changed again and again may have too large an error.
        self.try_step(monitor) || (self.normal.forget() && self.try_step(monitor))
    }

    fn try_step(&mut self, monitor: &Monitor<'_>) -> bool {
        let d = &self.here.worth.curvatures;
        let curved = curved(d);
        let summed = if L::STEPWISE { self.normal.changed(d) } else { curved };
        let exact = exact_pays::<L, R>(self.problem, self.entries, curved, summed);
        *(if exact { &mut self.means.factor } else { &mut self.means.gradients }) = true;
        let mut direction = if exact { self.exact() } else { self.approximate(monitor) };
        direction.iter_mut().for_each(|p| *p = -*p);
        let slope = conjugate_gradient::dot(&self.here.worth.gradient, &direction);
        self.promised = -0.5 * slope / self.here.worth.value;
        slope < 0.0 && self.search(&direction, slope)
    }

    /// A step by a Cholesky factor.
    fn exact(&mut self) -> Vec<f64> {
        let Evaluation { gradient, curvatures, .. } = &self.here.worth;
        let (near, penalised) = (self.problem.of(&self.near), self.problem.penalised());
        match () {
            () if self.normal.is_of(curvatures) => {}
            () if L::STEPWISE => self.normal.update(&near, curvatures, penalised),
            () => self.normal.sum(&near, curvatures, penalised),
        }
        self.normal.factor_into(&mut self.factor);
        self.factor.solved(gradient)
    }

    /// A step by conjugate gradients, the more exact the nearer the optimum is.
    fn approximate(&mut self, monitor: &Monitor<'_>) -> Vec<f64> {
        let (problem, penalised) = (&self.problem.of(&self.near), self.problem.penalised());
        let Evaluation { value, gradient, curvatures, gap, smooth_gap, .. } = &self.here.worth;
        // What remains of the gap belongs to the difference of the losses, which no step on this one removes.
        let asked = self.limits.gap.max(0.3 * (gap - smooth_gap));
        let accuracy = Accuracy { value: *value, gap: asked };
        let product = |v: &[f64], image: &mut [f64]| {
            image.copy_from_slice(&curve(problem, curvatures, v, penalised));
        };
        let go_on = || monitor.go_on(0);
        if problem.size() > MANY_FEATURES {
            let diagonal = diagonal(problem, curvatures, penalised);
            let precondition = |r: &[f64], out: &mut [f64]| {
                out.iter_mut().zip(r).zip(&diagonal).for_each(|((out, r), d)| *out = r / d);
            };
            return conjugate_gradient::solve(gradient, accuracy, product, precondition, go_on).0;
        }
        let factor = self.sampled.take().unwrap_or_else(|| sampled(problem, curvatures, penalised));
        let precondition = |r: &[f64], out: &mut [f64]| {
            out.copy_from_slice(r);
            factor.solve(out);
        };
        let (direction, steps) = conjugate_gradient::solve(gradient, accuracy, product, precondition, go_on);
        self.sampled = (steps <= MANY_STEPS).then_some(factor);
        direction
    }

    /// Moves along a direction to where P hardly falls any more. That is nearly always a whole step; if not, the place is looked for by the scores alone.
    fn search(&mut self, direction: &[f64], slope: f64) -> bool {
        /// Of the slope at the start.
        const FLAT: f64 = 0.3;
        let (along, lift) = self.problem.split(direction);
        self.moves.resize(self.here.scores.len(), 0.0);
        score_all(&self.problem.of(&self.near), along, &mut self.moves);
        if lift != 0.0 {
            self.moves.par_iter_mut().with_min_len(BLOCK).for_each(|p| *p += lift);
        }
        self.go(direction, 1.0);
        let is_flat =
            conjugate_gradient::dot(&self.next.worth.gradient, direction).abs() <= FLAT * slope.abs();
        // What is not a number is no progress.
        let falls = |newton: &Self| newton.next.worth.value < newton.here.worth.value;
        if !(is_flat && falls(self)) {
            let mut t = Line::new(self, direction).flat(slope);
            loop {
                self.go(direction, t);
                t *= 0.5;
                match () {
                    () if falls(self) => break,
                    () if t < 1e-12 => return false,
                    () => {}
                }
            }
        }
        std::mem::swap(&mut self.here, &mut self.next);
        self.note();
        true
    }

    /// The next spot becomes where a step leads to.
    fn go(&mut self, direction: &[f64], t: f64) {
        self.next.go(&self.here, direction, &self.moves, t);
        let Spot { point, scores, worth } = &mut self.next;
        worth.renew(&self.problem.of(&self.near), self.loss, point, scores, &self.memory);
    }
}

/// Whether a Cholesky factor costs less than conjugate gradients, in multiplications, where so many rows are curved and so many would have to be summed up.
fn exact_pays<L: SmoothLoss, R: Rows>(
    problem: &Binary<'_, R>,
    entries: f64,
    curved: usize,
    summed: usize,
) -> bool {
    /// What a step by conjugate gradients takes on average, three multiplications an entry each; a factor is made with wide registers.
    const PRODUCTS: f64 = 12.0;
    const LANES: f64 = 4.0;
    match problem.x.n_cols() {
        0..=FEW_FEATURES => return true,
        MANY_FEATURES.. => return false,
        _ => {}
    }
    let size = problem.size() as f64;
    let exact = summed as f64 * entries * entries / 2.0 + size.powi(3) / (6.0 * LANES);
    // The next ones will cost less.
    let worth = if L::STEPWISE { 4.0 } else { 1.0 };
    exact <= worth * PRODUCTS * 3.0 * curved as f64 * entries
}

/// P along a line, a convex function of how far one goes.
struct Line<'a, L: SmoothLoss> {
    loss: L,
    examples: &'a [Example],
    scores: &'a [f64],
    memory: &'a [L::Memory],
    moves: &'a [f64],
    /// Slope and curvature of ½‖w‖² at the start.
    norm: (f64, f64),
}

impl<'a, L: SmoothLoss> Line<'a, L> {
    fn new<R: Rows>(newton: &'a Newton<'_, R, L>, direction: &[f64]) -> Self {
        let penalised = &direction[..newton.problem.penalised()];
        let norm = (
            conjugate_gradient::dot(&newton.here.point[..penalised.len()], penalised),
            conjugate_gradient::dot(penalised, penalised),
        );
        let Newton { loss, near, here, memory, moves, .. } = newton;
        Line { loss: *loss, examples: near, scores: &here.scores, memory, moves, norm }
    }

    /// The first two derivatives.
    fn derivatives(&self, t: f64) -> (f64, f64) {
        type Block<'b, M> = (((&'b [Example], &'b [f64]), &'b [M]), &'b [f64]);
        let block = |(((examples, scores), memory), moves): Block<'_, L::Memory>| {
            let mut sums = (0.0, 0.0);
            for (((e, f), &memory), p) in examples.iter().zip(scores).zip(memory).zip(moves) {
                let bend = self.loss.bend(e.y() * (f + t * p), memory);
                sums.0 += e.cost * bend.slope * e.y() * p;
                sums.1 += e.cost * bend.curvature * p * p;
            }
            sums
        };
        let blocks = self.examples.par_chunks(BLOCK).zip(self.scores.par_chunks(BLOCK));
        let blocks = blocks.zip(self.memory.par_chunks(BLOCK)).zip(self.moves.par_chunks(BLOCK));
        let blocks: Vec<(f64, f64)> = blocks.map(block).collect();
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

/// The factor of 1 + Σ dᵢ·xᵢxᵢᵀ over a few times as many rows as there are features, as if these were all. A row is taken as often as its part of Σ dᵢ asks for, and all that are taken count
/// the same (systematic sampling: Madow 1949).
pub(super) fn sampled<R: Rows>(problem: &Binary<'_, R>, d: &[f64], penalised: usize) -> Factor {
    let step = d.iter().sum::<f64>() / (4 * problem.size()) as f64;
    let mut passed = 0.5 * step;
    let taken = |(example, d): (&Example, &f64)| {
        passed += d;
        let times = (passed / step).floor();
        passed -= times * step;
        (times > 0.0).then_some((*example, times * step))
    };
    let (examples, d): (Vec<Example>, Vec<f64>) = problem.examples.iter().zip(d).filter_map(taken).unzip();
    Normal::new(&Binary { examples: &examples, alpha: None, ..*problem }, &d, penalised).factored()
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
