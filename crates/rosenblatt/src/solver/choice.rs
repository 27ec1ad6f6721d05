//! Which solver runs, and why.

use serde::{Deserialize, Serialize};

use super::certificate::certify_start;
use super::dual_cd::Descent;
use super::evaluation::{Rounded, parts};
use super::hard_margin::from_start;
use super::interior::Path;
use super::newton::{FEW_FEATURES, MANY_FEATURES, first_normal, matrix_bytes, minimise};
use super::{Binary, DualLoss, End, FEW_NUMBERS, Limits, Means, Method, Normal, Shared, Solution};
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

/// A solver, and why it was chosen.
pub(crate) struct Choice<L> {
    solver: Solver,
    features: usize,
    why: String,
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
        Choice { solver, features, why, loss }
    }

    /// What the solver is called, given what it made use of so far.
    fn name(&self, means: Means) -> String {
        if self.solver != Solver::Newton {
            return "dual coordinate descent".to_owned();
        }
        if L::CORNERED {
            return "interior-point method with a Cholesky factor".to_owned();
        }
        let by = match (means.factor, means.gradients) {
            (true, true) => "conjugate gradients and a Cholesky factor",
            (true, false) => "a Cholesky factor",
            (false, true) => "conjugate gradients",
            // No step was made so far.
            (false, false) if self.features <= FEW_FEATURES => "a Cholesky factor",
            (false, false) if self.features <= MANY_FEATURES => "conjugate gradients or a Cholesky factor",
            (false, false) => "conjugate gradients",
        };
        let then = if means.interior { ", then an interior-point method" } else { "" };
        format!("Newton's method{} with {by}{then}", L::ON)
    }
}

impl<L: Solvable> Method for Choice<L> {
    fn title(&self) -> String {
        self.account(Means::default())
    }

    fn account(&self, means: Means) -> String {
        format!("{} ({})", self.name(means), self.why)
    }

    fn numbers(&self, features: usize) -> usize {
        // Points, directions and gradients, those of conjugate gradients among them, and sums over parts of both classes' rows.
        if self.solver == Solver::Newton { 14 + 2 * parts(features) } else { FEW_NUMBERS }
    }

    fn matrix_bytes(&self, rows: usize, features: usize) -> usize {
        let factored = self.solver == Solver::Newton && (L::CORNERED || features <= MANY_FEATURES);
        if factored { matrix_bytes(rows, features) } else { 0 }
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
        let solve = |problem: &Binary<'_, R>, limits: Limits| self.solve_near(problem, limits, monitor);
        let warm = self.loss.growing(problem, limits, monitor, solve);
        warm.unwrap_or_else(|| solve(problem, limits))
    }
}

impl<L: Solvable> Choice<L> {
    /// From the start that there is, if any; never worse than it.
    fn solve_near<R: Rows>(
        &self,
        problem: &Binary<'_, R>,
        limits: Limits,
        monitor: &Monitor<'_>,
    ) -> Solution {
        // What α prove is seen on the way.
        let known = problem.alpha.is_some() && self.solver != Solver::Newton;
        let start = if known { None } else { certify_start(problem, self.loss) };
        match (start, self.solver) {
            (Some(start), _) if start.certificate.gap() <= limits.gap => {
                Solution::new(start, 0, End::Converged)
            }
            (start, Solver::Newton) => {
                let solution = self.loss.at_once(problem, limits, monitor);
                match start {
                    Some(start) => solution.improved(start, limits.gap),
                    None => solution,
                }
            }
            (start, _) => Descent::new(problem, self.loss, limits).solve(start, monitor),
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
    /// With a solver for some of the rows, where a start tells which these are.
    fn growing<R: Rows>(
        self,
        _problem: &Binary<'_, R>,
        _limits: Limits,
        _monitor: &Monitor<'_>,
        _solve: impl Fn(&Binary<'_, R>, Limits) -> Solution,
    ) -> Option<Solution> {
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
        let means = Means { interior: true, ..rounded.means };
        let further = path.certificate.gap() < rounded.certificate.gap();
        let (better, other) = if further { (path, rounded) } else { (rounded, path) };
        Solution { passes, means, ..better.improved(other.certified(), limits.gap) }
    }
}

impl Solvable for HardMargin {
    const CORNERED: bool = true;

    fn growing<R: Rows>(
        self,
        problem: &Binary<'_, R>,
        limits: Limits,
        monitor: &Monitor<'_>,
        solve: impl Fn(&Binary<'_, R>, Limits) -> Solution,
    ) -> Option<Solution> {
        from_start(problem, limits, monitor, solve)
    }

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
