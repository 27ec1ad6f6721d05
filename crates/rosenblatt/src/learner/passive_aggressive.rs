//! Passive-aggressive learning.

use super::Bias;
use super::online::{Common, Online, online_learner};
use crate::error::ParamError;
use crate::model::Tie;
use crate::online::{Aggressiveness, Native, PassiveAggressiveRule, State};

online_learner! {
    /// The smallest move that gives an example a margin of 1, limited by C.
    ///
    /// Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), JMLR 7.
    ///
    /// ```
    /// use rosenblatt::{Aggressiveness, Learner, PassiveAggressive};
    /// let learner = PassiveAggressive { c: 0.1, variant: Aggressiveness::II, ..Default::default() };
    /// assert!(learner.check().is_ok());
    /// ```
    pub struct PassiveAggressive {
        /// How C limits a step.
        pub variant: Aggressiveness = Aggressiveness::I,
        /// C. Unused by the plain form.
        pub c: f64 = 1.0,
    }
    bias = Bias::Free, passes = 10
}

impl Online for PassiveAggressive {
    fn name(&self) -> &'static str {
        "passive-aggressive"
    }

    fn objective(&self) -> String {
        let c = self.c;
        match self.variant {
            Aggressiveness::Plain => "each step: min ½‖w′ − w‖² with y·g(x) ≥ 1".to_owned(),
            Aggressiveness::I => format!("each step: min ½‖w′ − w‖² + {c}·ξ with y·g(x) ≥ 1 − ξ, ξ ≥ 0"),
            Aggressiveness::II => format!("each step: min ½‖w′ − w‖² + {c}·ξ² with y·g(x) ≥ 1 − ξ"),
        }
    }

    fn check_parameters(&self) -> Result<(), ParamError> {
        ParamError::unless(self.c > 0.0 && self.c.is_finite(), "c", "must be more than 0")?;
        Ok(())
    }

    fn native(&self, n_classes: usize, n_cols: usize) -> Box<dyn State> {
        let planes = self.zeros(n_classes, n_cols);
        let rule = PassiveAggressiveRule { form: self.variant, c: self.c };
        Box::new(Native::new(planes, rule, Tie::Negative, n_classes, false))
    }
}
