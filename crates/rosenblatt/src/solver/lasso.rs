//! A quadratic function of a few weights under an L1 penalty.
//!
//! ```text
//! min q(u) = g·(u − w) + ½(u − w)ᵀH(u − w) + Σ|uⱼ|      the last u may be a bias, which is not penalised
//! ```
//!
//! Where no sign changes q is a parabola, and a Cholesky factor leads to its minimum at once, however columns differ in scale and resemble each other; steps in single weights find which
//! of those that are 0 enter. A weight that would change its sign on the way stops at 0.

use super::factor::Factor;

/// The function, and where its minimum is looked for.
pub(super) struct Lasso {
    /// H, whole, row by row.
    h: Vec<f64>,
    /// How many numbers the penalty counts; there may be one more.
    penalised: usize,
    u: Vec<f64>,
    /// g + H(u − w)
    slopes: Vec<f64>,
}

impl Lasso {
    /// Starts at w, where the gradient is g.
    pub(super) fn new(h: Vec<f64>, penalised: usize, w: Vec<f64>, g: Vec<f64>) -> Self {
        let mut lasso = Lasso { h, penalised, u: w, slopes: g };
        for j in 0..lasso.size() {
            let at = j * lasso.size() + j;
            lasso.h[at] = lasso.h[at] * (1.0 + RIDGE) + LEAST_CURVATURE;
        }
        lasso
    }

    fn size(&self) -> usize {
        self.u.len()
    }

    /// The minimum, with slopes that are 0 or inside their bounds but for so much.
    pub(super) fn minimum(mut self, enough: f64) -> Vec<f64> {
        /// Rounding errors may keep it from the end.
        const ROUNDS: usize = 100;
        for _ in 0..ROUNDS {
            self.minimise_face();
            if self.enter() <= enough {
                break;
            }
        }
        self.u
    }

    /// A step in each number that is not where it wants to be, of those that are 0 in the most promising ones only: of columns that resemble each other, few are needed. The largest violation met.
    fn enter(&mut self) -> f64 {
        const LEAST: usize = 8;
        let active = self.u.iter().filter(|u| **u != 0.0).count();
        let off = |j: usize| match j < self.penalised {
            true => violation(self.u[j], self.slopes[j]),
            false => self.slopes[j].abs(),
        };
        let promise = |j: usize| off(j).powi(2) / self.h[j * self.size() + j];
        let largest = (0..self.size()).map(off).fold(0.0, f64::max);
        let violated = (0..self.size()).filter(|&j| off(j) > 0.0);
        let (moving, mut new): (Vec<usize>, Vec<usize>) = violated.partition(|&j| self.u[j] != 0.0);
        new.sort_by(|&a, &b| promise(b).total_cmp(&promise(a)).then(a.cmp(&b)));
        new.truncate(LEAST.max(active / 4));
        for j in moving.into_iter().chain(new) {
            let (u, slope, curvature) = (self.u[j], self.slopes[j], self.h[j * self.size() + j]);
            let step = if j < self.penalised { step(u, slope, curvature) } else { -slope / curvature };
            if step != 0.0 {
                self.go(j, step);
            }
        }
        largest
    }

    fn go(&mut self, j: usize, step: f64) {
        self.u[j] += step;
        let n = self.size();
        self.slopes.iter_mut().zip(&self.h[j * n..][..n]).for_each(|(slope, h)| *slope += step * h);
    }

    /// Newton steps in the numbers that are not 0, until none of them reaches 0 on the way.
    fn minimise_face(&mut self) {
        loop {
            let free: Vec<usize> =
                (0..self.size()).filter(|&j| j >= self.penalised || self.u[j] != 0.0).collect();
            let whole = self.newton_step(&free);
            let stopped = self.stopped_at_zero(&free, &whole);
            let stops = stopped != whole;
            let step = match () {
                () if !stops || self.change(&free, &stopped) < 0.0 => stopped,
                () => self.to_first_zero(&free, &whole),
            };
            let change = self.change(&free, &step);
            if change >= 0.0 || change.is_nan() {
                return;
            }
            free.iter().zip(&step).filter(|(_, step)| **step != 0.0).for_each(|(&j, &step)| self.go(j, step));
            if !stops {
                return;
            }
        }
    }

    /// To where the parabola of these numbers is least.
    fn newton_step(&self, free: &[usize]) -> Vec<f64> {
        let n = free.len();
        let mut a = vec![0.0; n * n];
        for (row, &j) in a.chunks_mut(n.max(1)).zip(free) {
            row.iter_mut().zip(free).for_each(|(a, &k)| *a = self.h[j * self.size() + k]);
        }
        let downhill: Vec<f64> = free.iter().map(|&j| -self.slopes[j] - self.sign(j)).collect();
        Factor::of(a, n).solved(&downhill)
    }

