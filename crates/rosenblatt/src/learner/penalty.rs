//! What keeps weights small.

use serde::{Deserialize, Serialize};

use super::Bias;
use crate::error::ParamError;
use crate::solver::Solver;

/// What keeps weights small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Penalty {
    /// ½‖w‖²
    #[default]
    L2,
    /// ‖w‖₁, under which most weights end at exactly 0. For smooth losses, with a bias that is free or none; it has one solver.
    L1,
}

impl Penalty {
    /// Whether it goes with the rest.
    pub(crate) fn check(self, smooth: bool, bias: Bias, solver: Solver) -> Result<(), ParamError> {
        let fits = smooth && bias != Bias::Regularized && solver == Solver::Auto;
        let problem = "l1 goes with logistic or squared-hinge loss, a bias that is free or none, and no choice of solver";
        ParamError::unless(self == Penalty::L2 || fits, "penalty", problem)
    }
}
