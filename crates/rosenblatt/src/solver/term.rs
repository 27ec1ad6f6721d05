//! What a loss adds to the dual of a kernel machine, one variable at a time.
//!
//! ```text
//! min ½Σ aᵢaⱼK(xᵢ, xⱼ) + Σ φᵢ(αᵢ)     aᵢ = yᵢαᵢ, φᵢ(α) = cᵢ·ℓ*(−α/cᵢ), 0 ≤ αᵢ ≤ upper(cᵢ)
//! ```

use super::Example;
use crate::loss::{HardMargin, Hinge, Logistic, MarginLoss, SquaredHinge};

/// What the variables stand for in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Errors have a price.
    Soft,
    /// No error is allowed: the plane is stretched until the nearest row is at the margin.
    Hard,
    /// The margin ρ is free: the plane is stretched until it is 1.
    Level,
}

/// A loss by its φ.
pub(crate) trait Term: MarginLoss {
    /// The largest α.
    fn upper(self, cost: f64) -> f64;
    /// φ'(α)
    fn slope_at(self, cost: f64, alpha: f64) -> f64;
    /// φ''(α)
    fn curvature_at(self, cost: f64, alpha: f64) -> f64;
    const KIND: Kind = Kind::Soft;
    /// Whether φ is at most quadratic, so that one Newton step along a line ends at its minimum.
    const QUADRATIC: bool = true;
    /// Whether α may be at a bound in the end, where its row can be left alone.
    const BOUNDED: bool = true;

    /// The largest α of each example. Where the formulation sets no bound there is a fence, so that α stays finite even if the kernel is no dot product and the dual has no end.
    ///
    /// Where it is one, no optimum reaches the fence. Squared slack: α = 2cξ, and cξ² ≤ Σc, what w = 0 costs, so that α ≤ 2√(c·Σc). Hard margin: Σα = 2D
    /// there, and a D above `dual` proves that there is no plane.
    fn bounds(self, examples: &[Example], dual: f64) -> Vec<f64> {
        let total: f64 = examples.iter().map(|e| e.cost).sum();
        let fence = |cost: f64| match Self::KIND {
            Kind::Hard => 4.0 * dual,
            _ => 4.0 * (cost * total).sqrt(),
        };
        examples.iter().map(|e| self.upper(e.cost).min(fence(e.cost))).collect()
    }
}

impl Term for Hinge {
    #[inline]
    fn upper(self, cost: f64) -> f64 {
        cost
    }
    #[inline]
    fn slope_at(self, _: f64, _: f64) -> f64 {
        -1.0
    }
    #[inline]
    fn curvature_at(self, _: f64, _: f64) -> f64 {
        0.0
    }
}

impl Term for HardMargin {
    const KIND: Kind = Kind::Hard;

    #[inline]
    fn upper(self, _: f64) -> f64 {
        f64::INFINITY
    }
    #[inline]
    fn slope_at(self, _: f64, _: f64) -> f64 {
        -1.0
    }
    #[inline]
    fn curvature_at(self, _: f64, _: f64) -> f64 {
        0.0
    }
}

impl Term for SquaredHinge {
    #[inline]
    fn upper(self, _: f64) -> f64 {
        f64::INFINITY
    }
    #[inline]
    fn slope_at(self, cost: f64, alpha: f64) -> f64 {
        alpha / (2.0 * cost) - 1.0
    }
    #[inline]
    fn curvature_at(self, cost: f64, _: f64) -> f64 {
        1.0 / (2.0 * cost)
    }
}

impl Term for Logistic {
    const QUADRATIC: bool = false;
    const BOUNDED: bool = false;

    #[inline]
    fn upper(self, cost: f64) -> f64 {
        cost
    }
    #[inline]
    fn slope_at(self, cost: f64, alpha: f64) -> f64 {
        let a = inside(cost, alpha);
        (a / (cost - a)).ln()
    }
    #[inline]
    fn curvature_at(self, cost: f64, alpha: f64) -> f64 {
        let a = inside(cost, alpha);
        cost / (a * (cost - a))
    }
}

/// At the ends the slope is infinite; no probability is so near to 0 or 1 that it would matter.
#[inline]
fn inside(cost: f64, alpha: f64) -> f64 {
    const EDGE: f64 = 1e-12;
    alpha.clamp(EDGE * cost, (1.0 - EDGE) * cost)
}

/// The hinge of ν formulations: φ is 0 on its interval, for the sum of all α is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level;

impl MarginLoss for Level {
    fn value(self, m: f64) -> f64 {
        (-m).max(0.0)
    }
    fn slope(self, m: f64) -> f64 {
        if m <= 0.0 { -1.0 } else { 0.0 }
    }
    fn conjugate(self, a: f64) -> f64 {
        if (0.0..=1.0).contains(&a) { 0.0 } else { f64::INFINITY }
    }
}

impl Term for Level {
    const KIND: Kind = Kind::Level;

    #[inline]
    fn upper(self, cost: f64) -> f64 {
        cost
    }
    #[inline]
    fn slope_at(self, _: f64, _: f64) -> f64 {
        0.0
    }
    #[inline]
    fn curvature_at(self, _: f64, _: f64) -> f64 {
        0.0
    }
}
