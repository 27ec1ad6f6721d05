//! All that a smooth solver asks of a point, from one pass over the rows.
//!
//! The slopes αᵢ = −cᵢ·ℓ'(mᵢ) are dual variables, and Σ αᵢyᵢxᵢ is both what the gradient of P is made of and what D is: so the gap at a point costs nothing. A free bias asks for
//! Σ αᵢyᵢ = 0; the heavier side is scaled down by f < 1 for that, where ℓ*(−f·a) ≤ f·ℓ*(−a), for ℓ* is convex and 0 at 0: a bound on D is all that is needed to go on. The rounded hinge's ℓ* is not 0 at 0, but its gap only decides when a round ends.

use rayon::prelude::*;

use super::certificate::{BLOCK, half_norm};
use super::{Binary, Example};
use crate::data::Rows;
use crate::learner::Bias;
use crate::loss::{Hinge, Logistic, MarginLoss, SquaredHinge};

/// A loss at a margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bend {
    pub(crate) value: f64,
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
}

/// A loss with a second derivative, which may stand for one that has none.
pub(crate) trait SmoothLoss: Copy + Send + Sync {
    /// The loss that it stands for.
    type Real: MarginLoss;
    const REAL: Self::Real;
    /// Whether ℓ'' has but a few values, so that it changes for few examples near the optimum.
    const STEPWISE: bool = false;
    /// Whether it is 0 beyond the margin.
    const FLAT: bool = false;
    /// What it remembers of an example from round to round.
    type Memory: Copy + Default + PartialEq + Send + Sync;

    /// ℓ, ℓ' and ℓ'' at m.
    fn bend(self, m: f64, memory: Self::Memory) -> Bend;

    /// What to remember of an example when a round is over.
    fn remember(self, _bend: Bend) -> Self::Memory {
        Self::Memory::default()
    }

    /// α/c of a row when the round before was over, where it is remembered.
    fn recall(_memory: Self::Memory) -> Option<f64> {
        None
    }

    /// What to begin with, where a margin near that of the optimum is known.
    fn guess(self, _m: f64) -> Self::Memory {
        Self::Memory::default()
    }

    /// The value of the loss it stands for and, where both are one, what Fenchel and Young say of its conjugate at the slope.
    #[inline]
    fn real(self, m: f64, bend: Bend) -> (f64, f64) {
        (bend.value, m * bend.slope - bend.value)
    }

    /// One nearer to the loss that it stands for, once the rest of the gap is small beside what the difference makes of it.
    fn nearer(self, _at: &Evaluation) -> Option<Self> {
        None
    }
}

impl SmoothLoss for SquaredHinge {
    type Real = SquaredHinge;
    const REAL: SquaredHinge = SquaredHinge;
    const STEPWISE: bool = true;
    const FLAT: bool = true;
    type Memory = ();

    #[inline]
    fn bend(self, m: f64, (): ()) -> Bend {
        let lack = Hinge.value(m);
        Bend { value: lack * lack, slope: -2.0 * lack, curvature: if m < 1.0 { 2.0 } else { 0.0 } }
    }
}

impl SmoothLoss for Logistic {
    type Real = Logistic;
    const REAL: Logistic = Logistic;
    type Memory = ();

    #[inline]
    fn bend(self, m: f64, (): ()) -> Bend {
        // One exponential for all, which never overflows.
        let e = (-m.abs()).exp();
        let small = e / (1.0 + e);
        let p = if m > 0.0 { small } else { 1.0 - small };
        Bend { value: e.ln_1p() + (-m).max(0.0), slope: -p, curvature: small / (1.0 + e) }
    }
}

/// The hinge with its corner made round (Huber 1964; Chapelle 2007, Neural Computation 19:5), around the α of the last round: between a slope of 0 and of −1 lies a zone of some width, placed so that a row whose α is right
/// has its margin at 1. That is the method of multipliers (Rockafellar 1976, Mathematics of Operations Research 1:2): a row in the zone adds to the gap of the hinge itself what its α still moves, and not what the zone is
/// wide, so that a wide one, on which Newton's method is fast, will do. In the first round all α are 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    width: f64,
}

