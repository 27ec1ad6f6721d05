//! Winnow.

use super::Bias;
use super::online::{Common, Online, online_learner};
use crate::data::{DataError, Features, Matrix, Rows};
use crate::error::ParamError;
use crate::model::Tie;
use crate::online::{Multiplicative, Native, OnMistake, State};

online_learner! {
    /// On a mistake each weight is multiplied by α^±x.
    ///
    /// Littlestone (1988), Machine Learning 2:4. Learns quickly when few of many features matter. Plain Winnow takes non-negative
    /// features; balanced Winnow keeps two sets of weights and takes any.
    ///
    /// ```
    /// use rosenblatt::{Learner, Winnow};
    /// assert!(Winnow { alpha: 1.0, ..Winnow::default() }.check().is_err()); // would never move
    /// ```
    pub struct Winnow {
        /// α > 1.
        pub alpha: f64 = 2.0,
        /// θ of a binary problem; unless given half the number of features, or 0 when balanced.
        pub threshold: Option<f64> = None,
        /// Keep a second set of weights that moves the other way.
        pub balanced: bool = false,
    }
    bias = Bias::None, passes = 10
}

impl Winnow {
    /// Far larger factors would push a weight to its limit in a few steps.
    const LARGEST_FACTOR: f64 = 1e12;
}

impl Online for Winnow {
    fn name(&self) -> &'static str {
        "winnow"
    }

    fn objective(&self) -> String {
        let weights = if self.balanced { "w⁺ by α^±x and w⁻ by α^∓x" } else { "w by α^±x" };
        format!("on a mistake multiplies {weights}, α = {}", self.alpha)
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        ParamError::unless(self.alpha > 1.0 && self.alpha.is_finite(), "alpha", "must be more than 1")?;
        let finite = self.threshold.is_none_or(f64::is_finite);
        ParamError::unless(finite, "threshold", "must be a finite number")?;
        Ok(())
    }

    fn check_rows(&self, x: &Matrix<'_>, features: &Features, first: u64) -> Result<(), DataError> {
        let name = |j| features.name(j);
        for i in 0..x.n_rows() {
            let (mut negative, mut large) = (None, None);
            x.each(i, |j, v| {
                if v < 0.0 && !self.balanced {
                    negative = Some((j, v));
                }
                if self.alpha.powf(v.abs()) > Self::LARGEST_FACTOR {
                    large = Some((j, v));
                }
            });
            let row = first + i as u64 + 1;
            if let Some((j, v)) = negative {
                return Err(DataError::Unsuitable(format!(
                    "row {row}: feature {} is {v}, but Winnow takes non-negative features; scale them by `minmax`, or use balanced Winnow",
                    name(j)
                )));
            }
            if let Some((j, v)) = large {
                return Err(DataError::Unsuitable(format!(
                    "row {row}: feature {} is {v}, and Winnow would multiply its weight by {}^{v}; scale the features by `minmax` or `maxabs` first",
                    name(j),
                    self.alpha
                )));
            }
        }
        Ok(())
    }

    /// The usual threshold is half the number of features.
    fn is_open(&self) -> bool {
        self.balanced || self.threshold.is_some()
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let planes = self.zeros(n_classes, n_cols);
        let weights = Multiplicative::new(planes, self.alpha, self.threshold, self.balanced);
        let rule = OnMistake { rate: 1.0 };
        Box::new(Native::new(weights, rule, Tie::Negative, n_classes, false))
    }
}
