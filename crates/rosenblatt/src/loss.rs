//! Margin losses ℓ(m), m = y·g(x), with their conjugates.

/// A convex loss of the margin.
///
/// Learners use [`value`](MarginLoss::value) and [`slope`](MarginLoss::slope); the conjugate gives the dual objective and with
/// it the duality gap.
///
/// ```
/// use rosenblatt::loss::{Hinge, MarginLoss};
/// assert_eq!(Hinge.value(0.25), 0.75);
/// assert_eq!(Hinge.slope(0.25), -1.0);
/// assert_eq!(Hinge.conjugate(0.5), -0.5); // ℓ*(−½)
/// ```
pub trait MarginLoss: Copy + Send + Sync {
    /// ℓ(m)
    fn value(self, m: f64) -> f64;
    /// ℓ'(m); at a corner the left slope.
    fn slope(self, m: f64) -> f64;
    /// ℓ*(−a), +∞ where it is not defined.
    fn conjugate(self, a: f64) -> f64;
    /// The largest −ℓ'(m), and so the largest a that ℓ*(−a) is defined for.
    fn steepest(self) -> f64 {
        1.0
    }
}

/// max(0, −m): what the perceptron descends on.
#[derive(Clone, Copy, Debug)]
pub struct PerceptronLoss;

/// max(0, 1 − m)
#[derive(Clone, Copy, Debug)]
pub struct Hinge;

/// max(0, 1 − m)²
#[derive(Clone, Copy, Debug)]
pub struct SquaredHinge;

/// 0 from a margin of 1 on, +∞ below: no error is allowed.
#[derive(Clone, Copy, Debug)]
pub struct HardMargin;

/// log(1 + exp(−m))
#[derive(Clone, Copy, Debug)]
pub struct Logistic;

fn inside_unit(a: f64, value: f64) -> f64 {
    if (0.0..=1.0).contains(&a) { value } else { f64::INFINITY }
}

impl MarginLoss for PerceptronLoss {
    fn value(self, m: f64) -> f64 {
        (-m).max(0.0)
    }
    fn slope(self, m: f64) -> f64 {
        if m <= 0.0 { -1.0 } else { 0.0 }
    }
    fn conjugate(self, a: f64) -> f64 {
        inside_unit(a, 0.0)
    }
}

impl MarginLoss for Hinge {
    fn value(self, m: f64) -> f64 {
        (1.0 - m).max(0.0)
    }
    fn slope(self, m: f64) -> f64 {
        if m <= 1.0 { -1.0 } else { 0.0 }
    }
    fn conjugate(self, a: f64) -> f64 {
        inside_unit(a, -a)
    }
}

impl MarginLoss for SquaredHinge {
    fn value(self, m: f64) -> f64 {
        Hinge.value(m).powi(2)
    }
    fn slope(self, m: f64) -> f64 {
        -2.0 * Hinge.value(m)
    }
    fn conjugate(self, a: f64) -> f64 {
        if a >= 0.0 { a * a / 4.0 - a } else { f64::INFINITY }
    }
    fn steepest(self) -> f64 {
        f64::INFINITY
    }
}

impl MarginLoss for HardMargin {
    fn value(self, m: f64) -> f64 {
        if m >= 1.0 { 0.0 } else { f64::INFINITY }
    }
    fn slope(self, m: f64) -> f64 {
        if m <= 1.0 { f64::NEG_INFINITY } else { 0.0 }
    }
    fn conjugate(self, a: f64) -> f64 {
        if a >= 0.0 { -a } else { f64::INFINITY }
    }
    fn steepest(self) -> f64 {
        f64::INFINITY
    }
}

impl MarginLoss for Logistic {
    fn value(self, m: f64) -> f64 {
        // Both forms are exact; this one never overflows.
        (-m.abs()).exp().ln_1p() + (-m).max(0.0)
    }
    fn slope(self, m: f64) -> f64 {
        -1.0 / (1.0 + m.exp())
    }
    fn conjugate(self, a: f64) -> f64 {
        let term = |a: f64| if a > 0.0 { a * a.ln() } else { 0.0 };
        inside_unit(a, term(a) + term(1.0 - a))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// ℓ(m) + ℓ*(−a) ≥ −a·m for all a, with equality at a = −ℓ'(m).
    fn fenchel_young(loss: impl MarginLoss, m: f64, a: f64) -> Result<(), TestCaseError> {
        let bound = |a: f64| loss.value(m) + loss.conjugate(a) + a * m;
        prop_assert!(bound(a) >= -1e-9, "m {m}, a {a}: {}", bound(a));
        let tight = bound(-loss.slope(m));
        prop_assert!(tight.abs() <= 1e-9 * (1.0 + m.abs()).powi(2), "m {m}: {tight}");
        Ok(())
    }

    proptest! {
        #[test]
        fn conjugates_are_conjugate(m in -30.0..30.0f64, a in 0.0..1.0f64) {
            fenchel_young(PerceptronLoss, m, a)?;
            fenchel_young(Hinge, m, a)?;
            fenchel_young(SquaredHinge, m, a * 10.0)?;
            fenchel_young(Logistic, m, a)?;
            // Below its corner it has no slope that is a number.
            fenchel_young(HardMargin, 1.0 + m.abs().max(1e-9), a * 10.0)?;
        }
    }
}
