//! Newton's method with a Cholesky factor, for few features.
//!
//! Minimises P(w, b) itself, for a smooth loss: H = 1 + Σ cᵢ·ℓ''(mᵢ)·xᵢxᵢᵀ costs n·d²/2 and is factored in d³/6, so that a dozen steps solve what
//! coordinate descent creeps along when columns differ in scale. Hinge is not smooth: it is rounded by a parabola of width δ below its corner, and δ
//! falls as the steps settle (Chapelle 2007, Neural Computation 19:5). The slopes of the rounded loss lie within those of hinge, so that they are feasible
//! dual variables, and the gap is that of hinge itself.

use rayon::prelude::*;

use super::certificate::{Certified, dual_at, evaluate, scores};
use super::{Binary, End, Example, Limits, Solution};
use crate::data::Rows;
use crate::learner::Bias;
use crate::loss::{Hinge, Logistic, MarginLoss, SquaredHinge};
use crate::simd::{Loop, widely};
use crate::watch::Monitor;

/// A loss with a second derivative, or one that can be rounded until it has one.
pub(crate) trait NewtonLoss: MarginLoss {
    /// The loss, smooth; δ tells how round, and need not matter.
    type Smooth: SmoothLoss;
    fn rounded(self, delta: f64) -> Self::Smooth;
    /// δ at the start; 0 where there is nothing to round.
    const DELTA: f64;
}

pub(crate) trait SmoothLoss: MarginLoss {
    /// ℓ''(m)
    fn curvature(self, m: f64) -> f64;
}

/// Hinge with a parabola between 1 − δ and 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounded {
    delta: f64,
}

impl MarginLoss for Rounded {
    fn value(self, m: f64) -> f64 {
        let depth = Hinge.value(m);
        if depth < self.delta { 0.5 * depth * depth / self.delta } else { depth - 0.5 * self.delta }
    }
    fn slope(self, m: f64) -> f64 {
        -(Hinge.value(m) / self.delta).min(1.0)
    }
    fn conjugate(self, a: f64) -> f64 {
        if (0.0..=1.0).contains(&a) { 0.5 * self.delta * a * a - a } else { f64::INFINITY }
    }
}

impl SmoothLoss for Rounded {
    fn curvature(self, m: f64) -> f64 {
        let depth = 1.0 - m;
        if depth > 0.0 && depth < self.delta { 1.0 / self.delta } else { 0.0 }
    }
}

impl SmoothLoss for SquaredHinge {
    fn curvature(self, m: f64) -> f64 {
        if m < 1.0 { 2.0 } else { 0.0 }
    }
}

impl SmoothLoss for Logistic {
    fn curvature(self, m: f64) -> f64 {
        let p = -self.slope(m);
        p * (1.0 - p)
    }
}

impl NewtonLoss for Hinge {
    type Smooth = Rounded;
    const DELTA: f64 = 1.0;
    fn rounded(self, delta: f64) -> Rounded {
        Rounded { delta }
    }
}

impl NewtonLoss for SquaredHinge {
    type Smooth = SquaredHinge;
    const DELTA: f64 = 0.0;
    fn rounded(self, _: f64) -> SquaredHinge {
        self
    }
}

impl NewtonLoss for Logistic {
    type Smooth = Logistic;
    const DELTA: f64 = 0.0;
    fn rounded(self, _: f64) -> Logistic {
        self
    }
}

/// The minimisation under way.
pub(super) struct Newton<'a, R, L> {
    problem: &'a Binary<'a, R>,
    loss: L,
    limits: Limits,
    /// w, and b behind it where there is one.
    point: Vec<f64>,
    /// w·x + b of each example.
    scores: Vec<f64>,
}

/// Rows summed by one task; fixed, so that no sum depends on the number of threads.
const PARTS: usize = 8;

impl<'a, R: Rows, L: NewtonLoss> Newton<'a, R, L> {
    pub(super) fn new(problem: &'a Binary<'a, R>, loss: L, limits: Limits) -> Self {
        let size = problem.x.n_cols() + usize::from(problem.bias.is_lifted());
        Newton { problem, loss, limits, point: vec![0.0; size], scores: vec![0.0; problem.examples.len()] }
    }

