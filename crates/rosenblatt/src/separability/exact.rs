//! The point of least norm in the hull of the points, in whole numbers: it always decides.
//!
//! Wolfe 1976, "Finding the nearest point in a polytope", Mathematical Programming 11. A *corral* is a set of affinely independent points with positive weights whose nearest point to the
//! origin in their affine hull is the weighted mean x. A point with p·x ≤ 0 is nearer than x is, joins the corral, and others leave it until it is a corral again; ‖x‖ falls at
//! every step, so that no corral comes twice and the steps end:
//!
//! - where no such point is left: x is a separator;
//! - where x = 0: then the points are affinely independent and their weights above 0, so that no point can be left out, and the weights are the multipliers.
//!
//! Nothing is rounded, so it needs no tolerance. Points are taken times powers of two that make them whole, which changes neither answer; weights are whole, too, and their
//! sum is their denominator.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rayon::prelude::*;
use std::cmp::Ordering;

use super::fraction::reduce;
use super::points::{Plane, Points, WholePoint};
use crate::data::Rows;
use crate::watch::Monitor;

/// What the search came to.
pub(super) enum Decided {
    Apart(Plane),
    /// Points with weights, all above 0, of points made whole (see [`WholePoint::shift`]).
    Meeting(Vec<(usize, BigInt)>),
    Stopped,
}

struct Corral {
    ids: Vec<usize>,
    points: Vec<WholePoint>,
    /// pᵢ·pⱼ + 1: positive definite, as the points are affinely independent.
    products: Vec<Vec<BigInt>>,
    weights: Vec<BigInt>,
}

/// Looks at `likely` points first, and at all others once these are apart.
pub(super) fn decide<R: Rows>(points: &Points<'_, R>, likely: &[usize], monitor: &Monitor<'_>) -> Decided {
    let first = likely.first().copied().unwrap_or(0);
    let mut corral =
        Corral { ids: Vec::new(), points: Vec::new(), products: Vec::new(), weights: Vec::new() };
    let mut next = Some(first);
    loop {
        if let Some(i) = next {
            corral.add(i, points.whole(i));
            corral.settle();
        }
        let nearest = corral.nearest(points.dims());
        if nearest.iter().all(BigInt::is_zero) {
            return Decided::Meeting(corral.ids.into_iter().zip(corral.weights).collect());
        }
        if !monitor.go_on(points.len()) {
            return Decided::Stopped;
        }
        let plane = Plane::of_whole(nearest);
        next = worst(points, likely.par_iter().copied(), &plane)
            .or_else(|| worst(points, (0..points.len()).into_par_iter(), &plane));
        if next.is_none() {
            return Decided::Apart(plane);
        }
    }
}

/// Of those that are not on the right side of the plane the farthest from it, as far as double precision tells.
fn worst<R: Rows>(
    points: &Points<'_, R>,
    ids: impl ParallelIterator<Item = usize>,
    plane: &Plane,
) -> Option<usize> {
    let wrong = ids.filter(|&i| plane.side(points, i) != Ordering::Greater);
    let distance = |i: usize| {
        let mut square = 0.0;
        points.each(i, |_, v| square += v * v);
        points.dot(i, plane.near()) / square.sqrt()
    };
    let by_distance = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    wrong.map(|i| (distance(i), i)).min_by(by_distance).map(|(_, i)| i)
}

impl Corral {
    /// A point with weight 0; the first has all the weight.
    fn add(&mut self, id: usize, point: WholePoint) {
        let column: Vec<BigInt> = self.points.iter().map(|other| other.dot(&point) + 1).collect();
        for (row, value) in self.products.iter_mut().zip(&column) {
            row.push(value.clone());
        }
        let own = point.dot(&point) + 1;
        self.products.push(column.into_iter().chain([own]).collect());
        self.weights.push(if self.ids.is_empty() { BigInt::one() } else { BigInt::zero() });
        self.ids.push(id);
        self.points.push(point);
    }

    fn remove(&mut self, at: usize) {
        self.ids.remove(at);
        self.points.remove(at);
        self.weights.remove(at);
        self.products.remove(at);
        self.products.iter_mut().for_each(|row| drop(row.remove(at)));
    }

