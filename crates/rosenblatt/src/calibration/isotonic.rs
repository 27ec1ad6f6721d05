//! Curves that never fall, found without any form: each class against all others.
//!
//! A row's place on a class's curve is how far the class is ahead of the next one, or how far behind the predicted. The curve is the isotonic regression of the rows left out (Ayer, Brunk, Ewing, Reid, Silverman 1955:
//! neighbours that violate the order are pooled), straight between its blocks; Zadrozny and Elkan (2002), KDD, for classifiers. With two classes each side of the boundary has a regression of its own, cut off at ½: that is the
//! least sum of squares of all curves that do not contradict a prediction. With more, probabilities are brought to sum 1, and the predicted class's is raised to the largest where it is not.

use super::{Seen, ahead};
use crate::model::Link;

/// A point of a curve: place and probability.
pub(crate) type Point = [f64; 2];

pub(super) fn fit(seen: &[Seen]) -> Link {
    let classes = seen.first().map_or(2, |row| row.behind.len());
    let total: f64 = seen.iter().map(|row| row.weight).sum();
    // Nothing is certain after so many rows (Laplace's rule of succession).
    let least = 1.0 / (total + 2.0);
    let curves = match classes {
        2 => vec![both_sides(seen, least)],
        _ => (0..classes).map(|class| curve(&places(seen, class), (least, 1.0 - least))).collect(),
    };
    Link::Isotonic { curves }
}

/// How far a class is ahead, or behind.
fn place(predicted: usize, behind: &[f64], class: usize) -> f64 {
    match class == predicted {
        true => {
            let others = behind.iter().enumerate().filter(|(c, _)| *c != predicted);
            others.map(|(_, &b)| b).fold(f64::INFINITY, f64::min)
        }
        false => -behind[class],
    }
}

/// Place, whether it is of the class, and weight.
fn places(seen: &[Seen], class: usize) -> Vec<(f64, bool, f64)> {
    let one = |row: &Seen| (place(row.predicted, &row.behind, class), row.class == class, row.weight);
    seen.iter().map(one).collect()
}

/// Of the second of two classes.
fn both_sides(seen: &[Seen], least: f64) -> Vec<Point> {
    let side = |predicted: usize| -> Vec<(f64, bool, f64)> {
        let rows = seen.iter().filter(|row| row.predicted == predicted);
        rows.map(|row| (place(predicted, &row.behind, 1), row.class == 1, row.weight)).collect()
    };
    let mut points = curve(&side(0), (least, 0.5));
    // What lies on the boundary is counted with its side.
    points.retain(|point| point[0] < 0.0);
    points.push([0.0, 0.5]);
    points.extend(curve(&side(1), (0.5, 1.0 - least)).into_iter().filter(|point| point[0] > 0.0));
    points
}

/// Ends of the blocks of equal probability, cut off at a least and a most.
fn curve(rows: &[(f64, bool, f64)], (least, most): (f64, f64)) -> Vec<Point> {
    let mut rows: Vec<&(f64, bool, f64)> = rows.iter().filter(|row| row.0.is_finite()).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    // From, to, weight, weight of the class.
    let mut blocks: Vec<(f64, f64, f64, f64)> = Vec::new();
    for run in rows.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = run.iter().map(|row| row.2).sum();
        let own: f64 = run.iter().filter(|row| row.1).map(|row| row.2).sum();
        let mut block = (run[0].0, run[0].0, weight, own);
        while let Some(last) = blocks.pop_if(|last| last.3 * block.2 >= block.3 * last.2) {
            block = (last.0, block.1, last.2 + block.2, last.3 + block.3);
        }
        blocks.push(block);
    }
    let points = blocks.into_iter().flat_map(|(from, to, weight, own)| {
        let p = (own / weight).clamp(least, most);
        [[from, p], [to, p]]
    });
    let mut points: Vec<Point> = points.collect();
    points.dedup_by_key(|point| point[0]);
    points
}

/// The probability of each class, given how far it is behind the predicted one.
pub(crate) fn shares(predicted: usize, behind: &[f64], curves: &[Vec<Point>]) -> Vec<f64> {
    match curves {
        [second] => {
            let p = at(second, place(predicted, behind, 1));
            ahead(predicted, vec![1.0 - p, p])
        }
        curves => {
            let p = curves.iter().enumerate().map(|(c, curve)| at(curve, place(predicted, behind, c)));
            ahead(predicted, p.collect())
        }
    }
}

/// Straight between points, constant beyond.
fn at(curve: &[Point], place: f64) -> f64 {
    let next = curve.partition_point(|point| point[0] <= place);
    match (next.checked_sub(1).map(|last| curve[last]), curve.get(next)) {
        (None, None) => 0.5,
        (None, Some(first)) => first[1],
        (Some(last), None) => last[1],
        (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * ((place - a[0]) / (b[0] - a[0])),
    }
}

/// Whether curves are such as could have been found.
pub(crate) fn are_sound(curves: &[Vec<Point>], classes: usize) -> bool {
    let sound = |curve: &Vec<Point>| {
        let inside = curve.iter().all(|[place, p]| place.is_finite() && (0.0..=1.0).contains(p));
        inside && !curve.is_empty() && curve.is_sorted_by(|a, b| a[0] < b[0] && a[1] <= b[1])
    };
    (curves.len() == classes || (curves.len() == 1 && classes == 2)) && curves.iter().all(sound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn neighbours_out_of_order_are_pooled() {
        let rows =
            [(1.0, false, 1.0), (2.0, true, 1.0), (3.0, false, 1.0), (4.0, true, 2.0), (5.0, true, 1.0)];
        assert_eq!(curve(&rows, (0.0, 1.0)), [[1.0, 0.0], [2.0, 0.5], [3.0, 0.5], [4.0, 1.0], [5.0, 1.0]]);
        let cut = curve(&rows, (0.1, 0.4));
        assert_eq!((cut[0], cut[4]), ([1.0, 0.1], [5.0, 0.4]));
        assert_eq!(at(&[[1.0, 0.2], [3.0, 0.6]], 2.0), 0.4);
        assert_eq!((at(&[[1.0, 0.2]], 0.0), at(&[[1.0, 0.2]], 9.0)), (0.2, 0.2));
    }

    /// No other curve that rises has a smaller sum of squares: moving a block's probability towards a neighbour's, or half of a block, does not help.
    #[test]
    fn the_sum_of_squares_is_least() {
        let mut rng = Rng::new(4);
        let rows: Vec<(f64, bool, f64)> = (0..300)
            .map(|i| (f64::from(i / 2), rng.uniform() < f64::from(i) / 300.0, 1.0 + rng.uniform()))
            .collect();
        let found = curve(&rows, (0.0, 1.0));
        let error = |f: &dyn Fn(f64) -> f64| -> f64 {
            rows.iter().map(|&(x, own, w)| w * (f(x) - f64::from(u8::from(own))).powi(2)).sum()
        };
        let best = error(&|x| at(&found, x));
        for _ in 0..2000 {
            // Any rising step added, as far as the curve goes on rising.
            let (place, amount) = (150.0 * rng.uniform(), 0.1 * rng.normal());
            let other = |x: f64| at(&found, x) + if x >= place { amount } else { 0.0 };
            let rises = (1..150).all(|x| other(f64::from(x)) >= other(f64::from(x - 1)) - 1e-12);
            assert!(!rises || error(&other) >= best - 1e-9);
        }
        assert!(are_sound(std::slice::from_ref(&found), 2) && !are_sound(&[found], 3));
    }
}