    pub(super) fn solve(mut self, monitor: &Monitor<'_>) -> Solution {
        let mut delta = L::DELTA;
        let mut best: Option<(Certified, Vec<f64>)> = None;
        let (mut passes, mut idle) = (0, 0);
        let end = loop {
            passes += 1;
            let step = self.step(self.loss.rounded(delta));
            let (certified, alpha) = self.certify(delta);
            let gap = certified.certificate.gap();
            let gained = best.as_ref().is_none_or(|(best, _)| gap < best.certificate.gap());
            idle = if gained { 0 } else { idle + 1 };
            if gained {
                best = Some((certified, alpha));
            }
            if gap <= self.limits.gap {
                break End::Converged;
            }
            if !monitor.go_on(self.problem.examples.len()) {
                break End::Stopped;
            }
            if passes >= self.limits.passes {
                break End::PassLimit;
            }
            if idle >= 30 || (step == 0.0 && delta == 0.0) {
                break End::Stalled;
            }
            if step < 0.1 {
                delta *= 0.25;
            }
        };
        let (Certified { w, b, certificate }, alpha) = best.unwrap_or_else(|| self.certify(delta));
        Solution { w, b, alpha, certificate, passes, end }
    }

    fn split(&self) -> (&[f64], f64) {
        match self.problem.bias.is_lifted() {
            true => self.point.split_last().map_or((&[], 0.0), |(b, w)| (w, *b)),
            false => (&self.point, 0.0),
        }
    }

    /// The gap at this point: α from the slopes of the rounded loss.
    fn certify(&self, delta: f64) -> (Certified, Vec<f64>) {
        let (w, b) = self.split();
        let loss = self.loss.rounded(delta);
        let alpha = |(e, score): (&Example, &f64)| -e.cost * loss.slope(e.y() * score);
        let mut alpha: Vec<f64> = self.problem.examples.iter().zip(&self.scores).map(alpha).collect();
        let dual = dual_at(self.problem, self.loss, &mut alpha);
        let without: Vec<f64> = self.scores.iter().map(|score| score - b).collect();
        let certificate = evaluate(self.problem, self.loss, w, b, &without, &alpha, dual);
        (Certified { w: w.to_vec(), b, certificate }, alpha)
    }

    /// One step with a line search; the decrease promised, as a share of the objective.
    fn step<S: SmoothLoss>(&mut self, loss: S) -> f64 {
        let (mut gradient, mut hessian) = self.derivatives(loss);
        let size = self.point.len();
        let penalised = if self.problem.bias == Bias::Regularized { size } else { self.problem.x.n_cols() };
        for j in 0..penalised {
            gradient[j] += self.point[j];
            hessian[j * size + j] += 1.0;
        }
        factor(&mut hessian, size);
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        solve(&hessian, size, &mut direction);
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, p)| g * p).sum();
        if slope >= 0.0 {
            return 0.0;
        }
        self.search(loss, &direction, slope, penalised)
    }

    /// Armijo's rule on P along a direction.
    fn search<S: SmoothLoss>(&mut self, loss: S, direction: &[f64], slope: f64, penalised: usize) -> f64 {
        let problem = self.problem;
        let n_cols = problem.x.n_cols();
        let (along, lift) = (&direction[..n_cols], direction.get(n_cols).copied().unwrap_or(0.0));
        let moves: Vec<f64> = scores(problem, along).into_iter().map(|f| f + lift).collect();
        let norm = |t: f64| {
            let term = |(w, p): (&f64, &f64)| (w + t * p).powi(2);
            0.5 * self.point.iter().zip(direction).take(penalised).map(term).sum::<f64>()
        };
        let both: Vec<[f64; 2]> = self.scores.iter().copied().zip(moves).map(|(f, p)| [f, p]).collect();
        let value = |t: f64| {
            let risk = |block: (&[Example], &[[f64; 2]])| -> f64 {
                block.0.iter().zip(block.1).map(|(e, [f, p])| e.cost * loss.value(e.y() * (f + t * p))).sum()
            };
            let size = 1 << 14;
            let blocks: Vec<f64> = problem.examples.par_chunks(size).zip(both.par_chunks(size)).map(risk).collect();
            norm(t) + blocks.iter().sum::<f64>()
        };
        let start = value(0.0);
        let mut t = 1.0;
        while value(t) > start + 1e-4 * t * slope && t > 1e-12 {
            t *= 0.5;
        }
        self.point.iter_mut().zip(direction).for_each(|(w, p)| *w += t * p);
        self.scores.iter_mut().zip(&both).for_each(|(score, [_, p])| *score += t * p);
        -slope / start.max(f64::MIN_POSITIVE)
    }

    /// Gradient and second derivatives of the risk, the latter as the lower half of a matrix.
    fn derivatives<S: SmoothLoss>(&self, loss: S) -> (Vec<f64>, Vec<f64>) {
        let size = self.point.len();
        let chunk = self.problem.examples.len().div_ceil(PARTS).max(1);
        let part = |(examples, scores): (&[Example], &[f64])| {
            let (problem, sums) = (self.problem, (vec![0.0; size], vec![0.0; size * size]));
            widely(Accumulate { problem, examples, scores, loss, sums })
        };
        let parts: Vec<(Vec<f64>, Vec<f64>)> =
            self.problem.examples.par_chunks(chunk).zip(self.scores.par_chunks(chunk)).map(part).collect();
        let mut parts = parts.into_iter();
        let (mut gradient, mut hessian) =
            parts.next().unwrap_or_else(|| (vec![0.0; size], vec![0.0; size * size]));
        for (g, h) in parts {
            gradient.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
            hessian.iter_mut().zip(h).for_each(|(sum, h)| *sum += h);
        }
        (gradient, hessian)
    }
}