    /// Moves the weights towards the nearest point of the affine hull; whatever reaches weight 0 on the way leaves, until the nearest point is inside.
    fn settle(&mut self) {
        loop {
            let target = solve(&self.products);
            // λ + θ(μ − λ) reaches 0 first where −μ/λ is largest; a new point has λ = 0 and, as it is nearer than x, μ > 0.
            let falls = |&i: &usize| !target[i].is_positive();
            let further = |&i: &usize, &j: &usize| {
                (-&target[i] * &self.weights[j]).cmp(&(-&target[j] * &self.weights[i]))
            };
            let Some(first) = (0..target.len()).filter(falls).max_by(further) else {
                self.weights = target;
                reduce(&mut self.weights);
                return;
            };
            let (own, aim) = (self.weights[first].clone(), target[first].clone());
            for (weight, target) in self.weights.iter_mut().zip(&target) {
                *weight = &own * target - &*weight * &aim;
            }
            reduce(&mut self.weights);
            for at in (0..self.ids.len()).rev() {
                if !self.weights[at].is_positive() {
                    self.remove(at);
                }
            }
        }
    }

    /// Σ λᵢpᵢ
    fn nearest(&self, dims: usize) -> Vec<BigInt> {
        let mut sum = vec![BigInt::zero(); dims];
        for (point, weight) in self.points.iter().zip(&self.weights) {
            for (j, v) in &point.entries {
                sum[*j] += v * weight;
            }
        }
        sum
    }
}

/// det(M)·M⁻¹·(1, …, 1) of a positive definite M: elimination without fractions (Bareiss 1968), whose divisions leave no remainder.
fn solve(matrix: &[Vec<BigInt>]) -> Vec<BigInt> {
    let n = matrix.len();
    let mut rows: Vec<Vec<BigInt>> =
        matrix.iter().map(|row| row.iter().cloned().chain([BigInt::one()]).collect()).collect();
    let mut before = BigInt::one();
    for k in 0..n {
        let (above, below) = rows.split_at_mut(k + 1);
        let pivot_row = &above[k];
        let pivot = &pivot_row[k];
        for row in below.iter_mut() {
            let factor = std::mem::take(&mut row[k]);
            for j in k + 1..=n {
                row[j] = (pivot * &row[j] - &factor * &pivot_row[j]) / &before;
            }
        }
        before = pivot.clone();
    }
    let mut z = vec![BigInt::zero(); n];
    for i in (0..n).rev() {
        let known: BigInt = (i + 1..n).map(|j| &rows[i][j] * &z[j]).sum();
        z[i] = (&before * &rows[i][n] - known) / &rows[i][i];
    }
    z
}

#[cfg(test)]
mod tests {
    use super::super::certificate;
    use super::super::points::Member;
    use super::super::unscaled;
    use super::*;
    use crate::data::Dense;
    use crate::rng::Rng;

    /// Either answer is proved by its certificate, so that no other decision is needed to compare with.
    #[test]
    fn it_decides_by_itself() {
        let mut rng = Rng::new(3);
        let mut counts = [0; 2];
        for case in 0..2_000 {
            let (n, d) = (2 + rng.below(9) as usize, 1 + rng.below(4) as usize);
            // Small whole numbers often meet exactly, other numbers hardly ever.
            let rough = rng.below(2) == 0;
            let value = |rng: &mut Rng| if rough { rng.below(5) as f64 - 2.0 } else { rng.normal() };
            let x = Dense::new((0..n * d).map(|_| value(&mut rng)).collect::<Vec<f64>>(), d).unwrap();
            let members =
                (0..n).map(|i| Member { row: i as u32, positive: i == 0 || i > 1 && rng.below(2) == 0 });
            let points = Points::new(&x, members.collect(), case % 3 > 0);
            let mut watch = ();
            match decide(&points, &[], &Monitor::new(&mut watch, None, 1)) {
                Decided::Apart(plane) => {
                    assert!(certificate::separates(&points, &plane), "case {case}");
                    counts[1] += 1;
                }
                Decided::Meeting(weights) => {
                    assert!(weights.len() <= points.dims() + 1, "case {case}");
                    assert!(certificate::obstructs(&points, &unscaled(&points, weights)), "case {case}");
                    counts[0] += 1;
                }
                Decided::Stopped => panic!("case {case}: nobody stopped it"),
            }
        }
        assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
    }
}