impl Rounded {
    /// Wide enough for rows of margin 0, where solvers start, to be inside.
    pub(super) const WIDEST: Rounded = Rounded { width: 2.0 };
}

impl SmoothLoss for Rounded {
    type Real = Hinge;
    const REAL: Hinge = Hinge;
    const FLAT: bool = true;
    type Memory = f64;

    /// max a(1 − m) − ½width·(a − a₀)² over 0 ≤ a ≤ 1, with a₀ of the last round.
    #[inline]
    fn bend(self, m: f64, before: f64) -> Bend {
        let (lack, width) = (1.0 - m, self.width);
        let free = before + lack / width;
        let a = free.clamp(0.0, 1.0);
        Bend {
            value: a * lack - 0.5 * width * (a - before).powi(2),
            slope: -a,
            curvature: if free == a { 1.0 / width } else { 0.0 },
        }
    }

    fn remember(self, bend: Bend) -> f64 {
        -bend.slope
    }

    fn recall(memory: f64) -> Option<f64> {
        Some(memory)
    }

    fn guess(self, m: f64) -> f64 {
        (0.5 + (1.0 - m) / self.width).clamp(0.0, 1.0)
    }

    #[inline]
    fn real(self, m: f64, bend: Bend) -> (f64, f64) {
        (Hinge.value(m), bend.slope)
    }

    fn nearer(self, at: &Evaluation) -> Option<Self> {
        const ENOUGH: f64 = 0.5;
        const SMALLEST: f64 = 1e-9;
        let rounded_off = at.smooth_gap <= ENOUGH * at.gap && self.width > SMALLEST;
        // Fewer rounds the narrower, but longer ones; without any narrowing rounds get slow.
        rounded_off.then_some(Rounded { width: 0.5 * self.width })
    }
}

/// What a point is worth.
#[derive(Default)]
pub(crate) struct Evaluation {
    /// P, with the smooth loss.
    pub(crate) value: f64,
    /// The same with the loss that it stands for.
    pub(crate) real: f64,
    /// (P − D)/P of the smooth loss at the most.
    pub(crate) smooth_gap: f64,
    /// The same of the loss that it stands for.
    pub(crate) gap: f64,
    /// Of P, w first, then b where there is one.
    pub(crate) gradient: Vec<f64>,
    /// cᵢ·ℓ''(mᵢ)
    pub(crate) curvatures: Vec<f64>,
}

/// Sums over the rows of one class.
struct Side {
    /// Σ αᵢxᵢ
    sum: Vec<f64>,
    /// Σ αᵢ
    alpha: f64,
    /// Σ cᵢ·ℓ*(−αᵢ/cᵢ), smooth and real.
    conjugates: [f64; 2],
}

/// Sums over some rows.
struct Part {
    /// Σ cᵢ·ℓ(mᵢ), smooth and real.
    values: [f64; 2],
    /// Those of class −1, those of class +1.
    sides: [Side; 2],
}

impl Part {
    fn new(n_cols: usize) -> Part {
        let side = || Side { sum: vec![0.0; n_cols], alpha: 0.0, conjugates: [0.0; 2] };
        Part { values: [0.0; 2], sides: [side(), side()] }
    }

    /// Adds up rows whose scores are given; fills in their curvatures.
    fn of<L: SmoothLoss, R: Rows>(
        problem: &Binary<'_, R>,
        loss: L,
        examples: &[Example],
        known: impl Iterator<Item = (f64, L::Memory)>,
        curvatures: &mut [f64],
    ) -> Part {
        let mut part = Part::new(problem.x.n_cols());
        let ahead = problem.ahead(examples);
        for (k, ((example, (score, memory)), curvature)) in
            examples.iter().zip(known).zip(curvatures).enumerate()
        {
            problem.prefetch(ahead, k);
            let (m, c) = (example.y() * score, example.cost);
            let bend = loss.bend(m, memory);
            let (real, conjugate) = loss.real(m, bend);
            let alpha = -c * bend.slope;
            *curvature = c * bend.curvature;
            part.values[0] += c * bend.value;
            part.values[1] += c * real;
            let side = &mut part.sides[usize::from(example.is_positive())];
            side.conjugates[0] += c * (m * bend.slope - bend.value);
            side.conjugates[1] += c * conjugate;
            if alpha != 0.0 {
                side.alpha += alpha;
                problem.x.axpy(alpha, example.row as usize, &mut side.sum);
            }
        }
        part
    }

