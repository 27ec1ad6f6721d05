//! What dual coordinate descent asks of a loss.
//!
//! Logistic loss: Yu, Huang, Lin (2011), Machine Learning 85, algorithm 5, with a bracket around Newton's steps.

use super::Binary;
use super::certificate::{Certified, certify};
use crate::data::Rows;
use crate::loss::{Hinge, Logistic, MarginLoss, SquaredHinge};

/// A loss whose dual can be maximised in one coordinate.
pub(crate) trait DualLoss: MarginLoss {
    /// Where α is best, given its margin and the curvature q = ‖x‖² of the rest.
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64;
    /// Where α begins.
    fn start(self, _cost: f64) -> f64 {
        0.0
    }
    /// α near the best for a row of this margin, where another solution is to start from.
    fn near(self, cost: f64, _margin: f64) -> f64 {
        self.start(cost)
    }
    /// The slope of −D at α: negative where α should grow.
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> f64;
    /// Whether optimal α often lie on a bound, where they can be left alone.
    const SHRINKS: bool;
    /// Passes between two certificates at the most.
    const PATIENCE: usize = 50;
    /// What α proves, made feasible first, with the bias there or near by.
    fn certify<R: Rows>(self, problem: &Binary<'_, R>, alpha: &mut [f64], bias: f64) -> Certified {
        certify(problem, self, alpha, bias)
    }
}

impl DualLoss for Hinge {
    const SHRINKS: bool = true;

    #[inline]
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        (alpha - (margin - 1.0) / q).clamp(0.0, cost)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        // At the margin itself any α will do.
        const AROUND: f64 = 0.05;
        cost * (0.5 - 0.5 * (margin - 1.0) / AROUND).clamp(0.0, 1.0)
    }
    #[inline]
    fn gradient(self, _: f64, _: f64, margin: f64) -> f64 {
        margin - 1.0
    }
}

impl DualLoss for SquaredHinge {
    const SHRINKS: bool = true;

    #[inline]
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        let own = 0.5 / cost;
        (alpha - (margin - 1.0 + alpha * own) / (q + own)).max(0.0)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        -cost * self.slope(margin)
    }
    #[inline]
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> f64 {
        margin - 1.0 + alpha * (0.5 / cost)
    }
}

impl DualLoss for Logistic {
    const SHRINKS: bool = false;

    fn start(self, cost: f64) -> f64 {
        // Inside the interval, where the logarithms are finite, and far from the middle, as most rows end.
        (1e-3 * cost).min(1e-8)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        (-cost * self.slope(margin)).clamp(self.start(cost), cost - self.start(cost))
    }

    /// The zero of G(α) = m + q(α − α₀) + log(α/(c − α)), by Newton's steps inside a bracket that halves where they leave it.
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        let (mut low, mut high, mut at) = (0.0, cost, alpha);
        for _ in 0..100 {
            let slope = margin + q * (at - alpha) + (at / (cost - at)).ln();
            if slope.abs() < 1e-10 || high - low <= 1e-15 * cost {
                break;
            }
            *(if slope > 0.0 { &mut high } else { &mut low }) = at;
            let step = slope / (q + cost / (at * (cost - at)));
            let next = at - step;
            at = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        at
    }
    #[inline]
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> f64 {
        margin + (alpha / (cost - alpha)).ln()
    }
}
