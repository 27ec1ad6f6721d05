//! What is proved of planes that let no row inside the margin.
//!
//! min ½‖w‖² with yᵢ(w·xᵢ + b) ≥ 1 is the problem of [`HardMargin`], which costs nothing or everything; its α have no upper bound. Both of its points can be made longer or
//! shorter, so each is taken at its best length:
//!
//! ```text
//! P = ½(‖w‖/m)²        m = min yᵢ(w·xᵢ + b), where that is more than 0
//! D = ½(Σ αᵢ/‖v‖)²     v = Σ αᵢyᵢxᵢ
//! ```
//!
//! v/Σ αᵢ joins a point of one class's hull to a point of the other's, so that ‖v‖/Σ αᵢ = 1/√(2D) is more than the margin of any plane (Bennett and Bredensteiner 2000, ICML). D
//! beyond all bounds means that the hulls meet.
//!
//! Rows that are far from the plane have no part in it. A plane to start from tells which these may be: those near it are solved by themselves, and as long as another row comes nearer than they are, such rows
//! join them. Whatever is proved of some rows holds for all: the others' α are 0.

use super::certificate::{Certificate, Certified, Slacks, half_norm, scores, support_vectors};
use super::{Binary, DualLoss, End, Example, Limits, Solution};
use crate::data::Rows;
use crate::learner::Bias;
use crate::loss::HardMargin;
use crate::watch::Monitor;

/// α of a row of zeros without a bias would grow without end at once.
const LARGEST: f64 = 1e300;

impl DualLoss for HardMargin {
    // No loss between nothing and infinity tells beforehand how large the gap will be.
    const PATIENCE: usize = 10;

    #[inline]
    fn best(self, alpha: f64, _: f64, margin: f64, q: f64) -> f64 {
        (alpha - (margin - 1.0) / q).clamp(0.0, LARGEST)
    }
    #[inline]
    fn gradient(self, _: f64, _: f64, margin: f64) -> Option<f64> {
        Some(margin - 1.0)
    }

    fn certify<R: Rows>(
        self,
        problem: &Binary<'_, R>,
        alpha: &[f64],
        (w, sum): (Vec<f64>, f64),
        _: f64,
    ) -> Certified {
        let scores = scores(problem, &w);
        let b = match problem.bias {
            Bias::Free => half_way(problem.examples, &scores),
            Bias::Regularized => sum,
            Bias::None => 0.0,
        };
        let norm = (2.0 * half_norm(problem.bias, &w, sum)).sqrt();
        let total: f64 = alpha.iter().sum();
        let dual = if total > 0.0 { 0.5 * (total / norm).powi(2) } else { 0.0 };
        let margins = problem.examples.iter().zip(&scores).map(|(e, f)| e.y() * (f + b));
        let support_vectors = support_vectors(problem.examples, alpha);
        let unscaled = Certificate { dual, support_vectors, ..Certificate::nothing() };
        stretched(problem, w, b, margins.collect(), unscaled)
    }
}

/// The widest margin from a plane that separates, with a solver for some of the rows; nothing where the start is no such plane.
pub(super) fn from_start<R: Rows>(
    problem: &Binary<'_, R>,
    limits: Limits,
    monitor: &Monitor<'_>,
    solve: impl Fn(&Binary<'_, R>, Limits) -> Solution,
) -> Option<Solution> {
    /// Rows so much farther from the plane than the nearest are left out.
    const NEAR: f64 = 1.5;
    let (w, b) = problem.start.filter(|_| !problem.examples.is_empty())?;
    let b = if problem.bias.is_lifted() { b } else { 0.0 };
    let (mut best, mut margins) = placed(problem, w.to_vec(), b, Certificate::nothing());
    if !best.certificate.primal.is_finite() {
        return None;
    }
    let mut reach = NEAR * margins.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut taken, mut before, mut passes) = (vec![false; margins.len()], 0, 0);
    let end = loop {
        taken.iter_mut().zip(&margins).for_each(|(taken, &margin)| *taken |= margin <= reach);
        let rows = problem.examples.iter().zip(&taken).filter(|(_, taken)| **taken);
        let some: Vec<Example> = rows.map(|(example, _)| *example).collect();
        if some.len() == before {
            break End::Stalled;
        }
        before = some.len();
        let left = Limits { passes: limits.passes.saturating_sub(passes).max(1), ..limits };
        let found = solve(&Binary { start: None, common: None, ..problem.of(&some) }, left);
        // Over some of the rows.
        passes += found.passes.saturating_mul(some.len()).div_ceil(problem.examples.len());
        let (certified, of_all) = placed(problem, found.w, found.b, found.certificate);
        best.improve(certified);
        // The nearest of the rows it was solved for are at 1, or nearer where the bias makes room for others.
        (margins, reach) = (of_all, NEAR);
        match found.end {
            _ if best.certificate.gap() <= limits.gap => break End::Converged,
            End::Diverged | End::Stopped => break found.end,
            _ if !monitor.go_on(problem.examples.len()) => break End::Stopped,
            _ if passes >= limits.passes => break End::PassLimit,
            _ => {}
        }
    };
    Some(Solution::new(best, passes, end))
}

/// What a plane is worth to all rows, with the best bias for it, given what is proved of some; and the margins it has before it is stretched.
fn placed<R: Rows>(
    problem: &Binary<'_, R>,
    w: Vec<f64>,
    b: f64,
    certificate: Certificate,
) -> (Certified, Vec<f64>) {
    let scores = scores(problem, &w);
    let b = if problem.bias == Bias::Free { half_way(problem.examples, &scores) } else { b };
    let margins: Vec<f64> = problem.examples.iter().zip(&scores).map(|(e, f)| e.y() * (f + b)).collect();
    let unscaled = Certificate { primal: f64::INFINITY, slacks: Slacks::default(), ..certificate };
    (stretched(problem, w, b, margins.clone(), unscaled), margins)
}

/// The bias half-way between the nearest rows of both sides; where a side has no rows, the one that keeps the others at the margin.
pub(super) fn half_way(examples: &[Example], scores: &[f64]) -> f64 {
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for (example, &f) in examples.iter().zip(scores) {
        if example.is_positive() { lowest = lowest.min(f) } else { highest = highest.max(f) }
    }
    match (lowest.is_finite(), highest.is_finite()) {
        (true, true) => -0.5 * (lowest + highest),
        (true, false) => 1.0 - lowest,
        (false, true) => -1.0 - highest,
        (false, false) => 0.0,
    }
}

/// A plane at the length that puts the nearest row at the margin; as it is if it does not separate.
fn stretched<R>(
    problem: &Binary<'_, R>,
    mut w: Vec<f64>,
    mut b: f64,
    margins: Vec<f64>,
    mut certificate: Certificate,
) -> Certified {
    let smallest = margins.iter().copied().fold(f64::INFINITY, f64::min);
    let by = 1.0 / smallest;
    let primal = half_norm(problem.bias, &w, b) * by * by;
    let separates = smallest > 0.0 && primal.is_finite() && (b * by).is_finite();
    if separates {
        w.iter_mut().for_each(|w| *w *= by);
        b *= by;
        certificate.primal = primal;
    }
    let scale = if separates { by } else { 1.0 };
    let rows = problem.examples.iter().zip(&margins);
    rows.for_each(|(e, m)| certificate.slacks.count(m * scale, e.copies()));
    Certified { w, b, certificate, scores: Vec::new() }
}
