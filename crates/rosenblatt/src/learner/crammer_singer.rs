//! Crammer and Singer's support vector machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{self, Common, Costs, Solved};
use super::{Bias, ClassWeight, Demand, Fit, Learner, Task};
use crate::data::{Dataset, check_memory};
use crate::error::{Error, ParamError};
use crate::model::{Body, Decision, Planes, Tie};
use crate::online::Multiclass;
use crate::solver::{Joint, Sequential};
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

const TITLE: &str = "sequential dual method";

impl CrammerSinger {
    fn common(&self) -> Common<'_> {
        Common {
            c: self.c,
            lambda: self.lambda,
            bias: self.bias,
            multiclass: Multiclass::Ovr, // as many planes
            class_weight: self.class_weight.as_ref(),
            gap: self.gap,
            passes: self.passes,
            seed: self.seed,
            time_limit: self.time_limit,
        }
    }

    fn solve(&self, costs: &Costs<'_>, monitor: &Monitor<'_>) -> Result<Solved, Error> {
        let (n_classes, examples) = (costs.classes.len(), costs.joint_examples());
        check_memory(examples.len(), n_classes)?;
        let solution = with_rows!(costs.x, x => {
            let problem = Joint { x, examples: &examples, n_classes, lifted: self.bias.is_lifted(), start: costs.start };
            Sequential::new(&problem, self.common().limits()).solve(monitor)
        });
        let solved = Solved::jointly(solution, TITLE);
        Ok(match &solved.body {
            Body::Linear(planes) if n_classes == 2 => Solved {
                body: Body::Linear(difference(planes)),
                decision: Decision::Sign(Tie::default()),
                ..solved
            },
            _ => solved,
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

    fn can_go_on(&self) -> bool {
        true
    }

    fn demand(&self, data: &Dataset<'_>) -> Result<Demand, Error> {
        let k = data.classes().len();
        // α and scores; what is certified beside what is improved, and the model.
        Ok(Demand::of(batch::joint_title(TITLE), (data.n_rows(), 3 * k + 8), (data.n_features(), 5 * k), 0))
    }

    fn learn(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fit, Error> {
        self.check()?;
        let about = batch::about(
            self.name(),
            batch::joint_objective(&self.common(), task.data, "max(0, 1 + max g_c(x) − g_y(x)), c ≠ y"),
            self.parameters(),
        );
        batch::learn(about, &self.common(), task, watch, |costs, monitor| self.solve(costs, monitor))
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