    /// The slope of the penalty.
    fn sign(&self, j: usize) -> f64 {
        if j < self.penalised { self.u[j].signum() } else { 0.0 }
    }

    fn stopped_at_zero(&self, free: &[usize], step: &[f64]) -> Vec<f64> {
        let stop = |(&j, &step): (&usize, &f64)| {
            let changes = j < self.penalised && self.u[j] * (self.u[j] + step) <= 0.0;
            if changes { -self.u[j] } else { step }
        };
        free.iter().zip(step).map(stop).collect()
    }

    /// The part of a step after which a first number is 0.
    fn to_first_zero(&self, free: &[usize], step: &[f64]) -> Vec<f64> {
        let share = |(&j, &step): (&usize, &f64)| match -self.u[j] / step {
            share if j < self.penalised && share > 0.0 => share,
            _ => f64::INFINITY,
        };
        let shares: Vec<f64> = free.iter().zip(step).map(share).collect();
        let first = shares.iter().copied().fold(1.0, f64::min);
        let part = |((&j, &step), &share): ((&usize, &f64), &f64)| {
            if share <= first { -self.u[j] } else { first * step }
        };
        free.iter().zip(step).zip(&shares).map(part).collect()
    }

    /// What a step makes of q.
    fn change(&self, free: &[usize], step: &[f64]) -> f64 {
        let mut change = 0.0;
        for (&j, &own) in free.iter().zip(step) {
            let row = &self.h[j * self.size()..];
            let curved: f64 = free.iter().zip(step).map(|(&k, step)| row[k] * step).sum();
            change += own * (self.slopes[j] + 0.5 * curved);
            if j < self.penalised {
                change += (self.u[j] + own).abs() - self.u[j].abs();
            }
        }
        change
    }
}

/// Added to the diagonal as a share of it: columns that are equal have one minimum then, and not a line of them.
const RIDGE: f64 = 1e-12;

/// Where nothing curves, steps are long but not endless.
pub(super) const LEAST_CURVATURE: f64 = 1e-12;

/// The step to the minimum of slope·s + ½curvature·s² + |w + s|.
#[inline]
pub(super) fn step(w: f64, slope: f64, curvature: f64) -> f64 {
    match () {
        () if slope + 1.0 <= curvature * w => -(slope + 1.0) / curvature,
        () if slope - 1.0 >= curvature * w => -(slope - 1.0) / curvature,
        () => -w,
    }
}

/// How far 0 is from the sub-gradients in a weight, given the slope of all but the penalty.
#[inline]
pub(super) fn violation(w: f64, slope: f64) -> f64 {
    if w == 0.0 { (slope.abs() - 1.0).max(0.0) } else { (slope + w.signum()).abs() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// H = XᵀX of columns of very different scale, of which every fourth is equal to the one before.
    fn problem(seed: u64, n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut rng = Rng::new(seed);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..n {
            let scale = 10f64.powi(j as i32 % 5 - 1);
            columns.push(match j % 4 {
                3 => columns[j - 1].clone(),
                _ => (0..n + 3).map(|_| scale * (0.9 + 0.2 * rng.uniform())).collect(),
            });
        }
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let h = columns.iter().flat_map(|a| columns.iter().map(|b| product(a, b))).collect();
        let target: Vec<f64> = (0..n + 3).map(|_| 20.0 * (rng.uniform() - 0.4)).collect();
        let g = columns.iter().map(|a| -product(a, &target)).collect();
        let w = (0..n).map(|j| if j % 3 == 0 { rng.uniform() - 0.5 } else { 0.0 }).collect();
        (h, w, g)
    }

    #[test]
    fn slopes_are_within_their_bounds_at_the_minimum() {
        for seed in 0..40 {
            let n = 1 + seed as usize % 17;
            for penalised in [n, n - 1] {
                let (h, w, g) = problem(seed, n);
                let u = Lasso::new(h.clone(), penalised, w.clone(), g.clone()).minimum(1e-7);
                for j in 0..n {
                    let slope = g[j] + (0..n).map(|k| h[j * n + k] * (u[k] - w[k])).sum::<f64>();
                    let off = if j < penalised { violation(u[j], slope) } else { slope.abs() };
                    assert!(off < 1e-5, "{seed}, {j} of {n}: {off}, {u:?}");
                }
            }
        }
    }

    #[test]
    fn of_equal_columns_that_pull_apart_one_is_left() {
        // Both are 1: q = −3(u₁ + u₂) + ½(u₁ + u₂)² + |u₁| + |u₂| around a start with different signs.
        let (w, start) = (vec![5.0, -4.0], 1.0);
        let u = Lasso::new(vec![1.0; 4], 2, w, vec![start - 3.0; 2]).minimum(1e-9);
        assert!((u[0] + u[1] - 2.0).abs() < 1e-9 && u.iter().all(|u| *u >= 0.0), "{u:?}");
    }
}
