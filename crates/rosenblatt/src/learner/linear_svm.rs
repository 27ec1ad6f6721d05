//! Linear support vector machines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, batch_learner, objective};
use super::{Fit, Learner, Task};
use crate::error::{Error, ParamError};
use crate::loss::{Hinge, SquaredHinge};
use crate::online::Multiclass;
use crate::solver::Solvable;
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
        self.common().check()
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.common().refuse_native()?;
        match self.loss {
            SvmLoss::Hinge => self.minimise("max(0, 1 − y·g(x))", task, watch, Hinge),
            SvmLoss::SquaredHinge => self.minimise("max(0, 1 − y·g(x))²", task, watch, SquaredHinge),
        }
    }
}

impl LinearSvm {
    fn minimise(
        &self,
        slack: &str,
        task: &Task<'_>,
        watch: &mut dyn Watch,
        loss: impl Solvable,
    ) -> Result<Fit, Error> {
        let common = self.common();
        let about = batch::about(self.name(), objective(&common, slack), self.parameters());
        batch::learn(about, &common, task, watch, |costs, monitor| {
            batch::solve_reduced(&common, loss, costs, monitor)
        })
    }
}