    fn add(&mut self, other: Part) {
        let add =
            |sums: &mut [f64; 2], others: [f64; 2]| sums.iter_mut().zip(others).for_each(|(a, b)| *a += b);
        add(&mut self.values, other.values);
        for (side, other) in self.sides.iter_mut().zip(other.sides) {
            side.alpha += other.alpha;
            add(&mut side.conjugates, other.conjugates);
            side.sum.iter_mut().zip(other.sum).for_each(|(a, b)| *a += b);
        }
    }

    /// How much each side counts when α is made feasible.
    fn factors(&self, bias: Bias) -> [f64; 2] {
        let [minus, plus] = self.sides.each_ref().map(|side| side.alpha);
        match bias {
            Bias::Free if plus > minus => [1.0, minus / plus],
            Bias::Free if minus > plus => [plus / minus, 1.0],
            _ => [1.0; 2],
        }
    }
}

/// Parts that sums are taken in, each with sums of its own; they do not depend on the number of threads, and so no sum does.
pub(super) fn parts(n_cols: usize) -> usize {
    if n_cols > 1 << 16 { 2 } else { 8 }
}

impl Evaluation {
    /// Becomes that of a point whose scores, bias included, are known.
    pub(crate) fn renew<L: SmoothLoss, R: Rows>(
        &mut self,
        problem: &Binary<'_, R>,
        loss: L,
        point: &[f64],
        scores: &[f64],
        memory: &[L::Memory],
    ) {
        let size = scores.len().div_ceil(parts(problem.x.n_cols())).max(BLOCK / 8);
        let curvatures = &mut self.curvatures;
        curvatures.resize(scores.len(), 0.0);
        let rows = problem.examples.par_chunks(size).zip(scores.par_chunks(size));
        let parts: Vec<Part> = rows
            .zip(memory.par_chunks(size))
            .zip(curvatures.par_chunks_mut(size))
            .map(|(((examples, scores), memory), curvatures)| {
                let known = scores.iter().copied().zip(memory.iter().copied());
                Part::of(problem, loss, examples, known, curvatures)
            })
            .collect();
        let mut parts = parts.into_iter();
        let mut total = parts.next().unwrap_or_else(|| Part::new(problem.x.n_cols()));
        parts.for_each(|part| total.add(part));
        let (w, b) = problem.split(point);
        let norm = half_norm(problem.bias, w, b);
        let [f_minus, f_plus] = total.factors(problem.bias);
        let [minus, plus] = &total.sides;
        let v: Vec<f64> = minus.sum.iter().zip(&plus.sum).map(|(m, p)| f_plus * p - f_minus * m).collect();
        let dual_norm = half_norm(problem.bias, &v, plus.alpha - minus.alpha);
        let gap = |k: usize| {
            let primal = norm + total.values[k];
            let dual = -dual_norm - f_minus * minus.conjugates[k] - f_plus * plus.conjugates[k];
            // What remains of a rounded loss may be nothing, so that the loss it stands for is the measure of both.
            let of = norm + total.values[1];
            if primal.is_finite() && dual.is_finite() { ((primal - dual) / of).max(0.0) } else { 1.0 }
        };
        (self.value, self.real) = (norm + total.values[0], norm + total.values[1]);
        (self.smooth_gap, self.gap) = (gap(0), gap(1));
        self.gradient = gradient(problem, point, minus, plus);
    }
}

fn gradient<R: Rows>(problem: &Binary<'_, R>, point: &[f64], minus: &Side, plus: &Side) -> Vec<f64> {
    let mut gradient: Vec<f64> = minus.sum.iter().zip(&plus.sum).map(|(minus, plus)| minus - plus).collect();
    if problem.bias.is_lifted() {
        gradient.push(minus.alpha - plus.alpha);
    }
    gradient.iter_mut().zip(point).take(problem.penalised()).for_each(|(g, w)| *g += w);
    gradient
}
