//! What dual coordinate descent asks of a loss.
//!
//! Logistic loss: Shalev-Shwartz and Zhang (2013), JMLR 14, with Newton's steps on α = c·σ(−margin at α), which take one exponential each, where those on the dual itself take logarithms (Yu, Huang, Lin 2011).

use super::Binary;
use super::certificate::{Certified, certify, conjugate};
use crate::data::Rows;
use crate::loss::{Hinge, Logistic, MarginLoss, SquaredHinge};

/// A loss whose dual can be maximised in one coordinate.
pub(crate) trait DualLoss: MarginLoss {
    /// Where α is best, given its margin and the curvature q = ‖x‖² of the rest.
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64;
    /// What the row adds to P − D, or about as much.
    #[inline]
    fn owed(self, alpha: f64, cost: f64, margin: f64) -> f64 {
        cost * self.value(margin) + conjugate(self, cost, alpha) + alpha * margin
    }
    /// α near the best for a row of this margin, where another solution is to start from.
    fn near(self, _cost: f64, _margin: f64) -> f64 {
        0.0
    }
    /// The slope of −D at α, negative where α should grow, if optimal α often lie on a bound, where they can be left alone.
    #[inline]
    fn gradient(self, _alpha: f64, _cost: f64, _margin: f64) -> Option<f64> {
        None
    }
    /// Passes between two certificates at the most.
    const PATIENCE: usize = 50;
    /// What a feasible α with its sums Σ αᵢyᵢxᵢ and Σ αᵢyᵢ proves, with the bias there or near by.
    fn certify<R: Rows>(
        self,
        problem: &Binary<'_, R>,
        alpha: &[f64],
        sums: (Vec<f64>, f64),
        bias: f64,
    ) -> Certified {
        certify(problem, self, alpha, sums, bias)
    }
}

impl DualLoss for Hinge {
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
    fn gradient(self, _: f64, _: f64, margin: f64) -> Option<f64> {
        Some(margin - 1.0)
    }
}

impl DualLoss for SquaredHinge {
    #[inline]
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        let own = 0.5 / cost;
        (alpha - (margin - 1.0 + alpha * own) / (q + own)).max(0.0)
    }
    fn near(self, cost: f64, margin: f64) -> f64 {
        -cost * self.slope(margin)
    }
    #[inline]
    fn gradient(self, alpha: f64, cost: f64, margin: f64) -> Option<f64> {
        Some(margin - 1.0 + alpha * (0.5 / cost))
    }
}

impl DualLoss for Logistic {
    fn near(self, cost: f64, margin: f64) -> f64 {
        -cost * self.slope(margin)
    }

    /// Half the squared distance of two probabilities by their variances: all of it that counts where they are near each other, without a logarithm.
    #[inline]
    fn owed(self, alpha: f64, cost: f64, margin: f64) -> f64 {
        let (p, s) = (alpha / cost, share(margin));
        cost * (p - s).powi(2) / (p * (1.0 - p) + s * (1.0 - s)).max(f64::MIN_POSITIVE)
    }

    /// The zero of α − c·σ(−m − q(α − α₀)), by Newton's steps inside a bracket that halves where they leave it, until the next would be a twentieth of the last at the most.
    #[inline]
    fn best(self, alpha: f64, cost: f64, margin: f64, q: f64) -> f64 {
        let (mut low, mut high, mut at) = (0.0, cost, alpha);
        for _ in 0..100 {
            let s = share(margin + q * (at - alpha));
            let over = at - cost * s;
            *(if over > 0.0 { &mut high } else { &mut low }) = at;
            let step = over / (1.0 + q * cost * s * (1.0 - s));
            let next = at - step;
            if next == at {
                break;
            }
            if next > low && next < high {
                at = next;
                // |σ''| is below 0.1.
                if q * q * cost * step.abs() <= 1.0 {
                    break;
                }
            } else {
                at = 0.5 * (low + high);
                if high - low <= 1e-15 * cost {
                    break;
                }
            }
        }
        at
    }
}

/// σ(−m), the probability of the other class.
#[inline]
fn share(margin: f64) -> f64 {
    1.0 / (1.0 + margin.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that has its features for itself is at its best after a few visits, and stays there.
    #[test]
    fn a_row_of_its_own_stays_where_it_is_best() {
        for (cost, q) in
            [(0.1, 1.0), (1.0, 1.0), (10.0, 1.0), (10.0, 7.0), (1e4, 1.0), (1.0, f64::MIN_POSITIVE)]
        {
            let mut alpha = 0.0;
            for visit in 0..200 {
                alpha = Logistic.best(alpha, cost, q * alpha, q);
                let over = alpha - cost * share(q * alpha);
                assert!(visit < 20 || over.abs() <= 1e-9 * cost, "C {cost}, q {q}, visit {visit}: {over}");
            }
        }
    }
}
