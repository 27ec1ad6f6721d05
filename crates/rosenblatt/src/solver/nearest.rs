//! Multipliers for a plane that is given, to start from.
//!
//! Rows off the margin have their α at a bound. Those on it may have any, but w is the sum over all: what the others leave of it is made up of them by least squares, with conjugate
//! gradients (Hestenes and Stiefel 1952, section 10, known as CGLS). What leaves its bounds is put back and held there, and the rest solved again.

use super::certificate::{dual_at, gradient, scores};
use super::{Binary, DualLoss, Example};
use crate::data::Rows;
use crate::learner::Bias;

/// How often what was out of its bounds is held there.
pub(super) const ROUNDS: usize = 5;

/// v with the least ‖missing − Av‖², beginning at 0, given A and its transpose.
pub(super) fn least_squares(
    mut missing: Vec<f64>,
    forward: impl Fn(&[f64]) -> Vec<f64>,
    back: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    /// Each step goes over the rows near the margin, of which there are few.
    const STEPS: usize = 100;
    /// Of the first gradient's square: ten digits.
    const ENOUGH: f64 = 1e-20;
    let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
    let mut slope = back(&missing);
    let (mut direction, mut found) = (slope.clone(), vec![0.0; slope.len()]);
    let first = square(&slope);
    let mut length = first;
    for _ in 0..STEPS {
        let moved = forward(&direction);
        let step = length / square(&moved);
        if length <= ENOUGH * first || !step.is_finite() {
            break;
        }
        found.iter_mut().zip(&direction).for_each(|(v, d)| *v += step * d);
        missing.iter_mut().zip(&moved).for_each(|(r, m)| *r -= step * m);
        slope = back(&missing);
        let next = square(&slope);
        direction.iter_mut().zip(&slope).for_each(|(d, s)| *d = s + next / length * *d);
        length = next;
    }
    found
}

/// α that suit a point and its margins.
pub(super) fn alpha_near<L: DualLoss, R: Rows>(
    problem: &Binary<'_, R>,
    loss: L,
    point: &[f64],
    margins: &[f64],
) -> Vec<f64> {
    let rows = problem.examples.iter().zip(margins);
    let near: Vec<f64> = rows.map(|(e, &margin)| loss.near(e.cost, margin)).collect();
    // Without an upper bound the margin tells α.
    if !loss.steepest().is_finite() {
        return near;
    }
    let mut alpha = near.clone();
    for _ in 0..ROUNDS {
        if !fill_up(problem, point, loss.steepest(), &mut alpha) {
            break;
        }
    }
    let dual = |alpha: &[f64]| dual_at(problem, loss, &mut alpha.to_vec());
    if dual(&alpha) > dual(&near) { alpha } else { near }
}

/// Moves α within their bounds so that their sum becomes the point; whether some came to their bounds on the way.
fn fill_up<R: Rows>(problem: &Binary<'_, R>, point: &[f64], steepest: f64, alpha: &mut [f64]) -> bool {
    let upper = |e: &Example| e.cost * steepest;
    let is_open = |(i, e): &(usize, &Example)| alpha[*i] > 0.0 && alpha[*i] < upper(e);
    let open: Vec<usize> = problem.examples.iter().enumerate().filter(is_open).map(|(i, _)| i).collect();
    let examples: Vec<Example> = open.iter().map(|&i| problem.examples[i]).collect();
    let part = problem.of(&examples);
    let signed = |examples: &[Example], v: &[f64]| -> Vec<f64> {
        examples.iter().zip(v).map(|(e, v)| e.y() * v).collect()
    };
    let mut missing = gradient(problem, &signed(problem.examples, alpha));
    missing.iter_mut().zip(point).for_each(|(sum, w)| *sum = w - *sum);
    if let (Bias::Free, Some(balance)) = (problem.bias, missing.last_mut()) {
        // A free bias is no sum: the signed α are to be 0 together.
        *balance -= point.last().copied().unwrap_or_default();
    }
    let back = |w: &[f64]| {
        let (w, b) = part.split(w);
        let scores: Vec<f64> = scores(&part, w).iter().map(|score| score + b).collect();
        signed(&examples, &scores)
    };
    let moves = least_squares(missing, |v| gradient(&part, &signed(&examples, v)), back);
    let mut held = false;
    for ((&i, example), step) in open.iter().zip(&examples).zip(moves) {
        let to = alpha[i] + step;
        alpha[i] = to.clamp(0.0, upper(example));
        held |= alpha[i] != to;
    }
    held
}
