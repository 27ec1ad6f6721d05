//! Logistic regression.

use serde_json::Value;

use super::batch::{self, batch_learner, objective};
use super::{Fit, Learner, Penalty, Task};
use crate::error::{Error, ParamError};
use crate::loss;
use crate::online::Multiclass;
use crate::solver::{Choice, L1, Solver};
use crate::watch::Watch;

batch_learner! {
    /// Logistic regression: a linear boundary whose scores are log odds.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, Logistic, Penalty, Status};
    /// let x = Dense::new(vec![1.0, 1.0, 3.0, 3.0, -1.0, -1.0, -3.0, -2.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
    /// let fit = Logistic::default().fit(&data, &mut ())?;
    /// assert_eq!(fit.report.status, Status::Converged);
    ///
    /// // Under an L1 penalty one of two features that say the same is not used.
    /// let sparse = Logistic { penalty: Penalty::L1, ..Logistic::default() }.fit(&data, &mut ())?;
    /// assert!(sparse.model.body.planes().normal(0).contains(&0.0));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct Logistic {
        /// What keeps weights small.
        pub penalty: Penalty = Penalty::L2,
        /// How the objective is minimised.
        pub solver: Solver = Solver::Auto,
    }
    multiclass = Multiclass::Ovr, passes = 1000
}

impl Learner for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.penalty.check(true, self.bias, self.solver)?;
        self.common().check()
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        let objective = objective(&self.common(), self.penalty, "log(1 + exp(−y·g(x)))");
        let about = batch::about(self.name(), objective, self.parameters());
        if self.penalty == Penalty::L1 {
            return batch::learn(about, &self.common(), task, watch, &L1 { loss: loss::Logistic });
        }
        let choice = Choice::new(self.solver, task.data.x(), loss::Logistic);
        batch::learn(about, &self.common(), task, watch, &choice)
    }
}
