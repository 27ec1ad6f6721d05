//! The point of least norm in the hull of the points, in double precision: a guess that is nearly always right, and is checked elsewhere.
//!
//! The algorithm is that of [`exact`](super::exact), where it is described. Columns and points are scaled to about 1, which changes neither answer. With M = PᵀP + 11ᵀ = RᵀR of the points P of
//! the corral, R triangular and kept up to date, the weights are M⁻¹1 up to a factor.

use rayon::prelude::*;

use super::points::Points;
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

/// ‖x‖² below which x is 0 for all that double precision can tell, the points being of length 1.
const ZERO: f64 = 1e-22;

/// The part of ‖p‖² + 1 outside the affine hull of the others, below which a point counts as inside.
const INSIDE: f64 = 1e-13;

/// Weights from here on count as positive.
const POSITIVE: f64 = 1e-13;

struct Search<'p, 'a, R> {
    points: &'p Points<'a, R>,
    /// What columns and points are multiplied by.
    columns: Vec<f64>,
    lengths: Vec<f64>,
    corral: Vec<usize>,
    weights: Vec<f64>,
    /// Column by column, entries 0..=j of column j.
    factor: Vec<Vec<f64>>,
    /// The nearest point, times `columns` once more: products with unscaled rows are then those of scaled ones.
    plane: Vec<f64>,
    square: f64,
}

pub(super) fn search<R: Rows>(points: &Points<'_, R>, monitor: &Monitor<'_>) -> Guess {
    let mut search = Search::new(points);
    let mut candidates: Vec<usize> = Vec::new();
    let (mut best, mut idle) = (f64::INFINITY, 0);
    let first = (0..points.len()).min_by(|&a, &b| search.lengths[b].total_cmp(&search.lengths[a]));
    if !search.add(first.unwrap_or(0)) || !search.settle() {
        return Guess::Meeting(search.corral);
    }
    loop {
        if search.square <= ZERO {
            return Guess::Meeting(search.corral);
        }
        if !monitor.go_on(0) {
            return Guess::Stopped;
        }
        let next = search.worst(&candidates).filter(|(product, _)| *product <= 0.0);
        let (product, next) = match next {
            Some(found) => found,
            None => {
                candidates = search.sweep();
                match search.worst(&candidates) {
                    Some(found) => found,
                    None => return Guess::Meeting(search.corral),
                }
            }
        };
        if product > 0.0 {
            return Guess::Apart(search.plane, search.corral);
        }
        // Progress must be seen, or rounding leads in circles.
        idle = if search.square < best * (1.0 - 1e-12) { 0 } else { idle + 1 };
        best = best.min(search.square);
        if search.corral.contains(&next) {
            return Guess::Meeting(search.corral);
        }
        if idle > 20 || !search.add(next) || !search.settle() {
            search.corral.push(next);
            return Guess::Meeting(search.corral);
        }
    }
}

impl<'p, 'a, R: Rows> Search<'p, 'a, R> {
    fn new(points: &'p Points<'a, R>) -> Self {
        let mut largest = vec![0.0f64; points.dims()];
        for i in 0..points.len() {
            points.each(i, |j, v| largest[j] = largest[j].max(v.abs()));
        }
        let inverse = |size: &f64| if *size > 0.0 { (1.0 / size).min(f64::MAX) } else { 1.0 };
        let columns: Vec<f64> = largest.iter().map(inverse).collect();
        let length = |i: usize| {
            let mut square = 0.0;
            points.each(i, |j, v| square += (v * columns[j]).powi(2));
            if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 }
        };
        let lengths = (0..points.len()).into_par_iter().with_min_len(256).map(length).collect();
        let plane = vec![0.0; points.dims()];
        let (corral, weights, factor) = (Vec::new(), Vec::new(), Vec::new());
        Search { points, columns, lengths, corral, weights, factor, plane, square: 0.0 }
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

    /// Weights of the nearest point of the affine hull. What is left of M·z = 1 is computed from the points themselves and solved for once more, as M knows them only in
    /// half of the digits.
    fn target(&self) -> Vec<f64> {
        let mut z = vec![1.0; self.corral.len()];
        self.forward(&mut z);
        self.backward(&mut z);
        let (vector, total) = (self.sum(&z), z.iter().sum::<f64>());
        let left = |&i: &usize| 1.0 - (self.product(i, &vector) + total);
        let mut change: Vec<f64> = self.corral.iter().map(left).collect();
        self.forward(&mut change);
        self.backward(&mut change);
        z.iter_mut().zip(change).for_each(|(z, change)| *z += change);
        let total: f64 = z.iter().sum();
        z.iter().map(|z| z / total).collect()
    }

    /// To the nearest point, and out with what reaches weight 0 on the way; false where numbers fail.
    fn settle(&mut self) -> bool {
        loop {
            let target = self.target();
            if self.corral.is_empty() || !target.iter().all(|z| z.is_finite()) {
                return false;
            }
            let falls = (0..target.len()).filter(|&i| target[i] <= POSITIVE);
            let ways = falls.map(|i| (self.weights[i] / (self.weights[i] - target[i]), i));
            let Some((way, first)) = ways.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                self.weights = target;
                break;
            };
            let way = if way.is_finite() { way.clamp(0.0, 1.0) } else { 0.0 };
            self.weights.iter_mut().zip(&target).for_each(|(w, z)| *w += way * (z - *w));
            self.weights[first] = 0.0;
            for at in (0..self.corral.len()).rev() {
                if self.weights[at] <= POSITIVE && (at == first || target[at] <= POSITIVE) {
                    self.remove(at);
                }
            }
        }
        self.plane = self.sum(&self.weights);
        // x·x = Σ λᵢ(pᵢ·x), but that loses digits where x is small.
        self.square = self.plane.iter().zip(&self.columns).map(|(v, c)| (v / c).powi(2)).sum();
        self.square.is_finite()
    }
}
