//! Batch sub-gradient descent.

use serde_json::Value;

use super::batch::{self, batch_learner, objective};
use super::{Demand, Fit, Learner, Penalty, SvmLoss, Task};
use crate::data::Dataset;
use crate::error::{Error, ParamError};
use crate::loss::{Hinge, SquaredHinge};
use crate::online::Multiclass;
use crate::solver;
use crate::watch::Watch;

batch_learner! {
    /// The objective of [`LinearSvm`](crate::LinearSvm) by batch sub-gradient descent: step t = 0, 1, … goes η/√(t+1) against a sub-gradient, and the
    /// best point met is the answer. Far slower than the solvers of [`LinearSvm`](crate::LinearSvm), and simple enough to follow by hand:
    /// [`Report::costs`](crate::Report::costs) holds the objective at the start, which is w = 0 unless there is a [`Task::start`], and after each step.
    ///
    /// ```
    /// use rosenblatt::{Bias, Dataset, Dense, Labels, Learner, Subgradient};
    /// let data = Dataset::new(Dense::new(vec![2.0, -1.0], 1)?, &Labels::new(["yes", "no"]))?;
    /// let learner = Subgradient { learning_rate: Some(0.25), bias: Bias::None, passes: 1, ..Subgradient::default() };
    /// // From w = 0, where both rows have a hinge of 1, to w = ¼·(2 + 1).
    /// assert_eq!(learner.fit(&data, &mut ())?.report.costs, [2.0, 0.5 * 0.75 * 0.75 + 0.25]);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct Subgradient {
        /// What an error costs by its depth.
        pub loss: SvmLoss = SvmLoss::Hinge,
        /// η. Without one it is 2·√Σc / Σc‖x‖ for hinge, how far the optimum can be over how long a sub-gradient can be; for squared hinge 2/(1 + 2κ) with κ the
        /// largest eigenvalue of Σc·xxᵀ; at most 1. Here c is what a row costs, and x has a 1 for the bias.
        pub learning_rate: Option<f64> = None,
    }
    multiclass = Multiclass::Ovr, passes = 1000
}

impl Learner for Subgradient {
    fn name(&self) -> &'static str {
        "subgradient"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        let usable = self.learning_rate.is_none_or(|rate| rate > 0.0 && rate.is_finite());
        ParamError::unless(usable, "learning_rate", "must be more than 0")?;
        self.common().refuse_native()?;
        self.common().check()
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        batch::demand(&self.common(), data, &solver::Subgradient { loss: Hinge, rate: self.learning_rate })
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        let (common, rate) = (self.common(), self.learning_rate);
        let objective = objective(&common, task.data, Penalty::L2, self.loss.formula());
        let about = batch::about(self.name(), objective, self.parameters());
        match self.loss {
            SvmLoss::Hinge => {
                batch::learn_reduced(about, &common, task, watch, &solver::Subgradient { loss: Hinge, rate })
            }
            SvmLoss::SquaredHinge => batch::learn_reduced(
                about,
                &common,
                task,
                watch,
                &solver::Subgradient { loss: SquaredHinge, rate },
            ),
        }
    }
}
