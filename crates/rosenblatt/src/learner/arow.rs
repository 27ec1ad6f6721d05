//! Adaptive regularization of weights.

use super::Bias;
use super::online::{Common, Online, online_learner};
use crate::error::ParamError;
use crate::model::Tie;
use crate::online::{ArowRule, Confident, Native, State};

online_learner! {
    /// AROW: a variance for each weight, so that rare features move far and frequent ones settle.
    ///
    /// Crammer, Kulesza, Dredze (2009), NIPS 22, with diagonal covariance.
    ///
    /// ```
    /// use rosenblatt::{Arow, Learner};
    /// assert_eq!(Arow { r: 0.5, ..Arow::default() }.name(), "arow");
    /// ```
    pub struct Arow {
        /// r: the larger, the smaller the steps.
        pub r: f64 = 1.0,
    }
    bias = Bias::Free, passes = 10
}

impl Online for Arow {
    fn name(&self) -> &'static str {
        "arow"
    }

    fn objective(&self) -> String {
        let r = 2.0 * self.r;
        format!("each step: min KL(N(μ′, Σ′) ‖ N(μ, Σ)) + hinge²/{r} + xᵀΣ′x/{r}")
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        ParamError::unless(self.r > 0.0 && self.r.is_finite(), "r", "must be more than 0")?;
        Ok(())
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let planes = Confident::new(self.zeros(n_classes, n_cols));
        Box::new(Native::new(planes, ArowRule { r: self.r }, Tie::Negative, n_classes, false))
    }
}
