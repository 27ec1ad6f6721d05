//! The approximate large margin algorithm.

use super::Bias;
use super::online::{Common, Online, online_learner};
use crate::error::ParamError;
use crate::model::Tie;
use crate::online::{AlmaRule, Balled, Native, State};

online_learner! {
    /// ALMA₂: approaches (1 − α) times the largest margin with perceptron-like updates on unit-length examples.
    ///
    /// Gentile (2001), JMLR 2, with p = 2.
    ///
    /// ```
    /// use rosenblatt::{Alma, Learner};
    /// assert!(Alma { alpha: 1.5, ..Alma::default() }.check().is_err());
    /// ```
    pub struct Alma {
        /// α in (0, 1]: how far from the largest margin is near enough.
        pub alpha: f64 = 0.9,
        /// B, which scales the margin asked for; 1/α unless given.
        pub b: Option<f64> = None,
        /// C, which scales the rate.
        pub c: f64 = std::f64::consts::SQRT_2,
    }
    bias = Bias::Free, passes = 10
}

impl Online for Alma {
    fn name(&self) -> &'static str {
        "alma"
    }

    fn objective(&self) -> String {
        format!("margin within a factor {} of the largest, ‖w‖ ≤ 1", 1.0 - self.alpha)
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        ParamError::unless(self.alpha > 0.0 && self.alpha <= 1.0, "alpha", "must be in (0, 1]")?;
        let positive = |value: f64| value > 0.0 && value.is_finite();
        ParamError::unless(self.b.is_none_or(positive), "b", "must be more than 0")?;
        ParamError::unless(positive(self.c), "c", "must be more than 0")?;
        Ok(())
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let planes = Balled::new(self.zeros(n_classes, n_cols));
        let b = self.b.unwrap_or(1.0 / self.alpha);
        let rule = AlmaRule { alpha: self.alpha, b, c: self.c, k: 1.0 };
        Box::new(Native::new(planes, rule, Tie::Negative, n_classes, false))
    }
}
