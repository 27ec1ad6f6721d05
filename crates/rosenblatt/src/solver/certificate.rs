//! Proof of how good a solution is.

use rayon::prelude::*;

use super::{Binary, DualLoss, Example};
use crate::data::{Rows, TOGETHER};
use crate::learner::Bias;
use crate::loss::MarginLoss;

/// A primal and a dual point with their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Certificate {
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) slacks: Slacks,
    pub(crate) support_vectors: u64,
    /// Whether the optimum is 0 as far as can be told, so that primal and dual value tell how near it is, and no share of the objective.
    pub(crate) vanishes: bool,
}

/// How many examples lie where: the slack ξ = max(0, 1 − y·g(x)) is 0, at most 1, or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slacks {
    /// On the margin or beyond it, on the right side.
    pub outside: u64,
    /// Between margin and boundary.
    pub inside: u64,
    /// On the wrong side.
    pub wrong_side: u64,
}

impl Slacks {
    /// Examples within this of the margin are on it: solvers leave them there only so exactly.
    const ON_MARGIN: f64 = 1e-3;

    pub(crate) fn count(&mut self, margin: f64, rows: u64) {
        match margin {
            m if m <= 0.0 => self.wrong_side += rows,
            m if m < 1.0 - Self::ON_MARGIN => self.inside += rows,
            _ => self.outside += rows,
        }
    }

    pub(crate) fn add(&mut self, other: Slacks) {
        self.outside += other.outside;
        self.inside += other.inside;
        self.wrong_side += other.wrong_side;
    }
}

impl Certificate {
    /// Where nothing is proved.
    pub(super) fn nothing() -> Self {
        Certificate { primal: f64::INFINITY, ..Certificate::default() }
    }

    /// (P − D)/P: how much of the objective could be saved at the most.
    pub(crate) fn gap(&self) -> f64 {
        let Certificate { primal, dual, .. } = *self;
        match () {
            // Nothing feasible is known, so that all of it could be saved.
            () if !primal.is_finite() || dual.is_nan() => 1.0,
            () if primal > dual => (primal - dual) / primal.abs().max(f64::MIN_POSITIVE),
            () => 0.0,
        }
    }

    /// The same where there is an objective that it can be a share of.
    pub(crate) fn relative_gap(&self) -> Option<f64> {
        (!self.vanishes).then(|| self.gap())
    }

    /// Takes over the other's point if it is better, and its dual value if that is; whether the point was.
    pub(super) fn improve(&mut self, other: Certificate) -> bool {
        self.raise(other.dual, other.support_vectors);
        // Of points that prove nothing the last is the best guess.
        let better = other.primal < self.primal || (!self.primal.is_finite() && !other.primal.is_nan());
        if better {
            (self.primal, self.slacks) = (other.primal, other.slacks);
        }
        better
    }

    /// Takes over a dual value if it is better, with the support vectors of its α.
    pub(super) fn raise(&mut self, dual: f64, support_vectors: u64) {
        if dual > self.dual {
            (self.dual, self.support_vectors) = (dual, support_vectors);
        }
    }
}

/// Rows a task sums over; fixed, so that no sum depends on the number of threads.
pub(super) const BLOCK: usize = 1 << 14;

/// A primal point (w, b) and what it and α prove.
#[derive(Clone, Debug)]
pub(crate) struct Certified {
    pub(crate) w: Vec<f64>,
    pub(crate) b: f64,
    pub(crate) certificate: Certificate,
    /// w·x of each example, where it is known.
    pub(crate) scores: Vec<f64>,
}

impl Certified {
    /// A plane of zeros of which nothing is known, to be improved.
    pub(super) fn nothing(features: usize) -> Self {
        Certified { w: vec![0.0; features], b: 0.0, certificate: Certificate::nothing(), scores: Vec::new() }
    }

    /// Takes over the other's point if it is better, and its dual value if that is.
    pub(crate) fn improve(&mut self, other: Certified) {
        let Certified { w, b, certificate, scores } = other;
        if self.certificate.improve(certificate) {
            (self.w, self.b, self.scores) = (w, b, scores);
        }
    }
}

/// What is known beforehand: no solver may end with less.
pub(super) fn certify_start<L: DualLoss, R: Rows>(problem: &Binary<'_, R>, loss: L) -> Option<Certified> {
    if problem.bias == Bias::Free && only_side(problem.examples).is_some() {
        // No α but 0 is feasible, and the bias alone is the optimum.
        let (alpha, w) = (vec![0.0; problem.examples.len()], vec![0.0; problem.x.n_cols()]);
        return Some(loss.certify(problem, &alpha, (w, 0.0), 0.0));
    }
    problem.start.map(|(w, b)| certify_near(problem, loss, w, b))
}

