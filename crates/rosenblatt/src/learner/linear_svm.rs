//! Linear support vector machines.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, Costs, Solved, batch_learner, objective, reduce};
use super::{Fit, Learner, Task};
use crate::data::Rows;
use crate::error::{Error, ParamError};
use crate::loss::{Hinge, SquaredHinge};
use crate::online::Multiclass;
use crate::solver::{Binary, Choice, Limits, Solution};
use crate::watch::{Monitor, Watch};
use crate::with_rows;

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

impl LinearSvm {
    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, choice: &Choice, monitor: &Monitor<'_>) -> Solution {
        let limits = Limits { gap: self.gap, passes: self.passes, seed: self.seed };
        match self.loss {
            SvmLoss::Hinge => choice.solve(problem, Hinge, limits, monitor),
            SvmLoss::SquaredHinge => choice.solve(problem, SquaredHinge, limits, monitor),
        }
    }

    fn solve_all(&self, costs: &Costs<'_>, n_classes: usize, monitor: &Monitor<'_>) -> Solved {
        let choice = Choice::new(self.solver, costs.x);
        let (solutions, decision) = reduce(self.multiclass, n_classes, |target| {
            let examples = costs.examples(target);
            with_rows!(costs.x, x => {
                self.solve(&Binary { x, examples: &examples, bias: self.bias }, &choice, monitor)
            })
        });
        Solved { solutions, decision, solver: choice.reason }
    }
}

impl Learner for LinearSvm {
    fn name(&self) -> &'static str {
        "linear-svm"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.common().check()
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        let slack = match self.loss {
            SvmLoss::Hinge => "max(0, 1 − y·g(x))",
            SvmLoss::SquaredHinge => "max(0, 1 − y·g(x))²",
        };
        let about = batch::about(self.name(), objective(&self.common(), slack), self.parameters());
        let n_classes = task.data.classes().len();
        batch::learn(about, &self.common(), task, watch, |costs, monitor| self.solve_all(costs, n_classes, monitor))
    }
}
