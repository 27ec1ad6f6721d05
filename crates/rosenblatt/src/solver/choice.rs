//! Which solver runs, and why.

use serde::{Deserialize, Serialize};

use super::dual_cd::Descent;
use super::evaluation::Rounded;
use super::interior::Path;
use super::newton::{FEW_FEATURES, MANY_FEATURES, first_normal, minimise};
use super::{Binary, DualLoss, End, Limits, Method, Normal, Shared, Solution};
use crate::data::{Matrix, Rows};
use crate::geometry::radius;
use crate::learner::Bias;
use crate::loss::{HardMargin, Hinge, Logistic, SquaredHinge};
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
    /// Newton's method: all features at once. Hinge is rounded for it, the less the smaller the gap.
    Newton,
}

/// A solver, and what the report says of it.
pub(crate) struct Choice<L> {
    solver: Solver,
    reason: String,
    loss: L,
}

impl<L: Solvable> Choice<L> {
    pub(crate) fn new(asked: Solver, x: &Matrix<'_>, loss: L) -> Self {
        let features = x.n_cols();
        // Up to there second derivatives cost less than the passes that coordinate descent would need.
        let most = if L::CORNERED { FEW_FEATURES } else { MANY_FEATURES };
        let (solver, why) = match asked {
            Solver::Auto if features <= most => {
                (Solver::Newton, format!("{features} features are at most {most}"))
            }
            Solver::Auto => (Solver::Dual, format!("{features} features are more than {most}")),
            asked => (asked, "asked for".to_owned()),
        };
        let name = match solver {
            Solver::Newton if L::CORNERED => "interior-point method with a Cholesky factor".to_owned(),
            Solver::Newton if features <= FEW_FEATURES => {
                format!("Newton's method{} with a Cholesky factor", L::ON)
            }
            Solver::Newton if features <= MANY_FEATURES => {
                format!("Newton's method{} with conjugate gradients or a Cholesky factor", L::ON)
            }
            Solver::Newton => format!("Newton's method{} with conjugate gradients", L::ON),
            _ => "dual coordinate descent".to_owned(),
        };
        Choice { solver, reason: format!("{name} ({why})"), loss }
    }
}

impl<L: Solvable> Method for Choice<L> {
    fn title(&self) -> String {
        self.reason.clone()
    }

    fn numbers(&self, features: usize) -> usize {
        // A matrix, and parts of it.
        let factored = self.solver == Solver::Newton && (L::CORNERED || features <= MANY_FEATURES);
        if factored { features.saturating_mul(3) } else { 0 }
    }

    fn least_margin(&self, x: &Matrix<'_>, bias: Bias) -> f64 {
        let errors_allowed = self.loss.value(0.0).is_finite();
        if errors_allowed { 0.0 } else { 1e-6 * radius(x, bias == Bias::Regularized) }
    }

    fn merges_copies(&self) -> bool {
        true
    }

    fn common<R: Rows>(&self, problem: &Binary<'_, R>, _: &Monitor<'_>) -> Option<Shared> {
        // All start at 0.
        let newton = self.solver == Solver::Newton && problem.start.is_none();
        if newton { self.loss.common(problem).map(Shared::Normal) } else { None }
    }

    fn solve<R: Rows>(&self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        match self.solver {
            Solver::Newton => self.loss.at_once(problem, limits, monitor),
            _ => Descent::new(problem, self.loss, limits).solve(monitor),
        }
    }
}

/// A loss that can be minimised over all features at once, too.
pub(crate) trait Solvable: DualLoss {
    /// Whether no smooth loss can stand for it.
    const CORNERED: bool = false;
    /// What Newton's method then works on, for the report.
    const ON: &str = "";
    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution;
    /// As [`Method::common`].
    fn common<R: Rows>(self, _problem: &Binary<'_, R>) -> Option<Normal> {
        None
    }
}

impl Solvable for Hinge {
    const ON: &str = " on a rounded hinge";

    fn common<R: Rows>(self, problem: &Binary<'_, R>) -> Option<Normal> {
        first_normal(problem, Rounded::WIDEST)
    }

    /// Where rounding errors keep the rounded hinge from what was asked for, an interior path may get further.
    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        let (rounded, _) = minimise(problem, Rounded::WIDEST, limits, monitor);
        if rounded.end != End::Stalled || problem.x.n_cols() > FEW_FEATURES {
            return rounded;
        }
        let passes = limits.passes.saturating_sub(rounded.passes).max(1);
        let path = Path::new(problem, self, Limits { passes, ..limits }).solve(monitor);
        let passes = rounded.passes + path.passes;
        let better = if path.certificate.gap() < rounded.certificate.gap() { path } else { rounded };
        Solution { passes, ..better }
    }
}

impl Solvable for HardMargin {
    const CORNERED: bool = true;

    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        Path::new(problem, self, limits).solve(monitor)
    }
}

impl Solvable for SquaredHinge {
    fn common<R: Rows>(self, problem: &Binary<'_, R>) -> Option<Normal> {
        first_normal(problem, self)
    }

    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        minimise(problem, self, limits, monitor).0
    }
}

impl Solvable for Logistic {
    fn common<R: Rows>(self, problem: &Binary<'_, R>) -> Option<Normal> {
        first_normal(problem, self)
    }

    fn at_once<R: Rows>(self, problem: &Binary<'_, R>, limits: Limits, monitor: &Monitor<'_>) -> Solution {
        minimise(problem, self, limits, monitor).0
    }
}
