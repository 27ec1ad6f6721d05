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

use super::dependency;
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

#[derive(Default)]
struct Corral {
    ids: Vec<usize>,
    points: Vec<WholePoint>,
    /// pᵢ·pⱼ + 1: positive definite, as the points are affinely independent.
    products: Vec<Vec<BigInt>>,
    weights: Vec<BigInt>,
}

/// Begins with `likely` points, which a search in double precision ended with, looks at these first when others are needed, and at all once these are apart.
pub(super) fn decide<R: Rows>(points: &Points<'_, R>, likely: &[usize], monitor: &Monitor<'_>) -> Decided {
    let Some(mut corral) = Corral::of(points, likely, monitor) else { return Decided::Stopped };
    loop {
        if corral.settle(monitor).is_none() {
            return Decided::Stopped;
        }
        let nearest = corral.nearest(points.dims());
        if nearest.iter().all(BigInt::is_zero) {
            return Decided::Meeting(corral.ids.into_iter().zip(corral.weights).collect());
        }
        if !monitor.go_on(points.len()) {
            return Decided::Stopped;
        }
        let plane = Plane::of_whole(nearest);
        let next = worst(points, likely.par_iter().copied(), &plane)
            .or_else(|| worst(points, (0..points.len()).into_par_iter(), &plane));
        match next {
            Some(i) => corral.add(i, points.whole(i)),
            None => return Decided::Apart(plane),
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
    /// As many of the likely points as are affinely independent, all with the same weight: any mean of them will do to begin with. Nothing if the search was stopped.
    fn of<R: Rows>(points: &Points<'_, R>, likely: &[usize], monitor: &Monitor<'_>) -> Option<Self> {
        let likely: &[usize] = if likely.is_empty() { &[0] } else { likely };
        let whole: Vec<WholePoint> = likely.iter().map(|&i| points.whole(i)).collect();
        let independent = dependency::independent(&whole);
        let mut corral = Corral::default();
        for (at, point) in whole.into_iter().enumerate() {
            if independent.binary_search(&at).is_ok() {
                corral.add(likely[at], point);
            }
            if !monitor.go_on(0) {
                return None;
            }
        }
        corral.weights.fill(BigInt::one());
        Some(corral)
    }

    /// A point with weight 0.
    fn add(&mut self, id: usize, point: WholePoint) {
        let mut column: Vec<BigInt> = self.points.par_iter().map(|other| other.dot(&point) + 1).collect();
        for (row, value) in self.products.iter_mut().zip(&column) {
            row.push(value.clone());
        }
        column.push(point.dot(&point) + 1);
        self.products.push(column);
        self.weights.push(BigInt::zero());
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

    /// Moves the weights towards the nearest point of the affine hull; whatever reaches weight 0 on the way leaves, until the nearest point is inside. Nothing if the
    /// search was stopped.
    fn settle(&mut self, monitor: &Monitor<'_>) -> Option<()> {
        loop {
            let target = solve(&self.products, monitor)?;
            // λ + θ(μ − λ) reaches 0 first where −μ/λ is largest; a new point has λ = 0 and, as it is nearer than x, μ > 0.
            let falls = |&i: &usize| !target[i].is_positive();
            let further = |&i: &usize, &j: &usize| {
                (-&target[i] * &self.weights[j]).cmp(&(-&target[j] * &self.weights[i]))
            };
            let Some(first) = (0..target.len()).filter(falls).max_by(further) else {
                self.weights = target;
                reduce(&mut self.weights);
                return Some(());
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

/// M⁻¹·(1, …, 1) of a positive definite M, times a number above 0. Nothing if the search was stopped.
fn solve(matrix: &[Vec<BigInt>], monitor: &Monitor<'_>) -> Option<Vec<BigInt>> {
    /// Elimination is as fast for fewer.
    const MANY: usize = 8;
    if matrix.len() >= MANY
        && let Some((z, _)) = dependency::solve(matrix, &vec![BigInt::one(); matrix.len()], monitor)
    {
        return Some(z);
    }
    // That M has no inverse modulo a prime is no more than bad luck.
    monitor.stopped().is_none().then(|| eliminate(matrix))
}

/// det(M)·M⁻¹·(1, …, 1): elimination without fractions (Bareiss 1968), whose divisions leave no remainder.
fn eliminate(matrix: &[Vec<BigInt>]) -> Vec<BigInt> {
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
    use super::super::points::Member;
    use super::super::{Obstruction, Separator, unscaled};
    use super::*;
    use crate::data::Dense;
    use crate::rng::Rng;

    fn drawn(rng: &mut Rng, n: usize, d: usize, rough: bool) -> (Dense<'static, f64>, Vec<Member>) {
        let value = |rng: &mut Rng| if rough { rng.below(5) as f64 - 2.0 } else { rng.normal() };
        let x = Dense::new((0..n * d).map(|_| value(rng)).collect::<Vec<f64>>(), d).unwrap();
        let member = |i| Member { row: i as u32, positive: i == 0 || i > 1 && rng.below(2) == 0 };
        let members = (0..n).map(member).collect();
        (x, members)
    }

    /// Whether the points are apart. Either answer is proved by its certificate, so that no other decision is needed to compare with.
    fn decided<R: Rows>(points: &Points<'_, R>, likely: &[usize]) -> bool {
        let mut watch = ();
        match decide(points, likely, &Monitor::new(&mut watch, None, 1)) {
            Decided::Apart(plane) => {
                assert!(Separator::of_whole(points, &plane).is_some());
                true
            }
            Decided::Meeting(weights) => {
                assert!(weights.len() <= points.dims() + 1);
                assert!(Obstruction::proved(points, unscaled(points, weights)).is_some());
                false
            }
            Decided::Stopped => panic!("nobody stopped it"),
        }
    }

    #[test]
    fn it_decides_by_itself() {
        let mut rng = Rng::new(3);
        let mut counts = [0; 2];
        for case in 0..2_000 {
            let (n, d) = (2 + rng.below(9) as usize, 1 + rng.below(4) as usize);
            // Small whole numbers often meet exactly, other numbers hardly ever.
            let rough = rng.below(2) == 0;
            let (x, members) = drawn(&mut rng, n, d, rough);
            let points = Points::new(&x, members, case % 3 > 0);
            let apart = decided(&points, &[]);
            counts[usize::from(apart)] += 1;
            // Wherever it begins, it comes to the same end.
            let mut likely: Vec<usize> = (0..n).collect();
            rng.shuffle(&mut likely);
            likely.truncate(1 + rng.below(n as u64) as usize);
            assert_eq!(decided(&points, &likely), apart, "case {case}: from {likely:?}");
        }
        assert!(counts.iter().all(|&count| count > 500), "{counts:?}");
    }

    /// Corrals of so many points are solved for modulo a prime.
    #[test]
    fn it_decides_in_many_dimensions() {
        let mut rng = Rng::new(5);
        for (n, d, expected) in [(16, 20, true), (90, 14, false)] {
            let (x, members) = drawn(&mut rng, n, d, false);
            let points = Points::new(&x, members, true);
            let likely: Vec<usize> = (0..n.min(d)).collect();
            assert_eq!(decided(&points, &[]), expected, "{n} points of {d} features");
            assert_eq!(decided(&points, &likely), expected, "{n} points of {d} features");
        }
    }

    #[test]
    fn both_ways_to_solve_agree() {
        let mut rng = Rng::new(6);
        let (x, members) = drawn(&mut rng, 12, 15, false);
        let points = Points::new(&x, members, true);
        let mut watch = ();
        let monitor = Monitor::new(&mut watch, None, 1);
        let all: Vec<usize> = (0..12).collect();
        let corral = Corral::of(&points, &all, &monitor).expect("nobody stopped it");
        assert_eq!(corral.ids, all);
        let (a, b) =
            (solve(&corral.products, &monitor).expect("nobody stopped it"), eliminate(&corral.products));
        assert!(a.iter().zip(&b).all(|(x, y)| x * &b[0] == y * &a[0]), "{a:?} {b:?}");
        assert_eq!(a[0].is_positive(), b[0].is_positive());
    }
}
