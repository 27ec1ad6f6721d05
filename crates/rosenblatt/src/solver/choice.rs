//! Which solver runs, and why.

use serde::{Deserialize, Serialize};

use super::{Binary, DualLoss, Limits, Method, Solution, dual_cd, interior, newton};
use crate::data::{Matrix, Rows};
use crate::loss::{Hinge, Logistic, SquaredHinge};
use crate::watch::Monitor;

/// How the objective is minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Chosen by the size and shape of the data.
    #[default]
    Auto,
    /// Dual coordinate descent: one row at a time.
    Dual,
    /// Newton's method with a Cholesky factor: all features at once. For hinge along an interior path.
    Newton,
}

/// Up to so many features their second derivatives cost less than the passes that coordinate descent would need.
const FEW_FEATURES: usize = 300;

/// A solver, and what the report says of it.
pub(crate) struct Choice<L> {
    solver: Solver,
    reason: String,
    loss: L,
}

impl<L: Solvable> Choice<L> {
    pub(crate) fn new(asked: Solver, x: &Matrix<'_>, loss: L) -> Self {
        let features = x.n_cols();
        let few = features <= FEW_FEATURES;
        let (solver, why) = match asked {
            Solver::Auto if few => {
                (Solver::Newton, format!("{features} features are at most {FEW_FEATURES}"))
            }
            Solver::Auto => (Solver::Dual, format!("{features} features are more than {FEW_FEATURES}")),
            asked => (asked, "asked for".to_owned()),
        };
        let name = match solver {
            Solver::Newton => L::AT_ONCE,
            _ => "dual coordinate descent",
        };
        Choice { solver, reason: format!("{name} ({why})"), loss }
    }
}

impl<L: Solvable> Method for Choice<L> {
    fn title(&self) -> String {
        self.reason.clone()
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        match self.solver {
            Solver::Newton => self.loss.at_once(problem, limits, monitor),
            _ => dual_cd(problem, self.loss, limits, monitor),
        }
    }
}

/// A loss that can be minimised over all features at once, too.
pub(crate) trait Solvable: DualLoss {
    /// What that is called.
    const AT_ONCE: &str = "Newton's method with a Cholesky factor";
    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution;
}

impl Solvable for Hinge {
    const AT_ONCE: &str = "interior-point method with a Cholesky factor";

    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        interior(problem, limits, monitor)
    }
}

impl Solvable for SquaredHinge {
    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        newton(problem, self, limits, monitor)
    }
}

impl Solvable for Logistic {
    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        newton(problem, self, limits, monitor)
    }
}
