//! Crammer and Singer's support vector machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, Common, Costs};
use super::{Bias, ClassWeight, Fit, Learner, Task};
use crate::data::check_memory;
use crate::error::{Error, ParamError};
use crate::model::{Body, Decision, Planes, Tie};
use crate::online::Multiclass;
use crate::solver::{Joint, JointSolution, Limits, Solver, crammer_singer};
use crate::watch::{Monitor, Watch};
use crate::with_rows;

/// A support vector machine for many classes that trains their planes together: each row's own class should beat every other by 1.
///
/// ```
/// use rosenblatt::{CrammerSinger, Dataset, Dense, Labels, Learner, Status};
/// let x = Dense::new(vec![3.0, 0.0, 2.0, 0.5, 0.0, 3.0, 0.5, 2.0, -3.0, -3.0, -2.0, -2.5], 2)?;
/// let data = Dataset::new(x, &Labels::new(["east", "east", "north", "north", "south", "south"]))?;
/// let fit = CrammerSinger::default().fit(&data, &mut ())?;
/// assert_eq!(fit.report.status, Status::Converged);
/// assert!(fit.report.gap.unwrap() <= 1e-3);
/// assert_eq!(fit.model.predict(data.x())?, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrammerSinger {
    /// C, what errors cost.
    pub c: f64,
    /// λ = 1/(C·n), n the weight of all rows: another way to give C.
    pub lambda: Option<f64>,
    /// The constant terms: regularized, or none.
    pub bias: Bias,
    /// How much each class counts.
    pub class_weight: Option<ClassWeight>,
    /// Stop when the relative duality gap is at most this.
    pub gap: f64,
    /// At most so many passes over the data.
    pub passes: usize,
    /// Fixes every random choice.
    pub seed: u64,
    /// Stop after so many seconds, with the best model so far.
    pub time_limit: Option<f64>,
}

impl Default for CrammerSinger {
    fn default() -> Self {
        CrammerSinger {
            c: 1.0,
            lambda: None,
            bias: Bias::Regularized,
            class_weight: None,
            gap: 1e-3,
            passes: 10_000, // most are over the few rows that still move
            seed: 0,
            time_limit: None,
        }
    }
}

impl CrammerSinger {
    fn common(&self) -> Common<'_> {
        Common {
            c: self.c,
            lambda: self.lambda,
            bias: self.bias,
            multiclass: Multiclass::Ovr, // as many planes
            class_weight: self.class_weight.as_ref(),
            solver: Solver::Dual,
            gap: self.gap,
            passes: self.passes,
            seed: self.seed,
            time_limit: self.time_limit,
        }
    }

    fn objective(&self) -> String {
        let (norm, score) = match self.bias {
            Bias::None => ("½Σ‖w_c‖²", "w_c·x"),
            _ => ("½Σ(‖w_c‖² + b_c²)", "w_c·x + b_c"),
        };
        let cost = batch::cost(&self.common(), "max(0, 1 + max g_c(x) − g_y(x))");
        format!("min {norm} + {cost}; c ≠ y; g_c(x) = {score}")
    }

    fn solve(&self, task: &Task<'_>, costs: &Costs<'_>, monitor: &Monitor<'_>) -> JointSolution {
        let limits = Limits { gap: self.gap, passes: self.passes, seed: self.seed, dual: f64::INFINITY };
        let (examples, lifted) = (costs.joint_examples(), self.bias.is_lifted());
        let n_classes = task.data.classes().len();
        with_rows!(task.data.x(), x => {
            crammer_singer(&Joint { x, examples: &examples, n_classes, lifted }, limits, monitor)
        })
    }
}

impl Learner for CrammerSinger {
    fn name(&self) -> &'static str {
        "crammer-singer"
    }

    fn parameters(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<(), ParamError> {
        self.common().check()?;
        // A bias that nothing holds back would be an equality in the dual for each class, which no single row can keep.
        let problem = "must be regularized or none: scale the rows, or use linear-svm for a free one";
        ParamError::unless(self.bias != Bias::Free, "bias", problem)
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        task.check()?;
        let data = task.data;
        let n_classes = data.classes().len();
        check_memory(data.n_features(), n_classes.saturating_mul(3))?;
        check_memory(data.n_rows(), n_classes)?;
        let costs = Costs::new(data, &self.common())?;
        let mut monitor = Monitor::new(watch, self.time_limit, self.passes);
        monitor.start_pass(1, 0, None);
        let (solution, fingerprint) =
            rayon::join(|| self.solve(task, &costs, &monitor), || data.fingerprint());
        let about = batch::about(self.name(), self.objective(), self.parameters());
        let mut report = batch::proved(about, &solution.certificate, solution.end, &monitor);
        report.solver = Some("sequential dual method, all classes of a row at once".to_owned());
        report.solver_passes = Some(solution.passes);
        let (planes, decision) = match n_classes {
            2 => (difference(&solution.planes), Decision::Sign(Tie::default())),
            _ => (solution.planes, Decision::Highest),
        };
        Ok(batch::complete(task, Body::Linear(planes), decision, report, fingerprint))
    }
}

/// The one plane between two: g₁ − g₀.
fn difference(planes: &Planes) -> Planes {
    let less = |pair: &[f64]| pair.iter().rev().copied().reduce(|second, first| second - first);
    let mut one = Planes::zeros(1, planes.n_cols(), planes.is_lifted());
    one.weights = planes.weights.chunks_exact(2).filter_map(less).collect();
    one.bias = planes.bias.chunks_exact(2).filter_map(less).collect();
    one
}