/// What a point is worth as it is, with an α that suits its margins.
fn certify_near<L: DualLoss, R: Rows>(problem: &Binary<'_, R>, loss: L, w: &[f64], b: f64) -> Certified {
    // Winnow's planes have a threshold where others have no bias.
    let b = if problem.bias.is_lifted() { b } else { 0.0 };
    let scores = scores(problem, w);
    let near = |(e, score): (&Example, &f64)| loss.near(e.cost, e.y() * (score + b));
    let mut alpha: Vec<f64> = problem.examples.iter().zip(&scores).map(near).collect();
    let dual = dual_at(problem, loss, &mut alpha);
    let certificate = evaluate(problem, loss, w, b, &scores, &alpha, dual);
    Certified { w: w.to_vec(), b, certificate, scores }
}

/// What a feasible α with its w = Σ αᵢyᵢxᵢ and Σ αᵢyᵢ proves, with the best bias for that w.
pub(crate) fn certify<L: MarginLoss, R: Rows>(
    problem: &Binary<'_, R>,
    loss: L,
    alpha: &[f64],
    (w, sum): (Vec<f64>, f64),
    guess: f64,
) -> Certified {
    let scores = scores(problem, &w);
    let b = match problem.bias {
        Bias::Free => best_bias(loss, problem.examples, &scores, guess),
        Bias::Regularized => sum,
        Bias::None => 0.0,
    };
    let (dual, _) = dual(problem, loss, alpha, &w, sum);
    let certificate = evaluate(problem, loss, &w, b, &scores, alpha, dual);
    Certified { w, b, certificate, scores }
}

/// D at a feasible α near the one given, which becomes it, for any w: never below 0, which is D at 0.
pub(crate) fn dual_at<L: MarginLoss, R: Rows>(problem: &Binary<'_, R>, loss: L, alpha: &mut [f64]) -> f64 {
    let (v, sum) = feasible(problem, alpha);
    let (dual, length) = dual(problem, loss, alpha, &v, sum);
    if length < 1.0 {
        alpha.iter_mut().for_each(|a| *a *= length);
    }
    dual
}

/// D at the best length of α, given v = Σ αᵢyᵢxᵢ and Σ αᵢyᵢ, and that length.
fn dual<L: MarginLoss, R>(
    problem: &Binary<'_, R>,
    loss: L,
    alpha: &[f64],
    v: &[f64],
    sum_of: f64,
) -> (f64, f64) {
    let conjugates = sum(problem.examples, alpha, |e, a| conjugate(loss, e.cost, a));
    at_best_length(half_norm(problem.bias, v, sum_of), conjugates)
}

/// The most that ½‖v‖² and Σ cᵢ·ℓ*(−αᵢ/cᵢ) prove of tα, with 0 ≤ t ≤ 1, and t. ℓ* is convex and 0 at 0, so that D(tα) ≥ −t²·½‖v‖² − t·Σ cᵢ·ℓ*(−αᵢ/cᵢ): at the whole length that is D(α), and
/// far from the optimum, where D(α) may be anything, a shorter α still proves something.
fn at_best_length(half_norm: f64, conjugates: f64) -> (f64, f64) {
    let best = -conjugates / (2.0 * half_norm);
    match () {
        () if -conjugates <= 0.0 => (0.0, 0.0),
        () if best < 1.0 => (-0.5 * best * conjugates, best),
        () => (-half_norm - conjugates, 1.0),
    }
}

/// ½‖w‖², with the bias where it is regularized.
pub(super) fn half_norm(bias: Bias, w: &[f64], b: f64) -> f64 {
    let own = if bias == Bias::Regularized { b * b } else { 0.0 };
    0.5 * (w.iter().map(|w| w * w).sum::<f64>() + own)
}

/// P at a point whose scores are known.
pub(crate) fn primal_at<L: MarginLoss, R>(
    problem: &Binary<'_, R>,
    loss: L,
    w: &[f64],
    b: f64,
    scores: &[f64],
) -> f64 {
    half_norm(problem.bias, w, b) + risk_at(problem, loss, b, scores)
}

/// Σ cᵢ·ℓ(yᵢ(fᵢ + b)), given the scores fᵢ.
pub(crate) fn risk_at<L: MarginLoss, R>(problem: &Binary<'_, R>, loss: L, b: f64, scores: &[f64]) -> f64 {
    sum(problem.examples, scores, |e, f| e.cost * loss.value(e.y() * (f + b)))
}

/// Moves α onto Σ αᵢyᵢ = 0 by scaling the heavier side down, which keeps every bound.
pub(crate) fn project(examples: &[Example], alpha: &mut [f64]) {
    let (mut plus, mut minus) = (0.0, 0.0);
    for (example, &a) in examples.iter().zip(&*alpha) {
        *(if example.is_positive() { &mut plus } else { &mut minus }) += a;
    }
    let (heavier, factor) = if plus > minus { (true, minus / plus) } else { (false, plus / minus) };
    if factor < 1.0 {
        let scaled = examples.iter().zip(alpha).filter(|(example, _)| example.is_positive() == heavier);
        scaled.for_each(|(_, a)| *a *= factor);
    }
}

