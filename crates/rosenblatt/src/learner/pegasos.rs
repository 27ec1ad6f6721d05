//! Pegasos.

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
    /// Pegasos: the objective of [`LinearSvm`](crate::LinearSvm) by sub-gradient steps of 1/(λt) along one random row at a time (Shalev-Shwartz, Singer,
    /// Srebro 2007).
    ///
    /// A free bias takes plain steps that no regulariser shrinks, and is replaced by the best one for w at the end of each pass. With squared hinge t does not begin
    /// at 1 but where its curvature lets steps converge.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, Pegasos};
    /// let x = Dense::new(vec![1.0, 1.0, 3.0, 3.0, -1.0, -1.0, -3.0, -2.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
    /// let fit = Pegasos { lambda: Some(0.1), ..Pegasos::default() }.fit(&data, &mut ())?;
    /// assert_eq!(fit.report.train_accuracy, Some(1.0));
    /// assert!(fit.report.gap.unwrap() < 0.1);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct Pegasos {
        /// What an error costs by its depth.
        pub loss: SvmLoss = SvmLoss::Hinge,
        /// Predict with the mean over the last passes, up to half of all.
        pub average: bool = true,
        /// Bring w back into the ball of radius 1/√λ, where the optimum lies, after each step.
        pub project: bool = true,
    }
    multiclass = Multiclass::Ovr, passes = 200
}

impl Learner for Pegasos {
    fn name(&self) -> &'static str {
        "pegasos"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.common().refuse_native()?;
        self.common().check()
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let method = solver::Pegasos { loss: Hinge, average: self.average, project: self.project };
        batch::demand(&self.common(), data, &method)
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        let Pegasos { average, project, .. } = *self;
        let common = self.common();
        let objective = objective(&common, task.data, Penalty::L2, self.loss.formula());
        let about = batch::about(self.name(), objective, self.parameters());
        match self.loss {
            SvmLoss::Hinge => {
                let method = solver::Pegasos { loss: Hinge, average, project };
                batch::learn_reduced(about, &common, task, watch, &method)
            }
            SvmLoss::SquaredHinge => {
                let method = solver::Pegasos { loss: SquaredHinge, average, project };
                batch::learn_reduced(about, &common, task, watch, &method)
            }
        }
    }
}
