//! The support vector machine that lets no row inside its margin.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, Common};
use super::{Bias, Demand, Fit, Learner, Task};
use crate::data::Dataset;
use crate::error::{Error, ParamError};
use crate::loss;
use crate::online::Multiclass;
use crate::solver::{Choice, Solver};
use crate::watch::Watch;

/// The plane with the largest margin between classes that a plane can separate; an error says so where none can.
///
/// ```
/// use rosenblatt::{Dataset, Dense, HardMargin, Labels, Learner, Status};
/// let x = Dense::new(vec![1.0, 1.0, 3.0, 3.0, -1.0, -1.0, -3.0, -2.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
/// let fit = HardMargin::default().fit(&data, &mut ())?;
/// assert_eq!(fit.report.status, Status::Converged);
/// assert!((fit.report.margin.unwrap() - 2f64.sqrt()).abs() < 1e-2); // half the distance of (1,1) and (−1,−1)
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HardMargin {
    /// The constant term.
    pub bias: Bias,
    /// How more than two classes are treated.
    pub multiclass: Multiclass,
    /// How the objective is minimised.
    pub solver: Solver,
    /// Stop when the relative duality gap is at most this.
    pub gap: f64,
    /// At most so many passes over the data.
    pub passes: usize,
    /// Fixes every random choice.
    pub seed: u64,
    /// Stop after so many seconds, with the best model so far.
    pub time_limit: Option<f64>,
}

impl Default for HardMargin {
    fn default() -> Self {
        HardMargin {
            bias: Bias::Free,
            multiclass: Multiclass::Ovr,
            solver: Solver::Auto,
            gap: 1e-3,
            passes: 10_000,
            seed: 0,
            time_limit: None,
        }
    }
}

impl HardMargin {
    fn common(&self) -> Common<'_> {
        Common {
            c: 1.0, // any: what may not happen has no cost
            lambda: None,
            bias: self.bias,
            multiclass: self.multiclass,
            class_weight: None,
            gap: self.gap,
            passes: self.passes,
            seed: self.seed,
            time_limit: self.time_limit,
        }
    }
}

impl Learner for HardMargin {
    fn name(&self) -> &'static str {
        "hard-margin"
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
        batch::demand(&self.common(), data, &Choice::new(self.solver, data.x(), loss::HardMargin))
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        let (norm, score) = batch::terms(self.bias);
        let objective = format!("min {norm} with y·g(x) ≥ 1; g(x) = {score}");
        let about = batch::about(self.name(), objective, self.parameters());
        let choice = Choice::new(self.solver, task.data.x(), loss::HardMargin);
        batch::learn_reduced(about, &self.common(), task, watch, &choice)
    }
}