/// Makes α feasible; then Σ αᵢyᵢxᵢ and Σ αᵢyᵢ.
pub(super) fn feasible<R: Rows>(problem: &Binary<'_, R>, alpha: &mut [f64]) -> (Vec<f64>, f64) {
    if problem.bias == Bias::Free {
        project(problem.examples, alpha);
    }
    let signed: Vec<f64> = problem.examples.iter().zip(&*alpha).map(|(e, a)| e.y() * a).collect();
    combine(problem, &signed)
}

/// Σ fᵢxᵢ, and behind it Σ fᵢ where there is a bias.
pub(crate) fn gradient<R: Rows>(problem: &Binary<'_, R>, factors: &[f64]) -> Vec<f64> {
    let (mut sums, sum) = combine(problem, factors);
    if problem.bias.is_lifted() {
        sums.push(sum);
    }
    sums
}

/// (1 + Σ dᵢ·xᵢxᵢᵀ)·v, with the 1 for the first `penalised` numbers. Each row is multiplied and added while it is at hand.
pub(crate) fn curve<R: Rows>(problem: &Binary<'_, R>, d: &[f64], v: &[f64], penalised: usize) -> Vec<f64> {
    let (along, lift) = problem.split(v);
    let (mut sums, sum) = combine_with(problem, d, |examples, d| {
        let scores = problem.x.dots(examples.map(|e| e.row as usize), along);
        std::array::from_fn(|k| d[k] * (scores[k] + lift))
    });
    if problem.bias.is_lifted() {
        sums.push(sum);
    }
    sums.iter_mut().zip(v).take(penalised).for_each(|(sum, v)| *sum += v);
    sums
}

/// Σ fᵢxᵢ and Σ fᵢ.
fn combine<R: Rows>(problem: &Binary<'_, R>, factors: &[f64]) -> (Vec<f64>, f64) {
    combine_with(problem, factors, |_, f| f)
}

/// The same with factors made of those given, which are not 0, for a few rows at a time, in parts that do not depend on the number of threads.
fn combine_with<R: Rows>(
    problem: &Binary<'_, R>,
    factors: &[f64],
    factor: impl Fn([&Example; TOGETHER], [f64; TOGETHER]) -> [f64; TOGETHER] + Sync,
) -> (Vec<f64>, f64) {
    const PARTS: usize = 4;
    let size = factors.len().div_ceil(PARTS).max(BLOCK / 8);
    let part = |(examples, factors): (&[Example], &[f64])| {
        let (mut w, mut sum) = (vec![0.0; problem.x.n_cols()], 0.0);
        let ahead = problem.ahead(examples);
        let mut given = examples.iter().zip(factors).enumerate().filter(|(_, (_, f))| **f != 0.0);
        while let Some((at, (first, &f))) = given.next() {
            let (mut some, mut made, mut len, mut last) = ([first; TOGETHER], [f; TOGETHER], 1, at);
            for (at, (example, &f)) in given.by_ref().take(TOGETHER - 1) {
                (some[len], made[len], last) = (example, f, at);
                len += 1;
            }
            (at..=last).for_each(|at| problem.prefetch(ahead, at));
            for (example, f) in some.into_iter().zip(factor(some, made)).take(len) {
                problem.x.axpy(f, example.row as usize, &mut w);
                sum += f;
            }
        }
        (w, sum)
    };
    let parts: Vec<(Vec<f64>, f64)> =
        problem.examples.par_chunks(size).zip(factors.par_chunks(size)).map(part).collect();
    let mut parts = parts.into_iter();
    let (mut w, mut sum) = parts.next().unwrap_or_else(|| (vec![0.0; problem.x.n_cols()], 0.0));
    for (part, part_sum) in parts {
        w.iter_mut().zip(part).for_each(|(w, part)| *w += part);
        sum += part_sum;
    }
    (w, sum)
}

/// w·xᵢ of each example.
pub(crate) fn scores<R: Rows>(problem: &Binary<'_, R>, w: &[f64]) -> Vec<f64> {
    let mut scores = vec![0.0; problem.examples.len()];
    score_all(problem, w, &mut scores);
    scores
}

