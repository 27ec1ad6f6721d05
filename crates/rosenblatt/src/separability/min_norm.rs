//! The point of least norm in the hull of the points, in double precision: a guess that is nearly always right, and is checked elsewhere.
//!
//! The algorithm is that of [`exact`](super::exact), where it is described. Columns and points are scaled to about 1, which changes neither answer. With M = PᵀP + 11ᵀ = RᵀR of the points P of
//! the corral, R triangular and kept up to date, the weights are M⁻¹1 up to a factor.
//!
//! The nearest point is a sum that cancels: the nearer it is to the origin, the fewer of its digits are right, until it no longer tells the points of the corral from those on the
//! wrong side. Hence weights are refined in twice the digits ([`twofold`](super::twofold)) from there on; R may stay as it is (Higham 2002, section 12.2).

use rayon::prelude::*;

use super::points::Points;
use super::twofold::Twofold;
use crate::data::Rows;
use crate::watch::Monitor;

/// What the search came to.
pub(super) enum Guess {
    /// A plane that may separate, and the points it was made of.
    Apart(Vec<f64>, Vec<usize>),
    /// Points that may be the ones whose hull meets the origin, or at least are near it.
    Meeting(Vec<usize>),
    Stopped,
}

/// Points that are looked at until none of them is on the wrong side.
const CANDIDATES: usize = 256;

/// ‖x‖² below which half of the digits of x are gone in double precision, the points being of length 1 to 2.
const FINE: f64 = 1e-14;

/// ‖x‖² below which x is 0 for all that twice the digits can tell.
const ZERO: f64 = 1e-44;

/// The part of ‖p‖² + 1 outside the affine hull of the others, below which a point counts as inside.
const INSIDE: f64 = 1e-13;

/// Weights from here on count as positive: in double precision, and in twice the digits.
const POSITIVE: [f64; 2] = [1e-13, 1e-20];

/// Steps without progress after which there is none to come, or rounding leads in circles: in double precision, and in twice the digits.
const IDLE: [usize; 2] = [20, 200];

struct Search<'p, 'a, R> {
    points: &'p Points<'a, R>,
    /// What columns and points are multiplied by: powers of two, which round nothing.
    columns: Vec<f64>,
    lengths: Vec<f64>,
    corral: Vec<usize>,
    weights: Vec<f64>,
    /// Column by column, entries 0..=j of column j.
    factor: Vec<Vec<f64>>,
    /// The nearest point, times `columns` once more: products with unscaled rows are then those of scaled ones.
    plane: Vec<f64>,
    square: f64,
    /// In twice the digits from now on.
    fine: bool,
}

pub(super) fn search<R: Rows>(points: &Points<'_, R>, monitor: &Monitor<'_>) -> Guess {
    walk(points, monitor).unwrap_or(Guess::Stopped)
}

/// Nothing if the search was stopped.
fn walk<R: Rows>(points: &Points<'_, R>, monitor: &Monitor<'_>) -> Option<Guess> {
    let mut search = Search::new(points);
    let mut candidates: Vec<usize> = Vec::new();
    let (mut best, mut idle, mut fine) = (f64::INFINITY, 0, false);
    let first = (0..points.len()).min_by(|&a, &b| search.lengths[b].total_cmp(&search.lengths[a]));
    if !search.add(first.unwrap_or(0)) || !search.settle(monitor)? {
        return Some(Guess::Meeting(search.corral));
    }
    while search.square > ZERO {
        let Some((product, next)) = search.next(&mut candidates) else { break };
        if product > 0.0 {
            return Some(Guess::Apart(search.plane, search.corral));
        }
        if search.fine != fine {
            // What was reached with fewer digits may not have been there.
            (fine, best, idle) = (search.fine, f64::INFINITY, 0);
        }
        // Progress must be seen, or rounding leads in circles.
        idle = if search.square < best * (1.0 - 1e-12) { 0 } else { idle + 1 };
        best = best.min(search.square);
        let joins = !search.corral.contains(&next) && idle <= IDLE[usize::from(fine)] && search.add(next);
        if joins && search.settle(monitor)? {
            continue;
        }
        if search.fine || !search.refine(monitor)? {
            if !search.corral.contains(&next) {
                search.corral.push(next);
            }
            break;
        }
    }
    Some(Guess::Meeting(search.corral))
}

impl<'p, 'a, R: Rows> Search<'p, 'a, R> {
    fn new(points: &'p Points<'a, R>) -> Self {
        let mut largest = vec![0.0f64; points.dims()];
        for i in 0..points.len() {
            points.each(i, |j, v| largest[j] = largest[j].max(v.abs()));
        }
        let columns: Vec<f64> = largest.iter().map(|&size| inverse_power(size)).collect();
        let length = |i: usize| {
            let mut square = 0.0;
            points.each(i, |j, v| square += (v * columns[j]).powi(2));
            inverse_power(square.sqrt())
        };
        let lengths = (0..points.len()).into_par_iter().with_min_len(256).map(length).collect();
        let plane = vec![0.0; points.dims()];
        let (corral, weights, factor) = (Vec::new(), Vec::new(), Vec::new());
        Search { points, columns, lengths, corral, weights, factor, plane, square: 0.0, fine: false }
    }