/// Sums cᵢ·ℓ'·yᵢ·xᵢ and cᵢ·ℓ''·xᵢxᵢᵀ over some examples.
struct Accumulate<'a, R, S> {
    problem: &'a Binary<'a, R>,
    examples: &'a [Example],
    scores: &'a [f64],
    loss: S,
    sums: (Vec<f64>, Vec<f64>),
}

impl<R: Rows, S: SmoothLoss> Loop for Accumulate<'_, R, S> {
    type Output = (Vec<f64>, Vec<f64>);

    #[inline(always)]
    fn run(self) -> (Vec<f64>, Vec<f64>) {
        let Accumulate { problem, examples, scores, loss, sums: (mut gradient, mut hessian) } = self;
        let (n_cols, size) = (problem.x.n_cols(), gradient.len());
        let mut entries: Vec<(usize, f64)> = Vec::with_capacity(size);
        for (e, &score) in examples.iter().zip(scores) {
            let m = e.y() * score;
            let slope = e.cost * e.y() * loss.slope(m);
            if slope == 0.0 {
                continue;
            }
            entries.clear();
            problem.x.each(e.row as usize, |j, v| entries.push((j, v)));
            if size > n_cols {
                entries.push((n_cols, 1.0));
            }
            entries.iter().for_each(|&(j, v)| gradient[j] += slope * v);
            let curvature = e.cost * loss.curvature(m);
            if curvature == 0.0 {
                continue;
            }
            for (at, &(j, v)) in entries.iter().enumerate() {
                let (row, scaled) = (&mut hessian[j * size..][..size], curvature * v);
                entries[..=at].iter().for_each(|&(k, u)| row[k] += scaled * u);
            }
        }
        (gradient, hessian)
    }
}

/// The lower Cholesky factor of a positive definite matrix in its place. A column that has no curvature is left without a step.
fn factor(a: &mut [f64], n: usize) {
    for j in 0..n {
        let (done, rest) = a.split_at_mut(j * n);
        let row = &mut rest[..n];
        for k in 0..j {
            let other = &done[k * n..][..k];
            let sum: f64 = other.iter().zip(&row[..k]).map(|(a, b)| a * b).sum();
            row[k] = (row[k] - sum) * done[k * n + k].recip();
        }
        let rest: f64 = row[j] - row[..j].iter().map(|v| v * v).sum::<f64>();
        row[j] = if rest > 1e-12 * row[j].abs() { rest.sqrt() } else { f64::INFINITY };
    }
}

/// x ← (L·Lᵀ)⁻¹x
fn solve(l: &[f64], n: usize, x: &mut [f64]) {
    for j in 0..n {
        let sum: f64 = l[j * n..][..j].iter().zip(&x[..j]).map(|(a, b)| a * b).sum();
        x[j] = (x[j] - sum) / l[j * n + j];
    }
    for j in (0..n).rev() {
        x[j] /= l[j * n + j];
        let (value, row) = (x[j], &l[j * n..][..j]);
        x[..j].iter_mut().zip(row).for_each(|(x, a)| *x -= value * a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves() {
        // [[4, 2, 1], [2, 5, 3], [1, 3, 6]]·(1, 2, 3) = (11, 21, 25)
        let mut a = vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let mut x = vec![11.0, 21.0, 25.0];
        factor(&mut a, 3);
        solve(&a, 3, &mut x);
        for (found, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{x:?}");
        }
    }
}