/// The same, into its place.
pub(super) fn score_all<R: Rows>(problem: &Binary<'_, R>, w: &[f64], scores: &mut [f64]) {
    let block = |(examples, scores): (&[Example], &mut [f64])| {
        let ahead = problem.ahead(examples);
        let ((groups, last), (together, alone)) =
            (examples.as_chunks::<TOGETHER>(), scores.as_chunks_mut::<TOGETHER>());
        for (k, (group, scores)) in groups.iter().zip(together).enumerate() {
            (0..TOGETHER).for_each(|row| problem.prefetch(ahead, TOGETHER * k + row));
            *scores = problem.x.dots(group.map(|e| e.row as usize), w);
        }
        last.iter().zip(alone).for_each(|(e, score)| *score = problem.x.dot(e.row as usize, w));
    };
    problem.examples.par_chunks(BLOCK / 4).zip(scores.par_chunks_mut(BLOCK / 4)).for_each(block);
}

/// The sum of a term over all examples and their scores.
pub(super) fn sum(examples: &[Example], scores: &[f64], term: impl Fn(&Example, f64) -> f64 + Sync) -> f64 {
    let block = |(examples, scores): (&[Example], &[f64])| -> f64 {
        examples.iter().zip(scores).map(|(example, &score)| term(example, score)).sum()
    };
    let blocks: Vec<f64> = examples.par_chunks(BLOCK).zip(scores.par_chunks(BLOCK)).map(block).collect();
    blocks.iter().sum()
}

/// Minimises Σ cᵢ·ℓ(yᵢ(fᵢ + b)) over b: its slope never falls, so that bisection finds where it passes 0.
pub(crate) fn best_bias<L: MarginLoss>(loss: L, examples: &[Example], scores: &[f64], guess: f64) -> f64 {
    if let Some(side) = only_side(examples) {
        return far_enough(loss, examples, scores, guess, side);
    }
    let slope = |b: f64| sum(examples, scores, |e, f| e.cost * e.y() * loss.slope(e.y() * (f + b)));
    let (mut low, mut high) = (guess, guess);
    let mut width = 1e-3 * (1.0 + guess.abs());
    if slope(guess) > 0.0 {
        while slope(low) > 0.0 && low > -f64::MAX / 4.0 {
            (high, low, width) = (low, low - width, 4.0 * width);
        }
    } else {
        while slope(high) < 0.0 && high < f64::MAX / 4.0 {
            (low, high, width) = (high, high + width, 4.0 * width);
        }
    }
    while high - low > 1e-10 * (1.0 + low.abs()) {
        let middle = 0.5 * (low + high);
        *(if slope(middle) > 0.0 { &mut high } else { &mut low }) = middle;
    }
    0.5 * (low + high)
}

/// y of all rows, if it is the same.
fn only_side(examples: &[Example]) -> Option<f64> {
    let first = examples.first()?;
    examples.iter().all(|e| e.is_positive() == first.is_positive()).then(|| first.y())
}

/// A bias as far on the only side that there are rows of as it takes: the risk falls, perhaps for ever, until it is 0 or all that it can be.
fn far_enough<L: MarginLoss>(loss: L, examples: &[Example], scores: &[f64], guess: f64, side: f64) -> f64 {
    let risk = |b: f64| sum(examples, scores, |e, f| e.cost * loss.value(e.y() * (f + b)));
    let (mut b, mut least, mut width) = (guess, risk(guess), 1.0 + guess.abs());
    loop {
        let next = b + side * width;
        let there = risk(next);
        match there < least && next.abs() < f64::MAX / 4.0 {
            true => (b, least, width) = (next, there, 2.0 * width),
            false => break b,
        }
    }
}

/// Rows with a share in w: of copies no more than it takes.
pub(super) fn support_vectors(examples: &[Example], alpha: &[f64]) -> u64 {
    let of_copies = |(e, &a): (&Example, &f64)| match e.copies() {
        _ if a <= 0.0 => 0,
        copies => ((a / e.cost * copies as f64 - 1e-9).ceil() as u64).clamp(1, copies),
    };
    examples.iter().zip(alpha).map(of_copies).sum()
}

/// Puts together what is known of a point and of α.
pub(crate) fn evaluate<L: MarginLoss, R>(
    problem: &Binary<'_, R>,
    loss: L,
    w: &[f64],
    b: f64,
    scores: &[f64],
    alpha: &[f64],
    dual: f64,
) -> Certificate {
    let mut slacks = Slacks::default();
    problem.examples.iter().zip(scores).for_each(|(e, f)| slacks.count(e.y() * (f + b), e.copies()));
    let support_vectors = support_vectors(problem.examples, alpha);
    let primal = primal_at(problem, loss, w, b, scores);
    Certificate { primal, dual, slacks, support_vectors, ..Certificate::default() }
}

/// c·ℓ*(−α/c)
#[inline]
pub(crate) fn conjugate<L: MarginLoss>(loss: L, cost: f64, alpha: f64) -> f64 {
    // Rounding may put α a hair above its bound, where the conjugate is infinite.
    cost * loss.conjugate((alpha / cost).min(loss.steepest()))
}
