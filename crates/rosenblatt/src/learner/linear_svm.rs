//! Linear support vector machines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, batch_learner, objective};
use super::{Demand, Fit, Learner, Penalty, Shortcut, Task};
use crate::data::Dataset;
use crate::error::{Error, ParamError};
use crate::loss::{Hinge, SquaredHinge};
use crate::online::Multiclass;
use crate::solver::{Choice, L1, Solver};
use crate::watch::Watch;

/// What an error costs by its depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SvmLoss {
    /// ξ = max(0, 1 − y·g(x))
    #[default]
    Hinge,
    /// ξ²
    SquaredHinge,
}

impl SvmLoss {
    pub(crate) fn formula(self) -> &'static str {
        match self {
            SvmLoss::Hinge => "max(0, 1 − y·g(x))",
            SvmLoss::SquaredHinge => "max(0, 1 − y·g(x))²",
        }
    }
}

batch_learner! {
    /// A support vector machine with a linear boundary and a soft margin.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, LinearSvm, Status};
    /// let x = Dense::new(vec![1.0, 1.0, 3.0, 3.0, -1.0, -1.0, -3.0, -2.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
    /// let fit = LinearSvm { c: 10.0, ..LinearSvm::default() }.fit(&data, &mut ())?;
    /// assert_eq!(fit.report.status, Status::Converged);
    /// assert!(fit.report.gap.unwrap() <= 1e-3);
    /// assert!((fit.report.margin.unwrap() - 2f64.sqrt()).abs() < 1e-2); // half the distance of (1,1) and (−1,−1)
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub struct LinearSvm {
        /// What an error costs by its depth.
        pub loss: SvmLoss = SvmLoss::Hinge,
        /// What keeps weights small.
        pub penalty: Penalty = Penalty::L2,
        /// How the objective is minimised.
        pub solver: Solver = Solver::Auto,
    }
    multiclass = Multiclass::Ovr, passes = 1000
}

impl Learner for LinearSvm {
    fn name(&self) -> &'static str {
        "linear-svm"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.common().refuse_native()?;
        self.penalty.check(self.loss == SvmLoss::SquaredHinge, self.bias, self.solver)?;
        self.common().check()
    }

    fn can_go_on(&self) -> bool {
        true
    }

    fn shortcut(&self) -> Option<Shortcut<'_>> {
        Self::shortcut(self)
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let (common, x) = (self.common(), data.x());
        match self.loss {
            SvmLoss::SquaredHinge if self.penalty == Penalty::L1 => {
                batch::demand(&common, data, &L1 { loss: SquaredHinge })
            }
            SvmLoss::Hinge => batch::demand(&common, data, &Choice::new(self.solver, x, Hinge)),
            SvmLoss::SquaredHinge => batch::demand(&common, data, &Choice::new(self.solver, x, SquaredHinge)),
        }
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        let common = self.common();
        let objective = objective(&common, task.data, self.penalty, self.loss.formula());
        let about = batch::about(self.name(), objective, self.parameters());
        let x = task.data.x();
        match self.loss {
            SvmLoss::SquaredHinge if self.penalty == Penalty::L1 => {
                batch::learn_reduced(about, &common, task, watch, &L1 { loss: SquaredHinge })
            }
            SvmLoss::Hinge => {
                batch::learn_reduced(about, &common, task, watch, &Choice::new(self.solver, x, Hinge))
            }
            SvmLoss::SquaredHinge => {
                batch::learn_reduced(about, &common, task, watch, &Choice::new(self.solver, x, SquaredHinge))
            }
        }
    }
}