    /// p·x of a scaled point.
    fn product(&self, i: usize, vector: &[f64]) -> f64 {
        self.lengths[i] * self.points.dot(i, vector)
    }

    /// Σ aᵢpᵢ, times `columns` once more.
    fn sum(&self, factors: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.columns.len()];
        for (&i, a) in self.corral.iter().zip(factors) {
            self.points.axpy(a * self.lengths[i], i, &mut sum);
        }
        self.twice_scaled(&mut sum);
        sum
    }

    fn twice_scaled(&self, vector: &mut [f64]) {
        vector.iter_mut().zip(&self.columns).for_each(|(v, c)| *v = *v * c * c);
    }

    /// The point with the smallest product: of the candidates while one of them is on the wrong side, else of all, whose worst are then the candidates. Nothing if there are none.
    fn next(&self, candidates: &mut Vec<usize>) -> Option<(f64, usize)> {
        // A look at all points costs little beside a step in twice the digits, and saves many.
        if !self.fine
            && let Some(found) = self.worst(candidates).filter(|(product, _)| *product <= 0.0)
        {
            return Some(found);
        }
        *candidates = self.sweep();
        self.worst(candidates)
    }

    fn worst(&self, candidates: &[usize]) -> Option<(f64, usize)> {
        let products = candidates.iter().map(|&i| (self.product(i, &self.plane), i));
        products.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The points with the smallest products of all.
    fn sweep(&self) -> Vec<usize> {
        let product = |i: usize| (self.product(i, &self.plane), i);
        let mut all: Vec<(f64, usize)> =
            (0..self.points.len()).into_par_iter().with_min_len(256).map(product).collect();
        if all.len() > CANDIDATES {
            all.select_nth_unstable_by(CANDIDATES, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            all.truncate(CANDIDATES);
        }
        all.into_iter().map(|(_, i)| i).collect()
    }

    /// Another point, of weight 0; false if it is inside the affine hull of those there are.
    fn add(&mut self, id: usize) -> bool {
        let mut own = vec![0.0; self.columns.len()];
        self.points.axpy(self.lengths[id], id, &mut own);
        self.twice_scaled(&mut own);
        let mut column: Vec<f64> = self.corral.iter().map(|&i| self.product(i, &own) + 1.0).collect();
        let square = self.product(id, &own) + 1.0;
        self.forward(&mut column);
        let rest = square - column.iter().map(|v| v * v).sum::<f64>();
        if rest <= INSIDE * square || !rest.is_finite() {
            return false;
        }
        column.push(rest.sqrt());
        self.factor.push(column);
        self.weights.push(if self.corral.is_empty() { 1.0 } else { 0.0 });
        self.corral.push(id);
        true
    }

    /// Takes a point out; rotations make the factor triangular again.
    fn remove(&mut self, at: usize) {
        self.corral.remove(at);
        self.weights.remove(at);
        self.factor.remove(at);
        for k in at..self.factor.len() {
            let (a, b) = (self.factor[k][k], self.factor[k][k + 1]);
            let length = a.hypot(b);
            let (c, s) = if length > 0.0 { (a / length, b / length) } else { (1.0, 0.0) };
            for column in &mut self.factor[k..] {
                let (a, b) = (column[k], column[k + 1]);
                column[k] = c * a + s * b;
                column[k + 1] = c * b - s * a;
            }
            self.factor[k].truncate(k + 1);
        }
    }

    /// v ← R⁻ᵀv
    fn forward(&self, v: &mut [f64]) {
        for (j, column) in self.factor.iter().enumerate() {
            let known: f64 = column[..j].iter().zip(&*v).map(|(r, v)| r * v).sum();
            v[j] = (v[j] - known) / column[j];
        }
    }

    /// v ← R⁻¹v
    fn backward(&self, v: &mut [f64]) {
        for (j, column) in self.factor.iter().enumerate().rev() {
            v[j] /= column[j];
            let by = v[j];
            v[..j].iter_mut().zip(column).for_each(|(v, r)| *v -= by * r);
        }
    }

    /// M⁻¹v, as far as R tells.
    fn solved(&self, mut v: Vec<f64>) -> Vec<f64> {
        self.forward(&mut v);
        self.backward(&mut v);
        v
    }

    /// The nearest point of the affine hull. What is left of M·z = 1 is computed from the points themselves and solved for once more, as M knows them only in half of the digits.
    fn nearest(&self) -> Nearest {
        let mut z = self.solved(vec![1.0; self.corral.len()]);
        let (vector, total) = (self.sum(&z), z.iter().sum::<f64>());
        let left = |&i: &usize| 1.0 - (self.product(i, &vector) + total);
        let change = self.solved(self.corral.iter().map(left).collect());
        z.iter_mut().zip(change).for_each(|(z, change)| *z += change);
        let total: f64 = z.iter().sum();
        z.iter_mut().for_each(|z| *z /= total);
        Nearest { plane: self.sum(&z), weights: z }
    }

    /// The same in twice the digits: what is left is solved for again and again.
    fn nearest_finely(&self) -> Nearest {
        /// Of what is left of 1.
        const ENOUGH: f64 = 1e-27;
        let mut z = vec![Twofold::default(); self.corral.len()];
        let (mut left, mut before, mut known) = (vec![1.0; z.len()], f64::INFINITY, None);
        loop {
            let change = self.solved(left);
            z.iter_mut().zip(change).for_each(|(z, change)| *z += change.into());
            let (vector, total) = (self.sum_finely(&z), sum_of(&z));
            let rest = |&i: &usize| {
                let mut rest = Twofold::from(-1.0);
                rest += total;
                rest += self.product_finely(i, &vector);
                -rest.near()
            };
            left = self.corral.par_iter().with_min_len(16).map(rest).collect();
            let most = largest(&left);
            let by = 1.0 / total.near();
            let weights = z.iter().map(|z| z.near() * by).collect();
            let nearest = Nearest { plane: vector.iter().map(|v| v.near() * by).collect(), weights };
            if most.is_nan() || most >= before {
                // What is worse, or no number, is not taken.
                return known.unwrap_or(nearest);
            }
            if most <= ENOUGH || most > 0.5 * before {
                return nearest;
            }
            (before, known) = (most, Some(nearest));
        }
    }

    fn product_finely(&self, i: usize, vector: &[Twofold]) -> Twofold {
        let mut sum = Twofold::default();
        self.points.each(i, |j, v| sum += vector[j] * v);
        sum * self.lengths[i]
    }

    /// As [`Search::sum`].
    fn sum_finely(&self, factors: &[Twofold]) -> Vec<Twofold> {
        let mut sum = vec![Twofold::default(); self.columns.len()];
        for (&i, a) in self.corral.iter().zip(factors) {
            let a = *a * self.lengths[i];
            self.points.each(i, |j, v| sum[j] += a * v);
        }
        sum.iter_mut().zip(&self.columns).for_each(|(v, &c)| *v = *v * c * c);
        sum
    }

    /// The same point in twice the digits, which settles what rounding had left open; false where numbers fail, nothing if the search was stopped.
    fn refine(&mut self, monitor: &Monitor<'_>) -> Option<bool> {
        self.fine = true;
        self.settle(monitor)
    }

    /// To the nearest point, and out with what reaches weight 0 on the way; false where numbers fail, nothing if the search was stopped.
    fn settle(&mut self, monitor: &Monitor<'_>) -> Option<bool> {
        while monitor.go_on(0) {
            let positive = POSITIVE[usize::from(self.fine)];
            let Nearest { weights: target, plane } =
                if self.fine { self.nearest_finely() } else { self.nearest() };
            if self.corral.is_empty() || !target.iter().all(|z| z.is_finite()) {
                return Some(false);
            }
            let falls = (0..target.len()).filter(|&i| target[i] <= positive);
            let ways = falls.map(|i| (self.weights[i] / (self.weights[i] - target[i]), i));
            let Some((way, first)) = ways.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                self.weights = target;
                // x·x = Σ λᵢ(pᵢ·x), but that loses digits where x is small.
                self.square = plane.iter().zip(&self.columns).map(|(v, c)| (v / c).powi(2)).sum();
                self.plane = plane;
                if self.fine || self.square > FINE {
                    return Some(self.square.is_finite());
                }
                self.fine = true;
                continue;
            };
            let way = if way.is_finite() { way.clamp(0.0, 1.0) } else { 0.0 };
            self.weights.iter_mut().zip(&target).for_each(|(w, z)| *w += way * (z - *w));
            self.weights[first] = 0.0;
            for at in (0..self.corral.len()).rev() {
                if self.weights[at] <= positive && (at == first || target[at] <= positive) {
                    self.remove(at);
                }
            }
        }
        None
    }
}

/// The nearest point of an affine hull, times `columns` once more, and its weights.
struct Nearest {
    plane: Vec<f64>,
    weights: Vec<f64>,
}

fn sum_of(numbers: &[Twofold]) -> Twofold {
    let mut sum = Twofold::default();
    numbers.iter().for_each(|&number| sum += number);
    sum
}

/// The largest by absolute value; NaN if one is no number.
fn largest(numbers: &[f64]) -> f64 {
    let most = numbers.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    if numbers.iter().any(|v| v.is_nan()) { f64::NAN } else { most }
}

/// The power of two p with 1 ≤ p·size < 2, which is 1/size or a little over it; 1 for 0.
fn inverse_power(size: f64) -> f64 {
    if size == 0.0 || !size.is_finite() {
        return 1.0;
    }
    // The exponent as it is stored, where 1023 stands for 0.
    let exponent = (size.to_bits() >> 52).clamp(1, 2045);
    f64::from_bits((2046 - exponent) << 52)
}
